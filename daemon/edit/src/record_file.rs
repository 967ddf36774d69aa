//! A record's file: a line of JSON (the head), the line's hash, the contents, and then one line for each mark added later.
//!
//! It is complete or worthless: the head's hash and the contents' own tell a file that a crash cut short.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use paird_base::{Content, ContentHash, RepoPath, fault};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{FileChange, JournalError, Plan};

/// Layout of the file; raised whenever an older daemon could misread it.
const VERSION: u32 = 1;

/// What a record's file holds before its marks.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) head: Head,
    blobs_at: u64,
    /// Where the marks begin.
    pub(crate) end: u64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Head {
    version: u32,
    pub(crate) meta: Value,
    pub(crate) entries: Vec<Entry>,
    pub(crate) made_dirs: Vec<RepoPath>,
    pub(crate) emptied_dirs: Vec<RepoPath>,
    blobs: Vec<Blob>,
}

/// One path of a record. `None` is "no file".
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) path: RepoPath,
    pub(crate) before: Option<Side>,
    pub(crate) after: Option<Side>,
}

/// A content by its hash, and the permission bits that go with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Side {
    pub(crate) hash: ContentHash,
    pub(crate) bytes: u64,
    pub(crate) mode: u32,
}

impl Side {
    fn of(content: &Content) -> Self {
        Self { hash: content.hash(), bytes: content.bytes.len() as u64, mode: content.mode }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Blob {
    hash: ContentHash,
    bytes: u64,
}

/// A line added to a record after it was stored.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "mark", rename_all = "snake_case")]
pub(crate) enum Mark {
    Note {
        value: Value,
    },
    Written {
        #[serde(default)]
        foreign: Vec<RepoPath>,
    },
    Done,
    RollingBack,
    RolledBack,
}

/// Writes the file. The fsync of a file just created makes its name durable too, so there is only one.
pub(crate) fn store(path: &Path, plan: &Plan, made_dirs: Vec<RepoPath>, meta: Value) -> Result<Stored, JournalError> {
    let side = |content: &Option<Content>| content.as_ref().map(Side::of);
    let entry = |c: &FileChange| Entry { path: c.path.clone(), before: side(&c.before), after: side(&c.after) };
    let entries: Vec<Entry> = plan.changes().iter().map(entry).collect();
    let mut contents: Vec<&[u8]> = Vec::new();
    let mut blobs: Vec<Blob> = Vec::new();
    let mut known = BTreeSet::new();
    for (change, entry) in plan.changes().iter().zip(&entries) {
        for (content, side) in [(&change.before, entry.before), (&change.after, entry.after)] {
            if let (Some(content), Some(side)) = (content, side)
                && known.insert(side.hash)
            {
                contents.push(&content.bytes);
                blobs.push(Blob { hash: side.hash, bytes: side.bytes });
            }
        }
    }
    let head = Head { version: VERSION, meta, entries, made_dirs, emptied_dirs: plan.emptied_dirs().to_vec(), blobs };
    let mut text = serde_json::to_vec(&head).map_err(|e| io_error("encode the head of", path)(e.into()))?;
    let seal = ContentHash::of(&text).to_hex();
    text.extend(format!("\n{seal}\n").into_bytes());
    if let Err(e) = write_file(path, &text, &contents) {
        // A record cut short is worthless; if it cannot be removed either, the next open does it.
        let _ = fs::remove_file(path);
        return Err(io_error("store", path)(e));
    }
    let blobs_at = text.len() as u64;
    let end = blobs_at + contents.iter().map(|c| c.len() as u64).sum::<u64>() + 1;
    Ok(Stored { head, blobs_at, end })
}

fn write_file(path: &Path, head: &[u8], contents: &[&[u8]]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(head)?;
    fault::point("write.record");
    for content in contents {
        file.write_all(content)?;
    }
    file.write_all(b"\n")?;
    file.sync_all()?;
    fault::point("write.intent");
    Ok(())
}

/// Reads the head, and the marks as they are; `None` if there is no file. The contents stay where they are.
pub(crate) fn load(path: &Path) -> Result<Option<(Stored, Vec<u8>)>, JournalError> {
    let torn = || JournalError::Torn { path: path.to_owned() };
    let damaged = |what| JournalError::Damaged { path: path.to_owned(), what };
    let fail = io_error("read", path);
    let file = match File::open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(&fail)?,
    };
    let len = file.metadata().map_err(&fail)?.len();
    let mut reader = BufReader::new(file);
    let (mut text, mut seal) = (Vec::new(), Vec::new());
    reader.read_until(b'\n', &mut text).map_err(&fail)?;
    reader.read_until(b'\n', &mut seal).map_err(&fail)?;
    let blobs_at = (text.len() + seal.len()) as u64;
    if text.pop() != Some(b'\n') || seal.pop() != Some(b'\n') {
        return Err(torn());
    }
    if seal != ContentHash::of(&text).to_hex().as_bytes() {
        return Err(damaged("the head does not have its hash"));
    }
    let head = parse_head(&text, path)?;
    let blobs_end =
        head.blobs.iter().try_fold(blobs_at, |at, blob| at.checked_add(blob.bytes)).ok_or_else(|| damaged("impossible sizes"))?;
    if len <= blobs_end {
        return Err(torn());
    }
    reader.seek(SeekFrom::Start(blobs_end)).map_err(&fail)?;
    let mut newline = [0];
    reader.read_exact(&mut newline).map_err(&fail)?;
    if newline != *b"\n" {
        return Err(damaged("the contents do not end where they should"));
    }
    let mut marks = Vec::new();
    reader.read_to_end(&mut marks).map_err(&fail)?;
    Ok(Some((Stored { head, blobs_at, end: blobs_end + 1 }, marks)))
}

fn parse_head(text: &[u8], path: &Path) -> Result<Head, JournalError> {
    #[derive(Deserialize)]
    struct Versioned {
        version: u32,
    }
    let damaged = |_| JournalError::Damaged { path: path.to_owned(), what: "the head makes no sense" };
    let Versioned { version } = serde_json::from_slice(text).map_err(damaged)?;
    if version != VERSION {
        return Err(JournalError::Version { path: path.to_owned(), version });
    }
    serde_json::from_slice(text).map_err(damaged)
}

impl Stored {
    /// One content from the record's file at `path`; an error unless it has its hash.
    pub(crate) fn content(&self, path: &Path, side: &Side) -> Result<Content, JournalError> {
        let damaged = |what| JournalError::Damaged { path: path.to_owned(), what };
        let mut at = self.blobs_at;
        for blob in &self.head.blobs {
            if blob.hash == side.hash && blob.bytes == side.bytes {
                let bytes = read_blob(path, at, blob.bytes).map_err(io_error("read a content of", path))?;
                let whole = ContentHash::of(&bytes) == side.hash;
                return if whole { Ok(Content::new(bytes, side.mode)) } else { Err(damaged("a content does not have its hash")) };
            }
            at += blob.bytes;
        }
        Err(damaged("a content is missing"))
    }
}

fn read_blob(path: &Path, at: u64, bytes: u64) -> io::Result<Vec<u8>> {
    let len = usize::try_from(bytes).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let mut buffer = vec![0; len];
    File::open(path)?.read_exact_at(&mut buffer, at)?;
    Ok(buffer)
}

pub(crate) fn io_error(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> JournalError {
    let path = path.to_owned();
    move |source| JournalError::Io { doing, path: path.clone(), source }
}
