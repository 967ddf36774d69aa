//! The map of a work tree in its first form: which files there are. Their definitions are not in it.

use paird_base::limits::LISTED_FILES_MAX;
use paird_base::{RepoPath, Tokens};

use super::error::Error;
use super::tree::Tree;

/// A listing within a budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// One path a line.
    pub text: String,
    pub tokens: Tokens,
    /// False if files were left out.
    pub complete: bool,
}

impl Listing {
    /// The files nearest to the top first, in path order within a level, as many as fit.
    #[must_use]
    pub fn of(mut files: Vec<RepoPath>, budget: Tokens) -> Self {
        files.sort_by_cached_key(|path| (path.as_str().matches('/').count(), path.clone()));
        let mut text = String::new();
        let mut complete = true;
        for path in &files {
            if Tokens::estimate_bytes(text.len() + path.as_str().len() + 1) > budget {
                complete = false;
                break;
            }
            text.push_str(path.as_str());
            text.push('\n');
        }
        Self { tokens: Tokens::estimate(&text), text, complete }
    }
}

impl Tree {
    /// The files that count: those that git tracks, or, in a plain directory, all that no ignore file excludes.
    pub fn files(&self) -> Result<Vec<RepoPath>, Error> {
        if self.repository {
            return Ok(self.open_repo()?.tracked_files()?.files);
        }
        let walk = ignore::WalkBuilder::new(self.root.path()).hidden(false).require_git(false).build();
        let file = |entry: ignore::DirEntry| {
            let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
            let name = entry.path().strip_prefix(self.root.path()).ok().filter(|_| is_file)?;
            RepoPath::parse(name.to_str()?).ok()
        };
        // What cannot be read is left out.
        Ok(walk.filter_map(Result::ok).filter_map(file).take(LISTED_FILES_MAX).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(names: &[&str]) -> Vec<RepoPath> {
        names.iter().map(|n| RepoPath::parse(n).unwrap()).collect()
    }

    #[test]
    fn the_top_comes_first_and_the_budget_is_a_ceiling() {
        let files = paths(&["src/b.rs", "src/a.rs", "README.md", "src/deep/c.rs"]);
        let all = Listing::of(files.clone(), Tokens(1000));
        assert_eq!(all.text, "README.md\nsrc/a.rs\nsrc/b.rs\nsrc/deep/c.rs\n");
        assert!(all.complete);
        for budget in 0..20 {
            let some = Listing::of(files.clone(), Tokens(budget));
            assert!(some.tokens <= Tokens(budget));
            assert!(all.text.starts_with(&some.text));
            assert_eq!(some.complete, some.text == all.text);
        }
    }
}
