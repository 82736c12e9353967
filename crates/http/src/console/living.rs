//! The agents that a page offers or names.

use kalends_app::{Actor, App, Refusal};
use kalends_calendars::{Agent, AgentStatus, ports::AgentFilter};
use kalends_kernel::{LIMIT_MAX, Listed, Page};

/// The active agents, then the paused ones, the oldest of each first: at most 200 of each. The total is that of all.
///
/// # Errors
/// Those of [`App::list_agents`].
pub(super) async fn living_agents(app: &App, caller: &Actor) -> Result<Listed<Agent>, Refusal> {
    let first = Page { limit: LIMIT_MAX, offset: 0 };
    let with = |status| AgentFilter { status: Some(status), ..AgentFilter::default() };
    let mut found = app.list_agents(caller, with(AgentStatus::Active), first).await?;
    let paused = app.list_agents(caller, with(AgentStatus::Paused), first).await?;
    found.data.extend(paused.data);
    found.total += paused.total;
    Ok(found)
}
