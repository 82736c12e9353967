//! What is found after changes, of whom, and by which node.

use crate::on_both;
use std::collections::BTreeSet;

use futures::future::join_all;
use kalends_e2e::{Client, Database, Database::Postgres, Server, Serving};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use super::{
    EXPANDED, Pairs, asking, change, column, delete, found, found_with, ids, instance, made, make, mark, moved,
    of_agent, of_calendar, paged, refusal, series, start, taking_place, text, titles, with,
};
use crate::{
    bookings::{booking, starts},
    fixtures::{agent_with_calendar, calendar_of, shared_calendar},
    holds::{hold_body, in_seconds},
    proposals::{Team, accept, key_of, respond, slot, slot_id},
    subscriber::{Subscriber, meeting, vcalendar},
};

#[apply(on_both)]
#[tokio::test]
async fn occurrences_are_found_by_the_metadata_that_they_have(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    let [red, blue, green, yellow] = ["red", "blue", "green", "yellow"].map(|team| [("team", team)]);
    let standup = series("Standup", "2031-05-05T09:00:00Z", 6, json!({ "team": "red", "n": 1, "deep": { "n": 1 } }));
    let standup = made(&api, &calendar, standup).await;
    let retro = series("Retro", "2031-05-05T10:00:00Z", 3, json!({ "team": "green" }));
    let retro = made(&api, &calendar, retro).await;
    make(
        &api,
        &calendar,
        &[with("Once", "2031-05-12T09:00:00Z", json!({ "team": "red" })), with("x", "2031-05-05T09:00:00Z", json!({}))],
    )
    .await;
    let day = |series: &str, day: usize, hour: usize| instance(series, &format!("2031-05-{day:02}T{hour:02}:00:00Z"));
    let seen = async |filters: Pairs<'_>| taking_place(&api, &owner, &calendar, filters).await;
    let listed = async |filters: Pairs<'_>| {
        let events = titles(&api, &of_calendar(&calendar), filters).await;
        assert_eq!(titles(&api, &of_agent(&owner), filters).await, events);
        events
    };
    let none = Vec::<String>::new();
    assert_eq!(seen(&[("n", "1")]).await, [5, 6, 7, 8, 9, 10].map(|day| format!("{day:02}T09:00 Standup")));
    assert_eq!(seen(&[("deep", "")]).await, none);

    // Another team, another title, no occurrence, and another time with other metadata.
    mark(&api, &day(&standup, 6, 9), json!({ "team": "blue" })).await;
    change(&api, &day(&standup, 7, 9), json!({ "title": "Long" })).await;
    delete(&api, &day(&standup, 8, 9)).await;
    let later = json!({ "start_time": "2031-05-20T15:00:00Z", "metadata": { "team": "red", "moved": true } });
    change(&api, &day(&standup, 9, 9), later).await;
    mark(&api, &day(&retro, 6, 10), json!({ "team": "red" })).await;
    let of_red = ["05T09:00 Standup", "06T10:00 Retro", "07T09:00 Long", "10T09:00 Standup", "12T09:00 Once"];
    assert_eq!(seen(&red).await, [&of_red[..], &["20T15:00 Standup"]].concat());
    assert_eq!(seen(&blue).await, ["06T09:00 Standup"]);
    assert_eq!(seen(&green).await, ["05T10:00 Retro", "07T10:00 Retro"]);
    assert_eq!(seen(&[("n", "1")]).await, ["05T09:00 Standup", "07T09:00 Long", "10T09:00 Standup"]);
    assert_eq!(seen(&[("moved", "true")]).await, ["20T15:00 Standup"]);
    assert_eq!(seen(&[("team", "red"), ("n", "1"), ("moved", "true")]).await, none);
    // A series is listed once, and a changed occurrence is not.
    assert_eq!(listed(&red).await, ["Standup", "Once"]);
    assert_eq!(listed(&green).await, ["Retro"]);
    assert_eq!(listed(&blue).await, none);
    assert_eq!(listed(&[("moved", "true")]).await, none);
    // Some of the days.
    for (from, to, expected) in [
        ("2031-05-06", "2031-05-07", vec!["06T10:00"]),
        ("2031-05-08", "2031-05-10", vec![]),
        ("2031-05-10", "2031-05-13", vec!["10T09:00", "12T09:00"]),
        ("2031-05-20", "2031-05-21", vec!["20T15:00"]),
    ] {
        let (from, to) = (format!("{from}T00:00:00Z"), format!("{to}T00:00:00Z"));
        let window = [("expand", "true"), ("start_after", &*from), ("start_before", &*to)];
        let events = found_with(&api, &of_calendar(&calendar), &red, &window).await;
        let starts: Vec<String> = events.iter().map(|event| text(&event["startTime"])[8..16].to_owned()).collect();
        assert_eq!(starts, expected, "{from} to {to}");
    }

    // The series gets another team. The occurrences that were changed keep theirs.
    mark(&api, &standup, json!({ "team": "yellow" })).await;
    assert_eq!(seen(&yellow).await, ["05T09:00 Standup", "10T09:00 Standup"]);
    assert_eq!(seen(&red).await, ["06T10:00 Retro", "07T09:00 Long", "12T09:00 Once", "20T15:00 Standup"]);
    assert_eq!(seen(&blue).await, ["06T09:00 Standup"]);
    assert_eq!((listed(&yellow).await, listed(&red).await), (vec!["Standup".to_owned()], vec!["Once".to_owned()]));
    // A changed occurrence is changed again, and now it has what its series has.
    mark(&api, &day(&standup, 6, 9), json!({ "team": "yellow" })).await;
    assert_eq!(seen(&blue).await, none);
    assert_eq!(seen(&yellow).await, ["05T09:00 Standup", "06T09:00 Standup", "10T09:00 Standup"]);
    // With the status.
    change(&api, &day(&standup, 10, 9), json!({ "status": "tentative" })).await;
    let tentative = [EXPANDED, &[("status", "tentative")]].concat();
    let events = found_with(&api, &of_calendar(&calendar), &yellow, &tentative).await;
    assert_eq!(column(&events, "id"), [day(&standup, 10, 9)]);
    // Its occurrence is cancelled, and then takes place again by the rule.
    delete(&api, &day(&standup, 6, 9)).await;
    assert_eq!(seen(&yellow).await, ["05T09:00 Standup", "10T09:00 Standup"]);
    change(&api, &standup, json!({ "recurrence_exdates": [] })).await;
    assert_eq!(seen(&yellow).await, ["05T09:00 Standup", "06T09:00 Standup", "08T09:00 Standup", "10T09:00 Standup"]);
    // Without its rule, it is one event. Without the series, nothing of it is left.
    change(&api, &retro, json!({ "recurrence_rule": null })).await;
    assert_eq!(seen(&green).await, ["05T10:00 Retro"]);
    delete(&api, &standup).await;
    assert_eq!((seen(&yellow).await, listed(&yellow).await), (none.clone(), none));
    assert_eq!(seen(&red).await, ["12T09:00 Once"]);
}

#[apply(on_both)]
#[tokio::test]
async fn both_halves_of_a_series_are_found_by_what_they_have(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    let none = Vec::<String>::new();
    let path = of_calendar(&calendar);
    let seen = async |team: &str| taking_place(&api, &owner, &calendar, &[("team", team)]).await;
    let listed = async |team: &str| ids(&api, &path, &[("team", team)]).await;
    let at = |day: usize| format!("2031-05-{day:02}T09:00:00Z");
    let entries = |days: &[usize]| days.iter().map(|day| format!("{day:02}T09:00 Standup")).collect::<Vec<_>>();
    let patch = async |id: &str, scope: &str, body: Value| {
        api.patch(format!("/v1/events/{id}?scope={scope}")).json(body).await.expect(200).id()
    };

    let old = made(&api, &calendar, series("Standup", &at(5), 8, json!({ "team": "red" }))).await;
    // One with another team, one with another title, and one before the place of the split.
    mark(&api, &instance(&old, &at(6)), json!({ "team": "own" })).await;
    mark(&api, &instance(&old, &at(10)), json!({ "team": "own" })).await;
    change(&api, &instance(&old, &at(11)), json!({ "location": "Room 2" })).await;
    let new = patch(&instance(&old, &at(8)), "following", json!({ "metadata": { "team": "blue" } })).await;
    assert_ne!(new, old);
    assert_eq!((listed("red").await, listed("blue").await), (vec![old.clone()], vec![new.clone()]));
    assert_eq!(seen("red").await, entries(&[5, 7]));
    assert_eq!(seen("blue").await, entries(&[8, 9, 11, 12]));
    assert_eq!(seen("own").await, entries(&[6, 10]));
    let of_own = found_with(&api, &path, &[("team", "own")], EXPANDED).await;
    assert_eq!(column(&of_own, "id"), [instance(&old, &at(6)), instance(&new, &at(10))]);

    // A split that does not touch the metadata.
    let last = patch(&instance(&new, &at(11)), "following", json!({ "description": "x" })).await;
    assert_eq!(BTreeSet::from_iter(listed("blue").await), BTreeSet::from([new.clone(), last.clone()]));
    assert_eq!(seen("blue").await, entries(&[8, 9, 11, 12]));
    // All of it, at the same times and at other times.
    patch(&instance(&new, &at(9)), "all", json!({ "metadata": { "team": "green" } })).await;
    assert_eq!((listed("green").await, listed("blue").await), (vec![new.clone()], vec![last.clone()]));
    assert_eq!((seen("green").await, seen("blue").await), (entries(&[8, 9]), entries(&[11, 12])));
    assert_eq!(seen("own").await, entries(&[6, 10]));
    patch(&instance(&new, &at(9)), "all", json!({ "start_time": "2031-05-09T12:00:00Z" })).await;
    assert_eq!(seen("green").await, ["08T12:00 Standup", "09T12:00 Standup"]);
    assert_eq!(seen("own").await, ["06T09:00 Standup", "10T12:00 Standup"]);

    // A single event at the end, and a series that ends early.
    let single = json!({ "recurrence_rule": null, "metadata": { "team": "single" } });
    let single = patch(&instance(&last, &at(12)), "following", single).await;
    assert_eq!((listed("single").await, seen("single").await), (vec![single], entries(&[12])));
    assert_eq!(seen("blue").await, entries(&[11]));
    api.delete(format!("/v1/events/{}?scope=following", instance(&new, "2031-05-09T12:00:00Z"))).await.expect(204);
    assert_eq!((seen("green").await, seen("own").await), (vec!["08T12:00 Standup".to_owned()], entries(&[6])));
    api.delete(format!("/v1/events/{}?scope=all", instance(&old, &at(7)))).await.expect(204);
    assert_eq!((listed("red").await, seen("red").await, seen("own").await), (none.clone(), none.clone(), none));
}

#[apply(on_both)]
#[tokio::test]
async fn an_event_is_found_by_the_metadata_that_it_has_now(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    let none = Vec::<String>::new();
    let (path, agents) = (of_calendar(&calendar), of_agent(&owner));
    let ids = async |key: &str, value: &str| {
        let found = ids(&api, &path, &[(key, value)]).await;
        assert_eq!(ids(&api, &agents, &[(key, value)]).await, found);
        found
    };
    let id = made(&api, &calendar, with("One", &start(0), json!({ "a": 1, "b": "x" }))).await;
    let here = vec![id.clone()];
    assert_eq!((ids("a", "1").await, ids("b", "x").await), (here.clone(), here.clone()));

    // Metadata is replaced as a whole.
    mark(&api, &id, json!({ "a": 2 })).await;
    assert_eq!(
        (ids("a", "1").await, ids("a", "2").await, ids("b", "x").await),
        (none.clone(), here.clone(), none.clone())
    );
    mark(&api, &id, json!({})).await;
    assert_eq!(ids("a", "2").await, none);
    mark(&api, &id, json!({ "a": [2], "c": null })).await;
    assert_eq!((ids("a", "2").await, ids("c", "null").await), (none.clone(), none.clone()));
    let by_calendar = api.patch(format!("{path}/{id}")).json(json!({ "metadata": { "a": true, "b": "y" } }));
    by_calendar.await.expect(200);
    assert_eq!((ids("a", "true").await, ids("b", "y").await), (here.clone(), here.clone()));

    // Other changes keep it found.
    for body in [
        json!({ "title": "Two" }),
        json!({ "description": "Slides", "location": "Room 2" }),
        json!({ "reminders": [15] }),
        json!({ "status": "tentative" }),
        json!({ "status": "cancelled" }),
        json!({ "status": "confirmed" }),
        json!({ "start_time": start(5) }),
        json!({ "end_time": start(9) }),
        json!({ "all_day": true, "start_time": "2031-05-05", "end_time": "2031-05-07" }),
        json!({ "all_day": false, "start_time": start(1), "end_time": start(2) }),
        json!({ "attendees": [{ "email": "ada@example.com" }] }),
        json!({ "recurrence_rule": "FREQ=DAILY;COUNT=3" }),
        json!({ "recurrence_rule": null }),
        json!({ "metadata": { "b": "y", "a": true } }),
    ] {
        change(&api, &id, body.clone()).await;
        assert_eq!((ids("a", "true").await, ids("b", "y").await), (here.clone(), here.clone()), "{body}");
    }
    // A change that is refused changes nothing.
    let stale = api.patch(format!("/v1/events/{id}")).header("if-match", "\"1\"");
    stale.json(json!({ "metadata": { "a": false } })).await.refused(412, "conflict").code("stale");
    let wrong = json!({ "metadata": { "a": false }, "status": "done" });
    api.patch(format!("/v1/events/{id}")).json(wrong).await.refused(400, "validation_error").param("status");
    assert_eq!((ids("a", "true").await, ids("a", "false").await), (here.clone(), none.clone()));

    // Several at once, and once for two equal requests.
    let batch =
        [1, 2, 3].map(|number| with(&format!("Batch {number}"), &start(20 + number), json!({ "set": number % 2 })));
    let made_at_once = make(&api, &calendar, &batch).await;
    assert_eq!(ids("set", "1").await, [made_at_once[0].as_str(), made_at_once[2].as_str()]);
    assert_eq!(ids("set", "0").await, [made_at_once[1].as_str()]);
    let events = json!({ "events": [with("x", &start(1), json!({ "set": 5 })), { "title": "x" }] });
    api.post(format!("{path}/batch")).json(events).await.refused(400, "validation_error");
    assert_eq!(ids("set", "5").await, none);
    let twice = with("Twice", &start(30), json!({ "set": 6 }));
    for _ in 0..2 {
        api.post(&path).header("idempotency-key", "once and again").json(twice.clone()).await.expect(201);
    }
    assert_eq!(ids("set", "6").await.len(), 1);

    // A file that is imported again may keep the metadata of its event. What is found is what is shown.
    let file = |title: &str| vcalendar(&[meeting("once@example.com", title, 4, 9)]);
    let import = async |title: &str| {
        let call = api.post(format!("/v1/calendars/{calendar}/import")).header("content-type", "text/calendar");
        call.body(file(title)).await.expect(200)
    };
    assert_eq!(import("Before").await["created"], 1);
    let of_file = api.get(&path).query(&[("start_before", "2031-05-01T00:00:00Z")]).await.expect(200).data();
    assert_eq!(column(&of_file, "title"), ["Before"]);
    let of_file = text(&of_file[0]["id"]);
    mark(&api, &of_file, json!({ "file": "mine" })).await;
    import("After").await;
    let shown = api.get(format!("/v1/events/{of_file}")).await.expect(200);
    let is_there = shown["metadata"] == json!({ "file": "mine" });
    assert_eq!(!ids("file", "mine").await.is_empty(), is_there, "{}", shown.describe());

    // Deleted, alone or with everything on its calendar.
    delete(&api, &id).await;
    assert_eq!((ids("a", "true").await, ids("b", "y").await), (none.clone(), none.clone()));
    delete(&api, &made_at_once[0]).await;
    assert_eq!(ids("set", "1").await, [made_at_once[2].as_str()]);
    let other = calendar_of(&api, &owner).await;
    make(&api, &other, &[with("There", &start(40), json!({ "set": 1 }))]).await;
    api.delete(format!("/v1/calendars/{calendar}")).await.expect(204);
    assert_eq!(titles(&api, &agents, &[("set", "1")]).await, ["There"]);
    api.get(format!("{path}?metadata.set=1")).await.refused(404, "not_found").code("calendar_not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn a_moved_event_is_found_on_its_new_calendar(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, old) = agent_with_calendar(&api).await;
    let new = calendar_of(&api, &owner).await;
    let (other, others) = agent_with_calendar(&api).await;
    let shared = shared_calendar(&api, "UTC").await;
    let once = made(&api, &old, with("Once", "2031-05-05T08:00:00Z", json!({ "team": "red" }))).await;
    let daily = made(&api, &old, series("Daily", "2031-05-05T09:00:00Z", 3, json!({ "team": "red" }))).await;
    mark(&api, &instance(&daily, "2031-05-06T09:00:00Z"), json!({ "team": "blue" })).await;
    let everywhere = [&old, &new, &others, &shared];
    let mut at = &old;
    for target in [&new, &others, &shared, &old] {
        for id in [&once, &daily] {
            moved(&api, id, target).await;
        }
        for calendar in everywhere {
            let path = of_calendar(calendar);
            let is_there = calendar == target;
            let expected = if is_there { vec![once.clone(), daily.clone()] } else { Vec::new() };
            assert_eq!(ids(&api, &path, &[("team", "red")]).await, expected, "from {at} to {target}");
            for (team, count) in [("red", 3), ("blue", 1)] {
                let events = found_with(&api, &path, &[("team", team)], EXPANDED).await;
                assert_eq!(events.len(), if is_there { count } else { 0 }, "{team} from {at} to {target}");
            }
        }
        for (agent, calendars) in [(&owner, vec![&old, &new]), (&other, vec![&others])] {
            let expected = if calendars.contains(&target) { 2 } else { 0 };
            assert_eq!(ids(&api, &of_agent(agent), &[("team", "red")]).await.len(), expected, "{agent} at {target}");
        }
        at = target;
    }
    // What it gets there is found there, and a move to where it is keeps it.
    mark(&api, &once, json!({ "team": "green" })).await;
    moved(&api, &once, &old).await;
    assert_eq!(ids(&api, &of_calendar(&old), &[("team", "green")]).await, [once.as_str()]);
    moved(&api, &once, &shared).await;
    assert_eq!(ids(&api, &of_calendar(&old), &[("team", "green")]).await, [""; 0]);
    assert_eq!(ids(&api, &of_calendar(&shared), &[("team", "green")]).await, [once.as_str()]);
    assert_eq!(ids(&api, &of_calendar(&shared), &[("team", "red")]).await, [""; 0]);
}

#[apply(on_both)]
#[tokio::test]
async fn holds_are_found_by_their_metadata(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let (owner, calendar) = agent_with_calendar(&api).await;
    let until = in_seconds(&api, 600).await;
    let hold = async |number: usize, priority: u8, metadata: Value| {
        let mut body = hold_body(&start(2 * number), &start(2 * number + 1), &until, priority);
        body["metadata"] = metadata;
        made(&api, &calendar, body).await
    };
    let mut holds = Vec::new();
    for number in 0..5 {
        holds.push(hold(number, 0, json!({ "deal": 7, "number": number })).await);
    }
    hold(6, 0, json!({ "deal": 8 })).await;
    let with_status = async |api: &Client, status: &str| {
        let more = [("status", status)];
        let found = column(&found_with(api, &of_calendar(&calendar), &[("deal", "7")], &more).await, "id");
        let of_owner = found_with(api, &of_agent(&owner), &[("deal", "7")], &more).await;
        assert_eq!(column(&of_owner, "id"), found);
        found
    };
    assert_eq!(with_status(&api, "hold").await, holds);
    assert_eq!(ids(&api, &of_calendar(&calendar), &[("deal", "7")]).await, holds);

    // Confirmed, released, pre-empted, and with other metadata.
    api.put(format!("/v1/events/{}/confirm", holds[0])).await.expect(200);
    api.put(format!("/v1/events/{}/release", holds[1])).await.expect(200);
    hold(2, 10, json!({ "deal": 9 })).await;
    mark(&api, &holds[3], json!({ "deal": 7.0, "more": "x" })).await;
    assert_eq!(with_status(&api, "confirmed").await, holds[..1]);
    assert_eq!(with_status(&api, "cancelled").await, holds[1..3]);
    assert_eq!(with_status(&api, "hold").await, holds[3..]);
    assert_eq!(ids(&api, &of_calendar(&calendar), &[("number", "3")]).await, [""; 0]);

    // The other ones expire.
    server.restart_at_offset(605).await;
    let api = server.api(&org);
    assert_eq!(with_status(&api, "hold").await, [""; 0]);
    assert_eq!(with_status(&api, "cancelled").await, holds[1..]);
    assert_eq!(with_status(&api, "confirmed").await, holds[..1]);
    for limit in [1, 2] {
        let pages = paged(&api, &of_calendar(&calendar), &[("deal", "7")], &[("status", "cancelled")], limit).await;
        assert_eq!((pages.0, column(&pages.1, "id")), (4, holds[1..].to_vec()), "{limit}");
    }
    let expanded = found_with(&api, &of_calendar(&calendar), &[("more", "x")], EXPANDED).await;
    assert_eq!((column(&expanded, "id"), &expanded[0]["status"]), (vec![holds[3].clone()], &json!("cancelled")));
}

#[apply(on_both)]
#[tokio::test]
async fn events_of_proposals_are_found_by_the_proposal(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 2).await;
    let mut places = vec![(team.organizer.clone(), team.calendar.clone())];
    for participant in &team.participants {
        places.push((participant.clone(), calendar_of(&api, participant).await));
    }
    let more = json!({ "metadata": { "topic": "Kick-off", "proposal_id": "mine" }, "placement": "all" });
    let mut proposals = Vec::new();
    for hour in ["09", "11"] {
        let slots = [slot(&format!("{hour}:00"), &format!("{hour}:30"))];
        proposals.push(team.propose(&api, &slots, more.clone()).await);
    }
    for (agent, calendar) in &places {
        for path in [of_calendar(calendar), of_agent(agent)] {
            assert_eq!(ids(&api, &path, &[("topic", "Kick-off")]).await, [""; 0], "before it is confirmed");
        }
    }
    for proposal in &proposals {
        for participant in &team.participants {
            respond(&api, &proposal.id(), accept(participant, &slot_id(proposal, 0))).await.expect(200);
        }
    }
    for (agent, calendar) in &places {
        for path in [of_calendar(calendar), of_agent(agent)] {
            let mut all = Vec::new();
            for proposal in &proposals {
                let of_it = found(&api, &path, &[("proposal_id", &proposal.id())]).await;
                assert_eq!((of_it.len(), &of_it[0]["metadata"]["proposal_id"]), (1, &json!(proposal.id())));
                all.extend(column(&of_it, "id"));
            }
            assert_eq!(ids(&api, &path, &[("topic", "Kick-off")]).await, all);
            assert_eq!(ids(&api, &path, &[("topic", "Kick-off"), ("proposal_id", &proposals[1].id())]).await, all[1..]);
            assert_eq!(ids(&api, &path, &[("proposal_id", "mine")]).await, [""; 0]);
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn bookings_are_not_found_by_the_object_in_their_metadata(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    let page = json!({ "calendar_id": calendar, "title": "Intro", "duration_minutes": 60, "window_days": 7 });
    let page = api.post("/v1/booking-pages").json(page).await.expect(201);
    let book = format!("/book/{}", text(&page["slug"]));
    let guest = server.anonymous();
    let slots = starts(&guest.get(format!("{book}/slots")).await.expect(200));
    guest.post(&book).json(booking(&slots[5])).await.expect(201);
    let id = page.id();
    for path in [of_calendar(&calendar), of_agent(&owner)] {
        let events = found(&api, &path, &[]).await;
        assert_eq!((events.len(), &events[0]["metadata"]["booking"]["booking_page_id"]), (1, &json!(id)));
        let whole_object = events[0]["metadata"]["booking"].to_string();
        for value in
            ["", "{}", "true", "null", "[object Object]", "Ada Lovelace", "ada@example.com", &id, &whole_object]
        {
            for key in ["booking", "booking.name", "booking.booking_page_id", "name", "booking_page_id"] {
                assert_eq!(ids(&api, &path, &[(key, value)]).await, [""; 0], "{key} is {value:?}");
            }
        }
    }
    // A text in its place is found.
    let other = made(&api, &calendar, with("Mine", &start(0), json!({ "booking": id }))).await;
    assert_eq!(ids(&api, &of_calendar(&calendar), &[("booking", &id)]).await, [other.as_str()]);
}

#[apply(on_both)]
#[tokio::test]
async fn events_of_a_feed_have_no_metadata(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    let feed = vcalendar(&[meeting("a@example.com", "Board", 3, 9), meeting("b@example.com", "Review", 4, 9)]);
    it.subscribed("/a.ics", Serving::calendar(feed)).await;
    let mine = made(&it.api, &it.calendar, with("Mine", "2031-03-05T09:00:00Z", json!({ "title": "Board" }))).await;
    for path in [of_calendar(&it.calendar), of_agent(&it.agent)] {
        let imported = [("source", "external_ical")];
        assert_eq!(found_with(&it.api, &path, &[], &imported).await.len(), 2);
        for (key, value) in [("title", "Board"), ("uid", "a@example.com"), ("source", "external_ical")] {
            let events = found_with(&it.api, &path, &[(key, value)], &imported).await;
            assert_eq!(events, Vec::<Value>::new(), "{key}");
        }
        for more in [&[][..], &[("source", "internal")]] {
            let events = found_with(&it.api, &path, &[("title", "Board")], more).await;
            assert_eq!(column(&events, "id"), [mine.as_str()]);
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_filter_sees_what_its_caller_may_see(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let stranger = server.api(&server.org("pro").await);
    let (ada, work) = agent_with_calendar(&api).await;
    let home = calendar_of(&api, &ada).await;
    let (bob, bobs) = agent_with_calendar(&api).await;
    let shared = shared_calendar(&api, "UTC").await;
    let (foreign, abroad) = agent_with_calendar(&stranger).await;
    // All have the same metadata.
    let metadata = json!({ "ticket": 4711, "team": "red" });
    for (number, (api, calendar)) in
        [(&api, &work), (&api, &home), (&api, &bobs), (&api, &shared), (&stranger, &abroad)].into_iter().enumerate()
    {
        make(api, calendar, &[with(&format!("No {number}"), &start(number), metadata.clone())]).await;
    }
    let scoped = key_of(&server, &api, &ada).await;
    for filters in [&[("ticket", "4711")][..], &[("ticket", "4711"), ("team", "red")]] {
        for api in [&api, &scoped] {
            assert_eq!(titles(api, &of_calendar(&work), filters).await, ["No 0"]);
            assert_eq!(titles(api, &of_calendar(&home), filters).await, ["No 1"]);
            assert_eq!(titles(api, &of_agent(&ada), filters).await, ["No 0", "No 1"]);
        }
        assert_eq!(titles(&api, &of_agent(&bob), filters).await, ["No 2"]);
        assert_eq!(titles(&api, &of_calendar(&bobs), filters).await, ["No 2"]);
        assert_eq!(titles(&api, &of_calendar(&shared), filters).await, ["No 3"]);
        assert_eq!(titles(&stranger, &of_calendar(&abroad), filters).await, ["No 4"]);
        assert_eq!(titles(&stranger, &of_agent(&foreign), filters).await, ["No 4"]);
    }
    // What is out of reach is refused as without a filter, whether the filter matches or not.
    let nobody = "0".repeat(26);
    let own = [of_calendar(&work), of_calendar(&home), of_calendar(&shared), of_agent(&ada)];
    let not_of_ada =
        [of_calendar(&bobs), of_calendar(&shared), of_agent(&bob), of_calendar(&abroad), of_agent(&foreign)];
    let nowhere = [of_calendar(&format!("cal_{nobody}")), of_agent(&format!("agt_{nobody}")), of_calendar("cal_x")];
    for (client, paths) in
        [(&stranger, &own[..]), (&scoped, &not_of_ada), (&api, &not_of_ada[3..]), (&api, &nowhere), (&scoped, &nowhere)]
    {
        for path in paths {
            let without = refusal(&client.get(path).await);
            assert!(matches!(without.0, 403 | 404), "{path}: {without:?}");
            for value in ["4711", "4712"] {
                let refused = asking(client, path, &[("ticket", value)]).await;
                assert_eq!(refusal(&refused), without, "{path}");
                assert!(!refused.text().contains("\"No "), "{}", refused.describe());
            }
        }
    }
    // The metadata of one organization changes, and that of the other one stays.
    let id = ids(&stranger, &of_calendar(&abroad), &[("ticket", "4711")]).await.remove(0);
    mark(&stranger, &id, json!({ "ticket": 4712 })).await;
    assert_eq!(titles(&api, &of_agent(&ada), &[("ticket", "4711")]).await, ["No 0", "No 1"]);
    assert_eq!(titles(&stranger, &of_agent(&foreign), &[("ticket", "4711")]).await, [""; 0]);
    delete(&stranger, &id).await;
    assert_eq!(titles(&api, &of_agent(&ada), &[("ticket", "4711")]).await, ["No 0", "No 1"]);
}

#[apply(on_both)]
#[tokio::test]
async fn one_of_many_changes_at_once_is_found(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (owner, first) = agent_with_calendar(&api).await;
    let second = calendar_of(&api, &owner).await;
    let mut nodes = vec![api.clone()];
    let other;
    if database == Postgres {
        other = server.another_node().await;
        nodes.push(api.moved_to(other.base_url()));
    }
    let id = made(&api, &first, with("One", &start(0), json!({ "n": 0 }))).await;
    // One write of four moves it, and the others change its metadata.
    for round in 0..3 {
        let writes = (0..16_usize).map(|number| {
            let node = &nodes[number % nodes.len()];
            if number % 4 == 3 {
                let calendar = if number % 8 == 3 { &first } else { &second };
                node.post(format!("/v1/events/{id}/move")).json(json!({ "calendar_id": calendar }))
            } else {
                node.patch(format!("/v1/events/{id}")).json(json!({ "metadata": { "n": 100 * round + number } }))
            }
        });
        let statuses: Vec<u16> =
            join_all(writes.map(IntoFuture::into_future)).await.iter().map(|answer| answer.status).collect();
        assert!(statuses.contains(&200) && statuses.iter().all(|status| [200, 409].contains(status)), "{statuses:?}");
        let event = api.get(format!("/v1/events/{id}")).await.expect(200);
        for node in &nodes {
            for number in (0..=round).flat_map(|past| (0..16).map(move |number| 100 * past + number)) {
                let value = number.to_string();
                let expected = if event["metadata"]["n"] == number { vec![id.clone()] } else { Vec::new() };
                assert_eq!(ids(node, &of_agent(&owner), &[("n", &value)]).await, expected, "{value}");
            }
            for calendar in [&first, &second] {
                let value = event["metadata"]["n"].to_string();
                let expected = if event["calendarId"] == **calendar { 1 } else { 0 };
                assert_eq!(ids(node, &of_calendar(calendar), &[("n", &value)]).await.len(), expected);
            }
        }
    }
}

#[tokio::test]
async fn every_node_finds_what_another_one_has_written() {
    let (server, api) = Server::with_org(Postgres, "pro").await;
    let calendar = shared_calendar(&api, "UTC").await;
    let path = of_calendar(&calendar);
    let node = server.another_node().await;
    let there = api.moved_to(node.base_url());
    let id = made(&api, &calendar, with("One", &start(0), json!({ "n": 0 }))).await;
    for round in 1..10 {
        let (writer, reader) = if round % 2 == 0 { (&api, &there) } else { (&there, &api) };
        let (old, new) = (format!("{}", round - 1), format!("{round}"));
        assert_eq!(ids(reader, &path, &[("n", &old)]).await, [id.as_str()]);
        mark(writer, &id, json!({ "n": round })).await;
        assert_eq!(ids(reader, &path, &[("n", &new)]).await, [id.as_str()]);
        assert_eq!(ids(reader, &path, &[("n", &old)]).await, [""; 0]);
    }
    delete(&there, &id).await;
    assert_eq!(ids(&api, &path, &[("n", "9")]).await, [""; 0]);
}
