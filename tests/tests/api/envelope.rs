//! The common behaviour of every operation: authentication, routes, methods, bodies.

use crate::on_both;
use kalends_e2e::{Database, Server};
use reqwest::Method;
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::fixtures::{agent, agent_with_calendar, event};

#[apply(on_both)]
#[tokio::test]
async fn only_a_valid_key_is_accepted(#[case] database: Database) {
    let server = Server::start(database).await;
    let org = server.org("pro").await;
    let anybody = server.anonymous();
    let unknown = format!("svc_sk_{}", "A".repeat(43));
    let other_case = org.key.replace("svc_sk_", "SVC_SK_");
    let cut = &org.key[..org.key.len() - 1];
    let long = format!("svc_sk_{}", "A".repeat(4_000));
    for authorization in [
        None,
        Some(String::new()),
        Some("Bearer".into()),
        Some("Bearer ".into()),
        Some(format!("Basic {}", org.key)),
        Some(org.key.clone()),
        Some(format!("Bearer {unknown}")),
        Some(format!("Bearer {other_case}")),
        Some(format!("Bearer {cut}")),
        Some(format!("Bearer {}x", org.key)),
        Some(format!("Bearer {} {}", org.key, org.key)),
        Some(format!("Bearer {long}")),
        Some("Bearer eyJhbGciOiJIUzI1NiJ9.e30.x".into()),
    ] {
        let mut call = anybody.get("/v1/agents");
        if let Some(authorization) = &authorization {
            call = call.header("authorization", authorization);
        }
        let answer = call.await.refused(401, "unauthorized");
        assert!(answer.header("www-authenticate").starts_with("Bearer"), "{}", answer.describe());
        assert!(!answer.text().contains(&org.key), "{}", answer.describe());
    }
    // A key in the query string is ignored.
    anybody.get(format!("/v1/agents?api_key={}", org.key)).await.refused(401, "unauthorized");
    // The scheme is case-insensitive.
    anybody.get("/v1/agents").header("authorization", format!("bearer {}", org.key)).await.expect(200);
    // An unauthenticated caller does not learn whether a resource exists or a body is valid.
    anybody.get("/v1/agents/agt_x").await.refused(401, "unauthorized");
    anybody.post("/v1/agents").json(json!({})).await.refused(401, "unauthorized");
    anybody.delete("/v1/calendars/cal_x").await.refused(401, "unauthorized");
}

#[apply(on_both)]
#[tokio::test]
async fn a_request_id_always_comes_from_the_service(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let sent = "req_01jn8r6v9ke0bt3m5qz2c7xwdh";
    let answer = api.get("/v1/agents").header("x-request-id", sent).await.expect(200);
    assert_ne!(answer.header("x-request-id"), sent);
    let refused = api.get("/v1/agents/x").header("x-request-id", sent).await.refused(404, "not_found");
    assert_ne!(refused["error"]["request_id"], sent);
    assert_ne!(answer.header("x-request-id"), refused.header("x-request-id"));
    assert_eq!(answer.headers.get_all("x-request-id").iter().count(), 1);
}

#[apply(on_both)]
#[tokio::test]
async fn unknown_routes_and_methods_are_refused(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let owner = agent(&api).await;
    for path in ["/v1", "/v1/", "/v1/agent", "/v2/agents", "/nothing", "/v1/agents/", "/v1/agents/a/b/c", "//v1/agents"]
    {
        api.get(path).await.refused(404, "not_found");
        server.anonymous().get(path).await.refused(404, "not_found");
        api.post(path).json(json!({})).await.refused(404, "not_found");
    }
    for (method, path, allowed) in [
        (Method::PUT, "/v1/agents".to_owned(), vec!["GET", "POST"]),
        (Method::DELETE, "/v1/agents".to_owned(), vec!["GET", "POST"]),
        (Method::POST, format!("/v1/agents/{owner}"), vec!["GET", "PATCH", "DELETE"]),
        (Method::PUT, format!("/v1/agents/{owner}"), vec!["GET", "PATCH", "DELETE"]),
        (Method::POST, "/v1/availability".to_owned(), vec!["GET"]),
        (Method::POST, "/health".to_owned(), vec!["GET"]),
        (Method::GET, "/v1/agent/sign-up".to_owned(), vec!["POST"]),
        (Method::from_bytes(b"FROBNICATE").unwrap(), "/v1/agents".to_owned(), vec!["GET", "POST"]),
    ] {
        let answer = api.call(method, path).await.refused(405, "invalid_request");
        for method in allowed {
            assert!(answer.header("allow").contains(method), "{}", answer.describe());
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_body_must_be_json(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    let id = event(&api, &calendar, "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z").await;
    let writes = [
        (Method::POST, "/v1/agents".to_owned()),
        (Method::PATCH, format!("/v1/agents/{owner}")),
        (Method::POST, "/v1/calendars".to_owned()),
        (Method::POST, format!("/v1/agents/{owner}/calendars")),
        (Method::PATCH, format!("/v1/calendars/{calendar}")),
        (Method::POST, format!("/v1/calendars/{calendar}/events")),
        (Method::POST, format!("/v1/calendars/{calendar}/events/batch")),
        (Method::PATCH, format!("/v1/calendars/{calendar}/events/{id}")),
        (Method::PATCH, format!("/v1/events/{id}")),
        (Method::POST, "/v1/agent/sign-up".to_owned()),
        (Method::POST, "/v1/agent/verify".to_owned()),
    ];
    for (method, path) in &writes {
        let call = |body: Vec<u8>| api.call(method.clone(), path).header("content-type", "application/json").body(body);
        for body in
            ["", "{", "{\"name\":}", "{'name':'x'}", "name=x", "{} {}", "nul", "\u{feff}{}", "{\"name\":\"\u{1}\"}"]
        {
            call(body.into()).await.refused(400, "invalid_request");
        }
        call(b"{\"name\":\"\xff\"}".to_vec()).await.refused(400, "invalid_request");
        // Half a surrogate pair is allowed by JSON's grammar, but is not text.
        call(br#"{"name":"\ud800"}"#.to_vec()).await.expect(400);
        for declared in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "json"] {
            let answer = api.call(method.clone(), path).header("content-type", declared).body("{}").await;
            answer.refused(415, "invalid_request");
        }
        let large = format!("{{\"name\":\"{}\"}}", "x".repeat(1 << 20));
        call(large.into_bytes()).await.refused(413, "invalid_request");
    }
    let charset = api.post("/v1/agents").header("content-type", "application/json; charset=utf-8");
    charset.body(r#"{"name":"Ada","type":"ai"}"#).await.expect(201);
    // A body of exactly one MiB is read. Only then is the field refused.
    let frame = r#"{"name":"","type":"ai"}"#.len();
    let full = format!(r#"{{"name":"{}","type":"ai"}}"#, "x".repeat((1 << 20) - frame));
    let answer = api.post("/v1/agents").header("content-type", "application/json").body(full).await;
    answer.refused(400, "validation_error").param("name");
    assert_eq!(api.get("/v1/agents").await.expect(200)["total"], 2);
}

#[apply(on_both)]
#[tokio::test]
async fn head_answers_like_get_without_a_body(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let owner = agent(&api).await;
    for path in ["/v1/agents".to_owned(), format!("/v1/agents/{owner}"), "/health".to_owned(), "/v1/plans".to_owned()] {
        let answer = api.call(Method::HEAD, &path).await.expect(200);
        assert!(answer.bytes.is_empty());
        assert_eq!(answer.header("content-type"), api.get(&path).await.expect(200).header("content-type"));
    }
    let tagged = api.get(format!("/v1/agents/{owner}")).await.expect(200);
    let head = api.call(Method::HEAD, format!("/v1/agents/{owner}")).await;
    assert_eq!(head.header("etag"), tagged.header("etag"));
    assert!(api.call(Method::HEAD, "/v1/agents/agt_x").await.expect(404).bytes.is_empty());
    assert!(server.anonymous().call(Method::HEAD, "/v1/agents").await.expect(401).bytes.is_empty());
}
