//! Series: events that repeat, and the occurrences that differ from them (rulings 4.4 to 4.6).
//!
//! A series is one event with a [`Recurrence`]. An occurrence that was changed on its own is an event of
//! its own, an override, whose [`Repeats::Instance`] names the series and the start that the occurrence
//! had. The series keeps those starts beside its cancelled ones, so that it tells when it takes place
//! without a look at its overrides; whatever writes an override writes the series too, whose version
//! therefore guards both.

use std::{fmt, str::FromStr};

use kalends_kernel::{CalendarId, Elapsed, EventId, FieldError, FieldErrors, Instant, Span, Zone};
use kalends_recurrence::{Length, Rule, Series, SeriesError, Until};
use serde::{Deserialize, Serialize};

use crate::{Event, EventError, EventPatch, Moment, Patch, Times};

/// The most cancelled occurrences of a series.
pub const EXDATES_MAX: usize = 1_000;
/// The most occurrences of a series that differ from it.
pub const OVERRIDES_MAX: usize = 1_000;

/// For how many days a series may go on without counting as unbounded.
pub const BOUNDED_DAYS: i64 = 90;

/// One occurrence of a series: the series and the start that the rule gives, whatever the occurrence was
/// moved to since.
///
/// Its text is the identifier of an instance, `<series>_<YYYYMMDDTHHMMSSZ>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Occurrence {
    /// The series.
    pub series: EventId,
    /// The start by the rule.
    pub start: Instant,
}

/// A text that names no occurrence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an instance is named <series>_<YYYYMMDDTHHMMSSZ>")]
pub struct OccurrenceError;

impl fmt::Display for Occurrence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // RFC 5545 writes UTC the same way wherever it stands.
        write!(f, "{}_{}", self.series, Until::Instant(self.start))
    }
}

impl FromStr for Occurrence {
    type Err = OccurrenceError;

    /// Reads the one written form.
    fn from_str(text: &str) -> Result<Self, OccurrenceError> {
        let (series, start) = text.rsplit_once('_').ok_or(OccurrenceError)?;
        let series = series.parse().map_err(|_| OccurrenceError)?;
        if start.len() != 16 || !start.is_ascii() {
            return Err(OccurrenceError);
        }
        let part = |range: std::ops::Range<usize>| start.get(range).unwrap_or_default();
        let (year, month, day) = (part(0..4), part(4..6), part(6..8));
        let (hour, minute, second) = (part(9..11), part(11..13), part(13..15));
        let start = format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z").parse().map_err(|_| OccurrenceError)?;
        let occurrence = Self { series, start };
        // A leap second and other marks than T and Z would name the same occurrence once more.
        if occurrence.to_string() == text { Ok(occurrence) } else { Err(OccurrenceError) }
    }
}

/// Whether and how an event repeats.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Repeats {
    /// It takes place once.
    #[default]
    Once,
    /// It is a series; its times are those of the first occurrence.
    Series(Box<Recurrence>),
    /// It is an occurrence of a series, as the rule gives it or changed on its own.
    Instance(Occurrence),
}

/// How a series repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recurrence {
    rule: Rule,
    zone: Zone,
    /// Ascending, none twice.
    exdates: Vec<Instant>,
    /// Ascending, none twice; each is an occurrence and no exdate.
    overridden: Vec<Instant>,
    last_start: Option<Instant>,
}

/// A stored recurrence that is none.
#[derive(Debug, thiserror::Error)]
pub enum RecurrenceError {
    /// Not the JSON that was written.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// Not a rule.
    #[error(transparent)]
    Rule(#[from] kalends_recurrence::RuleError),
    /// Not a zone.
    #[error(transparent)]
    Zone(#[from] kalends_kernel::ZoneError),
    /// Not times that can repeat.
    #[error("an all-day series must last whole days of its zone")]
    Length,
}

/// How a recurrence is stored: instants in microseconds since 1970.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    rule: String,
    zone: String,
    exdates: Vec<i64>,
    overridden: Vec<i64>,
    last_start: Option<i64>,
}

impl Recurrence {
    /// The rule.
    pub const fn rule(&self) -> &Rule {
        &self.rule
    }

    /// The zone whose wall clock the series follows.
    pub const fn zone(&self) -> Zone {
        self.zone
    }

    /// The starts of cancelled occurrences, ascending; also those that were never occurrences.
    pub fn exdates(&self) -> &[Instant] {
        &self.exdates
    }

    /// The starts, by the rule, of the occurrences that are events of their own, ascending.
    pub fn overridden(&self) -> &[Instant] {
        &self.overridden
    }

    /// The start of the last occurrence, cancelled or not; `None` where the rule has no end.
    pub const fn last_start(&self) -> Option<Instant> {
        self.last_start
    }

    /// As one JSON text, for a store.
    pub fn to_json(&self) -> String {
        let micros = |instants: &[Instant]| instants.iter().map(|instant| instant.as_micros()).collect();
        let stored = Stored {
            rule: self.rule.to_string(),
            zone: self.zone.name().to_owned(),
            exdates: micros(&self.exdates),
            overridden: micros(&self.overridden),
            last_start: self.last_start.map(Instant::as_micros),
        };
        // Texts and numbers alone cannot fail to be written.
        serde_json::to_string(&stored).unwrap_or_default()
    }

    /// Reads what [`Self::to_json`] wrote.
    ///
    /// # Errors
    /// [`RecurrenceError`].
    pub fn from_json(text: &str) -> Result<Self, RecurrenceError> {
        let stored: Stored = serde_json::from_str(text)?;
        let instants = |micros: Vec<i64>| micros.into_iter().map(Instant::from_micros).collect();
        Ok(Self {
            rule: stored.rule.parse()?,
            zone: stored.zone.parse()?,
            exdates: instants(stored.exdates),
            overridden: instants(stored.overridden),
            last_start: stored.last_start.map(Instant::from_micros),
        })
    }

    /// The series of `times`, the first occurrence.
    ///
    /// # Errors
    /// [`RecurrenceError::Length`] where the times are not those with which the recurrence was written.
    pub fn series(&self, times: Times) -> Result<Series, RecurrenceError> {
        let length = length(times, self.zone).map_err(|_| RecurrenceError::Length)?;
        Ok(Series::from_stored(self.rule.clone(), times.span.start(), self.zone, length, self.last_start))
    }

    /// The starts that are not the rule's to show: cancelled, or events of their own.
    fn left_out(&self) -> Vec<Instant> {
        let mut left_out = [self.exdates.as_slice(), self.overridden.as_slice()].concat();
        left_out.sort_unstable();
        left_out
    }
}

/// What makes a new event a series.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRecurrence {
    /// The rule.
    pub rule: Rule,
    /// Occurrences that are cancelled from the beginning; plain dates for an all-day series only.
    pub exdates: Vec<Moment>,
    /// The zone that the rule follows; `None` is UTC, and the calendar's for an all-day series.
    pub zone: Option<Zone>,
}

/// What a PATCH says of the repetition.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecurrencePatch {
    /// A new rule; `None` makes the series a one-off event.
    pub rule: Patch<Option<Rule>>,
    /// The cancelled occurrences, in place of the old.
    pub exdates: Patch<Vec<Moment>>,
    /// A new zone; `None` is UTC.
    pub zone: Patch<Option<Zone>>,
}

impl RecurrencePatch {
    /// The name of the first field that is given.
    fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("recurrence_rule", self.rule.is_set()),
            ("recurrence_exdates", self.exdates.is_set()),
            ("recurrence_timezone", self.zone.is_set()),
        ];
        given.into_iter().find_map(|(name, given)| given.then_some(name))
    }
}

/// Checks how many exdates there are, and reads each with `read`.
///
/// # Errors
/// Names the entry at fault, as `recurrence_exdates[3]`, or the count.
pub fn exdates<T>(
    given: &[T],
    read: impl Fn(&str, &T) -> Result<Moment, FieldError>,
) -> Result<Vec<Moment>, FieldError> {
    if given.len() > EXDATES_MAX {
        return Err(too_many_exdates(given.len()));
    }
    given.iter().enumerate().map(|(index, exdate)| read(&format!("recurrence_exdates[{index}]"), exdate)).collect()
}

fn too_many_exdates(got: usize) -> FieldError {
    let message = format!(
        "must hold at most {EXDATES_MAX} cancelled occurrences, got {got}; end this series and begin another instead"
    );
    FieldError::new("recurrence_exdates", message)
}

impl NewRecurrence {
    /// The repetition of an event that takes place at `times`, on a calendar in the zone `calendar`.
    ///
    /// # Errors
    /// A field error for each field at fault.
    pub(crate) fn of(self, times: Times, calendar: Zone) -> Result<Repeats, FieldErrors> {
        let zone = zone_of(self.zone, times.all_day, calendar)?;
        let exdates = resolved(&self.exdates, times.all_day, zone)?;
        written(self.rule, zone, times, exdates, Vec::new())
    }
}

/// The repetition of `seen` once `patch` is applied and it takes place at `times`.
pub(crate) fn patched(
    seen: &Event,
    patch: RecurrencePatch,
    times: Times,
    times_given: bool,
    calendar: Zone,
) -> Result<Repeats, FieldErrors> {
    let before = match &seen.repeats {
        Repeats::Instance(_) => {
            return match patch.first_given() {
                None => Ok(seen.repeats.clone()),
                Some(field) => Err(FieldError::new(field, "belongs to the series; change it there").into()),
            };
        }
        Repeats::Once => None,
        Repeats::Series(before) => Some(before.as_ref()),
    };
    if patch.first_given().is_none() && !times_given {
        return Ok(seen.repeats.clone());
    }
    let RecurrencePatch { rule, exdates, zone } = patch;
    let mut new_rule = before.map(|before| before.rule.clone());
    rule.apply_to(&mut new_rule);
    let Some(rule) = new_rule else {
        return once(&exdates, &zone);
    };
    let zone = match (zone, before) {
        (Patch::Set(zone), _) => zone_of(zone, times.all_day, calendar)?,
        // A series stays in the zone in which it was written while its times stay.
        (Patch::Keep, Some(before)) if times.all_day == seen.times.all_day && (!times.all_day || !times_given) => {
            before.zone
        }
        (Patch::Keep, _) => zone_of(None, times.all_day, calendar)?,
    };
    let (old_exdates, old_overridden) =
        before.map_or((&[][..], &[][..]), |before| (&before.exdates[..], &before.overridden[..]));
    let given = match exdates {
        Patch::Set(exdates) => Some(resolved(&exdates, times.all_day, zone)?),
        Patch::Keep => None,
    };
    let moved = before.is_none_or(|before| {
        before.rule != rule
            || before.zone != zone
            || seen.times.span.start() != times.span.start()
            || seen.times.all_day != times.all_day
    });
    let Repeats::Series(mut after) = written(rule, zone, times, Vec::new(), Vec::new())? else {
        return Ok(Repeats::Once);
    };
    let series = after.series(times).map_err(|error| FieldError::new("end_time", error.to_string()))?;
    let still = |start: &Instant| !moved || series.is_occurrence(*start);
    after.exdates = match given {
        Some(given) => given,
        None => old_exdates.iter().copied().filter(still).collect(),
    };
    let kept =
        old_overridden.iter().copied().filter(|start| still(start) && after.exdates.binary_search(start).is_err());
    after.overridden = kept.collect();
    Ok(Repeats::Series(after))
}

/// What is no series takes neither exdates nor a zone.
fn once(exdates: &Patch<Vec<Moment>>, zone: &Patch<Option<Zone>>) -> Result<Repeats, FieldErrors> {
    let mut errors = FieldErrors::default();
    if matches!(exdates, Patch::Set(exdates) if !exdates.is_empty()) {
        errors.push(needs_a_rule("recurrence_exdates"));
    }
    if matches!(zone, Patch::Set(Some(_))) {
        errors.push(needs_a_rule("recurrence_timezone"));
    }
    errors.finish()?;
    Ok(Repeats::Once)
}

/// The error of a field that only a series has.
pub fn needs_a_rule(param: &str) -> FieldError {
    FieldError::new(param, "is for a series only; give recurrence_rule too, or leave it out")
}

fn zone_of(given: Option<Zone>, all_day: bool, calendar: Zone) -> Result<Zone, FieldError> {
    match given {
        Some(given) if all_day && given != calendar => Err(FieldError::new(
            "recurrence_timezone",
            format!(
                "must be left out for an all-day series, which follows its calendar's zone {calendar}, got {given}"
            ),
        )),
        None if !all_day => Ok(Zone::UTC),
        Some(given) => Ok(given),
        None => Ok(calendar),
    }
}

/// The exdates as instants, ascending and none twice.
fn resolved(exdates: &[Moment], all_day: bool, zone: Zone) -> Result<Vec<Instant>, FieldErrors> {
    let mut errors = FieldErrors::default();
    let mut instants = Vec::with_capacity(exdates.len());
    for (index, exdate) in exdates.iter().enumerate() {
        let last = Instant::from_micros(Instant::HORIZON.as_micros() - 1);
        instants.extend(errors.take(exdate.resolve(&format!("recurrence_exdates[{index}]"), all_day, zone, last)));
    }
    errors.finish()?;
    instants.sort_unstable();
    instants.dedup();
    Ok(instants)
}

fn written(
    rule: Rule,
    zone: Zone,
    times: Times,
    exdates: Vec<Instant>,
    overridden: Vec<Instant>,
) -> Result<Repeats, FieldErrors> {
    let series = Series::new(rule, times.span.start(), zone, length(times, zone)?).map_err(|error| {
        let param = match error {
            SeriesError::Range { .. } | SeriesError::Fraction { .. } | SeriesError::NotMidnight { .. } => "start_time",
            SeriesError::UntilBeforeStart { .. } | SeriesError::NeverOccurs { .. } => "recurrence_rule",
        };
        FieldError::new(param, error.to_string())
    })?;
    let last_start = series.last_start();
    let rule = series.rule().clone();
    Ok(Repeats::Series(Box::new(Recurrence { rule, zone, exdates, overridden, last_start })))
}

/// How long each occurrence lasts: elapsed time, or whole days of the zone.
fn length(times: Times, zone: Zone) -> Result<Length, FieldError> {
    let Times { span, all_day } = times;
    let length = if all_day {
        let (first, end) = (zone.to_civil(span.start()).date, zone.to_civil(span.end()).date);
        if zone.to_instant(end.midnight()) != Some(span.end()) {
            let message = format!("an all-day series must end at a midnight in {zone}, got {}", span.end());
            return Err(FieldError::new("end_time", message));
        }
        // Where the start is no midnight, its own error follows.
        Length::days(u16::try_from(end.as_days() - first.as_days()).unwrap_or(1).max(1))
    } else {
        Length::elapsed(span.length())
    };
    length.map_err(|error| FieldError::new("end_time", error.to_string()))
}

/// When a series takes place, without what people wrote about it: what stores read where only times count.
#[derive(Debug, Clone)]
pub struct Repeating {
    /// The series.
    pub id: EventId,
    /// The calendar on which it stands.
    pub calendar: CalendarId,
    series: Series,
    /// Ascending.
    left_out: Vec<Instant>,
}

impl Repeating {
    /// The times of a stored series.
    ///
    /// # Errors
    /// [`RecurrenceError::Length`].
    pub fn new(
        id: EventId,
        calendar: CalendarId,
        times: Times,
        recurrence: &Recurrence,
    ) -> Result<Self, RecurrenceError> {
        Ok(Self { id, calendar, series: recurrence.series(times)?, left_out: recurrence.left_out() })
    }

    /// The occurrences that overlap `window` and are left to the rule, in order: neither cancelled nor
    /// events of their own.
    pub fn occurrences(&self, window: Span) -> impl Iterator<Item = Span> + '_ {
        self.series.occurrences(window).without(&self.left_out)
    }

    /// The occurrences that start after `now` and are left to the rule, in order.
    pub fn after(&self, now: Instant) -> impl Iterator<Item = Span> + '_ {
        let starts = self.series.starts(now + Elapsed::micros(1)..Instant::HORIZON).without(&self.left_out);
        starts.filter_map(|start| self.series.span_at(start))
    }

    /// The time that the occurrences take which [`Self::occurrences`] gives, those that overlap or touch in
    /// one span.
    pub fn taken(&self, window: Span) -> Vec<Span> {
        let mut taken: Vec<Span> = Vec::new();
        for span in self.occurrences(window) {
            match taken.last_mut() {
                Some(last) if span.start() <= last.end() => {
                    // Occurrences come by their starts, so that the union begins where the last one did.
                    *last = Span::new(last.start(), last.end().max(span.end())).unwrap_or(*last);
                }
                _ => taken.push(span),
            }
        }
        taken
    }

    /// Up to `count` occurrences that are left to the rule and ended at or before `now`, the latest last.
    pub fn ended(&self, now: Instant, count: usize) -> Vec<Span> {
        let first = self.series.first_start();
        // Whatever began later than this has not ended. Days differ in length, each end by less than a day.
        let lasts = self.series.span_at(first).map_or(Elapsed::ZERO, Span::length);
        let slack = if self.series.is_all_day() { Elapsed::days(3) } else { Elapsed::ZERO };
        let latest = now.min(now - lasts + slack);
        let end = self.series.last_start().map_or(latest, |last| latest.min(last)) + Elapsed::micros(1);
        let mut days = 8;
        loop {
            let from = first.max(end - Elapsed::days(days));
            let starts = self.series.starts(from..end).without(&self.left_out);
            let spans = starts.filter_map(|start| self.series.span_at(start)).filter(|span| span.end() <= now);
            let mut found: Vec<Span> = spans.collect();
            if found.len() >= count || from == first {
                let more = found.len().saturating_sub(count);
                found.drain(..more);
                return found;
            }
            days *= 4;
        }
    }

    /// The end of the last occurrence that is left to the rule: from then on the series has ended. `None`
    /// where the rule has no end; the start where nothing is left.
    pub fn reaches(&self) -> Option<Instant> {
        self.series.last_start()?;
        let last = self.ended(Instant::from_micros(i64::MAX), 1).pop();
        Some(last.map_or(self.series.first_start(), Span::end))
    }

    fn span_at(&self, start: Instant) -> Option<Span> {
        self.left_out.binary_search(&start).is_err().then(|| self.series.span_at(start)).flatten()
    }
}

impl Event {
    /// How the event repeats, if it is a series.
    pub fn recurrence(&self) -> Option<&Recurrence> {
        match &self.repeats {
            Repeats::Series(recurrence) => Some(recurrence),
            Repeats::Once | Repeats::Instance(_) => None,
        }
    }

    /// The occurrence that the event is, if it is one.
    pub const fn occurrence(&self) -> Option<Occurrence> {
        match self.repeats {
            Repeats::Instance(occurrence) => Some(occurrence),
            Repeats::Once | Repeats::Series(_) => None,
        }
    }

    /// When the event takes place, if it is a series.
    pub fn repeating(&self) -> Option<Repeating> {
        Repeating::new(self.id, self.calendar, self.times, self.recurrence()?).ok()
    }

    /// Whether the event is a series with an occurrence that ends after `now`: such ones count against the
    /// plan (ruling 3.3).
    pub fn recurs_after(&self, now: Instant) -> bool {
        self.deleted_at.is_none()
            && self.repeating().is_some_and(|repeating| repeating.reaches().is_none_or(|end| end > now))
    }

    /// The instance of this series that the rule gives at `start`. `None` where there is none, it is
    /// cancelled, or an event of its own.
    pub fn instance(&self, start: Instant) -> Option<Self> {
        self.repeating()?.span_at(start).map(|span| self.instance_on(span))
    }

    /// This series as the instance that takes place in `span`.
    pub(crate) fn instance_on(&self, span: Span) -> Self {
        let occurrence = Occurrence { series: self.id, start: span.start() };
        Self {
            times: Times { span, all_day: self.times.all_day },
            repeats: Repeats::Instance(occurrence),
            ..self.clone()
        }
    }

    /// The starts of the overrides that this series has no more in its state `after`; where `after` is
    /// deleted, all.
    pub fn overrides_dropped_by(&self, after: &Self) -> Vec<Instant> {
        let kept = match after.recurrence() {
            Some(recurrence) if after.deleted_at.is_none() => recurrence.overridden(),
            _ => &[],
        };
        let had = self.recurrence().map_or(&[][..], Recurrence::overridden);
        had.iter().copied().filter(|start| kept.binary_search(start).is_err()).collect()
    }

    /// Whether the event is a series without an end, or one whose last occurrence starts more than
    /// [`BOUNDED_DAYS`] days after its first, by the calendar of its zone.
    pub fn recurs_for_long(&self) -> bool {
        self.recurrence().is_some_and(|recurrence| {
            let date = |instant| recurrence.zone.to_civil(instant).date.as_days();
            recurrence.last_start.is_none_or(|last| date(last) - date(self.times.span.start()) > BOUNDED_DAYS)
        })
    }

    /// Whether this series, in place of `before`, takes place by another rule or from another start.
    pub fn repeats_otherwise_than(&self, before: Option<&Self>) -> bool {
        let of = |event: &Self| {
            event.recurrence().map(|recurrence| (recurrence.rule.clone(), recurrence.zone, event.times.span.start()))
        };
        of(self) != before.and_then(of)
    }

    /// This series after one of its occurrences was cancelled. Its override, if it had one, is dropped.
    ///
    /// # Errors
    /// [`CancelError`].
    pub fn without_occurrence(&self, start: Instant, now: Instant) -> Result<Self, CancelError> {
        self.writable()?;
        let Some(recurrence) = self.recurrence() else { return Err(CancelError::NoSuchOccurrence) };
        let overridden = recurrence.overridden.binary_search(&start).is_ok();
        if !overridden && self.instance(start).is_none() {
            return Err(CancelError::NoSuchOccurrence);
        }
        let mut recurrence = recurrence.clone();
        recurrence.overridden.retain(|overridden| *overridden != start);
        if recurrence.exdates.len() >= EXDATES_MAX {
            return Err(EventError::Invalid(too_many_exdates(EXDATES_MAX + 1).into()).into());
        }
        insert(&mut recurrence.exdates, start);
        Ok(self.recurring(recurrence, now))
    }

    /// This series and one of its occurrences after `patch` was applied to the occurrence, which is an
    /// event of its own from then on. `shown` is the occurrence as it is now, `id` the identifier of the
    /// new row where it has none yet.
    ///
    /// # Errors
    /// [`EventError::ReadOnly`] for imported series, [`EventError::Invalid`].
    pub fn with_occurrence_patched(
        &self,
        shown: &Self,
        id: EventId,
        patch: EventPatch,
        calendar: Zone,
        now: Instant,
    ) -> Result<(Self, Self), EventError> {
        self.writable()?;
        let (Some(recurrence), Some(occurrence)) = (self.recurrence(), shown.occurrence()) else {
            return Err(EventError::Invalid(FieldError::new("id", "must name an occurrence of a series").into()));
        };
        let mut changed = shown.patched(patch, calendar, now)?;
        let mut recurrence = recurrence.clone();
        let first_change = recurrence.overridden.binary_search(&occurrence.start).is_err();
        if first_change {
            if recurrence.overridden.len() >= OVERRIDES_MAX {
                let message = format!(
                    "the series already has {OVERRIDES_MAX} changed occurrences; end it and begin another instead"
                );
                return Err(EventError::Invalid(FieldError::new("id", message).into()));
            }
            insert(&mut recurrence.overridden, occurrence.start);
            changed.id = id;
        }
        let series = self.recurring(recurrence, now);
        // Ahead of the version that the occurrence showed while it was the rule's.
        changed.version = series.version;
        Ok((series, changed))
    }

    fn recurring(&self, recurrence: Recurrence, now: Instant) -> Self {
        Self {
            repeats: Repeats::Series(Box::new(recurrence)),
            version: self.version.next(),
            updated_at: now,
            ..self.clone()
        }
    }
}

/// Why an occurrence cannot be cancelled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CancelError {
    /// The event is no series, or has no occurrence there, or it is cancelled already.
    #[error("the series has no such occurrence")]
    NoSuchOccurrence,
    /// The series cannot change so.
    #[error(transparent)]
    Event(#[from] EventError),
}

fn insert(ascending: &mut Vec<Instant>, instant: Instant) {
    if let Err(place) = ascending.binary_search(&instant) {
        ascending.insert(place, instant);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use kalends_kernel::{Metadata, OrgId};
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::{AgentActivity, Calendar, EventSource, EventStatus, NewCalendar, NewEvent};

    fn at(text: &str) -> Instant {
        text.parse().unwrap()
    }

    fn id(number: u8) -> EventId {
        format!("evt_000000000000000000000000{number:02}").parse().unwrap()
    }

    fn calendar(zone: &str) -> Calendar {
        let new = NewCalendar {
            name: "Work".into(),
            zone: zone.parse().unwrap(),
            activity: AgentActivity::Idle,
            default_reminders: None,
            metadata: Metadata::default(),
        };
        let org: OrgId = "org_00000000000000000000000001".parse().unwrap();
        let id = "cal_00000000000000000000000001".parse().unwrap();
        Calendar::create(id, org, None, new, "token".into(), Instant::from_micros(0))
    }

    /// A series on a calendar in Berlin.
    fn made(start: &str, end: &str, rule: &str, zone: Option<&str>, exdates: &[&str]) -> Result<Event, FieldErrors> {
        let all_day = start.len() == 10;
        let new = NewEvent {
            title: "Standup".into(),
            description: None,
            start: Moment::parse("start_time", start)?,
            end: Moment::parse("end_time", end)?,
            all_day,
            status: EventStatus::Confirmed,
            metadata: Metadata::default(),
            reminders: None,
            recurrence: Some(NewRecurrence {
                rule: rule.parse().unwrap(),
                exdates: super::exdates(exdates, |param, text| Moment::parse(param, text))?,
                zone: zone.map(|zone| zone.parse().unwrap()),
            }),
            hold: None,
        };
        Event::create(id(1), &calendar("Europe/Berlin"), new, Instant::from_micros(5))
    }

    fn weekly() -> Event {
        made("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z", "FREQ=WEEKLY;COUNT=10", None, &[]).unwrap()
    }

    fn patched(event: &Event, patch: EventPatch) -> Result<Event, EventError> {
        event.patched(patch, "Europe/Berlin".parse().unwrap(), Instant::from_micros(9))
    }

    fn rule(text: &str) -> EventPatch {
        let recurrence =
            RecurrencePatch { rule: Patch::Set(Some(text.parse().unwrap())), ..RecurrencePatch::default() };
        EventPatch { recurrence, ..EventPatch::default() }
    }

    fn moved(start: &str, end: &str) -> EventPatch {
        EventPatch {
            start: Patch::Set(Moment::At(at(start))),
            end: Patch::Set(Moment::At(at(end))),
            ..EventPatch::default()
        }
    }

    /// The series and the override of its occurrence at `start`, retitled.
    fn overridden(series: &Event, start: &str) -> (Event, Event) {
        let shown = series.instance(at(start)).unwrap();
        let patch = EventPatch { title: Patch::Set("Retro".into()), ..EventPatch::default() };
        series.with_occurrence_patched(&shown, id(2), patch, Zone::UTC, Instant::from_micros(9)).unwrap()
    }

    fn all(event: &Event) -> Vec<Span> {
        let ever = Span::new(Instant::from_micros(0), Instant::HORIZON).unwrap();
        event.repeating().unwrap().occurrences(ever).collect()
    }

    fn starts(event: &Event) -> Vec<String> {
        all(event).iter().map(|span| span.start().to_string()).collect()
    }

    #[rstest]
    #[case("evt_00000000000000000000000001_20260302T090000Z", true)]
    #[case("evt_00000000000000000000000001_20260302t090000Z", false)]
    #[case("evt_00000000000000000000000001_20260302T090000", false)]
    #[case("evt_00000000000000000000000001_20260302T095960Z", false)]
    #[case("evt_00000000000000000000000001_20260232T090000Z", false)]
    #[case("evt_00000000000000000000000001_+0260302T09000Z", false)]
    #[case("evt_00000000000000000000000001_", false)]
    #[case("cal_00000000000000000000000001_20260302T090000Z", false)]
    #[case("20260302T090000Z", false)]
    #[case("evt_00000000000000000000000001_2026030éT09000Z", false)]
    fn instances_have_one_name(#[case] text: &str, #[case] valid: bool) {
        let parsed = text.parse::<Occurrence>();
        assert_eq!(parsed.is_ok(), valid);
        assert!(parsed.is_err() || parsed.unwrap().to_string() == text);
    }

    #[test]
    fn a_zone_keeps_the_wall_clock_and_utc_does_not() {
        let local = |zone| {
            starts(&made("2026-03-27T08:00:00Z", "2026-03-27T09:00:00Z", "FREQ=DAILY;COUNT=4", zone, &[]).unwrap())
        };
        let berlin = ["2026-03-27T08:00:00Z", "2026-03-28T08:00:00Z", "2026-03-29T07:00:00Z", "2026-03-30T07:00:00Z"];
        assert_eq!(local(Some("Europe/Berlin")), berlin);
        assert_eq!(local(None)[3], "2026-03-30T08:00:00Z");
    }

    #[test]
    fn all_day_series_take_days_of_the_calendars_zone() {
        let days = made("2026-03-28", "2026-03-29", "FREQ=DAILY;COUNT=3", None, &["2026-03-28"]).unwrap();
        let spans: Vec<_> = all(&days).iter().map(|span| span.length()).collect();
        assert_eq!(starts(&days), ["2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"]);
        assert_eq!(spans, [Elapsed::hours(23), Elapsed::hours(24)]);
        let ended = |now| days.repeating().unwrap().ended(at(now), 5).len();
        assert_eq!((ended("2026-03-29T21:59:59Z"), ended("2026-03-29T22:00:00Z")), (0, 1));
        assert_eq!(days.repeating().unwrap().reaches(), Some(at("2026-03-30T22:00:00Z")));
        // The title of such a series can change when its calendar has moved to another zone.
        let title = EventPatch { title: Patch::Set("x".into()), ..EventPatch::default() };
        assert_eq!(days.patched(title, Zone::UTC, Instant::from_micros(9)).unwrap().repeats, days.repeats);
    }

    #[rstest]
    #[case::until("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z", "FREQ=DAILY;UNTIL=20260301", None, "recurrence_rule")]
    #[case::never(
        "2026-03-02T09:00:00Z",
        "2026-03-02T10:00:00Z",
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
        None,
        "recurrence_rule"
    )]
    #[case::fraction("2026-03-02T09:00:00.5Z", "2026-03-02T10:00:00Z", "FREQ=DAILY", None, "start_time")]
    #[case::zone("2026-03-02", "2026-03-03", "FREQ=DAILY", Some("Asia/Tokyo"), "recurrence_timezone")]
    fn what_makes_no_series_is_refused(
        #[case] start: &str,
        #[case] end: &str,
        #[case] rule: &str,
        #[case] zone: Option<&str>,
        #[case] param: &str,
    ) {
        assert_eq!(made(start, end, rule, zone, &[]).unwrap_err().first().param, param);
    }

    #[test]
    fn exdates_are_bounded_and_named() {
        let some = |count: usize| vec!["2026-03-02T09:00:00Z"; count];
        let refused = |exdates: &[&str]| {
            let made = made("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z", "FREQ=DAILY", None, exdates);
            made.unwrap_err().first().param
        };
        assert_eq!(refused(&some(EXDATES_MAX + 1)), "recurrence_exdates");
        let mut wrong = some(4);
        wrong[3] = "2026-03-02";
        assert_eq!(refused(&wrong), "recurrence_exdates[3]");
        wrong[2] = "never";
        assert_eq!(refused(&wrong), "recurrence_exdates[2]");
        let twice =
            made("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z", "FREQ=DAILY", None, &some(EXDATES_MAX)).unwrap();
        assert_eq!(twice.recurrence().unwrap().exdates(), [at("2026-03-02T09:00:00Z")]);
    }

    #[test]
    fn a_rule_comes_and_goes() {
        let series = weekly();
        let clear = RecurrencePatch { rule: Patch::Set(None), ..RecurrencePatch::default() };
        let (series, _) = overridden(&series, "2026-03-09T09:00:00Z");
        let once = patched(&series, EventPatch { recurrence: clear, ..EventPatch::default() }).unwrap();
        assert_eq!(once.repeats, Repeats::Once);
        assert_eq!(series.overrides_dropped_by(&once), [at("2026-03-09T09:00:00Z")]);
        let again = patched(&once, rule("FREQ=DAILY;COUNT=2")).unwrap();
        assert_eq!(starts(&again), ["2026-03-02T09:00:00Z", "2026-03-03T09:00:00Z"]);

        let zone = RecurrencePatch { zone: Patch::Set(Some(Zone::UTC)), ..RecurrencePatch::default() };
        let refused = patched(&once, EventPatch { recurrence: zone, ..EventPatch::default() }).unwrap_err();
        let EventError::Invalid(errors) = refused else { panic!("{refused}") };
        assert_eq!(errors.first().param, "recurrence_timezone");
    }

    #[test]
    fn a_changed_series_keeps_what_still_is_an_occurrence() {
        let series = weekly().without_occurrence(at("2026-03-16T09:00:00Z"), Instant::from_micros(9)).unwrap();
        let series = series.without_occurrence(at("2026-03-23T09:00:00Z"), Instant::from_micros(9)).unwrap();
        let (series, first) = overridden(&series, "2026-03-09T09:00:00Z");
        let (series, _) = overridden(&series, "2026-03-30T09:00:00Z");
        assert_eq!((first.id, first.version.next()), (id(2), series.version));

        // Every other week from the 2nd: the 16th and the 30th are left.
        let fortnightly = patched(&series, rule("FREQ=WEEKLY;INTERVAL=2;COUNT=5")).unwrap();
        let kept = fortnightly.recurrence().unwrap();
        assert_eq!(kept.exdates(), [at("2026-03-16T09:00:00Z")]);
        assert_eq!(kept.overridden(), [at("2026-03-30T09:00:00Z")]);
        assert_eq!(series.overrides_dropped_by(&fortnightly), [at("2026-03-09T09:00:00Z")]);

        let later = patched(&series, moved("2026-03-02T09:30:00Z", "2026-03-02T10:00:00Z")).unwrap();
        assert_eq!(
            (later.recurrence().unwrap().exdates(), later.recurrence().unwrap().overridden()),
            (&[][..], &[][..])
        );
        // Another end, and what is no time, drop nothing.
        let longer = patched(&series, moved("2026-03-02T09:00:00Z", "2026-03-02T11:00:00Z")).unwrap();
        assert_eq!(longer.repeats, series.repeats);
        let retitled = EventPatch { title: Patch::Set("x".into()), ..EventPatch::default() };
        assert_eq!(patched(&series, retitled).unwrap().repeats, series.repeats);
        assert_eq!(series.overrides_dropped_by(&series.deleted(Instant::from_micros(9)).unwrap()).len(), 2);
    }

    #[test]
    fn an_exdate_takes_the_place_of_an_override() {
        let (series, _) = overridden(&weekly(), "2026-03-09T09:00:00Z");
        let gone = series.without_occurrence(at("2026-03-09T09:00:00Z"), Instant::from_micros(9)).unwrap();
        assert_eq!(gone.recurrence().unwrap().overridden(), []);
        assert_eq!(series.overrides_dropped_by(&gone), [at("2026-03-09T09:00:00Z")]);
        let exdates = Patch::Set(vec![Moment::At(at("2026-03-09T09:00:00Z")), Moment::At(at("2026-03-10T09:00:00Z"))]);
        let recurrence = RecurrencePatch { exdates, ..RecurrencePatch::default() };
        let given = patched(&series, EventPatch { recurrence, ..EventPatch::default() }).unwrap();
        // One that is no occurrence is kept and has no effect.
        assert_eq!(given.recurrence().unwrap().exdates().len(), 2);
        assert_eq!(all(&given), all(&gone));
    }

    #[test]
    fn instances_change_alone() {
        let series = weekly();
        let (series, first) = overridden(&series, "2026-03-09T09:00:00Z");
        assert_eq!(series.instance(at("2026-03-09T09:00:00Z")), None);
        let moved = moved("2026-03-11T12:00:00Z", "2026-03-11T13:00:00Z");
        let (later, second) =
            series.with_occurrence_patched(&first, id(3), moved, Zone::UTC, Instant::from_micros(11)).unwrap();
        assert_eq!((second.id, &second.title), (first.id, &"Retro".to_owned()));
        assert_eq!(second.occurrence(), first.occurrence());
        assert_eq!(later.repeats, series.repeats);
        assert!(second.version > first.version && later.version > series.version);

        let shown = weekly().instance(at("2026-03-16T09:00:00Z")).unwrap();
        let refused = patched(&shown, rule("FREQ=DAILY")).unwrap_err();
        let EventError::Invalid(errors) = refused else { panic!("{refused}") };
        assert_eq!(errors.first().param, "recurrence_rule");
    }

    #[test]
    fn imported_series_are_read_only() {
        let series = Event { source: EventSource::ExternalIcal, ..weekly() };
        let (start, now) = (at("2026-03-09T09:00:00Z"), Instant::from_micros(9));
        let read_only = EventError::ReadOnly(series.id);
        assert_eq!(series.without_occurrence(start, now), Err(read_only.clone().into()));
        let shown = series.instance(start).unwrap();
        let patched = series.with_occurrence_patched(&shown, id(2), EventPatch::default(), Zone::UTC, now);
        assert_eq!(patched, Err(read_only));
    }

    #[rstest]
    #[case("FREQ=DAILY", true)]
    #[case("FREQ=DAILY;COUNT=91", false)]
    #[case("FREQ=DAILY;COUNT=92", true)]
    #[case("FREQ=WEEKLY;UNTIL=20991231", true)]
    #[case("FREQ=DAILY;UNTIL=20261205T090000Z", false)]
    fn ninety_days_are_days_of_the_zone(#[case] rule: &str, #[case] long: bool) {
        // Clocks are set back in between.
        let series = made("2026-09-06T08:00:00Z", "2026-09-06T09:00:00Z", rule, Some("Europe/Berlin"), &[]).unwrap();
        assert_eq!(series.recurs_for_long(), long);
    }

    #[test]
    fn a_series_has_ended_with_its_last_occurrence() {
        let series = weekly();
        assert!(series.recurs_after(at("2026-05-04T09:59:59Z")));
        assert!(!series.recurs_after(at("2026-05-04T10:00:00Z")));
        let shorter = series.without_occurrence(at("2026-05-04T09:00:00Z"), Instant::from_micros(9)).unwrap();
        assert!(!shorter.recurs_after(at("2026-04-27T10:00:00Z")));
        let endless = patched(&series, rule("FREQ=WEEKLY")).unwrap();
        assert!(endless.recurs_after(at("2099-01-01T00:00:00Z")));
        assert!(!endless.deleted(Instant::from_micros(9)).unwrap().recurs_after(Instant::from_micros(0)));
    }

    fn rules() -> impl Strategy<Value = &'static str> {
        proptest::sample::select(vec![
            "FREQ=DAILY;COUNT=30",
            "FREQ=DAILY;INTERVAL=3;COUNT=12",
            "FREQ=WEEKLY;BYDAY=MO,WE,FR;COUNT=20",
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;UNTIL=20260701",
            "FREQ=MONTHLY;BYDAY=-1FR;COUNT=9",
            "FREQ=MONTHLY;BYMONTHDAY=31;UNTIL=20270101",
            "FREQ=YEARLY;COUNT=3",
        ])
    }

    fn series() -> impl Strategy<Value = Event> {
        let zones = proptest::sample::select(vec![None, Some("Europe/Berlin"), Some("America/New_York")]);
        (rules(), zones, 0..24 * 28_i64, 1..40_i64).prop_map(|(rule, zone, hour, hours)| {
            let start = at("2026-03-02T00:00:00Z") + Elapsed::hours(hour);
            let end = start + Elapsed::hours(hours);
            made(&start.to_string(), &end.to_string(), rule, zone, &[]).unwrap()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn what_is_stored_is_read_back(event in series(), index in 0..9_usize) {
            let spans = all(&event);
            let start = spans[index % spans.len()].start();
            let event = event.without_occurrence(start, Instant::from_micros(9)).unwrap();
            let recurrence = event.recurrence().unwrap();
            prop_assert_eq!(&Recurrence::from_json(&recurrence.to_json()).unwrap(), recurrence);
            let occurrence = Occurrence { series: event.id, start };
            prop_assert_eq!(occurrence.to_string().parse(), Ok(occurrence));
        }

        /// The rule's, the cancelled and the changed occurrences part what the rule generates.
        #[test]
        fn occurrences_are_the_rules_or_cancelled_or_changed(
            event in series(),
            acts in proptest::collection::vec((0..40_usize, any::<bool>()), 0..8),
        ) {
            let before: BTreeSet<Instant> = all(&event).iter().map(|span| span.start()).collect();
            let starts: Vec<Instant> = before.iter().copied().collect();
            let mut now = event;
            for (index, cancel) in acts {
                let start = starts[index % starts.len()];
                let there = now.instance(start);
                let was_overridden = now.recurrence().unwrap().overridden().contains(&start);
                if cancel {
                    let after = now.without_occurrence(start, Instant::from_micros(9));
                    prop_assert_eq!(after.is_ok(), there.is_some() || was_overridden);
                    now = after.unwrap_or(now);
                    // Nothing is cancelled twice.
                    prop_assert!(now.without_occurrence(start, Instant::from_micros(9)).is_err());
                } else if let Some(shown) = there {
                    let (after, changed) = now
                        .with_occurrence_patched(&shown, id(2), EventPatch::default(), Zone::UTC, Instant::from_micros(9))
                        .unwrap();
                    prop_assert_eq!(changed.occurrence(), Some(Occurrence { series: now.id, start }));
                    now = after;
                }
            }
            let recurrence = now.recurrence().unwrap();
            let mut parts: Vec<Instant> = all(&now).iter().map(|span| span.start()).collect();
            parts.extend(recurrence.exdates());
            parts.extend(recurrence.overridden());
            parts.sort_unstable();
            prop_assert_eq!(parts, starts);
        }

        /// A change of the rule keeps exactly the exdates and overrides that the new rule has.
        #[test]
        fn a_new_rule_keeps_what_it_has(event in series(), new in rules(), cut in 0..40_usize, changed in 0..40_usize) {
            let starts: Vec<Instant> = all(&event).iter().map(|span| span.start()).collect();
            let (cut, changed) = (starts[cut % starts.len()], starts[changed % starts.len()]);
            prop_assume!(cut != changed);
            let event = event.without_occurrence(cut, Instant::from_micros(9)).unwrap();
            let (event, _) = overridden(&event, &changed.to_string());
            let after = patched(&event, rule(new));
            // Some of the rules end before some of the starts.
            prop_assume!(after.is_ok());
            let after = after.unwrap();
            let recurrence = after.recurrence().unwrap();
            let series = recurrence.series(after.times).unwrap();
            prop_assert_eq!(recurrence.exdates().contains(&cut), series.is_occurrence(cut));
            prop_assert_eq!(recurrence.overridden().contains(&changed), series.is_occurrence(changed));
            prop_assert_eq!(event.overrides_dropped_by(&after).is_empty(), series.is_occurrence(changed));
        }

        #[test]
        fn what_ended_and_what_comes_is_all_there_is(event in series(), day in -10..500_i64, count in 1..6_usize) {
            let (spans, now) = (all(&event), at("2026-03-02T00:00:00Z") + Elapsed::days(day));
            let repeating = event.repeating().unwrap();
            let ended: Vec<Span> = spans.iter().copied().filter(|span| span.end() <= now).collect();
            let last = ended[ended.len().saturating_sub(count)..].to_vec();
            prop_assert_eq!(repeating.ended(now, count), last);
            let coming: Vec<Span> = spans.iter().copied().filter(|span| span.start() > now).collect();
            prop_assert_eq!(repeating.after(now).collect::<Vec<_>>(), coming);
            prop_assert_eq!(repeating.reaches(), spans.last().map(|span| span.end()));

            let window = Span::new(now, now + Elapsed::days(60)).unwrap();
            let taken = repeating.taken(window);
            prop_assert!(taken.windows(2).all(|pair| pair[0].end() < pair[1].start()));
            let inside = |at: Instant, spans: &[Span]| spans.iter().any(|span| span.contains(at));
            for hour in 0..60 * 24 {
                let at = now + Elapsed::hours(hour);
                prop_assert_eq!(inside(at, &taken), inside(at, &spans));
            }
        }
    }
}
