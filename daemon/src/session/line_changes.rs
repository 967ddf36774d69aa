//! A file's change as ranges of lines, so that an editor patches its buffer instead of reloading it.

use std::time::Instant;

use paird_base::limits::DIFF_TIME_MAX;
use paird_base::{Content, RepoPath};
use paird_edit::FileChange;
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

use super::events::LineChange;

#[must_use]
pub(super) fn line_changes(change: &FileChange) -> Vec<LineChange> {
    let (before, after) = (text(change.before.as_ref()), text(change.after.as_ref()));
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Instant::now().checked_add(DIFF_TIME_MAX))
        .into_iter()
        .filter(|op| !matches!(op, DiffOp::Equal { .. }))
        .map(|op| LineChange {
            start_line: op.old_range().start + 1,
            end_line: op.old_range().end,
            lines: new[op.new_range()].iter().map(|line| (*line).to_owned()).collect(),
        })
        .collect()
}

fn text(content: Option<&Content>) -> String {
    content.map(|c| String::from_utf8_lossy(&c.bytes).into_owned()).unwrap_or_default()
}

/// A file's two states, which may have different names, as a unified diff for people.
#[must_use]
pub fn unified(from: (&RepoPath, Option<&Content>), to: (&RepoPath, Option<&Content>)) -> String {
    let name = |(path, content): (&RepoPath, Option<&Content>), side: &str| match content {
        Some(_) => format!("{side}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let (before, after) = (text(from.1), text(to.1));
    let diff = similar::TextDiff::configure().timeout(DIFF_TIME_MAX).diff_lines(&before, &after);
    let renamed = if from.0 == to.0 { String::new() } else { format!("rename from {}\nrename to {}\n", from.0, to.0) };
    format!("{renamed}{}", diff.unified_diff().header(&name(from, "a"), &name(to, "b")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_of_the_old_file() {
        let side = |text: &str| Some(Content::new(text.as_bytes(), 0o644));
        let change = |c: LineChange| (c.start_line, c.end_line, c.lines.join("|"));
        let file = FileChange { path: RepoPath::parse("a").unwrap(), before: side("1\n2\n3\n4\n"), after: side("1\nzwei\n3\n4\n5\n") };
        let got: Vec<_> = line_changes(&file).into_iter().map(change).collect();
        assert_eq!(got, [(2, 2, "zwei".to_owned()), (5, 4, "5".to_owned())]);
    }

    #[test]
    fn a_move_shows_both_names_and_what_changed() {
        let [old, new] = ["a.txt", "b.txt"].map(|name| RepoPath::parse(name).unwrap());
        let [before, after] = ["1\n2\n", "1\nzwei\n"].map(|text| Content::new(text.as_bytes(), 0o644));
        let shown = unified((&old, Some(&before)), (&new, Some(&after)));
        assert_eq!(shown, "rename from a.txt\nrename to b.txt\n--- a/a.txt\n+++ b/b.txt\n@@ -1,2 +1,2 @@\n 1\n-2\n+zwei\n");
        assert_eq!(unified((&old, Some(&before)), (&new, Some(&before))), "rename from a.txt\nrename to b.txt\n");
        assert!(unified((&old, Some(&before)), (&old, None)).starts_with("--- a/a.txt\n+++ /dev/null\n"));
    }
}
