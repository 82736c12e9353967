//! What blocks time.

use std::collections::BTreeSet;

use async_trait::async_trait;
use kalends_calendars::ports::{BusySource, BusyTimes, CalendarBlocks, CalendarBusy, LONG};
use kalends_kernel::{AgentId, CalendarId, OrgId, Revision, Span, StoreError};

use crate::{
    SqliteStore,
    error::store_error,
    json::{self, Hex},
    rows::{busy_spans, calendar::BusySourceRow, rules::read_rules},
};

#[async_trait]
impl BusyTimes for SqliteStore {
    async fn sources_of_agents(&self, org: OrgId, agents: &[AgentId]) -> Result<Vec<BusySource>, StoreError> {
        let org_id = org.uuid();
        let found = match agents {
            // By far the most frequent question, in its plainest form.
            [agent] => {
                let agent = agent.uuid();
                sqlx::query_as!(
                    BusySourceRow,
                    "select c.id, c.agent_id, c.revision
                     from agents a join calendars c on c.org_id = a.org_id and c.agent_id = a.id
                     where a.org_id = ?1 and a.id = ?2 and a.status <> 'decommissioned' and c.deleted_at is null",
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
                    "select c.id, c.agent_id, c.revision
                     from json_each(?2) asked
                        cross join agents a on a.org_id = ?1 and a.id = unhex(asked.value)
                        cross join calendars c on c.org_id = ?1 and c.agent_id = a.id
                     where a.status <> 'decommissioned' and c.deleted_at is null",
                    org_id,
                    distinct
                )
                .fetch_all(self.readers())
                .await
            }
        };
        found.map_err(store_error)?.into_iter().map(BusySourceRow::read).collect()
    }

    async fn source_of_calendar(&self, org: OrgId, calendar: CalendarId) -> Result<Option<BusySource>, StoreError> {
        let (org_id, id) = (org.uuid(), calendar.uuid());
        sqlx::query_as!(
            BusySourceRow,
            "select c.id, c.agent_id, c.revision
             from calendars c left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where c.org_id = ?1 and c.id = ?2 and c.deleted_at is null
                and (c.agent_id is null or a.status <> 'decommissioned')",
            org_id,
            id
        )
        .fetch_optional(self.readers())
        .await
        .map_err(store_error)?
        .map(BusySourceRow::read)
        .transpose()
    }

    async fn blocking_spans(
        &self,
        org: OrgId,
        calendar: CalendarId,
        window: Span,
    ) -> Result<Option<CalendarBusy>, StoreError> {
        let (org_id, id) = (org.uuid(), calendar.uuid());
        let (before, from) = ((window.start() - LONG).as_micros(), window.start().as_micros());
        let to = window.end().as_micros();
        // The driver costs by the row, so all spans come as one text.
        let found = sqlx::query!(
            r#"select c.revision,
                (select group_concat(e.busy, '') from events e
                    where e.org_id = ?1 and e.calendar_id = ?2 and e.busy is not null
                        and e.start_at > ?3 and e.start_at < ?5
                ) as "short: String",
                (select group_concat(e.busy, '') from events e
                    where e.org_id = ?1 and e.calendar_id = ?2 and e.busy is not null
                        and e.end_at - e.start_at > 86400000000 and e.end_at > ?4
                ) as "long: String",
                (select r.rules from availability_rules r where r.org_id = ?1 and r.calendar_id = ?2) as "rules: String"
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
        let read = |text: Option<&str>| {
            busy_spans(text.unwrap_or_default())
                .ok_or_else(|| StoreError::corrupt("events", "busy", format_args!("an event of {calendar}"), "no span"))
        };
        let mut spans = read(found.short.as_deref())?;
        spans.retain(|span| span.length() <= LONG && span.overlaps(window));
        spans.extend(read(found.long.as_deref())?.into_iter().filter(|span| span.overlaps(window)));
        // The short ones come in order, and there are few others.
        spans.sort();
        let rules = found.rules.as_deref().map(|document| read_rules(calendar, document)).transpose()?;
        Ok(Some(CalendarBusy { revision: Revision(found.revision), rules, spans }))
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
