//! The limits of an organization that an agent has signed up, before and after its address is verified.

use crate::on_both;
use kalends_e2e::{Client, Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    claims,
    console::owner,
    fixtures::{calendar_of, event, event_body},
    holds::{hold_body, in_seconds, set_body},
    stored::hurry,
};

const AGENT: &str = "scout@example.com";
const START: &str = "2031-03-03T09:00:00Z";
const END: &str = "2031-03-03T10:00:00Z";

/// The plan's limits in the sandbox and after the verification. The sandbox has the recurring events and booking pages
/// of Free.
const CAPS: [(&str, u64, u64); 13] = [
    ("agents", 1, 3),
    ("calendars", 1, 10),
    ("events", 10, 2_500),
    ("api_calls", 1_000, 50_000),
    ("availability_queries", 50, 10_000),
    ("webhook_deliveries", 25, 5_000),
    ("webhook_endpoints", 1, 3),
    ("ical_subscriptions", 1, 5),
    ("proposals", 0, 0),
    ("scoped_keys", 0, 0),
    ("recurring_events", 5, 5),
    ("booking_pages", 1, 1),
    ("imported_events", 1_000, 5_000),
];

/// Signs up an agent. Returns its organization and a client with its key.
async fn signed_up(server: &Server) -> (String, Client) {
    let (org, key) = claims::agent(server, AGENT).await;
    hurry(server, AGENT).await;
    (org, server.client(&key))
}

async fn verify(server: &Server, api: &Client) {
    let code = server.wait_for_mails(1).await[0].code().to_owned();
    api.post("/v1/agent/verify").json(json!({ "otp": code })).await.expect(200);
}

/// The plan's internal name, which only the operator sees.
async fn plan(server: &Server, org: &str) -> String {
    let listed = server.cli(&["org", "list"]).await.succeeded().stdout;
    let line = listed.lines().find(|line| line.contains(org)).unwrap_or_else(|| panic!("{org} in {listed}"));
    claims::text(&serde_json::from_str::<Value>(line).unwrap()["plan"])
}

/// Requires that everything that needs a paid plan is refused, by feature.
async fn lacks_every_feature(server: &Server, api: &Client, session: &Client, agent: &str, calendar: &str) {
    let events = format!("/v1/calendars/{calendar}/events");
    let single = api.get(&events).await.expect(200).column("id")[0].clone();
    let until = in_seconds(api, 600).await;
    let recurring = |rule: &str| {
        let mut body = event_body("x", START, END);
        body["recurrence_rule"] = json!(rule);
        body
    };
    let key = json!({ "agent_id": agent });
    let across = format!("/v1/availability?agents={agent}&start={START}&end={END}");
    for (feature, call) in [
        ("scoped_keys", api.post("/v1/keys").json(key.clone())),
        ("scoped_keys", api.get("/v1/keys")),
        ("scoped_keys", api.delete("/v1/keys/key_nothing")),
        ("scoped_keys", session.post("/v1/auth/keys/scoped").json(key)),
        ("holds", api.post(&events).json(hold_body(START, END, &until, 0))),
        ("holds", api.put(format!("/v1/events/{single}/confirm"))),
        ("holds", api.put(format!("/v1/events/{single}/release"))),
        ("holds", api.post("/v1/hold-sets").json(set_body(&[calendar], START, END, &until))),
        ("holds", api.put("/v1/hold-sets/hst_nothing/confirm")),
        ("holds", api.put("/v1/hold-sets/hst_nothing/release")),
        ("cross_agent_availability", api.get(across)),
        ("unbounded_recurrence", api.post(&events).json(recurring("FREQ=WEEKLY"))),
        // The last occurrence starts 91 days after the first.
        ("unbounded_recurrence", api.post(&events).json(recurring("FREQ=WEEKLY;COUNT=14"))),
        (
            "unbounded_recurrence",
            api.post(format!("{events}/batch")).json(json!({ "events": [recurring("FREQ=DAILY")] })),
        ),
        (
            "unbounded_recurrence",
            api.patch(format!("/v1/events/{single}")).json(json!({ "recurrence_rule": "FREQ=DAILY" })),
        ),
    ] {
        let refused = call.await.refused(403, "plan_required").mentions(feature);
        let error = &refused["error"];
        assert_eq!(
            (&error["feature"], &error["required_plan"]),
            (&json!(feature), &json!("pro")),
            "{}",
            refused.describe()
        );
        assert_eq!(error.get("upgrade_url"), Some(&json!(null)), "the operator has not set a page");
        assert_eq!(error["docs_url"], format!("{}/docs/", server.base_url()));
        assert_eq!(refused.header("x-service-plan"), "free");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn paid_features_stay_refused_after_verification(#[case] database: Database) {
    let server = Server::start(database).await;
    let (org, api) = signed_up(&server).await;
    let agent = api.get("/v1/agents").await.expect(200).column("id")[0].clone();
    let calendar = calendar_of(&api, &agent).await;
    event(&api, &calendar, START, END).await;
    let session = owner(&server, AGENT).await;
    let usage = async || api.get("/v1/usage").await.expect(200);

    assert_eq!(plan(&server, &org).await, "free-agent-unverified");
    lacks_every_feature(&server, &api, &session, &agent, &calendar).await;
    verify(&server, &api).await;
    assert_eq!(plan(&server, &org).await, "free-agent");
    lacks_every_feature(&server, &api, &session, &agent, &calendar).await;
    // None of these had an effect. They count only as calls.
    let usage_now = usage().await;
    for metric in ["events", "availability_queries", "recurring_events", "scoped_keys"] {
        assert_eq!(usage_now[metric]["used"], u64::from(metric == "events"), "{metric}");
    }

    // Free features work: a series that ends within 90 days, and the availability of one agent.
    let mut series = event_body("x", START, END);
    series["recurrence_rule"] = json!("FREQ=WEEKLY;COUNT=13");
    api.post(format!("/v1/calendars/{calendar}/events")).json(series).await.expect(201);
    api.get(format!("/v1/agents/{agent}/availability?start={START}&end={END}")).await.expect(200);
    let usage_now = usage().await;
    for (metric, used) in [("events", 2), ("availability_queries", 1), ("recurring_events", 1)] {
        assert_eq!(usage_now[metric]["used"], used, "{metric}");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn usage_shows_the_limits_before_and_after_verification(#[case] database: Database) {
    let server = Server::start(database).await;
    let (_, api) = signed_up(&server).await;
    let calls_used = async |verified: bool| {
        let answer = api.get("/v1/usage").await.expect(200);
        assert_eq!(answer["plan"], "free");
        for (metric, sandbox, free) in CAPS {
            let cap = if verified { free } else { sandbox };
            assert_eq!(answer[metric]["limit"], cap, "{metric}, verified: {verified}");
        }
        let calls = |field: &str| answer["api_calls"][field].as_u64().unwrap();
        assert_eq!(calls("remaining"), calls("limit") - calls("used"));
        let policy = format!("\"api_calls\";q={};w=2592000;", calls("limit"));
        assert!(answer.header("ratelimit-policy").starts_with(&policy), "{}", answer.describe());
        calls("used")
    };
    let used = calls_used(false).await;
    assert_eq!(used, 1);

    // The limits apply.
    let agent = api.get("/v1/agents").await.expect(200).column("id")[0].clone();
    let calendar = calendar_of(&api, &agent).await;
    let availability = format!("/v1/calendars/{calendar}/availability?start={START}&end={END}");
    for _ in 0..50 {
        api.get(&availability).await.expect(200);
    }
    let full = || async { api.get(&availability).await };
    full().await.refused(429, "quota_exceeded").mentions("availability_queries");
    let mut series = event_body("x", START, END);
    series["recurrence_rule"] = json!("FREQ=WEEKLY;COUNT=2");
    let events = format!("/v1/calendars/{calendar}/events");
    for _ in 0..5 {
        api.post(&events).json(series.clone()).await.expect(201);
    }
    api.post(&events).json(series.clone()).await.refused(429, "quota_exceeded").mentions("recurring_events");

    verify(&server, &api).await;
    // 2 reads, 1 calendar, 50 answers, 5 series, the verification and this request. A 429 is not counted.
    assert_eq!(calls_used(true).await, 60);
    full().await.expect(200);
    api.post(&events).json(series).await.refused(429, "quota_exceeded").mentions("recurring_events");
}
