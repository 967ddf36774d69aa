//! The daemon of a work tree, connected to; and the one way to call it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use paird_protocol::address::{Address, WorkTreeKey, state_dir};
use paird_protocol::client::{Client, ClientError};
use paird_protocol::methods::Initialize;
use paird_protocol::{ClientCapabilities, ErrorKind, InitializeParams, InitializeResult, Method, PROTOCOL_VERSION};

use crate::exit::{Exit, Failure};
use crate::repo::WorkTree;
use crate::start;

/// Calls a method as it is declared.
///
/// # Errors
/// The daemon's error, or the loss of the connection.
pub(crate) async fn call<M: Method>(client: &Client, params: M::Params) -> Result<M::Result, ClientError> {
    let misfit = |error: serde_json::Error| ClientError::Protocol { method: M::NAME.to_owned(), reason: error.to_string() };
    let params = serde_json::to_value(params).map_err(misfit)?;
    let result = client.request(M::NAME, params).await?;
    serde_json::from_value(result).map_err(misfit)
}

/// A connection that has said who it is.
pub(crate) struct Connection {
    pub(crate) client: Client,
    pub(crate) tree: WorkTree,
}

impl Connection {
    /// Connects to the work tree's daemon, starting it if none answers. `questions`: a person can answer here.
    ///
    /// # Errors
    /// It cannot be started, or is not the one that is meant.
    pub(crate) async fn open(tree: WorkTree, questions: bool) -> Result<Self, Failure> {
        Ok(Self::open_at(tree, questions).await?.0)
    }

    /// The same, with the address of the daemon, which has answered a call there.
    ///
    /// # Errors
    /// As of [`Self::open`].
    pub(crate) async fn open_at(tree: WorkTree, questions: bool) -> Result<(Self, Address), Failure> {
        let (client, daemon, address) = match Self::reach(&tree, questions).await? {
            Ok(reached) => reached,
            Err(_stops) => Self::reach(&tree, questions).await??,
        };
        Ok((Self::checked(client, tree, &daemon)?, address))
    }

    /// One try. The inner error: the daemon is just stopping, and is gone now, so that another can be started.
    async fn reach(tree: &WorkTree, questions: bool) -> Result<Result<(Client, InitializeResult, Address), ClientError>, Failure> {
        let address = ensure(&tree.root).await?;
        let client = match Client::connect(&address.socket).await {
            Ok(client) => client,
            Err(gone) => return Ok(Err(gone)),
        };
        match initialize(&client, questions).await {
            Ok(daemon) => Ok(Ok((client, daemon, address))),
            Err(ClientError::Call(error)) if error.data.kind == ErrorKind::Overloaded => {
                // Over time: then the second try tells what is wrong.
                let _ = tokio::time::timeout(start::START_TIMEOUT, client.closed()).await;
                Ok(Err(ClientError::Call(error)))
            }
            Err(error) if error.is_loss() => Ok(Err(error)),
            Err(error) => Err(error.into()),
        }
    }

    /// Connects to the work tree's daemon if one answers.
    ///
    /// # Errors
    /// It has no address, or is not the one that is meant.
    pub(crate) async fn existing(tree: WorkTree) -> Result<Option<Self>, Failure> {
        match Client::connect(&address(&tree.root)?.socket).await {
            Ok(client) => Self::greet(client, tree, false).await.map(Some),
            Err(ClientError::Connect { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Says who is calling, over a socket that is connected already.
    ///
    /// # Errors
    /// The daemon speaks another protocol, or serves another work tree.
    pub(crate) async fn greet(client: Client, tree: WorkTree, questions: bool) -> Result<Self, Failure> {
        let daemon = initialize(&client, questions).await?;
        Self::checked(client, tree, &daemon)
    }

    fn checked(client: Client, tree: WorkTree, daemon: &InitializeResult) -> Result<Self, Failure> {
        if daemon.protocol_version != PROTOCOL_VERSION {
            let message = format!("the daemon speaks version {} of the protocol, this program {PROTOCOL_VERSION}", daemon.protocol_version);
            return Err(Failure::new(Exit::NoDaemon, message).with_hint("stop it with the `pair` it came with"));
        }
        if Path::new(&daemon.root) != tree.root {
            let message = format!("the daemon at this socket serves {}, not {}", daemon.root, tree.root.display());
            return Err(Failure::new(Exit::NoDaemon, message).with_hint("PAIRD_SOCKET must name a socket of its own for each work tree"));
        }
        Ok(Self { client, tree })
    }

    /// See [`call`].
    ///
    /// # Errors
    /// The daemon's error, or the loss of the connection.
    pub(crate) async fn call<M: Method>(&self, params: M::Params) -> Result<M::Result, ClientError> {
        call::<M>(&self.client, params).await
    }
}

async fn initialize(client: &Client, questions: bool) -> Result<InitializeResult, ClientError> {
    let params = InitializeParams {
        client_name: Some("pair".to_owned()),
        capabilities: Some(ClientCapabilities { questions }),
        env: Some(lent(std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))))),
    };
    call::<Initialize>(client, params).await
}

/// Where the daemon of this work tree is or would be: on the socket that `PAIRD_SOCKET` names. Without it on the work tree's
/// usual one, unless its daemon was started on another and serves there.
///
/// # Errors
/// The environment names a socket that cannot be one.
pub(crate) fn address(root: &Path) -> Result<Address, Failure> {
    let (key, environment) = (WorkTreeKey::of(root), |name: &str| std::env::var_os(name));
    let address = Address::of(&key, &environment, rustix::process::geteuid().as_raw())?;
    if !address.own_directory || start::answers(&address) {
        return Ok(address);
    }
    let elsewhere = state_dir(&key, &environment).ok().and_then(|dir| start::served_at(&dir));
    Ok(elsewhere.filter(start::answers).unwrap_or(address))
}

/// The same, once a daemon takes connections there; whether it answers, a call tells.
///
/// # Errors
/// None answers and none can be started.
async fn ensure(root: &Path) -> Result<Address, Failure> {
    let address = address(root)?;
    let (root, started) = (root.to_owned(), address.clone());
    let starting = tokio::task::spawn_blocking(move || {
        let paird = program()?;
        start::ensure_daemon(&paird, &root, &started)
    });
    starting.await.map_err(|error| Failure::new(Exit::NoDaemon, format!("start the daemon: {error}")))??;
    Ok(address)
}

/// The daemon's program.
///
/// # Errors
/// It is nowhere to be found.
pub(crate) fn program() -> Result<PathBuf, start::StartError> {
    start::find_paird(std::env::current_exe().ok().as_deref(), &|name| std::env::var_os(name))
}

/// Of an environment what a daemon may be lent: keys and base URLs of providers.
fn lent(variables: impl Iterator<Item = (String, String)>) -> BTreeMap<String, String> {
    let wanted = |name: &str| name.ends_with("_API_KEY") || name.ends_with("_API_BASE");
    variables.filter(|(name, value)| wanted(name) && !value.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_keys_and_base_urls_are_lent() {
        let names = ["OPENAI_API_KEY", "OLLAMA_API_BASE", "PATH", "API_KEYS", "AWS_SECRET_ACCESS_KEY"];
        let all = names.iter().map(|name| ((*name).to_owned(), "v".to_owned())).chain([("EMPTY_API_KEY".to_owned(), String::new())]);
        assert_eq!(lent(all).into_keys().collect::<Vec<_>>(), ["OLLAMA_API_BASE", "OPENAI_API_KEY"]);
    }
}
