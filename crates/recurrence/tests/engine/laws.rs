//! Laws that hold for every rule, in zones as well as in UTC.

use kalends_recurrence::testing::{DateRule, date_rule, hour, length, placed, series, window};
use kalends_recurrence::{Exceptions, HORIZON, Length, Rule, Series, SeriesError, SplitError};
use kalends_time::testing::{config, whole_second, zone};
use kalends_time::{CivilDate, CivilDateTime, CivilTime, SignedDuration, Span, Timestamp, Zone};
use proptest::prelude::*;

/// The starts up to the end of a window, computed from the first start on.
fn starts_before(series: &Series, end: Timestamp) -> Vec<Timestamp> {
    series.starts(series.first_start()..end).collect()
}

fn ended(drawn: &DateRule, series: &Series, end: &str) -> Series {
    let rule: Rule = format!("{drawn};{end}").parse().unwrap();
    Series::new(rule, series.first_start(), series.zone(), series.length()).unwrap()
}

/// What the clocks of its zone show at the start of an occurrence.
fn shown(series: &Series, start: Timestamp) -> CivilDateTime {
    series.zone().to_civil(start)
}

fn zone_date(series: &Series, instant: Timestamp) -> CivilDate {
    shown(series, instant).date
}

/// The time of day of a series after a shift.
fn after_time(series: &Series, by: SignedDuration) -> CivilTime {
    let time = shown(series, series.first_start()).time.as_micros() + by.as_micros();
    CivilTime::from_micros(time.rem_euclid(86_400_000_000)).unwrap()
}

proptest! {
    #![proptest_config(config(400))]

    /// The starts of a series rise from its first start and end before the horizon.
    #[test]
    fn starts_rise_from_the_first_to_the_horizon((_, series) in series()) {
        let starts = starts_before(&series, HORIZON);
        prop_assert_eq!(starts[0], series.first_start());
        prop_assert!(starts.is_sorted_by(|one, next| one < next));
        prop_assert!(starts.iter().all(|start| *start < HORIZON));
    }

    /// A window has the occurrences that the whole series has in it.
    #[test]
    fn a_window_agrees_with_a_wider_one((_, series) in series(), window in window()) {
        let window = placed(&series, window);
        let wide = starts_before(&series, window.end());
        let inside: Vec<Timestamp> = wide.iter().copied().filter(|start| window.contains(*start)).collect();
        prop_assert_eq!(series.starts(window.start()..window.end()).collect::<Vec<_>>(), inside);
        let spans = wide.iter().map(|start| series.span_at(*start).unwrap());
        let overlapping: Vec<Span> = spans.filter(|span| span.overlaps(window)).collect();
        prop_assert_eq!(series.occurrences(window).collect::<Vec<_>>(), overlapping);
    }

    /// In a zone, each date of a series has the same time on the wall clock.
    ///
    /// Compares the engine's jumps, remembered offsets and merged starts with a plain conversion of each date.
    #[test]
    fn a_zone_shows_each_date_at_the_same_wall_clock_time((_, series) in series(), window in window()) {
        let zone = series.zone();
        let local = zone.to_civil(series.first_start());
        let time = if series.is_all_day() { CivilTime::MIDNIGHT } else { local.time };
        let as_utc = |civil: CivilDateTime| Zone::UTC.to_timestamp(civil).unwrap();
        let flat_first = as_utc(CivilDateTime { date: local.date, time });
        let flat = Series::from_stored(series.rule().clone(), flat_first, Zone::UTC, hour(), None).unwrap();
        let window = placed(&series, window);
        let dates = flat.starts(flat_first + SignedDuration::micros(1)..window.end() + SignedDuration::days(3)).map(Timestamp::utc_date);
        let mut expected = vec![series.first_start()];
        for date in dates {
            let start = zone.to_timestamp(CivilDateTime { date, time }).unwrap();
            if start > *expected.last().unwrap() {
                expected.push(start);
            }
        }
        expected.retain(|start| window.contains(*start) && *start < HORIZON);
        prop_assert_eq!(series.starts(window.start()..window.end()).collect::<Vec<_>>(), expected);
    }

    /// An occurrence lasts its elapsed time, or from midnight to midnight if the series is in whole days.
    #[test]
    fn lengths_are_elapsed_time_or_midnight_to_midnight((_, series) in series()) {
        let zone = series.zone();
        for start in series.starts(series.first_start()..HORIZON).take(40) {
            let span = series.span_at(start).unwrap();
            if series.is_all_day() {
                let days = (1..).find(|days| Length::days(*days) == Ok(series.length())).unwrap();
                let date = zone.to_civil(span.start()).date;
                prop_assert_eq!(zone.to_timestamp(date.midnight()), Some(span.start()));
                // This also holds if the zone skips the day that begins then, as Samoa did.
                let end = date.plus_days(i64::from(days));
                prop_assert_eq!(zone.to_timestamp(end.midnight()), Some(span.end()));
            } else {
                prop_assert_eq!(Length::elapsed(span.length()), Ok(series.length()));
            }
        }
    }

    /// Exceptions remove exactly the occurrences that start at them, in whatever order they are given.
    #[test]
    fn an_exdate_removes_exactly_its_start_in_any_order(
        (_, series) in series(), window in window(), seed in any::<u64>(), turned in any::<prop::sample::Index>(),
    ) {
        let window = placed(&series, window);
        let all: Vec<Timestamp> = series.starts(window.start()..window.end()).collect();
        let pick = |index: usize| seed >> (index % 64) & 1 == 1;
        let mut removed: Vec<Timestamp> = (0..).zip(&all).filter(|(index, _)| pick(*index)).map(|(_, start)| *start).collect();
        let kept: Vec<Timestamp> = all.iter().copied().filter(|start| !removed.contains(start)).collect();
        // Times that are not starts have no effect, whether before, among or after the starts.
        removed.extend(all.iter().map(|start| *start + SignedDuration::seconds(1)).chain([Timestamp::EPOCH, HORIZON]));
        removed.reverse();
        let turned = turned.index(removed.len());
        removed.rotate_left(turned);
        removed.extend_from_within(..turned);
        let exceptions: Exceptions = removed.iter().copied().collect();
        prop_assert!(exceptions.starts().is_sorted_by(|one, next| one < next));
        prop_assert!(removed.iter().all(|start| exceptions.contains(*start)));
        prop_assert_eq!(series.starts(window.start()..window.end()).without(&exceptions).collect::<Vec<_>>(), kept);
        let expected: Vec<Span> = series.occurrences(window).filter(|span| !removed.contains(&span.start())).collect();
        prop_assert_eq!(series.occurrences(window).without(&exceptions).collect::<Vec<_>>(), expected);
    }

    /// A stored series is refused exactly if a new one is, except that its first midnight may have moved.
    ///
    /// The first start may be out of range, have a fraction, or be at any time of day.
    #[test]
    fn a_stored_series_is_refused_like_a_new_one(
        drawn in date_rule(), zone in zone(), length in length(), first in whole_second(), off in 0..4u8, until in -400..400i64,
    ) {
        let first = match off {
            0 => first,
            1 => first + SignedDuration::micros(1),
            2 => HORIZON + SignedDuration::days(until),
            _ => Timestamp::EPOCH + SignedDuration::days(until),
        };
        let end = (first + SignedDuration::days(until)).to_string();
        let rule = format!("{drawn};UNTIL={}", end.split('T').next().unwrap_or_default().replace('-', ""));
        for rule in [Some(drawn.rule()), rule.parse().ok()].into_iter().flatten() {
            let new = Series::new(rule.clone(), first, zone, length);
            let stored = Series::from_stored(rule, first, zone, length, None);
            if let Err(SeriesError::NotMidnight { .. }) = new {
                // It may have been midnight in another edition of the zone database.
                let moved = matches!(stored, Err(SeriesError::NotMidnight { .. }));
                prop_assert!(!moved);
            } else {
                prop_assert_eq!(stored.map(drop), new.map(drop));
            }
        }
    }

    /// `UNTIL` ends a series after the last start up to that time.
    #[test]
    fn until_splits_a_series((drawn, series) in series(), days in 0..2_000i64, second in 0..86_400i64) {
        let until = series.first_start() + SignedDuration::seconds(days * 86_400 + second);
        let text = until.to_string().replace(['-', ':'], "");
        let upto = ended(&drawn, &series, &format!("UNTIL={text}"));
        let (first, end) = (series.first_start(), until + SignedDuration::micros(1));
        let before: Vec<Timestamp> = upto.starts(first..HORIZON).collect();
        prop_assert_eq!(upto.last_start(), before.last().copied());
        let (expected_before, expected_after): (Vec<_>, Vec<_>) = starts_before(&series, HORIZON).into_iter().partition(|start| *start < end);
        prop_assert_eq!(before, expected_before);
        prop_assert_eq!(series.next_start_after(until), expected_after.first().copied());
    }

    /// `COUNT` ends a series after that number of starts, and the stored last start gives the same occurrences.
    #[test]
    fn a_count_is_resolved_to_the_last_start((drawn, series) in series(), count in 1..=60u16, window in window()) {
        let counted = ended(&drawn, &series, &format!("COUNT={count}"));
        let expected: Vec<Timestamp> = series.starts(series.first_start()..HORIZON).take(count.into()).collect();
        prop_assert_eq!(counted.starts(Timestamp::EPOCH..HORIZON).collect::<Vec<_>>(), expected.clone());
        prop_assert_eq!(counted.last_start(), expected.last().copied());
        let rule = counted.rule().clone();
        let stored =
            Series::from_stored(rule, counted.first_start(), counted.zone(), counted.length(), counted.last_start()).unwrap();
        let window = placed(&series, window);
        prop_assert!(stored.occurrences(window).eq(counted.occurrences(window)));
    }

    /// The next start after a time is an occurrence, and there is none between.
    #[test]
    fn reads_around_one_start_agree((_, series) in series(), days in 0..3_000i64) {
        let after = series.first_start() + SignedDuration::days(days);
        if let Some(next) = series.next_start_after(after) {
            prop_assert!(next > after);
            prop_assert!(series.is_occurrence(next));
            prop_assert_eq!(series.starts(after + SignedDuration::micros(1)..next).next(), None);
            prop_assert_eq!(series.span_at(next).unwrap().start(), next);
            prop_assert!(!series.is_occurrence(next + SignedDuration::seconds(1)));
            prop_assert_eq!(series.span_at(next + SignedDuration::seconds(1)), None);
        }
        prop_assert!(series.is_occurrence(series.first_start()));
    }

    /// The canonical text of a rule is read back as the same rule, and case and order of the parts do not matter.
    #[test]
    fn the_canonical_text_is_read_back(drawn in date_rule(), lower in any::<bool>(), rotate in 0..7usize) {
        let text = drawn.to_string();
        let rule: Rule = text.parse().unwrap();
        let canonical = rule.to_string();
        prop_assert!(canonical.len() <= text.len());
        prop_assert_eq!(canonical.parse::<Rule>(), Ok(rule.clone()));
        // Neither case nor the order of the parts matters.
        let mut parts: Vec<&str> = text.split(';').collect();
        let count = parts.len();
        parts.rotate_left(rotate % count);
        let other = if lower { parts.join(";").to_lowercase() } else { parts.join(";") };
        prop_assert_eq!(other.parse::<Rule>(), Ok(rule));
    }

    /// A series that is split has the same occurrences as before, and its first half ends before the second begins.
    #[test]
    fn the_halves_of_a_series_have_its_occurrences(
        (drawn, series) in series(), at in 0..40usize, end in 0..3u8, count in 1..60u32, days in 0..900i64,
    ) {
        let last = zone_date(&series, series.first_start() + SignedDuration::days(days));
        let series = match end {
            0 => series,
            1 => ended(&drawn, &series, &format!("COUNT={count}")),
            _ => ended(&drawn, &series, &format!("UNTIL={}", last.to_string().replace('-', ""))),
        };
        let starts: Vec<Timestamp> = series.starts(series.first_start()..HORIZON).take(80).collect();
        let start = starts[at % starts.len()];
        match series.split_at(start) {
            Err(SplitError::First) => prop_assert_eq!(start, series.first_start()),
            Err(error) => prop_assert_eq!((error, shown(&series, start) == shown(&series, series.first_start())), (SplitError::SkippedTime, false)),
            Ok((before, after)) => {
                let half = |rule, first| Series::new(rule, first, series.zone(), series.length()).unwrap();
                let (before, after) = (half(before, series.first_start()), half(after, start));
                prop_assert!(before.last_start().is_some_and(|last| last < start));
                let both = before.starts(series.first_start()..HORIZON).chain(after.starts(start..HORIZON));
                prop_assert_eq!(both.take(80).collect::<Vec<_>>(), starts);
                prop_assert_eq!(after.last_start(), series.last_start());
            }
        }
    }

    /// A series whose rule is shifted has the shifted occurrences of the series.
    #[test]
    fn a_shifted_rule_has_the_shifted_occurrences(
        (drawn, series) in series(), days in -9..10i64, minutes in prop_oneof![Just(0), -1_439..1_440i64],
        end in 0..3u8, count in 1..60u32, until in 0..900i64, other in zone(),
    ) {
        // Two dates are the same where a whole date is skipped.
        prop_assume!(series.zone().name() != "Pacific/Apia" && other.name() != "Pacific/Apia");
        let last = zone_date(&series, series.first_start() + SignedDuration::days(until));
        let series = match end {
            0 => series,
            1 => ended(&drawn, &series, &format!("COUNT={count}")),
            _ => ended(&drawn, &series, &format!("UNTIL={}", last.to_string().replace('-', ""))),
        };
        let (minutes, zone) = if series.is_all_day() { (0, other) } else { (minutes, series.zone()) };
        let by = SignedDuration::minutes(days * 24 * 60 + minutes);
        let shifted = |start| series.shifted_start(start, by, zone).unwrap();
        let first = shifted(series.first_start());
        let Some(rule) = series.shifted_rule(by, zone) else {
            let skipped = series.shift_between(series.first_start(), first, zone) != by;
            let date = shown(&series, series.first_start()).date;
            prop_assert!(skipped || date != zone.to_civil(first).date, "a move within a day");
            return Ok(());
        };
        let after = Series::new(rule, first, zone, series.length()).unwrap();
        let starts: Vec<Timestamp> = series.starts(series.first_start()..HORIZON - SignedDuration::days(20)).take(80).collect();
        let expected: Vec<Timestamp> = starts.iter().map(|start| shifted(*start)).collect();
        prop_assert_eq!(after.starts(first..HORIZON).take(starts.len()).collect::<Vec<_>>(), expected);
        if end > 0 && starts.len() < 80 {
            prop_assert_eq!(after.last_start(), series.last_start().map(shifted));
        }
        for start in starts {
            let back = series.shift_between(start, shifted(start), zone);
            prop_assert!(back == by || zone.to_civil(shifted(start)).time != after_time(&series, by), "{:?} {}", back, start);
        }
    }

    /// Any text is refused as a rule, or has a canonical text that is read back.
    #[test]
    fn no_text_makes_the_parser_panic(text in "[A-Z0-9=;,+-]{0,60}|\\PC{0,300}") {
        if let Ok(rule) = text.parse::<Rule>() {
            prop_assert_eq!(rule.to_string().parse::<Rule>(), Ok(rule));
        }
    }
}
