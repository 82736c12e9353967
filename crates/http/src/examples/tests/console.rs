//! A user in the console takes over what an agent started.

use kalends_app::{operations as op, operators::set_plan};
use kalends_plans::Plan;
use serde_json::json;
use totp_rs::{Builder, Secret};

use super::story::{Story, id, text};

/// What the user owns in the end.
pub(super) struct Owned {
    pub(super) org: String,
    pub(super) key: String,
    pub(super) agent: String,
    pub(super) calendar: String,
}

/// The password that she signs in with in the end.
pub(super) const LAST_PASSWORD: &str = "a horse of another colour";
const PASSWORD: &str = "correct horse battery staple";

/// Signs up and claims two organizations: Scout's, which she then uses, and Ada's, whose claim is revoked.
pub(super) async fn a_human_takes_over(story: &mut Story) -> Owned {
    story.chapter("2026-03-02T12:00:00Z");
    let body = json!({ "email": "scout@example.com", "agent_name": "Scout", "tos_version": "2026-01-01" });
    let scout = story.ask(&op::SIGN_UP).send(body).done().await;
    let (org, key, agent) = (text(&scout, "/org_id"), text(&scout, "/api_key"), text(&scout, "/agent_id"));
    let body = json!({ "name": "Expeditions", "timezone": "Europe/Berlin" });
    let calendar = id(&story.ask(&op::CREATE_AGENT_CALENDAR).of(&agent).by(&key).send(body).done().await);
    let body = json!({
        "title": "Base camp", "start_time": "2026-03-09T09:00:00+01:00", "end_time": "2026-03-09T10:00:00+01:00"
    });
    story.ask(&op::CREATE_EVENT).of(&calendar).by(&key).send(body).done().await;

    let body = json!({
        "email": "mina@example.com", "password": PASSWORD, "name": "Mina", "org_name": "Observatory",
        "tos_version": "2026-01-01"
    });
    story.ask(&op::CONSOLE_SIGN_UP).send(body).record().await;
    let enter = json!({ "email": "mina@example.com", "password": PASSWORD });
    let token = text(&story.ask(&op::SIGN_IN).send(enter.clone()).record().await, "/token");
    story.ask(&op::UPDATE_ME).by(&token).send(json!({ "name": "Mina Fleming" })).record().await;
    let accepted = json!({ "tos_version": "2026-01-01" });
    story.ask(&op::ACCEPT_TERMS_IN_CONSOLE).by(&token).send(accepted).record().await;

    let body = json!({ "email": "scout@example.com" });
    let claim = text(&story.ask(&op::INITIATE_CLAIM).by(&token).send(body).record().await, "/claim_id");
    let proof = json!({ "claim_id": claim, "otp": story.last_code().await });
    story.ask(&op::VERIFY_CLAIM).by(&token).send(proof).record().await;
    let body = json!({ "email": "ada@example.com" });
    let claim = text(&story.ask(&op::INITIATE_CLAIM).by(&token).send(body).done().await, "/claim_id");
    let proof = json!({ "claim_id": claim, "otp": story.last_code().await });
    story.ask(&op::VERIFY_CLAIM).by(&token).send(proof).done().await;
    let mail = story.last_mail().await;
    let refusal = mail.split_once("/revoke#").unwrap().1.split_whitespace().next().unwrap();
    story.ask(&op::REVOKE_CLAIM).of(&claim).send(json!({ "revocation_token": refusal })).record().await;
    let body = json!({ "name": "Harvard Observatory" });
    story.ask(&op::UPDATE_ORG).by(&token).send(body).record().await;

    // A day later, nobody has objected to the claim on Scout's organization.
    story.chapter("2026-03-03T12:30:00Z");
    story.app.settle_claims(10).await.unwrap();
    let token = text(&story.ask(&op::SIGN_IN).send(enter).done().await, "/token");
    story.ask(&op::LIST_CLAIMS).by(&token).record().await;
    story.ask(&op::SWITCH_ORG).of(&org).by(&token).record().await;
    story.ask(&op::LIST_ORGS).by(&token).record().await;
    story.ask(&op::GET_ME).by(&token).record().await;
    set_plan(&story.app, org.parse().unwrap(), Plan::Pro, None).await.unwrap();
    let body = json!({ "agent_id": agent, "label": "field radio" });
    story.ask(&op::CREATE_KEY_FROM_CONSOLE).by(&token).send(body).record().await;
    let key = text(&story.ask(&op::REGENERATE_KEY).by(&token).record().await, "/key");
    with_a_second_pair_of_eyes(story, &token).await;
    story.ask(&op::EXPORT).by(&token).record().await;
    story.ask(&op::RESEND_PROOF).by(&token).record().await;
    story.deliver_mail().await;
    let mail = story.last_mail().await;
    let proof = mail.split_once("/verify#").unwrap().1.split_whitespace().next().unwrap();
    story.ask(&op::VERIFY_EMAIL).send(json!({ "token": proof })).record().await;
    with_a_second_factor(story, &token).await;
    let body = json!({ "current_password": PASSWORD, "new_password": LAST_PASSWORD });
    story.ask(&op::CHANGE_PASSWORD).by(&token).send(body).record().await;
    story.ask(&op::FORGOT_PASSWORD).send(json!({ "email": "mina@example.com" })).record().await;
    let mail = story.last_mail().await;
    let reset = mail.split_once("/reset#").unwrap().1.split_whitespace().next().unwrap();
    story.ask(&op::RESET_PASSWORD).send(json!({ "token": reset, "password": LAST_PASSWORD })).record().await;
    Owned { org, key, agent, calendar }
}

/// Turns a second factor on, gets other recovery codes, and turns it off.
async fn with_a_second_factor(story: &mut Story, token: &str) {
    let started = story.ask(&op::START_SECOND_FACTOR).by(token).send(json!({ "password": PASSWORD })).record().await;
    let secret = Secret::try_from_base32(text(&started, "/secret")).unwrap();
    let seconds = u64::try_from(story.app.now().as_unix_seconds()).unwrap();
    let code = Builder::new().with_secret(secret).build().unwrap().generate(seconds).to_string();
    let first = json!({ "code": code });
    let codes = story.ask(&op::CONFIRM_SECOND_FACTOR).by(token).send(first).record().await;
    let recovery = json!({ "code": text(&codes, "/recovery_codes/0") });
    let codes = story.ask(&op::RENEW_RECOVERY_CODES).by(token).send(recovery).record().await;
    let recovery = json!({ "code": text(&codes, "/recovery_codes/0") });
    story.ask(&op::REMOVE_SECOND_FACTOR).by(token).send(recovery).record().await;
}

/// Invites a colleague, who joins, gets another role and leaves.
async fn with_a_second_pair_of_eyes(story: &mut Story, owner: &str) {
    let body = json!({ "email": "annie@example.com", "role": "viewer" });
    story.ask(&op::INVITE_MEMBER).by(owner).send(body).record().await;
    story.deliver_mail().await;
    let mail = story.last_mail().await;
    let invitation = mail.split_once("/invitations#").unwrap().1.split_whitespace().next().unwrap();
    let body = json!({
        "email": "annie@example.com", "password": PASSWORD, "name": "Annie Cannon", "tos_version": "2026-01-01"
    });
    let colleague = text(&story.ask(&op::CONSOLE_SIGN_UP).send(body).done().await, "/user/id");
    let enter = json!({ "email": "annie@example.com", "password": PASSWORD });
    let token = text(&story.ask(&op::SIGN_IN).send(enter).done().await, "/token");
    story.ask(&op::ACCEPT_INVITATION).by(&token).send(json!({ "token": invitation })).record().await;
    story.ask(&op::LIST_MEMBERS).by(owner).record().await;
    story.ask(&op::UPDATE_MEMBER).of(&colleague).by(owner).send(json!({ "role": "member" })).record().await;
    story.ask(&op::DELETE_MEMBER).of(&colleague).by(owner).record().await;
}
