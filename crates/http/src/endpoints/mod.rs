//! The endpoints: one a file. Each module below lists its routes; [`all`] joins them.

mod accounts;
mod admin;
mod agents;
mod audit;
mod availability;
mod availability_rules;
mod booking_pages;
mod bookings;
mod calendars;
mod claims;
mod connection_links;
mod connections;
mod console;
mod events;
mod feeds;
mod grants;
mod hold_sets;
mod keys;
mod oauth;
mod proposals;
mod subscriptions;
mod system;
mod usage;
mod webhooks;

use std::sync::Arc;

use utoipa::OpenApi;

use crate::{Routes, files::File, reply::JSON};

/// What stands at the head of the description.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Kalends",
        version = "1.0.0",
        description = "The calendar backend for AI agents and the humans that they work for.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    tags(
        (name = "Agents", description = "Software, humans and resources that own calendars."),
        (name = "Calendars", description = "Calendars of agents, and those that the organization shares."),
        (name = "Events", description = "What is scheduled."),
        (name = "Holds", description = "Time that is reserved while somebody decides."),
        (name = "Availability", description = "When somebody is free."),
        (name = "Proposals", description = "Agents settle on one of the times that one of them offers."),
        (name = "Webhooks", description = "What happens is posted to addresses of the organization."),
        (name = "iCal subscriptions", description = "Feeds of others, kept in step with calendars."),
        (name = "Booking pages", description = "Public links on which people book time of a calendar."),
        (name = "Human calendars", description = "Calendars of humans, of which nothing is told but when they are busy."),
        (name = "Keys", description = "Keys that speak for one agent."),
        (name = "Usage", description = "What an organization uses of what its plan grants."),
        (name = "Accounts", description = "Sign-up and terms."),
        (name = "Console", description = "Humans: their sessions, what they own, and keys from the console."),
        (name = "Claims", description = "Humans take over organizations that agents signed up."),
        (name = "Service", description = "The service itself."),
    ),
    // What only errors, parameters and webhook messages mention.
    components(schemas(
        kalends_wire::ErrorEnvelope,
        kalends_wire::IncludeCalendars,
        kalends_wire::EndedHold,
        kalends_wire::ProposalResponded,
        kalends_wire::ProposalConfirmed,
        kalends_wire::ProposalCancelled,
        kalends_wire::ProposalExpired,
        kalends_wire::WebhookDeactivated,
    ))
)]
struct Head;

/// Every route of the API with its description.
pub(crate) fn all() -> Routes {
    Routes::with_openapi(Head::openapi())
        .merge(agents::routes())
        .merge(calendars::routes())
        .merge(events::routes())
        .merge(feeds::routes())
        .merge(subscriptions::routes())
        .merge(connection_links::routes())
        .merge(connections::routes())
        .merge(grants::routes())
        .merge(booking_pages::routes())
        .merge(bookings::routes())
        .merge(hold_sets::routes())
        .merge(availability::routes())
        .merge(availability_rules::routes())
        .merge(keys::routes())
        .merge(proposals::routes())
        .merge(webhooks::routes())
        .merge(usage::routes())
        .merge(accounts::routes())
        .merge(console::routes())
        .merge(audit::routes())
        .merge(claims::routes())
        .merge(oauth::routes())
        .merge(admin::routes())
        .merge(system::routes())
}

/// The routes by which an operator's tools look after a process.
pub(crate) fn probes() -> Routes {
    system::probes()
}

/// The description as JSON text, written once.
#[derive(Clone)]
pub(crate) struct Description(Arc<File>);

impl Description {
    /// How long anybody may keep it: it changes with a release.
    const HEADERS: [(&str, &str); 1] = [("cache-control", "public, max-age=300")];

    pub(crate) fn new(json: String) -> Self {
        Self(Arc::new(File::new(JSON, json, &Self::HEADERS)))
    }

    pub(crate) fn file(&self) -> &Arc<File> {
        &self.0
    }
}
