//! The names of things by their identifiers.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use kalends_app::ports::{AgentName, CalendarName, NAMES_MAX, Names};
use kalends_kernel::{
    AgentId, BookingPageId, CalendarId, EventId, OrgId, ProposalId, StoreError, SubscriptionId, WebhookId,
};
use uuid::Uuid;

use crate::{
    SqliteStore,
    error::store_error,
    json::{self, Hex},
    rows::{AgentNameRow, CalendarNameRow, ContentRow, readable_names},
};

/// The identifiers as one parameter; `None` if there are none.
fn parameter(ids: impl Iterator<Item = Uuid>) -> Result<Option<String>, StoreError> {
    let ids: Vec<_> = ids.take(NAMES_MAX).map(Hex).collect();
    if ids.is_empty() { Ok(None) } else { json::rows(&ids).map(Some).map_err(store_error) }
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

    async fn titles_of_events(
        &self,
        org: OrgId,
        events: &BTreeSet<EventId>,
    ) -> Result<BTreeMap<EventId, String>, StoreError> {
        let Some(ids) = parameter(events.iter().map(|id| id.uuid()))? else { return Ok(BTreeMap::new()) };
        let org_id = org.uuid();
        let rows = sqlx::query_as!(
            ContentRow,
            "select e.id, e.content
             from json_each(?2) asked
                cross join events e on e.org_id = ?1 and e.id = unhex(asked.value)
                join calendars c on c.org_id = e.org_id and c.id = e.calendar_id
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where e.deleted_at is null and e.series_id is null and c.deleted_at is null
                and (c.agent_id is null or a.status <> 'decommissioned')",
            org_id,
            ids
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        readable_names(rows.into_iter().map(|row| row.event(self.cipher.as_ref())))
    }

    async fn titles_of_proposals(
        &self,
        org: OrgId,
        proposals: &BTreeSet<ProposalId>,
    ) -> Result<BTreeMap<ProposalId, String>, StoreError> {
        let Some(ids) = parameter(proposals.iter().map(|id| id.uuid()))? else { return Ok(BTreeMap::new()) };
        let org_id = org.uuid();
        let rows = sqlx::query_as!(
            ContentRow,
            "select p.id, p.content
             from json_each(?2) asked cross join proposals p on p.org_id = ?1 and p.id = unhex(asked.value)",
            org_id,
            ids
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        readable_names(rows.into_iter().map(|row| row.proposal(self.cipher.as_ref())))
    }

    async fn titles_of_booking_pages(
        &self,
        org: OrgId,
        pages: &BTreeSet<BookingPageId>,
    ) -> Result<BTreeMap<BookingPageId, String>, StoreError> {
        let Some(ids) = parameter(pages.iter().map(|id| id.uuid()))? else { return Ok(BTreeMap::new()) };
        let org_id = org.uuid();
        let rows = sqlx::query_as!(
            ContentRow,
            "select p.id, p.content
             from json_each(?2) asked
                cross join booking_pages p on p.org_id = ?1 and p.id = unhex(asked.value)
                join calendars c on c.org_id = p.org_id and c.id = p.calendar_id
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where p.deleted_at is null and c.deleted_at is null
                and (c.agent_id is null or a.status <> 'decommissioned')",
            org_id,
            ids
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        readable_names(rows.into_iter().map(|row| row.booking_page(self.cipher.as_ref())))
    }

    async fn hosts_of_webhooks(
        &self,
        org: OrgId,
        webhooks: &BTreeSet<WebhookId>,
    ) -> Result<BTreeMap<WebhookId, String>, StoreError> {
        let Some(ids) = parameter(webhooks.iter().map(|id| id.uuid()))? else { return Ok(BTreeMap::new()) };
        let org_id = org.uuid();
        let rows = sqlx::query_as!(
            ContentRow,
            "select w.id, w.content
             from json_each(?2) asked cross join webhooks w on w.org_id = ?1 and w.id = unhex(asked.value)",
            org_id,
            ids
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        readable_names(rows.into_iter().map(|row| row.webhook(self.cipher.as_ref())))
    }

    async fn names_of_subscriptions(
        &self,
        org: OrgId,
        subscriptions: &BTreeSet<SubscriptionId>,
    ) -> Result<BTreeMap<SubscriptionId, String>, StoreError> {
        let Some(ids) = parameter(subscriptions.iter().map(|id| id.uuid()))? else { return Ok(BTreeMap::new()) };
        let org_id = org.uuid();
        let rows = sqlx::query_as!(
            ContentRow,
            "select s.id, s.content
             from json_each(?2) asked
                cross join ical_subscriptions s on s.org_id = ?1 and s.id = unhex(asked.value)
                join calendars c on c.org_id = s.org_id and c.id = s.calendar_id
                left join agents a on a.org_id = c.org_id and a.id = c.agent_id
             where s.remains is null and c.deleted_at is null
                and (c.agent_id is null or a.status <> 'decommissioned')",
            org_id,
            ids
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        readable_names(rows.into_iter().map(|row| row.subscription(self.cipher.as_ref())))
    }
}
