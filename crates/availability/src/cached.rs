//! Cached busy sets, and the queries that they can still answer.

use kalends_time::{Span, Timestamp};

use crate::BusySet;

/// Busy times that were computed earlier, and the window and time for which they are valid. [`CachedBusy::answers`] has
/// an example.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CachedBusy {
    /// The range that was read. Nothing is known outside it.
    pub covers: Span,
    /// From this instant on, the set may be wrong even though no revision changed, because a hold expires
    /// without a write. `None` if nothing in the set expires.
    pub valid_until: Option<Timestamp>,
    /// The busy time within [`covers`](Self::covers), and perhaps some beyond it.
    pub busy: BusySet,
}

impl CachedBusy {
    /// Whether this set gives the busy time of all of `window` as of `now`: the window is covered, and the
    /// set is still valid.
    ///
    /// ```
    /// use kalends_availability::{BusySet, CachedBusy};
    /// use kalends_time::{SignedDuration, Timestamp, Span};
    ///
    /// let at = |minute| Timestamp::EPOCH + SignedDuration::minutes(minute);
    /// let hold = Span::new(at(50), at(70))?;
    /// let cached =
    ///     CachedBusy { covers: Span::new(at(0), at(120))?, valid_until: Some(at(5)), busy: hold.into() };
    ///
    /// let window = Span::new(at(0), at(60))?;
    /// assert!(cached.answers(window, at(4)));
    /// assert!(!cached.answers(window, at(5)), "the hold has expired");
    /// assert!(!cached.answers(Span::new(at(60), at(121))?, at(4)), "nobody looked that far");
    /// # Ok::<(), kalends_time::SpanError>(())
    /// ```
    pub fn answers(&self, window: Span, now: Timestamp) -> bool {
        let covered = self.covers.start() <= window.start() && window.end() <= self.covers.end();
        covered && self.valid_until.is_none_or(|until| now < until)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::testing::{at, minutes};

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
    #[case::never_expires(None, 1_000_000, true)]
    #[case::before(Some(50), 49, true)]
    #[case::at_that_instant(Some(50), 50, false)]
    #[case::after(Some(50), 51, false)]
    fn answers_until_it_expires(#[case] until: Option<i64>, #[case] now: i64, #[case] answers: bool) {
        assert_eq!(cached(until).answers(minutes(0, 60), at(now)), answers);
    }
}
