//! The days of a zone, and where events are on them.

use std::ops::Range;

use kalends_i18n::Translator;
use kalends_time::{CivilDate, SignedDuration, Span, Timestamp, Zone};

/// The time that one row of a day stands for.
pub(crate) const ROW: SignedDuration = SignedDuration::minutes(30);
/// The largest number of rows of a day, 28 hours. No day since 1970 has more than 26.
pub(crate) const ROWS_MAX: usize = 56;
/// The rows from one label of the axis to the next.
pub(crate) const LABELLED: usize = 2;

/// A day of a zone. It has 23 or 25 hours, or others, if the clocks change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Day {
    /// Its date.
    pub date: CivilDate,
    /// From the first moment of the date to the first moment of the next.
    pub span: Span,
}

/// The part of an event that is on one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// It covers the day.
    Whole,
    /// It covers these rows.
    Rows(Range<usize>),
}

/// An hour of the axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hour {
    /// The row at which it begins.
    pub row: usize,
    /// What a clock of the zone shows then.
    pub clock: String,
    /// What a clock of the second zone shows then.
    pub second: Option<String>,
}

impl Day {
    /// The day with that date; `None` if the zone skips it, as Samoa skipped 30 December 2011.
    pub(crate) fn of(date: CivilDate, zone: Zone) -> Option<Self> {
        let begin = |date: CivilDate| zone.to_timestamp(date.midnight());
        let span = Span::new(begin(date)?, begin(date.plus_days(1))?).ok()?;
        Some(Self { date, span })
    }

    /// The number of its rows.
    pub(crate) fn rows(&self) -> usize {
        self.row_after(self.span.end())
    }

    /// The part of an event that is on this day, if there is one.
    pub(crate) fn part(&self, event: Span) -> Option<Part> {
        let part = event.clip(self.span)?;
        if part == self.span {
            return Some(Part::Whole);
        }
        // A short event has a row too. Two events in one row are side by side, even if they do not overlap.
        let start = rows_in(part.start() - self.span.start()).min(ROWS_MAX - 1);
        Some(Part::Rows(start..self.row_after(part.end()).max(start + 1)))
    }

    /// The first row that begins at that time or later.
    fn row_after(&self, at: Timestamp) -> usize {
        rows_in(at + ROW - SignedDuration::micros(1) - self.span.start()).min(ROWS_MAX)
    }

    /// The hours of the axis beside the day, as clocks of the zones show them.
    pub(crate) fn hours(&self, zone: Zone, second: Option<Zone>) -> Vec<Hour> {
        let hour = |(rows, at): (Range<usize>, Timestamp)| Hour {
            row: rows.start,
            clock: clock(at, zone),
            second: second.map(|second| clock(at, second)),
        };
        self.cells().into_iter().map(hour).collect()
    }

    /// The hours of the day: the rows of each, and when it begins. The last one of some days has half an hour.
    pub(crate) fn cells(&self) -> Vec<(Range<usize>, Timestamp)> {
        let (mut at, rows) = (self.span.start(), self.rows());
        let mut cells = Vec::new();
        for row in (0..rows).step_by(LABELLED) {
            cells.push((row..rows.min(row + LABELLED), at));
            at = at + ROW + ROW;
        }
        cells
    }

    /// How long the day is, if the clocks change.
    pub(crate) fn change(&self) -> Option<String> {
        let minutes = self.span.length().as_seconds() / 60;
        let length = u32::try_from(minutes).ok().filter(|minutes| *minutes != 24 * 60)?;
        Some(format!("The clocks change: this day has {}", Translator::english().duration(length)))
    }
}

/// The whole rows in that time.
fn rows_in(time: SignedDuration) -> usize {
    usize::try_from(time.as_micros().div_euclid(ROW.as_micros())).unwrap_or(0)
}

/// What a clock of the zone shows, such as `09:30`. A page shows hundreds of them, so they are written here as
/// [`Translator::english`] writes them, without its formats.
pub(crate) fn clock(at: Timestamp, zone: Zone) -> String {
    let (hour, minute, _) = zone.to_civil(at).time.hour_minute_second();
    format!("{hour:02}:{minute:02}")
}

#[cfg(test)]
mod tests {
    use kalends_time::testing::{any_zone, clock_change, config, span_near};
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn day(date: &str, zone: &str) -> Day {
        Day::of(date.parse().unwrap(), zone.parse().unwrap()).unwrap()
    }

    #[rstest]
    #[case::usual("2026-03-02", "Europe/Berlin", 48, None)]
    #[case::spring("2026-03-29", "Europe/Berlin", 46, Some("23 hours"))]
    #[case::autumn("2026-10-25", "Europe/Berlin", 50, Some("25 hours"))]
    #[case::half_an_hour("2026-10-04", "Australia/Lord_Howe", 47, Some("23 hours 30 minutes"))]
    #[case::midnight_is_skipped("2026-09-06", "America/Santiago", 46, Some("23 hours"))]
    fn days_are_as_long_as_the_zone_makes_them(
        #[case] date: &str,
        #[case] zone: &str,
        #[case] rows: usize,
        #[case] change: Option<&str>,
    ) {
        let day = day(date, zone);
        assert_eq!(day.rows(), rows);
        let said = change.map(|change| format!("The clocks change: this day has {change}"));
        assert_eq!(day.change(), said);
    }

    #[test]
    fn clocks_are_written_as_in_english() {
        for minute in 0..24 * 60 {
            let at = Timestamp::EPOCH + SignedDuration::minutes(minute);
            assert_eq!(clock(at, Zone::UTC), Translator::english().time(Zone::UTC.to_civil(at).time));
        }
    }

    #[test]
    fn a_skipped_day_is_no_day() {
        assert_eq!(Day::of("2011-12-30".parse().unwrap(), "Pacific/Apia".parse().unwrap()), None);
    }

    #[test]
    fn the_axis_shows_what_the_clocks_show() {
        let clocks = |date: &str| -> Vec<String> {
            let hours = day(date, "Europe/Berlin").hours("Europe/Berlin".parse().unwrap(), None);
            hours.into_iter().map(|hour| hour.clock).take(5).collect()
        };
        assert_eq!(clocks("2026-03-02"), ["00:00", "01:00", "02:00", "03:00", "04:00"]);
        assert_eq!(clocks("2026-03-29"), ["00:00", "01:00", "03:00", "04:00", "05:00"]);
        assert_eq!(clocks("2026-10-25"), ["00:00", "01:00", "02:00", "02:00", "03:00"]);
        let hours = day("2026-03-02", "UTC").hours(Zone::UTC, "Asia/Kathmandu".parse().ok());
        let last = hours.last().unwrap();
        assert_eq!((last.row, &*last.clock, last.second.as_deref()), (46, "23:00", Some("04:45")));
    }

    #[rstest]
    #[case::usual("2026-03-02", "Europe/Berlin", 24, 46..48, "2026-03-02T22:00:00Z")]
    #[case::spring("2026-03-29", "Europe/Berlin", 23, 44..46, "2026-03-29T21:00:00Z")]
    #[case::autumn("2026-10-25", "Europe/Berlin", 25, 48..50, "2026-10-25T22:00:00Z")]
    #[case::half_an_hour("2026-10-04", "Australia/Lord_Howe", 24, 46..47, "2026-10-04T12:30:00Z")]
    fn hours_begin_one_after_the_other(
        #[case] date: &str,
        #[case] zone: &str,
        #[case] count: usize,
        #[case] rows: Range<usize>,
        #[case] at: &str,
    ) {
        let cells = day(date, zone).cells();
        assert_eq!((cells.len(), cells.last()), (count, Some(&(rows, at.parse::<Timestamp>().unwrap()))));
    }

    #[rstest]
    #[case::an_hour("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z", Some(Part::Rows(18..20)))]
    #[case::a_minute("2026-03-02T09:01:00Z", "2026-03-02T09:02:00Z", Some(Part::Rows(18..19)))]
    #[case::over_a_row("2026-03-02T09:20:00Z", "2026-03-02T09:40:00Z", Some(Part::Rows(18..20)))]
    #[case::from_the_day_before("2026-03-01T22:00:00Z", "2026-03-02T01:00:00Z", Some(Part::Rows(0..2)))]
    #[case::into_the_next_day("2026-03-02T23:50:00Z", "2026-03-03T01:00:00Z", Some(Part::Rows(47..48)))]
    #[case::all_of_it("2026-03-01T09:00:00Z", "2026-03-03T00:00:00Z", Some(Part::Whole))]
    #[case::before("2026-03-01T09:00:00Z", "2026-03-02T00:00:00Z", None)]
    #[case::after("2026-03-03T00:00:00Z", "2026-03-03T01:00:00Z", None)]
    fn an_event_covers_rows_of_each_day_that_it_touches(
        #[case] start: &str,
        #[case] end: &str,
        #[case] part: Option<Part>,
    ) {
        let event = Span::new(start.parse().unwrap(), end.parse().unwrap()).unwrap();
        assert_eq!(day("2026-03-02", "UTC").part(event), part);
    }

    proptest! {
        #![proptest_config(config(256))]

        /// The days of a zone follow each other without a gap, near changes of the clocks and elsewhere, and each
        /// fits on the axis.
        #[test]
        fn days_follow_each_other((zone, change) in clock_change(), other in any_zone(), days in -4..4_i64) {
            for zone in [zone, other] {
                let date = zone.to_civil(change).date.plus_days(days);
                let begin = |date: CivilDate| zone.to_timestamp(date.midnight()).unwrap();
                let Some(day) = Day::of(date, zone) else {
                    prop_assert_eq!(begin(date), begin(date.plus_days(1)), "the zone skips the day");
                    continue;
                };
                prop_assert_eq!((day.span.start(), day.span.end()), (begin(date), begin(date.plus_days(1))));
                prop_assert!((1..ROWS_MAX).contains(&day.rows()), "{} has {} rows", date, day.rows());
                let hours = day.hours(zone, None);
                prop_assert!(hours.iter().all(|hour| hour.row < day.rows()));
                prop_assert_eq!(hours.len(), day.rows().div_ceil(2));
            }
        }

        /// An event is on exactly the days that it touches, in the rows in which it takes place, whatever the clocks
        /// do.
        #[test]
        fn an_event_is_on_every_day_that_it_touches(
            (zone, event) in clock_change().prop_flat_map(|(zone, change)| (Just(zone), span_near(change))),
        ) {
            let first = zone.to_civil(event.start()).date.plus_days(-3);
            for days in 0..12 {
                let Some(day) = Day::of(first.plus_days(days), zone) else { continue };
                let part = day.part(event);
                prop_assert_eq!(part.is_some(), event.overlaps(day.span));
                let Some(Part::Rows(rows)) = part else { continue };
                prop_assert!(rows.start < rows.end && rows.end <= day.rows());
                let at = |row: usize| day.span.start() + SignedDuration::minutes(30 * i64::try_from(row).unwrap());
                let inside = event.clip(day.span).unwrap();
                prop_assert!(at(rows.start) <= inside.start() && inside.end() <= at(rows.end));
                prop_assert!(inside.start() < at(rows.start + 1) && at(rows.end - 1) < inside.end());
            }
        }
    }
}
