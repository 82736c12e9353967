//! Human calendars, from the connection link to the busy times, with scripted providers.

use std::sync::Arc;

use kalends_accounts::{
    Change, Credential, Membership, Organization, Principal, Reach, oauth::Callback, reach::CallerKind,
};
use kalends_app::{
    Actor, Answered, App, ChangeSet, ConsentBegun, ConsentEnded, ConsentFailure, Parts, Refusal,
    operations::{self as op, Operation},
    ports::{Commit as _, HumanCalendars as _},
};
use kalends_availability::BusySet;
use kalends_bridge::{CalendarProvider, LinkError, LinkStatus, NewLink, PublicationPolicy};
use kalends_calendars::{Agent, Calendar, ports::BusyTimes as _};
use kalends_kernel::HumanSource;
use kalends_kernel::{KeyId, OrgId, Page, SessionId, UserId};
use kalends_plans::Plan;
use kalends_testkit::{
    Failing, MemoryStore, TestCalendarProviders,
    fixtures::{Compose as _, Fixtures, settings},
};
use kalends_time::{SignedDuration, Span};
use kalends_wire::{self as wire, CreateGrant, WantedGrant};
use serde_json::{Value, json};

use crate::common::{parts, principal, request};

/// An organization with an agent and a calendar, and a user with accounts at providers.
pub(crate) struct House {
    pub(crate) app: Arc<App>,
    pub(crate) store: MemoryStore,
    pub(crate) make: Fixtures,
    pub(crate) accounts: TestCalendarProviders,
    pub(crate) organization: Organization,
    pub(crate) org: OrgId,
    pub(crate) agent: Agent,
    pub(crate) calendar: Calendar,
    pub(crate) human: UserId,
}

pub(crate) fn json_of(answered: Answered<impl serde::Serialize>) -> Value {
    serde_json::to_value(answered.resource).unwrap()
}

pub(crate) fn text(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("no {pointer} in {value}")).to_owned()
}

impl House {
    async fn new() -> Self {
        Self::offering(&[CalendarProvider::Google, CalendarProvider::Microsoft]).await
    }

    /// A house whose users can connect accounts at these providers.
    pub(crate) async fn offering(offered: &[CalendarProvider]) -> Self {
        let offered = offered.iter().copied();
        let (store, make) = (MemoryStore::new(), Fixtures::new());
        let accounts = TestCalendarProviders::offering(offered, &settings().base_url);
        let app = App::new(Parts { calendar_providers: Arc::new(accounts.clone()), ..parts(&store, &make) });
        let organization = make.organization();
        let org = organization.id;
        store.commit(ChangeSet::new(org).create(&organization)).await.unwrap();
        let agent = make.agent(org);
        store.commit(ChangeSet::new(org).create(&agent)).await.unwrap();
        let calendar = make.calendar(&agent);
        store.commit(ChangeSet::new(org).create(&calendar)).await.unwrap();
        let owner = make.user();
        let (human, seen) = (owner.id, owner.version);
        let membership = Membership::owner(human, org, make.tick());
        let changes = ChangeSet::new(org).create(&owner);
        store.commit(changes.account(Change::AddOwner { membership, seen })).await.unwrap();
        Self { app, store, make, accounts, organization, org, agent, calendar, human }
    }

    fn actor(&self, credential: Credential, kind: CallerKind, operation: &'static Operation) -> Actor {
        let principal = Principal {
            credential,
            org: self.org,
            kind,
            plan: Plan::Pro,
            limits: Plan::Pro.limits(),
            ..principal(&self.make, &self.organization, Reach::Organization)
        };
        Actor::enter(Arc::new(principal), request(&self.make, self.make.tick(), operation)).unwrap()
    }

    pub(crate) fn key(&self, operation: &'static Operation) -> Actor {
        let key = KeyId::new(self.make.tick(), &self.make.entropy);
        self.actor(Credential::Key(key), CallerKind::OrganizationKey, operation)
    }

    /// A user of the organization in the console.
    pub(crate) fn session_of(&self, user: UserId, operation: &'static Operation) -> Actor {
        let session = SessionId::new(self.make.tick(), &self.make.entropy);
        self.actor(Credential::Session { session, user }, CallerKind::Owner, operation)
    }

    pub(crate) fn session(&self, operation: &'static Operation) -> Actor {
        self.session_of(self.human, operation)
    }

    pub(crate) async fn ask(&self, new: NewLink) -> Value {
        let (actor, calendar) = (self.key(&op::CREATE_CONNECTION_LINK), self.calendar.id.to_string());
        json_of(self.app.create_connection_link(&actor, &calendar, new).await.unwrap())
    }

    pub(crate) async fn status(&self, link: &str) -> String {
        self.app.connection_link(&self.key(&op::GET_CONNECTION_LINK), link).await.unwrap().status.into_owned()
    }

    pub(crate) async fn open_by(&self, human: UserId, link: &Value) -> Result<Answered<wire::FollowedLink>, Refusal> {
        let token = text(link, "/setup_url").split_once("/connect#").unwrap().1.to_owned();
        self.app.open_connection_link(&self.session_of(human, &op::OPEN_CONNECTION_LINK), &token).await
    }

    async fn start(&self, provider: CalendarProvider, link: Option<&str>) -> Result<ConsentBegun, Refusal> {
        self.app.begin_connection(&self.session(&op::START_CONNECTION), provider.as_str(), link, false).await
    }

    /// The browser returns with that code.
    async fn come_back(&self, provider: CalendarProvider, begun: &ConsentBegun, code: &str) -> ConsentEnded {
        let callback =
            Callback { state: Some(&begun.state), code: Some(code), cookie: Some(&begun.state), ..Callback::default() };
        let request = self.session(&op::END_CONNECTION).request;
        self.app.end_connection(&request, provider.as_str(), callback).await.unwrap()
    }

    /// Connects the account of that code, without a link.
    pub(crate) async fn connect(&self, code: &str) -> String {
        let begun = self.start(CalendarProvider::Google, None).await.unwrap();
        match self.come_back(CalendarProvider::Google, &begun, code).await {
            ConsentEnded::Connected { connection, .. } => connection.to_string(),
            ConsentEnded::Failed(failure) => panic!("{failure:?}"),
        }
    }

    /// Makes the account's first calendar count for the agent.
    pub(crate) async fn grant(&self, connection: &str, link: Option<&str>) -> Result<Value, Refusal> {
        self.grant_for(&self.agent, connection, link).await
    }

    async fn grant_for(&self, agent: &Agent, connection: &str, link: Option<&str>) -> Result<Value, Refusal> {
        let actor = self.session(&op::LIST_EXTERNAL_CALENDARS);
        let calendars = self.app.external_calendars(&actor, connection).await.unwrap();
        let body = json!({
            "external_calendar_ids": [calendars.data[0].id], "audience": "selected", "agent_ids": [agent.id],
            "connection_link_id": link
        });
        let wanted: WantedGrant = serde_json::from_value::<CreateGrant>(body).unwrap().parse().unwrap();
        Ok(json_of(self.app.create_grant(&self.session(&op::CREATE_GRANT), wanted).await?))
    }

    /// Refreshes every due connection, and returns how many there were.
    pub(crate) async fn refresh(&self) -> usize {
        let claimed = self.app.claim_refreshes(10).await.unwrap();
        let count = claimed.len();
        for (claim, connection) in claimed {
            self.app.refresh_connection(claim, connection).await;
        }
        count
    }

    /// The busy times that count for the calendar.
    pub(crate) async fn busy(&self) -> Option<BusySet> {
        let source = self.store.source_of_calendar(self.org, self.calendar.id).await.unwrap().unwrap();
        let seen = self.store.human_sources(self.org, &[source]).await.unwrap();
        let sources: Vec<HumanSource> = seen.iter().map(|seen| seen.source).collect();
        let busy = self.store.human_busy(self.org, &sources, self.span(-1_000, 1_000)).await.unwrap();
        busy.into_iter().find(|busy| busy.read_at.is_some()).map(|busy| busy.spans)
    }

    pub(crate) fn span(&self, from: i64, until: i64) -> Span {
        let day = "2026-03-09T12:00:00Z".parse::<kalends_time::Timestamp>().unwrap();
        Span::new(day + SignedDuration::hours(from), day + SignedDuration::hours(until)).unwrap()
    }

    pub(crate) async fn connection(&self, id: &str) -> Value {
        let returned = self.app.connection(&self.session(&op::GET_CONNECTION), id).await.unwrap();
        serde_json::to_value(returned).unwrap()
    }
}

const WORK: &str = "Ada's own account";

#[tokio::test]
async fn a_link_leads_to_busy_times() {
    let house = House::new().await;
    house.accounts.account(WORK, &["Private", "Birthdays"]);
    house.accounts.busy(WORK, "Private", vec![house.span(1, 2), house.span(2, 3)]);
    house.accounts.busy(WORK, "Birthdays", vec![house.span(5, 6)]);
    let link = house.ask(NewLink::default()).await;
    let id = text(&link, "/id");
    assert_eq!((house.status(&id).await.as_str(), &link["reused"]), ("awaiting_human", &json!(false)));
    let again = house.ask(NewLink::default()).await;
    assert_eq!((&again["id"], &again["reused"], &again["setup_url"]), (&link["id"], &json!(true), &Value::Null));

    let opened = json_of(house.open_by(house.human, &link).await.unwrap());
    assert_eq!((&opened["agent_id"], &opened["providers"]), (&json!(house.agent.id), &json!(["google", "microsoft"])));
    assert_eq!(house.status(&id).await, "in_progress");
    let begun = house.start(CalendarProvider::Google, Some(&id)).await.unwrap();
    let ConsentEnded::Connected { connection, link: Some(of) } =
        house.come_back(CalendarProvider::Google, &begun, WORK).await
    else {
        panic!("not connected");
    };
    assert_eq!((of.to_string(), house.status(&id).await.as_str()), (id.clone(), "in_progress"));
    assert_eq!(house.refresh().await, 1);
    assert_eq!(house.busy().await, None, "no calendar counts before a grant");

    house.grant(&connection.to_string(), Some(&id)).await.unwrap();
    assert_eq!(house.status(&id).await, "completed");
    assert_eq!(house.refresh().await, 1, "it is refreshed at once");
    assert_eq!(house.busy().await, Some(BusySet::from_unsorted(vec![house.span(1, 3)])));
    assert_eq!(house.refresh().await, 0);
    house.make.clock.advance(SignedDuration::minutes(5));
    assert_eq!(house.refresh().await, 1, "every five minutes");
}

#[tokio::test]
async fn a_link_is_for_one_user_of_the_organization() {
    let house = House::new().await;
    let link = house.ask(NewLink::default()).await;
    house.open_by(house.human, &link).await.unwrap();
    house.open_by(house.human, &link).await.unwrap();
    let other = UserId::new(house.make.tick(), &house.make.entropy);
    let refused = house.open_by(other, &link).await;
    assert!(matches!(refused, Err(Refusal::Link(LinkError::OtherHuman))), "{refused:?}");

    let elsewhere = House { org: OrgId::new(house.make.tick(), &house.make.entropy), ..house };
    let refused = elsewhere.open_by(elsewhere.human, &link).await;
    assert!(matches!(refused, Err(Refusal::NotFound { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_link_makes_room_when_it_ends() {
    let house = House::new().await;
    let first = house.ask(NewLink::default()).await;
    house.make.clock.advance(SignedDuration::minutes(15));
    assert_eq!(house.status(&text(&first, "/id")).await, "expired");
    let second = house.ask(NewLink::default()).await;
    assert_ne!(first["id"], second["id"]);
    let cancel = house.key(&op::CANCEL_CONNECTION_LINK);
    house.app.cancel_connection_link(&cancel, &text(&second, "/id")).await.unwrap();
    let third = house.ask(NewLink::default()).await;
    assert!(second["id"] != third["id"] && third["reused"] == json!(false));
    for ended in [&first, &second] {
        let refused = house.app.cancel_connection_link(&cancel, &text(ended, "/id")).await;
        assert!(matches!(refused, Err(Refusal::Link(LinkError::Ended(_)))), "{refused:?}");
    }
    // A link that a user has opened belongs to that user. The agent may create another one.
    house.open_by(house.human, &third).await.unwrap();
    assert_ne!(house.ask(NewLink::default()).await["id"], third["id"]);
    let decline = house.session(&op::DECLINE_CONNECTION_LINK);
    house.app.decline_connection_link(&decline, &text(&third, "/id")).await.unwrap();
    assert_eq!(house.status(&text(&third, "/id")).await, LinkStatus::Declined.as_str());
}

#[tokio::test]
async fn google_does_not_support_publishing() {
    let house = House::new().await;
    let link = house.ask(NewLink { publishing: true, policy: PublicationPolicy::Confirmed }).await;
    let id = text(&link, "/id");
    house.open_by(house.human, &link).await.unwrap();
    let refused = house.start(CalendarProvider::Google, Some(&id)).await.err();
    assert!(matches!(refused, Some(Refusal::NotPublished(CalendarProvider::Google))), "{refused:?}");
    assert!(house.start(CalendarProvider::Microsoft, Some(&id)).await.is_ok());
}

#[tokio::test]
async fn an_account_is_connected_once() {
    let house = House::new().await;
    house.accounts.account(WORK, &["Private"]);
    house.accounts.account("another", &["Private"]);
    let connection = house.connect(WORK).await;
    house.grant(&connection, None).await.unwrap();
    assert_eq!(house.connect(WORK).await, connection);
    assert_ne!(house.connect("another").await, connection);
    let listed = house.app.list_connections(&house.session(&op::LIST_CONNECTIONS), Page::default()).await.unwrap();
    assert_eq!(listed.total, 2);
    assert!(house.busy().await.is_none() && house.refresh().await == 2 && house.busy().await.is_some());
    assert!(house.accounts.revoked().is_empty());
}

#[tokio::test]
async fn a_consent_that_comes_too_late_is_revoked() {
    let house = House::new().await;
    house.accounts.account(WORK, &["Private"]);
    let link = house.ask(NewLink::default()).await;
    let id = text(&link, "/id");
    house.open_by(house.human, &link).await.unwrap();
    let begun = house.start(CalendarProvider::Google, Some(&id)).await.unwrap();
    house.app.cancel_connection_link(&house.key(&op::CANCEL_CONNECTION_LINK), &id).await.unwrap();
    let ended = house.come_back(CalendarProvider::Google, &begun, WORK).await;
    assert_eq!(ended, ConsentEnded::Failed(ConsentFailure::LinkOver));
    assert_eq!(house.accounts.revoked(), [WORK]);
    // An attempt accepts one callback.
    let ended = house.come_back(CalendarProvider::Google, &begun, WORK).await;
    assert_eq!(ended, ConsentEnded::Failed(ConsentFailure::State));
    // A consent that a connection relies on is not revoked.
    house.connect(WORK).await;
    let link = house.ask(NewLink::default()).await;
    house.open_by(house.human, &link).await.unwrap();
    let begun = house.start(CalendarProvider::Google, Some(&text(&link, "/id"))).await.unwrap();
    house.app.cancel_connection_link(&house.key(&op::CANCEL_CONNECTION_LINK), &text(&link, "/id")).await.unwrap();
    house.come_back(CalendarProvider::Google, &begun, WORK).await;
    assert_eq!(house.accounts.revoked(), [WORK]);
}

#[tokio::test]
async fn a_failed_refresh_keeps_the_busy_times_and_is_retried() {
    let house = House::new().await;
    house.accounts.account(WORK, &["Private"]);
    house.accounts.busy(WORK, "Private", vec![house.span(1, 2)]);
    let connection = house.connect(WORK).await;
    house.grant(&connection, None).await.unwrap();
    house.refresh().await;
    let read = house.busy().await;
    assert!(read.is_some());

    house.accounts.fail(Some(Failing::Away));
    house.make.clock.advance(SignedDuration::minutes(5));
    assert_eq!(house.refresh().await, 1);
    let returned = house.connection(&connection).await;
    assert_eq!((&returned["status"], &returned["data"]), (&json!("error"), &json!("fresh")));
    assert!(returned["last_error"].is_string());
    assert_eq!(house.busy().await, read);
    // The waits become longer, but never so long that fresh data becomes stale without a retry.
    for _ in 0..6 {
        house.make.clock.advance(SignedDuration::minutes(40));
        assert_eq!(house.refresh().await, 1);
    }
    assert_eq!(house.connection(&connection).await["data"], "stale");
    assert_eq!(house.busy().await, read);
    house.accounts.fail(None);
    house.make.clock.advance(SignedDuration::minutes(40));
    assert_eq!(house.refresh().await, 1);
    assert_eq!(house.connection(&connection).await["status"], "active");
}

#[tokio::test]
async fn tokens_are_renewed_before_their_time_and_when_they_end_early() {
    let house = House::new().await;
    house.accounts.account(WORK, &["Private"]);
    let connection = house.connect(WORK).await;
    house.refresh().await;
    assert_eq!(house.accounts.renewed(), 0);
    house.make.clock.advance(SignedDuration::minutes(59));
    house.refresh().await;
    assert_eq!(house.accounts.renewed(), 1, "the token would expire within two minutes");
    house.make.clock.advance(SignedDuration::minutes(5));
    house.refresh().await;
    assert_eq!(house.accounts.renewed(), 1, "the new token is kept");
    // The first token of another account expires at once.
    house.accounts.account("early", &["Private"]);
    let early = house.connect("early").await;
    house.accounts.fail(Some(Failing::Access));
    house.refresh().await;
    assert_eq!(house.accounts.renewed(), 2);
    assert_eq!(house.connection(&early).await["status"], "active");
    assert_eq!(house.connection(&connection).await["status"], "active");
}

#[tokio::test]
async fn an_ended_consent_can_be_renewed_for_the_same_account_only() {
    let house = House::new().await;
    house.accounts.account(WORK, &["Private"]);
    house.accounts.account("another", &["Private"]);
    let connection = house.connect(WORK).await;
    house.grant(&connection, None).await.unwrap();
    house.refresh().await;
    house.accounts.fail(Some(Failing::Lapsed));
    house.make.clock.advance(SignedDuration::minutes(5));
    house.refresh().await;
    assert_eq!(house.connection(&connection).await["status"], "reauthorization_required");
    house.make.clock.advance(SignedDuration::hours(2));
    assert_eq!(house.refresh().await, 0, "only the user can renew the consent");
    let refused = house.app.ask_refresh(&house.session(&op::REFRESH_CONNECTION), &connection).await;
    assert!(matches!(refused, Err(Refusal::NotRefreshed(_))), "{refused:?}");
    assert!(house.busy().await.is_some(), "old busy times still count");

    house.accounts.fail(None);
    let again = || async {
        let actor = house.session(&op::REAUTHORIZE_CONNECTION);
        house.app.begin_reauthorization(&actor, &connection, None).await.unwrap()
    };
    let ended = house.come_back(CalendarProvider::Google, &again().await, "another").await;
    assert_eq!(ended, ConsentEnded::Failed(ConsentFailure::OtherAccount));
    assert_eq!(house.accounts.revoked(), ["another"]);
    let ended = house.come_back(CalendarProvider::Google, &again().await, WORK).await;
    assert!(matches!(ended, ConsentEnded::Connected { link: None, .. }), "{ended:?}");
    assert_eq!(house.refresh().await, 1);
    let returned = house.connection(&connection).await;
    assert_eq!((&returned["status"], &returned["data"]), (&json!("active"), &json!("fresh")));
}

#[tokio::test]
async fn a_paused_or_deleted_connection_counts_for_nobody() {
    let house = House::new().await;
    house.accounts.account(WORK, &["Private", "Club"]);
    let connection = house.connect(WORK).await;
    house.grant(&connection, None).await.unwrap();
    house.refresh().await;
    assert!(house.busy().await.is_some());
    let pause = |paused| {
        let actor = house.session(if paused { &op::PAUSE_CONNECTION } else { &op::RESUME_CONNECTION });
        let (app, connection) = (&house.app, &connection);
        async move { app.pause_connection(&actor, connection, paused).await.unwrap() }
    };
    pause(true).await;
    house.make.clock.advance(SignedDuration::hours(1));
    assert!(house.busy().await.is_none() && house.refresh().await == 0);
    pause(false).await;
    assert!(house.refresh().await == 1 && house.busy().await.is_some());

    // The provider no longer has the calendar.
    house.accounts.account(WORK, &["Club"]);
    house.make.clock.advance(SignedDuration::minutes(5));
    house.refresh().await;
    assert!(house.busy().await.is_none());
    let grants = house.app.list_grants(&house.session(&op::LIST_GRANTS), Page::default()).await.unwrap();
    assert_eq!(grants.total, 0, "a grant without calendars is removed");

    house.grant(&connection, None).await.unwrap();
    house.refresh().await;
    assert!(house.busy().await.is_some());
    house.app.delete_connection(&house.session(&op::DELETE_CONNECTION), &connection).await.unwrap();
    assert_eq!(house.accounts.revoked(), [WORK]);
    assert!(house.busy().await.is_none() && house.refresh().await == 0);
}

#[tokio::test]
async fn a_refresh_that_lost_its_claim_writes_nothing() {
    let house = House::new().await;
    house.accounts.account(WORK, &["Private"]);
    house.accounts.busy(WORK, "Private", vec![house.span(1, 2)]);
    let connection = house.connect(WORK).await;
    house.grant(&connection, None).await.unwrap();
    let [(claim, slow)] = <[_; 1]>::try_from(house.app.claim_refreshes(10).await.unwrap()).unwrap();
    house.make.clock.advance(kalends_bridge::CLAIM_LASTS);
    assert_eq!(house.refresh().await, 1, "another worker takes over");
    let read = house.busy().await;
    house.accounts.busy(WORK, "Private", vec![house.span(3, 4)]);
    house.app.refresh_connection(claim, slow).await;
    assert_eq!(house.busy().await, read);
}

#[tokio::test]
async fn a_calendar_without_busy_times_ages_on_its_own() {
    let house = House::new().await;
    house.accounts.account(WORK, &["Private"]);
    let connection = house.connect(WORK).await;
    house.grant(&connection, None).await.unwrap();
    house.refresh().await;
    let read = house.busy().await;
    assert!(read.is_some());
    house.accounts.hush(WORK, "Private");
    for _ in 0..4 {
        house.make.clock.advance(SignedDuration::minutes(5));
        assert_eq!(house.refresh().await, 1, "the connection is refreshed as often as before");
    }
    let returned = house.connection(&connection).await;
    assert_eq!((&returned["status"], &returned["data"]), (&json!("error"), &json!("fresh")));
    assert!(text(&returned, "/last_error").contains("1 of the calendars"), "{returned}");
    house.make.clock.advance(SignedDuration::hours(1));
    house.refresh().await;
    let actor = house.session(&op::LIST_EXTERNAL_CALENDARS);
    let calendars = house.app.external_calendars(&actor, &connection).await.unwrap();
    assert_eq!((calendars.data[0].data, house.busy().await), ("stale", read));
}

#[tokio::test]
async fn an_empty_list_of_calendars_is_not_believed() {
    let house = House::new().await;
    house.accounts.account(WORK, &["Private"]);
    let connection = house.connect(WORK).await;
    house.grant(&connection, None).await.unwrap();
    house.refresh().await;
    house.accounts.account(WORK, &[]);
    house.make.clock.advance(SignedDuration::minutes(5));
    house.refresh().await;
    assert_eq!(house.connection(&connection).await["status"], "error");
    assert!(house.busy().await.is_some(), "the grant stays");
}

#[tokio::test]
async fn a_second_consent_that_fails_leaves_the_first() {
    let house = House::new().await;
    house.accounts.account(WORK, &["Private"]);
    house.accounts.account("another", &["Private"]);
    house.accounts.fail(Some(Failing::Calendars));
    let begun = house.start(CalendarProvider::Google, None).await.unwrap();
    let ended = house.come_back(CalendarProvider::Google, &begun, "another").await;
    assert_eq!(ended, ConsentEnded::Failed(ConsentFailure::Unavailable));
    assert_eq!(house.accounts.revoked(), ["another"], "no connection relies on it");
    house.accounts.fail(None);
    house.connect(WORK).await;
    house.accounts.fail(Some(Failing::Calendars));
    let begun = house.start(CalendarProvider::Google, None).await.unwrap();
    house.come_back(CalendarProvider::Google, &begun, WORK).await;
    assert_eq!(house.accounts.revoked(), ["another"], "it may be the account of a connection");
}

#[tokio::test]
async fn a_link_is_completed_by_a_suitable_grant() {
    let house = House::new().await;
    house.accounts.account(WORK, &["Private"]);
    let connection = house.connect(WORK).await;
    let link = house.ask(NewLink::default()).await;
    let id = text(&link, "/id");
    house.open_by(house.human, &link).await.unwrap();

    let other = house.make.agent(house.org);
    house.store.commit(ChangeSet::new(house.org).create(&other)).await.unwrap();
    let refused = house.grant_for(&other, &connection, Some(&id)).await;
    assert!(matches!(&refused, Err(Refusal::Invalid(errors)) if errors.first().param == "audience"), "{refused:?}");
    let pause = house.session(&op::PAUSE_CONNECTION);
    house.app.pause_connection(&pause, &connection, true).await.unwrap();
    let refused = house.grant(&connection, Some(&id)).await;
    assert!(matches!(refused, Err(Refusal::NotRefreshed(_))), "{refused:?}");
    house.app.pause_connection(&pause, &connection, false).await.unwrap();
    assert_eq!(house.status(&id).await, "in_progress");
    house.grant(&connection, Some(&id)).await.unwrap();
    assert_eq!(house.status(&id).await, "completed");

    let link = house.ask(NewLink { publishing: true, policy: PublicationPolicy::Confirmed }).await;
    house.open_by(house.human, &link).await.unwrap();
    let refused = house.grant(&connection, Some(&text(&link, "/id"))).await;
    assert!(matches!(refused, Err(Refusal::NotPublished(CalendarProvider::Google))), "{refused:?}");
}
