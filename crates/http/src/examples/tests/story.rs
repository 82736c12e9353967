//! How the scenario is played: one request after the other, through the whole router.

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc};

use axum::{Router, body::Body, extract::ConnectInfo};
use http::{HeaderMap, Request, StatusCode, header};
use http_body_util::BodyExt as _;
use kalends_accounts::{AdminToken, oauth::Provider};
use kalends_app::{App, MemoryRateLimiter, NoProviders, Parts, Settings, operations::Operation};
use kalends_kernel::Elapsed;
use kalends_testkit::{
    Mailbox, ManualClock, MemoryStore, TestCalendarProviders, TestPasswords,
    fixtures::{at, settings},
};
use serde_json::Value;
use tower::ServiceExt as _;

use super::{
    feeds::FEED,
    outside::{Draws, FeedServer, Humans, Receiver, Tokens, Trouble},
    record::Record,
};

/// What opens the administration routes.
pub(super) const ADMIN_TOKEN: &str = "the-operator-s-own-token";
/// Where the service is reached.
pub(super) const BASE_URL: &str = "https://calendar.example.com";
/// From where all requests come: an address of documentation.
const CALLER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(203, 0, 113, 7)), 50_000);

/// The service, and what was told of it so far.
pub(super) struct Story {
    pub(super) app: Arc<App>,
    pub(super) record: Record,
    /// Where humans have calendars.
    pub(super) calendars: TestCalendarProviders,
    router: Router,
    clock: ManualClock,
    draws: Draws,
    humans: Humans,
    mailbox: Mailbox,
    /// How often each operation was asked.
    asked: BTreeMap<&'static str, u32>,
}

impl Story {
    pub(super) fn begin() -> Self {
        let (clock, draws) = (ManualClock::new(at("2026-03-02T08:00:00Z")), Draws::default());
        let (humans, mailbox) = (Humans::default(), Mailbox::default());
        let calendars = TestCalendarProviders::offering(Provider::ALL, BASE_URL);
        let mut settings = Settings {
            base_url: BASE_URL.to_owned(),
            console_url: "https://console.example.com".to_owned(),
            admin_token: Some(AdminToken::new(ADMIN_TOKEN)),
            ..settings()
        };
        settings.terms.url = format!("{BASE_URL}/terms");
        let app = App::new(Parts {
            store: Arc::new(MemoryStore::new()),
            clock: Arc::new(clock.clone()),
            entropy: Arc::new(draws.clone()),
            mailer: Arc::new(mailbox.clone()),
            passwords: Arc::new(TestPasswords::default()),
            tokens: Arc::new(Tokens::default()),
            human: Arc::new(humans.clone()),
            calendar_providers: Arc::new(calendars.clone()),
            limiter: Arc::new(MemoryRateLimiter::default()),
            sender: Arc::new(Receiver),
            fetcher: Arc::new(FeedServer(FEED)),
            providers: Arc::new(NoProviders),
            settings,
        });
        let router = crate::router(Arc::clone(&app));
        let asked = BTreeMap::new();
        Self { app, record: Record::default(), calendars, router, clock, draws, humans, mailbox, asked }
    }

    /// Begins a chapter at that time.
    pub(super) fn chapter(&self, time: &str) {
        self.clock.set(at(time));
        self.draws.follow(time);
    }

    /// From now on that is wrong with the database.
    pub(super) fn suffer(&self, trouble: Trouble) {
        self.humans.suffer(trouble);
    }

    /// The text of the mail that was sent last, once it is.
    pub(super) async fn last_mail(&self) -> String {
        // Letters are posted beside the answer.
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        self.mailbox.mails().pop().unwrap().text
    }

    /// The code of the mail that was sent last.
    pub(super) async fn last_code(&self) -> String {
        let text = self.last_mail().await;
        let mut words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
        let is_code = |word: &&str| word.len() == 6 && word.bytes().all(|byte| byte.is_ascii_digit());
        words.find(is_code).unwrap().to_owned()
    }

    /// A request, a second after the one before.
    pub(super) fn ask(&mut self, operation: &'static Operation) -> Ask<'_> {
        self.clock.advance(Elapsed::seconds(1));
        let number = self.asked.entry(operation.id).or_default();
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

/// A request that is being put together.
pub(super) struct Ask<'s> {
    story: &'s mut Story,
    operation: &'static Operation,
    path: String,
    headers: HeaderMap,
    sent: Option<Value>,
    body: Body,
}

impl Ask<'_> {
    /// Puts this in the place of the first parameter of the path that is left.
    pub(super) fn of(mut self, value: &str) -> Self {
        let (begin, end) = (self.path.find('{').unwrap(), self.path.find('}').unwrap());
        self.path.replace_range(begin..=end, value);
        self
    }

    /// Asks with this query.
    pub(super) fn query(mut self, query: &str) -> Self {
        self.path = format!("{}?{query}", self.path);
        self
    }

    /// Asks with this key, or token of a session.
    pub(super) fn by(self, key: &str) -> Self {
        self.with("authorization", &format!("Bearer {key}"))
    }

    /// Asks with this header.
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

    /// Sends this, whatever it is.
    pub(super) fn send_raw(mut self, body: Body) -> Self {
        self.body = body;
        self
    }

    /// Makes the request and its answer examples.
    pub(super) async fn told(self) -> Value {
        let Answered { story, operation, sent, status, body } = self.answered().await;
        assert!(status.is_success(), "{}: {status} {body:?}", operation.id);
        story.record.keep(operation, sent, (status, body.clone()));
        body.unwrap_or_default()
    }

    /// The same with a failure that is this operation's own.
    pub(super) async fn told_with(self, expected: StatusCode) {
        let Answered { story, operation, status, body, .. } = self.answered().await;
        assert_eq!(status, expected, "{}: {body:?}", operation.id);
        story.record.keep(operation, None, (status, body));
    }

    /// Asks for what the story needs, and tells nothing of it.
    pub(super) async fn done(self) -> Value {
        let Answered { operation, status, body, .. } = self.answered().await;
        assert!(status.is_success(), "{}: {status} {body:?}", operation.id);
        body.unwrap_or_default()
    }

    /// Asks as a browser that is sent elsewhere, and tells nothing of it.
    pub(super) async fn sent_on(self) {
        let Answered { operation, status, body, .. } = self.answered().await;
        assert_eq!(status, StatusCode::FOUND, "{}: {body:?}", operation.id);
    }

    /// Makes the failure the example of its status.
    pub(super) async fn refused(self, expected: StatusCode) {
        let Answered { story, operation, status, body, .. } = self.answered().await;
        assert_eq!(status, expected, "{}: {body:?}", operation.id);
        story.record.keep_error(status, body.unwrap());
    }
}

/// What came of a request.
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
        let request = Request::builder().method(operation.method).uri(path);
        let mut request = request.extension(ConnectInfo(CALLER)).body(body).unwrap();
        *request.headers_mut() = headers;
        let response = story.router.clone().oneshot(request).await.unwrap();
        let (status, media_type) = (response.status(), response.headers().get(header::CONTENT_TYPE).cloned());
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        let body = match media_type {
            Some(media_type) if media_type == "application/json" => Some(serde_json::from_slice(&bytes).unwrap()),
            Some(_) => Some(String::from_utf8(bytes.into()).unwrap().into()),
            None => {
                assert!(bytes.is_empty(), "{}: a body without a type", operation.id);
                None
            }
        };
        Answered { story, operation, sent, status, body }
    }
}

/// The text in that place of an answer.
pub(super) fn text(answer: &Value, pointer: &str) -> String {
    answer.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("no {pointer} in {answer}")).to_owned()
}

/// The identifier of what an answer shows.
pub(super) fn id(answer: &Value) -> String {
    text(answer, "/id")
}
