//! Common parts of all answers: parsing and errors.
//!
//! Answers contain tokens and names of calendars, so no error repeats their content. Neither the JSON parser's
//! messages, which quote values, nor the providers' descriptions are passed on.

use std::collections::BTreeSet;

use kalends_app::ports::{ProviderError, TheirBusy};
use kalends_bridge::{NAME_MAX, REFERENCE_MAX, SPANS_MAX, TheirCalendar};
use kalends_kernel::CalendarId;
use kalends_time::Span;
use serde::Deserialize;

/// The maximum length of a provider's own error code, in characters.
const CODE_MAX: usize = 64;
/// The maximum number of busy times of one calendar that are read. This is twice the number that is kept, because many
/// of them overlap or touch.
pub(crate) const RAW_SPANS_MAX: usize = SPANS_MAX * 2;

/// Why an answer is malformed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Malformed {
    /// It is not the expected JSON. Its content is not repeated.
    #[error("the answer is not {wanted}: unexpected content at line {line}, column {column}")]
    Json { wanted: &'static str, line: usize, column: usize },
    /// It is the expected JSON, but its values are invalid.
    #[error("{0}")]
    Sense(&'static str),
}

impl From<Malformed> for ProviderError {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(Box::new(malformed))
    }
}

/// Parses JSON.
pub(crate) fn read<'a, T: Deserialize<'a>>(wanted: &'static str, body: &'a [u8]) -> Result<T, Malformed> {
    serde_json::from_slice(body).map_err(|error| Malformed::Json { wanted, line: error.line(), column: error.column() })
}

/// A provider's error code, reduced to visible ASCII characters and cut to the maximum length.
pub(crate) fn plain(code: &str) -> String {
    code.chars().filter(char::is_ascii_graphic).take(CODE_MAX).collect()
}

/// The error for an answer that may be different later: the provider is busy, or the operator has to act.
pub(crate) fn unavailable(status: u16, code: Option<&str>) -> ProviderError {
    let code = code.map(plain).filter(|code| !code.is_empty());
    let detail = code.map_or(String::new(), |code| format!(" ({code})"));
    ProviderError::Unavailable(format!("it answers with status {status}{detail}").into())
}

/// Busy times without copies.
pub(crate) const fn known(spans: Vec<Span>) -> TheirBusy {
    TheirBusy::Known { spans, copies: Vec::new(), tag: None, unread: 0 }
}

/// A calendar that the provider reports no busy times for, with the error code.
pub(crate) fn unknown(code: &str) -> TheirBusy {
    let code = plain(code);
    TheirBusy::Unknown(if code.is_empty() { "unknown".to_owned() } else { code })
}

/// The calendars of an account as they are returned: the primary one first, without duplicates, with bounded names and
/// references.
pub(crate) fn listed(found: Vec<TheirCalendar>) -> Vec<TheirCalendar> {
    let mut seen = BTreeSet::new();
    let mut listed: Vec<_> = found
        .into_iter()
        .filter(|calendar| (1..=REFERENCE_MAX).contains(&calendar.reference.len()))
        .filter(|calendar| seen.insert(calendar.reference.clone()))
        .map(|calendar| TheirCalendar { name: tidy(&calendar.name), ..calendar })
        .collect();
    // The sort is stable, so the others keep the provider's order.
    listed.sort_by_key(|calendar| !calendar.primary);
    listed
}

/// A name without control characters, cut to its maximum length.
fn tidy(name: &str) -> String {
    let plain: String = name.chars().filter(|letter| !letter.is_control()).collect();
    let cut: String = plain.trim().chars().take(NAME_MAX).collect();
    cut.trim_end().to_owned()
}

/// The code for a calendar with more busy times than are read. The rest would look free.
pub(crate) const TOO_MUCH: &str = "more_than_is_read";

/// Adds the busy times of another answer. One error makes the whole calendar unknown, because half of a calendar would
/// look free.
pub(crate) fn add(busy: &mut TheirBusy, more: TheirBusy) {
    match (busy, more) {
        (TheirBusy::Unknown(_), _) => {}
        (busy, more @ TheirBusy::Unknown(_)) => *busy = more,
        (TheirBusy::Known { spans, copies, .. }, TheirBusy::Known { spans: more, copies: more_copies, .. })
            if spans.len() + copies.len() + more.len() + more_copies.len() <= RAW_SPANS_MAX =>
        {
            spans.extend::<Vec<Span>>(more);
            copies.extend::<Vec<(CalendarId, Span)>>(more_copies);
        }
        // Calendars that are read in parts have no tag.
        (busy, TheirBusy::Known { .. } | TheirBusy::Unchanged) => *busy = unknown(TOO_MUCH),
    }
}

#[cfg(test)]
mod tests {
    use kalends_time::Timestamp;
    use rstest::rstest;

    use super::*;

    fn calendar(reference: &str, name: &str, primary: bool) -> TheirCalendar {
        TheirCalendar { reference: reference.into(), name: name.into(), primary }
    }

    fn spans(count: usize) -> TheirBusy {
        let span = Span::new(Timestamp::from_micros(0), Timestamp::from_micros(1)).unwrap();
        known(vec![span; count])
    }

    #[test]
    fn errors_do_not_quote_the_answer() {
        #[derive(Debug, Deserialize)]
        struct Wanted {
            #[expect(dead_code, reason = "it is never read, because its type is wrong")]
            number: u32,
        }
        let error = read::<Wanted>("a number", br#"{"number":"Dentist"}"#).unwrap_err();
        assert_eq!(error.to_string(), "the answer is not a number: unexpected content at line 1, column 19");
        assert!(!format!("{error:?}").contains("Dentist"));
    }

    #[rstest]
    #[case("invalid_grant\n", "invalid_grant")]
    #[case("in valid", "invalid")]
    #[case("é\u{1b}[31m", "[31m")]
    #[case("", "")]
    fn codes_are_reduced_to_visible_ascii(#[case] code: &str, #[case] expected: &str) {
        assert_eq!(plain(code), expected);
        assert_eq!(plain(&"x".repeat(CODE_MAX + 1)).len(), CODE_MAX);
    }

    #[test]
    fn the_primary_calendar_comes_first() {
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
    fn names_are_cut_to_their_maximum() {
        let listed = listed(vec![calendar("own", &"é".repeat(NAME_MAX + 1), true)]);
        assert_eq!(listed[0].name.chars().count(), NAME_MAX);
    }

    #[test]
    fn one_error_makes_the_calendar_unknown() {
        let mut busy = spans(1);
        add(&mut busy, spans(2));
        assert_eq!(busy, spans(3));
        add(&mut busy, TheirBusy::Unknown("notFound".into()));
        add(&mut busy, spans(1));
        assert_eq!(busy, TheirBusy::Unknown("notFound".into()));
    }

    #[test]
    fn too_many_busy_times_make_the_calendar_unknown() {
        let mut busy = spans(RAW_SPANS_MAX - 1);
        add(&mut busy, spans(1));
        assert_eq!(busy, spans(RAW_SPANS_MAX));
        add(&mut busy, spans(1));
        assert_eq!(busy, TheirBusy::Unknown(TOO_MUCH.into()));
    }
}
