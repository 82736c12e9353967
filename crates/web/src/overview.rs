//! The first page of the console: who is signed in, where, how much there is, and what to do next. It is in English and
//! works without scripts.

use askama::Template;

use crate::{
    english::in_english,
    join::with_article,
    numbers::grouped,
    shell::{Place, Shell},
    usage::UsedMetric,
};

/// The places to which the page leads, with what they are for.
const WAYS: [(Place, &str); 4] = [
    (Place::Waiting, "Waiting for you: approvals, holds, proposals and claims to decide"),
    (Place::Calendar, "Calendar: events, holds and busy times"),
    (Place::Agents, "Agents and their calendars"),
    (Place::Keys, "Keys: connect an agent"),
];

/// Something that an organization with an agent has not done yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStep {
    /// No key was ever used.
    UseKey,
    /// There is no booking page.
    BookingPage,
    /// There is no webhook.
    Webhook,
}

impl NextStep {
    const fn text(self) -> &'static str {
        match self {
            Self::UseKey => "Connect your agent: no key has been used yet",
            Self::BookingPage => "Let people book a time: create a booking page",
            Self::Webhook => "Get notified of changes: add a webhook",
        }
    }

    const fn path(self) -> &'static str {
        match self {
            Self::UseKey => "/console/keys",
            Self::BookingPage => "/console/booking-pages/new",
            Self::Webhook => "/console/webhooks/new",
        }
    }
}

/// How many things of a kind there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverviewNumber {
    /// What is counted.
    pub title: &'static str,
    /// How many there are.
    pub count: u64,
    /// Where they are shown.
    pub place: Place,
}

impl OverviewNumber {
    fn text(&self) -> String {
        grouped(self.count)
    }
}

/// The first page of the console.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "overview.html")]
pub struct Overview<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// Whether the organization is on the waiting list.
    pub waits: bool,
    /// The user's name.
    pub name: &'a str,
    /// The user's role in the organization.
    pub role: &'a str,
    /// Whether the page leads to the form that creates the first agent.
    pub offers_first_agent: bool,
    /// What the user may do next.
    pub steps: &'a [NextStep],
    /// How much there is.
    pub numbers: &'a [OverviewNumber],
    /// What a plan limits by the month.
    pub metrics: &'a [UsedMetric<'a>],
    /// Whether the user is asked to prove the address.
    pub asks_for_proof: bool,
    /// Whether another email has just been sent.
    pub resent: bool,
    /// Whether mail is only written to files, so that the server sends none.
    pub keeps_mail: bool,
    /// Why a form had no effect.
    pub problem: Option<&'a str>,
}

/// Another organization of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherOrganization {
    /// The identifier.
    pub id: String,
    /// The name.
    pub name: String,
}

impl Overview<'_> {
    /// The places that the user may open.
    fn ways(&self) -> Vec<(Place, &'static str)> {
        WAYS.into_iter().filter(|(place, _)| self.shell.places.contains(place)).collect()
    }

    /// The numbers of places that the user may open.
    fn counts(&self) -> Vec<&OverviewNumber> {
        self.numbers.iter().filter(|number| self.shell.places.contains(&number.place)).collect()
    }

    /// The monthly limit of which the largest share is used, if any of it is used and the user may see the usage.
    fn tightest(&self) -> Option<String> {
        let is_shown = self.shell.places.contains(&Place::Usage);
        let shares = self.metrics.iter().filter_map(|metric| Some((metric.share()?, metric.title)));
        let (share, title) = shares.filter(|(share, _)| *share > 0).max_by_key(|(share, _)| *share)?;
        is_shown.then(|| format!("{title}: {} % used", grouped(share)))
    }

    fn role_text(&self) -> String {
        with_article(self.role)
    }
}

in_english!(Overview<'_>);
