//! The booking page as browsers receive it: HTML over plain HTTP.

use crate::on_both;
use chrono::TimeDelta;
use kalends_e2e::{Client, Database, Server, at, plain_http, shifted};
use reqwest::header::HeaderMap;
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    fixtures::{agent_with_calendar, event},
    pages::hidden,
};

/// A browser's `Accept` header.
const HTML: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
/// The most bytes that a page and its files may take on the wire.
const TRANSFERRED_MAX: usize = 30_000;
/// The headers of every page.
const HEADERS: [(&str, &str); 8] = [
    ("content-type", "text/html; charset=utf-8"),
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    ("cache-control", "private, no-store"),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
    ("x-robots-tag", "noindex, nofollow"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=()"),
    ("cross-origin-opener-policy", "same-origin"),
];

/// A service with a booking page, and a visitor.
pub(crate) struct Place {
    pub(crate) server: Server,
    pub(crate) api: Client,
    pub(crate) calendar: String,
    pub(crate) id: String,
    /// `/book/…`
    pub(crate) page: String,
    http: reqwest::Client,
}

/// An answer that a visitor received.
pub(crate) struct Seen {
    status: u16,
    headers: HeaderMap,
    bytes: Vec<u8>,
}

impl Place {
    /// A place with a page that has these fields. The defaults are one-hour slots and a window of a week.
    pub(crate) async fn open(database: Database, fields: Value) -> Self {
        Self::of(Server::start(database).await, "pro", &[], fields).await
    }

    async fn of(server: Server, plan: &str, arguments: &[&str], fields: Value) -> Self {
        let org = server.org_with(plan, arguments).await;
        let api = server.api(&org);
        let calendar = agent_with_calendar(&api).await.1;
        let mut body = json!({ "calendar_id": calendar, "title": "Intro", "duration_minutes": 60, "window_days": 7 });
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let made = api.post("/v1/booking-pages").json(body).await.expect(201);
        let page = format!("/book/{}", made["slug"].as_str().unwrap());
        // The client does not decode answers.
        let http = plain_http().redirect(reqwest::redirect::Policy::none());
        let http = http.gzip(false).zstd(false);
        Self { server, api, calendar, id: made.id(), page, http: http.build().unwrap() }
    }

    /// The starts of the free slots.
    pub(crate) async fn slots(&self) -> Vec<String> {
        let listed = self.server.anonymous().get(format!("{}/slots", self.page)).await.expect(200);
        listed["slots"].as_array().unwrap().iter().map(|slot| slot["start"].as_str().unwrap().to_owned()).collect()
    }

    /// Books a slot as a program would, and returns the answer.
    pub(crate) async fn book(&self, start: &str) -> Value {
        let body = json!({ "name": "Eve", "email": "eve@example.com", "start": start });
        self.server.anonymous().post(&self.page).json(body).await.expect(201).json
    }

    /// The path of one of the service's URLs.
    pub(crate) fn path<'a>(&self, url: &'a Value) -> &'a str {
        url.as_str().unwrap().strip_prefix(self.server.base_url()).unwrap()
    }

    /// The events of the calendar.
    pub(crate) async fn events(&self) -> Vec<Value> {
        self.api.get(format!("/v1/calendars/{}/events?limit=200", self.calendar)).await.expect(200).data()
    }

    /// Opens a page as a browser does.
    async fn get(&self, path: &str) -> Seen {
        self.ask(path, HTML, "en-GB,en;q=0.9").await
    }

    async fn ask(&self, path: &str, accept: &str, language: &str) -> Seen {
        let url = format!("{}{path}", self.server.base_url());
        Seen::of(self.http.get(url).header("accept", accept).header("accept-language", language)).await
    }

    /// Submits a form as a browser does.
    async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Seen {
        let url = format!("{}{path}", self.server.base_url());
        Seen::of(self.http.post(url).header("accept", HTML).header("origin", "null").form(fields)).await
    }

    async fn submit(&self, start: &str) -> Seen {
        self.post(&self.page, &form(start)).await
    }
}

impl Seen {
    async fn of(request: reqwest::RequestBuilder) -> Self {
        let answer = request.send().await.unwrap();
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        Self { status, headers, bytes: answer.bytes().await.unwrap().to_vec() }
    }

    /// Requires a page with this status and heading, and the headers of every page.
    #[track_caller]
    fn page(self, status: u16, heading: &str) -> Self {
        let text = self.text();
        assert_eq!(self.status, status, "{:#?}\n{text}", self.headers);
        assert!(text.starts_with("<!doctype html>") && text.trim_end().ends_with("</html>"), "{text}");
        assert!(text.contains(&format!("<h1>{heading}</h1>")), "{heading}: {text}");
        for (name, value) in HEADERS {
            assert_eq!(self.header(name), value, "{name}: {:#?}", self.headers);
        }
        assert!(self.header("x-request-id").starts_with("req_"), "{:#?}", self.headers);
        // The policy forbids inline styles and scripts, so the page must not need any.
        assert!(!text.contains("<style") && !text.contains(" style=") && !text.contains(" onclick="), "{text}");
        self
    }

    /// Requires the JSON error envelope.
    #[track_caller]
    fn envelope(self, status: u16, kind: &str) {
        let json: Value = serde_json::from_slice(&self.bytes).unwrap_or_default();
        assert_eq!((self.status, &json["error"]["type"]), (status, &json!(kind)), "{}", self.text());
    }

    #[track_caller]
    fn has_parts(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.text().contains(part), "{part}: {}", self.text());
        }
        self
    }

    #[track_caller]
    fn lacks(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(!self.text().contains(part), "{part}: {}", self.text());
        }
        self
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The values of an attribute, in the order of the page.
    fn values(&self, attribute: &str) -> Vec<String> {
        let (text, mark) = (self.text(), format!(" {attribute}=\""));
        let values = text.split(&mark).skip(1).map(|rest| rest.split('"').next().unwrap());
        values.map(|value| value.replace("&#38;", "&")).collect()
    }

    /// The path of the link that has this ending.
    #[track_caller]
    fn link(&self, end: &str) -> String {
        let link = self.values("href").into_iter().find(|href| href.ends_with(end));
        let link = link.unwrap_or_else(|| panic!("no link {end} in {}", self.text()));
        link[link.find("/book/").unwrap()..].to_owned()
    }
}

fn form(start: &str) -> [(&str, &str); 5] {
    let notes = "Line one\r\nline two";
    [("start", start), ("name", "Ada Lovelace"), ("email", "Ada@Example.com"), ("notes", notes), ("tz", "Asia/Tokyo")]
}

/// Repeats a request until it is rate-limited. Returns the earlier statuses and the refusal.
async fn until_refused(ask: impl AsyncFn() -> Seen) -> (Vec<u16>, Seen) {
    let (mut before, mut answer) = (Vec::new(), ask().await);
    while answer.status != 429 && before.len() < 20 {
        before.push(answer.status);
        answer = ask().await;
    }
    (before, answer)
}

#[apply(on_both)]
#[tokio::test]
async fn a_browser_gets_the_page(#[case] database: Database) {
    let place = Place::open(database, json!({ "description": "What we talk about" })).await;
    let page = place.get(&place.page).await.page(200, "Intro").has_parts(&["What we talk about", "1 hour", "<table"]);
    let first = &place.slots().await[0];
    assert!(page.values("datetime").contains(first), "{}", page.text());
    // Its files may be cached for good, and together they are small.
    let links = [page.values("href"), page.values("src")].concat();
    let file = |end: &str| links.iter().find(|link| link.starts_with("/book/assets/") && link.ends_with(end)).unwrap();
    let files = [(file(".css"), "text/css"), (file(".js"), "text/javascript"), (file(".svg"), "image/svg+xml")];
    for (file, kind) in files {
        let sent = place.ask(file, "*/*", "de").await;
        assert_eq!((sent.status, sent.header("x-content-type-options")), (200, "nosniff"), "{file}");
        assert_eq!(sent.header("cache-control"), "public, max-age=31536000, immutable", "{file}");
        assert_eq!(sent.header("cross-origin-resource-policy"), "same-origin", "{file}");
        assert!(sent.header("content-type").starts_with(kind), "{file}: {:#?}", sent.headers);
    }
    for coding in ["gzip", "zstd"] {
        let mut transferred = 0;
        for path in files.iter().map(|(file, _)| *file).chain([&place.page]) {
            let url = format!("{}{path}", place.server.base_url());
            let sent = Seen::of(place.http.get(url).header("accept", HTML).header("accept-encoding", coding)).await;
            // Tiny files are not compressed.
            assert!(sent.header("content-encoding") == coding || sent.bytes.len() < 1_000, "{path}: {coding}");
            transferred += sent.bytes.len();
        }
        assert!(transferred < TRANSFERRED_MAX, "{transferred} bytes with {coding}");
    }
    place.get("/book/assets/booking-000000000000.css").await.page(404, "There is no booking page here");
    place.ask("/book/assets/booking.css", "*/*", "de").await.envelope(404, "not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn the_address_selects_day_and_zone(#[case] database: Database) {
    let place = Place::open(database, json!({ "window_days": 40, "timezone": "Europe/Berlin" })).await;
    let (page, slots) = (&place.page, place.slots().await);
    let slot = &slots[40];
    // A day on Nepal's clocks has the slots of that zone's day.
    let of_nepal = |slot: &str| at(slot) + TimeDelta::minutes(345);
    let nepal = of_nepal(slot);
    let (date, zone) = (nepal.format("%F").to_string(), "Asia/Kathmandu");
    let address = format!("{page}?day={date}&tz={zone}");
    let picker = place.get(&address).await.page(200, "Intro");
    let picker = picker.has_parts(&[&format!(">{}</time>", nepal.format("%H:%M")), "data-zone=\"Asia/Kathmandu\""]);
    let mut times = picker.values("datetime");
    times.retain(|time| time.len() > date.len());
    let of_day: Vec<_> = slots.iter().filter(|slot| of_nepal(slot).format("%F").to_string() == date).collect();
    assert_eq!(times.iter().collect::<Vec<_>>(), of_day);
    // The clock format follows the browser's language.
    let twelve = nepal.format("%-I:%M\u{202f}%p").to_string();
    place.ask(&address, HTML, "en-US,en;q=0.9").await.page(200, "Intro").has_parts(&[&format!(">{twelve}</time>")]);
    let next = at(&slots[slots.len() - 1]).format("%Y-%m").to_string();
    let label = at(&format!("{next}-01T00:00:00Z")).format("%B %Y").to_string();
    let month =
        place.get(&format!("{page}?month={next}")).await.page(200, "Intro").has_parts(&[&format!(">{label}</h2>")]);
    assert!(month.values("href").iter().any(|link| link.contains(&format!("?day={next}-"))), "{}", month.text());
    // Invalid parameters are ignored.
    let plain = place.get(page).await.page(200, "Intro").text();
    for query in ["month=2026-13", "day=yesterday", "tz=Mars/Olympus", "month=&day=&tz=", "utm_source=x", "tz=%00%ff"] {
        assert_eq!(place.get(&format!("{page}?{query}")).await.page(200, "Intro").text(), plain, "{query}");
    }

    let chosen = place.get(&format!("{page}?slot={slot}&tz={zone}")).await.page(200, "Intro");
    let chosen = chosen.has_parts(&["name=\"email\"", "name=\"website\"", &format!("name=\"start\" value=\"{slot}\"")]);
    chosen.has_parts(&[&nepal.format("%H:%M").to_string(), "Asia/Kathmandu (UTC+5:45)"]);
    for never in ["soon", "", "2026-03-05", &shifted(slot, 7), &shifted(slot, -60 * 24 * 30)] {
        let answer = place.get(&format!("{page}?slot={never}")).await.page(400, "This time cannot be booked");
        assert!(answer.values("href").contains(page), "{never} has no way back: {}", answer.text());
    }
    event(&place.api, &place.calendar, slot, &shifted(slot, 60)).await;
    let taken = place.get(&format!("{page}?slot={slot}&tz={zone}")).await.page(409, "This time was just taken");
    let offers: Vec<_> = taken.values("href").into_iter().filter(|link| link.contains("?slot=")).collect();
    assert_eq!(offers.len(), 3, "{}", taken.text());
    assert!(offers.contains(&format!("{page}?slot={}&tz={zone}", slots[41])), "{offers:?}");
}

#[apply(on_both)]
#[tokio::test]
async fn a_submitted_form_books_the_slot(#[case] database: Database) {
    let place = Place::open(database, json!({})).await;
    let slots = place.slots().await;
    let tokyo = at(&slots[30]) + TimeDelta::hours(9);
    let booked = place.submit(&slots[30]).await.page(201, "You are booked");
    let booked = booked.has_parts(&["ada@example.com", &tokyo.format("%H:%M").to_string(), "Asia/Tokyo (UTC+9)"]);
    let events = place.events().await;
    assert_eq!((events.len(), &events[0]["startTime"]), (1, &json!(slots[30])));
    let guest = json!({ "booking": {
        "name": "Ada Lovelace", "email": "ada@example.com", "notes": "Line one\nline two", "booking_page_id": place.id
    } });
    assert_eq!((&events[0]["title"], &events[0]["metadata"]), (&json!("Intro: Ada Lovelace"), &guest));
    let mails = place.server.wait_for_mails(1).await;
    assert_eq!((mails[0].to.as_str(), mails[0].subject.as_str()), ("ada@example.com", "Your booking is confirmed"));
    let (cancel, reschedule) = (booked.link("/cancel"), booked.link("/move"));
    assert!(mails[0].text.contains(&cancel) && mails[0].text.contains(&reschedule), "{}", mails[0].text);
    place.get(&cancel).await.page(200, "Cancel this booking?");
    place.get(&reschedule).await.page(200, "Intro");
    // The next visitor is offered other slots and need not fill in the form again.
    let second = place.submit(&slots[30]).await.page(409, "This time was just taken").has_parts(&["Ada Lovelace"]);
    let starts: Vec<_> = second.values("value").into_iter().filter(|value| slots.contains(value)).collect();
    assert_eq!(starts, [slots[29].as_str(), &slots[31], &slots[28]], "the nearest first");
    place.submit(&starts[0]).await.page(201, "You are booked");
    assert_eq!(place.events().await.len(), 2);
    // Programs still get JSON.
    let program = place.book(&slots[40]).await;
    place.get(place.path(&program["cancel_url"])).await.page(200, "Cancel this booking?").has_parts(&["Eve"]);
    place.get(place.path(&program["reschedule_url"])).await.page(200, "Intro");
    let body = json!({ "name": "Eve", "email": "eve@example.com", "start": slots[40] });
    let again = place.server.anonymous().post(&place.page).header("accept", HTML).json(body).await;
    again.refused(409, "conflict").code("slot_taken");
}

#[apply(on_both)]
#[tokio::test]
async fn a_refused_form_shows_its_errors(#[case] database: Database) {
    let place = Place::open(database, json!({})).await;
    let slot = place.slots().await[9].clone();
    let long = "x".repeat(2_001);
    let wrong = [
        ("name", "", "name"),
        ("name", &long[..201], "name"),
        ("email", "", "email"),
        ("email", "ada", "email"),
        ("email", "ada@example.com\r\nBcc: eve@example.com", "email"),
        ("email", "ada@example.com\nBcc: eve@example.com", "email"),
        ("notes", &long[..], "notes"),
    ];
    for (field, value, at_fault) in wrong {
        let fields = form(&slot).map(|(name, kept)| if name == field { (name, value) } else { (name, kept) });
        let answer = place.post(&place.page, &fields).await.page(400, "Intro");
        let answer = answer.has_parts(&["Nothing is booked yet.", &format!("id=\"{at_fault}-problem\"")]);
        assert_eq!(answer.text().matches("class=\"problem\"").count(), 1, "{}", answer.text());
        let kept = ["value=\"Ada Lovelace\"", "value=\"Ada@Example.com\"", "\nLine one\nline two</textarea>"];
        for (name, kept) in ["name", "email", "notes"].iter().zip(kept) {
            assert!(*name == field || answer.text().contains(kept), "{kept}: {}", answer.text());
        }
        assert!(answer.values("value").contains(&slot), "the slot is kept");
    }
    let nothing = place.post(&place.page, &[("start", &slot)]).await.page(400, "Intro");
    nothing.has_parts(&["id=\"name-problem\"", "id=\"email-problem\""]);
    for start in ["", "tomorrow", &shifted(&slot, 1), "2031-03-03T09:00:00Z"] {
        place.submit(start).await.page(400, "This time cannot be booked");
    }
    place.post(&place.page, &[]).await.page(400, "This time cannot be booked");
    // A robot fills in the field that people cannot see.
    let robot = [&form(&slot)[..], &[("website", "https://spam.example")]].concat();
    let answer = place.post(&place.page, &robot).await;
    assert!((200..500).contains(&answer.status) && answer.status != 201, "{}", answer.text());
    assert_eq!((place.events().await.len(), place.server.mails().len()), (0, 0));
    assert!(place.slots().await.contains(&slot));
    place.post(&place.page, &[&form(&slot)[..], &[("website", "")]].concat()).await.page(201, "You are booked");
}

#[apply(on_both)]
#[tokio::test]
async fn missing_and_closed_pages_say_so(#[case] database: Database) {
    let server = Server::start(database).await;
    let place = Place::of(server, "custom", &["--limits", r#"{"events":1}"#], json!({})).await;
    let slots = place.slots().await;
    let booked = place.submit(&slots[9]).await.page(201, "You are booked");
    let closed = place.submit(&slots[10]).await.page(429, "Booking is closed for now").lacks(&["quota", "plan "]);
    assert!(closed.header("retry-after").parse::<u64>().unwrap() > 0, "{:#?}", closed.headers);
    // The visitor does not get a form that would be refused.
    for path in [place.page.clone(), format!("{}?slot={}", place.page, slots[10])] {
        place.get(&path).await.page(200, "Booking is closed for now").lacks(&["<form", "slot="]);
    }
    let guide = place.ask(&place.page, "text/markdown", "de").await;
    assert!(guide.status == 200 && guide.text().contains("Booking is closed for now"), "{}", guide.text());

    let page = format!("/v1/booking-pages/{}", place.id);
    let gone = "There is no booking page here";
    let absent = async |path: &str| {
        place.get(path).await.page(404, gone);
        place.ask(path, "*/*", "de").await.envelope(404, "not_found");
        place.ask(path, "application/json", "de").await.envelope(404, "not_found");
        place.post(path, &form(&slots[10])).await.page(404, gone);
    };
    absent("/book/nobody-s").await;
    place.api.patch(&page).json(json!({ "active": false })).await.expect(200);
    absent(&place.page).await;
    place.get(&format!("{}?slot={}", place.page, slots[10])).await.page(404, gone);
    place.get(&booked.link("/move")).await.page(404, "This booking cannot be moved");
    place.api.patch(&page).json(json!({ "active": true })).await.expect(200);
    place.get(&place.page).await.page(200, "Booking is closed for now");
    place.api.delete(&page).await.expect(204);
    absent(&place.page).await;
    // An existing booking can still be cancelled. Its page no longer links back to the booking page.
    let cancel = booked.link("/cancel");
    place.get(&cancel).await.page(200, "Cancel this booking?");
    let cancelled = place.post(&cancel, &[]).await.page(200, "Your booking is cancelled");
    assert!(!cancelled.values("href").contains(&place.page), "{}", cancelled.text());
}

#[apply(on_both)]
#[tokio::test]
async fn a_rate_limited_browser_gets_a_page(#[case] database: Database) {
    let limits = [("KALENDS_IP_LIMITS", "booking_page=6,booking=2")];
    let place = Place::of(Server::start_with(database, &limits).await, "pro", &[], json!({})).await;
    let check_refusal = |answer: Seen, per_minute: u64| {
        let answer = answer.page(429, "One moment, please").has_parts(&["Nothing has changed."]);
        let after: u64 = answer.header("retry-after").parse().unwrap();
        assert!((1..=60 / per_minute).contains(&after), "{:#?}", answer.headers);
        assert!(answer.values("href").contains(&place.page), "{}", answer.text());
    };
    // Reads and submissions are limited separately. An address may send one more read after 10 seconds and one more
    // submission after 30.
    let (submitted, refused) = until_refused(async || place.submit("2031-03-03T09:00:00Z").await).await;
    assert!(submitted.len() >= 2 && submitted.iter().all(|status| *status == 400), "{submitted:?}");
    check_refusal(refused, 2);
    let (read, refused) = until_refused(async || place.get(&place.page).await).await;
    assert!(read.len() >= 6 && read.iter().all(|status| *status == 200), "{read:?}");
    check_refusal(refused, 6);
    let program = until_refused(async || place.ask(&place.page, "*/*", "de").await).await.1;
    program.envelope(429, "rate_limit_error");
}

#[apply(on_both)]
#[tokio::test]
async fn user_input_is_escaped(#[case] database: Database) {
    let evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)> # [x](javascript:alert(1))";
    let place = Place::open(database, json!({ "title": evil, "description": evil })).await;
    let slot = place.slots().await[9].clone();
    let elements = ["<script>", "<img", "\"'>"];
    let page = place.get(&place.page).await;
    let heading = page.text().split("<h1>").nth(1).unwrap().split("</h1>").next().unwrap().to_owned();
    assert!(heading.starts_with("&#60;script&#62;alert(1)"), "{heading}");
    page.page(200, &heading).lacks(&elements);
    let markdown = place.ask(&place.page, "text/markdown", "de").await;
    assert_eq!(markdown.header("content-type"), "text/markdown; charset=utf-8");
    assert_eq!((markdown.status, markdown.header("cache-control")), (200, "private, no-store"));
    let address = format!("POST {}{}\n", place.server.base_url(), place.page);
    let markdown = markdown.has_parts(&["# \\<script\\>", &slot, &address]).lacks(&["](javascript"]);
    assert!(!markdown.text().replace("\\<", "").contains('<'), "{}", markdown.text());

    let evils = [("name", evil), ("notes", evil), ("start", &slot)];
    let with = |email| [&evils[..], &[("email", email)]].concat();
    place.post(&place.page, &with("<b>\"'>")).await.page(400, &heading).lacks(&elements).lacks(&["<b>"]);
    let booked = place.post(&place.page, &with("a@example.com")).await.page(201, "You are booked").lacks(&elements);
    place.post(&place.page, &with("a@example.com")).await.page(409, "This time was just taken").lacks(&elements);
    place.get(&booked.link("/cancel")).await.page(200, "Cancel this booking?").lacks(&elements);
    place.get(&booked.link("/move")).await.page(200, &heading).lacks(&elements);
}

#[apply(on_both)]
#[tokio::test]
async fn a_guest_moves_and_cancels(#[case] database: Database) {
    let mut place = Place::open(database, json!({})).await;
    let slots = place.slots().await;
    let booked = place.submit(&slots[9]).await.page(201, "You are booked");
    let (cancel, reschedule) = (booked.link("/cancel"), booked.link("/move"));
    let swapped = [cancel.replace("/cancel", "/move"), reschedule.replace("/move", "/cancel")];
    for path in swapped.iter().chain([&format!("{}/bookings/nobody-s/cancel", place.page)]) {
        place.get(path).await.page(404, "This link does not lead to a booking");
        place.post(path, &[("start", &slots[20])]).await.page(404, "This link does not lead to a booking");
    }
    // Opening a link changes nothing, because mail scanners open links too.
    let picker =
        place.get(&reschedule).await.page(200, "Intro").has_parts(&["Until you confirm it, this one stays booked"]);
    assert!(picker.values("href").iter().any(|link| link.starts_with(&format!("{reschedule}?slot="))));
    let confirm = format!("{reschedule}?slot={}", slots[20]);
    place
        .get(&confirm)
        .await
        .page(200, "Move your booking to this time?")
        .has_parts(&[&format!("action=\"{reschedule}\"")]);
    place.get(&format!("{reschedule}?slot=soon")).await.page(400, "This time cannot be booked");
    assert_eq!(place.events().await[0]["startTime"], slots[9]);

    place.book(&slots[21]).await;
    let taken = place.post(&reschedule, &[("start", &slots[21])]).await.page(409, "This time was just taken");
    assert!(
        taken.has_parts(&["Your booking has not been moved"]).values("href").iter().any(|href| href.contains("?slot="))
    );
    for never in ["soon", &shifted(&slots[20], 1)] {
        place.post(&reschedule, &[("start", never)]).await.page(400, "This time cannot be booked");
    }
    let moved = place.post(&reschedule, &[("start", &slots[20]), ("tz", "Asia/Tokyo")]).await;
    let moved =
        moved.page(200, "Your booking has been moved").has_parts(&["Asia/Tokyo", "It no longer takes place on"]);
    assert_eq!((moved.link("/cancel"), moved.link("/move")), (cancel.clone(), reschedule.clone()));
    assert_eq!(place.events().await[0]["startTime"], slots[20]);

    place.get(&cancel).await.page(200, "Cancel this booking?").has_parts(&["Ada Lovelace"]);
    place.post(&cancel, &[]).await.page(200, "Your booking is cancelled");
    assert_eq!(place.events().await.len(), 1);
    place.post(&cancel, &[]).await.page(200, "This booking was already cancelled");
    place.get(&reschedule).await.page(200, "This booking was already cancelled");
    assert_eq!(place.server.wait_for_mails(4).await[3].subject, "Your booking is cancelled");
    // A booking that has begun cannot be changed.
    let begun = place.submit(&place.slots().await[0]).await.page(201, "You are booked");
    place.server.restart_at_offset(2 * 3_600).await;
    for path in [begun.link("/cancel"), begun.link("/move")] {
        place.get(&path).await.page(200, "This booking can no longer be changed");
        place.post(&path, &[("start", &slots[30])]).await.page(200, "This booking can no longer be changed");
    }
}

/// A browser that loads the page of a booking again sends its form again.
#[apply(on_both)]
#[tokio::test]
async fn a_form_that_is_sent_again_books_once(#[case] database: Database) {
    let place = Place::open(database, json!({})).await;
    let slots = place.slots().await;
    let asked = place.get(&format!("{}?slot={}", place.page, slots[5])).await.page(200, "Intro");
    let once = hidden(&asked.text(), "once");
    assert_ne!(once, hidden(&place.get(&format!("{}?slot={}", place.page, slots[5])).await.text(), "once"));
    let filled = [&form(&slots[5])[..], &[("once", &*once)]].concat();
    let booked = place.post(&place.page, &filled).await.page(201, "You are booked");
    let again = place.post(&place.page, &filled).await.page(201, "You are booked");
    assert_eq!(again.link("/cancel"), booked.link("/cancel"));
    assert_eq!(place.events().await.len(), 1);
    // Not even when the booking is cancelled.
    place.post(&booked.link("/cancel"), &[]).await.page(200, "Your booking is cancelled");
    place.post(&place.page, &filled).await.page(201, "You are booked");
    assert_eq!(place.events().await.len(), 0);
    // Somebody goes back and books for somebody else.
    let changed =
        [&[("name", "Grace")][..], &form(&slots[5])[..1], &form(&slots[5])[2..], &[("once", &*once)]].concat();
    let other = place.post(&place.page, &changed).await.page(201, "You are booked");
    assert_ne!(other.link("/cancel"), booked.link("/cancel"));
    assert_eq!(place.events().await.len(), 1);
    place.post(&place.page, &changed).await.page(409, "This time was just taken");
}
