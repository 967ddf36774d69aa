//! Writes in scratch trees: what is written, what is refused, what a conflict and a kill leave.

// Fault points are built into debug builds only.
#[cfg(debug_assertions)]
mod crash;
mod limits;
mod person;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use paird_base::{Content, RepoPath, Root};
use serde_json::json;

use super::*;
use crate::tree::ONLY_PLAIN_RENAMES;
use crate::{FileChange, Journal, Plan};

/// A scratch work tree with a journal and a place for temporary files.
pub(super) struct Bench {
    pub(super) root: Root,
    pub(super) journal: Journal,
    pub(super) temp: TempArea,
    pub(super) dir: PathBuf,
}

/// Every file with its bytes and bits, every directory and link.
pub(super) type Snapshot = BTreeMap<String, Option<(Vec<u8>, u32)>>;

impl Bench {
    pub(super) fn new(dir: &Path) -> Self {
        fs::create_dir_all(dir.join("tree")).unwrap();
        Self::open(dir).0
    }

    pub(super) fn open(dir: &Path) -> (Self, Vec<Record>) {
        let root = Root::open(&dir.join("tree")).unwrap();
        let (journal, open) = Journal::open(&dir.join("writes")).unwrap();
        let temp = TempArea::open(&root, &[&dir.join("tmp")]);
        (Self { root, journal, temp, dir: dir.to_owned() }, open)
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.dir.join("tree").join(path)
    }

    pub(super) fn put(&self, path: &str, text: &str, mode: u32) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(super) fn begin(&self, changes: Vec<FileChange>) -> Record {
        self.journal.begin(&self.root, &Plan::new(changes).unwrap(), json!({"turn": "t1"})).unwrap()
    }

    pub(super) fn write(&self, changes: Vec<FileChange>) -> (Record, Result<Written, WriteError>) {
        let mut record = self.begin(changes);
        let result = write(&self.root, &self.temp, &mut record);
        (record, result)
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::new();
        list(&self.dir.join("tree"), "", &mut snapshot);
        snapshot
    }

    pub(super) fn temp_files(&self) -> usize {
        fs::read_dir(self.dir.join("tmp")).unwrap().count()
    }

    pub(super) fn undo(&self, record: &Record) -> Result<Written, WriteError> {
        let plan = record.reverse(None).unwrap();
        let mut undo = self.journal.begin(&self.root, &plan, json!(null)).unwrap();
        write(&self.root, &self.temp, &mut undo)
    }
}

fn list(dir: &Path, prefix: &str, snapshot: &mut Snapshot) {
    for item in fs::read_dir(dir).unwrap() {
        let item = item.unwrap();
        let name = format!("{prefix}{}", item.file_name().to_str().unwrap());
        let meta = item.metadata().unwrap();
        if meta.is_dir() {
            list(&item.path(), &format!("{name}/"), snapshot);
            snapshot.insert(name + "/", None);
        } else if meta.is_file() {
            snapshot.insert(name, Some((fs::read(item.path()).unwrap(), meta.permissions().mode() & 0o7777)));
        } else {
            snapshot.insert(name + "@", None);
        }
    }
}

pub(super) fn repo_path(text: &str) -> RepoPath {
    RepoPath::parse(text).unwrap()
}

pub(super) fn change(path: &str, before: Option<(&str, u32)>, after: Option<(&str, u32)>) -> FileChange {
    let content = |side: Option<(&str, u32)>| side.map(|(text, mode)| Content::new(text.as_bytes().to_vec(), mode));
    FileChange { path: repo_path(path), before: content(before), after: content(after) }
}

/// Five paths, every operation: content, a move of an executable file into two new directories, content and bits,
/// content below a directory.
pub(super) fn five() -> Vec<FileChange> {
    vec![
        change("a.txt", Some(("one\n", 0o640)), Some(("ONE\n", 0o640))),
        change("e.sh", Some(("#!/bin/sh\n", 0o644)), Some(("#!/bin/sh\ntrue\n", 0o755))),
        change("new/deep/c.txt", None, Some(("moved\n", 0o755))),
        change("sub/b.txt", Some(("", 0o644)), Some(("filled\n", 0o644))),
        change("z.txt", Some(("moved\n", 0o755)), None),
    ]
}

pub(super) fn put_five(bench: &Bench) {
    for change in five() {
        if let Some(before) = &change.before {
            bench.put(change.path.as_str(), std::str::from_utf8(&before.bytes).unwrap(), before.mode);
        }
    }
    bench.put("bystander.txt", "not part of it\n", 0o600);
}

/// The tree of [`put_five`] with these changes made.
pub(super) fn changed(mut snapshot: Snapshot, changes: &[FileChange]) -> Snapshot {
    for change in changes {
        snapshot.remove(change.path.as_str());
        if let Some(after) = &change.after {
            snapshot.insert(change.path.as_str().to_owned(), Some((after.bytes.to_vec(), after.mode)));
            let mut dir = change.path.parent();
            while let Some(path) = dir {
                snapshot.insert(format!("{path}/"), None);
                dir = path.parent();
            }
        }
    }
    snapshot
}

#[test]
fn all_operations_and_their_undo_and_redo() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::new(dir.path());
    put_five(&bench);
    let before = bench.snapshot();
    let after = changed(before.clone(), &five());

    let (mut record, result) = bench.write(five());
    result.unwrap();
    record.finish().unwrap();
    assert_eq!(bench.snapshot(), after);
    assert_eq!(record.made_dirs(), [repo_path("new"), repo_path("new/deep")]);

    let again = bench.journal.load(record.id()).unwrap();
    assert_eq!((again.state(), again.meta()), (State::Done, &json!({"turn": "t1"})));
    assert_eq!(again.changes().unwrap(), five());
    bench.undo(&again).unwrap();
    assert_eq!(bench.snapshot(), before, "the new directories are gone too");

    let redo = bench.journal.load(bench.journal.ids().unwrap().last().unwrap()).unwrap();
    bench.undo(&redo).unwrap();
    assert_eq!(bench.snapshot(), after);
    assert_eq!(bench.temp_files(), 0);
}

#[test]
fn a_file_that_is_moved_is_never_nowhere_and_keeps_its_bits() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::new(dir.path());
    bench.put("a.sh", "x", 0o755);
    let before = bench.snapshot();
    let is_somewhere = |_| assert!(["a.sh", "b/z.sh"].iter().any(|name| bench.path(name).exists()));
    let moved = vec![change("a.sh", Some(("x", 0o755)), None), change("b/z.sh", None, Some(("y", 0o755)))];
    let mut record = bench.begin(moved.clone());
    write_observed(&bench.root, &bench.temp, &mut record, &is_somewhere).unwrap();
    let after = changed(before.clone(), &moved);
    assert_eq!(bench.snapshot(), after);

    let mut undo = bench.journal.begin(&bench.root, &record.reverse(None).unwrap(), json!(null)).unwrap();
    write_observed(&bench.root, &bench.temp, &mut undo, &is_somewhere).unwrap();
    assert_eq!(bench.snapshot(), before);
    bench.undo(&undo).unwrap();
    assert_eq!(bench.snapshot(), after);
}

#[test]
fn a_move_that_meets_a_save_under_either_name_is_taken_back() {
    for (path, nth) in [("z.sh", 1), ("a.sh", 2)] {
        let dir = tempfile::tempdir().unwrap();
        let bench = Bench::new(dir.path());
        bench.put("a.sh", "x", 0o755);
        let mut expected = bench.snapshot();
        let mut record = bench.begin(vec![change("a.sh", Some(("x", 0o755)), None), change("z.sh", None, Some(("x", 0o755)))]);
        let observer = person::at("write.ready", nth, || bench.put(path, "the person's", 0o644));
        let result = write_observed(&bench.root, &bench.temp, &mut record, &observer);
        assert!(matches!(result, Err(WriteError::Conflict { paths }) if paths == [repo_path(path)]));
        expected.insert(path.to_owned(), Some((b"the person's".to_vec(), 0o644)));
        assert_eq!(bench.snapshot(), expected);
    }
}

#[test]
fn without_a_directory_for_temporary_files_they_stand_beside_the_target_and_go() {
    let dir = tempfile::tempdir().unwrap();
    let mut bench = Bench::new(dir.path());
    bench.temp = TempArea::open(&bench.root, &[]);
    put_five(&bench);
    let before = bench.snapshot();
    let (record, result) = bench.write(five());
    result.unwrap();
    assert_eq!(bench.snapshot(), changed(before.clone(), &five()));
    bench.undo(&record).unwrap();
    assert_eq!(bench.snapshot(), before);
}

#[test]
fn where_files_cannot_be_swapped_they_are_replaced() {
    ONLY_PLAIN_RENAMES.set(true);
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::new(dir.path());
    put_five(&bench);
    let before = bench.snapshot();
    let (record, result) = bench.write(five());
    result.unwrap();
    assert_eq!(bench.snapshot(), changed(before.clone(), &five()));
    bench.undo(&record).unwrap();
    assert_eq!(bench.snapshot(), before);
    assert_eq!(bench.temp_files(), 0);
}

#[test]
fn where_files_cannot_be_swapped_a_conflict_is_taken_back_all_the_same() {
    ONLY_PLAIN_RENAMES.set(true);
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::new(dir.path());
    put_five(&bench);
    let mut expected = bench.snapshot();
    let mut record = bench.begin(five());
    let observer = person::at("write.checked", 3, || bench.put("sub/b.txt", "the person's\n", 0o644));
    write_observed(&bench.root, &bench.temp, &mut record, &observer).unwrap_err();
    expected.insert("sub/b.txt".to_owned(), Some((b"the person's\n".to_vec(), 0o644)));
    assert_eq!(bench.snapshot(), expected);
    assert_eq!(bench.temp_files(), 0);
}

#[test]
fn undo_of_a_part_touches_only_it_and_an_emptied_file_is_not_an_absent_one() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::new(dir.path());
    put_five(&bench);
    let before = bench.snapshot();
    let (record, result) = bench.write(five());
    result.unwrap();
    let plan = record.reverse(Some(&[repo_path("sub/b.txt"), repo_path("elsewhere")])).unwrap();
    let mut undo = bench.journal.begin(&bench.root, &plan, json!(null)).unwrap();
    write(&bench.root, &bench.temp, &mut undo).unwrap();
    assert_eq!(bench.snapshot(), changed(changed(before, &five()[..3]), &five()[4..]));
}

#[test]
fn undo_keeps_a_directory_that_holds_something_else() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::new(dir.path());
    let (record, result) = bench.write(vec![change("n/x.txt", None, Some(("x", 0o644)))]);
    result.unwrap();
    bench.put("n/mine.txt", "the person's\n", 0o644);
    bench.undo(&record).unwrap();
    assert!(!bench.path("n/x.txt").exists() && bench.path("n/mine.txt").exists());
}

#[test]
fn deleting_the_last_file_leaves_a_directory_that_was_not_made_here() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::new(dir.path());
    bench.put("old/x.txt", "x", 0o644);
    bench.write(vec![change("old/x.txt", Some(("x", 0o644)), None)]).1.unwrap();
    assert_eq!(bench.snapshot(), Snapshot::from([("old/".to_owned(), None)]));
}

#[test]
fn one_fsync_for_each_file_one_for_the_directory_one_for_the_record() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::new(dir.path());
    let names: Vec<String> = (0..7).map(|i| format!("src/f{i}")).collect();
    names.iter().for_each(|name| bench.put(name, "old", 0o644));
    let changes = names.iter().map(|name| change(name, Some(("old", 0o644)), Some(("new", 0o644)))).collect();
    assert_eq!(bench.write(changes).1.unwrap().fsyncs, 7 + 2);
}

#[test]
fn links_directories_and_files_with_several_names_are_refused_and_nothing_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::new(dir.path());
    bench.put("ok.txt", "old", 0o644);
    bench.put("real/x.txt", "old", 0o644);
    bench.put("two.txt", "old", 0o644);
    fs::hard_link(bench.path("two.txt"), bench.path("names.txt")).unwrap();
    symlink("real/x.txt", bench.path("link.txt")).unwrap();
    symlink("real", bench.path("linked")).unwrap();
    symlink("/", bench.path("out")).unwrap();
    let before = bench.snapshot();
    for (path, expected) in [
        ("link.txt", "a link"),
        ("linked/x.txt", "below a link"),
        ("out/etc/passwd", "below a link"),
        ("real", "a directory"),
        ("two.txt", "a file with several names"),
        ("ok.txt/x.txt", "below a file"),
    ] {
        for existing in [Some(("old", 0o644)), None] {
            let (record, result) =
                bench.write(vec![change("new.txt", None, Some(("n", 0o644))), change(path, existing, Some(("new", 0o644)))]);
            match result {
                Err(WriteError::Unsupported { path: found, what }) => assert_eq!((found.as_str(), what), (path, expected)),
                other => panic!("{path}: {other:?}"),
            }
            assert_eq!(record.state(), State::RolledBack);
            assert_eq!(bench.snapshot(), before, "{path}");
        }
    }
    assert!(bench.journal.ids().unwrap().iter().all(|id| !bench.journal.load(id).unwrap().is_open()));
}

#[test]
fn all_conflicts_known_beforehand_are_named_together() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::new(dir.path());
    put_five(&bench);
    bench.put("a.txt", "saved meanwhile\n", 0o640);
    bench.put("e.sh", "#!/bin/sh\n", 0o600);
    bench.put("new/deep/c.txt", "already here\n", 0o644);
    fs::remove_file(bench.path("sub/b.txt")).unwrap();
    let before = bench.snapshot();
    let (record, result) = bench.write(five());
    let Err(WriteError::Conflict { paths }) = result else { panic!("{result:?}") };
    assert_eq!(paths, ["a.txt", "e.sh", "new/deep/c.txt", "sub/b.txt"].map(repo_path));
    assert_eq!(bench.snapshot(), before);
    assert_eq!(record.state(), State::RolledBack);
    assert!(record.reverse(None).is_err(), "what was not written cannot be undone");
}

#[test]
fn a_record_is_written_once() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::new(dir.path());
    let (mut record, result) = bench.write(vec![change("x", None, Some(("x", 0o644)))]);
    result.unwrap();
    assert!(matches!(write(&bench.root, &bench.temp, &mut record), Err(WriteError::Journal(JournalError::NotFresh { .. }))));
    assert_eq!(record.state(), State::Written);
}
