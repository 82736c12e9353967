//! Searching events by words.

use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    Event,
    derives::{IntoParams, ToSchema},
};

#[cfg(feature = "parse")]
mod parse;
#[cfg(feature = "parse")]
pub use parse::WantedSearch;

/// Selects events by their words.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SearchEvents {
    /// The words to find, 1-10, at most 200 characters. Each must be in the title, the description or the location, also
    /// within a longer word. Case and accents make no difference.
    #[param(example = "dentist")]
    pub q: String,
    /// Only events that start at or after this time. Defaults to now, or to 366 days before `start_before`.
    #[param(format = DateTime)]
    pub start_after: Option<String>,
    /// Only events that start before this time, at most 366 days after `start_after`. Defaults to that.
    #[param(format = DateTime)]
    pub start_before: Option<String>,
    /// Only events of this calendar, `cal_…`.
    pub calendar_id: Option<String>,
    /// Only events of this agent's calendars, `agt_…`.
    pub agent_id: Option<String>,
    /// The `next` of the previous answer. It contains the times of the search.
    pub cursor: Option<String>,
    /// Whether events also show their times in their calendar's zone, as `local`.
    #[param(default = false)]
    pub local: Option<bool>,
    /// The maximum number of events in the answer, 1-200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<i64>,
}

/// The events that a search finds.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "data": [{
        "id": "evt_01jn8r8f4h3gyqz7s9c1b5wnkd", "calendarId": "cal_01jn8r7d2xe9tvn4a6k8m0pqrs",
        "orgId": "org_01jn8r6v9ke0bt3m5qz2c7xwdg", "title": "Dentist", "description": null,
        "startTime": "2026-03-02T09:00:00Z", "endTime": "2026-03-02T09:15:00Z", "allDay": false,
        "status": "confirmed", "source": "internal", "metadata": {}, "reminders": null, "holdExpiresAt": null,
        "holdPriority": null, "recurrenceRule": null, "recurrenceExdates": [], "recurrenceTimezone": null,
        "deletedAt": null, "createdAt": "2026-03-02T08:00:00Z", "updatedAt": "2026-03-02T08:00:00Z"
    }],
    "next": null
}))]
pub struct FoundEvents {
    /// The events, by calendar and then by start. A series is found once, as itself, unless only a changed instance of it
    /// has the words.
    pub data: Vec<FoundEvent>,
    /// The cursor to continue with. Null if everything was searched. An answer may have fewer events than `limit`, or
    /// none, and a cursor: a request searches at most 5,000 events.
    pub next: Option<String>,
}

/// An event that a search finds.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct FoundEvent {
    /// The event.
    #[serde(flatten)]
    pub event: Event,
    /// The first occurrence of a series that starts in the times of the search. Absent on other events.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub first_occurrence: Option<FirstOccurrence>,
}

/// The first occurrence of a series in the times of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FirstOccurrence {
    /// The start.
    #[schema(value_type = String, format = DateTime)]
    pub start_time: Timestamp,
    /// The end, exclusive.
    #[schema(value_type = String, format = DateTime)]
    pub end_time: Timestamp,
}
