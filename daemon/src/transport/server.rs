use std::time::Duration;

use jsonrpsee::Methods;
use paird_base::limits::{ACCEPT_RETRY_DELAY, CLIENT_STALL_MAX, CONNECTIONS_MAX, STOP_TIMEOUT};
use paird_protocol::ErrorKind;
use paird_protocol::envelope::{ErrorObject, Refusal};
use tokio::net::UnixStream;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::connection;
use super::listener::{AcceptError, Listener};

/// How long clients and calls are waited for. Tests have less of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// A client that takes nothing for this long is cut off.
    pub(super) stall_max: Duration,
    /// At a stop: what calls have to finish by themselves before they are cancelled.
    pub(super) calls_finish_max: Duration,
    /// At a stop: what connections have to send their last answers.
    pub(super) stop_max: Duration,
}

/// Serves a table of methods to every client of the socket.
#[derive(Debug)]
pub struct Server {
    methods: Methods,
    patience: Patience,
    connections_max: usize,
    connections: watch::Sender<usize>,
}

impl Server {
    #[must_use]
    pub fn new(methods: impl Into<Methods>) -> Self {
        let patience = Patience { stall_max: CLIENT_STALL_MAX, calls_finish_max: STOP_TIMEOUT / 4, stop_max: STOP_TIMEOUT / 2 };
        Self { methods: methods.into(), patience, connections_max: CONNECTIONS_MAX, connections: watch::Sender::new(0) }
    }

    /// Tells the number of connections there, as it changes.
    #[must_use]
    pub fn counting(mut self, connections: watch::Sender<usize>) -> Self {
        self.connections = connections;
        self
    }

    #[cfg(test)]
    pub(super) fn with_bounds(mut self, patience: Patience, connections_max: usize) -> Self {
        self.patience = patience;
        self.connections_max = connections_max;
        self
    }

    /// Accepts until `stop`, then removes the socket. Serves who is connected until `closing`, and comes back when every
    /// connection has had its last answers and events, or after half of [`STOP_TIMEOUT`].
    pub async fn run(self, listener: Listener, stop: CancellationToken, closing: CancellationToken) {
        let mut serving = JoinSet::new();
        let ending = CancellationToken::new();
        let mut accepted_total = 0;
        loop {
            self.connections.send_replace(serving.len());
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some(ended) = serving.join_next(), if !serving.is_empty() => {
                    if let Err(error) = ended {
                        tracing::error!(%error, "a connection ended abnormally");
                    }
                }
                accepted = listener.accept() => match accepted {
                    Ok(stream) if serving.len() >= self.connections_max => self.turn_away(&stream),
                    Ok(stream) => {
                        accepted_total += 1;
                        serving.spawn(connection::serve(stream, accepted_total, self.methods.clone(), self.patience, ending.clone()));
                    }
                    Err(error @ AcceptError::NotOurs { .. }) => tracing::warn!(%error),
                    Err(error) => {
                        tracing::error!(%error, source = ?std::error::Error::source(&error));
                        tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                    }
                }
            }
        }
        drop(listener);
        let patience_ended = async {
            closing.cancelled().await;
            // After the socket is gone: a client that sees the end of its connection and comes back must not come here.
            ending.cancel();
            tokio::time::sleep(self.patience.stop_max).await;
        };
        let last_words = async { while serving.join_next().await.is_some() {} };
        tokio::select! {
            () = last_words => {}
            () = patience_ended => {
                tracing::warn!("connections were cut off at the stop");
                serving.shutdown().await;
            }
        }
        self.connections.send_replace(0);
    }

    /// One line, without a task or a wait: a fresh socket has room for it.
    fn turn_away(&self, stream: &UnixStream) {
        tracing::warn!(most = self.connections_max, "a connection was turned away");
        let error = ErrorObject::new(ErrorKind::Overloaded, format!("{} connections are open already", self.connections_max))
            .with_hint("close one that is not used, or try again");
        let line = Refusal { id: None, error }.to_json() + "\n";
        if let Err(error) = stream.try_write(line.as_bytes()) {
            tracing::debug!(%error, "the client did not take the reason");
        }
    }
}
