use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who is calling.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InitializeParams {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<ClientCapabilities>,
    /// Names ending in `_API_KEY` or `_API_BASE`, for this connection's sessions. In memory only, never logged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
}

/// What a client can do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClientCapabilities {
    /// A person can answer questions there.
    #[serde(default)]
    pub questions: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InitializeResult {
    pub protocol_version: u32,
    pub daemon_version: String,
    /// Changes with each start of the daemon.
    pub epoch: String,
    /// The work tree's top directory.
    pub root: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DaemonStatusResult {
    pub daemon_version: String,
    pub protocol_version: u32,
    pub pid: u32,
    pub epoch: String,
    pub root: String,
    pub socket: String,
    /// False in a plain directory: everything works but commits.
    pub repository: bool,
    /// Milliseconds since the daemon could serve.
    pub uptime_ms: u64,
    pub connections: u64,
    pub sessions: u64,
    /// Sessions with a turn running or queued.
    pub busy_sessions: u64,
    pub questions: u64,
    /// Events up to this are in this snapshot.
    pub seq: u64,
    /// What works less well than it should, in words for a person.
    pub notices: Vec<String>,
}
