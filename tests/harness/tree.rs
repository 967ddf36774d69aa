//! A directory's files as one value, to compare before and after.

use std::collections::BTreeMap;
use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// What stands at a path.
#[derive(Clone, PartialEq, Eq)]
pub enum Node {
    /// Bytes and permission bits.
    File(Vec<u8>, u32),
    /// Where the link points.
    Link(String),
    /// A directory without anything in it; others are told by what they hold.
    Empty,
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(bytes, mode) => write!(f, "{:?} {mode:o}", String::from_utf8_lossy(bytes)),
            Self::Link(to) => write!(f, "-> {to}"),
            Self::Empty => f.write_str("empty directory"),
        }
    }
}

/// Every file below a directory, by its name there, without `.git` at the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree(pub BTreeMap<String, Node>);

impl Tree {
    /// Reads the directory as it is now.
    #[must_use]
    pub fn read(dir: &Path) -> Self {
        let mut nodes = BTreeMap::new();
        walk(dir, "", &mut nodes);
        Self(nodes)
    }

    /// The same with one file's text changed, its permissions as they were (0644 for a new one).
    #[must_use]
    pub fn with(mut self, path: &str, text: &str) -> Self {
        let mode = match self.0.get(path) {
            Some(Node::File(_, mode)) => *mode,
            _ => 0o644,
        };
        self.0.insert(path.to_owned(), Node::File(text.as_bytes().to_vec(), mode));
        self
    }

    /// The same without one path.
    #[must_use]
    pub fn without(mut self, path: &str) -> Self {
        self.0.remove(path);
        self
    }
}

fn walk(dir: &Path, prefix: &str, nodes: &mut BTreeMap<String, Node>) {
    let entries = std::fs::read_dir(dir).unwrap_or_else(|error| panic!("list {}: {error}", dir.display()));
    let mut empty = true;
    for entry in entries {
        let entry = entry.expect("an entry of a directory of ours");
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if name == ".git" {
            continue;
        }
        empty = false;
        let path = entry.path();
        let meta = path.symlink_metadata().expect("it was listed");
        if meta.is_dir() {
            walk(&path, &format!("{name}/"), nodes);
        } else if meta.is_symlink() {
            let to = std::fs::read_link(&path).expect("it is a link");
            nodes.insert(name, Node::Link(to.to_string_lossy().into_owned()));
        } else {
            let bytes = std::fs::read(&path).expect("it is a file");
            nodes.insert(name, Node::File(bytes, meta.permissions().mode() & 0o7777));
        }
    }
    if empty && !prefix.is_empty() {
        nodes.insert(prefix.trim_end_matches('/').to_owned(), Node::Empty);
    }
}
