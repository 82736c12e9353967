//! Reading third-party feeds with a bounded amount of work, whatever they contain.
//!
//! [`read`] takes the bytes of a feed and returns its events, each in the form of one row. Series of
//! days, weeks, months and years stay series (`docs/use/ical.md`). Others are expanded to their occurrences around the present. Events that
//! cannot be read are skipped and reported one by one. Only a text that is not a feed, or is cut short, is an error, so
//! that no failed fetch removes an event.
//!
//! The crate `calcard` is not used to parse the feed: it builds a value for every property, most of which are not
//! needed, and replaces a zone that it does not know with the default zone. Zone names that are not in the IANA
//! database are looked up in a separate table.

mod clock;
mod draft;
mod expand;
mod feed;
mod gather;
mod kept;
mod lines;
mod observances;
mod occurrences;
mod resolve;
mod scan;
mod steps;
mod timing;
mod values;
mod windows;
mod zones;

pub use feed::{BUSY, Context, Edition, Editions, Feed, Item, ReadError, SkipReason, Skipped, Warning, What};
pub use zones::named as zone_named;

use crate::limits::REPORTED_MAX;
use gather::Gathered;
use resolve::Resolver;

/// Reads a feed.
///
/// # Errors
/// [`ReadError`] if the bytes are not a complete feed, or exceed a limit. A feed with invalid events is read as far as
/// possible.
pub fn read(bytes: &[u8], context: &Context) -> Result<Feed, ReadError> {
    let mut scanned = scan::scan(bytes)?;
    let mut drafts = std::mem::take(&mut scanned.drafts);
    let zones = Resolver::new(&scanned, context);
    let zone = Resolver::named_zone(&scanned);
    // Group by `UID`, in a total order, so that the order in the feed does not matter.
    drafts.sort_unstable_by(|one, other| one.uid.cmp(&other.uid).then_with(|| one.cmp(other)));
    let mut gathered = Gathered::new(zones, &scanned.calendars);
    drafts.chunk_by(|one, other| one.uid == other.uid).for_each(|drafts| gathered.add(drafts));

    let Gathered { zones, mut items, editions, mut skipped, cancelled, .. } = gathered;
    items.sort_by(|one, other| one.key().cmp(&other.key()));
    items.dedup_by(|one, other| one.key() == other.key());
    skipped.append(&mut scanned.skipped);
    skipped.sort_unstable();
    let skipped_count = skipped.len();
    skipped.truncate(REPORTED_MAX);
    Ok(Feed {
        name: scanned.name,
        zone,
        items,
        editions,
        skipped,
        skipped_count,
        cancelled_count: cancelled,
        warning_count: zones.warnings.len(),
        warnings: zones.warnings.into_iter().take(REPORTED_MAX).collect(),
        steps: zones.steps.used(),
    })
}
