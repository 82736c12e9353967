//! The results equal those of the crate `rrule` for everything that both define: UTC, starts that the rule itself
//! generates, and nothing that the crate decides differently from RFC 5545 (see [`compared`]).

use chrono::{DateTime, Utc};
use kalends_recurrence::testing::{DateRule, date_rule, hour};
use kalends_recurrence::{Frequency, HORIZON, Rule, Series};
use kalends_time::testing::{config, whole_second};
use kalends_time::{SignedDuration, Span, Timestamp, Zone};
use proptest::prelude::*;
use rrule::{RRule, RRuleSet, Tz, Unvalidated};

/// The number of occurrences that are compared for each rule.
const AT_MOST: usize = 12;

/// The maximum number of periods of a rule to ask the other crate about, because it examines every one of them.
const PERIODS: i64 = 50;

/// How the series ends.
#[derive(Debug, Clone, Copy)]
enum End {
    Count(u16),
    /// This long after the start.
    Until(SignedDuration),
    Never,
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![
        (1..=15u16).prop_map(End::Count),
        (0..1_000 * 86_400i64).prop_map(|seconds| End::Until(SignedDuration::seconds(seconds))),
        Just(End::Never)
    ]
}

/// Excludes everything in which the other crate differs from RFC 5545 section 3.3.10:
///
/// - `BYDAY` with both plain and numbered weekdays: it takes the days that satisfy both, the RFC those that satisfy
///   either;
/// - `BYSETPOS` under `WEEKLY`: it lets the first week begin at the start, the RFC at `WKST`;
/// - it refuses `BYSETPOS` over 31 and the fifth weekday from the end under `MONTHLY`, and the 53rd from the end
///   under `YEARLY`.
fn compared(drawn: &DateRule) -> bool {
    let within_month = drawn.positions.iter().all(|position| position.abs() <= 31)
        && drawn.days.iter().all(|(ordinal, _)| *ordinal != -5);
    let by_frequency = match drawn.frequency {
        Frequency::Weekly => drawn.positions.is_empty(),
        Frequency::Monthly => within_month,
        Frequency::Yearly => drawn.days.iter().all(|(ordinal, _)| *ordinal != -53),
        _ => true,
    };
    by_frequency && !drawn.mixes_ordinals()
}

fn theirs(text: &str, first: Timestamp) -> RRuleSet {
    let start = DateTime::<Utc>::from_timestamp_micros(first.as_micros()).unwrap().with_timezone(&Tz::UTC);
    let rule: RRule<Unvalidated> = text.parse().unwrap();
    rule.build(start).unwrap().limit()
}

fn compare(drawn: &DateRule, anywhere: Timestamp, end: End, window: (i64, i64)) -> Result<(), TestCaseError> {
    // Start on a date that this crate generates, and check whether the other crate agrees.
    let Some(first) = drawn.series(anywhere, Zone::UTC).ok().and_then(|series| series.next_start_after(anywhere))
    else {
        return Err(TestCaseError::reject("never occurs again"));
    };
    let endless = drawn.series(first, Zone::UTC).unwrap();
    let horizon = (first + period(drawn.frequency, drawn.interval * PERIODS)).min(HORIZON);

    let text = match end {
        End::Count(count) => format!("{drawn};COUNT={count}"),
        End::Until(after) => format!("{drawn};UNTIL={}", compact(first + after)),
        End::Never => drawn.to_string(),
    };
    let rule: Rule = text.parse().unwrap();
    let series = Series::new(rule, first, Zone::UTC, hour()).unwrap();
    let got: Vec<Timestamp> = series.starts(first..horizon).take(AT_MOST).collect();
    // The end can only be compared if the other crate would soon find another start without it.
    let ends = got.len() < AT_MOST
        && endless.starts(got.last().map_or(first, |last| *last + SignedDuration::micros(1))..horizon).next().is_some();
    let expected: Vec<Timestamp> = theirs(&text, first)
        .into_iter()
        .map(|time| Timestamp::from_micros(time.timestamp_micros()))
        .take(got.len() + usize::from(ends))
        .collect();
    prop_assert_eq!(&got, &expected, "{} from {}", text, first);
    if ends {
        prop_assert_eq!(series.last_start(), expected.last().copied(), "{} from {}", text, first);
    }
    // Compare a window somewhere among them too.
    let from = first + SignedDuration::seconds(window.0);
    let window = Span::new(from, from + SignedDuration::seconds(window.1)).unwrap();
    if ends || expected.last().is_some_and(|last| *last >= window.end()) {
        let spans = expected.iter().map(|start| Span::new(*start, *start + SignedDuration::hours(1)).unwrap());
        let inside: Vec<Span> = spans.filter(|span| span.overlaps(window)).collect();
        prop_assert_eq!(series.occurrences(window).collect::<Vec<_>>(), inside, "{} from {}", text, first);
    }
    Ok(())
}

fn period(frequency: Frequency, count: i64) -> SignedDuration {
    let days = match frequency {
        Frequency::Weekly => 7,
        Frequency::Monthly => 28,
        Frequency::Yearly => 200,
        _ => 1,
    };
    SignedDuration::days(days * count)
}

fn compact(instant: Timestamp) -> String {
    instant.to_string().replace(['-', ':'], "")
}

fn drawn_of(frequency: Frequency) -> impl Strategy<Value = DateRule> {
    let own = move |drawn: DateRule| {
        let mut drawn = DateRule { frequency, ..drawn };
        if matches!(frequency, Frequency::Daily | Frequency::Weekly) {
            drawn.days.iter_mut().for_each(|day| day.0 = 0);
        }
        if frequency == Frequency::Weekly {
            drawn.month_days.clear();
        }
        if frequency == Frequency::Monthly || !drawn.months.is_empty() {
            drawn.days.iter_mut().for_each(|day| day.0 %= 6);
        }
        if drawn.days.is_empty() && drawn.month_days.is_empty() && drawn.months.is_empty() {
            drawn.positions.clear();
        }
        drawn
    };
    date_rule().prop_map(own).prop_filter("both define it", compared)
}

/// The configuration for laws that reject up to 20 draws for each case, or more if there are few cases.
fn rejecting(config: ProptestConfig) -> ProptestConfig {
    ProptestConfig { max_global_rejects: config.cases.saturating_mul(20).max(config.max_global_rejects), ..config }
}

proptest! {
    // 4 times 6,000 rules, different ones in every run. Rules that never occur again are rejected.
    #![proptest_config(rejecting(config(6_000)))]

    /// Daily rules have the occurrences that the crate `rrule` finds.
    #[test]
    fn daily(rule in drawn_of(Frequency::Daily), at in whole_second(), end in end(), window in window()) {
        compare(&rule, at, end, window)?;
    }

    /// Weekly rules have the occurrences that the crate `rrule` finds.
    #[test]
    fn weekly(rule in drawn_of(Frequency::Weekly), at in whole_second(), end in end(), window in window()) {
        compare(&rule, at, end, window)?;
    }

    /// Monthly rules have the occurrences that the crate `rrule` finds.
    #[test]
    fn monthly(rule in drawn_of(Frequency::Monthly), at in whole_second(), end in end(), window in window()) {
        compare(&rule, at, end, window)?;
    }

    /// Yearly rules have the occurrences that the crate `rrule` finds.
    #[test]
    fn yearly(rule in drawn_of(Frequency::Yearly), at in whole_second(), end in end(), window in window()) {
        compare(&rule, at, end, window)?;
    }
}

/// Seconds from the start to the window, and the length of the window in seconds.
fn window() -> impl Strategy<Value = (i64, i64)> {
    (-86_400 * 400..86_400 * 800i64, 1..86_400 * 366i64)
}
