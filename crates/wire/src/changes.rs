//! The changes of a calendar.

use serde::{Deserialize, Serialize};

use crate::{
    Event,
    derives::{IntoParams, ToSchema},
};

#[cfg(feature = "parse")]
mod parse;
#[cfg(feature = "parse")]
pub use parse::ChangesQuery;

/// Selects changes of a calendar.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListChanges {
    /// The `next` token of the previous answer. Leave it out to start from the beginning.
    #[param(example = "AZ0hK4_Q1mYyAZypDDJ5dNqXv3kTn5dlAAAAAAAAAAAq_____________________wAAAAAAAAAqAAZMBedWPQA")]
    pub since: Option<String>,
    /// The maximum number of entries per page, 1-200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<i64>,
    /// Whether events also show their times in the calendar's zone, as `local`.
    #[param(default = false)]
    pub local: Option<bool>,
}

/// What changed on a calendar since a token was issued.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "data": [{
        "id": "evt_01jn8r8f4h3gyqz7s9c1b5wnkd", "calendarId": "cal_01jn8r7d2xe9tvn4a6k8m0pqrs",
        "orgId": "org_01jn8r6v9ke0bt3m5qz2c7xwdg", "title": "Standup", "description": null,
        "startTime": "2026-03-02T09:00:00Z", "endTime": "2026-03-02T09:15:00Z", "allDay": false,
        "status": "confirmed", "source": "internal", "metadata": {}, "reminders": null, "holdExpiresAt": null,
        "holdPriority": null, "recurrenceRule": null, "recurrenceExdates": [], "recurrenceTimezone": null,
        "deletedAt": null, "createdAt": "2026-03-02T08:00:00Z", "updatedAt": "2026-03-02T08:00:00Z"
    }, { "id": "evt_01jn8r8f4h3gyqz7s9c1b5wnke", "deleted": true }],
    "next": "AZ0hK4_Q1mYyAZypDDJ5dNqXv3kTn5dlAAAAAAAAAAAq_____________________wAAAAAAAAAqAAZMBedWPQA",
    "has_more": false
}))]
pub struct Changes {
    /// The changes. Apply them in this order.
    pub data: Vec<Change>,
    /// The token to continue with: send it as `since` in the next request, now or later.
    pub next: String,
    /// Whether more changes are available already.
    pub has_more: bool,
}

/// An event in its current state, or the note that it was deleted.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Change {
    /// The event: new, or the replacement of its earlier state.
    Event(Box<Event>),
    /// The event was deleted.
    Deleted(Deleted),
}

/// A deleted event.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({ "id": "evt_01jn8r8f4h3gyqz7s9c1b5wnke", "deleted": true }))]
pub struct Deleted {
    /// The identifier under which the event was shown.
    pub id: String,
    /// Always true.
    pub deleted: bool,
}
