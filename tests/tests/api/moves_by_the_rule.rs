//! Moves of events and series to other calendars: `POST /v1/events/{id}/move`. Written without knowledge of the code.

use crate::on_both;
use std::collections::BTreeSet;

use kalends_e2e::{Answer, Call, Client, Database, Server, Serving, shifted};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    changes::Copy,
    feed::{address, feed},
    fixtures::{agent_with_calendar, calendar_of, event, event_body, now, rows, shared_calendar},
    hold_races::{all, outcomes, unlimited},
    subscriber::{Subscriber, meeting, vcalendar, vevent},
    webhooks::{hook, with_receiver},
};

/// A request to move an event, with this body.
fn asking(api: &Client, id: &str, body: Value) -> Call {
    api.post(format!("/v1/events/{id}/move")).json(body)
}

/// A request to move an event to a calendar.
fn moving(api: &Client, id: &str, calendar: &str) -> Call {
    asking(api, id, json!({ "calendar_id": calendar }))
}

/// Moves an event to a calendar, which must succeed.
async fn moved(api: &Client, id: &str, calendar: &str) -> Answer {
    let answer = moving(api, id, calendar).await.expect(200);
    assert_eq!((answer.id().as_str(), &answer["calendarId"]), (id, &json!(calendar)), "{}", answer.describe());
    answer
}

/// Requires that the event is still as it was when it was read.
async fn unchanged(api: &Client, before: &Answer) {
    let after = api.get(format!("/v1/events/{}", before.id())).await.expect(200);
    assert_eq!(after.json, before.json);
    assert_eq!(after.header("etag"), before.header("etag"));
}

/// The path of a calendar's events.
fn events(calendar: &str) -> String {
    format!("/v1/calendars/{calendar}/events")
}

/// The identifiers of a calendar's events, with a series as one event.
async fn listed(api: &Client, calendar: &str) -> Vec<String> {
    api.get(format!("{}?limit=200", events(calendar))).await.expect(200).column("id")
}

/// A new series of half-hour events.
async fn series(api: &Client, calendar: &str, start: &str, more: Value) -> String {
    let mut body = event_body("Standup", start, &shifted(start, 30));
    let Value::Object(more) = more else { panic!("not an object: {more}") };
    body.as_object_mut().unwrap().extend(more);
    api.post(events(calendar)).json(body).await.expect(201).id()
}

/// The identifier of the occurrence of `series` that the rule starts at this time.
fn instance(series: &str, start: &str) -> String {
    format!("{series}_{}", start.replace(['-', ':'], ""))
}

/// The calendar's instances between two dates.
async fn expanded(api: &Client, calendar: &str, from: &str, to: &str) -> Answer {
    let (from, to) = (format!("{from}T00:00:00Z"), format!("{to}T00:00:00Z"));
    let window = [("expand", "true"), ("start_after", &*from), ("start_before", &*to)];
    api.get(events(calendar)).query(&window).await.expect(200)
}

/// The start, the length in minutes and the title of each instance between two dates.
async fn entries(api: &Client, calendar: &str, from: &str, to: &str) -> Vec<String> {
    let entry = |entry: &Value| {
        let text = |field: &str| entry[field].as_str().unwrap().to_owned();
        let length = kalends_e2e::at(&text("endTime")) - kalends_e2e::at(&text("startTime"));
        format!("{} {} {}", text("startTime"), length.num_minutes(), text("title"))
    };
    expanded(api, calendar, from, to).await.data().iter().map(entry).collect()
}

/// The busy times of the calendar between two dates.
async fn busy(api: &Client, calendar: &str, from: &str, to: &str) -> Vec<Value> {
    let range = format!("start={from}T00:00:00Z&end={to}T00:00:00Z&slot_duration=30m&include_busy=true");
    let answer = api.get(format!("/v1/calendars/{calendar}/availability?{range}")).await.expect(200);
    answer["busy"].as_array().unwrap_or_else(|| panic!("no busy times: {}", answer.describe())).clone()
}

/// The fields of an event that a move keeps.
fn kept(event: &Value) -> Value {
    let mut event = event.clone();
    let fields = event.as_object_mut().unwrap();
    fields.remove("calendarId");
    fields.remove("updatedAt");
    event
}

/// A new calendar of `agent` that refuses conflicts.
async fn room(api: &Client, agent: &str) -> String {
    let body = json!({ "name": "Room", "timezone": "UTC", "conflicts": "refuse" });
    api.post(format!("/v1/agents/{agent}/calendars")).json(body).await.expect(201).id()
}

/// The calendar's changes.
async fn changes(api: &Client, calendar: &str, query: &str) -> Answer {
    api.get(format!("/v1/calendars/{calendar}/changes?{query}")).await.expect(200)
}

/// The token at the end of a page of changes.
fn next(page: &Answer) -> String {
    page["next"].as_str().unwrap().to_owned()
}

/// Lets a mirror follow the changes, and returns the identifiers that it then has. It must have what a new mirror has,
/// and each event as the event itself shows.
async fn follows(api: &Client, calendar: &str, mirror: &mut Copy) -> BTreeSet<String> {
    mirror.catch_up(api, calendar, "1").await;
    let mut new = Copy::default();
    new.catch_up(api, calendar, "200").await;
    assert_eq!(mirror.events, new.events);
    for (id, event) in &mirror.events {
        assert_eq!(event["calendarId"], calendar);
        assert_eq!(*event, api.get(format!("/v1/events/{id}")).await.expect(200).json);
    }
    mirror.events.keys().cloned().collect()
}

#[apply(on_both)]
#[tokio::test]
async fn a_moved_event_is_on_its_new_calendar_and_otherwise_as_it_was(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, old) = agent_with_calendar(&api).await;
    let new = calendar_of(&api, &owner).await;
    let body = json!({
        "title": "Review", "description": "Bring notes", "location": "Room 2", "metadata": { "ticket": 7 },
        "conference_url": "https://meet.example.com/a", "status": "tentative", "reminders": [15],
        "start_time": "2031-05-06T09:00:00Z", "end_time": "2031-05-06T10:30:00Z",
    });
    let made = api.post(events(&old)).json(body).await.expect(201);
    let id = made.id();
    let path = format!("/v1/events/{id}");
    api.patch(&path).json(json!({ "title": "Retro" })).await.expect(200);
    let before = api.get(&path).await.expect(200);

    // With the tag of another version, nothing moves.
    for stale in [made.header("etag"), "\"no such tag\""] {
        moving(&api, &id, &new).header("if-match", stale).await.refused(412, "conflict").code("stale");
    }
    moving(&api, &id, &new).header("if-match", "\"open").await.refused(400, "validation_error").param("If-Match");
    unchanged(&api, &before).await;
    assert_eq!(listed(&api, &new).await, Vec::<String>::new());

    let answer = moving(&api, &id, &new).header("if-match", before.header("etag")).await.expect(200);
    let after = api.get(&path).await.expect(200);
    for (field, value) in after.json.as_object().unwrap() {
        assert_eq!(&answer[field.as_str()], value, "{field}");
    }
    assert_eq!((after.id(), &after["calendarId"]), (id.clone(), &json!(new)));
    assert_eq!(kept(&after.json), kept(&before.json));
    assert_eq!(answer.header("etag"), after.header("etag"));
    assert_ne!(answer.header("etag"), before.header("etag"));

    // Lists, routes and busy times.
    assert_eq!(listed(&api, &old).await, Vec::<String>::new());
    assert_eq!(listed(&api, &new).await, [id.as_str()]);
    let (of_old, of_new) = (format!("{}/{id}", events(&old)), format!("{}/{id}", events(&new)));
    api.get(&of_old).await.refused(404, "not_found").code("event_not_found");
    api.patch(&of_old).json(json!({ "title": "x" })).await.refused(404, "not_found").code("event_not_found");
    assert_eq!(api.get(&of_new).await.expect(200).json, after.json);
    assert_eq!(busy(&api, &old, "2031-05-05", "2031-05-08").await, Vec::<Value>::new());
    let taken = json!({ "start": "2031-05-06T09:00:00Z", "end": "2031-05-06T10:30:00Z" });
    assert_eq!(busy(&api, &new, "2031-05-05", "2031-05-08").await, [taken]);
    let changed = api.patch(&of_new).json(json!({ "title": "Review" })).await.expect(200);
    assert_eq!((&changed["title"], &changed["calendarId"]), (&json!("Review"), &json!(new)));

    // A move to the calendar that it is on changes nothing.
    let there = api.get(&path).await.expect(200);
    let again = moved(&api, &id, &new).await;
    assert_eq!(again.header("etag"), there.header("etag"));
    unchanged(&api, &there).await;

    // Any calendar of the organization will do: that of another agent, a shared one, and the first one.
    let (other, others) = agent_with_calendar(&api).await;
    let shared = shared_calendar(&api, "UTC").await;
    let of_agent = async |agent: &str| api.get(format!("/v1/agents/{agent}/events")).await.expect(200).column("id");
    moved(&api, &id, &others).await;
    assert_eq!((of_agent(&owner).await, of_agent(&other).await), (Vec::new(), vec![id.clone()]));
    for calendar in [&shared, &old] {
        moved(&api, &id, calendar).await;
        assert_eq!(listed(&api, calendar).await, [id.as_str()]);
        assert_eq!(listed(&api, &others).await, Vec::<String>::new());
    }
    assert_eq!((of_agent(&owner).await, of_agent(&other).await), (vec![id], Vec::new()));
}

#[apply(on_both)]
#[tokio::test]
async fn a_series_moves_with_its_changed_and_cancelled_occurrences(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (old, new) = (shared_calendar(&api, "Europe/Berlin").await, shared_calendar(&api, "America/New_York").await);
    let (from, to) = ("2031-03-25", "2031-04-10");
    // Nine o'clock in Berlin from 27 March to 3 April without 29 March. Summer time begins there on 30 March.
    let rule = json!({
        "recurrence_rule": "FREQ=DAILY;COUNT=8", "recurrence_timezone": "Europe/Berlin",
        "recurrence_exdates": ["2031-03-29T08:00:00Z"],
    });
    let id = series(&api, &old, "2031-03-27T08:00:00Z", rule).await;
    let path = format!("/v1/events/{id}");
    let afternoon =
        json!({ "title": "Retro", "start_time": "2031-03-31T12:00:00Z", "end_time": "2031-03-31T13:30:00Z" });
    let retro = instance(&id, "2031-03-31T07:00:00Z");
    api.patch(format!("/v1/events/{retro}")).json(afternoon).await.expect(200);
    api.delete(format!("/v1/events/{}", instance(&id, "2031-04-02T07:00:00Z"))).await.expect(204);
    let once = event(&api, &old, "2031-05-06T09:00:00Z", "2031-05-06T10:00:00Z").await;

    let texts = async |calendar: &str| {
        let read = feed(&server, &address(&api, calendar).await).await.text();
        let exported = api.get(format!("/v1/calendars/{calendar}/export.ics")).await.expect(200).text();
        [read, exported]
    };
    let uids = |text: &str| [&id, &once].map(|id| text.matches(&format!("UID:{id}@kalends")).count());
    for text in texts(&old).await {
        assert_eq!(uids(&text), [2, 1], "{text}");
    }
    let before = expanded(&api, &old, from, to).await;
    let expected = [
        "2031-03-27T08:00:00Z",
        "2031-03-28T08:00:00Z",
        "2031-03-30T07:00:00Z",
        "2031-03-31T12:00:00Z",
        "2031-04-01T07:00:00Z",
        "2031-04-03T07:00:00Z",
    ];
    assert_eq!(before.column("startTime"), expected);
    let busy_before = busy(&api, &old, from, to).await;
    assert_eq!(busy_before.len(), 6);
    let master = api.get(&path).await.expect(200);

    let answer = moved(&api, &id, &new).await;
    assert_ne!(answer.header("etag"), master.header("etag"));
    let after = api.get(&path).await.expect(200);
    assert_eq!((kept(&after.json), &after["calendarId"]), (kept(&master.json), &json!(new)));
    assert_eq!(after["recurrenceTimezone"], "Europe/Berlin");
    let there = expanded(&api, &new, from, to).await;
    let all_kept = |answer: &Answer| answer.data().iter().map(kept).collect::<Vec<_>>();
    assert_eq!(all_kept(&there), all_kept(&before));
    assert!(there.data().iter().all(|entry| entry["calendarId"] == new), "{}", there.describe());
    assert_eq!(expanded(&api, &old, from, to).await["total"], 0);
    assert_eq!((listed(&api, &old).await, listed(&api, &new).await), (vec![once.clone()], vec![id.clone()]));
    assert_eq!(busy(&api, &new, from, to).await, busy_before);
    assert_eq!(busy(&api, &old, from, to).await, Vec::<Value>::new());

    // Each occurrence has the identifier that it had.
    for occurrence in before.column("id") {
        let read = api.get(format!("/v1/events/{occurrence}")).await.expect(200);
        assert_eq!((&read["calendarId"], &read["recurringEventId"]), (&json!(new), &json!(id)));
        api.get(format!("{}/{occurrence}", events(&new))).await.expect(200);
        api.get(format!("{}/{occurrence}", events(&old))).await.refused(404, "not_found");
    }
    for cancelled in ["2031-03-29T08:00:00Z", "2031-04-02T07:00:00Z"] {
        let occurrence = instance(&id, cancelled);
        api.get(format!("/v1/events/{occurrence}")).await.refused(404, "not_found").code("event_not_found");
    }

    // The files have both under their `UID`s, each on its calendar.
    for text in texts(&old).await {
        assert_eq!(uids(&text), [0, 1], "{text}");
    }
    for text in texts(&new).await {
        assert_eq!(uids(&text), [2, 0], "{text}");
        assert!(text.contains("RECURRENCE-ID;TZID=Europe/Berlin:20310331T090000"), "{text}");
    }
    moved(&api, &once, &new).await;
    for (calendar, expected) in [(&old, [0, 0]), (&new, [2, 1])] {
        for text in texts(calendar).await {
            assert_eq!(uids(&text), expected, "{text}");
        }
    }

    // Later changes reach it on its new calendar.
    api.patch(format!("/v1/events/{retro}")).json(json!({ "title": "Review" })).await.expect(200);
    let titles = expanded(&api, &new, from, to).await.column("title");
    assert_eq!(titles, ["Standup", "Standup", "Standup", "Review", "Standup", "Standup"]);
    api.delete(&path).await.expect(204);
    assert_eq!(expanded(&api, &new, from, to).await["total"], 0);
    assert_eq!(busy(&api, &new, from, to).await, Vec::<Value>::new());
}

#[apply(on_both)]
#[tokio::test]
async fn all_day_events_keep_their_dates_in_the_zone_of_the_new_calendar(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (berlin, york) =
        (shared_calendar(&api, "Europe/Berlin").await, shared_calendar(&api, "America/New_York").await);
    let days = async |title: &str, start: &str, end: &str, more: Value| {
        let mut body = event_body(title, start, end);
        body["all_day"] = json!(true);
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        api.post(events(&berlin)).json(body).await.expect(201).id()
    };
    let fair = days("Fair", "2031-05-04", "2031-05-06", json!({})).await;
    // The clocks change in New York on 9 March and on 2 November.
    let autumn = days("Autumn", "2031-11-01", "2031-11-03", json!({})).await;
    // 7 to 12 March without the 10th. The 8th has another title, and the 11th takes place on the 14th.
    let rule = json!({ "recurrence_rule": "FREQ=DAILY;COUNT=6", "recurrence_exdates": ["2031-03-10"] });
    let on_call = days("On call", "2031-03-07", "2031-03-08", rule).await;
    let eighth = instance(&on_call, "2031-03-07T23:00:00Z");
    api.patch(format!("/v1/events/{eighth}")).json(json!({ "title": "Relief" })).await.expect(200);
    let fourteenth = json!({ "title": "Swap", "start_time": "2031-03-14", "end_time": "2031-03-15" });
    let eleventh = instance(&on_call, "2031-03-10T23:00:00Z");
    api.patch(format!("/v1/events/{eleventh}")).json(fourteenth).await.expect(200);
    // Two series of three days. One ends when the third day begins in Berlin, the other with a date.
    let until = json!({ "recurrence_rule": "FREQ=DAILY;UNTIL=20310603T220000Z" });
    let leave = days("Leave", "2031-06-02", "2031-06-03", until).await;
    let until = json!({ "recurrence_rule": "FREQ=DAILY;UNTIL=20310612" });
    let trip = days("Trip", "2031-06-10", "2031-06-11", until).await;
    let everything = [&fair, &autumn, &on_call, &leave, &trip];

    let all_entries = async |calendar: &str| {
        let mut all = Vec::new();
        for (from, to) in [("2031-03-01", "2031-04-01"), ("2031-05-01", "2031-07-01"), ("2031-10-25", "2031-11-10")] {
            all.extend(entries(&api, calendar, from, to).await);
        }
        all
    };
    let in_berlin = [
        "2031-03-06T23:00:00Z 1440 On call",
        "2031-03-07T23:00:00Z 1440 Relief",
        "2031-03-08T23:00:00Z 1440 On call",
        "2031-03-11T23:00:00Z 1440 On call",
        "2031-03-13T23:00:00Z 1440 Swap",
        "2031-05-03T22:00:00Z 2880 Fair",
        "2031-06-01T22:00:00Z 1440 Leave",
        "2031-06-02T22:00:00Z 1440 Leave",
        "2031-06-03T22:00:00Z 1440 Leave",
        "2031-06-09T22:00:00Z 1440 Trip",
        "2031-06-10T22:00:00Z 1440 Trip",
        "2031-06-11T22:00:00Z 1440 Trip",
        "2031-10-31T23:00:00Z 2880 Autumn",
    ];
    assert_eq!(all_entries(&berlin).await, in_berlin);
    let (mut of_berlin, mut of_york) = (Copy::default(), Copy::default());
    let mirrored = follows(&api, &berlin, &mut of_berlin).await;
    assert_eq!((mirrored.len(), follows(&api, &york, &mut of_york).await.len()), (7, 0));

    for id in everything {
        let answer = moved(&api, id, &york).await;
        assert_eq!(answer["allDay"], true);
    }
    // The same dates. 9 March has 23 hours there, and 2 November has 25.
    let in_york = [
        "2031-03-07T05:00:00Z 1440 On call",
        "2031-03-08T05:00:00Z 1440 Relief",
        "2031-03-09T05:00:00Z 1380 On call",
        "2031-03-12T04:00:00Z 1440 On call",
        "2031-03-14T04:00:00Z 1440 Swap",
        "2031-05-04T04:00:00Z 2880 Fair",
        "2031-06-02T04:00:00Z 1440 Leave",
        "2031-06-03T04:00:00Z 1440 Leave",
        "2031-06-04T04:00:00Z 1440 Leave",
        "2031-06-10T04:00:00Z 1440 Trip",
        "2031-06-11T04:00:00Z 1440 Trip",
        "2031-06-12T04:00:00Z 1440 Trip",
        "2031-11-01T04:00:00Z 2940 Autumn",
    ];
    assert_eq!(all_entries(&york).await, in_york);
    assert_eq!(all_entries(&berlin).await, Vec::<String>::new());
    let taken = json!({ "start": "2031-05-04T04:00:00Z", "end": "2031-05-06T04:00:00Z" });
    assert_eq!(busy(&api, &york, "2031-05-01", "2031-05-08").await, [taken]);
    assert_eq!(busy(&api, &berlin, "2031-05-01", "2031-05-08").await, Vec::<Value>::new());
    let exported = api.get(format!("/v1/calendars/{york}/export.ics")).await.expect(200).text();
    for line in ["DTSTART;VALUE=DATE:20310504\r\n", "DTEND;VALUE=DATE:20310506\r\n"] {
        assert!(exported.contains(line), "{exported}");
    }
    // The exceptions belong to the same dates, which begin at other times now.
    let master = api.get(format!("/v1/events/{on_call}")).await.expect(200);
    assert_eq!(master["recurrenceTimezone"], "America/New_York");
    for (start, title) in [("2031-03-08T05:00:00Z", "Relief"), ("2031-03-11T04:00:00Z", "Swap")] {
        let read = api.get(format!("/v1/events/{}", instance(&on_call, start))).await.expect(200);
        assert_eq!((&read["title"], &read["originalStartTime"]), (&json!(title), &json!(start)));
    }
    api.get(format!("/v1/events/{}", instance(&on_call, "2031-03-10T04:00:00Z"))).await.refused(404, "not_found");
    assert_eq!(follows(&api, &berlin, &mut of_berlin).await, BTreeSet::new());
    assert_eq!(follows(&api, &york, &mut of_york).await.len(), 7);

    // Back in Berlin, everything is as it was.
    for id in everything {
        moved(&api, id, &berlin).await;
    }
    assert_eq!(all_entries(&berlin).await, in_berlin);
    assert_eq!(follows(&api, &berlin, &mut of_berlin).await, mirrored);
    assert_eq!(follows(&api, &york, &mut of_york).await, BTreeSet::new());
}

#[apply(on_both)]
#[tokio::test]
async fn mirrors_of_both_calendars_follow_a_move(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, old) = agent_with_calendar(&api).await;
    let new = calendar_of(&api, &owner).await;
    let stays = event(&api, &old, "2031-05-05T09:00:00Z", "2031-05-05T10:00:00Z").await;
    let once = event(&api, &old, "2031-05-06T09:00:00Z", "2031-05-06T10:00:00Z").await;
    let daily = series(&api, &old, "2031-05-05T14:00:00Z", json!({ "recurrence_rule": "FREQ=DAILY;COUNT=5" })).await;
    let changed = instance(&daily, "2031-05-07T14:00:00Z");
    api.patch(format!("/v1/events/{changed}")).json(json!({ "title": "Retro" })).await.expect(200);
    let only_stays = BTreeSet::from([stays.clone()]);
    let three = BTreeSet::from([once.clone(), daily.clone(), changed]);
    let all_four: BTreeSet<String> = three.union(&only_stays).cloned().collect();
    let move_both = async |calendar: &str| {
        for id in [&once, &daily] {
            moved(&api, id, calendar).await;
        }
    };

    let (mut of_old, mut of_new) = (Copy::default(), Copy::default());
    assert_eq!(follows(&api, &old, &mut of_old).await, all_four);
    assert_eq!(follows(&api, &new, &mut of_new).await, BTreeSet::new());
    let since = next(&changes(&api, &old, "limit=200").await);
    let begun = changes(&api, &old, "limit=2").await;
    assert_eq!(begun.column("id"), [stays.as_str(), once.as_str()]);

    move_both(&new).await;
    let gone = changes(&api, &old, &format!("since={since}&limit=200")).await;
    assert!(gone.data().iter().all(|entry| entry["deleted"] == true), "{}", gone.describe());
    assert_eq!(BTreeSet::from_iter(gone.column("id")), three);
    // A mirror that has read only the first page gets the deletion of what it has.
    let rest = changes(&api, &old, &format!("since={}&limit=200", next(&begun))).await;
    assert!(rest.data().contains(&json!({ "id": once, "deleted": true })), "{}", rest.describe());
    // A mirror that starts now sees no deletion.
    let fresh = changes(&api, &old, "limit=200").await;
    assert_eq!(fresh.column("id"), [stays.as_str()]);
    assert_eq!(changes(&api, &old, &format!("since={}", next(&fresh))).await["data"], json!([]));
    assert_eq!(follows(&api, &old, &mut of_old).await, only_stays);
    assert_eq!(follows(&api, &new, &mut of_new).await, three);

    // A change there is none of the old calendar.
    let quiet = next(&changes(&api, &old, "limit=200").await);
    api.patch(format!("/v1/events/{once}")).json(json!({ "title": "Review" })).await.expect(200);
    assert_eq!(changes(&api, &old, &format!("since={quiet}")).await["data"], json!([]));
    assert_eq!(follows(&api, &new, &mut of_new).await, three);
    assert_eq!(of_new.events[&once]["title"], "Review");

    // Back; there and back between two requests of the mirrors; and there, back and there.
    move_both(&old).await;
    assert_eq!(follows(&api, &old, &mut of_old).await, all_four);
    assert_eq!(follows(&api, &new, &mut of_new).await, BTreeSet::new());
    for calendar in [&new, &old] {
        move_both(calendar).await;
    }
    assert_eq!(follows(&api, &old, &mut of_old).await, all_four);
    assert_eq!(follows(&api, &new, &mut of_new).await, BTreeSet::new());
    for calendar in [&new, &old, &new] {
        move_both(calendar).await;
    }
    assert_eq!(follows(&api, &old, &mut of_old).await, only_stays);
    assert_eq!(follows(&api, &new, &mut of_new).await, three);

    // Deleted where they are now.
    for id in [&once, &daily] {
        api.delete(format!("/v1/events/{id}")).await.expect(204);
    }
    assert_eq!(follows(&api, &old, &mut of_old).await, only_stays);
    assert_eq!(follows(&api, &new, &mut of_new).await, BTreeSet::new());
}

#[apply(on_both)]
#[tokio::test]
async fn a_move_sends_one_message(#[case] database: Database) {
    let (server, api, receiver) = with_receiver(database, "pro").await;
    let (owner, old) = agent_with_calendar(&api).await;
    let new = calendar_of(&api, &owner).await;
    let once = event(&api, &old, "2031-05-06T09:00:00Z", "2031-05-06T10:00:00Z").await;
    let daily = series(&api, &old, "2031-05-05T14:00:00Z", json!({ "recurrence_rule": "FREQ=DAILY;COUNT=5" })).await;
    let changed = instance(&daily, "2031-05-07T14:00:00Z");
    api.patch(format!("/v1/events/{changed}")).json(json!({ "title": "Retro" })).await.expect(200);
    hook(&api, &receiver, "/", &["*"]).await;
    let stored = rows(&server, "outbox").await;

    moved(&api, &once, &new).await;
    assert_eq!(rows(&server, "outbox").await, stored + 1);
    // It is there already, and this is no change.
    moved(&api, &once, &new).await;
    assert_eq!(rows(&server, "outbox").await, stored + 1);
    moved(&api, &daily, &new).await;
    assert_eq!(rows(&server, "outbox").await, stored + 2);
    for id in [&once, &daily] {
        let message = receiver.wait_for_one("/", id, |received| received.json()["id"] == **id).await;
        assert_eq!(message.event_type(), "event.updated");
        assert_eq!(message.json()["calendarId"], new);
        assert_eq!(message.json(), api.get(format!("/v1/events/{id}")).await.expect(200).json);
    }
    assert_eq!(receiver.received("/").len(), 2);
}

#[apply(on_both)]
#[tokio::test]
async fn a_move_onto_a_taken_time_is_refused(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, desk) = agent_with_calendar(&api).await;
    let (plain, room) = (calendar_of(&api, &owner).await, room(&api, &owner).await);
    let (start, end) = ("2031-05-06T09:30:00Z", "2031-05-06T10:30:00Z");
    let id = event(&api, &desk, start, end).await;
    let in_room = event(&api, &room, "2031-05-06T09:00:00Z", "2031-05-06T10:00:00Z").await;
    let in_plain = event(&api, &plain, "2031-05-06T09:00:00Z", "2031-05-06T10:00:00Z").await;
    let before = api.get(format!("/v1/events/{id}")).await.expect(200);
    let if_free = |id: &str| asking(&api, id, json!({ "calendar_id": plain, "if_free": true }));

    // A calendar that refuses conflicts, also without `if_free`; and any calendar with it.
    let refusals = [
        (moving(&api, &id, &room).await, &room),
        (asking(&api, &id, json!({ "calendar_id": room, "if_free": false })).await, &room),
        (if_free(&id).await, &plain),
    ];
    for (refused, calendar) in refusals {
        let refused = refused.refused(409, "conflict").code("slot_taken");
        assert_eq!(refused.at("/error/conflicts/0/calendar_id"), json!(calendar));
        assert!(refused.at("/error/nearest_free/0/start").is_string(), "{}", refused.describe());
        unchanged(&api, &before).await;
    }
    assert_eq!(listed(&api, &desk).await, [id.as_str()]);
    assert_eq!(listed(&api, &room).await, [in_room.as_str()]);
    assert_eq!(listed(&api, &plain).await, [in_plain.as_str()]);

    // Without `if_free`, a plain calendar takes it. So does a calendar that is free at the nearest time.
    asking(&api, &id, json!({ "calendar_id": plain, "if_free": false })).await.expect(200);
    assert_eq!(moved(&api, &id, &desk).await["startTime"], start);
    moved(&api, &id, &plain).await;
    let nearest = moving(&api, &id, &room).await.refused(409, "conflict").at("/error/nearest_free/0");
    let time = json!({ "start_time": nearest["start"], "end_time": nearest["end"] });
    api.patch(format!("/v1/events/{id}")).json(time).await.expect(200);
    moved(&api, &id, &room).await;
    // A calendar that refuses conflicts lets it go.
    moved(&api, &id, &desk).await;
    api.patch(format!("/v1/events/{id}")).json(json!({ "start_time": start, "end_time": end })).await.expect(200);
    api.delete(format!("/v1/events/{in_plain}")).await.expect(204);
    assert_eq!(if_free(&id).await.expect(200)["calendarId"], plain);

    // A daily series from 1 to 6 June. The 4th is cancelled, and the 5th takes place in the afternoon.
    let rule = json!({ "recurrence_rule": "FREQ=DAILY;COUNT=6", "recurrence_exdates": ["2031-06-04T09:00:00Z"] });
    let daily = series(&api, &desk, "2031-06-01T09:00:00Z", rule).await;
    let afternoon = json!({ "start_time": "2031-06-05T15:00:00Z", "end_time": "2031-06-05T15:30:00Z" });
    let fifth = instance(&daily, "2031-06-05T09:00:00Z");
    api.patch(format!("/v1/events/{fifth}")).json(afternoon).await.expect(200);
    let before = api.get(format!("/v1/events/{daily}")).await.expect(200);
    let taking_place = expanded(&api, &desk, "2031-06-01", "2031-07-01").await.json;
    // At these times, nothing of it takes place.
    event(&api, &room, "2031-06-04T09:00:00Z", "2031-06-04T09:30:00Z").await;
    event(&api, &room, "2031-06-05T09:00:00Z", "2031-06-05T09:30:00Z").await;
    for (start, occurrence) in
        [("2031-06-03T09:15:00Z", "2031-06-03T09:00:00Z"), ("2031-06-05T15:15:00Z", "2031-06-05T15:00:00Z")]
    {
        let blocks = event(&api, &room, start, &shifted(start, 30)).await;
        let refused = moving(&api, &daily, &room).await.refused(409, "conflict").code("slot_taken");
        assert_eq!(refused.at("/error/occurrences"), json!([occurrence]));
        assert!(refused.at("/error/nearest_free").is_array(), "{}", refused.describe());
        unchanged(&api, &before).await;
        assert_eq!(expanded(&api, &desk, "2031-06-01", "2031-07-01").await.json, taking_place);
        api.delete(format!("/v1/events/{blocks}")).await.expect(204);
    }
    // The room is free for it. From then on, it takes its times there.
    moved(&api, &daily, &room).await;
    let first = event_body("x", "2031-06-01T09:15:00Z", "2031-06-01T09:45:00Z");
    api.post(events(&room)).json(first.clone()).await.refused(409, "conflict").code("slot_taken");
    moved(&api, &daily, &plain).await;
    api.post(events(&room)).json(first).await.expect(201);
}

#[apply(on_both)]
#[tokio::test]
async fn a_wrong_move_is_refused_and_moves_nothing(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (owner, old) = agent_with_calendar(&api).await;
    let (new, gone) = (calendar_of(&api, &owner).await, calendar_of(&api, &owner).await);
    api.delete(format!("/v1/calendars/{gone}")).await.expect(204);
    let stranger = server.api(&server.org("pro").await);
    let (_, foreign) = agent_with_calendar(&stranger).await;
    let theirs = event(&stranger, &foreign, "2031-05-06T09:00:00Z", "2031-05-06T10:00:00Z").await;
    let theirs_before = stranger.get(format!("/v1/events/{theirs}")).await.expect(200);
    let deleted = event(&api, &old, "2031-05-06T09:00:00Z", "2031-05-06T10:00:00Z").await;
    api.delete(format!("/v1/events/{deleted}")).await.expect(204);
    let id = event(&api, &old, "2031-05-06T09:00:00Z", "2031-05-06T10:00:00Z").await;
    let before = api.get(format!("/v1/events/{id}")).await.expect(200);
    let nobody = "0".repeat(26);

    for event in [&theirs, &deleted, &format!("evt_{nobody}"), "evt_x"] {
        moving(&api, event, &new).await.refused(404, "not_found").code("event_not_found");
    }
    for calendar in [&foreign, &gone, &format!("cal_{nobody}"), "cal_x"] {
        moving(&api, &id, calendar).await.refused(404, "not_found").code("calendar_not_found");
    }
    server.anonymous().post(format!("/v1/events/{id}/move")).json(json!({ "calendar_id": new })).await.expect(401);
    for (body, param) in [
        (json!({}), "calendar_id"),
        (json!({ "if_free": true }), "calendar_id"),
        (json!({ "calendar_id": null }), "calendar_id"),
        (json!({ "calendar_id": 7 }), "calendar_id"),
        (json!({ "calendar_id": new, "if_free": "yes" }), "if_free"),
    ] {
        asking(&api, &id, body).await.refused(400, "validation_error").param(param);
    }
    for unknown in ["title", "scope", "calendarId"] {
        let answer = asking(&api, &id, json!({ "calendar_id": new, unknown: "x" })).await;
        answer.refused(400, "validation_error").param(unknown).code("unknown_field");
    }
    unchanged(&api, &before).await;
    unchanged(&stranger, &theirs_before).await;
    assert_eq!(listed(&stranger, &foreign).await, [theirs.as_str()]);

    // One occurrence does not move alone, whether or not it was changed.
    let daily = series(&api, &old, "2031-06-01T09:00:00Z", json!({ "recurrence_rule": "FREQ=DAILY;COUNT=4" })).await;
    let changed = instance(&daily, "2031-06-02T09:00:00Z");
    api.patch(format!("/v1/events/{changed}")).json(json!({ "title": "Retro" })).await.expect(200);
    let before = api.get(format!("/v1/events/{daily}")).await.expect(200);
    let taking_place = expanded(&api, &old, "2031-06-01", "2031-07-01").await.json;
    for occurrence in [&changed, &instance(&daily, "2031-06-03T09:00:00Z")] {
        moving(&api, occurrence, &new).await.refused(400, "validation_error");
    }
    unchanged(&api, &before).await;
    assert_eq!(expanded(&api, &old, "2031-06-01", "2031-07-01").await.json, taking_place);
    assert_eq!(listed(&api, &new).await, Vec::<String>::new());
}

#[apply(on_both)]
#[tokio::test]
async fn imported_events_stay_on_their_calendar(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    let weekly = ["SUMMARY:Weekly", "DTSTART:20310317T090000Z", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=3"];
    let feed = vcalendar(&[meeting("a@example.com", "Board", 3, 9), vevent("weekly@example.com", &weekly)]);
    it.subscribed("/a.ics", Serving::calendar(feed)).await;
    let other = calendar_of(&it.api, &it.agent).await;
    let imported = it.events().await;
    assert_eq!(imported.len(), 2);
    for event in &imported {
        let refused = moving(&it.api, event["id"].as_str().unwrap(), &other).await;
        refused.refused(403, "forbidden").code("external_event_readonly");
    }
    assert_eq!(it.events().await, imported);
    assert_eq!(listed(&it.api, &other).await, Vec::<String>::new());
}

#[apply(on_both)]
#[tokio::test]
async fn the_key_of_an_agent_moves_only_between_its_calendars(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (own, first) = agent_with_calendar(&api).await;
    let second = calendar_of(&api, &own).await;
    let (_, others) = agent_with_calendar(&api).await;
    let shared = shared_calendar(&api, "UTC").await;
    let stranger = server.api(&server.org("pro").await);
    let (_, foreign) = agent_with_calendar(&stranger).await;
    let made = api.post("/v1/keys").json(json!({ "agent_id": own })).await.expect(201);
    let scoped = server.client(made["key"].as_str().unwrap());
    let (start, end) = ("2031-05-06T09:00:00Z", "2031-05-06T10:00:00Z");
    let id = event(&api, &first, start, end).await;
    let before = api.get(format!("/v1/events/{id}")).await.expect(200);

    // A move is refused as a read of what is out of reach.
    let refusal = |answer: &Answer| (answer.status, answer.at("/error/type"), answer.at("/error/code"));
    for calendar in [&others, &shared, &foreign] {
        let read = refusal(&scoped.get(format!("/v1/calendars/{calendar}")).await);
        assert!(matches!(read.0, 403 | 404), "{read:?}");
        assert_eq!(refusal(&moving(&scoped, &id, calendar).await), read);
        unchanged(&api, &before).await;
    }
    for (client, calendar) in [(&api, &others), (&api, &shared), (&stranger, &foreign)] {
        let theirs = event(client, calendar, start, end).await;
        let before = client.get(format!("/v1/events/{theirs}")).await.expect(200);
        let read = refusal(&scoped.get(format!("/v1/events/{theirs}")).await);
        assert!(matches!(read.0, 403 | 404), "{read:?}");
        assert_eq!(refusal(&moving(&scoped, &theirs, &first).await), read);
        let at_home = moving(&scoped, &theirs, calendar).await;
        assert!(matches!(at_home.status, 403 | 404), "{}", at_home.describe());
        unchanged(client, &before).await;
        assert_eq!(listed(client, calendar).await, [theirs.as_str()]);
    }
    assert_eq!(listed(&api, &first).await, [id.as_str()]);

    moved(&scoped, &id, &second).await;
    assert_eq!((listed(&scoped, &first).await, listed(&scoped, &second).await), (Vec::new(), vec![id]));
}

#[apply(on_both)]
#[tokio::test]
async fn a_moved_event_has_the_default_reminders_of_its_new_calendar(#[case] database: Database) {
    let (mut server, api, receiver) = with_receiver(database, "pro").await;
    hook(&api, &receiver, "/", &["event.reminder"]).await;
    let calendar = async |reminders: Value| {
        let id = shared_calendar(&api, "UTC").await;
        let defaults = json!({ "default_reminders": reminders });
        api.patch(format!("/v1/calendars/{id}")).json(defaults).await.expect(200);
        id
    };
    let (early, late, never) = (calendar(json!([60])).await, calendar(json!([30])).await, calendar(json!([])).await);
    let start = shifted(&now(&api).await, 180);
    let end = shifted(&start, 30);
    let stays = event(&api, &early, &start, &end).await;
    let later = event(&api, &early, &start, &end).await;
    let silent = event(&api, &early, &start, &end).await;
    moved(&api, &later, &late).await;
    moved(&api, &silent, &never).await;

    let reminders = "outbox where event_type = 'event.reminder'";
    for (minutes, id, calendar, count) in [(180 - 45, &stays, &early, 1), (180 - 25, &later, &late, 2)] {
        server.restart_at_offset(minutes * 60).await;
        let message = receiver.wait_for_one("/", id, |received| received.json()["id"] == **id).await;
        assert_eq!((message.event_type(), &message.json()["calendarId"]), ("event.reminder", &json!(calendar)));
        assert_eq!(rows(&server, reminders).await, count, "after {minutes} minutes");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn one_of_fifty_moves_gets_the_time(#[case] database: Database) {
    const MOVES: usize = 50;
    let (server, api) = unlimited(database).await;
    let (owner, desk) = agent_with_calendar(&api).await;
    let room = room(&api, &owner).await;
    let bodies: Vec<Value> = (0..MOVES)
        .map(|number| event_body(&format!("No {number}"), "2031-05-06T09:00:00Z", "2031-05-06T10:00:00Z"))
        .collect();
    let batch = api.post(format!("{}/batch", events(&desk))).json(json!({ "events": bodies })).await.expect(201);
    let mut nodes = vec![api.clone()];
    let other;
    if database == Database::Postgres {
        other = server.another_node().await;
        nodes.push(api.moved_to(other.base_url()));
    }
    let ids = batch.column("id");
    let calls = ids.iter().enumerate().map(|(number, id)| moving(&nodes[number % nodes.len()], id, &room));
    let answers = all(calls.collect()).await;
    let won: Vec<&Answer> = answers.iter().filter(|answer| answer.status == 200).collect();
    let refused = answers.iter().filter(|answer| answer.status == 409).count();
    assert_eq!((won.len(), refused), (1, MOVES - 1), "{:?}", outcomes(&answers));
    let winner = won[0].id();
    assert_eq!(listed(&api, &room).await, [winner.as_str()]);
    let left = BTreeSet::from_iter(listed(&api, &desk).await);
    assert_eq!(left, ids.into_iter().filter(|id| *id != winner).collect());
}

#[apply(on_both)]
#[tokio::test]
async fn two_moves_at_once_leave_an_event_on_one_calendar(#[case] database: Database) {
    let (_server, api) = unlimited(database).await;
    let (owner, first) = agent_with_calendar(&api).await;
    let calendars = [first, calendar_of(&api, &owner).await, calendar_of(&api, &owner).await];
    let once = event(&api, &calendars[0], "2031-05-06T09:00:00Z", "2031-05-06T10:00:00Z").await;
    let rule = json!({ "recurrence_rule": "FREQ=DAILY;COUNT=5" });
    let daily = series(&api, &calendars[0], "2031-05-05T14:00:00Z", rule).await;
    let changed = instance(&daily, "2031-05-07T14:00:00Z");
    api.patch(format!("/v1/events/{changed}")).json(json!({ "title": "Retro" })).await.expect(200);
    let mut mirrors = [Copy::default(), Copy::default(), Copy::default()];
    let home = async |id: &str| api.get(format!("/v1/events/{id}")).await.expect(200)["calendarId"].clone();
    for round in 0..6 {
        let targets = [&calendars[(round + 1) % 3], &calendars[(round + 2) % 3]];
        for id in [&once, &daily] {
            let answers = all(targets.iter().map(|target| moving(&api, id, target)).collect()).await;
            let statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
            assert!(
                statuses.contains(&200) && statuses.iter().all(|status| [200, 409].contains(status)),
                "{statuses:?}"
            );
            let mut holding = Vec::new();
            for calendar in &calendars {
                if listed(&api, calendar).await.contains(id) {
                    holding.push(json!(calendar));
                }
            }
            assert_eq!(holding, [home(id).await]);
            assert!(targets.iter().any(|target| holding[0] == **target), "{holding:?}");
        }
        assert_eq!(home(&changed).await, home(&daily).await);
        let mut mirrored = Vec::new();
        for (calendar, mirror) in calendars.iter().zip(&mut mirrors) {
            mirrored.extend(follows(&api, calendar, mirror).await);
        }
        mirrored.sort();
        assert_eq!(mirrored.len(), 3, "each on one calendar: {mirrored:?}");
    }
}
