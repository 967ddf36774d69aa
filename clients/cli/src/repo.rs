//! Which work tree is meant, and what its files are called: found by looking at directories, without running git.

use std::io;
use std::path::{Component, Path, PathBuf};

/// The work tree, and where in it this program was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkTree {
    /// The real path of the top directory.
    pub(crate) root: PathBuf,
    /// File arguments are relative to it.
    here: PathBuf,
}

/// Why there is no work tree, or no such file in it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RepoError {
    #[error("{path} is not in a git repository; name a directory with --repo to work without one")]
    NoRepository { path: PathBuf },
    #[error("{path} is too wide to be a work tree; name a directory of a project with --repo")]
    TooWide { path: PathBuf },
    #[error("look at {path}")]
    Look { path: PathBuf, source: io::Error },
    #[error("{argument} is outside the work tree {root}")]
    Outside { argument: String, root: PathBuf },
    #[error("{argument} is the work tree itself, not a file in it")]
    TheTree { argument: String },
    #[error("the name of {argument} is not UTF-8")]
    NotUtf8 { argument: String },
}

impl WorkTree {
    /// The top of the repository around `named`, or `named` itself where there is none; without a name the repository
    /// around `here`. The home directory and `/` are refused: a daemon would watch and show everything in them.
    ///
    /// # Errors
    /// There is no such directory, or no repository where none was named.
    pub(crate) fn find(named: Option<&Path>, here: &Path, home: Option<&Path>) -> Result<Self, RepoError> {
        let look = |path: PathBuf| path.canonicalize().map_err(|source| RepoError::Look { path, source });
        let from = look(named.map_or_else(|| here.to_owned(), |named| here.join(named)))?;
        let root = match (from.ancestors().find(|dir| is_top(dir)), named) {
            (Some(top), _) => top.to_owned(),
            (None, Some(_)) if from.is_dir() => from,
            (None, Some(_)) => {
                return Err(RepoError::Look { path: from, source: io::ErrorKind::NotADirectory.into() });
            }
            (None, None) => return Err(RepoError::NoRepository { path: from }),
        };
        let home = home.and_then(|home| home.canonicalize().ok());
        if root.parent().is_none() || home.is_some_and(|home| home == root) {
            return Err(RepoError::TooWide { path: root });
        }
        Ok(Self { root, here: here.canonicalize().unwrap_or_else(|_| here.to_owned()) })
    }

    /// The name of a file argument in the work tree: relative to its top, with `/`. The file need not exist.
    ///
    /// # Errors
    /// It lies outside, is the top itself, or its name is not UTF-8.
    pub(crate) fn path(&self, argument: &str) -> Result<String, RepoError> {
        let full = without_dots(&self.here.join(argument));
        let inside = full.strip_prefix(&self.root).map(Path::to_owned).ok().or_else(|| {
            // It may be named through a link to the work tree or to a directory in it.
            let real = full.parent()?.canonicalize().ok()?.join(full.file_name()?);
            real.strip_prefix(&self.root).map(Path::to_owned).ok()
        });
        let argument = argument.to_owned();
        let inside = inside.ok_or_else(|| RepoError::Outside { argument: argument.clone(), root: self.root.clone() })?;
        match inside.to_str() {
            Some("") => Err(RepoError::TheTree { argument }),
            Some(name) => Ok(name.to_owned()),
            None => Err(RepoError::NotUtf8 { argument }),
        }
    }

    /// The same for several.
    ///
    /// # Errors
    /// The first that is no file of the work tree.
    pub(crate) fn paths(&self, arguments: &[String]) -> Result<Vec<String>, RepoError> {
        arguments.iter().map(|argument| self.path(argument)).collect()
    }
}

/// `.git` is a directory in a repository, and a file in a linked work tree or a submodule.
fn is_top(dir: &Path) -> bool {
    let git = dir.join(".git");
    git.join("HEAD").is_file() || git.is_file()
}

/// Takes `.` and `..` out by the names alone.
fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A repository with a directory in it, a linked work tree, and a plain directory.
    fn scratch() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("repo/src/deep")).unwrap();
        fs::create_dir_all(top.join("repo/.git")).unwrap();
        fs::write(top.join("repo/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::create_dir_all(top.join("linked/src")).unwrap();
        fs::write(top.join("linked/.git"), "gitdir: ../repo/.git/worktrees/linked\n").unwrap();
        fs::create_dir_all(top.join("plain/.git")).unwrap();
        (dir, top)
    }

    #[test]
    fn the_tree_around_or_named() {
        let (_dir, top) = scratch();
        for (named, here, root) in [
            (None, "repo", "repo"),
            (None, "repo/src/deep", "repo"),
            (None, "linked/src", "linked"),
            (Some("../src"), "repo/src", "repo"),
            (Some("plain"), "", "plain"),
        ] {
            let found = WorkTree::find(named.map(Path::new), &top.join(here), None).unwrap();
            assert_eq!(found.root, top.join(root), "{named:?} at {here}");
        }
    }

    #[test]
    fn no_tree() {
        let (_dir, top) = scratch();
        let find =
            |named: Option<&str>, here: &str, home: &str| WorkTree::find(named.map(Path::new), &top.join(here), Some(&top.join(home)));
        let error = find(None, "plain", "").unwrap_err();
        assert!(matches!(error, RepoError::NoRepository { .. }) && error.to_string().contains("--repo"), "{error}");
        assert!(matches!(find(None, "repo/src", "repo"), Err(RepoError::TooWide { .. })));
        assert!(matches!(find(Some("/"), "repo", ""), Err(RepoError::TooWide { .. })));
        assert!(matches!(find(Some("none"), "repo", ""), Err(RepoError::Look { .. })));
        fs::write(top.join("file"), "").unwrap();
        assert!(matches!(find(Some("file"), "", "repo"), Err(RepoError::Look { .. })));
    }

    #[test]
    fn names() {
        let (_dir, top) = scratch();
        symlink(top.join("repo"), top.join("by-link")).unwrap();
        let tree = WorkTree::find(None, &top.join("repo/src"), None).unwrap();
        let absolute = top.join("repo/b.py").to_str().unwrap().to_owned();
        let linked = top.join("by-link/src/c.py").to_str().unwrap().to_owned();
        for (argument, name) in [
            ("a.py", "src/a.py"),
            ("../a.py", "a.py"),
            ("./deep/../x y.md", "src/x y.md"),
            ("missing/new.py", "src/missing/new.py"),
            (&absolute, "b.py"),
            (&linked, "src/c.py"),
        ] {
            assert_eq!(tree.path(argument).unwrap(), name, "{argument}");
        }
        for argument in ["../../plain/x", "/etc/passwd", "../../../../../../x", "../../repo-other/x"] {
            let error = tree.path(argument).unwrap_err();
            assert!(error.to_string().contains("outside the work tree"), "{argument}: {error}");
        }
        assert!(matches!(tree.path(".."), Err(RepoError::TheTree { .. })));
    }
}
