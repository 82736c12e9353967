//! The readers of change feeds that wait on this node.
//!
//! A waiting reader is a place in memory. It asks the database nothing until its organization changes: a commit of this
//! node wakes it at once, and one poll for all organizations that are waited for finds the commits of other nodes.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use kalends_kernel::OrgId;
use kalends_notifications::FeedPosition;
use tokio::{
    sync::{Mutex as Turns, MutexGuard as Turn, watch},
    time::{Instant, timeout_at},
};

use crate::ports::RateKey;

/// How many readers of one key wait on one node at a time.
pub(crate) const WAITS_OF_KEY: usize = 10;
/// How many readers wait on one node at a time, of all organizations. Any more are answered at once.
const WAITS_OF_NODE: usize = 20_000;

/// The key has [`WAITS_OF_KEY`] waiting readers already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooManyWaits;

/// The readers that wait.
#[derive(Clone, Default)]
pub(crate) struct FeedWaits(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// How many readers wait. It spares commits the lock while nobody does.
    readers: AtomicUsize,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    organizations: HashMap<OrgId, Waited>,
    keys: HashMap<RateKey, usize>,
    /// The node stops: nobody waits any more.
    closed: bool,
}

/// An organization that is waited for.
struct Waited {
    shared: Arc<OfOrganization>,
    /// How many readers wait for it.
    readers: usize,
}

/// What the waiting readers of one organization share.
struct OfOrganization {
    signal: watch::Sender<Signal>,
    /// Woken readers take turns, so that those of one organization use one connection to the database at a time.
    turns: Turns<()>,
}

/// What waiting readers learn.
#[derive(Debug, Clone, Copy)]
struct Signal {
    /// Rises whenever there may be something to read for all of them.
    times: u64,
    /// The furthest end of the feed that the poll saw. It matters only to readers that have not read so far.
    end: FeedPosition,
}

/// A reader that waits. Dropping it frees its place.
pub(crate) struct Wait {
    waits: FeedWaits,
    org: OrgId,
    key: RateKey,
    shared: Arc<OfOrganization>,
    signal: watch::Receiver<Signal>,
    /// The [`Signal::times`] that this reader knows.
    times: u64,
    /// The end of the feed that this reader knows. Other readers of the organization may know another one.
    seen: FeedPosition,
}

impl FeedWaits {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a reader. Whatever changes after this wakes it. `None` if the node has no place or stops; then the
    /// reader is to be answered at once.
    pub(crate) fn enter(&self, org: OrgId, key: RateKey) -> Result<Option<Wait>, TooManyWaits> {
        let mut waiting = self.waiting();
        let of_key = waiting.keys.get(&key).copied().unwrap_or(0);
        if of_key >= WAITS_OF_KEY {
            return Err(TooManyWaits);
        }
        if waiting.closed || self.0.readers.load(Ordering::Relaxed) >= WAITS_OF_NODE {
            return Ok(None);
        }
        waiting.keys.insert(key, of_key + 1);
        let waited = waiting.organizations.entry(org).or_insert_with(|| {
            let signal = watch::Sender::new(Signal { times: 0, end: FeedPosition(0) });
            Waited { shared: Arc::new(OfOrganization { signal, turns: Turns::new(()) }), readers: 0 }
        });
        waited.readers += 1;
        let (shared, signal) = (Arc::clone(&waited.shared), waited.shared.signal.subscribe());
        let times = signal.borrow().times;
        self.0.readers.fetch_add(1, Ordering::SeqCst);
        drop(waiting);
        Ok(Some(Wait { waits: self.clone(), org, key, shared, signal, times, seen: FeedPosition(0) }))
    }

    /// Wakes the readers of an organization, after a commit of this node.
    pub(crate) fn wake(&self, org: OrgId) {
        if self.0.readers.load(Ordering::SeqCst) == 0 {
            return;
        }
        if let Some(waited) = self.waiting().organizations.get(&org) {
            waited.shared.wake();
        }
    }

    /// The organizations that are waited for.
    pub(crate) fn organizations(&self) -> Vec<OrgId> {
        if self.0.readers.load(Ordering::SeqCst) == 0 {
            return Vec::new();
        }
        self.waiting().organizations.keys().copied().collect()
    }

    /// Wakes those readers of an organization that do not know yet how far its feed has come.
    pub(crate) fn has_come_to(&self, org: OrgId, end: FeedPosition) {
        if let Some(waited) = self.waiting().organizations.get(&org) {
            waited.shared.comes_to(end);
        }
    }

    /// Whether nobody waits any more, because the node stops.
    pub(crate) fn have_ended(&self) -> bool {
        self.waiting().closed
    }

    /// Wakes all readers for good.
    pub(crate) fn close(&self) {
        let mut waiting = self.waiting();
        waiting.closed = true;
        waiting.organizations.values().for_each(|waited| waited.shared.wake());
    }
}

impl OfOrganization {
    fn wake(&self) {
        self.signal.send_modify(|signal| signal.times = signal.times.wrapping_add(1));
    }

    /// Notes the end of the feed that the poll saw. If it is a new one, each reader compares it with what it has seen.
    fn comes_to(&self, end: FeedPosition) {
        self.signal.send_if_modified(|signal| {
            let is_further = end > signal.end;
            signal.end = end.max(signal.end);
            is_further
        });
    }
}

impl Wait {
    /// Notes the end of the feed that this reader has seen, so that the poll does not wake it for that.
    pub(crate) fn has_seen(&mut self, end: FeedPosition) {
        self.seen = end.max(self.seen);
    }

    /// Waits until something may have changed since the last call, or since the reader entered, but not after `until`.
    /// Returns whether it is worth reading again.
    pub(crate) async fn until_woken(&mut self, until: Instant) -> bool {
        loop {
            let signal = *self.signal.borrow_and_update();
            if signal.times != self.times || signal.end > self.seen {
                self.times = signal.times;
                self.has_seen(signal.end);
                return !self.waits.have_ended();
            }
            if !matches!(timeout_at(until, self.signal.changed()).await, Ok(Ok(()))) {
                return false;
            }
        }
    }

    /// Waits until no other woken reader of the organization reads.
    pub(crate) async fn turn(&self) -> Turn<'_, ()> {
        self.shared.turns.lock().await
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        let mut waiting = self.waits.waiting();
        if let Some(of_key) = waiting.keys.get_mut(&self.key) {
            *of_key -= 1;
            if *of_key == 0 {
                waiting.keys.remove(&self.key);
            }
        }
        if let Some(waited) = waiting.organizations.get_mut(&self.org) {
            waited.readers -= 1;
            if waited.readers == 0 {
                waiting.organizations.remove(&self.org);
            }
        }
        self.waits.0.readers.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::FutureExt as _;
    use kalends_kernel::KeyId;

    use super::*;

    const ORG: OrgId = OrgId::from_bytes([1; 16]);
    const OTHER: OrgId = OrgId::from_bytes([2; 16]);

    fn key(number: u8) -> RateKey {
        RateKey::Key(KeyId::from_bytes([number; 16]))
    }

    fn enter(waits: &FeedWaits, org: OrgId) -> Wait {
        waits.enter(org, key(1)).unwrap().unwrap()
    }

    fn later() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[tokio::test(start_paused = true)]
    async fn a_commit_wakes_the_readers_of_its_organization() {
        let waits = FeedWaits::default();
        let (mut ours, mut theirs) = (enter(&waits, ORG), enter(&waits, OTHER));
        waits.wake(ORG);
        assert_eq!(ours.until_woken(later()).now_or_never(), Some(true), "what came before the wait is not missed");
        assert_eq!(ours.until_woken(later()).now_or_never(), None);
        assert_eq!(theirs.until_woken(later()).now_or_never(), None);
        assert!(!theirs.until_woken(later()).await, "the wait ends");
    }

    #[tokio::test(start_paused = true)]
    async fn the_poll_wakes_only_those_who_do_not_know() {
        let waits = FeedWaits::default();
        let mut reader = enter(&waits, ORG);
        reader.has_seen(FeedPosition(7));
        waits.has_come_to(ORG, FeedPosition(7));
        waits.has_come_to(OTHER, FeedPosition(9));
        assert_eq!(reader.until_woken(later()).now_or_never(), None);
        waits.has_come_to(ORG, FeedPosition(8));
        waits.has_come_to(ORG, FeedPosition(8));
        assert_eq!(reader.until_woken(later()).now_or_never(), Some(true));
        assert_eq!(reader.until_woken(later()).now_or_never(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn what_one_reader_has_seen_is_news_to_another() {
        let waits = FeedWaits::default();
        let (mut one, mut other) = (enter(&waits, ORG), enter(&waits, ORG));
        one.has_seen(FeedPosition(7));
        other.has_seen(FeedPosition(7));
        one.has_seen(FeedPosition(8));
        waits.has_come_to(ORG, FeedPosition(8));
        assert_eq!(one.until_woken(later()).now_or_never(), None);
        assert_eq!(other.until_woken(later()).now_or_never(), Some(true));
        assert_eq!(other.until_woken(later()).now_or_never(), None);
    }

    #[test]
    fn a_key_has_a_limited_number_of_places_and_frees_them() {
        let waits = FeedWaits::default();
        let mut held: Vec<Wait> = (0..WAITS_OF_KEY).map(|_| enter(&waits, ORG)).collect();
        assert!(matches!(waits.enter(ORG, key(1)), Err(TooManyWaits)));
        assert!(waits.enter(ORG, key(2)).is_ok_and(|wait| wait.is_some()), "another key has its own");
        held.pop();
        held.push(enter(&waits, OTHER));
        assert_eq!(waits.organizations().len(), 2);
        drop(held);
        assert!(waits.organizations().is_empty());
        assert!(waits.waiting().keys.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn all_waits_end_when_the_node_stops() {
        let waits = FeedWaits::default();
        let mut reader = enter(&waits, ORG);
        waits.close();
        assert!(!reader.until_woken(later()).await);
        assert!(waits.enter(ORG, key(1)).unwrap().is_none());
    }
}
