//! Strategies for property-based tests of code that uses this crate, and a plain model of RFC 5545. They come with the
//! feature `testing`.
//!
//! - [`any_rule`] draws any rule of RFC 5545, as [`Parts`](rfc_model::Parts). [`rfc_model::starts`] computes its starts
//!   from the text of section 3.3.10, period by period, without this crate's engine.
//! - [`date_rule`] draws rules whose occurrences are dates, as [`DateRule`]. They are the rules that calendars have. The
//!   service accepts them.
//! - [`series`] draws a rule with a first start, a zone and a length. [`window`] and [`placed`] put a window near it or
//!   decades after it.
//!
//! The strategies are those of the `proptest` that [`kalends_time::testing`] re-exports.
//!
//! ```
//! use kalends_recurrence::testing::{placed, series, window};
//! use kalends_time::testing::config;
//! use kalends_time::testing::proptest::prelude::*;
//!
//! proptest! {
//!     #![proptest_config(config(64))]
//!
//!     # /*
//!     #[test]
//!     # */
//!     fn occurrences_are_in_the_window_and_in_order((_, series) in series(), window in window()) {
//!         let window = placed(&series, window);
//!         let found: Vec<_> = series.occurrences(window).collect();
//!         prop_assert!(found.iter().all(|span| span.overlaps(window)));
//!         prop_assert!(found.is_sorted_by_key(|span| span.start()));
//!     }
//! }
//! # occurrences_are_in_the_window_and_in_order();
//! ```

mod any_rule;
mod date_rule;
mod drawn_series;
pub mod rfc_model;
mod series;

pub use any_rule::{any_rule, draw};
pub use date_rule::{DateRule, date_rule};
pub use drawn_series::series;
pub use series::{hour, length, placed, window};
