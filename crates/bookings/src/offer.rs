//! Which slots are offered.

use kalends_availability::BusySet;
use kalends_kernel::Span;

/// How many other slots are told to whom one is refused.
pub const NEAREST: usize = 3;

/// Those of `slots` that share no instant with what is taken. The slots come by start and are all equally long.
///
/// *O*(*s* + *t*) for *s* slots and *t* spans that are taken.
pub fn offered(slots: impl Iterator<Item = Span>, taken: &BusySet) -> impl Iterator<Item = Span> {
    let spans = taken.spans();
    let mut next = 0;
    slots.filter(move |slot| {
        // What ends before this slot ends before every later one.
        while spans.get(next).is_some_and(|span| span.end() <= slot.start()) {
            next += 1;
        }
        spans.get(next).is_none_or(|span| span.start() >= slot.end())
    })
}

/// Up to `count` of the offered slots, the one that begins nearest to `wanted` first; of two equally near ones, the
/// earlier.
#[must_use]
pub fn nearest(offered: impl Iterator<Item = Span>, wanted: Span, count: usize) -> Vec<Span> {
    let distance = |slot: &Span| (slot.start() - wanted.start()).as_micros().unsigned_abs();
    let mut nearest: Vec<Span> = offered.collect();
    nearest.sort_by_key(|slot| (distance(slot), slot.start()));
    nearest.truncate(count);
    nearest
}
