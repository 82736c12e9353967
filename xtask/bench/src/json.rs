//! Reads fields of answers. Errors name the missing field.

use anyhow::{Context as _, Result};
use serde_json::Value;

/// The text under `key`.
pub(crate) fn text<'a>(json: &'a Value, key: &str) -> Result<&'a str> {
    json.get(key).and_then(Value::as_str).with_context(|| format!("no text {key:?} in {}", shortened(json)))
}

/// The number under `key`.
pub(crate) fn number(json: &Value, key: &str) -> Result<u64> {
    json.get(key).and_then(Value::as_u64).with_context(|| format!("no number {key:?} in {}", shortened(json)))
}

/// The list under `key`.
pub(crate) fn list<'a>(json: &'a Value, key: &str) -> Result<&'a Vec<Value>> {
    json.get(key).and_then(Value::as_array).with_context(|| format!("no list {key:?} in {}", shortened(json)))
}

fn shortened(json: &Value) -> String {
    json.to_string().chars().take(300).collect()
}
