//! How much there is in an organization, and what it has not done yet: a few cheap reads for the first page.

use kalends_app::{Actor, App, Refusal, operations};
use kalends_kernel::{LIMIT_MAX, Page};
use kalends_plans::{Feature, Metric, UsageReport};
use kalends_proposals::Status;
use kalends_web::{NextStep, OverviewNumber, Place};

/// Only the number of entries is of interest.
const COUNTED: Page = Page { limit: 1, offset: 0 };
/// The webhooks that are looked at, the oldest first.
const WEBHOOKS: Page = Page { limit: LIMIT_MAX, offset: 0 };

/// What the first page shows of an organization.
pub(super) struct Glance {
    /// What is used of each limit.
    pub usage: UsageReport,
    /// Whether the caller may set up the first agent: there is none.
    pub offers_first_agent: bool,
    /// What the caller may do next; nothing before there is an agent.
    pub steps: Vec<NextStep>,
    /// How much there is; nothing before there is an agent.
    pub numbers: Vec<OverviewNumber>,
}

impl Glance {
    /// Reads it in at most one list of each kind.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub(super) async fn read(app: &App, caller: &Actor) -> Result<Self, Refusal> {
        let usage = app.usage(caller).await?;
        let (mut steps, mut numbers) = (Vec::new(), Vec::new());
        let has_agents = usage.of(Metric::Agents).used > 0;
        if has_agents {
            steps = next_steps(app, caller, &usage).await?;
            numbers = counted(app, caller, &usage).await?;
        }
        let offers_first_agent = !has_agents && caller.may(&operations::CREATE_KEY);
        Ok(Self { usage, offers_first_agent, steps, numbers })
    }
}

async fn next_steps(app: &App, caller: &Actor, usage: &UsageReport) -> Result<Vec<NextStep>, Refusal> {
    let mut steps = Vec::new();
    if caller.may(&operations::CREATE_KEY) && !has_used_key(app, caller).await? {
        steps.push(NextStep::UseKey);
    }
    let lacks = |metric| {
        let found = usage.of(metric);
        found.used == 0 && found.limit != Some(0)
    };
    // A page needs a calendar.
    let has_calendars = usage.of(Metric::Calendars).used > 0;
    if has_calendars && lacks(Metric::BookingPages) && caller.may(&operations::CREATE_BOOKING_PAGE) {
        steps.push(NextStep::BookingPage);
    }
    if lacks(Metric::WebhookEndpoints) && caller.may(&operations::CREATE_WEBHOOK) {
        steps.push(NextStep::Webhook);
    }
    Ok(steps)
}

async fn has_used_key(app: &App, caller: &Actor) -> Result<bool, Refusal> {
    let keys = app.keys_in_force(caller).await?;
    Ok(keys.own.iter().chain(&keys.of_agents).any(|key| key.last_used_on.is_some()))
}

async fn counted(app: &App, caller: &Actor, usage: &UsageReport) -> Result<Vec<OverviewNumber>, Refusal> {
    let of = |title, metric, place| OverviewNumber { title, count: usage.of(metric).used, place };
    let mut numbers = vec![
        of("Agents", Metric::Agents, Place::Agents),
        of("Events made this month", Metric::Events, Place::Calendar),
        of("Booking pages", Metric::BookingPages, Place::BookingPages),
        of("Webhooks", Metric::WebhookEndpoints, Place::Webhooks),
    ];
    if caller.may(&operations::LIST_PROPOSALS) && caller.needs(Feature::Scheduling).is_ok() {
        let count = app.whole_proposals(caller, Some(Status::Pending), COUNTED).await?.total;
        numbers.push(OverviewNumber { title: "Pending proposals", count, place: Place::Waiting });
    }
    if usage.of(Metric::WebhookEndpoints).used > 0 && caller.may(&operations::LIST_WEBHOOKS) {
        let listed = app.list_webhooks(caller, WEBHOOKS).await?.data;
        let failed = listed.iter().filter(|webhook| !webhook.active && webhook.deactivated.is_some());
        let count = u64::try_from(failed.count()).unwrap_or(u64::MAX);
        if count > 0 {
            numbers.push(OverviewNumber { title: "Webhooks that failed", count, place: Place::Webhooks });
        }
    }
    Ok(numbers)
}
