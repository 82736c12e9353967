//! The context of a calendar.

use crate::on_both;
use kalends_e2e::shifted;
use kalends_e2e::{Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::Value;
use serde_json::json;

use crate::fixtures::{agent_with_calendar, event, event_body, has_exactly, is_time, now, shared_calendar, time};

fn ids(events: &Value) -> Vec<&str> {
    events.as_array().unwrap().iter().map(|event| event["id"].as_str().unwrap()).collect()
}

#[apply(on_both)]
#[tokio::test]
async fn context_shows_the_events_around_now(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let elsewhere = shared_calendar(&api, "UTC").await;
    let path = format!("/v1/calendars/{calendar}/context");

    let empty = api.get(&path).await.expect(200);
    has_exactly(
        &empty.json,
        &["calendar_id", "now", "agent_status", "current_event", "next_event", "recent_events", "upcoming"],
    );
    assert_eq!((&empty["calendar_id"], &empty["agent_status"]), (&json!(calendar), &json!("idle")));
    is_time(&empty["now"]);
    assert_eq!((&empty["current_event"], &empty["next_event"]), (&json!(null), &json!(null)));
    assert_eq!((&empty["recent_events"], &empty["upcoming"]), (&json!([]), &json!([])));

    let now = now(&api).await;
    let place = async |from: i64, to: i64| event(&api, &calendar, &shifted(&now, from), &shifted(&now, to)).await;
    let ended_2h_ago = place(-300, -120).await;
    let ended_1h_ago = place(-90, -60).await;
    let ended_4h_ago = place(-260, -240).await;
    place(-600, -360).await;
    let current = place(-30, 120).await;
    let mut upcoming = Vec::new();
    for minutes in [600, 60, 300, 1_380, 120, 1_430] {
        upcoming.push((minutes, place(minutes, minutes + 30).await));
    }
    upcoming.sort();
    place(1_500, 1_530).await;
    for (status, from) in [("cancelled", -40), ("cancelled", 10)] {
        let mut body = event_body("Off", &shifted(&now, from), &shifted(&now, from + 20));
        body["status"] = json!(status);
        api.post(format!("/v1/calendars/{calendar}/events")).json(body).await.expect(201);
    }
    let deleted = place(5, 10).await;
    api.delete(format!("/v1/events/{deleted}")).await.expect(204);
    event(&api, &elsewhere, &shifted(&now, 15), &shifted(&now, 20)).await;
    api.patch(format!("/v1/calendars/{calendar}")).json(json!({ "agent_status": "waiting" })).await.expect(200);

    let context = api.get(&path).await.expect(200);
    assert_eq!(context["agent_status"], "waiting");
    assert_eq!(context["current_event"]["id"], json!(current));
    assert_eq!(context["next_event"]["id"], json!(upcoming[0].1));
    assert_eq!(ids(&context["recent_events"]), [&ended_1h_ago, &ended_2h_ago, &ended_4h_ago]);
    let expected: Vec<_> = upcoming.iter().take(5).map(|(_, id)| id.as_str()).collect();
    assert_eq!(ids(&context["upcoming"]), expected);
    // The entries are the same events that a read returns.
    assert_eq!(context["current_event"], api.get(format!("/v1/events/{current}")).await.expect(200).json);
    assert_eq!(context["upcoming"][0], context["next_event"]);

    // A tentative event counts. Only cancelled and deleted events are left out.
    api.patch(format!("/v1/events/{current}")).json(json!({ "status": "tentative" })).await.expect(200);
    assert_eq!(api.get(&path).await.expect(200)["current_event"]["id"], json!(current));
    api.patch(format!("/v1/events/{current}")).json(json!({ "status": "cancelled" })).await.expect(200);
    assert_eq!(api.get(&path).await.expect(200)["current_event"], json!(null));
}

#[apply(on_both)]
#[tokio::test]
async fn context_follows_the_clock(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let (_, calendar) = agent_with_calendar(&api).await;
    let began = now(&api).await;
    let meeting = event(&api, &calendar, &shifted(&began, 60), &shifted(&began, 120)).await;
    let path = format!("/v1/calendars/{calendar}/context");
    assert_eq!(api.get(&path).await.expect(200)["next_event"]["id"], json!(meeting));

    server.restart_at_offset(90 * 60).await;
    let context = server.api(&org).get(&path).await.expect(200);
    assert_eq!(context["current_event"]["id"], json!(meeting));
    assert_eq!((&context["next_event"], &context["upcoming"]), (&json!(null), &json!([])));
    assert!(time(&context["now"]) >= kalends_e2e::at(&shifted(&began, 90)));

    server.restart_at_offset(150 * 60).await;
    let context = server.api(&org).get(&path).await.expect(200);
    assert_eq!(context["current_event"], json!(null));
    assert_eq!(ids(&context["recent_events"]), [&meeting]);
}
