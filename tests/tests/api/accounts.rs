//! Sign-up, verification, terms, and the headers of every authenticated answer.

use crate::on_both;
use kalends_e2e::{Answer, Client, Database, Org, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::fixtures::{agent, agent_with_calendar, event_body, has_exactly, is_id};

const TERMS: &str = "2026-01-01";

async fn sign_up(server: &Server, email: &str) -> Answer {
    let body = json!({ "email": email, "agent_name": "Scout", "tos_version": TERMS });
    server.anonymous().post("/v1/agent/sign-up").json(body).await
}

/// A new sandboxed organization. Its code is in the latest mail.
async fn signed_up(server: &Server, email: &str) -> Org {
    let made = sign_up(server, email).await.expect(200);
    let text = |field: &str| made[field].as_str().unwrap().to_owned();
    Org { id: text("org_id"), key: text("api_key") }
}

async fn verify(api: &Client, otp: &str) -> Answer {
    api.post("/v1/agent/verify").json(json!({ "otp": otp })).await
}

/// A code that differs from `code`.
fn wrong(code: &str) -> String {
    format!("{:06}", (code.parse::<u32>().unwrap() + 1) % 1_000_000)
}

#[apply(on_both)]
#[tokio::test]
async fn an_agent_signs_up(#[case] database: Database) {
    let server = Server::start(database).await;
    let made = sign_up(&server, "Ada@Example.com").await.expect(200);
    has_exactly(&made.json, &["org_id", "agent_id", "api_key", "message"]);
    is_id(&made["org_id"], "org_");
    is_id(&made["agent_id"], "agt_");
    let key = made["api_key"].as_str().unwrap();
    assert!(key.strip_prefix("svc_sk_").is_some_and(|random| random.len() == 43), "{key}");
    assert!(!made.header("x-service-plan").contains("free"), "the caller is not authenticated yet");

    let mails = server.wait_for_mails(1).await;
    assert_eq!((mails.len(), mails[0].to.as_str()), (1, "ada@example.com"));
    assert!(mails[0].text.contains("Scout"), "{:#?}", mails[0]);
    let code = mails[0].code().to_owned();
    assert!(!made.text().contains(&code), "the code is sent only by mail");

    // The sandbox allows one agent, which exists already, one calendar and ten events.
    let api = server.client(key);
    let agents = api.get("/v1/agents").await.expect(200);
    assert_eq!(agents.header("x-service-plan"), "free");
    assert_eq!(agents.column("id"), [made["agent_id"].as_str().unwrap()]);
    assert_eq!((&agents.data()[0]["name"], &agents.data()[0]["type"]), (&json!("Scout"), &json!("ai")));
    let more = json!({ "name": "Second", "type": "ai" });
    api.post("/v1/agents").json(more.clone()).await.refused(429, "quota_exceeded");
    let new = json!({ "name": "Work", "timezone": "UTC" });
    let own = format!("/v1/agents/{}/calendars", agents.column("id")[0]);
    let calendar = api.post(&own).json(new.clone()).await.expect(201).id();
    api.post(&own).json(new.clone()).await.refused(429, "quota_exceeded");
    api.post("/v1/calendars").json(new.clone()).await.refused(429, "quota_exceeded");
    let events = format!("/v1/calendars/{calendar}/events");
    let entry = event_body("x", "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z");
    let batch = |count: usize| json!({ "events": vec![entry.clone(); count] });
    api.post(format!("{events}/batch")).json(batch(11)).await.refused(429, "quota_exceeded");
    api.post(format!("{events}/batch")).json(batch(9)).await.expect(201);
    api.post(&events).json(entry.clone()).await.expect(201);
    api.post(&events).json(entry.clone()).await.refused(429, "quota_exceeded");
    // Deleting does not give back a monthly quota.
    let first = api.get(&events).await.expect(200).column("id")[0].clone();
    api.delete(format!("/v1/events/{first}")).await.expect(204);
    api.post(&events).json(entry.clone()).await.refused(429, "quota_exceeded");

    // Every failure to verify is a 400.
    for otp in ["", "12345", "1234567", "12345a", "１２３４５６", " 12345"] {
        verify(&api, otp).await.refused(400, "validation_error").param("otp");
    }
    api.post("/v1/agent/verify").json(json!({ "otp": 123_456 })).await.refused(400, "validation_error").param("otp");
    api.post("/v1/agent/verify").json(json!({})).await.refused(400, "validation_error").param("otp");
    verify(&api, &wrong(&code)).await.refused(400, "validation_error").param("otp");
    verify(&server.anonymous(), &code).await.refused(401, "unauthorized");

    let verified = verify(&api, &code).await.expect(200);
    has_exactly(&verified.json, &["verified", "message"]);
    assert_eq!(verified["verified"], true);
    verify(&api, &code).await.refused(400, "validation_error");

    // The caps are at once those of Free. The key and the data stay.
    for _ in 0..2 {
        api.post("/v1/agents").json(more.clone()).await.expect(201);
    }
    api.post("/v1/agents").json(more).await.refused(429, "quota_exceeded");
    api.post("/v1/calendars").json(new).await.expect(201);
    let answer = api.post(&events).json(entry).await.expect(201);
    assert_eq!(answer.header("x-service-plan"), "free");
    assert_eq!(api.get(&events).await.expect(200)["total"], 10);
    assert_eq!(server.mails().len(), 1);
}

#[apply(on_both)]
#[tokio::test]
async fn sign_up_answers_are_the_same_for_known_addresses(#[case] database: Database) {
    let server = Server::start(database).await;
    let made = sign_up(&server, "ada@example.com").await.expect(200);
    let first_code = server.wait_for_mails(1).await[0].code().to_owned();
    let api = server.client(made["api_key"].as_str().unwrap());

    // Unverified: a new code, which voids the old one. Different case or a trailing dot does not make a new address.
    let again = sign_up(&server, "ADA@example.com.").await.expect(200);
    has_exactly(&again.json, &["message"]);
    assert_eq!(again["message"], made["message"]);
    let mails = server.wait_for_mails(2).await;
    let second_code = mails[1].code().to_owned();
    assert_eq!(mails[1].to, "ada@example.com");
    if first_code != second_code {
        verify(&api, &first_code).await.refused(400, "validation_error").param("otp");
    }
    verify(&api, &second_code).await.expect(200);

    // Verified: the answer is the same, and the email says that the address is known and has no code.
    let known = sign_up(&server, "ada@example.com").await.expect(200);
    assert_eq!(known.json, again.json);
    let mail = &server.wait_for_mails(3).await[2];
    assert!(mail.text.contains("already"), "{mail:#?}");
    assert!(!mail.text.split_whitespace().any(|word| word.len() == 6 && word.parse::<u32>().is_ok()), "{mail:#?}");

    // The same for an organization that an operator created.
    let org = server.org_with("pro", &["--email", "owner@example.com"]).await;
    assert_eq!(sign_up(&server, "owner@example.com").await.expect(200).json, again.json);
    assert!(server.wait_for_mails(4).await[3].text.contains("already"));
    assert_eq!(server.api(&org).get("/v1/agents").await.expect(200)["total"], 0);
}

#[apply(on_both)]
#[tokio::test]
async fn a_bad_sign_up_is_refused(#[case] database: Database) {
    let server = Server::start(database).await;
    let anybody = server.anonymous();
    let body =
        |email: &str, name: &str, terms: &str| json!({ "email": email, "agent_name": name, "tos_version": terms });
    let stale = anybody.post("/v1/agent/sign-up").json(body("ada@example.com", "Scout", "2020-01-01")).await;
    let stale = stale.refused(409, "tos_version_stale");
    assert_eq!(stale["error"]["current_version"], TERMS);
    for email in ["", "ada", "ada@", "@example.com", "a da@example.com", "ada@example.com\r\nBcc: x@y.z"] {
        let answer = anybody.post("/v1/agent/sign-up").json(body(email, "Scout", TERMS)).await;
        answer.refused(400, "validation_error").param("email");
    }
    let long = "x".repeat(101);
    for name in ["", long.as_str(), "a\u{0}b"] {
        let answer = anybody.post("/v1/agent/sign-up").json(body("ada@example.com", name, TERMS)).await;
        answer.refused(400, "validation_error").param("agent_name");
    }
    for missing in ["email", "agent_name", "tos_version"] {
        let mut body = body("ada@example.com", "Scout", TERMS);
        body.as_object_mut().unwrap().remove(missing);
        let answer = anybody.post("/v1/agent/sign-up").json(body).await;
        answer.refused(400, "validation_error").param(missing);
    }
    let mut more = body("ada@example.com", "Scout", TERMS);
    more["plan"] = json!("pro");
    let answer = anybody.post("/v1/agent/sign-up").json(more).await;
    answer.refused(400, "validation_error").param("plan").code("unknown_field");
    assert!(server.mails().is_empty());
}

/// A plan change by the operator does not void the code, and the code does not undo the change.
#[apply(on_both)]
#[tokio::test]
async fn a_code_survives_a_plan_change(#[case] database: Database) {
    let server = Server::start(database).await;
    let org = signed_up(&server, "planned@example.com").await;
    let mails = server.wait_for_mails(1).await;
    let code = mails[0].code();
    server.cli(&["org", "set-plan", &org.id, "pro"]).await.succeeded();
    let api = server.api(&org);
    verify(&api, code).await.expect(200);
    assert_eq!(api.get("/v1/agents").await.expect(200).header("x-service-plan"), "pro");
    verify(&api, code).await.refused(400, "validation_error").param("otp");
}

#[apply(on_both)]
#[tokio::test]
async fn a_code_is_void_after_ten_attempts(#[case] database: Database) {
    let server = Server::start(database).await;
    let org = signed_up(&server, "ada@example.com").await;
    let api = server.api(&org);
    let code = server.wait_for_mails(1).await[0].code().to_owned();
    for _ in 0..10 {
        verify(&api, &wrong(&code)).await.refused(400, "validation_error").param("otp");
    }
    verify(&api, &code).await.refused(400, "validation_error").param("otp");
    sign_up(&server, "ada@example.com").await.expect(200);
    let fresh = server.wait_for_mails(2).await[1].code().to_owned();
    // Nine misses leave one attempt.
    for _ in 0..9 {
        verify(&api, &wrong(&fresh)).await.refused(400, "validation_error").param("otp");
    }
    verify(&api, &fresh).await.expect(200);
}

#[apply(on_both)]
#[tokio::test]
async fn a_code_expires_after_ten_minutes(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let early = signed_up(&server, "early@example.com").await;
    let late = signed_up(&server, "late@example.com").await;
    let codes: Vec<_> = server.wait_for_mails(2).await.iter().map(|mail| mail.code().to_owned()).collect();
    server.restart_at_offset(8 * 60).await;
    verify(&server.api(&early), &codes[0]).await.expect(200);
    server.restart_at_offset(10 * 60 + 1).await;
    let api = server.api(&late);
    verify(&api, &codes[1]).await.refused(400, "validation_error").param("otp");
    // The key still works. Signing up again sends a new code.
    api.get("/v1/agents").await.expect(200);
    sign_up(&server, "late@example.com").await.expect(200);
    let fresh = server.wait_for_mails(3).await[2].code().to_owned();
    verify(&api, &fresh).await.expect(200);
}

#[apply(on_both)]
#[tokio::test]
async fn answers_announce_new_terms(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let terms = server.anonymous().get("/v1/auth/terms/current").await.expect(200);
    has_exactly(&terms.json, &["version", "effective_at", "url", "material"]);
    assert_eq!((&terms["version"], &terms["material"]), (&json!(TERMS), &json!(true)));
    assert_eq!(terms["effective_at"], "2026-01-01");
    assert!(terms["url"].as_str().is_some_and(|url| url.starts_with("http")));

    let accepted = signed_up(&server, "ada@example.com").await;
    let never = server.org("pro").await;
    let header = "service-terms-upgrade-required";
    assert_eq!(server.api(&accepted).get("/v1/agents").await.expect(200).header(header), "");
    assert_eq!(server.api(&never).get("/v1/agents").await.expect(200).header(header), TERMS);

    assert!(server.stop().await.success());
    server.start_again(&[("KALENDS_TERMS_VERSION", "2026-11-01")]).await;
    let listed = server.api(&accepted).get("/v1/agents").await.expect(200);
    assert_eq!(listed.header(header), "2026-11-01");
    assert_eq!(listed["total"], 1, "the body is the same");
    let refused = server.api(&accepted).get("/v1/agents/agt_x").await.refused(404, "not_found");
    assert_eq!(refused.header(header), "2026-11-01", "errors carry it too");
    assert_eq!(server.anonymous().get("/v1/auth/terms/current").await.expect(200)["version"], "2026-11-01");
    assert_eq!(server.anonymous().get("/health").await.expect(200).header(header), "");
    let stale = sign_up(&server, "bob@example.com").await.refused(409, "tos_version_stale");
    assert_eq!(stale["error"]["current_version"], "2026-11-01");

    assert!(server.stop().await.success());
    server.start_again(&[("KALENDS_TERMS_MATERIAL", "false")]).await;
    assert_eq!(server.api(&accepted).get("/v1/agents").await.expect(200).header(header), "");
    assert_eq!(server.anonymous().get("/v1/auth/terms/current").await.expect(200)["material"], false);
}

#[apply(on_both)]
#[tokio::test]
async fn every_authenticated_answer_names_the_plan(#[case] database: Database) {
    let server = Server::start(database).await;
    for (plan, public_name) in [("free", "free"), ("pro", "pro"), ("custom", "scale")] {
        let api = server.api(&server.org(plan).await);
        let (owner, calendar) = agent_with_calendar(&api).await;
        for (answer, status) in [
            (api.get("/v1/agents").await, 200),
            (api.post("/v1/agents").json(json!({})).await, 400),
            (api.get("/v1/agents/agt_x").await, 404),
            (api.delete(format!("/v1/calendars/{calendar}")).await, 204),
            (api.delete(format!("/v1/agents/{owner}")).await, 204),
        ] {
            assert_eq!(answer.expect(status).header("x-service-plan"), public_name);
        }
    }
    assert_eq!(server.anonymous().get("/v1/agents").await.expect(401).header("x-service-plan"), "");
}

#[apply(on_both)]
#[tokio::test]
async fn caps_count_existing_resources(#[case] database: Database) {
    let server = Server::start(database).await;
    let api = server.api(&server.org_with("free", &["--limits", r#"{"calendars":2,"agents":2}"#]).await);
    let (owner, first) = agent_with_calendar(&api).await;
    let new = json!({ "name": "Work", "timezone": "UTC" });
    api.post("/v1/calendars").json(new.clone()).await.expect(201);
    let full = api.post("/v1/calendars").json(new.clone()).await.refused(429, "quota_exceeded").mentions("2");
    // The retry time is the start of the next month, in UTC.
    let now = kalends_e2e::at(&crate::fixtures::now(&api).await);
    let (year, month) = (chrono::Datelike::year(&now), chrono::Datelike::month(&now));
    let (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    let left = (kalends_e2e::at(&format!("{year}-{month:02}-01T00:00:00Z")) - now).num_seconds();
    let retry_after: i64 = full.header("retry-after").parse().unwrap();
    // The refusal is a little older than this time.
    assert!((left - 5..=left + 60).contains(&retry_after), "{retry_after} for {left}");

    // A refused creation uses nothing up. Deleting a calendar makes room.
    api.post(format!("/v1/agents/{owner}/calendars")).json(new.clone()).await.refused(429, "quota_exceeded");
    api.delete(format!("/v1/calendars/{first}")).await.expect(204);
    api.post("/v1/calendars").json(new.clone()).await.expect(201);
    api.post("/v1/calendars").json(new.clone()).await.refused(429, "quota_exceeded");

    // Decommissioning an agent makes room for an agent and for its calendars.
    let second = agent(&api).await;
    api.post("/v1/agents").json(json!({ "name": "x", "type": "ai" })).await.refused(429, "quota_exceeded");
    for calendar in api.get("/v1/calendars?include=all").await.expect(200).column("id") {
        api.delete(format!("/v1/calendars/{calendar}")).await.expect(204);
    }
    for _ in 0..2 {
        api.post(format!("/v1/agents/{second}/calendars")).json(new.clone()).await.expect(201);
    }
    api.post("/v1/calendars").json(new.clone()).await.refused(429, "quota_exceeded");
    api.delete(format!("/v1/agents/{second}")).await.expect(204);
    agent(&api).await;
    api.post("/v1/calendars").json(new).await.expect(201);
}

#[apply(on_both)]
#[tokio::test]
async fn overridden_limits_apply_and_reset_each_month(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let org = server.org_with("free", &["--limits", r#"{"agents":null,"events":2}"#]).await;
    let api = server.api(&org);
    for _ in 0..4 {
        agent(&api).await;
    }
    let (_, calendar) = agent_with_calendar(&api).await;
    let events = format!("/v1/calendars/{calendar}/events");
    let entry = event_body("x", "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z");
    for _ in 0..2 {
        api.post(&events).json(entry.clone()).await.expect(201);
    }
    let full = api.post(&events).json(entry.clone()).await.refused(429, "quota_exceeded");
    let left: i64 = full.header("retry-after").parse().unwrap();

    // The last minute of the month still belongs to it. This is skipped if the month has too little left.
    if left > 120 {
        server.restart_at_offset(left - 60).await;
        let full = server.api(&org).post(&events).json(entry.clone()).await.refused(429, "quota_exceeded");
        assert!(full.header("retry-after").parse::<i64>().is_ok_and(|left| left <= 60));
    }
    server.restart_at_offset(left + 1).await;
    let api = server.api(&org);
    for _ in 0..2 {
        api.post(&events).json(entry.clone()).await.expect(201);
    }
    api.post(&events).json(entry).await.refused(429, "quota_exceeded");
}
