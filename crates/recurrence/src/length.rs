//! How long the occurrences of a series last.

use kalends_time::{SignedDuration, Span, Timestamp, Zone};

use crate::clock::{Clock, MICROS_A_DAY};

/// How long every occurrence of a series lasts. It is never zero.
///
/// There are several kinds of length, because a day in a zone need not have 24 hours.
///
/// ```
/// use kalends_recurrence::Length;
/// use kalends_time::SignedDuration;
///
/// let hour = Length::elapsed(SignedDuration::hours(1))?;
/// let weekend = Length::days(2)?;
/// let until_the_same_time_tomorrow = Length::nominal(1, SignedDuration::ZERO)?;
/// assert!(Length::elapsed(SignedDuration::ZERO).is_err());
/// # Ok::<(), kalends_recurrence::LengthError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Length(pub(crate) Lasts);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Lasts {
    /// Microseconds.
    Time(i64),
    /// From a midnight to another.
    Days(u16),
    /// Days on the wall clock, and then microseconds.
    Nominal(u16, i64),
}

/// A length of zero, or longer than the calendar.
///
/// ```
/// use kalends_recurrence::Length;
///
/// let error = Length::days(0).map_err(|error| error.to_string());
/// assert_eq!(error, Err("an occurrence must last longer than zero and at most 47482 days".to_owned()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an occurrence must last longer than zero and at most {} days", Length::MAX_DAYS)]
pub struct LengthError;

impl Length {
    /// The longest length: the days from 1970 to 2099.
    pub const MAX_DAYS: u16 = 47_482;

    /// The same elapsed time for each occurrence, regardless of changes of the wall clock.
    ///
    /// # Errors
    /// [`LengthError`] if `elapsed` is not positive, or is longer than [`Length::MAX_DAYS`] times 24 hours.
    ///
    /// ```
    /// use kalends_recurrence::{Length, SignedDuration};
    ///
    /// assert!(Length::elapsed(SignedDuration::minutes(45)).is_ok());
    /// assert!(Length::elapsed(SignedDuration::minutes(-45)).is_err());
    /// ```
    pub fn elapsed(elapsed: SignedDuration) -> Result<Self, LengthError> {
        let allowed = SignedDuration::ZERO < elapsed && elapsed <= SignedDuration::days(Self::MAX_DAYS.into());
        allowed.then_some(Self(Lasts::Time(elapsed.as_micros()))).ok_or(LengthError)
    }

    /// A number of whole days in the zone, from one midnight to another. This makes the series all-day.
    ///
    /// # Errors
    /// [`LengthError`] if `days` is 0 or more than [`Length::MAX_DAYS`].
    ///
    /// ```
    /// use kalends_recurrence::{Length, Rule, Series};
    ///
    /// // A day on which the clocks go forward has 23 hours.
    /// let first = "2026-03-28T23:00:00Z".parse()?;
    /// let daily = Series::new("FREQ=DAILY".parse::<Rule>()?, first, "Europe/Berlin".parse()?, Length::days(1)?)?;
    /// assert_eq!(daily.span_at(first).map(|span| span.end()), Some("2026-03-29T22:00:00Z".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn days(days: u16) -> Result<Self, LengthError> {
        (1..=Self::MAX_DAYS).contains(&days).then_some(Self(Lasts::Days(days))).ok_or(LengthError)
    }

    /// A number of days on the wall clock, and then an elapsed time: the nominal and the exact part of an RFC 5545
    /// duration (section 3.3.6), such as `P1DT2H`. A week is seven days.
    ///
    /// # Errors
    /// [`LengthError`] if both are zero, `elapsed` is negative, or the sum is longer than [`Length::MAX_DAYS`] days.
    ///
    /// ```
    /// use kalends_recurrence::{Length, Rule, Series, SignedDuration};
    ///
    /// // From 20:00 to the same time on the next day, and then an hour. The clocks go forward in between.
    /// let first = "2026-03-28T19:00:00Z".parse()?;
    /// let length = Length::nominal(1, SignedDuration::hours(1))?;
    /// let series = Series::new("FREQ=WEEKLY".parse::<Rule>()?, first, "Europe/Berlin".parse()?, length)?;
    /// assert_eq!(series.span_at(first).map(|span| span.end()), Some("2026-03-29T19:00:00Z".parse()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn nominal(days: u16, elapsed: SignedDuration) -> Result<Self, LengthError> {
        if days == 0 {
            return Self::elapsed(elapsed);
        }
        let rest = SignedDuration::days(i64::from(Self::MAX_DAYS) - i64::from(days));
        let allowed = SignedDuration::ZERO <= elapsed && elapsed <= rest;
        allowed.then_some(Self(Lasts::Nominal(days, elapsed.as_micros()))).ok_or(LengthError)
    }

    /// The occurrence of this length that starts at `start`. `None` if it would end after the last timestamp.
    pub(crate) fn span_from(self, start: Timestamp, zone: Zone) -> Option<Span> {
        let mut clock = Clock::new(zone);
        let end = self.end(start.as_micros(), clock.shows(start.as_micros()), &mut clock);
        Span::new(start, Timestamp::from_micros(end)).ok()
    }

    /// The end of the occurrence that starts at `start`, when the wall clock shows `local_start`. All are microseconds.
    pub(crate) fn end(self, start: i64, local_start: i64, clock: &mut Clock) -> i64 {
        match self.0 {
            Lasts::Time(micros) => start.saturating_add(micros),
            Lasts::Days(days) => {
                // If a date is skipped, its occurrence is that of the next date.
                let date = local_start.div_euclid(MICROS_A_DAY);
                clock.instant((date + i64::from(days)).saturating_mul(MICROS_A_DAY))
            }
            Lasts::Nominal(days, micros) => {
                let nominal = clock.instant(local_start.saturating_add(i64::from(days) * MICROS_A_DAY));
                // A day on which clocks are set back can end before it began on the first of two equal times.
                nominal.max(start.saturating_add(1)).saturating_add(micros)
            }
        }
    }
}
