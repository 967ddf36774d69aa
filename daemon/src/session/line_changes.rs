//! A file's change as ranges of lines, so that an editor patches its buffer instead of reloading it.

use paird_base::Content;
use paird_edit::FileChange;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::events::LineChange;

#[must_use]
pub(super) fn line_changes(change: &FileChange) -> Vec<LineChange> {
    let (before, after) = (text(change.before.as_ref()), text(change.after.as_ref()));
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    capture_diff_slices(Algorithm::Myers, &old, &new)
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

/// The change as a unified diff, for people.
#[must_use]
pub fn unified(change: &FileChange) -> String {
    let (before, after) = (text(change.before.as_ref()), text(change.after.as_ref()));
    let name = |there: bool, side: &str| {
        if there { format!("{side}/{}", change.path) } else { "/dev/null".to_owned() }
    };
    similar::TextDiff::from_lines(&before, &after)
        .unified_diff()
        .header(&name(change.before.is_some(), "a"), &name(change.after.is_some(), "b"))
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use paird_base::RepoPath;

    #[test]
    fn ranges_are_of_the_old_file() {
        let side = |text: &str| Some(Content::new(text.as_bytes(), 0o644));
        let change = |c: LineChange| (c.start_line, c.end_line, c.lines.join("|"));
        let file = FileChange { path: RepoPath::parse("a").unwrap(), before: side("1\n2\n3\n4\n"), after: side("1\nzwei\n3\n4\n5\n") };
        let got: Vec<_> = line_changes(&file).into_iter().map(change).collect();
        assert_eq!(got, [(2, 2, "zwei".to_owned()), (5, 4, "5".to_owned())]);
    }
}
