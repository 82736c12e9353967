//! A host with booking pages, and guests who book on them.

use std::collections::BTreeMap;

use futures::future::join_all;
use kalends_e2e::{Answer, Client, Database, Mail, Server, plain_http, shifted};
use mail_parser::{MessageParser, PartType};
use serde_json::{Value, json};

use crate::{claims::text, fixtures::agent_with_calendar};

pub(crate) const PAGES: &str = "/v1/booking-pages";
pub(crate) const NAME: &str = "Ada Lovelace";
pub(crate) const EMAIL: &str = "ada@example.com";
/// The organization's own address.
pub(crate) const OWN: &str = "office@desk.example";
/// The guest whose mail shows that nothing was sent before it.
pub(crate) const LAST: &str = "last@example.com";
pub(crate) const HOST: &str = "Grace Hopper";
pub(crate) const PLACE: &str = "Room 2, Berlin";
pub(crate) const CALL: &str = "https://meet.example.com/intro";
/// A browser's `Accept` header.
pub(crate) const HTML: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
/// Text that would be markup if it were not escaped.
pub(crate) const EVIL: &str = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>";

/// A host with a calendar in UTC, and a guest with a browser.
pub(crate) struct Desk {
    pub(crate) server: Server,
    pub(crate) api: Client,
    pub(crate) guest: Client,
    pub(crate) calendar: String,
    pub(crate) browser: reqwest::Client,
    /// The number of mails that were looked at.
    pub(crate) seen: usize,
}

/// A booking page.
pub(crate) struct Open {
    pub(crate) id: String,
    /// `/v1/booking-pages/…`
    pub(crate) path: String,
    /// `/book/…`
    pub(crate) book: String,
}

/// A booking, as its guest knows it.
pub(crate) struct Booked {
    /// `evt_…`
    pub(crate) event: String,
    /// The path that cancels it.
    pub(crate) cancel: String,
    /// The path that moves it.
    pub(crate) reschedule: String,
    /// The path of its file.
    pub(crate) file: String,
}

/// A page as a browser receives it.
pub(crate) struct Seen {
    pub(crate) status: u16,
    pub(crate) policy: String,
    pub(crate) cache: String,
    pub(crate) text: String,
}

impl Desk {
    /// A host whose mail is not limited.
    pub(crate) async fn new(database: Database) -> Self {
        Self::with(database, &[("KALENDS_MAIL_LIMITS", "off")]).await
    }

    pub(crate) async fn with(database: Database, variables: &[(&str, &str)]) -> Self {
        let server = Server::start_with(database, variables).await;
        let api = server.api(&server.org_with("pro", &["--email", OWN]).await);
        let calendar = agent_with_calendar(&api).await.1;
        Self::of(server, api, calendar)
    }

    pub(crate) fn of(server: Server, api: Client, calendar: String) -> Self {
        let browser = plain_http().redirect(reqwest::redirect::Policy::none());
        let (guest, browser) = (server.anonymous(), browser.build().unwrap());
        Self { server, api, guest, calendar, browser, seen: 0 }
    }

    /// Starts the service again, with its clock moved by `seconds`.
    pub(crate) async fn later(&mut self, seconds: i64) {
        self.server.restart_at_offset(seconds).await;
        self.api = self.api.moved_to(self.server.base_url());
        self.guest = self.server.anonymous();
    }

    /// The body of a new page with these fields. The defaults are one-hour slots and a window of a week.
    pub(crate) fn body(&self, fields: Value) -> Value {
        let body = json!({ "calendar_id": self.calendar, "title": "Intro", "duration_minutes": 60, "window_days": 7 });
        with(body, fields)
    }

    pub(crate) async fn create(&self, fields: Value) -> Answer {
        self.api.post(PAGES).json(self.body(fields)).await
    }

    pub(crate) async fn page(&self, fields: Value) -> Open {
        Open::of(&self.create(fields).await)
    }

    pub(crate) async fn read(&self, page: &Open) -> Answer {
        self.api.get(&page.path).await.expect(200)
    }

    pub(crate) async fn patch(&self, page: &Open, change: Value) -> Answer {
        self.api.patch(&page.path).json(change).await.expect(200)
    }

    /// Requires that the page is still as it was when it was read.
    pub(crate) async fn unchanged(&self, page: &Open, before: &Answer) {
        let after = self.read(page).await;
        assert_eq!((&after.json, after.header("etag")), (&before.json, before.header("etag")));
    }

    /// Requires that neither a new page nor a change takes this value. The error must name `param` or a part of it.
    pub(crate) async fn refuses(&self, page: &Open, field: &str, value: &Value, param: &str) {
        let created = self.create(json!({ field: value })).await;
        let changed = self.api.patch(&page.path).json(json!({ field: value })).await;
        for answer in [created, changed] {
            let answer = answer.refused(400, "validation_error");
            let named = text(&answer.at("/error/param"));
            let fits = named == param || named.starts_with(&format!("{param}["));
            assert!(fits, "{param}: {value} is reported as {named}: {}", answer.describe());
        }
    }

    pub(crate) async fn slots(&self, page: &Open) -> Vec<String> {
        offered(&self.guest, page).await
    }

    /// Whether the page offers this slot now.
    pub(crate) async fn offers(&self, page: &Open, start: &str) -> bool {
        self.slots(page).await.iter().any(|slot| slot == start)
    }

    /// Books with these fields in addition to the usual ones, or instead of them.
    pub(crate) async fn book(&self, page: &Open, start: &str, fields: Value) -> Booked {
        self.booked(&self.guest.post(&page.book).json(booking(start, fields)).await.expect(201))
    }

    pub(crate) fn booked(&self, answer: &Answer) -> Booked {
        Booked {
            event: text(&answer["event"]["id"]),
            cancel: self.path(&answer["cancel_url"]),
            reschedule: self.path(&answer["reschedule_url"]),
            file: self.path(&answer["ics_url"]),
        }
    }

    /// Books as a program does, with these answers to the page's questions. Null sends no answers.
    pub(crate) async fn request(&self, page: &Open, start: &str, answers: Value) -> Answer {
        let mut body = booking(start, json!({}));
        if !answers.is_null() {
            body["answers"] = answers;
        }
        self.guest.post(&page.book).json(body).await
    }

    /// The paths that cancel and that move a booking.
    pub(crate) fn links(&self, booked: &Answer) -> (String, String) {
        (self.path(&booked["cancel_url"]), self.path(&booked["reschedule_url"]))
    }

    /// The path of one of the service's URLs.
    #[track_caller]
    pub(crate) fn path(&self, url: &Value) -> String {
        let path = url.as_str().and_then(|url| url.strip_prefix(self.server.base_url()));
        path.unwrap_or_else(|| panic!("not an address of the service: {url}")).to_owned()
    }

    pub(crate) async fn move_to(&self, booked: &Booked, start: &str) -> Answer {
        self.guest.post(&booked.reschedule).json(json!({ "start": start })).await
    }

    /// Cancels a booking as its host.
    pub(crate) async fn cancel(&self, page: &Open, booked: &Booked) -> Answer {
        let id = text(&self.listed(page, booked).await["id"]);
        self.api.post(format!("/v1/bookings/{id}/cancel")).json(json!({})).await
    }

    /// The bookings of a page, as its host sees them.
    pub(crate) async fn host_sees(&self, page: &Open) -> Vec<Value> {
        let listed = self.api.get(format!("{}/bookings?limit=200", page.path)).await.expect(200);
        assert_eq!(listed["total"], listed.data().len(), "{}", listed.describe());
        listed.data()
    }

    /// The only booking with this event, as its host sees it.
    pub(crate) async fn listed(&self, page: &Open, booked: &Booked) -> Value {
        let mut found = self.host_sees(page).await;
        found.retain(|one| one["event_id"] == booked.event);
        assert_eq!(found.len(), 1, "{found:#?}");
        found.remove(0)
    }

    pub(crate) async fn event_of(&self, id: &str) -> Answer {
        self.api.get(format!("/v1/events/{id}")).await
    }

    /// The host's event of a booking.
    pub(crate) async fn event(&self, booked: &Answer) -> Value {
        self.event_of(&text(&booked["event"]["id"])).await.expect(200).json
    }

    /// The number of events on the calendar.
    pub(crate) async fn events(&self) -> Value {
        self.api.get(format!("/v1/calendars/{}/events", self.calendar)).await.expect(200)["total"].clone()
    }

    /// Guests on this many nodes. The nodes end with the first part of the answer.
    pub(crate) async fn guests_on(&self, nodes: usize) -> (Vec<Server>, Vec<Client>) {
        let others = join_all((1..nodes).map(|_| self.server.another_node())).await;
        let guests = std::iter::once(self.guest.clone()).chain(others.iter().map(Server::anonymous)).collect();
        (others, guests)
    }

    /// The next mails, by recipient. There must be no more of them.
    pub(crate) async fn mails(&mut self, count: usize) -> Vec<Mail> {
        let mut mails = self.server.wait_for_mails(self.seen + count).await.split_off(self.seen);
        assert_eq!(mails.len(), count, "{mails:#?}");
        self.seen += count;
        mails.sort_by_key(|mail| mail.to.clone());
        mails
    }

    /// Requires that nothing else was mailed. Another guest books, and that must be the next mail.
    pub(crate) async fn nothing_more(&mut self) {
        let page = self.page(json!({})).await;
        let start = self.slots(&page).await.pop().unwrap();
        self.book(&page, &start, json!({ "email": LAST })).await;
        assert_eq!(recipients(&self.mails(1).await), [LAST]);
    }

    /// Opens a page as a browser does.
    pub(crate) async fn see(&self, path: &str) -> Seen {
        Seen::of(self.browser.get(format!("{}{path}", self.server.base_url()))).await
    }

    /// Submits a form as a browser does.
    pub(crate) async fn submit(&self, path: &str, fields: &[(&str, &str)]) -> Seen {
        let url = format!("{}{path}", self.server.base_url());
        Seen::of(self.browser.post(url).header("origin", "null").form(fields)).await
    }
}

impl Open {
    #[track_caller]
    pub(crate) fn of(made: &Answer) -> Self {
        assert_eq!(made.status, 201, "{}", made.describe());
        Self {
            id: made.id(),
            path: format!("{PAGES}/{}", made.id()),
            book: format!("/book/{}", made["slug"].as_str().unwrap()),
        }
    }
}

impl Seen {
    async fn of(request: reqwest::RequestBuilder) -> Self {
        let answer = request.header("accept", HTML).header("accept-language", "en-GB,en;q=0.9").send().await.unwrap();
        let header = |name: &str| answer.headers().get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
        let (policy, cache, kind) =
            (header("content-security-policy"), header("cache-control"), header("content-type"));
        let status = answer.status().as_u16();
        let text = answer.text().await.unwrap();
        assert!(kind.starts_with("text/html"), "{status} {kind}: {text}");
        Self { status, policy, cache, text }
    }

    #[track_caller]
    pub(crate) fn with(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// The page with its escaped characters restored.
    pub(crate) fn plain(&self) -> String {
        unescaped(&self.text)
    }

    #[track_caller]
    pub(crate) fn has(self, parts: &[&str]) -> Self {
        let plain = self.plain();
        for part in parts {
            assert!(plain.contains(part), "{part}: {plain}");
        }
        self
    }

    #[track_caller]
    pub(crate) fn lacks(self, parts: &[&str]) -> Self {
        let plain = self.plain();
        for part in parts {
            assert!(!plain.contains(part), "{part}: {plain}");
        }
        self
    }

    /// What can be chosen, each with its attributes.
    pub(crate) fn options(&self) -> Vec<&str> {
        self.text.split("<option").skip(1).map(|rest| rest.split('<').next().unwrap()).collect()
    }
}

/// An object with further fields, which replace its own.
#[track_caller]
pub(crate) fn with(mut object: Value, fields: Value) -> Value {
    let Value::Object(fields) = fields else { panic!("not an object: {fields}") };
    object.as_object_mut().unwrap().extend(fields);
    object
}

pub(crate) fn booking(start: &str, fields: Value) -> Value {
    with(json!({ "name": NAME, "email": EMAIL, "start": start }), fields)
}

/// The fields of a form.
pub(crate) fn form<'a>(start: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    [&[("start", start), ("name", NAME), ("email", EMAIL)], more].concat()
}

/// The starts of the slots that a guest is offered.
pub(crate) async fn offered(guest: &Client, page: &Open) -> Vec<String> {
    let listed = guest.get(format!("{}/slots", page.book)).await.expect(200);
    listed["slots"].as_array().unwrap().iter().map(|slot| text(&slot["start"])).collect()
}

/// The number of answers with each status and code.
pub(crate) fn counted(answers: &[Answer]) -> BTreeMap<(u16, String), usize> {
    answers.iter().fold(BTreeMap::new(), |mut counts, answer| {
        let code = answer.at("/error/code").as_str().unwrap_or_default().to_owned();
        *counts.entry((answer.status, code)).or_default() += 1;
        counts
    })
}

pub(crate) fn recipients(mails: &[Mail]) -> Vec<&str> {
    mails.iter().map(|mail| mail.to.as_str()).collect()
}

/// The end of a slot of one hour.
pub(crate) fn end(start: &str) -> String {
    shifted(start, 60)
}

/// The value of a property in the calendar part of a mail.
#[track_caller]
pub(crate) fn value(mail: &Mail, name: &str) -> String {
    let mut found = mail.invitation.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    found.next().unwrap_or_else(|| panic!("no {name}: {mail:#?}")).to_owned()
}

/// The parts of all mails that are HTML. There may be none.
pub(crate) fn html(server: &Server) -> String {
    let mut html = String::new();
    for file in std::fs::read_dir(server.data_dir().join("mail")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "eml") {
            let bytes = std::fs::read(&path).unwrap();
            let message = MessageParser::new().parse(&bytes).unwrap();
            for part in &message.parts {
                if let PartType::Html(text) = &part.body {
                    html.push_str(text);
                }
            }
        }
    }
    html
}

/// The text without spaces, line ends and the zero-width spaces in what looks like an address.
pub(crate) fn squeezed(text: &str) -> String {
    let zero_width = ['\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{feff}'];
    text.chars().filter(|letter| !letter.is_whitespace() && !zero_width.contains(letter)).collect()
}

/// The text with its escaped characters restored.
pub(crate) fn unescaped(text: &str) -> String {
    let escapes = [("<", "#60 lt"), (">", "#62 gt"), ("\"", "#34 quot"), ("'", "#39 #x27"), ("&", "#38 amp")];
    escapes.iter().fold(text.to_owned(), |text, (character, names)| {
        names.split(' ').fold(text, |text, name| text.replace(&format!("&{name};"), character))
    })
}
