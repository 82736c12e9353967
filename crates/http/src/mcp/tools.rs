//! Tools derived from the OpenAPI description: one for each operation that a key may call.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use kalends_accounts::reach::{Standing, Touch};
use kalends_app::operations::{self, Operation};
use kalends_plans::IpLane;
use kalends_runs::{HEADER, RunName};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::one_type::with_one_type;

/// The defaults of tools that differ from those of their routes: lists are shorter, and times are also shown in the
/// zone of their calendar.
fn profile() -> [(&'static str, Value); 2] {
    [("limit", json!(20)), ("local", json!(true))]
}

/// The maximum depth of nested references in a schema. Without it, inlining a recursive schema would not end.
const DEPTH_MAX: u8 = 24;

/// Where an argument is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Path,
    Query,
    /// A header, by its lower-case name.
    Header(&'static str),
    Body,
}

/// The body of the operation's request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    Nothing,
    /// An object of all arguments that are not sent elsewhere. If `required`, the object is sent even if it is empty.
    Json {
        required: bool,
    },
    /// The argument [`TEXT`], unchanged, with this media type.
    Text(String),
}

/// The argument that contains the body if it is not JSON.
pub(super) const TEXT: &str = "content";

/// The argument that names the run.
pub(super) const RUN: &str = "run";

/// A tool, and how its arguments become a request.
#[derive(Debug)]
pub(super) struct Bound {
    pub(super) tool: Tool,
    pub(super) operation: &'static Operation,
    /// The group of the operation, as addresses name it, such as `booking-pages`.
    pub(super) tag: String,
    pub(super) places: BTreeMap<String, Place>,
    pub(super) content: Content,
    /// The media type to request.
    pub(super) accept: &'static str,
    /// The defaults of the [`profile`] that are added to the query.
    pub(super) defaults: Vec<(&'static str, Value)>,
}

impl Bound {
    /// Adds the run that the header of the message names to the arguments, unless they name one, or the writes of the
    /// operation cannot belong to a run.
    pub(super) fn add_run(&self, run: Option<&RunName>, arguments: &mut JsonObject) {
        if let Some(run) = run
            && self.operation.is_undoable()
            && arguments.get(RUN).is_none_or(Value::is_null)
        {
            arguments.insert(RUN.to_owned(), run.as_str().into());
        }
    }
}

/// All tools, in the order of the operations.
#[derive(Debug)]
pub(crate) struct Tools {
    bound: Vec<Bound>,
    /// Where the tool of each operation is, by the name of the operation. Every call looks for one.
    by_name: HashMap<&'static str, usize>,
}

impl Tools {
    /// Derives the tools from a description. Also returns the names that denote two arguments of one operation. A test
    /// checks that there are none.
    pub(crate) fn of(description: &Value) -> (Self, Vec<String>) {
        let (mut bound, mut clashes) = (Vec::new(), Vec::new());
        for operation in operations::ALL {
            let described = &description["paths"][operation.path][operation.method.to_ascii_lowercase()];
            if described.is_object() && is_tool(operation, described) {
                bound.push(bind(operation, described, &description["components"]["schemas"], &mut clashes));
            }
        }
        let by_name = bound.iter().enumerate().map(|(place, bound)| (bound.operation.id, place)).collect();
        (Self { bound, by_name }, clashes)
    }

    /// The tools that a caller may call.
    pub(super) fn for_caller(&self, caller: impl Into<Standing>) -> impl Iterator<Item = &Bound> {
        let caller = caller.into();
        self.bound.iter().filter(move |bound| caller.opens(bound.operation.touch))
    }

    /// The tool of an operation, for any kind of caller.
    pub(super) fn of_operation(&self, operation: &Operation) -> Option<&Bound> {
        self.named(operation.id)
    }

    fn named(&self, name: &str) -> Option<&Bound> {
        self.bound.get(*self.by_name.get(name)?)
    }

    /// The groups of the tools, in order.
    pub(super) fn tags(&self) -> BTreeSet<&str> {
        self.bound.iter().map(|bound| bound.tag.as_str()).collect()
    }

    /// The tool with that name, if the caller may call it.
    pub(super) fn find(&self, name: &str, caller: impl Into<Standing>) -> Option<&Bound> {
        let caller = caller.into();
        self.named(name).filter(|bound| caller.opens(bound.operation.touch))
    }
}

/// The media types that a program can read, best first. HTML pages are for people.
const READABLE: [&str; 3] = ["application/json", "text/markdown", "text/calendar"];

/// Whether a key may call the operation and a program can use the answer.
fn is_tool(operation: &Operation, described: &Value) -> bool {
    if !operation.is_public() {
        return !operation.is_console() && operation.touch != Touch::Admin;
    }
    // Sign-in is for users, and the description is already expressed by the tools.
    let signs_in = operation.lane() == Some(IpLane::SignIn) || operation.id == operations::CONSOLE_SIGN_UP.id;
    !signs_in && operation.id != operations::OPENAPI.id && readable(operation, described).is_some()
}

/// The media type to request for the operation's success.
fn readable(operation: &Operation, described: &Value) -> Option<&'static str> {
    let content = &described["responses"][operation.status.to_string()]["content"];
    READABLE.into_iter().find(|media_type| content[*media_type].is_object())
}

fn bind(operation: &'static Operation, described: &Value, schemas: &Value, clashes: &mut Vec<String>) -> Bound {
    let mut arguments = Arguments {
        operation,
        properties: JsonObject::new(),
        required: BTreeSet::new(),
        places: BTreeMap::new(),
        clashes,
    };
    for parameter in described["parameters"].as_array().into_iter().flatten() {
        let name = parameter["name"].as_str().unwrap_or_default();
        let (argument, place) = match parameter["in"].as_str() {
            Some("path") => (name, Place::Path),
            Some("header") if name == "Idempotency-Key" => ("idempotency_key", Place::Header("idempotency-key")),
            Some("header") if name == HEADER => (RUN, Place::Header("kalends-run")),
            Some("header") if name == "If-Match" => ("if_match", Place::Header("if-match")),
            Some("query") => (name, Place::Query),
            _ => continue,
        };
        let mut schema = inlined(&parameter["schema"], schemas, 0);
        if let Some(text) = parameter["description"].as_str() {
            schema["description"] = text.into();
        }
        arguments.add(argument, schema, place, parameter["required"] == true);
    }
    let content = body(described, schemas, &mut arguments);
    let mut defaults = Vec::new();
    for (name, value) in profile() {
        if arguments.places.get(name) == Some(&Place::Query) {
            arguments.properties[name]["default"] = value.clone();
            defaults.push((name, value));
        }
    }
    let Arguments { properties, required, places, .. } = arguments;
    let schema = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false
    });
    let schema = if let Value::Object(schema) = schema { schema } else { JsonObject::new() };
    let (title, text) = (described["summary"].as_str().unwrap_or_default(), described["description"].as_str());
    let description = text.map_or_else(|| title.to_owned(), |text| format!("{title}\n\n{text}"));
    let mut tool = Tool::new(operation.id, description, Arc::new(schema));
    tool.title = Some(title.trim_end_matches('.').to_owned());
    tool.annotations = Some(hints(operation));
    let accept = readable(operation, described).unwrap_or(READABLE[0]);
    let tag = described["tags"][0].as_str().unwrap_or_default().to_lowercase().replace(' ', "-");
    Bound { tool, operation, tag, places, content, accept, defaults }
}

/// Adds the arguments of the body.
fn body(described: &Value, schemas: &Value, arguments: &mut Arguments<'_>) -> Content {
    let Some(content) = described["requestBody"]["content"].as_object() else { return Content::Nothing };
    let required = described["requestBody"]["required"] == true;
    if let Some(media) = content.get("application/json") {
        let schema = inlined(&media["schema"], schemas, 0);
        let needed: BTreeSet<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            arguments.add(name, property.clone(), Place::Body, required && needed.contains(name.as_str()));
        }
        return Content::Json { required };
    }
    let Some((media_type, media)) = content.iter().next() else { return Content::Nothing };
    let mut schema = inlined(&media["schema"], schemas, 0);
    schema["description"] = format!("The text, as {media_type}.").into();
    arguments.add(TEXT, schema, Place::Body, required);
    Content::Text(media_type.clone())
}

/// The arguments of one tool, while they are collected.
struct Arguments<'a> {
    operation: &'static Operation,
    properties: JsonObject,
    required: BTreeSet<String>,
    places: BTreeMap<String, Place>,
    clashes: &'a mut Vec<String>,
}

impl Arguments<'_> {
    fn add(&mut self, name: &str, schema: Value, place: Place, required: bool) {
        if self.places.insert(name.to_owned(), place).is_some() {
            self.clashes.push(format!("{}: {name}", self.operation.id));
        }
        self.properties.insert(name.to_owned(), schema);
        if required {
            self.required.insert(name.to_owned());
        }
    }
}

/// Replaces references in a schema by their targets and lists of types by choices, and removes examples.
fn inlined(schema: &Value, schemas: &Value, depth: u8) -> Value {
    let Some(parts) = schema.as_object() else {
        let several = schema.as_array().map(|all| all.iter().map(|one| inlined(one, schemas, depth)).collect());
        return several.unwrap_or_else(|| schema.clone());
    };
    let name = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next());
    let mut whole = match name.filter(|_| depth < DEPTH_MAX).map(|name| inlined(&schemas[name], schemas, depth + 1)) {
        Some(Value::Object(whole)) => whole,
        _ => JsonObject::new(),
    };
    for (key, part) in parts {
        let part = match key.as_str() {
            "$ref" | "example" | "examples" => continue,
            // The keys of this object are names of fields.
            "properties" => part
                .as_object()
                .map(|all| all.iter().map(|(name, one)| (name.clone(), inlined(one, schemas, depth))).collect())
                .unwrap_or_default(),
            "items" | "oneOf" | "anyOf" | "allOf" | "additionalProperties" | "not" => inlined(part, schemas, depth),
            _ => part.clone(),
        };
        whole.insert(key.clone(), part);
    }
    Value::Object(with_one_type(whole))
}

/// Hints by which clients decide whether to ask for confirmation.
fn hints(operation: &Operation) -> ToolAnnotations {
    let takes_away = ["cancel", "release", "rotate", "regenerate", "delete", "revoke"];
    let destructive = operation.writes()
        && (matches!(operation.method, "DELETE" | "PATCH")
            || operation.may_end_keys()
            || operation.id == operations::PUT_RULES.id
            || takes_away.iter().any(|word| operation.id.starts_with(word)));
    let hints = ToolAnnotations::new().read_only(!operation.writes());
    if operation.writes() {
        hints.destructive(destructive).idempotent(matches!(operation.method, "DELETE" | "PATCH" | "PUT"))
    } else {
        hints
    }
}

#[cfg(test)]
mod tests {
    use kalends_accounts::reach::CallerKind;
    use rstest::rstest;

    use super::*;

    fn tools() -> (Tools, Vec<String>) {
        Tools::of(&crate::description("https://kalends.example"))
    }

    fn find(name: &str) -> Bound {
        tools().0.bound.into_iter().find(|bound| bound.operation.id == name).unwrap()
    }

    #[test]
    fn argument_names_are_unambiguous() {
        assert_eq!(tools().1, Vec::<String>::new());
    }

    #[test]
    fn every_operation_for_keys_is_a_tool() {
        let (tools, _) = tools();
        let names: BTreeSet<&str> = tools.bound.iter().map(|bound| bound.operation.id).collect();
        for operation in operations::ALL {
            let of_a_key = !operation.is_public() && !operation.is_console() && operation.touch != Touch::Admin;
            assert!(!of_a_key || names.contains(operation.id), "{}", operation.id);
            let of_nobody = operation.is_console() || operation.touch == Touch::Admin || operation.redirects();
            assert!(!of_nobody || !names.contains(operation.id), "{}", operation.id);
        }
        for guest in ["listBookingSlots", "createBooking", "showBookingPage", "listPlans", "getFeed", "agentSignUp"] {
            assert!(names.contains(guest), "{guest}");
        }
        for other in ["getOpenApi", "signUp", "signIn", "showCancellation", "getBookingAsset"] {
            assert!(!names.contains(other), "{other}");
        }
    }

    #[test]
    fn schemas_contain_no_references() {
        for bound in tools().0.bound {
            let schema = serde_json::to_string(&bound.tool.input_schema).unwrap();
            assert!(!schema.contains("\"$ref\""), "{}: {schema}", bound.operation.id);
            let required = bound.tool.input_schema["required"].as_array().unwrap();
            let named = |name: &Value| bound.tool.input_schema["properties"].get(name.as_str().unwrap()).is_some();
            assert!(required.iter().all(named), "{}", bound.operation.id);
            for place in operation_path_names(bound.operation) {
                assert_eq!(bound.places.get(&place), Some(&Place::Path), "{}", bound.operation.id);
            }
            assert!(bound.tool.description.is_some_and(|description| description.len() > 10), "{}", bound.operation.id);
        }
    }

    fn operation_path_names(operation: &Operation) -> Vec<String> {
        let parts = operation.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        parts.map(str::to_owned).collect()
    }

    #[test]
    fn path_query_body_and_headers_are_arguments() {
        let create = find("createEvent");
        let place = |name: &str| create.places.get(name).copied();
        assert_eq!(place("cal_id"), Some(Place::Path));
        assert_eq!(place("title"), Some(Place::Body));
        assert_eq!(place("idempotency_key"), Some(Place::Header("idempotency-key")));
        assert_eq!(create.content, Content::Json { required: true });
        let required = &create.tool.input_schema["required"];
        for name in ["cal_id", "title", "start_time", "end_time"] {
            assert!(required.as_array().unwrap().contains(&json!(name)), "{name} of {required}");
        }
        let import = find("importCalendar");
        assert_eq!((import.content, import.places[TEXT]), (Content::Text("text/calendar".into()), Place::Body));
    }

    #[test]
    fn the_schema_contains_the_defaults_of_the_profile() {
        let list = find("listCalendarEvents");
        assert_eq!(list.defaults, [("limit", json!(20)), ("local", json!(true))]);
        assert_eq!(list.tool.input_schema["properties"]["limit"]["default"], 20);
        assert_eq!(list.tool.input_schema["properties"]["local"]["default"], true);
    }

    #[rstest]
    #[case("listAgents", true, false)]
    #[case("createAgent", false, false)]
    #[case("updateAgent", false, true)]
    #[case("deleteEvent", false, true)]
    #[case("cancelProposal", false, true)]
    #[case("confirmHold", false, false)]
    #[case("rotateWebhookSecret", false, true)]
    fn hints_match_the_effects_of_a_call(#[case] name: &str, #[case] reads: bool, #[case] destroys: bool) {
        let hints = find(name).tool.annotations.unwrap();
        assert_eq!(hints.read_only_hint, Some(reads));
        assert_eq!(hints.destructive_hint, (!reads).then_some(destroys));
    }

    #[test]
    fn an_agents_key_sees_fewer_tools() {
        let (tools, _) = tools();
        assert!(tools.find("createWebhook", CallerKind::OrganizationKey).is_some());
        assert!(tools.find("createWebhook", CallerKind::AgentKey).is_none());
        assert!(tools.find("createEvent", CallerKind::AgentKey).is_some());
        assert!(tools.find("nothing", CallerKind::OrganizationKey).is_none());
    }
}
