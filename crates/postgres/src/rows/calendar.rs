//! A row of `calendars`.

use kalends_app::ports::FieldCipher;
use kalends_calendars::{AgentActivity, Calendar, Provider};
use kalends_kernel::{AgentId, CalendarId, OrgId, Revision, StoreError, Timestamp, Version, Zone, ZoneError};
use uuid::Uuid;

use super::Located;
use crate::sealed::{calendar_metadata, open_feed_token, open_metadata};

/// The columns of a calendar.
pub(crate) struct CalendarRow {
    pub(crate) org_id: Uuid,
    pub(crate) id: Uuid,
    pub(crate) agent_id: Option<Uuid>,
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
    pub(crate) deleted_at: Option<i64>,
}

/// Builds a [`CalendarRow`] from a record that may have more columns.
macro_rules! calendar_row {
    ($record:ident) => {
        $crate::rows::CalendarRow {
            org_id: $record.org_id,
            id: $record.id,
            agent_id: $record.agent_id,
            name: $record.name,
            timezone: $record.timezone,
            metadata: $record.metadata,
            external_id: $record.external_id,
            provider: $record.provider,
            agent_status: $record.agent_status,
            default_reminders: $record.default_reminders,
            feed_token: $record.feed_token,
            revision: $record.revision,
            version: $record.version,
            created_at: $record.created_at,
            updated_at: $record.updated_at,
            deleted_at: $record.deleted_at,
        }
    };
}
pub(crate) use calendar_row;

impl CalendarRow {
    pub(crate) fn into_domain(self, cipher: &dyn FieldCipher) -> Result<Calendar, StoreError> {
        let id = CalendarId::from_uuid(self.id);
        let row = Located { table: "calendars", id };
        let provider = self.provider.as_deref().map(|name| row.named("provider", name, Provider::from_name));
        Ok(Calendar {
            id,
            org: OrgId::from_uuid(self.org_id),
            agent: self.agent_id.map(AgentId::from_uuid),
            zone: self.timezone.parse::<Zone>().map_err(|error: ZoneError| row.corrupt("timezone", error))?,
            metadata: open_metadata(calendar_metadata(id), id, &self.metadata, cipher)?,
            provider: provider.transpose()?,
            activity: row.named("agent_status", &self.agent_status, AgentActivity::from_name)?,
            default_reminders: row.reminders("default_reminders", self.default_reminders.as_deref())?,
            name: self.name,
            external_id: self.external_id,
            feed_token: open_feed_token(id, &self.feed_token, cipher)?,
            revision: Revision(self.revision),
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
            deleted_at: self.deleted_at.map(Timestamp::from_micros),
        })
    }
}
