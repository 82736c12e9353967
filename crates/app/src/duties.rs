//! The results of duties.

use kalends_time::SignedDuration;

/// The result of one run of a duty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Done {
    /// How many due things the run found, including those that another node did first.
    pub found: usize,
    /// Whether nothing is left to do now.
    pub all: bool,
    /// For each thing that this run did, how long after it fell due. Empty if the due times are not known.
    pub late: Vec<SignedDuration>,
}

impl Done {
    /// A run that looked for up to `limit` things. If it found fewer, that was all.
    pub fn found(found: usize, limit: u32) -> Self {
        Self { found, all: u32::try_from(found).is_ok_and(|found| found < limit), late: Vec::new() }
    }

    /// A run that only reports whether that was all.
    pub const fn swept(all: bool) -> Self {
        Self { found: 0, all, late: Vec::new() }
    }
}
