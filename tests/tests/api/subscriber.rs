//! An agent whose calendar is subscribed to feeds, and the feeds.

use std::time::Duration;

use kalends_e2e::{Answer, Client, Database, FeedServer, Server, Serving};
use serde_json::{Value, json};

use crate::fixtures::{agent, calendar_of};

/// The longest wait for a sync on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A feed that cannot be reached, because its domain does not exist.
pub(crate) const NOWHERE: &str = "https://kalends.invalid/feed.ics";

/// An agent with a calendar, in a service that may reach a feed server.
pub(crate) struct Subscriber {
    pub(crate) server: Server,
    pub(crate) api: Client,
    pub(crate) feeds: FeedServer,
    pub(crate) agent: String,
    pub(crate) calendar: String,
}

impl Subscriber {
    /// On the plan `pro`, with a calendar in UTC.
    pub(crate) async fn new(database: Database) -> Self {
        Self::with_plan(database, "pro").await
    }

    /// Like [`Self::new`], on this plan.
    pub(crate) async fn with_plan(database: Database, plan: &str) -> Self {
        Self::with_limits(database, plan, &[]).await
    }

    /// Like [`Self::with_plan`], with additional arguments for the operator's command.
    pub(crate) async fn with_limits(database: Database, plan: &str, limits: &[&str]) -> Self {
        let feeds = FeedServer::start().await;
        let server = Server::start_with(database, &[("KALENDS_EGRESS_ALLOW", feeds.address())]).await;
        let api = server.api(&server.org_with(plan, limits).await);
        let agent = agent(&api).await;
        let calendar = calendar_of(&api, &agent).await;
        Self { server, api, feeds, agent, calendar }
    }

    /// The path of the agent's subscriptions.
    pub(crate) fn all(&self) -> String {
        format!("/v1/agents/{}/ical-subscriptions", self.agent)
    }

    /// Subscribes the calendar to a URL.
    pub(crate) async fn subscribe_to(&self, url: &str) -> Answer {
        self.api.post(self.all()).json(json!({ "calendar_id": self.calendar, "url": url })).await
    }

    /// Serves a feed at a path, subscribes the calendar to it, and waits for the first sync. Returns the
    /// subscription's path.
    pub(crate) async fn subscribed(&self, path: &str, serving: Serving) -> String {
        self.feeds.serve(path, serving);
        let made = self.subscribe_to(&self.feeds.url(path)).await.expect(201);
        let path = format!("/v1/ical-subscriptions/{}", made.id());
        self.until(&path, "synced", |read| read["last_synced_at"].is_string()).await;
        path
    }

    /// Waits until the answer at a path satisfies `shows`.
    pub(crate) async fn until(&self, path: &str, what: &str, shows: impl Fn(&Answer) -> bool) -> Answer {
        let began = tokio::time::Instant::now();
        loop {
            let read = self.api.get(path).await.expect(200);
            if shows(&read) {
                return read;
            }
            assert!(began.elapsed() < PATIENCE, "not {what}: {}", read.describe());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Requests a sync, which must succeed, and returns the subscription after it.
    pub(crate) async fn synced(&self, path: &str) -> Answer {
        let before = self.api.get(path).await.expect(200)["last_synced_at"].clone();
        let accepted = self.api.post(format!("{path}/sync")).await.expect(202);
        assert_eq!(accepted.json, json!({ "status": "syncing" }));
        let read = self.until(path, "synced", |read| read["last_synced_at"] != before).await;
        assert_eq!(read["last_error"], Value::Null, "{}", read.describe());
        read
    }

    /// Serves another feed at the path and syncs it, which must succeed.
    pub(crate) async fn now_serves(&self, subscription: &str, path: &str, serving: Serving) -> Answer {
        self.feeds.serve(path, serving);
        self.synced(subscription).await
    }

    /// The calendar's events, sorted by start.
    pub(crate) async fn events(&self) -> Vec<Value> {
        self.api.get(format!("/v1/calendars/{}/events?limit=200", self.calendar)).await.expect(200).data()
    }

    /// The titles of the calendar's events, sorted by start.
    pub(crate) async fn titles(&self) -> Vec<String> {
        self.events().await.iter().map(|event| event["title"].as_str().unwrap().to_owned()).collect()
    }

    /// The busy times of the calendar between two times.
    pub(crate) async fn busy(&self, start: &str, end: &str) -> Vec<(String, String)> {
        let path = format!("/v1/calendars/{}/availability", self.calendar);
        let window = [("start", start), ("end", end), ("include_busy", "true")];
        let answer = self.api.get(path).query(&window).await.expect(200);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        answer["busy"].as_array().unwrap().iter().map(|span| (text(&span["start"]), text(&span["end"]))).collect()
    }

    /// The token of a copy of the calendar that has followed all changes.
    pub(crate) async fn place(&self) -> String {
        let path = format!("/v1/calendars/{}/changes?limit=200", self.calendar);
        let changes = self.api.get(path).await.expect(200);
        assert_eq!(changes["has_more"], false);
        changes["next"].as_str().unwrap().to_owned()
    }

    /// The changes since this token.
    pub(crate) async fn changed_since(&self, place: &str) -> Vec<Value> {
        let path = format!("/v1/calendars/{}/changes?limit=200&since={place}", self.calendar);
        self.api.get(path).await.expect(200).data()
    }
}

/// A calendar with these components.
pub(crate) fn vcalendar<T: AsRef<str>>(components: &[T]) -> String {
    let components: String = components.iter().map(AsRef::as_ref).collect();
    format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Example//EN\r\n{components}END:VCALENDAR\r\n")
}

/// An event with these lines.
pub(crate) fn vevent(uid: &str, lines: &[&str]) -> String {
    let lines = lines.join("\r\n");
    format!("BEGIN:VEVENT\r\nUID:{uid}\r\nDTSTAMP:20300101T000000Z\r\n{lines}\r\nEND:VEVENT\r\n")
}

/// A one-hour event on a day of March 2031.
pub(crate) fn meeting(uid: &str, title: &str, day: usize, hour: usize) -> String {
    let start = format!("DTSTART:203103{day:02}T{hour:02}0000Z");
    vevent(uid, &[&format!("SUMMARY:{title}"), &start, "DURATION:PT1H"])
}

/// This many one-hour events, one a day. Their `UID`s have this prefix.
pub(crate) fn meetings(prefix: &str, count: usize) -> Vec<String> {
    (1..=count).map(|day| meeting(&format!("{prefix}{day}@example.com"), &format!("{prefix}{day}"), day, 9)).collect()
}
