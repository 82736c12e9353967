//! The service introduces itself. An agent signs up and looks at its account.

use http::StatusCode;
use kalends_app::operations as op;
use serde_json::json;

use super::{
    house::House,
    story::{ADMIN_TOKEN, Story, id, text},
};

/// Public operations, and the waiting list.
pub(super) async fn the_service_introduces_itself(story: &mut Story) {
    story.chapter("2026-03-02T08:00:00Z");
    story.ask(&op::HEALTH).record().await;
    story.ask(&op::READY).record().await;
    story.ask(&op::PLANS).record().await;
    story.ask(&op::TERMS).record().await;

    let body = json!({ "email": "mary@example.com", "name": "Mary Somerville", "tos_version": "2026-01-01" });
    let waiting = story.ask(&op::JOIN_WAITLIST).send(body.clone()).record().await;
    story.ask(&op::JOIN_WAITLIST).send(body).record().await;
    story.ask(&op::ACTIVATE_ORGANIZATION).of(&text(&waiting, "/data/id")).by(ADMIN_TOKEN).record().await;
}

/// An agent signs up. Returns the organization, its key and the agent.
pub(super) async fn sign_up(story: &mut Story) -> (String, String, String) {
    story.chapter("2026-03-02T08:05:00Z");
    let body = json!({ "email": "ada@example.com", "agent_name": "Ada", "tos_version": "2026-01-01" });
    let made = story.ask(&op::SIGN_UP).send(body).record().await;
    let (org, key, ada) = (text(&made, "/org_id"), text(&made, "/api_key"), text(&made, "/agent_id"));
    // The sandbox has room for one agent and for nothing that only a plan includes.
    let body = json!({ "name": "Grace", "type": "ai" });
    story.ask(&op::CREATE_AGENT).by(&key).send(body).refused(StatusCode::TOO_MANY_REQUESTS).await;
    story.ask(&op::LIST_KEYS).by(&key).refused(StatusCode::FORBIDDEN).await;
    let code = story.last_code().await;
    story.ask(&op::VERIFY).by(&key).send(json!({ "otp": code })).record().await;
    story.ask(&op::ACCEPT_TERMS).by(&key).send(json!({ "tos_version": "2026-01-01" })).record().await;
    let body = json!({
        "type": "friction", "message": "It took three tries to find the right time format.",
        "context": { "endpoint": "POST /v1/calendars/:id/events", "http_status": 400 }
    });
    story.ask(&op::FEEDBACK).by(&key).send(body).record().await;
    (org, key, ada)
}

/// The keys, the usage and the audit log of an organization.
pub(super) async fn the_account_is_looked_at(story: &mut Story, house: &House) {
    story.chapter("2026-03-02T11:00:00Z");
    let body = json!({ "agent_id": house.ada, "label": "laptop", "scopes": ["freebusy:org"] });
    let key = id(&story.ask(&op::CREATE_KEY).by(&house.key).send(body).record().await);
    story.ask(&op::LIST_KEYS).by(&house.key).record().await;
    story.ask(&op::DELETE_KEY).of(&key).by(&house.key).record().await;
    story.ask(&op::USAGE).by(&house.key).record().await;
    let body = json!({ "email": "team@example.com" });
    story.ask(&op::PUT_REPLY_TO).by(&house.key).send(body).record().await;
    story.deliver_mail().await;
    let mail = story.last_mail().await;
    let link = mail.split_once("/replies/").unwrap().1;
    let token = link.split_whitespace().next().unwrap();
    story.ask(&op::SHOW_REPLY_LINK).of(token).done().await;
    story.ask(&op::ANSWER_REPLY_LINK).of(token).send(json!({ "agrees": true })).record().await;
    story.ask(&op::GET_REPLY_TO).by(&house.key).record().await;
    story.ask(&op::DELETE_REPLY_TO).by(&house.key).record().await;
    story.ask(&op::AUDIT_LOG).query("limit=3").by(&house.key).record().await;
}
