//! What changed on a calendar, so that a caller can keep a copy of it.

use kalends_calendars::{Calendar, Changed, ChangesToken};
use kalends_kernel::{Metadata, PAGE_BYTES_MAX};
use kalends_wire::{Change, Changes, ChangesQuery};

use crate::{Actor, App, Missing, Refusal, app::json};

/// The most bytes of the changes of a page; the rest is for the token and the names around them.
const CHANGES_BYTES_MAX: usize = PAGE_BYTES_MAX - 1024;
/// The most bytes that a change takes as JSON beside its texts, its metadata and its exdates.
const CHANGE_BYTES: usize = 4096;
/// The most bytes that JSON makes of one byte of text: an escape such as `\u0001`.
const ESCAPED: usize = 6;
/// The bytes of an instant as JSON, with its comma.
const INSTANT: usize = 32;

/// More bytes than the change takes as JSON.
fn bytes_at_most(changed: &Changed) -> usize {
    match changed {
        Changed::Deleted { .. } => CHANGE_BYTES,
        Changed::Written(event) => {
            let texts = event.title.len() + event.description.as_ref().map_or(0, String::len);
            let exdates = event.recurrence().map_or(0, |recurrence| recurrence.exdates().len());
            CHANGE_BYTES + Metadata::MAX_BYTES + ESCAPED * texts + INSTANT * exdates
        }
    }
}

impl App {
    /// The next page of a calendar's changes (ruling 4.14).
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::OutOfReach`]; [`Refusal::Resync`] where the copy must begin anew.
    pub async fn changes(&self, actor: &Actor, id: &str, query: &ChangesQuery) -> Result<Changes, Refusal> {
        let Calendar { id: calendar, zone, .. } = self.calendar(actor, id).await?;
        let since = query.since.as_deref().map(|text| ChangesToken::parse(text, calendar)).transpose()?;
        let asked = ChangesToken::asks(since.as_ref());
        // Before the changes are read: what is deleted from now on may be missing.
        let now = self.now();
        // One more tells whether there are more.
        let read = self.store.changes(actor.org(), calendar, asked, query.limit.saturating_add(1)).await?;
        let mut read = read.ok_or_else(|| Refusal::missing(Missing::Calendar, id))?;
        for (_, changed) in &mut read.changes {
            if let Changed::Written(event) = changed {
                event.set_at(now);
            }
        }
        let zone = query.local.then_some(zone);
        // Only a page that may be too large is worth writing twice.
        let at_most: usize = read.changes.iter().map(|(_, changed)| bytes_at_most(changed)).sum();
        if at_most > CHANGES_BYTES_MAX {
            read.keep_within(CHANGES_BYTES_MAX, |changed| json(&Change::new(changed.clone(), zone)).len() + 1);
        }
        let page = ChangesToken::page(since.as_ref(), calendar, read, query.limit, now)?;
        Ok(Changes::new(page, zone))
    }
}
