//! The operations of the service, read from its own description. A new route is attacked automatically.

use std::fmt;

use serde_json::{Map, Value, json};

/// Marks for real identifiers in requests. [`crate::bodies`] replaces them with the current ones.
pub(crate) const AGENT: &str = "@agent@";
pub(crate) const CALENDAR: &str = "@calendar@";
pub(crate) const EVENT: &str = "@event@";

/// An operation.
#[derive(Clone)]
pub(crate) struct Operation {
    pub method: String,
    /// The template, with its parameters in braces.
    pub path: String,
    /// Whether it requires a key.
    pub keyed: bool,
    /// The parameters of its query.
    pub query: Vec<Parameter>,
    /// A body that it accepts, if it has one.
    pub body: Option<Value>,
    /// The names of all fields of that body.
    pub fields: Vec<String>,
}

/// A parameter of a query.
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub name: String,
    pub required: bool,
    /// A value that it accepts, percent-encoded.
    pub value: String,
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

impl Operation {
    /// Whether it may change something.
    pub(crate) fn writes(&self) -> bool {
        self.method != "GET"
    }
}

/// All operations of a description.
pub(crate) fn operations(document: &Value) -> Vec<Operation> {
    let mut operations = Vec::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, described) in methods.as_object().expect("methods") {
            operations.push(operation(document, path, method, described));
        }
    }
    assert!(operations.len() > 20, "the description lists {} operations", operations.len());
    operations
}

fn operation(document: &Value, path: &str, method: &str, described: &Value) -> Operation {
    let parameters = described["parameters"].as_array().cloned().unwrap_or_default();
    let content = &described["requestBody"]["content"]["application/json"];
    let schema = resolved(document, &content["schema"]);
    Operation {
        method: method.to_ascii_uppercase(),
        path: path.to_owned(),
        keyed: described["security"].as_array().is_some_and(|security| !security.is_empty()),
        query: parameters.iter().filter(|parameter| parameter["in"] == "query").map(parameter).collect(),
        body: content["example"].as_object().map(|example| named(&Value::Object(example.clone()))),
        fields: schema["properties"].as_object().map(Map::keys).into_iter().flatten().cloned().collect(),
    }
}

fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).expect("a schema"),
        None => schema,
    }
}

fn parameter(described: &Value) -> Parameter {
    let name = described["name"].as_str().expect("a name").to_owned();
    let example = [&described["example"], &described["schema"]["example"], &described["schema"]["default"]];
    let value = match (name.as_str(), example.into_iter().find(|value| !value.is_null())) {
        ("agents", _) => AGENT.to_owned(),
        ("calendars", _) => CALENDAR.to_owned(),
        (_, Some(Value::String(text))) => text.clone(),
        (_, Some(other)) => other.to_string(),
        (_, None) => "1".to_owned(),
    };
    Parameter { required: described["required"] == true, name, value }
}

/// The example, with the marks of real identifiers.
fn named(example: &Value) -> Value {
    match example {
        Value::String(text) if text.starts_with("agt_") => json!(AGENT),
        Value::String(text) if text.starts_with("cal_") => json!(CALENDAR),
        Value::String(text) if text.starts_with("evt_") => json!(EVENT),
        Value::Array(items) => items.iter().map(named).collect(),
        Value::Object(map) => map.iter().map(|(name, value)| (name.clone(), named(value))).collect(),
        other => other.clone(),
    }
}
