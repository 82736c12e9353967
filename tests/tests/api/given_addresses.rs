//! Every address that emails and answers give to people leads to a page.

use std::{collections::BTreeMap, time::Duration};

use kalends_e2e::{Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::{
    claims::{AGENT, agent as sign_up_agent, held, human},
    console::Human,
    fixtures::{agent, calendar_of, event_body},
    holds::in_seconds,
    members::invite,
    on_both,
    pages::Pages,
};

/// The addresses in emails, with their variable parts left out. The letters of the app have the same list.
const IN_EMAILS: &[&str] = &[
    "/book/*",
    "/book/*/bookings/*/cancel",
    "/book/*/bookings/*/move",
    "/book/emails/*",
    "/console/approvals/*",
    "/console/claims/*/revoke",
    "/console/invitations",
    "/console/reset",
    "/console/verify",
    "/replies/*",
    "/rsvp/*",
];
/// Those that are the same in every email.
const FIXED: &[&str] = &["/", "/console", "/console/forgot", "/console/security"];
/// A route for programs, which the email about a claim gives besides the page.
const FOR_PROGRAMS: &str = "/v1/auth/claim/*/revoke";
/// The addresses in answers of the API.
const IN_ANSWERS: &[&str] = &[
    "/book/*",
    "/book/*/bookings/*/cancel",
    "/book/*/bookings/*/event.ics",
    "/book/*/bookings/*/move",
    "/console/approvals/*",
    "/console/connect",
    "/ical/*",
    "/terms",
];

/// Whether a part of a path differs from address to address: an identifier or a random text.
fn varies(before: &str, part: &str) -> bool {
    match before {
        "book" => part != "emails",
        "emails" | "bookings" | "replies" | "rsvp" | "approvals" | "claims" | "claim" | "ical" => true,
        _ => false,
    }
}

/// The kind of a path: its variable parts are `*`.
fn kind(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').collect();
    let shown = |(index, part): (usize, &&str)| {
        let before = index.checked_sub(1).map_or("", |before| parts[before]);
        if varies(before, part) { "*" } else { *part }.to_owned()
    };
    parts.iter().enumerate().map(shown).collect::<Vec<_>>().join("/")
}

/// The paths on this server in a text, by their kinds.
fn paths(server: &Server, text: &str) -> BTreeMap<String, String> {
    let after = text.split(server.base_url()).skip(1);
    let ends = |letter: char| letter.is_whitespace() || "\"<>()\\,".contains(letter);
    let paths = after.map(|rest| rest.split(ends).next().unwrap().trim_end_matches('.'));
    let paths = paths.map(|path| path.split(['#', '?']).next().unwrap());
    paths.filter(|path| path.starts_with('/')).map(|path| (kind(path), path.to_owned())).collect()
}

/// Opens one address of each kind, as somebody who is not signed in.
async fn open(server: &Server, found: &BTreeMap<String, String>) {
    let mut pages = Pages::new(server);
    for path in found.values() {
        let seen = pages.open(path).await;
        let leads_on = seen.status == 303 && seen.location.starts_with("/console/sign-in");
        assert!(seen.status == 200 || leads_on, "{path} is {} {}", seen.status, seen.text);
    }
}

/// Waits for an email that the service sends in the background.
async fn until<T>(look: impl AsyncFn() -> T, will_do: impl Fn(&T) -> bool) -> T {
    for _ in 0..3_000 {
        let found = look().await;
        if will_do(&found) {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    look().await
}

fn kinds(found: &BTreeMap<String, String>) -> Vec<&str> {
    found.keys().map(String::as_str).collect()
}

/// The token that proves the address.
async fn proof(server: &Server, email: &str) -> String {
    let sent = async || server.mails().into_iter().find(|mail| mail.to == email);
    let mail = until(sent, Option::is_some).await.unwrap();
    let (_, token) = mail.text.split_once("/console/verify#").unwrap();
    token.split_whitespace().next().unwrap().to_owned()
}

/// Sends an email of each kind that has addresses, and collects what the answers give.
async fn send_all(server: &Server) -> String {
    let mut answers = String::new();
    let ada = Human::sign_up(server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    let proof = json!({ "token": proof(server, &ada.email).await });
    owner.post("/v1/auth/verify-email").json(proof).await.expect(200);
    sign_up_agent(server, AGENT).await;
    held(server, &human(server, "eve@example.com").await, AGENT).await;
    invite(&owner, "invited@example.com", "viewer").await.expect(201);
    server.anonymous().post("/v1/auth/password/forgot").json(json!({ "email": ada.email })).await.expect(202);

    let scout = agent(&owner).await;
    let calendar = calendar_of(&owner, &scout).await;
    answers += &owner.get(format!("/v1/calendars/{calendar}")).await.expect(200).text();
    let link = json!({ "capabilities": ["availability"] });
    answers += &owner.post(format!("/v1/calendars/{calendar}/connection-links")).json(link).await.expect(201).text();
    owner.put("/v1/mail/reply-to").json(json!({ "email": "answers@example.com" })).await.expect(200);
    let mut event = event_body("Planning", &in_seconds(&owner, 3_600).await, &in_seconds(&owner, 5_400).await);
    event["attendees"] = json!([{ "email": "guest@example.com", "role": "required" }]);
    event["send_invitations"] = json!(true);
    owner.post(format!("/v1/calendars/{calendar}/events")).json(event).await.expect(201);

    let key = json!({ "agent_id": scout, "requires_approval": "writes" });
    let key = owner.post("/v1/keys").json(key).await.expect(201);
    let asking = server.client(key["key"].as_str().unwrap());
    let event = event_body("Review", &in_seconds(&owner, 7_200).await, &in_seconds(&owner, 9_000).await);
    answers += &asking.post(format!("/v1/calendars/{calendar}/events")).json(event).await.expect(202).text();

    let page = json!({ "calendar_id": calendar, "title": "Intro", "duration_minutes": 30, "notify_emails": ["host@example.com"] });
    let page = owner.post("/v1/booking-pages").json(page).await.expect(201);
    answers += &page.text();
    let (slug, id) = (page["slug"].as_str().unwrap(), page.id());
    let guest = server.anonymous();
    for number in 0..2 {
        let offered = guest.get(format!("/book/{slug}/slots")).await.expect(200);
        let start = offered["slots"][0]["start"].clone();
        let body = json!({ "name": "Grace", "email": format!("grace{number}@example.com"), "start": start });
        answers += &guest.post(format!("/book/{slug}")).json(body).await.expect(201).text();
    }
    let booked = owner.get(format!("/v1/booking-pages/{id}/bookings")).await.expect(200).data();
    let cancelled = booked[0]["id"].as_str().unwrap();
    owner.post(format!("/v1/bookings/{cancelled}/cancel")).json(json!({ "reason": "Ill" })).await.expect(200);
    answers += &guest.get("/v1/auth/terms/current").await.expect(200).text();
    answers + &guest.get("/v1/plans").await.expect(200).text()
}

#[apply(on_both)]
#[tokio::test]
async fn every_address_leads_to_a_page(#[case] database: Database) {
    let settings = [("KALENDS_SIGNUP_PLAN", "custom"), ("KALENDS_EMAIL_PROOF", "on")];
    let server = Server::start_with(database, &settings).await;
    let answers = send_all(&server).await;
    let sent = async || server.mails().iter().flat_map(|mail| paths(&server, &mail.text)).collect::<BTreeMap<_, _>>();
    let mut in_emails = until(sent, |found| IN_EMAILS.iter().all(|kind| found.contains_key(*kind))).await;
    assert!(in_emails.remove(FOR_PROGRAMS).is_some());
    assert_eq!(kinds(&in_emails), IN_EMAILS);
    in_emails.extend(FIXED.iter().map(|path| ((*path).to_owned(), (*path).to_owned())));
    open(&server, &in_emails).await;
    let in_answers = paths(&server, &answers);
    assert_eq!(kinds(&in_answers), IN_ANSWERS);
    open(&server, &in_answers).await;
}
