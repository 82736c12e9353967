//! Rows that name something.

use std::{collections::BTreeMap, fmt::Display};

use kalends_accounts::KeyLabel;
use kalends_app::ports::{AgentName, AuditKey, CalendarName, FieldCipher, NamedForAudit, Place, subscription_name};
use kalends_calendars::AgentStatus;
use kalends_kernel::{
    AgentId, BookingPageId, CalendarId, EventId, ExternalCalendarId, KeyId, ProposalId, StoreError, SubscriptionId,
    UserId, WebhookId,
};

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
        add_readable(&mut names, row)?;
    }
    Ok(names)
}

/// Adds the name of a row, as [`readable_names`] does.
fn add_readable<I: Ord, N>(names: &mut BTreeMap<I, N>, row: Result<(I, N), StoreError>) -> Result<(), StoreError> {
    match row {
        Ok((id, name)) => _ = names.insert(id, name),
        Err(error @ StoreError::Corrupt(_)) => {
            tracing::error!(error = &error as &dyn std::error::Error, "a name cannot be read");
        }
        Err(error) => return Err(error),
    }
    Ok(())
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

    /// The external calendar with its name, or an error that names the corrupt column.
    pub fn external_calendar(self, cipher: &dyn FieldCipher) -> Result<(ExternalCalendarId, String), StoreError> {
        let id = ExternalCalendarId::from_uuid(row_id("external_calendars", "id", &self.id)?);
        let (row, plain) = self.open("external_calendars", id, places::external_content(id), cipher)?;
        Ok((id, row.read("content", kalends_bridge::Confidential::read(&plain))?.name))
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

columns! {
    /// A name for the audit log. Its kind says what it names, and which columns it has.
    #[derive(serde::Deserialize)]
    pub struct AuditNameRow<K> {
        /// `agent`, `key`, `member`, `calendar`, `event`, `proposal`, `booking_page`, `webhook` or `subscription`.
        kind: String,
        id: K,
        /// The time by which agents, keys and members are sorted.
        since: i64,
        /// The name, the first characters of a key, the address of a member, or the sealed content that has the name.
        /// Null for what is not visible.
        text: Option<String>,
        label: Option<String>,
        agent_id: Option<K>,
        agent_name: Option<String>,
    }
}

/// What these rows name. A sealed name that cannot be read is logged and left out.
///
/// # Errors
/// [`StoreError::Corrupt`] for any other corrupt column, and any other error of a row.
pub fn named_for_audit<K: Key>(
    rows: impl IntoIterator<Item = AuditNameRow<K>>,
    cipher: &dyn FieldCipher,
) -> Result<NamedForAudit, StoreError> {
    let mut named = NamedForAudit::default();
    let (mut agents, mut keys, mut members) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for AuditNameRow { kind, id, since, text, label, agent_id, agent_name } in rows {
        let Some(text) = text else { continue };
        match kind.as_str() {
            "agent" => _ = agents.insert((since, AgentId::from_uuid(row_id("agents", "id", &id)?)), text),
            "key" => {
                let id = KeyId::from_uuid(row_id("api_keys", "id", &id)?);
                let row = Located { table: "api_keys", id: &id };
                let agent = row.uuid_if_any("agent_id", agent_id.as_ref())?.map(AgentId::from_uuid);
                let label = label.map(KeyLabel::from_stored);
                keys.insert((since, id), AuditKey { id, prefix: text, agent, agent_name, label });
            }
            "member" => _ = members.insert((since, UserId::from_uuid(row_id("users", "id", &id)?)), text),
            "calendar" => {
                named.calendars.insert(CalendarId::from_uuid(row_id("calendars", "id", &id)?), text);
            }
            kind => add_content(&mut named, kind, ContentRow { id, content: text }, cipher)?,
        }
    }
    named.agents = agents.into_iter().map(|((_, id), name)| (id, name)).collect();
    named.keys = keys.into_values().collect();
    named.members = members.into_iter().map(|((_, id), email)| (id, email)).collect();
    Ok(named)
}

/// Adds the name of a thing of that kind, whose content is sealed.
fn add_content<K: Key>(
    named: &mut NamedForAudit,
    kind: &str,
    row: ContentRow<K>,
    cipher: &dyn FieldCipher,
) -> Result<(), StoreError> {
    match kind {
        "event" => add_readable(&mut named.events, row.event(cipher)),
        "proposal" => add_readable(&mut named.proposals, row.proposal(cipher)),
        "booking_page" => add_readable(&mut named.booking_pages, row.booking_page(cipher)),
        "webhook" => add_readable(&mut named.webhooks, row.webhook(cipher)),
        "subscription" => add_readable(&mut named.subscriptions, row.subscription(cipher)),
        kind => Err(StoreError::corrupt("names", "kind", kind, "unknown name")),
    }
}
