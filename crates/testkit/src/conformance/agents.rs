//! Agents.

use kalends_app::{ChangeSet, ports::CommitError};
use kalends_calendars::{Agent, AgentPatch, AgentStatus, AgentType, Patch, ports::AgentFilter};
use kalends_kernel::{AgentId, Metadata, Page, Version};
use kalends_time::SignedDuration;

use super::{
    StoreUnderTest,
    samples::{TRICKY, largest_metadata, rich_metadata},
    scene::{LARGEST_PAGE, Scene, assert_refused},
};
use crate::fixtures::{Compose, at};

/// Every field survives, empty and full, with every value of the enumerations.
pub async fn agents_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let plain = || scene.make.agent(scene.org);
    let mut made = vec![
        plain(),
        Agent {
            name: TRICKY.into(),
            description: Some(format!("{TRICKY}\n\tsecond line\r\n")),
            metadata: rich_metadata(),
            version: Version(41),
            updated_at: at("2099-12-31T23:59:59.999999Z"),
            ..plain()
        },
        Agent { name: "é".repeat(255), description: Some(String::new()), metadata: largest_metadata(), ..plain() },
    ];
    made.extend(AgentType::ALL.iter().map(|kind| Agent { kind: *kind, ..plain() }));
    made.extend(AgentStatus::ALL.iter().map(|status| Agent { status: *status, ..plain() }));
    made.sort_by_key(|agent| agent.created_at);
    for agent in &made {
        scene.commit(scene.changes().create(agent)).await;
        assert_eq!(scene.store.find_agent(scene.org, agent.id).await.unwrap().as_ref(), Some(agent));
    }
    let listed = scene.store.list_agents(scene.org, AgentFilter::default(), LARGEST_PAGE).await.unwrap();
    assert_eq!((listed.data, listed.total), (made.clone(), made.len() as u64));
}

/// An update writes every mutable field, and only at the version that was seen.
pub async fn agents_are_updated_only_at_the_version_seen(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let before = Agent { metadata: rich_metadata(), ..scene.make.agent(scene.org) };
    scene.commit(scene.changes().create(&before)).await;
    let patch = AgentPatch {
        name: Patch::Set(TRICKY.into()),
        description: Patch::Set(Some("now described".into())),
        metadata: Patch::Set(Metadata::default()),
        status: Patch::Set(AgentStatus::Paused),
    };
    let after = before.patched(patch, scene.make.tick()).unwrap();
    let changes = scene.changes().update(&after, before.version);
    scene.commit(changes.clone()).await;
    let found = async |agent: &Agent| scene.store.find_agent(scene.org, agent.id).await.unwrap();
    assert_eq!(found(&after).await.as_ref(), Some(&after));

    assert_refused!(scene.try_commit(changes).await, CommitError::Stale);
    let late = Agent { name: "Late".into(), ..after.clone() };
    assert_refused!(scene.try_commit(scene.changes().update(&late, before.version)).await, CommitError::Stale);
    assert_eq!(found(&after).await.as_ref(), Some(&after));

    let missing = scene.make.agent(scene.org);
    assert_refused!(scene.try_commit(scene.changes().update(&missing, missing.version)).await, CommitError::Stale);
    assert_eq!(found(&missing).await, None);
}

/// A decommissioned agent stays readable and listed.
pub async fn decommissioned_agents_stay_readable(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let gone = scene.decommission(&scene.agent().await).await;
    assert_eq!(scene.store.find_agent(scene.org, gone.id).await.unwrap().as_ref(), Some(&gone));
    let listed = scene.store.list_agents(scene.org, AgentFilter::default(), LARGEST_PAGE).await.unwrap();
    assert_eq!((listed.data, listed.total), (vec![gone], 1));
}

/// Filters apply alone and together, and the total counts the matches.
pub async fn agents_are_listed_by_filter(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let mut made = Vec::new();
    for kind in AgentType::ALL {
        for status in AgentStatus::ALL {
            let agent = Agent { kind: *kind, status: *status, ..scene.make.agent(scene.org) };
            scene.commit(scene.changes().create(&agent)).await;
            made.push(agent);
        }
    }
    let kinds = AgentType::ALL.iter().copied().map(Some).chain([None]);
    for kind in kinds {
        for status in AgentStatus::ALL.iter().copied().map(Some).chain([None]) {
            let listed = scene.store.list_agents(scene.org, AgentFilter { kind, status }, LARGEST_PAGE).await.unwrap();
            let expected: Vec<Agent> = made
                .iter()
                .filter(|agent| kind.is_none_or(|kind| agent.kind == kind))
                .filter(|agent| status.is_none_or(|status| agent.status == status))
                .cloned()
                .collect();
            assert_eq!((listed.total, listed.data), (expected.len() as u64, expected), "{kind:?} {status:?}");
        }
    }
}

/// Lists are ordered by creation, then identifier. Pages do not affect the total.
pub async fn agents_are_listed_by_creation_in_pages(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let together = scene.make.tick();
    let mut made: Vec<Agent> = (0..7).map(|_| scene.make.agent(scene.org)).collect();
    // Three are made at the same time, and the last one is made the oldest.
    for agent in &mut made[2..5] {
        agent.created_at = together;
    }
    made[6].created_at = together - SignedDuration::micros(1);
    for agent in made.iter().rev() {
        scene.commit(scene.changes().create(agent)).await;
    }
    made.sort_by_key(|agent| (agent.created_at, agent.id));
    for page in [
        LARGEST_PAGE,
        Page { limit: 1, offset: 0 },
        Page { limit: 3, offset: 2 },
        Page { limit: 7, offset: 0 },
        Page { limit: 5, offset: 5 },
        Page { limit: 50, offset: 7 },
        Page { limit: 50, offset: 1_000_000 },
        Page { limit: 50, offset: u32::MAX },
    ] {
        let listed = scene.store.list_agents(scene.org, AgentFilter::default(), page).await.unwrap();
        let expected: Vec<Agent> = made.iter().skip(page.offset as usize).take(page.limit as usize).cloned().collect();
        assert_eq!((listed.data, listed.total), (expected, 7), "{page:?}");
    }
    // A filter that matches nothing, also beyond the end.
    let none = AgentFilter { kind: Some(AgentType::Resource), status: None };
    for page in [LARGEST_PAGE, Page { limit: 1, offset: 3 }] {
        let listed = scene.store.list_agents(scene.org, none, page).await.unwrap();
        assert_eq!((listed.data, listed.total), (vec![], 0));
    }
}

/// An organization neither sees nor changes the agents of another.
pub async fn agents_of_other_organizations_are_absent(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let other = scene.other_organization().await;
    assert_eq!(other.store.find_agent(other.org, agent.id).await.unwrap(), None);
    let listed = other.store.list_agents(other.org, AgentFilter::default(), LARGEST_PAGE).await.unwrap();
    assert_eq!((listed.data, listed.total), (vec![], 0));
    let unknown = AgentId::new(scene.make.tick(), &scene.make.entropy);
    assert_eq!(scene.store.find_agent(scene.org, unknown).await.unwrap(), None);

    let stolen = Agent { org: other.org, name: "Stolen".into(), version: agent.version.next(), ..agent.clone() };
    let changes = ChangeSet::new(other.org).update(&stolen, agent.version);
    assert_refused!(other.try_commit(changes).await, CommitError::Stale);
    assert_eq!(scene.store.find_agent(scene.org, agent.id).await.unwrap(), Some(agent));
}
