//! Edits without a turn: parsed, matched, proposed, looked at, applied, taken back.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};

use paird_protocol::methods::{EditApply, EditGet, EditList, EditMatch, EditParse, EditPropose, EditRedo, EditUndo};
use paird_protocol::{
    EditApplyParams, EditFormat, EditGetParams, EditListParams, EditMatchParams, EditParseParams, EditProposeParams, EditProposeResult,
    EditStatus, EditUndoParams, ErrorKind, Rung, SessionNewParams,
};
use paird_tests::{Client, DaemonProcess, Scratch, block, create, line};

pub(crate) async fn propose(client: &Client, text: &str, files: &[&str]) -> EditProposeResult {
    let files = Some(files.iter().map(|&file| file.to_owned()).collect());
    client.call::<EditPropose>(EditProposeParams { text: text.to_owned(), format: EditFormat::Diff, files, session_id: None }).await
}

fn ids(edits: &[paird_protocol::Edit]) -> Vec<String> {
    edits.iter().map(|edit| edit.edit_id.clone()).collect()
}

fn these(edit_ids: Vec<String>) -> EditUndoParams {
    EditUndoParams { edit_ids: Some(edit_ids), ..EditUndoParams::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parsing_and_matching_look_at_what_they_are_given() {
    let scratch = Scratch::plain(&[("a.py", "def f():\n    x = 1\n")]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let text = block("a.py", "    x = 1", "    x = 2") + &block("a.py", "gone", "new") + "```bash\nmake test\n```\n";
    let parsed = client.call::<EditParse>(EditParseParams { text: text.clone(), format: EditFormat::Diff }).await;
    assert_eq!(parsed.blocks.len(), 2);
    assert_eq!(
        (parsed.blocks[0].path.as_deref(), parsed.blocks[0].search.as_str(), parsed.blocks[0].block),
        (Some("a.py"), "    x = 1\n", 0)
    );
    assert_eq!(parsed.shell_commands, ["make test"]);

    let params = |contents: Option<&str>| EditMatchParams {
        text: text.clone(),
        format: EditFormat::Diff,
        files: Some(vec!["a.py".to_owned()]),
        contents: contents.map(|contents| BTreeMap::from([("a.py".to_owned(), contents.to_owned())])),
    };
    let on_disk = client.call::<EditMatch>(params(None)).await.blocks;
    assert_eq!((on_disk[0].rung, on_disk[0].start_line, on_disk[0].end_line), (Some(Rung::Exact), Some(2), Some(2)));
    assert_eq!((on_disk[1].rung, on_disk[1].reason.as_deref()), (None, Some("no_match")));
    let unsaved = client.call::<EditMatch>(params(Some("# a new line\ndef f():\n  x = 1\ngone\n"))).await.blocks;
    assert_eq!((unsaved[0].rung, unsaved[0].start_line), (Some(Rung::Indent), Some(3)));
    assert_eq!((unsaved[1].rung, unsaved[1].start_line), (Some(Rung::Exact), Some(4)));
    assert!(client.call::<EditList>(EditListParams::default()).await.edits.is_empty(), "nothing is kept");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loose_proposals_are_applied_undone_and_redone() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n"), ("run.sh", "echo 1\n")]);
    std::fs::set_permissions(scratch.path("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let (before, head) = (scratch.tree(), scratch.head());
    let text = block("a.py", "x = 1", "x = 2") + &block("run.sh", "echo 1", "echo 2") + &create("new/deep/b.py", "y = 1");
    let proposed = propose(&client, &text, &["a.py"]).await;
    assert_eq!((proposed.edits.len(), proposed.failed.len()), (3, 0));
    let flags: Vec<(bool, bool)> = proposed.edits.iter().map(|edit| (edit.outside_chat, edit.creates)).collect();
    assert_eq!(flags, [(false, false), (true, false), (false, true)], "{:?}", proposed.edits);
    assert_eq!(scratch.tree(), before, "proposing writes nothing");
    let listed = client.call::<EditList>(EditListParams::default()).await.edits;
    assert_eq!(listed, proposed.edits);
    let shown = client.call::<EditGet>(EditGetParams { edit_id: proposed.edits[0].edit_id.clone() }).await;
    assert!(shown.diff.contains("-x = 1\n+x = 2\n"), "{}", shown.diff);

    let applied = client.call::<EditApply>(EditApplyParams { edit_ids: ids(&proposed.edits) }).await;
    assert_eq!((applied.applied.len(), applied.commit), (3, None));
    let after = before.clone().with("a.py", "x = 2\n").with("run.sh", "echo 2\n").with("new/deep/b.py", "y = 1\n");
    assert_eq!(scratch.tree(), after);
    assert_eq!(scratch.head(), head, "without a session nothing is committed");
    client.fails::<EditApply>(EditApplyParams { edit_ids: ids(&proposed.edits) }, ErrorKind::InvalidParams).await;
    client.call::<EditUndo>(these(ids(&proposed.edits))).await;
    assert_eq!(scratch.tree(), before, "made directories are gone too");
    client.call::<EditRedo>(these(ids(&proposed.edits))).await;
    assert_eq!(scratch.tree(), after);
    let shown = client.call::<EditGet>(EditGetParams { edit_id: proposed.edits[0].edit_id.clone() }).await;
    assert_eq!(shown.edit.status, EditStatus::Applied);
    assert!(shown.diff.contains("-x = 1\n+x = 2\n"), "{}", shown.diff);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edits_of_a_session_are_committed_and_taken_back_by_a_commit() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let model = scratch.replay(&[line("unused")]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let session = client.session(&model, &["a.py"]).await;
    let params = EditProposeParams {
        text: block("a.py", "x = 1", "x = 2"),
        format: EditFormat::Diff,
        files: None,
        session_id: Some(session.clone()),
    };
    let proposed = client.call::<EditPropose>(params).await;
    assert!(!proposed.edits[0].outside_chat, "the session's files are the chat's");
    let applied = client.call::<EditApply>(EditApplyParams { edit_ids: ids(&proposed.edits) }).await;
    assert_eq!(applied.commit.unwrap().hash, scratch.head());
    let all = || EditUndoParams { session_id: Some(session.clone()), ..EditUndoParams::default() };
    let undone = client.call::<EditUndo>(all()).await;
    assert_eq!((undone.commit.unwrap().hash, scratch.read("a.py").as_str()), (scratch.head(), "x = 1\n"));
    let edits = client.read(&session).await.edits;
    assert_eq!(edits[0].status, EditStatus::Undone);
    client.fails::<EditUndo>(all(), ErrorKind::NotFound).await;
    client.call::<EditRedo>(all()).await;
    assert_eq!(scratch.read("a.py"), "x = 2\n");
    assert_eq!(scratch.git(&["rev-list", "--count", "HEAD"]).trim(), "4");
    assert_eq!(scratch.status(), "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edits_merge_onto_the_file_as_it_is_or_write_nothing() {
    let scratch = Scratch::plain(&[("a.py", "x = 1\ny = 1\n"), ("b.py", "z = 1\n")]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let text = block("a.py", "x = 1", "x = 2") + &block("b.py", "z = 1", "z = 2");
    let proposed = propose(&client, &text, &["a.py", "b.py"]).await;
    scratch.write("a.py", "# mine\nx = 1\ny = 1\n");
    scratch.write("b.py", "z = 10\n");
    let before = scratch.tree();
    let error = client.fails::<EditApply>(EditApplyParams { edit_ids: ids(&proposed.edits) }, ErrorKind::Conflict).await;
    assert_eq!((error.code, error.data.paths.as_slice()), (-32801, ["b.py".to_owned()].as_slice()));
    assert_eq!(scratch.tree(), before, "all or none");
    let first = vec![proposed.edits[0].edit_id.clone()];
    client.call::<EditApply>(EditApplyParams { edit_ids: first.clone() }).await;
    assert_eq!(scratch.read("a.py"), "# mine\nx = 2\ny = 1\n");
    // What was changed since is not overwritten by an undo either.
    scratch.write("a.py", "# mine\nx = 2\ny = mine too\n");
    let error = client.fails::<EditUndo>(these(first), ErrorKind::Conflict).await;
    assert_eq!(error.data.paths, ["a.py"]);
    assert_eq!(scratch.read("a.py"), "# mine\nx = 2\ny = mine too\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn paths_never_leave_the_work_tree() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n"), ("src/b.py", "y\n"), (".aiderignore", "secret/\n"), (".gitignore", "build/\n")]);
    scratch.write("secret/key.txt", "k\n");
    scratch.write("build/out.txt", "o\n");
    let outside = scratch.base().join("outside.txt");
    std::fs::write(&outside, "o\n").unwrap();
    std::fs::create_dir(scratch.base().join("elsewhere")).unwrap();
    symlink("../outside.txt", scratch.path("link.txt")).unwrap();
    symlink("../elsewhere", scratch.path("linked")).unwrap();
    symlink("a.py", scratch.path("inner.py")).unwrap();
    symlink("src", scratch.path("inner")).unwrap();
    std::fs::hard_link(scratch.path("a.py"), scratch.path("second-name.py")).unwrap();
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let before = paird_tests::Tree::read(&scratch.base().join("work"));
    for (path, reason) in [
        ("../new.txt", "bad_path"),
        ("src/../../new.txt", "bad_path"),
        ("/tmp/paird-new.txt", "bad_path"),
        (".git/hooks/post-commit", "bad_path"),
        (".GIT/config", "bad_path"),
        ("sub/.git/config", "bad_path"),
        ("linked/new.txt", "unsupported_file"),
        ("link.txt", "unsupported_file"),
        ("inner.py", "unsupported_file"),
        ("inner/b.py", "unsupported_file"),
        ("inner/new.py", "unsupported_file"),
        ("second-name.py", "unsupported_file"),
        ("secret/new.txt", "ignored"),
        ("build/new.txt", "ignored"),
    ] {
        let proposed = propose(&client, &create(path, "x"), &[]).await;
        assert!(proposed.edits.is_empty(), "{path}: {:?}", proposed.edits);
        assert_eq!(proposed.failed.len(), 1, "{path}");
        assert_eq!(proposed.failed[0].reason, reason, "{path}: {}", proposed.failed[0].message);
    }
    // A file is no directory, which shows when it is written at the latest.
    let proposed = propose(&client, &create("a.py/new.txt", "x"), &[]).await.edits;
    if !proposed.is_empty() {
        let error = client.try_call::<EditApply>(EditApplyParams { edit_ids: ids(&proposed) }).await.unwrap_err();
        assert!(matches!(error.data.kind, ErrorKind::UnsupportedFile | ErrorKind::Conflict | ErrorKind::Io), "{:?}", error.data);
    }
    // What is named is let in where only git ignores it, and never where a person said no.
    assert_eq!(propose(&client, &block("build/out.txt", "o", "p"), &["build/out.txt"]).await.edits.len(), 1);
    assert_eq!(propose(&client, &block("secret/key.txt", "k", "p"), &["secret/key.txt"]).await.edits.len(), 0);
    assert_eq!(paird_tests::Tree::read(&scratch.root()), before);
    for path in ["link.txt", "inner/b.py", "secret/key.txt", "../outside.txt", ".git/config", "linked"] {
        let params = SessionNewParams { files: Some(vec![path.to_owned()]), ..SessionNewParams::default() };
        let error = client.try_call::<paird_protocol::methods::SessionNew>(params).await.expect_err(path);
        assert!(matches!(error.data.kind, ErrorKind::UnsupportedPath | ErrorKind::UnsupportedFile), "{path}: {}", error.message);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_that_comes_between_look_and_write_is_not_followed() {
    let scratch = Scratch::plain(&[("dir/a.py", "x = 1\n")]);
    let elsewhere = scratch.base().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("a.py"), "x = 1\n").unwrap();
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let proposed = propose(&client, &block("dir/a.py", "x = 1", "x = 2"), &["dir/a.py"]).await;
    std::fs::rename(scratch.path("dir"), scratch.path("was")).unwrap();
    symlink(&elsewhere, scratch.path("dir")).unwrap();
    let error = client.try_call::<EditApply>(EditApplyParams { edit_ids: ids(&proposed.edits) }).await.unwrap_err();
    assert!(matches!(error.data.kind, ErrorKind::Conflict | ErrorKind::UnsupportedPath), "{}", error.message);
    assert_eq!(std::fs::read_to_string(elsewhere.join("a.py")).unwrap(), "x = 1\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_newest_loose_proposals_are_kept() {
    let scratch = Scratch::plain(&[("a.py", "x = 1\n")]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let mut all = Vec::new();
    for n in 0..paird_base::limits::LOOSE_CALLS_MAX + 3 {
        all.extend(propose(&client, &block("a.py", "x = 1", &format!("x = {n}0")), &["a.py"]).await.edits);
    }
    let kept = client.call::<EditList>(EditListParams::default()).await.edits;
    assert_eq!(kept, all[3..]);
    client.fails::<EditGet>(EditGetParams { edit_id: all[0].edit_id.clone() }, ErrorKind::NotFound).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newer_proposal_supersedes_one_that_it_overlaps() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\ny = 1\nz = 1\n")]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let session = client.session("replay:unused", &["a.py"]).await;
    let mut events = client.events().await;
    let mut proposed = Vec::new();
    for (search, replace) in [("x = 1", "x = 2"), ("z = 1", "z = 2"), ("x = 1\ny = 1", "x = 3\ny = 3")] {
        let params = EditProposeParams {
            text: block("a.py", search, replace),
            format: EditFormat::Diff,
            files: None,
            session_id: Some(session.clone()),
        };
        proposed.extend(client.call::<EditPropose>(params).await.edits);
    }
    events.wait_kind("edit.superseded").await;
    let listed = client.call::<EditList>(EditListParams { session_id: Some(session), status: None }).await.edits;
    let statuses: Vec<EditStatus> = listed.iter().map(|edit| edit.status).collect();
    assert_eq!(statuses, [EditStatus::Superseded, EditStatus::Proposed, EditStatus::Proposed]);
    client.fails::<EditApply>(EditApplyParams { edit_ids: vec![proposed[0].edit_id.clone()] }, ErrorKind::InvalidParams).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_edit_of_a_large_reply_is_kept_as_long_as_the_reply() {
    let scratch = Scratch::plain(&[("a.py", "x = 1\n")]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let many = paird_base::limits::LOOSE_CALLS_MAX * 2;
    let text: String = (0..many).map(|n| create(&format!("new/{n}.py"), "y = 1")).collect();
    let proposed = propose(&client, &text, &[]).await;
    let applied = client.call::<EditApply>(EditApplyParams { edit_ids: ids(&proposed.edits) }).await;
    assert_eq!((applied.applied.len(), scratch.path("new").read_dir().unwrap().count()), (many, many));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_proposals_of_one_file_are_written_one_after_the_other() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\ny = 1\n")]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let session = client.session("replay:unused", &["a.py"]).await;
    for session_id in [None, Some(session)] {
        scratch.write("a.py", "x = 1\ny = 1\n");
        let mut edits = Vec::new();
        for (search, replace) in [("x = 1", "x = 2"), ("y = 1", "y = 2")] {
            let (text, files) = (block("a.py", search, replace), Some(vec!["a.py".to_owned()]));
            let params = EditProposeParams { text, format: EditFormat::Diff, files, session_id: session_id.clone() };
            edits.extend(ids(&client.call::<EditPropose>(params).await.edits));
        }
        let error = client.fails::<EditApply>(EditApplyParams { edit_ids: edits.clone() }, ErrorKind::InvalidParams).await;
        assert!(error.message.contains("both of a.py"), "{}", error.message);
        assert_eq!(scratch.read("a.py"), "x = 1\ny = 1\n");
        for edit in &edits {
            // A name that comes twice is meant once.
            client.call::<EditApply>(EditApplyParams { edit_ids: vec![edit.clone(), edit.clone()] }).await;
        }
        assert_eq!(scratch.read("a.py"), "x = 2\ny = 2\n");
        let listed = client.call::<EditList>(EditListParams { session_id: session_id.clone(), status: Some(EditStatus::Applied) }).await;
        assert_eq!(ids(&listed.edits), edits, "each has its state");
        client.call::<EditUndo>(these(edits)).await;
        assert_eq!(scratch.read("a.py"), "x = 1\ny = 1\n");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_says_what_an_edit_is_and_why_it_is_not_there() {
    let scratch = Scratch::plain(&[("a.py", "x = 1\n")]);
    let model = scratch.replay(&[line(&block("a.py", "x = 1", "x = 2"))]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let params = SessionNewParams {
        model: Some(model),
        files: Some(vec!["a.py".to_owned()]),
        apply_mode: Some(paird_protocol::ApplyMode::Dry),
        ..SessionNewParams::default()
    };
    let session = client.session_with(params).await;
    let dry = ids(&client.turn(&session, "two").await.report.edits);
    let error = client.fails::<EditApply>(EditApplyParams { edit_ids: dry }, ErrorKind::NotFound).await;
    assert!(error.data.hint.is_some_and(|hint| hint.contains("a dry turn keeps none")));

    let there = block("a.py", "x = 0", "x = 1");
    for session_id in [None, Some(session)] {
        let (text, format) = (there.clone(), EditFormat::Diff);
        let params = EditProposeParams { text, format, files: Some(vec!["a.py".to_owned()]), session_id: session_id.clone() };
        let already = ids(&client.call::<EditPropose>(params).await.edits);
        client.call::<EditApply>(EditApplyParams { edit_ids: already.clone() }).await;
        let error = client.fails::<EditApply>(EditApplyParams { edit_ids: already.clone() }, ErrorKind::InvalidParams).await;
        assert!(error.message.ends_with("is applied, not a proposal"), "{}", error.message);
        let error = client.fails::<EditUndo>(these(already.clone()), ErrorKind::InvalidParams).await;
        assert!(error.message.contains("changed nothing"), "{}", error.message);
        let error = client.fails::<EditRedo>(these(already), ErrorKind::InvalidParams).await;
        assert!(error.message.ends_with("is applied, not undone"), "{}", error.message);
    }
}
