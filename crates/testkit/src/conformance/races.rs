//! Concurrent change-sets.

use std::sync::Arc;

use kalends_accounts::{Change, Organization, VerificationCode};
use kalends_app::{ChangeSet, Charge, Guard, StoredAnswer, ports::CommitError};
use kalends_calendars::{
    Agent, Calendar, Event,
    ports::{CalendarBusy, EventFilter, EventScope},
};
use kalends_kernel::{Revision, Version};
use kalends_plans::Metric;
use kalends_time::SignedDuration;

use super::{
    StoreUnderTest,
    scene::{LARGEST_PAGE, Scene, hours, minutes, race, successes},
};
use crate::fixtures::{Compose, metadata};

/// How many tasks run at once.
const TASKS: usize = 16;
/// How often each race is repeated.
const ROUNDS: usize = 5;

fn assert_only_stale(outcomes: &[Result<(), CommitError>]) {
    for outcome in outcomes {
        assert!(matches!(outcome, Ok(()) | Err(CommitError::Stale)), "{outcome:?}");
    }
}

/// Exactly one of the callers that saw one revision wins each round. The final revision counts the winners.
pub async fn one_change_set_wins_a_revision(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    for round in 0..ROUNDS {
        let seen = scene.revision(&calendar).await;
        let outcomes = race(TASKS, |_| {
            let (scene, calendar) = (scene.clone(), calendar.clone());
            async move {
                let guard = Guard::CalendarRevision { calendar: calendar.id, seen };
                let event = scene.make.event(&calendar, hours(1, 2));
                scene.try_commit(scene.changes().guard(guard).create(&event)).await
            }
        })
        .await;
        assert_only_stale(&outcomes);
        assert_eq!(successes(&outcomes), 1, "round {round}");
    }
    assert_eq!(scene.revision(&calendar).await, Revision(ROUNDS.try_into().unwrap()));
    assert_eq!(scene.events(calendar.id).await.len(), ROUNDS);
}

/// A caller that loses reads and decides again, and in the end every caller has won once.
pub async fn losers_of_a_revision_retry_and_win(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    race(TASKS, |_| {
        let (scene, calendar) = (scene.clone(), calendar.clone());
        async move {
            loop {
                let guard = Guard::CalendarRevision { calendar: calendar.id, seen: scene.revision(&calendar).await };
                let event = scene.make.event(&calendar, hours(1, 2));
                match scene.try_commit(scene.changes().guard(guard).create(&event)).await {
                    Ok(()) => break,
                    Err(CommitError::Stale) => {}
                    Err(other) => panic!("{other:?}"),
                }
            }
        }
    })
    .await;
    assert_eq!(scene.revision(&calendar).await, Revision(TASKS.try_into().unwrap()));
    assert_eq!(scene.events(calendar.id).await.len(), TASKS);
}

/// If many callers add an event at the same time under the same guard, one succeeds, and no other event is affected.
pub async fn one_event_takes_a_time(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (wanted, aside) = (scene.shared_calendar().await, scene.shared_calendar().await);
    for round in 0..ROUNDS {
        let from = i64::try_from(round).unwrap();
        let (seen, window) = (scene.revision(&wanted).await, hours(from, from + 1));
        let outcomes = race(TASKS, |task| {
            let (scene, wanted, aside) = (scene.clone(), wanted.clone(), aside.clone());
            async move {
                // Most stores write what waits together. The first ones keep them busy, so that the others wait.
                let changes = if task < TASKS / 2 {
                    scene.changes().create(&scene.make.event(&aside, window))
                } else {
                    let guard = Guard::CalendarTime { calendar: wanted.id, seen, window };
                    scene.changes().guard(guard).create(&scene.make.event(&wanted, window))
                };
                scene.try_commit(changes).await
            }
        })
        .await;
        assert_only_stale(&outcomes);
        assert_eq!(successes(&outcomes), TASKS / 2 + 1, "round {round}");
    }
    assert_eq!(scene.events(wanted.id).await.len(), ROUNDS);
    assert_eq!(scene.events(aside.id).await.len(), ROUNDS * TASKS / 2);
}

/// Events may overlap: without a guard all are created, and each raises the revision.
pub async fn unguarded_events_are_all_created(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let outcomes = race(TASKS * 4, |_| {
        let (scene, calendar) = (scene.clone(), calendar.clone());
        async move {
            let event = scene.make.event(&calendar, hours(1, 2));
            let charged = scene.changes().create(&event).charge(scene.make.charge(None));
            scene.try_commit(charged.message(scene.make.message(scene.org))).await
        }
    })
    .await;
    assert_eq!(successes(&outcomes), TASKS * 4, "{outcomes:?}");
    assert_eq!(scene.revision(&calendar).await, Revision((TASKS * 4).try_into().unwrap()));
    assert_eq!(scene.events(calendar.id).await.len(), TASKS * 4);
    assert_eq!(scene.used(Metric::Events).await, (TASKS * 4) as u64);
    assert_eq!(scene.observe().await.messages.len(), TASKS * 4);
}

/// If one use is left, exactly one caller gets it.
pub async fn the_last_use_is_granted_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    for round in 1..=ROUNDS as u64 {
        // The first round races for the counter's first row.
        let limit = round * 3 - 2;
        let outcomes = race(TASKS, |_| {
            let scene = scene.clone();
            async move { scene.try_commit(scene.changes().charge(scene.make.charge(Some(limit)))).await }
        })
        .await;
        for outcome in &outcomes {
            let refused =
                matches!(outcome, Err(CommitError::LimitReached { metric: Metric::Events, limit: at }) if *at == limit);
            assert!(outcome.is_ok() || refused, "{outcome:?}");
        }
        assert_eq!(successes(&outcomes), 1, "round {round}");
        assert_eq!(scene.used(Metric::Events).await, limit);
        let two_more = Charge { amount: 2, ..scene.make.charge(None) };
        scene.commit(scene.changes().charge(two_more)).await;
    }
}

/// If one place is left for an agent, then for a calendar, exactly one caller gets it.
pub async fn the_last_place_is_taken_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let owner = scene.agent().await;
    for metric in [Metric::Agents, Metric::Calendars] {
        let before = if metric == Metric::Agents { 1 } else { 0 };
        for round in 1..=ROUNDS as u64 {
            let limit = before + round;
            let outcomes = race(TASKS, |_| {
                let (scene, owner) = (scene.clone(), owner.clone());
                async move {
                    let guarded = scene.changes().guard(Guard::AtMost { metric, limit });
                    let changes = match metric {
                        Metric::Agents => guarded.create(&scene.make.agent(scene.org)),
                        _ => guarded.create(&scene.make.calendar(&owner)),
                    };
                    scene.try_commit(changes).await
                }
            })
            .await;
            for outcome in &outcomes {
                let refused = matches!(outcome, Err(CommitError::LimitReached { metric: of, limit: at }) if (*of, *at) == (metric, limit));
                assert!(outcome.is_ok() || refused, "{outcome:?}");
            }
            assert_eq!(successes(&outcomes), 1, "{metric:?}, round {round}");
        }
    }
    let seen = scene.observe().await;
    assert_eq!((seen.agents.len(), seen.calendars.len()), (ROUNDS + 1, ROUNDS));
}

/// All tasks update one event, and read it again if another was faster. No update is lost.
pub async fn no_update_of_an_event_is_lost(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let event = scene.event(&calendar, hours(1, 2)).await;
    race(TASKS, |index| {
        let (scene, event) = (scene.clone(), event.clone());
        async move {
            loop {
                let seen = scene.now(&event).await.unwrap();
                let mut marks = seen.metadata.clone().into_map();
                marks.insert(format!("task {index}"), true.into());
                let marked = Event { metadata: metadata(marks.into()), version: seen.version.next(), ..seen.clone() };
                match scene.try_commit(scene.changes().update(&marked, seen.version)).await {
                    Ok(()) => break,
                    Err(CommitError::Stale) => {}
                    Err(other) => panic!("{other:?}"),
                }
            }
        }
    })
    .await;
    let last = scene.now(&event).await.unwrap();
    assert_eq!(last.metadata.as_map().len(), TASKS);
    let updates: i64 = TASKS.try_into().unwrap();
    assert_eq!(last.version, Version(event.version.0 + updates));
    assert_eq!(scene.revision(&calendar).await, Revision(1 + updates));
}

/// Attempts at one code are counted one by one, and its first row is created once.
pub async fn no_attempt_at_a_code_is_lost(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let first = scene.make.code(scene.org);
    let put = |code: VerificationCode, seen| Change::PutCode { code, seen };
    let outcomes = race(TASKS, |_| {
        let (scene, change) = (scene.clone(), put(first.clone(), None));
        async move { scene.try_commit(scene.changes().account(change)).await }
    })
    .await;
    assert_only_stale(&outcomes);
    assert_eq!(successes(&outcomes), 1);
    race(TASKS, |_| {
        let scene = scene.clone();
        async move {
            loop {
                let code = scene.store.find_code(scene.org).await.unwrap().unwrap();
                let seen = Some(code.version);
                let counted = VerificationCode { attempts: code.attempts + 1, version: code.version.next(), ..code };
                match scene.try_commit(scene.changes().account(put(counted, seen))).await {
                    Ok(()) => break,
                    Err(CommitError::Stale) => {}
                    Err(other) => panic!("{other:?}"),
                }
            }
        }
    })
    .await;
    let last = scene.store.find_code(scene.org).await.unwrap().unwrap();
    assert_eq!(last.attempts as usize, TASKS);
}

/// Change-sets that name two calendars, their events and two metrics in opposite orders do not deadlock, and none is
/// lost.
pub async fn opposite_orders_do_not_deadlock(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (first, second) = (scene.shared_calendar().await, scene.shared_calendar().await);
    let existing = [scene.event(&first, hours(1, 2)).await, scene.event(&second, hours(1, 2)).await];
    race(TASKS, |index| {
        let (scene, mut calendars, mut existing) = (scene.clone(), [first.clone(), second.clone()], existing.clone());
        let mut metrics = [Metric::Events, Metric::Proposals];
        if index % 2 == 1 {
            calendars.reverse();
            existing.reverse();
            metrics.reverse();
        }
        async move {
            for _ in 0..ROUNDS {
                loop {
                    let mut changes = scene.changes();
                    for (calendar, event) in calendars.iter().zip(&existing) {
                        let seen = scene.now(event).await.unwrap();
                        let next = Event { version: seen.version.next(), ..seen.clone() };
                        let added = scene.make.event(calendar, hours(3, 4));
                        changes = changes.create(&added).update(&next, seen.version);
                    }
                    for metric in metrics {
                        changes = changes.charge(Charge { metric, ..scene.make.charge(None) });
                    }
                    match scene.try_commit(changes).await {
                        Ok(()) => break,
                        Err(CommitError::Stale) => {}
                        Err(other) => panic!("{other:?}"),
                    }
                }
            }
        }
    })
    .await;
    let applied: i64 = (TASKS * ROUNDS).try_into().unwrap();
    for (calendar, event) in [&first, &second].into_iter().zip(&existing) {
        assert_eq!(scene.revision(calendar).await, Revision(1 + applied));
        assert_eq!(scene.now(event).await.unwrap().version, Version(1 + applied));
        assert_eq!(scene.events(calendar.id).await.len(), 1 + TASKS * ROUNDS);
    }
    for metric in [Metric::Events, Metric::Proposals] {
        assert_eq!(scene.used(metric).await, (TASKS * ROUNDS) as u64);
    }
}

/// Change-sets that add to two calendars in opposite orders are all applied. They have no guard and no version that
/// would make one of them wait.
pub async fn opposite_additions_are_all_applied(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (first, second) = (scene.shared_calendar().await, scene.shared_calendar().await);
    let outcomes = race(TASKS * 4, |index| {
        let (scene, mut calendars) = (scene.clone(), [first.clone(), second.clone()]);
        if index % 2 == 1 {
            calendars.reverse();
        }
        async move {
            let [one, other] = calendars.map(|calendar| scene.make.event(&calendar, hours(1, 2)));
            scene.try_commit(scene.changes().create(&one).create(&other)).await
        }
    })
    .await;
    assert_eq!(successes(&outcomes), TASKS * 4, "{outcomes:?}");
    for calendar in [&first, &second] {
        assert_eq!(scene.revision(calendar).await, Revision((TASKS * 4).try_into().unwrap()));
    }
}

/// Concurrent identical requests are applied once, with no stored answer and with an expired one.
pub async fn identical_requests_are_applied_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let mut answer = scene.make.answer();
    for round in 1..=ROUNDS {
        let outcomes = race(TASKS, |_| {
            let (scene, calendar, answer) = (scene.clone(), calendar.clone(), answer.clone());
            async move {
                let event = scene.make.event(&calendar, hours(1, 2));
                let charged = scene.changes().create(&event).charge(scene.make.charge(None));
                scene.try_commit(charged.message(scene.make.message(scene.org)).answer(answer)).await
            }
        })
        .await;
        for outcome in &outcomes {
            assert!(matches!(outcome, Ok(()) | Err(CommitError::AlreadyAnswered)), "{outcome:?}");
        }
        assert_eq!(successes(&outcomes), 1, "round {round}");
        let seen = scene.observe().await;
        assert_eq!((seen.events.len(), seen.messages.len(), seen.answers), (round, round, 1));
        assert_eq!(scene.used(Metric::Events).await, round as u64);
        assert_eq!(scene.revision(&calendar).await, Revision(round.try_into().unwrap()));
        let now = answer.expires_at;
        answer = StoredAnswer { created_at: now, expires_at: now + SignedDuration::hours(24), ..answer };
    }
}

/// If several callers sign up with one address, exactly one gets it.
pub async fn one_sign_up_gets_the_address(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    for round in 1..=ROUNDS {
        let email = scene.make.email();
        let outcomes = race(TASKS, |_| {
            let scene = scene.clone();
            let organization = Organization { email: Some(email.clone()), ..scene.make.organization() };
            async move { scene.try_commit(ChangeSet::new(organization.id).create(&organization)).await }
        })
        .await;
        for outcome in &outcomes {
            assert!(matches!(outcome, Ok(()) | Err(CommitError::EmailTaken)), "{outcome:?}");
        }
        assert_eq!(successes(&outcomes), 1, "round {round}");
        assert_eq!(scene.store.list_organizations().await.unwrap().len(), 1 + round);
    }
}

/// While an agent is decommissioned, others create calendars for it and schedule on them. Whatever the order, nothing
/// of the agent is visible afterwards, and nothing can be added.
pub async fn nothing_outlives_its_agent(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    for _ in 0..ROUNDS {
        let agent = scene.agent().await;
        let calendar = scene.calendar(&agent).await;
        let existing = scene.event(&calendar, hours(1, 2)).await;
        let outcomes = race(TASKS, |index| {
            let (scene, agent, calendar, existing) = (scene.clone(), agent.clone(), calendar.clone(), existing.clone());
            async move {
                let changes = match index % 4 {
                    // In the middle of the other tasks.
                    _ if index == TASKS / 2 => {
                        let gone = agent.decommissioned(scene.make.tick()).unwrap();
                        scene.changes().update(&gone, agent.version)
                    }
                    0 => scene.changes().create(&scene.make.calendar(&agent)),
                    1 => scene.changes().create(&scene.make.event(&calendar, hours(2, 3))),
                    2 => {
                        let limit = Guard::AtMost { metric: Metric::Calendars, limit: 1_000 };
                        scene.changes().create(&scene.make.calendar(&agent)).guard(limit)
                    }
                    _ => {
                        let next = Event { version: existing.version.next(), ..existing.clone() };
                        scene.changes().update(&next, existing.version)
                    }
                };
                scene.try_commit(changes).await
            }
        })
        .await;
        assert_only_stale(&outcomes);
        assert!(outcomes[TASKS / 2].is_ok(), "nothing else changes the agent's own row");
        assert_eq!(scene.calendars().await, []);
        assert_eq!(scene.now(&existing).await, None);
        assert_eq!(scene.store.sources_of_agents(scene.org, &[agent.id]).await.unwrap(), []);
        let scope = EventScope::Agent(agent.id);
        let listed = scene.store.list_events(scene.org, scope, EventFilter::default(), LARGEST_PAGE).await.unwrap();
        assert_eq!((listed.data, listed.total), (vec![], 0));
        for late in [
            scene.changes().create(&scene.make.calendar(&agent)),
            scene.changes().create(&scene.make.event(&calendar, hours(2, 3))),
        ] {
            assert!(matches!(scene.try_commit(late).await, Err(CommitError::Stale)));
        }
    }
}

/// While a calendar is deleted, others schedule on it: afterwards nothing is visible.
pub async fn nothing_outlives_its_calendar(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    for _ in 0..ROUNDS {
        let calendar = scene.shared_calendar().await;
        let outcomes = race(TASKS, |index| {
            let (scene, calendar) = (scene.clone(), calendar.clone());
            async move {
                if index == TASKS / 2 {
                    let gone = calendar.deleted(scene.make.tick());
                    scene.try_commit(scene.changes().update(&gone, calendar.version)).await
                } else {
                    let event = scene.make.event(&calendar, hours(1, 2));
                    scene.try_commit(scene.changes().create(&event)).await
                }
            }
        })
        .await;
        assert_only_stale(&outcomes);
        assert!(outcomes[TASKS / 2].is_ok(), "scheduling does not change the calendar's own version");
        assert_eq!(scene.events(calendar.id).await, []);
        assert_eq!(scene.store.blocking_spans(scene.org, calendar.id, hours(0, 9)).await.unwrap(), None);
    }
}

/// Change-sets that wait together have separate outcomes: a failure affects no other, and every success is applied.
pub async fn concurrent_outcomes_stay_separate(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendars: Arc<[Calendar]> = Arc::new([scene.shared_calendar().await, scene.shared_calendar().await]);
    let existing = scene.event(&calendars[0], hours(1, 2)).await;
    let tasks = TASKS * 8;
    let outcomes = race(tasks, |index| {
        let (scene, calendars, existing) = (scene.clone(), Arc::clone(&calendars), existing.clone());
        async move {
            let calendar = &calendars[index / 8 % 2];
            let event = scene.make.event(calendar, hours(1, 2));
            let changes = scene
                .changes()
                .create(&event)
                .message(scene.make.message(scene.org))
                .audit(scene.make.audit_entry(scene.org))
                .charge(scene.make.charge(None));
            let spoiled = match index % 8 {
                1 => changes.update(&existing, Version(99)),
                3 => changes.charge(Charge { metric: Metric::Proposals, ..scene.make.charge(Some(0)) }),
                5 => changes.create(&existing),
                7 => changes.guard(Guard::AtMost { metric: Metric::Calendars, limit: 1 }),
                _ => changes,
            };
            (event, scene.try_commit(spoiled).await)
        }
    })
    .await;
    for (index, (event, outcome)) in outcomes.iter().enumerate() {
        let as_expected = match index % 8 {
            1 => matches!(outcome, Err(CommitError::Stale)),
            3 => matches!(outcome, Err(CommitError::LimitReached { metric: Metric::Proposals, limit: 0 })),
            5 => matches!(outcome, Err(CommitError::Store(_))),
            7 => matches!(outcome, Err(CommitError::LimitReached { metric: Metric::Calendars, limit: 1 })),
            _ => outcome.is_ok(),
        };
        assert!(as_expected, "{index}: {outcome:?}");
        assert_eq!(scene.now(event).await.is_some(), outcome.is_ok(), "{index}");
    }
    let seen = scene.observe().await;
    assert_eq!((seen.messages.len(), seen.audit.len(), seen.events.len()), (tasks / 2, tasks / 2, tasks / 2 + 1));
    assert_eq!(scene.used(Metric::Events).await, (tasks / 2) as u64);
}

/// A reader sees a change-set as a whole or not at all, and busy times with the revision that they belong to.
pub async fn readers_see_complete_change_sets(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent: Agent = scene.agent().await;
    let calendars = [scene.calendar(&agent).await, scene.calendar(&agent).await];
    let writes_each = 12;
    race(8, |index| {
        let (scene, agent, calendars) = (scene.clone(), agent.clone(), calendars.clone());
        async move {
            if index < 4 {
                for _ in 0..writes_each {
                    let [one, other] = calendars.clone().map(|calendar| scene.make.event(&calendar, minutes(1, 2)));
                    scene.commit(scene.changes().create(&one).create(&other)).await;
                }
                return;
            }
            let scope = EventScope::Agent(agent.id);
            loop {
                let listed =
                    scene.store.list_events(scene.org, scope, EventFilter::default(), LARGEST_PAGE).await.unwrap();
                assert_eq!(listed.data.len() % 2, 0, "both events of a change-set are visible");
                assert_eq!(listed.total, listed.data.len() as u64);
                for calendar in &calendars {
                    let busy = scene.store.blocking_spans(scene.org, calendar.id, hours(0, 1)).await.unwrap();
                    let CalendarBusy { revision, spans, .. } = busy.unwrap();
                    assert_eq!(spans.len().try_into(), Ok(revision.0), "one snapshot");
                }
                let sources = scene.store.sources_of_agents(scene.org, &[agent.id]).await.unwrap();
                let [one, other] = sources.as_slice() else { panic!("two calendars: {sources:?}") };
                assert_eq!(one.revision, other.revision, "both revisions rise together");
                if listed.data.len() == 2 * 4 * writes_each {
                    break;
                }
                // A store that never waits would leave no thread for the writers.
                tokio::task::yield_now().await;
            }
        }
    })
    .await;
}
