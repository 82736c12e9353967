//! What is left of a deleted account: nothing that names it.

use std::time::{Duration, Instant};

use kalends_e2e::{
    Database::{self, Postgres, Sqlite},
    Server,
};
use rstest::rstest;
use serde_json::json;

use crate::{
    claims,
    console::{Human, owner},
    fixtures::{agent_with_calendar, calendar_of, event_body, heeded},
    holds::{hold_body, in_seconds},
    stored::{hurry, naming, number, tables},
};

const AGENT: &str = "scout@example.com";
const START: &str = "2031-03-03T09:00:00Z";
const END: &str = "2031-03-03T10:00:00Z";

/// Tables of which the account has rows before it is deleted.
const FILLED: [&str; 16] = [
    "account_claims",
    "agents",
    "allowances",
    "api_keys",
    "audit_log",
    "availability_rules",
    "busy_days",
    "calendars",
    "events",
    "idempotent_answers",
    "organization_owners",
    "organizations",
    "sessions",
    "terms_acceptances",
    "usage_counters",
    "verification_codes",
];

#[rstest]
#[case::sqlite(Sqlite)]
#[case::postgres(Postgres)]
#[tokio::test]
async fn no_table_names_a_deleted_account(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let neighbour = server.org("pro").await;
    let (_, theirs) = agent_with_calendar(&server.api(&neighbour)).await;

    // An organization with something in every table: an agent signed it up, an operator put it on a plan with all
    // features, a human owns it, and another one wanted to.
    let (org, key) = claims::agent(&server, AGENT).await;
    server.cli(&["org", "set-plan", &org, "pro"]).await.succeeded();
    hurry(&server, AGENT).await;
    let api = server.client(&key);
    heeded(|| async { api.get("/v1/agents").await }, |answer| answer.header("x-service-plan") == "pro").await;
    let own = api.get("/v1/agents").await.expect(200).column("id")[0].clone();
    let calendar = calendar_of(&api, &own).await;
    let events = format!("/v1/calendars/{calendar}/events");
    let mut body = event_body("x", START, END);
    let event = api.post(&events).header("idempotency-key", "k").json(body.clone()).await.expect(201).id();
    body["recurrence_rule"] = json!("FREQ=WEEKLY");
    api.post(&events).json(body).await.expect(201);
    let hold = hold_body("2031-03-04T09:00:00Z", "2031-03-04T10:00:00Z", &in_seconds(&api, 600).await, 0);
    api.post(&events).json(hold).await.expect(201);
    let rules = json!({ "buffer_before_minutes": 5 });
    api.put(format!("/v1/calendars/{calendar}/availability-rules")).json(rules).await.expect(200);
    api.post("/v1/keys").json(json!({ "agent_id": own })).await.expect(201);
    api.get(format!("/v1/agents/{own}/availability?start={START}&end={END}")).await.expect(200);
    api.post("/v1/feedback").json(json!({ "type": "bug", "message": "It is broken." })).await.expect(200);
    api.post("/v1/terms/accept").json(json!({ "tos_version": "2026-01-01" })).await.expect(200);
    let bob = server.client(&Human::sign_up(&server, "bob@example.com").await.token);
    claims::initiate(&bob, AGENT).await;
    let session = owner(&server, AGENT).await;
    session.get("/v1/auth/export").await.expect(200);
    let stored = tables(&server).await;
    let filled = naming(&stored, &org);
    for table in FILLED {
        assert!(filled.contains(table), "nothing of the account is in {table}, but in {filled:?}");
    }
    let nobody_s = "select count(*) from terms_acceptances where org_id is null";
    assert_eq!(number(&server, nobody_s).await, 0);
    let acceptances = number(&server, "select count(*) from terms_acceptances").await;

    session.delete("/v1/auth/account").await.expect(204);
    api.get("/v1/agents").await.refused(401, "unauthorized");
    // Past the time in which a request that was under way might still have added something.
    server.restart_at_offset(60).await;
    let began = Instant::now();
    loop {
        let stored = tables(&server).await;
        let left: Vec<_> =
            [&org, &own, &calendar, &event].map(|id| naming(&stored, id)).into_iter().flatten().collect();
        if left.is_empty() {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{left:?} still name it");
        tokio::time::sleep(Duration::from_millis(250)).await;
    }

    // That terms were accepted is kept, twice for this one, and not by whom.
    assert_eq!(number(&server, nobody_s).await, 2);
    assert_eq!(number(&server, "select count(*) from terms_acceptances").await, acceptances);
    // All that is the neighbour's stays, and so does the human, who owns another organization.
    let stored = tables(&server).await;
    for table in ["agents", "api_keys", "audit_log", "calendars", "organizations", "usage_counters"] {
        assert!(naming(&stored, &neighbour.id).contains(table), "{table}");
    }
    server.api(&neighbour).get(format!("/v1/calendars/{theirs}")).await.expect(200);
    let entering = json!({ "email": format!("owner-of-{AGENT}"), "password": crate::console::PASSWORD });
    let entered = server.anonymous().post("/v1/auth/signin").json(entering).await.expect(200);
    assert_ne!(entered["org"]["id"], org.as_str());
}
