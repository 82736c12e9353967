//! Concurrent responses, resolutions, cancellations and reservations, on one database and through two processes on
//! Postgres; and a plan's limits on proposals.

use crate::on_both;
use std::{collections::BTreeMap, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use futures::future::join_all;
use kalends_e2e::{
    Answer, Call, Client, Database,
    Database::{Postgres, Sqlite},
    Server, at, iso,
};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    fixtures::{PATIENCE, calendar_of, event, now, rows, wait_until},
    holds::{hold_body, in_seconds},
    proposals::{
        PROPOSALS, Team, accept, cancel, decline, events_of, get_proposal, resolve, respond, slot, slot_id, time,
    },
};

/// A server, a second node if there is one, and clients of both, used in turn.
pub(crate) struct Racers {
    server: Server,
    node: Option<Server>,
    pub(crate) api: Client,
    apis: Vec<Client>,
}

impl Racers {
    pub(crate) async fn on(database: Database, nodes: usize) -> Self {
        Self::limited(database, nodes, "{}").await
    }

    async fn limited(database: Database, nodes: usize, limits: &str) -> Self {
        let server = Server::start(database).await;
        let org = server.org_with("pro", &["--limits", limits]).await;
        let api = server.api(&org);
        let node = if nodes > 1 { Some(server.another_node().await) } else { None };
        let apis = std::iter::once(api.clone()).chain(node.iter().map(|node| node.api(&org))).collect();
        // Without a webhook, no message is stored.
        let listener = json!({ "url": "https://kalends.invalid/", "events": ["webhook.deactivated"] });
        api.post("/v1/webhooks").json(listener).await.expect(201);
        Self { server, node, api, apis }
    }

    /// Restarts the nodes with their clocks moved by this many seconds.
    async fn restart_at_offset(&mut self, seconds: i64) {
        for (place, node) in std::iter::once(&mut self.server).chain(&mut self.node).enumerate() {
            node.restart_at_offset(seconds).await;
            self.apis[place] = self.apis[place].moved_to(node.base_url());
        }
        self.api = self.apis[0].clone();
    }

    /// The client whose turn it is.
    pub(crate) fn turn(&self, number: usize) -> &Client {
        &self.apis[number % self.apis.len()]
    }

    /// The number of messages of a type that were written.
    pub(crate) async fn message_count(&self, event_type: &str) -> i64 {
        rows(&self.server, &format!("outbox where event_type = '{event_type}'")).await
    }

    async fn total(&self, path: &str) -> usize {
        usize::try_from(self.api.get(path).await.expect(200)["total"].as_u64().unwrap()).unwrap()
    }
}

/// Sends all calls at once. The answers are in the order of the calls.
pub(crate) async fn at_once(calls: Vec<Call>) -> Vec<Answer> {
    let running: Vec<_> = calls.into_iter().map(|call| tokio::spawn(call.into_future())).collect();
    join_all(running).await.into_iter().map(Result::unwrap).collect()
}

/// The number of answers with each status and code.
fn counted(answers: &[Answer]) -> BTreeMap<(u16, String), usize> {
    answers.iter().fold(BTreeMap::new(), |mut counts, answer| {
        let code =
            answer.at("/error/code").as_str().or(answer.at("/error/type").as_str()).unwrap_or_default().to_owned();
        *counts.entry((answer.status, code)).or_default() += 1;
        counts
    })
}

fn count(status: u16, code: &str, count: usize) -> ((u16, String), usize) {
    ((status, code.to_owned()), count)
}

/// A separate hour for each round.
pub(crate) fn hour(round: usize) -> (String, String) {
    let start: DateTime<Utc> = at("2031-03-03T00:00:00Z") + TimeDelta::hours(i64::try_from(round).unwrap());
    (iso(start), iso(start + TimeDelta::hours(1)))
}

pub(crate) fn slot_of(round: usize) -> Value {
    let (start, end) = hour(round);
    json!({ "start_time": start, "end_time": end })
}

#[rstest]
#[case::sqlite(Sqlite, 1)]
#[case::postgres(Postgres, 1)]
#[case::two_processes(Postgres, 2)]
#[tokio::test]
async fn only_one_of_the_last_responses_resolves(#[case] database: Database, #[case] nodes: usize) {
    const ROUNDS: usize = 10;
    const PARTICIPANTS: usize = 6;
    let racers = Racers::on(database, nodes).await;
    let team = Team::of(&racers.api, PARTICIPANTS).await;
    let events = format!("/v1/calendars/{}/events", team.calendar);
    for round in 0..ROUNDS {
        let more = json!({ "hold_slots": round % 2 == 0, "skip_taken": round % 3 == 0 });
        let made = team.propose(&racers.api, &[slot_of(round), slot_of(1_000 + round)], more).await;
        let (id, first) = (made.id(), slot_id(&made, 0));
        let respond = |(number, agent): (usize, &String)| respond(racers.turn(number), &id, accept(agent, &first));
        let answers = at_once(team.participants.iter().enumerate().map(respond).collect()).await;
        assert_eq!(counted(&answers), BTreeMap::from([count(200, "", PARTICIPANTS)]));
        let confirmed = answers.iter().filter(|answer| answer["status"] == "confirmed").count();
        assert_eq!(confirmed, 1, "only the last response resolves");
        let full = get_proposal(racers.turn(round), &id).await;
        assert_eq!((&full["status"], &full["resolved_slot_id"]), (&json!("confirmed"), &json!(first)));
        assert_eq!(full["responses"].as_array().map(Vec::len), Some(PARTICIPANTS));
        assert_eq!(racers.total(&events).await, round + 1, "one event for each proposal");
    }
    assert_eq!(racers.message_count("proposal.confirmed").await, i64::try_from(ROUNDS).unwrap());
    assert_eq!(racers.message_count("event.created").await, i64::try_from(ROUNDS).unwrap());
    assert_eq!(racers.message_count("proposal.responded").await, i64::try_from(ROUNDS * PARTICIPANTS).unwrap());
    assert_eq!(racers.api.get("/v1/usage").await.expect(200)["events"]["used"], ROUNDS);
}

#[rstest]
#[case::sqlite(Sqlite, 1)]
#[case::postgres(Postgres, 1)]
#[case::two_processes(Postgres, 2)]
#[tokio::test]
async fn only_one_of_the_last_refusals_cancels(#[case] database: Database, #[case] nodes: usize) {
    const ROUNDS: usize = 6;
    const PARTICIPANTS: usize = 5;
    let racers = Racers::on(database, nodes).await;
    let team = Team::of(&racers.api, PARTICIPANTS).await;
    for round in 0..ROUNDS {
        let id = team.propose(&racers.api, &[slot_of(round)], json!({})).await.id();
        let respond = |(number, agent): (usize, &String)| respond(racers.turn(number), &id, decline(agent));
        let answers = at_once(team.participants.iter().enumerate().map(respond).collect()).await;
        assert_eq!(counted(&answers), BTreeMap::from([count(200, "", PARTICIPANTS)]));
        assert_eq!(answers.iter().filter(|answer| answer["status"] == "cancelled").count(), 1);
        assert_eq!(get_proposal(&racers.api, &id).await["reason"], "all_declined");
    }
    assert_eq!(racers.message_count("proposal.cancelled").await, i64::try_from(ROUNDS).unwrap());
    assert_eq!(racers.total(&format!("/v1/calendars/{}/events", team.calendar)).await, 0);
}

#[rstest]
#[case::sqlite(Sqlite, 1)]
#[case::postgres(Postgres, 1)]
#[case::two_processes(Postgres, 2)]
#[tokio::test]
async fn a_participant_responds_only_once(#[case] database: Database, #[case] nodes: usize) {
    const ATTEMPTS: usize = 8;
    let racers = Racers::on(database, nodes).await;
    let team = Team::of(&racers.api, 2).await;
    for round in 0..6 {
        let made = team.propose(&racers.api, &[slot_of(round)], json!({})).await;
        let response = accept(&team.participants[0], &slot_id(&made, 0));
        let respond = |number| respond(racers.turn(number), &made.id(), response.clone());
        let answers = at_once((0..ATTEMPTS).map(respond).collect()).await;
        let expected = BTreeMap::from([count(200, "", 1), count(409, "duplicate_response", ATTEMPTS - 1)]);
        assert_eq!(counted(&answers), expected);
        let full = get_proposal(&racers.api, &made.id()).await;
        assert_eq!((&full["status"], full["responses"].as_array().map(Vec::len)), (&json!("pending"), Some(1)));
    }
    assert_eq!(racers.message_count("proposal.responded").await, 6);
}

/// Sends all of these calls at once to a proposal that one of two participants has accepted. One of them ends it.
async fn one_ends_it(racers: &Racers, rounds: usize, ends: &[&str]) {
    let team = Team::of(&racers.api, 2).await;
    let events = format!("/v1/calendars/{}/events", team.calendar);
    let mut confirmed = 0;
    for round in 0..rounds {
        let made = team.propose(&racers.api, &[slot_of(round)], json!({ "hold_slots": round % 2 == 0 })).await;
        let (id, only) = (made.id(), slot_id(&made, 0));
        respond(&racers.api, &id, accept(&team.participants[0], &only)).await.expect(200);
        // The order differs from round to round.
        let order: Vec<&str> = (0..ends.len()).map(|number| ends[(number + round) % ends.len()]).collect();
        let call = |(number, end): (usize, &&str)| {
            let api = racers.turn(number + round / 2);
            match *end {
                "respond" => respond(api, &id, accept(&team.participants[1], &only)),
                "resolve" => resolve(api, &id),
                _ => cancel(api, &id),
            }
        };
        let answers = at_once(order.iter().enumerate().map(call).collect()).await;
        let expected = BTreeMap::from([count(200, "", 1), count(409, "proposal_not_pending", ends.len() - 1)]);
        assert_eq!(counted(&answers), expected, "{order:?}");
        let winner = answers.iter().find(|answer| answer.status == 200).unwrap();
        let full = get_proposal(&racers.api, &id).await;
        assert_eq!(full["status"], winner["status"], "{}", winner.describe());
        confirmed += usize::from(full["status"] == "confirmed");
        assert_eq!(racers.total(&events).await, confirmed, "one event for each confirmed proposal");
    }
    eprintln!("{confirmed} of {rounds} were confirmed: {ends:?}");
    assert_eq!(racers.message_count("proposal.confirmed").await, i64::try_from(confirmed).unwrap());
    assert_eq!(racers.message_count("proposal.cancelled").await, i64::try_from(rounds - confirmed).unwrap());
    assert_eq!(racers.api.get("/v1/usage").await.expect(200)["events"]["used"], confirmed);
}

#[rstest]
#[case::sqlite(Sqlite, 1)]
#[case::postgres(Postgres, 1)]
#[case::two_processes(Postgres, 2)]
#[tokio::test]
async fn only_one_request_ends_a_proposal(
    #[case] database: Database,
    #[case] nodes: usize,
    #[values(
        &["resolve", "cancel"],
        &["respond", "cancel"],
        &["resolve"; 24],
        &["respond", "resolve", "cancel", "resolve", "cancel", "resolve"],
    )]
    ends: &[&str],
) {
    one_ends_it(&Racers::on(database, nodes).await, 12, ends).await;
}

#[rstest]
#[case::sqlite(Sqlite, 1)]
#[case::postgres(Postgres, 1)]
#[case::two_processes(Postgres, 2)]
#[tokio::test]
async fn a_time_is_reserved_once(#[case] database: Database, #[case] nodes: usize) {
    const ROUNDS: usize = 10;
    const PROPOSERS: usize = 8;
    let racers = Racers::on(database, nodes).await;
    let team = Team::of(&racers.api, 1).await;
    let second = calendar_of(&racers.api, &team.organizer).await;
    let pending = "/v1/scheduling/proposals?status=pending";
    for round in 0..ROUNDS {
        // Each request wants the same two times on two calendars, in either order. They must not deadlock.
        let (here, mut there) = (slot_of(round), slot_of(round));
        there["calendar_id"] = json!(second);
        let propose = |number: usize| {
            let offered =
                if number.is_multiple_of(2) { [here.clone(), there.clone()] } else { [there.clone(), here.clone()] };
            racers.turn(number / 2).post(PROPOSALS).json(team.body(&offered, &json!({ "hold_slots": true })))
        };
        let answers = at_once((0..PROPOSERS).map(propose).collect()).await;
        let expected = BTreeMap::from([count(201, "", 1), count(409, "slot_taken", PROPOSERS - 1)]);
        assert_eq!(counted(&answers), expected);
        let winner = answers.iter().find(|answer| answer.status == 201).unwrap();
        assert_eq!(racers.api.get(pending).await.expect(200).column("id"), [winner.id()]);
        cancel(racers.turn(round), &winner.id()).await.expect(200);
    }
}

#[rstest]
#[case::sqlite(Sqlite, 1)]
#[case::postgres(Postgres, 1)]
#[case::two_processes(Postgres, 2)]
#[tokio::test]
async fn a_time_is_held_or_reserved(#[case] database: Database, #[case] nodes: usize) {
    const ROUNDS: usize = 12;
    let racers = Racers::on(database, nodes).await;
    let team = Team::of(&racers.api, 1).await;
    let events = format!("/v1/calendars/{}/events", team.calendar);
    let until = in_seconds(&racers.api, 890).await;
    let mut held = 0;
    for round in 0..ROUNDS {
        let (start, end) = hour(round);
        let reserve = |number| {
            let body = team.body(&[slot_of(round)], &json!({ "hold_slots": true }));
            racers.turn(number).post(PROPOSALS).json(body)
        };
        let hold = |number| racers.turn(number).post(&events).json(hold_body(&start, &end, &until, 100));
        let calls = match round % 2 {
            0 => vec![reserve(0), hold(1), reserve(1), hold(0)],
            _ => vec![hold(0), reserve(1), hold(1), reserve(0)],
        };
        let answers = at_once(calls).await;
        assert_eq!(counted(&answers), BTreeMap::from([count(201, "", 1), count(409, "slot_taken", 3)]));
        let winner = answers.iter().find(|answer| answer.status == 201).unwrap();
        held += usize::from(winner.id().starts_with("evt_"));
        assert_eq!((racers.total(&events).await, racers.total(PROPOSALS).await), (held, round + 1 - held));
    }
    eprintln!("{held} of {ROUNDS} were held on {database:?}");
}

#[tokio::test]
async fn a_reservation_is_visible_to_another_process() {
    let racers = Racers::on(Postgres, 2).await;
    let team = Team::of(&racers.api, 1).await;
    let (start, end) = hour(0);
    let path = format!("/v1/calendars/{}/availability?start={start}&end={end}&slot_duration=1h", team.calendar);
    let free = async |number: usize| racers.turn(number).get(&path).await.expect(200)["slots"] != json!([]);
    for round in 0..6 {
        // Both nodes have read the calendar and may have cached it.
        assert_eq!((free(0).await, free(1).await), (true, true));
        let more = json!({ "hold_slots": true });
        let id = team.propose(racers.turn(round), &[slot_of(0)], more).await.id();
        assert_eq!((free(round + 1).await, free(round).await), (false, false));
        cancel(racers.turn(round + 1), &id).await.expect(200);
        assert_eq!((free(round).await, free(round + 1).await), (true, true));
    }
}

#[rstest]
#[case::sqlite(Sqlite, 1)]
#[case::postgres(Postgres, 1)]
#[case::two_processes(Postgres, 2)]
#[tokio::test]
async fn two_proposals_that_skip_taken_times_do_not_overlap(#[case] database: Database, #[case] nodes: usize) {
    // Both skip taken times and prefer the same slot. One gets it, and the other gets the remaining one.
    let racers = Racers::on(database, nodes).await;
    let team = Team::of(&racers.api, 1).await;
    let mut best = slot_of(0);
    best["weight"] = json!(5);
    for round in 0..8 {
        (best["start_time"], best["end_time"]) = (json!(hour(2 * round).0), json!(hour(2 * round).1));
        let mut calls = Vec::new();
        for number in 0..2 {
            let offered = [best.clone(), slot_of(2 * round + 1)];
            let made = team.propose(&racers.api, &offered, json!({ "skip_taken": true })).await;
            let response = accept(&team.participants[0], &slot_id(&made, 0));
            calls.push(respond(racers.turn(number), &made.id(), response));
        }
        let answers = at_once(calls).await;
        assert_eq!(counted(&answers), BTreeMap::from([count(200, "", 2)]));
        let mut starts = Vec::new();
        for answer in &answers {
            assert_eq!(answer["status"], "confirmed", "{}", answer.describe());
            let id = answer["created_event_id"].as_str().unwrap();
            starts.push(racers.api.get(format!("/v1/events/{id}")).await.expect(200)["startTime"].clone());
        }
        starts.sort_by_key(ToString::to_string);
        assert_eq!(starts, [json!(hour(2 * round).0), json!(hour(2 * round + 1).0)]);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn scheduling_needs_a_paid_plan(#[case] database: Database) {
    let server = Server::start(database).await;
    let api = server.api(&server.org("free").await);
    let team = Team::of(&api, 1).await;
    let id = "spr_00000000000000000000000000";
    for call in [
        api.post(PROPOSALS).json(team.body(&[slot("09:00", "10:00")], &json!({}))),
        api.get(PROPOSALS),
        api.get(format!("{PROPOSALS}/{id}")),
        respond(&api, id, decline(&team.participants[0])),
        resolve(&api, id),
        cancel(&api, id),
    ] {
        let refused = call.await.refused(403, "plan_required");
        let error = &refused["error"];
        assert_eq!((&error["feature"], &error["required_plan"]), (&json!("scheduling"), &json!("pro")));
        assert!(error["upgrade_url"].is_null() && error["docs_url"].is_string(), "{}", refused.describe());
    }
    let anybody = server.anonymous();
    for call in [anybody.post(PROPOSALS).json(json!({})), anybody.get(PROPOSALS), cancel(&anybody, id)] {
        call.await.refused(401, "unauthorized");
    }
    assert_eq!(api.get("/v1/usage").await.expect(200)["proposals"], json!({ "used": 0, "limit": 0 }));
}

#[apply(on_both)]
#[tokio::test]
async fn proposals_and_their_events_are_counted(#[case] database: Database) {
    let server = Server::start(database).await;
    let org = server.org_with("pro", &["--limits", r#"{"proposals":3,"events":1}"#]).await;
    let api = server.api(&org);
    let team = Team::of(&api, 2).await;
    let [ada, bob] = [0, 1].map(|index| team.participants[index].as_str());
    let offered = [slot("09:00", "10:00")];
    let made = team.propose(&api, &offered, json!({})).await;
    let only = slot_id(&made, 0);
    let used = async || {
        let usage = api.get("/v1/usage").await.expect(200);
        (usage["proposals"].clone(), usage["events"]["used"].clone())
    };
    let counted = |proposals: u32, events: u32| (json!({ "used": proposals, "limit": 3 }), json!(events));
    assert_eq!(used().await, counted(1, 0), "a pending proposal has no event");
    let over = team.propose(&api, &offered, json!({})).await;
    cancel(&api, &over.id()).await.expect(200);
    team.propose(&api, &offered, json!({})).await;
    let full = api.post(PROPOSALS).json(team.body(&offered, &json!({}))).await;
    let full = full.refused(429, "quota_exceeded").mentions("proposals");
    assert!(full.header("retry-after").parse::<i64>().is_ok_and(|seconds| seconds > 0), "{}", full.describe());
    assert_eq!(used().await, counted(3, 0), "counted by month, whatever their outcome");

    // Another event uses up the month's quota.
    event(&api, &team.calendar, &time("09:00"), &time("10:00")).await;
    respond(&api, &made.id(), accept(ada, &only)).await.expect(200);
    let before = get_proposal(&api, &made.id()).await;
    for call in [respond(&api, &made.id(), accept(bob, &only)), resolve(&api, &made.id())] {
        let full = call.await.refused(429, "quota_exceeded").mentions("events");
        assert!(full.header("retry-after").parse::<i64>().is_ok_and(|seconds| seconds > 0), "{}", full.describe());
        assert_eq!(get_proposal(&api, &made.id()).await.json, before.json, "nothing is recorded");
    }
    assert_eq!((used().await, events_of(&api, &team.calendar).await.len()), (counted(3, 1), 1));
    let limits = r#"{"proposals":3,"events":2,"rate_per_second":1000000}"#;
    server.cli(&["org", "set-plan", &org.id, "pro", "--limits", limits]).await.succeeded();
    wait_until(|| async { api.get("/v1/usage").await }, |usage| usage["events"]["limit"] == 2).await;
    assert_eq!(respond(&api, &made.id(), accept(bob, &only)).await.expect(200)["status"], "confirmed");
    assert_eq!((used().await, events_of(&api, &team.calendar).await.len()), (counted(3, 2), 2));
}

#[rstest]
#[case::sqlite(Sqlite, 1)]
#[case::postgres(Postgres, 1)]
#[case::two_processes(Postgres, 2)]
#[tokio::test]
async fn concurrent_requests_stay_within_the_plan(#[case] database: Database, #[case] nodes: usize) {
    let racers = Racers::limited(database, nodes, r#"{"proposals":6,"events":3}"#).await;
    let team = Team::of(&racers.api, 1).await;
    let propose = |number| racers.turn(number).post(PROPOSALS).json(team.body(&[slot_of(number)], &json!({})));
    let made = at_once((0..10).map(propose).collect()).await;
    assert_eq!(counted(&made), BTreeMap::from([count(201, "", 6), count(429, "proposals_limit", 4)]));
    let respond = |(number, made): (usize, &Answer)| {
        respond(racers.turn(number), &made.id(), accept(&team.participants[0], &slot_id(made, 0)))
    };
    let made: Vec<_> = made.into_iter().filter(|answer| answer.status == 201).collect();
    let answers = at_once(made.iter().enumerate().map(respond).collect()).await;
    assert_eq!(counted(&answers), BTreeMap::from([count(200, "", 3), count(429, "events_limit", 3)]));
    assert_eq!(racers.total(&format!("{PROPOSALS}?status=confirmed")).await, 3);
    assert_eq!(racers.total(&format!("{PROPOSALS}?status=pending")).await, 3);
    assert_eq!(racers.total(&format!("/v1/calendars/{}/events", team.calendar)).await, 3);
    let usage = racers.api.get("/v1/usage").await.expect(200);
    assert_eq!((&usage["proposals"]["used"], &usage["events"]["used"]), (&json!(6), &json!(3)));
}

#[rstest]
#[case::sqlite(Sqlite, 1)]
#[case::postgres(Postgres, 1)]
#[case::two_processes(Postgres, 2)]
#[tokio::test]
async fn a_proposal_is_confirmed_or_expires(#[case] database: Database, #[case] nodes: usize) {
    const PROPOSALS_MADE: usize = 24;
    let mut racers = Racers::on(database, nodes).await;
    let team = Team::of(&racers.api, 1).await;
    let expires = at(&in_seconds(&racers.api, 600).await);
    let mut made = Vec::new();
    for number in 0..PROPOSALS_MADE {
        let more = json!({ "expires_at": iso(expires), "hold_slots": number % 2 == 0 });
        made.push(team.propose(&racers.api, &[slot_of(number)], more).await);
    }
    // All proposals expire a few seconds after the first node starts. On a slow machine, that is before the responses.
    let left = (expires - at(&now(&racers.api).await)).num_seconds();
    racers.restart_at_offset(left - 3 * i64::try_from(nodes).unwrap()).await;
    // The responses come from a quarter of a second before the expiry to a quarter of a second after.
    let left = expires - at(&now(&racers.api).await) - TimeDelta::milliseconds(250);
    let begin = tokio::time::Instant::now() + left.to_std().unwrap_or_default();
    let running: Vec<_> = made
        .iter()
        .enumerate()
        .map(|(number, made)| {
            let call = respond(racers.turn(number), &made.id(), accept(&team.participants[0], &slot_id(made, 0)));
            let moment = begin + Duration::from_millis(20 * u64::try_from(number).unwrap());
            tokio::spawn(async move {
                tokio::time::sleep_until(moment).await;
                call.await
            })
        })
        .collect();
    let mut confirmed = 0;
    for (made, answer) in made.iter().zip(join_all(running).await) {
        let answer = answer.unwrap();
        let expected = match answer.status {
            200 => "confirmed",
            _ => {
                answer.refused(409, "conflict").code("proposal_not_pending");
                "expired"
            }
        };
        assert_eq!(get_proposal(&racers.api, &made.id()).await["status"], expected);
        confirmed += usize::from(expected == "confirmed");
    }
    eprintln!("{confirmed} of {PROPOSALS_MADE} were confirmed before they expired on {database:?}");
    assert_eq!(racers.total(&format!("/v1/calendars/{}/events", team.calendar)).await, confirmed);
    assert_eq!(racers.message_count("proposal.confirmed").await, i64::try_from(confirmed).unwrap());
    let expired = i64::try_from(PROPOSALS_MADE - confirmed).unwrap();
    let began = tokio::time::Instant::now();
    while racers.message_count("proposal.expired").await < expired {
        assert!(began.elapsed() < PATIENCE, "expired proposals are announced");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(racers.message_count("proposal.expired").await, expired);
}
