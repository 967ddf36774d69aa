use paird_provider::{Error, Finish, Provider, ReplyEvent, ReplyStream, Request, Role};
use paird_provider::{Message, MessageRole};

/// What a stream brought, read to its end.
#[derive(Debug)]
pub(crate) struct Seen {
    /// The text since the last restart.
    pub(crate) text: String,
    pub(crate) reasoning: String,
    /// Every event but deltas and the end, as words.
    pub(crate) events: Vec<&'static str>,
    pub(crate) end: Result<Finish, Error>,
}

pub(crate) fn request(role: Role) -> Request {
    Request {
        messages: vec![Message::new(MessageRole::User, "hello")],
        model: "m".to_owned(),
        max_output: None,
        temperature: Some(0.0),
        role,
    }
}

/// Starts a request and reads it to its end.
pub(crate) async fn ask(provider: &dyn Provider, role: Role) -> Seen {
    read(provider.start(request(role))).await
}

pub(crate) async fn read(mut stream: ReplyStream) -> Seen {
    let (mut text, mut reasoning, mut events) = (String::new(), String::new(), Vec::new());
    let end = loop {
        match stream.next().await.expect("a stream has an end") {
            ReplyEvent::Delta(more) => text += &more,
            ReplyEvent::Reasoning(more) => reasoning += &more,
            ReplyEvent::Retrying { .. } => events.push("retrying"),
            ReplyEvent::Restarted => {
                events.push("restarted");
                text.clear();
                reasoning.clear();
            }
            ReplyEvent::Finished(finish) => break Ok(finish),
            ReplyEvent::Failed(error) => break Err(error),
        }
    };
    assert!(stream.next().await.is_none(), "nothing follows the end");
    Seen { text, reasoning, events, end }
}
