//! Rows that name something.

use std::{collections::BTreeMap, fmt::Display};

use kalends_app::ports::{AgentName, CalendarName, FieldCipher, Place, subscription_name};
use kalends_calendars::AgentStatus;
use kalends_kernel::{AgentId, BookingPageId, CalendarId, EventId, ProposalId, StoreError, SubscriptionId, WebhookId};

use crate::{EventContent, Key, Located, places, row_id};

/// The names in these rows. A corrupt row is logged and left out: a list must not fail because one thing in it has no
/// readable name.
///
/// # Errors
/// Any other error of a row.
pub fn readable_names<I: Ord, N>(
    rows: impl IntoIterator<Item = Result<(I, N), StoreError>>,
) -> Result<BTreeMap<I, N>, StoreError> {
    let mut names = BTreeMap::new();
    for row in rows {
        match row {
            Ok((id, name)) => _ = names.insert(id, name),
            Err(error @ StoreError::Corrupt(_)) => {
                tracing::error!(error = &error as &dyn std::error::Error, "a name cannot be read");
            }
            Err(error) => return Err(error),
        }
    }
    Ok(names)
}

columns! {
    /// An agent with its name.
    pub struct AgentNameRow<K> {
        id: K,
        name: String,
        status: String,
    }
}

impl<K: Key> AgentNameRow<K> {
    /// The agent with its name, or an error that names the corrupt column.
    pub fn into_domain(self) -> Result<(AgentId, AgentName), StoreError> {
        let id = AgentId::from_uuid(row_id("agents", "id", &self.id)?);
        let row = Located { table: "agents", id: &id };
        let status = row.named("status", &self.status, AgentStatus::from_name)?;
        Ok((id, AgentName { name: self.name, status }))
    }
}

columns! {
    /// A calendar with its name.
    pub struct CalendarNameRow<K> {
        id: K,
        agent_id: Option<K>,
        name: String,
        timezone: String,
    }
}

impl<K: Key> CalendarNameRow<K> {
    /// The calendar with its name, or an error that names the corrupt column.
    pub fn into_domain(self) -> Result<(CalendarId, CalendarName), StoreError> {
        let id = CalendarId::from_uuid(row_id("calendars", "id", &self.id)?);
        let row = Located { table: "calendars", id: &id };
        let agent = row.uuid_if_any("agent_id", self.agent_id.as_ref())?.map(AgentId::from_uuid);
        Ok((id, CalendarName { agent, zone: row.read("timezone", self.timezone.parse())?, name: self.name }))
    }
}

columns! {
    /// A thing with the sealed content that has its name.
    pub struct ContentRow<K> {
        id: K,
        content: String,
    }
}

impl<K: Key> ContentRow<K> {
    /// The event with its title, or an error that names the corrupt column.
    pub fn event(self, cipher: &dyn FieldCipher) -> Result<(EventId, String), StoreError> {
        let id = EventId::from_uuid(row_id("events", "id", &self.id)?);
        let (row, plain) = self.open("events", id, places::event_content(id), cipher)?;
        Ok((id, row.read("content", EventContent::title(&plain))?))
    }

    /// The proposal with its title, or an error that names the corrupt column.
    pub fn proposal(self, cipher: &dyn FieldCipher) -> Result<(ProposalId, String), StoreError> {
        let id = ProposalId::from_uuid(row_id("proposals", "id", &self.id)?);
        let (row, plain) = self.open("proposals", id, places::proposal_content(id), cipher)?;
        let (title, ..) = row.read("content", kalends_proposals::Confidential::read(&plain))?;
        Ok((id, title))
    }

    /// The booking page with its title, or an error that names the corrupt column.
    pub fn booking_page(self, cipher: &dyn FieldCipher) -> Result<(BookingPageId, String), StoreError> {
        let id = BookingPageId::from_uuid(row_id("booking_pages", "id", &self.id)?);
        let (row, plain) = self.open("booking_pages", id, places::booking_page_content(id), cipher)?;
        Ok((id, row.read("content", kalends_bookings::Confidential::read(&plain))?.title))
    }

    /// The webhook endpoint with the host of its address, or an error that names the corrupt column.
    pub fn webhook(self, cipher: &dyn FieldCipher) -> Result<(WebhookId, String), StoreError> {
        let id = WebhookId::from_uuid(row_id("webhooks", "id", &self.id)?);
        let (row, plain) = self.open("webhooks", id, places::webhook_content(id), cipher)?;
        let content = row.read("content", kalends_notifications::Confidential::read(&plain))?;
        let (host, _) = content.url.destination();
        Ok((id, host.to_owned()))
    }

    /// The subscription with its name, or an error that names the corrupt column.
    pub fn subscription(self, cipher: &dyn FieldCipher) -> Result<(SubscriptionId, String), StoreError> {
        let id = SubscriptionId::from_uuid(row_id("ical_subscriptions", "id", &self.id)?);
        let (row, plain) = self.open("ical_subscriptions", id, places::subscription_content(id), cipher)?;
        let content = row.read("content", kalends_feeds::Confidential::read(&plain))?;
        Ok((id, subscription_name(content.label.as_deref(), &content.url)))
    }

    /// The location of the row, for errors, and the plain form of its content.
    fn open<I: Display>(
        &self,
        table: &'static str,
        id: I,
        place: Place,
        cipher: &dyn FieldCipher,
    ) -> Result<(Located<I>, Vec<u8>), StoreError> {
        let row = Located { table, id };
        let plain = row.open(place, &self.content, cipher)?;
        Ok((row, plain))
    }
}
