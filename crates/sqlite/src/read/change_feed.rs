//! The change feeds of organizations.

use async_trait::async_trait;
use kalends_kernel::{OrgId, StoreError};
use kalends_notifications::{FEED_PAGE_BYTES, FeedPosition, FeedRead, WantedTypes, ports::ChangeFeeds};
use kalends_time::Timestamp;
use kalends_warm_pool::{RowsWithin, rows_within, sealed_weight};
use uuid::Uuid;

use crate::{
    SqliteStore,
    error::store_error,
    json::{self, Hex},
    rows::FeedRow,
};

#[async_trait]
impl ChangeFeeds for SqliteStore {
    async fn start_feed(&self, org: OrgId, now: Timestamp) -> Result<Option<FeedPosition>, StoreError> {
        let (org_id, now) = (org.uuid(), now.as_micros());
        // There is one writer, so no commit is under way that has not seen the new head. Positions start at the time,
        // so that they are higher than those of a feed that ended before.
        let end = self
            .written(async |connection| {
                sqlx::query_scalar!(
                    r#"insert into change_feed_heads (org_id, first_seq, last_seq, read_at)
                     select id, ?2, ?2, ?2 from organizations where id = ?1
                     on conflict (org_id) do update set read_at = max(read_at, excluded.read_at)
                     returning last_seq as "last_seq!: i64""#,
                    org_id,
                    now
                )
                .fetch_optional(connection)
                .await
                .map_err(store_error)
            })
            .await?;
        Ok(end.map(FeedPosition))
    }

    async fn read_changes(
        &self,
        org: OrgId,
        after: FeedPosition,
        types: &WantedTypes,
        limit: u32,
    ) -> Result<Option<FeedRead>, StoreError> {
        let (org_id, until) = (org.uuid(), after.looked_on().0);
        let types = types.names().map(|names| json::rows(&names)).transpose().map_err(store_error)?;
        let rows = sqlx::query_as!(
            FeedRow,
            r#"select h.first_seq as "first_seq!", h.last_seq as "last_seq!", h.read_at as "read_at!", e.seq as "seq?",
                e.id as "id?", e.change_type as "change_type?", e.version as "version?", e.body as "body?",
                e.created_at as "created_at?"
             from change_feed_heads h left join change_feed e
                on e.org_id = h.org_id and e.seq > ?2 and e.seq <= min(?3, h.last_seq)
                and (?4 is null or e.change_type in (select value from json_each(?4)))
             where h.org_id = ?1
             order by e.seq limit ?5"#,
            org_id,
            after.0,
            until,
            types,
            limit
        )
        .fetch(self.readers());
        let weigh = |row: &FeedRow| row.body.as_deref().map_or(0, sealed_weight);
        let RowsWithin { rows, fetched } = rows_within(rows, weigh, FEED_PAGE_BYTES).await.map_err(store_error)?;
        FeedRow::open_all(rows, fetched, org, self.cipher.as_ref())
    }

    async fn feed_ends(&self, orgs: &[OrgId]) -> Result<Vec<(OrgId, FeedPosition)>, StoreError> {
        let orgs: Vec<_> = orgs.iter().map(|org| Hex(org.uuid())).collect();
        let orgs = json::rows(&orgs).map_err(store_error)?;
        let rows = sqlx::query!(
            r#"select org_id as "org_id!: Uuid", last_seq as "last_seq!: i64" from change_feed_heads
             where org_id in (select unhex(value) from json_each(?1))"#,
            orgs
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        Ok(rows.into_iter().map(|row| (OrgId::from_uuid(row.org_id), FeedPosition(row.last_seq))).collect())
    }

    async fn forget_changes(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let before = before.as_micros();
        let old = sqlx::query!(
            r#"select org_id as "org_id!: Uuid", max(seq) as "last!: i64" from (
                select org_id, seq from change_feed where created_at < ?1 order by created_at limit ?2)
             group by org_id"#,
            before,
            limit
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        if old.is_empty() {
            return Ok(0);
        }
        self.written(async |connection| {
            let mut removed = 0;
            for row in &old {
                sqlx::query!(
                    "update change_feed_heads set first_seq = max(first_seq, ?2) where org_id = ?1",
                    row.org_id,
                    row.last
                )
                .execute(&mut *connection)
                .await
                .map_err(store_error)?;
                let forgotten =
                    sqlx::query!("delete from change_feed where org_id = ?1 and seq <= ?2", row.org_id, row.last)
                        .execute(&mut *connection)
                        .await
                        .map_err(store_error)?;
                removed += forgotten.rows_affected();
            }
            Ok(removed)
        })
        .await
    }

    async fn end_unread_feeds(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let before = before.as_micros();
        let mut writing = self.database.writer.take().await?;
        let ended = sqlx::query!(
            "delete from change_feed_heads where org_id in (
                select org_id from change_feed_heads where read_at < ?1 limit ?2)",
            before,
            limit
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(ended).await
    }
}
