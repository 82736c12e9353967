//! The hours of a day, and the instants at which the clocks of a zone show them.

use std::fmt;

use kalends_time::{CivilDate, CivilDateTime, CivilTime, SignedDuration, Span, Timestamp, Zone};

/// A part of a day by the wall clock: from `start` up to but not including `end`, in whole minutes.
///
/// `end` is after `start` and may be 24:00. Hours that cross midnight are two parts, one on each day.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hours {
    /// Minutes since midnight, at most 1,439.
    start: u16,
    /// Minutes since midnight, at most [`Hours::MIDNIGHT`].
    end: u16,
}

impl Hours {
    /// 24:00 in minutes since midnight.
    const MIDNIGHT: u16 = 24 * 60;
    /// From 00:00 to 24:00.
    pub const ALL_DAY: Self = Self { start: 0, end: Self::MIDNIGHT };

    /// The hours between two minutes of the day (0 to 1,440); `None` if the end is after 24:00 or not after
    /// the start.
    pub const fn new(start: u16, end: u16) -> Option<Self> {
        if start < end && end <= Self::MIDNIGHT { Some(Self { start, end }) } else { None }
    }

    /// The first minute inside, counted from midnight.
    pub const fn start(self) -> u16 {
        self.start
    }

    /// The first minute outside, counted from midnight: 1,440 for 24:00.
    pub const fn end(self) -> u16 {
        self.end
    }

    /// When the hours of `date` end in `zone`: the last instant at which the running clocks reach the end.
    /// An end in a gap moves by the length of the gap. `None` only for dates outside the supported calendar.
    pub fn closes(self, date: CivilDate, zone: Zone) -> Option<Timestamp> {
        last_reached(date, self.end, zone)
    }

    /// The hours of `date` in `zone`; `None` if the clocks show none of them on that date.
    ///
    /// They are one span, which begins when the clocks first show the start, and ends when they last reach
    /// the end. So an overlap inside the hours belongs to them both times. A time in a gap moves by the
    /// length of the gap (RFC 5545 section 3.3.5), but never out of the date.
    pub(crate) fn on(self, date: CivilDate, zone: Zone) -> Option<Span> {
        let start = zone.to_timestamp(civil(date, self.start)?)?;
        let end = self.closes(date, zone)?;
        let hours = Span::new(start, end).ok()?;
        if self.end == Self::MIDNIGHT { Some(hours) } else { hours.clip(Self::ALL_DAY.on(date, zone)?) }
    }
}

/// The civil time of a minute of a date. 24:00 is the midnight after it.
fn civil(date: CivilDate, minute: u16) -> Option<CivilDateTime> {
    if minute == Hours::MIDNIGHT {
        return Some(date.plus_days(1).midnight());
    }
    let minute = u32::from(minute);
    Some(CivilDateTime { date, time: CivilTime::new(minute / 60, minute % 60, 0)? })
}

/// The last instant at which the running clocks of `zone` reach a minute of a date.
///
/// They reach it twice if they go back in between. If they go back *to* it, they do not reach it the
/// second time, but jump to it. So 01:00 to 02:00 lasts one hour even when 02:00 to 03:00 comes twice,
/// and a date ends when its midnight first comes, even if the clocks then go back to that midnight.
fn last_reached(date: CivilDate, minute: u16, zone: Zone) -> Option<Timestamp> {
    const DAY: SignedDuration = SignedDuration::days(1);
    const TICK: SignedDuration = SignedDuration::micros(1);
    let civil = civil(date, minute)?;
    let first = zone.to_timestamp(civil)?;
    // No zone goes back by more than a few hours, or twice within a day.
    let gone_back = as_if_utc(civil) + DAY - as_if_utc(zone.to_civil(first + DAY));
    if gone_back <= SignedDuration::ZERO {
        return Some(first);
    }
    let second = first + gone_back;
    let runs_into_it = as_if_utc(zone.to_civil(second - TICK)) + TICK == as_if_utc(civil);
    Some(if runs_into_it { second } else { first })
}

/// The instant at which UTC clocks show this civil time, for arithmetic.
fn as_if_utc(civil: CivilDateTime) -> Timestamp {
    Timestamp::from_micros(0)
        + SignedDuration::days(civil.date.as_days())
        + SignedDuration::micros(civil.time.as_micros())
}

impl fmt::Display for Hours {
    /// Formats the hours as `09:00-17:30`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", Minute(self.start), Minute(self.end))
    }
}

impl fmt::Debug for Hours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Shows a minute of the day as `HH:MM`, the last one as `24:00`.
pub(super) struct Minute(pub(super) u16);

impl fmt::Display for Minute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("Europe/Berlin", "2026-01-15", (900, 1700), "2026-01-15T08:00:00Z 2026-01-15T16:00:00Z")]
    #[case::half_hour_zone("Asia/Kolkata", "2026-07-01", (900, 1830), "2026-07-01T03:30:00Z 2026-07-01T13:00:00Z")]
    #[case::quarter_zone("Asia/Kathmandu", "2026-05-01", (0, 2400), "2026-04-30T18:15:00Z 2026-05-01T18:15:00Z")]
    #[case::until_midnight("America/New_York", "2026-07-01", (1800, 2400), "2026-07-01T22:00:00Z 2026-07-02T04:00:00Z")]
    #[case::over_a_gap("Europe/Berlin", "2026-03-29", (100, 400), "2026-03-29T00:00:00Z 2026-03-29T02:00:00Z")]
    #[case::from_inside_a_gap("Europe/Berlin", "2026-03-29", (230, 500), "2026-03-29T01:30:00Z 2026-03-29T03:00:00Z")]
    #[case::into_a_gap("Europe/Berlin", "2026-03-29", (100, 230), "2026-03-29T00:00:00Z 2026-03-29T01:30:00Z")]
    #[case::inside_a_gap("Europe/Berlin", "2026-03-29", (215, 245), "2026-03-29T01:15:00Z 2026-03-29T01:45:00Z")]
    #[case::moved_beyond_its_end("Europe/Berlin", "2026-03-29", (230, 300), "never")]
    #[case::the_day_of_23_hours("Europe/Berlin", "2026-03-29", (0, 2400), "2026-03-28T23:00:00Z 2026-03-29T22:00:00Z")]
    #[case::over_both_passes("Europe/Berlin", "2026-10-25", (100, 400), "2026-10-24T23:00:00Z 2026-10-25T03:00:00Z")]
    #[case::up_to_the_repeated("Europe/Berlin", "2026-10-25", (100, 200), "2026-10-24T23:00:00Z 2026-10-25T00:00:00Z")]
    #[case::into_the_second_pass("Europe/Berlin", "2026-10-25", (100, 230), "2026-10-24T23:00:00Z 2026-10-25T01:30:00Z")]
    #[case::from_the_first_pass("Europe/Berlin", "2026-10-25", (230, 500), "2026-10-25T00:30:00Z 2026-10-25T04:00:00Z")]
    #[case::the_repeated("Europe/Berlin", "2026-10-25", (200, 300), "2026-10-25T00:00:00Z 2026-10-25T02:00:00Z")]
    #[case::the_day_of_25_hours("Europe/Berlin", "2026-10-25", (0, 2400), "2026-10-24T22:00:00Z 2026-10-25T23:00:00Z")]
    #[case::west_over_a_gap("America/New_York", "2026-03-08", (100, 400), "2026-03-08T06:00:00Z 2026-03-08T08:00:00Z")]
    #[case::west_into_the_second_pass("America/New_York", "2026-11-01", (0, 130), "2026-11-01T04:00:00Z 2026-11-01T06:30:00Z")]
    #[case::half_an_hour_skipped("Australia/Lord_Howe", "2026-10-04", (215, 400), "2026-10-03T15:45:00Z 2026-10-03T17:00:00Z")]
    #[case::half_an_hour_repeated("Australia/Lord_Howe", "2026-04-05", (100, 200), "2026-04-04T14:00:00Z 2026-04-04T15:30:00Z")]
    #[case::into_the_repeated_half("Australia/Lord_Howe", "2026-04-05", (100, 145), "2026-04-04T14:00:00Z 2026-04-04T15:15:00Z")]
    #[case::until_a_skipped_midnight("America/Santiago", "2026-09-05", (2000, 2400), "2026-09-06T00:00:00Z 2026-09-06T04:00:00Z")]
    #[case::from_a_skipped_midnight("America/Santiago", "2026-09-06", (0, 800), "2026-09-06T04:00:00Z 2026-09-06T11:00:00Z")]
    #[case::the_last_hour_is_repeated("America/Santiago", "2026-04-04", (2000, 2400), "2026-04-04T23:00:00Z 2026-04-05T04:00:00Z")]
    #[case::until_a_repeated_midnight("America/Havana", "2025-11-01", (2000, 2400), "2025-11-02T00:00:00Z 2025-11-02T04:00:00Z")]
    #[case::from_a_repeated_midnight("America/Havana", "2025-11-02", (0, 30), "2025-11-02T04:00:00Z 2025-11-02T05:30:00Z")]
    #[case::back_into_the_day_before("America/St_Johns", "2010-11-06", (2000, 2400), "2010-11-06T22:30:00Z 2010-11-07T03:30:00Z")]
    #[case::two_hours_repeated("Antarctica/Troll", "2026-10-25", (0, 200), "2026-10-24T22:00:00Z 2026-10-25T02:00:00Z")]
    #[case::before_a_skipped_day("Pacific/Apia", "2011-12-29", (900, 2400), "2011-12-29T19:00:00Z 2011-12-30T10:00:00Z")]
    #[case::a_skipped_day("Pacific/Apia", "2011-12-30", (900, 1700), "never")]
    #[case::all_of_a_skipped_day("Pacific/Apia", "2011-12-30", (0, 2400), "never")]
    #[case::after_a_skipped_day("Pacific/Apia", "2011-12-31", (0, 800), "2011-12-30T10:00:00Z 2011-12-30T18:00:00Z")]
    #[case::another_skipped_day("Pacific/Kwajalein", "1993-08-21", (0, 2400), "never")]
    #[case::the_last_day_of_all("America/New_York", "2099-12-31", (900, 2400), "2099-12-31T14:00:00Z 2100-01-01T05:00:00Z")]
    fn hours_of_a_date(
        #[case] zone: &str,
        #[case] date: &str,
        #[case] (start, end): (u16, u16),
        #[case] expected: &str,
    ) {
        // 930 stands for 09:30.
        let minute = |clock: u16| clock / 100 * 60 + clock % 100;
        let hours = Hours::new(minute(start), minute(end)).unwrap();
        let found = hours.on(date.parse().unwrap(), zone.parse().unwrap());
        let found = found.map_or("never".to_owned(), |span| format!("{} {}", span.start(), span.end()));
        assert_eq!(found, expected);
    }

    #[rstest]
    #[case::all_day(0, 1_440, Some("00:00-24:00"))]
    #[case::a_minute(59, 60, Some("00:59-01:00"))]
    #[case::nothing(60, 60, None)]
    #[case::backwards(61, 60, None)]
    #[case::beyond_the_day(60, 1_441, None)]
    fn bounds(#[case] start: u16, #[case] end: u16, #[case] expected: Option<&str>) {
        let hours = Hours::new(start, end);
        assert_eq!(hours.map(|hours| hours.to_string()).as_deref(), expected);
        assert_eq!(hours.map(|hours| (hours.start(), hours.end())), expected.map(|_| (start, end)));
    }
}
