//! Schemas of tools with one type at a time. JSON Schema allows a list of types, but not every client reads one.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

/// The keywords that limit values of one type only. They accept all values of other types.
const LIMITS: [&str; 19] = [
    "additionalProperties",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "pattern",
    "properties",
    "propertyNames",
    "required",
    "uniqueItems",
];

/// The schema with a choice (`anyOf`) for each type, if its `type` is a list. It accepts the same values. Its
/// description and its default stay outside the choices.
pub(super) fn with_one_type(mut schema: JsonObject) -> JsonObject {
    let types = match schema.remove("type") {
        Some(Value::Array(types)) => types,
        Some(one) => {
            schema.insert("type".to_owned(), one);
            return schema;
        }
        None => return schema,
    };
    let (limits, mut whole): (JsonObject, JsonObject) =
        schema.into_iter().partition(|(keyword, _)| LIMITS.contains(&keyword.as_str()));
    let named = whole.remove("enum");
    let named = named.as_ref().and_then(Value::as_array).map(Vec::as_slice);
    let mut choices: Vec<_> = types.into_iter().filter_map(|kind| choice(kind, &limits, named)).collect();
    if choices.len() == 1 {
        whole.extend(choices.remove(0));
    } else if whole.contains_key("anyOf") {
        // Both must hold.
        if let Some(all) = whole.entry("allOf").or_insert_with(|| json!([])).as_array_mut() {
            all.push(json!({ "anyOf": choices }));
        }
    } else {
        whole.insert("anyOf".to_owned(), json!(choices));
    }
    whole
}

/// The schema of the values of one type. `None` if the schema names its values, and none of them can have the type.
fn choice(kind: Value, limits: &JsonObject, named: Option<&[Value]>) -> Option<JsonObject> {
    let is_null = kind == "null";
    let named: Option<Vec<&Value>> =
        named.map(|values| values.iter().filter(|value| value.is_null() == is_null).collect());
    if named.as_ref().is_some_and(Vec::is_empty) {
        return None;
    }
    let mut choice = if is_null { JsonObject::new() } else { limits.clone() };
    choice.insert("type".to_owned(), kind);
    if let Some(values) = named.filter(|_| !is_null) {
        choice.insert("enum".to_owned(), json!(values));
    }
    Some(choice)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::one_type(json!({ "type": "string", "maxLength": 5 }), json!({ "type": "string", "maxLength": 5 }))]
    #[case::no_type(json!({ "description": "Anything." }), json!({ "description": "Anything." }))]
    #[case::nullable(
        json!({ "type": ["string", "null"], "format": "date-time", "description": "When.", "default": null }),
        json!({
            "anyOf": [{ "type": "string", "format": "date-time" }, { "type": "null" }],
            "description": "When.", "default": null
        })
    )]
    #[case::list(
        json!({ "type": ["array", "null"], "items": { "type": "string" }, "maxItems": 3 }),
        json!({ "anyOf": [{ "type": "array", "items": { "type": "string" }, "maxItems": 3 }, { "type": "null" }] })
    )]
    #[case::object(
        json!({ "type": ["object", "null"], "properties": { "type": { "type": "string" } }, "required": ["type"] }),
        json!({ "anyOf": [
            { "type": "object", "properties": { "type": { "type": "string" } }, "required": ["type"] },
            { "type": "null" }
        ] })
    )]
    #[case::names_with_null(
        json!({ "type": ["string", "null"], "enum": ["a", "b", null] }),
        json!({ "anyOf": [{ "type": "string", "enum": ["a", "b"] }, { "type": "null" }] })
    )]
    #[case::names_without_null(
        json!({ "type": ["string", "null"], "enum": ["a"], "description": "Which." }),
        json!({ "type": "string", "enum": ["a"], "description": "Which." })
    )]
    #[case::list_of_one(json!({ "type": ["string"], "maxLength": 5 }), json!({ "type": "string", "maxLength": 5 }))]
    #[case::choices(
        json!({ "type": ["string", "null"], "anyOf": [{ "const": "a" }, { "const": null }] }),
        json!({
            "anyOf": [{ "const": "a" }, { "const": null }],
            "allOf": [{ "anyOf": [{ "type": "string" }, { "type": "null" }] }]
        })
    )]
    fn each_type_is_a_choice(#[case] schema: Value, #[case] expected: Value) {
        let (Value::Object(schema), Value::Object(expected)) = (schema, expected) else { panic!("not two schemas") };
        assert_eq!(with_one_type(schema), expected);
    }
}
