//! What the project holds itself to, and when it is missed.

use super::cases;
use crate::database::Kind;

/// A share of the floor, or of the other case, with which a case is compared.
#[derive(Debug, Clone, Copy)]
struct Held {
    case: &'static str,
    least: f64,
    /// Where it counts; `None` is everywhere.
    on: Option<Kind>,
}

/// Every ratio that is held.
const HELD: [Held; 8] = [
    everywhere(cases::GET_EVENT, 0.55),
    everywhere(cases::WARM, 0.5),
    everywhere(cases::WARM_SERIES, 0.8),
    everywhere(cases::COLD, 0.2),
    everywhere(cases::COLD_SERIES, 0.6),
    everywhere(cases::SLOTS, 0.5),
    everywhere(cases::LONG_SLOTS, 0.2),
    Held { case: cases::POST, least: 0.3, on: Some(Kind::Postgres) },
];

/// How many times faster SQLite commits what waits together than one transaction each.
pub(crate) const COMMITS_TOGETHER: f64 = 3.0;
/// Which share of a held figure is still taken for it by `--check`: runs differ by so much.
const NEARLY: f64 = 0.9;
/// Which share of the earlier binary's speed is still as fast.
const AS_FAST: f64 = 0.95;

const fn everywhere(case: &'static str, least: f64) -> Held {
    Held { case, least, on: None }
}

/// The least ratio of a case, where one is held.
pub(crate) fn least(case: &str, on: Kind) -> Option<f64> {
    let counts = |held: &&Held| held.case == case && held.on.is_none_or(|kind| kind == on);
    HELD.iter().find(counts).map(|held| held.least)
}

/// Whether a figure is below the held one by more than a tenth of that, or was not measured at all.
pub(crate) fn is_missed(measured: f64, least: f64) -> bool {
    measured.is_nan() || measured < least * NEARLY
}

/// Whether a case lost no more than a twentieth of its speed.
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
    fn every_held_ratio_is_one_of_a_case() {
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
