//! A stand-in for Microsoft's calendar API: as much of it as refreshes and copies of events need. It takes some time
//! for each answer, as a provider does, and records what arrives.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use axum::{Json, Router};
use serde_json::{Map, Value, json};

use crate::random::Random;

/// The identifier and the name of the only calendar of each account.
pub(crate) const CALENDAR: (&str, &str) = ("calendar", "Calendar");

/// The base path of the API.
const API: &str = "/v1.0";
/// The path of the token endpoint.
const TOKEN: &str = "/token";
/// Where the calendar and its events are, below the base path.
const VIEW: &str = "/me/calendars/calendar/calendarView";
const EVENTS: &str = "/me/calendars/calendar/events";
/// How long an answer takes before the request is done, and afterwards. A kill hits either half.
const HALF_MAX: Duration = Duration::from_millis(100);
const HALF_MIN: Duration = Duration::from_millis(20);
/// The time in which requests are counted together.
const SECOND: Duration = Duration::from_secs(1);
/// The most complaints that are kept.
const COMPLAINTS_MAX: usize = 10;

/// The access token of an account.
pub(crate) fn access_token(account: u32) -> String {
    format!("access-{account}")
}

/// The refresh token of an account.
pub(crate) fn refresh_token(account: u32) -> String {
    format!("refresh-{account}")
}

/// An event that the service wrote.
#[derive(Debug)]
struct Written {
    id: String,
    /// Changes with every write.
    version: u32,
    fields: Map<String, Value>,
}

/// A copy of an event, as its account shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Copied {
    /// The calendar and the event that it says it is a copy of.
    pub(crate) calendar: String,
    pub(crate) event: String,
    pub(crate) title: String,
}

/// The server's records.
#[derive(Debug)]
struct Records {
    random: Random,
    /// The requests that are being answered.
    open: usize,
    /// When the requests of the last second came. Each part of a batch counts as a request.
    recent: VecDeque<Instant>,
    figures: Figures,
    /// When the calendars of an account were last listed, which every refresh begins with.
    listed: HashMap<u32, Instant>,
    copies: BTreeMap<u32, Vec<Written>>,
    created: u64,
}

/// What arrived.
#[derive(Debug, Clone, Default)]
pub(crate) struct Figures {
    /// The number of requests.
    pub(crate) requests: u64,
    /// The most requests within a second.
    pub(crate) most: usize,
    /// The number of requests whose sender was gone before the answer.
    pub(crate) cut: u64,
    /// The number of refreshes that began.
    pub(crate) refreshes: u64,
    /// The times between the beginnings of two refreshes of an account.
    pub(crate) gaps: Vec<Duration>,
    /// The first requests that no correct client sends.
    pub(crate) complaints: Vec<String>,
}

/// A running server. It ends with the program.
#[derive(Debug, Clone)]
pub(crate) struct Provider {
    records: Arc<Mutex<Records>>,
    port: u16,
}

/// A request that is being answered.
struct Open {
    provider: Provider,
    answered: bool,
}

/// A status and a body.
type Said = (StatusCode, Value);

impl Provider {
    /// Starts a server on a free port of this machine, in a thread of its own.
    pub(crate) fn start(random: Random) -> Result<Self> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).context("no port for the provider")?;
        listener.set_nonblocking(true)?;
        let records = Arc::new(Mutex::new(Records::new(random)));
        let provider = Self { port: listener.local_addr()?.port(), records };
        let router = Router::new().fallback(answer).with_state(provider.clone());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::spawn(move || {
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener)?;
                axum::serve(listener, router).await
            })
        });
        Ok(provider)
    }

    /// The settings of a service that uses it.
    pub(crate) fn environment(&self) -> Vec<(&'static str, String)> {
        let base = format!("http://127.0.0.1:{}", self.port);
        vec![
            ("KALENDS_OAUTH_MICROSOFT_CLIENT_ID", "kalends".to_owned()),
            ("KALENDS_OAUTH_MICROSOFT_CLIENT_SECRET", "secret".to_owned()),
            ("KALENDS_OAUTH_MICROSOFT_AUTHORIZE_URL", format!("{base}/authorize")),
            ("KALENDS_OAUTH_MICROSOFT_TOKEN_URL", format!("{base}{TOKEN}")),
            ("KALENDS_OAUTH_MICROSOFT_ISSUER", base.clone()),
            ("KALENDS_OAUTH_MICROSOFT_CALENDARS", "true".to_owned()),
            ("KALENDS_OAUTH_MICROSOFT_CALENDAR_URL", format!("{base}{API}")),
            ("KALENDS_EGRESS_ALLOW", format!("127.0.0.1:{}", self.port)),
        ]
    }

    /// Whether a request is being answered.
    pub(crate) fn is_asked(&self) -> bool {
        self.records().open > 0
    }

    /// What has arrived so far.
    pub(crate) fn figures(&self) -> Figures {
        self.records().figures.clone()
    }

    /// The copies in the calendar of an account.
    pub(crate) fn copies(&self, account: u32) -> Result<Vec<Copied>> {
        let records = self.records();
        records.copies.get(&account).into_iter().flatten().map(Written::copied).collect()
    }

    fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn begin(provider: Provider) -> Self {
        provider.records().open += 1;
        Self { provider, answered: false }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut records = self.provider.records();
        records.open -= 1;
        records.figures.cut += u64::from(!self.answered);
    }
}

/// Answers a request. If its sender is killed, this is dropped at one of the two waits.
async fn answer(
    State(provider): State<Provider>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let mut open = Open::begin(provider.clone());
    let (before, after) = provider.records().waits();
    tokio::time::sleep(before).await;
    let (status, said) = provider.records().act(method.as_str(), uri.path(), &headers, &body);
    tokio::time::sleep(after).await;
    open.answered = true;
    (status, Json(said)).into_response()
}

impl Records {
    fn new(random: Random) -> Self {
        Self {
            random,
            open: 0,
            recent: VecDeque::new(),
            figures: Figures::default(),
            listed: HashMap::new(),
            copies: BTreeMap::new(),
            created: 0,
        }
    }

    fn waits(&mut self) -> (Duration, Duration) {
        (self.random.between(HALF_MIN, HALF_MAX), self.random.between(HALF_MIN, HALF_MAX))
    }

    /// Counts requests that came now.
    fn count(&mut self, requests: usize, now: Instant) {
        self.figures.requests += requests as u64;
        self.recent.extend(std::iter::repeat_n(now, requests));
        while self.recent.front().is_some_and(|at| now.duration_since(*at) >= SECOND) {
            self.recent.pop_front();
        }
        self.figures.most = self.figures.most.max(self.recent.len());
    }

    /// Refuses a request that no correct client sends.
    fn complain(&mut self, status: StatusCode, what: &str) -> Said {
        if self.figures.complaints.len() < COMPLAINTS_MAX {
            self.figures.complaints.push(what.to_owned());
        }
        error(status, "BadRequest")
    }

    fn act(&mut self, method: &str, path: &str, headers: &HeaderMap, body: &[u8]) -> Said {
        let now = Instant::now();
        let parts: Value =
            if path.ends_with("/$batch") { serde_json::from_slice(body).unwrap_or_default() } else { Value::Null };
        let parts = parts["requests"].as_array().cloned().unwrap_or_default();
        self.count(parts.len().max(1), now);
        if (method, path) == ("POST", TOKEN) {
            return self.token(body);
        }
        let Some(account) = account_of(headers) else {
            return self.complain(StatusCode::UNAUTHORIZED, "a request without an access token");
        };
        match (method, path.strip_prefix(API).unwrap_or_default()) {
            ("GET", "/me/calendars") => {
                self.figures.refreshes += 1;
                let before = self.listed.insert(account, now);
                self.figures.gaps.extend(before.map(|before| now.duration_since(before)));
                let (id, name) = CALENDAR;
                (StatusCode::OK, json!({ "value": [{ "id": id, "name": name, "isDefaultCalendar": true }] }))
            }
            ("GET", VIEW) => {
                let copies = self.copies.get(&account).into_iter().flatten().map(Written::shown);
                let events: Vec<Value> = copies.chain([endless()]).collect();
                (StatusCode::OK, json!({ "value": events }))
            }
            ("POST", "/$batch") if !parts.is_empty() => {
                let answered = parts.iter().map(|part| {
                    let (status, body) = self.part(account, part);
                    json!({ "id": part["id"], "status": status.as_u16(), "headers": {}, "body": body })
                });
                let answered: Vec<Value> = answered.collect();
                (StatusCode::OK, json!({ "responses": answered }))
            }
            _ => self.complain(StatusCode::BAD_REQUEST, &format!("{method} {path}")),
        }
    }

    /// Renews an access token.
    fn token(&mut self, form: &[u8]) -> Said {
        let form = String::from_utf8_lossy(form);
        let refresh = form.split('&').find_map(|pair| pair.strip_prefix("refresh_token=refresh-"));
        match refresh.and_then(|account| account.parse().ok()) {
            Some(account) => {
                let token = access_token(account);
                (StatusCode::OK, json!({ "access_token": token, "token_type": "Bearer", "expires_in": 3_600 }))
            }
            None => self.complain(StatusCode::BAD_REQUEST, "a form without a refresh token"),
        }
    }

    /// Does what a part of a batch asks for.
    fn part(&mut self, account: u32, part: &Value) -> Said {
        let (method, url) = (part["method"].as_str().unwrap_or_default(), part["url"].as_str().unwrap_or_default());
        let path = url.split('?').next().unwrap_or_default();
        let Some(event) = path.strip_prefix(EVENTS) else {
            return self.complain(StatusCode::BAD_REQUEST, &format!("{method} {path} in a batch"));
        };
        let fields = part["body"].as_object();
        if let ("POST", "", Some(fields)) = (method, event, fields) {
            return self.create(account, fields);
        }
        let events = self.copies.entry(account).or_default();
        let Some(place) = events.iter().position(|known| Some(known.id.as_str()) == event.strip_prefix('/')) else {
            // A repeated deletion finds nothing.
            return error(StatusCode::NOT_FOUND, "ErrorItemNotFound");
        };
        let found = &mut events[place];
        let is_current = part["headers"]["If-Match"].as_str() == Some(found.etag().as_str());
        match (method, fields) {
            ("GET", None) => (StatusCode::OK, found.shown()),
            ("PATCH" | "DELETE", _) if !is_current => {
                error(StatusCode::PRECONDITION_FAILED, "ErrorIrresolvableConflict")
            }
            ("PATCH", Some(fields)) => {
                found.fields.extend(fields.clone());
                found.version += 1;
                (StatusCode::OK, found.shown())
            }
            ("DELETE", None) => {
                events.remove(place);
                (StatusCode::NO_CONTENT, Value::Null)
            }
            _ => self.complain(StatusCode::BAD_REQUEST, &format!("{method} {path} in a batch")),
        }
    }

    /// Creates an event, unless the same request has created it before.
    fn create(&mut self, account: u32, fields: &Map<String, Value>) -> Said {
        let transaction = fields.get("transactionId");
        let events = self.copies.entry(account).or_default();
        let known =
            events.iter().find(|known| transaction.is_some() && known.fields.get("transactionId") == transaction);
        if let Some(known) = known {
            return (StatusCode::CREATED, known.shown());
        }
        self.created += 1;
        let event = Written { id: format!("event-{}", self.created), version: 0, fields: fields.clone() };
        let shown = event.shown();
        events.push(event);
        (StatusCode::CREATED, shown)
    }
}

impl Written {
    fn etag(&self) -> String {
        format!("W/\"{}.{}\"", self.id, self.version)
    }

    fn field(&self, name: &str) -> Value {
        self.fields.get(name).cloned().unwrap_or_default()
    }

    fn shown(&self) -> Value {
        json!({
            "@odata.etag": self.etag(),
            "id": self.id,
            "subject": self.field("subject"),
            "start": in_full(&self.field("start")),
            "end": in_full(&self.field("end")),
            "isAllDay": self.field("isAllDay"),
            "originalStartTimeZone": "UTC",
            "showAs": self.field("showAs"),
            "isCancelled": false,
            "singleValueExtendedProperties": self.field("singleValueExtendedProperties"),
        })
    }

    fn copied(&self) -> Result<Copied> {
        let properties = self.field("singleValueExtendedProperties");
        let mark = properties[0]["value"].as_str().context("an event without a mark")?;
        let mut words = mark.split(' ').map(str::to_owned);
        let (calendar, event) = words.next().zip(words.next()).context("a mark without an event")?;
        let title = self.field("subject").as_str().context("an event without a title")?.to_owned();
        Ok(Copied { calendar, event, title })
    }
}

/// A time as the API writes it, with seven digits after the point. The campaign has whole seconds only.
fn in_full(time: &Value) -> Value {
    let seconds = time["dateTime"].as_str().and_then(|text| text.split('.').next()).unwrap_or_default();
    json!({ "dateTime": format!("{seconds}.0000000"), "timeZone": "UTC" })
}

/// An event that is in every window, so that there is always something to read.
fn endless() -> Value {
    let time = |at: &str| json!({ "dateTime": at, "timeZone": "UTC" });
    json!({
        "@odata.etag": "W/\"0\"", "id": "endless", "subject": "Busy", "showAs": "busy", "isCancelled": false,
        "start": time("2000-01-01T00:00:00.0000000"), "end": time("2200-01-01T00:00:00.0000000")
    })
}

fn error(status: StatusCode, code: &str) -> Said {
    (status, json!({ "error": { "code": code, "message": code } }))
}

/// The account of the access token.
fn account_of(headers: &HeaderMap) -> Option<u32> {
    headers.get("authorization")?.to_str().ok()?.strip_prefix("Bearer access-")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(method: &str, event: &str, etag: &str, body: Option<Value>) -> Value {
        let mut part = json!({ "id": "1", "method": method, "url": format!("{EVENTS}{event}?$select=id") });
        part["headers"] = json!({ "If-Match": etag });
        if let Some(body) = body {
            part["body"] = body;
        }
        part
    }

    fn fields(title: &str) -> Value {
        let time = json!({ "dateTime": "2090-05-05T10:00:00", "timeZone": "UTC" });
        json!({
            "subject": title, "start": time, "end": time, "transactionId": "one",
            "singleValueExtendedProperties": [{ "id": "x", "value": "cal_1 evt_1 - 00 UTC" }]
        })
    }

    #[test]
    fn requests_are_counted_by_the_second() {
        let (mut records, begun) = (Records::new(Random::new(1)), Instant::now());
        for (requests, millis) in [(3, 0), (2, 400), (1, 999), (4, 1_000), (1, 1_399)] {
            records.count(requests, begun + Duration::from_millis(millis));
        }
        assert_eq!((records.figures.requests, records.figures.most), (11, 8));
    }

    #[test]
    fn a_repeated_creation_creates_one_event() {
        let mut records = Records::new(Random::new(1));
        for _ in 0..2 {
            let (status, shown) = records.part(7, &part("POST", "", "", Some(fields("First"))));
            assert_eq!((status, &shown["id"]), (StatusCode::CREATED, &json!("event-1")));
        }
        let copies: Result<Vec<Copied>> = records.copies[&7].iter().map(Written::copied).collect();
        let expected = Copied { calendar: "cal_1".into(), event: "evt_1".into(), title: "First".into() };
        assert_eq!(copies.unwrap(), [expected]);
    }

    #[test]
    fn only_the_current_version_is_written() {
        let mut records = Records::new(Random::new(1));
        let (_, made) = records.part(7, &part("POST", "", "", Some(fields("First"))));
        let (old, path) = (made["@odata.etag"].as_str().unwrap().to_owned(), "/event-1");
        let (status, changed) = records.part(7, &part("PATCH", path, &old, Some(json!({ "subject": "Second" }))));
        assert_eq!((status, &changed["subject"]), (StatusCode::OK, &json!("Second")));
        assert_eq!(changed["start"]["dateTime"], "2090-05-05T10:00:00.0000000");
        assert_eq!(records.part(7, &part("DELETE", path, &old, None)).0, StatusCode::PRECONDITION_FAILED);
        let new = changed["@odata.etag"].as_str().unwrap();
        assert_eq!(records.part(7, &part("DELETE", path, new, None)).0, StatusCode::NO_CONTENT);
        assert_eq!(records.part(7, &part("GET", path, "", None)).0, StatusCode::NOT_FOUND);
        assert!(records.figures.complaints.is_empty(), "{:?}", records.figures.complaints);
    }
}
