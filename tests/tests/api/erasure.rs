//! The rows and files after an account's deletion. None may identify the account.

use crate::on_both;
use std::time::{Duration, Instant};

use kalends_e2e::{Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::{
    claims,
    console::{Human, cookie, owner, signing_up},
    fixtures::{agent_with_calendar, calendar_of, event_body, wait_until},
    holds::{hold_body, in_seconds},
    secrecy::{holds, kept},
    stored::{hurry, naming, number, tables},
};

const AGENT: &str = "scout@example.com";
const START: &str = "2031-03-03T09:00:00Z";
const END: &str = "2031-03-03T10:00:00Z";

/// The tables that have rows of the account before it is deleted.
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

#[apply(on_both)]
#[tokio::test]
async fn no_table_names_a_deleted_account(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let neighbour = server.org("pro").await;
    let (_, theirs) = agent_with_calendar(&server.api(&neighbour)).await;

    // An organization with rows in every table. An agent signed it up, an operator gave it a plan with all features, a
    // user owns it, and another user tried to claim it.
    let (org, key) = claims::agent(&server, AGENT).await;
    server.cli(&["org", "set-plan", &org, "pro"]).await.succeeded();
    hurry(&server, AGENT).await;
    let api = server.client(&key);
    wait_until(|| async { api.get("/v1/agents").await }, |answer| answer.header("x-service-plan") == "pro").await;
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
    // Late enough that a request that was running can no longer add anything.
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

    // The acceptances of the terms are kept, two for this account, but without its identity.
    assert_eq!(number(&server, nobody_s).await, 2);
    assert_eq!(number(&server, "select count(*) from terms_acceptances").await, acceptances);
    // The neighbour's data stays, and so does the user, who owns another organization.
    let stored = tables(&server).await;
    for table in ["agents", "api_keys", "audit_log", "calendars", "organizations", "usage_counters"] {
        assert!(naming(&stored, &neighbour.id).contains(table), "{table}");
    }
    server.api(&neighbour).get(format!("/v1/calendars/{theirs}")).await.expect(200);
    let entering = json!({ "email": format!("owner-of-{AGENT}"), "password": crate::console::PASSWORD });
    let entered = server.anonymous().post("/v1/auth/signin").json(entering).await.expect(200);
    assert_ne!(entered["org"]["id"], org.as_str());
}

/// A word in every text that the API accepts for the account below.
const PLANTED: &str = "zanzibar";

#[apply(on_both)]
#[tokio::test]
async fn no_planted_word_remains_after_deletion(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let neighbour = server.org("pro").await;
    let planted = |what: &str| format!("{PLANTED}-{what}");
    let email = format!("{PLANTED}-owner@example.com");
    let mut body = signing_up(&email);
    (body["name"], body["org_name"]) = (json!(planted("human")), json!(planted("org")));
    let made = server.anonymous().post("/v1/auth/signup").json(body).await.expect(201);
    let text = |pointer: &str| made.at(pointer).as_str().unwrap().to_owned();
    let (org, user, session) = (text("/org/id"), text("/user/id"), server.client(&cookie(&made).0));
    server.cli(&["org", "set-plan", &org, "pro"]).await.succeeded();
    hurry(&server, &email).await;
    let api = server.client(&text("/api_key"));
    wait_until(|| async { api.get("/v1/agents").await }, |answer| answer.header("x-service-plan") == "pro").await;

    let secret = |what: &str| json!({ planted("in-metadata"): { "deep": [planted(what)] } });
    // Long enough to need several database pages, and changed, so that it is stored in several places.
    let mut body = json!({ "name": planted("agent"), "type": "ai", "description": planted("agent-text ").repeat(40) });
    body["metadata"] = secret("in-metadata-of-agent");
    let agent =
        api.post("/v1/agents").header("idempotency-key", planted("key")).json(body.clone()).await.expect(201).id();
    let renamed = json!({ "name": planted("agent-renamed"), "metadata": secret("in-metadata-changed") });
    api.patch(format!("/v1/agents/{agent}")).json(renamed).await.expect(200);
    let mut body = json!({ "name": planted("calendar"), "timezone": "UTC" });
    body["metadata"] = secret("in-metadata-of-calendar");
    let calendar = api.post(format!("/v1/agents/{agent}/calendars")).json(body).await.expect(201).id();
    api.patch(format!("/v1/calendars/{calendar}")).json(json!({ "name": planted("renamed") })).await.expect(200);
    let events = format!("/v1/calendars/{calendar}/events");
    let mut body = event_body(&planted("in-metadata-title"), START, END);
    (body["description"], body["metadata"]) = (json!(planted("in-metadata-text")), secret("in-metadata-of-event"));
    let event = api.post(&events).header("idempotency-key", "k").json(body.clone()).await.expect(201).id();
    api.patch(format!("/v1/events/{event}")).json(json!({ "title": planted("in-metadata-new") })).await.expect(200);
    body["recurrence_rule"] = json!("FREQ=WEEKLY");
    api.post(&events).json(body).await.expect(201);
    let hook = json!({ "url": format!("https://kalends.invalid/{PLANTED}-in-metadata-hook"), "events": ["*"] });
    api.post("/v1/webhooks").json(hook).await.expect(201);
    api.delete(format!("/v1/events/{event}")).await.expect(204);
    let feed = format!("https://kalends.invalid/{PLANTED}-in-metadata.ics");
    let feed = json!({ "calendar_id": calendar, "url": feed, "label": planted("in-metadata-label") });
    api.post(format!("/v1/agents/{agent}/ical-subscriptions")).json(feed).await.expect(201);
    let mut page = json!({ "calendar_id": calendar, "title": planted("in-metadata-page"), "duration_minutes": 60 });
    (page["window_days"], page["description"]) = (json!(7), json!(planted("in-metadata-page-text")));
    let page = api.post("/v1/booking-pages").json(page).await.expect(201);
    let book = format!("/book/{}", page["slug"].as_str().unwrap());
    let slots = server.anonymous().get(format!("{book}/slots")).await.expect(200);
    let mut guest = crate::bookings::booking(&crate::bookings::starts(&slots)[0]);
    guest["name"] = json!(planted("in-metadata-guest"));
    server.anonymous().post(&book).json(guest).await.expect(201);
    api.post("/v1/feedback").json(json!({ "type": "bug", "message": planted("feedback") })).await.expect(200);
    api.get(format!("/v1/agents/{PLANTED}")).await.refused(404, "not_found");
    session.patch("/v1/auth/me").json(json!({ "name": planted("human-renamed") })).await.expect(200);

    // The latest names are in the files in clear. The sealed texts are not.
    let alive = kept(&server).await;
    assert!(!holds(&alive, "in-metadata"), "{}", around(&alive, "in-metadata"));
    assert!(holds(&alive, &planted("agent-renamed")) && holds(&alive, &planted("renamed")), "names are in the clear");

    session.delete("/v1/auth/account").await.expect(204);
    server.restart_at_offset(60).await;
    let began = Instant::now();
    loop {
        let stored = tables(&server).await;
        let left: Vec<_> =
            [&org, &user, &agent, &calendar, &event].map(|id| naming(&stored, id)).into_iter().flatten().collect();
        if left.is_empty() {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{left:?} still name it");
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    server.api(&neighbour).get("/v1/agents").await.expect(200);
    assert!(server.stop().await.success());
    let left = kept(&server).await;
    assert!(!holds(&left, PLANTED), "{}", around(&left, PLANTED));
}

/// The text around each occurrence of `part`.
fn around(kept: &str, part: &str) -> String {
    let near =
        |(at, _): (usize, &str)| kept[at..].chars().take(60).filter(|letter| !letter.is_control()).collect::<String>();
    kept.match_indices(part).take(9).map(near).collect::<Vec<_>>().join("\n")
}
