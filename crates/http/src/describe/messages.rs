//! The webhook messages in the description, with one entry per type.

use kalends_notifications::EventType;
use kalends_wire::payload_of;
use serde_json::{Map, Value, json};

/// All messages, by the name of their type.
pub(super) fn all() -> Value {
    let types = EventType::ALL.iter().copied().chain([EventType::WebhookTest]);
    types.map(|event_type| (event_type.as_str().to_owned(), message(event_type))).collect::<Map<_, _>>().into()
}

fn message(event_type: EventType) -> Value {
    let header = |name: &str, required: bool, description: &str| {
        json!({
            "name": name, "in": "header", "required": required, "description": description,
            "schema": { "type": "string" }
        })
    };
    json!({ "post": {
        "tags": ["Webhooks"],
        "operationId": operation_id(event_type.as_str()),
        "summary": event_type.about(),
        "description": "Posted to every endpoint that is subscribed to the type. Any 2xx within 15 seconds is a \
            success; after anything else, the message is sent again.",
        "security": [],
        "parameters": [
            header("X-Service-Event-Type", true, "The type of the message."),
            header("X-Delivery-Id", true, "The delivery, `whd_…`. It is the same in every attempt."),
            header("X-Timestamp", true, "The time of the attempt, in Unix seconds."),
            header(
                "X-Signature", true,
                "`sha256=<hex>`: HMAC-SHA256 with the whole secret, as text, over `<timestamp>.<body>`."
            ),
            header("X-Signature-Previous", false, "The signature by the previous secret, for a day after a rotation."),
            header("X-Resource-Version", false, "The version of the resource."),
            header("webhook-id", true, "The same as X-Delivery-Id."),
            header("webhook-timestamp", true, "The same as X-Timestamp."),
            header(
                "webhook-signature", true,
                "`v1,<base64>` (Standard Webhooks). For a day after a rotation, two of them, separated by a space."
            ),
        ],
        "requestBody": { "required": true, "content": { "application/json": {
            "schema": { "$ref": format!("#/components/schemas/{}", payload_of(event_type)) }
        } } },
        "responses": {
            "2XX": { "description": "The message was received." },
            "410": { "description": "The receiver wants no more messages. The endpoint is deactivated." }
        }
    } })
}

/// A name for code generators, such as `onEventHoldCreated` for `event.hold_created`.
fn operation_id(name: &str) -> String {
    let words = name.split(['.', '_']).flat_map(|word| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters)
    });
    "on".chars().chain(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_type_is_described_with_its_payload() {
        let document: Value = crate::description("http://localhost");
        assert_eq!(operation_id("event.hold_created"), "onEventHoldCreated");
        let described = document["webhooks"].as_object().unwrap();
        assert_eq!(described.len(), EventType::ALL.len() + 1);
        for event_type in EventType::ALL {
            let message = &described[event_type.as_str()]["post"];
            let schema = message["requestBody"]["content"]["application/json"]["schema"]["$ref"].as_str().unwrap();
            assert!(document.pointer(schema.trim_start_matches('#')).is_some(), "{schema}");
            assert!(message["summary"].as_str().is_some_and(|text| text.ends_with('.')), "{message}");
        }
    }
}
