//! The provider crate from outside: over real HTTP against a scripted server, and from replay files.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop where it is")]

#[path = "../../../../tests/harness/fake_provider.rs"]
#[allow(unreachable_pub, dead_code, reason = "written as a module of the test harness, which others use too")]
mod fake_provider;

mod openai;
mod replay;
mod stream;
mod watch;
