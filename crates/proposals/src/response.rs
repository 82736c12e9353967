//! The responses of participants.

use kalends_kernel::{AgentId, ResponseId, SlotId};
use kalends_time::{Span, Timestamp};

/// The maximum number of counter-proposed times of a response.
pub const COUNTER_SLOTS_MAX: usize = 20;
/// The maximum number of characters of a message.
pub const MESSAGE_MAX: usize = 2_000;

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// The kind of a response.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub enum ResponseKind { $($(#[$doc])* $name,)* }

        impl ResponseKind {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The name in the API.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The kind with that name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$name),)* _ => None }
            }
        }
    };
}

kinds! {
    /// The participant accepts the selected slot.
    Accept = "accept",
    /// The participant declines all slots.
    #[default]
    Decline = "decline",
    /// Another time would be better. The selected slot, if any, is acceptable.
    Counter = "counter",
}

/// The fields of a new response. An acceptance must select a slot.
/// [`Proposal::respond`](crate::Proposal::respond) checks every bound.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewResponse {
    /// The kind.
    pub kind: ResponseKind,
    /// The selected slot, if any.
    pub selected: Option<SlotId>,
    /// Times that would be better, for the organizer to read: at most [`COUNTER_SLOTS_MAX`].
    pub counter_slots: Vec<Span>,
    /// A message for the organizer, at most [`MESSAGE_MAX`] characters.
    pub message: Option<String>,
}

/// A response as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The identifier.
    pub id: ResponseId,
    /// The participant that responded.
    pub agent: AgentId,
    /// The kind.
    pub kind: ResponseKind,
    /// The selected slot, if any.
    pub selected: Option<SlotId>,
    /// Times that would be better.
    pub counter_slots: Vec<Span>,
    /// A message for the organizer.
    pub message: Option<String>,
    /// When it was given.
    pub created_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_their_names_in_the_api() {
        let names: Vec<&str> = ResponseKind::ALL.iter().map(|kind| kind.as_str()).collect();
        assert_eq!(names, ["accept", "decline", "counter"]);
        assert!(ResponseKind::ALL.iter().all(|kind| ResponseKind::from_name(kind.as_str()) == Some(*kind)));
        assert_eq!(ResponseKind::from_name("maybe"), None);
    }
}
