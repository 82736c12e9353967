//! Busy times by calendar, and answers by question, each valid while the calendars' revisions stand.

use std::{
    hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher},
    sync::Arc,
};

use bytes::Bytes;
use kalends_availability::CachedBusy;
use kalends_kernel::{AgentId, CalendarId, Revision, Span};
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

pub(crate) struct BusyCache {
    calendars: Cache<CalendarId, Known>,
    /// The time that was known of all calendars of an agent when it was last read.
    agents: Cache<AgentId, Span>,
}

/// How many agents' times are remembered.
const AGENTS_MAX: u64 = 100_000;

impl BusyCache {
    pub(crate) fn new() -> Self {
        let cache = Cache::builder()
            .max_capacity(BYTES_MAX)
            .weigher(|_, known: &Known| {
                u32::try_from(ENTRY_BYTES + known.busy.busy.len() * SPAN_BYTES).unwrap_or(u32::MAX)
            })
            .build();
        Self { calendars: cache, agents: Cache::new(AGENTS_MAX) }
    }

    /// Whether the busy times of the agent's calendars in `window` were known at some revision, so that it
    /// is worth to read the revisions alone.
    pub(crate) fn may_know(&self, agent: AgentId, window: Span) -> bool {
        self.agents.get(&agent).is_some_and(|known| known.start() <= window.start() && window.end() <= known.end())
    }

    /// Remembers that all of the agent's calendars are known in that time.
    pub(crate) fn knows(&self, agent: AgentId, covers: Span) {
        self.agents.insert(agent, covers);
    }

    /// What is known of the calendar at exactly that revision.
    pub(crate) fn at(&self, calendar: CalendarId, revision: Revision) -> Option<Arc<CachedBusy>> {
        self.calendars.get(&calendar).filter(|known| known.revision == revision).map(|known| known.busy)
    }

    pub(crate) fn keep(&self, calendar: CalendarId, revision: Revision, busy: Arc<CachedBusy>) {
        self.calendars.insert(calendar, Known { revision, busy });
    }
}

/// The most memory that cached answers take, in bytes.
const ANSWER_BYTES_MAX: u64 = 16 << 20;
/// What a calendar takes in a question, in bytes.
const SOURCE_BYTES: usize = 64;

type FixedHasher = BuildHasherDefault<DefaultHasher>;

/// How many questions are remembered of which the answer is not kept.
const ASKED_ONCE_MAX: u64 = 20_000;

/// Answers as they were sent. An agent that looks for a time asks the same again and again while
/// nothing changes; then nothing but the revisions has to be read. An answer is kept from the second
/// time on that the same is asked: most long ones are asked for once.
pub(crate) struct AnswerCache {
    answers: Cache<Asked, Bytes>,
    asked_once: Cache<u64, ()>,
}

impl AnswerCache {
    pub(crate) fn new() -> Self {
        let cache = Cache::builder()
            .max_capacity(ANSWER_BYTES_MAX)
            .weigher(|asked: &Asked, answer: &Bytes| {
                let bytes = ENTRY_BYTES + asked.sources().len() * SOURCE_BYTES + answer.len();
                u32::try_from(bytes).unwrap_or(u32::MAX)
            })
            .build();
        Self { answers: cache, asked_once: Cache::new(ASKED_ONCE_MAX) }
    }

    pub(crate) fn get(&self, asked: &Asked) -> Option<Bytes> {
        self.answers.get(asked)
    }

    pub(crate) fn keep(&self, asked: Asked, answer: Bytes) {
        // Of two questions with one hash, at worst an answer is kept too early.
        let hash = FixedHasher::default().hash_one(&asked);
        if self.asked_once.contains_key(&hash) {
            self.answers.insert(asked, answer);
        } else {
            self.asked_once.insert(hash, ());
        }
    }
}
