//! Free-form metadata: a JSON object of at most 16,384 bytes and 32 levels.

use serde_json::{Map, Value};

use crate::{Code, FieldError};

/// A caller's own JSON object, kept unchanged.
///
/// ```
/// use kalends_kernel::Metadata;
///
/// let metadata = Metadata::from_json(r#"{ "project": 7, "tags": ["a"] }"#)?;
/// assert_eq!(metadata.to_json(), r#"{"project":7,"tags":["a"]}"#);
/// assert_eq!(metadata.as_map()["project"], 7);
/// # Ok::<(), kalends_kernel::serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Metadata(Map<String, Value>);

impl Metadata {
    /// The maximum number of bytes of the object as compact JSON.
    pub const MAX_BYTES: usize = 16_384;
    /// The maximum number of nesting levels. The object itself is the first.
    pub const MAX_DEPTH: usize = 32;

    /// Accepts an object within the bounds.
    ///
    /// # Errors
    /// `metadata_too_large` over [`Self::MAX_BYTES`], and plain field errors for the rest.
    ///
    /// ```
    /// use kalends_kernel::{Metadata, serde_json::json};
    ///
    /// assert!(Metadata::parse("metadata", json!({ "project": 7 })).is_ok());
    /// let error = Metadata::parse("metadata", json!([7])).map_err(|error| error.to_string());
    /// assert_eq!(error, Err("metadata: must be a JSON object, got an array".to_owned()));
    /// ```
    pub fn parse(param: &str, value: Value) -> Result<Self, FieldError> {
        if depth(&value) > Self::MAX_DEPTH {
            return Err(FieldError::new(param, format!("must be nested at most {} levels deep", Self::MAX_DEPTH)));
        }
        let Value::Object(map) = value else {
            return Err(FieldError::new(param, format!("must be a JSON object, got {}", kind(&value))));
        };
        let metadata = Self(map);
        let bytes = metadata.to_json().len();
        if bytes > Self::MAX_BYTES {
            return Err(FieldError::new(
                param,
                format!("must be at most {} bytes as compact JSON, got {bytes}", Self::MAX_BYTES),
            )
            .with_code(Code::MetadataTooLarge));
        }
        Ok(metadata)
    }

    /// The object from a store's text. [`Metadata`] has an example.
    ///
    /// # Errors
    /// The text is not a JSON object.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text).map(Self)
    }

    /// The object as compact JSON. [`Metadata`] has an example.
    pub fn to_json(&self) -> String {
        Value::Object(self.0.clone()).to_string()
    }

    /// The entries.
    pub const fn as_map(&self) -> &Map<String, Value> {
        &self.0
    }

    /// The entries, owned.
    pub fn into_map(self) -> Map<String, Value> {
        self.0
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_size_limit_counts_compact_bytes() {
        let filler = |length: usize| json!({ "k": "x".repeat(length) });
        let overhead = r#"{"k":""}"#.len();
        assert!(Metadata::parse("metadata", filler(Metadata::MAX_BYTES - overhead)).is_ok());
        let refused = Metadata::parse("metadata", filler(Metadata::MAX_BYTES - overhead + 1)).unwrap_err();
        assert_eq!(refused.code, Some(Code::MetadataTooLarge));
    }

    #[test]
    fn nesting_is_limited() {
        let nested = |levels: usize| (1..levels).fold(json!({}), |inner, _| json!({ "k": inner }));
        assert!(Metadata::parse("metadata", nested(32)).is_ok());
        assert!(Metadata::parse("metadata", nested(33)).is_err());
    }

    #[test]
    fn only_objects_are_accepted() {
        for value in [json!(null), json!([]), json!("{}"), json!(1)] {
            assert!(Metadata::parse("metadata", value).is_err());
        }
    }
}
