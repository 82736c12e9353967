//! The toolset `core`: few tools, written for models. A tool of this set calls operations of the API, one or several,
//! through the same stack as HTTP. They decide access, limits, audit and errors. A tool has no rights of its
//! own: it reads what models write, fills in what they leave out, looks at what an operation does not check, and shortens
//! the answers.

mod arguments;
mod booking;
mod compact;
mod directory;
mod event_arguments;
mod event_changes;
mod event_target;
mod events;
mod failure;
mod holds;
mod identity;
mod marking;
mod marks;
mod new_event;
mod one_event;
mod operations;
mod other_calendars;
mod part;
mod past_holds;
mod phrases;
mod proposals;
mod ranking;
mod series_moves;
mod session;
#[cfg(test)]
mod tests;
mod times;
mod tool;
mod undo;
mod waiting;

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock, atomic::Ordering},
};

use kalends_accounts::reach::Standing;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use self::{
    arguments::Arguments,
    tool::{About, CoreTool, Effect},
};
use crate::dry_run;

pub(super) use self::{
    compact::{argument_error, at as local_time, event as short_event, span},
    events::ListEvents,
    failure::{Failure, Outcome},
    identity::{add as add_list, calendar as short_calendar},
    marks::Marks,
    session::Session,
};

/// The tools, in the order of the list.
pub(super) const TOOLS: &[&dyn CoreTool] = &[
    &identity::Whoami,
    &phrases::ResolveTime,
    &times::FindTimes,
    &ListEvents,
    &one_event::GetEvent,
    &new_event::CreateEvent,
    &event_changes::UpdateEvent,
    &event_changes::CancelEvent,
    &times::ExplainTime,
    &holds::HoldTime,
    &holds::ConfirmHold,
    &holds::ReleaseHold,
    &proposals::CreateProposal,
    &proposals::RespondToProposal,
    &proposals::GetProposal,
    &booking::ListBookingSlots,
    &booking::BookSlot,
    &undo::UndoRun,
    &operations::SearchOperations,
    &operations::CallOperation,
];

/// The tool with that name, if the caller may call it.
pub(super) fn find(name: &str, caller: Standing) -> Option<&'static dyn CoreTool> {
    TOOLS.iter().copied().find(|tool| tool.about().name == name).filter(|tool| is_open(*tool, caller))
}

/// The tools that a caller may call.
pub(super) fn for_caller(caller: impl Into<Standing>) -> impl Iterator<Item = &'static dyn CoreTool> {
    let caller = caller.into();
    TOOLS.iter().copied().filter(move |tool| is_open(*tool, caller))
}

fn is_open(tool: &dyn CoreTool, caller: Standing) -> bool {
    let operations = tool.about().operations;
    operations.is_empty() || operations.iter().any(|operation| caller.opens(operation.touch))
}

/// The entry of the list.
pub(super) fn listed(tool: &dyn CoreTool) -> Tool {
    let properties = properties(tool);
    let About { name, title, description, effect, required, .. } = tool.about();
    let schema = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false
    });
    let schema = if let Value::Object(schema) = schema { schema } else { JsonObject::new() };
    let mut listed = Tool::new(name, description, Arc::new(schema));
    listed.title = Some(title.to_owned());
    let hints = ToolAnnotations::new().read_only(effect == Effect::Reads);
    listed.annotations = Some(match effect {
        Effect::Reads => hints,
        Effect::Adds => hints.destructive(false),
        Effect::Changes => hints.destructive(true),
    });
    listed
}

/// The JSON Schemas of all arguments of a tool, by name. Every call needs them, so they are made once.
fn properties(tool: &dyn CoreTool) -> &'static Value {
    static OF_TOOLS: LazyLock<BTreeMap<&'static str, Value>> = LazyLock::new(|| {
        let mut all = BTreeMap::new();
        for tool in TOOLS {
            let (about, mut properties) = (tool.about(), tool.properties());
            marking::add(&about, &mut properties);
            all.insert(about.name, properties);
        }
        all
    });
    OF_TOOLS.get(tool.about().name).unwrap_or(&Value::Null)
}

/// What the result of a dry run says.
const ONLY_TRIED: &str = "This was a dry run: nothing was kept or sent. The ids of new things are made up.";

/// Runs a tool that only reads with these arguments, as a part of something else.
pub(super) async fn read(tool: &dyn CoreTool, session: &Session<'_>, given: JsonObject) -> Outcome {
    run(tool, session, &Arguments::of(given, properties(tool), tool.about().required)?).await
}

async fn run(tool: &dyn CoreTool, session: &Session<'_>, arguments: &Arguments) -> Outcome {
    let renamed = tool.about().renamed;
    let named = |failure: Failure| failure.naming(renamed).naming(&[(kalends_runs::HEADER, "run")]);
    tool.run(session, arguments).await.map_err(named)
}

/// Runs a tool with these arguments. The result of a dry run says so.
pub(super) async fn call(tool: &dyn CoreTool, mut session: Session<'_>, given: JsonObject) -> Outcome {
    let about = tool.about();
    let arguments = Arguments::of(given, properties(tool), about.required)?;
    session.marks = marking::read(&about, &arguments)?;
    let mut result = run(tool, &session, &arguments).await?;
    if session.was_dry_run.load(Ordering::Relaxed)
        && let Some(result) = result.as_object_mut()
    {
        result.insert(dry_run::PARAMETER.to_owned(), true.into());
        // What would come next has nothing to work on.
        result.remove("next");
        let note = match result.get("note").and_then(Value::as_str) {
            Some(note) => format!("{ONLY_TRIED} Otherwise: {note}"),
            None => ONLY_TRIED.to_owned(),
        };
        result.insert("note".to_owned(), note.into());
    }
    Ok(result)
}
