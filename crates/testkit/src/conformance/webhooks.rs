//! Webhook endpoints.

use kalends_accounts::Change as AccountChange;
use kalends_app::{Guard, ports::CommitError};
use kalends_kernel::{Page, WebhookId};
use kalends_notifications::{Deactivation, EndpointPatch, Places, Subscription, WebhookEndpoint};
use kalends_plans::Metric;
use kalends_remote::RemoteUrl;

use super::{
    StoreUnderTest,
    scene::{LARGEST_PAGE, Scene, assert_refused, race, successes},
};
use crate::fixtures::Compose;

/// How many tasks run at once.
const TASKS: usize = 16;

impl Scene {
    /// The endpoint that every scene starts with.
    pub(super) async fn listener(&self) -> WebhookEndpoint {
        self.webhooks().await.into_iter().next().unwrap()
    }

    /// The organization's endpoints.
    pub(super) async fn webhooks(&self) -> Vec<WebhookEndpoint> {
        self.store.list_webhooks(self.org, LARGEST_PAGE).await.unwrap().data
    }

    /// Stores another endpoint that listens for these types.
    pub(super) async fn hears(&self, names: &[&str]) -> WebhookEndpoint {
        let subscription = Subscription::from_stored(names.iter().copied()).unwrap();
        let endpoint = WebhookEndpoint { subscription, ..self.make.webhook(self.org) };
        self.commit(self.changes().create(&endpoint)).await;
        endpoint
    }

    /// Switches the endpoint on or off, and returns it.
    pub(super) async fn switched(&self, endpoint: &WebhookEndpoint, active: bool) -> WebhookEndpoint {
        let patch = EndpointPatch { active: Some(active), ..EndpointPatch::default() };
        let switched = endpoint.patched(patch, self.make.tick());
        self.commit(self.changes().update(&switched, endpoint.version)).await;
        switched
    }

    async fn webhook_of(&self, id: WebhookId) -> Option<WebhookEndpoint> {
        self.store.find_webhook(self.org, id).await.unwrap()
    }
}

/// Every field survives, including sealed ones.
pub async fn webhooks_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let plain = scene.make.webhook(scene.org);
    let url = RemoteUrl::from_stored("https://hooks.example.com/%F0%9F%90%8E?token='s%20ecret'&x=1").unwrap();
    let narrow = WebhookEndpoint {
        url,
        subscription: Subscription::from_stored(["event.hold_expired", "agent.created"]).unwrap(),
        ..scene.make.webhook(scene.org)
    };
    let rotated = scene.make.webhook(scene.org).rotated(scene.make.tick(), &scene.make.entropy);
    let off = scene.make.webhook(scene.org).deactivated(Deactivation::Failing, scene.make.tick()).unwrap();
    for endpoint in [plain, narrow, rotated, off] {
        scene.commit(scene.changes().create(&endpoint)).await;
        assert_eq!(scene.webhook_of(endpoint.id).await, Some(endpoint));
    }
}

/// An update and a removal apply only at the version that was seen.
pub async fn webhooks_are_changed_only_at_the_version_seen(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let seen = scene.listener().await;
    let rotated = seen.rotated(scene.make.tick(), &scene.make.entropy);
    scene.commit(scene.changes().update(&rotated, seen.version)).await;
    assert_eq!(scene.webhook_of(seen.id).await, Some(rotated.clone()));

    let late = seen.deactivated(Deactivation::Gone, scene.make.tick()).unwrap();
    assert_refused!(scene.try_commit(scene.changes().update(&late, seen.version)).await, CommitError::Stale);
    assert_refused!(scene.try_commit(scene.changes().delete(&seen)).await, CommitError::Stale);
    assert_eq!(scene.webhook_of(seen.id).await, Some(rotated.clone()));

    scene.commit(scene.changes().delete(&rotated)).await;
    assert_eq!(scene.webhook_of(seen.id).await, None);
    assert_refused!(scene.try_commit(scene.changes().delete(&rotated)).await, CommitError::Stale);
    assert_refused!(scene.try_commit(scene.changes().update(&late, rotated.version)).await, CommitError::Stale);
}

/// Oldest first, and the total counts all.
pub async fn webhooks_are_listed_by_creation_in_pages(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let mut all = vec![scene.listener().await];
    for _ in 0..4 {
        all.push(scene.hears(&["*"]).await);
    }
    for offset in 0..7 {
        let listed = scene.store.list_webhooks(scene.org, Page { limit: 2, offset }).await.unwrap();
        let expected: Vec<_> = all.iter().skip(offset as usize).take(2).cloned().collect();
        assert_eq!((listed.data, listed.total), (expected, 5));
    }
}

/// Endpoints of another organization are neither found nor listed nor changed.
pub async fn webhooks_of_other_organizations_are_absent(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let (ours, theirs) = (scene.listener().await, other.listener().await);
    assert_ne!(ours.id, theirs.id);
    assert_eq!((scene.webhook_of(theirs.id).await, other.webhook_of(ours.id).await), (None, None));
    let stolen = WebhookEndpoint { org: scene.org, ..theirs.clone() };
    let stolen = stolen.rotated(scene.make.tick(), &scene.make.entropy);
    assert_refused!(scene.try_commit(scene.changes().update(&stolen, theirs.version)).await, CommitError::Stale);
    assert_eq!(other.listener().await, theirs);
}

/// Concurrent creations never exceed the plan's number.
pub async fn the_last_webhook_is_made_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let outcomes = race(TASKS, |_| {
        let scene = scene.clone();
        async move {
            let guard = Guard::AtMost { metric: Metric::WebhookEndpoints, limit: 2 };
            let endpoint = scene.make.webhook(scene.org);
            scene.try_commit(scene.changes().guard(guard).create(&endpoint)).await
        }
    })
    .await;
    assert_eq!(successes(&outcomes), 1, "{outcomes:?}");
    assert_eq!(scene.webhooks().await.len(), 2);
    let now = scene.make.tick();
    let usage = scene.store.usage(scene.org, scene.make.period(), now).await.unwrap();
    assert!(usage.contains(&(Metric::WebhookEndpoints, 2)), "{usage:?}");
}

/// Without an active endpoint, no message is stored. The rest of the change-set is applied.
pub async fn messages_are_stored_only_for_listeners(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let announce = async || {
        let agent = scene.make.agent(scene.org);
        scene.commit(scene.changes().create(&agent).message(scene.make.message(scene.org))).await;
        scene.inspect.messages(scene.org).await.len()
    };
    assert_eq!(announce().await, 1);
    let off = scene.switched(&scene.listener().await, false).await;
    assert_eq!(announce().await, 1, "no endpoint listens");
    scene.switched(&off, true).await;
    assert_eq!(announce().await, 2);
    scene.commit(scene.changes().delete(&scene.listener().await)).await;
    assert_eq!(announce().await, 2, "no endpoint is left");
    // The endpoint and the message of one change-set.
    let (endpoint, message) = (scene.make.webhook(scene.org), scene.make.message(scene.org));
    scene.commit(scene.changes().create(&endpoint).message(message)).await;
    assert_eq!(scene.inspect.messages(scene.org).await.len(), 3);
}

/// When an account is deleted, its endpoints are gone at once, so that nothing more is sent. Those of another
/// organization stay.
pub async fn webhooks_end_with_their_organization(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let endpoint = scene.listener().await;
    scene.commit(scene.changes().message(scene.make.message(scene.org))).await;
    scene.store.fan_out(scene.make.tick(), 10).await.unwrap();
    let (org, seen) = (scene.org, scene.organization().await.version);
    let at = scene.make.tick();
    scene.commit(scene.changes().account(AccountChange::DeleteOrganization { org, seen, at })).await;
    assert_eq!(scene.webhook_of(endpoint.id).await, None);
    assert_eq!(scene.store.claim_webhooks(scene.make.tick(), Places::of(10)).await.unwrap(), []);
    assert_eq!(other.webhooks().await.len(), 1);
    while scene.store.remove_rows(org, 2).await.unwrap() > 0 {}
    let left = scene.store.list_deliveries(org, endpoint.id, None, true, LARGEST_PAGE).await.unwrap();
    assert_eq!((left, scene.inspect.messages(org).await), (vec![], vec![]));
}
