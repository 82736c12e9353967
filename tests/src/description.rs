//! Checks every answer that [`crate::Client`] receives against the description that the binary under test prints.
//!
//! The check is stricter than a reader of the description has to be. An object may have no field that the description
//! does not list. So every field in an answer must be described.

use std::{
    collections::HashMap,
    process::Command,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use jsonschema::{Draft, ValidationError, Validator};
use reqwest::{
    Body, Method, Request, Url,
    header::{HeaderMap, HeaderName},
};
use serde_json::{Map, Value, json};

use crate::{Answer, binary, kept};

/// Paths that are not operations, with everything below them: the page of the documentation, and the metrics.
const ELSEWHERE: &[&str] = &["/docs", "/metrics"];
/// Where schemas are that others refer to.
const SCHEMAS: &str = "#/components/schemas/";
/// The name prefix of the closed copy of each schema.
const CLOSED: &str = "closed.";
/// Headers that HTTP, browsers and caches understand, and that say nothing about the API.
const GENERIC: &[&str] = &[
    "access-control-allow-headers",
    "access-control-allow-methods",
    "access-control-allow-origin",
    "access-control-expose-headers",
    "access-control-max-age",
    "allow",
    "cache-control",
    "connection",
    "content-encoding",
    "content-length",
    "content-security-policy",
    "content-type",
    "cross-origin-opener-policy",
    "cross-origin-resource-policy",
    "date",
    "permissions-policy",
    "referrer-policy",
    "transfer-encoding",
    "vary",
    "x-content-type-options",
    "x-robots-tag",
];
/// The keywords that list the fields of an object.
const FIELD_KEYWORDS: &[&str] = &["properties", "allOf", "anyOf", "oneOf"];

static DESCRIPTION: LazyLock<Description> = LazyLock::new(Description::of_binary);

/// The parts of a request that the description covers.
#[derive(Debug, Clone)]
pub(crate) struct SentRequest {
    pub method: Method,
    pub url: Url,
    /// The body, if it is JSON.
    pub json: Option<Value>,
}

impl SentRequest {
    pub(crate) fn of(request: &Request) -> Self {
        let body = request.body().and_then(Body::as_bytes);
        Self {
            method: request.method().clone(),
            url: request.url().clone(),
            json: body.and_then(|bytes| serde_json::from_slice(bytes).ok()),
        }
    }
}

/// Requires that the description allows this answer to `request`.
#[track_caller]
pub(crate) fn check(request: &SentRequest, answer: &Answer) {
    let wrong = DESCRIPTION.faults(request, answer);
    assert!(wrong.is_empty(), "the description does not allow this: {}\n{}", wrong.join("\n"), answer.describe());
}

/// The description, and a cache of its validators.
struct Description {
    document: Value,
    validators: Mutex<HashMap<(Part, String), Arc<Validator>>>,
}

/// One half of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Request,
    Answer,
}

impl Description {
    /// The description that the binary under test prints. Each test has its own process, so the text is kept in a file
    /// for the other tests of this binary.
    fn of_binary() -> Self {
        let text = kept::text("description", || {
            let printed = Command::new(binary()).arg("openapi").env_clear().output().expect("the binary to start");
            assert!(printed.status.success(), "no description: {}", String::from_utf8_lossy(&printed.stderr));
            let text = String::from_utf8(printed.stdout).expect("UTF-8");
            let mut document: Value = text.parse().expect("a description in JSON");
            drop_examples(&mut document);
            document.to_string()
        });
        // `parse` is compiled in the library, which is optimized. Its generic functions are compiled here.
        Self::new(text.parse().expect("a description in JSON"))
    }

    fn new(document: Value) -> Self {
        Self { document, validators: Mutex::default() }
    }

    /// The parts of the exchange that the description does not cover.
    fn faults(&self, request: &SentRequest, answer: &Answer) -> Vec<String> {
        let path = request.url.path();
        let Some(methods) = self.methods(path) else {
            let below =
                |root: &&str| path.strip_prefix(*root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            let known = answer.status == 404 || ELSEWHERE.iter().any(below);
            return if known { Vec::new() } else { vec![format!("no path fits {path}")] };
        };
        let method = if request.method == Method::HEAD { Method::GET } else { request.method.clone() };
        let described =
            methods.as_object().into_iter().flatten().find(|(name, _)| *name.to_ascii_uppercase() == method);
        let Some((_, described)) = described else {
            let known = answer.status == 405 || request.method == Method::OPTIONS;
            return if known { Vec::new() } else { vec![format!("{path} has no {method}")] };
        };
        let Some(response) = self.followed(&described["responses"][answer.status.to_string()]) else {
            return vec![format!("no answer {}", answer.status)];
        };
        let mut faults = self.headers(response, &answer.headers);
        if request.method != Method::HEAD {
            faults.extend(self.body(response, answer));
        }
        if answer.status < 300 {
            faults.extend(self.request(described, request));
        }
        faults
    }

    /// The methods of the path that matches. A literal segment takes precedence over a parameter.
    fn methods(&self, path: &str) -> Option<&Value> {
        let paths = self.document["paths"].as_object()?;
        let fitting = paths.iter().filter(|(template, _)| fits(template, path));
        fitting.min_by_key(|(template, _)| template.matches('{').count()).map(|(_, methods)| methods)
    }

    /// The value itself, or the value that its `$ref` points to.
    fn followed<'a>(&'a self, value: &'a Value) -> Option<&'a Value> {
        match value["$ref"].as_str() {
            Some(reference) => self.document.pointer(reference.trim_start_matches('#')),
            None => value.is_object().then_some(value),
        }
    }

    /// The headers that the description does not list, and the required headers that are missing.
    fn headers(&self, response: &Value, headers: &HeaderMap) -> Vec<String> {
        let described: Vec<(&String, &Value)> = response["headers"].as_object().into_iter().flatten().collect();
        let is_listed = |name: &str| described.iter().any(|(listed, _)| listed.eq_ignore_ascii_case(name));
        let sent = headers.keys().map(HeaderName::as_str);
        let unlisted =
            sent.filter(|name| !is_listed(name) && !GENERIC.contains(name)).map(|name| format!("a header {name}"));
        let promised = described
            .iter()
            .filter(|(_, header)| self.followed(header).is_some_and(|header| header["required"] == true));
        let missing = promised.filter(|(name, _)| !headers.contains_key(name.as_str()));
        unlisted.chain(missing.map(|(name, _)| format!("no header {name}"))).collect()
    }

    fn body(&self, response: &Value, answer: &Answer) -> Vec<String> {
        let media = answer.header("content-type").split(';').next().unwrap_or_default();
        if !answer.header("content-encoding").is_empty() {
            // The body is still encoded.
            return Vec::new();
        }
        let Some(described) = response["content"].as_object() else {
            let empty = answer.bytes.is_empty();
            return if empty { Vec::new() } else { vec!["a body".to_owned()] };
        };
        match described.get(media) {
            None => vec![format!("content of type `{media}`")],
            Some(content) if media == "application/json" => {
                self.misfits(Part::Answer, &content["schema"], &answer.json)
            }
            Some(_) => Vec::new(),
        }
    }

    /// Everything that was accepted although the description does not allow it.
    fn request(&self, described: &Value, request: &SentRequest) -> Vec<String> {
        let mut faults = Vec::new();
        let parameters = described["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
        for (name, value) in request.url.query_pairs() {
            let mut of_query = parameters.iter().filter(|parameter| parameter["in"] == "query");
            match of_query.find_map(|parameter| schema_of(parameter, &name)) {
                None => faults.push(format!("a parameter {name}")),
                Some(schema) => faults.extend(self.parameter(schema, &value)),
            }
        }
        let described = &described["requestBody"];
        let schema = &described["content"]["application/json"]["schema"];
        match &request.json {
            // An empty object is allowed where no body is described.
            Some(body) if described.is_null() && *body != json!({}) => faults.push("a body of the request".to_owned()),
            Some(body) if schema.is_object() => faults.extend(self.misfits(Part::Request, schema, body)),
            _ => {}
        }
        faults
    }

    /// The faults of a parameter's value. It may fit as a string or as the JSON value that the string spells.
    fn parameter(&self, schema: &Value, value: &str) -> Vec<String> {
        let faults = self.misfits(Part::Request, schema, &value.into());
        let meant = serde_json::from_str(value).ok().filter(|meant: &Value| !meant.is_string());
        match meant {
            Some(meant) if !faults.is_empty() => self.misfits(Part::Request, schema, &meant),
            _ => faults,
        }
    }

    fn misfits(&self, part: Part, schema: &Value, value: &Value) -> Vec<String> {
        let fault_text = |fault: ValidationError<'_>| format!("{part:?} at `{}`: {fault}", fault.instance_path());
        self.validator(part, schema).iter_errors(value).map(fault_text).collect()
    }

    fn validator(&self, part: Part, schema: &Value) -> Arc<Validator> {
        let mut validators = self.validators.lock().unwrap_or_else(PoisonError::into_inner);
        let made = validators.entry((part, schema.to_string())).or_insert_with(|| {
            let mut root = closed(schema);
            let schemas = self.schemas_below(&root);
            if let Some(root) = root.as_object_mut() {
                let components = Map::from_iter([("schemas".to_owned(), Value::Object(schemas))]);
                root.insert("components".to_owned(), Value::Object(components));
            }
            // In requests, the service accepts more spellings of times and addresses than it promises.
            let formats = part == Part::Answer;
            let options = jsonschema::options().with_draft(Draft::Draft202012).should_validate_formats(formats);
            Arc::new(options.build(&root).unwrap_or_else(|error| panic!("{schema}: {error}")))
        });
        Arc::clone(made)
    }

    /// The components' schemas that `root` refers to, directly or through others, open or closed. There are hundreds of
    /// schemas, of which an answer needs a few, and a validator reads all that it gets.
    fn schemas_below(&self, root: &Value) -> Map<String, Value> {
        let described = &self.document["components"]["schemas"];
        let mut schemas = Map::new();
        let mut wanted = references(root);
        while let Some(name) = wanted.pop() {
            if schemas.contains_key(&name) {
                continue;
            }
            let schema = match name.strip_prefix(CLOSED) {
                Some(closed_one) => described.get(closed_one).map(closed),
                None => described.get(&name).map(open),
            };
            // A reference to nothing is a fault that the validator reports.
            if let Some(schema) = schema {
                wanted.extend(references(&schema));
                schemas.insert(name, schema);
            }
        }
        schemas
    }
}

/// The names of the components' schemas that `value` refers to.
fn references(value: &Value) -> Vec<String> {
    let mut names = Vec::new();
    let mut parts = vec![value];
    while let Some(part) = parts.pop() {
        match part {
            Value::Object(fields) => {
                let reference = fields.get("$ref").and_then(Value::as_str);
                names.extend(reference.and_then(|path| path.strip_prefix(SCHEMAS)).map(str::to_owned));
                parts.extend(fields.values());
            }
            Value::Array(entries) => parts.extend(entries),
            _ => {}
        }
    }
    names
}

/// Removes the examples, which are a large part of the description and which no check reads.
fn drop_examples(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, part) in fields.iter_mut() {
                match part {
                    // The fields of an object may have these names.
                    Value::Object(properties) if name == "properties" => {
                        properties.values_mut().for_each(drop_examples);
                    }
                    _ => drop_examples(part),
                }
            }
            for keyword in ["example", "examples"] {
                fields.remove(keyword);
            }
        }
        Value::Array(entries) => entries.iter_mut().for_each(drop_examples),
        _ => {}
    }
}

/// The schema of the value that `name` has, if it is the parameter or an entry of it: `parameter[key]`, which is the
/// style `deepObject`, or `parameter.key`.
fn schema_of<'a>(parameter: &'a Value, name: &str) -> Option<&'a Value> {
    let rest = name.strip_prefix(parameter["name"].as_str()?)?;
    let is_entry = rest.starts_with('.') || rest.starts_with('[') && rest.ends_with(']');
    match parameter["style"] == "deepObject" {
        false => rest.is_empty().then_some(&parameter["schema"]),
        true => is_entry.then_some(&parameter["schema"]["additionalProperties"]),
    }
}

/// Whether the path matches the template.
fn fits(template: &str, path: &str) -> bool {
    let (mut wanted, mut given) = (template.split('/'), path.split('/'));
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return true,
            (Some(wanted), Some(given)) if wanted == given || (wanted.starts_with('{') && !given.is_empty()) => {}
            _ => return false,
        }
    }
}

/// The schema itself, with closed schemas as its parts.
fn open(schema: &Value) -> Value {
    let Some(keywords) = schema.as_object() else { return schema.clone() };
    let rewritten = keywords.iter().map(|(keyword, value)| {
        let value = match keyword.as_str() {
            "properties" => each(value, closed),
            "items" | "additionalProperties" => closed(value),
            "prefixItems" => all(value, closed),
            "allOf" | "anyOf" | "oneOf" => all(value, open),
            _ => value.clone(),
        };
        (keyword.clone(), value)
    });
    let mut rewritten: Map<String, Value> = rewritten.collect();
    if rewritten.get("type").is_some_and(|kind| kind == "object")
        && !FIELD_KEYWORDS.iter().any(|keyword| rewritten.contains_key(*keyword))
    {
        // A free-form object of the caller.
        rewritten.entry("additionalProperties").or_insert(json!(true));
    }
    Value::Object(rewritten)
}

/// The schema, closed to every field that it does not list.
fn closed(schema: &Value) -> Value {
    let mut closed = open(schema);
    let Some(keywords) = closed.as_object_mut() else { return closed };
    if let Some(name) = keywords.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next()) {
        let reference = json!(format!("{SCHEMAS}{CLOSED}{name}"));
        keywords.insert("$ref".to_owned(), reference);
        return closed;
    }
    if FIELD_KEYWORDS.iter().any(|keyword| keywords.contains_key(*keyword))
        && !keywords.contains_key("additionalProperties")
    {
        keywords.insert("unevaluatedProperties".to_owned(), json!(false));
    }
    closed
}

fn each(parts: &Value, rewrite: fn(&Value) -> Value) -> Value {
    let parts = parts.as_object().into_iter().flatten();
    Value::Object(parts.map(|(name, part)| (name.clone(), rewrite(part))).collect())
}

fn all(parts: &Value, rewrite: fn(&Value) -> Value) -> Value {
    Value::Array(parts.as_array().into_iter().flatten().map(rewrite).collect())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn description() -> Description {
        let described = |schema: Value, headers: Value| json!({ "headers": headers, "content": { "application/json": { "schema": schema } } });
        Description::new(json!({
            "paths": {
                "/things/{id}": { "get": { "responses": {
                    "200": described(
                        json!({ "$ref": "#/components/schemas/Thing" }),
                        json!({ "ETag": { "$ref": "#/components/headers/ETag" } })
                    ),
                    "404": { "$ref": "#/components/responses/404" }
                } } },
                "/things": { "post": {
                    "parameters": [
                        { "name": "dry", "in": "query", "schema": { "type": "integer", "maximum": 5 } },
                        { "name": "map", "in": "query", "style": "deepObject", "schema": {
                            "type": "object", "additionalProperties": { "type": "string", "maxLength": 2 }
                        } }
                    ],
                    "requestBody": { "content": { "application/json": { "schema": {
                        "type": "object", "properties": { "at": { "type": "string", "format": "date-time" } },
                        "additionalProperties": false
                    } } } },
                    "responses": { "204": {} }
                } }
            },
            "components": {
                "headers": { "ETag": { "required": true } },
                "responses": { "404": described(json!({ "type": "object" }), json!({})) },
                "schemas": {
                    "Named": { "type": "object", "required": ["name"], "properties": { "name": { "type": "string" } } },
                    "Links": { "type": "object", "required": ["link"], "properties": { "link": { "type": "string" } } },
                    "Thing": { "allOf": [
                        { "$ref": "#/components/schemas/Named" },
                        { "oneOf": [
                            { "$ref": "#/components/schemas/Links" }, { "not": { "anyOf": [{ "required": ["link"] }] } }
                        ] },
                        { "type": "object", "properties": {
                            "at": { "type": "string", "format": "date-time" },
                            "part": { "oneOf": [{ "$ref": "#/components/schemas/Named" }, { "type": "null" }] },
                            "own": { "type": "object" }
                        } }
                    ] }
                }
            }
        }))
    }

    fn sent(method: &str, path: &str, json: Option<Value>) -> SentRequest {
        let url = format!("http://localhost{path}").parse().unwrap();
        SentRequest { method: method.parse().unwrap(), url, json }
    }

    fn answer(status: u16, headers: &[(&'static str, &str)], body: &Value) -> Answer {
        let mut all = HeaderMap::new();
        for (name, value) in headers {
            all.insert(*name, value.parse().unwrap());
        }
        let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        Answer::new("a request".to_owned(), status, all, bytes)
    }

    const JSON: (&str, &str) = ("content-type", "application/json");
    const TAG: (&str, &str) = ("etag", "\"1\"");

    #[rstest]
    #[case::every_field(json!({ "name": "x", "at": "2026-03-02T09:00:00Z", "part": { "name": "y" }, "own": { "z": 1 } }), None)]
    #[case::required_fields_only(json!({ "name": "x", "part": null }), None)]
    #[case::an_alternative(json!({ "name": "x", "link": "y" }), None)]
    #[case::an_alternative_of_the_wrong_type(json!({ "name": "x", "link": 5 }), Some("link"))]
    #[case::an_extra_field(json!({ "name": "x", "more": 1 }), Some("more"))]
    #[case::a_nested_extra_field(json!({ "name": "x", "part": { "name": "y", "more": 1 } }), Some("more"))]
    #[case::a_missing_field(json!({ "at": "2026-03-02T09:00:00Z" }), Some("name"))]
    #[case::a_malformed_time(json!({ "name": "x", "at": "yesterday" }), Some("date-time"))]
    #[case::a_wrong_type(json!({ "name": 1 }), Some("string"))]
    fn answers_fit_their_schema(#[case] body: Value, #[case] fault: Option<&str>) {
        let faults = description().faults(&sent("GET", "/things/1", None), &answer(200, &[JSON, TAG], &body));
        match fault {
            None => assert_eq!(faults, [""; 0]),
            Some(fault) => assert!(faults.iter().any(|found| found.contains(fault)), "{faults:?}"),
        }
    }

    #[rstest]
    #[case::an_unknown_status("GET", "/things/1", 500, &[JSON], "no answer 500")]
    #[case::an_unknown_method("PUT", "/things/1", 200, &[JSON], "has no PUT")]
    #[case::an_unknown_route("GET", "/other", 200, &[JSON], "no path fits")]
    #[case::an_unknown_content_type("GET", "/things/1", 200, &[("content-type", "text/plain"), TAG], "content of type `text/plain`")]
    #[case::a_missing_header("GET", "/things/1", 200, &[JSON], "no header ETag")]
    #[case::an_extra_header("GET", "/things/1", 404, &[JSON, ("ratelimit", "x")], "a header ratelimit")]
    #[case::an_extra_body("POST", "/things", 204, &[JSON], "a body")]
    #[case::a_parameter_out_of_bounds("POST", "/things?dry=9", 204, &[], "maximum")]
    #[case::an_extra_parameter("POST", "/things?wet=1", 204, &[], "a parameter wet")]
    #[case::an_entry_out_of_bounds("POST", "/things?map.a=x&map[b]=long", 204, &[], "longer than 2")]
    #[case::an_entry_of_no_map("POST", "/things?map=x", 204, &[], "a parameter map")]
    #[case::an_entry_of_a_value("POST", "/things?dry.a=1", 204, &[], "a parameter dry.a")]
    fn undescribed_exchanges_are_reported(
        #[case] method: &str,
        #[case] path: &str,
        #[case] status: u16,
        #[case] headers: &[(&'static str, &str)],
        #[case] fault: &str,
    ) {
        let body = if headers.is_empty() { Value::Null } else { json!({ "name": "x" }) };
        let faults = description().faults(&sent(method, path, None), &answer(status, headers, &body));
        assert!(faults.iter().any(|found| found.contains(fault)), "{faults:?}");
    }

    #[test]
    fn only_fields_keep_the_names_of_examples() {
        let mut document = json!({
            "examples": { "one": {} },
            "list": [{ "example": 1, "type": "object", "properties": {
                "example": { "type": "string", "example": "x" }, "examples": { "type": "array", "examples": [[]] }
            } }]
        });
        drop_examples(&mut document);
        let left = json!({ "list": [{ "type": "object", "properties": {
            "example": { "type": "string" }, "examples": { "type": "array" }
        } }] });
        assert_eq!(document, left);
    }

    #[test]
    fn accepted_requests_must_be_described() {
        let description = description();
        let faults = |body: Value| {
            description.faults(&sent("POST", "/things?dry=1", Some(body)), &answer(204, &[], &Value::Null))
        };
        assert_eq!(faults(json!({ "at": "tomorrow" })), [""; 0]);
        assert!(faults(json!({ "when": "tomorrow" }))[0].contains("when"));
    }
}
