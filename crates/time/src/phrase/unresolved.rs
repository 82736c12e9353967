//! Why a text is not resolved.

use crate::{CivilDateTime, Zone};

/// The maximum length of a text, in characters.
pub const LENGTH_MAX: usize = 200;

/// How much of a word an error repeats, in characters.
const WORD_MAX: usize = 40;

/// Why a text does not resolve to one time.
///
/// ```
/// use kalends_time::phrase::{Unresolved, resolve};
/// use kalends_time::{Timestamp, Zone};
///
/// let unresolved = resolve("tomorrow at 3", Zone::UTC, Timestamp::EPOCH).map_err(|error| error.to_string());
/// let says = "can mean \"Friday, 1970-01-02, at 03:00\" or \"Friday, 1970-01-02, at 15:00\"; send one of these texts";
/// assert_eq!(unresolved, Err(says.to_owned()));
/// assert_eq!(resolve(" ", Zone::UTC, Timestamp::EPOCH), Err(Unresolved::Empty));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unresolved {
    /// It has no words.
    #[error("must have words, such as tomorrow at 14:00")]
    Empty,
    /// It has more than [`LENGTH_MAX`] characters.
    #[error("must be at most {max} characters long", max = LENGTH_MAX)]
    TooLong,
    /// A word is not in the grammar.
    #[error(
        "has the word {word:?}, which is not understood; days are today, tomorrow, Tuesday, next Tuesday, in 3 days, \
         5 March, 2026-03-05; times are 14:00, 2pm, noon, morning, in 90 minutes; a range is 2pm to 3pm"
    )]
    UnknownWord {
        /// The beginning of the word.
        word: String,
    },
    /// Something is missing.
    #[error("{missing}")]
    Incomplete {
        /// What is missing, with an example.
        missing: String,
    },
    /// Its parts do not fit together.
    #[error("{what}")]
    Contradiction {
        /// Which parts, and why.
        what: String,
    },
    /// A date or a time of day does not exist.
    #[error("there is no {what}")]
    Missing {
        /// The date or the time.
        what: String,
    },
    /// It can mean several times.
    #[error("can mean {}; send one of these texts", either(.candidates))]
    Ambiguous {
        /// A text for each time. Each resolves to that time.
        candidates: Vec<String>,
    },
    /// The clocks skip the time.
    #[error("the clocks of {zone} skip {local}; the next time that exists is \"{next}\"")]
    Skipped {
        /// The zone.
        zone: Zone,
        /// The time that they skip.
        local: CivilDateTime,
        /// A text that resolves to the next time that exists.
        next: String,
    },
    /// The time is not in the years 1970 to 2099.
    #[error("must be in the years 1970 to 2099")]
    OutOfRange,
}

impl Unresolved {
    pub(super) fn unknown(word: &str) -> Self {
        Self::UnknownWord { word: word.chars().take(WORD_MAX).collect() }
    }

    pub(super) fn incomplete(missing: impl Into<String>) -> Self {
        Self::Incomplete { missing: missing.into() }
    }

    pub(super) fn contradiction(what: impl Into<String>) -> Self {
        Self::Contradiction { what: what.into() }
    }

    pub(super) fn missing(what: &str) -> Self {
        Self::Missing { what: what.chars().filter(|letter| !letter.is_control()).take(WORD_MAX).collect() }
    }
}

/// The texts in quotes, with `or` between them.
fn either(texts: &[String]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| format!("\"{text}\"")).collect();
    quoted.join(" or ")
}
