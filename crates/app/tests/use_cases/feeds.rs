//! Feeds: a cached text is not read again, and every change appears.

use std::sync::Arc;

use futures::future::join_all;
use kalends_app::{App, ChangeSet, Feed, FeedAnswer, Missing, Refusal, ports::Commit as _};
use kalends_calendars::{Calendar, CalendarPatch, Event, FeedToken, Patch};
use kalends_testkit::{
    MemoryStore,
    fixtures::{Compose as _, Fixtures, span},
};
use kalends_time::SignedDuration;

use crate::common::parts;

struct Stage {
    app: Arc<App>,
    store: MemoryStore,
    make: Fixtures,
    calendar: Calendar,
}

/// A process that uses the store.
fn app(store: &MemoryStore, make: &Fixtures) -> Arc<App> {
    App::new(parts(store, make))
}

impl Stage {
    /// A calendar with one event.
    async fn set() -> Self {
        let (store, make) = (MemoryStore::new(), Fixtures::new());
        let organization = make.organization();
        let calendar = make.shared_calendar(organization.id);
        let changes = ChangeSet::new(organization.id).create(&organization).create(&calendar);
        store.commit(changes).await.unwrap();
        let stage = Self { app: app(&store, &make), store, make, calendar };
        stage.event("Standup").await;
        stage
    }

    async fn event(&self, title: &str) -> Event {
        let times = span("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z");
        let event = Event { title: title.into(), ..self.make.event(&self.calendar, times) };
        self.store.commit(ChangeSet::new(event.org).create(&event)).await.unwrap();
        event
    }

    async fn update(&mut self, calendar: Calendar) {
        let seen = self.calendar.version;
        self.store.commit(ChangeSet::new(calendar.org).update(&calendar, seen)).await.unwrap();
        self.calendar = calendar;
    }

    async fn ask(&self, app: &App, known: Option<&str>) -> FeedAnswer {
        app.feed(self.calendar.feed_token.reveal(), |tag| known == Some(tag)).await.unwrap()
    }

    /// The text, for a caller that does not have it.
    async fn feed(&self) -> Arc<Feed> {
        whole(self.ask(&self.app, None).await)
    }
}

#[track_caller]
fn whole(answer: FeedAnswer) -> Arc<Feed> {
    let FeedAnswer::Whole(feed) = answer else { panic!("{answer:?}") };
    feed
}

fn text(feed: &Feed) -> String {
    String::from_utf8(feed.pieces.concat()).unwrap()
}

#[tokio::test]
async fn a_cached_feed_is_not_read_again() {
    let stage = Stage::set().await;
    let first = stage.feed().await;
    assert!(text(&first).contains("SUMMARY:Standup"), "{}", text(&first));
    assert_eq!(stage.store.feeds_read(), 1);
    assert!(Arc::ptr_eq(&first, &stage.feed().await));
    // A caller with an outdated text gets the cached one.
    assert!(Arc::ptr_eq(&first, &whole(stage.ask(&stage.app, Some("\"other\"")).await)));
    assert_eq!(stage.store.feeds_read(), 1);
}

#[tokio::test]
async fn a_caller_with_the_current_text_causes_no_read() {
    let stage = Stage::set().await;
    let tag = stage.feed().await.etag.clone();
    // That also holds for a process that never wrote it.
    for process in [&stage.app, &app(&stage.store, &stage.make)] {
        match stage.ask(process, Some(&tag)).await {
            FeedAnswer::Unchanged(current) => assert_eq!(current, tag),
            FeedAnswer::Whole(feed) => panic!("{}", text(&feed)),
        }
    }
    assert_eq!(stage.store.feeds_read(), 1);
}

#[tokio::test]
async fn every_change_appears_in_the_feed() {
    let mut stage = Stage::set().await;
    let mut tags = vec![stage.feed().await.etag.clone()];
    let event = stage.event("Retro").await;
    let feed = stage.feed().await;
    assert!(text(&feed).contains("SUMMARY:Retro"));
    tags.push(feed.etag.clone());

    let gone = event.deleted(stage.make.tick()).unwrap();
    stage.store.commit(ChangeSet::new(event.org).update(&gone, event.version)).await.unwrap();
    let feed = stage.feed().await;
    assert!(!text(&feed).contains("SUMMARY:Retro"));
    tags.push(feed.etag.clone());

    let patch = CalendarPatch { name: Patch::Set("Renamed".into()), ..CalendarPatch::default() };
    let renamed = stage.calendar.patched(patch, stage.make.tick());
    stage.update(renamed).await;
    let feed = stage.feed().await;
    assert!(text(&feed).contains("X-WR-CALNAME:Renamed"));
    tags.push(feed.etag.clone());

    assert_eq!(stage.store.feeds_read(), tags.len() as u64, "each state is read once");
    assert!(!matches!(stage.ask(&stage.app, Some(&tags[2])).await, FeedAnswer::Unchanged(_)));
    tags.sort();
    tags.dedup();
    assert_eq!(tags.len(), 4, "each state has its own tag");
    // The passage of time changes nothing.
    stage.make.clock.advance(SignedDuration::days(400));
    assert!(Arc::ptr_eq(&feed, &stage.feed().await));
}

#[tokio::test]
async fn an_old_address_does_not_return_the_cached_feed() {
    let mut stage = Stage::set().await;
    stage.feed().await;
    let lost = async |app: &App, token: &FeedToken| {
        let refused = app.feed(token.reveal(), |_| true).await.unwrap_err();
        assert!(matches!(refused, Refusal::NotFound { missing: Missing::Feed, .. }), "{refused:?}");
        assert!(!format!("{refused:?}").contains(token.reveal()));
    };
    let old = stage.calendar.feed_token.clone();
    let rotated = stage.calendar.with_feed_token(FeedToken::generate(&stage.make.entropy), stage.make.tick());
    stage.update(rotated).await;
    lost(&stage.app, &old).await;
    stage.feed().await;
    let deleted = stage.calendar.deleted(stage.make.tick());
    stage.update(deleted).await;
    lost(&stage.app, &stage.calendar.feed_token).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_requests_read_a_feed_once() {
    let stage = Stage::set().await;
    let requests = (0..32).map(|_| {
        let (app, token) = (Arc::clone(&stage.app), stage.calendar.feed_token.clone());
        tokio::spawn(async move { whole(app.feed(token.reveal(), |_| false).await.unwrap()) })
    });
    let requests: Vec<_> = requests.collect();
    let feeds: Vec<Arc<Feed>> = join_all(requests).await.into_iter().map(Result::unwrap).collect();
    assert!(feeds.iter().all(|feed| Arc::ptr_eq(feed, &feeds[0])));
    assert_eq!(stage.store.feeds_read(), 1);
}
