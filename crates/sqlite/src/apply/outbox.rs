//! Messages to webhook endpoints.

use kalends_app::ports::{FieldCipher, Place};
use kalends_notifications::Message;
use sqlx::SqliteConnection;

use super::Sealed;
use crate::{
    error::Failure,
    json::{self, Hex},
};

/// The sealed payload of a message.
pub(super) fn seal(message: &Message, cipher: &dyn FieldCipher) -> String {
    let place = Place { table: "outbox", column: "payload", id: message.id.uuid() };
    cipher.seal(place, message.payload.as_bytes())
}

/// Stores the messages of all change-sets of the group.
pub(crate) async fn store_messages(connection: &mut SqliteConnection, group: &[&Sealed]) -> Result<(), Failure> {
    let rows: Vec<_> = group
        .iter()
        .flat_map(|sealed| sealed.changes.messages.iter().zip(&sealed.payloads))
        .map(|(message, payload)| {
            (
                Hex(message.org.uuid()),
                Hex(message.id.uuid()),
                message.event_type.as_str(),
                payload,
                message.resource_version.0,
                message.created_at.as_micros(),
            )
        })
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    let rows = json::rows(&rows)?;
    sqlx::query!(
        "insert or fail into outbox (org_id, id, event_type, payload, resource_version, created_at)
         select unhex(value ->> 0), unhex(value ->> 1), value ->> 2, value ->> 3, value ->> 4, value ->> 5
         from json_each(?1)",
        rows
    )
    .execute(connection)
    .await?;
    Ok(())
}
