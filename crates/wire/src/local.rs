//! Times on the wall clock of a calendar's zone.

use std::borrow::Cow;

use kalends_time::{SignedDuration, Span, Timestamp, Zone};
use serde::{Deserialize, Serialize};

use crate::derives::{IntoParams, ToSchema};

/// Selects how events are shown.
#[derive(Debug, Default, Clone, Copy, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ShowEvents {
    /// Whether events also show their times in their calendar's zone, as `local`.
    #[param(default = false)]
    pub local: Option<bool>,
}

impl ShowEvents {
    /// Whether local times were requested.
    pub fn local(self) -> bool {
        self.local.unwrap_or(false)
    }
}

/// The time of an event on the wall clock of its calendar's zone.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "start": "2026-03-29T09:00:00+02:00", "end": "2026-03-29T09:15:00+02:00", "timezone": "Europe/Berlin",
    "weekday": "sunday"
}))]
pub struct Local {
    /// The start, with the UTC offset in force at that time.
    #[schema(format = DateTime)]
    pub start: String,
    /// The end, exclusive, with the UTC offset in force at that time.
    #[schema(format = DateTime)]
    pub end: String,
    /// The calendar's zone.
    #[schema(value_type = String)]
    pub timezone: Cow<'static, str>,
    /// The day of the week on which the event starts in that zone.
    pub weekday: Weekday,
}

/// A day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Weekday {
    /// Monday, the first day of the week.
    Monday,
    /// Tuesday.
    Tuesday,
    /// Wednesday.
    Wednesday,
    /// Thursday.
    Thursday,
    /// Friday.
    Friday,
    /// Saturday.
    Saturday,
    /// Sunday, the last day of the week.
    Sunday,
}

impl Local {
    /// The wall clock times of `zone` at both ends of the span.
    pub fn of(span: Span, zone: Zone) -> Self {
        let days = [
            Weekday::Monday,
            Weekday::Tuesday,
            Weekday::Wednesday,
            Weekday::Thursday,
            Weekday::Friday,
            Weekday::Saturday,
        ];
        let weekday = usize::from(wall_clock(span.start(), zone).0.utc_date().weekday());
        Self {
            start: with_offset(span.start(), zone),
            end: with_offset(span.end(), zone),
            timezone: zone.name().into(),
            weekday: days.get(weekday).copied().unwrap_or(Weekday::Sunday),
        }
    }
}

/// Returns the wall clock time in the zone, as if it were UTC, and the offset in minutes. RFC 3339 offsets have no
/// seconds, so an offset with a fraction of a minute (the last one ended in 1972) is rounded down. The text still
/// denotes the same instant.
fn wall_clock(instant: Timestamp, zone: Zone) -> (Timestamp, i64) {
    let minutes = zone.offset_at(instant).as_seconds().div_euclid(60);
    (instant + SignedDuration::minutes(minutes), minutes)
}

fn with_offset(instant: Timestamp, zone: Zone) -> String {
    let (clock, minutes) = wall_clock(instant, zone);
    let mut text = clock.to_string();
    // Replace the `Z` with the offset.
    text.pop();
    let (sign, ahead) = if minutes < 0 { ('-', -minutes) } else { ('+', minutes) };
    text.push_str(&format!("{sign}{:02}:{:02}", ahead / 60, ahead % 60));
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn local(zone: &str, start: &str, end: &str) -> Local {
        Local::of(Span::new(start.parse().unwrap(), end.parse().unwrap()).unwrap(), zone.parse().unwrap())
    }

    #[rstest]
    #[case::utc("UTC", "2026-03-02T09:00:00Z", "2026-03-02T09:00:00+00:00", Weekday::Monday)]
    #[case::before_the_gap("Europe/Berlin", "2026-03-29T00:59:59Z", "2026-03-29T01:59:59+01:00", Weekday::Sunday)]
    #[case::after_the_gap("Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-29T03:00:00+02:00", Weekday::Sunday)]
    #[case::first_of_overlap("Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T02:30:00+02:00", Weekday::Sunday)]
    #[case::second_of_overlap("Europe/Berlin", "2026-10-25T01:30:00Z", "2026-10-25T02:30:00+01:00", Weekday::Sunday)]
    #[case::half_hour("Asia/Kolkata", "2026-03-02T18:30:00Z", "2026-03-03T00:00:00+05:30", Weekday::Tuesday)]
    #[case::quarter_hour("Asia/Kathmandu", "2026-03-02T18:14:59.5Z", "2026-03-02T23:59:59.5+05:45", Weekday::Monday)]
    #[case::west_of_utc("America/St_Johns", "2026-01-01T03:29:59Z", "2025-12-31T23:59:59-03:30", Weekday::Wednesday)]
    #[case::half_hour_of_daylight_saving(
        "Australia/Lord_Howe",
        "2026-01-01T13:00:00Z",
        "2026-01-02T00:00:00+11:00",
        Weekday::Friday
    )]
    #[case::far_ahead("Pacific/Kiritimati", "2026-03-02T10:00:00Z", "2026-03-03T00:00:00+14:00", Weekday::Tuesday)]
    #[case::offset_with_seconds(
        "Africa/Monrovia",
        "1970-06-01T12:00:00Z",
        "1970-06-01T11:15:00-00:45",
        Weekday::Monday
    )]
    #[case::before_the_epoch(
        "America/New_York",
        "1970-01-01T00:00:00Z",
        "1969-12-31T19:00:00-05:00",
        Weekday::Wednesday
    )]
    fn local_times_follow_the_zone(
        #[case] zone: &str,
        #[case] start: &str,
        #[case] expected: &str,
        #[case] weekday: Weekday,
    ) {
        let local = local(zone, start, "2099-12-31T23:00:00Z");
        assert_eq!((local.start.as_str(), local.weekday, &*local.timezone), (expected, weekday, zone));
    }

    #[test]
    fn each_end_has_its_own_offset() {
        let night = local("America/New_York", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z");
        assert_eq!(
            (night.start.as_str(), night.end.as_str()),
            ("2026-11-01T00:00:00-04:00", "2026-11-02T00:00:00-05:00")
        );
    }

    proptest! {
        /// The local text of a time, with its offset, is read as the same time.
        #[test]
        fn the_text_denotes_the_same_instant(
            micros in 0..Timestamp::HORIZON.as_micros() - 86_400_000_000,
            zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "Africa/Monrovia", "Pacific/Apia", "America/Caracas"]),
        ) {
            let (start, end) = (Timestamp::from_micros(micros), Timestamp::from_micros(micros + 1));
            let local = Local::of(Span::new(start, end).unwrap(), zone.parse().unwrap());
            // Local times before 1970 can be written, but a request cannot contain them.
            if !local.start.starts_with("1969") && !local.end.starts_with("1969") {
                prop_assert_eq!(local.start.parse(), Ok(start));
                prop_assert_eq!(local.end.parse(), Ok(end));
            }
        }
    }
}
