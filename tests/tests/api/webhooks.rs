//! Webhook endpoints: who may create them, what they receive, and how it is signed.

use crate::on_both;
use std::collections::BTreeSet;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use kalends_e2e::{Answer, Client, Database, Database::Sqlite, Received, Receiver, Server, shifted};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};
use sha2::Sha256;

use crate::console::Human;
use crate::fixtures::{agent, agent_with_calendar, calendar_of, event_body, has_exactly, is_id, is_time, now};

/// A service that may reach a receiver, a client of one organization, and the receiver.
pub(crate) async fn with_receiver(database: Database, plan: &str) -> (Server, Client, Receiver) {
    let receiver = Receiver::start().await;
    let server = Server::start_with(database, &[("KALENDS_EGRESS_ALLOW", receiver.address())]).await;
    let org = server.org(plan).await;
    let api = server.api(&org);
    (server, api, receiver)
}

/// A new endpoint at a path of the receiver.
pub(crate) async fn hook(api: &Client, receiver: &Receiver, path: &str, events: &[&str]) -> Answer {
    api.post("/v1/webhooks").json(json!({ "url": receiver.url(path), "events": events })).await.expect(201)
}

const FIELDS: [&str; 7] = ["id", "url", "events", "active", "deactivated_reason", "created_at", "updated_at"];

#[apply(on_both)]
#[tokio::test]
async fn endpoints_are_created_read_changed_and_deleted(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let body =
        json!({ "url": "https://Example.com/hook?token=a#x", "events": ["event.created", "event.created", "*"] });
    let made = api.post("/v1/webhooks").json(body).await.expect(201);
    has_exactly(&made.json, &[&FIELDS[..], &["secret"]].concat());
    is_id(&made["id"], "whk_");
    is_time(&made["created_at"]);
    let secret = made["secret"].as_str().unwrap().strip_prefix("whsec_").unwrap();
    assert_eq!(BASE64_STANDARD.decode(secret).unwrap().len(), 32);
    assert_eq!(made["url"], "https://example.com/hook?token=a");
    assert_eq!((&made["events"], &made["active"]), (&json!(["*"]), &json!(true)));

    let path = format!("/v1/webhooks/{}", made.id());
    let read = api.get(&path).await.expect(200);
    has_exactly(&read.json, &FIELDS);
    for field in FIELDS {
        assert_eq!(read[field], made[field], "{field}");
    }
    let listed = api.get("/v1/webhooks").await.expect(200);
    assert_eq!((listed.data(), &listed["total"], &listed["limit"]), (vec![read.json.clone()], &json!(1), &json!(20)));

    let patched = api.patch(&path).json(json!({ "events": ["agent.created"], "active": false })).await.expect(200);
    assert_eq!((&patched["events"], &patched["active"]), (&json!(["agent.created"]), &json!(false)));
    assert_eq!((&patched["url"], patched.at("/secret")), (&read["url"], Value::Null));
    let stale = api.patch(&path).header("if-match", read.header("etag")).json(json!({ "active": true }));
    stale.await.refused(412, "conflict").code("stale");

    api.delete(&path).await.expect(204);
    api.get(&path).await.refused(404, "not_found").code("webhook_not_found");
    api.delete(&path).await.refused(404, "not_found");
    assert_eq!(api.get("/v1/webhooks").await.expect(200)["total"], 0);
    let audited = api.get("/v1/audit-log").await.expect(200).column("action");
    let audited: Vec<_> = audited.iter().filter(|action| action.starts_with("webhook.")).collect();
    assert_eq!(audited, ["webhook.delete", "webhook.update", "webhook.create"]);
}

#[rstest]
#[case(json!({}), "url")]
#[case(json!({ "url": "https://example.com/" }), "events")]
#[case(json!({ "url": "https://example.com/", "events": [] }), "events")]
#[case(json!({ "url": "https://example.com/", "events": ["event.create"] }), "events[0]")]
#[case(json!({ "url": "https://example.com/", "events": ["webhook.test"] }), "events[0]")]
#[case(json!({ "url": "http://example.com/", "events": ["*"] }), "url")]
#[case(json!({ "url": "https://user:word@example.com/", "events": ["*"] }), "url")]
#[case(json!({ "url": "https://localhost/", "events": ["*"] }), "url")]
#[case(json!({ "url": "https://10.0.0.1/", "events": ["*"] }), "url")]
#[case(json!({ "url": "https://[::ffff:127.0.0.1]/", "events": ["*"] }), "url")]
#[case(json!({ "url": "ftp://example.com/", "events": ["*"] }), "url")]
#[case(json!({ "url": "https://example.com/", "events": ["*"], "secret": "mine" }), "secret")]
#[tokio::test]
async fn bad_endpoints_are_refused_by_field(#[case] body: Value, #[case] param: &str) {
    let (_server, api) = Server::with_org(Sqlite, "pro").await;
    api.post("/v1/webhooks").json(body).await.refused(400, "validation_error").param(param);
    assert_eq!(api.get("/v1/webhooks").await.expect(200)["total"], 0);
}

#[apply(on_both)]
#[tokio::test]
async fn the_plan_limits_endpoints(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "free").await;
    let make =
        || async { api.post("/v1/webhooks").json(json!({ "url": "https://example.com/", "events": ["*"] })).await };
    let first = make().await.expect(201);
    for _ in 0..2 {
        make().await.expect(201);
    }
    make().await.refused(429, "quota_exceeded");
    assert_eq!(api.get("/v1/usage").await.expect(200)["webhook_endpoints"], json!({ "used": 3, "limit": 3 }));
    api.delete(format!("/v1/webhooks/{}", first.id())).await.expect(204);
    make().await.expect(201);
}

/// HMAC-SHA256.
fn mac(key: &[u8], text: &[&[u8]]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    for part in text {
        mac.update(part);
    }
    mac.finalize().into_bytes().to_vec()
}

/// Whether each signature of a delivery was made with this secret: (plain, standard). The plain one must be the whole
/// header.
pub(crate) fn signed_by(received: &Received, secret: &str) -> (bool, bool) {
    let (plain, standard) = signatures(received, secret);
    let listed = received.header("webhook-signature").split(' ').any(|signature| signature == standard);
    (received.header("x-signature") == plain, listed)
}

/// The signatures of a delivery with this secret: (plain, standard).
fn signatures(received: &Received, secret: &str) -> (String, String) {
    let (id, timestamp) = (received.header("webhook-id"), received.header("webhook-timestamp"));
    assert_eq!((received.header("x-delivery-id"), received.header("x-timestamp")), (id, timestamp));
    let plain = mac(secret.as_bytes(), &[timestamp.as_bytes(), b".", &received.body]);
    let plain = format!("sha256={}", plain.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    let key = BASE64_STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    let standard = mac(&key, &[id.as_bytes(), b".", timestamp.as_bytes(), b".", &received.body]);
    (plain, format!("v1,{}", BASE64_STANDARD.encode(standard)))
}

/// Every event type that a request causes, with the payload that the API shows.
#[apply(on_both)]
#[tokio::test]
async fn every_event_type_of_a_request_arrives(#[case] database: Database) {
    let (server, api, receiver) = with_receiver(database, "pro").await;
    let secret = hook(&api, &receiver, "/all?a=1", &["*"]).await["secret"].as_str().unwrap().to_owned();
    hook(&api, &receiver, "/agents", &["agent.created"]).await;
    let arrives = async |event_type: &str, expected: &Value| {
        let received = receiver.wait_for_type("/all?a=1", event_type).await;
        assert_eq!(&received.json(), expected, "{event_type}");
        assert_eq!(signed_by(&received, &secret), (true, true), "{event_type}");
        received
    };

    let made = api.post("/v1/agents").json(json!({ "name": "Ada", "type": "ai" })).await.expect(201);
    let received = arrives("agent.created", &made.json).await;
    assert_eq!(received.header("content-type"), "application/json");
    assert_eq!(received.header("user-agent"), concat!("Kalends/", env!("CARGO_PKG_VERSION")));
    assert_eq!(received.header("x-resource-version"), "1");
    assert!(received.header("x-delivery-id").starts_with("whd_"));
    let path = format!("/v1/agents/{}", made.id());
    let changed = api.patch(&path).json(json!({ "name": "Bea" })).await.expect(200);
    assert_eq!(arrives("agent.updated", &changed.json).await.header("x-resource-version"), "2");

    let calendar = calendar_of(&api, &made.id()).await;
    let events = format!("/v1/calendars/{calendar}/events");
    let body = event_body("Kick-off", "2031-05-04T09:00:00Z", "2031-05-04T10:00:00Z");
    let mut event = api.post(&events).json(body).await.expect(201).json;
    let at = |event: &Value| format!("/v1/events/{}", event["id"].as_str().unwrap());
    // The payload is the event without the state of its publication.
    event.as_object_mut().unwrap().remove("external_sync");
    arrives("event.created", &event).await;
    api.patch(at(&event)).json(json!({ "title": "Start" })).await.expect(200);
    let event = api.get(at(&event)).await.expect(200).json;
    arrives("event.updated", &event).await;
    api.delete(at(&event)).await.expect(204);
    let gone = receiver.wait_for_type("/all?a=1", "event.deleted").await.json();
    assert_eq!((&gone["id"], gone["deletedAt"].is_string()), (&event["id"], true));

    let expires = shifted(&now(&api).await, 10);
    let hold = async |day: u32, priority: u32| {
        let body = json!({
            "title": "Maybe", "start_time": format!("2031-06-{day:02}T09:00:00Z"), "hold_priority": priority,
            "end_time": format!("2031-06-{day:02}T10:00:00Z"), "hold_expires_at": expires
        });
        api.post(&events).json(body).await.expect(201).json
    };
    let (first, second, weak) = (hold(1, 0).await, hold(2, 0).await, hold(3, 0).await);
    let created = receiver.wait_for_type("/all?a=1", "event.hold_created").await.json();
    assert_eq!((&created["title"], &created["status"]), (&json!("Maybe"), &json!("hold")));
    api.put(format!("{}/confirm", at(&first))).await.expect(200);
    let event_now = api.get(at(&first)).await.expect(200).json;
    arrives("event.hold_confirmed", &event_now).await;
    api.put(format!("{}/release", at(&second))).await.expect(200);
    let event_now = api.get(at(&second)).await.expect(200).json;
    arrives("event.hold_released", &event_now).await;
    hold(3, 7).await;
    let preempted = receiver.wait_for_type("/all?a=1", "event.hold_expired").await.json();
    assert_eq!((&preempted["id"], &preempted["reason"]), (&weak["id"], &json!("preempted")));

    // The message about the hold that pre-empted it can arrive after this one.
    let all = receiver.wait_for("/all?a=1", 12).await.len();
    let types: Vec<_> = receiver.received("/agents").iter().map(|received| received.event_type().to_owned()).collect();
    assert_eq!(types, ["agent.created"], "an endpoint receives only the types that it asked for");
    let usage = api.get("/v1/usage").await.expect(200);
    assert_eq!(usage["webhook_deliveries"]["used"], all + 1);
    assert!(!server.log().contains("whsec_"));
}

/// Event types that time causes also arrive, each with the payload that the API shows at that time.
#[apply(on_both)]
#[tokio::test]
async fn every_event_type_of_a_timer_arrives(#[case] database: Database) {
    let (mut server, mut api, receiver) = with_receiver(database, "pro").await;
    hook(&api, &receiver, "/", &["event.reminder", "event.started", "event.ended", "event.hold_expired"]).await;
    let calendar = calendar_of(&api, &agent(&api).await).await;
    let events = format!("/v1/calendars/{calendar}/events");
    let began = now(&api).await;
    let time = |minutes: i64| shifted(&began, minutes);
    let add = async |more: Value| {
        let mut body = json!({ "title": "Review", "description": "Bring notes", "metadata": { "room": 7 } });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        api.post(&events).json(body).await.expect(201).id()
    };
    let hold = add(json!({ "start_time": time(600), "end_time": time(630), "hold_expires_at": time(5) })).await;
    let once = add(json!({ "start_time": time(20), "end_time": time(25), "reminders": [14] })).await;
    let series = add(json!({
        "start_time": time(40), "end_time": time(45), "reminders": [3], "recurrence_rule": "FREQ=DAILY;COUNT=2"
    }))
    .await;

    // Each step: minutes after the beginning, the expected type, and its event.
    let steps = [
        (8, "event.hold_expired", &hold),
        (8, "event.reminder", &once),
        (22, "event.started", &once),
        (27, "event.ended", &once),
        (38, "event.reminder", &series),
        (42, "event.started", &series),
        (47, "event.ended", &series),
    ];
    for (minutes, event_type, event) in steps {
        server.restart_at_offset(minutes * 60).await;
        api = api.moved_to(server.base_url());
        let message = receiver.wait_for_one("/", event_type, |received| {
            let id = if event == &series { "recurringEventId" } else { "id" };
            received.event_type() == event_type && received.json()[id] == **event
        });
        let message = message.await.json();
        let mut expected = if event == &series {
            let window = format!("start_after={}&start_before={}", time(0), time(600));
            api.get(format!("{events}?expand=true&{window}")).await.expect(200).data().pop().unwrap()
        } else {
            api.get(format!("/v1/events/{event}")).await.expect(200).json
        };
        if event == &hold {
            expected["reason"] = json!("expired");
        }
        assert_eq!(message, expected, "{event_type} after {minutes} minutes");
    }
    let received = receiver.received("/");
    let deliveries: BTreeSet<_> = received.iter().map(|received| received.header("x-delivery-id")).collect();
    assert_eq!(deliveries.len(), steps.len(), "each message once");
}

#[apply(on_both)]
#[tokio::test]
async fn both_secrets_sign_after_a_rotation(#[case] database: Database) {
    let (mut server, api, receiver) = with_receiver(database, "pro").await;
    let made = hook(&api, &receiver, "/", &["agent.created"]).await;
    let old = made["secret"].as_str().unwrap().to_owned();
    agent(&api).await;
    assert_eq!(signed_by(&receiver.wait_for("/", 1).await[0], &old), (true, true));
    let path = format!("/v1/webhooks/{}/rotate-secret", made.id());
    let rotated = api.post(&path).await.expect(200);
    has_exactly(&rotated.json, &["id", "secret", "previous_secret_expires_at"]);
    let new = rotated["secret"].as_str().unwrap().to_owned();
    assert_ne!(new, old);
    agent(&api).await;
    let received = receiver.wait_for("/", 2).await.remove(1);
    assert_eq!((signed_by(&received, &new), signed_by(&received, &old)), ((true, true), (false, true)));
    assert_eq!(received.header("x-signature-previous"), signatures(&received, &old).0);

    // A day later only the new secret signs.
    server.restart_at_offset(24 * 3_600).await;
    let later = api.moved_to(server.base_url());
    agent(&later).await;
    let received = receiver.wait_for("/", 3).await.remove(2);
    assert_eq!((signed_by(&received, &new), signed_by(&received, &old)), ((true, true), (false, false)));
    assert!(!received.headers.contains_key("x-signature-previous"));
}

/// The export contains the secret, which is otherwise shown only once.
#[apply(on_both)]
#[tokio::test]
async fn an_export_contains_the_secrets(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let url = "https://kalends.invalid/hook?token=a";
    let body = json!({ "url": url, "events": ["agent.created"] });
    let made = server.client(&ada.key).post("/v1/webhooks").json(body).await.expect(201);
    let export = server.client(&ada.token).get("/v1/auth/export").await.expect(200);
    assert_eq!(export.at("/webhook_subscriptions/0/secret"), made["secret"]);
    assert_eq!(export.at("/webhook_subscriptions/0/url"), url);
}

/// Agents' keys are refused.
#[tokio::test]
async fn agents_keys_are_refused() {
    let (server, api, receiver) = with_receiver(Sqlite, "pro").await;
    let made = hook(&api, &receiver, "/", &["*"]).await;
    let (agent, _) = agent_with_calendar(&api).await;
    let key = api.post("/v1/keys").json(json!({ "agent_id": agent })).await.expect(201)["key"].clone();
    let scoped = server.client(key.as_str().unwrap());
    let path = format!("/v1/webhooks/{}", made.id());
    for answer in [
        scoped.get("/v1/webhooks").await,
        scoped.get(&path).await,
        scoped.delete(&path).await,
        scoped.post(format!("{path}/test")).await,
        scoped.get(format!("{path}/deliveries")).await,
    ] {
        answer.refused(403, "forbidden");
    }
}
