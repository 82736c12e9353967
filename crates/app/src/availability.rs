//! When an agent, a calendar or several agents are free.

use std::sync::Arc;

use kalends_availability::{BusySet, CachedBusy, SlotQuery};
use kalends_calendars::ports::BusySource;
use kalends_kernel::{AgentId, CalendarId, CivilDate, Elapsed, FieldError, Instant, OrgId, Span, Zone};
use kalends_quotas::Feature;
use kalends_wire::{Across, Found, Of, render};

use crate::{Actor, App, Missing, Refusal};

impl App {
    /// The slots in which all calendars of an agent are free, as JSON.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] without such a living agent, [`Refusal::Invalid`] for too many slots.
    pub async fn agent_availability(
        &self,
        actor: &Actor,
        id: &str,
        query: SlotQuery,
        include_busy: bool,
    ) -> Result<Vec<u8>, Refusal> {
        let agent = Self::agent_id(id)?;
        actor.for_agent(Some(agent))?;
        let sources = self.sources_of(actor.org(), &[agent]).await?;
        let busy = self.busy_of(actor.org(), &sources, query.window()).await?;
        let per_agent = include_busy.then(|| vec![(agent, busy.clone())]);
        answer(&Found { of: Of::Agents(&[agent]), query, busy: &busy, per_agent, include_busy: false })
    }

    /// The slots in which one calendar is free, as JSON.
    ///
    /// # Errors
    /// [`Refusal::NotFound`], [`Refusal::Invalid`] for too many slots.
    pub async fn calendar_availability(
        &self,
        actor: &Actor,
        id: &str,
        query: SlotQuery,
        include_busy: bool,
    ) -> Result<Vec<u8>, Refusal> {
        let missing = || Refusal::missing(Missing::Calendar, id);
        let calendar: CalendarId = id.parse().map_err(|_| missing())?;
        let source = self.store.source_of_calendar(actor.org(), calendar).await?.ok_or_else(missing)?;
        actor.for_agent(source.agent)?;
        let busy = self.busy_of(actor.org(), &[source], query.window()).await?;
        answer(&Found { of: Of::Calendar(calendar), query, busy: &busy, per_agent: None, include_busy })
    }

    /// The slots in which several agents are all free, as JSON (rulings 3.6 and 5.2).
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`] on free plans, [`Refusal::NotFound`] for an unknown agent or
    /// calendar, [`Refusal::Invalid`] over the plan's range, for a calendar that belongs to none of
    /// the agents, and for too many slots.
    pub async fn availability(&self, actor: &Actor, across: Across) -> Result<Vec<u8>, Refusal> {
        actor.for_organization()?;
        actor.needs(Feature::CrossAgentAvailability)?;
        within_plan(actor, &across)?;
        let agents = across.agents.iter().map(|id| Self::agent_id(id)).collect::<Result<Vec<_>, _>>()?;
        let mut sources = self.sources_of(actor.org(), &agents).await?;
        if let Some(calendars) = &across.calendars {
            self.narrow(actor.org(), &mut sources, calendars).await?;
        }
        let window = across.query.window();
        let mut per_agent = Vec::with_capacity(agents.len());
        for agent in &agents {
            let own: Vec<_> = sources.iter().filter(|source| source.agent == Some(*agent)).copied().collect();
            per_agent.push((*agent, self.busy_of(actor.org(), &own, window).await?));
        }
        let busy = BusySet::union_all(per_agent.iter().map(|(_, busy)| busy));
        let per_agent = across.include_busy.then_some(per_agent);
        answer(&Found { of: Of::Agents(&agents), query: across.query, busy: &busy, per_agent, include_busy: false })
    }

    /// The calendars in sight of all the agents, each of which must exist and live.
    async fn sources_of(&self, org: OrgId, agents: &[AgentId]) -> Result<Vec<BusySource>, Refusal> {
        let sources = self.store.sources_of_agents(org, agents).await?;
        for agent in agents {
            // Whoever has a calendar in sight exists; only the others need a look.
            if !sources.iter().any(|source| source.agent == Some(*agent)) {
                let missing = || Refusal::missing(Missing::Agent, &agent.to_string());
                let found = self.store.find_agent(org, *agent).await?.ok_or_else(missing)?;
                found.living().map_err(|_| missing())?;
            }
        }
        Ok(sources)
    }

    async fn narrow(&self, org: OrgId, sources: &mut Vec<BusySource>, ids: &[String]) -> Result<(), Refusal> {
        let mut kept = Vec::with_capacity(ids.len());
        for id in ids {
            let missing = || Refusal::missing(Missing::Calendar, id);
            let calendar: CalendarId = id.parse().map_err(|_| missing())?;
            match sources.iter().find(|source| source.calendar == calendar) {
                Some(source) => kept.push(*source),
                None if self.store.find_calendar(org, calendar).await?.is_some() => {
                    let message = format!("{id} belongs to none of the agents; leave it out or add its agent");
                    return Err(FieldError::new("calendars", message).into());
                }
                None => return Err(missing()),
            }
        }
        *sources = kept;
        Ok(())
    }

    /// What the calendars block inside `window`, merged and clipped.
    async fn busy_of(&self, org: OrgId, sources: &[BusySource], window: Span) -> Result<BusySet, Refusal> {
        let now = self.now();
        let mut sets = Vec::with_capacity(sources.len());
        for source in sources {
            if let Some(known) = self.known_busy(org, *source, window).await? {
                // What was just looked up covers the window and has not run out.
                if let Some(busy) = known.answers(window, now) {
                    sets.push(busy.into_owned());
                }
            }
        }
        Ok(match sets.len() {
            1 => sets.swap_remove(0),
            _ => BusySet::union_all(&sets),
        })
    }

    /// The busy times of a calendar at its present revision: cached, or read and kept. `None` where
    /// the calendar went out of sight since its source was read.
    async fn known_busy(
        &self,
        org: OrgId,
        source: BusySource,
        window: Span,
    ) -> Result<Option<Arc<CachedBusy>>, Refusal> {
        if let Some(known) = self.busy.at(source.calendar, source.revision)
            && known.answers(window, self.now()).is_some()
        {
            return Ok(Some(known));
        }
        let covers = whole_days(window);
        let Some((revision, spans)) = self.store.blocking_spans(org, source.calendar, covers).await? else {
            return Ok(None);
        };
        let busy = BusySet::from_unsorted(spans).clip(covers);
        let known = Arc::new(CachedBusy { covers, valid_until: None, busy });
        self.busy.keep(source.calendar, revision, Arc::clone(&known));
        Ok(Some(known))
    }
}

/// The window widened to whole UTC days and a week beyond, so that a query for "the next days",
/// asked again a little later, is still answered from the cache.
fn whole_days(window: Span) -> Span {
    let start = midnight(window.start().utc_date());
    let end = midnight(window.end().utc_date().plus_days(8));
    Span::new(start.min(window.start()), end.max(window.end())).unwrap_or(window)
}

fn midnight(date: CivilDate) -> Instant {
    Zone::UTC.to_instant(date.midnight()).unwrap_or(Instant::HORIZON)
}

fn within_plan(actor: &Actor, across: &Across) -> Result<(), Refusal> {
    let (agents_max, days_max) = actor.principal.plan.availability_range();
    let plan = actor.principal.plan.shown();
    if across.agents.len() > agents_max {
        let message = format!("the plan {plan} allows {agents_max} agents in a query, got {}", across.agents.len());
        return Err(FieldError::new("agents", message).into());
    }
    let length = across.query.window().length();
    if length > Elapsed::days(days_max) {
        let days = length.as_seconds() / 86_400;
        let message = format!("the plan {plan} allows a range of {days_max} days, got more than {days}");
        return Err(FieldError::new("end", message).into());
    }
    Ok(())
}

fn answer(found: &Found<'_>) -> Result<Vec<u8>, Refusal> {
    Ok(render(found).map_err(FieldError::from)?)
}
