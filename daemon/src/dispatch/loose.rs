//! Edits without a session: proposed by one call, decided by another, taken back as long as their write records are kept.

use paird_protocol::{EditApplyResult, EditResolveResult};

use super::edit::{answer, applied, files_of};
use super::{Daemon, Fault, to_wire};
use crate::session::{EditEntry, EditId, EditStatus, Flip, Order, Verdicts, What, resolve};

const UNCOMMITTED: Order = Order { session: None, turn: None, commit: None };

pub(super) async fn apply(daemon: &Daemon, edits: Vec<EditEntry>) -> Result<EditApplyResult, Fault> {
    edits.iter().try_for_each(EditEntry::check_waits)?;
    let ids: Vec<EditId> = edits.iter().map(|e| e.id.clone()).collect();
    let scope = files_of(&edits);
    let landed = daemon.lane.apply(UNCOMMITTED, edits, scope).await?;
    daemon.loose.set(daemon.now_ms(), &ids, EditStatus::Applied, landed.write.as_ref());
    if let Some(write) = landed.write.clone() {
        daemon.lane.settle(write).await;
    }
    Ok(applied(&landed, daemon.events.seq()))
}

/// Decides about single hunks of a proposal.
pub(super) async fn decide(daemon: &Daemon, edit: &EditEntry, verdicts: &Verdicts) -> Result<EditResolveResult, Fault> {
    let now = daemon.now_ms();
    edit.check_waits()?;
    let resolved = resolve(edit, verdicts)?;
    let (mut landed, mut ground) = (None, edit.ground);
    if let Some(accepted) = resolved.accepted {
        let edits = vec![accepted.clone()];
        let scope = files_of(&edits);
        let done = daemon.lane.apply(UNCOMMITTED, edits, scope).await?;
        // What was accepted has changed the file under the rest.
        if let What::Apply { edits } = &done.intent.what {
            ground = edits.first().and_then(|written| written.ground);
        }
        let id = accepted.id.clone();
        if id != edit.id {
            daemon.loose.keep_beside(now, &edit.id, accepted);
        }
        daemon.loose.set(now, &[id], EditStatus::Applied, done.write.as_ref());
        if let Some(write) = done.write.clone() {
            daemon.lane.settle(write).await;
        }
        landed = Some(done);
    } else if resolved.rest.is_none() {
        daemon.loose.set(now, std::slice::from_ref(&edit.id), EditStatus::Rejected, None);
    }
    if let Some((hunks, blocks)) = resolved.rest {
        daemon.loose.narrow(now, &edit.id, &hunks, &blocks, ground);
    }
    Ok(answer(daemon.loose.get(now, &edit.id).as_ref().map(to_wire::edit), landed.as_ref(), daemon.events.seq()))
}

pub(super) async fn flip(daemon: &Daemon, edits: Vec<EditEntry>, to: EditStatus) -> Result<EditApplyResult, Fault> {
    let flips = Flip::of(edits.iter(), to)?;
    let ids: Vec<EditId> = flips.iter().map(|flip| flip.edit.clone()).collect();
    let landed = daemon.lane.flip(UNCOMMITTED, flips, to).await?;
    daemon.loose.set(daemon.now_ms(), &ids, to, None);
    if let Some(write) = landed.write.clone() {
        daemon.lane.settle(write).await;
    }
    Ok(applied(&landed, daemon.events.seq()))
}
