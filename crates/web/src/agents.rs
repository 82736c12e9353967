//! The pages about agents. They are in English, like the console, and work without scripts.

use askama::Template;
use kalends_time::Timestamp;

use crate::{
    english::in_english,
    field::{Area, Choice, Field, Select},
    paging::Paging,
    problems::Problems,
    shell::{Done, Shell},
    time::in_utc,
};

/// The fields of the form of an agent.
pub const AGENT_FIELDS: [&str; 3] = ["name", "type", "description"];
/// The maximum length of the name of an agent or a calendar, in characters.
pub(crate) const NAME: usize = 255;
/// The maximum length of a description, in characters.
const DESCRIPTION: usize = 5_000;

const KINDS: [Choice<'static>; 3] = [
    Choice { value: "ai", title: "Software that acts on its own" },
    Choice { value: "human", title: "A person" },
    Choice { value: "resource", title: "Something that is booked, such as a room" },
];

/// An agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentShown {
    /// The identifier.
    pub id: String,
    /// The name.
    pub name: String,
    /// The type, as the API names it.
    pub kind: &'static str,
    /// The description; empty if there is none.
    pub description: String,
    /// The status, as the API names it.
    pub status: &'static str,
    /// The version that the page shows.
    pub version: i64,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl AgentShown {
    fn title(&self) -> &str {
        &self.name
    }

    fn kind_text(&self) -> &'static str {
        KINDS.iter().find(|kind| kind.value == self.kind).map_or("", |kind| kind.title)
    }

    fn status_text(&self) -> &'static str {
        match self.status {
            "active" => "Active",
            "paused" => "Paused: its keys may only read",
            "decommissioned" => "Decommissioned: its calendars and keys are gone",
            other => other,
        }
    }

    fn is_paused(&self) -> bool {
        self.status == "paused"
    }

    fn created(&self) -> String {
        in_utc(self.created_at)
    }

    fn updated(&self) -> String {
        in_utc(self.updated_at)
    }
}

/// The list of agents.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "agents.html")]
pub struct Agents<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// Whether the user may create agents.
    pub may_create: bool,
    /// The agents of this page of the list.
    pub agents: &'a [AgentShown],
    /// Where in the list it is.
    pub paging: &'a Paging,
}

/// What was typed into the form of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentGiven<'a> {
    /// The name.
    pub name: &'a str,
    /// The type, as the API names it.
    pub kind: &'a str,
    /// The description.
    pub description: &'a str,
}

impl<'a> AgentGiven<'a> {
    fn name(&self, problems: &'a Problems) -> Field<'a> {
        Field::text("name", "Name", self.name, NAME).checked(problems)
    }

    fn description(&self, problems: &'a Problems) -> Area<'a> {
        let (name, label) = ("description", "Description");
        Area { name, label, value: self.description, max: DESCRIPTION, problem: problems.of(name), hint: None }
    }

    fn kind(&self, problems: &'a Problems) -> Select<'a> {
        let name = "type";
        Select { name, label: "What it is", options: &KINDS, chosen: self.kind, problem: problems.of(name) }
    }
}

/// The form that creates an agent.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "new_agent.html")]
pub struct NewAgentForm<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The random key of the form.
    pub once: &'a str,
    /// What was typed.
    pub given: AgentGiven<'a>,
    /// What is wrong with it.
    pub problems: &'a Problems,
}

/// A calendar of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalendarShown {
    /// The identifier.
    pub id: String,
    /// The name.
    pub name: String,
    /// The time zone.
    pub zone: String,
}

/// One agent, with the form that changes it.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "agent.html")]
pub struct AgentPage<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// Whether the user may change agents.
    pub may_change: bool,
    /// The agent.
    pub agent: &'a AgentShown,
    /// The random key of the form.
    pub once: &'a str,
    /// The version that the form changes.
    pub version: &'a str,
    /// What the form contains: the agent's fields, or what was typed.
    pub given: AgentGiven<'a>,
    /// What the form contained before anything was typed.
    pub was: AgentGiven<'a>,
    /// What is wrong with it.
    pub problems: &'a Problems,
    /// Its calendars.
    pub calendars: &'a [CalendarShown],
    /// The number of all its calendars.
    pub calendars_total: u64,
    /// The number of its keys; `None` if the plan includes no keys of agents.
    pub keys: Option<u64>,
    /// Whether the user may create keys.
    pub may_create_key: bool,
}

impl AgentPage<'_> {
    fn is_changeable(&self) -> bool {
        self.may_change && self.agent.status != "decommissioned"
    }

    fn keys_text(&self) -> String {
        match self.keys {
            None => "Your plan does not include keys of agents.".to_owned(),
            Some(0) => "It has no keys.".to_owned(),
            Some(1) => "It has 1 key.".to_owned(),
            Some(keys) => format!("It has {keys} keys."),
        }
    }

    fn has_keys(&self) -> bool {
        self.keys.is_some_and(|keys| keys > 0)
    }

    fn can_get_a_key(&self) -> bool {
        self.may_create_key && self.agent.status != "decommissioned"
    }

    fn more_calendars(&self) -> u64 {
        self.calendars_total.saturating_sub(u64::try_from(self.calendars.len()).unwrap_or(u64::MAX))
    }
}

/// The question whether to decommission an agent.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "decommission.html")]
pub struct Decommission<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The agent.
    pub agent: &'a AgentShown,
    /// The number of its calendars.
    pub calendars: u64,
    /// Why the question is asked again.
    pub problem: Option<&'a str>,
}

in_english!(Agents<'_>, NewAgentForm<'_>, AgentPage<'_>, Decommission<'_>);
