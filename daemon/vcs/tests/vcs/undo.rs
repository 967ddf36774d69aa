use paird_vcs::{CommitKind, DirtyPolicy, Error, UndoPrepared};

use crate::fixture::{Work, commits};

const EDIT: CommitKind = CommitKind::Edit;

/// A repository whose HEAD is an edit of `a.txt`, a new file and a deletion.
fn edited() -> Work {
    let work = Work::with(&[("a.txt", "1\n"), ("gone.sh", "1\n"), ("other.txt", "1\n")]);
    work.chmod("gone.sh", 0o755);
    work.git(&["commit", "-qam", "mode"]);
    let changes = [work.edit("a.txt", Some("2\n")), work.edit("gone.sh", None), work.edit("new/b.txt", Some("2\n"))];
    work.commit(&changes, DirtyPolicy::Overlap);
    work
}

fn refusal(work: &Work) -> String {
    match work.repo.undo_check(&work.head(), EDIT) {
        Err(error @ Error::UndoRefused { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_edit_is_taken_back_whole() {
    let work = edited();
    work.write("other.txt", "person\n");
    let plan = work.repo.undo_check(&work.head(), EDIT).unwrap();
    for change in &plan.changes {
        assert_eq!(change.before, work.content(change.path.as_str()));
        work.apply(change);
    }
    let journalled = serde_json::to_string(&plan.prepared).unwrap();
    let undo: UndoPrepared = serde_json::from_str(&journalled).unwrap();
    assert!(work.repo.undo_publish(&undo).unwrap().moved_head);
    work.sound();
    assert_eq!(work.subjects(), ["mode", "start"]);
    assert_eq!(work.read("a.txt").as_deref(), Some("1\n"));
    assert_eq!(work.status(), [".M other.txt"]);
    assert!(!work.repo.undo_publish(&undo).unwrap().moved_head, "the second time is nothing");
    assert_eq!(work.status(), [".M other.txt"]);
    work.git(&["commit", "-q", "--allow-empty", "-m", "later"]);
    assert!(matches!(work.repo.undo_publish(&undo), Err(Error::Moved { .. })));
}

#[test]
fn a_dirty_commit_is_taken_back_softly() {
    let work = Work::with(&[("a.txt", "1\n")]);
    work.write("a.txt", "person\n");
    work.write("mine.txt", "person\n");
    let changes = ["a.txt", "mine.txt"].map(|name| work.edit(name, Some("both\n")));
    let prepared = work.commit(&changes, DirtyPolicy::Overlap);
    let [dirty, edit] = commits(&prepared) else { panic!("{prepared:?}") };
    let plan = work.repo.undo_check(&edit.hash, edit.kind).unwrap();
    plan.changes.iter().for_each(|change| work.apply(change));
    work.repo.undo_publish(&plan.prepared).unwrap();
    let plan = work.repo.undo_check(&dirty.hash, dirty.kind).unwrap();
    assert_eq!(plan.changes, []);
    work.repo.undo_publish(&plan.prepared).unwrap();
    work.sound();
    assert_eq!(work.read("a.txt").as_deref(), Some("person\n"));
    assert_eq!(work.status(), [".M a.txt", "?? mine.txt"]);
}

#[test]
fn staged_work_elsewhere_survives() {
    let work = edited();
    work.write("other.txt", "staged\n");
    work.git(&["add", "other.txt"]);
    let plan = work.repo.undo_check(&work.head(), EDIT).unwrap();
    plan.changes.iter().for_each(|change| work.apply(change));
    work.repo.undo_publish(&plan.prepared).unwrap();
    assert_eq!(work.status(), ["M. other.txt"]);
}

#[test]
fn refused_if_it_is_not_head() {
    let work = edited();
    let hash = work.head();
    work.git(&["commit", "-q", "--allow-empty", "-m", "later"]);
    let error = work.repo.undo_check(&hash, EDIT).unwrap_err();
    assert!(error.to_string().contains("not HEAD") && error.hint().is_some(), "{error}");
    assert!(matches!(work.repo.undo_check(&"1".repeat(40), EDIT), Err(Error::NoSuchCommit(_))));
}

#[test]
fn refused_if_it_is_the_first_or_a_merge() {
    let work = Work::with(&[("a.txt", "1\n")]);
    assert!(refusal(&work).contains("first commit"));
    work.git(&["checkout", "-q", "-b", "side"]);
    work.git(&["commit", "-q", "--allow-empty", "-m", "side"]);
    work.git(&["checkout", "-q", "main"]);
    work.git(&["merge", "-q", "--no-ff", "-m", "merged", "side"]);
    assert!(refusal(&work).contains("merge"));
}

#[test]
fn refused_if_it_was_pushed() {
    let work = edited();
    work.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    assert!(refusal(&work).contains("origin/main"));
    let later = work.git(&["commit-tree", "-p", "HEAD", "-m", "later", "HEAD^{tree}"]);
    work.git(&["update-ref", "refs/remotes/origin/main", later.trim()]);
    assert!(refusal(&work).contains("origin/main"));
    work.git(&["update-ref", "refs/remotes/origin/main", "HEAD~1"]);
    assert!(work.repo.undo_check(&work.head(), EDIT).is_ok());
}

#[test]
fn refused_if_a_file_changed_since() {
    let work = edited();
    work.write("a.txt", "person\n");
    assert!(refusal(&work).contains("a.txt was changed since"));
    work.git(&["add", "a.txt"]);
    assert!(refusal(&work).contains("a.txt has staged changes"));

    let work = edited();
    work.write("gone.sh", "person\n");
    assert!(refusal(&work).contains("gone.sh was changed since"));

    let work = edited();
    work.chmod("new/b.txt", 0o755);
    assert!(refusal(&work).contains("new/b.txt was changed since"));
}
