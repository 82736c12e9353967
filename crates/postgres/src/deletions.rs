//! Removes what is left of deleted accounts, in batches, each in a transaction of its own.

use async_trait::async_trait;
use kalends_accounts::ports::Deletions;
use kalends_kernel::{OrgId, StoreError};
use kalends_time::Timestamp;

use crate::PostgresStore;
use crate::error::store_error;
use crate::retry::retried;

/// Runs the statements one after the other until `limit` rows are removed.
macro_rules! remove {
    ($store:expr, $org:expr, $limit:expr; $($statement:literal,)*) => {{
        let (org_id, limit, mut removed) = ($org.uuid(), u64::from($limit), 0);
        $(
            if removed < limit {
                let left = i64::try_from(limit - removed).unwrap_or(i64::MAX);
                let done = retried(|| sqlx::query!($statement, org_id, left).execute(&$store.connections)).await;
                removed += done.map_err(store_error)?.rows_affected();
            }
        )*
        Ok(removed)
    }};
}

#[async_trait]
impl Deletions for PostgresStore {
    async fn deletions(&self, limit: u32) -> Result<Vec<(OrgId, Timestamp)>, StoreError> {
        let rows = sqlx::query!(
            "SELECT org_id, deleted_at FROM account_deletions ORDER BY deleted_at, org_id LIMIT $1",
            i64::from(limit),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        let read = |org, at| (OrgId::from_uuid(org), Timestamp::from_micros(at));
        Ok(rows.into_iter().map(|row| read(row.org_id, row.deleted_at)).collect())
    }

    /// Covers every table that holds rows of an organization; a test compares the list with the schema. Calendars and
    /// agents go first, which makes requests that are still under way stale instead of adding rows to them.
    async fn remove_rows(&self, org: OrgId, limit: u32) -> Result<u64, StoreError> {
        remove! { self, org, limit;
            "DELETE FROM calendars WHERE org_id = $1 AND id IN (SELECT id FROM calendars WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM agents WHERE org_id = $1 AND id IN (SELECT id FROM agents WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM api_keys WHERE org_id = $1 AND id IN (SELECT id FROM api_keys WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM authorization_codes WHERE org_id = $1 AND hash IN (
                 SELECT hash FROM authorization_codes WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM refresh_tokens WHERE org_id = $1 AND hash IN (
                 SELECT hash FROM refresh_tokens WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM verification_codes WHERE org_id = $1 AND $2::bigint > 0",
            "DELETE FROM events WHERE org_id = $1 AND id IN (SELECT id FROM events WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM timers WHERE org_id = $1 AND (calendar_id, event_id) IN (
                 SELECT calendar_id, event_id FROM timers WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM event_metadata WHERE org_id = $1 AND (event_id, digest) IN (
                 SELECT event_id, digest FROM event_metadata WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM moved_events WHERE org_id = $1 AND (calendar_id, event_id) IN (
                 SELECT calendar_id, event_id FROM moved_events WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM busy_days WHERE org_id = $1 AND (calendar_id, day) IN (
                 SELECT calendar_id, day FROM busy_days WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM availability_rules WHERE org_id = $1 AND calendar_id IN (
                 SELECT calendar_id FROM availability_rules WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM usage_counters WHERE org_id = $1 AND (metric, period) IN (
                 SELECT metric, period FROM usage_counters WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM allowances WHERE org_id = $1 AND scope IN (
                 SELECT scope FROM allowances WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM account_claims WHERE org_id = $1 AND id IN (
                 SELECT id FROM account_claims WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM booking_slugs WHERE slug_hash IN (
                 SELECT slug_hash FROM booking_slugs WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM booking_pages WHERE org_id = $1 AND id IN (
                 SELECT id FROM booking_pages WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM bookings WHERE org_id = $1 AND id IN (SELECT id FROM bookings WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM letters WHERE org_id = $1 AND id IN (SELECT id FROM letters WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM letter_records WHERE org_id = $1 AND id IN (
                 SELECT id FROM letter_records WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM connection_links WHERE org_id = $1 AND id IN (
                 SELECT id FROM connection_links WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM connection_attempts WHERE org_id = $1 AND state_hash IN (
                 SELECT state_hash FROM connection_attempts WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM calendar_connections WHERE org_id = $1 AND id IN (
                 SELECT id FROM calendar_connections WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM external_calendars WHERE org_id = $1 AND id IN (
                 SELECT id FROM external_calendars WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM publication_destinations WHERE org_id = $1 AND calendar_id IN (
                 SELECT calendar_id FROM publication_destinations WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM publication_copies WHERE org_id = $1 AND (calendar_id, event_id, original_start) IN (
                 SELECT calendar_id, event_id, original_start FROM publication_copies WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM availability_grants WHERE org_id = $1 AND id IN (
                 SELECT id FROM availability_grants WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM availability_grant_sources WHERE org_id = $1 AND (grant_id, external_calendar_id) IN (
                 SELECT grant_id, external_calendar_id FROM availability_grant_sources WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM availability_grant_agents WHERE org_id = $1 AND (grant_id, agent_id) IN (
                 SELECT grant_id, agent_id FROM availability_grant_agents WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM ical_subscriptions WHERE org_id = $1 AND id IN (
                 SELECT id FROM ical_subscriptions WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM imported_items WHERE org_id = $1 AND (origin_id, key) IN (
                 SELECT origin_id, key FROM imported_items WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM proposals WHERE org_id = $1 AND id IN (SELECT id FROM proposals WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM proposal_participants WHERE org_id = $1 AND (proposal_id, agent_id) IN (
                 SELECT proposal_id, agent_id FROM proposal_participants WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM run_writes WHERE org_id = $1 AND id IN (
                 SELECT id FROM run_writes WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM approvals WHERE org_id = $1 AND id IN (SELECT id FROM approvals WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM reservations WHERE org_id = $1 AND (calendar_id, proposal_id, place) IN (
                 SELECT calendar_id, proposal_id, place FROM reservations WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM webhooks WHERE org_id = $1 AND id IN (SELECT id FROM webhooks WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM webhook_queues WHERE org_id = $1 AND webhook_id IN (
                 SELECT webhook_id FROM webhook_queues WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM webhook_deliveries WHERE org_id = $1 AND (webhook_id, id) IN (
                 SELECT webhook_id, id FROM webhook_deliveries WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM waiting_messages WHERE org_id = $1 AND (created_at, id) IN (
                 SELECT created_at, id FROM waiting_messages WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM change_feed_heads WHERE org_id = $1 AND $2::bigint > 0",
            "DELETE FROM change_feed WHERE org_id = $1 AND id IN (
                 SELECT id FROM change_feed WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM outbox WHERE org_id = $1 AND id IN (SELECT id FROM outbox WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM audit_log WHERE org_id = $1 AND id IN (SELECT id FROM audit_log WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM organization_owners WHERE org_id = $1 AND $2::bigint > 0",
            "DELETE FROM organization_members WHERE org_id = $1 AND user_id IN (
                 SELECT user_id FROM organization_members WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM member_invitations WHERE org_id = $1 AND id IN (
                 SELECT id FROM member_invitations WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM sessions WHERE org_id = $1 AND id IN (SELECT id FROM sessions WHERE org_id = $1 LIMIT $2)",
            "DELETE FROM idempotent_answers WHERE org_id = $1 AND scope IN (
                 SELECT scope FROM idempotent_answers WHERE org_id = $1 LIMIT $2)",
        }
    }

    async fn end_deletion(&self, org: OrgId) -> Result<(), StoreError> {
        // An acceptance may have been recorded by a request that was under way when the account was deleted.
        let anonymous = retried(|| {
            sqlx::query!("UPDATE terms_acceptances SET org_id = NULL WHERE org_id = $1", org.uuid())
                .execute(&self.connections)
        });
        anonymous.await.map_err(store_error)?;
        let ended = retried(|| {
            sqlx::query!("DELETE FROM account_deletions WHERE org_id = $1", org.uuid()).execute(&self.connections)
        });
        ended.await.map_err(store_error)?;
        Ok(())
    }
}
