//! Why a call of a tool has no result, in the tool's own words.

use kalends_kernel::FieldError;
use rmcp::ErrorData;
use serde_json::Value;

/// The result of a call.
pub(in super::super) type Outcome = Result<Value, Failure>;

/// Why a call has no result.
#[derive(Debug)]
pub(in super::super) enum Failure {
    /// An argument cannot be used.
    Argument(FieldError),
    /// An operation refused. The value is the `error` of its answer.
    Refused(Value),
    /// A write waits for a person's approval. This is a success, but the tool cannot go on. The value is its result.
    Waits(Value),
    /// The answer of an operation could not be read.
    Lost(ErrorData),
}

impl From<FieldError> for Failure {
    fn from(error: FieldError) -> Self {
        Self::Argument(error)
    }
}

impl Failure {
    /// The same failure, with the tool's names of parameters.
    pub(super) fn naming(self, renamed: &[(&str, &str)]) -> Self {
        match self {
            Self::Argument(FieldError { param, message, .. }) => {
                Self::Argument(FieldError::new(named(&param, renamed), named(&message, renamed)))
            }
            Self::Refused(mut error) => {
                for field in ["param", "message"] {
                    if let Some(text) = error[field].as_str() {
                        error[field] = named(text, renamed).into();
                    }
                }
                Self::Refused(error)
            }
            other @ (Self::Waits(_) | Self::Lost(_)) => other,
        }
    }
}

/// A text with the tool's names of parameters. The name at the beginning of a clause is always a parameter; elsewhere, only a
/// name with an underscore or a hyphen is, because others are words of the sentence.
pub(super) fn named(text: &str, renamed: &[(&str, &str)]) -> String {
    let clauses = text.split("; ").map(|clause| {
        let end = clause.find(|char| !is_part(char)).unwrap_or(clause.len());
        let (first, rest) = clause.split_at(end);
        let begins = rest.is_empty() || rest.starts_with(['.', '[', ':']);
        let own = renamed.iter().find(|(name, _)| begins && *name == first).map_or(first, |(_, own)| own);
        let other = renamed.iter().filter(|(name, _)| name.contains(['_', '-']));
        format!("{own}{}", other.fold(rest.to_owned(), |rest, (name, own)| replaced(&rest, name, own)))
    });
    clauses.collect::<Vec<_>>().join("; ")
}

/// A text in which another name stands for each `name` that is not part of a longer one.
fn replaced(text: &str, name: &str, own: &str) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        let is_whole = !before.ends_with(is_part) && !after.starts_with(is_part);
        replaced.push_str(before);
        replaced.push_str(if is_whole { own } else { name });
        rest = after;
    }
    replaced + rest
}

fn is_part(char: char) -> bool {
    char.is_ascii_alphanumeric() || ['_', '-'].contains(&char)
}
