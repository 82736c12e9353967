//! The cached series of calendars, valid while a calendar's revision does not change.

use std::sync::Arc;

use kalends_calendars::Repeating;
use kalends_kernel::{CalendarId, Revision};
use kalends_time::Span;
use moka::sync::Cache;

/// The largest memory use of cached series, in bytes.
const BYTES_MAX: u64 = 16 << 20;
/// The size of an entry without its series, in bytes.
const ENTRY_BYTES: usize = 128;
/// The series that block time on a calendar at one revision.
#[derive(Clone)]
pub(crate) struct KnownSeries {
    /// The calendar's revision.
    pub(crate) revision: Revision,
    /// All series with an occurrence in this span are included.
    pub(crate) around: Span,
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
    pub(crate) fn at(&self, calendar: CalendarId, revision: Revision, window: Span) -> Option<KnownSeries> {
        let holds = |known: &KnownSeries| known.revision == revision && window.clip(known.around) == Some(window);
        self.0.get(&calendar).filter(holds)
    }

    /// Caches the series of a calendar.
    pub(crate) fn keep(&self, calendar: CalendarId, known: KnownSeries) {
        self.0.insert(calendar, known);
    }
}
