//! What people look at to find out how an endpoint fares.

use std::collections::BTreeMap;

use kalends_kernel::{Page, WebhookId};
use kalends_notifications::{Delivery, DeliveryStatus, Outcome, ports::DeliveryStats};
use kalends_time::{CivilDate, SignedDuration, Timestamp};

use super::{StoreUnderTest, scene::Scene};

/// A limit that no case reaches.
const ALL: u32 = 1_000;

type Days = BTreeMap<CivilDate, DeliveryStats>;

fn day(at: Timestamp) -> CivilDate {
    CivilDate::from_days(at.as_micros().div_euclid(SignedDuration::days(1).as_micros()))
}

fn midnight(of: Timestamp) -> Timestamp {
    Timestamp::from_micros(day(of).as_days() * SignedDuration::days(1).as_micros())
}

fn counted(deliveries: &[Delivery]) -> Days {
    let mut days = Days::new();
    for delivery in deliveries {
        let (stats, status) = (days.entry(day(delivery.created_at)).or_default(), delivery.state.status);
        stats.set(status, stats.of(Some(status)) + 1);
    }
    days
}

impl Scene {
    async fn days(&self, webhook: WebhookId, since: Timestamp, limit: u32) -> Days {
        self.store.delivery_days(self.org, webhook, since, limit).await.unwrap()
    }

    async fn newest(&self, webhook: WebhookId, status: Option<DeliveryStatus>, page: Page) -> Vec<Delivery> {
        self.store.newest_deliveries(self.org, webhook, status, page).await.unwrap()
    }
}

/// Deliveries are listed from the newest to the oldest, in pages, of each status or of all.
pub async fn the_newest_deliveries_are_listed_in_pages(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    scene.announce(5).await;
    scene.fan_out().await;
    let claim = scene.claimed().await;
    let due = scene.due(claim).await;
    let at = scene.make.tick();
    assert!(scene.record_outcome(claim, &due[1..3], Outcome::Accepted(204), at).await);
    let mut all = scene.deliveries(claim.webhook).await;
    all.reverse();
    assert_eq!(all.len(), 5);
    for status in [None, Some(DeliveryStatus::Delivered), Some(DeliveryStatus::Pending), Some(DeliveryStatus::Failed)] {
        let matching = all.iter().filter(|delivery| status.is_none_or(|status| delivery.state.status == status));
        let matching: Vec<_> = matching.copied().collect();
        for (limit, offset) in [(50, 0), (2, 0), (2, 2), (2, 4), (1, 3), (50, 5)] {
            let listed = scene.newest(claim.webhook, status, Page { limit, offset }).await;
            let expected = matching.iter().skip(offset as usize).take(limit as usize);
            assert_eq!(listed, expected.copied().collect::<Vec<_>>(), "{status:?}, {limit} after {offset}");
        }
    }
    let theirs = other.newest(claim.webhook, None, Page::default()).await;
    assert!(theirs.is_empty(), "another organization sees nothing: {theirs:?}");
}

/// Deliveries are counted by UTC day and by status, back to a time, and no more than the limit.
pub async fn deliveries_are_counted_by_day(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let first = scene.make.tick();
    scene.announce(2).await;
    scene.fan_out().await;
    scene.make.clock.advance(SignedDuration::days(1));
    let second = scene.make.tick();
    scene.announce(3).await;
    scene.fan_out().await;
    let claim = scene.claimed().await;
    let due = scene.due(claim).await;
    let at = scene.make.tick();
    assert!(scene.record_outcome(claim, &due[..1], Outcome::Accepted(204), at).await);
    assert!(scene.record_outcome(claim, &due[2..4], Outcome::Accepted(204), at).await);
    assert!(scene.record_outcome(claim, &due[4..], Outcome::Gone, at).await);

    let all = scene.deliveries(claim.webhook).await;
    assert_eq!(scene.days(claim.webhook, midnight(first), ALL).await, counted(&all));
    let stats = |pending, delivered, failed| DeliveryStats { pending, delivered, failed, skipped: 0 };
    let expected = Days::from([(day(first), stats(1, 1, 0)), (day(second), stats(0, 2, 1))]);
    assert_eq!(counted(&all), expected);
    assert_eq!(scene.days(claim.webhook, midnight(second), ALL).await, counted(&all[2..]));
    assert_eq!(scene.days(claim.webhook, scene.make.tick(), ALL).await, Days::new());
    for limit in 0..6 {
        let newest = counted(&all[all.len().saturating_sub(limit)..]);
        assert_eq!(scene.days(claim.webhook, midnight(first), u32::try_from(limit).unwrap()).await, newest, "{limit}");
    }
    assert_eq!(other.days(claim.webhook, midnight(first), ALL).await, Days::new(), "another organization sees nothing");
}

/// The payload of a delivery is read as it was stored, and is absent once the message is removed.
pub async fn a_payload_is_read_while_it_is_kept(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    scene.announce(1).await;
    scene.fan_out().await;
    let webhook = scene.listener().await.id;
    let delivery = scene.deliveries(webhook).await[0];
    let message = scene.make.message(scene.org);
    assert_eq!(scene.store.delivery_payload(&delivery).await.unwrap(), Some(message.payload));
    assert_eq!(scene.store.forget_messages(scene.make.tick(), 10).await.unwrap(), 1);
    assert_eq!(scene.store.delivery_payload(&delivery).await.unwrap(), None);
}
