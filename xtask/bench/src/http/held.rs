//! The ratios that the project must keep.

use super::cases;
use super::console::PAGES;
use super::tools;
use crate::database::Kind;

/// The minimum speed of a case, as a share of the floor or case that it is compared with.
#[derive(Debug, Clone, Copy)]
struct Held {
    case: &'static str,
    least: f64,
    /// The database on which it applies. `None` means both.
    on: Option<Kind>,
}

/// Every ratio that must be kept.
const HELD: [Held; 11] = [
    everywhere(cases::GET_EVENT, 0.55),
    everywhere(cases::WARM, 0.5),
    everywhere(cases::WARM_SERIES, 0.8),
    everywhere(cases::COLD, 0.2),
    everywhere(cases::COLD_SERIES, 0.6),
    everywhere(cases::SLOTS, 0.5),
    everywhere(cases::LONG_SLOTS, 0.2),
    everywhere(cases::TEAM_SLOTS, 0.5),
    everywhere(cases::FOLLOWED, 0.95),
    everywhere(tools::SEARCH, 0.4),
    Held { case: cases::POST, least: 0.3, on: Some(Kind::Postgres) },
];

/// The minimum speed of a page of the console, as a share of GET event.
const PAGE: f64 = 1.0 / 3.0;
/// The minimum speed of a call of a tool, as a share of its request: a call costs at most 15 % more.
const CALL: f64 = 0.87;

/// The minimum factor by which group commit is faster on SQLite than one transaction each.
pub(crate) const COMMITS_TOGETHER: f64 = 3.0;
/// The share of a ratio that `--check` still accepts, because runs vary that much.
const NEARLY: f64 = 0.9;
/// The share of the earlier binary's speed that still counts as equally fast.
const AS_FAST: f64 = 0.95;

const fn everywhere(case: &'static str, least: f64) -> Held {
    Held { case, least, on: None }
}

/// The minimum ratio of a case, if it has one.
pub(crate) fn least(case: &str, on: Kind) -> Option<f64> {
    let counts = |held: &&Held| held.case == case && held.on.is_none_or(|kind| kind == on);
    let page = || PAGES.iter().any(|(name, _)| *name == case).then_some(PAGE);
    let call = || tools::is_call(case).then_some(CALL);
    HELD.iter().find(counts).map(|held| held.least).or_else(page).or_else(call)
}

/// Whether a figure misses its minimum by more than a tenth, or was not measured.
pub(crate) fn is_missed(measured: f64, least: f64) -> bool {
    measured.is_nan() || measured < least * NEARLY
}

/// Whether a case lost at most a twentieth of its speed.
pub(crate) fn is_as_fast(now_by_before: f64) -> bool {
    now_by_before >= AS_FAST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_ratio_is_missed_by_more_than_a_tenth() {
        assert!(!is_missed(0.5, 0.5));
        assert!(!is_missed(0.451, 0.5));
        assert!(is_missed(0.449, 0.5));
        assert!(is_missed(f64::NAN, 0.5));
        assert!(is_missed(2.6, COMMITS_TOGETHER));
    }

    #[test]
    fn a_case_may_lose_a_twentieth() {
        assert!(is_as_fast(1.2) && is_as_fast(0.951));
        assert!(!is_as_fast(0.949) && !is_as_fast(f64::NAN));
    }

    #[test]
    fn every_held_ratio_belongs_to_a_compared_case() {
        let cases = cases::all("key", &super::super::data::Data::default());
        for held in HELD {
            let compared = cases.iter().any(|case| case.name == held.case && case.floor.is_some());
            assert!(compared, "{} is compared with nothing", held.case);
        }
        assert_eq!(least(cases::POST, Kind::Postgres), Some(0.3));
        assert_eq!(least(cases::POST, Kind::Sqlite), None);
        assert_eq!(least("floor: a constant", Kind::Sqlite), None);
    }
}
