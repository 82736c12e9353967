//! The queue of one endpoint: when a worker may next serve it, and the claim under which a worker does so.
//!
//! A worker claims an endpoint, not single deliveries. So one process at a time sends to an endpoint, however many
//! processes run, and the number of deliveries in flight to it has an exact limit. The worker claims, reads the due
//! deliveries, sends, records under the number of its claim, and releases. Another worker may take over an expired
//! claim; the worker that lost it then records nothing. So a crash at any point loses nothing, and repeats at most
//! the deliveries in flight, under the same identifiers.

use kalends_kernel::{OrgId, WebhookId};
use kalends_time::{SignedDuration, Timestamp};

/// How long a claim lasts without being renewed. Each record renews it, and an attempt takes at most half this time.
/// The endpoints that a killed process had claimed wait this long.
pub const CLAIM_LASTS: SignedDuration = SignedDuration::seconds(30);

/// The number of a claim. A worker can only record with the queue's current number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fence(pub i64);

/// An endpoint that this worker serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Claim {
    /// The organization.
    pub org: OrgId,
    /// The endpoint.
    pub webhook: WebhookId,
    /// The number of the claim.
    pub fence: Fence,
    /// Whether the endpoint's last attempt was a failure when it was claimed.
    pub failing: bool,
}

/// How many more endpoints a worker can serve. Endpoints whose last attempt failed have places of their own, and there
/// should be fewer of these: an endpoint that hung may hang again, and then holds a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places {
    /// For endpoints with no known failure.
    pub sound: u32,
    /// For endpoints that fail.
    pub failing: u32,
}

impl Places {
    /// The same number of both kinds.
    pub const fn of(each: u32) -> Self {
        Self { sound: each, failing: each }
    }
}

/// The claim no longer holds. Nothing may be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("another worker has taken over the endpoint, or the endpoint was removed")]
pub struct ClaimLost;

/// The state of an endpoint's queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queue {
    /// When a worker may claim the endpoint; `None` if nothing is to be sent. While the endpoint is claimed, this is
    /// the end of the claim, so that the due queues are one range of an index.
    pub due_at: Option<Timestamp>,
    /// The end of a worker's claim; `None` if no worker has one.
    pub claimed_until: Option<Timestamp>,
    /// The number of the last claim.
    pub fence: Fence,
}

impl Queue {
    /// The queue of a new endpoint.
    pub const EMPTY: Self = Self { due_at: None, claimed_until: None, fence: Fence(0) };

    /// Whether a worker serves the endpoint.
    pub fn is_served(&self, now: Timestamp) -> bool {
        self.claimed_until.is_some_and(|until| now < until)
    }

    /// Claims the endpoint for [`CLAIM_LASTS`]. Returns `None` if nothing is due or another worker has it. The fence
    /// of the new state is that of the claim.
    pub fn claim(&self, now: Timestamp) -> Option<Self> {
        self.due_at.filter(|due| *due <= now)?;
        let until = Some(now + CLAIM_LASTS);
        Some(Self { due_at: until, claimed_until: until, fence: Fence(self.fence.0 + 1) })
    }

    /// Extends the claim.
    ///
    /// A claim is identified by its number alone: an expired claim can still record, unless another worker has taken
    /// over.
    ///
    /// # Errors
    /// [`ClaimLost`].
    pub fn renew(&self, fence: Fence, now: Timestamp) -> Result<Self, ClaimLost> {
        self.holds(fence)?;
        let until = Some(now + CLAIM_LASTS);
        Ok(Self { due_at: until, claimed_until: until, ..*self })
    }

    /// Gives up the claim. `next` is the earliest attempt of the pending deliveries at that time, looked up in the
    /// same transaction.
    ///
    /// # Errors
    /// [`ClaimLost`].
    pub fn release(&self, fence: Fence, next: Option<Timestamp>) -> Result<Self, ClaimLost> {
        self.holds(fence)?;
        Ok(Self { due_at: next, claimed_until: None, fence })
    }

    /// Makes the queue due, because something is to be sent at once. If a worker serves the endpoint, nothing changes:
    /// that worker finds the delivery anyway, at the latest when it releases its claim.
    #[must_use]
    pub fn wake(&self, now: Timestamp) -> Self {
        if self.is_served(now) {
            return *self;
        }
        Self { due_at: Some(self.due_at.map_or(now, |due| due.min(now))), ..*self }
    }

    fn holds(&self, fence: Fence) -> Result<(), ClaimLost> {
        // A released queue has no claim, whatever its number.
        if self.fence == fence && self.claimed_until.is_some() { Ok(()) } else { Err(ClaimLost) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const START: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    #[test]
    fn a_claim_that_was_taken_over_records_nothing() {
        let first = Queue::EMPTY.wake(START).claim(START).unwrap();
        assert_eq!(first.claim(START), None, "one worker at a time");
        assert_eq!(first.wake(START).claim(START), None, "whatever is added during the claim");
        let later = START + CLAIM_LASTS;
        let second = first.claim(later).unwrap();
        assert_eq!(second.renew(first.fence, later), Err(ClaimLost));
        assert_eq!(second.release(first.fence, None), Err(ClaimLost));
        let released = second.release(second.fence, None).unwrap();
        assert_eq!(released.renew(second.fence, later), Err(ClaimLost), "the claim was released");
        assert_eq!(released.claim(later), None, "nothing is due");
    }

    #[test]
    fn a_late_worker_records_unless_another_took_over() {
        let claimed = Queue::EMPTY.wake(START).claim(START).unwrap();
        assert!(claimed.renew(claimed.fence, START + CLAIM_LASTS + SignedDuration::hours(1)).is_ok());
    }

    #[derive(Debug, Clone)]
    enum Step {
        /// A message is addressed to the endpoint.
        Add,
        Claim(usize),
        /// A worker sends one of the deliveries that it read, and records the outcome: delivered, or to be repeated
        /// after this time.
        Record(usize, Option<i64>),
        /// A worker is killed, before or after it has sent.
        Crash(usize),
        Release(usize),
        Wait(i64),
        UntilDue,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let worker = || 0usize..3;
        let step = prop_oneof![
            6 => Just(Step::Add),
            10 => worker().prop_map(Step::Claim),
            10 => (worker(), prop::option::of(1i64..100_000_000)).prop_map(|(worker, wait)| Step::Record(worker, wait)),
            2 => worker().prop_map(Step::Crash),
            5 => worker().prop_map(Step::Release),
            4 => (0i64..120_000_000).prop_map(Step::Wait),
            4 => Just(Step::UntilDue),
        ];
        prop::collection::vec(step, 1..160)
    }

    proptest! {
        /// If three workers compete for an endpoint, one at a time serves it, and no delivery is lost.
        #[test]
        fn one_worker_serves_and_nothing_is_lost(steps in steps()) {
            let (mut queue, mut now) = (Queue::EMPTY, START);
            let mut pending: Vec<Timestamp> = Vec::new();
            let mut claims: [Option<Fence>; 3] = [None; 3];
            let mut server: Option<Fence> = None;
            for step in steps {
                let before = queue;
                match step {
                    Step::Add => {
                        pending.push(now);
                        queue = queue.wake(now);
                    }
                    Step::Claim(worker) => {
                        let claimed = queue.claim(now);
                        if server.is_some() && queue.is_served(now) {
                            prop_assert_eq!(claimed, None, "one at a time");
                        }
                        if let Some(claimed) = claimed {
                            prop_assert!(claimed.fence > queue.fence);
                            claims[worker] = Some(claimed.fence);
                            server = Some(claimed.fence);
                            queue = claimed;
                        }
                    }
                    Step::Record(worker, wait) => {
                        let Some(fence) = claims[worker] else { continue };
                        let renewed = queue.renew(fence, now);
                        prop_assert_eq!(renewed.is_ok(), server == Some(fence), "a lost claim records nothing");
                        let Ok(renewed) = renewed else { continue };
                        queue = renewed;
                        if let Some(place) = pending.iter().position(|next| *next <= now) {
                            match wait {
                                None => { pending.swap_remove(place); }
                                Some(wait) => pending[place] = now + SignedDuration::micros(wait),
                            }
                        }
                    }
                    Step::Crash(worker) => claims[worker] = None,
                    Step::Release(worker) => {
                        let Some(fence) = claims[worker].take() else { continue };
                        let released = queue.release(fence, pending.iter().min().copied());
                        prop_assert_eq!(released.is_ok(), server == Some(fence));
                        if let Ok(released) = released {
                            server = None;
                            queue = released;
                        }
                    }
                    Step::Wait(micros) => now = now + SignedDuration::micros(micros),
                    Step::UntilDue => now = now.max(queue.due_at.unwrap_or(now)),
                }
                prop_assert!(queue.fence >= before.fence, "numbers only increase");
                // Nothing is lost: the queue becomes due when a pending delivery does, or when a dead worker's claim
                // ends.
                if let Some(next) = pending.iter().min() {
                    let due = queue.due_at.expect("a pending delivery has a due time");
                    let latest = queue.claimed_until.map_or(*next, |until| until.max(*next));
                    prop_assert!(due <= latest);
                }
            }
        }
    }
}
