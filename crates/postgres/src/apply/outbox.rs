//! The messages of change-sets that an endpoint listens for.

use kalends_rows::SealedChangeSet;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::error::ApplyError;

/// Stores the messages, and returns the organizations among theirs that have a change feed. The same statement does
/// both, since every change with a message asks for both.
pub(crate) async fn apply(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<Vec<Uuid>, ApplyError> {
    let messages: Vec<_> = batch.iter().flat_map(SealedChangeSet::messages).collect();
    if messages.is_empty() {
        return Ok(Vec::new());
    }
    let orgs: Vec<Uuid> = messages.iter().map(|(message, _)| message.org.uuid()).collect();
    let ids: Vec<Uuid> = messages.iter().map(|(message, _)| message.id.uuid()).collect();
    let types: Vec<&str> = messages.iter().map(|(message, _)| message.event_type.as_str()).collect();
    let payloads: Vec<&str> = messages.iter().map(|(_, payload)| *payload).collect();
    let versions: Vec<i64> = messages.iter().map(|(message, _)| message.resource_version.0).collect();
    let about: Vec<Option<Uuid>> =
        messages.iter().map(|(message, _)| message.about.map(|about| about.uuid())).collect();
    let created: Vec<i64> = messages.iter().map(|(message, _)| message.created_at.as_micros()).collect();
    let with_feed = sqlx::query_scalar!(
        "WITH heard AS (
             SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::bigint[], $6::bigint[],
                     $7::uuid[]) AS message (org_id, id, event_type, payload, resource_version, created_at, about)
             WHERE EXISTS (SELECT 1 FROM webhooks w WHERE w.org_id = message.org_id AND w.active)
         ), kept AS (
             INSERT INTO outbox (org_id, id, event_type, payload, resource_version, created_at)
             SELECT org_id, id, event_type, payload, resource_version, created_at FROM heard
         ), waiting AS (
             INSERT INTO waiting_messages (created_at, org_id, id, event_type, about)
             SELECT created_at, org_id, id, event_type, about FROM heard
         )
         SELECT org_id FROM change_feed_heads WHERE org_id = ANY($1::uuid[])",
        &orgs,
        &ids,
        &types as &[&str],
        &payloads as &[&str],
        &versions,
        &created,
        &about as &[Option<Uuid>],
    )
    .fetch_all(connection)
    .await?;
    Ok(with_feed)
}
