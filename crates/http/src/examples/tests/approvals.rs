//! A key whose writes wait until a person allows them.

use kalends_app::operations as op;
use serde_json::{Value, json};

use super::{
    house::House,
    story::{Ask, Story, text},
};

/// Asks for an event of an hour on Thursday.
fn asking<'s>(story: &'s mut Story, calendar: &str, key: &str, (title, hour): (&str, u32)) -> Ask<'s> {
    let body = json!({
        "title": title, "start_time": format!("2026-03-05T{hour}:00:00+01:00"),
        "end_time": format!("2026-03-05T{}:00:00+01:00", hour + 1)
    });
    story.ask(&op::CREATE_EVENT).of(calendar).by(key).send(body)
}

/// The identifier of the approval that a request waits for.
fn approval(answer: &Value) -> String {
    text(answer, "/approval/id")
}

/// A key of Ada asks for three events. One is approved, one is denied, and the key cancels one.
pub(super) async fn writes_wait_for_approval(story: &mut Story, House { key, ada, work, .. }: &House) {
    story.chapter("2026-03-02T09:52:00Z");
    let body = json!({
        "agent_id": ada, "label": "assistant", "requires_approval": ["createEvent"], "approval_expires_in_minutes": 480
    });
    let own = text(&story.ask(&op::CREATE_KEY).by(key).send(body).done().await, "/key");
    let kick_off = approval(&asking(story, work, &own, ("Kick-off", 10)).record().await);
    let review = approval(&asking(story, work, &own, ("Review", 12)).done().await);
    let workshop = approval(&asking(story, work, &own, ("Workshop", 14)).done().await);
    story.ask(&op::LIST_APPROVALS).query("status=pending&limit=2").by(key).record().await;
    story.ask(&op::APPROVE).of(&kick_off).by(key).record().await;
    let reason = json!({ "reason": "Noon stays free." });
    story.ask(&op::DENY_APPROVAL).of(&review).by(key).send(reason).record().await;
    story.ask(&op::CANCEL_APPROVAL).of(&workshop).by(&own).record().await;
    story.ask(&op::GET_APPROVAL).of(&kick_off).by(&own).record().await;
}
