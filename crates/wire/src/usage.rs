//! An organization's usage and the limits of its plan.

use std::borrow::Cow;

use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::derives::ToSchema;
#[cfg(feature = "schema")]
use crate::schemas::ShownPlan;

#[cfg(feature = "parse")]
mod parse;

/// The usage of one metric that a plan limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Used {
    /// The number that exists now, or the number used since the start of the UTC month. It can exceed the limit after
    /// a change to a smaller plan.
    #[schema(example = 3)]
    pub used: u64,
    /// The limit. Null means unlimited.
    #[schema(example = 50)]
    pub limit: Option<u64>,
}

/// The usage of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UsedCalls {
    /// Authenticated requests since the start of the UTC month.
    #[schema(example = 127)]
    pub used: u64,
    /// The limit. Null means unlimited.
    #[schema(example = 50_000)]
    pub limit: Option<u64>,
    /// The number of requests left. Null means unlimited.
    #[schema(example = 49_873)]
    pub remaining: Option<u64>,
}

/// An organization's usage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Usage {
    /// The plan: `free`, `pro` or `scale`.
    #[schema(value_type = ShownPlan, example = "free")]
    pub plan: Cow<'static, str>,
    /// The start of the current UTC month.
    #[schema(value_type = String, format = DateTime)]
    pub period_start: Timestamp,
    /// The start of the next UTC month, when monthly counters reset.
    #[schema(value_type = String, format = DateTime)]
    pub period_end: Timestamp,
    /// Authenticated requests in the month. Requests answered with 401 or 429 do not count.
    pub api_calls: UsedCalls,
    /// Agents that are not decommissioned.
    pub agents: Used,
    /// Calendars that exist.
    pub calendars: Used,
    /// Events created in the month.
    pub events: Used,
    /// Webhook messages in the month, counted once per endpoint.
    pub webhook_deliveries: Used,
    /// Availability queries in the month.
    pub availability_queries: Used,
    /// iCal subscriptions.
    pub ical_subscriptions: Used,
    /// Scheduling proposals created in the month.
    pub proposals: Used,
    /// Webhook endpoints.
    pub webhook_endpoints: Used,
    /// Keys that are scoped to an agent.
    pub scoped_keys: Used,
    /// Series that have not ended.
    pub recurring_events: Used,
    /// Booking pages.
    pub booking_pages: Used,
    /// Stored events that were imported from feeds. Events of deleted subscriptions count too, and deleted events
    /// count for 30 days.
    pub imported_events: Used,
}
