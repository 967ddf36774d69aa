//! The tries of one request, from the first to the last event of its stream.

use std::time::Duration;

use paird_base::limits::{REPLY_BYTES_MAX, RESTARTS_MAX, RETRY_TOTAL_MAX};
use tokio::sync::mpsc;

use crate::retry::delay;
use crate::{Error, Finish, ReplyEvent};

/// An adapter's single try of a request.
pub(crate) trait Attempt: Send {
    /// Sends the request once and passes the text on as it comes.
    fn run(&mut self, outlet: &mut Outlet) -> impl Future<Output = Result<Finish, Error>> + Send;

    /// Whether there is anything to try again.
    fn again(&self) -> bool {
        true
    }
}

/// Where one try's text goes.
pub(crate) struct Outlet {
    events: mpsc::Sender<ReplyEvent>,
    /// Bytes passed on since the try began; more than none means that somebody may have seen them.
    bytes: usize,
}

impl Outlet {
    pub(crate) async fn text(&mut self, text: String) -> Result<(), Error> {
        self.pass(text, ReplyEvent::Delta).await
    }

    pub(crate) async fn reasoning(&mut self, text: String) -> Result<(), Error> {
        self.pass(text, ReplyEvent::Reasoning).await
    }

    async fn pass(&mut self, text: String, event: fn(String) -> ReplyEvent) -> Result<(), Error> {
        if text.is_empty() {
            return Ok(());
        }
        self.bytes += text.len();
        if self.bytes > REPLY_BYTES_MAX {
            return Err(Error::TooLong);
        }
        self.tell(event(text)).await;
        Ok(())
    }

    /// A stream that is gone needs no words: [`drive`] ends the try at the same moment.
    async fn tell(&self, event: ReplyEvent) {
        let _ = self.events.send(event).await;
    }
}

/// Makes tries until one succeeds or no more is worth it, then sends the last event. Ends at once when the stream is dropped.
pub(crate) async fn drive(attempt: impl Attempt, events: mpsc::Sender<ReplyEvent>) {
    let mut outlet = Outlet { events: events.clone(), bytes: 0 };
    let last = tokio::select! {
        biased;
        () = events.closed() => return,
        last = tries(attempt, &mut outlet) => last.map_or_else(ReplyEvent::Failed, ReplyEvent::Finished),
    };
    outlet.tell(last).await;
}

async fn tries(mut attempt: impl Attempt, outlet: &mut Outlet) -> Result<Finish, Error> {
    let mut waited = Duration::ZERO;
    let mut restarts = 0;
    let mut number = 0;
    loop {
        outlet.bytes = 0;
        let error = match attempt.run(outlet).await {
            Ok(finish) => return Ok(finish),
            Err(error) => error,
        };
        let shown = outlet.bytes > 0;
        // A reply that breaks off has been paid for, shown or not, so these are counted apart from refusals.
        restarts += u32::from(shown || matches!(error, Error::Broken { .. }));
        let wait = delay(number, error.retry_after(), random());
        let Some(wait) =
            wait.filter(|wait| error.retryable() && restarts <= RESTARTS_MAX && waited + *wait <= RETRY_TOTAL_MAX && attempt.again())
        else {
            return Err(error);
        };
        let cause = error.with_causes();
        tracing::info!(number, ?wait, cause, "the request is sent again");
        if shown {
            outlet.tell(ReplyEvent::Restarted).await;
        }
        outlet.tell(ReplyEvent::Retrying { wait, cause }).await;
        tokio::time::sleep(wait).await;
        waited += wait;
        number += 1;
    }
}

/// From 0 to 1; a machine without randomness waits the whole time.
fn random() -> f64 {
    getrandom::u32().map_or(1.0, |number| f64::from(number) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use tokio::time::Instant;

    use super::*;
    use crate::{ReplyStream, StopReason, channel};

    const fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// Plays tries: text passed on, then the result.
    struct Script(VecDeque<(&'static str, Result<Finish, Error>)>);

    impl Attempt for Script {
        async fn run(&mut self, outlet: &mut Outlet) -> Result<Finish, Error> {
            let (text, result) = self.0.pop_front().expect("the script is long enough");
            outlet.text(text.to_owned()).await?;
            result
        }

        fn again(&self) -> bool {
            !self.0.is_empty()
        }
    }

    const DONE: Result<Finish, Error> = Ok(Finish { stop: StopReason::Stop, usage: None });

    fn broken() -> Result<Finish, Error> {
        Err(Error::Broken { detail: "cut".to_owned() })
    }

    fn status(status: u16) -> Result<Finish, Error> {
        Err(Error::Status { status, message: "busy".to_owned(), retry_after: None })
    }

    fn limited(seconds: u64) -> Result<Finish, Error> {
        Err(Error::RateLimited { retry_after: Some(secs(seconds)), message: "slow down".to_owned() })
    }

    fn play(script: Vec<(&'static str, Result<Finish, Error>)>) -> ReplyStream {
        let (events, stream) = channel();
        tokio::spawn(drive(Script(script.into()), events));
        stream
    }

    /// Events as words, waits without their length, and the time on the clock.
    async fn seen(mut stream: ReplyStream) -> (Vec<String>, Duration) {
        let start = Instant::now();
        let mut words = Vec::new();
        while let Some(event) = stream.next().await {
            words.push(match event {
                ReplyEvent::Delta(text) => text,
                ReplyEvent::Reasoning(text) => format!("({text})"),
                ReplyEvent::Retrying { .. } => "retrying".to_owned(),
                ReplyEvent::Restarted => "restarted".to_owned(),
                ReplyEvent::Finished(_) => "finished".to_owned(),
                ReplyEvent::Failed(error) => error.to_string(),
            });
        }
        (words, start.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_before_the_first_delta_is_silent() {
        let (words, _) = seen(play(vec![("", status(503)), ("", status(529)), ("hello", DONE)])).await;
        assert_eq!(words, ["retrying", "retrying", "hello", "finished"]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_wait_is_as_long_as_the_provider_asks() {
        let (words, elapsed) = seen(play(vec![("", limited(7)), ("", limited(7)), ("hello", DONE)])).await;
        assert_eq!(words, ["retrying", "retrying", "hello", "finished"]);
        assert!(elapsed >= secs(14) && elapsed < secs(18), "{elapsed:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_partial_reply_is_discarded_visibly_three_times_at_most() {
        let (words, _) = seen(play(vec![("one", broken()), ("two", status(500)), ("three", DONE)])).await;
        assert_eq!(words, ["one", "restarted", "retrying", "two", "restarted", "retrying", "three", "finished"]);
        let (words, _) = seen(play(vec![("a", broken()), ("", broken()), ("b", broken()), ("c", broken()), ("d", DONE)])).await;
        assert_eq!(words, ["a", "restarted", "retrying", "retrying", "b", "restarted", "retrying", "c", "the reply broke off: cut"]);
    }

    #[tokio::test(start_paused = true)]
    async fn final_errors_and_long_waits_end_at_once() {
        let (words, elapsed) = seen(play(vec![("", limited(400_000)), ("", DONE)])).await;
        assert_eq!((words.len(), elapsed), (1, Duration::ZERO));
        for error in [Error::Quota { message: "empty".to_owned() }, Error::TooLong] {
            let expected = vec![error.to_string()];
            let (words, elapsed) = seen(play(vec![("", Err(error)), ("", DONE)])).await;
            assert_eq!((words, elapsed), (expected, Duration::ZERO));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_is_bounded_in_number_and_in_total() {
        let (words, elapsed) = seen(play((0..20).map(|_| ("", status(500))).collect())).await;
        assert_eq!(words.len(), 10);
        assert_eq!(words[9], "the provider answers with status 500: busy");
        assert!(elapsed <= secs(64), "{elapsed:?}");
        let (_, elapsed) = seen(play((0..20).map(|_| ("", limited(59))).collect())).await;
        assert!(elapsed > secs(200) && elapsed <= RETRY_TOTAL_MAX, "{elapsed:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_left_to_try_is_the_last_error() {
        let (words, _) = seen(play(vec![("", status(500)), ("", limited(1))])).await;
        assert_eq!(words, ["retrying", "rate limited by the provider, which asks to wait 1 s: slow down"]);
    }

    #[tokio::test(start_paused = true)]
    async fn dropping_the_stream_ends_the_wait() {
        let (events, mut stream) = channel();
        let task = tokio::spawn(drive(Script(vec![("", limited(50)), ("", DONE)].into()), events));
        assert!(matches!(stream.next().await, Some(ReplyEvent::Retrying { .. })));
        let start = Instant::now();
        drop(stream);
        task.await.unwrap();
        assert_eq!(start.elapsed(), Duration::ZERO);
    }

    #[tokio::test]
    async fn a_stream_always_has_an_end() {
        let (events, mut stream) = channel();
        drop(events);
        assert!(matches!(stream.next().await, Some(ReplyEvent::Failed(Error::Broken { .. }))));
        assert!(stream.next().await.is_none());
    }
}
