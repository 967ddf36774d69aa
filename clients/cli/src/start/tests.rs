use std::io::Write;
use std::os::unix::net::UnixListener;

use super::*;

const TIMEOUT: Duration = Duration::from_secs(20);

/// A `paird` that is this test program: a script hands it the socket's path, which is the fifth argument.
struct Fake {
    directory: tempfile::TempDir,
    address: Address,
    program: PathBuf,
}

impl Fake {
    fn new(script: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let address = Address { socket: directory.path().join("run/d.sock"), own_directory: true };
        let program = directory.path().join("paird");
        let this = std::env::current_exe().unwrap();
        let script = script.replace("SERVE", &format!("FAKE_SOCKET=\"$5\" exec '{}' --exact start::tests::fake_daemon", this.display()));
        // Written by another process: a program that this one holds open for writing, or that a child just being spawned by
        // another test thread does, cannot be run ("text file busy").
        let written = Command::new("sh")
            .args(["-c", "umask 022; printf '#!/bin/sh\n%s\n' \"$1\" > \"$2\"; chmod 755 \"$2\"", "sh", &script])
            .arg(&program)
            .status();
        assert!(written.unwrap().success());
        Self { directory, address, program }
    }

    fn ensure(&self, timeout: Duration) -> Result<(), StartError> {
        ensure_within(&self.program, &self.directory.path().join("tree"), &self.address, timeout)
    }

    fn starts(&self) -> usize {
        std::fs::read_to_string(self.address.socket.with_extension("starts")).map_or(0, |text| text.lines().count())
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        if let Ok(mut stream) = UnixStream::connect(&self.address.socket) {
            let _ = stream.write_all(b"q");
        }
    }
}

/// Not a test of anything: what the script above runs. It serves until a client says `q`.
#[test]
fn fake_daemon() {
    let Some(socket) = std::env::var_os("FAKE_SOCKET").map(PathBuf::from) else {
        return;
    };
    let mut starts = File::options().append(true).create(true).open(socket.with_extension("starts")).unwrap();
    starts.write_all(b"started\n").unwrap();
    let listener = UnixListener::bind(&socket).unwrap();
    for stream in listener.incoming() {
        let mut said = [0; 1];
        if matches!(stream.unwrap().read(&mut said), Ok(1)) {
            return;
        }
    }
}

#[test]
fn many_clients_start_one_daemon() {
    let fake = Fake::new("SERVE");
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| fake.ensure(TIMEOUT))).collect();
        for thread in threads {
            thread.join().unwrap().unwrap();
        }
    });
    assert_eq!(fake.starts(), 1);
    fake.ensure(Duration::ZERO).unwrap();
    assert_eq!(fake.starts(), 1);
}

#[test]
fn a_daemon_that_ends_is_quoted_without_its_escapes() {
    let fake = Fake::new("printf 'no such\\n\\033[31mrepository\\007' >&2; exit 3");
    let error = fake.ensure(TIMEOUT).unwrap_err();
    assert!(
        matches!(&error, StartError::Ended { status, said } if status.code() == Some(3) && said == "no such [31mrepository"),
        "{error}"
    );
    let quiet = Fake::new("exit 1");
    assert!(quiet.ensure(TIMEOUT).unwrap_err().to_string().ends_with("it said nothing"));
}

#[test]
fn a_daemon_that_never_answers_is_not_left_behind() {
    let fake = Fake::new("echo $$ > \"$5.pid\"; echo waiting >&2; exec sleep 600");
    let pid = fake.address.socket.with_extension("sock.pid");
    let error = loop {
        // On a loaded machine the script may not have come as far as its first line.
        match fake.ensure(Duration::from_millis(300)).unwrap_err() {
            StartError::Silent { said, .. } if said == "waiting" => break said,
            StartError::Silent { .. } => {}
            other => panic!("{other}"),
        }
    };
    assert_eq!(error, "waiting");
    let pid: i32 = std::fs::read_to_string(pid).unwrap().trim().parse().unwrap();
    assert!(rustix::process::test_kill_process(rustix::process::Pid::from_raw(pid).unwrap()).is_err());
}

#[test]
fn a_starter_that_hangs_is_named() {
    let fake = Fake::new("SERVE");
    fake.address.prepare_directory(rustix::process::geteuid().as_raw()).unwrap();
    let held = lock(fake.address.start_lock(), Instant::now(), TIMEOUT).unwrap();
    let error = fake.ensure(Duration::from_millis(50)).unwrap_err();
    assert!(matches!(&error, StartError::Busy { path, .. } if *path == fake.address.start_lock()), "{error}");
    drop(held);
    fake.ensure(TIMEOUT).unwrap();
}

#[test]
fn where_the_program_is() {
    let fake = Fake::new("exit 0");
    let dir = fake.directory.path();
    let beside = dir.join("pair");
    let environment = |name: &'static str, value: &Path| {
        let value = value.as_os_str().to_owned();
        move |asked: &str| (asked == name).then(|| value.clone())
    };
    assert_eq!(find_paird(Some(&beside), &|_| None).unwrap(), fake.program);
    assert_eq!(find_paird(None, &environment("PATH", dir)).unwrap(), fake.program);
    assert_eq!(find_paird(None, &environment("PAIRD_BIN", &fake.program)).unwrap(), fake.program);
    assert!(matches!(find_paird(None, &|_| None), Err(StartError::NoProgram)));
    assert!(matches!(find_paird(Some(&beside), &environment("PAIRD_BIN", dir)), Err(StartError::NotAProgram { .. })));
    assert!(matches!(find_paird(Some(&beside), &environment("PAIRD_BIN", Path::new("paird"))), Err(StartError::NotAProgram { .. })));
}
