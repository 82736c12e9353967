//! The availability of an agent, of a calendar or of several agents.

use std::sync::Arc;

use bytes::Bytes;
use kalends_accounts::Scope;
use kalends_availability::{BusySet, CachedBusy};
use kalends_bridge::AvailabilityState;
use kalends_calendars::BUFFER_MAX_MINUTES;
use kalends_calendars::{
    Event, HeldTime, Reservation,
    ports::{BusySource, CalendarBusy, LivingAgent},
};
use kalends_kernel::{AgentId, CalendarId, FieldError, OrgId};
use kalends_plans::Feature;
use kalends_time::{CivilDate, SignedDuration, Span, Timestamp, Zone};
use kalends_wire::{Across, Found, Of, SlotsRequest, render};

use crate::{
    Actor, App, Missing, Refusal,
    attempt::ATTEMPTS,
    busy_cache::{KnownTime, sooner},
    human::Humans,
    questions::{AvailabilityQuestion, Whose},
};

impl App {
    /// The slots in which all calendars of an agent are free, as JSON.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if no such living agent exists, [`Refusal::Invalid`] for too many slots.
    pub async fn agent_availability(&self, actor: &Actor, id: &str, slots: SlotsRequest) -> Result<Bytes, Refusal> {
        let agent = Self::agent_id(id)?;
        let (sources, without) = self.sources_of_one(actor.org(), agent, slots.query.window()).await?;
        // Checked after the lookup: a missing agent, or one of another organization, is not found rather than out of
        // reach.
        actor.for_busy_times(Some(agent))?;
        let asks = Asks::of(actor, [Some(agent)]);
        self.answered(asks, Whose::Agents(vec![agent]), (sources, &without), slots).await
    }

    /// The slots in which one calendar is free, as JSON.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::Invalid`] for too many slots.
    pub async fn calendar_availability(&self, actor: &Actor, id: &str, slots: SlotsRequest) -> Result<Bytes, Refusal> {
        let source = self.any_source(actor, id).await?;
        actor.for_busy_times(source.agent)?;
        let asks = Asks::of(actor, [source.agent]);
        self.answered(asks, Whose::Calendar(source.calendar), (vec![source], &[]), slots).await
    }

    /// The slots in which several agents are all free, as JSON.
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`] on free plans; [`Refusal::NotFound`] for an unknown agent or calendar;
    /// [`Refusal::Invalid`] for a range beyond the plan's, for a calendar that belongs to none of the agents, and for
    /// too many slots.
    pub async fn availability(&self, actor: &Actor, across: Across) -> Result<Bytes, Refusal> {
        actor.needs(Feature::CrossAgentAvailability)?;
        within_plan(actor, &across)?;
        let agents = across.agents.iter().map(|id| Self::agent_id(id)).collect::<Result<Vec<_>, _>>()?;
        let (mut sources, without) = self.sources_of(actor.org(), &agents).await?;
        agents.iter().try_for_each(|agent| actor.for_busy_times(Some(*agent)))?;
        let asks = Asks::of(actor, agents.iter().map(|agent| Some(*agent)));
        if let Some(calendars) = &across.calendars {
            self.narrow(actor.org(), &mut sources, calendars).await?;
        }
        self.answered(asks, Whose::Agents(agents), (sources, &without), across.slots).await
    }

    /// The cached answer if no calendar has changed, else a new one. `without` lists the agents that have no visible
    /// calendar.
    async fn answered(
        &self,
        Asks { org, about_others }: Asks,
        whose: Whose,
        (sources, without): (Vec<BusySource>, &[LivingAgent]),
        slots: SlotsRequest,
    ) -> Result<Bytes, Refusal> {
        // Whether a time is offered must not depend on what an agent's key may not know: that a human calendar counts.
        let slots = SlotsRequest { allow_stale: slots.allow_stale && about_others.is_none(), ..slots };
        let humans = self.humans_of_agents(org, &sources, without).await?;
        let question = AvailabilityQuestion { whose, sources, humans, slots, about_others };
        let now = self.now();
        if let Some(known) = self.answers.get(&question, now) {
            return Ok(known);
        }
        let window = slots.query.window();
        let counting = (question.humans.clone(), question.sources.as_slice());
        let humans = self.read_humans(org, counting, widest(window), now, slots.allow_stale).await?;
        // Unknown time that is neither offered nor busy could only come from a human calendar.
        let humans = humans.hiding_unknown(about_others.is_some());
        let (mut parties, busy) = (Vec::new(), slots.include_busy);
        match &question.whose {
            Whose::Calendar(_) => {
                parties.push(self.time_of(org, question.sources.iter(), window, busy, &humans, now).await?);
            }
            Whose::Agents(agents) => {
                for agent in agents {
                    let own = question.sources.iter().filter(|source| source.agent == Some(*agent));
                    let party = self.time_of(org, own, window, busy, &humans, now).await?;
                    parties.push(party.or_of_humans(*agent, window, busy, &humans));
                }
            }
        }
        let union;
        let taken = match parties.as_slice() {
            [only] => &only.taken,
            several => {
                union = BusySet::union_all(several.iter().map(|party| &party.taken));
                &union
            }
        };
        // The state covers all human calendars that affect the window, including by buffers.
        let reach = parties.iter().fold(window, |reach, party| hull(reach, party.reach));
        let known = humans.know(reach);
        let (of, busy, per_agent) = match &question.whose {
            Whose::Calendar(calendar) => {
                let busy = parties.first().filter(|_| slots.include_busy).map(Party::busy);
                (Of::Calendar(*calendar), busy, None)
            }
            Whose::Agents(agents) => {
                let busy_per_agent = || agents.iter().copied().zip(parties.iter().map(Party::busy)).collect::<Vec<_>>();
                (Of::Agents(agents), None, slots.include_busy.then(busy_per_agent))
            }
        };
        // An answer about others does not say whether human calendars count for them.
        let state = if about_others.is_some() { AvailabilityState::Complete } else { known.state };
        let warnings: &[_] = if about_others.is_some() { &[] } else { known.warnings.as_slice() };
        let (query, per_agent, as_of) = (slots.query, per_agent.as_deref(), &question.as_of());
        let found = Found { of, query, taken, busy, per_agent, state, warnings, as_of };
        let answer = Bytes::from(render(&found).map_err(FieldError::from)?);
        let valid_until = parties.iter().fold(known.valid_until, |until, party| sooner(until, party.valid_until));
        self.answers.keep(question, answer.clone(), valid_until);
        Ok(answer)
    }

    /// [`Self::sources_of`] for one agent. If the busy times of its calendars are not cached, they are read together
    /// with the sources.
    async fn sources_of_one(
        &self,
        org: OrgId,
        agent: AgentId,
        window: Span,
    ) -> Result<(Vec<BusySource>, Vec<LivingAgent>), Refusal> {
        if !self.busy.may_know(agent, window) {
            let covers = whole_days(window);
            let found = self.parts.store.busy_of_agent(org, agent, covers).await?;
            if !found.is_empty() {
                let sources = found.iter().map(|(source, _)| *source).collect();
                for (source, read) in found {
                    if let Some(read) = self.complete(org, source.calendar, covers, read).await? {
                        self.keep_busy(source.calendar, covers, read);
                    }
                }
                self.busy.knows(agent, covers);
                return Ok((sources, Vec::new()));
            }
        }
        self.sources_of(org, &[agent]).await
    }

    /// A visible calendar that the actor may access, as a source.
    pub(crate) async fn source_in_reach(&self, actor: &Actor, id: &str) -> Result<BusySource, Refusal> {
        let source = self.any_source(actor, id).await?;
        actor.for_agent(source.agent)?;
        Ok(source)
    }

    /// A visible calendar of the organization as a source, whether or not the actor may access it.
    async fn any_source(&self, actor: &Actor, id: &str) -> Result<BusySource, Refusal> {
        let missing = || Refusal::missing(Missing::Calendar, id);
        let calendar: CalendarId = id.parse().map_err(|_| missing())?;
        self.parts.store.source_of_calendar(actor.org(), calendar).await?.ok_or_else(missing)
    }

    /// The visible calendars of the agents, and the agents that have none. Each agent must exist and live.
    pub(crate) async fn sources_of(
        &self,
        org: OrgId,
        agents: &[AgentId],
    ) -> Result<(Vec<BusySource>, Vec<LivingAgent>), Refusal> {
        let sources = self.parts.store.sources_of_agents(org, agents).await?;
        // An agent with a visible calendar exists, so only the others need a lookup.
        let has = |agent: &AgentId| sources.iter().any(|source| source.agent == Some(*agent));
        let others: Vec<AgentId> = agents.iter().copied().filter(|agent| !has(agent)).collect();
        if others.is_empty() {
            return Ok((sources, Vec::new()));
        }
        let living = self.parts.store.living_agents(org, &others).await?;
        match others.iter().find(|other| !living.iter().any(|living| living.id == **other)) {
            Some(gone) => Err(Refusal::missing(Missing::Agent, &gone.to_string())),
            None => Ok((sources, living)),
        }
    }

    async fn narrow(&self, org: OrgId, sources: &mut Vec<BusySource>, ids: &[String]) -> Result<(), Refusal> {
        let mut kept = Vec::with_capacity(ids.len());
        for id in ids {
            let missing = || Refusal::missing(Missing::Calendar, id);
            let calendar: CalendarId = id.parse().map_err(|_| missing())?;
            match sources.iter().find(|source| source.calendar == calendar) {
                Some(source) => kept.push(*source),
                None if self.parts.store.find_calendar(org, calendar).await?.is_some() => {
                    let message = format!("{id} belongs to none of the agents; leave it out or add its agent");
                    return Err(FieldError::new("calendars", message).into());
                }
                None => return Err(missing()),
            }
        }
        *sources = kept;
        Ok(())
    }

    /// The time inside `window` that at least one of the calendars does not offer.
    pub(crate) async fn taken(
        &self,
        org: OrgId,
        sources: &[BusySource],
        window: Span,
        now: Timestamp,
    ) -> Result<BusySet, Refusal> {
        let seen = self.humans_of(org, sources).await?;
        let humans = self.read_humans(org, (seen, sources), widest(window), now, false).await?;
        Ok(self.time_of(org, sources.iter(), window, false, &humans, now).await?.taken)
    }

    /// The taken time of a calendar, including that of its human calendars. For each span in `without`, one event that
    /// has it is left out. `None` if the calendar is no longer visible, or has no such event.
    pub(crate) async fn taken_time(
        &self,
        org: OrgId,
        source: BusySource,
        humans: &Humans,
        (window, around): (Span, Span),
        without: &[Span],
        now: Timestamp,
    ) -> Result<Option<TakenTime>, Refusal> {
        let known = match without {
            [] => self.known_busy(org, source, around, now).await?,
            own => self.busy_without(org, source.calendar, around, own).await?.map(Arc::new),
        };
        let Some(known) = known else { return Ok(None) };
        let mut taken = vec![known.taken().clip(window)];
        let human = humans.blocked(source.calendar, known.reads(window));
        taken.extend(human.map(|human| known.buffered(human, window)));
        let mut busy = vec![known.busy().clip(around)];
        busy.extend(humans.busy(source.calendar, around));
        let valid_until = sooner(known.valid_until(), humans.know(hull(around, known.reads(window))).valid_until);
        Ok(Some(TakenTime { not_offered: merged(taken), busy: merged(busy), known, valid_until }))
    }

    /// The busy times of a calendar around `window` without one event for each span in `own`. The result is not cached.
    async fn busy_without(
        &self,
        org: OrgId,
        calendar: CalendarId,
        window: Span,
        own: &[Span],
    ) -> Result<Option<KnownTime>, Refusal> {
        let covers = whole_days(widest(window));
        let Some(read) = self.parts.store.blocking_spans(org, calendar, covers).await? else { return Ok(None) };
        let Some(mut whole) = self.complete(org, calendar, covers, read).await? else { return Ok(None) };
        // An event that is outside does not block.
        let mut own: Vec<Span> = own.iter().copied().filter(|own| own.clip(covers).is_some()).collect();
        own.sort_unstable_by_key(|span| (span.start(), span.end()));
        whole.read.spans.sort_unstable_by_key(|span| (span.start(), span.end()));
        let mut left = own.iter().peekable();
        whole.read.spans.retain(|span| left.next_if(|own| *own == span).is_none());
        if left.peek().is_some() {
            return Ok(None);
        }
        Ok(Some(self.known_time(covers, whole)))
    }

    /// The taken and busy time of several calendars together, merged and clipped to `window`.
    async fn time_of<'a>(
        &self,
        org: OrgId,
        sources: impl Iterator<Item = &'a BusySource>,
        window: Span,
        include_busy: bool,
        humans: &Humans,
        now: Timestamp,
    ) -> Result<Party, Refusal> {
        let (mut taken, mut busy) = (Vec::new(), Vec::new());
        let (mut reach, mut valid_until, mut alike) = (window, None, true);
        for source in sources {
            let Some(known) = self.known_busy(org, *source, window, now).await? else { continue };
            valid_until = sooner(valid_until, known.valid_until());
            taken.push(known.taken().clip(window));
            let human = humans.blocked(source.calendar, known.reads(window));
            alike &= !known.is_ruled() && human.is_none();
            if include_busy {
                busy.push(known.busy().clip(window));
                busy.extend(humans.busy(source.calendar, window));
            }
            if let Some(human) = human {
                reach = hull(reach, known.reads(window));
                taken.push(known.buffered(human, window));
            }
        }
        let busy = (include_busy && !alike).then(|| merged(busy));
        Ok(Party { taken: merged(taken), busy, reach, valid_until })
    }

    /// The time of a calendar at its current revision, as far as it affects `window`: from the cache, or read and
    /// cached. `None` if the calendar is no longer visible.
    async fn known_busy(
        &self,
        org: OrgId,
        source: BusySource,
        window: Span,
        now: Timestamp,
    ) -> Result<Option<Arc<KnownTime>>, Refusal> {
        if let Some(known) = self.busy.at(source.calendar, source.revision)
            && known.answers(window, now)
        {
            return Ok(Some(known));
        }
        let Some(mut known) = self.read_busy(org, source.calendar, whole_days(window)).await? else {
            return Ok(None);
        };
        if !known.covers(window) {
            // The calendar has rules, and their buffers reach beyond what was read.
            let widest = self.read_busy(org, source.calendar, whole_days(widest(window))).await?;
            let Some(widest) = widest else { return Ok(None) };
            known = widest;
        }
        Ok(Some(known))
    }

    /// Reads and caches everything that blocks time on a calendar in `covers`.
    async fn read_busy(
        &self,
        org: OrgId,
        calendar: CalendarId,
        covers: Span,
    ) -> Result<Option<Arc<KnownTime>>, Refusal> {
        let Some(read) = self.parts.store.blocking_spans(org, calendar, covers).await? else { return Ok(None) };
        let read = self.complete(org, calendar, covers, read).await?;
        Ok(read.map(|read| self.keep_busy(calendar, covers, read)))
    }

    /// Adds what the series and holds of a calendar block, at the same revision. `None` if the calendar is no longer
    /// visible.
    async fn complete(
        &self,
        org: OrgId,
        calendar: CalendarId,
        covers: Span,
        mut read: CalendarBusy,
    ) -> Result<Option<WholeBusy>, Refusal> {
        for _ in 0..ATTEMPTS {
            let (mut seen, mut held) = (read.revision, Vec::new());
            if read.repeats {
                let found = self.series_reaching(org, calendar, read.revision, covers).await?;
                let Some(found) = found else { return Ok(None) };
                seen = found.revision;
                read.spans.extend(found.series.iter().flat_map(|series| series.taken(covers)));
            }
            if seen == read.revision && read.held {
                let Some(found) = self.parts.store.holds_within(org, calendar, covers).await? else { return Ok(None) };
                seen = found.revision;
                held = found.holds.iter().filter_map(Event::held_time).collect();
                held.extend(found.reserved.iter().map(Reservation::held_time));
            }
            if seen == read.revision {
                return Ok(Some(WholeBusy { read, held }));
            }
            // Something was scheduled in between: read again.
            let Some(current) = self.parts.store.blocking_spans(org, calendar, covers).await? else { return Ok(None) };
            read = current;
        }
        Err(Refusal::Contended)
    }

    /// Caches what blocks time on a calendar in `covers`, with the calendar's rules applied.
    fn keep_busy(&self, calendar: CalendarId, covers: Span, whole: WholeBusy) -> Arc<KnownTime> {
        let revision = whole.read.revision;
        let known = Arc::new(self.known_time(covers, whole));
        self.busy.keep(calendar, revision, Arc::clone(&known));
        known
    }

    /// Applies the rules of a calendar to what blocks time on it in `covers`.
    fn known_time(&self, covers: Span, whole: WholeBusy) -> KnownTime {
        let WholeBusy { mut read, held } = whole;
        // Held time is cached only until the first hold expires.
        let now = self.now();
        let live = held.into_iter().filter(|held| held.expires_at > now);
        let valid_until = live.fold(None, |until, held| {
            read.spans.push(held.span);
            sooner(until, Some(held.expires_at))
        });
        let busy = CachedBusy { covers, valid_until, busy: BusySet::from_runs(read.spans) };
        KnownTime::new(busy, read.rules)
    }
}

/// Who asks for availability.
#[derive(Clone, Copy)]
struct Asks {
    org: OrgId,
    /// The agent of the key, if it asks about others.
    about_others: Option<AgentId>,
}

impl Asks {
    /// The actor, who asks about what these agents own; `None` is shared by the organization.
    fn of(actor: &Actor, owners: impl IntoIterator<Item = Option<AgentId>>) -> Self {
        let only_own = owners.into_iter().all(|owner| actor.sees_all_of(owner));
        let about_others = actor.widened_by(Scope::FreebusyOrg).filter(|_| !only_own);
        Self { org: actor.org(), about_others }
    }
}

/// The taken time of one calendar, in a window and around it.
pub(crate) struct TakenTime {
    /// What is not offered inside the window.
    pub(crate) not_offered: BusySet,
    /// When the calendar is busy around the window.
    pub(crate) busy: BusySet,
    /// The known time of the calendar, including its rules.
    pub(crate) known: Arc<KnownTime>,
    /// The time from which this may be wrong even if no revision has changed.
    pub(crate) valid_until: Option<Timestamp>,
}

/// Everything that blocks time on a calendar in a span.
struct WholeBusy {
    /// What blocks regardless of the current time.
    read: CalendarBusy,
    /// What holds block in addition, until they expire.
    held: Vec<HeldTime>,
}

/// The time of one calendar, or of all calendars of one agent, inside a window.
struct Party {
    /// What is not offered.
    taken: BusySet,
    /// When the calendars are busy, if requested and different from what is not offered.
    busy: Option<BusySet>,
    /// The span in which human calendars affect the window.
    reach: Span,
    /// The time from which this may be wrong even if no revision has changed.
    valid_until: Option<Timestamp>,
}

impl Party {
    fn busy(&self) -> &BusySet {
        self.busy.as_ref().unwrap_or(&self.taken)
    }

    /// For an agent without a calendar, the time that human calendars block. Such an agent has no rules.
    fn or_of_humans(self, agent: AgentId, window: Span, include_busy: bool, humans: &Humans) -> Self {
        match humans.blocked(agent, window) {
            Some(taken) => Self { taken, busy: humans.busy(agent, window).filter(|_| include_busy), ..self },
            None => self,
        }
    }
}

fn merged(mut sets: Vec<BusySet>) -> BusySet {
    match sets.len() {
        1 => sets.swap_remove(0),
        _ => BusySet::union_all(&sets),
    }
}

/// The smallest span that contains both.
pub(crate) fn hull(one: Span, other: Span) -> Span {
    Span::new(one.start().min(other.start()), one.end().max(other.end())).unwrap_or(one)
}

/// The window, extended by the longest buffer on both sides.
pub(crate) fn widest(window: Span) -> Span {
    let buffer = SignedDuration::minutes(BUFFER_MAX_MINUTES.into());
    Span::new(window.start() - buffer, window.end() + buffer).unwrap_or(window)
}

/// The window, widened to whole UTC days. This way, a query for "the next few days" that is repeated within the day is
/// usually answered from the cache.
fn whole_days(window: Span) -> Span {
    let start = midnight(window.start().utc_date());
    let end = midnight(window.end().utc_date().plus_days(1));
    Span::new(start.min(window.start()), end.max(window.end())).unwrap_or(window)
}

fn midnight(date: CivilDate) -> Timestamp {
    Zone::UTC.to_timestamp(date.midnight()).unwrap_or(Timestamp::HORIZON)
}

fn within_plan(actor: &Actor, across: &Across) -> Result<(), Refusal> {
    let (agents_max, days_max) = actor.principal.plan.availability_range();
    let plan = actor.principal.plan.public_name();
    if across.agents.len() > agents_max {
        let message = format!("the plan {plan} allows {agents_max} agents in a query, got {}", across.agents.len());
        return Err(FieldError::new("agents", message).into());
    }
    let length = across.slots.query.window().length();
    if length > SignedDuration::days(days_max) {
        let days = length.as_seconds() / 86_400;
        let message = format!("the plan {plan} allows a range of {days_max} days, got more than {days}");
        return Err(FieldError::new("end", message).into());
    }
    Ok(())
}
