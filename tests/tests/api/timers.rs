//! Messages that events send by themselves: reminders, starts and ends, each once, on time and after downtime.

use crate::on_both;
use std::time::Duration;

use chrono::{DateTime, Datelike as _, NaiveDate, TimeDelta, Timelike as _, Utc, Weekday};
use futures::future::join_all;
use kalends_e2e::{Client, Database, Database::Postgres, Org, Server, at, iso};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::fixtures::{PATIENCE, now, rows, shared_calendar};

/// Registers a webhook for an unrelated type. Without a webhook, no message is stored.
async fn listen(api: &Client) {
    let listener = json!({ "url": "https://kalends.invalid/", "events": ["webhook.deactivated"] });
    api.post("/v1/webhooks").json(listener).await.expect(201);
}

/// The numbers of reminders, starts and ends in the outbox.
async fn message_counts(server: &Server) -> [i64; 3] {
    let count = async |kind: &str| rows(server, &format!("outbox where event_type = 'event.{kind}'")).await;
    [count("reminder").await, count("started").await, count("ended").await]
}

/// Waits for these numbers of messages, and requires that they are not exceeded.
async fn wait_for_counts(server: &Server, expected: [i64; 3]) {
    let began = tokio::time::Instant::now();
    loop {
        let found = message_counts(server).await;
        if found == expected {
            return;
        }
        let over = found.iter().zip(expected).any(|(found, expected)| *found > expected);
        assert!(!over && began.elapsed() < PATIENCE, "{found:?} instead of {expected:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A server, its organization and a clock that the test moves.
struct Stage {
    server: Server,
    org: Org,
    api: Client,
    /// The clock offset, in seconds.
    offset: i64,
    /// A full hour a few hours ahead. The tests' times are relative to it.
    hour: DateTime<Utc>,
}

impl Stage {
    async fn set(database: Database) -> Self {
        let server = Server::start(database).await;
        let org = server.org("pro").await;
        let api = server.api(&org);
        listen(&api).await;
        let soon = at(&now(&api).await) + TimeDelta::hours(3);
        let hour = soon.with_minute(0).unwrap().with_second(0).unwrap().with_nanosecond(0).unwrap();
        Self { server, org, api, offset: 0, hour }
    }

    /// The time this many minutes after the hour.
    fn time(&self, minutes: i64) -> String {
        iso(self.hour + TimeDelta::minutes(minutes))
    }

    /// Restarts the service at this time. Everything before it passed while the service was down.
    async fn go_to(&mut self, instant: DateTime<Utc>) {
        self.offset += (instant - at(&now(&self.api).await)).num_seconds();
        self.server.restart_at_offset(self.offset).await;
        self.api = self.server.api(&self.org);
    }

    async fn go(&mut self, minutes: i64) {
        self.go_to(self.hour + TimeDelta::minutes(minutes) + TimeDelta::seconds(5)).await;
    }

    async fn calendar(&self, reminders: Value) -> String {
        let id = shared_calendar(&self.api, "UTC").await;
        self.api.patch(format!("/v1/calendars/{id}")).json(json!({ "default_reminders": reminders })).await.expect(200);
        id
    }

    /// An event of half an hour.
    async fn event(&self, calendar: &str, minutes: i64, more: Value) -> String {
        let mut body = json!({ "title": "x", "start_time": self.time(minutes), "end_time": self.time(minutes + 30) });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.api.post(format!("/v1/calendars/{calendar}/events")).json(body).await.expect(201).id()
    }
}

#[apply(on_both)]
#[tokio::test]
async fn reminders_starts_and_ends_are_announced_once(#[case] database: Database) {
    let mut stage = Stage::set(database).await;
    let usual = shared_calendar(&stage.api, "UTC").await;
    let (early, never) = (stage.calendar(json!([60])).await, stage.calendar(json!([])).await);
    stage.event(&usual, 0, json!({})).await;
    stage.event(&usual, 0, json!({ "reminders": [30, 5, 30] })).await;
    stage.event(&usual, 0, json!({ "reminders": [] })).await;
    stage.event(&early, 0, json!({})).await;
    stage.event(&never, 0, json!({})).await;
    stage.event(&never, 0, json!({ "status": "tentative", "reminders": [20] })).await;
    stage.event(&usual, 0, json!({ "status": "cancelled" })).await;
    // An event that began in the past announces only its end.
    let past = json!({ "start_time": stage.time(-600) });
    stage.event(&usual, 0, past).await;
    let deleted = stage.event(&usual, 0, json!({})).await;
    let moved = stage.event(&usual, 0, json!({})).await;
    let released = stage.event(&usual, 0, json!({})).await;
    stage.api.delete(format!("/v1/events/{deleted}")).await.expect(204);
    let later = json!({ "start_time": stage.time(24 * 60), "end_time": stage.time(24 * 60 + 30) });
    stage.api.patch(format!("/v1/events/{moved}")).json(later).await.expect(200);
    stage.api.patch(format!("/v1/events/{released}")).json(json!({ "status": "cancelled" })).await.expect(200);
    assert_eq!(message_counts(&stage.server).await, [0, 0, 0]);

    stage.go(-45).await;
    wait_for_counts(&stage.server, [1, 0, 0]).await;
    // A new title does not cancel due messages.
    stage.api.patch(format!("/v1/events/{moved}")).json(json!({ "title": "y" })).await.expect(200);
    stage.go(-4).await;
    wait_for_counts(&stage.server, [5, 0, 0]).await;
    stage.go(1).await;
    wait_for_counts(&stage.server, [5, 5, 0]).await;
    stage.go(31).await;
    wait_for_counts(&stage.server, [5, 5, 6]).await;
    // Nothing is announced twice.
    stage.go(24 * 60 + 5).await;
    wait_for_counts(&stage.server, [6, 6, 6]).await;
    let timers = rows(&stage.server, "timers").await;
    assert_eq!(timers, 1, "the timer of the event in progress");
}

#[apply(on_both)]
#[tokio::test]
async fn messages_that_are_too_late_are_dropped(#[case] database: Database) {
    let mut stage = Stage::set(database).await;
    let calendar = shared_calendar(&stage.api, "UTC").await;
    stage.event(&calendar, 0, json!({})).await;
    // 35 and 25 minutes late.
    stage.go(25).await;
    wait_for_counts(&stage.server, [1, 1, 0]).await;
    // Two hours late: the reminder and the start are dropped. The end is half an hour late.
    stage.event(&calendar, 60, json!({ "end_time": stage.time(150) })).await;
    stage.go(180).await;
    wait_for_counts(&stage.server, [1, 1, 1]).await;
}

#[apply(on_both)]
#[tokio::test]
async fn every_occurrence_of_a_series_is_announced(#[case] database: Database) {
    let mut stage = Stage::set(database).await;
    let calendar = shared_calendar(&stage.api, "Europe/Berlin").await;
    // From the Friday before daylight saving begins in Berlin. 09:00 there is 08:00Z, and then 07:00Z.
    let mut sunday = NaiveDate::from_ymd_opt(stage.hour.year() + 1, 3, 31).unwrap();
    while sunday.weekday() != Weekday::Sun {
        sunday = sunday.pred_opt().unwrap();
    }
    let day = |days: i64, hour: u32, minute: u32| {
        (sunday + TimeDelta::days(days)).and_hms_opt(hour, minute, 5).unwrap().and_utc()
    };
    let just_before = |days, hour| iso(day(days, hour, 0) - TimeDelta::seconds(5));
    let body = json!({
        "title": "Standup", "start_time": just_before(-2, 8), "end_time": just_before(-2, 9), "reminders": [10],
        "recurrence_rule": "FREQ=DAILY;COUNT=5", "recurrence_timezone": "Europe/Berlin",
        "recurrence_exdates": [just_before(1, 7)],
    });
    let path = format!("/v1/calendars/{calendar}/events");
    let id = stage.api.post(&path).json(body).await.expect(201).id();
    let tuesday = format!("{id}_{}", just_before(2, 7).replace(['-', ':'], ""));
    let moved = json!({ "start_time": just_before(2, 10), "end_time": just_before(2, 11), "reminders": [30, 60] });
    stage.api.patch(format!("/v1/events/{tuesday}")).json(moved).await.expect(200);

    stage.go_to(day(-2, 7, 50)).await;
    wait_for_counts(&stage.server, [1, 0, 0]).await;
    stage.go_to(day(-2, 8, 0)).await;
    wait_for_counts(&stage.server, [1, 1, 0]).await;
    stage.go_to(day(-2, 9, 0)).await;
    wait_for_counts(&stage.server, [1, 1, 1]).await;
    // Saturday's occurrence passes while the service is down, except for its end.
    stage.go_to(day(-1, 9, 58)).await;
    wait_for_counts(&stage.server, [1, 1, 2]).await;
    stage.go_to(day(0, 6, 50)).await;
    wait_for_counts(&stage.server, [2, 1, 2]).await;
    stage.go_to(day(0, 7, 0)).await;
    wait_for_counts(&stage.server, [2, 2, 2]).await;
    stage.go_to(day(0, 8, 0)).await;
    wait_for_counts(&stage.server, [2, 2, 3]).await;
    // Monday's occurrence is cancelled. Tuesday's has another time and other reminders.
    stage.go_to(day(1, 7, 30)).await;
    stage.go_to(day(2, 7, 30)).await;
    stage.go_to(day(2, 9, 45)).await;
    wait_for_counts(&stage.server, [4, 2, 3]).await;
    stage.go_to(day(2, 10, 0)).await;
    wait_for_counts(&stage.server, [4, 3, 3]).await;
    stage.go_to(day(2, 11, 0)).await;
    wait_for_counts(&stage.server, [4, 3, 4]).await;
    assert_eq!(rows(&stage.server, "timers").await, 0, "the series is over");
}

#[apply(on_both)]
#[tokio::test]
async fn new_default_reminders_apply_to_existing_events(#[case] database: Database) {
    let mut stage = Stage::set(database).await;
    let calendar = shared_calendar(&stage.api, "UTC").await;
    stage.event(&calendar, 0, json!({})).await;
    stage.event(&calendar, 0, json!({ "reminders": [10] })).await;
    let path = format!("/v1/calendars/{calendar}");
    stage.api.patch(&path).json(json!({ "default_reminders": [50] })).await.expect(200);
    stage.go(-45).await;
    wait_for_counts(&stage.server, [1, 0, 0]).await;
    // The time of the new reminder has passed, so it is not sent late. The earlier one is not sent again.
    stage.api.patch(&path).json(json!({ "default_reminders": [50, 48] })).await.expect(200);
    stage.api.patch(&path).json(json!({ "default_reminders": [50, 48, 20] })).await.expect(200);
    stage.go(-15).await;
    wait_for_counts(&stage.server, [2, 0, 0]).await;
    stage.go(-5).await;
    wait_for_counts(&stage.server, [3, 0, 0]).await;
}

#[tokio::test]
async fn several_workers_announce_everything_once() {
    const EVENTS: i64 = 60;
    let mut server = Server::start(Postgres).await;
    let org = server.org("pro").await;
    assert!(server.stop().await.success());
    server.start_again_as(&["serve", "--no-workers"], &[]).await;
    let api = server.api(&org);
    listen(&api).await;
    let calendar = shared_calendar(&api, "UTC").await;
    let path = format!("/v1/calendars/{calendar}/events");
    let start = at(&now(&api).await) + TimeDelta::hours(2);
    for batch in 0..EVENTS / 20 {
        let event = |number: i64| {
            let start = start + TimeDelta::seconds(batch * 20 + number);
            json!({ "title": "x", "start_time": iso(start), "end_time": iso(start + TimeDelta::minutes(10)) })
        };
        let events: Vec<Value> = (0..20).map(event).collect();
        api.post(format!("{path}/batch")).json(json!({ "events": events })).await.expect(201);
    }
    let version = api.get(format!("/v1/calendars/{calendar}")).await.expect(200).header("etag").to_owned();
    assert_eq!(message_counts(&server).await, [0, 0, 0], "no worker runs");

    let offset = (TimeDelta::hours(2) + TimeDelta::minutes(12)).num_seconds().to_string();
    let variables = [("KALENDS_CLOCK_OFFSET_SECONDS", &*offset)];
    let workers = (0..3).map(|_| server.another_node_with(&["serve", "--workers-only"], &variables));
    let workers = join_all(workers).await;
    wait_for_counts(&server, [EVENTS, EVENTS, EVENTS]).await;
    drop(workers);
    assert_eq!(rows(&server, "timers").await, 0);
    assert_eq!(api.get(format!("/v1/calendars/{calendar}")).await.expect(200).header("etag"), version);
}
