//! The waitlist, the acceptance of terms, limits by mail domain, and feedback.

use crate::on_both;
use kalends_e2e::{Answer, Client, Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    console::signing_up,
    fixtures::{TOKEN, has_exactly, is_id},
};

const TERMS: &str = "2026-01-01";

async fn join(server: &Server, body: Value) -> Answer {
    server.anonymous().post("/v1/waitlist").json(body).await
}

fn of(email: &str) -> Value {
    json!({ "email": email, "name": "Ada Lovelace", "tos_version": TERMS })
}

#[apply(on_both)]
#[tokio::test]
async fn a_waitlisted_organization_is_activated(#[case] database: Database) {
    let server = Server::start_with(database, &[("KALENDS_ADMIN_TOKEN", TOKEN)]).await;
    let joined = join(&server, of("Ada@Example.com")).await.expect(201);
    has_exactly(&joined.json, &["data", "message"]);
    let fields = ["id", "name", "email", "is_waitlisted", "waitlisted_at", "signup_source"];
    has_exactly(&joined["data"], &fields);
    is_id(&joined["data"]["id"], "org_");
    assert_eq!(
        (&joined["data"]["email"], &joined["data"]["name"]),
        (&json!("ada@example.com"), &json!("Ada Lovelace"))
    );
    assert_eq!(
        (&joined["data"]["is_waitlisted"], &joined["data"]["signup_source"]),
        (&json!(true), &json!("waitlist"))
    );
    let mails = server.wait_for_mails(1).await;
    assert_eq!((mails[0].to.as_str(), mails[0].subject.contains("waiting list")), ("ada@example.com", true));

    // Joining again returns the same entry and sends no second mail.
    let again = join(&server, json!({ "email": "ada@example.com", "tos_version": TERMS })).await.expect(200);
    assert_eq!(again["data"], joined["data"]);
    // Without a name, the part of the address before the @ is used.
    let other = join(&server, json!({ "email": "x@example.com", "tos_version": TERMS })).await.expect(201);
    assert_eq!(other["data"]["name"], "x");
    server.wait_for_mails(2).await;

    let path = format!("/v1/admin/orgs/{}/activate", joined["data"]["id"].as_str().unwrap());
    server.anonymous().post(&path).await.refused(401, "unauthorized");
    server.client("the-operator-s-own-tokem").post(&path).await.refused(401, "unauthorized");
    server.api(&server.org("pro").await).post(&path).await.refused(401, "unauthorized");
    let operator = server.client(TOKEN);
    operator.post("/v1/admin/orgs/org_nobody/activate").await.refused(404, "not_found").code("organization_not_found");
    let active = operator.post(&path).await.expect(200);
    assert_eq!((&active["data"]["is_waitlisted"], &active["data"]["waitlisted_at"]), (&json!(false), &Value::Null));
    assert_eq!(active["data"]["id"], joined["data"]["id"]);
    let mails = server.wait_for_mails(3).await;
    assert!(mails[2].to == "ada@example.com" && mails[2].subject.contains("active"), "{:#?}", mails[2]);
    assert!(mails[2].text.contains("/console"), "{:#?}", mails[2]);
    // Repeating it changes nothing and sends no mail.
    operator.post(&path).await.expect(200);
    // An active account cannot join the waitlist.
    join(&server, of("ada@example.com")).await.refused(409, "conflict").code("email_taken");
    assert_eq!(server.mails().len(), 3);

    // The operator's command does the same.
    let id = other["data"]["id"].as_str().unwrap().to_owned();
    let activated = server.cli(&["org", "activate", &id]).await.succeeded();
    assert!(activated.stdout.contains("\"waitlisted_at\":null"), "{activated:?}");
    assert_eq!(server.wait_for_mails(4).await[3].to, "x@example.com");
    server.cli(&["org", "activate", &id]).await.succeeded();
    assert_eq!(server.mails().len(), 4);
    assert!(!server.log().contains(TOKEN));
}

/// Only an address is required. Terms can be accepted with it or later.
#[apply(on_both)]
#[tokio::test]
async fn joining_does_not_require_accepted_terms(#[case] database: Database) {
    let server = Server::start(database).await;
    let joined = join(&server, json!({ "email": "ada@example.com" })).await.expect(201);
    assert_eq!((&joined["data"]["name"], &joined["data"]["is_waitlisted"]), (&json!("ada"), &json!(true)));
    let again = join(&server, json!({ "email": "ada@example.com" })).await.expect(200);
    assert_eq!(again["data"], joined["data"]);
    assert_eq!(server.wait_for_mails(1).await.len(), 1);
}

#[apply(on_both)]
#[tokio::test]
async fn without_a_token_there_are_no_administration_routes(#[case] database: Database) {
    let server = Server::start(database).await;
    let org = server.org("pro").await;
    let path = format!("/v1/admin/orgs/{}/activate", org.id);
    for client in [server.anonymous(), server.client(TOKEN), server.api(&org)] {
        client.post(&path).await.refused(404, "not_found");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn the_waitlist_refuses_taken_addresses(#[case] database: Database) {
    let server = Server::start(database).await;
    for (body, param) in [
        (json!({ "email": "ada", "tos_version": TERMS }), "email"),
        (json!({ "email": "ada@example.com", "name": "A", "tos_version": TERMS }), "name"),
        (json!({ "email": "ada@example.com", "name": "A".repeat(101), "tos_version": TERMS }), "name"),
        (json!({ "email": "ada@example.com", "tos_version": "" }), "tos_version"),
        (json!({ "tos_version": TERMS }), "email"),
    ] {
        join(&server, body).await.refused(400, "validation_error").param(param);
    }
    let stale = json!({ "email": "ada@example.com", "tos_version": "2020-01-01" });
    let stale = join(&server, stale).await.refused(409, "tos_version_stale");
    assert_eq!(stale.at("/error/current_version"), TERMS);

    // The answer reveals nothing about another organization with the address, waitlisted or not.
    let org = server.org_with("pro", &["--email", "owner@example.com"]).await;
    let refused = join(&server, of("owner@example.com")).await.refused(409, "conflict").code("email_taken");
    assert!(!refused.text().contains(&org.id));
    server.cli(&["org", "waitlist", &org.id]).await.succeeded();
    let refused = join(&server, of("owner@example.com")).await.refused(409, "conflict");
    assert!(!refused.text().contains(&org.id));
    assert!(server.mails().is_empty());

    // One of many concurrent requests creates the entry, and one mail is sent.
    let (anybody, body) = (server.anonymous(), of("grace@example.com"));
    let joining: Vec<_> = (0..8)
        .map(|_| {
            let call = anybody.post("/v1/waitlist").json(body.clone());
            tokio::spawn(async move { call.await.status })
        })
        .collect();
    let mut statuses = Vec::new();
    for joined in joining {
        statuses.push(joined.await.unwrap());
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [[200; 7].as_slice(), &[201]].concat());
    assert_eq!(server.wait_for_mails(1).await.len(), 1);
}

async fn accept(api: &Client, version: &str) -> Answer {
    api.post("/v1/terms/accept").json(json!({ "tos_version": version })).await
}

#[apply(on_both)]
#[tokio::test]
async fn an_organization_accepts_new_terms(#[case] database: Database) {
    let server = Server::start(database).await;
    let api = server.api(&server.org("pro").await);
    assert_eq!(api.get("/v1/agents").await.expect(200).header("service-terms-upgrade-required"), TERMS);
    let stale = accept(&api, "2020-01-01").await.refused(409, "tos_version_stale").param("tos_version");
    assert_eq!(stale.at("/error/current_version"), TERMS);
    accept(&api, "").await.refused(400, "validation_error").param("tos_version");
    let accepted = accept(&api, TERMS).await.expect(200);
    has_exactly(&accepted.json, &["data"]);
    has_exactly(&accepted["data"], &["accepted_terms_version", "accepted_terms_at"]);
    assert_eq!(accepted["data"]["accepted_terms_version"], TERMS);
    assert_eq!(accepted.header("service-terms-upgrade-required"), "");
    assert_eq!(api.get("/v1/agents").await.expect(200).header("service-terms-upgrade-required"), "");
    // Accepting again is not an error.
    accept(&api, TERMS).await.expect(200);
    accept(&server.anonymous(), TERMS).await.refused(401, "unauthorized");
}

#[apply(on_both)]
#[tokio::test]
async fn a_mail_domain_is_limited_to_ten_sign_ups_an_hour(#[case] database: Database) {
    let mut server = Server::start_with(database, &[("KALENDS_TRUSTED_PROXIES", "127.0.0.0/8")]).await;
    let person = async |server: &Server, from: &str, email: &str| {
        server.anonymous().post("/v1/auth/signup").header("x-forwarded-for", from).json(signing_up(email)).await
    };
    let sign_up = async |server: &Server, email: &str| {
        let body = json!({ "email": email, "agent_name": "Scout", "tos_version": TERMS });
        server.anonymous().post("/v1/agent/sign-up").json(body).await
    };
    // Known and new addresses both count, and every spelling of the domain counts as one domain.
    for number in 0..10 {
        let domain = if number % 2 == 0 { "bücher.example" } else { "XN--BCHER-KVA.example." };
        sign_up(&server, &format!("ada-{}@{domain}", number % 7)).await.expect(200);
    }
    for email in ["ada-0@bücher.example", "new@bücher.example"] {
        let refused = sign_up(&server, email).await.refused(429, "rate_limit_error");
        let after: i64 = refused.header("retry-after").parse().unwrap();
        assert!((3_500..=3_600).contains(&after), "{after}");
    }
    // A person is not kept out by strangers: two from each network can still sign up.
    for from in ["203.0.113.7", "198.51.100.7"] {
        for number in 0..2 {
            person(&server, from, &format!("{number}-{from}@bücher.example")).await.expect(201);
        }
        person(&server, from, &format!("late-{from}@bücher.example")).await.refused(429, "rate_limit_error");
    }
    sign_up(&server, "ada@example.com").await.expect(200);
    // An invalid address is refused first and is not counted.
    sign_up(&server, "not an address").await.refused(400, "validation_error");
    // The limit does not refill before the hour ends.
    server.restart_at_offset(1_800).await;
    sign_up(&server, "new@bücher.example").await.refused(429, "rate_limit_error");
    server.restart_at_offset(3_601).await;
    sign_up(&server, "new@bücher.example").await.expect(200);
}

#[apply(on_both)]
#[tokio::test]
async fn feedback_is_logged_and_bounded(#[case] database: Database) {
    let server = Server::start(database).await;
    let org = server.org("free").await;
    let api = server.api(&org);
    let send = async |body: Value| api.post("/v1/feedback").json(body).await;
    for (body, param) in [
        (json!({ "type": "praise", "message": "It is very good." }), "type"),
        (json!({ "type": "bug", "message": "too short" }), "message"),
        (json!({ "type": "bug", "message": "x".repeat(2_001) }), "message"),
        (json!({ "type": "bug", "message": "It is broken.", "context": [] }), "context"),
        (json!({ "type": "bug", "message": "It is broken.", "context": { "x": "x".repeat(20_000) } }), "context"),
    ] {
        send(body).await.refused(400, "validation_error").param(param);
    }
    let message = format!("With {} it takes\n2026-01-01T00:00:00Z ERROR forged: \u{1b}[2J three tries.", org.key);
    let context = json!({ "key": org.key, "sdk_name": "planted-sdk" });
    let accepted = send(json!({ "type": "friction", "message": message, "context": context })).await.expect(200);
    assert_eq!(accepted.json, json!({ "status": "accepted" }));
    for _ in 0..24 {
        send(json!({ "type": "bug", "message": "It is broken." })).await.expect(200);
    }
    let refused = send(json!({ "type": "bug", "message": "It is broken." })).await.refused(429, "quota_exceeded");
    let after: i64 = refused.header("retry-after").parse().unwrap();
    assert!((1..=86_400).contains(&after), "{after}");
    let log = server.log();
    assert!(log.contains("three tries") && log.contains("planted-sdk"), "{log}");
    assert!(log.contains("it takes\\n2026-01-01T00:00:00Z ERROR forged"), "in one line: {log}");
    assert!(!log.lines().any(|line| line.starts_with("2026-01-01T00:00:00Z ERROR")) && !log.contains("\u{1b}[2J"));
    assert!(!log.contains(&org.key), "a key in the text is redacted");
    server.anonymous().post("/v1/feedback").json(json!({})).await.refused(401, "unauthorized");
    // Feedback is not in the organization's audit log. A rate-limit entry may be.
    let mut actions = api.get("/v1/audit-log").await.expect(200).column("action");
    actions.retain(|action| action != "rate_limit.exceeded");
    assert_eq!(actions, ["key.create"]);
}
