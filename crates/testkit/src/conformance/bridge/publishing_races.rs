//! Concurrent changes of destinations, calendars, connections and attempts.

use kalends_app::ports::CommitError;
use kalends_bridge::{Change, Ended, RefreshState};
use kalends_kernel::Revision;
use kalends_time::Timestamp;

use super::{
    TASKS, consent,
    publishing::{LASTS, LATER},
};
use crate::conformance::{
    StoreUnderTest,
    scene::{Scene, hours, race, successes},
};
use crate::fixtures::Compose as _;

const ROUNDS: usize = 12;

/// If a destination is put while its connection is deleted, none is left.
pub async fn no_destination_outlives_its_connection(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    for _ in 0..ROUNDS {
        let (calendar, known) = (scene.shared_calendar().await, scene.shared_calendar().await);
        let (connection, targets) = scene.connected(&["work"]).await;
        let before = scene.destination_of(&known, &connection, &targets[0]);
        scene.put_destination(&before, None).await.unwrap();
        let destination = scene.destination_of(&calendar, &connection, &targets[0]);
        let outcomes = race(2, |index| {
            let (scene, connection, destination) = (scene.clone(), connection.clone(), destination.clone());
            async move {
                match index {
                    0 => scene.put_destination(&destination, None).await,
                    _ => scene.disconnect(&connection).await,
                }
            }
        })
        .await;
        assert!(matches!(outcomes[0], Ok(()) | Err(CommitError::Stale)), "{outcomes:?}");
        assert!(outcomes[1].is_ok(), "{outcomes:?}");
        for calendar in [&calendar, &known] {
            assert_eq!((scene.destination_now(calendar.id).await, scene.policy_now(calendar).await), (None, None));
        }
        assert!(scene.no_destination_is_due(scene.make.tick() + LATER).await);
    }
}

/// If a destination is put while its calendar is deleted, or the calendar's agent is decommissioned, it is due
/// afterwards, or there is none. It need not be due if a worker has seen the hidden calendar.
pub async fn no_destination_of_a_hidden_calendar_is_forgotten(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    for round in 0..ROUNDS {
        let agent = scene.agent().await;
        let calendar = scene.calendar(&agent).await;
        let (connection, targets) = scene.connected(&["work"]).await;
        let destination = scene.destination_of(&calendar, &connection, &targets[0]);
        let now = scene.make.tick();
        let hide = match round % 2 {
            0 => scene.changes().update(&calendar.deleted(now), calendar.version),
            _ => scene.changes().update(&agent.decommissioned(now).unwrap(), agent.version),
        };
        let outcomes = race(3, |index| {
            let (scene, destination, hide) = (scene.clone(), destination.clone(), hide.clone());
            async move {
                match index {
                    0 => scene.put_destination(&destination, None).await.map(|()| false),
                    1 => scene.try_commit(hide).await.map(|()| false),
                    _ => Ok(scene.saw_a_hidden_calendar(now).await),
                }
            }
        })
        .await;
        assert!(matches!(outcomes[0], Ok(_) | Err(CommitError::Stale)), "{outcomes:?}");
        assert!(outcomes[1].is_ok(), "{outcomes:?}");
        let claimed = scene.claim_destinations(now, 9).await;
        match scene.destination_now(calendar.id).await {
            None => assert!(outcomes[0].is_err() && claimed.is_empty(), "{outcomes:?}"),
            Some(found) => {
                assert_eq!(found, destination);
                assert!(claimed.len() == 1 || matches!(outcomes[2], Ok(true)), "{outcomes:?}");
                scene.end_destination(&found, true).await.unwrap();
            }
        }
    }
}

impl Scene {
    /// Publishes once, and returns whether it saw that the calendar was hidden.
    async fn saw_a_hidden_calendar(&self, now: Timestamp) -> bool {
        let mut hidden = false;
        for claimed in self.claim_destinations(now, 9).await {
            let found = self.store.find_calendar(self.org, claimed.claim.calendar).await.unwrap();
            hidden |= found.is_none();
            self.end_publishing(claimed.claim, Revision(0), Some(now + LATER)).await.unwrap();
        }
        hidden
    }
}

/// If events are written while an attempt ends, the calendar is due afterwards.
pub async fn no_write_is_lost_at_the_end_of_an_attempt(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    scene.published(&calendar).await;
    for _ in 0..ROUNDS {
        let now = scene.make.tick();
        let (claim, revision) = (scene.claim_destination(now).await, scene.revision(&calendar).await);
        let outcomes = race(4, |index| {
            let (scene, calendar) = (scene.clone(), calendar.clone());
            async move {
                match index {
                    0 => scene.end_publishing(claim, revision, Some(now + LATER)).await,
                    _ => {
                        let event = scene.make.event(&calendar, hours(1, 2));
                        scene.try_commit(scene.changes().create(&event)).await
                    }
                }
            }
        })
        .await;
        assert_eq!(successes(&outcomes), 4, "{outcomes:?}");
        // The next round claims it.
    }
    assert!(!scene.no_destination_is_due(scene.make.tick()).await);
}

/// A refresh and an attempt to publish end at once, and both write everything. So does a change of the label.
pub async fn refreshes_and_publications_do_not_overwrite_each_other(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let (destination, connection, targets) = scene.published(&calendar).await;
    let revision = scene.revision(&calendar).await;
    for _ in 0..ROUNDS {
        let now = scene.make.tick();
        let (refresh, seen) = scene.store.claim_refreshes(now, now + LASTS, 9).await.unwrap().remove(0);
        let claim = scene.claim_destination(now).await;
        let copy = scene.copy_at(&targets[0], None);
        let (state, renewed) = (RefreshState::default().after(Ended::Good, now), consent("renewed", now));
        let end_refresh = Change::EndRefresh {
            claim: refresh,
            access: Some(renewed.clone()),
            state: state.clone(),
            calendars: targets.clone(),
            gone: vec![],
            next: Some(now),
            at: now,
        };
        let labelled = seen.patched(kalends_bridge::ConnectionPatch::Label(Some(now.to_string())), scene.make.tick());
        let outcomes = race(3, |index| {
            let (scene, copy, end_refresh) = (scene.clone(), copy.clone(), end_refresh.clone());
            let (seen, labelled) = (seen.clone(), labelled.clone());
            async move {
                match index {
                    0 => scene.bridge(vec![end_refresh]).await,
                    1 => scene.reconnect(&seen, &labelled, None).await,
                    _ => match scene.record_copies(claim, &[copy], &[], now + LASTS).await {
                        Ok(()) => scene.end_publishing(claim, revision, Some(now)).await,
                        refused => refused,
                    },
                }
            }
        })
        .await;
        assert_eq!(successes(&outcomes), 3, "{outcomes:?}");
        let found = scene.connection_now(&connection).await.unwrap();
        assert_eq!((found.access, found.refresh, found.label), (renewed, state, labelled.label));
        assert!(scene.copies_now(calendar.id).await.contains(&copy));
        assert_eq!(scene.destination_now(calendar.id).await.as_ref(), Some(&destination));
    }
    assert_eq!(scene.copies_now(calendar.id).await.len(), ROUNDS);
}

/// If many destinations of a calendar are put at once, one is. The same holds for changes of one that was read.
pub async fn a_calendar_gets_one_destination(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    let (connection, targets) = scene.connected(&["work", "home"]).await;
    for seen in [None, Some(kalends_kernel::Version::FIRST)] {
        let outcomes = race(TASKS, |index| {
            let scene = scene.clone();
            let mut destination = scene.destination_of(&calendar, &connection, &targets[index % 2]);
            if let Some(seen) = seen {
                destination.version = seen.next();
            }
            async move { scene.put_destination(&destination, seen).await }
        })
        .await;
        assert_eq!(successes(&outcomes), 1, "{outcomes:?}");
        assert!(outcomes.iter().all(|outcome| matches!(outcome, Ok(()) | Err(CommitError::Stale))), "{outcomes:?}");
        let won = outcomes.iter().position(Result::is_ok).unwrap();
        let found = scene.destination_now(calendar.id).await.unwrap();
        assert_eq!(found.target, targets[won % 2].id);
    }
}
