//! Strategies for property-based tests of code that uses this crate. They come with the feature `testing`.
//!
//! Times that are drawn evenly almost never meet a change of the clocks, so a test that draws them misses the faults
//! that clock changes cause. [`clock_change`] and [`span_near`] draw times around the changes of [`CLOCK_CHANGES`].
//!
//! The strategies are those of [`proptest`](mod@proptest). Use it in the version that this module re-exports.
//!
//! ```
//! use kalends_time::SignedDuration;
//! use kalends_time::testing::proptest::prelude::*;
//! use kalends_time::testing::{clock_change, config};
//!
//! proptest! {
//!     #![proptest_config(config(64))]
//!
//!     # /*
//!     #[test]
//!     # */
//!     fn clocks_show_a_time_that_leads_back((zone, change) in clock_change(), minutes in -180..180i64) {
//!         let time = change + SignedDuration::minutes(minutes);
//!         // If the clocks repeat a time, it leads back to the first of the two.
//!         let back = zone.to_timestamp(zone.to_civil(time));
//!         prop_assert!(back.is_some_and(|back| back <= time && zone.to_civil(back) == zone.to_civil(time)));
//!     }
//! }
//! # clocks_show_a_time_that_leads_back();
//! ```

#![expect(clippy::unwrap_used, reason = "what is drawn is valid by construction, and a failed draw must fail the test")]

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::contextualize_config;

use crate::{CivilDate, CivilDateTime, CivilTime, SignedDuration, Span, Timestamp, Zone};

pub use proptest;

/// Zones whose clocks change in different ways, each with a moment at which they do. The clocks of three of the zones
/// do not change. Their moments are midnights.
pub const CLOCK_CHANGES: [(&str, &str); 17] = [
    ("UTC", "2026-03-01T00:00:00Z"),
    ("Asia/Kathmandu", "2026-05-01T18:15:00Z"),
    ("Asia/Kolkata", "2026-05-01T18:30:00Z"),
    ("Europe/Berlin", "2026-03-29T01:00:00Z"),
    ("Europe/Berlin", "2026-10-25T01:00:00Z"),
    ("Europe/Dublin", "2026-03-29T01:00:00Z"),
    ("America/New_York", "2026-11-01T06:00:00Z"),
    ("Australia/Lord_Howe", "2026-10-03T15:30:00Z"),
    ("Australia/Lord_Howe", "2026-04-04T15:00:00Z"),
    ("America/Santiago", "2026-09-06T04:00:00Z"),
    ("America/Santiago", "2026-04-05T03:00:00Z"),
    ("America/Havana", "2025-11-02T05:00:00Z"),
    ("America/St_Johns", "2010-11-07T02:31:00Z"),
    ("Africa/Casablanca", "2026-02-15T02:00:00Z"),
    ("Asia/Gaza", "2026-03-28T00:00:00Z"),
    ("Antarctica/Troll", "2026-10-25T01:00:00Z"),
    ("Pacific/Apia", "2011-12-30T10:00:00Z"),
];

/// Microseconds of the years 0 to 9999, which RFC 3339 can write.
const RFC_3339: std::ops::Range<i64> = -62_167_219_200_000_000..253_402_300_800_000_000;

/// The configuration of a law that is usually tested with `cases` cases. If the environment variable `PROPTEST_CASES`
/// is set, its number of cases is used instead. Proptest's own configurations let a number in the code override it.
///
/// Proptest's other variables, such as `PROPTEST_RNG_SEED`, have the effect that proptest documents.
pub fn config(cases: u32) -> ProptestConfig {
    contextualize_config(ProptestConfig::with_cases(cases))
}

/// One of the zones of [`CLOCK_CHANGES`].
pub fn zone() -> impl Strategy<Value = Zone> {
    clock_change().prop_map(|(zone, _)| zone)
}

/// Any zone of the compiled-in database, by any of its names.
pub fn any_zone() -> impl Strategy<Value = Zone> {
    select(Zone::all().collect::<Vec<_>>())
}

/// A zone and a moment at which its clocks change: an entry of [`CLOCK_CHANGES`].
pub fn clock_change() -> impl Strategy<Value = (Zone, Timestamp)> {
    select(&CLOCK_CHANGES[..]).prop_map(|(zone, moment)| (zone.parse().unwrap(), moment.parse().unwrap()))
}

/// A timestamp from [`Timestamp::EPOCH`] up to [`Timestamp::HORIZON`], in microseconds.
pub fn timestamp() -> impl Strategy<Value = Timestamp> {
    (Timestamp::EPOCH.as_micros()..Timestamp::HORIZON.as_micros()).prop_map(Timestamp::from_micros)
}

/// A timestamp in a year from 0 to 9999. RFC 3339 has texts for these.
pub fn written_timestamp() -> impl Strategy<Value = Timestamp> {
    RFC_3339.prop_map(Timestamp::from_micros)
}

/// Any timestamp that the type can hold, often one of the first and last, or one next to the epoch.
pub fn any_timestamp() -> impl Strategy<Value = Timestamp> {
    let edge = select(vec![i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX]);
    prop_oneof![edge, any::<i64>()].prop_map(Timestamp::from_micros)
}

/// A whole second of the years 2000 to 2050.
pub fn whole_second() -> impl Strategy<Value = Timestamp> {
    (10_957..29_585i64, 0..86_400i64)
        .prop_map(|(day, second)| Timestamp::from_micros((day * 86_400 + second) * 1_000_000))
}

/// A date of the years 1970 to 2099, often the last of February or of a year.
pub fn civil_date() -> impl Strategy<Value = CivilDate> {
    let date = |year, month, day| CivilDate::new(year, month, day).unwrap();
    let ends = (1970..2100i32, any::<bool>())
        .prop_map(move |(year, of_year)| if of_year { date(year, 12, 31) } else { date(year, 3, 1).plus_days(-1) });
    prop_oneof![4 => timestamp().prop_map(Timestamp::utc_date), 1 => ends]
}

/// A time of the day: a whole hour, a whole second or any microsecond.
pub fn civil_time() -> impl Strategy<Value = CivilTime> {
    let micros = prop_oneof![
        (0..24i64).prop_map(|hour| hour * 3_600_000_000),
        (0..86_400i64).prop_map(|second| second * 1_000_000),
        0..86_400_000_000i64,
    ];
    micros.prop_map(|micros| CivilTime::from_micros(micros).unwrap())
}

/// A date of [`civil_date`] with a time of [`civil_time`].
pub fn civil_date_time() -> impl Strategy<Value = CivilDateTime> {
    (civil_date(), civil_time()).prop_map(|(date, time)| date.at(time))
}

/// A span that begins between [`Timestamp::EPOCH`] and [`Timestamp::HORIZON`] and lasts up to 40 days.
pub fn span() -> impl Strategy<Value = Span> {
    (timestamp(), prop_oneof![1..=86_400_000_000i64, 1..=40 * 86_400_000_000i64])
        .prop_map(|(start, length)| Span::new(start, start + SignedDuration::micros(length)).unwrap())
}

/// Any span of which the type can hold both ends, often up to the end of the type.
pub fn any_span() -> impl Strategy<Value = Span> {
    (any_timestamp(), any_timestamp())
        .prop_filter_map("not a span", |(one, other)| Span::new(one.min(other), one.max(other)).ok())
}

/// A span of 1 minute to 2 days that begins at most 3 days before or after a moment, a whole number of minutes from it.
pub fn span_near(moment: Timestamp) -> impl Strategy<Value = Span> {
    (-4_320..4_320i64, 1..=2_880i64).prop_map(move |(start, length)| {
        let start = moment + SignedDuration::minutes(start);
        Span::new(start, start + SignedDuration::minutes(length)).unwrap()
    })
}

/// A zone and a span near one of its clock changes: [`span_near`] a [`clock_change`].
pub fn window() -> impl Strategy<Value = (Zone, Span)> {
    clock_change().prop_flat_map(|(zone, change)| (Just(zone), span_near(change)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn clocks_change_at_the_moments() {
        let mut constant = BTreeSet::new();
        for (zone, moment) in CLOCK_CHANGES {
            let (zone, moment): (Zone, Timestamp) = (zone.parse().unwrap(), moment.parse().unwrap());
            if zone.offset_period_at(moment).start != Some(moment) {
                constant.insert(zone.name());
                assert_eq!(zone.to_civil(moment).time, CivilTime::MIDNIGHT, "{zone}");
                assert_eq!(zone.offset_period_at(moment).end, None, "{zone}");
            }
        }
        assert_eq!(constant.len(), 3, "{constant:?}");
    }

    #[test]
    fn the_usual_number_of_cases_is_kept_unless_the_environment_has_another() {
        // A run with PROPTEST_CASES gives both configurations that number.
        let (three, four) = (config(3).cases, config(4).cases);
        assert!((three, four) == (3, 4) || three == four, "{three} {four}");
        assert_eq!(config(3).rng_seed, ProptestConfig::default().rng_seed);
    }

    proptest! {
        /// The strategies of time draw what their documentation says.
        #[test]
        fn draws_are_in_their_ranges(
            time in timestamp(), written in written_timestamp(), second in whole_second(), date in civil_date(),
            span in span(), (zone, near) in window(),
        ) {
            prop_assert!((Timestamp::EPOCH..Timestamp::HORIZON).contains(&time));
            prop_assert_eq!(written.to_string().len().min(20), 20);
            prop_assert_eq!(second.as_micros() % 1_000_000, 0);
            prop_assert!((2000..=2050).contains(&second.utc_date().year_month_day().0));
            prop_assert!((1970..=2099).contains(&date.year_month_day().0));
            prop_assert!(span.length() <= SignedDuration::days(40));
            let changes = CLOCK_CHANGES.iter().filter(|(name, _)| *name == zone.name());
            let away = changes.map(|(_, moment)| {
                let away = near.start() - moment.parse::<Timestamp>().unwrap();
                away.as_micros().abs()
            });
            prop_assert!(away.min().is_some_and(|away| away <= SignedDuration::days(3).as_micros()));
        }
    }
}
