//! What a host can set on a booking page: which values are accepted, and its address, colour, zone, notices and the
//! sites that embed it. Written without knowledge of the code.

use crate::on_both;
use std::collections::BTreeMap;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use futures::future::join_all;
use kalends_e2e::{
    Answer,
    Database::{self, Postgres, Sqlite},
    Server, Visitor,
};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::{
    booking_questions_by_the_rule::details,
    claims::text,
    desk::{CALL, Desk, NAME, Open, PAGES, Seen, booking, form},
    fixtures::{agent_with_calendar, has_exactly, shared_calendar},
};

/// The policy of a page that has no colour and may not be embedded.
const USUAL_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                            connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// What a page can have besides its title and its times.
const DETAILS: [&str; 7] =
    ["slug", "host_name", "location", "conference_url", "accent_color", "embed_origins", "questions"];
/// The details that null clears.
const CLEARABLE: [&str; 4] = ["host_name", "location", "conference_url", "accent_color"];

impl Seen {
    /// The sites that may embed the page.
    fn ancestors(&self) -> &str {
        let mut found = self.policy.split(';').filter_map(|part| part.trim().strip_prefix("frame-ancestors "));
        found.next().unwrap_or("missing")
    }

    /// The inline styles.
    fn styles(&self) -> Vec<&str> {
        let styles = self.text.split("<style").skip(1);
        styles.map(|rest| rest.split_once('>').unwrap().1.split("</style>").next().unwrap()).collect()
    }
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
    let page = Open::of(&made);
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
    let page = Open::of(&made);
    let slots = desk.slots(&page).await;
    let seen = desk.see(&format!("{}?slot={}", page.book, slots[5])).await.with(200);
    assert_eq!((seen.ancestors(), seen.options().len() >= 50), (origins.join(" ").as_str(), true));
    let chosen = json!({ "z": options[49] });
    let booked = desk.request(&page, &slots[5], chosen.clone()).await.expect(201);
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
    let booked = desk.request(&page, &slots[5], Value::Null).await.expect(201);
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
        let (cancel, reschedule) = desk.links(&desk.request(page, other, Value::Null).await.expect(201));
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
    let server = Server::start_with(database, &[("KALENDS_MAIL_LIMITS", "off")]).await;
    let api = server.api(&server.org_with("custom", &["--limits", r#"{"events":1}"#]).await);
    let calendar = agent_with_calendar(&api).await.1;
    let desk = Desk::of(server, api, calendar);
    let page = desk.page(json!({ "embed_origins": ["https://a.example"], "conference_url": CALL })).await;
    let slots = desk.slots(&page).await;
    let (cancel, _) = desk.links(&desk.request(&page, &slots[5], Value::Null).await.expect(201));
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
    let page = Open::of(&made);
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
    let booked = desk.request(&page, &slots[5], Value::Null).await.expect(201);
    let (cancel, reschedule) = desk.links(&booked);
    for slug in ["second-call", "third-call"] {
        let changed = desk.patch(&page, json!({ "slug": slug })).await;
        assert_eq!(changed["booking_url"], format!("{}/book/{slug}", desk.server.base_url()));
    }
    for old in ["/book/first-call", "/book/second-call"] {
        let body = booking(&slots[9], json!({}));
        for answer in [desk.guest.get(format!("{old}/slots")).await, desk.guest.post(old).json(body).await] {
            answer.refused(404, "not_found").code("booking_page_not_found");
        }
        desk.see(old).await.with(404);
        desk.submit(old, &form(&slots[9], &[])).await.with(404);
    }
    page.book = "/book/third-call".to_owned();
    desk.see(&page.book).await.with(200);
    let later = desk.request(&page, &slots[9], Value::Null).await.expect(201);
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
    let booked = desk.request(&page, &slots[5], Value::Null).await.expect(201);
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
