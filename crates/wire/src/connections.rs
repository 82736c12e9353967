//! Connected human calendars and grants, as the console shows them.

use std::{borrow::Cow, fmt};

use kalends_kernel::{AgentId, ConnectionId, ExternalCalendarId, GrantId};
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use crate::schemas::{AttentionStatus, ConnectionStatusName, DataWorth, GrantAudience, ProviderName, RefreshingStatus};
use crate::{
    console::secret,
    derives::ToSchema,
    patch::{Given, given},
};

#[cfg(feature = "parse")]
mod parse;
#[cfg(feature = "parse")]
pub use parse::{CheckedCaldav, WantedGrant, provider_names};

/// A connected account of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "con_01jn8r6v9ke0bt3m5qz2c7xwdh", "provider": "google", "label": "Work", "status": "active",
    "last_refreshed_at": "2026-03-02T08:00:00Z", "next_refresh_at": "2026-03-02T08:05:00Z", "data": "fresh",
    "last_error": null,
    "created_at": "2026-03-02T07:55:00Z", "updated_at": "2026-03-02T07:55:00Z"
}))]
pub struct CalendarConnection {
    /// The identifier, `con_…`.
    #[schema(value_type = String)]
    pub id: ConnectionId,
    /// The provider: `google`, `microsoft`, `caldav`, or `example` for calendars that you draw.
    #[schema(value_type = ProviderName)]
    pub provider: &'static str,
    /// Your label for the connection.
    pub label: Option<String>,
    /// The status:
    ///
    /// - `active`: busy times are read regularly
    /// - `error`: the last refresh failed or was incomplete, and will be repeated
    /// - `reauthorization_required`: the provider no longer grants access or accepts the password, or the stored access
    ///   cannot be read; `last_error` says which
    /// - `paused`: busy times are not read
    #[schema(value_type = ConnectionStatusName)]
    pub status: &'static str,
    /// When the busy times were last read. Null before the first time.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_refreshed_at: Option<Timestamp>,
    /// When the busy times are read next. Absent while they are not read: the connection is paused, or waits for you.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime, nullable = false)]
    pub next_refresh_at: Option<Timestamp>,
    /// True if events can be published to the account, because its user consented to it. Otherwise absent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub publishing: bool,
    /// How current the busy times are: `unread`, `fresh`, `stale` (older than 1 hour) or `unavailable` (older than 24
    /// hours).
    #[schema(value_type = DataWorth)]
    pub data: &'static str,
    /// The error of the last refresh. Null if it succeeded.
    pub last_error: Option<String>,
    /// When the account was connected.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When the connection was last changed. Refreshes do not count as changes.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// The payload of `connection.needs_attention`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "connection_id": "con_01jn8r6v9ke0bt3m5qz2c7xwdh", "provider": "google", "status": "reauthorization_required"
}))]
pub struct ConnectionNeedsAttention {
    /// The connection, `con_…`. Only its user can see more of it.
    #[schema(value_type = String)]
    pub connection_id: ConnectionId,
    /// The provider of the account.
    #[schema(value_type = ProviderName)]
    pub provider: Cow<'static, str>,
    /// Why the connection needs its user:
    ///
    /// - `reauthorization_required`: the provider no longer grants access, and nothing is read until the user gives
    ///   access again
    /// - `error`: ten refreshes in a row have failed, and they are repeated
    #[schema(value_type = AttentionStatus)]
    pub status: Cow<'static, str>,
}

/// The fields of a connection that a PATCH can change.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "label": "Work" }))]
pub struct UpdateConnection {
    /// Your label for the connection, 1-255 characters. Null clears it.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 255)]
    pub label: Given<String>,
}

/// The answer to a request for a refresh.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Refreshing {
    /// Always `refreshing`.
    #[schema(value_type = RefreshingStatus, example = "refreshing")]
    pub status: Cow<'static, str>,
}

impl Default for Refreshing {
    fn default() -> Self {
        Self { status: "refreshing".into() }
    }
}

/// The options of a new connection.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "connection_link_id": "cln_01jn8r6v9ke0bt3m5qz2c7xwdh" }))]
pub struct StartConnection {
    /// The connection link that you opened, `cln_…`, if a link asked for the connection.
    pub connection_link_id: Option<String>,
    /// Whether to ask for access to write events too, so that events can be published. Defaults to false, or to what
    /// the link asks for.
    #[serde(default)]
    pub publishing: bool,
}

/// The options of a new consent.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "publishing": true }))]
pub struct ReauthorizeConnection {
    /// Whether to ask for access to write events too, so that events can be published. Defaults to the access that the
    /// connection has.
    pub publishing: Option<bool>,
}

/// The address on which to consent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({ "authorization_url": "https://accounts.google.com/o/oauth2/v2/auth?response_type=code&state=…" }))]
pub struct ConsentBegun {
    /// The provider's page. It is valid for 10 minutes, in the browser that received this answer's cookie.
    #[schema(format = "uri")]
    pub authorization_url: String,
}

/// An account at a CalDAV server to connect.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "url": "https://caldav.example.com", "username": "ada@example.com", "password": "abcd-efgh-ijkl-mnop",
    "link_id": "cln_01jn8r6v9ke0bt3m5qz2c7xwdh"
}))]
pub struct ConnectCaldav {
    /// The address of the server, at most 2,048 characters. `https://` may be left out.
    #[schema(min_length = 1, max_length = 2048)]
    pub url: String,
    /// Your user name there, 1-255 characters without a colon.
    #[schema(min_length = 1, max_length = 255)]
    pub username: String,
    /// Your password there, 1-1,024 characters. Many providers want an app password, which is for this app alone.
    #[serde(deserialize_with = "secret")]
    #[schema(min_length = 1, max_length = 1024, format = Password)]
    pub password: String,
    /// The connection link that you opened, `cln_…`, if a link asked for the connection.
    pub link_id: Option<String>,
}

impl fmt::Debug for ConnectCaldav {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectCaldav").finish_non_exhaustive()
    }
}

/// The options of a new example connection.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "link_id": "cln_01jn8r6v9ke0bt3m5qz2c7xwdh" }))]
pub struct ConnectExample {
    /// The connection link that you opened, `cln_…`, if a link asked for the connection.
    pub link_id: Option<String>,
}

/// The calendars of an example connection, with the busy times that you drew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(example = json!({ "calendars": [
    { "name": "Work", "busy": [{ "start_time": "2026-03-09T09:00:00Z", "end_time": "2026-03-09T11:30:00Z" }] },
    { "name": "Private", "busy": [] }
] }))]
pub struct DrawnCalendars {
    /// The calendars. The first is the primary one.
    pub calendars: Vec<DrawnCalendar>,
}

/// A calendar of an example connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DrawnCalendar {
    /// Its name.
    pub name: String,
    /// When it is busy, in order. Times that overlapped or touched are one.
    pub busy: Vec<DrawnTime>,
}

/// A busy time of an example calendar.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DrawnTime {
    /// The start.
    #[schema(value_type = String, format = DateTime)]
    pub start_time: Timestamp,
    /// The end, exclusive.
    #[schema(value_type = String, format = DateTime)]
    pub end_time: Timestamp,
}

/// New busy times of example calendars.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "calendars": [
    { "name": "Work", "busy": [{ "start_time": "2026-03-09T09:00:00Z", "end_time": "2026-03-09T11:30:00Z" }] }
] }))]
pub struct ReplaceDrawing {
    /// The calendars whose busy times are replaced, each once. The others stay as they are.
    #[schema(min_items = 1, max_items = 2)]
    pub calendars: Vec<ReplaceCalendar>,
}

/// New busy times of an example calendar.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplaceCalendar {
    /// The name of the calendar, as the drawing lists it.
    pub name: String,
    /// When it is busy, in any order: at most 1,000 times. They may overlap.
    #[schema(max_items = 1000)]
    pub busy: Vec<ReplaceTime>,
}

/// A new busy time of an example calendar.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplaceTime {
    /// The start (RFC 3339).
    #[schema(format = DateTime)]
    pub start_time: String,
    /// The end, exclusive (RFC 3339).
    #[schema(format = DateTime)]
    pub end_time: String,
}

/// A calendar of a connected account. Agents' keys never see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "xcl_01jn8r6v9ke0bt3m5qz2c7xwdh", "connection_id": "con_01jn8r6v9ke0bt3m5qz2c7xwdh", "name": "Private",
    "primary": true, "counts": true, "last_read_at": "2026-03-02T08:00:00Z", "data": "fresh"
}))]
pub struct ExternalCalendar {
    /// The identifier, `xcl_…`.
    #[schema(value_type = String)]
    pub id: ExternalCalendarId,
    /// The connection to which the calendar belongs.
    #[schema(value_type = String)]
    pub connection_id: ConnectionId,
    /// The calendar's name at the provider.
    pub name: String,
    /// Whether it is the account's primary calendar.
    pub primary: bool,
    /// Whether a grant makes the calendar count as busy for an agent.
    pub counts: bool,
    /// When the busy times were last read. Null if they are not read.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_read_at: Option<Timestamp>,
    /// How current the busy times are: `unread`, `fresh`, `stale` (older than 1 hour) or `unavailable` (older than 24
    /// hours).
    #[schema(value_type = DataWorth)]
    pub data: &'static str,
}

/// The calendars of a connected account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ExternalCalendars {
    /// All calendars of the account, at most 100.
    pub data: Vec<ExternalCalendar>,
}

/// A grant: the agents for which human calendars count as busy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "grt_01jn8r6v9ke0bt3m5qz2c7xwdh", "external_calendar_ids": ["xcl_01jn8r6v9ke0bt3m5qz2c7xwdh"],
    "audience": "selected", "agent_ids": ["agt_01jn8r6v9ke0bt3m5qz2c7xwdh"], "created_at": "2026-03-02T08:00:00Z"
}))]
pub struct AvailabilityGrant {
    /// The identifier, `grt_…`.
    #[schema(value_type = String)]
    pub id: GrantId,
    /// The human calendars.
    #[schema(value_type = Vec<String>)]
    pub external_calendar_ids: Vec<ExternalCalendarId>,
    /// The audience: `selected`, `all_current` or `all`.
    #[schema(value_type = GrantAudience)]
    pub audience: &'static str,
    /// The agents: those that were selected, or those that existed when the grant was made. Null with `all`, which
    /// covers future agents too.
    #[schema(value_type = Option<Vec<String>>)]
    pub agent_ids: Option<Vec<AgentId>>,
    /// When the grant was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// The fields of a new grant.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "external_calendar_ids": ["xcl_01jn8r6v9ke0bt3m5qz2c7xwdh"], "audience": "selected",
    "agent_ids": ["agt_01jn8r6v9ke0bt3m5qz2c7xwdh"], "connection_link_id": "cln_01jn8r6v9ke0bt3m5qz2c7xwdh"
}))]
pub struct CreateGrant {
    /// Your calendars whose busy times count, `xcl_…`: 1-50.
    #[schema(min_items = 1, max_items = 50)]
    pub external_calendar_ids: Vec<String>,
    /// The audience: `selected` (the agents in `agent_ids`), `all_current` (every agent that exists now) or `all`
    /// (future agents and the organization's shared calendars too).
    #[schema(value_type = GrantAudience, example = "selected")]
    pub audience: String,
    /// The agents, `agt_…`: 1-500 with `selected`. Leave it out with any other audience.
    #[schema(min_items = 1, max_items = 500)]
    pub agent_ids: Option<Vec<String>>,
    /// The connection link that you opened, `cln_…`, if a link asked for the grant. The grant completes the link.
    pub connection_link_id: Option<String>,
}
