//! The ports that read. They use only the read-only connections, which never wait for the writer.

mod account_data;
mod agents;
mod answers;
mod approvals;
mod audit;
mod backups;
mod bookings;
mod bookings_of_pages;
mod busy;
mod calendars;
mod change_feed;
mod changes;
mod claims;
mod connection_links;
mod connections;
mod event_metadata;
mod event_pack;
mod events;
mod feeds;
mod filter;
mod glances;
mod grants;
mod holds;
mod human;
mod instances;
mod names;
mod organization_lists;
mod organizations;
mod people;
mod principals;
mod proposals;
mod publishing;
mod readiness;
mod rules;
mod runs;
mod scoped_keys;
mod search;
mod second_factors;
mod sessions;
mod subscriptions;
mod timers;
mod usage;
mod user_tokens;
mod webhooks;

use kalends_kernel::{AgentId, EventId, StoreError};

use crate::rows::Located;

/// A count, as the type that the ports return.
pub(crate) fn count(counted: i64) -> u64 {
    u64::try_from(counted).unwrap_or(0)
}

/// The agent that owns the calendar of `event`.
fn owner(event: EventId, agent: Option<&Vec<u8>>) -> Result<Option<AgentId>, StoreError> {
    let row = Located { table: "calendars", id: format_args!("the calendar of {event}") };
    Ok(row.uuid_if_any("agent_id", agent)?.map(AgentId::from_uuid))
}
