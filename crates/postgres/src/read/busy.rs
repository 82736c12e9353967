//! Reads what blocks time.

use async_trait::async_trait;
use kalends_calendars::ports::{BusySource, BusyTimes, CalendarBlocks, CalendarBusy, LONG};
use kalends_kernel::{AgentId, CalendarId, OrgId, Revision, Span, StoreError};
use uuid::Uuid;

use crate::PostgresStore;
use crate::error::store_error;
use crate::rows::{Located, read_rules};

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
    ) -> Result<Option<CalendarBusy>, StoreError> {
        // One row whatever the number of spans, and all of them in one piece.
        let record = sqlx::query!(
            r#"SELECT c.revision,
                 (SELECT string_agg(e.busy, '') FROM events e
                  WHERE e.org_id = $1 AND e.calendar_id = $2 AND e.busy IS NOT NULL
                      AND e.start_at > $3 AND e.start_at < $5) AS "short: Vec<u8>",
                 (SELECT string_agg(e.busy, '') FROM events e
                  WHERE e.org_id = $1 AND e.calendar_id = $2 AND e.busy IS NOT NULL
                      AND e.end_at - e.start_at > 86400000000 AND e.end_at > $4) AS "long: Vec<u8>",
                 (SELECT r.rules FROM availability_rules r WHERE r.org_id = $1 AND r.calendar_id = $2) AS rules
             FROM calendars c
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE c.org_id = $1 AND c.id = $2 AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')"#,
            org.uuid(),
            calendar.uuid(),
            (window.start() - LONG).as_micros(),
            window.start().as_micros(),
            window.end().as_micros(),
        );
        let Some(record) = record.fetch_optional(&self.connections).await.map_err(store_error)? else {
            return Ok(None);
        };
        let read = |bytes: Option<Vec<u8>>| {
            let id = || format!("an event of {calendar}");
            spans(&bytes.unwrap_or_default())
                .ok_or_else(|| Located { table: "events", id: id() }.corrupt("busy", "no span"))
        };
        let mut spans = read(record.short)?;
        spans.retain(|span| span.length() <= LONG && span.overlaps(window));
        spans.extend(read(record.long)?.into_iter().filter(|span| span.overlaps(window)));
        // The short ones come in the order of the index, and there are few others.
        spans.sort();
        let rules = record.rules.as_deref().map(|document| read_rules(calendar, document)).transpose()?;
        Ok(Some(CalendarBusy { revision: Revision(record.revision), rules, spans }))
    }

    async fn blocks(
        &self,
        org: OrgId,
        calendar: CalendarId,
        window: Span,
        limit: u32,
    ) -> Result<Option<CalendarBlocks>, StoreError> {
        self.read_blocks(org, calendar, window, limit).await
    }
}

/// The spans that the bytes hold, 16 for each; `None` where they hold none.
fn spans(bytes: &[u8]) -> Option<Vec<Span>> {
    let (spans, rest) = bytes.as_chunks::<16>();
    if rest.is_empty() { spans.iter().map(|span| Span::try_from(*span).ok()).collect() } else { None }
}

fn source(agent: Option<Uuid>, calendar: Uuid, revision: i64) -> BusySource {
    BusySource {
        agent: agent.map(AgentId::from_uuid),
        calendar: CalendarId::from_uuid(calendar),
        revision: Revision(revision),
    }
}
