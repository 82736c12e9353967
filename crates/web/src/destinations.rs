//! The pages about the events that are copied to a user's connected calendar. They are in English, like the console, and
//! work without scripts.

use askama::Template;
use kalends_time::Timestamp;

use crate::{
    english::in_english,
    field::{Choice, Select},
    numbers::grouped,
    problems::Problems,
    shell::{Done, Shell},
    time::in_utc,
};

/// The fields of the form that begins to copy events.
pub const NEW_DESTINATION_FIELDS: [&str; 3] = ["calendar_id", "target", "policy"];
/// The fields of the form that changes where events are copied.
pub const DESTINATION_FIELDS: [&str; 2] = ["target", "policy"];
/// The policies with which events are copied, as the API names them, and what a user reads.
const COPIED: [Choice<'static>; 2] = [
    Choice { value: "confirmed", title: "Confirmed events" },
    Choice { value: "confirmed_tentative", title: "Confirmed and tentative events" },
];
/// Every policy.
const POLICIES: [Choice<'static>; 3] = [COPIED[0], COPIED[1], Choice { value: "none", title: "No events" }];

/// What a user reads about a policy.
pub(crate) fn policy_text(policy: &str) -> &str {
    POLICIES.iter().find(|known| known.value == policy).map_or(policy, |known| known.title)
}

/// What was chosen about the calendar that receives copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DestinationGiven<'a> {
    /// The identifier of the user's calendar.
    pub target: &'a str,
    /// The policy, as the API names it.
    pub policy: &'a str,
}

impl<'a> DestinationGiven<'a> {
    fn target_field(&self, targets: &'a [Choice<'a>], problems: &'a Problems) -> Select<'a> {
        let (name, label, chosen) = ("target", "To your calendar", self.target);
        Select { name, label, options: targets, chosen, problem: problems.of(name) }
    }

    fn policy_field(&self, options: &'static [Choice<'static>], problems: &'a Problems) -> Select<'a> {
        let (name, label, chosen) = ("policy", "Which events", self.policy);
        Select { name, label, options, chosen, problem: problems.of(name) }
    }
}

/// The part of the form for calendars that offers to copy events, if a connection link asks for that.
#[derive(Debug, Clone, Copy)]
pub struct CopyOffer<'a> {
    /// The name of the calendar whose events would be copied.
    pub calendar: &'a str,
    /// The account's calendars. Empty if the consent does not allow copying.
    pub targets: &'a [Choice<'a>],
    /// Whether the user wants it.
    pub is_chosen: bool,
    /// The choices, with which the form begins.
    pub given: DestinationGiven<'a>,
    /// What is wrong with them.
    pub problems: &'a Problems,
}

impl<'a> CopyOffer<'a> {
    pub(crate) fn target(&self) -> Select<'a> {
        self.given.target_field(self.targets, self.problems)
    }

    pub(crate) fn policy(&self) -> Select<'a> {
        self.given.policy_field(&COPIED, self.problems)
    }
}

/// The state of a destination, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DestinationShown {
    /// The identifier of the calendar whose events are copied.
    pub calendar: String,
    /// Its name; `None` if it was deleted.
    pub calendar_name: Option<String>,
    /// The name of the user's calendar; `None` if it is gone from the account.
    pub target_name: Option<String>,
    /// The policy, as the API names it.
    pub policy: &'static str,
    /// When everything had last been copied.
    pub published_at: Option<Timestamp>,
    /// Why the last attempt failed, as a sentence, if it did.
    pub last_error: Option<String>,
}

impl DestinationShown {
    /// The name of the calendar whose events are copied.
    fn source(&self) -> &str {
        self.calendar_name.as_deref().unwrap_or("a removed calendar")
    }

    /// The name of the user's calendar.
    fn receiver(&self) -> &str {
        self.target_name.as_deref().unwrap_or("a removed calendar")
    }

    fn policy_text(&self) -> &str {
        policy_text(self.policy)
    }

    fn published(&self) -> String {
        self.published_at.map(in_utc).unwrap_or_default()
    }

    fn error(&self) -> Option<&str> {
        self.last_error.as_deref()
    }
}

/// The copies that go to an account.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "copies.html")]
pub struct Copies<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// The identifier of the connection.
    pub connection: &'a str,
    /// The provider's name, and the account's label.
    pub account: &'a str,
    /// Whether events can be copied to calendars of this provider.
    pub is_supported: bool,
    /// Whether the user's consent allows it.
    pub is_allowed: bool,
    /// Where events are copied.
    pub destinations: &'a [DestinationShown],
    /// The form that begins to copy the events of another calendar; `None` if the consent does not allow it.
    pub form: Option<NewDestination<'a>>,
}

/// The form that begins to copy the events of a calendar.
#[derive(Debug, Clone, Copy)]
pub struct NewDestination<'a> {
    /// The calendars whose events are not copied to the account yet.
    pub calendars: &'a [Choice<'a>],
    /// How many of the oldest calendars can be chosen, if there are more.
    pub oldest: Option<u32>,
    /// The account's calendars.
    pub targets: &'a [Choice<'a>],
    /// The identifier of the chosen calendar.
    pub calendar: &'a str,
    /// The other choices.
    pub given: DestinationGiven<'a>,
    /// What is wrong with them.
    pub problems: &'a Problems,
}

impl<'a> NewDestination<'a> {
    fn calendar_field(&self) -> Select<'a> {
        let (name, label) = ("calendar_id", "Copy the events of");
        Select { name, label, options: self.calendars, chosen: self.calendar, problem: self.problems.of(name) }
    }

    fn target(&self) -> Select<'a> {
        self.given.target_field(self.targets, self.problems)
    }

    fn policy(&self) -> Select<'a> {
        self.given.policy_field(&COPIED, self.problems)
    }

    fn problems(&self) -> &'a Problems {
        self.problems
    }
}

impl Copies<'_> {
    fn is_refused(&self) -> bool {
        self.form.is_some_and(|form| !form.problems.is_empty())
    }
}

/// Where the events of a calendar are copied, with the form that changes it.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "destination.html")]
pub struct DestinationPage<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// The random key of the form.
    pub once: &'a str,
    /// The identifier of the connection.
    pub connection: &'a str,
    /// The provider's name, and the account's label.
    pub account: &'a str,
    /// The destination.
    pub destination: &'a DestinationShown,
    /// The status, as the API names it.
    pub status: &'a str,
    /// The number of copies that are as they were written.
    pub published: u64,
    /// The number of copies that a person changed or deleted.
    pub diverged: u64,
    /// The account's calendars.
    pub targets: &'a [Choice<'a>],
    /// The version that the form changes.
    pub version: &'a str,
    /// What the form contains: the current state, or what was chosen.
    pub given: DestinationGiven<'a>,
    /// What the form contained before anything was chosen.
    pub was: DestinationGiven<'a>,
    /// What is wrong with it.
    pub problems: &'a Problems,
}

impl<'a> DestinationPage<'a> {
    fn status_text(&self) -> &'a str {
        match self.status {
            "active" if self.destination.policy == "none" => "Nothing is copied",
            "active" => "Copying",
            "error" => "The last attempt failed; it will be retried",
            "paused" => "Paused, because the account is paused; resume it under Connected calendars",
            "reauthorization_required" => "The provider needs your consent again",
            other => other,
        }
    }

    fn needs_consent(&self) -> bool {
        self.status == "reauthorization_required"
    }

    fn published_text(&self) -> String {
        grouped(self.published)
    }

    fn diverged_text(&self) -> String {
        match self.diverged {
            0 => "None".to_owned(),
            1 => "1, which is left alone".to_owned(),
            more => format!("{}, which are left alone", grouped(more)),
        }
    }

    fn target(&self) -> Select<'a> {
        self.given.target_field(self.targets, self.problems)
    }

    fn policy(&self) -> Select<'a> {
        self.given.policy_field(&POLICIES, self.problems)
    }
}

/// The question whether to stop copying, and what happens to the copies.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "stop_copying.html")]
pub struct StopCopying<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The destination.
    pub destination: &'a DestinationShown,
    /// The version that the question is about.
    pub version: &'a str,
    /// Whether the copies stay, if that was chosen before.
    pub keeps: bool,
    /// What is wrong.
    pub problems: &'a Problems,
}

impl StopCopying<'_> {
    fn copies_problem(&self) -> Option<&str> {
        self.problems.of("copies")
    }
}

in_english!(Copies<'_>, DestinationPage<'_>, StopCopying<'_>);

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("confirmed", "Confirmed events")]
    #[case("confirmed_tentative", "Confirmed and tentative events")]
    #[case("none", "No events")]
    fn policies_have_words(#[case] policy: &str, #[case] text: &str) {
        assert_eq!(policy_text(policy), text);
    }
}
