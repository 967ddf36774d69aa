use paird_vcs::{CommitKind, DirtyPolicy};

use crate::fixture::{Work, commits};

#[test]
fn autocrlf_stores_lf_and_commits_one_line() {
    let work = Work::with(&[("a.txt", "1\n2\n3\n")]);
    work.git(&["config", "core.autocrlf", "true"]);
    work.write("a.txt", "1\r\n2\r\n3\r\n");
    let change = work.edit("a.txt", Some("1\r\n2\r\nthree\r\n"));
    work.commit(&[change], DirtyPolicy::Overlap);
    assert_eq!(work.at_rev("HEAD", "a.txt"), "1\n2\nthree\n");
    assert_eq!(work.subjects().len(), 2);
    assert_eq!(work.status(), [""; 0]);
    let plan = work.repo.undo_check(&work.head(), CommitKind::Edit).unwrap();
    assert_eq!(plan.changes[0].after.as_ref().unwrap().bytes.as_ref(), b"1\r\n2\r\n3\r\n");
}

#[test]
fn a_file_stored_with_crlf_keeps_it_under_autocrlf() {
    let work = Work::with(&[("a.txt", "1\r\n2\r\n")]);
    work.git(&["config", "core.autocrlf", "true"]);
    let change = work.edit("a.txt", Some("1\r\ntwo\r\n"));
    work.commit(&[change], DirtyPolicy::Overlap);
    assert_eq!(work.at_rev("HEAD", "a.txt"), "1\r\ntwo\r\n");
    assert_eq!(work.subjects().len(), 2);
    assert_eq!(work.status(), [""; 0]);
}

#[test]
fn attributes_decide_line_ends() {
    let attributes = "*.win text eol=crlf\n*.auto text=auto\n*.raw -text\n*.old crlf\n";
    let work = Work::with(&[(".gitattributes", attributes)]);
    let names = ["a.win", "a.auto", "a.raw", "a.old", "a.none"];
    let changes = names.map(|name| work.edit(name, Some("1\r\n")));
    work.commit(&changes, DirtyPolicy::Overlap);
    let stored = names.map(|name| work.at_rev("HEAD", name));
    assert_eq!(stored, ["1\n", "1\n", "1\r\n", "1\n", "1\r\n"]);
    assert_eq!(work.status(), [""; 0]);
}

#[test]
fn filter_drivers_ident_and_encodings_go_through_git() {
    let work = Work::with(&[(".gitattributes", "*.up filter=up\n*.id ident\n")]);
    work.git(&["config", "filter.up.clean", "tr a-z A-Z"]);
    work.git(&["config", "filter.up.smudge", "tr A-Z a-z"]);
    work.write("a.up", "one\n");
    work.write("a.id", "$Id$\n");
    work.git(&["add", "-A"]);
    work.git(&["commit", "-qm", "files"]);
    let changes = [work.edit("a.up", Some("two\n")), work.edit("a.id", Some("$Id: 123 $\nmore\n"))];
    work.commit(&changes, DirtyPolicy::Overlap);
    assert_eq!((work.at_rev("HEAD", "a.up"), work.at_rev("HEAD", "a.id")), ("TWO\n".into(), "$Id$\nmore\n".into()));
    assert_eq!(work.status(), [""; 0]);
    let plan = work.repo.undo_check(&work.head(), CommitKind::Edit).unwrap();
    let up = plan.changes.iter().find(|change| change.path.as_str() == "a.up").unwrap();
    assert_eq!(up.after.as_ref().unwrap().bytes.as_ref(), b"one\n");
}

#[test]
fn a_person_s_hunks_in_a_crlf_file_are_told_apart() {
    let work = Work::with(&[("a.txt", "1\n2\n3\n4\n5\n6\n7\n")]);
    work.git(&["config", "core.autocrlf", "true"]);
    work.write("a.txt", "one\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n");
    let change = work.edit("a.txt", Some("one\r\n2\r\n3\r\n4\r\n5\r\n6\r\nseven\r\n"));
    let prepared = work.commit(&[change], DirtyPolicy::Overlap);
    assert_eq!(commits(&prepared).len(), 1);
    assert_eq!(work.at_rev("HEAD", "a.txt"), "1\n2\n3\n4\n5\n6\nseven\n");
    assert_eq!(work.status(), [".M a.txt"]);
}
