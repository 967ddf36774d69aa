//! Named places where a test may kill the process, to see what the next start makes of it.
//!
//! Built into debug builds only; in a release build a fault point is nothing.

/// Dies here, as if by `kill -9`, when the environment says `PAIRD_FAULT_POINT=name` or `name:N` (the N-th pass, from 1).
#[inline]
pub fn point(name: &str) {
    #[cfg(debug_assertions)]
    armed::pass(name);
    #[cfg(not(debug_assertions))]
    let _ = name;
}

#[cfg(debug_assertions)]
mod armed {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicUsize, Ordering};

    static ARMED: OnceLock<Option<(String, usize)>> = OnceLock::new();
    static PASSES: AtomicUsize = AtomicUsize::new(0);

    fn read() -> Option<(String, usize)> {
        let value = std::env::var("PAIRD_FAULT_POINT").ok()?;
        Some(match value.rsplit_once(':') {
            Some((name, nth)) => (name.to_owned(), nth.parse().unwrap_or(1)),
            None => (value, 1),
        })
    }

    pub(super) fn pass(name: &str) {
        if let Some((armed, nth)) = ARMED.get_or_init(read)
            && armed == name
            && PASSES.fetch_add(1, Ordering::SeqCst) + 1 == *nth
        {
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        }
    }
}
