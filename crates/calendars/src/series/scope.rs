//! Changes of several occurrences of a series: from one on, or all of them.

use std::collections::BTreeMap;

use kalends_kernel::{EARLIEST_TIME, EventId, FieldError, Version};
use kalends_recurrence::{Rule, Series, SplitError};
use kalends_time::{SignedDuration, Timestamp, Zone};

use super::{Occurrence, Recurrence, Repeats, recurrence::written};
use crate::{
    Event, EventError, EventPatch, Moment, Patch, Times, Zones,
    times::{at_wall_clock, moved_end, wall_clock_micros},
};

mod moves;
#[cfg(test)]
mod tests;

/// The occurrences of a series that a change of one of them affects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeriesScope {
    /// That occurrence alone.
    This,
    /// That occurrence and all later ones.
    Following,
    /// All occurrences.
    All,
}

/// A series after a change of many occurrences.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedSeries {
    /// The series.
    pub series: Event,
    /// What becomes of the overrides.
    pub overrides: Vec<ChangedOverride>,
}

/// An override of a series that changed.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedOverride {
    /// The override as it was read.
    pub before: Event,
    /// The override as it is now. If its original start changed, it has another identifier as an instance, and so another
    /// row: that of the override which had this original start before, or a new one. `None` if the series no longer has
    /// that occurrence.
    pub after: Option<Event>,
}

/// How a change moves the occurrences of a series.
#[derive(Clone, Copy)]
struct Shift {
    /// By this much on the wall clock.
    by: SignedDuration,
    /// The zone of the series before the move.
    from: Zone,
    /// The zone of the series after the move.
    to: Zone,
    /// The zone of the calendar.
    calendar: Zone,
    /// The start of the first occurrence, if that is the named one. It starts exactly where the request says, even if the
    /// clocks show that time twice.
    first: Option<Timestamp>,
    /// The new times of the named occurrence.
    times: Times,
    /// Whether the others get the length of the named occurrence.
    lasts: bool,
}

impl Event {
    /// The two halves of this series: it ends before the occurrence that the rule gives at `start`, and a new series
    /// with the identifier `id` continues from there with the later exceptions. Together they have the occurrences of
    /// this series. `None` if nothing takes place before that occurrence.
    ///
    /// The overrides from `start` on are those of the new series. [`Self::with_all_patched`] gives their rows.
    ///
    /// # Errors
    /// [`EventError::ReadOnly`] for imported series. [`EventError::Invalid`] if the event is not a series, has no such
    /// occurrence, or the clocks skip its time of day on that date.
    pub fn split(&self, start: Timestamp, id: EventId, now: Timestamp) -> Result<Option<(Self, Self)>, EventError> {
        let Some(ended) = self.ended_before(start, now)? else { return Ok(None) };
        let (recurrence, series) = self.expanded()?;
        let (_, rule) = series.split_at(start).map_err(|error| refused("scope", &error))?;
        let span = series.span_at(start).ok_or_else(not_an_occurrence)?;
        let later = |all: &[Timestamp]| all.iter().copied().filter(|exception| *exception >= start).collect();
        let (exdates, overridden) = (later(&recurrence.exdates), later(&recurrence.overridden));
        let rest = Recurrence { rule, exdates, overridden, ..recurrence.clone() };
        let continued = Self {
            id,
            times: Times { span, all_day: self.times.all_day },
            repeats: rest.into(),
            previous_series: Some(self.id),
            version: Version::FIRST,
            created_at: now,
            updated_at: now,
            ..self.clone()
        };
        Ok(Some((ended, continued)))
    }

    /// This series if it ends before the occurrence that the rule gives at `start`. `None` if nothing takes place before
    /// that occurrence.
    ///
    /// # Errors
    /// [`EventError::ReadOnly`] for imported series. [`EventError::Invalid`] if the event is not a series, or has no such
    /// occurrence.
    pub fn ended_before(&self, start: Timestamp, now: Timestamp) -> Result<Option<Self>, EventError> {
        self.writable()?;
        let (recurrence, series) = self.expanded()?;
        let rule = match series.ended_before(start) {
            Ok(rule) => rule,
            Err(SplitError::First) => return Ok(None),
            Err(error) => return Err(refused("scope", &error)),
        };
        let mut starts = series.starts(series.first_start()..start);
        if starts.all(|start| recurrence.exdates.binary_search(&start).is_ok()) {
            return Ok(None);
        }
        let earlier = |all: &[Timestamp]| all.iter().copied().filter(|exception| *exception < start).collect();
        let (exdates, overridden) = (earlier(&recurrence.exdates), earlier(&recurrence.overridden));
        let last_start = series.previous_start_before(start);
        Ok(Some(self.recurring(Recurrence { rule, exdates, overridden, last_start, zone: recurrence.zone }, now)))
    }

    /// This series with `patch` applied to all of its occurrences. `instance` is the occurrence that the request names,
    /// as it is now: if its start moves, every occurrence, exdate and override moves by as much on the wall clock.
    ///
    /// `overrides` are the rows of all overrides of this series, or, if it was just split off another series, those that
    /// it takes over. An override keeps what was changed in it alone: a field changes only if it was the same as in the
    /// series. The named occurrence gets every change.
    ///
    /// `zones` are those of the calendar. `next_id` gives identifiers for new rows of overrides.
    ///
    /// # Errors
    /// As [`Self::patched`]. [`EventError::Invalid`] also if no rule has the dates to which the occurrences move, or if
    /// `all_day` changes.
    pub fn with_all_patched(
        &self,
        overrides: Vec<Self>,
        instance: &Self,
        patch: &EventPatch,
        zones: Zones,
        now: Timestamp,
        next_id: &mut dyn FnMut() -> EventId,
    ) -> Result<ChangedSeries, EventError> {
        self.writable()?;
        let (_, expanded) = self.expanded()?;
        let named = instance.occurrence().ok_or_else(not_an_occurrence)?.start;
        // A first occurrence that is cancelled does not come back instead of the named one.
        let is_first = || named == self.times.span.start() || matches!(self.ended_before(named, now), Ok(None));
        if patch.recurrence.rule == Patch::Set(None) && is_first() {
            return self.ended_at_first(overrides, instance, patch, zones, now);
        }
        let shift = self.shift(&expanded, instance, named, patch, zones, now)?;
        let moved = match shift {
            Some(shift) => self.shifted(&expanded, shift, &patch.recurrence.rule)?,
            None => self.clone(),
        };
        let rest = EventPatch { start: Patch::Keep, end: Patch::Keep, all_day: Patch::Keep, ..patch.clone() };
        let mut series = moved.patched(rest.clone(), zones, now)?;
        series.ask_again_after(self);
        let overrides = series.with_overrides(overrides, now, next_id, |before, original| {
            let start = match shift.filter(Shift::moves) {
                Some(shift) => shift.start(&expanded, original),
                None => Some(original),
            };
            let Some(start) = start else { return Ok(None) };
            let mut after = self.followed_by(before, &rest, original == named);
            after.attendees = after.attendees.following(&self.attendees, &series.attendees);
            if let Some(shift) = shift {
                after.times = shift.of_override(self, &expanded, before, original == named)?;
                after.ask_again_after(before);
            }
            Ok(Some((start, after)))
        })?;
        Ok(ChangedSeries { series, overrides })
    }

    /// What becomes of the overrides of a series that is now `self`. `change` gives the new original start of an override
    /// and the override, or `None` if it goes. An override also goes if the series no longer names its original start.
    fn with_overrides(
        &self,
        overrides: Vec<Self>,
        now: Timestamp,
        next_id: &mut dyn FnMut() -> EventId,
        change: impl Fn(&Self, Timestamp) -> Result<Option<(Timestamp, Self)>, EventError>,
    ) -> Result<Vec<ChangedOverride>, EventError> {
        let kept = self.recurrence().map_or(&[][..], Recurrence::overridden);
        let rows: BTreeMap<Occurrence, (EventId, Timestamp)> =
            overrides.iter().filter_map(|row| Some((row.occurrence()?, (row.id, row.created_at)))).collect();
        let mut changed = Vec::new();
        for before in overrides {
            let original = before.occurrence().ok_or_else(not_an_occurrence)?;
            let after = change(&before, original.start)?.filter(|(start, _)| kept.binary_search(start).is_ok());
            let Some((start, mut after)) = after else {
                changed.push(ChangedOverride { before, after: None });
                continue;
            };
            let occurrence = Occurrence { series: self.id, start };
            if occurrence == original && after == before {
                continue;
            }
            after.repeats = Repeats::Instance(occurrence);
            (after.id, after.created_at) = rows.get(&occurrence).copied().unwrap_or_else(|| (next_id(), now));
            after.version = self.version;
            after.updated_at = now;
            changed.push(ChangedOverride { before, after: Some(after) });
        }
        Ok(changed)
    }

    /// The first occurrence that takes place, with `patch`, as a single event. Nothing else of the series remains.
    fn ended_at_first(
        &self,
        overrides: Vec<Self>,
        instance: &Self,
        patch: &EventPatch,
        zones: Zones,
        now: Timestamp,
    ) -> Result<ChangedSeries, EventError> {
        let single = Self {
            id: self.id,
            previous_series: self.previous_series,
            version: self.version,
            created_at: self.created_at,
            repeats: Repeats::Once,
            ..instance.clone()
        };
        let overrides = overrides.into_iter().map(|before| ChangedOverride { before, after: None }).collect();
        Ok(ChangedSeries { series: single.patched(patch.clone(), zones, now)?, overrides })
    }

    fn expanded(&self) -> Result<(&Recurrence, Series), EventError> {
        let recurrence = self.recurrence().ok_or_else(not_an_occurrence)?;
        let series = recurrence.series(self.times);
        Ok((recurrence, series.map_err(|error| refused("scope", &error))?))
    }

    /// How far the patch moves the occurrence that the rule gives at `named`. `None` if it sets neither times nor a zone.
    fn shift(
        &self,
        series: &Series,
        instance: &Self,
        named: Timestamp,
        patch: &EventPatch,
        zones: Zones,
        now: Timestamp,
    ) -> Result<Option<Shift>, EventError> {
        let all_day = self.times.all_day;
        if matches!(patch.all_day, Patch::Set(given) if given != all_day) {
            let message =
                "must stay as it is with a scope; leave scope out to change one occurrence, or PATCH the series";
            return Err(refused("all_day", &message));
        }
        let from = series.zone();
        let to = match patch.recurrence.zone {
            _ if all_day => zones.calendar,
            Patch::Set(zone) => zone.unwrap_or(zones.series),
            Patch::Keep => from,
        };
        let lasts = patch.end.is_set();
        if !patch.start.is_set() && !lasts && (all_day || to == from) {
            return Ok(None);
        }
        if instance.times.all_day != all_day {
            let message = "must be this for another time, because all_day of the occurrence differs from its series; name \
                another occurrence";
            return Err(refused("scope", &message));
        }
        let times = EventPatch { start: patch.start.clone(), end: patch.end.clone(), ..EventPatch::default() };
        let times = instance.patched(times, zones, now)?.times;
        let (before, after) = (instance.times.span.start(), times.span.start());
        let by = if before == named {
            series.shift_between(named, after, to)
        } else {
            SignedDuration::micros(wall_clock_micros(to, after) - wall_clock_micros(from, before))
        };
        let first = (named == before && named == self.times.span.start()).then_some(named);
        Ok(Some(Shift { by, from, to, calendar: zones.calendar, first, times, lasts }))
    }

    /// This series with every occurrence and exception moved, and the same other fields.
    fn shifted(&self, series: &Series, shift: Shift, rule: &Patch<Option<Rule>>) -> Result<Self, EventError> {
        let (Shift { by, to, .. }, recurrence) = (shift, self.recurrence().ok_or_else(not_an_occurrence)?);
        let first = self.times.span.start();
        let start = shift.start(series, first).ok_or_else(out_of_range)?;
        if shift.moves() && series.shift_between(first, start, to) != by {
            let message =
                format!("would move the first occurrence to a time that the clocks in {to} skip, before {start}");
            return Err(refused("start_time", &message));
        }
        let rule = match rule {
            Patch::Set(rule) => rule.clone(),
            Patch::Keep if shift.moves() => {
                Some(series.shifted_rule(by, to).ok_or_else(|| cannot_shift(&recurrence.rule))?)
            }
            Patch::Keep => Some(recurrence.rule.clone()),
        };
        let times =
            if shift.lasts { placed(shift.times, start, to, to)? } else { placed(self.times, start, shift.from, to)? };
        let Some(rule) = rule else { return Ok(Self { times, repeats: Repeats::Once, ..self.clone() }) };
        let mut after = written(rule, to, times, Vec::new(), Vec::new())?;
        let occurs = after.series(times).map_err(|error| refused("end_time", &error))?;
        let still = |starts: &[Timestamp]| -> Vec<Timestamp> {
            let moved = starts.iter().filter_map(|start| shift.start(series, *start));
            let mut still: Vec<Timestamp> = moved.filter(|start| occurs.is_occurrence(*start)).collect();
            still.sort_unstable();
            still.dedup();
            still
        };
        after.exdates = still(&recurrence.exdates);
        after.overridden = still(&recurrence.overridden);
        Ok(Self { times, repeats: after.into(), ..self.clone() })
    }

    /// An override of this series after the changes of fields other than times.
    fn followed_by(&self, row: &Self, patch: &EventPatch, named: bool) -> Self {
        let mut after = row.clone();
        macro_rules! follow {
            ($($field:ident),*) => {$(
                if named || row.$field == self.$field {
                    patch.$field.clone().apply_to(&mut after.$field);
                }
            )*};
        }
        follow!(title, description, location, conference_url, status, metadata, reminders);
        if named && let Patch::Set(attendees) = &patch.attendees {
            after.attendees = attendees.instead_of(&row.attendees);
        }
        after
    }
}

impl ChangedSeries {
    /// This series after `patch`. Overrides that it no longer has are dropped.
    ///
    /// # Errors
    /// As [`Event::patched`].
    pub fn patched(self, patch: EventPatch, zones: impl Into<Zones>, now: Timestamp) -> Result<Self, EventError> {
        let (mut overrides, series) = (self.overrides, self.series.patched(patch, zones, now)?);
        let dropped = self.series.overrides_dropped_by(&series);
        for changed in &mut overrides {
            changed.after.take_if(|after| {
                after.occurrence().is_some_and(|occurrence| dropped.binary_search(&occurrence.start).is_ok())
            });
        }
        Ok(Self { series, overrides })
    }
}

impl Shift {
    /// Whether any start changes.
    fn moves(&self) -> bool {
        self.by != SignedDuration::ZERO || self.from != self.to
    }

    /// Where the occurrence at `start` starts after the move.
    fn start(&self, series: &Series, start: Timestamp) -> Option<Timestamp> {
        if !self.moves() {
            Some(start)
        } else if self.first == Some(start) {
            Some(self.times.span.start())
        } else {
            series.shifted_start(start, self.by, self.to)
        }
    }

    /// The times of an override of `series` after the move.
    fn of_override(&self, series: &Event, expanded: &Series, row: &Event, named: bool) -> Result<Times, EventError> {
        let (seen, by) = (row.times, self.by.as_micros());
        let alike = seen.all_day == series.times.all_day;
        let (from, to) = if alike { (self.from, self.to) } else { (self.calendar, self.calendar) };
        let mut start = Some(seen.span.start());
        if named {
            start = Some(self.times.span.start());
        } else if alike && row.occurrence().is_some_and(|original| original.start == seen.span.start()) {
            start = self.start(expanded, seen.span.start());
        } else if self.moves() {
            let days = by - by % SignedDuration::days(1).as_micros();
            let by = if seen.all_day { days } else { by };
            start = at_wall_clock(to, wall_clock_micros(from, seen.span.start()).saturating_add(by));
        }
        let start = start.ok_or_else(out_of_range)?;
        let length = |times: Times| match times.all_day {
            true => wall_clock_micros(from, times.span.end()) - wall_clock_micros(from, times.span.start()),
            false => times.span.length().as_micros(),
        };
        if self.lasts && alike && (named || length(seen) == length(series.times)) {
            placed(self.times, start, to, to)
        } else {
            placed(seen, start, from, to)
        }
    }
}

/// The times of an event that starts at `start` in the zone `to`, and lasts as long as `lasts` in the zone `from`.
fn placed(lasts: Times, start: Timestamp, from: Zone, to: Zone) -> Result<Times, EventError> {
    let end = moved_end(lasts, start, lasts.all_day, from, to);
    if start < EARLIEST_TIME || end > Timestamp::HORIZON {
        return Err(out_of_range());
    }
    Ok(Times::read(Moment::At(start), Moment::At(end), lasts.all_day, to)?)
}

fn refused(param: &str, message: &dyn ToString) -> EventError {
    EventError::Invalid(FieldError::new(param, message.to_string()).into())
}

/// The error of a scope for anything but an occurrence of a series.
pub fn needs_an_occurrence() -> FieldError {
    let message = "must be this, or left out, unless the id is that of an instance of a series";
    FieldError::new("scope", message)
}

fn not_an_occurrence() -> EventError {
    EventError::Invalid(needs_an_occurrence().into())
}

fn out_of_range() -> EventError {
    refused("start_time", &"must keep every occurrence within the years 1970 to 2099")
}

fn cannot_shift(rule: &Rule) -> EventError {
    let message = format!(
        "must keep the date of the occurrence, because no rule moves all occurrences of {rule} by as many days; send \
         recurrence_rule for the new dates too"
    );
    refused("start_time", &message)
}
