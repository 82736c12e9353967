//! Destinations: the calendars of connected accounts to which events are published.

use kalends_kernel::{CalendarId, ConnectionId, ExternalCalendarId};
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::derives::{IntoParams, ToSchema};
#[cfg(feature = "schema")]
use crate::schemas::{DestinationStatus, PolicyName, kept_copies};

#[cfg(feature = "parse")]
mod parse;
#[cfg(feature = "parse")]
pub use parse::WantedDestination;

/// Where the events of a calendar are published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(example = json!({
    "calendar_id": "cal_01jn8r6v9ke0bt3m5qz2c7xwdh", "connection_id": "con_01jn8r6v9ke0bt3m5qz2c7xwdh",
    "external_calendar_id": "xcl_01jn8r6v9ke0bt3m5qz2c7xwdh", "policy": "confirmed", "status": "active",
    "copies": { "published": 12, "diverged": 1 }, "published_at": "2026-03-02T08:00:00Z", "last_error": null,
    "created_at": "2026-03-02T07:55:00Z", "updated_at": "2026-03-02T07:55:00Z"
}))]
pub struct ExternalDestination {
    /// The calendar whose events are published.
    #[schema(value_type = String)]
    pub calendar_id: CalendarId,
    /// The connection of the account, `con_…`.
    #[schema(value_type = String)]
    pub connection_id: ConnectionId,
    /// The calendar of the account to which the events are copied, `xcl_…`.
    #[schema(value_type = String)]
    pub external_calendar_id: ExternalCalendarId,
    /// The events that are published: `none`, `confirmed` or `confirmed_tentative`.
    #[schema(value_type = PolicyName)]
    pub policy: &'static str,
    /// The status:
    ///
    /// - `active`: changes are published within seconds
    /// - `error`: the last attempt failed, and will be repeated; `last_error` says why
    /// - `reauthorization_required`: the provider no longer grants access, so nothing is published
    /// - `paused`: the connection is paused, so nothing is published
    #[schema(value_type = DestinationStatus)]
    pub status: &'static str,
    /// The number of copies, by state.
    pub copies: CopyCounts,
    /// When everything was last published. Null before the first time.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub published_at: Option<Timestamp>,
    /// The error of the last attempt. Null if it succeeded.
    pub last_error: Option<String>,
    /// When publishing was set up.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When the destination was last changed. Attempts to publish do not count as changes.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// The number of copies of a calendar's events, by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct CopyCounts {
    /// Copies that are as they were written.
    pub published: u64,
    /// Copies that a person changed or deleted. They are left alone.
    pub diverged: u64,
}

/// Where to publish the events of a calendar.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "external_calendar_id": "xcl_01jn8r6v9ke0bt3m5qz2c7xwdh", "policy": "confirmed" }))]
pub struct PutExternalDestination {
    /// Your calendar to which the events are copied, `xcl_…`.
    pub external_calendar_id: String,
    /// The events to publish: `none`, `confirmed` or `confirmed_tentative`. Defaults to `confirmed`.
    #[schema(value_type = Option<PolicyName>)]
    pub policy: Option<String>,
}

/// The options of a deletion.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DeleteExternalDestination {
    /// What happens to the copies in the account's calendar: `delete` or `keep`.
    #[param(schema_with = kept_copies, required = false)]
    pub copies: Option<String>,
}
