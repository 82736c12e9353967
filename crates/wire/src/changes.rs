//! The changes of a calendar.

use kalends_calendars as domain;
use kalends_kernel::{FieldErrors, Page, Zone};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Event;

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

impl ListChanges {
    /// Checks the parameters. The token itself is checked later.
    ///
    /// # Errors
    /// If `limit` is out of bounds.
    pub fn parse(self) -> Result<ChangesQuery, FieldErrors> {
        let Page { limit, .. } = Page::parse(self.limit, None)?;
        Ok(ChangesQuery { since: self.since, limit, local: self.local.unwrap_or(false) })
    }
}

/// A checked query for changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangesQuery {
    /// The token as written.
    pub since: Option<String>,
    /// The maximum number of entries per page.
    pub limit: u32,
    /// Whether events show their times in the calendar's zone.
    pub local: bool,
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

impl Change {
    /// Builds the change. If a zone is given as `local`, an event also shows its times in that zone.
    pub fn new(changed: domain::Changed, local: Option<Zone>) -> Self {
        match changed {
            domain::Changed::Written(event) => {
                let event = Event::from(*event);
                Self::Event(Box::new(match local {
                    Some(zone) => event.with_local(zone),
                    None => event,
                }))
            }
            domain::Changed::Deleted { id, occurrence } => Self::Deleted(Deleted {
                id: occurrence.map_or_else(|| id.to_string(), |occurrence| occurrence.to_string()),
                deleted: true,
            }),
        }
    }
}

impl Changes {
    /// Builds the page. If a zone is given as `local`, which is the calendar's, events also show their times in that
    /// zone.
    pub fn new(page: domain::ChangesPage, local: Option<Zone>) -> Self {
        let domain::ChangesPage { changes, next, has_more } = page;
        let data = changes.into_iter().map(|changed| Change::new(changed, local)).collect();
        Self { data, next: next.to_text(), has_more }
    }
}
