//! The time of the event with which somebody tries a new calendar.

use kalends_time::{CivilTime, SignedDuration, Timestamp, Zone};

/// The hours at which the event can begin, on the clock of the calendar.
const FIRST_HOUR: u32 = 9;
const LAST_HOUR: u32 = 16;
/// The days of the week with such hours: those before Saturday.
const SATURDAY: u8 = 5;
/// The days that are tried. Four days in a row always have a working day with hours to come.
const DAYS: i64 = 7;
const LENGTH: SignedDuration = SignedDuration::minutes(30);

/// The next half hour that begins on a full hour of a working day, so that people find it where they look first.
pub(super) fn next_working_hour(now: Timestamp, zone: Zone) -> (Timestamp, Timestamp) {
    let today = zone.to_civil(now).date;
    let days = (0..=DAYS).map(|day| today.plus_days(day)).filter(|date| date.weekday() < SATURDAY);
    let mut starts = days.flat_map(|date| {
        let times = (FIRST_HOUR..=LAST_HOUR).filter_map(|hour| CivilTime::new(hour, 0, 0));
        times.filter_map(move |time| zone.to_timestamp(date.at(time)))
    });
    let start = starts.find(|start| *start > now).unwrap_or(now);
    (start, start + LENGTH)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::in_the_night("2026-03-02T02:10:00Z", "Europe/Berlin", "2026-03-02T08:00:00Z")]
    #[case::in_the_day("2026-03-02T09:59:59.999Z", "Europe/Berlin", "2026-03-02T10:00:00Z")]
    #[case::on_the_hour("2026-03-02T10:00:00Z", "Europe/Berlin", "2026-03-02T11:00:00Z")]
    #[case::in_the_evening("2026-03-02T15:00:00Z", "Europe/Berlin", "2026-03-03T08:00:00Z")]
    #[case::before_a_weekend("2026-03-06T16:30:00Z", "Europe/Berlin", "2026-03-09T08:00:00Z")]
    #[case::already_monday_there("2026-03-08T22:00:00Z", "Pacific/Auckland", "2026-03-08T23:00:00Z")]
    #[case::by_half_an_hour("2026-03-02T04:00:00Z", "Asia/Kolkata", "2026-03-02T04:30:00Z")]
    #[case::after_the_clocks_change("2026-03-28T12:00:00Z", "Europe/Berlin", "2026-03-30T07:00:00Z")]
    #[case::in_another_year("2026-12-31T23:30:00Z", "UTC", "2027-01-01T09:00:00Z")]
    fn the_event_begins_on_the_next_full_hour_of_a_working_day(
        #[case] now: &str,
        #[case] zone: &str,
        #[case] start: &str,
    ) {
        let (from, to) = next_working_hour(now.parse().unwrap(), zone.parse().unwrap());
        assert_eq!(from, start.parse().unwrap());
        assert_eq!(to, from + LENGTH);
    }
}
