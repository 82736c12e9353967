//! The opaque identity of a human calendar.

/// Identifies a human calendar without revealing what it is or who owns it: the bare value of an identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HumanSource(pub u128);
