//! A row of `calendars`.

use kalends_app::ports::{FieldCipher, Place, SEALED};
use kalends_calendars::{AgentActivity, Calendar, FeedToken, Provider, ports::BusySource};
use kalends_kernel::{AgentId, CalendarId, OrgId, Revision, StoreError, Timestamp, Version};

use super::{Row, row_id};

/// Where the sealed token of a calendar's feed is stored.
pub(crate) const fn feed_token_place(id: CalendarId) -> Place {
    Place { table: "calendars", column: "feed_token", id: id.uuid() }
}

/// The token in `stored`: sealed, or plain as earlier versions wrote it.
pub(crate) fn open_feed_token(id: CalendarId, stored: &str, cipher: &dyn FieldCipher) -> Result<FeedToken, StoreError> {
    if !stored.starts_with(SEALED) {
        return Ok(stored.into());
    }
    let row = Row { table: "calendars", id: &id };
    let plain = row.read("feed_token", cipher.open(feed_token_place(id), stored))?;
    row.read("feed_token", String::from_utf8(plain)).map(FeedToken::from)
}

pub(crate) struct CalendarRow {
    pub(crate) id: Vec<u8>,
    pub(crate) agent_id: Option<Vec<u8>>,
    pub(crate) name: String,
    pub(crate) timezone: String,
    pub(crate) metadata: String,
    pub(crate) external_id: Option<String>,
    pub(crate) provider: Option<String>,
    pub(crate) agent_status: String,
    pub(crate) default_reminders: Option<String>,
    pub(crate) feed_token: String,
    pub(crate) revision: i64,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
}

impl CalendarRow {
    /// The calendar, which is visible and therefore not deleted.
    pub(crate) fn read(self, org: OrgId, cipher: &dyn FieldCipher) -> Result<Calendar, StoreError> {
        let id = CalendarId::from_uuid(row_id("calendars", "id", &self.id)?);
        let row = Row { table: "calendars", id: &id };
        let provider = self.provider.as_deref().map(|name| row.named("provider", Provider::from_name, name));
        Ok(Calendar {
            id,
            org,
            agent: owner(row, self.agent_id.as_deref())?,
            name: self.name,
            zone: row.read("timezone", self.timezone.parse())?,
            metadata: row.metadata(id.uuid(), &self.metadata, cipher)?,
            external_id: self.external_id,
            provider: provider.transpose()?,
            activity: row.named("agent_status", AgentActivity::from_name, &self.agent_status)?,
            default_reminders: row.reminders("default_reminders", self.default_reminders.as_deref())?,
            feed_token: open_feed_token(id, &self.feed_token, cipher)?,
            revision: Revision(self.revision),
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
            deleted_at: None,
        })
    }
}

/// The columns of a calendar that a source of busy times needs.
pub(crate) struct BusySourceRow {
    pub(crate) id: Vec<u8>,
    pub(crate) agent_id: Option<Vec<u8>>,
    pub(crate) revision: i64,
    pub(crate) granted: bool,
}

impl BusySourceRow {
    pub(crate) fn read(self) -> Result<BusySource, StoreError> {
        let calendar = CalendarId::from_uuid(row_id("calendars", "id", &self.id)?);
        let row = Row { table: "calendars", id: &calendar };
        let agent = owner(row, self.agent_id.as_deref())?;
        Ok(BusySource { agent, calendar, revision: Revision(self.revision), granted: self.granted })
    }
}

fn owner(row: Row<'_>, agent: Option<&[u8]>) -> Result<Option<AgentId>, StoreError> {
    agent.map(|bytes| row.uuid("agent_id", bytes).map(AgentId::from_uuid)).transpose()
}
