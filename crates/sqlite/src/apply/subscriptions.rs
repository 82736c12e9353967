//! Subscriptions, and the imported items that are known.

use kalends_app::ports::CommitError;
use kalends_feeds::{
    Change, HostHash, Origin, Remains, Subscription, SyncClaim,
    sync::{CLAIM_LASTS, ItemKey, KnownItem, LEFT_KEPT, SyncState},
};
use kalends_kernel::{OrgId, SubscriptionId, Version};
use kalends_rows::SealedChangeSet;
use kalends_time::Timestamp;
use sqlx::SqliteConnection;
use uuid::Uuid;

use crate::{
    error::{Failure, fresh, is_duplicate_of},
    json::{self, Hex},
};

/// Applies the changes of one change-set in their order.
pub(crate) async fn apply(connection: &mut SqliteConnection, sealed: &SealedChangeSet) -> Result<(), Failure> {
    for (change, sealed) in sealed.feeds() {
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

async fn create(connection: &mut SqliteConnection, subscription: &Subscription, content: &str) -> Result<(), Failure> {
    let (org_id, id) = (subscription.org.uuid(), subscription.id.uuid());
    let (agent_id, calendar_id) = (subscription.agent.uuid(), subscription.calendar.uuid());
    let origin_id = subscription.origin.uuid();
    let HostHash(host) = subscription.host();
    let (host, seen) = (host.as_slice(), subscription.state.memory.to_json());
    let (created_at, updated_at) = (subscription.created_at.as_micros(), subscription.updated_at.as_micros());
    let created = sqlx::query!(
        "insert into ical_subscriptions (org_id, id, agent_id, calendar_id, content, host, paused, due_at, fence,
            failures, seen, version, created_at, updated_at, origin_id, place, busy_only)
         select ?1, ?2, ?3, ?4, ?5, ?6, false, ?9, 0, 0, ?7, ?8, ?9, ?10, ?11, ?12, ?13
         from calendars c join agents a on a.org_id = c.org_id and a.id = c.agent_id
         where c.org_id = ?1 and c.id = ?4 and c.agent_id = ?3 and c.deleted_at is null
            and a.status <> 'decommissioned'",
        org_id,
        id,
        agent_id,
        calendar_id,
        content,
        host,
        seen,
        subscription.version.0,
        created_at,
        updated_at,
        origin_id,
        subscription.place,
        subscription.busy_only
    )
    .execute(connection)
    .await
    .map_err(place_taken)?;
    fresh(created.rows_affected(), 1)
}

async fn update(
    connection: &mut SqliteConnection,
    subscription: &Subscription,
    content: &str,
    seen: Version,
    (moved, due): (bool, Option<Timestamp>),
) -> Result<(), Failure> {
    let (org_id, id) = (subscription.org.uuid(), subscription.id.uuid());
    let HostHash(host) = subscription.host();
    let (host, memory) = (host.as_slice(), subscription.state.memory.to_json());
    let (due, updated_at) = (due.map(Timestamp::as_micros), subscription.updated_at.as_micros());
    // A worker that syncs the previous address, or with the previous settings, loses its claim.
    let updated = sqlx::query!(
        "update ical_subscriptions set content = ?4, host = ?5, paused = ?6, version = ?7, updated_at = ?8,
            due_at = case
                when ?9 or claimed_until is null then iif(?6, null, coalesce(?10, due_at))
                else due_at end,
            fence = fence + ?9,
            claimed_until = iif(?9, null, claimed_until),
            seen = iif(?9, ?11, seen),
            last_error = iif(?9, null, last_error),
            failures = iif(?9, 0, failures),
            place = iif(?9, ?12, place),
            busy_only = ?13
         where org_id = ?1 and id = ?2 and version = ?3",
        org_id,
        id,
        seen.0,
        content,
        host,
        subscription.paused,
        subscription.version.0,
        updated_at,
        moved,
        due,
        memory,
        subscription.place,
        subscription.busy_only
    )
    .execute(connection)
    .await
    .map_err(place_taken)?;
    fresh(updated.rows_affected(), 1)
}

/// Translates a duplicate place to "stale": the decision did not see the other subscription.
fn place_taken(error: sqlx::Error) -> Failure {
    let columns = "ical_subscriptions.org_id, ical_subscriptions.calendar_id, ical_subscriptions.place";
    if is_duplicate_of(&error, columns) { CommitError::Stale.into() } else { error.into() }
}

async fn delete(
    connection: &mut SqliteConnection,
    (org, subscription): (OrgId, SubscriptionId),
    seen: Version,
    (remains, at): (Remains, Timestamp),
) -> Result<(), Failure> {
    let (org_id, id, remains, due) = (org.uuid(), subscription.uuid(), remains.as_str(), due_again(remains, at));
    let deleted = sqlx::query!(
        "update ical_subscriptions set remains = ?4, due_at = ?5, paused = false, asked_at = null, claimed_until = null,
            fence = fence + 1, version = version + 1
         where org_id = ?1 and id = ?2 and version = ?3 and remains is null",
        org_id,
        id,
        seen.0,
        remains,
        due
    )
    .execute(&mut *connection)
    .await?;
    fresh(deleted.rows_affected(), 1)?;
    sqlx::query!(
        "delete from ical_subscriptions
         where org_id = ?1 and id = ?2 and not exists (
            select 1 from imported_items i
            where i.org_id = ?1 and i.origin_id = coalesce(ical_subscriptions.origin_id, ical_subscriptions.id))",
        org_id,
        id
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// When a worker looks at a deleted subscription again.
fn due_again(remains: Remains, at: Timestamp) -> i64 {
    match remains {
        Remains::Kept => (at + LEFT_KEPT).as_micros(),
        Remains::Removed => at.as_micros(),
    }
}

async fn adopt(connection: &mut SqliteConnection, org: OrgId, subscription: SubscriptionId) -> Result<(), Failure> {
    let (org_id, id) = (org.uuid(), subscription.uuid());
    let adopted =
        sqlx::query!("delete from ical_subscriptions where org_id = ?1 and id = ?2 and remains = 'kept'", org_id, id)
            .execute(connection)
            .await?;
    fresh(adopted.rows_affected(), 1)
}

async fn remove_remains(
    connection: &mut SqliteConnection,
    org: OrgId,
    subscription: SubscriptionId,
    at: Timestamp,
) -> Result<(), Failure> {
    let (org_id, id, due) = (org.uuid(), subscription.uuid(), at.as_micros());
    let removed = sqlx::query!(
        "update ical_subscriptions set remains = 'removed', due_at = ?3, claimed_until = null, fence = fence + 1
         where org_id = ?1 and id = ?2 and remains = 'kept'",
        org_id,
        id,
        due
    )
    .execute(connection)
    .await?;
    fresh(removed.rows_affected(), 1)
}

async fn forget_subscription(connection: &mut SqliteConnection, claim: SyncClaim) -> Result<(), Failure> {
    let (org_id, id) = (claim.org.uuid(), claim.subscription.uuid());
    sqlx::query!(
        "delete from imported_items where org_id = ?1 and origin_id = (
            select coalesce(origin_id, id) from ical_subscriptions where org_id = ?1 and id = ?2)",
        org_id,
        id
    )
    .execute(&mut *connection)
    .await?;
    let forgotten = sqlx::query!(
        "delete from ical_subscriptions
         where org_id = ?1 and id = ?2 and fence = ?3 and claimed_until is not null and remains is not null",
        org_id,
        id,
        claim.fence.0
    )
    .execute(connection)
    .await?;
    fresh(forgotten.rows_affected(), 1)
}

async fn ask(
    connection: &mut SqliteConnection,
    org: OrgId,
    subscription: SubscriptionId,
    at: Timestamp,
) -> Result<(), Failure> {
    let (org_id, id, at) = (org.uuid(), subscription.uuid(), at.as_micros());
    let updated = sqlx::query!(
        "update ical_subscriptions set asked_at = ?3, due_at = iif(claimed_until > ?3, due_at, ?3)
         where org_id = ?1 and id = ?2 and remains is null",
        org_id,
        id,
        at
    )
    .execute(connection)
    .await?;
    fresh(updated.rows_affected(), 1)
}

async fn renew(
    connection: &mut SqliteConnection,
    claim: SyncClaim,
    (at, reserved): (Timestamp, u64),
) -> Result<(), Failure> {
    let (org_id, id, until) = (claim.org.uuid(), claim.subscription.uuid(), (at + CLAIM_LASTS).as_micros());
    let reserved = i64::try_from(reserved).unwrap_or(i64::MAX);
    let renewed = sqlx::query!(
        "update ical_subscriptions set due_at = ?4, claimed_until = ?4, reserved = ?5
         where org_id = ?1 and id = ?2 and fence = ?3 and claimed_until is not null",
        org_id,
        id,
        claim.fence.0,
        until,
        reserved
    )
    .execute(connection)
    .await?;
    fresh(renewed.rows_affected(), 1)
}

async fn end(
    connection: &mut SqliteConnection,
    claim: SyncClaim,
    state: &SyncState,
    (next, at): (Timestamp, Timestamp),
) -> Result<(), Failure> {
    let (org_id, id) = (claim.org.uuid(), claim.subscription.uuid());
    let (next, at, synced) = (next.as_micros(), at.as_micros(), state.last_synced_at.map(Timestamp::as_micros));
    let seen = state.memory.to_json();
    let ended = sqlx::query!(
        "update ical_subscriptions set claimed_until = null, asked_at = null, last_synced_at = ?4, last_error = ?5,
            failures = ?6, seen = ?7,
            due_at = case when asked_at is not null then ?9 when paused then null else ?8 end
         where org_id = ?1 and id = ?2 and fence = ?3 and claimed_until is not null",
        org_id,
        id,
        claim.fence.0,
        synced,
        state.last_error,
        state.failures,
        seen,
        next,
        at
    )
    .execute(connection)
    .await?;
    fresh(ended.rows_affected(), 1)
}

fn hex(bytes: [u8; 16]) -> Hex {
    Hex(Uuid::from_bytes(bytes))
}

async fn keep(
    connection: &mut SqliteConnection,
    org: OrgId,
    origin: Origin,
    items: &[KnownItem],
) -> Result<(), Failure> {
    let (org_id, origin_id) = (org.uuid(), origin.uuid());
    let rows: Vec<_> =
        items.iter().map(|item| (hex(item.key.0), Hex(item.event.uuid()), hex(item.fingerprint.0))).collect();
    let rows = json::rows(&rows)?;
    sqlx::query!(
        "insert into imported_items (org_id, origin_id, key, event_id, fingerprint)
         select ?1, ?2, unhex(value ->> 0), unhex(value ->> 1), unhex(value ->> 2) from jsonb_each(?3) where true
         on conflict (org_id, origin_id, key)
            do update set event_id = excluded.event_id, fingerprint = excluded.fingerprint",
        org_id,
        origin_id,
        rows
    )
    .execute(connection)
    .await?;
    Ok(())
}

async fn forget(
    connection: &mut SqliteConnection,
    org: OrgId,
    origin: Origin,
    keys: &[ItemKey],
) -> Result<(), Failure> {
    let (org_id, origin_id) = (org.uuid(), origin.uuid());
    let rows: Vec<_> = keys.iter().map(|key| hex(key.0)).collect();
    let rows = json::rows(&rows)?;
    sqlx::query!(
        "delete from imported_items where org_id = ?1 and origin_id = ?2
            and key in (select unhex(value) from json_each(?3))",
        org_id,
        origin_id,
        rows
    )
    .execute(connection)
    .await?;
    Ok(())
}
