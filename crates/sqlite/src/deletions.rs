//! Removes what is left of deleted accounts, in batches, so that other writers do not wait long.

use async_trait::async_trait;
use kalends_accounts::ports::Deletions;
use kalends_kernel::{OrgId, StoreError};
use kalends_time::Timestamp;

use crate::{SqliteStore, error::store_error, rows::row_id};

/// Runs the statements one after the other until `limit` rows are removed.
macro_rules! remove {
    ($store:expr, $org:expr, $limit:expr; $($statement:literal,)*) => {{
        let (org_id, limit, mut removed) = ($org.uuid(), u64::from($limit), 0);
        $(
            if removed < limit {
                let left = i64::try_from(limit - removed).unwrap_or(i64::MAX);
                let mut writing = $store.database.writer.take().await?;
                let done = sqlx::query!($statement, org_id, left).execute(&mut writing.connection).await;
                removed += writing.done(done).await?;
            }
        )*
        Ok(removed)
    }};
}

#[async_trait]
impl Deletions for SqliteStore {
    async fn deletions(&self, limit: u32) -> Result<Vec<(OrgId, Timestamp)>, StoreError> {
        let rows = sqlx::query!(
            "select org_id, deleted_at from account_deletions order by deleted_at, org_id limit ?1",
            limit
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let read = rows.into_iter().map(|row| {
            let org = OrgId::from_uuid(row_id("account_deletions", "org_id", &row.org_id)?);
            Ok((org, Timestamp::from_micros(row.deleted_at)))
        });
        read.collect()
    }

    /// Covers every table that holds rows of an organization; a test compares the list with the schema. Calendars and
    /// agents go first, which makes requests that are still under way stale instead of adding rows to them.
    async fn remove_rows(&self, org: OrgId, limit: u32) -> Result<u64, StoreError> {
        remove! { self, org, limit;
            "delete from calendars where rowid in (select rowid from calendars where org_id = ?1 limit ?2)",
            "delete from agents where rowid in (select rowid from agents where org_id = ?1 limit ?2)",
            "delete from api_keys where rowid in (select rowid from api_keys where org_id = ?1 limit ?2)",
            "delete from authorization_codes where rowid in (
                select rowid from authorization_codes where org_id = ?1 limit ?2)",
            "delete from refresh_tokens where rowid in (select rowid from refresh_tokens where org_id = ?1 limit ?2)",
            "delete from verification_codes where rowid in (
                select rowid from verification_codes where org_id = ?1 limit ?2)",
            "delete from events where rowid in (select rowid from events where org_id = ?1 limit ?2)",
            "delete from event_metadata where org_id = ?1 and (event_id, digest) in (
                select event_id, digest from event_metadata where org_id = ?1 limit ?2)",
            "delete from timers where rowid in (select rowid from timers where org_id = ?1 limit ?2)",
            "delete from moved_events where org_id = ?1 and (calendar_id, event_id) in (
                select calendar_id, event_id from moved_events where org_id = ?1 limit ?2)",
            "delete from busy_days where org_id = ?1 and (calendar_id, day) in (
                select calendar_id, day from busy_days where org_id = ?1 limit ?2)",
            "delete from availability_rules where rowid in (
                select rowid from availability_rules where org_id = ?1 limit ?2)",
            "delete from usage_counters where rowid in (select rowid from usage_counters where org_id = ?1 limit ?2)",
            "delete from allowances where rowid in (select rowid from allowances where org_id = ?1 limit ?2)",
            "delete from account_claims where rowid in (select rowid from account_claims where org_id = ?1 limit ?2)",
            "delete from ical_subscriptions where rowid in (
                select rowid from ical_subscriptions where org_id = ?1 limit ?2)",
            "delete from imported_items where org_id = ?1 and (origin_id, key) in (
                select origin_id, key from imported_items where org_id = ?1 limit ?2)",
            "delete from proposals where rowid in (select rowid from proposals where org_id = ?1 limit ?2)",
            "delete from proposal_participants where rowid in (
                select rowid from proposal_participants where org_id = ?1 limit ?2)",
            "delete from run_writes where rowid in (select rowid from run_writes where org_id = ?1 limit ?2)",
            "delete from approvals where rowid in (select rowid from approvals where org_id = ?1 limit ?2)",
            "delete from reservations where org_id = ?1 and (calendar_id, proposal_id, place) in (
                select calendar_id, proposal_id, place from reservations where org_id = ?1 limit ?2)",
            "delete from booking_slugs where rowid in (select rowid from booking_slugs where org_id = ?1 limit ?2)",
            "delete from booking_pages where rowid in (select rowid from booking_pages where org_id = ?1 limit ?2)",
            "delete from bookings where rowid in (select rowid from bookings where org_id = ?1 limit ?2)",
            "delete from letters where rowid in (select rowid from letters where org_id = ?1 limit ?2)",
            "delete from letter_records where rowid in (select rowid from letter_records where org_id = ?1 limit ?2)",
            "delete from connection_links where rowid in (
                select rowid from connection_links where org_id = ?1 limit ?2)",
            "delete from connection_attempts where rowid in (
                select rowid from connection_attempts where org_id = ?1 limit ?2)",
            "delete from calendar_connections where rowid in (
                select rowid from calendar_connections where org_id = ?1 limit ?2)",
            "delete from external_calendars where rowid in (
                select rowid from external_calendars where org_id = ?1 limit ?2)",
            "delete from publication_destinations where rowid in (
                select rowid from publication_destinations where org_id = ?1 limit ?2)",
            "delete from publication_copies where rowid in (
                select rowid from publication_copies where org_id = ?1 limit ?2)",
            "delete from availability_grants where rowid in (
                select rowid from availability_grants where org_id = ?1 limit ?2)",
            "delete from availability_grant_sources where org_id = ?1 and (grant_id, external_calendar_id) in (
                select grant_id, external_calendar_id from availability_grant_sources where org_id = ?1 limit ?2)",
            "delete from availability_grant_agents where org_id = ?1 and (grant_id, agent_id) in (
                select grant_id, agent_id from availability_grant_agents where org_id = ?1 limit ?2)",
            "delete from webhooks where rowid in (select rowid from webhooks where org_id = ?1 limit ?2)",
            "delete from webhook_queues where rowid in (select rowid from webhook_queues where org_id = ?1 limit ?2)",
            "delete from webhook_deliveries where rowid in (
                select rowid from webhook_deliveries where org_id = ?1 limit ?2)",
            "delete from waiting_messages where org_id = ?1 and (created_at, id) in (
                select created_at, id from waiting_messages where org_id = ?1 limit ?2)",
            "delete from change_feed_heads where org_id = ?1 and ?2 > 0",
            "delete from change_feed where rowid in (select rowid from change_feed where org_id = ?1 limit ?2)",
            "delete from outbox where rowid in (select rowid from outbox where org_id = ?1 limit ?2)",
            "delete from audit_log where rowid in (select rowid from audit_log where org_id = ?1 limit ?2)",
            "delete from organization_owners where rowid in (
                select rowid from organization_owners where org_id = ?1 limit ?2)",
            "delete from organization_members where rowid in (
                select rowid from organization_members where org_id = ?1 limit ?2)",
            "delete from member_invitations where rowid in (
                select rowid from member_invitations where org_id = ?1 limit ?2)",
            "delete from sessions where rowid in (select rowid from sessions where org_id = ?1 limit ?2)",
            "delete from idempotent_answers where rowid in (
                select rowid from idempotent_answers where org_id = ?1 limit ?2)",
        }
    }

    async fn end_deletion(&self, org: OrgId) -> Result<(), StoreError> {
        let org_id = org.uuid();
        let mut writing = self.database.writer.take().await?;
        // An acceptance may have been recorded by a request that was under way when the account was deleted.
        let anonymous = sqlx::query!("update terms_acceptances set org_id = null where org_id = ?1", org_id)
            .execute(&mut writing.connection)
            .await;
        let ended = match anonymous {
            Ok(_) => {
                sqlx::query!("delete from account_deletions where org_id = ?1", org_id)
                    .execute(&mut writing.connection)
                    .await
            }
            Err(error) => Err(error),
        };
        writing.done(ended).await.map(|_| ())
    }
}
