//! The journal of runs.

use async_trait::async_trait;
use kalends_calendars::Event;
use kalends_kernel::{EventId, OrgId, StoreError};
use kalends_rows::run_owner;
use kalends_runs::{Entry, Kept, RunKey, ports::Runs};
use kalends_time::Timestamp;

use super::{count, owner};
use crate::{
    SqliteStore,
    error::store_error,
    json::{self, Hex},
    rows::{RunWriteRow, event_row},
};

#[async_trait]
impl Runs for SqliteStore {
    async fn run_writes(&self, org: OrgId, run: &RunKey) -> Result<Vec<Entry>, StoreError> {
        let (org_id, owner, name) = (org.uuid(), run_owner(run), run.name.as_str());
        let rows = sqlx::query_as!(
            RunWriteRow,
            "select id, operation, resource_type, resource_id, state, version, written_at, undone_at
             from run_writes where org_id = ?1 and owner = ?2 and name = ?3 order by written_at, id",
            org_id,
            owner,
            name
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        rows.into_iter().map(|row| row.open(org, self.cipher.as_ref())).collect()
    }

    async fn count_run_writes(&self, org: OrgId, run: &RunKey) -> Result<u64, StoreError> {
        let (org_id, owner, name) = (org.uuid(), run_owner(run), run.name.as_str());
        let counted = sqlx::query_scalar!(
            "select count(*) from run_writes where org_id = ?1 and owner = ?2 and name = ?3",
            org_id,
            owner,
            name
        )
        .fetch_one(self.readers())
        .await
        .map_err(store_error)?;
        Ok(count(counted))
    }

    async fn kept_events(&self, org: OrgId, ids: &[EventId]) -> Result<Vec<Kept>, StoreError> {
        let org_id = org.uuid();
        let wanted: Vec<Hex> = ids.iter().map(|id| Hex(id.uuid())).collect();
        let wanted = json::rows(&wanted).map_err(store_error)?;
        let rows = sqlx::query!(
            "select e.id, e.calendar_id, e.content, e.start_at, e.end_at, e.all_day, e.status, e.source, e.reminders,
                e.version, e.created_at, e.updated_at, e.deleted_at, e.recurrence, e.series_id, e.original_start,
                e.hold_expires_at, e.hold_priority, e.hold_scope, e.hold_set_id, e.transparent, c.agent_id
             from json_each(?2) asked
                cross join events e on e.org_id = ?1 and e.id = unhex(asked.value)
                join calendars c on c.org_id = e.org_id and c.id = e.calendar_id",
            org_id,
            wanted
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let mut kept = Vec::with_capacity(rows.len());
        for row in rows {
            let (deleted_at, agent_id) = (row.deleted_at, row.agent_id);
            let event = event_row!(row).open(org, self.cipher.as_ref())?;
            let agent = owner(event.id, agent_id.as_ref())?;
            kept.push(Kept { event: Event { deleted_at: deleted_at.map(Timestamp::from_micros), ..event }, agent });
        }
        kept.sort_by_key(|kept| kept.event.id);
        Ok(kept)
    }

    async fn purge_run_writes(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let before = before.as_micros();
        let mut writing = self.database.writer.take().await?;
        let purged = sqlx::query!(
            "delete from run_writes where rowid in (
                select w.rowid from run_writes w
                where w.written_at <= ?1 and not exists (
                    select 1 from run_writes later
                    where later.org_id = w.org_id and later.owner = w.owner and later.name = w.name
                        and later.written_at > ?1)
                order by w.written_at limit ?2)",
            before,
            limit
        )
        .execute(&mut writing.connection)
        .await;
        writing.done(purged).await
    }
}
