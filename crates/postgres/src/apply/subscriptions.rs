//! Subscriptions, and the imported items that are known.

use kalends_feeds::sync::{CLAIM_LASTS, ItemKey, KnownItem, LEFT_KEPT, SyncState};
use kalends_feeds::{Change, HostHash, Origin, Remains, Subscription, SyncClaim};
use kalends_kernel::{OrgId, SubscriptionId, Version};
use kalends_rows::SealedChangeSet;
use kalends_time::Timestamp;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::counts::signed;
use crate::error::{ApplyError, all_written};

/// Writes the rows in the order of the changes.
pub(crate) async fn apply(connection: &mut PgConnection, batch: &[SealedChangeSet]) -> Result<(), ApplyError> {
    for (change, sealed) in batch.iter().flat_map(SealedChangeSet::feeds) {
        match change {
            Change::CreateSubscription(subscription) => create(connection, subscription, sealed).await?,
            Change::UpdateSubscription { subscription, seen, moved, due } => {
                update(connection, subscription, sealed, *seen, (*moved, *due)).await?;
            }
            Change::DeleteSubscription { org, subscription, seen, remains, at } => {
                delete(connection, (*org, *subscription), *seen, (*remains, *at)).await?;
            }
            Change::AdoptRemains { org, subscription } => adopt(connection, *org, *subscription).await?,
            Change::RemoveRemains { org, subscription, at } => {
                remove_remains(connection, *org, *subscription, *at).await?;
            }
            Change::ForgetSubscription { claim } => forget_subscription(connection, *claim).await?,
            Change::AskSync { org, subscription, at } => ask(connection, *org, *subscription, *at).await?,
            Change::RenewClaim { claim, at, reserved } => renew(connection, *claim, (*at, *reserved)).await?,
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
             failures, seen, version, created_at, updated_at, origin_id, place, busy_only)
         SELECT c.org_id, $2, c.agent_id, c.id, $5, $6, FALSE, $9, 0, 0, $7, $8, $9, $10, $11, $12, $13
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
        subscription.origin.uuid(),
        subscription.place,
        subscription.busy_only,
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
    (moved, due): (bool, Option<Timestamp>),
) -> Result<(), ApplyError> {
    let HostHash(host) = subscription.host();
    // A worker that syncs the previous address, or with the previous settings, loses its claim.
    let updated = sqlx::query!(
        "UPDATE ical_subscriptions SET content = $4, host = $5, paused = $6, version = $7, updated_at = $8,
             due_at = CASE
                 WHEN $9 OR claimed_until IS NULL THEN CASE WHEN $6 THEN NULL ELSE coalesce($10, due_at) END
                 ELSE due_at END,
             fence = CASE WHEN $9 THEN fence + 1 ELSE fence END,
             claimed_until = CASE WHEN $9 THEN NULL ELSE claimed_until END,
             seen = CASE WHEN $9 THEN $11 ELSE seen END,
             last_error = CASE WHEN $9 THEN NULL ELSE last_error END,
             failures = CASE WHEN $9 THEN 0 ELSE failures END,
             place = CASE WHEN $9 THEN $12 ELSE place END,
             busy_only = $13
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
        due.map(Timestamp::as_micros),
        subscription.state.memory.to_json(),
        subscription.place,
        subscription.busy_only,
    )
    .execute(connection)
    .await?;
    all_written(updated.rows_affected(), 1)
}

async fn delete(
    connection: &mut PgConnection,
    (org, subscription): (OrgId, SubscriptionId),
    Version(seen): Version,
    (remains, at): (Remains, Timestamp),
) -> Result<(), ApplyError> {
    let (org_id, id) = (org.uuid(), subscription.uuid());
    // When a worker looks at the subscription again.
    let due = match remains {
        Remains::Kept => at + LEFT_KEPT,
        Remains::Removed => at,
    };
    let deleted = sqlx::query!(
        "UPDATE ical_subscriptions
         SET remains = $4, due_at = $5, paused = FALSE, asked_at = NULL, claimed_until = NULL, fence = fence + 1,
             version = version + 1
         WHERE org_id = $1 AND id = $2 AND version = $3 AND remains IS NULL",
        org_id,
        id,
        seen,
        remains.as_str(),
        due.as_micros(),
    )
    .execute(&mut *connection)
    .await?;
    all_written(deleted.rows_affected(), 1)?;
    sqlx::query!(
        "DELETE FROM ical_subscriptions s
         WHERE s.org_id = $1 AND s.id = $2 AND NOT EXISTS (
             SELECT 1 FROM imported_items i WHERE i.org_id = $1 AND i.origin_id = coalesce(s.origin_id, s.id)
         )",
        org_id,
        id,
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn adopt(connection: &mut PgConnection, org: OrgId, subscription: SubscriptionId) -> Result<(), ApplyError> {
    let adopted = sqlx::query!(
        "DELETE FROM ical_subscriptions WHERE org_id = $1 AND id = $2 AND remains = 'kept'",
        org.uuid(),
        subscription.uuid(),
    )
    .execute(connection)
    .await?;
    all_written(adopted.rows_affected(), 1)
}

async fn remove_remains(
    connection: &mut PgConnection,
    org: OrgId,
    subscription: SubscriptionId,
    at: Timestamp,
) -> Result<(), ApplyError> {
    let removed = sqlx::query!(
        "UPDATE ical_subscriptions SET remains = 'removed', due_at = $3, claimed_until = NULL, fence = fence + 1
         WHERE org_id = $1 AND id = $2 AND remains = 'kept'",
        org.uuid(),
        subscription.uuid(),
        at.as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(removed.rows_affected(), 1)
}

async fn forget_subscription(connection: &mut PgConnection, claim: SyncClaim) -> Result<(), ApplyError> {
    let (org_id, id) = (claim.org.uuid(), claim.subscription.uuid());
    sqlx::query!(
        "DELETE FROM imported_items WHERE org_id = $1 AND origin_id = (
             SELECT coalesce(origin_id, id) FROM ical_subscriptions WHERE org_id = $1 AND id = $2
         )",
        org_id,
        id,
    )
    .execute(&mut *connection)
    .await?;
    let forgotten = sqlx::query!(
        "DELETE FROM ical_subscriptions
         WHERE org_id = $1 AND id = $2 AND fence = $3 AND claimed_until IS NOT NULL AND remains IS NOT NULL",
        org_id,
        id,
        claim.fence.0,
    )
    .execute(connection)
    .await?;
    all_written(forgotten.rows_affected(), 1)
}

async fn ask(
    connection: &mut PgConnection,
    org: OrgId,
    subscription: SubscriptionId,
    at: Timestamp,
) -> Result<(), ApplyError> {
    let updated = sqlx::query!(
        "UPDATE ical_subscriptions
         SET asked_at = $3, due_at = CASE WHEN claimed_until > $3 THEN due_at ELSE $3 END
         WHERE org_id = $1 AND id = $2 AND remains IS NULL",
        org.uuid(),
        subscription.uuid(),
        at.as_micros(),
    )
    .execute(connection)
    .await?;
    all_written(updated.rows_affected(), 1)
}

async fn renew(
    connection: &mut PgConnection,
    claim: SyncClaim,
    (at, reserved): (Timestamp, u64),
) -> Result<(), ApplyError> {
    let renewed = sqlx::query!(
        "UPDATE ical_subscriptions SET due_at = $4, claimed_until = $4, reserved = $5
         WHERE org_id = $1 AND id = $2 AND fence = $3 AND claimed_until IS NOT NULL",
        claim.org.uuid(),
        claim.subscription.uuid(),
        claim.fence.0,
        (at + CLAIM_LASTS).as_micros(),
        signed(reserved),
    )
    .execute(connection)
    .await?;
    all_written(renewed.rows_affected(), 1)
}

async fn end(
    connection: &mut PgConnection,
    claim: SyncClaim,
    state: &SyncState,
    (next, at): (Timestamp, Timestamp),
) -> Result<(), ApplyError> {
    let ended = sqlx::query!(
        "UPDATE ical_subscriptions
         SET claimed_until = NULL, asked_at = NULL, last_synced_at = $4, last_error = $5, failures = $6, seen = $7,
             due_at = CASE WHEN asked_at IS NOT NULL THEN $9::bigint WHEN paused THEN NULL ELSE $8::bigint END
         WHERE org_id = $1 AND id = $2 AND fence = $3 AND claimed_until IS NOT NULL",
        claim.org.uuid(),
        claim.subscription.uuid(),
        claim.fence.0,
        state.last_synced_at.map(Timestamp::as_micros),
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
