//! Reads which human calendars count as busy time for an agent or a calendar, and when they are busy.

use async_trait::async_trait;
use kalends_app::ports::{HumanCalendars, HumanSeen};
use kalends_bridge::HumanBusy;
use kalends_calendars::HumanFor;
use kalends_calendars::ports::{BusySource, LivingAgent};
use kalends_kernel::HumanSource;
use kalends_kernel::{AgentId, CalendarId, OrgId, Revision, StoreError};
use kalends_time::{Span, Timestamp};
use uuid::Uuid;

use crate::PostgresStore;
use crate::error::store_error;
use crate::rows::ReadingRow;

#[async_trait]
impl HumanCalendars for PostgresStore {
    async fn human_sources(&self, org: OrgId, calendars: &[BusySource]) -> Result<Vec<HumanSeen>, StoreError> {
        let org = org.uuid();
        let granted = calendars.iter().filter(|calendar| calendar.granted);
        let granted: Vec<Uuid> = granted.map(|granted| granted.calendar.uuid()).collect();
        let sources = match granted.as_slice() {
            [] => Vec::new(),
            // One agent is by far the most frequent query, and Postgres can reuse its plan.
            [calendar] => {
                let records = sqlx::query!(
                    "SELECT DISTINCT c.id AS calendar_id, x.id AS source_id, x.revision, x.read_at
                     FROM calendars c
                     LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
                     CROSS JOIN LATERAL (
                         SELECT n.grant_id FROM availability_grant_agents n
                         WHERE n.org_id = $1 AND n.agent_id = c.agent_id
                         UNION ALL
                         SELECT g.id FROM availability_grants g WHERE g.org_id = $1 AND g.audience = 'all'
                     ) granted
                     JOIN availability_grant_sources s ON s.org_id = $1 AND s.grant_id = granted.grant_id
                     JOIN external_calendars x ON x.org_id = $1 AND x.id = s.external_calendar_id
                     JOIN calendar_connections k ON k.org_id = $1 AND k.id = x.connection_id
                     WHERE c.org_id = $1 AND c.id = $2 AND c.deleted_at IS NULL
                         AND (c.agent_id IS NULL OR a.status <> 'decommissioned') AND NOT k.paused",
                    org,
                    calendar,
                );
                let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
                records
                    .into_iter()
                    .map(|row| {
                        seen((CalendarId::from_uuid(row.calendar_id).into(), row.source_id), row.revision, row.read_at)
                    })
                    .collect()
            }
            several => {
                let records = sqlx::query!(
                    "SELECT DISTINCT c.id AS calendar_id, x.id AS source_id, x.revision, x.read_at
                     FROM calendars c
                     LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
                     CROSS JOIN LATERAL (
                         SELECT n.grant_id FROM availability_grant_agents n
                         WHERE n.org_id = $1 AND n.agent_id = c.agent_id
                         UNION ALL
                         SELECT g.id FROM availability_grants g WHERE g.org_id = $1 AND g.audience = 'all'
                     ) granted
                     JOIN availability_grant_sources s ON s.org_id = $1 AND s.grant_id = granted.grant_id
                     JOIN external_calendars x ON x.org_id = $1 AND x.id = s.external_calendar_id
                     JOIN calendar_connections k ON k.org_id = $1 AND k.id = x.connection_id
                     WHERE c.org_id = $1 AND c.id = ANY($2::uuid[]) AND c.deleted_at IS NULL
                         AND (c.agent_id IS NULL OR a.status <> 'decommissioned') AND NOT k.paused",
                    org,
                    several,
                );
                let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
                records
                    .into_iter()
                    .map(|row| {
                        seen((CalendarId::from_uuid(row.calendar_id).into(), row.source_id), row.revision, row.read_at)
                    })
                    .collect()
            }
        };
        Ok(sources)
    }

    async fn human_sources_of_agents(&self, org: OrgId, agents: &[LivingAgent]) -> Result<Vec<HumanSeen>, StoreError> {
        let granted = agents.iter().filter(|agent| agent.granted);
        let agents: Vec<Uuid> = granted.map(|granted| granted.id.uuid()).collect();
        if agents.is_empty() {
            return Ok(Vec::new());
        }
        let records = sqlx::query!(
            "SELECT DISTINCT a.id AS agent_id, x.id AS source_id, x.revision, x.read_at
             FROM agents a
             CROSS JOIN LATERAL (
                 SELECT n.grant_id FROM availability_grant_agents n
                 WHERE n.org_id = $1 AND n.agent_id = a.id
                 UNION ALL
                 SELECT g.id FROM availability_grants g WHERE g.org_id = $1 AND g.audience = 'all'
             ) granted
             JOIN availability_grant_sources s ON s.org_id = $1 AND s.grant_id = granted.grant_id
             JOIN external_calendars x ON x.org_id = $1 AND x.id = s.external_calendar_id
             JOIN calendar_connections k ON k.org_id = $1 AND k.id = x.connection_id
             WHERE a.org_id = $1 AND a.id = ANY($2::uuid[]) AND a.status <> 'decommissioned' AND NOT k.paused",
            org.uuid(),
            &agents,
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
        let sources = records.into_iter();
        let sources = sources
            .map(|row| seen((AgentId::from_uuid(row.agent_id).into(), row.source_id), row.revision, row.read_at));
        Ok(sources.collect())
    }

    async fn human_busy(
        &self,
        org: OrgId,
        sources: &[HumanSource],
        window: Span,
    ) -> Result<Vec<HumanBusy>, StoreError> {
        let ids: Vec<Uuid> = sources.iter().map(|HumanSource(source)| Uuid::from_u128(*source)).collect();
        let rows = sqlx::query_as!(
            ReadingRow,
            "SELECT x.id, x.revision, x.read_at, x.covers_from, x.covers_until, x.spans, x.copies, x.tag
             FROM external_calendars x
             JOIN calendar_connections k ON k.org_id = x.org_id AND k.id = x.connection_id
             WHERE x.org_id = $1 AND x.id = ANY($2::uuid[]) AND NOT k.paused",
            org.uuid(),
            &ids,
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        rows.into_iter().map(|row| row.busy(window)).collect()
    }
}

fn seen((of, source): (HumanFor, Uuid), revision: i64, read_at: Option<i64>) -> HumanSeen {
    HumanSeen {
        of,
        source: HumanSource(source.as_u128()),
        revision: Revision(revision),
        read_at: read_at.map(Timestamp::from_micros),
    }
}
