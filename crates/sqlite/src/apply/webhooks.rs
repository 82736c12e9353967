//! Webhook endpoints, and changes of single deliveries.

use kalends_kernel::{OrgId, Version, WebhookId};
use kalends_notifications::{
    CLAIM_LASTS, Change, Deactivation, Delivery, DeliveryState, Message, Record, WebhookEndpoint,
};
use kalends_rows::SealedChangeSet;
use kalends_time::Timestamp;
use sqlx::SqliteConnection;

use crate::{
    error::{Failure, fresh},
    json::{self, Hex},
};

/// Applies the changes of one change-set in their order.
pub(crate) async fn apply(connection: &mut SqliteConnection, sealed: &SealedChangeSet) -> Result<(), Failure> {
    for (change, sealed) in sealed.webhooks() {
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

async fn create(connection: &mut SqliteConnection, endpoint: &WebhookEndpoint, content: &str) -> Result<(), Failure> {
    let (org_id, id, events) = (endpoint.org.uuid(), endpoint.id.uuid(), endpoint.subscription.to_json());
    let (version, created_at) = (endpoint.version.0, endpoint.created_at.as_micros());
    let (updated_at, deactivated) = (endpoint.updated_at.as_micros(), endpoint.deactivated.map(Deactivation::as_str));
    sqlx::query!(
        "insert into webhooks (org_id, id, content, events, active, deactivated, version, created_at, updated_at)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        org_id,
        id,
        content,
        events,
        endpoint.active,
        deactivated,
        version,
        created_at,
        updated_at
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!("insert into webhook_queues (org_id, webhook_id, fence) values (?1, ?2, 0)", org_id, id)
        .execute(connection)
        .await?;
    Ok(())
}

async fn update(
    connection: &mut SqliteConnection,
    endpoint: &WebhookEndpoint,
    content: &str,
    seen: Version,
) -> Result<(), Failure> {
    let (org_id, id, events) = (endpoint.org.uuid(), endpoint.id.uuid(), endpoint.subscription.to_json());
    let (version, updated_at) = (endpoint.version.0, endpoint.updated_at.as_micros());
    let deactivated = endpoint.deactivated.map(Deactivation::as_str);
    let updated = sqlx::query!(
        "update webhooks set content = ?4, events = ?5, active = ?6, deactivated = ?7, version = ?8, updated_at = ?9
         where org_id = ?1 and id = ?2 and version = ?3",
        org_id,
        id,
        seen.0,
        content,
        events,
        endpoint.active,
        deactivated,
        version,
        updated_at
    )
    .execute(connection)
    .await?;
    fresh(updated.rows_affected(), 1)
}

async fn clear_failing(connection: &mut SqliteConnection, endpoint: &WebhookEndpoint) -> Result<(), Failure> {
    let (org_id, id) = (endpoint.org.uuid(), endpoint.id.uuid());
    sqlx::query!("update webhook_queues set failing_since = null where org_id = ?1 and webhook_id = ?2", org_id, id)
        .execute(connection)
        .await?;
    Ok(())
}

async fn delete(
    connection: &mut SqliteConnection,
    org: OrgId,
    webhook: WebhookId,
    seen: Version,
) -> Result<(), Failure> {
    let (org_id, id) = (org.uuid(), webhook.uuid());
    let deleted =
        sqlx::query!("delete from webhooks where org_id = ?1 and id = ?2 and version = ?3", org_id, id, seen.0)
            .execute(&mut *connection)
            .await?;
    fresh(deleted.rows_affected(), 1)?;
    sqlx::query!("delete from webhook_queues where org_id = ?1 and webhook_id = ?2", org_id, id)
        .execute(connection)
        .await?;
    Ok(())
}

/// Stores a message for this endpoint alone, if the endpoint still exists.
async fn add_message(
    connection: &mut SqliteConnection,
    message: &Message,
    webhook: WebhookId,
    payload: &str,
) -> Result<(), Failure> {
    let (org_id, id, webhook_id) = (message.org.uuid(), message.id.uuid(), webhook.uuid());
    let (event_type, created_at) = (message.event_type.as_str(), message.created_at.as_micros());
    let added = sqlx::query!(
        "insert into outbox (org_id, id, event_type, payload, resource_version, created_at)
         select org_id, ?2, ?3, ?4, ?5, ?6 from webhooks where org_id = ?1 and id = ?7",
        org_id,
        id,
        event_type,
        payload,
        message.resource_version.0,
        created_at,
        webhook_id
    )
    .execute(connection)
    .await?;
    fresh(added.rows_affected(), 1)
}

async fn add_delivery(connection: &mut SqliteConnection, delivery: &Delivery) -> Result<(), Failure> {
    let (org_id, webhook_id, id) = (delivery.org.uuid(), delivery.webhook.uuid(), delivery.id.uuid());
    let (message_id, event_type) = (delivery.message.uuid(), delivery.event_type.as_str());
    let (state, created_at) = (delivery.state, delivery.created_at.as_micros());
    let (status, last) = (state.status.as_str(), state.last_attempt_at.map(Timestamp::as_micros));
    let next = state.next_attempt_at.map(Timestamp::as_micros);
    sqlx::query!(
        "insert into webhook_deliveries (org_id, webhook_id, id, message_id, event_type, status, attempts,
            last_attempt_at, next_attempt_at, response_status, created_at)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        org_id,
        webhook_id,
        id,
        message_id,
        event_type,
        status,
        state.attempts,
        last,
        next,
        state.response_status,
        created_at
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn retry(
    connection: &mut SqliteConnection,
    delivery: &Delivery,
    seen: DeliveryState,
    at: Timestamp,
) -> Result<(), Failure> {
    let (org_id, webhook_id, id) = (delivery.org.uuid(), delivery.webhook.uuid(), delivery.id.uuid());
    let (state, at) = (delivery.state, at.as_micros());
    let (status, next) = (state.status.as_str(), state.next_attempt_at.map(Timestamp::as_micros));
    let (seen_status, seen_next) = (seen.status.as_str(), seen.next_attempt_at.map(Timestamp::as_micros));
    let retried = sqlx::query!(
        "update webhook_deliveries set status = ?4, next_attempt_at = ?5
         where org_id = ?1 and webhook_id = ?2 and id = ?3 and status = ?6 and attempts = ?7
            and next_attempt_at is ?8",
        org_id,
        webhook_id,
        id,
        status,
        next,
        seen_status,
        seen.attempts,
        seen_next
    )
    .execute(&mut *connection)
    .await?;
    fresh(retried.rows_affected(), 1)?;
    // Same as `Queue::wake`.
    let woken = sqlx::query!(
        "update webhook_queues
         set due_at = case when claimed_until > ?3 then due_at else min(coalesce(due_at, ?3), ?3) end
         where org_id = ?1 and webhook_id = ?2",
        org_id,
        webhook_id,
        at
    )
    .execute(connection)
    .await?;
    fresh(woken.rows_affected(), 1)
}

/// Records the results as `Queue::renew` and `HealthChange::apply` do.
async fn record(connection: &mut SqliteConnection, results: &Record) -> Result<(), Failure> {
    let (org_id, webhook_id) = (results.claim.org.uuid(), results.claim.webhook.uuid());
    let until = (results.at + CLAIM_LASTS).as_micros();
    let failed_at = results.health.failed_at.map(Timestamp::as_micros);
    let held = sqlx::query!(
        "update or fail webhook_queues set due_at = ?4, claimed_until = ?4,
            failing_since = coalesce(case when ?5 then null else failing_since end, ?6)
         where org_id = ?1 and webhook_id = ?2 and fence = ?3 and claimed_until is not null",
        org_id,
        webhook_id,
        results.claim.fence.0,
        until,
        results.health.resets,
        failed_at
    )
    .execute(&mut *connection)
    .await?;
    fresh(held.rows_affected(), 1)?;
    let rows: Vec<_> = results
        .recorded
        .iter()
        .map(|entry| {
            (
                (Hex(org_id), Hex(webhook_id), Hex(entry.id.uuid())),
                entry.seen.status.as_str(),
                entry.seen.attempts,
                entry.state.status.as_str(),
                entry.state.attempts,
                entry.state.last_attempt_at.map(Timestamp::as_micros),
                entry.state.next_attempt_at.map(Timestamp::as_micros),
                entry.state.response_status,
            )
        })
        .collect();
    let rows = json::rows(&rows)?;
    // The rows hold the whole key, so SQLite looks up these rows instead of scanning all deliveries of the endpoint.
    sqlx::query!(
        "update or fail webhook_deliveries set status = value ->> 3, attempts = value ->> 4,
            last_attempt_at = value ->> 5, next_attempt_at = value ->> 6, response_status = value ->> 7
         from jsonb_each(?1)
         where org_id = unhex(value ->> '$[0][0]') and webhook_id = unhex(value ->> '$[0][1]')
            and webhook_deliveries.id = unhex(value ->> '$[0][2]')
            and status = value ->> 1 and attempts = value ->> 2",
        rows
    )
    .execute(connection)
    .await?;
    Ok(())
}
