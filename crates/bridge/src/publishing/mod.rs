//! Publishing: the events of a calendar are copied to a calendar of a connected account, if its user allows that.
//!
//! A [`Destination`] says where the events of one of our calendars go. Nothing is queued for each change. The calendar
//! becomes due when anything on it changes, and a worker compares what should be there with what was written there
//! ([`Copy`](crate::Copy)). So no crash can lose a change, and the order of changes to one event cannot be mixed up.
//!
//! An attempt takes these steps. `wanted` is what should be there. If the attempt before did not end, `adopted` records
//! the copies that exist and are not recorded. `plan` is the difference. Its steps are sent in groups. What a group is
//! about to change or delete (`intents`) is recorded before it is sent, and its results before the next one is sent.

mod copy;
mod destination;
#[cfg(test)]
mod examples;
#[cfg(test)]
mod laws;
mod plan;
mod state;
mod wanted;

pub use copy::{
    COPY_DESCRIPTION_MAX, COPY_LOCATION_MAX, COPY_TITLE_MAX, Copy, CopyContent, CopyKey, CopyState, FoundCopy,
};
pub use destination::{Destination, DestinationError, PublishClaim};
pub use plan::{Adopted, COPIES_MAX, Plan, Recorded, STEPS_AT_ONCE, Step, adopted, intents, plan};
pub use state::{PublishOutcome, PublishState, next_publication, throttled_until};
pub use wanted::{external_sync, is_published, wanted};

/// The maximum number of calendars of one organization that are published at the same time, so that accounts that
/// answer slowly do not hold up the calendars of other organizations. A pause that a provider wants takes no place.
pub const PUBLICATIONS_PER_ORG: u32 = 4;
