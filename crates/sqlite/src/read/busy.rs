//! Busy times.

use std::collections::BTreeSet;

use async_trait::async_trait;
use kalends_calendars::ports::{BusySource, BusyTimes, CalendarBlocks, CalendarBusy, LONG, LivingAgent};
use kalends_kernel::{AgentId, CalendarId, OrgId, Revision, StoreError};
use kalends_time::Span;

use crate::busy_text::busy_spans;
use crate::{
    SqliteStore,
    error::store_error,
    json::{self, Hex},
    rows::{BusySourceRow, busy_source_row, read_rules, row_id},
};

#[async_trait]
impl BusyTimes for SqliteStore {
    async fn sources_of_agents(&self, org: OrgId, agents: &[AgentId]) -> Result<Vec<BusySource>, StoreError> {
        let org_id = org.uuid();
        let found = match agents {
            // One agent is by far the most frequent query, so it has the plainest statement.
            [agent] => {
                let agent = agent.uuid();
                sqlx::query_as!(
                    BusySourceRow,
                    r#"select c.id, c.agent_id, c.revision,
                        (exists (select 1 from availability_grants g where g.org_id = ?1 and g.audience = 'all')
                            or exists (select 1 from availability_grant_agents t
                                where t.org_id = ?1 and t.agent_id = ?2)) as "granted!: bool"
                     from agents a join calendars c on c.org_id = a.org_id and c.agent_id = a.id
                     where a.org_id = ?1 and a.id = ?2 and a.status <> 'decommissioned' and c.deleted_at is null"#,
                    org_id,
                    agent
                )
                .fetch_all(self.readers())
                .await
            }
            several => {
                let distinct: BTreeSet<AgentId> = several.iter().copied().collect();
                let distinct: Vec<Hex> = distinct.into_iter().map(|agent| Hex(agent.uuid())).collect();
                let distinct = json::rows(&distinct).map_err(store_error)?;
                sqlx::query_as!(
                    BusySourceRow,
                    r#"select c.id, c.agent_id, c.revision,
                        (exists (select 1 from availability_grants g where g.org_id = ?1 and g.audience = 'all')
                            or exists (select 1 from availability_grant_agents t
                                where t.org_id = ?1 and t.agent_id = a.id)) as "granted!: bool"
                     from json_each(?2) asked
                        cross join agents a on a.org_id = ?1 and a.id = unhex(asked.value)
                        cross join calendars c on c.org_id = ?1 and c.agent_id = a.id
                     where a.status <> 'decommissioned' and c.deleted_at is null"#,
                    org_id,
                    distinct
                )
                .fetch_all(self.readers())
                .await
            }
        };
        found.map_err(store_error)?.into_iter().map(BusySourceRow::into_domain).collect()
    }

    async fn living_agents(&self, org: OrgId, agents: &[AgentId]) -> Result<Vec<LivingAgent>, StoreError> {
        let org_id = org.uuid();
        let wanted: BTreeSet<AgentId> = agents.iter().copied().collect();
        let wanted: Vec<Hex> = wanted.into_iter().map(|agent| Hex(agent.uuid())).collect();
        let wanted = json::rows(&wanted).map_err(store_error)?;
        let found = sqlx::query!(
            r#"select a.id,
                (exists (select 1 from availability_grants g where g.org_id = ?1 and g.audience = 'all')
                    or exists (select 1 from availability_grant_agents t
                        where t.org_id = ?1 and t.agent_id = a.id)) as "granted!: bool"
             from json_each(?2) asked cross join agents a on a.org_id = ?1 and a.id = unhex(asked.value)
             where a.status <> 'decommissioned'"#,
            org_id,
            wanted
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let living = found.into_iter().map(|row| {
            Ok(LivingAgent { id: AgentId::from_uuid(row_id("agents", "id", &row.id)?), granted: row.granted })
        });
        living.collect()
    }

    async fn source_of_calendar(&self, org: OrgId, calendar: CalendarId) -> Result<Option<BusySource>, StoreError> {
        let (org_id, id) = (org.uuid(), calendar.uuid());
        sqlx::query_as!(
            BusySourceRow,
            r#"select c.id, c.agent_id, c.revision,
                (exists (select 1 from availability_grants g where g.org_id = ?1 and g.audience = 'all')
                    or exists (select 1 from availability_grant_agents t
                        where t.org_id = ?1 and t.agent_id = c.agent_id)) as "granted!: bool"
             from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where c.org_id = ?1 and c.id = ?2 and c.deleted_at is null
                and (c.agent_id is null or a.status <> 'decommissioned')"#,
            org_id,
            id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(BusySourceRow::into_domain)
        .transpose()
    }

    async fn sources_of_calendars(&self, org: OrgId, calendars: &[CalendarId]) -> Result<Vec<BusySource>, StoreError> {
        let org_id = org.uuid();
        let wanted: BTreeSet<CalendarId> = calendars.iter().copied().collect();
        let wanted: Vec<Hex> = wanted.into_iter().map(|calendar| Hex(calendar.uuid())).collect();
        let wanted = json::rows(&wanted).map_err(store_error)?;
        let found = sqlx::query_as!(
            BusySourceRow,
            r#"select c.id, c.agent_id, c.revision,
                (exists (select 1 from availability_grants g where g.org_id = ?1 and g.audience = 'all')
                    or exists (select 1 from availability_grant_agents t
                        where t.org_id = ?1 and t.agent_id = c.agent_id)) as "granted!: bool"
             from json_each(?2) asked
                cross join calendars c on c.org_id = ?1 and c.id = unhex(asked.value)
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where c.deleted_at is null and (c.agent_id is null or a.status <> 'decommissioned')"#,
            org_id,
            wanted
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        found.into_iter().map(BusySourceRow::into_domain).collect()
    }

    async fn blocking_spans(
        &self,
        org: OrgId,
        calendar: CalendarId,
        window: Span,
    ) -> Result<Option<CalendarBusy>, StoreError> {
        let (org_id, id) = (org.uuid(), calendar.uuid());
        let Bounds { from, to, first, last } = Bounds::of(window);
        // The driver's cost is per row, so all spans come as one text.
        let found = sqlx::query!(
            r#"select c.revision,
                (select group_concat(coalesce(d.spans, '!'), '') from busy_days d
                    where d.org_id = ?1 and d.calendar_id = ?2 and d.day >= ?4 and d.day <= ?5
                ) as "days: Vec<u8>",
                (select group_concat(e.busy, '') from events e
                    where e.org_id = ?1 and e.calendar_id = ?2 and e.busy is not null
                        and e.end_at - e.start_at > 86400000000 and e.end_at > ?3
                ) as "long: Vec<u8>",
                (select r.rules from availability_rules r where r.org_id = ?1 and r.calendar_id = ?2) as "rules: String",
                exists (select 1 from events e
                    where e.org_id = ?1 and e.calendar_id = ?2 and e.recurrence is not null and e.deleted_at is null
                        and e.reaches > ?3 and e.start_at < ?6
                ) as "repeats!: bool",
                exists (select 1 from events e indexed by events_holds
                    where e.org_id = ?1 and e.calendar_id = ?2 and e.status = 'hold' and e.deleted_at is null
                ) or exists (select 1 from reservations v
                    where v.org_id = ?1 and v.calendar_id = ?2) as "held!: bool"
             from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where c.org_id = ?1 and c.id = ?2 and c.deleted_at is null
                and (c.agent_id is null or a.status <> 'decommissioned')"#,
            org_id,
            id,
            from,
            first,
            last,
            to
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?;
        let Some(found) = found else { return Ok(None) };
        let (days, long) = (found.days.unwrap_or_default(), found.long.unwrap_or_default());
        if days.contains(&TOO_FULL) {
            return self.blocking_of_full_days(org, calendar, window).await;
        }
        let rules = found.rules.as_deref().map(|document| read_rules(calendar, document)).transpose()?;
        let spans = blocking(calendar, &days, &long, window)?;
        Ok(Some(CalendarBusy {
            revision: Revision(found.revision),
            rules,
            spans,
            repeats: found.repeats,
            held: found.held,
        }))
    }

    async fn busy_of_agent(
        &self,
        org: OrgId,
        agent: AgentId,
        window: Span,
    ) -> Result<Vec<(BusySource, CalendarBusy)>, StoreError> {
        let (org_id, agent_id) = (org.uuid(), agent.uuid());
        let Bounds { from, to, first, last } = Bounds::of(window);
        let found = sqlx::query!(
            r#"select c.id, c.agent_id, c.revision,
                (exists (select 1 from availability_grants g where g.org_id = ?1 and g.audience = 'all')
                    or exists (select 1 from availability_grant_agents t
                        where t.org_id = ?1 and t.agent_id = ?2)) as "granted!: bool",
                (select group_concat(coalesce(d.spans, '!'), '') from busy_days d
                    where d.org_id = ?1 and d.calendar_id = c.id and d.day >= ?4 and d.day <= ?5
                ) as "days: Vec<u8>",
                (select group_concat(e.busy, '') from events e
                    where e.org_id = ?1 and e.calendar_id = c.id and e.busy is not null
                        and e.end_at - e.start_at > 86400000000 and e.end_at > ?3
                ) as "long: Vec<u8>",
                (select r.rules from availability_rules r where r.org_id = ?1 and r.calendar_id = c.id) as "rules: String",
                exists (select 1 from events e
                    where e.org_id = ?1 and e.calendar_id = c.id and e.recurrence is not null and e.deleted_at is null
                        and e.reaches > ?3 and e.start_at < ?6
                ) as "repeats!: bool",
                exists (select 1 from events e indexed by events_holds
                    where e.org_id = ?1 and e.calendar_id = c.id and e.status = 'hold' and e.deleted_at is null
                ) or exists (select 1 from reservations v
                    where v.org_id = ?1 and v.calendar_id = c.id) as "held!: bool"
             from agents a join calendars c on c.org_id = a.org_id and c.agent_id = a.id
             where a.org_id = ?1 and a.id = ?2 and a.status <> 'decommissioned' and c.deleted_at is null"#,
            org_id,
            agent_id,
            from,
            first,
            last,
            to
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let mut sources = Vec::with_capacity(found.len());
        for found in found {
            let row = busy_source_row!(found);
            let source = row.into_domain()?;
            let (days, long) = (found.days.unwrap_or_default(), found.long.unwrap_or_default());
            if !days.contains(&TOO_FULL) {
                let rules = found.rules.as_deref().map(|document| read_rules(source.calendar, document)).transpose()?;
                let spans = blocking(source.calendar, &days, &long, window)?;
                sources.push((
                    source,
                    CalendarBusy { revision: source.revision, rules, spans, repeats: found.repeats, held: found.held },
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

/// The value of a day that has too many spans for one value.
const TOO_FULL: u8 = b'!';

/// A window as parameters of the statements.
struct Bounds {
    from: i64,
    to: i64,
    /// The first and the last day on which an event that reaches into the window and lasts at most a day can begin.
    first: i64,
    last: i64,
}

impl Bounds {
    fn of(window: Span) -> Self {
        Self {
            from: window.start().as_micros(),
            to: window.end().as_micros(),
            first: (window.start() - LONG).utc_date().as_days(),
            last: window.end().utc_date().as_days(),
        }
    }
}

impl SqliteStore {
    /// Reads the blocking times from the events themselves, for days that have too many spans for one value.
    async fn blocking_of_full_days(
        &self,
        org: OrgId,
        calendar: CalendarId,
        window: Span,
    ) -> Result<Option<CalendarBusy>, StoreError> {
        let (org_id, id) = (org.uuid(), calendar.uuid());
        let before = (window.start() - LONG).as_micros();
        let (from, to) = (window.start().as_micros(), window.end().as_micros());
        let found = sqlx::query!(
            r#"select c.revision,
                (select group_concat(e.busy, '') from events e
                    where e.org_id = ?1 and e.calendar_id = ?2 and e.busy is not null
                        and e.start_at > ?3 and e.start_at < ?5
                ) as "short: Vec<u8>",
                (select group_concat(e.busy, '') from events e
                    where e.org_id = ?1 and e.calendar_id = ?2 and e.busy is not null
                        and e.end_at - e.start_at > 86400000000 and e.end_at > ?4
                ) as "long: Vec<u8>",
                (select r.rules from availability_rules r where r.org_id = ?1 and r.calendar_id = ?2) as "rules: String",
                exists (select 1 from events e
                    where e.org_id = ?1 and e.calendar_id = ?2 and e.recurrence is not null and e.deleted_at is null
                        and e.reaches > ?4 and e.start_at < ?5
                ) as "repeats!: bool",
                exists (select 1 from events e indexed by events_holds
                    where e.org_id = ?1 and e.calendar_id = ?2 and e.status = 'hold' and e.deleted_at is null
                ) or exists (select 1 from reservations v
                    where v.org_id = ?1 and v.calendar_id = ?2) as "held!: bool"
             from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where c.org_id = ?1 and c.id = ?2 and c.deleted_at is null
                and (c.agent_id is null or a.status <> 'decommissioned')"#,
            org_id,
            id,
            before,
            from,
            to
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?;
        let Some(found) = found else { return Ok(None) };
        let (short, long) = (found.short.unwrap_or_default(), found.long.unwrap_or_default());
        let rules = found.rules.as_deref().map(|document| read_rules(calendar, document)).transpose()?;
        let spans = blocking(calendar, &short, &long, window)?;
        Ok(Some(CalendarBusy {
            revision: Revision(found.revision),
            rules,
            spans,
            repeats: found.repeats,
            held: found.held,
        }))
    }
}

/// The spans that overlap the window, in order. `short` may include long spans too; they are taken only from `long`.
fn blocking(calendar: CalendarId, short: &[u8], long: &[u8], window: Span) -> Result<Vec<Span>, StoreError> {
    let read = |texts: &[u8]| {
        busy_spans(texts)
            .ok_or_else(|| StoreError::corrupt("events", "busy", format_args!("an event of {calendar}"), "not a span"))
    };
    let mut spans = read(short)?;
    spans.retain(|span| span.length() <= LONG && span.overlaps(window));
    spans.extend(read(long)?.into_iter().filter(|span| span.overlaps(window)));
    // The spans are almost sorted already.
    spans.sort();
    Ok(spans)
}
