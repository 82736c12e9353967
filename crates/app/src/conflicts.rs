//! What blocks a time: for holds, for proposals, and for events whose times must be free.

use std::collections::BTreeSet;

use kalends_availability::{BusySet, nearest_free};
use kalends_calendars::{
    Block, BlockKind, CONFLICTS_MAX, Calendar, Change, ChangedOverride, Comparison, EndedHold, Event, HoldEnd, Met,
    Reservation, ReservationOwner, ports::BusySource,
};
use kalends_kernel::{CalendarId, EventId, OrgId};
use kalends_time::{SignedDuration, Span, Timestamp};
use tokio::sync::{MutexGuard, OnceCell};

use crate::{Actor, Answered, App, ChangeSet, Guard, Refusal, attempt::Attempt, refusal::Obstacles};

/// How far before and after a taken time to look for a free one, unless the wanted time is longer than this.
const NEAR: SignedDuration = SignedDuration::days(14);
/// A free time starts a multiple of this before or after the wanted one.
const NEAR_STEP: SignedDuration = SignedDuration::minutes(15);
/// How many free times a refusal names.
const NEAREST: usize = 3;

/// What affects a time on a calendar.
pub(crate) struct CalendarBusy {
    /// The calendar.
    pub(crate) source: BusySource,
    /// Everything that blocks, except holds.
    pub(crate) blocks: Vec<Block>,
    /// The holds, including expired ones.
    pub(crate) holds: Vec<Event>,
}

/// A time on a calendar, and what to read of it.
struct Wanted<'a> {
    span: Span,
    /// The proposal and the approval whose reservations do not block.
    owners: &'a [ReservationOwner],
    /// The series whose rules do not count.
    ignored: &'a [EventId],
    /// The most events, occurrences and reservations to read, each.
    most: usize,
}

/// The turn of a request among those of this process that want time on the same calendar. It begins when the request
/// first finds that its time must be free, and lasts for all of its attempts.
pub(crate) type Turn<'a> = OnceCell<Vec<MutexGuard<'a, ()>>>;

/// A write of an event, whose times may have to be free.
pub(crate) struct Placed<'a> {
    /// Its calendar.
    pub(crate) calendar: &'a Calendar,
    /// The event as it will be.
    pub(crate) event: &'a Event,
    /// The event as it was read, if it exists. It does not block itself.
    pub(crate) before: Option<&'a Event>,
    /// The row that was read: the event's, or for an occurrence that of its series. Whatever changes the event raises
    /// the version of this row.
    pub(crate) row: Option<&'a Event>,
    /// The overrides of the event that change with it, if it is a series.
    pub(crate) overrides: &'a [ChangedOverride],
    /// Whether the request demands that the times are free.
    pub(crate) if_free: bool,
    /// What else the same change-set writes to the calendar.
    pub(crate) written: &'a Written,
}

/// What a change-set writes to a calendar besides one event.
#[derive(Default)]
pub(crate) struct Written {
    /// The other events.
    events: Vec<Event>,
    /// The times that they, and events that end, no longer block.
    freed: Vec<Block>,
    /// Series that have another rule now, or that end. Their stored occurrences no longer block.
    replaced: Vec<EventId>,
}

/// A change-set that writes one event only.
static NOTHING_ELSE: Written = Written { events: Vec::new(), freed: Vec::new(), replaced: Vec::new() };

impl<'a> Placed<'a> {
    /// The write of a new event.
    pub(crate) fn new(calendar: &'a Calendar, event: &'a Event, if_free: bool) -> Self {
        Self { calendar, event, before: None, row: None, overrides: &[], if_free, written: &NOTHING_ELSE }
    }
}

impl Written {
    /// Adds an event, with its state before the change.
    pub(crate) fn add(&mut self, before: Option<&Event>, event: &Event) {
        before.into_iter().for_each(|before| self.end(before));
        self.events.push(event.clone());
    }

    /// Adds the end of an event.
    pub(crate) fn end(&mut self, before: &Event) {
        self.freed.extend(before.busy().map(|_| before.block()));
        self.replaced.extend(before.recurrence().map(|_| before.id));
    }

    /// Adds the time of a live hold that ends or moves.
    pub(crate) fn free(&mut self, hold: &Event) {
        self.freed.push(hold.block());
    }

    /// Adds the end of a reservation of that time.
    pub(crate) fn unreserve(&mut self, span: Span) {
        self.freed.push(Block { kind: BlockKind::Reservation, span });
    }

    /// The present extent, to which [`Self::restore`] goes back.
    pub(crate) fn extent(&self) -> [usize; 3] {
        [self.events.len(), self.freed.len(), self.replaced.len()]
    }

    /// Removes what was added since it had this extent.
    pub(crate) fn restore(&mut self, [events, freed, replaced]: [usize; 3]) {
        self.events.truncate(events);
        self.freed.truncate(freed);
        self.replaced.truncate(replaced);
    }
}

impl App {
    /// Checks that nothing blocks the times of an event that must be free, and adds guards against anything else being
    /// scheduled there before the commit.
    ///
    /// # Errors
    /// [`Refusal::SlotTaken`]. Stale if the event changed after it was read, or the calendar is no longer visible.
    pub(crate) async fn require_free<'a>(
        &'a self,
        actor: &Actor,
        placed: &Placed<'_>,
        turn: &Turn<'a>,
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<(), Attempt> {
        let Placed { calendar, event, before, row, overrides, if_free, written } = *placed;
        // On another calendar, the event freed nothing here.
        let before = before.filter(|before| before.calendar == calendar.id);
        let mut wanted = calendar.times_to_be_free(before, event, if_free, now);
        wanted.extend(calendar.overrides_to_be_free(event, overrides, if_free, now));
        if wanted.is_empty() {
            return Ok(());
        }
        turn.get_or_init(|| self.holding.lock([calendar.id])).await;
        let mut own = self.own_blocks(before).await?;
        own.extend(&written.freed);
        // One more block than a refusal lists for each that is ignored.
        let most = if wanted.len() == 1 { CONFLICTS_MAX + own.len() } else { usize::MAX };
        let mut comparison = Comparison::new(wanted, own);
        let Some(window) = comparison.window() else { return Ok(()) };
        let own_rule = before.and_then(|before| before.recurrence().map(|_| before.id));
        let ignored: Vec<EventId> = own_rule.into_iter().chain(written.replaced.iter().copied()).collect();
        let owners = actor.owners(None);
        let wanted = Wanted { span: window, owners: &owners, ignored: &ignored, most };
        let mut meet = |block| comparison.meet(block);
        let (source, holds) = self.each_block(calendar.org, calendar.id, &wanted, &mut meet).await?;
        for other in &written.events {
            let times = other.blocked_in(window).into_iter();
            times.for_each(|span| comparison.meet(Block { span, ..other.block() }));
        }
        holds.iter().filter(|hold| hold.live_hold(now).is_ok()).for_each(|hold| comparison.meet(hold.block()));
        let Err(Met { times, blocks }) = comparison.outcome() else {
            changes.guards.push(Guard::CalendarTime { calendar: calendar.id, seen: source.revision, window });
            // An expired hold blocks nothing, but a node whose clock is behind may confirm it. Both write its row, so
            // one of them is refused. Another event of the change-set may have ended it already.
            for seen in holds {
                let ends = |change: &Change| change.event().is_some_and(|event| event.id == seen.id);
                if let Some(event) = seen.expired(now)
                    && !changes.calendars.iter().any(ends)
                {
                    self.end_hold(EndedHold { seen, event, end: HoldEnd::Expired }, now, changes);
                }
            }
            return Ok(());
        };
        if let Some(row) = row {
            // If the event changed after it was read, what blocks may be the event itself.
            let found = self.parts.store.find_event(row.org, row.id).await?;
            if found.is_none_or(|found| found.event.version != row.version) {
                return Err(Attempt::Stale);
            }
        }
        let wanted = times.first().copied().unwrap_or(event.times.span);
        let conflicts = blocks.into_iter().map(|block| (calendar.id, block)).collect();
        let mut found = obstacles(wanted, conflicts, vec![source]);
        if event.recurrence().is_some() {
            found.occurrences = times;
        }
        Err(Refusal::SlotTaken(found).into())
    }

    /// The blocks of an event itself, without the occurrences that its rule generates.
    async fn own_blocks(&self, event: Option<&Event>) -> Result<Vec<Block>, Refusal> {
        let Some(event) = event else { return Ok(Vec::new()) };
        match event.recurrence() {
            None => Ok(event.busy().map(|_| event.block()).into_iter().collect()),
            Some(recurrence) if recurrence.overridden().is_empty() => Ok(Vec::new()),
            Some(_) => {
                let overrides = self.parts.store.list_overrides(event.org, event.id).await?;
                Ok(overrides.iter().filter(|event| event.blocks()).map(Event::block).collect())
            }
        }
    }

    /// What affects `span` on a calendar, as of the returned revision or later. [`Guard::CalendarTime`] detects later
    /// writes to that time. The reservations of `owners` do not block. Stale if the calendar is no longer visible.
    pub(crate) async fn calendar_busy(
        &self,
        org: OrgId,
        calendar: CalendarId,
        span: Span,
        owners: &[ReservationOwner],
    ) -> Result<CalendarBusy, Attempt> {
        let mut blocks = Vec::new();
        let wanted = Wanted { span, owners, ignored: &[], most: CONFLICTS_MAX };
        let mut keep = |block| blocks.push(block);
        let (source, holds) = self.each_block(org, calendar, &wanted, &mut keep).await?;
        Ok(CalendarBusy { source, blocks, holds })
    }

    /// Calls `each` with everything that blocks the wanted time except holds. Returns the holds, including expired ones.
    /// Otherwise the same as [`Self::calendar_busy`].
    async fn each_block(
        &self,
        org: OrgId,
        calendar: CalendarId,
        wanted: &Wanted<'_>,
        each: &mut (dyn FnMut(Block) + Send),
    ) -> Result<(BusySource, Vec<Event>), Attempt> {
        let Wanted { span, owners, ignored, most } = *wanted;
        let limit = u32::try_from(most).unwrap_or(u32::MAX);
        let found = self.parts.store.blocks(org, calendar, span, limit).await?.ok_or(Attempt::Stale)?;
        let source = found.source;
        found.blocks.into_iter().for_each(&mut *each);
        if found.repeats {
            let known = self.series_reaching(org, calendar, source.revision, span).await?.ok_or(Attempt::Stale)?;
            let others = known.series.iter().filter(|series| !ignored.contains(&series.id));
            let spans = others.flat_map(|series| series.occurrences(span)).take(most);
            spans.for_each(|span| each(Block { kind: BlockKind::Event, span }));
        }
        let mut holds = Vec::new();
        if found.held {
            let found = self.parts.store.holds_within(org, calendar, span).await?.ok_or(Attempt::Stale)?;
            let now = self.now();
            let others = found.reserved.iter().filter(|kept| kept.blocks_at(now) && !owners.contains(&kept.owner));
            others.map(Reservation::block).take(most).for_each(&mut *each);
            holds = found.holds;
        }
        let seen = self.humans_of(org, &[source]).await?;
        if !seen.is_empty() {
            // Unknown time is not offered, but it does not conflict either.
            let mut humans = self.read_humans(org, (seen, &[source]), span, self.now(), true).await?;
            if let Some(agent) = source.agent.filter(|_| humans.have_copies()) {
                // An event may move between calendars of an agent. Its copy at the provider follows only later.
                humans = humans.about(&self.parts.store.sources_of_agents(org, &[agent]).await?);
            }
            let busy = humans.busy(calendar, span).unwrap_or(BusySet::EMPTY);
            busy.spans().iter().for_each(|span| each(Block { kind: BlockKind::HumanBusy, span: *span }));
        }
        Ok((source, holds))
    }

    /// Adds the nearest free times to a refusal: times that all of the wanted calendars offer under their rules. It
    /// runs last, after the locks are released, so that no request waits for it.
    pub(crate) async fn with_nearest_free<T: Send>(
        &self,
        actor: &Actor,
        outcome: Result<Answered<T>, Refusal>,
    ) -> Result<Answered<T>, Refusal> {
        let mut refusal = match outcome {
            Ok(answer) => return Ok(answer),
            Err(refusal) => refusal,
        };
        if let Refusal::SlotTaken(found) | Refusal::Outdated(found) = &mut refusal
            && found.wanted.length() <= NEAR
            && !found.sources.is_empty()
        {
            let now = self.now();
            let from = (found.wanted.start() - NEAR).max(now);
            if let Ok(within) = Span::new(from, found.wanted.end() + NEAR) {
                let taken = self.taken(actor.org(), &found.sources, within, now).await?;
                // What blocks may not be stored: an event of the same batch.
                let conflicts = found.conflicts.iter().map(|(_, block)| block.span).collect();
                let taken = taken.union(&BusySet::from_unsorted(conflicts));
                found.nearest_free = nearest_free(&taken, found.wanted, within, NEAR_STEP, NEAREST);
            }
        }
        Err(refusal)
    }
}

/// Collects the conflicts. The nearest free times are added later.
pub(crate) fn obstacles(
    wanted: Span,
    mut conflicts: Vec<(CalendarId, Block)>,
    sources: Vec<BusySource>,
) -> Box<Obstacles> {
    // Name every taken calendar once before naming one twice.
    let mut named = BTreeSet::new();
    conflicts.sort_by_cached_key(|(calendar, _)| !named.insert(*calendar));
    conflicts.truncate(CONFLICTS_MAX);
    conflicts.sort_by_key(|(calendar, block)| (*calendar, block.span, block.kind));
    Box::new(Obstacles { wanted, conflicts, nearest_free: Vec::new(), occurrences: Vec::new(), item: None, sources })
}
