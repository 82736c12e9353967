//! The part of the description that the clients are generated from.
//!
//! They have the operations that a key calls, and those that need no credential, with JSON. Pages for browsers and
//! operations for sessions and operators are left out, and so are redirects of browsers and examples.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};

const JSON: &str = "application/json";
/// Other forms of what is also there as JSON.
const BESIDES_JSON: [&str; 3] = ["text/html", "text/event-stream", "application/x-www-form-urlencoded"];
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];
/// A file with a calendar. Generators read a text as JSON, and a binary format as a file.
const CALENDAR: &str = "text/calendar";
/// Clients of tools have protocols and libraries of their own.
const TOOLS: &str = "/mcp";

/// Returns the description for the generators.
pub(super) fn for_clients(description: &str) -> Result<String> {
    let mut document: Value = serde_json::from_str(description).context("the description is not JSON")?;
    without_examples(&mut document);
    if let Some(fields) = document.as_object_mut() {
        // The address is that of the server that printed the description.
        fields.remove("servers");
    }
    let paths = document.get_mut("paths").and_then(Value::as_object_mut).context("the description has no paths")?;
    for (path, operations) in paths.iter_mut() {
        let Some(operations) = operations.as_object_mut() else { continue };
        operations.retain(|method, operation| {
            let is_kept = path != TOOLS && METHODS.contains(&method.as_str()) && is_for_keys(operation);
            if is_kept {
                narrow(operation);
            }
            is_kept && !is_page(operation) && !is_redirect(operation)
        });
    }
    paths.retain(|_, operations| operations.as_object().is_some_and(|operations| !operations.is_empty()));
    for response in part(&mut document, &["components", "responses"]).into_iter().flat_map(Map::values_mut) {
        without_other_forms(response);
    }
    without_unused(&mut document);
    serde_json::to_string_pretty(&document).context("the description is not JSON")
}

/// Removes the examples of schemas, bodies and parameters.
fn without_examples(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("example");
            fields.remove("examples");
            for (name, field) in fields.iter_mut() {
                match field {
                    // A property can have any name.
                    Value::Object(properties) if name == "properties" => {
                        properties.values_mut().for_each(without_examples);
                    }
                    _ => without_examples(field),
                }
            }
        }
        Value::Array(parts) => parts.iter_mut().for_each(without_examples),
        _ => {}
    }
}

/// Whether a key or nothing is needed.
fn is_for_keys(operation: &Value) -> bool {
    let choices = operation.get("security").and_then(Value::as_array);
    choices.is_some_and(|choices| choices.is_empty() || choices.iter().any(|choice| choice.get("apiKey").is_some()))
}

/// Leaves only the key, JSON, and one answer for all errors.
fn narrow(operation: &mut Value) {
    let is_open = operation.get("security").and_then(Value::as_array).is_some_and(Vec::is_empty);
    if let Some(fields) = operation.as_object_mut() {
        fields.insert("security".to_owned(), if is_open { json!([]) } else { json!([{ "apiKey": [] }]) });
    }
    if let Some(body) = operation.get_mut("requestBody") {
        without_other_forms(body);
        if let Some(calendar) = part(body, &["content", CALENDAR]) {
            calendar.insert("schema".to_owned(), json!({ "type": "string", "format": "binary" }));
        }
    }
    let Some(responses) = part(operation, &["responses"]) else { return };
    let all = responses.len();
    responses.retain(|status, _| !status.starts_with(['4', '5']));
    if responses.len() < all {
        // All errors have the same form, so the status makes no difference.
        responses.insert("default".to_owned(), error());
    }
    responses.values_mut().for_each(without_other_forms);
}

fn error() -> Value {
    let schema = json!({ "$ref": "#/components/schemas/ErrorEnvelope" });
    json!({ "description": "The service refused the request, or failed.", "content": { JSON: { "schema": schema } } })
}

/// Removes what is besides JSON.
fn without_other_forms(body: &mut Value) {
    let Some(content) = part(body, &["content"]) else { return };
    if content.contains_key(JSON) {
        content.retain(|form, _| !BESIDES_JSON.contains(&form.as_str()));
    }
}

/// Whether the success is only a page for browsers.
fn is_page(operation: &Value) -> bool {
    let responses = operation.get("responses").and_then(Value::as_object).into_iter().flatten();
    responses
        .filter(|(status, _)| status.starts_with('2'))
        .filter_map(|(_, response)| response.get("content")?.as_object())
        .any(|content| !content.is_empty() && content.keys().all(|form| form == "text/html"))
}

/// Whether the success is only a redirect of browsers. A client would return an empty answer.
fn is_redirect(operation: &Value) -> bool {
    let Some(responses) = operation.get("responses").and_then(Value::as_object) else { return false };
    let has = |class: char| responses.keys().any(|status| status.starts_with(class));
    has('3') && !has('2')
}

/// Removes the schemas and responses that nothing refers to.
fn without_unused(document: &mut Value) {
    let mut used = BTreeSet::new();
    let mut open: Vec<String> =
        ["paths", "webhooks"].iter().filter_map(|name| document.get(*name)).flat_map(references).collect();
    while let Some(reference) = open.pop() {
        if let Some(pointer) = reference.strip_prefix('#')
            && used.insert(reference.clone())
        {
            open.extend(document.pointer(pointer).into_iter().flat_map(references));
        }
    }
    for kind in ["schemas", "responses"] {
        if let Some(all) = part(document, &["components", kind]) {
            all.retain(|name, _| used.contains(&format!("#/components/{kind}/{name}")));
        }
    }
}

/// The values of all `$ref` in a value.
fn references(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => {
            let own = fields.get("$ref").and_then(Value::as_str).map(str::to_owned);
            own.into_iter().chain(fields.values().flat_map(references)).collect()
        }
        Value::Array(parts) => parts.iter().flat_map(references).collect(),
        _ => Vec::new(),
    }
}

/// The object at a path of names.
fn part<'a>(value: &'a mut Value, names: &[&str]) -> Option<&'a mut Map<String, Value>> {
    names.iter().try_fold(value, |value, name| value.get_mut(*name))?.as_object_mut()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(document: &Value) -> Value {
        serde_json::from_str(&for_clients(&document.to_string()).unwrap()).unwrap()
    }

    fn operation(security: &Value, content: &Value) -> Value {
        json!({ "security": security, "responses": { "200": { "content": content } } })
    }

    #[test]
    fn operations_of_keys_are_kept() {
        let data = json!({ JSON: { "schema": { "$ref": "#/components/schemas/Event" } } });
        let document = json!({
            "servers": [{ "url": "http://localhost" }],
            "paths": {
                "/key": { "get": operation(&json!([{ "apiKey": [] }, { "session": [] }]), &data) },
                "/open": { "get": operation(&json!([]), &data) },
                "/session": { "get": operation(&json!([{ "session": [] }]), &data) },
                "/page": { "get": operation(&json!([]), &json!({ "text/html": {} })) },
                "/mcp": { "post": operation(&json!([{ "apiKey": [] }]), &data) }
            }
        });
        let kept = kept(&document);
        let paths: Vec<&String> = kept["paths"].as_object().unwrap().keys().collect();
        assert_eq!(paths, ["/key", "/open"]);
        assert_eq!(kept["paths"]["/key"]["get"]["security"], json!([{ "apiKey": [] }]));
        assert_eq!(kept["paths"]["/open"]["get"]["security"], json!([]));
        assert!(kept.get("servers").is_none());
    }

    #[test]
    fn operations_that_only_redirect_are_left_out() {
        let open = json!([]);
        let answers = |responses: Value| json!({ "get": { "security": open, "responses": responses } });
        let data = json!({ "content": { JSON: {} } });
        let kept = kept(&json!({ "paths": {
            "/redirect": answers(json!({ "302": {}, "400": {} })),
            "/cached": answers(json!({ "200": data, "304": {} })),
            "/empty": answers(json!({ "204": {} }))
        } }));
        let paths: Vec<&String> = kept["paths"].as_object().unwrap().keys().collect();
        assert_eq!(paths, ["/cached", "/empty"]);
    }

    #[test]
    fn only_json_is_kept_where_there_is_json() {
        let both = json!({ JSON: {}, "text/event-stream": {} });
        let feed = json!({ "text/calendar": {} });
        let document = json!({ "paths": {
            "/changes": { "get": operation(&json!([]), &both) },
            "/feed": { "get": operation(&json!([]), &feed) }
        } });
        let kept = kept(&document);
        let content = |path: &str| kept["paths"][path]["get"]["responses"]["200"]["content"].clone();
        assert_eq!(content("/changes"), json!({ JSON: {} }));
        assert_eq!(content("/feed"), feed);
    }

    #[test]
    fn there_is_one_answer_for_all_errors() {
        let mut get = operation(&json!([]), &json!({ JSON: {} }));
        get["responses"]["404"] = json!({ "$ref": "#/components/responses/404" });
        get["responses"]["503"] = json!({});
        let kept = kept(&json!({ "paths": { "/event": { "get": get } } }));
        let responses = kept["paths"]["/event"]["get"]["responses"].as_object().unwrap();
        assert_eq!(responses.keys().collect::<Vec<_>>(), ["200", "default"]);
        assert_eq!(responses["default"], error());
    }

    #[test]
    fn schemas_that_nothing_uses_are_left_out() {
        let data = json!({ JSON: { "schema": { "$ref": "#/components/schemas/List" } } });
        let document = json!({
            "paths": { "/list": { "get": operation(&json!([]), &data) } },
            "components": { "schemas": {
                "List": { "items": { "$ref": "#/components/schemas/Event" } },
                "Event": { "properties": { "list": { "$ref": "#/components/schemas/List" } } },
                "Session": {}
            } }
        });
        let kept = kept(&document);
        assert_eq!(kept["components"]["schemas"].as_object().unwrap().len(), 2);
    }

    #[test]
    fn examples_are_left_out_but_properties_are_not() {
        let mut schema = json!({ "example": {}, "properties": { "example": { "type": "string", "example": "text" } } });
        without_examples(&mut schema);
        assert_eq!(schema, json!({ "properties": { "example": { "type": "string" } } }));
    }

    #[test]
    fn a_sent_calendar_is_a_file() {
        let mut import = operation(&json!([]), &json!({ JSON: {} }));
        import["requestBody"] = json!({ "content": { CALENDAR: { "schema": { "type": "string" } } } });
        let kept = kept(&json!({ "paths": { "/import": { "post": import } } }));
        let schema = &kept["paths"]["/import"]["post"]["requestBody"]["content"][CALENDAR]["schema"];
        assert_eq!(*schema, json!({ "type": "string", "format": "binary" }));
    }
}
