//! Which human calendars count as busy time for an agent or a calendar, and when they are busy.

use std::collections::BTreeSet;

use async_trait::async_trait;
use kalends_app::ports::{HumanCalendars, HumanSeen};
use kalends_bridge::HumanBusy;
use kalends_calendars::ports::{BusySource, LivingAgent};
use kalends_kernel::HumanSource;
use kalends_kernel::{AgentId, CalendarId, OrgId, Revision, StoreError};
use kalends_time::{Span, Timestamp};
use uuid::Uuid;

use crate::{
    SqliteStore,
    error::store_error,
    json::{self, Hex},
    rows::{ReadingRow, row_id},
};

#[async_trait]
impl HumanCalendars for SqliteStore {
    async fn human_sources(&self, org: OrgId, calendars: &[BusySource]) -> Result<Vec<HumanSeen>, StoreError> {
        let org_id = org.uuid();
        let granted = calendars.iter().filter(|calendar| calendar.granted);
        let wanted: Vec<_> = granted.map(|granted| Hex(granted.calendar.uuid())).collect();
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let wanted = json::rows(&wanted).map_err(store_error)?;
        let rows = sqlx::query!(
            r#"select c.id as calendar_id, e.id as source_id, e.revision, e.read_at
             from json_each(?2) asked
                cross join calendars c on c.org_id = ?1 and c.id = unhex(asked.value)
                cross join availability_grant_sources s on s.org_id = ?1 and s.grant_id in (
                    select g.id from availability_grants g where g.org_id = ?1 and g.audience = 'all'
                    union all
                    select t.grant_id from availability_grant_agents t where t.org_id = ?1 and t.agent_id = c.agent_id)
                cross join external_calendars e on e.org_id = ?1 and e.id = s.external_calendar_id
                cross join calendar_connections n on n.org_id = ?1 and n.id = e.connection_id
                left join agents a on a.org_id = ?1 and a.id = c.agent_id
             where c.deleted_at is null and (c.agent_id is null or a.status <> 'decommissioned') and not n.paused"#,
            org_id,
            wanted
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let seen = rows.into_iter().map(|row| {
            let source = row_id("external_calendars", "id", &row.source_id)?;
            Ok(HumanSeen {
                of: CalendarId::from_uuid(row_id("calendars", "id", &row.calendar_id)?).into(),
                source: HumanSource(source.as_u128()),
                revision: Revision(row.revision),
                read_at: row.read_at.map(Timestamp::from_micros),
            })
        });
        seen.collect()
    }

    async fn human_sources_of_agents(&self, org: OrgId, agents: &[LivingAgent]) -> Result<Vec<HumanSeen>, StoreError> {
        let org_id = org.uuid();
        let granted = agents.iter().filter(|agent| agent.granted);
        let wanted: Vec<_> = granted.map(|granted| Hex(granted.id.uuid())).collect();
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let wanted = json::rows(&wanted).map_err(store_error)?;
        let rows = sqlx::query!(
            r#"select a.id as agent_id, e.id as source_id, e.revision, e.read_at
             from json_each(?2) asked
                cross join agents a on a.org_id = ?1 and a.id = unhex(asked.value)
                cross join availability_grant_sources s on s.org_id = ?1 and s.grant_id in (
                    select g.id from availability_grants g where g.org_id = ?1 and g.audience = 'all'
                    union all
                    select t.grant_id from availability_grant_agents t where t.org_id = ?1 and t.agent_id = a.id)
                cross join external_calendars e on e.org_id = ?1 and e.id = s.external_calendar_id
                cross join calendar_connections n on n.org_id = ?1 and n.id = e.connection_id
             where a.status <> 'decommissioned' and not n.paused"#,
            org_id,
            wanted
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let seen = rows.into_iter().map(|row| {
            let source = row_id("external_calendars", "id", &row.source_id)?;
            Ok(HumanSeen {
                of: AgentId::from_uuid(row_id("agents", "id", &row.agent_id)?).into(),
                source: HumanSource(source.as_u128()),
                revision: Revision(row.revision),
                read_at: row.read_at.map(Timestamp::from_micros),
            })
        });
        seen.collect()
    }

    async fn human_busy(
        &self,
        org: OrgId,
        sources: &[HumanSource],
        window: Span,
    ) -> Result<Vec<HumanBusy>, StoreError> {
        let org_id = org.uuid();
        let wanted: BTreeSet<_> = sources.iter().map(|source| source.0).collect();
        let wanted: Vec<_> = wanted.into_iter().map(|source| Hex(Uuid::from_u128(source))).collect();
        let wanted = json::rows(&wanted).map_err(store_error)?;
        let rows = sqlx::query_as!(
            ReadingRow,
            "select e.id, e.revision, e.read_at, e.covers_from, e.covers_until, e.spans, e.copies, e.tag
             from json_each(?2) asked
                cross join external_calendars e on e.org_id = ?1 and e.id = unhex(asked.value)
                cross join calendar_connections n on n.org_id = ?1 and n.id = e.connection_id
             where not n.paused",
            org_id,
            wanted
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        rows.into_iter().map(|row| row.busy(window)).collect()
    }
}
