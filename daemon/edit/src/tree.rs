//! The few ways in which a write touches the work tree: always through a directory's descriptor, never through a link.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;

use paird_base::{ContentHash, RepoPath, Root};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, ResolveFlags};
use rustix::io::Errno;

use crate::record_file::{Entry, Side};

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// One of the two contents that a record knows for a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    Before,
    After,
}

/// What stands under a name, by the measure of a record's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Absent,
    /// A regular file with one name and this content. For `Before` with these permission bits too, so that a person's
    /// `chmod` counts as a change; for `After` the content is enough, unless the bits are all that changes.
    Ours(Version),
    /// A regular file with another content.
    Changed,
    /// Something that is never written, such as a link.
    Other(&'static str),
}

impl Entry {
    pub(crate) fn side(&self, version: Version) -> Option<&Side> {
        match version {
            Version::Before => self.before.as_ref(),
            Version::After => self.after.as_ref(),
        }
    }

    /// Whether what stands there is this version, "no file" included.
    pub(crate) fn is(&self, standing: Standing, version: Version) -> bool {
        match standing {
            Standing::Absent => self.side(version).is_none(),
            Standing::Ours(found) => found == version,
            Standing::Changed | Standing::Other(_) => false,
        }
    }

    fn version_of(&self, file: &mut File, mode: u32, len: u64) -> io::Result<Option<Version>> {
        let sides = [(Version::Before, self.before), (Version::After, self.after)];
        if !sides.iter().any(|(_, side)| side.is_some_and(|side| side.bytes == len)) {
            return Ok(None);
        }
        let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(0) + 1);
        // One byte more than it had: a file that grows under the reader is another content.
        file.take(len + 1).read_to_end(&mut bytes)?;
        let hash = ContentHash::of(&bytes);
        let bits_decide = self.before.map(|side| side.hash) == self.after.map(|side| side.hash);
        let same = |(version, side): &(Version, Option<Side>)| {
            side.is_some_and(|side| side.hash == hash && (side.mode == mode || (*version == Version::After && !bits_decide)))
        };
        Ok(sides.iter().find(|side| same(side)).map(|(version, _)| *version))
    }
}

/// A name in an open directory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spot<'a> {
    pub(crate) dir: BorrowedFd<'a>,
    pub(crate) name: &'a str,
}

impl Spot<'_> {
    pub(crate) fn look(self, entry: &Entry) -> rustix::io::Result<Standing> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let mut file = match rustix::fs::openat(self.dir, self.name, flags, Mode::empty()) {
            Ok(fd) => File::from(fd),
            Err(Errno::NOENT) => return Ok(Standing::Absent),
            Err(Errno::LOOP) => return Ok(Standing::Other("a link")),
            Err(Errno::NXIO) => return Ok(Standing::Other("a socket or device")),
            Err(Errno::ACCESS) => return Ok(Standing::Other("a file that may not be read")),
            Err(e) => return Err(e),
        };
        let errno = |e: io::Error| Errno::from_io_error(&e).unwrap_or(Errno::IO);
        let meta = file.metadata().map_err(errno)?;
        Ok(match meta {
            _ if meta.is_dir() => Standing::Other("a directory"),
            _ if !meta.is_file() => Standing::Other("a socket or device"),
            _ if meta.nlink() > 1 => Standing::Other("a file with several names"),
            _ => entry.version_of(&mut file, meta.mode() & 0o7777, meta.len()).map_err(errno)?.map_or(Standing::Changed, Standing::Ours),
        })
    }

    pub(crate) fn unlink(self) -> rustix::io::Result<()> {
        match rustix::fs::unlinkat(self.dir, self.name, AtFlags::empty()) {
            Err(Errno::NOENT) => Ok(()),
            other => other,
        }
    }

    /// Whether both names are names of one file: a link was made and the first name not yet removed.
    pub(crate) fn is_same_file(self, other: Self) -> bool {
        let stat =
            |spot: Spot<'_>| rustix::fs::statat(spot.dir, spot.name, AtFlags::SYMLINK_NOFOLLOW).ok().map(|stat| (stat.st_dev, stat.st_ino));
        stat(self).is_some_and(|mine| stat(other) == Some(mine))
    }

    /// Moves to a name that must be free: `EXIST` if it is not. Where the file system cannot rename so, by a link.
    pub(crate) fn move_to_free(self, to: Self) -> rustix::io::Result<()> {
        let flags = RenameFlags::NOREPLACE;
        #[cfg(test)]
        let flags = if ONLY_PLAIN_RENAMES.get() { RenameFlags::all() } else { flags };
        match rustix::fs::renameat_with(self.dir, self.name, to.dir, to.name, flags) {
            Err(e) if unsupported(e) => {
                rustix::fs::linkat(self.dir, self.name, to.dir, to.name, AtFlags::empty())?;
                self.unlink()
            }
            other => other,
        }
    }

    /// Swaps two files; `false` if the file system cannot.
    pub(crate) fn exchange(self, other: Self) -> rustix::io::Result<bool> {
        #[cfg(test)]
        if ONLY_PLAIN_RENAMES.get() {
            return Ok(false);
        }
        match rustix::fs::renameat_with(self.dir, self.name, other.dir, other.name, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(true),
            Err(e) if unsupported(e) => Ok(false),
            Err(e) => Err(e),
        }
    }

    pub(crate) fn replace(self, to: Self) -> rustix::io::Result<()> {
        rustix::fs::renameat(self.dir, self.name, to.dir, to.name)
    }
}

#[cfg(test)]
thread_local! {
    /// Plays a file system that knows no flags for renaming.
    pub(crate) static ONLY_PLAIN_RENAMES: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

fn unsupported(e: Errno) -> bool {
    matches!(e, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

/// Opens a directory of the work tree, the top for `None`, if no link leads to it.
pub(crate) fn open_dir(root: &Root, dir: Option<&RepoPath>) -> rustix::io::Result<OwnedFd> {
    match dir {
        None => rustix::fs::openat(root.fd(), ".", DIRECTORY, Mode::empty()),
        Some(dir) => root.open_beneath(dir, DIRECTORY, ResolveFlags::NO_SYMLINKS),
    }
}

/// Opens a directory that is not in the work tree; its last component must not be a link.
pub(crate) fn open_outside(path: &std::path::Path) -> rustix::io::Result<OwnedFd> {
    rustix::fs::openat(CWD, path, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())
}

/// Makes the directory and those above it that are missing.
pub(crate) fn make_dirs(root: &Root, dir: &RepoPath) -> rustix::io::Result<()> {
    let mut missing = Vec::new();
    let mut at = Some(dir.clone());
    while let Some(path) = at {
        match open_dir(root, Some(&path)) {
            Ok(_) => break,
            Err(Errno::NOENT) => {}
            Err(e) => return Err(e),
        }
        at = path.parent();
        missing.push(path);
    }
    for path in missing.iter().rev() {
        let parent = open_dir(root, path.parent().as_ref())?;
        match rustix::fs::mkdirat(&parent, path.file_name(), Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// Removes those of the directories, given outermost first, that are empty. One that stays is no error: it holds something.
pub(crate) fn remove_empty_dirs(root: &Root, dirs: &[RepoPath]) {
    for dir in dirs.iter().rev() {
        if let Ok(parent) = open_dir(root, dir.parent().as_ref()) {
            let _ = rustix::fs::unlinkat(&parent, dir.file_name(), AtFlags::REMOVEDIR);
        }
    }
}
