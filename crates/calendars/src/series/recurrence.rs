//! The recurrence of a series: validation when it is written, and its stored form.

use kalends_kernel::{FieldError, FieldErrors};
use kalends_recurrence::{Dialect, Exceptions, Frequency, Length, Part, Rule, Series, SeriesError};
use kalends_time::{Timestamp, Zone};
use serde::{Deserialize, Serialize};

use crate::{Moment, Times, Zones};

/// The rules that requests may contain: a subset of RFC 5545 (section 3.3.10). Imported series may have others.
pub const REQUEST_RULES: Dialect = Dialect {
    max_length: 256,
    frequencies: &[Frequency::Daily, Frequency::Weekly, Frequency::Monthly, Frequency::Yearly],
    parts: &[
        Part::Freq,
        Part::Interval,
        Part::ByMonth,
        Part::ByMonthDay,
        Part::ByDay,
        Part::BySetPos,
        Part::Wkst,
        Part::Count,
        Part::Until,
    ],
    max_interval: 1_000,
    max_count: 10_000,
    local_until: false,
};

/// How a series repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recurrence {
    pub(super) rule: Rule,
    pub(super) zone: Zone,
    /// Ascending, without duplicates.
    pub(super) exdates: Vec<Timestamp>,
    /// Ascending, without duplicates. Each is an occurrence and not an exdate.
    pub(super) overridden: Vec<Timestamp>,
    pub(super) last_start: Option<Timestamp>,
}

/// Why a stored recurrence is invalid.
#[derive(Debug, thiserror::Error)]
pub enum RecurrenceError {
    /// Not the expected JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// Not a rule.
    #[error(transparent)]
    Rule(#[from] kalends_recurrence::RuleError),
    /// Not a zone.
    #[error(transparent)]
    Zone(#[from] kalends_time::ZoneError),
    /// The times of an all-day series that are not whole days of its zone.
    #[error("an all-day series must last whole days of its zone")]
    Length,
    /// Not a valid series.
    #[error(transparent)]
    Series(#[from] SeriesError),
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

    /// The starts of cancelled occurrences, ascending. May include starts that were never occurrences.
    pub fn exdates(&self) -> &[Timestamp] {
        &self.exdates
    }

    /// The starts that the rule gives to occurrences with an override, ascending.
    pub fn overridden(&self) -> &[Timestamp] {
        &self.overridden
    }

    /// The start of the last occurrence, cancelled or not; `None` if the rule has no end.
    pub const fn last_start(&self) -> Option<Timestamp> {
        self.last_start
    }

    /// The recurrence as JSON, for a store.
    pub fn to_json(&self) -> String {
        let micros = |instants: &[Timestamp]| instants.iter().map(|instant| instant.as_micros()).collect();
        let stored = Stored {
            rule: self.rule.to_string(),
            zone: self.zone.name().to_owned(),
            exdates: micros(&self.exdates),
            overridden: micros(&self.overridden),
            last_start: self.last_start.map(Timestamp::as_micros),
        };
        // Texts and numbers alone cannot fail to be written.
        serde_json::to_string(&stored).unwrap_or_default()
    }

    /// Reads the JSON of [`Self::to_json`].
    ///
    /// # Errors
    /// [`RecurrenceError`].
    pub fn from_json(text: &str) -> Result<Self, RecurrenceError> {
        let stored: Stored = serde_json::from_str(text)?;
        let instants = |micros: Vec<i64>| micros.into_iter().map(Timestamp::from_micros).collect();
        Ok(Self {
            rule: stored.rule.parse()?,
            zone: stored.zone.parse()?,
            exdates: instants(stored.exdates),
            overridden: instants(stored.overridden),
            last_start: stored.last_start.map(Timestamp::from_micros),
        })
    }

    /// The series whose first occurrence is at `times`.
    ///
    /// # Errors
    /// [`RecurrenceError::Length`] and [`RecurrenceError::Series`] if the times are not those with which the recurrence
    /// was written.
    pub fn series(&self, times: Times) -> Result<Series, RecurrenceError> {
        let length = length(times, self.zone).map_err(|_| RecurrenceError::Length)?;
        Ok(Series::from_stored(self.rule.clone(), times.span.start(), self.zone, length, self.last_start)?)
    }

    /// The recurrence of a series that was read from a feed. The caller must pass at most
    /// [`EXDATES_MAX`](crate::EXDATES_MAX) exdates and [`OVERRIDES_MAX`](crate::OVERRIDES_MAX) overrides. Overrides
    /// that are not occurrences, or are cancelled, are left out.
    pub fn of_series(series: &Series, mut exdates: Vec<Timestamp>, mut overridden: Vec<Timestamp>) -> Self {
        exdates.sort_unstable();
        exdates.dedup();
        overridden.sort_unstable();
        overridden.dedup();
        overridden.retain(|start| exdates.binary_search(start).is_err() && series.is_occurrence(*start));
        Self { rule: series.rule().clone(), zone: series.zone(), exdates, overridden, last_start: series.last_start() }
    }

    /// The starts that the series itself does not show: cancelled occurrences, and those with an override.
    pub fn left_out(&self) -> Exceptions {
        self.exdates.iter().chain(&self.overridden).copied().collect()
    }
}

/// The recurrence of a new event.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRecurrence {
    /// The rule.
    pub rule: Rule,
    /// Occurrences that are cancelled from the beginning. Plain dates are only for an all-day series.
    pub exdates: Vec<Moment>,
    /// The zone that the rule follows; `None` is the calendar's default ([`Zones::series`]) or, for an all-day series,
    /// the calendar's zone.
    pub zone: Option<Zone>,
}

impl NewRecurrence {
    /// The recurrence of an event at `times`, on a calendar with these zones.
    ///
    /// # Errors
    /// A field error for each invalid field.
    pub(crate) fn of(self, times: Times, zones: Zones) -> Result<Recurrence, FieldErrors> {
        let zone = zone_of(self.zone, times.all_day, zones)?;
        let exdates = resolved(&self.exdates, times.all_day, zone)?;
        written(self.rule, zone, times, exdates, Vec::new())
    }
}

pub(super) fn zone_of(given: Option<Zone>, all_day: bool, zones: Zones) -> Result<Zone, FieldError> {
    let Zones { calendar, series } = zones;
    match given {
        Some(given) if all_day && given != calendar => Err(FieldError::new(
            "recurrence_timezone",
            format!(
                "must be left out for an all-day series, which follows its calendar's zone {calendar}, got {given}"
            ),
        )),
        None if !all_day => Ok(series),
        Some(given) => Ok(given),
        None => Ok(calendar),
    }
}

/// The exdates as instants, ascending and without duplicates.
pub(super) fn resolved(exdates: &[Moment], all_day: bool, zone: Zone) -> Result<Vec<Timestamp>, FieldErrors> {
    let mut errors = FieldErrors::default();
    let mut instants = Vec::with_capacity(exdates.len());
    for (index, exdate) in exdates.iter().enumerate() {
        let last = Timestamp::from_micros(Timestamp::HORIZON.as_micros() - 1);
        instants.extend(errors.take(exdate.resolve(&format!("recurrence_exdates[{index}]"), all_day, zone, last)));
    }
    errors.finish()?;
    instants.sort_unstable();
    instants.dedup();
    Ok(instants)
}

pub(super) fn written(
    rule: Rule,
    zone: Zone,
    times: Times,
    exdates: Vec<Timestamp>,
    overridden: Vec<Timestamp>,
) -> Result<Recurrence, FieldErrors> {
    let series = Series::new(rule, times.span.start(), zone, length(times, zone)?).map_err(|error| {
        let param = match error {
            SeriesError::Range { .. } | SeriesError::Fraction { .. } | SeriesError::NotMidnight { .. } => "start_time",
            _ => "recurrence_rule",
        };
        FieldError::new(param, error.to_string())
    })?;
    let last_start = series.last_start();
    let rule = series.rule().clone();
    Ok(Recurrence { rule, zone, exdates, overridden, last_start })
}

/// The length of each occurrence: elapsed time, or whole days of the zone.
fn length(times: Times, zone: Zone) -> Result<Length, FieldError> {
    let Times { span, all_day } = times;
    let length = if all_day {
        let (first, end) = (zone.to_civil(span.start()).date, zone.to_civil(span.end()).date);
        if zone.to_timestamp(end.midnight()) != Some(span.end()) {
            let message = format!("an all-day series must end at a midnight in {zone}, got {}", span.end());
            return Err(FieldError::new("end_time", message));
        }
        // If the start is not a midnight, `Series::new` reports it.
        Length::days(u16::try_from(end.as_days() - first.as_days()).unwrap_or(1).max(1))
    } else {
        Length::elapsed(span.length())
    };
    length.map_err(|error| FieldError::new("end_time", error.to_string()))
}

#[cfg(test)]
mod tests {
    use kalends_time::testing::config;
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::{
        Calendar, Event, EventPatch, Occurrence, Patch, RecurrenceDefault, RecurrencePatch, series::examples::*,
    };

    #[test]
    fn a_zone_keeps_the_wall_clock_and_utc_does_not() {
        let local = |zone| {
            starts(&made("2026-03-27T08:00:00Z", "2026-03-27T09:00:00Z", "FREQ=DAILY;COUNT=4", zone, &[]).unwrap())
        };
        let berlin = ["2026-03-27T08:00:00Z", "2026-03-28T08:00:00Z", "2026-03-29T07:00:00Z", "2026-03-30T07:00:00Z"];
        assert_eq!(local(Some("Europe/Berlin")), berlin);
        assert_eq!(local(None)[3], "2026-03-30T08:00:00Z");
    }

    /// The zone of a series whose request names none.
    #[rstest]
    #[case::of_the_service(None, RecurrenceDefault::Utc, "UTC")]
    #[case::of_the_service_too(None, RecurrenceDefault::Calendar, "Asia/Tokyo")]
    #[case::of_the_calendar(Some(RecurrenceDefault::Utc), RecurrenceDefault::Calendar, "UTC")]
    #[case::of_the_calendar_too(Some(RecurrenceDefault::Calendar), RecurrenceDefault::Utc, "Asia/Tokyo")]
    fn a_series_that_names_no_zone_follows_the_default(
        #[case] of_calendar: Option<RecurrenceDefault>,
        #[case] of_service: RecurrenceDefault,
        #[case] expected: &str,
    ) {
        let calendar = Calendar { recurrence_default: of_calendar, ..calendar("Asia/Tokyo") };
        let zones = calendar.zones(of_service);
        let once = Event { repeats: crate::Repeats::Once, ..weekly() };
        let zone_of = |event: &Event| event.recurrence().unwrap().zone().name();
        let series = once.patched(rule("FREQ=DAILY;COUNT=3"), zones, once.created_at).unwrap();
        assert_eq!(zone_of(&series), expected);
        // A title, a new time and a new rule keep the zone.
        let kept = series.patched(moved("2026-03-03T09:00:00Z", "2026-03-03T10:00:00Z"), Zone::UTC, series.created_at);
        assert_eq!(zone_of(&kept.unwrap()), expected);
        let zone = |zone: Option<Zone>| EventPatch {
            recurrence: RecurrencePatch { zone: Patch::Set(zone), ..RecurrencePatch::default() },
            ..EventPatch::default()
        };
        let named = series.patched(zone(Some("Europe/Berlin".parse().unwrap())), zones, series.created_at).unwrap();
        assert_eq!(zone_of(&named), "Europe/Berlin");
        assert_eq!(zone_of(&named.patched(zone(None), zones, series.created_at).unwrap()), expected);
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
    fn times_and_a_rule_that_do_not_fit_are_refused(
        #[case] start: &str,
        #[case] end: &str,
        #[case] rule: &str,
        #[case] zone: Option<&str>,
        #[case] param: &str,
    ) {
        assert_eq!(made(start, end, rule, zone, &[]).unwrap_err().first().param, param);
    }

    proptest! {
        #![proptest_config(config(96))]

        /// A recurrence is read back as it was stored, and the name of an occurrence as it was written.
        #[test]
        fn stored_recurrences_round_trip(event in series(), index in 0..9_usize) {
            let spans = all(&event);
            let start = spans[index % spans.len()].start();
            let event = event.without_occurrence(start, Timestamp::from_micros(9)).unwrap();
            let recurrence = event.recurrence().unwrap();
            prop_assert_eq!(&Recurrence::from_json(&recurrence.to_json()).unwrap(), recurrence);
            let occurrence = Occurrence { series: event.id, start };
            prop_assert_eq!(occurrence.to_string().parse(), Ok(occurrence));
        }

    }
}
