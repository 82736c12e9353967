//! Sending to webhook endpoints over the in-memory store, with a manual clock and a scripted receiver.
#![expect(clippy::unwrap_used, reason = "a test fails this way, its helpers included")]

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use kalends_accounts::Organization;
use kalends_app::{
    App, ChangeSet, MemoryRateLimiter, Parts,
    ports::{Commit as _, WebhookPost, WebhookReply, WebhookSender},
};
use kalends_kernel::OrgId;
use kalends_notifications::{
    CLAIM_LASTS, Change, Delivery, DeliveryStatus, EndpointPatch, FAILING_LASTS, Outcome, Places, WebhookEndpoint,
    ports::{Deliveries as _, DeliveryQueue as _, Webhooks as _},
};
use kalends_plans::Plan;
use kalends_testkit::{
    Inspect as _, Mailbox, MemoryStore, NoCalendarProviders, NoFetcher, NoProviders, TestPasswords, TestTokens,
    fixtures::{Compose as _, Fixtures, settings},
};
use kalends_time::{SignedDuration, Timestamp};
use kalends_worker::serve_webhook;
use tokio_util::sync::CancellationToken;

/// A scripted receiver. It answers after a delay, and records what it receives.
#[derive(Default)]
struct Desk {
    answers: Mutex<HashMap<String, Outcome>>,
    takes: Mutex<Duration>,
    came: Mutex<Vec<(String, String)>>,
    at_once: AtomicUsize,
    most_at_once: AtomicUsize,
}

#[derive(Clone, Default)]
struct Receiver(Arc<Desk>);

impl Receiver {
    fn answers(&self, endpoint: &WebhookEndpoint, outcome: Outcome) {
        self.0.answers.lock().unwrap().insert(endpoint.url.as_str().to_owned(), outcome);
    }

    /// The identifiers of the deliveries that an endpoint received.
    fn came(&self, endpoint: &WebhookEndpoint) -> Vec<String> {
        let came = self.0.came.lock().unwrap();
        came.iter().filter(|(url, _)| url == endpoint.url.as_str()).map(|(_, id)| id.clone()).collect()
    }
}

#[async_trait]
impl WebhookSender for Receiver {
    fn exempts(&self, _: &str, _: u16) -> bool {
        false
    }

    async fn post(&self, post: WebhookPost) -> WebhookReply {
        let id = post.headers.iter().find(|(name, _)| *name == "x-delivery-id").unwrap().1.clone();
        self.0.came.lock().unwrap().push((post.url.as_str().to_owned(), id));
        let now = self.0.at_once.fetch_add(1, Ordering::SeqCst) + 1;
        self.0.most_at_once.fetch_max(now, Ordering::SeqCst);
        let takes = *self.0.takes.lock().unwrap();
        tokio::time::sleep(takes).await;
        self.0.at_once.fetch_sub(1, Ordering::SeqCst);
        let outcome = self.0.answers.lock().unwrap().get(post.url.as_str()).copied();
        WebhookReply { outcome: outcome.unwrap_or(Outcome::Accepted(200)), problem: None }
    }
}

/// A service with one organization and its first endpoint.
struct House {
    app: Arc<App>,
    store: MemoryStore,
    make: Fixtures,
    mailbox: Mailbox,
    receiver: Receiver,
    org: OrgId,
    endpoint: WebhookEndpoint,
}

impl House {
    async fn new() -> Self {
        let (store, make, mailbox, receiver) =
            (MemoryStore::new(), Fixtures::new(), Mailbox::default(), Receiver::default());
        let app = App::new(Parts {
            store: Arc::new(store.clone()),
            clock: Arc::new(make.clock.clone()),
            entropy: Arc::new(make.entropy.clone()),
            mailer: Arc::new(mailbox.clone()),
            passwords: Arc::new(TestPasswords::default()),
            tokens: Arc::new(TestTokens),
            calendar_providers: Arc::new(NoCalendarProviders),
            limiter: Arc::new(MemoryRateLimiter::default()),
            providers: Arc::new(NoProviders),
            sender: Arc::new(receiver.clone()),
            fetcher: Arc::new(NoFetcher),
            settings: settings(),
        });
        let organization = Organization { plan: Plan::Pro, email: Some(make.email()), ..make.organization() };
        let org = organization.id;
        let endpoint = make.webhook(org);
        store.commit(ChangeSet::new(org).create(&organization).create(&endpoint)).await.unwrap();
        Self { app, store, make, mailbox, receiver, org, endpoint }
    }

    async fn another(&self) -> WebhookEndpoint {
        let endpoint = self.make.webhook(self.org);
        self.store.commit(ChangeSet::new(self.org).create(&endpoint)).await.unwrap();
        endpoint
    }

    async fn announce(&self, count: usize) {
        for _ in 0..count {
            let message = self.make.message(self.org);
            self.store.commit(ChangeSet::new(self.org).message(message)).await.unwrap();
        }
        self.app.fan_out_messages(1_000).await.unwrap();
    }

    /// Claims and serves due endpoints until none is left.
    async fn work(&self) {
        let stop = CancellationToken::new();
        loop {
            let claims = self.app.claim_webhooks(Places::of(10)).await.unwrap();
            if claims.is_empty() {
                return;
            }
            for claim in claims {
                serve_webhook(&self.app, claim, &stop).await;
            }
        }
    }

    /// Sends the emails that are due.
    async fn send_letters(&self) {
        for letter in self.app.claim_letters(10).await.unwrap() {
            self.app.send_letter(letter).await;
        }
    }

    async fn deliveries(&self, endpoint: &WebhookEndpoint) -> Vec<Delivery> {
        let page = kalends_kernel::Page { limit: 200, offset: 0 };
        let listed = self.store.list_deliveries(self.org, endpoint.id, None, false, page).await.unwrap();
        listed.into_iter().map(|seen| seen.delivery).collect()
    }

    async fn now(&self, endpoint: &WebhookEndpoint) -> WebhookEndpoint {
        self.store.find_webhook(self.org, endpoint.id).await.unwrap().unwrap()
    }

    async fn patch(&self, endpoint: &WebhookEndpoint, patch: EndpointPatch) -> WebhookEndpoint {
        let seen = self.now(endpoint).await;
        let heals = patch.heals();
        let endpoint = seen.patched(patch, self.make.tick());
        let change = Change::UpdateEndpoint { endpoint: Box::new(endpoint.clone()), seen: seen.version, heals };
        self.store.commit(ChangeSet::new(self.org).webhook(change)).await.unwrap();
        endpoint
    }
}

/// An endpoint that only fails does not occupy the place of a healthy one: each claim ends after one attempt, however
/// many deliveries wait.
#[tokio::test(start_paused = true)]
async fn an_endpoint_that_only_fails_gives_up_its_place() {
    let house = House::new().await;
    house.receiver.answers(&house.endpoint, Outcome::Unanswered);
    house.announce(5).await;
    let stop = CancellationToken::new();
    for (attempts, failing) in [(1, false), (2, true), (3, true)] {
        let claims = house.app.claim_webhooks(Places::of(10)).await.unwrap();
        assert_eq!(claims.iter().map(|claim| claim.failing).collect::<Vec<_>>(), [failing]);
        serve_webhook(&house.app, claims[0], &stop).await;
        assert_eq!(house.receiver.came(&house.endpoint).len(), attempts);
    }
    // Once it responds, all its deliveries are sent.
    house.receiver.answers(&house.endpoint, Outcome::Accepted(200));
    let claims = house.app.claim_webhooks(Places::of(10)).await.unwrap();
    serve_webhook(&house.app, claims[0], &stop).await;
    assert_eq!(house.receiver.came(&house.endpoint).len(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_delivery_is_tried_nine_times() {
    let house = House::new().await;
    house.receiver.answers(&house.endpoint, Outcome::Refused(500));
    house.announce(1).await;
    let mut waited = Vec::new();
    for attempt in 1..=9 {
        house.work().await;
        let delivery = house.deliveries(&house.endpoint).await[0];
        assert_eq!(delivery.state.attempts, attempt);
        let Some(next) = delivery.state.next_attempt_at else { break };
        let now = delivery.state.last_attempt_at.unwrap();
        waited.push((next - now).as_seconds());
        house.make.clock.set(next - SignedDuration::micros(1));
        house.work().await;
        assert_eq!(house.deliveries(&house.endpoint).await[0].state.attempts, attempt, "no attempt before it is due");
        house.make.clock.set(next);
    }
    let planned = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000];
    assert_eq!(waited.len(), planned.len());
    for (waited, planned) in waited.iter().zip(planned) {
        // Seconds are truncated, so that 4.9 of 5 shows as 4.
        assert!((planned * 8 / 10..=planned * 12 / 10).contains(waited), "{waited} of {planned}");
    }
    assert_eq!(house.deliveries(&house.endpoint).await[0].state.status, DeliveryStatus::Failed);
    let came = house.receiver.came(&house.endpoint);
    assert_eq!(came.len(), 9);
    assert!(came.iter().all(|id| *id == came[0]), "every attempt has the same identifier");
    assert!(house.now(&house.endpoint).await.active, "it is switched off only after five days");
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_is_served_at_its_own_pace() {
    let house = House::new().await;
    *house.receiver.0.takes.lock().unwrap() = Duration::from_millis(100);
    house.announce(200).await;
    house.work().await;
    let deliveries = house.deliveries(&house.endpoint).await;
    assert!(deliveries.iter().all(|delivery| delivery.state.status == DeliveryStatus::Delivered));
    assert_eq!(house.receiver.came(&house.endpoint).len(), 200, "each once");
    assert_eq!(house.receiver.0.most_at_once.load(Ordering::SeqCst), 16, "the largest window");

    // An endpoint that only fails holds one connection.
    house.receiver.0.most_at_once.store(0, Ordering::SeqCst);
    house.receiver.answers(&house.endpoint, Outcome::Unanswered);
    house.announce(20).await;
    house.work().await;
    assert_eq!(house.receiver.0.most_at_once.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn five_days_count_from_the_first_failure() {
    let house = House::new().await;
    let other = house.another().await;
    house.receiver.answers(&house.endpoint, Outcome::Unanswered);
    let fails_at = async |at: Timestamp| {
        house.make.clock.set(at);
        house.announce(1).await;
        house.work().await;
        house.now(&house.endpoint).await.active
    };
    let began = house.make.tick();
    assert!(fails_at(began).await);
    assert!(fails_at(began + FAILING_LASTS - SignedDuration::hours(1)).await, "just under five days");
    // A success starts the count again.
    house.receiver.answers(&house.endpoint, Outcome::Accepted(204));
    assert!(fails_at(began + FAILING_LASTS - SignedDuration::minutes(30)).await);
    house.receiver.answers(&house.endpoint, Outcome::Unanswered);
    let again = began + FAILING_LASTS;
    assert!(fails_at(again).await);
    assert!(fails_at(again + FAILING_LASTS - SignedDuration::minutes(1)).await);
    house.send_letters().await;
    assert_eq!(house.mailbox.mails().len(), 0);
    assert!(!fails_at(again + FAILING_LASTS).await);
    let off = house.now(&house.endpoint).await;
    assert_eq!(off.deactivated, Some(kalends_notifications::Deactivation::Failing));
    house.send_letters().await;
    assert_eq!(house.mailbox.mails().len(), 1);
    house.app.fan_out_messages(10).await.unwrap();
    let messages = house.store.messages(house.org).await;
    let messages: Vec<_> = messages.iter().filter(|message| message.about == Some(house.endpoint.id)).collect();
    assert_eq!(messages.len(), 1);
    assert!(house.deliveries(&other).await.iter().any(|delivery| delivery.message == messages[0].id));
    assert!(house.deliveries(&house.endpoint).await.iter().all(|delivery| delivery.message != messages[0].id));
}

/// A change to the endpoint during an attempt wins.
#[tokio::test(start_paused = true)]
async fn an_endpoint_that_changed_during_an_attempt_stays_on() {
    let house = House::new().await;
    *house.receiver.0.takes.lock().unwrap() = Duration::from_secs(10);
    house.receiver.answers(&house.endpoint, Outcome::Gone);
    house.announce(1).await;
    let claim = house.app.claim_webhooks(Places::of(1)).await.unwrap()[0];
    let (app, stop) = (Arc::clone(&house.app), CancellationToken::new());
    let serving = tokio::spawn(async move { serve_webhook(&app, claim, &stop).await });
    tokio::time::sleep(Duration::from_secs(1)).await;
    let url = kalends_remote::RemoteUrl::from_stored("https://hooks.example.com/other").unwrap();
    house.patch(&house.endpoint, EndpointPatch { url: Some(url), ..EndpointPatch::default() }).await;
    serving.await.unwrap();
    assert!(house.now(&house.endpoint).await.active, "the address that is gone is not the current one");
    assert_eq!(house.deliveries(&house.endpoint).await[0].state.status, DeliveryStatus::Failed);
}

/// The next worker sends what was committed before a worker died. The delivery that was in flight is sent twice.
#[tokio::test(start_paused = true)]
async fn a_worker_that_dies_loses_nothing() {
    let house = House::new().await;
    *house.receiver.0.takes.lock().unwrap() = Duration::from_secs(10);
    house.announce(5).await;
    let claim = house.app.claim_webhooks(Places::of(1)).await.unwrap()[0];
    let (app, stop) = (Arc::clone(&house.app), CancellationToken::new());
    let serving = tokio::spawn(async move { serve_webhook(&app, claim, &stop).await });
    tokio::time::sleep(Duration::from_secs(5)).await;
    serving.abort();
    assert!(serving.await.unwrap_err().is_cancelled());
    house.work().await;
    assert_eq!(house.receiver.came(&house.endpoint).len(), 1, "it is still claimed");
    house.make.clock.advance(CLAIM_LASTS);
    house.work().await;
    let came = house.receiver.came(&house.endpoint);
    assert_eq!((came.len(), came[0] == came[1]), (6, true));
    let deliveries = house.deliveries(&house.endpoint).await;
    assert!(deliveries.iter().all(|delivery| delivery.state.status == DeliveryStatus::Delivered));
}

/// A stop finishes what is in flight, begins nothing more, and releases the endpoint at once.
#[tokio::test(start_paused = true)]
async fn a_stopped_worker_leaves_the_rest_to_other_workers() {
    let house = House::new().await;
    *house.receiver.0.takes.lock().unwrap() = Duration::from_secs(10);
    house.announce(5).await;
    let claim = house.app.claim_webhooks(Places::of(1)).await.unwrap()[0];
    let (app, stop) = (Arc::clone(&house.app), CancellationToken::new());
    let stopped = stop.clone();
    let serving = tokio::spawn(async move { serve_webhook(&app, claim, &stopped).await });
    tokio::time::sleep(Duration::from_secs(5)).await;
    stop.cancel();
    serving.await.unwrap();
    let states: Vec<_> = house.deliveries(&house.endpoint).await.iter().map(|delivery| delivery.state.status).collect();
    let delivered = states.iter().filter(|status| **status == DeliveryStatus::Delivered).count();
    assert_eq!((delivered, house.receiver.came(&house.endpoint).len()), (1, 1));
    house.work().await;
    assert_eq!(house.receiver.came(&house.endpoint).len(), 5, "no delivery came twice");
}

#[tokio::test(start_paused = true)]
async fn deliveries_that_fall_due_while_the_endpoint_is_off_are_abandoned() {
    let house = House::new().await;
    house.receiver.answers(&house.endpoint, Outcome::Refused(500));
    house.announce(3).await;
    house.work().await;
    house.patch(&house.endpoint, EndpointPatch { active: Some(false), ..EndpointPatch::default() }).await;
    house.announce(2).await;
    house.make.clock.advance(SignedDuration::seconds(10));
    house.work().await;
    let deliveries = house.deliveries(&house.endpoint).await;
    assert_eq!(deliveries.len(), 3, "no message is addressed to it");
    assert!(deliveries.iter().all(|delivery| delivery.state.status == DeliveryStatus::Failed));
    assert!(deliveries.iter().all(|delivery| delivery.state.attempts == 1));
    assert_eq!(house.store.backlog(house.make.tick()).await.unwrap().pending, 0);
}
