//! What a host can set on a booking page, and what its guests see of it: host, place, call, colour, sites that embed
//! it, questions and slug. Written without knowledge of the code.

use crate::on_both;
use std::collections::BTreeMap;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use futures::future::join_all;
use kalends_e2e::{
    Answer, Client,
    Database::{self, Postgres, Sqlite},
    Server, Visitor,
};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::{
    claims::text,
    fixtures::{agent_with_calendar, has_exactly, shared_calendar},
};

const PAGES: &str = "/v1/booking-pages";
/// A browser's `Accept` header.
const HTML: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const HOST: &str = "Grace Hopper";
const PLACE: &str = "Room 2, Berlin";
const CALL: &str = "https://meet.example.com/intro";
const NAME: &str = "Ada Lovelace";
const EMAIL: &str = "ada@example.com";
/// The policy of a page that has no colour and may not be embedded.
const USUAL_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                            connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// What a page can have besides its title and its times.
const DETAILS: [&str; 7] =
    ["slug", "host_name", "location", "conference_url", "accent_color", "embed_origins", "questions"];
/// The details that null clears.
const CLEARABLE: [&str; 4] = ["host_name", "location", "conference_url", "accent_color"];
/// Text that would be markup if it were not escaped.
const EVIL: &str = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>";

/// A host with a calendar in UTC and no limit of mail, and a guest with a browser.
struct Desk {
    server: Server,
    api: Client,
    guest: Client,
    calendar: String,
    browser: reqwest::Client,
}

/// A booking page.
struct Open {
    /// `/v1/booking-pages/…`
    path: String,
    /// `/book/…`
    book: String,
}

/// A page as a browser receives it.
struct Seen {
    status: u16,
    policy: String,
    text: String,
}

impl Desk {
    async fn new(database: Database) -> Self {
        Self::of(database, "pro", &[]).await
    }

    async fn of(database: Database, plan: &str, arguments: &[&str]) -> Self {
        let server = Server::start_with(database, &[("KALENDS_MAIL_LIMITS", "off")]).await;
        let api = server.api(&server.org_with(plan, arguments).await);
        let (guest, calendar) = (server.anonymous(), agent_with_calendar(&api).await.1);
        let browser = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
        Self { server, api, guest, calendar, browser: browser.build().unwrap() }
    }

    /// The body of a new page with these fields. The defaults are one-hour slots and a window of a week.
    fn body(&self, fields: Value) -> Value {
        let mut body =
            json!({ "calendar_id": self.calendar, "title": "Intro", "duration_minutes": 60, "window_days": 7 });
        let Value::Object(fields) = fields else { panic!("not an object: {fields}") };
        body.as_object_mut().unwrap().extend(fields);
        body
    }

    async fn create(&self, fields: Value) -> Answer {
        self.api.post(PAGES).json(self.body(fields)).await
    }

    async fn page(&self, fields: Value) -> Open {
        let made = self.create(fields).await.expect(201);
        Open { path: format!("{PAGES}/{}", made.id()), book: format!("/book/{}", text(&made["slug"])) }
    }

    async fn patch(&self, page: &Open, change: Value) -> Answer {
        self.api.patch(&page.path).json(change).await.expect(200)
    }

    /// Requires that neither a new page nor a change takes this value. The error must name `param` or a part of it.
    async fn refuses(&self, page: &Open, field: &str, value: &Value, param: &str) {
        let created = self.create(json!({ field: value })).await;
        let changed = self.api.patch(&page.path).json(json!({ field: value })).await;
        for answer in [created, changed] {
            let answer = answer.refused(400, "validation_error");
            let named = text(&answer.at("/error/param"));
            let fits = named == param || named.starts_with(&format!("{param}["));
            assert!(fits, "{param}: {value} is reported as {named}: {}", answer.describe());
        }
    }

    async fn slots(&self, page: &Open) -> Vec<String> {
        let listed = self.guest.get(format!("{}/slots", page.book)).await.expect(200);
        listed["slots"].as_array().unwrap().iter().map(|slot| text(&slot["start"])).collect()
    }

    /// Books as a program does. Null sends no answers.
    async fn book(&self, page: &Open, start: &str, answers: Value) -> Answer {
        self.guest.post(&page.book).json(booking(start, answers)).await
    }

    /// The host's event of a booking.
    async fn event(&self, booked: &Answer) -> Value {
        self.api.get(format!("/v1/events/{}", text(&booked["event"]["id"]))).await.expect(200).json
    }

    /// The number of events on the calendar.
    async fn events(&self) -> Value {
        self.api.get(format!("/v1/calendars/{}/events", self.calendar)).await.expect(200)["total"].clone()
    }

    /// The paths that cancel and that move a booking.
    fn links(&self, booked: &Answer) -> (String, String) {
        let path = |url: &Value| text(url).strip_prefix(self.server.base_url()).unwrap().to_owned();
        (path(&booked["cancel_url"]), path(&booked["reschedule_url"]))
    }

    /// Opens a page as a browser does.
    async fn see(&self, path: &str) -> Seen {
        Seen::of(self.browser.get(format!("{}{path}", self.server.base_url()))).await
    }

    /// Submits a form as a browser does.
    async fn submit(&self, path: &str, fields: &[(&str, &str)]) -> Seen {
        let url = format!("{}{path}", self.server.base_url());
        Seen::of(self.browser.post(url).header("origin", "null").form(fields)).await
    }

    async fn markdown(&self, page: &Open) -> String {
        let call = self.guest.undescribed().get(&page.book).header("accept", "text/markdown");
        call.await.expect(200).text()
    }
}

impl Seen {
    async fn of(request: reqwest::RequestBuilder) -> Self {
        let answer = request.header("accept", HTML).header("accept-language", "de-DE,de;q=0.9").send().await.unwrap();
        let header = |name: &str| answer.headers().get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
        let (policy, kind) = (header("content-security-policy"), header("content-type"));
        let status = answer.status().as_u16();
        let text = answer.text().await.unwrap();
        assert!(kind.starts_with("text/html"), "{status} {kind}: {text}");
        Self { status, policy, text }
    }

    #[track_caller]
    fn with(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}", self.text);
        self
    }

    /// The page with its escaped characters restored.
    fn plain(&self) -> String {
        let escapes = [("<", "#60 lt"), (">", "#62 gt"), ("\"", "#34 quot"), ("'", "#39 #x27"), ("&", "#38 amp")];
        escapes.iter().fold(self.text.clone(), |text, (character, names)| {
            names.split(' ').fold(text, |text, name| text.replace(&format!("&{name};"), character))
        })
    }

    #[track_caller]
    fn has(self, parts: &[&str]) -> Self {
        let plain = self.plain();
        for part in parts {
            assert!(plain.contains(part), "{part}: {plain}");
        }
        self
    }

    #[track_caller]
    fn lacks(self, parts: &[&str]) -> Self {
        let plain = self.plain();
        for part in parts {
            assert!(!plain.contains(part), "{part}: {plain}");
        }
        self
    }

    /// The sites that may embed the page.
    fn ancestors(&self) -> &str {
        let mut found = self.policy.split(';').filter_map(|part| part.trim().strip_prefix("frame-ancestors "));
        found.next().unwrap_or("missing")
    }

    /// The start tag of a question's field.
    #[track_caller]
    fn field(&self, id: &str) -> &str {
        let mark = format!(" name=\"answers[{id}]\"");
        let place = self.text.find(&mark).unwrap_or_else(|| panic!("no field{mark}: {}", self.text));
        let begin = self.text[..place].rfind('<').unwrap();
        self.text[begin..].split('>').next().unwrap()
    }

    /// What can be chosen, each with its attributes.
    fn options(&self) -> Vec<&str> {
        self.text.split("<option").skip(1).map(|rest| rest.split('<').next().unwrap()).collect()
    }

    /// The inline styles.
    fn styles(&self) -> Vec<&str> {
        let styles = self.text.split("<style").skip(1);
        styles.map(|rest| rest.split_once('>').unwrap().1.split("</style>").next().unwrap()).collect()
    }

    /// The number of mistakes that are named at their fields.
    fn problems(&self) -> usize {
        self.text.matches("class=\"problem\"").count()
    }
}

/// The body of a booking. Null sends no answers.
fn booking(start: &str, answers: Value) -> Value {
    let mut body = json!({ "name": NAME, "email": EMAIL, "start": start });
    if !answers.is_null() {
        body["answers"] = answers;
    }
    body
}

/// The fields of a form.
fn form<'a>(start: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    [&[("start", start), ("name", NAME), ("email", EMAIL)], more].concat()
}

/// One question of each type. Three of them must be answered.
fn questions() -> Value {
    let question = |id: &str, label: &str, kind: &str, required: bool, options: &[&str]| {
        let options = json!(options);
        json!({ "id": id, "label": label, "type": kind, "required": required, "options": options })
    };
    json!([
        question("topic", "What is it about?", "text", true, &[]),
        question("story", "What has happened?", "textarea", false, &[]),
        question("team", "Whom do you want to meet?", "select", true, &["Sales", "Support"]),
        question("terms", "I accept the terms", "checkbox", true, &[]),
        question("news", "Send me news", "checkbox", false, &[]),
        question("phone", "Where do we call you?", "phone", false, &[]),
    ])
}

/// An answer to each question.
fn answers() -> Value {
    json!({
        "topic": "Engines", "story": "It stopped", "team": "Support", "terms": true, "news": true,
        "phone": "+4930901820"
    })
}

/// The same answers as the fields of a form.
const ANSWERED: [(&str, &str); 6] = [
    ("answers[topic]", "Engines"),
    ("answers[story]", "It stopped"),
    ("answers[team]", "Support"),
    ("answers[terms]", "true"),
    ("answers[news]", "true"),
    ("answers[phone]", "+4930901820"),
];

/// Everything that a page can have.
fn details() -> Value {
    json!({
        "slug": "intro-call", "host_name": HOST, "location": PLACE, "conference_url": CALL, "accent_color": "#0f6457",
        "embed_origins": ["https://a.example", "https://b.example:8443"], "questions": questions()
    })
}

/// The details of a page. A detail that is missing has no place in it.
fn details_of(page: &Value) -> Value {
    let shown = DETAILS.iter().filter_map(|field| Some(((*field).to_owned(), page.get(*field)?.clone())));
    Value::Object(shown.collect::<Map<_, _>>())
}

#[apply(on_both)]
#[tokio::test]
async fn details_are_kept_changed_and_cleared(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let plain = desk.create(json!({})).await.expect(201);
    let expected = json!({
        "slug": plain["slug"], "host_name": null, "location": null, "conference_url": null, "accent_color": null,
        "embed_origins": [], "questions": []
    });
    assert_eq!(details_of(&plain.json), expected);

    let made = desk.create(details()).await.expect(201);
    let page = Open { path: format!("{PAGES}/{}", made.id()), book: String::new() };
    assert_eq!(made["booking_url"], format!("{}/book/intro-call", desk.server.base_url()));
    let listed = desk.api.get(PAGES).await.expect(200).data();
    let changed = desk.patch(&page, json!({ "title": "Outro" })).await;
    let read = desk.api.get(&page.path).await.expect(200);
    for shown in [&made.json, &listed[1], &changed.json, &read.json] {
        assert_eq!(details_of(shown), details());
    }
    assert_eq!(details_of(&listed[0]), expected);

    let short = json!([{ "id": "why", "label": "Why?", "type": "textarea" }]);
    let full = json!([{ "id": "why", "label": "Why?", "type": "textarea", "required": false, "options": [] }]);
    let mut expected = details();
    for (field, value, shown) in [
        ("slug", json!("outro-call"), None),
        ("host_name", json!("Grüße & Co."), None),
        ("location", json!("Room 3"), None),
        ("conference_url", json!("https://meet.example.com/other?a=1&b=2"), None),
        ("accent_color", json!("#a1b2c3"), None),
        ("embed_origins", json!(["https://c.example"]), None),
        ("questions", short, Some(full)),
    ] {
        let changed = desk.patch(&page, json!({ field: value })).await;
        expected[field] = shown.unwrap_or(value);
        assert_eq!(details_of(&changed.json), expected, "{field}");
    }
    let cleared = CLEARABLE.map(|field| (field, Value::Null));
    for (field, value) in cleared.into_iter().chain([("embed_origins", json!([])), ("questions", json!([]))]) {
        let changed = desk.patch(&page, json!({ field: value })).await;
        expected[field] = value;
        assert_eq!(details_of(&changed.json), expected, "{field}");
    }
    assert_eq!(details_of(&desk.api.get(&page.path).await.expect(200).json), expected);
}

#[apply(on_both)]
#[tokio::test]
async fn bad_details_are_refused_by_name(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(details()).await;
    let before = desk.api.get(&page.path).await.expect(200).json;
    let (long, far) = ("é".repeat(501), format!("{CALL}/{}", "a".repeat(2_000 - CALL.len())));
    let wrong: [(&str, &[&str]); 5] = [
        ("host_name", &["", &long[..402], "Grace\nHopper", "Grace\r\nHopper"]),
        ("location", &["", &long]),
        ("conference_url", &["", "http://meet.example.com/a", "meet.example.com/a", "javascript:alert(1)", &far]),
        ("accent_color", &["", "red", "#fff", "0f6457", "#0f645", "#0f64577", "#0f645g", "#0f6457;}", "#0f6457 "]),
        ("slug", &["", "ab", &"a".repeat(61), "Intro", "in_tro", "in tro", "in/tro", "intro.", "éèê", " intro"]),
    ];
    for (field, values) in wrong {
        for value in values {
            desk.refuses(&page, field, &json!(value), field).await;
        }
        desk.refuses(&page, field, &json!(7), field).await;
    }
    for reserved in ["assets", "admin", "new"] {
        desk.refuses(&page, "slug", &json!(reserved), "slug").await;
    }
    for field in ["slug", "embed_origins", "questions"] {
        let cleared = desk.api.patch(&page.path).json(json!({ field: null })).await;
        cleared.refused(400, "validation_error").param(field);
    }
    let all = desk.create(json!({ "host_name": "", "accent_color": "red", "slug": "Intro" })).await;
    all.refused(400, "validation_error").mentions("host_name").mentions("accent_color").mentions("slug");
    assert_eq!(desk.api.get(&page.path).await.expect(200).json, before);
    assert_eq!(desk.api.get(PAGES).await.expect(200)["total"], 1);
}

#[apply(on_both)]
#[tokio::test]
async fn bad_origins_are_refused_by_their_place(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({})).await;
    let wrong = [
        "",
        "*",
        "null",
        "'self'",
        "a.example",
        "https:",
        "https://",
        "https://*.example",
        "https://c.example/path",
        "https://c.example?x=1",
        "https://c.example#x",
        "https://eve@c.example",
        "https://c.example:99999",
        "https://c.example; script-src *",
        "https://c.example https://d.example",
        "https://c.example\r\nx-evil: 1",
        "javascript:alert(1)",
    ];
    for origin in wrong.map(Value::from).into_iter().chain([json!(7), json!(null), json!([])]) {
        let given = json!(["https://a.example", "https://b.example:8443", origin]);
        desk.refuses(&page, "embed_origins", &given, "embed_origins[2]").await;
    }
    let eleven: Vec<String> = (0..11).map(|number| format!("https://s{number}.example")).collect();
    desk.refuses(&page, "embed_origins", &json!(eleven), "embed_origins").await;
    desk.refuses(&page, "embed_origins", &json!("https://a.example"), "embed_origins").await;
    assert_eq!(desk.api.get(&page.path).await.expect(200)["embed_origins"], json!([]));
    assert_eq!(desk.see(&page.book).await.with(200).policy, USUAL_POLICY);
}

#[apply(on_both)]
#[tokio::test]
async fn bad_questions_are_refused_by_their_place(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({ "questions": questions() })).await;
    let first = json!({ "id": "topic", "label": "What?", "type": "text" });
    let long = "é".repeat(201);
    let many: Vec<String> = (0..51).map(|number| format!("Team {number}")).collect();
    let select = |options: Value| json!({ "type": "select", "options": options });
    let wrong = [
        ("id", json!(["", "Team", "a b", "a.b", "a]", "é", "a".repeat(41), "topic", 7])),
        ("label", json!(["", long, "Which\nteam?", null])),
        ("type", json!(["", "date", "TEXT", 7])),
        ("required", json!(["yes", 1, null])),
        ("options", json!([["Sales"], "Sales"])),
    ];
    let single = wrong.iter().flat_map(|(field, values)| {
        values.as_array().unwrap().iter().map(|value| (json!({ *field: value }), *field)).collect::<Vec<_>>()
    });
    let combined = [
        (json!({ "type": "select" }), "options"),
        (json!({ "type": "checkbox", "options": ["Sales"] }), "options"),
        (json!({ "type": "phone", "options": ["Sales"] }), "options"),
        (select(json!([])), "options"),
        (select(json!([""])), "options"),
        (select(json!(["é".repeat(101)])), "options"),
        (select(json!(many)), "options"),
    ];
    for (change, field) in single.chain(combined) {
        let mut second = json!({ "id": "team", "label": "Which team?", "type": "text" });
        second.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        desk.refuses(&page, "questions", &json!([first, second]), &format!("questions[1].{field}")).await;
    }
    for missing in ["id", "label", "type"] {
        let mut second = json!({ "id": "team", "label": "Which team?", "type": "text" });
        second.as_object_mut().unwrap().remove(missing);
        desk.refuses(&page, "questions", &json!([first, second]), &format!("questions[1].{missing}")).await;
    }
    let eleven: Vec<Value> =
        (0..11).map(|number| json!({ "id": format!("q{number}"), "label": "What?", "type": "text" })).collect();
    desk.refuses(&page, "questions", &json!(eleven), "questions").await;
    desk.refuses(&page, "questions", &first, "questions").await;
    let unknown = json!([{ "id": "topic", "label": "What?", "type": "text", "hint": "Be brief" }]);
    desk.create(json!({ "questions": unknown })).await.refused(400, "validation_error").code("unknown_field");
    assert_eq!(desk.api.get(&page.path).await.expect(200)["questions"], questions());
    assert_eq!(desk.api.get(PAGES).await.expect(200)["total"], 1);
}

#[apply(on_both)]
#[tokio::test]
async fn the_longest_and_the_shortest_details_are_accepted(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let origins: Vec<String> = (0..10).map(|number| format!("https://s{number}.example:{}", 8_000 + number)).collect();
    let options: Vec<String> = (0..50).map(|number| format!("{number:02}{}", "é".repeat(98))).collect();
    let mut asked: Vec<Value> = (0..9)
        .map(|number| {
            let id = format!("{number}-_{}", "a".repeat(37));
            json!({ "id": id, "label": "é".repeat(200), "type": "text", "required": false, "options": [] })
        })
        .collect();
    asked.push(json!({ "id": "z", "label": "?", "type": "select", "required": true, "options": options }));
    let longest = json!({
        "slug": format!("0-{}", "z".repeat(58)), "host_name": "é".repeat(200), "location": "é".repeat(500),
        "conference_url": format!("{CALL}/{}", "a".repeat(1_999 - CALL.len())), "accent_color": "#000000",
        "embed_origins": origins, "questions": asked
    });
    let made = desk.create(longest.clone()).await.expect(201);
    assert_eq!(details_of(&made.json), longest);
    let page = Open { path: format!("{PAGES}/{}", made.id()), book: format!("/book/{}", text(&made["slug"])) };
    let slots = desk.slots(&page).await;
    let seen = desk.see(&format!("{}?slot={}", page.book, slots[5])).await.with(200);
    assert_eq!((seen.ancestors(), seen.options().len() >= 50), (origins.join(" ").as_str(), true));
    let chosen = json!({ "z": options[49] });
    let booked = desk.book(&page, &slots[5], chosen.clone()).await.expect(201);
    assert_eq!(desk.event(&booked).await["metadata"]["booking"]["answers"], chosen);

    let shortest = json!({ "slug": "a-1", "host_name": "é", "location": "é", "accent_color": "#ffffff" });
    let changed = desk.patch(&page, shortest.clone()).await;
    for (field, value) in shortest.as_object().unwrap() {
        assert_eq!(&changed[field.as_str()], value, "{field}");
    }
    desk.see("/book/a-1").await.with(200);
}

#[apply(on_both)]
#[tokio::test]
async fn no_two_pages_have_the_same_slug(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({ "slug": "intro-call" })).await;
    let other = desk.page(json!({ "slug": "other-call" })).await;
    // The same slug is taken for every organization.
    let stranger = desk.server.api(&desk.server.org("pro").await);
    let calendar = agent_with_calendar(&stranger).await.1;
    let foreign = json!({ "calendar_id": calendar, "title": "Theirs", "slug": "their-call" });
    let theirs = format!("{PAGES}/{}", stranger.post(PAGES).json(foreign.clone()).await.expect(201).id());
    let taken = async || {
        let body = json!({ "calendar_id": calendar, "title": "Theirs", "slug": "intro-call" });
        for call in [
            desk.api.post(PAGES).json(desk.body(json!({ "slug": "intro-call" }))),
            desk.api.patch(&other.path).json(json!({ "slug": "intro-call", "title": "Never" })),
            stranger.post(PAGES).json(body),
            stranger.patch(&theirs).json(json!({ "slug": "intro-call", "title": "Never" })),
        ] {
            call.await.refused(409, "conflict").code("slug_taken").param("slug");
        }
    };
    taken().await;
    // A page keeps its slug if a change names it.
    assert_eq!(desk.patch(&page, json!({ "slug": "intro-call", "active": false })).await["slug"], "intro-call");
    taken().await;
    desk.api.delete(&page.path).await.expect(204);
    desk.guest.get("/book/intro-call/slots").await.refused(404, "not_found").code("booking_page_not_found");
    // The refused changes have changed nothing.
    let kept = desk.api.get(&other.path).await.expect(200);
    assert_eq!((&kept["slug"], &kept["title"]), (&json!("other-call"), &json!("Intro")));
    let kept = stranger.get(&theirs).await.expect(200);
    assert_eq!((&kept["slug"], &kept["title"]), (&json!("their-call"), &json!("Theirs")));
    assert_eq!(desk.api.get(PAGES).await.expect(200)["total"], 1);
    // The slug of a deleted page is free.
    desk.page(json!({ "slug": "intro-call" })).await;
    taken().await;
}

#[apply(on_both)]
#[tokio::test]
async fn one_of_many_pages_gets_a_slug_that_all_want_at_once(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let node = match database {
        Postgres => Some(desk.server.another_node().await),
        Sqlite => None,
    };
    let bases = [desk.server.base_url(), node.as_ref().unwrap_or(&desk.server).base_url()];
    let own = desk.page(json!({})).await;
    let stranger = desk.server.api(&desk.server.org("pro").await);
    let calendar = agent_with_calendar(&stranger).await.1;
    for slug in ["one-call", "two-call", "three-call"] {
        let wanted = json!({ "slug": slug });
        let mut calls = Vec::new();
        for base in bases.iter().cycle().take(6) {
            let body = json!({ "calendar_id": calendar, "title": "Theirs", "slug": slug });
            calls.push(desk.api.moved_to(base).post(PAGES).json(desk.body(wanted.clone())));
            calls.push(stranger.moved_to(base).post(PAGES).json(body));
        }
        calls.push(desk.api.patch(&own.path).json(wanted));
        let calls: Vec<_> = calls.into_iter().map(|call| tokio::spawn(call.into_future())).collect();
        let mut outcomes: BTreeMap<(bool, String), usize> = BTreeMap::new();
        for answer in join_all(calls).await {
            let answer = answer.unwrap();
            let code = answer.at("/error/code").as_str().unwrap_or_default().to_owned();
            *outcomes.entry((answer.status < 300, code)).or_default() += 1;
        }
        assert_eq!(outcomes, BTreeMap::from([((true, String::new()), 1), ((false, "slug_taken".to_owned()), 12)]));
        let shown = desk.guest.get(format!("/book/{slug}/slots")).await.expect(200);
        assert_eq!(shown["booking_page"]["slug"], slug);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn answers_are_kept_with_the_booking(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({ "questions": questions() })).await;
    let slots = desk.slots(&page).await;
    let booked = desk.book(&page, &slots[5], answers()).await.expect(201);
    assert_eq!(desk.event(&booked).await["metadata"]["booking"]["answers"], answers());
    let (cancel, reschedule) = desk.links(&booked);
    for path in [cancel.strip_suffix("/cancel").unwrap(), reschedule.strip_suffix("/move").unwrap()] {
        assert_eq!(desk.guest.get(path).await.expect(200)["answers"], answers());
    }
    desk.guest.post(&reschedule).json(json!({ "start": slots[7] })).await.expect(200);
    assert_eq!(desk.event(&booked).await["metadata"]["booking"]["answers"], answers());
    // What the guest wrote goes to the host only.
    let mails = desk.server.wait_for_mails(2).await;
    assert!(!format!("{mails:?}").contains("Engines"), "{mails:#?}");

    // Only what is required must be answered, and a box need not be checked.
    let mut least = json!({ "topic": "x".repeat(500), "team": "Sales", "terms": true });
    let booked = desk.book(&page, &slots[10], least.clone()).await.expect(201);
    assert_eq!(desk.event(&booked).await["metadata"]["booking"]["answers"], least);
    (least["news"], least["story"]) = (json!(false), json!("x".repeat(2_000)));
    let booked = desk.book(&page, &slots[11], least.clone()).await.expect(201);
    let kept = desk.event(&booked).await["metadata"]["booking"]["answers"].clone();
    assert_eq!((&kept["story"], kept["news"] == true), (&least["story"], false));

    // Without answers there is nothing to show.
    let optional = json!([{ "id": "topic", "label": "What?", "type": "text" }]);
    for fields in [json!({}), json!({ "questions": optional })] {
        let page = desk.page(fields).await;
        for (slot, none) in [(20, Value::Null), (21, json!({}))] {
            let start = desk.slots(&page).await[slot].clone();
            let booked = desk.book(&page, &start, none).await.expect(201);
            let kept = desk.event(&booked).await["metadata"]["booking"].clone();
            assert_eq!((&kept["name"], kept.get("answers")), (&json!(NAME), None));
            let path = desk.links(&booked).0;
            let seen = desk.guest.get(path.strip_suffix("/cancel").unwrap()).await.expect(200);
            assert_eq!(seen.json.get("answers"), None, "{}", seen.describe());
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn bad_answers_are_refused_by_their_question(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({ "questions": questions() })).await;
    let slots = desk.slots(&page).await;
    let wrong = [
        ("topic", json!(["", null, 7, true, ["Engines"], "x".repeat(501), "One\nTwo"])),
        ("story", json!([7, false, {}, "x".repeat(2_001)])),
        ("team", json!(["", null, "sales", "Sale", "Sales, Support", 0, true, ["Sales"]])),
        ("terms", json!([false, null, "true", "on", 1])),
        ("news", json!(["true", "yes", 0])),
        ("phone", json!(["call me", 4_930_901_820_u64, true])),
    ];
    for (id, values) in wrong {
        for value in values.as_array().unwrap() {
            let mut given = answers();
            given[id] = value.clone();
            let answer = desk.book(&page, &slots[5], given).await.refused(400, "validation_error");
            assert_eq!(answer.at("/error/param"), format!("answers.{id}"), "{value}: {}", answer.describe());
        }
    }
    for missing in ["topic", "team", "terms"] {
        let mut given = answers();
        given.as_object_mut().unwrap().remove(missing);
        let answer = desk.book(&page, &slots[5], given).await;
        answer.refused(400, "validation_error").param(&format!("answers.{missing}"));
    }
    for none in [Value::Null, json!({})] {
        desk.book(&page, &slots[5], none).await.refused(400, "validation_error").param("answers.topic");
    }
    let (mut unknown, mut huge) = (answers(), answers());
    unknown["shoe"] = json!("9");
    // Each answer is short enough, but together they are not.
    (huge["topic"], huge["story"]) = (json!("x".repeat(500)), json!("é".repeat(2_000)));
    for whole in [unknown, huge, json!([]), json!("Engines"), json!(7)] {
        desk.book(&page, &slots[5], whole).await.refused(400, "validation_error").param("answers");
    }
    let silent = desk.page(json!({})).await;
    let answer = desk.book(&silent, &slots[5], json!({ "topic": "Engines" })).await;
    answer.refused(400, "validation_error").param("answers");
    assert_eq!((desk.slots(&page).await, desk.server.mails().len()), (slots, 0), "nothing was booked");
}

#[apply(on_both)]
#[tokio::test]
async fn a_form_sends_answers(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({ "questions": questions() })).await;
    let slots = desk.slots(&page).await;
    let of_only_event = async || {
        let path = format!("/v1/calendars/{}/events", desk.calendar);
        let mut events = desk.api.get(&path).await.expect(200).data();
        assert_eq!(events.len(), 1, "{events:#?}");
        let event = events.remove(0);
        desk.api.delete(format!("/v1/events/{}", text(&event["id"]))).await.expect(204);
        event["metadata"]["booking"].clone()
    };
    desk.submit(&page.book, &form(&slots[5], &ANSWERED)).await.with(201);
    assert_eq!(of_only_event().await["answers"], answers());

    // Browsers send empty fields, and nothing for a box that is not checked.
    let least = [
        ("answers[topic]", "Engines"),
        ("answers[story]", ""),
        ("answers[team]", "Sales"),
        ("answers[terms]", "true"),
        ("answers[phone]", ""),
    ];
    desk.submit(&page.book, &form(&slots[6], &least)).await.with(201);
    let kept = of_only_event().await["answers"].clone();
    let expected = json!({ "topic": "Engines", "team": "Sales", "terms": true });
    for id in ["topic", "team", "terms", "story", "phone"] {
        assert_eq!(kept.get(id), expected.get(id), "{id}: {kept}");
    }
    assert_ne!(kept["news"], true);

    let optional = ["text", "textarea", "select", "phone"].map(|kind| {
        let options = if kind == "select" { json!(["Sales"]) } else { json!([]) };
        json!({ "id": kind, "label": kind, "type": kind, "options": options })
    });
    desk.patch(&page, json!({ "questions": optional })).await;
    let empty = ["answers[text]", "answers[textarea]", "answers[select]", "answers[phone]"].map(|name| (name, ""));
    desk.submit(&page.book, &form(&slots[7], &empty)).await.with(201);
    assert_eq!(of_only_event().await.get("answers"), None);
}

#[apply(on_both)]
#[tokio::test]
async fn a_refused_form_keeps_what_was_entered(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({ "questions": questions() })).await;
    let slot = desk.slots(&page).await[5].clone();
    let long = "x".repeat(2_001);
    let wrong = [
        ("topic", Some("")),
        ("topic", None),
        ("topic", Some(&long[..501])),
        ("story", Some(&long[..])),
        ("team", Some("")),
        ("team", None),
        ("team", Some("Sale")),
        ("terms", None),
        ("phone", Some("call me")),
    ];
    for (id, value) in wrong {
        let named = format!("answers[{id}]");
        let mut fields = form(&slot, &ANSWERED);
        fields.retain(|(name, _)| *name != named);
        fields.extend(value.map(|value| (named.as_str(), value)));
        let seen = desk.submit(&page.book, &fields).await.with(400);
        assert_eq!(seen.problems(), 1, "{id} {value:?}: {}", seen.text);
        for (name, kept) in [("name", NAME), ("email", EMAIL), ("start", &slot)] {
            assert!(seen.text.contains(&format!("value=\"{kept}\"")), "{name}: {}", seen.text);
        }
        let chosen = seen.options().iter().any(|option| option.contains("Support") && option.contains("selected"));
        for (kept, is_kept) in [
            ("topic", seen.field("topic").contains("value=\"Engines\"")),
            ("story", seen.text.contains("It stopped</textarea>")),
            ("team", chosen),
            ("terms", seen.field("terms").contains("checked")),
            ("news", seen.field("news").contains("checked")),
            ("phone", seen.field("phone").contains("value=\"+4930901820\"")),
        ] {
            assert_eq!(is_kept, kept != id, "{kept}, {id} {value:?}: {}", seen.text);
        }
    }
    // Every mistake is named.
    let seen = desk.submit(&page.book, &form(&slot, &[])).await.with(400);
    assert_eq!(seen.problems(), 3, "{}", seen.text);
    let strange = [&ANSWERED[..], &[("answers[shoe]", "9")]].concat();
    let kept = desk.submit(&page.book, &form(&slot, &strange)).await.with(400).has(&["Nothing is booked yet."]);
    assert!(kept.field("topic").contains("value=\"Engines\""), "{}", kept.text);
    assert!(!seen.field("terms").contains("checked") && !seen.field("news").contains("checked"), "{}", seen.text);
    assert_eq!((desk.events().await, desk.server.mails().len()), (json!(0), 0));
}

#[apply(on_both)]
#[tokio::test]
async fn the_page_shows_host_and_place_and_asks_the_questions(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(details()).await;
    let slot = desk.slots(&page).await[5].clone();
    desk.see(&page.book).await.with(200).has(&[HOST, PLACE]);
    let address = format!("{}?slot={slot}", page.book);
    let seen = desk.see(&address).await.with(200);
    for (id, tag) in [
        ("topic", "<input"),
        ("story", "<textarea"),
        ("team", "<select"),
        ("terms", "<input"),
        ("news", "<input"),
        ("phone", "<input"),
    ] {
        assert!(seen.field(id).starts_with(tag), "{id}: {}", seen.field(id));
    }
    for id in ["terms", "news"] {
        let field = seen.field(id);
        let sends_true = field.contains("type=\"checkbox\"") && field.contains("value=\"true\"");
        assert!(sends_true && !field.contains("checked"), "{field}");
    }
    for option in ["Sales", "Support"] {
        let shown = seen.options().iter().filter(|shown| shown.rsplit('>').next().unwrap().trim() == option).count();
        assert_eq!(shown, 1, "{option}: {:?}", seen.options());
    }
    assert_eq!(seen.text.matches(" name=\"answers[").count(), 6, "{}", seen.text);
    let asked = questions();
    let labels: Vec<&str> = asked.as_array().unwrap().iter().map(|one| one["label"].as_str().unwrap()).collect();
    seen.has(&labels);

    let listed = desk.guest.get(format!("{}/slots", page.book)).await.expect(200);
    let usual = ["slug", "title", "description", "duration_minutes", "timezone"];
    has_exactly(&listed["booking_page"], &[&usual[..], &["host_name", "location", "questions"]].concat());
    for (field, value) in [("slug", json!("intro-call")), ("host_name", json!(HOST)), ("location", json!(PLACE))] {
        assert_eq!(listed["booking_page"][field], value);
    }
    assert_eq!(listed["booking_page"]["questions"], questions());

    desk.patch(&page, json!({ "host_name": null, "location": null, "questions": [] })).await;
    desk.see(&page.book).await.with(200).lacks(&[HOST, PLACE]);
    desk.see(&address).await.with(200).lacks(&["answers["]);
    let listed = desk.guest.get(format!("{}/slots", page.book)).await.expect(200);
    has_exactly(&listed["booking_page"], &usual);
}

#[apply(on_both)]
#[tokio::test]
async fn the_call_is_for_those_who_have_booked(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({ "host_name": HOST, "location": PLACE, "conference_url": CALL })).await;
    let slots = desk.slots(&page).await;
    let booked = desk.book(&page, &slots[5], Value::Null).await.expect(201);
    let secret = ["meet.example.com"];
    let confirm = format!("{}?slot={}", page.book, slots[9]);
    desk.see(&page.book).await.with(200).lacks(&secret);
    desk.see(&confirm).await.with(200).lacks(&secret);
    desk.see(&format!("{}?slot={}", page.book, slots[5])).await.with(409).lacks(&secret);
    desk.submit(&page.book, &form(&slots[5], &[])).await.with(409).lacks(&secret);
    desk.submit(&page.book, &[("start", &slots[9])]).await.with(400).lacks(&secret);
    let taken = desk.book(&page, &slots[5], Value::Null).await.refused(409, "conflict");
    let listed = desk.guest.get(format!("{}/slots", page.book)).await.expect(200);
    for open in [taken.text(), listed.text(), desk.markdown(&page).await] {
        assert!(!open.contains(secret[0]), "{open}");
    }

    let event = desk.event(&booked).await;
    assert_eq!((&event["location"], &event["conferenceUrl"]), (&json!(PLACE), &json!(CALL)));
    let (cancel, reschedule) = desk.links(&booked);
    let read = desk.guest.get(cancel.strip_suffix("/cancel").unwrap()).await.expect(200);
    let moved = desk.guest.post(&reschedule).json(json!({ "start": slots[12] })).await.expect(200);
    for answer in [&booked, &read, &moved] {
        let shown = (&answer["event"]["location"], &answer["event"]["conference_url"]);
        assert_eq!(shown, (&json!(PLACE), &json!(CALL)), "{}", answer.describe());
    }
    assert_eq!(read["booking_page"].get("conference_url"), None);
    desk.submit(&page.book, &form(&slots[9], &[])).await.with(201).has(&[PLACE, CALL]);
    let mails = desk.server.wait_for_mails(3).await;
    for mail in mails {
        assert!(mail.text.contains(PLACE) && mail.text.contains(CALL), "{mail:#?}");
        let is_call = |line: &str| (line.starts_with("CONFERENCE") || line.starts_with("URL")) && line.ends_with(CALL);
        assert!(mail.invitation.lines().any(is_call), "{mail:#?}");
        assert!(mail.invitation.lines().any(|line| line == "LOCATION:Room 2\\, Berlin"), "{mail:#?}");
    }

    // A page without a place and a call gives none.
    let plain = desk.page(json!({})).await;
    let booked = desk.book(&plain, &slots[20], Value::Null).await.expect(201);
    has_exactly(&booked["event"], &["id", "title", "start_time", "end_time", "status"]);
    let event = desk.event(&booked).await;
    assert_eq!((event.get("location"), event.get("conferenceUrl")), (None, None));
}

/// Requires that each inline style is allowed by its hash, and nothing else inline.
#[track_caller]
fn allows_its_styles(seen: &Seen) {
    assert!(!seen.text.contains(" style="), "{}", seen.text);
    assert!(!seen.policy.contains("unsafe"), "{}", seen.policy);
    let directives = || seen.policy.split(';').map(str::trim);
    for style in seen.styles() {
        let hash = format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(style)));
        let allowed = directives().any(|part| part.starts_with("style-src") && part.contains(&hash));
        assert!(allowed, "{hash}: {} for {style}", seen.policy);
    }
    let hashes = seen.policy.matches("'sha256-").count();
    assert_eq!(hashes, seen.styles().len(), "{}", seen.policy);
}

#[apply(on_both)]
#[tokio::test]
async fn the_colour_is_allowed_by_its_hash(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({})).await;
    let slots = desk.slots(&page).await;
    let confirm = format!("{}?slot={}", page.book, slots[9]);
    let without = async || {
        for path in [&page.book, &confirm] {
            let seen = desk.see(path).await.with(200);
            assert_eq!((seen.styles(), seen.policy.as_str()), (vec![], USUAL_POLICY));
        }
    };
    without().await;
    let mut policies = Vec::new();
    for colour in ["#0f6457", "#ffd700"] {
        desk.patch(&page, json!({ "accent_color": colour })).await;
        for path in [&page.book, &confirm] {
            let seen = desk.see(path).await.with(200);
            assert_eq!(seen.styles().len(), 1, "{}", seen.text);
            assert!(seen.styles()[0].to_lowercase().contains(colour), "{}", seen.text);
            allows_its_styles(&seen);
            policies.push(seen.policy);
        }
    }
    assert_ne!(policies[1], policies[3], "each colour has its hash");
    let booked = desk.book(&page, &slots[5], Value::Null).await.expect(201);
    let (cancel, reschedule) = desk.links(&booked);
    let pages = [
        desk.submit(&page.book, &[("start", &slots[9])]).await.with(400),
        desk.submit(&page.book, &form(&slots[5], &[])).await.with(409),
        desk.submit(&page.book, &form(&slots[9], &[])).await.with(201),
        desk.see(&reschedule).await.with(200),
        desk.submit(&reschedule, &[("start", &slots[7])]).await.with(200),
        desk.see(&cancel).await.with(200),
        desk.submit(&cancel, &[]).await.with(200),
    ];
    pages.iter().for_each(allows_its_styles);
    desk.patch(&page, json!({ "accent_color": null })).await;
    let confirm = format!("{}?slot={}", page.book, slots[30]);
    assert_eq!(desk.see(&confirm).await.with(200).policy, USUAL_POLICY);
}

#[tokio::test]
async fn text_on_the_colour_is_black_or_white_whichever_has_more_contrast() {
    let desk = Desk::new(Sqlite).await;
    let page = desk.page(json!({})).await;
    let slot = desk.slots(&page).await[40].clone();
    let browser = Visitor::new().open().await;
    let (black, white) = ("rgb(0, 0, 0)", "rgb(255, 255, 255)");
    for (colour, text) in [
        ("#000000", white),
        ("#ffffff", black),
        ("#0000ff", white),
        ("#ffff00", black),
        // Red, and the greys between which the contrast of both is equal.
        ("#ff0000", black),
        ("#008000", white),
        ("#757575", white),
        ("#767676", black),
    ] {
        desk.patch(&page, json!({ "accent_color": colour })).await;
        browser.goto(&format!("{}{}?slot={slot}&tz=UTC", desk.server.base_url(), page.book)).await;
        browser.loaded().await;
        let script = "const style = getComputedStyle(document.querySelector('form button.primary'));
            return [style.backgroundColor, style.color];";
        let part = |from: usize| u8::from_str_radix(&colour[from..from + 2], 16).unwrap();
        let button = format!("rgb({}, {}, {})", part(1), part(3), part(5));
        assert_eq!(browser.run(script).await, json!([button, text]), "{colour}");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn only_named_sites_embed_the_page_and_none_embeds_a_booking(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let origins = json!(["https://a.example", "https://b.example:8443"]);
    let given = json!({ "embed_origins": origins, "accent_color": "#0f6457", "questions": [
        { "id": "topic", "label": "What?", "type": "text" }
    ] });
    let (page, closed) = (desk.page(given).await, desk.page(json!({})).await);
    let slots = desk.slots(&page).await;
    for (page, expected, slot) in
        [(&page, "https://a.example https://b.example:8443", 5), (&closed, "'none'", 15), (&page, "'none'", 25)]
    {
        let (start, other) = (slots[slot].as_str(), slots[slot + 1].as_str());
        let book = &page.book;
        let booked = desk.submit(book, &form(start, &[])).await.with(201);
        for seen in [
            desk.see(book).await.with(200),
            desk.see(&format!("{book}?slot={other}")).await.with(200),
            desk.see(&format!("{book}?slot={start}")).await.with(409),
            desk.see(&format!("{book}?slot=soon")).await.with(400),
            desk.submit(book, &form(start, &[])).await.with(409),
            desk.submit(book, &form("soon", &[])).await.with(400),
            desk.submit(book, &[("start", other)]).await.with(400),
            desk.submit(book, &form(other, &[("website", "https://spam.example")])).await.with(400),
            booked,
        ] {
            assert_eq!(seen.ancestors(), expected, "{}: {}", seen.policy, seen.text);
        }
        let (cancel, reschedule) = desk.links(&desk.book(page, other, Value::Null).await.expect(201));
        let next = &slots[slot + 2];
        for seen in [
            desk.see(&cancel).await.with(200),
            desk.see(&reschedule).await.with(200),
            desk.see(&format!("{reschedule}?slot={next}")).await.with(200),
            desk.see(&format!("{reschedule}?slot=soon")).await.with(400),
            desk.submit(&reschedule, &[("start", start)]).await.with(409),
            desk.submit(&reschedule, &[("start", next)]).await.with(200),
            desk.submit(&cancel, &[]).await.with(200),
            desk.see(&cancel).await.with(200),
            desk.see(&format!("{book}/bookings/nobody-s/cancel")).await.with(404),
        ] {
            assert_eq!(seen.ancestors(), "'none'", "{}: {}", seen.policy, seen.text);
        }
        // In the third round, the page names no site any more.
        desk.patch(page, json!({ "embed_origins": [] })).await;
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_page_that_takes_no_bookings_now_can_be_embedded(#[case] database: Database) {
    let desk = Desk::of(database, "custom", &["--limits", r#"{"events":1}"#]).await;
    let page = desk.page(json!({ "embed_origins": ["https://a.example"], "conference_url": CALL })).await;
    let slots = desk.slots(&page).await;
    let (cancel, _) = desk.links(&desk.book(&page, &slots[5], Value::Null).await.expect(201));
    for seen in [
        desk.see(&page.book).await.with(200),
        desk.see(&format!("{}?slot={}", page.book, slots[9])).await.with(200),
        desk.submit(&page.book, &form(&slots[9], &[])).await.with(429),
    ] {
        let seen = seen.has(&["Booking is closed for now"]).lacks(&[CALL]);
        assert_eq!(seen.ancestors(), "https://a.example", "{}: {}", seen.status, seen.text);
    }
    assert_eq!(desk.see(&cancel).await.with(200).ancestors(), "'none'");
    assert_eq!(desk.see("/book/nobody-s").await.with(404).ancestors(), "'none'");
    // Without a site, nobody may embed it.
    desk.patch(&page, json!({ "embed_origins": [] })).await;
    assert_eq!(desk.see(&page.book).await.with(200).ancestors(), "'none'");
}

#[apply(on_both)]
#[tokio::test]
async fn a_page_that_offers_nights_says_so(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let rules = format!("/v1/calendars/{}/availability-rules", desk.calendar);
    let week = json!({ "mon": { "start": "09:00", "end": "17:00" } });
    #[track_caller]
    fn warns(answer: &Answer, expected: bool) {
        let Some(notices) = answer.json.get("notices") else {
            assert!(!expected, "no notices: {}", answer.describe());
            return;
        };
        let notices = notices.as_array().unwrap();
        assert!(expected && notices.len() == 1, "{}", answer.describe());
        has_exactly(&notices[0], &["code", "message"]);
        assert_eq!(notices[0]["code"], "offers_nights");
        assert!(!text(&notices[0]["message"]).is_empty(), "{}", answer.describe());
    }
    let made = desk.create(json!({})).await.expect(201);
    let page = Open { path: format!("{PAGES}/{}", made.id()), book: String::new() };
    warns(&made, true);
    warns(&desk.create(json!({ "availability_constraints": null })).await.expect(201), true);
    warns(&desk.create(json!({ "availability_constraints": week })).await.expect(201), false);
    warns(&desk.patch(&page, json!({ "title": "Outro" })).await, true);
    warns(&desk.patch(&page, json!({ "availability_constraints": week })).await, false);
    warns(&desk.patch(&page, json!({ "title": "Intro" })).await, false);
    warns(&desk.patch(&page, json!({ "availability_constraints": null })).await, true);
    // Rules without hours limit nothing.
    desk.api.put(&rules).json(json!({ "buffer_before_minutes": 5, "working_hours": null })).await.expect(200);
    warns(&desk.patch(&page, json!({ "title": "Outro" })).await, true);
    // Reading says nothing.
    warns(&desk.api.get(&page.path).await.expect(200), false);
    let listed = desk.api.get(PAGES).await.expect(200);
    assert!(!listed.text().contains("notices"), "{}", listed.describe());

    desk.api.put(&rules).json(json!({ "working_hours": week })).await.expect(200);
    warns(&desk.patch(&page, json!({ "title": "Intro" })).await, false);
    warns(&desk.patch(&page, json!({ "availability_constraints": null })).await, false);
    warns(&desk.create(json!({})).await.expect(201), false);
    // The hours of another calendar do not count.
    let other = shared_calendar(&desk.api, "UTC").await;
    warns(&desk.create(json!({ "calendar_id": other })).await.expect(201), true);
    desk.api.delete(&rules).await.expect(204);
    warns(&desk.patch(&page, json!({ "title": "Outro" })).await, true);
}

#[apply(on_both)]
#[tokio::test]
async fn a_page_without_a_zone_has_that_of_its_calendar(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let calendar = shared_calendar(&desk.api, "Asia/Kathmandu").await;
    let made = desk.create(json!({ "calendar_id": calendar })).await.expect(201);
    assert_eq!(made["timezone"], "Asia/Kathmandu");
    assert_eq!(desk.api.get(format!("{PAGES}/{}", made.id())).await.expect(200)["timezone"], "Asia/Kathmandu");
    let book = format!("/book/{}", text(&made["slug"]));
    let listed = desk.guest.get(format!("{book}/slots")).await.expect(200);
    assert_eq!(listed["booking_page"]["timezone"], "Asia/Kathmandu");
    // Nepal's full hours are at a quarter past in UTC.
    let slots = listed["slots"].as_array().unwrap();
    let on_its_grid = slots.iter().filter(|slot| text(&slot["start"]).ends_with(":15:00Z")).count();
    assert_eq!((on_its_grid, slots.len() > 100), (slots.len(), true), "{}", listed.describe());

    for (calendar, zone) in [(calendar, "UTC"), (desk.calendar.clone(), "Asia/Kathmandu")] {
        let made = desk.create(json!({ "calendar_id": calendar, "timezone": zone })).await.expect(201);
        assert_eq!(made["timezone"], zone);
    }
    assert_eq!(desk.create(json!({})).await.expect(201)["timezone"], "UTC");
}

#[apply(on_both)]
#[tokio::test]
async fn the_links_in_mails_outlive_the_page_s_address(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let mut page = desk.page(json!({ "slug": "first-call" })).await;
    let slots = desk.slots(&page).await;
    let booked = desk.book(&page, &slots[5], Value::Null).await.expect(201);
    let (cancel, reschedule) = desk.links(&booked);
    for slug in ["second-call", "third-call"] {
        let changed = desk.patch(&page, json!({ "slug": slug })).await;
        assert_eq!(changed["booking_url"], format!("{}/book/{slug}", desk.server.base_url()));
    }
    for old in ["/book/first-call", "/book/second-call"] {
        let body = booking(&slots[9], Value::Null);
        for answer in [desk.guest.get(format!("{old}/slots")).await, desk.guest.post(old).json(body).await] {
            answer.refused(404, "not_found").code("booking_page_not_found");
        }
        desk.see(old).await.with(404);
        desk.submit(old, &form(&slots[9], &[])).await.with(404);
    }
    page.book = "/book/third-call".to_owned();
    desk.see(&page.book).await.with(200);
    let later = desk.book(&page, &slots[9], Value::Null).await.expect(201);
    assert!(desk.links(&later).0.starts_with("/book/third-call/bookings/"), "{}", later.describe());

    // Nobody else gets the former slug, and the links lead to the same booking.
    let stranger = desk.server.api(&desk.server.org("pro").await);
    let theirs =
        json!({ "calendar_id": agent_with_calendar(&stranger).await.1, "title": "Theirs", "slug": "first-call" });
    stranger.post(PAGES).json(theirs).await.refused(409, "conflict").code("slug_taken").param("slug");
    assert!(cancel.starts_with("/book/first-call/") && reschedule.starts_with("/book/first-call/"));
    for path in [cancel.strip_suffix("/cancel").unwrap(), reschedule.strip_suffix("/move").unwrap()] {
        let seen = desk.guest.get(path).await.expect(200);
        assert_eq!((&seen["event"], &seen["status"]), (&booked["event"], &json!("confirmed")));
        assert_eq!(seen["booking_page"]["title"], "Intro");
    }
    desk.see(&cancel).await.with(200).has(&["Cancel this booking?", NAME]);
    desk.see(&reschedule).await.with(200).has(&["?slot="]);
    desk.see(&format!("{reschedule}?slot={}", slots[20])).await.with(200).has(&["<form"]);
    desk.submit(&reschedule, &[("start", &slots[20])]).await.with(200);
    assert_eq!(desk.event(&booked).await["startTime"], slots[20]);
    let moved = desk.guest.post(&reschedule).json(json!({ "start": slots[30] })).await.expect(200);
    assert_eq!(moved["event"]["start_time"], slots[30]);
    let gone = desk.guest.post(&cancel).await.expect(200);
    assert_eq!((&gone["status"], desk.events().await), (&json!("cancelled"), json!(1)));
    desk.submit(&cancel, &[]).await.with(200);
}

#[apply(on_both)]
#[tokio::test]
async fn the_links_of_every_mail_and_page_work_after_a_new_address(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let mut page = desk.page(json!({ "slug": "first-call" })).await;
    let slots = desk.slots(&page).await;
    let booked = desk.book(&page, &slots[5], Value::Null).await.expect(201);
    let (_, reschedule) = desk.links(&booked);
    let base = desk.server.base_url();
    desk.patch(&page, json!({ "slug": "second-call" })).await;
    // The links on the page that moves the booking lead on.
    let picker = desk.see(&reschedule).await.with(200).plain();
    let hrefs = picker.split(" href=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    let slot = hrefs.map(|href| href.strip_prefix(base).unwrap_or(href)).find(|href| href.contains("move?slot="));
    let confirm = desk.see(slot.unwrap_or_else(|| panic!("no time: {picker}"))).await.with(200).plain();
    let actions = confirm.split(" action=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    let action = actions.map(|action| action.strip_prefix(base).unwrap_or(action)).find(|path| path.ends_with("/move"));
    let action = action.unwrap_or_else(|| panic!("no form: {confirm}"));
    desk.submit(action, &[("start", &slots[7])]).await.with(200);
    desk.patch(&page, json!({ "slug": "third-call" })).await;
    page.book = "/book/third-call".to_owned();

    // The mails about the booking and the move were sent under two addresses. A third has followed.
    let mails = desk.server.wait_for_mails(2).await;
    for mail in &mails {
        let links: Vec<&str> = mail.text.split_whitespace().filter_map(|word| word.strip_prefix(base)).collect();
        for end in ["/cancel", "/move"] {
            let link = links.iter().find(|link| link.ends_with(end)).unwrap_or_else(|| panic!("no {end}: {mail:#?}"));
            desk.see(link).await.with(200).has(&[if end == "/cancel" { "Cancel this booking?" } else { "?slot=" }]);
        }
    }
    assert_eq!(desk.event(&booked).await["startTime"], slots[7]);
    // The slug of another page does not lead to the booking.
    let other = desk.page(json!({ "slug": "other-call" })).await;
    let strange = reschedule.replace("/book/first-call", &other.book);
    desk.see(&strange).await.with(404);
    desk.guest.get(strange.strip_suffix("/move").unwrap()).await.refused(404, "not_found").code("booking_not_found");
    // The links outlive the page too.
    desk.api.delete(&page.path).await.expect(204);
    let (cancel, _) = desk.links(&booked);
    assert_eq!(desk.guest.post(&cancel).await.expect(200)["status"], "cancelled");
}

#[apply(on_both)]
#[tokio::test]
async fn the_text_of_others_is_escaped(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let asked = json!([
        { "id": "topic", "label": EVIL, "type": "text", "required": true },
        { "id": "team", "label": "Which team?", "type": "select", "options": [EVIL, "Sales"] },
        { "id": "terms", "label": EVIL, "type": "checkbox" }
    ]);
    let fields = json!({ "title": EVIL, "host_name": EVIL, "location": EVIL, "questions": asked });
    let page = desk.page(fields).await;
    let slots = desk.slots(&page).await;
    let given = [("name", EVIL), ("answers[topic]", EVIL), ("answers[team]", EVIL)];
    let with = |start| [&[("start", start), ("email", EMAIL)], &given[..]].concat();
    let picker = desk.see(&page.book).await.with(200);
    assert!(picker.plain().matches(EVIL).count() >= 3, "title, host and place: {}", picker.text);
    let asks = desk.see(&format!("{}?slot={}", page.book, slots[9])).await.with(200);
    assert!(asks.plain().matches(EVIL).count() >= 4, "title, labels and option: {}", asks.text);
    let booked = desk.submit(&page.book, &with(&slots[5])).await.with(201);
    let plain = booked.plain();
    let base = desk.server.base_url();
    let hrefs: Vec<&str> = plain.split(" href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let link = |end: &str| {
        let found = hrefs.iter().find(|href| href.ends_with(end)).unwrap_or_else(|| panic!("no {end}: {plain}"));
        found.strip_prefix(base).unwrap_or(found).to_owned()
    };
    let (cancel, reschedule) = (link("/cancel"), link("/move"));
    let bad =
        [("start", &slots[9][..]), ("email", EVIL), ("name", EVIL), ("answers[topic]", EVIL), ("answers[team]", "<b>")];
    for seen in [
        picker,
        asks,
        desk.submit(&page.book, &bad).await.with(400),
        desk.submit(&page.book, &[&with(&slots[9])[1..], &[("start", EVIL)]].concat()).await.with(400),
        desk.submit(&page.book, &with(&slots[5])).await.with(409),
        desk.see(&reschedule).await.with(200),
        desk.see(&format!("{reschedule}?slot={}", slots[7])).await.with(200),
        desk.submit(&reschedule, &[("start", &slots[7])]).await.with(200),
        desk.see(&cancel).await.with(200),
        desk.submit(&cancel, &[]).await.with(200),
        desk.submit(&cancel, &[]).await.with(200),
        booked,
    ] {
        for part in ["<script>alert", "<img", "\"'>", "<b>"] {
            assert!(!seen.text.to_lowercase().contains(part), "{part}: {}", seen.text);
        }
    }
    let markdown = desk.markdown(&page).await;
    assert!(!markdown.replace("\\<", "").contains('<'), "{markdown}");
}

#[apply(on_both)]
#[tokio::test]
async fn nothing_that_others_wrote_becomes_a_link_in_mail(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let place = "https://evil.example/place";
    let asked =
        json!([{ "id": "team", "label": "See www.evil.example", "type": "select", "options": ["evil.example"] }]);
    let fields = json!({
        "title": "Intro https://evil.example/title", "host_name": "eve@evil.example", "location": place,
        "conference_url": CALL, "questions": asked
    });
    let page = desk.page(fields).await;
    let slots = desk.slots(&page).await;
    let mut body = booking(&slots[5], json!({ "team": "evil.example" }));
    (body["name"], body["notes"]) = (json!("www.evil.example"), json!("https://evil.example/notes"));
    let booked = desk.guest.post(&page.book).json(body).await.expect(201);
    let (cancel, reschedule) = desk.links(&booked);
    desk.guest.post(&reschedule).json(json!({ "start": slots[7] })).await.expect(200);
    desk.guest.post(&cancel).await.expect(200);
    let mails = desk.server.wait_for_mails(3).await;
    assert_eq!(mails.len(), 3);
    for mail in &mails {
        let shown = [mail.subject.as_str(), &mail.text].join("\n");
        for part in ["evil.example", "www.", "https://evil", "eve@"] {
            assert!(!shown.contains(part), "{part}: {mail:#?}");
        }
        let own = |word: &&str| word.starts_with(desk.server.base_url()) || *word == CALL;
        let foreign: Vec<&str> = shown.split_whitespace().filter(|word| word.contains("://") && !own(word)).collect();
        assert_eq!(foreign, [""; 0], "{mail:#?}");
    }
    // The place is still there to read.
    let bare = mails[0].text.replace(['\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{feff}'], "");
    assert!(bare.contains(place) && mails[0].text.contains(CALL), "{:#?}", mails[0]);
}

#[apply(on_both)]
#[tokio::test]
async fn no_page_claims_that_the_host_was_notified(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({ "host_name": HOST })).await;
    let slots = desk.slots(&page).await;
    let booked = desk.book(&page, &slots[5], Value::Null).await.expect(201);
    let (cancel, reschedule) = desk.links(&booked);
    let asked = desk.see(&cancel).await.with(200);
    assert_eq!(desk.events().await, 1, "the page only asks");
    let other = desk.book(&page, &slots[9], Value::Null).await.expect(201);
    let (_, other) = desk.links(&other);
    let pages = [
        asked.lacks(&["is cancelled", "was cancelled"]),
        desk.see(&page.book).await.with(200),
        desk.see(&format!("{}?slot={}", page.book, slots[20])).await.with(200),
        desk.submit(&page.book, &form(&slots[20], &[])).await.with(201),
        desk.submit(&other, &[("start", &slots[30])]).await.with(200),
        desk.submit(&cancel, &[]).await.with(200).has(&["Your booking is cancelled"]),
        desk.submit(&cancel, &[]).await.with(200).has(&["already cancelled"]),
        desk.see(&cancel).await.with(200).has(&["already cancelled"]),
        desk.see(&reschedule).await.with(200).has(&["already cancelled"]),
    ];
    let texts = pages.map(|seen| seen.plain());
    for text in texts.into_iter().chain([desk.markdown(&page).await]) {
        let text = text.to_lowercase();
        for claim in ["notif", "informed", "been told", "was told", "let the host know", "knows"] {
            assert!(!text.contains(claim), "{claim}: {text}");
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn bookings_stay_as_they_are_when_the_page_changes(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(details()).await;
    let slots = desk.slots(&page).await;
    let booked = desk.book(&page, &slots[5], answers()).await.expect(201);
    let before = desk.event(&booked).await;
    let (cancel, reschedule) = desk.links(&booked);
    let other = "https://meet.example.com/other";
    let change = json!({
        "title": "Outro", "host_name": "Ida Rhodes", "location": "Room 3", "conference_url": other, "questions": [],
        "duration_minutes": 30
    });
    desk.patch(&page, change).await;
    assert_eq!(desk.event(&booked).await, before);
    let read = desk.guest.get(cancel.strip_suffix("/cancel").unwrap()).await.expect(200);
    assert_eq!((&read["event"], &read["answers"]), (&booked["event"], &answers()));
    // Those who book later get what the page has now.
    let later = desk.book(&page, &slots[9], Value::Null).await.expect(201);
    let shown = (&later["event"]["location"], &later["event"]["conference_url"], &later["event"]["title"]);
    assert_eq!(shown, (&json!("Room 3"), &json!(other), &json!("Outro: Ada Lovelace")));
    assert_eq!(desk.event(&later).await["location"], "Room 3");

    desk.patch(&page, json!({ "location": null, "conference_url": null })).await;
    for (booked, place, call) in [(&booked, PLACE, CALL), (&later, "Room 3", other)] {
        let event = desk.event(booked).await;
        assert_eq!((&event["location"], &event["conferenceUrl"]), (&json!(place), &json!(call)));
    }
    // The guest moves the booking to another time, not to another place.
    desk.guest.post(&reschedule).json(json!({ "start": slots[12] })).await.expect(200);
    let event = desk.event(&booked).await;
    assert_eq!((&event["startTime"], &event["location"]), (&json!(slots[12]), &json!(PLACE)));
    assert_eq!((&event["conferenceUrl"], &event["metadata"]), (&json!(CALL), &before["metadata"]));
}
