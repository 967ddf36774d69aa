//! A session's log: one JSON line an entry, appended with one write each, never rewritten.
//!
//! A line that a crash or a full disk tore is cut off (at the end) or skipped (elsewhere) with a notice; the entries
//! around it stay. What the lines mean is `entry.rs`.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use paird_base::limits::LOG_ENTRY_BYTES_MAX;
use serde::{Deserialize, Serialize};

use super::entry::Entry;

/// Version of the line format. A reader takes every version up to its own.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Line<E> {
    v: u32,
    /// Milliseconds since the Unix epoch.
    at: u64,
    entry: E,
}

/// An entry as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Logged {
    pub at_ms: u64,
    pub entry: Entry,
}

#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("{doing} the session log {}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
    #[error("encode an entry of the session log")]
    Encode { source: serde_json::Error },
}

#[derive(Debug)]
pub struct SessionLog {
    path: PathBuf,
    file: File,
    len: u64,
}

impl SessionLog {
    /// Starts the log of a new session.
    pub fn create(path: &Path) -> Result<Self, LogError> {
        let file =
            OpenOptions::new().append(true).create_new(true).mode(0o600).open(path).map_err(|source| fail("create", path, source))?;
        Ok(Self { path: path.to_owned(), file, len: 0 })
    }

    /// Reads a log and makes it ready for appending. The third value tells, in words, what was damaged.
    pub fn open(path: &Path) -> Result<(Self, Vec<Logged>, Vec<String>), LogError> {
        let mut file = OpenOptions::new().read(true).append(true).open(path).map_err(|source| fail("open", path, source))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|source| fail("read", path, source))?;
        let (entries, whole, damage) = decode(&bytes);
        if whole < bytes.len() {
            file.set_len(whole as u64).map_err(|source| fail("repair", path, source))?;
        }
        file.seek(SeekFrom::End(0)).map_err(|source| fail("open", path, source))?;
        Ok((Self { path: path.to_owned(), file, len: whole as u64 }, entries, damage))
    }

    /// Appends one entry with one write. If the disk takes only a part of it, the part is cut off again.
    pub fn append(&mut self, at_ms: u64, entry: &Entry) -> Result<(), LogError> {
        let mut line = serde_json::to_vec(&Line { v: VERSION, at: at_ms, entry }).map_err(|source| LogError::Encode { source })?;
        line.push(b'\n');
        if let Err(source) = self.file.write_all(&line) {
            let _ = self.file.set_len(self.len);
            return Err(fail("append to", &self.path, source));
        }
        self.len += line.len() as u64;
        Ok(())
    }

    /// Makes what was appended survive a power loss.
    pub fn sync(&self) -> Result<(), LogError> {
        self.file.sync_data().map_err(|source| fail("sync", &self.path, source))
    }

    /// Removes the log for good.
    pub fn delete(&self) -> Result<(), LogError> {
        std::fs::remove_file(&self.path).map_err(|source| fail("delete", &self.path, source))
    }
}

fn fail(doing: &'static str, path: &Path, source: io::Error) -> LogError {
    LogError::Io { doing, path: path.to_owned(), source }
}

/// The entries, the length of what ends in a line end, and what could not be read.
fn decode(bytes: &[u8]) -> (Vec<Logged>, usize, Vec<String>) {
    let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |last| last + 1);
    let mut damage = Vec::new();
    if whole < bytes.len() {
        damage.push(format!("the last {} bytes were torn and are cut off", bytes.len() - whole));
    }
    let mut entries = Vec::new();
    for (number, line) in bytes[..whole].split(|&b| b == b'\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        if line.len() > LOG_ENTRY_BYTES_MAX {
            damage.push(format!("line {} is longer than an entry may be and is skipped", number + 1));
            continue;
        }
        match serde_json::from_slice::<Line<Entry>>(line) {
            Ok(line) if line.v <= VERSION => entries.push(Logged { at_ms: line.at, entry: line.entry }),
            Ok(line) => damage.push(format!("line {} is of the newer version {} and is skipped", number + 1, line.v)),
            Err(error) => damage.push(format!("line {} cannot be read and is skipped: {error}", number + 1)),
        }
    }
    (entries, whole, damage)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(entries: &[Entry]) -> Vec<u8> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl");
        let mut log = SessionLog::create(&path).unwrap();
        for entry in entries {
            log.append(7, entry).unwrap();
        }
        std::fs::read(&path).unwrap()
    }

    fn some() -> Vec<Entry> {
        vec![Entry::Cleared, Entry::Closed, Entry::Note { text: "zwei\u{2028}drei\n".to_owned() }]
    }

    #[test]
    fn what_was_appended_is_read_back() {
        let (read, whole, damage) = decode(&lines(&some()));
        assert_eq!(read.iter().map(|l| l.entry.clone()).collect::<Vec<_>>(), some());
        assert_eq!((whole, damage.len()), (lines(&some()).len(), 0));
    }

    #[test]
    fn cut_at_any_byte_only_the_torn_line_is_lost_and_appending_goes_on() {
        let bytes = lines(&some());
        for cut in 0..=bytes.len() {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("s.jsonl");
            std::fs::write(&path, &bytes[..cut]).unwrap();
            let whole = bytes[..cut].iter().filter(|&&b| b == b'\n').count();
            let (mut log, read, damage) = SessionLog::open(&path).unwrap();
            assert_eq!(read.len(), whole, "cut at {cut}");
            assert_eq!(damage.is_empty(), bytes[..cut].last().is_none_or(|&b| b == b'\n'));
            log.append(8, &Entry::Closed).unwrap();
            let (_, again, damage) = SessionLog::open(&path).unwrap();
            assert_eq!((again.len(), damage.len()), (whole + 1, 0), "cut at {cut}");
        }
    }

    #[test]
    fn a_run_of_nul_bytes_hides_nothing_behind_it() {
        let one = lines(&[Entry::Cleared]);
        let bytes = [one.as_slice(), &[0u8; 40], b"\n", one.as_slice()].concat();
        let (read, _, damage) = decode(&bytes);
        assert_eq!((read.len(), damage.len()), (2, 1));
    }
}
