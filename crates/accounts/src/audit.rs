//! The vocabulary of the audit log.

use std::net::IpAddr;

use kalends_kernel::{AgentId, AuditId, Elapsed, Instant, OrgId, RequestId};

macro_rules! actions {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// What an audit entry records. Later work extends this list, which is the only one.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Action { $($(#[$doc])* $name,)* }

        impl Action {
            /// Every action.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The name in the log.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The action of that name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$name),)* _ => None }
            }
        }
    };
}

actions! {
    /// An agent signed itself up.
    AuthSignup = "auth.signup",
    /// An organization changed: verified, or put on another plan.
    OrgUpdate = "org.update",
    /// A key was made.
    KeyCreate = "key.create",
    /// An agent was created.
    AgentCreate = "agent.create",
    /// An agent was changed.
    AgentUpdate = "agent.update",
    /// An agent was decommissioned.
    AgentDelete = "agent.delete",
    /// A calendar was created.
    CalendarCreate = "calendar.create",
    /// A calendar was changed.
    CalendarUpdate = "calendar.update",
    /// A calendar was deleted.
    CalendarDelete = "calendar.delete",
    /// An event was created.
    EventCreate = "event.create",
    /// An event was changed.
    EventUpdate = "event.update",
    /// An event was deleted.
    EventDelete = "event.delete",
    /// Holds were placed together.
    HoldSetCreate = "hold_set.create",
    /// A hold, or all of a set, was confirmed.
    HoldConfirm = "hold.confirm",
    /// A hold, or all of a set, was given up.
    HoldRelease = "hold.release",
    /// A calendar was given availability rules.
    AvailabilityRulesUpdate = "availability_rules.update",
    /// A calendar's availability rules were taken away.
    AvailabilityRulesDelete = "availability_rules.delete",
}

/// One entry of the audit log, written in the transaction of the change (ruling 3.12).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// The identifier.
    pub id: AuditId,
    /// The organization.
    pub org: OrgId,
    /// What was done.
    pub action: Action,
    /// The first characters of the key that did it; `None` for an operator or a sign-up.
    pub actor_key_prefix: Option<String>,
    /// The agent concerned, if one.
    pub agent: Option<AgentId>,
    /// The identifier of what was changed.
    pub resource: String,
    /// The caller's address; `None` for an operator.
    pub ip: Option<IpAddr>,
    /// The status that the endpoint answers on success.
    pub status: u16,
    /// The HTTP method; `CLI` for an operator.
    pub method: String,
    /// The route's template.
    pub path: String,
    /// From the request to the commit.
    pub duration: Elapsed,
    /// The request.
    pub request: RequestId,
    /// When it was done.
    pub created_at: Instant,
}
