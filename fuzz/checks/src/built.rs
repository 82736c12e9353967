//! Recurrence rules from typed values.

use crate::bytes::Bytes;
use crate::{check_message, rule};

/// Builds a rule from the bytes of the input, writes it, and expands it from a start of the input.
///
/// # Panics
/// If the rule is not the one that its own parts build, or for the reasons of [`rule::check`].
pub fn check(input: &[u8]) {
    let mut bytes = Bytes(input);
    let built = match bytes.rule() {
        Ok(built) => built,
        Err(error) => return check_message(&error),
    };
    assert_eq!(built.to_builder().build().as_ref(), Ok(&built));
    rule::written(&built);
    rule::expanded(&built, bytes.timestamp(), bytes.zone());
}
