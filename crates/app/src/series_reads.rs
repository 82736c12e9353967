//! Reads series: those that block time on a calendar, and their versions.

use std::collections::BTreeMap;

use kalends_calendars::{Calendar, ports::BlockingSeries};
use kalends_kernel::{CalendarId, EventId, OrgId, Revision, Version};
use kalends_time::{SignedDuration, Span};

use crate::{Actor, App, Refusal, series_cache::KnownSeries};

/// How far before and after the requested time to read series, because the next query is usually for a time nearby.
const AROUND: SignedDuration = SignedDuration::days(92);

impl App {
    /// The versions of series of several calendars, read in one statement. A changed occurrence has a version of its
    /// own, which other changes of its series do not raise. Series that are not visible are left out.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`].
    pub async fn series_versions(
        &self,
        actor: &Actor,
        calendars: &[&Calendar],
        series: &[EventId],
    ) -> Result<BTreeMap<EventId, Version>, Refusal> {
        for calendar in calendars {
            actor.for_agent(calendar.agent)?;
        }
        if series.is_empty() {
            return Ok(BTreeMap::new());
        }
        let calendars: Vec<CalendarId> = calendars.iter().map(|calendar| calendar.id).collect();
        let found = self.parts.store.events_of(actor.org(), &calendars, series).await?;
        Ok(found.into_iter().map(|event| (event.id, event.version)).collect())
    }

    /// The series that block time on a calendar, at least all that overlap `window`: the cached ones at revision
    /// `seen`, else the current ones. `None` if the calendar is no longer visible.
    pub(crate) async fn series_reaching(
        &self,
        org: OrgId,
        calendar: CalendarId,
        seen: Revision,
        window: Span,
    ) -> Result<Option<KnownSeries>, Refusal> {
        if let Some(known) = self.series.at(calendar, seen, window) {
            return Ok(Some(known));
        }
        let around = Span::new(window.start() - AROUND, window.end() + AROUND).unwrap_or(window);
        let found = self.parts.store.blocking_series(org, &[calendar], around).await?.pop();
        Ok(found.map(|BlockingSeries { revision, series, .. }| {
            let known = KnownSeries { revision, around, series: series.into() };
            self.series.keep(calendar, known.clone());
            known
        }))
    }
}
