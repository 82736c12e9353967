//! The endpoints, one per file. Each module below lists its routes, and [`all`] joins them.

mod accounts;
mod admin;
mod agents;
mod approvals;
mod audit;
mod availability;
mod availability_rules;
mod booking_pages;
mod bookings;
mod calendars;
mod changes;
mod claims;
mod connection_links;
mod connections;
pub(crate) mod connectors;
mod console;
mod description;
mod destinations;
mod events;
pub(crate) mod feeds;
mod grants;
mod hold_sets;
mod invitations;
mod keys;
mod mail;
mod members;
mod oauth;
mod proposals;
mod runs;
mod subscriptions;
mod system;
mod usage;
mod webhooks;

use utoipa::OpenApi;

pub(crate) use self::description::Description;
use crate::Routes;

/// The general part of the description.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Kalends",
        version = "1.0.0",
        description = "The calendar backend for AI agents and the people they work for.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    tags(
        (name = "Agents", description = "Software, people and resources that own calendars."),
        (name = "Calendars", description = "Calendars of agents, and calendars that the organization shares."),
        (name = "Events", description = "Events and series on calendars."),
        (name = "Holds", description = "Times that are kept for a while, until they are confirmed or released."),
        (name = "Availability", description = "Free times of agents and calendars."),
        (name = "Proposals", description = "Agents agree on one of several candidate slots."),
        (name = "Runs", description = "The writes of one task, which can be taken back together."),
        (name = "Approvals", description = "Writes that wait until a person allows them."),
        (name = "Webhooks", description = "Messages about events, posted to addresses of the organization."),
        (name = "iCal subscriptions", description = "External feeds that are imported into calendars regularly."),
        (name = "Booking pages", description = "Public pages on which guests book slots."),
        (name = "Invitations", description = "Pages on which attendees reply."),
        (name = "Changes", description = "What changes in an organization, in order."),
        (name = "Mail", description = "The emails that are sent for an organization."),
        (name = "Human calendars", description = "Calendars of people, of which only busy times are visible."),
        (name = "Keys", description = "Keys that are scoped to one agent."),
        (name = "Usage", description = "An organization's usage and the limits of its plan."),
        (name = "Accounts", description = "Sign-up, the waiting list and terms."),
        (name = "Console", description = "Users: their sessions, their organizations, and keys from the console."),
        (name = "Members", description = "The people of an organization, and their roles."),
        (name = "Claims", description = "Users become the owners of organizations that agents signed up."),
        (name = "Service", description = "The service itself."),
    ),
    // Schemas that only errors, parameters and webhook messages refer to.
    components(schemas(
        kalends_wire::ErrorEnvelope,
        kalends_wire::AwaitsApproval,
        kalends_wire::IncludeCalendars,
        kalends_wire::SeriesScope,
        kalends_wire::EndedHold,
        kalends_wire::AttendeeResponded,
        kalends_wire::ProposalResponded,
        kalends_wire::ProposalConfirmed,
        kalends_wire::ProposalCancelled,
        kalends_wire::ProposalExpired,
        kalends_wire::ConnectionNeedsAttention,
        kalends_wire::WebhookDeactivated,
    ))
)]
struct Head;

/// The description of every route of the API, without what all operations have in common.
pub(crate) fn described() -> utoipa::openapi::OpenApi {
    all().describe(Head::openapi())
}

/// Every route of the API.
pub(crate) fn all() -> Routes {
    Routes::new()
        .merge(agents::routes())
        .merge(calendars::routes())
        .merge(events::routes())
        .merge(feeds::routes())
        .merge(subscriptions::routes())
        .merge(connection_links::routes())
        .merge(connections::routes())
        .merge(grants::routes())
        .merge(destinations::routes())
        .merge(booking_pages::routes())
        .merge(bookings::routes())
        .merge(invitations::routes())
        .merge(hold_sets::routes())
        .merge(availability::routes())
        .merge(availability_rules::routes())
        .merge(keys::routes())
        .merge(proposals::routes())
        .merge(runs::routes())
        .merge(approvals::routes())
        .merge(webhooks::routes())
        .merge(usage::routes())
        .merge(accounts::routes())
        .merge(console::routes())
        .merge(members::routes())
        .merge(audit::routes())
        .merge(mail::routes())
        .merge(changes::routes())
        .merge(claims::routes())
        .merge(oauth::routes())
        .merge(admin::routes())
        .merge(system::routes())
}

/// The routes with which an operator's tools monitor a process.
pub(crate) fn probes() -> Routes {
    system::probes()
}
