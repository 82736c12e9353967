//! Strategies for property-based tests of code that uses this crate, and a plain model. They come with the feature
//! `testing`.
//!
//! - [`Counter`] is the shared counter of a month, as one statement of a store changes it, kept in a map.
//! - [`steps`] draws what happens to several processes that count calls: requests, debits that are counted and answered
//!   late, crashes, shutdowns, and time that passes. [`Cluster`] applies the steps to real leases and to a counter, and
//!   keeps a record of what was spent and what was lost.
//!
//! The strategies are those of the `proptest` that [`kalends_time::testing`] re-exports.
//!
//! ```
//! use kalends_quotas::testing::{Cluster, NODES, limits, steps};
//! use kalends_time::testing::config;
//! use kalends_time::testing::proptest::prelude::*;
//!
//! proptest! {
//!     #![proptest_config(config(32))]
//!
//!     # /*
//!     #[test]
//!     # */
//!     fn no_history_passes_the_limit(limit in limits(), steps in steps()) {
//!         let mut cluster = Cluster::new(limit, NODES);
//!         for step in steps {
//!             cluster.apply(step);
//!             let used = cluster.counter().used(cluster.period());
//!             prop_assert!(cluster.spent(cluster.period()) <= used);
//!             prop_assert!(limit.is_none_or(|limit| used <= limit));
//!         }
//!     }
//! }
//! # no_history_passes_the_limit();
//! ```

use std::collections::{BTreeMap, VecDeque};

use kalends_time::{SignedDuration, Timestamp};
use proptest::prelude::*;

use crate::{Debit, Lease, Period, Refund, Take};

/// The number of nodes for which [`steps`] draws.
pub const NODES: usize = 3;

/// Noon of 2 November 2026 in UTC, when every history begins.
const BEGIN: Timestamp = Timestamp::from_micros(1_793_620_800_000_000);

/// The most exchanges with the counter that one unit can take.
const EXCHANGES: usize = 8;

/// Noon of 2 November 2026 in UTC for index 0, and the same for the 2nd of each of the three months that follow. Larger
/// indexes give the last of these.
pub fn month(index: usize) -> Timestamp {
    BEGIN + SignedDuration::days([0, 30, 61, 92].get(index).copied().unwrap_or(92))
}

/// The shared counter. It behaves like one statement of a store.
#[derive(Debug, Clone, Default)]
pub struct Counter {
    used: BTreeMap<Period, u64>,
    writes: u64,
}

impl Counter {
    /// A counter with units that are used already.
    pub fn with_used(period: Period, used: u64) -> Self {
        Self { used: BTreeMap::from([(period, used)]), writes: 0 }
    }

    /// The units that are used in a month, including the units that leases hold.
    pub fn used(&self, period: Period) -> u64 {
        self.used.get(&period).copied().unwrap_or(0)
    }

    /// The months with used units, and the units.
    pub fn months(&self) -> impl Iterator<Item = (Period, u64)> {
        self.used.iter().map(|(period, used)| (*period, *used))
    }

    /// The number of debits that were counted.
    pub fn writes(&self) -> u64 {
        self.writes
    }

    /// Counts a debit if it fits. Both results hold the units that are used afterwards.
    ///
    /// # Errors
    ///
    /// The units that are used, if the debit does not fit under its limit.
    pub fn debit(&mut self, debit: &Debit) -> Result<u64, u64> {
        let used = self.used.entry(debit.period()).or_default();
        if !debit.fits(*used) {
            return Err(*used);
        }
        *used += debit.amount();
        self.writes += 1;
        Ok(*used)
    }

    /// Takes a refund back, if there is one.
    ///
    /// # Panics
    ///
    /// If more is refunded than was used.
    #[expect(clippy::expect_used, reason = "a test in which a lease refunds units twice fails")]
    pub fn refund(&mut self, refund: Option<Refund>) {
        if let Some(refund) = refund {
            let used = self.used.entry(refund.period()).or_default();
            *used = used.checked_sub(refund.amount()).expect("no more is refunded than was used");
        }
    }
}

/// Spends one unit with the protocol of [`Lease`], and returns whether it was spent.
///
/// # Panics
///
/// If the exchange with the counter does not end after a few steps.
#[expect(clippy::panic, reason = "a test in which the exchange does not end fails")]
pub fn spend(lease: &mut Lease, counter: &mut Counter, now: Timestamp, limit: Option<u64>) -> bool {
    for _ in 0..EXCHANGES {
        match lease.take(now, limit) {
            Take::Spent(_) => return true,
            Take::Exhausted => return false,
            Take::Need { debit, refund } => {
                counter.refund(refund);
                match counter.debit(&debit) {
                    Ok(used) => counter.refund(lease.granted(debit, used)),
                    Err(used) => lease.refused(debit, used, now),
                }
            }
        }
    }
    panic!("the exchange does not end after {EXCHANGES} steps");
}

/// Something that happens to the nodes of a [`Cluster`]. Nodes are numbered from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A request on a node. If it needs a debit, later steps continue the exchange.
    Request(usize),
    /// The counter handles the oldest debit that a node asked for.
    Count(usize),
    /// The node receives the oldest answer.
    Hear(usize),
    /// A node is killed. Its units are lost, but its pending debits may still be counted.
    Crash(usize),
    /// A node shuts down cleanly.
    Stop(usize),
    /// Time passes, in microseconds.
    Wait(i64),
    /// The next month begins.
    Month,
}

/// A history of 1 to 599 steps of [`NODES`] nodes, mostly requests.
pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    let node = || 0..NODES;
    let step = prop_oneof![
        40 => node().prop_map(Step::Request),
        20 => node().prop_map(Step::Count),
        20 => node().prop_map(Step::Hear),
        1 => node().prop_map(Step::Crash),
        1 => node().prop_map(Step::Stop),
        3 => (0i64..2_000_000).prop_map(Step::Wait),
        1 => Just(Step::Month),
    ];
    prop::collection::vec(step, 1..600)
}

/// A limit of a month in units: none, fewer than 20, or fewer than 2,000.
pub fn limits() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![1 => Just(None), 2 => (0u64..20).prop_map(Some), 4 => (20u64..2_000).prop_map(Some)]
}

/// A number of units, also one that no counter returns: often one of the first and last.
pub fn any_number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(1), Just(u64::MAX), Just(u64::MAX - 1), 0u64..2_000, any::<u64>()]
}

/// What a step did with a debit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exchange {
    /// A node asked for a debit on the counter of this month.
    Asked(Period),
    /// The counter granted a debit.
    Granted {
        /// The units of the debit.
        amount: u64,
        /// The units that were used before it.
        used_before: u64,
    },
}

/// A node: its lease, and the exchanges that are under way.
#[derive(Debug, Default)]
struct Node {
    lease: Lease,
    pending: VecDeque<Debit>,
    answers: VecDeque<(Debit, Result<u64, u64>)>,
}

/// Nodes that count the calls of one organization under one limit, with the [`Counter`] that they share. It keeps a record
/// of every unit.
#[derive(Debug)]
pub struct Cluster {
    limit: Option<u64>,
    counter: Counter,
    nodes: Vec<Node>,
    spent: BTreeMap<Period, u64>,
    lost: BTreeMap<Period, u64>,
    now: Timestamp,
    months: usize,
}

impl Cluster {
    /// Nodes that hold no units, at [`month`] 0.
    pub fn new(limit: Option<u64>, nodes: usize) -> Self {
        Self {
            limit,
            counter: Counter::default(),
            nodes: std::iter::repeat_with(Node::default).take(nodes).collect(),
            spent: BTreeMap::new(),
            lost: BTreeMap::new(),
            now: month(0),
            months: 0,
        }
    }

    /// The shared counter.
    pub fn counter(&self) -> &Counter {
        &self.counter
    }

    /// The month of the current time.
    pub fn period(&self) -> Period {
        Period::of(self.now)
    }

    /// The units that requests spent in a month.
    pub fn spent(&self, period: Period) -> u64 {
        self.spent.get(&period).copied().unwrap_or(0)
    }

    /// The units of a month that are counted and that no node can spend any more, because nodes crashed.
    pub fn lost(&self, period: Period) -> u64 {
        self.lost.get(&period).copied().unwrap_or(0)
    }

    /// The months in which units were spent.
    pub fn months_with_spent_units(&self) -> impl Iterator<Item = Period> {
        self.spent.keys().copied()
    }

    /// Applies a step, and returns what it did with a debit, if anything. A step of a node that does not exist does
    /// nothing.
    pub fn apply(&mut self, step: Step) -> Option<Exchange> {
        match step {
            Step::Request(at) => return self.request(at),
            Step::Count(at) => return self.count(at),
            Step::Hear(at) => self.hear(at),
            Step::Crash(at) => self.crash(at),
            Step::Stop(at) => {
                let refund = self.nodes.get_mut(at).and_then(|node| node.lease.give_back());
                self.counter.refund(refund);
            }
            Step::Wait(micros) => self.now = self.now + SignedDuration::micros(micros),
            Step::Month => {
                self.months += 1;
                self.now = self.now.max(month(self.months));
            }
        }
        None
    }

    /// Lets every node receive its pending outcomes and shut down. Afterwards the counter equals the units spent plus the
    /// units lost.
    pub fn settle(&mut self) {
        for node in &mut self.nodes {
            for debit in std::mem::take(&mut node.pending) {
                let counted = self.counter.debit(&debit);
                node.answers.push_back((debit, counted));
            }
            for (debit, counted) in std::mem::take(&mut node.answers) {
                if let Ok(used) = counted {
                    self.counter.refund(node.lease.granted(debit, used));
                }
            }
            self.counter.refund(node.lease.give_back());
        }
    }

    /// Lets a new node spend units until there are none left, and returns how many it spent.
    ///
    /// # Panics
    ///
    /// If there is no limit.
    #[expect(clippy::expect_used, reason = "a test that waits for an unlimited counter to end fails")]
    pub fn spend_the_rest(&mut self) -> u64 {
        let limit = self.limit.expect("a limit");
        let (mut lease, mut rest) = (Lease::new(), 0);
        while spend(&mut lease, &mut self.counter, self.now, Some(limit)) {
            rest += 1;
        }
        *self.spent.entry(self.period()).or_default() += rest;
        rest
    }

    fn request(&mut self, at: usize) -> Option<Exchange> {
        let (now, period) = (self.now, self.period());
        let node = self.nodes.get_mut(at)?;
        match node.lease.take(now, self.limit) {
            Take::Spent(_) => *self.spent.entry(period).or_default() += 1,
            Take::Need { debit, refund } => {
                let asked = Exchange::Asked(debit.period());
                node.pending.push_back(debit);
                self.counter.refund(refund);
                return Some(asked);
            }
            Take::Exhausted => {}
        }
        None
    }

    fn count(&mut self, at: usize) -> Option<Exchange> {
        let node = self.nodes.get_mut(at)?;
        let debit = node.pending.pop_front()?;
        let (amount, used_before) = (debit.amount(), self.counter.used(debit.period()));
        let counted = self.counter.debit(&debit);
        node.answers.push_back((debit, counted));
        counted.is_ok().then_some(Exchange::Granted { amount, used_before })
    }

    fn hear(&mut self, at: usize) {
        let Some(node) = self.nodes.get_mut(at) else { return };
        match node.answers.pop_front() {
            Some((debit, Ok(used))) => self.counter.refund(node.lease.granted(debit, used)),
            Some((debit, Err(used))) => node.lease.refused(debit, used, self.now),
            None => {}
        }
    }

    fn crash(&mut self, at: usize) {
        let Some(node) = self.nodes.get_mut(at) else { return };
        let Node { mut lease, pending, answers } = std::mem::take(node);
        let mut lose = |period: Period, amount: u64| *self.lost.entry(period).or_default() += amount;
        for debit in pending {
            if self.counter.debit(&debit).is_ok() {
                lose(debit.period(), debit.amount());
            }
        }
        for (debit, counted) in answers {
            if counted.is_ok() {
                lose(debit.period(), debit.amount());
            }
        }
        if let Some(refund) = lease.give_back() {
            lose(refund.period(), refund.amount());
        }
    }
}
