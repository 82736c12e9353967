//! A row of `availability_rules`.

use kalends_availability::Rules;
use kalends_calendars::AvailabilityRules;
use kalends_kernel::{CalendarId, OrgId, RulesId, StoreError, Timestamp, Version};
use uuid::Uuid;

use super::Located;

/// The columns of a calendar's rules, except the key.
pub(crate) struct RulesRow {
    pub(crate) id: Uuid,
    pub(crate) rules: String,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
}

impl RulesRow {
    pub(crate) fn into_domain(self, org: OrgId, calendar: CalendarId) -> Result<AvailabilityRules, StoreError> {
        Ok(AvailabilityRules {
            id: RulesId::from_uuid(self.id),
            org,
            calendar,
            rules: read_rules(calendar, &self.rules)?,
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
            updated_at: Timestamp::from_micros(self.updated_at),
        })
    }
}

/// The rules in the document of a calendar's row. The row is identified by its calendar.
pub(crate) fn read_rules(calendar: CalendarId, document: &str) -> Result<Rules, StoreError> {
    let row = Located { table: "availability_rules", id: calendar };
    serde_json::from_str(document).map_err(|error| row.corrupt("rules", error))
}
