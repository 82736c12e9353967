//! Exporting and deleting an account, with concurrent changes.

use std::{sync::Arc, time::Duration};

use kalends_accounts::{
    Change as AccountChange, Credential, Membership, Organization, Principal, Reach, Role, User,
    ports::{Deletions as _, Organizations as _, People as _},
    reach::CallerKind,
};
use kalends_app::{
    Actor, Answer, App, ChangeSet, Export, Idempotency, Leased, Refusal, StoredAnswer, operations, ports::Commit as _,
};
use kalends_calendars::{AgentType, Calendar, Change, Event, NewAgent};
use kalends_kernel::{Metadata, SessionId};
use kalends_plans::{Metric, Plan};
use kalends_testkit::{
    MemoryStore,
    fixtures::{Compose as _, Fixtures, metadata},
};
use kalends_time::{Clock as _, SignedDuration, Span};
use serde_json::{Value, json};

use crate::common::{actor, parts, principal, request};

/// A service with one organization.
struct House {
    app: Arc<App>,
    store: MemoryStore,
    make: Fixtures,
    organization: Organization,
    owner: User,
}

impl House {
    async fn new() -> Self {
        let (store, make) = (MemoryStore::new(), Fixtures::new());
        let app = App::new(parts(&store, &make));
        let organization = Organization { plan: Plan::Pro, ..make.organization() };
        let owner = make.user();
        let (org, seen) = (organization.id, owner.version);
        let membership = Membership::owner(owner.id, org, make.tick());
        let changes = ChangeSet::new(org).create(&organization).create(&owner);
        store.commit(changes.account(AccountChange::AddOwner { membership, seen })).await.unwrap();
        Self { app, store, make, organization, owner }
    }

    fn actor(&self, operation: &'static operations::Operation) -> Actor {
        actor(&self.make, &self.organization, Reach::Organization, operation)
    }

    /// The organization's owner in the console.
    fn human(&self, operation: &'static operations::Operation) -> Actor {
        let now = self.make.clock.now();
        let session = SessionId::new(now, &self.make.entropy);
        let principal = Principal {
            credential: Credential::Session { session, user: self.owner.id },
            kind: CallerKind::Owner,
            ..principal(&self.make, &self.organization, Reach::Organization)
        };
        Actor::enter(Arc::new(principal), request(&self.make, now, operation)).unwrap()
    }

    async fn export(&self) -> Export {
        self.app.export(&self.human(&operations::EXPORT)).await.unwrap()
    }

    /// Reads an export completely.
    async fn read(mut export: Export) -> Value {
        let mut text = Vec::new();
        while let Some(piece) = export.pieces.recv().await {
            text.extend_from_slice(&piece.unwrap());
        }
        serde_json::from_slice(&text).unwrap()
    }

    async fn delete_account(&self) -> Result<(), Refusal> {
        self.app.delete_account(&self.human(&operations::DELETE_ACCOUNT)).await.map(|_| ())
    }
}

#[tokio::test]
async fn an_export_shows_used_units_and_not_leased_ones() {
    let house = House::new().await;
    let now = house.make.clock.now();
    let holder = principal(&house.make, &house.organization, Reach::Organization);
    let caller = house.app.caller(Arc::new(holder));
    for metric in [Leased::ApiCalls, Leased::ApiCalls, Leased::ApiCalls, Leased::AvailabilityQueries] {
        house.app.count(&caller, metric, now).await.unwrap();
    }
    let usage = house.app.usage(&house.actor(&operations::USAGE)).await.unwrap();
    let (with_months, months) = house.app.usage_with_months(&house.actor(&operations::USAGE)).await.unwrap();
    assert_eq!(with_months, usage);
    let this_month = house.app.use_this_month(&house.actor(&operations::USAGE)).await.unwrap();
    assert_eq!(this_month.len(), months.len(), "every metric that is counted by month");
    let exported = House::read(house.export().await).await;
    for (metric, used) in [(Metric::ApiCalls, 3), (Metric::AvailabilityQueries, 1)] {
        assert_eq!(usage.of(metric).used, used);
        assert!(this_month.contains(&(metric, usage.of(metric))), "{this_month:?}");
        for list in ["usage_records", "quota_counters"] {
            let entries = exported[list].as_array().unwrap();
            let entry = entries.iter().find(|entry| entry["metric"] == metric.as_str()).unwrap();
            assert_eq!(entry["used"], used, "{list} {entry}");
        }
    }
}

#[tokio::test]
async fn an_export_skips_no_calendar_that_stays() {
    let house = House::new().await;
    // Large enough that the export waits for its reader within the first of several pages.
    let note = metadata(json!({ "note": "x".repeat(2_000) }));
    let mut made = Vec::new();
    for _ in 0..500 {
        let calendar = house.make.shared_calendar(house.organization.id);
        let calendar = Calendar { metadata: note.clone(), ..calendar };
        house.store.commit(ChangeSet::new(house.organization.id).create(&calendar)).await.unwrap();
        made.push(calendar);
    }
    let mut export = house.export().await;
    let first = export.pieces.recv().await.unwrap().unwrap();
    for gone in made.drain(..100) {
        let deleted = gone.deleted(house.make.tick());
        let changes = ChangeSet::new(house.organization.id).update(&deleted, gone.version);
        house.store.commit(changes).await.unwrap();
    }
    let mut text = first.to_vec();
    while let Some(piece) = export.pieces.recv().await {
        text.extend_from_slice(&piece.unwrap());
    }
    let exported: Value = serde_json::from_slice(&text).unwrap();
    let ids: Vec<_> = exported["calendars"].as_array().unwrap().iter().map(|calendar| calendar["id"].clone()).collect();
    for calendar in made {
        let times = ids.iter().filter(|id| **id == json!(calendar.id.to_string())).count();
        assert_eq!(times, 1, "{}", calendar.created_at);
    }
}

#[tokio::test]
async fn an_export_has_an_event_that_moves_to_a_calendar_that_it_has_read() {
    let house = House::new().await;
    let org = house.organization.id;
    let [first, second] = [house.make.shared_calendar(org), house.make.shared_calendar(org)];
    let changes = ChangeSet::new(org).create(&first).create(&second);
    house.store.commit(changes).await.unwrap();
    // Large enough that the export waits for its reader while it writes the events of the first calendar.
    let note = metadata(json!({ "note": "x".repeat(2_000) }));
    let start = house.make.clock.now();
    let span = Span::new(start, start + SignedDuration::hours(1)).unwrap();
    for _ in 0..150 {
        let event = Event { metadata: note.clone(), ..house.make.event(&first, span) };
        house.store.commit(ChangeSet::new(org).create(&event)).await.unwrap();
    }
    let moving = house.make.event(&second, span);
    house.store.commit(ChangeSet::new(org).create(&moving)).await.unwrap();
    let mut export = house.export().await;
    let mut text = export.pieces.recv().await.unwrap().unwrap().to_vec();

    let now = house.make.tick();
    let mut no_override = || unreachable!("it is not a series");
    let moved = moving.moved_to_calendar(Vec::new(), second.zone, &first, now, &mut no_override).unwrap().series;
    let mut changes = ChangeSet::new(org);
    changes.calendars.push(Change::update(&moving, moved));
    house.store.commit(changes).await.unwrap();

    while let Some(piece) = export.pieces.recv().await {
        text.extend_from_slice(&piece.unwrap());
    }
    let exported: Value = serde_json::from_slice(&text).unwrap();
    let events = exported["events"].as_array().unwrap();
    let found: Vec<_> = events.iter().filter(|event| event["id"] == json!(moving.id.to_string())).collect();
    assert_eq!((events.len(), found.len()), (151, 1));
    assert_eq!(found[0]["calendarId"], json!(first.id.to_string()));
}

#[tokio::test(start_paused = true)]
async fn a_deletion_waits_for_one_lease() {
    let house = House::new().await;
    let began = tokio::time::Instant::now();
    house.delete_account().await.unwrap();
    // A lease, plus the margin for a clock that is corrected.
    assert_eq!(began.elapsed(), Duration::from_millis(1_100));
    assert_eq!(house.store.find_organization(house.organization.id).await.unwrap(), None);
}

#[tokio::test]
async fn a_deletion_needs_an_owner_when_it_is_committed() {
    let house = House::new().await;
    let under_way = house.human(&operations::DELETE_ACCOUNT);
    // Another owner takes the role away after the session was checked.
    let (org, other) = (house.organization.id, house.make.user());
    let joins = Membership::owner(other.id, org, house.make.tick());
    let seen = house.owner.version.next();
    let demoted = Membership { role: Role::Admin, ..Membership::owner(house.owner.id, org, house.make.tick()) };
    let changes = ChangeSet::new(org).create(&other);
    let changes = changes.account(AccountChange::AddMember { membership: joins, seen: other.version });
    house.store.commit(changes.account(AccountChange::ChangeRole { membership: demoted, seen })).await.unwrap();
    let refused = house.app.delete_account(&under_way).await.map(|_| ());
    assert!(matches!(refused, Err(Refusal::RoleTooLow)), "{refused:?}");
    let left = house.store.find_user(house.owner.id).await.unwrap().unwrap();
    let leaves = AccountChange::RemoveMember { user: left.id, org, seen: left.version };
    house.store.commit(ChangeSet::new(org).account(leaves)).await.unwrap();
    let refused = house.app.delete_account(&under_way).await.map(|_| ());
    assert!(matches!(refused, Err(Refusal::NotSignedIn)), "{refused:?}");
    assert!(house.store.find_organization(org).await.unwrap().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_replayed_answer_waits_until_every_node_rejects_the_key() {
    let house = House::new().await;
    let repeated = Idempotency { scope: [1; 32], fingerprint: [2; 32] };
    let now = house.make.clock.now();
    let answer = StoredAnswer {
        scope: repeated.scope,
        fingerprint: repeated.fingerprint,
        answer: Answer { status: 204, body: None, version: None },
        created_at: now,
        expires_at: now + SignedDuration::hours(24),
    };
    let changes = ChangeSet { answer: Some(answer.clone()), ..ChangeSet::new(house.organization.id) };
    house.store.commit(changes).await.unwrap();
    for (later, operation, waits) in [
        (0, &operations::DELETE_KEY, 1_100),
        (0, &operations::CREATE_AGENT, 0),
        (300, &operations::DELETE_KEY, 800),
        (1_000, &operations::DELETE_KEY, 0),
    ] {
        house.make.clock.advance(SignedDuration::micros(later * 1_000));
        let began = tokio::time::Instant::now();
        assert_eq!(house.app.earlier_answer(operation, &repeated).await.unwrap().as_ref(), Some(&answer.answer));
        assert_eq!(began.elapsed(), Duration::from_millis(waits), "{}", operation.id);
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_in_flight_during_the_deletion_is_refused_like_its_key() {
    let house = House::new().await;
    let agent = NewAgent { name: "Late".into(), kind: AgentType::Ai, description: None, metadata: Metadata::default() };
    let under_way = house.actor(&operations::CREATE_AGENT);
    house.app.create_agent(&under_way, agent.clone()).await.unwrap();
    house.delete_account().await.unwrap();
    let refused = house.app.create_agent(&under_way, agent).await;
    assert!(matches!(refused, Err(Refusal::Unauthorized)), "{refused:?}");
    while !house.app.remove_deleted_accounts(500).await.unwrap() {}
    assert_eq!(house.store.deletions(9).await.unwrap().len(), 1, "call counters may still be written");
    house.make.clock.advance(SignedDuration::seconds(46));
    assert!(house.app.remove_deleted_accounts(500).await.unwrap());
    assert_eq!(house.store.deletions(9).await.unwrap(), []);
}
