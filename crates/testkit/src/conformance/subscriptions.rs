//! Subscriptions, the claims of the workers that sync them, and known imported items.

mod imported;

use std::collections::BTreeSet;

use kalends_app::ports::CommitError;
use kalends_calendars::{Calendar, Event, EventSource, Patch};
use kalends_feeds::{
    Change, Neighbour, Neighbours, NewSubscription, Origin, Placement, Remains, Subscription, SubscriptionPatch,
    SubscriptionStatus, SyncClaim,
    ports::SubscriptionCounts,
    sync::{
        CLAIM_LASTS, Ended, Fingerprint, ItemKey, KnownItem, LEFT_KEPT, Memory, Report, Seen, SyncState, Validators,
    },
};
use kalends_kernel::{AgentId, EventId, Page};
use kalends_plans::Metric;
use kalends_remote::RemoteUrl;
use kalends_time::{SignedDuration, Timestamp, Zone};

pub use self::imported::*;
use super::{
    StoreUnderTest,
    scene::{LARGEST_PAGE, Scene, assert_refused, hours, race, successes},
    series::moved,
};
use crate::fixtures::Compose;

/// How many tasks run at once.
const TASKS: usize = 8;
/// How many subscriptions of one host are claimed at once.
const PER_HOST: u32 = 2;

fn url(text: &str) -> RemoteUrl {
    RemoteUrl::from_stored(text).unwrap()
}

impl Scene {
    fn subscription(&self, calendar: &Calendar, address: &str) -> Subscription {
        let new =
            NewSubscription { url: url(address), label: Some("Arbeit: „früh“ 🗓".into()), busy_only: false };
        let of = (self.org, calendar.agent.unwrap(), calendar.id);
        let now = self.make.tick();
        let placement = Placement { place: now.as_micros(), left: None };
        Subscription::create(of, new, placement, now, &self.make.entropy)
    }

    /// Stores a subscription of the calendar to a feed at that address.
    pub(super) async fn subscribed(&self, calendar: &Calendar, address: &str) -> Subscription {
        self.subscribed_as(self.subscription(calendar, address)).await
    }

    /// Stores a subscription without a label.
    pub(super) async fn subscribed_unnamed(&self, calendar: &Calendar, address: &str) -> Subscription {
        self.subscribed_as(Subscription { label: None, ..self.subscription(calendar, address) }).await
    }

    async fn subscribed_as(&self, made: Subscription) -> Subscription {
        self.feed(vec![Change::CreateSubscription(Box::new(made.clone()))]).await.unwrap();
        made
    }

    async fn feed(&self, feeds: Vec<Change>) -> Result<(), CommitError> {
        let mut changes = self.changes();
        changes.feeds = feeds;
        self.try_commit(changes).await
    }

    async fn own_calendar(&self) -> Calendar {
        let agent = self.agent().await;
        self.calendar(&agent).await
    }

    async fn read_back(&self, subscription: &Subscription) -> Option<Subscription> {
        self.store.find_subscription(self.org, subscription.id).await.unwrap()
    }

    /// Pauses the subscription, and returns its new state.
    async fn paused(&self, seen: &Subscription) -> Subscription {
        let patch = SubscriptionPatch { paused: Patch::Set(true), ..SubscriptionPatch::default() };
        let paused = seen.patched(patch, self.make.tick());
        let (subscription, seen) = (Box::new(paused.clone()), seen.version);
        self.feed(vec![Change::UpdateSubscription { subscription, seen, moved: false, due: None }]).await.unwrap();
        paused
    }

    /// The counts of an agent's subscriptions, or of the organization's. Asserts that they are the totals of the lists.
    async fn counted(&self, agent: Option<AgentId>) -> SubscriptionCounts {
        let counts = self.store.count_subscriptions(self.org, agent).await.unwrap();
        for status in SubscriptionStatus::ALL.iter().copied().map(Some).chain([None]) {
            for page in [LARGEST_PAGE, Page { limit: 1, offset: 0 }, Page { limit: 1, offset: 200 }] {
                let listed = self.store.list_subscriptions(self.org, agent, status, page).await.unwrap();
                assert_eq!(listed.total, counts.of(status), "{agent:?} {status:?} {page:?}");
            }
        }
        counts
    }

    async fn claim_due(&self, now: Timestamp, limit: u32) -> Vec<(SyncClaim, Subscription)> {
        self.store.claim_subscriptions(now, now + CLAIM_LASTS, PER_HOST, limit).await.unwrap()
    }

    async fn claim_one(&self, now: Timestamp) -> SyncClaim {
        let claims = self.claim_due(now, 10).await;
        assert_eq!(claims.len(), 1, "{claims:?}");
        claims[0].0
    }

    async fn renew(&self, claim: SyncClaim, at: Timestamp) -> Result<(), CommitError> {
        self.feed(vec![Change::RenewClaim { claim, at, reserved: 0 }]).await
    }

    async fn end_sync(
        &self,
        claim: SyncClaim,
        state: SyncState,
        at: Timestamp,
        next: Timestamp,
    ) -> Result<(), CommitError> {
        self.feed(vec![Change::EndSync { claim, state: Box::new(state), next, at }]).await
    }

    async fn known_of(&self, origin: Origin) -> Vec<KnownItem> {
        let mut known = self.store.known_items(self.org, origin).await.unwrap();
        known.sort_by_key(|item| item.key);
        known
    }
}

fn item(number: u8, event: EventId) -> KnownItem {
    KnownItem { key: ItemKey([number; 16]), event, fingerprint: Fingerprint([number ^ 0xff; 16]) }
}

/// Every field survives, including the results of a sync.
pub async fn subscriptions_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.own_calendar().await;
    let made = scene.subscribed(&calendar, "https://feeds.example.com/%F0%9F%90%8E.ics?token='s%20ecret'").await;
    assert_eq!(scene.read_back(&made).await, Some(made.clone()));
    let bare = Subscription { label: None, busy_only: true, ..scene.subscription(&calendar, "https://example.com/") };
    scene.feed(vec![Change::CreateSubscription(Box::new(bare.clone()))]).await.unwrap();
    assert_eq!(scene.read_back(&bare).await, Some(bare.clone()));

    let now = scene.make.tick();
    let claims = scene.claim_due(now, 10).await;
    assert_eq!(claims.iter().map(|(_, claimed)| claimed.clone()).collect::<Vec<_>>(), [made.clone(), bare.clone()]);
    let validators = Validators { etag: Some("W/\"'1'\"".into()), last_modified: None };
    let memory = Memory {
        report: Some(Report { skipped: 3, ..Report::default() }),
        seen: Some(Seen::of(b"BEGIN", validators, Zone::UTC, now)),
        shrunk: true,
        adopted: true,
    };
    let good = SyncState::default().after(Ended::Applied(memory), now);
    let bad = good.after(Ended::Failed("the server answered 500".into()), now);
    scene.end_sync(claims[0].0, good.clone(), now, now + SignedDuration::hours(1)).await.unwrap();
    scene.end_sync(claims[1].0, bad.clone(), now, now + SignedDuration::hours(1)).await.unwrap();
    assert_eq!(scene.read_back(&made).await, Some(Subscription { state: good, ..made }));
    let failed = Subscription { state: bad, ..bare };
    assert_eq!(scene.read_back(&failed).await, Some(failed.clone()));
    assert_eq!(failed.status(), SubscriptionStatus::Error);
}

/// Lists return one agent's subscriptions, by creation, optionally of one status, in pages. Other organizations see
/// nothing.
pub async fn subscriptions_are_listed(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (calendar, second) = (scene.own_calendar().await, scene.own_calendar().await);
    let mut made = Vec::new();
    for number in 0..4 {
        made.push(scene.subscribed(&calendar, &format!("https://{number}.example.com/")).await);
    }
    let theirs = scene.subscribed(&second, "https://example.com/").await;
    other.subscribed(&other.own_calendar().await, "https://example.com/").await;
    made[2] = scene.paused(&made[2]).await;
    let failing = scene.claim_due(scene.make.tick(), 1).await[0].0;
    let now = scene.make.tick();
    made[0].state = made[0].state.after(Ended::Failed("no".into()), now);
    scene.end_sync(failing, made[0].state.clone(), now, now + SignedDuration::hours(1)).await.unwrap();

    let list = async |agent, status, page| {
        let listed = scene.store.list_subscriptions(scene.org, agent, status, page).await.unwrap();
        (listed.data, listed.total)
    };
    let agent = calendar.agent;
    assert_eq!(list(agent, None, LARGEST_PAGE).await, (made.clone(), 4));
    assert_eq!(list(agent, None, Page { limit: 2, offset: 1 }).await, (made[1..3].to_vec(), 4));
    assert_eq!(list(agent, None, Page { limit: 2, offset: 9 }).await, (vec![], 4));
    let of = |places: &[usize]| places.iter().map(|place| made[*place].clone()).collect::<Vec<_>>();
    assert_eq!(list(agent, Some(SubscriptionStatus::Active), LARGEST_PAGE).await, (of(&[1, 3]), 2));
    assert_eq!(list(agent, Some(SubscriptionStatus::Paused), LARGEST_PAGE).await, (of(&[2]), 1));
    assert_eq!(list(agent, Some(SubscriptionStatus::Error), LARGEST_PAGE).await, (of(&[0]), 1));
    assert_eq!(list(agent, Some(SubscriptionStatus::Active), Page { limit: 1, offset: 0 }).await, (of(&[1]), 2));
    let all: Vec<_> = made.iter().chain([&theirs]).cloned().collect();
    assert_eq!(list(None, None, LARGEST_PAGE).await, (all, 5));
    assert_eq!(other.read_back(&theirs).await, None);
}

/// The counts by status are the totals of the lists, for one agent and for the organization. A paused subscription is
/// paused even if its last sync failed. Deleted and hidden subscriptions do not count.
pub async fn subscriptions_are_counted_by_status(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (agent, second, gone) = (scene.agent().await, scene.agent().await, scene.agent().await);
    let (calendar, of_second) = (scene.calendar(&agent).await, scene.calendar(&second).await);
    let (deleted, orphaned) = (scene.calendar(&agent).await, scene.calendar(&gone).await);
    assert_eq!(scene.counted(None).await, SubscriptionCounts::default());

    scene.subscribed(&calendar, "https://failing.example/").await;
    let failed = scene.subscribed(&calendar, "https://failed.example/").await;
    let now = scene.make.tick();
    for (claim, claimed) in scene.claim_due(now, 10).await {
        let state = claimed.state.after(Ended::Failed("no".into()), now);
        scene.end_sync(claim, state, now, now + SignedDuration::hours(1)).await.unwrap();
    }
    scene.paused(&failed).await;
    scene.paused(&scene.subscribed(&calendar, "https://paused.example/").await).await;
    for number in 0..2 {
        scene.subscribed(&calendar, &format!("https://{number}.example/")).await;
    }
    let left = scene.subscribed(&calendar, "https://left.example/").await;
    scene.imported_item(&calendar, &left).await;
    scene.unsubscribe(&left, Remains::Kept).await;
    for calendar in [&of_second, &deleted, &orphaned] {
        scene.subscribed(calendar, "https://example.com/").await;
    }
    scene.delete(&deleted).await;
    scene.decommission(&gone).await;
    other.subscribed(&other.own_calendar().await, "https://example.com/").await;

    let one = SubscriptionCounts { active: 1, error: 0, paused: 0 };
    for (of, expected) in [
        (None, SubscriptionCounts { active: 3, error: 1, paused: 2 }),
        (Some(agent.id), SubscriptionCounts { active: 2, error: 1, paused: 2 }),
        (Some(second.id), one),
        (Some(gone.id), SubscriptionCounts::default()),
    ] {
        assert_eq!(scene.counted(of).await, expected, "{of:?}");
    }
    assert_eq!(other.counted(None).await, one);
    assert_eq!(other.counted(Some(agent.id)).await, SubscriptionCounts::default());
}

/// Settings are written only at the version that was seen, and leave the results of syncs alone.
pub async fn subscriptions_are_changed_only_at_the_version_seen(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.own_calendar().await;
    let made = scene.subscribed(&calendar, "https://example.com/").await;
    let now = scene.make.tick();
    let state = made.state.after(Ended::Applied(Memory::default()), now);
    scene.end_sync(scene.claim_one(now).await, state.clone(), now, now + SignedDuration::hours(1)).await.unwrap();

    let label = SubscriptionPatch { label: Patch::Set(None), ..SubscriptionPatch::default() };
    let renamed = made.patched(label, scene.make.tick());
    let update = |subscription: &Subscription, seen, moved| Change::UpdateSubscription {
        subscription: Box::new(subscription.clone()),
        seen,
        moved,
        due: moved.then_some(now),
    };
    scene.feed(vec![update(&renamed, made.version, false)]).await.unwrap();
    let synced = Subscription { state: state.clone(), ..renamed.clone() };
    assert_eq!(scene.read_back(&made).await, Some(synced));
    assert!(scene.claim_due(now, 10).await.is_empty(), "a new label makes nothing due");
    assert_refused!(scene.feed(vec![update(&renamed, made.version, false)]).await, CommitError::Stale);

    // A new address discards what is known of the old one, and is due at once.
    let address = SubscriptionPatch { url: Patch::Set(url("https://example.org/")), ..SubscriptionPatch::default() };
    let moved = renamed.patched(address, scene.make.tick());
    scene.feed(vec![update(&moved, renamed.version, true)]).await.unwrap();
    let after_move = Subscription { state: state.elsewhere(), ..moved.clone() };
    assert_eq!(scene.read_back(&made).await, Some(after_move.clone()));
    assert_eq!(scene.claim_due(now, 10).await.into_iter().map(|(_, found)| found).collect::<Vec<_>>(), [after_move]);

    // If something else of the feed is imported, the feed is due at once too, and must be read again.
    let busy_only = SubscriptionPatch { busy_only: Patch::Set(true), ..SubscriptionPatch::default() };
    let bare = moved.patched(busy_only, scene.make.tick());
    let bare = Subscription { state: state.reread(), ..bare };
    scene.feed(vec![update(&bare, moved.version, true)]).await.unwrap();
    assert_eq!(scene.read_back(&made).await, Some(bare.clone()));
    let due: Vec<_> = scene.claim_due(now, 10).await.into_iter().map(|(_, found)| found).collect();
    assert_eq!(due, std::slice::from_ref(&bare));
    let moved = bare;

    let (org, subscription, remains) = (scene.org, made.id, Remains::Kept);
    let delete = |seen| Change::DeleteSubscription { org, subscription, seen, remains, at: now };
    assert_refused!(scene.feed(vec![delete(made.version)]).await, CommitError::Stale);
    scene.feed(vec![delete(moved.version)]).await.unwrap();
    assert_eq!(scene.read_back(&made).await, None);
    assert_refused!(scene.feed(vec![delete(moved.version)]).await, CommitError::Stale);
    assert_refused!(scene.feed(vec![update(&moved, moved.version, false)]).await, CommitError::Stale);
    let ask = Change::AskSync { org: scene.org, subscription: made.id, at: now };
    assert_refused!(scene.feed(vec![ask]).await, CommitError::Stale);
}

/// A subscription is hidden with its calendar and is not synced any more. None is created there.
pub async fn subscriptions_end_with_their_calendar(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (agent, second) = (scene.agent().await, scene.agent().await);
    let (deleted, decommissioned) = (scene.calendar(&agent).await, scene.calendar(&second).await);
    let kept = scene.calendar(&agent).await;
    let gone = [
        scene.subscribed(&deleted, "https://a.example.com/").await,
        scene.subscribed(&decommissioned, "https://b.example.com/").await,
    ];
    let stays = scene.subscribed(&kept, "https://c.example.com/").await;
    let event = scene.event(&deleted, hours(1, 2)).await;
    let origin = Origin::Subscription(gone[0].id);
    scene.feed(vec![Change::KeepItems { org: scene.org, origin, items: vec![item(1, event.id)] }]).await.unwrap();
    assert_eq!(scene.known_of(origin).await.len(), 1);
    scene.delete(&deleted).await;
    scene.decommission(&second).await;
    for subscription in &gone {
        assert_eq!(scene.read_back(subscription).await, None);
    }
    let listed = scene.store.list_subscriptions(scene.org, None, None, LARGEST_PAGE).await.unwrap();
    assert_eq!((listed.data, listed.total), (vec![stays.clone()], 1));
    let claims = scene.claim_due(scene.make.tick(), 10).await;
    assert_eq!(claims.into_iter().map(|(_, claimed)| claimed).collect::<Vec<_>>(), [stays]);
    for calendar in [&deleted, &decommissioned] {
        let late = scene.subscription(calendar, "https://example.com/");
        assert_refused!(scene.feed(vec![Change::CreateSubscription(Box::new(late))]).await, CommitError::Stale);
    }
    // None is created for a calendar of another agent, either.
    let foreign = Subscription { agent: second.id, ..scene.subscription(&kept, "https://example.com/") };
    assert_refused!(scene.feed(vec![Change::CreateSubscription(Box::new(foreign))]).await, CommitError::Stale);
}

/// The subscriptions that have waited longest are claimed first, each by one worker until its claim expires. A worker
/// that lost its claim writes nothing.
pub async fn due_subscriptions_are_claimed(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.own_calendar().await;
    let mut made = Vec::new();
    for number in 0..3 {
        made.push(scene.subscribed(&calendar, &format!("https://{number}.example.com/")).await);
    }
    assert!(scene.claim_due(made[0].created_at - SignedDuration::micros(1), 10).await.is_empty(), "nothing is due yet");
    let now = scene.make.tick();
    let first = scene.claim_due(now, 2).await;
    let ids = |claims: &[(SyncClaim, Subscription)]| claims.iter().map(|(_, of)| of.id).collect::<BTreeSet<_>>();
    assert_eq!(ids(&first), BTreeSet::from([made[0].id, made[1].id]));
    assert_eq!(ids(&scene.claim_due(now, 10).await), BTreeSet::from([made[2].id]));
    assert!(scene.claim_due(now, 10).await.is_empty());

    // A renewed claim lasts longer.
    let half = now + SignedDuration::micros(CLAIM_LASTS.as_micros() / 2);
    let (lost, _) = first.iter().find(|(_, of)| of.id == made[0].id).unwrap();
    let (held, _) = first.iter().find(|(_, of)| of.id == made[1].id).unwrap();
    scene.renew(*held, half).await.unwrap();
    let later = now + CLAIM_LASTS;
    let again = scene.claim_due(later, 10).await;
    assert_eq!(ids(&again), BTreeSet::from([made[0].id, made[2].id]));

    let event = scene.make.event(&calendar, hours(1, 2));
    let mut chunk = scene.changes().create(&event);
    chunk.feeds = vec![Change::RenewClaim { claim: *lost, at: later, reserved: 0 }];
    assert_refused!(scene.try_commit(chunk).await, CommitError::Stale);
    assert_eq!(scene.store.find_event(scene.org, event.id).await.unwrap(), None);
    assert_refused!(scene.end_sync(*lost, SyncState::default(), later, later).await, CommitError::Stale);
    let (taken, _) = again.iter().find(|(_, of)| of.id == made[0].id).unwrap();
    scene.end_sync(*taken, SyncState::default(), later, later + SignedDuration::hours(1)).await.unwrap();
    assert_refused!(scene.renew(*taken, later).await, CommitError::Stale);
}

/// A sync sets when the next one is due. If another was requested in between, it is due at once. A paused
/// subscription is never due.
pub async fn a_sync_sets_when_the_next_is_due(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.own_calendar().await;
    let made = scene.subscribed(&calendar, "https://example.com/").await;
    let ask = |at| vec![Change::AskSync { org: scene.org, subscription: made.id, at }];
    let now = scene.make.tick();
    let (next, state) = (now + SignedDuration::minutes(15), made.state.clone());
    scene.end_sync(scene.claim_one(now).await, state.clone(), now, next).await.unwrap();
    assert!(scene.claim_due(next - SignedDuration::micros(1), 10).await.is_empty());
    let claim = scene.claim_one(next).await;

    // Requested during a sync: due once more, then as usual.
    scene.feed(ask(next)).await.unwrap();
    assert!(scene.claim_due(next, 10).await.is_empty(), "one worker at a time");
    let later = next + SignedDuration::minutes(15);
    scene.end_sync(claim, state.clone(), next, later).await.unwrap();
    scene.end_sync(scene.claim_one(next).await, state.clone(), next, later).await.unwrap();
    assert!(scene.claim_due(next, 10).await.is_empty());

    // Requested before it is due.
    scene.feed(ask(next)).await.unwrap();
    let claim = scene.claim_one(next).await;
    let pause = |paused| SubscriptionPatch { paused: Patch::Set(paused), ..SubscriptionPatch::default() };
    let paused = made.patched(pause(true), next);
    let update = |of: &Subscription, seen: &Subscription, due| {
        vec![Change::UpdateSubscription { subscription: Box::new(of.clone()), seen: seen.version, moved: false, due }]
    };
    scene.feed(update(&paused, &made, None)).await.unwrap();
    scene.end_sync(claim, state.clone(), next, later).await.unwrap();
    let much_later = later + SignedDuration::hours(9_000);
    assert!(scene.claim_due(much_later, 10).await.is_empty(), "the subscription is paused");

    // Only this once, and not again.
    scene.feed(ask(later)).await.unwrap();
    scene.end_sync(scene.claim_one(later).await, state, later, later).await.unwrap();
    assert!(scene.claim_due(much_later, 10).await.is_empty());
    let resumed = paused.patched(pause(false), later);
    scene.feed(update(&resumed, &paused, Some(later))).await.unwrap();
    scene.claim_one(later).await;
}

/// A worker that syncs an address that was replaced loses its claim.
pub async fn a_new_address_revokes_the_claim(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let made = scene.subscribed(&scene.own_calendar().await, "https://example.com/").await;
    let now = scene.make.tick();
    let claim = scene.claim_one(now).await;
    let patch = SubscriptionPatch { url: Patch::Set(url("https://example.com/other")), ..SubscriptionPatch::default() };
    let moved = Box::new(made.patched(patch, now));
    let update = Change::UpdateSubscription { subscription: moved, seen: made.version, moved: true, due: Some(now) };
    scene.feed(vec![update]).await.unwrap();
    assert_refused!(scene.renew(claim, now).await, CommitError::Stale);
    assert_refused!(scene.end_sync(claim, SyncState::default(), now, now).await, CommitError::Stale);
    assert_ne!(scene.claim_one(now).await.fence, claim.fence);
}

/// No more subscriptions of one host are claimed than allowed, even by several workers. Other hosts do not wait for
/// it.
pub async fn claims_per_host_are_limited(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (calendar, now) = (scene.own_calendar().await, scene.make.tick());
    for number in 0..5 {
        scene.subscribed(&calendar, &format!("https://busy.example.com/{number}")).await;
    }
    scene.subscribed(&calendar, "https://busy.example.com:8443/").await;
    scene.subscribed(&calendar, "https://calm.example.com/").await;
    let now = now + SignedDuration::hours(1);
    let claims = scene.claim_due(now, 10).await;
    let mut destinations: Vec<_> = claims.iter().map(|(_, of)| of.url.destination()).collect();
    destinations.sort_unstable();
    let busy = ("busy.example.com", 443);
    assert_eq!(destinations, [busy, busy, ("busy.example.com", 8443), ("calm.example.com", 443)]);
    assert!(scene.claim_due(now, 10).await.is_empty());
    let (ended, _) = claims.iter().find(|(_, of)| of.url.destination() == busy).unwrap();
    scene.end_sync(*ended, SyncState::default(), now, now + SignedDuration::hours(1)).await.unwrap();
    let next = scene.claim_due(now, 10).await;
    assert_eq!(next.iter().map(|(_, of)| of.url.destination()).collect::<Vec<_>>(), [busy]);
}

/// However many workers claim at once, each subscription is claimed once, and no host too often.
pub async fn workers_share_subscriptions(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.own_calendar().await;
    for number in 0..20 {
        scene.subscribed(&calendar, &format!("https://{}.example.com/{number}", number / 5)).await;
    }
    let now = scene.make.tick();
    let claims: Vec<_> = race(TASKS, |_| {
        let scene = scene.clone();
        async move { scene.claim_due(now, 3).await }
    })
    .await
    .into_iter()
    .flatten()
    .collect();
    let distinct: BTreeSet<_> = claims.iter().map(|(claim, _)| claim.subscription).collect();
    assert_eq!((distinct.len(), claims.len()), (8, 8), "four hosts, two each");
    for host in 0..4 {
        let host = format!("{host}.example.com");
        assert_eq!(claims.iter().filter(|(_, of)| of.url.destination().0 == host).count(), 2);
    }
}

/// Items are known by their origin while their events are visible.
pub async fn items_are_known_while_their_events_are_visible(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.own_calendar().await;
    let made = scene.subscribed(&calendar, "https://example.com/").await;
    let (feed, files) = (Origin::Subscription(made.id), Origin::Files(calendar.id));
    let events = [
        scene.event(&calendar, hours(1, 2)).await,
        scene.event(&calendar, hours(2, 3)).await,
        scene.event(&calendar, hours(3, 4)).await,
    ];
    let org = scene.org;
    let items: Vec<_> = (0..).zip(&events).map(|(number, event)| item(number, event.id)).collect();
    scene
        .feed(vec![
            Change::KeepItems { org, origin: feed, items: items.clone() },
            Change::KeepItems { org, origin: files, items: items[..1].to_vec() },
        ])
        .await
        .unwrap();
    assert_eq!((scene.known_of(feed).await, scene.known_of(files).await), (items.clone(), items[..1].to_vec()));
    let other = scene.other_organization().await;
    assert_eq!(other.known_of(feed).await, []);

    // Storing an item again replaces it.
    let changed = KnownItem { fingerprint: Fingerprint([7; 16]), event: events[0].id, ..items[1] };
    scene.feed(vec![Change::KeepItems { org, origin: feed, items: vec![changed] }]).await.unwrap();
    assert_eq!(scene.known_of(feed).await, [items[0], changed, items[2]]);
    let gone = events[2].gone(scene.make.tick());
    scene.commit(scene.changes().update(&gone, events[2].version)).await;
    assert_eq!(scene.known_of(feed).await, [items[0], changed]);
    scene.feed(vec![Change::ForgetItems { org, origin: feed, keys: vec![items[0].key] }]).await.unwrap();
    assert_eq!((scene.known_of(feed).await, scene.known_of(files).await), (vec![changed], items[..1].to_vec()));

    let (subscription, seen, at) = (made.id, made.version, scene.make.tick());
    scene.feed(vec![Change::DeleteSubscription { org, subscription, seen, remains: Remains::Kept, at }]).await.unwrap();
    assert_eq!((scene.known_of(feed).await, scene.known_of(files).await), (vec![changed], items[..1].to_vec()));
    assert!(scene.store.find_event(org, events[1].id).await.unwrap().is_some(), "the imported event stays");
}

/// Several events of some calendars are read at once, including changed occurrences but not events of other calendars.
pub async fn events_of_calendars_are_read_together(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (calendar, second) = (scene.own_calendar().await, scene.shared_calendar().await);
    let series = scene.stored(scene.make.series(&calendar, hours(1, 2), "FREQ=DAILY")).await;
    let start = hours(25, 26).start();
    let (series, changed) = moved(&scene, &series, start, hours(30, 31)).await;
    let plain = scene.event(&calendar, hours(5, 6)).await;
    let elsewhere = scene.event(&second, hours(5, 6)).await;
    let deleted = scene.event(&calendar, hours(7, 8)).await;
    scene.commit(scene.changes().update(&deleted.gone(scene.make.tick()), deleted.version)).await;
    let never = scene.make.event(&calendar, hours(1, 2));
    let ids = [&series, &changed, &plain, &elsewhere, &deleted, &never].map(|event| event.id);
    let of_calendar = vec![series, changed, plain];
    let of_both = [&of_calendar[..], std::slice::from_ref(&elsewhere)].concat();
    for (calendars, mut expected) in
        [(&[calendar.id][..], of_calendar), (&[calendar.id, second.id, calendar.id], of_both), (&[], vec![])]
    {
        let mut found = scene.store.events_of(scene.org, calendars, &ids).await.unwrap();
        found.sort_by_key(|event| event.id);
        expected.sort_by_key(|event| event.id);
        assert_eq!(found, expected);
    }
    assert_eq!(scene.store.events_of(scene.org, &[calendar.id], &[]).await.unwrap(), []);
    let other = scene.other_organization().await;
    assert_eq!(other.store.events_of(other.org, &[calendar.id], &ids).await.unwrap(), []);
    scene.delete(&second).await;
    assert_eq!(scene.store.events_of(scene.org, &[second.id], &[elsewhere.id]).await.unwrap(), []);
}

/// A transparent event or series blocks nothing, and blocks again once it is opaque.
pub async fn transparent_events_block_nothing(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.own_calendar().await;
    let clear = |event: Event| Event { transparent: true, source: EventSource::ExternalIcal, ..event };
    let once = scene.stored(clear(scene.make.event(&calendar, hours(1, 2)))).await;
    let series = scene.stored(clear(scene.make.series(&calendar, hours(3, 4), "FREQ=DAILY;COUNT=3"))).await;
    for event in [&once, &series] {
        assert_eq!(
            scene.store.find_event(scene.org, event.id).await.unwrap().map(|found| found.event),
            Some(event.clone())
        );
    }
    let window = hours(0, 100);
    let busy = async || {
        let spans = scene.store.blocking_spans(scene.org, calendar.id, window).await.unwrap().unwrap().spans;
        let series = scene.store.blocking_series(scene.org, &[calendar.id], window).await.unwrap();
        (spans, series.iter().map(|found| found.series.len()).sum::<usize>())
    };
    assert_eq!(busy().await, (vec![], 0));
    for event in [&once, &series] {
        let opaque = Event { transparent: false, version: event.version.next(), ..event.clone() };
        scene.commit(scene.changes().update(&opaque, event.version)).await;
    }
    assert_eq!(busy().await, (vec![hours(1, 2)], 1));
}

impl Scene {
    /// Deletes a subscription.
    async fn unsubscribe(&self, subscription: &Subscription, remains: Remains) -> Timestamp {
        let (org, at) = (self.org, self.make.tick());
        let (subscription, seen) = (subscription.id, subscription.version);
        self.feed(vec![Change::DeleteSubscription { org, subscription, seen, remains, at }]).await.unwrap();
        at
    }

    /// Stores one item of a subscription, with an event.
    async fn imported_item(&self, calendar: &Calendar, of: &Subscription) -> KnownItem {
        let event = Event { source: EventSource::ExternalIcal, ..self.make.event(calendar, hours(1, 2)) };
        let (item, origin) = (item(1, self.stored(event).await.id), Origin::Subscription(of.origin));
        self.feed(vec![Change::KeepItems { org: self.org, origin, items: vec![item] }]).await.unwrap();
        item
    }

    /// The subscriptions to an address on a calendar, by place.
    async fn neighbours_of(&self, calendar: &Calendar, address: &RemoteUrl) -> Neighbours {
        let mut found = self.store.subscription_neighbours(self.org, calendar.id, address).await.unwrap();
        found.same.sort_by_key(|neighbour| neighbour.place);
        found
    }
}

/// An address finds its own subscriptions on the calendar: live ones, and deleted ones that left events.
pub async fn an_address_finds_its_own_subscriptions(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (calendar, second) = (scene.own_calendar().await, scene.own_calendar().await);
    let address = url("https://a.example/one.ics?token=x");
    assert_eq!(scene.neighbours_of(&calendar, &address).await, Neighbours::default());
    let left = scene.subscribed(&calendar, address.as_str()).await;
    let gone = scene.subscribed(&calendar, address.as_str()).await;
    for (number, (of, remains)) in (1..).zip([(&left, Remains::Kept), (&gone, Remains::Removed)]) {
        let event = scene.event(&calendar, hours(1, 2)).await;
        let (org, origin, items) = (scene.org, Origin::Subscription(of.origin), vec![item(number, event.id)]);
        scene.feed(vec![Change::KeepItems { org, origin, items }]).await.unwrap();
        scene.unsubscribe(of, remains).await;
    }
    let of = (scene.org, left.agent, calendar.id);
    let adopting = Placement { place: scene.make.tick().as_micros(), left: Some((left.id, left.origin)) };
    let new = NewSubscription { url: address.clone(), label: None, busy_only: false };
    let live = Subscription::create(of, new, adopting, scene.make.tick(), &scene.make.entropy);
    scene.feed(vec![Change::CreateSubscription(Box::new(live.clone()))]).await.unwrap();
    let mut last = live.place;
    for other in ["https://a.example/one.ics", "https://a.example/two.ics", "https://b.example/one.ics?token=x"] {
        last = scene.subscribed(&calendar, other).await.place;
    }
    scene.subscribed(&second, address.as_str()).await;
    let other = scene.other_organization().await;
    other.subscribed(&other.own_calendar().await, address.as_str()).await;

    let same = vec![
        Neighbour { id: left.id, origin: left.id, place: left.place, left: true },
        Neighbour { id: live.id, origin: left.id, place: live.place, left: false },
    ];
    assert_eq!(scene.neighbours_of(&calendar, &address).await, Neighbours { last, same });
    assert_eq!(scene.neighbours_of(&calendar, &url("https://c.example/")).await, Neighbours { last, same: vec![] });
    assert_eq!(other.neighbours_of(&calendar, &address).await, Neighbours::default());
}

/// A deleted subscription is visible only to the next one of its calendar, which takes over its items.
pub async fn the_next_subscription_takes_over_items(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.own_calendar().await;
    let made = scene.subscribed(&calendar, "https://a.example/").await;
    let item = scene.imported_item(&calendar, &made).await;
    let claim = scene.claim_one(scene.make.tick()).await;
    let at = scene.unsubscribe(&made, Remains::Kept).await;
    assert_eq!(scene.read_back(&made).await, None);
    let listed = scene.store.list_subscriptions(scene.org, None, None, Page { limit: 10, offset: 0 }).await.unwrap();
    assert_eq!((listed.data, listed.total), (vec![], 0));
    let usage = scene.store.usage(scene.org, scene.make.period(), at).await.unwrap();
    assert_eq!(usage.iter().find(|(metric, _)| *metric == Metric::IcalSubscriptions).map_or(0, |(_, used)| *used), 0);
    assert_refused!(scene.renew(claim, at).await, CommitError::Stale);
    let neighbours = scene.neighbours_of(&calendar, &made.url).await;
    let left = Neighbour { id: made.id, origin: made.id, place: made.place, left: true };
    assert_eq!(neighbours, Neighbours { last: made.place, same: vec![left] });

    let placement = Placement::find(&neighbours, None).unwrap();
    let of = (scene.org, made.agent, calendar.id);
    let new = NewSubscription { url: made.url.clone(), label: None, busy_only: false };
    let next = Subscription::create(of, new, placement, scene.make.tick(), &scene.make.entropy);
    let adopt = || Change::AdoptRemains { org: scene.org, subscription: made.id };
    scene.feed(vec![adopt(), Change::CreateSubscription(Box::new(next.clone()))]).await.unwrap();
    let live = Neighbour { id: next.id, origin: made.id, place: next.place, left: false };
    assert_eq!(scene.neighbours_of(&calendar, &made.url).await, Neighbours { last: next.place, same: vec![live] });
    assert_eq!(scene.known_of(Origin::Subscription(next.origin)).await, [item]);
    assert_refused!(scene.feed(vec![adopt()]).await, CommitError::Stale);

    // It is due again after a while, and is removed with the calendar.
    scene.claim_one(scene.make.tick()).await;
    let at = scene.unsubscribe(&next, Remains::Kept).await;
    assert_eq!(scene.claim_due(at + LEFT_KEPT - SignedDuration::micros(1), 10).await, []);
    let claims = scene.claim_due(at + LEFT_KEPT, 10).await;
    assert_eq!(claims.iter().map(|(_, found)| found.remains).collect::<Vec<_>>(), [Some(Remains::Kept)]);
    scene.delete(&calendar).await;
    assert_eq!(scene.claim_due(at + LEFT_KEPT + CLAIM_LASTS, 10).await, []);
    assert_eq!(scene.claim_due(at + LEFT_KEPT + LEFT_KEPT, 10).await, []);
}

/// A deleted subscription whose events are to be removed is due at once, and is removed when its worker is done. One
/// without items is removed at once.
pub async fn deleted_subscriptions_are_purged(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.own_calendar().await;
    let bare = scene.subscribed(&calendar, "https://a.example/").await;
    scene.unsubscribe(&bare, Remains::Kept).await;
    assert_eq!(scene.neighbours_of(&calendar, &bare.url).await, Neighbours::default());

    let made = scene.subscribed(&calendar, "https://a.example/").await;
    scene.imported_item(&calendar, &made).await;
    let early = scene.claim_one(scene.make.tick()).await;
    let at = scene.unsubscribe(&made, Remains::Removed).await;
    assert_refused!(
        scene.feed(vec![Change::AdoptRemains { org: scene.org, subscription: made.id }]).await,
        CommitError::Stale
    );
    let claim = scene.claim_one(at).await;
    let forget = |claim| vec![Change::ForgetSubscription { claim }];
    assert_refused!(scene.feed(forget(early)).await, CommitError::Stale);
    scene.feed(forget(claim)).await.unwrap();
    assert_refused!(scene.feed(forget(claim)).await, CommitError::Stale);
    assert_eq!(
        (scene.neighbours_of(&calendar, &made.url).await, scene.known_of(Origin::Subscription(made.id)).await),
        (Neighbours::default(), vec![])
    );

    // A live subscription is not removed.
    scene.subscribed(&calendar, "https://b.example/").await;
    let claim = scene.claim_one(scene.make.tick()).await;
    assert_refused!(scene.feed(forget(claim)).await, CommitError::Stale);
}

/// Events that were to stay can still be removed: the subscription is due at once, and a worker that had claimed it
/// loses its claim.
pub async fn kept_events_can_still_be_removed(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.own_calendar().await;
    let made = scene.subscribed(&calendar, "https://a.example/").await;
    scene.imported_item(&calendar, &made).await;
    scene.claim_one(scene.make.tick()).await;
    let remove = |at| vec![Change::RemoveRemains { org: scene.org, subscription: made.id, at }];
    assert_refused!(scene.feed(remove(scene.make.tick())).await, CommitError::Stale);
    let at = scene.unsubscribe(&made, Remains::Kept).await + LEFT_KEPT;
    let looking = scene.claim_one(at).await;
    scene.feed(remove(at)).await.unwrap();
    let later = at + LEFT_KEPT;
    assert_refused!(scene.end_sync(looking, SyncState::default(), at, later).await, CommitError::Stale);
    assert_eq!(scene.neighbours_of(&calendar, &made.url).await, Neighbours { last: made.place, same: vec![] });
    let org = scene.org;
    assert_refused!(scene.feed(remove(at)).await, CommitError::Stale);
    assert_refused!(scene.feed(vec![Change::AdoptRemains { org, subscription: made.id }]).await, CommitError::Stale);
    let claims = scene.claim_due(at, 10).await;
    assert_eq!(claims.iter().map(|(_, found)| found.remains).collect::<Vec<_>>(), [Some(Remains::Removed)]);
    scene.feed(vec![Change::ForgetSubscription { claim: claims[0].0 }]).await.unwrap();
    assert_refused!(scene.feed(remove(at)).await, CommitError::Stale);
}

/// If several callers saw the same subscriptions of a calendar, one creates or moves its subscription; the others are
/// stale.
pub async fn a_place_on_a_calendar_is_taken_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.own_calendar().await;
    let outcomes = race(TASKS, |_| {
        let (scene, calendar) = (scene.clone(), calendar.clone());
        async move {
            let made = Subscription { place: 1, ..scene.subscription(&calendar, "https://a.example/") };
            scene.feed(vec![Change::CreateSubscription(Box::new(made))]).await
        }
    })
    .await;
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Ok(()) | Err(CommitError::Stale))), "{outcomes:?}");
    let found = scene.neighbours_of(&calendar, &url("https://a.example/")).await;
    assert_eq!((successes(&outcomes), found.last, found.same.len()), (1, 1, 1));

    let mut others = Vec::new();
    for index in 0..TASKS {
        others.push(scene.subscribed(&calendar, &format!("https://{index}.example/")).await);
    }
    let outcomes = race(TASKS, |index| {
        let (scene, other) = (scene.clone(), others[index].clone());
        async move {
            let patch =
                SubscriptionPatch { url: Patch::Set(url("https://z.example/")), ..SubscriptionPatch::default() };
            let moved = Subscription { place: 2, ..other.patched(patch, scene.make.tick()) };
            let (subscription, seen, due) = (Box::new(moved), other.version, None);
            scene.feed(vec![Change::UpdateSubscription { subscription, seen, moved: true, due }]).await
        }
    })
    .await;
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Ok(()) | Err(CommitError::Stale))), "{outcomes:?}");
    assert_eq!(successes(&outcomes), 1);
    let moved = scene.neighbours_of(&calendar, &url("https://z.example/")).await.same;
    assert_eq!(moved.iter().map(|found| found.place).collect::<Vec<_>>(), [2]);
}
