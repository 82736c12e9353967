//! A row of `calendars`.

use kalends_app::ports::FieldCipher;
use kalends_calendars::{
    AgentActivity, Calendar, Conflicts, FeedToken, Provider, Publication, PublicationPolicy, RecurrenceDefault,
    Reminders,
    ports::{BusySource, CalendarEntry},
};
use kalends_kernel::{AgentId, CalendarId, OrgId, Revision, StoreError, Version};
use kalends_time::Timestamp;

use crate::{Key, Located, places, row_id};

/// The token in `stored`: sealed, or plain as earlier versions wrote it.
pub fn open_feed_token(id: CalendarId, stored: &str, cipher: &dyn FieldCipher) -> Result<FeedToken, StoreError> {
    let row = Located { table: "calendars", id };
    row.open_or_plain(places::feed_token(id), stored, cipher).map(FeedToken::from)
}

/// How the events of a calendar are published, from the columns of the calendar.
pub fn publication(calendar: CalendarId, timezone: &str, policy: Option<&str>) -> Result<Publication, StoreError> {
    let row = Located { table: "calendars", id: calendar };
    let policy = policy.map(|name| row.named("publication_policy", name, PublicationPolicy::from_name));
    Ok(Publication { policy: policy.transpose()?, zone: row.read("timezone", timezone.parse())? })
}

columns! {
    $ macro calendar_row;
    /// The columns of a calendar.
    #[derive(serde::Deserialize)]
    pub struct CalendarRow<K> {
        id: K,
        agent_id: Option<K>,
        name: String,
        timezone: String,
        metadata: String,
        external_id: Option<String>,
        provider: Option<String>,
        agent_status: String,
        default_reminders: Option<String>,
        conflicts: String,
        recurrence_default: Option<String>,
        publication_policy: Option<String>,
        feed_token: String,
        revision: i64,
        version: i64,
        created_at: i64,
        updated_at: i64,
    }
}

impl<K: Key> CalendarRow<K> {
    /// The calendar, which is visible and therefore not deleted.
    pub fn open(self, org: OrgId, cipher: &dyn FieldCipher) -> Result<Calendar, StoreError> {
        let id = CalendarId::from_uuid(row_id("calendars", "id", &self.id)?);
        let row = Located { table: "calendars", id: &id };
        let provider = self.provider.as_deref().map(|name| row.named("provider", name, Provider::from_name));
        let recurrence_default = self.recurrence_default.as_deref();
        let recurrence_default =
            recurrence_default.map(|name| row.named("recurrence_default", name, RecurrenceDefault::from_name));
        let Publication { policy, zone } = publication(id, &self.timezone, self.publication_policy.as_deref())?;
        Ok(Calendar {
            id,
            org,
            agent: row.uuid_if_any("agent_id", self.agent_id.as_ref())?.map(AgentId::from_uuid),
            name: self.name,
            zone,
            metadata: row.metadata(places::calendar_metadata(id), &self.metadata, cipher)?,
            external_id: self.external_id,
            provider: provider.transpose()?,
            activity: row.named("agent_status", &self.agent_status, AgentActivity::from_name)?,
            default_reminders: row.reminders("default_reminders", self.default_reminders.as_deref())?,
            conflicts: row.named("conflicts", &self.conflicts, Conflicts::from_name)?,
            recurrence_default: recurrence_default.transpose()?,
            publication: policy,
            feed_token: open_feed_token(id, &self.feed_token, cipher)?,
            revision: Revision(self.revision),
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
            deleted_at: None,
        })
    }
}

columns! {
    $ macro calendar_entry_row;
    /// The columns of a calendar that an entry of a list shows, with the name of its agent.
    #[derive(serde::Deserialize)]
    pub struct CalendarEntryRow<K> {
        id: K,
        agent_id: Option<K>,
        agent_name: Option<String>,
        name: String,
        timezone: String,
        conflicts: String,
    }
}

impl<K: Key> CalendarEntryRow<K> {
    /// The entry, or an error that names the corrupt column.
    pub fn into_domain(self) -> Result<CalendarEntry, StoreError> {
        let id = CalendarId::from_uuid(row_id("calendars", "id", &self.id)?);
        let row = Located { table: "calendars", id: &id };
        let agent = row.uuid_if_any("agent_id", self.agent_id.as_ref())?.map(AgentId::from_uuid);
        Ok(CalendarEntry {
            id,
            name: self.name,
            // The agent of a visible calendar exists.
            agent: agent.map(|agent| (agent, self.agent_name.unwrap_or_default())),
            zone: row.read("timezone", self.timezone.parse())?,
            conflicts: row.named("conflicts", &self.conflicts, Conflicts::from_name)?,
        })
    }
}

columns! {
    $ macro busy_source_row;
    /// The columns of a calendar that a source of busy times needs.
    pub struct BusySourceRow<K> {
        id: K,
        agent_id: Option<K>,
        revision: i64,
        granted: bool,
    }
}

impl<K: Key> BusySourceRow<K> {
    /// The source, or an error that names the corrupt column.
    pub fn into_domain(self) -> Result<BusySource, StoreError> {
        let calendar = CalendarId::from_uuid(row_id("calendars", "id", &self.id)?);
        let row = Located { table: "calendars", id: &calendar };
        let agent = row.uuid_if_any("agent_id", self.agent_id.as_ref())?.map(AgentId::from_uuid);
        Ok(BusySource { agent, calendar, revision: Revision(self.revision), granted: self.granted })
    }
}

/// Reminders as a JSON array.
pub fn reminders_json(reminders: Option<&Reminders>) -> Option<String> {
    reminders.map(|reminders| {
        let minutes: Vec<String> = reminders.minutes().iter().map(u16::to_string).collect();
        format!("[{}]", minutes.join(","))
    })
}
