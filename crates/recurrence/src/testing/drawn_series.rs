//! Series of random rules.

#![expect(clippy::unwrap_used, reason = "what is drawn is valid by construction, and a failed draw must fail the test")]

use kalends_time::testing::{whole_second, zone};
use proptest::prelude::*;

use super::date_rule::{DateRule, date_rule};
use super::series::length;
use crate::{Length, Series};

/// Whether the length is in whole days.
fn in_days(length: Length) -> bool {
    (1..=20).any(|days| Length::days(days) == Ok(length))
}

/// A series of any [`date_rule`], zone and [`length`], without an end, and its rule. It begins in the years 2000 to 2050.
/// Rules that never occur are left out.
pub fn series() -> impl Strategy<Value = (DateRule, Series)> {
    (date_rule(), whole_second(), zone(), length()).prop_filter_map("the rule occurs", |(rule, first, zone, length)| {
        let first = match in_days(length) {
            true => zone.to_timestamp(zone.to_civil(first).date.midnight()).unwrap(),
            false => first,
        };
        let series = Series::new(rule.rule(), first, zone, length).ok()?;
        Some((rule, series))
    })
}
