//! Calendars.

use kalends_app::{ChangeSet, ports::CommitError};
use kalends_calendars::{
    Agent, AgentActivity, AgentStatus, Calendar, CalendarPatch, Conflicts, ContextEvents, Event, Patch, Provider,
    RecurrenceDefault,
    ports::{AgentFilter, CalendarEntry, CalendarFilter, EventFilter, EventScope},
};
use kalends_kernel::{AgentId, CalendarId, Metadata, Page, Revision, Version};
use kalends_time::SignedDuration;

use super::{
    StoreUnderTest,
    samples::{TRICKY, largest_metadata, reminders, rich_metadata},
    scene::{LARGEST_PAGE, Scene, assert_refused, hours},
};
use crate::fixtures::{Compose, at};

async fn found(scene: &Scene, id: CalendarId) -> Option<Calendar> {
    scene.store.find_calendar(scene.org, id).await.unwrap()
}

async fn listed(scene: &Scene, filter: CalendarFilter) -> Vec<Calendar> {
    let listed = scene.store.list_calendars(scene.org, filter, LARGEST_PAGE).await.unwrap();
    assert_eq!(listed.total, listed.data.len() as u64, "{filter:?}");
    listed.data
}

/// Every field survives, empty and full, with every value of the enumerations.
pub async fn calendars_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let plain = || scene.make.calendar(&agent);
    let mut made = vec![
        plain(),
        scene.make.shared_calendar(scene.org),
        Calendar {
            name: TRICKY.into(),
            zone: "America/Argentina/ComodRivadavia".parse().unwrap(),
            metadata: rich_metadata(),
            external_id: Some(format!("{TRICKY}@group.calendar.google.com")),
            version: Version(41),
            updated_at: at("2099-12-31T23:59:59.999999Z"),
            ..plain()
        },
        Calendar { name: "é".repeat(255), metadata: largest_metadata(), external_id: Some(String::new()), ..plain() },
    ];
    made.extend(AgentActivity::ALL.iter().map(|activity| Calendar { activity: *activity, ..plain() }));
    made.extend(Provider::ALL.iter().map(|provider| Calendar { provider: Some(*provider), ..plain() }));
    made.extend(Conflicts::ALL.iter().map(|conflicts| Calendar { conflicts: *conflicts, ..plain() }));
    made.extend(
        RecurrenceDefault::ALL.iter().map(|default| Calendar { recurrence_default: Some(*default), ..plain() }),
    );
    made.extend(reminders().map(|default_reminders| Calendar { default_reminders, ..plain() }));
    for zone in ["UTC", "Europe/Berlin", "Asia/Kathmandu", "Etc/GMT+12"] {
        made.push(Calendar { zone: zone.parse().unwrap(), ..plain() });
    }
    made.sort_by_key(|calendar| calendar.created_at);
    for calendar in &made {
        scene.commit(scene.changes().create(calendar)).await;
        assert_eq!(found(&scene, calendar.id).await.as_ref(), Some(calendar));
    }
    assert_eq!(listed(&scene, CalendarFilter::All).await, made);
}

/// An update writes every mutable field, and only at the version that was seen.
pub async fn calendars_are_updated_only_at_the_version_seen(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let before = scene.shared_calendar().await;
    let [.., most_reminders] = reminders();
    let patch = CalendarPatch {
        name: Patch::Set(TRICKY.into()),
        zone: Patch::Set("Pacific/Kiritimati".parse().unwrap()),
        activity: Patch::Set(AgentActivity::Error),
        default_reminders: Patch::Set(most_reminders),
        conflicts: Patch::Set(Conflicts::Refuse),
        recurrence_default: Patch::Set(Some(RecurrenceDefault::Calendar)),
        metadata: Patch::Set(rich_metadata()),
    };
    let after = Calendar {
        external_id: Some("external".into()),
        provider: Some(Provider::Microsoft),
        ..before.patched(patch, scene.make.tick()).with_feed_token("another-token".into(), scene.make.tick())
    };
    let changes = scene.changes().update(&after, before.version);
    scene.commit(changes.clone()).await;
    assert_eq!(found(&scene, after.id).await.as_ref(), Some(&after));

    assert_refused!(scene.try_commit(changes).await, CommitError::Stale);
    let late = Calendar { name: "Late".into(), ..after.clone() };
    assert_refused!(scene.try_commit(scene.changes().update(&late, before.version)).await, CommitError::Stale);
    assert_eq!(found(&scene, after.id).await.as_ref(), Some(&after));

    let cleared = Calendar {
        default_reminders: None,
        metadata: Metadata::default(),
        external_id: None,
        provider: None,
        version: after.version.next(),
        ..after.clone()
    };
    scene.commit(scene.changes().update(&cleared, after.version)).await;
    assert_eq!(found(&scene, after.id).await.as_ref(), Some(&cleared));

    let missing = scene.make.shared_calendar(scene.org);
    assert_refused!(scene.try_commit(scene.changes().update(&missing, missing.version)).await, CommitError::Stale);
    assert_eq!(found(&scene, missing.id).await, None);
}

/// The revision belongs to the store: an update of the row leaves it alone, whatever the row says.
pub async fn an_update_leaves_the_revision_alone(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    scene.event(&calendar, hours(1, 2)).await;
    scene.event(&calendar, hours(2, 3)).await;
    // The snapshot still has revision 0; the other row has a revision that never existed.
    for (version, claimed) in [(calendar.version, Revision(0)), (calendar.version.next(), Revision(99))] {
        let row = Calendar { revision: claimed, version: version.next(), ..calendar.clone() };
        scene.commit(scene.changes().update(&row, version)).await;
        assert_eq!(scene.revision(&calendar).await, Revision(2));
    }
}

/// Filters by owner: one agent, all agents, or the shared calendars too.
pub async fn calendars_are_listed_by_owner(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (ada, bob, idle) = (scene.agent().await, scene.agent().await, scene.agent().await);
    let first = scene.calendar(&ada).await;
    let second = scene.calendar(&bob).await;
    let shared = scene.shared_calendar().await;
    let fourth = scene.calendar(&ada).await;
    for (filter, expected) in [
        (CalendarFilter::OfAgent(ada.id), vec![&first, &fourth]),
        (CalendarFilter::OfAgent(bob.id), vec![&second]),
        (CalendarFilter::OfAgent(idle.id), vec![]),
        (CalendarFilter::OfAgent(AgentId::new(scene.make.tick(), &scene.make.entropy)), vec![]),
        (CalendarFilter::OfAgentAndShared(ada.id), vec![&first, &shared, &fourth]),
        (CalendarFilter::OfAgentAndShared(idle.id), vec![&shared]),
        (CalendarFilter::OfAgents, vec![&first, &second, &fourth]),
        (CalendarFilter::All, vec![&first, &second, &shared, &fourth]),
    ] {
        assert_eq!(listed(&scene, filter).await.iter().collect::<Vec<_>>(), expected, "{filter:?}");
    }
}

/// Lists are ordered by creation, then identifier. Pages do not affect the total.
pub async fn calendars_are_listed_by_creation_in_pages(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let together = scene.make.tick();
    let mut made: Vec<Calendar> = (0..7).map(|_| scene.make.calendar(&agent)).collect();
    for calendar in &mut made[2..5] {
        calendar.created_at = together;
    }
    made[6].created_at = together - SignedDuration::micros(1);
    for calendar in made.iter().rev() {
        scene.commit(scene.changes().create(calendar)).await;
    }
    made.sort_by_key(|calendar| (calendar.created_at, calendar.id));
    for filter in [
        CalendarFilter::OfAgent(agent.id),
        CalendarFilter::OfAgentAndShared(agent.id),
        CalendarFilter::OfAgents,
        CalendarFilter::All,
    ] {
        for page in [
            LARGEST_PAGE,
            Page { limit: 1, offset: 0 },
            Page { limit: 3, offset: 2 },
            Page { limit: 7, offset: 0 },
            Page { limit: 5, offset: 5 },
            Page { limit: 50, offset: 7 },
            Page { limit: 50, offset: u32::MAX },
        ] {
            let listed = scene.store.list_calendars(scene.org, filter, page).await.unwrap();
            let expected: Vec<Calendar> =
                made.iter().skip(page.offset as usize).take(page.limit as usize).cloned().collect();
            assert_eq!((listed.data, listed.total), (expected, 7), "{filter:?} {page:?}");
        }
    }
}

/// Each calendar has an entry with the name of its agent, and a shared one without. Pages do not affect the total.
pub async fn calendars_have_entries_with_the_names_of_their_agents(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (ada, bob) = (scene.agent().await, scene.agent().await);
    let seen = ada.version;
    let ada = Agent { name: "Ada \u{1f41f}".to_owned(), version: seen.next(), ..ada };
    scene.commit(scene.changes().update(&ada, seen)).await;
    let first = scene.calendar(&ada).await;
    let zone = "Asia/Kathmandu".parse().unwrap();
    let shared = Calendar { conflicts: Conflicts::Refuse, zone, ..scene.make.shared_calendar(scene.org) };
    scene.commit(scene.changes().create(&shared)).await;
    let calendars = [first, shared, scene.calendar(&bob).await];
    let expected = calendars.iter().zip([Some(&ada), None, Some(&bob)]).map(|(calendar, agent)| CalendarEntry {
        id: calendar.id,
        name: calendar.name.clone(),
        agent: agent.map(|agent| (agent.id, agent.name.clone())),
        zone: calendar.zone,
        conflicts: calendar.conflicts,
    });
    let expected: Vec<_> = expected.collect();
    for (limit, offset) in [(200, 0), (3, 0), (1, 1), (2, 2), (50, 3)] {
        let listed = scene.store.calendar_entries(scene.org, Page { limit, offset }).await.unwrap();
        let of_page: Vec<_> = expected.iter().skip(offset as usize).take(limit as usize).cloned().collect();
        assert_eq!((listed.data, listed.total), (of_page, 3), "{limit} {offset}");
    }
    scene.decommission(&bob).await;
    let left = scene.store.calendar_entries(scene.org, LARGEST_PAGE).await.unwrap();
    assert_eq!((left.data.as_slice(), left.total), (&expected[..2], 2));
    let other = scene.other_organization().await;
    assert_eq!(other.store.calendar_entries(other.org, LARGEST_PAGE).await.unwrap().data, []);
}

/// An organization neither sees nor changes the calendars of another, nor schedules on them.
pub async fn calendars_of_other_organizations_are_absent(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let calendar = scene.calendar(&agent).await;
    let other = scene.other_organization().await;
    assert_eq!(found(&other, calendar.id).await, None);
    for filter in [CalendarFilter::All, CalendarFilter::OfAgents, CalendarFilter::OfAgent(agent.id)] {
        assert_eq!(listed(&other, filter).await, []);
    }
    let stolen = Calendar { org: other.org, version: calendar.version.next(), ..calendar.clone() };
    let refused = [
        other.changes().update(&stolen, calendar.version),
        other.changes().create(&Calendar { org: other.org, ..other.make.calendar(&agent) }),
        other.changes().create(&Event { org: other.org, ..other.make.event(&calendar, hours(1, 2)) }),
    ];
    for changes in refused {
        assert_refused!(other.try_commit(changes).await, CommitError::Stale);
    }
    assert_eq!(found(&scene, calendar.id).await, Some(calendar));
    assert_eq!(listed(&other, CalendarFilter::All).await, []);
}

/// A calendar needs an agent of the organization that is not decommissioned. A paused one will do.
pub async fn calendars_need_an_agent_that_is_not_decommissioned(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let gone = scene.decommission(&scene.agent().await).await;
    let unknown = scene.make.agent(scene.org);
    let other = scene.other_organization().await;
    let foreign = Agent { org: scene.org, ..other.agent().await };
    for agent in [&gone, &unknown, &foreign] {
        let calendar = scene.make.calendar(agent);
        assert_refused!(scene.try_commit(scene.changes().create(&calendar)).await, CommitError::Stale);
        assert_eq!(found(&scene, calendar.id).await, None);
    }
    let paused = Agent { status: AgentStatus::Paused, ..scene.make.agent(scene.org) };
    scene.commit(scene.changes().create(&paused)).await;
    let calendar = scene.calendar(&paused).await;
    assert_eq!(found(&scene, calendar.id).await, Some(calendar));
}

/// Asserts that no read returns the calendar, its events or anything derived from them.
async fn assert_invisible(scene: &Scene, calendar: &Calendar, event: &Event) {
    assert_eq!(found(scene, calendar.id).await, None);
    assert_eq!(scene.store.find_event(scene.org, event.id).await.unwrap(), None);
    assert_eq!(scene.events(calendar.id).await, []);
    let during = event.times.span.start();
    let context = scene.store.context_events(scene.org, calendar.id, during).await.unwrap();
    assert_eq!(context, ContextEvents::default());
    assert_eq!(scene.store.source_of_calendar(scene.org, calendar.id).await.unwrap(), None);
    assert_eq!(scene.store.blocking_spans(scene.org, calendar.id, event.times.span).await.unwrap(), None);
    if let Some(agent) = calendar.agent {
        let sources = scene.store.sources_of_agents(scene.org, &[agent]).await.unwrap();
        assert!(sources.iter().all(|source| source.calendar != calendar.id));
        let scope = EventScope::Agent(agent);
        let events = scene.store.list_events(scene.org, scope, EventFilter::default(), LARGEST_PAGE).await.unwrap();
        assert!(events.data.iter().all(|other| other.id != event.id));
        assert_eq!(events.total, events.data.len() as u64);
        let of_agent = listed(scene, CalendarFilter::OfAgent(agent)).await;
        assert!(of_agent.iter().all(|other| other.id != calendar.id));
    }
    for filter in [CalendarFilter::OfAgents, CalendarFilter::All] {
        assert!(listed(scene, filter).await.iter().all(|other| other.id != calendar.id));
    }
    // Nothing can be scheduled on it or changed, either.
    let late = scene.make.event(calendar, hours(5, 6));
    assert_refused!(scene.try_commit(scene.changes().create(&late)).await, CommitError::Stale);
    let moved = Event { version: event.version.next(), ..event.clone() };
    assert_refused!(scene.try_commit(scene.changes().update(&moved, event.version)).await, CommitError::Stale);
}

/// Deleting a calendar hides its events, and nothing else.
pub async fn a_deleted_calendar_is_hidden(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    for owner in [Some(&agent), None] {
        let mut calendars = Vec::new();
        for _ in 0..2 {
            calendars.push(match owner {
                Some(agent) => scene.calendar(agent).await,
                None => scene.shared_calendar().await,
            });
        }
        let (gone, stays) = (&calendars[0], &calendars[1]);
        let lost = scene.event(gone, hours(1, 2)).await;
        let kept = scene.event(stays, hours(1, 2)).await;
        scene.delete(gone).await;
        assert_invisible(&scene, gone, &lost).await;
        assert_eq!(scene.events(stays.id).await, std::slice::from_ref(&kept));
        assert_eq!(scene.now(&kept).await, Some(kept));
    }
}

/// Decommissioning an agent hides all its calendars and events, and nothing else.
pub async fn calendars_of_a_decommissioned_agent_are_hidden(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (agent, colleague) = (scene.agent().await, scene.agent().await);
    let (first, second) = (scene.calendar(&agent).await, scene.calendar(&agent).await);
    let (theirs, shared) = (scene.calendar(&colleague).await, scene.shared_calendar().await);
    let lost = [scene.event(&first, hours(1, 2)).await, scene.event(&second, hours(1, 2)).await];
    let kept = [scene.event(&theirs, hours(1, 2)).await, scene.event(&shared, hours(1, 2)).await];
    scene.decommission(&agent).await;
    assert_invisible(&scene, &first, &lost[0]).await;
    assert_invisible(&scene, &second, &lost[1]).await;
    for event in kept {
        assert_eq!(scene.now(&event).await, Some(event));
    }
    let visible: Vec<_> = scene.calendars().await.iter().map(|calendar| calendar.id).collect();
    assert_eq!(visible, [theirs.id, shared.id]);
    let agents = scene.store.list_agents(scene.org, AgentFilter::default(), LARGEST_PAGE).await.unwrap();
    assert_eq!(agents.total, 2, "the agent itself is still listed");
}

/// A feed's address is secret, and no two calendars share one: a duplicate fails as a whole.
pub async fn feed_tokens_are_unique(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let other = scene.other_organization().await;
    let clash = Calendar { feed_token: calendar.feed_token.clone(), ..other.make.shared_calendar(other.org) };
    let changes = ChangeSet::new(other.org).create(&clash);
    assert_refused!(other.try_commit(changes).await, CommitError::Store(_));
    assert_eq!(found(&other, clash.id).await, None);
    let theirs = other.shared_calendar().await;
    let rotated = theirs.with_feed_token(calendar.feed_token.clone(), other.make.tick());
    assert_refused!(other.try_commit(other.changes().update(&rotated, theirs.version)).await, CommitError::Store(_));
    assert_eq!(found(&other, theirs.id).await, Some(theirs));
}

/// A walk in the order of creation skips no calendar, whatever is deleted behind it, and returns only visible ones.
pub async fn calendars_are_walked_while_some_are_deleted(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (agent, leaving) = (scene.agent().await, scene.agent().await);
    let instant = scene.make.tick();
    let mut made = Vec::new();
    for index in 0..7 {
        let calendar = if index % 2 == 0 { scene.make.shared_calendar(scene.org) } else { scene.make.calendar(&agent) };
        // Some have the same creation time, and others are ordered against their identifiers.
        let created_at = instant + SignedDuration::micros([0, 0, 0, 5, 4, -1, 6][index]);
        made.push(Calendar { created_at, ..calendar });
    }
    for calendar in &made {
        scene.commit(scene.changes().create(calendar)).await;
    }
    other.shared_calendar().await;
    scene.calendar(&leaving).await;
    scene.decommission(&leaving).await;
    made.sort_by_key(|calendar| (calendar.created_at, calendar.id));
    let after = async |after, limit| scene.store.calendars_after(scene.org, after, limit).await.unwrap();
    let place = |calendar: &Calendar| (calendar.created_at, calendar.id);
    for limit in [1, 2, 3, 7, 200] {
        let (mut walked, mut last) = (Vec::new(), None);
        loop {
            let page = after(last, limit).await;
            assert!(page.len() <= limit as usize);
            if page.is_empty() {
                break;
            }
            last = page.last().map(place);
            walked.extend(page);
        }
        assert_eq!(walked, made, "{limit}");
    }
    // The first is deleted while the walk is at the second, and then the second is deleted too.
    scene.delete(&made[0]).await;
    assert_eq!(after(Some(place(&made[1])), 200).await, made[2..]);
    scene.delete(&made[1]).await;
    assert_eq!(after(Some(place(&made[1])), 200).await, made[2..]);
}
