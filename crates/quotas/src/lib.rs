//! Plans, their limits and features, and the periods in which use is counted.
//!
//! The plans are data: [`Plan::limits`] and [`Plan::features`] are the only places that know a
//! figure of the specification's tables.

mod limits;
mod metric;
mod period;
mod plan;

pub use limits::{Limits, LimitsError};
pub use metric::{Counted, Metric};
pub use period::Period;
pub use plan::{Feature, Plan, PublicPlan};
