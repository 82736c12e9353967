//! Recurrence rules as other programs write them.

use kalends_recurrence::Rule;

use crate::{check_message, rule};

/// Reads the input leniently.
///
/// # Panics
/// If a rule that the strict reader accepts is read differently or with a warning, or if a warning is not one line.
pub fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let strict = Rule::parse(text);
    match Rule::parse_lenient(text) {
        Ok(read) => {
            rule::written(&read.rule);
            read.warnings.iter().for_each(|warning| check_message(warning));
            if let Ok(strict) = strict {
                assert_eq!(read.rule, strict);
                assert!(read.warnings.is_empty(), "{text:?} has warnings: {:?}", read.warnings);
            }
        }
        Err(error) => {
            assert!(strict.is_err(), "{text:?} is refused although the strict reader accepts it");
            check_message(&error);
        }
    }
}
