//! What the use cases that nobody asks for tell of what they did.

use kalends_kernel::SignedDuration;

/// What one run of a duty came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Done {
    /// How many things were found due, whoever did them.
    pub found: usize,
    /// Whether that was all, or all that can be done now.
    pub all: bool,
    /// How long after it fell due each thing was done that this run did. Empty where nothing says when it did.
    pub late: Vec<SignedDuration>,
}

impl Done {
    /// A run that looked for `limit` things and found so many: fewer than asked for are all.
    pub fn found(found: usize, limit: u32) -> Self {
        Self { found, all: u32::try_from(found).is_ok_and(|found| found < limit), late: Vec::new() }
    }

    /// A run that tells only whether that was all.
    pub const fn swept(all: bool) -> Self {
        Self { found: 0, all, late: Vec::new() }
    }
}
