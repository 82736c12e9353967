//! The audit log's entry for each kind of change, and the log's pages.

use crate::on_both;
use futures::future::join_all;
use kalends_e2e::{Answer, Client, Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    claims::text,
    console::{Human, PASSWORD, cookie},
    fixtures::{agent, agent_with_calendar, calendar_of, event_body, is_time, shared_calendar},
    holds::{hold_body, in_seconds, set_body},
};

const LOG: &str = "/v1/audit-log";

/// A change, and the fields of its audit entry.
struct Done {
    action: &'static str,
    /// The route's template.
    path: &'static str,
    /// The identifier of the changed resource.
    resource: String,
    /// The agent that the change concerns.
    agent: Value,
    /// The answer. It has the request's method and identifier, and the status.
    answer: Answer,
}

impl Done {
    fn new(action: &'static str, path: &'static str, resource: &str, agent: &Value, answer: Answer) -> Self {
        Self { action, path, resource: resource.to_owned(), agent: agent.clone(), answer }
    }
}

/// Requires exactly one complete entry for each change, and no other entries of these actions.
async fn check_entries(api: &Client, prefix: &str, done: &[Done]) {
    for Done { action, path, resource, agent, answer } in done {
        let of_action = api.get(LOG).query(&[("action", *action), ("limit", "200")]).await.expect(200);
        let count = done.iter().filter(|other| other.action == *action).count();
        assert_eq!(of_action.data().len(), count, "{action}: {}", of_action.describe());
        assert_eq!(of_action.column("action"), vec![*action; count]);
        let request = answer.header("x-request-id");
        let found: Vec<_> = of_action.data().into_iter().filter(|entry| entry["request_id"] == request).collect();
        let [entry] = found.as_slice() else { panic!("{action}: {found:#?} for {}", answer.describe()) };
        assert_eq!((&entry["resource"], &entry["agent_id"]), (&json!(resource), agent), "{entry:#}");
        assert_eq!((&entry["path"], &entry["status"]), (&json!(path), &json!(answer.status)), "{entry:#}");
        assert_eq!(entry["method"], answer.request.split(' ').next().unwrap(), "{entry:#}");
        assert_eq!((&entry["actor_key_prefix"], &entry["ip"]), (&json!(prefix), &json!("127.0.0.1")), "{entry:#}");
        let duration = entry["duration_ms"].as_i64().unwrap_or_else(|| panic!("no duration: {entry:#}"));
        assert!((0..60_000).contains(&duration), "{entry:#}");
        is_time(&entry["created_at"]);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn changes_of_calendars_and_events_are_logged(#[case] database: Database) {
    let server = Server::start(database).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let (own, calendar) = agent_with_calendar(&api).await;
    let shared = shared_calendar(&api, "UTC").await;
    let (owner, nobody) = (json!(own), Value::Null);
    let mut done = Vec::new();

    let path = "/v1/calendars/{id}";
    for (id, agent) in [(&calendar, &owner), (&shared, &nobody)] {
        let answer = api.patch(format!("/v1/calendars/{id}")).json(json!({ "name": "Play" })).await.expect(200);
        done.push(Done::new("calendar.update", path, id, agent, answer));
    }
    let answer = api.post(format!("/v1/calendars/{calendar}/ical-token/rotate")).await.expect(200);
    done.push(Done::new("calendar.update", "/v1/calendars/{id}/ical-token/rotate", &calendar, &owner, answer));

    let events = format!("/v1/calendars/{calendar}/events");
    let body = event_body("x", "2031-03-03T09:00:00Z", "2031-03-03T10:00:00Z");
    let mut made = Vec::new();
    for _ in 0..2 {
        let answer = api.post(&events).json(body.clone()).await.expect(201);
        made.push(answer.id());
        done.push(Done::new("event.create", "/v1/calendars/{cal_id}/events", &answer.id(), &owner, answer));
    }
    let batch = json!({ "events": [body, body] });
    let answer = api.post(format!("{events}/batch")).json(batch).await.expect(201);
    done.push(Done::new("event.create", "/v1/calendars/{cal_id}/events/batch", &calendar, &owner, answer));
    let changed = json!({ "title": "y" });
    for (id, at, path) in [
        (&made[0], format!("/v1/events/{}", made[0]), "/v1/events/{id}"),
        (&made[1], format!("{events}/{}", made[1]), "/v1/calendars/{cal_id}/events/{id}"),
    ] {
        let answer = api.patch(&at).json(changed.clone()).await.expect(200);
        done.push(Done::new("event.update", path, id, &owner, answer));
        let answer = api.delete(&at).await.expect(204);
        done.push(Done::new("event.delete", path, id, &owner, answer));
    }

    // A refused request changes nothing and is not logged.
    api.patch(format!("/v1/calendars/{calendar}")).json(json!({ "name": "" })).await.refused(400, "validation_error");
    api.delete(format!("/v1/events/{}", made[0])).await.refused(404, "not_found");
    check_entries(&api, &org.key[..20], &done).await;
}

#[apply(on_both)]
#[tokio::test]
async fn changes_of_holds_rules_and_keys_are_logged(#[case] database: Database) {
    let server = Server::start(database).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let (own, calendar) = agent_with_calendar(&api).await;
    let second = calendar_of(&api, &own).await;
    let shared = shared_calendar(&api, "UTC").await;
    let (owner, nobody) = (json!(own), Value::Null);
    let until = in_seconds(&api, 800).await;
    let mut done = Vec::new();

    let hour = |hour: u32| format!("2031-03-03T{hour:02}:00:00Z");
    let events = format!("/v1/calendars/{calendar}/events");
    for (number, (what, action, path)) in (9..).zip([
        ("confirm", "hold.confirm", "/v1/events/{id}/confirm"),
        ("release", "hold.release", "/v1/events/{id}/release"),
    ]) {
        let body = hold_body(&hour(number), &hour(number + 1), &until, 0);
        let answer = api.post(&events).json(body).await.expect(201);
        let id = answer.id();
        done.push(Done::new("event.create", "/v1/calendars/{cal_id}/events", &id, &owner, answer));
        let answer = api.put(format!("/v1/events/{id}/{what}")).await.expect(200);
        done.push(Done::new(action, path, &id, &owner, answer));
    }
    // The entry of a hold set names the agent if all calendars belong to it. Otherwise it names none.
    for (number, (calendars, agent, what, action, path)) in (12..).zip([
        ([&calendar, &second], &owner, "confirm", "hold.confirm", "/v1/hold-sets/{id}/confirm"),
        ([&calendar, &shared], &nobody, "release", "hold.release", "/v1/hold-sets/{id}/release"),
    ]) {
        let body = set_body(&calendars.map(String::as_str), &hour(number), &hour(number + 1), &until);
        let answer = api.post("/v1/hold-sets").json(body).await.expect(201);
        let id = answer.id();
        assert!(id.starts_with("hst_"), "{id}");
        done.push(Done::new("hold_set.create", "/v1/hold-sets", &id, agent, answer));
        let answer = api.put(format!("/v1/hold-sets/{id}/{what}")).await.expect(200);
        done.push(Done::new(action, path, &id, agent, answer));
    }

    let (rules, path) = (format!("/v1/calendars/{second}/availability-rules"), "/v1/calendars/{id}/availability-rules");
    let mut rows = Vec::new();
    for minutes in [5, 10] {
        let answer = api.put(&rules).json(json!({ "buffer_before_minutes": minutes })).await.expect(200);
        rows.push(answer.id());
        done.push(Done::new("availability_rules.update", path, &answer.id(), &owner, answer));
    }
    assert!(rows[0].starts_with("avr_") && rows[0] == rows[1], "{rows:?}");
    let answer = api.delete(&rules).await.expect(204);
    done.push(Done::new("availability_rules.delete", path, &rows[0], &owner, answer));

    let answer = api.post("/v1/keys").json(json!({ "agent_id": own })).await.expect(201);
    let (id, scoped) = (answer.id(), text(&answer["key"]));
    let answer = api.delete(format!("/v1/keys/{id}")).await.expect(204);
    done.push(Done::new("key.delete", "/v1/keys/{id}", &id, &owner, answer));
    check_entries(&api, &org.key[..20], &done).await;
    assert!(!api.get(format!("{LOG}?limit=200")).await.expect(200).text().contains(&scoped));
}

#[apply(on_both)]
#[tokio::test]
async fn changes_of_subscriptions_are_logged(#[case] database: Database) {
    let server = Server::start(database).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let (own, calendar) = agent_with_calendar(&api).await;
    let owner = json!(own);
    let mut done = Vec::new();
    let body = json!({ "calendar_id": calendar, "url": "https://kalends.invalid/secret-feed.ics" });
    let answer = api.post(format!("/v1/agents/{own}/ical-subscriptions")).json(body).await.expect(201);
    let id = answer.id();
    let path = "/v1/agents/{agent_id}/ical-subscriptions";
    done.push(Done::new("ical_subscription.create", path, &id, &owner, answer));
    let at = format!("/v1/ical-subscriptions/{id}");
    let answer = api.patch(&at).json(json!({ "label": "Work" })).await.expect(200);
    done.push(Done::new("ical_subscription.update", "/v1/ical-subscriptions/{id}", &id, &owner, answer));
    let answer = api.post(format!("{at}/sync")).await.expect(202);
    done.push(Done::new("ical_subscription.update", "/v1/ical-subscriptions/{id}/sync", &id, &owner, answer));
    api.patch(&at).json(json!({ "url": "https://localhost/" })).await.refused(422, "validation_error");
    let answer = api.delete(&at).await.expect(204);
    done.push(Done::new("ical_subscription.delete", "/v1/ical-subscriptions/{id}", &id, &owner, answer));
    check_entries(&api, &org.key[..20], &done).await;
    assert!(!api.get(format!("{LOG}?limit=200")).await.expect(200).text().contains("secret-feed"));
}

#[apply(on_both)]
#[tokio::test]
async fn changes_of_a_user_s_account_are_logged(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let session = server.client(&ada.token);
    let mut done = Vec::new();
    let mut note = |action, path, answer| done.push(Done::new(action, path, &ada.user, &Value::Null, answer));

    note(
        "user.update",
        "/v1/auth/me",
        session.patch("/v1/auth/me").json(json!({ "name": "Countess" })).await.expect(200),
    );
    let change = json!({ "current_password": PASSWORD, "new_password": "another password" });
    let changed = session.post("/v1/auth/password").json(change).await.expect(204);
    let fresh = cookie(&changed).0;
    note("user.update", "/v1/auth/password", changed);
    note("auth.signout", "/v1/auth/signout", server.client(&fresh).post("/v1/auth/signout").await.expect(204));
    let entering = json!({ "email": ada.email, "password": "another password" });
    let entered = server.anonymous().post("/v1/auth/signin").json(entering).await.expect(200);
    note("auth.signin", "/v1/auth/signin", entered);
    check_entries(&server.client(&ada.key), &ada.user[..20], &done).await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_page_of_the_log_has_50_entries_by_default_and_at_most_200(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "custom").await;
    // With the entry for the organization's key, this is one more than a full page.
    for _ in 0..4 {
        join_all((0..50).map(|_| agent(&api))).await;
    }
    let page = async |query: &str| api.get(format!("{LOG}{query}")).await.expect(200);
    let usual = page("").await;
    assert_eq!(usual.data().len(), 50);
    assert_eq!(page("?limit=50").await.column("id"), usual.column("id"));
    let most = page("?limit=200").await;
    assert_eq!((most.data().len(), &most.column("id")[..50]), (200, usual.column("id").as_slice()));
    assert_eq!(most.column("action"), vec!["agent.create"; 200]);

    // Each cursor continues where its page ended, until the end.
    let next = |answer: &Answer| answer.at("/pagination/next_cursor").as_str().unwrap().to_owned();
    let second = page(&format!("?cursor={}", next(&usual))).await;
    assert_eq!(second.column("id"), most.column("id")[50..100]);
    let last = page(&format!("?limit=200&cursor={}", next(&most))).await;
    assert_eq!(
        (last.column("action"), last.at("/pagination/next_cursor")),
        (vec!["key.create".to_owned()], Value::Null)
    );
    for limit in ["0", "201"] {
        api.get(format!("{LOG}?limit={limit}")).await.refused(400, "validation_error").param("limit");
    }
}
