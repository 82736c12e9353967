//! Events and series that move to another calendar.

use kalends_kernel::{EventId, FieldErrors};
use kalends_time::{SignedDuration, Timestamp, Zone};

use super::{ChangedSeries, Shift, out_of_range, placed};
use crate::{
    Calendar, Event, EventError, Hold, HoldError, Patch, Recurrence, Times,
    times::{at_wall_clock, wall_clock_micros},
};

impl Event {
    /// This event or series on the calendar `to`. `overrides` are the rows of all overrides of the series. `from` is the
    /// zone of the calendar that it leaves: all-day events keep their dates, and all others their instants.
    ///
    /// `next_id` gives identifiers for new rows of overrides.
    ///
    /// # Errors
    /// [`EventError::ReadOnly`] for imported events, [`EventError::Hold`] for expired holds. [`EventError::Invalid`] if a
    /// date is outside the years 1970 to 2099 in the new zone, or if a hold's time is over there.
    pub fn moved_to_calendar(
        &self,
        overrides: Vec<Self>,
        from: Zone,
        to: &Calendar,
        now: Timestamp,
        next_id: &mut dyn FnMut() -> EventId,
    ) -> Result<ChangedSeries, EventError> {
        self.writable()?;
        let zone = to.zone;
        // The dates of an all-day series are those of its rule, which keeps its zone if its calendar gets another.
        let from = self.recurrence().filter(|_| self.times.all_day).map_or(from, Recurrence::zone);
        let laid_out = match self.recurrence() {
            Some(_) if self.times.all_day && zone != from => Some(self.expanded()?.1),
            _ => None,
        };
        let shift = Shift {
            by: SignedDuration::ZERO,
            from,
            to: zone,
            calendar: zone,
            first: None,
            times: self.times,
            lasts: false,
        };
        let mut series = match &laid_out {
            Some(expanded) => self.shifted(expanded, shift, &Patch::Keep)?,
            None => Self { times: self.times.in_zone(from, zone)?, ..self.clone() },
        };
        if let Some(hold) = self.hold {
            if hold.has_expired(now) {
                return Err(HoldError::Expired(hold.expires_at).into());
            }
            if series.times != self.times {
                Hold::keeps(series.times.span, now).map_err(FieldErrors::from)?;
            }
        }
        series.calendar = to.id;
        series.version = self.version.next();
        series.updated_at = now;
        let overrides = series.with_overrides(overrides, now, next_id, |before, original| {
            let start = match &laid_out {
                Some(expanded) => shift.start(expanded, original),
                None => Some(original),
            };
            let times = before.times.in_zone(from, zone)?;
            Ok(start.map(|start| (start, Self { calendar: to.id, times, ..before.clone() })))
        })?;
        Ok(ChangedSeries { series, overrides })
    }
}

impl Times {
    /// The same dates in the zone `to`, if these are whole days of the zone `from`. Else these times.
    fn in_zone(self, from: Zone, to: Zone) -> Result<Self, EventError> {
        if !self.all_day || from == to {
            return Ok(self);
        }
        let start = at_wall_clock(to, wall_clock_micros(from, self.span.start())).ok_or_else(out_of_range)?;
        placed(self, start, from, to)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use kalends_time::testing::{config, zone};
    use proptest::{collection::vec, prelude::*};
    use rstest::rstest;

    use super::*;
    use crate::{
        EventPatch, EventSource, HoldScope, Moment, Occurrence, Repeats,
        series::{
            examples,
            scope::tests::{berlin, ids, overrides_agree, rows_after, with_exceptions},
        },
    };

    const NOW: Timestamp = Timestamp::from_micros(11);

    /// Another calendar, in this zone.
    fn elsewhere(zone: Zone) -> Calendar {
        let id = "cal_00000000000000000000000002".parse().unwrap();
        Calendar { id, ..examples::calendar(zone.name()) }
    }

    fn moved(event: &Event, rows: &[Event], from: Zone, to: Zone) -> ChangedSeries {
        event.moved_to_calendar(rows.to_vec(), from, &elsewhere(to), NOW, &mut ids(40)).unwrap()
    }

    fn zone_of(name: &str) -> Zone {
        name.parse().unwrap()
    }

    /// A series of whole days in Berlin, or one day.
    fn days(start: &str, end: &str, rule: Option<&str>) -> Event {
        let made = examples::made(start, end, rule.unwrap_or("FREQ=DAILY;COUNT=2"), None, &[]).unwrap();
        if rule.is_some() { made } else { Event { repeats: Repeats::Once, ..made } }
    }

    fn dates(times: Times, zone: Zone) -> (String, String) {
        let date = |at| zone.to_civil(at).date.to_string();
        (date(times.span.start()), date(times.span.end()))
    }

    #[rstest]
    #[case::west("America/New_York", "2026-05-04", "2026-05-06")]
    #[case::east("Asia/Tokyo", "2026-05-04", "2026-05-06")]
    #[case::over_a_change_of_the_clocks("America/New_York", "2026-03-08", "2026-03-09")]
    #[case::out_of_one("America/New_York", "2026-03-29", "2026-03-30")]
    fn whole_days_keep_their_dates(#[case] zone: &str, #[case] start: &str, #[case] end: &str) {
        let event = days(start, end, None);
        let zone = zone_of(zone);
        let ChangedSeries { series: after, overrides } = moved(&event, &[], berlin().calendar, zone);
        assert_eq!(dates(after.times, zone), (start.to_owned(), end.to_owned()));
        assert_eq!(
            after.times.span.start(),
            zone.to_timestamp(start.parse::<kalends_time::CivilDate>().unwrap().midnight()).unwrap()
        );
        assert_eq!((after.id, after.created_at, overrides), (event.id, event.created_at, vec![]));
        assert_eq!((after.calendar, after.version, after.updated_at), (elsewhere(zone).id, event.version.next(), NOW));
    }

    #[test]
    fn a_series_of_whole_days_keeps_its_dates_and_exceptions() {
        let tokyo = zone_of("Asia/Tokyo");
        let series = days("2026-03-23", "2026-03-24", Some("FREQ=WEEKLY;COUNT=4"));
        let start = |event: &Event, index: usize| examples::all(event)[index].start();
        let series = series.without_occurrence(start(&series, 2), NOW).unwrap();
        let instance = series.instance(start(&series, 1)).unwrap();
        let noon = EventPatch {
            start: Patch::Set(Moment::parse("start_time", "2026-03-30T10:00:00Z").unwrap()),
            end: Patch::Set(Moment::parse("end_time", "2026-03-30T11:00:00Z").unwrap()),
            all_day: Patch::Set(false),
            ..EventPatch::default()
        };
        let (series, row) =
            series.with_occurrence_patched(&instance, examples::id(2), noon, berlin().calendar, NOW).unwrap();
        let ChangedSeries { series: after, overrides } =
            moved(&series, std::slice::from_ref(&row), berlin().calendar, tokyo);
        assert_eq!(examples::starts(&after), ["2026-03-22T15:00:00Z", "2026-04-12T15:00:00Z"]);
        assert_eq!(after.recurrence().unwrap().exdates(), [examples::at("2026-04-05T15:00:00Z")]);
        let [changed] = overrides.as_slice() else { panic!("{overrides:?}") };
        let now = changed.after.as_ref().unwrap();
        assert_eq!((now.times, now.calendar), (row.times, elsewhere(tokyo).id), "times of day stay the same instant");
        let original = Occurrence { series: series.id, start: examples::at("2026-03-29T15:00:00Z") };
        assert_eq!(now.occurrence(), Some(original), "it is another instance, and so another row");
        assert_ne!(now.id, row.id);
    }

    #[test]
    fn imported_events_and_expired_holds_do_not_move() {
        let event = days("2026-05-04", "2026-05-05", None);
        let to = elsewhere(Zone::UTC);
        let refused = |event: &Event| event.moved_to_calendar(vec![], Zone::UTC, &to, NOW, &mut ids(40)).unwrap_err();
        let imported = Event { source: EventSource::ExternalIcal, ..event.clone() };
        assert_eq!(refused(&imported), EventError::ReadOnly(event.id));
        let hold = Hold { expires_at: NOW, priority: 0, scope: HoldScope::Calendar };
        let expired = Event { hold: Some(hold), ..event };
        assert_eq!(refused(&expired), HoldError::Expired(NOW).into());
    }

    #[test]
    fn a_date_must_exist_in_the_new_zone() {
        let last = days("2099-12-31", "2100-01-01", None);
        let to = elsewhere(zone_of("America/New_York"));
        let refused = last.moved_to_calendar(vec![], berlin().calendar, &to, NOW, &mut ids(40)).unwrap_err();
        let EventError::Invalid(errors) = refused else { panic!("{refused:?}") };
        assert!(errors.first().message.contains("1970 to 2099"), "{errors:?}");
    }

    proptest! {
        #![proptest_config(config(96))]

        /// An event with times of day, or a series of them, takes the same times on any calendar.
        #[test]
        fn a_move_changes_no_time_of_day(
            event in examples::series(), acts in vec((0..40_usize, any::<bool>()), 0..6), to in zone(),
        ) {
            let (event, rows) = with_exceptions(event, &acts);
            let changed = moved(&event, &rows, berlin().calendar, to);
            let after = rows_after(&rows, &changed);
            prop_assert_eq!(after.len(), rows.len());
            for (row, before) in after.iter().zip(&rows) {
                prop_assert_eq!((row.times, row.id, &row.repeats), (before.times, before.id, &before.repeats));
                prop_assert_eq!(row.calendar, changed.series.calendar);
            }
            prop_assert_eq!(examples::all(&changed.series), examples::all(&event));
            prop_assert!(overrides_agree(&changed.series, &after));
        }

        /// A series of whole days has the same dates in every zone, and is the same when it comes back.
        #[test]
        fn a_move_keeps_the_dates_of_whole_days(
            rule in examples::rules(), start in 20_000..20_500_i64, length in 1..4_i64, to in zone(),
            acts in vec((0..40_usize, any::<bool>()), 0..6),
        ) {
            let date = |day| kalends_time::CivilDate::from_days(day).to_string();
            let event = days(&date(start), &date(start + length), Some(rule));
            prop_assume!(!examples::all(&event).is_empty());
            let from = berlin().calendar;
            let (mut event, mut rows) = (event, Vec::new());
            for (number, (index, cancel)) in acts.iter().enumerate() {
                let starts = examples::all(&event);
                let Some(instance) = starts.get(index % starts.len().max(1)).and_then(|span| event.instance(span.start()))
                else { continue };
                let original = instance.occurrence().unwrap().start;
                if *cancel {
                    event = event.without_occurrence(original, NOW).unwrap();
                } else {
                    let titled = EventPatch { title: Patch::Set("Retro".into()), ..EventPatch::default() };
                    let row = examples::id(u8::try_from(10 + number).unwrap());
                    let (changed, row) = event.with_occurrence_patched(&instance, row, titled, from, NOW).unwrap();
                    event = changed;
                    rows.push(row);
                }
            }
            let changed = moved(&event, &rows, from, to);
            let of_event = |event: &Event, zone: Zone| -> Vec<(String, String)> {
                let times = examples::all(event).into_iter().map(|span| Times { span, all_day: true });
                times.map(|times| dates(times, zone)).collect()
            };
            prop_assert_eq!(of_event(&changed.series, to), of_event(&event, from));
            let there: Vec<Event> = rows_after(&rows, &changed).into_iter().cloned().collect();
            prop_assert!(overrides_agree(&changed.series, &there.iter().collect::<Vec<_>>()));
            let dates_of_rows = |rows: &[Event], zone| -> BTreeSet<(String, String)> {
                rows.iter().map(|row| dates(row.times, zone)).collect()
            };
            prop_assert_eq!(dates_of_rows(&there, to), dates_of_rows(&rows, from));
            let back = changed.series.moved_to_calendar(there.clone(), to, &elsewhere(from), NOW, &mut ids(60)).unwrap();
            prop_assert_eq!(back.series.times, event.times);
            prop_assert_eq!(&back.series.repeats, &event.repeats);
            let here: Vec<Event> = rows_after(&there, &back).into_iter().cloned().collect();
            let times = |rows: &[Event]| -> BTreeMap<_, _> {
                rows.iter().map(|row| (row.occurrence(), row.times)).collect()
            };
            prop_assert_eq!(times(&here), times(&rows));
        }
    }
}
