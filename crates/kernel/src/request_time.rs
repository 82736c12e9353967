//! The times that requests may contain.

use kalends_time::{ParseTimestampError, Timestamp};

/// The earliest time that a request may contain. The first time that is too late is [`Timestamp::HORIZON`].
pub const EARLIEST_TIME: Timestamp = Timestamp::EPOCH;

/// Why a text is not a time that a request may contain.
///
/// ```
/// use kalends_kernel::{RequestTimeError, request_time};
///
/// assert!(matches!(request_time("tomorrow"), Err(RequestTimeError::Format(_))));
/// assert!(matches!(request_time("1969-12-31T23:59:59Z"), Err(RequestTimeError::Range(_))));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestTimeError {
    /// Not an RFC 3339 time with an offset.
    #[error(transparent)]
    Format(#[from] ParseTimestampError),
    /// Before 1970 or after 2099.
    #[error("must be in the years 1970 to 2099, got {0:?}")]
    Range(String),
}

/// Reads a time of a request: RFC 3339 with an offset, from [`EARLIEST_TIME`] up to but not including
/// [`Timestamp::HORIZON`].
///
/// # Errors
/// [`RequestTimeError`] for any other text.
///
/// ```
/// use kalends_kernel::request_time;
///
/// assert_eq!(request_time("2026-03-01T10:00:00+01:00")?, "2026-03-01T09:00:00Z".parse()?);
/// let error = request_time("2100-01-01T00:00:00Z").map_err(|error| error.to_string());
/// assert_eq!(error, Err(r#"must be in the years 1970 to 2099, got "2100-01-01T00:00:00Z""#.to_owned()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn request_time(text: &str) -> Result<Timestamp, RequestTimeError> {
    let time = text.parse()?;
    if (EARLIEST_TIME..Timestamp::HORIZON).contains(&time) {
        Ok(time)
    } else {
        Err(RequestTimeError::Range(text.chars().take(40).collect()))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::the_first("1970-01-01T00:00:00Z", true)]
    #[case::just_before_the_first("1969-12-31T23:59:59Z", false)]
    #[case::the_last("2099-12-31T23:59:59.999999Z", true)]
    #[case::just_after_the_last("2100-01-01T00:00:00Z", false)]
    #[case::after_the_last_in_utc("2099-12-31T23:30:00-01:00", false)]
    fn years_are_bounded(#[case] text: &str, #[case] accepted: bool) {
        let refused = RequestTimeError::Range(text.to_owned());
        assert_eq!(request_time(text).err(), (!accepted).then_some(refused));
    }

    #[test]
    fn other_texts_keep_the_reason() {
        let error = request_time("2026-02-30T09:00:00Z").unwrap_err();
        assert!(matches!(error, RequestTimeError::Format(ParseTimestampError::NoSuchDay { .. })));
    }
}
