//! A user's actions on their organization in the console: terms, export, keys, and deletion.

use crate::on_both;
use kalends_e2e::{
    Database::{self, Postgres},
    Server,
};
use reqwest::Method;
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::{
    console::{Human, PASSWORD, by_cookie, own},
    fixtures::{agent, agent_with_calendar, event_body, has_exactly, wait_until},
};

const ME: &str = "/v1/auth/me";
const ACCOUNT: &str = "/v1/auth/account";
const REGENERATE: &str = "/v1/auth/keys/regenerate";

async fn sign_in(server: &Server, email: &str) -> kalends_e2e::Answer {
    server.anonymous().post("/v1/auth/signin").json(json!({ "email": email, "password": PASSWORD })).await
}

#[apply(on_both)]
#[tokio::test]
async fn a_user_accepts_the_terms(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let header = "service-terms-upgrade-required";
    assert_eq!(server.client(&ada.token).get(ME).await.expect(200).header(header), "");
    assert!(server.stop().await.success());
    server.start_again(&[("KALENDS_TERMS_VERSION", "2026-11-01")]).await;
    let session = server.client(&ada.token);
    for answer in [session.get(ME).await, session.patch(ME).json(json!({})).await, session.get("/v1/auth/orgs").await] {
        assert_eq!(answer.header(header), "2026-11-01", "errors carry it too");
    }
    let accept = |version: &str| session.patch("/v1/auth/terms").json(json!({ "tos_version": version }));
    let stale = accept("2026-01-01").await.refused(409, "tos_version_stale");
    assert_eq!(stale["error"]["current_version"], "2026-11-01");
    accept("").await.refused(400, "validation_error").param("tos_version");
    server
        .client(&ada.key)
        .patch("/v1/auth/terms")
        .json(json!({ "tos_version": "2026-11-01" }))
        .await
        .refused(401, "authentication_error");
    let accepted = accept("2026-11-01").await.expect(200);
    has_exactly(&accepted.json, &["data"]);
    has_exactly(&accepted["data"], &["accepted_terms_version", "accepted_terms_at"]);
    assert_eq!(accepted["data"]["accepted_terms_version"], "2026-11-01");
    assert_eq!(accepted.header(header), "");
    assert_eq!(session.get(ME).await.expect(200)["accepted_terms_version"], "2026-11-01");
    let log = server.client(&ada.key).get("/v1/audit-log?action=org.update").await.expect(200);
    assert_eq!(log.data()[0]["actor_key_prefix"], ada.user[..20]);
}

#[apply(on_both)]
#[tokio::test]
async fn a_user_renames_the_organization(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let session = server.client(&ada.token);
    let rename = |body: serde_json::Value| session.patch("/v1/auth/org").json(body);
    for (body, param) in [
        (json!({}), "body"),
        (json!({ "name": null }), "name"),
        (json!({ "name": " " }), "name"),
        (json!({ "name": "x", "plan": "pro" }), "plan"),
    ] {
        rename(body).await.refused(400, "validation_error").param(param);
    }
    let by_key = server.client(&ada.key).patch("/v1/auth/org").json(json!({ "name": "x" })).await;
    by_key.refused(401, "authentication_error");
    let renamed = rename(json!({ "name": "Difference" })).await.expect(200);
    has_exactly(&renamed.json, &["id", "name", "plan", "is_waitlisted", "created_at"]);
    let me = session.get(ME).await.expect(200);
    assert_eq!((&renamed.json, &me["org"]["name"]), (&me["org"], &json!("Difference")));
    // The same name again changes nothing, and the audit log has no entry of it.
    let unchanged = rename(json!({ "name": "Difference" })).await.expect(200);
    assert_eq!(unchanged.json, renamed.json);
    let log = session.get("/v1/audit-log?action=org.update").await.expect(200);
    let entry = &log.data()[0];
    assert_eq!((log.data().len(), &entry["path"]), (1, &json!("/v1/auth/org")));
    assert_eq!((&entry["resource"], &entry["actor_key_prefix"]), (&json!(ada.org), &json!(ada.user[..20])));
}

#[apply(on_both)]
#[tokio::test]
async fn a_user_exports_their_organization(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let api = server.client(&ada.key);
    let (_, calendar) = agent_with_calendar(&api).await;
    let event = event_body("Secret", "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z");
    api.post(format!("/v1/calendars/{calendar}/events")).json(event).await.expect(201);

    let export = by_cookie(&server, &ada.token, Method::GET, "/v1/auth/export").await.expect(200);
    assert_eq!(export.header("content-type"), "application/json");
    assert_eq!(export.header("cache-control"), "no-store");
    let day = export["exported_at"].as_str().unwrap()[..10].to_owned();
    let name = format!("attachment; filename=\"kalends-export-{day}.json\"");
    assert_eq!(export.header("content-disposition"), name);
    assert_eq!((&export["org"]["id"], &export["events"][0]["title"]), (&json!(ada.org), &json!("Secret")));
    assert_eq!(export["org"]["signup_source"], "console");
    for secret in [&ada.key, &ada.token, PASSWORD, "argon2"] {
        assert!(!export.text().contains(secret));
    }
    let session = server.client(&ada.token);
    for coding in ["identity", "gzip", "zstd"].iter().cycle().take(9) {
        let again = session.decoding(coding).get("/v1/auth/export").await.expect(200);
        assert_eq!(again["events"], export["events"], "{coding}");
    }
    let refused = session.get("/v1/auth/export").await.refused(429, "rate_limited");
    assert!(refused.header("retry-after").parse::<i64>().is_ok_and(|after| (1..=3_600).contains(&after)));
    for token in [ada.key.as_str(), "x"] {
        server.client(token).get("/v1/auth/export").await.refused(401, "authentication_error");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn an_organization_s_key_is_replaced(#[case] database: Database) {
    let server = Server::start(database).await;
    let other = if database == Postgres { Some(server.another_node().await) } else { None };
    let elsewhere = other.as_ref().unwrap_or(&server);
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let bob = Human::sign_up(&server, "bob@example.com").await;
    server.cli(&["org", "set-plan", &ada.org, "pro"]).await.succeeded();
    let session = server.client(&ada.token);
    let agent = agent(&server.client(&ada.key)).await;
    wait_until(|| async { session.get(ME).await }, |answer| answer["plan"] == "pro").await;
    let scoped = json!({ "agent_id": agent, "label": "laptop" });
    let made = session.post("/v1/auth/keys/scoped").json(scoped.clone()).await.expect(201);
    has_exactly(&made.json, &["id", "key", "key_prefix", "agent_id", "label", "created_at"]);
    let scoped_key = made["key"].as_str().unwrap().to_owned();
    session.post("/v1/auth/keys/scoped").json(json!({ "agent_id": "agt_x" })).await.refused(404, "not_found");
    for node in [&server, elsewhere] {
        node.client(&ada.key).get("/v1/agents").await.expect(200);
    }

    let replaced = session.post(REGENERATE).await.expect(200);
    has_exactly(&replaced.json, &["key", "key_prefix"]);
    let key = replaced["key"].as_str().unwrap().to_owned();
    assert!(key.starts_with("svc_sk_") && key.starts_with(replaced["key_prefix"].as_str().unwrap()));
    for node in [elsewhere, &server] {
        node.client(&ada.key).get("/v1/agents").await.refused(401, "unauthorized");
        node.client(&key).get("/v1/agents").await.expect(200);
        node.client(&scoped_key).get("/v1/calendars").await.expect(200);
        node.client(&bob.key).get("/v1/agents").await.expect(200);
    }
    let log = server.client(&key).get("/v1/audit-log?action=key.regenerate").await.expect(200);
    assert_eq!(log.data()[0]["actor_key_prefix"], ada.user[..20]);
    assert!(!log.text().contains(&key));

    // After concurrent replacements, only one key works.
    let (one, two) = tokio::join!(session.post(REGENERATE), session.post(REGENERATE));
    let mut open = 0;
    for answer in [one.expect(200), two.expect(200)] {
        let status = server.client(answer["key"].as_str().unwrap()).get("/v1/agents").await.status;
        open += u32::from(status == 200);
    }
    assert_eq!(open, 1);

    // A key cannot create keys here, and neither can a waitlisted user.
    server.client(&key).post(REGENERATE).await.refused(401, "authentication_error");
    server.client(&bob.token).post("/v1/auth/keys/scoped").json(scoped.clone()).await.refused(403, "plan_required");
    server.cli(&["org", "waitlist", &bob.org]).await.succeeded();
    let waiting = server.client(&bob.token);
    waiting.post(REGENERATE).await.refused(403, "account_waitlisted");
    waiting.post("/v1/auth/keys/scoped").json(scoped).await.refused(403, "account_waitlisted");
    waiting.get(ME).await.expect(200);
}

#[apply(on_both)]
#[tokio::test]
async fn deleting_the_only_organization_deletes_the_user(#[case] database: Database) {
    let server = Server::start(database).await;
    let other = if database == Postgres { Some(server.another_node().await) } else { None };
    let elsewhere = other.as_ref().unwrap_or(&server);
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let bob = Human::sign_up(&server, "bob@example.com").await;
    let second = sign_in(elsewhere, "ada@example.com").await.expect(200)["token"].as_str().unwrap().to_owned();
    elsewhere.client(&ada.key).get("/v1/agents").await.expect(200);
    server.client(&ada.key).delete(ACCOUNT).await.refused(401, "authentication_error");
    let foreign = server.anonymous().delete(ACCOUNT).header("cookie", format!("service_session={}", ada.token));
    foreign.await.refused(403, "forbidden").code("cross_site");

    let gone = by_cookie(&server, &ada.token, Method::DELETE, ACCOUNT).await.expect(204);
    assert_eq!(gone.header("set-cookie"), "service_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax");
    for node in [elsewhere, &server] {
        for token in [&ada.token, &second] {
            node.client(token).get(ME).await.refused(401, "authentication_error");
        }
        node.client(&ada.key).get("/v1/agents").await.refused(401, "unauthorized");
        node.client(&bob.token).get(ME).await.expect(200);
    }
    sign_in(&server, "ada@example.com").await.refused(401, "authentication_error");
    // The address is free again.
    let again = Human::sign_up(&server, "ada@example.com").await;
    assert_ne!((again.org, again.user), (ada.org, ada.user));
}

#[apply(on_both)]
#[tokio::test]
async fn a_user_with_another_organization_stays(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let second = server.org_with("pro", &["--email", "second@example.com"]).await;
    own(&server, "ada@example.com", "second@example.com").await;
    let elder = sign_in(&server, "ada@example.com").await.expect(200);
    assert_eq!(elder["org"]["id"], json!(second.id), "the one that is owned longest");
    let elder = elder["token"].as_str().unwrap().to_owned();
    server.client(&ada.token).delete(ACCOUNT).await.expect(204);
    for token in [&ada.token, &elder] {
        server.client(token).get(ME).await.refused(401, "authentication_error");
    }
    server.client(&ada.key).get("/v1/agents").await.refused(401, "unauthorized");
    let back = sign_in(&server, "ada@example.com").await.expect(200);
    assert_eq!(back["org"]["id"], json!(second.id));
    let session = server.client(back["token"].as_str().unwrap());
    assert_eq!(session.get("/v1/auth/orgs").await.expect(200).at("/orgs").as_array().map(Vec::len), Some(1));
    server.api(&second).get("/v1/agents").await.expect(200);
    session.delete(ACCOUNT).await.expect(204);
    sign_in(&server, "ada@example.com").await.refused(401, "authentication_error");
}
