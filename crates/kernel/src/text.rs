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

/// Whether a reader does not see the character itself. It may hide among others, change what they look like, or turn them
/// around. Control characters are not among these.
///
/// ```
/// use kalends_kernel::is_invisible;
///
/// assert!(['\u{200b}', '\u{202e}', '\u{fe0f}', '\u{e0041}'].into_iter().all(is_invisible));
/// assert!(!['a', ' ', '\n', 'ß', '診'].into_iter().any(is_invisible));
/// ```
pub const fn is_invisible(char: char) -> bool {
    matches!(
        char,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// The text without [invisible characters](is_invisible).
///
/// ```
/// use kalends_kernel::visible;
///
/// assert_eq!(visible("Lu\u{200b}nch"), "Lunch");
/// ```
pub fn visible(text: &str) -> String {
    text.replace(is_invisible, "")
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

    #[test]
    fn text_without_invisible_characters_keeps_the_others() {
        assert_eq!(visible("Ki\u{200b}ck\u{e0041}-o\u{fe0f}ff, ok\n"), "Kick-off, ok\n");
        assert_eq!(visible("\u{3164}\u{ad}"), "");
    }

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
