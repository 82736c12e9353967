//! What participants say.

use kalends_kernel::{AgentId, ResponseId, SlotId, Span, Timestamp};

/// The most times that a response offers instead.
pub const COUNTER_SLOTS_MAX: usize = 20;
/// The most characters of a message.
pub const MESSAGE_MAX: usize = 2_000;

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// What a participant says.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub enum ResponseKind { $($(#[$doc])* $name,)* }

        impl ResponseKind {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The name in the API.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The kind of that name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$name),)* _ => None }
            }
        }
    };
}

kinds! {
    /// The selected slot will do.
    Accept = "accept",
    /// None will do.
    #[default]
    Decline = "decline",
    /// Another time would be better; the selected slot, if any, would do.
    Counter = "counter",
}

/// What a participant wants to say. An acceptance names a slot.
/// [`Proposal::respond`](crate::Proposal::respond) checks every bound.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewResponse {
    /// What it says.
    pub kind: ResponseKind,
    /// The slot in question.
    pub selected: Option<SlotId>,
    /// Times that would be better, for the organizer to read: at most [`COUNTER_SLOTS_MAX`].
    pub counter_slots: Vec<Span>,
    /// At most [`MESSAGE_MAX`] characters for the organizer.
    pub message: Option<String>,
}

/// What a participant has said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The identifier.
    pub id: ResponseId,
    /// Who said it.
    pub agent: AgentId,
    /// What it says.
    pub kind: ResponseKind,
    /// The slot in question.
    pub selected: Option<SlotId>,
    /// Times that would be better.
    pub counter_slots: Vec<Span>,
    /// Words for the organizer.
    pub message: Option<String>,
    /// When it was said.
    pub created_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_specification_s() {
        let names: Vec<&str> = ResponseKind::ALL.iter().map(|kind| kind.as_str()).collect();
        assert_eq!(names, ["accept", "decline", "counter"]);
        assert!(ResponseKind::ALL.iter().all(|kind| ResponseKind::from_name(kind.as_str()) == Some(*kind)));
        assert_eq!(ResponseKind::from_name("maybe"), None);
    }
}
