//! Work that is counted, so that no feed takes more than its share.

use crate::limits::STEPS_MAX;

/// The steps that a feed has left, and those of what is at work within it.
#[derive(Debug)]
pub(super) struct Steps {
    used: u64,
    until: u64,
}

/// Whoever was at work has taken all the steps that it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Exhausted;

impl Steps {
    pub(super) const fn new() -> Self {
        Self { used: 0, until: STEPS_MAX }
    }

    /// From here on, at most so many steps, and never more than the feed has left.
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

    pub(super) const fn used(&self) -> u64 {
        self.used
    }
}
