//! What a person chose for a session; it holds from the next turn on.

use paird_edit::{CloseMatch, Format};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    #[default]
    Code,
    Ask,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommitMode {
    #[default]
    Auto,
    None,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApplyMode {
    #[default]
    Auto,
    Review,
    Dry,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnPartial {
    #[default]
    Hold,
    Apply,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DirtyCommits {
    #[default]
    Overlap,
    Always,
    Never,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    pub mode: Mode,
    pub model: Option<String>,
    pub weak_model: Option<String>,
    pub editor_model: Option<String>,
    #[serde(default)]
    pub edit_format: Format,
    pub commit_mode: CommitMode,
    pub apply_mode: ApplyMode,
    pub on_partial: OnPartial,
    pub dirty_commits: DirtyCommits,
    #[serde(default)]
    pub close_match: CloseMatch,
}

/// A change of settings: what is `None` stays.
#[derive(Debug, Clone, Default)]
pub struct SettingsPatch {
    pub mode: Option<Mode>,
    pub model: Option<String>,
    pub weak_model: Option<String>,
    pub editor_model: Option<String>,
    pub edit_format: Option<Format>,
    pub commit_mode: Option<CommitMode>,
    pub apply_mode: Option<ApplyMode>,
    pub on_partial: Option<OnPartial>,
    pub dirty_commits: Option<DirtyCommits>,
    pub close_match: Option<CloseMatch>,
}

impl Settings {
    #[must_use]
    pub fn patched(&self, patch: SettingsPatch) -> Self {
        Self {
            mode: patch.mode.unwrap_or(self.mode),
            model: patch.model.or_else(|| self.model.clone()),
            weak_model: patch.weak_model.or_else(|| self.weak_model.clone()),
            editor_model: patch.editor_model.or_else(|| self.editor_model.clone()),
            edit_format: patch.edit_format.unwrap_or(self.edit_format),
            commit_mode: patch.commit_mode.unwrap_or(self.commit_mode),
            apply_mode: patch.apply_mode.unwrap_or(self.apply_mode),
            on_partial: patch.on_partial.unwrap_or(self.on_partial),
            dirty_commits: patch.dirty_commits.unwrap_or(self.dirty_commits),
            close_match: patch.close_match.unwrap_or(self.close_match),
        }
    }
}
