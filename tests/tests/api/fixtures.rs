//! The resources that tests begin with, and common checks.

use std::{collections::BTreeSet, future::Future, time::Duration};

use chrono::{DateTime, Utc};
use kalends_e2e::{Answer, Client, Server};
use serde_json::{Value, json};

/// The longest wait on a busy machine for what the service does soon.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// The longest time until an operator's command takes effect.
const EFFECT_WITHIN: Duration = Duration::from_secs(2);
/// A word that is wider than a phone.
pub(crate) const LONG: &str = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft";
/// The token of the operator.
pub(crate) const TOKEN: &str = "the-operator-s-own-token";

/// A new agent's identifier.
pub(crate) async fn agent(api: &Client) -> String {
    api.post("/v1/agents").json(json!({ "name": "Ada", "type": "ai" })).await.expect(201).id()
}

/// A new calendar of `agent`, in UTC.
pub(crate) async fn calendar_of(api: &Client, agent: &str) -> String {
    let body = json!({ "name": "Work", "timezone": "UTC" });
    api.post(format!("/v1/agents/{agent}/calendars")).json(body).await.expect(201).id()
}

/// A new shared calendar of the organization.
pub(crate) async fn shared_calendar(api: &Client, zone: &str) -> String {
    api.post("/v1/calendars").json(json!({ "name": "Shared", "timezone": zone })).await.expect(201).id()
}

/// A new agent and its calendar.
pub(crate) async fn agent_with_calendar(api: &Client) -> (String, String) {
    let agent = agent(api).await;
    let calendar = calendar_of(api, &agent).await;
    (agent, calendar)
}

/// The body of an event.
pub(crate) fn event_body(title: &str, start: &str, end: &str) -> Value {
    json!({ "title": title, "start_time": start, "end_time": end })
}

/// A new event.
pub(crate) async fn event(api: &Client, calendar: &str, start: &str, end: &str) -> String {
    let body = event_body("Standup", start, end);
    api.post(format!("/v1/calendars/{calendar}/events")).json(body).await.expect(201).id()
}

/// The service's current time.
pub(crate) async fn now(api: &Client) -> String {
    api.get("/health").await.expect(200)["ts"].as_str().unwrap().to_owned()
}

/// The names of an object's fields.
pub(crate) fn names(object: &Value) -> BTreeSet<&str> {
    object.as_object().unwrap_or_else(|| panic!("not an object: {object}")).keys().map(String::as_str).collect()
}

/// Requires exactly these fields.
#[track_caller]
pub(crate) fn has_exactly(object: &Value, fields: &[&str]) {
    assert_eq!(names(object), fields.iter().copied().collect(), "{object:#}");
}

/// A timestamp as answers show it, in UTC with `Z`.
#[track_caller]
pub(crate) fn time(value: &Value) -> DateTime<Utc> {
    let text = value.as_str().unwrap_or_else(|| panic!("not a time: {value}"));
    assert!(text.ends_with('Z') && text.len() >= 20, "{text}");
    kalends_e2e::at(text)
}

/// Requires a timestamp.
#[track_caller]
pub(crate) fn is_time(value: &Value) {
    time(value);
}

/// Requires an identifier: the prefix and 26 characters of Crockford's base32.
#[track_caller]
pub(crate) fn is_id(value: &Value, prefix: &str) {
    let rest = value.as_str().and_then(|id| id.strip_prefix(prefix)).unwrap_or_else(|| panic!("{prefix}: {value}"));
    assert!(rest.len() == 26 && rest.bytes().all(|b| b"0123456789abcdefghjkmnpqrstvwxyz".contains(&b)), "{value}");
}

/// Repeats the request until `will_do` accepts the answer, for as long as a command may take to take effect.
pub(crate) async fn wait_until<F: Future<Output = Answer>>(ask: impl Fn() -> F, will_do: impl Fn(&Answer) -> bool) {
    let began = tokio::time::Instant::now();
    loop {
        let sent_in_time = began.elapsed() <= EFFECT_WITHIN;
        let answer = ask().await;
        if will_do(&answer) {
            return;
        }
        assert!(sent_in_time, "no effect within {EFFECT_WITHIN:?}: {}", answer.describe());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Repeats the request until `will_do` accepts the answer, for what the service does soon after another answer.
pub(crate) async fn wait_for<F: Future<Output = Answer>>(ask: impl Fn() -> F, will_do: impl Fn(&Answer) -> bool) {
    let began = tokio::time::Instant::now();
    loop {
        let answer = ask().await;
        if will_do(&answer) {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "{}", answer.describe());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Waits until the metrics at this address have each of these lines.
pub(crate) async fn measured(address: &str, lines: &[&str]) {
    let began = tokio::time::Instant::now();
    loop {
        let metrics = reqwest::get(format!("http://{address}/metrics")).await.unwrap().text().await.unwrap();
        let Some(line) = lines.iter().find(|line| !metrics.contains(**line)) else { return };
        assert!(began.elapsed() < PATIENCE, "{line} is not in\n{metrics}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A limit that is used up.
pub(crate) struct Filled {
    per_minute: u128,
    began: tokio::time::Instant,
    /// How many requests were granted besides those of one minute.
    more: u128,
}

impl Filled {
    /// Sends requests that the limit counts until one is refused. The service may grant only the share of the time that
    /// passes while the test runs.
    pub(crate) async fn refuses(&mut self, ask: impl AsyncFn() -> Answer) {
        loop {
            let answer = ask().await;
            if answer.status == 429 {
                return check_refusal(answer, self.per_minute);
            }
            self.more += 1;
            let (more, elapsed) = (self.more, self.began.elapsed());
            assert!(more * 60_000 <= elapsed.as_millis() * self.per_minute, "{more} too many after {elapsed:?}");
        }
    }
}

/// Sends as many requests as a minute allows, and more until one is refused.
pub(crate) async fn filled(per_minute: u128, ask: impl AsyncFn() -> Answer) -> Filled {
    let mut filled = Filled { per_minute, began: tokio::time::Instant::now(), more: 0 };
    for _ in 0..per_minute {
        let answer = ask().await;
        assert_ne!(answer.status, 429, "{}", answer.describe());
    }
    filled.refuses(ask).await;
    filled
}

/// Requires a refusal with a retry time and without quota headers.
#[track_caller]
fn check_refusal(answer: Answer, per_minute: u128) {
    let answer = answer.refused(429, "rate_limit_error");
    let after: u128 = answer.header("retry-after").parse().unwrap();
    assert!((1..=(60 / per_minute).max(1)).contains(&after), "{}", answer.describe());
    assert_eq!((answer.header("ratelimit-policy"), answer.header("ratelimit")), ("", ""), "{}", answer.describe());
}

/// The number of rows in a table of the server's database.
pub(crate) async fn rows(server: &Server, table: &str) -> i64 {
    use sqlx::{AssertSqlSafe, Connection as _};
    let count = AssertSqlSafe(format!("select count(*) from {table}"));
    match server.postgres_url() {
        Some(url) => {
            let mut connection = sqlx::PgConnection::connect(&url).await.unwrap();
            sqlx::query_scalar(count).fetch_one(&mut connection).await.unwrap()
        }
        None => {
            let file = server.data_dir().join("kalends.db");
            let mut connection =
                sqlx::SqliteConnection::connect(&format!("sqlite://{}?mode=ro", file.display())).await.unwrap();
            sqlx::query_scalar(count).fetch_one(&mut connection).await.unwrap()
        }
    }
}
