//! Reads the series that block time on a calendar.

use kalends_calendars::ports::BlockingSeries;
use kalends_kernel::{CalendarId, OrgId, Revision};
use kalends_time::{SignedDuration, Span};

use crate::{App, Refusal, series_cache::KnownSeries};

/// How far before and after the requested time to read series, because the next query is usually for a time nearby.
const AROUND: SignedDuration = SignedDuration::days(92);

impl App {
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
