//! Parses the requests into values of the domain, and builds the answers from them.

use kalends_calendars as domain;
use kalends_kernel::{FieldErrors, Page};
use kalends_time::Zone;

use super::{Change, Changes, Deleted, ListChanges};
use crate::Event;

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
    /// Builds the page. If the calendar's zone is given as `local`, events also show their times in that zone.
    pub fn new(page: domain::ChangesPage, local: Option<Zone>) -> Self {
        let domain::ChangesPage { changes, next, has_more } = page;
        let data = changes.into_iter().map(|changed| Change::new(changed, local)).collect();
        Self { data, next: next.to_text(), has_more }
    }
}
