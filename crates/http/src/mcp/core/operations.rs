//! All operations of the API, for what no other tool of the set does: finding one by words, and calling it.

use async_trait::async_trait;
use kalends_app::operations;
use kalends_kernel::FieldError;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::{
    arguments::{Arguments, beginning, nearest},
    failure::{Failure, Outcome},
    ranking::{Entry, ranked},
    session::Session,
    tool::{About, CoreTool, Effect},
};
use crate::{extract::Bounds, mcp::tools::Bound};

/// The longest query, in characters.
const QUERY_MAX: usize = 200;
/// The most operations that a search returns.
const FOUND_MAX: u32 = 5;
/// A longer schema, in bytes of its JSON, is shown without descriptions.
const SCHEMA_MAX: usize = 4 << 10;
/// The argument with the arguments of the operation.
const ARGUMENTS: &str = "arguments";
/// The argument that limits a change to one version.
const IF_MATCH: &str = "if_match";
/// The headers that errors name, each with the argument that is sent in it.
const HEADERS: [(&str, &str); 3] =
    [("If-Match", IF_MATCH), ("Idempotency-Key", "idempotency_key"), (kalends_runs::HEADER, "run")];

/// `search_operations`
pub(super) struct SearchOperations;

#[async_trait]
impl CoreTool for SearchOperations {
    fn about(&self) -> About {
        About {
            name: "search_operations",
            title: "Search operations",
            description: "Finds operations of the whole API by words, for what no other tool does: webhooks, booking \
                pages, availability rules, feeds, keys, usage and more. Returns the best, each with its name, a \
                summary and the schema of its arguments. Call one with call_operation. Example: {\"query\": \"create \
                webhook\"}",
            effect: Effect::Reads,
            operations: operations::ALL,
            required: &["query"],
            renamed: &[],
        }
    }

    fn properties(&self) -> Value {
        json!({
            "query": { "type": "string", "maxLength": QUERY_MAX, "description": "What the operation does, in a few English words." },
            "count": { "type": "integer", "minimum": 1, "maximum": FOUND_MAX, "default": FOUND_MAX },
        })
    }

    async fn run(&self, session: &Session<'_>, arguments: &Arguments) -> Outcome {
        let query = arguments.needed("query")?;
        let length = query.chars().count();
        if length > QUERY_MAX {
            let message = format!("must be at most {QUERY_MAX} characters long; got {length}: send a few words");
            return Err(FieldError::new("query", message).into());
        }
        let count = arguments.count(FOUND_MAX, FOUND_MAX)?;
        let bound: Vec<&Bound> = session.tools.for_caller(session.standing()).collect();
        Ok(search(&query, &bound, count))
    }
}

/// The result of a search among these operations.
fn search(query: &str, bound: &[&Bound], count: usize) -> Value {
    let entries: Vec<Entry<'_>> = bound.iter().map(|bound| entry(bound)).collect();
    let best = ranked(query, &entries).into_iter().take(count);
    let found: Vec<Value> = best.filter_map(|index| bound.get(index)).map(|bound| described(bound)).collect();
    if found.is_empty() {
        let mut groups: Vec<&str> = bound.iter().map(|bound| bound.tag.as_str()).collect();
        groups.sort_unstable();
        groups.dedup();
        let note = format!("No operation matches these words. Search for a group: {}", groups.join(", "));
        return json!({ "operations": [], "note": note });
    }
    json!({ "operations": found })
}

fn entry(bound: &Bound) -> Entry<'_> {
    Entry {
        id: bound.operation.id,
        title: bound.tool.title.as_deref().unwrap_or_default(),
        tag: &bound.tag,
        description: bound.tool.description.as_deref().unwrap_or_default(),
    }
}

/// An operation as a search shows it.
fn described(bound: &Bound) -> Value {
    let schema = Value::Object(JsonObject::clone(&bound.tool.input_schema));
    let schema = if schema.to_string().len() > SCHEMA_MAX { without_descriptions(&schema) } else { schema };
    json!({ "operation": bound.operation.id, "summary": bound.tool.title, "arguments": schema })
}

fn without_descriptions(schema: &Value) -> Value {
    match schema {
        Value::Array(several) => several.iter().map(without_descriptions).collect(),
        Value::Object(parts) => {
            let parts = parts.iter().filter(|(key, _)| *key != "description");
            let parts = parts.map(|(key, part)| {
                let part = match part {
                    // The keys of this object are names of fields. A field may have the name `description`.
                    Value::Object(fields) if key == "properties" => Value::Object(
                        fields.iter().map(|(name, field)| (name.clone(), without_descriptions(field))).collect(),
                    ),
                    part => without_descriptions(part),
                };
                (key.clone(), part)
            });
            Value::Object(parts.collect())
        }
        other => other.clone(),
    }
}

/// `call_operation`
pub(super) struct CallOperation;

#[async_trait]
impl CoreTool for CallOperation {
    fn about(&self) -> About {
        About {
            name: "call_operation",
            title: "Call an operation",
            description: "Calls any operation of the API. Find its name and its arguments with search_operations \
                first. Returns its whole answer, {\"done\": true} if it has none, or {\"text\": ...}. To change a \
                versioned resource safely, send its version as if_match. Prefer the other tools where they do the \
                same. Example: {\"operation\": \"listWebhooks\", \"arguments\": {\"limit\": 5}}",
            effect: Effect::Changes,
            operations: operations::ALL,
            required: &["operation"],
            renamed: &[],
        }
    }

    fn properties(&self) -> Value {
        json!({
            "operation": { "type": "string", "description": "The name, such as createWebhook." },
            ARGUMENTS: { "type": "object", "description": "All arguments of the operation, as its schema says." },
        })
    }

    async fn run(&self, session: &Session<'_>, arguments: &Arguments) -> Outcome {
        let name = arguments.needed("operation")?;
        let name = name.trim();
        let Some(bound) = session.tools.find(name, session.standing()) else {
            return Err(unknown(name, session.tools.for_caller(session.standing())).into());
        };
        let mut given = object(arguments.value(ARGUMENTS))?;
        quote_version(&mut given);
        let answer = session.send(bound, given).await.map_err(of_operation)?;
        Ok(whole(answer.body, answer.etag.as_deref()))
    }
}

/// The error for a name that none of the operations has.
fn unknown<'a>(name: &str, bound: impl Iterator<Item = &'a Bound>) -> FieldError {
    let nearest = nearest(name, bound.map(|bound| bound.operation.id)).join(", ");
    let nearest = if nearest.is_empty() { nearest } else { format!(" The nearest names are {nearest}.") };
    let message = format!(
        "is not an operation that this key may call: {:?}.{nearest} Find others with search_operations",
        beginning(name)
    );
    FieldError::new("operation", message)
}

/// The arguments of the operation: an object, or the text of one.
fn object(given: Option<&Value>) -> Result<JsonObject, FieldError> {
    let wrong = |why: &str| FieldError::new(ARGUMENTS, format!("must be an object such as {{\"limit\": 5}}{why}"));
    match given {
        None => Ok(JsonObject::new()),
        Some(Value::Object(object)) => Ok(object.clone()),
        Some(Value::String(text)) => {
            // The limits of the message do not count what is within its texts.
            Bounds::check(text.as_bytes())
                .map_err(|_| wrong("; the text has too many values, or they are too deep"))?;
            match serde_json::from_str(text) {
                Ok(Value::Object(object)) => Ok(object),
                Ok(_) => Err(wrong("; the text is JSON, but not an object")),
                Err(error) => Err(wrong(&format!("; the text is not JSON: {error}"))),
            }
        }
        Some(_) => Err(wrong("")),
    }
}

/// Lets `if_match` be a version as answers show it. The API wants an entity tag.
fn quote_version(given: &mut JsonObject) {
    let Some(version) = given.get_mut(IF_MATCH) else { return };
    let number = version.as_u64().or_else(|| version.as_str()?.trim().parse().ok());
    if let Some(number) = number {
        *version = format!("\"{number}\"").into();
    }
}

/// The failure of a call, with the names of the operation's parameters within [`ARGUMENTS`].
fn of_operation(failure: Failure) -> Failure {
    match failure {
        // The error of all arguments together.
        Failure::Argument(error) if error.param == ARGUMENTS => Failure::Argument(error),
        Failure::Argument(error) => Failure::Argument(FieldError::new(within(&error.param), error.message)),
        Failure::Refused(mut error) => {
            let param = error["param"].as_str().map(within);
            if let Some(param) = param {
                error["param"] = param.into();
            }
            Failure::Refused(error)
        }
        other @ (Failure::Waits(_) | Failure::Lost(_)) => other,
    }
}

fn within(param: &str) -> String {
    let argument = HEADERS.iter().find(|(header, _)| *header == param).map_or(param, |&(_, argument)| argument);
    format!("{ARGUMENTS}.{argument}")
}

/// The answer of an operation, with the version of the resource.
fn whole(body: Value, etag: Option<&str>) -> Value {
    let mut shown = if body.is_null() { json!({ "done": true }) } else { body };
    // Entity tags of texts and lists are not versions.
    let version: Option<u64> = etag.and_then(|etag| etag.strip_prefix('"')?.strip_suffix('"')?.parse().ok());
    if let (Some(version), Some(fields)) = (version, shown.as_object_mut()) {
        fields.entry("version").or_insert_with(|| version.into());
    }
    shown
}

#[cfg(test)]
mod tests {
    use kalends_accounts::reach::CallerKind;
    use rstest::rstest;

    use super::*;
    use crate::mcp::tools::Tools;

    fn tools() -> Tools {
        Tools::of(&crate::description("https://kalends.example")).0
    }

    fn found(query: &str, kind: CallerKind) -> Value {
        let tools = tools();
        let bound: Vec<&Bound> = tools.for_caller(kind).collect();
        search(query, &bound, FOUND_MAX as usize)
    }

    #[rstest]
    #[case("create booking page", "createBookingPage")]
    #[case("delete the event", "deleteEvent")]
    #[case("remove api keys", "deleteScopedKey")]
    #[case("make a webhook", "createWebhook")]
    #[case("rotate the secret of a webhook", "rotateWebhookSecret")]
    #[case("import ics file", "importCalendar")]
    #[case("export calendar", "exportCalendar")]
    #[case("subscribe to an iCal feed", "createIcalSubscription")]
    #[case("change availability rules", "putAvailabilityRules")]
    #[case("working hours", "putAvailabilityRules")]
    #[case("usage limits", "getUsage")]
    #[case("move event to another calendar", "moveEvent")]
    #[case("retry failed deliveries", "retryWebhookDelivery")]
    #[case("listAuditLog", "listAuditLog")]
    fn operations_are_found_by_words(#[case] query: &str, #[case] best: &str) {
        let found = found(query, CallerKind::OrganizationKey);
        assert_eq!(found["operations"][0]["operation"], best, "{found:#}");
        assert!(found["operations"].as_array().unwrap().len() <= FOUND_MAX as usize);
        assert!(found["operations"][0]["arguments"]["properties"].is_object(), "{found:#}");
    }

    #[test]
    fn only_operations_that_the_key_may_call_are_found() {
        let names = |kind| {
            let found = found("create webhook", kind);
            let operations = found["operations"].as_array().unwrap().iter();
            operations.map(|one| one["operation"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(CallerKind::OrganizationKey)[0], "createWebhook");
        assert!(names(CallerKind::AgentKey).iter().all(|name| !name.contains("Webhook")));
    }

    #[test]
    fn a_search_without_results_names_the_groups() {
        let found = found("weather", CallerKind::OrganizationKey);
        assert_eq!(found["operations"], json!([]));
        let note = found["note"].as_str().unwrap();
        assert!(note.contains("booking-pages, ") && note.contains("webhooks"), "{note}");
    }

    #[test]
    fn long_schemas_have_no_descriptions() {
        let schema = json!({
            "type": "object", "description": "An agent.", "required": ["description"],
            "properties": {
                "description": { "type": "string", "description": "Free text." },
                "hours": { "anyOf": [{ "type": "null" }, { "type": "string", "description": "When." }] },
            },
        });
        let bare = json!({
            "type": "object", "required": ["description"],
            "properties": {
                "description": { "type": "string" },
                "hours": { "anyOf": [{ "type": "null" }, { "type": "string" }] },
            },
        });
        assert_eq!(without_descriptions(&schema), bare);
        let tools = tools();
        for bound in tools.for_caller(CallerKind::OrganizationKey) {
            let shown = described(bound);
            let is_long = Value::Object(JsonObject::clone(&bound.tool.input_schema)).to_string().len() > SCHEMA_MAX;
            assert!(!is_long || !shown["arguments"].to_string().contains(r#""description":""#), "{shown:#}");
        }
    }

    #[rstest]
    #[case::none(None, Ok(json!({})))]
    #[case::object(Some(json!({ "limit": 5, "note": null })), Ok(json!({ "limit": 5, "note": null })))]
    #[case::text(Some(json!(r#" {"limit": 5} "#)), Ok(json!({ "limit": 5 })))]
    #[case::text_of_a_list(Some(json!("[5]")), Err("not an object"))]
    #[case::text_that_is_not_json(Some(json!("limit=5")), Err("not JSON"))]
    #[case::deep_text(Some(json!("[".repeat(100))), Err("too deep"))]
    #[case::number(Some(json!(5)), Err("must be an object"))]
    fn arguments_are_an_object_or_its_text(#[case] given: Option<Value>, #[case] expected: Result<Value, &str>) {
        match (object(given.as_ref()), expected) {
            (Ok(read), Ok(expected)) => assert_eq!(Value::Object(read), expected),
            (Err(error), Err(says)) => assert!(error.message.contains(says), "{}", error.message),
            (read, expected) => panic!("{read:?} instead of {expected:?}"),
        }
    }

    #[rstest]
    #[case(json!(3), json!("\"3\""))]
    #[case(json!("3"), json!("\"3\""))]
    #[case(json!("\"3\""), json!("\"3\""))]
    #[case(json!("*"), json!("*"))]
    fn a_version_may_be_sent_as_it_was_shown(#[case] sent: Value, #[case] expected: Value) {
        let Value::Object(mut given) = json!({ "id": "agt_1", "if_match": sent }) else { panic!("not an object") };
        quote_version(&mut given);
        assert_eq!(given["if_match"], expected);
    }

    #[rstest]
    #[case::body(json!({ "id": "agt_1" }), Some("\"3\""), json!({ "id": "agt_1", "version": 3 }))]
    #[case::own_version(json!({ "version": "2026-01-01" }), Some("\"3\""), json!({ "version": "2026-01-01" }))]
    #[case::text(json!({ "text": "BEGIN" }), Some("\"aGFzaA\""), json!({ "text": "BEGIN" }))]
    #[case::nothing(Value::Null, None, json!({ "done": true }))]
    fn answers_show_their_version(#[case] body: Value, #[case] etag: Option<&str>, #[case] expected: Value) {
        assert_eq!(whole(body, etag), expected);
    }

    #[rstest]
    #[case("slots[2].end_time", "arguments.slots[2].end_time")]
    #[case("If-Match", "arguments.if_match")]
    fn errors_name_the_argument(#[case] param: &str, #[case] expected: &str) {
        let Failure::Refused(error) = of_operation(Failure::Refused(json!({ "param": param }))) else {
            panic!("it stays refused")
        };
        assert_eq!(error["param"], expected);
        let Failure::Argument(error) = of_operation(FieldError::new(param, "is required").into()) else {
            panic!("it stays an argument")
        };
        assert_eq!(error.param, expected);
    }

    #[test]
    fn an_unknown_operation_is_answered_with_the_nearest() {
        let tools = tools();
        let error = unknown("create_webhok", tools.for_caller(CallerKind::OrganizationKey));
        assert_eq!(error.param, "operation");
        assert!(error.message.contains("createWebhook"), "{}", error.message);
        let error = unknown(&"x".repeat(10_000), tools.for_caller(CallerKind::AgentKey));
        assert!(error.message.len() < 300 && error.message.contains("search_operations"), "{}", error.message);
    }
}
