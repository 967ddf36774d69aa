//! Git's filters: what a file's bytes are in the object store (clean) and on disk (smudged).

use std::path::Path;

use git2::{AttrCheckFlags, AttrValue, Oid, Repository};
use paird_base::RepoPath;

use crate::error::Trying;
use crate::{Error, Repo};

/// What git's configuration does to one path.
struct Filters {
    /// `ident`, `filter` or `working-tree-encoding` is set.
    driver: bool,
    line_ends: LineEnds,
}

#[derive(PartialEq, Eq)]
enum LineEnds {
    Kept,
    /// Declared text.
    Converted,
    /// Converted if git takes the content for text.
    Guessed,
}

impl Filters {
    fn of(repo: &Repository, path: &RepoPath) -> Result<Self, Error> {
        let attribute = |name: &str| -> Result<AttrValue<'_>, Error> {
            let value = repo.get_attr_bytes(Path::new(path.as_str()), name, AttrCheckFlags::FILE_THEN_INDEX);
            Ok(AttrValue::from_bytes(value.trying("read the attributes")?))
        };
        let named = |value: &AttrValue<'_>| matches!(value, AttrValue::String(_) | AttrValue::Bytes(_));
        let driver = attribute("ident")? == AttrValue::True || named(&attribute("filter")?) || named(&attribute("working-tree-encoding")?);
        // `crlf` is the old name of `text`.
        let text = match attribute("text")? {
            AttrValue::Unspecified => attribute("crlf")?,
            text => text,
        };
        let line_ends = match text {
            AttrValue::False => LineEnds::Kept,
            AttrValue::String("auto") => LineEnds::Guessed,
            AttrValue::True | AttrValue::String("input") => LineEnds::Converted,
            _ if named(&attribute("eol")?) => LineEnds::Converted,
            _ if converts_by_default(repo)? => LineEnds::Guessed,
            _ => LineEnds::Kept,
        };
        Ok(Self { driver, line_ends })
    }
}

/// `core.autocrlf` is `true` or `input`.
fn converts_by_default(repo: &Repository) -> Result<bool, Error> {
    let config = repo.config().trying("read the configuration")?;
    Ok(config.get_bool("core.autocrlf").unwrap_or(false)
        || config.get_string("core.autocrlf").is_ok_and(|v| v.eq_ignore_ascii_case("input")))
}

impl Repo {
    /// Writes the clean form of a file's bytes to the object store. `in_index` is the path's blob there, if any.
    /// A process runs only if a filter can change these very bytes.
    pub(crate) fn clean(&self, repo: &Repository, path: &RepoPath, bytes: &[u8], in_index: Option<Oid>) -> Result<Oid, Error> {
        let filters = Filters::of(repo, path)?;
        let converts = bytes.contains(&b'\r')
            && match filters.line_ends {
                LineEnds::Kept => false,
                LineEnds::Converted => true,
                // Git leaves the line ends of a file alone that it already stores with CRLF. `git hash-object` does not
                // know, because it never reads the index.
                LineEnds::Guessed => !has_crlf(repo, in_index),
            };
        if !filters.driver && !converts {
            return repo.blob(bytes).trying("write a blob");
        }
        let path_option = format!("--path={path}");
        // The check for line ends that do not survive a round trip would make git refuse what is on disk already.
        let mut args = vec!["-c", "core.safecrlf=false"];
        if !converts {
            args.extend(["-c", "core.autocrlf=false"]);
        }
        args.extend(["hash-object", "-w", "--stdin", &path_option]);
        let out = self.git(args).input(bytes).run()?;
        let hash = std::str::from_utf8(out.trim_ascii()).unwrap_or_default();
        Oid::from_str(hash).trying("read the hash of a filtered blob")
    }

    /// The bytes that git would write to disk for a blob at `path`.
    pub(crate) fn smudged(&self, repo: &Repository, path: &RepoPath, blob: Oid) -> Result<Vec<u8>, Error> {
        let filters = Filters::of(repo, path)?;
        if filters.driver || filters.line_ends != LineEnds::Kept {
            let path_option = format!("--path={path}");
            return self.git(["cat-file", "--filters", &path_option, &blob.to_string()]).reading().run();
        }
        Ok(repo.find_blob(blob).trying("read a blob")?.content().to_vec())
    }
}

fn has_crlf(repo: &Repository, blob: Option<Oid>) -> bool {
    blob.and_then(|oid| repo.find_blob(oid).ok()).is_some_and(|blob| blob.content().windows(2).any(|pair| pair == b"\r\n"))
}
