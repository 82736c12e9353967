//! Sets of rules, dates, exceptions and overrides.

use kalends_recurrence::{Length, Occurrence, RecurrenceSet, Span};
use kalends_time::SignedDuration;

use crate::bytes::Bytes;
use crate::check_message;

/// The longest list of occurrences that is compared.
const OCCURRENCES_MAX: usize = 500;

/// Builds a set from the bytes of the input, and reads a window from both ends.
///
/// # Panics
/// If the ends disagree, an occurrence is outside the window, or the searches disagree with the window.
pub fn check(input: &[u8]) {
    let mut bytes = Bytes(input);
    let (first, zone) = (bytes.timestamp(), bytes.zone());
    let length = match bytes.byte() % 4 {
        0 => Length::days(u16::from(bytes.byte()) * 16),
        1 => Length::nominal(bytes.byte().into(), SignedDuration::minutes(bytes.byte().into())),
        2 => Length::elapsed(SignedDuration::micros(bytes.number())),
        _ => Length::elapsed(SignedDuration::minutes(bytes.byte().into())),
    };
    let length = match length {
        Ok(length) => length,
        Err(error) => return check_message(&error),
    };
    let mut set = RecurrenceSet::new(first, zone, length);
    while !bytes.is_empty() {
        add(&mut bytes, &mut set);
    }
    read(&set, &mut Bytes(input));
}

fn add(bytes: &mut Bytes<'_>, set: &mut RecurrenceSet) {
    match bytes.byte() % 5 {
        0 => match bytes.rule().map(|rule| set.add_rule(rule)) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => check_message(&error),
            Err(error) => check_message(&error),
        },
        1 => set.add_date(bytes.timestamp()),
        2 => set.add_exception(bytes.timestamp()),
        3 => {
            let _ = span(bytes).map(|span| set.add_period(span));
        }
        _ => {
            let original = bytes.timestamp();
            let _ = span(bytes).map(|span| set.add_override(original, span));
        }
    }
}

fn span(bytes: &mut Bytes<'_>) -> Option<Span> {
    let start = bytes.timestamp();
    Span::new(start, start + SignedDuration::minutes(bytes.byte().into())).ok()
}

fn read(set: &RecurrenceSet, bytes: &mut Bytes<'_>) {
    let from = bytes.timestamp();
    let Ok(window) = Span::new(from, from + SignedDuration::days(40)) else { return };
    let found: Vec<Occurrence> = set.between(window).take(OCCURRENCES_MAX).collect();
    assert!(found.is_sorted_by_key(|one| one.span.start()), "{set:?} is out of order");
    assert!(found.iter().all(|one| one.span.overlaps(window)), "{set:?} leaves {window:?}");
    if found.len() < OCCURRENCES_MAX {
        let mut back: Vec<Occurrence> = set.between(window).rev().collect();
        back.reverse();
        assert_eq!(back, found, "{set:?} differs backwards");
    }
    let before = from - SignedDuration::micros(1);
    let next = set.next_start_after(before);
    // Nothing is before the least timestamp, so `before` can be `from` itself.
    let in_window = found.iter().map(|one| one.span.start()).find(|start| *start > before);
    assert!(in_window.is_none_or(|start| next == Some(start)), "{set:?}: {next:?} is not {in_window:?}");
    let _ = set.previous_start_before(from);
}
