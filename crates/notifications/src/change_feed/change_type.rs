//! The types of entries.

use crate::EventType;

macro_rules! change_types {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal,)*) => {
        /// What an entry of the change feed reports: what a webhook message announces, or one of the changes that no
        /// message announces.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ChangeType {
            /// What a webhook message announces. It is never about a webhook endpoint or a connection.
            Announced(EventType),
            $($(#[doc = $doc])+ $name,)*
        }

        impl ChangeType {
            /// The types that no webhook message announces.
            const UNANNOUNCED: &'static [Self] = &[$(Self::$name),*];

            /// The name.
            pub const fn as_str(self) -> &'static str {
                match self {
                    Self::Announced(event_type) => event_type.as_str(),
                    $(Self::$name => $text,)*
                }
            }

            /// What happened, in one sentence.
            pub const fn about(self) -> &'static str {
                match self {
                    Self::Announced(event_type) => event_type.about(),
                    $(Self::$name => concat!($($doc),+).trim_ascii(),)*
                }
            }
        }
    };
}

change_types! {
    /// An agent was deleted, and with it its calendars and their contents.
    AgentDeleted = "agent.deleted",
    /// A calendar was created.
    CalendarCreated = "calendar.created",
    /// A calendar was changed.
    CalendarUpdated = "calendar.updated",
    /// A calendar was deleted, and with it its contents.
    CalendarDeleted = "calendar.deleted",
    /// Imported events of a calendar were changed. The changes of the calendar name them.
    CalendarImported = "calendar.imported",
    /// The availability rules of a calendar were written.
    RulesUpdated = "availability_rules.updated",
    /// The availability rules of a calendar were removed.
    RulesDeleted = "availability_rules.deleted",
    /// A booking page was created.
    BookingPageCreated = "booking_page.created",
    /// A booking page was changed.
    BookingPageUpdated = "booking_page.updated",
    /// A booking page was deleted.
    BookingPageDeleted = "booking_page.deleted",
    /// A subscription to a feed was created.
    SubscriptionCreated = "ical_subscription.created",
    /// A subscription to a feed was changed.
    SubscriptionUpdated = "ical_subscription.updated",
    /// A subscription to a feed was deleted.
    SubscriptionDeleted = "ical_subscription.deleted",
}

impl ChangeType {
    /// The type of the entry of a message; `None` for messages about webhook endpoints and connections, which are
    /// configuration.
    pub const fn of_message(event_type: EventType) -> Option<Self> {
        match event_type {
            EventType::ConnectionNeedsAttention | EventType::WebhookDeactivated | EventType::WebhookTest => None,
            announced => Some(Self::Announced(announced)),
        }
    }

    /// Every type, those of messages first.
    pub fn all() -> impl Iterator<Item = Self> {
        let announced = EventType::ALL.iter().filter_map(|event_type| Self::of_message(*event_type));
        announced.chain(Self::UNANNOUNCED.iter().copied())
    }

    /// The type with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|change_type| change_type.as_str() == name)
    }

    /// The kind of resource that changed: the name up to the point.
    pub fn resource_type(self) -> &'static str {
        let name = self.as_str();
        name.split_once('.').map_or(name, |(kind, _)| kind)
    }

    /// The field of the body that names the resource.
    pub const fn names_resource_by(self) -> &'static str {
        match self {
            Self::Announced(EventType::EventAttendeeResponded) => "event_id",
            Self::Announced(
                EventType::ProposalResponded
                | EventType::ProposalConfirmed
                | EventType::ProposalCancelled
                | EventType::ProposalExpired,
            ) => "proposal_id",
            _ => "id",
        }
    }
}

/// The types that a reader wants: all of them, or a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedTypes(Option<Vec<ChangeType>>);

/// A name in a list of types is unknown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("got {got:?}; must name types, separated by commas, or all of a kind, as `event.*` does; types are {known}")]
pub struct TypesError {
    known: String,
    got: String,
}

/// The most characters of an unknown name that an error repeats.
const NAMED_MAX: usize = 64;

impl WantedTypes {
    /// All types, including those of later versions.
    pub const ALL: Self = Self(None);

    /// Checks a comma-separated list of names, or of a kind of resource with `.*` for all its types.
    ///
    /// # Errors
    /// The first name that is unknown.
    pub fn parse(list: &str) -> Result<Self, TypesError> {
        let mut wanted: Vec<ChangeType> = Vec::new();
        for name in list.split(',').map(str::trim) {
            let kind = name.strip_suffix(".*");
            let mut known = false;
            for change_type in ChangeType::all() {
                if change_type.as_str() == name || kind == Some(change_type.resource_type()) {
                    known = true;
                    if !wanted.contains(&change_type) {
                        wanted.push(change_type);
                    }
                }
            }
            if !known {
                let all: Vec<&str> = ChangeType::all().map(ChangeType::as_str).collect();
                return Err(TypesError { known: all.join(", "), got: name.chars().take(NAMED_MAX).collect() });
            }
        }
        Ok(Self(Some(wanted)))
    }

    /// The names of the wanted types; `None` for all.
    pub fn names(&self) -> Option<Vec<&'static str>> {
        self.0.as_ref().map(|types| types.iter().map(|change_type| change_type.as_str()).collect())
    }

    /// Whether the reader wants that type.
    pub fn wants(&self, change_type: ChangeType) -> bool {
        self.0.as_ref().is_none_or(|types| types.contains(&change_type))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[test]
    fn names_are_unique_and_round_trip() {
        let names: BTreeSet<&str> = ChangeType::all().map(ChangeType::as_str).collect();
        assert_eq!(names.len(), ChangeType::all().count());
        for change_type in ChangeType::all() {
            assert_eq!(ChangeType::from_name(change_type.as_str()), Some(change_type));
            assert!(!change_type.about().is_empty() && !change_type.resource_type().contains('.'));
        }
        assert_eq!(ChangeType::from_name("webhook.deactivated"), None, "endpoints are configuration");
        assert_eq!(ChangeType::from_name("webhook.test"), None);
        assert_eq!(ChangeType::from_name("connection.needs_attention"), None, "connections are configuration");
    }

    #[test]
    fn types_without_a_message_are_documented() {
        let documented = include_str!("../../../../docs/use/change-feed.md");
        for change_type in ChangeType::UNANNOUNCED {
            assert!(documented.contains(&format!("`{}`", change_type.as_str())), "{change_type:?}");
        }
    }

    #[rstest]
    #[case("event.created", &["event.created"])]
    #[case("agent.*", &["agent.created", "agent.updated", "agent.deleted"])]
    #[case("calendar.deleted, calendar.deleted", &["calendar.deleted"])]
    #[case("proposal.expired,calendar.deleted", &["proposal.expired", "calendar.deleted"])]
    #[case("availability_rules.*", &["availability_rules.updated", "availability_rules.deleted"])]
    fn lists_are_read(#[case] list: &str, #[case] names: &[&str]) {
        assert_eq!(WantedTypes::parse(list).unwrap().names().unwrap(), names);
    }

    #[rstest]
    #[case("", "")]
    #[case("event.created,", "")]
    #[case("event.creatd", "event.creatd")]
    #[case("*", "*")]
    #[case("event.hold_*", "event.hold_*")]
    #[case("webhook.*", "webhook.*")]
    #[case("connection.*", "connection.*")]
    #[case("event*", "event*")]
    fn unknown_names_are_refused(#[case] list: &str, #[case] got: &str) {
        let error = WantedTypes::parse(list).unwrap_err();
        assert_eq!(error.got, got);
        assert!(error.to_string().contains("calendar.created") && error.to_string().contains("event.*"), "{error}");
    }

    proptest! {
        /// A reader gets exactly the types that it named.
        #[test]
        fn a_reader_gets_the_types_that_it_named(
            picked in prop::sample::subsequence(ChangeType::all().collect::<Vec<_>>(), 1..ChangeType::all().count())
        ) {
            let list: Vec<&str> = picked.iter().map(|change_type| change_type.as_str()).collect();
            let wanted = WantedTypes::parse(&list.join(",")).unwrap();
            for change_type in ChangeType::all() {
                prop_assert_eq!(wanted.wants(change_type), picked.contains(&change_type));
                prop_assert!(WantedTypes::ALL.wants(change_type));
            }
        }
    }
}
