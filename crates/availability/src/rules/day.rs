//! The hours of a day, and the instants at which the clocks of a zone show them.

use std::fmt;

use kalends_time::{CivilDate, CivilDateTime, CivilTime, SignedDuration, Span, Timestamp, Zone};

/// A part of a day by the wall clock: from a start up to but not including an end, in whole minutes.
///
/// Hours that cross midnight, such as 22:00 to 06:00, belong to the date on which they begin.
///
/// ```
/// use kalends_availability::{CivilTime, Hours};
///
/// let clock = |hour, minute| CivilTime::new(hour, minute, 0).ok_or("no such time");
/// let day = Hours::between(clock(9, 0)?, clock(17, 30)?)?;
/// assert_eq!((day.start(), day.end()), (9 * 60, 17 * 60 + 30));
///
/// let night = Hours::between(clock(22, 0)?, clock(6, 0)?)?;
/// assert!(night.crosses_midnight());
/// assert_eq!((night.start(), night.end()), (22 * 60, 30 * 60), "06:00 on the next date");
/// assert_eq!(night.to_string(), "22:00-06:00");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hours {
    /// Minutes since midnight, at most 1,439.
    start: u16,
    /// Minutes since the same midnight: after the start, and at most a day after it.
    end: u16,
}

/// Why two times of day are not [`Hours`].
///
/// ```
/// use kalends_availability::{CivilTime, Hours, HoursError};
///
/// let half_a_minute = CivilTime::new(9, 0, 30).ok_or("no such time")?;
/// let midnight = CivilTime::MIDNIGHT;
/// assert_eq!(Hours::between(midnight, midnight), Err(HoursError::Same(midnight)));
/// assert_eq!(Hours::between(midnight, half_a_minute), Err(HoursError::NotWholeMinutes(half_a_minute)));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HoursError {
    /// Both are the same, which could mean a whole day or nothing.
    #[error("must end at another time than they start ({0})")]
    Same(CivilTime),
    /// One of them has seconds.
    #[error("must start and end at whole minutes, got {0}")]
    NotWholeMinutes(CivilTime),
}

impl Hours {
    /// 24:00 in minutes since midnight.
    const MIDNIGHT: u16 = 24 * 60;
    /// From 00:00 to 24:00.
    pub const ALL_DAY: Self = Self { start: 0, end: Self::MIDNIGHT };

    /// The hours between two minutes, both counted from the midnight at which the date begins. More than 1,440 is on
    /// the next date: 1,800 is 06:00 there. `None` if the start is not within the date, the end is not after the
    /// start, or there is more than a day between them.
    ///
    /// ```
    /// use kalends_availability::Hours;
    ///
    /// assert_eq!(Hours::new(540, 1_020).map(|hours| hours.to_string()).as_deref(), Some("09:00-17:00"));
    /// assert_eq!(Hours::new(1_320, 1_800).map(|hours| hours.to_string()).as_deref(), Some("22:00-06:00"));
    /// assert_eq!(Hours::new(540, 540), None);
    /// ```
    pub const fn new(start: u16, end: u16) -> Option<Self> {
        if start < Self::MIDNIGHT && start < end && end - start <= Self::MIDNIGHT {
            Some(Self { start, end })
        } else {
            None
        }
    }

    /// The hours between two times of day. If the end is not after the start, it is on the next date, and 00:00 is the
    /// midnight that ends the date. [`Hours`] has an example.
    ///
    /// # Errors
    /// [`HoursError`] if both are the same or one of them is not a whole minute. [`Hours::ALL_DAY`] is the whole day.
    pub fn between(start: CivilTime, end: CivilTime) -> Result<Self, HoursError> {
        let minute = |time: CivilTime| match time.hour_minute_second() {
            (hour, minute, 0) if time.as_micros() % 60_000_000 == 0 => u16::try_from(hour * 60 + minute).ok(),
            _ => None,
        };
        let (first, last) = (
            minute(start).ok_or(HoursError::NotWholeMinutes(start))?,
            minute(end).ok_or(HoursError::NotWholeMinutes(end))?,
        );
        let last = if last <= first { last + Self::MIDNIGHT } else { last };
        if start == end { Err(HoursError::Same(start)) } else { Ok(Self { start: first, end: last }) }
    }

    /// The first minute inside, counted from midnight.
    pub const fn start(self) -> u16 {
        self.start
    }

    /// The first minute outside, counted from the midnight before the start: 1,440 for 24:00, and more on the next
    /// date.
    pub const fn end(self) -> u16 {
        self.end
    }

    /// Whether the hours end on the date after the one on which they begin. Hours until 24:00 do not. [`Hours`] has an
    /// example.
    pub const fn crosses_midnight(self) -> bool {
        self.end > Self::MIDNIGHT
    }

    /// When the hours of `date` end in `zone`: the last instant at which the running clocks reach the end.
    /// An end in a gap moves by the length of the gap. `None` only for dates outside the supported calendar.
    ///
    /// ```
    /// use kalends_availability::{CivilDate, Hours, Zone};
    ///
    /// let night = Hours::new(22 * 60, 30 * 60).ok_or("not hours")?;
    /// let date: CivilDate = "2026-03-06".parse()?;
    /// assert_eq!(night.closes(date, "Europe/Berlin".parse()?), Some("2026-03-07T05:00:00Z".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn closes(self, date: CivilDate, zone: Zone) -> Option<Timestamp> {
        if self.crosses_midnight() {
            last_reached(date.plus_days(1), self.end - Self::MIDNIGHT, zone)
        } else {
            last_reached(date, self.end, zone)
        }
    }

    /// The hours of `date` in `zone`; `None` if the clocks show none of them on that date.
    ///
    /// They are one span, which begins when the clocks first show the start, and ends when they last reach
    /// the end. So an overlap inside the hours belongs to them both times. A time in a gap moves by the
    /// length of the gap (RFC 5545 section 3.3.5), but never out of the date. Hours that cross midnight end at the
    /// latest with the next date, and with this one if the clocks skip the next.
    ///
    /// ```
    /// use kalends_availability::{CivilDate, Hours, SignedDuration, Zone};
    ///
    /// // The clocks skip an hour in this night.
    /// let night = Hours::new(0, 6 * 60).ok_or("not hours")?;
    /// let date: CivilDate = "2026-03-29".parse()?;
    /// let open = night.on(date, "Europe/Berlin".parse()?).ok_or("no such date")?;
    /// assert_eq!(open.start(), "2026-03-28T23:00:00Z".parse()?);
    /// assert_eq!(open.length(), SignedDuration::hours(5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on(self, date: CivilDate, zone: Zone) -> Option<Span> {
        let start = zone.to_timestamp(civil(date, self.start)?)?;
        let end = self.closes(date, zone)?;
        let hours = Span::new(start, end).ok()?;
        if self.end == Self::MIDNIGHT {
            return Some(hours);
        }
        let day = Self::ALL_DAY.on(date, zone)?;
        let next = if self.crosses_midnight() { Self::ALL_DAY.on(date.plus_days(1), zone) } else { None };
        hours.clip(Span::new(day.start(), next.map_or(day.end(), Span::end)).ok()?)
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
    /// Formats the hours as `09:00-17:30`, and as `22:00-06:00` if they cross midnight.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = if self.crosses_midnight() { self.end - Self::MIDNIGHT } else { self.end };
        write!(f, "{}-{}", Minute(self.start), Minute(end))
    }
}

impl fmt::Debug for Hours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Shows a minute of the day as `HH:MM`, the last one as `24:00`.
struct Minute(u16);

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
    #[case::a_night("Europe/Berlin", "2026-01-15", (2200, 3000), "2026-01-15T21:00:00Z 2026-01-16T05:00:00Z")]
    #[case::a_night_over_a_gap("Europe/Berlin", "2026-03-28", (2200, 3000), "2026-03-28T21:00:00Z 2026-03-29T04:00:00Z")]
    #[case::a_night_into_a_gap("Europe/Berlin", "2026-03-28", (2200, 2630), "2026-03-28T21:00:00Z 2026-03-29T01:30:00Z")]
    #[case::a_night_over_both_passes("Europe/Berlin", "2026-10-24", (2200, 3000), "2026-10-24T20:00:00Z 2026-10-25T05:00:00Z")]
    #[case::a_night_into_the_second_pass("Europe/Berlin", "2026-10-24", (2200, 2630), "2026-10-24T20:00:00Z 2026-10-25T01:30:00Z")]
    #[case::a_night_over_a_skipped_midnight("America/Santiago", "2026-09-05", (2200, 3000), "2026-09-06T02:00:00Z 2026-09-06T09:00:00Z")]
    #[case::a_night_before_a_skipped_day("Pacific/Apia", "2011-12-29", (2200, 3000), "2011-12-30T08:00:00Z 2011-12-30T10:00:00Z")]
    #[case::the_night_of_a_skipped_day("Pacific/Apia", "2011-12-30", (2200, 3000), "never")]
    #[case::a_day_from_noon("UTC", "2026-01-15", (1200, 3600), "2026-01-15T12:00:00Z 2026-01-16T12:00:00Z")]
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
    #[case::over_midnight(1_320, 1_800, Some("22:00-06:00"))]
    #[case::a_whole_day_later(60, 1_500, Some("01:00-01:00"))]
    #[case::more_than_a_day(60, 1_501, None)]
    #[case::on_the_next_date(1_440, 1_500, None)]
    #[case::far_beyond(0, u16::MAX, None)]
    fn bounds(#[case] start: u16, #[case] end: u16, #[case] expected: Option<&str>) {
        let hours = Hours::new(start, end);
        assert_eq!(hours.map(|hours| hours.to_string()).as_deref(), expected);
        assert_eq!(hours.map(|hours| (hours.start(), hours.end())), expected.map(|_| (start, end)));
    }

    #[rstest]
    #[case::a_day("09:00", "17:30", "09:00-17:30")]
    #[case::until_midnight("18:00", "00:00", "18:00-24:00")]
    #[case::a_night("22:00", "06:00", "22:00-06:00")]
    #[case::nearly_a_day("09:00", "08:59", "09:00-08:59")]
    #[case::the_same("09:00", "09:00", "must end at another time than they start (09:00:00)")]
    #[case::twice_midnight("00:00", "00:00", "must end at another time than they start (00:00:00)")]
    #[case::seconds("09:00", "17:00:30", "must start and end at whole minutes, got 17:00:30")]
    fn between_two_times(#[case] start: &str, #[case] end: &str, #[case] expected: &str) {
        let clock = |text: &str| {
            let mut parts = text.split(':').map(|part| part.parse().unwrap());
            let mut next = || parts.next().unwrap_or(0);
            CivilTime::new(next(), next(), next()).unwrap()
        };
        let hours = Hours::between(clock(start), clock(end));
        assert_eq!(hours.map_or_else(|error| error.to_string(), |hours| hours.to_string()), expected);
    }

    #[test]
    fn dates_at_the_ends_of_the_calendar_do_not_overflow() {
        for days in [i64::MIN, i64::MAX] {
            for zone in ["UTC", "Europe/Berlin", "America/Santiago"] {
                let (date, zone) = (CivilDate::from_days(days), zone.parse().unwrap());
                for (start, end) in [(0, 1_440), (540, 1_020), (1_320, 1_800)] {
                    let hours = Hours::new(start, end).unwrap();
                    assert!(hours.on(date, zone).is_none_or(|span| span.length() <= SignedDuration::days(2)));
                }
            }
        }
    }
}
