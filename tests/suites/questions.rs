//! Questions: asked where a person can answer, decided by the policy where none can.

use paird_protocol::methods::{EditList, QuestionAnswer, QuestionList, SessionCancel, SessionWait};
use paird_protocol::{
    CancelParams, EditListParams, EditStatus, ErrorKind, EventBody, Outcome, Question, QuestionAnswerParams, QuestionKind,
    QuestionListParams, TurnState, WaitParams,
};
use paird_tests::{Client, DaemonProcess, EventStream, Scratch, block, create, line};

fn options(question: &Question) -> Vec<&str> {
    question.options.iter().map(|option| option.option_id.as_str()).collect()
}

struct Asked {
    client: Client,
    events: EventStream,
    session: String,
    turn: String,
    question: Question,
    daemon: DaemonProcess,
}

/// A turn that has come to its question.
async fn asked(scratch: &Scratch, replies: &[&str], files: &[&str]) -> Asked {
    let lines: Vec<_> = replies.iter().map(|reply| line(reply)).collect();
    let model = scratch.replay(&lines);
    let daemon = DaemonProcess::start(scratch).await;
    let client = daemon.able_client().await;
    let mut events = client.events().await;
    let session = client.session(&model, files).await;
    let turn = client.prompt(&session, "go").await;
    let question = events.wait_question().await;
    assert_eq!((question.session_id.as_str(), question.turn_id.as_deref()), (session.as_str(), Some(turn.as_str())));
    let listed = client.call::<QuestionList>(QuestionListParams::default()).await.questions;
    assert_eq!(listed, std::slice::from_ref(&question));
    let wait = client.call::<SessionWait>(WaitParams { turn_id: turn.clone(), timeout_ms: None }).await;
    assert_eq!((wait.state, wait.result), (TurnState::Waiting, None));
    Asked { client, events, session, turn, question, daemon }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_decides_on_a_part() {
    for (option, written, status) in
        [("hold", "x = 1\n", EditStatus::Proposed), ("apply", "x = 2\n", EditStatus::Applied), ("discard", "x = 1\n", EditStatus::Rejected)]
    {
        let scratch = Scratch::repo(&[("a.py", "x = 1\n"), ("b.py", "y = 1\n")]);
        let reply = block("a.py", "x = 1", "x = 2") + &block("b.py", "not there", "y = 2");
        // A reply without blocks says that the model gives up.
        let mut asked = asked(&scratch, &[&reply, "I cannot."], &["a.py", "b.py"]).await;
        let question = &asked.question;
        assert_eq!((question.kind, options(question)), (QuestionKind::ApplyPartial, vec!["hold", "apply", "discard"]));
        assert_eq!(question.default, "hold");
        assert_eq!(scratch.read("a.py"), "x = 1\n");
        asked.client.answer(question, option).await;
        asked.events.wait_finished(&asked.turn).await;
        let result = asked.client.finished(&asked.turn).await.report;
        assert_eq!(result.outcome, Outcome::Held, "{option}");
        assert_eq!(scratch.read("a.py"), written, "{option}");
        assert_eq!((result.edits.len(), result.edits[0].status), (1, status), "{option}");
        assert_eq!(result.commits.len(), usize::from(option == "apply"), "{option}");
        let told =
            |event: &&paird_protocol::Event| matches!(&event.body, EventBody::QuestionAnswered { option_id, .. } if option_id == option);
        assert_eq!(asked.events.seen.iter().filter(told).count(), 1, "{option}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_turn_does_not_block_the_next_prompt() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n"), ("b.py", "y = 1\n")]);
    let reply = block("a.py", "x = 1", "x = 2") + &block("b.py", "not there", "y = 2");
    let asked = asked(&scratch, &[&reply, "I cannot.", "hello"], &["a.py", "b.py"]).await;
    let next = asked.client.turn(&asked.session, "never mind").await.report;
    assert_eq!((next.outcome, next.reply.as_str()), (Outcome::Done, "hello"));
    let held = asked.client.finished(&asked.turn).await.report;
    assert_eq!((held.outcome, held.edits[0].status), (Outcome::Held, EditStatus::Proposed));
    assert!(asked.client.call::<QuestionList>(QuestionListParams::default()).await.questions.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_file_is_asked_about_and_made_after_a_yes() {
    for option in ["yes", "no"] {
        let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
        let reply = create("new/b.py", "y = 1") + &block("a.py", "x = 1", "x = 2");
        let asked = asked(&scratch, &[&reply], &["a.py"]).await;
        let question = &asked.question;
        assert_eq!((question.kind, options(question)), (QuestionKind::CreateFile, vec!["no", "yes"]));
        assert_eq!(question.default, "yes");
        assert!(question.prompt.contains("new/b.py"), "{}", question.prompt);
        asked.client.answer(question, option).await;
        let result = asked.client.finished(&asked.turn).await.report;
        assert_eq!(scratch.read("a.py"), "x = 2\n", "{option}: the other edit is none of its business");
        assert_eq!(scratch.path("new/b.py").exists(), option == "yes");
        assert!(scratch.path("new").exists() == (option == "yes"), "no directory is left");
        assert_eq!(result.edits.len(), if option == "yes" { 2 } else { 1 });
        let files = asked.client.read(&asked.session).await.files;
        assert_eq!(files.contains(&"new/b.py".to_owned()), option == "yes");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_outside_the_chat_is_asked_about() {
    for option in ["yes", "no"] {
        let scratch = Scratch::repo(&[("a.py", "x = 1\n"), ("b.py", "y = 1\n")]);
        let asked = asked(&scratch, &[&block("b.py", "y = 1", "y = 2")], &["a.py"]).await;
        let question = &asked.question;
        assert_eq!((question.kind, options(question)), (QuestionKind::EditOutsideChat, vec!["no", "yes"]));
        assert_eq!(question.default, "no");
        asked.client.answer(question, option).await;
        asked.client.finished(&asked.turn).await;
        assert_eq!(scratch.read("b.py"), if option == "yes" { "y = 2\n" } else { "y = 1\n" });
        let files = asked.client.read(&asked.session).await.files;
        assert_eq!(files.contains(&"b.py".to_owned()), option == "yes");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_person_the_policy_decides_at_once() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n"), ("b.py", "y = 1\n")]);
    let model = scratch.replay(&[line(&create("new.py", "z = 1")), line(&block("b.py", "y = 1", "y = 2"))]);
    let daemon = DaemonProcess::start(&scratch).await;
    let client = daemon.client().await;
    let session = client.session(&model, &["a.py"]).await;
    let made = client.turn(&session, "a new file").await.report;
    assert_eq!((made.outcome, scratch.read("new.py").as_str()), (Outcome::Done, "z = 1\n"));
    let held = client.turn(&session, "another file").await.report;
    assert_eq!((held.outcome, scratch.read("b.py").as_str()), (Outcome::Held, "y = 1\n"));
    assert_eq!((held.edits.len(), held.edits[0].status, held.edits[0].outside_chat), (1, EditStatus::Proposed, true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_the_last_person_leaves_the_policy_decides() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n"), ("b.py", "y = 1\n")]);
    let mut asked = asked(&scratch, &[&block("b.py", "y = 1", "y = 2")], &["a.py"]).await;
    let other = asked.daemon.client().await;
    let mut events = other.events().await;
    drop(asked.client);
    let answered = events.wait_kind("question.answered").await;
    assert!(matches!(answered.body, EventBody::QuestionAnswered { option_id, .. } if option_id == "no"));
    let result = other.finished(&asked.turn).await.report;
    assert_eq!((result.outcome, scratch.read("b.py").as_str()), (Outcome::Held, "y = 1\n"));
    assert!(asked.daemon.ended().is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_answer_wins_and_the_rest_are_told() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n"), ("b.py", "y = 1\n")]);
    let mut asked = asked(&scratch, &[&block("b.py", "y = 1", "y = 2")], &["a.py"]).await;
    let other = asked.daemon.able_client().await;
    let answer = |option: &str| QuestionAnswerParams { question_id: asked.question.question_id.clone(), option_id: option.to_owned() };
    other.fails::<QuestionAnswer>(answer("maybe"), ErrorKind::InvalidParams).await;
    other.call::<QuestionAnswer>(answer("yes")).await;
    asked.client.fails::<QuestionAnswer>(answer("no"), ErrorKind::NotFound).await;
    let told = asked.events.wait_kind("question.answered").await;
    assert!(matches!(told.body, EventBody::QuestionAnswered { option_id, .. } if option_id == "yes"));
    asked.client.finished(&asked.turn).await;
    assert_eq!(scratch.read("b.py"), "y = 2\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_answers_with_what_changes_least() {
    let scratch = Scratch::repo(&[("a.py", "x = 1\n")]);
    let mut asked = asked(&scratch, &[&create("new.py", "z = 1")], &["a.py"]).await;
    let before = scratch.tree();
    let cancelled = asked.client.call::<SessionCancel>(CancelParams { session_id: asked.session.clone(), turn_id: None }).await;
    assert_eq!(cancelled.cancelled, [asked.turn.clone()]);
    let told = asked.events.wait_kind("question.answered").await;
    assert!(matches!(told.body, EventBody::QuestionAnswered { option_id, .. } if option_id == "no"));
    let result = asked.client.finished(&asked.turn).await.report;
    assert_eq!(result.outcome, Outcome::Cancelled);
    assert_eq!(scratch.tree(), before);
    let edits = asked.client.call::<EditList>(EditListParams { session_id: Some(asked.session), status: None }).await.edits;
    assert!(edits.iter().all(|edit| edit.status != EditStatus::Applied), "{edits:?}");
}
