//! Reads the names of things by their identifiers.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use kalends_app::ports::{AgentName, AuditSubjects, CalendarName, NAMES_MAX, NamedForAudit, Names};
use kalends_kernel::{AgentId, CalendarId, ExternalCalendarId, LIMIT_MAX, OrgId, StoreError, UserId};
use uuid::Uuid;

use crate::PostgresStore;
use crate::error::store_error;
use crate::rows::{AgentNameRow, AuditNameRow, CalendarNameRow, ContentRow, named_for_audit, readable_names};

/// The identifiers as one parameter; `None` if there are none.
fn parameter(ids: impl Iterator<Item = Uuid>) -> Option<Vec<Uuid>> {
    Some(list(ids)).filter(|ids| !ids.is_empty())
}

/// The identifiers as one parameter.
fn list(ids: impl Iterator<Item = Uuid>) -> Vec<Uuid> {
    ids.take(NAMES_MAX).collect()
}

#[async_trait]
impl Names for PostgresStore {
    async fn names_of_agents(
        &self,
        org: OrgId,
        agents: &BTreeSet<AgentId>,
    ) -> Result<BTreeMap<AgentId, AgentName>, StoreError> {
        let Some(ids) = parameter(agents.iter().map(|id| id.uuid())) else { return Ok(BTreeMap::new()) };
        let rows = sqlx::query_as!(
            AgentNameRow,
            "SELECT id, name, status FROM agents WHERE org_id = $1 AND id = ANY($2)",
            org.uuid(),
            &ids,
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        readable_names(rows.into_iter().map(AgentNameRow::into_domain))
    }

    async fn names_of_calendars(
        &self,
        org: OrgId,
        calendars: &BTreeSet<CalendarId>,
    ) -> Result<BTreeMap<CalendarId, CalendarName>, StoreError> {
        let Some(ids) = parameter(calendars.iter().map(|id| id.uuid())) else { return Ok(BTreeMap::new()) };
        let rows = sqlx::query_as!(
            CalendarNameRow,
            "SELECT c.id, c.agent_id, c.name, c.timezone
             FROM calendars c
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE c.org_id = $1 AND c.id = ANY($2) AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')",
            org.uuid(),
            &ids,
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        readable_names(rows.into_iter().map(CalendarNameRow::into_domain))
    }

    async fn names_for_audit(&self, org: OrgId, asked: &AuditSubjects) -> Result<NamedForAudit, StoreError> {
        let agents = list(asked.agents.iter().map(|id| id.uuid()));
        let calendars = list(asked.calendars.iter().map(|id| id.uuid()));
        let events = list(asked.events.iter().map(|id| id.uuid()));
        let proposals = list(asked.proposals.iter().map(|id| id.uuid()));
        let pages = list(asked.booking_pages.iter().map(|id| id.uuid()));
        let webhooks = list(asked.webhooks.iter().map(|id| id.uuid()));
        let subscriptions = list(asked.subscriptions.iter().map(|id| id.uuid()));
        // The condition on an event is among the columns, so that it is looked up by its whole key, as in find_event.
        let rows = sqlx::query_as!(
            AuditNameRow,
            r#"SELECT 'agent'::text AS "kind!", oldest.id AS "id!", oldest.created_at AS "since!",
                 oldest.name AS "text?", NULL::text AS "label?", NULL::uuid AS "agent_id?", NULL::text AS "agent_name?"
             FROM (
                 SELECT id, created_at, name FROM agents WHERE org_id = $1 ORDER BY created_at, id LIMIT $2
             ) AS oldest
             UNION ALL
             SELECT 'agent'::text, a.id, a.created_at, a.name, NULL::text, NULL::uuid, NULL::text
             FROM agents a
             WHERE a.org_id = $1 AND a.id = ANY($3)
             UNION ALL
             SELECT 'key'::text, k.id, k.created_at, k.prefix, k.label, k.agent_id, a.name
             FROM api_keys k
             LEFT JOIN agents a ON a.org_id = k.org_id AND a.id = k.agent_id
             WHERE k.org_id = $1 AND k.revoked_at IS NULL AND (k.agent_id IS NULL OR a.status <> 'decommissioned')
             UNION ALL
             SELECT 'member'::text, u.id, m.since, u.email, NULL::text, NULL::uuid, NULL::text
             FROM memberships m
             JOIN users u ON u.id = m.user_id
             WHERE m.org_id = $1
             UNION ALL
             SELECT 'calendar'::text, c.id, 0::bigint, c.name, NULL::text, NULL::uuid, NULL::text
             FROM calendars c
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE c.org_id = $1 AND c.id = ANY($4) AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
             UNION ALL
             SELECT 'event'::text, e.id, 0::bigint,
                 CASE WHEN e.deleted_at IS NULL AND e.series_id IS NULL THEN e.content END,
                 NULL::text, NULL::uuid, NULL::text
             FROM unnest($5::uuid[]) AS asked (id)
             JOIN events e ON e.org_id = $1 AND e.id = asked.id
             JOIN calendars c ON c.org_id = e.org_id AND c.id = e.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE c.deleted_at IS NULL AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
             UNION ALL
             SELECT 'proposal'::text, p.id, 0::bigint, p.content, NULL::text, NULL::uuid, NULL::text
             FROM proposals p
             WHERE p.org_id = $1 AND p.id = ANY($6)
             UNION ALL
             SELECT 'booking_page'::text, p.id, 0::bigint, p.content, NULL::text, NULL::uuid, NULL::text
             FROM booking_pages p
             JOIN calendars c ON c.org_id = p.org_id AND c.id = p.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE p.org_id = $1 AND p.id = ANY($7) AND p.deleted_at IS NULL AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')
             UNION ALL
             SELECT 'webhook'::text, w.id, 0::bigint, w.content, NULL::text, NULL::uuid, NULL::text
             FROM webhooks w
             WHERE w.org_id = $1 AND w.id = ANY($8)
             UNION ALL
             SELECT 'subscription'::text, s.id, 0::bigint, s.content, NULL::text, NULL::uuid, NULL::text
             FROM ical_subscriptions s
             JOIN calendars c ON c.org_id = s.org_id AND c.id = s.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE s.org_id = $1 AND s.id = ANY($9) AND s.remains IS NULL AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')"#,
            org.uuid(),
            i64::from(LIMIT_MAX),
            &agents,
            &calendars,
            &events,
            &proposals,
            &pages,
            &webhooks,
            &subscriptions,
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        named_for_audit(rows, &*self.cipher)
    }

    async fn names_of_external_calendars(
        &self,
        org: OrgId,
        human: UserId,
        calendars: &BTreeSet<ExternalCalendarId>,
    ) -> Result<BTreeMap<ExternalCalendarId, String>, StoreError> {
        let Some(ids) = parameter(calendars.iter().map(|id| id.uuid())) else { return Ok(BTreeMap::new()) };
        let rows = sqlx::query_as!(
            ContentRow,
            "SELECT e.id, e.content
             FROM external_calendars e
             JOIN calendar_connections c ON c.org_id = e.org_id AND c.id = e.connection_id
             WHERE e.org_id = $1 AND e.id = ANY($2) AND c.org_id = $1 AND c.human_id = $3",
            org.uuid(),
            &ids,
            human.uuid(),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        readable_names(rows.into_iter().map(|row| row.external_calendar(&*self.cipher)))
    }
}
