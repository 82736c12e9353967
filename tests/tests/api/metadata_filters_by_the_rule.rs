//! Lists of events by their metadata: `metadata.KEY=VALUE`. Written without knowledge of the code.

mod changes;
mod model;

use crate::on_both;

use kalends_e2e::{Answer, Call, Client, Database, Server, shifted};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Map, Value, json};

use crate::{
    core_tools::all_pages,
    fixtures::{agent_with_calendar, calendar_of, event_body, has_exactly, shared_calendar},
    proposals::key_of,
};

/// Names or keys, with their values.
type Pairs<'a> = &'a [(&'a str, &'a str)];

/// The month of the events of these tests.
const MAY: Pairs<'_> = &[("start_after", "2031-05-01T00:00:00Z"), ("start_before", "2031-06-01T00:00:00Z")];
const EXPANDED: Pairs<'_> = &[("expand", "true"), MAY[0], MAY[1]];

/// The path of a calendar's events.
fn of_calendar(calendar: &str) -> String {
    format!("/v1/calendars/{calendar}/events")
}

/// The path of an agent's events.
fn of_agent(agent: &str) -> String {
    format!("/v1/agents/{agent}/events")
}

/// A list with these filters. Each has a key and a value.
fn asking(api: &Client, path: &str, filters: Pairs<'_>) -> Call {
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
async fn found_with(api: &Client, path: &str, filters: Pairs<'_>, more: Pairs<'_>) -> Vec<Value> {
    whole(&asking(api, path, filters).query(&[("limit", "200")]).query(more).await.expect(200))
}

/// What a list with these filters finds.
async fn found(api: &Client, path: &str, filters: Pairs<'_>) -> Vec<Value> {
    found_with(api, path, filters, &[]).await
}

/// What a list with these filters finds, page by page. Every page must have the same `total`.
async fn paged(api: &Client, path: &str, filters: Pairs<'_>, more: Pairs<'_>, limit: usize) -> (usize, Vec<Value>) {
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

async fn titles(api: &Client, path: &str, filters: Pairs<'_>) -> Vec<String> {
    column(&found(api, path, filters).await, "title")
}

async fn ids(api: &Client, path: &str, filters: Pairs<'_>) -> Vec<String> {
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
async fn taking_place(api: &Client, owner: &str, calendar: &str, filters: Pairs<'_>) -> Vec<String> {
    let events = found_with(api, &of_calendar(calendar), filters, EXPANDED).await;
    assert_eq!(found_with(api, &of_agent(owner), filters, EXPANDED).await, events, "{filters:?}");
    for limit in [1, 3] {
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
        // A double cannot tell the first two apart, nor the last two of these four.
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
    let (second_day, third_day) = ("2031-05-02T00:00:00Z", "2031-05-03T00:00:00Z");
    let cases: &[(Pairs<'_>, [usize; 2])] = &[
        (&[], [6, 12]),
        (MAY, [6, 12]),
        (&[("start_after", &middle)], [3, 6]),
        (&[("start_before", &middle)], [3, 6]),
        (&[("start_after", second_day), ("start_before", third_day)], [3, 6]),
        (&[("start_after", third_day)], [0, 0]),
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
        (&[("expand", "true"), ("start_after", third_day), ("start_before", "2031-05-05T00:00:00Z")], [2, 4]),
        (&[EXPANDED[0], EXPANDED[1], EXPANDED[2], ("status", "confirmed"), ("local", "true")], [6, 12]),
        (&[EXPANDED[0], EXPANDED[1], EXPANDED[2], ("status", "tentative")], [2, 4]),
    ];
    let red = [("team", "red")];
    for &(more, counts) in cases {
        for (path, count) in [of_calendar(&first), of_agent(&owner)].into_iter().zip(counts) {
            let all = found_with(&api, &path, &[], more).await;
            let expected: Vec<Value> = all.into_iter().filter(|event| event["metadata"]["team"] == "red").collect();
            assert_eq!(expected.len(), count, "{more:?} in {path}: {:?}", column(&expected, "title"));
            assert_eq!(found_with(&api, &path, &red, more).await, expected, "{more:?} in {path}");
            for limit in [2, 5] {
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
        for key in first[..2].iter().chain(&first[46..]) {
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
        "/v1/scheduling/proposals".to_owned(),
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
            api.get(&path).query(&[(name, "1")]).await.expect(400).param(name).code("unknown_field");
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
    let answer = api.post("/mcp?tools=all").json(body).header("mcp-protocol-version", "2025-06-18").await.expect(200);
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
    let tools = all_pages(&api, "all", "tools/list", "tools").await;
    for (name, ..) in lists {
        let described = tools.iter().find(|tool| tool["name"] == name).unwrap();
        assert!(described["inputSchema"]["properties"]["metadata"].is_object(), "{described:#}");
    }
}
