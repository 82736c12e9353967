//! The name of a run.

use std::fmt;

use kalends_kernel::FieldError;

/// The header that names the run of a request.
pub const HEADER: &str = "Kalends-Run";
/// The maximum number of characters in the name of a run.
pub const NAME_MAX: usize = 64;

/// The name of a run: 1 to [`NAME_MAX`] visible ASCII characters. `.` and `..` are no names, because clients remove them
/// from paths.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunName(String);

impl RunName {
    /// Reads a name.
    ///
    /// # Errors
    /// If it is empty or too long, has other characters, or is `.` or `..`. The error names the header.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let is_visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        if is_visible && (1..=NAME_MAX).contains(&text.len()) && !matches!(text, "." | "..") {
            return Ok(Self(text.to_owned()));
        }
        Err(bad_name())
    }

    /// The name in a row that [`Self::parse`] accepted earlier.
    pub fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The error of a name that is not one.
fn bad_name() -> FieldError {
    let message =
        format!("must be 1-{NAME_MAX} visible ASCII characters without spaces, not . or .., such as plan-week-10");
    FieldError::new(HEADER, message)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::one("a", true)]
    #[case::signs("plan/week:10~v2", true)]
    #[case::three_dots("...", true)]
    #[case::a_dot_at_the_start(".plan", true)]
    #[case::one_dot(".", false)]
    #[case::two_dots("..", false)]
    #[case::longest(&"n".repeat(NAME_MAX), true)]
    #[case::empty("", false)]
    #[case::too_long(&"n".repeat(NAME_MAX + 1), false)]
    #[case::a_space("plan week", false)]
    #[case::a_control("plan\n", false)]
    #[case::not_ascii("plän", false)]
    fn names_are_short_and_visible(#[case] text: &str, #[case] accepted: bool) {
        let name = RunName::parse(text);
        assert_eq!(name.is_ok(), accepted, "{name:?}");
        match name {
            Ok(name) => assert_eq!(name.to_string(), text),
            Err(error) => assert_eq!(error.param, HEADER),
        }
    }
}
