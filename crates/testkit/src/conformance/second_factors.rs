//! The second factors of users, and their recovery codes.

use kalends_accounts::{Change, FactorUse, RecoveryCode, SecondFactor, TokenHash, TotpSecret};
use kalends_app::ports::CommitError;
use kalends_kernel::UserId;

use super::{
    StoreUnderTest,
    scene::{Scene, assert_refused, race},
};
use crate::fixtures::Compose;

/// How many tasks run at once.
const TASKS: usize = 8;

impl Scene {
    async fn factor_now(&self, user: UserId) -> Option<SecondFactor> {
        self.store.find_second_factor(user).await.unwrap()
    }

    /// A new user with a factor that waits for its first code.
    async fn pending_factor(&self) -> SecondFactor {
        let user = self.make.user();
        self.commit(self.changes().create(&user)).await;
        let factor = self.new_factor(user.id);
        self.commit(self.changes().account(Change::PutSecondFactor(factor.clone()))).await;
        factor
    }

    fn new_factor(&self, user: UserId) -> SecondFactor {
        SecondFactor::begin(user, TotpSecret::generate(&self.make.entropy), self.make.tick())
    }

    /// A new user with a factor that is on.
    async fn factor(&self) -> SecondFactor {
        let factor = self.pending_factor().await.confirmed(7, self.make.tick());
        self.commit(self.changes().account(Change::ConfirmSecondFactor(factor.clone()))).await;
        let recovery = self.new_codes();
        let put = Change::PutRecoveryCodes { user: factor.user, codes: recovery.clone() };
        self.commit(self.changes().account(put)).await;
        SecondFactor { recovery, ..factor }
    }

    /// The hashes of new recovery codes, in their order.
    fn new_codes(&self) -> Vec<TokenHash> {
        let mut hashes: Vec<_> =
            RecoveryCode::generate_all(&self.make.entropy).iter().map(RecoveryCode::hash).collect();
        hashes.sort_by_key(|hash| hash.0);
        hashes
    }
}

/// A factor that waits can be replaced, and only the one that was read is confirmed. A confirmed one stays.
pub async fn a_factor_is_confirmed_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let first = scene.pending_factor().await;
    let user = first.user;
    assert_eq!(scene.factor_now(user).await, Some(first.clone()));
    assert_eq!(scene.factor_now(UserId::from_bytes([9; 16])).await, None);
    let early = Change::PutRecoveryCodes { user, codes: scene.new_codes() };
    assert_refused!(scene.try_commit(scene.changes().account(early)).await, CommitError::Stale);
    let early = Change::UseSecondFactor { user, used: FactorUse::Step(9), seen: None };
    assert_refused!(scene.try_commit(scene.changes().account(early)).await, CommitError::Stale);

    let second = scene.new_factor(user);
    scene.commit(scene.changes().account(Change::PutSecondFactor(second.clone()))).await;
    let late = Change::ConfirmSecondFactor(first.confirmed(7, scene.make.tick()));
    assert_refused!(scene.try_commit(scene.changes().account(late)).await, CommitError::Stale);
    let on = second.confirmed(8, scene.make.tick());
    scene.commit(scene.changes().account(Change::ConfirmSecondFactor(on.clone()))).await;
    assert_eq!(scene.factor_now(user).await, Some(on.clone()));
    let again = Change::ConfirmSecondFactor(second.confirmed(9, scene.make.tick()));
    assert_refused!(scene.try_commit(scene.changes().account(again)).await, CommitError::Stale);
    let replacement = Change::PutSecondFactor(scene.new_factor(user));
    assert_refused!(scene.try_commit(scene.changes().account(replacement)).await, CommitError::Stale);
    assert_eq!(scene.factor_now(user).await, Some(on));

    let nobody = Change::PutSecondFactor(scene.new_factor(UserId::from_bytes([9; 16])));
    assert_refused!(scene.try_commit(scene.changes().account(nobody)).await, CommitError::Stale);
}

/// If several sign-ins use one code at once, one succeeds.
pub async fn a_code_is_used_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (factor, other) = (scene.factor().await, scene.factor().await);
    let user = factor.user;
    let codes = [FactorUse::Step(8), FactorUse::Recovery(factor.recovery[3]), FactorUse::Step(9)];
    for (used, seen) in codes.into_iter().zip([Some(7), Some(8), Some(8)]) {
        let outcomes = race(TASKS, |_| {
            let scene = scene.clone();
            async move {
                let change = Change::UseSecondFactor { user, used, seen };
                scene.try_commit(scene.changes().account(change)).await
            }
        })
        .await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{used:?}");
        for outcome in outcomes.into_iter().filter(Result::is_err) {
            assert_refused!(outcome, CommitError::Stale);
        }
    }
    let mut left = factor.recovery.clone();
    left.remove(3);
    assert_eq!(scene.factor_now(user).await, Some(SecondFactor { last_step: Some(9), recovery: left, ..factor }));
    let theirs = Change::UseSecondFactor { user, used: FactorUse::Recovery(other.recovery[0]), seen: Some(9) };
    assert_refused!(scene.try_commit(scene.changes().account(theirs)).await, CommitError::Stale);
    assert_eq!(scene.factor_now(other.user).await, Some(other));
}

/// New recovery codes void all earlier ones of the same user.
pub async fn recovery_codes_are_replaced_together(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (factor, other) = (scene.factor().await, scene.factor().await);
    let codes = scene.new_codes();
    let put = Change::PutRecoveryCodes { user: factor.user, codes: codes.clone() };
    scene.commit(scene.changes().account(put)).await;
    assert_eq!(scene.factor_now(factor.user).await, Some(SecondFactor { recovery: codes, ..factor.clone() }));
    let old = Change::UseSecondFactor {
        user: factor.user,
        used: FactorUse::Recovery(factor.recovery[0]),
        seen: factor.last_step,
    };
    assert_refused!(scene.try_commit(scene.changes().account(old)).await, CommitError::Stale);
    assert_eq!(scene.factor_now(other.user).await, Some(other));
}

/// A factor is removed with its recovery codes, on its own or with its user. Removing nothing succeeds.
pub async fn a_factor_goes_with_its_user(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (ada, bob, pending) = (scene.factor().await, scene.factor().await, scene.pending_factor().await);
    for _ in 0..2 {
        scene.commit(scene.changes().account(Change::RemoveSecondFactor(ada.user))).await;
        assert_eq!(scene.factor_now(ada.user).await, None);
    }
    // The codes of an earlier factor do not come back with another one.
    let fresh = scene.new_factor(ada.user);
    scene.commit(scene.changes().account(Change::PutSecondFactor(fresh.clone()))).await;
    assert_eq!(scene.factor_now(ada.user).await, Some(fresh));
    assert_eq!(scene.factor_now(bob.user).await, Some(bob.clone()));
    for user in [bob.user, pending.user] {
        let seen = scene.store.find_user(user).await.unwrap().unwrap().version;
        scene.commit(scene.changes().account(Change::DeleteUser { user, seen })).await;
        assert_eq!(scene.factor_now(user).await, None);
    }
}
