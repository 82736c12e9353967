//! Webhook endpoints, and changes of single deliveries.
//!
//! These are rare and few, so each is a statement of its own. An endpoint's row is locked before its queue, and both
//! before any counter.

use kalends_kernel::{OrgId, Version, WebhookId};
use kalends_notifications::{
    CLAIM_LASTS, Change, Deactivation, Delivery, DeliveryState, Message, Record, WebhookEndpoint,
};
use kalends_rows::SealedChangeSet;
use kalends_time::Timestamp;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::error::{ApplyError, all_written};

/// Writes the rows in the order of the changes.
pub(crate) async fn apply(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    for (change, sealed) in batch.iter().flat_map(SealedChangeSet::webhooks) {
        match change {
            Change::CreateEndpoint(endpoint) => create(connection, endpoint, sealed).await?,
            Change::UpdateEndpoint { endpoint, seen, heals } => {
                update(connection, endpoint, sealed, *seen).await?;
                if *heals {
                    clear_failing(connection, endpoint).await?;
                }
            }
            Change::DeleteEndpoint { org, webhook, seen } => delete(connection, *org, *webhook, *seen).await?,
            Change::AddDelivery { message, delivery } => {
                add_message(connection, message, delivery.webhook, sealed).await?;
                add_delivery(connection, delivery).await?;
            }
            Change::RetryDelivery { delivery, seen, at } => retry(connection, delivery, *seen, *at).await?,
            Change::Record(results) => record(connection, results).await?,
        }
    }
    Ok(())
}

async fn create(connection: &mut PgConnection, endpoint: &WebhookEndpoint, content: &str) -> Result<(), ApplyError> {
    let (org_id, id) = (endpoint.org.uuid(), endpoint.id.uuid());
    sqlx::query!(
        "INSERT INTO webhooks (org_id, id, content, events, active, deactivated, version, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        org_id,
        id,
        content,
        endpoint.subscription.to_json(),
        endpoint.active,
        endpoint.deactivated.map(Deactivation::as_str),
        endpoint.version.0,
        endpoint.created_at.as_micros(),
        endpoint.updated_at.as_micros(),
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!("INSERT INTO webhook_queues (org_id, webhook_id, fence) VALUES ($1, $2, 0)", org_id, id)
        .execute(connection)
        .await?;
    Ok(())
}

async fn update(
    connection: &mut PgConnection,
    endpoint: &WebhookEndpoint,
    content: &str,
    Version(seen): Version,
) -> Result<(), ApplyError> {
    let written = sqlx::query!(
        "UPDATE webhooks
         SET content = $4, events = $5, active = $6, deactivated = $7, version = $8, updated_at = $9
         WHERE org_id = $1 AND id = $2 AND version = $3",
        endpoint.org.uuid(),
        endpoint.id.uuid(),
        seen,
        content,
        endpoint.subscription.to_json(),
        endpoint.active,
        endpoint.deactivated.map(Deactivation::as_str),
        endpoint.version.0,
        endpoint.updated_at.as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(written.rows_affected(), 1)
}

async fn clear_failing(connection: &mut PgConnection, endpoint: &WebhookEndpoint) -> Result<(), ApplyError> {
    sqlx::query!(
        "UPDATE webhook_queues SET failing_since = NULL WHERE org_id = $1 AND webhook_id = $2",
        endpoint.org.uuid(),
        endpoint.id.uuid(),
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn delete(
    connection: &mut PgConnection,
    org: OrgId,
    webhook: WebhookId,
    Version(seen): Version,
) -> Result<(), ApplyError> {
    let (org_id, id) = (org.uuid(), webhook.uuid());
    let deleted = sqlx::query!("DELETE FROM webhooks WHERE org_id = $1 AND id = $2 AND version = $3", org_id, id, seen)
        .execute(&mut *connection)
        .await?;
    all_written(deleted.rows_affected(), 1)?;
    sqlx::query!("DELETE FROM webhook_queues WHERE org_id = $1 AND webhook_id = $2", org_id, id)
        .execute(connection)
        .await?;
    Ok(())
}

/// Stores a message for this endpoint alone, if the endpoint still exists.
async fn add_message(
    connection: &mut PgConnection,
    message: &Message,
    webhook: WebhookId,
    payload: &str,
) -> Result<(), ApplyError> {
    let added = sqlx::query!(
        "INSERT INTO outbox (org_id, id, event_type, payload, resource_version, created_at)
         SELECT org_id, $2, $3, $4, $5, $6 FROM webhooks WHERE org_id = $1 AND id = $7",
        message.org.uuid(),
        message.id.uuid(),
        message.event_type.as_str(),
        payload,
        message.resource_version.0,
        message.created_at.as_micros(),
        webhook.uuid(),
    )
    .execute(connection)
    .await?;
    all_written(added.rows_affected(), 1)
}

async fn add_delivery(connection: &mut PgConnection, delivery: &Delivery) -> Result<(), ApplyError> {
    let state = delivery.state;
    sqlx::query!(
        "INSERT INTO webhook_deliveries (org_id, webhook_id, id, message_id, event_type, status, attempts,
             last_attempt_at, next_attempt_at, response_status, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        delivery.org.uuid(),
        delivery.webhook.uuid(),
        delivery.id.uuid(),
        delivery.message.uuid(),
        delivery.event_type.as_str(),
        state.status.as_str(),
        attempts(state),
        state.last_attempt_at.map(Timestamp::as_micros),
        state.next_attempt_at.map(Timestamp::as_micros),
        state.response_status.map(i32::from),
        delivery.created_at.as_micros(),
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn retry(
    connection: &mut PgConnection,
    delivery: &Delivery,
    seen: DeliveryState,
    at: Timestamp,
) -> Result<(), ApplyError> {
    let (org_id, webhook_id) = (delivery.org.uuid(), delivery.webhook.uuid());
    // The queue is locked first, as it is when messages are addressed. Same as Queue::wake.
    let woken = sqlx::query!(
        "UPDATE webhook_queues
         SET due_at = CASE WHEN claimed_until > $3 THEN due_at ELSE LEAST(due_at, $3) END
         WHERE org_id = $1 AND webhook_id = $2",
        org_id,
        webhook_id,
        at.as_micros(),
    )
    .execute(&mut *connection)
    .await?;
    all_written(woken.rows_affected(), 1)?;
    let retried = sqlx::query!(
        "UPDATE webhook_deliveries SET status = $4, next_attempt_at = $5
         WHERE org_id = $1 AND webhook_id = $2 AND id = $3 AND status = $6 AND attempts = $7
             AND next_attempt_at IS NOT DISTINCT FROM $8",
        org_id,
        webhook_id,
        delivery.id.uuid(),
        delivery.state.status.as_str(),
        delivery.state.next_attempt_at.map(Timestamp::as_micros),
        seen.status.as_str(),
        attempts(seen),
        seen.next_attempt_at.map(Timestamp::as_micros),
    )
    .execute(connection)
    .await?;
    all_written(retried.rows_affected(), 1)
}

/// The number of attempts, in the database's type.
pub(crate) fn attempts(state: DeliveryState) -> i32 {
    i32::try_from(state.attempts).unwrap_or(i32::MAX)
}

/// Records the results as `Queue::renew` and `HealthChange::apply` do, in one statement.
async fn record(connection: &mut PgConnection, results: &Record) -> Result<(), ApplyError> {
    let ids: Vec<Uuid> = results.recorded.iter().map(|entry| entry.id.uuid()).collect();
    let seen_statuses: Vec<&str> = results.recorded.iter().map(|entry| entry.seen.status.as_str()).collect();
    let seen_attempts: Vec<i32> = results.recorded.iter().map(|entry| attempts(entry.seen)).collect();
    let statuses: Vec<&str> = results.recorded.iter().map(|entry| entry.state.status.as_str()).collect();
    let made: Vec<i32> = results.recorded.iter().map(|entry| attempts(entry.state)).collect();
    let micros = |at: Option<Timestamp>| at.map(Timestamp::as_micros);
    let last: Vec<Option<i64>> = results.recorded.iter().map(|entry| micros(entry.state.last_attempt_at)).collect();
    let next: Vec<Option<i64>> = results.recorded.iter().map(|entry| micros(entry.state.next_attempt_at)).collect();
    let answers: Vec<Option<i32>> =
        results.recorded.iter().map(|entry| entry.state.response_status.map(i32::from)).collect();
    let orgs = vec![results.claim.org.uuid(); ids.len()];
    let webhooks = vec![results.claim.webhook.uuid(); ids.len()];
    // The rows hold the whole key, so Postgres looks up these rows instead of scanning all deliveries of the
    // endpoint.
    let held = sqlx::query_scalar!(
        r#"WITH held AS (
             UPDATE webhook_queues
             SET due_at = $4, claimed_until = $4,
                 failing_since = coalesce(CASE WHEN $5 THEN NULL ELSE failing_since END, $6)
             WHERE org_id = $1 AND webhook_id = $2 AND fence = $3 AND claimed_until IS NOT NULL
             RETURNING fence
         ), done AS (
             UPDATE webhook_deliveries d
             SET status = row.status, attempts = row.attempts, last_attempt_at = row.last_at,
                 next_attempt_at = row.next_at, response_status = row.answer
             FROM held, unnest($7::uuid[], $8::text[], $9::integer[], $10::text[], $11::integer[],
                     $12::bigint[], $13::bigint[], $14::integer[], $15::uuid[], $16::uuid[])
                 AS row (id, seen_status, seen_attempts, status, attempts, last_at, next_at, answer, org_id,
                     webhook_id)
             WHERE d.org_id = row.org_id AND d.webhook_id = row.webhook_id AND d.id = row.id
                 AND d.status = row.seen_status AND d.attempts = row.seen_attempts
             RETURNING d.id
         )
         SELECT count(*) AS "held!" FROM held"#,
        results.claim.org.uuid(),
        results.claim.webhook.uuid(),
        results.claim.fence.0,
        (results.at + CLAIM_LASTS).as_micros(),
        results.health.resets,
        results.health.failed_at.map(Timestamp::as_micros),
        &ids,
        &seen_statuses as &[&str],
        &seen_attempts,
        &statuses as &[&str],
        &made,
        &last as &[Option<i64>],
        &next as &[Option<i64>],
        &answers as &[Option<i32>],
        &orgs,
        &webhooks,
    )
    .fetch_one(connection)
    .await?;
    if held > 0 { Ok(()) } else { Err(ApplyError::STALE) }
}
