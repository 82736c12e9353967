//! The series of a calendar as they were last read, valid while its revision stands.

use std::sync::Arc;

use kalends_calendars::{Repeating, ports::BlockingSeries};
use kalends_kernel::{CalendarId, OrgId, Revision, SignedDuration, Span};
use moka::sync::Cache;

use crate::{App, Refusal};

/// The most memory that cached series take, in bytes.
const BYTES_MAX: u64 = 16 << 20;
/// What an entry takes beside its series, in bytes.
const ENTRY_BYTES: usize = 128;
/// How far around the time that is asked for series are read: whoever looks for a time goes on looking nearby.
const AROUND: SignedDuration = SignedDuration::days(92);

/// The series that block on a calendar at one revision.
#[derive(Clone)]
pub(crate) struct KnownSeries {
    /// The calendar's revision.
    pub(crate) revision: Revision,
    /// Those with an occurrence in this time are all there.
    around: Span,
    /// The series.
    pub(crate) series: Arc<[Repeating]>,
}

/// Series by calendar. Reading and parsing them costs far more than to tell when they take place.
pub(crate) struct SeriesCache(Cache<CalendarId, KnownSeries>);

impl SeriesCache {
    pub(crate) fn new() -> Self {
        let weight = |_: &CalendarId, known: &KnownSeries| {
            let bytes = known.series.iter().map(Repeating::bytes).sum::<usize>() + ENTRY_BYTES;
            u32::try_from(bytes).unwrap_or(u32::MAX)
        };
        Self(Cache::builder().max_capacity(BYTES_MAX).weigher(weight).build())
    }

    /// What is known of the calendar at exactly that revision, if it is all that reaches into `window`.
    fn at(&self, calendar: CalendarId, revision: Revision, window: Span) -> Option<KnownSeries> {
        let holds = |known: &KnownSeries| known.revision == revision && window.clip(known.around) == Some(window);
        self.0.get(&calendar).filter(holds)
    }
}

impl App {
    /// The series that block on a calendar, at least all that reach into `window`: as they are known at the
    /// revision `seen`, else as they are now. `None` where the calendar went out of sight.
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
