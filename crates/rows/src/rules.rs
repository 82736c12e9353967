//! A row of `availability_rules`.

use kalends_availability::Rules;
use kalends_calendars::AvailabilityRules;
use kalends_kernel::{CalendarId, OrgId, RulesId, StoreError, Version};
use kalends_time::Timestamp;

use crate::{Key, Located, row_id};

columns! {
    /// The columns of a calendar's rules.
    pub struct RulesRow<K> {
        calendar_id: K,
        id: K,
        rules: String,
        version: i64,
        created_at: i64,
        updated_at: i64,
    }
}

impl<K: Key> RulesRow<K> {
    /// The rules, or an error that names the corrupt column.
    pub fn into_domain(self, org: OrgId) -> Result<AvailabilityRules, StoreError> {
        let calendar = CalendarId::from_uuid(row_id("availability_rules", "calendar_id", &self.calendar_id)?);
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
pub fn read_rules(calendar: CalendarId, document: &str) -> Result<Rules, StoreError> {
    row(&calendar).read("rules", kalends_calendars::read_rules(document))
}

/// The row is identified by its calendar.
fn row(calendar: &CalendarId) -> Located<CalendarId> {
    Located { table: "availability_rules", id: *calendar }
}
