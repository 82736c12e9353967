//! The list of resources, and their kinds.

use kalends_app::operations;
use kalends_kernel::CalendarId;
use rmcp::{
    ErrorData,
    model::{ListResourcesResult, PaginatedRequestParams, Resource, ResourceTemplate},
};
use serde_json::{Value, json};

use super::{
    address::{Address, Days, JSON, TEMPLATES},
    reading::{calendars_reached, failed},
};
use crate::mcp::{
    core::{Failure, Session},
    cursor::Pages,
};

/// A page shows this many agents, and two resources for each of this many calendars.
const PAGES: Pages = Pages::of("resources", 25);
/// The status of an agent that no longer takes part in anything.
const GONE: &str = "decommissioned";

/// The resources of the calendars and agents that the key reaches, one page of them.
///
/// # Errors
/// If the cursor is unknown, or the operations refuse.
pub(in crate::mcp) async fn list(
    session: &Session<'_>,
    asked: Option<PaginatedRequestParams>,
) -> Result<ListResourcesResult, ErrorData> {
    let offset = PAGES.offset(asked)?;
    page(session, offset).await.map_err(failed)
}

async fn page(session: &Session<'_>, offset: u32) -> Result<ListResourcesResult, Failure> {
    let mut found = Vec::new();
    if offset == 0 {
        found.push(calendars());
    }
    let asked = json!({ "limit": PAGES.size(), "offset": offset });
    let mut total: u64 = 0;
    match session.own_agent() {
        Some(own) if offset == 0 => {
            let agent = session.call(&operations::GET_AGENT, json!({ "id": own.to_string() })).await?.body;
            found.extend(context(&agent));
        }
        Some(_) => {}
        None => {
            let agents = session.call(&operations::LIST_AGENTS, asked.clone()).await?.body;
            found.extend(entries(&agents).iter().filter(|agent| agent["status"] != GONE).filter_map(context));
            total = agents["total"].as_u64().unwrap_or_default();
        }
    }
    let calendars = calendars_reached(session, asked).await?;
    found.extend(entries(&calendars).iter().flat_map(agendas));
    total = total.max(calendars["total"].as_u64().unwrap_or_default());
    let mut listed = ListResourcesResult::with_all_items(found);
    listed.next_cursor = PAGES.next(offset, total);
    Ok(listed)
}

/// The kinds of resources.
pub(in crate::mcp) fn templates() -> Vec<ResourceTemplate> {
    let templates = TEMPLATES.iter().map(|template| {
        let listed = ResourceTemplate::new(template.uri, template.name).with_description(template.description);
        listed.with_mime_type(JSON)
    });
    templates.collect()
}

fn entries(listed: &Value) -> &[Value] {
    listed["data"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn calendars() -> Resource {
    resource(Address::Calendars, "Calendars", "The calendars that this key reaches, with their ids and time zones.")
}

/// The two agendas of a calendar.
fn agendas(calendar: &Value) -> Vec<Resource> {
    let text = |field: &str| calendar[field].as_str().unwrap_or_default();
    let (name, zone) = (text("name"), text("timezone"));
    let Ok(id) = text("id").parse::<CalendarId>() else { return Vec::new() };
    let today = format!("What takes place on this calendar today in {zone}.");
    let week = format!("What takes place on this calendar from Monday to Sunday of this week in {zone}.");
    vec![
        resource(Address::Agenda(id, Days::Today), &format!("{name}: agenda of today"), &today),
        resource(Address::Agenda(id, Days::Week), &format!("{name}: agenda of this week"), &week),
    ]
}

/// The context of an agent.
fn context(agent: &Value) -> Option<Resource> {
    let id = agent["id"].as_str()?.parse().ok()?;
    let name = agent["name"].as_str().unwrap_or_default();
    Some(resource(Address::Context(id), &format!("{name}: context"), "What this agent does now and next."))
}

fn resource(address: Address, name: &str, description: &str) -> Resource {
    Resource::new(address.to_string(), name).with_description(description).with_mime_type(JSON)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_calendar_has_two_agendas() {
        let calendar = json!({ "id": "cal_00000000000000000000000001", "name": "Work", "timezone": "Europe/Berlin" });
        let found = serde_json::to_value(agendas(&calendar)).unwrap();
        assert_eq!(found[0]["uri"], "kalends://calendars/cal_00000000000000000000000001/today");
        assert_eq!(found[1]["uri"], "kalends://calendars/cal_00000000000000000000000001/week");
        assert_eq!((&found[0]["name"], &found[0]["mimeType"]), (&json!("Work: agenda of today"), &json!(JSON)));
        assert!(found[1]["description"].as_str().unwrap().contains("Europe/Berlin"), "{found:#}");
    }

    #[test]
    fn an_agent_has_a_context() {
        let found = context(&json!({ "id": "agt_00000000000000000000000001", "name": "Ada" })).unwrap();
        assert_eq!(found.uri, "kalends://agents/agt_00000000000000000000000001/context");
        assert_eq!(found.name, "Ada: context");
    }

    #[test]
    fn the_kinds_are_listed() {
        let found = templates();
        assert_eq!(found.len(), TEMPLATES.len());
        assert!(found.iter().all(|template| template.mime_type.as_deref() == Some(JSON)));
    }
}
