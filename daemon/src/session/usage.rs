use serde::{Deserialize, Serialize};

/// Tokens of a turn's requests, summed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub requests: u64,
    pub input: u64,
    pub output: u64,
    pub cached_read: u64,
    pub cached_write: u64,
    /// The provider's own figures, all of them; estimates otherwise.
    pub reported: bool,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.reported = other.reported && (self.reported || self.requests == 0);
        self.requests += other.requests;
        self.input += other.input;
        self.output += other.output;
        self.cached_read += other.cached_read;
        self.cached_write += other.cached_write;
    }
}
