//! Times as the wall clocks of a calendar's zone show them.

use std::borrow::Cow;

use kalends_kernel::{SignedDuration, Span, Timestamp, Zone};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// How events are shown.
#[derive(Debug, Default, Clone, Copy, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ShowEvents {
    /// Whether events also tell their times in their calendar's zone, as `local`.
    #[param(default = false)]
    pub local: Option<bool>,
}

impl ShowEvents {
    /// Whether local times are asked for.
    pub fn local(self) -> bool {
        self.local.unwrap_or(false)
    }
}

/// When an event takes place by the clocks of its calendar's zone.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "start": "2026-03-29T09:00:00+02:00", "end": "2026-03-29T09:15:00+02:00", "timezone": "Europe/Berlin",
    "weekday": "sunday"
}))]
pub struct Local {
    /// The start, with the offset from UTC that holds then.
    #[schema(format = DateTime)]
    pub start: String,
    /// The end, exclusive, with the offset from UTC that holds then.
    #[schema(format = DateTime)]
    pub end: String,
    /// The calendar's zone.
    #[schema(value_type = String)]
    pub timezone: Cow<'static, str>,
    /// The day of the week on which the event starts there.
    pub weekday: Weekday,
}

/// A day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Weekday {
    /// The first of the week.
    Monday,
    /// The second.
    Tuesday,
    /// The third.
    Wednesday,
    /// The fourth.
    Thursday,
    /// The fifth.
    Friday,
    /// The sixth.
    Saturday,
    /// The last.
    Sunday,
}

impl Local {
    /// What the clocks of `zone` show at both ends.
    pub fn of(span: Span, zone: Zone) -> Self {
        let days = [
            Weekday::Monday,
            Weekday::Tuesday,
            Weekday::Wednesday,
            Weekday::Thursday,
            Weekday::Friday,
            Weekday::Saturday,
        ];
        let weekday = usize::from(shown(span.start(), zone).0.utc_date().weekday());
        Self {
            start: with_offset(span.start(), zone),
            end: with_offset(span.end(), zone),
            timezone: zone.name().into(),
            weekday: days.get(weekday).copied().unwrap_or(Weekday::Sunday),
        }
    }
}

/// What a clock in the zone shows, as if it were UTC, and how many minutes it is ahead. Offsets of a fraction of a
/// minute, which end in 1972, are cut to what RFC 3339 can say: the text then still names the instant.
fn shown(instant: Timestamp, zone: Zone) -> (Timestamp, i64) {
    let minutes = zone.offset_at(instant).as_seconds().div_euclid(60);
    (instant + SignedDuration::minutes(minutes), minutes)
}

fn with_offset(instant: Timestamp, zone: Zone) -> String {
    let (clock, minutes) = shown(instant, zone);
    let mut text = clock.to_string();
    // The mark of UTC gives way to the offset.
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
    #[case::the_first_of_two("Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T02:30:00+02:00", Weekday::Sunday)]
    #[case::the_second_of_two("Europe/Berlin", "2026-10-25T01:30:00Z", "2026-10-25T02:30:00+01:00", Weekday::Sunday)]
    #[case::half_an_hour("Asia/Kolkata", "2026-03-02T18:30:00Z", "2026-03-03T00:00:00+05:30", Weekday::Tuesday)]
    #[case::a_quarter("Asia/Kathmandu", "2026-03-02T18:14:59.5Z", "2026-03-02T23:59:59.5+05:45", Weekday::Monday)]
    #[case::behind("America/St_Johns", "2026-01-01T03:29:59Z", "2025-12-31T23:59:59-03:30", Weekday::Wednesday)]
    #[case::half_an_hour_of_summer(
        "Australia/Lord_Howe",
        "2026-01-01T13:00:00Z",
        "2026-01-02T00:00:00+11:00",
        Weekday::Friday
    )]
    #[case::far_ahead("Pacific/Kiritimati", "2026-03-02T10:00:00Z", "2026-03-03T00:00:00+14:00", Weekday::Tuesday)]
    #[case::seconds_of_an_offset(
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
    fn what_the_clocks_show(#[case] zone: &str, #[case] start: &str, #[case] shown: &str, #[case] weekday: Weekday) {
        let told = local(zone, start, "2099-12-31T23:00:00Z");
        assert_eq!((told.start.as_str(), told.weekday, &*told.timezone), (shown, weekday, zone));
    }

    #[test]
    fn both_ends_have_their_own_offset() {
        let night = local("America/New_York", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z");
        assert_eq!(
            (night.start.as_str(), night.end.as_str()),
            ("2026-11-01T00:00:00-04:00", "2026-11-02T00:00:00-05:00")
        );
    }

    proptest! {
        #[test]
        fn the_text_names_the_instant(
            micros in 0..Timestamp::HORIZON.as_micros() - 86_400_000_000,
            zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "Africa/Monrovia", "Pacific/Apia", "America/Caracas"]),
        ) {
            let (start, end) = (Timestamp::from_micros(micros), Timestamp::from_micros(micros + 1));
            let told = Local::of(Span::new(start, end).unwrap(), zone.parse().unwrap());
            // Years before 1970 are shown, though no request may name them.
            if !told.start.starts_with("1969") && !told.end.starts_with("1969") {
                prop_assert_eq!(told.start.parse(), Ok(start));
                prop_assert_eq!(told.end.parse(), Ok(end));
            }
        }
    }
}
