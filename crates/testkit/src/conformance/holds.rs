//! Holds.

use std::collections::BTreeMap;

use kalends_app::{Guard, ports::CommitError};
use kalends_calendars::{
    Agent, AgentStatus, Calendar, Change, Event, EventStatus, Hold, HoldScope, HoldSet,
    ports::{EventFilter, EventScope, HoldSetFilter, InstanceFilter, LiveHold, StatusAt},
};
use kalends_kernel::{HoldSetId, Listed, MetadataFilter, PAGE_BYTES_MAX, Page, Version};
use kalends_time::{SignedDuration, Timestamp};

use super::{
    StoreUnderTest,
    scene::{LARGEST_PAGE, Scene, assert_refused, hours, race, successes},
};
use crate::fixtures::Compose;

const MINUTE: SignedDuration = SignedDuration::minutes(1);
/// How many requests place holds at once. The clock advances by some seconds for each of them, by less than a minute for
/// all.
const PLACING: usize = 6;

/// Stores a hold that is visible and has not expired.
async fn held(scene: &Scene, calendar: &Calendar, start: i64, end: i64) -> Event {
    scene.stored(scene.make.hold(calendar, hours(start, end), MINUTE)).await
}

fn expiry(event: &Event) -> Timestamp {
    event.hold.unwrap().expires_at
}

/// All fields of a hold are kept, and are cleared when it ends. Its hold set stays.
pub async fn holds_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let set = Some(HoldSetId::new(scene.make.tick(), &scene.make.entropy));
    let made = scene.make.hold(&calendar, hours(1, 2), MINUTE);
    let hold = Hold { expires_at: expiry(&made) + SignedDuration::micros(7), priority: 100, scope: HoldScope::Agent };
    let made = scene.stored(Event { hold: Some(hold), hold_set: set, ..made }).await;
    assert_eq!(scene.now(&made).await.as_ref(), Some(&made));

    let confirmed = made.confirmed(scene.make.tick()).unwrap();
    scene.commit(scene.changes().update(&confirmed, made.version)).await;
    let found = scene.now(&made).await.unwrap();
    assert_eq!((&found, found.hold, found.hold_set), (&confirmed, None, set));

    let other = held(&scene, &calendar, 3, 4).await;
    let expired = other.expired(expiry(&other)).unwrap();
    scene.commit(scene.changes().update(&expired, other.version)).await;
    let found = scene.now(&other).await.unwrap();
    assert_eq!((&found, found.hold), (&expired, other.hold));
}

/// Holds that overlap the half-open window are returned, expired or not; other events are not.
pub async fn holds_are_read_by_window(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (calendar, other) = (scene.shared_calendar().await, scene.shared_calendar().await);
    let mut inside = vec![
        held(&scene, &calendar, 9, 11).await,
        held(&scene, &calendar, 11, 13).await,
        held(&scene, &calendar, -90, 11).await,
        scene.stored(scene.make.hold(&calendar, hours(10, 12), SignedDuration::minutes(-9))).await,
    ];
    for (start, end) in [(8, 10), (12, 14), (-90, 10)] {
        held(&scene, &calendar, start, end).await;
    }
    held(&scene, &other, 10, 12).await;
    scene.event(&calendar, hours(10, 12)).await;
    for ended in [held(&scene, &calendar, 10, 12).await, held(&scene, &calendar, 10, 12).await] {
        let now = scene.make.tick();
        let gone = if inside.len() % 2 == 0 { ended.released(now) } else { ended.deleted(now) }.unwrap();
        scene.commit(scene.changes().update(&gone, ended.version)).await;
    }
    let found = scene.store.holds_within(scene.org, calendar.id, hours(10, 12)).await.unwrap().unwrap();
    assert_eq!(found.revision, scene.revision(&calendar).await);
    let mut holds = found.holds;
    holds.sort_by_key(|hold| hold.id);
    inside.sort_by_key(|hold| hold.id);
    assert_eq!(holds, inside);

    let elsewhere = scene.other_organization().await;
    assert_eq!(elsewhere.store.holds_within(elsewhere.org, calendar.id, hours(10, 12)).await.unwrap(), None);
    scene.delete(&other).await;
    assert_eq!(scene.store.holds_within(scene.org, other.id, hours(10, 12)).await.unwrap(), None);
}

/// Blocking spans leave out holds, but report that there are some.
pub async fn holds_are_not_among_blocking_spans(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let calendar = scene.calendar(&agent).await;
    let found = async || {
        let busy = scene.store.blocking_spans(scene.org, calendar.id, hours(0, 9)).await.unwrap().unwrap();
        let of_agent = scene.store.busy_of_agent(scene.org, agent.id, hours(0, 9)).await.unwrap();
        assert_eq!(of_agent.iter().map(|(_, busy)| busy).collect::<Vec<_>>(), [&busy]);
        let blocks = scene.store.blocks(scene.org, calendar.id, hours(0, 9), 9).await.unwrap().unwrap();
        let spans: Vec<_> = blocks.blocks.iter().map(|block| block.span).collect();
        assert_eq!((blocks.source.revision, blocks.held, &spans), (busy.revision, busy.held, &busy.spans));
        (busy.held, spans)
    };
    scene.event(&calendar, hours(1, 2)).await;
    assert_eq!(found().await, (false, vec![hours(1, 2)]));
    let hold = held(&scene, &calendar, 3, 4).await;
    assert_eq!(found().await, (true, vec![hours(1, 2)]));
    let confirmed = hold.confirmed(scene.make.tick()).unwrap();
    scene.commit(scene.changes().update(&confirmed, hold.version)).await;
    assert_eq!(found().await, (false, vec![hours(1, 2), hours(3, 4)]));
}

/// A hold counts as cancelled from its expiry on, whether or not that has been written.
pub async fn expired_holds_count_as_cancelled(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let calendar = scene.calendar(&agent).await;
    let hold = held(&scene, &calendar, 1, 2).await;
    let (at, before) = (expiry(&hold), expiry(&hold) - SignedDuration::micros(1));
    for scope in [EventScope::Calendar(calendar.id), EventScope::Agent(agent.id)] {
        for (status, now, expected) in [
            (EventStatus::Hold, before, true),
            (EventStatus::Cancelled, before, false),
            (EventStatus::Hold, at, false),
            (EventStatus::Cancelled, at, true),
            (EventStatus::Confirmed, at, false),
        ] {
            let status = Some(StatusAt { status, now });
            let filter = EventFilter { status, ..EventFilter::default() };
            let listed = scene.store.list_events(scene.org, scope, filter.clone(), LARGEST_PAGE).await.unwrap();
            assert_eq!((listed.total, listed.data.len()), (expected.into(), expected.into()), "{filter:?}");
            // A full page is counted in another way.
            let page = Page { limit: 1, offset: 0 };
            let listed = scene.store.list_events(scene.org, scope, filter.clone(), page).await.unwrap();
            assert_eq!((listed.total, listed.data.len()), (expected.into(), expected.into()), "{filter:?}");
            let filter =
                InstanceFilter { window: hours(0, 9), status, source: None, metadata: MetadataFilter::default() };
            let listed = scene.store.list_instances(scene.org, (&scope).into(), filter.clone(), LARGEST_PAGE);
            let listed = listed.await.unwrap().unwrap();
            assert_eq!(listed.data.len(), usize::from(expected), "{filter:?}");
        }
    }
    // A hold that is upcoming, under way or past is in the context only while it is a hold.
    let hour = SignedDuration::hours(1);
    for (start, current, next, recent) in [(1, 0, 1, 0), (-1, 1, 0, 0), (-3, 0, 0, 1)] {
        let calendar = scene.calendar(&agent).await;
        let now = scene.make.tick();
        let span = hours(start, start + 2);
        let live = scene.stored(scene.make.hold(&calendar, span, hour)).await;
        let around = scene.store.context_events(scene.org, calendar.id, now).await.unwrap();
        let found = (around.current.iter().count(), around.next.iter().count(), around.recent.len());
        assert_eq!(found, (current, next, recent), "{start}");
        let over = Event {
            hold: live.hold.map(|hold| Hold { expires_at: now, ..hold }),
            version: live.version.next(),
            ..live.clone()
        };
        scene.commit(scene.changes().update(&over, live.version)).await;
        let around = scene.store.context_events(scene.org, calendar.id, now).await.unwrap();
        assert_eq!(around, kalends_calendars::ContextEvents::default(), "{start}");
    }
}

/// The live holds of all visible calendars are found, the first to expire first, each with the name and the zone of its
/// calendar.
pub async fn live_holds_are_found_on_all_calendars(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let elsewhere = scene.other_organization().await;
    let agent = scene.agent().await;
    let (own, shared) = (scene.calendar(&agent).await, scene.shared_calendar().await);
    let named =
        Calendar { name: "Rooms".into(), zone: "Asia/Tokyo".parse().unwrap(), ..scene.make.shared_calendar(scene.org) };
    scene.commit(scene.changes().create(&named)).await;
    let (now, micro) = (scene.make.tick(), SignedDuration::micros(1));
    let lasting = async |calendar: &Calendar, start: i64, lasts: SignedDuration| {
        let made = scene.make.hold(calendar, hours(start, start + 1), MINUTE);
        let hold = made.hold.map(|hold| Hold { expires_at: now + lasts, ..hold });
        scene.stored(Event { hold, ..made }).await
    };
    // The order is that of expiry and then of identifiers, whatever the times are.
    let last = lasting(&named, -999, SignedDuration::minutes(2)).await;
    let second = lasting(&own, 9, MINUTE).await;
    let third = lasting(&named, 1, MINUTE).await;
    let first = lasting(&shared, 5, micro).await;
    lasting(&shared, 5, SignedDuration::ZERO).await;
    for end in [Event::confirmed, Event::released, Event::deleted] {
        let ended = lasting(&own, 1, MINUTE).await;
        let over = end(&ended, scene.make.tick()).unwrap();
        scene.commit(scene.changes().update(&over, ended.version)).await;
    }
    held(&elsewhere, &elsewhere.shared_calendar().await, 1, 2).await;

    let found = async |now, limit| scene.store.live_holds(scene.org, now, limit).await.unwrap();
    let on = |event: &Event, calendar: &Calendar| LiveHold {
        event: event.clone(),
        calendar_name: calendar.name.clone(),
        zone: calendar.zone,
    };
    let expected = [on(&first, &shared), on(&second, &own), on(&third, &named), on(&last, &named)];
    assert_eq!(found(now, 9).await, expected);
    assert_eq!(found(now, 3).await, expected[..3]);
    assert_eq!(found(now, 0).await, []);
    assert_eq!(found(now + micro, 9).await, expected[1..], "a hold that expires now is over");
    scene.decommission(&agent).await;
    assert_eq!(found(now, 9).await, [on(&first, &shared), on(&third, &named), on(&last, &named)]);
    scene.delete(&named).await;
    assert_eq!(found(now, 9).await, [on(&first, &shared)]);
    assert_eq!(found(expiry(&first), 9).await, []);
}

/// Holds that were placed together are found together, whatever their state, while they are visible.
pub async fn a_hold_set_is_found_together(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let calendars = [scene.calendar(&agent).await, scene.shared_calendar().await, scene.shared_calendar().await];
    let [set, other] = [(), ()].map(|()| HoldSetId::new(scene.make.tick(), &scene.make.entropy));
    let mut made = Vec::new();
    for calendar in &calendars {
        for hold_set in [Some(set), Some(other), None] {
            let hold = scene.make.hold(calendar, hours(1, 2), MINUTE);
            made.push(scene.stored(Event { hold_set, ..hold }).await);
        }
    }
    let confirmed = made[0].confirmed(scene.make.tick()).unwrap();
    scene.commit(scene.changes().update(&confirmed, made[0].version)).await;
    let found = async || scene.store.events_of_hold_set(scene.org, set).await.unwrap();
    let owned = found().await;
    let events: Vec<&Event> = owned.iter().map(|owned| &owned.event).collect();
    assert_eq!(events, [&confirmed, &made[3], &made[6]]);
    let agents: Vec<_> = owned.iter().map(|owned| owned.agent).collect();
    assert_eq!(agents, [Some(agent.id), None, None]);

    let gone = made[3].deleted(scene.make.tick()).unwrap();
    scene.commit(scene.changes().update(&gone, made[3].version)).await;
    scene.delete(&calendars[2]).await;
    assert_eq!(found().await.len(), 1);
    let elsewhere = scene.other_organization().await;
    assert_eq!(elsewhere.store.events_of_hold_set(elsewhere.org, set).await.unwrap(), []);
}

/// The agent whose key placed a hold set on calendars of others is known. Its sets are listed besides its own if asked
/// for, and a guard counts the holds that are live there.
pub async fn placed_hold_sets_are_found_and_counted(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (agent, other) = (scene.agent().await, scene.agent().await);
    let (own, theirs) = (scene.calendar(&agent).await, scene.calendar(&other).await);
    let shared = scene.shared_calendar().await;
    let place = async |by: &Agent, calendars: &[&Calendar], limit| {
        let (set, now) = (HoldSetId::new(scene.make.tick(), &scene.make.entropy), scene.make.tick());
        let mut changes = scene.changes().guard(Guard::PlacedAtMost { agent: by.id, limit, now });
        let mut events = Vec::new();
        for calendar in calendars {
            let hold = Event { hold_set: Some(set), ..scene.make.hold(calendar, hours(1, 2), MINUTE) };
            changes = changes.create(&hold);
            events.push(hold);
        }
        changes.calendars.push(Change::PlaceHolds { org: scene.org, set, agent: by.id });
        scene.try_commit(changes).await.map(|()| HoldSet { id: set, events, published: BTreeMap::new() })
    };
    let first = place(&agent, &[&own, &theirs], 1).await.unwrap();
    // Two are live, one of them on the agent's own calendar.
    assert_refused!(place(&agent, &[&shared], 1).await, CommitError::Stale);
    let second = place(&agent, &[&shared], 2).await.unwrap();
    let third = place(&other, &[&shared], 1).await.unwrap();
    let now = scene.make.tick();
    let counted = async |agent: &Agent, at| scene.store.count_placed_holds(scene.org, agent.id, at).await.unwrap();
    assert_eq!((counted(&agent, now).await, counted(&other, now).await), (2, 1));
    // A hold ends when it expires, even if that is not written yet.
    let over = second.events.iter().chain(&first.events).map(expiry).max().unwrap();
    assert_eq!(counted(&agent, over).await, 0);

    let placer = async |set: &HoldSet| scene.store.placer_of_hold_set(scene.org, set.id).await.unwrap();
    assert_eq!(placer(&first).await, Some(agent.id));
    assert_eq!(placer(&third).await, Some(other.id));
    let elsewhere = scene.other_organization().await;
    assert_eq!(elsewhere.store.placer_of_hold_set(elsewhere.org, first.id).await.unwrap(), None);
    assert_eq!(elsewhere.store.count_placed_holds(elsewhere.org, agent.id, now).await.unwrap(), 0);
    let plain = HoldSetId::new(scene.make.tick(), &scene.make.entropy);
    scene.stored(Event { hold_set: Some(plain), ..scene.make.hold(&shared, hours(1, 2), MINUTE) }).await;
    assert_eq!(scene.store.placer_of_hold_set(scene.org, plain).await.unwrap(), None);

    let listed = async |agent: &Agent, or_placed| {
        let filter = HoldSetFilter { agent: Some(agent.id), or_placed, status: None };
        let found = scene.store.list_hold_sets(scene.org, filter, LARGEST_PAGE).await.unwrap();
        assert_eq!(found.total, found.data.len() as u64);
        let past = Page { limit: 1, offset: 9 };
        assert_eq!(scene.store.list_hold_sets(scene.org, filter, past).await.unwrap().total, found.total);
        found.data.into_iter().map(|set| set.id).collect::<Vec<_>>()
    };
    assert_eq!(listed(&agent, true).await, [first.id, second.id]);
    assert_eq!(listed(&agent, false).await, []);
    assert_eq!(listed(&other, true).await, [third.id]);

    // A confirmed hold is not counted, and its set is still the agent's.
    let confirmed = second.events[0].confirmed(scene.make.tick()).unwrap();
    scene.commit(scene.changes().update(&confirmed, second.events[0].version)).await;
    assert_eq!(counted(&agent, now).await, 1);
    assert_eq!(placer(&second).await, Some(agent.id));
    // Neither is one on a calendar that is gone.
    scene.delete(&theirs).await;
    assert_eq!(counted(&agent, now).await, 0);
}

/// If many requests place the last hold that an agent may have on calendars of others, one succeeds.
pub async fn the_last_hold_on_others_is_placed_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await.id;
    let outcomes = race(PLACING, |_| {
        let scene = scene.clone();
        async move {
            // Each on a calendar of its own, so that only the number of holds is contended.
            let calendar = scene.shared_calendar().await;
            let (set, now) = (HoldSetId::new(scene.make.tick(), &scene.make.entropy), scene.make.tick());
            let hold = Event { hold_set: Some(set), ..scene.make.hold(&calendar, hours(1, 2), MINUTE) };
            let mut changes = scene.changes().guard(Guard::PlacedAtMost { agent, limit: 1, now }).create(&hold);
            changes.calendars.push(Change::PlaceHolds { org: scene.org, set, agent });
            scene.try_commit(changes).await
        }
    })
    .await;
    assert_eq!(successes(&outcomes), 1, "{outcomes:?}");
}

/// Hold sets are listed by creation, each with all of its visible events: those whose events are all on calendars of
/// one agent, and those with an event of one status, are selected.
pub async fn hold_sets_are_listed(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let (own, second, shared) =
        (scene.calendar(&agent).await, scene.calendar(&agent).await, scene.shared_calendar().await);
    let mut sets: Vec<HoldSet> = Vec::new();
    for calendars in [&[&own, &second][..], &[&own, &shared], &[&shared], &[&second]] {
        let id = HoldSetId::new(scene.make.tick(), &scene.make.entropy);
        let mut events = Vec::new();
        for calendar in calendars {
            let hold = scene.make.hold(calendar, hours(1, 2), MINUTE);
            events.push(scene.stored(Event { hold_set: Some(id), ..hold }).await);
        }
        sets.push(HoldSet { id, events, published: BTreeMap::new() });
    }
    // A hold without a set is in none.
    held(&scene, &own, 3, 4).await;
    let found = async |filter, page| scene.store.list_hold_sets(scene.org, filter, page).await.unwrap();
    let all = HoldSetFilter::default();
    let listed = |sets: &[&HoldSet], total| Listed { data: sets.iter().copied().cloned().collect(), total };
    let every: Vec<&HoldSet> = sets.iter().collect();
    assert_eq!(found(all, LARGEST_PAGE).await, listed(&every, 4));
    for (limit, offset, shown) in [(2, 0, 0..2), (2, 2, 2..4), (3, 3, 3..4), (2, 4, 4..4), (1, 9, 4..4)] {
        let page = Page { limit, offset };
        assert_eq!(found(all, page).await, listed(&every[shown], 4), "{page:?}");
    }
    let of_agent = HoldSetFilter { agent: Some(agent.id), ..all };
    assert_eq!(found(of_agent, LARGEST_PAGE).await, listed(&[&sets[0], &sets[3]], 2));
    assert_eq!(found(of_agent, Page { limit: 1, offset: 5 }).await, listed(&[], 2));
    let other = scene.agent().await;
    let of_other = HoldSetFilter { agent: Some(other.id), ..all };
    assert_eq!(found(of_other, LARGEST_PAGE).await, listed(&[], 0));

    // The first hold of the second set is confirmed, and the third set is released.
    let confirmed = sets[1].events[0].confirmed(scene.make.tick()).unwrap();
    let released = sets[2].events[0].released(scene.make.tick()).unwrap();
    for after in [confirmed, released] {
        let set = sets.iter_mut().find(|set| after.hold_set == Some(set.id)).unwrap();
        scene.commit(scene.changes().update(&after, set.events[0].version)).await;
        set.events[0] = after;
    }
    let over = expiry(&sets[0].events[0]).max(expiry(&sets[3].events[0]));
    let before = expiry(&sets[0].events[0]) - SignedDuration::micros(1);
    for (status, now, expected) in [
        (EventStatus::Hold, before, &[0, 1, 3][..]),
        (EventStatus::Confirmed, before, &[1]),
        (EventStatus::Cancelled, before, &[2]),
        (EventStatus::Tentative, before, &[]),
        (EventStatus::Hold, over, &[]),
        (EventStatus::Cancelled, over, &[0, 1, 2, 3]),
    ] {
        let filter = HoldSetFilter { status: Some(StatusAt { status, now }), ..all };
        let expected: Vec<&HoldSet> = expected.iter().map(|set: &usize| &sets[*set]).collect();
        let total = expected.len() as u64;
        assert_eq!(found(filter, LARGEST_PAGE).await, listed(&expected, total), "{filter:?}");
        let both = HoldSetFilter { agent: Some(agent.id), ..filter };
        let expected: Vec<&HoldSet> =
            expected.into_iter().filter(|set| [sets[0].id, sets[3].id].contains(&set.id)).collect();
        let total = expected.len() as u64;
        assert_eq!(found(both, LARGEST_PAGE).await, listed(&expected, total), "{both:?}");
    }

    // Deleted events and events of deleted calendars do not count, so the agent alone owns what is left of the second.
    let gone = sets[0].events[0].deleted(scene.make.tick()).unwrap();
    scene.commit(scene.changes().update(&gone, sets[0].events[0].version)).await;
    scene.delete(&shared).await;
    sets[0].events.remove(0);
    sets[1].events.remove(1);
    let left = [&sets[0], &sets[1], &sets[3]];
    assert_eq!(found(all, LARGEST_PAGE).await, listed(&left, 3));
    assert_eq!(found(of_agent, LARGEST_PAGE).await, listed(&left, 3));
    let elsewhere = scene.other_organization().await;
    assert_eq!(elsewhere.store.list_hold_sets(elsewhere.org, all, LARGEST_PAGE).await.unwrap(), listed(&[], 0));
}

/// A page of hold sets that takes too many bytes ends with a complete set.
pub async fn a_page_of_hold_sets_has_a_limit_in_bytes(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendars = [scene.shared_calendar().await, scene.shared_calendar().await];
    let description = Some("d".repeat(PAGE_BYTES_MAX / 5));
    for _ in 0..4 {
        let hold_set = Some(HoldSetId::new(scene.make.tick(), &scene.make.entropy));
        for calendar in &calendars {
            let hold = scene.make.hold(calendar, hours(1, 2), MINUTE);
            scene.stored(Event { hold_set, description: description.clone(), ..hold }).await;
        }
    }
    let page = async |offset| {
        let page = Page { limit: 9, offset };
        let listed = scene.store.list_hold_sets(scene.org, HoldSetFilter::default(), page).await.unwrap();
        (listed.data.iter().map(|set| set.events.len()).collect::<Vec<_>>(), listed.total)
    };
    // Five events fill a page.
    assert_eq!(page(0).await, (vec![2, 2], 4));
    assert_eq!(page(2).await, (vec![2, 2], 4));
}

/// A decision about all calendars of an agent is stale if the agent now has another number of calendars.
pub async fn the_number_of_calendars_of_an_agent_is_guarded(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let calendar = scene.calendar(&agent).await;
    scene.shared_calendar().await;
    let placed = |count| {
        let hold = scene.make.hold(&calendar, hours(1, 2), MINUTE);
        scene.changes().guard(Guard::CalendarsOfAgent { agent: agent.id, count }).create(&hold)
    };
    for count in [0, 2] {
        assert_refused!(scene.try_commit(placed(count)).await, CommitError::Stale);
    }
    assert_eq!(scene.events(calendar.id).await, []);
    scene.commit(placed(1)).await;
    let second = scene.calendar(&agent).await;
    assert_refused!(scene.try_commit(placed(1)).await, CommitError::Stale);
    scene.commit(placed(2)).await;
    scene.delete(&second).await;
    scene.commit(placed(1)).await;
    let paused = Agent { status: AgentStatus::Paused, version: agent.version.next(), ..agent.clone() };
    scene.commit(scene.changes().update(&paused, agent.version)).await;
    scene.commit(placed(1)).await;
}

/// If several callers end one hold in different ways, one succeeds.
pub async fn a_hold_ends_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    for _ in 0..8 {
        let hold = held(&scene, &calendar, 1, 2).await;
        let now = scene.make.tick();
        let ends = [
            hold.confirmed(now).unwrap(),
            hold.released(now).unwrap(),
            hold.expired(expiry(&hold)).unwrap(),
            hold.deleted(now).unwrap(),
        ];
        let outcomes = race(8, |index| {
            let (scene, end) = (scene.clone(), ends[index % 4].clone());
            async move { scene.try_commit(scene.changes().update(&end, Version::FIRST)).await }
        })
        .await;
        assert_eq!(successes(&outcomes), 1, "{outcomes:?}");
    }
}

/// A decision about a window is stale if something in that window was written since, and only then.
pub async fn a_time_guard_covers_only_its_window(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (calendar, other) = (scene.shared_calendar().await, scene.shared_calendar().await);
    let old = scene.event(&calendar, hours(10, 11)).await;
    let seen = scene.revision(&calendar).await;
    let window = hours(10, 12);
    let decided = |seen| {
        let guard = Guard::CalendarTime { calendar: calendar.id, seen, window };
        scene.changes().guard(guard).create(&scene.make.agent(scene.org))
    };
    scene.commit(decided(seen)).await;
    // All of these are outside the window, or take no time.
    scene.event(&calendar, hours(8, 10)).await;
    scene.event(&calendar, hours(12, 90)).await;
    scene.event(&other, window).await;
    held(&scene, &calendar, 9, 10).await;
    let ended = scene.make.series(&calendar, hours(-30, -29), "FREQ=DAILY;COUNT=2");
    scene.stored(ended).await;
    scene.stored(scene.make.series(&calendar, hours(12, 13), "FREQ=DAILY")).await;
    scene.stored(Event { status: EventStatus::Cancelled, ..scene.make.event(&calendar, window) }).await;
    let gone = old.deleted(scene.make.tick()).unwrap();
    scene.commit(scene.changes().update(&gone, old.version)).await;
    scene.commit(decided(seen)).await;

    let reaching = [
        scene.make.event(&calendar, hours(11, 12)),
        scene.make.event(&calendar, hours(-90, 11)),
        scene.make.hold(&calendar, hours(11, 13), MINUTE),
        scene.make.series(&calendar, hours(-30, -29), "FREQ=DAILY"),
    ];
    for event in reaching {
        let before = scene.revision(&calendar).await;
        scene.commit(decided(before)).await;
        scene.stored(event).await;
        assert_refused!(scene.try_commit(decided(before)).await, CommitError::Stale);
        scene.commit(decided(scene.revision(&calendar).await)).await;
    }
    assert_refused!(scene.try_commit(decided(seen)).await, CommitError::Stale);
    let last = scene.revision(&calendar).await;
    scene.delete(&calendar).await;
    assert_refused!(scene.try_commit(decided(last)).await, CommitError::Stale);
}
