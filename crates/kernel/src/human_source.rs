//! The opaque identity of a human calendar.

/// Identifies a human calendar without revealing what it is or who owns it: the bare value of an identifier.
///
/// ```
/// use kalends_kernel::{ExternalCalendarId, HumanSource};
///
/// let calendar: ExternalCalendarId = "xcl_00000000000000000000000007".parse()?;
/// assert_eq!(HumanSource(calendar.uuid().as_u128()), HumanSource(7));
/// # Ok::<(), kalends_kernel::IdError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HumanSource(pub u128);
