//! Changes of an event's recurrence by a PATCH.

use kalends_kernel::{FieldError, FieldErrors};
use kalends_recurrence::Rule;
use kalends_time::{Timestamp, Zone};

use super::{
    Repeats,
    recurrence::{resolved, written, zone_of},
};
use crate::{Moment, Patch, Times, Zones};

/// The recurrence fields of a PATCH.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecurrencePatch {
    /// A new rule; `None` makes the series a one-off event.
    pub rule: Patch<Option<Rule>>,
    /// New cancelled occurrences, which replace the old.
    pub exdates: Patch<Vec<Moment>>,
    /// A new zone; `None` is the calendar's default ([`Zones::series`]) or, for an all-day series, the calendar's zone.
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

    /// Applies the patch to an event that repeats as `repeats` at the times `seen`, and moves it to `times`.
    pub(crate) fn apply_to(
        self,
        repeats: &Repeats,
        seen: Times,
        times: Times,
        times_given: bool,
        zones: Zones,
    ) -> Result<Repeats, FieldErrors> {
        let before = match repeats {
            Repeats::Instance(_) => {
                return match self.first_given() {
                    None => Ok(repeats.clone()),
                    Some(field) => Err(FieldError::new(field, "belongs to the series; change it there").into()),
                };
            }
            Repeats::Once => None,
            Repeats::Series(before) => Some(before.as_ref()),
        };
        if self.first_given().is_none() && !times_given {
            return Ok(repeats.clone());
        }
        let Self { rule, exdates, zone } = self;
        let mut new_rule = before.map(|before| before.rule.clone());
        rule.apply_to(&mut new_rule);
        let Some(rule) = new_rule else {
            return once(&exdates, &zone);
        };
        let zone = match (zone, before) {
            (Patch::Set(zone), _) => zone_of(zone, times.all_day, zones)?,
            // A series stays in the zone in which it was written, unless its times change.
            (Patch::Keep, Some(before)) if times.all_day == seen.all_day && (!times.all_day || !times_given) => {
                before.zone
            }
            (Patch::Keep, _) => zone_of(None, times.all_day, zones)?,
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
                || seen.span.start() != times.span.start()
                || seen.all_day != times.all_day
        });
        let mut after = written(rule, zone, times, Vec::new(), Vec::new())?;
        let series = after.series(times).map_err(|error| FieldError::new("end_time", error.to_string()))?;
        let still = |start: &Timestamp| !moved || series.is_occurrence(*start);
        after.exdates = match given {
            Some(given) => given,
            None => old_exdates.iter().copied().filter(still).collect(),
        };
        let kept =
            old_overridden.iter().copied().filter(|start| still(start) && after.exdates.binary_search(start).is_err());
        after.overridden = kept.collect();
        Ok(after.into())
    }
}

/// Checks that an event without a rule gets neither exdates nor a zone.
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
    FieldError::new(param, "is only for a series; give recurrence_rule too, or leave it out")
}

#[cfg(test)]
mod tests {
    use kalends_time::testing::config;
    use proptest::prelude::*;

    use super::*;
    use crate::{
        EventError, EventPatch,
        series::examples::{patched, *},
    };

    #[test]
    fn a_rule_can_be_removed_and_set_again() {
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
    fn a_changed_series_keeps_exceptions_that_are_still_occurrences() {
        let series = weekly().without_occurrence(at("2026-03-16T09:00:00Z"), Timestamp::from_micros(9)).unwrap();
        let series = series.without_occurrence(at("2026-03-23T09:00:00Z"), Timestamp::from_micros(9)).unwrap();
        let (series, first) = overridden(&series, "2026-03-09T09:00:00Z");
        let (series, _) = overridden(&series, "2026-03-30T09:00:00Z");
        assert_eq!((first.id, first.version.next()), (id(2), series.version));

        // Every other week from the 2nd: the 16th and the 30th remain.
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
        // Another end, and fields other than times, drop nothing.
        let longer = patched(&series, moved("2026-03-02T09:00:00Z", "2026-03-02T11:00:00Z")).unwrap();
        assert_eq!(longer.repeats, series.repeats);
        let retitled = EventPatch { title: Patch::Set("x".into()), ..EventPatch::default() };
        assert_eq!(patched(&series, retitled).unwrap().repeats, series.repeats);
        assert_eq!(series.overrides_dropped_by(&series.deleted(Timestamp::from_micros(9)).unwrap()).len(), 2);
    }

    proptest! {
        #![proptest_config(config(96))]

        /// A series with a new rule keeps exactly the exceptions whose starts are still occurrences.
        #[test]
        fn a_new_rule_keeps_exceptions_that_are_its_occurrences(
            event in series(), new in rules(), cut in 0..40_usize, changed in 0..40_usize,
        ) {
            let starts: Vec<Timestamp> = all(&event).iter().map(|span| span.start()).collect();
            let (cut, changed) = (starts[cut % starts.len()], starts[changed % starts.len()]);
            prop_assume!(cut != changed);
            let event = event.without_occurrence(cut, Timestamp::from_micros(9)).unwrap();
            let (event, _) = overridden(&event, &changed.to_string());
            let after = patched(&event, rule(new));
            // Some rules end before some starts.
            prop_assume!(after.is_ok());
            let after = after.unwrap();
            let recurrence = after.recurrence().unwrap();
            let series = recurrence.series(after.times).unwrap();
            prop_assert_eq!(recurrence.exdates().contains(&cut), series.is_occurrence(cut));
            prop_assert_eq!(recurrence.overridden().contains(&changed), series.is_occurrence(changed));
            prop_assert_eq!(event.overrides_dropped_by(&after).is_empty(), series.is_occurrence(changed));
        }
    }
}
