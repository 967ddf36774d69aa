//! Bytes to calls and back: the socket, its connections, the envelope. Knows no method and no session.
//!
//! Start with [`Server::run`]. A connection (`connection.rs`) reads frames and hands each call to `calls.rs`, which looks
//! it up in jsonrpsee's table and runs it; `answer.rs` and `splice.rs` make the text of the answer, and answers and
//! notifications go through the outbox (`outbox.rs`) to one writer.
//! Every queue is bounded, so a client that is slow, silent or hostile delays only itself.

mod answer;
mod calls;
mod connection;
mod listener;
mod outbox;
mod server;
mod splice;
#[cfg(test)]
mod tests;

pub use listener::{BindError, Listener};
pub use outbox::{NotifyError, Peer};
pub use server::Server;
