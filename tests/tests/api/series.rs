//! Series: rules, instances, EXDATEs and overrides on every route that shows them, and plan limits.

use crate::on_both;
use kalends_e2e::{Answer, Client, Database, Server, shifted};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::fixtures::{
    agent_with_calendar, calendar_of, event, event_body, has_exactly, now, shared_calendar, wait_until,
};

const MONDAY: &str = "2026-05-04T09:00:00Z";

fn body(start: &str, minutes: i64, more: Value) -> Value {
    let mut body = event_body("Standup", start, &shifted(start, minutes));
    let Value::Object(more) = more else { panic!("not an object: {more}") };
    body.as_object_mut().unwrap().extend(more);
    body
}

/// A new series of half-hour events from [`MONDAY`] on.
async fn series(api: &Client, calendar: &str, more: Value) -> Answer {
    api.post(format!("/v1/calendars/{calendar}/events")).json(body(MONDAY, 30, more)).await.expect(201)
}

/// The calendar's instances between two times.
async fn expanded(api: &Client, calendar: &str, from: &str, to: &str) -> Answer {
    let window = [("expand", "true"), ("start_after", from), ("start_before", to)];
    api.get(format!("/v1/calendars/{calendar}/events")).query(&window).await.expect(200)
}

/// The starts in the first fortnight of the series.
async fn starts(api: &Client, calendar: &str) -> Vec<String> {
    expanded(api, calendar, "2026-05-04T00:00:00Z", "2026-05-18T00:00:00Z").await.column("startTime")
}

#[apply(on_both)]
#[tokio::test]
async fn a_series_is_listed_as_itself_or_as_instances(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let rule = json!({
        "recurrence_rule": "freq=weekly;count=5;byday=we,mo", "recurrence_exdates": ["2026-05-11T11:00:00+02:00"],
        "reminders": [15], "metadata": { "n": 1 }
    });
    let made = series(&api, &calendar, rule).await;
    assert_eq!(made["recurrenceRule"], "FREQ=WEEKLY;BYDAY=MO,WE;COUNT=5");
    assert_eq!(made["recurrenceExdates"], json!(["2026-05-11T09:00:00Z"]));
    assert_eq!(made["recurrenceTimezone"], "UTC");
    assert_eq!((&made["recurringEventId"], &made["originalStartTime"]), (&json!(null), &json!(null)));
    let once = event(&api, &calendar, "2026-05-06T08:30:00Z", "2026-05-06T09:30:00Z").await;
    event(&api, &calendar, "2026-06-06T08:30:00Z", "2026-06-06T09:30:00Z").await;

    // Without `expand`, a series is one event with its own start.
    let events = format!("/v1/calendars/{calendar}/events");
    let list = api.get(&events).await.expect(200);
    assert_eq!((list["total"].clone(), list.column("id")[..2].to_vec()), (json!(3), vec![made.id(), once.clone()]));
    let after = [("start_after", "2026-05-05T00:00:00Z")];
    assert_eq!(api.get(&events).query(&after).await.expect(200)["total"], 2);

    let (from, to) = ("2026-05-04T09:15:00Z", "2026-05-18T09:00:00Z");
    let listed = expanded(&api, &calendar, from, to).await;
    let id = |start: &str| format!("{}_{start}", made.id());
    let expected = [id("20260504T090000Z"), once, id("20260506T090000Z"), id("20260513T090000Z")];
    assert_eq!((listed.column("id"), &listed["total"]), (expected.to_vec(), &json!(4)));
    let of_agent = format!("/v1/agents/{agent}/events?expand=true&start_after={from}&start_before={to}");
    assert_eq!(api.get(&of_agent).await.expect(200).json, listed.json);
    let page = api.get(format!("{of_agent}&limit=2&offset=1")).await.expect(200);
    assert_eq!((page.column("id"), &page["total"]), (expected[1..3].to_vec(), &json!(4)));

    // An instance has the fields of its series, except for its identity and its times.
    let instance = api.get(format!("/v1/events/{}", expected[2])).await.expect(200);
    assert_eq!(instance.json, listed.data()[2]);
    assert_eq!(api.get(format!("{events}/{}", expected[2])).await.expect(200).json, instance.json);
    assert_eq!(instance["recurringEventId"], json!(made.id()));
    for (field, value) in [
        ("startTime", json!("2026-05-06T09:00:00Z")),
        ("endTime", json!("2026-05-06T09:30:00Z")),
        ("originalStartTime", json!("2026-05-06T09:00:00Z")),
        ("recurrenceRule", json!(null)),
        ("recurrenceExdates", json!([])),
        ("recurrenceTimezone", json!(null)),
        ("title", json!("Standup")),
        ("reminders", json!([15])),
        ("metadata", json!({ "n": 1 })),
    ] {
        assert_eq!(instance[field], value, "{field}");
    }
    let plain = api.get(format!("/v1/events/{}", made.id())).await.expect(200);
    let mut fields: Vec<&str> = plain.json.as_object().unwrap().keys().map(String::as_str).collect();
    fields.extend(["recurringEventId", "originalStartTime"]);
    has_exactly(&instance.json, &fields);

    // Cancelled occurrences, times without an occurrence, and malformed names are not found.
    for start in ["20260511T090000Z", "20260505T090000Z", "20260520T090000Z", "20260506t090000z", "2026", ""] {
        api.get(format!("/v1/events/{}", id(start))).await.refused(404, "not_found").code("event_not_found");
    }
    let other = shared_calendar(&api, "UTC").await;
    api.get(format!("/v1/calendars/{other}/events/{}", expected[2])).await.refused(404, "not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn a_zone_keeps_the_wall_clock_when_offsets_change(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "Europe/Berlin").await;
    let events = format!("/v1/calendars/{calendar}/events");
    let zoned = json!({ "recurrence_rule": "FREQ=WEEKLY;BYDAY=SU", "recurrence_timezone": "Europe/Berlin" });
    let made = api.post(&events).json(body("2026-03-22T08:00:00Z", 60, zoned)).await.expect(201);
    assert_eq!(made["recurrenceTimezone"], "Europe/Berlin");
    let spring = expanded(&api, &calendar, "2026-03-22T00:00:00Z", "2026-04-06T00:00:00Z").await;
    let nine = ["2026-03-22T08:00:00Z", "2026-03-29T07:00:00Z", "2026-04-05T07:00:00Z"];
    assert_eq!(spring.column("startTime"), nine);
    let autumn = expanded(&api, &calendar, "2026-10-18T00:00:00Z", "2026-10-26T00:00:00Z").await;
    assert_eq!(autumn.column("startTime"), ["2026-10-18T07:00:00Z", "2026-10-25T08:00:00Z"]);

    // Availability follows the zone.
    let range = "start=2026-03-29T06:00:00Z&end=2026-03-29T10:00:00Z&slot_duration=1h&include_busy=true";
    let free = api.get(format!("/v1/calendars/{calendar}/availability?{range}")).await.expect(200);
    assert_eq!(free["busy"], json!([{ "start": "2026-03-29T07:00:00Z", "end": "2026-03-29T08:00:00Z" }]));

    // With `null` a PATCH returns to UTC. There the wall clock changes.
    let utc = api.patch(format!("/v1/events/{}", made.id())).json(json!({ "recurrence_timezone": null }));
    assert_eq!(utc.await.expect(200)["recurrenceTimezone"], "UTC");
    let spring = expanded(&api, &calendar, "2026-03-29T00:00:00Z", "2026-03-30T00:00:00Z").await;
    assert_eq!(spring.column("startTime"), ["2026-03-29T08:00:00Z"]);
    api.delete(format!("/v1/events/{}", made.id())).await.expect(204);

    // All-day series use the days of the calendar's zone, which may have 23 or 25 hours.
    let days = json!({
        "title": "On call", "start_time": "2026-10-24", "end_time": "2026-10-25", "all_day": true,
        "recurrence_rule": "FREQ=DAILY;COUNT=4", "recurrence_exdates": ["2026-10-26"]
    });
    let made = api.post(&events).json(days).await.expect(201);
    assert_eq!(made["recurrenceTimezone"], "Europe/Berlin");
    let listed = expanded(&api, &calendar, "2026-10-20T00:00:00Z", "2026-10-30T00:00:00Z").await;
    let starts = ["2026-10-23T22:00:00Z", "2026-10-24T22:00:00Z", "2026-10-26T23:00:00Z"];
    assert_eq!(listed.column("startTime"), starts);
    assert_eq!(listed.column("endTime")[1], "2026-10-25T23:00:00Z");
}

#[apply(on_both)]
#[tokio::test]
async fn instances_can_be_changed_separately(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "UTC").await;
    let made = json!({ "recurrence_rule": "FREQ=DAILY;COUNT=5", "location": "Room 2" });
    let made = series(&api, &calendar, made).await;
    let id = format!("{}_20260505T090000Z", made.id());
    let path = format!("/v1/calendars/{calendar}/events/{id}");

    let moved = json!({
        "title": "Retro", "start_time": "2026-05-20T10:00:00Z", "end_time": "2026-05-20T11:00:00Z",
        "conference_url": "https://meet.example.com/retro",
    });
    let changed = api.patch(&path).json(moved).await.expect(200);
    assert_eq!(changed["location"], "Room 2", "what is not changed is that of the series");
    assert_eq!(changed["conferenceUrl"], "https://meet.example.com/retro");
    assert_eq!((&changed["id"], &changed["recurringEventId"]), (&json!(id), &json!(made.id())));
    assert_eq!((&changed["title"], &changed["startTime"]), (&json!("Retro"), &json!("2026-05-20T10:00:00Z")));
    assert_eq!(changed["originalStartTime"], "2026-05-05T09:00:00Z");
    assert_eq!(changed["external_sync"], json!({ "status": "not_configured" }));
    // It is at its new time under the same identifier, and not at the old time.
    let read = api.get(format!("/v1/events/{id}")).await.expect(200);
    assert_eq!((&read["title"], read.header("etag")), (&json!("Retro"), changed.header("etag")));
    let kept = ["2026-05-04T09:00:00Z", "2026-05-06T09:00:00Z", "2026-05-07T09:00:00Z", "2026-05-08T09:00:00Z"];
    assert_eq!(starts(&api, &calendar).await, kept);
    let there = expanded(&api, &calendar, "2026-05-20T10:30:00Z", "2026-05-20T10:31:00Z").await;
    assert_eq!(there.data(), [read.json]);
    // A list without `expand` shows only the series, which is unchanged.
    assert_eq!(api.get(format!("/v1/calendars/{calendar}/events")).await.expect(200).column("id"), [made.id()]);
    let master = api.get(format!("/v1/events/{}", made.id())).await.expect(200);
    assert_eq!((&master["title"], &master["recurrenceExdates"]), (&json!("Standup"), &json!([])));
    assert_eq!(master.json.get("conferenceUrl"), None);

    // A change of the series does not affect the changed instance.
    api.patch(format!("/v1/events/{}", made.id())).json(json!({ "title": "Daily" })).await.expect(200);
    let listed = expanded(&api, &calendar, "2026-05-04T00:00:00Z", "2026-05-30T00:00:00Z").await;
    assert_eq!(listed.column("title"), ["Daily", "Daily", "Daily", "Daily", "Retro"]);

    // Changed again and cancelled by its status, with `If-Match`.
    let stale = api.patch(&path).header("if-match", "\"1\"").json(json!({ "status": "cancelled" }));
    stale.await.refused(412, "conflict").code("stale");
    let etag = api.get(&path).await.expect(200).header("etag").to_owned();
    let off = api.patch(&path).header("if-match", &etag).json(json!({ "status": "cancelled" })).await.expect(200);
    assert_eq!((&off["status"], &off["title"]), (&json!("cancelled"), &json!("Retro")));
    let cancelled = "expand=true&start_after=2026-05-01T00:00:00Z&start_before=2026-06-01T00:00:00Z&status=cancelled";
    let list = api.get(format!("/v1/calendars/{calendar}/events?{cancelled}")).await.expect(200);
    assert_eq!(list.column("id"), std::slice::from_ref(&id));

    for (change, param) in [
        (json!({ "recurrence_rule": "FREQ=DAILY" }), "recurrence_rule"),
        (json!({ "recurrence_rule": null }), "recurrence_rule"),
        (json!({ "recurrence_exdates": [] }), "recurrence_exdates"),
        (json!({ "recurrence_timezone": "UTC" }), "recurrence_timezone"),
        (json!({ "end_time": "2026-05-01T00:00:00Z" }), "end_time"),
        (json!({}), "body"),
    ] {
        api.patch(&path).json(change).await.refused(400, "validation_error").param(param);
    }

    // Deleted: it becomes an EXDATE and cannot be found.
    api.delete(&path).await.expect(204);
    api.get(&path).await.refused(404, "not_found").code("event_not_found");
    api.patch(&path).json(json!({ "title": "x" })).await.refused(404, "not_found");
    api.delete(&path).await.refused(404, "not_found");
    let master = api.get(format!("/v1/events/{}", made.id())).await.expect(200);
    assert_eq!(master["recurrenceExdates"], json!(["2026-05-05T09:00:00Z"]));
    assert_eq!(expanded(&api, &calendar, "2026-05-04T00:00:00Z", "2026-05-30T00:00:00Z").await["total"], 4);
    // Without the EXDATE, the occurrence follows the series again.
    let clear = json!({ "recurrence_exdates": null });
    api.patch(format!("/v1/events/{}", made.id())).json(clear).await.expect(200);
    assert_eq!(api.get(&path).await.expect(200)["title"], "Daily");
}

#[apply(on_both)]
#[tokio::test]
async fn occurrences_are_cancelled_by_their_start(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "UTC").await;
    let made = series(&api, &calendar, json!({ "recurrence_rule": "FREQ=DAILY;COUNT=4" })).await;
    let path = format!("/v1/events/{}", made.id());
    let at = |start: &str| format!("{path}?occurrence_start={start}");

    let changed_series = api.delete(at("2026-05-05T11:00:00%2B02:00")).await.expect(200);
    assert_eq!(
        (&changed_series["id"], &changed_series["recurrenceExdates"]),
        (&json!(made.id()), &json!(["2026-05-05T09:00:00Z"]))
    );
    assert_ne!(changed_series.header("etag"), made.header("etag"));
    for gone in ["2026-05-05T09:00:00Z", "2026-05-05T09:00:01Z", "2026-05-08T09:00:00Z"] {
        api.delete(at(gone)).await.refused(404, "not_found").code("event_not_found");
    }
    let bad = api.delete(at("tomorrow")).await.refused(400, "validation_error").param("occurrence_start");
    bad.code("invalid_time_format");
    api.delete(format!("{path}?occurence_start=x")).await.refused(400, "validation_error").code("unknown_field");
    let once = event(&api, &calendar, MONDAY, "2026-05-04T10:00:00Z").await;
    let of_once = api.delete(format!("/v1/events/{once}?occurrence_start={MONDAY}")).await;
    of_once.refused(400, "validation_error").param("occurrence_start");
    let both = format!("/v1/events/{}_20260506T090000Z?occurrence_start=2026-05-06T09:00:00Z", made.id());
    api.delete(both).await.refused(400, "validation_error").param("occurrence_start");

    // A changed instance is cancelled by its original start.
    let moved = json!({ "start_time": "2026-05-06T20:00:00Z", "end_time": "2026-05-06T21:00:00Z" });
    api.patch(format!("{path}_20260506T090000Z")).json(moved).await.expect(200);
    api.delete(at("2026-05-06T20:00:00Z")).await.refused(404, "not_found");
    let stale = api.delete(at("2026-05-06T09:00:00Z")).header("if-match", made.header("etag"));
    stale.await.refused(412, "conflict").code("stale");
    let of_calendar = format!("/v1/calendars/{calendar}/events/{}", made.id());
    api.delete(format!("{of_calendar}?occurrence_start=2026-05-06T09:00:00Z")).await.expect(200);
    assert_eq!(starts(&api, &calendar).await, [MONDAY, MONDAY, "2026-05-07T09:00:00Z"]);

    // A replay returns the first answer.
    let again = || api.delete(at(MONDAY)).header("idempotency-key", "monday");
    let first = again().await.expect(200);
    let second = again().await.expect(200);
    assert_eq!((second.header("idempotency-replayed"), &second.json), ("true", &first.json));

    // Deleting the series deletes all of it.
    api.patch(format!("{path}_20260507T090000Z")).json(json!({ "title": "Last" })).await.expect(200);
    api.delete(&path).await.expect(204);
    api.get(format!("{path}_20260507T090000Z")).await.refused(404, "not_found");
    assert_eq!(starts(&api, &calendar).await, [MONDAY]);
}

#[apply(on_both)]
#[tokio::test]
async fn a_new_rule_keeps_exceptions_that_still_exist(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "UTC").await;
    let exdates = json!(["2026-05-06T09:00:00Z", "2026-05-07T09:00:00Z", "2026-05-06T10:00:00Z"]);
    let rule = json!({ "recurrence_rule": "FREQ=DAILY;COUNT=9", "recurrence_exdates": exdates });
    let made = series(&api, &calendar, rule).await;
    // An EXDATE that is not an occurrence is kept and has no effect.
    assert_eq!(made["recurrenceExdates"].as_array().unwrap().len(), 3);
    let path = format!("/v1/events/{}", made.id());
    for day in ["05", "08"] {
        let change = json!({ "title": format!("Changed {day}") });
        api.patch(format!("{path}_202605{day}T090000Z")).json(change).await.expect(200);
    }
    let change = json!({ "recurrence_rule": "FREQ=DAILY;INTERVAL=2;COUNT=4" });
    let changed = api.patch(&path).json(change).await.expect(200);
    assert_eq!(changed["recurrenceExdates"], json!(["2026-05-06T09:00:00Z"]));
    let listed = expanded(&api, &calendar, "2026-05-04T00:00:00Z", "2026-05-18T00:00:00Z").await;
    assert_eq!(listed.column("title"), ["Standup", "Changed 08", "Standup"]);
    api.get(format!("{path}_20260505T090000Z")).await.refused(404, "not_found");

    // A new start drops the EXDATEs that are no longer occurrences. A new length drops none.
    let longer = json!({ "end_time": "2026-05-04T10:00:00Z" });
    assert_eq!(api.patch(&path).json(longer).await.expect(200)["recurrenceExdates"], json!(["2026-05-06T09:00:00Z"]));
    let later = json!({ "start_time": "2026-05-04T09:30:00Z" });
    let later = api.patch(&path).json(later).await.expect(200);
    assert_eq!((&later["recurrenceExdates"], &later["endTime"]), (&json!([]), &json!("2026-05-04T10:30:00Z")));
    let listed = expanded(&api, &calendar, "2026-05-04T00:00:00Z", "2026-05-18T00:00:00Z").await;
    assert_eq!(listed.column("title"), ["Standup"; 4]);

    // Without a rule it is a one-off event. With a rule it is a series again.
    let once = api.patch(&path).json(json!({ "recurrence_rule": null })).await.expect(200);
    assert_eq!((&once["recurrenceRule"], &once["recurrenceTimezone"]), (&json!(null), &json!(null)));
    assert_eq!(starts(&api, &calendar).await, ["2026-05-04T09:30:00Z"]);
    for field in ["recurrence_exdates", "recurrence_timezone"] {
        let value = if field.ends_with("timezone") { json!("UTC") } else { json!([MONDAY]) };
        api.patch(&path).json(json!({ field: value })).await.refused(400, "validation_error").param(field);
    }
    let again = json!({ "recurrence_rule": "FREQ=WEEKLY;COUNT=2", "recurrence_timezone": "Asia/Tokyo" });
    assert_eq!(api.patch(&path).json(again).await.expect(200)["recurrenceTimezone"], "Asia/Tokyo");
    assert_eq!(starts(&api, &calendar).await, ["2026-05-04T09:30:00Z", "2026-05-11T09:30:00Z"]);
}

#[apply(on_both)]
#[tokio::test]
async fn bad_series_are_refused_by_field(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "Europe/Berlin").await;
    let events = format!("/v1/calendars/{calendar}/events");
    let rule = "FREQ=DAILY;COUNT=3";
    for (more, param) in [
        (json!({ "recurrence_rule": "DAILY" }), "recurrence_rule"),
        (json!({ "recurrence_rule": "FREQ=DAILY;BYHOUR=9" }), "recurrence_rule"),
        (json!({ "recurrence_rule": format!("FREQ=WEEKLY;BYDAY={}", vec!["MO"; 90].join(",")) }), "recurrence_rule"),
        (json!({ "recurrence_rule": "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30" }), "recurrence_rule"),
        (json!({ "recurrence_rule": "FREQ=DAILY;UNTIL=20260503" }), "recurrence_rule"),
        (json!({ "recurrence_rule": 7 }), "recurrence_rule"),
        (json!({ "recurrence_rule": rule, "start_time": "2026-05-04T09:00:00.5Z" }), "start_time"),
        (json!({ "recurrence_rule": rule, "recurrence_timezone": "Mars" }), "recurrence_timezone"),
        (json!({ "recurrence_rule": rule, "recurrence_exdates": [MONDAY, "soon"] }), "recurrence_exdates[1]"),
        (json!({ "recurrence_rule": rule, "recurrence_exdates": ["2026-05-04"] }), "recurrence_exdates[0]"),
        (json!({ "recurrence_rule": rule, "recurrence_exdates": vec![MONDAY; 1_001] }), "recurrence_exdates"),
        (json!({ "recurrence_exdates": [MONDAY] }), "recurrence_exdates"),
        (json!({ "recurrence_timezone": "UTC" }), "recurrence_timezone"),
        (json!({ "recurrence_rule": rule, "all_day": true }), "end_time"),
    ] {
        let refused = api.post(&events).json(body(MONDAY, 30, more.clone())).await;
        refused.refused(400, "validation_error").param(param);
        let batch = json!({ "events": [body(MONDAY, 30, json!({})), body(MONDAY, 30, more)] });
        let refused = api.post(format!("{events}/batch")).json(batch).await;
        refused.refused(400, "validation_error").param(&format!("events[1].{param}"));
    }
    let zone = json!({
        "title": "x", "start_time": "2026-05-04", "end_time": "2026-05-05", "all_day": true,
        "recurrence_rule": rule, "recurrence_timezone": "Asia/Tokyo"
    });
    api.post(&events).json(zone).await.refused(400, "validation_error").param("recurrence_timezone");
    assert_eq!(api.get(&events).await.expect(200)["total"], 0);

    for (query, param) in [
        ("expand=true", "start_after"),
        ("expand=true&start_after=2026-05-04T00:00:00Z", "start_before"),
        ("expand=true&start_before=2026-05-04T00:00:00Z", "start_after"),
        ("expand=true&start_after=2026-05-04T00:00:00Z&start_before=2026-05-04T00:00:00Z", "start_before"),
        ("expand=true&start_after=2026-05-04T00:00:00Z&start_before=2027-05-05T00:00:01Z", "start_before"),
        ("expand=perhaps", "expand"),
    ] {
        api.get(format!("{events}?{query}")).await.refused(400, "validation_error").param(param);
    }
    let widest = "expand=true&start_after=2026-05-04T00:00:00Z&start_before=2027-05-05T00:00:00Z";
    api.get(format!("{events}?{widest}")).await.expect(200);
    api.get(format!("{events}?expand=false")).await.expect(200);
}

#[apply(on_both)]
#[tokio::test]
async fn occurrences_block_and_are_in_the_context(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let second = calendar_of(&api, &agent).await;
    let made = series(&api, &calendar, json!({ "recurrence_rule": "FREQ=DAILY" })).await;
    let weekly = json!({ "recurrence_rule": "FREQ=WEEKLY;BYDAY=TU" });
    api.post(format!("/v1/calendars/{second}/events")).json(body("2026-05-05T10:00:00Z", 60, weekly)).await.expect(201);
    let off = json!({ "recurrence_rule": "FREQ=DAILY", "status": "cancelled" });
    api.post(format!("/v1/calendars/{calendar}/events")).json(body("2026-05-04T11:00:00Z", 60, off)).await.expect(201);
    let free = async |of: &str| {
        // A Tuesday, years after the first occurrence.
        let range = "start=2031-05-06T08:00:00Z&end=2031-05-06T12:00:00Z&slot_duration=30m";
        let answer = api.get(format!("/v1/{of}/availability?{range}")).await.expect(200);
        let slots = answer["slots"].as_array().unwrap().iter();
        slots.map(|slot| slot["start"].as_str().unwrap()[11..16].to_owned()).collect::<Vec<_>>()
    };
    let (of_agent, of_calendar) = (format!("agents/{agent}"), format!("calendars/{calendar}"));
    assert_eq!(free(&of_calendar).await, ["08:00", "08:30", "09:30", "10:00", "10:30", "11:00", "11:30"]);
    assert_eq!(free(&of_agent).await, ["08:00", "08:30", "09:30", "11:00", "11:30"]);
    let instance = format!("/v1/events/{}_20310506T090000Z", made.id());
    let moved = json!({ "start_time": "2031-05-06T11:00:00Z", "end_time": "2031-05-06T11:30:00Z" });
    api.patch(&instance).json(moved).await.expect(200);
    assert_eq!(free(&of_agent).await, ["08:00", "08:30", "09:00", "09:30", "11:30"]);
    api.patch(&instance).json(json!({ "status": "cancelled" })).await.expect(200);
    assert_eq!(free(&of_agent).await, ["08:00", "08:30", "09:00", "09:30", "11:00", "11:30"]);
    api.delete(&instance).await.expect(204);
    assert_eq!(free(&of_calendar).await.len(), 8);
    api.delete(format!("/v1/events/{}", made.id())).await.expect(204);
    api.get(&instance).await.refused(404, "not_found");

    let now = now(&api).await;
    let start = shifted(&now, -10 - 2 * 1_440);
    let made = api.post(format!("/v1/calendars/{calendar}/events"));
    let made = made.json(body(&start, 60, json!({ "recurrence_rule": "FREQ=DAILY" }))).await.expect(201);
    let context = api.get(format!("/v1/calendars/{calendar}/context")).await.expect(200);
    let at = |day: i64| json!(shifted(&start, day * 1_440));
    assert_eq!(context.at("/current_event/recurringEventId"), json!(made.id()));
    assert_eq!(context.at("/current_event/startTime"), at(2));
    assert_eq!((context.at("/next_event/startTime"), context.at("/upcoming/0/startTime")), (at(3), at(3)));
    assert_eq!(context.at("/upcoming").as_array().unwrap().len(), 1);
    let recent = context.at("/recent_events");
    assert_eq!((&recent[0]["startTime"], &recent[1]["startTime"], &recent[2]), (&at(1), &at(0), &json!(null)));
}

#[apply(on_both)]
#[tokio::test]
async fn free_plans_limit_series(#[case] database: Database) {
    let server = Server::start(database).await;
    let org = server.org("free").await;
    let api = server.api(&org);
    let calendar = shared_calendar(&api, "UTC").await;
    let events = format!("/v1/calendars/{calendar}/events");
    let rule = |rule: &str| body(MONDAY, 30, json!({ "recurrence_rule": rule }));
    for unbounded in ["FREQ=DAILY", "FREQ=DAILY;COUNT=92", "FREQ=WEEKLY;UNTIL=20261231", "FREQ=YEARLY;COUNT=2"] {
        let refused = api.post(&events).json(rule(unbounded)).await.refused(403, "plan_required");
        assert_eq!(refused.at("/error/feature"), "unbounded_recurrence");
        assert_eq!(refused.at("/error/required_plan"), "pro");
        let batch = json!({ "events": [rule("FREQ=DAILY;COUNT=2"), rule(unbounded)] });
        api.post(format!("{events}/batch")).json(batch).await.refused(403, "plan_required");
    }
    let first = api.post(&events).json(rule("FREQ=DAILY;COUNT=91")).await.expect(201);
    let path = format!("/v1/events/{}", first.id());
    api.patch(&path).json(json!({ "recurrence_rule": "FREQ=DAILY" })).await.refused(403, "plan_required");
    api.patch(&path).json(json!({ "title": "Daily" })).await.expect(200);
    let once = event(&api, &calendar, MONDAY, "2026-05-04T10:00:00Z").await;
    let once = format!("/v1/events/{once}");
    api.patch(&once).json(json!({ "recurrence_rule": "FREQ=DAILY" })).await.refused(403, "plan_required");

    // Five series that have not ended. Ended ones do not count. The service's clock decides.
    let now = now(&api).await;
    let coming = |rule: &str| body(&shifted(&now, 60), 30, json!({ "recurrence_rule": rule }));
    api.delete(&path).await.expect(204);
    let past = body("2020-05-04T09:00:00Z", 30, json!({ "recurrence_rule": "FREQ=DAILY;COUNT=2" }));
    for _ in 0..3 {
        api.post(&events).json(past.clone()).await.expect(201);
    }
    let mut made = Vec::new();
    for _ in 0..4 {
        made.push(api.post(&events).json(coming("FREQ=DAILY;COUNT=9")).await.expect(201).id());
    }
    let two = json!({ "events": [coming("FREQ=DAILY;COUNT=2"), coming("FREQ=DAILY;COUNT=2")] });
    api.post(format!("{events}/batch")).json(two).await.refused(429, "quota_exceeded");
    let racing = (0..8).map(|_| tokio::spawn(api.post(&events).json(coming("FREQ=DAILY;COUNT=9")).into_future()));
    let mut statuses = Vec::new();
    for answer in racing.collect::<Vec<_>>() {
        statuses.push(answer.await.unwrap().status);
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 429, 429, 429, 429, 429, 429, 429]);
    let refused = api.post(&events).json(coming("FREQ=DAILY;COUNT=9")).await.refused(429, "quota_exceeded");
    assert!(refused.header("retry-after").parse::<u64>().is_ok_and(|left| left > 0));
    let again = json!({ "start_time": shifted(&now, 60), "end_time": shifted(&now, 90) });
    api.patch(&once).json(again).await.expect(200);
    api.patch(&once).json(json!({ "recurrence_rule": "FREQ=DAILY;COUNT=2" })).await.refused(429, "quota_exceeded");
    // One-off events, ended series and changes of existing series are not refused.
    api.post(&events).json(past).await.expect(201);
    api.post(&events).json(body(&now, 30, json!({}))).await.expect(201);
    let path = format!("/v1/events/{}", made[0]);
    api.patch(&path).json(json!({ "recurrence_rule": "FREQ=DAILY;COUNT=3" })).await.expect(200);
    api.delete(&path).await.expect(204);
    api.patch(&once).json(json!({ "recurrence_rule": "FREQ=DAILY;COUNT=2" })).await.expect(200);

    // A paid plan removes both limits. After the downgrade, a long series stays and its title can still be changed.
    server.cli(&["org", "set-plan", &org.id, "pro"]).await.succeeded();
    wait_until(|| api.get("/v1/agents").into_future(), |answer| answer.header("x-service-plan") == "pro").await;
    let long = api.post(&events).json(coming("FREQ=DAILY")).await.expect(201).id();
    server.cli(&["org", "set-plan", &org.id, "free"]).await.succeeded();
    wait_until(|| api.get("/v1/agents").into_future(), |answer| answer.header("x-service-plan") == "free").await;
    let path = format!("/v1/events/{long}");
    api.patch(&path).json(json!({ "title": "Daily" })).await.expect(200);
    api.patch(&path).json(json!({ "recurrence_rule": "FREQ=WEEKLY" })).await.refused(403, "plan_required");
}

#[apply(on_both)]
#[tokio::test]
async fn concurrent_changes_of_occurrences_are_all_kept(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "UTC").await;
    let made = series(&api, &calendar, json!({ "recurrence_rule": "FREQ=DAILY;COUNT=9" })).await;
    let path = format!("/v1/events/{}", made.id());
    let calls = (4..13).map(|day| {
        let of = format!("{path}_202605{day:02}T090000Z");
        match day % 3 {
            0 => api.delete(of),
            1 => api.patch(of).json(json!({ "title": format!("Changed {day}") })),
            _ => api.patch(of).json(json!({ "reminders": [day] })),
        }
    });
    let running: Vec<_> = calls.map(|call| tokio::spawn(call.into_future())).collect();
    for call in running {
        let answer = call.await.unwrap();
        assert!(matches!(answer.status, 200 | 204), "{}", answer.describe());
    }
    let listed = expanded(&api, &calendar, "2026-05-04T00:00:00Z", "2026-05-18T00:00:00Z").await;
    let titles = ["Changed 4", "Standup", "Changed 7", "Standup", "Changed 10", "Standup"];
    assert_eq!(listed.column("title"), titles);
    assert_eq!(listed.data()[1]["reminders"], json!([5]));
    let series = api.get(&path).await.expect(200);
    assert_eq!(series["recurrenceExdates"].as_array().unwrap().len(), 3);
}

/// A series that names no zone follows the default of its calendar, and else that of the service.
#[rstest]
#[case::sqlite(Database::Sqlite, "utc")]
#[case::postgres(Database::Postgres, "calendar")]
#[tokio::test]
async fn a_series_follows_the_default_zone_of_its_calendar(#[case] database: Database, #[case] of_service: &str) {
    let server = Server::start_with(database, &[("KALENDS_RECURRENCE_DEFAULT", of_service)]).await;
    let api = server.api(&server.org("pro").await);
    let calendar = shared_calendar(&api, "Europe/Berlin").await;
    let path = format!("/v1/calendars/{calendar}");
    let zone = async |more: Value| {
        let mut more = more;
        more["recurrence_rule"] = json!("FREQ=DAILY;COUNT=3");
        series(&api, &calendar, more).await["recurrenceTimezone"].as_str().unwrap().to_owned()
    };
    let default_of = async || api.get(&path).await.expect(200).json.get("recurrence_default").cloned();
    let services = if of_service == "utc" { "UTC" } else { "Europe/Berlin" };
    assert_eq!((default_of().await, zone(json!({})).await.as_str()), (None, services));
    for (default, expected) in [("utc", "UTC"), ("calendar", "Europe/Berlin")] {
        api.patch(&path).json(json!({ "recurrence_default": default })).await.expect(200);
        assert_eq!((default_of().await, zone(json!({})).await.as_str()), (Some(json!(default)), expected));
        // A zone that is named counts.
        assert_eq!(zone(json!({ "recurrence_timezone": "Asia/Tokyo" })).await, "Asia/Tokyo");
        assert_eq!(zone(json!({ "recurrence_timezone": "UTC" })).await, "UTC");
        // An event that becomes a series follows the default, too. Null restores it.
        let once = event(&api, &calendar, "2026-05-04T12:00:00Z", "2026-05-04T13:00:00Z").await;
        let change = async |body: Value| {
            let changed = api.patch(format!("/v1/events/{once}")).json(body).await.expect(200);
            changed["recurrenceTimezone"].as_str().unwrap().to_owned()
        };
        assert_eq!(change(json!({ "recurrence_rule": "FREQ=DAILY;COUNT=3" })).await, expected);
        assert_eq!(change(json!({ "recurrence_timezone": "Asia/Tokyo" })).await, "Asia/Tokyo");
        assert_eq!(change(json!({ "title": "Later" })).await, "Asia/Tokyo");
        assert_eq!(change(json!({ "recurrence_timezone": null })).await, expected);
    }
    // All-day series follow the calendar in any case.
    let mut days = event_body("Fair", "2026-05-04", "2026-05-05");
    (days["all_day"], days["recurrence_rule"]) = (json!(true), json!("FREQ=DAILY;COUNT=2"));
    api.patch(&path).json(json!({ "recurrence_default": "utc" })).await.expect(200);
    let made = api.post(format!("{path}/events")).json(days).await.expect(201);
    assert_eq!((&made["recurrenceTimezone"], made.json.get("notices")), (&json!("Europe/Berlin"), None));
    api.patch(&path).json(json!({ "recurrence_default": null })).await.expect(200);
    assert_eq!((default_of().await, zone(json!({})).await.as_str()), (None, services));
    let unknown = api.patch(&path).json(json!({ "recurrence_default": "Europe/Berlin" })).await;
    unknown.refused(400, "validation_error").param("recurrence_default");
    let body = json!({ "name": "Room", "timezone": "UTC", "recurrence_default": "calendar" });
    assert_eq!(api.post("/v1/calendars").json(body).await.expect(201)["recurrence_default"], "calendar");
}

#[apply(on_both)]
#[tokio::test]
async fn a_series_in_utc_is_answered_with_a_notice_where_clocks_change(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let daily = |more: Value| {
        let mut more = more;
        more["recurrence_rule"] = json!("FREQ=DAILY;COUNT=3");
        more
    };
    let berlin = shared_calendar(&api, "Europe/Berlin").await;
    let made = series(&api, &berlin, daily(json!({}))).await;
    let notices = made.at("/notices");
    assert_eq!((&notices[0]["code"], notices.as_array().unwrap().len()), (&json!("repeats_in_utc"), 1));
    let message = notices[0]["message"].as_str().unwrap();
    assert!(message.contains("recurrence_timezone") && message.contains("Europe/Berlin"), "{message}");
    // Only answers to writes have it, also those of a PATCH and of a batch, and no message.
    let path = format!("/v1/events/{}", made.id());
    assert_eq!(api.get(&path).await.expect(200).json.get("notices"), None);
    let renamed = api.patch(&path).json(json!({ "title": "Retro" })).await.expect(200);
    assert_eq!(renamed.at("/notices"), notices);
    let batch = json!({ "events": [body(MONDAY, 30, daily(json!({}))), body(MONDAY, 30, json!({}))] });
    let made = api.post(format!("/v1/calendars/{berlin}/events/batch")).json(batch).await.expect(201);
    assert_eq!(made.at("/data/0/notices"), notices);
    assert_eq!(made.at("/data/1/notices"), Value::Null);
    // A zone that is kept, and a zone whose clocks do not change, need none.
    let fixed = api.patch(&path).json(json!({ "recurrence_timezone": "Europe/Berlin" })).await.expect(200);
    assert_eq!(fixed.json.get("notices"), None);
    for zone in ["UTC", "Asia/Tokyo"] {
        let calendar = shared_calendar(&api, zone).await;
        assert_eq!(series(&api, &calendar, daily(json!({}))).await.json.get("notices"), None, "{zone}");
    }
}
