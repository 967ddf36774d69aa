//! One request to a model becomes a stream of reply events.
//!
//! Start with [`Provider`], the one face, and [`ReplyEvent`], what comes back. [`ModelRef`] says which provider a
//! model's name means. Adapters make single tries of a request (`drive.rs` decides whether there is another), so each
//! of them knows its wire and nothing else:
//!
//! - [`OpenAi`]: OpenAI-compatible chat completions over HTTP;
//! - [`Replay`]: replies from a file, for tests and demonstrations.
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that cannot go on should stop where it is"))]

mod classify;
mod drive;
mod error;
mod http;
mod model;
mod openai;
mod replay;
mod reply;
mod request;
pub mod retry;
mod service;
mod sse;

pub use error::Error;
pub use http::Http;
pub use model::ModelRef;
pub use openai::{Endpoint, OpenAi};
pub use replay::{Cursor, Replay, WEAK_DEFAULT};
pub use reply::{Finish, Provider, ReplyEvent, ReplyStream, StopReason, Usage, channel};
pub use request::{Message, MessageRole, Request, Role};
pub use service::{SERVICES, Service};
