//! The changes of a calendar, so that a caller can keep a copy of it.

use kalends_calendars::{Calendar, Changed, ChangesToken, DELETED_KEPT};
use kalends_kernel::{Metadata, PAGE_BYTES_MAX};
use kalends_wire::{Change, Changes, ChangesQuery};

use crate::{Actor, App, Missing, Refusal, answered::json};

/// The largest size of a page's changes, in bytes. The rest of the page is for the token and the surrounding names.
const CHANGES_BYTES_MAX: usize = PAGE_BYTES_MAX - 1024;
/// The largest size of a change as JSON without its texts, its metadata and its exdates, in bytes.
const CHANGE_BYTES: usize = 4096;
/// The largest factor by which JSON escapes lengthen text: `\u0001` takes 6 bytes for one byte of text.
const ESCAPED: usize = 6;
/// The largest size of an attendee as JSON, without the name and the address, in bytes.
const ATTENDEE: usize = 256;
/// The size of a timestamp as JSON, with its comma, in bytes.
const INSTANT: usize = 32;

/// An upper bound for the size of the change as JSON.
fn bytes_at_most(changed: &Changed) -> usize {
    match changed {
        Changed::Deleted { .. } => CHANGE_BYTES,
        Changed::Written(event) => {
            let texts = event.title.len()
                + [&event.description, &event.location].into_iter().flatten().map(String::len).sum::<usize>()
                + event.conference_url.as_ref().map_or(0, |url| url.as_str().len());
            let exdates = event.recurrence().map_or(0, |recurrence| recurrence.exdates().len());
            let attendees = ESCAPED * event.attendees.bytes() + ATTENDEE * event.attendees.as_slice().len();
            CHANGE_BYTES + Metadata::MAX_BYTES + ESCAPED * texts + INSTANT * exdates + attendees
        }
    }
}

impl App {
    /// The next page of a calendar's changes.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::OutOfReach`]; [`Refusal::Resync`] if the copy must start over.
    pub async fn changes(&self, actor: &Actor, id: &str, query: &ChangesQuery) -> Result<Changes, Refusal> {
        let Calendar { id: calendar, zone, .. } = self.calendar(actor, id).await?;
        let since = query.since.as_deref().map(|text| ChangesToken::parse(text, calendar)).transpose()?;
        let changes_since = ChangesToken::asks(since.as_ref());
        // Read the clock before the changes: what is deleted from now on may be missing.
        let now = self.now();
        // One extra change shows whether there are more.
        let read =
            self.parts.store.changes(actor.org(), calendar, changes_since, query.limit.saturating_add(1)).await?;
        let mut read = read.ok_or_else(|| Refusal::missing(Missing::Calendar, id))?;
        for (_, changed) in &mut read.changes {
            if let Changed::Written(event) = changed {
                event.set_at(now);
            }
        }
        let zone = query.local.then_some(zone);
        // Serialize changes a second time only if the page may be too large.
        let at_most: usize = read.changes.iter().map(|(_, changed)| bytes_at_most(changed)).sum();
        if at_most > CHANGES_BYTES_MAX {
            read.keep_within(CHANGES_BYTES_MAX, |changed| json(&Change::new(changed.clone(), zone)).len() + 1);
        }
        let page = ChangesToken::page(since.as_ref(), calendar, read, query.limit, now)?;
        Ok(Changes::new(page, zone))
    }

    /// Forgets up to `limit` events that moved to another calendar longer ago than mirrors can need it. Returns whether
    /// none is left.
    ///
    /// # Errors
    /// The store fails.
    pub async fn purge_moved_events(&self, limit: u32) -> Result<bool, Refusal> {
        let before = self.now() - DELETED_KEPT;
        Ok(self.parts.store.purge_moved(before, limit).await? < u64::from(limit))
    }
}
