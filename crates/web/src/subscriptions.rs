//! The pages about subscriptions to feeds. They are in English, like the console, and work without scripts.

use std::fmt;

use askama::Template;
use kalends_time::Timestamp;

use crate::{
    english::in_english,
    field::{Choice, Field, Select},
    link::with,
    numbers::grouped,
    paging::Paging,
    problems::Problems,
    shell::{Done, Shell},
    time::{ago, in_utc},
};

/// The fields of the form of a subscription.
pub const SUBSCRIPTION_FIELDS: [&str; 3] = ["calendar_id", "url", "label"];
/// The path of the list.
const LIST: &str = "/console/feeds/subscriptions";
/// The maximum length of an address, in characters.
const URL: usize = 2_048;
/// The maximum length of a label, in characters.
const LABEL: usize = 255;

/// Whether a subscription is synced, and how the last sync ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubscriptionState {
    /// It waits for its first sync.
    Waiting,
    /// The last sync succeeded.
    Active,
    /// The last sync failed. It is tried again.
    Failing,
    /// It is paused.
    Paused,
}

/// The result of the last successful sync of a subscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncShown {
    /// The number of new events.
    pub created: u32,
    /// The number of changed events.
    pub updated: u32,
    /// The number of deleted events.
    pub deleted: u32,
    /// The number of unchanged events.
    pub untouched: u32,
    /// The number of events that could not be imported.
    pub skipped: u32,
    /// The number of events that are missing from a feed that shrank by more than half.
    pub withheld: u32,
    /// The first events that could not be imported: the `UID` of each, and the reason.
    pub skipped_events: Vec<(String, String)>,
    /// The first warnings.
    pub warnings: Vec<String>,
}

impl SyncShown {
    /// The number of the subscription's events on the calendar.
    fn events(&self) -> u64 {
        [self.created, self.updated, self.untouched, self.withheld].into_iter().map(u64::from).sum()
    }

    /// What the sync did, in numbers.
    fn counts(&self) -> String {
        let counts = [
            (self.created, "created"),
            (self.updated, "updated"),
            (self.deleted, "deleted"),
            (self.untouched, "unchanged"),
        ];
        counts.map(|(count, what)| format!("{} {what}", grouped(count.into()))).join(", ")
    }

    pub(crate) fn skipped_text(&self) -> String {
        grouped(self.skipped.into())
    }

    fn withheld_text(&self) -> String {
        grouped(self.withheld.into())
    }

    pub(crate) fn more_skipped(&self) -> u64 {
        u64::from(self.skipped).saturating_sub(u64::try_from(self.skipped_events.len()).unwrap_or(u64::MAX))
    }
}

/// A subscription of a calendar to a feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionShown {
    /// The identifier.
    pub id: String,
    /// The label; empty if there is none.
    pub label: String,
    /// The address of the feed.
    pub url: String,
    /// The identifier of the calendar.
    pub calendar: String,
    /// The name of the calendar.
    pub calendar_name: String,
    /// The identifier of the agent.
    pub agent: String,
    /// The name of the agent.
    pub agent_name: String,
    /// Whether it is synced.
    pub state: SubscriptionState,
    /// Whether only the times of events are imported.
    pub is_busy_only: bool,
    /// Why the last sync failed; empty if it did not.
    pub last_error: String,
    /// The number of syncs that have failed since the last successful one.
    pub failures: u32,
    /// When a sync last succeeded.
    pub last_synced_at: Option<Timestamp>,
    /// The result of the last successful sync.
    pub report: Option<SyncShown>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// The present.
    pub now: Timestamp,
}

impl SubscriptionShown {
    /// The label, or the address if there is none.
    pub(crate) fn title(&self) -> &str {
        if self.label.is_empty() { &self.url } else { &self.label }
    }

    fn is_paused(&self) -> bool {
        self.state == SubscriptionState::Paused
    }

    pub(crate) fn status_text(&self) -> &'static str {
        match self.state {
            SubscriptionState::Waiting => "Waiting for its first sync",
            SubscriptionState::Active => "Active",
            SubscriptionState::Failing => "Error: the last sync failed",
            SubscriptionState::Paused => "Paused: it is not synced",
        }
    }

    /// The last successful sync, if there was one: its age, and the time.
    pub(crate) fn last_sync(&self) -> Option<String> {
        self.last_synced_at.map(|at| format!("{} ({})", ago(at, self.now), in_utc(at)))
    }

    /// When it is synced next, as far as that is known.
    fn next_sync(&self) -> String {
        match self.state {
            SubscriptionState::Waiting => "In a moment".to_owned(),
            SubscriptionState::Active => "About 15 minutes after the last one".to_owned(),
            SubscriptionState::Failing => {
                let failed = if self.failures == 1 { "1 sync".to_owned() } else { format!("{} syncs", self.failures) };
                format!("{failed} failed in a row. The wait doubles each time, from 15 minutes to 6 hours.")
            }
            SubscriptionState::Paused => "Not until it is resumed, unless you sync it now".to_owned(),
        }
    }

    /// What needs attention, in short.
    pub(crate) fn notes(&self) -> Option<String> {
        let report = self.report.as_ref()?;
        let skipped = (report.skipped > 0).then(|| format!("{} skipped", grouped(report.skipped.into())));
        let warnings = match report.warnings.len() {
            0 => None,
            1 => Some("1 warning".to_owned()),
            count => Some(format!("{count} warnings")),
        };
        let notes: Vec<_> = skipped.into_iter().chain(warnings).collect();
        (!notes.is_empty()).then(|| notes.join(", "))
    }

    fn created(&self) -> String {
        in_utc(self.created_at)
    }

    fn updated(&self) -> String {
        in_utc(self.updated_at)
    }
}

/// A status by which the list can be filtered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubscriptionFilter {
    /// The status, as the API names it; empty for all of them.
    pub name: &'static str,
    /// The number of subscriptions with this status.
    pub count: u64,
    /// Whether the list shows these subscriptions.
    pub is_chosen: bool,
}

impl SubscriptionFilter {
    pub(crate) fn title(&self) -> &'static str {
        match self.name {
            "active" => "Active",
            "error" => "Error",
            "paused" => "Paused",
            _ => "All",
        }
    }

    pub(crate) fn count_text(&self) -> String {
        grouped(self.count)
    }

    /// The list with this filter, of that agent or of all of them.
    pub(crate) fn path(&self, agent: Option<&SubscriptionsOf<'_>>) -> String {
        let agent = agent.map(|agent| ("agent", &agent.id as &dyn fmt::Display));
        let status = (!self.name.is_empty()).then_some(("status", &self.name as &dyn fmt::Display));
        with(LIST, &agent.into_iter().chain(status).collect::<Vec<_>>())
    }
}

/// The agent whose subscriptions a list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubscriptionsOf<'a> {
    /// The identifier.
    pub id: &'a str,
    /// The name.
    pub name: &'a str,
}

/// The list of subscriptions.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "subscriptions.html")]
pub struct Subscriptions<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// Whether the user may create subscriptions.
    pub may_create: bool,
    /// The agent; `None` for all agents.
    pub of: Option<SubscriptionsOf<'a>>,
    /// The filters to choose from.
    pub statuses: &'a [SubscriptionFilter],
    /// The subscriptions of this page of the list.
    pub subscriptions: &'a [SubscriptionShown],
    /// Where in the list it is.
    pub paging: &'a Paging,
}

/// What was typed into the form of a subscription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubscriptionGiven<'a> {
    /// The identifier of the calendar. Only a new subscription has it.
    pub calendar: &'a str,
    /// The address of the feed.
    pub url: &'a str,
    /// The label.
    pub label: &'a str,
    /// Whether only the times of events are imported.
    pub busy_only: bool,
}

impl<'a> SubscriptionGiven<'a> {
    fn url(&self, problems: &'a Problems) -> Field<'a> {
        Field { kind: "url", ..Field::text("url", "Address of the feed", self.url, URL) }.checked(problems)
    }

    fn label(&self, problems: &'a Problems) -> Field<'a> {
        Field { required: false, ..Field::text("label", "Label", self.label, LABEL) }.checked(problems)
    }
}

/// The form that creates a subscription.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "new_subscription.html")]
pub struct NewSubscriptionForm<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The random key of the form.
    pub once: &'a str,
    /// The calendars to choose from, each of them an agent's.
    pub calendars: &'a [Choice<'a>],
    /// How many of the oldest calendars can be chosen, if there are more.
    pub oldest: Option<u32>,
    /// What was typed.
    pub given: SubscriptionGiven<'a>,
    /// What is wrong with it.
    pub problems: &'a Problems,
}

impl<'a> NewSubscriptionForm<'a> {
    fn calendar(&self) -> Select<'a> {
        let (name, label) = ("calendar_id", "Calendar");
        let (options, chosen, problem) = (self.calendars, self.given.calendar, self.problems.of(name));
        Select { name, label, options, chosen, problem }
    }
}

impl Subscriptions<'_> {
    fn path(&self, status: &SubscriptionFilter) -> String {
        status.path(self.of.as_ref())
    }
}

/// One subscription, with the form that changes it.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "subscription.html")]
pub struct SubscriptionPage<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// Whether the user may change subscriptions.
    pub may_change: bool,
    /// Whether the user may delete subscriptions.
    pub may_delete: bool,
    /// The subscription.
    pub subscription: &'a SubscriptionShown,
    /// The random key of the forms.
    pub once: &'a str,
    /// The version that the form changes.
    pub version: &'a str,
    /// What the form contains: the subscription's fields, or what was typed.
    pub given: SubscriptionGiven<'a>,
    /// What the form contained before anything was typed.
    pub was: SubscriptionGiven<'a>,
    /// What is wrong with it.
    pub problems: &'a Problems,
}

/// The question whether to delete a subscription, and its events with it.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "delete_subscription.html")]
pub struct DeleteSubscription<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The subscription.
    pub subscription: &'a SubscriptionShown,
    /// The version that the question is about.
    pub version: &'a str,
    /// Why the question is asked again.
    pub problem: Option<&'a str>,
}

impl DeleteSubscription<'_> {
    fn events_text(&self) -> String {
        match self.subscription.report.as_ref().map_or(0, SyncShown::events) {
            0 => "No sync has imported an event from it yet.".to_owned(),
            1 => "After the last sync, the calendar had 1 event from it.".to_owned(),
            events => format!("After the last sync, the calendar had {} events from it.", grouped(events)),
        }
    }
}

in_english!(Subscriptions<'_>, NewSubscriptionForm<'_>, SubscriptionPage<'_>, DeleteSubscription<'_>);

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("", None, "/console/feeds/subscriptions")]
    #[case("error", None, "/console/feeds/subscriptions?status=error")]
    #[case("", Some("agt_a"), "/console/feeds/subscriptions?agent=agt_a")]
    #[case("paused", Some("agt_a"), "/console/feeds/subscriptions?agent=agt_a&status=paused")]
    fn filters_keep_the_agent(#[case] name: &'static str, #[case] agent: Option<&str>, #[case] path: &str) {
        let of = agent.map(|id| SubscriptionsOf { id, name: "Ada" });
        let filter = SubscriptionFilter { name, count: 3, is_chosen: false };
        assert_eq!(filter.path(of.as_ref()), path);
    }
}
