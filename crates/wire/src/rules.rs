//! Availability rules of calendars.

use kalends_kernel::{CalendarId, RulesId};
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::derives::ToSchema;

#[cfg(feature = "parse")]
mod parse;

/// The opening hours of a weekday or of one date.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "start": "09:00", "end": "17:00" }))]
pub struct OpenHours {
    /// The opening time, `HH:MM` from `00:00` to `23:59`.
    #[schema(example = "09:00")]
    pub start: String,
    /// The closing time, `HH:MM` from `00:01` to `24:00`. It must be after the start.
    #[schema(example = "17:00")]
    pub end: String,
}

/// The opening hours of each weekday. A weekday that is left out is closed.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "mon": { "start": "09:00", "end": "17:00" }, "fri": { "start": "09:00", "end": "12:30" } }))]
pub struct WorkingHours {
    /// Monday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mon: Option<OpenHours>,
    /// Tuesday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tue: Option<OpenHours>,
    /// Wednesday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wed: Option<OpenHours>,
    /// Thursday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thu: Option<OpenHours>,
    /// Friday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fri: Option<OpenHours>,
    /// Saturday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sat: Option<OpenHours>,
    /// Sunday.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sun: Option<OpenHours>,
}

/// A date with its own opening hours, which replace those of its weekday.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "date": "2026-12-24", "working_hours": null }))]
pub struct DateHours {
    /// The date, `YYYY-MM-DD` in the years 1970 to 2099, in the zone of the rules.
    #[schema(example = "2026-12-24")]
    pub date: String,
    /// The opening hours of the date. Null closes it. The field is required.
    #[serde(deserialize_with = "Option::deserialize")]
    #[schema(required = true)]
    pub working_hours: Option<OpenHours>,
}

/// The availability rules of a calendar.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "avr_01jn8r7d2xe9tvn4a6k8m0pqrs", "calendar_id": "cal_01jn8r7d2xe9tvn4a6k8m0pqrs",
    "buffer_before_minutes": 10, "buffer_after_minutes": 5,
    "working_hours": { "mon": { "start": "09:00", "end": "17:00" }, "tue": { "start": "09:00", "end": "17:00" } },
    "timezone": "Europe/Berlin",
    "overrides": [{ "date": "2026-12-22", "working_hours": null }],
    "created_at": "2026-03-02T08:00:00Z", "updated_at": "2026-03-02T08:00:00Z"
}))]
pub struct AvailabilityRules {
    /// The identifier, `avr_…`.
    #[schema(value_type = String)]
    pub id: RulesId,
    /// The calendar, `cal_…`.
    #[schema(value_type = String)]
    pub calendar_id: CalendarId,
    /// Minutes kept free before everything that blocks.
    #[schema(minimum = 0, maximum = 120)]
    pub buffer_before_minutes: i64,
    /// Minutes kept free after everything that blocks.
    #[schema(minimum = 0, maximum = 120)]
    pub buffer_after_minutes: i64,
    /// The opening hours of each weekday. Null means no restriction.
    pub working_hours: Option<WorkingHours>,
    /// The IANA time zone of the hours and dates.
    pub timezone: String,
    /// Dates with their own opening hours, in order.
    pub overrides: Vec<DateHours>,
    /// When the rules were created. Replacing them does not change this time.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When the rules were last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// The complete rules of a calendar. A field that is left out gets its default value, whatever it was before.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "buffer_before_minutes": 10, "buffer_after_minutes": 5,
    "working_hours": { "mon": { "start": "09:00", "end": "17:00" }, "tue": { "start": "09:00", "end": "17:00" } },
    "timezone": "Europe/Berlin",
    "overrides": [{ "date": "2026-12-22", "working_hours": null }]
}))]
pub struct PutAvailabilityRules {
    /// Minutes to keep free before everything that blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 120, default = 0)]
    pub buffer_before_minutes: Option<i64>,
    /// Minutes to keep free after everything that blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 120, default = 0)]
    pub buffer_after_minutes: Option<i64>,
    /// The opening hours of each weekday. Null means no restriction, and `{}` closes every day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_hours: Option<WorkingHours>,
    /// The IANA time zone of the hours and dates. Defaults to the calendar's zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// Dates with their own opening hours, without duplicates.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 366)]
    pub overrides: Option<Vec<DateHours>>,
}
