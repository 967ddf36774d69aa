//! Every method of the protocol over the real socket: that it does its work, and that it refuses what it must.

use std::collections::BTreeSet;

use paird_protocol::ErrorKind;
use paird_protocol::methods::METHODS;
use paird_tests::{DaemonProcess, Scratch, Wire, block, create, line};
use serde_json::{Value, json};

/// A method with params that it takes and params that it refuses.
struct Case {
    method: &'static str,
    good: Value,
    bad: Value,
    kind: ErrorKind,
}

fn case(method: &'static str, good: Value, bad: Value, kind: ErrorKind) -> Case {
    Case { method, good, bad, kind }
}

/// What the cases speak of.
struct World {
    /// A session with one finished turn.
    session: String,
    turn: String,
    edit: String,
    /// A session whose turn asks a question.
    question: String,
    /// A proposal without a session.
    loose: String,
    /// Another one.
    other_loose: String,
    subscription: String,
}

fn cases(world: &World) -> Vec<Case> {
    use ErrorKind::{InvalidParams, NotFound, UnsupportedPath, Vcs};
    let World { session, turn, edit, question, loose, other_loose, subscription } = world;
    let of = |session: &str| json!({"sessionId": session});
    let nobody = || of("s0");
    let misspelt = || json!({"mispelt": true});
    let reply = block("a.py", "x = 2", "x = 3");
    vec![
        case("initialize", json!({"clientName": "c"}), json!({"env": {"PATH": "/"}}), InvalidParams),
        case("rpc.discover", json!({}), misspelt(), InvalidParams),
        case("daemon/status", json!({}), misspelt(), InvalidParams),
        case("events/subscribe", json!({"kinds": ["turn."]}), json!({"sinceSeq": "all"}), InvalidParams),
        case("events/unsubscribe", json!({"subscriptionId": subscription}), json!({"subscriptionId": "none"}), NotFound),
        case("session/new", json!({"files": ["a.py"]}), json!({"files": ["../a.py"]}), UnsupportedPath),
        case("session/list", json!({}), misspelt(), InvalidParams),
        case("session/read", of(session), nobody(), NotFound),
        case(
            "session/configure",
            json!({"sessionId": session, "applyMode": "review"}),
            json!({"sessionId": session, "aplyMode": "review"}),
            InvalidParams,
        ),
        case("session/prompt", json!({"sessionId": session, "text": "go on"}), json!({"sessionId": session, "text": " \n"}), InvalidParams),
        case("session/wait", json!({"turnId": turn}), json!({"turnId": "t0"}), NotFound),
        case("session/cancel", of(session), nobody(), NotFound),
        case("session/clear", of(session), nobody(), NotFound),
        case("question/list", of(session), nobody(), NotFound),
        case("question/answer", json!({"questionId": question, "optionId": "no"}), json!({"questionId": "q0", "optionId": "no"}), NotFound),
        case("context/list", of(session), nobody(), NotFound),
        case(
            "context/add",
            json!({"sessionId": session, "paths": ["b.py"]}),
            json!({"sessionId": session, "paths": ["none.py"]}),
            NotFound,
        ),
        case(
            "context/drop",
            json!({"sessionId": session, "paths": ["b.py"]}),
            json!({"sessionId": session, "paths": ["none.py"]}),
            NotFound,
        ),
        case("edit/parse", json!({"text": reply, "format": "diff"}), json!({"text": reply, "format": "sketch"}), InvalidParams),
        case(
            "edit/match",
            json!({"text": reply, "format": "diff"}),
            json!({"text": reply, "format": "diff", "files": ["/etc/passwd"]}),
            UnsupportedPath,
        ),
        case(
            "edit/propose",
            json!({"text": reply, "format": "diff"}),
            json!({"text": reply, "format": "diff", "sessionId": "s0"}),
            NotFound,
        ),
        case("edit/list", of(session), nobody(), NotFound),
        case("edit/get", json!({"editId": edit}), json!({"editId": "e0"}), NotFound),
        case(
            "edit/resolve",
            json!({"editId": other_loose, "accept": [format!("{other_loose}.0")]}),
            json!({"editId": other_loose, "accept": ["x.0"]}),
            NotFound,
        ),
        case("edit/undo", json!({"turnId": turn}), json!({"turnId": turn, "sessionId": session}), InvalidParams),
        case("edit/redo", json!({"editIds": [edit]}), json!({}), InvalidParams),
        case("map/get", json!({"tokens": 100}), json!({"tokens": -1}), InvalidParams),
        case("commit/status", json!({}), misspelt(), InvalidParams),
        case("commit/list", json!({"limit": 500}), json!({"limit": 501}), InvalidParams),
        case("commit/show", json!({"commit": "HEAD"}), json!({"commit": "no-such-commit"}), Vcs),
        case("commit/undo", of(session), nobody(), NotFound),
        case("edit/apply", json!({"editIds": [loose]}), json!({"editIds": []}), InvalidParams),
        case("session/close", of(session), nobody(), NotFound),
        case("session/delete", of(session), nobody(), NotFound),
        case("shutdown", json!({}), misspelt(), InvalidParams),
        case("daemon/stop", json!({}), misspelt(), InvalidParams),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_method_does_its_work_and_refuses_nonsense() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n"), ("b.py", "y = 1\n")]);
    let model = scratch.replay(&[line(&block("a.py", "x = 1", "x = 2")), line("well")]);
    let asking = scratch.replay(&[line(&create("c.py", "z = 1"))]);
    let mut daemon = DaemonProcess::start(&scratch).await;
    let able = daemon.able_client().await;
    let mut events = able.events().await;
    let session = able.session(&model, &["a.py"]).await;
    let turn = able.turn(&session, "make it two").await;
    let other = able.session(&asking, &["a.py"]).await;
    able.prompt(&other, "a file").await;
    let question = events.wait_question().await.question_id;
    let client = daemon.client().await;
    let proposed = client.raw("edit/propose", json!({"text": block("b.py", "y = 1", "y = 2"), "format": "diff"})).await.unwrap();
    let other = client.raw("edit/propose", json!({"text": create("d.py", "w = 1"), "format": "diff"})).await.unwrap();
    let subscribed = client.raw("events/subscribe", json!({"kinds": ["notice"]})).await.unwrap();
    let world = World {
        session,
        turn: turn.turn_id,
        edit: turn.report.edits[0].edit_id.clone(),
        question,
        other_loose: other["edits"][0]["editId"].as_str().unwrap().to_owned(),
        loose: proposed["edits"][0]["editId"].as_str().unwrap().to_owned(),
        subscription: subscribed["subscriptionId"].as_str().unwrap().to_owned(),
    };
    let cases = cases(&world);
    let covered: BTreeSet<&str> = cases.iter().map(|case| case.method).collect();
    let declared: BTreeSet<&str> = METHODS.iter().map(|method| method.name).collect();
    assert_eq!(covered, declared);

    let (tree, head) = (scratch.tree(), scratch.head());
    for case in &cases {
        let error = client.raw(case.method, case.bad.clone()).await;
        let error = error.expect_err(case.method);
        assert_eq!(error.data.kind, case.kind, "{}: {}", case.method, error.message);
        assert_eq!(error.code, case.kind.code(), "{}", case.method);
        assert!(!error.message.is_empty(), "{}", case.method);
    }
    assert_eq!((scratch.tree(), scratch.head()), (tree, head), "what is refused changes nothing");
    for case in &cases {
        // The connection that says goodbye is one of its own.
        let own = daemon.client().await;
        let client = if matches!(case.method, "shutdown" | "daemon/stop") { &own } else { &client };
        let result = client.raw(case.method, case.good.clone()).await;
        result.unwrap_or_else(|error| panic!("{}: {} {:?}", case.method, error.message, error.data));
        if case.method == "shutdown" {
            client.closed().await;
        }
    }
    assert_eq!(scratch.read("b.py"), "y = 2\n", "the last edit/apply");
    assert!(daemon.wait().await.success(), "daemon/stop");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unknown_member_is_named() {
    let scratch = Scratch::plain(&[]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let error = client.raw("session/new", json!({"applyMod": "dry"})).await.unwrap_err();
    assert!(error.message.contains("applyMod"), "{}", error.message);
    let error = client.raw("session/nw", json!({})).await.unwrap_err();
    assert_eq!((error.code, error.data.kind), (-32601, ErrorKind::NotFound));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_that_cannot_be_meant_are_refused_by_name() {
    let scratch = Scratch::plain(&[("a.py", "x = 1\n"), ("b.py", "y = 1\n")]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let session = client.session("replay:unused", &["a.py"]).await;
    for (setting, says) in [
        (json!({"files": ["b.py", "a.py"], "readOnly": ["a.py"]}), "a.py"),
        (json!({"model": "nobody/model"}), "nobody"),
        (json!({"model": ""}), "model"),
        (json!({"weakModel": "replay:"}), "replay"),
    ] {
        let mut with_session = setting.clone();
        with_session["sessionId"] = json!(session);
        for (method, params) in [("session/new", setting), ("session/configure", with_session)] {
            let error = client.raw(method, params.clone()).await.expect_err(says);
            assert_eq!(error.data.kind, ErrorKind::InvalidParams, "{method} {params}: {}", error.message);
            assert!(error.message.contains(says) && error.data.hint.is_some(), "{method} {params}: {:?}", error);
        }
    }
    let context = |read: paird_protocol::SessionReadResult| (read.files, read.read_only);
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    assert_eq!(context(client.read(&session).await), (names(&["a.py"]), names(&[])), "what is refused changes nothing");
    // A file that comes into one list leaves the other.
    client.raw("session/configure", json!({"sessionId": session, "readOnly": ["a.py", "b.py"]})).await.unwrap();
    assert_eq!(context(client.read(&session).await), (names(&[]), names(&["a.py", "b.py"])));
    client.raw("session/configure", json!({"sessionId": session, "files": ["b.py"]})).await.unwrap();
    assert_eq!(context(client.read(&session).await), (names(&["b.py"]), names(&["a.py"])));
    client.raw("context/add", json!({"sessionId": session, "paths": ["b.py"], "readOnly": true})).await.unwrap();
    assert_eq!(context(client.read(&session).await), (names(&[]), names(&["a.py", "b.py"])));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commits_are_refused_where_there_is_no_repository() {
    let scratch = Scratch::plain(&[("a.py", "x = 1\n")]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    for (method, params) in
        [("commit/status", json!({})), ("commit/list", json!({})), ("commit/show", json!({"commit": "HEAD"})), ("commit/undo", json!({}))]
    {
        let error = client.raw(method, params).await.expect_err(method);
        assert_eq!(error.data.kind, ErrorKind::NotARepository, "{method}: {}", error.message);
        assert!(error.data.hint.is_some(), "{method}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_two_framings_answer_alike() {
    let scratch = Scratch::plain(&[]);
    let daemon = DaemonProcess::start(&scratch).await;
    for params in [json!(null), json!({}), json!([])] {
        let call = json!({"jsonrpc": "2.0", "id": "a", "method": "session/list", "params": params});
        let mut lines = Wire::connect(daemon.socket()).await;
        lines.send(&call).await;
        let answer = lines.receive().await;
        assert_eq!((&answer["id"], &answer["result"]["sessions"]), (&json!("a"), &json!([])), "{answer}");
        assert_eq!(Wire::connect(daemon.socket()).await.with_header(&call).await, answer);
    }
    // Who speaks something else is told so in one answer, in their own terms, and hung up on.
    let mut odd = Wire::connect(daemon.socket()).await;
    odd.send_text("GET / HTTP/1.1\r\n\r\n").await;
    let mut said = odd.line().await;
    assert!(!said.trim().is_empty());
    while !said.is_empty() {
        said = odd.line().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_openrpc_document_names_exactly_the_methods() {
    let scratch = Scratch::plain(&[]);
    let daemon = DaemonProcess::start(&scratch).await;
    let document = daemon.client().await.raw("rpc.discover", json!({})).await.unwrap();
    let named: Vec<&str> = document["methods"].as_array().unwrap().iter().map(|method| method["name"].as_str().unwrap()).collect();
    let declared: Vec<&str> = METHODS.iter().map(|method| method.name).collect();
    assert_eq!(named, declared);
}

/// Names are whole names: a part of one is none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn seed_drop_substring() {
    let names = ["a.py", "data.py", "lib/a.py", "lib/data.py"];
    let scratch = Scratch::repo(&names.map(|name| (name, "x = 1\n")));
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let session = client.session("replay:unused", &names).await;
    let drop = |names: &[&str]| client.raw("context/drop", json!({"sessionId": session, "paths": names}));
    for part in ["a", "data", "lib", "py", "ta.py", "ib/a.py"] {
        let refused = drop(&[part]).await.expect_err(part);
        assert_eq!(refused.data.kind, ErrorKind::NotFound, "{part}: {}", refused.message);
    }
    let left = drop(&["a.py"]).await.unwrap();
    assert_eq!(left["files"], json!(["data.py", "lib/a.py", "lib/data.py"]));
    drop(&["data.py", "ata.py"]).await.expect_err("of several names one is none, so none is dropped");
    let listed = client.raw("context/list", json!({"sessionId": session})).await.unwrap();
    assert_eq!(listed["files"], left["files"]);
}
