//! What a record file still says after a crash, damage, or a newer program.

use paird_base::Content;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{FileChange, State};

struct Bench {
    dir: tempfile::TempDir,
    root: Root,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("tree")).unwrap();
        let root = Root::open(&dir.path().join("tree")).unwrap();
        Self { dir, root }
    }

    fn open(&self) -> (Journal, Vec<Record>) {
        Journal::open(&self.dir.path().join("writes")).unwrap()
    }

    fn files(&self) -> Vec<String> {
        fs::read_dir(self.dir.path().join("writes")).unwrap().map(|item| item.unwrap().file_name().into_string().unwrap()).collect()
    }
}

fn plan() -> Plan {
    let change = |path: &str, before: Option<&[u8]>, after: Option<&[u8]>| {
        let content = |bytes: &[u8]| Content::new(bytes.to_vec(), 0o644);
        FileChange { path: RepoPath::parse(path).unwrap(), before: before.map(content), after: after.map(content) }
    };
    Plan::new([change("a", Some(b"one\n"), Some(b"")), change("b/c", None, Some(b"one\n")), change("d", Some(b"\xff\0"), None)]).unwrap()
}

/// A record with every kind of mark but the last, as bytes.
fn stored(bench: &Bench) -> (RecordId, PathBuf, Vec<u8>) {
    let (journal, _) = bench.open();
    let mut record = journal.begin(&bench.root, &plan(), json!({"turn": "t"})).unwrap();
    record.note(json!({"commit": "prepared"})).unwrap();
    record.mark(crate::record_file::Mark::Written { foreign: Vec::new() }).unwrap();
    record.note(json!("published")).unwrap();
    let path = journal.path(record.id());
    let bytes = fs::read(&path).unwrap();
    (record.id().clone(), path, bytes)
}

#[test]
fn a_record_reads_back_as_it_was_stored() {
    let bench = Bench::new();
    let (id, _, bytes) = stored(&bench);
    let (journal, mut open) = bench.open();
    let mut record = open.remove(0);
    assert_eq!((record.id(), record.state(), record.meta()), (&id, State::Written, &json!({"turn": "t"})));
    assert_eq!(record.notes(), [json!({"commit": "prepared"}), json!("published")]);
    assert_eq!(record.made_dirs(), [RepoPath::parse("b").unwrap()]);
    assert_eq!(record.changes().unwrap(), plan().changes());
    assert_eq!(bytes.windows(4).filter(|w| w == b"one\n").count(), 1, "equal contents are stored once");
    record.finish().unwrap();
    assert!(bench.open().1.is_empty());
    assert_eq!(journal.load(&id).unwrap().state(), State::Done);
}

#[test]
fn cut_short_anywhere_it_is_whole_or_gone() {
    let bench = Bench::new();
    let (_, path, bytes) = stored(&bench);
    let stored_end = bytes.windows(7).position(|w| w == b"{\"mark\"").unwrap();
    for len in 0..=bytes.len() {
        fs::write(&path, &bytes[..len]).unwrap();
        let (_, mut open) = bench.open();
        if len < stored_end {
            assert!(open.is_empty() && bench.files().is_empty(), "{len}");
            continue;
        }
        let mut record = open.remove(0);
        assert_eq!(record.changes().unwrap(), plan().changes(), "{len}");
        // What is added next is not fused with what a crash left of the last line.
        record.note(json!("next")).unwrap();
        assert_eq!(bench.open().1[0].notes(), record.notes(), "{len}");
        assert_eq!(record.notes().last(), Some(&json!("next")), "{len}");
    }
}

#[test]
fn a_run_of_zeros_among_the_marks_hides_nothing_after_it() {
    let bench = Bench::new();
    let (id, path, mut bytes) = stored(&bench);
    bytes.extend(b"\0\0\0\0\n{\"mark\":\"done\"}\n");
    fs::write(path, bytes).unwrap();
    let record = bench.open().0.load(&id).unwrap();
    assert_eq!((record.state(), record.notes().len()), (State::Done, 2));
}

#[test]
fn a_damaged_content_is_an_error_never_an_absent_file() {
    let bench = Bench::new();
    let (id, path, mut bytes) = stored(&bench);
    bytes.extend(b"{\"mark\":\"done\"}\n");
    let at = bytes.windows(4).position(|w| w == b"one\n").unwrap();
    bytes[at] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let record = bench.open().0.load(&id).unwrap();
    assert!(matches!(record.reverse(None), Err(JournalError::Damaged { .. })));
    fs::remove_file(path).unwrap();
    assert!(matches!(record.reverse(None), Err(JournalError::Io { .. })));
    assert!(matches!(bench.open().0.load(&id), Err(JournalError::NoSuch { .. })));
}

#[test]
fn a_newer_version_is_left_alone() {
    let bench = Bench::new();
    let (id, path, bytes) = stored(&bench);
    let text = String::from_utf8_lossy(&bytes);
    let head = text.lines().next().unwrap().replacen("\"version\":1", "\"version\":2", 1);
    let seal = paird_base::ContentHash::of(head.as_bytes()).to_hex();
    fs::write(&path, format!("{head}\n{seal}\n")).unwrap();
    let (journal, open) = bench.open();
    assert!(open.is_empty() && path.exists());
    assert!(matches!(journal.load(&id), Err(JournalError::Version { version: 2, .. })));
}

#[test]
fn names_rise_and_old_closed_records_are_pruned() {
    let bench = Bench::new();
    let (journal, _) = bench.open();
    let ids: Vec<RecordId> = (0..20)
        .map(|i| {
            let mut record = journal.begin(&bench.root, &plan(), json!(null)).unwrap();
            if i != 3 {
                record.finish().unwrap();
            }
            record.id().clone()
        })
        .collect();
    assert!(ids.is_sorted());
    assert_eq!(journal.ids().unwrap(), ids);
    assert_eq!(journal.prune(Duration::ZERO, ids[10].unix_ms()).unwrap(), 9, "the open one stays");
    assert_eq!(bench.open().1.len(), 1);
    assert_eq!(journal.prune(Duration::from_secs(3600), ids[19].unix_ms()).unwrap(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_damage_gives_the_true_contents_or_an_error(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let bench = Bench::new();
        let (id, path, mut bytes) = stored(&bench);
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        fs::write(&path, &bytes).unwrap();
        let (journal, _) = bench.open();
        if let Ok(changes) = journal.load(&id).and_then(|record| record.changes()) {
            let whole = plan();
            prop_assert_eq!(&changes[..], whole.changes());
        }
    }
}
