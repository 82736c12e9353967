//! The enumerations of the domain as JSON names. A value that is added to the domain but not here fails to compile.

use serde::{Deserialize, Serialize};

use crate::derives::ToSchema;

macro_rules! mirror {
    ($($(#[$about:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident,)* })*) => {$(
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
        $(#[$about])*
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$value_doc])* $value,)* }

        #[cfg(feature = "parse")]
        impl From<kalends_calendars::$name> for $name {
            fn from(value: kalends_calendars::$name) -> Self {
                match value { $(kalends_calendars::$name::$value => Self::$value,)* }
            }
        }

        #[cfg(feature = "parse")]
        impl From<$name> for kalends_calendars::$name {
            fn from(value: $name) -> Self {
                match value { $($name::$value => Self::$value,)* }
            }
        }
    )*};
}

mirror! {
    /// The kind of an agent.
    AgentType {
        /// Software that acts on its own.
        Ai,
        /// A person.
        Human,
        /// A thing that is booked but does not act, such as a room.
        Resource,
    }

    /// The status of an agent.
    AgentStatus {
        /// The agent is in use.
        Active,
        /// The agent is paused. Its keys may only read.
        Paused,
        /// The agent was removed permanently.
        Decommissioned,
    }

    /// What the agent of a calendar is doing.
    AgentActivity {
        /// Nothing in particular.
        Idle,
        /// Working.
        Working,
        /// Waiting.
        Waiting,
        /// Failing.
        Error,
    }

    /// Whether events on a calendar may overlap.
    Conflicts {
        /// They may.
        Allow,
        /// A write that would block a time that something else blocks is refused.
        Refuse,
    }

    /// The zone that a series follows if its request names none.
    RecurrenceDefault {
        /// UTC.
        Utc,
        /// The zone of its calendar.
        Calendar,
    }

    /// The occurrences that a change of one occurrence of a series affects.
    SeriesScope {
        /// That occurrence alone.
        This,
        /// That occurrence and all later ones.
        Following,
        /// All occurrences.
        All,
    }

    /// Whether an attendee has to be there.
    AttendeeRole {
        /// Has to be there.
        Required,
        /// May be there.
        Optional,
    }

    /// An attendee's reply to the invitation.
    AttendeeStatus {
        /// There is none yet.
        NeedsAction,
        /// The attendee will be there.
        Accepted,
        /// The attendee may be there.
        Tentative,
        /// The attendee will not be there.
        Declined,
    }

    /// Which calendars a hold must fit.
    HoldScope {
        /// Only its own calendar.
        Calendar,
        /// All calendars of the agent that owns the hold's calendar.
        Agent,
    }

    /// Why a hold ended without being confirmed or released.
    HoldEnd {
        /// It expired.
        Expired,
        /// A hold of a higher priority pre-empted it.
        Preempted,
    }

    /// The provider of a bridged calendar.
    Provider {
        /// Google.
        Google,
        /// Microsoft.
        Microsoft,
        /// Apple.
        Apple,
    }

    /// The status of an event.
    EventStatus {
        /// The event takes place.
        Confirmed,
        /// The event may take place.
        Tentative,
        /// The event does not take place.
        Cancelled,
        /// The event is a hold: it keeps its time for a while.
        Hold,
    }

    /// The origin of an event.
    EventSource {
        /// A caller created it.
        Internal,
        /// It was imported from a feed.
        ExternalIcal,
    }
}

/// The state of an event's copy on a connected human calendar.
pub use ExternalSync as ExternalSyncStatus;

mirror! {
    /// The state of an event's copy on a connected human calendar.
    #[schema(as = ExternalSyncStatus)]
    ExternalSync {
        /// The events of the calendar are not published.
        NotConfigured,
        /// Waiting to be published.
        Queued,
        /// Published.
        Published,
        /// Left out by the publication policy.
        Skipped,
        /// The last attempt to publish failed. It will be repeated.
        Failed,
        /// A person changed or deleted the copy, so it is left alone.
        Diverged,
    }
}

/// A capability that every connection link asks for: reading busy times.
#[cfg(feature = "parse")]
pub(crate) const AVAILABILITY: &str = "availability";
/// A capability that a connection link can ask for in addition: publishing events to the calendar.
#[cfg(feature = "parse")]
pub(crate) const PUBLISHING: &str = "publishing";

/// Deletes the copies of a destination with it.
#[cfg(feature = "parse")]
pub(crate) const DELETE_COPIES: &str = "delete";
/// Leaves the copies of a destination at the provider.
#[cfg(feature = "parse")]
pub(crate) const KEEP_COPIES: &str = "keep";

/// How current busy times can be.
#[cfg(feature = "parse")]
pub(crate) const WORTHS: [&str; 4] = ["unread", "fresh", "stale", "unavailable"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_the_domain() {
        for status in kalends_calendars::EventStatus::ALL {
            let wire = serde_json::to_value(EventStatus::from(*status)).unwrap();
            assert_eq!(wire, status.as_str());
        }
        for source in kalends_calendars::EventSource::ALL {
            assert_eq!(serde_json::to_value(EventSource::from(*source)).unwrap(), source.as_str());
        }
        for sync in kalends_calendars::ExternalSync::ALL {
            assert_eq!(serde_json::to_value(ExternalSync::from(*sync)).unwrap(), sync.as_str());
        }
    }
}
