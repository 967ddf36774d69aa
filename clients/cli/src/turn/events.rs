use futures_util::{Stream, StreamExt};
use paird_protocol::client::{Client, ClientError};
use paird_protocol::methods::{EventsSubscribe, EventsUnsubscribe};
use paird_protocol::{EVENT_METHOD, Event, SubscribeParams, SubscribeResult, UnsubscribeParams};
use serde_json::Value;

use crate::connection::call;

type Notifications = Box<dyn Stream<Item = Value> + Send + Unpin>;

/// The events of one session, as they come over one connection.
pub(super) struct Events<'a> {
    client: &'a Client,
    session: String,
    notifications: Notifications,
    subscription: SubscribeResult,
    /// The newest that was seen.
    seen: u64,
}

impl<'a> Events<'a> {
    pub(super) async fn subscribe(client: &'a Client, session: &str) -> Result<Self, ClientError> {
        let (notifications, subscription) = start(client, session, None).await?;
        let seen = subscription.seq;
        Ok(Self { client, session: session.to_owned(), notifications, subscription, seen })
    }

    /// The next one. `None` when some were lost because nobody took them, or the connection is gone. Dropping it loses nothing.
    pub(super) async fn next(&mut self) -> Option<Event> {
        loop {
            let params = self.notifications.next().await?;
            // Kinds of a newer daemon are not for this program to show.
            let Ok(event) = serde_json::from_value::<Event>(params) else {
                continue;
            };
            if event.subscription_id == self.subscription.subscription_id {
                self.seen = self.seen.max(event.seq);
                return Some(event);
            }
        }
    }

    /// After some were lost: goes on after the newest that was seen, without the deltas in between.
    pub(super) async fn subscribe_again(&mut self) -> Result<(), ClientError> {
        self.notifications = Box::new(futures_util::stream::empty());
        self.unsubscribe().await;
        let (notifications, subscription) = start(self.client, &self.session, Some((self.seen, self.subscription.epoch.clone()))).await?;
        self.notifications = notifications;
        self.subscription = subscription;
        Ok(())
    }

    /// Whether events are gone that the last subscription should have begun with.
    pub(super) fn has_gap(&self) -> bool {
        self.subscription.gap
    }

    pub(super) async fn unsubscribe(&self) {
        // Gone already if the connection is; nothing is left to do then.
        let _ =
            call::<EventsUnsubscribe>(self.client, UnsubscribeParams { subscription_id: self.subscription.subscription_id.clone() }).await;
    }
}

async fn start(client: &Client, session: &str, since: Option<(u64, String)>) -> Result<(Notifications, SubscribeResult), ClientError> {
    let notifications = client.notifications(EVENT_METHOD).await?;
    let (since_seq, epoch) = since.unzip();
    let params = SubscribeParams { since_seq, epoch, session_id: Some(session.to_owned()), kinds: None };
    let subscription = call::<EventsSubscribe>(client, params).await?;
    Ok((Box::new(notifications), subscription))
}
