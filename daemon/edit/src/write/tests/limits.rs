//! The disk is full or refuses: the error names path and operation, and the tree is as it was.

use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::process::Command;

use super::*;

const NOBODY: u32 = 65534;

#[test]
fn a_directory_that_may_not_be_written() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::new(dir.path());
    put_five(&bench);
    let before = bench.snapshot();
    fs::set_permissions(bench.path("sub"), fs::Permissions::from_mode(0o555)).unwrap();
    bench.begin(five());
    let program = std::env::current_exe().unwrap();
    let mut child = if rustix::process::geteuid().is_root() {
        // Nothing is forbidden to root, so somebody else must try, with a program they can reach. A process of its own
        // copies it: a descriptor open for writing here could be inherited by another test's child and forbid to run it.
        let copy = dir.path().join("program");
        assert!(Command::new("cp").arg(&program).arg(&copy).status().unwrap().success());
        give_away(dir.path());
        let mut child = Command::new(copy);
        child.uid(NOBODY).gid(NOBODY);
        child
    } else {
        Command::new(program)
    };
    child.args(["--exact", "write::tests::limits::child", "--nocapture"]).env_clear().env("PAIRD_TEST_DIR", dir.path());
    let output = child.output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("stopped: replace sub/b.txt"), "{output:?}");
    assert_eq!(bench.snapshot(), before);
    assert!(Journal::open(&dir.path().join("writes")).unwrap().1.is_empty());
    assert_eq!(bench.temp_files(), 0);
    fs::set_permissions(bench.path("sub"), fs::Permissions::from_mode(0o755)).unwrap();
}

fn give_away(path: &Path) {
    chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|item| give_away(&item.unwrap().path()));
    }
}

#[test]
fn a_full_disk() {
    let dir = tempfile::tempdir().unwrap();
    let bench = Bench::new(dir.path());
    put_five(&bench);
    let before = bench.snapshot();
    let mut changes = five();
    changes.push(change("large.txt", None, Some((&"x".repeat(100_000), 0o644))));
    bench.begin(changes);
    // A limit on file size plays the full disk, for the temporary file as for marks in the record.
    let mut child = Command::new("sh");
    child.args(["-c", "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
    child.args(["--exact", "write::tests::limits::child", "--nocapture"]).env_clear().env("PAIRD_TEST_DIR", dir.path());
    let output = child.output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("stopped: write a temporary file for large.txt"), "{output:?}");
    assert_eq!(bench.snapshot(), before);
    assert_eq!(bench.temp_files(), 0);
    assert_eq!(bench.journal.ids().unwrap(), [], "a record that cannot be closed is removed");
}

/// Writes the one open record of the scratch directory, in a process of its own.
#[test]
fn child() {
    let Some(dir) = std::env::var_os("PAIRD_TEST_DIR") else { return };
    let (bench, mut open) = Bench::open(Path::new(&dir));
    if let Err(error) = write(&bench.root, &bench.temp, &mut open[0]) {
        println!("stopped: {error}");
    }
}
