//! The starts that a series skips.

use kalends_time::Timestamp;

/// The starts that a series skips. They can be given in any order and more than once. They are kept in ascending order
/// without duplicates, so that an expansion reads them in one pass.
///
/// ```
/// use kalends_recurrence::{Exceptions, Timestamp};
///
/// let at = |text: &str| text.parse::<Timestamp>();
/// let exceptions = Exceptions::from(vec![at("2026-12-25T09:00:00Z")?, at("2026-05-01T09:00:00Z")?]);
/// assert_eq!(exceptions.starts(), [at("2026-05-01T09:00:00Z")?, at("2026-12-25T09:00:00Z")?]);
/// assert!(exceptions.contains(at("2026-12-25T09:00:00Z")?));
/// # Ok::<(), kalends_recurrence::ParseTimestampError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exceptions(Box<[Timestamp]>);

impl Exceptions {
    /// The starts, in ascending order.
    pub const fn starts(&self) -> &[Timestamp] {
        &self.0
    }

    /// Whether the start is skipped. [`Exceptions`] has an example.
    pub fn contains(&self, start: Timestamp) -> bool {
        self.0.binary_search(&start).is_ok()
    }
}

impl From<Vec<Timestamp>> for Exceptions {
    fn from(mut starts: Vec<Timestamp>) -> Self {
        starts.sort_unstable();
        starts.dedup();
        Self(starts.into_boxed_slice())
    }
}

impl FromIterator<Timestamp> for Exceptions {
    fn from_iter<I: IntoIterator<Item = Timestamp>>(starts: I) -> Self {
        starts.into_iter().collect::<Vec<_>>().into()
    }
}
