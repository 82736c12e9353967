//! How a store fails, without naming a driver.

use std::fmt;

/// A failure of a store: the error of every port that reads or commits.
///
/// Absence is never an error: ports return `Option` for it.
///
/// ```
/// use kalends_kernel::StoreError;
///
/// let error = StoreError::Unavailable("connection refused".into());
/// assert_eq!(error.to_string(), "the store does not respond");
/// ```
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The store is not responding. The same call may succeed later.
    #[error("the store does not respond")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A row holds a value that no version of the program writes.
    #[error("corrupt row: {0}")]
    Corrupt(CorruptRow),
    /// The store refused a statement for a reason that no caller can fix.
    #[error("the store failed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The place of a corrupt value, so that an operator can find it.
///
/// ```
/// use kalends_kernel::StoreError;
///
/// let StoreError::Corrupt(row) = StoreError::corrupt("events", "ends_at", 7, "is NULL") else { unreachable!() };
/// assert_eq!((row.table, row.id.as_str()), ("events", "7"));
/// assert_eq!(row.to_string(), "events.ends_at of 7: is NULL");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CorruptRow {
    /// The table.
    pub table: &'static str,
    /// The column.
    pub column: &'static str,
    /// The row's identifier.
    pub id: String,
    /// What is wrong with the value.
    pub detail: String,
}

impl fmt::Display for CorruptRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{} of {}: {}", self.table, self.column, self.id, self.detail)
    }
}

impl StoreError {
    /// The error for a corrupt value.
    ///
    /// ```
    /// use kalends_kernel::StoreError;
    ///
    /// let error = StoreError::corrupt("calendars", "zone", 7, "is unknown");
    /// assert_eq!(error.to_string(), "corrupt row: calendars.zone of 7: is unknown");
    /// ```
    pub fn corrupt(
        table: &'static str,
        column: &'static str,
        id: impl fmt::Display,
        detail: impl fmt::Display,
    ) -> Self {
        Self::Corrupt(CorruptRow { table, column, id: id.to_string(), detail: detail.to_string() })
    }
}
