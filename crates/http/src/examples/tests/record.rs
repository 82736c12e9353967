//! The recorded requests and answers, and how they are stored.

use std::collections::{BTreeMap, BTreeSet};

use http::StatusCode;
use kalends_app::operations::Operation;
use serde_json::{Value, json};

/// The command that renews the recording.
pub(super) const RENEW: &str = "KALENDS_RENEW_EXAMPLES=1 cargo test -p kalends-http --lib examples_match_the_answers";

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/examples.json");

/// Whether to renew the recording.
#[expect(clippy::disallowed_methods, reason = "a test may read a variable that controls it")]
pub(super) fn is_to_be_renewed() -> bool {
    std::env::var("KALENDS_RENEW_EXAMPLES").is_ok_and(|value| value == "1")
}

/// Everything that becomes an example.
#[derive(Debug, Default)]
pub(super) struct Record {
    operations: BTreeMap<&'static str, Recorded>,
    errors: BTreeMap<String, Value>,
}

/// The examples of one operation.
#[derive(Debug, Default)]
struct Recorded {
    request: Option<Value>,
    answers: BTreeMap<String, Value>,
}

impl Record {
    /// Stores a success if it has a body. The first request of an operation is its example. No answer may be stored
    /// twice.
    pub(super) fn keep(
        &mut self,
        operation: &Operation,
        sent: Option<Value>,
        (status, body): (StatusCode, Option<Value>),
    ) {
        if sent.is_none() && body.is_none() {
            return;
        }
        let recorded = self.operations.entry(operation.id).or_default();
        if let Some(sent) = sent {
            recorded.request.get_or_insert(sent);
        }
        if let Some(body) = body {
            let before = recorded.answers.insert(status.as_str().to_owned(), body);
            assert!(before.is_none(), "{} is recorded twice with {status}", operation.id);
        }
    }

    /// Stores an error.
    pub(super) fn keep_error(&mut self, status: StatusCode, body: Value) {
        let before = self.errors.insert(status.as_str().to_owned(), body);
        assert!(before.is_none(), "{status} is recorded twice");
    }

    fn value(&self) -> Value {
        let operations: BTreeMap<_, _> = self.operations.iter().map(|(id, recorded)| (*id, recorded.value())).collect();
        json!({ "operations": operations, "errors": self.errors })
    }

    /// Writes the recording to its file.
    pub(super) fn write(&self) {
        std::fs::write(FILE, pretty(&self.value())).unwrap();
    }

    /// Lists the differences to the stored recording.
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

/// The recording as it is in its file, with the fields of every object sorted by name.
pub(super) fn pretty(record: &Value) -> String {
    serde_json::to_string_pretty(&sorted(record)).unwrap() + "\n"
}

/// Sorts the fields of all objects, whichever order this build keeps them in.
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

/// Lists each place at which two values differ, as a line. A missing value differs from null.
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
            let text_of = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), Value::to_string);
            found.push(format!("{place}\n  stored:   {}\n  happened: {}", text_of(before), text_of(after)));
        }
        _ => {}
    }
}

#[test]
fn differences_are_listed_with_their_place() {
    let (stored, happened) = (json!({ "a": { "b": [1, 2] }, "c": null }), json!({ "a": { "b": [1, 3, 4] }, "d": {} }));
    let mut found = Vec::new();
    differences("", Some(&stored), Some(&happened), &mut found);
    let difference =
        |place: &str, stored: &str, happened: &str| format!("{place}\n  stored:   {stored}\n  happened: {happened}");
    let expected = [
        difference("/a/b/1", "2", "3"),
        difference("/a/b/2", "nothing", "4"),
        difference("/c", "null", "nothing"),
        difference("/d", "nothing", "{}"),
    ];
    assert_eq!(found, expected);
}
