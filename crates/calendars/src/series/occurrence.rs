//! The identifiers of instances.

use std::{fmt, str::FromStr};

use kalends_kernel::{EventId, request_time};
use kalends_recurrence::Until;
use kalends_time::Timestamp;

/// One occurrence of a series: the series and the start that the rule gives, even if the occurrence was moved.
///
/// Its text form is the identifier of an instance, `<series>_<YYYYMMDDTHHMMSSZ>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Occurrence {
    /// The series.
    pub series: EventId,
    /// The start by the rule.
    pub start: Timestamp,
}

/// A text that is not the identifier of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the id of an instance must be <series>_<YYYYMMDDTHHMMSSZ>")]
pub struct OccurrenceError;

impl fmt::Display for Occurrence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The form of a UTC time is the same as in UNTIL (RFC 5545).
        write!(f, "{}_{}", self.series, Until::Timestamp(self.start))
    }
}

impl FromStr for Occurrence {
    type Err = OccurrenceError;

    /// Reads only the canonical form.
    fn from_str(text: &str) -> Result<Self, OccurrenceError> {
        let (series, start) = text.rsplit_once('_').ok_or(OccurrenceError)?;
        let series = series.parse().map_err(|_| OccurrenceError)?;
        if start.len() != 16 || !start.is_ascii() {
            return Err(OccurrenceError);
        }
        let part = |range: std::ops::Range<usize>| start.get(range).unwrap_or_default();
        let (year, month, day) = (part(0..4), part(4..6), part(6..8));
        let (hour, minute, second) = (part(9..11), part(11..13), part(13..15));
        let start = format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z");
        let start = request_time(&start).map_err(|_| OccurrenceError)?;
        let occurrence = Self { series, start };
        // A leap second, or letters other than T and Z, would give the same occurrence a second identifier.
        if occurrence.to_string() == text { Ok(occurrence) } else { Err(OccurrenceError) }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

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
    fn an_instance_has_one_identifier(#[case] text: &str, #[case] valid: bool) {
        let parsed = text.parse::<Occurrence>();
        assert_eq!(parsed.is_ok(), valid);
        assert!(parsed.is_err() || parsed.unwrap().to_string() == text);
    }
}
