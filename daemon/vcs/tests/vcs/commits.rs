use paird_vcs::{Change, CommitKind, CommitRequest, DirtyPolicy, Outcome};

use crate::fixture::{Work, commits, path};

const OVERLAP: DirtyPolicy = DirtyPolicy::Overlap;

/// Far enough apart that a change of one line is a hunk of its own.
fn lines(changed: &[(usize, &str)]) -> String {
    (1..=20).map(|n| changed.iter().find(|(line, _)| *line == n).map_or(format!("line {n}\n"), |(_, text)| format!("{text}\n"))).collect()
}

#[test]
fn a_plain_commit_has_the_message_the_trailers_and_the_person() {
    let work = Work::with(&[("a.txt", "1\n")]);
    let changes = [work.edit("a.txt", Some("2\n"))];
    let trailers = [("Co-authored-by".to_owned(), "paird <paird@example.org>".to_owned())];
    let request = CommitRequest { changes: &changes, message: "Make it two\n\nBecause.", trailers: &trailers, dirty: OVERLAP };
    let prepared = work.repo.prepare(&request).unwrap();
    assert_eq!(work.subjects(), ["start"], "preparing moved HEAD");
    let published = work.repo.publish(&prepared).unwrap();
    assert!(published.moved_head && published.index_left.is_empty());
    work.sound();
    assert_eq!(work.status(), [""; 0]);
    let shown = work.git(&["log", "-1", "--format=%an <%ae>|%cn|%B"]);
    assert_eq!(shown, "Ada Person <ada@example.org>|Ada Person|Make it two\n\nBecause.\n\nCo-authored-by: paird <paird@example.org>\n\n");
    let [commit] = commits(&prepared) else { panic!("{prepared:?}") };
    assert_eq!((commit.hash.clone(), commit.kind, commit.paths.clone()), (work.head(), CommitKind::Edit, vec![path("a.txt")]));
    assert!(work.git(&["reflog", "-1"]).contains("paird: Make it two"));
}

#[test]
fn two_files_without_filters_take_at_most_three_processes() {
    let work = Work::with(&[("a.txt", "1\n"), ("b.txt", "1\n")]);
    let changes = [work.edit("a.txt", Some("2\n")), work.edit("b.txt", Some("2\n"))];
    work.commit(&changes, OVERLAP);
    assert!(work.repo.processes_started() <= 3, "{}", work.repo.processes_started());
}

#[test]
fn only_the_edits_own_hunks_are_committed_and_staged_hunks_stay_staged() {
    let work = Work::with(&[("a.txt", &lines(&[])), ("other.txt", "x\n")]);
    work.write("a.txt", &lines(&[(2, "staged")]));
    work.write("other.txt", "staged elsewhere\n");
    work.git(&["add", "a.txt", "other.txt"]);
    work.write("a.txt", &lines(&[(2, "staged"), (18, "unstaged")]));
    let change = work.edit("a.txt", Some(&lines(&[(2, "staged"), (10, "daemon"), (18, "unstaged")])));
    let prepared = work.commit(&[change], OVERLAP);
    assert_eq!(commits(&prepared).len(), 1);
    assert_eq!(work.at_rev("HEAD", "a.txt"), lines(&[(10, "daemon")]));
    assert_eq!(work.at_rev(":0", "a.txt"), lines(&[(2, "staged"), (10, "daemon")]));
    assert_eq!(work.at_rev("HEAD", "other.txt"), "x\n");
    assert_eq!(work.status(), ["MM a.txt", "M. other.txt"]);
}

#[test]
fn overlap_saves_the_persons_changes_first() {
    let work = Work::with(&[("a.txt", "1\n"), ("b.txt", &lines(&[]))]);
    work.write("a.txt", "person\n");
    work.write("b.txt", &lines(&[(2, "person")]));
    let changes = [work.edit("a.txt", Some("person and daemon\n")), work.edit("b.txt", Some(&lines(&[(2, "person"), (15, "daemon")])))];
    let prepared = work.commit(&changes, OVERLAP);
    assert_eq!(work.subjects(), ["Edit by paird", "Save changes to a.txt made before this edit", "start"]);
    assert_eq!(commits(&prepared)[0].kind, CommitKind::Dirty);
    assert_eq!(work.at_rev("HEAD~1", "a.txt"), "person\n");
    assert_eq!(work.at_rev("HEAD", "a.txt"), "person and daemon\n");
    assert_eq!(work.at_rev("HEAD", "b.txt"), lines(&[(15, "daemon")]));
    assert_eq!(work.status(), [".M b.txt"]);
}

#[test]
fn overlap_with_a_change_that_is_staged_whole() {
    let work = Work::with(&[("a.txt", "1\n")]);
    work.write("a.txt", "person\n");
    work.git(&["add", "a.txt"]);
    let change = work.edit("a.txt", Some("person and daemon\n"));
    assert_eq!(commits(&work.commit(&[change], OVERLAP)).len(), 2);
    assert_eq!(work.status(), [""; 0]);
}

#[test]
fn always_saves_every_touched_file_and_no_other() {
    let work = Work::with(&[("a.txt", &lines(&[])), ("b.txt", "1\n"), ("c.txt", "1\n")]);
    work.write("a.txt", &lines(&[(2, "person")]));
    work.write("b.txt", "person\n");
    let changes = [work.edit("a.txt", Some(&lines(&[(2, "person"), (15, "daemon")]))), work.edit("c.txt", Some("daemon\n"))];
    work.commit(&changes, DirtyPolicy::Always);
    assert_eq!(work.git(&["show", "--format=", "--name-only", "HEAD~1"]), "a.txt\n");
    assert_eq!(work.git(&["show", "--format=", "--name-only", "HEAD"]), "a.txt\nc.txt\n");
    assert_eq!(work.status(), [".M b.txt"]);
}

#[test]
fn never_leaves_the_overlapping_edit_and_commits_the_rest() {
    let work = Work::with(&[("a.txt", "1\n"), ("b.txt", "1\n")]);
    work.write("a.txt", "person\n");
    let changes = [work.edit("a.txt", Some("both\n")), work.edit("b.txt", Some("2\n"))];
    let prepared = work.commit(&changes, DirtyPolicy::Never);
    assert_eq!(prepared.uncommitted[0].path, path("a.txt"));
    assert_eq!(work.subjects(), ["Edit by paird", "start"]);
    assert_eq!(work.status(), [".M a.txt"]);
}

#[test]
fn a_file_staged_in_part_is_never_saved() {
    for policy in [DirtyPolicy::Overlap, DirtyPolicy::Always] {
        let work = Work::with(&[("a.txt", "1\n")]);
        work.write("a.txt", "staged\n");
        work.git(&["add", "a.txt"]);
        work.write("a.txt", "staged and more\n");
        let change = work.edit("a.txt", Some("daemon\n"));
        let prepared = work.commit(&[change], policy);
        assert_eq!(prepared.outcome, Outcome::Nothing);
        assert!(prepared.uncommitted[0].reason.contains("staged in part"), "{prepared:?}");
        assert_eq!(work.status(), ["MM a.txt"]);
    }
}

#[test]
fn an_edit_over_staged_lines_that_are_gone_from_disk_stays_uncommitted() {
    let work = Work::with(&[("a.txt", "1\n")]);
    work.write("a.txt", "staged\n");
    work.git(&["add", "a.txt"]);
    work.write("a.txt", "1\n");
    let change = work.edit("a.txt", Some("daemon\n"));
    let prepared = work.commit(&[change], OVERLAP);
    assert_eq!(prepared.outcome, Outcome::Nothing);
    assert_eq!(work.at_rev(":0", "a.txt"), "staged\n");
}

#[test]
fn new_files_deletions_and_directories() {
    let work = Work::with(&[("gone/deep/a.txt", "1\n"), ("kept.txt", "1\n")]);
    let changes = [work.edit("gone/deep/a.txt", None), work.edit("new/deep/b.txt", Some("2\n")), work.edit("empty.txt", Some(""))];
    work.commit(&changes, OVERLAP);
    assert_eq!(work.git(&["ls-tree", "-r", "--name-only", "HEAD"]), "empty.txt\nkept.txt\nnew/deep/b.txt\n");
    assert_eq!(work.status(), [""; 0]);
}

#[test]
fn the_executable_bit_is_committed_only_if_the_edit_set_it() {
    let work = Work::with(&[("ours.sh", "1\n"), ("theirs.sh", "1\n")]);
    let mut ours = work.edit("ours.sh", Some("1\n"));
    work.chmod("ours.sh", 0o755);
    ours.after = work.content("ours.sh");
    work.chmod("theirs.sh", 0o755);
    let theirs = work.edit("theirs.sh", Some("2\n"));
    let new = work.edit("new.sh", Some("3\n"));
    work.chmod("new.sh", 0o755);
    let new = Change { after: work.content("new.sh"), ..new };
    work.commit(&[ours, theirs, new], OVERLAP);
    let modes = work.git(&["ls-tree", "--format=%(objectmode) %(path)", "HEAD"]);
    assert_eq!(modes, "100755 new.sh\n100755 ours.sh\n100644 theirs.sh\n");
    assert_eq!(work.status(), [".M theirs.sh"]);
}

#[test]
fn without_file_modes_the_bit_on_disk_means_nothing() {
    let work = Work::with(&[("a.sh", "1\n")]);
    work.git(&["config", "core.fileMode", "false"]);
    work.chmod("a.sh", 0o755);
    let changes = [work.edit("a.sh", Some("2\n")), work.edit("b.sh", Some("2\n"))];
    work.commit(&changes, OVERLAP);
    assert_eq!(work.git(&["ls-tree", "--format=%(objectmode)", "HEAD"]), "100644\n100644\n");
}

#[test]
fn an_untracked_file_is_saved_before_the_edit() {
    let work = Work::with(&[("a.txt", "1\n")]);
    work.write("mine.txt", "person\n");
    work.write("added.txt", "person\n");
    work.write("intended.txt", "person\n");
    work.git(&["add", "added.txt"]);
    work.git(&["add", "-N", "intended.txt"]);
    let changes = ["mine.txt", "added.txt", "intended.txt"].map(|name| work.edit(name, Some("both\n")));
    let prepared = work.commit(&changes, OVERLAP);
    assert_eq!(commits(&prepared).len(), 2);
    assert_eq!(work.at_rev("HEAD~1", "mine.txt"), "person\n");
    assert_eq!(work.at_rev("HEAD~1", "intended.txt"), "person\n");
    assert_eq!(work.status(), [""; 0]);
}

#[test]
fn ignored_links_and_other_repositories_stay_uncommitted() {
    let work = Work::with(&[(".gitignore", "*.log\n"), ("real/a.txt", "1\n")]);
    std::os::unix::fs::symlink("real", work.top.join("link")).unwrap();
    work.git(&["add", "link"]);
    work.git(&["commit", "-qm", "link"]);
    work.write("inner/x", "1\n");
    work.git(&["init", "-q", "inner"]);
    let beyond = Change { path: path("link/a.txt"), before: work.content("real/a.txt"), after: None };
    let changes = [work.edit("x.log", Some("1\n")), work.edit("inner/x", Some("2\n")), beyond];
    let prepared = work.commit(&changes, OVERLAP);
    assert_eq!(prepared.outcome, Outcome::Nothing);
    let reasons: Vec<&str> = prepared.uncommitted.iter().map(|u| u.reason.as_str()).collect();
    assert_eq!(reasons, ["it is ignored by git", "it belongs to another repository inside this one", "it is beyond a link"]);
}

#[test]
fn an_edit_back_to_head_is_nothing() {
    let work = Work::with(&[("a.txt", "1\n")]);
    work.write("a.txt", "person\n");
    let change = work.edit("a.txt", Some("1\n"));
    let prepared = work.commit(&[change], OVERLAP);
    assert_eq!(prepared.outcome, Outcome::Nothing);
    assert_eq!(prepared.uncommitted, []);
}

#[test]
fn a_path_that_comes_twice_is_one_change() {
    let work = Work::with(&[("a.txt", "1\n")]);
    let changes = [work.edit("a.txt", Some("2\n")), work.edit("a.txt", Some("3\n"))];
    let prepared = work.commit(&changes, OVERLAP);
    assert_eq!(commits(&prepared).len(), 1);
    assert_eq!(work.at_rev("HEAD", "a.txt"), "3\n");
}

#[test]
fn odd_names() {
    let names = ["with space.txt", "quote\"'.txt", "Grüße.md", "-leading", ":(glob)x", "back\\slash", "tab*?[x]", "dir with/ä b.txt"];
    let work = Work::with(&names.map(|name| (name, "1\n")));
    work.write("tabx", "untouched\n");
    let changes = names.map(|name| work.edit(name, Some("2\n")));
    let prepared = work.commit(&changes, OVERLAP);
    assert_eq!(commits(&prepared)[0].paths.len(), names.len());
    assert_eq!(work.status(), ["?? tabx"]);
}

#[test]
fn a_binary_file_is_never_merged() {
    let text = |head: &str, tail: &str| format!("{head}\n\0\n{}{tail}\n", "same\n".repeat(10));
    let work = Work::with(&[("a.bin", &text("1", "1"))]);
    work.write("a.bin", &text("person", "1"));
    let change = work.edit("a.bin", Some(&text("person", "daemon")));
    assert_eq!(commits(&work.commit(&[change], OVERLAP)).len(), 2);
}

#[test]
fn emptied_and_filled_files() {
    let work = Work::with(&[("a.txt", "1\n"), ("b.txt", "")]);
    work.git(&["config", "core.autocrlf", "true"]);
    let changes = [work.edit("a.txt", Some("")), work.edit("b.txt", Some("1\n"))];
    work.commit(&changes, OVERLAP);
    assert_eq!(work.at_rev("HEAD", "a.txt"), "");
    assert_eq!(work.status(), [""; 0]);
    assert!(work.repo.show("HEAD").unwrap().diff.contains("-1"));
}

#[test]
fn an_unborn_branch_gets_its_first_commit() {
    let work = Work::unborn();
    let change = work.edit("dir/a.txt", Some("1\n"));
    let prepared = work.commit(&[change], OVERLAP);
    assert_eq!(commits(&prepared)[0].parent, None);
    assert_eq!(work.status(), [""; 0]);

    let work = Work::unborn();
    work.write("mine.txt", "1\n");
    work.write("staged.txt", "1\n");
    work.git(&["add", "staged.txt"]);
    let change = work.edit("mine.txt", Some("2\n"));
    work.commit(&[change], OVERLAP);
    assert_eq!(work.subjects().len(), 2);
    assert_eq!(work.status(), ["A. staged.txt"]);
}

#[test]
fn a_detached_head_moves_alone() {
    let work = Work::with(&[("a.txt", "1\n")]);
    work.git(&["checkout", "-q", "--detach"]);
    let change = work.edit("a.txt", Some("2\n"));
    let prepared = work.commit(&[change], OVERLAP);
    assert_eq!(work.head(), commits(&prepared)[0].hash);
    assert_ne!(work.git(&["rev-parse", "main"]).trim(), work.head());
    assert_eq!(work.status(), [""; 0]);
}
