//! How much there is in an organization, and what it has not done yet: a few cheap reads for the first page.

use kalends_app::{Actor, App, Refusal, operations, ports::Glance as Counts};
use kalends_plans::{Feature, Metric, Used};
use kalends_web::{NextStep, OverviewNumber, Place};

/// What the first page shows of an organization.
pub(super) struct Glance {
    /// What is used of each limit that is counted by month.
    pub used: Vec<(Metric, Used)>,
    /// Whether the caller may set up the first agent: there never was one.
    pub offers_first_agent: bool,
    /// What the caller may do next; nothing before anything is there.
    pub steps: Vec<NextStep>,
    /// How much there is; nothing before anything is there.
    pub numbers: Vec<OverviewNumber>,
}

impl Glance {
    /// Reads it.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key, and [`Refusal::Store`].
    pub(super) async fn read(app: &App, caller: &Actor) -> Result<Self, Refusal> {
        let counts = app.glance(caller).await?;
        let used = app.use_this_month(caller).await?;
        // The page that sets up the first agent asks the same.
        let offers_first_agent = !counts.has_had_agent && caller.may(&operations::CREATE_KEY);
        let (mut steps, mut numbers) = (Vec::new(), Vec::new());
        if is_anything_there(&counts, &used) {
            steps = next_steps(&counts, caller);
            numbers = shown(&counts, &used, caller);
        }
        Ok(Self { used, offers_first_agent, steps, numbers })
    }
}

fn is_anything_there(counts: &Counts, used: &[(Metric, Used)]) -> bool {
    let Counts { has_had_agent, calendars, booking_pages, webhooks, .. } = *counts;
    has_had_agent || calendars + booking_pages + webhooks > 0 || events(used) > 0
}

/// The events made this month.
fn events(used: &[(Metric, Used)]) -> u64 {
    used.iter().find(|(metric, _)| *metric == Metric::Events).map_or(0, |(_, used)| used.used)
}

fn next_steps(counts: &Counts, caller: &Actor) -> Vec<NextStep> {
    let mut steps = Vec::new();
    if !counts.has_used_key && caller.may(&operations::CREATE_KEY) {
        steps.push(NextStep::UseKey);
    }
    let is_in_plan = |metric| caller.principal.limits.get(metric) != Some(0);
    // A page needs a calendar.
    let lacks_page = counts.calendars > 0 && counts.booking_pages == 0 && is_in_plan(Metric::BookingPages);
    if lacks_page && caller.may(&operations::CREATE_BOOKING_PAGE) {
        steps.push(NextStep::BookingPage);
    }
    let lacks_webhook = counts.webhooks == 0 && is_in_plan(Metric::WebhookEndpoints);
    if lacks_webhook && caller.may(&operations::CREATE_WEBHOOK) {
        steps.push(NextStep::Webhook);
    }
    steps
}

fn shown(counts: &Counts, used: &[(Metric, Used)], caller: &Actor) -> Vec<OverviewNumber> {
    let number = |title, count, place| OverviewNumber { title, count, place };
    let mut numbers = vec![
        number("Agents", counts.agents, Place::Agents),
        number("Events made this month", events(used), Place::Calendar),
        number("Series", counts.series, Place::Calendar),
        number("Booking pages", counts.booking_pages, Place::BookingPages),
        number("Bookings in the next 7 days", counts.bookings, Place::BookingPages),
        number("Webhooks", counts.webhooks, Place::Webhooks),
    ];
    if counts.failed_webhooks > 0 {
        numbers.push(number("Webhooks that failed", counts.failed_webhooks, Place::Webhooks));
    }
    if caller.may(&operations::LIST_PROPOSALS) && caller.needs(Feature::Scheduling).is_ok() {
        numbers.push(number("Pending proposals", counts.pending_proposals, Place::Waiting));
    }
    if caller.may(&operations::LIST_EVENTS) && caller.needs(Feature::Holds).is_ok() {
        numbers.push(number("Holds", counts.holds, Place::Waiting));
    }
    if counts.pending_approvals > 0 && caller.may(&operations::LIST_APPROVALS) {
        numbers.push(number("Approvals waiting", counts.pending_approvals, Place::Waiting));
    }
    numbers
}
