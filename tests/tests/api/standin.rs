//! A user draws busy times in Kalends itself, to try human calendars without an account anywhere.

use crate::on_both;

use chrono::TimeDelta;
use kalends_e2e::{Answer, Database, Receiver, Server, iso};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    connecting::{Connecting, path_of},
    fixtures::{event, is_id, rows},
    members::member,
    secrecy::{holds, kept},
};

const CONNECTIONS: &str = "/v1/calendar-connections";
const ROUTE: &str = "/v1/calendar-connections/example";
/// The field that names the connection link.
const LINK: &str = "link_id";
/// The calendars of a new drawing, the primary one first.
const NAMES: [&str; 2] = ["Work", "Private"];
const SWITCH: &str = "KALENDS_STANDIN_PROVIDER";
/// The most busy times of one calendar.
const DRAWN_MAX: usize = 1_000;

async fn offering(database: Database) -> Connecting {
    Connecting::with(database, &[(SWITCH, "true")]).await
}

/// The path of a drawing.
fn drawing_of(connection: &str) -> String {
    format!("{}/drawing", path_of(connection))
}

/// These minutes of the day, as a drawing has them.
fn drawn(it: &Connecting, minutes: &[(i64, i64)]) -> Value {
    let span = |(start, end): (String, String)| json!({ "start_time": start, "end_time": end });
    it.spans(minutes).into_iter().map(span).collect()
}

/// Connects, and waits for the first refresh.
async fn connected(it: &Connecting) -> String {
    let connection = it.console.post(ROUTE).json(json!({})).await.expect(201).id();
    it.wait_until(&connection, "refreshed", |read| !read["last_refreshed_at"].is_null()).await;
    connection
}

/// Draws minutes of the day in one calendar.
async fn draw(it: &Connecting, connection: &str, name: &str, minutes: &[(i64, i64)]) -> Answer {
    let body = json!({ "calendars": [{ "name": name, "busy": drawn(it, minutes) }] });
    it.console.put(drawing_of(connection)).json(body).await.expect(200)
}

/// The drawn times of a calendar.
async fn busy_in(it: &Connecting, connection: &str, place: usize) -> Value {
    it.console.get(drawing_of(connection)).await.expect(200).at(&format!("/calendars/{place}/busy"))
}

#[apply(on_both)]
#[tokio::test]
async fn drawn_times_count_at_once(#[case] database: Database) {
    let it = offering(database).await;
    let link = it.opened().await;
    let made = it.console.post(ROUTE).json(json!({ LINK: link })).await.expect(201);
    let connection = made.id();
    is_id(&made["id"], "con_");
    assert_eq!((&made["provider"], &made["status"]), (&json!("example"), &json!("active")));
    let names: Vec<_> = it.external(&connection).await.iter().map(|known| known["name"].clone()).collect();
    assert_eq!(names, NAMES);
    let empty: Vec<_> = NAMES.map(|name| json!({ "name": name, "busy": [] })).into();
    assert_eq!(it.console.get(drawing_of(&connection)).await.expect(200)["calendars"], json!(empty));

    let audience = json!({ "audience": "selected", "agent_ids": [it.agent], "connection_link_id": link });
    it.grant(&connection, &[0], &audience).await;
    assert_eq!(it.api.get(format!("/v1/connection-links/{link}")).await.expect(200)["status"], "completed");
    it.until_busy(&[]).await;

    draw(&it, &connection, "Work", &[(9 * 60, 10 * 60), (14 * 60, 15 * 60)]).await;
    it.until_busy(&[(9 * 60, 10 * 60), (14 * 60, 15 * 60)]).await;
    // Only the named calendar is replaced, and only the granted one counts.
    draw(&it, &connection, "Private", &[(18 * 60, 19 * 60)]).await;
    assert_eq!(busy_in(&it, &connection, 0).await, drawn(&it, &[(9 * 60, 10 * 60), (14 * 60, 15 * 60)]));
    assert_eq!(busy_in(&it, &connection, 1).await, drawn(&it, &[(18 * 60, 19 * 60)]));
    it.refresh(&connection).await;
    it.until_busy(&[(9 * 60, 10 * 60), (14 * 60, 15 * 60)]).await;

    // Times in any order that overlap or touch become one.
    draw(&it, &connection, "Work", &[(660, 720), (600, 660), (630, 645)]).await;
    it.until_busy(&[(600, 720)]).await;
    assert_eq!(busy_in(&it, &connection, 0).await, drawn(&it, &[(600, 720)]));
    draw(&it, &connection, "Work", &[]).await;
    it.until_busy(&[]).await;
    it.is(&connection, "active").await;
}

/// A drawing can be made, named and deleted as often as one likes.
#[apply(on_both)]
#[tokio::test]
async fn each_drawing_is_a_connection(#[case] database: Database) {
    let it = offering(database).await;
    let connection = connected(&it).await;
    it.grant(&connection, &[0], &it.to_agent()).await;
    draw(&it, &connection, "Work", &[(540, 600)]).await;
    it.until_busy(&[(540, 600)]).await;
    it.console.patch(path_of(&connection)).json(json!({ "label": "Trial" })).await.expect(200);
    draw(&it, &connection, "Work", &[(600, 660)]).await;
    assert_eq!(it.console.get(path_of(&connection)).await.expect(200)["label"], "Trial");
    it.until_busy(&[(600, 660)]).await;

    // While it is paused, one can draw, but it does not count.
    it.console.post(format!("{}/pause", path_of(&connection))).await.expect(200);
    draw(&it, &connection, "Work", &[(720, 780)]).await;
    assert_eq!(it.busy(&it.calendar).await, []);
    it.console.post(format!("{}/resume", path_of(&connection))).await.expect(200);
    it.until_busy(&[(720, 780)]).await;

    it.console.delete(path_of(&connection)).await.expect(204);
    assert_eq!(it.busy(&it.calendar).await, []);
    it.console.get(drawing_of(&connection)).await.refused(404, "not_found").code("calendar_connection_not_found");
    assert_eq!(rows(&it.server, "calendar_connections").await, 0);
}

#[apply(on_both)]
#[tokio::test]
async fn drawings_are_validated(#[case] database: Database) {
    let it = offering(database).await;
    let connection = connected(&it).await;
    draw(&it, &connection, "Work", &[(540, 600)]).await;
    let (start, end) = (iso(it.time(600)), iso(it.time(660)));
    let span = json!({ "start_time": start, "end_time": end });
    let many = vec![span.clone(); DRAWN_MAX + 1];
    for calendars in [
        json!([{ "name": "Holidays", "busy": [] }]),
        json!([{ "name": "", "busy": [] }]),
        json!([{ "name": "Work" }]),
        json!([{ "name": "Work", "busy": [{ "start_time": end, "end_time": start }] }]),
        json!([{ "name": "Work", "busy": [{ "start_time": start, "end_time": start }] }]),
        json!([{ "name": "Work", "busy": [{ "start_time": start }] }]),
        json!([{ "name": "Work", "busy": [{ "start_time": "soon", "end_time": end }] }]),
        json!([{ "name": "Work", "busy": many }]),
        json!([{ "name": "Private", "busy": [span] }, { "name": "Holidays", "busy": [] }]),
        json!("Work"),
    ] {
        let body = json!({ "calendars": calendars });
        let refused = it.console.put(drawing_of(&connection)).json(body).await.refused(400, "validation_error");
        let param = refused.at("/error/param");
        assert!(param.as_str().is_some_and(|param| param.starts_with("calendars")), "{}", refused.describe());
    }
    it.console.put(drawing_of(&connection)).json(json!({})).await.refused(400, "validation_error").param("calendars");
    // A refused request changes nothing.
    assert_eq!(busy_in(&it, &connection, 0).await, drawn(&it, &[(540, 600)]));
    assert_eq!(busy_in(&it, &connection, 1).await, json!([]));

    // As many as allowed, a minute each.
    let start = it.day;
    let minute = |place: i64| {
        let from = start + TimeDelta::minutes(2 * place);
        json!({ "start_time": iso(from), "end_time": iso(from + TimeDelta::minutes(1)) })
    };
    let busy: Vec<Value> = (0..).take(DRAWN_MAX).map(minute).collect();
    let body = json!({ "calendars": [{ "name": "Work", "busy": busy }] });
    it.console.put(drawing_of(&connection)).json(body).await.expect(200);
    assert_eq!(busy_in(&it, &connection, 0).await, json!(busy));
}

#[apply(on_both)]
#[tokio::test]
async fn nobody_else_sees_a_drawing(#[case] database: Database) {
    let receiver = Receiver::start().await;
    let variables = [(SWITCH, "true"), ("KALENDS_EGRESS_ALLOW", receiver.address())];
    let it = Connecting::with(database, &variables).await;
    let hook = json!({ "url": receiver.url("/hook"), "events": ["*"] });
    it.api.post("/v1/webhooks").json(hook).await.expect(201);
    let connection = connected(&it).await;
    let body = json!({ "calendars": [{ "name": "Work", "busy": drawn(&it, &[(543, 597)]) }] });
    let (_, bob) = member(&it.server, &it.console, "bob@example.com", "admin").await;
    bob.get(drawing_of(&connection)).await.refused(404, "not_found").code("calendar_connection_not_found");
    bob.put(drawing_of(&connection)).json(body.clone()).await.refused(404, "not_found");
    let key = it.api.post("/v1/keys").json(json!({ "agent_id": it.agent })).await.expect(201);
    let agent = it.server.client(key["key"].as_str().unwrap());
    for caller in [&it.api, &agent, &it.server.anonymous()] {
        caller.post(ROUTE).json(json!({})).await.expect(401);
        caller.get(drawing_of(&connection)).await.expect(401);
        caller.put(drawing_of(&connection)).json(body.clone()).await.expect(401);
    }
    assert_eq!(busy_in(&it, &connection, 0).await, json!([]));
    // A drawing is no account of another provider.
    let google = it.connect(&it.google, None).await;
    let read = it.console.get(drawing_of(&google)).await;
    assert!((400..500).contains(&read.status), "{}", read.describe());

    // Nothing about it is sent, and its times are sealed.
    it.console.put(drawing_of(&connection)).json(body).await.expect(200);
    event(&it.api, &it.calendar, &iso(it.time(600)), &iso(it.time(660))).await;
    receiver.wait_for_type("/hook", "event.created").await;
    for message in receiver.received("/hook") {
        assert!(!String::from_utf8_lossy(&message.body).contains(&connection), "{message:?}");
    }
    let micros = it.time(543).timestamp_micros().to_string();
    assert!(!holds(&kept(&it.server).await, &micros), "a drawn time is stored in clear");
}

#[apply(on_both)]
#[tokio::test]
async fn drawings_are_off_by_default(#[case] database: Database) {
    for switch in [None, Some("false")] {
        let variables: Vec<_> = switch.into_iter().map(|value| (SWITCH, value)).collect();
        let it = Connecting::with(database, &variables).await;
        it.console.post(ROUTE).json(json!({})).await.refused(404, "not_found").code("provider_not_found");
        let link = it.ask().await;
        let opened = crate::connecting::open(&it.console, &crate::connecting::token(&link)).await.expect(200);
        let offered = opened["providers"].as_array().unwrap();
        assert!(!offered.contains(&json!("example")), "{}", opened.describe());
        assert_eq!(it.console.get(CONNECTIONS).await.expect(200)["total"], 0);
    }
    let it = offering(database).await;
    let link = it.ask().await;
    let opened = crate::connecting::open(&it.console, &crate::connecting::token(&link)).await.expect(200);
    assert!(opened["providers"].as_array().unwrap().contains(&json!("example")), "{}", opened.describe());
}

/// On a public address, anybody could take drawn times for those of an account.
#[apply(on_both)]
#[tokio::test]
async fn drawings_are_refused_on_a_public_address(#[case] database: Database) {
    let server = Server::start(database).await;
    for base in ["https://calendar.example.com", "http://192.168.1.7:8080"] {
        let refused = server.cli_with(&[(SWITCH, "true"), ("KALENDS_BASE_URL", base)], &["serve"]).await.failed();
        assert!(refused.stderr.contains(SWITCH), "{base}: {refused:#?}");
        assert_eq!(refused.stdout, "", "{base}");
    }
    let refused = server.cli_with(&[(SWITCH, "perhaps")], &["config"]).await.failed();
    assert!(refused.stderr.contains(SWITCH), "{refused:#?}");
    for base in ["http://127.0.0.1:8080", "http://localhost:8080", "http://[::1]:8080"] {
        server.cli_with(&[(SWITCH, "true"), ("KALENDS_BASE_URL", base)], &["config"]).await.succeeded();
    }
}
