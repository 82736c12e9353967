//! No rule costs more than the limit of steps, wherever the window is.

use kalends_recurrence::testing::{date_rule, hour};
use kalends_recurrence::{Length, MAX_STEPS_IN_366_DAYS, Rule, Series};
use kalends_time::testing::{config, whole_second};
use kalends_time::{SignedDuration, Span, Timestamp, Zone};
use proptest::prelude::*;
use rstest::rstest;

fn steps(series: &Series, days_after: i64) -> u64 {
    let from = series.first_start() + SignedDuration::days(days_after);
    let mut starts = series.starts(from..from + SignedDuration::days(366));
    starts.by_ref().for_each(drop);
    starts.steps()
}

proptest! {
    #![proptest_config(config(4_000))]

    /// A year of any series costs a bounded number of steps, wherever it is.
    #[test]
    fn a_year_costs_a_bounded_number_of_steps(
        rule in date_rule(),
        first in whole_second(),
        zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "Pacific/Apia"]),
        days in -400..30_000i64,
    ) {
        let series = Series::new(rule.rule(), first, zone.parse().unwrap(), hour());
        // A rule without a date is refused. That counts as success.
        let Ok(series) = series else { return Ok(()) };
        let steps = steps(&series, days);
        prop_assert!(steps <= MAX_STEPS_IN_366_DAYS, "{} took {} steps", rule, steps);
    }
}

#[rstest]
#[case::the_most("FREQ=DAILY")]
#[case::every_week("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU")]
#[case::every_month("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR,SA,SU")]
#[case::every_year("FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU")]
#[case::seldom("FREQ=WEEKLY;INTERVAL=1000;BYMONTH=2;BYDAY=MO;BYSETPOS=1")]
fn a_far_window_costs_as_much_as_a_near_one(#[case] rule: &str, #[values("UTC", "Europe/Berlin")] zone: &str) {
    let first: Timestamp = "2020-01-01T09:00:00Z".parse().unwrap();
    let rule: Rule = rule.parse().unwrap();
    let series = Series::from_stored(rule, first, zone.parse().unwrap(), hour(), None).unwrap();
    for days in [0, 1, 3_650, 18_250, 28_000] {
        assert!(steps(&series, days) <= MAX_STEPS_IN_366_DAYS);
    }
}

/// The search for occurrences that last into the window goes back no further than their length.
#[test]
fn long_occurrences_cost_only_their_length_more() {
    let first: Timestamp = "2020-01-01T00:00:00Z".parse().unwrap();
    let rule: Rule = "FREQ=DAILY".parse().unwrap();
    for length in [Length::elapsed(SignedDuration::days(100)).unwrap(), Length::days(100).unwrap()] {
        let series = Series::from_stored(rule.clone(), first, Zone::UTC, length, None).unwrap();
        let from = first + SignedDuration::days(10_000);
        let mut spans = series.occurrences(Span::new(from, from + SignedDuration::days(266)).unwrap());
        assert!(spans.by_ref().count() >= 365);
        assert!(spans.steps() <= MAX_STEPS_IN_366_DAYS);
    }
}
