//! The pages about the feeds of calendars. They are in English, like the console, and work without scripts.

use askama::Template;

use crate::{
    english::in_english,
    paging::Paging,
    shell::{Done, Shell},
    subscriptions::{SubscriptionFilter, SubscriptionShown},
};

/// A calendar, as the pages about feeds show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedCalendar {
    /// The identifier.
    pub id: String,
    /// The name.
    pub name: String,
    /// The time zone.
    pub zone: String,
    /// The identifier and the name of the agent that owns it; `None` if the organization shares it.
    pub agent: Option<(String, String)>,
    /// Whether it refuses events whose time is taken.
    pub refuses_conflicts: bool,
}

impl FeedCalendar {
    fn title(&self) -> &str {
        &self.name
    }

    fn agent_id(&self) -> Option<&str> {
        self.agent.as_ref().map(|(id, _)| id.as_str())
    }
}

/// The list of calendars with their feeds, and the first subscriptions.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "feeds.html")]
pub struct FeedsPage<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// The calendars of this page of the list.
    pub calendars: &'a [FeedCalendar],
    /// Where in the list it is.
    pub paging: &'a Paging,
    /// Whether the user may create subscriptions.
    pub may_subscribe: bool,
    /// The numbers of subscriptions by their status.
    pub statuses: &'a [SubscriptionFilter],
    /// The first subscriptions.
    pub subscriptions: &'a [SubscriptionShown],
    /// The number of all subscriptions.
    pub subscriptions_total: u64,
}

impl FeedsPage<'_> {
    fn path(&self, status: &SubscriptionFilter) -> String {
        status.path(None)
    }

    fn has_more_subscriptions(&self) -> bool {
        self.subscriptions_total > u64::try_from(self.subscriptions.len()).unwrap_or(u64::MAX)
    }
}

/// The feed of a calendar, and the ways to get events in and out as a file.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "feed_calendar.html")]
pub struct FeedCalendarPage<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// The calendar.
    pub calendar: &'a FeedCalendar,
    /// The whole address of its feed.
    pub address: &'a str,
    /// Whether the user may replace the address.
    pub may_rotate: bool,
    /// Whether the user may import a file.
    pub may_import: bool,
    /// Whether the user may subscribe the calendar to a feed.
    pub may_subscribe: bool,
}

/// The question whether to replace the address of a feed.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "rotate_feed.html")]
pub struct RotateFeed<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The calendar.
    pub calendar: &'a FeedCalendar,
    /// The random key of the form.
    pub once: &'a str,
}

in_english!(FeedsPage<'_>, FeedCalendarPage<'_>, RotateFeed<'_>);
