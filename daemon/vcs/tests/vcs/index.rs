use std::fs;

use paird_vcs::{CommitKind, DirtyPolicy, Error, Outcome};

use crate::fixture::{Work, try_git};

#[test]
fn flags_of_an_entry_are_kept() {
    let work = Work::with(&[("skip.txt", "1\n"), ("assume.txt", "1\n"), ("sparse.txt", "1\n")]);
    work.git(&["update-index", "--skip-worktree", "skip.txt"]);
    work.git(&["update-index", "--assume-unchanged", "assume.txt"]);
    let changes = [work.edit("skip.txt", Some("2\n")), work.edit("assume.txt", Some("2\n"))];
    work.commit(&changes, DirtyPolicy::Overlap);
    assert_eq!(work.git(&["ls-files", "-v"]), "h assume.txt\nS skip.txt\nH sparse.txt\n");
    assert_eq!(work.at_rev(":0", "skip.txt"), "2\n");
    assert_eq!(work.status(), [""; 0]);
}

#[test]
fn a_conflict_in_the_index_is_left_alone() {
    let work = Work::with(&[("a.txt", "1\n"), ("b.txt", "1\n")]);
    work.write("a.txt", "stashed\n");
    work.git(&["stash", "-q"]);
    work.write("a.txt", "other\n");
    work.git(&["commit", "-qam", "other"]);
    let _ = try_git(&work.top, &["stash", "pop", "-q"]);
    let changes = [work.edit("a.txt", Some("daemon\n")), work.edit("b.txt", Some("2\n"))];
    let prepared = work.commit(&changes, DirtyPolicy::Overlap);
    assert!(prepared.uncommitted[0].reason.contains("unresolved conflict"), "{prepared:?}");
    assert_eq!(work.git(&["ls-files", "-u"]).lines().count(), 3);
    assert_eq!(work.at_rev("HEAD", "b.txt"), "2\n");
}

#[test]
fn publishing_twice_is_publishing_once() {
    let work = Work::with(&[("a.txt", "1\n2\n3\n4\n5\n")]);
    work.write("a.txt", "one\n2\n3\n4\n5\n");
    work.git(&["add", "a.txt"]);
    let change = work.edit("a.txt", Some("one\n2\n3\n4\nfive\n"));
    let prepared = work.commit(&[change], DirtyPolicy::Overlap);
    let index = fs::read(work.repo.git_dir().join("index")).unwrap();
    assert!(!work.repo.publish(&prepared).unwrap().moved_head);
    assert_eq!(fs::read(work.repo.git_dir().join("index")).unwrap(), index);
    assert_eq!(work.status(), ["M. a.txt"]);

    // The person went on: their later commit takes the edit back, and that stays so.
    work.write("a.txt", "one\n2\n3\n4\n5\n");
    work.git(&["commit", "-qam", "back"]);
    work.repo.publish(&prepared).unwrap();
    assert_eq!(work.status(), [""; 0]);
}

#[test]
fn publishing_again_after_the_person_switched_branches_changes_nothing() {
    let work = Work::with(&[("a.txt", "1\n")]);
    let change = work.edit("a.txt", Some("2\n"));
    let prepared = work.commit(&[change], DirtyPolicy::Overlap);
    work.git(&["checkout", "-q", "-b", "old", "HEAD~1"]);
    assert!(!work.repo.publish(&prepared).unwrap().moved_head);
    assert_eq!(work.status(), [""; 0]);
}

#[test]
fn head_moved_in_between() {
    let work = Work::with(&[("a.txt", "1\n"), ("b.txt", "1\n")]);
    let change = work.edit("a.txt", Some("2\n"));
    let prepared = work.prepare(&[change], DirtyPolicy::Overlap);
    work.git(&["commit", "-q", "--allow-empty", "-m", "somebody else"]);
    let error = work.repo.publish(&prepared).unwrap_err();
    assert!(matches!(error, Error::Moved { .. }) && error.hint().is_some(), "{error}");
    work.sound();
    assert_eq!((work.subjects(), work.status()), (vec!["somebody else".into(), "start".into()], vec![".M a.txt".into()]));

    let change = work.edit("b.txt", Some("2\n"));
    let prepared = work.prepare(&[change], DirtyPolicy::Overlap);
    work.git(&["checkout", "-q", "-b", "elsewhere"]);
    assert!(matches!(work.repo.publish(&prepared), Err(Error::Moved { .. })));
}

#[test]
fn a_foreign_lock_is_waited_for_then_named_and_never_removed() {
    let work = Work::with(&[("a.txt", "1\n")]);
    let lock = work.repo.git_dir().join("index.lock");
    fs::write(&lock, "").unwrap();
    let change = work.edit("a.txt", Some("2\n"));
    let prepared = work.prepare(&[change], DirtyPolicy::Overlap);
    let error = work.repo.publish(&prepared).unwrap_err();
    assert!(matches!(&error, Error::Locked(path) if *path == lock), "{error}");
    assert!(!work.repo.recover_lock().unwrap());
    assert!(lock.exists());
    assert_eq!(work.subjects(), ["start"], "HEAD waits for the index");
    fs::remove_file(&lock).unwrap();
    assert!(work.repo.publish(&prepared).unwrap().moved_head);
    work.sound();
    assert_eq!(work.status(), [""; 0]);
}

#[test]
fn an_index_that_is_locked_after_head_moved_is_behind_until_it_is_free() {
    let work = Work::with(&[("a.txt", "1\n")]);
    let change = work.edit("a.txt", Some("2\n"));
    let prepared = work.prepare(&[change], DirtyPolicy::Overlap);
    // What a crash between the two leaves.
    let Outcome::Commits(commits) = &prepared.outcome else { panic!("{prepared:?}") };
    work.git(&["update-ref", "HEAD", &commits[0].hash]);
    let lock = work.repo.git_dir().join("index.lock");
    fs::write(&lock, "").unwrap();
    let published = work.repo.publish(&prepared).unwrap();
    assert!(matches!(&published.behind, Some(Error::Locked(path)) if *path == lock), "{published:?}");
    fs::remove_file(&lock).unwrap();
    assert!(work.repo.publish(&prepared).unwrap().behind.is_none());
    assert_eq!(work.status(), [""; 0]);
}

#[test]
fn an_undo_meets_a_foreign_lock_before_head_moves() {
    let work = Work::with(&[("a.txt", "1\n")]);
    let change = work.edit("a.txt", Some("2\n"));
    work.commit(&[change], DirtyPolicy::Overlap);
    let undo = work.repo.undo_check(&work.head(), CommitKind::Edit).unwrap();
    let lock = work.repo.git_dir().join("index.lock");
    fs::write(&lock, "").unwrap();
    let head = work.head();
    assert!(matches!(work.repo.undo_publish(&undo.prepared), Err(Error::Locked(_))));
    assert_eq!(work.head(), head);
    fs::remove_file(&lock).unwrap();
    work.repo.undo_publish(&undo.prepared).unwrap();
    assert_eq!(work.subjects(), ["start"]);
}

#[test]
fn a_foreign_ref_lock_is_named() {
    let work = Work::with(&[("a.txt", "1\n")]);
    let lock = work.repo.git_dir().join("refs/heads/main.lock");
    fs::write(&lock, "").unwrap();
    let change = work.edit("a.txt", Some("2\n"));
    let prepared = work.prepare(&[change], DirtyPolicy::Overlap);
    let error = work.repo.publish(&prepared).unwrap_err();
    assert!(matches!(&error, Error::Locked(path) if path.ends_with("refs/heads/main.lock")), "{error}");
    fs::remove_file(&lock).unwrap();
    work.repo.publish(&prepared).unwrap();
    work.sound();
    assert_eq!(work.status(), [""; 0]);
}

#[test]
fn a_file_changed_right_after_staging_does_not_look_clean() {
    // Same size and same second as the index: only the index's own time tells git to read the file again.
    let work = Work::with(&[("racy.txt", "1\n"), ("b.txt", "1\n")]);
    for round in 0..5 {
        work.write("racy.txt", &format!("{round}\n"));
        work.git(&["add", "racy.txt"]);
        work.write("racy.txt", "x\n");
        let change = work.edit("b.txt", Some(&format!("edit {round}\n")));
        work.commit(&[change], DirtyPolicy::Overlap);
        assert!(work.status().iter().any(|line| line.ends_with("M racy.txt")), "{:?}", work.status());
        work.git(&["commit", "-qam", "next", "--allow-empty"]);
    }
}

#[test]
fn a_foreign_lock_that_goes_away_delays_and_no_more() {
    let work = Work::with(&[("a.txt", "1\n")]);
    let lock = work.repo.git_dir().join("index.lock");
    fs::write(&lock, "").unwrap();
    let change = work.edit("a.txt", Some("2\n"));
    let prepared = work.prepare(&[change], DirtyPolicy::Overlap);
    // The private copy is made right before the lock is tried for.
    let private = work.repo.git_dir().join("paird");
    let waiting = || fs::read_dir(&private).is_ok_and(|dir| dir.flatten().any(|e| e.file_name().to_string_lossy().starts_with("index.")));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !waiting() {
                std::thread::yield_now();
            }
            fs::remove_file(&lock).unwrap();
        });
        work.repo.publish(&prepared).unwrap();
    });
    work.sound();
    assert_eq!(work.status(), [""; 0]);
}

#[test]
fn a_person_who_stages_at_the_same_time_loses_nothing() {
    let work = Work::with(&[("a.txt", "0\n")]);
    let names: Vec<String> = (0..12).map(|n| format!("mine{n}.txt")).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for name in &names {
                work.write(name, "mine\n");
                while !try_git(&work.top, &["add", name]).0 {}
            }
        });
        for n in 1..=12 {
            let change = work.edit("a.txt", Some(&format!("{n}\n")));
            work.repo.publish(&work.prepare(&[change], DirtyPolicy::Overlap)).unwrap();
        }
    });
    work.sound();
    assert_eq!(work.subjects().len(), 13);
    let mut expected: Vec<String> = names.iter().map(|name| format!("A. {name}")).collect();
    expected.sort();
    assert_eq!(work.status(), expected);
}

#[test]
fn a_sparse_checkout_commits_inside_and_outside_its_cone() {
    let work = Work::with(&[("in/a.txt", "1\n"), ("out/b.txt", "1\n")]);
    work.git(&["sparse-checkout", "set", "--cone", "--no-sparse-index", "in"]);
    let changes = [work.edit("in/a.txt", Some("2\n")), work.edit("out/new.txt", Some("2\n"))];
    work.commit(&changes, DirtyPolicy::Overlap);
    assert_eq!(work.git(&["ls-files", "-t"]), "H in/a.txt\nS out/b.txt\nH out/new.txt\n");
    assert_eq!(work.status(), [""; 0]);
}
