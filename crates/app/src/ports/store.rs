//! Everything that a store offers.

use super::{
    commits::{Commit, StoredAnswers},
    glance::Glances,
    health::{Backups, Readiness},
    human_calendars::HumanCalendars,
    metering::Metering,
    names::Names,
    sealing::SealingKeys,
};

/// Declares the trait that a store implements by implementing each of these ports.
macro_rules! all_of {
    ($(#[$about:meta])* pub trait $name:ident: $($port:path,)*) => {
        $(#[$about])*
        pub trait $name: $($port +)* {}

        impl<T: $($port +)*> $name for T {}
    };
}

all_of! {
    /// Everything that a store offers to the use cases.
    pub trait Store:
        kalends_accounts::ports::Principals,
        kalends_accounts::ports::Organizations,
        kalends_accounts::ports::OrganizationLists,
        kalends_accounts::ports::ScopedKeys,
        kalends_accounts::ports::KeyUses,
        kalends_accounts::ports::People,
        kalends_accounts::ports::MemberInvitations,
        kalends_accounts::ports::Sessions,
        kalends_accounts::ports::UserTokens,
        kalends_accounts::ports::SecondFactors,
        kalends_accounts::ports::AuditLog,
        kalends_accounts::ports::Allowances,
        kalends_accounts::ports::Connectors,
        kalends_accounts::ports::Claims,
        kalends_accounts::ports::OauthAttempts,
        kalends_accounts::ports::Identities,
        kalends_accounts::ports::AccountData,
        kalends_accounts::ports::Deletions,
        kalends_calendars::ports::Agents,
        kalends_calendars::ports::Calendars,
        kalends_calendars::ports::Events,
        kalends_calendars::ports::Instances,
        kalends_calendars::ports::Holds,
        kalends_calendars::ports::BusyTimes,
        kalends_calendars::ports::RulesOfCalendars,
        kalends_calendars::ports::ChangesOfCalendars,
        kalends_calendars::ports::MetadataIndex,
        kalends_calendars::ports::Timers,
        kalends_calendars::ports::Feeds,
        kalends_feeds::ports::Subscriptions,
        kalends_feeds::ports::ImportedItems,
        kalends_proposals::ports::Proposals,
        kalends_bookings::ports::BookingPages,
        kalends_runs::ports::Runs,
        kalends_approvals::ports::Approvals,
        kalends_bridge::ports::ConnectionLinks,
        kalends_bridge::ports::ConnectAttempts,
        kalends_bridge::ports::Connections,
        kalends_bridge::ports::Destinations,
        kalends_bridge::ports::Grants,
        kalends_notifications::ports::Webhooks,
        kalends_notifications::ports::Deliveries,
        kalends_notifications::ports::DeliveryHistory,
        kalends_notifications::ports::DeliveryQueue,
        kalends_notifications::ports::Letters,
        kalends_notifications::ports::ChangeFeeds,
        Commit,
        StoredAnswers,
        Metering,
        Readiness,
        SealingKeys,
        Backups,
        HumanCalendars,
        Names,
        Glances,
}
