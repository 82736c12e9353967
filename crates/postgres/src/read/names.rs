//! Reads the names of things by their identifiers.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use kalends_app::ports::{AgentName, CalendarName, NAMES_MAX, Names};
use kalends_kernel::{
    AgentId, BookingPageId, CalendarId, EventId, OrgId, ProposalId, StoreError, SubscriptionId, WebhookId,
};
use uuid::Uuid;

use crate::PostgresStore;
use crate::error::store_error;
use crate::rows::{AgentNameRow, CalendarNameRow, ContentRow, readable_names};

/// The identifiers as one parameter; `None` if there are none.
fn parameter(ids: impl Iterator<Item = Uuid>) -> Option<Vec<Uuid>> {
    let ids: Vec<_> = ids.take(NAMES_MAX).collect();
    (!ids.is_empty()).then_some(ids)
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

    async fn titles_of_events(
        &self,
        org: OrgId,
        events: &BTreeSet<EventId>,
    ) -> Result<BTreeMap<EventId, String>, StoreError> {
        let Some(ids) = parameter(events.iter().map(|id| id.uuid())) else { return Ok(BTreeMap::new()) };
        // The rows to look up hold the whole key, as in find_event.
        let records = sqlx::query!(
            "SELECT e.id, e.content, e.deleted_at, e.series_id
             FROM unnest($2::uuid[]) AS asked (id)
             JOIN events e ON e.org_id = $1 AND e.id = asked.id
             JOIN calendars c ON c.org_id = e.org_id AND c.id = e.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE c.deleted_at IS NULL AND (c.agent_id IS NULL OR a.status <> 'decommissioned')",
            org.uuid(),
            &ids,
        );
        let records = records.fetch_all(&self.connections).await.map_err(store_error)?.into_iter();
        let visible = records.filter(|record| record.deleted_at.is_none() && record.series_id.is_none());
        let rows = visible.map(|record| ContentRow { id: record.id, content: record.content });
        readable_names(rows.map(|row| row.event(&*self.cipher)))
    }

    async fn titles_of_proposals(
        &self,
        org: OrgId,
        proposals: &BTreeSet<ProposalId>,
    ) -> Result<BTreeMap<ProposalId, String>, StoreError> {
        let Some(ids) = parameter(proposals.iter().map(|id| id.uuid())) else { return Ok(BTreeMap::new()) };
        let rows = sqlx::query_as!(
            ContentRow,
            "SELECT id, content FROM proposals WHERE org_id = $1 AND id = ANY($2)",
            org.uuid(),
            &ids,
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        readable_names(rows.into_iter().map(|row| row.proposal(&*self.cipher)))
    }

    async fn titles_of_booking_pages(
        &self,
        org: OrgId,
        pages: &BTreeSet<BookingPageId>,
    ) -> Result<BTreeMap<BookingPageId, String>, StoreError> {
        let Some(ids) = parameter(pages.iter().map(|id| id.uuid())) else { return Ok(BTreeMap::new()) };
        let rows = sqlx::query_as!(
            ContentRow,
            "SELECT p.id, p.content
             FROM booking_pages p
             JOIN calendars c ON c.org_id = p.org_id AND c.id = p.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE p.org_id = $1 AND p.id = ANY($2) AND p.deleted_at IS NULL AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')",
            org.uuid(),
            &ids,
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        readable_names(rows.into_iter().map(|row| row.booking_page(&*self.cipher)))
    }

    async fn hosts_of_webhooks(
        &self,
        org: OrgId,
        webhooks: &BTreeSet<WebhookId>,
    ) -> Result<BTreeMap<WebhookId, String>, StoreError> {
        let Some(ids) = parameter(webhooks.iter().map(|id| id.uuid())) else { return Ok(BTreeMap::new()) };
        let rows = sqlx::query_as!(
            ContentRow,
            "SELECT id, content FROM webhooks WHERE org_id = $1 AND id = ANY($2)",
            org.uuid(),
            &ids,
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        readable_names(rows.into_iter().map(|row| row.webhook(&*self.cipher)))
    }

    async fn names_of_subscriptions(
        &self,
        org: OrgId,
        subscriptions: &BTreeSet<SubscriptionId>,
    ) -> Result<BTreeMap<SubscriptionId, String>, StoreError> {
        let Some(ids) = parameter(subscriptions.iter().map(|id| id.uuid())) else { return Ok(BTreeMap::new()) };
        let rows = sqlx::query_as!(
            ContentRow,
            "SELECT s.id, s.content
             FROM ical_subscriptions s
             JOIN calendars c ON c.org_id = s.org_id AND c.id = s.calendar_id
             LEFT JOIN agents a ON a.org_id = c.org_id AND a.id = c.agent_id
             WHERE s.org_id = $1 AND s.id = ANY($2) AND s.remains IS NULL AND c.deleted_at IS NULL
                 AND (c.agent_id IS NULL OR a.status <> 'decommissioned')",
            org.uuid(),
            &ids,
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        readable_names(rows.into_iter().map(|row| row.subscription(&*self.cipher)))
    }
}
