//! Replies against files, through the crate's public face. The cases are text files below `cases/`; `case.rs` says how
//! they are written.

#![allow(clippy::unwrap_used)]

mod case;
mod docs;
mod explaining;
mod formats;
mod left_out;
mod misplaced;
mod places;
mod properties;
mod scale;
mod seeds;

use case::run;

#[test]
fn names() {
    run(include_str!("cases/names.txt"));
}

#[test]
fn guessed() {
    run(include_str!("cases/guessed.txt"));
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

#[test]
fn whole() {
    run(include_str!("cases/whole.txt"));
}

#[test]
fn udiff() {
    run(include_str!("cases/udiff.txt"));
}

#[test]
fn patch() {
    run(include_str!("cases/patch.txt"));
}

#[test]
fn operations() {
    run(include_str!("cases/operations.txt"));
}

#[test]
fn rungs() {
    run(include_str!("cases/rungs.txt"));
}

#[test]
fn hunks_in_parts() {
    run(include_str!("cases/parts.txt"));
}

#[test]
fn close_matches() {
    run(include_str!("cases/close.txt"));
}

#[test]
fn guards() {
    run(include_str!("cases/guards.txt"));
}

#[test]
fn encodings() {
    run(include_str!("cases/encodings.txt"));
}
