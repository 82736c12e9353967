//! The attendees of events.

use kalends_kernel::{AgentId, CalendarId};
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use crate::schemas::ReplyName;
use crate::{AttendeeRole, AttendeeStatus, derives::ToSchema};

#[cfg(feature = "parse")]
mod parse;
#[cfg(feature = "parse")]
pub(crate) use parse::attendees;

/// An attendee of an event, as a request names it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "email": "ada@example.com", "name": "Ada", "role": "required" }))]
pub struct NewAttendee {
    /// The address, which differs from those of the other attendees.
    #[schema(max_length = 320, example = "ada@example.com")]
    pub email: String,
    /// A name on one line, 1-200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 200)]
    pub name: Option<String>,
    /// Whether the attendee has to be there. Defaults to `required`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<AttendeeRole>,
    /// The agent of your organization that the attendee is, or that acts for the attendee, `agt_…`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
}

/// An attendee of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Attendee {
    /// The address, in lower case.
    pub email: String,
    /// The name. Absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub name: Option<String>,
    /// Whether the attendee has to be there.
    pub role: AttendeeRole,
    /// The agent that the attendee is, or that acts for the attendee, `agt_…`. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    pub agent_id: Option<AgentId>,
    /// The reply to the invitation.
    pub status: AttendeeStatus,
    /// When the attendee replied. Absent before that.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime, nullable = false)]
    pub responded_at: Option<Timestamp>,
}

/// The payload of `event.attendee_responded`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AttendeeResponded {
    /// The event, `evt_…`. For a changed occurrence of a series, `<series>_<start as YYYYMMDDTHHMMSSZ>`.
    pub event_id: String,
    /// Its calendar, `cal_…`.
    #[schema(value_type = String)]
    pub calendar_id: CalendarId,
    /// The attendee after the reply.
    pub attendee: Attendee,
    /// What the attendee wrote. Absent if there is nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub note: Option<String>,
}

/// A reply to an invitation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmitReply {
    /// The reply.
    #[schema(value_type = ReplyName, example = "accepted")]
    pub status: String,
    /// A note for the organizer, of at most 500 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 500)]
    pub note: Option<String>,
}
