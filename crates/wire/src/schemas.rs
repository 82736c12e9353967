//! Schemas of what requests name, where that is parsed in words of ours rather than by the type: one source for both, the
//! domain's own lists.

use std::borrow::Cow;

use kalends_bridge::PublicationPolicy;
use kalends_calendars as calendars;
use kalends_notifications::EventType;
use kalends_proposals::ResponseKind;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr, Schema,
        schema::{ObjectBuilder, OneOfBuilder, Ref, Type},
    },
};

use crate::{
    CreateEvent, EventStatus,
    connection_links::{AVAILABILITY, PUBLISHING},
};

type NamedSchema = (String, RefOr<Schema>);

/// What an endpoint may subscribe to: every type of a message, or `*` for all of them.
pub(crate) struct EventName;
/// What a participant may say.
pub(crate) struct ResponseName;
/// What a connection may be wanted for.
pub(crate) struct CapabilityName;
/// Which events may be published.
pub(crate) struct PolicyName;
/// What an event may be that is no hold.
pub(crate) struct SettledStatus;

fn one_of<'a>(names: impl Iterator<Item = &'a str>) -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names)).build().into()
}

impl PartialSchema for EventName {
    fn schema() -> RefOr<Schema> {
        one_of(EventType::ALL.iter().map(|known| known.as_str()).chain(["*"]))
    }
}

impl PartialSchema for ResponseName {
    fn schema() -> RefOr<Schema> {
        one_of(ResponseKind::ALL.iter().map(|known| known.as_str()))
    }
}

impl PartialSchema for CapabilityName {
    fn schema() -> RefOr<Schema> {
        one_of([AVAILABILITY, PUBLISHING].into_iter())
    }
}

impl PartialSchema for PolicyName {
    fn schema() -> RefOr<Schema> {
        one_of(PublicationPolicy::ALL.iter().map(|known| known.as_str()))
    }
}

impl PartialSchema for SettledStatus {
    fn schema() -> RefOr<Schema> {
        let Schema::Object(mut all) = resolved(EventStatus::schema()) else { return EventStatus::schema() };
        let hold = calendars::EventStatus::Hold.as_str();
        if let Some(names) = &mut all.enum_values {
            names.retain(|name| name != hold);
        }
        all.description = None;
        Schema::Object(all).into()
    }
}

fn resolved(schema: RefOr<Schema>) -> Schema {
    match schema {
        RefOr::T(schema) => schema,
        RefOr::Ref(_) => Schema::default(),
    }
}

impl ToSchema for EventName {
    fn name() -> Cow<'static, str> {
        "EventName".into()
    }
}

impl ToSchema for ResponseName {
    fn name() -> Cow<'static, str> {
        "ResponseName".into()
    }
}

impl ToSchema for CapabilityName {
    fn name() -> Cow<'static, str> {
        "CapabilityName".into()
    }
}

impl ToSchema for PolicyName {
    fn name() -> Cow<'static, str> {
        "PolicyName".into()
    }
}

impl ToSchema for SettledStatus {
    fn name() -> Cow<'static, str> {
        "SettledStatus".into()
    }
}

/// What only a hold has.
const OF_HOLDS: [&str; 4] = ["hold_expires_at", "hold_priority", "scope", "if_as_of"];

/// An event of a batch: one that is created alone, without what makes it a hold.
pub(crate) struct BatchedEvent;

impl PartialSchema for BatchedEvent {
    fn schema() -> RefOr<Schema> {
        let Schema::Object(mut event) = resolved(CreateEvent::schema()) else { return CreateEvent::schema() };
        event.properties.retain(|name, _| !OF_HOLDS.contains(&name.as_str()));
        let nothing = ObjectBuilder::new().schema_type(Type::Null);
        let status = OneOfBuilder::new().item(nothing).item(Ref::from_schema_name(SettledStatus::name()));
        let status = status.description(Some("`confirmed` unless told."));
        event.properties.insert("status".into(), Schema::OneOf(status.build()).into());
        event.description = Some("An event of a batch, which is no hold.".into());
        Schema::Object(event).into()
    }
}

impl ToSchema for BatchedEvent {
    fn name() -> Cow<'static, str> {
        "BatchedEvent".into()
    }

    fn schemas(schemas: &mut Vec<NamedSchema>) {
        schemas.push((SettledStatus::name().into(), SettledStatus::schema()));
        CreateEvent::schemas(schemas);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{CreateConnectionLink, CreateEventBatch, CreateWebhook, RespondToProposal, UpdateEvent, UpdateWebhook};

    fn shown<T: PartialSchema>() -> Value {
        serde_json::to_value(T::schema()).unwrap()
    }

    #[test]
    fn names_are_those_that_are_read() {
        let names = |schema: Value| schema["enum"].as_array().unwrap().clone();
        let events = names(shown::<EventName>());
        assert_eq!((events.len(), &events[0], &events[18]), (19, &json!("event.created"), &json!("*")));
        assert_eq!(names(shown::<ResponseName>()), ["accept", "decline", "counter"]);
        assert_eq!(names(shown::<CapabilityName>()), ["availability", "publishing"]);
        assert_eq!(names(shown::<PolicyName>()), ["none", "confirmed", "confirmed_tentative"]);
        assert_eq!(names(shown::<SettledStatus>()), ["confirmed", "tentative", "cancelled"]);
    }

    #[test]
    fn requests_offer_what_they_take() {
        for (schema, place, name) in [
            (shown::<CreateWebhook>(), "/properties/events/items", "EventName"),
            (shown::<UpdateWebhook>(), "/properties/events/items", "EventName"),
            (shown::<RespondToProposal>(), "/properties/response", "ResponseName"),
            (shown::<CreateConnectionLink>(), "/properties/capabilities/items", "CapabilityName"),
            (shown::<CreateConnectionLink>(), "/properties/publication_policy", "PolicyName"),
            (shown::<UpdateEvent>(), "/properties/status", "SettledStatus"),
            (shown::<CreateEventBatch>(), "/properties/events/items", "BatchedEvent"),
        ] {
            let told = schema.pointer(place).map(Value::to_string).unwrap_or_default();
            assert!(told.contains(&format!("#/components/schemas/{name}\"")), "{name}: {told}");
        }
        let (alone, batched) = (shown::<CreateEvent>(), shown::<BatchedEvent>());
        for of_holds in OF_HOLDS {
            assert!(alone["properties"][of_holds].is_object() && batched["properties"].get(of_holds).is_none());
        }
        assert_eq!((&batched["required"], &batched["additionalProperties"]), (&alone["required"], &json!(false)));
        assert!(batched["properties"]["status"].to_string().contains("SettledStatus"));
    }
}
