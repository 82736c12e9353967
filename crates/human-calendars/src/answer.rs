//! What all answers have in common: how they are read, and how they fail.
//!
//! Answers carry tokens and the names of calendars, so that no error repeats what stands in them: neither the JSON reader's
//! own messages, which quote values, nor the providers' descriptions are handed on.

use std::collections::BTreeSet;

use kalends_app::ports::{ProviderError, TheirBusy};
use kalends_bridge::{NAME_MAX, REFERENCE_MAX, SPANS_MAX, TheirCalendar};
use kalends_kernel::Span;
use serde::Deserialize;

/// The most characters of a provider's own code that are handed on.
const CODE_MAX: usize = 64;
/// The most busy times of one calendar that are read. Twice what is kept, since many of them overlap or touch.
pub(crate) const RAW_SPANS_MAX: usize = SPANS_MAX * 2;

/// What is wrong with an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Malformed {
    /// It is not the JSON that was asked for. What stands there is not repeated.
    #[error("the answer is not {wanted}: it makes no sense at line {line}, column {column}")]
    Json { wanted: &'static str, line: usize, column: usize },
    /// It is JSON, but cannot be meant.
    #[error("{0}")]
    Sense(&'static str),
}

impl From<Malformed> for ProviderError {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(Box::new(malformed))
    }
}

/// What is wanted, out of JSON.
pub(crate) fn read<'a, T: Deserialize<'a>>(wanted: &'static str, body: &'a [u8]) -> Result<T, Malformed> {
    serde_json::from_slice(body).map_err(|error| Malformed::Json { wanted, line: error.line(), column: error.column() })
}

/// A provider's code, as much of it as is plain.
pub(crate) fn plain(code: &str) -> String {
    code.chars().filter(char::is_ascii_graphic).take(CODE_MAX).collect()
}

/// An answer that helps nobody, but may be another one later: the provider is busy, or the operator has to see to it.
pub(crate) fn unavailable(status: u16, code: Option<&str>) -> ProviderError {
    let code = code.map(plain).filter(|code| !code.is_empty());
    let told = code.map_or(String::new(), |code| format!(" ({code})"));
    ProviderError::Unavailable(format!("it answers with status {status}{told}").into())
}

/// A calendar of which the provider does not tell, for the reason of this code.
pub(crate) fn untold(code: &str) -> TheirBusy {
    let code = plain(code);
    TheirBusy::Untold(if code.is_empty() { "unknown".to_owned() } else { code })
}

/// The calendars of an account as they are handed on: the account's own first, each once, with names and references within
/// their bounds.
pub(crate) fn listed(found: Vec<TheirCalendar>) -> Vec<TheirCalendar> {
    let mut told = BTreeSet::new();
    let mut listed: Vec<_> = found
        .into_iter()
        .filter(|calendar| (1..=REFERENCE_MAX).contains(&calendar.reference.len()))
        .filter(|calendar| told.insert(calendar.reference.clone()))
        .map(|calendar| TheirCalendar { name: tidy(&calendar.name), ..calendar })
        .collect();
    // Stable: the others stay in the order of their provider.
    listed.sort_by_key(|calendar| !calendar.primary);
    listed
}

/// A name without control characters, within its bound.
fn tidy(name: &str) -> String {
    let plain: String = name.chars().filter(|letter| !letter.is_control()).collect();
    let cut: String = plain.trim().chars().take(NAME_MAX).collect();
    cut.trim_end().to_owned()
}

/// Why a calendar is not told that holds more than is read. What is left out would look free.
pub(crate) const TOO_MUCH: &str = "more_than_is_read";

/// Adds what another answer tells of a calendar. What is not told once is not told: half of a calendar would look free.
pub(crate) fn add(told: &mut TheirBusy, more: TheirBusy) {
    match (told, more) {
        (TheirBusy::Untold(_), _) => {}
        (told, more @ TheirBusy::Untold(_)) => *told = more,
        (TheirBusy::Known(spans), TheirBusy::Known(more)) if spans.len() + more.len() <= RAW_SPANS_MAX => {
            spans.extend::<Vec<Span>>(more);
        }
        (told, TheirBusy::Known(_)) => *told = untold(TOO_MUCH),
    }
}

#[cfg(test)]
mod tests {
    use kalends_kernel::Timestamp;
    use rstest::rstest;

    use super::*;

    fn calendar(reference: &str, name: &str, primary: bool) -> TheirCalendar {
        TheirCalendar { reference: reference.into(), name: name.into(), primary }
    }

    fn spans(count: usize) -> TheirBusy {
        let span = Span::new(Timestamp::from_micros(0), Timestamp::from_micros(1)).unwrap();
        TheirBusy::Known(vec![span; count])
    }

    #[test]
    fn errors_do_not_quote() {
        #[derive(Debug, Deserialize)]
        struct Wanted {
            #[expect(dead_code, reason = "it is never read, as its type is wrong")]
            number: u32,
        }
        let error = read::<Wanted>("a number", br#"{"number":"Dentist"}"#).unwrap_err();
        assert_eq!(error.to_string(), "the answer is not a number: it makes no sense at line 1, column 19");
        assert!(!format!("{error:?}").contains("Dentist"));
    }

    #[rstest]
    #[case("invalid_grant\n", "invalid_grant")]
    #[case("in valid", "invalid")]
    #[case("é\u{1b}[31m", "[31m")]
    #[case("", "")]
    fn codes_are_plain(#[case] code: &str, #[case] shown: &str) {
        assert_eq!(plain(code), shown);
        assert_eq!(plain(&"x".repeat(CODE_MAX + 1)).len(), CODE_MAX);
    }

    #[test]
    fn the_account_s_own_calendar_comes_first() {
        let found = vec![
            calendar("b", "Team", false),
            calendar("", "no reference", false),
            calendar("a", " A\u{7}da\r\n", true),
            calendar("b", "again", false),
            calendar(&"x".repeat(REFERENCE_MAX), "", false),
            calendar(&"x".repeat(REFERENCE_MAX + 1), "", false),
        ];
        let expected =
            [calendar("a", "Ada", true), calendar("b", "Team", false), calendar(&"x".repeat(REFERENCE_MAX), "", false)];
        assert_eq!(listed(found), expected);
    }

    #[test]
    fn names_end() {
        let listed = listed(vec![calendar("own", &"é".repeat(NAME_MAX + 1), true)]);
        assert_eq!(listed[0].name.chars().count(), NAME_MAX);
    }

    #[test]
    fn what_is_not_told_once_is_not_told() {
        let mut told = spans(1);
        add(&mut told, spans(2));
        assert_eq!(told, spans(3));
        add(&mut told, TheirBusy::Untold("notFound".into()));
        add(&mut told, spans(1));
        assert_eq!(told, TheirBusy::Untold("notFound".into()));
    }

    #[test]
    fn too_many_are_not_told() {
        let mut told = spans(RAW_SPANS_MAX - 1);
        add(&mut told, spans(1));
        assert_eq!(told, spans(RAW_SPANS_MAX));
        add(&mut told, spans(1));
        assert_eq!(told, TheirBusy::Untold(TOO_MUCH.into()));
    }
}
