//! Receivers that fail: retries, hanging and slow receivers, 410, five days of failures, pauses and crashes.

use crate::on_both;
use std::{collections::BTreeSet, time::Duration};

use kalends_e2e::{Behaviour, Client, Database, Database::Postgres, Receiver, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    fixtures::agent,
    webhook_deliveries::{all_are, deliveries},
    webhooks::{hook, with_receiver},
};

/// Like [`with_receiver`], for an organization with a mail address.
async fn with_owner(database: Database) -> (Server, Client, Receiver) {
    let receiver = Receiver::start().await;
    let server = Server::start_with(database, &[("KALENDS_EGRESS_ALLOW", receiver.address())]).await;
    let org = server.org_with("pro", &["--email", "owner@example.com"]).await;
    let api = server.api(&org);
    (server, api, receiver)
}

#[apply(on_both)]
#[tokio::test]
async fn failed_deliveries_are_retried_on_schedule(#[case] database: Database) {
    let (mut server, api, receiver) = with_receiver(database, "pro").await;
    let webhook = hook(&api, &receiver, "/", &["agent.created"]).await.id();
    receiver.next("/", &[Behaviour::Answer(503), Behaviour::Answer(500)]);
    agent(&api).await;
    // The first retry comes by itself after five seconds.
    let pending = deliveries(&api, &webhook, |all| all.len() == 1 && all[0]["attempts"] == 1).await.remove(0);
    let wait = kalends_e2e::at(pending["next_retry_at"].as_str().unwrap())
        - kalends_e2e::at(pending["last_attempt_at"].as_str().unwrap());
    assert!((4_000..=6_000).contains(&wait.num_milliseconds()), "5 s, plus or minus a fifth: {wait}");
    let pending = deliveries(&api, &webhook, |all| all[0]["attempts"] == 2).await.remove(0);
    let wait = kalends_e2e::at(pending["next_retry_at"].as_str().unwrap())
        - kalends_e2e::at(pending["last_attempt_at"].as_str().unwrap());
    assert!((240..=360).contains(&wait.num_seconds()), "5 min, plus or minus a fifth: {wait}");
    // The second retry comes after five minutes on the service's clock.
    server.restart_at_offset(6 * 60).await;
    let api = api.moved_to(server.base_url());
    let delivered = deliveries(&api, &webhook, all_are(1, "delivered")).await.remove(0);
    assert_eq!((&delivered["id"], &delivered["attempts"]), (&pending["id"], &json!(3)));
    let received = receiver.received("/");
    assert_eq!(received.len(), 3);
    for attempt in &received {
        assert_eq!(
            (attempt.header("x-delivery-id"), &attempt.body),
            (pending["id"].as_str().unwrap(), &received[0].body)
        );
    }
}

/// A receiver that hangs or drips delays no other, and its attempt ends after 15 seconds. The flood of another is not
/// read to the end.
#[apply(on_both)]
#[tokio::test]
async fn slow_receivers_do_not_delay_others(#[case] database: Database) {
    let (_server, api, receiver) = with_receiver(database, "pro").await;
    let drips = hook(&api, &receiver, "/drips", &["agent.created"]).await.id();
    let hangs = hook(&api, &receiver, "/hangs", &["agent.created"]).await.id();
    let floods = hook(&api, &receiver, "/floods", &["agent.created"]).await.id();
    let swift = hook(&api, &receiver, "/swift", &["agent.created"]).await.id();
    receiver.always("/drips", Behaviour::Drip);
    receiver.always("/hangs", Behaviour::Hang);
    receiver.always("/floods", Behaviour::Flood);
    let began = tokio::time::Instant::now();
    for _ in 0..5 {
        agent(&api).await;
    }
    receiver.wait_for("/swift", 5).await;
    deliveries(&api, &swift, all_are(5, "delivered")).await;
    deliveries(&api, &floods, all_are(5, "delivered")).await;
    // No attempt at the slow ones has ended yet.
    for slow in [&drips, &hangs] {
        let listed = deliveries(&api, slow, |all| all.len() == 5).await;
        assert!(listed.iter().all(|delivery| delivery["attempts"] == 0), "{listed:#?}");
    }
    for slow in [&drips, &hangs] {
        let first = deliveries(&api, slow, |all| all.iter().any(|delivery| delivery["attempts"] == 1)).await;
        let tried: Vec<_> = first.iter().filter(|delivery| delivery["attempts"] == 1).collect();
        assert_eq!((&tried[0]["status"], &tried[0]["response_status"]), (&json!("pending"), &Value::Null));
    }
    assert!(began.elapsed() > Duration::from_secs(14), "an attempt has 15 seconds: {:?}", began.elapsed());
}

#[apply(on_both)]
#[tokio::test]
async fn a_receiver_that_is_gone_is_deactivated(#[case] database: Database) {
    let (server, api, receiver) = with_owner(database).await;
    let gone = hook(&api, &receiver, "/gone?token=secret-of-the-url", &["*"]).await.id();
    let other = hook(&api, &receiver, "/other", &["webhook.deactivated"]).await.id();
    hook(&api, &receiver, "/witness", &["agent.created"]).await;
    receiver.next("/gone?token=secret-of-the-url", &[Behaviour::Answer(410)]);
    agent(&api).await;
    let failed = deliveries(&api, &gone, all_are(1, "failed")).await.remove(0);
    assert_eq!((&failed["response_status"], &failed["attempts"]), (&json!(410), &json!(1)));
    let path = format!("/v1/webhooks/{gone}");
    let off = api.get(&path).await.expect(200);
    assert_eq!((&off["active"], &off["deactivated_reason"]), (&json!(false), &json!("gone")));
    let message = receiver.wait_for("/other", 1).await.remove(0);
    let mut expected = off.json.clone();
    expected["reason"] = json!("gone");
    assert_eq!((message.event_type(), message.json()), ("webhook.deactivated", expected));
    let mail = server.wait_for_mails(1).await.remove(0);
    assert!(mail.text.contains(&gone) && !mail.text.contains("secret-of-the-url"), "{mail:#?}");
    assert_eq!(mail.to, "owner@example.com");

    // Nothing more is sent to it until it is activated again. The witness shows that the message has been addressed.
    agent(&api).await;
    receiver.wait_for("/witness", 2).await;
    let on = api.patch(&path).json(json!({ "active": true })).await.expect(200);
    assert_eq!((&on["active"], &on["deactivated_reason"]), (&json!(true), &Value::Null));
    let made = api.post("/v1/agents").json(json!({ "name": "Bea", "type": "ai" })).await.expect(201);
    let received = receiver.wait_for("/gone?token=secret-of-the-url", 2).await;
    assert_eq!(received[1].json(), made.json, "events from the inactive time are not sent");
    assert_eq!(api.get(format!("/v1/webhooks/{other}")).await.expect(200)["active"], true);
    assert!(!server.log().contains("secret-of-the-url"));
}

#[apply(on_both)]
#[tokio::test]
async fn five_days_of_failures_deactivate_an_endpoint(#[case] database: Database) {
    const DAY: i64 = 24 * 3_600;
    let (mut server, api, receiver) = with_owner(database).await;
    let failing = hook(&api, &receiver, "/failing", &["agent.created"]).await.id();
    let healed = hook(&api, &receiver, "/healed", &["agent.created"]).await.id();
    for path in ["/failing", "/healed"] {
        receiver.always(path, Behaviour::Answer(500));
    }
    agent(&api).await;
    for webhook in [&failing, &healed] {
        deliveries(&api, webhook, |all| all.len() == 1 && all[0]["attempts"] == 1).await;
    }
    server.restart_at_offset(4 * DAY).await;
    let api = api.moved_to(server.base_url());
    for webhook in [&failing, &healed] {
        deliveries(&api, webhook, |all| all[0]["attempts"].as_u64() >= Some(2)).await;
        assert_eq!(api.get(format!("/v1/webhooks/{webhook}")).await.expect(200)["active"], true);
    }
    // Activating the endpoint resets its failures.
    api.patch(format!("/v1/webhooks/{healed}")).json(json!({ "active": true })).await.expect(200);
    agent(&api).await;
    deliveries(&api, &healed, |all| all.len() == 2 && all[1]["attempts"].as_u64() >= Some(1)).await;
    server.restart_at_offset(5 * DAY + 600).await;
    let api = api.moved_to(server.base_url());
    let off = |webhook: String| {
        let api = api.clone();
        async move { api.get(format!("/v1/webhooks/{webhook}")).await.expect(200) }
    };
    server.wait_for_mails(1).await;
    let webhook_now = off(failing.clone()).await;
    assert_eq!((&webhook_now["active"], &webhook_now["deactivated_reason"]), (&json!(false), &json!("failing")));
    assert_eq!(off(healed).await["active"], true);
}

#[apply(on_both)]
#[tokio::test]
async fn a_paused_endpoint_gets_nothing(#[case] database: Database) {
    let (mut server, api, receiver) = with_receiver(database, "pro").await;
    let webhook = hook(&api, &receiver, "/", &["agent.created"]).await.id();
    let path = format!("/v1/webhooks/{webhook}");
    receiver.next("/", &[Behaviour::Answer(500)]);
    agent(&api).await;
    deliveries(&api, &webhook, |all| all.len() == 1 && all[0]["attempts"] == 1).await;
    api.patch(&path).json(json!({ "active": false })).await.expect(200);
    agent(&api).await;
    // A delivery that is due while the endpoint is inactive fails.
    server.restart_at_offset(60).await;
    let api = api.moved_to(server.base_url());
    let failed = deliveries(&api, &webhook, all_are(1, "failed")).await.remove(0);
    assert_eq!((&failed["attempts"], &failed["next_retry_at"]), (&json!(1), &Value::Null));
    assert_eq!(receiver.received("/").len(), 1);
    api.patch(&path).json(json!({ "active": true })).await.expect(200);
    agent(&api).await;
    receiver.wait_for("/", 2).await;
    deliveries(&api, &webhook, |all| all.len() == 2 && all[1]["status"] == "delivered").await;
}

/// Everything that was committed before a crash arrives after it. A delivery in flight is repeated with its
/// identifier.
#[apply(on_both)]
#[tokio::test]
async fn a_crash_loses_nothing(#[case] database: Database) {
    let (mut server, api, receiver) = with_receiver(database, "pro").await;
    let webhook = hook(&api, &receiver, "/", &["agent.created"]).await.id();
    receiver.next("/", &[Behaviour::Hang]);
    for _ in 0..10 {
        agent(&api).await;
    }
    let in_flight = receiver.wait_for("/", 1).await.remove(0);
    server.kill().await;
    // On Postgres the lease of the dead process must expire. On SQLite there is no other process.
    let later = if database == Postgres { "90" } else { "0" };
    server.start_again(&[("KALENDS_CLOCK_OFFSET_SECONDS", later)]).await;
    let api = api.moved_to(server.base_url());
    let listed = deliveries(&api, &webhook, all_are(10, "delivered")).await;
    let received = receiver.received("/");
    assert_eq!(received.len(), 11, "one delivery was repeated");
    let id = in_flight.header("x-delivery-id");
    assert_eq!(received.iter().filter(|received| received.header("x-delivery-id") == id).count(), 2);
    for delivery in listed {
        let sent = |attempt: &&kalends_e2e::Received| delivery["id"] == attempt.header("x-delivery-id");
        assert!(received.iter().any(|received| sent(&received)));
    }
}

/// A stop waits 8 s for deliveries in flight. A slower receiver gets the message again, with its identifier.
#[apply(on_both)]
#[tokio::test]
async fn a_stop_cuts_off_a_receiver_that_hangs(#[case] database: Database) {
    let (mut server, api, receiver) = with_receiver(database, "pro").await;
    let webhook = hook(&api, &receiver, "/", &["agent.created"]).await.id();
    receiver.next("/", &[Behaviour::Hang]);
    agent(&api).await;
    receiver.wait_for("/", 1).await;
    assert!(server.stop().await.success());
    // On Postgres the lease of the stopped process must expire.
    let later = if database == Postgres { "90" } else { "0" };
    server.start_again(&[("KALENDS_CLOCK_OFFSET_SECONDS", later)]).await;
    let api = api.moved_to(server.base_url());
    deliveries(&api, &webhook, all_are(1, "delivered")).await;
    let received = receiver.received("/");
    let ids: BTreeSet<_> = received.iter().map(|received| received.header("x-delivery-id")).collect();
    assert_eq!((received.len(), ids.len()), (2, 1));
}
