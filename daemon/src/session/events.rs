//! News for whoever listens: one counter, a ring for those who come back, a bounded queue for each listener.
//!
//! The lock is held for one push or one scan of the ring and never across an await; publishing never waits, so a
//! listener that does not keep up loses its queue, not the others' time.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use paird_base::limits::{EVENT_RING, EVENTS_QUEUED_MAX};
use tokio::sync::mpsc;

use super::entry::{Commit, Report};
use super::ids::{EditId, QuestionId, SessionId, TurnId};
use super::question::Question;
use super::state::TurnPhase;
use super::usage::Usage;
use paird_base::RepoPath;

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Happening {
    TurnStarted {
        text: String,
    },
    TurnPhase {
        phase: TurnPhase,
        detail: Option<String>,
    },
    TurnFinished(Box<Report>),
    ReplyDelta {
        offset: usize,
        text: String,
    },
    ReasoningDelta {
        offset: usize,
        text: String,
    },
    /// With a block: found in a reply that is still coming.
    EditProposed {
        edit: EditId,
        path: RepoPath,
        block: Option<usize>,
    },
    EditApplied {
        edit: EditId,
        path: RepoPath,
        changes: Vec<LineChange>,
    },
    EditRejected {
        edit: EditId,
        path: RepoPath,
    },
    EditSuperseded {
        edit: EditId,
        path: RepoPath,
    },
    EditUndone {
        edit: EditId,
        path: RepoPath,
        changes: Vec<LineChange>,
    },
    EditFailed(paird_edit::Failed),
    CommitCreated(Commit),
    CommitUndone(Commit),
    CommitFailed {
        paths: Vec<RepoPath>,
        reason: String,
    },
    ContextChanged {
        files: Vec<RepoPath>,
        read_only: Vec<RepoPath>,
    },
    QuestionAsked(Question),
    QuestionAnswered {
        question: QuestionId,
        option: String,
    },
    UsageUpdated(Usage),
    Notice {
        message: String,
    },
}

/// Lines of a file that were replaced, in the file before and with the text that stands there now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineChange {
    pub start_line: usize,
    /// `start_line - 1` for a pure insertion.
    pub end_line: usize,
    pub lines: Vec<String>,
}

/// One happening with its place in the order of all.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub seq: u64,
    pub session: Option<SessionId>,
    pub turn: Option<TurnId>,
    pub what: Happening,
}

/// What a listener wants to hear.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub session: Option<SessionId>,
}

impl Filter {
    fn wants(&self, event: &Event) -> bool {
        self.session.is_none() || self.session == event.session || event.session.is_none()
    }
}

/// What a listener gets when it starts.
#[derive(Debug)]
pub struct Listening {
    /// Events up to this happened before.
    pub seq: u64,
    /// Events that it asked for are no longer kept.
    pub gap: bool,
    pub missed: Vec<Arc<Event>>,
    /// Ends when the listener fell behind by more than its queue.
    pub queue: mpsc::Receiver<Arc<Event>>,
}

#[derive(Default)]
struct Inner {
    seq: u64,
    ring: VecDeque<Arc<Event>>,
    /// `seq` of the newest event that the ring has lost.
    lost: u64,
    listeners: Vec<(Filter, mpsc::Sender<Arc<Event>>)>,
}

/// The hub. One for the daemon.
#[derive(Clone, Default)]
pub struct Events {
    inner: Arc<Mutex<Inner>>,
}

impl Events {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        // A panic while pushing leaves a ring that is still a ring.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Events up to this one have happened.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.inner().seq
    }

    pub fn publish(&self, session: Option<&SessionId>, turn: Option<&TurnId>, what: Happening) -> u64 {
        let mut inner = self.inner();
        inner.seq += 1;
        let event = Arc::new(Event { seq: inner.seq, session: session.cloned(), turn: turn.cloned(), what });
        let coming = matches!(
            event.what,
            Happening::ReplyDelta { .. } | Happening::ReasoningDelta { .. } | Happening::EditProposed { block: Some(_), .. }
        );
        if !coming {
            if inner.ring.len() == EVENT_RING
                && let Some(oldest) = inner.ring.pop_front()
            {
                inner.lost = oldest.seq;
            }
            inner.ring.push_back(Arc::clone(&event));
        }
        // Full means stalled: dropping the sender ends that listener's queue, and its connection with it.
        inner.listeners.retain(|(filter, queue)| !filter.wants(&event) || queue.try_send(Arc::clone(&event)).is_ok());
        event.seq
    }

    /// Listens from now on, after the kept events that are newer than `since`.
    pub fn listen(&self, filter: Filter, since: Option<u64>) -> Listening {
        let (sender, queue) = mpsc::channel(EVENTS_QUEUED_MAX);
        let mut inner = self.inner();
        let since = since.unwrap_or(inner.seq);
        let missed = inner.ring.iter().filter(|e| e.seq > since && filter.wants(e)).cloned().collect();
        let gap = since < inner.lost;
        inner.listeners.retain(|(_, queue)| !queue.is_closed());
        inner.listeners.push((filter, sender));
        Listening { seq: inner.seq, gap, missed, queue }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(text: &str) -> Happening {
        Happening::Notice { message: text.to_owned() }
    }

    #[test]
    fn who_comes_back_gets_what_was_missed_without_deltas() {
        let events = Events::default();
        let seq = events.publish(None, None, notice("a"));
        events.publish(None, None, Happening::ReplyDelta { offset: 0, text: "x".to_owned() });
        events.publish(None, None, notice("b"));
        let listening = events.listen(Filter::default(), Some(seq));
        assert!(!listening.gap);
        assert_eq!(listening.seq, 3);
        assert_eq!(listening.missed.iter().map(|e| e.seq).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn a_gap_is_told_only_when_something_asked_for_is_gone() {
        let events = Events::default();
        for _ in 0..=EVENT_RING {
            events.publish(None, None, notice("x"));
        }
        assert!(events.listen(Filter::default(), Some(0)).gap);
        assert!(!events.listen(Filter::default(), Some(1)).gap);
        assert!(!events.listen(Filter::default(), None).gap);
    }

    #[test]
    fn a_listener_that_does_not_read_loses_its_queue_alone() {
        let events = Events::default();
        let mut slow = events.listen(Filter::default(), None);
        for _ in 0..EVENTS_QUEUED_MAX {
            events.publish(None, None, notice("x"));
        }
        let mut quick = events.listen(Filter::default(), None);
        events.publish(None, None, notice("last"));
        assert!(quick.queue.try_recv().is_ok());
        let mut got = 0;
        while slow.queue.try_recv().is_ok() {
            got += 1;
        }
        assert_eq!(got, EVENTS_QUEUED_MAX);
        assert!(matches!(slow.queue.try_recv(), Err(mpsc::error::TryRecvError::Disconnected)));
    }
}
