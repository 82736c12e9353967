//! Plans, their limits and features, and the periods in which use is counted.
//!
//! The plans are data: their figures are only in [`Plan::limits`], [`Plan::has`] and [`Plan::availability_range`].
//! The decisions at run time are pure: [`Rate`] limits speed, [`Lease`] limits use in a month, [`IpLimits`] limits
//! requests by IP address, and [`TrustedProxies`] finds the address of a client behind proxies.

pub mod headers;
mod ip;
pub mod lease;
mod limits;
mod mail;
mod metric;
mod period;
mod plan;
mod proxies;
mod rate;
mod usage;

pub use ip::{IpKey, IpLane, IpLimits, IpLimitsError};
pub use lease::{Debit, Lease, Refund, Take};
pub use limits::{Limits, LimitsError};
pub use mail::{MailLimits, MailLimitsError};
pub use metric::{Counted, Metric};
pub use period::Period;
pub use plan::{Feature, Plan, PlanRequired, PublicPlan};
pub use proxies::TrustedProxies;
pub use rate::{Rate, RateDecision, RateState, SIGN_IN_FAILURES};
pub use usage::{UsageReport, Used};
