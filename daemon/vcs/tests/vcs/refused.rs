use std::fs;

use paird_vcs::{DirtyPolicy, Error};

use crate::fixture::{Work, request, try_git};

fn refusal(work: &Work) -> Error {
    let change = work.edit("c.txt", Some("daemon\n"));
    let error = work.repo.prepare(&request(&[change], DirtyPolicy::Overlap)).unwrap_err();
    assert!(error.hint().is_some(), "{error}");
    error
}

#[test]
fn operations_under_way() {
    for (operation, name) in [("merge", "merge"), ("rebase", "rebase"), ("cherry-pick", "cherry-pick")] {
        let work = Work::with(&[("a.txt", "1\n"), ("c.txt", "1\n")]);
        work.git(&["checkout", "-q", "-b", "side"]);
        work.write("a.txt", "side\n");
        work.git(&["commit", "-qam", "side"]);
        work.git(&["checkout", "-q", "main"]);
        work.write("a.txt", "main\n");
        work.git(&["commit", "-qam", "main"]);
        assert!(!try_git(&work.top, &[operation, "side"]).0, "{operation} met no conflict");
        assert_eq!(work.repo.status(None).unwrap().in_progress, Some(name));
        let before = work.status();
        assert!(matches!(refusal(&work), Error::InProgress(what) if what == name));
        assert_eq!(work.status().len(), before.len() + 1, "only the edit itself is new");
    }
}

#[test]
fn a_missing_identity_is_never_invented() {
    let work = Work::with(&[("c.txt", "1\n")]);
    work.git(&["config", "--unset", "user.email"]);
    assert!(matches!(refusal(&work), Error::NoIdentity));
}

#[test]
fn author_and_committer_may_differ() {
    let work = Work::with(&[("c.txt", "1\n")]);
    work.git(&["config", "author.name", "Author"]);
    work.git(&["config", "committer.email", "committer@example.org"]);
    let change = work.edit("c.txt", Some("2\n"));
    work.commit(&[change], DirtyPolicy::Overlap);
    assert_eq!(work.git(&["log", "-1", "--format=%an %ae %cn %ce"]), "Author ada@example.org Ada Person committer@example.org\n");
}

#[test]
fn hooks_and_signing_are_left_to_git() {
    let work = Work::with(&[("c.txt", "1\n")]);
    assert_eq!(work.repo.unsupported().unwrap(), None);
    work.git(&["config", "commit.gpgSign", "true"]);
    assert!(work.repo.unsupported().unwrap().unwrap().contains("gpgSign"));
    work.git(&["config", "--unset", "commit.gpgSign"]);

    let hook = |dir: &str| {
        let dir = work.top.join(dir);
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("pre-commit"), "#!/bin/sh\n").unwrap();
    };
    hook(".git/hooks");
    assert_eq!(work.repo.unsupported().unwrap(), None, "a hook that cannot be executed is none");
    work.chmod("c.txt", 0o644);
    let name = ".git/hooks/pre-commit";
    work.chmod(name, 0o755);
    assert!(matches!(refusal(&work), Error::Unsupported(reason) if reason.contains("pre-commit")));

    work.git(&["config", "core.hooksPath", "tools/hooks"]);
    assert_eq!(work.repo.unsupported().unwrap(), None);
    hook("tools/hooks");
    work.chmod("tools/hooks/pre-commit", 0o755);
    assert!(work.repo.unsupported().unwrap().is_some());
}

#[test]
fn an_index_the_library_cannot_read_is_left_to_git() {
    let work = Work::with(&[("c.txt", "1\n")]);
    work.git(&["update-index", "--split-index"]);
    assert!(matches!(refusal(&work), Error::Unsupported(reason) if reason.contains("index")));
}
