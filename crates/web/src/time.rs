//! Months, and how times and zones are written.

use std::fmt;
use std::str::FromStr;

use kalends_time::{CivilDate, SignedDuration, Span, Timestamp, Zone};

/// A month from 1970 to 2099, the years of the timestamps that a request may contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Month {
    year: i32,
    month: u32,
}

/// The text is not a month in the form `YYYY-MM`, from 1970 to 2099.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAMonth;

impl Month {
    /// The month `month` (1 to 12) of `year` (1970 to 2099).
    pub fn new(year: i32, month: u32) -> Option<Self> {
        ((1970..=2099).contains(&year) && (1..=12).contains(&month)).then_some(Self { year, month })
    }

    /// The month of a timestamp in the zone, clamped to the months that a request may contain.
    pub fn at(instant: Timestamp, zone: Zone) -> Self {
        let (year, month, _) = zone.to_civil(instant).date.year_month_day();
        match year {
            ..1970 => Self { year: 1970, month: 1 },
            1970..=2099 => Self { year, month },
            _ => Self { year: 2099, month: 12 },
        }
    }

    /// The month of the date, if it is within range.
    pub(crate) fn of(date: CivilDate) -> Option<Self> {
        let (year, month, _) = date.year_month_day();
        Self::new(year, month)
    }

    /// The month before.
    pub fn previous(self) -> Option<Self> {
        if self.month == 1 { Self::new(self.year - 1, 12) } else { Self::new(self.year, self.month - 1) }
    }

    /// The month after.
    pub fn next(self) -> Option<Self> {
        if self.month == 12 { Self::new(self.year + 1, 1) } else { Self::new(self.year, self.month + 1) }
    }

    /// The name without the year, such as `Nov`.
    pub(crate) fn short(self) -> &'static str {
        month_name(self.month)
    }

    /// The first date of the month.
    pub(crate) fn first(self) -> CivilDate {
        // Every month has a first day, so the default is never used.
        CivilDate::new(self.year, self.month, 1).unwrap_or(CivilDate::from_days(0))
    }

    /// The dates of the month, in order.
    pub(crate) fn dates(self) -> impl Iterator<Item = CivilDate> {
        (0..31).map(move |day| self.first().plus_days(day)).take_while(move |date| Self::of(*date) == Some(self))
    }

    /// The span of the month in the zone. A picker of this month needs the offers in that span.
    pub fn span(self, zone: Zone) -> Option<Span> {
        let after = (0..=31).map(|day| self.first().plus_days(day)).find(|date| Self::of(*date) != Some(self))?;
        Span::new(zone.to_timestamp(self.first().midnight())?, zone.to_timestamp(after.midnight())?).ok()
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

impl FromStr for Month {
    type Err = NotAMonth;

    fn from_str(text: &str) -> Result<Self, NotAMonth> {
        format!("{text}-01").parse().ok().and_then(Self::of).ok_or(NotAMonth)
    }
}

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The date, such as `28 Nov 2026`.
pub(crate) fn date_text(date: CivilDate) -> String {
    let (year, month, day) = date.year_month_day();
    format!("{day} {} {year}", month_name(month))
}

/// The time in UTC, such as `28 Nov 2026, 14:05 UTC`.
pub(crate) fn in_utc(at: Timestamp) -> String {
    let civil = Zone::UTC.to_civil(at);
    let (hour, minute, _) = civil.time.hour_minute_second();
    format!("{}, {hour:02}:{minute:02} UTC", date_text(civil.date))
}

/// How long ago that was, in one unit.
pub(crate) fn ago(then: Timestamp, now: Timestamp) -> String {
    in_one_unit(now - then).map_or_else(|| "less than a minute ago".to_owned(), |text| format!("{text} ago"))
}

/// How long it is until then, in one unit. It may be due already.
pub(crate) fn ahead(then: Timestamp, now: Timestamp) -> String {
    in_one_unit(then - now).map_or_else(|| "in less than a minute".to_owned(), |text| format!("in {text}"))
}

/// The length in one unit; `None` if it is less than a minute.
fn in_one_unit(length: SignedDuration) -> Option<String> {
    let seconds = length.as_seconds();
    let (count, unit) = match seconds {
        ..60 => return None,
        60..3_600 => (seconds / 60, "minute"),
        3_600..172_800 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    Some(format!("{count} {unit}{}", if count == 1 { "" } else { "s" }))
}

/// The date without its year, such as `28 Nov`.
pub(crate) fn short_date(date: CivilDate) -> String {
    let (_, month, day) = date.year_month_day();
    format!("{day} {}", month_name(month))
}

fn month_name(month: u32) -> &'static str {
    MONTHS.iter().zip(1..).find(|(_, number)| *number == month).map_or("", |(name, _)| name)
}

/// The offset from UTC, such as `UTC+5:30`, or `UTC` if it is zero.
pub(crate) fn offset_label(ahead: SignedDuration) -> String {
    let minutes = ahead.as_seconds() / 60;
    let sign = if minutes < 0 { '\u{2212}' } else { '+' };
    match (minutes.abs() / 60, minutes.abs() % 60) {
        (0, 0) => "UTC".to_owned(),
        (hours, 0) => format!("UTC{sign}{hours}"),
        (hours, minutes) => format!("UTC{sign}{hours}:{minutes:02}"),
    }
}

/// The zone and its offset at that time, such as `Europe/Berlin (UTC+1)`.
pub(crate) fn zone_label(zone: Zone, at: Timestamp) -> String {
    zone_of(zone, [at])
}

/// [`zone_label`], for several times. Without an offset if it is not the same at all of them.
pub(crate) fn zone_of(zone: Zone, times: impl IntoIterator<Item = Timestamp>) -> String {
    let name = zone.name().replace('_', " ");
    let mut offsets = times.into_iter().map(|at| zone.offset_at(at));
    let first = offsets.next();
    match first.filter(|first| offsets.all(|offset| offset == *first)).map(offset_label) {
        Some(offset) if offset != name => format!("{name} ({offset})"),
        _ => name,
    }
}

/// The offset at that time in parentheses, if the clock of the zone shows the same time twice; otherwise nothing.
pub(crate) fn offset_of_repeated(zone: Zone, at: Timestamp) -> String {
    const NEAR: SignedDuration = SignedDuration::days(1);
    let own = zone.offset_at(at);
    let mut others = [at - NEAR, at + NEAR].into_iter().map(|near| zone.offset_at(near));
    // The same clock time with the other offset is a time at which that offset holds.
    let is_repeated = others.any(|other| other != own && zone.offset_at(at + own - other) == other);
    if is_repeated { format!(" ({})", offset_label(own)) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("2026-03", Some(31))]
    #[case("2026-02", Some(28))]
    #[case("2028-02", Some(29))]
    #[case("2026-04", Some(30))]
    #[case("2099-12", Some(31))]
    #[case("2100-01", None)]
    #[case("1969-12", None)]
    #[case("2026-13", None)]
    #[case("2026-3", None)]
    #[case("2026-03-01", None)]
    #[case("", None)]
    fn months_and_their_length(#[case] text: &str, #[case] days: Option<usize>) {
        let month = text.parse::<Month>().ok();
        assert_eq!(month.map(|month| month.dates().count()), days);
        assert_eq!(month.map(|month| month.to_string()), days.map(|_| text.to_owned()));
    }

    #[rstest]
    #[case("2026-01", Some("2025-12"), Some("2026-02"))]
    #[case("1970-01", None, Some("1970-02"))]
    #[case("2099-12", Some("2099-11"), None)]
    fn months_end_at_the_limits(#[case] month: Named, #[case] previous: Option<&str>, #[case] next: Option<&str>) {
        let name = |month: Option<Month>| month.map(|month| month.to_string());
        assert_eq!(name(month.0.previous()), previous.map(str::to_owned));
        assert_eq!(name(month.0.next()), next.map(str::to_owned));
    }

    /// A month in a table of cases.
    struct Named(Month);

    impl FromStr for Named {
        type Err = String;

        fn from_str(text: &str) -> Result<Self, String> {
            text.parse().map(Self).map_err(|_| text.to_owned())
        }
    }

    #[rstest]
    #[case("2026-03", "Europe/Berlin", "2026-02-28T23:00:00Z", "2026-03-31T22:00:00Z")]
    #[case("2026-10", "Europe/Berlin", "2026-09-30T22:00:00Z", "2026-10-31T23:00:00Z")]
    #[case("2028-02", "Asia/Kolkata", "2028-01-31T18:30:00Z", "2028-02-29T18:30:00Z")]
    #[case("2099-12", "UTC", "2099-12-01T00:00:00Z", "2100-01-01T00:00:00Z")]
    fn a_month_spans_civil_months_of_its_zone(
        #[case] month: &str,
        #[case] zone: &str,
        #[case] from: &str,
        #[case] to: &str,
    ) {
        let span = month.parse::<Month>().unwrap().span(zone.parse().unwrap()).unwrap();
        assert_eq!((span.start().to_string(), span.end().to_string()), (from.to_owned(), to.to_owned()));
    }

    #[rstest]
    #[case("2026-11-28T14:05:59Z", "28 Nov 2026, 14:05 UTC")]
    #[case("2026-01-01T00:00:00Z", "1 Jan 2026, 00:00 UTC")]
    #[case("2099-12-31T23:59:59.999Z", "31 Dec 2099, 23:59 UTC")]
    fn times_are_written_in_utc(#[case] at: &str, #[case] text: &str) {
        assert_eq!(in_utc(at.parse().unwrap()), text);
    }

    #[rstest]
    #[case("Europe/Berlin", "2026-03-05T09:00:00Z", "Europe/Berlin (UTC+1)")]
    #[case("Europe/Berlin", "2026-07-05T09:00:00Z", "Europe/Berlin (UTC+2)")]
    #[case("Asia/Kathmandu", "2026-03-05T09:00:00Z", "Asia/Kathmandu (UTC+5:45)")]
    #[case("America/New_York", "2026-03-05T09:00:00Z", "America/New York (UTC\u{2212}5)")]
    #[case("America/St_Johns", "2026-03-05T09:00:00Z", "America/St Johns (UTC\u{2212}3:30)")]
    #[case("Pacific/Marquesas", "2026-03-05T09:00:00Z", "Pacific/Marquesas (UTC\u{2212}9:30)")]
    #[case("UTC", "2026-03-05T09:00:00Z", "UTC")]
    fn zones_are_labelled_with_their_offset(#[case] zone: &str, #[case] at: &str, #[case] label: &str) {
        assert_eq!(zone_label(zone.parse().unwrap(), at.parse().unwrap()), label);
    }

    #[rstest]
    #[case(&["2026-03-05T09:00:00Z", "2026-03-06T09:00:00Z"], "Europe/Berlin (UTC+1)")]
    #[case(&["2026-03-05T09:00:00Z", "2026-07-05T09:00:00Z"], "Europe/Berlin")]
    #[case(&[], "Europe/Berlin")]
    fn an_offset_that_is_not_the_same_at_all_times_is_left_out(#[case] times: &[&str], #[case] label: &str) {
        let times = times.iter().map(|at| at.parse().unwrap());
        assert_eq!(zone_of("Europe/Berlin".parse().unwrap(), times), label);
    }

    #[rstest]
    #[case("Europe/Berlin", "2026-10-24T23:59:00Z", "")]
    #[case("Europe/Berlin", "2026-10-25T00:00:00Z", " (UTC+2)")]
    #[case("Europe/Berlin", "2026-10-25T00:59:00Z", " (UTC+2)")]
    #[case("Europe/Berlin", "2026-10-25T01:00:00Z", " (UTC+1)")]
    #[case("Europe/Berlin", "2026-10-25T01:59:00Z", " (UTC+1)")]
    #[case("Europe/Berlin", "2026-10-25T02:00:00Z", "")]
    #[case("Europe/Berlin", "2026-03-29T00:30:00Z", "")]
    #[case("Europe/Berlin", "2026-03-29T01:30:00Z", "")]
    #[case("UTC", "2026-10-25T00:30:00Z", "")]
    fn a_clock_time_that_occurs_twice_has_its_offset(#[case] zone: &str, #[case] at: &str, #[case] text: &str) {
        assert_eq!(offset_of_repeated(zone.parse().unwrap(), at.parse().unwrap()), text);
    }

    #[rstest]
    #[case(-5, "less than a minute ago", "in less than a minute")]
    #[case(59, "less than a minute ago", "in less than a minute")]
    #[case(60, "1 minute ago", "in 1 minute")]
    #[case(3_599, "59 minutes ago", "in 59 minutes")]
    #[case(3_600, "1 hour ago", "in 1 hour")]
    #[case(172_799, "47 hours ago", "in 47 hours")]
    #[case(172_800, "2 days ago", "in 2 days")]
    fn distances_have_one_unit(#[case] seconds: i64, #[case] past: &str, #[case] future: &str) {
        let then: Timestamp = "2026-03-02T08:00:00Z".parse().unwrap();
        let later = then + SignedDuration::seconds(seconds);
        assert_eq!((&*ago(then, later), &*ahead(later, then)), (past, future));
    }
}
