//! Keys of single agents.

use kalends_accounts::{
    ApprovalPolicy, ApprovedWrites, Change, ConnectorAccess, Credential, EndedKey, KeyHash, KeyLabel, Reach, Scope,
    ScopedKey, Scopes,
    reach::{CallerKind, ScopedAgent},
};
use kalends_app::{Guard, ports::CommitError};
use kalends_calendars::{Agent, AgentPatch, AgentStatus, Patch};
use kalends_kernel::{ConnectorClientId, KeyId};
use kalends_plans::Metric;
use kalends_time::{CivilDate, SignedDuration};

use super::{
    StoreUnderTest,
    scene::{Scene, assert_refused, race, successes},
};
use crate::fixtures::Compose;

/// How many tasks run at once.
const TASKS: usize = 16;

impl Scene {
    async fn scoped_key(&self, agent: &Agent) -> ScopedKey {
        let key = self.make.scoped_key(agent).key;
        self.commit(self.changes().create(&key)).await;
        key
    }

    async fn keys(&self) -> Vec<ScopedKey> {
        self.store.list_scoped_keys(self.org).await.unwrap()
    }

    /// The caller that the key authenticates; `None` if it opens nothing.
    async fn opened_by(&self, key: &ScopedKey) -> Option<(CallerKind, Reach)> {
        let found = self.store.find_principal(key.hash).await.unwrap();
        found.map(|principal| (principal.kind, principal.reach))
    }

    async fn with_status(&self, agent: &Agent, status: AgentStatus) -> Agent {
        let patch = AgentPatch { status: Patch::Set(status), ..AgentPatch::default() };
        let patched = agent.patched(patch, self.make.tick()).unwrap();
        self.commit(self.changes().update(&patched, agent.version)).await;
        patched
    }
}

fn revoke(scene: &Scene, key: KeyId) -> Change {
    Change::RevokeKey { org: scene.org, key, at: scene.make.tick() }
}

/// Every field survives, and keys are listed by creation.
pub async fn scoped_keys_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (first, second) = (scene.agent().await, scene.agent().await);
    let scopes = Scopes::NONE.with(Scope::HoldsOrg).with(Scope::FreebusyOrg);
    let unnamed = ScopedKey { label: None, created_by: None, scopes, ..scene.make.scoped_key(&first).key };
    let label = Some(KeyLabel::from_stored("Žluťoučký 'quoted' \\ %_ 診察 🐎".into()));
    let named = ScopedKey { label, ..scene.make.scoped_key(&second).key };
    let last = scene.make.scoped_key(&first).key;
    for key in [&last, &unnamed, &named] {
        scene.commit(scene.changes().create(key)).await;
    }
    assert_eq!(scene.keys().await, [unnamed.clone(), named.clone(), last]);
    for key in [unnamed, named] {
        assert_eq!(scene.store.find_scoped_key(scene.org, key.id).await.unwrap(), Some(key));
    }
    assert_eq!(scene.store.find_scoped_key(scene.org, scene.make.key(scene.org).key.id).await.unwrap(), None);
    // A key of the organization is not one of these.
    let plain = scene.make.key(scene.org).key;
    scene.commit(scene.changes().create(&plain)).await;
    assert_eq!(scene.keys().await.len(), 3);
    assert_eq!(scene.store.find_scoped_key(scene.org, plain.id).await.unwrap(), None);
}

/// What needs approval, and the client that holds a key, survive wherever a key is read.
pub async fn approval_and_client_of_a_key_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let named = |names: &[&str]| ApprovedWrites::Operations(names.iter().map(|name| (*name).to_owned()).collect());
    let policy = |covers, minutes| Some(ApprovalPolicy { covers, lasts: SignedDuration::minutes(minutes) });
    let connector = || {
        let now = scene.make.tick();
        let client = ConnectorClientId::new(now, &scene.make.entropy);
        Some(ConnectorAccess { client, expires_at: now + SignedDuration::micros(3_600_000_001) })
    };
    let kinds = [
        (None, None),
        (policy(ApprovedWrites::All, 1), None),
        (policy(named(&["deleteEvent", "createEvent"]), 7 * 24 * 60), None),
        (None, connector()),
        (policy(ApprovedWrites::All, 90), connector()),
    ];
    let mut keys = Vec::new();
    for (approval, connector) in kinds {
        let key = ScopedKey { approval, connector, ..scene.make.scoped_key(&agent).key };
        scene.commit(scene.changes().create(&key)).await;
        keys.push(key);
    }
    assert_eq!(scene.keys().await, keys);
    let in_force = scene.store.keys_in_force(scene.org).await.unwrap();
    for (key, view) in keys.iter().zip(in_force) {
        assert_eq!((view.id, view.approval, view.connector), (key.id, key.approval.clone(), key.connector));
        assert_eq!(scene.store.find_scoped_key(scene.org, key.id).await.unwrap().as_ref(), Some(key));
        let found = scene.store.find_principal(key.hash).await.unwrap().unwrap();
        assert_eq!((found.approval, found.connector), (key.approval.clone(), key.connector));
    }
}

/// The last day on which a key was used is kept, also for the organization's own keys. An earlier day changes nothing.
/// Keys of another organization and unknown ones are ignored.
pub async fn the_last_use_of_a_key_is_kept(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let agent = scene.agent().await;
    let (used, unused) = (scene.scoped_key(&agent).await, scene.scoped_key(&agent).await);
    let own = scene.make.key(scene.org).key;
    scene.commit(scene.changes().create(&own)).await;
    let (theirs, unknown) = (other.scoped_key(&other.agent().await).await, scene.make.key(scene.org).key);
    let record = async |days| {
        let keys = [own.id, theirs.id, used.id, unknown.id];
        scene.store.record_key_uses(scene.org, &keys, CivilDate::from_days(days)).await.unwrap();
    };
    // The days of the first, the second and the organization's own key.
    let known = async || {
        let keys = scene.store.keys_in_force(scene.org).await.unwrap();
        [used.id, unused.id, own.id].map(|id| keys.iter().find(|key| key.id == id).unwrap().last_used_on)
    };
    assert_eq!(known().await, [None; 3]);
    scene.store.record_key_uses(scene.org, &[], CivilDate::EPOCH).await.unwrap();
    for (day, expected) in [(20_500, 20_500), (20_500, 20_500), (20_499, 20_500), (20_502, 20_502)] {
        record(day).await;
        let expected = Some(CivilDate::from_days(expected));
        assert_eq!(known().await, [expected, None, expected]);
        assert_eq!(scene.keys().await.iter().map(|key| key.last_used_on).collect::<Vec<_>>(), [expected, None]);
        let found = scene.store.find_scoped_key(scene.org, used.id).await.unwrap().unwrap();
        assert_eq!(found, ScopedKey { last_used_on: expected, ..used.clone() });
    }
    assert_eq!(other.keys().await, [theirs]);
    assert_eq!(scene.store.find_principal(unknown.hash).await.unwrap(), None, "no key is created");
}

/// A key authenticates its agent, and reports whether the agent is paused.
pub async fn scoped_keys_authenticate_their_agent(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let fresh = scene.make.scoped_key(&agent);
    scene.commit(scene.changes().create(&fresh.key)).await;
    let found = scene.store.find_principal(KeyHash::of(&fresh.text)).await.unwrap().unwrap();
    assert_eq!(
        (found.org, found.credential, &found.key_prefix),
        (scene.org, Credential::Key(fresh.key.id), &fresh.key.prefix)
    );
    assert_eq!((found.plan, found.waitlisted), (scene.organization().await.plan, false));
    let scopes = Scopes::NONE;
    let speaks = |paused| Some((CallerKind::AgentKey, Reach::Agent(ScopedAgent { id: agent.id, paused, scopes })));
    assert_eq!(scene.opened_by(&fresh.key).await, speaks(false));
    let paused = scene.with_status(&agent, AgentStatus::Paused).await;
    assert_eq!(scene.opened_by(&fresh.key).await, speaks(true));
    scene.with_status(&paused, AgentStatus::Active).await;
    assert_eq!(scene.opened_by(&fresh.key).await, speaks(false));
}

/// The caller of a key has the scopes with which the key was created, whichever those are.
pub async fn scoped_keys_authenticate_with_their_scopes(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let all: Scopes = Scope::ALL.into_iter().collect();
    for scopes in [Scopes::NONE, all].into_iter().chain(Scope::ALL.map(|scope| Scopes::NONE.with(scope))) {
        let key = ScopedKey { scopes, ..scene.make.scoped_key(&agent).key };
        scene.commit(scene.changes().create(&key)).await;
        let speaks = Reach::Agent(ScopedAgent { id: agent.id, paused: false, scopes });
        assert_eq!(scene.opened_by(&key).await, Some((CallerKind::AgentKey, speaks)));
        assert_eq!(scene.store.find_scoped_key(scene.org, key.id).await.unwrap(), Some(key.clone()));
        let listed = scene.store.keys_in_force(scene.org).await.unwrap();
        assert_eq!(listed.iter().find(|listed| listed.id == key.id).map(|listed| listed.scopes), Some(scopes));
    }
}

/// No key is created for an agent that does not exist, belongs to another organization or is decommissioned.
pub async fn scoped_keys_need_an_agent_that_is_not_decommissioned(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let foreign = other.agent().await;
    let gone = scene.decommission(&scene.agent().await).await;
    for agent in [scene.make.agent(scene.org), Agent { org: scene.org, ..foreign }, gone] {
        let key = scene.make.scoped_key(&agent).key;
        assert_refused!(scene.try_commit(scene.changes().create(&key)).await, CommitError::Stale);
        assert_eq!(scene.opened_by(&key).await, None);
    }
    assert_eq!(scene.keys().await, []);
}

/// A revoked key opens nothing, is not listed any more and cannot be revoked again. The others stay.
pub async fn a_revoked_key_is_gone(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let (first, second) = (scene.scoped_key(&agent).await, scene.scoped_key(&agent).await);
    let plain = scene.make.key(scene.org).key;
    scene.commit(scene.changes().create(&plain)).await;

    scene.commit(scene.changes().account(revoke(&scene, first.id))).await;
    assert_eq!(scene.opened_by(&first).await, None);
    assert_eq!(scene.store.find_scoped_key(scene.org, first.id).await.unwrap(), None);
    assert_eq!(scene.keys().await, std::slice::from_ref(&second));
    assert!(scene.opened_by(&second).await.is_some());
    assert_eq!(scene.store.count_scoped_keys(scene.org, agent.id).await.unwrap(), 1);
    let again = scene.changes().account(revoke(&scene, first.id));
    assert_refused!(scene.try_commit(again).await, CommitError::Stale);

    // The same for a key of the organization.
    scene.commit(scene.changes().account(revoke(&scene, plain.id))).await;
    assert_eq!(scene.store.find_principal(plain.hash).await.unwrap(), None);
    scene.commit(scene.changes().account(revoke(&scene, second.id))).await;
    assert_eq!(scene.store.count_scoped_keys(scene.org, agent.id).await.unwrap(), 0);
}

/// The keys of a decommissioned agent open nothing and do not count. It is still known that the agent had keys.
pub async fn keys_of_a_decommissioned_agent_are_gone(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (agent, other) = (scene.agent().await, scene.agent().await);
    let (key, kept) = (scene.scoped_key(&agent).await, scene.scoped_key(&other).await);
    scene.decommission(&agent).await;
    assert_eq!(scene.opened_by(&key).await, None);
    assert_eq!(scene.store.find_scoped_key(scene.org, key.id).await.unwrap(), None);
    assert_eq!(scene.keys().await, [kept]);
    assert_eq!(scene.store.count_scoped_keys(scene.org, agent.id).await.unwrap(), 1);
    let guard = Guard::AtMost { metric: Metric::ScopedKeys, limit: 1 };
    scene.commit(scene.changes().guard(guard)).await;
}

/// An organization neither sees nor revokes the keys of another.
pub async fn scoped_keys_of_other_organizations_are_absent(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let key = scene.scoped_key(&agent).await;
    let other = scene.other_organization().await;
    assert_eq!(other.keys().await, []);
    assert_eq!(other.store.find_scoped_key(other.org, key.id).await.unwrap(), None);
    assert_eq!(other.store.count_scoped_keys(other.org, agent.id).await.unwrap(), 0);
    let revoked = other.try_commit(other.changes().account(revoke(&other, key.id))).await;
    assert_refused!(revoked, CommitError::Stale);
    let guard = Guard::AtMost { metric: Metric::ScopedKeys, limit: 0 };
    other.commit(other.changes().guard(guard)).await;
    assert!(scene.opened_by(&key).await.is_some());
}

/// The number of keys in force is limited; a revoked one makes room.
pub async fn the_number_of_scoped_keys_is_limited(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let guard = Guard::AtMost { metric: Metric::ScopedKeys, limit: 2 };
    let add = async || {
        let key = scene.make.scoped_key(&agent).key;
        scene.try_commit(scene.changes().guard(guard).create(&key)).await.map(|()| key)
    };
    let first = add().await.unwrap();
    add().await.unwrap();
    assert_refused!(add().await, CommitError::LimitReached { metric: Metric::ScopedKeys, limit: 2 });
    // Keys of the organization do not count.
    scene.commit(scene.changes().guard(guard).create(&scene.make.key(scene.org).key)).await;
    scene.commit(scene.changes().account(revoke(&scene, first.id))).await;
    add().await.unwrap();
    assert_eq!(scene.keys().await.len(), 2);
}

/// If many callers create the last key that the plan allows, one succeeds.
pub async fn the_last_scoped_key_is_made_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let outcomes = race(TASKS, |_| {
        let (scene, agent) = (scene.clone(), agent.clone());
        async move {
            let guard = Guard::AtMost { metric: Metric::ScopedKeys, limit: 1 };
            let key = scene.make.scoped_key(&agent).key;
            scene.try_commit(scene.changes().guard(guard).create(&key)).await
        }
    })
    .await;
    assert_eq!(successes(&outcomes), 1, "{outcomes:?}");
    assert_eq!(scene.keys().await.len(), 1);
}

/// The epoch rises when a key is revoked, and when a change-set reports that an agent's status changes.
pub async fn the_epoch_rises_with_keys_and_agents(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let epoch = async || scene.store.principals_epoch().await.unwrap();
    let agent = scene.agent().await;
    let key = scene.scoped_key(&agent).await;

    let before = epoch().await;
    scene.commit(scene.changes().account(revoke(&scene, key.id))).await;
    let revoked = epoch().await;
    assert!(revoked > before, "a key is revoked");

    let patch = AgentPatch { name: Patch::Set("Other".into()), ..AgentPatch::default() };
    let renamed = agent.patched(patch, scene.make.tick()).unwrap();
    scene.commit(scene.changes().update(&renamed, agent.version)).await;
    assert_eq!(epoch().await, revoked, "a new name affects no key");

    let gone = renamed.decommissioned(scene.make.tick()).unwrap();
    let mut changes = scene.changes().update(&gone, renamed.version);
    changes.alters_agent_keys = true;
    scene.commit(changes).await;
    assert!(epoch().await > revoked, "an agent is decommissioned");
}

/// The organization's own keys are replaced together, or revoked with those of its agents. Keys of another
/// organization stay.
pub async fn keys_of_an_organization_are_replaced(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let agent = scene.agent().await;
    let old: Vec<_> = (0..3).map(|_| scene.make.key(scene.org).key).collect();
    for key in &old {
        scene.commit(scene.changes().create(key)).await;
    }
    let (theirs, scoped) = (other.make.key(other.org).key, scene.make.scoped_key(&agent).key);
    other.commit(other.changes().create(&theirs)).await;
    scene.commit(scene.changes().create(&scoped)).await;
    let epoch = scene.store.principals_epoch().await.unwrap();
    let (fresh, at) = (scene.make.key(scene.org).key, scene.make.tick());
    let revoke = |of_agents| Change::RevokeKeys { org: scene.org, of_agents, at };
    scene.commit(scene.changes().account(revoke(false)).create(&fresh)).await;
    assert!(scene.store.principals_epoch().await.unwrap() > epoch, "cached keys are invalidated");
    for key in &old {
        assert_eq!(scene.store.find_principal(key.hash).await.unwrap(), None);
    }
    for hash in [fresh.hash, scoped.hash, theirs.hash] {
        assert!(scene.store.find_principal(hash).await.unwrap().is_some());
    }
    scene.commit(scene.changes().account(revoke(true))).await;
    for (hash, works) in [(fresh.hash, false), (scoped.hash, false), (theirs.hash, true)] {
        assert_eq!(scene.store.find_principal(hash).await.unwrap().is_some(), works);
    }
}

/// The owner of a key that was revoked, or whose agent is decommissioned, is known. It is not known for a key in
/// force, one that never existed or one of a deleted account.
pub async fn the_owner_of_an_ended_key_is_known(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (agent, gone) = (scene.agent().await, scene.agent().await);
    let key = scene.make.key(scene.org).key;
    let scoped = [&agent, &agent, &gone].map(|agent| scene.make.scoped_key(agent).key);
    scene.commit(scene.changes().create(&key)).await;
    for key in &scoped {
        scene.commit(scene.changes().create(key)).await;
    }
    let ended = async |hash| scene.store.find_ended_key(hash).await.unwrap();
    let [revoked, living, left] = &scoped;
    for hash in [key.hash, revoked.hash, living.hash, left.hash, scene.make.key(scene.org).key.hash] {
        assert_eq!(ended(hash).await, None);
    }
    for id in [key.id, revoked.id] {
        let change = Change::RevokeKey { org: scene.org, key: id, at: scene.make.tick() };
        scene.commit(scene.changes().account(change)).await;
    }
    scene.decommission(&gone).await;
    let of = |agent, prefix: &str| Some(EndedKey { org: scene.org, agent, prefix: prefix.to_owned() });
    assert_eq!(ended(key.hash).await, of(None, &key.prefix));
    assert_eq!(ended(revoked.hash).await, of(Some(agent.id), &revoked.prefix));
    assert_eq!(ended(left.hash).await, of(Some(gone.id), &left.prefix));
    assert_eq!(ended(living.hash).await, None);

    let (org, seen) = (scene.org, scene.organization().await.version);
    scene.commit(scene.changes().account(Change::DeleteOrganization { org, seen, at: scene.make.tick() })).await;
    for hash in [key.hash, revoked.hash, living.hash, left.hash] {
        assert_eq!(ended(hash).await, None);
    }
}
