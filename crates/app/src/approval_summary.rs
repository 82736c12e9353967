//! Reads what the sentence about a write that waits for approval names.

use std::collections::BTreeSet;

use kalends_calendars::{Change, Event};
use kalends_kernel::CalendarId;
use kalends_runs::Kept;

use crate::{App, ChangeSet, approval_words::Wanted, attempt::Attempt, operations::Operation, ports::NAMES_MAX};

impl App {
    /// What a write that waits for approval would do, in one sentence for the person who decides. It names what changes,
    /// with its times by the clocks of its calendar. `before` are the events that it would change, as they are.
    pub(crate) async fn approval_summary(
        &self,
        operation: &Operation,
        resource: &str,
        changes: &ChangeSet,
        before: &[Kept],
    ) -> Result<String, Attempt> {
        let named: BTreeSet<CalendarId> = changes.calendars.iter().flat_map(calendars_of).take(NAMES_MAX).collect();
        let calendars = self.parts.store.names_of_calendars(changes.org, &named).await?;
        let before: Vec<Event> = before.iter().map(|kept| kept.event.clone()).collect();
        Ok(Wanted { operation, resource, changes, before: &before, calendars: &calendars }.sentence())
    }
}

/// The calendars that the sentence about a write may name.
fn calendars_of(change: &Change) -> impl Iterator<Item = CalendarId> {
    let (calendar, other) = match change {
        Change::CreateEvent(event) | Change::UpdateEvent { event, .. } => (Some(event.calendar), None),
        Change::MoveEvent { event, from, .. } => (Some(event.calendar), Some(*from)),
        Change::PutRules { rules, .. } | Change::DeleteRules(rules) => (Some(rules.calendar), None),
        _ => (None, None),
    };
    calendar.into_iter().chain(other)
}
