//! The algebra of busy times, slots and rules.

use kalends_availability::{BusySet, Hours, Override, Rules, Week, count_free_slots, free_slots, nearest_free};
use kalends_recurrence::CivilDate;
use kalends_time::{SignedDuration, Span};

use crate::bytes::Bytes;
use crate::check_message;

/// The longest list of slots that is compared.
const SLOTS_MAX: usize = 500;
/// The longest window in which dates have hours. Every date of the window is examined.
const DATES_MAX: SignedDuration = SignedDuration::days(60);

/// Builds sets and rules from the bytes of the input, and compares the operations with each other.
///
/// # Panics
/// If two ways to the same set disagree, or a slot is busy or outside its window.
pub fn check(input: &[u8]) {
    let mut bytes = Bytes(input);
    let Some(window) = any_span(&mut bytes) else { return };
    let rules = rules(&mut bytes);
    let (length, step) = (duration(&mut bytes), duration(&mut bytes));
    let mut sets = [BusySet::EMPTY, BusySet::EMPTY, BusySet::EMPTY];
    for set in &mut sets {
        let spans = (0..bytes.byte() % 16).filter_map(|_| any_span(&mut bytes)).collect();
        *set = BusySet::from_unsorted(spans);
    }
    combine(&sets, window);
    offer(&sets[0], window, length, step);
    apply(&rules, &sets[1], window);
}

fn any_span(bytes: &mut Bytes<'_>) -> Option<Span> {
    let (start, other) = (bytes.timestamp(), bytes.timestamp());
    let end = if bytes.byte().is_multiple_of(4) { other } else { start + duration(bytes) };
    Span::new(start, end).ok()
}

fn duration(bytes: &mut Bytes<'_>) -> SignedDuration {
    match bytes.byte() % 8 {
        0 => SignedDuration::micros(bytes.number()),
        1 => SignedDuration::days(i64::from(bytes.byte().cast_signed())),
        _ => SignedDuration::minutes(5 * i64::from(bytes.byte())),
    }
}

fn rules(bytes: &mut Bytes<'_>) -> Rules {
    let rules = Rules::new(bytes.zone());
    let rules = match rules.clone().with_buffers(duration(bytes), duration(bytes)) {
        Ok(rules) => rules,
        Err(error) => {
            check_message(&error);
            rules
        }
    };
    let mut hours = || Hours::new(u16::from(bytes.byte()) * 10, u16::from(bytes.byte()) * 12);
    let (some, others) = (hours(), hours());
    let rules = match bytes.byte() % 3 {
        0 => rules,
        1 => rules.with_working_hours(Week { mon: some, wed: others, sat: some, ..Week::default() }),
        _ => rules.with_working_hours(some.map(Week::every_day).unwrap_or_default()),
    };
    let overrides = (0..bytes.byte() % 8).map(|_| {
        let date = CivilDate::from_days(bytes.timestamp().as_unix_seconds().div_euclid(86_400));
        Override { date, hours: if bytes.byte().is_multiple_of(2) { others } else { None } }
    });
    let overrides: Vec<Override> = overrides.collect();
    rules.with_overrides(overrides)
}

/// The laws of sets, within a window.
fn combine(sets: &[BusySet; 3], window: Span) {
    let [a, b, c] = sets;
    let inside = a.clip(window);
    assert_eq!(a.complement(window).complement(window), inside, "{a:?} is not the complement of its complement");
    assert_eq!(a.difference(b).union(&a.intersection(b)), *a, "{a:?} and {b:?}: the parts are not the whole");
    assert!(a.difference(b).intersection(b).is_empty(), "{a:?} without {b:?} still has some of it");
    assert_eq!(a.union(b), b.union(a));
    assert_eq!(BusySet::union_all(sets), a.union(b).union(c));
    assert_eq!(BusySet::common_free(sets, window), BusySet::union_all(sets).complement(window));
    assert_eq!(BusySet::at_least_free(3, sets, window), BusySet::common_free(sets, window));
    assert_eq!(BusySet::at_least_free(0, sets, window), window.into());
    assert!(BusySet::at_least_free(4, sets, window).is_empty());
    let [free_a, free_b, free_c] = [a, b, c].map(|set| set.complement(window));
    assert_eq!(BusySet::at_least_free(1, sets, window), free_a.union(&free_b).union(&free_c));
    let two = BusySet::at_least_free(2, sets, window);
    let pairs = [free_a.intersection(&free_b), free_a.intersection(&free_c), free_b.intersection(&free_c)];
    assert_eq!(two, BusySet::union_all(&pairs));
}

/// Slots and the nearest free times.
fn offer(busy: &BusySet, window: Span, length: SignedDuration, step: SignedDuration) {
    let slots: Vec<Span> = free_slots(window, busy, length, step).take(SLOTS_MAX).collect();
    for slot in &slots {
        assert!(window.start() <= slot.start() && slot.end() <= window.end(), "{slot:?} leaves {window:?}");
        assert!(!busy.overlaps(*slot) && slot.start() + length == slot.end(), "{slot:?} is not free");
    }
    assert!(slots.is_sorted(), "{slots:?} are out of order");
    let count = count_free_slots(window, busy, length, step);
    if slots.len() < SLOTS_MAX {
        assert_eq!(usize::try_from(count), Ok(slots.len()));
    }
    let Ok(wanted) = Span::new(window.start(), window.start() + length) else { return };
    let nearest = nearest_free(busy, wanted, window, step, 5);
    assert!(nearest.len() <= 5 && nearest.iter().all(|offer| !busy.overlaps(*offer)), "{nearest:?} are not free");
}

/// Buffers, working hours and overrides.
fn apply(rules: &Rules, busy: &BusySet, window: Span) {
    let buffered = rules.buffered(busy, window);
    assert_eq!(busy.clip(window).difference(&buffered), BusySet::EMPTY, "buffers free some of {busy:?}");
    let Ok(dates) = Span::new(window.start(), window.end().min(window.start() + DATES_MAX)) else { return };
    let outside = rules.outside(dates);
    assert_eq!(outside.clip(dates), outside, "{rules:?} close time outside of {dates:?}");
    assert_eq!(rules.apply(busy, dates), rules.buffered(busy, dates).union(&outside));
}
