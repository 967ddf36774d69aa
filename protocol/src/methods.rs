//! The method list. One line here is all that a new method needs on the wire.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::types::*;

/// One method of the protocol: its name, its shapes, and whether it may take longer than a second.
pub trait Method: Send + Sync + 'static {
    const NAME: &'static str;
    /// A long method takes what it needs and can be cancelled; every other is answered within a second.
    const LONG: bool;
    const DOC: &'static str;
    type Params: Serialize + DeserializeOwned + JsonSchema + Send + 'static;
    type Result: Serialize + DeserializeOwned + JsonSchema + Send + Clone + 'static;
}

/// What `rpc.discover` and the documentation need of a method.
pub struct MethodInfo {
    pub name: &'static str,
    pub long: bool,
    pub doc: &'static str,
    pub params: fn(&mut SchemaGenerator) -> Schema,
    pub result: fn(&mut SchemaGenerator) -> Schema,
}

const fn info<M: Method>() -> MethodInfo {
    MethodInfo {
        name: M::NAME,
        long: M::LONG,
        doc: M::DOC,
        params: |generator| generator.subschema_for::<M::Params>(),
        result: |generator| generator.subschema_for::<M::Result>(),
    }
}

macro_rules! methods {
    ($($(#[doc = $doc:literal])+ $marker:ident = $name:literal $($long:ident)? ($params:ty) -> $result:ty;)+) => {
        $(
            $(#[doc = $doc])+
            pub struct $marker;
            impl Method for $marker {
                const NAME: &'static str = $name;
                const LONG: bool = methods!(@long $($long)?);
                const DOC: &'static str = concat!($($doc),+);
                type Params = $params;
                type Result = $result;
            }
        )+

        /// Every method, in the order of the documentation.
        pub const METHODS: &[MethodInfo] = &[$(info::<$marker>()),+];
    };
    (@long) => { false };
    (@long long) => { true };
}

methods! {
    /// Says who is calling and gets the versions. Optional: without it a connection has version 1 and no capabilities.
    Initialize = "initialize" (InitializeParams) -> InitializeResult;
    /// Ends this connection after the reply; the daemon and its sessions go on.
    Shutdown = "shutdown" (NoParams) -> Done;
    /// The OpenRPC document of this list.
    Discover = "rpc.discover" (NoParams) -> serde_json::Value;
    /// What the daemon is, holds and does right now.
    DaemonStatus = "daemon/status" (NoParams) -> DaemonStatusResult;
    /// Stops the daemon after the reply; the write in progress is finished, turns are cancelled.
    DaemonStop = "daemon/stop" (NoParams) -> Done;

    /// Starts notifications of events on this connection, from `sinceSeq` on if it is still kept.
    EventsSubscribe = "events/subscribe" (SubscribeParams) -> SubscribeResult;
    /// Ends a subscription of this connection.
    EventsUnsubscribe = "events/unsubscribe" (UnsubscribeParams) -> Done;

    /// Opens a session: a chat with its files, settings and history. It outlives connections and restarts.
    SessionNew = "session/new" (SessionNewParams) -> SessionNewResult;
    /// Every session, the latest used first.
    SessionList = "session/list" (NoParams) -> SessionListResult;
    /// A session's whole state: settings, files, turns, the reply so far, open questions.
    SessionRead = "session/read" (SessionParams) -> SessionReadResult;
    /// Changes settings; what is set while a turn runs holds from the next.
    SessionConfigure = "session/configure" (SessionConfigureParams) -> Ack;
    /// Queues a user message; `interrupt` cancels the running turn first.
    SessionPrompt = "session/prompt" (PromptParams) -> PromptResult;
    /// Cancels one turn, or the running one and what is queued behind it.
    SessionCancel = "session/cancel" (CancelParams) -> CancelResult;
    /// Waits until a turn is finished, a question opens, or the time is over.
    SessionWait = "session/wait" long (WaitParams) -> WaitResult;
    /// Forgets the session's history; files and settings stay.
    SessionClear = "session/clear" (SessionParams) -> Ack;
    /// Closes a session: its turns are cancelled, and there are none any more until it is prompted again; nothing is deleted.
    SessionClose = "session/close" (SessionParams) -> Ack;
    /// Deletes a session's log. Files and commits stay as they are.
    SessionDelete = "session/delete" (SessionParams) -> Done;

    /// The questions that wait for a person.
    QuestionList = "question/list" (QuestionListParams) -> QuestionListResult;
    /// Answers a question; the first answer wins.
    QuestionAnswer = "question/answer" (QuestionAnswerParams) -> Ack;

    /// The chat's files.
    ContextList = "context/list" (SessionParams) -> ContextListResult;
    /// Adds files to the chat, editable or read-only.
    ContextAdd = "context/add" (ContextAddParams) -> ContextListResult;
    /// Takes files out of the chat, by their exact names.
    ContextDrop = "context/drop" (ContextDropParams) -> ContextListResult;

    /// The edit blocks of a reply, without looking at any file.
    EditParse = "edit/parse" (EditParseParams) -> EditParseResult;
    /// Where each block of a reply would land, and why or why not. Writes nothing, keeps nothing.
    EditMatch = "edit/match" (EditMatchParams) -> EditMatchResult;
    /// Turns a reply into proposals; nothing is written.
    EditPropose = "edit/propose" (EditProposeParams) -> EditProposeResult;
    /// The edits of a session, newest turn last, or the proposals without a session.
    EditList = "edit/list" (EditListParams) -> EditListResult;
    /// One edit with its difference.
    EditGet = "edit/get" (EditGetParams) -> EditGetResult;
    /// Writes proposals, all or none; commits those of a session that commits.
    EditApply = "edit/apply" long (EditApplyParams) -> EditApplyResult;
    /// Decides about single hunks of a proposal: accepted and replaced ones are written in one write, rejected ones dropped.
    EditResolve = "edit/resolve" long (EditResolveParams) -> EditResolveResult;
    /// Takes applied edits back, by edit, turn or session. Makes a new commit where the session commits.
    EditUndo = "edit/undo" long (EditUndoParams) -> EditApplyResult;
    /// Applies again what `edit/undo` took back.
    EditRedo = "edit/redo" long (EditUndoParams) -> EditApplyResult;

    /// The repository's files, as many as fit the budget. The same state gives the same bytes.
    MapGet = "map/get" (MapGetParams) -> MapGetResult;

    /// Branch, state and changed files of the repository.
    CommitStatus = "commit/status" (NoParams) -> CommitStatusResult;
    /// The latest commits of HEAD.
    CommitList = "commit/list" (CommitListParams) -> CommitListResult;
    /// One commit with its difference.
    CommitShow = "commit/show" (CommitShowParams) -> CommitShowResult;
    /// Takes back the newest commit if it is paird's own, unpublished, and its files are clean.
    CommitUndo = "commit/undo" long (CommitUndoParams) -> CommitUndoResult;
}

#[cfg(test)]
mod tests {
    use super::METHODS;

    #[test]
    fn names_are_distinct_and_documented() {
        let mut names: Vec<_> = METHODS.iter().map(|m| m.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), METHODS.len());
        assert!(METHODS.iter().all(|m| m.doc.trim().ends_with('.')));
    }
}
