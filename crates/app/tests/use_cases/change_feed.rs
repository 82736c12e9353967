//! Waiting for changes over the in-memory store, with time that passes at once.

use std::{sync::Arc, time::Duration};

use kalends_accounts::{Organization, Reach};
use kalends_app::{
    Actor, App, ChangeSet, EventPath, IfMatch, Refusal,
    operations::{self, Operation},
    ports::Commit as _,
};
use kalends_calendars::{
    AgentType, Attendee, AttendeeRole, AttendeeStatus, Attendees, EventPatch, NewAgent, Occurrence, ReplySecret,
    ReplyToken, SeriesScope,
};
use kalends_kernel::{Email, Metadata};
use kalends_testkit::{
    MemoryStore,
    fixtures::{Compose as _, Fixtures, span},
};
use kalends_time::{Clock as _, SignedDuration};
use kalends_wire::{FeedQuery, ListOrganizationChanges, OrganizationChanges};
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};

use crate::common::{actor, parts, request};
use crate::series_scopes;

/// How many keys wait, and how often each does.
const KEYS: usize = 40;
const EACH: usize = 10;
const WAIT: Duration = Duration::from_secs(60);

/// An organization, and two processes on its store.
struct Stage {
    app: Arc<App>,
    node: Arc<App>,
    store: MemoryStore,
    make: Fixtures,
    organization: Organization,
}

/// A process that uses the store.
fn process(store: &MemoryStore, make: &Fixtures) -> Arc<App> {
    App::new(parts(store, make))
}

fn query(since: Option<String>) -> FeedQuery {
    ListOrganizationChanges { since, ..ListOrganizationChanges::default() }.parse().unwrap()
}

impl Stage {
    async fn set() -> Self {
        let (store, make) = (MemoryStore::new(), Fixtures::new());
        let organization = make.organization();
        store.commit(ChangeSet::new(organization.id).create(&organization)).await.unwrap();
        Self { app: process(&store, &make), node: process(&store, &make), store, make, organization }
    }

    /// A caller with a key of its own.
    fn actor(&self, operation: &'static Operation) -> Actor {
        actor(&self.make, &self.organization, Reach::Organization, operation)
    }

    /// The present end.
    async fn end(&self) -> String {
        let reader = self.actor(&operations::LIST_ORGANIZATION_CHANGES);
        self.app.organization_changes(&reader, &query(None), WAIT).await.unwrap().next
    }

    /// A request that waits.
    fn waiting(&self, reader: &Actor, since: &str) -> JoinHandle<Result<OrganizationChanges, Refusal>> {
        let (app, reader, query) = (Arc::clone(&self.app), reader.clone(), query(Some(since.to_owned())));
        tokio::spawn(async move { app.organization_changes(&reader, &query, WAIT).await })
    }

    /// A change by one of the processes.
    async fn change(&self, process: &App) {
        let new =
            NewAgent { name: "Ada".to_owned(), kind: AgentType::Ai, description: None, metadata: Metadata::default() };
        process.create_agent(&self.actor(&operations::CREATE_AGENT), new).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn waiting_readers_read_nothing_while_nothing_changes() {
    let stage = Stage::set().await;
    let since = stage.end().await;
    let before = stage.store.change_feed_reads();
    stage.app.poll_change_feeds().await;
    assert_eq!(stage.store.change_feed_reads(), before, "nobody waits");
    let mut readers = Vec::new();
    for _ in 0..KEYS {
        let reader = stage.actor(&operations::LIST_ORGANIZATION_CHANGES);
        readers.extend((0..EACH).map(|_| stage.waiting(&reader, &since)));
    }
    sleep(Duration::from_secs(1)).await;
    let each_once = before + (KEYS * EACH) as u64;
    assert_eq!(stage.store.change_feed_reads(), each_once);
    for _ in 0..40 {
        stage.app.poll_change_feeds().await;
        sleep(Duration::from_secs(1)).await;
    }
    assert_eq!(stage.store.change_feed_reads(), each_once + 40, "each poll is one statement for all");

    stage.change(&stage.node).await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(stage.store.change_feed_reads(), each_once + 40, "this process does not know of it yet");
    stage.app.poll_change_feeds().await;
    for reader in readers {
        let page = reader.await.unwrap().unwrap();
        assert_eq!(page.data.len(), 1);
        assert_eq!(page.data[0].change_type, "agent.created");
    }
    assert_eq!(stage.store.change_feed_reads(), each_once + 41 + (KEYS * EACH) as u64);
}

#[tokio::test(start_paused = true)]
async fn a_commit_of_the_same_process_wakes_its_readers() {
    let stage = Stage::set().await;
    let since = stage.end().await;
    let reader = stage.waiting(&stage.actor(&operations::LIST_ORGANIZATION_CHANGES), &since);
    sleep(Duration::from_secs(5)).await;
    let began = Instant::now();
    stage.change(&stage.app).await;
    assert_eq!(reader.await.unwrap().unwrap().data.len(), 1);
    assert_eq!(began.elapsed(), Duration::ZERO, "no poll was needed");
}

#[tokio::test(start_paused = true)]
async fn a_wait_without_a_change_ends_empty() {
    let stage = Stage::set().await;
    let since = stage.end().await;
    let (began, reads) = (Instant::now(), stage.store.change_feed_reads());
    let page = stage.waiting(&stage.actor(&operations::LIST_ORGANIZATION_CHANGES), &since).await.unwrap().unwrap();
    assert!(page.data.is_empty() && !page.has_more && page.next == since);
    assert!(began.elapsed() >= WAIT, "{:?}", began.elapsed());
    assert_eq!(stage.store.change_feed_reads(), reads + 1);
}

#[tokio::test(start_paused = true)]
async fn a_key_with_too_many_waits_is_refused() {
    let stage = Stage::set().await;
    let since = stage.end().await;
    let reader = stage.actor(&operations::LIST_ORGANIZATION_CHANGES);
    let readers: Vec<_> = (0..EACH).map(|_| stage.waiting(&reader, &since)).collect();
    sleep(Duration::from_secs(1)).await;
    let refused = stage.waiting(&reader, &since).await.unwrap();
    assert!(matches!(refused, Err(Refusal::TooManyWaits { most: EACH })), "{refused:?}");
    let follower = stage.app.follow_changes(&reader, query(Some(since.clone()))).await;
    assert!(matches!(follower, Err(Refusal::TooManyWaits { .. })));
    stage.app.end_waits();
    for reader in readers {
        assert!(reader.await.unwrap().unwrap().data.is_empty());
    }
    let mut follower = stage.app.follow_changes(&reader, query(Some(since))).await.unwrap();
    assert!(follower.next(WAIT).await.unwrap().is_none(), "nobody waits at a process that stops");
}

#[tokio::test(start_paused = true)]
async fn a_follower_gets_each_change_once() {
    let stage = Stage::set().await;
    let reader = stage.actor(&operations::LIST_ORGANIZATION_CHANGES);
    let mut follower = stage.app.follow_changes(&reader, query(None)).await.unwrap();
    let begin = follower.token();
    let reads = stage.store.change_feed_reads();
    assert!(follower.next(WAIT).await.unwrap().unwrap().is_empty());
    assert!(follower.next(WAIT).await.unwrap().unwrap().is_empty());
    assert_eq!(stage.store.change_feed_reads(), reads, "nothing has changed");
    let mut tokens = vec![begin];
    for _ in 0..3 {
        stage.change(&stage.app).await;
        let changes = follower.next(WAIT).await.unwrap().unwrap();
        assert_eq!(changes.len(), 1);
        tokens.push(changes[0].0.clone());
    }
    assert_eq!(follower.token(), tokens[3]);
    // One that begins again at a token gets what came after it.
    for (number, token) in tokens.iter().enumerate() {
        let mut again = stage.app.follow_changes(&reader, query(Some(token.clone()))).await.unwrap();
        assert_eq!(again.next(Duration::ZERO).await.unwrap().unwrap().len(), 3 - number);
    }
}

#[tokio::test(start_paused = true)]
async fn a_follower_with_a_backlog_ends_when_the_process_stops() {
    let stage = Stage::set().await;
    let reader = stage.actor(&operations::LIST_ORGANIZATION_CHANGES);
    let since = stage.end().await;
    for _ in 0..2 {
        stage.change(&stage.app).await;
    }
    let one_by_one = FeedQuery { limit: 1, ..query(Some(since)) };
    let mut follower = stage.app.follow_changes(&reader, one_by_one).await.unwrap();
    assert_eq!(follower.next(WAIT).await.unwrap().unwrap().len(), 1);
    stage.app.end_waits();
    assert!(follower.next(WAIT).await.unwrap().is_none());
}

/// What a reader sees after `since` of an organization with a series: types, resources, and titles of the bodies.
async fn seen(stage: &series_scopes::Stage, since: &str) -> Vec<(String, String, Option<String>)> {
    let reader = stage.actor(&operations::LIST_ORGANIZATION_CHANGES);
    let page = stage.app.organization_changes(&reader, &query(Some(since.to_owned())), Duration::ZERO).await.unwrap();
    let entries = page.data.into_iter().map(|entry| {
        let title = entry.body["title"].as_str().map(str::to_owned);
        (entry.change_type, entry.resource_id, title)
    });
    entries.collect()
}

async fn retitle(stage: &series_scopes::Stage, id: &str, scope: SeriesScope, title: &str) -> String {
    let patch = EventPatch { title: Some(title.to_owned()).into(), ..EventPatch::default() };
    let (actor, path) = (stage.actor(&operations::UPDATE_EVENT), EventPath { calendar: None, id });
    stage.app.update_event(&actor, path, scope, patch, &IfMatch::Any).await.unwrap().resource.id
}

#[tokio::test]
async fn every_written_row_of_a_series_has_an_entry() {
    let stage = series_scopes::Stage::set().await;
    let reader = stage.actor(&operations::LIST_ORGANIZATION_CHANGES);
    let first = stage.series.times.span.start();
    let on_day = |series, day| Occurrence { series, start: first + SignedDuration::days(day) }.to_string();
    let (fourth, third) = (on_day(stage.series.id, 3), on_day(stage.series.id, 2));
    let since = stage.app.organization_changes(&reader, &query(None), WAIT).await.unwrap().next;
    retitle(&stage, &fourth, SeriesScope::This, "Alone").await;
    let entry = |kind: &str, id: &str, title: &str| (kind.to_owned(), id.to_owned(), Some(title.to_owned()));
    let series = stage.series.id.to_string();
    let expected = [entry("event.updated", &fourth, "Alone"), entry("event.updated", &series, "Standup")];
    assert_eq!(seen(&stage, &since).await, expected);

    let since = stage.app.organization_changes(&reader, &query(None), WAIT).await.unwrap().next;
    let rest = retitle(&stage, &third, SeriesScope::Following, "Later").await;
    let entries = seen(&stage, &since).await;
    let moved = on_day(rest.parse().unwrap(), 3);
    for expected in [
        entry("event.updated", &series, "Standup"),
        entry("event.created", &rest, "Later"),
        entry("event.updated", &moved, "Alone"),
    ] {
        assert!(entries.contains(&expected), "{expected:?} is not in {entries:?}");
    }

    let since = stage.app.organization_changes(&reader, &query(None), WAIT).await.unwrap().next;
    let (actor, path) = (stage.actor(&operations::DELETE_EVENT), EventPath { calendar: None, id: &moved });
    stage.app.delete_event(&actor, path, SeriesScope::This, None, false, &IfMatch::Any).await.unwrap();
    let expected = [entry("event.deleted", &moved, "Alone"), entry("event.updated", &rest, "Later")];
    assert_eq!(seen(&stage, &since).await, expected);
}

#[tokio::test]
async fn a_reply_has_an_entry_with_the_whole_event() {
    let stage = Stage::set().await;
    let calendar = stage.make.shared_calendar(stage.organization.id);
    let secret = ReplySecret([7; 16]);
    let attendee = Attendee {
        email: Email::parse("email", "ada@example.com").unwrap(),
        name: None,
        role: AttendeeRole::Required,
        agent: None,
        status: AttendeeStatus::NeedsAction,
        responded_at: None,
        secret: Some(secret),
    };
    let mut event = stage.make.event(&calendar, span("2099-03-10T09:00:00Z", "2099-03-10T10:00:00Z"));
    event.attendees = Attendees::from_stored(vec![attendee]);
    stage.store.commit(ChangeSet::new(stage.organization.id).create(&calendar).create(&event)).await.unwrap();
    let since = stage.end().await;
    let token = ReplyToken { org: event.org, event: event.id, occurrence: None, secret }.reveal();
    let request = request(&stage.make, stage.make.clock.now(), &operations::REPLY_TO_INVITATION);
    stage.app.reply(&request, &token, AttendeeStatus::Accepted, None).await.unwrap();
    let reader = stage.actor(&operations::LIST_ORGANIZATION_CHANGES);
    let page = stage.app.organization_changes(&reader, &query(Some(since)), Duration::ZERO).await.unwrap();
    let types: Vec<&str> = page.data.iter().map(|entry| &*entry.change_type).collect();
    assert_eq!(types, ["event.attendee_responded", "event.updated"]);
    assert_eq!(page.data[1].resource_id, event.id.to_string());
    assert_eq!(page.data[1].body["attendees"][0]["status"], "accepted");
}
