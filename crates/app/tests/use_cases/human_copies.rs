//! Copies that Kalends published to a human calendar: they do not block the agent whose events they are.

use std::sync::Arc;

use kalends_accounts::{Organization, Reach};
use kalends_app::{Actor, App, ChangeSet, Refusal, operations, ports::Commit as _};
use kalends_availability::BusySet;
use kalends_bridge::HumanBusy;
use kalends_calendars::{Agent, Calendar};
use kalends_kernel::{CalendarId, HumanSource, Revision};
use kalends_testkit::{
    MemoryStore, TestHumans,
    fixtures::{Compose as _, Fixtures, span},
};
use kalends_time::{Clock as _, Span};
use kalends_wire::{ExplainOf, ExplainQuery, SlotQuery, SlotsRequest};
use serde_json::{Value, json};

use crate::common::{actor, parts};

const HUMAN: HumanSource = HumanSource(1);

fn hours(start: &str, end: &str) -> Span {
    span(&format!("2026-03-02T{start}:00Z"), &format!("2026-03-02T{end}:00Z"))
}

/// The range of all queries, on the first day of the fixtures, which begin at 08:00.
fn morning() -> Span {
    hours("09:00", "13:00")
}

/// A service with one organization and one human calendar.
struct House {
    app: Arc<App>,
    store: MemoryStore,
    humans: TestHumans,
    make: Fixtures,
    organization: Organization,
}

impl House {
    async fn new() -> Self {
        let (store, make, humans) = (MemoryStore::new(), Fixtures::new(), TestHumans::default());
        let app = App::with_human_calendars(parts(&store, &make), Arc::new(humans.clone()));
        let organization = make.organization();
        store.commit(ChangeSet::new(organization.id).create(&organization)).await.unwrap();
        Self { app, store, humans, make, organization }
    }

    async fn agent(&self) -> Agent {
        let agent = self.make.agent(self.organization.id);
        self.store.commit(ChangeSet::new(self.organization.id).create(&agent)).await.unwrap();
        agent
    }

    /// A calendar for which the human calendar counts.
    async fn calendar(&self, agent: &Agent) -> Calendar {
        let calendar = self.make.calendar(agent);
        self.store.commit(ChangeSet::new(self.organization.id).create(&calendar)).await.unwrap();
        self.humans.connect(calendar.id, HUMAN);
        calendar
    }

    fn actor(&self, operation: &'static operations::Operation) -> Actor {
        actor(&self.make, &self.organization, Reach::Organization, operation)
    }

    /// The human calendar was read just now: busy at these times, with these copies.
    fn read(&self, revision: i64, busy: &[Span], copies: &[(CalendarId, Span)]) {
        self.humans.say(HumanBusy {
            source: HUMAN,
            revision: Revision(revision),
            read_at: Some(self.make.clock.now()),
            covers: span("2026-02-01T00:00:00Z", "2026-05-01T00:00:00Z"),
            spans: busy.iter().copied().collect::<BusySet>(),
            copies: copies.to_vec(),
        });
    }

    fn slots() -> SlotsRequest {
        let query = SlotQuery::new(morning(), "1h".parse().unwrap()).unwrap();
        SlotsRequest { query, include_busy: true, allow_stale: false }
    }

    /// The slots of an agent. Each of them is explained as offered, and no other.
    async fn offered(&self, agent: &Agent) -> Vec<String> {
        let (id, actor) = (agent.id.to_string(), self.actor(&operations::AGENT_AVAILABILITY));
        let first = self.app.agent_availability(&actor, &id, Self::slots()).await.unwrap();
        // The second answer comes from the cache.
        assert_eq!(self.app.agent_availability(&actor, &id, Self::slots()).await.unwrap(), first);
        let slots = starts(&first);
        for (start, end) in [("09:00", "10:00"), ("10:00", "11:00"), ("11:00", "12:00"), ("12:00", "13:00")] {
            let of = ExplainOf::Agent(id.clone());
            let query = ExplainQuery { of, time: hours(start, end), allow_stale: false };
            let actor = self.actor(&operations::EXPLAIN_AVAILABILITY);
            let why = self.app.explain_availability(&actor, query).await.unwrap();
            assert_eq!(why.offered, slots.iter().any(|slot| slot == start), "{start} {why:?}");
        }
        slots
    }

    /// The slots of one calendar.
    async fn offered_on(&self, calendar: &Calendar) -> Vec<String> {
        let actor = self.actor(&operations::CALENDAR_AVAILABILITY);
        starts(&self.app.calendar_availability(&actor, &calendar.id.to_string(), Self::slots()).await.unwrap())
    }

    /// Creates an event at a time that must be free.
    async fn create(&self, calendar: &Calendar, time: Span) -> Result<(), Refusal> {
        let event = json!({
            "title": "Standup", "start_time": time.start().to_string(), "end_time": time.end().to_string(),
            "if_free": true,
        });
        let batch: kalends_wire::CreateEventBatch = serde_json::from_value(json!({ "events": [event] })).unwrap();
        let actor = self.actor(&operations::CREATE_EVENT_BATCH);
        self.app.create_events(&actor, &calendar.id.to_string(), batch.parse().unwrap()).await.map(|_| ())
    }
}

/// The starts of the slots of an answer, as `HH:MM`.
fn starts(answer: &[u8]) -> Vec<String> {
    let answer: Value = serde_json::from_slice(answer).unwrap();
    let slots = answer["slots"].as_array().unwrap();
    slots.iter().map(|slot| slot["start"].as_str().unwrap()[11..16].to_owned()).collect()
}

#[tokio::test]
async fn copies_block_every_agent_but_their_own() {
    let house = House::new().await;
    let (ada, bob) = (house.agent().await, house.agent().await);
    let (hers, his) = (house.calendar(&ada).await, house.calendar(&bob).await);
    let copies = [(hers.id, hours("10:00", "11:00")), (his.id, hours("12:00", "13:00"))];
    house.read(1, &[hours("09:00", "09:30")], &copies);
    for _ in 0..2 {
        assert_eq!(house.offered(&ada).await, ["10:00", "11:00"]);
        assert_eq!(house.offered(&bob).await, ["11:00", "12:00"]);
    }
    let actor = house.actor(&operations::AGENT_AVAILABILITY);
    let known = house.app.human_busy_of_calendars(&actor, &[hers.id, his.id], morning()).await.unwrap();
    assert!(known.is_complete);
    let mut busy = known.busy;
    busy.sort_unstable();
    let both = hours("09:00", "09:30");
    let mut expected = vec![(hers.id, both), (hers.id, copies[1].1), (his.id, both), (his.id, copies[0].1)];
    expected.sort_unstable();
    assert_eq!(busy, expected);
    // The copies move, and nothing else changes.
    house.read(2, &[hours("09:00", "09:30")], &[(his.id, hours("10:00", "11:00"))]);
    assert_eq!(house.offered(&ada).await, ["11:00", "12:00"]);
    assert_eq!(house.offered(&bob).await, ["10:00", "11:00", "12:00"]);
}

#[tokio::test]
async fn the_calendars_of_an_agent_belong_together_in_a_query_about_the_agent() {
    let house = House::new().await;
    let agent = house.agent().await;
    let (first, second) = (house.calendar(&agent).await, house.calendar(&agent).await);
    house.read(1, &[], &[(first.id, hours("09:00", "10:00")), (second.id, hours("10:00", "11:00"))]);
    assert_eq!(house.offered(&agent).await, ["09:00", "10:00", "11:00", "12:00"]);
    assert_eq!(house.offered_on(&first).await, ["09:00", "11:00", "12:00"]);
    assert_eq!(house.offered_on(&second).await, ["10:00", "11:00", "12:00"]);
}

#[tokio::test]
async fn copies_block_an_agent_without_a_calendar() {
    let house = House::new().await;
    let (owner, other) = (house.agent().await, house.agent().await);
    let calendar = house.calendar(&owner).await;
    house.humans.connect(other.id, HUMAN);
    house.read(1, &[], &[(calendar.id, hours("10:00", "11:00"))]);
    assert_eq!(house.offered(&other).await, ["09:00", "11:00", "12:00"]);
    assert_eq!(house.offered(&owner).await.len(), 4);
}

#[tokio::test]
async fn an_event_may_be_created_at_the_time_of_an_own_copy() {
    let house = House::new().await;
    let (ada, bob) = (house.agent().await, house.agent().await);
    let (hers, his) = (house.calendar(&ada).await, house.calendar(&bob).await);
    house.read(1, &[], &[(hers.id, hours("10:00", "11:00"))]);
    let refused = house.create(&his, hours("10:00", "11:00")).await;
    assert!(matches!(refused, Err(Refusal::SlotTaken(_))), "{refused:?}");
    house.create(&hers, hours("10:00", "11:00")).await.unwrap();
    // Her other calendars are hers too.
    let another = house.calendar(&ada).await;
    house.create(&another, hours("10:00", "11:00")).await.unwrap();
}
