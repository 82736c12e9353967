//! Busy times by calendar, and answers by question, each valid while the calendars' revisions stand.

use std::{
    hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher, Hash},
    sync::Arc,
};

use bytes::Bytes;
use kalends_availability::{BusySet, CachedBusy, Rules};
use kalends_kernel::{AgentId, CalendarId, Revision, Span, Timestamp};
use moka::{policy::EvictionPolicy, sync::Cache};

/// The most memory that cached spans take, in bytes (16 a span).
const BYTES_MAX: u64 = 48 << 20;
/// What an entry takes beside its spans, in bytes.
const ENTRY_BYTES: usize = 160;
const SPAN_BYTES: usize = 16;
/// What rules take beside their overrides, in bytes.
const RULES_BYTES: usize = 128;
const OVERRIDE_BYTES: usize = 16;

/// What is known of one calendar at one revision: when it is busy, and what its rules make of that.
pub(crate) struct KnownTime {
    busy: CachedBusy,
    /// `None` where the calendar has no rules: then what is busy is all that is not offered.
    ruled: Option<Ruled>,
}

struct Ruled {
    rules: Rules,
    /// What is not offered, of the time whose surroundings were looked at as far as the buffers reach.
    taken: BusySet,
}

impl KnownTime {
    /// What `rules` make of what was read.
    pub(crate) fn new(busy: CachedBusy, rules: Option<Rules>) -> Self {
        let ruled = rules.map(|rules| {
            let inside = inside(&rules, busy.covers);
            let taken = inside.map_or(BusySet::EMPTY, |inside| rules.apply(&busy.busy, inside));
            Ruled { rules, taken }
        });
        Self { busy, ruled }
    }

    /// Whether this tells, as of `now`, what is taken anywhere in `window`.
    pub(crate) fn answers(&self, window: Span, now: Timestamp) -> bool {
        self.busy.answers(self.reads(window), now)
    }

    /// Whether all was looked at that has a say about `window`.
    pub(crate) fn covers(&self, window: Span) -> bool {
        self.reads(window).clip(self.busy.covers) == Some(self.reads(window))
    }

    /// The time in which whatever happens has a say about `window`.
    pub(crate) fn reads(&self, window: Span) -> Span {
        self.ruled.as_ref().map_or(window, |ruled| ruled.rules.reads(window))
    }

    /// What is busy, as it is.
    pub(crate) const fn busy(&self) -> &BusySet {
        &self.busy.busy
    }

    /// What is not offered.
    pub(crate) fn taken(&self) -> &BusySet {
        self.ruled.as_ref().map_or(&self.busy.busy, |ruled| &ruled.taken)
    }

    /// Whether rules make more of what is busy.
    pub(crate) const fn is_ruled(&self) -> bool {
        self.ruled.is_some()
    }

    /// What else blocks in [`reads(window)`](Self::reads), widened by the buffers and cut to `window`.
    pub(crate) fn buffered(&self, blocking: BusySet, window: Span) -> BusySet {
        match &self.ruled {
            Some(ruled) => ruled.rules.buffered(&blocking, window),
            None => blocking,
        }
    }

    /// From when on this may be wrong although no revision changed.
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

/// The time whose surroundings lie in `covers` as far as the buffers reach.
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
    /// The time that was known of all calendars of an agent when it was last read.
    agents: Cache<AgentId, Span>,
}

/// How many agents' times are remembered.
const AGENTS_MAX: u64 = 100_000;

impl BusyCache {
    pub(crate) fn new() -> Self {
        let cache = Cache::builder()
            .max_capacity(BYTES_MAX)
            .weigher(|_, known: &Known| u32::try_from(known.time.weight()).unwrap_or(u32::MAX))
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
    pub(crate) fn at(&self, calendar: CalendarId, revision: Revision) -> Option<Arc<KnownTime>> {
        self.calendars.get(&calendar).filter(|known| known.revision == revision).map(|known| known.time)
    }

    pub(crate) fn keep(&self, calendar: CalendarId, revision: Revision, time: Arc<KnownTime>) {
        self.calendars.insert(calendar, Known { revision, time });
    }
}

/// The most memory that cached answers of one kind take, in bytes.
const ANSWER_BYTES_MAX: u64 = 16 << 20;
/// What a calendar takes in a question, in bytes.
const SOURCE_BYTES: usize = 64;

type FixedHasher = BuildHasherDefault<DefaultHasher>;

/// How many questions are remembered of which the answer is not kept.
const SEEN_ONCE_MAX: u64 = 20_000;

/// Questions that were asked lately, by their hash.
struct SeenOnce(Cache<u64, ()>);

impl SeenOnce {
    fn new(max: u64) -> Self {
        // What is full must go on forgetting the oldest: by how often they are read, all are alike, and the
        // cache would take up nothing new.
        Self(Cache::builder().max_capacity(max).eviction_policy(EvictionPolicy::lru()).build())
    }

    /// Whether it was asked before; remembers it.
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

/// Answers as they were sent. An agent that looks for a time asks the same again and again while
/// nothing changes; then nothing but the revisions has to be read. An answer is kept from the second
/// time on that the same is asked: most long ones are asked for once.
pub(crate) struct AnswerCache<Q> {
    answers: Cache<Q, Answered>,
    asked_once: SeenOnce,
}

/// A question and all that its answer depends on but the clock.
pub(crate) trait Question: Eq + Hash + Send + Sync + 'static {
    /// How many calendars and human calendars the answer depends on.
    fn sources_len(&self) -> usize;
}

impl<Q: Question> AnswerCache<Q> {
    pub(crate) fn new() -> Self {
        let cache = Cache::builder()
            .max_capacity(ANSWER_BYTES_MAX)
            .weigher(|asked: &Q, answer: &Answered| {
                let bytes = ENTRY_BYTES + asked.sources_len() * SOURCE_BYTES + answer.json.len();
                u32::try_from(bytes).unwrap_or(u32::MAX)
            })
            .build();
        Self { answers: cache, asked_once: SeenOnce::new(SEEN_ONCE_MAX) }
    }

    /// The answer, unless it has run out by `now`.
    pub(crate) fn get(&self, asked: &Q, now: Timestamp) -> Option<Bytes> {
        let answered = self.answers.get(asked)?;
        answered.valid_until.is_none_or(|until| now < until).then_some(answered.json)
    }

    /// Keeps an answer that holds while the sources of the question do, and before `valid_until`.
    pub(crate) fn keep(&self, asked: Q, json: Bytes, valid_until: Option<Timestamp>) {
        // Of two questions with one hash, at worst an answer is kept too early.
        let hash = FixedHasher::default().hash_one(&asked);
        if self.asked_once.again(hash) {
            self.answers.insert(asked, Answered { json, valid_until });
        }
    }
}

/// The sooner of two ends of validity; `None` is never.
pub(crate) fn sooner(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    one.into_iter().chain(other).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_questions_are_remembered_however_many_there_were() {
        let asked = SeenOnce::new(100);
        for question in 0..1_000 {
            assert!(!asked.again(question));
            asked.0.run_pending_tasks();
        }
        assert!(asked.again(999) && asked.again(950) && !asked.again(800));
    }
}
