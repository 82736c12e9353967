//! The enumerations of the domain as JSON names. A value added there fails to compile here.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

macro_rules! mirror {
    ($($(#[$about:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident,)* })*) => {$(
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
        $(#[$about])*
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$value_doc])* $value,)* }

        impl From<kalends_calendars::$name> for $name {
            fn from(value: kalends_calendars::$name) -> Self {
                match value { $(kalends_calendars::$name::$value => Self::$value,)* }
            }
        }

        impl From<$name> for kalends_calendars::$name {
            fn from(value: $name) -> Self {
                match value { $($name::$value => Self::$value,)* }
            }
        }
    )*};
}

mirror! {
    /// What an agent is.
    AgentType {
        /// Software that acts on its own.
        Ai,
        /// A person.
        Human,
        /// Something that is booked but does not act.
        Resource,
    }

    /// Whether an agent acts.
    AgentStatus {
        /// It acts.
        Active,
        /// It rests; its keys may only read.
        Paused,
        /// It is gone for good.
        Decommissioned,
    }

    /// What the agent behind a calendar is doing.
    AgentActivity {
        /// Nothing in particular.
        Idle,
        /// At work.
        Working,
        /// Waiting.
        Waiting,
        /// In trouble.
        Error,
    }

    /// Which calendars a hold must fit.
    HoldScope {
        /// Its own.
        Calendar,
        /// All calendars of the agent that owns its own.
        Agent,
    }

    /// Why a hold ended by itself.
    HoldEnd {
        /// Its time was over.
        Expired,
        /// It gave way to a hold of a higher priority.
        Preempted,
    }

    /// Where a bridged calendar lives.
    Provider {
        /// Google.
        Google,
        /// Microsoft.
        Microsoft,
        /// Apple.
        Apple,
    }

    /// Whether an event takes place.
    EventStatus {
        /// It does.
        Confirmed,
        /// It may.
        Tentative,
        /// It does not.
        Cancelled,
        /// The time is reserved for a while.
        Hold,
    }

    /// Where an event comes from.
    EventSource {
        /// From a caller.
        Internal,
        /// From an imported feed.
        ExternalIcal,
    }
}

/// How far the copy of an event at a connected human calendar has come.
pub use ExternalSync as ExternalSyncStatus;

mirror! {
    /// How far the copy of an event at a connected human calendar has come.
    #[schema(as = ExternalSyncStatus)]
    ExternalSync {
        /// No publishing connection.
        NotConfigured,
        /// Waiting.
        Queued,
        /// Published.
        Published,
        /// Left out by the policy.
        Skipped,
        /// Given up.
        Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_domain() {
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
