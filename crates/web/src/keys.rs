//! The pages about keys. They are in English, like the console, and work without scripts.

use askama::Template;
use kalends_time::{CivilDate, SignedDuration, Timestamp};

use crate::{
    english::in_english,
    field::{Choice, Field, Select},
    link::with,
    numbers::counted,
    paging::Paging,
    problems::Problems,
    shell::{Done, Shell},
    snippets::mcp_configuration,
    time::{date_text, in_utc},
};

/// The fields of the form of a key.
pub const KEY_FIELDS: [&str; 5] = ["agent_id", "label", "scopes", "requires_approval", "approval_expires_in_hours"];
/// The maximum length of a label, in characters.
const LABEL: usize = 100;

/// What is known about any key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyFacts {
    /// The first characters of the key.
    pub prefix: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// The UTC day of its last use; `None` if no use is recorded.
    pub last_used_on: Option<CivilDate>,
}

impl KeyFacts {
    fn created(&self) -> String {
        in_utc(self.created_at)
    }

    fn last_used(&self) -> String {
        self.last_used_on.map_or_else(|| "no use recorded".to_owned(), |day| format!("{} (UTC)", date_text(day)))
    }
}

/// Whether the writes of a key need approval, as options of a form.
const APPROVALS: [Choice<'static>; 2] = [
    Choice { value: "", title: "No: they are made at once" },
    Choice { value: "writes", title: "Yes: each waits until a person approves it" },
];

/// The name of a key for people. The client that holds a connected one chose its label.
fn title(label: &str, is_connected: bool) -> String {
    match (label, is_connected) {
        ("", false) => "Without a label".to_owned(),
        ("", true) => "Connected by OAuth".to_owned(),
        (label, false) => label.to_owned(),
        (label, true) => format!("Connected by OAuth: {label}"),
    }
}

/// Which writes of a key need approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyApproval {
    /// The number of operations; `None` if all writes need it.
    pub operations: Option<usize>,
    /// How long each of them waits.
    pub lasts: SignedDuration,
}

impl KeyApproval {
    fn text(&self) -> String {
        let minutes = u64::try_from(self.lasts.as_seconds() / 60).unwrap_or_default();
        let lasts = if minutes.is_multiple_of(60) {
            counted(minutes / 60, "hour", "hours")
        } else {
            counted(minutes, "minute", "minutes")
        };
        match self.operations {
            None => format!("Writes wait up to {lasts} for approval"),
            Some(count) => {
                let operations =
                    counted(u64::try_from(count).unwrap_or(u64::MAX), "operation needs", "operations need");
                format!("{operations} approval; writes wait up to {lasts} for it")
            }
        }
    }
}

/// A key of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyShown {
    /// The identifier.
    pub id: String,
    /// The label; empty if there is none.
    pub label: String,
    /// The identifier of the agent that it speaks for.
    pub agent: String,
    /// The name of that agent.
    pub agent_name: String,
    /// Whether that agent is paused.
    pub is_paused: bool,
    /// What it reaches beyond its agent, as the API names it.
    pub scopes: Vec<&'static str>,
    /// Which of its writes need approval; `None` if none does.
    pub approval: Option<KeyApproval>,
    /// Whether a program holds it that was connected by OAuth.
    pub is_connected: bool,
    /// Who created it: an address, or the first characters of a key; empty if that is not known.
    pub created_by: String,
    /// What is known about any key.
    pub facts: KeyFacts,
}

impl KeyShown {
    fn title(&self) -> String {
        title(&self.label, self.is_connected)
    }

    const fn approval(&self) -> Option<&KeyApproval> {
        self.approval.as_ref()
    }

    const fn reach(&self) -> &'static str {
        if self.is_paused { "Only reads, while its agent is paused" } else { "Everything that belongs to its agent" }
    }

    fn scopes_text(&self) -> String {
        self.scopes.join(", ")
    }

    const fn facts(&self) -> &KeyFacts {
        &self.facts
    }
}

/// An agent whose keys a list is limited to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeysOf<'a> {
    /// The identifier.
    pub id: &'a str,
    /// The name.
    pub name: &'a str,
}

/// The list of keys.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "keys.html")]
pub struct Keys<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// The agent whose keys are listed; `None` for all agents.
    pub of: Option<KeysOf<'a>>,
    /// Whether the plan includes keys of agents.
    pub included: bool,
    /// Whether the user may create keys.
    pub may_create: bool,
    /// Whether the user may revoke keys.
    pub may_revoke: bool,
    /// Whether the page offers to replace the organization's own key.
    pub may_replace: bool,
    /// The keys of agents on this page of the list.
    pub keys: &'a [KeyShown],
    /// Where in the list it is.
    pub paging: &'a Paging,
    /// The organization's own keys. The list of one agent has none.
    pub own: &'a [KeyFacts],
}

impl Keys<'_> {
    fn new_path(&self) -> String {
        match &self.of {
            Some(of) => with("/console/keys/new", &[("agent", &of.id)]),
            None => "/console/keys/new".to_owned(),
        }
    }
}

/// A scope that can be chosen for a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScopeChoice {
    /// The scope, as the API names it.
    pub name: &'static str,
    /// What it opens, in a few words.
    pub about: &'static str,
    /// Whether it is chosen.
    pub is_chosen: bool,
}

/// What was typed into the form of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyGiven<'a> {
    /// The identifier of the agent.
    pub agent: &'a str,
    /// The label.
    pub label: &'a str,
    /// The scopes.
    pub scopes: &'a [ScopeChoice],
    /// Which writes need approval, as the API names them; empty for none.
    pub approval: &'a str,
    /// How many hours each of them waits.
    pub hours: &'a str,
}

/// The form that creates a key.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "new_key.html")]
pub struct NewKeyForm<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The random key of the form.
    pub once: &'a str,
    /// The agents to choose from, by identifier and name.
    pub agents: &'a [Choice<'a>],
    /// Whether the organization has more agents than these.
    pub more: bool,
    /// What was typed.
    pub given: KeyGiven<'a>,
    /// What is wrong with it.
    pub problems: &'a Problems,
}

impl<'a> NewKeyForm<'a> {
    fn agent(&self) -> Select<'a> {
        let name = "agent_id";
        let (options, chosen, problem) = (self.agents, self.given.agent, self.problems.of(name));
        Select { name, label: "The agent that it speaks for", options, chosen, problem }
    }

    fn label(&self) -> Field<'a> {
        let field = Field::text("label", "Label, such as where it is used", self.given.label, LABEL);
        Field { required: false, ..field.checked(self.problems) }
    }

    fn scopes_problem(&self) -> Option<&'a str> {
        self.problems.of("scopes")
    }

    fn approval(&self) -> Select<'a> {
        let name = "requires_approval";
        let (chosen, problem) = (self.given.approval, self.problems.of(name));
        Select { name, label: "Writes need approval", options: &APPROVALS, chosen, problem }
    }

    fn hours(&self) -> Field<'a> {
        let (name, label) = ("approval_expires_in_hours", "Hours that a write waits for approval");
        let field = Field::text(name, label, self.given.hours, 0);
        let hint = Some("1 to 168; 24 if left empty. A write not approved in time is not made.");
        Field { kind: "number", max: None, required: false, hint, ..field.checked(self.problems) }
    }
}

/// A new key, which is shown once.
#[derive(Clone, Copy, Template)]
#[template(path = "key_made.html")]
pub struct KeyMade<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The name of the agent that it speaks for.
    pub agent: &'a str,
    /// The key.
    pub key: &'a str,
    /// The URL of the service, without a trailing slash.
    pub base_url: &'a str,
}

impl KeyMade<'_> {
    /// The configuration of an MCP client.
    fn mcp(&self) -> String {
        mcp_configuration(self.base_url, self.key)
    }

    fn curl(&self) -> String {
        format!("curl -H 'Authorization: Bearer {}' {}/v1/calendars", self.key, self.base_url)
    }
}

/// The question whether to replace the organization's own key.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "replace_key.html")]
pub struct ReplaceKey<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The random key of the form.
    pub once: &'a str,
    /// The organization's own keys, which stop working. An organization can have none.
    pub own: &'a [KeyFacts],
}

/// The organization's new key, which is shown once.
#[derive(Clone, Copy, Template)]
#[template(path = "key_replaced.html")]
pub struct KeyReplaced<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The key.
    pub key: &'a str,
    /// The URL of the service, without a trailing slash.
    pub base_url: &'a str,
}

impl KeyReplaced<'_> {
    /// The configuration of an MCP client.
    fn mcp(&self) -> String {
        mcp_configuration(self.base_url, self.key)
    }
}

/// The question whether to revoke a key.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "revoke_key.html")]
pub struct RevokeKey<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The identifier of the key.
    pub id: &'a str,
    /// Its label; empty if there is none.
    pub label: &'a str,
    /// Whether a program holds it that was connected by OAuth.
    pub is_connected: bool,
    /// The name of the agent that it speaks for.
    pub agent_name: &'a str,
    /// What is known about any key.
    pub facts: &'a KeyFacts,
}

impl RevokeKey<'_> {
    fn title(&self) -> String {
        title(self.label, self.is_connected)
    }
}

in_english!(Keys<'_>, NewKeyForm<'_>, KeyMade<'_>, ReplaceKey<'_>, KeyReplaced<'_>, RevokeKey<'_>);

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(Some("2026-11-28"), "28 Nov 2026 (UTC)")]
    #[case(None, "no use recorded")]
    fn the_last_use_is_a_day_or_not_recorded(#[case] day: Option<&str>, #[case] text: &str) {
        let last_used_on = day.map(|day| day.parse().unwrap());
        let facts = KeyFacts { prefix: "svc_ak_".to_owned(), created_at: Timestamp::from_micros(0), last_used_on };
        assert_eq!(facts.last_used(), text);
    }

    #[rstest]
    #[case::all(None, 1_440, "Writes wait up to 24 hours for approval")]
    #[case::an_hour(None, 60, "Writes wait up to 1 hour for approval")]
    #[case::some(Some(1), 90, "1 operation needs approval; writes wait up to 90 minutes for it")]
    #[case::several(Some(3), 120, "3 operations need approval; writes wait up to 2 hours for it")]
    fn approval_is_in_words(#[case] operations: Option<usize>, #[case] minutes: i64, #[case] text: &str) {
        assert_eq!(KeyApproval { operations, lasts: SignedDuration::minutes(minutes) }.text(), text);
    }

    #[rstest]
    #[case("", false, "Without a label")]
    #[case("laptop", false, "laptop")]
    #[case("", true, "Connected by OAuth")]
    #[case("Notes", true, "Connected by OAuth: Notes")]
    fn connected_keys_say_so(#[case] label: &str, #[case] is_connected: bool, #[case] text: &str) {
        assert_eq!(title(label, is_connected), text);
    }
}
