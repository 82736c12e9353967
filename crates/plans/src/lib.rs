//! The plans of the service, with their limits and features, and the limits that an operator sets.
//!
//! The plans are data: their figures are only in [`Plan::limits`], [`Plan::has`] and [`Plan::availability_range`].
//! [`IpLimits`] limits requests by IP address, [`MailLimits`] limits email, and [`TrustedProxies`] finds the address of a
//! client behind proxies. [`kalends_quotas`] decides at run time whether a limit is reached.

pub mod headers;
mod ip;
mod limits;
mod mail;
mod metric;
mod plan;
mod proxies;
mod usage;

pub use ip::{IpLane, IpLimits, IpLimitsError};
pub use limits::{Limits, LimitsError};
pub use mail::{MailLimits, MailLimitsError};
pub use metric::{Counted, Metric};
pub use plan::{Feature, Plan, PlanRequired, PublicPlan, SIGN_IN_FAILURES};
pub use proxies::TrustedProxies;
pub use usage::{UsageReport, Used};
