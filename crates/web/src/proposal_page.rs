//! The page of a proposal, and the question whether to cancel it. They are in English, like the console, and work
//! without scripts.

use askama::Template;
use kalends_time::Timestamp;

use crate::{
    english::in_english,
    field::{Area, Choice, Select},
    link::with,
    problems::Problems,
    proposals::{Outlook, ProposalShown, ProposedSlot},
    shell::{Done, Shell},
    waiting::answers,
    zones::{Group, choices},
};

/// The fields of the form that answers a proposal, as the API names them.
pub const ANSWER_FIELDS: [&str; 4] = ["agent_id", "selected_slot_id", "calendar_id", "message"];
/// The value of the field `selected_slot_id` that declines every slot.
pub const DECLINES: &str = "decline";
/// The maximum length of a message, in characters.
const MESSAGE: usize = 2_000;

/// What was given in the form that answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AnswerGiven<'a> {
    /// The identifier of the agent that answers.
    pub agent: &'a str,
    /// The identifier of the slot that it accepts, or [`DECLINES`].
    pub slot: &'a str,
    /// The identifier of the calendar for its event.
    pub calendar: &'a str,
    /// A message to the organizer.
    pub message: &'a str,
}

/// The page of a proposal.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "proposal.html")]
pub struct ProposalPage<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// The random key of the forms.
    pub once: &'a str,
    /// The proposal.
    pub proposal: &'a ProposalShown,
    /// What resolving it now would do.
    pub outlook: &'a Outlook,
    /// Whether the user may answer for agents.
    pub may_answer: bool,
    /// Whether the user may resolve and cancel it.
    pub may_organize: bool,
    /// The agents that have not answered, with their names.
    pub agents: &'a [Choice<'a>],
    /// The calendars of these agents, if they get events.
    pub calendars: &'a [Choice<'a>],
    /// Whether some of these agents have other calendars too.
    pub has_more_calendars: bool,
    /// What was given in the form that answers.
    pub given: AnswerGiven<'a>,
    /// What is wrong with a form.
    pub problems: &'a Problems,
    /// The current time.
    pub now: Timestamp,
}

impl<'a> ProposalPage<'a> {
    fn is_answerable(&self) -> bool {
        self.may_answer && self.proposal.is_pending() && !self.agents.is_empty()
    }

    fn is_organizable(&self) -> bool {
        self.may_organize && self.proposal.is_pending()
    }

    fn agent(&self) -> Select<'a> {
        let (name, label) = ("agent_id", "Agent that answers");
        let problem = self.problems.of(name);
        Select { name, label, options: self.agents, chosen: self.given.agent, problem }
    }

    fn calendar(&self) -> Select<'a> {
        let (name, label) = ("calendar_id", "Calendar for its event");
        let problem = self.problems.of(name);
        Select { name, label, options: self.calendars, chosen: self.given.calendar, problem }
    }

    fn message(&self) -> Area<'a> {
        let (name, label) = ("message", "Message to the organizer");
        Area { name, label, value: self.given.message, max: MESSAGE, problem: self.problems.of(name), hint: None }
    }

    /// The slots that can still be accepted.
    fn open_slots(&self) -> impl Iterator<Item = &'a ProposedSlot> {
        let now = self.now;
        self.proposal.slots.iter().filter(move |slot| slot.span.start() > now)
    }

    fn slot_problem(&self) -> Option<&'a str> {
        self.problems.of("selected_slot_id")
    }

    fn accepts(&self, slot: &ProposedSlot) -> bool {
        self.given.slot == slot.id
    }

    fn declines(&self) -> bool {
        self.given.slot == DECLINES
    }

    /// What is to know about a slot beside its answers.
    fn mark(&self, slot: &ProposedSlot) -> Option<&'static str> {
        if slot.is_chosen {
            Some("chosen")
        } else if !self.proposal.is_pending() {
            None
        } else if slot.span.start() <= self.now {
            Some("has begun")
        } else {
            matches!(self.outlook, Outlook::Chooses(best) if *best == slot.id).then_some("best now")
        }
    }

    fn resolves(&self) -> bool {
        matches!(self.outlook, Outlook::Chooses(_) | Outlook::Cancels)
    }

    /// What the page shows that resolving the proposal would do: the identifier of a slot, or [`DECLINES`].
    fn foreseen(&self) -> &'a str {
        match self.outlook {
            Outlook::Chooses(slot) => slot,
            Outlook::Cancels => DECLINES,
            _ => "",
        }
    }

    fn outlook_text(&self) -> String {
        let text = match self.outlook {
            Outlook::Chooses(slot) => {
                let time = self.proposal.slot(slot);
                let who = if self.proposal.places_all {
                    "the organizer and all who do not decline get an event at that time"
                } else {
                    "the organizer gets an event at that time"
                };
                let missing =
                    if self.proposal.is_answered() { "" } else { " Answers that are missing then count no more." };
                return format!(
                    "{time} is the best time that can be chosen. If the proposal is resolved now, {who}. If it must be \
                     skipped because it is taken, the next best time is chosen.{missing}"
                );
            }
            Outlook::Cancels => "All who have answered declined. Resolving the proposal now cancels it.",
            Outlook::Unanswered => "It can be resolved as soon as somebody has answered.",
            Outlook::NoSlotLeft => "It cannot be resolved, because all times have begun.",
            Outlook::TooFewAccepts => "It cannot be resolved now: no remaining time has enough acceptances.",
            Outlook::Over => "It has ended.",
        };
        text.to_owned()
    }

    fn cancel_href(&self) -> String {
        with(&format!("/console/proposals/{}/cancel", self.proposal.id), &[("tz", &self.proposal.zone)])
    }

    fn zones(&self) -> Vec<Group> {
        let zone = self.proposal.zone;
        choices(zone, zone, self.proposal.first())
    }
}

/// The question whether to cancel a proposal.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "cancel_proposal.html")]
pub struct CancelProposal<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// The random key of the form.
    pub once: &'a str,
    /// The identifier.
    pub id: &'a str,
    /// The title.
    pub title: &'a str,
    /// The zone in which the page of the proposal shows times; empty for that of its calendar.
    pub zone: &'a str,
    /// The number of participants that have answered.
    pub answered: usize,
    /// The number of participants.
    pub participants: usize,
    /// The number of its slots.
    pub slots: usize,
    /// Whether its slots are reserved.
    pub is_reserved: bool,
}

impl CancelProposal<'_> {
    fn back_href(&self) -> String {
        let path = format!("/console/proposals/{}", self.id);
        if self.zone.is_empty() { path } else { with(&path, &[("tz", &self.zone)]) }
    }

    fn answers(&self) -> String {
        answers(self.answered, self.participants)
    }
}

in_english!(ProposalPage<'_>, CancelProposal<'_>);
