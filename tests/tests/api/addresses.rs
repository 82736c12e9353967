//! Proof of addresses: the sandbox until then, several accounts that state one address, and keys after a takeover.

use std::time::Duration;

use kalends_e2e::{
    Answer, Client,
    Database::{self, Sqlite},
    Mail, Server, Visitor,
};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    booking_browser::{PHONE, fits},
    claims::{DAY, signed_in},
    console::{Human, PASSWORD, signing_up},
    fixtures::{has_exactly, is_time},
    front::{Seen, http},
    on_both,
};

const VERIFY: &str = "/v1/auth/verify-email";
const RESEND: &str = "/v1/auth/verify-email/resend";
const ADA: &str = "ada@example.com";
const ASKS: [(&str, &str); 1] = [("KALENDS_EMAIL_PROOF", "on")];

/// The emails to that address whose text contains `link`, once there are `count`, oldest first.
async fn mails(server: &Server, to: &str, link: &str, count: usize) -> Vec<Mail> {
    for _ in 0..3_000 {
        let mut mails = server.mails();
        mails.retain(|mail| mail.to == to && mail.text.contains(link));
        if mails.len() >= count {
            return mails;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("no {count} emails with {link} to {to}: {:#?}", server.mails());
}

fn code(mail: &Mail, link: &str) -> String {
    mail.text.split_once(link).unwrap().1.split_whitespace().next().unwrap().to_owned()
}

/// The token in the latest of `count` emails that ask for a proof.
async fn token(server: &Server, count: usize) -> String {
    code(mails(server, ADA, "/console/verify#", count).await.last().unwrap(), "/console/verify#")
}

async fn verify(server: &Server, token: &str) -> Answer {
    server.anonymous().post(VERIFY).json(json!({ "token": token })).await
}

async fn me(session: &Client) -> Value {
    session.get("/v1/auth/me").await.expect(200).json
}

async fn sign_in(server: &Server, password: &str) -> Answer {
    server.anonymous().post("/v1/auth/signin").json(json!({ "email": ADA, "password": password })).await
}

/// Signs up with the address of Ada and another password.
async fn sign_up_as_ada(server: &Server, password: &str) -> Answer {
    let mut body = signing_up(ADA);
    body["password"] = json!(password);
    server.anonymous().post("/v1/auth/signup").json(body).await
}

async fn invite(by: &Client) -> Answer {
    by.post("/v1/auth/members").json(json!({ "email": "bob@example.com", "role": "viewer" })).await
}

#[apply(on_both)]
#[tokio::test]
async fn a_proof_ends_the_sandbox(#[case] database: Database) {
    let server = Server::start_with(database, &[ASKS[0], ("KALENDS_SIGNUP_PLAN", "pro")]).await;
    let ada = Human::sign_up(&server, ADA).await;
    let (session, api) = (server.client(&ada.token), server.client(&ada.key));
    assert_eq!(me(&session).await["user"]["email_verified_at"], json!(null));
    assert_eq!(
        (&me(&session).await["plan"], api.get("/v1/usage").await.at("/agents/limit")),
        (&json!("free"), json!(1))
    );
    invite(&session).await.refused(403, "forbidden").code("verification_required");
    let first = token(&server, 1).await;
    let mail = mails(&server, ADA, "/console/verify#", 1).await.remove(0);
    assert_eq!(mail.subject, "Confirm your address for Kalends");
    assert!(mail.text.contains(&format!("{}/console/verify#{first}", server.base_url())), "{}", mail.text);

    // Another email voids the one before. A wrong token proves nothing.
    let answer = session.post(RESEND).await.expect(202);
    has_exactly(&answer.json, &["message"]);
    let second = token(&server, 2).await;
    for wrong in [&*first, "nobody-s", " ", &"A".repeat(257)] {
        verify(&server, wrong).await.refused(400, "validation_error").param("token");
    }
    assert_eq!(me(&session).await["user"]["email_verified_at"], json!(null));

    let proved = verify(&server, &second).await.expect(200);
    has_exactly(&proved.json, &["email", "email_verified_at"]);
    assert_eq!(proved["email"], ADA);
    is_time(&proved["email_verified_at"]);
    let after = me(&session).await;
    assert_eq!((&after["user"]["email_verified_at"], &after["plan"]), (&proved["email_verified_at"], &json!("pro")));
    assert_eq!(api.get("/v1/usage").await.expect(200).header("x-service-plan"), "pro");
    invite(&session).await.expect(201);
    // Once it is proved, the token and the request for another email change nothing.
    assert_eq!(verify(&server, &second).await.expect(200).json, proved.json);
    session.post(RESEND).await.expect(202);
    let log = session.get("/v1/audit-log?action=user.update").await.expect(200).data();
    assert_eq!(log.iter().filter(|entry| entry["path"] == VERIFY).count(), 1, "{log:?}");
    // The token is in no answer, no log and no export.
    let all = [session.get("/v1/auth/export").await.text(), session.get("/v1/mail").await.text(), server.log()];
    assert!(all.iter().all(|text| !text.contains(&second)));
}

#[apply(on_both)]
#[tokio::test]
async fn emails_for_a_proof_are_limited(#[case] database: Database) {
    let mut server = Server::start_with(database, &ASKS).await;
    let session = server.client(&Human::sign_up(&server, ADA).await.token);
    for _ in 0..5 {
        session.post(RESEND).await.expect(202);
    }
    session.post(RESEND).await.refused(429, "rate_limit_error").code("proof_limit");
    server.anonymous().post(RESEND).await.refused(401, "authentication_error");
    // A day later the link is too old. Another one works.
    let old = token(&server, 1).await;
    server.restart_at_offset(DAY + 5).await;
    verify(&server, &old).await.refused(400, "validation_error").param("token");
    let session = signed_in(&server, ADA).await;
    let seen = server.mails().len();
    session.post(RESEND).await.expect(202);
    verify(&server, &token(&server, seen + 1).await).await.expect(200);
}

#[apply(on_both)]
#[tokio::test]
async fn an_address_belongs_to_the_first_who_proves_it(#[case] database: Database) {
    let server = Server::start_with(database, &ASKS).await;
    // The one who signs up first does not hold the address.
    let squatter = sign_up_as_ada(&server, "a squatter's password").await.expect(201);
    let ada = sign_up_as_ada(&server, PASSWORD).await.expect(201);
    assert_ne!(squatter["user"]["id"], ada["user"]["id"]);
    for (password, user) in [("a squatter's password", &squatter), (PASSWORD, &ada)] {
        assert_eq!(sign_in(&server, password).await.expect(200)["user"]["id"], user["user"]["id"]);
    }
    sign_in(&server, "another password").await.refused(401, "authentication_error");
    // An agent can sign up with it.
    let agent = json!({ "email": ADA, "agent_name": "Scout", "tos_version": "2026-01-01" });
    assert!(server.anonymous().post("/v1/agent/sign-up").json(agent).await.expect(200)["api_key"].is_string());
    // Nobody knows whose account an email for a new password is about, so there is none.
    server.anonymous().post("/v1/auth/password/forgot").json(json!({ "email": ADA })).await.expect(202);
    let links = mails(&server, ADA, "/console/verify#", 2).await;
    let [theirs, hers] = [0, 1].map(|index| code(&links[index], "/console/verify#"));
    let before = server.client(squatter["api_key"].as_str().unwrap());

    verify(&server, &hers).await.expect(200);
    assert_eq!(sign_in(&server, PASSWORD).await.expect(200)["user"]["id"], ada["user"]["id"]);
    sign_in(&server, "a squatter's password").await.refused(401, "authentication_error");
    verify(&server, &theirs).await.refused(409, "conflict").code("email_taken");
    sign_up_as_ada(&server, PASSWORD).await.refused(409, "conflict").code("email_taken");
    assert!(mails(&server, ADA, "/console/reset#", 0).await.is_empty());
    // What they did is theirs, in the sandbox.
    assert_eq!(before.get("/v1/usage").await.expect(200).at("/agents/limit"), 1);
    server.anonymous().post("/v1/auth/password/forgot").json(json!({ "email": ADA })).await.expect(202);
    mails(&server, ADA, "/console/reset#", 1).await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_new_password_proves_an_address_and_revokes_keys(#[case] database: Database) {
    let server = Server::start_with(database, &ASKS).await;
    let squatter = Human::sign_up(&server, ADA).await;
    let keys = server.client(&squatter.key);
    keys.get("/v1/agents").await.expect(200);
    server.anonymous().post("/v1/auth/password/forgot").json(json!({ "email": ADA })).await.expect(202);
    let reset = code(&mails(&server, ADA, "/console/reset#", 1).await[0], "/console/reset#");
    let body = json!({ "token": reset, "password": "a password of her own" });
    server.anonymous().post("/v1/auth/password/reset").json(body).await.expect(204);
    keys.get("/v1/agents").await.refused(401, "unauthorized");
    let session = server.client(sign_in(&server, "a password of her own").await.expect(200)["token"].as_str().unwrap());
    let user = me(&session).await;
    assert_eq!(user["user"]["id"], json!(squatter.user));
    is_time(&user["user"]["email_verified_at"]);
    invite(&session).await.expect(201);
    // The address was hers when she set another one, so the keys continue to work.
    let key = session.post("/v1/auth/keys/regenerate").await.expect(200)["key"].as_str().unwrap().to_owned();
    server.anonymous().post("/v1/auth/password/forgot").json(json!({ "email": ADA })).await.expect(202);
    let reset = code(&mails(&server, ADA, "/console/reset#", 2).await[1], "/console/reset#");
    let body = json!({ "token": reset, "password": "another of her own" });
    server.anonymous().post("/v1/auth/password/reset").json(body).await.expect(204);
    server.client(&key).get("/v1/agents").await.expect(200);
}

#[apply(on_both)]
#[tokio::test]
async fn an_invitation_and_the_operator_prove_an_address(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let owner = server.client(&Human::sign_up(&server, "grace@example.com").await.token);
    let invited = json!({ "email": ADA, "role": "viewer" });
    owner.post("/v1/auth/members").json(invited).await.expect(201);
    let invitation = code(&mails(&server, ADA, "/console/invitations#", 1).await[0], "/console/invitations#");
    server.stop().await;
    server.start_again(&ASKS).await;
    let ada = Human::sign_up(&server, ADA).await;
    let session = server.client(&ada.token);
    invite(&session).await.refused(403, "forbidden").code("verification_required");
    session.post("/v1/auth/invitations/accept").json(json!({ "token": invitation })).await.expect(200);
    is_time(&me(&session).await["user"]["email_verified_at"]);
    invite(&session).await.expect(201);

    let bob = Human::sign_up(&server, "bob@example.com").await;
    let session = server.client(&bob.token);
    invite(&session).await.refused(403, "forbidden").code("verification_required");
    server.cli(&["user", "verify", "bob@example.com"]).await.succeeded();
    session.post("/v1/auth/members").json(json!({ "email": ADA, "role": "viewer" })).await.expect(201);
}

/// Sends the form of the first page.
async fn send(server: &Server, code: &str) -> Seen {
    send_with(server, code, "").await
}

/// Sends the form of the page that shows what is confirmed.
async fn confirm(server: &Server, code: &str) -> Seen {
    send_with(server, code, "&shown=yes").await
}

async fn send_with(server: &Server, code: &str, more: &str) -> Seen {
    let encoded: String = code.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let form = http().post(format!("{}{VERIFY}", server.base_url()));
    let form = form.header("content-type", "application/x-www-form-urlencoded");
    Seen::of(form.body(format!("token={encoded}{more}"))).await
}

#[apply(on_both)]
#[tokio::test]
async fn an_address_is_proved_by_a_form(#[case] database: Database) {
    let server = Server::start_with(database, &ASKS).await;
    let ada = Human::sign_up(&server, ADA).await;
    sign_up_as_ada(&server, "another password").await.expect(201);
    let links = mails(&server, ADA, "/console/verify#", 2).await;
    let [right, late] = [0, 1].map(|index| code(&links[index], "/console/verify#"));
    let hostile = "\"><script>alert(1)</script>";
    for wrong in ["A-secret-of-something-else", hostile, "", &*"A".repeat(257)] {
        for seen in [send(&server, wrong).await, confirm(&server, wrong).await] {
            let text = seen.page(400);
            assert!(text.contains("This code does not work") && !text.contains("<script>"), "{text}");
            assert!(wrong.is_empty() || !text.contains(wrong), "it is not repeated: {text}");
        }
    }
    // Before it is confirmed, the page says what is confirmed, and nothing is proved.
    let session = server.client(&ada.token);
    let text = send(&server, &right).await.page(200);
    assert!(text.contains("Confirm this address") && text.contains(ADA) && text.contains("Engines"), "{text}");
    assert_eq!(me(&session).await["user"]["email_verified_at"], json!(null));
    for right in [format!(" {}/console/verify#{right} ", server.base_url()), right] {
        // Then the link asks nothing more.
        for seen in [confirm(&server, &right).await, send(&server, &right).await] {
            let text = seen.page(200);
            assert!(text.contains("Your address is confirmed") && text.contains(ADA), "{text}");
        }
    }
    is_time(&me(&session).await["user"]["email_verified_at"]);
    for seen in [send(&server, &late).await, confirm(&server, &late).await] {
        let text = seen.page(409);
        assert!(text.contains("Another account has this address"), "{text}");
    }
}

#[tokio::test]
async fn the_link_in_the_email_leads_to_what_is_confirmed() {
    let server = Server::start_with(Sqlite, &ASKS).await;
    let ada = Human::sign_up(&server, ADA).await;
    let token = token(&server, 1).await;
    let page = format!("{}/console/verify", server.base_url());
    let browser = Visitor::new().phone(PHONE.0, PHONE.1).open().await;
    browser.goto(&format!("{page}#{token}")).await;
    browser.headed("Confirm this address").await;
    browser.loaded().await;
    assert!(!browser.url().await.contains(&token), "the token is not in the address");
    // A form that is sent while its page loads takes the place of the page in the history, but not one that is sent
    // later.
    browser.goto(&page).await;
    browser.headed("Confirm your address").await;
    browser.loaded().await;
    browser.goto(&format!("{page}#{token}")).await;
    browser.headed("Confirm this address").await;
    browser.run("history.back()").await;
    browser.headed("Confirm your address").await;
    assert_eq!(browser.url().await, page, "the token is not in the history");
    browser.goto(&format!("{page}#{token}")).await;
    browser.headed("Confirm this address").await;
    browser.loaded().await;
    assert_eq!(
        me(&server.client(&ada.token)).await["user"]["email_verified_at"],
        json!(null),
        "opening it proves nothing"
    );
    fits(&browser).await;
    browser.click("button.primary").await;
    browser.headed("Your address is confirmed").await;
    fits(&browser).await;
    is_time(&me(&server.client(&ada.token)).await["user"]["email_verified_at"]);
}
