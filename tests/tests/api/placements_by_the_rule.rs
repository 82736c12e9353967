//! Proposals that need a number of acceptances (`min_accepts`), and proposals that place an event for everybody
//! (`placement`). Written without knowledge of the code.

use crate::on_both;
use std::collections::BTreeSet;

use chrono::TimeDelta;
use kalends_e2e::{
    Answer, Client, Database,
    Database::{Postgres, Sqlite},
    Server, at, iso,
};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    fixtures::{agent_with_calendar, calendar_of, event, event_body, has_exactly, now, shared_calendar, wait_until},
    holds::{hold_body, in_seconds},
    proposal_races::{Racers, at_once, hour, slot_of},
    proposals::{
        PROPOSALS, Team, accept, cancel, counter, decline, elsewhere, events_of, get_proposal, key_of, resolve,
        respond, slot, slot_id, summary, time, weighted,
    },
    webhooks::{hook, with_receiver},
};

/// A team whose participants have one calendar each.
struct Crew {
    team: Team,
    calendars: Vec<String>,
}

impl Crew {
    /// An organizer with a calendar, and this many participants with one calendar each.
    async fn of(api: &Client, count: usize) -> Self {
        let team = Team::of(api, count).await;
        let mut calendars = Vec::new();
        for agent in &team.participants {
            calendars.push(calendar_of(api, agent).await);
        }
        Self { team, calendars }
    }

    /// The first participants.
    fn agents<const COUNT: usize>(&self) -> [&str; COUNT] {
        std::array::from_fn(|index| self.team.participants[index].as_str())
    }

    /// The calendars of the first participants.
    fn homes<const COUNT: usize>(&self) -> [&str; COUNT] {
        std::array::from_fn(|index| self.calendars[index].as_str())
    }

    /// A new proposal that places an event for everybody.
    async fn propose(&self, api: &Client, slots: &[Value], more: Value) -> Answer {
        self.team.propose(api, slots, everybody(more)).await
    }

    /// The entry of the organizer's event on the calendar of the proposal.
    fn organizer(&self, clock: &str) -> String {
        entry(&self.team.organizer, &self.team.calendar, "confirmed", clock)
    }
}

/// These fields of a proposal, which places an event for everybody.
fn everybody(mut more: Value) -> Value {
    more["placement"] = json!("all");
    more
}

/// The response, with the calendar for the event.
fn on(mut response: Value, calendar: &str) -> Value {
    response["calendar_id"] = json!(calendar);
    response
}

/// An event as `placed` describes it.
fn entry(agent: &str, calendar: &str, status: &str, clock: &str) -> String {
    format!("{agent} {calendar} {status} {clock}")
}

/// The events that a proposal has created, in the order in which it shows them. Each of them must be as the proposal
/// says, and the organizer's must be the first.
async fn placed(api: &Client, id: &str) -> Vec<String> {
    let full = get_proposal(api, id).await;
    let created = full["created_events"].as_array().unwrap_or_else(|| panic!("{}", full.describe()));
    let slots = full["slots"].as_array().unwrap();
    let chosen = slots.iter().find(|slot| slot["id"] == full["resolved_slot_id"]).cloned().unwrap_or_default();
    match created.first() {
        Some(first) => {
            let expected = json!({ "agent_id": full["organizer_agent_id"], "event_id": full["created_event_id"] });
            assert_eq!((first, &full["status"]), (&expected, &json!("confirmed")), "{}", full.describe());
        }
        None => assert_eq!(full["created_event_id"], Value::Null, "{}", full.describe()),
    }
    let mut entries = Vec::new();
    for one in created {
        has_exactly(one, &["agent_id", "event_id"]);
        let event = api.get(format!("/v1/events/{}", one["event_id"].as_str().unwrap())).await.expect(200);
        for (field, value) in [
            ("title", &full["title"]),
            ("description", &full["description"]),
            ("startTime", &chosen["start_time"]),
            ("endTime", &chosen["end_time"]),
            ("source", &json!("internal")),
        ] {
            assert_eq!(&event[field], value, "{field}");
        }
        assert_eq!(event.at("/metadata/proposal_id"), id);
        let text = |field: &str| event[field].as_str().unwrap().to_owned();
        let clock = &text("startTime")[11..16];
        entries.push(entry(one["agent_id"].as_str().unwrap(), &text("calendarId"), &text("status"), clock));
    }
    entries
}

/// The numbers of events on these calendars.
async fn counts(api: &Client, calendars: &[&str]) -> Vec<usize> {
    let mut counts = Vec::new();
    for calendar in calendars {
        counts.push(events_of(api, calendar).await.len());
    }
    counts
}

/// The codes of a proposal's notices. Without any, the field must be absent.
#[track_caller]
fn notices(answer: &Answer) -> Vec<String> {
    let Some(notices) = answer.json.get("notices") else { return Vec::new() };
    let notices = notices.as_array().unwrap_or_else(|| panic!("{}", answer.describe()));
    assert!(!notices.is_empty(), "{}", answer.describe());
    for notice in notices {
        has_exactly(notice, &["code", "message"]);
        assert!(notice["message"].as_str().is_some_and(|message| !message.is_empty()), "{}", answer.describe());
    }
    notices.iter().map(|notice| notice["code"].as_str().unwrap().to_owned()).collect()
}

/// Requires a pending proposal with exactly these notices, which has created nothing.
#[track_caller]
fn is_pending(answer: &Answer, expected: &[&str]) {
    assert_eq!(answer["status"], "pending", "{}", answer.describe());
    assert_eq!(notices(answer), expected, "{}", answer.describe());
    for (field, value) in [
        ("reason", Value::Null),
        ("resolved_slot_id", Value::Null),
        ("created_event_id", Value::Null),
        ("created_events", json!([])),
    ] {
        assert_eq!(answer[field], value, "{field}: {}", answer.describe());
    }
}

/// Requires that the proposal cannot be resolved for this reason, and that the attempt changes nothing.
async fn is_unresolved(api: &Client, id: &str, code: &str) {
    let before = get_proposal(api, id).await;
    resolve(api, id).await.refused(409, "conflict").code(code);
    let after = get_proposal(api, id).await;
    assert_eq!((&after["status"], &after.json), (&json!("pending"), &before.json));
}

/// The number of events that the organization has created in this month.
async fn used(api: &Client) -> u64 {
    api.get("/v1/usage").await.expect(200)["events"]["used"].as_u64().unwrap()
}

/// Makes a calendar refuse conflicts.
async fn refuse(api: &Client, calendar: &str) {
    api.patch(format!("/v1/calendars/{calendar}")).json(json!({ "conflicts": "refuse" })).await.expect(200);
}

/// A full hour of the tests' day.
fn clock(hour: usize) -> String {
    format!("{hour:02}:00")
}

#[apply(on_both)]
#[tokio::test]
async fn placement_and_min_accepts_are_shown_and_checked(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 2).await;
    let offered = [slot("09:00", "10:00")];
    let cases = [
        (json!({}), "organizer", 0),
        (json!({ "placement": "organizer", "min_accepts": 0 }), "organizer", 0),
        (json!({ "placement": "all" }), "all", 0),
        (json!({ "min_accepts": 2 }), "organizer", 2),
        (json!({ "placement": "all", "min_accepts": 1 }), "all", 1),
        (json!({ "participant_agent_ids": team.participants[..1], "min_accepts": 1 }), "organizer", 1),
    ];
    let total = cases.len();
    for (more, placement, min_accepts) in cases {
        let made = team.propose(&api, &offered, more).await;
        has_exactly(&made.json, &[&summary()[..], &["slots", "responses"]].concat());
        assert_eq!((&made["placement"], &made["min_accepts"]), (&json!(placement), &json!(min_accepts)));
        is_pending(&made, &[]);
        assert_eq!(get_proposal(&api, &made.id()).await.json, made.json);
        let listed = api.get(PROPOSALS).await.expect(200).data();
        let listed = listed.iter().find(|one| one["id"] == made["id"]).unwrap();
        has_exactly(listed, &summary());
        for field in ["placement", "min_accepts", "created_events"] {
            assert_eq!(listed[field], made[field], "{field}");
        }
    }
    for (field, wrong) in [
        ("min_accepts", json!(-1)),
        ("min_accepts", json!(3)),
        ("min_accepts", json!(4_294_967_296_u64)),
        ("min_accepts", json!(1.5)),
        ("min_accepts", json!("1")),
        ("min_accepts", json!(true)),
        ("placement", json!("everybody")),
        ("placement", json!("ALL")),
        ("placement", json!("")),
        ("placement", json!(1)),
        ("placement", json!(["all"])),
    ] {
        for mut more in [json!({}), json!({ "placement": "all", "min_accepts": 1 })] {
            more[field] = wrong.clone();
            let body = team.body(&offered, &more);
            api.post(PROPOSALS).json(body).await.refused(400, "validation").param(field);
        }
    }
    // The bound is the number of the proposal's own participants.
    let more = json!({ "participant_agent_ids": team.participants[..1], "min_accepts": 2 });
    api.post(PROPOSALS).json(team.body(&offered, &more)).await.refused(400, "validation").param("min_accepts");
    assert_eq!(api.get(PROPOSALS).await.expect(200)["total"], total, "refused proposals were not created");
}

#[apply(on_both)]
#[tokio::test]
async fn the_best_slot_with_enough_acceptances_wins(#[case] database: Database) {
    // The weights of three slots, which are not in the order of their starts; the responses of three participants; the
    // acceptances that a slot needs; and the start of the winner or what happens instead. `a` accepts and `c` counters
    // with the slot of that index, and `d` declines.
    let starts = ["14:00", "09:00", "11:00"];
    let (_server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 3).await;
    let mut placed_so_far = 0;
    for (weights, responses, min_accepts, outcome) in [
        // A slot with enough acceptances wins over one with a higher score.
        ([10.0, 0.0, 0.0], ["a1", "a1", "a0"], 0, "14:00"),
        ([10.0, 0.0, 0.0], ["a1", "a1", "a0"], 1, "14:00"),
        ([10.0, 0.0, 0.0], ["a1", "a1", "a0"], 2, "09:00"),
        ([10.0, 0.0, 0.0], ["a1", "a1", "a0"], 3, "too few"),
        // A weight alone is no acceptance.
        ([10.0, 0.0, 0.0], ["a1", "d", "d"], 0, "14:00"),
        ([10.0, 0.0, 0.0], ["a1", "d", "d"], 1, "09:00"),
        // Neither is a counter-proposal.
        ([0.0, 0.0, 5.0], ["c2", "c2", "a1"], 1, "09:00"),
        ([0.0, 0.0, 0.0], ["a0", "c0", "c0"], 1, "14:00"),
        ([0.0, 0.0, 0.0], ["a0", "c0", "c0"], 2, "too few"),
        ([0.0, 0.0, 0.0], ["a0", "a0", "c0"], 3, "too few"),
        ([0.0, 0.0, 0.0], ["c1", "c1", "c1"], 1, "too few"),
        ([0.0, 0.0, 0.0], ["c", "d", "d"], 1, "too few"),
        ([0.0, 0.0, 0.0], ["c1", "c1", "c1"], 0, "09:00"),
        // The acceptances of different slots do not add up.
        ([0.0, 0.0, 0.0], ["a0", "a1", "a2"], 2, "too few"),
        ([0.0, 0.0, 0.0], ["a0", "a0", "d"], 3, "too few"),
        ([0.0, 0.0, 0.0], ["a0", "a0", "a0"], 3, "14:00"),
        // Among slots with enough, the score decides, then the start.
        ([0.0, 0.0, 0.5], ["a0", "a1", "a2"], 1, "11:00"),
        ([0.0, 0.0, 5.0], ["a0", "a1", "c2"], 1, "09:00"),
        ([0.0, 0.0, 5.0], ["a0", "a2", "c1"], 1, "11:00"),
        // Without any acceptance that could be enough, a proposal that all decline is over.
        ([0.0, 0.0, 0.0], ["d", "d", "d"], 0, "declined"),
        ([0.0, 0.0, 0.0], ["d", "d", "d"], 3, "declined"),
    ] {
        let case = format!("{weights:?} {responses:?} {min_accepts}");
        let offered: Vec<Value> = starts
            .iter()
            .zip(weights)
            .map(|(start, weight)| weighted(start, &start.replace(":00", ":30"), weight))
            .collect();
        let made = team.propose(&api, &offered, json!({ "min_accepts": min_accepts })).await;
        let id = made.id();
        let mut answers = Vec::new();
        for (agent, response) in team.participants.iter().zip(responses) {
            let slot = response[1..].parse().ok().map(|index: usize| slot_id(&made, index));
            let response = match (&response[..1], &slot) {
                ("a", Some(slot)) => accept(agent, slot),
                ("c", slot) => counter(agent, slot.as_deref()),
                _ => decline(agent),
            };
            answers.push(respond(&api, &id, response).await.expect(200));
        }
        for early in &answers[..2] {
            is_pending(early, &[]);
        }
        let last = &answers[2];
        assert_eq!(last["responses"].as_array().map(Vec::len), Some(3), "{case}");
        match outcome {
            "too few" => {
                is_pending(last, &["too_few_accepts"]);
                is_unresolved(&api, &id, "too_few_accepts").await;
            }
            "declined" => {
                assert_eq!((&last["status"], &last["reason"]), (&json!("cancelled"), &json!("all_declined")), "{case}");
                assert_eq!((notices(last), &last["created_events"]), (Vec::new(), &json!([])), "{case}");
            }
            start => {
                assert_eq!((&last["status"], notices(last)), (&json!("confirmed"), Vec::new()), "{case}");
                let expected = entry(&team.organizer, &team.calendar, "confirmed", start);
                assert_eq!(placed(&api, &id).await, [expected], "{case}");
                placed_so_far += 1;
            }
        }
        assert_eq!(get_proposal(&api, &id).await.json, last.json, "{case}");
        assert_eq!(counts(&api, &[&team.calendar]).await, [placed_so_far], "{case}");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn with_too_few_acceptances_a_proposal_waits(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 3).await;
    let [ada, bob, cat] = [0, 1, 2].map(|index| team.participants[index].as_str());
    let offered = [weighted("09:00", "10:00", 10.0), weighted("11:00", "12:00", 0.0)];
    let needing = async |count: u32| team.propose(&api, &offered, json!({ "min_accepts": count })).await;
    let confirmed = |clock: &str| [entry(&team.organizer, &team.calendar, "confirmed", clock)];

    // Before the last response, an attempt to resolve is refused, and the responses go on.
    let made = needing(2).await;
    let (id, second) = (made.id(), slot_id(&made, 1));
    is_unresolved(&api, &id, "no_responses").await;
    is_pending(&respond(&api, &id, accept(ada, &second)).await.expect(200), &[]);
    is_unresolved(&api, &id, "too_few_accepts").await;
    is_pending(&respond(&api, &id, counter(bob, Some(&second))).await.expect(200), &[]);
    is_unresolved(&api, &id, "too_few_accepts").await;
    is_pending(&get_proposal(&api, &id).await, &[]);
    respond(&api, &id, accept(cat, &second)).await.expect(200);
    assert_eq!(placed(&api, &id).await, confirmed("11:00"));

    // With enough of them, the organizer may resolve early.
    let made = needing(2).await;
    let id = made.id();
    for agent in [cat, ada] {
        respond(&api, &id, accept(agent, &slot_id(&made, 1))).await.expect(200);
    }
    let resolved = resolve(&api, &id).await.expect(200);
    has_exactly(&resolved.json, &["status", "resolved_slot", "created_event_id", "created_events"]);
    assert_eq!((&resolved["status"], &resolved["resolved_slot"]), (&json!("confirmed"), &made.at("/slots/1")));
    let event = json!([{ "agent_id": team.organizer, "event_id": resolved["created_event_id"] }]);
    assert_eq!(resolved["created_events"], event);
    assert_eq!(get_proposal(&api, &id).await["created_events"], event);
    assert_eq!(placed(&api, &id).await, confirmed("11:00"));

    // After the last response, the proposal stays as it is until the organizer cancels it.
    let made = needing(2).await;
    let id = made.id();
    respond(&api, &id, accept(ada, &slot_id(&made, 0))).await.expect(200);
    respond(&api, &id, decline(bob)).await.expect(200);
    let answered = respond(&api, &id, accept(cat, &slot_id(&made, 1))).await.expect(200);
    is_pending(&answered, &["too_few_accepts"]);
    for _ in 0..2 {
        is_unresolved(&api, &id, "too_few_accepts").await;
        assert_eq!(get_proposal(&api, &id).await.json, answered.json);
    }
    respond(&api, &id, accept(cat, &slot_id(&made, 0))).await.refused(409, "conflict").code("duplicate_response");
    assert_eq!(api.get(format!("{PROPOSALS}?status=pending")).await.expect(200).column("id"), [id.as_str()]);
    assert_eq!(cancel(&api, &id).await.expect(200).json, json!({ "status": "cancelled" }));
    let full = get_proposal(&api, &id).await;
    assert_eq!((&full["status"], &full["reason"]), (&json!("cancelled"), &json!("organizer_cancelled")));
    resolve(&api, &id).await.refused(409, "conflict").code("proposal_not_pending");

    // Refusals alone end it, even early.
    let id = needing(3).await.id();
    respond(&api, &id, decline(bob)).await.expect(200);
    let expected = json!({ "status": "cancelled", "reason": "all_declined" });
    assert_eq!(resolve(&api, &id).await.expect(200).json, expected);
    assert_eq!((counts(&api, &[&team.calendar]).await, used(&api).await), (vec![2], 2));
}

#[apply(on_both)]
#[tokio::test]
async fn acceptances_of_a_slot_that_has_begun_are_not_enough(#[case] database: Database) {
    let (mut server, api) = Server::with_org(database, "pro").await;
    let crew = Crew::of(&api, 3).await;
    let ([ada, bob, cat], [of_ada, of_bob, of_cat]) = (crew.agents(), crew.homes());
    let moment = at(&now(&api).await);
    let ahead = |seconds: i64| iso(moment + TimeDelta::seconds(seconds));
    let soon = json!({ "start_time": ahead(600), "end_time": ahead(9_000), "weight": 9 });
    let offered = [soon, slot("09:00", "10:00")];
    let until = |seconds: i64| json!({ "min_accepts": 2, "expires_at": ahead(seconds) });
    let [lost, kept, stuck] = [
        crew.propose(&api, &offered, until(50_000)).await,
        crew.propose(&api, &offered, until(50_000)).await,
        crew.propose(&api, &offered, until(300)).await,
    ];
    for made in [&lost, &kept, &stuck] {
        respond(&api, &made.id(), accept(ada, &slot_id(made, 0))).await.expect(200);
        respond(&api, &made.id(), accept(bob, &slot_id(made, 1))).await.expect(200);
    }
    is_pending(&respond(&api, &stuck.id(), decline(cat)).await.expect(200), &["too_few_accepts"]);

    server.restart_at_offset(605).await;
    let api = api.moved_to(server.base_url());
    // The first slot has two acceptances, but has begun.
    let answered = respond(&api, &lost.id(), accept(cat, &slot_id(&lost, 0))).await.expect(200);
    is_pending(&answered, &["too_few_accepts"]);
    assert_eq!(get_proposal(&api, &lost.id()).await.json, answered.json);
    is_unresolved(&api, &lost.id(), "too_few_accepts").await;
    // A proposal that waits for more acceptances expires like any other.
    let full = get_proposal(&api, &stuck.id()).await;
    assert_eq!((&full["status"], &full["created_events"]), (&json!("expired"), &json!([])));
    for call in [resolve(&api, &stuck.id()), cancel(&api, &stuck.id())] {
        call.await.refused(409, "conflict").code("proposal_not_pending");
    }
    let homes = [&crew.team.calendar, of_ada, of_bob, of_cat];
    assert_eq!(counts(&api, &homes).await, [0, 0, 0, 0]);
    // The second one has two acceptances, and is to come.
    respond(&api, &kept.id(), accept(cat, &slot_id(&kept, 1))).await.expect(200);
    let expected = [
        crew.organizer("09:00"),
        entry(ada, of_ada, "tentative", "09:00"),
        entry(bob, of_bob, "confirmed", "09:00"),
        entry(cat, of_cat, "confirmed", "09:00"),
    ];
    assert_eq!(placed(&api, &kept.id()).await, expected);
    assert_eq!(counts(&api, &homes).await, [1, 1, 1, 1]);
}

#[apply(on_both)]
#[tokio::test]
async fn everybody_who_did_not_decline_gets_an_event(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let crew = Crew::of(&api, 5).await;
    let ([ada, bob, cat, dan, eve], [of_ada, of_bob, of_cat, of_dan, of_eve]) = (crew.agents(), crew.homes());
    let (shared, other) = (shared_calendar(&api, "Europe/Berlin").await, calendar_of(&api, eve).await);
    let offered = [elsewhere("09:00", "10:00", &shared), slot("11:00", "12:00")];
    let more = json!({ "description": "Where we begin", "metadata": { "topic": ["x", 1] } });
    let made = crew.propose(&api, &offered, more).await;
    let (id, [first, second]) = (made.id(), [0, 1].map(|index| slot_id(&made, index)));
    let homes = [&crew.team.calendar, &shared, of_ada, of_bob, of_cat, of_dan, of_eve, &other];

    // The responses do not come in the order of the participants.
    let mut last = made;
    for response in [
        on(accept(eve, &first), &other),
        decline(dan),
        counter(cat, Some(&first)),
        on(accept(bob, &second), of_bob),
        accept(ada, &first),
    ] {
        is_pending(&last, &[]);
        assert_eq!(counts(&api, &homes).await, [0; 8]);
        last = respond(&api, &id, response).await.expect(200);
    }
    assert_eq!((&last["status"], &last["resolved_slot_id"]), (&json!("confirmed"), &json!(first)));
    assert_eq!((notices(&last), &last["placement"]), (Vec::new(), &json!("all")));
    assert_eq!(get_proposal(&api, &id).await.json, last.json);
    let listed = api.get(PROPOSALS).await.expect(200);
    assert_eq!(listed.at("/data/0/created_events"), last["created_events"]);
    let expected = [
        entry(&crew.team.organizer, &shared, "confirmed", "09:00"),
        entry(ada, of_ada, "confirmed", "09:00"),
        entry(bob, of_bob, "tentative", "09:00"),
        entry(cat, of_cat, "tentative", "09:00"),
        entry(eve, &other, "confirmed", "09:00"),
    ];
    assert_eq!(placed(&api, &id).await, expected);
    assert_eq!(counts(&api, &homes).await, [0, 1, 1, 1, 1, 0, 0, 1]);
    assert_eq!(used(&api).await, 5);
    let own = events_of(&api, &shared).await;
    assert_eq!(own[0]["metadata"], json!({ "topic": ["x", 1], "proposal_id": id }));

    // Each response shows its calendar.
    let fields = ["id", "agent_id", "response", "selected_slot_id", "counter_slots", "message", "created_at"];
    for (index, (agent, calendar)) in
        [(eve, Some(&*other)), (dan, None), (cat, Some(of_cat)), (bob, Some(of_bob)), (ada, Some(of_ada))]
            .into_iter()
            .enumerate()
    {
        let record = last.at(&format!("/responses/{index}"));
        let named: &[&str] = if calendar.is_some() { &["calendar_id"] } else { &[] };
        has_exactly(&record, &[&fields[..], named].concat());
        assert_eq!((&record["agent_id"], &record["calendar_id"]), (&json!(agent), &json!(calendar)));
    }
}

#[apply(on_both)]
#[tokio::test]
async fn an_early_resolution_places_events_for_those_who_have_one_calendar(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let mut crew = Crew::of(&api, 5).await;
    // The last participant has no calendar.
    crew.team.participants.push(crate::fixtures::agent(&api).await);
    let ([ada, bob, cat, dan, eve], [of_ada, of_bob, of_cat, of_dan, of_eve]) = (crew.agents(), crew.homes());
    let second_of_cat = calendar_of(&api, cat).await;
    let offered = [weighted("09:00", "10:00", 1.0), weighted("11:00", "12:00", 2.0)];
    let made = crew.propose(&api, &offered, json!({})).await;
    let id = made.id();
    // Only `bob` has exactly one calendar among those who have not responded.
    respond(&api, &id, decline(dan)).await.expect(200);
    respond(&api, &id, accept(eve, &slot_id(&made, 0))).await.expect(200);
    respond(&api, &id, accept(ada, &slot_id(&made, 1))).await.expect(200);
    let resolved = resolve(&api, &id).await.expect(200);
    has_exactly(&resolved.json, &["status", "resolved_slot", "created_event_id", "created_events"]);
    assert_eq!((&resolved["status"], &resolved["resolved_slot"]), (&json!("confirmed"), &made.at("/slots/1")));
    let full = get_proposal(&api, &id).await;
    assert_eq!(resolved["created_events"], full["created_events"]);
    assert_eq!(resolved["created_event_id"], full["created_event_id"]);
    let expected = [
        crew.organizer("11:00"),
        entry(ada, of_ada, "confirmed", "11:00"),
        entry(bob, of_bob, "tentative", "11:00"),
        entry(eve, of_eve, "tentative", "11:00"),
    ];
    assert_eq!(placed(&api, &id).await, expected);
    let homes = [&crew.team.calendar, of_ada, of_bob, of_cat, &second_of_cat, of_dan, of_eve];
    assert_eq!((counts(&api, &homes).await, used(&api).await), (vec![1, 1, 1, 0, 0, 0, 1], 4));
}

#[apply(on_both)]
#[tokio::test]
async fn the_calendar_of_a_response_is_checked(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let foreign = server.api(&server.org("pro").await);
    let (_, abroad) = agent_with_calendar(&foreign).await;
    let crew = Crew::of(&api, 3).await;
    let ([ada, bob, cat], [of_ada, of_bob, _]) = (crew.agents(), crew.homes());
    let shared = shared_calendar(&api, "UTC").await;
    let (second, gone) = (calendar_of(&api, ada).await, calendar_of(&api, ada).await);
    api.delete(format!("/v1/calendars/{gone}")).await.expect(204);
    let offered = [slot("09:00", "10:00")];
    for placement in ["organizer", "all"] {
        let made = crew.team.propose(&api, &offered, json!({ "placement": placement })).await;
        let (id, only) = (made.id(), slot_id(&made, 0));
        for response in [accept(ada, &only), counter(ada, Some(&only)), counter(ada, None), decline(ada)] {
            for calendar in [&shared, of_bob, &crew.team.calendar] {
                let refused = respond(&api, &id, on(response.clone(), calendar)).await;
                refused.refused(400, "validation").param("calendar_id");
            }
            for calendar in [&abroad, &gone, "cal_00000000000000000000000000", "cal_x"] {
                let refused = respond(&api, &id, on(response.clone(), calendar)).await;
                refused.refused(404, "not_found").code("calendar_not_found");
            }
            let mut wrong = response.clone();
            wrong["calendar_id"] = json!(7);
            respond(&api, &id, wrong).await.refused(400, "validation").param("calendar_id");
        }
        if placement == "all" {
            for response in [accept(ada, &only), counter(ada, Some(&only)), counter(ada, None)] {
                respond(&api, &id, response).await.refused(400, "validation").param("calendar_id");
            }
        }
        assert_eq!(get_proposal(&api, &id).await.json, made.json, "none of these was recorded");

        let answered = respond(&api, &id, on(counter(ada, None), &second)).await.expect(200);
        assert_eq!(answered.at("/responses/0/calendar_id"), second);
        // An agent's only calendar need not be named, and nobody needs a calendar if nothing is placed there.
        let answered = respond(&api, &id, accept(bob, &only)).await.expect(200);
        let expected = if placement == "all" { json!(of_bob) } else { Value::Null };
        assert_eq!(answered.at("/responses/1/calendar_id"), expected);
        is_pending(&answered, &[]);
        let answered = respond(&api, &id, decline(cat)).await.expect(200);
        assert_eq!((&answered["status"], notices(&answered)), (&json!("confirmed"), Vec::new()));
        let mut expected = vec![crew.organizer("09:00")];
        if placement == "all" {
            expected.push(entry(ada, &second, "tentative", "09:00"));
            expected.push(entry(bob, of_bob, "confirmed", "09:00"));
        }
        assert_eq!(placed(&api, &id).await, expected, "{placement}");
    }
    assert_eq!(counts(&api, &[&crew.team.calendar, of_ada, &second, of_bob]).await, [2, 0, 1, 1]);

    // Where nothing is placed, several calendars are no question: for one who declines, and with the default placement.
    let made = crew.propose(&api, &offered, json!({})).await;
    let answered = respond(&api, &made.id(), decline(ada)).await.expect(200);
    assert_eq!(answered["responses"].as_array().map(Vec::len), Some(1));
    let made = crew.team.propose(&api, &offered, json!({})).await;
    let answered = respond(&api, &made.id(), accept(ada, &slot_id(&made, 0))).await.expect(200);
    assert_eq!(answered.at("/responses/0/calendar_id"), Value::Null);

    // Once only one calendar is left, it need not be named.
    api.delete(format!("/v1/calendars/{of_ada}")).await.expect(204);
    let made = crew.propose(&api, &offered, json!({})).await;
    let answered = respond(&api, &made.id(), accept(ada, &slot_id(&made, 0))).await.expect(200);
    assert_eq!(answered.at("/responses/0/calendar_id"), second);
}

#[apply(on_both)]
#[tokio::test]
async fn an_agent_without_a_calendar_responds_and_gets_no_event(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let mut crew = Crew::of(&api, 1).await;
    let named =
        async |name: &str| api.post("/v1/agents").json(json!({ "name": name, "type": "ai" })).await.expect(201).id();
    let (zed, yan) = (named("Zebedee").await, named("Yolanda").await);
    crew.team.participants.splice(0..0, [zed.clone(), yan.clone()]);
    let (ada, of_ada) = (crew.team.participants[2].as_str(), crew.calendars[0].as_str());
    let offered = [slot("09:00", "10:00")];
    let messages = |answer: &Answer| {
        let notices = answer["notices"].as_array().unwrap();
        notices.iter().map(|notice| notice["message"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join("\n")
    };
    let names = |answer: &Answer, id: &str, name: &str| {
        let messages = messages(answer);
        assert!(messages.contains(id) || messages.contains(name), "{id} {name}: {messages}");
    };

    // The acceptance counts.
    let made = crew.propose(&api, &offered, json!({ "min_accepts": 2 })).await;
    let (id, only) = (made.id(), slot_id(&made, 0));
    let answered = respond(&api, &id, accept(&zed, &only)).await.expect(200);
    is_pending(&answered, &["no_calendar"]);
    names(&answered, &zed, "Zebedee");
    assert_eq!(answered.at("/responses/0/calendar_id"), Value::Null);
    assert_eq!(get_proposal(&api, &id).await.json, answered.json);
    let answered = respond(&api, &id, accept(ada, &only)).await.expect(200);
    is_pending(&answered, &["no_calendar"]);
    names(&answered, &zed, "Zebedee");
    let answered = respond(&api, &id, counter(&yan, None)).await.expect(200);
    assert_eq!(answered["status"], "confirmed", "{}", answered.describe());
    assert_eq!(BTreeSet::from_iter(notices(&answered)), BTreeSet::from(["no_calendar".to_owned()]));
    names(&answered, &zed, "Zebedee");
    names(&answered, &yan, "Yolanda");
    assert_eq!(get_proposal(&api, &id).await.json, answered.json);
    assert_eq!(placed(&api, &id).await, [crew.organizer("09:00"), entry(ada, of_ada, "confirmed", "09:00")]);
    assert_eq!(used(&api).await, 2);

    // A proposal may have notices of both kinds.
    let made = crew.propose(&api, &offered, json!({ "min_accepts": 2 })).await;
    let id = made.id();
    respond(&api, &id, accept(&zed, &slot_id(&made, 0))).await.expect(200);
    respond(&api, &id, counter(ada, Some(&slot_id(&made, 0)))).await.expect(200);
    let answered = respond(&api, &id, decline(&yan)).await.expect(200);
    assert_eq!(answered["status"], "pending", "{}", answered.describe());
    let expected = ["no_calendar", "too_few_accepts"].map(str::to_owned);
    assert_eq!(BTreeSet::from_iter(notices(&answered)), BTreeSet::from(expected));
    assert_eq!(get_proposal(&api, &id).await["notices"], answered["notices"]);

    // Where only the organizer gets an event, nobody needs a calendar.
    let made = crew.team.propose(&api, &offered, json!({})).await;
    let id = made.id();
    for agent in [&zed, &yan, ada] {
        let answered = respond(&api, &id, accept(agent, &slot_id(&made, 0))).await.expect(200);
        assert_eq!(notices(&answered), [""; 0]);
    }
    assert_eq!(placed(&api, &id).await, [crew.organizer("09:00")]);
}

#[apply(on_both)]
#[tokio::test]
async fn no_agent_and_no_calendar_gets_two_events(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let crew = Crew::of(&api, 2).await;
    let ([ada, bob], [of_ada, of_bob]) = (crew.agents(), crew.homes());
    let organizer = crew.team.organizer.as_str();
    let other = calendar_of(&api, organizer).await;
    let homes = [&crew.team.calendar, &*other, of_ada, of_bob];

    // The organizer is a participant, with another calendar. Its own event is there, however it responds.
    let taking_part = json!({ "participant_agent_ids": [ada, organizer, bob] });
    for (number, response) in [on(counter(organizer, None), &other), decline(organizer)].into_iter().enumerate() {
        let made = crew.propose(&api, &[slot("09:00", "10:00")], taking_part.clone()).await;
        let (id, only) = (made.id(), slot_id(&made, 0));
        respond(&api, &id, response).await.expect(200);
        respond(&api, &id, accept(bob, &only)).await.expect(200);
        let answered = respond(&api, &id, accept(ada, &only)).await.expect(200);
        assert_eq!((&answered["status"], notices(&answered)), (&json!("confirmed"), Vec::new()));
        let expected = [
            crew.organizer("09:00"),
            entry(ada, of_ada, "confirmed", "09:00"),
            entry(bob, of_bob, "confirmed", "09:00"),
        ];
        assert_eq!(placed(&api, &id).await, expected);
        assert_eq!(counts(&api, &homes).await, [number + 1, 0, number + 1, number + 1]);
    }

    // The organizer's event is on a participant's calendar: that of the slot, then that of the proposal. An event does
    // not take the time of another one of the same proposal.
    let on_slot = (elsewhere("11:00", "12:00", of_ada), json!({ "skip_taken": true }));
    let on_proposal = (slot("13:00", "14:00"), json!({ "skip_taken": true, "calendar_id": of_ada }));
    for ((offered, more), response) in [(on_slot, "accept"), (on_proposal, "counter")] {
        let made = crew.propose(&api, &[offered], more).await;
        let (id, only) = (made.id(), slot_id(&made, 0));
        let response = if response == "accept" { accept(ada, &only) } else { on(counter(ada, None), of_ada) };
        respond(&api, &id, response).await.expect(200);
        let answered = respond(&api, &id, accept(bob, &only)).await.expect(200);
        assert_eq!((&answered["status"], notices(&answered)), (&json!("confirmed"), Vec::new()));
        let start = &made.at("/slots/0/start_time").as_str().unwrap()[11..16].to_owned();
        let expected = [entry(organizer, of_ada, "confirmed", start), entry(bob, of_bob, "confirmed", start)];
        assert_eq!(placed(&api, &id).await, expected);
    }
    assert_eq!(counts(&api, &homes).await, [2, 0, 4, 4]);

    // The same without a response of the participant.
    let made = crew.propose(&api, &[elsewhere("15:00", "16:00", of_ada)], json!({ "skip_taken": true })).await;
    respond(&api, &made.id(), accept(bob, &slot_id(&made, 0))).await.expect(200);
    resolve(&api, &made.id()).await.expect(200);
    let expected = [entry(organizer, of_ada, "confirmed", "15:00"), entry(bob, of_bob, "confirmed", "15:00")];
    assert_eq!(placed(&api, &made.id()).await, expected);
    assert_eq!((counts(&api, &homes).await, used(&api).await), (vec![2, 0, 5, 5], 12));
}

#[apply(on_both)]
#[tokio::test]
async fn a_slot_is_skipped_if_any_of_the_calendars_is_taken(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let crew = Crew::of(&api, 3).await;
    let ([ada, bob, cat], [of_ada, of_bob, of_cat]) = (crew.agents(), crew.homes());
    // This participant declines, so that its calendar does not matter.
    event(&api, of_cat, &time("00:00"), &time("23:59")).await;
    let until = in_seconds(&api, 890).await;
    // Two hours, of which the first one is better.
    let offer = |hour: usize| {
        let [best, next, after] = [0, 1, 2].map(|later| clock(hour + later));
        [weighted(&best, &next, 5.0), slot(&next, &after)]
    };
    for (round, (calendar, kind)) in [
        (crew.team.calendar.as_str(), "event"),
        (of_ada, "tentative event"),
        (of_ada, "hold"),
        (of_bob, "reservation"),
        (of_bob, "event in the other hour"),
    ]
    .into_iter()
    .enumerate()
    {
        let hour = 4 + 2 * round;
        // Its own reservation does not take a slot from the proposal.
        let made = crew.propose(&api, &offer(hour), json!({ "skip_taken": true, "hold_slots": true })).await;
        let (id, best) = (made.id(), slot_id(&made, 0));
        let blocked = if kind == "event in the other hour" { hour + 1 } else { hour };
        let (start, end) = (time(&clock(blocked)), time(&clock(blocked + 1)));
        let events = format!("/v1/calendars/{calendar}/events");
        match kind {
            "tentative event" => {
                let mut body = event_body("Maybe", &start, &end);
                body["status"] = json!("tentative");
                api.post(&events).json(body).await.expect(201);
            }
            "hold" => drop(api.post(&events).json(hold_body(&start, &end, &until, 0)).await.expect(201)),
            "reservation" => {
                let more = json!({ "calendar_id": calendar, "hold_slots": true });
                crew.team.propose(&api, &[slot(&clock(blocked), &clock(blocked + 1))], more).await;
            }
            _ => drop(event(&api, calendar, &start, &end).await),
        }
        respond(&api, &id, decline(cat)).await.expect(200);
        respond(&api, &id, accept(bob, &best)).await.expect(200);
        let answered = respond(&api, &id, accept(ada, &best)).await.expect(200);
        assert_eq!((&answered["status"], notices(&answered)), (&json!("confirmed"), Vec::new()), "{kind}");
        // Who accepted another slot has not accepted this one.
        let (hour, status) = if blocked == hour { (hour + 1, "tentative") } else { (hour, "confirmed") };
        let expected = [
            crew.organizer(&clock(hour)),
            entry(ada, of_ada, status, &clock(hour)),
            entry(bob, of_bob, status, &clock(hour)),
        ];
        assert_eq!(placed(&api, &id).await, expected, "{kind}");
    }

    // So does the only calendar of one who has not responded.
    event(&api, of_bob, &time("16:00"), &time("17:00")).await;
    let early = async |hour: usize| {
        let made = crew.propose(&api, &offer(hour), json!({ "skip_taken": true })).await;
        respond(&api, &made.id(), decline(cat)).await.expect(200);
        respond(&api, &made.id(), accept(ada, &slot_id(&made, 0))).await.expect(200);
        resolve(&api, &made.id()).await.expect(200);
        placed(&api, &made.id()).await
    };
    let expected =
        [crew.organizer("17:00"), entry(ada, of_ada, "tentative", "17:00"), entry(bob, of_bob, "tentative", "17:00")];
    assert_eq!(early(16).await, expected);
    // One of several calendars gets no event then, and takes nothing.
    let second = calendar_of(&api, bob).await;
    for calendar in [of_bob, &second] {
        event(&api, calendar, &time("18:00"), &time("19:00")).await;
    }
    assert_eq!(early(18).await, [crew.organizer("18:00"), entry(ada, of_ada, "confirmed", "18:00")]);
}

#[apply(on_both)]
#[tokio::test]
async fn calendars_that_refuse_conflicts_take_their_times(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let crew = Crew::of(&api, 3).await;
    let ([ada, bob, cat], [of_ada, of_bob, of_cat]) = (crew.agents(), crew.homes());
    refuse(&api, of_bob).await;
    // This one does not matter, because its agent declines.
    refuse(&api, of_cat).await;
    event(&api, of_cat, &time("00:00"), &time("23:59")).await;
    let offer = |hour: usize| {
        let [best, next, after] = [0, 1, 2].map(|later| clock(hour + later));
        [weighted(&best, &next, 5.0), slot(&next, &after)]
    };
    let own = crew.team.calendar.as_str();
    for (round, (calendar, skipped)) in
        [(of_ada, false), (own, false), (of_bob, true), (own, true)].into_iter().enumerate()
    {
        if round == 3 {
            refuse(&api, own).await;
        }
        let hour = 4 + 2 * round;
        event(&api, calendar, &time(&clock(hour)), &time(&clock(hour + 1))).await;
        let made = crew.propose(&api, &offer(hour), json!({})).await;
        let (id, best) = (made.id(), slot_id(&made, 0));
        respond(&api, &id, accept(bob, &best)).await.expect(200);
        respond(&api, &id, decline(cat)).await.expect(200);
        respond(&api, &id, accept(ada, &best)).await.expect(200);
        let (hour, status) = if skipped { (hour + 1, "tentative") } else { (hour, "confirmed") };
        let expected = [
            crew.organizer(&clock(hour)),
            entry(ada, of_ada, status, &clock(hour)),
            entry(bob, of_bob, status, &clock(hour)),
        ];
        assert_eq!(placed(&api, &id).await, expected, "round {round}");
    }

    // An early resolution respects the calendar of one who has not responded.
    event(&api, of_bob, &time("14:30"), &time("14:45")).await;
    let made = crew.propose(&api, &offer(14), json!({})).await;
    respond(&api, &made.id(), decline(cat)).await.expect(200);
    respond(&api, &made.id(), accept(ada, &slot_id(&made, 0))).await.expect(200);
    resolve(&api, &made.id()).await.expect(200);
    let expected =
        [crew.organizer("15:00"), entry(ada, of_ada, "tentative", "15:00"), entry(bob, of_bob, "tentative", "15:00")];
    assert_eq!(placed(&api, &made.id()).await, expected);

    // The tentative event of one proposal takes the time from the next one.
    let mut answers = Vec::new();
    for calendar in [own, of_ada] {
        let there = json!({ "calendar_id": calendar, "participant_agent_ids": [bob] });
        let made = crew.propose(&api, &[slot("20:00", "21:00")], there).await;
        answers.push(respond(&api, &made.id(), counter(bob, None)).await.expect(200));
    }
    assert_eq!(
        placed(&api, &answers[0].id()).await,
        [crew.organizer("20:00"), entry(bob, of_bob, "tentative", "20:00"),]
    );
    is_pending(&answers[1], &["slot_taken"]);
    is_unresolved(&api, &answers[1].id(), "slot_taken").await;
    let late = |events: Vec<Value>| events.iter().filter(|event| event["startTime"] == time("20:00")).count();
    let mut at_eight = Vec::new();
    for calendar in [own, of_ada, of_bob] {
        at_eight.push(late(events_of(&api, calendar).await));
    }
    assert_eq!(at_eight, [1, 0, 1]);
}

#[apply(on_both)]
#[tokio::test]
async fn nothing_is_placed_if_every_slot_is_taken(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    for refusing in [false, true] {
        let crew = Crew::of(&api, 2).await;
        let ([ada, bob], [of_ada, of_bob]) = (crew.agents(), crew.homes());
        if refusing {
            refuse(&api, of_bob).await;
        }
        let more = json!({ "skip_taken": !refusing });
        let blocking = event(&api, of_bob, &time("09:30"), &time("11:30")).await;
        let before = used(&api).await;
        let offered = [slot("09:00", "10:00"), slot("11:00", "12:00")];
        let made = crew.propose(&api, &offered, more.clone()).await;
        let (id, first) = (made.id(), slot_id(&made, 0));
        is_pending(&respond(&api, &id, accept(ada, &first)).await.expect(200), &[]);
        is_unresolved(&api, &id, "slot_taken").await;
        let answered = respond(&api, &id, accept(bob, &first)).await.expect(200);
        is_pending(&answered, &["slot_taken"]);
        let responses = answered["responses"].as_array().unwrap();
        assert_eq!(responses.iter().map(|one| one["agent_id"].clone()).collect::<Vec<_>>(), [ada, bob]);
        is_unresolved(&api, &id, "slot_taken").await;
        assert_eq!(get_proposal(&api, &id).await["responses"], answered["responses"]);
        let homes = [crew.team.calendar.as_str(), of_ada, of_bob];
        assert_eq!((counts(&api, &homes).await, used(&api).await), (vec![0, 0, 1], before));

        // A slot that is free, but has too few acceptances, is no way out.
        let mut strict = more;
        strict["min_accepts"] = json!(2);
        let made = crew.propose(&api, &[slot("10:00", "11:00"), slot("14:00", "15:00")], strict).await;
        let (waiting, taken) = (made.id(), slot_id(&made, 0));
        respond(&api, &waiting, accept(ada, &taken)).await.expect(200);
        let answered = respond(&api, &waiting, accept(bob, &taken)).await.expect(200);
        is_pending(&answered, &["slot_taken"]);
        is_unresolved(&api, &waiting, "slot_taken").await;
        assert_eq!((counts(&api, &homes).await, used(&api).await), (vec![0, 0, 1], before));

        // The organizer frees the time.
        api.delete(format!("/v1/events/{blocking}")).await.expect(204);
        for (id, start) in [(&id, "09:00"), (&waiting, "10:00")] {
            assert_eq!(resolve(&api, id).await.expect(200)["status"], "confirmed");
            let full = get_proposal(&api, id).await;
            assert_eq!(notices(&full), [""; 0]);
            let expected =
                [crew.organizer(start), entry(ada, of_ada, "confirmed", start), entry(bob, of_bob, "confirmed", start)];
            assert_eq!(placed(&api, id).await, expected);
        }
        assert_eq!((counts(&api, &homes).await, used(&api).await), (vec![2, 2, 2], before + 6));
    }
}

#[apply(on_both)]
#[tokio::test]
async fn each_event_counts_toward_the_quota(#[case] database: Database) {
    let server = Server::start(database).await;
    let org = server.org_with("pro", &["--limits", r#"{"events":3}"#]).await;
    let api = server.api(&org);
    let crew = Crew::of(&api, 2).await;
    let ([ada, bob], [of_ada, of_bob]) = (crew.agents(), crew.homes());
    let shared = shared_calendar(&api, "UTC").await;
    let homes = [crew.team.calendar.as_str(), of_ada, of_bob];
    event(&api, &shared, &time("09:00"), &time("10:00")).await;

    // Two events are left, and three are needed.
    let offered = [slot("09:00", "10:00")];
    let made = crew.propose(&api, &offered, json!({})).await;
    let (id, only) = (made.id(), slot_id(&made, 0));
    respond(&api, &id, accept(ada, &only)).await.expect(200);
    let before = get_proposal(&api, &id).await;
    for call in [respond(&api, &id, accept(bob, &only)), resolve(&api, &id)] {
        call.await.refused(429, "quota_exceeded").code("events_limit").mentions("events");
        assert_eq!(get_proposal(&api, &id).await.json, before.json, "nothing is recorded");
        assert_eq!((counts(&api, &homes).await, used(&api).await), (vec![0, 0, 0], 1));
    }
    // Without the event of one who declines, two are enough.
    let smaller = crew.propose(&api, &offered, json!({})).await;
    respond(&api, &smaller.id(), decline(bob)).await.expect(200);
    respond(&api, &smaller.id(), accept(ada, &slot_id(&smaller, 0))).await.expect(200);
    let expected = [crew.organizer("09:00"), entry(ada, of_ada, "confirmed", "09:00")];
    assert_eq!(placed(&api, &smaller.id()).await, expected);
    assert_eq!((counts(&api, &homes).await, used(&api).await), (vec![1, 1, 0], 3));

    let limits = async |events: u32| {
        let limits = json!({ "events": events, "rate_per_second": 1_000_000 }).to_string();
        server.cli(&["org", "set-plan", &org.id, "pro", "--limits", &limits]).await.succeeded();
        wait_until(|| async { api.get("/v1/usage").await }, |usage| usage["events"]["limit"] == events).await;
    };
    limits(5).await;
    respond(&api, &id, accept(bob, &only)).await.refused(429, "quota_exceeded").code("events_limit");
    assert_eq!(get_proposal(&api, &id).await.json, before.json);
    assert_eq!((counts(&api, &homes).await, used(&api).await), (vec![1, 1, 0], 3));
    limits(6).await;
    assert_eq!(respond(&api, &id, accept(bob, &only)).await.expect(200)["status"], "confirmed");
    let expected =
        [crew.organizer("09:00"), entry(ada, of_ada, "confirmed", "09:00"), entry(bob, of_bob, "confirmed", "09:00")];
    assert_eq!(placed(&api, &id).await, expected);
    assert_eq!((counts(&api, &homes).await, used(&api).await), (vec![2, 2, 1], 6));
}

#[apply(on_both)]
#[tokio::test]
async fn each_event_is_announced_and_the_confirmation_once(#[case] database: Database) {
    let (_server, api, receiver) = with_receiver(database, "pro").await;
    let types = [
        "event.created",
        "proposal.created",
        "proposal.responded",
        "proposal.confirmed",
        "proposal.cancelled",
        "proposal.expired",
    ];
    hook(&api, &receiver, "/", &types).await;
    let crew = Crew::of(&api, 3).await;
    let [ada, bob, cat] = crew.agents();
    let offered = [slot("09:00", "10:00")];

    // No message follows the response that is too little.
    let stuck = crew.propose(&api, &offered, json!({ "min_accepts": 3 })).await;
    for response in [accept(ada, &slot_id(&stuck, 0)), decline(bob), counter(cat, None)] {
        respond(&api, &stuck.id(), response).await.expect(200);
    }
    is_unresolved(&api, &stuck.id(), "too_few_accepts").await;

    let made = crew.propose(&api, &offered, json!({ "description": "Where", "min_accepts": 1 })).await;
    let id = made.id();
    for response in [counter(bob, None), decline(cat), accept(ada, &slot_id(&made, 0))] {
        respond(&api, &id, response).await.expect(200);
    }
    let full = get_proposal(&api, &id).await;
    assert_eq!(full["created_events"].as_array().map(Vec::len), Some(3), "{}", full.describe());
    // With the default placement, the same messages name one event.
    let single = crew.team.propose(&api, &offered, json!({})).await;
    respond(&api, &single.id(), accept(ada, &slot_id(&single, 0))).await.expect(200);
    let resolved = resolve(&api, &single.id()).await.expect(200);

    // Created, responded, confirmed, and the events.
    let received = receiver.wait_for("/", (1 + 3) + (1 + 3 + 1 + 3) + (1 + 1 + 1 + 1)).await;
    for (event_type, count) in types.into_iter().zip([4, 3, 7, 2, 0, 0]) {
        let found = received.iter().filter(|one| one.event_type() == event_type).count();
        assert_eq!(found, count, "{event_type}");
    }
    let bodies = |event_type: &str, field: &str, id: &Value| -> Vec<Value> {
        let of_type = received.iter().filter(|one| one.event_type() == event_type).map(|one| one.json());
        of_type.filter(|body| body[field] == *id).collect()
    };
    for made in [&stuck, &made, &single] {
        assert_eq!(bodies("proposal.created", "id", &made["id"]), std::slice::from_ref(&made.json));
    }
    let confirmed = json!({
        "proposal_id": id, "resolved_slot": made.at("/slots/0"), "created_event_id": full["created_event_id"],
        "created_events": full["created_events"],
    });
    assert_eq!(bodies("proposal.confirmed", "proposal_id", &made["id"]), [confirmed]);
    let event = &resolved["created_event_id"];
    let confirmed = json!({
        "proposal_id": single.id(), "resolved_slot": single.at("/slots/0"), "created_event_id": event,
        "created_events": [{ "agent_id": crew.team.organizer, "event_id": event }],
    });
    assert_eq!(bodies("proposal.confirmed", "proposal_id", &single["id"]), [confirmed]);
    let of_all = full["created_events"].as_array().unwrap().iter().map(|one| one["event_id"].clone());
    for event in of_all.chain([event.clone()]) {
        let shown = api.get(format!("/v1/events/{}", event.as_str().unwrap())).await.expect(200);
        assert_eq!(bodies("event.created", "id", &event), [shown.json]);
    }
    assert_eq!(receiver.received("/").len(), 16, "no other messages");
}

#[apply(on_both)]
#[tokio::test]
async fn a_deleted_calendar_gets_no_event(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    for end in ["respond", "resolve"] {
        let crew = Crew::of(&api, 3).await;
        let ([ada, bob, cat], [of_ada, of_bob, of_cat]) = (crew.agents(), crew.homes());
        let named = calendar_of(&api, ada).await;
        let made = crew.propose(&api, &[slot("09:00", "10:00")], json!({ "min_accepts": 2 })).await;
        let (id, only) = (made.id(), slot_id(&made, 0));
        respond(&api, &id, on(accept(ada, &only), &named)).await.expect(200);
        respond(&api, &id, accept(cat, &only)).await.expect(200);
        // One named a calendar, and has another one. The other one has none any more. Their responses still count.
        for calendar in [named.as_str(), of_cat] {
            api.delete(format!("/v1/calendars/{calendar}")).await.expect(204);
        }
        let answered = match end {
            "respond" => respond(&api, &id, counter(bob, None)).await.expect(200),
            _ => resolve(&api, &id).await.expect(200),
        };
        assert_eq!(answered["status"], "confirmed", "{}", answered.describe());
        let expected = [crew.organizer("09:00"), entry(bob, of_bob, "tentative", "09:00")];
        assert_eq!(placed(&api, &id).await, expected, "{end}");
        assert_eq!(counts(&api, &[&crew.team.calendar, of_ada, of_bob]).await, [1, 0, 1]);
    }

    // Without the organizer's calendar, a slot is skipped for everybody.
    let crew = Crew::of(&api, 1).await;
    let ([ada], [of_ada]) = (crew.agents(), crew.homes());
    let gone = calendar_of(&api, &crew.team.organizer).await;
    let best = elsewhere("09:00", "10:00", &gone);
    let lost = crew.propose(&api, std::slice::from_ref(&best), json!({})).await;
    let kept = crew.propose(&api, &[best, slot("11:00", "12:00")], json!({})).await;
    api.delete(format!("/v1/calendars/{gone}")).await.expect(204);
    let answered = respond(&api, &lost.id(), accept(ada, &slot_id(&lost, 0))).await.expect(200);
    assert_eq!((&answered["status"], &answered["created_events"]), (&json!("pending"), &json!([])));
    assert_eq!(counts(&api, &[&crew.team.calendar, of_ada]).await, [0, 0]);
    respond(&api, &kept.id(), accept(ada, &slot_id(&kept, 0))).await.expect(200);
    let expected = [crew.organizer("11:00"), entry(ada, of_ada, "tentative", "11:00")];
    assert_eq!(placed(&api, &kept.id()).await, expected);
}

#[apply(on_both)]
#[tokio::test]
async fn at_most_twenty_agents_get_an_event(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "custom").await;
    let crew = Crew::of(&api, 20).await;
    let offered = [slot("09:00", "10:00")];
    let others = crew.team.participants.as_slice();
    let with_organizer = |count: usize| [&others[..count], std::slice::from_ref(&crew.team.organizer)].concat();
    let request = |placement: &str, participants: &[String]| {
        let more = json!({ "placement": placement, "participant_agent_ids": participants });
        api.post(PROPOSALS).json(crew.team.body(&offered, &more))
    };
    for participants in [others.to_vec(), with_organizer(20)] {
        request("all", &participants).await.refused(400, "validation").param("participant_agent_ids");
        request("organizer", &participants).await.expect(201);
    }
    request("all", &others[..19]).await.expect(201);
    assert_eq!(api.get(PROPOSALS).await.expect(200)["total"], 3);
    // The organizer counts once, even if it is a participant.
    let made = request("all", &with_organizer(19)).await.expect(201);
    let id = made.id();
    respond(&api, &id, accept(&others[7], &slot_id(&made, 0))).await.expect(200);
    resolve(&api, &id).await.expect(200);
    let mut expected = vec![crew.organizer("09:00")];
    for (index, (agent, calendar)) in others[..19].iter().zip(&crew.calendars).enumerate() {
        expected.push(entry(agent, calendar, if index == 7 { "confirmed" } else { "tentative" }, "09:00"));
    }
    assert_eq!(placed(&api, &id).await, expected);
    let homes: Vec<&str> = crew.calendars.iter().map(String::as_str).collect();
    assert_eq!(counts(&api, &homes).await, [vec![1; 19], vec![0]].concat());
    assert_eq!((counts(&api, &[&crew.team.calendar]).await, used(&api).await), (vec![1], 20));
}

#[apply(on_both)]
#[tokio::test]
async fn the_keys_of_agents_place_events_for_everybody(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let crew = Crew::of(&api, 3).await;
    let ([ada, bob, cat], [of_ada, of_bob, of_cat]) = (crew.agents(), crew.homes());
    let organizer = key_of(&server, &api, &crew.team.organizer).await;
    let (by_ada, by_bob) = (key_of(&server, &api, ada).await, key_of(&server, &api, bob).await);
    let second = calendar_of(&api, bob).await;
    let made = crew.propose(&organizer, &[slot("09:00", "10:00")], json!({ "min_accepts": 2 })).await;
    let (id, only) = (made.id(), slot_id(&made, 0));
    respond(&by_ada, &id, on(accept(ada, &only), of_ada)).await.expect(200);
    for calendar in [of_ada, &crew.team.calendar] {
        let refused = respond(&by_bob, &id, on(accept(bob, &only), calendar)).await;
        refused.refused(400, "validation").param("calendar_id");
    }
    let unknown = respond(&by_bob, &id, on(accept(bob, &only), "cal_00000000000000000000000000")).await;
    unknown.refused(404, "not_found").code("calendar_not_found");
    respond(&by_bob, &id, accept(bob, &only)).await.refused(400, "validation").param("calendar_id");
    respond(&by_bob, &id, on(accept(ada, &only), of_ada)).await.refused(403, "forbidden");
    let answered = respond(&by_bob, &id, on(accept(bob, &only), &second)).await.expect(200);
    assert_eq!(answered.at("/responses/1/calendar_id"), second);
    resolve(&by_bob, &id).await.refused(403, "forbidden");
    resolve(&organizer, &id).await.expect(200);
    let expected = [
        crew.organizer("09:00"),
        entry(ada, of_ada, "confirmed", "09:00"),
        entry(bob, &second, "confirmed", "09:00"),
        entry(cat, of_cat, "tentative", "09:00"),
    ];
    assert_eq!(placed(&api, &id).await, expected);
    assert_eq!(counts(&api, &[&crew.team.calendar, of_ada, of_bob, &second, of_cat]).await, [1, 1, 0, 1, 1]);
    let full = get_proposal(&api, &id).await;
    for key in [&organizer, &by_ada, &by_bob] {
        assert_eq!(get_proposal(key, &id).await.json, full.json);
    }
    // Each agent has its event, as any other of its own.
    assert_eq!(events_of(&by_ada, of_ada).await[0]["id"], full.at("/created_events/1/event_id"));
}

/// The number of the calendar's events that start at this time.
async fn starting(api: &Client, calendar: &str, start: &str) -> usize {
    events_of(api, calendar).await.iter().filter(|event| event["startTime"] == start).count()
}

#[rstest]
#[case::sqlite(Sqlite, 1)]
#[case::postgres(Postgres, 1)]
#[case::two_processes(Postgres, 2)]
#[tokio::test]
async fn one_of_two_proposals_gets_the_time_of_all_calendars(#[case] database: Database, #[case] nodes: usize) {
    const ROUNDS: usize = 10;
    let racers = Racers::on(database, nodes).await;
    let api = &racers.api;
    let first = Crew::of(api, 2).await;
    let [ada, bob] = first.agents();
    // The other organizer has a calendar of its own, and names the participants in the other order.
    let (organizer, calendar) = agent_with_calendar(api).await;
    let second = Team { organizer, calendar, participants: vec![bob.to_owned(), ada.to_owned()] };
    let teams = [&first.team, &second];
    let strict = [calendar_of(api, ada).await, calendar_of(api, bob).await];
    for calendar in &strict {
        refuse(api, calendar).await;
    }
    for round in 0..ROUNDS {
        // Taken times are skipped because the proposals say so, or because the calendars do.
        let skip_taken = round % 2 == 0;
        let [of_ada, of_bob] = if skip_taken { first.homes() } else { [&*strict[0], &*strict[1]] };
        let mut calls = Vec::new();
        for (number, team) in teams.into_iter().enumerate() {
            let more = everybody(json!({ "skip_taken": skip_taken }));
            let made = team.propose(api, &[slot_of(round)], more).await;
            let (id, only) = (made.id(), slot_id(&made, 0));
            let responses = [on(accept(ada, &only), of_ada), on(accept(bob, &only), of_bob)];
            // The last responses come from different participants in some of the rounds.
            let last = (round / 2 + number) % 2;
            let [early, late] = if last == 0 { [&responses[1], &responses[0]] } else { [&responses[0], &responses[1]] };
            is_pending(&respond(api, &id, early.clone()).await.expect(200), &[]);
            calls.push(respond(racers.turn(number + round), &id, late.clone()));
        }
        let answers = at_once(calls).await;
        let winner = usize::from(answers[1]["status"] == "confirmed");
        let [won, lost] = [winner, 1 - winner].map(|number| answers[number].clone().expect(200));
        assert_eq!((&won["status"], notices(&won)), (&json!("confirmed"), Vec::new()), "{}", won.describe());
        is_pending(&lost, &["slot_taken"]);
        is_unresolved(racers.turn(round), &lost.id(), "slot_taken").await;
        assert_eq!(placed(api, &lost.id()).await, [""; 0]);

        let (team, start) = (teams[winner], hour(round).0);
        let clock = &start[11..16];
        let mut others = [entry(ada, of_ada, "confirmed", clock), entry(bob, of_bob, "confirmed", clock)];
        if winner == 1 {
            others.reverse();
        }
        let [one, other] = others;
        let expected = [entry(&team.organizer, &team.calendar, "confirmed", clock), one, other];
        assert_eq!(placed(racers.turn(round + 1), &won.id()).await, expected);
        for calendar in [of_ada, of_bob, &team.calendar] {
            assert_eq!(starting(api, calendar, &start).await, 1, "each calendar has one event");
        }
        assert_eq!(starting(api, &teams[1 - winner].calendar, &start).await, 0);
    }
    assert_eq!(racers.message_count("proposal.confirmed").await, i64::try_from(ROUNDS).unwrap());
    assert_eq!(racers.message_count("event.created").await, i64::try_from(3 * ROUNDS).unwrap());
    assert_eq!(used(api).await, u64::try_from(3 * ROUNDS).unwrap());
}

#[rstest]
#[case::sqlite(Sqlite, 1)]
#[case::postgres(Postgres, 1)]
#[case::two_processes(Postgres, 2)]
#[tokio::test]
async fn a_proposal_places_its_events_once(#[case] database: Database, #[case] nodes: usize) {
    const ROUNDS: usize = 8;
    let racers = Racers::on(database, nodes).await;
    let api = &racers.api;
    let crew = Crew::of(api, 3).await;
    let [ada, bob, cat] = crew.agents();
    for round in 0..ROUNDS {
        let made = crew.propose(api, &[slot_of(round)], json!({ "skip_taken": round % 2 == 0 })).await;
        let (id, only) = (made.id(), slot_id(&made, 0));
        respond(api, &id, accept(ada, &only)).await.expect(200);
        let call = |number: usize| {
            let api = racers.turn(number + round / 2);
            match number {
                0 => respond(api, &id, accept(bob, &only)),
                1 => respond(api, &id, accept(cat, &only)),
                _ => resolve(api, &id),
            }
        };
        // The order differs from round to round.
        let answers = at_once((0..6).map(|number| call((number + round) % 6)).collect()).await;
        let confirmed = answers.iter().filter(|answer| answer["status"] == "confirmed").count();
        assert_eq!(confirmed, 1, "one request ends it");
        for answer in answers.into_iter().filter(|answer| answer.status != 200) {
            answer.refused(409, "conflict").code("proposal_not_pending");
        }
        // Nobody declined, and each has one calendar. Who had not responded yet gets a tentative event.
        let full = get_proposal(racers.turn(round), &id).await;
        let responded: Vec<&str> =
            full["responses"].as_array().unwrap().iter().map(|one| one["agent_id"].as_str().unwrap()).collect();
        let start = hour(round).0;
        let clock = &start[11..16];
        let mut expected = vec![crew.organizer(clock)];
        for (agent, calendar) in crew.team.participants.iter().zip(&crew.calendars) {
            let status = if responded.contains(&agent.as_str()) { "confirmed" } else { "tentative" };
            expected.push(entry(agent, calendar, status, clock));
        }
        assert_eq!(placed(api, &id).await, expected);
        for calendar in crew.calendars.iter().chain([&crew.team.calendar]) {
            assert_eq!(starting(api, calendar, &start).await, 1);
        }
    }
    assert_eq!(racers.message_count("proposal.confirmed").await, i64::try_from(ROUNDS).unwrap());
    assert_eq!(racers.message_count("event.created").await, i64::try_from(4 * ROUNDS).unwrap());
    assert_eq!(used(api).await, u64::try_from(4 * ROUNDS).unwrap());
}

#[rstest]
#[case::sqlite(Sqlite, 1)]
#[case::postgres(Postgres, 1)]
#[case::two_processes(Postgres, 2)]
#[tokio::test]
async fn a_participant_s_time_is_placed_or_taken(#[case] database: Database, #[case] nodes: usize) {
    const ROUNDS: usize = 10;
    let racers = Racers::on(database, nodes).await;
    let api = &racers.api;
    let crew = Crew::of(api, 2).await;
    let ([ada, bob], [of_ada, of_bob]) = (crew.agents(), crew.homes());
    let until = in_seconds(api, 890).await;
    let mut confirmed = 0;
    for round in 0..ROUNDS {
        let (start, end) = hour(round);
        let made = crew.propose(api, &[slot_of(round)], json!({ "skip_taken": true })).await;
        let (id, only) = (made.id(), slot_id(&made, 0));
        respond(api, &id, accept(ada, &only)).await.expect(200);
        let events = format!("/v1/calendars/{of_ada}/events");
        let mut wanted = event_body("Standup", &start, &end);
        wanted["if_free"] = json!(true);
        let call = |number: usize| {
            let api = racers.turn(number + round / 3);
            match number {
                0 => respond(api, &id, accept(bob, &only)),
                1 => api.post(&events).json(hold_body(&start, &end, &until, 100)),
                _ => api.post(&events).json(wanted.clone()),
            }
        };
        // The order differs from round to round.
        let mut answers = at_once((0..3).map(|number| call((number + round) % 3)).collect()).await;
        answers.rotate_right(round % 3);
        let [answered, hold, other] = answers.try_into().unwrap();
        let answered = answered.expect(200);
        let created = usize::from(hold.status == 201) + usize::from(other.status == 201);
        for refused in [hold, other].into_iter().filter(|answer| answer.status != 201) {
            refused.refused(409, "conflict").code("slot_taken");
        }
        let placed_here = if answered["status"] == "confirmed" {
            assert_eq!(notices(&answered), [""; 0]);
            assert_eq!(answered["created_events"].as_array().map(Vec::len), Some(3));
            1
        } else {
            is_pending(&answered, &["slot_taken"]);
            0
        };
        assert_eq!(created + placed_here, 1, "one of them gets the time");
        let mut found = Vec::new();
        for calendar in [of_ada, of_bob, &crew.team.calendar] {
            found.push(starting(api, calendar, &start).await);
        }
        assert_eq!(found, [1, placed_here, placed_here], "all events of a proposal or none");
        confirmed += placed_here;
    }
    eprintln!("{confirmed} of {ROUNDS} were confirmed on {database:?}");
    assert_eq!(racers.message_count("proposal.confirmed").await, i64::try_from(confirmed).unwrap());
}
