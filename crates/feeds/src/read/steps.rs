//! Counted work, so that no feed takes more than its share.

use crate::limits::STEPS_MAX;

/// The steps that a feed has used, and the limit of the part that is being read.
#[derive(Debug)]
pub(super) struct Steps {
    used: u64,
    until: u64,
}

/// The steps that were allowed are used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Exhausted;

impl Steps {
    pub(super) const fn new() -> Self {
        Self { used: 0, until: STEPS_MAX }
    }

    /// Allows at most `steps` from here on, but not more than the feed has left.
    pub(super) fn allow(&mut self, steps: u64) {
        self.until = self.used.saturating_add(steps).min(STEPS_MAX);
    }

    /// Counts steps that are about to be taken.
    #[inline]
    pub(super) fn take(&mut self, steps: u64) -> Result<(), Exhausted> {
        match self.used.checked_add(steps).filter(|used| *used <= self.until) {
            Some(used) => {
                self.used = used;
                Ok(())
            }
            None => Err(Exhausted),
        }
    }

    /// The steps that may still be taken.
    pub(super) const fn left(&self) -> u64 {
        self.until.saturating_sub(self.used)
    }

    pub(super) const fn used(&self) -> u64 {
        self.used
    }
}
