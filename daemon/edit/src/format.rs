//! The ways in which a reply can write its edits.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How a reply writes its edits. The `editor-` formats are written like their namesakes and differ in the prompt alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// SEARCH/REPLACE blocks; the path stands above the fence, on it, or inside it.
    #[default]
    Diff,
    /// The same; the prompt asks for the path inside the fence.
    DiffFenced,
    /// Whole files between fences, each below its path.
    Whole,
    /// Unified diffs; line numbers mean nothing.
    Udiff,
    /// `*** Begin Patch` and its operations on files.
    Patch,
    EditorDiff,
    EditorDiffFenced,
    EditorWhole,
}

impl Format {
    pub const ALL: &[Self] =
        &[Self::Diff, Self::DiffFenced, Self::Whole, Self::Udiff, Self::Patch, Self::EditorDiff, Self::EditorDiffFenced, Self::EditorWhole];

    /// Whether the prompt is for a model that writes down what another has planned.
    #[must_use]
    pub const fn is_editor(self) -> bool {
        matches!(self, Self::EditorDiff | Self::EditorDiffFenced | Self::EditorWhole)
    }

    /// The name on the wire and in the configuration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Diff => "diff",
            Self::DiffFenced => "diff-fenced",
            Self::Whole => "whole",
            Self::Udiff => "udiff",
            Self::Patch => "patch",
            Self::EditorDiff => "editor-diff",
            Self::EditorDiffFenced => "editor-diff-fenced",
            Self::EditorWhole => "editor-whole",
        }
    }

    /// Whether it is written in hunks: kept, removed and added lines.
    pub(crate) const fn has_hunks(self) -> bool {
        matches!(self, Self::Udiff | Self::Patch)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A name that is no edit format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an edit format; known: {known}", known = Format::ALL.iter().map(|f| f.as_str()).collect::<Vec<_>>().join(", "))]
pub struct UnknownFormat(pub String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL.iter().copied().find(|f| f.as_str() == name).ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_everywhere() {
        for format in Format::ALL {
            assert_eq!(serde_json::to_string(format).unwrap(), format!("\"{format}\""));
            assert_eq!(format.as_str().parse(), Ok(*format));
        }
        assert!("DIFF".parse::<Format>().unwrap_err().to_string().contains("editor-diff-fenced"));
    }
}
