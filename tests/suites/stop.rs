//! How a daemon ends: turns cancelled and told of, questions kept, calls that come too late, a work tree that is no more.

use paird_protocol::methods::{DaemonStatus, DaemonStop, QuestionList, SessionList, SessionWait};
use paird_protocol::{ErrorKind, NoParams, Outcome, QuestionListParams, SubscribeParams, TurnState, WaitParams};
use paird_tests::{DaemonProcess, Launch, Scratch, block, create, line, paced, until};

/// A reply that edits, and would take minutes to come.
fn endless() -> serde_json::Value {
    paced(&(block("a.py", "x = 1", "x = 2") + &"and so on ".repeat(1000)), 10, 200)
}

/// Stops it in one of the two ways.
async fn stop(daemon: &mut DaemonProcess, by_signal: bool) {
    if by_signal {
        daemon.terminate().await;
    } else {
        daemon.client().await.call::<DaemonStop>(NoParams {}).await;
        assert!(daemon.wait().await.success());
        daemon.forget();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_cancels_turns_and_tells_everybody_first() {
    for by_signal in [true, false] {
        let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
        let model = scratch.replay(&[endless(), line("never said")]);
        let mut daemon = DaemonProcess::start(&scratch).await;
        let client = daemon.client().await;
        let listener = daemon.client().await;
        let (_, mut events) = listener.subscribe(SubscribeParams::default()).await;
        let session = client.session(&model, &["a.py"]).await;
        let (before, head) = (scratch.tree(), scratch.head());
        let (running, queued) = (client.prompt(&session, "go").await, client.prompt(&session, "and then").await);
        events.wait_kind("reply.delta").await;
        let wait = |turn: &str| client.call::<SessionWait>(WaitParams { turn_id: turn.to_owned(), timeout_ms: Some(60_000) });
        let stopped = async {
            // The waits are there before the stop: a later call of the same connection is answered.
            client.read(&session).await;
            stop(&mut daemon, by_signal).await;
        };
        let (first, second, ()) = tokio::join!(wait(&running), wait(&queued), stopped);
        for wait in [first, second] {
            assert_eq!((wait.state, wait.result.map(|r| r.report.outcome)), (TurnState::Finished, Some(Outcome::Cancelled)));
        }
        let mut finished = Vec::new();
        while let Some(event) = events.next().await {
            finished.extend((event.body.kind() == "turn.finished").then(|| event.turn_id.unwrap()));
        }
        finished.sort();
        let mut both = [running.clone(), queued];
        both.sort();
        assert_eq!(finished, both, "the last events come before the end");
        assert_eq!((scratch.tree(), scratch.head()), (before, head));
        daemon.restart().await;
        let result = daemon.client().await.finished(&running).await.report;
        assert_eq!(result.outcome, Outcome::Cancelled);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_leaves_a_question_open_and_drops_what_is_queued_behind_it() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let model = scratch.replay(&[line(&create("new.py", "y = 1")), line("never said")]);
    let mut daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.able_client().await;
    let mut events = client.events().await;
    let session = client.session(&model, &["a.py"]).await;
    let turn = client.prompt(&session, "go").await;
    let question = events.wait_question().await;
    let queued = client.prompt(&session, "and then").await;
    let before = scratch.tree();
    // The client that could answer is still there, and leaves because the daemon does.
    daemon.terminate().await;
    assert_eq!(scratch.tree(), before, "nobody has said yes");
    daemon.restart().await;
    let client = daemon.able_client().await;
    let open = client.call::<QuestionList>(QuestionListParams::default()).await.questions;
    assert_eq!(open, std::slice::from_ref(&question));
    assert_eq!(client.finished(&queued).await.report.outcome, Outcome::Cancelled);
    client.answer(&question, "yes").await;
    assert_eq!(client.finished(&turn).await.report.outcome, Outcome::Done);
    assert_eq!(scratch.read("new.py"), "y = 1\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_work_tree_that_is_put_anew_gets_a_daemon_of_its_own() {
    for replaced in [true, false] {
        let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
        let model = scratch.replay(&[endless(), line(&block("a.py", "x = 1", "x = 2"))]);
        let mut daemon = Launch::new(&scratch).start().await;
        let client = daemon.client().await;
        let mut events = client.events().await;
        let session = client.session(&model, &["a.py"]).await;
        let turn = client.prompt(&session, "go").await;
        events.wait_kind("reply.delta").await;
        let old = scratch.base().join("old");
        std::fs::rename(scratch.root(), &old).unwrap();
        if replaced {
            scratch.git_in(&scratch.base(), &["clone", "--quiet", "old", "work"]);
        }
        // Who asks for anything is told why, and what to do.
        let error = daemon.client().await.fails::<SessionList>(NoParams {}, ErrorKind::Overloaded).await;
        assert!(error.message.contains("removed or replaced") && error.data.retryable, "{}", error.message);
        assert!(error.data.hint.is_some());
        events.wait_finished(&turn).await;
        assert!(daemon.wait().await.success());
        daemon.forget();
        assert_eq!(std::fs::read_to_string(old.join("a.py")).unwrap(), "x = 1\n");
        if !replaced {
            std::fs::rename(&old, scratch.root()).unwrap();
        }
        daemon.restart().await;
        let client = daemon.client().await;
        assert_eq!(client.finished(&turn).await.report.outcome, Outcome::Cancelled, "the sessions are kept");
        let result = client.turn(&session, "two").await.report;
        assert_eq!((result.outcome, scratch.read("a.py").as_str()), (Outcome::Done, "x = 2\n"), "{result:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_sockets_do_not_make_two_daemons() {
    let scratch = Scratch::repo(&[]);
    let mut first = DaemonProcess::start(&scratch).await;
    let elsewhere = Launch::new(&scratch).on(scratch.base().join("other.sock"));
    // By another way to the same tree, too.
    let link = scratch.base().join("link");
    std::os::unix::fs::symlink(scratch.root(), &link).unwrap();
    let by_link = Launch::bare(&scratch, &["--repo", &link.display().to_string()]).on(scratch.base().join("third.sock"));
    for launch in [&elsewhere, &by_link] {
        let mut second = launch.spawn();
        assert!(!second.wait().await.success());
        let said = second.log();
        let last = said.lines().last().unwrap();
        let socket = first.socket().display().to_string();
        assert!(last.contains(&format!("serves {} on the socket {socket}", scratch.root().display())), "{said}");
        assert!(last.contains(&format!("PAIRD_SOCKET={socket} pair stop")), "{said}");
        second.forget();
    }
    first.client().await.call::<DaemonStatus>(NoParams {}).await;
    // Who is killed gives way.
    first.kill9().await;
    let second = elsewhere.start().await;
    assert_eq!(second.client().await.call::<DaemonStatus>(NoParams {}).await.pid, second.pid());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_socket_leaves_nothing_behind() {
    let scratch = Scratch::repo(&[("m.py", "x = 1\n")]);
    let note = scratch.base().join("note.txt");
    std::fs::write(&note, "mine").unwrap();
    let before = scratch.tree();
    for (socket, says) in [
        (scratch.path("m.py"), "in the work tree"),
        (scratch.path("new.sock"), "in the work tree"),
        (scratch.path(".git/new.sock"), "in the work tree"),
        (note.clone(), "not a socket"),
    ] {
        let mut refused = Launch::new(&scratch).on(socket.clone()).spawn();
        assert!(!refused.wait().await.success(), "{}", socket.display());
        let said = refused.log();
        assert!(said.lines().last().unwrap().contains(says), "{said}");
        refused.forget();
        assert!(!socket.with_extension("lock").exists(), "{}", socket.display());
    }
    assert_eq!(scratch.tree(), before);
    assert!(!scratch.path(".git/new.sock").exists());
    assert_eq!(std::fs::read_to_string(&note).unwrap(), "mine");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_with_nothing_to_do_takes_no_time() {
    let scratch = Scratch::repo(&[]);
    let mut daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let (_, mut events) = client.subscribe(SubscribeParams::default()).await;
    let idle = daemon.client().await;
    stop(&mut daemon, false).await;
    idle.closed().await;
    assert!(events.next().await.is_none());
    // The socket is gone at once, so that the next client starts a daemon instead of finding this one.
    until("the socket is gone", async || (!daemon.socket().exists()).then_some(())).await;
}
