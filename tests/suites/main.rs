//! The daemon from outside: the real program, its real socket, real files and real git.
//!
//! One binary, one module a subject. Each test has a work tree and a daemon of its own; run one subject with
//! `cargo test -p paird-tests --test suite turn::`.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cancel;
mod commits;
mod crash;
mod edits;
mod events;
mod faults;
mod formats;
mod house;
mod http;
mod lifecycle;
mod methods;
mod pair;
mod questions;
mod restart;
mod saves;
mod stop;
mod turn;
mod undo;
