//! Busy times by calendar, and answers by question, each valid while the calendars' revisions stand.

use std::sync::Arc;

use bytes::Bytes;
use kalends_availability::CachedBusy;
use kalends_kernel::{CalendarId, Revision};
use moka::sync::Cache;

use crate::availability::Asked;

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

/// The most memory that cached answers take, in bytes.
const ANSWER_BYTES_MAX: u64 = 16 << 20;
/// What a calendar takes in a question, in bytes.
const SOURCE_BYTES: usize = 64;

/// Answers as they were sent. An agent that looks for a time asks the same again and again while
/// nothing changes; then nothing but the revisions has to be read.
pub(crate) struct AnswerCache(Cache<Asked, Bytes>);

impl AnswerCache {
    pub(crate) fn new() -> Self {
        let cache = Cache::builder()
            .max_capacity(ANSWER_BYTES_MAX)
            .weigher(|asked: &Asked, answer: &Bytes| {
                let bytes = ENTRY_BYTES + asked.sources().len() * SOURCE_BYTES + answer.len();
                u32::try_from(bytes).unwrap_or(u32::MAX)
            })
            .build();
        Self(cache)
    }

    pub(crate) fn get(&self, asked: &Asked) -> Option<Bytes> {
        self.0.get(asked)
    }

    pub(crate) fn keep(&self, asked: Asked, answer: Bytes) {
        self.0.insert(asked, answer);
    }
}
