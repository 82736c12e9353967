//! The export of an account, and its deletion.

use crate::on_both;
use std::time::{Duration, Instant};

use kalends_e2e::{Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    console::owner,
    fixtures::{agent, agent_with_calendar, event_body, has_exactly, rows},
};

const KEYS: [&str; 21] = [
    "exported_at",
    "format_version",
    "org",
    "members",
    "agents",
    "calendars",
    "events",
    "availability_rules",
    "ical_subscriptions",
    "booking_pages",
    "calendar_connections",
    "availability_grants",
    "webhook_subscriptions",
    "api_keys",
    "scheduling_proposals",
    "proposal_slots",
    "proposal_responses",
    "usage_records",
    "quota_counters",
    "tos_acceptances",
    "account_claims_initiated",
];

#[apply(on_both)]
#[tokio::test]
async fn an_export_holds_everything(#[case] database: Database) {
    let server = Server::start(database).await;
    let org = server.org_with("pro", &["--email", "ada@example.com"]).await;
    let (api, other) = (server.api(&org), server.api(&server.org("pro").await));
    let session = owner(&server, "ada@example.com").await;
    api.post("/v1/terms/accept").json(json!({ "tos_version": "2026-01-01" })).await.expect(200);
    let (owner, calendar) = agent_with_calendar(&api).await;
    let left = agent(&api).await;
    for (agent, label) in [(&owner, "laptop"), (&left, "left")] {
        api.post("/v1/keys").json(json!({ "agent_id": agent, "label": label })).await.expect(201);
    }
    api.delete(format!("/v1/agents/{left}")).await.expect(204);
    let (_, theirs) = agent_with_calendar(&other).await;
    let event = event_body("A neighbour's", "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z");
    other.post(format!("/v1/calendars/{theirs}/events")).json(event).await.expect(201);
    // More events than fit on a page.
    let mut made = Vec::new();
    for batch in 0..5 {
        let events: Vec<_> = (0..100)
            .map(|number| {
                event_body(&format!("Secret {batch}-{number} é"), "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z")
            })
            .collect();
        let answer = api.post(format!("/v1/calendars/{calendar}/events/batch")).json(json!({ "events": events })).await;
        made.extend(answer.expect(201).column("id"));
    }
    let gone = made.pop().unwrap();
    api.delete(format!("/v1/events/{gone}")).await.expect(204);
    let series = json!({
        "title": "Weekly", "start_time": "2026-05-04T09:00:00Z", "end_time": "2026-05-04T10:00:00Z",
        "recurrence_rule": "FREQ=WEEKLY;COUNT=3"
    });
    made.push(api.post(format!("/v1/calendars/{calendar}/events")).json(series).await.expect(201).id());
    let rules = json!({ "buffer_before_minutes": 5, "timezone": "UTC" });
    api.put(format!("/v1/calendars/{calendar}/availability-rules")).json(rules).await;

    let export = session.get("/v1/auth/export").await.expect(200);
    assert_eq!(export.header("content-type"), "application/json");
    assert_eq!(export.header("cache-control"), "no-store");
    let name = export.header("content-disposition");
    let day = export["exported_at"].as_str().unwrap()[..10].to_owned();
    assert_eq!(name, format!("attachment; filename=\"kalends-export-{day}.json\""));
    has_exactly(&export.json, &KEYS);
    assert_eq!(export["format_version"], 1);
    assert_eq!((&export["org"]["id"], &export["org"]["email"]), (&json!(org.id), &json!("ada@example.com")));
    let ids = |name: &str| -> Vec<String> {
        let list = export[name].as_array().unwrap_or_else(|| panic!("{name} is not a list"));
        list.iter().map(|entry| entry["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!((ids("agents"), ids("calendars")), (vec![owner, left], vec![calendar]));
    let mut events = ids("events");
    events.sort_unstable();
    made.sort_unstable();
    assert_eq!(events, made);
    let titles: Vec<_> = export["events"].as_array().unwrap().iter().map(|event| event["title"].clone()).collect();
    assert!(titles.contains(&json!("Secret 3-7 é")) && titles.contains(&json!("Weekly")));
    let token = export["calendars"][0]["ical_token"].as_str().unwrap();
    assert!(export["calendars"][0]["ical_url"].as_str().unwrap().contains(token));
    let [key, scoped] = export["api_keys"].as_array().unwrap().as_slice() else { panic!("{:#}", export["api_keys"]) };
    has_exactly(key, &["id", "key_prefix", "agent_id", "label", "created_at", "created_by", "last_used_on"]);
    assert_eq!((&key["key_prefix"], &key["agent_id"]), (&json!(org.key[..20]), &Value::Null));
    assert_eq!((&scoped["agent_id"], &scoped["label"]), (&json!(ids("agents")[0]), &json!("laptop")));
    let gone = export["agents"].as_array().unwrap().iter().find(|agent| agent["status"] == "decommissioned").unwrap();
    assert_ne!(scoped["agent_id"], gone["id"], "the export lists no key that no longer works");
    assert!(!export.text().contains(&org.key) && !export.text().contains("neighbour"));
    assert_eq!(export["tos_acceptances"][0]["version"], "2026-01-01");
    let counted = export["quota_counters"].as_array().unwrap().iter().find(|entry| entry["metric"] == "events");
    assert_eq!(counted.map(|entry| (&entry["used"], &entry["limit"])), Some((&json!(501), &json!(125_000))));

    for _ in 1..10 {
        session.get("/v1/auth/export").await.expect(200);
    }
    let refused = session.get("/v1/auth/export").await.refused(429, "rate_limited");
    assert!(refused.header("retry-after").parse::<i64>().is_ok_and(|after| (3_500..=3_600).contains(&after)));
    for caller in [&api, &server.anonymous()] {
        caller.get("/v1/auth/export").await.refused(401, "authentication_error");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_deleted_account_is_gone(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let org = server.org_with("pro", &["--email", "ada@example.com"]).await;
    let kept = server.org("pro").await;
    let (api, other) = (server.api(&org), server.api(&kept));
    let (_, calendar) = agent_with_calendar(&api).await;
    agent_with_calendar(&other).await;
    for _ in 0..3 {
        let event = event_body("x", "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z");
        let events = vec![event; 100];
        api.post(format!("/v1/calendars/{calendar}/events/batch")).json(json!({ "events": events })).await.expect(201);
    }
    let path = "/v1/auth/account";
    let owner = owner(&server, "ada@example.com").await;
    for caller in [&api, &other, &server.anonymous()] {
        caller.delete(path).await.refused(401, "authentication_error");
    }
    owner.delete(path).await.expect(204);
    api.get("/v1/agents").await.refused(401, "unauthorized");
    owner.delete(path).await.refused(401, "authentication_error");
    assert_eq!(other.get("/v1/agents").await.expect(200)["total"], 1);
    let listed = server.cli(&["org", "list"]).await.succeeded();
    assert!(!listed.stdout.contains(&org.id) && listed.stdout.contains(&kept.id));
    // The address is free again.
    let body = json!({ "email": "ada@example.com", "agent_name": "Scout", "tos_version": "2026-01-01" });
    let again = server.anonymous().post("/v1/agent/sign-up").json(body).await.expect(200);
    assert_ne!(again["org_id"], Value::String(org.id.clone()));

    // A crash only delays the removal.
    server.kill().await;
    server.start_again(&[]).await;
    let began = Instant::now();
    // This counts the rows of every organization. Only the deleted one had any.
    while rows(&server, "events").await > 0 {
        assert!(began.elapsed() < Duration::from_secs(60), "gone within a minute");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}
