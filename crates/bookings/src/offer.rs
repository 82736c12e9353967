//! The slots that are offered.

use kalends_availability::BusySet;
use kalends_time::Span;

/// The number of alternatives that a refusal returns.
pub const NEAREST: usize = 3;

/// The slots that share no instant with at least one of the sets. `slots` must be ordered by start, and all must have
/// the same length.
///
/// *O*(*s* * *p* + *t*) for *s* slots, *p* sets and *t* spans in all of them together.
pub fn offered(slots: impl Iterator<Item = Span>, taken: &[BusySet]) -> impl Iterator<Item = Span> {
    let mut parties: Vec<_> = taken.iter().map(|taken| (taken.spans(), 0)).collect();
    slots.filter(move |slot| {
        parties.iter_mut().any(|(spans, next)| {
            // A span that ends before this slot also ends before every later one.
            while spans.get(*next).is_some_and(|span| span.end() <= slot.start()) {
                *next += 1;
            }
            spans.get(*next).is_none_or(|span| span.start() >= slot.end())
        })
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
