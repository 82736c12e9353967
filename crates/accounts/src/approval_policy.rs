//! Which writes of a key need a person's approval.

use std::{collections::BTreeSet, fmt};

use kalends_time::SignedDuration;

/// The most operations that a key names.
const OPERATIONS_MAX: usize = 200;

/// The writes of a key that need approval, and how long an approval waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalPolicy {
    /// The writes.
    pub covers: ApprovedWrites,
    /// How long an approval waits for a decision.
    pub lasts: SignedDuration,
}

/// The writes that need approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovedWrites {
    /// All of them.
    All,
    /// Calls of these operations, by their names in the API's description.
    Operations(BTreeSet<String>),
}

impl ApprovedWrites {
    /// What stands for all writes in requests, answers and rows.
    pub const ALL: &str = "writes";

    /// Whether a write by the operation needs approval.
    pub fn contains(&self, operation: &str) -> bool {
        match self {
            Self::All => true,
            Self::Operations(names) => names.contains(operation),
        }
    }

    /// [`Self::ALL`], or the names of the operations in order with a space in between. Stores keep this text.
    pub fn to_text(&self) -> String {
        match self {
            Self::All => Self::ALL.to_owned(),
            Self::Operations(names) => names.iter().map(String::as_str).collect::<Vec<_>>().join(" "),
        }
    }

    /// Reads [`Self::to_text`]. It does not check that the operations exist.
    ///
    /// # Errors
    /// [`BadApprovedWrites`] if there is no name, or too many.
    pub fn from_text(text: &str) -> Result<Self, BadApprovedWrites> {
        if text == Self::ALL {
            return Ok(Self::All);
        }
        Self::of(text.split_whitespace().map(str::to_owned).collect())
    }

    /// The writes by these operations. It does not check that they exist.
    ///
    /// # Errors
    /// [`BadApprovedWrites`] if there is none, or too many.
    pub fn of(operations: BTreeSet<String>) -> Result<Self, BadApprovedWrites> {
        if operations.is_empty() || operations.len() > OPERATIONS_MAX {
            Err(BadApprovedWrites)
        } else {
            Ok(Self::Operations(operations))
        }
    }
}

/// The text names no operation, or too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadApprovedWrites;

impl fmt::Display for BadApprovedWrites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "must be {:?} or name 1 to {OPERATIONS_MAX} operations", ApprovedWrites::ALL)
    }
}

impl std::error::Error for BadApprovedWrites {}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::all("writes", Some("writes"), "createEvent", true)]
    #[case::one("createEvent", Some("createEvent"), "createEvent", true)]
    #[case::another("createEvent", Some("createEvent"), "updateEvent", false)]
    #[case::sorted("updateEvent createEvent updateEvent", Some("createEvent updateEvent"), "updateEvent", true)]
    #[case::nothing(" ", None, "", false)]
    fn writes_are_read_by_name(
        #[case] text: &str,
        #[case] again: Option<&str>,
        #[case] operation: &str,
        #[case] is_covered: bool,
    ) {
        let read = ApprovedWrites::from_text(text).ok();
        assert_eq!(read.as_ref().map(ApprovedWrites::to_text).as_deref(), again);
        assert_eq!(read.is_some_and(|writes| writes.contains(operation)), is_covered);
    }

    #[test]
    fn too_many_operations_are_refused() {
        let named = |count: usize| (0..count).map(|index| format!("op{index}")).collect::<Vec<_>>().join(" ");
        assert!(ApprovedWrites::from_text(&named(OPERATIONS_MAX)).is_ok());
        assert_eq!(ApprovedWrites::from_text(&named(OPERATIONS_MAX + 1)), Err(BadApprovedWrites));
    }
}
