//! The two numbers that guard against lost updates.

/// The number of changes to what is scheduled on a calendar. Every change of its events, rules or reservations
/// increments it.
///
/// It guards decisions that looked at the whole calendar, and validates cached busy times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Revision(pub i64);

/// The version of one resource's row, shown as its `ETag` and compared with `If-Match`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version(pub i64);

impl Version {
    /// The version of a newly created row.
    pub const FIRST: Self = Self(1);

    /// The version after one more change.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}
