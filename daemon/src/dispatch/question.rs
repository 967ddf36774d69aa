use jsonrpsee::core::RegisterMethodError;
use paird_protocol::methods::{QuestionAnswer, QuestionList};
use paird_protocol::{Ack, QuestionListResult};

use super::{Module, method, session, to_wire};
use crate::session::QuestionId;

pub(super) fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    method::<QuestionList, _, _>(module, |daemon, _, params| async move {
        let seq = daemon.events.seq();
        let sessions = match params.session_id {
            Some(id) => vec![session::find(&daemon, id).await?],
            None => daemon.sessions.all().await?,
        };
        let mut questions = Vec::new();
        for session in sessions {
            questions.extend(session.call(|o| o.state.questions.iter().map(to_wire::question).collect::<Vec<_>>()).await?);
        }
        Ok(QuestionListResult { questions, seq })
    })?;
    method::<QuestionAnswer, _, _>(module, |daemon, _, params| async move {
        let id = QuestionId(params.question_id);
        let session = daemon.sessions.of_question(&id).await?;
        let seq = session.call(move |o| o.answer(&id, &params.option_id)).await??;
        Ok(Ack { seq })
    })
}
