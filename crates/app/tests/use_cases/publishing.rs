//! Publishing, from the consent to the copies at a scripted provider.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use kalends_accounts::{
    Change, Credential, Membership, Organization, Principal, Reach, oauth::Callback, reach::CallerKind,
};
use kalends_app::{
    Actor, App, ChangeSet, ConsentEnded, EventPath, IfMatch, Parts, Refusal,
    operations::{self as op, Operation},
    ports::Commit as _,
};
use kalends_bridge::{
    CalendarProvider, CopyKey, DestinationError, PublicationPolicy,
    ports::{ClaimedDestination, Destinations as _},
};
use kalends_calendars::{Agent, Calendar, EventPatch, NewEvent, SeriesScope};
use kalends_kernel::{KeyId, OrgId, SessionId, UserId, Version};
use kalends_plans::Plan;
use kalends_testkit::{
    Failing, MemoryStore, PublishFault, TestCalendarProviders, TestCopy,
    fixtures::{Compose as _, Fixtures, settings},
};
use kalends_time::SignedDuration;
use kalends_wire as wire;
use rstest::rstest;
use serde_json::{Value, json};

use crate::common::{parts, principal, request};

const WORK: &str = "Ada's account at work";

/// An organization with an agent and two calendars, and a user with a connected account.
struct House {
    app: Arc<App>,
    make: Fixtures,
    store: MemoryStore,
    accounts: TestCalendarProviders,
    organization: Organization,
    org: OrgId,
    agent: Agent,
    calendar: Calendar,
    human: UserId,
    connection: String,
    /// The identifiers of the account's calendars, by name.
    external: BTreeMap<String, String>,
}

impl House {
    /// The account has consented to publishing, if `publishing` is set.
    async fn new(provider: CalendarProvider, publishing: bool) -> Self {
        let (store, make) = (MemoryStore::new(), Fixtures::new());
        let offered = [CalendarProvider::Google, CalendarProvider::Microsoft];
        let accounts = TestCalendarProviders::offering(offered, &settings().base_url);
        accounts.account(WORK, &["Calendar", "Team"]);
        accounts.allow_publishing(WORK, publishing);
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
        let (connection, external) = (String::new(), BTreeMap::new());
        let mut house =
            Self { app, make, store, accounts, organization, org, agent, calendar, human, connection, external };
        house.connect(provider, publishing).await;
        house
    }

    /// A house whose calendar is published to the account's first calendar.
    async fn published() -> Self {
        let house = Self::new(CalendarProvider::Microsoft, true).await;
        house.put("Calendar", PublicationPolicy::Confirmed).await.unwrap();
        assert_eq!(house.publish().await, 1);
        house
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

    fn key(&self, operation: &'static Operation) -> Actor {
        let key = KeyId::new(self.make.tick(), &self.make.entropy);
        self.actor(Credential::Key(key), CallerKind::OrganizationKey, operation)
    }

    fn session(&self, operation: &'static Operation) -> Actor {
        let session = SessionId::new(self.make.tick(), &self.make.entropy);
        self.actor(Credential::Session { session, user: self.human }, CallerKind::Owner, operation)
    }

    async fn connect(&mut self, provider: CalendarProvider, publishing: bool) {
        let publishing = publishing && provider == CalendarProvider::Microsoft;
        let start = self.session(&op::START_CONNECTION);
        let begun = self.app.begin_connection(&start, provider.as_str(), None, publishing).await.unwrap();
        let callback =
            Callback { state: Some(&begun.state), code: Some(WORK), cookie: Some(&begun.state), ..Callback::default() };
        let request = self.session(&op::END_CONNECTION).request;
        match self.app.end_connection(&request, provider.as_str(), callback).await.unwrap() {
            ConsentEnded::Connected { connection, .. } => self.connection = connection.to_string(),
            ConsentEnded::Failed(failure) => panic!("{failure:?}"),
        }
        let actor = self.session(&op::LIST_EXTERNAL_CALENDARS);
        let calendars = self.app.external_calendars(&actor, &self.connection).await.unwrap();
        self.external = calendars.data.into_iter().map(|known| (known.name, known.id.to_string())).collect();
    }

    async fn put(&self, name: &str, policy: PublicationPolicy) -> Result<Value, Refusal> {
        let wanted = wire::WantedDestination { target: self.external[name].clone(), policy };
        let (actor, calendar) = (self.session(&op::PUT_DESTINATION), self.calendar.id.to_string());
        let put = self.app.put_destination(&actor, &calendar, wanted, &IfMatch::Any).await?;
        Ok(serde_json::to_value(put.resource).unwrap())
    }

    async fn delete(&self, keep: bool) {
        let (actor, calendar) = (self.session(&op::DELETE_DESTINATION), self.calendar.id.to_string());
        self.app.delete_destination(&actor, &calendar, keep, &IfMatch::Any).await.unwrap();
    }

    async fn destination(&self) -> Result<Value, Refusal> {
        let (actor, calendar) = (self.session(&op::GET_DESTINATION), self.calendar.id.to_string());
        let (shown, _) = self.app.destination(&actor, &calendar).await?;
        Ok(serde_json::to_value(shown).unwrap())
    }

    async fn claimed(&self) -> Vec<ClaimedDestination> {
        self.app.claim_publications(10).await.unwrap()
    }

    /// Publishes every calendar that is due, and returns how many there were.
    async fn publish(&self) -> usize {
        let claimed = self.claimed().await;
        let count = claimed.len();
        for claimed in claimed {
            self.app.publish(claimed).await;
        }
        count
    }

    /// An event tomorrow that begins at that hour and lasts one hour.
    fn event(&self, title: &str, hour: i64) -> NewEvent {
        let day = Fixtures::BEGINNING + SignedDuration::days(1);
        let (start, end) = (day + SignedDuration::hours(hour), day + SignedDuration::hours(hour + 1));
        let body = json!({ "title": title, "start_time": start.to_string(), "end_time": end.to_string() });
        serde_json::from_value::<wire::CreateEvent>(body).unwrap().parse().unwrap()
    }

    async fn create(&self, title: &str, hour: i64) -> wire::Event {
        self.create_on(&self.calendar, self.event(title, hour)).await
    }

    async fn create_on(&self, calendar: &Calendar, new: NewEvent) -> wire::Event {
        let actor = self.key(&op::CREATE_EVENT);
        self.app.create_event(&actor, &calendar.id.to_string(), new).await.unwrap().resource
    }

    async fn rename(&self, event: &wire::Event, title: &str) -> wire::Event {
        let patch = EventPatch { title: Some(title.to_owned()).into(), ..EventPatch::default() };
        let (actor, path) = (self.key(&op::UPDATE_EVENT), EventPath { calendar: None, id: &event.id });
        self.app.update_event(&actor, path, SeriesScope::This, patch, &IfMatch::Any).await.unwrap().resource
    }

    async fn delete_event(&self, event: &wire::Event) {
        let (actor, path) = (self.key(&op::DELETE_EVENT), EventPath { calendar: None, id: &event.id });
        self.app.delete_event(&actor, path, SeriesScope::This, None, false, &IfMatch::Any).await.unwrap();
    }

    fn copies(&self, name: &str) -> Vec<TestCopy> {
        self.accounts.copies_in(WORK, name)
    }

    /// The titles of the copies, in order.
    fn titles(&self, name: &str) -> Vec<String> {
        let mut titles: Vec<String> = self.copies(name).into_iter().map(|copy| copy.content.title).collect();
        titles.sort();
        titles
    }

    fn wait(&self, seconds: i64) {
        self.make.clock.advance(SignedDuration::seconds(seconds));
    }
}

fn sync_of(event: &wire::Event) -> Value {
    let shown = serde_json::to_value(event).unwrap();
    shown["external_sync"]["status"].clone()
}

fn key_of(event: &wire::Event) -> CopyKey {
    CopyKey { event: event.id.parse().unwrap(), original_start: None }
}

#[tokio::test]
async fn changes_are_published() {
    let house = House::published().await;
    assert_eq!(house.publish().await, 0, "nothing is due");
    let event = house.create("Stand-up", 9).await;
    assert_eq!(sync_of(&event), "queued");
    assert_eq!((house.publish().await, house.titles("Calendar")), (1, vec!["Stand-up".to_owned()]));
    let renamed = house.rename(&event, "Sync").await;
    assert_eq!(sync_of(&renamed), "queued");
    house.create("Lunch", 12).await;
    assert_eq!((house.publish().await, house.titles("Calendar")), (1, vec!["Lunch".to_owned(), "Sync".to_owned()]));
    let again = house.rename(&renamed, "Sync").await;
    assert_eq!(sync_of(&again), "published");
    house.delete_event(&event).await;
    assert_eq!((house.publish().await, house.titles("Calendar")), (1, vec!["Lunch".to_owned()]));
    let shown = house.destination().await.unwrap();
    assert_eq!((&shown["status"], &shown["copies"]), (&json!("active"), &json!({ "published": 1, "diverged": 0 })));
    assert!(shown["published_at"].is_string() && shown["last_error"].is_null(), "{shown:#}");
}

#[tokio::test]
async fn an_event_that_moves_away_loses_its_copy() {
    let house = House::published().await;
    let other = house.make.calendar(&house.agent);
    house.store.commit(ChangeSet::new(house.org).create(&other)).await.unwrap();
    let event = house.create("Review", 9).await;
    house.publish().await;
    assert_eq!(house.titles("Calendar"), ["Review"]);
    let to = serde_json::from_value(json!({ "calendar_id": other.id })).unwrap();
    let moved = house.app.move_event(&house.key(&op::MOVE_EVENT), &event.id, &to, &IfMatch::Any).await.unwrap();
    assert_eq!(sync_of(&moved.resource), "not_configured");
    house.publish().await;
    assert!(house.copies("Calendar").is_empty());
}

#[tokio::test]
async fn copies_follow_the_destination() {
    let house = House::published().await;
    house.create("Review", 9).await;
    house.publish().await;
    house.put("Team", PublicationPolicy::Confirmed).await.unwrap();
    house.publish().await;
    assert_eq!((house.titles("Calendar").len(), house.titles("Team").len()), (0, 1));
    house.put("Team", PublicationPolicy::None).await.unwrap();
    house.publish().await;
    assert!(house.copies("Team").is_empty());
}

#[rstest]
#[case::deleted(false, 0)]
#[case::kept(true, 1)]
#[tokio::test]
async fn copies_end_with_the_destination_or_stay(#[case] keep: bool, #[case] left: usize) {
    let house = House::published().await;
    let event = house.create("Review", 9).await;
    house.publish().await;
    house.delete(keep).await;
    assert!(matches!(house.destination().await, Err(Refusal::NotFound { .. })));
    house.publish().await;
    assert_eq!(house.copies("Calendar").len(), left);
    assert_eq!(house.publish().await, 0, "it is over");
    assert_eq!(sync_of(&house.rename(&event, "Sync").await), "not_configured");
}

#[tokio::test]
async fn a_deletion_of_copies_that_is_refused_can_be_given_up() {
    let house = House::published().await;
    house.create("Review", 9).await;
    house.publish().await;
    house.delete(false).await;
    house.accounts.fail_publishing([PublishFault::Refused("ErrorAccessDenied".to_owned())]);
    assert_eq!(house.publish().await, 1);
    house.delete(true).await;
    house.wait(90_000);
    assert_eq!((house.publish().await, house.copies("Calendar").len()), (0, 1));
}

#[tokio::test]
async fn a_deleted_calendar_loses_its_copies() {
    let house = House::published().await;
    house.create("Review", 9).await;
    house.publish().await;
    let (actor, calendar) = (house.key(&op::DELETE_CALENDAR), house.calendar.id.to_string());
    house.app.delete_calendar(&actor, &calendar, false, &IfMatch::Any).await.unwrap();
    assert_eq!((house.publish().await, house.copies("Calendar").len()), (1, 0));
    house.wait(3_600);
    assert_eq!(house.publish().await, 0);
}

#[tokio::test]
async fn copies_of_a_deleted_calendar_are_deleted_later_if_the_provider_is_away() {
    let house = House::published().await;
    house.create("Review", 9).await;
    house.publish().await;
    let (actor, calendar) = (house.key(&op::DELETE_CALENDAR), house.calendar.id.to_string());
    house.app.delete_calendar(&actor, &calendar, false, &IfMatch::Any).await.unwrap();
    house.accounts.fail_publishing([PublishFault::Away, PublishFault::Away]);
    for (failures, seconds) in [(1, 15), (2, 30)] {
        assert_eq!((house.publish().await, house.publish().await), (1, 0));
        let found = house.store.find_destination(house.org, house.calendar.id).await.unwrap().unwrap();
        assert_eq!((found.state.failures, found.state.last_error.is_some()), (failures, true));
        house.wait(seconds);
    }
    assert_eq!((house.publish().await, house.copies("Calendar").len()), (1, 0));
}

#[tokio::test]
async fn a_lost_answer_makes_no_second_copy() {
    let house = House::published().await;
    let listings = house.accounts.listings();
    house.create("Review", 9).await;
    house.accounts.fail_publishing([PublishFault::Interrupted]);
    house.publish().await;
    let shown = house.destination().await.unwrap();
    assert_eq!((&shown["status"], &shown["copies"]["published"]), (&json!("error"), &json!(0)));
    assert_eq!(house.accounts.listings(), listings);
    house.wait(15);
    assert_eq!(house.publish().await, 1);
    assert_eq!((house.copies("Calendar").len(), house.accounts.listings()), (1, listings + 1));
    let shown = house.destination().await.unwrap();
    assert_eq!((&shown["status"], &shown["copies"]["published"]), (&json!("active"), &json!(1)));
}

#[tokio::test]
async fn a_crash_makes_no_second_copy() {
    let house = House::published().await;
    house.create("Review", 9).await;
    let [claimed] = <[_; 1]>::try_from(house.claimed().await).unwrap();
    assert!(!claimed.claim.interrupted);
    // This worker ends here.
    house.wait(299);
    assert!(house.claimed().await.is_empty());
    house.wait(2);
    let listings = house.accounts.listings();
    let [again] = <[_; 1]>::try_from(house.claimed().await).unwrap();
    assert!(again.claim.interrupted);
    house.app.publish(again).await;
    assert_eq!((house.copies("Calendar").len(), house.accounts.listings()), (1, listings + 1));
    // The first worker was only slow. It records nothing.
    house.app.publish(claimed).await;
    assert_eq!(house.copies("Calendar").len(), 1);
    assert_eq!(house.destination().await.unwrap()["status"], "active");
}

#[tokio::test]
async fn a_change_of_the_destination_takes_the_claim() {
    let house = House::published().await;
    house.create("Review", 9).await;
    let [claimed] = <[_; 1]>::try_from(house.claimed().await).unwrap();
    house.put("Calendar", PublicationPolicy::ConfirmedTentative).await.unwrap();
    house.app.publish(claimed).await;
    assert_eq!(house.destination().await.unwrap()["copies"]["published"], 0, "nothing is recorded");
    assert_eq!(house.publish().await, 1);
    assert_eq!(house.copies("Calendar").len(), 1);
    assert_eq!(house.destination().await.unwrap()["copies"]["published"], 1);
}

#[tokio::test]
async fn copies_of_an_attempt_for_an_earlier_target_are_found() {
    let house = House::published().await;
    house.create("Review", 9).await;
    let [claimed] = <[_; 1]>::try_from(house.claimed().await).unwrap();
    house.put("Team", PublicationPolicy::Confirmed).await.unwrap();
    // This worker does not know yet.
    house.app.publish(claimed).await;
    assert_eq!((house.copies("Calendar").len(), house.copies("Team").len()), (1, 0));
    assert_eq!(house.publish().await, 1);
    assert_eq!((house.copies("Calendar").len(), house.copies("Team").len()), (0, 1));
}

#[tokio::test]
async fn what_a_person_changed_is_left_alone() {
    let house = House::published().await;
    let (edited, removed) = (house.create("Edited", 9).await, house.create("Removed", 11).await);
    house.publish().await;
    house.accounts.edit_copy(WORK, "Calendar", key_of(&edited), |content| content.title = "Mine".to_owned());
    house.accounts.delete_copy(WORK, "Calendar", key_of(&removed));
    house.rename(&edited, "Edited later").await;
    house.rename(&removed, "Removed later").await;
    house.publish().await;
    assert_eq!(house.titles("Calendar"), ["Mine"]);
    assert_eq!(house.destination().await.unwrap()["copies"], json!({ "published": 0, "diverged": 2 }));
    assert_eq!(sync_of(&house.rename(&edited, "Again").await), "diverged");
    house.delete_event(&edited).await;
    house.publish().await;
    assert_eq!(house.titles("Calendar"), ["Mine"]);
    house.delete(false).await;
    house.publish().await;
    assert_eq!((house.titles("Calendar"), house.publish().await), (vec!["Mine".to_owned()], 0));
}

#[tokio::test]
async fn a_provider_that_wants_a_pause_gets_it() {
    let house = House::published().await;
    house.create("Review", 9).await;
    house.accounts.fail_publishing([PublishFault::Later(Some(Duration::from_secs(40)))]);
    house.publish().await;
    assert_eq!((house.copies("Calendar").len(), house.accounts.publishings()), (0, 1));
    assert_eq!(house.destination().await.unwrap()["status"], "active", "a pause is no failure");
    house.create("Another", 11).await;
    house.wait(30);
    assert_eq!(house.publish().await, 0, "a change does not end the pause");
    house.wait(10);
    assert_eq!((house.publish().await, house.copies("Calendar").len()), (1, 2));
}

#[tokio::test]
async fn a_calendar_that_may_not_be_changed_asks_for_no_token() {
    let house = House::published().await;
    house.create("Review", 9).await;
    house.accounts.fail_publishing([PublishFault::Forbidden]);
    house.publish().await;
    let shown = house.destination().await.unwrap();
    let error = shown["last_error"].as_str().unwrap();
    assert!(error.contains("may not write to this calendar; choose another one"), "{error}");
    assert!(error.contains("copying") && !error.contains("publish"), "{error}");
    house.wait(15);
    assert_eq!((house.publish().await, house.copies("Calendar").len()), (1, 1));
}

#[tokio::test]
async fn an_event_that_is_left_out_stops_no_other() {
    let house = House::published().await;
    for hour in 0..21 {
        house.create("Review", hour).await;
    }
    house.accounts.fail_publishing([PublishFault::FirstLater]);
    house.publish().await;
    assert_eq!(house.copies("Calendar").len(), 20);
    assert_eq!(house.destination().await.unwrap()["status"], "error");
    house.wait(15);
    assert_eq!((house.publish().await, house.copies("Calendar").len()), (1, 21));
    assert_eq!(house.destination().await.unwrap()["status"], "active");
}

#[tokio::test]
async fn steps_are_sent_in_groups() {
    let house = House::published().await;
    for hour in 0..21 {
        house.create("Review", hour).await;
    }
    let before = house.accounts.publishings();
    house.publish().await;
    assert_eq!((house.copies("Calendar").len(), house.accounts.publishings()), (21, before + 2));
}

#[tokio::test]
async fn refused_events_are_counted_and_shown() {
    let house = House::published().await;
    house.create("Review", 9).await;
    let event = house.create("Lunch", 12).await;
    house.accounts.fail_publishing([PublishFault::Refused("ErrorInvalidRequest".to_owned())]);
    house.publish().await;
    let shown = house.destination().await.unwrap();
    let error = shown["last_error"].as_str().unwrap();
    assert!(error.contains('2') && error.contains("ErrorInvalidRequest"), "{error}");
    assert_eq!((house.publish().await, &shown["status"]), (0, &json!("error")), "it is not tried at once");
    house.rename(&event, "Late lunch").await;
    house.publish().await;
    assert_eq!(house.titles("Calendar"), ["Late lunch", "Review"]);
    assert!(house.destination().await.unwrap()["last_error"].is_null());
}

#[tokio::test]
async fn a_failure_shows_in_answers_and_is_repeated() {
    let house = House::published().await;
    let event = house.create("Review", 9).await;
    house.accounts.fail_publishing([PublishFault::Away]);
    house.publish().await;
    assert_eq!(sync_of(&house.rename(&event, "Late review").await), "failed");
    house.publish().await;
    assert_eq!(sync_of(&house.rename(&event, "Late review").await), "published");
}

/// Only refreshes renew tokens.
#[rstest]
#[case::about_to_expire(true)]
#[case::not_accepted(false)]
#[tokio::test]
async fn a_token_that_ends_asks_for_a_refresh(#[case] expires: bool) {
    let house = House::published().await;
    for (claim, connection) in house.app.claim_refreshes(10).await.unwrap() {
        house.app.refresh_connection(claim, connection).await;
    }
    house.create("Review", 9).await;
    assert!(house.app.claim_refreshes(10).await.unwrap().is_empty());
    let sent = house.accounts.publishings();
    if expires {
        house.wait(3_600);
        assert_eq!(house.app.claim_refreshes(10).await.unwrap().len(), 1, "a refresh that never ends");
    } else {
        house.accounts.fail_publishing([PublishFault::Lapsed]);
    }
    assert_eq!((house.publish().await, house.copies("Calendar").len()), (1, 0));
    if expires {
        assert_eq!(house.accounts.publishings(), sent, "nothing is sent with such a token");
        house.wait(301);
    }
    let asked = house.app.claim_refreshes(10).await.unwrap();
    assert_eq!(asked.len(), 1);
    for (claim, connection) in asked {
        house.app.refresh_connection(claim, connection).await;
    }
    house.wait(15);
    assert_eq!((house.publish().await, house.copies("Calendar").len()), (1, 1));
    assert_eq!(house.destination().await.unwrap()["status"], "active");
}

/// Changes of the calendar do not bring a refresh forward that failed, or is due anyway.
#[tokio::test]
async fn a_failing_connection_is_asked_for_no_token() {
    let house = House::published().await;
    let refresh = async |count: usize| {
        let claimed = house.app.claim_refreshes(10).await.unwrap();
        assert_eq!(claimed.len(), count);
        for (claim, connection) in claimed {
            house.app.refresh_connection(claim, connection).await;
        }
    };
    refresh(1).await;
    house.accounts.fail(Some(Failing::Away));
    house.wait(301);
    refresh(1).await;
    house.accounts.fail(None);
    for hour in [9, 11] {
        house.accounts.fail_publishing([PublishFault::Lapsed]);
        house.create("Review", hour).await;
        assert_eq!(house.publish().await, 1);
        refresh(0).await;
    }
    house.wait(301);
    house.accounts.fail_publishing([PublishFault::Lapsed]);
    assert_eq!(house.publish().await, 1);
    refresh(1).await;
    refresh(0).await;
    house.wait(60);
    assert_eq!((house.publish().await, house.copies("Calendar").len()), (1, 2));
}

#[tokio::test]
async fn a_destination_needs_a_provider_and_a_consent() {
    for (provider, expected) in [
        (CalendarProvider::Google, DestinationError::Provider),
        (CalendarProvider::Microsoft, DestinationError::Consent),
    ] {
        let house = House::new(provider, false).await;
        let refused = house.put("Calendar", PublicationPolicy::Confirmed).await;
        assert!(matches!(refused, Err(Refusal::Destination(error)) if error == expected), "{refused:?}");
    }
    let house = House::new(CalendarProvider::Microsoft, false).await;
    let start = house.session(&op::START_CONNECTION);
    let refused = house.app.begin_connection(&start, CalendarProvider::Google.as_str(), None, true).await.err();
    assert!(matches!(refused, Some(Refusal::NotPublished(CalendarProvider::Google))), "{refused:?}");
}

#[tokio::test]
async fn connecting_again_keeps_the_consent() {
    let mut house = House::published().await;
    let before = house.connection.clone();
    house.accounts.allow_publishing(WORK, false);
    house.connect(CalendarProvider::Microsoft, false).await;
    house.accounts.allow_publishing(WORK, true);
    assert_eq!(house.connection, before);
    house.create("Review", 9).await;
    assert_eq!((house.publish().await, house.titles("Calendar")), (1, vec!["Review".to_owned()]));
}

#[tokio::test]
async fn a_destination_has_a_version() {
    let house = House::published().await;
    let (actor, calendar) = (house.session(&op::PUT_DESTINATION), house.calendar.id.to_string());
    let wanted = || wire::WantedDestination {
        target: house.external["Calendar"].clone(),
        policy: PublicationPolicy::ConfirmedTentative,
    };
    let stale = IfMatch::OneOf(vec![Version(7)]);
    let refused = house.app.put_destination(&actor, &calendar, wanted(), &stale).await;
    assert!(matches!(refused, Err(Refusal::Stale { .. })), "{refused:?}");
    let first = IfMatch::OneOf(vec![Version::FIRST]);
    house.app.put_destination(&actor, &calendar, wanted(), &first).await.unwrap();
    let delete = house.session(&op::DELETE_DESTINATION);
    let refused = house.app.delete_destination(&delete, &calendar, false, &first).await;
    assert!(matches!(refused, Err(Refusal::Stale { .. })), "{refused:?}");
}

#[rstest]
#[case::confirmed(PublicationPolicy::Confirmed, "tentative", "skipped")]
#[case::tentative(PublicationPolicy::ConfirmedTentative, "tentative", "queued")]
#[case::nothing(PublicationPolicy::None, "confirmed", "skipped")]
#[tokio::test]
async fn answers_say_what_the_policy_leaves_out(
    #[case] policy: PublicationPolicy,
    #[case] status: &str,
    #[case] expected: &str,
) {
    let house = House::published().await;
    house.put("Calendar", policy).await.unwrap();
    let body = json!({
        "title": "Maybe", "start_time": "2026-03-03T09:00:00Z", "end_time": "2026-03-03T10:00:00Z", "status": status
    });
    let new = serde_json::from_value::<wire::CreateEvent>(body).unwrap().parse().unwrap();
    assert_eq!(sync_of(&house.create_on(&house.calendar, new).await), expected);
}
