//! Series and their exceptions.
//!
//! A series is one event with a [`Recurrence`]. An occurrence that was changed on its own is a separate event, an
//! override. Its [`Repeats::Instance`] names the series and the start that the rule gives the occurrence. The series
//! keeps these starts next to its cancelled ones, so that its times are known without reading its overrides. Every
//! write of an override also writes the series, so the version of the series guards both.

mod exceptions;
mod occurrence;
mod patch;
mod recurrence;
mod repeating;
mod repeats;
mod scope;

#[cfg(test)]
pub(crate) mod examples;

use kalends_time::{Span, Timestamp};

use crate::{Event, Times};

pub use exceptions::{CancelError, EXDATES_MAX, OVERRIDES_MAX, exdates};
pub use occurrence::{Occurrence, OccurrenceError};
pub use patch::{RecurrencePatch, needs_a_rule};
pub use recurrence::{NewRecurrence, REQUEST_RULES, Recurrence, RecurrenceError};
pub use repeating::Repeating;
pub use repeats::Repeats;
pub use scope::{ChangedOverride, ChangedSeries, SeriesScope, needs_an_occurrence};

/// The maximum number of days between the first and the last occurrence of a series that counts as bounded.
pub const BOUNDED_DAYS: i64 = 90;

impl Event {
    /// The times of the event, if it is a series.
    pub fn repeating(&self) -> Option<Repeating> {
        Repeating::new(self.id, self.calendar, self.times, self.recurrence()?).ok()
    }

    /// Whether the event is a series with an occurrence that ends after `now`. Such series count against the plan's
    /// limit.
    pub fn recurs_after(&self, now: Timestamp) -> bool {
        self.deleted_at.is_none()
            && self.repeating().is_some_and(|repeating| repeating.reaches().is_none_or(|end| end > now))
    }

    /// The instance of this series that the rule gives at `start`. `None` if there is none, if it is cancelled, or if
    /// it has an override.
    pub fn instance(&self, start: Timestamp) -> Option<Self> {
        self.repeating()?.span_at(start).map(|span| self.instance_on(span))
    }

    /// This series as the instance that takes place in `span`.
    pub(crate) fn instance_on(&self, span: Span) -> Self {
        let occurrence = Occurrence { series: self.id, start: span.start() };
        Self {
            times: Times { span, all_day: self.times.all_day },
            repeats: Repeats::Instance(occurrence),
            previous_series: None,
            ..self.clone()
        }
    }

    /// Whether the event is a series without an end, or one whose last occurrence starts more than [`BOUNDED_DAYS`]
    /// days after its first, by the dates of its zone.
    pub fn recurs_for_long(&self) -> bool {
        self.recurrence().is_some_and(|recurrence| {
            let date = |instant| recurrence.zone.to_civil(instant).date.as_days();
            recurrence.last_start.is_none_or(|last| date(last) - date(self.times.span.start()) > BOUNDED_DAYS)
        })
    }

    /// Whether the rule, the zone or the start of this series differs from that of `before`.
    pub fn repeats_otherwise_than(&self, before: Option<&Self>) -> bool {
        let of = |event: &Self| {
            event.recurrence().map(|recurrence| (recurrence.rule.clone(), recurrence.zone, event.times.span.start()))
        };
        of(self) != before.and_then(of)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::{
        examples::{patched, *},
        *,
    };

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
    fn a_series_ends_with_its_last_occurrence() {
        let series = weekly();
        assert!(series.recurs_after(at("2026-05-04T09:59:59Z")));
        assert!(!series.recurs_after(at("2026-05-04T10:00:00Z")));
        let shorter = series.without_occurrence(at("2026-05-04T09:00:00Z"), Timestamp::from_micros(9)).unwrap();
        assert!(!shorter.recurs_after(at("2026-04-27T10:00:00Z")));
        let endless = patched(&series, rule("FREQ=WEEKLY")).unwrap();
        assert!(endless.recurs_after(at("2099-01-01T00:00:00Z")));
        assert!(!endless.deleted(Timestamp::from_micros(9)).unwrap().recurs_after(Timestamp::from_micros(0)));
    }
}
