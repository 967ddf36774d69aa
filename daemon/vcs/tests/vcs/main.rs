//! The repository as the `git` program sees it before and after.

#![allow(clippy::unwrap_used)]

mod commits;
mod crash;
mod discover;
mod filters;
mod fixture;
mod history;
mod index;
mod refused;
mod undo;
