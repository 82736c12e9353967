//! Feeds kept in step, over the store in memory: the clock and the feed's server do as the test says.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use kalends_app::{
    App, ChangeSet, MemoryRateLimiter, NoCalendarProviders, NoHumanCalendars, Parts,
    ports::{Commit as _, FeedFetcher, FetchError, FetchedFeed},
};
use kalends_calendars::{
    Calendar, CalendarPatch, Event, Patch,
    ports::{Calendars as _, EventFilter, EventScope, Events as _},
};
use kalends_feeds::{
    Change, NewSubscription, Subscription, SubscriptionPatch, SubscriptionStatus,
    ports::Subscriptions as _,
    sync::{CLAIM_LASTS, Counts, Validators},
};
use kalends_kernel::{Elapsed, Instant, Page, RemoteUrl, Revision};
use kalends_testkit::{
    Inspect as _, Mailbox, MemoryStore, TestPasswords, TestTokens,
    fixtures::{Compose as _, Fixtures, settings},
};

/// A server of feeds that answers as it is told, and notes by what it was asked.
#[derive(Clone, Default)]
struct Feeds {
    answer: Arc<Mutex<Option<Result<String, String>>>>,
    asked: Arc<Mutex<Vec<Validators>>>,
    /// What is done while somebody fetches.
    meanwhile: Arc<Mutex<Option<Vec<ChangeSet>>>>,
    store: MemoryStore,
}

impl Feeds {
    fn says(&self, text: impl Into<String>) {
        *self.answer.lock().unwrap() = Some(Ok(text.into()));
    }

    fn fails(&self, problem: &str) {
        *self.answer.lock().unwrap() = Some(Err(problem.into()));
    }

    fn asked(&self) -> Vec<Option<String>> {
        self.asked.lock().unwrap().drain(..).map(|validators| validators.etag).collect()
    }
}

/// The tag of a text.
fn tag(text: &str) -> String {
    format!("\"{}-{}\"", text.len(), text.bytes().map(usize::from).sum::<usize>())
}

#[async_trait]
impl FeedFetcher for Feeds {
    async fn fetch(&self, _: &RemoteUrl, validators: &Validators) -> Result<FetchedFeed, FetchError> {
        self.asked.lock().unwrap().push(validators.clone());
        let meanwhile = self.meanwhile.lock().unwrap().take();
        for changes in meanwhile.into_iter().flatten() {
            self.store.commit(changes).await.unwrap();
        }
        let text = self.answer.lock().unwrap().clone().unwrap().map_err(FetchError)?;
        let etag = Some(tag(&text));
        if validators.etag == etag {
            return Ok(FetchedFeed::Unchanged);
        }
        Ok(FetchedFeed::Whole { body: text.into(), validators: Validators { etag, last_modified: None } })
    }
}

/// A service with one calendar that is subscribed to a feed.
struct House {
    app: Arc<App>,
    store: MemoryStore,
    make: Fixtures,
    feeds: Feeds,
    calendar: Calendar,
    made: Subscription,
}

/// Events at ten o'clock of these days of March 2026.
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
        let app = App::new(Parts {
            store: Arc::new(store.clone()),
            clock: Arc::new(make.clock.clone()),
            entropy: Arc::new(make.entropy.clone()),
            mailer: Arc::new(Mailbox::default()),
            passwords: Arc::new(TestPasswords::default()),
            tokens: Arc::new(TestTokens),
            human: Arc::new(NoHumanCalendars),
            calendar_providers: Arc::new(NoCalendarProviders),
            limiter: Arc::new(MemoryRateLimiter::default()),
            providers: Arc::new(kalends_app::NoProviders),
            sender: Arc::new(kalends_app::NoSender),
            fetcher: Arc::new(feeds.clone()),
            settings: settings(),
        });
        let organization = make.organization();
        let agent = make.agent(organization.id);
        let calendar = make.calendar(&agent);
        let url = RemoteUrl::from_stored("https://example.com/work.ics").unwrap();
        let of = (organization.id, agent.id, calendar.id);
        let made = Subscription::create(of, NewSubscription { url, label: None }, make.tick(), &make.entropy);
        let mut changes = ChangeSet::new(organization.id).create(&organization).create(&agent).create(&calendar);
        // Whatever is announced is kept where somebody listens.
        changes = changes.create(&make.webhook(organization.id));
        changes.feeds.push(Change::CreateSubscription(Box::new(made.clone())));
        store.commit(changes).await.unwrap();
        Self { app, store, make, feeds, calendar, made }
    }

    /// Syncs what is due, and says how many that were.
    async fn work(&self) -> usize {
        let claims = self.app.claim_syncs(10).await.unwrap();
        let count = claims.len();
        for (claim, subscription) in claims {
            self.app.sync(claim, subscription).await;
        }
        count
    }

    async fn shown(&self) -> Subscription {
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

    /// Has it synced now.
    async fn ask(&self) {
        let (org, subscription, at) = (self.made.org, self.made.id, self.make.tick());
        let mut changes = ChangeSet::new(org);
        changes.feeds.push(Change::AskSync { org, subscription, at });
        self.store.commit(changes).await.unwrap();
    }

    async fn counts(&self) -> Counts {
        self.shown().await.state.memory.report.unwrap().counts
    }

    /// Lets time pass until it is due, minute by minute, and says how many minutes that took.
    async fn minutes_until_due(&self) -> i64 {
        for minute in 1..1_000 {
            self.make.clock.advance(Elapsed::minutes(1));
            if self.work().await > 0 {
                return minute;
            }
        }
        panic!("it is never due");
    }
}

#[tokio::test]
async fn it_is_synced_every_quarter_of_an_hour() {
    let house = House::new().await;
    house.feeds.says(feed([3, 4]));
    assert_eq!(house.work().await, 1, "at its creation");
    assert_eq!(house.titles().await, ["On 3", "On 4"]);
    assert_eq!(house.shown().await.state.last_synced_at, Some(house.app.now()));
    assert_eq!(house.work().await, 0);
    for _ in 0..5 {
        let minutes = house.minutes_until_due().await;
        assert!((14..=17).contains(&minutes), "{minutes}");
    }
}

#[tokio::test]
async fn what_has_not_changed_costs_one_question_and_changes_nothing() {
    let house = House::new().await;
    let text = feed([3, 4, 5]);
    house.feeds.says(&text);
    house.work().await;
    assert_eq!(house.feeds.asked(), [None]);
    let (revision, events) = (house.revision().await, house.events().await);
    house.minutes_until_due().await;
    assert_eq!(house.feeds.asked(), [Some(tag(&text))]);
    assert_eq!((house.revision().await, house.events().await), (revision, events.clone()));
    assert_eq!(house.counts().await, Counts { untouched: 3, ..Counts::default() });

    // The same events in another order and with other stamps are another text, and change nothing either.
    house.feeds.says(feed([5, 4, 3]));
    house.minutes_until_due().await;
    assert_eq!((house.revision().await, house.events().await), (revision, events));
    assert_eq!(house.counts().await, Counts { untouched: 3, ..Counts::default() });
}

#[tokio::test]
async fn what_is_expanded_is_read_anew_every_day_and_with_another_zone() {
    let house = House::new().await;
    let text = feed([3]);
    house.feeds.says(&text);
    house.work().await;
    for _ in 0..110 {
        house.make.clock.advance(Elapsed::minutes(15));
        house.work().await;
    }
    let asked = house.feeds.asked();
    let whole = asked.iter().filter(|etag| etag.is_none()).count();
    assert_eq!(whole, 2, "the first time, and once within 27 hours: {asked:?}");

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
async fn failures_grow_rarer_and_change_nothing() {
    let house = House::new().await;
    house.feeds.says(feed([3, 4]));
    house.work().await;
    let events = house.events().await;
    let synced = house.shown().await.state.last_synced_at;
    house.feeds.fails("the server answers 500");
    let mut waits = Vec::new();
    for _ in 0..8 {
        waits.push(house.minutes_until_due().await);
    }
    for (waited, expected) in waits.iter().zip([15, 15, 30, 60, 120, 240, 360, 360]) {
        let tenth = expected / 10 + 1;
        assert!((expected - tenth..=expected + tenth).contains(waited), "{waits:?}");
    }
    let shown = house.shown().await;
    assert_eq!((shown.status(), shown.state.failures), (SubscriptionStatus::Error, 8));
    assert_eq!(shown.state.last_error.as_deref(), Some("the server answers 500"));
    assert_eq!((shown.state.last_synced_at, house.events().await), (synced, events));

    for (text, told) in [
        ("<!DOCTYPE html><html></html>".to_owned(), "HTML"),
        (feed([3]).replace("END:VCALENDAR\r\n", ""), "cut short"),
        (String::new(), "empty"),
    ] {
        house.feeds.says(text);
        house.ask().await;
        house.work().await;
        let shown = house.shown().await;
        assert!(shown.state.last_error.as_ref().is_some_and(|error| error.contains(told)), "{shown:?}");
        assert_eq!(house.titles().await, ["On 3", "On 4"]);
    }
    house.feeds.says(feed([3, 4, 5]));
    house.ask().await;
    house.work().await;
    let shown = house.shown().await;
    assert_eq!((shown.status(), shown.state.failures), (SubscriptionStatus::Active, 0));
    assert_eq!(house.titles().await, ["On 3", "On 4", "On 5"]);
}

#[tokio::test]
async fn changes_are_told_and_events_keep_their_rows() {
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
    assert!(house.store.messages(house.made.org).await.is_empty(), "nothing is announced");
}

#[tokio::test]
async fn a_feed_that_shrinks_is_believed_the_second_time() {
    let house = House::new().await;
    house.feeds.says(feed(1..=10));
    house.work().await;
    house.feeds.says(feed([1, 2, 20]));
    house.ask().await;
    house.work().await;
    assert_eq!(house.events().await.len(), 11, "what is new is there, what is gone too");
    let report = house.shown().await.state.memory.report.unwrap();
    assert_eq!((report.counts.created, report.counts.deleted, report.withheld), (1, 0, 8));
    assert!((4..=7).contains(&house.minutes_until_due().await), "it is asked again soon");
    assert_eq!(house.titles().await, ["On 1", "On 2", "On 20"]);
    assert_eq!(house.feeds.asked(), [None, Some(tag(&feed(1..=10))), None], "and not whether it has changed");

    // One that recovers was never believed.
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
async fn whoever_loses_the_claim_writes_nothing() {
    let house = House::new().await;
    house.feeds.says(feed([3]));
    let claims = house.app.claim_syncs(10).await.unwrap();
    let (lost, subscription) = claims[0].clone();
    house.make.clock.advance(CLAIM_LASTS);
    house.feeds.says(feed([4]));
    assert_eq!(house.work().await, 1, "another worker took it over");
    house.feeds.says(feed([5]));
    house.app.sync(lost, subscription).await;
    assert_eq!(house.titles().await, ["On 4"]);
}

#[tokio::test]
async fn what_changes_while_it_is_fetched_ends_the_sync() {
    let url = RemoteUrl::from_stored("https://example.org/").unwrap();
    let meanwhile = [
        SubscriptionPatch { url: Patch::Set(url), ..SubscriptionPatch::default() },
        SubscriptionPatch { paused: Patch::Set(true), ..SubscriptionPatch::default() },
    ];
    for (patch, expected) in meanwhile.into_iter().zip([&[][..], &["On 3"]]) {
        let house = House::new().await;
        house.feeds.says(feed([3]));
        let moved = patch.url.is_set();
        let subscription = Box::new(house.made.patched(patch, house.make.tick()));
        let (seen, due) = (house.made.version, moved.then(|| Instant::from_micros(i64::MAX)));
        let mut changes = ChangeSet::new(house.made.org);
        changes.feeds.push(Change::UpdateSubscription { subscription, seen, moved, due });
        *house.feeds.meanwhile.lock().unwrap() = Some(vec![changes]);
        house.work().await;
        assert_eq!(house.titles().await, expected);
        house.make.clock.advance(Elapsed::hours(100));
        assert_eq!(house.work().await, 0);
    }

    // A calendar that is deleted takes its subscription along.
    let house = House::new().await;
    house.feeds.says(feed([3]));
    let gone = house.calendar.deleted(house.make.tick());
    let changes = ChangeSet::new(gone.org).update(&gone, house.calendar.version);
    *house.feeds.meanwhile.lock().unwrap() = Some(vec![changes]);
    house.work().await;
    house.make.clock.advance(CLAIM_LASTS);
    assert_eq!(house.work().await, 0);
    assert_eq!(house.store.find_subscription(house.made.org, house.made.id).await.unwrap(), None);
}

#[tokio::test]
async fn a_sync_that_broke_off_is_gone_on_with() {
    let house = House::new().await;
    house.feeds.says(feed(1..=9));
    // The process ends while it waits: what it claimed is claimed again, and done once.
    let claims = house.app.claim_syncs(10).await.unwrap();
    let (claim, subscription) = claims[0].clone();
    let mut chunk = ChangeSet::new(claim.org);
    chunk.feeds.push(Change::RenewClaim { claim, at: house.make.tick() });
    house.store.commit(chunk).await.unwrap();
    house.make.clock.advance(CLAIM_LASTS);
    house.make.clock.advance(Elapsed::minutes(1));
    assert_eq!(house.work().await, 1);
    house.app.sync(claim, subscription).await;
    assert_eq!(house.events().await.len(), 9);
}
