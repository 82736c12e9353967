//! One message on its way to one endpoint: its state after each attempt.
//!
//! The endpoint's queue ([`crate::Queue`]) decides which worker may send it, and when. One worker at a time serves an
//! endpoint, and a worker that lost its claim records nothing.

use kalends_kernel::{DeliveryId, Entropy, MessageId, OrgId, WebhookId};
use kalends_time::{SignedDuration, Timestamp};
use sha2::{Digest as _, Sha256};

use crate::{EventType, Outcome, wait_after};

/// How long deliveries are kept. Messages are kept a day longer, so that every delivery has its message.
pub const DELIVERIES_KEPT: SignedDuration = SignedDuration::days(30);
/// How long messages are kept.
pub const MESSAGES_KEPT: SignedDuration = SignedDuration::days(31);

/// The status of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DeliveryStatus {
    /// To be sent, or sent again.
    Pending,
    /// The receiver has accepted it.
    Delivered,
    /// Given up after the last attempt or a 410, or because the endpoint was switched off or the message is lost.
    Failed,
    /// Never sent, because the quota of the month was used up.
    Skipped,
}

impl DeliveryStatus {
    /// Every status.
    pub const ALL: [Self; 4] = [Self::Pending, Self::Delivered, Self::Failed, Self::Skipped];

    /// The name in responses and stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }

    /// The status with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }
}

/// The state of a delivery. Its content and its endpoint are kept separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliveryState {
    /// The status.
    pub status: DeliveryStatus,
    /// The number of attempts that were recorded.
    pub attempts: u32,
    /// When the last attempt ended.
    pub last_attempt_at: Option<Timestamp>,
    /// When the next attempt is due. Only a pending delivery has one.
    pub next_attempt_at: Option<Timestamp>,
    /// The status of the last response, if there was one.
    pub response_status: Option<u16>,
}

/// One message to one endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery {
    /// The organization.
    pub org: OrgId,
    /// The endpoint.
    pub webhook: WebhookId,
    /// The identifier. All attempts share it.
    pub id: DeliveryId,
    /// The message.
    pub message: MessageId,
    /// The event type that it announces.
    pub event_type: EventType,
    /// The state.
    pub state: DeliveryState,
    /// When it was addressed.
    pub created_at: Timestamp,
}

/// Why a delivery cannot be sent again now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the delivery is being sent at this moment; look at its outcome first")]
pub struct BeingSent;

impl DeliveryState {
    const NEW: Self = Self {
        status: DeliveryStatus::Pending,
        attempts: 0,
        last_attempt_at: None,
        next_attempt_at: None,
        response_status: None,
    };

    /// The state of a message to be sent at once.
    pub const fn queued(now: Timestamp) -> Self {
        Self { next_attempt_at: Some(now), ..Self::NEW }
    }

    /// The state of a message over the quota. It is stored and not sent.
    pub const fn skipped() -> Self {
        Self { status: DeliveryStatus::Skipped, ..Self::NEW }
    }

    /// Whether an attempt is due.
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.next_attempt_at.is_some_and(|next| next <= now)
    }

    /// The state after an attempt that ended at `now`. `random` spreads the next attempt.
    #[must_use]
    pub fn after(&self, outcome: Outcome, now: Timestamp, random: [u8; 4]) -> Self {
        let attempts = self.attempts.saturating_add(1);
        let (status, wait) = match outcome {
            Outcome::Accepted(_) => (DeliveryStatus::Delivered, None),
            Outcome::Gone => (DeliveryStatus::Failed, None),
            Outcome::Refused(_) | Outcome::Unanswered => match wait_after(attempts, random) {
                Some(wait) => (DeliveryStatus::Pending, Some(wait)),
                None => (DeliveryStatus::Failed, None),
            },
        };
        Self {
            status,
            attempts,
            last_attempt_at: Some(now),
            next_attempt_at: wait.map(|wait| now + wait),
            response_status: outcome.status(),
        }
    }

    /// The state after one attempt that is not repeated: a test that a user watches.
    #[must_use]
    pub fn tried_once(outcome: Outcome, now: Timestamp) -> Self {
        let status = if outcome.is_success() { DeliveryStatus::Delivered } else { DeliveryStatus::Failed };
        let state = Self::NEW.after(outcome, now, [0; 4]);
        Self { status, next_attempt_at: None, ..state }
    }

    /// The state of a delivery that is given up without another attempt, because its endpoint was switched off or its
    /// message is lost.
    #[must_use]
    pub const fn abandoned(&self) -> Self {
        Self { status: DeliveryStatus::Failed, next_attempt_at: None, ..*self }
    }

    /// The state after a request to send it again at once. A waiting delivery stops waiting. One that was delivered,
    /// given up or skipped gets one more attempt, and after that the remaining attempts of the schedule. A skipped
    /// delivery has to be charged first.
    ///
    /// `served` says whether a worker serves the endpoint at this moment. If so, that worker already has the due
    /// deliveries.
    ///
    /// # Errors
    /// [`BeingSent`] if a worker is sending it.
    pub fn retry(&self, now: Timestamp, served: bool) -> Result<Self, BeingSent> {
        if served && self.is_due(now) {
            return Err(BeingSent);
        }
        Ok(Self { status: DeliveryStatus::Pending, next_attempt_at: Some(now), ..*self })
    }
}

impl Delivery {
    /// A message to an endpoint. Its identifier is derived from the two, so that addressing a message twice does not
    /// make a second delivery.
    pub fn new(
        org: OrgId,
        webhook: WebhookId,
        (message, event_type): (MessageId, EventType),
        state: DeliveryState,
        now: Timestamp,
    ) -> Self {
        Self { org, webhook, id: delivery_id(message, webhook), message, event_type, state, created_at: now }
    }
}

/// The identifier of a message's delivery to an endpoint: the message's time, then bits that cannot be guessed
/// without both identifiers. It is a UUID v7 like all others.
fn delivery_id(message: MessageId, webhook: WebhookId) -> DeliveryId {
    let mixed =
        Sha256::new().chain_update(message.uuid().as_bytes()).chain_update(webhook.uuid().as_bytes()).finalize();
    let mut bytes = *message.uuid().as_bytes();
    for (byte, mixed) in bytes.iter_mut().zip(mixed).skip(6) {
        *byte = mixed;
    }
    bytes[6] = 0x70 | (bytes[6] & 0x0f);
    bytes[8] = 0x80 | (bytes[8] & 0x3f);
    DeliveryId::from_bytes(bytes)
}

/// Fills everything with zeros.
struct Zeros;

impl Entropy for Zeros {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}

/// The least identifier that a delivery of a message of that millisecond can have. Every delivery of an older message
/// has a lesser one.
pub fn least_delivery_id(at: Timestamp) -> DeliveryId {
    DeliveryId::new(at, &Zeros)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::SCHEDULE;

    const START: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    #[test]
    fn a_delivery_fails_after_nine_attempts() {
        let (mut state, mut now) = (DeliveryState::queued(START), START);
        for attempt in 1..=9 {
            assert_eq!((state.status, state.attempts), (DeliveryStatus::Pending, attempt - 1));
            now = state.next_attempt_at.unwrap();
            assert!(state.is_due(now) && !state.is_due(now - SignedDuration::micros(1)));
            state = state.after(Outcome::Refused(503), now, [0x80; 4]);
        }
        assert_eq!((state.status, state.attempts), (DeliveryStatus::Failed, 9));
        assert_eq!((state.next_attempt_at, state.response_status), (None, Some(503)));
        let planned = SCHEDULE.iter().map(|wait| wait.as_micros()).sum::<i64>();
        let took = (now - START).as_micros();
        assert!(took * 10 > planned * 9 && took * 10 < planned * 11);
    }

    #[test]
    fn a_410_ends_the_delivery() {
        let failed = DeliveryState::queued(START).after(Outcome::Gone, START, [0; 4]);
        assert_eq!((failed.status, failed.next_attempt_at), (DeliveryStatus::Failed, None));
    }

    #[test]
    fn a_test_is_tried_once() {
        for (outcome, status) in [
            (Outcome::Accepted(204), DeliveryStatus::Delivered),
            (Outcome::Refused(500), DeliveryStatus::Failed),
            (Outcome::Unanswered, DeliveryStatus::Failed),
        ] {
            let state = DeliveryState::tried_once(outcome, START);
            assert_eq!((state.status, state.attempts, state.next_attempt_at), (status, 1, None));
            assert_eq!((state.response_status, state.last_attempt_at), (outcome.status(), Some(START)));
        }
    }

    #[test]
    fn a_retry_gives_one_more_attempt() {
        let failed = DeliveryState {
            status: DeliveryStatus::Failed,
            attempts: 9,
            next_attempt_at: None,
            ..DeliveryState::queued(START)
        };
        for state in [failed, DeliveryState::skipped()] {
            for served in [false, true] {
                let again = state.retry(START, served).unwrap();
                assert_eq!((again.status, again.next_attempt_at), (DeliveryStatus::Pending, Some(START)));
            }
        }
        let again = failed.retry(START, false).unwrap().after(Outcome::Unanswered, START, [0; 4]);
        assert_eq!((again.status, again.attempts), (DeliveryStatus::Failed, 10));
        let due = DeliveryState::queued(START);
        assert_eq!(due.retry(START, true), Err(BeingSent));
        assert_eq!(due.retry(START, false), Ok(due));
        let later = due.after(Outcome::Unanswered, START, [0; 4]);
        assert_eq!(later.retry(START, true).unwrap().next_attempt_at, Some(START), "it waits, so no worker has it");
    }

    #[test]
    fn names_round_trip() {
        for status in DeliveryStatus::ALL {
            assert_eq!(DeliveryStatus::from_name(status.as_str()), Some(status));
        }
        assert_eq!(DeliveryStatus::from_name("Pending"), None);
    }

    proptest! {
        /// A message and an endpoint have one delivery identifier, which no other pair has, and it sorts by the time of
        /// the message.
        #[test]
        fn identifiers_follow_from_message_and_endpoint(one: [u8; 16], other: [u8; 16], hook: [u8; 16], more: [u8; 16]) {
            let (one, other) = (MessageId::from_bytes(one), MessageId::from_bytes(other));
            let (hook, more) = (WebhookId::from_bytes(hook), WebhookId::from_bytes(more));
            let id = delivery_id(one, hook);
            prop_assert_eq!(id, delivery_id(one, hook));
            prop_assert_eq!(id == delivery_id(other, hook), one == other);
            prop_assert_eq!(id == delivery_id(one, more), hook == more);
            let (bytes, time) = (*id.uuid().as_bytes(), *one.uuid().as_bytes());
            prop_assert_eq!(&bytes[..6], &time[..6], "identifiers sort by the message's time");
            prop_assert_eq!((bytes[6] >> 4, bytes[8] >> 6), (7, 2));
        }

        /// The least identifier of a time separates the deliveries of older messages from those of newer ones.
        #[test]
        fn the_least_identifier_separates_messages_by_time(
            at in 0i64..4_000_000_000_000, message in 0i64..4_000_000_000_000, near in -3i64..3, hook: [u8; 16], filled: u8,
        ) {
            struct Filled(u8);
            impl Entropy for Filled {
                fn fill(&self, bytes: &mut [u8]) {
                    bytes.fill(self.0);
                }
            }
            let least = least_delivery_id(Timestamp::from_micros(at * 1_000));
            for millis in [message, (at + near).max(0)] {
                let message = MessageId::new(Timestamp::from_micros(millis * 1_000), &Filled(filled));
                let id = delivery_id(message, WebhookId::from_bytes(hook));
                prop_assert_eq!(id >= least, millis >= at);
            }
        }

        /// A delivery is due exactly while it is pending, and is pending for fewer than nine attempts.
        #[test]
        fn only_pending_deliveries_are_due(outcomes in prop::collection::vec(0u16..4, 0..15), random: [u8; 4]) {
            let (mut state, mut now) = (DeliveryState::queued(START), START);
            let mut attempts = 0;
            for outcome in outcomes {
                let Some(due) = state.next_attempt_at else { break };
                now = now.max(due);
                let outcome = match outcome { 0 => Outcome::Accepted(200), 1 => Outcome::Gone, 2 => Outcome::Unanswered, _ => Outcome::Refused(500) };
                state = state.after(outcome, now, random);
                attempts += 1;
                prop_assert_eq!(state.attempts, attempts);
                prop_assert_eq!(state.next_attempt_at.is_some(), state.status == DeliveryStatus::Pending);
                prop_assert_eq!(state.status == DeliveryStatus::Delivered, outcome.is_success());
                prop_assert!(attempts < 9 || state.status != DeliveryStatus::Pending);
            }
            prop_assert_eq!(state.abandoned().next_attempt_at, None);
        }
    }
}
