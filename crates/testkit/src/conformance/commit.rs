//! Change-sets are applied as a whole or not at all, with the right error.

use std::net::{IpAddr, Ipv4Addr};

use kalends_accounts::{Action, AuditEntry, Change, Organization, VerificationCode};
use kalends_app::{ChangeSet, Guard, StoredAnswer, ports::CommitError};
use kalends_calendars::{Agent, Calendar, Event};
use kalends_kernel::{Revision, Version};
use kalends_notifications::{EventType, Message};
use kalends_plans::Metric;
use kalends_time::SignedDuration;

use super::{
    StoreUnderTest,
    samples::TRICKY,
    scene::{Scene, assert_refused, hours, race},
};
use crate::fixtures::{Compose, metadata};

/// A working store reports that it is ready.
pub async fn the_store_is_ready(store: &StoreUnderTest) {
    store.store.ready().await.unwrap();
}

/// An empty change-set is applied and changes nothing.
pub async fn an_empty_change_set_is_applied(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let before = scene.observe().await;
    scene.commit(scene.changes()).await;
    assert_eq!(scene.observe().await, before);
}

/// Every field of a message survives, for every type. Each organization has its own messages.
pub async fn messages_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let largest = metadata(serde_json::json!({ "text": TRICKY, "filler": "é".repeat(8_000) })).to_json();
    let mut made: Vec<Message> = EventType::ALL
        .iter()
        .map(|event_type| Message { event_type: *event_type, ..scene.make.message(scene.org) })
        .collect();
    made.push(Message { payload: largest, resource_version: Version(41), ..scene.make.message(scene.org) });
    let theirs = other.make.message(other.org);
    scene.commit(made.iter().cloned().fold(scene.changes(), Compose::message)).await;
    other.commit(other.changes().message(theirs.clone())).await;
    assert_eq!(scene.observe().await.messages, made);
    assert_eq!(other.observe().await.messages, [theirs]);
}

/// Every field of an audit entry survives, empty and full, for every action. Each organization has its own entries.
pub async fn audit_entries_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let plain = || scene.make.audit_entry(scene.org);
    let mut made = vec![
        plain(),
        AuditEntry {
            actor_key_prefix: None,
            agent: None,
            ip: None,
            method: "CLI".into(),
            resource: TRICKY.into(),
            status: 0,
            duration: SignedDuration::ZERO,
            ..plain()
        },
        AuditEntry { ip: Some(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1))), status: u16::MAX, ..plain() },
    ];
    made.extend(Action::ALL.iter().map(|action| AuditEntry { action: *action, ..plain() }));
    for entry in &made {
        scene.commit(scene.changes().audit(entry.clone())).await;
    }
    let theirs = other.make.audit_entry(other.org);
    other.commit(other.changes().audit(theirs.clone())).await;
    assert_eq!(scene.observe().await.audit, made);
    assert_eq!(other.observe().await.audit, [theirs]);
}

/// The state of the atomicity cases: rows that a change-set can conflict with.
struct Stage {
    scene: Scene,
    agent: Agent,
    gone_agent: Agent,
    calendar: Calendar,
    gone_calendar: Calendar,
    event: Event,
    code: VerificationCode,
    answered: StoredAnswer,
    neighbour: Organization,
}

impl Stage {
    async fn set(store: &StoreUnderTest) -> Self {
        let scene = Scene::set(store).await;
        let agent = scene.agent().await;
        let gone_agent = scene.decommission(&scene.agent().await).await;
        let calendar = scene.calendar(&agent).await;
        let gone_calendar = scene.calendar(&agent).await;
        scene.delete(&gone_calendar).await;
        let event = scene.event(&calendar, hours(1, 2)).await;
        let (code, answered) = (scene.make.code(scene.org), scene.make.answer());
        let put = Change::PutCode { code: code.clone(), seen: None };
        scene.commit(scene.changes().account(put).answer(answered.clone())).await;
        let neighbour = Organization { email: Some(scene.make.email()), ..scene.make.organization() };
        scene.commit(ChangeSet::new(neighbour.id).create(&neighbour)).await;
        Self { scene, agent, gone_agent, calendar, gone_calendar, event, code, answered, neighbour }
    }

    /// One write of each kind, each of which would be visible.
    async fn baggage(&self) -> ChangeSet {
        let Self { scene, calendar, .. } = self;
        let organization = scene.organization().await;
        let next = Organization { version: organization.version.next(), ..organization.clone() };
        let agent = scene.make.agent(scene.org);
        let event = scene.now(&self.event).await.unwrap();
        let renamed = Event { title: "Renamed".into(), version: event.version.next(), ..event.clone() };
        let code = scene.store.find_code(scene.org).await.unwrap().unwrap();
        let tried = VerificationCode { attempts: code.attempts + 1, version: code.version.next(), ..code.clone() };
        scene
            .changes()
            .update(&next, organization.version)
            .create(&scene.make.key(scene.org).key)
            .account(Change::PutCode { code: tried, seen: Some(code.version) })
            .create(&agent)
            .create(&scene.make.calendar(&self.agent))
            .create(&scene.make.event(calendar, hours(2, 3)))
            .update(&renamed, event.version)
            .charge(scene.make.charge(None))
            .message(scene.make.message(scene.org))
            .audit(scene.make.audit_entry(scene.org))
            .answer(scene.make.answer())
    }

    /// Asserts that `spoil` makes a change-set fail as `expected`, that nothing of it is written, and that the same
    /// change-set without `spoil` is then applied.
    async fn check(&self, what: &str, expected: fn(&CommitError) -> bool, spoil: impl FnOnce(ChangeSet) -> ChangeSet) {
        let scene = &self.scene;
        let baggage = self.baggage().await;
        let before = scene.observe().await;
        let outcome = scene.try_commit(spoil(baggage.clone())).await;
        assert!(outcome.as_ref().is_err_and(expected), "{what}: {outcome:?}");
        assert_eq!(scene.observe().await, before, "{what}: nothing may be written");

        scene.commit(baggage).await;
        let after = scene.observe().await;
        assert!(after.epoch > before.epoch, "{what}");
        assert_ne!(after.code, before.code, "{what}");
        assert_ne!(after.organizations, before.organizations, "{what}");
        for (now, then) in [
            (after.agents.len(), before.agents.len()),
            (after.calendars.len(), before.calendars.len()),
            (after.events.len(), before.events.len()),
            (after.messages.len(), before.messages.len()),
            (after.audit.len(), before.audit.len()),
            (after.answers, before.answers),
        ] {
            assert_eq!(now, then + 1, "{what}");
        }
        assert_eq!(after.used.iter().sum::<u64>(), before.used.iter().sum::<u64>() + 1, "{what}");
    }
}

/// A stale update of any kind makes the whole change-set fail.
pub async fn a_stale_update_writes_nothing(store: &StoreUnderTest) {
    let stage = Stage::set(store).await;
    let stale = |error: &CommitError| matches!(error, CommitError::Stale);
    let old = Version(0);
    let Stage { scene, agent, calendar, event, code, .. } = &stage;
    stage.check("agent", stale, |changes| changes.update(agent, old)).await;
    stage.check("calendar", stale, |changes| changes.update(calendar, old)).await;
    stage.check("event", stale, |changes| changes.update(event, old)).await;
    let put = |seen| Change::PutCode { code: code.clone(), seen };
    // The baggage has written a code already when this one is checked.
    stage.check("code", stale, |changes| changes.account(put(Some(old)))).await;
    stage.check("code, thought absent", stale, |changes| changes.account(put(None))).await;
    let organization = scene.organization().await;
    stage.check("organization", stale, |changes| changes.update(&organization, old)).await;
    stage.check("missing agent", stale, |changes| changes.update(&scene.make.agent(scene.org), Version::FIRST)).await;
    let absent = scene.make.calendar(agent);
    stage.check("missing calendar", stale, |changes| changes.update(&absent, Version::FIRST)).await;
    let absent = scene.make.event(calendar, hours(1, 2));
    stage.check("missing event", stale, |changes| changes.update(&absent, Version::FIRST)).await;
}

/// A write that depends on something deleted makes the whole change-set fail, and so does a guard on a calendar that
/// has changed.
pub async fn a_write_on_something_deleted_writes_nothing(store: &StoreUnderTest) {
    let stage = Stage::set(store).await;
    let stale = |error: &CommitError| matches!(error, CommitError::Stale);
    let Stage { scene, calendar, gone_agent, gone_calendar, .. } = &stage;
    let late = scene.make.event(gone_calendar, hours(1, 2));
    stage.check("event on a deleted calendar", stale, |changes| changes.create(&late)).await;
    let late = scene.make.event(&scene.make.shared_calendar(scene.org), hours(1, 2));
    stage.check("event on a missing calendar", stale, |changes| changes.create(&late)).await;
    let late = scene.make.calendar(gone_agent);
    stage.check("calendar of a decommissioned agent", stale, |changes| changes.create(&late)).await;
    let late = scene.make.calendar(&scene.make.agent(scene.org));
    stage.check("calendar of a missing agent", stale, |changes| changes.create(&late)).await;
    let now = scene.revision(calendar).await;
    for seen in [Revision(now.0 - 1), Revision(now.0 + 5)] {
        let guard = Guard::CalendarRevision { calendar: calendar.id, seen };
        stage.check("revision", stale, |changes| changes.guard(guard)).await;
    }
    let guard = Guard::CalendarRevision { calendar: scene.make.calendar(gone_agent).id, seen: Revision(0) };
    stage.check("revision of a missing calendar", stale, |changes| changes.guard(guard)).await;
}

/// A limit that would be exceeded makes the whole change-set fail.
pub async fn a_reached_limit_writes_nothing(store: &StoreUnderTest) {
    let stage = Stage::set(store).await;
    let mut charge = stage.scene.make.charge(Some(2));
    charge.metric = Metric::Proposals;
    charge.amount = 3;
    let proposals =
        |error: &CommitError| matches!(error, CommitError::LimitReached { metric: Metric::Proposals, limit: 2 });
    stage.check("charge", proposals, |changes| changes.charge(charge)).await;
    let agents = |error: &CommitError| matches!(error, CommitError::LimitReached { metric: Metric::Agents, limit: 1 });
    let guard = Guard::AtMost { metric: Metric::Agents, limit: 1 };
    stage.check("agents", agents, |changes| changes.guard(guard)).await;
    let calendars =
        |error: &CommitError| matches!(error, CommitError::LimitReached { metric: Metric::Calendars, limit: 1 });
    let guard = Guard::AtMost { metric: Metric::Calendars, limit: 1 };
    stage.check("calendars", calendars, |changes| changes.guard(guard)).await;
}

/// A duplicate address, answer or identifier makes the whole change-set fail.
pub async fn a_duplicate_writes_nothing(store: &StoreUnderTest) {
    let stage = Stage::set(store).await;
    let Stage { scene, agent, calendar, event, answered, neighbour, .. } = &stage;
    let taken = |error: &CommitError| matches!(error, CommitError::EmailTaken);
    let second = Organization { email: neighbour.email.clone(), ..scene.make.organization() };
    stage.check("address", taken, |changes| changes.create(&second)).await;

    let answered_already = |error: &CommitError| matches!(error, CommitError::AlreadyAnswered);
    let repeated = StoredAnswer { scope: answered.scope, ..scene.make.answer() };
    stage.check("answer", answered_already, |changes| changes.answer(repeated)).await;

    let failed = |error: &CommitError| matches!(error, CommitError::Store(_));
    stage.check("agent", failed, |changes| changes.create(agent)).await;
    stage.check("calendar", failed, |changes| changes.create(calendar)).await;
    stage.check("event", failed, |changes| changes.create(event)).await;
    let key = scene.make.key(scene.org).key;
    scene.commit(scene.changes().create(&key)).await;
    stage.check("key", failed, |changes| changes.create(&key)).await;
    let message = scene.make.message(scene.org);
    scene.commit(scene.changes().message(message.clone())).await;
    stage.check("message", failed, |changes| changes.message(message)).await;
}

/// A dry run meets the conditions of its change-set and writes nothing. It leaves others of its batch alone.
pub async fn a_dry_run_writes_nothing(store: &StoreUnderTest) {
    let stage = Stage::set(store).await;
    let Stage { scene, calendar, event, .. } = &stage;
    let rolled_back = |error: &CommitError| matches!(error, CommitError::RolledBack);
    let dry = |changes: ChangeSet| ChangeSet { dry_run: true, ..changes };
    stage.check("dry run", rolled_back, dry).await;
    let stale = |error: &CommitError| matches!(error, CommitError::Stale);
    stage.check("stale dry run", stale, |changes| dry(changes.update(event, Version(0)))).await;

    let events: Vec<Event> = (0..12).map(|_| scene.make.event(calendar, hours(5, 6))).collect();
    let is_dry = |index: usize| index % 3 == 1;
    let outcomes = race(events.len(), |index| {
        let (scene, created) = (scene.clone(), scene.changes().create(&events[index]));
        async move { scene.try_commit(ChangeSet { dry_run: is_dry(index), ..created }).await }
    })
    .await;
    for (index, (event, outcome)) in events.iter().zip(outcomes).enumerate() {
        let is_rolled_back = matches!(outcome, Err(CommitError::RolledBack));
        assert!(if is_dry(index) { is_rolled_back } else { outcome.is_ok() }, "{index}: {outcome:?}");
        assert_eq!(scene.now(event).await.is_some(), !is_dry(index), "{index}");
    }
}

/// A guard compares with the revision before the change-set raises it, and does not raise it itself.
pub async fn the_revision_guard_compares_before_the_change(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (calendar, other) = (scene.shared_calendar().await, scene.shared_calendar().await);
    let guard = |calendar: &Calendar, seen| Guard::CalendarRevision { calendar: calendar.id, seen: Revision(seen) };
    for seen in 0..3 {
        let event = scene.make.event(&calendar, hours(1, 2));
        let late = scene.make.event(&calendar, hours(1, 2));
        scene.commit(scene.changes().guard(guard(&calendar, seen)).create(&event)).await;
        let again = scene.changes().guard(guard(&calendar, seen)).create(&late);
        assert_refused!(scene.try_commit(again).await, CommitError::Stale);
        assert_eq!(scene.now(&late).await, None);
    }
    scene.commit(scene.changes().guard(guard(&calendar, 3)).guard(guard(&other, 0))).await;
    assert_eq!((scene.revision(&calendar).await, scene.revision(&other).await), (Revision(3), Revision(0)));
    let one_of_two = scene.changes().guard(guard(&calendar, 3)).guard(guard(&other, 1));
    assert_refused!(scene.try_commit(one_of_two).await, CommitError::Stale);
    // A calendar of another organization cannot be guarded.
    let stranger = scene.other_organization().await;
    let foreign = stranger.changes().guard(guard(&calendar, 3));
    assert_refused!(stranger.try_commit(foreign).await, CommitError::Stale);
}

/// One change-set can make several changes to several calendars.
pub async fn a_change_set_may_span_calendars(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let (first, second) = (scene.calendar(&agent).await, scene.calendar(&agent).await);
    let event = scene.event(&first, hours(1, 2)).await;
    let after = Event { title: "Renamed".into(), version: event.version.next(), ..event.clone() };
    let paused = Agent { name: "Renamed".into(), version: agent.version.next(), ..agent.clone() };
    let renamed = Calendar { name: "Renamed".into(), version: second.version.next(), ..second.clone() };
    let added = scene.make.event(&second, hours(5, 6));
    let changes = scene
        .changes()
        .update(&paused, agent.version)
        .create(&added)
        .update(&renamed, second.version)
        .update(&after, event.version);
    scene.commit(changes).await;
    assert_eq!(scene.store.find_agent(scene.org, agent.id).await.unwrap(), Some(paused));
    assert_eq!(scene.now(&event).await, Some(after));
    assert_eq!(scene.events(second.id).await, [added]);
    let stored = scene.store.find_calendar(scene.org, second.id).await.unwrap();
    assert_eq!(
        stored,
        Some(Calendar { revision: Revision(1), ..renamed }),
        "updated and scheduled on in one change-set"
    );
    assert_eq!(scene.revision(&first).await, Revision(2));
}
