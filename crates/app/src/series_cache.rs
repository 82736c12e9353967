//! The cached series of calendars, valid while a calendar's revision does not change.

use std::sync::Arc;

use kalends_calendars::{Repeating, ports::BlockingSeries};
use kalends_kernel::{CalendarId, OrgId, Revision, SignedDuration, Span};
use moka::sync::Cache;

use crate::{App, Refusal};

/// The largest memory use of cached series, in bytes.
const BYTES_MAX: u64 = 16 << 20;
/// The size of an entry without its series, in bytes.
const ENTRY_BYTES: usize = 128;
/// How far around the requested time series are read, because the next query is usually for a time nearby.
const AROUND: SignedDuration = SignedDuration::days(92);

/// The series that block on a calendar at one revision.
#[derive(Clone)]
pub(crate) struct KnownSeries {
    /// The calendar's revision.
    pub(crate) revision: Revision,
    /// All series with an occurrence in this span are included.
    around: Span,
    /// The series.
    pub(crate) series: Arc<[Repeating]>,
}

/// Series by calendar. Reading and parsing them costs far more than computing their occurrences.
pub(crate) struct SeriesCache(Cache<CalendarId, KnownSeries>);

impl SeriesCache {
    pub(crate) fn new() -> Self {
        let weight = |_: &CalendarId, known: &KnownSeries| {
            let bytes = known.series.iter().map(Repeating::bytes).sum::<usize>() + ENTRY_BYTES;
            u32::try_from(bytes).unwrap_or(u32::MAX)
        };
        Self(Cache::builder().max_capacity(BYTES_MAX).weigher(weight).build())
    }

    /// The cached series of the calendar at exactly that revision, if they cover `window`.
    fn at(&self, calendar: CalendarId, revision: Revision, window: Span) -> Option<KnownSeries> {
        let holds = |known: &KnownSeries| known.revision == revision && window.clip(known.around) == Some(window);
        self.0.get(&calendar).filter(holds)
    }
}

impl App {
    /// The series that block on a calendar, at least all that overlap `window`: the cached ones at revision `seen`,
    /// else the current ones. `None` if the calendar is no longer visible.
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
        let found = self.store.blocking_series(org, &[calendar], around).await?.pop();
        Ok(found.map(|BlockingSeries { revision, series, .. }| {
            let known = KnownSeries { revision, around, series: series.into() };
            self.series.0.insert(calendar, known.clone());
            known
        }))
    }
}
