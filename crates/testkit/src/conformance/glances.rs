//! How much there is in an organization.

use kalends_accounts::Change as AccountChange;
use kalends_app::{
    ChangeSet,
    ports::{Glance, Waits},
};
use kalends_approvals::Change as ApprovalChange;
use kalends_notifications::Deactivation;
use kalends_proposals::Change as ProposalChange;
use kalends_time::{CivilDate, SignedDuration, Timestamp};

use super::{
    StoreUnderTest,
    scene::{Scene, hours},
};
use crate::fixtures::{Compose, Fixtures};

impl Scene {
    async fn glance_at(&self, now: Timestamp) -> Glance {
        self.store.glance(self.org, now).await.unwrap()
    }

    async fn glance(&self) -> Glance {
        self.glance_at(Fixtures::BEGINNING).await
    }
}

/// Every kind is counted on its own, and only in its organization.
pub async fn what_there_is_is_counted(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let empty = Glance { webhooks: 1, ..Glance::default() };
    assert_eq!(scene.glance().await, empty);

    let agent = scene.agent().await;
    let (own, shared) = (scene.calendar(&agent).await, scene.shared_calendar().await);
    let mut expected = Glance { has_had_agent: true, agents: 1, calendars: 2, ..empty };
    assert_eq!(scene.glance().await, expected);

    let off = scene.make.webhook(scene.org).deactivated(Deactivation::Failing, scene.make.tick()).unwrap();
    let paused = scene.switched(&scene.hears(&["event.created"]).await, false).await;
    assert_eq!((paused.active, paused.deactivated), (false, None));
    scene.commit(scene.changes().create(&off)).await;
    let proposal = scene.make.proposal(&own, agent.id);
    let mut changes = scene.changes();
    changes.proposals = vec![ProposalChange::Create(Box::new(proposal.clone()))];
    scene.commit(changes).await;
    let hold = scene.stored(scene.make.hold(&shared, hours(1, 2), SignedDuration::hours(1))).await;
    scene.event(&shared, hours(1, 2)).await;
    // One series on each calendar goes on. Another one has ended.
    for (calendar, start, rule) in
        [(&own, 1, "FREQ=DAILY"), (&shared, 1, "FREQ=DAILY;COUNT=2"), (&shared, -48, "FREQ=DAILY;COUNT=2")]
    {
        scene.stored(scene.make.series(calendar, hours(start, start + 1), rule)).await;
    }
    let pages = [scene.page_of(&own).await, scene.page_of(&shared).await];
    // One has begun, two begin in the next days, and one begins later.
    for (page, calendar, start) in [(0, &own, -1), (0, &own, 0), (1, &shared, 24 * 7 - 1), (1, &shared, 24 * 7)] {
        scene.book(&pages[page], calendar, hours(start, start + 1), None).await.0.unwrap();
    }
    expected = Glance {
        webhooks: 3,
        failed_webhooks: 1,
        pending_proposals: 1,
        holds: 1,
        series: 2,
        booking_pages: 2,
        bookings: 2,
        ..expected
    };
    assert_eq!(scene.glance().await, expected);
    let held_until = hold.hold.unwrap().expires_at;
    let (held, open) = (scene.glance_at(held_until).await, scene.glance_at(proposal.expires_at()).await);
    assert_eq!((held.holds, open.pending_proposals), (0, 0), "what has expired is not counted");
    let last = hours(25, 26);
    let [running, ended] = [last.start(), last.end()].map(|now| scene.glance_at(now));
    assert_eq!((running.await.series, ended.await.series), (2, 1), "a series ends with its last occurrence");

    scene.decommission(&agent).await;
    expected = Glance { agents: 0, calendars: 1, series: 1, booking_pages: 1, bookings: 1, ..expected };
    assert_eq!(scene.glance().await, expected);
    scene.delete(&shared).await;
    expected = Glance { calendars: 0, series: 0, booking_pages: 0, bookings: 0, holds: 0, ..expected };
    assert_eq!(scene.glance().await, expected);
    assert_eq!(other.glance().await, empty);
}

/// What waits is known by its kind until it expires, and only in its organization. What is counted on the first page is
/// counted alike.
pub async fn what_waits_is_known_until_it_expires(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let waits = async |scene: &Scene, now: Timestamp| scene.store.waits(scene.org, now).await.unwrap();
    let beginning = Fixtures::BEGINNING;
    assert_eq!(waits(&scene, beginning).await, Waits::default());

    let agent = scene.agent().await;
    let (own, shared) = (scene.calendar(&agent).await, scene.shared_calendar().await);
    let key = scene.make.scoped_key(&agent).key;
    scene.commit(scene.changes().create(&key)).await;
    let approvals = [scene.make.approval(&key), scene.make.approval(&key)];
    for approval in &approvals {
        let asked = vec![ApprovalChange::Ask(Box::new(approval.clone()))];
        scene.commit(ChangeSet { approvals: asked, ..scene.changes() }).await;
    }
    let mut expected = Waits { approvals: 2, ..Waits::default() };
    assert_eq!(waits(&scene, beginning).await, expected);
    assert_eq!(scene.glance().await.pending_approvals, 2);

    let hold = scene.stored(scene.make.hold(&shared, hours(1, 2), SignedDuration::hours(1))).await;
    expected.has_holds = true;
    assert_eq!(waits(&scene, beginning).await, expected);
    let proposal = scene.make.proposal(&own, agent.id);
    let mut changes = scene.changes();
    changes.proposals = vec![ProposalChange::Create(Box::new(proposal.clone()))];
    scene.commit(changes).await;
    expected.has_proposals = true;
    assert_eq!(waits(&scene, beginning).await, expected);
    let owner = scene.first_owner().await;
    let (invitation, _) = scene.invitation(&owner);
    scene.put_invitation(&invitation).await;
    expected.invitations = 1;
    assert_eq!(waits(&scene, beginning).await, expected);
    assert_eq!(waits(&other, beginning).await, Waits::default());

    let last = approvals.iter().map(|approval| approval.expires_at).max().unwrap();
    assert_eq!(waits(&scene, last).await.approvals, 0);
    assert!(!waits(&scene, hold.hold.unwrap().expires_at).await.has_holds);
    assert!(!waits(&scene, proposal.expires_at()).await.has_proposals);
    assert_eq!(waits(&scene, invitation.expires_at).await.invitations, 0);
    scene.delete(&shared).await;
    assert!(!waits(&scene, beginning).await.has_holds);
}

/// A key that was used is known also after it was revoked.
pub async fn the_use_of_a_revoked_key_is_known(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let agent = scene.agent().await;
    let (scoped, unused) = (scene.make.scoped_key(&agent).key, scene.make.key(scene.org).key);
    scene.commit(scene.changes().create(&scoped).create(&unused)).await;
    assert!(!scene.glance().await.has_used_key);
    let day = CivilDate::from_days(20_500);
    scene.store.record_key_uses(scene.org, &[scoped.id], day).await.unwrap();
    assert!(scene.glance().await.has_used_key);
    let revoked = AccountChange::RevokeKey { org: scene.org, key: scoped.id, at: scene.make.tick() };
    scene.commit(scene.changes().account(revoked)).await;
    assert!(scene.store.keys_in_force(scene.org).await.unwrap().iter().all(|key| key.last_used_on.is_none()));
    assert!(scene.glance().await.has_used_key);
}
