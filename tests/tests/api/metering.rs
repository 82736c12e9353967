//! Rate limits, monthly quotas, usage, and limits by address.

use crate::on_both;
use std::sync::atomic::{AtomicU32, Ordering};

use futures::future::join_all;
use kalends_e2e::{
    Answer, Client, Database,
    Database::{Postgres, Sqlite},
    Org, Server,
};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::fixtures::{agent, agent_with_calendar, filled, has_exactly, is_time, now, time, wait_until};

const PLANNED: &str = "custom";

async fn at_once(count: usize, api: &Client, path: &str) -> Vec<Answer> {
    join_all((0..count).map(|_| api.get(path).into_future())).await
}

fn with_status(answers: &[Answer], status: u16) -> usize {
    answers.iter().filter(|answer| answer.status == status).count()
}

async fn usage(api: &Client) -> Value {
    api.get("/v1/usage").await.expect(200).json
}

async fn calls_used(api: &Client) -> u64 {
    usage(api).await["api_calls"]["used"].as_u64().unwrap()
}

/// The number after `key=` in a structured field.
fn number(field: &str, key: &str) -> i64 {
    let (_, rest) = field.split_once(&format!(";{key}=")).unwrap_or_else(|| panic!("no {key} in {field}"));
    rest.split(';').next().unwrap().parse().unwrap()
}

#[apply(on_both)]
#[tokio::test]
async fn headers_show_the_remaining_quota(#[case] database: Database) {
    let server = Server::start(database).await;
    let api = server.api(&server.org_with("free", &["--limits", r#"{"api_calls":100}"#]).await);
    let mut left = 100;
    for (answer, status) in [
        (api.get("/v1/agents").await, 200),
        (api.get("/v1/agents/agt_x").await, 404),
        (api.get("/v1/agents?limit=0").await, 400),
        (api.get("/v1/availability?agents=x&start=2026-05-04T09:00:00Z&end=2026-05-04T10:00:00Z").await, 403),
        (api.post("/v1/agents").json(json!({ "name": "x", "type": "ai" })).await, 201),
    ] {
        let answer = answer.expect(status);
        left -= 1;
        let (policy, limit) = (answer.header("ratelimit-policy"), answer.header("ratelimit"));
        assert!(policy.starts_with("\"api_calls\";q=100;w=2592000;pk=:") && policy.ends_with("==:"), "{policy}");
        assert!(limit.starts_with("\"api_calls\";"), "{limit}");
        assert_eq!(number(limit, "r"), left, "{}", answer.describe());
        let end = time(&usage_end(&now(&api).await));
        let seconds = (end - kalends_e2e::at(&now(&api).await)).num_seconds();
        // The answer is a little older than this time.
        assert!((seconds - 5..=seconds + 60).contains(&number(limit, "t")), "{limit} for {seconds}");
        assert_eq!(answer.header("x-service-plan"), "free");
    }
    let unlimited = server.api(&server.org("custom").await).get("/v1/agents").await.expect(200);
    let nobody = server.anonymous().get("/v1/agents").await.expect(401);
    for answer in [unlimited, nobody, server.anonymous().get("/v1/plans").await.expect(200)] {
        assert_eq!((answer.header("ratelimit-policy"), answer.header("ratelimit")), ("", ""), "{}", answer.describe());
    }
}

/// The start of the next month after `now`.
fn usage_end(now: &str) -> Value {
    let (year, month): (i32, u32) = (now[..4].parse().unwrap(), now[5..7].parse().unwrap());
    let (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    json!(format!("{year}-{month:02}-01T00:00:00Z"))
}

#[apply(on_both)]
#[tokio::test]
async fn api_calls_are_counted_exactly(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let org = server.org_with("pro", &["--limits", r#"{"api_calls":90}"#]).await;
    let api = server.api(&org);
    // Half of the quota one by one, and then more than the rest at once.
    for _ in 0..45 {
        api.get("/v1/agents").await.expect(200);
    }
    let answers = at_once(80, &api, "/v1/agents").await;
    assert_eq!((with_status(&answers, 200), with_status(&answers, 429)), (45, 35));
    let full = api.get("/v1/agents").await.refused(429, "quota_exceeded").mentions("api_calls");
    assert_eq!(number(full.header("ratelimit"), "r"), 0);
    assert_eq!(number(full.header("ratelimit"), "t").to_string(), full.header("retry-after"));
    assert_eq!(full.header("x-service-plan"), "pro");
    api.get("/v1/usage").await.refused(429, "quota_exceeded");
    // An unauthenticated request gets 401, even if the quota is used up.
    server.client("svc_sk_garbage").get("/v1/agents").await.refused(401, "unauthorized");

    server.restart().await;
    let api = server.api(&org);
    api.get("/v1/agents").await.refused(429, "quota_exceeded");
    // A larger plan continues from the count of the smaller one.
    server.cli(&["org", "set-plan", &org.id, "pro", "--limits", r#"{"api_calls":1000}"#]).await.succeeded();
    wait_until(|| async { api.get("/v1/agents").await }, |answer| answer.status == 200).await;
    assert_eq!(calls_used(&api).await, 92);
    // A smaller plan ends the quota at once, even if calls have been leased.
    server.cli(&["org", "set-plan", &org.id, "pro", "--limits", r#"{"api_calls":50}"#]).await.succeeded();
    wait_until(|| async { api.get("/v1/agents").await }, |answer| answer.status == 429).await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_429_is_not_counted(#[case] database: Database) {
    let server = Server::start(database).await;
    let api = server.api(&server.org_with("pro", &["--limits", r#"{"agents":1}"#]).await);
    agent(&api).await;
    for _ in 0..5 {
        api.post("/v1/agents").json(json!({ "name": "x", "type": "ai" })).await.refused(429, "quota_exceeded");
    }
    assert_eq!(calls_used(&api).await, 2, "the agent's creation and this request");
}

#[apply(on_both)]
#[tokio::test]
async fn availability_queries_are_counted(#[case] database: Database) {
    let server = Server::start(database).await;
    let api = server.api(&server.org_with("pro", &["--limits", r#"{"availability_queries":3}"#]).await);
    let (own, calendar) = agent_with_calendar(&api).await;
    let window = "start=2026-05-04T09:00:00Z&end=2026-05-04T12:00:00Z";
    let used = async || usage(&api).await["availability_queries"]["used"].as_u64().unwrap();
    // A request that fails does not count as a query, and neither does an explanation.
    api.get(format!("/v1/agents/agt_x/availability?{window}")).await.refused(404, "not_found");
    api.get(format!("/v1/agents/{own}/availability")).await.refused(400, "validation_error");
    api.get(format!("/v1/availability/explain?agent={own}&{window}")).await.expect(200);
    assert_eq!(used().await, 0);
    for path in [
        format!("/v1/agents/{own}/availability?{window}"),
        format!("/v1/calendars/{calendar}/availability?{window}"),
        format!("/v1/availability?agents={own}&{window}"),
    ] {
        api.get(path).await.expect(200);
    }
    assert_eq!(used().await, 3);
    let before = calls_used(&api).await;
    let full = api.get(format!("/v1/calendars/{calendar}/availability?{window}")).await.refused(429, "quota_exceeded");
    full.mentions("availability_queries");
    assert_eq!(calls_used(&api).await, before + 1, "the 429 is not counted, but the usage request is");
    assert_eq!(used().await, 3);
    // Other requests still work.
    api.get("/v1/agents").await.expect(200);
}

#[apply(on_both)]
#[tokio::test]
async fn usage_shows_counts_and_limits(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let org = server.org(PLANNED).await;
    let api = server.api(&org);
    let (own, calendar) = agent_with_calendar(&api).await;
    api.post("/v1/keys").json(json!({ "agent_id": own })).await.expect(201);
    let weekly = json!({
        "title": "x", "start_time": "2031-05-05T09:00:00Z", "end_time": "2031-05-05T10:00:00Z",
        "recurrence_rule": "FREQ=WEEKLY"
    });
    api.post(format!("/v1/calendars/{calendar}/events")).json(weekly).await.expect(201);
    let usage_now = usage(&api).await;
    let counted = [
        ("agents", 1),
        ("calendars", 1),
        ("events", 1),
        ("webhook_deliveries", 0),
        ("availability_queries", 0),
        ("ical_subscriptions", 0),
        ("proposals", 0),
        ("webhook_endpoints", 0),
        ("scoped_keys", 1),
        ("recurring_events", 1),
        ("booking_pages", 0),
        ("imported_events", 0),
    ];
    let mut fields = vec!["plan", "period_start", "period_end", "api_calls"];
    fields.extend(counted.map(|(name, _)| name));
    has_exactly(&usage_now, &fields);
    for (name, used) in counted {
        assert_eq!(usage_now[name], json!({ "used": used, "limit": null }), "{name}");
    }
    assert_eq!(usage_now["api_calls"], json!({ "used": 5, "limit": null, "remaining": null }));
    assert_eq!(usage_now["plan"], "scale");
    is_time(&usage_now["period_start"]);
    assert_eq!(usage_now["period_end"], usage_end(&now(&api).await));

    // Leased calls are given back at shutdown, so that only used ones are charged.
    server.restart().await;
    let api = server.api(&org);
    assert_eq!(usage(&api).await["api_calls"]["used"], 6);

    let free = server.api(&server.org_with("free", &["--limits", r#"{"api_calls":70}"#]).await);
    let usage_now = usage(&free).await;
    assert_eq!(usage_now["api_calls"], json!({ "used": 1, "limit": 70, "remaining": 69 }));
    assert_eq!((&usage_now["agents"], &usage_now["plan"]), (&json!({ "used": 0, "limit": 3 }), &json!("free")));
    assert_eq!(usage_now["booking_pages"]["limit"], 1);
    free.get("/v1/usage?x=1").await.refused(400, "validation_error").code("unknown_field");
}

#[apply(on_both)]
#[tokio::test]
async fn counting_restarts_each_month(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let org = server.org_with("pro", &["--limits", r#"{"api_calls":3}"#]).await;
    let api = server.api(&org);
    for _ in 0..3 {
        api.get("/v1/agents").await.expect(200);
    }
    let full = api.get("/v1/agents").await.refused(429, "quota_exceeded");
    let left: i64 = full.header("retry-after").parse().unwrap();
    server.restart_at_offset(left + 1).await;
    let api = server.api(&org);
    assert_eq!(usage(&api).await["api_calls"], json!({ "used": 1, "limit": 3, "remaining": 2 }));
}

#[tokio::test]
async fn nodes_share_a_quota() {
    const LIMIT: usize = 300;
    let mut server = Server::start(Postgres).await;
    let org = server.org_with("pro", &["--limits", r#"{"api_calls":300}"#]).await;
    let mut node = server.another_node().await;
    let (here, there) = (server.api(&org), node.api(&org));
    let mut admitted = 0;
    for _ in 0..10 {
        let (one, other) = tokio::join!(at_once(40, &here, "/v1/agents"), at_once(40, &there, "/v1/agents"));
        admitted += with_status(&one, 200) + with_status(&other, 200);
    }
    assert!(admitted <= LIMIT, "{admitted}");
    // A node that stops gives back its lease. Another node spends it after a second, when it asks again.
    assert!(node.stop().await.success());
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    admitted += with_status(&at_once(80, &here, "/v1/agents").await, 200);
    assert_eq!(admitted, LIMIT);
    assert!(server.stop().await.success());
}

#[apply(on_both)]
#[tokio::test]
async fn the_plan_sets_a_key_s_rate(#[case] database: Database) {
    let server = Server::start(database).await;
    for (plan, rate) in [("free", 10), ("pro", 50)] {
        let org: Org = server.planned_org(plan, &[]).await;
        let api = server.api(&org).impatient();
        // The checks of the described client would take longer than the requests, and the rate would not be reached.
        let answers = at_once(4 * rate, &api.undescribed(), "/v1/agents").await;
        let (admitted, refused) = (with_status(&answers, 200), with_status(&answers, 429));
        assert_eq!(admitted + refused, 4 * rate);
        assert!(admitted >= rate && refused > 0, "{plan}: {admitted}");
        let refused: Vec<_> = answers.into_iter().filter(|answer| answer.status == 429).collect();
        for answer in refused {
            let answer = answer.error("rate_limit_error");
            assert_eq!(answer.header("retry-after"), "1");
            assert_eq!(answer.header("ratelimit-policy"), format!("\"burst\";q={rate};w=1"));
            assert_eq!(answer.header("ratelimit"), "\"burst\";r=0;t=1");
            assert_eq!(answer.header("x-service-plan"), plan);
        }
        // Refused requests are not counted, and another key of the organization is not limited.
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        assert_eq!(usage(&api).await["api_calls"]["used"], admitted + 1);
    }
    let org = server.planned_org("pro", &["--limits", r#"{"rate_per_second":1}"#]).await;
    let api = server.api(&org);
    let own = agent(&api).await;
    let key = api.post("/v1/keys").json(json!({ "agent_id": own })).await.expect(201);
    let scoped = server.client(key["key"].as_str().unwrap()).impatient();
    // Of ten at once, some are refused on a slow machine too.
    for (key, path) in [(api.impatient(), "/v1/agents".to_owned()), (scoped, format!("/v1/agents/{own}"))] {
        let answers = at_once(10, &key, &path).await;
        let (admitted, refused) = (with_status(&answers, 200), with_status(&answers, 429));
        assert!(admitted + refused == 10 && refused > 0, "{path}: {admitted} of 10");
    }
    // Another key of the organization is not limited by this one.
    let fresh = api.post("/v1/keys").json(json!({ "agent_id": own })).await.expect(201);
    at_once(10, &api.impatient(), "/v1/agents").await;
    server.client(fresh["key"].as_str().unwrap()).impatient().get(format!("/v1/agents/{own}")).await.expect(200);
}

#[tokio::test]
async fn requests_without_a_key_are_limited_by_address() {
    let limits = [("KALENDS_IP_LIMITS", "plans=3,sign_up=2,waitlist=1")];
    let mut server = Server::start_with(Sqlite, &limits).await;
    let plans = async |server: &Server, from: &str| {
        server.anonymous().impatient().get("/v1/plans").header("X-Forwarded-For", from).await
    };
    let addresses = AtomicU32::new(1);
    let next = || addresses.fetch_add(1, Ordering::Relaxed);
    // Without a trusted proxy, the header is ignored.
    filled(3, async || unless_limited(plans(&server, &format!("192.0.2.{}", next())).await, 200)).await;
    // Each kind of request has its own limit. Requests with a key have none of them.
    let body = json!({ "email": "", "agent_name": "x", "tos_version": "2026-01-01" });
    let sign_up = || server.anonymous().impatient().post("/v1/agent/sign-up").json(body.clone());
    filled(2, async || unless_limited(sign_up().await, 400)).await;
    let join = || server.anonymous().impatient().post("/v1/waitlist").json(json!({}));
    filled(1, async || unless_limited(join().await, 400)).await;
    server.anonymous().impatient().get("/health").await.expect(200);
    server.api(&server.org("pro").await).get("/v1/agents").await.expect(200);

    // Behind a trusted proxy, the header counts.
    assert!(server.stop().await.success());
    server.start_again(&[("KALENDS_TRUSTED_PROXIES", "127.0.0.0/8")]).await;
    for from in ["192.0.2.1", "192.0.2.2", "2001:db8::1, 192.0.2.3"] {
        filled(3, async || unless_limited(plans(&server, from).await, 200)).await;
    }
    // An IPv6 network is one caller.
    filled(3, async || unless_limited(plans(&server, &format!("2001:db8::{:x}", next())).await, 200)).await;
    plans(&server, "2001:db8:0:1::1").await.expect(200);
}

/// The answer. If it is not the refusal of a limit, it must have this status.
#[track_caller]
fn unless_limited(answer: Answer, status: u16) -> Answer {
    if answer.status == 429 { answer } else { answer.expect(status) }
}
