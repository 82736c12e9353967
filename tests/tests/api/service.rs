//! The service itself: health, plans, the description, compression and CORS.

use crate::fixtures::{agent, has_exactly, is_time};
use crate::on_both;
use kalends_e2e::{Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

#[apply(on_both)]
#[tokio::test]
async fn health_needs_no_key(#[case] database: Database) {
    let server = Server::start(database).await;
    for path in ["/health", "/ready"] {
        let answer = server.anonymous().get(path).await.expect(200);
        has_exactly(&answer.json, &["status", "ts"]);
        assert_eq!(answer["status"], "ok");
        is_time(&answer["ts"]);
        assert_eq!(answer.header("content-type"), "application/json");
    }
    // An invalid key does not matter if none is needed.
    server.client("nonsense").get("/health").await.expect(200);
    server.client("nonsense").get("/v1/plans").await.expect(200);
}

#[apply(on_both)]
#[tokio::test]
async fn plans_have_their_published_limits(#[case] database: Database) {
    let server = Server::start(database).await;
    let anybody = server.anonymous();
    let answer = anybody.get("/v1/plans").await.expect(200);
    assert_eq!(answer.header("cache-control"), "public, max-age=300, s-maxage=3600, stale-while-revalidate=86400");
    for absent in ["ratelimit", "ratelimit-policy", "x-service-plan"] {
        assert_eq!(answer.header(absent), "", "{absent}");
    }
    has_exactly(&answer.json, &["plans"]);
    let plans = answer["plans"].as_array().unwrap();
    let ids: Vec<_> = plans.iter().map(|plan| plan["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["free", "pro", "custom"]);
    let common = ["id", "name", "tagline", "price", "currency", "limits", "display_features", "recommended"];
    for plan in plans {
        let custom = plan["id"] == "custom";
        let fields = [&common[..], if custom { &["custom_pricing", "contact_url"] } else { &[] }].concat();
        has_exactly(plan, &fields);
        assert!(plan["price"].is_null() || plan["price"].is_u64(), "{plan}");
        assert!(plan["currency"].is_null() || plan["currency"].as_str().is_some_and(|code| code.len() == 3), "{plan}");
        assert!(
            plan["display_features"].as_array().is_some_and(|lines| lines.iter().all(serde_json::Value::is_string))
        );
        assert!(plan["recommended"].is_boolean());
    }
    assert_eq!(plans[2]["custom_pricing"], true);
    assert!(plans[2]["contact_url"].is_null(), "the operator has not set a page");
    assert_eq!(
        plans[0]["limits"],
        json!({
            "agents": 3, "calendars": 10, "events": 2_500, "api_calls": 50_000, "webhook_deliveries": 5_000,
            "availability_queries": 10_000, "ical_subscriptions": 5, "proposals": 0, "webhook_endpoints": 3,
            "scoped_keys": 0, "recurring_events": 5
        })
    );
    assert_eq!(
        plans[1]["limits"],
        json!({
            "agents": 50, "calendars": 250, "events": 125_000, "api_calls": 1_000_000, "webhook_deliveries": 250_000,
            "availability_queries": 1_000_000, "ical_subscriptions": 100, "proposals": null, "webhook_endpoints": 25,
            "scoped_keys": 50, "recurring_events": 250
        })
    );

    let tag = answer.header("etag").to_owned();
    assert!(tag.starts_with('"') && tag.ends_with('"'), "{tag}");
    for condition in [tag.clone(), format!("\"x\", {tag}"), "*".into(), format!("W/{tag}")] {
        let unchanged = anybody.get("/v1/plans").header("if-none-match", &condition).await.expect(304);
        assert!(unchanged.bytes.is_empty());
        assert_eq!(unchanged.header("etag"), tag);
        assert_eq!(unchanged.header("cache-control"), answer.header("cache-control"));
    }
    assert_eq!(anybody.get("/v1/plans").header("if-none-match", "\"x\"").await.expect(200).json, answer.json);
}

#[apply(on_both)]
#[tokio::test]
async fn the_description_names_every_operation(#[case] database: Database) {
    // With a token, so that the administration routes exist.
    let server = Server::start_with(database, &[("KALENDS_ADMIN_TOKEN", "a-token-for-this-test")]).await;
    let document = server.anonymous().get("/openapi.json").await.expect(200);
    assert!(document["openapi"].as_str().is_some_and(|version| version.starts_with("3.")));
    assert_eq!(document["info"]["version"], "1.0.0");
    assert_eq!(document["servers"][0]["url"], server.base_url());
    let public = [
        "/health",
        "/ready",
        "/ical/{feed}",
        "/openapi.json",
        "/v1/plans",
        "/v1/auth/terms/current",
        "/v1/auth/signup",
        "/v1/auth/signin",
        "/v1/auth/password/forgot",
        "/v1/auth/password/reset",
        "/v1/auth/verify-email",
        "/v1/auth/claim/{id}/revoke",
        "/v1/auth/oauth/{provider}",
        "/v1/auth/oauth/{provider}/callback",
        "/v1/calendar-connections/oauth/{provider}/callback",
        "/v1/agent/sign-up",
        "/v1/waitlist",
        "/book/{slug}",
        "/book/assets/{name}",
        "/book/{slug}/slots",
        "/book/{slug}/bookings/{token}",
        "/book/{slug}/bookings/{token}/cancel",
        "/book/{slug}/bookings/{token}/move",
        "/book/{slug}/bookings/{token}/event.ics",
        "/book/emails/{token}",
        "/replies/{token}",
        "/rsvp/{token}",
    ];
    let mut operations = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            operations += 1;
            let name = format!("{method} {path}");
            assert!(operation["operationId"].is_string(), "{name}");
            let secured = operation["security"].as_array().is_some_and(|schemes| !schemes.is_empty());
            assert_eq!(secured, !public.contains(&path.as_str()), "{name}");
            // A call without a key is refused if the description says so.
            let concrete = path.replace(['{', '}'], "");
            let answer = server.anonymous().call(method.to_uppercase().parse().unwrap(), &concrete).await;
            assert_eq!(answer.status == 401, secured, "{}", answer.describe());
        }
    }
    assert!(operations >= 34, "{operations}");
    let page = server.anonymous().get("/docs/").await.expect(200);
    assert!(page.header("content-type").starts_with("text/html"));
    assert!(page.header("content-security-policy").contains("frame-ancestors 'none'"));
    assert!(!page.text().contains("https://") && !page.text().contains("//cdn"), "the page works offline");
}

#[apply(on_both)]
#[tokio::test]
async fn long_answers_are_compressed(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let mut ids = Vec::new();
    for _ in 0..8 {
        let body = json!({ "name": "Ada", "type": "ai", "description": "Plans the week. ".repeat(20) });
        ids.push(api.post("/v1/agents").json(body).await.expect(201).id());
    }
    let plain = api.get("/v1/agents").await.expect(200);
    assert_eq!(plain.header("content-encoding"), "");
    assert!(plain.header("vary").to_ascii_lowercase().contains("accept-encoding"), "{}", plain.describe());
    for coding in ["gzip", "zstd"] {
        let raw = api.get("/v1/agents").header("accept-encoding", coding).await.expect(200);
        assert_eq!(raw.header("content-encoding"), coding);
        assert!(raw.bytes.len() * 2 < plain.bytes.len(), "{coding}: {} of {}", raw.bytes.len(), plain.bytes.len());
        let decoded = api.decoding(coding).get("/v1/agents").await.expect(200);
        assert_eq!(decoded.json, plain.json, "{coding}");
        // Errors and short answers are not compressed.
        let short = api.get("/health").header("accept-encoding", coding).await.expect(200);
        assert_eq!(short.header("content-encoding"), "", "{coding}");
        let refused = api.get("/v1/agents/x").header("accept-encoding", coding).await.refused(404, "not_found");
        assert_eq!(refused.header("content-encoding"), "", "{coding}");
    }
    let unknown = api.get("/v1/agents").header("accept-encoding", "br, middle-out").await.expect(200);
    assert_eq!((unknown.header("content-encoding"), &unknown.json), ("", &plain.json));
    // A tag identifies the resource, whatever the content coding.
    let path = format!("/v1/agents/{}", ids[0]);
    let tag = api.get(&path).header("accept-encoding", "gzip").await.expect(200).header("etag").to_owned();
    api.patch(&path).header("if-match", &tag).json(json!({ "name": "Bob" })).await.expect(200);
}

#[apply(on_both)]
#[tokio::test]
async fn browsers_may_read_public_paths(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    agent(&api).await;
    let origin = "https://somewhere.example";
    for path in ["/health", "/openapi.json", "/v1/plans", "/v1/auth/terms/current"] {
        let answer = server.anonymous().get(path).header("origin", origin).await.expect(200);
        assert_eq!(answer.header("access-control-allow-origin"), "*", "{path}");
    }
    let answer = api.get("/v1/agents").header("origin", origin).await.expect(200);
    assert_eq!(answer.header("access-control-allow-origin"), "");
    let preflight = server
        .anonymous()
        .call(reqwest::Method::OPTIONS, "/v1/agents")
        .header("origin", origin)
        .header("access-control-request-method", "POST")
        .await;
    assert_eq!(preflight.header("access-control-allow-origin"), "");
}

#[apply(on_both)]
#[tokio::test]
async fn configured_origins_may_call_everything(#[case] database: Database) {
    let named = "https://app.example";
    let variables = [("KALENDS_CORS_ORIGINS", "https://App.example/, http://localhost:3000")];
    let server = Server::start_with(database, &variables).await;
    let org = server.planned_org("pro", &[]).await;
    let preflight = async |origin: &str| {
        let request = server.anonymous().call(reqwest::Method::OPTIONS, "/v1/agents").header("origin", origin);
        request.header("access-control-request-method", "POST").await
    };
    for origin in [named, "http://localhost:3000"] {
        let answer = preflight(origin).await.expect(204);
        assert_eq!(answer.header("access-control-allow-origin"), origin);
        assert!(answer.header("access-control-allow-headers").contains("authorization"), "{}", answer.describe());
    }
    assert_eq!(preflight("https://evil.example").await.header("access-control-allow-origin"), "");
    for (key, status) in [(server.api(&org), 200), (server.anonymous(), 401)] {
        let answer = key.get("/v1/agents").header("origin", named).await;
        assert_eq!((answer.status, answer.header("access-control-allow-origin")), (status, named));
        assert_eq!(answer.header("access-control-allow-credentials"), "", "{}", answer.describe());
    }
}
