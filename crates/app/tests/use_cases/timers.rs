//! The messages about reminders, starts and ends of events and about expired holds: their contents, and how late they
//! are.

use std::sync::Arc;

use kalends_app::{
    App, ChangeSet, Done,
    ports::{Commit as _, CommitError},
};
use kalends_calendars::{Calendar, Change, Event, EventPatch, EventStatus, Patch, Reminders};
use kalends_kernel::{EventId, OrgId};
use kalends_notifications::Message;
use kalends_testkit::{
    Inspect as _, MemoryStore,
    fixtures::{Compose as _, Fixtures},
};
use kalends_time::{SignedDuration, Span, Timestamp};
use serde_json::Value;

use crate::common::parts;

struct Stage {
    app: Arc<App>,
    store: MemoryStore,
    make: Fixtures,
    org: OrgId,
    calendar: Calendar,
}

impl Stage {
    async fn set() -> Self {
        let (store, make) = (MemoryStore::new(), Fixtures::new());
        let app = App::new(parts(&store, &make));
        let organization = make.organization();
        let calendar = make.shared_calendar(organization.id);
        let org = organization.id;
        // Messages are only stored if an endpoint exists.
        let listener = make.webhook(org);
        let changes = ChangeSet::new(org).create(&organization).create(&listener);
        store.commit(changes.create(&calendar)).await.unwrap();
        Self { app, store, make, org, calendar }
    }

    async fn stored(&self, event: Event) -> Event {
        self.store.commit(ChangeSet::new(self.org).create(&event)).await.unwrap();
        event
    }

    /// Moves the clock, sends what is due, and returns it: type and start of each message, and the result of the run.
    async fn at(&self, now: Timestamp) -> (Vec<String>, Done) {
        self.make.clock.set(now);
        let before = self.messages().await;
        let done = self.app.announce_due(100).await.unwrap();
        let mut messages: Vec<Message> = self.messages().await;
        messages.retain(|message| !before.contains(message));
        let summary = |message: &Message| {
            let body: Value = serde_json::from_str(&message.payload).unwrap();
            assert_eq!((body["orgId"].as_str(), message.org), (Some(&*self.org.to_string()), self.org));
            assert_eq!(message.created_at, now);
            format!("{} {}", message.event_type.as_str(), body["startTime"].as_str().unwrap())
        };
        let mut messages: Vec<String> = messages.iter().map(summary).collect();
        messages.sort();
        (messages, done)
    }

    /// The body of the last message of that type.
    async fn last(&self, event_type: &str) -> Value {
        let mut messages = self.messages().await;
        messages.retain(|message| message.event_type.as_str() == event_type);
        let last = messages.into_iter().max_by_key(|message| message.created_at).unwrap();
        serde_json::from_str(&last.payload).unwrap()
    }

    async fn messages(&self) -> Vec<Message> {
        self.store.messages(self.org).await
    }
}

fn hours(start: i64, end: i64) -> Span {
    Span::new(Fixtures::BEGINNING + SignedDuration::hours(start), Fixtures::BEGINNING + SignedDuration::hours(end))
        .unwrap()
}

#[tokio::test]
async fn the_payload_is_the_event_as_the_api_returns_it() {
    let stage = Stage::set().await;
    let event = stage.stored(stage.make.event(&stage.calendar, hours(10, 11))).await;
    let start = event.times.span.start();
    let (messages, done) = stage.at(start - SignedDuration::minutes(10) + SignedDuration::seconds(3)).await;
    assert_eq!(messages, ["event.reminder 2026-03-02T18:00:00Z"]);
    assert_eq!((done.found, done.all, done.late), (1, true, vec![SignedDuration::seconds(3)]));

    // The message shows the event as it is when it is sent, with that version.
    let title = EventPatch { title: Patch::Set("Retro".into()), ..EventPatch::default() };
    let renamed = event.patched(title, stage.calendar.zone, start - SignedDuration::minutes(5)).unwrap();
    stage.store.commit(ChangeSet::new(stage.org).update(&renamed, event.version)).await.unwrap();
    let (messages, _) = stage.at(start).await;
    assert_eq!(messages, ["event.started 2026-03-02T18:00:00Z"]);
    let started = stage.messages().await.into_iter().find(|message| message.created_at == start).unwrap();
    assert_eq!(started.resource_version, renamed.version);
    let expected = serde_json::to_value(kalends_wire::Event::from(renamed.clone())).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&started.payload).unwrap(), expected);

    let (messages, done) = stage.at(renamed.times.span.end()).await;
    assert_eq!(
        (messages.as_slice(), done.late),
        (&["event.ended 2026-03-02T18:00:00Z".to_owned()][..], vec![SignedDuration::ZERO])
    );
    let (messages, done) = stage.at(renamed.times.span.end() + SignedDuration::hours(1)).await;
    assert_eq!((messages, done), (Vec::new(), Done::found(0, 100)));
}

#[tokio::test]
async fn a_series_announces_its_instances() {
    let stage = Stage::set().await;
    let series = stage.stored(stage.make.series(&stage.calendar, hours(10, 11), "FREQ=DAILY;COUNT=3")).await;
    let start = hours(34, 35).start();
    stage.at(start - SignedDuration::hours(1)).await;
    let (messages, _) = stage.at(start).await;
    assert_eq!(messages, ["event.reminder 2026-03-03T18:00:00Z", "event.started 2026-03-03T18:00:00Z"]);
    let body = stage.last("event.started").await;
    let instance = serde_json::to_value(kalends_wire::Event::from(series.instance(start).unwrap())).unwrap();
    assert_eq!(body, instance);
    assert_eq!(body["recurringEventId"], series.id.to_string());
    assert_eq!(body["id"], format!("{}_20260303T180000Z", series.id));

    // An occurrence that was changed individually is announced on its own.
    let third = hours(58, 59).start();
    let occurrence = series.instance(third).unwrap();
    let id = EventId::new(start, &stage.make.entropy);
    let patch = EventPatch { reminders: Patch::Set(None), ..EventPatch::default() };
    let zone = stage.calendar.zone;
    let (rest, own) =
        series.with_occurrence_patched(&occurrence, id, patch, zone, start + SignedDuration::hours(2)).unwrap();
    stage.store.commit(ChangeSet::new(stage.org).update(&rest, series.version).create(&own)).await.unwrap();
    let (messages, _) = stage.at(third).await;
    assert_eq!(messages, ["event.reminder 2026-03-04T18:00:00Z", "event.started 2026-03-04T18:00:00Z"]);
    let body = stage.last("event.reminder").await;
    assert_eq!(body["id"], format!("{}_20260304T180000Z", series.id));
    let (messages, _) = stage.at(third + SignedDuration::hours(1)).await;
    assert_eq!(messages, ["event.ended 2026-03-04T18:00:00Z"]);
}

#[tokio::test]
async fn overdue_messages_are_dropped_when_too_old_and_otherwise_sent_late() {
    let stage = Stage::set().await;
    let reminders = Some(Reminders::parse("reminders", &[90, 30]).unwrap());
    let event = stage.stored(Event { reminders, ..stage.make.event(&stage.calendar, hours(10, 11)) }).await;
    let now = event.times.span.start() + SignedDuration::minutes(29);
    let (messages, done) = stage.at(now).await;
    assert_eq!(messages, ["event.reminder 2026-03-02T18:00:00Z", "event.started 2026-03-02T18:00:00Z"]);
    assert_eq!(done.late, [SignedDuration::minutes(59), SignedDuration::minutes(29)]);
}

#[tokio::test]
async fn new_default_reminders_apply_before_they_are_due() {
    let stage = Stage::set().await;
    let event = stage.stored(stage.make.event(&stage.calendar, hours(10, 11))).await;
    let start = event.times.span.start();
    let now = start - SignedDuration::minutes(100);
    stage.make.clock.set(now);
    let reminders = Some(Reminders::parse("reminders", &[120, 60]).unwrap());
    let version = stage.calendar.version;
    let calendar =
        Calendar { default_reminders: reminders, version: version.next(), updated_at: now, ..stage.calendar.clone() };
    stage.store.commit(ChangeSet::new(stage.org).update(&calendar, version)).await.unwrap();
    assert_eq!(stage.app.recompute_timers(100).await.unwrap().found, 1);
    assert_eq!(stage.app.recompute_timers(100).await.unwrap().found, 0);
    assert_eq!(stage.messages().await, [], "a reminder that would have been due before is not sent");
    let (messages, done) = stage.at(start - SignedDuration::minutes(60)).await;
    assert_eq!((messages.len(), done.late), (1, vec![SignedDuration::ZERO]));
    let (messages, _) = stage.at(start - SignedDuration::minutes(10)).await;
    assert_eq!(messages, [""; 0]);
}

#[tokio::test]
async fn many_due_timers_are_processed_in_batches() {
    const EVENTS: usize = 300;
    let stage = Stage::set().await;
    let mut changes = ChangeSet::new(stage.org);
    for _ in 0..EVENTS {
        changes.calendars.push(Change::CreateEvent(stage.make.event(&stage.calendar, hours(10, 11))));
    }
    stage.store.commit(changes).await.unwrap();
    stage.make.clock.set(hours(10, 11).start() - SignedDuration::minutes(10));
    let (mut found, mut rounds) = (0, 0);
    loop {
        let done = stage.app.announce_due(128).await.unwrap();
        (found, rounds) = (found + done.late.len(), rounds + 1);
        if done.all {
            break;
        }
    }
    assert_eq!((found, rounds, stage.messages().await.len()), (EVENTS, 3, EVENTS));
}

#[tokio::test]
async fn the_end_of_a_hold_is_announced_once() {
    let stage = Stage::set().await;
    let hold = stage.stored(stage.make.hold(&stage.calendar, hours(10, 11), SignedDuration::minutes(1))).await;
    assert_eq!(stage.app.expire_holds(10).await.unwrap().found, 0);
    let expires_at = hold.hold.unwrap().expires_at;
    stage.make.clock.set(expires_at + SignedDuration::seconds(2));
    let done = stage.app.expire_holds(10).await.unwrap();
    assert_eq!((done.found, done.late), (1, vec![SignedDuration::seconds(2)]));
    let messages = stage.messages().await;
    let [message] = messages.as_slice() else { panic!("{messages:?}") };
    let body: Value = serde_json::from_str(&message.payload).unwrap();
    assert_eq!((message.event_type.as_str(), &body["reason"]), ("event.hold_expired", &"expired".into()));
    assert_eq!(body["status"], EventStatus::Cancelled.as_str());
    assert_eq!(stage.app.expire_holds(10).await.unwrap().found, 0);
    // A confirmation that was decided before the expiry, and commits after it, is stale.
    let late = hold.confirmed(expires_at - SignedDuration::seconds(1)).unwrap();
    let refused = stage.store.commit(ChangeSet::new(stage.org).update(&late, hold.version)).await;
    assert!(matches!(refused, Err(CommitError::Stale)));
}
