//! Writes on the condition of an availability answer (`if_as_of`): what changed since it, and whether that matters.

use std::collections::BTreeSet;

use kalends_availability::BusySet;
use kalends_calendars::{AsOf, Block, BlockKind, CHANGED_SINCE_MAX, CONFLICTS_MAX, Event, HumanFor, ports::BusySource};
use kalends_kernel::{CalendarId, FieldError, OrgId};
use kalends_time::{Span, Timestamp};

use crate::{
    Actor, App, ChangeSet, Guard, Refusal, attempt::Attempt, availability::widest, conflicts::obstacles,
    ports::HumanSeen,
};

/// Why a state of availability is no condition for a series.
pub(crate) const NOT_FOR_SERIES: &str =
    "is for one event or one occurrence, because availability shows a window; send if_free for a series";

/// Why a state of availability is no condition for holds on calendars that the actor does not see.
pub(crate) const NOT_FOR_OTHERS: &str =
    "must be left out for a hold on a calendar of others, whose state this key does not see";

/// The time that a write takes on calendars.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) span: Span,
    /// The calendars, each once.
    pub(crate) calendars: &'a [CalendarId],
    /// The hold or event that moves or is confirmed, as it was read. It does not block itself.
    pub(crate) moved: Option<&'a Event>,
}

impl App {
    /// Refuses an event if something relevant to its time has changed since the caller decided. `before` is the event as
    /// it was read, if it exists.
    pub(crate) async fn require_unchanged(
        &self,
        actor: &Actor,
        if_as_of: Option<&AsOf>,
        (event, before): (&Event, Option<&Event>),
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<(), Attempt> {
        let Some(as_of) = if_as_of else { return Ok(()) };
        if event.recurrence().is_some() {
            return Err(FieldError::new("if_as_of", NOT_FOR_SERIES).into());
        }
        let calendars = [event.calendar];
        check_covers(as_of, &calendars)?;
        let place = Place { span: event.times.span, calendars: &calendars, moved: before };
        self.unchanged_since(actor, as_of, place, now, changes).await
    }

    /// Refuses the holds of a set if something relevant to their times has changed since the caller decided, or if some
    /// are on `hidden` calendars.
    pub(crate) async fn require_set_unchanged(
        &self,
        actor: &Actor,
        as_of: &AsOf,
        (holds, hidden): (&[Event], &BTreeSet<CalendarId>),
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<(), Attempt> {
        if !hidden.is_empty() {
            return Err(FieldError::new("if_as_of", NOT_FOR_OTHERS).into());
        }
        let calendars: Vec<CalendarId> = holds.iter().map(|hold| hold.calendar).collect();
        check_covers(as_of, &calendars)?;
        // They have the same time, unless one of them has moved alone.
        let spans: BTreeSet<Span> = holds.iter().map(|hold| hold.times.span).collect();
        for span in spans {
            let moved = holds.first();
            let place = Place { span, calendars: &calendars, moved };
            self.unchanged_since(actor, as_of, place, now, changes).await?;
        }
        Ok(())
    }

    /// Refuses if a blocking event in the wanted time (buffers included) or a rule has changed since the caller
    /// decided. Adds guards against any change to a blocking event before the commit. A rule that changes between this
    /// check and the commit counts as changed after the hold was placed.
    pub(crate) async fn unchanged_since(
        &self,
        actor: &Actor,
        as_of: &AsOf,
        place: Place<'_>,
        now: Timestamp,
        changes: &mut ChangeSet,
    ) -> Result<(), Attempt> {
        let org = actor.org();
        let (mut conflicts, mut ruled, mut sources) = (Vec::new(), false, Vec::new());
        for (calendar, since) in as_of.calendars.iter().copied() {
            // A calendar that is gone takes no time.
            let Some(source) = self.parts.store.source_of_calendar(org, calendar).await? else { continue };
            actor.for_agent(source.agent)?;
            let (mut seen, mut window) = (source.revision, widest(place.span));
            // A revision in the future belongs to another state of the database.
            ruled |= since > source.revision;
            if source.revision != since && conflicts.len() < CONFLICTS_MAX {
                let rules = self.parts.store.find_rules(org, calendar).await?.map(|row| row.rules).unwrap_or_default();
                let reads = rules.reads(place.span);
                let changed =
                    self.parts.store.changed_since(org, calendar, since, reads).await?.ok_or(Attempt::Stale)?;
                (seen, window) = (changed.revision, reads);
                // There may be more changed events than were read.
                ruled |= changed.rules_changed || changed.events.len() >= CHANGED_SINCE_MAX as usize;
                let others = changed.events.iter().filter(|event| !is_own(place.moved, event));
                let blocks = others.flat_map(|event| {
                    let own = own_start(place.moved, event);
                    blocks_in(event, reads, now).into_iter().filter(move |block| Some(block.span.start()) != own)
                });
                conflicts.extend(blocks.map(|block| (calendar, block)));
            }
            changes.guards.push(Guard::CalendarTime { calendar, seen, window });
            sources.push(source);
        }
        conflicts.extend(self.humans_changed_since(org, as_of, &sources, place.span, now).await?);
        if conflicts.is_empty() && !ruled {
            return Ok(());
        }
        for calendar in place.calendars.iter().copied() {
            if !sources.iter().any(|source| source.calendar == calendar) {
                sources.extend(self.parts.store.source_of_calendar(org, calendar).await?);
            }
        }
        Err(Refusal::Outdated(obstacles(place.span, conflicts, sources)).into())
    }

    /// The busy times in the wanted time (buffers included) of human calendars that changed since the caller decided.
    async fn humans_changed_since(
        &self,
        org: OrgId,
        as_of: &AsOf,
        sources: &[BusySource],
        span: Span,
        now: Timestamp,
    ) -> Result<Vec<(CalendarId, Block)>, Refusal> {
        let known = |seen: &HumanSeen| {
            as_of
                .humans
                .iter()
                .any(|human| (human.of, human.source, human.revision) == (seen.of, seen.source, seen.revision))
        };
        let mut seen = self.humans_of(org, sources).await?;
        seen.retain(|seen| !known(seen));
        let changed = seen.iter().filter_map(|seen| match seen.of {
            HumanFor::Calendar(calendar) => Some(calendar),
            // An agent without a calendar has nothing to place a hold on.
            HumanFor::Agent(_) => None,
        });
        let changed: BTreeSet<CalendarId> = changed.collect();
        if changed.is_empty() {
            return Ok(Vec::new());
        }
        let humans = self.read_humans(org, (seen, sources), widest(span), now, true).await?;
        let mut conflicts = Vec::new();
        for calendar in changed {
            let rules = self.parts.store.find_rules(org, calendar).await?.map(|row| row.rules).unwrap_or_default();
            let busy = humans.busy(calendar, rules.reads(span)).unwrap_or(BusySet::EMPTY);
            let blocks = busy.spans().iter().map(|span| Block { kind: BlockKind::HumanBusy, span: *span });
            conflicts.extend(blocks.map(|block| (calendar, block)));
        }
        Ok(conflicts)
    }
}

/// Whether a stored event is the one that moves or is confirmed: its own row, an override of the series that it was, or
/// another event of its hold set.
fn is_own(moved: Option<&Event>, event: &Event) -> bool {
    let Some(moved) = moved else { return false };
    if moved.hold_set.is_some() && moved.hold_set == event.hold_set {
        return true;
    }
    match moved.occurrence() {
        // The other occurrences of its series are as much in its way as any event.
        Some(occurrence) => event.id == moved.id && event.id != occurrence.series,
        None => event.id == moved.id || event.occurrence().is_some_and(|occurrence| occurrence.series == moved.id),
    }
}

/// The start of the occurrence that moves, if `event` is the row of its series.
fn own_start(moved: Option<&Event>, event: &Event) -> Option<Timestamp> {
    let occurrence = moved?.occurrence()?;
    (occurrence.series == event.id).then_some(occurrence.start)
}

/// The time that an event takes in `window`, as blocks.
fn blocks_in(event: &Event, window: Span, now: Timestamp) -> Vec<Block> {
    let spans: Vec<Span> = match event.repeating() {
        Some(series) => series.occurrences(window).take(CONFLICTS_MAX).collect(),
        None => {
            let held = event.held_time().filter(|held| held.expires_at > now).map(|held| held.span);
            event.busy().or(held).filter(|span| span.overlaps(window)).into_iter().collect()
        }
    };
    spans.into_iter().map(|span| Block { span, ..event.block() }).collect()
}

/// Checks that an `as_of` covers the calendars that the holds are placed on.
pub(crate) fn check_covers(as_of: &AsOf, calendars: &[CalendarId]) -> Result<(), FieldError> {
    let covers = |calendar: &CalendarId| as_of.calendars.iter().any(|(covered, _)| covered == calendar);
    match calendars.iter().find(|calendar| !covers(calendar)) {
        None => Ok(()),
        Some(missing) => {
            let message = format!("must come from an answer that covers {missing}; query its availability first");
            Err(FieldError::new("if_as_of", message))
        }
    }
}
