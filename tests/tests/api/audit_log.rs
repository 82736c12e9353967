//! The audit log: its entries, pages and filters, and the plan's retention.

use crate::on_both;
use std::time::{Duration, Instant};

use kalends_e2e::{Answer, Client, Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::fixtures::{PATIENCE, agent, agent_with_calendar, has_exactly, is_id, rows};

const LOG: &str = "/v1/audit-log";

async fn read(api: &Client, query: &[(&str, &str)]) -> Answer {
    api.get(LOG).query(query).await
}

#[apply(on_both)]
#[tokio::test]
async fn every_change_is_logged_newest_first(#[case] database: Database) {
    let server = Server::start(database).await;
    let org = server.org("pro").await;
    let (api, other) = (server.api(&org), server.api(&server.org("pro").await));
    let (owner, calendar) = agent_with_calendar(&api).await;
    api.patch(format!("/v1/agents/{owner}")).json(json!({ "name": "Grace" })).await.expect(200);
    let deleted = api.delete(format!("/v1/calendars/{calendar}")).await.expect(204);
    agent(&other).await;

    let log = read(&api, &[]).await.expect(200);
    has_exactly(&log.json, &["data", "pagination", "retention_days", "range_clamped"]);
    let actions = ["calendar.delete", "agent.update", "calendar.create", "agent.create", "key.create"];
    assert_eq!(log.column("action"), actions);
    let newest = &log.data()[0];
    let fields = [
        "id",
        "action",
        "actor_key_prefix",
        "agent_id",
        "resource",
        "ip",
        "status",
        "method",
        "path",
        "duration_ms",
        "request_id",
        "created_at",
    ];
    has_exactly(newest, &fields);
    is_id(&newest["id"], "aud_");
    assert_eq!(newest["actor_key_prefix"], org.key[..20]);
    assert_eq!((&newest["resource"], &newest["agent_id"]), (&json!(calendar), &json!(owner)));
    assert_eq!((&newest["method"], &newest["path"]), (&json!("DELETE"), &json!("/v1/calendars/{id}")));
    assert_eq!((&newest["status"], &newest["ip"]), (&json!(204), &json!("127.0.0.1")));
    assert_eq!(newest["request_id"], deleted.header("x-request-id"));
    assert_eq!((&log["retention_days"], &log["range_clamped"]), (&json!(90), &json!(false)));
    assert!(log.at("/pagination/next_cursor").is_null());
    assert!(!log.text().contains(&org.key), "only the beginning of a key is shown");

    // Pages cover the log without a gap.
    let (mut walked, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut query = vec![("limit", "2")];
        query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let page = read(&api, &query).await.expect(200);
        walked.extend(page.column("id"));
        match page.at("/pagination/next_cursor").as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!(walked, log.column("id"));

    // Filters by action, key and time.
    assert_eq!(read(&api, &[("action", "agent.update")]).await.expect(200).data().len(), 1);
    assert_eq!(read(&api, &[("action", "auth.signin")]).await.expect(200).data().len(), 0);
    assert_eq!(read(&api, &[("actor_key_prefix", &org.key[..20])]).await.expect(200).data().len(), 4);
    assert_eq!(read(&api, &[("actor_key_prefix", &org.key[..19])]).await.expect(200).data().len(), 0);
    let (since, until) = (log.column("created_at")[2].clone(), log.column("created_at")[0].clone());
    let part = read(&api, &[("from", &since), ("to", &until)]).await.expect(200);
    assert_eq!(part.column("action"), actions[1..3]);
    assert_eq!(read(&other, &[]).await.expect(200).column("action"), ["agent.create", "key.create"]);
}

#[apply(on_both)]
#[tokio::test]
async fn the_plan_sets_the_retention_of_the_log(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let (free, pro) = (server.org("free").await, server.org("pro").await);
    for org in [&free, &pro] {
        agent(&server.api(org)).await;
    }
    let log = read(&server.api(&free), &[("from", "2020-01-01T00:00:00Z")]).await.expect(200);
    assert_eq!((&log["retention_days"], &log["range_clamped"]), (&json!(3), &json!(true)));
    assert_eq!(log.data().len(), 2);

    server.restart_at_offset(4 * 24 * 3_600).await;
    let log = read(&server.api(&free), &[]).await.expect(200);
    assert_eq!(
        (log.data().len(), &log["range_clamped"]),
        (0, &json!(false)),
        "the entries are older than the retention"
    );
    // The entries are purged soon after the start, so a later plan does not bring them back.
    let began = Instant::now();
    while rows(&server, "audit_log").await > 2 {
        assert!(began.elapsed() < PATIENCE, "the purge runs when the service starts");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let became = server.cli(&["org", "set-plan", &free.id, "pro"]).await.succeeded();
    assert!(became.stdout.contains(&free.id));
    let log = read(&server.api(&pro), &[]).await.expect(200);
    assert_eq!(log.column("action"), ["agent.create", "key.create"], "pro keeps it");
    // With the longer plan, only the entries since the purge are visible.
    let began = Instant::now();
    loop {
        let log = read(&server.api(&free), &[]).await.expect(200);
        if log["retention_days"] == 90 {
            assert_eq!(log.column("action"), ["org.update"]);
            break;
        }
        assert!(began.elapsed() < PATIENCE, "the new plan takes effect");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn bad_query_parameters_are_refused(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "free").await;
    for (param, value) in [
        ("from", "yesterday"),
        ("to", "2026-03-02"),
        ("action", "event.created"),
        ("actor_key_prefix", "svc_sk_0123456789abcdefgh"),
        ("actor_key_prefix", ""),
        ("cursor", "x"),
        ("limit", "0"),
        ("limit", "201"),
    ] {
        read(&api, &[(param, value)]).await.refused(400, "validation_error").param(param);
    }
    let backwards = [("from", "2026-03-02T08:00:00Z"), ("to", "2026-03-02T08:00:00Z")];
    read(&api, &backwards).await.refused(400, "validation_error").param("from");
    read(&api, &[("offset", "1")]).await.refused(400, "validation_error").code("unknown_field");
    server.anonymous().get(LOG).await.refused(401, "unauthorized");
}

#[apply(on_both)]
#[tokio::test]
async fn wrong_codes_are_sampled(#[case] database: Database) {
    let server = Server::start(database).await;
    let body = json!({ "email": "ada@example.com", "agent_name": "Scout", "tos_version": "2026-01-01" });
    let made = server.anonymous().post("/v1/agent/sign-up").json(body).await.expect(200);
    let code = server.wait_for_mails(1).await[0].code().to_owned();
    let wrong = format!("{:06}", (code.parse::<u32>().unwrap() + 1) % 1_000_000);
    let api = server.client(made["api_key"].as_str().unwrap());
    for _ in 0..5 {
        api.post("/v1/agent/verify").json(json!({ "otp": wrong })).await.refused(400, "validation_error");
    }
    let log = read(&api, &[]).await.expect(200);
    assert_eq!(log.column("action"), ["auth.failure", "auth.signup"]);
    assert_eq!(log.data()[0]["status"], 400);
    assert!(!log.text().contains(&code) && !log.text().contains(&wrong));
}

/// The entries of an action, once there are `count` of them. Requests do not wait for these entries to be written.
async fn entries(api: &Client, action: &str, count: usize) -> Vec<Value> {
    let began = Instant::now();
    loop {
        let log = read(api, &[("action", action)]).await.expect(200);
        if log.data().len() >= count {
            return log.data().to_vec();
        }
        assert!(began.elapsed() < PATIENCE, "{count} of {action}: {}", log.text());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[apply(on_both)]
#[tokio::test]
async fn requests_over_a_limit_are_sampled(#[case] database: Database) {
    let server = Server::start(database).await;
    let org = server.org_with("custom", &["--limits", r#"{"rate_per_second":2}"#]).await;
    let api = server.api(&org);
    let mut refused = 0;
    for _ in 0..20 {
        refused += u32::from(api.impatient().get("/v1/calendars").await.status == 429);
    }
    assert!(refused > 5, "{refused}");
    let [entry] = entries(&api, "rate_limit.exceeded", 1).await.try_into().unwrap();
    assert_eq!((&entry["status"], &entry["path"]), (&json!(429), &json!("/v1/calendars")));
    assert_eq!(entry["actor_key_prefix"], org.key[..20]);

    // Over a monthly quota, each of two keys has its own entry.
    let org = server.org_with("custom", &["--limits", r#"{"api_calls":4,"rate_per_second":200}"#]).await;
    let api = server.api(&org);
    let agent = agent(&api).await;
    let made = api.post("/v1/keys").json(json!({ "agent_id": agent })).await.expect(201);
    let scoped = server.client(made["key"].as_str().unwrap());
    api.get("/v1/agents").await.expect(200);
    api.get("/v1/agents").await.expect(200);
    for _ in 0..3 {
        api.get("/v1/agents").await.refused(429, "quota_exceeded");
        scoped.get("/v1/usage").await.refused(429, "quota_exceeded");
    }
    server.cli(&["org", "set-plan", &org.id, "pro"]).await.succeeded();
    let began = Instant::now();
    while api.get("/v1/agents").await.status == 429 {
        assert!(began.elapsed() < PATIENCE, "the new plan takes effect");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let mut found = entries(&api, "rate_limit.exceeded", 2).await;
    assert_eq!(found.len(), 2, "{found:#?}");
    found.sort_by_key(|entry| entry["agent_id"].is_null());
    assert_eq!((&found[0]["agent_id"], &found[0]["actor_key_prefix"]), (&json!(agent), &made["key_prefix"]));
    assert_eq!((&found[1]["agent_id"], &found[1]["actor_key_prefix"]), (&Value::Null, &json!(org.key[..20])));
}

#[apply(on_both)]
#[tokio::test]
async fn uses_of_ended_keys_are_sampled(#[case] database: Database) {
    let server = Server::start(database).await;
    let api = server.api(&server.org("pro").await);
    let mut keys = Vec::new();
    for ended in ["revoked", "decommissioned"] {
        let agent = agent(&api).await;
        let made = api.post("/v1/keys").json(json!({ "agent_id": agent })).await.expect(201);
        let path = if ended == "revoked" { format!("/v1/keys/{}", made.id()) } else { format!("/v1/agents/{agent}") };
        api.delete(path).await.expect(204);
        keys.push((agent, made));
    }
    // An unknown key has no owner, and neither does a malformed one. Neither is logged.
    for key in [format!("svc_sk_{}", "A".repeat(43)), format!("svc_ak_{}", "B".repeat(43)), "x".to_owned()] {
        server.client(&key).get("/v1/agents").await.refused(401, "unauthorized");
    }
    for _ in 0..3 {
        for (_, made) in &keys {
            let client = server.client(made["key"].as_str().unwrap());
            client.get("/v1/usage").await.refused(401, "unauthorized");
        }
    }
    let mut found = entries(&api, "auth.failure", 2).await;
    assert_eq!(found.len(), 2, "{found:#?}");
    for (agent, made) in keys {
        let at = found.iter().position(|entry| entry["agent_id"] == agent.as_str()).unwrap();
        let entry = found.remove(at);
        assert_eq!((&entry["actor_key_prefix"], &entry["status"]), (&made["key_prefix"], &json!(401)));
        assert_eq!((&entry["method"], &entry["path"]), (&json!("GET"), &json!("/v1/usage")));
        assert!(!entry.to_string().contains(made["key"].as_str().unwrap()));
    }
}
