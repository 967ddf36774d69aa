//! The program `pair` against a real daemon: what it says where, its exit codes, and what Ctrl-C ends.

use paird_protocol::methods::{DaemonStatus, METHODS, QuestionList, SessionList};
use paird_protocol::{NoParams, Outcome, PROMPT_BYTES_MAX, QuestionListParams, TurnResult, TurnState};
use paird_tests::{DaemonProcess, Launch, Pair, Said, Scratch, block, create, line, paced, until};
use rustix::process::Signal;
use serde_json::{Value, json};

/// A reply that would take minutes.
fn endless() -> Value {
    paced(&"and so on ".repeat(1000), 10, 200)
}

fn code(said: &Said) -> i32 {
    said.code.unwrap_or_else(|| panic!("it was killed: {said:?}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exit_codes() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n"), ("b.py", "y = 1\n")]);
    let _daemon = DaemonProcess::start(&scratch).await;
    let pair = Pair::new(&scratch);
    let part = block("a.py", "x = 1", "x = 2") + &block("b.py", "not there", "y = 2");
    let held = scratch.replay(&[line(&part), line("I cannot.")]);
    let refused = scratch.replay(&[json!({"error": {"status": 401}})]);
    let fine = scratch.replay(&[line("hello")]);
    let outside = scratch.base().join("outside.py").display().to_string();
    std::fs::write(&outside, "").unwrap();
    for (args, expected, says) in [
        (&["--new", "--model", &fine, "hi"][..], 0, ""),
        (&["--new", "--model", &held, "both", "a.py", "b.py"], 3, "held"),
        (&["--new", "--model", &refused, "hi"], 5, ""),
        (&["--new", "--model", "nobody/model", "hi"], 5, "nobody"),
        (&["--model", "nobody/model", "hi"], 5, "nobody"),
        (&["--new", "--model", "openai/gpt-x", "hi"], 5, "OPENAI_API_KEY"),
        (&["--new", "hi"], 5, "no model is set"),
        (&["--new", "hi", &outside], 6, "outside the work tree"),
        (&["--new", "hi", "../outside.py"], 6, "outside the work tree"),
        (&["--new", "hi", ".git/config"], 6, ".git"),
        (&["--new", "hi", "."], 6, "work tree itself"),
        (&["add", "../outside.py"], 6, "outside the work tree"),
        (&["add", ".git/config"], 6, ".git"),
        (&["--new", "hi", "none.py"], 1, "none.py"),
        (&["--new", "--read", "a.py", "hi", "a.py"], 2, "a.py"),
        (&["--new", "--frobnicate", "hi"], 2, "--frobnicate"),
        (&["--repo", "none", "hi"], 2, "none"),
        (&["log", "-n", "501"], 2, "500"),
        (&["diff", "no-such-commit"], 1, ""),
    ] {
        let said = pair.run(args).await;
        assert_eq!(code(&said), expected, "{args:?}: {said:?}");
        assert!(said.err.contains(says), "{args:?}: {said:?}");
    }
    let home = Pair::new(&scratch).run(&["--repo", &scratch.home().display().to_string(), "hi"]).await;
    assert_eq!(code(&home), 6, "{home:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_refused_opens_no_session() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let daemon = DaemonProcess::start(&scratch).await;
    let pair = Pair::new(&scratch);
    let long = scratch.base().join("long.txt");
    std::fs::write(&long, "x".repeat(PROMPT_BYTES_MAX + 1)).unwrap();
    let said = pair.start_reading(&long, &["-"]).end().await;
    assert_eq!((code(&said), said.err.contains("longer than")), (2, true), "{said:?}");
    for args in [&["hi", "none.py"][..], &["--model", "nobody/x", "hi"], &["hi", "../x.py"]] {
        assert_ne!(code(&pair.run(args).await), 0, "{args:?}");
    }
    assert!(daemon.client().await.call::<SessionList>(NoParams {}).await.sessions.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_of_the_daemon_is_a_cancelled_turn() {
    for (json, by_signal) in [(false, true), (true, true), (true, false)] {
        let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
        let model = scratch.replay(&[endless()]);
        let mut daemon = DaemonProcess::start(&scratch).await;
        let pair = Pair::new(&scratch);
        let mut args = vec!["--new", "--model", &model, "go"];
        if json {
            args.push("--json");
        }
        let client = daemon.client().await;
        let mut events = client.events().await;
        let running = pair.start(&args);
        events.wait_kind("reply.delta").await;
        if by_signal {
            daemon.terminate().await;
        } else {
            assert_eq!(code(&pair.run(&["stop"]).await), 0);
            assert!(daemon.wait().await.success());
            daemon.forget();
        }
        let said = running.end().await;
        assert_eq!(code(&said), 130, "{said:?}");
        assert!(said.err.contains("cancelled"), "{said:?}");
        if json {
            let result: TurnResult = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"));
            assert_eq!(result.report.outcome, Outcome::Cancelled);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ctrl_c_ends_ones_own_turn_alone() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let model = scratch.replay(&[endless(), line(&block("a.py", "x = 1", "x = 2"))]);
    let daemon = DaemonProcess::start(&scratch).await;
    let pair = Pair::new(&scratch);
    let client = daemon.client().await;
    let mut events = client.events().await;
    let session = client.session(&model, &["a.py"]).await;
    let first = pair.start(&["--session", &session, "first"]);
    events.wait_kind("reply.delta").await;
    let second = pair.start(&["--session", &session, "second"]);
    second.says("waiting for the turn \"first\"").await;
    let third = pair.start(&["--session", &session, "third"]);
    third.says("waiting for the turn \"first\"").await;
    second.signal(Signal::INT);
    assert_eq!(code(&second.end().await), 130);
    let states: Vec<TurnState> = client.read(&session).await.turns.iter().map(|turn| turn.state).collect();
    assert_eq!(states, [TurnState::Running, TurnState::Finished, TurnState::Queued]);
    first.signal(Signal::TERM);
    assert_eq!(code(&first.end().await), 130);
    let said = third.end().await;
    assert_eq!(code(&said), 0, "{said:?}");
    assert_eq!(scratch.read("a.py"), "x = 2\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_behind_an_open_question_says_so() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let model = scratch.replay(&[line(&create("new.py", "y = 1")), line("hello")]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.able_client().await;
    let mut events = client.events().await;
    let session = client.session(&model, &["a.py"]).await;
    client.prompt(&session, "make a file").await;
    let question = events.wait_question().await;
    let waiting = Pair::new(&scratch).start(&["--session", &session, "and then"]);
    waiting.says("waiting for the turn \"make a file\"").await;
    waiting.says("Create the new file new.py?").await;
    waiting.says(&format!("pair answer {}", question.question_id)).await;
    waiting.says("--new").await;
    let said = Pair::new(&scratch).run(&["answer", &question.question_id, "yes"]).await;
    assert_eq!(code(&said), 0, "{said:?}");
    let said = waiting.end().await;
    assert_eq!((code(&said), said.out.as_str()), (0, "hello\n"), "{said:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_prompt_asks_what_is_open() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let model = scratch.replay(&[line(&create("new.py", "y = 1"))]);
    let mut daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.able_client().await;
    let mut events = client.events().await;
    let session = client.session(&model, &["a.py"]).await;
    let turn = client.prompt(&session, "make a file").await;
    events.wait_question().await;
    // The client and the daemon are gone before anybody has answered.
    daemon.terminate().await;
    daemon.restart().await;
    let mut prompt = Pair::new(&scratch).start_at_terminal(&["--session", &session]);
    prompt.says("the turn \"make a file\" waits for an answer").await;
    prompt.says("Create the new file new.py? [Y/n]").await;
    prompt.types("y\n");
    prompt.says("commit ").await;
    prompt.types("/exit\n");
    let said = prompt.end().await;
    assert_eq!(code(&said), 0, "{said:?}");
    let client = daemon.client().await;
    assert_eq!(client.finished(&turn).await.report.outcome, Outcome::Done);
    assert_eq!(scratch.read("new.py"), "y = 1\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_at_a_terminal_answers_for_the_turn_before() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let model = scratch.replay(&[line(&create("new.py", "y = 1")), line("hello")]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.able_client().await;
    let mut events = client.events().await;
    let session = client.session(&model, &["a.py"]).await;
    let turn = client.prompt(&session, "make a file").await;
    events.wait_question().await;
    let mut behind = Pair::new(&scratch).start_at_terminal(&["--session", &session, "and then"]);
    behind.says("Create the new file new.py? [Y/n]").await;
    behind.types("n\n");
    let said = behind.end().await;
    assert_eq!((code(&said), said.out.contains("hello")), (0, true), "{said:?}");
    client.finished(&turn).await;
    assert!(!scratch.path("new.py").exists());
    assert!(client.call::<QuestionList>(QuestionListParams::default()).await.questions.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_named_socket_the_daemon_that_serves_is_used() {
    let scratch = Scratch::repo(&[]);
    let daemon = DaemonProcess::start(&scratch).await;
    let other = Pair::new(&scratch).on_default();
    let status = other.run(&["status", "--json"]).await;
    let status: Value = serde_json::from_str(&status.out).unwrap_or_else(|error| panic!("{error}: {status:?}"));
    assert_eq!(status["pid"], daemon.pid());
    assert_eq!(other.run(&["socket"]).await.out.trim(), daemon.socket().display().to_string());
    // Who names another socket is told of this one.
    let said = Pair::new(&scratch).on(&scratch.base().join("other.sock")).run(&["map"]).await;
    assert_eq!(code(&said), 7, "{said:?}");
    assert!(said.err.contains(&format!("on the socket {}", daemon.socket().display())), "{said:?}");
    // A socket in the work tree is refused before anything is made beside it.
    let said = Pair::new(&scratch).on(&scratch.path("d.sock")).run(&["socket", "--start"]).await;
    assert_eq!((code(&said), said.err.contains("in the work tree")), (7, true), "{said:?}");
    assert_eq!(scratch.status(), "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pair_that_comes_to_a_replaced_work_tree_starts_the_next_daemon() {
    for args in [&["map"][..], &["socket", "--start"]] {
        let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
        let mut daemon = Launch::new(&scratch).start().await;
        let before = daemon.pid();
        std::fs::rename(scratch.root(), scratch.base().join("old")).unwrap();
        scratch.git_in(&scratch.base(), &["clone", "--quiet", "old", "work"]);
        let pair = Pair::new(&scratch);
        let said = pair.run(args).await;
        let socket = format!("{}\n", daemon.socket().display());
        assert_eq!((code(&said), said.out == "a.py\n" || said.out == socket), (0, true), "{said:?}");
        assert_ne!(daemon.client().await.call::<DaemonStatus>(NoParams {}).await.pid, before, "{args:?}: the next daemon answers there");
        assert!(daemon.wait().await.success());
        daemon.forget();
        assert_eq!(code(&pair.run(&["stop"]).await), 0);
        until("the daemon that pair started is gone", async || (!daemon.socket().exists()).then_some(())).await;
    }
}

/// It takes as long as a client waits for an answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_daemon_that_says_nothing_is_named() {
    let scratch = Scratch::repo(&[]);
    let daemon = DaemonProcess::start(&scratch).await;
    daemon.signal(Signal::STOP);
    let pair = Pair::new(&scratch);
    let every = [&["status"][..], &["ls"], &["undo"], &["stop"], &["socket", "--start"], &["--new", "hi"]];
    let running: Vec<_> = every.iter().map(|args| pair.start(args)).collect();
    for (args, running) in every.iter().zip(running) {
        let said = running.end().await;
        assert_eq!((code(&said), said.out.as_str()), (7, ""), "{args:?}: {said:?}");
        for part in ["does not answer", "`pair stop`", &format!("`kill -9 {}`", daemon.pid())] {
            assert!(said.err.contains(part), "{args:?}: {said:?}");
        }
    }
    daemon.signal(Signal::CONT);
    assert_eq!(code(&pair.run(&["status"]).await), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_daemon_that_dies_under_a_turn_is_told_of_in_plain_words() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let model = scratch.replay(&[endless()]);
    let mut daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let mut events = client.events().await;
    let running = Pair::new(&scratch).start(&["--new", "--model", &model, "go"]);
    events.wait_kind("reply.delta").await;
    daemon.kill9().await;
    let said = running.end().await;
    assert_eq!(code(&said), 1, "{said:?}");
    for part in ["the daemon ended in the middle of the turn\n", "the next command starts it again", "`pair diff`"] {
        assert!(said.err.contains(part), "{said:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_undo_that_meets_a_lock_is_not_sent_another_way() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let model = scratch.replay(&[line(&block("a.py", "x = 1", "x = 2"))]);
    let _daemon = DaemonProcess::start(&scratch).await;
    let pair = Pair::new(&scratch);
    assert_eq!(code(&pair.run(&["--new", "--model", &model, "two", "a.py"]).await), 0);
    scratch.write(".git/index.lock", "");
    let said = pair.run(&["undo"]).await;
    assert_eq!((code(&said), said.err.contains("index.lock"), said.err.contains("--turn")), (1, true, false), "{said:?}");
    std::fs::remove_file(scratch.path(".git/index.lock")).unwrap();
    let said = pair.run(&["undo"]).await;
    assert_eq!((code(&said), scratch.read("a.py").as_str()), (0, "x = 1\n"), "{said:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hints_name_commands_and_no_methods() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let _daemon = DaemonProcess::start(&scratch).await;
    let pair = Pair::new(&scratch);
    for (args, says) in [
        (&["undo"][..], "`pair log` shows which commits are paird's"),
        (&["apply", "--session", "s0"], "`pair sessions` lists them"),
        (&["--new", "hi"], "name one with `pair --model`, or in PAIRD_MODEL"),
        (&["--model", "openai/gpt-x", "hi"], "set OPENAI_API_KEY in the environment of `pair`"),
        (&["drop", "none.py"], "`pair ls` has the exact names"),
        (&["undo", "--edit", "e0"], ""),
    ] {
        let said = pair.run(args).await;
        assert!(code(&said) != 0 && said.err.contains(says), "{args:?}: {said:?}");
        let named = METHODS.iter().find(|method| method.name.contains('/') && said.err.contains(method.name));
        assert!(named.is_none(), "{args:?}: {said:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_undo_that_is_refused_says_what_else_can_be_done() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n"), ("b.py", "y = 1\n")]);
    let both = |from: &str, to: &str| {
        block("a.py", &format!("x = {from}"), &format!("x = {to}")) + &block("b.py", &format!("y = {from}"), &format!("y = {to}"))
    };
    let model = scratch.replay(&[line(&both("1", "2")), line(&both("2", "3"))]);
    let daemon = DaemonProcess::start(&scratch).await;
    let pair = Pair::new(&scratch);
    let said = pair.run(&["--new", "--model", &model, "--json", "two", "a.py", "b.py"]).await;
    let first: TurnResult = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"));
    // A commit of the person's on top: HEAD is not moved over it, and the edits can go without.
    scratch.git(&["commit", "--quiet", "--allow-empty", "--message", "mine"]);
    let said = pair.run(&["undo"]).await;
    let hint = format!("`pair undo --turn {}` takes the edits of the last turn back by a new commit; it refuses, too", first.turn_id);
    assert!(code(&said) == 1 && said.err.contains(&hint), "{said:?}");

    let said = pair.run(&["--no-commit", "--json", "three"]).await;
    let second: TurnResult = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"));
    let edit = |path: &str| second.report.edits.iter().find(|edit| edit.path == path).unwrap().edit_id.clone();
    scratch.write("a.py", "x = 4\n");
    let said = pair.run(&["undo"]).await;
    let undo = format!("`pair undo --edit {}`", edit("b.py"));
    for part in [&format!("the edits of turn {} are not taken back: a.py", second.turn_id), &undo, "a.py is left to put right by hand"] {
        assert!(code(&said) == 3 && said.err.contains(part), "{part}: {said:?}");
    }
    let said = pair.run(&["undo", "--edit", &edit("b.py")]).await;
    assert_eq!((code(&said), scratch.read("a.py").as_str(), scratch.read("b.py").as_str()), (0, "x = 4\n", "y = 2\n"), "{said:?}");
    drop(daemon);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_session_has_no_diff_and_every_commit_of_paird_a_star() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let model = scratch.replay(&[line(&block("a.py", "x = 2", "x = 3"))]);
    let daemon = DaemonProcess::start(&scratch).await;
    let pair = Pair::new(&scratch);
    // The person's own change is committed first, as the edit is about the same line.
    scratch.write("a.py", "x = 2\n");
    let said = pair.run(&["--new", "--model", &model, "three", "a.py"]).await;
    assert_eq!(code(&said), 0, "{said:?}");
    let log = pair.run(&["log"]).await.out;
    let stars: Vec<bool> = log.lines().map(|line| line.contains(" * ")).collect();
    assert_eq!(stars, [true, true, false], "{log}");
    daemon.client().await.session(&model, &[]).await;
    let said = pair.run(&["diff"]).await;
    assert_eq!((code(&said), said.out.as_str()), (0, ""), "{said:?}");
    assert!(said.err.contains("pair diff HEAD"), "{said:?}");
    assert!(pair.run(&["diff", "HEAD"]).await.out.contains("+x = 3"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_line_says_what_the_answer_made_of_it() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n"), ("b.py", "y = 1\n")]);
    let part = block("a.py", "x = 1", "x = 2") + &block("b.py", "not there", "y = 2");
    let model = scratch.replay(&[line(&part), line(&part), line("I cannot.")]);
    let _daemon = DaemonProcess::start(&scratch).await;
    let mut pair = Pair::new(&scratch).start_at_terminal(&["--new", "--model", &model, "both", "a.py", "b.py"]);
    pair.says("Apply the other 1?").await;
    pair.types("apply\n");
    let said = pair.end().await;
    assert_eq!(code(&said), 3, "a block is still without a place: {said:?}");
    assert!(!said.out.contains("proposals wait"), "{said:?}");
    assert_eq!(said.out.matches("not placed: block").count(), 1, "{said:?}");
    assert_eq!(scratch.read("a.py"), "x = 2\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn proposals_that_were_applied_are_taken_back_by_their_commit() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let model = scratch.replay(&[line(&block("a.py", "x = 1", "x = 2"))]);
    let head = scratch.head();
    let _daemon = DaemonProcess::start(&scratch).await;
    let pair = Pair::new(&scratch);
    let said = pair.run(&["--new", "--review", "--model", &model, "two", "a.py"]).await;
    assert_eq!((code(&said), scratch.read("a.py").as_str()), (3, "x = 1\n"), "{said:?}");
    let said = pair.run(&["apply"]).await;
    assert_eq!((code(&said), scratch.read("a.py").as_str()), (0, "x = 2\n"), "{said:?}");
    assert_ne!(scratch.head(), head);
    let said = pair.run(&["undo"]).await;
    assert_eq!((code(&said), scratch.read("a.py").as_str()), (0, "x = 1\n"), "{said:?}");
    assert_eq!((scratch.head(), scratch.status().as_str()), (head, ""));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_that_waits_is_applied_also_where_two_proposals_are_of_one_file() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n\n\ny = 1\n"), ("b.py", "z = 1\n")]);
    let first = block("a.py", "x = 1", "x = 2") + &block("b.py", "z = 1", "z = 2");
    let model = scratch.replay(&[line(&first), line(&block("a.py", "y = 1", "y = 2"))]);
    let _daemon = DaemonProcess::start(&scratch).await;
    let pair = Pair::new(&scratch);
    pair.run(&["--new", "--review", "--model", &model, "first", "a.py", "b.py"]).await;
    pair.run(&["--review", "--model", &model, "second"]).await;
    let said = pair.run(&["apply"]).await;
    assert_eq!((code(&said), said.out.matches("applied ").count()), (0, 3), "{said:?}");
    assert_eq!((scratch.read("a.py").as_str(), scratch.read("b.py").as_str()), ("x = 2\n\n\ny = 2\n", "z = 2\n"));
}
