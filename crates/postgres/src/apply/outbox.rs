//! The messages of change-sets that an endpoint listens for.

use kalends_rows::SealedChangeSet;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::error::ApplyError;

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
    let about: Vec<Option<Uuid>> =
        messages.iter().map(|(message, _)| message.about.map(|about| about.uuid())).collect();
    let created: Vec<i64> = messages.iter().map(|(message, _)| message.created_at.as_micros()).collect();
    sqlx::query!(
        "WITH heard AS (
             SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::bigint[], $6::bigint[],
                     $7::uuid[]) AS message (org_id, id, event_type, payload, resource_version, created_at, about)
             WHERE EXISTS (SELECT 1 FROM webhooks w WHERE w.org_id = message.org_id AND w.active)
         ), kept AS (
             INSERT INTO outbox (org_id, id, event_type, payload, resource_version, created_at)
             SELECT org_id, id, event_type, payload, resource_version, created_at FROM heard
         )
         INSERT INTO waiting_messages (created_at, org_id, id, event_type, about)
         SELECT created_at, org_id, id, event_type, about FROM heard",
        &orgs,
        &ids,
        &types as &[&str],
        &payloads as &[&str],
        &versions,
        &created,
        &about as &[Option<Uuid>],
    )
    .execute(connection)
    .await?;
    Ok(())
}
