//! A client of the daemon, typed by the protocol's own declarations.

use std::collections::BTreeMap;
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use paird_protocol::client::{Client as Connection, ClientError};
use paird_protocol::envelope::ErrorObject;
use paird_protocol::methods::{EventsSubscribe, Initialize, QuestionAnswer, SessionNew, SessionPrompt, SessionRead, SessionWait};
use paird_protocol::{
    ClientCapabilities, EVENT_METHOD, ErrorKind, Event, EventBody, InitializeParams, InitializeResult, Method, PromptParams, Question,
    QuestionAnswerParams, SessionNewParams, SessionParams, SessionReadResult, SubscribeParams, SubscribeResult, TurnResult, TurnState,
    WaitParams,
};
use serde_json::Value;

use crate::DEADLINE;

/// One connection.
#[derive(Debug)]
pub struct Client {
    connection: Connection,
}

impl Client {
    pub async fn connect(socket: &Path) -> Self {
        let connection = Connection::connect(socket).await.expect("the daemon takes connections");
        Self { connection }
    }

    /// The connection, for what has no method.
    #[must_use]
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Says what this client can do and which keys it brings.
    pub async fn initialize(&self, questions: bool, env: &[(&str, &str)]) -> InitializeResult {
        let env: BTreeMap<String, String> = env.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        self.call::<Initialize>(InitializeParams {
            client_name: Some("tests".to_owned()),
            capabilities: Some(ClientCapabilities { questions }),
            env: Some(env),
        })
        .await
    }

    /// Calls a method; the answer is the method's own kind of value, or the daemon's error.
    ///
    /// # Panics
    /// If the answer has not the declared shape, or none comes.
    pub async fn try_call<M: Method>(&self, params: M::Params) -> Result<M::Result, ErrorObject> {
        let params = serde_json::to_value(params).expect("params are JSON");
        let value = self.raw(M::NAME, params).await?;
        let result = serde_json::from_value(value.clone());
        Ok(result.unwrap_or_else(|error| panic!("{} answered {value}: {error}", M::NAME)))
    }

    /// Calls a method by its name with params as they are.
    ///
    /// # Panics
    /// If no answer comes.
    pub async fn raw(&self, method: &str, params: Value) -> Result<Value, ErrorObject> {
        let answer = tokio::time::timeout(2 * DEADLINE, self.connection.request(method, params)).await;
        match answer.unwrap_or_else(|_| panic!("{method} is not answered")) {
            Ok(value) => Ok(value),
            Err(ClientError::Call(error)) => Err(error),
            Err(error) => panic!("{method}: {error}"),
        }
    }

    /// As [`Self::try_call`], for a call that must succeed.
    pub async fn call<M: Method>(&self, params: M::Params) -> M::Result {
        let result = self.try_call::<M>(params).await;
        result.unwrap_or_else(|error| panic!("{} failed: {} ({:?})", M::NAME, error.message, error.data))
    }

    /// As [`Self::try_call`], for a call that must fail in this way.
    pub async fn fails<M: Method>(&self, params: M::Params, kind: ErrorKind) -> ErrorObject {
        let error = match self.try_call::<M>(params).await {
            Ok(result) => panic!("{} did not fail: {}", M::NAME, serde_json::to_string(&result).expect("results are JSON")),
            Err(error) => error,
        };
        assert_eq!(error.data.kind, kind, "{}: {}", M::NAME, error.message);
        assert_eq!(error.code, kind.code(), "{}: {}", M::NAME, error.message);
        error
    }

    /// A session with this model and these files.
    pub async fn session(&self, model: &str, files: &[&str]) -> String {
        self.session_with(SessionNewParams {
            model: Some(model.to_owned()),
            files: Some(files.iter().map(|&file| file.to_owned()).collect()),
            ..SessionNewParams::default()
        })
        .await
    }

    pub async fn session_with(&self, params: SessionNewParams) -> String {
        self.call::<SessionNew>(params).await.session_id
    }

    /// Queues a message; gives the turn's id.
    pub async fn prompt(&self, session: &str, text: &str) -> String {
        let params = PromptParams { session_id: session.to_owned(), text: text.to_owned(), selection: None, interrupt: false };
        self.call::<SessionPrompt>(params).await.turn_id
    }

    /// The result of a turn, when it has ended.
    pub async fn finished(&self, turn: &str) -> TurnResult {
        let start = std::time::Instant::now();
        loop {
            let params =
                WaitParams { turn_id: turn.to_owned(), timeout_ms: Some(DEADLINE.as_millis().try_into().expect("a deadline is short")) };
            let wait = self.call::<SessionWait>(params).await;
            match (wait.state, wait.result) {
                (TurnState::Finished, Some(result)) => return result,
                (TurnState::Waiting, _) => panic!("the turn asks a question"),
                (state, _) => assert!(start.elapsed() < DEADLINE, "the turn is {state:?}"),
            }
        }
    }

    /// A whole turn.
    pub async fn turn(&self, session: &str, text: &str) -> TurnResult {
        let turn = self.prompt(session, text).await;
        self.finished(&turn).await
    }

    pub async fn read(&self, session: &str) -> SessionReadResult {
        self.call::<SessionRead>(SessionParams { session_id: session.to_owned() }).await
    }

    pub async fn answer(&self, question: &Question, option: &str) {
        self.call::<QuestionAnswer>(QuestionAnswerParams { question_id: question.question_id.clone(), option_id: option.to_owned() }).await;
    }

    /// All events from now on. One stream a connection.
    pub async fn events(&self) -> EventStream {
        self.subscribe(SubscribeParams::default()).await.1
    }

    /// Events as asked for, with the daemon's answer. One stream a connection.
    pub async fn subscribe(&self, params: SubscribeParams) -> (SubscribeResult, EventStream) {
        let values = self.connection.notifications(EVENT_METHOD).await.expect("one stream a connection");
        let result = self.call::<EventsSubscribe>(params).await;
        let stream = EventStream { values: Box::pin(values), seen: Vec::new() };
        (result, stream)
    }

    /// Waits for the end of the connection.
    pub async fn closed(&self) {
        let closed = tokio::time::timeout(DEADLINE, self.connection.closed()).await;
        closed.expect("the connection ends");
    }
}

/// Events of a connection, in order.
pub struct EventStream {
    values: Pin<Box<dyn Stream<Item = Value> + Send>>,
    /// Every event that was taken from the stream.
    pub seen: Vec<Event>,
}

impl EventStream {
    /// The next event; `None` when the connection has ended.
    ///
    /// # Panics
    /// If none comes by the deadline, or one has not the protocol's shape.
    pub async fn next(&mut self) -> Option<Event> {
        let next = tokio::time::timeout(DEADLINE, self.values.next()).await;
        let value = next.unwrap_or_else(|_| panic!("no further event after {:?}", self.kinds()))?;
        let event: Event = serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{value}: {error}"));
        self.seen.push(event.clone());
        Some(event)
    }

    /// An event if there is one within `patience`.
    pub async fn within(&mut self, patience: Duration) -> Option<Event> {
        let value = tokio::time::timeout(patience, self.values.next()).await.ok()??;
        let event: Event = serde_json::from_value(value).expect("an event");
        self.seen.push(event.clone());
        Some(event)
    }

    /// Takes events until one fits.
    pub async fn wait_for(&mut self, fits: impl Fn(&Event) -> bool) -> Event {
        loop {
            let event = self.next().await;
            let event = event.unwrap_or_else(|| panic!("the stream ended after {:?}", self.kinds()));
            if fits(&event) {
                return event;
            }
        }
    }

    /// Takes events until one of this kind.
    pub async fn wait_kind(&mut self, kind: &str) -> Event {
        self.wait_for(|event| event.body.kind() == kind).await
    }

    /// Takes events until the turn has finished.
    pub async fn wait_finished(&mut self, turn: &str) -> Event {
        self.wait_for(|event| event.body.kind() == "turn.finished" && event.turn_id.as_deref() == Some(turn)).await
    }

    /// Takes events until a question is asked.
    pub async fn wait_question(&mut self) -> Question {
        match self.wait_kind("question.asked").await.body {
            EventBody::QuestionAsked { question } => question,
            _ => unreachable!("the kind says what the body is"),
        }
    }

    /// The kinds of the events so far.
    #[must_use]
    pub fn kinds(&self) -> Vec<&'static str> {
        self.seen.iter().map(|event| event.body.kind()).collect()
    }

    /// The kinds of one turn's events, equal neighbours once.
    #[must_use]
    pub fn kinds_of(&self, turn: &str) -> Vec<&'static str> {
        let mut kinds: Vec<&'static str> =
            self.seen.iter().filter(|event| event.turn_id.as_deref() == Some(turn)).map(|event| event.body.kind()).collect();
        kinds.dedup();
        kinds
    }
}
