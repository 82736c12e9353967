//! Connection links, on which a user consents to connect a calendar.

use std::borrow::Cow;

use kalends_kernel::{AgentId, CalendarId, ConnectionId, ConnectionLinkId};
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::derives::ToSchema;
#[cfg(feature = "schema")]
use crate::schemas::{CapabilityName, ConnectionLinkStatus, PolicyName, ProviderName};

#[cfg(feature = "parse")]
mod parse;

/// The fields of a new connection link.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "capabilities": ["availability"], "publication_policy": "none" }))]
pub struct CreateConnectionLink {
    /// The access to ask for: `availability`, or `availability` and `publishing` to publish events to the calendar.
    /// Defaults to `availability`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<CapabilityName>>, min_items = 1, max_items = 2, example = json!(["availability"]))]
    pub capabilities: Option<Vec<String>>,
    /// The events to publish: `none`, `confirmed` or `confirmed_tentative`. Defaults to `confirmed` with
    /// `publishing`, and to `none` without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PolicyName>)]
    pub publication_policy: Option<String>,
}

/// A connection link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "cln_01jn8r6v9ke0bt3m5qz2c7xwdh", "calendar_id": "cal_01jn8r6v9ke0bt3m5qz2c7xwdh", "status": "awaiting_human",
    "capabilities": ["availability"], "publication_policy": "none", "expires_at": "2026-03-02T08:15:00Z",
    "connection_id": null
}))]
pub struct ConnectionLink {
    /// The identifier, `cln_…`.
    #[schema(value_type = String)]
    pub id: ConnectionLinkId,
    /// The calendar to which a human calendar is to be connected.
    #[schema(value_type = String)]
    pub calendar_id: CalendarId,
    /// The status: `awaiting_human`, `in_progress` (a user has opened the link), `completed`, `declined`, `expired`
    /// or `cancelled`.
    #[schema(value_type = ConnectionLinkStatus)]
    pub status: Cow<'static, str>,
    /// The access that the link asks for: `availability`, possibly with `publishing`.
    #[schema(value_type = Vec<CapabilityName>)]
    pub capabilities: Vec<Cow<'static, str>>,
    /// The events to publish: `none`, `confirmed` or `confirmed_tentative`.
    #[schema(value_type = PolicyName)]
    pub publication_policy: Cow<'static, str>,
    /// When the link expires if it is not completed: 15 minutes after its creation, or 30 minutes after a user opened
    /// it.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
    /// The connection that the user made, `con_…`. Null before that.
    #[schema(value_type = Option<String>)]
    pub connection_id: Option<ConnectionId>,
}

/// A connection link, with its address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "cln_01jn8r6v9ke0bt3m5qz2c7xwdh", "calendar_id": "cal_01jn8r6v9ke0bt3m5qz2c7xwdh", "status": "awaiting_human",
    "capabilities": ["availability"], "publication_policy": "none", "expires_at": "2026-03-02T08:15:00Z",
    "connection_id": null, "setup_url": "https://kalends.example/console/connect#GCUQ1kCtWL3ZIG3FEPyvJ0sGTTnVYYLhxsXMzY0C6P8",
    "reused": false
}))]
pub struct NewConnectionLink {
    /// The link.
    #[serde(flatten)]
    pub link: ConnectionLink,
    /// The address to send the user to. It works for one user and is shown only in this answer. Null if an open link is
    /// reused.
    #[schema(format = "uri")]
    pub setup_url: Option<String>,
    /// Whether the calendar already had an open link, which this answer returns.
    pub reused: bool,
}

/// The token from a link's address, sent by the user who opened the link.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "token": "GCUQ1kCtWL3ZIG3FEPyvJ0sGTTnVYYLhxsXMzY0C6P8" }))]
pub struct OpenConnectionLink {
    /// The part of `setup_url` after the `#`.
    #[schema(min_length = 1, max_length = 64)]
    pub token: String,
}

/// A connection link, as shown to the user who opened it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "cln_01jn8r6v9ke0bt3m5qz2c7xwdh", "calendar_id": "cal_01jn8r6v9ke0bt3m5qz2c7xwdh", "status": "in_progress",
    "capabilities": ["availability"], "publication_policy": "none", "expires_at": "2026-03-02T08:30:00Z",
    "connection_id": null, "calendar_name": "Meetings", "agent_id": "agt_01jn8r6v9ke0bt3m5qz2c7xwdh",
    "agent_name": "Scheduler", "providers": ["google"]
}))]
pub struct FollowedLink {
    /// The link.
    #[serde(flatten)]
    pub link: ConnectionLink,
    /// The name of the calendar that asks for access to yours. Null if it was deleted.
    pub calendar_name: Option<String>,
    /// The agent that asks. Null for the organization.
    #[schema(value_type = Option<String>)]
    pub agent_id: Option<AgentId>,
    /// The agent's name.
    pub agent_name: Option<String>,
    /// The providers that can be connected with the access that the link asks for: `google`, `microsoft`, both or none.
    #[schema(value_type = Vec<ProviderName>)]
    pub providers: Vec<&'static str>,
}
