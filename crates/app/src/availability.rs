//! When an agent, a calendar or several agents are free.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use kalends_availability::{BusySet, CachedBusy, SlotQuery};
use kalends_calendars::ports::{BlockingSeries, BusySource};
use kalends_kernel::{AgentId, CalendarId, CivilDate, Elapsed, FieldError, Instant, OrgId, Revision, Span, Zone};
use kalends_quotas::Feature;
use kalends_wire::{Across, Found, Of, render};

use crate::{Actor, App, Missing, Refusal, app::ATTEMPTS};

/// A question about availability, and all that its answer depends on but the clock.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Asked {
    whose: Whose,
    /// Each with the revision up to which its events were in sight.
    sources: Vec<BusySource>,
    query: SlotQuery,
    include_busy: bool,
}

impl Asked {
    pub(crate) fn sources(&self) -> &[BusySource] {
        &self.sources
    }
}

/// Whose availability is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Whose {
    Calendar(CalendarId),
    Agents(Vec<AgentId>),
}

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
    ) -> Result<Bytes, Refusal> {
        let agent = Self::agent_id(id)?;
        actor.for_agent(Some(agent))?;
        let sources = self.sources_of(actor.org(), &[agent]).await?;
        let asked = Asked { whose: Whose::Agents(vec![agent]), sources, query, include_busy };
        self.answered(actor.org(), asked).await
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
    ) -> Result<Bytes, Refusal> {
        let missing = || Refusal::missing(Missing::Calendar, id);
        let calendar: CalendarId = id.parse().map_err(|_| missing())?;
        let source = self.store.source_of_calendar(actor.org(), calendar).await?.ok_or_else(missing)?;
        actor.for_agent(source.agent)?;
        let asked = Asked { whose: Whose::Calendar(calendar), sources: vec![source], query, include_busy };
        self.answered(actor.org(), asked).await
    }

    /// The slots in which several agents are all free, as JSON (rulings 3.6 and 5.2).
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`] on free plans, [`Refusal::NotFound`] for an unknown agent or
    /// calendar, [`Refusal::Invalid`] over the plan's range, for a calendar that belongs to none of
    /// the agents, and for too many slots.
    pub async fn availability(&self, actor: &Actor, across: Across) -> Result<Bytes, Refusal> {
        actor.for_organization()?;
        actor.needs(Feature::CrossAgentAvailability)?;
        within_plan(actor, &across)?;
        let agents = across.agents.iter().map(|id| Self::agent_id(id)).collect::<Result<Vec<_>, _>>()?;
        let mut sources = self.sources_of(actor.org(), &agents).await?;
        if let Some(calendars) = &across.calendars {
            self.narrow(actor.org(), &mut sources, calendars).await?;
        }
        let Across { query, include_busy, .. } = across;
        self.answered(actor.org(), Asked { whose: Whose::Agents(agents), sources, query, include_busy }).await
    }

    /// The answer that was given before, while no calendar has changed; else a new one.
    async fn answered(&self, org: OrgId, asked: Asked) -> Result<Bytes, Refusal> {
        if let Some(known) = self.answers.get(&asked) {
            return Ok(known);
        }
        let (query, window) = (asked.query, asked.query.window());
        let written = match &asked.whose {
            Whose::Calendar(calendar) => {
                let busy = self.busy_of(org, asked.sources.iter(), window).await?;
                let include_busy = asked.include_busy;
                render(&Found { of: Of::Calendar(*calendar), query, busy: &busy, per_agent: None, include_busy })
            }
            Whose::Agents(agents) => {
                let mut per_agent = Vec::with_capacity(agents.len());
                for agent in agents {
                    let own = asked.sources.iter().filter(|source| source.agent == Some(*agent));
                    per_agent.push((*agent, self.busy_of(org, own, window).await?));
                }
                let union;
                let busy = match per_agent.as_slice() {
                    [(_, only)] => only,
                    several => {
                        union = BusySet::union_all(several.iter().map(|(_, busy)| busy));
                        &union
                    }
                };
                let shown = asked.include_busy.then_some(per_agent.as_slice());
                render(&Found { of: Of::Agents(agents), query, busy, per_agent: shown, include_busy: false })
            }
        };
        let answer = Bytes::from(written.map_err(FieldError::from)?);
        self.answers.keep(asked, answer.clone());
        Ok(answer)
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
    async fn busy_of<'a>(
        &self,
        org: OrgId,
        sources: impl Iterator<Item = &'a BusySource>,
        window: Span,
    ) -> Result<BusySet, Refusal> {
        let now = self.now();
        let mut sets = Vec::new();
        let sources: Vec<BusySource> = sources.copied().collect();
        let mut series = self.series_of(org, &sources, window, now).await?;
        for source in sources {
            let series = series.remove(&source.calendar);
            if let Some(known) = self.known_busy(org, source, series, window, now).await? {
                sets.push(known.busy.clip(window));
            }
        }
        Ok(match sets.len() {
            1 => sets.swap_remove(0),
            _ => BusySet::union_all(&sets),
        })
    }

    /// The busy times of a calendar at its present revision, which cover `window`: cached, or read and
    /// kept. `None` where the calendar went out of sight since its source was read.
    async fn known_busy(
        &self,
        org: OrgId,
        source: BusySource,
        series: Option<BlockingSeries>,
        window: Span,
        now: Instant,
    ) -> Result<Option<Arc<CachedBusy>>, Refusal> {
        if let Some(known) = self.busy.at(source.calendar, source.revision)
            && known.answers(window, now)
        {
            return Ok(Some(known));
        }
        let covers = whole_days(window);
        let Some((revision, spans)) = self.blocking(org, source.calendar, covers, series).await? else {
            return Ok(None);
        };
        let busy = BusySet::from_unsorted(spans).clip(covers);
        let known = Arc::new(CachedBusy { covers, valid_until: None, busy });
        self.busy.keep(source.calendar, revision, Arc::clone(&known));
        Ok(Some(known))
    }
}

impl App {
    /// The series of all the calendars whose busy times are not known yet, in one query.
    async fn series_of(
        &self,
        org: OrgId,
        sources: &[BusySource],
        window: Span,
        now: Instant,
    ) -> Result<BTreeMap<CalendarId, BlockingSeries>, Refusal> {
        let known = |source: &&BusySource| {
            self.busy.at(source.calendar, source.revision).is_some_and(|known| known.answers(window, now))
        };
        let unknown: Vec<CalendarId> =
            sources.iter().filter(|source| !known(source)).map(|source| source.calendar).collect();
        if unknown.is_empty() {
            return Ok(BTreeMap::new());
        }
        let series = self.store.blocking_series(org, &unknown, whole_days(window)).await?;
        Ok(series.into_iter().map(|series| (series.calendar, series)).collect())
    }

    /// What the events and the series of a calendar block, both as of one revision. `None` where the
    /// calendar went out of sight.
    async fn blocking(
        &self,
        org: OrgId,
        calendar: CalendarId,
        covers: Span,
        mut series: Option<BlockingSeries>,
    ) -> Result<Option<(Revision, Vec<Span>)>, Refusal> {
        for _ in 0..ATTEMPTS {
            let Some((revision, mut spans)) = self.store.blocking_spans(org, calendar, covers).await? else {
                return Ok(None);
            };
            if series.as_ref().is_none_or(|series| series.revision < revision) {
                series = self.store.blocking_series(org, &[calendar], covers).await?.pop();
            }
            let Some(found) = &series else { return Ok(None) };
            if found.revision == revision {
                spans.extend(found.series.iter().flat_map(|series| series.taken(covers)));
                return Ok(Some((revision, spans)));
            }
        }
        Err(Refusal::Contended)
    }
}

/// The window widened to whole UTC days and a day beyond, so that a query for "the next days", asked
/// again within the day, is still answered from what is known.
fn whole_days(window: Span) -> Span {
    let start = midnight(window.start().utc_date());
    let end = midnight(window.end().utc_date().plus_days(2));
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
