//! How an agent asks a user for a calendar, and how the user answers.

use crate::on_both;
use chrono::TimeDelta;
use kalends_e2e::{Answer, Database, at};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    claims::text,
    connecting::{Connecting, HUMAN, ORG, open, token},
    console::Human,
    fixtures::{agent_with_calendar, has_exactly, is_id, now, shared_calendar, time},
    stored::execute,
};

const FIELDS: [&str; 7] =
    ["id", "calendar_id", "status", "capabilities", "publication_policy", "expires_at", "connection_id"];
const NOBODY: &str = "cln_00000000000000000000000000";

async fn poll(it: &Connecting, link: &str) -> Answer {
    it.api.get(format!("/v1/connection-links/{link}")).await.expect(200)
}

#[apply(on_both)]
#[tokio::test]
async fn a_calendar_has_one_waiting_link_at_a_time(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let before = at(&now(&it.api).await);
    let request = json!({ "capabilities": ["availability"], "publication_policy": "none" });
    let made = it.api.post(it.links()).json(request.clone()).await.expect(201);
    let after = at(&now(&it.api).await) + TimeDelta::seconds(1);
    has_exactly(&made.json, &[&FIELDS[..], &["setup_url", "reused"]].concat());
    is_id(&made["id"], "cln_");
    assert_eq!((&made["calendar_id"], &made["status"]), (&json!(it.calendar), &json!("awaiting_human")));
    assert_eq!((&made["connection_id"], &made["reused"]), (&Value::Null, &json!(false)));
    let lasts = TimeDelta::minutes(15);
    let expires_at = time(&made["expires_at"]);
    assert!((before + lasts..=after + lasts).contains(&expires_at), "{expires_at} after {before}");
    let url = text(&made["setup_url"]);
    let secret = url.strip_prefix(&format!("{}/console/connect#", it.server.base_url())).unwrap();
    assert!(secret.len() == 43 && !it.server.log().contains(secret));

    // Another request gets the same link without its address, whatever the request asks for.
    for request in [request, json!({ "capabilities": ["availability", "publishing"] }), json!({})] {
        let again = it.api.post(it.links()).json(request).await.expect(201);
        let mut expected = made.json.clone();
        (expected["setup_url"], expected["reused"]) = (Value::Null, json!(true));
        assert_eq!(again.json, expected);
    }
    let polled = poll(&it, &made.id()).await;
    has_exactly(&polled.json, &FIELDS);
    for field in FIELDS {
        assert_eq!(polled[field], made[field], "{field}");
    }
    // Another calendar has its own link.
    let (_, other) = agent_with_calendar(&it.api).await;
    let other = it.api.post(format!("/v1/calendars/{other}/connection-links")).json(json!({})).await.expect(201);
    assert!(other.id() != made.id() && other["reused"] == false);

    let path = format!("/v1/connection-links/{}", made.id());
    it.api.delete(&path).await.expect(204);
    assert_eq!(poll(&it, &made.id()).await["status"], "cancelled");
    it.api.delete(&path).await.refused(409, "conflict").code("link_over");
    open(&it.console, secret).await.refused(409, "conflict").code("link_over");
    let next = it.ask().await;
    assert!(next.id() != made.id() && next["reused"] == false && token(&next) != secret);
}

#[apply(on_both)]
#[tokio::test]
async fn link_requests_are_validated(#[case] database: Database) {
    let it = Connecting::new(database).await;
    for (body, param) in [
        (json!({ "capabilities": [] }), "capabilities"),
        (json!({ "capabilities": ["publishing"] }), "capabilities"),
        (json!({ "capabilities": ["availability", "availability"] }), "capabilities"),
        (json!({ "capabilities": ["availability", "titles"] }), "capabilities"),
        (json!({ "capabilities": ["availability", "publishing", "availability"] }), "capabilities"),
        (json!({ "capabilities": "availability" }), "capabilities"),
        (json!({ "capabilities": [7] }), "capabilities[0]"),
        (json!({ "publication_policy": "all" }), "publication_policy"),
        (json!({ "publication_policy": "confirmed" }), "publication_policy"),
        (
            json!({ "capabilities": ["availability"], "publication_policy": "confirmed_tentative" }),
            "publication_policy",
        ),
        (json!({ "publication_policy": 7 }), "publication_policy"),
        (json!({ "provider": "google" }), "provider"),
    ] {
        let refused = it.api.post(it.links()).json(body.clone()).await.refused(400, "validation_error");
        assert_eq!(refused.at("/error/param"), param, "{body}: {}", refused.describe());
    }
    it.api.post(it.links()).json(json!([])).await.refused(400, "validation_error");
    for (body, capabilities, policy) in [
        (json!({}), json!(["availability"]), "none"),
        (json!({ "capabilities": ["publishing", "availability"] }), json!(["availability", "publishing"]), "confirmed"),
        (
            json!({ "capabilities": ["availability", "publishing"], "publication_policy": "confirmed_tentative" }),
            json!(["availability", "publishing"]),
            "confirmed_tentative",
        ),
        (
            json!({ "capabilities": ["availability", "publishing"], "publication_policy": "none" }),
            json!(["availability", "publishing"]),
            "none",
        ),
    ] {
        let made = it.api.post(it.links()).json(body).await.expect(201);
        assert_eq!((&made["capabilities"], &made["publication_policy"]), (&capabilities, &json!(policy)));
        it.api.delete(format!("/v1/connection-links/{}", made.id())).await.expect(204);
    }
    // The token that a user presents.
    for token in [String::new(), "x".repeat(65)] {
        open(&it.console, &token).await.refused(400, "validation_error").param("token");
    }
    it.console.post("/v1/connection-links/open").json(json!({})).await.refused(400, "validation_error").param("token");
}

#[apply(on_both)]
#[tokio::test]
async fn an_agent_s_key_creates_links_only_for_its_own_calendars(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let key = it.api.post("/v1/keys").json(json!({ "agent_id": it.agent })).await.expect(201);
    let own = it.server.client(key["key"].as_str().unwrap());
    let foreign = it.server.api(&it.server.org("custom").await);
    let (_, others) = agent_with_calendar(&it.api).await;
    let shared = shared_calendar(&it.api, "UTC").await;
    let links = |calendar: &str| format!("/v1/calendars/{calendar}/connection-links");
    for calendar in ["cal_00000000000000000000000000", "cal_x", "x"] {
        for caller in [&it.api, &own] {
            let missing = caller.post(links(calendar)).json(json!({})).await.refused(404, "not_found");
            missing.code("calendar_not_found");
        }
    }
    for calendar in [&it.calendar, &others, &shared] {
        foreign.post(links(calendar)).json(json!({})).await.refused(404, "not_found");
        let made = if *calendar == it.calendar { &own } else { &it.api };
        let made = made.post(links(calendar)).json(json!({})).await.expect(201);
        let path = format!("/v1/connection-links/{}", made.id());
        foreign.get(&path).await.refused(404, "not_found").code("connection_link_not_found");
        foreign.delete(&path).await.refused(404, "not_found").code("connection_link_not_found");
        if *calendar == it.calendar {
            own.get(&path).await.expect(200);
        } else {
            own.post(links(calendar)).json(json!({})).await.refused(403, "forbidden");
            own.get(&path).await.refused(403, "forbidden");
            own.delete(&path).await.refused(403, "forbidden");
        }
        assert_eq!(it.api.get(&path).await.expect(200)["status"], "awaiting_human");
        // A session speaks for its organization.
        assert_eq!(it.console.get(&path).await.expect(200)["status"], "awaiting_human");
    }
    for id in [NOBODY, "cln_x", "x"] {
        it.api.get(format!("/v1/connection-links/{id}")).await.refused(404, "not_found");
        it.api.delete(format!("/v1/connection-links/{id}")).await.refused(404, "not_found");
    }
    let cancelled = it.api.post(it.links()).json(json!({})).await.expect(201);
    own.delete(format!("/v1/connection-links/{}", cancelled.id())).await.expect(204);
}

#[apply(on_both)]
#[tokio::test]
async fn a_link_expires_after_15_minutes(#[case] database: Database) {
    let mut it = Connecting::new(database).await;
    let made = it.ask().await;
    let secret = token(&made);
    it.restart_at_offset(15 * 60 - 120).await;
    assert_eq!(poll(&it, &made.id()).await["status"], "awaiting_human");
    assert_eq!(it.ask().await["reused"], true);
    // To the second: the link was created at this offset before the clock was moved.
    it.restart_at_offset(15 * 60).await;
    let over = poll(&it, &made.id()).await;
    assert_eq!((&over["status"], &over["expires_at"]), (&json!("expired"), &made["expires_at"]));
    open(&it.console, &secret).await.refused(409, "conflict").code("link_over").mentions("expired");
    it.api.delete(format!("/v1/connection-links/{}", made.id())).await.refused(409, "conflict").code("link_over");
    let next = it.ask().await;
    assert!(next["reused"] == false && next.id() != made.id());
    assert_eq!(poll(&it, &made.id()).await["status"], "expired");

    // An opened link lasts half an hour.
    let opened = open(&it.console, &token(&next)).await.expect(200);
    it.restart_at_offset(45 * 60 - 120).await;
    assert_eq!(poll(&it, &next.id()).await["status"], "in_progress");
    assert_eq!(poll(&it, &next.id()).await["expires_at"], opened["expires_at"]);
    it.restart_at_offset(45 * 60 + 60).await;
    assert_eq!(poll(&it, &next.id()).await["status"], "expired");
    let start = it.console.post("/v1/calendar-connections/oauth/google/start");
    let start = start.json(json!({ "connection_link_id": next.id() })).await;
    start.refused(409, "conflict").code("link_over");
}

#[apply(on_both)]
#[tokio::test]
async fn a_link_is_for_one_user_of_the_organization(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let made = it.ask().await;
    let secret = token(&made);
    let stranger = it.server.client(&Human::sign_up(&it.server, "eve@example.com").await.token);
    Human::sign_up(&it.server, "bob@example.com").await;

    for wrong in ["x", &"A".repeat(43), &made.id(), &secret[..42]] {
        let missing = open(&it.console, wrong).await.refused(404, "not_found").code("connection_link_not_found");
        assert!(!missing.text().contains(&secret[..42]), "{}", missing.describe());
    }
    open(&stranger, &secret).await.refused(404, "not_found").code("connection_link_not_found");
    for caller in [&it.api, &it.server.anonymous()] {
        open(caller, &secret).await.refused(401, "authentication_error");
        let decline = format!("/v1/connection-links/{}/decline", made.id());
        caller.post(decline).await.refused(401, "authentication_error");
    }
    let decline = format!("/v1/connection-links/{}/decline", made.id());
    it.console.post(&decline).await.refused(409, "conflict").code("link_not_opened");
    assert_eq!(poll(&it, &made.id()).await["status"], "awaiting_human");

    let opened = open(&it.console, &secret).await.expect(200);
    let more = ["calendar_name", "agent_id", "agent_name", "providers"];
    has_exactly(&opened.json, &[&FIELDS[..], &more].concat());
    assert_eq!((&opened["status"], &opened["agent_id"]), (&json!("in_progress"), &json!(it.agent)));
    assert_eq!((&opened["calendar_name"], &opened["agent_name"]), (&json!("Work"), &json!("Ada")));
    assert_eq!(opened["providers"], json!(["google", "microsoft", "caldav"]));
    assert_eq!(poll(&it, &made.id()).await["status"], "in_progress");
    // Opening it again changes nothing for the same user. Nobody else may open it.
    assert_eq!(open(&it.console, &secret).await.expect(200).json, opened.json);
    stranger.post(&decline).await.refused(404, "not_found");
    let start = json!({ "connection_link_id": made.id() });
    let at = "/v1/calendar-connections/oauth/google/start";
    owned_by(&it, "bob@example.com").await;
    let bob = it.signed_in("bob@example.com").await;
    open(&bob, &secret).await.refused(409, "conflict").code("link_of_another");
    bob.post(&decline).await.refused(409, "conflict").code("link_of_another");
    bob.post(at).json(start.clone()).await.refused(409, "conflict").code("link_of_another");
    // A session ends with the membership of its organization.
    open(&it.console, &secret).await.refused(401, "authentication_error");
    owned_by(&it, HUMAN).await;
    stranger.post(at).json(start.clone()).await.refused(404, "not_found").code("connection_link_not_found");
    // An opened link no longer waits, so the agent can create another.
    assert_eq!(it.ask().await["reused"], false);

    // The agent may cancel a link that a user has opened.
    it.api.delete(format!("/v1/connection-links/{}", made.id())).await.expect(204);
    let console = it.signed_in(HUMAN).await;
    console.post(at).json(start).await.refused(409, "conflict").code("link_over");
    console.post(&decline).await.refused(409, "conflict").code("link_over");
    assert_eq!(console.get("/v1/calendar-connections").await.expect(200)["total"], 0);
}

/// Makes another user the owner of the organization.
async fn owned_by(it: &Connecting, human: &str) {
    let statement = format!(
        "update organization_owners set user_id = (select id from users where email = '{human}')
         where org_id = (select id from organizations where email = '{ORG}')"
    );
    assert_eq!(execute(&it.server, &statement).await, 1);
}

#[apply(on_both)]
#[tokio::test]
async fn a_user_may_decline(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let link = it.opened().await;
    let path = format!("/v1/connection-links/{link}/decline");
    let declined = it.console.post(&path).await.expect(200);
    assert_eq!((&declined["id"], &declined["status"]), (&json!(link), &json!("declined")));
    assert_eq!(poll(&it, &link).await["status"], "declined");
    it.console.post(&path).await.refused(409, "conflict").code("link_over");
    it.api.delete(format!("/v1/connection-links/{link}")).await.refused(409, "conflict").code("link_over");
    assert_eq!(it.ask().await["reused"], false);
    for id in [NOBODY, "x"] {
        let missing = it.console.post(format!("/v1/connection-links/{id}/decline")).await;
        missing.refused(404, "not_found").code("connection_link_not_found");
    }
    // The session decides which user it is.
    assert_eq!(it.signed_in(HUMAN).await.get("/v1/auth/me").await.expect(200)["org"]["id"], json!(it.org.id));
}

/// A link becomes invisible with its calendar, whether the calendar was deleted or its agent decommissioned.
#[apply(on_both)]
#[tokio::test]
async fn a_link_ends_with_its_calendar(#[case] database: Database) {
    let it = Connecting::new(database).await;
    for decommissioned in [false, true] {
        let (agent, calendar) = agent_with_calendar(&it.api).await;
        let (_, waits_at) = agent_with_calendar(&it.api).await;
        let links = |calendar: &str| format!("/v1/calendars/{calendar}/connection-links");
        let made = it.api.post(links(&calendar)).json(json!({})).await.expect(201);
        let waiting = it.api.post(links(&waits_at)).json(json!({})).await.expect(201);
        open(&it.console, &token(&made)).await.expect(200);
        let link = made.id();
        let begun = it.begin(&it.google, Some(&link)).await;
        let known = it.connect(&it.google, None).await;
        if decommissioned {
            it.api.delete(format!("/v1/agents/{agent}")).await.expect(204);
        } else {
            it.api.delete(format!("/v1/calendars/{calendar}")).await.expect(204);
        }
        it.api.delete(format!("/v1/calendars/{waits_at}")).await.expect(204);
        for gone in [&link, &waiting.id()] {
            let path = format!("/v1/connection-links/{gone}");
            it.api.get(&path).await.refused(404, "not_found").code("connection_link_not_found");
            it.api.delete(&path).await.refused(404, "not_found").code("connection_link_not_found");
        }
        // For the user who has its address, the link is over.
        for secret in [token(&made), token(&waiting)] {
            let refused = open(&it.console, &secret).await.refused(409, "conflict").code("link_over");
            refused.mentions("has been removed");
        }
        let start = it.console.post("/v1/calendar-connections/oauth/google/start");
        start.json(json!({ "connection_link_id": link })).await.refused(409, "conflict").code("link_over");
        it.failed(&it.consent(&it.google, &begun).await, "link_over");
        let sources = [it.external(&known).await[0]["id"].clone()];
        let grant = json!({ "external_calendar_ids": sources, "audience": "all", "connection_link_id": link });
        it.console.post("/v1/availability-grants").json(grant).await.refused(409, "conflict").code("link_over");
    }
    assert_eq!(it.console.get("/v1/availability-grants").await.expect(200)["total"], 0);
}

#[apply(on_both)]
#[tokio::test]
async fn a_replay_returns_the_address_again(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let ask = |key: &str| it.api.post(it.links()).header("idempotency-key", key).json(json!({}));
    let first = ask("a").await.expect(201);
    let again = ask("a").await.expect(201);
    assert_eq!((again.header("idempotency-replayed"), &again.bytes), ("true", &first.bytes));
    assert_eq!(token(&again), token(&first));
    let other = ask("b").await.expect(201);
    assert_eq!((&other["reused"], &other["setup_url"]), (&json!(true), &Value::Null));
    let mismatch = it.api.post(it.links()).header("idempotency-key", "a");
    let mismatch = mismatch.json(json!({ "capabilities": ["availability"] })).await;
    mismatch.refused(422, "validation_error").code("idempotency_mismatch");
    let path = format!("/v1/connection-links/{}", first.id());
    for replayed in ["", "true"] {
        let gone = it.api.delete(&path).header("idempotency-key", "c").await.expect(204);
        assert_eq!(gone.header("idempotency-replayed"), replayed);
    }
}

/// Only one of many concurrent requests gets the address of the link.
#[apply(on_both)]
#[tokio::test]
async fn concurrent_requests_get_one_link(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let answers = futures::future::join_all((0..12).map(|_| it.ask())).await;
    assert!(answers.iter().all(|answer| answer.id() == answers[0].id()));
    assert_eq!(answers.iter().filter(|answer| answer["setup_url"].is_string()).count(), 1);
    assert_eq!(answers.iter().filter(|answer| answer["reused"] == false).count(), 1);
    let secret = answers.iter().find(|answer| answer["setup_url"].is_string()).map(token).unwrap();
    let opened = futures::future::join_all((0..8).map(|_| open(&it.console, &secret))).await;
    assert!(opened.into_iter().all(|answer| answer.expect(200)["status"] == "in_progress"));
}
