//! Sets of busy time and their algebra.

use std::hint::select_unpredictable;

use kalends_time::{SignedDuration, Span, Timestamp};

use crate::buckets::sort_by_time;

/// Busy time: sorted half-open spans, of which no two overlap or touch.
///
/// Two sets that cover the same instants are equal, however they were built. In the complexities
/// below, *n* is the number of spans in the set and *k* the number of spans that overlap the window.
///
/// ```
/// use kalends_availability::BusySet;
/// use kalends_time::{SignedDuration, Timestamp, Span};
///
/// let minutes = |start, end| {
///     let at = |minute| Timestamp::EPOCH + SignedDuration::minutes(minute);
///     Span::new(at(start), at(end))
/// };
/// let busy = BusySet::from_unsorted(vec![minutes(40, 50)?, minutes(0, 10)?, minutes(10, 20)?]);
/// assert_eq!(busy.spans(), [minutes(0, 20)?, minutes(40, 50)?]);
/// assert_eq!(busy.total(), SignedDuration::minutes(30));
/// assert!(!busy.overlaps(minutes(20, 40)?));
/// assert_eq!(busy.complement(minutes(15, 60)?).spans(), [minutes(20, 40)?, minutes(50, 60)?]);
/// # Ok::<(), kalends_time::SpanError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct BusySet(Vec<Span>);

impl BusySet {
    /// The set that contains no time.
    pub const EMPTY: Self = Self(Vec::new());

    /// The set of all instants inside any of `spans`, which may overlap and be in any order. [`BusySet`] has an
    /// example.
    ///
    /// Works in place. Sorted input is detected during the merge and takes *O*(*n*). Other input must also be sorted.
    /// See [`from_runs`](Self::from_runs) for input that is nearly sorted.
    pub fn from_unsorted(spans: Vec<Span>) -> Self {
        Self::merged(spans, |spans| spans.sort_unstable_by_key(|span| span.start()))
    }

    /// The same set as [`from_unsorted`](Self::from_unsorted), but faster if `spans` consists of a few
    /// sorted runs, such as one-off events in index order followed by the occurrences of each series.
    ///
    /// Takes *O*(*n* log *r*) for *r* long runs, and a buffer of up to *n* spans unless the input is sorted.
    ///
    /// ```
    /// use kalends_availability::{BusySet, Span, Timestamp};
    ///
    /// let micros = |start, end| Span::new(Timestamp::from_micros(start), Timestamp::from_micros(end));
    /// let events = [micros(0, 10)?, micros(40, 50)?];
    /// let series = [micros(5, 15)?, micros(45, 55)?];
    /// let busy = BusySet::from_runs([events, series].concat());
    /// assert_eq!(busy.spans(), [micros(0, 15)?, micros(40, 55)?]);
    /// # Ok::<(), kalends_availability::SpanError>(())
    /// ```
    pub fn from_runs(spans: Vec<Span>) -> Self {
        Self::merged(spans, |spans| spans.sort_by_key(|span| span.start()))
    }

    fn merged(mut spans: Vec<Span>, sort: impl FnOnce(&mut [Span])) -> Self {
        let Swept { kept, read } = sweep(&mut spans);
        spans.drain(kept..read);
        if kept < spans.len() {
            sort(&mut spans);
            let Swept { kept, .. } = sweep(&mut spans);
            spans.truncate(kept);
        }
        Self(spans)
    }

    /// The spans in order. There is free time between any two of them.
    pub fn spans(&self) -> &[Span] {
        &self.0
    }

    /// Whether the set contains no time.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of spans, after merging.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The total length of the busy time. [`BusySet`] has an example.
    pub fn total(&self) -> SignedDuration {
        SignedDuration::micros(self.0.iter().map(|span| span.length().as_micros()).fold(0, i64::saturating_add))
    }

    /// The spans that share an instant with `window`. They are not clipped: the first and the last may
    /// reach beyond it. *O*(log *n*).
    ///
    /// ```
    /// use kalends_availability::{BusySet, Span, Timestamp};
    ///
    /// let micros = |start, end| Span::new(Timestamp::from_micros(start), Timestamp::from_micros(end));
    /// let busy = BusySet::from_unsorted(vec![micros(0, 10)?, micros(20, 30)?, micros(40, 50)?]);
    /// assert_eq!(busy.overlapping(micros(10, 25)?), [micros(20, 30)?]);
    /// # Ok::<(), kalends_availability::SpanError>(())
    /// ```
    pub fn overlapping(&self, window: Span) -> &[Span] {
        let first = self.0.partition_point(|span| span.end() <= window.start());
        let (_, rest) = self.0.split_at(first);
        let (overlapping, _) = rest.split_at(rest.partition_point(|span| span.start() < window.end()));
        overlapping
    }

    /// Whether any instant of `span` is busy. A busy span that only touches it does not count. *O*(log *n*).
    /// [`BusySet`] has an example.
    pub fn overlaps(&self, span: Span) -> bool {
        let first = self.0.partition_point(|busy| busy.end() <= span.start());
        self.0.get(first).is_some_and(|busy| busy.start() < span.end())
    }

    /// The busy time inside `window`. *O*(log *n* + *k*).
    ///
    /// ```
    /// use kalends_availability::{BusySet, Span, Timestamp};
    ///
    /// let micros = |start, end| Span::new(Timestamp::from_micros(start), Timestamp::from_micros(end));
    /// let busy = BusySet::from_unsorted(vec![micros(0, 10)?, micros(20, 30)?]);
    /// assert_eq!(busy.clip(micros(5, 25)?).spans(), [micros(5, 10)?, micros(20, 25)?]);
    /// # Ok::<(), kalends_availability::SpanError>(())
    /// ```
    #[must_use]
    pub fn clip(&self, window: Span) -> Self {
        let mut spans = self.overlapping(window).to_vec();
        // Only the first and the last span can reach beyond the window. A lone span is both.
        let last = spans.len().saturating_sub(1);
        for index in [0, last] {
            if let Some(span) = spans.get_mut(index) {
                *span = span.clip(window).unwrap_or(*span);
            }
        }
        Self(spans)
    }

    /// The time of `window` that the set does not contain: its free time. *O*(log *n* + *k*). [`BusySet`] has an
    /// example.
    #[must_use]
    pub fn complement(&self, window: Span) -> Self {
        let mut free = Vec::with_capacity(self.overlapping(window).len() + 1);
        free.extend(self.gaps(window));
        Self(free)
    }

    /// The free spans of `window` in order, without collecting them.
    pub(crate) fn gaps(&self, window: Span) -> impl Iterator<Item = Span> {
        Gaps { from: window.start(), until: window.end(), busy: self.overlapping(window).iter() }
    }

    /// The time that is in this set or in `other`. One linear merge.
    ///
    /// ```
    /// use kalends_availability::{BusySet, Span, Timestamp};
    ///
    /// let micros = |start, end| Span::new(Timestamp::from_micros(start), Timestamp::from_micros(end));
    /// let (ada, ben) = (BusySet::from(micros(0, 10)?), BusySet::from(micros(10, 20)?));
    /// assert_eq!(ada.union(&ben), BusySet::from(micros(0, 20)?));
    /// # Ok::<(), kalends_availability::SpanError>(())
    /// ```
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self(merge(&self.0, &other.0))
    }

    /// The time that is in any of `sets`. *O*(*n* log *m*) for *m* sets with *n* spans in total.
    ///
    /// ```
    /// use kalends_availability::{BusySet, Span, Timestamp};
    ///
    /// let micros = |start, end| Span::new(Timestamp::from_micros(start), Timestamp::from_micros(end));
    /// let calendars = [micros(0, 10)?, micros(30, 40)?, micros(5, 20)?].map(BusySet::from);
    /// assert_eq!(BusySet::union_all(&calendars).spans(), [micros(0, 20)?, micros(30, 40)?]);
    /// assert_eq!(BusySet::union_all([]), BusySet::EMPTY);
    /// # Ok::<(), kalends_availability::SpanError>(())
    /// ```
    #[must_use]
    pub fn union_all<'a>(sets: impl IntoIterator<Item = &'a Self>) -> Self {
        Self(merge_all(sets.into_iter().map(Self::spans)))
    }

    /// The time that is both in this set and in `other`. One linear merge.
    ///
    /// ```
    /// use kalends_availability::{BusySet, Span, Timestamp};
    ///
    /// let micros = |start, end| Span::new(Timestamp::from_micros(start), Timestamp::from_micros(end));
    /// let shift = BusySet::from(micros(0, 100)?);
    /// let meetings = BusySet::from_unsorted(vec![micros(90, 110)?, micros(20, 30)?]);
    /// assert_eq!(shift.intersection(&meetings).spans(), [micros(20, 30)?, micros(90, 100)?]);
    /// # Ok::<(), kalends_availability::SpanError>(())
    /// ```
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let (mut ours, mut theirs) = (self.0.as_slice(), other.0.as_slice());
        let mut shared = Vec::with_capacity(ours.len().min(theirs.len()));
        while let (Some((our, our_rest)), Some((their, their_rest))) = (ours.split_first(), theirs.split_first()) {
            shared.extend(our.clip(*their));
            if our.end() <= their.end() {
                ours = our_rest;
            } else {
                theirs = their_rest;
            }
        }
        Self(shared)
    }

    /// The time that is in this set and not in `other`. One linear merge.
    ///
    /// ```
    /// use kalends_availability::{BusySet, SignedDuration, Span, Timestamp};
    ///
    /// let hours = |start, end| {
    ///     let at = |hour| Timestamp::EPOCH + SignedDuration::hours(hour);
    ///     Span::new(at(start), at(end))
    /// };
    /// let open = BusySet::from(hours(9, 17)?);
    /// let lunch = BusySet::from(hours(12, 13)?);
    /// assert_eq!(open.difference(&lunch).spans(), [hours(9, 12)?, hours(13, 17)?]);
    /// # Ok::<(), kalends_availability::SpanError>(())
    /// ```
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        let mut left = Vec::with_capacity(self.0.len());
        let mut theirs = other.0.as_slice();
        for our in &self.0 {
            let mut from = our.start();
            while let Some((their, rest)) = theirs.split_first()
                && their.start() < our.end()
            {
                left.extend(Span::new(from, their.start()).ok());
                from = from.max(their.end());
                if their.end() > our.end() {
                    // It may reach into the next span too.
                    break;
                }
                theirs = rest;
            }
            left.extend(Span::new(from, our.end()).ok());
        }
        Self(left)
    }

    /// The time of `window` that is in none of `sets`: when everybody is free. Without sets, it is all of `window`.
    ///
    /// Only the spans that overlap `window` are merged. Takes *O*(*m* log *n* + *k* log *m*) for *m* sets of up to *n*
    /// spans, of which *k* in total overlap the window.
    ///
    /// ```
    /// use kalends_availability::{BusySet, SignedDuration, Span, Timestamp};
    ///
    /// let hours = |start, end| {
    ///     let at = |hour| Timestamp::EPOCH + SignedDuration::hours(hour);
    ///     Span::new(at(start), at(end))
    /// };
    /// let (ada, ben) = (BusySet::from(hours(8, 10)?), BusySet::from(hours(11, 12)?));
    /// let (sets, window) = ([&ada, &ben], hours(9, 13)?);
    /// assert_eq!(BusySet::common_free(sets, window).spans(), [hours(10, 11)?, hours(12, 13)?]);
    /// assert_eq!(BusySet::at_least_free(1, sets, window).spans(), [window]);
    /// # Ok::<(), kalends_availability::SpanError>(())
    /// ```
    #[must_use]
    pub fn common_free<'a>(sets: impl IntoIterator<Item = &'a Self>, window: Span) -> Self {
        // The first and the last span of a set may reach beyond the window. The complement leaves that out.
        Self(merge_all(sets.into_iter().map(|set| set.overlapping(window)))).complement(window)
    }

    /// The time of `window` that at least `k` of `sets` do not contain: when `k` of *m* people are free.
    ///
    /// All of `window` if `k` is 0, and nothing if `k` is more than the number of sets. If `k` is the number of sets,
    /// the result is that of [`common_free`](Self::common_free). Takes as long, for the same reasons.
    ///
    /// ```
    /// use kalends_availability::{BusySet, Span, Timestamp};
    ///
    /// let micros = |start, end| Span::new(Timestamp::from_micros(start), Timestamp::from_micros(end));
    /// let people = [micros(0, 20)?, micros(10, 30)?, micros(20, 40)?].map(BusySet::from);
    /// // Two of three are free except between 10 and 30, when two are busy.
    /// let free = BusySet::at_least_free(2, &people, micros(0, 40)?);
    /// assert_eq!(free.spans(), [micros(0, 10)?, micros(30, 40)?]);
    /// # Ok::<(), kalends_availability::SpanError>(())
    /// ```
    #[must_use]
    pub fn at_least_free<'a>(k: usize, sets: impl IntoIterator<Item = &'a Self>, window: Span) -> Self {
        let inside: Vec<&[Span]> = sets.into_iter().map(|set| set.overlapping(window)).collect();
        let Some(busy_most) = inside.len().checked_sub(k) else { return Self::EMPTY };
        if busy_most == 0 {
            return Self(merge_all(inside)).complement(window);
        }
        let spans = || inside.iter().copied().flatten();
        let starts = sort_by_time(spans().map(|span| span.start().max(window.start())).collect(), |at| *at);
        let ends = sort_by_time(spans().map(|span| span.end().min(window.end())).collect(), |at| *at);
        let mut free = Vec::new();
        // The start of the free time that has not ended yet.
        let mut since = Some(window.start());
        let (mut started, mut ended) = (0, 0);
        // Every span ends, so nothing is left when the ends are used up.
        while let Some(end) = ends.get(ended) {
            let at = starts.get(started).map_or(*end, |start| *start.min(end));
            started += count_equal(starts.get(started..), at);
            ended += count_equal(ends.get(ended..), at);
            // Not negative: no span ends before it starts.
            if started - ended <= busy_most {
                since = since.or(Some(at));
            } else if let Some(since) = since.take() {
                free.extend(Span::new(since, at).ok());
            }
        }
        free.extend(since.and_then(|since| Span::new(since, window.end()).ok()));
        Self(free)
    }

    /// Moves every start earlier by `before` and every end later by `after`, and merges spans that now meet.
    ///
    /// Widen before clipping: a span just outside a window may reach into it once widened. A negative
    /// buffer narrows, and a span that is narrowed to nothing is dropped.
    ///
    /// ```
    /// use kalends_availability::{BusySet, SignedDuration, Span, Timestamp};
    ///
    /// let micros = |start, end| Span::new(Timestamp::from_micros(start), Timestamp::from_micros(end));
    /// let busy = BusySet::from_unsorted(vec![micros(100, 110)?, micros(115, 120)?]);
    /// let (before, after) = (SignedDuration::micros(10), SignedDuration::micros(5));
    /// assert_eq!(busy.widen(before, after).spans(), [micros(90, 125)?]);
    /// # Ok::<(), kalends_availability::SpanError>(())
    /// ```
    #[must_use]
    pub fn widen(&self, before: SignedDuration, after: SignedDuration) -> Self {
        let widened = |span: &Span| Span::new(span.start() - before, span.end() + after).ok();
        Self::from_unsorted(self.0.iter().filter_map(widened).collect())
    }
}

impl From<Span> for BusySet {
    /// The set that contains one span.
    fn from(span: Span) -> Self {
        Self(vec![span])
    }
}

impl FromIterator<Span> for BusySet {
    /// The same as [`BusySet::from_unsorted`].
    fn from_iter<I: IntoIterator<Item = Span>>(spans: I) -> Self {
        Self::from_unsorted(spans.into_iter().collect())
    }
}

/// The number of `times` that equal `at`, at the front.
fn count_equal(times: Option<&[Timestamp]>, at: Timestamp) -> usize {
    times.unwrap_or_default().iter().take_while(|time| **time == at).count()
}

/// The union of two sets. One linear pass.
fn merge(ours: &[Span], theirs: &[Span]) -> Vec<Span> {
    let (Some(our_first), Some(their_first)) = (ours.first(), theirs.first()) else {
        return [ours, theirs].concat();
    };
    let first = *our_first.min(their_first);
    let mut merging = Merging::at(0, first);
    let mut union = vec![first; ours.len() + theirs.len()];
    let (mut our, mut their) = (0, 0);
    while let (Some(our_next), Some(their_next)) = (ours.get(our), theirs.get(their)) {
        let is_ours = our_next.start() <= their_next.start();
        our += usize::from(is_ours);
        their += usize::from(!is_ours);
        merging.add(select_unpredictable(is_ours, *our_next, *their_next), &mut union);
    }
    for next in ours.iter().skip(our).chain(theirs.iter().skip(their)) {
        merging.add(*next, &mut union);
    }
    union.truncate(merging.at + 1);
    union
}

/// The union of sets.
///
/// They are merged in pairs, then in pairs of pairs, and so on. What overlaps is merged early and costs nothing in
/// later rounds. If too little overlaps, the rest is sorted instead, which takes as long as a few rounds.
fn merge_all<'a>(sets: impl IntoIterator<Item = &'a [Span]>) -> Vec<Span> {
    /// Fewer sets than this are always merged in pairs.
    const FEW: usize = 6;
    let mut sets = sets.into_iter();
    let (mut merged, mut before) = (Vec::new(), 0);
    while let Some(first) = sets.next() {
        let second = sets.next().unwrap_or_default();
        before += first.len() + second.len();
        merged.push(merge(first, second));
    }
    while merged.len() > 1 {
        let left = merged.iter().map(Vec::len).sum::<usize>();
        if merged.len() > FEW && left > before / 4 * 3 {
            let sorted = sort_by_time(merged.concat(), |span| span.start());
            return BusySet::from_unsorted(sorted).0;
        }
        before = left;
        let mut pairs = std::mem::take(&mut merged).into_iter();
        while let Some(first) = pairs.next() {
            merged.push(match pairs.next() {
                Some(second) => merge(&first, &second),
                None => first,
            });
        }
    }
    merged.pop().unwrap_or_default()
}

/// How far [`sweep`] got.
struct Swept {
    /// The number of merged spans at the front.
    kept: usize,
    /// The number of spans that they replace. The span after these, if any, starts before its predecessor.
    read: usize,
}

/// Merges in place, up to the first span that is out of order.
fn sweep(spans: &mut [Span]) -> Swept {
    let met = spans.windows(2).position(|pair| pair[0].end() >= pair[1].start());
    // Spans that are already merged are only read, not written.
    let Some(met) = met else { return Swept { kept: spans.len(), read: spans.len() } };
    let mut merging = Merging::at(met, spans[met]);
    for read in met + 1..spans.len() {
        let next = spans[read];
        if next.start() < merging.start {
            return Swept { kept: merging.at + 1, read };
        }
        merging.add(next, spans);
    }
    Swept { kept: merging.at + 1, read: spans.len() }
}

/// The span that the next ones may still extend, and its index.
struct Merging {
    start: Timestamp,
    end: Timestamp,
    at: usize,
}

impl Merging {
    /// Begins with `span`, which is at index `at`.
    fn at(at: usize, span: Span) -> Self {
        Self { start: span.start(), end: span.end(), at }
    }

    /// Extends the current span by `next`, which starts no earlier, or begins another one with it.
    ///
    /// Selects instead of branching: whether spans meet is hard to predict, and a misprediction costs
    /// more than everything else here.
    fn add(&mut self, next: Span, merged: &mut [Span]) {
        let apart = self.end < next.start();
        self.at += usize::from(apart);
        self.start = select_unpredictable(apart, next.start(), self.start);
        self.end = self.end.max(next.end());
        // Never the fallback: the end is not before that of `next`, and the start is not after it.
        merged[self.at] = Span::new(self.start, self.end).unwrap_or(next);
    }
}

/// Iterates over the time between busy spans.
struct Gaps<'a> {
    /// Everything before this was already returned or is busy.
    from: Timestamp,
    until: Timestamp,
    busy: std::slice::Iter<'a, Span>,
}

impl Iterator for Gaps<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        for busy in self.busy.by_ref() {
            let gap = Span::new(self.from, busy.start());
            self.from = busy.end();
            if let Ok(gap) = gap {
                return Some(gap);
            }
        }
        let gap = Span::new(self.from, self.until);
        self.from = self.until;
        gap.ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::testing::{MINUTES, at, busy_minutes, busy_set, calendars, free_minutes, minutes, span, spans};

    fn set(spans: &[(i64, i64)]) -> BusySet {
        spans.iter().map(|(start, end)| minutes(*start, *end)).collect()
    }

    #[rstest]
    #[case::nothing(&[], &[])]
    #[case::one(&[(3, 5)], &[(3, 5)])]
    #[case::touching(&[(0, 5), (5, 9)], &[(0, 9)])]
    #[case::a_minute_apart(&[(0, 5), (6, 9)], &[(0, 5), (6, 9)])]
    #[case::nested(&[(0, 9), (2, 3), (4, 9)], &[(0, 9)])]
    #[case::same_start(&[(0, 2), (0, 9), (0, 4)], &[(0, 9)])]
    #[case::a_chain(&[(0, 3), (2, 5), (4, 7)], &[(0, 7)])]
    #[case::backwards(&[(8, 9), (5, 6), (1, 2)], &[(1, 2), (5, 6), (8, 9)])]
    #[case::late_bridge(&[(1, 2), (5, 6), (8, 9), (0, 8)], &[(0, 9)])]
    #[case::before_all(&[(4, 5), (8, 9), (1, 2)], &[(1, 2), (4, 5), (8, 9)])]
    #[case::back_into_a_merged_span(&[(0, 3), (2, 9), (1, 4), (20, 21)], &[(0, 9), (20, 21)])]
    fn merges(#[case] given: &[(i64, i64)], #[case] merged: &[(i64, i64)]) {
        let given: Vec<Span> = given.iter().map(|(start, end)| minutes(*start, *end)).collect();
        let merged: Vec<Span> = merged.iter().map(|(start, end)| minutes(*start, *end)).collect();
        assert_eq!(BusySet::from_unsorted(given.clone()).spans(), merged);
        assert_eq!(BusySet::from_runs(given).spans(), merged);
    }

    #[rstest]
    #[case::touches_before((0, 10), false)]
    #[case::reaches_in((0, 11), true)]
    #[case::inside((12, 13), true)]
    #[case::around((5, 25), true)]
    #[case::reaches_out((19, 22), true)]
    #[case::touches_after((20, 22), false)]
    #[case::fills_the_gap((20, 30), false)]
    #[case::over_the_gap((15, 35), true)]
    #[case::after_all((40, 50), false)]
    fn overlaps_half_open(#[case] (start, end): (i64, i64), #[case] overlaps: bool) {
        let busy = set(&[(10, 20), (30, 40)]);
        assert_eq!(busy.overlaps(minutes(start, end)), overlaps);
        assert_eq!(!busy.overlapping(minutes(start, end)).is_empty(), overlaps);
    }

    #[rstest]
    #[case::all((0, 60), &[(10, 20), (30, 40)], &[(0, 10), (20, 30), (40, 60)])]
    #[case::cut_on_both_sides((15, 35), &[(15, 20), (30, 35)], &[(20, 30)])]
    #[case::inside_one((12, 18), &[(12, 18)], &[])]
    #[case::exactly_one((10, 20), &[(10, 20)], &[])]
    #[case::the_gap((20, 30), &[], &[(20, 30)])]
    #[case::edges_touch((20, 31), &[(30, 31)], &[(20, 30)])]
    #[case::before((0, 10), &[], &[(0, 10)])]
    #[case::after((40, 41), &[], &[(40, 41)])]
    fn windows(#[case] (start, end): (i64, i64), #[case] busy: &[(i64, i64)], #[case] free: &[(i64, i64)]) {
        let window = minutes(start, end);
        assert_eq!(set(&[(10, 20), (30, 40)]).clip(window), set(busy));
        assert_eq!(set(&[(10, 20), (30, 40)]).complement(window), set(free));
    }

    #[rstest]
    #[case::by_nothing((0, 0), &[(10, 20), (30, 40)])]
    #[case::before((5, 0), &[(5, 20), (25, 40)])]
    #[case::after((0, 5), &[(10, 25), (30, 45)])]
    #[case::until_they_touch((4, 6), &[(6, 46)])]
    #[case::narrower((-2, -3), &[(12, 17), (32, 37)])]
    #[case::to_nothing((-5, -5), &[])]
    #[case::shifted((-20, 20), &[(30, 40), (50, 60)])]
    fn widens(#[case] (before, after): (i64, i64), #[case] widened: &[(i64, i64)]) {
        let busy = set(&[(10, 20), (30, 40)]);
        assert_eq!(busy.widen(SignedDuration::minutes(before), SignedDuration::minutes(after)), set(widened));
    }

    #[test]
    fn intersects() {
        let ours = set(&[(0, 10), (20, 30), (40, 50)]);
        assert_eq!(ours.intersection(&set(&[(5, 25), (30, 40), (45, 60)])), set(&[(5, 10), (20, 25), (45, 50)]));
        assert_eq!(ours.intersection(&set(&[(10, 20), (30, 40)])), BusySet::EMPTY);
    }

    #[rstest]
    #[case::nothing(&[], &[(0, 5)], &[])]
    #[case::from_nothing(&[(0, 5)], &[], &[(0, 5)])]
    #[case::itself(&[(0, 5), (7, 9)], &[(0, 5), (7, 9)], &[])]
    #[case::a_hole(&[(0, 9)], &[(3, 5)], &[(0, 3), (5, 9)])]
    #[case::several_holes(&[(0, 9)], &[(-2, 1), (3, 5), (8, 12)], &[(1, 3), (5, 8)])]
    #[case::over_several(&[(0, 2), (4, 6), (8, 10)], &[(1, 9)], &[(0, 1), (9, 10)])]
    #[case::touching(&[(2, 4)], &[(0, 2), (4, 6)], &[(2, 4)])]
    #[case::the_start_and_the_end(&[(0, 9)], &[(0, 1), (8, 9)], &[(1, 8)])]
    fn subtracts(#[case] from: &[(i64, i64)], #[case] other: &[(i64, i64)], #[case] left: &[(i64, i64)]) {
        assert_eq!(set(from).difference(&set(other)), set(left));
    }

    /// Three sets and the window of minutes 0 to 60.
    #[rstest]
    #[case::nobody(0, &[(0, 60)])]
    #[case::any(1, &[(0, 20), (30, 60)])]
    #[case::a_majority(2, &[(0, 10), (40, 60)])]
    #[case::all(3, &[(0, 5), (50, 60)])]
    #[case::more_than_there_are(4, &[])]
    #[case::far_more(usize::MAX, &[])]
    fn at_least_some_of_three(#[case] k: usize, #[case] free: &[(i64, i64)]) {
        let sets = [set(&[(10, 40)]), set(&[(5, 30), (-50, -40)]), set(&[(20, 50), (60, 70)])];
        assert_eq!(BusySet::at_least_free(k, &sets, minutes(0, 60)), set(free));
    }

    #[test]
    fn one_ends_when_the_other_begins() {
        let sets = [set(&[(0, 30)]), set(&[(30, 60)])];
        assert_eq!(BusySet::at_least_free(1, &sets, minutes(0, 60)), minutes(0, 60).into());
        assert_eq!(BusySet::at_least_free(2, &sets, minutes(0, 60)), BusySet::EMPTY);
    }

    #[test]
    fn without_sets_everything_is_free() {
        let window = minutes(0, 60);
        assert_eq!(BusySet::common_free([], window), window.into());
        assert_eq!(BusySet::at_least_free(0, [], window), window.into());
        assert_eq!(BusySet::at_least_free(1, [], window), BusySet::EMPTY);
        assert_eq!(BusySet::union_all([]), BusySet::EMPTY);
    }

    #[test]
    fn measures() {
        let busy = set(&[(0, 10), (5, 15), (20, 21)]);
        assert_eq!((busy.len(), busy.total()), (2, SignedDuration::minutes(16)));
        assert!(!busy.is_empty() && BusySet::EMPTY.is_empty());
        assert_eq!(BusySet::EMPTY.total(), SignedDuration::ZERO);
    }

    #[test]
    fn the_ends_of_time_do_not_overflow() {
        let (first, last) = (Timestamp::from_micros(i64::MIN), Timestamp::from_micros(i64::MAX));
        let always = Span::new(first, last).unwrap();
        let busy = set(&[(10, 20)]);
        assert_eq!(busy.complement(always).complement(always), busy);
        assert_eq!(BusySet::from(always).widen(SignedDuration::hours(1), SignedDuration::hours(1)), always.into());
        assert_eq!(busy.complement(always).total(), SignedDuration::micros(i64::MAX));
        let sets = [busy.clone(), BusySet::from(always), BusySet::EMPTY];
        assert_eq!(BusySet::common_free(&sets, always), BusySet::EMPTY);
        assert_eq!(BusySet::at_least_free(2, &sets, always), busy.complement(always));
        assert_eq!(BusySet::at_least_free(1, &sets, always), always.into());
        assert_eq!(BusySet::from(always).difference(&busy), busy.complement(always));
        let longest = SignedDuration::micros(i64::MAX);
        assert_eq!(busy.widen(longest, longest), Span::new(at(10) - longest, last).unwrap().into());
    }

    proptest! {
        /// A busy set covers exactly the minutes of the spans that it was made from, in spans that neither overlap nor
        /// touch.
        #[test]
        fn from_unsorted_agrees_with_marking_minutes(spans in spans()) {
            let marked: Vec<bool> = (0..MINUTES).map(|minute| spans.iter().any(|span| span.contains(at(minute)))).collect();
            let busy = BusySet::from_unsorted(spans.clone());
            prop_assert_eq!(busy_minutes(&busy), marked);
            prop_assert!(busy.spans().windows(2).all(|pair| pair[0].end() < pair[1].start()));
            prop_assert_eq!(&BusySet::from_runs(spans), &busy);
            prop_assert_eq!(BusySet::from_unsorted(busy.spans().to_vec()), busy);
        }

        /// The order of the spans does not change the busy set.
        #[test]
        fn order_does_not_matter((spans, shuffled) in spans().prop_flat_map(|spans| (Just(spans.clone()), Just(spans).prop_shuffle()))) {
            prop_assert_eq!(BusySet::from_unsorted(spans), BusySet::from_unsorted(shuffled));
        }

        /// Free and busy time together are the window, and do not overlap.
        #[test]
        fn free_and_busy_partition_the_window(busy in busy_set(), window in span()) {
            let free = busy.complement(window);
            prop_assert_eq!(busy.clip(window).union(&free), BusySet::from(window));
            prop_assert!(busy.intersection(&free).is_empty());
            prop_assert_eq!(free.complement(window), busy.clip(window));
            prop_assert_eq!(SignedDuration::micros(free.total().as_micros() + busy.clip(window).total().as_micros()), window.length());
        }

        /// Union is commutative, associative and idempotent, and the empty set changes nothing.
        #[test]
        fn union_is_commutative_associative_and_idempotent(a in busy_set(), b in busy_set(), c in busy_set()) {
            prop_assert_eq!(a.union(&b), b.union(&a));
            prop_assert_eq!(a.union(&b).union(&c), a.union(&b.union(&c)));
            prop_assert_eq!(&a.union(&a), &a);
            prop_assert_eq!(&a.union(&BusySet::EMPTY), &a);
            prop_assert_eq!(BusySet::union_all([&a, &b, &c]), a.union(&b).union(&c));
        }

        /// Union and intersection agree with marking minutes, and absorb each other.
        #[test]
        fn union_and_intersection_agree_with_marking_minutes(a in busy_set(), b in busy_set()) {
            let (ours, theirs) = (busy_minutes(&a), busy_minutes(&b));
            let either: Vec<bool> = ours.iter().zip(&theirs).map(|(our, their)| *our || *their).collect();
            let both: Vec<bool> = ours.iter().zip(&theirs).map(|(our, their)| *our && *their).collect();
            prop_assert_eq!(busy_minutes(&a.union(&b)), either);
            prop_assert_eq!(busy_minutes(&a.intersection(&b)), both);
            prop_assert_eq!(a.intersection(&b), b.intersection(&a));
            prop_assert_eq!(a.union(&b).intersection(&a), a);
        }

        /// The difference agrees with marking minutes, and the free time of a window is its difference from the busy
        /// time.
        #[test]
        fn difference_agrees_with_marking_minutes(a in busy_set(), b in busy_set(), window in span()) {
            let (ours, theirs) = (busy_minutes(&a), busy_minutes(&b));
            let left: Vec<bool> = ours.iter().zip(&theirs).map(|(our, their)| *our && !*their).collect();
            prop_assert_eq!(busy_minutes(&a.difference(&b)), left);
            prop_assert_eq!(a.difference(&b).union(&a.intersection(&b)), a.clone());
            prop_assert_eq!(BusySet::from(window).difference(&a), a.complement(window));
        }

        /// The time in which all or at least some of several calendars are free agrees with counting them for each
        /// minute.
        #[test]
        fn free_of_several_agrees_with_counting_minutes(
            sets in calendars(), window in span(), k in 0..8usize,
        ) {
            let (common, some) = (BusySet::common_free(&sets, window), BusySet::at_least_free(k, &sets, window));
            prop_assert_eq!(busy_minutes(&common), free_minutes(&sets, window, sets.len()));
            prop_assert_eq!(busy_minutes(&some), free_minutes(&sets, window, k));
            for free in [&common, &some] {
                prop_assert_eq!(&BusySet::from_unsorted(free.spans().to_vec()), free);
                prop_assert_eq!(&free.clip(window), free);
            }
            prop_assert_eq!(BusySet::at_least_free(sets.len(), &sets, window), common);
            let union = BusySet::union_all(&sets);
            prop_assert_eq!(BusySet::common_free([&union], window), BusySet::common_free(&sets, window));
        }

        /// Clipping a set to a window is the intersection with it.
        #[test]
        fn clipping_is_intersection_with_the_window(busy in busy_set(), window in span()) {
            prop_assert_eq!(busy.clip(window), busy.intersection(&window.into()));
        }

        /// Clipping a set to two windows is clipping it to the part that they share.
        #[test]
        fn clipping_twice_is_clipping_to_the_shared_window(busy in busy_set(), a in span(), b in span()) {
            let shared = a.clip(b).map_or(BusySet::EMPTY, |shared| busy.clip(shared));
            prop_assert_eq!(busy.clip(a).clip(b), shared);
            prop_assert_eq!(busy.clip(a).clip(a), busy.clip(a));
        }

        /// A set overlaps a window exactly if its clip is not empty.
        #[test]
        fn overlap_is_a_clip_that_is_not_empty(busy in busy_set(), window in span()) {
            prop_assert_eq!(busy.overlaps(window), !busy.clip(window).is_empty());
            prop_assert_eq!(busy.overlaps(window), busy.spans().iter().any(|span| span.overlaps(window)));
        }

        /// A slot overlaps widened busy time exactly if the slot, widened the other way, overlaps the busy time.
        #[test]
        fn widening_the_busy_set_equals_widening_the_candidate_the_other_way(
            busy in busy_set(), candidate in span(), before in 0..20i64, after in 0..20i64,
        ) {
            let (before, after) = (SignedDuration::minutes(before), SignedDuration::minutes(after));
            let needs = Span::new(candidate.start() - after, candidate.end() + before).unwrap();
            prop_assert_eq!(busy.widen(before, after).overlaps(candidate), busy.overlaps(needs));
        }

        /// Widening twice is widening by the sums, and the union of widened sets is the widened union.
        #[test]
        fn widening_adds_up_and_distributes_over_union(
            a in busy_set(), b in busy_set(), first in 0..20i64, second in 0..20i64,
        ) {
            let (first, second) = (SignedDuration::minutes(first), SignedDuration::minutes(second));
            let sum = SignedDuration::micros(first.as_micros() + second.as_micros());
            prop_assert_eq!(a.widen(first, second).widen(second, first), a.widen(sum, sum));
            prop_assert_eq!(a.union(&b).widen(first, second), a.widen(first, second).union(&b.widen(first, second)));
        }
    }
}
