//! A host with booking pages, and guests who book on them.

use kalends_e2e::{Answer, Client, Database, Mail, Server, shifted};
use serde_json::{Value, json};

use crate::{claims::text, fixtures::agent_with_calendar};

pub(crate) const PAGES: &str = "/v1/booking-pages";
pub(crate) const NAME: &str = "Ada Lovelace";
pub(crate) const EMAIL: &str = "ada@example.com";
/// The organization's own address.
pub(crate) const OWN: &str = "office@desk.example";
/// The guest whose mail shows that nothing was sent before it.
const LAST: &str = "last@example.com";
pub(crate) const PLACE: &str = "Room 2, Berlin";
pub(crate) const CALL: &str = "https://meet.example.com/intro";

/// A host with a calendar in UTC, and a guest with a browser.
pub(crate) struct Desk {
    pub(crate) server: Server,
    pub(crate) api: Client,
    pub(crate) guest: Client,
    calendar: String,
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
        let browser = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
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
    fn body(&self, fields: Value) -> Value {
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

    pub(crate) async fn slots(&self, page: &Open) -> Vec<String> {
        let listed = self.guest.get(format!("{}/slots", page.book)).await.expect(200);
        listed["slots"].as_array().unwrap().iter().map(|slot| text(&slot["start"])).collect()
    }

    /// Books with these fields in addition to the usual ones, or instead of them.
    pub(crate) async fn book(&self, page: &Open, start: &str, fields: Value) -> Booked {
        self.booked(&self.guest.post(&page.book).json(booking(start, fields)).await.expect(201))
    }

    fn booked(&self, answer: &Answer) -> Booked {
        Booked {
            event: text(&answer["event"]["id"]),
            cancel: self.path(&answer["cancel_url"]),
            reschedule: self.path(&answer["reschedule_url"]),
            file: self.path(&answer["ics_url"]),
        }
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
        let listed = self.api.get(format!("{}/bookings?limit=200", page.path)).await.expect(200).data();
        let found = listed.iter().find(|one| one["event_id"] == booked.event).unwrap();
        self.api.post(format!("/v1/bookings/{}/cancel", text(&found["id"]))).json(json!({})).await
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

pub(crate) fn recipients(mails: &[Mail]) -> Vec<&str> {
    mails.iter().map(|mail| mail.to.as_str()).collect()
}

/// The end of a slot of one hour.
pub(crate) fn end(start: &str) -> String {
    shifted(start, 60)
}
