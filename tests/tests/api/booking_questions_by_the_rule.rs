//! The questions of a booking page and their answers, and what guests see of the page and its host. Written without
//! knowledge of the code.

use crate::on_both;
use kalends_e2e::Database;
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    claims::text,
    desk::{CALL, Desk, EMAIL, EVIL, HOST, NAME, Open, PAGES, PLACE, Seen, booking, form},
    fixtures::has_exactly,
};

impl Desk {
    async fn markdown(&self, page: &Open) -> String {
        let call = self.guest.undescribed().get(&page.book).header("accept", "text/markdown");
        call.await.expect(200).text()
    }
}

impl Seen {
    /// The start tag of a question's field.
    #[track_caller]
    fn field(&self, id: &str) -> &str {
        let mark = format!(" name=\"answers[{id}]\"");
        let place = self.text.find(&mark).unwrap_or_else(|| panic!("no field{mark}: {}", self.text));
        let begin = self.text[..place].rfind('<').unwrap();
        self.text[begin..].split('>').next().unwrap()
    }

    /// The number of mistakes that are named at their fields.
    fn problems(&self) -> usize {
        self.text.matches("class=\"problem\"").count()
    }
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
pub(crate) fn details() -> Value {
    json!({
        "slug": "intro-call", "host_name": HOST, "location": PLACE, "conference_url": CALL, "accent_color": "#0f6457",
        "embed_origins": ["https://a.example", "https://b.example:8443"], "questions": questions()
    })
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
async fn answers_are_kept_with_the_booking(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({ "questions": questions() })).await;
    let slots = desk.slots(&page).await;
    let booked = desk.request(&page, &slots[5], answers()).await.expect(201);
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
    let booked = desk.request(&page, &slots[10], least.clone()).await.expect(201);
    assert_eq!(desk.event(&booked).await["metadata"]["booking"]["answers"], least);
    (least["news"], least["story"]) = (json!(false), json!("x".repeat(2_000)));
    let booked = desk.request(&page, &slots[11], least.clone()).await.expect(201);
    let kept = desk.event(&booked).await["metadata"]["booking"]["answers"].clone();
    assert_eq!((&kept["story"], kept["news"] == true), (&least["story"], false));

    // Without answers there is nothing to show.
    let optional = json!([{ "id": "topic", "label": "What?", "type": "text" }]);
    for fields in [json!({}), json!({ "questions": optional })] {
        let page = desk.page(fields).await;
        for (slot, none) in [(20, Value::Null), (21, json!({}))] {
            let start = desk.slots(&page).await[slot].clone();
            let booked = desk.request(&page, &start, none).await.expect(201);
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
            let answer = desk.request(&page, &slots[5], given).await.refused(400, "validation_error");
            assert_eq!(answer.at("/error/param"), format!("answers.{id}"), "{value}: {}", answer.describe());
        }
    }
    for missing in ["topic", "team", "terms"] {
        let mut given = answers();
        given.as_object_mut().unwrap().remove(missing);
        let answer = desk.request(&page, &slots[5], given).await;
        answer.refused(400, "validation_error").param(&format!("answers.{missing}"));
    }
    for none in [Value::Null, json!({})] {
        desk.request(&page, &slots[5], none).await.refused(400, "validation_error").param("answers.topic");
    }
    let (mut unknown, mut huge) = (answers(), answers());
    unknown["shoe"] = json!("9");
    // Each answer is short enough, but together they are not.
    (huge["topic"], huge["story"]) = (json!("x".repeat(500)), json!("é".repeat(2_000)));
    for whole in [unknown, huge, json!([]), json!("Engines"), json!(7)] {
        desk.request(&page, &slots[5], whole).await.refused(400, "validation_error").param("answers");
    }
    let silent = desk.page(json!({})).await;
    let answer = desk.request(&silent, &slots[5], json!({ "topic": "Engines" })).await;
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
    let booked = desk.request(&page, &slots[5], Value::Null).await.expect(201);
    let secret = ["meet.example.com"];
    let confirm = format!("{}?slot={}", page.book, slots[9]);
    desk.see(&page.book).await.with(200).lacks(&secret);
    desk.see(&confirm).await.with(200).lacks(&secret);
    desk.see(&format!("{}?slot={}", page.book, slots[5])).await.with(409).lacks(&secret);
    desk.submit(&page.book, &form(&slots[5], &[])).await.with(409).lacks(&secret);
    desk.submit(&page.book, &[("start", &slots[9])]).await.with(400).lacks(&secret);
    let taken = desk.request(&page, &slots[5], Value::Null).await.refused(409, "conflict");
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
    let booked = desk.request(&plain, &slots[20], Value::Null).await.expect(201);
    has_exactly(&booked["event"], &["id", "title", "start_time", "end_time", "status"]);
    let event = desk.event(&booked).await;
    assert_eq!((event.get("location"), event.get("conferenceUrl")), (None, None));
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
    let mut body = booking(&slots[5], json!({ "answers": { "team": "evil.example" } }));
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
    let booked = desk.request(&page, &slots[5], Value::Null).await.expect(201);
    let (cancel, reschedule) = desk.links(&booked);
    let asked = desk.see(&cancel).await.with(200);
    assert_eq!(desk.events().await, 1, "the page only asks");
    let other = desk.request(&page, &slots[9], Value::Null).await.expect(201);
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
    let booked = desk.request(&page, &slots[5], answers()).await.expect(201);
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
    let later = desk.request(&page, &slots[9], Value::Null).await.expect(201);
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
