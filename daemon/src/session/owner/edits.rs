//! Edits of a session: proposed, applied by hand, undone, redone, and what landed from the write lane.

use std::collections::BTreeSet;

use paird_base::RepoPath;
use paird_base::limits::SESSION_PROPOSALS_MAX;
use paird_edit::{Op, RecordId, Scope};

use super::Owner;
use crate::session::entry::{Commit, EditEntry, EditStatus, Entry, Outcome, Report};
use crate::session::error::Error;
use crate::session::events::Happening;
use crate::session::failure::Failure;
use crate::session::ids::{EditId, TurnId};
use crate::session::job::{CommitOrder, Flip, Landed, Order, Refused, What};
use crate::session::place;
use crate::session::resolve::{Resolved, Verdicts, resolve};
use crate::session::settings::CommitMode;

/// Which edits an undo or redo means.
#[derive(Debug, Clone)]
pub enum Which {
    Edits(Vec<EditId>),
    Turn(TurnId),
    All,
}

impl Owner {
    /// Keeps edits for a person to decide. Older proposals that they overlap are superseded.
    pub fn proposed(&mut self, turn: &TurnId, edits: Vec<EditEntry>) {
        self.keep_proposals(Some(turn), edits);
    }

    pub fn keep_proposals(&mut self, turn: Option<&TurnId>, edits: Vec<EditEntry>) {
        if edits.is_empty() {
            return;
        }
        let pending = || self.state.edits.iter().filter(|e| e.status == EditStatus::Proposed);
        let mut old: Vec<EditEntry> = pending().filter(|p| edits.iter().any(|e| overlap(p, e))).cloned().collect();
        let too_many = (pending().count() + edits.len()).saturating_sub(SESSION_PROPOSALS_MAX);
        old.extend(pending().take(too_many).cloned());
        self.supersede(old);
        self.record_or_notice(Entry::Edits { edits: edits.clone() });
        for edit in edits {
            self.publish(turn, Happening::EditProposed { edit: edit.id, path: edit.path, block: None });
        }
    }

    fn supersede(&mut self, old: Vec<EditEntry>) {
        if old.is_empty() {
            return;
        }
        let ids = old.iter().map(|e| e.id.clone()).collect();
        self.record_or_notice(Entry::EditsAre { edits: ids, status: EditStatus::Superseded, write: None });
        for edit in old {
            self.publish(edit.turn.as_ref(), Happening::EditSuperseded { edit: edit.id, path: edit.path });
        }
    }

    pub(super) fn rejected(&mut self, turn: Option<&TurnId>, ids: Vec<EditId>) {
        let paths: Vec<(EditId, RepoPath)> =
            ids.iter().filter_map(|id| self.state.edit(id).map(|e| (id.clone(), e.path.clone()))).collect();
        self.record_or_notice(Entry::EditsAre { edits: ids, status: EditStatus::Rejected, write: None });
        self.note_edits("I declined your edits to", paths.iter().map(|(_, path)| path));
        for (edit, path) in paths {
            self.publish(turn, Happening::EditRejected { edit, path });
        }
    }

    /// What the write lane needs to apply proposals by hand.
    pub fn to_apply(&self, ids: &[EditId]) -> Result<(Order, Vec<EditEntry>, Scope), Error> {
        let mut edits = Vec::new();
        for id in ids {
            let edit = self.state.edit(id).ok_or_else(|| Error::NotFound { what: "edit", id: id.to_string() })?;
            edit.check_waits()?;
            edits.push(edit.clone());
        }
        let turn = edits.first().and_then(|e| e.turn.clone());
        let subject = self.subject_for(&edits);
        let order = self.order(turn, &subject);
        let files: Vec<RepoPath> = self.state.files.iter().chain(edits.iter().map(|e| &e.path)).cloned().collect();
        let scope = place::scope(&files, &self.state.read_only, self.state.settings.close_match);
        Ok((order, edits, scope))
    }

    /// A proposal taken apart by hunks, with what the write lane needs for the accepted part.
    pub fn to_resolve(&self, id: &EditId, verdicts: &Verdicts) -> Result<(Order, Resolved, Scope), Error> {
        let (order, edits, scope) = self.to_apply(std::slice::from_ref(id))?;
        let resolved = resolve(edits.first().ok_or_else(|| Error::NotFound { what: "edit", id: id.to_string() })?, verdicts)?;
        Ok((order, resolved, scope))
    }

    /// Takes in what goes on waiting of a proposal; the accepted part has landed.
    pub fn resolved(&mut self, resolved: Resolved) -> Result<(), Error> {
        let Some(edit) = self.state.edit(&resolved.edit).cloned() else { return Ok(()) };
        match (resolved.rest, resolved.accepted) {
            (Some((hunks, blocks)), accepted) => {
                // What was accepted has changed the file under the rest.
                let landed = accepted.and_then(|accepted| self.state.edit(&accepted.id));
                let ground = landed.map_or(edit.ground, |landed| landed.ground);
                self.record(Entry::Narrowed { edit: edit.id.clone(), hunks, blocks, ground })?;
                self.publish(edit.turn.as_ref(), Happening::EditProposed { edit: edit.id, path: edit.path, block: None });
            }
            (None, None) => self.rejected(edit.turn.as_ref(), vec![edit.id]),
            (None, Some(_)) => {}
        }
        Ok(())
    }

    /// What the write lane needs to undo or redo.
    pub fn to_flip(&self, which: &Which, to: EditStatus) -> Result<(Order, Vec<Flip>), Error> {
        let from = if to == EditStatus::Undone { EditStatus::Applied } else { EditStatus::Undone };
        let mut edits: Vec<&EditEntry> = match which {
            Which::Edits(ids) => {
                let known: Result<Vec<_>, _> =
                    ids.iter().map(|id| self.state.edit(id).ok_or_else(|| Error::NotFound { what: "edit", id: id.to_string() })).collect();
                let wanted: BTreeSet<&EditId> = known?.iter().map(|e| &e.id).collect();
                self.state.edits.iter().filter(|e| wanted.contains(&e.id)).collect()
            }
            Which::Turn(turn) => self.state.edits.iter().filter(|e| e.turn.as_ref() == Some(turn) && e.status == from).collect(),
            Which::All => self.state.edits.iter().filter(|e| e.status == from).collect(),
        };
        if !matches!(which, Which::Edits(_)) && edits.iter().all(|e| e.write.is_none()) {
            return Err(Error::NotFound { what: "edit to take back or bring again", id: self.state.id.to_string() });
        }
        let flips = Flip::of(edits.iter().copied(), to)?;
        edits.retain(|e| e.write.is_some());
        let verb = if to == EditStatus::Undone { "Undo" } else { "Redo" };
        let subject = format!("{verb} edits to {}", names(edits.iter().map(|e| &e.path)));
        let turn = edits.iter().max_by_key(|e| &e.write).and_then(|e| e.turn.clone());
        let mut order = self.order(turn, &subject);
        // Edits that are in no commit are taken back without one.
        let committed = |e: &EditEntry| self.state.commits.iter().any(|made| made.turn == e.turn && made.commit.paths.contains(&e.path));
        if !edits.iter().any(|e| committed(e)) {
            order.commit = None;
        }
        Ok((order, flips))
    }

    /// A commit of this session, with the edits it holds and what they are once it is taken back.
    pub fn to_undo_commit(&self, hash: &str) -> Option<(Order, Commit, Vec<EditId>, EditStatus)> {
        let made = self.state.commits.iter().find(|made| made.commit.hash == hash)?;
        let holds = |e: &&EditEntry| e.turn == made.turn && e.status == made.status && made.commit.paths.contains(&e.path);
        let edits = self.state.edits.iter().filter(holds).map(|e| e.id.clone()).collect();
        let then = if made.status == EditStatus::Applied { EditStatus::Undone } else { EditStatus::Applied };
        let order = Order { session: Some(self.state.id.clone()), turn: made.turn.clone(), commit: None };
        Some((order, made.commit.clone(), edits, then))
    }

    fn order(&self, turn: Option<TurnId>, subject: &str) -> Order {
        let settings = &self.state.settings;
        let model = settings.model.as_deref().unwrap_or("unknown model");
        let commit = (settings.commit_mode == CommitMode::Auto && self.shared.tree.repository)
            .then(|| CommitOrder::new(subject, model, settings.dirty_commits));
        Order { session: Some(self.state.id.clone()), turn, commit }
    }

    fn subject_for(&self, edits: &[EditEntry]) -> String {
        let turn = edits.first().and_then(|e| e.turn.as_ref()).and_then(|id| self.state.turn(id));
        turn.map_or_else(|| format!("Edit {}", names(edits.iter().map(|e| &e.path))), |t| t.text.clone())
    }

    /// After a restart a person let the held part be applied.
    pub(super) fn apply_held(&mut self, turn: TurnId, held: Vec<EditEntry>) {
        let ids: Vec<EditId> = held.iter().map(|e| e.id.clone()).collect();
        let (Ok((order, edits, scope)), Some(me)) = (self.to_apply(&ids), self.myself()) else {
            return;
        };
        let lane = self.shared.lane.clone();
        tokio::spawn(async move {
            let result = lane.apply(order, edits, scope).await;
            let ended = me
                .call(move |owner| {
                    let (mut failed, mut error) = (Vec::new(), None);
                    match result {
                        Ok(landed) => owner.land(landed),
                        Err(Refused::Blocks(blocks)) => failed = blocks,
                        Err(Refused::Error(why)) => error = Some(Failure::from(&why)),
                    }
                    let report = Report { outcome: Outcome::Held, failed, error, ..owner.report_from_log(&turn) };
                    owner.finish(&turn, report);
                })
                .await;
            if ended.is_err() {
                tracing::debug!("the daemon stopped while a held turn was ending");
            }
        });
    }

    /// Takes in what the write lane did: logged, told, and then settled with the lane. Taking it in twice changes nothing.
    pub fn land(&mut self, landed: Landed) {
        paird_base::fault::point("owner.landing");
        let turn = landed.intent.order.turn.clone();
        let turn = turn.as_ref();
        let changes = |path: &RepoPath| landed.changes.iter().find(|(p, _)| p == path).map(|(_, c)| c.clone()).unwrap_or_default();
        match &landed.intent.what {
            What::Apply { edits } => {
                let (foreign, written): (Vec<&EditEntry>, Vec<&EditEntry>) =
                    edits.iter().partition(|e| e.paths().any(|path| landed.foreign.contains(path)));
                self.applied(&written, landed.write.as_ref());
                for edit in written {
                    self.publish(
                        turn,
                        Happening::EditApplied { edit: edit.id.clone(), path: edit.path.clone(), changes: changes(&edit.path) },
                    );
                }
                self.follow(edits.iter().filter(|e| !landed.foreign.contains(&e.path)), EditStatus::Applied);
                self.kept_from_foreign(turn, &foreign);
            }
            What::Flip { edits, to } => {
                let changed = |(id, path): &&(EditId, RepoPath)| {
                    !landed.foreign.contains(path) && self.state.edit(id).is_some_and(|e| e.status != *to)
                };
                let known: Vec<(EditId, RepoPath)> = edits.iter().filter(changed).cloned().collect();
                let ids: Vec<EditId> = known.iter().map(|(id, _)| id.clone()).collect();
                let flipped: Vec<EditEntry> = ids.iter().filter_map(|id| self.state.edit(id).cloned()).collect();
                self.record_or_notice(Entry::EditsAre { edits: ids, status: *to, write: None });
                self.follow(flipped.iter(), *to);
                if *to == EditStatus::Undone {
                    self.note_edits("I took back your edits to", known.iter().map(|(_, path)| path));
                } else {
                    self.note_edits("I brought back your edits to", known.iter().map(|(_, path)| path));
                }
                for (edit, path) in known {
                    let changes = changes(&path);
                    let what = if *to == EditStatus::Undone {
                        Happening::EditUndone { edit, path, changes }
                    } else {
                        Happening::EditApplied { edit, path, changes }
                    };
                    self.publish(turn, what);
                }
            }
            What::UndoCommit { commit, edits, to, .. } => self.commit_undone(turn, commit, edits, *to, &landed),
        }
        self.committed(turn, &landed);
        paird_base::fault::point("owner.landed");
        if let (Some(write), lane) = (landed.write, self.shared.lane.clone()) {
            tokio::spawn(async move { lane.settle(write).await });
        }
    }

    fn applied(&mut self, edits: &[&EditEntry], write: Option<&RecordId>) {
        let (known, new): (Vec<&EditEntry>, Vec<&EditEntry>) = edits.iter().partition(|e| self.state.edit(&e.id).is_some());
        if !known.is_empty() {
            let ids = known.iter().map(|e| e.id.clone()).collect();
            self.record_or_notice(Entry::EditsAre { edits: ids, status: EditStatus::Applied, write: write.cloned() });
        }
        if !new.is_empty() {
            let applied =
                |e: &&EditEntry| EditEntry { status: EditStatus::Applied, write: write.cloned(), blocks: Vec::new(), ..(*e).clone() };
            self.record_or_notice(Entry::Edits { edits: new.iter().map(applied).collect() });
        }
    }

    /// Files that a person changed before an interrupted write was repaired are theirs: the edits of them wait as proposals.
    fn kept_from_foreign(&mut self, turn: Option<&TurnId>, foreign: &[&EditEntry]) {
        if foreign.is_empty() {
            return;
        }
        let new: Vec<EditEntry> = foreign.iter().filter(|e| self.state.edit(&e.id).is_none()).map(|e| (*e).clone()).collect();
        let message =
            format!("{} changed while the daemon was down; the edits of it wait as proposals", names(foreign.iter().map(|e| &e.path)));
        self.keep_proposals(turn, new);
        self.publish(turn, Happening::Notice { message });
    }

    fn committed(&mut self, turn: Option<&TurnId>, landed: &Landed) {
        let new: Vec<Commit> = landed
            .committed
            .commits
            .iter()
            .filter(|c| !self.state.commits.iter().any(|made| made.commit.hash == c.hash))
            .cloned()
            .collect();
        let made = match &landed.intent.what {
            What::Flip { to, .. } => *to,
            What::Apply { .. } | What::UndoCommit { .. } => EditStatus::Applied,
        };
        if !new.is_empty() {
            self.record_or_notice(Entry::Committed { turn: turn.cloned(), commits: new.clone(), made });
            let hashes: Vec<String> = new.iter().map(|c| format!("{} ({})", &c.hash[..c.hash.len().min(8)], c.subject)).collect();
            self.record_or_notice(Entry::Note { text: format!("your edits were committed as {}", hashes.join(", ")) });
        }
        for commit in new {
            self.publish(turn, Happening::CommitCreated(commit));
        }
        if let Some(why) = &landed.committed.behind {
            let message = format!("HEAD has moved, but git's index could not follow yet; do not commit before it has: {why}");
            self.publish(turn, Happening::Notice { message });
        }
        for (path, reason) in &landed.committed.uncommitted {
            self.record_or_notice(Entry::Note { text: format!("your edit to {path} was written but not committed") });
            self.publish(turn, Happening::CommitFailed { paths: vec![path.clone()], reason: reason.clone() });
        }
    }

    fn commit_undone(&mut self, turn: Option<&TurnId>, commit: &Commit, edits: &[EditId], to: EditStatus, landed: &Landed) {
        if landed.committed.head.is_none() || !self.state.commits.iter().any(|made| made.commit.hash == commit.hash) {
            return;
        }
        self.record_or_notice(Entry::EditsAre { edits: edits.to_vec(), status: to, write: None });
        self.record_or_notice(Entry::CommitUndone { commit: commit.clone() });
        self.record_or_notice(Entry::Note {
            text: format!("I took back your commit {:?}; its files are as they were before", commit.subject),
        });
        for id in edits {
            let Some(path) = self.state.edit(id).map(|e| e.path.clone()) else {
                continue;
            };
            let changes = landed.changes.iter().find(|(p, _)| *p == path).map(|(_, c)| c.clone()).unwrap_or_default();
            let edit = id.clone();
            self.publish(
                turn,
                if to == EditStatus::Undone {
                    Happening::EditUndone { edit, path, changes }
                } else {
                    Happening::EditApplied { edit, path, changes }
                },
            );
        }
        self.publish(turn, Happening::CommitUndone(commit.clone()));
    }

    /// A chat file that an edit moved is in the chat under its new name; one that it deleted is not in it any more.
    fn follow<'a>(&mut self, edits: impl Iterator<Item = &'a EditEntry>, to: EditStatus) {
        let mut files = self.state.files.clone();
        for edit in edits {
            let (from, into) = match (&edit.op, to) {
                (Op::Move { to: name }, EditStatus::Undone) => (name, Some(&edit.path)),
                (Op::Move { to: name }, _) => (&edit.path, Some(name)),
                (Op::Delete, EditStatus::Applied) => (&edit.path, None),
                (Op::Add | Op::Modify | Op::Delete, _) => continue,
            };
            if let Some(at) = files.iter().position(|file| file == from) {
                match into {
                    Some(into) if !files.contains(into) => files[at] = into.clone(),
                    _ => drop(files.remove(at)),
                }
            }
        }
        if files != self.state.files
            && let Err(error) = self.set_context(files, self.state.read_only.clone())
        {
            tracing::warn!(error = %error.chain(), "the chat's files do not follow an edit");
        }
    }

    fn note_edits<'a>(&mut self, what: &str, paths: impl Iterator<Item = &'a RepoPath>) {
        let paths = names(paths);
        if !paths.is_empty() {
            self.record_or_notice(Entry::Note { text: format!("{what} {paths}") });
        }
    }
}

/// The same lines of the same file, or a whole file that both make.
fn overlap(a: &EditEntry, b: &EditEntry) -> bool {
    let touch = || {
        a.hunks
            .iter()
            .any(|x| b.hunks.iter().any(|y| x.start_line <= y.end_line.max(y.start_line) && y.start_line <= x.end_line.max(x.start_line)))
    };
    a.path == b.path && (a.creates || b.creates || touch())
}

/// Up to three names in path order, then how many more.
fn names<'a>(paths: impl Iterator<Item = &'a RepoPath>) -> String {
    let paths: BTreeSet<&RepoPath> = paths.collect();
    let shown = paths.iter().take(3).map(|p| p.as_str()).collect::<Vec<_>>().join(", ");
    match paths.len().saturating_sub(3) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
