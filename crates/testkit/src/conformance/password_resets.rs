//! The tokens that reset a user's password.

use kalends_accounts::{Change, PasswordReset, ResetToken, SessionEnd};
use kalends_app::ports::CommitError;
use kalends_kernel::UserId;
use kalends_time::SignedDuration;

use super::{
    StoreUnderTest,
    scene::{Scene, assert_refused, race},
};
use crate::fixtures::Compose;

/// How many tasks run at once.
const TASKS: usize = 8;

impl Scene {
    /// Stores a new token of a user.
    async fn reset_of(&self, user: UserId) -> PasswordReset {
        let reset = PasswordReset::issue(&ResetToken::generate(&self.make.entropy), user, self.make.tick());
        self.commit(self.changes().account(Change::PutReset(reset))).await;
        reset
    }

    async fn reset_now(&self, reset: PasswordReset) -> Option<PasswordReset> {
        self.store.find_reset(reset.token).await.unwrap()
    }

    async fn made_user(&self) -> UserId {
        let user = self.make.user();
        self.commit(self.changes().create(&user)).await;
        user.id
    }
}

/// A token is found by its hash until another one of the same user replaces it.
pub async fn a_new_reset_voids_the_previous_one(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (ada, bob) = (scene.made_user().await, scene.made_user().await);
    let (first, of_bob) = (scene.reset_of(ada).await, scene.reset_of(bob).await);
    assert_eq!(scene.reset_now(first).await, Some(first));
    let second = scene.reset_of(ada).await;
    assert_eq!((scene.reset_now(first).await, scene.reset_now(second).await), (None, Some(second)));
    assert_eq!(scene.reset_now(of_bob).await, Some(of_bob));
    let nobody = PasswordReset { user: UserId::from_bytes([9; 16]), ..first };
    assert_refused!(scene.try_commit(scene.changes().account(Change::PutReset(nobody))).await, CommitError::Stale);
}

/// A changed password voids a token that was mailed before.
pub async fn a_changed_password_voids_a_reset(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (ada, bob) = (scene.made_user().await, scene.made_user().await);
    let (first, of_bob) = (scene.reset_of(ada).await, scene.reset_of(bob).await);
    scene.end(SessionEnd::AccountDeletion(ada), scene.make.tick()).await;
    assert_eq!(scene.reset_now(first).await, Some(first), "ending other sessions leaves the reset");
    scene.end(SessionEnd::PasswordChange { user: ada, keep: None }, scene.make.tick()).await;
    assert_eq!((scene.reset_now(first).await, scene.reset_now(of_bob).await), (None, Some(of_bob)));
}

/// If several callers use a token at once, one succeeds.
pub async fn a_reset_is_used_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let user = scene.made_user().await;
    let reset = scene.reset_of(user).await;
    let outcomes = race(TASKS, |_| {
        let scene = scene.clone();
        async move { scene.try_commit(scene.changes().account(Change::UseReset(reset.token))).await }
    })
    .await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    for outcome in outcomes.into_iter().filter(Result::is_err) {
        assert_refused!(outcome, CommitError::Stale);
    }
    assert_eq!(scene.reset_now(reset).await, None);
}

/// Expired tokens are removed in batches, and tokens are deleted with their user.
pub async fn expired_resets_are_purged(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let mut resets = Vec::new();
    for _ in 0..5 {
        let user = scene.made_user().await;
        resets.push(scene.reset_of(user).await);
    }
    let forget = async |now, limit| scene.store.forget_resets(now, limit).await.unwrap();
    assert_eq!(forget(resets[0].expires_at - SignedDuration::micros(1), 9).await, 0);
    let now = resets[3].expires_at;
    assert_eq!((forget(now, 3).await, forget(now, 3).await, forget(now, 3).await), (3, 1, 0));
    assert_eq!(scene.reset_now(resets[4]).await, Some(resets[4]));
    let user = scene.store.find_user(resets[4].user).await.unwrap().unwrap();
    let gone = Change::DeleteUser { user: user.id, seen: user.version };
    scene.commit(scene.changes().account(gone)).await;
    assert_eq!(scene.reset_now(resets[4]).await, None);
}
