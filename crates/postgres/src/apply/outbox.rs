//! The messages of change-sets.

use sqlx::PgConnection;
use uuid::Uuid;

use crate::error::ApplyError;
use crate::sealed::SealedChangeSet;

pub(crate) async fn apply(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    let messages: Vec<_> = batch.iter().flat_map(SealedChangeSet::messages).collect();
    if messages.is_empty() {
        return Ok(());
    }
    let orgs: Vec<Uuid> = messages.iter().map(|(message, _)| message.org.uuid()).collect();
    let ids: Vec<Uuid> = messages.iter().map(|(message, _)| message.id.uuid()).collect();
    let types: Vec<&str> = messages.iter().map(|(message, _)| message.event_type.as_str()).collect();
    let payloads: Vec<&str> = messages.iter().map(|(_, payload)| *payload).collect();
    let versions: Vec<i64> = messages.iter().map(|(message, _)| message.resource_version.0).collect();
    let created: Vec<i64> = messages.iter().map(|(message, _)| message.created_at.as_micros()).collect();
    sqlx::query!(
        "INSERT INTO outbox (org_id, id, event_type, payload, resource_version, created_at)
         SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])",
        &orgs,
        &ids,
        &types as &[&str],
        &payloads as &[&str],
        &versions,
        &created,
    )
    .execute(connection)
    .await?;
    Ok(())
}
