//! Dates, the times that clocks show, and the times that several people have in common.

use anyhow::{Context as _, Result};
use kalends_time::{CivilDate, CivilTime, SignedDuration, Timestamp, Zone};

/// The hours of a working day.
pub(crate) const OPENS: u32 = 9;
pub(crate) const CLOSES: u32 = 17;
/// The minutes from one possible start to the next.
const STEP: i64 = 15;
/// The number of days of a week on which people work.
const WORKING_DAYS: u8 = 5;

/// The days that the tasks are about, which are well in the future.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Week {
    monday: CivilDate,
}

impl Week {
    /// The week whose Monday is 22 to 28 days after a date.
    pub(crate) fn after(today: CivilDate) -> Self {
        Self { monday: today.plus_days(28 - i64::from(today.weekday())) }
    }

    /// The date that is `days` days after the Monday.
    pub(crate) fn date(self, days: i64) -> CivilDate {
        self.monday.plus_days(days)
    }
}

/// The text of a local time, as a call sends it.
pub(crate) fn local(date: CivilDate, hour: u32, minute: u32) -> String {
    format!("{date}T{hour:02}:{minute:02}")
}

/// When the clocks of a zone show a time.
pub(crate) fn instant(zone: Zone, date: CivilDate, hour: u32, minute: u32) -> Result<Timestamp> {
    let time = CivilTime::new(hour, minute, 0).with_context(|| format!("{hour}:{minute} is not a time of day"))?;
    zone.to_timestamp(date.at(time)).with_context(|| format!("{date} is out of range"))
}

/// The first time of that length in the range that is in the working hours of all zones and overlaps nothing busy.
pub(crate) fn first_in_common(
    zones: &[Zone],
    busy: &[(Timestamp, Timestamp)],
    (from, to): (Timestamp, Timestamp),
    length: SignedDuration,
) -> Option<Timestamp> {
    let mut start = from;
    while start + length <= to {
        let end = start + length;
        let is_free = busy.iter().all(|(from, to)| end <= *from || *to <= start);
        if is_free && zones.iter().all(|zone| is_open(*zone, start, end)) {
            return Some(start);
        }
        start = start + SignedDuration::minutes(STEP);
    }
    None
}

/// Whether a time is in the hours of one working day.
fn is_open(zone: Zone, start: Timestamp, end: Timestamp) -> bool {
    let (from, to) = (zone.to_civil(start), zone.to_civil(end));
    from.date == to.date
        && from.date.weekday() < WORKING_DAYS
        && from.time.hour_minute_second() >= (OPENS, 0, 0)
        && to.time.hour_minute_second() <= (CLOSES, 0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn the_week_is_ahead_on_every_day() {
        let monday: CivilDate = "2026-03-02".parse().unwrap();
        for days in 0..7 {
            let today = monday.plus_days(days);
            let week = Week::after(today);
            assert_eq!((week.date(0).weekday(), week.date(3).weekday()), (0, 3));
            let ahead = week.date(0).as_days() - today.as_days();
            assert!((22..=28).contains(&ahead), "{ahead} days after {today}");
        }
    }

    #[test]
    fn local_times_are_those_of_the_zone() {
        let (berlin, date): (Zone, CivilDate) = ("Europe/Berlin".parse().unwrap(), "2026-03-05".parse().unwrap());
        assert_eq!(instant(berlin, date, 9, 30).unwrap(), at("2026-03-05T08:30:00Z"));
        assert_eq!(local(date, 9, 5), "2026-03-05T09:05");
        assert!(instant(berlin, date, 25, 0).is_err());
    }

    #[test]
    fn the_first_time_in_common_is_free_and_open_for_all() {
        let zones: Vec<Zone> = ["Europe/Berlin", "America/New_York"].iter().map(|name| name.parse().unwrap()).collect();
        let day = (at("2026-02-02T23:00:00Z"), at("2026-02-03T23:00:00Z"));
        let length = SignedDuration::minutes(45);
        let first = |busy: &[(Timestamp, Timestamp)]| first_in_common(&zones, busy, day, length);
        assert_eq!(first(&[]), Some(at("2026-02-03T14:00:00Z")));
        let half_an_hour = (at("2026-02-03T14:30:00Z"), at("2026-02-03T15:00:00Z"));
        assert_eq!(first(&[half_an_hour]), Some(at("2026-02-03T15:00:00Z")));
        let quarter = (at("2026-02-03T15:30:00Z"), at("2026-02-03T15:45:00Z"));
        assert_eq!(first(&[half_an_hour, quarter]), None);
        // In March, the clocks of New York are ahead of the usual difference for some weeks.
        let earlier = (at("2026-03-16T23:00:00Z"), at("2026-03-17T23:00:00Z"));
        assert_eq!(first_in_common(&zones, &[], earlier, length), Some(at("2026-03-17T13:00:00Z")));
    }
}
