use std::fs;

use paird_vcs::{DirtyPolicy, Error, Head, Repo};

use crate::fixture::{Work, git};

#[test]
fn from_a_subdirectory_and_through_a_link() {
    let work = Work::with(&[("a/b/c.txt", "1\n")]);
    assert_eq!(Repo::discover(&work.top.join("a/b")).unwrap().unwrap().top(), work.top);
    let link = work.top.parent().unwrap().join("link");
    std::os::unix::fs::symlink(&work.top, &link).unwrap();
    assert_eq!(Repo::discover(&link.join("a")).unwrap().unwrap().top(), work.top);
}

#[test]
fn nothing_bare_and_inside_the_git_directory() {
    let dir = tempfile::tempdir().unwrap();
    assert!(Repo::discover(dir.path()).unwrap().is_none());
    git(dir.path(), &["init", "-q", "--bare", "bare.git"]);
    assert!(matches!(Repo::discover(&dir.path().join("bare.git")), Err(Error::Bare(_))));
    let work = Work::unborn();
    assert!(matches!(Repo::discover(&work.top.join(".git/refs")), Err(Error::Unsupported(_))));
}

#[test]
fn a_linked_work_tree_commits_to_its_own_branch() {
    let main = Work::with(&[("a.txt", "1\n")]);
    main.git(&["worktree", "add", "-q", "-b", "side", "../linked"]);
    let work = Work::at(&main.top.parent().unwrap().join("linked"));
    assert_eq!(work.repo.top(), work.top);
    assert_eq!(work.repo.common_dir(), main.repo.git_dir());
    assert_ne!(work.repo.git_dir(), main.repo.git_dir());
    assert_eq!(work.repo.status(None).unwrap().head, Head::Branch("side".into()));
    let change = work.edit("a.txt", Some("2\n"));
    work.commit(&[change], DirtyPolicy::Overlap);
    assert_eq!((work.status(), main.status()), (vec![], vec![]));
    assert_eq!(main.subjects(), ["start"]);
    let plan = work.repo.undo_check(&work.head(), paird_vcs::CommitKind::Edit).unwrap();
    plan.changes.iter().for_each(|change| work.apply(change));
    work.repo.undo_publish(&plan.prepared).unwrap();
    assert_eq!(work.status(), [""; 0]);
}

#[test]
fn a_work_tree_inside_its_bare_repository() {
    let source = Work::with(&[("a.txt", "1\n")]);
    let bare = source.top.parent().unwrap().join("bare");
    source.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    git(&bare, &["config", "user.name", "Ada"]);
    git(&bare, &["config", "user.email", "ada@example.org"]);
    git(&bare, &["worktree", "add", "-q", "-b", "side", "inside"]);
    let work = Work::at(&bare.join("inside"));
    let change = work.edit("a.txt", Some("2\n"));
    work.commit(&[change], DirtyPolicy::Overlap);
    assert_eq!(work.status(), [""; 0]);
    assert!(matches!(Repo::discover(&bare), Err(Error::Bare(_))));
}

#[test]
fn submodules_and_their_work_trees() {
    let outer = Work::with(&[("top.txt", "1\n")]);
    let source = Work::with(&[("lib.c", "1\n")]);
    let url = source.top.to_str().unwrap();
    outer.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "sub"]);
    outer.git(&["commit", "-qm", "submodule"]);
    let sub = Work::at(&outer.top.join("sub"));
    assert_eq!(sub.repo.top(), sub.top);
    sub.git(&["config", "user.name", "Ada"]);
    sub.git(&["config", "user.email", "ada@example.org"]);
    let change = sub.edit("lib.c", Some("2\n"));
    sub.commit(&[change], DirtyPolicy::Overlap);
    assert_eq!(sub.status(), [""; 0]);

    // The outer repository neither takes the file nor the moved submodule into its commits.
    let inner = paird_vcs::Change { path: crate::fixture::path("sub/lib.c"), before: None, after: sub.content("lib.c") };
    let changes = [outer.edit("top.txt", Some("2\n")), inner];
    let prepared = outer.commit(&changes, DirtyPolicy::Overlap);
    assert_eq!(prepared.uncommitted.len(), 1);
    assert_eq!(outer.git(&["show", "--format=", "--name-only"]), "top.txt\n");

    sub.git(&["worktree", "add", "-q", "-b", "side", "../../sub tree"]);
    let tree = Work::at(&outer.top.parent().unwrap().join("sub tree"));
    assert_eq!(tree.repo.top(), tree.top);
    let change = tree.edit("lib.c", Some("3\n"));
    tree.commit(&[change], DirtyPolicy::Overlap);
    assert_eq!(tree.status(), [""; 0]);
}

#[test]
fn a_work_tree_that_is_elsewhere_is_refused() {
    let work = Work::unborn();
    fs::create_dir(work.top.parent().unwrap().join("elsewhere")).unwrap();
    work.git(&["config", "core.worktree", "../../elsewhere"]);
    assert!(matches!(Repo::discover(&work.top), Err(Error::Unsupported(_))));
}

#[test]
fn storage_the_library_cannot_read_is_refused() {
    for format in ["--ref-format=reftable", "--object-format=sha256"] {
        let dir = tempfile::tempdir().unwrap();
        git(dir.path(), &["init", "-q", format]);
        let error = Repo::discover(dir.path()).unwrap_err();
        assert!(matches!(error, Error::Unsupported(_)), "{format}: {error:?}");
    }
}
