//! Recurrence rules.

use kalends_recurrence::{HORIZON, Length, MAX_STEPS_IN_366_DAYS, Rule, Series};
use kalends_time::{SignedDuration, Timestamp, Zone};

use crate::{check_message, zone};

/// The first start: 29 February 2024, 09:30 UTC, a date that most years do not have.
const FIRST: Timestamp = Timestamp::from_micros(1_709_199_000_000_000);

/// The longest window of a rule with several times a day has this many starts.
const STARTS_MAX: usize = 2_000;

/// The starts of the expanded windows in days after the first start: at it, near it and far from it.
const WINDOWS: [i64; 3] = [0, 400, 27_000];

/// Parses the input as a rule, writes it, and expands it.
///
/// # Panics
/// If the canonical text does not parse as the same rule, if an expansion exceeds its steps or its window, or if the
/// series contradicts itself.
pub fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    match Rule::parse(text) {
        Ok(rule) => {
            written(&rule);
            for zone in [Zone::UTC, zone("Europe/Berlin")] {
                expanded(&rule, FIRST, zone);
            }
        }
        Err(error) => check_message(&error),
    }
}

pub(crate) fn written(rule: &Rule) {
    let text = rule.to_string();
    let again = Rule::parse(&text);
    assert_eq!(again.as_ref(), Ok(rule), "{text}");
    assert_eq!(again.map(|rule| rule.to_string()), Ok(text));
}

pub(crate) fn expanded(rule: &Rule, first: Timestamp, zone: Zone) {
    let Ok(length) = Length::elapsed(SignedDuration::hours(1)) else { return };
    let series = match Series::new(rule.clone(), first, zone, length) {
        Ok(series) => series,
        Err(error) => return check_message(&error),
    };
    assert!(series.is_occurrence(first), "{rule} has no first start");
    if let Some(last) = series.last_start() {
        assert!(first <= last && last < HORIZON, "{rule} ends at {last}");
        assert!(series.is_occurrence(last), "{rule} does not have its last start {last}");
        assert_eq!(series.next_start_after(last), None, "{rule} continues after {last}");
    }
    WINDOWS.iter().for_each(|days| within(&series, first + SignedDuration::days(*days)));
}

/// The starts in the 366 days from `from`, or the first of them.
fn within(series: &Series, from: Timestamp) {
    let rule = series.rule();
    let range = from..from + SignedDuration::days(366);
    let mut starts = series.starts(range.clone());
    let found: Vec<Timestamp> = starts.by_ref().take(STARTS_MAX).collect();
    let steps = starts.steps();
    assert!(rule.names_times() || steps <= MAX_STEPS_IN_366_DAYS, "{rule} takes {steps} steps from {from}");
    let range = match found.last() {
        Some(last) if found.len() == STARTS_MAX => range.start..*last + SignedDuration::micros(1),
        _ => range,
    };
    assert!(series.starts(range.clone()).rev().eq(found.iter().rev().copied()), "{rule} differs backwards from {from}");
    assert!(found.is_sorted_by(|one, next| one < next), "{rule} has starts out of order from {from}");
    assert!(found.iter().all(|start| range.contains(start) && *start < HORIZON), "{rule} leaves the window");
    // The stored series must have the same starts as the validated one.
    let stored =
        Series::from_stored(rule.clone(), series.first_start(), series.zone(), series.length(), series.last_start());
    let same = stored.is_ok_and(|stored| stored.starts(range).eq(found));
    assert!(same, "{rule} differs after storing it, from {from}");
}
