//! The two numbers that guard against lost updates.

/// The number of changes to what is scheduled on a calendar. Every change of its events, rules or reservations
/// increments it.
///
/// It guards decisions that looked at the whole calendar, and validates cached busy times.
///
/// ```
/// use kalends_kernel::Revision;
///
/// // A decision that was made at one revision does not count at a later one.
/// let (read, present) = (Revision(4), Revision(5));
/// assert!(read < present);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Revision(pub i64);

/// The version of one resource's row, shown as its `ETag` and compared with `If-Match`.
///
/// ```
/// use kalends_kernel::Version;
///
/// assert_eq!(Version::FIRST.next(), Version(2));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version(pub i64);

impl Version {
    /// The version of a newly created row.
    pub const FIRST: Self = Self(1);

    /// The version after one more change. [`Version`] has an example.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}
