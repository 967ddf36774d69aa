//! `paird`: the daemon's program. `pair` starts it; by hand, `paird serve --foreground` shows what it does.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::{Parser, Subcommand};
use paird::daemon::{self, Options};
use paird_base::limits::LOG_FILES_KEPT;
use tracing_subscriber::EnvFilter;

#[derive(Parser)]
#[command(name = "paird", version, about = "A pair-programming daemon for one work tree")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve one work tree on a Unix socket.
    Serve {
        /// The work tree: a directory in a git repository, or a plain directory. Default: the repository around here.
        #[arg(long, value_name = "DIR")]
        repo: Option<PathBuf>,
        /// The socket's path. Default: one for each work tree in $XDG_RUNTIME_DIR/paird.
        #[arg(long, value_name = "PATH", env = "PAIRD_SOCKET")]
        socket: Option<PathBuf>,
        /// Log to standard error, too.
        #[arg(long)]
        foreground: bool,
        /// Become the leader of a process session of its own, so that the starter's terminal takes nothing with it.
        #[arg(long, conflicts_with = "foreground")]
        detach: bool,
        /// Exit after so many seconds without clients, turns and questions; 0 for never.
        #[arg(long, value_name = "SECONDS", default_value_t = 1800, env = "PAIRD_IDLE_EXIT")]
        idle_exit: u64,
    },
}

fn main() -> ExitCode {
    match run(Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("paird: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: Args) -> anyhow::Result<()> {
    let Command::Serve { repo, socket, foreground, detach, idle_exit } = args.command;
    if detach {
        rustix::process::setsid().context("start a process session")?;
    }
    let here = std::env::current_dir().context("find the current directory")?;
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let root = daemon::find_work_tree(repo.as_deref(), &here, home.as_deref())?;
    let socket = socket.map(|path| here.join(path));
    // The daemon must not keep the directory it was started in from being unmounted or removed.
    std::env::set_current_dir("/").context("leave the current directory")?;
    start_log(&root, foreground)?;
    let options = Options { root, socket, idle_exit: (idle_exit > 0).then(|| Duration::from_secs(idle_exit)) };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("start the runtime")?;
    let result = runtime.block_on(daemon::serve(options));
    runtime.shutdown_timeout(Duration::from_secs(1));
    Ok(result?)
}

/// One log file a day in the state directory; `RUST_LOG` says what it holds. Prompts and replies are not in it.
fn start_log(root: &std::path::Path, foreground: bool) -> anyhow::Result<()> {
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::util::SubscriberInitExt;

    let dir = daemon::state_dir(root)?.join("logs");
    std::fs::create_dir_all(&dir).with_context(|| format!("make {}", dir.display()))?;
    let file = tracing_appender::rolling::Builder::new()
        .rotation(tracing_appender::rolling::Rotation::DAILY)
        .filename_prefix("paird")
        .filename_suffix("log")
        .max_log_files(LOG_FILES_KEPT)
        .build(&dir)
        .with_context(|| format!("open the log in {}", dir.display()))?;
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::registry()
        .with(filter)
        .with(tracing_subscriber::fmt::layer().with_ansi(false).with_writer(std::sync::Mutex::new(file)))
        .with(foreground.then(|| tracing_subscriber::fmt::layer().with_ansi(false).with_writer(std::io::stderr)))
        .try_init()
        .context("start the log")
}
