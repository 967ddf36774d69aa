//! The `git` program, without anything of the user's: no configuration, a fixed identity and fixed dates.

use std::path::Path;
use std::process::{Command, Output};

/// Runs git in `dir` with a cleared environment.
#[must_use]
pub fn run(dir: &Path, home: &Path, args: &[&str]) -> Output {
    let mut git = Command::new("git");
    git.args(args).current_dir(dir).env_clear();
    for (name, value) in environment(home) {
        git.env(name, value);
    }
    git.env("GIT_AUTHOR_DATE", "2024-01-02T03:04:05Z").env("GIT_COMMITTER_DATE", "2024-01-02T03:04:05Z");
    git.output().expect("git is installed")
}

/// What git needs of an environment, here and in the daemon.
#[must_use]
pub fn environment(home: &Path) -> Vec<(&'static str, String)> {
    let home = home.to_string_lossy().into_owned();
    vec![
        ("PATH", std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".to_owned())),
        ("HOME", home),
        ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
        ("GIT_CONFIG_GLOBAL", "/dev/null".to_owned()),
        ("GIT_TERMINAL_PROMPT", "0".to_owned()),
        ("LC_ALL", "C".to_owned()),
    ]
}
