//! Whether the times of an event are free.
//!
//! Events may overlap, unless their calendar or the request that writes them says otherwise. In that case, nothing may
//! block a time that the event blocks: no other event, no occurrence of a series, no live hold of any priority, no
//! reservation, and no busy time of a human calendar.

use std::collections::BTreeSet;

use kalends_time::{SignedDuration, Span, Timestamp};

use crate::{Block, Calendar, ChangedOverride, Conflicts, Event};

/// How far ahead the occurrences of a series are compared with what blocks, from its start or from now, whichever is
/// later.
pub const COMPARED_MAX: SignedDuration = SignedDuration::days(366);
/// The maximum number of conflicts that a refusal lists, and of the occurrences of a series that have one.
pub const CONFLICTS_MAX: usize = 20;

impl Calendar {
    /// The times that must be free for a write that turns `before` into `after`, sorted by start and by end. With
    /// `if_free`, these are all times that the event blocks. Without it, a calendar that allows no conflicts demands
    /// it of the times that the event did not block before, so that an event that already overlaps another one can be
    /// renamed or shortened. An event that comes from another calendar blocked nothing on this one.
    pub fn times_to_be_free(&self, before: Option<&Event>, after: &Event, if_free: bool, now: Timestamp) -> Vec<Span> {
        let before = before.filter(|before| before.calendar == after.calendar);
        match (if_free, self.conflicts) {
            (true, _) => after.blocked_beyond(None, now),
            (false, Conflicts::Refuse) => after.blocked_beyond(before, now),
            (false, Conflicts::Allow) => Vec::new(),
        }
    }

    /// The times that have to be free for the overrides that change with `series`. They are compared for the same time as
    /// the occurrences of the series.
    pub fn overrides_to_be_free(
        &self,
        series: &Event,
        overrides: &[ChangedOverride],
        if_free: bool,
        now: Timestamp,
    ) -> Vec<Span> {
        let Some(window) = series.compared(now) else { return Vec::new() };
        let changed = overrides.iter().filter_map(|changed| Some((&changed.before, changed.after.as_ref()?)));
        let times = changed.flat_map(|(before, after)| self.times_to_be_free(Some(before), after, if_free, now));
        times.filter(|time| time.overlaps(window)).collect()
    }
}

impl Event {
    /// The time in which it is compared with what else blocks. For a series, [`COMPARED_MAX`] from its start or from
    /// `now`, whichever is later.
    fn compared(&self, now: Timestamp) -> Option<Span> {
        let from = if self.recurrence().is_some() { self.times.span.start().max(now) } else { self.times.span.start() };
        Span::new(from, (from + COMPARED_MAX).max(self.times.span.end())).ok()
    }

    /// The times that it blocks and that `before` did not block, sorted by start and by end. For a series, these are
    /// its occurrences within [`COMPARED_MAX`] that have no override. Without `before`, every time that it blocks.
    ///
    /// Holds block no time here, because placing a hold has rules of its own ([`crate::place`]).
    pub fn blocked_beyond(&self, before: Option<&Self>, now: Timestamp) -> Vec<Span> {
        let Some(window) = self.compared(now) else { return Vec::new() };
        let mut times = self.blocked_in(window);
        let before = before.map(|before| before.blocked_in(window)).unwrap_or_default();
        // Both are sorted by start and by end, so of those that begin no later, the last one ends last.
        times.retain(|time| {
            let begun = before.partition_point(|earlier| earlier.start() <= time.start());
            begun.checked_sub(1).and_then(|last| before.get(last)).is_none_or(|earlier| earlier.end() < time.end())
        });
        times
    }

    /// The times in `window` that it blocks, sorted by start and by end.
    pub fn blocked_in(&self, window: Span) -> Vec<Span> {
        if !self.blocks() {
            return Vec::new();
        }
        match self.repeating() {
            Some(series) => series.occurrences(window).collect(),
            None => self.busy().filter(|span| span.overlaps(window)).into_iter().collect(),
        }
    }
}

/// The wanted times that are not free.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Met {
    /// The wanted times that something blocks, by start: at most [`CONFLICTS_MAX`], and at least one.
    pub times: Vec<Span>,
    /// What blocks them, by start: at most [`CONFLICTS_MAX`], and at least one.
    pub blocks: Vec<Block>,
}

/// Compares wanted times with everything that blocks on a calendar, one block after the other and in any order. It
/// keeps no more of the blocks than a refusal lists.
///
/// ```
/// use kalends_calendars::{Block, BlockKind, Comparison};
/// use kalends_time::Span;
///
/// let span = |start: &str, end: &str| Span::new(start.parse().unwrap(), end.parse().unwrap()).unwrap();
/// let wanted = vec![
///     span("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z"),
///     span("2026-03-03T09:00:00Z", "2026-03-03T10:00:00Z"),
/// ];
/// let lunch = Block { kind: BlockKind::Event, span: span("2026-03-03T09:30:00Z", "2026-03-03T11:00:00Z") };
/// let mut comparison = Comparison::new(wanted.clone(), Vec::new());
/// comparison.meet(lunch);
/// let met = comparison.outcome().unwrap_err();
/// assert_eq!((met.times, met.blocks), (vec![wanted[1]], vec![lunch]));
/// ```
#[derive(Debug)]
pub struct Comparison {
    /// By start.
    wanted: Vec<Span>,
    /// The length of the longest wanted time.
    longest: SignedDuration,
    own: Vec<Block>,
    met: BTreeSet<usize>,
    blocks: Vec<Block>,
}

impl Comparison {
    /// Begins a comparison. `own` are blocks of the event itself before a change. For each of them, one equal block is
    /// ignored.
    pub fn new(mut wanted: Vec<Span>, own: Vec<Block>) -> Self {
        wanted.sort_unstable();
        let longest = wanted.iter().map(|span| span.length()).max().unwrap_or(SignedDuration::ZERO);
        Self { wanted, longest, own, met: BTreeSet::new(), blocks: Vec::new() }
    }

    /// The time from the first wanted start to the last wanted end. `None` if nothing is wanted.
    pub fn window(&self) -> Option<Span> {
        let last = self.wanted.iter().map(|span| span.end()).max()?;
        Span::new(self.wanted.first()?.start(), last).ok()
    }

    /// Compares the wanted times with one block.
    pub fn meet(&mut self, block: Block) {
        let begun = self.wanted.partition_point(|span| span.start() < block.span.end());
        let over = self.wanted.partition_point(|span| span.start() + self.longest <= block.span.start());
        let near = self.wanted.iter().enumerate().take(begun).skip(over);
        let mut met = near.filter(|(_, span)| span.end() > block.span.start()).map(|(index, _)| index).peekable();
        if met.peek().is_none() {
            return;
        }
        if let Some(own) = self.own.iter().position(|own| *own == block) {
            self.own.swap_remove(own);
            return;
        }
        self.met.extend(met.take(CONFLICTS_MAX));
        while self.met.len() > CONFLICTS_MAX {
            self.met.pop_last();
        }
        self.blocks.push(block);
        if self.blocks.len() > 2 * CONFLICTS_MAX {
            self.keep_first();
        }
    }

    fn keep_first(&mut self) {
        self.blocks.sort_unstable_by_key(|block| (block.span, block.kind));
        self.blocks.truncate(CONFLICTS_MAX);
    }

    /// Ends the comparison.
    ///
    /// # Errors
    /// [`Met`] if any wanted time is blocked.
    pub fn outcome(mut self) -> Result<(), Met> {
        self.keep_first();
        let times: Vec<Span> = self.met.iter().filter_map(|index| self.wanted.get(*index)).copied().collect();
        if times.is_empty() { Ok(()) } else { Err(Met { times, blocks: self.blocks }) }
    }
}

#[cfg(test)]
mod tests {
    use kalends_time::{Zone, testing::config};
    use proptest::{collection::vec, prelude::*};
    use rstest::rstest;

    use super::*;
    use crate::{BlockKind, EventPatch, EventStatus, Moment, Patch, series::examples::*};

    fn hours(start: i64, end: i64) -> Span {
        let zero = Timestamp::from_micros(1_772_323_200_000_000);
        Span::new(zero + SignedDuration::hours(start), zero + SignedDuration::hours(end)).unwrap()
    }

    fn block(span: Span) -> Block {
        Block { kind: BlockKind::Event, span }
    }

    fn compared(wanted: Vec<Span>, own: Vec<Block>, blocks: impl IntoIterator<Item = Block>) -> Result<(), Met> {
        let mut comparison = Comparison::new(wanted, own);
        blocks.into_iter().for_each(|block| comparison.meet(block));
        comparison.outcome()
    }

    proptest! {
        #![proptest_config(config(256))]

        /// A comparison finds the first wanted times that overlap a block, and the first blocks that overlap a wanted
        /// time, in whatever order the blocks come.
        #[test]
        fn a_comparison_agrees_with_comparing_every_pair(
            wanted in vec((0..300_i64, 1..9_i64), 0..60),
            blocks in vec((0..300_i64, 1..20_i64), 0..90), seed in any::<prop::sample::Index>(),
        ) {
            let mut wanted: Vec<Span> = wanted.iter().map(|(start, lasts)| hours(*start, start + lasts)).collect();
            wanted.sort_unstable();
            let mut blocks: Vec<Block> = blocks.iter().map(|(start, lasts)| block(hours(*start, start + lasts))).collect();
            let mut times = wanted.clone();
            times.retain(|time| blocks.iter().any(|block| block.span.overlaps(*time)));
            times.truncate(CONFLICTS_MAX);
            if !blocks.is_empty() {
                let middle = seed.index(blocks.len());
                blocks.rotate_left(middle);
            }
            let got = compared(wanted.clone(), Vec::new(), blocks.clone());
            blocks.retain(|block| wanted.iter().any(|time| block.span.overlaps(*time)));
            blocks.sort_by_key(|block| block.span);
            blocks.truncate(CONFLICTS_MAX);
            let expected = if times.is_empty() { Ok(()) } else { Err(Met { times, blocks }) };
            prop_assert_eq!(got, expected);
        }

        /// A changed series blocks a time beyond what it blocked before if and only if no earlier occurrence covers it.
        #[test]
        fn times_beyond_those_before_are_not_covered_by_them(event in series(), other in series(), day in -3..40_i64) {
            let now = event.times.span.start() + SignedDuration::days(day);
            let every = other.blocked_beyond(None, now);
            let beyond = other.blocked_beyond(Some(&event), now);
            let earlier: Vec<Span> = all(&event);
            let covered = |time: &Span| {
                earlier.iter().any(|span| span.start() <= time.start() && time.end() <= span.end())
            };
            let expected: Vec<Span> = every.iter().filter(|time| !covered(time)).copied().collect();
            prop_assert_eq!(beyond, expected);
            prop_assert_eq!(event.blocked_beyond(Some(&event), now), vec![]);
        }
    }

    #[test]
    fn touching_times_are_free() {
        let wanted = vec![hours(10, 12)];
        assert_eq!(compared(wanted.clone(), Vec::new(), [block(hours(8, 10)), block(hours(12, 13))]), Ok(()));
        let met = Met { times: wanted.clone(), blocks: vec![block(hours(11, 13))] };
        assert_eq!(compared(wanted, Vec::new(), [block(hours(11, 13))]), Err(met));
    }

    #[test]
    fn an_event_does_not_block_itself() {
        let (wanted, own) = (vec![hours(10, 12)], block(hours(9, 11)));
        assert_eq!(compared(wanted.clone(), vec![own], [own]), Ok(()));
        let met = Met { times: wanted.clone(), blocks: vec![own] };
        assert_eq!(compared(wanted, vec![own], [own, own]), Err(met), "another event at the same time blocks it");
    }

    #[test]
    fn overrides_are_compared_as_long_as_their_series() {
        let daily = made("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z", "FREQ=DAILY", None, &[]).unwrap();
        let now = daily.times.span.start() + SignedDuration::days(10);
        let changed = |day: i64| {
            let start = daily.times.span.start() + SignedDuration::days(day);
            let (_, before) = overridden(&daily, &start.to_string());
            let after = before
                .patched(
                    moved(
                        &(start + SignedDuration::hours(1)).to_string(),
                        &(start + SignedDuration::hours(2)).to_string(),
                    ),
                    Zone::UTC,
                    now,
                )
                .unwrap();
            ChangedOverride { before, after: Some(after) }
        };
        let overrides = [changed(3), changed(12), changed(380)];
        let calendar = calendar("UTC");
        let times = |if_free| calendar.overrides_to_be_free(&daily, &overrides, if_free, now);
        assert_eq!(times(true), [overrides[1].after.as_ref().unwrap().times.span]);
        assert_eq!(times(false), []);
    }

    #[test]
    fn an_event_from_another_calendar_blocked_nothing_on_this_one() {
        let after = once();
        let calendar = Calendar { conflicts: Conflicts::Refuse, ..calendar("UTC") };
        let times = |before: &Event| calendar.times_to_be_free(Some(before), &after, false, after.created_at);
        assert_eq!(times(&after), []);
        let other = "cal_00000000000000000000000002".parse().unwrap();
        assert_eq!(times(&Event { calendar: other, ..after.clone() }), [after.times.span]);
    }

    #[test]
    fn a_series_is_compared_for_a_year() {
        let daily = made("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z", "FREQ=DAILY", None, &[]).unwrap();
        let first = daily.times.span.start();
        let times = |now| daily.blocked_beyond(None, now);
        assert_eq!(times(first - SignedDuration::days(99)).len(), 366);
        // An occurrence that is under way counts.
        let now = first + SignedDuration::days(10) + SignedDuration::minutes(30);
        assert_eq!((times(now).len(), times(now)[0].start()), (367, first + SignedDuration::days(10)));
        let five = made("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z", "FREQ=DAILY;COUNT=5", None, &[]).unwrap();
        assert_eq!(five.blocked_beyond(None, first + SignedDuration::days(5)), vec![]);
    }

    /// A one-off event blocks new time if it starts earlier or ends later than before, or blocked nothing before.
    #[rstest]
    #[case::the_same(10, 12, EventStatus::Confirmed, false)]
    #[case::shorter(10, 11, EventStatus::Confirmed, false)]
    #[case::longer(10, 13, EventStatus::Confirmed, true)]
    #[case::earlier(9, 12, EventStatus::Confirmed, true)]
    #[case::elsewhere(20, 22, EventStatus::Confirmed, true)]
    #[case::cancelled(20, 22, EventStatus::Cancelled, false)]
    #[case::tentative(20, 22, EventStatus::Tentative, true)]
    fn a_change_of_a_one_off_event_blocks_new_time(
        #[case] start: i64,
        #[case] end: i64,
        #[case] status: EventStatus,
        #[case] blocks: bool,
    ) {
        let before = Event { times: crate::Times { span: hours(10, 12), all_day: false }, ..once() };
        let span = hours(start, end);
        let after = Event { times: crate::Times { span, all_day: false }, status, ..before.clone() };
        let now = span.end();
        let expected = if blocks { vec![span] } else { vec![] };
        assert_eq!(after.blocked_beyond(Some(&before), now), expected);
        let cancelled = Event { status: EventStatus::Cancelled, ..before };
        let any = if status == EventStatus::Cancelled { vec![] } else { vec![span] };
        assert_eq!(after.blocked_beyond(Some(&cancelled), now), any);
    }

    fn once() -> Event {
        let daily = made("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z", "FREQ=DAILY;COUNT=2", None, &[]).unwrap();
        Event { repeats: crate::Repeats::Once, ..daily }
    }

    #[test]
    fn an_exception_that_is_removed_blocks_its_time_again() {
        let before =
            made("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z", "FREQ=DAILY;COUNT=5", None, &["2026-03-04T09:00:00Z"])
                .unwrap();
        let now = before.times.span.start();
        let exdates = |dates: Vec<Moment>| EventPatch {
            recurrence: crate::RecurrencePatch { exdates: Patch::Set(dates), ..Default::default() },
            ..EventPatch::default()
        };
        let after = before.patched(exdates(Vec::new()), Zone::UTC, now).unwrap();
        let back = Span::new(at("2026-03-04T09:00:00Z"), at("2026-03-04T10:00:00Z")).unwrap();
        assert_eq!(after.blocked_beyond(Some(&before), now), vec![back]);
        assert_eq!(before.blocked_beyond(Some(&after), now), vec![]);
    }
}
