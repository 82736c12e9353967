//! A metered API on three nodes: a monthly limit that they share, and a rate for each caller.

use std::collections::BTreeMap;

use kalends_quotas::{Lease, Period, Rate, RateDecision, RateState, SignedDuration, Take, Timestamp};

use crate::{Outcome, expect};

const LIMIT: u64 = 1_000;

/// The shared counters, one for each month. In a real service, this is a row that no debit raises above the limit.
#[derive(Default)]
struct Counters(BTreeMap<Period, u64>);

/// Whether a node may serve one more call.
fn admit(lease: &mut Lease, counters: &mut Counters, now: Timestamp) -> bool {
    loop {
        match lease.take(now, Some(LIMIT)) {
            Take::Spent(_) => return true,
            Take::Exhausted => return false,
            Take::Need { debit, refund } => {
                if let Some(refund) = refund {
                    *counters.0.entry(refund.period()).or_default() -= refund.amount();
                }
                let used = counters.0.entry(debit.period()).or_default();
                if !debit.fits(*used) {
                    lease.refused(debit, *used, now);
                    continue;
                }
                *used += debit.amount();
                if let Some(refund) = lease.granted(debit, *used) {
                    *counters.0.entry(refund.period()).or_default() -= refund.amount();
                }
            }
        }
    }
}

pub fn run() -> Outcome {
    let (mut counters, mut nodes) = (Counters::default(), [Lease::new(), Lease::new(), Lease::new()]);
    let last_of_march: Timestamp = "2027-03-31T23:10:00Z".parse()?;
    let mut served = BTreeMap::<Period, u64>::new();
    for call in 0..3_000 {
        // A call every two seconds. The month ends in the middle of the run.
        let now = last_of_march + SignedDuration::seconds(2 * call);
        let node = &mut nodes[usize::try_from(call % 3)?];
        *served.entry(Period::of(now)).or_default() += u64::from(admit(node, &mut counters, now));
    }
    let months: Vec<u64> = served.into_values().collect();
    println!("{months:?} calls were served, {LIMIT} a month are allowed");
    expect(&months, &vec![LIMIT, LIMIT])?;

    let (rate, mut state) = (Rate::per_minute(10), RateState::FRESH);
    let mut passed = 0;
    for second in 0..60 {
        let now = last_of_march + SignedDuration::seconds(second);
        if let RateDecision::Admitted { state: next, .. } = rate.decide(state, now) {
            state = next;
            passed += 1;
        }
    }
    // Ten at once, and then one every six seconds.
    println!("{passed} of 60 calls within a minute passed at 10 a minute");
    expect(&passed, &19)
}
