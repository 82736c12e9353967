//! Subscriptions, and what is known of imported items.

use kalends_feeds::sync::{CLAIM_LASTS, ItemKey, KnownItem, Memory, SyncState};
use kalends_feeds::{Change, HostHash, Origin, Subscription, SyncClaim};
use kalends_kernel::{Instant, OrgId, SubscriptionId, Version};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::error::{ApplyError, all_written};
use crate::sealed::SealedChangeSet;

/// Writes the rows in the order of the changes.
pub(crate) async fn apply(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    for (change, sealed) in batch.iter().flat_map(SealedChangeSet::feeds) {
        match change {
            Change::CreateSubscription(subscription) => create(connection, subscription, sealed).await?,
            Change::UpdateSubscription { subscription, seen, moved, due } => {
                update(connection, subscription, sealed, *seen, (*moved, *due)).await?;
            }
            Change::DeleteSubscription { org, subscription, seen } => {
                delete(connection, *org, *subscription, *seen).await?;
            }
            Change::AskSync { org, subscription, at } => ask(connection, *org, *subscription, *at).await?,
            Change::RenewClaim { claim, at } => renew(connection, *claim, *at).await?,
            Change::EndSync { claim, state, next, at } => end(connection, *claim, state, (*next, *at)).await?,
            Change::KeepItems { org, origin, items } => keep(connection, *org, *origin, items).await?,
            Change::ForgetItems { org, origin, keys } => forget(connection, *org, *origin, keys).await?,
        }
    }
    Ok(())
}

async fn create(connection: &mut PgConnection, subscription: &Subscription, content: &str) -> Result<(), ApplyError> {
    let HostHash(host) = subscription.host();
    let created = sqlx::query!(
        "INSERT INTO ical_subscriptions (org_id, id, agent_id, calendar_id, content, host, paused, due_at, fence,
             failures, seen, version, created_at, updated_at)
         SELECT c.org_id, $2, c.agent_id, c.id, $5, $6, FALSE, $9, 0, 0, $7, $8, $9, $10
         FROM calendars c
         JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
         WHERE c.org_id = $1 AND c.id = $4 AND c.agent_id = $3 AND c.deleted_at IS NULL
             AND a.status <> 'decommissioned'",
        subscription.org.uuid(),
        subscription.id.uuid(),
        subscription.agent.uuid(),
        subscription.calendar.uuid(),
        content,
        host.as_slice(),
        subscription.state.memory.to_json(),
        subscription.version.0,
        subscription.created_at.as_micros(),
        subscription.updated_at.as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(created.rows_affected(), 1)
}

async fn update(
    connection: &mut PgConnection,
    subscription: &Subscription,
    content: &str,
    Version(seen): Version,
    (moved, due): (bool, Option<Instant>),
) -> Result<(), ApplyError> {
    let HostHash(host) = subscription.host();
    // Whoever syncs the address before has lost the claim.
    let updated = sqlx::query!(
        "UPDATE ical_subscriptions SET content = $4, host = $5, paused = $6, version = $7, updated_at = $8,
             due_at = CASE
                 WHEN $9 OR claimed_until IS NULL THEN CASE WHEN $6 THEN NULL ELSE coalesce($10, due_at) END
                 ELSE due_at END,
             fence = CASE WHEN $9 THEN fence + 1 ELSE fence END,
             claimed_until = CASE WHEN $9 THEN NULL ELSE claimed_until END,
             seen = CASE WHEN $9 THEN $11 ELSE seen END,
             last_error = CASE WHEN $9 THEN NULL ELSE last_error END,
             failures = CASE WHEN $9 THEN 0 ELSE failures END
         WHERE org_id = $1 AND id = $2 AND version = $3",
        subscription.org.uuid(),
        subscription.id.uuid(),
        seen,
        content,
        host.as_slice(),
        subscription.paused,
        subscription.version.0,
        subscription.updated_at.as_micros(),
        moved,
        due.map(Instant::as_micros),
        Memory::default().to_json(),
    )
    .execute(connection)
    .await?;
    all_written(updated.rows_affected(), 1)
}

async fn delete(
    connection: &mut PgConnection,
    org: OrgId,
    subscription: SubscriptionId,
    Version(seen): Version,
) -> Result<(), ApplyError> {
    let (org_id, id) = (org.uuid(), subscription.uuid());
    let deleted =
        sqlx::query!("DELETE FROM ical_subscriptions WHERE org_id = $1 AND id = $2 AND version = $3", org_id, id, seen)
            .execute(&mut *connection)
            .await?;
    all_written(deleted.rows_affected(), 1)?;
    sqlx::query!("DELETE FROM imported_items WHERE org_id = $1 AND origin_id = $2", org_id, id)
        .execute(connection)
        .await?;
    Ok(())
}

async fn ask(
    connection: &mut PgConnection,
    org: OrgId,
    subscription: SubscriptionId,
    at: Instant,
) -> Result<(), ApplyError> {
    let asked = sqlx::query!(
        "UPDATE ical_subscriptions
         SET asked_at = $3, due_at = CASE WHEN claimed_until > $3 THEN due_at ELSE $3 END
         WHERE org_id = $1 AND id = $2",
        org.uuid(),
        subscription.uuid(),
        at.as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(asked.rows_affected(), 1)
}

async fn renew(connection: &mut PgConnection, claim: SyncClaim, at: Instant) -> Result<(), ApplyError> {
    let renewed = sqlx::query!(
        "UPDATE ical_subscriptions SET due_at = $4, claimed_until = $4
         WHERE org_id = $1 AND id = $2 AND fence = $3 AND claimed_until IS NOT NULL",
        claim.org.uuid(),
        claim.subscription.uuid(),
        claim.fence.0,
        (at + CLAIM_LASTS).as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(renewed.rows_affected(), 1)
}

async fn end(
    connection: &mut PgConnection,
    claim: SyncClaim,
    state: &SyncState,
    (next, at): (Instant, Instant),
) -> Result<(), ApplyError> {
    let ended = sqlx::query!(
        "UPDATE ical_subscriptions
         SET claimed_until = NULL, asked_at = NULL, last_synced_at = $4, last_error = $5, failures = $6, seen = $7,
             due_at = CASE WHEN asked_at IS NOT NULL THEN $9::bigint WHEN paused THEN NULL ELSE $8::bigint END
         WHERE org_id = $1 AND id = $2 AND fence = $3 AND claimed_until IS NOT NULL",
        claim.org.uuid(),
        claim.subscription.uuid(),
        claim.fence.0,
        state.last_synced_at.map(Instant::as_micros),
        state.last_error,
        i64::from(state.failures),
        state.memory.to_json(),
        next.as_micros(),
        at.as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(ended.rows_affected(), 1)
}

async fn keep(
    connection: &mut PgConnection,
    org: OrgId,
    origin: Origin,
    items: &[KnownItem],
) -> Result<(), ApplyError> {
    let keys: Vec<&[u8]> = items.iter().map(|item| item.key.0.as_slice()).collect();
    let events: Vec<Uuid> = items.iter().map(|item| item.event.uuid()).collect();
    let fingerprints: Vec<&[u8]> = items.iter().map(|item| item.fingerprint.0.as_slice()).collect();
    sqlx::query!(
        "INSERT INTO imported_items (org_id, origin_id, key, event_id, fingerprint)
         SELECT $1, $2, row.* FROM unnest($3::bytea[], $4::uuid[], $5::bytea[]) AS row (key, event_id, fingerprint)
         ON CONFLICT (org_id, origin_id, key)
             DO UPDATE SET event_id = excluded.event_id, fingerprint = excluded.fingerprint",
        org.uuid(),
        origin.uuid(),
        &keys as &[&[u8]],
        &events,
        &fingerprints as &[&[u8]],
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn forget(connection: &mut PgConnection, org: OrgId, origin: Origin, keys: &[ItemKey]) -> Result<(), ApplyError> {
    let keys: Vec<&[u8]> = keys.iter().map(|key| key.0.as_slice()).collect();
    sqlx::query!(
        "DELETE FROM imported_items WHERE org_id = $1 AND origin_id = $2 AND key = ANY($3::bytea[])",
        org.uuid(),
        origin.uuid(),
        &keys as &[&[u8]],
    )
    .execute(connection)
    .await?;
    Ok(())
}
