//! Caches of busy times by calendar and of answers by query. Entries are valid while the calendars' revisions do not
//! change.

use std::{
    hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher, Hash},
    sync::Arc,
};

use bytes::Bytes;
use kalends_availability::{BusySet, CachedBusy, Rules};
use kalends_kernel::{AgentId, CalendarId, Revision};
use kalends_time::{Span, Timestamp};
use moka::{policy::EvictionPolicy, sync::Cache};

/// The largest memory use of cached spans, in bytes (16 per span).
const BYTES_MAX: u64 = 48 << 20;
/// The size of an entry without its spans, in bytes.
const ENTRY_BYTES: usize = 160;
const SPAN_BYTES: usize = 16;
/// The size of rules without their overrides, in bytes.
const RULES_BYTES: usize = 128;
const OVERRIDE_BYTES: usize = 16;

/// The known time of one calendar at one revision: its busy times, with its rules applied.
pub(crate) struct KnownTime {
    busy: CachedBusy,
    /// `None` if the calendar has no rules. Then exactly the busy times are not offered.
    ruled: Option<Ruled>,
}

struct Ruled {
    rules: Rules,
    /// What is not offered. It is known for the part of the covered span whose buffers are covered too.
    taken: BusySet,
}

impl KnownTime {
    /// Applies `rules` to the busy times that were read.
    pub(crate) fn new(busy: CachedBusy, rules: Option<Rules>) -> Self {
        let ruled = rules.map(|rules| {
            let inside = inside(&rules, busy.covers);
            let taken = inside.map_or(BusySet::EMPTY, |inside| rules.apply(&busy.busy, inside));
            Ruled { rules, taken }
        });
        Self { busy, ruled }
    }

    /// Whether this is valid at `now` and covers everything that affects `window`.
    pub(crate) fn answers(&self, window: Span, now: Timestamp) -> bool {
        self.busy.answers(self.reads(window), now)
    }

    /// Whether everything that affects `window` was read.
    pub(crate) fn covers(&self, window: Span) -> bool {
        self.reads(window).clip(self.busy.covers) == Some(self.reads(window))
    }

    /// The span in which events affect `window`.
    pub(crate) fn reads(&self, window: Span) -> Span {
        self.ruled.as_ref().map_or(window, |ruled| ruled.rules.reads(window))
    }

    /// The busy times, without rules.
    pub(crate) const fn busy(&self) -> &BusySet {
        &self.busy.busy
    }

    /// What is not offered.
    pub(crate) fn taken(&self) -> &BusySet {
        self.ruled.as_ref().map_or(&self.busy.busy, |ruled| &ruled.taken)
    }

    /// Whether the calendar has rules.
    pub(crate) const fn is_ruled(&self) -> bool {
        self.ruled.is_some()
    }

    /// Other blocking time in [`reads(window)`](Self::reads), widened by the buffers and clipped to `window`.
    pub(crate) fn buffered(&self, blocking: BusySet, window: Span) -> BusySet {
        match &self.ruled {
            Some(ruled) => ruled.rules.buffered(&blocking, window),
            None => blocking,
        }
    }

    /// The time from which this may be wrong even if no revision has changed.
    pub(crate) const fn valid_until(&self) -> Option<Timestamp> {
        self.busy.valid_until
    }

    fn weight(&self) -> usize {
        let ruled = self.ruled.as_ref().map_or(0, |ruled| {
            RULES_BYTES + ruled.rules.overrides().len() * OVERRIDE_BYTES + ruled.taken.len() * SPAN_BYTES
        });
        ENTRY_BYTES + self.busy.busy.len() * SPAN_BYTES + ruled
    }
}

/// The part of `covers` whose buffers are within `covers` too.
fn inside(rules: &Rules, covers: Span) -> Option<Span> {
    Span::new(covers.start() + rules.buffer_after(), covers.end() - rules.buffer_before()).ok()
}

#[derive(Clone)]
pub(crate) struct Known {
    pub revision: Revision,
    pub time: Arc<KnownTime>,
}

pub(crate) struct BusyCache {
    calendars: Cache<CalendarId, Known>,
    /// The span for which all calendars of an agent were cached when the agent was last read.
    agents: Cache<AgentId, Span>,
}

/// How many agents are remembered.
const AGENTS_MAX: u64 = 100_000;

impl BusyCache {
    pub(crate) fn new() -> Self {
        let cache = Cache::builder()
            .max_capacity(BYTES_MAX)
            .weigher(|_, known: &Known| u32::try_from(known.time.weight()).unwrap_or(u32::MAX))
            .build();
        Self { calendars: cache, agents: Cache::new(AGENTS_MAX) }
    }

    /// Whether the busy times of the agent's calendars in `window` were cached at some revision. If so, it pays off
    /// to read only the revisions.
    pub(crate) fn may_know(&self, agent: AgentId, window: Span) -> bool {
        self.agents.get(&agent).is_some_and(|known| known.start() <= window.start() && window.end() <= known.end())
    }

    /// Remembers that all of the agent's calendars are cached for that span.
    pub(crate) fn knows(&self, agent: AgentId, covers: Span) {
        self.agents.insert(agent, covers);
    }

    /// The known time of the calendar at exactly that revision.
    pub(crate) fn at(&self, calendar: CalendarId, revision: Revision) -> Option<Arc<KnownTime>> {
        self.calendars.get(&calendar).filter(|known| known.revision == revision).map(|known| known.time)
    }

    pub(crate) fn keep(&self, calendar: CalendarId, revision: Revision, time: Arc<KnownTime>) {
        self.calendars.insert(calendar, Known { revision, time });
    }
}

/// The largest memory use of cached answers of one kind, in bytes.
const ANSWER_BYTES_MAX: u64 = 16 << 20;
/// The size of a calendar in a query, in bytes.
const SOURCE_BYTES: usize = 64;

type FixedHasher = BuildHasherDefault<DefaultHasher>;

/// How many queries without a cached answer are remembered.
const SEEN_ONCE_MAX: u64 = 20_000;

/// Recent queries, by their hash.
struct SeenOnce(Cache<u64, ()>);

impl SeenOnce {
    fn new(max: u64) -> Self {
        // A full cache must keep evicting its oldest entries. The default policy goes by how often entries are read,
        // which is the same for all of them, so it would admit nothing new.
        Self(Cache::builder().max_capacity(max).eviction_policy(EvictionPolicy::lru()).build())
    }

    /// Whether the query was made before. Remembers it.
    fn again(&self, question: u64) -> bool {
        let before = self.0.contains_key(&question);
        if !before {
            self.0.insert(question, ());
        }
        before
    }
}

/// An answer as it was sent.
#[derive(Clone)]
struct Answered {
    json: Bytes,
    valid_until: Option<Timestamp>,
}

/// Answers as they were sent. An agent that looks for a time repeats the same query while nothing changes, and then
/// only the revisions have to be read. An answer is cached from the second identical query on, because most long ones
/// are requested only once.
pub(crate) struct AnswerCache<Q> {
    answers: Cache<Q, Answered>,
    seen_once: SeenOnce,
}

/// A query, and everything except the clock that its answer depends on.
pub(crate) trait Question: Eq + Hash + Send + Sync + 'static {
    /// How many calendars and human calendars the answer depends on.
    fn sources_len(&self) -> usize;
}

impl<Q: Question> AnswerCache<Q> {
    pub(crate) fn new() -> Self {
        let cache = Cache::builder()
            .max_capacity(ANSWER_BYTES_MAX)
            .weigher(|question: &Q, answer: &Answered| {
                let bytes = ENTRY_BYTES + question.sources_len() * SOURCE_BYTES + answer.json.len();
                u32::try_from(bytes).unwrap_or(u32::MAX)
            })
            .build();
        Self { answers: cache, seen_once: SeenOnce::new(SEEN_ONCE_MAX) }
    }

    /// The cached answer, unless it has expired at `now`.
    pub(crate) fn get(&self, question: &Q, now: Timestamp) -> Option<Bytes> {
        let answered = self.answers.get(question)?;
        answered.valid_until.is_none_or(|until| now < until).then_some(answered.json)
    }

    /// Caches an answer if the query was made before. The answer is valid while the sources of the query do not
    /// change, and before `valid_until`.
    pub(crate) fn keep(&self, question: Q, json: Bytes, valid_until: Option<Timestamp>) {
        // If two queries have the same hash, the worst effect is that an answer is cached too early.
        let hash = FixedHasher::default().hash_one(&question);
        if self.seen_once.again(hash) {
            self.answers.insert(question, Answered { json, valid_until });
        }
    }
}

/// The earlier of two ends of validity; `None` means never.
pub(crate) fn sooner(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    one.into_iter().chain(other).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_queries_are_remembered_when_the_cache_is_full() {
        let seen = SeenOnce::new(100);
        for question in 0..1_000 {
            assert!(!seen.again(question));
            seen.0.run_pending_tasks();
        }
        assert!(seen.again(999) && seen.again(950) && !seen.again(800));
    }
}
