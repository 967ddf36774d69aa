//! `pair`: paird at the terminal. Thin: what to do with a message is the daemon's to decide, this program shows it.
//!
//! Start with `args` (what can be said), then `turn` (a message followed to its end) and `show` (what reaches the
//! terminal, and what never does).

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod args;
mod commands;
mod connection;
mod demo;
mod exit;
mod hints;
mod history;
mod input;
mod one_shot;
mod plain;
mod prompt_loop;
mod question;
mod repo;
mod session;
mod show;
mod slash;
mod start;
mod turn;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Args, Command, Intent};
use crate::exit::{Exit, Failure};
use crate::repo::WorkTree;
use crate::show::{Look, Screen};

fn main() -> ExitCode {
    let args = Args::parse();
    let mut screen = Screen::of_this_process(Look::of_this_process(args.common.quiet, args.common.json));
    let exit = run(args, &mut screen).unwrap_or_else(|failure| {
        screen.failure(&failure);
        failure.exit
    });
    exit.into()
}

fn run(mut args: Args, screen: &mut Screen) -> Result<Exit, Failure> {
    let terminal = std::io::stdin().is_terminal();
    let intent = args.intent(terminal, &Path::is_file).map_err(Failure::usage)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Failure, format!("start the runtime: {error}")))?;
    let exit = runtime.block_on(async {
        if let Intent::Command(Command::Demo) = intent {
            return demo::run(screen).await;
        }
        let here = std::env::current_dir().map_err(|error| Failure::new(Exit::Failure, format!("find the current directory: {error}")))?;
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let tree = WorkTree::find(args.common.repo.as_deref(), &here, home.as_deref())?;
        match intent {
            Intent::Command(command) => commands::run(tree, &args.common, command, screen).await,
            Intent::Message { message, files } => one_shot::run(tree, &args, message, &files, screen).await,
            Intent::Prompt => prompt_loop::run(tree, &args, screen).await,
        }
    });
    // Nothing that is still running has anything to say.
    runtime.shutdown_background();
    exit
}
