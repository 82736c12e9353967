//! The change feeds of organizations.

use std::sync::atomic::Ordering;

use async_trait::async_trait;
use kalends_app::ChangeSet;
use kalends_kernel::{OrgId, StoreError};
use kalends_notifications::{
    FEED_PAGE_BYTES, FeedEntry, FeedHead, FeedPosition, FeedRead, WantedTypes, ports::ChangeFeeds,
};
use kalends_time::Timestamp;

use super::{MemoryStore, account_data::remove, state::State};

#[async_trait]
impl ChangeFeeds for MemoryStore {
    async fn start_feed(&self, org: OrgId, now: Timestamp) -> Result<Option<FeedPosition>, StoreError> {
        Ok(self.write(|state| {
            state.organizations.get(&org)?;
            let begin = FeedPosition(now.as_micros());
            let head = state.feed_heads.entry(org).or_insert(FeedHead { first: begin, last: begin, read_at: now });
            head.read_at = head.read_at.max(now);
            Some(head.last)
        }))
    }

    async fn read_changes(
        &self,
        org: OrgId,
        after: FeedPosition,
        types: &WantedTypes,
        limit: u32,
    ) -> Result<Option<FeedRead>, StoreError> {
        self.change_feed_reads.fetch_add(1, Ordering::Relaxed);
        let state = self.state();
        let Some(head) = state.feed_heads.get(&org).copied() else { return Ok(None) };
        let until = after.looked_on().min(head.last);
        let of_org = state
            .feed_entries
            .iter()
            .filter(|((by, position), _)| *by == org && *position > after && *position <= until);
        let wanted = of_org.filter(|(_, entry)| types.wants(entry.change_type));
        let mut entries: Vec<_> =
            wanted.take(limit as usize).map(|((_, position), entry)| (*position, entry.clone())).collect();
        let (found, mut weight) = (entries.len(), 0);
        let fits = entries.iter().take_while(|(_, entry)| {
            let fits = weight < FEED_PAGE_BYTES;
            weight += entry.body.len();
            fits
        });
        let kept = fits.count();
        entries.truncate(kept);
        Ok(Some(FeedRead { head, entries, more: kept < found }))
    }

    async fn feed_ends(&self, orgs: &[OrgId]) -> Result<Vec<(OrgId, FeedPosition)>, StoreError> {
        self.change_feed_reads.fetch_add(1, Ordering::Relaxed);
        let state = self.state();
        Ok(orgs.iter().filter_map(|org| Some((*org, state.feed_heads.get(org)?.last))).collect())
    }

    async fn forget_changes(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        Ok(self.write(|state| {
            let old = state.feed_entries.iter().filter(|(_, entry)| entry.created_at < before);
            let old: Vec<(OrgId, FeedPosition)> = old.map(|(key, _)| *key).take(limit as usize).collect();
            for (org, position) in &old {
                if let Some(head) = state.feed_heads.get_mut(org) {
                    head.first = head.first.max(*position);
                }
                state.feed_entries.remove(&(*org, *position));
            }
            old.len() as u64
        }))
    }

    async fn end_unread_feeds(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        Ok(self.write(|state| remove!(state.feed_heads, limit, |(_, head)| head.read_at < before)))
    }
}

impl State {
    /// Adds the entries of the change-set, if the organization has a feed.
    pub(super) fn append_to_feed(&mut self, changes: &ChangeSet) {
        let of_messages = changes.messages.iter().filter_map(FeedEntry::of_message);
        for entry in of_messages.chain(changes.entries.iter().cloned()) {
            let Some(head) = self.feed_heads.get_mut(&entry.org) else { continue };
            head.last = FeedPosition(head.last.0 + 1);
            self.feed_entries.insert((entry.org, head.last), entry);
        }
    }
}
