//! The change feed: what changes in an organization, in one order that all readers agree on.
//!
//! An entry is written in the transaction of its change. Its [`FeedPosition`] is taken from the organization's head,
//! whose row stays locked until the transaction ends. So entries become visible in the order of their positions, and a
//! reader that has seen a position has seen everything before it. Positions follow each other without gaps.

mod change_type;
mod token;

pub use change_type::{ChangeType, TypesError, WantedTypes};
pub use token::{CHANGES_KEPT, ENTRIES_LOOKED_AT, FEED_PAGE_BYTES, FeedPosition, FeedResync, FeedToken};

use kalends_kernel::{MessageId, OrgId, Version};
use kalends_time::{SignedDuration, Timestamp};

use crate::Message;

/// How long the entries of an organization are written after somebody last read them. It is longer than
/// [`CHANGES_KEPT`] by more than [`READS_NOTED_EVERY`], so nobody holds a token that still works when they end.
pub const UNREAD_FEED_LASTS: SignedDuration = SignedDuration::days(9);

/// How often a head notes that it was read.
pub const READS_NOTED_EVERY: SignedDuration = SignedDuration::days(1);

/// An entry of the change feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedEntry {
    /// The identifier under which its body is sealed. No answer shows it.
    pub id: MessageId,
    /// The organization.
    pub org: OrgId,
    /// What happened.
    pub change_type: ChangeType,
    /// The resource as JSON text, without secrets.
    pub body: String,
    /// The version of the resource after the change.
    pub version: Version,
    /// When the change was made.
    pub created_at: Timestamp,
}

impl FeedEntry {
    /// The entry of a message; `None` if it is about a webhook endpoint or a connection, which are configuration.
    pub fn of_message(message: &Message) -> Option<Self> {
        Some(Self {
            id: message.id,
            org: message.org,
            change_type: ChangeType::of_message(message.event_type)?,
            body: message.payload.clone(),
            version: message.resource_version,
            created_at: message.created_at,
        })
    }
}

/// The head of an organization's change feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeedHead {
    /// The position before the oldest entry that is certainly kept.
    pub first: FeedPosition,
    /// The position of the newest entry.
    pub last: FeedPosition,
    /// When it was last noted that somebody reads.
    pub read_at: Timestamp,
}

/// The entries that a store has found, in one snapshot with the head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedRead {
    /// The head.
    pub head: FeedHead,
    /// The wanted entries among the [`ENTRIES_LOOKED_AT`] after the position, in order.
    pub entries: Vec<(FeedPosition, FeedEntry)>,
    /// Whether the store left out wanted entries after the last one, because the page would be too large.
    pub more: bool,
}

/// A page of a change feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedPage {
    /// The entries with their positions, the oldest first.
    pub entries: Vec<(FeedPosition, FeedEntry)>,
    /// The position that the reader has reached.
    pub reached: FeedPosition,
    /// Whether there are entries after that position, of whatever type.
    pub has_more: bool,
}

impl FeedRead {
    /// The page of at most `limit` entries for a reader at `after`. `self` is the result of the query for it, with up
    /// to one entry more than `limit`.
    ///
    /// # Errors
    /// [`FeedResync::TooOld`] if entries after that position have been purged, [`FeedResync::Unknown`] if the feed has
    /// not come so far.
    pub fn page(self, after: FeedPosition, limit: u32) -> Result<FeedPage, FeedResync> {
        let Self { head, mut entries, more } = self;
        if after < head.first {
            return Err(FeedResync::TooOld);
        }
        if after > head.last {
            return Err(FeedResync::Unknown);
        }
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let cut = more || entries.len() > limit;
        entries.truncate(limit);
        let reached = match entries.last() {
            Some((last, _)) if cut => *last,
            _ => after.looked_on().min(head.last),
        };
        Ok(FeedPage { entries, reached, has_more: reached < head.last })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry(number: u8) -> FeedEntry {
        FeedEntry {
            id: MessageId::from_bytes([number; 16]),
            org: OrgId::from_bytes([1; 16]),
            change_type: ChangeType::CalendarCreated,
            body: "{}".to_owned(),
            version: Version::FIRST,
            created_at: Timestamp::EPOCH,
        }
    }

    fn head(first: i64, last: i64) -> FeedHead {
        FeedHead { first: FeedPosition(first), last: FeedPosition(last), read_at: Timestamp::EPOCH }
    }

    /// What a store finds after a position: entries of a wanted type have an even number.
    fn found(first: i64, last: i64, after: i64, limit: u32) -> FeedRead {
        let looked_at = (after + 1..=last.min(after + ENTRIES_LOOKED_AT)).filter(|number| number % 2 == 0);
        let entries = looked_at.take(limit as usize + 1).map(|number| (FeedPosition(number), entry(1))).collect();
        FeedRead { head: head(first, last), entries, more: false }
    }

    #[test]
    fn only_positions_that_are_kept_are_read_on_from() {
        let read = FeedRead { head: head(10, 20), entries: Vec::new(), more: false };
        let page = |after| read.clone().page(FeedPosition(after), 5);
        assert_eq!(page(9), Err(FeedResync::TooOld));
        assert_eq!(page(21), Err(FeedResync::Unknown));
        for after in [10, 20] {
            let read = page(after).unwrap();
            assert_eq!((read.reached, read.has_more), (FeedPosition(20), false));
        }
    }

    #[test]
    fn a_page_that_a_store_cut_short_goes_on_after_its_last_entry() {
        let read = FeedRead { head: head(0, 9), entries: vec![(FeedPosition(3), entry(3))], more: true };
        let page = read.page(FeedPosition(0), 5).unwrap();
        assert_eq!((page.entries.len(), page.reached, page.has_more), (1, FeedPosition(3), true));
    }

    proptest! {
        /// A reader that follows the pages gets every wanted entry once and in order, whatever the limits are.
        #[test]
        fn pages_follow_each_other_without_gaps(
            last in 0_i64..12_000,
            limits in prop::collection::vec(1_u32..400, 1..9),
        ) {
            let (mut after, mut seen, mut limits) = (FeedPosition(0), 0, limits.into_iter().cycle());
            loop {
                let limit = limits.next().unwrap();
                let page = found(0, last, after.0, limit).page(after, limit).unwrap();
                prop_assert!(page.reached >= after && page.reached.0 <= last && page.entries.len() <= limit as usize);
                seen += page.entries.len();
                if !page.has_more {
                    break;
                }
                prop_assert!(page.reached > after, "a reader moves on");
                after = page.reached;
            }
            prop_assert_eq!(i64::try_from(seen).unwrap(), last / 2);
        }
    }
}
