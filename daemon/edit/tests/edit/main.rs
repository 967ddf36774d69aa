//! Replies against files, through the crate's public face. The cases are text files below `cases/`; `case.rs` says how
//! they are written.

#![allow(clippy::unwrap_used)]

mod case;
mod explaining;
mod properties;
mod scale;

use case::run;

#[test]
fn names() {
    run(include_str!("cases/names.txt"));
}

#[test]
fn parsing() {
    run(include_str!("cases/parsing.txt"));
}

#[test]
fn matching() {
    run(include_str!("cases/matching.txt"));
}

#[test]
fn ambiguity() {
    run(include_str!("cases/ambiguity.txt"));
}

#[test]
fn refusals() {
    run(include_str!("cases/refusals.txt"));
}

#[test]
fn bytes() {
    run(include_str!("cases/bytes.txt"));
}
