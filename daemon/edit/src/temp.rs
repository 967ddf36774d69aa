use std::fs::{DirBuilder, File};
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use paird_base::{Content, Root};
use rustix::fs::{AtFlags, Gid, Mode, OFlags, StatxFlags, Uid};
use rustix::io::Errno;

use crate::record_id::RecordId;
use crate::tree::{self, Spot};

/// Where new contents are prepared and old ones wait until a write is through.
///
/// A directory outside the watched tree (`<git dir>/paird/tmp`) from which files can be renamed into it. For a target on
/// another mount than that directory, or if there is none, the place is beside the target, under a hidden name
/// `.paird-<record>-<number>`.
///
/// A name that ends in `.part` holds an unfinished file of ours. Any other is either a complete new content or what a
/// write took out of the tree: that is how a start after a crash knows a person's bytes from ours.
#[derive(Debug)]
pub struct TempArea {
    dir: Option<(OwnedFd, Mount)>,
}

/// Files can be renamed within one mount of one file system; not even between two mounts of the same.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    dev: (u32, u32),
    id: u64,
}

impl TempArea {
    /// Takes the first candidate that can be made and is on the root's mount: usually `<git dir>/paird/tmp`, then a
    /// directory in the user's cache or state.
    #[must_use]
    pub fn open(root: &Root, candidates: &[&Path]) -> Self {
        let usable = |path: &&Path| {
            DirBuilder::new().recursive(true).mode(0o700).create(path).ok()?;
            let dir = tree::open_outside(path).ok()?;
            let mount = Mount::of(dir.as_fd()).ok()?;
            (Mount::of(root.fd()).ok()? == mount).then_some((dir, mount))
        };
        let dir = candidates.iter().find_map(usable);
        if dir.is_none() {
            tracing::warn!("no directory outside the work tree takes temporary files; they stand beside their targets");
        }
        Self { dir }
    }

    /// The place for the `index`-th path of a record whose target is in `parent`.
    pub(crate) fn spot<'a>(&'a self, parent: BorrowedFd<'a>, names: &'a TempNames) -> Spot<'a> {
        match &self.dir {
            Some((dir, mount)) if Mount::of(parent).is_ok_and(|of_parent| of_parent == *mount) => {
                Spot { dir: dir.as_fd(), name: &names.name }
            }
            _ => Spot { dir: parent, name: &names.hidden },
        }
    }

    /// Both places where a path's temporary file may be.
    pub(crate) fn spots<'a>(&'a self, parent: Option<BorrowedFd<'a>>, names: &'a TempNames) -> Vec<Spot<'a>> {
        let area = self.dir.iter().map(|(dir, _)| Spot { dir: dir.as_fd(), name: &names.name });
        area.chain(parent.map(|dir| Spot { dir, name: &names.hidden })).collect()
    }
}

impl Mount {
    fn of(fd: BorrowedFd<'_>) -> rustix::io::Result<Self> {
        // A kernel before 5.8 gives no mount id; the device alone must do there.
        let stat = rustix::fs::statx(fd, "", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS | StatxFlags::MNT_ID)?;
        let id = if stat.stx_mask & StatxFlags::MNT_ID.bits() == 0 { 0 } else { stat.stx_mnt_id };
        Ok(Self { dev: (stat.stx_dev_major, stat.stx_dev_minor), id })
    }
}

/// The names of one path's temporary file.
#[derive(Debug)]
pub(crate) struct TempNames {
    name: String,
    hidden: String,
}

impl TempNames {
    pub(crate) fn new(id: &RecordId, index: usize) -> Self {
        Self { name: format!("{id}-{index}"), hidden: format!(".paird-{id}-{index}") }
    }
}

impl Spot<'_> {
    fn part_name(self) -> String {
        format!("{}.part", self.name)
    }

    pub(crate) fn unlink_part(self) -> rustix::io::Result<()> {
        Spot { dir: self.dir, name: &self.part_name() }.unlink()
    }

    /// Writes `content` durably under this name, for `target`: with the owner of the file there, or the group that a
    /// set-group-id directory gives. Under its own name it is never seen unfinished. `between` runs before the rename.
    pub(crate) fn prepare(self, target: Self, content: &Content, between: &dyn Fn()) -> rustix::io::Result<()> {
        let errno = |e: std::io::Error| Errno::from_io_error(&e).unwrap_or(Errno::IO);
        let part_name = self.part_name();
        let part = Spot { dir: self.dir, name: &part_name };
        part.unlink()?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(self.dir, &part_name, flags, Mode::from_raw_mode(0o600))?;
        if let Err(e) = fill(File::from(fd), target, content).map_err(errno) {
            let _ = part.unlink();
            return Err(e);
        }
        between();
        part.replace(self)
    }
}

fn fill(mut file: File, target: Spot<'_>, content: &Content) -> std::io::Result<()> {
    file.write_all(&content.bytes)?;
    let mine = rustix::fs::fstat(&file)?;
    let (owner, group) = owner_for(target).unwrap_or((mine.st_uid, mine.st_gid));
    if (owner, group) != (mine.st_uid, mine.st_gid) {
        // Only root may give a file away, and only to a group of one's own: what is not allowed is left as it is.
        let _ = rustix::fs::fchown(&file, None, Some(Gid::from_raw(group)));
        let _ = rustix::fs::fchown(&file, Some(Uid::from_raw(owner)), None);
    }
    // After the change of owner, which clears the set-id bits.
    file.set_permissions(std::fs::Permissions::from_mode(content.mode))?;
    file.sync_all()
}

fn owner_for(target: Spot<'_>) -> Option<(u32, u32)> {
    if let Ok(stat) = rustix::fs::statat(target.dir, target.name, AtFlags::SYMLINK_NOFOLLOW) {
        return Some((stat.st_uid, stat.st_gid));
    }
    let dir = rustix::fs::fstat(target.dir).ok()?;
    let gives_group = Mode::from_raw_mode(dir.st_mode).contains(Mode::SGID);
    gives_group.then(|| (rustix::process::geteuid().as_raw(), dir.st_gid))
}
