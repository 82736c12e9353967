//! Schemas in words.

use std::collections::BTreeSet;

use serde_json::Value;

use super::parts::{Field, Form, Object, Shape, entries, pretty};
use crate::{
    markdown,
    site::{ROOT, escape},
};

/// The folder of the pages of objects.
pub(crate) const OBJECTS: &str = "reference/objects";

/// The schemas that the description names.
pub(super) struct Schemas<'a> {
    all: &'a Value,
}

/// The name of the schema that this one refers to.
pub(super) fn name_of(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix("#/components/schemas/")
}

impl<'a> Schemas<'a> {
    pub(super) fn new(all: &'a Value) -> Self {
        Self { all }
    }

    /// The page of every schema with fields.
    pub(super) fn objects(&self) -> Vec<Object> {
        let objects = entries(self.all).filter(|(_, schema)| self.has_fields(schema));
        let object = |(name, schema): (&String, &Value)| Object {
            name: name.clone(),
            about: markdown::text(schema["description"].as_str().unwrap_or_default()),
            shape: self.shape(schema),
            example: schema.get("example").map(pretty),
        };
        objects.map(object).collect()
    }

    /// The fields of a schema, or its type if it has none.
    pub(super) fn shape(&self, schema: &Value) -> Shape {
        let schema = self.resolved(schema);
        let choices = ["oneOf", "anyOf"].iter().find_map(|keyword| schema[*keyword].as_array());
        let forms: Vec<Form> = match choices {
            Some(choices) => {
                choices.iter().filter(|choice| choice["type"] != "null").map(|choice| self.form(choice)).collect()
            }
            None => vec![self.form(schema)],
        };
        let has_fields = forms.iter().any(|form| !form.fields.is_empty());
        Shape {
            media_type: String::new(),
            kind: if has_fields { String::new() } else { self.kind(schema) },
            forms: if has_fields { forms } else { Vec::new() },
        }
    }

    fn form(&self, schema: &Value) -> Form {
        let mut fields = Vec::new();
        self.collect(schema, &mut fields, 0);
        let about = if schema["$ref"].is_string() { self.kind(schema) } else { String::new() };
        Form { about, fields }
    }

    /// Adds the fields of a schema and of the parts that it is composed of. Parts refer to at most a few others.
    fn collect(&self, schema: &Value, fields: &mut Vec<Field>, depth: u8) {
        let schema = self.resolved(schema);
        let required: BTreeSet<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, field) in entries(&schema["properties"]) {
            let is_required = required.contains(name.as_str());
            let about = self.about(field, field["description"].as_str().unwrap_or_default());
            fields.push(Field { name: name.clone(), kind: self.kind(field), place: String::new(), is_required, about });
        }
        if depth < 4 {
            for part in schema["allOf"].as_array().into_iter().flatten() {
                // A part that may be missing is a choice between it and its absence.
                let choices = part["oneOf"].as_array().or_else(|| part["anyOf"].as_array());
                let part = choices.and_then(|choices| choices.first()).unwrap_or(part);
                self.collect(part, fields, depth + 1);
            }
        }
    }

    /// The type of a schema, as HTML.
    pub(super) fn kind(&self, schema: &Value) -> String {
        if let Some(name) = name_of(schema) {
            let named = &self.all[name];
            return if self.has_fields(named) { link(name) } else { self.kind(named) };
        }
        if let Some(choices) = ["oneOf", "anyOf"].iter().find_map(|keyword| schema[*keyword].as_array()) {
            let mut kinds: Vec<String> = Vec::new();
            // `null` is the last word.
            let (missing, others): (Vec<_>, Vec<_>) = choices.iter().partition(|choice| choice["type"] == "null");
            for choice in others.into_iter().chain(missing) {
                let kind = self.kind(choice);
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
            return kinds.join(" or ");
        }
        if let Some(part) = schema["allOf"].as_array().and_then(|parts| parts.first()) {
            return self.kind(part);
        }
        let kinds: Vec<&str> = match &schema["type"] {
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            Value::String(kind) => vec![kind],
            _ if schema["enum"].is_array() || schema["const"].is_string() => vec!["string"],
            _ => vec!["any JSON"],
        };
        let word = |kind: &&str| match *kind {
            "array" => format!("list of {}", self.kind(&schema["items"])),
            "object" if schema["additionalProperties"].is_object() => {
                format!("object, each value: {}", self.kind(&schema["additionalProperties"]))
            }
            "string" => match schema["format"].as_str() {
                Some("date-time") => "time".to_owned(),
                Some("date") => "date".to_owned(),
                Some("uri") => "URL".to_owned(),
                _ => "string".to_owned(),
            },
            other => other.to_owned(),
        };
        kinds.iter().map(word).collect::<Vec<_>>().join(" or ")
    }

    /// A description with the values and bounds of the schema, as HTML.
    pub(super) fn about(&self, schema: &Value, description: &str) -> String {
        let mut parts = vec![markdown::line(description)];
        let schema = self.resolved(schema);
        let schema = schema["oneOf"].as_array().map_or(schema, |choices| {
            choices.iter().find(|choice| choice["type"] != "null").map_or(schema, |choice| self.resolved(choice))
        });
        let items = if schema["items"].is_object() { self.resolved(&schema["items"]) } else { schema };
        if let Some(values) = items["enum"].as_array() {
            let values = values.iter().filter(|value| !value.is_null());
            let shown: Vec<String> = values.map(|value| format!("<code>{}</code>", escape(&pretty(value)))).collect();
            parts.push(format!("One of {}.", shown.join(", ")));
        }
        // Most descriptions say the upper bound already.
        let digits = description.replace(',', "");
        parts.extend(
            bounds(schema)
                .filter(|(_, most)| most.is_none_or(|most| !digits.contains(&most.to_string())))
                .map(|(text, _)| text),
        );
        if let Some(default) = schema.get("default").filter(|default| !default.is_null()) {
            parts.push(format!("Default: <code>{}</code>.", escape(&default.to_string())));
        }
        parts.retain(|part| !part.is_empty());
        parts.join(" ")
    }

    fn resolved<'b>(&'b self, schema: &'b Value) -> &'b Value {
        name_of(schema).map_or(schema, |name| &self.all[name])
    }

    fn has_fields(&self, schema: &Value) -> bool {
        let parts =
            ["allOf", "oneOf", "anyOf"].iter().flat_map(|keyword| schema[*keyword].as_array().into_iter().flatten());
        schema["properties"].is_object() || parts.into_iter().any(|part| self.has_fields(self.resolved(part)))
    }
}

/// The bounds of a value in words, and the upper bound as a number.
fn bounds(schema: &Value) -> Option<(String, Option<i64>)> {
    let number = |name: &str| schema[name].as_i64();
    let (least, most, unit) = if schema["maxLength"].is_number() || schema["minLength"].is_number() {
        (number("minLength"), number("maxLength"), " characters")
    } else if schema["maxItems"].is_number() || schema["minItems"].is_number() {
        (number("minItems"), number("maxItems"), " entries")
    } else {
        (number("minimum"), number("maximum"), "")
    };
    let text = match (least.filter(|least| *least != 0 || most.is_some()), most) {
        (Some(least), Some(most)) if least == most => Some(format!("Exactly {least}{unit}.")),
        (Some(0), Some(most)) => Some(format!("At most {most}{unit}.")),
        (Some(least), Some(most)) => Some(format!("{least} to {most}{unit}.")),
        (Some(1), None) if unit == " characters" => Some("Not empty.".to_owned()),
        (Some(least), None) => Some(format!("At least {least}{unit}.")),
        (None, Some(most)) => Some(format!("At most {most}{unit}.")),
        (None, None) => None,
    };
    text.map(|text| (text, most))
}

fn link(name: &str) -> String {
    format!("<a href=\"{ROOT}{OBJECTS}/{name}\">{name}</a>")
}
