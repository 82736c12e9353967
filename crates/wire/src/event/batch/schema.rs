//! The schema of an event in a batch.

use std::borrow::Cow;

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr, Schema,
        schema::{ObjectBuilder, OneOfBuilder, Ref, Type},
    },
};

use crate::{
    CreateEvent,
    schemas::{SettledStatus, resolved},
};

/// The fields that only a hold has.
const OF_HOLDS: [&str; 4] = ["hold_expires_at", "hold_priority", "scope", "if_as_of"];

/// An event of a batch: the fields of a single new event, without those of a hold.
pub(crate) struct BatchedEvent;

impl PartialSchema for BatchedEvent {
    fn schema() -> RefOr<Schema> {
        let Schema::Object(mut event) = resolved(CreateEvent::schema()) else { return CreateEvent::schema() };
        event.properties.retain(|name, _| !OF_HOLDS.contains(&name.as_str()));
        let nothing = ObjectBuilder::new().schema_type(Type::Null);
        let status = OneOfBuilder::new().item(nothing).item(Ref::from_schema_name(SettledStatus::name()));
        let status = status.description(Some("Defaults to `confirmed`."));
        event.properties.insert("status".into(), Schema::OneOf(status.build()).into());
        event.description = Some("An event of a batch. It cannot be a hold.".into());
        Schema::Object(event).into()
    }
}

impl ToSchema for BatchedEvent {
    fn name() -> Cow<'static, str> {
        "BatchedEvent".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((SettledStatus::name().into(), SettledStatus::schema()));
        CreateEvent::schemas(schemas);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_of_a_batch_has_the_fields_of_an_event_except_those_of_a_hold() {
        let of = |schema: RefOr<Schema>| serde_json::to_value(schema).unwrap();
        let (alone, batched) = (of(CreateEvent::schema()), of(BatchedEvent::schema()));
        for of_holds in OF_HOLDS {
            assert!(alone["properties"][of_holds].is_object() && batched["properties"].get(of_holds).is_none());
        }
        assert_eq!((&batched["required"], &batched["additionalProperties"]), (&alone["required"], &json!(false)));
        assert!(batched["properties"]["status"].to_string().contains("SettledStatus"));
    }
}
