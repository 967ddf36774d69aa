//! Undo and redo: in the order of writing, as long as write records are kept, and whatever mode a file has now.

use std::os::unix::fs::PermissionsExt;

use paird_protocol::methods::{EditApply, EditGet, EditRedo, EditResolve, EditUndo};
use paird_protocol::{
    ApplyMode, EditApplyParams, EditGetParams, EditResolveParams, EditStatus, EditUndoParams, ErrorKind, Outcome, SessionNewParams,
};
use paird_tests::{DaemonProcess, Scratch, block, line};

use crate::edits::propose;

fn these(edit_ids: &[String]) -> EditUndoParams {
    EditUndoParams { edit_ids: Some(edit_ids.to_vec()), ..EditUndoParams::default() }
}

fn all_of(session: &str) -> EditUndoParams {
    EditUndoParams { session_id: Some(session.to_owned()), ..EditUndoParams::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edits_that_were_written_in_another_order_than_proposed_are_taken_back() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n\n\ny = 1\n")]);
    let half = block("a.py", "x = 1", "x = 2") + &block("a.py", "not there", "z = 2");
    let model = scratch.replay(&[line(&half), line("I cannot."), line(&block("a.py", "y = 1", "y = 2"))]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let session = client.session(&model, &["a.py"]).await;
    let before = scratch.tree();
    let held = client.turn(&session, "both").await.report;
    assert_eq!((held.outcome, held.edits.len()), (Outcome::Held, 1), "{held:?}");
    assert_eq!(client.turn(&session, "y").await.report.outcome, Outcome::Done);
    client.call::<EditApply>(EditApplyParams { edit_ids: vec![held.edits[0].edit_id.clone()] }).await;
    let after = scratch.tree();
    assert_eq!(scratch.read("a.py"), "x = 2\n\n\ny = 2\n");
    for _ in 0..2 {
        client.call::<EditUndo>(all_of(&session)).await;
        assert_eq!(scratch.tree(), before);
        client.call::<EditRedo>(all_of(&session)).await;
        assert_eq!(scratch.tree(), after);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hunks_that_were_accepted_from_the_end_are_taken_back() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n\n\ny = 1\n")]);
    let model = scratch.replay(&[line(&(block("a.py", "x = 1", "x = 2") + &block("a.py", "y = 1", "y = 2")))]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let params = SessionNewParams {
        model: Some(model),
        files: Some(vec!["a.py".to_owned()]),
        apply_mode: Some(ApplyMode::Review),
        ..SessionNewParams::default()
    };
    let session = client.session_with(params).await;
    let before = scratch.tree();
    let turn = client.turn(&session, "both").await;
    let edit = &turn.report.edits[0];
    let mut written = Vec::new();
    for hunk in edit.hunks.iter().rev() {
        let accept = Some(vec![hunk.hunk_id.clone()]);
        let params = EditResolveParams { edit_id: edit.edit_id.clone(), accept, ..EditResolveParams::default() };
        written.extend(client.call::<EditResolve>(params).await.applied.into_iter().map(|applied| applied.edit_id));
    }
    let after = scratch.tree();
    let by_turn = || EditUndoParams { turn_id: Some(turn.turn_id.clone()), ..EditUndoParams::default() };
    client.call::<EditUndo>(by_turn()).await;
    assert_eq!(scratch.tree(), before);
    client.call::<EditRedo>(these(&written)).await;
    assert_eq!(scratch.tree(), after);
    written.reverse();
    client.call::<EditUndo>(these(&written)).await;
    assert_eq!(scratch.tree(), before);
    client.call::<EditRedo>(by_turn()).await;
    assert_eq!(scratch.tree(), after);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_applied_edit_without_a_session_is_found_as_long_as_its_record_is_kept() {
    let scratch = Scratch::plain(&[("a.py", "x = 1\n"), ("b.py", "y = 1\n")]);
    let mut daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let before = scratch.tree();
    let mut written = Vec::new();
    for (path, search, replace) in [("a.py", "x = 1", "x = 2"), ("a.py", "x = 2", "x = 3"), ("b.py", "y = 1", "y = 2")] {
        let edits = propose(&client, &block(path, search, replace), &[path]).await.edits;
        client.call::<EditApply>(EditApplyParams { edit_ids: vec![edits[0].edit_id.clone()] }).await;
        written.push(edits[0].edit_id.clone());
    }
    let after = scratch.tree();
    for n in 0..paird_base::limits::LOOSE_CALLS_MAX + 1 {
        propose(&client, &block("a.py", "x = 3", &format!("x = {n}0")), &["a.py"]).await;
    }
    client.call::<EditUndo>(these(&written)).await;
    assert_eq!(scratch.tree(), before);
    daemon.terminate().await;
    daemon.restart().await;
    let client = daemon.client().await;
    let shown = client.call::<EditGet>(EditGetParams { edit_id: written[1].clone() }).await;
    assert_eq!((shown.edit.status, shown.diff.contains("-x = 2\n+x = 3\n")), (EditStatus::Undone, true), "{}", shown.diff);
    client.fails::<EditUndo>(these(&written), ErrorKind::InvalidParams).await;
    client.call::<EditRedo>(these(&written)).await;
    assert_eq!(scratch.tree(), after);
    client.fails::<EditApply>(EditApplyParams { edit_ids: written.clone() }, ErrorKind::InvalidParams).await;
    client.call::<EditUndo>(these(&written[1..2])).await;
    assert_eq!(scratch.tree(), before.with("a.py", "x = 2\n").with("b.py", "y = 2\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mode_that_a_person_changed_stays_through_undo_and_redo() {
    let scratch = Scratch::repo(&[("run.sh", "echo 1\n")]);
    let model = scratch.replay(&[line(&block("run.sh", "echo 1", "echo 2"))]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let session = client.session(&model, &["run.sh"]).await;
    client.turn(&session, "two").await;
    std::fs::set_permissions(scratch.path("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let mode = || std::fs::metadata(scratch.path("run.sh")).unwrap().permissions().mode() & 0o777;
    client.call::<EditUndo>(all_of(&session)).await;
    assert_eq!((scratch.read("run.sh").as_str(), mode()), ("echo 1\n", 0o755));
    client.call::<EditRedo>(all_of(&session)).await;
    assert_eq!((scratch.read("run.sh").as_str(), mode()), ("echo 2\n", 0o755));
    assert!(scratch.git(&["ls-tree", "HEAD", "run.sh"]).starts_with("100644"), "the mode is the person's to commit");
}
