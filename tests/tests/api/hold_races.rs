//! Many concurrent requests for the same time. One of them gets it.

use crate::on_both;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use kalends_e2e::{
    Answer, Call, Client, Database,
    Database::{Postgres, Sqlite},
    Server, at, iso,
};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    fixtures::{agent_with_calendar, calendar_of, event_body, now},
    holds::{hold_body, in_seconds, set_body},
};

/// The number of concurrent requests.
const CONNECTIONS: usize = 64;

/// The start of a quarter of an hour in the far future.
fn quarter(number: usize) -> DateTime<Utc> {
    at("2031-03-03T00:00:00Z") + TimeDelta::minutes(15 * i64::try_from(number).unwrap())
}

/// The start and end of a quarter of an hour, as the service writes them.
pub(crate) fn quarter_of_an_hour(number: usize) -> (String, String) {
    (iso(quarter(number)), iso(quarter(number + 1)))
}

/// A pseudo-random sequence that is the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn shuffle<T>(&mut self, values: &mut [T]) {
        for index in (1..values.len()).rev() {
            values.swap(index, self.below(index + 1));
        }
    }
}

/// Sends all calls in this order, at most `CONNECTIONS` of them at once.
pub(crate) async fn all(calls: Vec<Call>) -> Vec<Answer> {
    let count = calls.len();
    let calls = Arc::new(std::sync::Mutex::new(calls.into_iter().rev().collect::<Vec<_>>()));
    let mut answers = Vec::with_capacity(count);
    let senders: Vec<_> = (0..CONNECTIONS.min(count))
        .map(|_| {
            let calls = Arc::clone(&calls);
            tokio::spawn(async move {
                let mut answers = Vec::new();
                loop {
                    let next = calls.lock().unwrap().pop();
                    let Some(call) = next else { return answers };
                    answers.push(call.await);
                }
            })
        })
        .collect();
    for sender in senders {
        answers.extend(sender.await.unwrap());
    }
    answers
}

/// The number of answers with each status and code.
pub(crate) fn outcomes(answers: &[Answer]) -> BTreeMap<(u16, String), usize> {
    answers.iter().fold(BTreeMap::new(), |mut counts, answer| {
        let code = answer.at("/error/code").as_str().unwrap_or_default().to_owned();
        *counts.entry((answer.status, code)).or_default() += 1;
        counts
    })
}

/// A server, and an organization without effective limits.
pub(crate) async fn unlimited(database: Database) -> (Server, Client) {
    let server = Server::start(database).await;
    let org = server.org_with("custom", &["--limits", r#"{"rate_per_second":100000}"#]).await;
    let api = server.api(&org);
    (server, api)
}

/// The live holds of a calendar, sorted by start. Requires that none of them overlap.
async fn live_holds(api: &Client, calendar: &str) -> Vec<Value> {
    let mut holds: Vec<Value> = Vec::new();
    loop {
        let query = format!("status=hold&limit=200&offset={}", holds.len());
        let page = api.get(format!("/v1/calendars/{calendar}/events?{query}")).await.expect(200);
        holds.extend(page.data());
        if u64::try_from(holds.len()).unwrap() >= page["total"].as_u64().unwrap() {
            break;
        }
    }
    for two in holds.windows(2) {
        assert!(two[0]["endTime"].as_str() <= two[1]["startTime"].as_str(), "{two:#?}");
    }
    holds
}

async fn status_of(api: &Client, id: &str) -> String {
    api.get(format!("/v1/events/{id}")).await.expect(200)["status"].as_str().unwrap().to_owned()
}

#[rstest]
#[case::sqlite(Sqlite, 1)]
#[case::postgres(Postgres, 2)]
#[tokio::test]
async fn two_thousand_attempts_at_one_hundred_slots_have_one_hundred_winners(
    #[case] database: Database,
    #[case] seed: u64,
) {
    each_slot_has_one_winner(database, seed, 25).await;
}

#[rstest]
#[case::sqlite(Sqlite, 1)]
#[case::postgres(Postgres, 2)]
#[ignore = "takes a minute; `cargo xtask full` runs it"]
#[tokio::test]
async fn ten_thousand_attempts_at_five_hundred_slots_have_five_hundred_winners(
    #[case] database: Database,
    #[case] seed: u64,
) {
    each_slot_has_one_winner(database, seed, 125).await;
}

/// Attempts each slot of several calendars many times at once.
async fn each_slot_has_one_winner(database: Database, seed: u64, slots: usize) {
    const CALENDARS: usize = 4;
    const ATTEMPTS: usize = 20;
    let (_server, api) = unlimited(database).await;
    let (owner, first) = agent_with_calendar(&api).await;
    let mut calendars = vec![first];
    for _ in 1..CALENDARS {
        calendars.push(calendar_of(&api, &owner).await);
    }
    let until = in_seconds(&api, 890).await;
    let mut wanted: Vec<(usize, usize)> = (0..CALENDARS)
        .flat_map(|calendar| (0..slots).map(move |slot| (calendar, slot)))
        .flat_map(|one| [one; ATTEMPTS])
        .collect();
    Numbers(seed).shuffle(&mut wanted);
    let calls = wanted.iter().map(|(calendar, slot)| {
        let (start, end) = quarter_of_an_hour(*slot);
        let calendar = &calendars[*calendar];
        api.post(format!("/v1/calendars/{calendar}/events")).json(hold_body(&start, &end, &until, 0))
    });
    let answers = all(calls.collect()).await;
    let winners = CALENDARS * slots;
    let expected =
        BTreeMap::from([((201, String::new()), winners), ((409, "slot_taken".to_owned()), winners * (ATTEMPTS - 1))]);
    assert_eq!(outcomes(&answers), expected);
    for calendar in &calendars {
        assert_eq!(live_holds(&api, calendar).await.len(), slots);
    }
}

#[rstest]
#[case::sqlite(Sqlite, 3)]
#[case::postgres(Postgres, 4)]
#[tokio::test]
async fn confirm_release_and_pre_emption_have_one_winner(#[case] database: Database, #[case] seed: u64) {
    const ROUNDS: usize = 60;
    let (_server, api) = unlimited(database).await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let events = format!("/v1/calendars/{calendar}/events");
    let until = in_seconds(&api, 890).await;
    let mut numbers = Numbers(seed);
    for round in 0..ROUNDS {
        let (start, end) = quarter_of_an_hour(round);
        let id = api.post(&events).json(hold_body(&start, &end, &until, 1)).await.expect(201).id();
        let path = format!("/v1/events/{id}");
        let mut calls = vec![
            ("confirm", api.put(format!("{path}/confirm"))),
            ("release", api.put(format!("{path}/release"))),
            ("pre-empt", api.post(&events).json(hold_body(&start, &end, &until, 2))),
        ];
        numbers.shuffle(&mut calls);
        let running: Vec<_> = calls.into_iter().map(|(name, call)| (name, tokio::spawn(call.into_future()))).collect();
        let mut answers = BTreeMap::new();
        for (name, call) in running {
            answers.insert(name, call.await.unwrap());
        }
        let [confirm, release, preempt] = ["confirm", "release", "pre-empt"].map(|name| &answers[name]);
        let outcome = (confirm.status, release.status, preempt.status);
        let expected = match outcome {
            // Confirmed: the others come too late.
            (200, 409, 409) => {
                assert_eq!(preempt.at("/error/code"), "slot_taken");
                assert_eq!(release.at("/error/code"), "not_a_hold");
                "confirmed"
            }
            // Released before the stronger hold came, which then found the time free; or pre-empted by it.
            (409, 200 | 409, 201) => {
                assert_eq!(confirm.at("/error/code"), "not_a_hold");
                "cancelled"
            }
            other => panic!("no winner or more than one: {other:?}"),
        };
        assert_eq!(status_of(&api, &id).await, expected, "{outcome:?}");
        let live = live_holds(&api, &calendar).await;
        let here = live.iter().filter(|hold| hold["startTime"] == start.as_str()).count();
        assert_eq!(here, usize::from(expected == "cancelled"), "{outcome:?}");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_hold_is_confirmed_or_expires(#[case] database: Database) {
    const HOLDS: usize = 24;
    let mut server = Server::start(database).await;
    let org = server.org_with("custom", &["--limits", r#"{"rate_per_second":100000}"#]).await;
    let api = server.api(&org);
    let (_, calendar) = agent_with_calendar(&api).await;
    let events = format!("/v1/calendars/{calendar}/events");
    let until = in_seconds(&api, 600).await;
    let mut held = Vec::new();
    for number in 0..HOLDS {
        let (start, end) = quarter_of_an_hour(number);
        held.push(api.post(&events).json(hold_body(&start, &end, &until, 1)).await.expect(201).id());
    }
    // All holds expire about three seconds after the start.
    let left = (at(&until) - at(&now(&api).await)).num_seconds();
    server.restart_at_offset(left - 3).await;
    let api = server.api(&org);
    let own = iso(at(&now(&api).await) + TimeDelta::seconds(600));
    let left = at(&until) - at(&now(&api).await);
    // Confirmations and competing holds are sent from a quarter of a second before the expiry to a quarter of a second
    // after.
    let begin = tokio::time::Instant::now() + (left - TimeDelta::milliseconds(250)).to_std().unwrap_or_default();
    let mut running = Vec::new();
    for (number, id) in held.iter().enumerate() {
        let (start, end) = quarter_of_an_hour(number);
        let confirm = api.put(format!("/v1/events/{id}/confirm"));
        let place = api.post(format!("/v1/calendars/{calendar}/events")).json(hold_body(&start, &end, &own, 0));
        let moment = begin + Duration::from_millis(20 * u64::try_from(number).unwrap());
        let [confirm, place] = [confirm, place].map(|call| {
            tokio::spawn(async move {
                tokio::time::sleep_until(moment).await;
                call.await
            })
        });
        running.push((id, confirm, place));
    }
    let mut confirmed = 0;
    for (id, confirm, place) in running {
        let (confirm, place) = (confirm.await.unwrap(), place.await.unwrap());
        let expected = match (confirm.status, place.status) {
            (200, 409) => {
                place.error("conflict").code("slot_taken");
                "confirmed"
            }
            // Expired. The competing hold may have come a moment before.
            (409, 201 | 409) => {
                confirm.error("conflict").code("hold_expired");
                "cancelled"
            }
            other => panic!("both got the time: {other:?}"),
        };
        confirmed += usize::from(expected == "confirmed");
        assert_eq!(status_of(&api, id).await, expected);
    }
    eprintln!("{confirmed} of {HOLDS} were confirmed before they expired on {database:?}");
    live_holds(&api, &calendar).await;
}

#[rstest]
#[case::sqlite(Sqlite, 5)]
#[case::postgres(Postgres, 6)]
#[tokio::test]
async fn overlapping_hold_sets_do_not_deadlock(#[case] database: Database, #[case] seed: u64) {
    const ROUNDS: usize = 6;
    const SETS: usize = 32;
    let (_server, api) = unlimited(database).await;
    let (owner, first) = agent_with_calendar(&api).await;
    let mut calendars = vec![first];
    for _ in 1..8 {
        calendars.push(calendar_of(&api, &owner).await);
    }
    let until = in_seconds(&api, 890).await;
    let mut numbers = Numbers(seed);
    for round in 0..ROUNDS {
        let (start, end) = quarter_of_an_hour(round);
        let mut calls = Vec::new();
        let mut wanted = Vec::new();
        for _ in 0..SETS {
            // In any order: requests that lock the calendars one by one must not deadlock.
            numbers.shuffle(&mut calendars);
            let chosen: Vec<String> = calendars[..2 + numbers.below(3)].to_vec();
            let names: Vec<&str> = chosen.iter().map(String::as_str).collect();
            calls.push(tokio::spawn(
                api.post("/v1/hold-sets").json(set_body(&names, &start, &end, &until)).into_future(),
            ));
            wanted.push(chosen);
        }
        let mut taken: BTreeSet<String> = BTreeSet::new();
        let mut refused = Vec::new();
        for (chosen, call) in wanted.into_iter().zip(calls) {
            let answer = call.await.unwrap();
            if answer.status == 201 {
                assert_eq!(answer["holds"].as_array().unwrap().len(), chosen.len());
                for calendar in chosen {
                    assert!(taken.insert(calendar), "two sets have one calendar");
                }
            } else {
                answer.refused(409, "conflict").code("slot_taken");
                refused.push(chosen);
            }
        }
        assert!(!taken.is_empty(), "at least one set wins");
        for chosen in refused {
            assert!(chosen.iter().any(|calendar| taken.contains(calendar)), "refused without need");
        }
        for calendar in &calendars {
            let live = live_holds(&api, calendar).await;
            let here = live.iter().filter(|hold| hold["startTime"] == start.as_str()).count();
            assert_eq!(here, usize::from(taken.contains(calendar)), "all of a set or nothing");
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn holds_with_agent_scope_do_not_overlap(#[case] database: Database) {
    const ROUNDS: usize = 20;
    let (_server, api) = unlimited(database).await;
    let (owner, first) = agent_with_calendar(&api).await;
    let second = calendar_of(&api, &owner).await;
    let until = in_seconds(&api, 890).await;
    for round in 0..ROUNDS {
        let (start, end) = quarter_of_an_hour(round);
        let mut body = hold_body(&start, &end, &until, 0);
        body["scope"] = json!("agent");
        let calls = (0..8).map(|number| {
            let calendar = if number % 2 == 0 { &first } else { &second };
            api.post(format!("/v1/calendars/{calendar}/events")).json(body.clone())
        });
        let answers = all(calls.collect()).await;
        let expected = BTreeMap::from([((201, String::new()), 1), ((409, "slot_taken".to_owned()), 7)]);
        assert_eq!(outcomes(&answers), expected);
    }
    let (first, second) = (live_holds(&api, &first).await, live_holds(&api, &second).await);
    assert_eq!(first.len() + second.len(), ROUNDS);
}

#[apply(on_both)]
#[tokio::test]
async fn holds_are_placed_despite_concurrent_writes(#[case] database: Database) {
    const WRITERS: usize = 8;
    const HOLDS: usize = 60;
    let (_server, api) = unlimited(database).await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let events = format!("/v1/calendars/{calendar}/events");
    let until = in_seconds(&api, 890).await;
    let (stop, written) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (api, events) = (api.clone(), events.clone());
            let (stop, written) = (Arc::clone(&stop), Arc::clone(&written));
            tokio::spawn(async move {
                let (start, end) = quarter_of_an_hour(1_000 + writer);
                while !stop.load(Ordering::Relaxed) {
                    api.post(&events).json(event_body("x", &start, &end)).await.expect(201);
                    written.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    let (mut answers, mut slowest) = (Vec::new(), Duration::ZERO);
    let began = tokio::time::Instant::now();
    for number in 0..HOLDS {
        let (start, end) = quarter_of_an_hour(number);
        let sent_at = tokio::time::Instant::now();
        answers.push(api.post(&events).json(hold_body(&start, &end, &until, 0)).await);
        slowest = slowest.max(sent_at.elapsed());
    }
    let took = began.elapsed();
    stop.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.await.unwrap();
    }
    let outcomes = outcomes(&answers);
    let written = written.load(Ordering::Relaxed);
    eprintln!("with {written} concurrent events on {database:?}: {outcomes:?} in {took:?}, the slowest {slowest:?}");
    assert_eq!(outcomes, BTreeMap::from([((201, String::new()), HOLDS)]));
}
