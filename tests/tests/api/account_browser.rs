//! The pages about the own account, the second factor, the organizations of a user and their claims, in a real browser.

use kalends_e2e::Client;
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::{
    calendar_desk::Desk,
    claims::{AGENT, agent, claims, code, signed_in, text, token, wrong},
    connecting::HUMAN,
    console::PASSWORD,
    in_every_way,
    second_factor::Phone,
    walk::{Walk, Way},
};

const OTHER: &str = "another of her own";

#[apply(in_every_way)]
#[tokio::test]
async fn a_user_changes_the_account(#[case] way: Way) {
    let it = Desk::new(way.database).await;
    let walk = Walk::begin(&it, way).await;
    walk.follow(".foot a[href='/console/account']").await;
    walk.reaches("Your account").await;
    walk.fill("#name", " ").await;
    walk.press("Save").await;
    walk.sees("Must be 1 to 100 characters long, got").await;
    walk.browser.find("#name-problem").await;
    walk.fill("#name", "Grace Hopper").await;
    walk.press("Save").await;
    walk.sees("Saved.").await;
    let me = it.console.get("/v1/auth/me").await.expect(200);
    assert_eq!(me.at("/user/name"), "Grace Hopper");

    walk.fill("#current_password", "not the password").await;
    walk.fill("#new_password", OTHER).await;
    walk.press("Change the password").await;
    walk.sees("This is not your password.").await;
    walk.browser.find("#current_password-problem").await;
    walk.fits().await;
    it.console.get("/v1/auth/me").await.expect(200);
    walk.fill("#current_password", PASSWORD).await;
    walk.fill("#new_password", OTHER).await;
    walk.press("Change the password").await;
    walk.sees("Your password is changed. All your other sessions have ended.").await;
    it.console.get("/v1/auth/me").await.refused(401, "authentication_error");

    walk.press("Sign out").await;
    walk.reaches("Sign in").await;
    walk.send_password(HUMAN, PASSWORD).await;
    walk.sees("The address or the password is wrong.").await;
    assert_eq!(walk.browser.property("#email", "value").await, HUMAN);
    walk.fill("#password", OTHER).await;
    walk.press("Sign in").await;
    walk.browser.find("nav[aria-label='Console']").await;
}

#[apply(in_every_way)]
#[tokio::test]
async fn a_user_turns_a_second_factor_on_and_off(#[case] way: Way) {
    let it = Desk::new(way.database).await;
    let is_on = async |session: &Client| session.get("/v1/auth/me").await.expect(200).at("/user/second_factor");
    assert_eq!(is_on(&it.console).await, false);
    let walk = Walk::begin(&it, way).await;
    walk.goto("/console/account").await;
    walk.reaches("Your account").await;
    walk.follow("main a[href='/console/security']").await;
    walk.reaches("Second factor").await;
    walk.sees("It is off.").await;
    walk.fill("#password", OTHER).await;
    walk.press("Set it up").await;
    walk.browser.find("#password-problem").await;
    walk.fits().await;
    walk.fill("#password", PASSWORD).await;
    walk.press("Set it up").await;
    walk.reaches("Set up your authenticator app").await;
    let mut phone = Phone::new(walk.browser.text("p > code").await.replace(' ', ""));
    walk.fill("#code", &phone.wrong_code()).await;
    walk.press("Turn it on").await;
    walk.browser.find("#code-problem").await;
    walk.fits().await;
    assert_eq!(is_on(&it.console).await, false);
    walk.fill("#code", &phone.code()).await;
    walk.press("Turn it on").await;
    walk.reaches("Your recovery codes").await;
    let recovery = walk.browser.text("ul.codes li:first-child code").await;
    it.console.get("/v1/auth/me").await.refused(401, "authentication_error");
    walk.press("I have stored them").await;
    walk.reaches("Second factor").await;
    walk.sees("Recovery codes left: 10").await;

    walk.goto("/console").await;
    walk.press("Sign out").await;
    walk.reaches("Sign in").await;
    walk.send_password(HUMAN, PASSWORD).await;
    walk.reaches("Enter your code").await;
    walk.fill("#code", &phone.wrong_code()).await;
    walk.press("Sign in").await;
    walk.browser.find("#code-problem").await;
    walk.fits().await;
    walk.fill("#code", &recovery).await;
    walk.press("Sign in").await;
    walk.browser.find("nav[aria-label='Console']").await;

    walk.goto("/console/security").await;
    walk.reaches("Second factor").await;
    walk.sees("Recovery codes left: 9").await;
    walk.fill("#last_code", &phone.code()).await;
    walk.press("Turn it off").await;
    walk.sees("It is off.").await;
    assert_eq!(is_on(&signed_in(&it.server, HUMAN).await).await, false);
}

#[apply(in_every_way)]
#[tokio::test]
async fn a_user_switches_organizations_and_claims_one(#[case] way: Way) {
    let it = Desk::new(way.database).await;
    let (claimed, _) = agent(&it.server, AGENT).await;
    let walk = Walk::begin(&it, way).await;
    for name in ["Engines", "Test"] {
        walk.goto("/console/orgs").await;
        walk.reaches("Your organizations").await;
        walk.press("Switch").await;
        walk.sees(&format!("Signed in as {HUMAN}, {name}.")).await;
    }

    walk.goto("/console/orgs").await;
    walk.reaches("Your organizations").await;
    walk.press("Claim it").await;
    walk.reaches("Your claims").await;
    assert!(!walk.text().await.contains("Enter the code"), "{}", walk.text().await);
    walk.fill("#email", AGENT).await;
    walk.press("Write the email").await;
    walk.reaches("Enter the code").await;
    let right = code(&it.server, AGENT, 1).await;
    walk.fill("#otp", wrong(&right)).await;
    walk.press("Claim the organization").await;
    walk.browser.find("#otp-problem").await;
    walk.fits().await;
    assert_eq!(claims(&it.console).await[0]["status"], "pending");
    walk.fill("#otp", &right).await;
    walk.press("Claim the organization").await;
    walk.reaches("Your claims").await;
    walk.sees("The code is right.").await;
    walk.sees(&claimed).await;
    let held = claims(&it.console).await.remove(0);
    assert_eq!((&held["status"], &held["org_id"]), (&json!("held"), &json!(claimed)));

    // The agent's address gets the link of this page. It needs no session.
    let link = token(&it.server, AGENT, 1).await;
    let stranger = Walk::open(&it.server, way).await;
    stranger.goto(&format!("/console/claims/{}/revoke", text(&held["id"]))).await;
    stranger.reaches("Keep your organization").await;
    stranger.fill("#code", "not-the-code").await;
    stranger.press("Revoke the claim").await;
    stranger.sees("This code does not belong to the claim.").await;
    stranger.fits().await;
    assert_eq!(stranger.browser.property("#code", "value").await, "", "a code is not repeated");
    assert_eq!(claims(&it.console).await[0]["status"], "held");
    stranger.fill("#code", &link).await;
    stranger.press("Revoke the claim").await;
    stranger.reaches("The claim is revoked").await;
    assert_eq!(claims(&it.console).await[0]["status"], "revoked");
    walk.goto("/console/claims").await;
    walk.sees("Revoked by somebody who reads the organization’s mail").await;
}
