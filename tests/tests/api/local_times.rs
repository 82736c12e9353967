//! `local=true`: events with their times on the clocks of their calendar's zone.

use crate::on_both;
use kalends_e2e::{Answer, Client, Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::fixtures::{agent, event_body, has_exactly};

/// A new calendar of `agent` in this zone.
async fn calendar_in(api: &Client, agent: &str, zone: &str) -> String {
    let body = json!({ "name": "Work", "timezone": zone });
    api.post(format!("/v1/agents/{agent}/calendars")).json(body).await.expect(201).id()
}

fn local(start: &str, end: &str, zone: &str, weekday: &str) -> Value {
    json!({ "start": start, "end": end, "timezone": zone, "weekday": weekday })
}

/// A new event, shown with local times.
async fn made(api: &Client, calendar: &str, body: Value) -> Answer {
    api.post(format!("/v1/calendars/{calendar}/events?local=true")).json(body).await.expect(201)
}

/// The answer without the `local` fields.
fn without_local(mut json: Value) -> Value {
    match &mut json {
        Value::Object(object) => {
            object.remove("local");
            object.values_mut().for_each(|value| *value = without_local(value.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| *value = without_local(value.take())),
        _ => {}
    }
    json
}

#[apply(on_both)]
#[tokio::test]
async fn local_times_follow_the_clocks(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let owner = agent(&api).await;
    let berlin = calendar_in(&api, &owner, "Europe/Berlin").await;
    for (start, end, expected) in [
        (
            "2026-03-29T00:30:00Z",
            "2026-03-29T07:00:00Z",
            local("2026-03-29T01:30:00+01:00", "2026-03-29T09:00:00+02:00", "Europe/Berlin", "sunday"),
        ),
        (
            "2026-10-25T00:30:00Z",
            "2026-10-25T01:30:00Z",
            local("2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00", "Europe/Berlin", "sunday"),
        ),
        (
            "2026-03-01T23:00:00Z",
            "2026-03-01T23:00:00.5Z",
            local("2026-03-02T00:00:00+01:00", "2026-03-02T00:00:00.5+01:00", "Europe/Berlin", "monday"),
        ),
    ] {
        let answer = made(&api, &berlin, event_body("Standup", start, end)).await;
        assert_eq!(answer["local"], expected);
        assert_eq!(
            (&answer["startTime"], &answer["endTime"]),
            (&json!(start), &json!(end)),
            "the other fields are unchanged"
        );
    }

    let kolkata = calendar_in(&api, &owner, "Asia/Kolkata").await;
    let answer = made(&api, &kolkata, event_body("Standup", "2026-03-02T18:30:00Z", "2026-03-02T19:00:00Z")).await;
    assert_eq!(
        answer["local"],
        local("2026-03-03T00:00:00+05:30", "2026-03-03T00:30:00+05:30", "Asia/Kolkata", "tuesday")
    );
    for (day, next, expected) in [
        (
            "2026-03-29",
            "2026-03-30",
            local("2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00", "Europe/Berlin", "sunday"),
        ),
        (
            "2026-10-24",
            "2026-10-26",
            local("2026-10-24T00:00:00+02:00", "2026-10-26T00:00:00+01:00", "Europe/Berlin", "saturday"),
        ),
    ] {
        let mut body = event_body("Holiday", day, next);
        body["all_day"] = json!(true);
        assert_eq!(made(&api, &berlin, body).await["local"], expected);
    }

    // A series in UTC on a calendar in Berlin. Each instance uses the offset of its own day.
    let mut body = event_body("Weekly", "2026-03-22T08:00:00Z", "2026-03-22T09:00:00Z");
    body["recurrence_rule"] = json!("FREQ=WEEKLY;COUNT=2");
    let series = made(&api, &berlin, body).await.id();
    let instance = |day: &str| format!("/v1/events/{series}_{day}T080000Z?local=true");
    let before = api.get(instance("20260322")).await.expect(200);
    let after = api.get(instance("20260329")).await.expect(200);
    assert_eq!(before["local"]["start"], "2026-03-22T09:00:00+01:00");
    assert_eq!(after["local"]["start"], "2026-03-29T10:00:00+02:00");
}

#[apply(on_both)]
#[tokio::test]
async fn every_answer_with_events_can_show_local_times(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let owner = agent(&api).await;
    let (berlin, kolkata) =
        (calendar_in(&api, &owner, "Europe/Berlin").await, calendar_in(&api, &owner, "Asia/Kolkata").await);
    let body = event_body("Standup", "2026-05-04T09:00:00Z", "2026-05-04T09:30:00Z");
    let in_berlin = local("2026-05-04T11:00:00+02:00", "2026-05-04T11:30:00+02:00", "Europe/Berlin", "monday");
    let in_kolkata = local("2026-05-04T14:30:00+05:30", "2026-05-04T15:00:00+05:30", "Asia/Kolkata", "monday");
    let id = made(&api, &berlin, body.clone()).await.id();
    let batch = api.post(format!("/v1/calendars/{kolkata}/events/batch?local=true"));
    let batch = batch.json(json!({ "events": [body.clone(), body.clone()] })).await.expect(201);
    assert_eq!(
        batch.data().iter().map(|event| event["local"].clone()).collect::<Vec<_>>(),
        vec![in_kolkata.clone(); 2]
    );
    let mut weekly = body.clone();
    weekly["recurrence_rule"] = json!("FREQ=DAILY;COUNT=3");
    let series = made(&api, &berlin, weekly).await.id();

    let title = json!({ "title": "Retro" });
    for path in [format!("/v1/events/{id}"), format!("/v1/calendars/{berlin}/events/{id}")] {
        assert_eq!(api.get(format!("{path}?local=true")).await.expect(200)["local"], in_berlin);
        assert_eq!(api.patch(format!("{path}?local=true")).json(title.clone()).await.expect(200)["local"], in_berlin);
    }
    let tuesday = format!("/v1/events/{series}_20260505T090000Z?local=true");
    let local_of_tuesday = api.patch(&tuesday).json(title.clone()).await.expect(200)["local"].clone();
    assert_eq!(
        (&local_of_tuesday["start"], &local_of_tuesday["weekday"]),
        (&json!("2026-05-05T11:00:00+02:00"), &json!("tuesday"))
    );
    let cancel = [("occurrence_start", "2026-05-06T09:00:00Z"), ("local", "true")];
    let left = api.delete(format!("/v1/events/{series}")).query(&cancel).await.expect(200);
    assert_eq!(left["local"], in_berlin);

    // In lists, each event uses the zone of its own calendar. Nothing else differs.
    let window = "start_after=2026-05-04T00:00:00Z&start_before=2026-05-06T00:00:00Z";
    for (path, entries) in [
        (format!("/v1/calendars/{berlin}/events"), 2),
        (format!("/v1/calendars/{berlin}/events?expand=true&{window}"), 3),
        (format!("/v1/agents/{owner}/events"), 4),
        (format!("/v1/agents/{owner}/events?expand=true&{window}"), 5),
        (format!("/v1/calendars/{berlin}/changes"), 3),
    ] {
        let with = format!("{path}{}local=true", if path.contains('?') { "&" } else { "?" });
        let (plain, annotated) = (api.get(&path).await.expect(200), api.get(with).await.expect(200));
        assert_eq!(annotated.data().len(), entries, "{path}");
        for event in annotated.data() {
            let zone = if event["calendarId"] == json!(berlin) { "Europe/Berlin" } else { "Asia/Kolkata" };
            assert_eq!(event["local"]["timezone"], zone, "{path}");
            has_exactly(&event["local"], &["start", "end", "timezone", "weekday"]);
        }
        let drop_place = |mut json: Value| {
            // The token contains the time of the request.
            json.as_object_mut().unwrap().remove("next");
            json
        };
        assert!(!plain.text().contains("\"local\""), "{path}");
        assert_eq!(drop_place(without_local(annotated.json)), drop_place(plain.json), "{path}");
    }
    let context = api.get(format!("/v1/calendars/{berlin}/context?local=true")).await.expect(200);
    let plain = api.get(format!("/v1/calendars/{berlin}/context")).await.expect(200);
    for list in ["recent_events", "upcoming"] {
        assert_eq!(without_local(context[list].clone()), plain[list]);
        assert!(context[list].as_array().unwrap().iter().all(|event| event["local"]["timezone"] == "Europe/Berlin"));
    }
    // A deleted event has no times.
    let changes = format!("/v1/calendars/{berlin}/changes");
    let since = api.get(&changes).await.expect(200)["next"].as_str().unwrap().to_owned();
    assert_eq!(api.delete(format!("/v1/events/{id}?local=true")).await.expect(204).text(), "");
    let gone = api.get(format!("{changes}?local=true&since={since}")).await.expect(200);
    assert_eq!(gone["data"], json!([{ "id": id, "deleted": true }]));
}

#[apply(on_both)]
#[tokio::test]
async fn local_times_are_returned_only_on_request(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = calendar_in(&api, &agent(&api).await, "Europe/Berlin").await;
    let body = event_body("Standup", "2026-05-04T09:00:00Z", "2026-05-04T09:30:00Z");
    let events = format!("/v1/calendars/{calendar}/events");
    let plain = api.post(&events).json(body.clone()).await.expect(201);
    assert!(plain.json.get("local").is_none());
    let id = plain.id();
    for path in [events.clone(), format!("{events}/{id}"), format!("/v1/events/{id}")] {
        for wrong in ["1", "yes", "TRUE", ""] {
            api.get(format!("{path}?local={wrong}")).await.refused(400, "validation_error").param("local");
        }
        assert!(!api.get(format!("{path}?local=false")).await.expect(200).text().contains("\"local\""));
        api.get(format!("{path}?locale=true"))
            .await
            .refused(400, "validation_error")
            .code("unknown_field")
            .mentions("local");
    }
    api.post(format!("{events}?local=x")).json(body.clone()).await.refused(400, "validation_error").param("local");
    api.patch(format!("/v1/events/{id}?local=x")).json(json!({ "title": "x" })).await.refused(400, "validation_error");

    // A replay returns the original answer, even if the zone has changed since.
    let local = format!("{events}?local=true");
    let send = || api.post(&local).header("idempotency-key", "once").json(body.clone());
    let first = send().await.expect(201);
    assert_eq!(first["local"]["timezone"], "Europe/Berlin");
    let moved = json!({ "timezone": "Asia/Kolkata" });
    api.patch(format!("/v1/calendars/{calendar}")).json(moved).await.expect(200);
    let again = send().await.expect(201);
    assert_eq!((again.header("idempotency-replayed"), &again.json), ("true", &first.json));
    let now = api.get(format!("/v1/events/{}?local=true", first.id())).await.expect(200);
    assert_eq!(now["local"]["timezone"], "Asia/Kolkata");
    // A request without `local` is another request.
    let other = api.post(&events).header("idempotency-key", "once").json(body).await;
    other.refused(422, "validation_error").code("idempotency_mismatch");
}
