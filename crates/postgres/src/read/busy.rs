//! Reads busy times.

use async_trait::async_trait;
use kalends_calendars::ports::{BusySource, BusyTimes, CalendarBlocks, CalendarBusy, LONG, LivingAgent};
use kalends_kernel::{AgentId, CalendarId, OrgId, Revision, StoreError};
use kalends_time::Span;
use uuid::Uuid;

use crate::PostgresStore;
use crate::error::store_error;
use crate::rows::{Located, read_rules};

#[async_trait]
impl BusyTimes for PostgresStore {
    async fn sources_of_agents(&self, org: OrgId, agents: &[AgentId]) -> Result<Vec<BusySource>, StoreError> {
        let org = org.uuid();
        let sources = match agents {
            // One agent is by far the most frequent query, and Postgres can reuse its plan.
            [agent] => {
                let records = sqlx::query!(
                    r#"SELECT c.id, c.revision,
                         (EXISTS (SELECT 1 FROM availability_grants g WHERE g.org_id = $1 AND g.audience = 'all')
                             OR EXISTS (SELECT 1 FROM availability_grant_agents n
                                        WHERE n.org_id = $1 AND n.agent_id = $2)) AS "granted!"
                     FROM agents a
                     JOIN calendars c ON c.org_id = a.org_id AND c.agent_id = a.id
                     WHERE a.org_id = $1 AND a.id = $2 AND a.status <> 'decommissioned' AND c.deleted_at IS NULL"#,
                    org,
                    agent.uuid(),
                );
                let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
                let agent = Some(agent.uuid());
                records.into_iter().map(|record| source(agent, (record.id, record.revision), record.granted)).collect()
            }
            several => {
                let several: Vec<Uuid> = several.iter().map(|agent| agent.uuid()).collect();
                let records = sqlx::query!(
                    r#"SELECT c.agent_id, c.id, c.revision,
                         (EXISTS (SELECT 1 FROM availability_grants g WHERE g.org_id = $1 AND g.audience = 'all')
                             OR EXISTS (SELECT 1 FROM availability_grant_agents n
                                        WHERE n.org_id = $1 AND n.agent_id = c.agent_id)) AS "granted!"
                     FROM agents a
                     JOIN calendars c ON c.org_id = a.org_id AND c.agent_id = a.id
                     WHERE a.org_id = $1 AND a.id = ANY($2) AND a.status <> 'decommissioned' AND c.deleted_at IS NULL"#,
                    org,
                    &several,
                );
                let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
                records
                    .into_iter()
                    .map(|record| source(record.agent_id, (record.id, record.revision), record.granted))
                    .collect()
            }
        };
        Ok(sources)
    }

    async fn living_agents(&self, org: OrgId, agents: &[AgentId]) -> Result<Vec<LivingAgent>, StoreError> {
        let agents: Vec<Uuid> = agents.iter().map(|agent| agent.uuid()).collect();
        let records = sqlx::query!(
            r#"SELECT a.id,
                 (EXISTS (SELECT 1 FROM availability_grants g WHERE g.org_id = $1 AND g.audience = 'all')
                     OR EXISTS (SELECT 1 FROM availability_grant_agents n
                                WHERE n.org_id = $1 AND n.agent_id = a.id)) AS "granted!"
             FROM agents a
             WHERE a.org_id = $1 AND a.id = ANY($2) AND a.status <> 'decommissioned'"#,
            org.uuid(),
            &agents,
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
        let living = records.into_iter();
        Ok(living.map(|row| LivingAgent { id: AgentId::from_uuid(row.id), granted: row.granted }).collect())
    }

    async fn source_of_calendar(&self, org: OrgId, calendar: CalendarId) -> Result<Option<BusySource>, StoreError> {
        let record = sqlx::query!(
            r#"SELECT c.agent_id, c.id, c.revision,
                 (EXISTS (SELECT 1 FROM availability_grants g WHERE g.org_id = $1 AND g.audience = 'all')
                     OR EXISTS (SELECT 1 FROM availability_grant_agents n
                                WHERE n.org_id = $1 AND n.agent_id = c.agent_id)) AS "granted!"
             FROM calendars c
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE c.org_id = $1 AND c.id = $2 AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')"#,
            org.uuid(),
            calendar.uuid(),
        );
        let record = record.fetch_optional(&self.connections).await.map_err(store_error)?;
        Ok(record.map(|record| source(record.agent_id, (record.id, record.revision), record.granted)))
    }

    async fn sources_of_calendars(&self, org: OrgId, calendars: &[CalendarId]) -> Result<Vec<BusySource>, StoreError> {
        let calendars: Vec<Uuid> = calendars.iter().map(|calendar| calendar.uuid()).collect();
        let records = sqlx::query!(
            r#"SELECT c.agent_id, c.id, c.revision,
                 (EXISTS (SELECT 1 FROM availability_grants g WHERE g.org_id = $1 AND g.audience = 'all')
                     OR EXISTS (SELECT 1 FROM availability_grant_agents n
                                WHERE n.org_id = $1 AND n.agent_id = c.agent_id)) AS "granted!"
             FROM calendars c
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE c.org_id = $1 AND c.id = ANY($2) AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')"#,
            org.uuid(),
            &calendars,
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?.into_iter();
        Ok(records.map(|record| source(record.agent_id, (record.id, record.revision), record.granted)).collect())
    }

    async fn blocking_spans(
        &self,
        org: OrgId,
        calendar: CalendarId,
        window: Span,
    ) -> Result<Option<CalendarBusy>, StoreError> {
        let (first, last) = days(window);
        // One row whatever the number of spans, with all of them in one value.
        let record = sqlx::query!(
            r#"SELECT c.revision, d.spans AS "spans: Vec<u8>", d.too_full,
                 (SELECT string_agg(e.busy, '') FROM events e
                  WHERE e.org_id = $1 AND e.calendar_id = $2 AND e.busy IS NOT NULL
                      AND e.end_at - e.start_at > 86400000000 AND e.end_at > $3) AS "long: Vec<u8>",
                 (SELECT r.rules FROM availability_rules r WHERE r.org_id = $1 AND r.calendar_id = $2) AS rules,
                 EXISTS (SELECT 1 FROM events e
                         WHERE e.org_id = $1 AND e.calendar_id = $2 AND e.recurrence IS NOT NULL
                             AND e.deleted_at IS NULL AND e.reaches > $3 AND e.start_at < $6) AS "repeats!",
                 EXISTS (SELECT 1 FROM events e
                         WHERE e.org_id = $1 AND e.calendar_id = $2 AND e.status = 'hold'
                             AND e.deleted_at IS NULL)
                     OR EXISTS (SELECT 1 FROM reservations v
                                WHERE v.org_id = $1 AND v.calendar_id = $2) AS "held!"
             FROM calendars c
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             CROSS JOIN (
                 SELECT string_agg(spans, '') AS spans, bool_or(spans IS NULL) AS too_full
                 FROM busy_days
                 WHERE org_id = $1 AND calendar_id = $2 AND day >= $4 AND day <= $5
             ) d
             WHERE c.org_id = $1 AND c.id = $2 AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')"#,
            org.uuid(),
            calendar.uuid(),
            window.start().as_micros(),
            first,
            last,
            window.end().as_micros(),
        );
        let Some(record) = record.fetch_optional(&self.connections).await.map_err(store_error)? else {
            return Ok(None);
        };
        if record.too_full == Some(true) {
            return self.blocking_of_full_days(org, calendar, window).await;
        }
        let (short, long) = (record.spans.unwrap_or_default(), record.long.unwrap_or_default());
        let rules = record.rules.as_deref().map(|document| read_rules(calendar, document)).transpose()?;
        let spans = blocking(calendar, &short, &long, window)?;
        Ok(Some(CalendarBusy {
            revision: Revision(record.revision),
            rules,
            spans,
            repeats: record.repeats,
            held: record.held,
        }))
    }

    async fn busy_of_agent(
        &self,
        org: OrgId,
        agent: AgentId,
        window: Span,
    ) -> Result<Vec<(BusySource, CalendarBusy)>, StoreError> {
        let (first, last) = days(window);
        let records = sqlx::query!(
            r#"SELECT c.id, c.revision,
                 (EXISTS (SELECT 1 FROM availability_grants g WHERE g.org_id = $1 AND g.audience = 'all')
                     OR EXISTS (SELECT 1 FROM availability_grant_agents n
                                WHERE n.org_id = $1 AND n.agent_id = $2)) AS "granted!",
                 d.spans AS "spans: Vec<u8>", d.too_full,
                 (SELECT string_agg(e.busy, '') FROM events e
                  WHERE e.org_id = $1 AND e.calendar_id = c.id AND e.busy IS NOT NULL
                      AND e.end_at - e.start_at > 86400000000 AND e.end_at > $3) AS "long: Vec<u8>",
                 (SELECT r.rules FROM availability_rules r WHERE r.org_id = $1 AND r.calendar_id = c.id) AS rules,
                 EXISTS (SELECT 1 FROM events e
                         WHERE e.org_id = $1 AND e.calendar_id = c.id AND e.recurrence IS NOT NULL
                             AND e.deleted_at IS NULL AND e.reaches > $3 AND e.start_at < $6) AS "repeats!",
                 EXISTS (SELECT 1 FROM events e
                         WHERE e.org_id = $1 AND e.calendar_id = c.id AND e.status = 'hold'
                             AND e.deleted_at IS NULL)
                     OR EXISTS (SELECT 1 FROM reservations v
                                WHERE v.org_id = $1 AND v.calendar_id = c.id) AS "held!"
             FROM agents a
             JOIN calendars c ON c.org_id = a.org_id AND c.agent_id = a.id
             CROSS JOIN LATERAL (
                 SELECT string_agg(spans, '') AS spans, bool_or(spans IS NULL) AS too_full
                 FROM busy_days
                 WHERE org_id = $1 AND calendar_id = c.id AND day >= $4 AND day <= $5
             ) d
             WHERE a.org_id = $1 AND a.id = $2 AND a.status <> 'decommissioned' AND c.deleted_at IS NULL"#,
            org.uuid(),
            agent.uuid(),
            window.start().as_micros(),
            first,
            last,
            window.end().as_micros(),
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?;
        let mut sources = Vec::with_capacity(records.len());
        for record in records {
            let source = source(Some(agent.uuid()), (record.id, record.revision), record.granted);
            let (short, long) = (record.spans.unwrap_or_default(), record.long.unwrap_or_default());
            if record.too_full != Some(true) {
                let rules =
                    record.rules.as_deref().map(|document| read_rules(source.calendar, document)).transpose()?;
                let spans = blocking(source.calendar, &short, &long, window)?;
                sources.push((
                    source,
                    CalendarBusy {
                        revision: source.revision,
                        rules,
                        spans,
                        repeats: record.repeats,
                        held: record.held,
                    },
                ));
            } else if let Some(busy) = self.blocking_of_full_days(org, source.calendar, window).await? {
                sources.push((BusySource { revision: busy.revision, ..source }, busy));
            }
        }
        Ok(sources)
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

impl PostgresStore {
    /// Reads the blocking times from the events themselves, for days that have too many spans for one value.
    async fn blocking_of_full_days(
        &self,
        org: OrgId,
        calendar: CalendarId,
        window: Span,
    ) -> Result<Option<CalendarBusy>, StoreError> {
        let record = sqlx::query!(
            r#"SELECT c.revision,
                 (SELECT string_agg(e.busy, '') FROM events e
                  WHERE e.org_id = $1 AND e.calendar_id = $2 AND e.busy IS NOT NULL
                      AND e.start_at > $3 AND e.start_at < $5) AS "short: Vec<u8>",
                 (SELECT string_agg(e.busy, '') FROM events e
                  WHERE e.org_id = $1 AND e.calendar_id = $2 AND e.busy IS NOT NULL
                      AND e.end_at - e.start_at > 86400000000 AND e.end_at > $4) AS "long: Vec<u8>",
                 (SELECT r.rules FROM availability_rules r WHERE r.org_id = $1 AND r.calendar_id = $2) AS rules,
                 EXISTS (SELECT 1 FROM events e
                         WHERE e.org_id = $1 AND e.calendar_id = $2 AND e.recurrence IS NOT NULL
                             AND e.deleted_at IS NULL AND e.reaches > $4 AND e.start_at < $5) AS "repeats!",
                 EXISTS (SELECT 1 FROM events e
                         WHERE e.org_id = $1 AND e.calendar_id = $2 AND e.status = 'hold'
                             AND e.deleted_at IS NULL)
                     OR EXISTS (SELECT 1 FROM reservations v
                                WHERE v.org_id = $1 AND v.calendar_id = $2) AS "held!"
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
        let (short, long) = (record.short.unwrap_or_default(), record.long.unwrap_or_default());
        let rules = record.rules.as_deref().map(|document| read_rules(calendar, document)).transpose()?;
        let spans = blocking(calendar, &short, &long, window)?;
        Ok(Some(CalendarBusy {
            revision: Revision(record.revision),
            rules,
            spans,
            repeats: record.repeats,
            held: record.held,
        }))
    }
}

/// The first and the last day on which an event that reaches into the window and lasts at most a day can begin.
fn days(window: Span) -> (i64, i64) {
    ((window.start() - LONG).utc_date().as_days(), window.end().utc_date().as_days())
}

/// The spans that overlap the window, in order. `short` may include long spans too; they are taken only from `long`.
fn blocking(calendar: CalendarId, short: &[u8], long: &[u8], window: Span) -> Result<Vec<Span>, StoreError> {
    let read = |bytes| {
        let id = || format!("an event of {calendar}");
        spans(bytes).ok_or_else(|| Located { table: "events", id: id() }.corrupt("busy", "not a span"))
    };
    let mut spans = read(short)?;
    spans.retain(|span| span.length() <= LONG && span.overlaps(window));
    spans.extend(read(long)?.into_iter().filter(|span| span.overlaps(window)));
    // The spans are almost sorted already.
    spans.sort();
    Ok(spans)
}

/// Unpacks spans of 16 bytes each; `None` if the bytes are not spans.
fn spans(bytes: &[u8]) -> Option<Vec<Span>> {
    let (spans, rest) = bytes.as_chunks::<16>();
    if !rest.is_empty() {
        return None;
    }
    let mut read = Vec::with_capacity(spans.len());
    for span in spans {
        read.push(Span::try_from(*span).ok()?);
    }
    Some(read)
}

fn source(agent: Option<Uuid>, (calendar, revision): (Uuid, i64), granted: bool) -> BusySource {
    BusySource {
        agent: agent.map(AgentId::from_uuid),
        calendar: CalendarId::from_uuid(calendar),
        revision: Revision(revision),
        granted,
    }
}
