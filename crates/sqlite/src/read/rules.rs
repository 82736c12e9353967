//! The availability rules of visible calendars, and what blocks their time.

use std::collections::BTreeSet;

use async_trait::async_trait;
use kalends_calendars::Block;
use kalends_calendars::{
    AvailabilityRules, EventSource, EventStatus, block_kind,
    ports::{BusySource, CalendarBlocks, LONG, RulesOfCalendars},
};
use kalends_kernel::{AgentId, CalendarId, OrgId, Revision, StoreError};
use kalends_time::{Span, Timestamp};

use crate::{
    SqliteStore,
    error::store_error,
    json::{self, Hex},
    rows::{Located, RulesRow, read_rules, row_id},
};

#[async_trait]
impl RulesOfCalendars for SqliteStore {
    async fn find_rules(&self, org: OrgId, calendar: CalendarId) -> Result<Option<AvailabilityRules>, StoreError> {
        let (org_id, id) = (org.uuid(), calendar.uuid());
        sqlx::query_as!(
            RulesRow,
            "select r.calendar_id, r.id, r.rules, r.version, r.created_at, r.updated_at
             from availability_rules r
                join calendars c on c.org_id = r.org_id and c.id = r.calendar_id
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where r.org_id = ?1 and r.calendar_id = ?2 and c.deleted_at is null
                and (c.agent_id is null or a.status <> 'decommissioned')",
            org_id,
            id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(|row| row.into_domain(org))
        .transpose()
    }

    async fn rules_of_calendars(
        &self,
        org: OrgId,
        calendars: &[CalendarId],
    ) -> Result<Vec<AvailabilityRules>, StoreError> {
        if calendars.is_empty() {
            return Ok(Vec::new());
        }
        let org_id = org.uuid();
        let wanted: BTreeSet<CalendarId> = calendars.iter().copied().collect();
        let wanted: Vec<Hex> = wanted.into_iter().map(|calendar| Hex(calendar.uuid())).collect();
        let wanted = json::rows(&wanted).map_err(store_error)?;
        let found = sqlx::query_as!(
            RulesRow,
            r#"select r.calendar_id as "calendar_id!: Vec<u8>", r.id as "id!: Vec<u8>", r.rules as "rules!: String",
                r.version as "version!: i64", r.created_at as "created_at!: i64", r.updated_at as "updated_at!: i64"
             from json_each(?2) asked
                cross join calendars c on c.org_id = ?1 and c.id = unhex(asked.value)
                cross join availability_rules r on r.org_id = c.org_id and r.calendar_id = c.id
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where c.deleted_at is null and (c.agent_id is null or a.status <> 'decommissioned')"#,
            org_id,
            wanted
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        found.into_iter().map(|row| row.into_domain(org)).collect()
    }
}

impl SqliteStore {
    pub(super) async fn read_blocks(
        &self,
        org: OrgId,
        calendar: CalendarId,
        window: Span,
        limit: u32,
    ) -> Result<Option<CalendarBlocks>, StoreError> {
        let (org_id, id) = (org.uuid(), calendar.uuid());
        let (before, from) = ((window.start() - LONG).as_micros(), window.start().as_micros());
        let to = window.end().as_micros();
        // If the calendar is visible, there is at least one row: without events, it has NULLs for the event. The plus
        // sign keeps SQLite from reading all earlier events for the few that last more than a day.
        let rows = sqlx::query!(
            r#"select c.agent_id, c.revision, r.rules as "rules?",
                (exists (select 1 from availability_grants g where g.org_id = ?1 and g.audience = 'all')
                    or exists (select 1 from availability_grant_agents t
                        where t.org_id = ?1 and t.agent_id = c.agent_id)) as "granted!: bool",
                exists (select 1 from events e
                    where e.org_id = ?1 and e.calendar_id = ?2 and e.recurrence is not null and e.deleted_at is null
                        and e.reaches > ?4 and e.start_at < ?5
                ) as "repeats!: bool",
                exists (select 1 from events e indexed by events_holds
                    where e.org_id = ?1 and e.calendar_id = ?2 and e.status = 'hold' and e.deleted_at is null
                ) or exists (select 1 from reservations v
                    where v.org_id = ?1 and v.calendar_id = ?2) as "held!: bool",
                page.start_at as "start_at?: i64", page.end_at as "end_at?: i64",
                page.status as "status?: String", page.source as "source?: String"
             from calendars c
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                left join availability_rules r on r.org_id = c.org_id and r.calendar_id = c.id
                left join (
                    select start_at, end_at, status, source from events
                    where org_id = ?1 and calendar_id = ?2 and busy is not null
                        and start_at > ?3 and start_at < ?5 and end_at > ?4
                        and end_at - start_at <= 86400000000
                    union all
                    select start_at, end_at, status, source from events
                    where org_id = ?1 and calendar_id = ?2 and busy is not null
                        and end_at - start_at > 86400000000 and end_at > ?4 and +start_at < ?5
                    order by start_at, end_at limit ?6
                ) page on true
             where c.org_id = ?1 and c.id = ?2 and c.deleted_at is null
                and (c.agent_id is null or a.status <> 'decommissioned')"#,
            org_id,
            id,
            before,
            from,
            to,
            limit
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        let Some(first) = rows.first() else { return Ok(None) };
        let rules = first.rules.as_deref().map(|document| read_rules(calendar, document)).transpose()?;
        let agent = first.agent_id.as_deref().map(|id| row_id("calendars", "agent_id", id)).transpose()?;
        let (agent, revision) = (agent.map(AgentId::from_uuid), Revision(first.revision));
        let source = BusySource { agent, calendar, revision, granted: first.granted };
        let (repeats, held) = (first.repeats, first.held);
        let mut blocks = Vec::with_capacity(rows.len());
        for row in rows {
            let (Some(start), Some(end), Some(status), Some(source)) =
                (row.start_at, row.end_at, row.status, row.source)
            else {
                continue;
            };
            let on = format!("an event of {calendar}");
            let row = Located { table: "events", id: &on };
            let status = row.named("status", &status, EventStatus::from_name)?;
            let source = row.named("source", &source, EventSource::from_name)?;
            let span = row.read("end_at", Span::new(Timestamp::from_micros(start), Timestamp::from_micros(end)))?;
            blocks.push(Block { kind: block_kind(status, source), span });
        }
        blocks.sort_by_key(|block| (block.span, block.kind));
        Ok(Some(CalendarBlocks { source, rules, blocks, repeats, held }))
    }
}
