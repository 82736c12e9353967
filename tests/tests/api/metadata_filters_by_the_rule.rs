//! Lists of events by their metadata: `metadata.KEY=VALUE`. Written without knowledge of the code.

use crate::on_both;
use std::collections::{BTreeMap, BTreeSet};

use futures::future::join_all;
use kalends_e2e::{Answer, Call, Client, Database, Database::Postgres, Server, Serving, shifted};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Map, Number, Value, json};

use crate::{
    bookings::{booking, starts},
    fixtures::{agent_with_calendar, calendar_of, event_body, has_exactly, shared_calendar},
    holds::{hold_body, in_seconds},
    proposals::{Team, accept, key_of, respond, slot, slot_id},
    subscriber::{Subscriber, meeting, vcalendar},
};

/// Parameters of a query.
type Query<'a> = &'a [(&'a str, &'a str)];

/// The month of the events of these tests.
const MAY: &[(&str, &str)] = &[("start_after", "2031-05-01T00:00:00Z"), ("start_before", "2031-06-01T00:00:00Z")];
const EXPANDED: &[(&str, &str)] = &[("expand", "true"), MAY[0], MAY[1]];

/// The path of a calendar's events.
fn of_calendar(calendar: &str) -> String {
    format!("/v1/calendars/{calendar}/events")
}

/// The path of an agent's events.
fn of_agent(agent: &str) -> String {
    format!("/v1/agents/{agent}/events")
}

/// A list with these filters. Each has a key and a value.
fn asking(api: &Client, path: &str, filters: &[(&str, &str)]) -> Call {
    filters.iter().fold(api.get(path), |call, &(key, value)| {
        let name = format!("metadata.{key}");
        call.query(&[(name.as_str(), value)])
    })
}

/// The entries of a list that fit on one page.
#[track_caller]
fn whole(answer: &Answer) -> Vec<Value> {
    has_exactly(&answer.json, &["data", "total", "limit", "offset"]);
    let entries = answer.data();
    assert_eq!((&answer["total"], &answer["offset"]), (&json!(entries.len()), &json!(0)), "{}", answer.describe());
    entries
}

/// What a list with these filters and parameters finds.
async fn found_with(api: &Client, path: &str, filters: &[(&str, &str)], more: &[(&str, &str)]) -> Vec<Value> {
    whole(&asking(api, path, filters).query(&[("limit", "200")]).query(more).await.expect(200))
}

/// What a list with these filters finds.
async fn found(api: &Client, path: &str, filters: &[(&str, &str)]) -> Vec<Value> {
    found_with(api, path, filters, &[]).await
}

/// What a list with these filters finds, page by page. Every page must have the same `total`.
async fn paged(
    api: &Client,
    path: &str,
    filters: &[(&str, &str)],
    more: &[(&str, &str)],
    limit: usize,
) -> (usize, Vec<Value>) {
    let (mut all, mut total) = (Vec::new(), None);
    loop {
        let (limit_text, offset) = (limit.to_string(), all.len().to_string());
        let page = [("limit", limit_text.as_str()), ("offset", offset.as_str())];
        let answer = asking(api, path, filters).query(more).query(&page).await.expect(200);
        assert_eq!((&answer["limit"], &answer["offset"]), (&json!(limit), &json!(all.len())));
        let counted = usize::try_from(answer["total"].as_u64().unwrap()).unwrap();
        assert_eq!(*total.get_or_insert(counted), counted, "{}", answer.describe());
        let entries = answer.data();
        assert_eq!(entries.len(), limit.min(counted.saturating_sub(all.len())), "{}", answer.describe());
        if entries.is_empty() {
            return (counted, all);
        }
        all.extend(entries);
    }
}

/// One field of each event, in the order of the list.
fn column(events: &[Value], field: &str) -> Vec<String> {
    events.iter().map(|event| text(&event[field])).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a string: {value}")).to_owned()
}

async fn titles(api: &Client, path: &str, filters: &[(&str, &str)]) -> Vec<String> {
    column(&found(api, path, filters).await, "title")
}

async fn ids(api: &Client, path: &str, filters: &[(&str, &str)]) -> Vec<String> {
    column(&found(api, path, filters).await, "id")
}

/// The start of the event with this number, half an hour after that of the one before it.
fn start(number: usize) -> String {
    shifted("2031-05-01T06:00:00Z", 30 * i64::try_from(number).unwrap())
}

/// The body of an event of half an hour with this metadata.
fn with(title: &str, start: &str, metadata: Value) -> Value {
    let mut body = event_body(title, start, &shifted(start, 30));
    body["metadata"] = metadata;
    body
}

/// The body of a daily series.
fn series(title: &str, start: &str, count: usize, metadata: Value) -> Value {
    let mut body = with(title, start, metadata);
    body["recurrence_rule"] = json!(format!("FREQ=DAILY;COUNT={count}"));
    body
}

/// Creates these events and returns their identifiers.
async fn make(api: &Client, calendar: &str, events: &[Value]) -> Vec<String> {
    let made = api.post(format!("{}/batch", of_calendar(calendar))).json(json!({ "events": events }));
    let ids = made.await.expect(201).column("id");
    assert_eq!(ids.len(), events.len());
    ids
}

/// Creates an event and returns its identifier.
async fn made(api: &Client, calendar: &str, body: Value) -> String {
    api.post(of_calendar(calendar)).json(body).await.expect(201).id()
}

/// Changes an event or an occurrence.
async fn change(api: &Client, id: &str, body: Value) -> Answer {
    api.patch(format!("/v1/events/{id}")).json(body).await.expect(200)
}

/// Gives an event or an occurrence this metadata.
async fn mark(api: &Client, id: &str, metadata: Value) {
    change(api, id, json!({ "metadata": metadata })).await;
}

/// Deletes an event or an occurrence.
async fn delete(api: &Client, id: &str) {
    api.delete(format!("/v1/events/{id}")).await.expect(204);
}

/// Moves an event to a calendar.
async fn moved(api: &Client, id: &str, calendar: &str) {
    api.post(format!("/v1/events/{id}/move")).json(json!({ "calendar_id": calendar })).await.expect(200);
}

/// The identifier of the occurrence of `series` that the rule starts at this time.
fn instance(series: &str, start: &str) -> String {
    format!("{series}_{}", start.replace(['-', ':'], ""))
}

/// What takes place in May and matches: the day, the time and the title. Both lists must have it.
async fn taking_place(api: &Client, owner: &str, calendar: &str, filters: &[(&str, &str)]) -> Vec<String> {
    let events = found_with(api, &of_calendar(calendar), filters, EXPANDED).await;
    assert_eq!(found_with(api, &of_agent(owner), filters, EXPANDED).await, events, "{filters:?}");
    for limit in [1, 2, 3] {
        let pages = paged(api, &of_calendar(calendar), filters, EXPANDED, limit).await;
        assert_eq!(pages, (events.len(), events.clone()), "{filters:?} by {limit}");
    }
    let shown = |event: &Value| format!("{} {}", &text(&event["startTime"])[8..16], text(&event["title"]));
    events.iter().map(shown).collect()
}

/// The refusal of a call, without its message.
fn refusal(answer: &Answer) -> (u16, Value, Value) {
    (answer.status, answer.at("/error/type"), answer.at("/error/code"))
}

#[apply(on_both)]
#[tokio::test]
async fn a_value_is_compared_with_texts_numbers_and_booleans(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    let stored = [
        json!([7, 7.0, "7", "7.0", "07", "+7", " 7", -7, "-7", 70, 0.5, "0.5", ".5", 0, -0.0, "0", 0.1]),
        json!([1000, 1000.0, "1e3", 1e300, true, "true", "True", false, "false", null, "null"]),
        json!([[], [7], ["7"], {}, { "k": 7 }, "", " ", "Ada", "ada", "Ada ", "Café", "Cafe\u{301}", "Cafe"]),
        json!(["ß", "ss", "Ｆ", "F", "[7]", "{}", "\"7\"", 9_007_199_254_740_992_u64, 9_007_199_254_740_993_u64]),
        json!(["9007199254740993", u64::MAX, 18_446_744_073_709_551_616.0, i64::MIN]),
    ];
    let stored: Vec<Value> = stored.iter().flat_map(|some| some.as_array().unwrap().clone()).collect();
    // An event's title is the value in its metadata, as JSON.
    let mut events: Vec<Value> = Vec::new();
    for value in &stored {
        events.push(with(&value.to_string(), &start(events.len()), json!({ "k": value })));
    }
    for metadata in [json!({}), json!({ "K": 7, "other": "Ada" }), json!({ "kk": true, "": "7" })] {
        events.push(with("another key", &start(events.len()), metadata));
    }
    make(&api, &calendar, &events).await;

    let cases = [
        ("7", json!([7, 7.0, "7"])),
        ("7.0", json!([7, 7.0, "7.0"])),
        ("7.00", json!([7, 7.0])),
        ("70e-1", json!([7, 7.0])),
        ("0.7E+1", json!([7, 7.0])),
        ("-7", json!([-7, "-7"])),
        ("-7.0", json!([-7])),
        ("70", json!([70])),
        ("0.5", json!([0.5, "0.5"])),
        ("5e-1", json!([0.5])),
        ("0.1", json!([0.1])),
        ("0.10", json!([0.1])),
        ("0", json!([0, -0.0, "0"])),
        ("-0", json!([0, -0.0])),
        ("0.0", json!([0, -0.0])),
        ("1000", json!([1000, 1000.0])),
        ("1e3", json!([1000, 1000.0, "1e3"])),
        ("1e300", json!([1e300])),
        // Neighbours of which a fraction of 53 bits cannot keep both.
        ("9007199254740992", json!([9_007_199_254_740_992_u64])),
        ("9007199254740993", json!([9_007_199_254_740_993_u64, "9007199254740993"])),
        ("9007199254740994", json!([])),
        ("18446744073709551615", json!([u64::MAX])),
        ("18446744073709551616", json!([18_446_744_073_709_551_616.0])),
        ("-9223372036854775808", json!([i64::MIN])),
        // Not numbers.
        ("07", json!(["07"])),
        ("+7", json!(["+7"])),
        (" 7", json!([" 7"])),
        ("7 ", json!([])),
        (".5", json!([".5"])),
        ("7.", json!([])),
        ("0x7", json!([])),
        ("7_0", json!([])),
        ("7,0", json!([])),
        ("NaN", json!([])),
        ("Infinity", json!([])),
        ("1e400", json!([])),
        ("-1e400", json!([])),
        // Booleans and null.
        ("true", json!([true, "true"])),
        ("True", json!(["True"])),
        ("TRUE", json!([])),
        ("1", json!([])),
        ("false", json!([false, "false"])),
        ("null", json!(["null"])),
        // Texts.
        ("", json!([""])),
        (" ", json!([" "])),
        ("Ada", json!(["Ada"])),
        ("ada", json!(["ada"])),
        ("ADA", json!([])),
        ("Ada ", json!(["Ada "])),
        (" Ada", json!([])),
        ("Ad", json!([])),
        ("Café", json!(["Café"])),
        ("Cafe\u{301}", json!(["Cafe\u{301}"])),
        ("Cafe", json!(["Cafe"])),
        ("ß", json!(["ß"])),
        ("ss", json!(["ss"])),
        ("F", json!(["F"])),
        ("Ｆ", json!(["Ｆ"])),
        // Arrays and objects are never found, but texts that look like them are.
        ("[]", json!([])),
        ("[7]", json!(["[7]"])),
        ("[\"7\"]", json!([])),
        ("{}", json!(["{}"])),
        ("{\"k\":7}", json!([])),
        ("\"7\"", json!(["\"7\""])),
        // No character stands for another one.
        ("%", json!([])),
        ("*", json!([])),
        ("_", json!([])),
        ("'", json!([])),
    ];
    for (value, expected) in &cases {
        let expected: Vec<String> = expected.as_array().unwrap().iter().map(Value::to_string).collect();
        for path in [of_calendar(&calendar), of_agent(&owner)] {
            assert_eq!(titles(&api, &path, &[("k", value)]).await, expected, "{value:?} in {path}");
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_key_is_everything_after_the_word(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    let entries = [
        ("a.b", "c"),
        ("a.b.c", "d"),
        ("A.b", "c"),
        ("a", "b.c"),
        // A key and a value that are not separated would make these two equal.
        ("ab", "cd"),
        ("abc", "d"),
        (".a", "x"),
        ("a.", "x"),
        (".", "x"),
        ("..", "x"),
        (" ", "x"),
        (" padded ", " padded "),
        ("with space", "one two"),
        ("a&b=c+d%20", "e&f=g+h%20"),
        ("&", "&"),
        ("=", "="),
        ("+", "+"),
        ("%", "%"),
        ("#", "#"),
        ("?", "?"),
        ("/", "/"),
        (",", "a,b"),
        (";", ";"),
        ("ключ", "значение"),
        ("é", "É"),
        ("e\u{301}", "E\u{301}"),
        ("😀", "🎉"),
        ("\"", "'"),
        ("\\", "\\n"),
        ("tab\t", "line\r\n"),
        ("7", "seven"),
        ("null", "x"),
        ("limit", "5"),
        ("metadata.a", "x"),
        ("metadata", "x"),
    ];
    let mut events = Vec::new();
    for (number, (key, value)) in entries.iter().enumerate() {
        events.push(with(&format!("No {number}"), &start(number), json!({ *key: value })));
    }
    events.push(with(
        "nested",
        &start(50),
        json!({ "a": { "b": "c", "b.c": "d", "": "x" }, "metadata": { "a": "x" } }),
    ));
    events.push(with("brackets", &start(51), json!({ "k[0]": "x", "k": ["x"] })));
    let full = json!({ "ticket": 4711, "with space": "a+b c", "Ticket": "4712" });
    events.push(with("full", &start(52), full));
    make(&api, &calendar, &events).await;

    let paths = [of_calendar(&calendar), of_agent(&owner)];
    for path in &paths {
        for (number, (key, value)) in entries.iter().enumerate() {
            let title = format!("No {number}");
            assert_eq!(titles(&api, path, &[(key, value)]).await, [title.as_str()], "{key:?} is {value:?}");
            let bracketed = api.get(path).query(&[(format!("metadata[{key}]").as_str(), *value)]).await.expect(200);
            assert_eq!(column(&whole(&bracketed), "title"), [title.as_str()], "[{key:?}] is {value:?}");
        }
        assert_eq!(titles(&api, path, &[("k[0]", "x")]).await, ["brackets"]);
        for (key, value) in [("a", "c"), ("b", "c"), ("a.B", "c"), ("k", "x"), ("k.0", "x"), ("metadata.metadata", "x")]
        {
            assert_eq!(titles(&api, path, &[(key, value)]).await, [""; 0], "{key:?} is {value:?}");
        }
        for (query, expected) in [
            ("metadata.ticket=4711", true),
            ("metadata[ticket]=4711", true),
            ("metadata%5Bticket%5D=4711", true),
            ("metadata%5bticket%5d=4711", true),
            ("metadata%2Eticket=4711", true),
            ("%6Detadata.ticket=4711", true),
            ("metadata.t%69cket=47%31%31", true),
            ("metadata.with+space=a%2Bb+c", true),
            ("metadata.with%20space=a%2Bb%20c", true),
            ("metadata[with+space]=a%2Bb+c&metadata.ticket=4711", true),
            ("metadata.ticket=4711&metadata.Ticket=4712", true),
            ("metadata.ticket=4711&limit=5&metadata.Ticket=4712&offset=0", true),
            ("metadata.ticket=4711&metadata.Ticket=4711", false),
            ("metadata.Ticket=4711", false),
            ("metadata.ticket=4711+", false),
            ("metadata.ticket+=4711", false),
            ("metadata.+ticket=4711", false),
            ("metadata.ticket=%2B4711", false),
            ("metadata.with%2Bspace=a%2Bb+c", false),
            ("metadata.with+space=a+b+c", false),
        ] {
            let answer = api.get(format!("{path}?{query}")).await.expect(200);
            let expected = if expected { vec!["full"] } else { Vec::new() };
            assert_eq!(column(&whole(&answer), "title"), expected, "{query}");
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn filters_that_make_no_sense_are_refused(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    make(&api, &calendar, &[with("One", &start(0), json!({ "a": 1, "": "x", "metadata": "x" }))]).await;
    let eleven = |form: fn(usize) -> String| (0..11).map(form).collect::<Vec<_>>().join("&");
    let with_points = eleven(|number| format!("metadata.k{number}=x"));
    let with_brackets = eleven(|number| format!("metadata[k{number}]=x"));
    let with_both =
        eleven(|number| if number == 0 { "metadata[k0]=x".to_owned() } else { format!("metadata.k{number}=x") });
    for path in [of_calendar(&calendar), of_agent(&owner)] {
        for (query, param) in [
            // No key.
            ("metadata.=x", "metadata"),
            ("metadata.=", "metadata"),
            ("metadata=x", "metadata"),
            ("metadata=", "metadata"),
            ("metadata[]=x", "metadata"),
            ("metadata.a=1&metadata.=x", "metadata"),
            // The same key twice.
            ("metadata.a=1&metadata.a=1", "metadata.a"),
            ("metadata.a=1&metadata.a=2", "metadata.a"),
            ("metadata[a]=1&metadata[a]=1", "metadata.a"),
            ("metadata.a=1&metadata[a]=1", "metadata.a"),
            ("metadata.a=1&limit=5&metadata.%61=2", "metadata.a"),
            ("metadata.a.b=1&metadata[a.b]=2", "metadata.a.b"),
            ("metadata.a+b=1&metadata.a%20b=1", "metadata.a b"),
            ("metadata.b=1&metadata.a=1&metadata.b=2", "metadata.b"),
            // Too many.
            (&with_points, "metadata"),
            (&with_brackets, "metadata"),
            (&with_both, "metadata"),
            // The other parameters are still checked.
            ("metadata.a=1&limit=0", "limit"),
            ("metadata.a=1&offset=-1", "offset"),
            ("metadata.a=1&status=done", "status"),
            ("metadata.a=1&source=api", "source"),
            ("metadata.a=1&start_after=2031-05-01", "start_after"),
            ("metadata.a=1&start_before=soon", "start_before"),
        ] {
            let answer = api.get(format!("{path}?{query}")).await;
            answer.refused(400, "validation_error").param(param);
        }
        for name in ["Metadata.a", "METADATA.a", "metadat.a", "metadatas.a", "metadata_a", "meta.a", "metadata-a", "a"]
        {
            let answer = api.get(&path).query(&[(name, "1")]).await;
            answer.refused(400, "validation_error").param(name).code("unknown_field");
        }
        server.anonymous().get(format!("{path}?metadata.a=1")).await.refused(401, "unauthorized");
        assert_eq!(titles(&api, &path, &[("a", "1")]).await, ["One"]);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn an_event_must_match_every_filter(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    let keys: Vec<String> = (0..10).map(|number| format!("k{number}")).collect();
    let complete: Map<String, Value> = keys.iter().map(|key| (key.clone(), json!(key))).collect();
    let mut events = vec![with("complete", &start(0), json!(complete))];
    // Each event has another value under one key, or nothing.
    for (number, key) in keys.iter().enumerate() {
        let (mut another, mut without) = (complete.clone(), complete.clone());
        another[key] = json!("another");
        without.remove(key);
        events.push(with(&format!("another {key}"), &start(2 * number + 1), json!(another)));
        events.push(with(&format!("without {key}"), &start(2 * number + 2), json!(without)));
    }
    make(&api, &calendar, &events).await;
    for path in [of_calendar(&calendar), of_agent(&owner)] {
        for count in 1..=10 {
            let filters: Vec<(&str, &str)> = keys[..count].iter().map(|key| (key.as_str(), key.as_str())).collect();
            let mut expected = vec!["complete".to_owned()];
            for key in &keys[count..] {
                expected.extend([format!("another {key}"), format!("without {key}")]);
            }
            assert_eq!(titles(&api, &path, &filters).await, expected, "{count} filters");
            let backwards: Vec<(&str, &str)> = filters.iter().rev().copied().collect();
            assert_eq!(titles(&api, &path, &backwards).await, expected, "{count} filters, backwards");
        }
        assert_eq!(titles(&api, &path, &[("k3", "k3"), ("k7", "another")]).await, ["another k7"]);
        assert_eq!(titles(&api, &path, &[("k3", "another"), ("k7", "another")]).await, [""; 0]);
        assert_eq!(titles(&api, &path, &[("k3", "k7"), ("k7", "k3")]).await, [""; 0]);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn all_other_parameters_work_as_without_filters(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, first) = agent_with_calendar(&api).await;
    let second = calendar_of(&api, &owner).await;
    let (shared, others) = (shared_calendar(&api, "UTC").await, agent_with_calendar(&api).await.1);
    // They are not created in the order of their starts. One in three is red, on each calendar.
    for (place, calendar) in [&first, &second, &shared, &others].into_iter().enumerate() {
        let mut events = Vec::new();
        for index in 0..15_usize {
            let team = ["red", "blue", "Red"][index % 3];
            let title = format!("{team} {place}-{index}");
            let mut event = with(&title, &start(4 * (index * 7 % 15) + place), json!({ "team": team, "no": index }));
            event["status"] = json!(["confirmed", "tentative", "cancelled"][index / 3 % 3]);
            events.push(event);
        }
        events.push(series(&format!("red {place}-daily"), &start(70 + place), 4, json!({ "team": "red" })));
        make(&api, calendar, &events).await;
    }
    let middle = start(30);
    let (whole_day, next_day) = ("2031-05-02T00:00:00Z", "2031-05-03T00:00:00Z");
    let cases: [(Query<'_>, [usize; 2]); 19] = [
        (&[], [6, 12]),
        (MAY, [6, 12]),
        (&[("start_after", &middle)], [3, 6]),
        (&[("start_before", &middle)], [3, 6]),
        (&[("start_after", whole_day), ("start_before", next_day)], [3, 6]),
        (&[("start_after", next_day)], [0, 0]),
        (&[("status", "confirmed")], [3, 6]),
        (&[("status", "tentative")], [2, 4]),
        (&[("status", "cancelled")], [1, 2]),
        (&[("status", "hold")], [0, 0]),
        (&[("status", "confirmed"), ("start_after", &middle)], [1, 2]),
        (&[("source", "internal")], [6, 12]),
        (&[("source", "external_ical")], [0, 0]),
        (&[("local", "true")], [6, 12]),
        (&[("local", "true"), ("status", "tentative"), ("source", "internal")], [2, 4]),
        (EXPANDED, [9, 18]),
        (&[("expand", "true"), ("start_after", next_day), ("start_before", "2031-05-05T00:00:00Z")], [2, 4]),
        (&[EXPANDED[0], EXPANDED[1], EXPANDED[2], ("status", "confirmed"), ("local", "true")], [6, 12]),
        (&[EXPANDED[0], EXPANDED[1], EXPANDED[2], ("status", "tentative")], [2, 4]),
    ];
    let red = [("team", "red")];
    for (more, counts) in cases {
        for (path, count) in [of_calendar(&first), of_agent(&owner)].into_iter().zip(counts) {
            let all = found_with(&api, &path, &[], more).await;
            let expected: Vec<Value> = all.into_iter().filter(|event| event["metadata"]["team"] == "red").collect();
            assert_eq!(expected.len(), count, "{more:?} in {path}: {:?}", column(&expected, "title"));
            assert_eq!(found_with(&api, &path, &red, more).await, expected, "{more:?} in {path}");
            for limit in [1, 2, 5, 200] {
                let pages = paged(&api, &path, &red, more, limit).await;
                assert_eq!(pages, (count, expected.clone()), "{more:?} in {path} by {limit}");
            }
            let one = asking(&api, &path, &[("team", "red"), ("no", "3")]).query(more).await.expect(200);
            let numbered: Vec<&Value> = expected.iter().filter(|event| event["metadata"]["no"] == 3).collect();
            assert_eq!(whole(&one).iter().collect::<Vec<_>>(), numbered, "{more:?} in {path}");
            assert_eq!(one["limit"], 50);
            let far = asking(&api, &path, &red).query(more).query(&[("limit", "3"), ("offset", "1000")]);
            let far = far.await.expect(200);
            assert_eq!((far.data(), &far["total"]), (Vec::new(), &json!(count)), "{more:?} in {path}");
        }
    }
    for calendar in [&second, &shared, &others] {
        assert_eq!(found(&api, &of_calendar(calendar), &red).await.len(), 6);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn occurrences_are_found_by_the_metadata_that_they_have(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    let [red, blue, green, yellow] = ["red", "blue", "green", "yellow"].map(|team| [("team", team)]);
    let standup = series("Standup", "2031-05-05T09:00:00Z", 6, json!({ "team": "red", "n": 1, "deep": { "n": 1 } }));
    let standup = made(&api, &calendar, standup).await;
    let retro = series("Retro", "2031-05-05T10:00:00Z", 3, json!({ "team": "green" }));
    let retro = made(&api, &calendar, retro).await;
    make(
        &api,
        &calendar,
        &[with("Once", "2031-05-12T09:00:00Z", json!({ "team": "red" })), with("x", "2031-05-05T09:00:00Z", json!({}))],
    )
    .await;
    let day = |series: &str, day: usize, hour: usize| instance(series, &format!("2031-05-{day:02}T{hour:02}:00:00Z"));
    let seen = async |filters: &[(&str, &str)]| taking_place(&api, &owner, &calendar, filters).await;
    let listed = async |filters: &[(&str, &str)]| {
        let events = titles(&api, &of_calendar(&calendar), filters).await;
        assert_eq!(titles(&api, &of_agent(&owner), filters).await, events);
        events
    };
    let none = Vec::<String>::new();
    assert_eq!(seen(&[("n", "1")]).await, [5, 6, 7, 8, 9, 10].map(|day| format!("{day:02}T09:00 Standup")));
    assert_eq!(seen(&[("deep", "")]).await, none);

    // Another team, another title, no occurrence, and another time with other metadata.
    mark(&api, &day(&standup, 6, 9), json!({ "team": "blue" })).await;
    change(&api, &day(&standup, 7, 9), json!({ "title": "Long" })).await;
    delete(&api, &day(&standup, 8, 9)).await;
    let later = json!({ "start_time": "2031-05-20T15:00:00Z", "metadata": { "team": "red", "moved": true } });
    change(&api, &day(&standup, 9, 9), later).await;
    mark(&api, &day(&retro, 6, 10), json!({ "team": "red" })).await;
    let of_red = ["05T09:00 Standup", "06T10:00 Retro", "07T09:00 Long", "10T09:00 Standup", "12T09:00 Once"];
    assert_eq!(seen(&red).await, [&of_red[..], &["20T15:00 Standup"]].concat());
    assert_eq!(seen(&blue).await, ["06T09:00 Standup"]);
    assert_eq!(seen(&green).await, ["05T10:00 Retro", "07T10:00 Retro"]);
    assert_eq!(seen(&[("n", "1")]).await, ["05T09:00 Standup", "07T09:00 Long", "10T09:00 Standup"]);
    assert_eq!(seen(&[("moved", "true")]).await, ["20T15:00 Standup"]);
    assert_eq!(seen(&[("team", "red"), ("n", "1"), ("moved", "true")]).await, none);
    // A series is listed once, and a changed occurrence is not.
    assert_eq!(listed(&red).await, ["Standup", "Once"]);
    assert_eq!(listed(&green).await, ["Retro"]);
    assert_eq!(listed(&blue).await, none);
    assert_eq!(listed(&[("moved", "true")]).await, none);
    // Some of the days.
    for (from, to, expected) in [
        ("2031-05-06", "2031-05-07", vec!["06T10:00"]),
        ("2031-05-08", "2031-05-10", vec![]),
        ("2031-05-10", "2031-05-13", vec!["10T09:00", "12T09:00"]),
        ("2031-05-20", "2031-05-21", vec!["20T15:00"]),
    ] {
        let (from, to) = (format!("{from}T00:00:00Z"), format!("{to}T00:00:00Z"));
        let window = [("expand", "true"), ("start_after", &*from), ("start_before", &*to)];
        let events = found_with(&api, &of_calendar(&calendar), &red, &window).await;
        let starts: Vec<String> = events.iter().map(|event| text(&event["startTime"])[8..16].to_owned()).collect();
        assert_eq!(starts, expected, "{from} to {to}");
    }

    // The series gets another team. The occurrences that were changed keep theirs.
    mark(&api, &standup, json!({ "team": "yellow" })).await;
    assert_eq!(seen(&yellow).await, ["05T09:00 Standup", "10T09:00 Standup"]);
    assert_eq!(seen(&red).await, ["06T10:00 Retro", "07T09:00 Long", "12T09:00 Once", "20T15:00 Standup"]);
    assert_eq!(seen(&blue).await, ["06T09:00 Standup"]);
    assert_eq!((listed(&yellow).await, listed(&red).await), (vec!["Standup".to_owned()], vec!["Once".to_owned()]));
    // A changed occurrence is changed again, and now it has what its series has.
    mark(&api, &day(&standup, 6, 9), json!({ "team": "yellow" })).await;
    assert_eq!(seen(&blue).await, none);
    assert_eq!(seen(&yellow).await, ["05T09:00 Standup", "06T09:00 Standup", "10T09:00 Standup"]);
    // With the status.
    change(&api, &day(&standup, 10, 9), json!({ "status": "tentative" })).await;
    let tentative = [EXPANDED, &[("status", "tentative")]].concat();
    let events = found_with(&api, &of_calendar(&calendar), &yellow, &tentative).await;
    assert_eq!(column(&events, "id"), [day(&standup, 10, 9)]);
    // Its occurrence is cancelled, and then takes place again by the rule.
    delete(&api, &day(&standup, 6, 9)).await;
    assert_eq!(seen(&yellow).await, ["05T09:00 Standup", "10T09:00 Standup"]);
    change(&api, &standup, json!({ "recurrence_exdates": [] })).await;
    assert_eq!(seen(&yellow).await, ["05T09:00 Standup", "06T09:00 Standup", "08T09:00 Standup", "10T09:00 Standup"]);
    // Without its rule, it is one event. Without the series, nothing of it is left.
    change(&api, &retro, json!({ "recurrence_rule": null })).await;
    assert_eq!(seen(&green).await, ["05T10:00 Retro"]);
    delete(&api, &standup).await;
    assert_eq!((seen(&yellow).await, listed(&yellow).await), (none.clone(), none));
    assert_eq!(seen(&red).await, ["12T09:00 Once"]);
}

#[apply(on_both)]
#[tokio::test]
async fn both_halves_of_a_series_are_found_by_what_they_have(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    let none = Vec::<String>::new();
    let path = of_calendar(&calendar);
    let seen = async |team: &str| taking_place(&api, &owner, &calendar, &[("team", team)]).await;
    let listed = async |team: &str| ids(&api, &path, &[("team", team)]).await;
    let at = |day: usize| format!("2031-05-{day:02}T09:00:00Z");
    let entries = |days: &[usize]| days.iter().map(|day| format!("{day:02}T09:00 Standup")).collect::<Vec<_>>();
    let patch = async |id: &str, scope: &str, body: Value| {
        api.patch(format!("/v1/events/{id}?scope={scope}")).json(body).await.expect(200).id()
    };

    let old = made(&api, &calendar, series("Standup", &at(5), 8, json!({ "team": "red" }))).await;
    // One with another team, one with another title, and one before the place of the split.
    mark(&api, &instance(&old, &at(6)), json!({ "team": "own" })).await;
    mark(&api, &instance(&old, &at(10)), json!({ "team": "own" })).await;
    change(&api, &instance(&old, &at(11)), json!({ "location": "Room 2" })).await;
    let new = patch(&instance(&old, &at(8)), "following", json!({ "metadata": { "team": "blue" } })).await;
    assert_ne!(new, old);
    assert_eq!((listed("red").await, listed("blue").await), (vec![old.clone()], vec![new.clone()]));
    assert_eq!(seen("red").await, entries(&[5, 7]));
    assert_eq!(seen("blue").await, entries(&[8, 9, 11, 12]));
    assert_eq!(seen("own").await, entries(&[6, 10]));
    let of_own = found_with(&api, &path, &[("team", "own")], EXPANDED).await;
    assert_eq!(column(&of_own, "id"), [instance(&old, &at(6)), instance(&new, &at(10))]);

    // A split that does not touch the metadata.
    let last = patch(&instance(&new, &at(11)), "following", json!({ "description": "x" })).await;
    assert_eq!(BTreeSet::from_iter(listed("blue").await), BTreeSet::from([new.clone(), last.clone()]));
    assert_eq!(seen("blue").await, entries(&[8, 9, 11, 12]));
    // All of it, at the same times and at other times.
    patch(&instance(&new, &at(9)), "all", json!({ "metadata": { "team": "green" } })).await;
    assert_eq!((listed("green").await, listed("blue").await), (vec![new.clone()], vec![last.clone()]));
    assert_eq!((seen("green").await, seen("blue").await), (entries(&[8, 9]), entries(&[11, 12])));
    assert_eq!(seen("own").await, entries(&[6, 10]));
    patch(&instance(&new, &at(9)), "all", json!({ "start_time": "2031-05-09T12:00:00Z" })).await;
    assert_eq!(seen("green").await, ["08T12:00 Standup", "09T12:00 Standup"]);
    assert_eq!(seen("own").await, ["06T09:00 Standup", "10T12:00 Standup"]);

    // A single event at the end, and a series that ends early.
    let single = json!({ "recurrence_rule": null, "metadata": { "team": "single" } });
    let single = patch(&instance(&last, &at(12)), "following", single).await;
    assert_eq!((listed("single").await, seen("single").await), (vec![single], entries(&[12])));
    assert_eq!(seen("blue").await, entries(&[11]));
    api.delete(format!("/v1/events/{}?scope=following", instance(&new, "2031-05-09T12:00:00Z"))).await.expect(204);
    assert_eq!((seen("green").await, seen("own").await), (vec!["08T12:00 Standup".to_owned()], entries(&[6])));
    api.delete(format!("/v1/events/{}?scope=all", instance(&old, &at(7)))).await.expect(204);
    assert_eq!((listed("red").await, seen("red").await, seen("own").await), (none.clone(), none.clone(), none));
}

#[apply(on_both)]
#[tokio::test]
async fn an_event_is_found_by_the_metadata_that_it_has_now(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    let none = Vec::<String>::new();
    let (path, agents) = (of_calendar(&calendar), of_agent(&owner));
    let ids = async |key: &str, value: &str| {
        let found = ids(&api, &path, &[(key, value)]).await;
        assert_eq!(ids(&api, &agents, &[(key, value)]).await, found);
        found
    };
    let id = made(&api, &calendar, with("One", &start(0), json!({ "a": 1, "b": "x" }))).await;
    let here = vec![id.clone()];
    assert_eq!((ids("a", "1").await, ids("b", "x").await), (here.clone(), here.clone()));

    // Metadata is replaced as a whole.
    mark(&api, &id, json!({ "a": 2 })).await;
    assert_eq!(
        (ids("a", "1").await, ids("a", "2").await, ids("b", "x").await),
        (none.clone(), here.clone(), none.clone())
    );
    mark(&api, &id, json!({})).await;
    assert_eq!(ids("a", "2").await, none);
    mark(&api, &id, json!({ "a": [2], "c": null })).await;
    assert_eq!((ids("a", "2").await, ids("c", "null").await), (none.clone(), none.clone()));
    let by_calendar = api.patch(format!("{path}/{id}")).json(json!({ "metadata": { "a": true, "b": "y" } }));
    by_calendar.await.expect(200);
    assert_eq!((ids("a", "true").await, ids("b", "y").await), (here.clone(), here.clone()));

    // Other changes keep it found.
    for body in [
        json!({ "title": "Two" }),
        json!({ "description": "Slides", "location": "Room 2" }),
        json!({ "reminders": [15] }),
        json!({ "status": "tentative" }),
        json!({ "status": "cancelled" }),
        json!({ "status": "confirmed" }),
        json!({ "start_time": start(5) }),
        json!({ "end_time": start(9) }),
        json!({ "all_day": true, "start_time": "2031-05-05", "end_time": "2031-05-07" }),
        json!({ "all_day": false, "start_time": start(1), "end_time": start(2) }),
        json!({ "attendees": [{ "email": "ada@example.com" }] }),
        json!({ "recurrence_rule": "FREQ=DAILY;COUNT=3" }),
        json!({ "recurrence_rule": null }),
        json!({ "metadata": { "b": "y", "a": true } }),
    ] {
        change(&api, &id, body.clone()).await;
        assert_eq!((ids("a", "true").await, ids("b", "y").await), (here.clone(), here.clone()), "{body}");
    }
    // A change that is refused changes nothing.
    let stale = api.patch(format!("/v1/events/{id}")).header("if-match", "\"1\"");
    stale.json(json!({ "metadata": { "a": false } })).await.refused(412, "conflict").code("stale");
    let wrong = json!({ "metadata": { "a": false }, "status": "done" });
    api.patch(format!("/v1/events/{id}")).json(wrong).await.refused(400, "validation_error").param("status");
    assert_eq!((ids("a", "true").await, ids("a", "false").await), (here.clone(), none.clone()));

    // Several at once, and once for two equal requests.
    let batch =
        [1, 2, 3].map(|number| with(&format!("Of three {number}"), &start(20 + number), json!({ "set": number % 2 })));
    let made_at_once = make(&api, &calendar, &batch).await;
    assert_eq!(ids("set", "1").await, [made_at_once[0].as_str(), made_at_once[2].as_str()]);
    assert_eq!(ids("set", "0").await, [made_at_once[1].as_str()]);
    let events = json!({ "events": [with("x", &start(1), json!({ "set": 5 })), { "title": "x" }] });
    api.post(format!("{path}/batch")).json(events).await.refused(400, "validation_error");
    assert_eq!(ids("set", "5").await, none);
    let twice = with("Twice", &start(30), json!({ "set": 6 }));
    for _ in 0..2 {
        api.post(&path).header("idempotency-key", "once and again").json(twice.clone()).await.expect(201);
    }
    assert_eq!(ids("set", "6").await.len(), 1);

    // An imported file that changes an event keeps its metadata or not, but what is found is what is shown.
    let file = |title: &str| vcalendar(&[meeting("once@example.com", title, 4, 9)]);
    let import = async |title: &str| {
        let call = api.post(format!("/v1/calendars/{calendar}/import")).header("content-type", "text/calendar");
        call.body(file(title)).await.expect(200)
    };
    assert_eq!(import("Before").await["created"], 1);
    let of_file = api.get(&path).query(&[("start_before", "2031-05-01T00:00:00Z")]).await.expect(200).data();
    assert_eq!(column(&of_file, "title"), ["Before"]);
    let of_file = text(&of_file[0]["id"]);
    mark(&api, &of_file, json!({ "file": "mine" })).await;
    import("After").await;
    let shown = api.get(format!("/v1/events/{of_file}")).await.expect(200);
    let is_there = shown["metadata"] == json!({ "file": "mine" });
    assert_eq!(!ids("file", "mine").await.is_empty(), is_there, "{}", shown.describe());

    // Deleted, alone or with everything on its calendar.
    delete(&api, &id).await;
    assert_eq!((ids("a", "true").await, ids("b", "y").await), (none.clone(), none.clone()));
    delete(&api, &made_at_once[0]).await;
    assert_eq!(ids("set", "1").await, [made_at_once[2].as_str()]);
    let other = calendar_of(&api, &owner).await;
    make(&api, &other, &[with("There", &start(40), json!({ "set": 1 }))]).await;
    api.delete(format!("/v1/calendars/{calendar}")).await.expect(204);
    assert_eq!(titles(&api, &agents, &[("set", "1")]).await, ["There"]);
    api.get(format!("{path}?metadata.set=1")).await.refused(404, "not_found").code("calendar_not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn a_moved_event_is_found_on_its_new_calendar(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, old) = agent_with_calendar(&api).await;
    let new = calendar_of(&api, &owner).await;
    let (other, others) = agent_with_calendar(&api).await;
    let shared = shared_calendar(&api, "UTC").await;
    let once = made(&api, &old, with("Once", "2031-05-05T08:00:00Z", json!({ "team": "red" }))).await;
    let daily = made(&api, &old, series("Daily", "2031-05-05T09:00:00Z", 3, json!({ "team": "red" }))).await;
    mark(&api, &instance(&daily, "2031-05-06T09:00:00Z"), json!({ "team": "blue" })).await;
    let everywhere = [&old, &new, &others, &shared];
    let mut at = &old;
    for target in [&new, &others, &shared, &old] {
        for id in [&once, &daily] {
            moved(&api, id, target).await;
        }
        for calendar in everywhere {
            let path = of_calendar(calendar);
            let is_there = calendar == target;
            let expected = if is_there { vec![once.clone(), daily.clone()] } else { Vec::new() };
            assert_eq!(ids(&api, &path, &[("team", "red")]).await, expected, "from {at} to {target}");
            for (team, count) in [("red", 3), ("blue", 1)] {
                let events = found_with(&api, &path, &[("team", team)], EXPANDED).await;
                assert_eq!(events.len(), if is_there { count } else { 0 }, "{team} from {at} to {target}");
            }
        }
        for (agent, calendars) in [(&owner, vec![&old, &new]), (&other, vec![&others])] {
            let expected = if calendars.contains(&target) { 2 } else { 0 };
            assert_eq!(ids(&api, &of_agent(agent), &[("team", "red")]).await.len(), expected, "{agent} at {target}");
        }
        at = target;
    }
    // What it gets there is found there, and a move to where it is keeps it.
    mark(&api, &once, json!({ "team": "green" })).await;
    moved(&api, &once, &old).await;
    assert_eq!(ids(&api, &of_calendar(&old), &[("team", "green")]).await, [once.as_str()]);
    moved(&api, &once, &shared).await;
    assert_eq!(ids(&api, &of_calendar(&old), &[("team", "green")]).await, [""; 0]);
    assert_eq!(ids(&api, &of_calendar(&shared), &[("team", "green")]).await, [once.as_str()]);
    assert_eq!(ids(&api, &of_calendar(&shared), &[("team", "red")]).await, [""; 0]);
}

#[apply(on_both)]
#[tokio::test]
async fn holds_are_found_by_their_metadata(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let (owner, calendar) = agent_with_calendar(&api).await;
    let until = in_seconds(&api, 600).await;
    let hold = async |number: usize, priority: u8, metadata: Value| {
        let mut body = hold_body(&start(2 * number), &start(2 * number + 1), &until, priority);
        body["metadata"] = metadata;
        made(&api, &calendar, body).await
    };
    let mut holds = Vec::new();
    for number in 0..5 {
        holds.push(hold(number, 0, json!({ "deal": 7, "number": number })).await);
    }
    hold(6, 0, json!({ "deal": 8 })).await;
    let with_status = async |api: &Client, status: &str| {
        let more = [("status", status)];
        let found = column(&found_with(api, &of_calendar(&calendar), &[("deal", "7")], &more).await, "id");
        let of_owner = found_with(api, &of_agent(&owner), &[("deal", "7")], &more).await;
        assert_eq!(column(&of_owner, "id"), found);
        found
    };
    assert_eq!(with_status(&api, "hold").await, holds);
    assert_eq!(ids(&api, &of_calendar(&calendar), &[("deal", "7")]).await, holds);

    // Confirmed, released, pre-empted, and with other metadata.
    api.put(format!("/v1/events/{}/confirm", holds[0])).await.expect(200);
    api.put(format!("/v1/events/{}/release", holds[1])).await.expect(200);
    hold(2, 10, json!({ "deal": 9 })).await;
    mark(&api, &holds[3], json!({ "deal": 7.0, "more": "x" })).await;
    assert_eq!(with_status(&api, "confirmed").await, holds[..1]);
    assert_eq!(with_status(&api, "cancelled").await, holds[1..3]);
    assert_eq!(with_status(&api, "hold").await, holds[3..]);
    assert_eq!(ids(&api, &of_calendar(&calendar), &[("number", "3")]).await, [""; 0]);

    // Two expire.
    server.restart_at_offset(605).await;
    let api = server.api(&org);
    assert_eq!(with_status(&api, "hold").await, [""; 0]);
    assert_eq!(with_status(&api, "cancelled").await, holds[1..]);
    assert_eq!(with_status(&api, "confirmed").await, holds[..1]);
    for limit in [1, 2] {
        let pages = paged(&api, &of_calendar(&calendar), &[("deal", "7")], &[("status", "cancelled")], limit).await;
        assert_eq!((pages.0, column(&pages.1, "id")), (4, holds[1..].to_vec()), "{limit}");
    }
    let expanded = found_with(&api, &of_calendar(&calendar), &[("more", "x")], EXPANDED).await;
    assert_eq!((column(&expanded, "id"), &expanded[0]["status"]), (vec![holds[3].clone()], &json!("cancelled")));
}

#[apply(on_both)]
#[tokio::test]
async fn events_of_proposals_are_found_by_the_proposal(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 2).await;
    let mut places = vec![(team.organizer.clone(), team.calendar.clone())];
    for participant in &team.participants {
        places.push((participant.clone(), calendar_of(&api, participant).await));
    }
    let more = json!({ "metadata": { "topic": "Kick-off", "proposal_id": "mine" }, "placement": "all" });
    let mut proposals = Vec::new();
    for hour in ["09", "11"] {
        let slots = [slot(&format!("{hour}:00"), &format!("{hour}:30"))];
        proposals.push(team.propose(&api, &slots, more.clone()).await);
    }
    for (agent, calendar) in &places {
        for path in [of_calendar(calendar), of_agent(agent)] {
            assert_eq!(ids(&api, &path, &[("topic", "Kick-off")]).await, [""; 0], "before it is confirmed");
        }
    }
    for proposal in &proposals {
        for participant in &team.participants {
            respond(&api, &proposal.id(), accept(participant, &slot_id(proposal, 0))).await.expect(200);
        }
    }
    for (agent, calendar) in &places {
        for path in [of_calendar(calendar), of_agent(agent)] {
            let mut all = Vec::new();
            for proposal in &proposals {
                let of_it = found(&api, &path, &[("proposal_id", &proposal.id())]).await;
                assert_eq!((of_it.len(), &of_it[0]["metadata"]["proposal_id"]), (1, &json!(proposal.id())));
                all.extend(column(&of_it, "id"));
            }
            assert_eq!(ids(&api, &path, &[("topic", "Kick-off")]).await, all);
            assert_eq!(ids(&api, &path, &[("topic", "Kick-off"), ("proposal_id", &proposals[1].id())]).await, all[1..]);
            assert_eq!(ids(&api, &path, &[("proposal_id", "mine")]).await, [""; 0]);
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn bookings_are_not_found_by_the_object_in_their_metadata(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    let page = json!({ "calendar_id": calendar, "title": "Intro", "duration_minutes": 60, "window_days": 7 });
    let page = api.post("/v1/booking-pages").json(page).await.expect(201);
    let book = format!("/book/{}", text(&page["slug"]));
    let guest = server.anonymous();
    let slots = starts(&guest.get(format!("{book}/slots")).await.expect(200));
    guest.post(&book).json(booking(&slots[5])).await.expect(201);
    let id = page.id();
    for path in [of_calendar(&calendar), of_agent(&owner)] {
        let events = found(&api, &path, &[]).await;
        assert_eq!((events.len(), &events[0]["metadata"]["booking"]["booking_page_id"]), (1, &json!(id)));
        let whole_object = events[0]["metadata"]["booking"].to_string();
        for value in
            ["", "{}", "true", "null", "[object Object]", "Ada Lovelace", "ada@example.com", &id, &whole_object]
        {
            for key in ["booking", "booking.name", "booking.booking_page_id", "name", "booking_page_id"] {
                assert_eq!(ids(&api, &path, &[(key, value)]).await, [""; 0], "{key} is {value:?}");
            }
        }
    }
    // A text in its place is found.
    let other = made(&api, &calendar, with("Mine", &start(0), json!({ "booking": id }))).await;
    assert_eq!(ids(&api, &of_calendar(&calendar), &[("booking", &id)]).await, [other.as_str()]);
}

#[apply(on_both)]
#[tokio::test]
async fn events_of_a_feed_have_no_metadata(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    let feed = vcalendar(&[meeting("a@example.com", "Board", 3, 9), meeting("b@example.com", "Review", 4, 9)]);
    it.subscribed("/a.ics", Serving::calendar(feed)).await;
    let mine = made(&it.api, &it.calendar, with("Mine", "2031-03-05T09:00:00Z", json!({ "title": "Board" }))).await;
    for path in [of_calendar(&it.calendar), of_agent(&it.agent)] {
        let imported = [("source", "external_ical")];
        assert_eq!(found_with(&it.api, &path, &[], &imported).await.len(), 2);
        for (key, value) in [("title", "Board"), ("uid", "a@example.com"), ("", "Board"), ("source", "external_ical")] {
            if !key.is_empty() {
                let events = found_with(&it.api, &path, &[(key, value)], &imported).await;
                assert_eq!(events, Vec::<Value>::new(), "{key}");
            }
        }
        for more in [&[][..], &[("source", "internal")]] {
            let events = found_with(&it.api, &path, &[("title", "Board")], more).await;
            assert_eq!(column(&events, "id"), [mine.as_str()]);
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_filter_sees_what_its_caller_may_see(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let stranger = server.api(&server.org("pro").await);
    let (ada, work) = agent_with_calendar(&api).await;
    let home = calendar_of(&api, &ada).await;
    let (bob, bobs) = agent_with_calendar(&api).await;
    let shared = shared_calendar(&api, "UTC").await;
    let (foreign, abroad) = agent_with_calendar(&stranger).await;
    // All have the same metadata.
    let metadata = json!({ "ticket": 4711, "team": "red" });
    for (number, (api, calendar)) in
        [(&api, &work), (&api, &home), (&api, &bobs), (&api, &shared), (&stranger, &abroad)].into_iter().enumerate()
    {
        make(api, calendar, &[with(&format!("No {number}"), &start(number), metadata.clone())]).await;
    }
    let scoped = key_of(&server, &api, &ada).await;
    for filters in [&[("ticket", "4711")][..], &[("ticket", "4711"), ("team", "red")]] {
        for api in [&api, &scoped] {
            assert_eq!(titles(api, &of_calendar(&work), filters).await, ["No 0"]);
            assert_eq!(titles(api, &of_calendar(&home), filters).await, ["No 1"]);
            assert_eq!(titles(api, &of_agent(&ada), filters).await, ["No 0", "No 1"]);
        }
        assert_eq!(titles(&api, &of_agent(&bob), filters).await, ["No 2"]);
        assert_eq!(titles(&api, &of_calendar(&bobs), filters).await, ["No 2"]);
        assert_eq!(titles(&api, &of_calendar(&shared), filters).await, ["No 3"]);
        assert_eq!(titles(&stranger, &of_calendar(&abroad), filters).await, ["No 4"]);
        assert_eq!(titles(&stranger, &of_agent(&foreign), filters).await, ["No 4"]);
    }
    // What is out of reach is refused as without a filter, whether the filter matches or not.
    let nobody = "0".repeat(26);
    let own = [of_calendar(&work), of_calendar(&home), of_calendar(&shared), of_agent(&ada)];
    let not_of_ada =
        [of_calendar(&bobs), of_calendar(&shared), of_agent(&bob), of_calendar(&abroad), of_agent(&foreign)];
    let nowhere = [of_calendar(&format!("cal_{nobody}")), of_agent(&format!("agt_{nobody}")), of_calendar("cal_x")];
    for (client, paths) in
        [(&stranger, &own[..]), (&scoped, &not_of_ada), (&api, &not_of_ada[3..]), (&api, &nowhere), (&scoped, &nowhere)]
    {
        for path in paths {
            let without = refusal(&client.get(path).await);
            assert!(matches!(without.0, 403 | 404), "{path}: {without:?}");
            for value in ["4711", "4712"] {
                let refused = asking(client, path, &[("ticket", value)]).await;
                assert_eq!(refusal(&refused), without, "{path}");
                assert!(!refused.text().contains("\"No "), "{}", refused.describe());
            }
        }
    }
    // The metadata of one organization changes, and that of the other one stays.
    let id = ids(&stranger, &of_calendar(&abroad), &[("ticket", "4711")]).await.remove(0);
    mark(&stranger, &id, json!({ "ticket": 4712 })).await;
    assert_eq!(titles(&api, &of_agent(&ada), &[("ticket", "4711")]).await, ["No 0", "No 1"]);
    assert_eq!(titles(&stranger, &of_agent(&foreign), &[("ticket", "4711")]).await, [""; 0]);
    delete(&stranger, &id).await;
    assert_eq!(titles(&api, &of_agent(&ada), &[("ticket", "4711")]).await, ["No 0", "No 1"]);
}

/// The metadata with these keys, each with itself as its value.
fn keyed<T: AsRef<str>>(keys: &[T]) -> Map<String, Value> {
    keys.iter().map(|key| (key.as_ref().to_owned(), json!(key.as_ref()))).collect()
}

/// Keys `PREFIX00`, `PREFIX01` and so on.
fn numbered(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{prefix}{number:02}")).collect()
}

#[apply(on_both)]
#[tokio::test]
async fn an_event_is_found_by_its_first_fifty_entries(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    let (path, agents) = (of_calendar(&calendar), of_agent(&owner));
    let finds = async |id: &str, key: &str, value: &str| {
        let by_calendar = ids(&api, &path, &[(key, value)]).await;
        assert_eq!(ids(&api, &agents, &[(key, value)]).await, by_calendar);
        let expanded = found_with(&api, &path, &[(key, value)], EXPANDED).await;
        assert_eq!(expanded.is_empty(), by_calendar.is_empty(), "{key}");
        assert!(by_calendar.iter().all(|found| found == id), "{key}: {by_calendar:?}");
        !by_calendar.is_empty()
    };
    // Each case has the first keys in the order of their bytes, and those after them.
    let cases = [
        (numbered("exact", 50), vec![]),
        (numbered("k", 50), vec!["k50", "k51", "k59"]),
        // Upper case comes before lower case, and `10` before `2`.
        ([numbered("Z", 1), numbered("a", 49)].concat(), vec!["a49"]),
        ([numbered("m", 48), vec!["n10".to_owned(), "n2".to_owned()]].concat(), vec!["n3"]),
        // The order of UTF-8, which is not that of UTF-16.
        ([numbered("u", 47), ["z", "é", "｡"].map(str::to_owned).to_vec()].concat(), vec!["😀"]),
        ([numbered("p", 50)].concat(), vec!["pé", "p｡", "p😀"]),
    ];
    for (case, (first, after)) in cases.iter().enumerate() {
        // The metadata is sent backwards, with entries that do not count, before and between the others.
        let mut entries: Vec<String> = Vec::new();
        for key in first.iter().map(String::as_str).chain(after.iter().copied()) {
            entries.push(format!("{}:{}", json!(key), json!(key)));
        }
        for number in 0..20 {
            let uncounted = ["null", "[]", "[1,\"x\"]", "{}", "{\"a\":\"x\"}"][number % 5];
            entries.push(format!("\"!{number}\":{uncounted},\"k4{number}~\":{uncounted}"));
        }
        entries.reverse();
        let (from, to) = (start(case), start(case + 1));
        let body =
            format!(r#"{{"title":"x","start_time":"{from}","end_time":"{to}","metadata":{{{}}}}}"#, entries.join(","));
        let id = api.post(&path).header("content-type", "application/json").body(body).await.expect(201).id();
        for key in first {
            assert!(finds(&id, key, key).await, "{key:?} of case {case}");
        }
        for key in after {
            assert!(!finds(&id, key, key).await, "{key:?} of case {case}");
            let both = [(first[0].as_str(), first[0].as_str()), (*key, *key)];
            assert_eq!(ids(&api, &path, &both).await, [""; 0]);
        }
        let two = [(first[0].as_str(), first[0].as_str()), (first[49].as_str(), first[49].as_str())];
        assert_eq!(ids(&api, &path, &two).await, [id.as_str()]);
        delete(&api, &id).await;
    }

    // Numbers and booleans count as texts do.
    let mut metadata = keyed(&numbered("k", 48));
    metadata.extend([("a".to_owned(), json!(1.5)), ("b".to_owned(), json!(false)), ("c".to_owned(), json!(null))]);
    metadata.extend([("x".to_owned(), json!("x")), ("y".to_owned(), json!(7))]);
    let id = made(&api, &calendar, with("Once", &start(0), json!(metadata))).await;
    for (key, value, is_found) in
        [("a", "1.5", true), ("b", "false", true), ("k47", "k47", true), ("x", "x", false), ("y", "7", false)]
    {
        assert_eq!(finds(&id, key, value).await, is_found, "{key}");
    }
    // With fewer entries before it, an entry is found.
    metadata.remove("k00");
    metadata.remove("b");
    mark(&api, &id, json!(metadata)).await;
    for (key, value, is_found) in [("k00", "k00", false), ("b", "false", false), ("x", "x", true), ("y", "7", true)] {
        assert_eq!(finds(&id, key, value).await, is_found, "{key}");
    }
    // An entry that no longer counts makes room, and one more takes it.
    metadata.extend([("k01".to_owned(), json!(null)), ("z".to_owned(), json!("z"))]);
    mark(&api, &id, json!(metadata)).await;
    assert_eq!((finds(&id, "y", "7").await, finds(&id, "z", "z").await), (true, true));
    metadata.insert("0".to_owned(), json!("0"));
    mark(&api, &id, json!(metadata)).await;
    assert_eq!(
        (finds(&id, "0", "0").await, finds(&id, "y", "7").await, finds(&id, "z", "z").await),
        (true, true, false)
    );
    delete(&api, &id).await;

    // A series and a changed occurrence.
    let daily = json!(keyed(&numbered("k", 51)));
    let daily = made(&api, &calendar, series("Daily", "2031-05-05T09:00:00Z", 3, daily)).await;
    mark(&api, &instance(&daily, "2031-05-06T09:00:00Z"), json!(keyed(&numbered("o", 51)))).await;
    for (key, count) in [("k49", 2), ("k50", 0), ("o49", 1), ("o50", 0)] {
        assert_eq!(found_with(&api, &path, &[(key, key)], EXPANDED).await.len(), count, "{key}");
    }
    assert_eq!(
        (ids(&api, &path, &[("k49", "k49")]).await.len(), ids(&api, &path, &[("k50", "k50")]).await.len()),
        (1, 0)
    );
}

#[apply(on_both)]
#[tokio::test]
async fn long_keys_and_values_are_compared_to_their_ends(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    let (long, longer) = ("x".repeat(3_000), "x".repeat(3_001));
    let (other, accents) = (format!("{}y", "x".repeat(2_999)), "é".repeat(1_000));
    let zeros = format!("7.{}", "0".repeat(2_000));
    let mut events = Vec::new();
    for (title, metadata) in [
        ("long", json!({ "k": long })),
        ("longer", json!({ "k": longer })),
        ("other", json!({ "k": other })),
        ("accents", json!({ "k": accents })),
        ("zeros", json!({ "k": zeros })),
        ("seven", json!({ "k": 7 })),
        ("long key", json!({ &*long: "v" })),
        ("other key", json!({ &*other: "v" })),
        ("large", json!({ "k": "large", "rest": "x".repeat(16_000) })),
    ] {
        events.push(with(title, &start(events.len()), metadata));
    }
    make(&api, &calendar, &events).await;
    for path in [of_calendar(&calendar), of_agent(&owner)] {
        for (key, value, expected) in [
            ("k", &*long, &["long"][..]),
            ("k", &longer, &["longer"]),
            ("k", &other, &["other"]),
            ("k", &accents, &["accents"]),
            ("k", &zeros, &["zeros", "seven"]),
            ("k", "large", &["large"]),
            ("k", &long[1..], &[]),
            (&long, "v", &["long key"]),
            (&other, "v", &["other key"]),
            (&longer, "v", &[]),
        ] {
            assert_eq!(titles(&api, &path, &[(key, value)]).await, expected, "{} is {}", key.len(), value.len());
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn other_lists_do_not_take_it(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    let id = made(&api, &calendar, with("a", &start(0), json!({ "x": 1 }))).await;
    for path in [
        "/v1/agents".to_owned(),
        "/v1/calendars".to_owned(),
        "/v1/booking-pages".to_owned(),
        "/v1/hold-sets".to_owned(),
        "/v1/webhooks".to_owned(),
        "/v1/audit-log".to_owned(),
        "/v1/mail".to_owned(),
        "/v1/events/search?q=a".to_owned(),
        format!("/v1/agents/{owner}/calendars"),
        format!("/v1/agents/{owner}/ical-subscriptions"),
        format!("/v1/calendars/{calendar}/changes"),
        format!("/v1/calendars/{calendar}/events/{id}"),
        format!("/v1/events/{id}"),
    ] {
        api.get(&path).await.expect(200);
        for name in ["metadata.x", "metadata[x]", "metadata"] {
            let answer = api.get(&path).query(&[(name, "1")]).await;
            answer.refused(400, "validation_error").param(name).code("unknown_field");
        }
    }
    // Writes do not take it either.
    let body = with("b", &start(1), json!({ "x": 1 }));
    let answer = api.post(format!("{}?metadata.x=1", of_calendar(&calendar))).json(body).await;
    answer.refused(400, "validation_error").param("metadata.x").code("unknown_field");
    let answer = api.delete(format!("/v1/events/{id}?metadata.x=1")).await;
    answer.refused(400, "validation_error").param("metadata.x").code("unknown_field");
    assert_eq!(titles(&api, &of_agent(&owner), &[("x", "1")]).await, ["a"]);
}

/// Calls a tool. Returns whether it failed, and its content.
async fn tool(api: &Client, name: &str, arguments: Value) -> (bool, Value) {
    let params = json!({ "name": name, "arguments": arguments });
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params });
    let answer = api.post("/mcp").json(body).header("mcp-protocol-version", "2025-06-18").await.expect(200);
    let result = answer.at("/result");
    let failed = result["isError"].as_bool().unwrap_or_else(|| panic!("no result: {}", answer.describe()));
    (failed, result["structuredContent"].clone())
}

#[apply(on_both)]
#[tokio::test]
async fn tools_take_the_metadata_as_an_object(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    let mut events = Vec::new();
    for (title, metadata) in [
        ("number", json!({ "ticket": 4711, "team": "red", "done": true })),
        ("text", json!({ "ticket": "4711", "team": "red", "done": "true" })),
        ("other", json!({ "ticket": 4712, "team": "red", "done": false, "n": -1.5 })),
        ("odd", json!({ "a.b": "c d&e=f+g%41", "é": "", "n": "-1.5" })),
        ("nested", json!({ "a": { "b": "c" }, "ticket": [4711], "done": null })),
    ] {
        events.push(with(title, &start(events.len()), metadata));
    }
    make(&api, &calendar, &events).await;
    let scoped = key_of(&server, &api, &owner).await;
    let lists = [("listCalendarEvents", "cal_id", calendar.as_str()), ("listAgentEvents", "agent_id", owner.as_str())];
    for (name, id, value) in lists {
        for (metadata, expected) in [
            (json!({ "ticket": "4711" }), &["number", "text"][..]),
            (json!({ "ticket": 4711 }), &["number", "text"]),
            (json!({ "ticket": "4712" }), &["other"]),
            (json!({ "ticket": 5 }), &[]),
            (json!({ "done": true }), &["number", "text"]),
            (json!({ "done": "true" }), &["number", "text"]),
            (json!({ "done": false }), &["other"]),
            (json!({ "n": -1.5 }), &["other", "odd"]),
            (json!({ "team": "red", "done": false }), &["other"]),
            (json!({ "team": "red", "ticket": 4711, "done": true }), &["number", "text"]),
            (json!({ "team": "blue", "ticket": 4711 }), &[]),
            (json!({ "a.b": "c d&e=f+g%41" }), &["odd"]),
            (json!({ "a.b": "c" }), &[]),
            (json!({ "é": "" }), &["odd"]),
        ] {
            for api in [&api, &scoped] {
                let (failed, content) = tool(api, name, json!({ id: value, "metadata": metadata })).await;
                assert!(!failed, "{metadata}: {content:#}");
                assert_eq!(column(content["data"].as_array().unwrap(), "title"), expected, "{name} {metadata}");
                assert_eq!(content["total"], json!(expected.len()), "{name} {metadata}");
            }
        }
        // With other arguments, and without it.
        let page = json!({ id: value, "metadata": { "team": "red" }, "limit": 1, "offset": 1, "status": "confirmed" });
        let (_, page) = tool(&api, name, page).await;
        assert_eq!((&page["total"], &page["data"][0]["title"]), (&json!(3), &json!("text")), "{page:#}");
        let (_, all) = tool(&api, name, json!({ id: value })).await;
        assert_eq!(all["total"], 5);
        // The same bounds as on the routes.
        for metadata in [json!(keyed(&numbered("k", 11))), json!({ "": "x" })] {
            let (failed, content) = tool(&api, name, json!({ id: value, "metadata": metadata })).await;
            assert!(failed, "{metadata}: {content:#}");
            assert_eq!(
                (&content["error"]["type"], &content["error"]["param"]),
                (&json!("validation_error"), &json!("metadata"))
            );
        }
        let (failed, content) = tool(&api, name, json!({ id: value, "metadata": keyed(&numbered("k", 10)) })).await;
        assert_eq!((failed, &content["total"]), (false, &json!(0)), "{content:#}");
    }
    // Other tools do not take it.
    for (name, mut arguments) in
        [("listCalendars", json!({})), ("listAgents", json!({})), ("searchEvents", json!({ "q": "a" }))]
    {
        arguments["metadata"] = json!({ "ticket": "4711" });
        let (failed, content) = tool(&api, name, arguments).await;
        assert!(failed, "{name}: {content:#}");
        assert_eq!(
            (&content["error"]["param"], &content["error"]["code"]),
            (&json!("metadata"), &json!("unknown_field"))
        );
    }
    // The two tools describe it.
    let list = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {} });
    let answer = api.post("/mcp").json(list).header("mcp-protocol-version", "2025-06-18").await.expect(200);
    let tools = answer.at("/result/tools");
    for (name, ..) in lists {
        let described = tools.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
        assert!(described["inputSchema"]["properties"]["metadata"].is_object(), "{described:#}");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn of_many_changes_at_once_one_is_found(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (owner, first) = agent_with_calendar(&api).await;
    let second = calendar_of(&api, &owner).await;
    let mut nodes = vec![api.clone()];
    let other;
    if database == Postgres {
        other = server.another_node().await;
        nodes.push(api.moved_to(other.base_url()));
    }
    let id = made(&api, &first, with("One", &start(0), json!({ "n": 0 }))).await;
    // Half of the writes change the metadata, and the others move it.
    for round in 0..3 {
        let writes = (0..16_usize).map(|number| {
            let node = &nodes[number % nodes.len()];
            if number % 4 == 3 {
                let calendar = if number % 8 == 3 { &first } else { &second };
                node.post(format!("/v1/events/{id}/move")).json(json!({ "calendar_id": calendar }))
            } else {
                node.patch(format!("/v1/events/{id}")).json(json!({ "metadata": { "n": 100 * round + number } }))
            }
        });
        let statuses: Vec<u16> =
            join_all(writes.map(IntoFuture::into_future)).await.iter().map(|answer| answer.status).collect();
        assert!(statuses.contains(&200) && statuses.iter().all(|status| [200, 409].contains(status)), "{statuses:?}");
        let event = api.get(format!("/v1/events/{id}")).await.expect(200);
        for node in &nodes {
            for number in 0..300_usize.min(100 * (round + 1)) {
                if number % 100 >= 16 {
                    continue;
                }
                let value = number.to_string();
                let expected = if event["metadata"]["n"] == number { vec![id.clone()] } else { Vec::new() };
                assert_eq!(ids(node, &of_agent(&owner), &[("n", &value)]).await, expected, "{value}");
            }
            for calendar in [&first, &second] {
                let value = event["metadata"]["n"].to_string();
                let expected = if event["calendarId"] == **calendar { 1 } else { 0 };
                assert_eq!(ids(node, &of_calendar(calendar), &[("n", &value)]).await.len(), expected);
            }
        }
    }
}

#[tokio::test]
async fn every_node_finds_what_another_one_has_written() {
    let (server, api) = Server::with_org(Postgres, "pro").await;
    let calendar = shared_calendar(&api, "UTC").await;
    let path = of_calendar(&calendar);
    let node = server.another_node().await;
    let there = api.moved_to(node.base_url());
    let id = made(&api, &calendar, with("One", &start(0), json!({ "n": 0 }))).await;
    for round in 1..10 {
        let (writer, reader) = if round % 2 == 0 { (&api, &there) } else { (&there, &api) };
        let (old, new) = (format!("{}", round - 1), format!("{round}"));
        assert_eq!(ids(reader, &path, &[("n", &old)]).await, [id.as_str()]);
        mark(writer, &id, json!({ "n": round })).await;
        assert_eq!(ids(reader, &path, &[("n", &new)]).await, [id.as_str()]);
        assert_eq!(ids(reader, &path, &[("n", &old)]).await, [""; 0]);
    }
    delete(&there, &id).await;
    assert_eq!(ids(&api, &path, &[("n", "9")]).await, [""; 0]);
}

/// A pseudo-random sequence that is the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn of<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        &values[self.below(values.len())]
    }

    fn metadata(&mut self) -> Value {
        let values = json!([
            7, 7.0, "7", "7.0", true, "true", false, null, "null", [7], { "a": 7 }, "", "x", "X", 0.5, "0.5", -1
        ]);
        let values = values.as_array().unwrap();
        let mut metadata = Map::new();
        for key in KEYS {
            if self.below(3) > 0 {
                metadata.insert((*key).to_owned(), self.of(values).clone());
            }
        }
        json!(metadata)
    }
}

const KEYS: &[&str] = &["a", "b", "a.b", "A", "é"];
const VALUES: &[&str] =
    &["7", "7.0", "70e-1", "07", "true", "True", "false", "null", "", "x", "X", "0.5", "-1.0", "[7]"];

/// An event or a series, as the model knows it.
struct Known {
    id: String,
    calendar: usize,
    status: &'static str,
    /// The starts of all occurrences. An event that does not repeat has one.
    starts: Vec<String>,
    metadata: Value,
    /// The metadata of changed occurrences.
    own: BTreeMap<usize, Value>,
}

impl Known {
    fn repeats(&self) -> bool {
        self.starts.len() > 1
    }

    /// What a list shows of it: the start, the identifier and the metadata of each entry.
    fn entries(&self, expand: bool) -> Vec<(String, String, &Value)> {
        if !expand || !self.repeats() {
            return vec![(self.starts[0].clone(), self.id.clone(), &self.metadata)];
        }
        let entry = |(number, start): (usize, &String)| {
            (start.clone(), instance(&self.id, start), self.own.get(&number).unwrap_or(&self.metadata))
        };
        self.starts.iter().enumerate().map(entry).collect()
    }
}

/// Whether a filter with this value finds this entry of the metadata.
fn finds(wanted: &str, entry: &Value) -> bool {
    match entry {
        Value::String(text) => text == wanted,
        Value::Bool(truth) => truth.to_string() == wanted,
        Value::Number(number) => {
            serde_json::from_str::<Number>(wanted).is_ok_and(|wanted| wanted.as_f64() == number.as_f64())
        }
        _ => false,
    }
}

/// The identifiers that a list must have.
fn expected(
    all: &[Known],
    calendars: &[usize],
    status: Option<&str>,
    expand: bool,
    filters: &[(&str, &str)],
) -> Vec<String> {
    let mut entries = Vec::new();
    for known in all {
        if calendars.contains(&known.calendar) && status.is_none_or(|status| status == known.status) {
            entries.extend(known.entries(expand));
        }
    }
    let matches = |metadata: &Value| {
        filters.iter().all(|(key, value)| metadata.get(key).is_some_and(|entry| finds(value, entry)))
    };
    entries.retain(|(_, _, metadata)| matches(metadata));
    entries.sort_by(|one, other| (&one.0, &one.1).cmp(&(&other.0, &other.1)));
    entries.into_iter().map(|(_, id, _)| id).collect()
}

#[apply(on_both)]
#[tokio::test]
async fn lists_agree_with_a_model(#[case] database: Database) {
    const ROUNDS: usize = 3;
    const QUESTIONS: usize = 120;
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, first) = agent_with_calendar(&api).await;
    let calendars = [first, calendar_of(&api, &owner).await, agent_with_calendar(&api).await.1];
    let mut numbers = Numbers(4711);

    // Each event has a time of day of its own, so no two start at once.
    let mut all: Vec<Known> = Vec::new();
    for (calendar, id) in calendars.iter().enumerate() {
        let mut bodies = Vec::new();
        for index in 0..12_usize {
            let number = 3 * (index * 5 % 12) + calendar;
            let repeats = index % 4 == 0;
            let day = if repeats { 0 } else { number % 3 };
            let begins = start(number + 48 * day);
            let status = *numbers.of(&["confirmed", "tentative", "cancelled"]);
            let metadata = numbers.metadata();
            let mut body = with("x", &begins, metadata.clone());
            if repeats {
                body = series("x", &begins, 3, metadata.clone());
            }
            body["status"] = json!(status);
            bodies.push(body);
            let starts = (0..if repeats { 3 } else { 1 }).map(|day| shifted(&begins, day * 24 * 60)).collect();
            all.push(Known { id: String::new(), calendar, status, starts, metadata, own: BTreeMap::new() });
        }
        let ids = make(&api, id, &bodies).await;
        let made = all.len() - ids.len();
        for (known, id) in all[made..].iter_mut().zip(ids) {
            known.id = id;
        }
    }
    for known in all.iter_mut().filter(|known| known.repeats()) {
        let (place, metadata) = (numbers.below(3), numbers.metadata());
        mark(&api, &instance(&known.id, &known.starts[place]), metadata.clone()).await;
        known.own.insert(place, metadata);
    }

    let (mut hits, mut misses) = (0, 0);
    for round in 0..ROUNDS {
        for question in 0..QUESTIONS {
            // Half of the filters are made from an event, so that they find at least that one.
            let seed = numbers.below(all.len());
            let mut filters: BTreeMap<&str, String> = BTreeMap::new();
            for _ in 0..=numbers.below(3) {
                let key = *numbers.of(KEYS);
                let value = match &all[seed].metadata[key] {
                    Value::String(text) if question % 2 == 0 => text.clone(),
                    value @ (Value::Number(_) | Value::Bool(_)) if question % 2 == 0 => value.to_string(),
                    _ => (*numbers.of(VALUES)).to_owned(),
                };
                filters.insert(key, value);
            }
            let filters: Vec<(&str, &str)> = filters.iter().map(|(key, value)| (*key, value.as_str())).collect();
            let scope = numbers.below(4);
            let (path, of_scope) = match calendars.get(scope) {
                Some(calendar) => (of_calendar(calendar), vec![scope]),
                None => (of_agent(&owner), vec![0, 1]),
            };
            let expand = numbers.below(2) == 0;
            let status = *numbers.of(&[None, None, Some("confirmed"), Some("tentative")]);
            let mut more = if expand { EXPANDED.to_vec() } else { Vec::new() };
            more.extend(status.map(|status| ("status", status)));

            let expected = expected(&all, &of_scope, status, expand, &filters);
            let events = found_with(&api, &path, &filters, &more).await;
            assert_eq!(column(&events, "id"), expected, "round {round}: {path} {filters:?} {more:?}");
            if question % 5 == 0 {
                let limit = 1 + numbers.below(3);
                assert_eq!(paged(&api, &path, &filters, &more, limit).await, (expected.len(), events), "{filters:?}");
            }
            *(if expected.is_empty() { &mut misses } else { &mut hits }) += 1;
        }
        // Some events change.
        for _ in 0..10 {
            let place = numbers.below(all.len());
            let known = &mut all[place];
            match numbers.below(5) {
                0 => {
                    delete(&api, &known.id).await;
                    all.remove(place);
                }
                1 => {
                    known.calendar = numbers.below(calendars.len());
                    moved(&api, &known.id, &calendars[known.calendar]).await;
                }
                2 if known.repeats() => {
                    let (place, metadata) = (numbers.below(3), numbers.metadata());
                    mark(&api, &instance(&known.id, &known.starts[place]), metadata.clone()).await;
                    known.own.insert(place, metadata);
                }
                3 => {
                    change(&api, &known.id, json!({ "title": "y", "description": "z" })).await;
                }
                _ => {
                    known.metadata = numbers.metadata();
                    mark(&api, &known.id, known.metadata.clone()).await;
                }
            }
        }
    }
    assert!(hits > 50 && misses > 50, "{hits} hits and {misses} misses say little");
}
