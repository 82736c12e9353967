//! Feeds of others, read: whatever is in them, in bounded work.
//!
//! [`read`] takes the bytes of a feed and gives the events that it tells of, each as one row would hold it.
//! Series of the subset (`docs/recurrence.md`) stay series; others become the occurrences around the present.
//! What cannot be read is skipped and told, event by event; only what is no feed at all, or is cut short, is
//! an error, so that no failed fetch removes an event (ruling 8.2).
//!
//! The lines are read here, without calcard: that parser makes values of everything, most of which is not
//! wanted, and takes the default zone where it does not know one. What calcard knows of the names of zones
//! is used ([`kalends_kernel::Zone`] has those of the database alone).

mod clock;
mod draft;
mod expand;
mod feed;
mod gather;
mod lines;
mod observances;
mod occurrences;
mod resolve;
mod rule;
mod scan;
mod steps;
mod subset;
mod timing;
mod values;
mod zones;

pub use feed::{Context, Edition, Editions, Feed, Item, ReadError, SkipReason, Skipped, Warning, What};
pub use zones::named as zone_named;

use crate::limits::TOLD_MAX;
use gather::Gathered;
use resolve::Resolver;

/// Reads a feed.
///
/// # Errors
/// [`ReadError`] where the bytes are no complete feed, or more than is taken. A feed with errors in it is
/// read as far as it makes sense.
pub fn read(bytes: &[u8], context: &Context) -> Result<Feed, ReadError> {
    let mut scanned = scan::scan(bytes)?;
    let mut drafts = std::mem::take(&mut scanned.drafts);
    let zones = Resolver::new(&scanned, context);
    let zone = Resolver::named_zone(&scanned);
    // Grouped, and in an order of their own, so that theirs in the feed does not matter.
    drafts.sort_unstable_by(|one, other| one.uid.cmp(&other.uid).then_with(|| one.cmp(other)));
    let mut gathered = Gathered::new(zones, &scanned.calendars);
    drafts.chunk_by(|one, other| one.uid == other.uid).for_each(|drafts| gathered.add(drafts));

    let Gathered { zones, mut items, editions, mut skipped, cancelled, .. } = gathered;
    items.sort_by(|one, other| one.key().cmp(&other.key()));
    items.dedup_by(|one, other| one.key() == other.key());
    skipped.append(&mut scanned.skipped);
    skipped.sort_unstable();
    let skipped_count = skipped.len();
    skipped.truncate(TOLD_MAX);
    Ok(Feed {
        name: scanned.name,
        zone,
        items,
        editions,
        skipped,
        skipped_count,
        cancelled_count: cancelled,
        warning_count: zones.warnings.len(),
        warnings: zones.warnings.into_iter().take(TOLD_MAX).collect(),
        steps: zones.steps.used(),
    })
}
