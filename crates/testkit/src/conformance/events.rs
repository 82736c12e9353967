//! Events.

use kalends_app::ports::CommitError;
use kalends_calendars::{
    Attendee, AttendeeRole, AttendeeStatus, Attendees, ChangesSince, ConferenceUrl, Event, EventPatch, EventSource,
    EventStatus, Patch, Position, ReplySecret, Times,
    ports::{EventFilter, EventScope, OwnedEvent, StatusAt},
};
use kalends_kernel::{AgentId, Email, EventId, Metadata, PAGE_BYTES_MAX, Page, Revision, Version};
use kalends_time::{SignedDuration, Span, Timestamp, Zone};

use super::{
    StoreUnderTest,
    samples::{TRICKY, largest_metadata, reminders, rich_metadata},
    scene::{LARGEST_PAGE, Scene, assert_refused, hours, micros},
};
use crate::fixtures::{Compose, at, span};

/// Attendees with every status and role, some of whom have a name, an agent, a reply or a link.
fn attendees(count: u8) -> Attendees {
    let one = |number: u8| {
        let every = |step: u8| number.is_multiple_of(step);
        let (role, status) =
            (usize::from(number) % AttendeeRole::ALL.len(), usize::from(number) % AttendeeStatus::ALL.len());
        Attendee {
            email: Email::from_stored(format!("a{number}@example.com")),
            name: every(2).then(|| format!("{number} {TRICKY}")),
            role: AttendeeRole::ALL[role],
            agent: every(3).then(|| AgentId::from_bytes([number; 16])),
            status: AttendeeStatus::ALL[status],
            responded_at: every(5).then(|| at("2026-03-02T09:00:00.000001Z")),
            secret: every(7).then_some(ReplySecret([number; 16])),
        }
    };
    Attendees::from_stored((0..count).map(one).collect())
}

fn call(path: &str) -> ConferenceUrl {
    ConferenceUrl::parse("", &format!("https://a.example/{path}")).unwrap()
}

/// Every field survives, empty and full, with every enum value and at the limits of time.
pub async fn events_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let plain = || scene.make.event(&calendar, hours(1, 2));
    let all_day = span("2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z");
    let mut made = vec![
        plain(),
        Event {
            title: TRICKY.into(),
            description: Some(format!("{TRICKY}\r\n\u{1}")),
            location: Some(TRICKY.into()),
            metadata: rich_metadata(),
            version: Version(41),
            updated_at: at("2099-12-31T23:59:59.999999Z"),
            ..plain()
        },
        Event {
            title: "診".repeat(500),
            description: Some("🐎".repeat(20_000)),
            location: Some("🐎".repeat(500)),
            conference_url: Some(call(&"a".repeat(1_980))),
            metadata: largest_metadata(),
            ..plain()
        },
        Event { description: Some(String::new()), location: Some(String::new()), ..plain() },
        Event { conference_url: Some(call("a?b=\"c\"")), ..plain() },
        Event { attendees: attendees(200), ..plain() },
        Event { times: Times { span: all_day, all_day: true }, ..plain() },
    ];
    made.extend(EventStatus::ALL.iter().map(|status| Event { status: *status, ..plain() }));
    made.extend(EventSource::ALL.iter().map(|source| Event { source: *source, ..plain() }));
    made.extend(reminders().map(|reminders| Event { reminders, ..plain() }));
    for span in [
        Span::new(Timestamp::EPOCH, Timestamp::HORIZON).unwrap(),
        span("2099-12-31T23:59:59.999998Z", "2099-12-31T23:59:59.999999Z"),
        micros(1, 2),
    ] {
        made.push(Event { times: Times { span, all_day: false }, ..plain() });
    }
    for event in &made {
        scene.commit(scene.changes().create(event)).await;
        let found = scene.store.find_event(scene.org, event.id).await.unwrap();
        assert_eq!(found, Some(OwnedEvent { event: event.clone(), agent: None, publication: (&calendar).into() }));
    }
    made.sort_by_key(|event| (event.times.span.start(), event.id));
    assert_eq!(scene.events(calendar.id).await, made);
}

/// An event is returned with the agent that owns its calendar.
pub async fn events_are_found_with_their_owner(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let (own, shared) = (scene.calendar(&agent).await, scene.shared_calendar().await);
    for (calendar, owner) in [(&own, Some(agent.id)), (&shared, None)] {
        let event = scene.event(calendar, hours(1, 2)).await;
        let found = scene.store.find_event(scene.org, event.id).await.unwrap();
        assert_eq!(found, Some(OwnedEvent { event, agent: owner, publication: calendar.into() }));
    }
    let unknown = EventId::new(scene.make.tick(), &scene.make.entropy);
    assert_eq!(scene.store.find_event(scene.org, unknown).await.unwrap(), None);
}

/// An update writes every mutable field, and only at the version that was seen.
pub async fn events_are_updated_only_at_the_version_seen(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let before = scene.event(&calendar, hours(1, 2)).await;
    let [.., most_reminders] = reminders();
    let patch = EventPatch {
        title: Patch::Set(TRICKY.into()),
        description: Patch::Set(Some("now described".into())),
        location: Patch::Set(Some("now located".into())),
        conference_url: Patch::Set(Some(call("now"))),
        attendees: Patch::Set(attendees(3)),
        status: Patch::Set(EventStatus::Tentative),
        metadata: Patch::Set(rich_metadata()),
        reminders: Patch::Set(most_reminders),
        ..EventPatch::default()
    };
    let times = Times { span: hours(24, 48), all_day: true };
    let after = Event { times, ..before.patched(patch, Zone::UTC, scene.make.tick()).unwrap() };
    let changes = scene.changes().update(&after, before.version);
    scene.commit(changes.clone()).await;
    assert_eq!(scene.now(&after).await.as_ref(), Some(&after));
    assert_eq!(scene.revision(&calendar).await, Revision(2));

    assert_refused!(scene.try_commit(changes).await, CommitError::Stale);
    let late = Event { title: "Late".into(), ..after.clone() };
    assert_refused!(scene.try_commit(scene.changes().update(&late, before.version)).await, CommitError::Stale);
    assert_eq!(scene.now(&after).await.as_ref(), Some(&after));
    assert_eq!(scene.revision(&calendar).await, Revision(2), "a stale update does not raise the revision");

    let cleared = Event {
        description: None,
        location: None,
        conference_url: None,
        attendees: Attendees::default(),
        metadata: Metadata::default(),
        reminders: None,
        version: after.version.next(),
        ..after.clone()
    };
    scene.commit(scene.changes().update(&cleared, after.version)).await;
    assert_eq!(scene.now(&after).await, Some(cleared));

    let missing = scene.make.event(&calendar, hours(3, 4));
    assert_refused!(scene.try_commit(scene.changes().update(&missing, missing.version)).await, CommitError::Stale);
    assert_eq!(scene.now(&missing).await, None);
}

/// A deleted event is hidden from every read, and the calendar's revision rises.
pub async fn a_deleted_event_is_hidden(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let calendar = scene.calendar(&agent).await;
    let (gone, stays) = (scene.event(&calendar, hours(1, 3)).await, scene.event(&calendar, hours(2, 3)).await);
    let deleted = gone.deleted(scene.make.tick()).unwrap();
    scene.commit(scene.changes().update(&deleted, gone.version)).await;

    assert_eq!(scene.now(&gone).await, None);
    for scope in [EventScope::Calendar(calendar.id), EventScope::Agent(agent.id)] {
        let listed = scene.store.list_events(scene.org, scope, EventFilter::default(), LARGEST_PAGE).await.unwrap();
        assert_eq!((listed.data, listed.total), (vec![stays.clone()], 1));
    }
    let first_hour = scene.store.context_events(scene.org, calendar.id, hours(1, 2).start()).await.unwrap();
    assert_eq!((first_hour.current, first_hour.next), (None, Some(stays.clone())));
    let blocking = scene.store.blocking_spans(scene.org, calendar.id, hours(0, 9)).await.unwrap();
    let blocking = blocking.map(|busy| (busy.revision, busy.spans));
    assert_eq!(blocking, Some((Revision(3), vec![stays.times.span])));
    // A caller with the old version is too late.
    assert_refused!(scene.try_commit(scene.changes().update(&gone, gone.version)).await, CommitError::Stale);
}

/// An organization neither sees nor changes the events of another.
pub async fn events_of_other_organizations_are_absent(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let calendar = scene.calendar(&agent).await;
    let event = scene.event(&calendar, hours(1, 2)).await;
    let other = scene.other_organization().await;
    let own_calendar = other.shared_calendar().await;

    assert_eq!(other.store.find_event(other.org, event.id).await.unwrap(), None);
    for scope in [EventScope::Calendar(calendar.id), EventScope::Agent(agent.id)] {
        let listed = other.store.list_events(other.org, scope, EventFilter::default(), LARGEST_PAGE).await.unwrap();
        assert_eq!((listed.data, listed.total), (vec![], 0));
    }
    let context = other.store.context_events(other.org, calendar.id, event.times.span.start()).await.unwrap();
    assert_eq!(context, kalends_calendars::ContextEvents::default());

    let renamed = Event { org: other.org, version: event.version.next(), ..event.clone() };
    let moved = Event { calendar: own_calendar.id, ..renamed.clone() };
    for stolen in [renamed, moved] {
        assert_refused!(other.try_commit(other.changes().update(&stolen, event.version)).await, CommitError::Stale);
    }
    assert_eq!(scene.now(&event).await, Some(event));
    assert_eq!(scene.revision(&calendar).await, Revision(1));
    assert_eq!(other.revision(&own_calendar).await, Revision(0));
}

/// Lists are ordered by start, then identifier. Pages do not affect the total.
pub async fn events_are_listed_by_start_in_pages(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let calendar = scene.calendar(&agent).await;
    let mut made: Vec<Event> =
        [hours(3, 4), hours(1, 9), hours(2, 3), hours(1, 2), hours(1, 5), hours(0, 1), hours(8, 9)]
            .into_iter()
            .map(|span| scene.make.event(&calendar, span))
            .collect();
    for event in made.iter().rev() {
        scene.commit(scene.changes().create(event)).await;
    }
    made.sort_by_key(|event| (event.times.span.start(), event.id));
    for scope in [EventScope::Calendar(calendar.id), EventScope::Agent(agent.id)] {
        for page in [
            LARGEST_PAGE,
            Page { limit: 1, offset: 0 },
            Page { limit: 3, offset: 2 },
            Page { limit: 7, offset: 0 },
            Page { limit: 5, offset: 5 },
            Page { limit: 50, offset: 7 },
            Page { limit: 50, offset: u32::MAX },
        ] {
            let listed = scene.store.list_events(scene.org, scope, EventFilter::default(), page).await.unwrap();
            let expected: Vec<Event> =
                made.iter().skip(page.offset as usize).take(page.limit as usize).cloned().collect();
            assert_eq!((listed.data, listed.total), (expected, 7), "{scope:?} {page:?}");
        }
    }
}

/// A page ends early when its events take 8 MiB, and the next one continues after it.
pub async fn pages_of_large_events_end_early(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let calendar = scene.calendar(&agent).await;
    let mut made = Vec::new();
    for hour in 0..3 {
        let description = Some("x".repeat(PAGE_BYTES_MAX / 2));
        made.push(scene.stored(Event { description, ..scene.make.event(&calendar, hours(hour, hour + 1)) }).await);
    }
    for scope in [EventScope::Calendar(calendar.id), EventScope::Agent(agent.id)] {
        let mut seen = Vec::new();
        for expected in [2, 1] {
            let page = Page { limit: 50, offset: seen.len().try_into().unwrap() };
            let listed = scene.store.list_events(scene.org, scope, EventFilter::default(), page).await.unwrap();
            assert_eq!((listed.data.len(), listed.total), (expected, 3), "{scope:?} {page:?}");
            seen.extend(listed.data);
        }
        assert!(seen == made, "{scope:?}");
    }
    let since = ChangesSince { after: Position::START, deleted_after: Revision(0) };
    let first = scene.store.changes(scene.org, calendar.id, since, 50).await.unwrap().unwrap();
    assert_eq!((first.changes.len(), first.more), (2, true));
    let after = Position { revision: first.changes[1].0, id: made[1].id };
    let rest = scene.store.changes(scene.org, calendar.id, ChangesSince { after, ..since }, 50).await.unwrap().unwrap();
    assert_eq!((rest.changes.len(), rest.more), (1, false));
}

/// A scope is one calendar, or all calendars of one agent.
pub async fn events_are_listed_by_scope(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (ada, bob, idle) = (scene.agent().await, scene.agent().await, scene.agent().await);
    let (first, second) = (scene.calendar(&ada).await, scene.calendar(&ada).await);
    let (theirs, shared) = (scene.calendar(&bob).await, scene.shared_calendar().await);
    let late = scene.event(&first, hours(5, 6)).await;
    let early = scene.event(&second, hours(1, 2)).await;
    let middle = scene.event(&first, hours(2, 3)).await;
    let of_bob = scene.event(&theirs, hours(1, 2)).await;
    let of_all = scene.event(&shared, hours(1, 2)).await;
    for (scope, expected) in [
        (EventScope::Calendar(first.id), vec![&middle, &late]),
        (EventScope::Calendar(second.id), vec![&early]),
        (EventScope::Calendar(shared.id), vec![&of_all]),
        (EventScope::Agent(ada.id), vec![&early, &middle, &late]),
        (EventScope::Agent(bob.id), vec![&of_bob]),
        (EventScope::Agent(idle.id), vec![]),
    ] {
        let listed = scene.store.list_events(scene.org, scope, EventFilter::default(), LARGEST_PAGE).await.unwrap();
        assert_eq!(listed.total, expected.len() as u64, "{scope:?}");
        assert_eq!(listed.data.iter().collect::<Vec<_>>(), expected, "{scope:?}");
    }
}

/// Filters apply alone and together in either scope. `start_after` is inclusive and `start_before` is exclusive.
pub async fn events_are_listed_by_filter(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let calendars = [scene.calendar(&agent).await, scene.calendar(&agent).await];
    let mut made = Vec::new();
    for (index, status) in EventStatus::ALL.iter().enumerate() {
        for source in EventSource::ALL {
            for start in [60, 120] {
                let event = Event {
                    status: *status,
                    source: *source,
                    ..scene.make.event(&calendars[index % 2], super::scene::minutes(start, 600))
                };
                scene.commit(scene.changes().create(&event)).await;
                made.push(event);
            }
        }
    }
    made.sort_by_key(|event| (event.times.span.start(), event.id));

    let (one, two) = (hours(1, 2).start(), hours(1, 2).end());
    let micro = SignedDuration::micros(1);
    let afters = [None, Some(one), Some(one + micro), Some(two), Some(two + micro)];
    let befores = [None, Some(one), Some(one + micro), Some(two), Some(two + micro)];
    let statuses = [None, Some(EventStatus::Confirmed), Some(EventStatus::Cancelled), Some(EventStatus::Hold)];
    let sources = [None, Some(EventSource::Internal), Some(EventSource::ExternalIcal)];
    let scopes = [EventScope::Agent(agent.id), EventScope::Calendar(calendars[0].id)];
    for scope in scopes {
        for (start_after, start_before) in afters.iter().flat_map(|after| befores.map(|before| (*after, before))) {
            for (status, source) in statuses.iter().flat_map(|status| sources.map(|source| (*status, source))) {
                let at = |status| StatusAt { status, now: scene.make.tick() };
                let filter =
                    EventFilter { start_after, start_before, status: status.map(at), source, ..EventFilter::default() };
                let expected: Vec<&Event> = made
                    .iter()
                    .filter(|event| scope != EventScope::Calendar(calendars[0].id) || event.calendar == calendars[0].id)
                    .filter(|event| start_after.is_none_or(|after| event.times.span.start() >= after))
                    .filter(|event| start_before.is_none_or(|before| event.times.span.start() < before))
                    .filter(|event| status.is_none_or(|status| event.status == status))
                    .filter(|event| source.is_none_or(|source| event.source == source))
                    .collect();
                let page = Page { limit: 2, offset: 1 };
                let listed = scene.store.list_events(scene.org, scope, filter.clone(), page).await.unwrap();
                assert_eq!(listed.total, expected.len() as u64, "{scope:?} {filter:?}");
                let on_page: Vec<&Event> = expected.into_iter().skip(1).take(2).collect();
                assert_eq!(listed.data.iter().collect::<Vec<_>>(), on_page, "{scope:?} {filter:?}");
            }
        }
    }
}

/// Every scheduling change-set raises the revision by one, and leaves the rest of the calendar's row unchanged.
pub async fn scheduling_raises_the_revision_once_per_change_set(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (calendar, untouched) = (scene.shared_calendar().await, scene.shared_calendar().await);
    let event = scene.event(&calendar, hours(1, 2)).await;
    assert_eq!(scene.revision(&calendar).await, Revision(1));

    let mut changes = scene.changes();
    for _ in 0..50 {
        changes = changes.create(&scene.make.event(&calendar, hours(2, 3)));
    }
    let moved = Event { times: Times { span: hours(4, 5), all_day: false }, version: event.version.next(), ..event };
    scene.commit(changes.update(&moved, event.version)).await;
    assert_eq!(scene.events(calendar.id).await.len(), 51);

    let row = scene.store.find_calendar(scene.org, calendar.id).await.unwrap().unwrap();
    assert_eq!(row, kalends_calendars::Calendar { revision: Revision(2), ..calendar });
    assert_eq!(scene.revision(&untouched).await, Revision(0));
}
