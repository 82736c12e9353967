//! A proposal as its page shows it, in English.

use kalends_i18n::Translator;
use kalends_time::{SignedDuration, Span, Timestamp, Zone};

use crate::{
    calendar::event_time,
    time::{in_utc, offset_of_repeated, zone_of},
    waiting::answers,
};

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

impl ProposalState {
    /// Its name in a list.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Confirmed => "Confirmed",
            Self::AllDeclined => "Cancelled: all declined",
            Self::Cancelled => "Cancelled by the organizer",
            Self::Expired => "Expired",
        }
    }
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
            AnswerKind::Counters(Some(possible)) if possible == slot => "counter-proposal, this time is possible",
            AnswerKind::Counters(_) => "counter-proposal",
        }
    }
}

/// What resolving the proposal now would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outlook {
    /// The slot with that identifier is the best one that can be chosen.
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
    pub(crate) fn is_pending(&self) -> bool {
        self.state == ProposalState::Pending
    }

    /// Whether all participants have answered.
    pub(crate) fn is_answered(&self) -> bool {
        self.answers.len() == self.participants.len()
    }

    pub(crate) fn state_text(&self) -> &'static str {
        match self.state {
            ProposalState::Pending if self.is_answered() => "Pending: all have answered, and the organizer decides",
            ProposalState::Pending => "Pending: it waits for answers",
            ended => ended.title(),
        }
    }

    pub(crate) fn answered(&self) -> String {
        answers(self.answers.len(), self.participants.len())
    }

    /// When it expires, in UTC as in the lists of proposals.
    pub(crate) fn expires(&self) -> String {
        in_utc(self.expires_at)
    }

    fn time(&self, at: Timestamp) -> String {
        let (words, civil) = (Translator::english(), self.zone.to_civil(at));
        let offset = offset_of_repeated(self.zone, at);
        format!("{}, {}{offset}", words.date(civil.date), words.time(civil.time))
    }

    pub(crate) fn answered_at(&self, answer: &ProposalAnswer) -> String {
        self.time(answer.at)
    }

    pub(crate) fn when(&self, span: &Span) -> String {
        event_time(*span, None, self.zone)
    }

    /// A slot as an option of a form, with its calendar if not all slots have the same one.
    pub(crate) fn option(&self, slot: &ProposedSlot) -> String {
        let time = self.when(&slot.span);
        let own = Some(self.calendar.as_str()).filter(|name| !name.is_empty());
        match slot.calendar.as_deref().or(own) {
            Some(calendar) if self.slots.iter().any(|slot| slot.calendar.is_some()) => format!("{time}, on {calendar}"),
            _ => time,
        }
    }

    /// A time of the proposal, at which the offsets of the zones to choose from are shown.
    pub(crate) fn first(&self) -> Timestamp {
        self.slots.first().map_or(self.expires_at, |slot| slot.span.start())
    }

    pub(crate) fn zone_text(&self) -> String {
        let times = self.slots.iter().flat_map(|slot| [slot.span.start(), slot.span.end()]);
        zone_of(self.zone, times)
    }

    pub(crate) fn duration(&self) -> String {
        let mut lengths = self.slots.iter().map(|slot| slot.span.length());
        let first = lengths.next().unwrap_or(SignedDuration::ZERO);
        if lengths.all(|length| length == first) { length_text(first) } else { "Different for each time".to_owned() }
    }

    pub(crate) fn places_text(&self) -> &'static str {
        if self.places_all { "The organizer, and all who do not decline" } else { "The organizer" }
    }

    /// Whether the slots are reserved now.
    pub(crate) fn reserves(&self) -> bool {
        self.is_reserved && self.is_pending()
    }

    pub(crate) fn taken_text(&self) -> &'static str {
        if self.skips_taken {
            "A time that is taken by then is skipped"
        } else {
            "A time can be chosen even if it is taken by then, unless its calendar refuses that"
        }
    }

    /// What the participant answered about the slot.
    pub(crate) fn cell(&self, agent: &AgentNamed, slot: &ProposedSlot) -> &'static str {
        let answer = self.answers.iter().find(|answer| answer.agent.id == agent.id);
        answer.map_or("no answer", |answer| answer.about(&slot.id))
    }

    pub(crate) fn chosen(&self) -> Option<&ProposedSlot> {
        self.slots.iter().find(|slot| slot.is_chosen)
    }

    pub(crate) fn slot(&self, id: &str) -> String {
        let slot = self.slots.iter().find(|slot| slot.id == id);
        slot.map(|slot| self.when(&slot.span)).unwrap_or_default()
    }

    pub(crate) fn said(&self, answer: &ProposalAnswer) -> String {
        match &answer.kind {
            AnswerKind::Accepts(slot) => format!("accepted {}", self.slot(slot)),
            AnswerKind::Declines => "declined".to_owned(),
            AnswerKind::Counters(Some(slot)) => format!("counter-proposal; {} is possible too", self.slot(slot)),
            AnswerKind::Counters(None) => "counter-proposal".to_owned(),
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
        "counter-proposal, this time is possible",
        "counter-proposal"
    )]
    #[case(AnswerKind::Counters(None), "counter-proposal", "counter-proposal")]
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
