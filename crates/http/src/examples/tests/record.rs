//! What was sent and answered, and how it is kept.

use std::collections::{BTreeMap, BTreeSet};

use http::StatusCode;
use kalends_app::operations::Operation;
use serde_json::{Value, json};

/// How the record is renewed.
pub(super) const RENEW: &str =
    "KALENDS_RENEW_EXAMPLES=1 cargo test -p kalends-http --lib the_examples_are_what_is_answered";

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/examples.json");

/// Whether the record is to be written anew.
#[expect(clippy::disallowed_methods, reason = "no part of the service; the test run is told what to do this way")]
pub(super) fn is_to_be_renewed() -> bool {
    std::env::var("KALENDS_RENEW_EXAMPLES").is_ok_and(|value| value == "1")
}

/// Everything that is to be an example.
#[derive(Debug, Default)]
pub(super) struct Record {
    operations: BTreeMap<&'static str, Recorded>,
    errors: BTreeMap<String, Value>,
}

/// What is told of one operation.
#[derive(Debug, Default)]
struct Recorded {
    request: Option<Value>,
    answers: BTreeMap<String, Value>,
}

impl Record {
    /// Keeps a success, if it has a body. The request that is shown is the first one; no answer is shown twice.
    pub(super) fn keep(
        &mut self,
        operation: &Operation,
        sent: Option<Value>,
        (status, body): (StatusCode, Option<Value>),
    ) {
        if sent.is_none() && body.is_none() {
            return;
        }
        let told = self.operations.entry(operation.id).or_default();
        if let Some(sent) = sent {
            told.request.get_or_insert(sent);
        }
        if let Some(body) = body {
            let before = told.answers.insert(status.as_str().to_owned(), body);
            assert!(before.is_none(), "{} is told twice with {status}", operation.id);
        }
    }

    /// Keeps a failure.
    pub(super) fn keep_error(&mut self, status: StatusCode, body: Value) {
        let before = self.errors.insert(status.as_str().to_owned(), body);
        assert!(before.is_none(), "{status} is told twice");
    }

    fn value(&self) -> Value {
        let operations: BTreeMap<_, _> = self.operations.iter().map(|(id, told)| (*id, told.value())).collect();
        json!({ "operations": operations, "errors": self.errors })
    }

    /// Writes the record.
    pub(super) fn write(&self) {
        std::fs::write(FILE, pretty(&self.value())).unwrap();
    }

    /// What differs from the record as it is stored.
    pub(super) fn differing_from(&self, stored: &Value) -> Vec<String> {
        let mut differing = Vec::new();
        differences("", Some(stored), Some(&self.value()), &mut differing);
        differing
    }
}

impl Recorded {
    fn value(&self) -> Value {
        let mut value = json!({ "answers": self.answers });
        if let Some(request) = &self.request {
            value["request"] = request.clone();
        }
        value
    }
}

/// The record as it stands in its file: every object's fields in the order of their names.
pub(super) fn pretty(record: &Value) -> String {
    serde_json::to_string_pretty(&sorted(record)).unwrap() + "\n"
}

/// The same, in the same order whichever way this build keeps objects.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<_, _> = fields.iter().map(|(name, value)| (name, sorted(value))).collect();
            fields.into_iter().map(|(name, value)| (name.clone(), value)).collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

/// Tells each place at which two values differ, as a line. What is missing differs from null.
fn differences(place: &str, stored: Option<&Value>, happened: Option<&Value>, found: &mut Vec<String>) {
    match (stored, happened) {
        (Some(Value::Object(before)), Some(Value::Object(after))) => {
            let names: BTreeSet<_> = before.keys().chain(after.keys()).collect();
            for name in names {
                differences(&format!("{place}/{name}"), before.get(name), after.get(name), found);
            }
        }
        (Some(Value::Array(before)), Some(Value::Array(after))) => {
            for index in 0..before.len().max(after.len()) {
                differences(&format!("{place}/{index}"), before.get(index), after.get(index), found);
            }
        }
        (before, after) if before != after => {
            let shown = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), Value::to_string);
            found.push(format!("{place}\n  stored:   {}\n  happened: {}", shown(before), shown(after)));
        }
        _ => {}
    }
}

#[test]
fn differences_are_told_by_their_place() {
    let (stored, happened) = (json!({ "a": { "b": [1, 2] }, "c": null }), json!({ "a": { "b": [1, 3, 4] }, "d": {} }));
    let mut found = Vec::new();
    differences("", Some(&stored), Some(&happened), &mut found);
    let told =
        |place: &str, stored: &str, happened: &str| format!("{place}\n  stored:   {stored}\n  happened: {happened}");
    let expected = [
        told("/a/b/1", "2", "3"),
        told("/a/b/2", "nothing", "4"),
        told("/c", "null", "nothing"),
        told("/d", "nothing", "{}"),
    ];
    assert_eq!(found, expected);
}
