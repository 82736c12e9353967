//! The labels of agents' keys.

use kalends_kernel::{FieldError, bounded_text};

/// The label of an agent's key: 1-100 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyLabel(String);

impl KeyLabel {
    /// The maximum number of characters.
    pub const MAX: usize = 100;

    /// Checks the bounds.
    ///
    /// # Errors
    /// Names the field and the bounds.
    pub fn parse(param: &str, text: &str) -> Result<Self, FieldError> {
        bounded_text(param, text, 1, Self::MAX).map(Self)
    }

    /// The label from a store.
    pub const fn from_stored(label: String) -> Self {
        Self(label)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("", false)]
    #[case("   ", false)]
    #[case("a", true)]
    #[case(&"é".repeat(100), true)]
    #[case(&"é".repeat(101), false)]
    #[case("a\0b", false)]
    fn labels_are_bounded(#[case] label: &str, #[case] fits: bool) {
        assert_eq!(KeyLabel::parse("label", label).is_ok(), fits);
    }
}
