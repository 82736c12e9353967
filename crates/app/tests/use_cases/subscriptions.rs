//! Syncing subscriptions over the in-memory store, with a manual clock and a scripted feed server.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use kalends_accounts::{Reach, Scopes, ports::Organizations as _, reach::ScopedAgent};
use kalends_app::{
    Actor, App, ChangeSet, IfMatch, Parts, Refusal,
    operations::{self, Operation},
    ports::{Commit as _, FeedFetcher, FetchError, FetchedFeed, Metering as _},
};
use kalends_calendars::{
    Calendar, CalendarPatch, DELETED_KEPT, Event, Patch,
    ports::{Agents as _, Calendars as _, EventFilter, EventScope, Events as _},
};
use kalends_feeds::{
    Change, Neighbours, NewSubscription, Placement, Remains, Subscription, SubscriptionPatch, SubscriptionStatus,
    ports::{SubscriptionCounts, Subscriptions as _},
    sync::{CLAIM_LASTS, Counts, LEFT_KEPT, Validators},
};
use kalends_kernel::{Page, Revision};
use kalends_plans::Metric;
use kalends_remote::RemoteUrl;
use kalends_testkit::{
    Inspect as _, MemoryStore,
    fixtures::{Compose as _, Fixtures},
};
use kalends_time::{SignedDuration, Timestamp};
use serde_json::json;

use crate::common::{actor, parts};

/// A scripted feed server. It records the validators of each request.
#[derive(Clone, Default)]
struct Feeds {
    answer: Arc<Mutex<Option<Result<String, String>>>>,
    validators_sent: Arc<Mutex<Vec<Validators>>>,
    /// Change-sets to commit during the next fetch.
    during_fetch: Arc<Mutex<Option<Vec<ChangeSet>>>>,
    store: MemoryStore,
}

impl Feeds {
    fn says(&self, text: impl Into<String>) {
        *self.answer.lock().unwrap() = Some(Ok(text.into()));
    }

    fn fails(&self, problem: &str) {
        *self.answer.lock().unwrap() = Some(Err(problem.into()));
    }

    fn etags_sent(&self) -> Vec<Option<String>> {
        self.validators_sent.lock().unwrap().drain(..).map(|validators| validators.etag).collect()
    }
}

/// The entity tag of a text.
fn tag(text: &str) -> String {
    format!("\"{}-{}\"", text.len(), text.bytes().map(usize::from).sum::<usize>())
}

#[async_trait]
impl FeedFetcher for Feeds {
    async fn fetch(&self, _: &RemoteUrl, validators: &Validators) -> Result<FetchedFeed, FetchError> {
        self.validators_sent.lock().unwrap().push(validators.clone());
        let during_fetch = self.during_fetch.lock().unwrap().take();
        for changes in during_fetch.into_iter().flatten() {
            self.store.commit(changes).await.unwrap();
        }
        let text = self.answer.lock().unwrap().clone().unwrap().map_err(FetchError)?;
        let etag = Some(tag(&text));
        if validators.etag == etag {
            return Ok(FetchedFeed::Unchanged);
        }
        Ok(FetchedFeed::Full { body: text.into(), validators: Validators { etag, last_modified: None } })
    }
}

/// A service with one calendar that is subscribed to a feed.
#[derive(Clone)]
struct House {
    app: Arc<App>,
    store: MemoryStore,
    make: Fixtures,
    feeds: Feeds,
    calendar: Calendar,
    made: Subscription,
}

/// Events at ten o'clock on these days of March 2026.
fn feed(days: impl IntoIterator<Item = u8>) -> String {
    let events = days.into_iter().map(|day| {
        format!(
            "BEGIN:VEVENT\r\nUID:{day}@x\r\nDTSTART:202603{day:02}T100000Z\r\nDURATION:PT1H\r\nSUMMARY:On {day}\r\nEND:VEVENT\r\n"
        )
    });
    format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n{}END:VCALENDAR\r\n", events.collect::<String>())
}

impl House {
    async fn new() -> Self {
        let (store, make) = (MemoryStore::new(), Fixtures::new());
        let feeds = Feeds { store: store.clone(), ..Feeds::default() };
        let app = App::new(Parts { fetcher: Arc::new(feeds.clone()), ..parts(&store, &make) });
        let organization = make.organization();
        let agent = make.agent(organization.id);
        let calendar = make.calendar(&agent);
        let url = RemoteUrl::from_stored("https://example.com/work.ics").unwrap();
        let of = (organization.id, agent.id, calendar.id);
        let placement = Placement { place: 1, left: None };
        let made = Subscription::create(
            of,
            NewSubscription { url, label: None, busy_only: false },
            placement,
            make.tick(),
            &make.entropy,
        );
        let mut changes = ChangeSet::new(organization.id).create(&organization).create(&agent).create(&calendar);
        // Messages are only stored if an endpoint exists.
        changes = changes.create(&make.webhook(organization.id));
        changes.feeds.push(Change::CreateSubscription(Box::new(made.clone())));
        store.commit(changes).await.unwrap();
        Self { app, store, make, feeds, calendar, made }
    }

    /// Syncs all due subscriptions, and returns how many there were.
    async fn work(&self) -> usize {
        let claims = self.app.claim_syncs(10).await.unwrap();
        let count = claims.len();
        for (claim, subscription) in claims {
            self.app.sync(claim, subscription).await;
        }
        count
    }

    async fn subscription(&self) -> Subscription {
        self.store.find_subscription(self.made.org, self.made.id).await.unwrap().unwrap()
    }

    async fn events(&self) -> Vec<Event> {
        let scope = EventScope::Calendar(self.calendar.id);
        let page = Page { limit: 1_000, offset: 0 };
        self.store.list_events(self.made.org, scope, EventFilter::default(), page).await.unwrap().data
    }

    async fn titles(&self) -> Vec<String> {
        self.events().await.into_iter().map(|event| event.title).collect()
    }

    async fn revision(&self) -> Revision {
        self.store.find_calendar(self.made.org, self.calendar.id).await.unwrap().unwrap().revision
    }

    /// Requests an immediate sync.
    async fn ask(&self) {
        let (org, subscription, at) = (self.made.org, self.made.id, self.make.tick());
        let mut changes = ChangeSet::new(org);
        changes.feeds.push(Change::AskSync { org, subscription, at });
        self.store.commit(changes).await.unwrap();
    }

    async fn counts(&self) -> Counts {
        self.subscription().await.state.memory.report.unwrap().counts
    }

    /// Advances the clock minute by minute until a sync is due, and returns how many minutes that took.
    async fn minutes_until_due(&self) -> i64 {
        for minute in 1..1_000 {
            self.make.clock.advance(SignedDuration::minutes(1));
            if self.work().await > 0 {
                return minute;
            }
        }
        panic!("it is never due");
    }
}

#[tokio::test]
async fn a_subscription_is_synced_every_quarter_of_an_hour() {
    let house = House::new().await;
    house.feeds.says(feed([3, 4]));
    assert_eq!(house.work().await, 1, "the first sync, at its creation");
    assert_eq!(house.titles().await, ["On 3", "On 4"]);
    assert_eq!(house.subscription().await.state.last_synced_at, Some(house.app.now()));
    assert_eq!(house.work().await, 0);
    for _ in 0..5 {
        let minutes = house.minutes_until_due().await;
        assert!((14..=17).contains(&minutes), "{minutes}");
    }
}

#[tokio::test]
async fn an_unchanged_feed_costs_one_request_and_changes_nothing() {
    let house = House::new().await;
    let text = feed([3, 4, 5]);
    house.feeds.says(&text);
    house.work().await;
    assert_eq!(house.feeds.etags_sent(), [None]);
    let (revision, events) = (house.revision().await, house.events().await);
    house.minutes_until_due().await;
    assert_eq!(house.feeds.etags_sent(), [Some(tag(&text))]);
    assert_eq!((house.revision().await, house.events().await), (revision, events.clone()));
    assert_eq!(house.counts().await, Counts { untouched: 3, ..Counts::default() });

    // The same events in another order and with other timestamps are another text, but change nothing either.
    house.feeds.says(feed([5, 4, 3]));
    house.minutes_until_due().await;
    assert_eq!((house.revision().await, house.events().await), (revision, events));
    assert_eq!(house.counts().await, Counts { untouched: 3, ..Counts::default() });
}

#[tokio::test]
async fn a_feed_is_read_again_every_day_and_after_a_zone_change() {
    let house = House::new().await;
    let text = feed([3]);
    house.feeds.says(&text);
    house.work().await;
    for _ in 0..110 {
        house.make.clock.advance(SignedDuration::minutes(15));
        house.work().await;
    }
    let etags_sent = house.feeds.etags_sent();
    let whole = etags_sent.iter().filter(|etag| etag.is_none()).count();
    assert_eq!(whole, 2, "the first time, and once within 27 hours: {etags_sent:?}");

    let all_day = text.replace("DTSTART:20260303T100000Z", "DTSTART;VALUE=DATE:20260303").replace("PT1H", "P1D");
    house.feeds.says(&all_day);
    house.minutes_until_due().await;
    let start = |events: &[Event]| events[0].times.span.start().to_string();
    assert_eq!(start(&house.events().await), "2026-03-03T00:00:00Z");
    let zone = CalendarPatch { zone: Patch::Set("Asia/Tokyo".parse().unwrap()), ..CalendarPatch::default() };
    let moved = house.calendar.patched(zone, house.make.tick());
    house.store.commit(ChangeSet::new(moved.org).update(&moved, house.calendar.version)).await.unwrap();
    house.minutes_until_due().await;
    assert_eq!(start(&house.events().await), "2026-03-02T15:00:00Z", "the text is the same");
}

#[tokio::test]
async fn failures_back_off_and_change_nothing() {
    let house = House::new().await;
    house.feeds.says(feed([3, 4]));
    house.work().await;
    let events = house.events().await;
    let synced = house.subscription().await.state.last_synced_at;
    house.feeds.fails("the server answered 500");
    let mut waits = Vec::new();
    for _ in 0..8 {
        waits.push(house.minutes_until_due().await);
    }
    for (waited, expected) in waits.iter().zip([15, 15, 30, 60, 120, 240, 360, 360]) {
        let tenth = expected / 10 + 1;
        assert!((expected - tenth..=expected + tenth).contains(waited), "{waits:?}");
    }
    let subscription = house.subscription().await;
    assert_eq!((subscription.status(), subscription.state.failures), (SubscriptionStatus::Error, 8));
    assert_eq!(subscription.state.last_error.as_deref(), Some("the server answered 500"));
    assert_eq!((subscription.state.last_synced_at, house.events().await), (synced, events));

    for (text, problem) in [
        ("<!DOCTYPE html><html></html>".to_owned(), "HTML"),
        (feed([3]).replace("END:VCALENDAR\r\n", ""), "cut short"),
        (String::new(), "empty"),
    ] {
        house.feeds.says(text);
        house.ask().await;
        house.work().await;
        let subscription = house.subscription().await;
        assert!(
            subscription.state.last_error.as_ref().is_some_and(|error| error.contains(problem)),
            "{subscription:?}"
        );
        assert_eq!(house.titles().await, ["On 3", "On 4"]);
    }
    house.feeds.says(feed([3, 4, 5]));
    house.ask().await;
    house.work().await;
    let subscription = house.subscription().await;
    assert_eq!((subscription.status(), subscription.state.failures), (SubscriptionStatus::Active, 0));
    assert_eq!(house.titles().await, ["On 3", "On 4", "On 5"]);
}

#[tokio::test]
async fn changes_are_reported_and_events_keep_their_rows() {
    let house = House::new().await;
    house.feeds.says(feed([3, 4, 5]));
    house.work().await;
    let before = house.events().await;
    house.feeds.says(feed([4, 5, 6]).replace("On 5", "Moved"));
    house.ask().await;
    house.work().await;
    assert_eq!(house.counts().await, Counts { created: 1, updated: 1, deleted: 1, untouched: 1 });
    let after = house.events().await;
    assert_eq!(after.iter().map(|event| event.title.as_str()).collect::<Vec<_>>(), ["On 4", "Moved", "On 6"]);
    assert_eq!(after[0], before[1]);
    assert_eq!((after[1].id, after[1].version), (before[2].id, before[2].version.next()));
    assert!(house.store.messages(house.made.org).await.is_empty(), "no messages are sent");
}

#[tokio::test]
async fn a_feed_that_shrinks_is_believed_the_second_time() {
    let house = House::new().await;
    house.feeds.says(feed(1..=10));
    house.work().await;
    house.feeds.says(feed([1, 2, 20]));
    house.ask().await;
    house.work().await;
    assert_eq!(house.events().await.len(), 11, "new events are there, and missing ones still are");
    let report = house.subscription().await.state.memory.report.unwrap();
    assert_eq!((report.counts.created, report.counts.deleted, report.withheld), (1, 0, 8));
    assert!((4..=7).contains(&house.minutes_until_due().await), "it is fetched again soon");
    assert_eq!(house.titles().await, ["On 1", "On 2", "On 20"]);
    assert_eq!(house.feeds.etags_sent(), [None, Some(tag(&feed(1..=10))), None], "the last request has no validators");

    // A feed that recovers in between is not believed when it shrinks again.
    house.feeds.says(feed(1..=10));
    house.ask().await;
    house.work().await;
    house.feeds.says(feed([]));
    house.ask().await;
    house.work().await;
    assert_eq!(house.events().await.len(), 10);
    house.feeds.says(feed(1..=10));
    house.ask().await;
    house.work().await;
    house.feeds.says(feed([]));
    house.ask().await;
    house.work().await;
    assert_eq!(house.events().await.len(), 10);
}

#[tokio::test]
async fn a_sync_that_lost_its_claim_writes_nothing() {
    let house = House::new().await;
    house.feeds.says(feed([3]));
    let claims = house.app.claim_syncs(10).await.unwrap();
    let (lost, subscription) = claims[0].clone();
    house.make.clock.advance(CLAIM_LASTS);
    house.feeds.says(feed([4]));
    assert_eq!(house.work().await, 1, "another worker took over");
    house.feeds.says(feed([5]));
    house.app.sync(lost, subscription).await;
    assert_eq!(house.titles().await, ["On 4"]);
}

#[tokio::test]
async fn a_change_of_the_subscription_during_a_fetch_ends_the_sync() {
    let url = RemoteUrl::from_stored("https://example.org/").unwrap();
    let during_fetch = [
        SubscriptionPatch { url: Patch::Set(url), ..SubscriptionPatch::default() },
        SubscriptionPatch { paused: Patch::Set(true), ..SubscriptionPatch::default() },
    ];
    for (patch, expected) in during_fetch.into_iter().zip([&[][..], &["On 3"]]) {
        let house = House::new().await;
        house.feeds.says(feed([3]));
        let moved = patch.url.is_set();
        let subscription = Box::new(house.made.patched(patch, house.make.tick()));
        let (seen, due) = (house.made.version, moved.then(|| Timestamp::from_micros(i64::MAX)));
        let mut changes = ChangeSet::new(house.made.org);
        changes.feeds.push(Change::UpdateSubscription { subscription, seen, moved, due });
        *house.feeds.during_fetch.lock().unwrap() = Some(vec![changes]);
        house.work().await;
        assert_eq!(house.titles().await, expected);
        house.make.clock.advance(SignedDuration::hours(100));
        assert_eq!(house.work().await, 0);
    }

    // A deleted calendar takes its subscription along.
    let house = House::new().await;
    house.feeds.says(feed([3]));
    let gone = house.calendar.deleted(house.make.tick());
    let changes = ChangeSet::new(gone.org).update(&gone, house.calendar.version);
    *house.feeds.during_fetch.lock().unwrap() = Some(vec![changes]);
    house.work().await;
    house.make.clock.advance(CLAIM_LASTS);
    assert_eq!(house.work().await, 0);
    assert_eq!(house.store.find_subscription(house.made.org, house.made.id).await.unwrap(), None);
}

#[tokio::test]
async fn an_interrupted_sync_is_resumed() {
    let house = House::new().await;
    house.feeds.says(feed(1..=9));
    // The process dies while it waits. Its subscription is claimed again, and synced once.
    let claims = house.app.claim_syncs(10).await.unwrap();
    let (claim, subscription) = claims[0].clone();
    let mut chunk = ChangeSet::new(claim.org);
    chunk.feeds.push(Change::RenewClaim { claim, at: house.make.tick(), reserved: 0 });
    house.store.commit(chunk).await.unwrap();
    house.make.clock.advance(CLAIM_LASTS);
    house.make.clock.advance(SignedDuration::minutes(1));
    assert_eq!(house.work().await, 1);
    house.app.sync(claim, subscription).await;
    assert_eq!(house.events().await.len(), 9);
}

impl House {
    /// Sets the organization's limit of imported events.
    async fn may_hold(&self, limit: u64) {
        let seen = self.store.find_organization(self.made.org).await.unwrap().unwrap();
        let organization = seen.on_plan(seen.plan, Some(json!({ "imported_events": limit }))).unwrap();
        let mut changes = ChangeSet::new(self.made.org);
        changes.accounts.push(kalends_accounts::Change::UpdateOrganization { organization, seen: seen.version });
        self.store.commit(changes).await.unwrap();
    }

    /// How many imported events count against the limit.
    async fn imported(&self) -> u64 {
        let used = self.store.usage(self.made.org, self.make.period(), self.app.now()).await.unwrap();
        used.into_iter().find(|(metric, _)| *metric == Metric::ImportedEvents).map_or(0, |(_, used)| used)
    }
}

#[tokio::test]
async fn a_sync_over_the_limit_changes_nothing() {
    let house = House::new().await;
    house.may_hold(5).await;
    house.feeds.says(feed(1..=6));
    house.work().await;
    assert_eq!((house.titles().await, house.imported().await), (vec![], 0));
    let subscription = house.subscription().await;
    assert_eq!(subscription.status(), SubscriptionStatus::Error);
    let error = subscription.state.last_error.unwrap();
    for part in ["6 events", "5 imported events", "imported_events", "have the limit raised"] {
        assert!(error.contains(part), "{error}");
    }

    // What fits is imported. A feed that does not fit is not imported at all, not even its changes to existing
    // events.
    house.feeds.says(feed(1..=5));
    house.ask().await;
    house.work().await;
    assert_eq!((house.titles().await.len(), house.imported().await), (5, 5));
    house.feeds.says(feed(1..=6).replace("On 1\r", "Elsewhere\r"));
    house.ask().await;
    house.work().await;
    assert_eq!((house.titles().await, house.imported().await), ((1..=5).map(|day| format!("On {day}")).collect(), 5));
    assert!(house.subscription().await.state.last_error.is_some());

    house.may_hold(6).await;
    house.ask().await;
    house.work().await;
    assert_eq!((house.titles().await[0].as_str(), house.imported().await), ("Elsewhere", 6));
    assert_eq!(house.subscription().await.status(), SubscriptionStatus::Active);
}

#[tokio::test]
async fn a_sync_that_adds_nothing_works_above_the_limit() {
    let house = House::new().await;
    house.feeds.says(feed(1..=4));
    house.work().await;
    house.may_hold(2).await;
    house.feeds.says(feed(1..=3).replace("On 1\r", "Elsewhere\r"));
    house.ask().await;
    house.work().await;
    assert_eq!(house.titles().await, ["Elsewhere", "On 2", "On 3"]);
    assert_eq!(house.subscription().await.status(), SubscriptionStatus::Active);
    assert_eq!(house.imported().await, 4, "deleted events count until they are purged");
}

#[tokio::test]
async fn deleted_events_are_purged_after_thirty_days() {
    let house = House::new().await;
    house.feeds.says(feed(1..=4));
    house.work().await;
    house.feeds.says(feed(1..=2));
    house.ask().await;
    house.work().await;
    house.make.clock.advance(DELETED_KEPT);
    house.make.clock.advance(SignedDuration::micros(-1));
    assert!(house.app.purge_imported_events(10).await.unwrap());
    assert_eq!(house.imported().await, 4);
    house.make.clock.advance(SignedDuration::hours(1));
    assert!(!house.app.purge_imported_events(1).await.unwrap(), "there is more");
    assert!(house.app.purge_imported_events(10).await.unwrap());
    assert_eq!((house.imported().await, house.titles().await.len()), (2, 2));
}

#[tokio::test]
async fn repeated_subscribing_and_deleting_leaves_a_bounded_number_of_rows() {
    let house = House::new().await;
    house.may_hold(20).await;
    house.feeds.says(feed(1..=9));
    for round in 0..10 {
        house.work().await;
        assert!(house.imported().await <= 20, "round {round}");
        let (org, agent, calendar) = (house.made.org, house.made.agent, house.calendar.id);
        let url = RemoteUrl::from_stored(&format!("https://{round}.example/")).unwrap();
        let new = NewSubscription { url, label: None, busy_only: false };
        let placement = Placement { place: 2 + round, left: None };
        let made = Subscription::create((org, agent, calendar), new, placement, house.make.tick(), &house.make.entropy);
        let mut changes = ChangeSet::new(org);
        let listed = house.store.list_subscriptions(org, None, None, Page { limit: 10, offset: 0 }).await.unwrap();
        for Subscription { id: subscription, version: seen, .. } in listed.data {
            let (remains, at) = (Remains::Kept, house.make.tick());
            changes.feeds.push(Change::DeleteSubscription { org, subscription, seen, remains, at });
        }
        changes.feeds.push(Change::CreateSubscription(Box::new(made)));
        house.store.commit(changes).await.unwrap();
    }
    assert_eq!(house.imported().await, 18, "the third sync and all later ones were refused");
}

#[tokio::test]
async fn an_interrupted_sync_does_not_keep_its_reservation() {
    let house = House::new().await;
    house.may_hold(5).await;
    house.feeds.says(feed(1..=5));
    let claim = house.app.claim_syncs(10).await.unwrap()[0].0;
    let mut reserved = ChangeSet::new(claim.org);
    reserved.feeds.push(Change::RenewClaim { claim, at: house.make.tick(), reserved: 5 });
    house.store.commit(reserved).await.unwrap();
    assert_eq!(house.imported().await, 5);
    house.make.clock.advance(CLAIM_LASTS);
    house.make.clock.advance(SignedDuration::minutes(1));
    assert_eq!(house.work().await, 1);
    assert_eq!((house.events().await.len(), house.imported().await), (5, 5));
}

impl House {
    /// Deletes the subscription.
    async fn end(&self, remains: Remains) {
        let (org, subscription, at) = (self.made.org, self.made.id, self.make.tick());
        let seen = self.subscription().await.version;
        let mut changes = ChangeSet::new(org);
        changes.feeds.push(Change::DeleteSubscription { org, subscription, seen, remains, at });
        self.store.commit(changes).await.unwrap();
    }

    /// An actor with the organization's key, for that operation.
    async fn actor(&self, operation: &'static Operation) -> Actor {
        self.actor_with(Reach::Organization, operation).await
    }

    /// An actor with a key of that reach, for that operation.
    async fn actor_with(&self, reach: Reach, operation: &'static Operation) -> Actor {
        let organization = self.store.find_organization(self.made.org).await.unwrap().unwrap();
        actor(&self.make, &organization, reach, operation)
    }

    /// Also subscribes the calendar to `address`, and returns a house that looks at the new subscription.
    async fn subscribes(&self, address: &str) -> Self {
        let actor = self.actor(&operations::CREATE_SUBSCRIPTION).await;
        let url = RemoteUrl::from_stored(address).unwrap();
        let new = NewSubscription { url: url.clone(), label: None, busy_only: false };
        let (agent, calendar) = (self.made.agent.to_string(), self.calendar.id.to_string());
        self.make.tick();
        self.app.create_subscription(&actor, &agent, &calendar, new).await.unwrap();
        let page = Page { limit: 10, offset: 0 };
        let listed = self.store.list_subscriptions(self.made.org, None, None, page).await.unwrap();
        let made = listed.data.into_iter().find(|found| found.url == url).unwrap();
        Self { made, ..self.clone() }
    }

    /// The other subscriptions of the calendar, and what was left at the subscription's address.
    async fn neighbours(&self) -> Neighbours {
        self.store.subscription_neighbours(self.made.org, self.calendar.id, &self.made.url).await.unwrap()
    }

    /// Subscribes the calendar to the same address again.
    async fn again(&self) -> Self {
        self.subscribes(self.made.url.as_str()).await
    }

    /// Changes the subscription's address.
    async fn moves(&self, address: &str) {
        let actor = self.actor(&operations::UPDATE_SUBSCRIPTION).await;
        let url = Patch::Set(RemoteUrl::from_stored(address).unwrap());
        let patch = SubscriptionPatch { url, ..SubscriptionPatch::default() };
        self.make.tick();
        self.app.update_subscription(&actor, &self.made.id.to_string(), patch, &IfMatch::Any).await.unwrap();
    }
}

#[tokio::test]
async fn an_agent_key_counts_only_the_subscriptions_of_its_agent() {
    let house = House::new().await;
    let owner = house.store.find_agent(house.made.org, house.made.agent).await.unwrap().unwrap();
    let other = house.make.agent(house.made.org);
    house.store.commit(ChangeSet::new(house.made.org).create(&other)).await.unwrap();
    let operation = &operations::LIST_SUBSCRIPTIONS;
    let key_of = |agent| Reach::Agent(ScopedAgent { id: agent, paused: false, scopes: Scopes::NONE });
    let one = SubscriptionCounts { active: 1, ..SubscriptionCounts::default() };
    for (reach, all) in
        [(Reach::Organization, one), (key_of(owner.id), one), (key_of(other.id), SubscriptionCounts::default())]
    {
        let actor = house.actor_with(reach, operation).await;
        assert_eq!(house.app.count_subscriptions(&actor, None).await.unwrap(), all, "{reach:?}");
    }
    let actor = house.actor_with(key_of(other.id), operation).await;
    assert_eq!(house.app.count_subscriptions(&actor, Some(&other)).await.unwrap(), SubscriptionCounts::default());
    let refused = house.app.count_subscriptions(&actor, Some(&owner)).await;
    assert!(matches!(refused, Err(Refusal::OutOfReach)), "{refused:?}");
    let page = Page { limit: 10, offset: 0 };
    let refused = house.app.subscriptions_of(&actor, Some(&owner), (None, page)).await;
    assert!(matches!(refused, Err(Refusal::OutOfReach)), "{refused:?}");
}

#[tokio::test]
async fn a_new_subscription_to_the_same_address_takes_over_the_events_that_are_left() {
    let house = House::new().await;
    house.feeds.says(feed(1..=4));
    house.work().await;
    let before = house.events().await;
    let mut house = house;
    for _ in 0..3 {
        house.end(Remains::Kept).await;
        assert_eq!(house.events().await, before, "the imported events stay");
        house = house.again().await;
        assert_eq!(house.work().await, 1);
        assert_eq!((house.events().await, house.imported().await), (before.clone(), 4));
    }
    // From then on it is synced as usual.
    house.feeds.says(feed(1..=3));
    house.minutes_until_due().await;
    assert_eq!(house.titles().await, ["On 1", "On 2", "On 3"]);
}

#[tokio::test]
async fn a_shrunken_feed_is_not_believed_at_once_after_a_takeover() {
    let house = House::new().await;
    house.feeds.says(feed(1..=9));
    house.work().await;
    house.end(Remains::Kept).await;
    let house = house.again().await;
    house.feeds.says(feed([1]));
    house.work().await;
    assert_eq!(house.events().await.len(), 9);
    assert!((4..=7).contains(&house.minutes_until_due().await));
    assert_eq!(house.titles().await, ["On 1"]);
}

#[tokio::test]
async fn a_changed_address_is_believed_at_once_after_a_takeover() {
    let house = House::new().await;
    house.feeds.says(feed(1..=9));
    house.work().await;
    house.end(Remains::Kept).await;
    let house = house.again().await;
    house.work().await;
    house.moves("https://example.com/small.ics").await;
    house.feeds.says(feed([1]));
    house.work().await;
    assert_eq!(house.titles().await, ["On 1"], "the events of another address do not count");
}

#[tokio::test]
async fn events_left_by_an_address_are_removed_when_another_subscription_moves_there() {
    let house = House::new().await;
    house.feeds.says(feed(1..=3));
    house.work().await;
    house.end(Remains::Kept).await;
    let house = house.subscribes("https://example.org/other.ics").await;
    house.feeds.says(feed([8]));
    house.work().await;
    assert_eq!(house.titles().await, ["On 1", "On 2", "On 3", "On 8"]);
    house.moves("https://example.com/work.ics").await;
    house.feeds.says(feed(1..=3));
    while house.work().await > 0 {}
    assert_eq!(house.titles().await, ["On 1", "On 2", "On 3"], "none of them twice");
}

#[tokio::test]
async fn events_of_a_deleted_subscription_are_removed_on_request() {
    let house = House::new().await;
    house.feeds.says(feed(1..=28));
    house.work().await;
    house.end(Remains::Removed).await;
    assert_eq!(house.work().await, 1);
    assert_eq!(house.titles().await, Vec::<String>::new());
    assert_eq!(house.neighbours().await, Neighbours::default());
    assert_eq!(house.work().await, 0);
    // The next subscription starts from scratch.
    house.feeds.says(feed([5]));
    let house = house.again().await;
    house.work().await;
    assert_eq!(house.titles().await, ["On 5"]);
}

#[tokio::test]
async fn a_deleted_subscription_is_forgotten_once_its_events_are_gone() {
    let house = House::new().await;
    house.feeds.says(feed(1..=2));
    house.work().await;
    house.end(Remains::Kept).await;
    house.make.clock.advance(LEFT_KEPT);
    assert_eq!(house.work().await, 1, "a worker checks it");
    let left = async || house.neighbours().await.same.len();
    assert_eq!((left().await, house.titles().await.len()), (1, 2));
    for event in house.events().await {
        let gone = event.gone(house.make.tick());
        house.store.commit(ChangeSet::new(gone.org).update(&gone, event.version)).await.unwrap();
    }
    house.make.clock.advance(LEFT_KEPT);
    assert_eq!(house.work().await, 1);
    assert_eq!(left().await, 0);
}

/// The texts of events are dropped at once, even if the feed has not changed, and come back the same way.
#[tokio::test]
async fn only_the_times_of_a_feed_are_imported_on_request() {
    let house = House::new().await;
    house.feeds.says(feed([3, 4]));
    assert_eq!(house.work().await, 1);
    assert_eq!(house.titles().await, ["On 3", "On 4"]);
    let changes = async |busy_only| {
        let actor = house.actor(&operations::UPDATE_SUBSCRIPTION).await;
        let patch = SubscriptionPatch { busy_only: Patch::Set(busy_only), ..SubscriptionPatch::default() };
        house.make.tick();
        house.app.update_subscription(&actor, &house.made.id.to_string(), patch, &IfMatch::Any).await.unwrap();
    };
    for (busy_only, titles) in [(true, ["Busy", "Busy"]), (false, ["On 3", "On 4"])] {
        changes(busy_only).await;
        // A failure keeps what there is.
        house.feeds.fails("the server answered 500");
        assert_eq!(house.work().await, 1, "it is due at once");
        house.feeds.says(feed([3, 4]));
        house.make.clock.advance(SignedDuration::hours(1));
        assert_eq!(house.work().await, 1);
        assert_eq!(house.titles().await, titles);
        assert_eq!(house.subscription().await.state.memory.report.unwrap().counts.updated, 2);
        // The same setting again reads nothing.
        changes(busy_only).await;
        assert_eq!(house.work().await, 0);
    }
}

/// A sync that began with texts does not write them once they are not wanted any more.
#[tokio::test]
async fn a_sync_with_texts_ends_when_only_times_are_wanted() {
    let house = House::new().await;
    house.feeds.says(feed([3]));
    let patch = SubscriptionPatch { busy_only: Patch::Set(true), ..SubscriptionPatch::default() };
    let now = house.make.tick();
    let mut changed = house.made.patched(patch, now);
    changed.state = changed.state.reread();
    let (subscription, seen) = (Box::new(changed), house.made.version);
    let mut changes = ChangeSet::new(house.made.org);
    changes.feeds.push(Change::UpdateSubscription { subscription, seen, moved: true, due: Some(now) });
    *house.feeds.during_fetch.lock().unwrap() = Some(vec![changes]);
    house.work().await;
    assert_eq!(house.titles().await, Vec::<String>::new());
    assert_eq!(house.work().await, 1);
    assert_eq!(house.titles().await, ["Busy"]);
}
