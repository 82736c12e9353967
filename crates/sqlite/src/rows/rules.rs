//! A row of `availability_rules`.

use kalends_availability::Rules;
use kalends_calendars::AvailabilityRules;
use kalends_kernel::{CalendarId, OrgId, RulesId, StoreError, Timestamp, Version};

use super::Row;

pub(crate) struct RulesRow {
    pub(crate) id: Vec<u8>,
    pub(crate) rules: String,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
}

impl RulesRow {
    pub(crate) fn read(self, org: OrgId, calendar: CalendarId) -> Result<AvailabilityRules, StoreError> {
        Ok(AvailabilityRules {
            id: RulesId::from_uuid(row(&calendar).uuid("id", &self.id)?),
            org,
            calendar,
            rules: read_rules(calendar, &self.rules)?,
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
        })
    }
}

/// The rules in the document of a calendar's row.
pub(crate) fn read_rules(calendar: CalendarId, document: &str) -> Result<Rules, StoreError> {
    row(&calendar).read("rules", serde_json::from_str(document))
}

/// The row is identified by its calendar.
fn row(calendar: &CalendarId) -> Row<'_> {
    Row { table: "availability_rules", id: calendar }
}
