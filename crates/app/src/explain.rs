//! Why an agent or a calendar is not free at a time.

use kalends_availability::{CalendarTime, Rules, explain};
use kalends_calendars::{Block, BlockKind, Reason, ReasonKind};
use kalends_calendars::{
    Event, Reservation,
    ports::{BusySource, CalendarBlocks, LivingAgent},
};
use kalends_kernel::{CalendarId, OrgId};
use kalends_time::{Span, Timestamp};
use kalends_wire::{ExplainOf, ExplainQuery, Explanation};

use crate::{
    Actor, App, Refusal,
    availability::{hull, widest},
};

/// The most reasons that are returned, and the most blocks of a calendar that are read.
const REASONS_MAX: usize = 1_000;

/// What affects the time of one calendar.
struct Looked {
    calendar: CalendarId,
    rules: Rules,
    blocks: Vec<Block>,
}

impl App {
    /// The reasons why a time is not offered; none if availability would offer it as a slot.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if no such living agent or calendar exists, [`Refusal::OutOfReach`].
    pub async fn explain_availability(&self, actor: &Actor, query: ExplainQuery) -> Result<Explanation, Refusal> {
        let (org, time, now) = (actor.org(), query.time, self.now());
        let (sources, without) = self.explained_sources(actor, &query.of).await?;
        let seen = self.humans_of_agents(org, &sources, &without).await?;
        let humans = self.read_humans(org, (seen, &sources), widest(time), now, query.allow_stale).await?;
        let (mut cut, mut reach) = (false, time);
        let mut looked = Vec::with_capacity(sources.len());
        for source in &sources {
            // A calendar that is no longer visible has no effect.
            let Some(found) = self.blocks_around(org, source.calendar, time).await? else { continue };
            cut |= found.blocks.len() > REASONS_MAX;
            let (repeats, held) = (found.repeats, found.held);
            let mut own = Looked::new(source.calendar, found);
            if repeats {
                own.blocks.extend(self.series_around(org, own.calendar, own.rules.reads(time)).await?);
            }
            if held {
                own.blocks.extend(self.holds_around(org, own.calendar, own.rules.reads(time), now).await?);
            }
            if let Some(human) = humans.blocked(own.calendar, own.rules.reads(time)) {
                reach = hull(reach, own.rules.reads(time));
                own.blocks.extend(human.spans().iter().map(|span| Block { kind: BlockKind::HumanBusy, span: *span }));
            }
            looked.push(own);
        }
        let times: Vec<CalendarTime<'_, CalendarId, BlockKind>> = looked
            .iter()
            .map(|Looked { calendar, rules, blocks }| CalendarTime { calendar: *calendar, rules, blocks })
            .collect();
        let mut reasons = explain(&times, time, time);
        // An agent without a calendar has no other reasons, and no rules that would affect these.
        let own = without.iter().filter_map(|agent| humans.blocked(agent.id, time));
        let own: Vec<_> = own.flat_map(|human| human.spans().to_vec()).collect();
        reasons.extend(own.into_iter().map(|span| Reason {
            calendar: None,
            kind: ReasonKind::Block(BlockKind::HumanBusy),
            span,
        }));
        Ok(Explanation::new(time, &reasons, REASONS_MAX, cut, &humans.know(reach)))
    }

    /// What blocks time on a calendar and may affect `time`. Reads at most one block more than can be returned.
    async fn blocks_around(
        &self,
        org: OrgId,
        calendar: CalendarId,
        time: Span,
    ) -> Result<Option<CalendarBlocks>, Refusal> {
        let limit = u32::try_from(REASONS_MAX + 1).unwrap_or(u32::MAX);
        let found = self.parts.store.blocks(org, calendar, widest(time), limit).await?;
        let reads = match &found {
            Some(found) if found.blocks.len() > REASONS_MAX => {
                found.rules.as_ref().map_or(time, |rules| rules.reads(time))
            }
            _ => return Ok(found),
        };
        // The limit was reached in a window that assumes the longest buffers, so some blocks may not affect `time`.
        // Every block that is read now does.
        Ok(self.parts.store.blocks(org, calendar, reads, limit).await?)
    }

    /// The occurrences of a calendar's series in `reads`, except those that were changed individually: they are
    /// separate events.
    async fn series_around(&self, org: OrgId, calendar: CalendarId, reads: Span) -> Result<Vec<Block>, Refusal> {
        let found = self.parts.store.blocking_series(org, &[calendar], reads).await?;
        let series = found.iter().flat_map(|found| &found.series);
        let spans = series.flat_map(|series| series.occurrences(reads));
        Ok(spans.map(|span| Block { kind: BlockKind::Event, span }).collect())
    }

    /// The unexpired holds and reservations of a calendar in `reads`.
    async fn holds_around(
        &self,
        org: OrgId,
        calendar: CalendarId,
        reads: Span,
        now: Timestamp,
    ) -> Result<Vec<Block>, Refusal> {
        let found = self.parts.store.holds_within(org, calendar, reads).await?;
        let holds = found.iter().flat_map(|found| &found.holds).filter(|hold| hold.live_hold(now).is_ok());
        let kept = found.iter().flat_map(|found| &found.reserved).filter(|kept| kept.blocks_at(now));
        Ok(holds.map(Event::block).chain(kept.map(Reservation::block)).collect())
    }

    /// The calendars of the query, and the agent if it has none.
    async fn explained_sources(
        &self,
        actor: &Actor,
        of: &ExplainOf,
    ) -> Result<(Vec<BusySource>, Vec<LivingAgent>), Refusal> {
        match of {
            ExplainOf::Agent(id) => {
                let agent = Self::agent_id(id)?;
                let found = self.sources_of(actor.org(), &[agent]).await?;
                // Checked after the lookup: a missing agent, or one of another organization, is not found rather than
                // out of reach.
                actor.for_agent(Some(agent))?;
                Ok(found)
            }
            ExplainOf::Calendar(id) => Ok((vec![self.source_in_reach(actor, id).await?], Vec::new())),
        }
    }
}

impl Looked {
    fn new(calendar: CalendarId, found: CalendarBlocks) -> Self {
        Self { calendar, rules: found.rules.unwrap_or_default(), blocks: found.blocks }
    }
}
