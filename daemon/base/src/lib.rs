//! What every room may use: paths, hashes, time, secrets, bounds. Knows no word of the domain.
//!
//! Start with [`RepoPath`] (a name inside the work tree, checked once) and [`Root`] (the one way to open it).

pub mod fault;
mod hash;
pub mod limits;
mod path;
mod problem;
mod root;
mod secret;
mod time;
mod tokens;

pub use hash::ContentHash;
pub use path::{PathError, RepoPath};
pub use problem::Problem;
pub use root::{Content, Found, Root, RootError};
pub use secret::Secret;
pub use time::{Clock, FixedClock, SystemClock};
pub use tokens::Tokens;

/// A random name of `len` lower-case base-32 letters, for identifiers that clients pass back.
///
/// # Panics
/// If the operating system has no randomness to give, which leaves no safe way to go on.
#[must_use]
pub fn random_id(len: usize) -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut bytes = vec![0u8; len];
    getrandom::fill(&mut bytes).expect("the operating system provides random bytes");
    bytes.iter().map(|b| LETTERS[usize::from(b & 31)] as char).collect()
}
