//! The message that a connection needs its user: when it is sent, and what it contains.

use std::sync::Arc;

use kalends_accounts::{
    Change, Credential, Membership, Organization, Principal, Reach, oauth::Callback, reach::CallerKind,
};
use kalends_app::{
    Actor, App, ChangeSet, ConsentBegun, ConsentEnded, Parts,
    operations::{self as op, Operation},
    ports::Commit as _,
};
use kalends_bridge::{
    Access, CLAIM_LASTS, CaldavAccount, CalendarProvider, Change as BridgeChange, Connection, Drawing, RefreshClaim,
};
use kalends_kernel::{OrgId, SessionId, UserId};
use kalends_notifications::{EventType, FeedEntry, Message};
use kalends_plans::Plan;
use kalends_testkit::{
    Failing, Inspect as _, MemoryStore, TestCalendarProviders,
    fixtures::{Compose as _, Fixtures, settings},
};
use kalends_time::{Clock as _, SignedDuration};
use serde_json::{Value, json};

use crate::common::{parts, principal, request};

/// The code of the user's account.
const ACCOUNT: &str = "planted account";
/// A calendar of that account.
const CALENDAR: &str = "planted calendar";
/// Longer than the wait between two refreshes.
const LATER: SignedDuration = SignedDuration::minutes(40);

/// An organization with a webhook endpoint, and a user with an account at a provider.
struct Home {
    app: Arc<App>,
    store: MemoryStore,
    make: Fixtures,
    accounts: TestCalendarProviders,
    organization: Organization,
    org: OrgId,
    human: UserId,
}

impl Home {
    async fn set() -> Self {
        let (store, make) = (MemoryStore::new(), Fixtures::new());
        let accounts = TestCalendarProviders::offering(CalendarProvider::ALL, &settings().base_url);
        accounts.account(ACCOUNT, &[CALENDAR]);
        let app = App::new(Parts { calendar_providers: Arc::new(accounts.clone()), ..parts(&store, &make) });
        let organization = make.organization();
        let org = organization.id;
        // Messages are only stored if an endpoint exists.
        let listener = make.webhook(org);
        store.commit(ChangeSet::new(org).create(&organization).create(&listener)).await.unwrap();
        let owner = make.user();
        let (human, seen) = (owner.id, owner.version);
        let membership = Membership::owner(human, org, make.tick());
        let changes = ChangeSet::new(org).create(&owner);
        store.commit(changes.account(Change::AddOwner { membership, seen })).await.unwrap();
        Self { app, store, make, accounts, organization, org, human }
    }

    /// The user in the console.
    fn session(&self, operation: &'static Operation) -> Actor {
        let session = SessionId::new(self.make.tick(), &self.make.entropy);
        let principal = Principal {
            credential: Credential::Session { session, user: self.human },
            kind: CallerKind::Owner,
            plan: Plan::Pro,
            limits: Plan::Pro.limits(),
            ..principal(&self.make, &self.organization, Reach::Organization)
        };
        Actor::enter(Arc::new(principal), request(&self.make, self.make.tick(), operation)).unwrap()
    }

    /// The browser returns from Google with the consent.
    async fn come_back(&self, begun: &ConsentBegun) -> String {
        let (state, code) = (Some(begun.state.as_str()), Some(ACCOUNT));
        let callback = Callback { state, code, cookie: state, ..Callback::default() };
        let request = self.session(&op::END_CONNECTION).request;
        match self.app.end_connection(&request, "google", callback).await.unwrap() {
            ConsentEnded::Connected { connection, .. } => connection.to_string(),
            ConsentEnded::Failed(failure) => panic!("{failure:?}"),
        }
    }

    /// Connects the account at Google, and reads it once.
    async fn connected(&self) -> String {
        let begun = self.app.begin_connection(&self.session(&op::START_CONNECTION), "google", None, false).await;
        let connection = self.come_back(&begun.unwrap()).await;
        assert_eq!(self.refresh().await, 1);
        connection
    }

    async fn consent_again(&self, connection: &str) {
        let actor = self.session(&op::REAUTHORIZE_CONNECTION);
        let begun = self.app.begin_reauthorization(&actor, connection, None).await.unwrap();
        assert_eq!(self.come_back(&begun).await, connection);
    }

    /// Connects an account at a provider where nobody consents.
    async fn add(&self, provider: CalendarProvider) -> Connection {
        let access = match provider {
            CalendarProvider::Caldav => Access::Password(CaldavAccount {
                server: "https://planted.example".to_owned(),
                home: "https://planted.example/ada/".to_owned(),
                username: ACCOUNT.to_owned(),
                password: "planted password".to_owned(),
                addresses: Vec::new(),
            }),
            CalendarProvider::Example => Access::Drawn(Drawing::default()),
            CalendarProvider::Google | CalendarProvider::Microsoft => panic!("users consent at {provider:?}"),
        };
        let of = (self.org, self.human, provider);
        let connection = Connection::create(of, access, self.make.tick(), &self.make.entropy);
        let change = BridgeChange::CreateConnection { connection: Box::new(connection.clone()), calendars: Vec::new() };
        let mut changes = ChangeSet::new(self.org);
        changes.bridge.push(change);
        self.store.commit(changes).await.unwrap();
        connection
    }

    /// Claims every due connection.
    async fn claim(&self) -> Vec<(RefreshClaim, Connection)> {
        self.app.claim_refreshes(10).await.unwrap()
    }

    /// Refreshes every due connection, and returns how many there were.
    async fn refresh(&self) -> usize {
        let claimed = self.claim().await;
        let count = claimed.len();
        for (claim, connection) in claimed {
            self.app.refresh_connection(claim, connection).await;
        }
        count
    }

    /// Refreshes the connection that often, each time when it is due.
    async fn refresh_later(&self, times: usize) {
        for _ in 0..times {
            self.make.clock.advance(LATER);
            assert_eq!(self.refresh().await, 1);
        }
    }

    /// The messages about connections, the oldest first.
    async fn messages(&self) -> Vec<Message> {
        let mut messages = self.store.messages(self.org).await;
        messages.retain(|message| message.event_type == EventType::ConnectionNeedsAttention);
        messages.sort_by_key(|message| (message.created_at, message.id));
        messages
    }

    /// The status in each message, the oldest first.
    async fn announced(&self) -> Vec<String> {
        let status = |message: &Message| {
            let body: Value = serde_json::from_str(&message.payload).unwrap();
            body["status"].as_str().unwrap().to_owned()
        };
        self.messages().await.iter().map(status).collect()
    }
}

const LAPSED: &str = "reauthorization_required";
const FAILED: &str = "error";

#[tokio::test]
async fn a_lapse_is_announced_once_without_anything_private() {
    let home = Home::set().await;
    let connection = home.connected().await;
    let actor = home.session(&op::UPDATE_CONNECTION);
    home.app.label_connection(&actor, &connection, Some("planted label".to_owned())).await.unwrap();
    home.accounts.fail(Some(Failing::Lapsed));
    home.refresh_later(1).await;

    let messages = home.messages().await;
    let [message] = messages.as_slice() else { panic!("{messages:?}") };
    let body: Value = serde_json::from_str(&message.payload).unwrap();
    assert_eq!(body, json!({ "connection_id": connection, "provider": "google", "status": LAPSED }));
    assert!(!message.payload.contains("planted"), "{}", message.payload);
    assert_eq!((message.org, message.about, message.created_at), (home.org, None, home.make.clock.now()));
    assert_eq!(FeedEntry::of_message(message), None, "connections are no part of the change feed");

    home.make.clock.advance(SignedDuration::days(1));
    assert_eq!((home.refresh().await, home.announced().await), (0, vec![LAPSED.to_owned()]));
}

#[tokio::test]
async fn ten_failures_in_a_row_are_announced_once() {
    let home = Home::set().await;
    home.connected().await;
    home.accounts.fail(Some(Failing::Away));
    home.refresh_later(9).await;
    assert_eq!(home.announced().await, [""; 0]);
    home.refresh_later(1).await;
    assert_eq!(home.announced().await, [FAILED]);
    home.refresh_later(12).await;
    assert_eq!(home.announced().await, [FAILED], "further failures are not announced");
    home.accounts.fail(Some(Failing::Lapsed));
    home.refresh_later(1).await;
    assert_eq!(home.announced().await, [FAILED], "the connection needed its user before");
}

#[tokio::test]
async fn a_success_ends_a_series_of_failures() {
    let home = Home::set().await;
    home.connected().await;
    for _ in 0..2 {
        home.accounts.fail(Some(Failing::Away));
        home.refresh_later(9).await;
        home.accounts.fail(None);
        home.refresh_later(1).await;
    }
    assert_eq!(home.announced().await, [""; 0], "never ten in a row");
    for expected in 1..=2 {
        home.accounts.fail(Some(Failing::Away));
        home.refresh_later(11).await;
        assert_eq!(home.announced().await, vec![FAILED; expected]);
        home.accounts.fail(None);
        home.refresh_later(1).await;
    }
    assert_eq!(home.announced().await, [FAILED; 2], "a success is not announced");
}

#[tokio::test]
async fn the_next_lapse_after_a_new_consent_is_announced() {
    let home = Home::set().await;
    let connection = home.connected().await;
    home.accounts.fail(Some(Failing::Lapsed));
    home.refresh_later(1).await;
    home.accounts.fail(None);
    home.consent_again(&connection).await;
    assert_eq!((home.refresh().await, home.announced().await.len()), (1, 1));
    home.accounts.fail(Some(Failing::Lapsed));
    home.refresh_later(1).await;
    assert_eq!(home.announced().await, [LAPSED, LAPSED]);
    let messages = home.messages().await;
    assert!(messages[0].resource_version < messages[1].resource_version, "the user changed it in between");
}

#[tokio::test]
async fn a_refresh_that_lost_its_claim_announces_nothing() {
    let home = Home::set().await;
    let connection = home.connected().await;
    home.make.clock.advance(LATER);
    let slow = home.claim().await;
    home.make.clock.advance(CLAIM_LASTS);
    assert_eq!(home.refresh().await, 1, "another worker takes over");
    home.accounts.fail(Some(Failing::Lapsed));
    for (claim, connection) in slow {
        home.app.refresh_connection(claim, connection).await;
    }
    assert_eq!(home.announced().await, [""; 0]);

    // The user consents again while a refresh with the old access goes on.
    home.make.clock.advance(LATER);
    let slow = home.claim().await;
    home.accounts.fail(None);
    home.consent_again(&connection).await;
    home.accounts.fail(Some(Failing::Lapsed));
    assert_eq!(slow.len(), 1);
    for (claim, connection) in slow {
        home.app.refresh_connection(claim, connection).await;
    }
    assert_eq!(home.announced().await, [""; 0]);
    let shown = home.app.connection(&home.session(&op::GET_CONNECTION), &connection).await.unwrap();
    assert_eq!(shown.status, "active");
}

#[tokio::test]
async fn two_workers_announce_one_lapse() {
    let home = Home::set().await;
    home.connected().await;
    home.accounts.fail(Some(Failing::Lapsed));
    home.make.clock.advance(LATER);
    let mut claims = home.claim().await;
    home.make.clock.advance(CLAIM_LASTS);
    claims.extend(home.claim().await);
    assert_eq!(claims.len(), 2);
    for (claim, connection) in claims {
        home.app.refresh_connection(claim, connection).await;
    }
    assert_eq!(home.announced().await, [LAPSED]);
}

#[tokio::test]
async fn each_connection_is_announced_with_its_own_provider() {
    let home = Home::set().await;
    for provider in [CalendarProvider::Caldav, CalendarProvider::Example] {
        let connection = home.add(provider).await;
        home.accounts.fail(Some(Failing::Lapsed));
        assert_eq!(home.refresh().await, 1);
        let last = home.messages().await.pop().unwrap();
        let body: Value = serde_json::from_str(&last.payload).unwrap();
        let expected = json!({ "connection_id": connection.id, "provider": provider.as_str(), "status": LAPSED });
        assert_eq!(body, expected);
    }
    assert_eq!(home.announced().await, [LAPSED; 2]);
}
