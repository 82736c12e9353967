//! `kalends-quotas` on your own storage: two nodes of a service count calls against one monthly limit.
//!
//! The shared counter belongs to the program. Here it is a number behind a lock; in production, it would be a row that
//! is never raised above the limit. Each node spends units from a lease, so a call costs no write, and the total never
//! exceeds the limit.

use std::{
    error::Error,
    sync::{Mutex, PoisonError},
};

use kalends_quotas::{Debit, Lease, Rate, RateDecision, RateState, Take};
use kalends_time::{SignedDuration, Timestamp};

const LIMIT: u64 = 5_000;

/// The units charged in this month.
#[derive(Default)]
struct Counter(Mutex<u64>);

impl Counter {
    /// Adds the debit if the sum stays at or below its ceiling. Returns whether it did, and the charged units.
    fn debit(&self, debit: &Debit) -> (bool, u64) {
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = debit.fits(*used);
        if fits {
            *used += debit.amount();
        }
        (fits, *used)
    }

    fn give_back(&self, amount: u64) {
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *used = used.saturating_sub(amount);
    }
}

/// One node of the service.
#[derive(Default)]
struct Node {
    lease: Lease,
}

impl Node {
    /// Whether one more call is admitted.
    fn admit(&mut self, counter: &Counter, now: Timestamp) -> bool {
        loop {
            match self.lease.take(now, Some(LIMIT)) {
                Take::Spent(_) => return true,
                Take::Exhausted => return false,
                Take::Need { debit, refund } => {
                    if let Some(refund) = refund {
                        counter.give_back(refund.amount());
                    }
                    let (fits, used) = counter.debit(&debit);
                    if !fits {
                        self.lease.refused(debit, used, now);
                    } else if let Some(refund) = self.lease.granted(debit, used) {
                        counter.give_back(refund.amount());
                    }
                }
            }
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (counter, mut nodes) = (Counter::default(), [Node::default(), Node::default()]);
    let mut now: Timestamp = "2027-03-15T12:00:00Z".parse()?;
    let mut served = 0;
    for call in 0..2 * LIMIT {
        now = now + SignedDuration::seconds(1);
        let node = &mut nodes[usize::try_from(call % 3)?.min(1)];
        served += u64::from(node.admit(&counter, now));
    }
    println!("{served} of {} calls were served, {LIMIT} a month are allowed", 2 * LIMIT);
    if served != LIMIT {
        return Err(format!("{served} of {LIMIT}").into());
    }

    // A caller's rate is a separate number, which any store can keep.
    let (rate, mut state) = (Rate::per_second(5), RateState::FRESH);
    let mut passed = 0;
    for _ in 0..20 {
        if let RateDecision::Admitted { state: next, .. } = rate.decide(state, now) {
            state = next;
            passed += 1;
        }
    }
    println!("{passed} of 20 calls at once passed at 5 a second");
    if passed == 5 { Ok(()) } else { Err(format!("{passed} passed").into()) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_example_runs() {
        super::main().unwrap();
    }
}
