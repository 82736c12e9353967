//! The frame of the console's pages about an organization: its name, the way to the other pages, and who is signed in.

/// A part of the console, to which the frame leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The first page.
    Home,
    /// What waits for a decision.
    Waiting,
    /// The calendar.
    Calendar,
    /// The rules of the calendars, and what is offered.
    Availability,
    /// The booking pages.
    BookingPages,
    /// The agents.
    Agents,
    /// The keys.
    Keys,
    /// The connected calendars of the user.
    Connections,
    /// The feeds of calendars, and subscriptions to feeds.
    Feeds,
    /// The webhooks.
    Webhooks,
    /// The audit log.
    Activity,
    /// What was used, and what the plan allows.
    Usage,
    /// The organization and its members.
    Organization,
}

impl Place {
    /// Every place, in the order of the frame.
    pub const ALL: &'static [Self] = &[
        Self::Home,
        Self::Waiting,
        Self::Calendar,
        Self::Availability,
        Self::BookingPages,
        Self::Agents,
        Self::Keys,
        Self::Connections,
        Self::Feeds,
        Self::Webhooks,
        Self::Activity,
        Self::Usage,
        Self::Organization,
    ];

    /// The path of its first page.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Home => "/console",
            Self::Waiting => "/console/waiting",
            Self::Calendar => "/console/calendar",
            Self::Availability => "/console/availability",
            Self::BookingPages => "/console/booking-pages",
            Self::Agents => "/console/agents",
            Self::Keys => "/console/keys",
            Self::Connections => "/console/connections",
            Self::Feeds => "/console/feeds",
            Self::Organization => "/console/organization",
            Self::Webhooks => "/console/webhooks",
            Self::Activity => "/console/activity",
            Self::Usage => "/console/usage",
        }
    }

    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Home => "Overview",
            Self::Waiting => "Waiting for you",
            Self::Calendar => "Calendar",
            Self::Availability => "Availability",
            Self::BookingPages => "Booking pages",
            Self::Agents => "Agents",
            Self::Keys => "Keys",
            Self::Connections => "Connected calendars",
            Self::Feeds => "Feeds and files",
            Self::Organization => "Organization",
            Self::Webhooks => "Webhooks",
            Self::Activity => "Activity",
            Self::Usage => "Usage",
        }
    }
}

/// The frame of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shell {
    /// The place to which the page belongs.
    pub place: Place,
    /// The places that the user may open.
    pub places: Vec<Place>,
    /// The organization's identifier, which every form about the organization has.
    pub org: String,
    /// The organization's name.
    pub organization: String,
    /// The user's address.
    pub email: String,
}

impl Shell {
    pub(crate) fn is_at(&self, place: &Place) -> bool {
        self.place == *place
    }
}

/// What a page says after a form had its effect, by the name in its address (`?done=`).
const DONE: &[(&str, &str)] = &[
    ("created", "Created."),
    ("saved", "Saved."),
    ("created-nights", "Created. Guests can book at night: neither the page nor its calendars limit the hours."),
    ("saved-nights", "Saved. Guests can book at night: neither the page nor its calendars limit the hours."),
    ("paused", "Paused."),
    ("resumed", "Resumed."),
    ("decommissioned", "Decommissioned."),
    ("refreshing", "Refreshing. This takes a moment."),
    ("disconnected", "Disconnected."),
    ("revoked", "Revoked."),
    ("removed", "Removed."),
    ("gone", "It is not there any more."),
    ("accepted", "Accepted."),
    ("admitted", "Admitted. Its keys work. If it has an address, an email to it says so."),
    ("stopped", "It is on the waiting list. Its keys are refused."),
    ("password", "Your password is changed. All your other sessions have ended."),
    ("deleted", "Deleted."),
    ("retrying", "It will be sent again. This takes a moment."),
    ("cancelled", "Cancelled."),
    ("confirmed", "Confirmed."),
    ("released", "Released."),
    ("claiming", "If an organization can be claimed with the address, an email to it has a code."),
    (
        "claimed",
        "The code is right. The organization becomes yours when the hold ends, unless somebody revokes the claim.",
    ),
    ("approved", "Approved."),
    ("denied", "Denied."),
    ("decided-before", "Somebody else had already decided. This page shows the result."),
    ("answered", "Answered."),
    ("resolved", "Resolved."),
    ("copies-deleted", "Copying has stopped. The copies are being deleted. This takes a moment."),
    ("copies-kept", "Copying has stopped. The copies stay."),
    ("syncing", "It will be synced. This takes a moment."),
    ("address", "The feed has a new address. The old one no longer works."),
    ("moved", "Moved."),
    ("switched-on", "Switched on: guests can book."),
    ("switched-off", "Switched off: guests cannot open it."),
];

/// What a form did, to be said on the page that follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Done(Option<&'static str>);

impl Done {
    /// What has that name in the address of the page. Nothing is said for another name.
    pub fn named(name: &str) -> Self {
        Self(DONE.iter().find(|(known, _)| *known == name).map(|(_, text)| *text))
    }

    pub(crate) const fn said(self) -> Option<&'static str> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_names_are_said() {
        assert_eq!(Done::named("saved").said(), Some("Saved."));
        assert_eq!(Done::named("<script>").said(), None);
    }
}
