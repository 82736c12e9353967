//! Which endpoints receive a message, and how many deliveries the quota allows.
//!
//! A store reads the waiting messages and the listeners of their organizations, and calls [`address`]. It charges
//! each organization for all its deliveries in one step, and calls [`over_quota`] for the number that exceeds the
//! quota. Everything is written in one transaction, so that a message is addressed once.

use std::collections::BTreeMap;

use kalends_kernel::{MessageId, OrgId, WebhookId};
use kalends_time::Timestamp;

use crate::{Delivery, DeliveryState, EventType, Subscription, cause::is_addressed};

/// A message that waits to be addressed, without its content, which is not needed for that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// When it was created. The oldest messages are addressed first.
    pub created_at: Timestamp,
    /// The organization.
    pub org: OrgId,
    /// The message.
    pub id: MessageId,
    /// What it announces.
    pub event_type: EventType,
    /// The endpoint that the message is about, if any.
    pub about: Option<WebhookId>,
}

/// An endpoint that is switched on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listener {
    /// The organization.
    pub org: OrgId,
    /// The endpoint.
    pub id: WebhookId,
    /// The event types that the endpoint is subscribed to.
    pub subscription: Subscription,
}

/// The maximum number of deliveries in one transaction, unless a single message has more. It bounds the memory and
/// the time of the transaction, however many endpoints an organization has.
pub const DELIVERIES_AT_ONCE: usize = 250;

/// The deliveries of the first messages, as many as fit into one transaction ([`DELIVERIES_AT_ONCE`]), and the number
/// of these messages. The deliveries are in the order of the messages, and all are due at once. The other messages keep
/// waiting.
pub fn address(waiting: &[Waiting], listeners: &[Listener], now: Timestamp) -> (Vec<Delivery>, usize) {
    let mut by_org: BTreeMap<OrgId, Vec<&Listener>> = BTreeMap::new();
    for listener in listeners {
        by_org.entry(listener.org).or_default().push(listener);
    }
    let mut deliveries = Vec::new();
    for (number, message) in waiting.iter().enumerate() {
        let before = deliveries.len();
        for listener in by_org.get(&message.org).into_iter().flatten() {
            if is_addressed(listener.id, true, &listener.subscription, message.event_type, message.about) {
                let what = (message.id, message.event_type);
                deliveries.push(Delivery::new(message.org, listener.id, what, DeliveryState::queued(now), now));
            }
        }
        if before > 0 && deliveries.len() > DELIVERIES_AT_ONCE {
            deliveries.truncate(before);
            return (deliveries, number);
        }
    }
    (deliveries, waiting.len())
}

/// The number of deliveries that each organization is charged for.
pub fn charged(deliveries: &[Delivery]) -> BTreeMap<OrgId, u64> {
    let mut charged = BTreeMap::new();
    for delivery in deliveries {
        *charged.entry(delivery.org).or_default() += 1;
    }
    charged
}

/// The part of a charge to refund, if the counter was at `used` after adding `charged`.
pub fn over_quota(used: u64, charged: u64, limit: Option<u64>) -> u64 {
    limit.map_or(0, |limit| used.saturating_sub(limit).min(charged))
}

/// Marks the last `over` of an organization's deliveries as skipped.
pub fn skip(deliveries: &mut [Delivery], org: OrgId, over: u64) {
    let over = usize::try_from(over).unwrap_or(usize::MAX);
    for delivery in deliveries.iter_mut().rev().filter(|delivery| delivery.org == org).take(over) {
        delivery.state = DeliveryState::skipped();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::DeliveryStatus;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    fn org(number: u8) -> OrgId {
        OrgId::from_bytes([number; 16])
    }

    fn listener(of: u8, number: u8, names: &[&str]) -> Listener {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let subscription = Subscription::parse("events", &names).unwrap();
        Listener { org: org(of), id: WebhookId::from_bytes([number; 16]), subscription }
    }

    fn message(of: u8, number: u8, event_type: EventType) -> Waiting {
        Waiting { created_at: NOW, org: org(of), id: MessageId::from_bytes([number; 16]), event_type, about: None }
    }

    #[test]
    fn endpoints_receive_the_types_they_are_subscribed_to() {
        let listeners = [
            listener(1, 1, &["*"]),
            listener(1, 2, &["agent.created"]),
            listener(2, 3, &["event.created", "event.deleted"]),
        ];
        let about = Waiting { about: Some(listeners[0].id), ..message(1, 12, EventType::WebhookDeactivated) };
        let waiting = [
            message(1, 10, EventType::EventCreated),
            message(1, 11, EventType::AgentCreated),
            about,
            message(2, 13, EventType::EventCreated),
            message(3, 14, EventType::EventCreated),
        ];
        let (deliveries, taken) = address(&waiting, &listeners, NOW);
        assert_eq!(taken, waiting.len());
        let addressed: Vec<_> = deliveries
            .iter()
            .map(|delivery| (delivery.message.uuid().as_bytes()[0], delivery.webhook.uuid().as_bytes()[0]))
            .collect();
        assert_eq!(addressed, [(10, 1), (11, 1), (11, 2), (13, 3)]);
        assert!(deliveries.iter().all(|delivery| delivery.state == DeliveryState::queued(NOW)));
        assert_eq!(charged(&deliveries), BTreeMap::from([(org(1), 3), (org(2), 1)]));
    }

    #[test]
    fn messages_over_the_maximum_wait() {
        let listeners: Vec<_> = (0..60).map(|number| listener(1, number, &["*"])).collect();
        let waiting: Vec<_> = (0..9).map(|number| message(1, number, EventType::EventCreated)).collect();
        let (deliveries, taken) = address(&waiting, &listeners, NOW);
        assert_eq!((deliveries.len(), taken), (4 * 60, 4));
        // A message is never split, however many endpoints receive it.
        let crowd: Vec<_> = (0..6).flat_map(|_| listeners.clone()).collect();
        let (deliveries, taken) = address(&waiting, &crowd, NOW);
        assert_eq!((deliveries.len(), taken), (6 * 60, 1));
    }

    proptest! {
        /// However the messages are portioned, the deliveries of a month never exceed the limit, and reach it before
        /// any is skipped.
        #[test]
        fn the_quota_is_reached_but_not_exceeded(portions in prop::collection::vec(0u8..20, 1..12), limit in 0u64..60) {
            let listeners = [listener(1, 1, &["*"]), listener(1, 2, &["*"])];
            let (mut used, mut sent, mut skipped, mut number) = (0, 0, 0, 0);
            for portion in portions {
                let waiting: Vec<_> = (0..portion).map(|_| { number += 1; message(1, number, EventType::EventCreated) }).collect();
                let (mut deliveries, _) = address(&waiting, &listeners, NOW);
                let charge = charged(&deliveries).get(&org(1)).copied().unwrap_or(0);
                used += charge;
                let over = over_quota(used, charge, Some(limit));
                used -= over;
                skip(&mut deliveries, org(1), over);
                let pending = deliveries.iter().filter(|delivery| delivery.state.status == DeliveryStatus::Pending).count();
                sent += pending;
                skipped += deliveries.len() - pending;
                prop_assert_eq!(used, sent as u64);
                prop_assert!(used <= limit && (skipped == 0 || used == limit));
            }
            prop_assert_eq!(sent + skipped, usize::from(number) * 2);
        }
    }
}
