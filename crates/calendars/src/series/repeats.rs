//! Whether and how an event repeats.

use super::{Occurrence, Recurrence};

/// Whether and how an event repeats.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Repeats {
    /// It takes place once.
    #[default]
    Once,
    /// It is a series. Its times are those of the first occurrence.
    Series(Box<Recurrence>),
    /// It is an occurrence of a series, unchanged or changed on its own.
    Instance(Occurrence),
}

impl From<Recurrence> for Repeats {
    fn from(recurrence: Recurrence) -> Self {
        Self::Series(Box::new(recurrence))
    }
}
