//! The parts of an operation, and functions that read JSON for them.

use serde_json::Value;

/// What a caller has to send to be admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Anyone,
    Key,
    Session,
    Operator,
}

impl Access {
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Anyone => "no key",
            Self::Key => "an API key",
            Self::Session => "a console session",
            Self::Operator => "the operator's token",
        }
    }

    /// The shell variable that holds it in the examples.
    pub(crate) const fn variable(self) -> Option<&'static str> {
        match self {
            Self::Anyone => None,
            Self::Key => Some("KEY"),
            Self::Session => Some("SESSION"),
            Self::Operator => Some("ADMIN_TOKEN"),
        }
    }
}

/// A parameter, or a field of an object.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) name: String,
    /// The type, as HTML.
    pub(crate) kind: String,
    /// Where it is sent: `path`, `query` or `header`. Empty for a field.
    pub(crate) place: String,
    pub(crate) is_required: bool,
    /// As HTML.
    pub(crate) about: String,
}

/// What a body or an object looks like.
#[derive(Debug, Default)]
pub(crate) struct Shape {
    /// The media type, or nothing for an object.
    pub(crate) media_type: String,
    /// The type in words, as HTML, if it has no fields.
    pub(crate) kind: String,
    /// One list of fields for each form that it may have.
    pub(crate) forms: Vec<Form>,
}

/// One form of an object.
#[derive(Debug, Default)]
pub(crate) struct Form {
    pub(crate) about: String,
    pub(crate) fields: Vec<Field>,
}

/// An answer with one status.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: String,
    /// As HTML.
    pub(crate) about: String,
    /// The type of its body, as HTML. Empty if it has none.
    pub(crate) kind: String,
}

/// A schema with fields, which operations refer to.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) name: String,
    /// As HTML.
    pub(crate) about: String,
    pub(crate) shape: Shape,
    pub(crate) example: Option<String>,
}

/// The entries of an object. Any other value has none.
pub(crate) fn entries(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// JSON text as an example shows it; other text as it is.
pub(crate) fn pretty(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}
