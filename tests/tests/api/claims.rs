//! A user claims an organization that was created without an owner.

use crate::on_both;
use std::{collections::BTreeSet, time::Duration};

use futures::future::join_all;
use kalends_e2e::{Answer, Client, Database, Mail, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    console::{Human, PASSWORD},
    fixtures::{agent_with_calendar, event_body, has_exactly, is_id, wait_for},
};

const TERMS: &str = "2026-01-01";
pub(crate) const AGENT: &str = "agent@example.com";
const OPERATOR: &str = "operator@example.com";
const CODE: &str = "Your Kalends claim code";
const HELD: &str = "Your Kalends organization is being taken over";
pub(crate) const DAY: i64 = 24 * 3_600;

/// Signs up a user and returns a client with their session.
pub(crate) async fn human(server: &Server, email: &str) -> Client {
    server.client(&Human::sign_up(server, email).await.token)
}

pub(crate) async fn signed_in(server: &Server, email: &str) -> Client {
    let body = json!({ "email": email, "password": PASSWORD });
    let answer = server.anonymous().post("/v1/auth/signin").json(body).await.expect(200);
    server.client(answer["token"].as_str().unwrap())
}

/// Signs up an agent and returns its organization and key.
pub(crate) async fn agent(server: &Server, email: &str) -> (String, String) {
    let body = json!({ "email": email, "agent_name": "Scout", "tos_version": TERMS });
    let answer = server.anonymous().post("/v1/agent/sign-up").json(body).await.expect(200);
    (text(&answer["org_id"]), text(&answer["api_key"]))
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

pub(crate) async fn initiate(human: &Client, email: &str) -> String {
    let answer = human.post("/v1/auth/claim/initiate").json(json!({ "email": email })).await.expect(200);
    text(&answer["claim_id"])
}

pub(crate) async fn verify(human: &Client, claim: &str, code: &str) -> Answer {
    human.post("/v1/auth/claim/verify").json(json!({ "claim_id": claim, "otp": code })).await
}

pub(crate) async fn revoke(server: &Server, claim: &str, token: &str) -> Answer {
    let path = format!("/v1/auth/claim/{claim}/revoke");
    server.anonymous().post(path).json(json!({ "revocation_token": token })).await
}

/// Waits for `count` emails with this subject to this address, oldest first.
async fn mails(server: &Server, to: &str, subject: &str, count: usize) -> Vec<Mail> {
    for _ in 0..3_000 {
        let mut found = server.mails();
        found.retain(|mail| mail.to == to && mail.subject == subject);
        if found.len() >= count {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("no {count} emails {subject:?} to {to}: {:#?}", server.mails());
}

/// The latest code, once `count` codes have been mailed.
pub(crate) async fn code(server: &Server, to: &str, count: usize) -> String {
    mails(server, to, CODE, count).await.pop().unwrap().code().to_owned()
}

/// A code that differs from `code`.
pub(crate) fn wrong(code: &str) -> &'static str {
    if code == "123456" { "654321" } else { "123456" }
}

/// The token of the latest revocation link, once `count` links have been mailed.
pub(crate) async fn token(server: &Server, to: &str, count: usize) -> String {
    let mail = mails(server, to, HELD, count).await.pop().unwrap();
    let (_, rest) = mail.text.split_once("/revoke#").unwrap();
    rest.split_whitespace().next().unwrap().to_owned()
}

pub(crate) async fn claims(human: &Client) -> Vec<Value> {
    human.get("/v1/auth/claims").await.expect(200).data()
}

/// A claim on hold.
pub(crate) async fn held(server: &Server, human: &Client, to: &str) -> String {
    let (codes, holds) = (count(server, to, CODE), count(server, to, HELD));
    let claim = initiate(human, to).await;
    let code = code(server, to, codes + 1).await;
    let answer = verify(human, &claim, &code).await.expect(200);
    assert_eq!(answer["status"], "held");
    mails(server, to, HELD, holds + 1).await;
    claim
}

fn count(server: &Server, to: &str, subject: &str) -> usize {
    server.mails().iter().filter(|mail| mail.to == to && mail.subject == subject).count()
}

#[apply(on_both)]
#[tokio::test]
async fn a_claim_takes_effect_after_a_day(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let (org, key) = agent(&server, AGENT).await;
    let ada = human(&server, "ada@example.com").await;
    assert_eq!(claims(&ada).await, Vec::<Value>::new());

    let answer = ada.post("/v1/auth/claim/initiate").json(json!({ "email": "Agent@Example.com" })).await.expect(200);
    has_exactly(&answer.json, &["claim_id", "expires_at", "message"]);
    is_id(&answer["claim_id"], "clm_");
    let claim = text(&answer["claim_id"]);
    let pending = &claims(&ada).await[0];
    let fields = ["id", "status", "org_id", "created_at", "expires_at", "takes_effect_at", "ended_at"];
    has_exactly(pending, &fields);
    assert_eq!((&pending["status"], &pending["org_id"]), (&json!("pending"), &Value::Null));
    assert_eq!(pending["expires_at"], answer["expires_at"]);

    let code = code(&server, AGENT, 1).await;
    let proved = verify(&ada, &claim, &code).await.expect(200);
    assert_eq!((&proved["status"], &proved["org_id"]), (&json!("held"), &json!(org)));
    assert_eq!(proved.json, claims(&ada).await[0]);
    let token = token(&server, AGENT, 1).await;
    assert!(token.len() == 43 && !server.log().contains(&token));
    let switch = format!("/v1/auth/orgs/{org}/switch");
    ada.post(&switch).await.refused(404, "not_found");

    // The user's export includes the claim without its token.
    let export = ada.get("/v1/auth/export").await.expect(200);
    let exported = &export["account_claims_initiated"][0];
    assert_eq!((&exported["id"], &exported["status"]), (&json!(claim), &json!("held")));
    assert_eq!(exported["revocation_token"], "***");
    assert!(!export.text().contains(&token));

    // Shortly before the hold ends, and after it.
    server.restart_at_offset(DAY - 120).await;
    let ada = signed_in(&server, "ada@example.com").await;
    assert_eq!(claims(&ada).await[0]["status"], "held");
    ada.post(&switch).await.refused(404, "not_found");
    server.restart_at_offset(DAY + 5).await;
    let ada = signed_in(&server, "ada@example.com").await;
    let effective = claims(&ada).await;
    assert_eq!((&effective[0]["status"], &effective[0]["org_id"]), (&json!("effective"), &json!(org)));
    assert_eq!(ada.post(&switch).await.expect(200)["org"]["id"], json!(org));
    assert_eq!(ada.get("/v1/auth/me").await.expect(200)["org"]["id"], json!(org));
    revoke(&server, &claim, &token).await.refused(410, "conflict").code("claim_over");

    // The organization has an owner. The agent's key is revoked, and everything else is unchanged. Its log has one entry
    // for the takeover.
    server.client(&key).get("/v1/agents").await.refused(401, "unauthorized");
    assert_eq!(ada.get("/v1/agents").await.expect(200)["total"], 1);
    let log = ada.get("/v1/audit-log?action=org.update").await.expect(200).data();
    let entries: Vec<_> = log.iter().map(|entry| (text(&entry["method"]), text(&entry["path"]))).collect();
    let entry = |method: &str, path: &str| (method.to_owned(), path.to_owned());
    assert_eq!(entries, [entry("AUTO", "claim takes effect"), entry("POST", "/v1/auth/claim/verify")]);
    assert!(log.iter().all(|entry| text(&entry["actor_key_prefix"]).starts_with("usr_")));

    // A claim for an organization with an owner looks like any other, but no code is sent.
    let bob = human(&server, "bob@example.com").await;
    initiate(&bob, AGENT).await;
    assert_eq!(claims(&bob).await[0]["status"], "pending");
    assert_eq!(count(&server, AGENT, CODE), 1);
}

/// An organization that an operator created for an address gets its owner in the same way.
#[apply(on_both)]
#[tokio::test]
async fn an_operator_s_organization_can_be_claimed(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let org = server.org_with("pro", &["--email", OPERATOR]).await;
    let owner = human(&server, OPERATOR).await;
    let claim = held(&server, &owner, OPERATOR).await;
    assert!(claim.starts_with("clm_"));
    token(&server, OPERATOR, 1).await;
    server.restart_at_offset(DAY + 5).await;
    let owner = signed_in(&server, OPERATOR).await;
    let effective = claims(&owner).await;
    assert_eq!((&effective[0]["status"], &effective[0]["org_id"]), (&json!("effective"), &json!(org.id)));
    owner.post(format!("/v1/auth/orgs/{}/switch", org.id)).await.expect(200);
}

/// What keys asked for that end with a takeover does not keep times until it expires.
#[apply(on_both)]
#[tokio::test]
async fn a_takeover_cancels_the_writes_that_wait_for_approval(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let org = server.org_with("pro", &["--email", OPERATOR]).await;
    let api = server.api(&org);
    let (agent, calendar) = agent_with_calendar(&api).await;
    let body = json!({ "agent_id": agent, "requires_approval": "writes", "approval_expires_in_minutes": 10_080 });
    let key = api.post("/v1/keys").json(body).await.expect(201);
    let asking = server.client(key["key"].as_str().unwrap());
    let mut approvals = Vec::new();
    for hour in [9, 10] {
        let (start, end) = (format!("2031-03-03T{hour:02}:00:00Z"), format!("2031-03-03T{hour:02}:30:00Z"));
        let asked = asking.post(format!("/v1/calendars/{calendar}/events")).json(event_body("Sync", &start, &end));
        approvals.push(text(&asked.await.expect(202).at("/approval/id")));
    }
    let day = "start=2031-03-03T00:00:00Z&end=2031-03-04T00:00:00Z&include_busy=true";
    let free = format!("/v1/calendars/{calendar}/availability?{day}");
    assert_eq!(api.get(&free).await.expect(200)["busy"].as_array().unwrap().len(), 2);

    let owner = human(&server, OPERATOR).await;
    held(&server, &owner, OPERATOR).await;
    server.restart_at_offset(DAY + 5).await;
    let owner = signed_in(&server, OPERATOR).await;
    assert_eq!(claims(&owner).await[0]["status"], "effective");
    owner.post(format!("/v1/auth/orgs/{}/switch", org.id)).await.expect(200);
    for approval in &approvals {
        assert_eq!(owner.get(format!("/v1/approvals/{approval}")).await.expect(200)["status"], "cancelled");
    }
    assert_eq!(owner.get(&free).await.expect(200)["busy"], json!([]));
    let logged = owner.get("/v1/audit-log?action=approval.cancel").await.expect(200).data();
    assert_eq!(logged.len(), approvals.len(), "{logged:#?}");
    assert!(logged.iter().all(|entry| entry["path"] == "claim takes effect"), "{logged:#?}");
}

#[apply(on_both)]
#[tokio::test]
async fn answers_do_not_reveal_what_can_be_claimed(#[case] database: Database) {
    let server = Server::start(database).await;
    agent(&server, AGENT).await;
    server.org_with("pro", &["--email", OPERATOR]).await;
    let ada = human(&server, "ada@example.com").await;
    human(&server, "bob@example.com").await;
    let addresses = [AGENT, "nobody@example.com", OPERATOR, "bob@example.com", "ada@example.com"];
    let mut answers = BTreeSet::new();
    for address in addresses {
        // Twice: the second claim replaces the first, whether or not there is an organization.
        for _ in 0..2 {
            let answer = ada.post("/v1/auth/claim/initiate").json(json!({ "email": address })).await.expect(200);
            has_exactly(&answer.json, &["claim_id", "expires_at", "message"]);
            answers.insert(text(&answer["message"]));
        }
    }
    assert_eq!(answers.len(), 1);
    let statuses: Vec<_> = claims(&ada).await.iter().map(|claim| text(&claim["status"])).collect();
    assert_eq!(statuses, ["void", "pending"].repeat(addresses.len()));
    assert!(claims(&ada).await.iter().all(|claim| claim["org_id"].is_null()));
    mails(&server, AGENT, CODE, 2).await;
    mails(&server, OPERATOR, CODE, 2).await;
    let to: BTreeSet<_> = server.mails().into_iter().filter(|mail| mail.subject == CODE).map(|mail| mail.to).collect();
    assert_eq!(to, BTreeSet::from([AGENT.to_owned(), OPERATOR.to_owned()]));

    let page = ada.get("/v1/auth/claims?limit=3&offset=8").await.expect(200);
    assert_eq!((page.data().len(), &page["total"], &page["limit"]), (2, &json!(10), &json!(3)));
    ada.get("/v1/auth/claims?limit=0").await.refused(400, "validation_error").param("limit");
    ada.post("/v1/auth/claim/initiate")
        .json(json!({ "email": "x" }))
        .await
        .refused(400, "validation_error")
        .param("email");
    ada.post("/v1/auth/claim/initiate")
        .json(json!({ "mail": "x" }))
        .await
        .refused(400, "validation_error")
        .param("mail");
}

#[apply(on_both)]
#[tokio::test]
async fn an_address_gets_at_most_five_mails_an_hour(#[case] database: Database) {
    let server = Server::start(database).await;
    agent(&server, AGENT).await;
    let (ada, bob) = (human(&server, "ada@example.com").await, human(&server, "bob@example.com").await);
    for _ in 0..4 {
        initiate(&ada, AGENT).await;
    }
    let last = initiate(&bob, AGENT).await;
    let code = code(&server, AGENT, 5).await;
    // The sixth request gets the same answer, and does not void the code that was sent.
    for who in [&ada, &bob, &bob] {
        let answer = who.post("/v1/auth/claim/initiate").json(json!({ "email": AGENT })).await.expect(200);
        has_exactly(&answer.json, &["claim_id", "expires_at", "message"]);
    }
    verify(&bob, &last, &code).await.expect(200);
    assert_eq!(count(&server, AGENT, CODE), 5);
    // A user may make at most twenty claims.
    for number in 0..17 {
        initiate(&bob, &format!("nobody-{number}@example.com")).await;
    }
    let over = bob.post("/v1/auth/claim/initiate").json(json!({ "email": "x@example.com" })).await;
    let over = over.refused(429, "rate_limit_error");
    assert!(over.header("retry-after").parse::<i64>().is_ok_and(|after| (1..=3_600).contains(&after)));
}

#[apply(on_both)]
#[tokio::test]
async fn every_failed_code_gets_the_same_error(#[case] database: Database) {
    let mut server = Server::start(database).await;
    agent(&server, AGENT).await;
    agent(&server, "other@example.com").await;
    let (ada, bob) = (human(&server, "ada@example.com").await, human(&server, "bob@example.com").await);
    let first = initiate(&ada, AGENT).await;
    let superseded = code(&server, AGENT, 1).await;
    let claim = initiate(&ada, AGENT).await;
    let right = code(&server, AGENT, 2).await;
    let nothing = initiate(&ada, "nobody@example.com").await;
    let other = initiate(&ada, "other@example.com").await;
    let used = code(&server, "other@example.com", 1).await;
    verify(&ada, &other, &used).await.expect(200);

    let mut answers = BTreeSet::new();
    let mut record = |answer: Answer| {
        let mut error = answer.refused(400, "validation_error").param("otp").at("/error");
        error.as_object_mut().unwrap().remove("request_id");
        answers.insert(error.to_string());
    };
    record(verify(&ada, &claim, wrong(&right)).await);
    record(verify(&ada, &first, &superseded).await);
    record(verify(&ada, &other, &used).await);
    record(verify(&bob, &claim, &right).await);
    record(verify(&ada, &nothing, &right).await);
    record(verify(&ada, "clm_01jn8r6v9ke0bt3m5qz2c7xwdh", &right).await);
    record(verify(&ada, "no claim", &right).await);
    record(verify(&ada, "", &right).await);
    for _ in 0..9 {
        record(verify(&ada, &claim, wrong(&right)).await);
    }
    record(verify(&ada, &claim, &right).await);
    assert_eq!(claims(&ada).await[1]["status"], "expired");
    // The code of a claim without an organization also expires after too many attempts.
    for _ in 0..9 {
        record(verify(&ada, &nothing, "000000").await);
    }
    assert_eq!(claims(&ada).await[2]["status"], "expired");
    let late = initiate(&bob, AGENT).await;
    let late_code = code(&server, AGENT, 3).await;
    server.restart_at_offset(601).await;
    let bob = signed_in(&server, "bob@example.com").await;
    record(verify(&bob, &late, &late_code).await);
    assert_eq!(answers.len(), 1, "{answers:#?}");
    for form in ["12345", "1234567", "12345a", "", "１２３４５６"] {
        verify(&bob, &late, form).await.refused(400, "validation_error").param("otp").mentions("6 digits");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn concurrent_guesses_use_up_a_code(#[case] database: Database) {
    let server = Server::start(database).await;
    agent(&server, AGENT).await;
    let ada = human(&server, "ada@example.com").await;
    let claim = initiate(&ada, AGENT).await;
    let code = code(&server, AGENT, 1).await;
    for answer in join_all((0..50).map(|_| verify(&ada, &claim, wrong(&code)))).await {
        answer.refused(400, "validation_error").param("otp");
    }
    verify(&ada, &claim, &code).await.refused(400, "validation_error");
    assert_eq!(claims(&ada).await[0]["status"], "expired");
}

#[apply(on_both)]
#[tokio::test]
async fn only_one_of_two_concurrent_claims_is_held(#[case] database: Database) {
    let server = Server::start(database).await;
    let (org, _) = agent(&server, AGENT).await;
    let (ada, bob) = (human(&server, "ada@example.com").await, human(&server, "bob@example.com").await);
    let first = initiate(&ada, AGENT).await;
    let first_code = code(&server, AGENT, 1).await;
    let second = initiate(&bob, AGENT).await;
    let second_code = code(&server, AGENT, 2).await;
    let answers = futures::future::join(verify(&ada, &first, &first_code), verify(&bob, &second, &second_code)).await;
    let (won, lost) = if answers.0.status == 200 { answers } else { (answers.1, answers.0) };
    assert_eq!(won.expect(200)["org_id"], json!(org));
    lost.refused(409, "conflict").code("claim_taken");
    // A second valid code for the same organization does not help either.
    let holder = if claims(&ada).await[0]["status"] == "held" { &ada } else { &bob };
    let again = initiate(holder, AGENT).await;
    let again_code = code(&server, AGENT, 3).await;
    verify(holder, &again, &again_code).await.refused(409, "conflict").code("claim_taken");
}

#[apply(on_both)]
#[tokio::test]
async fn a_revocation_in_time_ends_a_claim(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let (org, key) = agent(&server, AGENT).await;
    let ada = human(&server, "ada@example.com").await;
    let claim = held(&server, &ada, AGENT).await;
    let right = token(&server, AGENT, 1).await;
    let wrong = "A".repeat(43);
    revoke(&server, &claim, &wrong).await.refused(404, "not_found").code("claim_not_found");
    revoke(&server, "clm_01jn8r6v9ke0bt3m5qz2c7xwdh", &right).await.refused(404, "not_found");
    revoke(&server, "no claim", &right).await.refused(404, "not_found").code("claim_not_found");
    revoke(&server, &claim, "").await.refused(400, "validation_error").param("revocation_token");
    revoke(&server, &claim, &"A".repeat(257)).await.refused(400, "validation_error").param("revocation_token");
    let waiting = initiate(&ada, AGENT).await;
    revoke(&server, &waiting, &right).await.refused(404, "not_found");
    assert_eq!(claims(&ada).await[0]["status"], "held");

    let answer = revoke(&server, &claim, &right).await.expect(200);
    assert_eq!(answer.json, json!({ "claim_id": claim, "status": "revoked" }));
    assert_eq!(revoke(&server, &claim, &right).await.expect(200).json, answer.json);
    revoke(&server, &claim, &wrong).await.refused(404, "not_found");
    assert_eq!(claims(&ada).await[0]["status"], "revoked");
    let log = server.client(&key).get("/v1/audit-log?action=org.update").await.expect(200).data();
    assert_eq!(log[0]["path"], "/v1/auth/claim/{id}/revoke");

    // The revoked claim never takes effect, and another claim is possible.
    let bob = human(&server, "bob@example.com").await;
    let other = held(&server, &bob, AGENT).await;
    revoke(&server, &other, &right).await.refused(404, "not_found");
    server.restart_at_offset(DAY + 5).await;
    let ada = signed_in(&server, "ada@example.com").await;
    let bob = signed_in(&server, "bob@example.com").await;
    assert_eq!(claims(&ada).await[0]["status"], "revoked");
    assert_eq!(claims(&bob).await[0]["status"], "effective");
    let switch = format!("/v1/auth/orgs/{org}/switch");
    ada.post(&switch).await.refused(404, "not_found");
    bob.post(&switch).await.expect(200);
}

/// The duty makes the user the owner although no request asks for it. The next switch finds that.
#[apply(on_both)]
#[tokio::test]
async fn a_claim_takes_effect_without_a_request(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let (org, key) = agent(&server, AGENT).await;
    let ada = human(&server, "ada@example.com").await;
    held(&server, &ada, AGENT).await;
    server.restart_at_offset(DAY + 5).await;
    let ada = signed_in(&server, "ada@example.com").await;
    let switch = || async { ada.post(format!("/v1/auth/orgs/{org}/switch")).await };
    wait_for(switch, |answer| answer.status == 200).await;
    // The agent's key has stopped working.
    server.client(&key).get("/v1/agents").await.refused(401, "unauthorized");
    let entries = ada.get("/v1/audit-log?action=org.update").await.expect(200).data();
    assert_eq!((entries.len(), &entries[0]["method"]), (2, &json!("AUTO")));
}
