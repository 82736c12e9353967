//! The message that a connection needs its user, which is committed with the end of a refresh.

use kalends_app::ports::CommitError;
use kalends_bridge::{CLAIM_LASTS, Change, Ended, RefreshClaim, RefreshState};
use kalends_notifications::{EventType, Message};
use kalends_time::Timestamp;

use crate::conformance::{
    StoreUnderTest,
    scene::{Scene, assert_refused},
};

/// The message of a refresh is stored exactly if the refresh held its claim.
pub async fn a_lost_refresh_announces_nothing(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    scene.connected(&["work"]).await;
    let claim = async |now: Timestamp| {
        let claims = scene.store.claim_refreshes(now, now + CLAIM_LASTS, 10).await.unwrap();
        assert_eq!(claims.len(), 1, "{claims:?}");
        claims[0].0
    };
    let lapse = async |claim: RefreshClaim, at: Timestamp| {
        let state = RefreshState::default().after(Ended::Lapsed("gone".into()), at);
        let (calendars, gone) = (Vec::new(), Vec::new());
        let message = scene.make.message(scene.org);
        let mut changes = scene.changes();
        changes.bridge.push(Change::EndRefresh { claim, access: None, state, calendars, gone, next: None, at });
        changes.messages.push(Message { event_type: EventType::ConnectionNeedsAttention, ..message });
        scene.try_commit(changes).await
    };
    let announced = async || {
        let messages = scene.inspect.messages(scene.org).await;
        messages.into_iter().filter(|message| message.event_type == EventType::ConnectionNeedsAttention).count()
    };
    let now = scene.make.tick();
    let later = now + CLAIM_LASTS;
    let (lost, held) = (claim(now).await, claim(later).await);
    assert_refused!(lapse(lost, later).await, CommitError::Stale);
    assert_eq!(announced().await, 0);
    lapse(held, later).await.unwrap();
    assert_eq!(announced().await, 1);
    assert_refused!(lapse(held, later).await, CommitError::Stale);
    assert_eq!(announced().await, 1);
}
