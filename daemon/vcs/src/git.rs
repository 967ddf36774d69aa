use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use paird_base::limits::{GIT_OUTPUT_BYTES_MAX, GIT_STDERR_BYTES_MAX, GIT_TIMEOUT};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::{Error, Repo};

/// One run of the `git` program at the top of the work tree: arguments only, no shell, no prompt, no pager,
/// nothing of the daemon's own `GIT_*` environment, and an end after `GIT_TIMEOUT`.
#[must_use = "nothing runs before `run`"]
pub(crate) struct Git {
    command: Command,
    shown: String,
    input: Vec<u8>,
    timeout: Duration,
}

/// Variables of the daemon's environment that no child gets: those that point git elsewhere, and keys of model providers,
/// which a repository's filter could read.
fn is_kept_from_children(name: &[u8]) -> bool {
    name.starts_with(b"GIT_") || name.ends_with(b"_API_KEY") || name.ends_with(b"_API_BASE")
}

impl Repo {
    /// `git ARGS`. Errors name the first few arguments.
    pub(crate) fn git<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Git {
        let args: Vec<OsString> = args.into_iter().map(|a| a.as_ref().to_owned()).collect();
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            if is_kept_from_children(name.as_encoded_bytes()) {
                command.env_remove(name);
            }
        }
        command.env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0").env("GIT_PAGER", "cat").env("GIT_EDITOR", ":");
        command.env_remove("SSH_ASKPASS");
        if self.own_config_only {
            command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null").env_remove("HOME").env_remove("XDG_CONFIG_HOME");
        }
        command.arg("--no-pager").args(&args).current_dir(self.top());
        self.processes.fetch_add(1, Ordering::Relaxed);
        let shown = args.iter().take(4).fold(String::from("git"), |line, arg| line + " " + &arg.to_string_lossy());
        Git { command, shown, input: Vec::new(), timeout: GIT_TIMEOUT }
    }
}

impl Git {
    pub(crate) fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = bytes.into();
        self
    }

    /// Works on this index file in place of the repository's.
    pub(crate) fn index_file(mut self, path: &Path) -> Self {
        self.command.env("GIT_INDEX_FILE", path);
        self
    }

    /// Takes no lock that is not necessary: for commands that only read.
    pub(crate) fn reading(mut self) -> Self {
        self.command.env("GIT_OPTIONAL_LOCKS", "0");
        self
    }

    #[cfg(test)]
    pub(crate) fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Standard output, whole.
    pub(crate) fn run(self) -> Result<Vec<u8>, Error> {
        let Self { mut command, shown, input, timeout } = self;
        let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let no_git = |source| Error::NoGit { command: shown.clone(), source };
        let child = command.spawn().map_err(no_git)?;
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let (send, receive) = mpsc::sync_channel(1);
        // The thread is not joined after a timeout: a descendant that left the group may hold the pipes open for ever.
        thread::spawn(move || {
            let _ = send.send(attend(child, input));
        });
        match receive.recv_timeout(timeout) {
            Ok(Ok(done)) if done.stdout.len() > GIT_OUTPUT_BYTES_MAX => Err(Error::GitOutput { command: shown, max: GIT_OUTPUT_BYTES_MAX }),
            Ok(Ok(done)) if done.status.success() => Ok(done.stdout),
            Ok(Ok(done)) => Err(Error::Git { stderr: one_line(&done.stderr, done.status), command: shown }),
            Ok(Err(source)) => Err(no_git(source)),
            Err(_) => {
                if let Some(group) = group {
                    let _ = kill_process_group(group, Signal::KILL);
                }
                Err(Error::GitTimeout { command: shown, seconds: timeout.as_secs() })
            }
        }
    }
}

struct Done {
    status: ExitStatus,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

/// Feeds and drains the three pipes at once, so that none can fill up and stop the process.
fn attend(mut child: Child, input: Vec<u8>) -> io::Result<Done> {
    let stdin = child.stdin.take();
    let feeder = thread::spawn(move || {
        if let Some(mut pipe) = stdin {
            // A process that ends without reading its input says why in its exit status.
            let _ = pipe.write_all(&input);
        }
    });
    let stderr = child.stderr.take();
    let listener = thread::spawn(move || stderr.map_or(Ok(Vec::new()), |pipe| drain(pipe, GIT_STDERR_BYTES_MAX)));
    let stdout = child.stdout.take().map_or(Ok(Vec::new()), |pipe| drain(pipe, GIT_OUTPUT_BYTES_MAX + 1));
    let status = child.wait()?;
    let _ = feeder.join();
    let stderr = listener.join().unwrap_or(Ok(Vec::new()))?;
    Ok(Done { status, stdout: stdout?, stderr })
}

/// Reads to the end and keeps the first `max` bytes.
fn drain(mut pipe: impl Read, max: usize) -> io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    Read::by_ref(&mut pipe).take(max as u64).read_to_end(&mut kept)?;
    io::copy(&mut pipe, &mut io::sink())?;
    Ok(kept)
}

/// Git's message without line ends and escape sequences; the exit status where it said nothing.
fn one_line(stderr: &[u8], status: ExitStatus) -> String {
    let text = String::from_utf8_lossy(stderr);
    let line = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join("; ");
    if line.is_empty() { status.to_string() } else { line.chars().filter(|c| !c.is_control()).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repo() -> (tempfile::TempDir, Repo) {
        let dir = tempfile::tempdir().unwrap();
        git2::Repository::init(dir.path()).unwrap();
        let repo = Repo::discover(dir.path()).unwrap().unwrap().with_own_config_only();
        (dir, repo)
    }

    #[test]
    fn keys_and_gits_own_variables_reach_no_child() {
        for name in ["GIT_DIR", "GIT_INDEX_FILE", "OPENAI_API_KEY", "OLLAMA_API_BASE"] {
            assert!(is_kept_from_children(name.as_bytes()), "{name}");
        }
        for name in ["PATH", "HOME", "SSH_AUTH_SOCK", "API_KEY_FILE"] {
            assert!(!is_kept_from_children(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn a_process_that_hangs_is_ended_with_its_children() {
        let (_dir, repo) = repo();
        let result = repo.git(["-c", "alias.hang=!sleep 600 & sleep 600", "hang"]).timeout(Duration::from_millis(200)).run();
        assert!(matches!(result, Err(Error::GitTimeout { .. })), "{result:?}");
    }

    #[test]
    fn a_failure_is_one_line_with_the_command() {
        let (_dir, repo) = repo();
        let error = repo.git(["cat-file", "-e", "0123456789012345678901234567890123456789^{tree}"]).run().unwrap_err();
        assert!(error.to_string().starts_with("`git cat-file"), "{error}");
        assert!(!error.to_string().contains('\n'));
    }

    #[test]
    fn input_larger_than_a_pipe_goes_through() {
        let (_dir, repo) = repo();
        let out = repo.git(["stripspace"]).input(vec![b'x'; 1 << 20]).run().unwrap();
        assert_eq!(out.len(), (1 << 20) + 1);
    }
}
