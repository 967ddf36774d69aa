use std::io::{self, IsTerminal, Read};

use paird_protocol::PROMPT_BYTES_MAX;

use crate::args::{Args, Message};
use crate::connection::Connection;
use crate::exit::{Exit, Failure};
use crate::question::Answers;
use crate::repo::WorkTree;
use crate::session;
use crate::show::Screen;
use crate::turn;

/// One message, its turn, and the end.
///
/// # Errors
/// Whatever keeps the turn from being followed to its end.
pub(crate) async fn run(tree: WorkTree, args: &Args, message: Message, files: &[String], screen: &mut Screen) -> Result<Exit, Failure> {
    let terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
    let text = match message {
        Message::Text(text) => text,
        Message::StandardInput => read_all(io::stdin().lock())?,
    };
    // Before a session is opened for it.
    turn::check_size(&text)?;
    let answers = if args.chat.yes {
        Answers::Yes
    } else if terminal {
        Answers::Person
    } else {
        Answers::Nobody
    };
    let daemon = Connection::open(tree, answers.any()).await?;
    let session = session::prepare(&daemon, args, files).await?;
    if session.is_new {
        screen.notice(&format!("new session {}", session.id));
    }
    let ended = turn::run(&daemon, screen, &session.id, &text, answers).await;
    session.give_back(&daemon, screen).await;
    let result = ended?;
    screen.report(&result.report);
    if screen.look.json {
        screen.json(&result)?;
    }
    Ok(Exit::of_turn(&result.report))
}

/// The whole of the input as one message.
fn read_all(input: impl Read) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    // One byte more, so that a message that is too long is seen as such.
    let read = input.take(PROMPT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::new(Exit::Failure, format!("read standard input: {error}")))?;
    if bytes.len() > PROMPT_BYTES_MAX {
        return Err(turn::too_long());
    }
    let text = String::from_utf8(bytes).map_err(|_| Failure::usage("the message on standard input is not UTF-8"))?;
    if text.trim().is_empty() {
        return Err(Failure::usage("the message on standard input is empty"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_input_is_one_message() {
        assert_eq!(read_all(&b"a\n\nb\n"[..]).unwrap(), "a\n\nb\n");
        assert_eq!(read_all(&b" \n"[..]).unwrap_err().exit, Exit::Usage);
        assert_eq!(read_all(&b"\xff"[..]).unwrap_err().exit, Exit::Usage);
        assert_eq!(read_all(io::repeat(b'x')).unwrap_err().exit, Exit::Usage);
    }
}
