//! The page of a proposal, and the question whether to cancel it. They are in English, like the console, and work without
//! scripts.

use askama::Template;
use kalends_i18n::Translator;
use kalends_time::{SignedDuration, Span, Timestamp, Zone};

use crate::{
    calendar::event_time,
    english::in_english,
    field::{Area, Choice, Select},
    link::with,
    problems::Problems,
    shell::{Done, Shell},
    time::zone_label,
    waiting::answers,
    zones::{Group, choices},
};

/// The fields of the form that answers a proposal, as the API names them.
pub const ANSWER_FIELDS: [&str; 4] = ["agent_id", "selected_slot_id", "calendar_id", "message"];
/// The value of the field `selected_slot_id` that declines every slot.
pub const DECLINES: &str = "decline";
/// The maximum length of a message, in characters.
const MESSAGE: usize = 2_000;

/// A proposal with everything that its page shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposalShown {
    /// The identifier.
    pub id: String,
    /// The title.
    pub title: String,
    /// The description; empty if there is none.
    pub description: String,
    /// The state.
    pub state: ProposalState,
    /// The agent that organizes it.
    pub organizer: AgentNamed,
    /// The name of its calendar; empty if that is deleted.
    pub calendar: String,
    /// The zone in which times are shown.
    pub zone: Zone,
    /// When it expires, or would have expired.
    pub expires_at: Timestamp,
    /// Whether the slots are reserved while it is pending.
    pub is_reserved: bool,
    /// Whether slots that are taken are skipped.
    pub skips_taken: bool,
    /// How many participants must accept a slot.
    pub min_accepts: u32,
    /// Whether the participants get events too.
    pub places_all: bool,
    /// The agents that are asked.
    pub participants: Vec<AgentNamed>,
    /// The slots, in the order in which they were offered.
    pub slots: Vec<ProposedSlot>,
    /// The answers, the oldest first.
    pub answers: Vec<ProposalAnswer>,
    /// The events that were created: the name of the agent, and the identifier of the event.
    pub events: Vec<(String, String)>,
    /// What deserves attention, as sentences.
    pub notices: Vec<String>,
}

/// An agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentNamed {
    /// The identifier.
    pub id: String,
    /// The name.
    pub name: String,
}

/// The state of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProposalState {
    /// It waits for answers, or for its organizer.
    Pending,
    /// A slot was chosen.
    Confirmed,
    /// All participants declined.
    AllDeclined,
    /// The organizer cancelled it.
    Cancelled,
    /// It was not resolved in time.
    Expired,
}

/// An offered slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedSlot {
    /// The identifier.
    pub id: String,
    /// The time.
    pub span: Span,
    /// The score.
    pub score: String,
    /// The name of its calendar, if that is not the proposal's.
    pub calendar: Option<String>,
    /// Whether it was chosen.
    pub is_chosen: bool,
}

/// The answer of a participant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposalAnswer {
    /// The participant.
    pub agent: AgentNamed,
    /// What it answered.
    pub kind: AnswerKind,
    /// The times that it would prefer.
    pub counter_slots: Vec<Span>,
    /// The message; empty if there is none.
    pub message: String,
    /// The name of the calendar for its event, if it is known.
    pub calendar: Option<String>,
    /// When it answered.
    pub at: Timestamp,
}

/// What a participant answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerKind {
    /// It accepts the slot with that identifier.
    Accepts(String),
    /// It declines all slots.
    Declines,
    /// It would prefer other times. The slot with that identifier is possible, if any.
    Counters(Option<String>),
}

impl ProposalAnswer {
    /// What the answer says about a slot.
    fn about(&self, slot: &str) -> &'static str {
        match &self.kind {
            AnswerKind::Accepts(accepted) if accepted == slot => "accepted",
            AnswerKind::Accepts(_) => "accepted another time",
            AnswerKind::Declines => "declined",
            AnswerKind::Counters(Some(possible)) if possible == slot => "counter-offer, this time is possible",
            AnswerKind::Counters(_) => "counter-offer",
        }
    }
}

/// What resolving the proposal now would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outlook {
    /// The slot with that identifier has the highest score.
    Chooses(String),
    /// It is cancelled, because all answers decline.
    Cancels,
    /// Nobody has answered.
    Unanswered,
    /// All slots have begun.
    NoSlotLeft,
    /// No slot has enough acceptances.
    TooFewAccepts,
    /// It has ended.
    Over,
}

impl ProposalShown {
    fn is_pending(&self) -> bool {
        self.state == ProposalState::Pending
    }

    fn state_text(&self) -> &'static str {
        match self.state {
            ProposalState::Pending if self.answers.len() == self.participants.len() => {
                "Pending: all have answered, and the organizer decides"
            }
            ProposalState::Pending => "Pending: it waits for answers",
            ProposalState::Confirmed => "Confirmed",
            ProposalState::AllDeclined => "Cancelled: all declined",
            ProposalState::Cancelled => "Cancelled by the organizer",
            ProposalState::Expired => "Expired",
        }
    }

    fn answered(&self) -> String {
        answers(self.answers.len(), self.participants.len())
    }

    fn expires(&self) -> String {
        self.time(self.expires_at)
    }

    fn time(&self, at: Timestamp) -> String {
        let (words, civil) = (Translator::english(), self.zone.to_civil(at));
        format!("{}, {}", words.date(civil.date), words.time(civil.time))
    }

    fn answered_at(&self, answer: &ProposalAnswer) -> String {
        self.time(answer.at)
    }

    fn when(&self, span: &Span) -> String {
        event_time(*span, None, self.zone)
    }

    /// A time of the proposal, whose offset is shown.
    fn first(&self) -> Timestamp {
        self.slots.first().map_or(self.expires_at, |slot| slot.span.start())
    }

    fn zone_text(&self) -> String {
        zone_label(self.zone, self.first())
    }

    fn duration(&self) -> String {
        let mut lengths = self.slots.iter().map(|slot| slot.span.length());
        let first = lengths.next().unwrap_or(SignedDuration::ZERO);
        if lengths.all(|length| length == first) { length_text(first) } else { "Different for each time".to_owned() }
    }

    fn places_text(&self) -> &'static str {
        if self.places_all { "The organizer, and all who do not decline" } else { "The organizer" }
    }

    fn taken_text(&self) -> &'static str {
        match (self.is_reserved, self.skips_taken) {
            (true, _) => "The times are reserved until the proposal ends",
            (false, true) => "A time that is taken by then is skipped",
            (false, false) => "A time can be chosen even if it is taken by then, unless its calendar refuses that",
        }
    }

    /// What the participant answered about the slot.
    fn cell(&self, agent: &AgentNamed, slot: &ProposedSlot) -> &'static str {
        let answer = self.answers.iter().find(|answer| answer.agent.id == agent.id);
        answer.map_or("no answer", |answer| answer.about(&slot.id))
    }

    fn chosen(&self) -> Option<&ProposedSlot> {
        self.slots.iter().find(|slot| slot.is_chosen)
    }

    fn slot(&self, id: &str) -> String {
        let slot = self.slots.iter().find(|slot| slot.id == id);
        slot.map(|slot| self.when(&slot.span)).unwrap_or_default()
    }

    fn said(&self, answer: &ProposalAnswer) -> String {
        match &answer.kind {
            AnswerKind::Accepts(slot) => format!("accepted {}", self.slot(slot)),
            AnswerKind::Declines => "declined".to_owned(),
            AnswerKind::Counters(Some(slot)) => format!("counter-offer; {} is possible too", self.slot(slot)),
            AnswerKind::Counters(None) => "counter-offer".to_owned(),
        }
    }
}

/// A length of time, such as `30 minutes`.
fn length_text(length: SignedDuration) -> String {
    let minutes = length.as_seconds() / 60;
    let count = |number: i64, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    match (minutes / 60, minutes % 60) {
        (0, 0) => "Less than a minute".to_owned(),
        (0, minutes) => count(minutes, "minute"),
        (hours, 0) => count(hours, "hour"),
        (hours, minutes) => format!("{} {}", count(hours, "hour"), count(minutes, "minute")),
    }
}

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
        Area { name, label, value: self.given.message, max: MESSAGE, problem: self.problems.of(name) }
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

    fn outlook_text(&self) -> String {
        let text = match self.outlook {
            Outlook::Chooses(slot) => {
                let time = self.proposal.slot(slot);
                return format!(
                    "If it is resolved now, {time} has the highest score and becomes an event, unless it must be \
                     skipped because it is taken. Answers that are missing then count no more."
                );
            }
            Outlook::Cancels => "All who have answered declined. Resolving the proposal now cancels it.",
            Outlook::Unanswered => "It can be resolved as soon as somebody has answered.",
            Outlook::NoSlotLeft => "It cannot be resolved, because all times have begun.",
            Outlook::TooFewAccepts => "It cannot be resolved now: no time that is left has enough acceptances.",
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
    fn answers(&self) -> String {
        answers(self.answered, self.participants)
    }
}

in_english!(ProposalPage<'_>, CancelProposal<'_>);

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(59, "Less than a minute")]
    #[case(60, "1 minute")]
    #[case(1_800, "30 minutes")]
    #[case(3_600, "1 hour")]
    #[case(5_400, "1 hour 30 minutes")]
    #[case(176_400, "49 hours")]
    fn lengths_are_written_in_hours_and_minutes(#[case] seconds: i64, #[case] text: &str) {
        assert_eq!(length_text(SignedDuration::seconds(seconds)), text);
    }

    #[rstest]
    #[case(AnswerKind::Accepts("slt_a".to_owned()), "accepted", "accepted another time")]
    #[case(AnswerKind::Declines, "declined", "declined")]
    #[case(
        AnswerKind::Counters(Some("slt_a".to_owned())),
        "counter-offer, this time is possible",
        "counter-offer"
    )]
    #[case(AnswerKind::Counters(None), "counter-offer", "counter-offer")]
    fn answers_say_something_about_each_slot(#[case] kind: AnswerKind, #[case] a: &str, #[case] b: &str) {
        let answer = ProposalAnswer {
            agent: AgentNamed { id: "agt_a".to_owned(), name: "Ada".to_owned() },
            kind,
            counter_slots: Vec::new(),
            message: String::new(),
            calendar: None,
            at: Timestamp::EPOCH,
        };
        assert_eq!((answer.about("slt_a"), answer.about("slt_b")), (a, b));
    }
}
