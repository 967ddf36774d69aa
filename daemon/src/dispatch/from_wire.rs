//! Wire values as the session's own.

use std::collections::BTreeSet;

use paird_base::RepoPath;
use paird_protocol as wire;

use super::{Daemon, Fault};
use crate::session::{ApplyMode, CommitMode, DirtyCommits, Error, Mode, Models, OnPartial, Selection, SettingsPatch, Verdicts};

/// Settings, and the chat's files beside them.
pub(super) struct Given {
    pub(super) patch: SettingsPatch,
    pub(super) files: Option<Vec<RepoPath>>,
    pub(super) read_only: Option<Vec<RepoPath>>,
}

/// What `session/new` and `session/configure` take, checked.
pub(super) fn given(daemon: &Daemon, mut params: wire::SessionNewParams) -> Result<Given, Fault> {
    for name in [&params.model, &params.weak_model, &params.editor_model].into_iter().flatten() {
        Models::check_name(name)?;
    }
    let files = params.files.take().map(|names| chat_files(daemon, &names)).transpose()?;
    let read_only = params.read_only.take().map(|names| chat_files(daemon, &names)).transpose()?;
    let twice = files.iter().flatten().find(|path| read_only.iter().flatten().any(|other| other == *path));
    if let Some(path) = twice {
        return Err(Fault::new(wire::ErrorKind::InvalidParams, format!("{path} is in files and in readOnly"))
            .hint("a file is either edited or only shown; name it in one of them"));
    }
    Ok(Given { patch: settings(params), files, read_only })
}

fn settings(params: wire::SessionNewParams) -> SettingsPatch {
    SettingsPatch {
        mode: params.mode.map(|mode| match mode {
            wire::Mode::Code => Mode::Code,
            wire::Mode::Ask => Mode::Ask,
        }),
        model: params.model,
        weak_model: params.weak_model,
        editor_model: params.editor_model,
        edit_format: params.edit_format.map(format),
        commit_mode: params.commit_mode.map(|mode| match mode {
            wire::CommitMode::Auto => CommitMode::Auto,
            wire::CommitMode::None => CommitMode::None,
        }),
        apply_mode: params.apply_mode.map(|mode| match mode {
            wire::ApplyMode::Auto => ApplyMode::Auto,
            wire::ApplyMode::Review => ApplyMode::Review,
            wire::ApplyMode::Dry => ApplyMode::Dry,
        }),
        on_partial: params.on_partial.map(|mode| match mode {
            wire::OnPartial::Hold => OnPartial::Hold,
            wire::OnPartial::Apply => OnPartial::Apply,
        }),
        dirty_commits: params.dirty_commits.map(|mode| match mode {
            wire::DirtyCommits::Overlap => DirtyCommits::Overlap,
            wire::DirtyCommits::Always => DirtyCommits::Always,
            wire::DirtyCommits::Never => DirtyCommits::Never,
        }),
        close_match: params.close_match.map(|mode| match mode {
            wire::CloseMatch::Apply => paird_edit::CloseMatch::Apply,
            wire::CloseMatch::Hold => paird_edit::CloseMatch::Hold,
            wire::CloseMatch::Off => paird_edit::CloseMatch::Off,
        }),
    }
}

/// Names as paths, each once, in the order they came.
pub(super) fn paths(names: &[String]) -> Result<Vec<RepoPath>, Fault> {
    let mut seen = BTreeSet::new();
    let mut paths = Vec::new();
    for name in names {
        let path = RepoPath::parse(name).map_err(Error::from)?;
        if seen.insert(path.clone()) {
            paths.push(path);
        }
    }
    Ok(paths)
}

/// Names as paths of files that may join a chat.
pub(super) fn chat_files(daemon: &Daemon, names: &[String]) -> Result<Vec<RepoPath>, Fault> {
    let paths = paths(names)?;
    for path in &paths {
        daemon.tree.check_chat_file(path)?;
    }
    Ok(paths)
}

pub(super) fn selection(selection: wire::Selection) -> Result<Selection, Fault> {
    let wire::Selection { path, start_line, end_line } = selection;
    if start_line == 0 || end_line < start_line {
        return Err(Fault::new(wire::ErrorKind::InvalidParams, format!("lines {start_line} to {end_line} are no range"))
            .hint("lines count from 1 and both ends belong to the range"));
    }
    Ok(Selection { path: RepoPath::parse(&path).map_err(Error::from)?, start_line, end_line })
}

/// Hunks by the number of their block, which their ids end with.
pub(super) fn verdicts(params: wire::EditResolveParams) -> Result<Verdicts, Fault> {
    let block = |hunk: &str| {
        let number = hunk.strip_prefix(&params.edit_id).and_then(|rest| rest.strip_prefix('.')).and_then(|rest| rest.parse().ok());
        number.ok_or_else(|| {
            Fault::new(wire::ErrorKind::NotFound, format!("edit {} has no hunk {hunk:?}", params.edit_id)).hint("edit/get shows its hunks")
        })
    };
    let all = |hunks: &Option<Vec<String>>| hunks.iter().flatten().map(|hunk| block(hunk)).collect::<Result<Vec<usize>, _>>();
    let replace = params.replace.iter().flatten().map(|r| Ok::<_, Fault>((block(&r.hunk_id)?, r.text.clone())));
    Ok(Verdicts { accept: all(&params.accept)?, reject: all(&params.reject)?, replace: replace.collect::<Result<_, _>>()? })
}

pub(super) const fn format(format: wire::EditFormat) -> paird_edit::Format {
    match format {
        wire::EditFormat::Diff => paird_edit::Format::Diff,
        wire::EditFormat::DiffFenced => paird_edit::Format::DiffFenced,
        wire::EditFormat::Whole => paird_edit::Format::Whole,
        wire::EditFormat::Udiff => paird_edit::Format::Udiff,
        wire::EditFormat::Patch => paird_edit::Format::Patch,
        wire::EditFormat::EditorDiff => paird_edit::Format::EditorDiff,
        wire::EditFormat::EditorDiffFenced => paird_edit::Format::EditorDiffFenced,
        wire::EditFormat::EditorWhole => paird_edit::Format::EditorWhole,
    }
}
