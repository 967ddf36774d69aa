//! paird's wire and nothing else: the methods with their params and results, events, error kinds, framing, addresses.
//!
//! Each method is declared once, in [`methods`]; the daemon registers and the clients call from that declaration,
//! and `rpc.discover` and `docs/protocol.md` are held against it.
//! All members are camelCase, unknown members of params are refused, paths are relative to the work tree with `/`,
//! lines count from 1 and ranges are inclusive.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod address;
pub mod client;
pub mod envelope;
pub mod framing;
pub mod methods;
mod types;

pub use methods::{Method, MethodInfo};
pub use types::*;

/// The protocol version this crate speaks.
pub const PROTOCOL_VERSION: u32 = 1;

/// The one notification the daemon sends; its params are an [`Event`].
pub const EVENT_METHOD: &str = "event";
