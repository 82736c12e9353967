//! When a busy set that was computed earlier still answers.

use kalends_kernel::{CalendarId, Instant, Revision, Span};

use crate::BusySet;

/// The calendars that a busy set was computed from, each with the revision that was seen: the key
/// under which it is cached.
///
/// A change of any of the calendars raises its revision, so that the key is never asked for again;
/// nothing has to be invalidated. Read the revisions before the events: what is stored is then at
/// least as new as its key says.
///
/// ```
/// use kalends_availability::Sources;
/// use kalends_kernel::{CalendarId, Entropy, Instant, Revision};
/// # struct Fixed(u8);
/// # impl Entropy for Fixed {
/// #     fn fill(&self, bytes: &mut [u8]) {
/// #         bytes.fill(self.0);
/// #     }
/// # }
/// # let (first, second) = (Fixed(1), Fixed(2));
///
/// let ours = CalendarId::new(Instant::EARLIEST, &first);
/// let theirs = CalendarId::new(Instant::EARLIEST, &second);
/// let asked = Sources::new([(theirs, Revision(7)), (ours, Revision(3)), (theirs, Revision(7))]);
/// assert_eq!(asked, Sources::new([(ours, Revision(3)), (theirs, Revision(7))]));
/// assert_ne!(asked, Sources::new([(ours, Revision(4)), (theirs, Revision(7))]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Sources(Vec<(CalendarId, Revision)>);

impl Sources {
    /// The key for these calendars, in whatever order and however often each is named.
    ///
    /// Two revisions of one calendar stay apart: whoever read both has not seen one state, and such a
    /// key meets nothing but itself.
    pub fn new(seen: impl IntoIterator<Item = (CalendarId, Revision)>) -> Self {
        let mut seen: Vec<_> = seen.into_iter().collect();
        seen.sort_unstable();
        seen.dedup();
        Self(seen)
    }

    /// The calendars in the order of their identifiers.
    pub fn as_slice(&self) -> &[(CalendarId, Revision)] {
        &self.0
    }
}

/// Busy times as they were computed once, and for which questions they hold.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CachedBusy {
    /// The time that was looked at: outside of it, nothing is known.
    pub covers: Span,
    /// From this instant on the set may be wrong although no revision changed: a hold expires without
    /// any write. `None` where nothing in it runs out.
    pub valid_until: Option<Instant>,
    /// What is busy within [`covers`](Self::covers), and perhaps some of what is beyond.
    pub busy: BusySet,
}

impl CachedBusy {
    /// Whether this tells, as of `now`, what is busy anywhere in `window`: it was looked at, and the set
    /// has not run out.
    ///
    /// ```
    /// use kalends_availability::{BusySet, CachedBusy};
    /// use kalends_kernel::{Elapsed, Instant, Span};
    ///
    /// let at = |minute| Instant::EARLIEST + Elapsed::minutes(minute);
    /// let hold = Span::new(at(50), at(70))?;
    /// let cached =
    ///     CachedBusy { covers: Span::new(at(0), at(120))?, valid_until: Some(at(5)), busy: hold.into() };
    ///
    /// let window = Span::new(at(0), at(60))?;
    /// assert!(cached.answers(window, at(4)));
    /// assert!(!cached.answers(window, at(5)), "the hold has expired");
    /// assert!(!cached.answers(Span::new(at(60), at(121))?, at(4)), "nobody looked that far");
    /// # Ok::<(), kalends_kernel::SpanError>(())
    /// ```
    pub fn answers(&self, window: Span, now: Instant) -> bool {
        let covered = self.covers.start() <= window.start() && window.end() <= self.covers.end();
        covered && self.valid_until.is_none_or(|until| now < until)
    }
}

#[cfg(test)]
mod tests {
    use kalends_kernel::Entropy;
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::strategies::{at, minutes};

    fn cached(valid_until: Option<i64>) -> CachedBusy {
        let busy = [minutes(10, 20), minutes(30, 40)].into_iter().collect();
        CachedBusy { covers: minutes(0, 60), valid_until: valid_until.map(at), busy }
    }

    #[rstest]
    #[case::all_of_it((0, 60), true)]
    #[case::a_part((5, 6), true)]
    #[case::earlier((-1, 60), false)]
    #[case::later((0, 61), false)]
    #[case::elsewhere((60, 70), false)]
    fn answers_what_it_covers(#[case] (start, end): (i64, i64), #[case] answers: bool) {
        assert_eq!(cached(None).answers(minutes(start, end), at(0)), answers);
    }

    #[rstest]
    #[case::never_runs_out(None, 1_000_000, true)]
    #[case::before(Some(50), 49, true)]
    #[case::at_that_instant(Some(50), 50, false)]
    #[case::after(Some(50), 51, false)]
    fn answers_until_it_runs_out(#[case] until: Option<i64>, #[case] now: i64, #[case] answers: bool) {
        assert_eq!(cached(until).answers(minutes(0, 60), at(now)), answers);
    }

    struct Seeded(u8);

    impl Entropy for Seeded {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0);
        }
    }

    fn source((calendar, revision): (u8, i64)) -> (CalendarId, Revision) {
        (CalendarId::new(at(0), &Seeded(calendar)), Revision(revision))
    }

    #[test]
    fn two_revisions_of_one_calendar_stay_apart() {
        let torn = Sources::new([source((1, 5)), source((1, 6))]);
        assert_eq!(torn.as_slice().len(), 2);
        assert_ne!(torn, Sources::new([source((1, 5))]));
        assert_ne!(torn, Sources::new([source((1, 6))]));
    }

    proptest! {
        #[test]
        fn keys_are_equal_iff_they_name_the_same(
            a in prop::collection::vec((0..4u8, 0..3i64), 0..6),
            b in prop::collection::vec((0..4u8, 0..3i64), 0..6),
        ) {
            let same = a.iter().all(|one| b.contains(one)) && b.iter().all(|one| a.contains(one));
            let key = |seen: Vec<(u8, i64)>| Sources::new(seen.into_iter().map(source));
            prop_assert_eq!(key(a) == key(b), same);
        }
    }
}
