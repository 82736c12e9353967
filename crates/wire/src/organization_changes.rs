//! The changes of an organization.

use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::derives::{IntoParams, ToSchema};

#[cfg(feature = "parse")]
mod parse;
#[cfg(feature = "parse")]
pub use parse::{FeedQuery, WAIT_MAX};

/// Selects changes of the organization.
#[derive(Debug, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListOrganizationChanges {
    /// The `next` of the previous answer. Leave it out to start at the present end: the answer has no entries.
    #[param(example = "AQGVQkk0b3JnAAAAAAAAAAAABk4RKEkAAQ")]
    pub since: Option<String>,
    /// How many seconds to wait if there is nothing yet, 0-60. The answer comes as soon as there is something. Without
    /// `since`, nothing is waited for.
    #[param(minimum = 0, maximum = 60, default = 0)]
    pub wait: Option<i64>,
    /// Only changes of these types, separated by commas. A type is exact, such as `calendar.created`, or ends with
    /// `.*` for all types of a kind, such as `event.*`. Defaults to all.
    #[param(example = "event.*,calendar.deleted")]
    pub types: Option<String>,
    /// The maximum number of entries per page, 1-200.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub limit: Option<i64>,
}

/// A page of an organization's changes, the oldest first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "data": [{
        "type": "calendar.deleted", "at": "2026-03-02T08:00:00Z", "resource_type": "calendar",
        "resource_id": "cal_01jn8r7d2xe9tvn4a6k8m0pqrs", "version": 3,
        "body": { "id": "cal_01jn8r7d2xe9tvn4a6k8m0pqrs", "name": "Work" }
    }],
    "next": "AQGVQkk0b3JnAAAAAAAAAAAABk4RKEkAAQ",
    "has_more": false
}))]
pub struct OrganizationChanges {
    /// The changes, in the order in which they happened. All readers get the same order.
    pub data: Vec<OrganizationChange>,
    /// The token to continue with: send it as `since` in the next request, now or later.
    pub next: String,
    /// Whether there are more changes already. With `types`, a page may have no entries although there are more.
    pub has_more: bool,
}

/// A change of something in the organization.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "type": "calendar.deleted", "at": "2026-03-02T08:00:00Z", "resource_type": "calendar",
    "resource_id": "cal_01jn8r7d2xe9tvn4a6k8m0pqrs", "version": 3,
    "body": { "id": "cal_01jn8r7d2xe9tvn4a6k8m0pqrs", "name": "Work" }
}))]
pub struct OrganizationChange {
    /// What happened: a type of webhook messages, or one of the types without a message, such as `calendar.created`.
    /// Later versions may add types.
    #[serde(rename = "type")]
    #[schema(example = "calendar.deleted")]
    pub change_type: String,
    /// When the change was made.
    #[schema(value_type = String, format = DateTime)]
    pub at: Timestamp,
    /// The kind of resource: the type up to the point.
    #[schema(example = "calendar")]
    pub resource_type: String,
    /// The identifier of the resource.
    #[schema(example = "cal_01jn8r7d2xe9tvn4a6k8m0pqrs")]
    pub resource_id: String,
    /// The version of the resource after the change. Changes of a resource come in the order of its versions. For
    /// `event.reminder`, `event.started` and `event.ended`, the version that the event had at that time. 0 for
    /// `calendar.imported`.
    pub version: i64,
    /// The resource after the change, as the webhook message has it, or as the API shows it without secrets. For
    /// `event.attendee_responded`, the reply. For `event.reminder`, `event.started` and `event.ended`, the event at
    /// that time. For `proposal.responded`, `proposal.confirmed`, `proposal.cancelled` and `proposal.expired`, the
    /// outcome with `proposal_id`. For `approval.decided`, the approval without its `result`. For `calendar.imported`,
    /// `availability_rules.deleted` and `ical_subscription.deleted`, only identifiers.
    #[schema(value_type = Object)]
    pub body: Value,
}
