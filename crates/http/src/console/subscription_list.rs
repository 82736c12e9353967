//! The list of subscriptions to feeds, and how a page shows one of them.

use std::collections::{BTreeMap, BTreeSet};

use axum::response::Response;
use http::StatusCode;
use kalends_app::{Actor, App, Refusal, operations};
use kalends_calendars::Agent;
use kalends_feeds::{Subscription, SubscriptionStatus, ports::SubscriptionCounts};
use kalends_kernel::{AgentId, CalendarId, LIMIT_MAX, Listed, Page};
use kalends_time::Timestamp;
use kalends_web::{
    Paging, Place, SubscriptionFilter, SubscriptionShown, SubscriptionState, Subscriptions, SubscriptionsOf, SyncShown,
};
use kalends_wire as wire;
use serde::Deserialize;

use super::{
    frame::{Asked, AskedOf, shell},
    places::SUBSCRIPTIONS,
    shown::{page, refused},
};
use crate::{Service, error::ApiError, extract::Caller};

/// The list, to continue on after a refused form, with the text of the link to it.
pub(super) const TO_LIST: (&str, &str) = (SUBSCRIPTIONS, "See the subscriptions");
/// The most calendars that are read or offered at once.
pub(super) const MOST: Page = Page { limit: LIMIT_MAX, offset: 0 };

/// What the address of a page names.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Filter {
    /// The identifier of an agent; empty for all of them.
    #[serde(default)]
    agent: String,
    /// A status, as the API names it.
    #[serde(default)]
    status: String,
}

/// `GET /console/feeds/subscriptions`
pub(super) async fn list(
    app: Service,
    caller: Caller,
    asked: AskedOf<Asked>,
    filter: AskedOf<Filter>,
) -> Result<Response, ApiError> {
    let filter = filter.map(|filter| filter.0).unwrap_or_default();
    match render_list(&app, &caller.0, &Asked::of(asked), &filter).await {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

async fn render_list(app: &App, caller: &Actor, asked: &Asked, filter: &Filter) -> Result<String, Refusal> {
    let of = if filter.agent.is_empty() { None } else { Some(app.agent(caller, &filter.agent).await?) };
    let status = SubscriptionStatus::from_name(&filter.status);
    let found = app.subscriptions_of(caller, of.as_ref(), (status, asked.page())).await?;
    let named = of.iter().map(|agent| (agent.id, agent.name.clone())).collect();
    let known = Names { agents: named, ..Names::default() };
    let agent = of.iter().map(|agent| ("agent", agent.id.to_string()));
    let kept = agent.chain(status.map(|status| ("status", status.as_str().to_owned()))).collect();
    let paging = Paging { path: SUBSCRIPTIONS.to_owned(), filter: kept, page: asked.page(), total: found.total };
    let list = Subscriptions {
        shell: &shell(caller, Place::Feeds)?,
        done: asked.done(),
        may_create: caller.may(&operations::CREATE_SUBSCRIPTION),
        of: of.as_ref().map(|of| SubscriptionsOf { id: &filter.agent, name: &of.name }),
        statuses: &statuses(app, caller, of.as_ref(), status).await?,
        subscriptions: &all_shown(app, caller, &found.data, known).await?,
        paging: &paging,
    };
    Ok(list.html())
}

/// The filters of the list: all subscriptions, and those of each status, of an agent or of all agents. `chosen` is the
/// one that the list shows.
async fn statuses(
    app: &App,
    caller: &Actor,
    agent: Option<&Agent>,
    chosen: Option<SubscriptionStatus>,
) -> Result<Vec<SubscriptionFilter>, Refusal> {
    Ok(filters(app.count_subscriptions(caller, agent).await?, Some(chosen)))
}

/// The filters of the list of all subscriptions, of which a page shows the first ones. If these are all, they are
/// counted here, and nothing is read.
pub(super) async fn statuses_with(
    app: &App,
    caller: &Actor,
    first: &Listed<Subscription>,
) -> Result<Vec<SubscriptionFilter>, Refusal> {
    let are_all = u64::try_from(first.data.len()).is_ok_and(|shown| shown == first.total);
    let counts = if are_all {
        let mut counts = SubscriptionCounts::default();
        for subscription in &first.data {
            counts.add(subscription.status(), 1);
        }
        counts
    } else {
        app.count_subscriptions(caller, None).await?
    };
    Ok(filters(counts, None))
}

fn filters(counts: SubscriptionCounts, chosen: Option<Option<SubscriptionStatus>>) -> Vec<SubscriptionFilter> {
    let filter = |status: Option<SubscriptionStatus>| SubscriptionFilter {
        name: status.map_or("", SubscriptionStatus::as_str),
        count: counts.of(status),
        is_chosen: chosen == Some(status),
    };
    let each = SubscriptionStatus::ALL.iter().copied().map(Some);
    [None].into_iter().chain(each).map(filter).collect()
}

/// The names that a page has read.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub agents: BTreeMap<AgentId, String>,
    pub calendars: BTreeMap<CalendarId, String>,
}

/// The names of these agents. One that is not found is named by its identifier.
pub(super) async fn agent_names(
    app: &App,
    caller: &Actor,
    agents: BTreeSet<AgentId>,
) -> Result<BTreeMap<AgentId, String>, Refusal> {
    let known = app.agent_names(caller, &agents).await?;
    let name = |id: &AgentId| known.get(id).map_or_else(|| id.to_string(), |agent| agent.name.clone());
    Ok(agents.iter().map(|id| (*id, name(id))).collect())
}

/// The subscriptions with the names of their agents and calendars. Only names that are not known are read.
pub(super) async fn all_shown(
    app: &App,
    caller: &Actor,
    subscriptions: &[Subscription],
    known: Names,
) -> Result<Vec<SubscriptionShown>, Refusal> {
    let Names { mut agents, mut calendars } = known;
    let owners = subscriptions.iter().map(|subscription| subscription.agent);
    let unknown = owners.filter(|agent| !agents.contains_key(agent)).collect();
    agents.extend(agent_names(app, caller, unknown).await?);
    let subscribed = subscriptions.iter().map(|subscription| subscription.calendar);
    let unknown = subscribed.filter(|calendar| !calendars.contains_key(calendar)).collect();
    let found = app.calendar_names(caller, &unknown).await?;
    calendars.extend(found.into_iter().map(|(id, calendar)| (id, calendar.name)));
    let now = app.now();
    let shown = |subscription: &Subscription| {
        let agent = agents.get(&subscription.agent).cloned().unwrap_or_default();
        let calendar = calendars.get(&subscription.calendar).cloned();
        shown(subscription, (agent, calendar), now)
    };
    Ok(subscriptions.iter().map(shown).collect())
}

/// A subscription, with the names of its agent and its calendar.
fn shown(
    subscription: &Subscription,
    (agent_name, calendar_name): (String, Option<String>),
    now: Timestamp,
) -> SubscriptionShown {
    let state = match subscription.status() {
        SubscriptionStatus::Paused => SubscriptionState::Paused,
        SubscriptionStatus::Error => SubscriptionState::Failing,
        SubscriptionStatus::Active if subscription.state.last_synced_at.is_none() => SubscriptionState::Waiting,
        SubscriptionStatus::Active => SubscriptionState::Active,
    };
    let found = wire::Subscription::from(subscription);
    SubscriptionShown {
        id: found.id.to_string(),
        label: found.label.unwrap_or_default(),
        url: found.url,
        calendar: found.calendar_id.to_string(),
        calendar_name: calendar_name.unwrap_or_else(|| found.calendar_id.to_string()),
        agent: found.agent_id.to_string(),
        agent_name,
        state,
        is_busy_only: found.busy_only,
        last_error: found.last_error.unwrap_or_default(),
        failures: subscription.state.failures,
        last_synced_at: found.last_synced_at,
        report: found.last_sync.map(sync_shown),
        created_at: found.created_at,
        updated_at: found.updated_at,
        now,
    }
}

fn sync_shown(report: wire::SyncReport) -> SyncShown {
    let wire::SyncReport { created, updated, deleted, untouched, skipped, withheld, skipped_events, warnings } = report;
    let skipped_events = skipped_by_uid(skipped_events);
    SyncShown { created, updated, deleted, untouched, skipped, withheld, skipped_events, warnings }
}

/// The `UID` of each skipped event, and the reason.
pub(super) fn skipped_by_uid(skipped: Vec<wire::SkippedEvent>) -> Vec<(String, String)> {
    skipped.into_iter().map(|skipped| (skipped.uid, skipped.reason)).collect()
}

/// One subscription, with the names of its agent and its calendar.
pub(super) async fn one_shown(
    app: &App,
    caller: &Actor,
    subscription: &Subscription,
) -> Result<SubscriptionShown, Refusal> {
    let agent = app.agent(caller, &subscription.agent.to_string()).await?.name;
    let calendar = app.calendar(caller, &subscription.calendar.to_string()).await?.name;
    Ok(shown(subscription, (agent, Some(calendar)), app.now()))
}
