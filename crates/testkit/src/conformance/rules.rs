//! The availability rules of calendars, and single blocking events.

use kalends_app::{Guard, ports::CommitError};
use kalends_availability::Rules;
use kalends_calendars::{
    AvailabilityRules, Calendar, Event, EventSource, EventStatus,
    ports::{BusySource, CalendarBlocks},
};
use kalends_calendars::{Block, BlockKind};
use kalends_kernel::{CalendarId, Revision, Version};
use kalends_time::{SignedDuration, Span, Timestamp};

use super::{
    StoreUnderTest,
    scene::{Scene, assert_refused, hours, minutes, race, successes},
};
use crate::fixtures::{Compose, Fixtures, rules};

/// The highest limit of the port.
const ALL: u32 = 10_000;

/// Rules that use every field.
fn full() -> Rules {
    let hours = |start: &str, end: &str| format!(r#"{{"start":"{start}","end":"{end}"}}"#);
    let date = |day: u32| format!(r#"{{"date":"2026-12-{day:02}","working_hours":null}}"#);
    let dates: Vec<String> = (1..=31).map(date).collect();
    rules(&format!(
        r#"{{"buffer_before_minutes":0,"buffer_after_minutes":120,"timezone":"America/St_Johns",
            "working_hours":{{"mon":{},"sun":{}}},
            "overrides":[{},{{"date":"2027-01-02","working_hours":{}}}]}}"#,
        hours("00:00", "24:00"),
        hours("23:58", "23:59"),
        dates.join(","),
        hours("09:30", "17:45"),
    ))
}

/// Rules that are closed on all days.
fn closed() -> Rules {
    rules(
        r#"{"buffer_before_minutes":5,"buffer_after_minutes":0,"timezone":"Asia/Kolkata",
            "working_hours":{},"overrides":[]}"#,
    )
}

async fn put(scene: &Scene, calendar: &Calendar, rules: Rules) -> AvailabilityRules {
    let made = AvailabilityRules { rules, ..scene.make.rules(calendar) };
    scene.commit(scene.changes().create(&made)).await;
    made
}

/// The rules. Asserts that every port returns the same ones.
async fn found(scene: &Scene, calendar: &Calendar) -> Option<AvailabilityRules> {
    let row = scene.store.find_rules(scene.org, calendar.id).await.unwrap();
    let rules = row.as_ref().map(|row| row.rules.clone());
    let busy = scene.store.blocking_spans(scene.org, calendar.id, hours(0, 1)).await.unwrap();
    assert_eq!(busy.expect("a visible calendar").rules, rules);
    let blocks = scene.store.blocks(scene.org, calendar.id, hours(0, 1), ALL).await.unwrap();
    assert_eq!(blocks.expect("a visible calendar").rules, rules);
    assert_eq!(found_of(scene, &[calendar.id]).await, row.iter().cloned().collect::<Vec<_>>());
    row
}

/// The rules of these calendars, by calendar.
async fn found_of(scene: &Scene, calendars: &[CalendarId]) -> Vec<AvailabilityRules> {
    let mut rows = scene.store.rules_of_calendars(scene.org, calendars).await.unwrap();
    rows.sort_by_key(|row| row.calendar);
    rows
}

/// Every field of rules survives, and they are returned with the busy times.
pub async fn rules_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (plain, other) = (scene.shared_calendar().await, scene.calendar(&scene.agent().await).await);
    assert_eq!(found(&scene, &plain).await, None);
    for (calendar, rules) in [(&plain, full()), (&other, closed())] {
        let made = put(&scene, calendar, rules).await;
        assert_eq!(found(&scene, calendar).await, Some(made));
    }
    let bare = scene.shared_calendar().await;
    let made = put(&scene, &bare, Rules::default()).await;
    assert_eq!(found(&scene, &bare).await, Some(made), "rules that restrict nothing are rules");
}

/// Rules are replaced and removed only at the version that was seen, and can be created again afterwards.
pub async fn rules_are_changed_only_at_the_version_seen(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let first = put(&scene, &calendar, full()).await;
    let second = AvailabilityRules {
        rules: closed(),
        version: first.version.next(),
        updated_at: scene.make.tick(),
        ..first.clone()
    };
    let stale = Version(first.version.0 + 7);
    assert_refused!(scene.try_commit(scene.changes().update(&second, stale)).await, CommitError::Stale);
    assert_refused!(scene.try_commit(scene.changes().create(&second)).await, CommitError::Stale);
    assert_eq!(found(&scene, &calendar).await, Some(first.clone()));

    scene.commit(scene.changes().update(&second, first.version)).await;
    assert_eq!(found(&scene, &calendar).await, Some(second.clone()));
    assert_refused!(scene.try_commit(scene.changes().delete(&first)).await, CommitError::Stale);
    assert_eq!(found(&scene, &calendar).await, Some(second.clone()));

    scene.commit(scene.changes().delete(&second)).await;
    assert_eq!(found(&scene, &calendar).await, None);
    assert_refused!(scene.try_commit(scene.changes().delete(&second)).await, CommitError::Stale);
    let third = AvailabilityRules { version: second.version.next(), ..second.clone() };
    assert_refused!(scene.try_commit(scene.changes().update(&third, second.version)).await, CommitError::Stale);

    let again = put(&scene, &calendar, full()).await;
    assert_ne!(again.id, first.id);
    assert_eq!(found(&scene, &calendar).await, Some(again));
}

/// Every change of rules raises the calendar's revision once; a refused change does not.
pub async fn rules_raise_the_revision(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (calendar, other) = (scene.shared_calendar().await, scene.shared_calendar().await);
    let revised = async |expected: i64| {
        let source = BusySource { agent: None, calendar: calendar.id, revision: Revision(expected), granted: false };
        assert_eq!(scene.store.source_of_calendar(scene.org, calendar.id).await.unwrap(), Some(source));
        assert_eq!(scene.revision(&other).await, Revision(0));
    };
    let first = put(&scene, &calendar, full()).await;
    revised(1).await;
    assert_refused!(scene.try_commit(scene.changes().create(&first)).await, CommitError::Stale);
    revised(1).await;
    let second = AvailabilityRules { version: first.version.next(), ..first.clone() };
    scene.commit(scene.changes().update(&second, first.version)).await;
    revised(2).await;
    // Together with an event in one change-set, once.
    let event = scene.make.event(&calendar, hours(1, 2));
    scene.commit(scene.changes().create(&event).delete(&second)).await;
    revised(3).await;
}

/// A decision about a calendar is stale once its rules have changed.
pub async fn rules_make_a_guarded_change_stale(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let guarded = async || {
        let seen = scene.revision(&calendar).await;
        scene.changes().guard(Guard::CalendarRevision { calendar: calendar.id, seen })
    };
    let booking = || scene.make.event(&calendar, hours(1, 2));

    let decided = guarded().await.create(&booking());
    let first = put(&scene, &calendar, full()).await;
    assert_refused!(scene.try_commit(decided).await, CommitError::Stale);

    let decided = guarded().await.create(&booking());
    let second = AvailabilityRules { version: first.version.next(), ..first.clone() };
    scene.commit(scene.changes().update(&second, first.version)).await;
    assert_refused!(scene.try_commit(decided).await, CommitError::Stale);

    let decided = guarded().await.create(&booking());
    scene.commit(scene.changes().delete(&second)).await;
    assert_refused!(scene.try_commit(decided).await, CommitError::Stale);

    scene.commit(guarded().await.create(&booking())).await;
    assert_eq!(scene.events(calendar.id).await.len(), 1);
}

/// Rules are hidden with their calendar, and cannot be written there. Those of another organization are absent.
pub async fn rules_are_hidden_with_their_calendar(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let agent = scene.agent().await;
    let (deleted, orphaned, bare) =
        (scene.shared_calendar().await, scene.calendar(&agent).await, scene.calendar(&agent).await);
    for calendar in [&deleted, &orphaned] {
        let made = put(&scene, calendar, full()).await;
        assert_eq!(other.store.find_rules(other.org, calendar.id).await.unwrap(), None);
        let theirs = AvailabilityRules { org: other.org, ..made.clone() };
        assert_refused!(other.try_commit(other.changes().create(&theirs)).await, CommitError::Stale);
        assert_refused!(other.try_commit(other.changes().delete(&theirs)).await, CommitError::Stale);
        assert_eq!(scene.store.find_rules(scene.org, calendar.id).await.unwrap(), Some(made));
    }
    scene.delete(&deleted).await;
    scene.decommission(&agent).await;
    for calendar in [&deleted, &orphaned, &bare] {
        assert_eq!(scene.store.find_rules(scene.org, calendar.id).await.unwrap(), None);
        assert_eq!(scene.store.blocking_spans(scene.org, calendar.id, hours(0, 1)).await.unwrap(), None);
        assert_eq!(scene.store.blocks(scene.org, calendar.id, hours(0, 1), ALL).await.unwrap(), None);
        let late = scene.make.rules(calendar);
        assert_refused!(scene.try_commit(scene.changes().create(&late)).await, CommitError::Stale);
    }
}

/// The rules of several calendars are read at once: of those that are visible and have any, each once.
pub async fn rules_of_several_calendars_are_read_at_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (agent, gone) = (scene.agent().await, scene.agent().await);
    let (shared, owned, bare) =
        (scene.shared_calendar().await, scene.calendar(&agent).await, scene.calendar(&agent).await);
    let (deleted, orphaned, foreign) =
        (scene.shared_calendar().await, scene.calendar(&gone).await, other.shared_calendar().await);
    let (of_shared, of_owned) = (put(&scene, &shared, full()).await, put(&scene, &owned, closed()).await);
    for calendar in [&deleted, &orphaned] {
        put(&scene, calendar, full()).await;
    }
    let theirs = put(&other, &foreign, closed()).await;
    scene.delete(&deleted).await;
    scene.decommission(&gone).await;

    let mut both = vec![of_shared, of_owned.clone()];
    both.sort_by_key(|row| row.calendar);
    let every = [&shared, &owned, &bare, &deleted, &orphaned, &foreign].map(|calendar| calendar.id);
    assert_eq!(found_of(&scene, &every).await, both);
    assert_eq!(found_of(&other, &every).await, [theirs]);
    assert_eq!(found_of(&scene, &[owned.id, bare.id, owned.id]).await, [of_owned]);
    assert_eq!(found_of(&scene, &[bare.id]).await, []);
    assert_eq!(found_of(&scene, &[]).await, []);
}

/// If several callers create a calendar's first rules, or change the same ones, one wins.
pub async fn one_concurrent_change_of_rules_wins(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let outcomes = race(8, |_| {
        let (scene, calendar) = (scene.clone(), calendar.clone());
        async move { scene.try_commit(scene.changes().create(&scene.make.rules(&calendar))).await }
    })
    .await;
    assert_eq!(successes(&outcomes), 1, "{outcomes:?}");
    assert_eq!(scene.revision(&calendar).await, Revision(1));

    let seen = found(&scene, &calendar).await.unwrap();
    let outcomes = race(9, |index| {
        let (scene, seen) = (scene.clone(), seen.clone());
        async move {
            let next =
                AvailabilityRules { version: seen.version.next(), updated_at: scene.make.tick(), ..seen.clone() };
            let changes = scene.changes();
            let changes = if index % 3 == 0 { changes.delete(&seen) } else { changes.update(&next, seen.version) };
            scene.try_commit(changes).await
        }
    })
    .await;
    assert_eq!(successes(&outcomes), 1, "{outcomes:?}");
    let stale = outcomes.iter().filter(|outcome| matches!(outcome, Err(CommitError::Stale))).count();
    assert_eq!(stale, 8, "{outcomes:?}");
    assert_eq!(scene.revision(&calendar).await, Revision(2));
}

/// Blocks are returned with their kind: short and long, ordered, up to the limit, and equal to the spans.
pub async fn blocks_are_returned_with_their_kind(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (calendar, other) = (scene.shared_calendar().await, scene.shared_calendar().await);
    scene.event(&other, hours(1, 2)).await;
    let long = Span::new(Fixtures::BEGINNING - SignedDuration::days(400), Timestamp::HORIZON).unwrap();
    let kinds = [
        (hours(-30, 5), EventStatus::Confirmed, EventSource::Internal, Some(BlockKind::Event)),
        (long, EventStatus::Tentative, EventSource::ExternalIcal, Some(BlockKind::ExternalEvent)),
        (hours(-1, 1), EventStatus::Confirmed, EventSource::Internal, Some(BlockKind::Event)),
        (minutes(20, 40), EventStatus::Tentative, EventSource::Internal, Some(BlockKind::Event)),
        (minutes(20, 40), EventStatus::Confirmed, EventSource::ExternalIcal, Some(BlockKind::ExternalEvent)),
        (minutes(59, 300), EventStatus::Confirmed, EventSource::Internal, Some(BlockKind::Event)),
        (minutes(20, 30), EventStatus::Cancelled, EventSource::Internal, None),
        (minutes(20, 30), EventStatus::Cancelled, EventSource::ExternalIcal, None),
        (hours(1, 2), EventStatus::Confirmed, EventSource::Internal, None),
        (hours(-2, 0), EventStatus::Confirmed, EventSource::Internal, None),
        (hours(-90, 0), EventStatus::Confirmed, EventSource::Internal, None),
        (hours(1, 90), EventStatus::Confirmed, EventSource::Internal, None),
    ];
    let mut expected = Vec::new();
    for (span, status, source, kind) in kinds {
        let event = Event { status, source, ..scene.make.event(&calendar, span) };
        scene.stored(event).await;
        expected.extend(kind.map(|kind| Block { kind, span }));
    }
    expected.sort_by_key(|block| (block.span, block.kind));
    let blocks = scene.store.blocks(scene.org, calendar.id, hours(0, 1), ALL).await.unwrap();
    let source = scene.store.source_of_calendar(scene.org, calendar.id).await.unwrap().unwrap();
    let expected_blocks = CalendarBlocks { source, rules: None, blocks: expected.clone(), repeats: false, held: false };
    assert_eq!(blocks, Some(expected_blocks));

    let spans = scene.store.blocking_spans(scene.org, calendar.id, hours(0, 1)).await.unwrap().unwrap().spans;
    let of_blocks: Vec<Span> = expected.iter().map(|block| block.span).collect();
    assert_eq!(
        {
            let mut spans = spans;
            spans.sort();
            spans
        },
        of_blocks
    );

    let first = scene.store.blocks(scene.org, calendar.id, hours(0, 1), 2).await.unwrap().unwrap().blocks;
    assert_eq!(first, expected[..2]);
    let nothing = scene.store.blocks(scene.org, other.id, hours(3, 4), ALL).await.unwrap();
    assert_eq!(nothing.map(|blocks| (blocks.rules, blocks.blocks)), Some((None, vec![])));
}
