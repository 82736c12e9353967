//! Files from other services, imported as native events: moving in, moving out, and importing again.

use crate::on_both;
use kalends_e2e::{Answer, Client, Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::fixtures::{agent_with_calendar, shared_calendar};
use crate::webhooks::{hook, with_receiver};

/// A file with these events.
fn file(events: &[&str]) -> String {
    let events: String = events.iter().map(|event| format!("BEGIN:VEVENT\r\n{event}\r\nEND:VEVENT\r\n")).collect();
    format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Elsewhere//EN\r\n{events}END:VCALENDAR\r\n")
}

const ONCE: &str = "UID:once@x\r\nDTSTART:20260303T100000Z\r\nDTEND:20260303T110000Z\r\nSUMMARY:Dentist\r\nDESCRIPTION:Bring\\nthe card\r\n\
                    LOCATION:Teeth\\, 2nd floor\r\nCONFERENCE;VALUE=URI;FEATURE=VIDEO:https://meet.example.com/d";
const SERIES: &str = "UID:series@x\r\nDTSTART;TZID=Europe/Berlin:20260323T090000\r\nDURATION:PT30M\r\n\
                      RRULE:FREQ=WEEKLY;COUNT=4\r\nEXDATE;TZID=Europe/Berlin:20260413T090000\r\nSUMMARY:Standup";
const CHANGED: &str = "UID:series@x\r\nRECURRENCE-ID;TZID=Europe/Berlin:20260330T090000\r\n\
                       DTSTART;TZID=Europe/Berlin:20260330T140000\r\nDURATION:PT1H\r\nSUMMARY:Standup, late";
const FREE: &str = "UID:free@x\r\nDTSTART;VALUE=DATE:20260305\r\nTRANSP:TRANSPARENT\r\nSUMMARY:Birthday";
const BROKEN: &str = "UID:broken@x\r\nSUMMARY:When?";

async fn import(api: &Client, calendar: &str, text: impl Into<String>) -> Answer {
    let path = format!("/v1/calendars/{calendar}/import");
    api.post(path).header("content-type", "text/calendar").body(text.into()).await
}

/// The numbers of created, updated, untouched and skipped events.
fn counts(answer: &Answer) -> [i64; 4] {
    ["created", "updated", "untouched", "skipped"].map(|name| answer[name].as_i64().unwrap())
}

/// The webhook path that hears of events.
const HOOK: &str = "/told";

fn listing(calendar: &str) -> String {
    format!(
        "/v1/calendars/{calendar}/events?expand=true&start_after=2026-03-01T00:00:00Z&start_before=2026-05-01T00:00:00Z&limit=200"
    )
}

/// The title and start of each instance in March and April.
async fn instances(api: &Client, calendar: &str) -> Vec<(String, String)> {
    let listed = api.get(listing(calendar)).await.expect(200).data();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    listed.iter().map(|event| (text(&event["title"]), text(&event["startTime"]))).collect()
}

#[apply(on_both)]
#[tokio::test]
async fn a_file_is_imported(#[case] database: Database) {
    let (_server, api, receiver) = with_receiver(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    hook(&api, &receiver, HOOK, &["*"]).await;
    let moved_in = import(&api, &calendar, file(&[ONCE, SERIES, CHANGED, FREE, BROKEN])).await.expect(200);
    assert_eq!(counts(&moved_in), [4, 0, 0, 1]);
    let broken = json!([{ "uid": "broken@x", "reason": "it has no DTSTART" }]);
    assert_eq!((&moved_in["skipped_events"], &moved_in["warnings"]), (&broken, &json!([])));
    let expected = [
        ("Dentist", "2026-03-03T10:00:00Z"),
        ("Birthday", "2026-03-05T00:00:00Z"),
        ("Standup", "2026-03-23T08:00:00Z"),
        ("Standup, late", "2026-03-30T12:00:00Z"),
        // The clocks have changed in between.
        ("Standup", "2026-04-06T07:00:00Z"),
    ]
    .map(|(title, start)| (title.to_owned(), start.to_owned()));
    assert_eq!(instances(&api, &calendar).await, expected);

    // Imported events are ordinary events: announced, counted and changeable.
    let listed = api.get(format!("/v1/calendars/{calendar}/events")).await.expect(200).data();
    assert!(listed.iter().all(|event| event["source"] == "internal"), "{listed:?}");
    let dentist = listed.iter().find(|event| event["title"] == "Dentist").unwrap();
    assert_eq!(dentist["description"], "Bring\nthe card");
    assert_eq!(dentist["location"], "Teeth, 2nd floor");
    assert_eq!(dentist["conferenceUrl"], "https://meet.example.com/d");
    let birthday = listed.iter().find(|event| event["title"] == "Birthday").unwrap();
    assert_eq!((&birthday["transparent"], &birthday["allDay"]), (&json!(true), &json!(true)));
    assert_eq!(dentist.get("transparent"), None);
    let usage = api.get("/v1/usage").await.expect(200);
    assert_eq!(usage["events"]["used"], 3, "a series is one, with all its occurrences");
    let messages = receiver.wait_for(HOOK, 4).await;
    let mut messages: Vec<(String, String)> = messages
        .iter()
        .map(|received| (received.event_type().to_owned(), received.json()["title"].as_str().unwrap().to_owned()))
        .collect();
    messages.sort();
    let expected = [
        ("event.created", "Birthday"),
        ("event.created", "Dentist"),
        ("event.created", "Standup"),
        ("event.updated", "Standup, late"),
    ];
    assert_eq!(messages, expected.map(|(about, title)| (about.to_owned(), title.to_owned())));
    let id = dentist["id"].as_str().unwrap();
    api.patch(format!("/v1/events/{id}")).json(json!({ "metadata": { "mine": 1 } })).await.expect(200);

    // The same file again, and then a changed one. Events that are not in the file stay.
    let again = import(&api, &calendar, file(&[CHANGED, SERIES, ONCE, FREE])).await.expect(200);
    assert_eq!(counts(&again), [0, 0, 4, 0]);
    let later = ONCE.replace("Dentist", "Dentist!").replace("T10", "T09");
    let changed = import(&api, &calendar, file(&[&later, &FREE.replace("free", "other")])).await.expect(200);
    assert_eq!(counts(&changed), [1, 1, 0, 0]);
    let event_now = api.get(format!("/v1/events/{id}")).await.expect(200);
    assert_eq!((&event_now["title"], &event_now["startTime"]), (&json!("Dentist!"), &json!("2026-03-03T09:00:00Z")));
    assert_eq!(event_now["metadata"], json!({ "mine": 1 }), "fields that the file lacks stay");
    assert_eq!(instances(&api, &calendar).await.len(), 6);

    // An event that was deleted here is created again by a file that contains it.
    api.delete(format!("/v1/events/{id}")).await.expect(204);
    assert_eq!(counts(&import(&api, &calendar, file(&[ONCE])).await.expect(200)), [1, 0, 0, 0]);
    assert_eq!(instances(&api, &calendar).await.len(), 6);
}

/// An event that moved to another calendar no longer belongs to the file, as if it had been deleted.
#[apply(on_both)]
#[tokio::test]
async fn events_that_moved_away_are_imported_again(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let other = shared_calendar(&api, "Asia/Tokyo").await;
    import(&api, &calendar, file(&[ONCE, SERIES, CHANGED])).await.expect(200);
    let all = instances(&api, &calendar).await;
    let ids = api.get(format!("/v1/calendars/{calendar}/events")).await.expect(200).column("id");
    for id in &ids {
        api.post(format!("/v1/events/{id}/move")).json(json!({ "calendar_id": other })).await.expect(200);
    }
    assert_eq!((instances(&api, &calendar).await, instances(&api, &other).await), (vec![], all.clone()));
    let again = import(&api, &calendar, file(&[ONCE, SERIES, CHANGED])).await.expect(200);
    assert_eq!(counts(&again), [3, 0, 0, 0], "{}", again.describe());
    assert_eq!((instances(&api, &calendar).await, instances(&api, &other).await), (all.clone(), all.clone()));
    let again = import(&api, &calendar, file(&[ONCE, SERIES, CHANGED])).await.expect(200);
    assert_eq!(counts(&again), [0, 0, 3, 0], "{}", again.describe());
    // The other calendar has its own imports.
    assert_eq!(counts(&import(&api, &other, file(&[ONCE])).await.expect(200)), [1, 0, 0, 0]);
}

#[apply(on_both)]
#[tokio::test]
async fn exceptions_in_the_file_replace_those_of_the_series(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    import(&api, &calendar, file(&[SERIES])).await.expect(200);
    let all = api.get(format!("/v1/calendars/{calendar}/events")).await.expect(200).data();
    let series = all[0]["id"].as_str().unwrap().to_owned();

    // An occurrence is changed here and then in the file. It is still one occurrence.
    let here = json!({ "title": "Changed here" });
    api.patch(format!("/v1/events/{series}_20260330T070000Z")).json(here).await.expect(200);
    let both = import(&api, &calendar, file(&[SERIES, CHANGED])).await.expect(200);
    assert_eq!(counts(&both), [0, 2, 0, 0], "{}", both.describe());
    let titles = |all: Vec<(String, String)>| all.into_iter().map(|(title, _)| title).collect::<Vec<_>>();
    assert_eq!(titles(instances(&api, &calendar).await), ["Standup", "Standup, late", "Standup"]);

    // The new file no longer has the exception, and changes the series.
    let other = SERIES.replace("COUNT=4", "COUNT=5");
    import(&api, &calendar, file(&[&other])).await.expect(200);
    assert_eq!(titles(instances(&api, &calendar).await), ["Standup"; 4]);
}

#[apply(on_both)]
#[tokio::test]
async fn a_file_cancels_its_events(#[case] database: Database) {
    let (_server, api, receiver) = with_receiver(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    import(&api, &calendar, file(&[ONCE, SERIES, CHANGED, FREE])).await.expect(200);
    let listed = api.get(format!("/v1/calendars/{calendar}/events")).await.expect(200).data();
    let [once, free] = ["Dentist", "Birthday"].map(|title| {
        let found = listed.iter().find(|event| event["title"] == title);
        format!("/v1/events/{}", found.unwrap()["id"].as_str().unwrap())
    });
    hook(&api, &receiver, HOOK, &["*"]).await;

    let cancelled = format!("{ONCE}\r\nSTATUS:CANCELLED");
    let answer = import(&api, &calendar, file(&[&cancelled])).await.expect(200);
    assert_eq!(counts(&answer), [0, 1, 0, 0]);
    assert_eq!(api.get(&once).await.expect(200)["status"], "cancelled");
    let messages = receiver.wait_for(HOOK, 1).await;
    assert_eq!((messages[0].event_type(), &messages[0].json()["status"]), ("event.updated", &json!("cancelled")));

    // The series is cancelled together with its changed occurrence. Events that are not in the file stay.
    let cancelled_file = file(&[SERIES, CHANGED]).replace("VERSION:2.0", "VERSION:2.0\r\nMETHOD:CANCEL");
    assert_eq!(counts(&import(&api, &calendar, cancelled_file.clone()).await.expect(200)), [0, 2, 0, 0]);
    let live = instances(&api, &calendar).await.into_iter().filter(|(title, _)| title.starts_with("Standup"));
    let statuses = api.get(listing(&calendar)).await.expect(200).data();
    let of_series = statuses.iter().filter(|event| event["title"].as_str().unwrap().starts_with("Standup"));
    assert!(of_series.clone().all(|event| event["status"] == "cancelled"), "{statuses:?}");
    assert_eq!(of_series.count(), live.count());
    assert_eq!(api.get(&free).await.expect(200)["status"], "confirmed");
    assert_eq!(receiver.wait_for(HOOK, 3).await.len(), 3);

    // Importing it again changes nothing. A file with a status that is not cancelled restores the same event.
    assert_eq!(counts(&import(&api, &calendar, cancelled_file).await.expect(200)), [0, 0, 2, 0]);
    assert_eq!(counts(&import(&api, &calendar, file(&[&cancelled])).await.expect(200)), [0, 0, 1, 0]);
    assert_eq!(counts(&import(&api, &calendar, file(&[ONCE, SERIES, CHANGED])).await.expect(200)), [0, 3, 0, 0]);
    assert_eq!(api.get(&once).await.expect(200)["status"], "confirmed");
    assert_eq!(
        counts(&import(&api, &calendar, file(&[&cancelled.replace("once", "unknown")])).await.expect(200)),
        [0; 4]
    );
    assert_eq!(instances(&api, &calendar).await.len(), 5);
}

#[apply(on_both)]
#[tokio::test]
async fn an_event_may_change_its_kind_between_imports(#[case] database: Database) {
    let (_server, api, receiver) = with_receiver(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    import(&api, &calendar, file(&[ONCE, FREE])).await.expect(200);
    hook(&api, &receiver, HOOK, &["event.deleted"]).await;
    let starts = async || {
        let all = instances(&api, &calendar).await;
        all.into_iter().filter(|(title, _)| title == "Dentist").map(|(_, start)| start[5..13].to_owned()).collect()
    };
    let series = format!("{ONCE}\r\nRRULE:FREQ=DAILY;COUNT=3");
    let late =
        "UID:once@x\r\nRECURRENCE-ID:20260304T100000Z\r\nDTSTART:20260304T150000Z\r\nDURATION:PT1H\r\nSUMMARY:Dentist";
    let twice_a_day = format!("{ONCE}\r\nRRULE:FREQ=DAILY;BYHOUR=10,16;COUNT=4");
    let moved = twice_a_day.replace("T10", "T09").replace("T11", "T10").replace("BYHOUR=10", "BYHOUR=9");
    let expanded = format!("{ONCE}\r\nRRULE:FREQ=YEARLY;BYYEARDAY=62,63;COUNT=2");
    let editions: [(&[&str], &[&str]); 6] = [
        (&[&series, late], &["03-03T10", "03-04T15", "03-05T10"]),
        (&[&twice_a_day], &["03-03T10", "03-03T16", "03-04T10", "03-04T16"]),
        (&[&moved], &["03-03T09", "03-03T16", "03-04T09", "03-04T16"]),
        (&[&expanded], &["03-03T10", "03-04T10"]),
        (&[&series], &["03-03T10", "03-04T10", "03-05T10"]),
        (&[ONCE], &["03-03T10"]),
    ];
    for (edition, expected) in editions {
        let answer = import(&api, &calendar, file(edition)).await.expect(200);
        let starts_now: Vec<String> = starts().await;
        assert_eq!(starts_now, expected, "{edition:?}: {}", answer.describe());
        let [created, updated, untouched, _] = counts(&import(&api, &calendar, file(edition)).await.expect(200));
        assert_eq!((created, updated), (0, 0), "{edition:?} once more");
        assert!(untouched > 0);
    }
    assert_eq!(instances(&api, &calendar).await.len(), 2, "events that are not in the files stay");
    let message = receiver.wait_for_type(HOOK, "event.deleted").await.json();
    assert_eq!((&message["title"], message["deletedAt"].is_string()), (&json!("Dentist"), true));
}

#[apply(on_both)]
#[tokio::test]
async fn an_export_can_be_imported(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, from) = agent_with_calendar(&api).await;
    import(&api, &from, file(&[ONCE, SERIES, CHANGED, FREE])).await.expect(200);
    let exported = api.get(format!("/v1/calendars/{from}/export.ics")).await.expect(200);
    assert!(exported.text().contains("TRANSP:TRANSPARENT"));
    let to = shared_calendar(&api, "UTC").await;
    assert_eq!(counts(&import(&api, &to, exported.text()).await.expect(200)), [4, 0, 0, 0]);
    assert_eq!(instances(&api, &to).await, instances(&api, &from).await);
    assert_eq!(counts(&import(&api, &to, exported.text()).await.expect(200)), [0, 0, 4, 0]);
}

#[apply(on_both)]
#[tokio::test]
async fn large_imports_respect_the_limits(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let events: Vec<String> = (0..1_201)
        .map(|number| {
            format!(
                "UID:{number:05}@x\r\nDTSTART:20260303T{:02}0000Z\r\nDURATION:PT1H\r\nSUMMARY:No {number}",
                number % 24
            )
        })
        .collect();
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let many = file(&events);
    // A dry run decides on one part only, so a file with several is refused.
    let dry = async |text: String| {
        let path = format!("/v1/calendars/{calendar}/import?dry_run=true");
        api.post(path).header("content-type", "text/calendar").body(text).await
    };
    dry(many.clone()).await.refused(400, "validation_error").param("dry_run").mentions("500");
    assert_eq!(counts(&dry(file(&events[..500])).await.expect(200)), [500, 0, 0, 0]);
    assert_eq!(counts(&import(&api, &calendar, many.clone()).await.expect(200)), [1_201, 0, 0, 0]);
    assert_eq!(counts(&import(&api, &calendar, many.clone()).await.expect(200)), [0, 0, 1_201, 0]);

    // Events over the plan's quota are refused. The chunks before stay and are recognized.
    let bounded = server.api(&server.org_with("pro", &["--limits", "{\"events\":700}"]).await);
    let (_, calendar) = agent_with_calendar(&bounded).await;
    import(&bounded, &calendar, many.clone()).await.refused(429, "quota_exceeded");
    let listed = bounded.get(format!("/v1/calendars/{calendar}/events?limit=1")).await.expect(200);
    assert_eq!(listed["total"], 500);
    import(&bounded, &calendar, many).await.refused(429, "quota_exceeded");
    assert_eq!(counts(&import(&bounded, &calendar, file(&events[..500])).await.expect(200)), [0, 0, 500, 0]);

    // A plan without endless series refuses them.
    let free = server.api(&server.org("free").await);
    let (_, calendar) = agent_with_calendar(&free).await;
    let endless = SERIES.replace(";COUNT=4", "");
    import(&free, &calendar, file(&[&endless])).await.refused(403, "plan_required");
}

#[apply(on_both)]
#[tokio::test]
async fn invalid_files_are_refused(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    for (text, part) in [
        (String::new(), "empty"),
        ("<!DOCTYPE html><html></html>".into(), "HTML"),
        ("{\"events\":[]}".into(), "BEGIN:VCALENDAR"),
        (file(&[ONCE]).replace("END:VCALENDAR\r\n", ""), "cut short"),
        (file(&vec!["UID:a"; 20_001]), "20000"),
    ] {
        import(&api, &calendar, text).await.refused(400, "validation_error").param("body").mentions(part);
    }
    let path = format!("/v1/calendars/{calendar}/import");
    api.post(&path).json(json!({})).await.refused(415, "invalid_request");
    let large = format!("{}{}", file(&[ONCE]), " ".repeat(10 << 20));
    import(&api, &calendar, large).await.refused(413, "invalid_request");
    import(&api, "cal_nothing", file(&[ONCE])).await.refused(404, "not_found").code("calendar_not_found");
    assert_eq!(instances(&api, &calendar).await, []);

    // A replay returns the report of the first request.
    let keyed = || {
        let request = api.post(&path).header("content-type", "text/calendar; charset=utf-8");
        request.header("idempotency-key", "move-in").body(file(&[ONCE]))
    };
    assert_eq!(counts(&keyed().await.expect(200)), [1, 0, 0, 0]);
    let repeated = keyed().await.expect(200);
    assert_eq!((counts(&repeated), repeated.header("idempotency-replayed")), ([1, 0, 0, 0], "true"));
}
