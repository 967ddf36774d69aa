//! Which directory a daemon is for.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum WorkTreeError {
    #[error("{path} is not in a git repository; name a directory with --repo to work without one")]
    NoRepository { path: PathBuf },
    #[error("{path} is no place for a daemon; name a directory of a project with --repo")]
    TooWide { path: PathBuf },
    #[error("look at {path}")]
    Look { path: PathBuf, source: io::Error },
    #[error("open the repository of {path}")]
    Repository { path: PathBuf, source: paird_vcs::Error },
}

/// The top of the repository around `named`, or `named` itself where a plain directory was named. Without a name the
/// repository around `here`. The home directory and `/` are refused.
///
/// # Errors
/// There is no such directory, or no repository where none was named.
pub fn find(named: Option<&Path>, here: &Path, home: Option<&Path>) -> Result<PathBuf, WorkTreeError> {
    let from = named.map_or_else(|| here.to_owned(), |named| here.join(named));
    let from = from.canonicalize().map_err(|source| WorkTreeError::Look { path: from.clone(), source })?;
    let repo = paird_vcs::Repo::discover(&from).map_err(|source| WorkTreeError::Repository { path: from.clone(), source })?;
    let top = match (repo, named) {
        // The key of everything that is kept for a work tree is its real path, by whatever links it was found.
        (Some(repo), _) => repo.top().canonicalize().map_err(|source| WorkTreeError::Look { path: repo.top().to_owned(), source })?,
        (None, Some(_)) if from.is_dir() => from,
        (None, Some(_)) => {
            return Err(WorkTreeError::Look { path: from, source: io::ErrorKind::NotADirectory.into() });
        }
        (None, None) => return Err(WorkTreeError::NoRepository { path: from }),
    };
    let home = home.and_then(|home| home.canonicalize().ok());
    if top == Path::new("/") || home.is_some_and(|home| home == top) {
        return Err(WorkTreeError::TooWide { path: top });
    }
    Ok(top)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_directory_must_be_named_and_home_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        std::fs::create_dir(top.join("sub")).unwrap();
        assert!(matches!(find(None, &top, None), Err(WorkTreeError::NoRepository { .. })));
        assert_eq!(find(Some(Path::new("sub")), &top, None).unwrap(), top.join("sub"));
        assert!(matches!(find(Some(&top), &top, Some(&top)), Err(WorkTreeError::TooWide { .. })));
        assert!(matches!(find(Some(Path::new("/")), &top, None), Err(WorkTreeError::TooWide { .. })));
        assert!(matches!(find(Some(Path::new("none")), &top, None), Err(WorkTreeError::Look { .. })));
    }
}
