//! Questions: asked when a client can put them to a person, decided by the policy when none can.

use tokio::sync::oneshot;

use super::Owner;
use crate::session::entry::{EditStatus, Entry, Outcome, Report};
use crate::session::error::Error;
use crate::session::events::Happening;
use crate::session::ids::{QuestionId, TurnId};
use crate::session::question::{APPLY, About, DISCARD, NO, Question, YES};
use crate::session::state::TurnPhase;

impl Owner {
    pub(super) fn ask(&mut self, turn: &TurnId, about: About, answer: oneshot::Sender<String>) {
        if *self.shared.able.borrow() == 0 {
            return self.decide_without_a_person(&about, answer);
        }
        let question = Question { id: QuestionId::fresh(), session: self.state.id.clone(), turn: Some(turn.clone()), about };
        self.record_or_notice(Entry::Asked { question: question.clone() });
        if let Some(running) = &mut self.running {
            running.answer = Some(answer);
        }
        self.publish(Some(turn), Happening::QuestionAsked(question));
        self.publish(Some(turn), Happening::TurnPhase { phase: TurnPhase::Waiting, detail: None });
        self.wake_waiters(turn);
    }

    /// A yes or a partial apply is said; a no leaves the edit waiting instead of throwing it away.
    fn decide_without_a_person(&self, about: &About, answer: oneshot::Sender<String>) {
        let option = about.policy(self.state.settings.on_partial);
        if option == YES || option == APPLY {
            // A turn that was cancelled meanwhile needs no answer.
            let _ = answer.send(option.to_owned());
        }
    }

    /// The first answer wins.
    pub fn answer(&mut self, id: &QuestionId, option: &str) -> Result<u64, Error> {
        let question = self.question(id)?;
        if !question.about.has_option(option) {
            let options = question.about.options().iter().map(|(id, _)| *id).collect::<Vec<_>>().join(", ");
            return Err(Error::Invalid {
                message: format!("{option:?} is no answer to this question, which takes {options}"),
                hint: "take an optionId of the question",
            });
        }
        self.answered(&question, option)?;
        let Some(turn) = &question.turn else { return Ok(self.seq()) };
        match self.running.as_mut() {
            Some(running) if running.id == *turn => {
                if let Some(waiting) = running.answer.take() {
                    let _ = waiting.send(option.to_owned());
                }
                self.publish(Some(turn), Happening::TurnPhase { phase: TurnPhase::Running, detail: None });
            }
            _ => self.go_on_after_restart(turn, &question.about, option),
        }
        Ok(self.seq())
    }

    fn question(&self, id: &QuestionId) -> Result<Question, Error> {
        let found = self.state.questions.iter().find(|q| q.id == *id).cloned();
        found.ok_or_else(|| Error::NotFound { what: "open question", id: id.to_string() })
    }

    fn answered(&mut self, question: &Question, option: &str) -> Result<(), Error> {
        self.record(Entry::Answered { question: question.id.clone(), option: option.to_owned() })?;
        let told = Happening::QuestionAnswered { question: question.id.clone(), option: option.to_owned() };
        self.publish(question.turn.as_ref(), told);
        Ok(())
    }

    /// The turn's task ended with the daemon that asked. Proposals are in the log already; anything else goes on from the replies.
    fn go_on_after_restart(&mut self, turn: &TurnId, about: &About, option: &str) {
        if !matches!(about, About::ApplyPartial { .. }) {
            return self.resume_with_answers(turn, None);
        }
        let held: Vec<_> =
            self.state.edits.iter().filter(|e| e.turn.as_ref() == Some(turn) && e.status == EditStatus::Proposed).cloned().collect();
        if option == DISCARD {
            self.rejected(Some(turn), held.iter().map(|e| e.id.clone()).collect());
        }
        if option == APPLY {
            return self.apply_held(turn.clone(), held);
        }
        let report = Report { outcome: Outcome::Held, ..self.report_from_log(turn) };
        self.finish(turn, report);
    }

    /// The last client that could ask a person is gone: the policy decides what waits.
    pub(super) fn nobody_left(&mut self) {
        let Some(running) = &mut self.running else { return };
        let Some(answer) = running.answer.take() else { return };
        let turn = running.id.clone();
        let Some(question) = self.state.questions.iter().find(|q| q.turn.as_ref() == Some(&turn)).cloned() else {
            return;
        };
        let option = question.about.policy(self.state.settings.on_partial);
        if let Err(error) = self.answered(&question, option) {
            tracing::warn!(error = %error.chain(), "an answer is not in the log");
        }
        self.decide_without_a_person(&question.about, answer);
        self.publish(Some(&turn), Happening::TurnPhase { phase: TurnPhase::Running, detail: None });
    }

    /// A question that a restart found open waits for a client that can put it to a person. Once a prompt stands behind
    /// it and there is no such client, the policy decides as it would have at first.
    pub(super) fn decide_what_nobody_can_answer(&mut self) {
        if self.running.is_some() || *self.shared.able.borrow() > 0 {
            return;
        }
        for question in self.state.questions.clone() {
            let option = question.about.policy(self.state.settings.on_partial);
            if let Err(error) = self.answered(&question, option) {
                tracing::warn!(error = %error.chain(), "an answer is not in the log");
            }
            match &question.turn {
                // Nobody said no: asked again, the edit is kept waiting instead of being thrown away.
                Some(turn) if option == NO => self.resume_with_answers(turn, Some(&question.about)),
                Some(turn) => self.go_on_after_restart(turn, &question.about, option),
                None => {}
            }
        }
    }

    /// What a cancel says to an open question: the option that changes least.
    pub(super) fn answer_open_with_first(&mut self) {
        for question in self.state.questions.clone() {
            let first = question.about.options()[0].0;
            if let Err(error) = self.answered(&question, first) {
                tracing::warn!(error = %error.chain(), "an answer is not in the log");
            }
        }
    }

    pub(super) fn close_questions_of(&mut self, turn: &TurnId) {
        for question in self.state.questions.clone() {
            if question.turn.as_ref() == Some(turn) {
                let first = question.about.options()[0].0;
                if let Err(error) = self.answered(&question, first) {
                    tracing::warn!(error = %error.chain(), "an answer is not in the log");
                }
            }
        }
    }

    /// A turn that only asks whether to apply a part does not block the next prompt: its edits stay held.
    pub(super) fn let_held_turn_end(&mut self) {
        let held = self.state.questions.iter().find(|q| matches!(q.about, About::ApplyPartial { .. })).map(|q| q.id.clone());
        if let Some(id) = held
            && let Err(error) = self.answer(&id, crate::session::question::HOLD)
        {
            tracing::warn!(error = %error.chain(), "a held turn stays open");
        }
    }
}
