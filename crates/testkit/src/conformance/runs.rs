//! The journal of runs.

use kalends_app::{ChangeSet, ports::CommitError};
use kalends_calendars::{Attendees, Change, Event, Reminders};
use kalends_kernel::{AgentId, EventId, OrgId, ProposalId, RunWriteId, Version};
use kalends_runs::{Change as Journaled, Entry, Kept, Resource, RunKey, RunName, WRITES_MAX};
use kalends_time::{SignedDuration, Timestamp};
use serde_json::json;

use super::{
    StoreUnderTest,
    scene::{Scene, assert_refused, hours},
};
use crate::fixtures::{Fixtures, metadata};

fn run(owner: Option<AgentId>, name: &str) -> RunKey {
    RunKey { owner, name: RunName::parse(name).unwrap() }
}

fn hour(hour: i64) -> Timestamp {
    Fixtures::BEGINNING + SignedDuration::hours(hour)
}

/// The write of an event that is now at this version, at that hour.
fn entry(make: &Fixtures, before: Option<Event>, (id, after): (EventId, Version), at: i64) -> Entry {
    Entry {
        id: RunWriteId::new(hour(at), &make.entropy),
        operation: "updateEvent".to_owned(),
        resource: Resource::Event(id),
        before: before.map(Box::new),
        after,
        at: hour(at),
        undone_at: None,
    }
}

/// A change-set that records these writes.
fn recording(scene: &Scene, run: &RunKey, entries: &[Entry]) -> ChangeSet {
    let record = |entry: &Entry| Journaled::Record { run: run.clone(), entry: Box::new(entry.clone()) };
    ChangeSet { runs: entries.iter().map(record).collect(), ..scene.changes() }
}

fn undoing(scene: &Scene, run: &RunKey, count: u64) -> ChangeSet {
    let undo = Journaled::Undo { run: run.clone(), count, at: hour(9) };
    ChangeSet { runs: vec![undo], ..scene.changes() }
}

/// Writes come back as they were recorded, with every kind of state, in the order of their times. Runs of other owners,
/// of other names and of other organizations are separate.
pub async fn writes_of_runs_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (agent, other) = (scene.agent().await, scene.other_organization().await);
    let calendar = scene.shared_calendar().await;
    let make = &scene.make;
    let rich = Event {
        description: Some("Bring the \u{1f9ee}.".to_owned()),
        location: Some("Room 1".to_owned()),
        attendees: Attendees::default(),
        metadata: metadata(json!({ "rate": 1.5, "big": 12_345_678_901_234_567_u64, "nested": { "a": [null, true] } })),
        reminders: Some(Reminders::parse("reminders", &[5, 30]).unwrap()),
        transparent: true,
        ..make.event(&calendar, hours(1, 2))
    };
    let series = make.series(&calendar, hours(3, 4), "FREQ=DAILY;COUNT=9");
    let occurrence = Event { id: an_id(make), ..series.instance(hours(27, 28).start()).unwrap() };
    let hold = make.hold(&calendar, hours(7, 8), SignedDuration::minutes(5));
    let gone = make.event(&calendar, hours(9, 10)).deleted(hour(2)).unwrap();
    // The first is the last of its run.
    let states = [Some(rich), Some(series), Some(occurrence), Some(hold), Some(gone), None];
    let recorded = (1..=6).rev().zip(states).map(|(at, before)| {
        let id = before.as_ref().map_or_else(|| an_id(make), |before| before.id);
        entry(make, before, (id, Version(at + 1)), at)
    });
    let mut entries: Vec<Entry> = recorded.collect();
    let proposal = Resource::Proposal(ProposalId::new(hour(7), &make.entropy));
    entries.push(Entry { resource: proposal, ..entry(make, None, (an_id(make), Version::FIRST), 7) });
    let own = run(Some(agent.id), "plan");
    scene.commit(recording(&scene, &own, &entries)).await;
    entries.sort_by_key(|entry| entry.at);
    let written = async |org: OrgId, run: &RunKey| scene.store.run_writes(org, run).await.unwrap();
    assert_eq!(written(scene.org, &own).await, entries);
    assert_eq!(scene.store.count_run_writes(scene.org, &own).await.unwrap(), entries.len() as u64);
    for (org, other) in [
        (scene.org, run(None, "plan")),
        (scene.org, run(Some(agent.id), "plans")),
        (other.org, run(Some(agent.id), "plan")),
    ] {
        assert!(written(org, &other).await.is_empty());
        assert_eq!(scene.store.count_run_writes(org, &other).await.unwrap(), 0);
    }
}

fn an_id(make: &Fixtures) -> EventId {
    EventId::new(hour(0), &make.entropy)
}

/// An undo marks all writes of its run that are not marked yet. It is stale if there are more or fewer than it read.
pub async fn an_undo_marks_the_writes_that_it_read(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let make = &scene.make;
    let write = |at| entry(make, None, (an_id(make), Version::FIRST), at);
    let (plan, other) = (run(None, "plan"), run(None, "other"));
    scene.commit(recording(&scene, &plan, &[write(1), write(2)])).await;
    scene.commit(recording(&scene, &other, &[write(1)])).await;
    for count in [0, 1, 3] {
        assert_refused!(scene.try_commit(undoing(&scene, &plan, count)).await, CommitError::Stale);
    }
    let undone = async |run: &RunKey| -> Vec<bool> {
        let writes = scene.store.run_writes(scene.org, run).await.unwrap();
        writes.iter().map(|entry| entry.undone_at == Some(hour(9))).collect()
    };
    assert_eq!(undone(&plan).await, [false, false]);
    scene.commit(undoing(&scene, &plan, 2)).await;
    assert_eq!(undone(&plan).await, [true, true]);
    assert_refused!(scene.try_commit(undoing(&scene, &plan, 2)).await, CommitError::Stale);
    // A later write of the same name is a new one.
    scene.commit(recording(&scene, &plan, &[write(3)])).await;
    assert_eq!((undone(&plan).await, undone(&other).await), (vec![true, true, false], vec![false]));
}

/// A run has no more writes than it may have, although several requests write at the same time.
pub async fn a_run_has_a_bounded_number_of_writes(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let make = &scene.make;
    let write = || entry(make, None, (an_id(make), Version::FIRST), 1);
    let (plan, other) = (run(None, "plan"), run(None, "other"));
    let most: Vec<Entry> = (0..WRITES_MAX).map(|_| write()).collect();
    let more = [most.as_slice(), &[write()]].concat();
    assert_refused!(scene.try_commit(recording(&scene, &plan, &more)).await, CommitError::Stale);
    let (half, rest) = most.split_at(WRITES_MAX / 2);
    scene.commit(recording(&scene, &plan, half)).await;
    scene.commit(recording(&scene, &plan, rest)).await;
    assert_refused!(scene.try_commit(recording(&scene, &plan, &[write()])).await, CommitError::Stale);
    scene.commit(recording(&scene, &other, &[write()])).await;
    assert_eq!(scene.store.count_run_writes(scene.org, &plan).await.unwrap(), WRITES_MAX as u64);
}

/// A change-set whose other writes are refused records nothing, and neither does a dry run.
pub async fn a_write_is_recorded_only_with_its_change(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let event = scene.event(&calendar, hours(1, 2)).await;
    let plan = run(None, "plan");
    let write = [entry(&scene.make, Some(event.clone()), (event.id, event.version.next()), 1)];
    let update = Change::UpdateEvent { event: event.deleted(hour(1)).unwrap(), seen: event.version.next() };
    let refused = ChangeSet { calendars: vec![update], ..recording(&scene, &plan, &write) };
    assert_refused!(scene.try_commit(refused).await, CommitError::Stale);
    let dry = ChangeSet { dry_run: true, ..recording(&scene, &plan, &write) };
    assert!(matches!(scene.try_commit(dry).await, Err(CommitError::RolledBack)));
    assert!(scene.store.run_writes(scene.org, &plan).await.unwrap().is_empty());
}

/// The present state of an event is found whatever became of it and of its calendar.
pub async fn kept_events_are_found_whatever_became_of_them(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let (own, shared) = (scene.calendar(&agent).await, scene.shared_calendar().await);
    let stays = scene.event(&own, hours(1, 2)).await;
    let event = scene.event(&shared, hours(1, 2)).await;
    let gone = event.deleted(hour(3)).unwrap();
    scene.commit(ChangeSet { calendars: vec![Change::update(&event, gone.clone())], ..scene.changes() }).await;
    scene.delete(&shared).await;
    let unknown = EventId::new(hour(1), &scene.make.entropy);
    let mut expected =
        [Kept { event: stays.clone(), agent: Some(agent.id) }, Kept { event: gone.clone(), agent: None }];
    expected.sort_by_key(|kept| kept.event.id);
    let found = scene.store.kept_events(scene.org, &[gone.id, unknown, stays.id]).await.unwrap();
    assert_eq!(found, expected);
    let elsewhere = scene.other_organization().await.org;
    assert!(scene.store.kept_events(elsewhere, &[stays.id]).await.unwrap().is_empty());
}

/// Old writes are purged in slices, except those of runs that have a later one.
pub async fn old_writes_of_runs_are_purged(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let make = &scene.make;
    let plan = run(None, "plan");
    let writes: Vec<Entry> = (1..=4).map(|at| entry(make, None, (an_id(make), Version::FIRST), at)).collect();
    scene.commit(recording(&scene, &plan, &writes)).await;
    let purge = async |before, limit| scene.store.purge_run_writes(hour(before), limit).await.unwrap();
    let left = async || scene.store.count_run_writes(scene.org, &plan).await.unwrap();
    assert_eq!((purge(0, 9).await, left().await), (0, 4));
    assert_eq!((purge(3, 9).await, left().await), (0, 4), "the last write is newer");
    // The writes of other runs, owners and organizations keep none.
    let (agent, theirs) = (scene.agent().await, scene.other_organization().await);
    let old = [entry(make, None, (an_id(make), Version::FIRST), 2)];
    for other in [run(None, "other"), run(Some(agent.id), "plan")] {
        let old = [entry(make, None, (an_id(make), Version::FIRST), 2)];
        scene.commit(recording(&scene, &other, &old)).await;
    }
    theirs.commit(recording(&theirs, &plan, &old)).await;
    assert_eq!((purge(3, 2).await, purge(3, 2).await, left().await), (2, 1, 4));
    assert_eq!((purge(4, 3).await, left().await), (3, 1));
    assert_eq!((purge(4, 3).await, left().await), (1, 0));
}
