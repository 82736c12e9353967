//! The tokens that are mailed to users.

use kalends_accounts::{Change, MailedToken, SessionEnd, TokenPurpose, UserToken};
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
    async fn token_of(&self, user: UserId, purpose: TokenPurpose) -> UserToken {
        let token = UserToken::issue(&MailedToken::generate(&self.make.entropy), purpose, user, self.make.tick());
        self.commit(self.changes().account(Change::PutUserToken(token))).await;
        token
    }

    async fn token_now(&self, token: UserToken) -> Option<UserToken> {
        self.store.find_user_token(token.purpose, token.token).await.unwrap()
    }

    async fn made_user(&self) -> UserId {
        let user = self.make.user();
        self.commit(self.changes().create(&user)).await;
        user.id
    }
}

/// A token is found by its hash and purpose until another one of the same user for the same purpose replaces it.
pub async fn a_new_token_voids_the_previous_one(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (ada, bob) = (scene.made_user().await, scene.made_user().await);
    for (purpose, other) in
        [(TokenPurpose::Password, TokenPurpose::Address), (TokenPurpose::Address, TokenPurpose::Password)]
    {
        let kept = scene.token_of(ada, other).await;
        let (first, of_bob) = (scene.token_of(ada, purpose).await, scene.token_of(bob, purpose).await);
        assert_eq!(scene.token_now(first).await, Some(first));
        assert_eq!(scene.store.find_user_token(other, first.token).await.unwrap(), None, "it is for one purpose");
        let second = scene.token_of(ada, purpose).await;
        assert_eq!((scene.token_now(first).await, scene.token_now(second).await), (None, Some(second)));
        assert_eq!((scene.token_now(of_bob).await, scene.token_now(kept).await), (Some(of_bob), Some(kept)));
        let nobody = UserToken { user: UserId::from_bytes([9; 16]), ..first };
        let refused = scene.try_commit(scene.changes().account(Change::PutUserToken(nobody))).await;
        assert_refused!(refused, CommitError::Stale);
    }
}

/// A changed password voids a token that sets it and was mailed before, but no other token.
pub async fn a_changed_password_voids_a_reset(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (ada, bob) = (scene.made_user().await, scene.made_user().await);
    let reset = scene.token_of(ada, TokenPurpose::Password).await;
    let of_bob = scene.token_of(bob, TokenPurpose::Password).await;
    let proof = scene.token_of(ada, TokenPurpose::Address).await;
    scene.end(SessionEnd::AccountDeletion(ada), scene.make.tick()).await;
    assert_eq!(scene.token_now(reset).await, Some(reset), "ending other sessions leaves the reset");
    scene.end(SessionEnd::PasswordChange { user: ada, keep: None }, scene.make.tick()).await;
    assert_eq!((scene.token_now(reset).await, scene.token_now(of_bob).await), (None, Some(of_bob)));
    assert_eq!(scene.token_now(proof).await, Some(proof));
}

/// If several callers use a token at once, one succeeds.
pub async fn a_token_is_used_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let user = scene.made_user().await;
    let token = scene.token_of(user, TokenPurpose::Password).await;
    let outcomes = race(TASKS, |_| {
        let scene = scene.clone();
        async move { scene.try_commit(scene.changes().account(Change::UseUserToken(token.token))).await }
    })
    .await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    for outcome in outcomes.into_iter().filter(Result::is_err) {
        assert_refused!(outcome, CommitError::Stale);
    }
    assert_eq!(scene.token_now(token).await, None);
}

/// Expired tokens are removed in batches, and tokens are deleted with their user.
pub async fn expired_tokens_are_purged(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let mut tokens = Vec::new();
    for _ in 0..5 {
        let user = scene.made_user().await;
        tokens.push(scene.token_of(user, TokenPurpose::Password).await);
    }
    let longer = scene.token_of(tokens[0].user, TokenPurpose::Address).await;
    let forget = async |now, limit| scene.store.forget_user_tokens(now, limit).await.unwrap();
    assert_eq!(forget(tokens[0].expires_at - SignedDuration::micros(1), 9).await, 0);
    let now = tokens[3].expires_at;
    assert_eq!((forget(now, 3).await, forget(now, 3).await, forget(now, 3).await), (3, 1, 0));
    assert_eq!(scene.token_now(tokens[4]).await, Some(tokens[4]));
    assert_eq!(scene.token_now(longer).await, Some(longer));
    let both = scene.token_of(tokens[4].user, TokenPurpose::Address).await;
    let user = scene.store.find_user(tokens[4].user).await.unwrap().unwrap();
    let gone = Change::DeleteUser { user: user.id, seen: user.version };
    scene.commit(scene.changes().account(gone)).await;
    assert_eq!((scene.token_now(tokens[4]).await, scene.token_now(both).await), (None, None));
}
