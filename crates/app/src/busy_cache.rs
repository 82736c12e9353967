//! Busy times by calendar, each valid while the calendar's revision stands.

use std::sync::Arc;

use kalends_availability::CachedBusy;
use kalends_kernel::{CalendarId, Revision};
use moka::sync::Cache;

/// The most memory that cached spans take, in bytes (16 a span).
const BYTES_MAX: u64 = 48 << 20;
/// What an entry takes beside its spans, in bytes.
const ENTRY_BYTES: usize = 160;
const SPAN_BYTES: usize = 16;

#[derive(Clone)]
pub(crate) struct Known {
    pub revision: Revision,
    pub busy: Arc<CachedBusy>,
}

pub(crate) struct BusyCache(Cache<CalendarId, Known>);

impl BusyCache {
    pub(crate) fn new() -> Self {
        let cache = Cache::builder()
            .max_capacity(BYTES_MAX)
            .weigher(|_, known: &Known| {
                u32::try_from(ENTRY_BYTES + known.busy.busy.len() * SPAN_BYTES).unwrap_or(u32::MAX)
            })
            .build();
        Self(cache)
    }

    /// What is known of the calendar at exactly that revision.
    pub(crate) fn at(&self, calendar: CalendarId, revision: Revision) -> Option<Arc<CachedBusy>> {
        self.0.get(&calendar).filter(|known| known.revision == revision).map(|known| known.busy)
    }

    pub(crate) fn keep(&self, calendar: CalendarId, revision: Revision, busy: Arc<CachedBusy>) {
        self.0.insert(calendar, Known { revision, busy });
    }
}
