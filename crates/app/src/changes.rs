//! What changed on a calendar, so that a caller can keep a copy of it.

use kalends_calendars::{Calendar, Changed, ChangesToken};
use kalends_wire::{Changes, ChangesQuery};

use crate::{Actor, App, Missing, Refusal};

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
        let page = ChangesToken::page(since.as_ref(), calendar, read, query.limit, now)?;
        Ok(Changes::new(page, query.local.then_some(zone)))
    }
}
