//! Bounded text. The length of an incoming string is measured in characters. A string that contains NUL is refused,
//! because Postgres cannot store it.

use std::fmt;

use serde::{Deserializer, de};

use crate::FieldError;

/// Text of `min` to `max` characters without NUL. If `min` is not 0, the text must not be blank.
///
/// # Errors
/// Names the field and what is wrong. If that is the length, also names the bounds and the actual length.
///
/// ```
/// use kalends_kernel::bounded_text;
///
/// assert_eq!(bounded_text("name", "Zoë", 1, 3).as_deref(), Ok("Zoë"));
/// let error = bounded_text("name", "Zoë", 1, 2).map_err(|error| error.to_string());
/// assert_eq!(error, Err("name: must be 1 to 2 characters long, got 3".to_owned()));
/// assert!(bounded_text("name", "   ", 1, 3).is_err());
/// ```
pub fn bounded_text(param: &str, text: &str, min: usize, max: usize) -> Result<String, FieldError> {
    let length = text.chars().count();
    if length < min || length > max {
        return Err(FieldError::new(param, format!("must be {min} to {max} characters long, got {length}")));
    }
    if text.contains('\0') {
        return Err(FieldError::new(param, "must not contain the NUL character"));
    }
    if min > 0 && text.trim().is_empty() {
        return Err(FieldError::new(param, "must not be blank"));
    }
    Ok(text.to_owned())
}

/// Text of at most `max` characters, or nothing.
///
/// # Errors
/// The same as [`bounded_text`].
///
/// ```
/// use kalends_kernel::optional_text;
///
/// assert_eq!(optional_text("notes", None, 5), Ok(None));
/// assert_eq!(optional_text("notes", Some(""), 5), Ok(Some(String::new())));
/// assert!(optional_text("notes", Some("too long"), 5).is_err());
/// ```
pub fn optional_text(param: &str, text: Option<&str>, max: usize) -> Result<Option<String>, FieldError> {
    text.map(|text| bounded_text(param, text, 0, max)).transpose()
}

/// Deserializes a value from the text that `parse` reads, without a copy of the text.
pub(crate) fn deserialized<'de, T, E: fmt::Display, D: Deserializer<'de>>(
    deserializer: D,
    parse: fn(&str) -> Result<T, E>,
) -> Result<T, D::Error> {
    struct Text<T, E>(fn(&str) -> Result<T, E>);

    impl<T, E: fmt::Display> de::Visitor<'_> for Text<T, E> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_str<F: de::Error>(self, text: &str) -> Result<T, F> {
            (self.0)(text).map_err(F::custom)
        }
    }

    deserializer.deserialize_str(Text(parse))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("", false)]
    #[case("   ", false)]
    #[case("a\0b", false)]
    #[case("abcdef", false)]
    #[case("ééééé", true)]
    fn measures_characters(#[case] text: &str, #[case] fits: bool) {
        assert_eq!(bounded_text("name", text, 1, 5).is_ok(), fits);
    }
}
