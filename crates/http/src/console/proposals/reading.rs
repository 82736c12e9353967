//! Reads what the page of a proposal shows.

use std::collections::{BTreeMap, BTreeSet};

use kalends_app::{Actor, App, Refusal, ports::CalendarName};
use kalends_calendars::Calendar;
use kalends_kernel::{AgentId, CalendarId, Page, SlotId};
use kalends_proposals::{
    CancelReason, Placement, Proposal, ProposalError, Response, ResponseKind, Slot, State, Verdict,
};
use kalends_time::{Timestamp, Zone};
use kalends_web::{
    AgentNamed, AnswerKind, Choice, Outlook, ProposalAnswer, ProposalShown, ProposalState, ProposedSlot,
};
use kalends_wire as wire;

use super::super::shown::capitalized;

/// The option that chooses no calendar.
const NO_CALENDAR: &str = "Choose a calendar (not needed if the agent has only one)";
/// The characters at the end of an identifier that distinguish agents of the same name. It begins with a time.
const DISTINCT: usize = 6;
/// The calendars of an agent to choose from, the oldest first.
const OFFERED: Page = Page { limit: 10, offset: 0 };

/// The agents and calendars that a proposal names.
pub(super) struct Read {
    agents: BTreeMap<AgentId, String>,
    /// Those that are not deleted.
    calendars: BTreeMap<CalendarId, CalendarName>,
}

impl Read {
    /// Reads them. A proposal has at most 51 agents and 71 calendars.
    pub(super) async fn of(app: &App, caller: &Actor, proposal: &Proposal) -> Result<Self, Refusal> {
        let mut agents: BTreeSet<AgentId> = proposal.participants().iter().copied().collect();
        agents.insert(proposal.organizer());
        let offered = proposal.slots().iter().filter_map(Slot::calendar);
        let answered = proposal.responses().iter().filter_map(Response::calendar);
        let named: BTreeSet<CalendarId> = offered.chain(answered).chain([proposal.calendar()]).collect();
        let calendars = app.calendar_names(caller, &named).await?;
        let agents = app.agent_names(caller, &agents).await?.into_iter().map(|(id, agent)| (id, agent.name)).collect();
        Ok(Self { agents: distinct(agents), calendars })
    }

    fn name(&self, agent: AgentId) -> String {
        self.agents.get(&agent).cloned().unwrap_or_else(|| agent.to_string())
    }

    fn agent(&self, agent: AgentId) -> AgentNamed {
        AgentNamed { id: agent.to_string(), name: self.name(agent) }
    }

    fn calendar(&self, id: CalendarId) -> Option<String> {
        self.calendars.get(&id).map(|calendar| calendar.name.clone())
    }

    /// The text with the name of the agent in the place of its identifier.
    pub(super) fn named(&self, agent: &str, text: &str) -> String {
        match agent.parse::<AgentId>() {
            Ok(id) => text.replace(&id.to_string(), &self.name(id)),
            Err(_) => text.to_owned(),
        }
    }

    /// The zone in which a page shows times: the one that was asked for, or that of the proposal's calendar.
    pub(super) fn zone(&self, proposal: &Proposal, asked: Option<Zone>) -> Zone {
        let own = self.calendars.get(&proposal.calendar());
        asked.or_else(|| own.map(|calendar| calendar.zone)).unwrap_or(Zone::UTC)
    }

    /// The proposal as the page shows it, with times in that zone.
    pub(super) fn shown(&self, proposal: &Proposal, zone: Zone, now: Timestamp) -> ProposalShown {
        let known = wire::Proposal::of(proposal, now);
        let (won, _) = proposal.state().details();
        let chosen = won.map(|(slot, _)| slot);
        let events = known.summary.created_events.iter();
        ProposalShown {
            id: proposal.id().to_string(),
            title: proposal.title().to_owned(),
            description: proposal.description().unwrap_or_default().to_owned(),
            state: state(proposal.state_at(now)),
            organizer: self.agent(proposal.organizer()),
            calendar: self.calendar(proposal.calendar()).unwrap_or_default(),
            zone,
            expires_at: proposal.expires_at(),
            is_reserved: proposal.hold_slots(),
            skips_taken: proposal.skip_taken(),
            min_accepts: proposal.min_accepts(),
            places_all: proposal.placement() == Placement::All,
            participants: proposal.participants().iter().map(|agent| self.agent(*agent)).collect(),
            slots: proposal.slots().iter().map(|slot| self.slot(proposal, slot, chosen)).collect(),
            answers: proposal.responses().iter().map(|response| self.answer(response)).collect(),
            events: events.map(|made| (self.name(made.agent_id), made.event_id.to_string())).collect(),
            notices: known.notices.iter().map(|notice| self.notice(notice)).collect(),
        }
    }

    fn slot(&self, proposal: &Proposal, slot: &Slot, chosen: Option<SlotId>) -> ProposedSlot {
        let other = slot.calendar().filter(|calendar| *calendar != proposal.calendar());
        ProposedSlot {
            id: slot.id().to_string(),
            span: slot.span(),
            score: proposal.score(slot).as_f64().to_string(),
            calendar: other.map(|id| self.calendar(id).unwrap_or_else(|| "a deleted calendar".to_owned())),
            is_chosen: chosen == Some(slot.id()),
        }
    }

    fn answer(&self, response: &Response) -> ProposalAnswer {
        let selected = response.selected().map(|slot| slot.to_string());
        ProposalAnswer {
            agent: self.agent(response.agent()),
            kind: match response.kind() {
                // An acceptance always names a slot.
                ResponseKind::Accept => AnswerKind::Accepts(selected.unwrap_or_default()),
                ResponseKind::Decline => AnswerKind::Declines,
                ResponseKind::Counter => AnswerKind::Counters(selected),
            },
            counter_slots: response.counter_slots().to_vec(),
            message: response.message().unwrap_or_default().to_owned(),
            calendar: response.calendar().and_then(|id| self.calendar(id)),
            at: response.created_at(),
        }
    }

    /// What deserves attention, as a sentence, with the names of agents.
    fn notice(&self, notice: &wire::Notice) -> String {
        let text = match &*notice.code {
            "too_few_accepts" => "All have answered, but no time has enough acceptances.",
            "no_slot_left" => "All have answered, but all times have begun.",
            "slot_taken" => {
                "All have answered, but no time could be used: each was taken, or its calendar was deleted. Free one \
                 and resolve the proposal, or cancel it."
            }
            _ => {
                let words = notice.message.split_once(' ');
                let named = words.and_then(|(id, rest)| Some((id.parse::<AgentId>().ok()?, rest)));
                return match named {
                    Some((agent, rest)) => format!("{} {rest}.", self.name(agent)),
                    None => capitalized(&notice.message) + ".",
                };
            }
        };
        text.to_owned()
    }

    /// What the form that answers offers: the agents that have not answered, and the calendars for their events.
    pub(super) async fn choices(&self, app: &App, caller: &Actor, proposal: &Proposal) -> Result<Choices, Refusal> {
        let has_answered = |agent: AgentId| proposal.responses().iter().any(|response| response.agent() == agent);
        let open = proposal.participants().iter().copied().filter(|agent| !has_answered(*agent));
        let open: Vec<AgentId> = open.collect();
        let mut choices = Choices::default();
        if open.len() > 1 {
            choices.agents.push((String::new(), "Choose an agent".to_owned()));
        }
        choices.agents.extend(open.iter().map(|agent| (agent.to_string(), self.name(*agent))));
        if proposal.placement() == Placement::All {
            for agent in open.into_iter().filter(|agent| *agent != proposal.organizer()) {
                choices.add_calendars(app, caller, agent, &self.name(agent)).await?;
            }
        }
        Ok(choices)
    }
}

/// What the form that answers offers, by identifiers and titles.
#[derive(Default)]
pub(super) struct Choices {
    agents: Vec<(String, String)>,
    calendars: Vec<(String, String)>,
    /// Whether an agent has other calendars too.
    pub(super) has_more_calendars: bool,
}

impl Choices {
    async fn add_calendars(&mut self, app: &App, caller: &Actor, agent: AgentId, name: &str) -> Result<(), Refusal> {
        let listed = match app.list_agent_calendars(caller, &agent.to_string(), OFFERED).await {
            Ok(listed) => listed,
            Err(Refusal::NotFound { .. }) => return Ok(()),
            Err(refusal) => return Err(refusal),
        };
        self.has_more_calendars |= listed.total > u64::from(OFFERED.limit);
        if self.calendars.is_empty() && !listed.data.is_empty() {
            self.calendars.push((String::new(), NO_CALENDAR.to_owned()));
        }
        let option = |calendar: Calendar| (calendar.id.to_string(), format!("{name}: {}", calendar.name));
        self.calendars.extend(listed.data.into_iter().map(option));
        Ok(())
    }

    pub(super) fn agents(&self) -> Vec<Choice<'_>> {
        choices_of(&self.agents)
    }

    pub(super) fn calendars(&self) -> Vec<Choice<'_>> {
        choices_of(&self.calendars)
    }
}

fn choices_of(options: &[(String, String)]) -> Vec<Choice<'_>> {
    options.iter().map(|(value, title)| Choice { value, title }).collect()
}

/// The names, with the end of the identifier if several agents have the same one.
fn distinct(names: BTreeMap<AgentId, String>) -> BTreeMap<AgentId, String> {
    let mut counts = BTreeMap::<String, u32>::new();
    for name in names.values() {
        *counts.entry(name.clone()).or_default() += 1;
    }
    let named = |(agent, name): (AgentId, String)| {
        if counts.get(&name).is_none_or(|count| *count < 2) {
            return (agent, name);
        }
        let id = agent.to_string();
        let end = &id[id.len().saturating_sub(DISTINCT)..];
        (agent, format!("{name} (…{end})"))
    };
    names.into_iter().map(named).collect()
}

/// The state, as pages show it.
pub(super) const fn state(state: State) -> ProposalState {
    match state {
        State::Pending => ProposalState::Pending,
        State::Confirmed { .. } => ProposalState::Confirmed,
        State::Cancelled(CancelReason::AllDeclined) => ProposalState::AllDeclined,
        State::Cancelled(CancelReason::OrganizerCancelled) => ProposalState::Cancelled,
        State::Expired => ProposalState::Expired,
    }
}

/// What resolving the proposal now would do.
pub(super) fn outlook(proposal: &Proposal, now: Timestamp) -> Outlook {
    match proposal.verdict(now) {
        Ok(Verdict::Ranked(ranking)) => Outlook::Chooses(ranking.best().id().to_string()),
        Ok(Verdict::AllDeclined) => Outlook::Cancels,
        Err(ProposalError::NoResponses) => Outlook::Unanswered,
        Err(ProposalError::NoSlotLeft) => Outlook::NoSlotLeft,
        Err(ProposalError::TooFewAccepts(_)) => Outlook::TooFewAccepts,
        Err(_) => Outlook::Over,
    }
}
