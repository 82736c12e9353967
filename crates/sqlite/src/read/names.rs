//! The names of things by their identifiers.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use kalends_app::ports::{AgentName, AuditSubjects, CalendarName, NAMES_MAX, NamedForAudit, Names};
use kalends_kernel::{AgentId, CalendarId, ExternalCalendarId, LIMIT_MAX, OrgId, StoreError, UserId};
use uuid::Uuid;

use crate::{
    SqliteStore,
    error::store_error,
    json::{self, Hex},
    rows::{AgentNameRow, AuditNameRow, CalendarNameRow, ContentRow, named_for_audit, readable_names},
};

/// The identifiers as one parameter; `None` if there are none.
fn parameter(ids: impl Iterator<Item = Uuid>) -> Result<Option<String>, StoreError> {
    let mut ids = ids.peekable();
    if ids.peek().is_none() { Ok(None) } else { list(ids).map(Some) }
}

/// The identifiers as one parameter.
fn list(ids: impl Iterator<Item = Uuid>) -> Result<String, StoreError> {
    let ids: Vec<_> = ids.take(NAMES_MAX).map(Hex).collect();
    json::rows(&ids).map_err(store_error)
}

#[async_trait]
impl Names for SqliteStore {
    async fn names_of_agents(
        &self,
        org: OrgId,
        agents: &BTreeSet<AgentId>,
    ) -> Result<BTreeMap<AgentId, AgentName>, StoreError> {
        let Some(ids) = parameter(agents.iter().map(|id| id.uuid()))? else { return Ok(BTreeMap::new()) };
        let org_id = org.uuid();
        let rows = sqlx::query_as!(
            AgentNameRow,
            "select a.id, a.name, a.status
             from json_each(?2) asked cross join agents a on a.org_id = ?1 and a.id = unhex(asked.value)",
            org_id,
            ids
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        readable_names(rows.into_iter().map(AgentNameRow::into_domain))
    }

    async fn names_of_calendars(
        &self,
        org: OrgId,
        calendars: &BTreeSet<CalendarId>,
    ) -> Result<BTreeMap<CalendarId, CalendarName>, StoreError> {
        let Some(ids) = parameter(calendars.iter().map(|id| id.uuid()))? else { return Ok(BTreeMap::new()) };
        let org_id = org.uuid();
        let rows = sqlx::query_as!(
            CalendarNameRow,
            "select c.id, c.agent_id, c.name, c.timezone
             from json_each(?2) asked
                cross join calendars c on c.org_id = ?1 and c.id = unhex(asked.value)
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where c.deleted_at is null and (c.agent_id is null or a.status <> 'decommissioned')",
            org_id,
            ids
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        readable_names(rows.into_iter().map(CalendarNameRow::into_domain))
    }

    async fn names_for_audit(&self, org: OrgId, asked: &AuditSubjects) -> Result<NamedForAudit, StoreError> {
        let org_id = org.uuid();
        let agents = list(asked.agents.iter().map(|id| id.uuid()))?;
        let calendars = list(asked.calendars.iter().map(|id| id.uuid()))?;
        let events = list(asked.events.iter().map(|id| id.uuid()))?;
        let proposals = list(asked.proposals.iter().map(|id| id.uuid()))?;
        let pages = list(asked.booking_pages.iter().map(|id| id.uuid()))?;
        let webhooks = list(asked.webhooks.iter().map(|id| id.uuid()))?;
        let subscriptions = list(asked.subscriptions.iter().map(|id| id.uuid()))?;
        let pack = sqlx::query_scalar!(
            r#"select json_group_array(json_array(kind, hex(id), since, text, label,
                iif(agent_id is null, null, hex(agent_id)), agent_name)) as "pack!: String"
             from (
                select 'agent' as kind, id, created_at as since, name as text, null as label, null as agent_id,
                   null as agent_name
                from (select id, created_at, name from agents where org_id = ?1 order by created_at, id limit ?2)
                union all
                select 'agent', a.id, a.created_at, a.name, null, null, null
                from json_each(?3) asked cross join agents a on a.org_id = ?1 and a.id = unhex(asked.value)
                union all
                select 'key', k.id, k.created_at, k.prefix, k.label, k.agent_id, a.name
                from api_keys k left join agents a on a.org_id = k.org_id and a.id = k.agent_id
                where k.org_id = ?1 and k.revoked_at is null and (k.agent_id is null or a.status <> 'decommissioned')
                union all
                select 'member', u.id, since, u.email, null, null, null
                from memberships cross join users u on u.id = user_id
                where org_id = ?1
                union all
                select 'calendar', c.id, 0, c.name, null, null, null
                from json_each(?4) asked
                   cross join calendars c on c.org_id = ?1 and c.id = unhex(asked.value)
                   left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                where c.deleted_at is null and (c.agent_id is null or a.status <> 'decommissioned')
                union all
                select 'event', e.id, 0, e.content, null, null, null
                from json_each(?5) asked
                   cross join events e on e.org_id = ?1 and e.id = unhex(asked.value)
                   join calendars c on c.org_id = e.org_id and c.id = e.calendar_id
                   left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                where e.deleted_at is null and e.series_id is null and c.deleted_at is null
                   and (c.agent_id is null or a.status <> 'decommissioned')
                union all
                select 'proposal', p.id, 0, p.content, null, null, null
                from json_each(?6) asked cross join proposals p on p.org_id = ?1 and p.id = unhex(asked.value)
                union all
                select 'booking_page', p.id, 0, p.content, null, null, null
                from json_each(?7) asked
                   cross join booking_pages p on p.org_id = ?1 and p.id = unhex(asked.value)
                   join calendars c on c.org_id = p.org_id and c.id = p.calendar_id
                   left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                where p.deleted_at is null and c.deleted_at is null
                   and (c.agent_id is null or a.status <> 'decommissioned')
                union all
                select 'webhook', w.id, 0, w.content, null, null, null
                from json_each(?8) asked cross join webhooks w on w.org_id = ?1 and w.id = unhex(asked.value)
                union all
                select 'subscription', s.id, 0, s.content, null, null, null
                from json_each(?9) asked
                   cross join ical_subscriptions s on s.org_id = ?1 and s.id = unhex(asked.value)
                   join calendars c on c.org_id = s.org_id and c.id = s.calendar_id
                   left join agents a on a.org_id = c.org_id and a.id = c.agent_id
                where s.remains is null and c.deleted_at is null
                   and (c.agent_id is null or a.status <> 'decommissioned')
             )"#,
            org_id,
            LIMIT_MAX,
            agents,
            calendars,
            events,
            proposals,
            pages,
            webhooks,
            subscriptions
        )
        .fetch_one(self.readers())
        .await
        .map_err(store_error)?;
        named_for_audit(json::packed::<AuditNameRow>(&pack).map_err(store_error)?, self.cipher.as_ref())
    }

    async fn names_of_external_calendars(
        &self,
        org: OrgId,
        human: UserId,
        calendars: &BTreeSet<ExternalCalendarId>,
    ) -> Result<BTreeMap<ExternalCalendarId, String>, StoreError> {
        let Some(ids) = parameter(calendars.iter().map(|id| id.uuid()))? else { return Ok(BTreeMap::new()) };
        let (org_id, human_id) = (org.uuid(), human.uuid());
        let rows = sqlx::query_as!(
            ContentRow,
            "select e.id, e.content
             from json_each(?2) asked
                cross join external_calendars e on e.org_id = ?1 and e.id = unhex(asked.value)
                join calendar_connections c on c.org_id = e.org_id and c.id = e.connection_id
             where c.human_id = ?3",
            org_id,
            ids,
            human_id
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        readable_names(rows.into_iter().map(|row| row.external_calendar(self.cipher.as_ref())))
    }
}
