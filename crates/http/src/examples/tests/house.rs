//! The organization that most of the story is about: two agents and their calendars.

use kalends_app::{operations as op, operators::set_plan};
use kalends_plans::Plan;
use serde_json::json;

use super::{
    accounts::sign_up,
    story::{Story, id},
};

/// The organization and its contents.
pub(super) struct House {
    /// The organization's key.
    pub(super) key: String,
    /// The agent that signed up.
    pub(super) ada: String,
    /// The second agent.
    pub(super) grace: String,
    /// Ada's calendar.
    pub(super) work: String,
    /// Grace's calendar.
    pub(super) hers: String,
    /// A calendar that the organization shares.
    pub(super) room: String,
}

impl House {
    /// Signs Ada up and sets up everything that she needs.
    pub(super) async fn built(story: &mut Story) -> Self {
        let (org, key, ada) = sign_up(story).await;
        set_plan(&story.app, org.parse().unwrap(), Plan::Pro, None).await.unwrap();
        story.debit_ahead(&key).await;

        story.chapter("2026-03-02T08:10:00Z");
        let body = json!({ "name": "Grace", "type": "ai", "description": "Plans the week" });
        let grace = id(&story.ask(&op::CREATE_AGENT).by(&key).send(body).record().await);
        story.ask(&op::GET_AGENT).of(&grace).by(&key).record().await;
        story.ask(&op::LIST_AGENTS).by(&key).record().await;
        let body = json!({ "name": "Trainee", "type": "ai" });
        let trainee = id(&story.ask(&op::CREATE_AGENT).by(&key).send(body).done().await);
        let body = json!({ "status": "paused" });
        story.ask(&op::UPDATE_AGENT).of(&trainee).by(&key).send(body).record().await;
        story.ask(&op::DELETE_AGENT).of(&trainee).by(&key).record().await;

        let body = json!({ "name": "Work", "timezone": "Europe/Berlin", "default_reminders": [15] });
        let work = id(&story.ask(&op::CREATE_AGENT_CALENDAR).of(&ada).by(&key).send(body).record().await);
        let body = json!({ "name": "Work", "timezone": "Europe/Berlin" });
        let hers = id(&story.ask(&op::CREATE_AGENT_CALENDAR).of(&grace).by(&key).send(body).done().await);
        let body = json!({ "name": "Meeting room", "timezone": "Europe/Berlin" });
        let room = id(&story.ask(&op::CREATE_CALENDAR).by(&key).send(body).record().await);
        story.ask(&op::GET_CALENDAR).of(&work).by(&key).record().await;
        story.ask(&op::LIST_CALENDARS).query("limit=2").by(&key).record().await;
        story.ask(&op::LIST_AGENT_CALENDARS).of(&ada).by(&key).record().await;
        let body = json!({ "agent_status": "working" });
        story.ask(&op::UPDATE_CALENDAR).of(&work).by(&key).send(body).record().await;

        let hours = json!({ "start": "09:00", "end": "17:00" });
        let body = json!({
            "buffer_before_minutes": 10, "buffer_after_minutes": 5, "timezone": "Europe/Berlin",
            "working_hours": { "mon": hours, "tue": hours, "wed": hours, "thu": hours, "fri": hours },
            "overrides": [{ "date": "2026-12-24", "working_hours": null }]
        });
        story.ask(&op::PUT_RULES).of(&work).by(&key).send(body).record().await;
        story.ask(&op::GET_RULES).of(&work).by(&key).record().await;
        Self { key, ada, grace, work, hers, room }
    }
}
