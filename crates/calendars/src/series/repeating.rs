//! The times of a series.

use kalends_kernel::{CalendarId, EventId};
use kalends_recurrence::{Exceptions, Series};
use kalends_time::{SignedDuration, Span, Timestamp};

use super::{Recurrence, RecurrenceError};
use crate::Times;

/// The times of a series without its text, for queries that need only times.
#[derive(Debug, Clone)]
pub struct Repeating {
    /// The series.
    pub id: EventId,
    /// The calendar that it is on.
    pub calendar: CalendarId,
    series: Series,
    left_out: Exceptions,
}

impl Repeating {
    /// The times of a stored series.
    ///
    /// # Errors
    /// [`RecurrenceError::Length`], [`RecurrenceError::Series`].
    pub fn new(
        id: EventId,
        calendar: CalendarId,
        times: Times,
        recurrence: &Recurrence,
    ) -> Result<Self, RecurrenceError> {
        Ok(Self { id, calendar, series: recurrence.series(times)?, left_out: recurrence.left_out() })
    }

    /// Its size in memory, in bytes.
    pub const fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(self.left_out.starts())
    }

    /// The occurrences that overlap `window`, in order, without those that are cancelled or have an override.
    pub fn occurrences(&self, window: Span) -> impl Iterator<Item = Span> + '_ {
        self.series.occurrences(window).without(&self.left_out)
    }

    /// The occurrences that start after `now`, in order, without those that are cancelled or have an override.
    pub fn after(&self, now: Timestamp) -> impl Iterator<Item = Span> + '_ {
        let starts = self.series.starts(now + SignedDuration::micros(1)..Timestamp::HORIZON).without(&self.left_out);
        starts.filter_map(|start| self.series.span_at(start))
    }

    /// The starts after `after` and up to and including `until`, in order, without those of occurrences that are
    /// cancelled or have an override.
    pub(crate) fn starting(&self, after: Timestamp, until: Timestamp) -> impl Iterator<Item = Timestamp> + '_ {
        let micro = SignedDuration::micros(1);
        self.series.starts(after + micro..until + micro).without(&self.left_out)
    }

    /// The time of the occurrences that [`Self::occurrences`] returns. Occurrences that overlap or touch are merged.
    pub fn taken(&self, window: Span) -> Vec<Span> {
        let mut taken: Vec<Span> = Vec::new();
        for span in self.occurrences(window) {
            match taken.last_mut() {
                Some(last) if span.start() <= last.end() => {
                    // Occurrences are ordered by start, so the union starts with the last span.
                    *last = Span::new(last.start(), last.end().max(span.end())).unwrap_or(*last);
                }
                _ => taken.push(span),
            }
        }
        taken
    }

    /// The last `count` occurrences that ended at or before `now`, in order, without those that are cancelled or have
    /// an override.
    pub fn ended(&self, now: Timestamp, count: usize) -> Vec<Span> {
        let first = self.series.first_start();
        // An occurrence that began after `latest` has not ended yet. The slack covers days of different length, because
        // each end moves by less than a day.
        let lasts = self.series.span_at(first).map_or(SignedDuration::ZERO, Span::length);
        let slack = if self.series.is_all_day() { SignedDuration::days(3) } else { SignedDuration::ZERO };
        let latest = now.min(now - lasts + slack);
        let end = self.series.last_start().map_or(latest, |last| latest.min(last)) + SignedDuration::micros(1);
        let mut days = 8;
        loop {
            let from = first.max(end - SignedDuration::days(days));
            let starts = self.series.starts(from..end).without(&self.left_out);
            let spans = starts.filter_map(|start| self.series.span_at(start)).filter(|span| span.end() <= now);
            let mut found: Vec<Span> = spans.collect();
            if found.len() >= count || from == first {
                let more = found.len().saturating_sub(count);
                found.drain(..more);
                return found;
            }
            days *= 4;
        }
    }

    /// The end of the last occurrence that is not cancelled and has no override. From then on the series has ended.
    /// `None` if the rule has no end. The first start if there is no such occurrence.
    pub fn reaches(&self) -> Option<Timestamp> {
        self.series.last_start()?;
        let last = self.ended(Timestamp::from_micros(i64::MAX), 1).pop();
        Some(last.map_or(self.series.first_start(), Span::end))
    }

    pub(super) fn span_at(&self, start: Timestamp) -> Option<Span> {
        (!self.left_out.contains(start)).then(|| self.series.span_at(start)).flatten()
    }
}

#[cfg(test)]
mod tests {
    use kalends_time::Zone;
    use kalends_time::testing::config;
    use proptest::prelude::*;

    use super::*;
    use crate::{EventPatch, Patch, series::examples::*};

    #[test]
    fn all_day_series_take_days_of_the_calendars_zone() {
        let days = made("2026-03-28", "2026-03-29", "FREQ=DAILY;COUNT=3", None, &["2026-03-28"]).unwrap();
        let spans: Vec<_> = all(&days).iter().map(|span| span.length()).collect();
        assert_eq!(starts(&days), ["2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"]);
        assert_eq!(spans, [SignedDuration::hours(23), SignedDuration::hours(24)]);
        let ended = |now| days.repeating().unwrap().ended(at(now), 5).len();
        assert_eq!((ended("2026-03-29T21:59:59Z"), ended("2026-03-29T22:00:00Z")), (0, 1));
        assert_eq!(days.repeating().unwrap().reaches(), Some(at("2026-03-30T22:00:00Z")));
        // The title of such a series can still be changed after its calendar moved to another zone.
        let title = EventPatch { title: Patch::Set("x".into()), ..EventPatch::default() };
        assert_eq!(days.patched(title, Zone::UTC, Timestamp::from_micros(9)).unwrap().repeats, days.repeats);
    }

    proptest! {
        #![proptest_config(config(96))]

        /// The last ended and the next coming occurrences of a series are those that expanding all of it finds.
        #[test]
        fn ended_and_coming_occurrences_agree_with_expanding_all(
            event in series(), day in -10..500_i64, count in 1..6_usize,
        ) {
            let (spans, now) = (all(&event), at("2026-03-02T00:00:00Z") + SignedDuration::days(day));
            let repeating = event.repeating().unwrap();
            let ended: Vec<Span> = spans.iter().copied().filter(|span| span.end() <= now).collect();
            let last = ended[ended.len().saturating_sub(count)..].to_vec();
            prop_assert_eq!(repeating.ended(now, count), last);
            let coming: Vec<Span> = spans.iter().copied().filter(|span| span.start() > now).collect();
            prop_assert_eq!(repeating.after(now).collect::<Vec<_>>(), coming);
            prop_assert_eq!(repeating.reaches(), spans.last().map(|span| span.end()));

            let window = Span::new(now, now + SignedDuration::days(60)).unwrap();
            let taken = repeating.taken(window);
            prop_assert!(taken.windows(2).all(|pair| pair[0].end() < pair[1].start()));
            let inside = |at: Timestamp, spans: &[Span]| spans.iter().any(|span| span.contains(at));
            for hour in 0..60 * 24 {
                let at = now + SignedDuration::hours(hour);
                prop_assert_eq!(inside(at, &taken), inside(at, &spans));
            }
        }
    }
}
