//! Availability over the in-memory store, with scripted human calendars and a manual clock. These tests need a
//! provider, or hours to pass, so they cannot run against a real service.

use std::sync::Arc;

use kalends_accounts::{Organization, Reach, Scope, Scopes, reach::ScopedAgent};
use kalends_app::{Actor, App, ChangeSet, IfMatch, Refusal, operations, ports::Commit as _};
use kalends_availability::BusySet;
use kalends_bridge::HumanBusy;
use kalends_calendars::{Agent, AsOf, Calendar, Event, EventStatus, HumanAsOf, NewRules, Times, ports::Events as _};
use kalends_kernel::HumanSource;
use kalends_kernel::{OrgId, Revision};
use kalends_testkit::{
    MemoryStore, TestHumans,
    fixtures::{Compose as _, Fixtures, at, rules, span},
};
use kalends_time::{Clock as _, SignedDuration, Span, Timestamp};
use kalends_wire::SlotQuery;
use kalends_wire::{ExplainOf, ExplainQuery, ReasonKind, SlotsRequest};
use serde_json::{Value, json};

use crate::common::{actor, parts};

const FIRST: HumanSource = HumanSource(1);
const SECOND: HumanSource = HumanSource(2);

/// From 09:00 to 13:00 on the first day of the fixtures, which begin at 08:00.
fn morning() -> Span {
    hours("09:00", "13:00")
}

fn hours(start: &str, end: &str) -> Span {
    span(&format!("2026-03-02T{start}:00Z"), &format!("2026-03-02T{end}:00Z"))
}

/// The reach of an agent's key.
fn reach_of(agent: &Agent) -> Reach {
    Reach::Agent(ScopedAgent { id: agent.id, paused: false, scopes: Scopes::NONE })
}

/// A service with one organization.
struct House {
    app: Arc<App>,
    store: MemoryStore,
    humans: TestHumans,
    make: Fixtures,
    org: OrgId,
    organization: Organization,
}

impl House {
    /// Checks that explanations agree with availability, slot by slot.
    async fn explained(&self, agent: &Agent, window: Span, allow_stale: bool) {
        let answer = self.ask(agent, window, allow_stale).await;
        let mut start = window.start();
        while start + SignedDuration::hours(1) <= window.end() {
            let time = Span::new(start, start + SignedDuration::hours(1)).unwrap();
            let of = ExplainOf::Agent(agent.id.to_string());
            let actor = self.actor(Reach::Organization, &operations::EXPLAIN_AVAILABILITY);
            let query = ExplainQuery { of, time, allow_stale };
            let why = self.app.explain_availability(&actor, query).await.unwrap();
            let slot = format!("{}-{}", &start.to_string()[11..16], &time.end().to_string()[11..16]);
            assert_eq!(why.offered, answer.slots.contains(&slot), "{slot} {why:?} {}", answer.json);
            assert_eq!(why.offered, why.reasons.is_empty());
            start = time.end();
        }
    }
}

impl House {
    async fn new() -> Self {
        let (store, make, humans) = (MemoryStore::new(), Fixtures::new(), TestHumans::default());
        let parts = parts(&store, &make);
        let app = App::with_human_calendars(parts, Arc::new(humans.clone()));
        let organization = make.organization();
        let org = organization.id;
        store.commit(ChangeSet::new(org).create(&organization)).await.unwrap();
        Self { app, store, humans, make, org, organization }
    }

    async fn agent(&self) -> Agent {
        let agent = self.make.agent(self.org);
        self.store.commit(ChangeSet::new(self.org).create(&agent)).await.unwrap();
        agent
    }

    async fn calendar(&self, agent: &Agent) -> Calendar {
        let calendar = self.make.calendar(agent);
        self.store.commit(ChangeSet::new(self.org).create(&calendar)).await.unwrap();
        calendar
    }

    async fn event(&self, calendar: &Calendar, span: Span) {
        let event = self.make.event(calendar, span);
        self.store.commit(ChangeSet::new(self.org).create(&event)).await.unwrap();
    }

    /// Sets the buffers of the calendar.
    async fn buffers(&self, calendar: &Calendar, before: u8, after: u8) {
        let says = rules(&format!(
            r#"{{"buffer_before_minutes":{before},"buffer_after_minutes":{after},"working_hours":null,
                "timezone":"UTC","overrides":[]}}"#
        ));
        let new = NewRules { rules: says, zone: None };
        let actor = self.actor(Reach::Organization, &operations::PUT_RULES);
        self.app.put_availability_rules(&actor, &calendar.id.to_string(), new, &IfMatch::Any).await.unwrap();
    }

    fn actor(&self, reach: Reach, operation: &'static operations::Operation) -> Actor {
        actor(&self.make, &self.organization, reach, operation)
    }

    /// Creates events at times that must be free.
    async fn create(&self, calendar: &Calendar, times: &[Span]) -> Result<(), Refusal> {
        let event = |time: &Span| {
            json!({
                "title": "Standup", "start_time": time.start().to_string(), "end_time": time.end().to_string(),
                "if_free": true,
            })
        };
        let events: Vec<Value> = times.iter().map(event).collect();
        let batch: kalends_wire::CreateEventBatch = serde_json::from_value(json!({ "events": events })).unwrap();
        let actor = self.actor(Reach::Organization, &operations::CREATE_EVENT_BATCH);
        self.app.create_events(&actor, &calendar.id.to_string(), batch.parse().unwrap()).await.map(|_| ())
    }

    /// The availability of an agent, in slots of an hour.
    async fn ask(&self, agent: &Agent, window: Span, allow_stale: bool) -> Answered {
        let query = SlotQuery::new(window, "1h".parse().unwrap()).unwrap();
        let slots = SlotsRequest { query, include_busy: true, allow_stale };
        let actor = self.actor(Reach::Organization, &operations::AGENT_AVAILABILITY);
        let id = agent.id.to_string();
        let bytes = self.app.agent_availability(&actor, &id, slots).await.unwrap();
        let json: Value = serde_json::from_slice(&bytes).unwrap();
        Answered { busy: times(&json["per_agent_busy"][&id]), slots: times(&json["slots"]), json }
    }

    /// Lets time pass.
    fn pass(&self, elapsed: SignedDuration) {
        self.make.clock.advance(elapsed);
    }

    /// A human calendar that was read just now, busy at these times.
    fn read(&self, source: HumanSource, revision: i64, busy: &[Span]) {
        self.humans.say(HumanBusy {
            source,
            revision: Revision(revision),
            read_at: Some(self.make.clock.now()),
            covers: span("2026-02-01T00:00:00Z", "2026-05-01T00:00:00Z"),
            spans: busy.iter().copied().collect::<BusySet>(),
            copies: Vec::new(),
        });
    }
}

/// An answer, with intervals as `HH:MM-HH:MM`.
struct Answered {
    json: Value,
    slots: Vec<String>,
    busy: Vec<String>,
}

impl Answered {
    fn state(&self) -> &str {
        self.json["availability_state"].as_str().unwrap()
    }

    fn warnings(&self) -> Vec<&str> {
        self.json["warnings"].as_array().unwrap().iter().map(|warning| warning.as_str().unwrap()).collect()
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn times(intervals: &Value) -> Vec<String> {
    let time = |value: &Value| value.as_str().unwrap()[11..16].to_owned();
    let shown = |interval: &Value| format!("{}-{}", time(&interval["start"]), time(&interval["end"]));
    intervals.as_array().unwrap().iter().map(shown).collect()
}

#[tokio::test]
async fn without_human_calendars_the_answer_is_complete() {
    let house = House::new().await;
    let agent = house.agent().await;
    house.event(&house.calendar(&agent).await, hours("10:00", "11:00")).await;
    let answer = house.ask(&agent, morning(), false).await;
    assert_eq!((answer.state(), answer.warnings()), ("complete", vec![]));
    assert_eq!(answer.slots, ["09:00-10:00", "11:00-12:00", "12:00-13:00"]);
    assert_eq!(answer.busy, ["10:00-11:00"]);
}

#[tokio::test]
async fn an_answer_ages_with_its_human_calendars() {
    let house = House::new().await;
    let agent = house.agent().await;
    let calendar = house.calendar(&agent).await;
    house.event(&calendar, hours("12:00", "13:00")).await;
    house.humans.connect(calendar.id, FIRST);
    house.read(FIRST, 1, &[hours("10:00", "10:30")]);

    let (both, all) = (vec!["09:00-10:00", "11:00-12:00"], vec!["09:00-10:00", "10:00-11:00", "11:00-12:00"]);
    for (passed, state, slots, allowed) in [
        (SignedDuration::ZERO, "complete", &both, &both),
        (SignedDuration::hours(1), "complete", &both, &both),
        (SignedDuration::micros(1), "stale", &vec![], &both),
        (SignedDuration::micros(SignedDuration::hours(23).as_micros() - 1), "stale", &vec![], &both),
        (SignedDuration::micros(1), "unavailable", &vec![], &all),
    ] {
        house.pass(passed);
        let usable = state != "unavailable";
        let busy = if usable { vec!["10:00-10:30", "12:00-13:00"] } else { vec!["12:00-13:00"] };
        // Twice: the second answer comes from the cache.
        for _ in 0..2 {
            for (allow_stale, slots) in [(false, slots), (true, allowed)] {
                let answer = house.ask(&agent, morning(), allow_stale).await;
                assert_eq!((answer.state(), answer.warnings().len()), (state, usize::from(state != "complete")));
                assert_eq!((&answer.slots, &answer.busy), (&owned(slots), &owned(&busy)), "{}", answer.json);
                house.explained(&agent, morning(), allow_stale).await;
            }
        }
    }
    // A refresh returns the same busy times; only their age changes.
    house.read(FIRST, 1, &[hours("10:00", "10:30")]);
    let answer = house.ask(&agent, morning(), false).await;
    assert_eq!((answer.state(), answer.slots.len(), answer.warnings().len()), ("complete", 2, 0));
    // Another refresh returns different ones.
    house.read(FIRST, 2, &[hours("09:00", "09:01")]);
    assert_eq!(house.ask(&agent, morning(), false).await.slots, ["10:00-11:00", "11:00-12:00"]);
    house.humans.disconnect(FIRST);
    let answer = house.ask(&agent, morning(), false).await;
    assert_eq!((answer.state(), answer.slots.len()), ("complete", 3));
}

/// For an agent's key that asks about others, an answer is the same whether or not it allows old times, and says nothing
/// about human calendars.
#[tokio::test]
async fn an_answer_about_others_does_not_name_human_calendars() {
    let house = House::new().await;
    let (own, other) = (house.agent().await, house.agent().await);
    let calendar = house.calendar(&other).await;
    house.humans.connect(calendar.id, FIRST);
    house.read(FIRST, 1, &[hours("10:00", "10:30")]);
    let scopes = Scopes::NONE.with(Scope::FreebusyOrg);
    let reach = Reach::Agent(ScopedAgent { id: own.id, paused: false, scopes });
    let id = other.id.to_string();
    let free = vec!["09:00-10:00", "11:00-12:00", "12:00-13:00"];
    // Time that is neither offered nor busy would show that the data of a human calendar is old.
    for (passed, slots, busy) in [
        (SignedDuration::ZERO, free, ["10:00-10:30"]),
        (SignedDuration::hours(2), vec![], ["09:00-13:00"]),
        (SignedDuration::days(2), vec![], ["09:00-13:00"]),
    ] {
        house.pass(passed);
        for allow_stale in [false, true] {
            // The organization asks the same. Its answer is cached, and is not this one.
            house.ask(&other, morning(), allow_stale).await;
            let query = SlotQuery::new(morning(), "1h".parse().unwrap()).unwrap();
            let asked = SlotsRequest { query, include_busy: true, allow_stale };
            let actor = house.actor(reach, &operations::AGENT_AVAILABILITY);
            let bytes = house.app.agent_availability(&actor, &id, asked).await.unwrap();
            let answer: Value = serde_json::from_slice(&bytes).unwrap();
            assert_eq!((&answer["availability_state"], &answer["warnings"]), (&json!("complete"), &json!([])));
            assert_eq!(times(&answer["slots"]), owned(&slots));
            assert_eq!(times(&answer["per_agent_busy"][&id]), owned(&busy));
        }
    }
}

#[tokio::test]
async fn a_source_of_several_calendars_is_counted_once() {
    let house = House::new().await;
    let (agent, other) = (house.agent().await, house.agent().await);
    let (first, second) = (house.calendar(&agent).await, house.calendar(&agent).await);
    house.calendar(&other).await;
    for calendar in [&first, &second] {
        house.humans.connect(calendar.id, FIRST);
    }
    house.humans.connect(second.id, SECOND);
    house.read(FIRST, 1, &[]);
    house.pass(SignedDuration::hours(2));
    house.read(SECOND, 1, &[hours("09:00", "10:00")]);

    let answer = house.ask(&agent, morning(), true).await;
    assert_eq!(answer.state(), "stale");
    let expected =
        "1 connected human calendar has not been read for more than 1 hour: the last known busy times are used";
    assert_eq!(answer.warnings(), [expected]);
    assert_eq!(answer.slots, ["10:00-11:00", "11:00-12:00", "12:00-13:00"]);
    assert_eq!(house.ask(&agent, morning(), false).await.slots.len(), 0);
    // An agent whose calendars it does not count for is not affected.
    let answer = house.ask(&other, morning(), false).await;
    assert_eq!((answer.state(), answer.slots.len()), ("complete", 4));

    house.humans.say(HumanBusy {
        source: FIRST,
        revision: Revision(0),
        read_at: None,
        covers: morning(),
        spans: BusySet::EMPTY,
        copies: Vec::new(),
    });
    let answer = house.ask(&agent, morning(), true).await;
    assert_eq!((answer.state(), answer.slots.len()), ("partial", 3));
    assert!(answer.warnings()[0].starts_with("1 connected human calendar has not been read yet"), "{}", answer.json);
}

#[tokio::test]
async fn a_human_calendar_counts_for_an_agent_without_a_calendar() {
    let house = House::new().await;
    let agent = house.agent().await;
    house.humans.connect(agent.id, FIRST);
    house.read(FIRST, 1, &[hours("10:00", "10:30")]);
    for allow_stale in [false, true] {
        let answer = house.ask(&agent, morning(), allow_stale).await;
        assert_eq!(answer.slots, ["09:00-10:00", "11:00-12:00", "12:00-13:00"]);
        assert_eq!((answer.state(), &answer.busy), ("complete", &owned(&["10:00-10:30"])));
        house.explained(&agent, morning(), allow_stale).await;
        let as_of = AsOf::parse("if_as_of", answer.json["as_of"].as_str().unwrap()).unwrap();
        assert_eq!(as_of.humans, [HumanAsOf { of: agent.id.into(), source: FIRST, revision: Revision(1) }]);
    }
    // New busy times appear, and become stale like any others.
    house.read(FIRST, 2, &[hours("12:00", "13:00")]);
    assert_eq!(house.ask(&agent, morning(), false).await.slots, ["09:00-10:00", "10:00-11:00", "11:00-12:00"]);
    house.pass(SignedDuration::hours(2));
    let answer = house.ask(&agent, morning(), false).await;
    assert_eq!((answer.state(), answer.slots.len(), answer.warnings().len()), ("stale", 0, 1));
    house.explained(&agent, morning(), false).await;
    house.humans.disconnect(FIRST);
    let answer = house.ask(&agent, morning(), false).await;
    assert_eq!((answer.state(), answer.slots.len()), ("complete", 4));
}

#[tokio::test]
async fn human_busy_times_get_the_buffers_of_the_calendar() {
    let house = House::new().await;
    let agent = house.agent().await;
    let calendar = house.calendar(&agent).await;
    house.humans.connect(calendar.id, FIRST);
    // One before the range, one inside, one after it: both buffers reach into the range.
    house.read(FIRST, 1, &[hours("08:00", "08:50"), hours("11:15", "11:45"), hours("13:10", "14:00")]);
    assert_eq!(house.ask(&agent, morning(), false).await.slots, ["09:00-10:00", "10:00-11:00", "12:00-13:00"]);
    house.buffers(&calendar, 15, 20).await;
    let answer = house.ask(&agent, morning(), false).await;
    assert_eq!(answer.slots, ["10:00-11:00"], "08:50 + 20 > 09:00; 11:15 - 15 = 11:00; 11:45 + 20 > 12:00");
    assert_eq!(answer.busy, ["11:15-11:45"], "busy times are returned without buffers");
    assert_eq!(answer.state(), "complete");
    house.explained(&agent, morning(), false).await;
    let actor = house.actor(reach_of(&agent), &operations::EXPLAIN_AVAILABILITY);
    let of = ExplainOf::Calendar(calendar.id.to_string());
    let query = ExplainQuery { of, time: hours("11:30", "12:30"), allow_stale: false };
    let why = house.app.explain_availability(&actor, query).await.unwrap();
    let reasons: Vec<_> = why.reasons.iter().map(|reason| (reason.reason, reason.start)).collect();
    let (busy, buffer) = (hours("11:15", "11:45"), hours("11:45", "12:05"));
    assert_eq!(reasons, [(ReasonKind::HumanBusy, busy.start()), (ReasonKind::Buffer, buffer.start())]);

    // The known span must cover the buffers too.
    let covers = hours("08:45", "20:00");
    let read_at = Some(house.make.clock.now());
    house.humans.say(HumanBusy {
        source: FIRST,
        revision: Revision(2),
        read_at,
        covers,
        spans: BusySet::EMPTY,
        copies: Vec::new(),
    });
    let answer = house.ask(&agent, morning(), false).await;
    assert_eq!(answer.state(), "partial");
    assert_eq!(answer.slots, ["10:00-11:00", "11:00-12:00", "12:00-13:00"]);
    assert_eq!(house.ask(&agent, morning(), true).await.slots.len(), 4);
}

#[tokio::test]
async fn an_agent_key_reaches_only_the_rules_and_time_of_its_agent() {
    let house = House::new().await;
    let (own, other) = (house.agent().await, house.agent().await);
    let (owned, foreign) = (house.calendar(&own).await, house.calendar(&other).await);
    let (mine, theirs) = (owned.id.to_string(), foreign.id.to_string());
    let shared = house.make.shared_calendar(house.org);
    house.store.commit(ChangeSet::new(house.org).create(&shared)).await.unwrap();
    let reach = reach_of(&own);
    let new = || NewRules { rules: Default::default(), zone: None };

    let actor = house.actor(reach, &operations::PUT_RULES);
    house.app.put_availability_rules(&actor, &mine, new(), &IfMatch::Any).await.unwrap();
    assert!(house.app.availability_rules(&actor, &mine).await.is_ok());
    for id in [&theirs, &shared.id.to_string()] {
        let put = house.app.put_availability_rules(&actor, id, new(), &IfMatch::Any).await;
        assert!(matches!(put, Err(Refusal::OutOfReach)), "{put:?}");
        let read = house.app.availability_rules(&actor, id).await;
        assert!(matches!(read, Err(Refusal::OutOfReach)), "{read:?}");
        let deleted = house.app.delete_availability_rules(&actor, id, &IfMatch::Any).await;
        assert!(matches!(deleted, Err(Refusal::OutOfReach)), "{deleted:?}");
    }
    let listed = [&owned, &foreign, &shared].map(|calendar| (calendar.id, calendar.agent));
    let read = house.app.rules_of_calendars(&actor, &listed[..1]).await.unwrap();
    assert_eq!(read.into_keys().collect::<Vec<_>>(), [owned.id]);
    for places in [0..2, 2..3] {
        let read = house.app.rules_of_calendars(&actor, &listed[places]).await;
        assert!(matches!(read, Err(Refusal::OutOfReach)), "{read:?}");
    }
    let query = |of| ExplainQuery { of, time: morning(), allow_stale: false };
    let actor = house.actor(reach, &operations::EXPLAIN_AVAILABILITY);
    assert!(house.app.explain_availability(&actor, query(ExplainOf::Agent(own.id.to_string()))).await.is_ok());
    for of in [
        ExplainOf::Agent(other.id.to_string()),
        ExplainOf::Calendar(theirs),
        ExplainOf::Calendar(shared.id.to_string()),
    ] {
        let outcome = house.app.explain_availability(&actor, query(of)).await;
        assert!(matches!(outcome, Err(Refusal::OutOfReach)), "{outcome:?}");
    }
    let deleted = house.actor(reach, &operations::DELETE_RULES);
    house.app.delete_availability_rules(&deleted, &mine, &IfMatch::Any).await.unwrap();
}

#[tokio::test]
async fn rules_that_must_be_new_replace_none() {
    let house = House::new().await;
    let id = house.calendar(&house.agent().await).await.id.to_string();
    let actor = house.actor(Reach::Organization, &operations::PUT_RULES);
    let new = || NewRules { rules: Default::default(), zone: None };
    house.app.put_availability_rules(&actor, &id, new(), &IfMatch::Absent).await.unwrap();
    let second = house.app.put_availability_rules(&actor, &id, new(), &IfMatch::Absent).await;
    assert!(matches!(second, Err(Refusal::Stale { .. })), "{second:?}");
    let deleted = house.app.delete_availability_rules(&actor, &id, &IfMatch::Absent).await;
    assert!(matches!(deleted, Err(Refusal::Stale { .. })), "{deleted:?}");
    let rules = house.app.availability_rules(&actor, &id).await.unwrap();
    let version = IfMatch::OneOf(vec![rules.version]);
    house.app.put_availability_rules(&actor, &id, new(), &version).await.unwrap();
}

#[tokio::test]
async fn changes_to_rules_are_audited() {
    use kalends_testkit::Inspect as _;
    let house = House::new().await;
    let agent = house.agent().await;
    let calendar = house.calendar(&agent).await;
    let id = calendar.id.to_string();
    house.buffers(&calendar, 1, 2).await;
    house.buffers(&calendar, 2, 3).await;
    let actor = house.actor(Reach::Organization, &operations::DELETE_RULES);
    let rules = house.app.availability_rules(&actor, &id).await.unwrap();
    house.app.delete_availability_rules(&actor, &id, &IfMatch::Any).await.unwrap();
    let entries = house.store.audit_entries(house.org).await;
    let mut actions: Vec<_> = entries.iter().map(|entry| (entry.action.as_str(), entry.status)).collect();
    // All in one millisecond: their identifiers do not show which came first.
    actions.sort_unstable();
    let (update, delete) = ("availability_rules.update", "availability_rules.delete");
    assert_eq!(actions, [(delete, 204), (update, 200), (update, 200)]);
    for entry in entries {
        assert_eq!((entry.resource, entry.agent), (rules.id.to_string(), Some(agent.id)));
        assert_eq!(entry.path, "/v1/calendars/{id}/availability-rules");
    }
    assert_eq!(house.store.messages(house.org).await, [], "rules send no messages");
}

#[tokio::test]
async fn a_range_far_in_the_future_is_correct() {
    let house = House::new().await;
    let agent = house.agent().await;
    let calendar = house.calendar(&agent).await;
    house.buffers(&calendar, 120, 120).await;
    // The window begins at midnight: the buffer reaches in from the day before.
    let late = Span::new(at("2027-08-01T22:00:00Z"), at("2027-08-01T23:30:00Z")).unwrap();
    house.event(&calendar, late).await;
    let window = Span::new(at("2027-08-02T00:00:00Z"), at("2027-08-02T04:00:00Z")).unwrap();
    for _ in 0..2 {
        let answer = house.ask(&agent, window, false).await;
        assert_eq!((answer.slots, answer.busy), (vec!["02:00-03:00".to_owned(), "03:00-04:00".into()], vec![]));
    }
    assert_eq!(house.ask(&agent, window, false).await.json["warnings"], json!([]));
}

#[tokio::test]
async fn the_earliest_and_latest_times_have_availability() {
    let house = House::new().await;
    let agent = house.agent().await;
    let calendar = house.calendar(&agent).await;
    house.humans.connect(calendar.id, FIRST);
    house.read(FIRST, 1, &[]);
    let actor = house.actor(Reach::Organization, &operations::PUT_RULES);
    let day = r#"{"start":"00:00","end":"24:00"}"#;
    let says = rules(&format!(
        r#"{{"buffer_before_minutes":120,"buffer_after_minutes":120,"timezone":"Pacific/Auckland","overrides":[],
            "working_hours":{{"mon":{day},"tue":{day},"wed":{day},"thu":{day},"fri":{day},"sat":{day},"sun":{day}}}}}"#
    ));
    let new = NewRules { rules: says, zone: Some("Pacific/Auckland".parse().unwrap()) };
    house.app.put_availability_rules(&actor, &calendar.id.to_string(), new, &IfMatch::Any).await.unwrap();
    let first = Span::new(Timestamp::EPOCH, Timestamp::EPOCH + SignedDuration::hours(5)).unwrap();
    let last = Span::new(at("2099-12-31T19:00:00Z"), Timestamp::HORIZON).unwrap();
    for window in [first, last] {
        for _ in 0..2 {
            let answer = house.ask(&agent, window, true).await;
            assert_eq!(answer.slots.len(), 5, "{}", answer.json);
            assert_eq!(house.ask(&agent, window, false).await.slots.len(), 0, "unknown time is not offered");
        }
        house.explained(&agent, window, true).await;
        house.explained(&agent, window, false).await;
    }
}

#[tokio::test]
async fn series_block_in_their_current_state_in_any_window() {
    let house = House::new().await;
    let agent = house.agent().await;
    let calendar = house.calendar(&agent).await;
    let day = |span: Span, days| {
        Span::new(span.start() + SignedDuration::days(days), span.end() + SignedDuration::days(days)).unwrap()
    };
    let daily = house.make.series(&calendar, hours("09:00", "10:00"), "FREQ=DAILY");
    // It begins long after the span that the first queries read.
    let later = house.make.series(&calendar, day(hours("11:00", "12:00"), 200), "FREQ=DAILY;COUNT=9");
    house.store.commit(ChangeSet::new(house.org).create(&daily).create(&later)).await.unwrap();
    let busy = async |days| house.ask(&agent, day(morning(), days), false).await.busy;
    for (days, expected) in [(1, "09:00-10:00"), (60, "09:00-10:00"), (200, "09:00-10:00 11:00-12:00")] {
        assert_eq!(busy(days).await.join(" "), expected, "{days}");
    }
    assert_eq!((busy(209).await, busy(5).await), (owned(&["09:00-10:00"]), owned(&["09:00-10:00"])));

    let start = daily.times.span.start() + SignedDuration::days(5);
    let without = daily.without_occurrence(start, house.make.tick()).unwrap();
    house.store.commit(ChangeSet::new(house.org).update(&without, daily.version)).await.unwrap();
    assert_eq!((busy(5).await, busy(6).await), (owned(&[]), owned(&["09:00-10:00"])));
    let shifted = day(hours("12:00", "13:00"), 0);
    let moved =
        Event { times: Times { span: shifted, all_day: false }, version: without.version.next(), ..without.clone() };
    house.store.commit(ChangeSet::new(house.org).update(&moved, without.version)).await.unwrap();
    assert_eq!(busy(6).await, ["12:00-13:00"]);
}

#[tokio::test]
async fn an_answer_names_the_revisions_that_it_is_based_on() {
    let house = House::new().await;
    let agent = house.agent().await;
    let (one, other) = (house.calendar(&agent).await, house.calendar(&agent).await);
    let window = span("2026-03-02T08:00:00Z", "2026-03-02T12:00:00Z");
    house.event(&one, span("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z")).await;
    let human = HumanSource(9);
    house.read(human, 5, &[]);
    house.humans.connect(other.id, human);
    for answer in [house.ask(&agent, window, false).await, house.ask(&agent, window, true).await] {
        let as_of = AsOf::parse("if_as_of", answer.json["as_of"].as_str().unwrap()).unwrap();
        assert_eq!(as_of.calendars, [(one.id, Revision(1)), (other.id, Revision(0))]);
        assert_eq!(as_of.humans, [HumanAsOf { of: other.id.into(), source: human, revision: Revision(5) }]);
    }
    house.read(human, 6, &[]);
    house.buffers(&one, 5, 5).await;
    let answer = house.ask(&agent, window, false).await;
    let as_of = AsOf::parse("if_as_of", answer.json["as_of"].as_str().unwrap()).unwrap();
    assert_eq!(as_of.calendars[0], (one.id, Revision(2)));
    assert_eq!(as_of.humans[0].revision, Revision(6));
}

#[tokio::test]
async fn holds_respect_human_calendars_and_their_changes() {
    let house = House::new().await;
    let agent = house.agent().await;
    let calendar = house.calendar(&agent).await;
    house.buffers(&calendar, 0, 30).await;
    house.read(FIRST, 1, &[hours("09:00", "09:30")]);
    house.humans.connect(calendar.id, FIRST);
    let hold = async |start: &str, end: &str, if_as_of: Option<&Value>| {
        let body = json!({
            "title": "Maybe", "start_time": hours(start, end).start().to_string(),
            "end_time": hours(start, end).end().to_string(),
            "hold_expires_at": (house.make.clock.now() + SignedDuration::minutes(5)).to_string(), "if_as_of": if_as_of,
        });
        let wanted: kalends_wire::CreateEvent = serde_json::from_value(body).unwrap();
        let actor = house.actor(Reach::Organization, &operations::CREATE_EVENT);
        house.app.create_event(&actor, &calendar.id.to_string(), wanted.parse().unwrap()).await
    };
    let Err(Refusal::SlotTaken(obstacles)) = hold("09:15", "10:00", None).await else { panic!("a human is busy") };
    let kinds: Vec<_> = obstacles.conflicts.iter().map(|(_, block)| block.kind).collect();
    assert_eq!(kinds, [kalends_calendars::BlockKind::HumanBusy]);
    assert_eq!(obstacles.nearest_free.first(), Some(&hours("10:00", "10:45")));
    // Buffers restrict what is offered, not what may be held.
    hold("09:30", "10:00", None).await.unwrap();

    let seen = house.ask(&agent, morning(), false).await.json["as_of"].clone();
    house.read(FIRST, 2, &[hours("09:00", "09:30"), hours("10:40", "10:50")]);
    let refused = hold("11:00", "11:30", Some(&seen)).await;
    assert!(matches!(refused, Err(Refusal::Outdated(_))), "{refused:?}");
    hold("11:30", "12:00", Some(&seen)).await.unwrap();
    let current = house.ask(&agent, morning(), false).await.json["as_of"].clone();
    hold("11:00", "11:20", Some(&current)).await.unwrap();
}

#[tokio::test]
async fn an_event_that_must_be_free_respects_human_calendars() {
    let house = House::new().await;
    let agent = house.agent().await;
    let calendar = house.calendar(&agent).await;
    house.read(FIRST, 1, &[hours("09:00", "09:30")]);
    house.humans.connect(calendar.id, FIRST);
    let Err(Refusal::SlotTaken(obstacles)) = house.create(&calendar, &[hours("09:15", "10:00")]).await else {
        panic!("a human is busy")
    };
    let kinds: Vec<_> = obstacles.conflicts.iter().map(|(_, block)| block.kind).collect();
    assert_eq!(kinds, [kalends_calendars::BlockKind::HumanBusy]);
    house.create(&calendar, &[hours("09:30", "10:00")]).await.unwrap();
}

/// The end of an expired hold is written once, even if several events of a batch find it.
#[tokio::test]
async fn a_batch_ends_an_expired_hold_once() {
    let house = House::new().await;
    let agent = house.agent().await;
    let calendar = house.calendar(&agent).await;
    let hold = house.make.hold(&calendar, hours("09:00", "12:00"), SignedDuration::minutes(2));
    house.store.commit(ChangeSet::new(house.org).create(&hold)).await.unwrap();
    let times = [hours("09:00", "10:00"), hours("10:00", "11:00")];
    let taken = house.create(&calendar, &times).await;
    assert!(matches!(&taken, Err(Refusal::SlotTaken(found)) if found.item == Some(0)), "{taken:?}");
    house.make.clock.set(hold.hold.unwrap().expires_at);
    house.create(&calendar, &times).await.unwrap();
    let ended = house.store.find_event(house.org, hold.id).await.unwrap().unwrap().event;
    assert_eq!((ended.status, ended.version), (EventStatus::Cancelled, hold.version.next()));
}

#[tokio::test]
async fn held_time_is_free_again_when_the_hold_expires() {
    let house = House::new().await;
    let agent = house.agent().await;
    let calendar = house.calendar(&agent).await;
    let held = [(hours("09:00", "10:00"), 2), (hours("11:00", "12:00"), 4)];
    let mut expiries = Vec::new();
    for (span, minutes) in held {
        let hold = house.make.hold(&calendar, span, SignedDuration::minutes(minutes));
        expiries.push(hold.hold.unwrap().expires_at);
        house.store.commit(ChangeSet::new(house.org).create(&hold)).await.unwrap();
    }
    let steps = [
        (expiries[0] - SignedDuration::micros(1), "09:00-10:00 11:00-12:00"),
        (expiries[0], "11:00-12:00"),
        (expiries[1] - SignedDuration::micros(1), "11:00-12:00"),
        (expiries[1], ""),
    ];
    for (now, expected) in steps {
        house.make.clock.set(now);
        // The second and third answers may come from the cache.
        for _ in 0..3 {
            assert_eq!(house.ask(&agent, morning(), false).await.busy.join(" "), expected, "{now}");
        }
    }
}
