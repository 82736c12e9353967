//! Half-open spans of time.

use crate::{SignedDuration, Timestamp};

/// The time from `start` up to, and not including, `end`. Never empty.
///
/// ```
/// use kalends_time::{SignedDuration, Span};
///
/// let meeting = Span::new("2026-03-01T09:00:00Z".parse()?, "2026-03-01T10:30:00Z".parse()?)?;
/// assert_eq!(meeting.length(), SignedDuration::minutes(90));
/// assert!(meeting.contains(meeting.start()) && !meeting.contains(meeting.end()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    start: Timestamp,
    end: Timestamp,
}

/// The end is not after the start.
///
/// ```
/// use kalends_time::{Span, Timestamp};
///
/// let error = Span::new(Timestamp::EPOCH, Timestamp::EPOCH).map_err(|error| error.to_string());
/// assert_eq!(error, Err("must be after the start (1970-01-01T00:00:00Z), got 1970-01-01T00:00:00Z".to_owned()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be after the start ({start}), got {end}")]
#[non_exhaustive]
pub struct SpanError {
    /// The start of the span.
    pub start: Timestamp,
    /// The end of the span.
    pub end: Timestamp,
}

impl Span {
    /// The span from `start` to `end`. [`Span`] has an example.
    ///
    /// # Errors
    /// [`SpanError`] if `end` is not after `start`.
    pub fn new(start: Timestamp, end: Timestamp) -> Result<Self, SpanError> {
        if start < end { Ok(Self { start, end }) } else { Err(SpanError { start, end }) }
    }

    /// The first timestamp inside.
    pub const fn start(self) -> Timestamp {
        self.start
    }

    /// The first timestamp after it.
    pub const fn end(self) -> Timestamp {
        self.end
    }

    /// How long the span lasts. [`Span`] has an example.
    pub fn length(self) -> SignedDuration {
        self.end - self.start
    }

    /// Whether the two share a moment. Spans that merely touch do not.
    ///
    /// ```
    /// use kalends_time::Span;
    ///
    /// let morning = Span::new("2026-03-01T08:00:00Z".parse()?, "2026-03-01T12:00:00Z".parse()?)?;
    /// let lunch = Span::new(morning.end(), "2026-03-01T13:00:00Z".parse()?)?;
    /// let call = Span::new("2026-03-01T11:30:00Z".parse()?, "2026-03-01T12:30:00Z".parse()?)?;
    /// assert!(!morning.overlaps(lunch));
    /// assert!(call.overlaps(morning) && call.overlaps(lunch));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// Whether `at` is inside. [`Span`] has an example.
    pub fn contains(self, at: Timestamp) -> bool {
        self.start <= at && at < self.end
    }

    /// The part that is inside `window`.
    ///
    /// ```
    /// use kalends_time::{Span, Timestamp};
    ///
    /// let micros = |start, end| Span::new(Timestamp::from_micros(start), Timestamp::from_micros(end));
    /// assert_eq!(micros(0, 20)?.clip(micros(10, 30)?), Some(micros(10, 20)?));
    /// assert_eq!(micros(0, 10)?.clip(micros(10, 30)?), None);
    /// # Ok::<(), kalends_time::SpanError>(())
    /// ```
    pub fn clip(self, window: Self) -> Option<Self> {
        Self::new(self.start.max(window.start), self.end.min(window.end)).ok()
    }
}

/// The compact form of a span, for reading many at once: start and end in microseconds, 8 bytes each,
/// big-endian. For times from 1970 on, the bytes sort in the order of the spans.
impl From<Span> for [u8; 16] {
    fn from(span: Span) -> Self {
        let both = (u128::from(span.start.as_micros().cast_unsigned()) << 64)
            | u128::from(span.end.as_micros().cast_unsigned());
        both.to_be_bytes()
    }
}

impl TryFrom<[u8; 16]> for Span {
    type Error = SpanError;

    fn try_from(bytes: [u8; 16]) -> Result<Self, SpanError> {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = bytes;
        let timestamp = |bytes| Timestamp::from_micros(i64::from_be_bytes(bytes));
        Self::new(timestamp([a, b, c, d, e, f, g, h]), timestamp([i, j, k, l, m, n, o, p]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: i64, end: i64) -> Span {
        Span::new(Timestamp::from_micros(start), Timestamp::from_micros(end)).unwrap()
    }

    #[test]
    fn spans_are_half_open() {
        assert!(!span(0, 5).overlaps(span(5, 9)));
        assert!(span(0, 6).overlaps(span(5, 9)));
        assert!(span(0, 5).contains(Timestamp::from_micros(0)));
        assert!(!span(0, 5).contains(Timestamp::from_micros(5)));
        assert_eq!(span(0, 5).clip(span(5, 9)), None);
        assert_eq!(span(0, 7).clip(span(5, 9)), Some(span(5, 7)));
        assert!(Span::new(Timestamp::from_micros(3), Timestamp::from_micros(3)).is_err());
    }

    #[test]
    fn a_span_round_trips_through_bytes() {
        for kept in [span(0, 1), span(1_772_323_200_000_001, 4_102_444_800_000_000), span(i64::MIN, i64::MAX)] {
            assert_eq!(Span::try_from(<[u8; 16]>::from(kept)), Ok(kept));
        }
        assert!(Span::try_from([0; 16]).is_err(), "an empty span");
        assert!(<[u8; 16]>::from(span(255, 256)) < <[u8; 16]>::from(span(256, 257)));
    }
}
