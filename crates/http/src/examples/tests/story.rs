//! Plays the scenario: one request after another, through the whole router.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};

use axum::{Router, body::Body, extract::ConnectInfo};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use http_body_util::BodyExt as _;
use kalends_accounts::AdminToken;
use kalends_app::{
    App, MemoryRateLimiter, Parts, Settings,
    operations::{self, Operation},
    ports::{HumanCalendars, Store},
};
use kalends_bridge::CalendarProvider;
use kalends_testkit::{
    Mailbox, ManualClock, MemoryStore, NoProviders, TestCalendarProviders, TestPasswords,
    fixtures::{at, settings},
};
use kalends_time::SignedDuration;
use serde_json::Value;
use tower::ServiceExt as _;

use super::{
    counts::Counter,
    feeds::FEED,
    outside::{Draws, FeedServer, Humans, Receiver, Tokens, Trouble},
    record::Record,
};

/// The token for the administration routes.
pub(super) const ADMIN_TOKEN: &str = "the-operator-s-own-token";
/// The address of the service.
pub(super) const BASE_URL: &str = "https://calendar.example.com";
/// The address from which all requests come. It is reserved for documentation (RFC 5737).
const CALLER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(203, 0, 113, 7)), 50_000);

/// How long webhook receivers take to answer.
const REPLIES_AFTER: Duration = Duration::from_millis(42);
/// How often a read is repeated before it is counted again, so that everything cached from the first one is in place.
const REPEATED: usize = 2;

/// The service and the recording so far.
pub(super) struct Story {
    pub(super) app: Arc<App>,
    pub(super) record: Record,
    /// The providers of human calendars.
    pub(super) calendars: TestCalendarProviders,
    router: Router,
    clock: ManualClock,
    draws: Draws,
    humans: Humans,
    mailbox: Mailbox,
    /// How often each operation was requested.
    request_counts: BTreeMap<&'static str, u32>,
    /// Counts the database cost of each request, if the story is played for that.
    pub(super) counter: Option<Counter>,
    /// Tries each request as a dry run first, if the story is played for that.
    pub(super) dry: Option<DryRuns>,
}

/// The dry runs of a story.
pub(super) struct DryRuns {
    store: MemoryStore,
    /// The operations that were tried.
    pub(super) tried: BTreeSet<&'static str>,
}

impl Story {
    pub(super) fn begin() -> Self {
        let humans = Humans::default();
        let answers = Arc::new(humans.clone());
        Self::on(Arc::new(MemoryStore::new()), Some(answers), humans, Receiver { after: REPLIES_AFTER })
    }

    /// Starts on a store in memory, whose whole state can be compared.
    pub(super) fn dry() -> Self {
        let (store, humans) = (MemoryStore::new(), Humans::default());
        let (kept, answers) = (Arc::new(store.clone()), Arc::new(humans.clone()));
        let story = Self::on(kept, Some(answers), humans, Receiver { after: REPLIES_AFTER });
        Self { dry: Some(DryRuns { store, tried: BTreeSet::new() }), ..story }
    }

    /// Starts on an SQL store. Nothing is delayed there.
    pub(super) fn counted<S: Store + 'static>(store: &Arc<S>) -> Self {
        let receiver = Receiver { after: Duration::ZERO };
        Self::on(Arc::clone(store) as _, None, Humans::default(), receiver)
    }

    fn on(store: Arc<dyn Store>, human: Option<Arc<dyn HumanCalendars>>, humans: Humans, receiver: Receiver) -> Self {
        let (clock, draws) = (ManualClock::new(at("2026-03-02T08:00:00Z")), Draws::default());
        let mailbox = Mailbox::default();
        let calendars = TestCalendarProviders::offering(CalendarProvider::ALL, BASE_URL);
        let mut settings = Settings {
            base_url: BASE_URL.to_owned(),
            console_url: "https://console.example.com".to_owned(),
            admin_token: Some(AdminToken::new(ADMIN_TOKEN)),
            ..settings()
        };
        settings.terms.url = format!("{BASE_URL}/terms");
        let parts = Parts {
            store,
            clock: Arc::new(clock.clone()),
            entropy: Arc::new(draws.clone()),
            mailer: Arc::new(mailbox.clone()),
            passwords: Arc::new(TestPasswords::default()),
            tokens: Arc::new(Tokens::default()),
            calendar_providers: Arc::new(calendars.clone()),
            limiter: Arc::new(MemoryRateLimiter::default()),
            sender: Arc::new(receiver),
            fetcher: Arc::new(FeedServer(FEED)),
            providers: Arc::new(NoProviders),
            settings,
        };
        let app = match human {
            Some(human) => App::with_human_calendars(parts, human),
            None => App::new(parts),
        };
        let router = crate::router(Arc::clone(&app), None);
        let request_counts = BTreeMap::new();
        let record = Record::default();
        Self { app, record, calendars, router, clock, draws, humans, mailbox, request_counts, counter: None, dry: None }
    }

    /// Starts a chapter at that time.
    pub(super) fn chapter(&self, time: &str) {
        self.clock.set(at(time));
        self.draws.follow(time);
    }

    /// Causes this problem of the database from now on.
    pub(super) fn fail_with(&self, trouble: Trouble) {
        self.humans.fail_with(trouble);
    }

    /// Sends the emails that wait, as a worker does.
    pub(super) async fn deliver_mail(&self) {
        for letter in self.app.claim_letters(100).await.unwrap() {
            self.app.send_letter(letter).await;
        }
    }

    /// The text of the last mail, once it has been sent.
    pub(super) async fn last_mail(&self) -> String {
        // Mail is sent in a separate task. A counter has already waited for it.
        if self.counter.is_none() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        self.mailbox.mails().pop().unwrap().text
    }

    /// The code in the last mail.
    pub(super) async fn last_code(&self) -> String {
        let text = self.last_mail().await;
        let mut words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
        let is_code = |word: &&str| word.len() == 6 && word.bytes().all(|byte| byte.is_ascii_digit());
        words.find(is_code).unwrap().to_owned()
    }

    /// If requests are counted, debits a block of API calls that lasts for the whole story. Otherwise, the debit
    /// would be counted for the request that happens to need it.
    pub(super) async fn debit_ahead(&self, key: &str) {
        if self.counter.is_some() {
            self.app.return_leases().await;
            let request =
                Request::get(operations::LIST_AGENTS.path).header(header::AUTHORIZATION, format!("Bearer {key}"));
            let request = request.header(header::HOST, "calendar.example.com").extension(ConnectInfo(CALLER));
            let (status, ..) = exchange(&self.router, request.body(Body::empty()).unwrap()).await;
            assert!(status.is_success(), "{status}");
        }
    }

    /// Starts a request, one second after the previous one.
    pub(super) fn ask(&mut self, operation: &'static Operation) -> Ask<'_> {
        self.clock.advance(SignedDuration::seconds(1));
        let number = self.request_counts.entry(operation.id).or_default();
        *number += 1;
        self.draws.follow(&format!("{} {number}", operation.id));
        Ask {
            story: self,
            operation,
            path: operation.path.to_owned(),
            headers: HeaderMap::new(),
            sent: None,
            body: Body::empty(),
        }
    }
}

/// A request under construction.
pub(super) struct Ask<'s> {
    story: &'s mut Story,
    operation: &'static Operation,
    path: String,
    headers: HeaderMap,
    sent: Option<Value>,
    body: Body,
}

impl Ask<'_> {
    /// Replaces the first remaining parameter of the path.
    pub(super) fn of(mut self, value: &str) -> Self {
        let (begin, end) = (self.path.find('{').unwrap(), self.path.find('}').unwrap());
        self.path.replace_range(begin..=end, value);
        self
    }

    /// Sets the query.
    pub(super) fn query(mut self, query: &str) -> Self {
        self.path = format!("{}?{query}", self.path);
        self
    }

    /// Sets the key or the session token.
    pub(super) fn by(self, key: &str) -> Self {
        self.with("authorization", &format!("Bearer {key}"))
    }

    /// Sets this header.
    pub(super) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.insert(name, value.parse().unwrap());
        self
    }

    /// Sends this as JSON.
    pub(super) fn send(mut self, body: Value) -> Self {
        self.body = Body::from(body.to_string());
        self.sent = Some(body);
        self.with("content-type", "application/json")
    }

    /// Sends this file.
    pub(super) fn send_file(mut self, text: &str) -> Self {
        self.body = Body::from(text.to_owned());
        self.sent = Some(text.into());
        self.with("content-type", "text/calendar")
    }

    /// Sends this body unchanged.
    pub(super) fn send_raw(mut self, body: Body) -> Self {
        self.body = body;
        self
    }

    /// Sends the request, and records it and its answer as examples.
    pub(super) async fn record(self) -> Value {
        let Answered { story, operation, sent, status, body } = self.answered().await;
        assert!(status.is_success(), "{}: {status} {body:?}", operation.id);
        story.record.keep(operation, sent, (status, body.clone()));
        body.unwrap_or_default()
    }

    /// Sends the request and records its failure, which is specific to this operation.
    pub(super) async fn record_failure(self, expected: StatusCode) {
        let Answered { story, operation, status, body, .. } = self.answered().await;
        assert_eq!(status, expected, "{}: {body:?}", operation.id);
        story.record.keep(operation, None, (status, body));
    }

    /// Sends a request that the story needs, without recording it.
    pub(super) async fn done(self) -> Value {
        let Answered { operation, status, body, .. } = self.answered().await;
        assert!(status.is_success(), "{}: {status} {body:?}", operation.id);
        body.unwrap_or_default()
    }

    /// Sends the request of a browser and expects a redirect, without recording it.
    pub(super) async fn sent_on(self) {
        let Answered { operation, status, body, .. } = self.answered().await;
        assert_eq!(status, StatusCode::FOUND, "{}: {body:?}", operation.id);
    }

    /// Sends the request and records its failure as the example of the status.
    pub(super) async fn refused(self, expected: StatusCode) {
        let Answered { story, operation, status, body, .. } = self.answered().await;
        assert_eq!(status, expected, "{}: {body:?}", operation.id);
        story.record.keep_error(status, body.unwrap());
    }
}

/// The outcome of a request.
struct Answered<'s> {
    story: &'s mut Story,
    operation: &'static Operation,
    sent: Option<Value>,
    status: StatusCode,
    body: Option<Value>,
}

impl<'s> Ask<'s> {
    async fn answered(self) -> Answered<'s> {
        let Ask { story, operation, path, headers, sent, body } = self;
        let request = |body| {
            let request = Request::builder().method(operation.method).uri(&path);
            let mut request = request.extension(ConnectInfo(CALLER)).body(body).unwrap();
            *request.headers_mut() = headers.clone();
            request.headers_mut().insert(header::HOST, HeaderValue::from_static("calendar.example.com"));
            request
        };
        let dry_status = match &mut story.dry {
            Some(dry) if operation.takes_dry_run() => {
                dry.tried.insert(operation.id);
                let before = dry.store.written();
                let separator = if path.contains('?') { '&' } else { '?' };
                let mut request = request(sent.as_ref().map_or_else(Body::empty, body_of));
                *request.uri_mut() = format!("{path}{separator}dry_run=true").parse().unwrap();
                let response = story.router.clone().oneshot(request).await.unwrap();
                assert_eq!(dry.store.written(), before, "the dry run of {} has written something", operation.id);
                Some(check_dry_run(operation, response).await)
            }
            _ => None,
        };
        if let Some(counter) = &mut story.counter {
            // The service refreshes its cached keys all the time.
            story.app.refresh_principals().await;
            counter.begin().await;
        }
        let (status, media_type, bytes) = exchange(&story.router, request(body)).await;
        let waits = is_waiting(status, &bytes);
        if let Some(counter) = &mut story.counter
            && !(status.is_client_error() || status.is_server_error())
        {
            let what = if waits { format!("{} that waits", operation.id) } else { operation.id.to_owned() };
            counter.end(&what).await;
            if status.is_success() && !operation.writes() {
                for _ in 1..REPEATED {
                    exchange(&story.router, request(Body::empty())).await;
                }
                counter.begin().await;
                exchange(&story.router, request(Body::empty())).await;
                counter.end(&format!("{} again", operation.id)).await;
            }
        }
        // A dry run needs no approval.
        if let Some(expected) = dry_status.filter(|_| !waits) {
            assert_eq!(expected, status, "{} answers otherwise than its dry run", operation.id);
        }
        let body = match media_type {
            Some(media_type) if media_type == "application/json" => Some(serde_json::from_slice(&bytes).unwrap()),
            Some(_) => Some(String::from_utf8(bytes.into()).unwrap().into()),
            None => {
                assert!(bytes.is_empty(), "{}: a body without a content type", operation.id);
                None
            }
        };
        Answered { story, operation, sent, status, body }
    }
}

/// Whether the request waits for approval.
fn is_waiting(status: StatusCode, body: &Bytes) -> bool {
    let is_about = |shown: Value| shown["approval"].is_object();
    status == StatusCode::ACCEPTED && serde_json::from_slice(body).is_ok_and(is_about)
}

/// What was sent, as a body.
fn body_of(sent: &Value) -> Body {
    Body::from(sent.as_str().map_or_else(|| sent.to_string(), str::to_owned))
}

/// Checks the answer to a dry run, and returns its status. It says what it is, and shows no secret.
async fn check_dry_run(operation: &Operation, response: Response<Body>) -> StatusCode {
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.unwrap().to_bytes();
    let shown: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    if parts.status.is_success() {
        assert_eq!(parts.headers.get("kalends-dry-run").unwrap(), "true", "{}", operation.id);
        for field in operation.secret_fields() {
            let secret = &shown[*field];
            assert!(secret.is_null() || secret == "(dry run)", "the dry run of {} shows {field}", operation.id);
        }
    }
    parts.status
}

/// Sends a request and reads the whole answer. Returns the status, the content type and the body.
async fn exchange(router: &Router, request: Request<Body>) -> (StatusCode, Option<HeaderValue>, Bytes) {
    let response = router.clone().oneshot(request).await.unwrap();
    let (status, media_type) = (response.status(), response.headers().get(header::CONTENT_TYPE).cloned());
    (status, media_type, response.into_body().collect().await.unwrap().to_bytes())
}

/// The text at a place of an answer.
pub(super) fn text(answer: &Value, pointer: &str) -> String {
    answer.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("no {pointer} in {answer}")).to_owned()
}

/// The identifier of the resource in an answer.
pub(super) fn id(answer: &Value) -> String {
    text(answer, "/id")
}
