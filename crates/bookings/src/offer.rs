//! The slots that are offered.

use kalends_availability::BusySet;
use kalends_time::Span;

/// The number of alternatives that a refusal returns.
pub const NEAREST: usize = 3;

/// The slots that share no instant with `taken`. `slots` must be ordered by start, and all must have the same length.
///
/// *O*(*s* + *t*) for *s* slots and *t* taken spans.
pub fn offered(slots: impl Iterator<Item = Span>, taken: &BusySet) -> impl Iterator<Item = Span> {
    let spans = taken.spans();
    let mut next = 0;
    slots.filter(move |slot| {
        // A span that ends before this slot also ends before every later one.
        while spans.get(next).is_some_and(|span| span.end() <= slot.start()) {
            next += 1;
        }
        spans.get(next).is_none_or(|span| span.start() >= slot.end())
    })
}

/// Up to `count` offered slots, nearest start to `wanted` first. If two are equally near, the earlier comes first.
#[must_use]
pub fn nearest(offered: impl Iterator<Item = Span>, wanted: Span, count: usize) -> Vec<Span> {
    let distance = |slot: &Span| (slot.start() - wanted.start()).as_micros().unsigned_abs();
    let mut nearest: Vec<Span> = offered.collect();
    nearest.sort_by_key(|slot| (distance(slot), slot.start()));
    nearest.truncate(count);
    nearest
}
