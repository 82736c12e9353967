//! Reads what blocks time.

use async_trait::async_trait;
use kalends_calendars::ports::{BusySource, BusyTimes};
use kalends_kernel::{AgentId, CalendarId, Instant, OrgId, Revision, Span, StoreError};
use uuid::Uuid;

use crate::PostgresStore;
use crate::error::store_error;
use crate::rows::Located;

#[async_trait]
impl BusyTimes for PostgresStore {
    async fn sources_of_agents(&self, org: OrgId, agents: &[AgentId]) -> Result<Vec<BusySource>, StoreError> {
        let org = org.uuid();
        let sources = match agents {
            // By far the most frequent question, and one that Postgres plans once and for all.
            [agent] => {
                let records = sqlx::query!(
                    "SELECT c.id, c.revision
                     FROM agents a
                     JOIN calendars c ON c.org_id = a.org_id AND c.agent_id = a.id
                     WHERE a.org_id = $1 AND a.id = $2 AND a.status <> 'decommissioned' AND c.deleted_at IS NULL",
                    org,
                    agent.uuid(),
                );
                let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
                let agent = Some(agent.uuid());
                records.into_iter().map(|record| source(agent, record.id, record.revision)).collect()
            }
            several => {
                let several: Vec<Uuid> = several.iter().map(|agent| agent.uuid()).collect();
                let records = sqlx::query!(
                    "SELECT c.agent_id, c.id, c.revision
                     FROM agents a
                     JOIN calendars c ON c.org_id = a.org_id AND c.agent_id = a.id
                     WHERE a.org_id = $1 AND a.id = ANY($2) AND a.status <> 'decommissioned' AND c.deleted_at IS NULL",
                    org,
                    &several,
                );
                let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
                records.into_iter().map(|record| source(record.agent_id, record.id, record.revision)).collect()
            }
        };
        Ok(sources)
    }

    async fn source_of_calendar(&self, org: OrgId, calendar: CalendarId) -> Result<Option<BusySource>, StoreError> {
        let record = sqlx::query!(
            "SELECT c.agent_id, c.id, c.revision
             FROM calendars c
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE c.org_id = $1 AND c.id = $2 AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')",
            org.uuid(),
            calendar.uuid(),
        );
        let record = record.fetch_optional(&self.connections).await.map_err(store_error)?;
        Ok(record.map(|record| source(record.agent_id, record.id, record.revision)))
    }

    async fn blocking_spans(
        &self,
        org: OrgId,
        calendar: CalendarId,
        window: Span,
    ) -> Result<Option<(Revision, Vec<Span>)>, StoreError> {
        // One row whatever the number of spans: two arrays cost far less than as many rows. Both are
        // filled in one pass, so that they agree; sorted here, where it costs a tenth.
        let record = sqlx::query!(
            r#"SELECT c.revision, b.starts AS "starts: Vec<i64>", b.ends AS "ends: Vec<i64>"
             FROM calendars c
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             CROSS JOIN LATERAL (
                 SELECT array_agg(e.start_at) AS starts, array_agg(e.end_at) AS ends
                 FROM events e
                 WHERE e.org_id = c.org_id AND e.calendar_id = c.id AND e.deleted_at IS NULL
                     AND e.status IN ('confirmed', 'tentative') AND e.end_at > $3 AND e.start_at < $4
             ) b
             WHERE c.org_id = $1 AND c.id = $2 AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')"#,
            org.uuid(),
            calendar.uuid(),
            window.start().as_micros(),
            window.end().as_micros(),
        );
        let Some(record) = record.fetch_optional(&self.connections).await.map_err(store_error)? else {
            return Ok(None);
        };
        let (starts, ends) = (record.starts.unwrap_or_default(), record.ends.unwrap_or_default());
        let spans = starts.into_iter().zip(ends).map(|(start, end)| {
            Span::new(Instant::from_micros(start), Instant::from_micros(end)).map_err(|error| {
                Located { table: "events", id: format!("an event of {calendar}") }.corrupt("end_at", error)
            })
        });
        let mut spans = spans.collect::<Result<Vec<_>, _>>()?;
        spans.sort_unstable();
        Ok(Some((Revision(record.revision), spans)))
    }
}

fn source(agent: Option<Uuid>, calendar: Uuid, revision: i64) -> BusySource {
    BusySource {
        agent: agent.map(AgentId::from_uuid),
        calendar: CalendarId::from_uuid(calendar),
        revision: Revision(revision),
    }
}
