//! The toolset `core`: few tools, written for models. A tool of this set calls operations of the API, one or several,
//! through the same stack as HTTP. They decide access, limits, audit and errors. A tool has no rules of its
//! own: it reads what models write, fills in what they leave out, and shortens the answers.

mod arguments;
mod booking;
mod compact;
mod directory;
mod event_arguments;
mod event_changes;
mod events;
mod holds;
mod identity;
mod new_event;
mod one_event;
mod operations;
mod phrases;
mod proposals;
mod ranking;
mod session;
#[cfg(test)]
mod tests;
mod times;

use std::sync::Arc;

use async_trait::async_trait;
use kalends_accounts::reach::{Allowed, CallerKind, allowed};
use kalends_app::operations::Operation;
use kalends_kernel::FieldError;
use rmcp::{
    ErrorData,
    model::{JsonObject, Tool, ToolAnnotations},
};
use serde_json::{Value, json};

pub(super) use self::{arguments::Arguments, compact::argument_error, session::Session};

/// The tools, in the order of the list.
pub(super) const TOOLS: &[&dyn CoreTool] = &[
    &identity::Whoami,
    &phrases::ResolveTime,
    &times::FindTimes,
    &events::ListEvents,
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
    &operations::SearchOperations,
    &operations::CallOperation,
];

/// What a tool is.
pub(super) struct About {
    pub name: &'static str,
    pub title: &'static str,
    /// When to use it, what it returns, and one example. The reader is a model: no word about headers or files.
    pub description: &'static str,
    pub effect: Effect,
    /// The operations that it may call. A caller that may call none of them does not see the tool. If the tool calls no
    /// operation, every caller sees it.
    pub operations: &'static [&'static Operation],
    /// The arguments that must be given.
    pub required: &'static [&'static str],
    /// The names of the operations' parameters that have another name in the tool, each with that name. Errors use it.
    pub renamed: &'static [(&'static str, &'static str)],
}

/// What a call changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing.
    Reads,
    /// It adds something.
    Adds,
    /// It may change or remove something that exists.
    Changes,
}

/// A tool of the set.
#[async_trait]
pub(super) trait CoreTool: Send + Sync {
    fn about(&self) -> About;

    /// The JSON Schemas of the arguments, by name.
    fn properties(&self) -> Value;

    /// Calls the operations. The result is JSON without what a model does not need.
    async fn run(&self, session: &Session<'_>, arguments: &Arguments) -> Outcome;
}

/// The result of a call.
pub(super) type Outcome = Result<Value, Failure>;

/// Why a call has no result.
#[derive(Debug)]
pub(super) enum Failure {
    /// An argument cannot be used.
    Argument(FieldError),
    /// An operation refused. The value is the `error` of its answer.
    Refused(Value),
    /// The answer of an operation could not be read.
    Lost(ErrorData),
}

impl From<FieldError> for Failure {
    fn from(error: FieldError) -> Self {
        Self::Argument(error)
    }
}

/// The tool with that name, if a caller of that kind may call it.
pub(super) fn find(name: &str, kind: CallerKind) -> Option<&'static dyn CoreTool> {
    for_caller(kind).find(|tool| tool.about().name == name)
}

/// The tools that a caller of that kind may call.
pub(super) fn for_caller(kind: CallerKind) -> impl Iterator<Item = &'static dyn CoreTool> {
    let may = move |operation: &&Operation| {
        !matches!(allowed(kind, operation.touch), Allowed::Forbidden | Allowed::Unauthorized)
    };
    TOOLS.iter().copied().filter(move |tool| {
        let operations = tool.about().operations;
        operations.is_empty() || operations.iter().any(may)
    })
}

/// The entry of the list.
pub(super) fn listed(tool: &dyn CoreTool) -> Tool {
    let About { name, title, description, effect, required, .. } = tool.about();
    let schema = json!({
        "type": "object", "properties": tool.properties(), "required": required, "additionalProperties": false
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

/// Runs a tool with these arguments.
pub(super) async fn call(tool: &dyn CoreTool, session: &Session<'_>, given: JsonObject) -> Outcome {
    let about = tool.about();
    let arguments = Arguments::of(given, &tool.properties(), about.required)?;
    tool.run(session, &arguments).await.map_err(|failure| failure.naming(about.renamed))
}

impl Failure {
    /// The same failure, with the tool's names of parameters.
    fn naming(self, renamed: &[(&str, &str)]) -> Self {
        match self {
            Self::Argument(FieldError { param, message, .. }) => {
                Self::Argument(FieldError::new(named(&param, renamed), named(&message, renamed)))
            }
            Self::Refused(mut error) => {
                for field in ["param", "message"] {
                    if let Some(text) = error[field].as_str() {
                        error[field] = named(text, renamed).into();
                    }
                }
                Self::Refused(error)
            }
            lost @ Self::Lost(_) => lost,
        }
    }
}

/// A text with the tool's names of parameters: of the one with which a clause of it begins, and of all whose names are no
/// words.
fn named(text: &str, renamed: &[(&str, &str)]) -> String {
    let clauses = text.split("; ").map(|clause| {
        let end = clause.find(|char| !is_part(char)).unwrap_or(clause.len());
        let (first, rest) = clause.split_at(end);
        let begins = rest.is_empty() || rest.starts_with(['.', '[', ':']);
        let own = renamed.iter().find(|(name, _)| begins && *name == first).map_or(first, |(_, own)| own);
        let other = renamed.iter().filter(|(name, _)| name.contains('_'));
        format!("{own}{}", other.fold(rest.to_owned(), |rest, (name, own)| replaced(&rest, name, own)))
    });
    clauses.collect::<Vec<_>>().join("; ")
}

/// A text in which another name stands for each `name` that is not part of a longer one.
fn replaced(text: &str, name: &str, own: &str) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        let is_whole = !before.ends_with(is_part) && !after.starts_with(is_part);
        replaced.push_str(before);
        replaced.push_str(if is_whole { own } else { name });
        rest = after;
    }
    replaced + rest
}

fn is_part(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}
