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
    let listed = app.list_agents(caller, AgentFilter::default(), first).await?;
    if u64::try_from(listed.data.len()).is_ok_and(|all| all == listed.total) {
        // Few organizations have more, and one list is read sooner than two.
        return Ok(living_of(listed.data));
    }
    let with = |status| AgentFilter { status: Some(status), ..AgentFilter::default() };
    let mut found = app.list_agents(caller, with(AgentStatus::Active), first).await?;
    let paused = app.list_agents(caller, with(AgentStatus::Paused), first).await?;
    found.data.extend(paused.data);
    found.total += paused.total;
    Ok(found)
}

/// The active ones of all agents, then the paused ones.
fn living_of(all: Vec<Agent>) -> Listed<Agent> {
    let (mut living, others): (Vec<Agent>, Vec<Agent>) =
        all.into_iter().partition(|agent| agent.status == AgentStatus::Active);
    living.extend(others.into_iter().filter(|agent| agent.status == AgentStatus::Paused));
    Listed { total: u64::try_from(living.len()).unwrap_or(u64::MAX), data: living }
}
