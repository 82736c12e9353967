//! An agent, the user whom it asks for a calendar, and the providers where that user has accounts.

use std::{future::Future, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use kalends_e2e::{Answer, CalendarProvider, Client, Database, Org, Server, TheirEvent, Transparency, at, iso};
use serde_json::{Value, json};

use crate::{
    claims::text,
    console::{PASSWORD, owner},
    fixtures::{agent_with_calendar, now},
};

/// The organization's address. Its owner is [`HUMAN`].
pub(crate) const ORG: &str = "ada@example.com";
/// The user who signs in to the console.
pub(crate) const HUMAN: &str = "owner-of-ada@example.com";
/// The user's account at the providers.
pub(crate) const ACCOUNT: &str = "private-account@planted.example";
/// The identifiers and names of the user's calendars.
pub(crate) const CALENDARS: [(&str, &str); 3] = [
    (ACCOUNT, "Planted private life"),
    ("team/planted=&2@group.example", "Planted team"),
    ("planted-third@group.example", "Planted third"),
];
/// The title of the user's events.
pub(crate) const TITLE: &str = "Planted operation";

/// The longest wait for a refresh on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A service that can connect calendars of both providers.
pub(crate) struct Connecting {
    pub(crate) server: Server,
    pub(crate) google: CalendarProvider,
    pub(crate) microsoft: CalendarProvider,
    pub(crate) org: Org,
    /// A client with the organization's key.
    pub(crate) api: Client,
    /// A client with the user's session.
    pub(crate) console: Client,
    pub(crate) agent: String,
    pub(crate) calendar: String,
    /// The midnight of a future day.
    pub(crate) day: DateTime<Utc>,
}

/// A consent that has begun.
pub(crate) struct Begun {
    /// The URL of the provider's page.
    pub(crate) url: String,
    /// The cookie that binds the consent to the browser.
    pub(crate) cookie: String,
}

impl Connecting {
    pub(crate) async fn new(database: Database) -> Self {
        Self::with(database, &[]).await
    }

    /// Like [`Self::new`], with these variables.
    pub(crate) async fn with(database: Database, variables: &[(&str, &str)]) -> Self {
        let (google, microsoft) = (CalendarProvider::google().await, CalendarProvider::microsoft().await);
        let mut all = [google.variables(), microsoft.variables()].concat();
        let also = variables.iter().find(|(name, _)| *name == "KALENDS_EGRESS_ALLOW").map(|(_, value)| *value);
        let reached = [Some(google.address()), Some(microsoft.address()), also];
        all.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        all.push(("KALENDS_EGRESS_ALLOW".to_owned(), Vec::from_iter(reached.into_iter().flatten()).join(",")));
        let all: Vec<_> = all.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let server = Server::start_with(database, &all).await;
        let org = server.org_with("custom", &["--email", ORG]).await;
        let api = server.api(&org);
        let console = owner(&server, ORG).await;
        let (agent, calendar) = agent_with_calendar(&api).await;
        let day = at(&now(&api).await).date_naive() + TimeDelta::days(7);
        let day = day.and_hms_opt(0, 0, 0).unwrap().and_utc();
        let it = Self { server, google, microsoft, org, api, console, agent, calendar, day };
        it.settle();
        it
    }

    /// Registers the service's callback and the user's account at the providers.
    fn settle(&self) {
        for provider in [&self.google, &self.microsoft] {
            provider.register(self.server.base_url());
            provider.account(ACCOUNT, &CALENDARS);
        }
    }

    /// Restarts the service with its clock moved, and signs the user in again.
    pub(crate) async fn restart_at_offset(&mut self, seconds: i64) {
        self.server.restart_at_offset(seconds).await;
        for provider in [&self.google, &self.microsoft] {
            provider.register(self.server.base_url());
        }
        self.api = self.server.api(&self.org);
        self.console = self.signed_in(HUMAN).await;
    }

    pub(crate) async fn signed_in(&self, email: &str) -> Client {
        let body = json!({ "email": email, "password": PASSWORD });
        let answer = self.server.anonymous().post("/v1/auth/signin").json(body).await.expect(200);
        self.server.client(answer["token"].as_str().unwrap())
    }

    /// A time of the day, given in minutes after midnight.
    pub(crate) fn time(&self, minutes: i64) -> DateTime<Utc> {
        self.day + TimeDelta::minutes(minutes)
    }

    /// An event of the user between two minutes of the day.
    pub(crate) fn event(&self, from: i64, to: i64) -> TheirEvent {
        TheirEvent {
            start: self.time(from),
            end: self.time(to),
            title: TITLE.to_owned(),
            transparency: Transparency::Busy,
        }
    }

    /// These minutes of the day, as availability shows its spans.
    pub(crate) fn spans(&self, minutes: &[(i64, i64)]) -> Vec<(String, String)> {
        minutes.iter().map(|(from, to)| (iso(self.time(*from)), iso(self.time(*to)))).collect()
    }

    /// Creates a connection link for the agent's calendar.
    pub(crate) async fn ask(&self) -> Answer {
        self.api.post(self.links()).json(json!({})).await.expect(201)
    }

    /// The path at which links for the agent's calendar are created.
    pub(crate) fn links(&self) -> String {
        format!("/v1/calendars/{}/connection-links", self.calendar)
    }

    /// A link that the user has opened.
    pub(crate) async fn opened(&self) -> String {
        let link = self.ask().await;
        open(&self.console, &token(&link)).await.expect(200).id()
    }

    /// Begins a consent at a provider.
    pub(crate) async fn begin(&self, provider: &CalendarProvider, link: Option<&str>) -> Begun {
        let path = format!("/v1/calendar-connections/oauth/{}/start", provider.name());
        let body = link.map_or(json!({}), |link| json!({ "connection_link_id": link }));
        begun(&self.console.post(path).json(body).await.expect(200))
    }

    /// Begins another consent for an existing connection.
    pub(crate) async fn begin_again(&self, connection: &str) -> Begun {
        begun(&self.console.post(format!("{}/reauthorize", path_of(connection))).await.expect(200))
    }

    /// Takes the browser to the provider and back. Returns the path of the callback.
    pub(crate) async fn back(&self, provider: &CalendarProvider, begun: &Begun) -> String {
        let back = provider.authorize(&begun.url).await.unwrap();
        back.strip_prefix(self.server.base_url()).unwrap_or_else(|| panic!("sent elsewhere: {back}")).to_owned()
    }

    /// Takes the browser to the provider and back, and calls the callback.
    pub(crate) async fn consent(&self, provider: &CalendarProvider, begun: &Begun) -> Answer {
        let path = self.back(provider, begun).await;
        self.answer(&path, &begun.cookie).await
    }

    pub(crate) async fn answer(&self, path: &str, cookie: &str) -> Answer {
        self.server.anonymous().get(path).header("cookie", cookie).await
    }

    /// Connects the user's account and returns the connection.
    pub(crate) async fn connect(&self, provider: &CalendarProvider, link: Option<&str>) -> String {
        let begun = self.begin(provider, link).await;
        self.connected(&self.consent(provider, &begun).await, link)
    }

    /// Requires that the answer redirects to the console with a connection, and with the link if there is one.
    #[track_caller]
    pub(crate) fn connected(&self, answer: &Answer, link: Option<&str>) -> String {
        assert_eq!(answer.status, 302, "{}", answer.describe());
        let location = answer.header("location");
        let start = format!("{}/console/connections?connected=", self.server.base_url());
        let unlinked = location.strip_prefix(&start).unwrap_or_else(|| panic!("{}", answer.describe()));
        let connection = match link {
            Some(link) => unlinked.strip_suffix(&format!("&link={link}")).unwrap_or_else(|| panic!("{location}")),
            None => unlinked,
        };
        assert!(connection.starts_with("con_") && !connection.contains('&'), "{location}");
        connection.to_owned()
    }

    /// Requires that nothing is connected and that the answer redirects to the console with this error code.
    #[track_caller]
    pub(crate) fn failed(&self, answer: &Answer, code: &str) {
        assert_eq!(answer.status, 302, "{}", answer.describe());
        let expected = format!("{}/console/connections?error={code}", self.server.base_url());
        assert_eq!(answer.header("location"), expected, "{}", answer.describe());
    }

    /// The external calendars of a connection, as the console lists them.
    pub(crate) async fn external(&self, connection: &str) -> Vec<Value> {
        self.console.get(format!("{}/external-calendars", path_of(connection))).await.expect(200).data()
    }

    /// Grants the calendars at these indexes to this audience.
    pub(crate) async fn grant(&self, connection: &str, places: &[usize], audience: &Value) -> Answer {
        let known = self.external(connection).await;
        let ids: Vec<_> = places.iter().map(|place| known[*place]["id"].clone()).collect();
        let mut body = json!({ "external_calendar_ids": ids });
        body.as_object_mut().unwrap().extend(audience.as_object().unwrap().clone());
        self.console.post("/v1/availability-grants").json(body).await.expect(201)
    }

    /// Connects the user's account and grants its first calendar to the agent.
    pub(crate) async fn granted(&self, provider: &CalendarProvider) -> String {
        let connection = self.connect(provider, None).await;
        self.grant(&connection, &[0], &self.to_agent()).await;
        connection
    }

    /// The audience that consists of the agent alone.
    pub(crate) fn to_agent(&self) -> Value {
        json!({ "audience": "selected", "agent_ids": [self.agent] })
    }

    /// The availability of a calendar on the day.
    pub(crate) async fn available(&self, calendar: &str) -> Answer {
        let (start, end) = (iso(self.day), iso(self.time(24 * 60)));
        let window = [("start", start.as_str()), ("end", end.as_str()), ("include_busy", "true")];
        self.api.get(format!("/v1/calendars/{calendar}/availability")).query(&window).await.expect(200)
    }

    /// The busy times of a calendar on the day. The availability must be complete.
    pub(crate) async fn busy(&self, calendar: &str) -> Vec<(String, String)> {
        let known = self.available(calendar).await;
        assert_eq!(known["availability_state"], "complete", "{}", known.describe());
        busy_of(&known)
    }

    /// Waits until the agent's calendar is busy at exactly these minutes.
    pub(crate) async fn until_busy(&self, minutes: &[(i64, i64)]) {
        let expected = self.spans(minutes);
        let will_do = |known: &Answer| known["availability_state"] == "complete" && busy_of(known) == expected;
        until("busy as it should be", || self.available(&self.calendar), will_do).await;
    }

    /// Waits until a connection satisfies `shows`.
    pub(crate) async fn wait_until(&self, connection: &str, what: &str, shows: impl Fn(&Answer) -> bool) -> Answer {
        until(what, || async { self.console.get(path_of(connection)).await.expect(200) }, shows).await
    }

    /// Refreshes a connection and waits until the refresh has succeeded.
    pub(crate) async fn refresh(&self, connection: &str) -> Answer {
        let before = self.console.get(path_of(connection)).await.expect(200)["last_refreshed_at"].clone();
        self.ask_refresh(connection).await;
        self.wait_until(connection, "refreshed", |connection_now| connection_now["last_refreshed_at"] != before).await
    }

    /// Requests a refresh of a connection.
    pub(crate) async fn ask_refresh(&self, connection: &str) {
        let accepted = self.console.post(format!("{}/refresh", path_of(connection))).await.expect(202);
        assert_eq!(accepted.json, json!({ "status": "refreshing" }));
    }

    /// The explanation of why the agent's calendar is not offered between two minutes of the day.
    pub(crate) async fn explained(&self, from: i64, to: i64) -> Answer {
        let (start, end) = (iso(self.time(from)), iso(self.time(to)));
        let query = format!("calendar={}&start={start}&end={end}", self.calendar);
        self.api.get(format!("/v1/availability/explain?{query}")).await.expect(200)
    }

    /// Requires this status of a connection.
    pub(crate) async fn is(&self, connection: &str, status: &str) {
        let read = self.console.get(path_of(connection)).await.expect(200);
        assert_eq!(read["status"], status, "{}", read.describe());
    }
}

/// The path of a connection.
pub(crate) fn path_of(connection: &str) -> String {
    format!("/v1/calendar-connections/{connection}")
}

/// The secret at the end of a new link's address.
pub(crate) fn token(link: &Answer) -> String {
    let url = link["setup_url"].as_str().unwrap_or_else(|| panic!("no address: {}", link.describe()));
    url.split_once('#').unwrap().1.to_owned()
}

/// Opens a link.
pub(crate) async fn open(human: &Client, token: &str) -> Answer {
    human.post("/v1/connection-links/open").json(json!({ "token": token })).await
}

/// The busy times in a calendar's availability.
pub(crate) fn busy_of(known: &Answer) -> Vec<(String, String)> {
    known["busy"].as_array().unwrap().iter().map(|span| (text(&span["start"]), text(&span["end"]))).collect()
}

pub(crate) fn begun(answer: &Answer) -> Begun {
    assert_eq!(answer.header("cache-control"), "no-store");
    let (pair, attributes) = answer.header("set-cookie").split_once("; ").unwrap();
    assert_eq!(attributes, "Path=/; Max-Age=600; HttpOnly; SameSite=Lax");
    assert_eq!(pair.split_once('=').map(|(name, value)| (name, value.len())), Some(("service_oauth_state", 43)));
    Begun { url: text(&answer["authorization_url"]), cookie: pair.to_owned() }
}

/// Repeats the request until `will_do` accepts the answer.
pub(crate) async fn until<F: Future<Output = Answer>>(
    what: &str,
    ask: impl Fn() -> F,
    will_do: impl Fn(&Answer) -> bool,
) -> Answer {
    let began = tokio::time::Instant::now();
    loop {
        let answer = ask().await;
        if will_do(&answer) {
            return answer;
        }
        assert!(began.elapsed() < PATIENCE, "not {what}: {}", answer.describe());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
