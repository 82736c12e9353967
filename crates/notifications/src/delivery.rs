//! One message on its way to one endpoint: a state machine, and the claim under which a worker sends it
//! (rulings 7.3 and 7.4).
//!
//! A worker claims what is due, commits, sends, and records under the token of its claim. A claim that has
//! run out may be taken over by another worker; whoever lost it records nothing. So a crash at any point
//! loses nothing, and repeats at most what was in flight, under the same identifier.

use kalends_kernel::{Elapsed, Instant};

use crate::{Outcome, wait_after};

/// How long a claim holds: an attempt and time to record it.
pub const CLAIM_LASTS: Elapsed = Elapsed::seconds(60);

/// Where a delivery stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeliveryStatus {
    /// It is to be sent, or sent again.
    Pending,
    /// The receiver has it.
    Delivered,
    /// It was given up.
    Failed,
    /// It was never sent: the quota of the month was used up.
    Skipped,
}

impl DeliveryStatus {
    /// Every status.
    pub const ALL: [Self; 4] = [Self::Pending, Self::Delivered, Self::Failed, Self::Skipped];

    /// The name in answers and stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }

    /// The status of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }
}

/// The number of a claim: whoever records must bring the delivery's present one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fence(pub i64);

/// How a delivery stands. What is sent, and to whom, is kept beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliveryState {
    /// Where it stands.
    pub status: DeliveryStatus,
    /// How many attempts were recorded.
    pub attempts: u32,
    /// When the last one ended.
    pub last_attempt_at: Option<Instant>,
    /// When the next one is due; only while it is pending.
    pub next_attempt_at: Option<Instant>,
    /// The status of the last answer, if there was one.
    pub response_status: Option<u16>,
    /// The number of the last claim.
    pub fence: Fence,
    /// Until when that claim holds; `None` where nobody has one.
    pub claimed_until: Option<Instant>,
}

/// The claim does not hold any more; nothing is to be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("another worker has taken the delivery over, or it was changed meanwhile")]
pub struct ClaimLost;

/// A delivery that cannot be sent again now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the delivery is being sent at this moment; look at its outcome first")]
pub struct BeingSent;

impl DeliveryState {
    const NEW: Self = Self {
        status: DeliveryStatus::Pending,
        attempts: 0,
        last_attempt_at: None,
        next_attempt_at: None,
        response_status: None,
        fence: Fence(0),
        claimed_until: None,
    };

    /// A message that is to be sent at once.
    pub const fn queued(now: Instant) -> Self {
        Self { next_attempt_at: Some(now), ..Self::NEW }
    }

    /// A message over the quota: stored, and not sent.
    pub const fn skipped() -> Self {
        Self { status: DeliveryStatus::Skipped, ..Self::NEW }
    }

    /// From when on a worker may claim it: `None` where nothing is to be sent. Stores keep it as a column,
    /// so that what is due is one range of an index.
    pub fn due_at(&self) -> Option<Instant> {
        let next = self.next_attempt_at?;
        Some(self.claimed_until.map_or(next, |until| until.max(next)))
    }

    /// Whether a worker is sending it.
    pub fn is_claimed(&self, now: Instant) -> bool {
        self.claimed_until.is_some_and(|until| now < until)
    }

    /// Claims it for [`CLAIM_LASTS`]; `None` where it is not due or another worker has it. The new state's
    /// fence is the claim's.
    pub fn claim(&self, now: Instant) -> Option<Self> {
        self.due_at().filter(|due| *due <= now)?;
        Some(Self { fence: Fence(self.fence.0 + 1), claimed_until: Some(now + CLAIM_LASTS), ..*self })
    }

    /// Gives the claim up without an attempt, so that another worker may send it at once: for a shutdown.
    ///
    /// # Errors
    /// [`ClaimLost`].
    pub fn release(&self, fence: Fence) -> Result<Self, ClaimLost> {
        self.holds(fence)?;
        Ok(Self { claimed_until: None, ..*self })
    }

    /// Records an attempt that ended at `now`; `random` spreads the next one.
    ///
    /// The claim is known by its number alone: one that has run out still records, unless another worker has
    /// taken over.
    ///
    /// # Errors
    /// [`ClaimLost`].
    pub fn record(&self, fence: Fence, outcome: Outcome, now: Instant, random: [u8; 4]) -> Result<Self, ClaimLost> {
        self.holds(fence)?;
        let attempts = self.attempts.saturating_add(1);
        let (status, wait) = match outcome {
            Outcome::Accepted(_) => (DeliveryStatus::Delivered, None),
            Outcome::Gone => (DeliveryStatus::Failed, None),
            Outcome::Refused(_) | Outcome::Unanswered => match wait_after(attempts, random) {
                Some(wait) => (DeliveryStatus::Pending, Some(wait)),
                None => (DeliveryStatus::Failed, None),
            },
        };
        Ok(Self {
            status,
            attempts,
            last_attempt_at: Some(now),
            next_attempt_at: wait.map(|wait| now + wait),
            response_status: outcome.status(),
            fence: self.fence,
            claimed_until: None,
        })
    }

    /// Gives it up without an attempt: its endpoint was deleted or switched off meanwhile.
    ///
    /// # Errors
    /// [`ClaimLost`].
    pub fn abandon(&self, fence: Fence) -> Result<Self, ClaimLost> {
        self.holds(fence)?;
        Ok(Self { status: DeliveryStatus::Failed, next_attempt_at: None, claimed_until: None, ..*self })
    }

    /// Sends it (again) at once, because somebody asks: what waits does not wait longer, and what was
    /// delivered, given up or skipped gets one more attempt, followed by those that are left of the
    /// schedule. A skipped one has to be charged first.
    ///
    /// # Errors
    /// [`BeingSent`].
    pub fn retry(&self, now: Instant) -> Result<Self, BeingSent> {
        if self.is_claimed(now) {
            return Err(BeingSent);
        }
        // The number rises, so that a worker that lost its claim long ago cannot record on this attempt.
        let fence = Fence(self.fence.0 + 1);
        Ok(Self { status: DeliveryStatus::Pending, next_attempt_at: Some(now), claimed_until: None, fence, ..*self })
    }

    fn holds(&self, fence: Fence) -> Result<(), ClaimLost> {
        // A recorded or released delivery has no claim, whatever its number.
        if self.fence == fence && self.claimed_until.is_some() { Ok(()) } else { Err(ClaimLost) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::SCHEDULE;

    const START: Instant = Instant::from_micros(1_800_000_000_000_000);

    #[test]
    fn a_delivery_fails_after_nine_attempts() {
        let (mut state, mut now) = (DeliveryState::queued(START), START);
        for attempt in 1..=9 {
            assert_eq!((state.status, state.attempts), (DeliveryStatus::Pending, attempt - 1));
            now = state.due_at().unwrap();
            assert_eq!(state.claim(now - Elapsed::micros(1)), None, "not before it is due");
            let claimed = state.claim(now).unwrap();
            state = claimed.record(claimed.fence, Outcome::Refused(503), now, [0x80; 4]).unwrap();
        }
        assert_eq!((state.status, state.attempts), (DeliveryStatus::Failed, 9));
        assert_eq!((state.due_at(), state.response_status), (None, Some(503)));
        let planned = SCHEDULE.iter().map(|wait| wait.as_micros()).sum::<i64>();
        let took = (now - START).as_micros();
        assert!(took * 10 > planned * 9 && took * 10 < planned * 11);
    }

    #[test]
    fn gone_is_final() {
        let claimed = DeliveryState::queued(START).claim(START).unwrap();
        let failed = claimed.record(claimed.fence, Outcome::Gone, START, [0; 4]).unwrap();
        assert_eq!((failed.status, failed.due_at()), (DeliveryStatus::Failed, None));
    }

    #[test]
    fn a_claim_that_was_taken_over_records_nothing() {
        let first = DeliveryState::queued(START).claim(START).unwrap();
        assert_eq!(first.claim(START), None, "one worker at a time");
        let later = START + CLAIM_LASTS;
        let second = first.claim(later).unwrap();
        assert_eq!(second.record(first.fence, Outcome::Accepted(200), later, [0; 4]), Err(ClaimLost));
        let delivered = second.record(second.fence, Outcome::Accepted(204), later, [0; 4]).unwrap();
        assert_eq!((delivered.status, delivered.attempts), (DeliveryStatus::Delivered, 1));
        assert_eq!(delivered.record(second.fence, Outcome::Unanswered, later, [0; 4]), Err(ClaimLost), "once");
    }

    #[test]
    fn a_late_worker_records_while_nobody_took_over() {
        let claimed = DeliveryState::queued(START).claim(START).unwrap();
        let late = START + CLAIM_LASTS + Elapsed::hours(1);
        assert!(claimed.record(claimed.fence, Outcome::Accepted(200), late, [0; 4]).is_ok());
    }

    #[test]
    fn whoever_asks_gets_one_more_attempt() {
        let claimed = DeliveryState::queued(START).claim(START).unwrap();
        assert_eq!(claimed.retry(START), Err(BeingSent));
        let failed = DeliveryState {
            status: DeliveryStatus::Failed,
            attempts: 9,
            next_attempt_at: None,
            ..DeliveryState::queued(START)
        };
        for state in [failed, DeliveryState::skipped()] {
            let again = state.retry(START).unwrap();
            assert_eq!((again.status, again.due_at()), (DeliveryStatus::Pending, Some(START)));
        }
        let again = failed.retry(START).unwrap().claim(START).unwrap();
        let failed = again.record(again.fence, Outcome::Unanswered, START, [0; 4]).unwrap();
        assert_eq!((failed.status, failed.attempts), (DeliveryStatus::Failed, 10));
        let lost = claimed.retry(START + CLAIM_LASTS).unwrap();
        assert_eq!(lost.record(claimed.fence, Outcome::Accepted(200), START, [0; 4]), Err(ClaimLost));
    }

    #[test]
    fn names_round_trip() {
        for status in DeliveryStatus::ALL {
            assert_eq!(DeliveryStatus::from_name(status.as_str()), Some(status));
        }
        assert_eq!(DeliveryStatus::from_name("Pending"), None);
    }

    #[derive(Debug, Clone)]
    enum Step {
        Claim(usize),
        /// A worker's attempt ends; the receiver saw it in any case.
        Record(usize, Outcome),
        /// A worker is killed, before or after it has sent.
        Crash(usize),
        Release(usize),
        Abandon(usize),
        Retry,
        Wait(i64),
        UntilDue,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let worker = || 0usize..3;
        let outcome = prop_oneof![
            2 => Just(Outcome::Accepted(200)),
            1 => Just(Outcome::Gone),
            6 => Just(Outcome::Refused(500)),
            3 => Just(Outcome::Unanswered),
        ];
        let step = prop_oneof![
            12 => worker().prop_map(Step::Claim),
            12 => (worker(), outcome).prop_map(|(worker, outcome)| Step::Record(worker, outcome)),
            2 => worker().prop_map(Step::Crash),
            1 => worker().prop_map(Step::Release),
            1 => worker().prop_map(Step::Abandon),
            1 => Just(Step::Retry),
            4 => (0i64..120_000_000).prop_map(Step::Wait),
            6 => Just(Step::UntilDue),
        ];
        prop::collection::vec(step, 1..120)
    }

    proptest! {
        /// Three workers and one delivery, against a model that keeps nothing but who sends.
        #[test]
        fn workers_never_record_twice(steps in steps()) {
            let (mut state, mut now) = (DeliveryState::queued(START), START);
            // The model: each worker's claim and when it was made; who made the last; what was recorded.
            let mut claims: [Option<(Fence, Instant)>; 3] = [None; 3];
            let mut holder: Option<Fence> = None;
            let mut recorded = 0;
            for step in steps {
                let before = state;
                match step {
                    Step::Claim(worker) => {
                        let free = holder.is_none_or(|_| state.claimed_until.is_some_and(|until| until <= now));
                        let due = state.status == DeliveryStatus::Pending
                            && state.next_attempt_at.is_some_and(|next| next <= now);
                        let claimed = state.claim(now);
                        prop_assert_eq!(claimed.is_some(), free && due);
                        if let Some(claimed) = claimed {
                            prop_assert!(claimed.fence > state.fence);
                            claims[worker] = Some((claimed.fence, now));
                            holder = Some(claimed.fence);
                            state = claimed;
                        }
                    }
                    Step::Record(worker, outcome) => {
                        let Some((fence, _)) = claims[worker].take() else { continue };
                        let random = [u8::try_from(worker).unwrap() * 90; 4];
                        let done = state.record(fence, outcome, now, random);
                        prop_assert_eq!(done.is_ok(), holder == Some(fence));
                        if let Ok(done) = done {
                            recorded += 1;
                            holder = None;
                            prop_assert_eq!(done.response_status, outcome.status());
                            prop_assert_eq!(done.status == DeliveryStatus::Delivered, outcome.is_success());
                            state = done;
                        }
                    }
                    Step::Crash(worker) => claims[worker] = None,
                    Step::Release(worker) => {
                        let Some((fence, _)) = claims[worker].take() else { continue };
                        let released = state.release(fence);
                        prop_assert_eq!(released.is_ok(), holder == Some(fence));
                        if let Ok(released) = released {
                            holder = None;
                            state = released;
                            prop_assert_eq!(state.due_at(), before.next_attempt_at);
                        }
                    }
                    Step::Abandon(worker) => {
                        let Some((fence, _)) = claims[worker].take() else { continue };
                        let abandoned = state.abandon(fence);
                        prop_assert_eq!(abandoned.is_ok(), holder == Some(fence));
                        if let Ok(abandoned) = abandoned {
                            holder = None;
                            state = abandoned;
                            prop_assert_eq!(state.status, DeliveryStatus::Failed);
                        }
                    }
                    Step::Retry => {
                        let again = state.retry(now);
                        prop_assert_eq!(again.is_ok(), !state.is_claimed(now));
                        if let Ok(again) = again {
                            holder = None;
                            state = again;
                        }
                    }
                    Step::Wait(micros) => now = now + Elapsed::micros(micros),
                    Step::UntilDue => now = now.max(state.due_at().unwrap_or(now)),
                }
                prop_assert_eq!(state.attempts, recorded, "what is recorded is counted once");
                prop_assert!(state.fence >= before.fence, "numbers only rise");
                prop_assert_eq!(state.next_attempt_at.is_some(), state.status == DeliveryStatus::Pending);
                prop_assert_eq!(state.claimed_until.is_some(), holder.is_some());
                prop_assert!(state.attempts < 9 || state.status != DeliveryStatus::Pending || state.next_attempt_at <= Some(now));
            }
            // Nothing is lost: whatever happened, a pending delivery can be sent in the end.
            if state.status == DeliveryStatus::Pending {
                let due = state.due_at().unwrap();
                prop_assert!(state.claim(due).is_some());
            }
        }
    }
}
