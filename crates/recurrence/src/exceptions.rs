//! The starts that a series leaves out.

use kalends_kernel::Instant;

/// The starts that a series leaves out, in any order and as often as they come. Kept ascending, none twice, so that an
/// expansion passes over them in one go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exceptions(Box<[Instant]>);

impl Exceptions {
    /// The starts, ascending.
    pub const fn starts(&self) -> &[Instant] {
        &self.0
    }

    /// Whether the start is left out.
    pub fn contains(&self, start: Instant) -> bool {
        self.0.binary_search(&start).is_ok()
    }
}

impl From<Vec<Instant>> for Exceptions {
    fn from(mut starts: Vec<Instant>) -> Self {
        starts.sort_unstable();
        starts.dedup();
        Self(starts.into_boxed_slice())
    }
}

impl FromIterator<Instant> for Exceptions {
    fn from_iter<I: IntoIterator<Item = Instant>>(starts: I) -> Self {
        starts.into_iter().collect::<Vec<_>>().into()
    }
}
