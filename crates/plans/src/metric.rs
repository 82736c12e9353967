//! The metrics that a plan limits.

/// How use of a metric is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Counts the objects that exist now, without deleted and decommissioned ones. [`Metric::ImportedEvents`] counts
    /// deleted ones too.
    Existing,
    /// Counts use since the start of the UTC month.
    Monthly,
}

/// A quantity that a plan limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Metric {
    /// Agents that are not decommissioned.
    Agents,
    /// Visible calendars.
    Calendars,
    /// Events created in the month.
    Events,
    /// Authenticated requests in the month.
    ApiCalls,
    /// Webhook messages in the month, counted once per endpoint.
    WebhookDeliveries,
    /// Availability queries in the month.
    AvailabilityQueries,
    /// iCalendar subscriptions.
    IcalSubscriptions,
    /// Scheduling proposals in the month.
    Proposals,
    /// Webhook endpoints.
    WebhookEndpoints,
    /// Agent-scoped keys.
    ScopedKeys,
    /// Recurring series that have not ended.
    RecurringEvents,
    /// Booking pages.
    BookingPages,
    /// Events that were imported from feeds and are still stored, including deleted ones.
    ImportedEvents,
}

impl Metric {
    /// Every metric, in the order in which the API lists them.
    pub const ALL: [Self; 13] = [
        Self::Agents,
        Self::Calendars,
        Self::Events,
        Self::ApiCalls,
        Self::WebhookDeliveries,
        Self::AvailabilityQueries,
        Self::IcalSubscriptions,
        Self::Proposals,
        Self::WebhookEndpoints,
        Self::ScopedKeys,
        Self::RecurringEvents,
        Self::BookingPages,
        Self::ImportedEvents,
    ];

    /// The name in JSON and in stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agents => "agents",
            Self::Calendars => "calendars",
            Self::Events => "events",
            Self::ApiCalls => "api_calls",
            Self::WebhookDeliveries => "webhook_deliveries",
            Self::AvailabilityQueries => "availability_queries",
            Self::IcalSubscriptions => "ical_subscriptions",
            Self::Proposals => "proposals",
            Self::WebhookEndpoints => "webhook_endpoints",
            Self::ScopedKeys => "scoped_keys",
            Self::RecurringEvents => "recurring_events",
            Self::BookingPages => "booking_pages",
            Self::ImportedEvents => "imported_events",
        }
    }

    /// The metric with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.as_str() == name)
    }

    /// How use is counted.
    pub const fn counted(self) -> Counted {
        match self {
            Self::Events | Self::ApiCalls | Self::WebhookDeliveries | Self::AvailabilityQueries | Self::Proposals => {
                Counted::Monthly
            }
            Self::Agents
            | Self::Calendars
            | Self::IcalSubscriptions
            | Self::WebhookEndpoints
            | Self::ScopedKeys
            | Self::RecurringEvents
            | Self::BookingPages
            | Self::ImportedEvents => Counted::Existing,
        }
    }

    /// The name on pages for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Agents => "Agents",
            Self::Calendars => "Calendars",
            Self::Events => "Events created",
            Self::ApiCalls => "API calls",
            Self::WebhookDeliveries => "Webhook deliveries",
            Self::AvailabilityQueries => "Availability queries",
            Self::IcalSubscriptions => "iCal subscriptions",
            Self::Proposals => "Proposals created",
            Self::WebhookEndpoints => "Webhook endpoints",
            Self::ScopedKeys => "Keys of agents",
            Self::RecurringEvents => "Series",
            Self::BookingPages => "Booking pages",
            Self::ImportedEvents => "Imported events",
        }
    }

    /// What happens while the limit is reached, in whole sentences.
    pub const fn at_limit(self) -> &'static str {
        match self {
            Self::Agents => "No agent can be created until another one is decommissioned.",
            Self::Calendars => "No calendar can be created until another one is deleted.",
            Self::Events => "No event can be created until the month ends, and booking pages take no bookings.",
            Self::ApiCalls => "Requests are refused until the month ends.",
            Self::WebhookDeliveries => "Deliveries are stored as skipped and not sent. They can be retried next month.",
            Self::AvailabilityQueries => "Reads of availability are refused until the month ends.",
            Self::IcalSubscriptions => "No subscription can be created until another one is deleted.",
            Self::Proposals => "No proposal can be created until the month ends.",
            Self::WebhookEndpoints => "No endpoint can be created until another one is deleted.",
            Self::ScopedKeys => "No key of an agent can be created until another one is revoked.",
            Self::RecurringEvents => "No series can be created until another one ends or is deleted.",
            Self::BookingPages => "No booking page can be created until another one is deleted.",
            Self::ImportedEvents => "A sync that would add events fails. Deleted events count for 30 days.",
        }
    }

    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}
