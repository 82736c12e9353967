//! What is wrong with a field of a request, so that the caller can fix it.

use std::fmt;

/// The stable code of an error, more specific than its `type`.
///
/// ```
/// use kalends_kernel::Code;
///
/// assert_eq!(Code::EndBeforeStart.as_str(), "end_before_start");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// A time without an offset, or not RFC 3339 at all.
    InvalidTimeFormat,
    /// The end is not after the start.
    EndBeforeStart,
    /// Not a zone of the IANA time zone database.
    InvalidTimezone,
    /// Metadata over 16,384 bytes.
    MetadataTooLarge,
    /// A field or parameter that the endpoint does not know.
    UnknownField,
}

impl Code {
    /// The code as responses show it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidTimeFormat => "invalid_time_format",
            Self::EndBeforeStart => "end_before_start",
            Self::InvalidTimezone => "invalid_timezone",
            Self::MetadataTooLarge => "metadata_too_large",
            Self::UnknownField => "unknown_field",
        }
    }
}

/// One field that cannot be accepted.
///
/// ```
/// use kalends_kernel::FieldError;
///
/// let error = FieldError::new("slots[2].title", "must not be blank");
/// assert_eq!(error.to_string(), "slots[2].title: must not be blank");
/// assert_eq!(error.code, None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldError {
    /// The path of the field, such as `slots[2].end_time`.
    pub param: String,
    /// What is wrong, what is allowed and what was received, as a clause without the field's name.
    pub message: String,
    /// The more specific code, if there is one.
    pub code: Option<Code>,
}

impl FieldError {
    /// An error of the field at `param`. [`FieldError`] has an example.
    pub fn new(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self { param: param.into(), message: message.into(), code: None }
    }

    /// The same error with a more specific code.
    ///
    /// ```
    /// use kalends_kernel::{Code, FieldError};
    ///
    /// let error = FieldError::new("colour", "is unknown").with_code(Code::UnknownField);
    /// assert_eq!(error.code.map(Code::as_str), Some("unknown_field"));
    /// ```
    #[must_use]
    pub fn with_code(mut self, code: Code) -> Self {
        self.code = Some(code);
        self
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.param, self.message)
    }
}

/// Every field of one request that cannot be accepted, in the order in which they were checked.
///
/// ```
/// use kalends_kernel::{FieldErrors, bounded_text};
///
/// let mut errors = FieldErrors::default();
/// let title = errors.take(bounded_text("title", "Stand-up", 1, 100));
/// let notes = errors.take(bounded_text("notes", "\0", 0, 100));
/// assert_eq!((title.as_deref(), notes), (Some("Stand-up"), None));
/// let refused = errors.finish().map_err(|errors| errors.to_string());
/// assert_eq!(refused, Err("notes: must not contain the NUL character".to_owned()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldErrors(Vec<FieldError>);

impl FieldErrors {
    /// Records one error.
    ///
    /// ```
    /// use kalends_kernel::{FieldError, FieldErrors};
    ///
    /// let mut errors = FieldErrors::default();
    /// assert!(errors.is_empty());
    /// errors.push(FieldError::new("end_time", "must be after the start"));
    /// assert_eq!(errors.iter().count(), 1);
    /// ```
    pub fn push(&mut self, error: FieldError) {
        self.0.push(error);
    }

    /// Returns a parsed value, or records its error. [`FieldErrors`] has an example.
    pub fn take<T>(&mut self, parsed: Result<T, FieldError>) -> Option<T> {
        parsed.map_err(|error| self.push(error)).ok()
    }

    /// Returns the value, or records all its errors.
    ///
    /// ```
    /// use kalends_kernel::{FieldErrors, Page};
    ///
    /// let mut errors = FieldErrors::default();
    /// assert_eq!(errors.take_all(Page::parse(Some(0), Some(-1))), None);
    /// assert_eq!(errors.iter().map(|error| error.param.as_str()).collect::<Vec<_>>(), ["limit", "offset"]);
    /// ```
    pub fn take_all<T>(&mut self, result: Result<T, Self>) -> Option<T> {
        result.map_err(|errors| self.extend(&errors)).ok()
    }

    /// Records all of `others`.
    ///
    /// ```
    /// use kalends_kernel::{FieldError, FieldErrors};
    ///
    /// let mut errors = FieldErrors::from(FieldError::new("title", "must not be blank"));
    /// errors.extend(&FieldError::new("end_time", "must be after the start").into());
    /// assert_eq!(errors.to_string(), "title: must not be blank; end_time: must be after the start");
    /// ```
    pub fn extend(&mut self, others: &Self) {
        self.0.extend_from_slice(&others.0);
    }

    /// Records all of `others` as fields below `parent`: `title` becomes `events[3].title`.
    ///
    /// ```
    /// use kalends_kernel::{FieldError, FieldErrors};
    ///
    /// let of_event = FieldErrors::from(FieldError::new("title", "must not be blank"));
    /// let mut errors = FieldErrors::default();
    /// errors.extend_below("events[3]", &of_event);
    /// assert_eq!(errors.first().param, "events[3].title");
    /// ```
    pub fn extend_below(&mut self, parent: &str, others: &Self) {
        self.0.extend(
            others.0.iter().map(|error| FieldError { param: format!("{parent}.{}", error.param), ..error.clone() }),
        );
    }

    /// Whether no errors were recorded.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `Ok` if no errors were recorded. [`FieldErrors`] has an example.
    ///
    /// # Errors
    /// All errors that were recorded.
    pub fn finish(self) -> Result<(), Self> {
        if self.0.is_empty() { Ok(()) } else { Err(self) }
    }

    /// The first error. An empty set, which no parser returns, yields an error without a field name.
    ///
    /// ```
    /// use kalends_kernel::{FieldErrors, Page};
    ///
    /// let first = Page::parse(Some(500), Some(-1)).map_err(|errors| errors.first().to_string());
    /// assert_eq!(first, Err("limit: must be 1 to 200, got 500".to_owned()));
    /// assert_eq!(FieldErrors::default().first().param, "");
    /// ```
    pub fn first(&self) -> FieldError {
        self.0.first().cloned().unwrap_or_else(|| FieldError::new("", "the request is not valid"))
    }

    /// All errors in order.
    pub fn iter(&self) -> impl Iterator<Item = &FieldError> {
        self.0.iter()
    }
}

impl From<FieldError> for FieldErrors {
    fn from(error: FieldError) -> Self {
        Self(vec![error])
    }
}

impl fmt::Display for FieldErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            error.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for FieldErrors {}
