//! The default limits by address.

use crate::on_both;
use std::sync::atomic::{AtomicU32, Ordering};

use kalends_e2e::{Database, Server};
use reqwest::Method;
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::{console::Human, fixtures::filled};

const TERMS: &str = "2026-01-01";

#[apply(on_both)]
#[tokio::test]
async fn requests_without_a_key_are_limited_by_address(#[case] database: Database) {
    let server = Server::start_with(database, &[("KALENDS_IP_LIMITS", "default")]).await;
    let anybody = server.anonymous().impatient();
    filled(60, async || anybody.get("/v1/plans").await).await;
    let mut reads = filled(60, async || anybody.get("/book/nobody-s/slots").await).await;
    reads.refuses(async || anybody.get("/book/nobody-s/bookings/nobody-s").await).await;
    let guest = json!({ "name": "Ada", "email": "ada@example.com", "start": "2031-03-03T09:00:00Z" });
    let mut writes = filled(10, async || anybody.post("/book/nobody-s").json(guest.clone()).await).await;
    writes.refuses(async || anybody.post("/book/nobody-s/bookings/nobody-s/cancel").await).await;
    filled(120, async || anybody.get("/ical/nobody-s.ics").await).await;

    // Each sign-up has a new address. Users and agents share the limit.
    let made = AtomicU32::new(0);
    let sign_up = async || {
        let email = format!("scout-{}@example.com", made.fetch_add(1, Ordering::Relaxed));
        let body = json!({ "email": email, "agent_name": "Scout", "tos_version": TERMS });
        anybody.post("/v1/agent/sign-up").json(body).await
    };
    let mut sign_ups = filled(5, sign_up).await;
    sign_ups.refuses(async || anybody.post("/v1/auth/signup").json(json!({})).await).await;
    filled(5, async || anybody.post("/v1/waitlist").json(json!({})).await).await;
    filled(10, async || anybody.post("/v1/auth/signin").json(json!({})).await).await;

    // Refused requests have no effect, and unlimited paths still work.
    let listed = server.cli(&["org", "list"]).await.succeeded().stdout;
    assert_eq!(listed.lines().count(), usize::try_from(made.load(Ordering::Relaxed)).unwrap() - 1);
    for path in ["/health", "/v1/auth/terms/current", "/openapi.json"] {
        anybody.get(path).await.expect(200);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn all_attempts_at_a_secret_share_one_limit(#[case] database: Database) {
    let variables = [("KALENDS_IP_LIMITS", "default"), ("KALENDS_TRUSTED_PROXIES", "127.0.0.0/8")];
    let server = Server::start_with(database, &variables).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    // Only the limits by address may apply here.
    let fast = ["org", "set-plan", &ada.org, "custom", "--limits", r#"{"rate_per_second": 1000000}"#];
    server.cli(&fast).await.succeeded();
    let (anybody, session) = (server.anonymous().impatient(), server.client(&ada.token).impatient());
    // All of these are invalid, which is cheaper and still counts.
    let kinds = [
        (&anybody, Method::POST, "/v1/auth/signin", 400),
        (&anybody, Method::GET, "/v1/auth/oauth/google", 404),
        (&session, Method::POST, "/v1/auth/claim/verify", 400),
        (&anybody, Method::POST, "/v1/auth/claim/clm_nothing/revoke", 400),
        (&session, Method::POST, "/v1/auth/password", 400),
    ];
    let ask = async |kind: usize, from: &str| {
        let (client, method, path, _) = &kinds[kind];
        let call = client.call(method.clone(), path).header("x-forwarded-for", from);
        if *method == Method::POST { call.json(json!({})).await } else { call.await }
    };
    for (kind, (_, method, path, status)) in kinds.iter().enumerate() {
        let from = format!("192.0.2.{kind}");
        let first = ask(kind, &format!("198.51.100.{kind}")).await;
        assert_eq!(first.status, *status, "{method} {path}: {}", first.describe());
        let mut attempts = filled(10, async || ask(kind, &from).await).await;
        for other in 0..kinds.len() {
            attempts.refuses(async || ask(other, &from).await).await;
        }
        // Other requests of the same caller are not limited.
        session.get("/v1/auth/me").header("x-forwarded-for", &from).await.expect(200);
    }
    // Taken in turn, all kinds together get no further than one of them.
    let turn = AtomicU32::new(0);
    let in_turn = async || {
        let turn = usize::try_from(turn.fetch_add(1, Ordering::Relaxed)).unwrap();
        ask(turn % kinds.len(), "203.0.113.7").await
    };
    filled(10, in_turn).await;
}
