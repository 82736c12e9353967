//! From the outbox to the queues of endpoints, and what workers record.

use std::collections::BTreeSet;

use kalends_accounts::Organization;
use kalends_app::{ChangeSet, ports::CommitError};
use kalends_kernel::{Page, WebhookId};
use kalends_notifications::{
    CLAIM_LASTS, Change, Claim, Delivery, DeliveryState, DeliveryStatus, EventType, HealthChange, Message, Outcome,
    Places, Record, Recorded, WebhookEndpoint,
    ports::{DeliveryStats, FannedOut},
};
use kalends_plans::Metric;
use kalends_time::{SignedDuration, Timestamp};
use serde_json::json;

use super::{
    StoreUnderTest,
    scene::{LARGEST_PAGE, Scene, assert_refused, race},
};
use crate::fixtures::Compose;

/// How many tasks run at once.
const TASKS: usize = 8;

impl Scene {
    /// Stores a message of this type.
    async fn announced(&self, event_type: EventType) -> Message {
        let message = Message { event_type, ..self.make.message(self.org) };
        self.commit(self.changes().message(message.clone())).await;
        message
    }

    /// Stores `count` messages.
    pub(super) async fn announce(&self, count: usize) {
        for _ in 0..count {
            self.announced(EventType::EventCreated).await;
        }
    }

    pub(super) async fn fan_out(&self) -> FannedOut {
        self.store.fan_out(self.make.tick(), 1_000).await.unwrap()
    }

    /// The only claim that can be made now.
    pub(super) async fn claimed(&self) -> Claim {
        let claims = self.store.claim_webhooks(self.make.tick(), Places::of(10)).await.unwrap();
        assert_eq!(claims.len(), 1, "{claims:?}");
        claims[0]
    }

    pub(super) async fn due(&self, claim: Claim) -> Vec<Delivery> {
        let due = self.store.due_deliveries(claim, self.make.tick(), 1_000).await.unwrap();
        due.into_iter().map(|due| due.delivery).collect()
    }

    /// Records the same outcome for all of the deliveries.
    pub(super) async fn record_outcome(
        &self,
        claim: Claim,
        deliveries: &[Delivery],
        outcome: Outcome,
        at: Timestamp,
    ) -> bool {
        let mut health = HealthChange::default();
        let recorded: Vec<_> = deliveries
            .iter()
            .map(|delivery| {
                health = health.then(outcome, at);
                Recorded { id: delivery.id, seen: delivery.state, state: delivery.state.after(outcome, at, [128; 4]) }
            })
            .collect();
        let mut changes = ChangeSet::new(self.org);
        changes.webhooks.push(Change::Record(Record { claim, recorded, health, at }));
        match self.store.commit(changes).await {
            Ok(()) => true,
            Err(CommitError::Stale) => false,
            Err(error) => panic!("{error}"),
        }
    }

    pub(super) async fn deliveries(&self, webhook: WebhookId) -> Vec<Delivery> {
        let listed = self.store.list_deliveries(self.org, webhook, None, false, LARGEST_PAGE).await.unwrap();
        listed.into_iter().map(|seen| seen.delivery).collect()
    }

    async fn stats(&self, webhook: WebhookId) -> DeliveryStats {
        self.store.delivery_stats(self.org, webhook).await.unwrap()
    }
}

/// Each endpoint gets the messages that it listens for, with their payloads. A message about an endpoint is not sent
/// to that endpoint, and an inactive endpoint gets nothing. Another organization gets its own messages.
pub async fn messages_are_addressed_to_listening_endpoints(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let all = scene.listener().await;
    let narrow = scene.hears(&["agent.created"]).await;
    let off = scene.hears(&["*"]).await;
    scene.switched(&off, false).await;
    let first = scene.announced(EventType::EventCreated).await;
    let second = scene.announced(EventType::AgentCreated).await;
    let about =
        Message { event_type: EventType::WebhookDeactivated, about: Some(all.id), ..scene.make.message(scene.org) };
    scene.commit(scene.changes().message(about)).await;
    let theirs = other.announced(EventType::EventDeleted).await;
    assert_eq!(scene.fan_out().await, FannedOut { messages: 4, queued: 4, skipped: 0, more: false });
    assert_eq!(scene.fan_out().await, FannedOut::default(), "once");

    let delivered = async |scene: &Scene, endpoint: &WebhookEndpoint| {
        let seen = scene.store.list_deliveries(scene.org, endpoint.id, None, true, LARGEST_PAGE).await.unwrap();
        seen.into_iter().map(|seen| (seen.delivery.message, seen.delivery.event_type, seen.payload)).collect::<Vec<_>>()
    };
    let as_sent = |message: &Message| (message.id, message.event_type, Some(message.payload.clone()));
    assert_eq!(delivered(&scene, &all).await, [as_sent(&first), as_sent(&second)]);
    assert_eq!(delivered(&scene, &narrow).await, [as_sent(&second)]);
    assert_eq!(delivered(&scene, &off).await, []);
    assert_eq!(delivered(&other, &other.listener().await).await, [as_sent(&theirs)]);
    assert_eq!(delivered(&other, &all).await, [], "another organization's deliveries are not visible");
    assert_eq!((scene.used(Metric::WebhookDeliveries).await, other.used(Metric::WebhookDeliveries).await), (3, 1));

    let claims = scene.store.claim_webhooks(scene.make.tick(), Places::of(10)).await.unwrap();
    let claimed: BTreeSet<_> = claims.iter().map(|claim| claim.webhook).collect();
    assert_eq!(claimed, BTreeSet::from([all.id, narrow.id, other.listener().await.id]));
    let claim = claims.iter().find(|claim| claim.webhook == all.id).unwrap();
    let due = scene.store.due_deliveries(*claim, scene.make.tick(), 1).await.unwrap();
    assert_eq!(due.len(), 1);
    assert_eq!(due[0].message, Some(first), "as it was stored");
}

/// However many workers address messages at once, each message is addressed and charged once.
pub async fn a_message_is_addressed_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    scene.hears(&["*"]).await;
    scene.announce(30).await;
    let fanned = race(TASKS, |_| {
        let scene = scene.clone();
        async move {
            let mut messages = 0;
            // A worker that was skipped tries again.
            for _ in 0..40 {
                messages += scene.store.fan_out(scene.make.tick(), 4).await.unwrap().messages;
            }
            messages
        }
    })
    .await;
    assert_eq!(fanned.iter().sum::<u64>(), 30, "{fanned:?}");
    for endpoint in scene.webhooks().await {
        let messages: BTreeSet<_> =
            scene.deliveries(endpoint.id).await.iter().map(|delivery| delivery.message).collect();
        assert_eq!(messages.len(), 30);
        assert_eq!(scene.stats(endpoint.id).await.pending, 30);
    }
    assert_eq!(scene.used(Metric::WebhookDeliveries).await, 60);
}

/// Concurrent workers reach the monthly limit and never exceed it. Deliveries over the limit are kept as skipped.
pub async fn the_quota_is_reached_but_never_exceeded(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let seen = scene.organization().await;
    let overrides = Some(json!({ "webhook_deliveries": 25 }));
    let limited = Organization { limit_overrides: overrides, version: seen.version.next(), ..seen.clone() };
    scene.commit(scene.changes().update(&limited, seen.version)).await;
    scene.hears(&["*"]).await;
    scene.announce(20).await;
    race(TASKS, |_| {
        let scene = scene.clone();
        async move {
            for _ in 0..20 {
                scene.store.fan_out(scene.make.tick(), 3).await.unwrap();
            }
        }
    })
    .await;
    let (mut pending, mut skipped) = (0, 0);
    for endpoint in scene.webhooks().await {
        let stats = scene.stats(endpoint.id).await;
        (pending, skipped) = (pending + stats.pending, skipped + stats.skipped);
    }
    assert_eq!((pending, skipped, scene.used(Metric::WebhookDeliveries).await), (25, 15, 25));
}

/// However many workers claim at once, one gets an endpoint.
pub async fn one_worker_serves_an_endpoint(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    for _ in 0..5 {
        scene.hears(&["*"]).await;
    }
    scene.announce(1).await;
    scene.fan_out().await;
    let now = scene.make.tick();
    let claims = race(TASKS, |_| {
        let scene = scene.clone();
        async move { scene.store.claim_webhooks(now, Places::of(2)).await.unwrap() }
    })
    .await;
    let claimed: Vec<_> = claims.into_iter().flatten().map(|claim| claim.webhook).collect();
    let apart: BTreeSet<_> = claimed.iter().copied().collect();
    assert_eq!((claimed.len(), apart.len()), (6, 6));
}

/// With a limit, the longest waiting endpoints are claimed first.
pub async fn the_longest_waiting_endpoint_is_claimed_first(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let first = scene.listener().await;
    scene.announce(1).await;
    scene.fan_out().await;
    let second = scene.hears(&["*"]).await;
    scene.announce(1).await;
    scene.fan_out().await;
    for endpoint in [first, second] {
        let claims = scene.store.claim_webhooks(scene.make.tick(), Places::of(1)).await.unwrap();
        assert_eq!(claims.iter().map(|claim| claim.webhook).collect::<Vec<_>>(), [endpoint.id]);
    }
}

/// Failing endpoints use separate places, so that they do not delay others.
pub async fn failing_endpoints_use_separate_places(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let failing = scene.listener().await;
    scene.announce(1).await;
    scene.fan_out().await;
    let claim = scene.claimed().await;
    assert!(!claim.failing, "the endpoint is not failing");
    let at = scene.make.tick();
    assert!(scene.record_outcome(claim, &scene.due(claim).await, Outcome::Unanswered, at).await);
    scene.store.release_webhook(claim).await.unwrap();
    let sound = [scene.hears(&["*"]).await.id, scene.hears(&["*"]).await.id];
    scene.announce(1).await;
    scene.fan_out().await;
    let later = scene.make.tick() + SignedDuration::hours(1);
    let claimed = async |sound, failing| {
        let claims = scene.store.claim_webhooks(later, Places { sound, failing }).await.unwrap();
        claims.iter().map(|claim| (claim.webhook, claim.failing)).collect::<BTreeSet<_>>()
    };
    assert_eq!(claimed(0, 0).await, BTreeSet::new());
    assert_eq!(claimed(1, 0).await.len(), 1);
    assert_eq!(claimed(0, 9).await, BTreeSet::from([(failing.id, true)]));
    let rest = claimed(9, 9).await;
    assert!(rest.len() == 1 && rest.iter().all(|(id, failing)| sound.contains(id) && !failing), "{rest:?}");
}

/// When a claim has expired, another worker takes over. The worker that lost it records and releases nothing.
pub async fn a_lost_claim_records_nothing(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    scene.announce(2).await;
    scene.fan_out().await;
    let first = scene.claimed().await;
    let due = scene.due(first).await;
    assert_eq!(due.len(), 2);
    // A new message does not let a second worker in.
    scene.announce(1).await;
    scene.fan_out().await;
    assert_eq!(scene.store.claim_webhooks(scene.make.tick(), Places::of(10)).await.unwrap(), []);

    scene.make.clock.advance(CLAIM_LASTS);
    let second = scene.claimed().await;
    assert!(second.fence > first.fence && second.webhook == first.webhook);
    let now = scene.make.tick();
    assert!(!scene.record_outcome(first, &due, Outcome::Accepted(200), now).await);
    scene.store.release_webhook(first).await.unwrap();
    assert_eq!(scene.stats(first.webhook).await.pending, 3);
    assert_eq!(scene.store.claim_webhooks(scene.make.tick(), Places::of(10)).await.unwrap(), [], "it is still served");
    assert!(scene.record_outcome(second, &due, Outcome::Accepted(200), now).await);
    assert!(scene.record_outcome(second, &due, Outcome::Refused(500), now).await, "the claim holds");
    let stats = scene.stats(first.webhook).await;
    assert_eq!((stats.delivered, stats.pending), (2, 1), "finished deliveries do not change");
}

/// Outcomes are stored with all their fields, listed by status in pages, and counted.
pub async fn recorded_outcomes_are_listed(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    scene.announce(5).await;
    scene.fan_out().await;
    let claim = scene.claimed().await;
    let due = scene.due(claim).await;
    let now = scene.make.tick();
    assert!(scene.record_outcome(claim, &due[..1], Outcome::Accepted(204), now).await);
    assert!(scene.record_outcome(claim, &due[1..2], Outcome::Gone, now).await);
    assert!(scene.record_outcome(claim, &due[2..3], Outcome::Refused(503), now).await);
    assert!(scene.record_outcome(claim, &due[3..4], Outcome::Unanswered, now).await);
    let expected = [
        due[0].state.after(Outcome::Accepted(204), now, [128; 4]),
        due[1].state.after(Outcome::Gone, now, [128; 4]),
        due[2].state.after(Outcome::Refused(503), now, [128; 4]),
        due[3].state.after(Outcome::Unanswered, now, [128; 4]),
        due[4].state,
    ];
    let expected: Vec<_> = due.iter().zip(expected).map(|(due, state)| Delivery { state, ..*due }).collect();
    assert_eq!(scene.deliveries(claim.webhook).await, expected);
    for delivery in &expected {
        let found = scene.store.find_delivery(scene.org, claim.webhook, delivery.id, now).await.unwrap();
        assert_eq!(found, Some((*delivery, true)));
    }
    let stats = DeliveryStats { pending: 3, delivered: 1, failed: 1, skipped: 0 };
    assert_eq!(scene.stats(claim.webhook).await, stats);
    for status in DeliveryStatus::ALL {
        let listed =
            scene.store.list_deliveries(scene.org, claim.webhook, Some(status), false, LARGEST_PAGE).await.unwrap();
        let of: Vec<_> = expected.iter().filter(|delivery| delivery.state.status == status).copied().collect();
        assert_eq!(listed.iter().map(|seen| seen.delivery).collect::<Vec<_>>(), of);
        assert!(listed.iter().all(|seen| seen.payload.is_none()), "the query did not ask for payloads");
    }
    let page = Page { limit: 2, offset: 3 };
    let listed = scene.store.list_deliveries(scene.org, claim.webhook, None, false, page).await.unwrap();
    assert_eq!(listed.iter().map(|seen| seen.delivery).collect::<Vec<_>>(), expected[3..]);
    assert_eq!(scene.due(claim).await, expected[4..], "the others are waiting or finished");
}

/// A released endpoint is due at the earliest pending attempt, and not before.
pub async fn a_released_endpoint_is_due_at_its_next_attempt(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    scene.announce(2).await;
    scene.fan_out().await;
    let claim = scene.claimed().await;
    let due = scene.due(claim).await;
    let now = scene.make.tick();
    scene.record_outcome(claim, &due, Outcome::Refused(500), now).await;
    scene.store.release_webhook(claim).await.unwrap();
    let next = due[0].state.after(Outcome::Refused(500), now, [128; 4]).next_attempt_at.unwrap();
    assert_eq!(scene.store.claim_webhooks(next - SignedDuration::micros(1), Places::of(10)).await.unwrap(), []);
    let again = scene.store.claim_webhooks(next, Places::of(10)).await.unwrap();
    assert_eq!(again.len(), 1);
    let due = scene.store.due_deliveries(again[0], next, 10).await.unwrap();
    let due: Vec<_> = due.into_iter().map(|due| due.delivery).collect();
    assert_eq!(due.len(), 2);
    scene.record_outcome(again[0], &due, Outcome::Accepted(200), next).await;
    scene.store.release_webhook(again[0]).await.unwrap();
    let far = next + SignedDuration::days(3);
    assert_eq!(scene.store.claim_webhooks(far, Places::of(10)).await.unwrap(), [], "nothing is left");
}

/// A message that is addressed just while a worker releases the endpoint is found by the next claim.
pub async fn no_message_is_lost_between_two_claims(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    scene.announce(1).await;
    scene.fan_out().await;
    let mut delivered = 0;
    for round in 0..30 {
        let claim = scene.claimed().await;
        let due = scene.due(claim).await;
        assert_eq!(due.len(), 1, "round {round}");
        scene.record_outcome(claim, &due, Outcome::Accepted(200), scene.make.tick()).await;
        delivered += 1;
        scene.announce(1).await;
        race(2, |task| {
            let scene = scene.clone();
            async move {
                match task {
                    0 => scene.store.release_webhook(claim).await.unwrap(),
                    _ => drop(scene.fan_out().await),
                }
            }
        })
        .await;
    }
    assert_eq!(delivered, 30);
}

/// The first failure after the last success is kept. An update of the endpoint can clear it, even while a worker serves
/// the endpoint.
pub async fn health_follows_recorded_outcomes(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    scene.announce(6).await;
    scene.fan_out().await;
    let claim = scene.claimed().await;
    let due = scene.due(claim).await;
    let since = async || scene.store.failing_since(scene.org, claim.webhook).await.unwrap();
    assert_eq!(since().await, None);
    let first = scene.make.tick();
    scene.record_outcome(claim, &due[..1], Outcome::Refused(500), first).await;
    scene.record_outcome(claim, &due[1..2], Outcome::Unanswered, scene.make.tick()).await;
    assert_eq!(since().await, Some(first));
    scene.record_outcome(claim, &due[2..3], Outcome::Accepted(200), scene.make.tick()).await;
    assert_eq!(since().await, None);
    scene.record_outcome(claim, &due[3..4], Outcome::Refused(500), scene.make.tick()).await;
    assert!(since().await.is_some());

    let endpoint = scene.listener().await;
    let healed = endpoint.rotated(scene.make.tick(), &scene.make.entropy);
    let change = |heals, endpoint: &WebhookEndpoint, seen| Change::UpdateEndpoint {
        endpoint: Box::new(endpoint.clone()),
        seen,
        heals,
    };
    scene.commit(scene.changes().webhook(change(false, &healed, endpoint.version))).await;
    assert!(since().await.is_some(), "a rotation does not vouch for the endpoint");
    let again = healed.rotated(scene.make.tick(), &scene.make.entropy);
    scene.commit(scene.changes().webhook(change(true, &again, healed.version))).await;
    assert_eq!(since().await, None);
    let later = scene.make.tick();
    scene.record_outcome(claim, &due[4..5], Outcome::Refused(500), later).await;
    assert_eq!(since().await, Some(later), "earlier failures are forgotten");
}

/// Removing an endpoint while a worker serves it ends the claim.
pub async fn a_removed_endpoint_is_not_served(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    scene.announce(1).await;
    scene.fan_out().await;
    let claim = scene.claimed().await;
    let due = scene.due(claim).await;
    scene.commit(scene.changes().delete(&scene.listener().await)).await;
    assert!(!scene.record_outcome(claim, &due, Outcome::Accepted(200), scene.make.tick()).await);
    scene.store.release_webhook(claim).await.unwrap();
    scene.make.clock.advance(CLAIM_LASTS);
    assert_eq!(scene.store.claim_webhooks(scene.make.tick(), Places::of(10)).await.unwrap(), []);
    let found = scene.store.find_delivery(scene.org, claim.webhook, due[0].id, scene.make.tick()).await.unwrap();
    assert_eq!(found, None);
}

/// A delivery that was given up is pending again and its endpoint is due, unless the delivery has changed since it
/// was seen.
pub async fn a_delivery_is_sent_again(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    scene.announce(1).await;
    scene.fan_out().await;
    let claim = scene.claimed().await;
    let delivery = scene.due(claim).await[0];
    let now = scene.make.tick();
    scene.record_outcome(claim, &[delivery], Outcome::Gone, now).await;
    scene.store.release_webhook(claim).await.unwrap();
    assert_eq!(scene.store.claim_webhooks(scene.make.tick(), Places::of(10)).await.unwrap(), []);

    let (failed, served) =
        scene.store.find_delivery(scene.org, claim.webhook, delivery.id, scene.make.tick()).await.unwrap().unwrap();
    assert!(!served && failed.state.status == DeliveryStatus::Failed);
    let at = scene.make.tick();
    let again = Delivery { state: failed.state.retry(at, served).unwrap(), ..failed };
    let retry = |seen| Change::RetryDelivery { delivery: Box::new(again), seen, at };
    assert_refused!(scene.try_commit(scene.changes().webhook(retry(delivery.state))).await, CommitError::Stale);
    scene.commit(scene.changes().webhook(retry(failed.state))).await;
    assert_refused!(scene.try_commit(scene.changes().webhook(retry(failed.state))).await, CommitError::Stale);
    let claim = scene.claimed().await;
    assert_eq!(scene.due(claim).await, [again]);
    let (_, served) =
        scene.store.find_delivery(scene.org, claim.webhook, delivery.id, scene.make.tick()).await.unwrap().unwrap();
    assert!(served);
}

/// A message to one endpoint is stored with its delivery, and addressed to no other endpoint.
pub async fn a_test_message_has_its_own_delivery(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (endpoint, other) = (scene.listener().await, scene.hears(&["*"]).await);
    let message = Message { event_type: EventType::WebhookTest, ..scene.make.message(scene.org) };
    let state = DeliveryState::tried_once(Outcome::Refused(404), scene.make.tick());
    let what = (message.id, message.event_type);
    let delivery = Delivery::new(scene.org, endpoint.id, what, state, scene.make.tick());
    let add =
        |delivery: &Delivery| Change::AddDelivery { message: Box::new(message.clone()), delivery: Box::new(*delivery) };
    let nowhere = Delivery { webhook: scene.make.webhook(scene.org).id, ..delivery };
    assert_refused!(scene.try_commit(scene.changes().webhook(add(&nowhere))).await, CommitError::Stale);
    scene.commit(scene.changes().webhook(add(&delivery))).await;
    assert_eq!(scene.fan_out().await, FannedOut::default());
    let seen = scene.store.list_deliveries(scene.org, endpoint.id, None, true, LARGEST_PAGE).await.unwrap();
    assert_eq!(seen.iter().map(|seen| seen.delivery).collect::<Vec<_>>(), [delivery]);
    assert_eq!(seen[0].payload.as_ref(), Some(&message.payload));
    assert_eq!(scene.deliveries(other.id).await, []);
    assert_eq!(scene.store.claim_webhooks(scene.make.tick(), Places::of(10)).await.unwrap(), []);
}

/// Deliveries and messages are removed by age, in batches. A delivery whose message is gone is returned without it.
pub async fn old_deliveries_are_purged(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    scene.announce(3).await;
    scene.fan_out().await;
    scene.make.clock.advance(SignedDuration::days(1));
    let between = scene.make.tick();
    scene.announce(1).await;
    scene.fan_out().await;
    let webhook = scene.listener().await.id;
    assert_eq!(scene.store.forget_deliveries(between, 2).await.unwrap(), 2);
    assert_eq!(scene.store.forget_deliveries(between, 2).await.unwrap(), 1);
    assert_eq!(scene.store.forget_deliveries(between, 2).await.unwrap(), 0);
    assert_eq!(scene.deliveries(webhook).await.len(), 1);
    assert_eq!(scene.store.forget_messages(between, 2).await.unwrap(), 2);
    assert_eq!(scene.store.forget_messages(between, 2).await.unwrap(), 1);
    assert_eq!(scene.store.forget_messages(between, 2).await.unwrap(), 0);
    assert_eq!(scene.inspect.messages(scene.org).await.len(), 1);
    assert_eq!(scene.store.forget_messages(scene.make.tick(), 2).await.unwrap(), 1);
    let claim = scene.claimed().await;
    let due = scene.store.due_deliveries(claim, scene.make.tick(), 10).await.unwrap();
    assert_eq!(due.iter().map(|due| due.message.clone()).collect::<Vec<_>>(), [None]);
    let seen = scene.store.list_deliveries(scene.org, webhook, None, true, LARGEST_PAGE).await.unwrap();
    assert_eq!(seen.iter().map(|seen| seen.payload.clone()).collect::<Vec<_>>(), [None]);
}

/// Waiting messages and deliveries are counted, with the time since which the oldest is due.
pub async fn the_backlog_is_counted(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    scene.hears(&["*"]).await;
    let backlog = async || scene.store.backlog(scene.make.tick()).await.unwrap();
    assert_eq!(backlog().await, kalends_notifications::ports::Backlog::default());
    scene.announce(3).await;
    let waiting = backlog().await;
    assert_eq!((waiting.waiting, waiting.pending, waiting.oldest_due), (3, 0, None));
    let at = scene.make.tick();
    scene.store.fan_out(at, 10).await.unwrap();
    let queued = backlog().await;
    assert_eq!((queued.waiting, queued.pending, queued.oldest_due), (0, 6, Some(at)));
}
