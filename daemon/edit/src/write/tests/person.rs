//! A person saves while a write is under way.

use std::cell::Cell;

use super::*;

/// What a person may do to a path in the instant before it is exchanged.
pub(super) const DEEDS: &[&str] =
    &["saves in place", "saves by rename", "removes", "links", "makes a directory of", "changes the bits of", "adds a name to"];

pub(super) fn do_to(bench: &Bench, path: &str, deed: &str) {
    let target = bench.path(path);
    match deed {
        "saves in place" => fs::write(&target, "the person's\n").unwrap(),
        "saves by rename" => {
            fs::write(bench.dir.join("editor.tmp"), "the person's\n").unwrap();
            fs::rename(bench.dir.join("editor.tmp"), &target).unwrap();
        }
        "changes the bits of" if target.exists() => fs::set_permissions(&target, fs::Permissions::from_mode(0o700)).unwrap(),
        "adds a name to" if target.exists() => fs::hard_link(&target, bench.dir.join("tree/other-name")).unwrap(),
        _ => {
            let _ = fs::remove_file(&target);
            match deed {
                "links" => symlink("bystander.txt", &target).unwrap(),
                "makes a directory of" => fs::create_dir(&target).unwrap(),
                _ => {}
            }
        }
    }
}

/// Runs `act` at the `nth` pass of a fault point.
pub(super) fn at<'a>(point: &'static str, nth: usize, act: impl Fn() + 'a) -> impl Fn(&'static str) + 'a {
    let passes = Cell::new(0);
    move |passed| {
        if passed == point {
            passes.set(passes.get() + 1);
            if passes.get() == nth {
                act();
            }
        }
    }
}

#[test]
fn in_the_last_instant_their_deed_stands_and_everything_else_is_as_before() {
    for (index, change) in five().iter().enumerate() {
        for deed in DEEDS {
            let path = change.path.as_str();
            let dir = tempfile::tempdir().unwrap();
            let bench = Bench::new(dir.path());
            put_five(&bench);
            let before = bench.snapshot();
            let mut record = bench.begin(five());
            let theirs = std::cell::RefCell::new(None);
            let observer = at("write.ready", index + 1, || {
                do_to(&bench, path, deed);
                *theirs.borrow_mut() = bench.snapshot().get(path).cloned();
            });
            let result = write_observed(&bench.root, &bench.temp, &mut record, &observer);
            if change.before.is_none() && matches!(*deed, "removes" | "changes the bits of" | "adds a name to") {
                result.unwrap();
                continue;
            }
            let Err(WriteError::Conflict { paths }) = result else { panic!("{path} {deed}: {result:?}") };
            assert_eq!(paths, [repo_path(path)], "{deed}");
            let mut expected = before;
            expected.remove(path);
            if let Some(theirs) = theirs.borrow().clone() {
                expected.insert(path.to_owned(), theirs);
            }
            let mut found = bench.snapshot();
            match *deed {
                "links" => assert!(found.remove(&format!("{path}@")).is_some()),
                "makes a directory of" => assert!(found.remove(&format!("{path}/")).is_some()),
                "adds a name to" => assert!(found.remove("other-name").is_some()),
                _ => {}
            }
            if change.before.is_none() {
                expected.extend([("new/".to_owned(), None), ("new/deep/".to_owned(), None)]);
            }
            assert_eq!(found, expected, "{path} {deed}");
            assert_eq!((record.state(), bench.temp_files()), (State::RolledBack, 0), "{path} {deed}");
        }
    }
}

#[test]
fn on_a_file_already_written_their_save_survives_the_rollback() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::new(dir.path());
    put_five(&bench);
    let mut record = bench.begin(five());
    let observer = at("write.ready", 4, || {
        do_to(&bench, "a.txt", "saves in place");
        do_to(&bench, "sub/b.txt", "saves by rename");
    });
    let result = write_observed(&bench.root, &bench.temp, &mut record, &observer);
    let Err(WriteError::Conflict { paths }) = result else { panic!("{result:?}") };
    assert_eq!(paths, [repo_path("a.txt"), repo_path("sub/b.txt")]);
    for path in ["a.txt", "sub/b.txt"] {
        assert_eq!(fs::read_to_string(bench.path(path)).unwrap(), "the person's\n");
    }
    assert_eq!(fs::read_to_string(bench.path("z.txt")).unwrap(), "moved\n");
    assert_eq!(bench.temp_files(), 0);
}

#[test]
fn saved_again_before_or_while_the_first_save_is_put_back_the_newer_one_wins() {
    for second in ["write.exchanged", "write.returning"] {
        let dir = tempfile::tempdir().unwrap();
        let bench = Bench::new(dir.path());
        put_five(&bench);
        let mut record = bench.begin(five());
        let (saved, again) = (Cell::new(false), Cell::new(false));
        let observer = |point: &'static str| match point {
            "write.ready" if !saved.replace(true) => do_to(&bench, "a.txt", "saves in place"),
            point if point == second && !again.replace(true) => fs::write(bench.path("a.txt"), "saved again\n").unwrap(),
            _ => {}
        };
        write_observed(&bench.root, &bench.temp, &mut record, &observer).unwrap_err();
        assert_eq!(fs::read_to_string(bench.path("a.txt")).unwrap(), "saved again\n", "{second}");
        assert_eq!(bench.temp_files(), 1, "bytes that are in no record are not removed");
    }
}
