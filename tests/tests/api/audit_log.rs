//! The audit log: who did what, page by page, as far back as the plan keeps.

use kalends_e2e::{
    Answer, Client,
    Database::{self, Postgres, Sqlite},
    Server,
};
use rstest::rstest;
use serde_json::json;

use crate::fixtures::{agent, agent_with_calendar, has_exactly, is_id};

const LOG: &str = "/v1/audit-log";

async fn read(api: &Client, query: &[(&str, &str)]) -> Answer {
    api.get(LOG).query(query).await
}

#[rstest]
#[case::sqlite(Sqlite)]
#[case::postgres(Postgres)]
#[tokio::test]
async fn every_change_is_told_and_the_newest_first(#[case] database: Database) {
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
    assert!(!log.text().contains(&org.key), "a key is told by its beginning alone");

    // In pages, without a gap.
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

    // By action, key and time.
    assert_eq!(read(&api, &[("action", "agent.update")]).await.expect(200).data().len(), 1);
    assert_eq!(read(&api, &[("action", "auth.signin")]).await.expect(200).data().len(), 0);
    assert_eq!(read(&api, &[("actor_key_prefix", &org.key[..20])]).await.expect(200).data().len(), 4);
    assert_eq!(read(&api, &[("actor_key_prefix", &org.key[..19])]).await.expect(200).data().len(), 0);
    let (since, until) = (log.column("created_at")[2].clone(), log.column("created_at")[0].clone());
    let part = read(&api, &[("from", &since), ("to", &until)]).await.expect(200);
    assert_eq!(part.column("action"), actions[1..3]);
    assert_eq!(read(&other, &[]).await.expect(200).column("action"), ["agent.create", "key.create"]);
}

#[rstest]
#[case::sqlite(Sqlite)]
#[case::postgres(Postgres)]
#[tokio::test]
async fn the_log_reaches_back_as_far_as_the_plan_keeps(#[case] database: Database) {
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
    assert_eq!((log.data().len(), &log["range_clamped"]), (0, &json!(false)), "older than what is kept");
    // Purged soon after the start, so that a later plan does not bring it back.
    let became = server.cli(&["org", "set-plan", &free.id, "pro"]).await.succeeded();
    assert!(became.stdout.contains(&free.id));
    let log = read(&server.api(&pro), &[]).await.expect(200);
    assert_eq!(log.column("action"), ["agent.create", "key.create"], "pro keeps it");
    // All that the longer plan brings to light is what was done since.
    let began = std::time::Instant::now();
    loop {
        let log = read(&server.api(&free), &[]).await.expect(200);
        if log["retention_days"] == 90 {
            assert_eq!(log.column("action"), ["org.update"]);
            break;
        }
        assert!(began.elapsed().as_secs() < 20, "the plan is heeded");
    }
}

#[rstest]
#[case::sqlite(Sqlite)]
#[case::postgres(Postgres)]
#[tokio::test]
async fn a_bad_question_is_refused(#[case] database: Database) {
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

#[rstest]
#[case::sqlite(Sqlite)]
#[case::postgres(Postgres)]
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
