//! Deliveries as callers see them: the list, retries, tests and the quota.

use crate::on_both;
use std::time::Duration;

use kalends_e2e::{Answer, Behaviour, Client, Database, Receiver, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    fixtures::{agent, has_exactly, is_id, is_time, measured},
    webhooks::{hook, signed_by, with_receiver},
};

const FIELDS: [&str; 8] =
    ["id", "event_type", "status", "attempts", "last_attempt_at", "next_retry_at", "response_status", "created_at"];
/// The longest wait for an expected delivery on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Lists the deliveries of an endpoint until `will_do` accepts them.
pub(crate) async fn deliveries(api: &Client, webhook: &str, will_do: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    let began = tokio::time::Instant::now();
    loop {
        let listed = api.get(format!("/v1/webhooks/{webhook}/deliveries?limit=200")).await.expect(200);
        if will_do(&listed.data()) {
            return listed.data();
        }
        assert!(began.elapsed() < PATIENCE, "{}", listed.describe());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Whether there are this many deliveries, all with this status.
pub(crate) fn all_are(count: usize, status: &str) -> impl Fn(&[Value]) -> bool {
    move |deliveries| deliveries.len() == count && deliveries.iter().all(|delivery| delivery["status"] == status)
}

async fn retry(api: &Client, webhook: &str, delivery: &str) -> Answer {
    api.post(format!("/v1/webhooks/{webhook}/deliveries/{delivery}/retry")).await
}

#[apply(on_both)]
#[tokio::test]
async fn deliveries_are_listed(#[case] database: Database) {
    let (_server, api, receiver) = with_receiver(database, "pro").await;
    let webhook = hook(&api, &receiver, "/", &["agent.created"]).await.id();
    receiver.next("/", &[Behaviour::Answer(200), Behaviour::Answer(500)]);
    let first = api.post("/v1/agents").json(json!({ "name": "Ada", "type": "ai" })).await.expect(201);
    deliveries(&api, &webhook, all_are(1, "delivered")).await;
    agent(&api).await;
    let listed = deliveries(&api, &webhook, |all| all.len() == 2 && all[1]["attempts"] == 1).await;
    for delivery in &listed {
        has_exactly(delivery, &FIELDS);
        is_id(&delivery["id"], "whd_");
        is_time(&delivery["created_at"]);
        is_time(&delivery["last_attempt_at"]);
        assert_eq!((&delivery["event_type"], &delivery["attempts"]), (&json!("agent.created"), &json!(1)));
    }
    assert_eq!((&listed[0]["response_status"], &listed[0]["next_retry_at"]), (&json!(200), &Value::Null));
    assert_eq!((&listed[1]["response_status"], &listed[1]["status"]), (&json!(500), &json!("pending")));
    is_time(&listed[1]["next_retry_at"]);

    let path = format!("/v1/webhooks/{webhook}/deliveries");
    let delivered = api.get(format!("{path}?status=delivered&include_payload=true")).await.expect(200);
    assert_eq!((&delivered["total"], &delivered["limit"], &delivered["offset"]), (&json!(1), &json!(20), &json!(0)));
    assert_eq!(delivered["stats"], json!({ "pending": 1, "delivered": 1, "failed": 0, "skipped": 0 }));
    assert_eq!(delivered.data()[0]["payload"], first.json);
    assert_eq!(api.get(format!("{path}?limit=1&offset=1")).await.expect(200).data(), listed[1..]);
    api.get(format!("{path}?status=lost")).await.refused(400, "validation_error").param("status");
    api.get(format!("{path}?limit=201")).await.refused(400, "validation_error").param("limit");
    api.get("/v1/webhooks/whk_nobody/deliveries").await.refused(404, "not_found").code("webhook_not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn a_delivery_is_retried_on_request(#[case] database: Database) {
    let (_server, api, receiver) = with_receiver(database, "pro").await;
    let made = hook(&api, &receiver, "/", &["agent.created"]).await;
    let webhook = made.id();
    receiver.next("/", &[Behaviour::Answer(500)]);
    agent(&api).await;
    let pending = deliveries(&api, &webhook, |all| all.len() == 1 && all[0]["attempts"] == 1).await.remove(0);
    let id = pending["id"].as_str().unwrap();
    // A waiting delivery is sent at once.
    let again = retry(&api, &webhook, id).await.expect(200);
    assert_eq!((&again["id"], &again["status"]), (&pending["id"], &json!("pending")));
    let delivered = deliveries(&api, &webhook, all_are(1, "delivered")).await.remove(0);
    assert_eq!(delivered["attempts"], 2);
    // A delivered message is sent again.
    retry(&api, &webhook, id).await.expect(200);
    deliveries(&api, &webhook, |all| all[0]["attempts"] == 3 && all[0]["status"] == "delivered").await;
    let received = receiver.wait_for("/", 3).await;
    for attempt in &received {
        assert_eq!(attempt.header("x-delivery-id"), id, "every attempt has the same identifier");
        assert_eq!(attempt.body, received[0].body);
        assert_eq!(signed_by(attempt, made["secret"].as_str().unwrap()), (true, true));
    }
    retry(&api, &webhook, "whd_nobody").await.refused(404, "not_found").code("delivery_not_found");
    retry(&api, "whk_nobody", id).await.refused(404, "not_found").code("webhook_not_found");

    // A delivery in flight is not sent a second time.
    receiver.next("/", &[Behaviour::Hang]);
    retry(&api, &webhook, id).await.expect(200);
    receiver.wait_for("/", 4).await;
    retry(&api, &webhook, id).await.refused(409, "conflict").code("delivery_in_flight");
    api.patch(format!("/v1/webhooks/{webhook}")).json(json!({ "active": false })).await.expect(200);
    retry(&api, &webhook, id).await.refused(409, "conflict").code("webhook_inactive");
}

#[apply(on_both)]
#[tokio::test]
async fn an_endpoint_is_tested(#[case] database: Database) {
    let (_server, api, receiver) = with_receiver(database, "pro").await;
    let made = hook(&api, &receiver, "/", &["agent.created"]).await;
    let path = format!("/v1/webhooks/{}", made.id());
    let read = api.get(&path).await.expect(200);
    let tested = api.post(format!("{path}/test")).header("idempotency-key", "k").await.expect(200);
    has_exactly(&tested.json, &["delivery", "duration_ms", "error"]);
    assert_eq!((&tested["delivery"]["status"], &tested["error"]), (&json!("delivered"), &Value::Null));
    assert_eq!(tested["delivery"]["event_type"], "webhook.test");
    let received = receiver.wait_for("/", 1).await.remove(0);
    assert_eq!((received.event_type(), received.json()), ("webhook.test", read.json));
    assert_eq!(signed_by(&received, made["secret"].as_str().unwrap()), (true, true));
    let again = api.post(format!("{path}/test")).header("idempotency-key", "k").await.expect(200);
    assert_eq!((again.json, again.headers["idempotency-replayed"].to_str().unwrap()), (tested.json.clone(), "true"));

    receiver.next("/", &[Behaviour::Redirect("/elsewhere".to_owned())]);
    let redirected = api.post(format!("{path}/test")).await.expect(200);
    assert_eq!(
        (&redirected["delivery"]["status"], &redirected["delivery"]["response_status"]),
        (&json!("failed"), &json!(307))
    );
    assert_eq!((receiver.received("/").len(), receiver.received("/elsewhere").len()), (2, 0));
    // An inactive endpoint, and one that cannot be reached.
    api.patch(&path).json(json!({ "active": false })).await.expect(200);
    assert_eq!(api.post(format!("{path}/test")).await.expect(200)["delivery"]["status"], "delivered");
    let body = json!({ "url": "https://kalends.invalid/", "events": ["*"] });
    let nowhere = api.post("/v1/webhooks").json(body).await.expect(201).id();
    let unreached = api.post(format!("/v1/webhooks/{nowhere}/test")).await.expect(200);
    assert_eq!(
        (&unreached["delivery"]["status"], &unreached["delivery"]["response_status"]),
        (&json!("failed"), &Value::Null)
    );
    assert!(unreached["error"].is_string(), "{}", unreached.describe());

    let listed = deliveries(&api, &made.id(), |all| all.len() == 3).await;
    assert_eq!(listed[0], tested["delivery"], "tests are stored as deliveries");
    assert_eq!(api.get("/v1/usage").await.expect(200)["webhook_deliveries"]["used"], 4, "and counted");
}

#[apply(on_both)]
#[tokio::test]
async fn deliveries_over_the_quota_are_skipped(#[case] database: Database) {
    let receiver = Receiver::start().await;
    let server = Server::start_with(database, &[("KALENDS_EGRESS_ALLOW", receiver.address())]).await;
    let org = server.org_with("pro", &["--limits", r#"{"webhook_deliveries":2}"#]).await;
    let api = server.api(&org);
    let webhook = hook(&api, &receiver, "/", &["agent.created"]).await.id();
    for _ in 0..3 {
        agent(&api).await;
    }
    let listed =
        deliveries(&api, &webhook, |all| all.len() == 3 && all.iter().all(|delivery| delivery["status"] != "pending"))
            .await;
    let skipped: Vec<_> = listed.iter().filter(|delivery| delivery["status"] == "skipped").collect();
    assert_eq!(skipped.len(), 1);
    assert_eq!((&skipped[0]["attempts"], &skipped[0]["last_attempt_at"]), (&json!(0), &Value::Null));
    assert_eq!(receiver.received("/").len(), 2);
    assert_eq!(api.get("/v1/usage").await.expect(200)["webhook_deliveries"], json!({ "used": 2, "limit": 2 }));
    let id = skipped[0]["id"].as_str().unwrap().to_owned();
    retry(&api, &webhook, &id).await.refused(429, "quota_exceeded");
    api.post(format!("/v1/webhooks/{webhook}/test")).await.refused(429, "quota_exceeded");
    assert_eq!(receiver.received("/").len(), 2);

    // With a larger quota it is sent on request, and then charged.
    let limits = r#"{"webhook_deliveries":3,"rate_per_second":1000000}"#;
    server.cli(&["org", "set-plan", &org.id, "pro", "--limits", limits]).await.succeeded();
    crate::fixtures::wait_until(
        || async { api.get("/v1/usage").await },
        |usage| usage["webhook_deliveries"]["limit"] == 3,
    )
    .await;
    retry(&api, &webhook, &id).await.expect(200);
    receiver.wait_for("/", 3).await;
    deliveries(&api, &webhook, all_are(3, "delivered")).await;
    assert_eq!(api.get("/v1/usage").await.expect(200)["webhook_deliveries"], json!({ "used": 3, "limit": 3 }));
}

/// The metrics that an operator sees.
#[apply(on_both)]
#[tokio::test]
async fn metrics_count_deliveries(#[case] database: Database) {
    let receiver = Receiver::start().await;
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let variables = [("KALENDS_EGRESS_ALLOW", receiver.address()), ("KALENDS_METRICS_LISTEN", &*free)];
    let server = Server::start_with(database, &variables).await;
    let api = server.api(&server.org("pro").await);
    let takes = hook(&api, &receiver, "/", &["agent.created"]).await.id();
    let gone = hook(&api, &receiver, "/gone", &["agent.created"]).await.id();
    receiver.always("/gone", Behaviour::Answer(410));
    agent(&api).await;
    deliveries(&api, &takes, all_are(1, "delivered")).await;
    deliveries(&api, &gone, all_are(1, "failed")).await;
    let lines = [
        r#"kalends_webhook_attempts_total{outcome="accepted"} 1"#,
        r#"kalends_webhook_attempts_total{outcome="gone"} 1"#,
        r#"kalends_webhook_deactivated_total{reason="gone"} 1"#,
        "kalends_webhook_attempt_seconds_count 2",
        "kalends_webhook_messages_total ",
        "kalends_webhook_skipped_total 0",
        "kalends_webhook_messages_waiting ",
        "kalends_webhook_deliveries_pending ",
        "kalends_webhook_oldest_due_seconds ",
    ];
    measured(&free, &lines).await;
}
