//! An organization with a calendar, and the forms about its events in a browser.

use kalends_e2e::{Client, Database, Server};
use serde_json::Value;

use crate::{
    connecting::{HUMAN, ORG},
    console::owner,
    fixtures::{event_body, shared_calendar},
    members::member,
    pages::{Pages, Seen, hidden},
};

pub(crate) const CALENDAR: &str = "/console/calendar";
pub(crate) const EVENTS: &str = "/console/calendar/events";
pub(crate) const ZONE: &str = "Europe/Berlin";
pub(crate) const SWITCHED: &str = "You switched to another organization in another tab";
/// The hidden fields of the form that edits an event.
pub(crate) const HIDES: [&str; 11] = [
    "org",
    "once",
    "version",
    "tz",
    "was_title",
    "was_start_time",
    "was_end_time",
    "was_status",
    "was_location",
    "was_conference_url",
    "was_description",
];
pub(crate) const EVIL: &str = "https://evil.example";

/// An organization with a shared calendar in [`ZONE`], and its owner [`HUMAN`].
pub(crate) struct Desk {
    pub(crate) server: Server,
    pub(crate) api: Client,
    pub(crate) console: Client,
    pub(crate) org: String,
    pub(crate) calendar: String,
}

impl Desk {
    pub(crate) async fn new(database: Database) -> Self {
        Self::with(database, &[]).await
    }

    pub(crate) async fn with(database: Database, settings: &[(&str, &str)]) -> Self {
        let server = Server::start_with(database, settings).await;
        let org = server.org_with("pro", &["--email", ORG]).await;
        let api = server.api(&org);
        let console = owner(&server, ORG).await;
        let calendar = shared_calendar(&api, ZONE).await;
        Self { server, api, console, org: org.id, calendar }
    }

    /// A browser in which the owner is signed in.
    pub(crate) async fn signed_in(&self) -> Pages<'_> {
        let mut pages = Pages::new(&self.server);
        pages.sign_in(HUMAN).await;
        pages
    }

    /// A browser of a new member with that role, who works in the organization.
    pub(crate) async fn browser_of(&self, email: &str, role: &str) -> Pages<'_> {
        let (human, _) = member(&self.server, &self.console, email, role).await;
        let mut pages = Pages::new(&self.server);
        pages.sign_in_to(&human.email, &self.org).await;
        pages
    }

    /// Creates an event over the API.
    pub(crate) async fn event(&self, title: &str, start: &str, end: &str) -> String {
        let path = format!("/v1/calendars/{}/events", self.calendar);
        self.api.post(path).json(event_body(title, start, end)).await.expect(201).id()
    }

    pub(crate) async fn read(&self, id: &str) -> Value {
        self.api.get(format!("/v1/events/{id}")).await.expect(200).json
    }

    /// What takes place in March 2038: the day, the time and the title.
    pub(crate) async fn taking_place(&self) -> Vec<String> {
        self.taking_place_in("2038-03").await
    }

    /// What takes place in a month, such as `2038-03`.
    pub(crate) async fn taking_place_in(&self, month: &str) -> Vec<String> {
        let (first, last) = (format!("{month}-01T00:00:00Z"), format!("{month}-31T23:59:59Z"));
        let window = [("expand", "true"), ("start_after", &*first), ("start_before", &*last)];
        let path = format!("/v1/calendars/{}/events", self.calendar);
        let listed = self.api.get(path).query(&window).await.expect(200);
        let shown = listed.data().into_iter().map(|event| {
            let text = |field: &str| event[field].as_str().unwrap().to_owned();
            format!("{} {}", &text("startTime")[8..16], text("title"))
        });
        shown.collect()
    }

    /// The address of the calendar.
    pub(crate) fn view(&self, view: &str, zone: &str) -> String {
        format!("{CALENDAR}?view={view}&date=2038-03-01&tz={zone}&cal={}", self.calendar)
    }
}

/// A form with the fields that its page hides.
pub(crate) struct Filled(pub(crate) Vec<(&'static str, String)>);

impl Filled {
    pub(crate) fn of(page: &Seen, hides: &[&'static str], typed: &[(&'static str, &str)]) -> Self {
        let hides = hides.iter().map(|name| (*name, unescaped(&hidden(&page.text, name))));
        Self(hides.chain(typed.iter().map(|(name, value)| (*name, (*value).to_owned()))).collect())
    }

    /// The same form with other values.
    pub(crate) fn but(&self, typed: &[(&'static str, &str)]) -> Self {
        let kept = self.0.iter().filter(|(name, _)| typed.iter().all(|(other, _)| other != name)).cloned();
        Self(kept.chain(typed.iter().map(|(name, value)| (*name, (*value).to_owned()))).collect())
    }

    pub(crate) async fn send(&self, pages: &mut Pages<'_>, path: &str) -> Seen {
        let fields: Vec<_> = self.0.iter().map(|(name, value)| (*name, value.as_str())).collect();
        pages.send(path, &fields).await
    }
}

/// A text as a browser reads it.
fn unescaped(text: &str) -> String {
    let escapes = [("&#34;", "\""), ("&#39;", "'"), ("&#60;", "<"), ("&#62;", ">"), ("&#38;", "&")];
    escapes.iter().fold(text.to_owned(), |text, (escape, sign)| text.replace(escape, sign))
}

/// The identifier of the event to whose page an answer leads.
pub(crate) fn event_of(answer: &Seen) -> String {
    let path = answer.location.split('?').next().unwrap();
    path.strip_prefix(&format!("{EVENTS}/")).unwrap_or_else(|| panic!("{} {}", answer.status, answer.text)).to_owned()
}

/// The form that creates an event, with what most tests type.
pub(crate) async fn new_event(it: &Desk, pages: &mut Pages<'_>) -> Filled {
    let page = pages.open(&format!("{CALENDAR}/new?cal={}&tz={ZONE}&start=2038-03-01T09:00", it.calendar)).await;
    let page = page.says(200, "value=\"2038-03-01T10:00\"");
    let typed = [
        ("calendar", &*it.calendar),
        ("title", "Planning"),
        ("start_time", "2038-03-01T09:00"),
        ("end_time", "2038-03-01T10:00"),
        ("status", "confirmed"),
        ("if_free", "allow"),
        ("location", "Room 2"),
        ("conference_url", "https://meet.example.com/planning"),
        ("description", "One\r\nTwo"),
    ];
    Filled::of(&page, &["org", "once", "tz"], &typed)
}
