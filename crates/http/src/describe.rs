//! Completes the OpenAPI description. It adds what all operations have in common, so that no endpoint can forget it:
//! errors, headers, security and the server.

mod catalogue;
mod messages;

use std::collections::HashSet;

use kalends_accounts::reach::Touch;
use kalends_app::operations::{self, Operation};
use kalends_runs::{HEADER, NAME_MAX};
use serde_json::{Map, Value, json};
use utoipa::openapi::OpenApi;

use self::catalogue::{PAGE, headers, html, responses};
use crate::{
    dry_run, examples,
    limits::{ANONYMOUS_KEY_MIN, IDEMPOTENCY_KEY_MAX},
    mcp::describe::{path_item, schemas as tool_schemas},
    service::Described,
};

pub(crate) use self::catalogue::{header_of, of_caller};

/// Returns the description of the whole API.
pub(crate) fn complete(description: &OpenApi, base_url: &str) -> Value {
    let mut document = serde_json::to_value(description).unwrap_or_default();
    // `info.version` is the version of the API, which is fixed. This is the version of the software.
    document["info"]["x-kalends-version"] = json!(env!("CARGO_PKG_VERSION"));
    refer_to_items(&mut document["components"]["schemas"]);
    let schemas = document["components"]["schemas"].clone();
    let all = document["components"]["schemas"].as_object_mut().into_iter().flat_map(Map::values_mut);
    all.for_each(|schema| {
        loosen(schema, &schemas);
        open_objects(schema);
        describe_text_rules(schema);
    });
    document["servers"] = json!([{ "url": base_url }]);
    document["components"]["securitySchemes"] = json!({
        "apiKey": { "type": "http", "scheme": "bearer", "description": "An organization's or an agent's API key." },
        "session": {
            "type": "apiKey", "in": "cookie", "name": "service_session",
            "description": "A user's console session. Writes require a same-origin Origin or Sec-Fetch-Site header."
        },
        "sessionToken": {
            "type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": "The same session, as a token."
        },
        "adminToken": { "type": "http", "scheme": "bearer", "description": "The operator's token, KALENDS_ADMIN_TOKEN." }
    });
    document["components"]["headers"] = headers();
    document["components"]["responses"] = responses();
    examples::show_errors(&mut document["components"]["responses"]);
    let schemas = document["components"]["schemas"].clone();
    for operation in operations::ALL {
        let described = &mut document["paths"][operation.path][operation.method.to_ascii_lowercase()];
        if described.is_object() {
            if operation.can_wait() {
                add_waiting(&mut described["responses"]);
            }
            show_examples(described, operation, &schemas);
            describe(described, operation);
        }
    }
    let mut tools = path_item();
    show_examples(&mut tools["post"], &operations::MCP, &schemas);
    document["paths"][operations::MCP.path] = tools;
    for (name, mut schema) in tool_schemas() {
        open_objects(&mut schema);
        document["components"]["schemas"][name] = schema;
    }
    document["webhooks"] = messages::all();
    document
}

/// Makes each list refer to the schema of its entries instead of containing a copy.
fn refer_to_items(schemas: &mut Value) {
    let known: HashSet<String> = schemas.as_object().into_iter().flat_map(Map::keys).cloned().collect();
    for (name, schema) in schemas.as_object_mut().into_iter().flatten() {
        if let Some(item) = name.strip_prefix("List_").filter(|item| known.contains(*item)) {
            schema["properties"]["data"]["items"] = json!({ "$ref": format!("#/components/schemas/{item}") });
        }
    }
}

/// Allows any field in objects whose schema names no fields. They contain the caller's own data.
fn open_objects(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            let is_object =
                keywords.get("type").is_some_and(|kind| kind == "object" || *kind == json!(["object", "null"]));
            let shape_keywords = ["properties", "additionalProperties", "allOf", "anyOf", "oneOf", "$ref"];
            if is_object && !shape_keywords.iter().any(|keyword| keywords.contains_key(*keyword)) {
                keywords.insert("additionalProperties".to_owned(), json!(true));
            }
            let parts = keywords
                .iter_mut()
                .filter(|(keyword, _)| !["example", "examples", "default"].contains(&keyword.as_str()));
            parts.for_each(|(_, part)| open_objects(part));
        }
        Value::Array(parts) => parts.iter_mut().for_each(open_objects),
        _ => {}
    }
}

/// Relaxes `oneOf` in a schema if its choices do not exclude each other. If one choice has all fields of another, its
/// values match both, so `oneOf` becomes `anyOf`. If a flattened part is missing, so are all of its fields. The choice
/// `null` therefore becomes an object without these fields.
fn loosen(schema: &mut Value, schemas: &Value) {
    for part in schema.get_mut("allOf").and_then(Value::as_array_mut).into_iter().flatten() {
        let Some([written, missing]) = part.get_mut("oneOf").and_then(Value::as_array_mut).map(Vec::as_mut_slice)
        else {
            continue;
        };
        if missing["type"] == "null" {
            let name = written["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()).unwrap_or_default();
            let fields = schemas[name]["properties"].as_object().into_iter().flat_map(Map::keys);
            let present: Vec<Value> = fields.map(|field| json!({ "required": [field] })).collect();
            *missing = json!({ "not": { "anyOf": present } });
        }
    }
    let all_references = |choices: &Vec<Value>| choices.iter().all(|choice| choice["$ref"].is_string());
    if schema["oneOf"].as_array().is_some_and(all_references) {
        rename(schema, "oneOf", "anyOf");
    }
}

/// The fields with text for people. `kalends_kernel::bounded_text` applies the same checks to all of them.
const TEXTS: [&str; 6] = ["agent_name", "label", "message", "name", "org_name", "title"];

/// Documents the rules for text that the length bounds do not express. Only the schemas of requests have such bounds.
fn describe_text_rules(schema: &mut Value) {
    for (name, field) in schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        if TEXTS.contains(&name.as_str()) && field["minLength"].is_u64() {
            let about = field["description"].as_str().unwrap_or_default();
            field["description"] = format!("{about} Must not be blank or contain NUL.").trim_start().into();
        }
    }
}

fn rename(schema: &mut Value, from: &str, to: &str) {
    if let Some(keywords) = schema.as_object_mut()
        && let Some(value) = keywords.remove(from)
    {
        keywords.insert(to.to_owned(), value);
    }
}

/// The identifiers of the operations without query parameters. The entrance rejects parameters for all of them, so that
/// no endpoint can forget to.
pub(crate) fn without_query(described: &[Described]) -> HashSet<&'static str> {
    let takes_query = |operation: &Operation| {
        let mut found = described.iter().filter(|described| described.is(operation.method, operation.path));
        found.any(Described::takes_query)
    };
    operations::ALL.iter().filter(|operation| !takes_query(operation)).map(|operation| operation.id).collect()
}

/// The status of a write that waits for approval.
const WAITS: &str = "202";

/// Adds the answer to a write that waits for approval. An operation with the same status on success has both answers.
fn add_waiting(responses: &mut Value) {
    let waiting = json!({ "$ref": "#/components/schemas/AwaitsApproval" });
    match responses.get_mut(WAITS) {
        Some(success) => {
            let schema = &mut success["content"]["application/json"]["schema"];
            *schema = json!({ "anyOf": [schema.take(), waiting] });
        }
        None => {
            responses[WAITS] = json!({
                "description": "The write waits for approval, because the key requires it. Nothing has changed, and the \
                    times that it would take are reserved.",
                "content": { "application/json": { "schema": waiting } }
            });
        }
    }
}

/// Gives every body of the operation an example: the recorded one of a test, or one built from its schema.
fn show_examples(described: &mut Value, operation: &Operation, schemas: &Value) {
    let show = |content: Option<&mut Value>, recorded: Option<&Value>| {
        for (media_type, media) in content.and_then(Value::as_object_mut).into_iter().flatten() {
            if let Some(recorded) = recorded.filter(|_| examples::is_recorded(operation, media_type)) {
                media["example"] = recorded.clone();
            } else if media.get("example").is_none() && media.get("examples").is_none() {
                media["example"] = example(&media["schema"], schemas);
            }
        }
    };
    show(described.pointer_mut("/requestBody/content"), examples::request(operation));
    for (status, response) in described["responses"].as_object_mut().into_iter().flatten() {
        show(response.get_mut("content"), examples::answer(operation, status));
    }
}

/// Builds an example of a schema: its own example, or one composed from its parts.
fn example(schema: &Value, schemas: &Value) -> Value {
    if let Some(example) = schema.get("example").or_else(|| schema.get("default")) {
        return example.clone();
    }
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()) {
        return example(&schemas[name], schemas);
    }
    let choices = ["oneOf", "anyOf", "allOf"].iter().find_map(|key| schema[*key].as_array());
    if let Some(choice) = choices.and_then(|choices| choices.iter().find(|choice| choice["type"] != "null")) {
        return example(choice, schemas);
    }
    if let Some(first) = schema["enum"].as_array().and_then(|values| values.first()) {
        return first.clone();
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str()).unwrap_or("object");
    match kind {
        "array" => json!([example(&schema["items"], schemas)]),
        "boolean" => json!(true),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(1)),
        "string" if schema["format"] == "date-time" => json!("2026-03-02T09:00:00Z"),
        "string" => json!("text"),
        _ => {
            let parts = schema["properties"].as_object().into_iter().flatten();
            Value::Object(parts.map(|(name, part)| (name.clone(), example(part, schemas))).collect())
        }
    }
}

fn describe(described: &mut Value, operation: &Operation) {
    described["security"] = match operation.touch {
        Touch::Public => json!([]),
        Touch::Admin => json!([{ "adminToken": [] }]),
        _ if operation.is_console() => json!([{ "session": [] }, { "sessionToken": [] }]),
        _ => json!([{ "apiKey": [] }, { "session": [] }, { "sessionToken": [] }]),
    };
    let mut parameters = described["parameters"].as_array().cloned().unwrap_or_default();
    if operation.writes() {
        let known = takes_key(operation) || operation.is_console();
        let shortest = if known { 1 } else { ANONYMOUS_KEY_MIN };
        parameters.push(json!({
            "name": "Idempotency-Key", "in": "header", "required": false,
            "description": format!(
                "{shortest} to {IDEMPOTENCY_KEY_MAX} visible ASCII characters of your choice. If you repeat the \
                 request with the same key within 24 hours, the first answer is returned again."
            ),
            "schema": { "type": "string", "minLength": shortest, "maxLength": IDEMPOTENCY_KEY_MAX }
        }));
    }
    if operation.takes_dry_run() {
        parameters.push(json!({
            "name": dry_run::PARAMETER, "in": "query", "required": false,
            "description": "If `true`, the request is checked and answered as usual, but nothing is kept or sent. The answer \
                has the header `Kalends-Dry-Run: true`, made-up identifiers, and no secrets.",
            "schema": { "type": "boolean", "default": false }
        }));
    }
    if operation.is_undoable() {
        parameters.push(json!({
            "name": HEADER, "in": "header", "required": false,
            "description": "The name of the run that this write belongs to: 1 to 64 visible ASCII characters of your choice. \
                `POST /v1/runs/{name}/undo` takes all writes of a run back.",
            "schema": { "type": "string", "minLength": 1, "maxLength": NAME_MAX }
        }));
    }
    if takes_if_match(operation) {
        parameters.push(json!({
            "name": "If-Match", "in": "header", "required": false,
            "description": "The ETag of the version that you read. The change applies only to that version.",
            "schema": { "type": "string" }
        }));
    }
    if !parameters.is_empty() {
        described["parameters"] = Value::Array(parameters);
    }
    if let Some(all) = described["responses"].as_object_mut() {
        for (status, response) in all.iter_mut() {
            success_headers(response, status, operation);
            if operation.writes() && shows_pages(operation) {
                response["content"]["text/html"] = html();
            }
        }
        for status in failures(operation) {
            let page = if shows_pages(operation) { PAGE } else { "" };
            all.entry(status).or_insert_with(|| json!({ "$ref": format!("#/components/responses/{status}{page}") }));
        }
    }
}

fn takes_if_match(operation: &Operation) -> bool {
    let changes_a_row = matches!(operation.method, "PATCH" | "DELETE")
        && !operation.is_console()
        && ![operations::DELETE_KEY.id, operations::CANCEL_CONNECTION_LINK.id].contains(&operation.id);
    let others = [
        operations::PUT_RULES.id,
        operations::MOVE_EVENT.id,
        operations::PUT_DESTINATION.id,
        operations::DELETE_DESTINATION.id,
    ];
    changes_a_row || others.contains(&operation.id)
}

/// Whether a browser is answered with a page, including errors ([`crate::pages`]).
fn shows_pages(operation: &Operation) -> bool {
    ["/book/", "/rsvp/", "/replies/"].iter().any(|below| operation.path.starts_with(below))
        && operation.id != operations::LIST_BOOKING_SLOTS.id
}

/// Whether a success returns one resource with its entity tag.
fn tagged(operation: &Operation) -> bool {
    let resource = [
        "/v1/agents/{id}",
        "/v1/calendars/{id}",
        "/v1/events/{id}",
        "/v1/calendars/{cal_id}/events/{id}",
        "/v1/ical-subscriptions/{id}",
        "/v1/webhooks/{id}",
    ];
    resource.contains(&operation.path)
        || (operation.status == 201
            && ![
                operations::CREATE_EVENT_BATCH.id,
                operations::CREATE_HOLD_SET.id,
                operations::CONSOLE_SIGN_UP.id,
                operations::CREATE_KEY.id,
                operations::CREATE_KEY_FROM_CONSOLE.id,
                operations::JOIN_WAITLIST.id,
                operations::CREATE_BOOKING.id,
                operations::CREATE_PROPOSAL.id,
                operations::CREATE_CONNECTION_LINK.id,
                operations::CONNECT_CALDAV.id,
                operations::CONNECT_EXAMPLE.id,
                operations::CREATE_GRANT.id,
                operations::INVITE_MEMBER.id,
                operations::START_SECOND_FACTOR.id,
            ]
            .contains(&operation.id))
        || [
            operations::ROTATE_FEED_TOKEN.id,
            operations::GET_FEED.id,
            operations::EXPORT_CALENDAR.id,
            operations::GET_BOOKING_PAGE.id,
            operations::UPDATE_BOOKING_PAGE.id,
            operations::GET_RULES.id,
            operations::PUT_RULES.id,
            operations::GET_DESTINATION.id,
            operations::PUT_DESTINATION.id,
            operations::MOVE_EVENT.id,
            operations::CONFIRM_HOLD.id,
            operations::RELEASE_HOLD.id,
            operations::PLANS.id,
            operations::OPENAPI.id,
            operations::BOOKING_ASSET.id,
            operations::ROTATE_WEBHOOK_SECRET.id,
        ]
        .contains(&operation.id)
}

/// Whether the operation accepts a key.
fn takes_key(operation: &Operation) -> bool {
    !operation.is_public() && !operation.is_console() && operation.touch != Touch::Admin
}

/// Whether a success starts or ends a session, or starts a sign-in or connection at a provider.
fn sets_cookie(operation: &Operation) -> bool {
    [
        operations::CONSOLE_SIGN_UP.id,
        operations::SIGN_IN.id,
        operations::SIGN_OUT.id,
        operations::CHANGE_PASSWORD.id,
        operations::DELETE_ACCOUNT.id,
        operations::START_CONNECTION.id,
        operations::REAUTHORIZE_CONNECTION.id,
    ]
    .contains(&operation.id)
        || operation.redirects()
}

fn success_headers(response: &mut Value, status: &str, operation: &Operation) {
    let mut names = vec!["X-Request-Id"];
    if operation.redirects() {
        names.push("Location");
    }
    if [operations::EXPORT.id, operations::EXPORT_CALENDAR.id, operations::GET_BOOKING_FILE.id].contains(&operation.id)
    {
        names.push("Content-Disposition");
    }
    let kept = [
        operations::PLANS.id,
        operations::OPENAPI.id,
        operations::BOOKING_ASSET.id,
        operations::GET_FEED.id,
        operations::EXPORT_CALENDAR.id,
        operations::EXPORT.id,
        operations::GET_BOOKING_FILE.id,
    ];
    if kept.contains(&operation.id) {
        names.push("Cache-Control");
    }
    if !operation.is_public() && operation.touch != Touch::Admin {
        names.extend(["X-Service-Plan", "Service-Terms-Upgrade-Required"]);
    }
    if takes_key(operation) {
        names.extend(["RateLimit-Policy", "RateLimit"]);
    }
    if sets_cookie(operation) {
        names.push("Set-Cookie");
    }
    if tagged(operation) && ![WAITS, "204"].contains(&status) {
        names.push("ETag");
    }
    if operation.writes() {
        names.push("Idempotency-Replayed");
    }
    if operation.takes_dry_run() {
        names.push(dry_run::HEADER);
    }
    response["headers"] = names.into_iter().map(header_of).collect::<Map<_, _>>().into();
}

/// The statuses with which an operation can fail.
fn failures(operation: &Operation) -> Vec<&'static str> {
    let mut statuses = vec!["500"];
    let takes_input = ["/v1/", "/book/", "/rsvp/", "/replies/"].iter().any(|below| operation.path.starts_with(below))
        && operation.id != operations::TERMS.id
        && operation.id != operations::PLANS.id;
    if takes_input {
        statuses.extend(["400", "408"]);
    }
    let from_memory = [
        operations::HEALTH.id,
        operations::OPENAPI.id,
        operations::TERMS.id,
        operations::PLANS.id,
        operations::BOOKING_ASSET.id,
    ];
    if !from_memory.contains(&operation.id) {
        statuses.push("503");
    }
    if takes_key(operation) {
        statuses.extend(["401", "403", "429"]);
    }
    if operation.is_console() {
        statuses.extend(["401", "403", "429"]);
    }
    if operation.id == operations::SIGN_IN.id || operation.id == operations::CONSOLE_SIGN_UP.id {
        statuses.extend(["401", "403"]);
    }
    if operation.id == operations::SIGN_UP.id {
        statuses.push("403");
    }
    if [operations::EXPORT.id, operations::CREATE_KEY_FROM_CONSOLE.id].contains(&operation.id) {
        statuses.push("429");
    }
    if operation.touch == Touch::Admin {
        statuses.extend(["401", "429"]);
    }
    if operation.lane().is_some() {
        statuses.push("429");
    }
    let names_things = [
        operations::AVAILABILITY.id,
        operations::EXPLAIN_AVAILABILITY.id,
        operations::SEARCH_EVENTS.id,
        operations::CREATE_HOLD_SET.id,
        operations::CREATE_BOOKING_PAGE.id,
        operations::CREATE_PROPOSAL.id,
        operations::LIST_PROPOSALS.id,
        operations::LIST_APPROVALS.id,
        operations::CREATE_KEY.id,
        operations::CREATE_KEY_FROM_CONSOLE.id,
        operations::OPEN_CONNECTION_LINK.id,
        operations::CONNECT_CALDAV.id,
        operations::CONNECT_EXAMPLE.id,
        operations::CREATE_GRANT.id,
    ];
    if operation.path.contains('{') || names_things.contains(&operation.id) {
        statuses.push("404");
    }
    if operation.writes() {
        statuses.extend(["409", "413", "415", "422"]);
    }
    if takes_if_match(operation) {
        statuses.push("412");
    }
    if [operations::SHOW_BOOKING_PAGE.id, operations::SHOW_MOVE.id].contains(&operation.id) {
        // The chosen slot is taken.
        statuses.push("409");
    }
    if operation.id == operations::INITIATE_CLAIM.id {
        statuses.push("429");
    }
    if operation.id == operations::CONNECT_CALDAV.id {
        statuses.push("502");
    }
    if [operations::LIST_CHANGES.id, operations::LIST_ORGANIZATION_CHANGES.id, operations::REVOKE_CLAIM.id]
        .contains(&operation.id)
    {
        statuses.push("410");
    }
    statuses
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn document() -> Value {
        crate::description("http://localhost")
    }

    #[test]
    fn exactly_the_listed_operations_are_described() {
        let document = document();
        let mut described = BTreeSet::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let id = operation["operationId"].as_str().unwrap().to_owned();
                described.insert((id, method.to_ascii_uppercase(), path.clone()));
            }
        }
        let listed = operations::ALL
            .iter()
            .chain([&&operations::MCP])
            .map(|operation| (operation.id.to_owned(), operation.method.to_owned(), operation.path.to_owned()))
            .collect::<BTreeSet<_>>();
        assert_eq!(described, listed);
    }

    #[test]
    fn texts_of_requests_are_documented_as_not_blank() {
        let document = document();
        let has_text_rules = |schema: &str, field: &str| {
            let about = &document["components"]["schemas"][schema]["properties"][field]["description"];
            about.as_str().unwrap().contains("Must not be blank or contain NUL.")
        };
        for (schema, field) in [
            ("CreateEvent", "title"),
            ("UpdateEvent", "title"),
            ("CreateAgent", "name"),
            ("CreateSubscription", "label"),
        ] {
            assert!(has_text_rules(schema, field), "{schema}.{field}");
        }
        assert!(!has_text_rules("Event", "title"), "answers have no bounds");
    }

    #[test]
    fn the_operations_without_query_parameters_are_those_of_the_description() {
        let document = serde_json::to_value(crate::endpoints::described()).unwrap();
        let without = without_query(&crate::endpoints::all().into_parts().1);
        for operation in operations::ALL {
            let described = &document["paths"][operation.path][operation.method.to_ascii_lowercase()];
            let mut parameters = described["parameters"].as_array().into_iter().flatten();
            let queried = parameters.any(|parameter| parameter["in"] == "query");
            assert_eq!(without.contains(operation.id), !queried, "{}", operation.id);
        }
        assert!(!without.is_empty() && without.len() < operations::ALL.len(), "{without:?}");
    }

    #[test]
    fn query_parameters_with_lists_are_registered() {
        let document = document();
        let operations =
            document["paths"].as_object().unwrap().values().flat_map(|path| path.as_object().unwrap().values());
        let parameters = operations.flat_map(|operation| operation["parameters"].as_array().into_iter().flatten());
        let lists = parameters.filter(|parameter| {
            let text = parameter["description"].as_str().unwrap_or_default();
            parameter["in"] == "query" && text.contains("separated by commas")
        });
        let named = lists.map(|list| list["name"].as_str().unwrap()).collect::<BTreeSet<_>>();
        assert_eq!(named, BTreeSet::from(kalends_wire::LISTS));
    }

    #[test]
    fn query_parameters_with_keys_are_registered() {
        let document = document();
        let operations =
            document["paths"].as_object().unwrap().values().flat_map(|path| path.as_object().unwrap().values());
        let parameters = operations.flat_map(|operation| operation["parameters"].as_array().into_iter().flatten());
        let maps = parameters.filter(|parameter| parameter["schema"]["type"] == "object");
        let named = maps
            .inspect(|map| assert_eq!((&map["style"], &map["explode"]), (&json!("deepObject"), &json!(true))))
            .map(|map| map["name"].as_str().unwrap())
            .collect::<BTreeSet<_>>();
        assert_eq!(named, BTreeSet::from(kalends_wire::MAPS));
    }

    #[test]
    fn cacheable_answers_document_cache_control() {
        let document = document();
        for operation in [&operations::PLANS, &operations::GET_FEED, &operations::EXPORT_CALENDAR, &operations::EXPORT]
        {
            let described = &document["paths"][operation.path]["get"]["responses"]["200"]["headers"];
            assert!(described["Cache-Control"].is_object(), "{}", operation.id);
        }
    }

    #[test]
    fn idempotency_keys_of_anonymous_callers_are_long() {
        let document = document();
        let shortest = |operation: &Operation| {
            let described = &document["paths"][operation.path][operation.method.to_ascii_lowercase()];
            let key = described["parameters"].as_array().unwrap().iter().find(|one| one["name"] == "Idempotency-Key");
            key.map(|key| key["schema"]["minLength"].clone())
        };
        for operation in [&operations::CREATE_BOOKING, &operations::SIGN_UP, &operations::ACTIVATE_ORGANIZATION] {
            assert_eq!(shortest(operation), Some(json!(20)), "{}", operation.id);
        }
        for operation in [&operations::CREATE_AGENT, &operations::CHANGE_PASSWORD, &operations::REGENERATE_KEY] {
            assert_eq!(shortest(operation), Some(json!(1)), "{}", operation.id);
        }
    }

    #[test]
    fn success_statuses_match_the_table() {
        let document = document();
        for operation in operations::ALL {
            let described = &document["paths"][operation.path][operation.method.to_ascii_lowercase()];
            let success: BTreeSet<_> = described["responses"]
                .as_object()
                .unwrap()
                .keys()
                .filter(|status| status.starts_with(if operation.redirects() { '3' } else { '2' }))
                .cloned()
                .collect();
            let mut expected = BTreeSet::from([operation.status.to_string()]);
            if operation.can_wait() {
                expected.insert(WAITS.to_owned());
            }
            if operation.id == operations::DELETE_EVENT.id || operation.id == operations::DELETE_CALENDAR_EVENT.id {
                // The series, if the request only cancels one of its occurrences.
                expected.insert("200".to_owned());
            }
            if operation.id == operations::CONNECT_CALDAV.id {
                // The account was connected before.
                expected.insert("200".to_owned());
            }
            if operation.id == operations::JOIN_WAITLIST.id {
                // The address is on the waiting list already.
                expected.insert("200".to_owned());
            }
            assert_eq!(success, expected, "{}", operation.id);
            assert!(described["summary"].as_str().is_some_and(|text| !text.is_empty()), "{}", operation.id);
            assert_eq!(described["requestBody"].is_object(), takes_body(operation), "{}", operation.id);
        }
    }

    fn takes_body(operation: &Operation) -> bool {
        // Its body may be left out.
        let optional = [
            operations::CANCEL_BOOKING_AS_HOST.id,
            operations::CONFIRM_HOLD.id,
            operations::CONFIRM_HOLD_SET.id,
            operations::REAUTHORIZE_CONNECTION.id,
        ];
        if optional.contains(&operation.id) {
            return true;
        }
        // The code of the second factor.
        if [operations::CONFIRM_SECOND_FACTOR.id, operations::REMOVE_SECOND_FACTOR.id].contains(&operation.id) {
            return true;
        }
        let without = [
            "/rotate",
            "/rotate-secret",
            "/test",
            "/retry",
            "/confirm",
            "/release",
            "/activate",
            "/signout",
            "/switch",
            "/regenerate",
            "/sync",
            "/cancel",
            "/resolve",
            "/decline",
            "/refresh",
            "/pause",
            "/resume",
            "/reauthorize",
            "/resend",
            "/undo",
            "/approve",
        ];
        let takes_none = without.iter().any(|end| operation.path.ends_with(end));
        matches!(operation.method, "POST" | "PATCH" | "PUT") && !takes_none
    }

    #[test]
    fn every_body_has_an_example_and_every_error_uses_the_envelope() {
        let document = document();
        for operation in operations::ALL {
            let described = &document["paths"][operation.path][operation.method.to_ascii_lowercase()];
            if takes_body(operation) {
                let content = &described["requestBody"]["content"];
                if operation.id == operations::IMPORT_CALENDAR.id {
                    assert!(content["text/calendar"]["schema"].is_object());
                    continue;
                }
                let body = &content["application/json"];
                assert!(body["example"].as_object().is_some_and(|example| !example.is_empty()), "{}", operation.id);
            }
            for (status, response) in described["responses"].as_object().unwrap() {
                if let Some(content) = response["content"]["application/json"].as_object() {
                    assert!(content.contains_key("example"), "{} {status}", operation.id);
                }
                let failure = status.starts_with('4') || status.starts_with('5');
                assert_eq!(failure, response["$ref"].is_string(), "{} {status}", operation.id);
            }
        }
    }

    /// Calls `visit` with every object of the description that is not an example, and with its place.
    fn each(value: &Value, place: &str, visit: &mut impl FnMut(&Map<String, Value>, &str)) {
        match value {
            Value::Object(map) => {
                visit(map, place);
                let parts = map.iter().filter(|(name, _)| !["example", "examples"].contains(&name.as_str()));
                parts.for_each(|(name, part)| each(part, &format!("{place}/{name}"), visit));
            }
            Value::Array(parts) => {
                parts.iter().enumerate().for_each(|(index, part)| each(part, &format!("{place}/{index}"), visit));
            }
            _ => {}
        }
    }

    #[test]
    fn public_operations_require_no_credentials() {
        let document = document();
        for operation in operations::ALL {
            let described = &document["paths"][operation.path][operation.method.to_ascii_lowercase()];
            let open = described["security"].as_array().is_some_and(Vec::is_empty);
            assert_eq!(open, operation.is_public(), "{}", operation.id);
        }
    }

    #[test]
    fn the_callers_own_objects_allow_any_field() {
        let document = document();
        for (schema, field) in [
            ("CreateAgent", "metadata"),
            ("UpdateEvent", "metadata"),
            ("Event", "metadata"),
            ("Feedback", "context"),
            ("Delivery", "payload"),
        ] {
            let described = &document["components"]["schemas"][schema]["properties"][field];
            assert_eq!(described["additionalProperties"], true, "{schema}.{field}: {described}");
        }
        each(&document["components"]["schemas"], "", &mut |schema, place| {
            let object = schema.get("type").is_some_and(|kind| kind.to_string().contains("\"object\""));
            let shape_keywords = ["properties", "additionalProperties", "allOf", "anyOf", "oneOf"];
            assert!(!object || shape_keywords.iter().any(|keyword| schema.contains_key(*keyword)), "{place}");
        });
    }

    #[test]
    fn lists_refer_to_their_entries() {
        let document = document();
        let schemas = document["components"]["schemas"].as_object().unwrap();
        let lists: Vec<_> = schemas.iter().filter(|(name, _)| name.starts_with("List_")).collect();
        assert!(lists.len() > 5, "{lists:?}");
        for (name, schema) in lists {
            let item = name.trim_start_matches("List_");
            assert_eq!(
                schema["properties"]["data"]["items"],
                json!({ "$ref": format!("#/components/schemas/{item}") })
            );
            assert!(schemas.contains_key(item), "{item}");
        }
    }

    /// If a field's description lists names, its type is an enumeration of these names.
    #[test]
    fn closed_sets_are_enums() {
        let document = document();
        each(&document["components"]["schemas"], "", &mut |schema, place| {
            let text = schema.get("type").is_some_and(|kind| kind.to_string().contains("\"string\""));
            let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
            // A text that starts like this gives only an example.
            let description = if description.starts_with("Such as") { "" } else { description };
            let lists = description.contains("` or `")
                || description.starts_with('`') && description.ends_with('`') && !description.contains('…');
            let plain =
                !schema.contains_key("enum") && !schema.contains_key("format") && !schema.contains_key("pattern");
            assert!(!(text && lists && plain), "{place}: {description}");
        });
        let schemas = &document["components"]["schemas"];
        for (schema, field) in [
            ("ProposalSummary", "status"),
            ("CalendarConnection", "data"),
            ("Webhook", "events"),
            ("AuditEntry", "action"),
            ("ErrorBody", "code"),
            ("ErrorBody", "feature"),
        ] {
            let described = schemas[schema]["properties"][field].to_string();
            assert!(described.contains("#/components/schemas/"), "{schema}.{field}: {described}");
        }
    }

    #[test]
    fn no_text_points_to_a_file() {
        each(&document(), "", &mut |object, place| {
            for text in ["summary", "description"].iter().filter_map(|name| object.get(*name)?.as_str()) {
                let word = text
                    .split_whitespace()
                    .find(|word| word.contains("docs/") || word.contains(".md") || word.contains(".rs"));
                assert_eq!(word, None, "{place}");
            }
        });
    }

    #[test]
    fn the_description_contains_both_versions() {
        let info = document()["info"].clone();
        assert_eq!(
            (&info["version"], &info["x-kalends-version"]),
            (&json!("1.0.0"), &json!(env!("CARGO_PKG_VERSION")))
        );
    }

    #[test]
    fn every_reference_resolves() {
        fn references(value: &Value, found: &mut Vec<String>) {
            match value {
                Value::Object(map) => {
                    found.extend(map.get("$ref").and_then(Value::as_str).map(str::to_owned));
                    map.values().for_each(|value| references(value, found));
                }
                Value::Array(items) => items.iter().for_each(|value| references(value, found)),
                _ => {}
            }
        }
        let document = document();
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(!found.is_empty());
        for reference in found {
            assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
        }
    }
}
