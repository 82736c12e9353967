//! Tests the lease against a model with several nodes, one counter, overlapping exchanges and crashes.

use kalends_time::testing::any_timestamp;
use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::testing::{Cluster, Counter, Exchange, NODES, any_number, limits, month, spend, steps};

#[rstest]
#[case::unlimited(None, 1 << 40, 1_000)]
#[case::far(Some(1_000_000), 0, 1_000)]
#[case::a_sixteenth(Some(1_000), 0, 58)]
#[case::near(Some(1_000), 904, 2)]
#[case::before_the_last(Some(1_000), 905, 1)]
#[case::the_last_64(Some(1_000), 936, 1)]
#[case::the_last(Some(1_000), 999, 1)]
#[case::none_left(Some(1_000), 1_000, 1)]
#[case::over(Some(1_000), 2_000, 1)]
#[case::sandbox(Some(50), 0, 1)]
#[case::nothing(Some(0), 0, 1)]
#[case::huge(Some(u64::MAX), 0, 1_000)]
fn blocks_shrink_towards_the_limit(#[case] limit: Option<u64>, #[case] used: u64, #[case] size: u64) {
    assert_eq!(block_size(limit, used), size);
}

#[rstest]
#[case::unlimited(None, 250)]
#[case::far(Some(1_000_000), 250)]
#[case::shrinking(Some(10_000), 145)]
#[case::near(Some(1_000), 0)]
#[case::sandbox(Some(50), 0)]
fn the_next_block_is_debited_before_the_last_one_is_used_up(#[case] limit: Option<u64>, #[case] early: u64) {
    let (mut lease, mut counter, now) = (Lease::new(), Counter::default(), month(0));
    assert_eq!(lease.ahead(now, limit), None, "the first call waits");
    assert!(spend(&mut lease, &mut counter, now, limit));
    while lease.unspent(now) > early {
        assert_eq!(lease.ahead(now, limit), None);
        assert!(spend(&mut lease, &mut counter, now, limit));
    }
    let debit = lease.ahead(now, limit);
    assert_eq!(debit.is_some(), early > 0);
    if let Some(debit) = debit {
        assert_eq!(lease.ahead(month(1), limit), None, "in another month");
        assert_eq!(lease.ahead(now, Some(7)), None, "under another limit");
        let used = counter.debit(&debit).unwrap();
        let amount = debit.amount;
        assert_eq!(lease.granted(debit, used), None);
        assert_eq!(lease.unspent(now), early + amount);
        assert!(lease.unspent(now) <= HELD_MAX);
        assert_eq!(lease.ahead(now, limit), None);
    }
}

#[rstest]
#[case::limited(Some(3))]
#[case::unlimited(None)]
fn an_unspent_unit_can_be_spent_again(#[case] limit: Option<u64>) {
    let (mut lease, mut counter, now) = (Lease::new(), Counter::default(), month(0));
    for _ in 0..3 {
        assert!(spend(&mut lease, &mut counter, now, limit));
    }
    let left = lease.remaining(now, limit);
    for _ in 0..5 {
        assert_eq!(lease.unspend(Unit { period: Period::of(now) }), None);
        assert_eq!(lease.remaining(now, limit), left.map(|left| left + 1));
        assert!(spend(&mut lease, &mut counter, now, limit));
        assert_eq!(lease.remaining(now, limit), left);
    }
    assert_eq!(spend(&mut lease, &mut counter, now, limit), limit.is_none());
}

#[test]
fn a_unit_unspent_in_another_month_is_refunded() {
    let (mut lease, mut counter) = (Lease::new(), Counter::default());
    let spent_in = Period::of(month(0));
    assert!(spend(&mut lease, &mut counter, month(0), Some(9)));
    assert!(spend(&mut lease, &mut counter, month(1), Some(9)));
    assert_eq!(lease.unspend(Unit { period: spent_in }), Some(Refund { period: spent_in, amount: 1 }));
    assert_eq!(lease.give_back(), None, "so near the limit, units are debited one by one");
    let later = Period::of(month(1));
    assert_eq!(lease.unspend(Unit { period: later }), Some(Refund { period: later, amount: 1 }));
}

#[rstest]
#[case::free(Some(50_000), 50_000, 300)]
#[case::pro(Some(1_000_000), 1_000_000, 1_250)]
#[case::sandbox(Some(1_000), 1_000, 155)]
#[case::unlimited(None, 100_000, 100)]
fn counting_costs_about_one_write_per_block(#[case] limit: Option<u64>, #[case] calls: u64, #[case] writes_max: u64) {
    let (mut lease, mut counter) = (Lease::new(), Counter::default());
    for _ in 0..calls {
        assert!(spend(&mut lease, &mut counter, month(0), limit));
    }
    assert!(counter.writes() <= writes_max, "{} writes", counter.writes());
    assert_eq!(spend(&mut lease, &mut counter, month(0), limit), limit.is_none());
}

#[test]
fn units_of_one_month_are_not_spent_in_the_next() {
    let (mut lease, mut counter) = (Lease::new(), Counter::default());
    let last: Timestamp = "2026-11-30T23:59:59.999999Z".parse().unwrap();
    let first = last + SignedDuration::micros(1);
    assert!(spend(&mut lease, &mut counter, last, None));
    assert_eq!(lease.unspent(last), BLOCK_MAX - 1);
    assert_eq!(lease.unspent(first), 0);
    let Take::Need { debit, refund } = lease.take(first, None) else { panic!("a new month needs a new debit") };
    assert_eq!(debit.period, Period::of(first));
    assert_eq!(refund, Some(Refund { period: Period::of(last), amount: BLOCK_MAX - 1 }));
    assert_eq!(lease.give_back(), None, "a refund is returned once");
}

#[test]
fn a_debit_granted_late_is_refunded() {
    let mut lease = Lease::new();
    let Take::Need { debit: old, .. } = lease.take(month(0), Some(5_000)) else { panic!("empty") };
    let Take::Need { debit: new, .. } = lease.take(month(1), Some(5_000)) else { panic!("empty") };
    let (new_amount, late) = (new.amount, Refund { period: old.period, amount: old.amount });
    assert_eq!(lease.granted(new, new_amount), None);
    assert_eq!(lease.granted(old, late.amount), Some(late));
    assert_eq!(lease.unspent(month(1)), new_amount);
    // If a node's clock goes back a month, the newer units are outdated, not spendable.
    assert!(matches!(lease.take(month(0), Some(5_000)), Take::Need { refund: Some(_), .. }));
}

#[test]
fn a_lowered_limit_refunds_units_and_a_raised_one_does_not() {
    let (mut lease, mut counter) = (Lease::new(), Counter::default());
    assert!(spend(&mut lease, &mut counter, month(0), Some(50_000)));
    assert!(matches!(lease.take(month(0), None), Take::Spent(_)));
    assert!(!spend(&mut lease, &mut counter, month(0), Some(2)), "two are spent already");
    assert_eq!(counter.used(Period::of(month(0))), 2);
    assert!(spend(&mut lease, &mut counter, month(0), Some(3)));
}

#[test]
fn a_reached_limit_is_checked_again_once_a_second() {
    let (mut lease, mut counter) = (Lease::new(), Counter::default());
    let now = month(0);
    assert!(spend(&mut lease, &mut counter, now, Some(1)));
    assert!(!spend(&mut lease, &mut counter, now, Some(1)));
    assert_eq!(lease.take(now + ASK_AGAIN - SignedDuration::micros(1), Some(1)), Take::Exhausted);
    assert!(matches!(lease.take(now + ASK_AGAIN, Some(1)), Take::Need { .. }));
    assert!(matches!(lease.take(now - SignedDuration::hours(1), Some(1)), Take::Need { .. }), "the clock was set back");
    assert!(spend(&mut lease, &mut counter, now, Some(2)), "a raised limit applies at once");
}

#[test]
fn the_remaining_units_are_known() {
    let (mut lease, mut counter) = (Lease::new(), Counter::default());
    assert_eq!(lease.remaining(month(0), Some(1_000)), Some(1_000));
    for spent in 1..=1_000 {
        assert!(spend(&mut lease, &mut counter, month(0), Some(1_000)));
        assert_eq!(lease.remaining(month(0), Some(1_000)), Some(1_000 - spent));
    }
    assert_eq!(lease.remaining(month(0), None), None);
    assert_eq!(lease.remaining(month(1), Some(1_000)), Some(1_000));
}

proptest! {
    /// Nodes that count, crash and stop never pass the limit together, and every unit is spent, lost in a crash, or
    /// left.
    #[test]
    fn nodes_never_pass_the_limit(limit in limits(), steps in steps()) {
        let mut cluster = Cluster::new(limit, NODES);
        for step in steps {
            match cluster.apply(step) {
                Some(Exchange::Asked(period)) => prop_assert_eq!(period, cluster.period()),
                Some(Exchange::Granted { amount, used_before }) => {
                    let fair = block_size(limit, used_before);
                    prop_assert!(amount <= fair, "a block stays small compared with what is left");
                }
                None => {}
            }
            for period in cluster.months_with_spent_units() {
                let used = cluster.counter().used(period);
                prop_assert!(cluster.spent(period) <= used, "the counter is never below the units spent");
                prop_assert!(limit.is_none_or(|limit| used <= limit), "the limit is never exceeded");
            }
        }

        cluster.settle();
        for (period, used) in cluster.counter().months() {
            prop_assert_eq!(used, cluster.spent(period) + cluster.lost(period));
        }

        // A node that starts now must be able to spend exactly the rest.
        if let Some(limit) = limit {
            cluster.spend_the_rest();
            let period = cluster.period();
            prop_assert_eq!(cluster.spent(period) + cluster.lost(period), limit);
        }
    }

    /// Nodes that ask again until no unit is left spend exactly the limit.
    #[test]
    fn nodes_that_retry_spend_exactly_the_limit(limit in 0u64..5_000, order in prop::collection::vec(0usize..4, 1..400)) {
        let mut counter = Counter::default();
        let mut nodes: [Lease; 4] = Default::default();
        let mut now = month(0);
        let mut spent = 0;
        for at in order {
            spent += u64::from(spend(&mut nodes[at], &mut counter, now, Some(limit)));
        }
        // The nodes stop one after the other, except the last, which keeps asking.
        for at in 0..3 {
            counter.refund(nodes[at].give_back());
            now = now + ASK_AGAIN;
            while spend(&mut nodes[3], &mut counter, now, Some(limit)) {
                spent += 1;
            }
        }
        prop_assert_eq!(spent, limit);
    }
}

#[test]
fn an_unlimited_counter_ends_at_the_end_of_its_type() {
    let (mut lease, now) = (Lease::new(), month(0));
    let mut counter = Counter::with_used(Period::of(now), u64::MAX - 1_500);
    for _ in 0..1_500 {
        assert!(spend(&mut lease, &mut counter, now, None));
    }
    assert!(!spend(&mut lease, &mut counter, now, None));
    assert_eq!(counter.used(Period::of(now)), u64::MAX);
}

#[rstest]
#[case(0, false)]
#[case(1, true)]
#[case(BLOCK_MAX, true)]
#[case(BLOCK_MAX + 1, false)]
#[case(u64::MAX, false)]
fn a_debit_is_at_most_a_block(#[case] amount: u64, #[case] made: bool) {
    assert_eq!(Debit::new(Period::of(month(0)), amount, Some(5)).is_ok(), made);
}

proptest! {
    /// No calls of a lease in any order, with any times and numbers, make it panic.
    #[test]
    fn no_argument_makes_a_lease_panic(
        calls in prop::collection::vec((0u8..7, any_timestamp(), prop::option::of(any_number()), any_number()), 1..60),
    ) {
        let (mut lease, mut debits, mut units) = (Lease::new(), Vec::new(), Vec::new());
        for (call, now, limit, used) in calls {
            match call {
                0 | 1 => match lease.take(now, limit) {
                    Take::Spent(unit) => units.push(unit),
                    Take::Need { debit, .. } => {
                        prop_assert!((1..=BLOCK_MAX).contains(&debit.amount()));
                        prop_assert!(debit.ceiling() <= debit.limit());
                        debits.push(debit);
                    }
                    Take::Exhausted => {}
                },
                2 => if let Some(debit) = debits.pop() {
                    let _ = lease.granted(debit, used);
                },
                3 => if let Some(debit) = debits.pop() {
                    lease.refused(debit, used, now);
                },
                4 => if let Some(unit) = units.pop() {
                    let _ = lease.unspend(unit);
                },
                5 => debits.extend(lease.ahead(now, limit)),
                _ => {
                    let _ = lease.give_back();
                }
            }
            prop_assert!(lease.remaining(now, limit).is_none_or(|left| Some(left) <= limit));
            lease.unspent(now);
        }
    }
}
