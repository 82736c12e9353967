//! The time that pending proposals and approvals reserve.

use kalends_app::{Guard, ports::CommitError};
use kalends_calendars::{Calendar, Change, Reservation};
use kalends_kernel::ProposalId;
use kalends_time::Timestamp;

use super::{
    StoreUnderTest,
    scene::{Scene, assert_refused, hours, race, successes},
};
use crate::fixtures::Compose;

/// How many tasks run at once.
const TASKS: usize = 8;

impl Scene {
    async fn schedule(&self, calendars: Vec<Change>) -> Result<(), CommitError> {
        let mut changes = self.changes();
        changes.calendars = calendars;
        self.try_commit(changes).await
    }

    fn reservation(&self, span: (i64, i64)) -> Reservation {
        let owner = ProposalId::new(self.make.tick(), &self.make.entropy).into();
        Reservation { owner, span: hours(span.0, span.1), expires_at: hours(20, 21).start() }
    }
}

/// Reservations are returned with holds, announced with blocking times, and make guarded decisions stale.
pub async fn reservations_are_read_with_holds(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.calendar(&scene.agent().await).await;
    let aside = scene.shared_calendar().await;
    let (org, id, window) = (scene.org, calendar.id, hours(10, 12));
    let held = async |calendar: &Calendar| {
        let spans = scene.store.blocking_spans(org, calendar.id, window).await.unwrap().unwrap();
        let blocks = scene.store.blocks(org, calendar.id, window, 10).await.unwrap().unwrap();
        assert_eq!((spans.held, spans.spans, spans.revision), (blocks.held, vec![], blocks.source.revision));
        if let Some(agent) = calendar.agent {
            let together = scene.store.busy_of_agent(org, agent, window).await.unwrap();
            assert_eq!(together[0].1.held, blocks.held);
        }
        blocks.held
    };
    assert!(!held(&calendar).await);
    let seen = scene.revision(&calendar).await;

    let owner = scene.reservation((9, 11)).owner;
    let of = |from, to| Reservation { owner, ..scene.reservation((from, to)) };
    let (inside, outside) = ([of(9, 11), of(10, 11), of(11, 99)], [of(8, 10), of(12, 13)]);
    let reserve = |calendar: &Calendar, reservations: &[Reservation]| Change::Reserve {
        org,
        calendar: calendar.id,
        reservations: reservations.to_vec(),
    };
    scene.schedule(vec![reserve(&calendar, &[&inside[..], &outside[..]].concat())]).await.unwrap();
    let other = Reservation { expires_at: Timestamp::EPOCH, ..scene.reservation((10, 12)) };
    scene.schedule(vec![reserve(&calendar, &[other])]).await.unwrap();
    assert!(held(&calendar).await && !held(&aside).await);
    assert_eq!(scene.revision(&calendar).await.0, seen.0 + 2);
    let reservations = async || {
        let mut reservations = scene.store.holds_within(org, id, window).await.unwrap().unwrap().reserved;
        reservations.sort();
        reservations
    };
    let mut expected = inside.to_vec();
    expected.push(other);
    expected.sort();
    assert_eq!(reservations().await, expected);

    // A decision about that time is stale now; one about another time is not.
    let decided = |window| {
        let guard = Guard::CalendarTime { calendar: id, seen, window };
        scene.changes().guard(guard).create(&scene.make.agent(org))
    };
    assert_refused!(scene.try_commit(decided(hours(10, 11))).await, CommitError::Stale);
    scene.commit(decided(hours(6, 8))).await;

    let ended = Change::Unreserve { org, calendar: id, owner };
    scene.schedule(vec![ended.clone()]).await.unwrap();
    assert_eq!(reservations().await, [other]);
    assert_eq!(scene.revision(&calendar).await.0, seen.0 + 3);
    assert_eq!(scene.store.forget_reservations(Timestamp::EPOCH, 10).await.unwrap(), 1);
    assert!(!held(&calendar).await && reservations().await.is_empty());
    assert_eq!(scene.store.forget_reservations(Timestamp::EPOCH, 10).await.unwrap(), 0);

    scene.delete(&calendar).await;
    assert_refused!(scene.schedule(vec![ended]).await, CommitError::Stale);
    assert_refused!(scene.schedule(vec![reserve(&calendar, &inside)]).await, CommitError::Stale);
}

/// If many callers reserve the same time under the same guard, one succeeds.
pub async fn a_time_is_reserved_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let calendar = scene.shared_calendar().await;
    for hour in 0..6 {
        let seen = scene.revision(&calendar).await;
        let outcomes = race(TASKS, |_| {
            let (scene, id) = (scene.clone(), calendar.id);
            async move {
                let reservation = scene.reservation((hour, hour + 1));
                let mut changes =
                    scene.changes().guard(Guard::CalendarTime { calendar: id, seen, window: reservation.span });
                let reservations = vec![reservation];
                changes.calendars.push(Change::Reserve { org: scene.org, calendar: id, reservations });
                scene.try_commit(changes).await
            }
        })
        .await;
        assert_eq!(successes(&outcomes), 1, "{outcomes:?}");
    }
}
