//! Who is connected: what each client can do, and the keys it brought.

use std::collections::BTreeMap;
use std::sync::Arc;

use dashmap::DashMap;
use paird_base::Secret;
use tokio::sync::watch;

use crate::session::is_key_name;
use crate::transport::Peer;

/// Keys and base URLs of one connection.
pub(super) type Env = Arc<BTreeMap<String, Secret<String>>>;

struct Client {
    able: bool,
    env: Env,
    subscriptions: usize,
}

/// The registry of connections that said something of themselves.
pub struct Clients {
    clients: Arc<DashMap<u64, Client>>,
    able: watch::Sender<usize>,
}

impl Clients {
    /// With the number of clients that can ask a person, for the sessions to watch.
    #[must_use]
    pub fn new(able: watch::Sender<usize>) -> Self {
        Self { clients: Arc::default(), able }
    }

    /// Takes note of a client. Names in `env` that are no keys are the ones returned: they are refused.
    pub(super) fn greet(&self, peer: &Peer, able: bool, env: BTreeMap<String, String>) -> Result<(), Vec<String>> {
        let strangers: Vec<String> = env.keys().filter(|name| !is_key_name(name)).cloned().collect();
        if !strangers.is_empty() {
            return Err(strangers);
        }
        let env = Arc::new(env.into_iter().map(|(name, value)| (name, Secret::new(value))).collect());
        let known = self.enter(peer);
        if let Some(mut client) = self.clients.get_mut(&known) {
            client.able = able;
            client.env = env;
        }
        self.count();
        Ok(())
    }

    pub(super) fn env(&self, peer: &Peer) -> Env {
        self.clients.get(&peer.connection_id()).map(|c| Arc::clone(&c.env)).unwrap_or_default()
    }

    /// Counts one subscription more or less; gives the number now.
    pub(super) fn subscriptions(&self, peer: &Peer, change: isize) -> usize {
        let id = self.enter(peer);
        self.clients.get_mut(&id).map_or(0, |mut client| {
            client.subscriptions = client.subscriptions.saturating_add_signed(change);
            client.subscriptions
        })
    }

    /// Makes the entry of a connection, which goes with it.
    fn enter(&self, peer: &Peer) -> u64 {
        let id = peer.connection_id();
        if !self.clients.contains_key(&id) {
            self.clients.insert(id, Client { able: false, env: Arc::default(), subscriptions: 0 });
            let (peer, clients, able) = (peer.clone(), Arc::clone(&self.clients), self.able.clone());
            tokio::spawn(async move {
                peer.closed().await;
                clients.remove(&peer.connection_id());
                recount(&clients, &able);
            });
        }
        id
    }

    fn count(&self) {
        recount(&self.clients, &self.able);
    }
}

fn recount(clients: &DashMap<u64, Client>, able: &watch::Sender<usize>) {
    let now = clients.iter().filter(|c| c.able).count();
    able.send_if_modified(|before| std::mem::replace(before, now) != now);
}
