//! Answers that are stored for a repetition of the request.

use kalends_app::{Answer, StoredAnswer, ports::CommitError};
use kalends_kernel::Version;
use kalends_time::SignedDuration;

use super::{
    StoreUnderTest,
    samples::TRICKY,
    scene::{Scene, assert_refused},
};
use crate::fixtures::Compose;

/// Every field survives, empty and full.
pub async fn answers_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let plain = || scene.make.answer();
    let bare = Answer { status: 204, body: None, version: None };
    let empty = Answer { status: 200, body: Some(String::new()), version: Some(Version(i64::MAX)) };
    let large = Answer { status: u16::MAX, body: Some(TRICKY.repeat(1_000)), version: None };
    let made = [
        plain(),
        StoredAnswer { answer: bare, ..plain() },
        StoredAnswer { answer: empty, ..plain() },
        StoredAnswer { answer: large, scope: [0; 32], fingerprint: [255; 32], ..plain() },
    ];
    for stored in &made {
        scene.commit(scene.changes().answer(stored.clone())).await;
    }
    for stored in made {
        let found = scene.store.find_answer(stored.scope, stored.created_at).await.unwrap();
        assert_eq!(found, Some(stored));
    }
    assert_eq!(scene.store.find_answer([7; 32], scene.make.tick()).await.unwrap(), None);
}

/// An answer is kept up to, but not including, its expiry.
pub async fn an_answer_is_kept_until_it_expires(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let stored = scene.make.answer();
    scene.commit(scene.changes().answer(stored.clone())).await;
    let last = stored.expires_at - SignedDuration::micros(1);
    assert_eq!(scene.store.find_answer(stored.scope, last).await.unwrap().as_ref(), Some(&stored));
    for later in [stored.expires_at, stored.expires_at + SignedDuration::days(1)] {
        assert_eq!(scene.store.find_answer(stored.scope, later).await.unwrap(), None);
    }
}

/// While an answer is kept, no other replaces it, whatever its content.
pub async fn a_request_is_answered_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let stored = scene.make.answer();
    scene.commit(scene.changes().answer(stored.clone())).await;
    let late = stored.expires_at - SignedDuration::micros(1);
    let again = StoredAnswer { scope: stored.scope, ..scene.make.answer() };
    for repeated in [
        stored.clone(),
        again.clone(),
        StoredAnswer { created_at: late, expires_at: late + SignedDuration::hours(24), ..again },
    ] {
        let outcome = scene.try_commit(scene.changes().answer(repeated)).await;
        assert_refused!(outcome, CommitError::AlreadyAnswered);
    }
    // The scope is the key, whatever the organization.
    let other = scene.other_organization().await;
    let outcome = other.try_commit(other.changes().answer(stored.clone())).await;
    assert_refused!(outcome, CommitError::AlreadyAnswered);
    let found = scene.store.find_answer(stored.scope, stored.created_at).await.unwrap();
    assert_eq!(found, Some(stored));
}

/// An answer that has expired when the new one is stored is replaced.
pub async fn an_expired_answer_is_replaced(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let first = scene.make.answer();
    scene.commit(scene.changes().answer(first.clone())).await;
    let second = StoredAnswer {
        scope: first.scope,
        created_at: first.expires_at,
        expires_at: first.expires_at + SignedDuration::hours(24),
        answer: Answer { status: 204, body: None, version: None },
        ..scene.make.answer()
    };
    scene.commit(scene.changes().answer(second.clone())).await;
    assert_eq!(scene.inspect.answers().await, 1);
    let found = scene.store.find_answer(first.scope, second.created_at).await.unwrap();
    assert_eq!(found.as_ref(), Some(&second));
    let outcome = scene.try_commit(scene.changes().answer(second)).await;
    assert_refused!(outcome, CommitError::AlreadyAnswered);
}

/// Expired answers are removed in batches, and the others are kept.
pub async fn expired_answers_are_purged(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let mut made = Vec::new();
    for _ in 0..6 {
        let stored = scene.make.answer();
        scene.commit(scene.changes().answer(stored.clone())).await;
        made.push(stored);
    }
    let now = made[4].expires_at;
    let forget = async |now, limit| scene.store.forget_answers(now, limit).await.unwrap();
    assert_eq!(forget(made[0].expires_at - SignedDuration::micros(1), 9).await, 0);
    assert_eq!((forget(now, 3).await, forget(now, 3).await, forget(now, 3).await), (3, 2, 0));
    assert_eq!(scene.inspect.answers().await, 1);
    let last = made.pop().unwrap();
    let found = scene.store.find_answer(last.scope, now).await.unwrap();
    assert_eq!(found, Some(last));
}
