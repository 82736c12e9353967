//! Words in events: `GET /v1/events/search`. Written without knowledge of the code.

use crate::on_both;
use std::collections::BTreeSet;

use kalends_e2e::{Call, Client, Database, Database::Postgres, Server, shifted};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::fixtures::{agent_with_calendar, calendar_of, event_body, has_exactly, now, shared_calendar};

/// The month of most events of these tests.
const MAY: &[(&str, &str)] = &[("start_after", "2031-05-01T00:00:00Z"), ("start_before", "2031-06-01T00:00:00Z")];
const JUNE: &[(&str, &str)] = &[("start_after", "2031-06-01T00:00:00Z"), ("start_before", "2031-07-01T00:00:00Z")];

/// More pages than any search of these tests has.
const PAGES_MAX: usize = 500;

/// A search with these parameters.
fn asking(api: &Client, query: &[(&str, &str)]) -> Call {
    api.get("/v1/events/search").query(query)
}

/// What a search for `q` with these parameters finds. One answer must have all of it.
async fn found(api: &Client, q: &str, query: &[(&str, &str)]) -> Vec<Value> {
    let answer = asking(api, &[("q", q), ("limit", "200")]).query(query).await.expect(200);
    has_exactly(&answer.json, &["data", "next"]);
    assert_eq!(answer["next"], Value::Null, "{}", answer.describe());
    answer.data()
}

/// What a search in May finds.
async fn in_may(api: &Client, q: &str) -> Vec<Value> {
    found(api, q, MAY).await
}

/// What a search from one time to another finds.
async fn between(api: &Client, q: &str, from: &str, to: &str) -> Vec<Value> {
    found(api, q, &[("start_after", from), ("start_before", to)]).await
}

/// What a search finds, page by page.
async fn paged(api: &Client, q: &str, query: &[(&str, &str)], limit: &str) -> Vec<Value> {
    let mut all = Vec::new();
    let mut cursor: Option<String> = None;
    for _ in 0..PAGES_MAX {
        let mut call = asking(api, &[("q", q), ("limit", limit)]).query(query);
        if let Some(cursor) = &cursor {
            call = call.query(&[("cursor", cursor.as_str())]);
        }
        let answer = call.await.expect(200);
        has_exactly(&answer.json, &["data", "next"]);
        let page = answer.data();
        assert!(page.len() <= limit.parse::<usize>().unwrap(), "{}", answer.describe());
        all.extend(page);
        cursor = answer["next"].as_str().map(str::to_owned);
        if cursor.is_none() {
            assert_eq!(answer["next"], Value::Null);
            return all;
        }
    }
    panic!("a search without an end");
}

/// One field of each event, sorted.
fn sorted(events: &[Value], field: &str) -> Vec<String> {
    let mut texts: Vec<String> = events.iter().map(|event| text(&event[field])).collect();
    texts.sort();
    texts
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a string: {value}")).to_owned()
}

/// The titles of events, sorted.
fn titles(events: &[Value]) -> Vec<String> {
    sorted(events, "title")
}

/// The body of an event from nine to ten on a day in May.
fn on(day: usize, title: &str) -> Value {
    let date = format!("2031-05-{day:02}");
    event_body(title, &format!("{date}T09:00:00Z"), &format!("{date}T10:00:00Z"))
}

/// The body of a series of half-hour events.
fn series(title: &str, start: &str, rule: &str) -> Value {
    let mut body = event_body(title, start, &shifted(start, 30));
    body["recurrence_rule"] = json!(rule);
    body
}

/// Creates these events.
async fn make(api: &Client, calendar: &str, events: &[Value]) {
    let made = api.post(format!("/v1/calendars/{calendar}/events/batch")).json(json!({ "events": events }));
    assert_eq!(made.await.expect(201).data().len(), events.len());
}

/// Creates an event and returns its identifier.
async fn made(api: &Client, calendar: &str, body: Value) -> String {
    api.post(format!("/v1/calendars/{calendar}/events")).json(body).await.expect(201).id()
}

/// Changes an event or an occurrence.
async fn change(api: &Client, id: &str, body: Value) {
    api.patch(format!("/v1/events/{id}")).json(body).await.expect(200);
}

/// Deletes an event or an occurrence.
async fn delete(api: &Client, id: &str) {
    api.delete(format!("/v1/events/{id}")).await.expect(204);
}

/// The identifier of the occurrence of `series` that the rule starts at this time.
fn instance(series: &str, start: &str) -> String {
    format!("{series}_{}", start.replace(['-', ':'], ""))
}

/// The start of the first occurrence of the only event that was found. It must be this series, and the occurrence must
/// last half an hour.
#[track_caller]
fn first_start(events: &[Value], series: &str) -> String {
    assert_eq!(sorted(events, "id"), [series]);
    let first = &events[0]["first_occurrence"];
    has_exactly(first, &["start_time", "end_time"]);
    let start = text(&first["start_time"]);
    assert_eq!(first["end_time"], json!(shifted(&start, 30)));
    start
}

#[apply(on_both)]
#[tokio::test]
async fn every_word_is_in_a_title_a_description_or_a_location(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "UTC").await;
    let mut dentist = on(1, "Zahnarzttermin");
    dentist["description"] = json!("Quarterly check");
    dentist["location"] = json!("Praxis Müller");
    let plain = [
        "CAFÉ Crème",
        "Größe",
        "Grosse Runde",
        "ＦＵＬＬ house",
        "100% sure",
        "1000 sure",
        "a_b",
        "axb",
        "ΟΔΥΣΣΕΥΣ",
        "İstanbul",
        "定例会議",
    ];
    let plain = plain.into_iter().enumerate().map(|(index, title)| on(index + 2, title));
    make(&api, &calendar, &[dentist].into_iter().chain(plain).collect::<Vec<_>>()).await;
    let mut board = on(20, "Board");
    board["description"] = json!("Bring the budget");
    board["location"] = json!("Room Alpha");
    board["metadata"] = json!({ "metakey": "metaword" });
    board["conference_url"] = json!("https://meet.example.com/confword");
    let id = made(&api, &calendar, board).await;

    let dentist: &[&str] = &["Zahnarzttermin"];
    let coffee: &[&str] = &["CAFÉ Crème"];
    let sizes: &[&str] = &["Grosse Runde", "Größe"];
    let cases: &[(&str, &[&str])] = &[
        // Within a word, in each field, and in several fields.
        ("termin", dentist),
        ("ZAHNARZTTERMIN", dentist),
        ("quarter", dentist),
        ("müller", dentist),
        ("muller", dentist),
        ("termin PRAXIS check", dentist),
        ("check termin", dentist),
        ("termin termin", dentist),
        ("\t termin \r\n praxis  ", dentist),
        ("termin\u{3000}praxis", dentist),
        ("termin budget", &[]),
        ("termin nowhere", &[]),
        // Case, accents and widths.
        ("cafe", coffee),
        ("CAFE", coffee),
        ("café", coffee),
        ("cafe\u{301}", coffee),
        ("creme Café", coffee),
        ("größe", sizes),
        ("grosse", sizes),
        ("GRÖSSE", sizes),
        ("GRÖẞE", sizes),
        ("full", &["ＦＵＬＬ house"]),
        ("ｆｕｌｌ ＨＯＵＳＥ", &["ＦＵＬＬ house"]),
        ("οδυσσευς", &["ΟΔΥΣΣΕΥΣ"]),
        ("Οδυσσεύς", &["ΟΔΥΣΣΕΥΣ"]),
        // A sigma at the end of the word, but not of the title's.
        ("ΟΔΥΣ", &["ΟΔΥΣΣΕΥΣ"]),
        ("istanbul", &["İstanbul"]),
        ("ISTANBUL", &["İstanbul"]),
        ("İSTANBUL", &["İstanbul"]),
        ("会議", &["定例会議"]),
        // No character stands for another one.
        ("100", &["100% sure", "1000 sure"]),
        ("100%", &["100% sure"]),
        ("%", &["100% sure"]),
        ("1%e", &[]),
        ("a_b", &["a_b"]),
        ("_", &["a_b"]),
        ("term.n", &[]),
        ("*", &[]),
        ("\\", &[]),
        ("'", &[]),
        ("\"", &[]),
        // A word does not go on in another field.
        ("boardbring", &[]),
        ("budgetroom", &[]),
        ("budget alpha board", &["Board"]),
        // Nothing else is searched.
        ("metaword", &[]),
        ("metakey", &[]),
        ("confword", &[]),
        (&id, &[]),
        (&calendar, &[]),
        ("confirmed", &[]),
    ];
    for &(q, expected) in cases {
        assert_eq!(titles(&in_may(&api, q).await), expected, "{q:?}");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn searches_that_make_no_sense_are_refused(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "UTC").await;
    let long = "é".repeat(200);
    let ten = "one two three four five six seven eight nine ten";
    make(&api, &calendar, &[on(1, &long), on(2, ten)]).await;
    assert_eq!(titles(&in_may(&api, &long).await), [long.as_str()]);
    assert_eq!(titles(&in_may(&api, ten).await), [ten]);

    let (longer, eleven) = (format!("{long}e"), format!("{ten} one"));
    asking(&api, MAY).await.refused(400, "validation_error").param("q");
    for q in ["", " ", "\t\n", &longer, &eleven] {
        asking(&api, MAY).query(&[("q", q)]).await.refused(400, "validation_error").param("q");
    }
    for (name, value) in [
        ("limit", "0"),
        ("limit", "201"),
        ("limit", "-1"),
        ("limit", "x"),
        ("limit", "1.5"),
        ("cursor", "x"),
        ("cursor", "no such place"),
        ("cursor", "AAAA"),
        ("local", "yes"),
    ] {
        let answer = asking(&api, MAY).query(&[("q", "one"), (name, value)]).await;
        answer.refused(400, "validation_error").param(name);
    }
    for name in ["start_after", "start_before"] {
        for value in ["2031-05-01", "2031-05-01T00:00:00", "2031-13-01T00:00:00Z", "soon", ""] {
            let answer = asking(&api, &[("q", "one"), (name, value)]).await;
            answer.refused(400, "validation_error").param(name);
        }
    }
    let near = asking(&api, MAY).query(&[("q", "one"), ("calender_id", &*calendar)]).await;
    near.refused(400, "validation_error").param("calender_id").code("unknown_field");

    // Windows of no length, and of more than 366 days.
    let from = "2031-05-01T00:00:00Z";
    let year = 366 * 24 * 60;
    let over = format!("{}.000001Z", shifted(from, year).trim_end_matches('Z'));
    let days = shifted(from, year + 1);
    for to in [from, "2031-04-30T23:59:59Z", "2031-05-01T01:00:00+02:00", &over, &days] {
        let answer = asking(&api, &[("q", "one"), ("start_after", from), ("start_before", to)]).await;
        answer.refused(400, "validation_error").param("start_before");
    }
    assert_eq!(titles(&between(&api, "one", from, &shifted(from, year)).await), [ten]);

    // Any plan will do, and each search is one call.
    server.anonymous().get("/v1/events/search?q=one").await.refused(401, "unauthorized");
    let free = server.api(&server.org("free").await);
    let used = async || free.get("/v1/usage").await.expect(200)["api_calls"]["used"].as_u64().unwrap();
    let before = used().await;
    assert_eq!(in_may(&free, "one").await, Vec::<Value>::new());
    assert_eq!(used().await, before + 2, "the search and the second look at the usage");
}

#[apply(on_both)]
#[tokio::test]
async fn events_are_found_by_their_starts(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "UTC").await;
    let hour = |title: &str, start: &str| event_body(title, start, &shifted(start, 60));
    let (from, to) = ("2031-05-06T09:00:00Z", "2031-05-07T09:00:00Z");
    let (year, minute) = (366 * 24 * 60, 1);
    let began = now(&api).await;
    let events = [
        hour("word before", &shifted(from, -minute)),
        hour("word at once", from),
        hour("word late", &shifted(to, -minute)),
        hour("word after", to),
        hour("word last", &shifted(from, year - minute)),
        hour("word over", &shifted(from, year)),
        hour("word early", &shifted(from, -year)),
        hour("word too early", &shifted(from, -year - minute)),
        hour("recent past", &shifted(&began, -60)),
        hour("recent soon", &shifted(&began, 60)),
        hour("recent far", &shifted(&began, year - 24 * 60)),
        hour("recent beyond", &shifted(&began, year + 24 * 60)),
        hour("sylvester", "2099-12-31T09:00:00Z"),
        hour("epoch", "1970-01-01T09:00:00Z"),
    ];
    make(&api, &calendar, &events).await;

    // An event that lasts into the window is not found.
    for (from, to) in [(from, to), ("2031-05-06T11:00:00+02:00", "2031-05-07T00:00:00-09:00")] {
        assert_eq!(titles(&between(&api, "word", from, to).await), ["word at once", "word late"]);
    }
    assert_eq!(titles(&between(&api, "word", "2031-05-06T09:00:00.000001Z", to).await), ["word late"]);
    // One of the two ends.
    let after = found(&api, "word", &[("start_after", from)]).await;
    assert_eq!(titles(&after), ["word after", "word at once", "word last", "word late"]);
    let before = found(&api, "word", &[("start_before", from)]).await;
    assert_eq!(titles(&before), ["word before", "word early"]);
    // None of them.
    assert_eq!(titles(&found(&api, "recent", &[]).await), ["recent far", "recent soon"]);
    for limit in ["1", "2", "50"] {
        assert_eq!(titles(&paged(&api, "recent", &[], limit).await), ["recent far", "recent soon"], "{limit}");
    }
    // The other end is beyond the years of events.
    let last = found(&api, "sylvester", &[("start_after", "2099-12-31T00:00:00Z")]).await;
    assert_eq!(titles(&last), ["sylvester"]);
    let first = found(&api, "epoch", &[("start_before", "1970-01-02T00:00:00Z")]).await;
    assert_eq!(titles(&first), ["epoch"]);
}

#[apply(on_both)]
#[tokio::test]
async fn a_search_sees_what_its_caller_may_see(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (ada, work) = agent_with_calendar(&api).await;
    let home = calendar_of(&api, &ada).await;
    let (bob, bobs) = agent_with_calendar(&api).await;
    let shared = shared_calendar(&api, "UTC").await;
    for (calendar, title) in [(&work, "budget 1"), (&home, "budget 2"), (&bobs, "budget 3"), (&shared, "budget 4")] {
        make(&api, calendar, &[on(4, title), on(5, "Other")]).await;
    }
    let stranger = server.api(&server.org("pro").await);
    let (foreign, abroad) = agent_with_calendar(&stranger).await;
    make(&stranger, &abroad, &[on(4, "budget 5")]).await;
    assert_eq!(titles(&in_may(&stranger, "budget").await), ["budget 5"]);

    let key = text(&api.post("/v1/keys").json(json!({ "agent_id": ada })).await.expect(201)["key"]);
    let scoped = server.client(&key);
    let seen = async |api: &Client, query: &[(&str, &str)]| {
        let found = found(api, "budget", &[MAY, query].concat()).await;
        titles(&found).iter().map(|title| title.trim_start_matches("budget ").to_owned()).collect::<Vec<_>>().concat()
    };
    assert_eq!((seen(&api, &[]).await.as_str(), seen(&scoped, &[]).await.as_str()), ("1234", "12"));
    let cases: &[(&[(&str, &str)], &str)] = &[
        (&[("calendar_id", &work)], "1"),
        (&[("agent_id", &ada)], "12"),
        (&[("agent_id", &ada), ("calendar_id", &home)], "2"),
    ];
    for &(query, expected) in cases {
        assert_eq!(seen(&api, query).await, expected, "{query:?}");
        assert_eq!(seen(&scoped, query).await, expected, "{query:?}");
    }
    let cases: &[(&[(&str, &str)], &str)] = &[
        (&[("calendar_id", &shared)], "4"),
        (&[("agent_id", &bob)], "3"),
        (&[("agent_id", &ada), ("calendar_id", &bobs)], ""),
        (&[("agent_id", &bob), ("calendar_id", &shared)], ""),
    ];
    for &(query, expected) in cases {
        assert_eq!(seen(&api, query).await, expected, "{query:?}");
        asking(&scoped, MAY).query(&[("q", "budget")]).query(query).await.refused(403, "forbidden");
    }
    for (name, id) in
        [("calendar_id", &*abroad), ("calendar_id", "cal_nobody"), ("agent_id", &*foreign), ("agent_id", "agt_nobody")]
    {
        asking(&api, MAY).query(&[("q", "budget"), (name, id)]).await.refused(404, "not_found");
    }

    // Cancelled events are there. Deleted ones are not, nor is what was deleted with its calendar or its agent.
    let id = text(&found(&api, "budget", &[MAY, &[("calendar_id", &*work)]].concat()).await[0]["id"]);
    change(&api, &id, json!({ "status": "cancelled" })).await;
    let cancelled = found(&api, "budget", &[MAY, &[("calendar_id", &*work)]].concat()).await;
    assert_eq!((cancelled.len(), &cancelled[0]["status"]), (1, &json!("cancelled")));
    delete(&api, &id).await;
    assert_eq!(seen(&api, &[]).await, "234");
    api.delete(format!("/v1/calendars/{home}")).await.expect(204);
    assert_eq!((seen(&api, &[]).await.as_str(), seen(&scoped, &[]).await.as_str()), ("34", ""));
    asking(&api, MAY).query(&[("q", "budget"), ("calendar_id", &*home)]).await.refused(404, "not_found");
    api.delete(format!("/v1/agents/{bob}")).await.expect(204);
    assert_eq!(seen(&api, &[]).await, "4");
}

#[apply(on_both)]
#[tokio::test]
async fn pages_have_each_event_once(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, first) = agent_with_calendar(&api).await;
    let second = calendar_of(&api, &owner).await;
    let shared = shared_calendar(&api, "UTC").await;
    let mut expected = Vec::new();
    for (place, calendar) in [&first, &second, &shared].into_iter().enumerate() {
        // They are not created by their starts, and some starts are equal. One in three has another title.
        let mut events = Vec::new();
        for index in 0..30_usize {
            let title = format!("{} {place}-{index:02}", if index % 3 == 0 { "Lunch" } else { "Budget" });
            events.push(on(1 + index * 7 % 15, &title));
            if index % 3 != 0 {
                expected.push(title);
            }
        }
        make(&api, calendar, &events).await;
    }
    let whole = in_may(&api, "budget").await;
    assert_eq!(titles(&whole), expected);
    // By calendar, then by start.
    let mut begun = BTreeSet::new();
    for of_calendar in whole.chunk_by(|one, next| one["calendarId"] == next["calendarId"]) {
        assert!(begun.insert(text(&of_calendar[0]["calendarId"])), "a calendar comes twice");
        assert!(of_calendar.is_sorted_by_key(|event| text(&event["startTime"])), "{of_calendar:#?}");
    }
    assert_eq!(begun.len(), 3);
    for limit in ["1", "7", "20", "60", "200"] {
        assert_eq!(paged(&api, "budget", MAY, limit).await, whole, "{limit}");
    }
    for (name, value, count) in [("agent_id", &owner, 40), ("calendar_id", &second, 20)] {
        let query = [MAY, &[(name, value.as_str())]].concat();
        assert_eq!(paged(&api, "budget", &query, "3").await.len(), count);
    }
    // Pages have 50 events unless the request says otherwise.
    let page = asking(&api, MAY).query(&[("q", "budget")]).await.expect(200);
    assert_eq!(page.data(), whole[..50]);
    let next = text(&page["next"]);
    let rest = asking(&api, MAY).query(&[("q", "budget"), ("cursor", &*next)]).await.expect(200);
    assert_eq!((rest.data(), &rest["next"]), (whole[50..].to_vec(), &Value::Null));
    // An event that is deleted between two pages does not hide others.
    let page = asking(&api, MAY).query(&[("q", "budget"), ("limit", "5")]).await.expect(200);
    delete(&api, &text(&page.data()[4]["id"])).await;
    let next = text(&page["next"]);
    let rest = asking(&api, MAY).query(&[("q", "budget"), ("limit", "200"), ("cursor", &*next)]).await.expect(200);
    assert_eq!(rest.data(), whole[5..]);
}

#[apply(on_both)]
#[tokio::test]
async fn a_series_is_found_by_its_first_occurrence_in_the_window(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "Europe/Berlin").await;
    // Mondays at nine in Berlin, where summer time begins on 30 March.
    let mut body = series("Budget review", "2031-03-03T08:00:00Z", "FREQ=WEEKLY;BYDAY=MO");
    body["recurrence_timezone"] = json!("Europe/Berlin");
    let weekly = made(&api, &calendar, body).await;
    for (from, to, first) in [
        ("2031-03-01T00:00:00Z", "2032-03-01T00:00:00Z", "2031-03-03T08:00:00Z"),
        ("2031-03-03T08:00:00Z", "2031-03-03T08:00:01Z", "2031-03-03T08:00:00Z"),
        ("2031-07-02T00:00:00Z", "2031-08-01T00:00:00Z", "2031-07-07T07:00:00Z"),
        ("2031-07-07T07:00:00Z", "2031-07-07T07:00:01Z", "2031-07-07T07:00:00Z"),
        ("2031-07-07T07:00:01Z", "2031-07-14T07:00:01Z", "2031-07-14T07:00:00Z"),
        ("2090-01-01T00:00:00Z", "2090-02-01T00:00:00Z", "2090-01-02T08:00:00Z"),
    ] {
        let events = between(&api, "budget", from, to).await;
        assert_eq!(first_start(&events, &weekly), first, "{from} to {to}");
        let event = &events[0];
        assert_eq!(event["startTime"], "2031-03-03T08:00:00Z", "its own start");
        assert_eq!(
            (&event["recurrenceRule"], &event["title"]),
            (&json!("FREQ=WEEKLY;BYDAY=MO"), &json!("Budget review"))
        );
    }
    for (from, to) in [
        ("2031-02-01T00:00:00Z", "2031-03-03T08:00:00Z"),
        ("2031-07-07T07:00:01Z", "2031-07-14T07:00:00Z"),
        ("2031-07-08T00:00:00Z", "2031-07-14T00:00:00Z"),
    ] {
        assert_eq!(between(&api, "budget", from, to).await, Vec::<Value>::new(), "{from} to {to}");
    }

    // Cancelled and changed occurrences do not count.
    delete(&api, &instance(&weekly, "2031-07-07T07:00:00Z")).await;
    let retro = instance(&weekly, "2031-07-14T07:00:00Z");
    change(&api, &retro, json!({ "title": "Retro" })).await;
    let july = "2031-07-02T00:00:00Z";
    let events = between(&api, "budget", july, "2031-07-21T07:00:01Z").await;
    assert_eq!(first_start(&events, &weekly), "2031-07-21T07:00:00Z");
    assert_eq!(between(&api, "budget", july, "2031-07-21T07:00:00Z").await, Vec::<Value>::new());
    assert_eq!(sorted(&between(&api, "retro", july, "2031-08-01T00:00:00Z").await, "id"), [retro]);
    change(&api, &weekly, json!({ "recurrence_exdates": [] })).await;
    let events = between(&api, "budget", july, "2031-07-21T07:00:00Z").await;
    assert_eq!(first_start(&events, &weekly), "2031-07-07T07:00:00Z");
    delete(&api, &weekly).await;
    assert_eq!(between(&api, "budget", july, "2031-08-01T00:00:00Z").await, Vec::<Value>::new());

    // A series that has ended, and events that do not repeat.
    let daily = made(&api, &calendar, series("Planning", "2031-05-05T09:00:00Z", "FREQ=DAILY;COUNT=3")).await;
    let end = "2031-06-01T00:00:00Z";
    let events = between(&api, "planning", "2031-05-07T09:00:00Z", end).await;
    assert_eq!(first_start(&events, &daily), "2031-05-07T09:00:00Z");
    assert_eq!(between(&api, "planning", "2031-05-07T09:00:01Z", end).await, Vec::<Value>::new());
    make(&api, &calendar, &[on(20, "Once")]).await;
    assert!(in_may(&api, "once").await[0].get("first_occurrence").is_none());
    change(&api, &daily, json!({ "recurrence_rule": null })).await;
    let events = in_may(&api, "planning").await;
    assert_eq!((sorted(&events, "id"), events[0].get("first_occurrence")), (vec![daily], None));
}

#[apply(on_both)]
#[tokio::test]
async fn a_changed_occurrence_is_found_if_its_series_is_not(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "UTC").await;
    let none = Vec::<String>::new();
    let ids = async |q: &str, query: &[(&str, &str)]| sorted(&found(&api, q, query).await, "id");

    // Another text, and another text in June.
    let standup = made(&api, &calendar, series("Standup", "2031-05-05T09:00:00Z", "FREQ=DAILY;COUNT=5")).await;
    let tuesday = instance(&standup, "2031-05-06T09:00:00Z");
    let wednesday = instance(&standup, "2031-05-07T09:00:00Z");
    change(&api, &tuesday, json!({ "title": "Budget talk" })).await;
    change(&api, &wednesday, json!({ "location": "Budget room", "start_time": "2031-06-02T09:00:00Z" })).await;
    let events = in_may(&api, "budget").await;
    assert_eq!(sorted(&events, "id"), [tuesday.as_str()]);
    assert!(events[0].get("first_occurrence").is_none());
    assert_eq!(events[0], api.get(format!("/v1/events/{tuesday}")).await.expect(200).json);
    assert_eq!(ids("budget", JUNE).await, [wednesday.as_str()]);
    assert_eq!(ids("room standup", JUNE).await, [wednesday.as_str()]);
    assert_eq!(ids("standup", JUNE).await, [wednesday.as_str()], "the series is not in June");
    let all_of_it = [MAY[0], JUNE[1]];
    assert_eq!(ids("standup", &all_of_it).await, [standup.as_str()]);
    assert_eq!(ids("budget", &all_of_it).await, [tuesday.as_str(), wednesday.as_str()]);
    assert_eq!(first_start(&in_may(&api, "standup").await, &standup), "2031-05-05T09:00:00Z");
    // The series gets another text. What was changed keeps its own.
    change(&api, &standup, json!({ "title": "Sync" })).await;
    assert_eq!(ids("standup", MAY).await, none);
    assert_eq!(ids("sync", MAY).await, [standup.as_str()]);
    assert_eq!(ids("standup", JUNE).await, [wednesday.as_str()]);

    // With the words of its series, before the series begins.
    let quarter = made(&api, &calendar, series("Quarter", "2031-05-12T09:00:00Z", "FREQ=DAILY;COUNT=4")).await;
    let early = instance(&quarter, "2031-05-14T09:00:00Z");
    change(&api, &early, json!({ "title": "Quarter, early", "start_time": "2031-05-02T09:00:00Z" })).await;
    assert_eq!(ids("quarter", MAY).await, [quarter.as_str()]);
    assert_eq!(ids("quarter early", MAY).await, [early.as_str()], "the series does not have both words");
    let week = [MAY[0], ("start_before", "2031-05-05T00:00:00Z")];
    assert_eq!(ids("quarter", &week).await, [early.as_str()]);

    // Every occurrence has been changed.
    let review = made(&api, &calendar, series("Review", "2031-05-19T09:00:00Z", "FREQ=DAILY;COUNT=2")).await;
    let both = ["2031-05-19T09:00:00Z", "2031-05-20T09:00:00Z"].map(|start| instance(&review, start));
    change(&api, &both[0], json!({ "description": "Slides" })).await;
    assert_eq!(ids("review", MAY).await, [review.as_str()]);
    change(&api, &both[1], json!({ "description": "Slides" })).await;
    assert_eq!(ids("review", MAY).await, both);
    assert_eq!(ids("slides", MAY).await, both);

    // Page by page, the same events are found.
    for (q, count) in [("quarter", 1), ("review", 2), ("budget", 2), ("e", 5)] {
        let whole = sorted(&found(&api, q, &all_of_it).await, "id");
        assert_eq!(whole.len(), count, "{q}: {whole:?}");
        for limit in ["1", "2", "3"] {
            assert_eq!(sorted(&paged(&api, q, &all_of_it, limit).await, "id"), whole, "{q} by {limit}");
        }
    }

    delete(&api, &both[0]).await;
    assert_eq!(ids("slides", MAY).await, [both[1].as_str()]);
    delete(&api, &review).await;
    assert_eq!(ids("slides", MAY).await, none);
    assert_eq!(ids("review", MAY).await, none);
}

#[apply(on_both)]
#[tokio::test]
async fn a_search_sees_the_text_as_it_is_now(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (calendar, other) = (shared_calendar(&api, "UTC").await, shared_calendar(&api, "UTC").await);
    let ids = async |q: &str| sorted(&in_may(&api, q).await, "id");
    let none = Vec::<String>::new();
    let mut body = on(6, "Apple");
    body["description"] = json!("Banana");
    body["location"] = json!("Cherry");
    let id = made(&api, &calendar, body).await;
    assert_eq!(ids("apple banana cherry").await, [id.as_str()]);
    for (body, gone, there) in [
        (json!({ "title": "Damson" }), "apple", "damson"),
        (json!({ "description": null }), "banana", "damson"),
        (json!({ "location": "Elderberry" }), "cherry", "elder damson"),
        (json!({ "description": "Fig" }), "banana", "fig"),
    ] {
        change(&api, &id, body).await;
        assert_eq!((ids(gone).await, ids(there).await), (none.clone(), vec![id.clone()]));
    }
    // Another time, and another calendar.
    change(&api, &id, json!({ "start_time": "2031-06-06T09:00:00Z" })).await;
    assert_eq!(ids("damson").await, none);
    assert_eq!(sorted(&found(&api, "damson", JUNE).await, "id"), [id.as_str()]);
    api.post(format!("/v1/events/{id}/move")).json(json!({ "calendar_id": other })).await.expect(200);
    for (calendar, count) in [(&calendar, 0), (&other, 1)] {
        let query = [JUNE, &[("calendar_id", calendar.as_str())]].concat();
        assert_eq!(found(&api, "damson", &query).await.len(), count);
    }

    // A series with another text from one day on.
    let old = made(&api, &calendar, series("Standup", "2031-05-05T09:00:00Z", "FREQ=DAILY;COUNT=10")).await;
    let late = instance(&old, "2031-05-12T09:00:00Z");
    change(&api, &late, json!({ "description": "Guests" })).await;
    let split = api.patch(format!("/v1/events/{}?scope=following", instance(&old, "2031-05-09T09:00:00Z")));
    let new = split.json(json!({ "title": "Retro" })).await.expect(200).id();
    assert_eq!(first_start(&in_may(&api, "standup").await, &old), "2031-05-05T09:00:00Z");
    assert_eq!(first_start(&in_may(&api, "retro").await, &new), "2031-05-09T09:00:00Z");
    assert_eq!(between(&api, "standup", "2031-05-09T00:00:00Z", "2031-06-01T00:00:00Z").await, Vec::<Value>::new());
    assert_eq!(ids("guests").await, [instance(&new, "2031-05-12T09:00:00Z")]);
    // All of it, at another time.
    let all = api.patch(format!("/v1/events/{}?scope=all", instance(&new, "2031-05-10T09:00:00Z")));
    all.json(json!({ "title": "Outlook", "start_time": "2031-05-10T11:00:00Z" })).await.expect(200);
    assert_eq!(ids("retro").await, none);
    assert_eq!(first_start(&in_may(&api, "outlook").await, &new), "2031-05-09T11:00:00Z");
    // The rest of it ends.
    api.delete(format!("/v1/events/{}?scope=following", instance(&new, "2031-05-11T11:00:00Z"))).await.expect(204);
    assert_eq!(ids("guests").await, none);
    assert_eq!(between(&api, "outlook", "2031-05-11T00:00:00Z", "2031-06-01T00:00:00Z").await, Vec::<Value>::new());
}

#[apply(on_both)]
#[tokio::test]
async fn events_look_as_they_do_in_lists(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let berlin = shared_calendar(&api, "Europe/Berlin").await;
    let kolkata = shared_calendar(&api, "Asia/Kolkata").await;
    for calendar in [&berlin, &kolkata] {
        let mut full = on(5, "Budget");
        for (field, value) in [
            ("description", json!("All of it")),
            ("location", json!("Room 2")),
            ("metadata", json!({ "ticket": 7 })),
            ("reminders", json!([15])),
            ("status", json!("tentative")),
        ] {
            full[field] = value;
        }
        let mut whole_day = event_body("Budget day", "2031-05-06", "2031-05-07");
        whole_day["all_day"] = json!(true);
        make(&api, calendar, &[full, whole_day]).await;
        made(&api, calendar, series("Budget daily", "2031-05-07T20:00:00Z", "FREQ=DAILY;COUNT=3")).await;
    }
    for local in ["false", "true"] {
        let query = [MAY, &[("local", local)]].concat();
        let all = found(&api, "budget", &query).await;
        assert_eq!(all.len(), 6);
        for (calendar, zone, weekday) in
            [(&berlin, "Europe/Berlin", "wednesday"), (&kolkata, "Asia/Kolkata", "thursday")]
        {
            let mut of_calendar: Vec<Value> =
                all.iter().filter(|event| event["calendarId"] == calendar.as_str()).cloned().collect();
            for event in &mut of_calendar {
                let first = event.as_object_mut().unwrap().remove("first_occurrence");
                assert_eq!(first.is_some(), event["title"] == "Budget daily");
                if local == "true" {
                    assert_eq!(event["local"]["timezone"], zone);
                }
            }
            let list = api.get(format!("/v1/calendars/{calendar}/events?local={local}")).await.expect(200);
            assert_eq!(of_calendar, list.data());
            if local == "true" {
                assert_eq!(of_calendar[2]["local"]["weekday"], weekday);
            } else {
                assert!(of_calendar.iter().all(|event| event.get("local").is_none()));
            }
        }
    }
}

#[tokio::test]
async fn every_node_finds_what_another_one_has_written() {
    let (server, api) = Server::with_org(Postgres, "pro").await;
    let calendar = shared_calendar(&api, "UTC").await;
    let node = server.another_node().await;
    let there = api.moved_to(node.base_url());
    let id = made(&api, &calendar, on(6, "Word 0")).await;
    for round in 1..10 {
        let (old, new) = (format!("Word {}", round - 1), format!("Word {round}"));
        assert_eq!(titles(&in_may(&there, "word").await), [old.as_str()]);
        change(&api, &id, json!({ "title": new })).await;
        assert_eq!(titles(&in_may(&there, &new).await), [new.as_str()]);
        assert_eq!(in_may(&there, &old).await, Vec::<Value>::new());
    }
    delete(&api, &id).await;
    assert_eq!(in_may(&there, "word").await, Vec::<Value>::new());
}
