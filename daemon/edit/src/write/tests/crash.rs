//! The process is killed at every point of a write, of a rollback and of a recovery; the next start puts it right.

use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use super::person::{at, do_to};
use super::*;
use crate::recover::recover_observed;
use crate::{Recovered, recover};

/// Runs [`child`] on the scratch directory until it passes `point` for the `nth` time; false if it never did.
fn killed(dir: &Path, job: &str, point: &str, nth: usize) -> bool {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "write::tests::crash::child", "--test-threads=1"]).env_clear();
    child.env("PAIRD_TEST_DIR", dir).env("PAIRD_TEST_JOB", job).env("PAIRD_FAULT_POINT", format!("{point}:{nth}"));
    let output = child.output().unwrap();
    assert!(output.status.success() || output.status.signal() == Some(9), "{job} {point}:{nth} {output:?}");
    !output.status.success()
}

/// `write`, `write N` (a person saves the N-th path just before it is exchanged) or `recover`.
#[test]
fn child() {
    let (Some(dir), Ok(job)) = (std::env::var_os("PAIRD_TEST_DIR"), std::env::var("PAIRD_TEST_JOB")) else {
        return;
    };
    let (bench, mut open) = Bench::open(Path::new(&dir));
    if job == "recover" {
        open.iter_mut().for_each(|record| drop(recover(&bench.root, &bench.temp, record).unwrap()));
        return;
    }
    let saved: usize = job.split(' ').nth(1).map_or(0, |n| n.parse().unwrap());
    let observer = at("write.ready", saved, || do_to(&bench, five()[saved - 1].path.as_str(), "saves in place"));
    let mut record = bench.begin(five());
    if write_observed(&bench.root, &bench.temp, &mut record, &observer).is_ok() {
        record.finish().unwrap();
    }
}

/// Calls `check` with a bench whose write was killed, for each point and pass that the job has.
fn for_each_kill(job: &str, mut check: impl FnMut(&Path, &str, usize)) -> Vec<&'static str> {
    let mut reached = Vec::new();
    for point in FAULT_POINTS {
        for nth in 1.. {
            let dir = tempfile::tempdir().unwrap();
            put_five(&Bench::new(dir.path()));
            if !killed(dir.path(), job, point, nth) {
                break;
            }
            reached.push(*point);
            check(dir.path(), point, nth);
        }
    }
    reached
}

fn tree_before() -> Snapshot {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::new(dir.path());
    put_five(&bench);
    bench.snapshot()
}

/// Recovers what is open and returns what became of it.
fn restart(dir: &Path) -> (Bench, Option<Recovered>) {
    let (bench, mut open) = Bench::open(dir);
    assert!(open.len() <= 1);
    let recovered = open.first_mut().map(|record| recover(&bench.root, &bench.temp, record).unwrap());
    assert!(open.first().is_none_or(|record| matches!(record.state(), State::Written | State::RolledBack)));
    (bench, recovered)
}

/// Whether each path holds one of its two contents, whole.
fn assert_no_torn_file(bench: &Bench, except: Option<&str>) {
    let found = bench.snapshot();
    for change in five().iter().filter(|change| Some(change.path.as_str()) != except) {
        let holds = found.get(change.path.as_str()).map(|file| file.clone().unwrap());
        let sides = [&change.before, &change.after].map(|side| side.as_ref().map(|content| (content.bytes.to_vec(), content.mode)));
        assert!(sides.contains(&holds), "{} holds {holds:?}", change.path);
    }
    assert!(["z.txt", "new/deep/c.txt"].iter().any(|name| found.contains_key(*name)), "a file that is moved is nowhere");
}

#[test]
fn a_killed_write_is_whole_after_the_next_start() {
    let before = tree_before();
    let after = changed(before.clone(), &five());
    let reached = for_each_kill("write", |dir, point, nth| {
        let (bench, open) = Bench::open(dir);
        assert_no_torn_file(&bench, None);
        let was_open = !open.is_empty();
        let (bench, recovered) = restart(dir);
        let expected = if point == "write.record" { &before } else { &after };
        assert_eq!(&bench.snapshot(), expected, "{point}:{nth}");
        assert_eq!(bench.temp_files(), 0, "{point}:{nth}");
        assert_eq!(was_open, !matches!(point, "write.record" | "write.done"), "{point}:{nth}");
        assert!(recovered.is_none_or(|recovered| recovered.written.len() == 5 && recovered.foreign.is_empty()));
        // The start after that, before the caller said done, gives the same answer and touches nothing.
        let (bench, again) = restart(dir);
        assert_eq!((&bench.snapshot(), again.is_some()), (expected, was_open), "{point}:{nth}");
    });
    let undisturbed = FAULT_POINTS.len() - 4;
    assert!(FAULT_POINTS[..undisturbed].iter().all(|point| reached.contains(point)), "{reached:?}");
}

#[test]
fn a_save_between_the_kill_and_the_next_start_is_kept() {
    let before = tree_before();
    let mut turn = 0;
    for_each_kill("write", |dir, point, nth| {
        turn += 1;
        let mine = five()[turn % 5].path.clone();
        let (bench, open) = Bench::open(dir);
        let state = open.first().map(Record::state);
        let reached = bench.snapshot().get(mine.as_str()) == changed(before.clone(), &five()).get(mine.as_str());
        fs::create_dir_all(bench.path(mine.as_str()).parent().unwrap()).unwrap();
        do_to(&bench, mine.as_str(), if turn % 2 == 0 { "saves in place" } else { "saves by rename" });
        let theirs = bench.snapshot()[mine.as_str()].clone();
        let (bench, recovered) = restart(dir);
        // What the write had not come to before the save is not there beside it afterwards.
        let taken_back = recovered.as_ref().is_some_and(|recovered| recovered.written.is_empty());
        assert_eq!(taken_back, state == Some(State::Intended) && !reached, "{point}:{nth} {mine}");
        let mut expected = if point == "write.record" || taken_back { before.clone() } else { changed(before.clone(), &five()) };
        let dirs = bench.snapshot().into_iter().filter(|(name, _)| name.starts_with("new/") && name.ends_with('/'));
        expected.extend(dirs);
        expected.insert(mine.as_str().to_owned(), theirs);
        assert_eq!(bench.snapshot(), expected, "{point}:{nth} {mine}");
        assert_eq!(bench.temp_files(), 0, "{point}:{nth}");
        if state == Some(State::Intended) && !taken_back {
            assert_eq!(recovered.unwrap().foreign, std::slice::from_ref(&mine), "{point}:{nth}");
            let (bench, open) = Bench::open(dir);
            assert_eq!(open[0].foreign(), [mine]);
            bench.undo(&open[0]).unwrap();
            let others_before = bench.snapshot();
            let differing: Vec<_> = before.iter().filter(|(name, file)| others_before.get(*name) != Some(file)).collect();
            assert!(differing.len() <= 1, "undo touches only what was written: {differing:?}");
        }
    });
}

#[test]
fn a_recovery_killed_anywhere_is_finished_by_the_next() {
    let after = changed(tree_before(), &five());
    let mut turn = 0;
    for_each_kill("write", |dir, point, nth| {
        if matches!(point, "write.record" | "write.done") {
            return;
        }
        for step in 0..3 {
            turn += 7;
            let second = FAULT_POINTS[3 + turn % 9];
            killed(dir, "recover", second, 1 + step);
        }
        let (bench, _) = restart(dir);
        assert_eq!(bench.snapshot(), after, "{point}:{nth}");
        assert_eq!(bench.temp_files(), 0, "{point}:{nth}");
    });
}

#[test]
fn a_save_just_before_the_exchange_outlives_a_kill() {
    let before = tree_before();
    // Of a file that is changed, one that is deleted, one that is new.
    for saved in [1, 5, 3] {
        let change = &five()[saved - 1];
        let path = change.path.as_str();
        let reached = for_each_kill(&format!("write {saved}"), |dir, point, nth| {
            let place = format!("{path} {point}:{nth}");
            let (bench, open) = Bench::open(dir);
            let theirs = (b"the person's\n".to_vec(), change.before.as_ref().map_or(0o644, |content| content.mode));
            let had_saved = was_saved(&bench, path);
            let state = open.first().map(Record::state);
            drop((bench, open));
            assert!(point != "write.rolling" || state == Some(State::RollingBack), "{place}");
            let (bench, recovered) = restart(dir);
            let mut found = bench.snapshot();
            found.retain(|name, _| !name.ends_with('/'));
            let ends = [before.clone(), changed(before.clone(), &five())].map(|mut end| {
                end.retain(|name, _| !name.ends_with('/'));
                if had_saved {
                    end.insert(path.to_owned(), Some(theirs.clone()));
                }
                end
            });
            let expected = &ends[usize::from(!had_saved && point != "write.record")];
            assert_eq!(&found, expected, "{place} {state:?} {recovered:?}");
            assert_eq!(bench.temp_files(), 0, "{place}");
        });
        // A new file is found out by its name being taken, before anything came out of the tree.
        let expected: &[&str] =
            if change.before.is_none() { &["write.rolling", "write.rolled"] } else { &["write.returned", "write.rolling", "write.rolled"] };
        assert!(expected.iter().all(|point| reached.contains(point)), "{path} {reached:?}");
    }
}

/// Whether the person's bytes are in the tree or aside.
fn was_saved(bench: &Bench, path: &str) -> bool {
    let aside = fs::read_dir(bench.dir.join("tmp")).unwrap().map(|item| item.unwrap().path());
    aside.chain([bench.path(path)]).any(|path| fs::read(path).is_ok_and(|bytes| bytes == b"the person's\n"))
}

#[test]
fn a_deleted_file_that_the_person_made_again_alike_is_theirs() {
    let dir = tempfile::tempdir().unwrap();
    put_five(&Bench::new(dir.path()));
    assert!(killed(dir.path(), "write", "write.exchanged", 5), "what is deleted is the last path");
    let (bench, _) = Bench::open(dir.path());
    bench.put("z.txt", "moved\n", 0o755);
    let (bench, recovered) = restart(dir.path());
    assert_eq!(recovered.unwrap().foreign, [repo_path("z.txt")]);
    assert_eq!((bench.path("z.txt").exists(), bench.temp_files()), (true, 0));
}

#[test]
fn a_new_file_linked_but_still_named_aside_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::new(dir.path());
    let mut record = bench.begin(vec![change("x", None, Some(("x", 0o644)))]);
    bench.put("x", "x", 0o644);
    fs::hard_link(bench.path("x"), dir.path().join(format!("tmp/{}-0", record.id()))).unwrap();
    let recovered = recover(&bench.root, &bench.temp, &mut record).unwrap();
    assert_eq!((recovered.written, bench.temp_files()), (vec![repo_path("x")], 0));
}

#[test]
fn in_process_a_recovery_reports_its_steps() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::new(dir.path());
    put_five(&bench);
    let mut record = bench.begin(five());
    let passed = std::cell::RefCell::new(Vec::new());
    recover_observed(&bench.root, &bench.temp, &mut record, &|point| passed.borrow_mut().push(point)).unwrap();
    assert!(passed.borrow().iter().all(|point| FAULT_POINTS.contains(point)));
    assert_eq!(record.state(), State::Written);
}
