//! All rules of RFC 5545, against a model that was written from its text, and laws of the searches.

use std::collections::BTreeSet;

use kalends_recurrence::testing::rfc_model::{Freq, starts};
use kalends_recurrence::testing::{any_rule, hour};
use kalends_recurrence::{
    EARLIEST_START, Exceptions, FloatingSeries, HORIZON, Length, Occurrence, RecurrenceSet, Rule, Series, Until,
};
use kalends_time::testing::zone;
use kalends_time::{CivilDate, CivilDateTime, CivilTime, SignedDuration, Span, Timestamp, Zone};
use proptest::prelude::*;
use rstest::rstest;

const DAY: i64 = 86_400;

/// A whole second: mostly in the years 2000 to 2050, else from the year 1 on.
fn first() -> impl Strategy<Value = i64> {
    let day = prop_oneof![8 => 10_957..29_585i64, 1 => -719_162..47_000i64];
    (day, prop_oneof![(0..24i64).prop_map(|hour| hour * 3_600), 0..DAY]).prop_map(|(day, second)| day * DAY + second)
}

/// A window long enough to have starts, and short enough for the model.
fn window(frequency: Freq) -> i64 {
    match frequency {
        Freq::Yearly | Freq::Monthly => 800 * DAY,
        Freq::Weekly | Freq::Daily => 200 * DAY,
        Freq::Hourly => 10 * DAY,
        Freq::Minutely => DAY,
        Freq::Secondly => 3_600,
    }
}

fn civil(local: i64) -> CivilDateTime {
    CivilDateTime::from_micros(local * 1_000_000)
}

fn local(civil: CivilDateTime) -> i64 {
    civil.as_micros().unwrap() / 1_000_000
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::EPOCH + SignedDuration::seconds(seconds)
}

proptest! {
    /// Any rule of RFC 5545 has the starts of the model that was written from the RFC's text, in both directions.
    #[test]
    fn the_engine_agrees_with_the_model(parts in any_rule(), first in first(), far in prop_oneof![Just(0), 0..14_000i64]) {
        let series = FloatingSeries::new(&parts.rule(), civil(first));
        let from = first + far * DAY;
        let to = (from + window(parts.frequency)).min(HORIZON.as_unix_seconds());
        prop_assume!(from < to);
        let expected = starts(&parts, first, from, to);
        let forwards: Vec<i64> = series.starts(civil(from)..civil(to)).map(local).collect();
        prop_assert_eq!(&forwards, &expected, "{} from {:?}", parts, civil(first));
        let mut backwards: Vec<i64> = series.starts(civil(from)..civil(to)).rev().map(local).collect();
        backwards.reverse();
        prop_assert_eq!(&backwards, &expected, "{} backwards from {:?}", parts, civil(first));
    }

    /// The canonical text and the builder give the same rule.
    #[test]
    fn every_rule_has_a_canonical_text(parts in any_rule(), end in 0..4u8) {
        let rule = parts.rule();
        let rule = match end {
            0 => rule.to_builder().count(7).build().unwrap(),
            1 => rule.to_builder().until(CivilDate::new(2030, 2, 1).unwrap()).build().unwrap(),
            2 => rule.to_builder().until(CivilDate::new(2030, 2, 1).unwrap().at(CivilTime::new(9, 0, 1).unwrap())).build().unwrap(),
            _ => rule,
        };
        let text = rule.to_string();
        prop_assert_eq!(text.parse(), Ok(rule.clone()));
        let lenient = Rule::parse_lenient(&text).unwrap();
        prop_assert_eq!(lenient.rule, rule.clone());
        prop_assert!(lenient.warnings.is_empty());
        let rebuilt = Rule::builder(rule.frequency())
            .interval(rule.interval())
            .by_month(rule.months())
            .by_week_number(rule.week_numbers())
            .by_year_day(rule.year_days())
            .by_month_day(rule.month_days())
            .by_day(rule.days())
            .by_hour(rule.hours())
            .by_minute(rule.minutes())
            .by_second(rule.seconds())
            .by_position(rule.positions())
            .week_start(rule.week_start());
        let rebuilt = match (rule.count(), rule.until()) {
            (Some(count), _) => rebuilt.count(count),
            (None, Some(until)) => rebuilt.until(until),
            (None, None) => rebuilt,
        };
        prop_assert_eq!(rebuilt.build(), Ok(rule));
    }

    /// In a zone, the starts are those of the wall clock, each as the zone reads it, in the order of time.
    #[test]
    fn a_zone_only_moves_local_starts(
        parts in any_rule(), first in first(), zone in zone(), change in any::<prop::sample::Index>(), near in any::<bool>(), before in 0..3 * DAY,
    ) {
        let first = zone.to_timestamp(civil(first)).unwrap();
        prop_assume!((EARLIEST_START..HORIZON).contains(&first));
        let Ok(series) = Series::new(parts.rule(), first, zone, hour()) else { return Ok(()) };
        // Begin shortly before a change of the clocks, if there is one.
        let first = first.as_unix_seconds();
        let changes = changes(zone, first);
        let from = match changes.is_empty() || !near {
            true => first,
            false => (changes[change.index(changes.len())] - before).max(first),
        };
        let to = (from + window(parts.frequency).min(60 * DAY)).min(HORIZON.as_unix_seconds());
        prop_assume!(from < to);
        let shown = local(zone.to_civil(at(first)));
        let floating = FloatingSeries::new(&parts.rule(), civil(shown));
        let margin = 3 * DAY;
        let expected: BTreeSet<Timestamp> = floating
            .starts(civil(from - margin)..civil(to + margin))
            .filter(|start| local(*start) != shown)
            .filter_map(|start| zone.to_timestamp(start))
            .filter(|start| *start > at(first))
            .chain([at(first)])
            .filter(|start| (at(from)..at(to)).contains(start))
            .collect();
        let expected: Vec<Timestamp> = expected.into_iter().collect();
        let forwards: Vec<Timestamp> = series.starts(at(from)..at(to)).collect();
        prop_assert_eq!(&forwards, &expected, "{} from {} in {}", parts, at(first), zone);
        let mut backwards: Vec<Timestamp> = series.starts(at(from)..at(to)).rev().collect();
        backwards.reverse();
        prop_assert_eq!(&backwards, &expected, "{} backwards from {} in {}", parts, at(first), zone);
    }

    /// Both ends of an iterator can be advanced in any order.
    #[test]
    fn both_ends_meet(parts in any_rule(), first in first(), zone in zone(), turns in prop::collection::vec(any::<bool>(), 40), skip in 1..5usize) {
        let first = zone.to_timestamp(civil(first)).unwrap();
        prop_assume!((EARLIEST_START..HORIZON).contains(&first));
        let Ok(series) = Series::new(parts.rule(), first, zone, hour()) else { return Ok(()) };
        let range = first..first + SignedDuration::seconds(window(parts.frequency) / 4);
        let all: Vec<Timestamp> = series.starts(range.clone()).take(40).collect();
        let Some(last) = all.last() else { return Ok(()) };
        let range = first..*last + SignedDuration::seconds(1);
        let exceptions: Exceptions = all.iter().copied().step_by(skip).collect();
        let expected: Vec<Timestamp> = all.iter().copied().filter(|start| !exceptions.contains(*start)).collect();
        let mut starts = series.starts(range).without(&exceptions);
        let (mut front, mut back) = (Vec::new(), Vec::new());
        for turn in turns {
            match turn {
                true => front.extend(starts.next()),
                false => back.extend(starts.next_back()),
            }
        }
        front.extend(starts.by_ref());
        prop_assert_eq!(starts.next_back(), None);
        front.extend(back.into_iter().rev());
        prop_assert_eq!(front, expected);
    }

    /// `COUNT` and `UNTIL` end a series at the start that the endless series has there.
    #[test]
    fn a_series_ends_where_its_rule_says(parts in any_rule(), first in first(), zone in zone(), count in 1..30u32) {
        let first = zone.to_timestamp(civil(first)).unwrap();
        prop_assume!((EARLIEST_START..HORIZON).contains(&first));
        let Ok(endless) = Series::new(parts.rule(), first, zone, hour()) else { return Ok(()) };
        let all: Vec<Timestamp> = endless.starts(first..HORIZON).take(count as usize).collect();
        let last = *all.last().unwrap();
        let counted = Series::new(parts.rule().to_builder().count(count).build().unwrap(), first, zone, hour()).unwrap();
        prop_assert_eq!(counted.last_start(), Some(last));
        prop_assert!(counted.starts(first..HORIZON).eq(all.iter().copied()));
        let until = parts.rule().to_builder().until(last).build().unwrap();
        let until = Series::new(until, first, zone, hour()).unwrap();
        prop_assert_eq!(until.last_start(), Some(last));
        prop_assert_eq!(until.previous_start_before(HORIZON), Some(last));
        // A stored series starts where the new one does, without counting.
        let stored = Series::from_stored(counted.rule().clone(), first, zone, hour(), counted.last_start()).unwrap();
        prop_assert!(stored.starts(first..HORIZON).eq(all));
    }

    /// A set has the occurrences of all its parts, each once, in the order of their starts.
    #[test]
    fn a_set_is_the_union_of_its_parts(
        rules in prop::collection::vec(any_rule(), 0..3),
        first in first(),
        zone in zone(),
        dates in prop::collection::vec((0..40 * 24i64, 1..30i64), 0..6),
        excluded in prop::collection::vec(0..40usize, 0..6),
        replaced in prop::collection::vec((0..40usize, 0..40 * 24i64, 1..30i64), 0..5),
        turns in prop::collection::vec(any::<bool>(), 60),
    ) {
        let first = zone.to_timestamp(civil(first)).unwrap();
        prop_assume!((EARLIEST_START..HORIZON - SignedDuration::days(100)).contains(&first));
        let later = |hours: i64| first + SignedDuration::hours(hours);
        let span = |hours: i64, long: i64| Span::new(later(hours), later(hours + long)).unwrap();
        let window = span(-3, 24 * 30);
        let mut set = RecurrenceSet::new(first, zone, hour());
        let mut given: Vec<Span> = dates.iter().map(|(hours, long)| span(*hours, *long)).collect();
        dates.iter().for_each(|(hours, long)| set.add_period(span(*hours, *long)));
        for parts in &rules {
            let Ok(series) = Series::new(parts.rule(), first, zone, hour()) else { continue };
            prop_assume!(series.starts(first..window.end()).take(3_000).count() < 3_000);
            set.add_rule(parts.rule()).unwrap();
            given.extend(series.starts(first..window.end()).map(|start| Span::new(start, start + SignedDuration::hours(1)).unwrap()));
        }
        given.push(span(0, 1));
        // The first with a start counts: a date before a rule.
        let mut known = BTreeSet::new();
        given.retain(|span| known.insert(span.start()));
        given.sort();
        let id = |index: usize| given[index % given.len()].start();
        let exceptions: Vec<Timestamp> = excluded.iter().map(|index| id(*index)).collect();
        exceptions.iter().for_each(|start| set.add_exception(*start));
        let mut overrides = std::collections::BTreeMap::new();
        for (index, hours, long) in &replaced {
            set.add_override(id(*index), span(*hours, *long));
            overrides.insert(id(*index), span(*hours, *long));
        }
        let mut expected: Vec<Occurrence> = given
            .iter()
            .filter(|span| !exceptions.contains(&span.start()) && !overrides.contains_key(&span.start()))
            .map(|span| Occurrence { span: *span, original_start: span.start(), is_override: false })
            .chain(overrides.iter().map(|(start, span)| Occurrence { span: *span, original_start: *start, is_override: true }))
            .filter(|one| one.span.overlaps(window))
            .collect();
        expected.sort_by_key(|one| (one.span.start(), one.is_override, one.original_start));
        prop_assert_eq!(set.between(window).collect::<Vec<_>>(), expected.clone());
        let mut occurrences = set.between(window);
        let (mut front, mut back) = (Vec::new(), Vec::new());
        for turn in turns {
            match turn {
                true => front.extend(occurrences.next()),
                false => back.extend(occurrences.next_back()),
            }
        }
        front.extend(occurrences);
        front.extend(back.into_iter().rev());
        prop_assert_eq!(front, expected.clone());
        let middle = later(24 * 15);
        let next = expected.iter().map(|one| one.span.start()).find(|start| *start > middle);
        if next.is_some() {
            prop_assert_eq!(set.next_start_after(middle), next);
        }
        let previous = expected.iter().map(|one| one.span.start()).rfind(|start| *start < middle);
        if previous.is_some() {
            prop_assert_eq!(set.previous_start_before(middle), previous);
        }
    }

    /// No part, however large, makes the engine panic or run without end.
    #[test]
    fn every_interval_ends(parts in any_rule(), interval in prop_oneof![1..=2_147_483_647u32, 2_147_483_000..=2_147_483_647u32], first in first(), zone in zone()) {
        let first = zone.to_timestamp(civil(first)).unwrap();
        let rule = parts.rule().to_builder().interval(interval).build().unwrap();
        let Ok(series) = Series::new(rule, first, zone, hour()) else { return Ok(()) };
        let few: Vec<Timestamp> = series.starts(first..HORIZON).take(20).collect();
        prop_assert!(few.is_sorted() && few.first() == Some(&first));
        prop_assert!(series.starts(first..HORIZON).rev().take(20).is_sorted_by(|one, other| one > other));
    }
}

/// The changes of the clocks after a time, in seconds.
fn changes(zone: Zone, from: i64) -> Vec<i64> {
    let mut changes = Vec::new();
    let mut at = at(from);
    while let Some(end) = zone.offset_period_at(at).end {
        changes.push(end.as_unix_seconds());
        at = end;
    }
    changes
}

/// Times around clock changes, with several times a day.
#[rstest]
// Clocks skip 02:00 to 03:00 on 29 March 2026: 02:30 becomes 03:30, after 03:00.
#[case(
    "FREQ=DAILY;BYHOUR=2,3;BYMINUTE=0,30",
    "2026-03-28T12:00:00Z",
    "03-29T01:00 03-29T01:30 03-30T00:00 03-30T00:30 03-30T01:00"
)]
// Clocks repeat 02:00 to 03:00 on 25 October 2026: each time is the first.
#[case("FREQ=DAILY;BYHOUR=2;BYMINUTE=0,30", "2026-10-24T12:00:00Z", "10-25T00:00 10-25T00:30 10-26T01:00 10-26T01:30")]
#[case("FREQ=HOURLY", "2026-03-28T23:00:00Z", "03-29T00:00 03-29T01:00 03-29T02:00")]
#[case("FREQ=HOURLY", "2026-10-24T23:00:00Z", "10-25T00:00 10-25T02:00 10-25T03:00")]
#[case("FREQ=MINUTELY;INTERVAL=50", "2026-03-29T00:50:00Z", "03-29T01:30 03-29T01:40 03-29T02:20 03-29T03:10")]
fn clock_changes(#[case] rule: &str, #[case] first: &str, #[case] expected: &str) {
    let series =
        Series::new(rule.parse().unwrap(), first.parse().unwrap(), "Europe/Berlin".parse().unwrap(), hour()).unwrap();
    let expected: Vec<&str> = expected.split(' ').collect();
    let starts: Vec<String> = series
        .starts(series.first_start()..HORIZON)
        .skip(1)
        .take(expected.len())
        .map(|start| start.to_string()[5..16].to_owned())
        .collect();
    assert_eq!(starts, expected);
}

#[rstest]
#[case::weeks("FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "1997-05-12", "1998-05-11 1999-05-17")]
#[case::the_weekday_of_the_start("FREQ=YEARLY;BYWEEKNO=1", "2026-01-01", "2027-01-07 2028-01-06 2029-01-04")]
#[case::week_53("FREQ=YEARLY;BYWEEKNO=53;BYDAY=SU", "2021-01-03", "2027-01-03 2033-01-02")]
#[case::the_last_week("FREQ=YEARLY;BYWEEKNO=-1;BYDAY=MO", "2025-12-22", "2026-12-28 2027-12-27")]
#[case::weeks_from_sunday("FREQ=YEARLY;BYWEEKNO=1;BYDAY=SU;WKST=SU", "2026-01-04", "2027-01-03 2028-01-02 2028-12-31")]
#[case::year_days(
    "FREQ=YEARLY;INTERVAL=3;BYYEARDAY=1,100,200",
    "1997-01-01",
    "1997-04-10 1997-07-19 2000-01-01 2000-04-09"
)]
#[case::the_last_day_of_the_year("FREQ=YEARLY;BYYEARDAY=-1,366", "2027-12-31", "2028-12-31 2029-12-31")]
#[case::the_year_1("FREQ=YEARLY;BYMONTH=12;BYDAY=-1SU;COUNT=3", "0001-06-01", "0001-12-30 0002-12-29")]
fn rules_of_the_rfc_generate_their_dates(#[case] rule: &str, #[case] first: &str, #[case] expected: &str) {
    let first: Timestamp = format!("{first}T09:00:00Z").parse().unwrap();
    let series = Series::new(rule.parse().unwrap(), first, Zone::UTC, hour()).unwrap();
    let expected: Vec<&str> = expected.split(' ').collect();
    let starts = series.starts(first..HORIZON).skip(1).take(expected.len());
    assert_eq!(starts.map(|start| start.utc_date().to_string()).collect::<Vec<_>>(), expected);
}

#[rstest]
#[case::no_such_second("FREQ=SECONDLY;INTERVAL=60;BYSECOND=1")]
#[case::no_such_time("FREQ=MINUTELY;INTERVAL=1440;BYHOUR=8")]
#[case::no_such_position("FREQ=DAILY;BYHOUR=9,10;BYSETPOS=3")]
#[case::no_such_day("FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30")]
#[case::no_such_week("FREQ=YEARLY;BYWEEKNO=1;BYMONTH=7")]
#[case::after_the_horizon(
    "FREQ=SECONDLY;INTERVAL=2147483647;BYHOUR=3;BYMINUTE=3;BYSECOND=3;BYDAY=MO;BYMONTH=1;BYMONTHDAY=1"
)]
fn rules_of_the_rfc_that_never_occur_are_refused(#[case] rule: &str) {
    let first = "2026-03-02T09:00:00Z".parse().unwrap();
    let error = Series::new(rule.parse().unwrap(), first, Zone::UTC, hour()).unwrap_err();
    assert_eq!(error, kalends_recurrence::SeriesError::NeverOccurs { first });
}

#[test]
fn counting_is_bounded() {
    let first = "2026-03-02T09:00:00Z".parse().unwrap();
    let series = |rule: &str| Series::new(rule.parse().unwrap(), first, Zone::UTC, hour());
    let error = series("FREQ=SECONDLY;COUNT=2147483647").unwrap_err();
    assert_eq!(error.to_string(), "COUNT must be at most 1000000 for this rule, got 2147483647");
    let last = series("FREQ=SECONDLY;COUNT=1000000").unwrap().last_start();
    assert_eq!(last, Some(first + SignedDuration::seconds(999_999)));
    // The horizon comes first.
    assert_eq!(
        series("FREQ=DAILY;COUNT=2147483647").unwrap().last_start(),
        Some("2099-12-31T09:00:00Z".parse().unwrap())
    );
}

#[test]
fn all_day_series_have_no_times() {
    let zone: Zone = "Europe/Berlin".parse().unwrap();
    let first = "2026-03-01T23:00:00Z".parse().unwrap();
    for rule in ["FREQ=DAILY;BYHOUR=9", "FREQ=HOURLY", "FREQ=DAILY;BYSECOND=0"] {
        let error = Series::new(rule.parse().unwrap(), first, zone, Length::days(1).unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "the rule of an all-day series must not name hours, minutes or seconds");
    }
}

#[test]
fn a_local_until_is_a_time_of_the_zone() {
    let rule: Rule = "FREQ=HOURLY;UNTIL=20260701T120000".parse().unwrap();
    assert_eq!(
        rule.until(),
        Some(Until::Local(CivilDate::new(2026, 7, 1).unwrap().at(CivilTime::new(12, 0, 0).unwrap())))
    );
    let series =
        Series::new(rule, "2026-07-01T00:00:00Z".parse().unwrap(), "Europe/Berlin".parse().unwrap(), hour()).unwrap();
    assert_eq!(series.last_start(), Some("2026-07-01T10:00:00Z".parse().unwrap()));
}

/// A day on the wall clock need not have 24 hours.
#[test]
fn nominal_lengths_follow_the_wall_clock() {
    let zone: Zone = "Europe/Berlin".parse().unwrap();
    let length = Length::nominal(1, SignedDuration::minutes(30)).unwrap();
    let series =
        Series::new("FREQ=DAILY".parse().unwrap(), "2026-03-27T11:00:00Z".parse().unwrap(), zone, length).unwrap();
    let window = Span::new("2026-03-27T00:00:00Z".parse().unwrap(), "2026-03-30T00:00:00Z".parse().unwrap()).unwrap();
    let ends: Vec<String> = series.occurrences(window).map(|span| span.end().to_string()).collect();
    assert_eq!(ends, ["2026-03-28T11:30:00Z", "2026-03-29T10:30:00Z", "2026-03-30T10:30:00Z"]);
    let mut back: Vec<String> = series.occurrences(window).rev().map(|span| span.end().to_string()).collect();
    back.reverse();
    assert_eq!(back, ends);
    assert!(
        Length::nominal(0, SignedDuration::ZERO).is_err() && Length::nominal(1, SignedDuration::seconds(-1)).is_err()
    );
    assert_eq!(Length::nominal(0, SignedDuration::hours(1)), Length::elapsed(SignedDuration::hours(1)));
}
