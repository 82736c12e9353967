//! Attempts to sign in with a provider, and the identities that sign users in.

use kalends_accounts::{
    Change,
    oauth::{Attempt, Client, KnownIdentity, Provider},
};
use kalends_app::ports::CommitError;
use kalends_kernel::UserId;
use kalends_time::SignedDuration;
use url::Url;

use super::{
    StoreUnderTest,
    samples::TRICKY,
    scene::{Scene, assert_refused, race, successes},
};
use crate::fixtures::Compose;

/// How many tasks run at once.
const TASKS: usize = 24;

impl Scene {
    fn attempt(&self, provider: Provider, terms: Option<&str>) -> Attempt {
        let client = Client {
            provider,
            authorization_endpoint: Url::parse("https://provider.example/authorize").unwrap(),
            issuer: "https://provider.example".into(),
            client_id: "kalends".into(),
            redirect_uri: format!("https://calendar.example.com/v1/auth/oauth/{}/callback", provider.as_str()),
        };
        Attempt::begin(&client, terms.map(str::to_owned), self.make.tick(), &self.make.entropy).attempt
    }

    fn identity(&self, user: UserId, subject: &str) -> KnownIdentity {
        KnownIdentity {
            provider: Provider::Google,
            issuer: "https://provider.example".into(),
            subject: subject.into(),
            user,
            since: self.make.tick(),
        }
    }

    async fn add(&self, identity: &KnownIdentity) -> Result<(), CommitError> {
        self.try_commit(self.changes().account(Change::AddIdentity(identity.clone()))).await
    }

    async fn known(&self, identity: &KnownIdentity) -> Option<KnownIdentity> {
        let KnownIdentity { provider, issuer, subject, .. } = identity;
        self.store.find_identity(*provider, issuer, subject).await.unwrap()
    }
}

/// An attempt comes back unchanged, but only once.
pub async fn attempts_are_used_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    for provider in Provider::ALL {
        for terms in [None, Some("2026-01-01"), Some(TRICKY)] {
            let (attempt, other) = (scene.attempt(provider, terms), scene.attempt(provider, None));
            assert_eq!(scene.store.use_attempt(attempt.key).await.unwrap(), None);
            scene.store.keep_attempt(&attempt).await.unwrap();
            scene.store.keep_attempt(&other).await.unwrap();
            assert_eq!(scene.store.use_attempt(attempt.key).await.unwrap(), Some(attempt.clone()));
            assert_eq!(scene.store.use_attempt(attempt.key).await.unwrap(), None);
            assert_eq!(scene.store.use_attempt(other.key).await.unwrap(), Some(other));
        }
    }
}

/// If many callers use one attempt at once, one succeeds.
pub async fn concurrent_uses_of_an_attempt_succeed_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    for _ in 0..3 {
        let attempt = scene.attempt(Provider::Google, None);
        scene.store.keep_attempt(&attempt).await.unwrap();
        let used = race(TASKS, |_| {
            let (scene, key) = (scene.clone(), attempt.key);
            async move { scene.store.use_attempt(key).await.unwrap() }
        })
        .await;
        let used: Vec<_> = used.into_iter().flatten().collect();
        assert_eq!(used, [attempt]);
    }
}

/// Expired attempts are removed in batches, and the others are kept.
pub async fn expired_attempts_are_purged(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let attempts: Vec<_> = (0..5).map(|_| scene.attempt(Provider::Google, None)).collect();
    for attempt in &attempts {
        scene.store.keep_attempt(attempt).await.unwrap();
    }
    let forget = async |now, limit| scene.store.forget_attempts(now, limit).await.unwrap();
    assert_eq!(forget(attempts[0].expires_at - SignedDuration::micros(1), 9).await, 0);
    let now = attempts[3].expires_at;
    assert_eq!((forget(now, 3).await, forget(now, 3).await, forget(now, 3).await), (3, 1, 0));
    assert_eq!(scene.store.use_attempt(attempts[4].key).await.unwrap().as_ref(), Some(&attempts[4]));
}

/// An identity belongs to one user. A user may have several, and they are deleted with the user.
pub async fn an_identity_belongs_to_one_user(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (ada, bob) = (scene.make.user(), scene.make.user());
    scene.commit(scene.changes().create(&ada).create(&bob)).await;
    let first = scene.identity(ada.id, "1");
    assert_eq!(scene.known(&first).await, None);
    scene.add(&first).await.unwrap();
    assert_eq!(scene.known(&first).await.as_ref(), Some(&first));
    assert_refused!(scene.add(&scene.identity(bob.id, "1")).await, CommitError::Stale);
    assert_refused!(scene.add(&scene.identity(ada.id, "1")).await, CommitError::Stale);
    assert_eq!(scene.known(&first).await.as_ref(), Some(&first));

    // Another subject, issuer or provider makes another identity.
    let others = [
        scene.identity(bob.id, TRICKY),
        KnownIdentity { issuer: "https://other.example".into(), ..scene.identity(bob.id, "1") },
        KnownIdentity { provider: Provider::Microsoft, ..scene.identity(ada.id, "1") },
    ];
    for other in &others {
        assert_eq!(scene.known(other).await, None);
        scene.add(other).await.unwrap();
        assert_eq!(scene.known(other).await.as_ref(), Some(other));
    }
    let of = async |user| scene.store.identities_of(user).await.unwrap();
    assert_eq!(of(ada.id).await, [first.clone(), others[2].clone()]);
    assert_eq!(of(bob.id).await, others[..2]);
    assert_eq!(of(scene.make.user().id).await, []);
    scene.commit(scene.changes().account(Change::RemoveIdentities(bob.id))).await;
    assert_eq!(of(bob.id).await, []);
    assert_eq!((scene.known(&others[0]).await, scene.known(&others[1]).await), (None, None));
    assert_eq!(scene.known(&first).await.as_ref(), Some(&first));
    scene.add(&scene.identity(bob.id, TRICKY)).await.unwrap();
    scene.commit(scene.changes().account(Change::DeleteUser { user: ada.id, seen: ada.version })).await;
    assert_eq!((scene.known(&first).await, scene.known(&others[2]).await), (None, None));
    assert!(scene.known(&others[0]).await.is_some());
}

/// If many callers find an identity new at once, one of them gets it.
pub async fn one_caller_gets_a_new_identity(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    for subject in ["1", "2", "3"] {
        let outcomes = race(TASKS, |_| {
            let scene = scene.clone();
            async move {
                let user = scene.make.user();
                let identity = scene.identity(user.id, subject);
                scene.try_commit(scene.changes().create(&user).account(Change::AddIdentity(identity))).await
            }
        })
        .await;
        for outcome in &outcomes {
            assert!(matches!(outcome, Ok(()) | Err(CommitError::Stale)), "{outcome:?}");
        }
        assert_eq!(successes(&outcomes), 1);
        let known = scene.known(&scene.identity(UserId::from_bytes([0; 16]), subject)).await.unwrap();
        assert!(scene.store.find_user(known.user).await.unwrap().is_some());
    }
}
