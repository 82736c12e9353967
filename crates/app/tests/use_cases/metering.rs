//! Counting from leased blocks: several processes that share a store, exact limits, crashes, and refunds.

use std::sync::Arc;

use kalends_accounts::{Credential, Organization, Principal, Reach};
use kalends_app::{App, Caller, ChangeSet, Leased, Refusal, ports::Commit as _};
use kalends_kernel::KeyId;
use kalends_plans::{Limits, Metric};
use kalends_quotas::Period;
use kalends_testkit::{
    Inspect as _, MemoryStore,
    fixtures::{Compose as _, Fixtures},
};
use kalends_time::{Clock as _, SignedDuration};
use serde_json::json;

use crate::common::{parts, principal};

const CALLS: Leased = Leased::ApiCalls;

/// An organization, and the processes that serve it.
struct Nodes {
    make: Fixtures,
    store: MemoryStore,
    organization: Organization,
    key: KeyId,
}

impl Nodes {
    async fn new() -> Self {
        let (make, store) = (Fixtures::new(), MemoryStore::new());
        let organization = make.organization();
        store.commit(ChangeSet::new(organization.id).create(&organization)).await.unwrap();
        let key = KeyId::new(make.clock.now(), &make.entropy);
        Self { make, store, organization, key }
    }

    /// Starts another process.
    fn node(&self) -> Arc<App> {
        App::new(parts(&self.store, &self.make))
    }

    /// A caller with that limit of calls.
    fn caller(&self, node: &App, limit: Option<u64>) -> Caller {
        let limits = Limits::unlimited(Some(10)).overridden(&json!({ "api_calls": limit })).unwrap();
        node.caller(Arc::new(Principal {
            credential: Credential::Key(self.key),
            limits,
            ..principal(&self.make, &self.organization, Reach::Organization)
        }))
    }

    /// The value of the shared counter.
    async fn charged(&self) -> u64 {
        self.store.used(self.organization.id, CALLS.metric(), Period::of(self.make.clock.now())).await
    }

    /// Makes `count` calls, and returns how many were admitted.
    async fn call(&self, node: &App, limit: Option<u64>, count: u64) -> u64 {
        let caller = self.caller(node, limit);
        let mut admitted = 0;
        for _ in 0..count {
            match node.count(&caller, CALLS, self.make.clock.now()).await {
                Ok(_) => admitted += 1,
                Err(Refusal::LimitReached { metric: Metric::ApiCalls, .. }) => {}
                Err(refusal) => panic!("{refusal:?}"),
            }
        }
        admitted
    }
}

#[tokio::test]
async fn unlimited_calls_take_one_write_per_thousand() {
    let nodes = Nodes::new().await;
    let node = nodes.node();
    assert_eq!(nodes.call(&node, None, 1_000).await, 1_000);
    assert_eq!(nodes.charged().await, 1_000, "one block");
    assert_eq!(nodes.call(&node, None, 1).await, 1);
    assert_eq!(nodes.charged().await, 2_000);
    node.return_leases().await;
    assert_eq!(nodes.charged().await, 1_001);
    // A request that was still in flight is counted after that.
    assert_eq!(nodes.call(&node, None, 1).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_processes_never_exceed_the_limit() {
    const LIMIT: u64 = 2_000;
    let nodes = Arc::new(Nodes::new().await);
    let processes = [nodes.node(), nodes.node(), nodes.node()];
    let crowd: Vec<_> = (0..24)
        .map(|index| {
            let (nodes, node) = (Arc::clone(&nodes), Arc::clone(&processes[index % 3]));
            tokio::spawn(async move { nodes.call(&node, Some(LIMIT), 100).await })
        })
        .collect();
    let mut admitted = 0;
    for caller in crowd {
        admitted += caller.await.unwrap();
    }
    assert!(admitted <= LIMIT, "{admitted}");
    // Units that one process holds are available to others once they are given back.
    for node in &processes {
        node.return_leases().await;
    }
    assert_eq!(nodes.charged().await, admitted, "only admitted calls are charged");
    nodes.make.clock.advance(SignedDuration::seconds(2));
    let rest = nodes.call(&processes[0], Some(LIMIT), LIMIT).await;
    assert_eq!(admitted + rest, LIMIT);
    assert_eq!(nodes.charged().await, LIMIT);
}

#[tokio::test]
async fn a_crash_may_overcharge_but_never_undercharges() {
    let nodes = Nodes::new().await;
    let crashed = nodes.node();
    let admitted = nodes.call(&crashed, Some(10_000), 10).await;
    drop(crashed);
    let lost = nodes.charged().await - admitted;
    assert!((1..=1_000).contains(&lost), "{lost}");
    let rest = nodes.call(&nodes.node(), Some(10_000), 20_000).await;
    assert_eq!(admitted + rest + lost, 10_000);
}

#[tokio::test]
async fn a_call_that_should_not_count_is_taken_back() {
    let nodes = Nodes::new().await;
    let node = nodes.node();
    let caller = nodes.caller(&node, Some(3));
    for _ in 0..10 {
        let counted = node.count(&caller, CALLS, nodes.make.clock.now()).await.unwrap();
        assert_eq!(caller.left(CALLS, nodes.make.clock.now()), Some(2));
        node.count_back(counted).await;
        assert_eq!(caller.left(CALLS, nodes.make.clock.now()), Some(3));
    }
    assert_eq!(nodes.call(&node, Some(3), 10).await, 3);
}

#[tokio::test]
async fn leases_of_idle_organizations_are_given_back() {
    let nodes = Nodes::new().await;
    let node = nodes.node();
    nodes.call(&node, None, 7).await;
    nodes.make.clock.advance(SignedDuration::minutes(4));
    node.return_idle_leases().await;
    assert_eq!(nodes.charged().await, 1_000, "not idle yet");
    nodes.make.clock.advance(SignedDuration::minutes(2));
    node.return_idle_leases().await;
    assert_eq!(nodes.charged().await, 7);
    // If a request is in flight, only its own unit stays charged.
    let caller = nodes.caller(&node, None);
    let counted = node.count(&caller, CALLS, nodes.make.clock.now()).await.unwrap();
    nodes.make.clock.advance(SignedDuration::minutes(6));
    node.return_idle_leases().await;
    assert_eq!(nodes.charged().await, 8);
    node.count_back(counted).await;
    node.return_leases().await;
    assert_eq!(nodes.charged().await, 7);
}

#[tokio::test]
async fn a_request_across_the_end_of_a_month_counts_in_one_month() {
    let nodes = Nodes::new().await;
    let node = nodes.node();
    let caller = nodes.caller(&node, Some(5));
    let now = nodes.make.clock.now();
    let (before, after) = (Period::of(now), Period::of(Period::of(now).end()));
    let last = before.end() - SignedDuration::micros(1);
    for at in [last, before.end(), last, before.end()] {
        node.count(&caller, CALLS, at).await.unwrap();
    }
    let straddling = node.count(&caller, CALLS, last).await.unwrap();
    node.count(&caller, CALLS, before.end()).await.unwrap();
    node.count_back(straddling).await;
    node.return_leases().await;
    let used = async |period| nodes.store.used(nodes.organization.id, CALLS.metric(), period).await;
    assert_eq!((used(before).await, used(after).await), (2, 3));
}

#[tokio::test]
async fn a_limit_of_zero_admits_nothing() {
    let nodes = Nodes::new().await;
    let node = nodes.node();
    assert_eq!(nodes.call(&node, Some(0), 5).await, 0);
    assert_eq!(nodes.charged().await, 0);
}
