//! Exceptions: the occurrences of a series that were cancelled or changed.

use kalends_kernel::{EventId, FieldError};
use kalends_time::{Timestamp, Zone};

use super::{Recurrence, Repeats};
use crate::{Event, EventError, EventPatch, Moment};

/// The maximum number of cancelled occurrences of a series.
pub const EXDATES_MAX: usize = 1_000;
/// The maximum number of changed occurrences of a series.
pub const OVERRIDES_MAX: usize = 1_000;

/// Checks the number of exdates, and reads each with `read`.
///
/// # Errors
/// Names the invalid entry, such as `recurrence_exdates[3]`, or the count if there are too many.
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
        "must hold at most {EXDATES_MAX} cancelled occurrences, got {got}; end this series and start another instead"
    );
    FieldError::new("recurrence_exdates", message)
}

impl Event {
    /// The starts of the overrides that this series no longer has in its state `after`. If `after` is deleted, it has
    /// none.
    pub fn overrides_dropped_by(&self, after: &Self) -> Vec<Timestamp> {
        let kept = match after.recurrence() {
            Some(recurrence) if after.deleted_at.is_none() => recurrence.overridden(),
            _ => &[],
        };
        let had = self.recurrence().map_or(&[][..], Recurrence::overridden);
        had.iter().copied().filter(|start| kept.binary_search(start).is_err()).collect()
    }

    /// This series with one occurrence cancelled. If the occurrence has an override, the override is dropped.
    ///
    /// # Errors
    /// [`CancelError`].
    pub fn without_occurrence(&self, start: Timestamp, now: Timestamp) -> Result<Self, CancelError> {
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

    /// Applies `patch` to one occurrence, which becomes an override. Returns this series and the override. `instance`
    /// is the occurrence as it is now. `id` is for the row of the override, if the occurrence has no row yet.
    ///
    /// # Errors
    /// [`EventError::ReadOnly`] for imported series, [`EventError::Invalid`].
    pub fn with_occurrence_patched(
        &self,
        instance: &Self,
        id: EventId,
        patch: EventPatch,
        calendar: Zone,
        now: Timestamp,
    ) -> Result<(Self, Self), EventError> {
        self.writable()?;
        let (Some(recurrence), Some(occurrence)) = (self.recurrence(), instance.occurrence()) else {
            return Err(EventError::Invalid(FieldError::new("id", "must name an occurrence of a series").into()));
        };
        let mut changed = instance.patched(patch, calendar, now)?;
        let mut recurrence = recurrence.clone();
        let first_change = recurrence.overridden.binary_search(&occurrence.start).is_err();
        if first_change {
            if recurrence.overridden.len() >= OVERRIDES_MAX {
                let message = format!(
                    "the series already has {OVERRIDES_MAX} changed occurrences; end it and start another instead"
                );
                return Err(EventError::Invalid(FieldError::new("id", message).into()));
            }
            insert(&mut recurrence.overridden, occurrence.start);
            changed.id = id;
        }
        let series = self.recurring(recurrence, now);
        // The version must be above the one that the occurrence showed while it had no row of its own.
        changed.version = series.version;
        Ok((series, changed))
    }

    /// This series and one of its overrides, after a change of the override that leaves its times as they are.
    #[must_use]
    pub fn with_override(&self, changed: Self, now: Timestamp) -> Option<(Self, Self)> {
        let series = self.recurring(self.recurrence()?.clone(), now);
        let version = series.version;
        Some((series, Self { version, ..changed }))
    }

    pub(super) fn recurring(&self, recurrence: Recurrence, now: Timestamp) -> Self {
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
    /// The event is not a series, has no occurrence with that start, or the occurrence is already cancelled.
    #[error("the series has no such occurrence")]
    NoSuchOccurrence,
    /// The series cannot be changed.
    #[error(transparent)]
    Event(#[from] EventError),
}

fn insert(ascending: &mut Vec<Timestamp>, instant: Timestamp) {
    if let Err(place) = ascending.binary_search(&instant) {
        ascending.insert(place, instant);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use kalends_time::testing::config;
    use proptest::prelude::*;

    use super::*;
    use crate::{EventSource, Occurrence, Patch, RecurrencePatch, series::examples::*};

    #[test]
    fn errors_name_the_exdate_or_the_count() {
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
    fn an_exdate_replaces_an_override() {
        let (series, _) = overridden(&weekly(), "2026-03-09T09:00:00Z");
        let gone = series.without_occurrence(at("2026-03-09T09:00:00Z"), Timestamp::from_micros(9)).unwrap();
        assert_eq!(gone.recurrence().unwrap().overridden(), []);
        assert_eq!(series.overrides_dropped_by(&gone), [at("2026-03-09T09:00:00Z")]);
        let exdates = Patch::Set(vec![Moment::At(at("2026-03-09T09:00:00Z")), Moment::At(at("2026-03-10T09:00:00Z"))]);
        let recurrence = RecurrencePatch { exdates, ..RecurrencePatch::default() };
        let given = patched(&series, EventPatch { recurrence, ..EventPatch::default() }).unwrap();
        // An exdate that is not an occurrence is kept and has no effect.
        assert_eq!(given.recurrence().unwrap().exdates().len(), 2);
        assert_eq!(all(&given), all(&gone));
    }

    #[test]
    fn an_occurrence_is_changed_on_its_own() {
        let series = weekly();
        let (series, first) = overridden(&series, "2026-03-09T09:00:00Z");
        assert_eq!(series.instance(at("2026-03-09T09:00:00Z")), None);
        let moved = moved("2026-03-11T12:00:00Z", "2026-03-11T13:00:00Z");
        let (later, second) =
            series.with_occurrence_patched(&first, id(3), moved, Zone::UTC, Timestamp::from_micros(11)).unwrap();
        assert_eq!((second.id, &second.title), (first.id, &"Retro".to_owned()));
        assert_eq!(second.occurrence(), first.occurrence());
        assert_eq!(later.repeats, series.repeats);
        assert!(second.version > first.version && later.version > series.version);

        let instance = weekly().instance(at("2026-03-16T09:00:00Z")).unwrap();
        let refused = patched(&instance, rule("FREQ=DAILY")).unwrap_err();
        let EventError::Invalid(errors) = refused else { panic!("{refused}") };
        assert_eq!(errors.first().param, "recurrence_rule");
    }

    #[test]
    fn imported_series_are_read_only() {
        let series = Event { source: EventSource::ExternalIcal, ..weekly() };
        let (start, now) = (at("2026-03-09T09:00:00Z"), Timestamp::from_micros(9));
        let read_only = EventError::ReadOnly(series.id);
        assert_eq!(series.without_occurrence(start, now), Err(read_only.clone().into()));
        let instance = series.instance(start).unwrap();
        let patched = series.with_occurrence_patched(&instance, id(2), EventPatch::default(), Zone::UTC, now);
        assert_eq!(patched, Err(read_only));
    }

    proptest! {
        #![proptest_config(config(96))]

        /// The unchanged, the cancelled and the changed occurrences together are exactly those of the rule.
        #[test]
        fn an_occurrence_is_unchanged_cancelled_or_changed(
            event in series(),
            acts in proptest::collection::vec((0..40_usize, any::<bool>()), 0..8),
        ) {
            let before: BTreeSet<Timestamp> = all(&event).iter().map(|span| span.start()).collect();
            let starts: Vec<Timestamp> = before.iter().copied().collect();
            let mut now = event;
            for (index, cancel) in acts {
                let start = starts[index % starts.len()];
                let there = now.instance(start);
                let was_overridden = now.recurrence().unwrap().overridden().contains(&start);
                if cancel {
                    let after = now.without_occurrence(start, Timestamp::from_micros(9));
                    prop_assert_eq!(after.is_ok(), there.is_some() || was_overridden);
                    now = after.unwrap_or(now);
                    // Nothing is cancelled twice.
                    prop_assert!(now.without_occurrence(start, Timestamp::from_micros(9)).is_err());
                } else if let Some(instance) = there {
                    let (after, changed) = now
                        .with_occurrence_patched(&instance, id(2), EventPatch::default(), Zone::UTC, Timestamp::from_micros(9))
                        .unwrap();
                    prop_assert_eq!(changed.occurrence(), Some(Occurrence { series: now.id, start }));
                    now = after;
                }
            }
            let recurrence = now.recurrence().unwrap();
            let mut parts: Vec<Timestamp> = all(&now).iter().map(|span| span.start()).collect();
            parts.extend(recurrence.exdates());
            parts.extend(recurrence.overridden());
            parts.sort_unstable();
            prop_assert_eq!(parts, starts);
        }

    }
}
