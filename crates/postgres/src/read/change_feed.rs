//! The change feeds of organizations.

use async_trait::async_trait;
use kalends_kernel::{OrgId, StoreError};
use kalends_notifications::ports::ChangeFeeds;
use kalends_notifications::{FEED_PAGE_BYTES, FeedPosition, FeedRead, WantedTypes};
use kalends_time::Timestamp;
use uuid::Uuid;

use crate::PostgresStore;
use crate::error::store_error;
use crate::retry::retried;
use crate::rows::FeedRow;
use crate::sending::unexpected;
use crate::transaction::in_transaction;

/// The approximate maximum size of the sealed bodies on a page, in bytes. Sealed texts are base64.
const SEALED_PAGE_BYTES: usize = FEED_PAGE_BYTES / 3 * 4;

#[async_trait]
impl ChangeFeeds for PostgresStore {
    async fn start_feed(&self, org: OrgId, now: Timestamp) -> Result<Option<FeedPosition>, StoreError> {
        let (org_id, now) = (org.uuid(), now.as_micros());
        let noted = retried(|| {
            sqlx::query_scalar!(
                "UPDATE change_feed_heads SET read_at = greatest(read_at, $2) WHERE org_id = $1 RETURNING last_seq",
                org_id,
                now,
            )
            .fetch_optional(&self.connections)
        });
        if let Some(end) = noted.await.map_err(store_error)? {
            return Ok(Some(FeedPosition(end)));
        }
        let started = retried(|| {
            in_transaction(&self.connections, async |connection| {
                // Others may keep joining the lock. The server would wait on after the caller has gone.
                sqlx::query!("SET LOCAL statement_timeout = '10s'").execute(&mut *connection).await?;
                // Every commit holds a shared lock on its organization from its beginning. This waits for those that
                // have not seen the new head.
                let exists = sqlx::query_scalar!("SELECT id FROM organizations WHERE id = $1 FOR UPDATE", org_id)
                    .fetch_optional(&mut *connection)
                    .await?;
                if exists.is_none() {
                    return Ok(None);
                }
                // Positions start at the time, so that they are higher than those of a feed that ended before.
                let end = sqlx::query_scalar!(
                    "INSERT INTO change_feed_heads AS head (org_id, first_seq, last_seq, read_at)
                     VALUES ($1, $2, $2, $2)
                     ON CONFLICT (org_id) DO UPDATE SET read_at = greatest(head.read_at, excluded.read_at)
                     RETURNING last_seq",
                    org_id,
                    now,
                )
                .fetch_one(&mut *connection)
                .await?;
                Ok(Some(FeedPosition(end)))
            })
        });
        started.await.map_err(unexpected)
    }

    async fn read_changes(
        &self,
        org: OrgId,
        after: FeedPosition,
        types: &WantedTypes,
        limit: u32,
    ) -> Result<Option<FeedRead>, StoreError> {
        let names = types.names();
        let (every, names) = (names.is_none(), names.unwrap_or_default());
        // The length of a body is known without reading it. The bodies that do not fit are not read.
        let mut rows = sqlx::query_as!(
            FeedRow,
            r#"SELECT h.first_seq AS "first_seq!", h.last_seq AS "last_seq!", h.read_at AS "read_at!", e.seq AS "seq?",
                 e.id AS "id?", e.change_type AS "change_type?", e.version AS "version?",
                 CASE WHEN e.prior < $7 THEN e.body END AS "body?", e.created_at AS "created_at?"
             FROM change_feed_heads h
                 LEFT JOIN LATERAL (
                     SELECT seq, id, change_type, version, body, created_at,
                         sum(octet_length(body)) OVER (ORDER BY seq) - octet_length(body) AS prior
                     FROM change_feed
                     WHERE org_id = h.org_id AND seq > $2 AND seq <= least($3, h.last_seq)
                         AND ($4::boolean OR change_type = ANY($5::text[]))
                     ORDER BY seq
                     LIMIT $6
                 ) e ON true
             WHERE h.org_id = $1
             ORDER BY e.seq"#,
            org.uuid(),
            after.0,
            after.looked_on().0,
            every,
            &names as &[&str],
            i64::from(limit),
            i64::try_from(SEALED_PAGE_BYTES).unwrap_or(i64::MAX),
        )
        .fetch_all(&self.connections)
        .await
        .map_err(store_error)?;
        let fetched = rows.len();
        let fits = |row: &&FeedRow| row.seq.is_none() || row.body.is_some();
        let kept = rows.iter().take_while(fits).count();
        rows.truncate(kept);
        FeedRow::open_all(rows, fetched, org, &*self.cipher)
    }

    async fn feed_ends(&self, orgs: &[OrgId]) -> Result<Vec<(OrgId, FeedPosition)>, StoreError> {
        let orgs: Vec<Uuid> = orgs.iter().map(|org| org.uuid()).collect();
        let rows =
            sqlx::query!("SELECT org_id, last_seq FROM change_feed_heads WHERE org_id = ANY($1::uuid[])", &orgs,)
                .fetch_all(&self.connections)
                .await
                .map_err(store_error)?;
        Ok(rows.into_iter().map(|row| (OrgId::from_uuid(row.org_id), FeedPosition(row.last_seq))).collect())
    }

    async fn forget_changes(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let old = sqlx::query!(
            r#"SELECT org_id AS "org_id!", max(seq) AS "last!"
             FROM (SELECT org_id, seq FROM change_feed WHERE created_at < $1 ORDER BY created_at LIMIT $2) AS oldest
             GROUP BY org_id"#,
            before.as_micros(),
            i64::from(limit),
        )
        .fetch_all(&self.connections)
        .await
        .map_err(store_error)?;
        let mut removed = 0;
        for row in old {
            // First the head: a reader must not miss entries that it may still ask for. If the second statement fails,
            // the next purge repeats both.
            let noted = retried(|| {
                sqlx::query!(
                    "UPDATE change_feed_heads SET first_seq = greatest(first_seq, $2) WHERE org_id = $1",
                    row.org_id,
                    row.last,
                )
                .execute(&self.connections)
            });
            noted.await.map_err(store_error)?;
            let forgotten = retried(|| {
                sqlx::query!("DELETE FROM change_feed WHERE org_id = $1 AND seq <= $2", row.org_id, row.last)
                    .execute(&self.connections)
            });
            removed += forgotten.await.map_err(store_error)?.rows_affected();
        }
        Ok(removed)
    }

    async fn end_unread_feeds(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let before = before.as_micros();
        let unread = sqlx::query_scalar!(
            "SELECT org_id FROM change_feed_heads WHERE read_at < $1 LIMIT $2",
            before,
            i64::from(limit),
        )
        .fetch_all(&self.connections)
        .await
        .map_err(store_error)?;
        let mut ended = 0;
        for org in unread {
            let gone = retried(|| {
                sqlx::query!("DELETE FROM change_feed_heads WHERE org_id = $1 AND read_at < $2", org, before)
                    .execute(&self.connections)
            });
            ended += gone.await.map_err(store_error)?.rows_affected();
        }
        Ok(ended)
    }
}
