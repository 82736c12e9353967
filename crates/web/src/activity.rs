//! The page that shows the audit log. It is in English, like the console, and works without scripts.

use std::fmt;

use askama::Template;
use kalends_time::{CivilDate, Timestamp, Zone};

use crate::{
    english::in_english,
    field::{Choice, Field, Select},
    link::{Href, with},
    numbers::grouped,
    problems::Problems,
    shell::Shell,
    time::date_text,
};

/// The path of the page.
const PAGE: &str = "/console/activity";
/// The path of the file with the entries that the page shows.
const FILE: &str = "/console/activity/file";
/// The parameter with the place at which the previous page ended.
const CURSOR: &str = "cursor";
/// The names of the parameters that filter the log, as the API has them. They are the fields of the form.
pub const ACTIVITY_FIELDS: [&str; 5] = ["agent_id", "actor_key_prefix", "action", "from", "to"];
/// The maximum number of entries in the file.
pub const ACTIVITY_FILE_MAX: u32 = 10_000;

/// The filter, as it was given. A part that is empty filters nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActivityGiven<'a> {
    /// The identifier of an agent.
    pub agent: &'a str,
    /// The first characters of a key, or of a user's identifier.
    pub actor: &'a str,
    /// The name of an action.
    pub action: &'a str,
    /// The first day, in UTC.
    pub from: &'a str,
    /// The last day, in UTC.
    pub to: &'a str,
}

impl<'a> ActivityGiven<'a> {
    /// The parts that filter something, each with the name of its parameter.
    fn parameters(&self) -> Vec<(&'static str, &'a str)> {
        let values = [self.agent, self.actor, self.action, self.from, self.to];
        ACTIVITY_FIELDS.into_iter().zip(values).filter(|(_, value)| !value.is_empty()).collect()
    }

    fn is_set(&self) -> bool {
        !self.parameters().is_empty()
    }

    /// The address of a page with this filter, and with the cursor if there is one.
    fn at(&self, path: &str, cursor: Option<&str>) -> String {
        let parameters = self.parameters();
        let filter = parameters.iter().map(|(name, value)| (*name, value as &dyn fmt::Display));
        let cursor = cursor.as_ref().map(|cursor| (CURSOR, cursor as &dyn fmt::Display));
        with(path, &filter.chain(cursor).collect::<Vec<_>>())
    }
}

/// What the form offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActivityChoices<'a> {
    /// The agents.
    pub agents: &'a [Choice<'a>],
    /// The keys and the users.
    pub actors: &'a [Choice<'a>],
    /// The actions.
    pub actions: &'a [Choice<'a>],
}

/// A part of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityPart {
    /// The text.
    pub text: String,
    /// The identifier of what the text names; empty if the text is not a name.
    pub id: String,
    /// The page of what the text names, if the user may open it.
    pub page: Option<Href>,
}

impl ActivityPart {
    /// A part that names nothing.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), id: String::new(), page: None }
    }

    fn link(&self) -> Option<&Href> {
        self.page.as_ref()
    }
}

/// An entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActivityEntry {
    /// What happened, as a sentence in parts.
    pub sentence: Vec<ActivityPart>,
    /// Why it was refused, as a sentence; `None` if it was done.
    pub refused: Option<String>,
    /// When it happened.
    pub at: Timestamp,
    /// The name of the action.
    pub action: String,
    /// The first characters of the key, or of the user's identifier.
    pub actor: Option<String>,
    /// The identifier of the agent concerned, and its name if it is known.
    pub agent: Option<(String, Option<String>)>,
    /// The identifier of the changed resource.
    pub resource: String,
    /// The caller's address.
    pub ip: Option<String>,
    /// The method and the template of the route.
    pub request: String,
    /// The identifier of the request.
    pub request_id: String,
}

impl ActivityEntry {
    fn date(&self) -> CivilDate {
        Zone::UTC.to_civil(self.at).date
    }

    /// The time of day in UTC.
    fn time(&self) -> String {
        let (hour, minute, _) = Zone::UTC.to_civil(self.at).time.hour_minute_second();
        format!("{hour:02}:{minute:02}")
    }

    fn reason(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    fn actor_text(&self) -> Option<&str> {
        self.actor.as_deref()
    }

    fn address(&self) -> Option<&str> {
        self.ip.as_deref()
    }

    /// The page with only the entries of this key or user.
    fn of_actor(&self) -> String {
        with(PAGE, &[("actor_key_prefix", &self.actor.as_deref().unwrap_or_default())])
    }

    fn agent_name(&self) -> Option<&str> {
        self.agent.as_ref().map(|(id, name)| name.as_deref().unwrap_or(id))
    }

    /// The page with only the entries about this agent.
    fn of_agent(&self) -> String {
        with(PAGE, &[("agent_id", &self.agent.as_ref().map_or("", |(id, _)| id.as_str()))])
    }
}

/// A page of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActivityLog<'a> {
    /// The entries, the newest first.
    pub entries: &'a [ActivityEntry],
    /// The cursor of the next page; `None` at the end of the log.
    pub next: Option<&'a str>,
    /// The number of days for which the plan keeps entries; `None` means forever.
    pub retention_days: Option<u32>,
    /// The current time.
    pub now: Timestamp,
}

/// The entries of one day in UTC.
struct Day<'a> {
    title: String,
    entries: &'a [ActivityEntry],
}

impl<'a> ActivityLog<'a> {
    /// The entries by day.
    fn days(&self) -> impl Iterator<Item = Day<'a>> {
        let today = Zone::UTC.to_civil(self.now).date;
        let days = self.entries.chunk_by(|one, other| one.date() == other.date());
        days.filter_map(move |entries| Some(Day { title: title_of(entries.first()?.date(), today), entries }))
    }
}

/// The heading of a day, such as `Yesterday, 28 Nov 2026`.
fn title_of(date: CivilDate, today: CivilDate) -> String {
    let text = date_text(date);
    match today.as_days() - date.as_days() {
        0 => format!("Today, {text}"),
        1 => format!("Yesterday, {text}"),
        _ => text,
    }
}

/// The audit log in sentences.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "activity.html")]
pub struct Activity<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The filter.
    pub given: ActivityGiven<'a>,
    /// What the form offers.
    pub choices: ActivityChoices<'a>,
    /// What is wrong with the filter.
    pub problems: &'a Problems,
    /// The entries; `None` if the filter is wrong.
    pub log: Option<ActivityLog<'a>>,
    /// Whether newer entries precede those of this page.
    pub continues: bool,
}

impl Activity<'_> {
    fn agent(&self) -> Select<'_> {
        self.select("agent_id", "Agent", self.choices.agents, self.given.agent)
    }

    fn actor(&self) -> Select<'_> {
        self.select("actor_key_prefix", "Key or user", self.choices.actors, self.given.actor)
    }

    fn action(&self) -> Select<'_> {
        self.select("action", "Action", self.choices.actions, self.given.action)
    }

    fn select<'b>(
        &'b self,
        name: &'static str,
        label: &'static str,
        options: &'b [Choice<'b>],
        chosen: &'b str,
    ) -> Select<'b> {
        Select { name, label, options, chosen, problem: self.problems.of(name) }
    }

    fn first_day(&self) -> Field<'_> {
        self.day("from", "First day, in UTC", self.given.from)
    }

    fn last_day(&self) -> Field<'_> {
        self.day("to", "Last day, in UTC", self.given.to)
    }

    fn day<'b>(&'b self, name: &'static str, label: &'static str, value: &'b str) -> Field<'b> {
        let field = Field::text(name, label, value, 0).checked(self.problems);
        Field { kind: "date", max: None, required: false, ..field }
    }

    fn newest(&self) -> String {
        self.given.at(PAGE, None)
    }

    fn older(&self) -> Option<String> {
        let next = self.log.and_then(|log| log.next)?;
        Some(self.given.at(PAGE, Some(next)))
    }

    fn file(&self) -> String {
        self.given.at(FILE, None)
    }

    fn file_max(&self) -> String {
        grouped(ACTIVITY_FILE_MAX.into())
    }
}

in_english!(Activity<'_>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_a_heading() {
        let date = |text: &str| -> CivilDate { text.parse().unwrap() };
        let title = |day: &str| title_of(date(day), date("2026-03-01"));
        assert_eq!(title("2026-03-01"), "Today, 1 Mar 2026");
        assert_eq!(title("2026-02-28"), "Yesterday, 28 Feb 2026");
        assert_eq!(title("2026-02-27"), "27 Feb 2026");
        assert_eq!(title("2026-03-02"), "2 Mar 2026", "the clock of another server may be ahead");
    }
}
