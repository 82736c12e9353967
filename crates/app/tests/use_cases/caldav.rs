//! Accounts at CalDAV servers, from the password to the busy times, with a scripted server.

use kalends_accounts::{Change, Limited, Membership};
use kalends_app::{
    Answered, ChangeSet, Refusal, operations as op,
    ports::{CaldavLogin, Commit as _},
};
use kalends_availability::BusySet;
use kalends_bridge::{CalendarProvider, LinkError, NewLink, PublicationPolicy};
use kalends_kernel::{Page, UserId};
use kalends_testkit::{Failing, fixtures::Compose as _};
use kalends_time::SignedDuration;
use kalends_wire as wire;
use serde_json::json;

use crate::bridge::{House, json_of, text};

const SERVER: &str = "https://caldav.example.com";
const ADA: &str = "ada";
const PASSWORD: &str = "abcd-efgh";

fn login(username: &str, password: &str) -> CaldavLogin {
    CaldavLogin { url: SERVER.to_owned(), username: username.to_owned(), password: password.to_owned() }
}

async fn house() -> House {
    let house = House::offering(&[CalendarProvider::Google, CalendarProvider::Caldav]).await;
    house.accounts.account(ADA, &["Private", "Club"]);
    house.accounts.password(ADA, PASSWORD);
    house.accounts.busy(ADA, "Private", vec![house.span(1, 2)]);
    house
}

impl House {
    async fn enter_by(
        &self,
        user: UserId,
        (name, password): (&str, &str),
        link: Option<&str>,
    ) -> Result<Answered<wire::CalendarConnection>, Refusal> {
        let actor = self.session_of(user, &op::CONNECT_CALDAV);
        self.app.connect_caldav(&actor, login(name, password), link).await
    }

    async fn enter(&self, name: &str, password: &str) -> Result<Answered<wire::CalendarConnection>, Refusal> {
        self.enter_by(self.human, (name, password), None).await
    }

    /// Connects Ada's account, and returns the identifier of the connection.
    async fn entered(&self) -> String {
        self.enter(ADA, PASSWORD).await.unwrap().resource.id.to_string()
    }

    async fn connections(&self) -> u64 {
        self.app.list_connections(&self.session(&op::LIST_CONNECTIONS), Page::default()).await.unwrap().total
    }

    /// Another owner of the organization.
    async fn another_owner(&self) -> UserId {
        let owner = self.make.user();
        let membership = Membership::owner(owner.id, self.org, self.make.tick());
        let (id, seen) = (owner.id, owner.version);
        let changes = ChangeSet::new(self.org).create(&owner);
        self.store.commit(changes.account(Change::AddMember { membership, seen })).await.unwrap();
        id
    }
}

/// The field that a refusal names.
fn field_of<T>(outcome: Result<T, Refusal>) -> String {
    match outcome {
        Err(Refusal::Invalid(errors)) => errors.first().param,
        Err(refusal) => panic!("{refusal}"),
        Ok(_) => panic!("not refused"),
    }
}

#[tokio::test]
async fn a_password_leads_to_busy_times() {
    let house = house().await;
    let link = house.ask(NewLink::default()).await;
    let id = text(&link, "/id");
    let opened = json_of(house.open_by(house.human, &link).await.unwrap());
    assert_eq!(opened["providers"], json!(["google", "caldav"]));
    let answered = house.enter_by(house.human, (ADA, PASSWORD), Some(&id)).await.unwrap();
    assert_eq!(answered.answer.status, 201);
    let shown = json_of(answered);
    assert_eq!((&shown["provider"], &shown["status"]), (&json!("caldav"), &json!("active")));
    assert!(!shown.to_string().contains(PASSWORD), "{shown}");
    assert_eq!(shown["next_refresh_at"], shown["created_at"], "it is refreshed at once");

    let connection = text(&shown, "/id");
    house.grant(&connection, Some(&id)).await.unwrap();
    assert_eq!(house.status(&id).await, "completed");
    assert_eq!(house.refresh().await, 1);
    assert_eq!(house.busy().await, Some(BusySet::from_unsorted(vec![house.span(1, 2)])));
    assert_eq!(house.accounts.renewed(), 0, "there are no tokens to renew");
}

#[tokio::test]
async fn unchanged_calendars_are_not_read_again() {
    let house = house().await;
    let connection = house.entered().await;
    house.grant(&connection, None).await.unwrap();
    house.refresh().await;
    assert_eq!(house.accounts.readings(), 1);
    house.make.clock.advance(SignedDuration::minutes(2));
    assert_eq!(house.refresh().await, 1, "every two minutes");
    assert_eq!(house.accounts.readings(), 1);
    let busy = Some(BusySet::from_unsorted(vec![house.span(1, 2)]));
    assert_eq!(house.busy().await, busy, "they still count");

    house.accounts.busy(ADA, "Private", vec![house.span(4, 5)]);
    house.make.clock.advance(SignedDuration::minutes(2));
    house.refresh().await;
    assert_eq!(house.accounts.readings(), 2);
    assert_eq!(house.busy().await, Some(BusySet::from_unsorted(vec![house.span(4, 5)])));
}

#[tokio::test]
async fn unread_events_are_shown_and_tried_again() {
    let house = house().await;
    house.accounts.garble(ADA, 3);
    let connection = house.entered().await;
    house.grant(&connection, None).await.unwrap();
    house.refresh().await;
    let shown = house.connection(&connection).await;
    let sentence = "3 events could not be read, so their times look free";
    assert_eq!((&shown["status"], &shown["last_error"]), (&json!("error"), &json!(sentence)));
    assert_eq!(house.busy().await, Some(BusySet::from_unsorted(vec![house.span(1, 2)])), "the others count");

    house.accounts.garble(ADA, 0);
    house.make.clock.advance(SignedDuration::minutes(2));
    house.refresh().await;
    assert_eq!(house.accounts.readings(), 2, "the calendar has not changed, but is read again");
    let shown = house.connection(&connection).await;
    assert_eq!((&shown["status"], &shown["last_error"]), (&json!("active"), &json!(null)));
}

#[tokio::test]
async fn a_new_password_keeps_the_choices() {
    let house = house().await;
    let connection = house.entered().await;
    house.grant(&connection, None).await.unwrap();
    house.app.label_connection(&house.session(&op::UPDATE_CONNECTION), &connection, Some("Home".into())).await.unwrap();
    house.refresh().await;
    let read = house.busy().await;

    house.accounts.password(ADA, "changed");
    house.make.clock.advance(SignedDuration::minutes(2));
    assert_eq!(house.refresh().await, 1);
    let shown = house.connection(&connection).await;
    assert_eq!(shown["status"], "reauthorization_required", "at the first refusal");
    assert!(shown.get("next_refresh_at").is_none(), "{shown}");
    house.make.clock.advance(SignedDuration::hours(2));
    assert_eq!(house.refresh().await, 0, "a wrong password is not sent again");
    assert_eq!(house.busy().await, read, "old busy times still count");

    let again = house.enter(ADA, "changed").await.unwrap();
    assert_eq!((again.answer.status, again.resource.id.to_string()), (200, connection.clone()));
    let shown = json_of(again);
    assert_eq!((&shown["status"], &shown["label"]), (&json!("active"), &json!("Home")));
    assert!(shown["next_refresh_at"].is_string());
    let grants = house.app.list_grants(&house.session(&op::LIST_GRANTS), Page::default()).await.unwrap();
    assert_eq!((grants.total, house.connections().await), (1, 1));
    house.accounts.busy(ADA, "Private", vec![house.span(4, 5)]);
    assert_eq!(house.refresh().await, 1);
    assert_eq!(house.busy().await, Some(BusySet::from_unsorted(vec![house.span(4, 5)])));
    assert_eq!(house.connection(&connection).await["status"], "active");
}

#[tokio::test]
async fn other_accounts_are_other_connections() {
    let house = house().await;
    house.accounts.account("grace", &["Private", "Club"]);
    house.accounts.password("grace", PASSWORD);
    let first = house.entered().await;
    let other = house.enter("grace", PASSWORD).await.unwrap();
    assert_eq!((other.answer.status, house.connections().await), (201, 2));
    assert_ne!(other.resource.id.to_string(), first);
    // Another user of the organization has a connection of the same account too.
    let colleague = house.another_owner().await;
    let theirs = house.enter_by(colleague, (ADA, PASSWORD), None).await.unwrap();
    assert_eq!((theirs.answer.status, house.connections().await), (201, 2));
    assert_ne!(theirs.resource.id.to_string(), first);
    let refused = house.app.connection(&house.session(&op::GET_CONNECTION), &theirs.resource.id.to_string()).await;
    assert!(matches!(refused, Err(Refusal::NotFound { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_failure_connects_nothing() {
    let house = house().await;
    assert_eq!(field_of(house.enter(ADA, "wrong").await), "password");
    assert_eq!(field_of(house.enter("nobody", PASSWORD).await), "password");
    house.accounts.account("empty", &[]);
    house.accounts.password("empty", PASSWORD);
    assert_eq!(field_of(house.enter("empty", PASSWORD).await), "url");
    house.accounts.fail(Some(Failing::Away));
    let refused = house.enter(ADA, PASSWORD).await;
    assert!(matches!(refused, Err(Refusal::CalendarServer)), "{refused:?}");
    assert_eq!(house.connections().await, 0);
}

#[tokio::test]
async fn a_server_that_is_away_for_a_while_is_asked_again() {
    let house = house().await;
    let connection = house.entered().await;
    house.accounts.fail(Some(Failing::Away));
    house.refresh().await;
    assert_eq!(house.connection(&connection).await["status"], "error");
    house.accounts.fail(None);
    house.make.clock.advance(SignedDuration::minutes(2));
    assert_eq!(house.refresh().await, 1);
    assert_eq!(house.connection(&connection).await["status"], "active");
}

#[tokio::test]
async fn attempts_are_limited_for_each_user() {
    let house = house().await;
    for _ in 0..19 {
        assert_eq!(field_of(house.enter(ADA, "wrong").await), "password");
    }
    house.entered().await;
    let refused = house.enter(ADA, PASSWORD).await;
    assert!(matches!(refused, Err(Refusal::TooMany { limited: Limited::CalendarPasswords, .. })), "{refused:?}");
    let colleague = house.another_owner().await;
    assert!(house.enter_by(colleague, (ADA, PASSWORD), None).await.is_ok());
    house.make.clock.advance(SignedDuration::hours(1));
    assert!(house.enter(ADA, PASSWORD).await.is_ok());
}

#[tokio::test]
async fn a_link_has_to_be_open_and_the_callers_own() {
    let house = house().await;
    let link = house.ask(NewLink::default()).await;
    let id = text(&link, "/id");
    let refused = house.enter_by(house.human, (ADA, PASSWORD), Some(&id)).await;
    assert!(matches!(refused, Err(Refusal::Link(LinkError::NotOpened))), "{refused:?}");
    house.open_by(house.human, &link).await.unwrap();
    let colleague = house.another_owner().await;
    let refused = house.enter_by(colleague, (ADA, PASSWORD), Some(&id)).await;
    assert!(matches!(refused, Err(Refusal::Link(LinkError::OtherHuman))), "{refused:?}");
    let decline = house.session(&op::DECLINE_CONNECTION_LINK);
    house.app.decline_connection_link(&decline, &id).await.unwrap();
    let refused = house.enter_by(house.human, (ADA, PASSWORD), Some(&id)).await;
    assert!(matches!(refused, Err(Refusal::Link(LinkError::Ended(_)))), "{refused:?}");
    let refused = house.enter_by(house.human, (ADA, PASSWORD), Some("cln_nothing")).await;
    assert!(matches!(refused, Err(Refusal::NotFound { .. })), "{refused:?}");

    let link = house.ask(NewLink { publishing: true, policy: PublicationPolicy::Confirmed }).await;
    house.open_by(house.human, &link).await.unwrap();
    let refused = house.enter_by(house.human, (ADA, PASSWORD), Some(&text(&link, "/id"))).await;
    assert!(matches!(refused, Err(Refusal::NotPublished(CalendarProvider::Caldav))), "{refused:?}");
    assert_eq!(house.connections().await, 0);
}

#[tokio::test]
async fn a_user_who_has_left_connects_nothing() {
    let house = house().await;
    let stranger = UserId::new(house.make.tick(), &house.make.entropy);
    let refused = house.enter_by(stranger, (ADA, PASSWORD), None).await;
    assert!(matches!(refused, Err(Refusal::NotSignedIn)), "{refused:?}");
}

#[tokio::test]
async fn a_provider_that_is_not_offered_is_not_found() {
    let house = House::offering(&[CalendarProvider::Google]).await;
    let refused = house.enter(ADA, PASSWORD).await;
    assert!(matches!(refused, Err(Refusal::NotFound { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_deleted_connection_revokes_nothing() {
    let house = house().await;
    let connection = house.entered().await;
    house.app.delete_connection(&house.session(&op::DELETE_CONNECTION), &connection).await.unwrap();
    assert!(house.accounts.revoked().is_empty());
    assert_eq!(house.connections().await, 0);
}

/// The same identifiers of calendars at two providers do not make one account of them.
#[tokio::test]
async fn accounts_of_two_providers_are_never_the_same() {
    let house = house().await;
    let by_password = house.entered().await;
    let by_consent = house.connect(ADA).await;
    assert_ne!(by_password, by_consent);
    assert_eq!(house.connections().await, 2);
    assert_eq!(house.entered().await, by_password);
    // The consent is revoked, although another connection has calendars with the same identifiers.
    house.app.delete_connection(&house.session(&op::DELETE_CONNECTION), &by_consent).await.unwrap();
    assert_eq!(house.accounts.revoked(), [ADA]);
}
