//! The times of events, as stored and as requests give them.

use kalends_kernel::{Code, EARLIEST_TIME, FieldError, FieldErrors, RequestTimeError, request_time};
use kalends_time::{CivilDate, CivilDateTime, CivilTime, SignedDuration, Span, Timestamp, Zone};

const MICROS_A_DAY: i64 = SignedDuration::days(1).as_micros();

/// When an event takes place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// From the start up to but not including the end.
    pub span: Span,
    /// Whether the event is shown as whole days.
    pub all_day: bool,
}

/// The start or the end of an event, as a request gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// An instant.
    At(Timestamp),
    /// A plain date, read as midnight in the calendar's zone; only with `all_day`.
    On(CivilDate),
}

impl Moment {
    /// Reads an RFC 3339 time with an offset, or a plain date.
    ///
    /// # Errors
    /// `invalid_time_format`.
    pub fn parse(param: &str, text: &str) -> Result<Self, FieldError> {
        if let Ok(date) = text.parse::<CivilDate>() {
            return Ok(Self::On(date));
        }
        let refused = |error: RequestTimeError| FieldError::new(param, error.to_string());
        request_time(text).map(Self::At).map_err(|error| refused(error).with_code(Code::InvalidTimeFormat))
    }

    /// The instant, if `all_day` allows the form. `latest` is the last instant that is accepted.
    pub(crate) fn resolve(
        self,
        param: &str,
        all_day: bool,
        zone: Zone,
        latest: Timestamp,
    ) -> Result<Timestamp, FieldError> {
        match self {
            Self::At(instant) => Ok(instant),
            Self::On(date) if !all_day => Err(FieldError::new(
                param,
                format!(
                    "must be an RFC 3339 time with an offset, got the plain date {date}, which needs all_day: true"
                ),
            )
            .with_code(Code::InvalidTimeFormat)),
            Self::On(date) => {
                let last = latest.utc_date();
                if date < EARLIEST_TIME.utc_date() || date > last {
                    return Err(FieldError::new(param, format!("must be from 1970-01-01 to {last}, got {date}"))
                        .with_code(Code::InvalidTimeFormat));
                }
                zone.to_timestamp(date.midnight())
                    .ok_or_else(|| FieldError::new(param, format!("{date} does not exist in {zone}")))
            }
        }
    }
}

/// The last instant at which an event can start.
pub(crate) const LAST_START: Timestamp = Timestamp::from_micros(Timestamp::HORIZON.as_micros() - 1);

impl Times {
    /// Reads the start and the end in `zone`, and collects the errors of both.
    pub(crate) fn read(start: Moment, end: Moment, all_day: bool, zone: Zone) -> Result<Self, FieldErrors> {
        let mut errors = FieldErrors::default();
        let start = errors.take(start.resolve("start_time", all_day, zone, LAST_START));
        // The end is exclusive: the last day of 2099 ends on 2100-01-01.
        let end = errors.take(end.resolve("end_time", all_day, zone, Timestamp::HORIZON));
        let (Some(start), Some(end)) = (start, end) else {
            return Err(errors);
        };
        match Span::new(start, end) {
            Ok(span) => Ok(Self { span, all_day }),
            Err(error) => Err(FieldError::new("end_time", error.to_string()).with_code(Code::EndBeforeStart).into()),
        }
    }
}

/// The new end of an event at `seen` if a PATCH moves its start to `start` and leaves its end out. The event keeps its
/// length.
///
/// An event that is timed after the change keeps its elapsed time. An all-day event keeps its number of days, counted
/// in `written`, the zone in which it was written. A timed event that becomes an all-day event takes as many days as it
/// lasted, rounded up. The days are laid out in `zone`, that of its calendar. `all_day` is the new value of the field.
pub(crate) fn moved_end(seen: Times, start: Timestamp, all_day: bool, written: Zone, zone: Zone) -> Timestamp {
    let elapsed = seen.span.length();
    let lasts = if seen.all_day {
        wall_clock_micros(written, seen.span.end()) - wall_clock_micros(written, seen.span.start())
    } else {
        (elapsed.as_micros() + MICROS_A_DAY - 1).div_euclid(MICROS_A_DAY) * MICROS_A_DAY
    };
    let by_days = at_wall_clock(zone, wall_clock_micros(zone, start).saturating_add(lasts));
    // When clocks are set back, a later instant can show an earlier time.
    by_days.filter(|end| all_day && *end > start).unwrap_or(start + elapsed)
}

/// The wall clock time of an instant, in microseconds since midnight on 1 January 1970. The first instant of a day
/// counts as its midnight, even if the clocks skip midnight.
pub(crate) fn wall_clock_micros(zone: Zone, instant: Timestamp) -> i64 {
    let CivilDateTime { date, time } = zone.to_civil(instant);
    let of_day = if zone.to_timestamp(date.midnight()) == Some(instant) { 0 } else { time.as_micros() };
    date.as_days() * MICROS_A_DAY + of_day
}

/// The instant at which the wall clock shows this time.
pub(crate) fn at_wall_clock(zone: Zone, micros: i64) -> Option<Timestamp> {
    let date = CivilDate::from_days(micros.div_euclid(MICROS_A_DAY));
    zone.to_timestamp(CivilDateTime { date, time: CivilTime::from_micros(micros.rem_euclid(MICROS_A_DAY))? })
}

#[cfg(test)]
mod tests {
    use kalends_kernel::EventId;
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::{Attendees, Event, EventError, EventPatch, EventStatus, NewEvent, Patch, Repeats, series::examples};

    fn event(zone: &str, all_day: bool, start: Moment, end: Moment) -> Event {
        let new = NewEvent {
            title: "Standup".into(),
            description: None,
            location: None,
            conference_url: None,
            attendees: Attendees::default(),
            start,
            end,
            all_day,
            status: EventStatus::Confirmed,
            metadata: kalends_kernel::Metadata::default(),
            reminders: None,
            recurrence: None,
            hold: None,
            if_free: false,
            if_as_of: None,
            send_invitations: false,
        };
        let id: EventId = examples::id(1);
        Event::create(id, &examples::calendar(zone), new, Timestamp::from_micros(5)).unwrap()
    }

    fn parsed(text: &str) -> Moment {
        Moment::parse("start_time", text).unwrap()
    }

    fn patched(event: &Event, zone: &str, patch: EventPatch) -> Result<Span, EventError> {
        event.patched(patch, zone.parse::<Zone>().unwrap(), Timestamp::from_micros(9)).map(|event| event.times.span)
    }

    fn starting(start: Moment) -> EventPatch {
        EventPatch { start: Patch::Set(start), ..EventPatch::default() }
    }

    #[rstest]
    #[case::earlier(
        "UTC",
        "2026-05-01T09:00:00Z",
        "2026-05-01T10:00:00Z",
        "2026-04-30T09:30:00Z",
        "2026-04-30T10:30:00Z"
    )]
    #[case::over_daylight_saving(
        "Europe/Berlin",
        "2026-03-28T22:00:00Z",
        "2026-03-29T04:00:00Z",
        "2026-05-01T22:00:00Z",
        "2026-05-02T04:00:00Z"
    )]
    // Days of 23, 24 and 25 hours.
    #[case::a_shorter_day("Europe/Berlin", "2026-03-28", "2026-03-29", "2026-03-29", "2026-03-29T22:00:00Z")]
    #[case::a_longer_day("Europe/Berlin", "2026-03-29", "2026-03-30", "2026-10-25", "2026-10-25T23:00:00Z")]
    #[case::days("Asia/Kolkata", "2026-05-04", "2026-05-07", "2026-12-30", "2027-01-01T18:30:00Z")]
    // A day that begins at 01:00 because its midnight is skipped.
    #[case::to_no_midnight("America/Sao_Paulo", "2018-11-01", "2018-11-02", "2018-11-04", "2018-11-05T02:00:00Z")]
    #[case::from_no_midnight("America/Sao_Paulo", "2018-11-04", "2018-11-05", "2018-11-01", "2018-11-02T03:00:00Z")]
    fn the_start_alone_keeps_the_length(
        #[case] zone: &str,
        #[case] start: &str,
        #[case] end: &str,
        #[case] moved: &str,
        #[case] expected: &str,
    ) {
        let all_day = start.len() == 10;
        let event = event(zone, all_day, parsed(start), parsed(end));
        assert_eq!(patched(&event, zone, starting(parsed(moved))).unwrap().end().to_string(), expected);
    }

    #[rstest]
    #[case::to_days("2026-05-01T09:00:00Z", "2026-05-01T10:00:00Z", true, "2026-05-03", "2026-05-04T00:00:00Z")]
    #[case::to_two_days("2026-05-01T23:00:00Z", "2026-05-03T00:00:00Z", true, "2026-05-03", "2026-05-05T00:00:00Z")]
    #[case::to_times("2026-05-01", "2026-05-02", false, "2026-05-03T09:00:00Z", "2026-05-04T09:00:00Z")]
    fn an_event_that_becomes_all_day_lasts_full_days(
        #[case] start: &str,
        #[case] end: &str,
        #[case] all_day: bool,
        #[case] moved: &str,
        #[case] expected: &str,
    ) {
        let event = event("UTC", !all_day, parsed(start), parsed(end));
        let patch = EventPatch { all_day: Patch::Set(all_day), ..starting(parsed(moved)) };
        assert_eq!(patched(&event, "UTC", patch).unwrap().end().to_string(), expected);
    }

    #[test]
    fn no_event_is_moved_past_the_last_year() {
        let event = event("UTC", false, parsed("2026-05-01T09:00:00Z"), parsed("2026-05-03T09:00:00Z"));
        let last = starting(parsed("2099-12-30T00:00:00Z"));
        assert_eq!(patched(&event, "UTC", last).unwrap().end(), Timestamp::HORIZON);
        let late = starting(parsed("2099-12-30T00:00:01Z"));
        let Err(EventError::Invalid(errors)) = patched(&event, "UTC", late) else { panic!("it ends after 2099") };
        assert_eq!(errors.first().param, "start_time");
    }

    fn zones() -> impl Strategy<Value = &'static str> {
        kalends_time::testing::zone().prop_map(Zone::name)
    }

    proptest! {
        /// An event whose start alone is moved keeps its elapsed time.
        #[test]
        fn a_timed_event_keeps_its_elapsed_time(
            zone in zones(), start in 0..1_000_000_000_i64, length in 1..10_000_000_i64, moved in 0..1_000_000_000_i64,
        ) {
            let at = |seconds: i64| Timestamp::from_micros(seconds * 1_000_000);
            let event = event(zone, false, Moment::At(at(start)), Moment::At(at(start + length)));
            let after = patched(&event, zone, starting(Moment::At(at(moved)))).unwrap();
            prop_assert_eq!((after.start(), after.end()), (at(moved), at(moved + length)));
            // The end alone changes the length. A start and an end set both.
            let end = EventPatch { end: Patch::Set(Moment::At(at(start + 2 * length))), ..EventPatch::default() };
            let longer = patched(&event, zone, end).unwrap();
            prop_assert_eq!((longer.start(), longer.end()), (at(start), at(start + 2 * length)));
            let both = EventPatch { end: Patch::Set(Moment::At(at(moved + 1))), ..starting(Moment::At(at(moved))) };
            prop_assert_eq!(patched(&event, zone, both).unwrap().length(), SignedDuration::seconds(1));
        }

        /// An all-day event whose start alone is moved keeps its number of days.
        #[test]
        fn an_all_day_event_keeps_its_days(
            zone in zones(), start in 0..30_000_i64, days in 1..40_i64, moved in 0..30_000_i64,
        ) {
            let (date, midnight) = (CivilDate::from_days, |days| Moment::On(CivilDate::from_days(days)));
            let event = event(zone, true, midnight(start), midnight(start + days));
            let after = patched(&event, zone, starting(midnight(moved))).unwrap();
            let zone: Zone = zone.parse().unwrap();
            prop_assert_eq!(zone.to_timestamp(date(moved).midnight()), Some(after.start()));
            // Apia skipped 30 December 2011: its midnights on both sides are the same instant.
            let skipped = zone.name() == "Pacific/Apia" && [start, start + days, moved, moved + days].contains(&15_338);
            prop_assert!(skipped || zone.to_timestamp(date(moved + days).midnight()) == Some(after.end()));
        }

        /// Every occurrence of a moved series lasts as long as before.
        #[test]
        fn a_series_keeps_the_length_of_its_occurrences(event in examples::series(), days in -30..30_i64) {
            let start = event.times.span.start() + SignedDuration::days(days);
            let after = examples::patched(&event, starting(Moment::At(start)));
            // The rule may end before the new start.
            prop_assume!(after.is_ok());
            let after = after.unwrap();
            prop_assert_eq!(after.times.span.start(), start);
            prop_assert!(!event.times.all_day, "the examples have times");
            let Repeats::Series(recurrence) = &after.repeats else { panic!("{after:?}") };
            let series = recurrence.series(after.times).unwrap();
            let window = Span::new(Timestamp::EPOCH, Timestamp::HORIZON).unwrap();
            for occurrence in series.occurrences(window).take(5) {
                prop_assert_eq!(occurrence.length(), event.times.span.length());
            }
        }
    }
}
