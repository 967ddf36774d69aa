//! What a turn tells the owner of its session, which alone changes it.

use paird_base::RepoPath;
use paird_edit::Failed;
use paird_provider::Cursor;
use tokio::sync::oneshot;

use super::entry::{EditEntry, Report};
use super::ground::Grounds;
use super::ids::EditId;
use super::job::Landed;
use super::question::About;
use super::usage::Usage;

/// One thing that happened in a turn; they come in order.
pub(super) enum Step {
    Delta(String),
    Reasoning(String),
    /// The partial reply is void; it starts anew.
    Restarted,
    /// The same request is sent again after a wait.
    Retrying {
        cause: String,
        wait_ms: u64,
    },
    Replied {
        asked: String,
        reply: Reply,
        usage: Usage,
    },
    /// Where the replay file stands after a request.
    Replayed {
        path: String,
        cursor: Cursor,
    },
    Ask {
        about: About,
        answer: oneshot::Sender<String>,
    },
    /// A person let this path into the chat.
    Joined(RepoPath),
    /// A block that is complete in a reply that is still coming.
    Found {
        edit: EditId,
        path: RepoPath,
        block: usize,
    },
    /// Edits that were found so and came to nothing under that name.
    Withdrawn(Vec<(EditId, RepoPath)>),
    /// Edits that wait for a person.
    Proposed(Vec<EditEntry>),
    /// Proposals that a person declined.
    Rejected(Vec<EditId>),
    Failed(Vec<Failed>),
    Landed(Box<Landed>),
    Finished(Box<Report>),
}

/// A whole reply of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    pub text: String,
    /// `length` says that it was cut off.
    pub stop: String,
    /// What the chat's files held when it was asked for.
    pub shown: Grounds,
}
