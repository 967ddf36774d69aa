use paird_base::limits::DIFF_BYTES_MAX;
use paird_vcs::{Error, Head};

use crate::fixture::{Work, path};

#[test]
fn log_and_show() {
    let work = Work::with(&[("a.txt", "1\n")]);
    work.write("a.txt", "2\n");
    work.write("Grüße.md", "x\n");
    work.git(&["add", "-A"]);
    work.git(&["commit", "-qm", "Second\n\nBody.\n\nRefs: #1"]);
    let log = work.repo.log(10).unwrap();
    assert_eq!(log.iter().map(|c| c.subject.as_str()).collect::<Vec<_>>(), ["Second", "start"]);
    assert_eq!(log[0].author, "Ada Person <ada@example.org>");
    assert_eq!(log[0].trailers, [("Refs".to_owned(), "#1".to_owned())]);
    assert_eq!(log[0].parents, [log[1].hash.clone()]);
    assert_eq!(work.repo.log(1).unwrap().len(), 1);

    for rev in ["HEAD", "main", "refs/heads/main", &log[0].hash, &log[0].hash[..8]] {
        let show = work.repo.show(rev).unwrap();
        assert_eq!(show.info, log[0], "{rev}");
        assert_eq!(show.paths, [path("Grüße.md"), path("a.txt")]);
        assert!(show.diff.contains("-1\n+2\n") && !show.truncated, "{}", show.diff);
    }
    assert_eq!(work.repo.show("HEAD~1").unwrap().info, log[1]);
}

#[test]
fn names_that_are_not_commits() {
    let work = Work::with(&[("a.txt", "1\n")]);
    for rev in ["", "-p", "--output=x", "HEAD:a.txt", ":/start", "HEAD@{0}", "main..HEAD", "nothing", "HEAD^{tree}", "a b"] {
        assert!(matches!(work.repo.show(rev), Err(Error::NoSuchCommit(_))), "{rev:?}");
    }
}

#[test]
fn a_large_diff_is_cut_at_a_line() {
    let work = Work::with(&[("big.txt", &"0123456789abcdef\n".repeat(DIFF_BYTES_MAX / 16))]);
    let show = work.repo.show("HEAD").unwrap();
    assert!(show.truncated && show.diff.len() <= DIFF_BYTES_MAX && show.diff.ends_with('\n'));
}

#[test]
fn an_unborn_branch_has_no_log() {
    let work = Work::unborn();
    assert_eq!(work.repo.log(10).unwrap(), []);
    assert_eq!(work.repo.status(None).unwrap().head, Head::Unborn("main".into()));
}

#[test]
fn status_tells_staged_unstaged_and_untracked() {
    let work = Work::with(&[("a.txt", "1\n"), ("b.txt", "1\n"), ("c/d.txt", "1\n"), (".gitignore", "*.log\n")]);
    work.write("a.txt", "2\n");
    work.git(&["add", "a.txt"]);
    work.write("a.txt", "3\n");
    work.write("c/new.txt", "1\n");
    work.write("x.log", "1\n");
    std::fs::remove_file(work.top.join("b.txt")).unwrap();
    let flags = |status: paird_vcs::Status| -> Vec<(String, bool, bool, bool)> {
        status.dirty.iter().map(|d| (d.path.to_string(), d.staged, d.unstaged, d.untracked)).collect()
    };
    let all = flags(work.repo.status(None).unwrap());
    assert_eq!(all, [("a.txt".into(), true, true, false), ("b.txt".into(), false, true, false), ("c/new.txt".into(), false, false, true)]);
    assert_eq!(flags(work.repo.status(Some(&[path("c")])).unwrap()).len(), 1);
    assert_eq!(flags(work.repo.status(Some(&[])).unwrap()), []);
    assert!(work.repo.is_ignored(&path("x.log")).unwrap() && !work.repo.is_ignored(&path("a.txt")).unwrap());
    assert!(work.repo.is_tracked(&path("b.txt")).unwrap() && !work.repo.is_tracked(&path("c/new.txt")).unwrap());
}

#[test]
fn tracked_files_leave_submodules_and_odd_names_out() {
    let work = Work::with(&[("b.txt", "1\n"), ("a/Grüße.md", "1\n")]);
    let blob = work.git(&["rev-parse", "HEAD:b.txt"]);
    let head = work.head();
    work.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{head},sub")]);
    work.git(&["update-index", "--add", "--cacheinfo", &format!("100644,{},line\nbreak", blob.trim())]);
    let tracked = work.repo.tracked_files().unwrap();
    assert_eq!(tracked.files, [path("a/Grüße.md"), path("b.txt")]);
    assert_eq!(tracked.skipped, ["line\\nbreak"]);
}
