//! One daemon a work tree: starting, stopping, and where it may be.

use std::os::unix::fs::MetadataExt;

use paird_protocol::methods::{DaemonStatus, DaemonStop, SessionList};
use paird_protocol::{NoParams, Outcome};
use paird_tests::{DaemonProcess, Launch, Scratch, block, create, line, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_simultaneous_starters_one_serves() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let launch = Launch::new(&scratch);
    let mut starters: Vec<DaemonProcess> = (0..4).map(|_| launch.spawn()).collect();
    let pid = loop_status(&launch).await;
    let mut refused = 0;
    for daemon in &mut starters {
        if daemon.pid() == pid {
            continue;
        }
        let status = daemon.wait().await;
        assert!(!status.success(), "{status}");
        refused += 1;
        daemon.forget();
    }
    assert_eq!(refused, 3);
    assert_eq!(loop_status(&launch).await, pid, "who came first still serves");
}

/// The process id of whoever serves.
async fn loop_status(launch: &Launch) -> u32 {
    until("somebody serves", async || tokio::net::UnixStream::connect(launch.socket()).await.ok().map(drop)).await;
    let client = paird_tests::Client::connect(launch.socket()).await;
    client.call::<DaemonStatus>(NoParams {}).await.pid
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_socket_is_the_users_alone_and_goes_with_the_daemon() {
    let scratch = Scratch::repo(&[]);
    // Without --socket it lies in the run-time directory, under the work tree's key.
    let root = scratch.root();
    let key = paird_protocol::address::WorkTreeKey::of(&root);
    let socket = scratch.base().join("run/paird").join(format!("{key}.sock"));
    let launch = Launch::new(&scratch).on_default(socket.clone());
    let mut daemon = launch.start().await;
    let mode = |path: &std::path::Path| std::fs::symlink_metadata(path).unwrap().mode() & 0o777;
    assert_eq!((mode(&socket), mode(socket.parent().unwrap())), (0o600, 0o700));
    let status = daemon.client().await.call::<DaemonStatus>(NoParams {}).await;
    assert_eq!((status.socket, status.root), (socket.display().to_string(), root.display().to_string()));
    assert_eq!((status.pid, status.repository), (daemon.pid(), true));
    daemon.terminate().await;
    assert!(!socket.exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stale_socket_is_no_obstacle_and_a_strangers_file_is_kept() {
    let scratch = Scratch::repo(&[]);
    let mut daemon = DaemonProcess::start(&scratch).await;
    daemon.kill9().await;
    assert!(daemon.socket().exists(), "it had no time to take it away");
    daemon.restart().await;
    daemon.terminate().await;
    std::fs::write(daemon.socket(), "mine").unwrap();
    let mut refused = daemon.launch().spawn();
    assert!(!refused.wait().await.success());
    refused.forget();
    assert_eq!(std::fs::read_to_string(daemon.socket()).unwrap(), "mine");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_finishes_the_write() {
    let files: Vec<(String, String)> = (0..60).map(|n| (format!("f{n:02}.txt"), format!("{n}\nold\n"))).collect();
    let listed: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let names: Vec<&str> = listed.iter().map(|(path, _)| *path).collect();
    for by_signal in [true, false] {
        let scratch = Scratch::repo(&listed);
        let reply: String = names.iter().map(|path| block(path, "old", "new")).collect();
        let model = scratch.replay(&[line(&reply)]);
        let mut daemon = DaemonProcess::start(&scratch).await;
        let client = daemon.client().await;
        let mut events = client.events().await;
        let session = client.session(&model, &names).await;
        let (before, head) = (scratch.tree(), scratch.head());
        let turn = client.prompt(&session, "go").await;
        events.wait_kind("usage.updated").await;
        if by_signal {
            daemon.terminate().await;
        } else {
            client.call::<DaemonStop>(NoParams {}).await;
            assert!(daemon.wait().await.success());
            daemon.forget();
        }
        let after = names.iter().enumerate().fold(before.clone(), |tree, (n, path)| tree.with(path, &format!("{n}\nnew\n")));
        let now = scratch.tree();
        assert!(now == before || now == after, "{:?}", now.0.values().collect::<Vec<_>>());
        let committed = scratch.head() != head;
        assert_eq!(committed, now == after, "written and committed, or neither");
        assert_eq!(scratch.status(), "");
        daemon.restart().await;
        let client = daemon.client().await;
        let result = client.finished(&turn).await.report;
        assert_eq!(result.outcome == Outcome::Done, committed, "{result:?}");
        assert_eq!(scratch.tree(), now, "the next start has nothing to mend");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_needs_it_so_it_goes() {
    let scratch = Scratch::repo(&[]);
    let mut daemon = Launch::new(&scratch).arg("--idle-exit").arg("1").start().await;
    assert!(daemon.wait().await.success());
    assert!(!daemon.socket().exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_or_a_question_keeps_it() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let model = scratch.replay(&[line(&create("b.py", "y = 1"))]);
    let mut daemon = Launch::new(&scratch).arg("--idle-exit").arg("1").start().await;
    let client = daemon.able_client().await;
    let mut events = client.events().await;
    let session = client.session(&model, &["a.py"]).await;
    client.prompt(&session, "go").await;
    let question = events.wait_question().await;
    daemon.kill9().await;
    drop((client, events));
    // After the restart the question is open and nobody is there who could answer.
    daemon.restart().await;
    let patience = tokio::time::Instant::now() + std::time::Duration::from_millis(1500);
    tokio::time::timeout_at(patience, daemon.wait()).await.expect_err("a question is a need");
    let client = daemon.client().await;
    let patience = tokio::time::Instant::now() + std::time::Duration::from_millis(1500);
    tokio::time::timeout_at(patience, daemon.wait()).await.expect_err("a client is a need");
    client.answer(&question, "no").await;
    drop(client);
    assert!(daemon.wait().await.success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_subdirectory_means_the_whole_tree_and_a_linked_worktree_is_its_own() {
    let scratch = Scratch::repo(&[("sub/a.py", "x = 1\n")]);
    let below = Launch::bare(&scratch, &[]).in_dir(scratch.path("sub")).start().await;
    let status = below.client().await.call::<DaemonStatus>(NoParams {}).await;
    assert_eq!(status.root, scratch.root().display().to_string());

    let linked = scratch.base().join("linked");
    scratch.git(&["worktree", "add", "--quiet", "-b", "side", &linked.display().to_string()]);
    let socket = scratch.base().join("linked.sock");
    let launch = Launch::bare(&scratch, &["--repo", "."]).in_dir(linked.clone()).on(socket);
    let daemon = launch.start().await;
    let client = daemon.client().await;
    assert_eq!(client.call::<DaemonStatus>(NoParams {}).await.root, linked.display().to_string());
    let model = scratch.replay(&[line(&block("sub/a.py", "x = 1", "x = 2"))]);
    let session = client.session(&model, &["sub/a.py"]).await;
    let result = client.turn(&session, "two").await.report;
    assert_eq!(result.outcome, Outcome::Done, "{result:?}");
    assert_eq!(scratch.git(&["rev-parse", "side"]).trim(), result.commits[0].hash);
    assert_eq!(std::fs::read_to_string(linked.join("sub/a.py")).unwrap(), "x = 2\n");
    assert_eq!((scratch.read("sub/a.py").as_str(), scratch.status().as_str()), ("x = 1\n", ""));
    // Each has its own sessions.
    assert!(below.client().await.call::<SessionList>(NoParams {}).await.sessions.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn places_that_are_refused() {
    let scratch = Scratch::plain(&[]);
    let home = scratch.home().display().to_string();
    for (args, says) in
        [(vec!["--repo", &home], "--repo"), (vec!["--repo", "/"], "--repo"), (vec![], "--repo"), (vec!["--repo", "none"], "none")]
    {
        let mut daemon = Launch::bare(&scratch, &args).spawn();
        assert!(!daemon.wait().await.success(), "{args:?}");
        assert!(daemon.log().contains(says), "{args:?}: {}", daemon.log());
        daemon.forget();
    }
    // A plain directory works when it is named.
    let daemon = Launch::bare(&scratch, &["--repo", "."]).start().await;
    let status = daemon.client().await.call::<DaemonStatus>(NoParams {}).await;
    assert!(!status.repository);
    assert_eq!(status.notices.len(), 1, "it says what does not work");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_but_edits_is_written_to_the_work_tree() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let before = scratch.tree();
    let config = std::fs::read(scratch.path(".git/config")).unwrap();
    let model = scratch.replay(&[line(&block("a.py", "x = 1", "x = 2"))]);
    let mut daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let session = client.session(&model, &["a.py"]).await;
    client.turn(&session, "two").await;
    daemon.terminate().await;
    assert_eq!(scratch.tree(), before.with("a.py", "x = 2\n"));
    assert_eq!(std::fs::read(scratch.path(".git/config")).unwrap(), config, "git's configuration is the person's");
    assert_eq!(scratch.status(), "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_connections_are_served() {
    let scratch = Scratch::plain(&[]);
    let daemon = DaemonProcess::start(&scratch).await;
    let mut clients = Vec::new();
    for _ in 0..500 {
        clients.push(daemon.client().await);
    }
    for client in &clients {
        client.call::<SessionList>(NoParams {}).await;
    }
    assert_eq!(clients[0].call::<DaemonStatus>(NoParams {}).await.connections, 500);
}
