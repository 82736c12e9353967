//! Who the caller is, and what it can schedule.

use async_trait::async_trait;
use kalends_accounts::Scope;
use kalends_app::operations;
use serde_json::{Value, json};

use super::{
    arguments::Arguments,
    directory,
    failure::Outcome,
    session::Session,
    tool::{About, CoreTool, Effect},
};

/// The most agents and the most calendars that are shown.
const SHOWN: usize = 50;

/// `whoami`
pub(super) struct Whoami;

#[async_trait]
impl CoreTool for Whoami {
    fn about(&self) -> About {
        About {
            name: "whoami",
            title: "Who am I",
            description: "Returns who you are (an agent, or the whole organization), the current time, and the ids, names and \
                time zones of your calendars, and of the organization's agents if you may see them. Call it first, once. \
                Example: {}",
            effect: Effect::Reads,
            operations: &[
                &operations::GET_AGENT,
                &operations::LIST_AGENT_CALENDARS,
                &operations::LIST_AGENTS,
                &operations::LIST_CALENDARS,
            ],
            required: &[],
            renamed: &[],
        }
    }

    fn properties(&self) -> Value {
        json!({})
    }

    async fn run(&self, session: &Session<'_>, _: &Arguments) -> Outcome {
        let mut found = json!({ "organization_id": session.org(), "now": session.now().to_string() });
        if let Some(own) = session.own_agent() {
            if !session.scopes().is_empty() {
                found["scopes"] = session.scopes().iter().map(Scope::as_str).collect::<Vec<_>>().into();
            }
            let id = own.to_string();
            let agent = session.call(&operations::GET_AGENT, json!({ "id": id })).await?.body;
            found["agent"] = entry(&agent, "agent_id");
            let calendars = json!({ "agent_id": id, "limit": SHOWN });
            let listed = session.call(&operations::LIST_AGENT_CALENDARS, calendars).await?.body;
            add(&mut found, "calendars", &listed, calendar);
            if session.scopes().contains(Scope::DirectoryOrg) {
                let agents = session.call(&operations::LIST_AGENTS, json!({ "limit": SHOWN })).await?.body;
                add(&mut found, "agents", &agents, |agent| entry(agent, "agent_id"));
                let (shared, _) = directory::shared_calendars(session).await?;
                let entries: Vec<Value> =
                    shared.iter().map(|room| json!({ "id": room.id, "name": room.name })).collect();
                let shown = entries.get(..SHOWN).unwrap_or(&entries);
                let listed = json!({ "data": shown, "total": entries.len() });
                add(&mut found, "shared_calendars", &listed, |room| entry(room, "calendar_id"));
            }
            return Ok(found);
        }
        let agents = session.call(&operations::LIST_AGENTS, json!({ "limit": SHOWN })).await?.body;
        add(&mut found, "agents", &agents, |agent| entry(agent, "agent_id"));
        let asked = json!({ "include": "all", "limit": SHOWN });
        let calendars = session.call(&operations::LIST_CALENDARS, asked).await?.body;
        add(&mut found, "calendars", &calendars, calendar);
        Ok(found)
    }
}

/// Adds the entries of a list, and how many others there are.
pub(in super::super) fn add(found: &mut Value, name: &str, listed: &Value, show: impl Fn(&Value) -> Value) {
    let data = listed["data"].as_array().map(Vec::as_slice).unwrap_or_default();
    let others = listed["total"].as_u64().unwrap_or_default().saturating_sub(data.len() as u64);
    let entries: Vec<Value> = data.iter().filter(|entry| entry["status"] != "decommissioned").map(show).collect();
    if others > 0 {
        found[format!("other_{name}")] = others.into();
    }
    found[name] = entries.into();
}

fn entry(thing: &Value, id: &str) -> Value {
    json!({ id: thing["id"], "name": thing["name"] })
}

/// A calendar as lists show it.
pub(in super::super) fn calendar(calendar: &Value) -> Value {
    let mut shown = entry(calendar, "calendar_id");
    shown["timezone"] = calendar["timezone"].clone();
    if !calendar["agentId"].is_null() {
        shown["agent_id"] = calendar["agentId"].clone();
    }
    shown
}
