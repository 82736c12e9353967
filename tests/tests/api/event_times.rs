//! The times that an event may have, and how answers show them.

use crate::fixtures::{event_body, shared_calendar};
use crate::on_both;
use kalends_e2e::{Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

#[apply(on_both)]
#[tokio::test]
async fn times_come_back_in_utc(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "Asia/Tokyo").await;
    let events = format!("/v1/calendars/{calendar}/events");
    for (start, end, returned_start, returned_end) in [
        ("2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z", "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z"),
        ("2026-05-04T09:00:00+05:45", "2026-05-04T09:00:00Z", "2026-05-04T03:15:00Z", "2026-05-04T09:00:00Z"),
        ("2026-05-04T23:30:00-07:00", "2026-05-05T08:00:00Z", "2026-05-05T06:30:00Z", "2026-05-05T08:00:00Z"),
        (
            "2026-05-04T09:00:00.123456Z",
            "2026-05-04T09:00:00.123457Z",
            "2026-05-04T09:00:00.123456Z",
            "2026-05-04T09:00:00.123457Z",
        ),
        ("1970-01-01T00:00:00Z", "1970-01-01T00:00:01Z", "1970-01-01T00:00:00Z", "1970-01-01T00:00:01Z"),
        ("2099-12-31T23:00:00Z", "2099-12-31T23:59:59Z", "2099-12-31T23:00:00Z", "2099-12-31T23:59:59Z"),
        ("2028-02-29T00:00:00Z", "2028-02-29T01:00:00Z", "2028-02-29T00:00:00Z", "2028-02-29T01:00:00Z"),
    ] {
        let made = api.post(&events).json(event_body("x", start, end)).await.expect(201);
        assert_eq!((&made["startTime"], &made["endTime"]), (&json!(returned_start), &json!(returned_end)));
        let read = api.get(format!("/v1/events/{}", made.id())).await.expect(200);
        assert_eq!((&read["startTime"], &read["endTime"]), (&json!(returned_start), &json!(returned_end)));
    }
}

#[apply(on_both)]
#[tokio::test]
async fn bad_times_are_refused(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "UTC").await;
    let events = format!("/v1/calendars/{calendar}/events");
    for time in [
        "2026-05-04T09:00:00",
        "2026-05-04",
        "2026-05-04T09:00",
        "2026-02-30T09:00:00Z",
        "2026-05-04T25:00:00Z",
        "tomorrow",
        "",
        "1777888999",
        "2026-05-04T09:00:00+99:00",
    ] {
        let answer = api.post(&events).json(event_body("x", time, "2026-05-05T09:00:00Z")).await;
        answer.refused(400, "validation_error").param("start_time").code("invalid_time_format");
        let answer = api.post(&events).json(event_body("x", "2026-05-03T09:00:00Z", time)).await;
        answer.refused(400, "validation_error").param("end_time").code("invalid_time_format");
    }
    for (start, end, param) in [
        ("1969-12-31T23:59:59Z", "2026-05-04T09:00:00Z", "start_time"),
        ("2100-01-01T00:00:00Z", "2100-01-01T01:00:00Z", "start_time"),
        ("2026-05-04T09:00:00Z", "2100-01-02T00:00:00Z", "end_time"),
        ("0001-01-01T00:00:00Z", "2026-05-04T09:00:00Z", "start_time"),
        ("2026-05-04T09:00:00Z", "9999-12-31T23:59:59Z", "end_time"),
    ] {
        api.post(&events).json(event_body("x", start, end)).await.refused(400, "validation_error").param(param);
    }
    for end in ["2026-05-04T09:00:00Z", "2026-05-04T08:59:59Z", "2026-05-04T11:00:00+02:00"] {
        let answer = api.post(&events).json(event_body("x", "2026-05-04T09:00:00Z", end)).await;
        answer.refused(400, "validation_error").param("end_time").code("end_before_start");
    }
    assert_eq!(api.get(&events).await.expect(200)["total"], 0);
}

#[apply(on_both)]
#[tokio::test]
async fn plain_dates_are_midnights_in_the_calendar_s_zone(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    for (zone, start, end, returned_start, returned_end) in [
        ("UTC", "2026-05-04", "2026-05-05", "2026-05-04T00:00:00Z", "2026-05-05T00:00:00Z"),
        ("Asia/Kolkata", "2026-05-04", "2026-05-06", "2026-05-03T18:30:00Z", "2026-05-05T18:30:00Z"),
        // Days of 23 and of 25 hours.
        ("Europe/Berlin", "2026-03-29", "2026-03-30", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"),
        ("Europe/Berlin", "2026-10-25", "2026-10-26", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"),
        ("America/New_York", "2026-03-08", "2026-03-09", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"),
        // If midnight is in a gap, the day begins at the end of the gap.
        ("America/Sao_Paulo", "2018-11-04", "2018-11-05", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"),
    ] {
        let calendar = shared_calendar(&api, zone).await;
        let mut body = event_body("Off", start, end);
        body["all_day"] = json!(true);
        let made = api.post(format!("/v1/calendars/{calendar}/events")).json(body).await.expect(201);
        assert_eq!((&made["startTime"], &made["endTime"]), (&json!(returned_start), &json!(returned_end)), "{zone}");
        assert_eq!(made["allDay"], true);
    }
    let calendar = shared_calendar(&api, "Europe/Berlin").await;
    let events = format!("/v1/calendars/{calendar}/events");
    let all_day =
        |start: &str, end: &str| json!({ "title": "Off", "start_time": start, "end_time": end, "all_day": true });
    // Timestamps are used unchanged.
    let made = api.post(&events).json(all_day("2026-05-03T22:00:00Z", "2026-05-04T22:00:00Z")).await.expect(201);
    assert_eq!((&made["startTime"], &made["allDay"]), (&json!("2026-05-03T22:00:00Z"), &json!(true)));
    // The end is exclusive, so a one-day event ends on the next day.
    let answer = api.post(&events).json(all_day("2026-05-04", "2026-05-04")).await;
    answer.refused(400, "validation_error").param("end_time").code("end_before_start");
    let answer = api.post(&events).json(all_day("2026-02-29", "2026-03-01")).await;
    answer.refused(400, "validation_error").param("start_time").code("invalid_time_format");
    let answer = api.post(&events).json(all_day("1969-12-31", "1970-01-02")).await;
    answer.refused(400, "validation_error").param("start_time");
    // A timed event does not accept plain dates. Neither does an event that is changed to a timed one.
    let day = api.post(&events).json(all_day("2026-05-04", "2026-05-05")).await.expect(201);
    let path = format!("/v1/events/{}", day.id());
    let answer = api.patch(&path).json(json!({ "all_day": false, "start_time": "2026-05-03" })).await;
    answer.refused(400, "validation_error").param("start_time").code("invalid_time_format");
    let moved = api.patch(&path).json(json!({ "end_time": "2026-05-07" })).await.expect(200);
    assert_eq!(moved["endTime"], "2026-05-06T22:00:00Z");
}

/// An event, a series and an occurrence keep their length if only the start is moved.
#[apply(on_both)]
#[tokio::test]
async fn moving_only_the_start_moves_the_end(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "Europe/Berlin").await;
    let events = format!("/v1/calendars/{calendar}/events");
    let create = async |start: &str, end: &str, more: Value| {
        let mut body = event_body("Standup", start, end);
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        api.post(&events).json(body).await.expect(201).id()
    };
    let moved = async |path: String, patch: Value| {
        let answer = api.patch(path).json(patch).await.expect(200);
        [answer["startTime"].as_str().unwrap().to_owned(), answer["endTime"].as_str().unwrap().to_owned()]
    };
    let once = create("2026-03-27T09:00:00Z", "2026-03-27T10:30:00Z", json!({})).await;
    let path = format!("/v1/events/{once}");
    assert_eq!(
        moved(path.clone(), json!({ "start_time": "2026-03-29T23:30:00Z" })).await,
        ["2026-03-29T23:30:00Z", "2026-03-30T01:00:00Z"]
    );
    assert_eq!(
        moved(path.clone(), json!({ "end_time": "2026-03-30T00:00:00Z" })).await,
        ["2026-03-29T23:30:00Z", "2026-03-30T00:00:00Z"]
    );
    let both = json!({ "start_time": "2026-04-01T08:00:00Z", "end_time": "2026-04-01T12:00:00Z" });
    assert_eq!(moved(format!("{events}/{once}"), both).await, ["2026-04-01T08:00:00Z", "2026-04-01T12:00:00Z"]);
    let late = api.patch(&path).json(json!({ "start_time": "2099-12-31T23:00:00Z" })).await;
    late.refused(400, "validation_error").param("start_time");

    // Two days, one of which has 23 hours, become two days of 24 hours.
    let days = create("2026-03-28", "2026-03-30", json!({ "all_day": true })).await;
    let path = format!("/v1/events/{days}");
    assert_eq!(
        moved(path, json!({ "start_time": "2026-04-10" })).await,
        ["2026-04-09T22:00:00Z", "2026-04-11T22:00:00Z"]
    );

    let rule = json!({ "recurrence_rule": "FREQ=DAILY;COUNT=3", "recurrence_timezone": "Europe/Berlin" });
    let series = create("2026-05-04T09:00:00Z", "2026-05-04T09:45:00Z", rule).await;
    let path = format!("/v1/events/{series}");
    assert_eq!(
        moved(format!("{path}_20260505T090000Z"), json!({ "start_time": "2026-05-05T15:00:00Z" })).await,
        ["2026-05-05T15:00:00Z", "2026-05-05T15:45:00Z"]
    );
    assert_eq!(
        moved(path, json!({ "start_time": "2026-05-04T11:00:00Z" })).await,
        ["2026-05-04T11:00:00Z", "2026-05-04T11:45:00Z"]
    );
}
