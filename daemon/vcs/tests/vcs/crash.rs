//! A kill at every step of a commit, and what the next start makes of it.

use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use paird_vcs::{DirtyPolicy, Outcome, Prepared, UndoPrepared};

use crate::fixture::{Work, discover};

const STEP: &str = "PAIRD_VCS_TEST_STEP";

/// Runs in the child process that is to die; alone it has nothing to do.
#[test]
fn child() {
    let Ok(step) = std::env::var(STEP) else { return };
    let (kind, rest) = step.split_once(' ').unwrap();
    let (dir, journal) = rest.split_once('\n').unwrap();
    let repo = discover(dir.as_ref());
    match kind {
        "commit" => drop(repo.publish(&serde_json::from_str::<Prepared>(journal).unwrap())),
        _ => drop(repo.undo_publish(&serde_json::from_str::<UndoPrepared>(journal).unwrap())),
    }
}

fn dies_at(point: &str, kind: &str, work: &Work, journal: &str) {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::child"])
        .env(STEP, format!("{kind} {}\n{journal}", work.top.display()))
        .env("PAIRD_FAULT_POINT", point)
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.signal(), Some(9), "{point} was not passed");
}

#[test]
fn a_commit_is_finished_after_a_kill_anywhere() {
    for point in ["commit.prepared", "commit.index_locked", "commit.ref", "commit.index"] {
        let work = Work::with(&[("a.txt", "1\n2\n3\n4\n5\n"), ("b.txt", "1\n")]);
        work.write("a.txt", "one\n2\n3\n4\n5\n");
        work.git(&["add", "a.txt"]);
        work.write("b.txt", "person\n");
        let changes = [work.edit("a.txt", Some("one\n2\n3\n4\nfive\n")), work.edit("b.txt", Some("both\n"))];
        let prepared = work.prepare(&changes, DirtyPolicy::Overlap);
        let journal = serde_json::to_string(&prepared).unwrap();
        dies_at(point, "commit", &work, &journal);
        assert_eq!(work.repo.recover_lock().unwrap(), matches!(point, "commit.index_locked" | "commit.ref"), "{point}");
        work.repo.publish(&serde_json::from_str(&journal).unwrap()).unwrap();
        work.sound();
        assert_eq!(work.subjects().len(), 3, "{point}");
        assert_eq!(work.at_rev("HEAD", "a.txt"), "1\n2\n3\n4\nfive\n", "{point}");
        assert_eq!(work.status(), ["M. a.txt"], "{point}");
        assert!(matches!(prepared.outcome, Outcome::Commits(_)));
    }
}

#[test]
fn an_undo_is_finished_after_a_kill_anywhere() {
    for point in ["undo.ref", "commit.index_locked"] {
        let work = Work::with(&[("a.txt", "1\n")]);
        let change = work.edit("a.txt", Some("2\n"));
        work.commit(&[change], DirtyPolicy::Overlap);
        let plan = work.repo.undo_check(&work.head(), paird_vcs::CommitKind::Edit).unwrap();
        plan.changes.iter().for_each(|change| work.apply(change));
        dies_at(point, "undo", &work, &serde_json::to_string(&plan.prepared).unwrap());
        work.repo.recover_lock().unwrap();
        work.repo.undo_publish(&plan.prepared).unwrap();
        work.sound();
        assert_eq!((work.subjects(), work.status()), (vec!["start".to_owned()], vec![]), "{point}");
    }
}

#[test]
fn a_lock_held_by_a_living_owner_is_left() {
    let work = Work::with(&[("a.txt", "1\n")]);
    let dir = work.repo.git_dir().join("paird");
    std::fs::create_dir_all(&dir).unwrap();
    let private = dir.join("index.someone");
    let file = std::fs::File::create_new(&private).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let lock = work.repo.git_dir().join("index.lock");
    std::fs::hard_link(&private, &lock).unwrap();
    assert!(!work.repo.recover_lock().unwrap());
    drop(file);
    assert!(work.repo.recover_lock().unwrap());
    assert!(!lock.exists());
}
