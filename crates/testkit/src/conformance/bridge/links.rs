//! Connection links, and attempts to get a user's consent.

use kalends_accounts::{
    Change as AccountChange,
    oauth::{Client, Provider},
};
use kalends_app::ports::CommitError;
use kalends_bridge::{Audience, Change, ConnectAttempt, Grant, LinkStatus, NewLink, PublicationPolicy, Purpose};
use kalends_kernel::{ConnectionId, ConnectionLinkId};
use kalends_time::SignedDuration;
use url::Url;

use super::TASKS;
use crate::{
    conformance::{
        StoreUnderTest,
        scene::{Scene, assert_refused, race, successes},
    },
    fixtures::Compose as _,
};

/// Every field survives, in every state. A link is found by its identifier in its organization, and by its secret.
pub async fn links_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let agent = scene.agent().await;
    for calendar in [scene.calendar(&agent).await, scene.shared_calendar().await] {
        for policy in PublicationPolicy::ALL {
            let (mut link, secret) = scene.link_for(&calendar);
            link.requested = NewLink { publishing: *policy != PublicationPolicy::None, policy: *policy };
            assert_eq!((scene.link_now(&link).await, scene.link_of(secret.hash()).await), (None, None));
            scene.bridge(vec![Change::CreateLink(Box::new(link.clone()))]).await.unwrap();
            assert_eq!(scene.link_now(&link).await.as_ref(), Some(&link));
            assert_eq!(scene.link_of(secret.hash()).await.as_ref(), Some(&link));
            assert_eq!(scene.store.waiting_link(scene.org, calendar.id).await.unwrap().as_ref(), Some(&link));
            assert_eq!(other.link_now(&link).await, None);
            assert_eq!(other.store.waiting_link(other.org, calendar.id).await.unwrap(), None);

            let human = scene.a_human();
            let account = scene.connection_of(human);
            let opened = link.open(human, scene.make.tick()).unwrap();
            scene.relink(&link, &opened).await.unwrap();
            assert_eq!(scene.link_now(&link).await.as_ref(), Some(&opened));
            assert_eq!(scene.store.waiting_link(scene.org, calendar.id).await.unwrap(), None);
            let connected = opened.connect(human, account.id, scene.make.tick()).unwrap();
            scene.relink(&opened, &connected).await.unwrap();
            assert_eq!(scene.link_of(secret.hash()).await.as_ref(), Some(&connected));
            let now = scene.make.tick();
            let ended = match policy {
                PublicationPolicy::None => {
                    let grant = Grant { human, ..scene.grant_of(Audience::All, &[], &[]) };
                    connected.complete(&grant, &account, now).unwrap()
                }
                PublicationPolicy::Confirmed => connected.decline(human, now).unwrap(),
                PublicationPolicy::ConfirmedTentative => connected.cancel(now).unwrap(),
            };
            scene.relink(&connected, &ended).await.unwrap();
            assert_eq!(scene.link_now(&link).await.as_ref(), Some(&ended));
        }
        let waited = scene.linked(&calendar).await;
        let expired = waited.expired(waited.expires_at);
        scene.relink(&waited, &expired).await.unwrap();
        assert_eq!(scene.link_now(&waited).await, Some(expired));
    }
}

/// A link is written only at the version that was seen. If several callers write at once, one succeeds.
pub async fn links_are_changed_only_at_the_version_seen(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let link = scene.linked(&scene.shared_calendar().await).await;
    let opened = link.open(scene.a_human(), scene.make.tick()).unwrap();
    let never = scene.link_for(&scene.shared_calendar().await).0;
    assert_refused!(scene.relink(&never, &never).await, CommitError::Stale);
    let outcomes = race(TASKS, |index| {
        let (scene, link, opened) = (scene.clone(), link.clone(), opened.clone());
        async move {
            let cancelled = link.cancel(scene.make.tick()).unwrap();
            scene.relink(&link, if index.is_multiple_of(2) { &opened } else { &cancelled }).await
        }
    })
    .await;
    assert_eq!(successes(&outcomes), 1, "{outcomes:?}");
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Ok(()) | Err(CommitError::Stale))), "{outcomes:?}");
    let now = scene.link_now(&link).await.unwrap();
    assert_eq!(now.version, link.version.next());
    assert_refused!(scene.relink(&link, &opened).await, CommitError::Stale);
    assert_eq!(scene.link_now(&link).await, Some(now));
}

/// Only one link of a calendar awaits a user, expired or not, however many are made at once.
pub async fn one_link_per_calendar_waits_for_a_user(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (calendar, second) = (scene.shared_calendar().await, scene.shared_calendar().await);
    let outcomes = race(TASKS, |_| {
        let (scene, calendar) = (scene.clone(), calendar.clone());
        async move { scene.bridge(vec![Change::CreateLink(Box::new(scene.link_for(&calendar).0))]).await }
    })
    .await;
    assert_eq!(successes(&outcomes), 1, "{outcomes:?}");
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Ok(()) | Err(CommitError::Stale))), "{outcomes:?}");
    let waiting = scene.store.waiting_link(scene.org, calendar.id).await.unwrap().unwrap();

    // An expired link still waits until its expiry is written.
    scene.make.clock.advance(SignedDuration::hours(24));
    let next = || Change::CreateLink(Box::new(scene.link_for(&calendar).0));
    assert_refused!(scene.bridge(vec![next()]).await, CommitError::Stale);
    let expired = waiting.expired(scene.make.tick());
    let write = Change::UpdateLink { link: Box::new(expired.clone()), seen: waiting.version };
    scene.bridge(vec![write, next()]).await.unwrap();
    let waiting = scene.store.waiting_link(scene.org, calendar.id).await.unwrap().unwrap();
    assert_ne!(waiting.id, expired.id);

    // A link that a user opens makes room for another one.
    let opened = waiting.open(scene.a_human(), scene.make.tick()).unwrap();
    scene.relink(&waiting, &opened).await.unwrap();
    scene.linked(&calendar).await;
    scene.linked(&second).await;
    assert_eq!(scene.link_now(&opened).await, Some(opened));
}

/// No link is made for a hidden calendar. Existing links stay readable, and may end.
pub async fn links_are_made_for_visible_calendars(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let agent = scene.agent().await;
    let (deleted, decommissioned) = (scene.shared_calendar().await, scene.calendar(&agent).await);
    let theirs = other.shared_calendar().await;
    let links = [scene.linked(&deleted).await, scene.linked(&decommissioned).await];
    scene.delete(&deleted).await;
    scene.decommission(&agent).await;
    for link in &links {
        assert_eq!(scene.link_now(link).await.as_ref(), Some(link));
        assert_eq!(scene.link_of(link.secret).await.as_ref(), Some(link));
        let cancelled = link.cancel(scene.make.tick()).unwrap();
        scene.relink(link, &cancelled).await.unwrap();
    }
    for calendar in [&deleted, &decommissioned, &theirs, &scene.make.shared_calendar(scene.org)] {
        let late = Change::CreateLink(Box::new(scene.link_for(calendar).0));
        assert_refused!(scene.bridge(vec![late]).await, CommitError::Stale);
    }
}

/// Links that ended long ago are removed in batches, however they ended. The others are kept.
pub async fn old_links_are_purged(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let mut links = Vec::new();
    for _ in 0..5 {
        let link = scene.linked(&scene.shared_calendar().await).await;
        links.push(link);
    }
    let cancelled = links[0].cancel(scene.make.tick()).unwrap();
    scene.relink(&links[0], &cancelled).await.unwrap();
    let forget = async |before, limit| scene.store.forget_links(before, limit).await.unwrap();
    assert_eq!(forget(links[0].expires_at, 9).await, 0);
    let before = links[4].expires_at;
    assert_eq!((forget(before, 3).await, forget(before, 3).await, forget(before, 3).await), (3, 1, 0));
    assert_eq!(scene.link_now(&links[3]).await, None);
    assert_eq!(scene.link_now(&links[4]).await.as_ref(), Some(&links[4]));
}

impl Scene {
    fn consent(&self, provider: Provider, purpose: Purpose) -> ConnectAttempt {
        let client = Client {
            provider,
            authorization_endpoint: Url::parse("https://provider.example/authorize").unwrap(),
            issuer: "https://provider.example".into(),
            client_id: "kalends".into(),
            redirect_uri: format!("https://calendar.example.com/connect/{}/callback", provider.as_str()),
        };
        let publishing = provider == Provider::Microsoft;
        let of = (self.org, self.a_human());
        ConnectAttempt::begin(of, purpose, publishing, &client, self.make.tick(), &self.make.entropy).0
    }
}

/// An attempt comes back unchanged, whatever its purpose and owner, but only once.
pub async fn consent_attempts_are_used_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let link = ConnectionLinkId::new(scene.make.tick(), &scene.make.entropy);
    let connection = ConnectionId::new(scene.make.tick(), &scene.make.entropy);
    for provider in [Provider::Google, Provider::Microsoft] {
        for purpose in [
            Purpose::Connect { link: None },
            Purpose::Connect { link: Some(link) },
            Purpose::Reauthorize { connection },
        ] {
            let (ours, theirs) = (scene.consent(provider, purpose), other.consent(provider, purpose));
            let used = async |attempt: &ConnectAttempt| {
                let used = scene.store.use_connect_attempt(attempt.oauth.key).await;
                used.unwrap()
            };
            assert_eq!(used(&ours).await, None);
            scene.store.keep_connect_attempt(&ours).await.unwrap();
            scene.store.keep_connect_attempt(&theirs).await.unwrap();
            assert_eq!(used(&ours).await.as_ref(), Some(&ours));
            assert_eq!(used(&ours).await, None);
            assert_eq!(used(&theirs).await.as_ref(), Some(&theirs));
        }
    }
}

/// If many callers use one attempt at once, one succeeds.
pub async fn concurrent_uses_of_a_consent_attempt_succeed_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    for _ in 0..3 {
        let attempt = scene.consent(Provider::Google, Purpose::Connect { link: None });
        scene.store.keep_connect_attempt(&attempt).await.unwrap();
        let used = race(3 * TASKS, |_| {
            let (scene, key) = (scene.clone(), attempt.oauth.key);
            async move { scene.store.use_connect_attempt(key).await.unwrap() }
        })
        .await;
        let used: Vec<_> = used.into_iter().flatten().collect();
        assert_eq!(used, [attempt]);
    }
}

/// Expired attempts are removed in batches, and the others are kept. Those of a deleted account are removed with it,
/// and none is added later.
pub async fn expired_consent_attempts_are_purged(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let mut attempts = Vec::new();
    for _ in 0..5 {
        let attempt = scene.consent(Provider::Google, Purpose::Connect { link: None });
        scene.store.keep_connect_attempt(&attempt).await.unwrap();
        attempts.push(attempt);
    }
    let forget = async |now, limit| scene.store.forget_connect_attempts(now, limit).await.unwrap();
    assert_eq!(forget(attempts[0].oauth.expires_at - SignedDuration::micros(1), 9).await, 0);
    let now = attempts[2].oauth.expires_at;
    assert_eq!((forget(now, 2).await, forget(now, 2).await, forget(now, 2).await), (2, 1, 0));
    assert_eq!(scene.store.use_connect_attempt(attempts[3].oauth.key).await.unwrap().as_ref(), Some(&attempts[3]));

    let (org, seen, at) = (scene.org, scene.organization().await.version, scene.make.tick());
    scene.commit(scene.changes().account(AccountChange::DeleteOrganization { org, seen, at })).await;
    while scene.store.remove_rows(org, 2).await.unwrap() > 0 {}
    let late = scene.consent(Provider::Google, Purpose::Connect { link: None });
    scene.store.keep_connect_attempt(&late).await.unwrap();
    for attempt in [&attempts[4], &late] {
        assert_eq!(scene.store.use_connect_attempt(attempt.oauth.key).await.unwrap(), None);
    }
}

/// Every state has a distinct name in stores, which is read back as that state.
pub async fn link_states_have_distinct_names(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    for state in LinkStatus::ALL {
        let link = scene.linked(&scene.shared_calendar().await).await;
        let mut changed = link.open(scene.a_human(), scene.make.tick()).unwrap();
        changed.state = *state;
        scene.relink(&link, &changed).await.unwrap();
        assert_eq!(scene.link_now(&link).await, Some(changed));
    }
}
