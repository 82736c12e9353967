//! Attendees of events: what is stored and shown, who is refused, what a change does to the answers, and who sees them.
//! The answers come from links in mails. Written without knowledge of the code.

use crate::on_both;
use kalends_e2e::{Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    changes::Copy,
    feed::{address, feed},
    fixtures::{agent, calendar_of, has_exactly, is_time},
    invitations_by_the_rule::{ADA, BOB, END, EVE, Host, START, instance, meeting, people, statuses},
    webhooks::{hook, with_receiver},
};

const MAY: &str = "start_after=2031-05-01T00:00:00Z&start_before=2031-06-01T00:00:00Z";
const DAILY: &str = "FREQ=DAILY;COUNT=10";

/// The statuses of attendees, as [`statuses`] shows them.
fn are<const N: usize>(attendees: [(&str, &str); N]) -> [String; N] {
    attendees.map(|(address, status)| format!("{address} {status}"))
}

/// The occurrence of a series of these tests on a day in May.
fn on(series: &str, day: usize) -> String {
    instance(series, &format!("2031-05-{day:02}T10:30:00Z"))
}

/// The calendar's instances in May.
async fn in_may(host: &Host) -> Vec<Value> {
    host.api.get(format!("{}?expand=true&{MAY}", host.events())).await.expect(200).data()
}

#[apply(on_both)]
#[tokio::test]
async fn attendees_are_shown_wherever_the_event_is(#[case] database: Database) {
    let (server, api, receiver) = with_receiver(database, "pro").await;
    hook(&api, &receiver, "/", &["event.created"]).await;
    let mut host = Host::of(server, api).await;
    let attendees = json!([
        { "email": "Zoe@Example.COM", "name": "Zoë", "role": "optional" },
        { "email": ADA, "agent_id": host.agent },
        { "email": "bob+cal@example.com", "role": "required" },
    ]);
    let expected = json!([
        { "email": "zoe@example.com", "name": "Zoë", "role": "optional", "status": "needs_action" },
        { "email": ADA, "role": "required", "agent_id": host.agent, "status": "needs_action" },
        { "email": "bob+cal@example.com", "role": "required", "status": "needs_action" },
    ]);
    let made = host.event(json!({ "attendees": attendees })).await;
    assert_eq!(made["attendees"], expected);
    let id = made.id();
    assert_eq!(receiver.wait_for("/", 1).await[0].json()["attendees"], expected);
    assert_eq!(host.patch(&id, json!({ "title": "Review of May" })).await["attendees"], expected);

    host.later(0).await;
    let events = host.events();
    for path in [format!("/v1/events/{id}"), format!("{events}/{id}")] {
        assert_eq!(host.api.get(&path).await.expect(200)["attendees"], expected, "{path}");
    }
    for path in [
        events.clone(),
        format!("{events}?expand=true&{MAY}"),
        format!("/v1/agents/{}/events", host.agent),
        format!("/v1/calendars/{}/changes", host.calendar),
        format!("/v1/events/search?q=review&{MAY}"),
    ] {
        let listed = host.api.get(&path).await.expect(200).data();
        assert_eq!((listed.len(), &listed[0]["attendees"]), (1, &expected), "{path}");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn an_event_without_attendees_does_not_have_the_field(#[case] database: Database) {
    let host = Host::new(database).await;
    let id = host.event(json!({})).await.id();
    let empty = host.event(json!({ "attendees": [] })).await;
    for event in [&host.get(&id).await, &empty] {
        assert_eq!(event.json.get("attendees"), None, "{}", event.describe());
    }
    for nobody in [json!(null), json!([])] {
        let before = host.patch(&id, json!({ "attendees": people(&[BOB, ADA]) })).await;
        assert_eq!(statuses(&before.json), are([(BOB, "needs_action"), (ADA, "needs_action")]));
        // A change of something else keeps the list, and one of an old version changes nothing.
        host.patch(&id, json!({ "title": "Retro" })).await;
        let kept = host.get(&id).await;
        assert_eq!(kept["attendees"], before["attendees"]);
        let stale = host.api.patch(format!("/v1/events/{id}")).header("if-match", before.header("etag"));
        stale.json(json!({ "attendees": nobody })).await.refused(412, "conflict").code("stale");
        host.unchanged(&kept).await;

        let cleared = host.patch(&id, json!({ "attendees": nobody })).await;
        assert_eq!(cleared.json.get("attendees"), None, "{}", cleared.describe());
        let cleared = host.get(&id).await;
        assert_eq!(cleared.json.get("attendees"), None, "{}", cleared.describe());
        assert_ne!(cleared.header("etag"), kept.header("etag"));
    }
}

#[apply(on_both)]
#[tokio::test]
async fn each_event_of_a_batch_has_its_own_attendees(#[case] database: Database) {
    let host = Host::new(database).await;
    let attendees = [people(&[ADA, BOB]), json!([]), people(&[BOB, EVE])];
    let events: Vec<Value> = attendees.iter().map(|attendees| meeting(json!({ "attendees": attendees }))).collect();
    let made = host.api.post(format!("{}/batch", host.events())).json(json!({ "events": events })).await.expect(201);
    let expected = [
        are([(ADA, "needs_action"), (BOB, "needs_action")]).to_vec(),
        vec![],
        are([(BOB, "needs_action"), (EVE, "needs_action")]).to_vec(),
    ];
    for (event, expected) in made.data().iter().zip(expected) {
        assert_eq!(statuses(event), expected);
        let read = host.get(event["id"].as_str().unwrap()).await;
        assert_eq!(read.json.get("attendees"), event.get("attendees"));
    }
}

#[apply(on_both)]
#[tokio::test]
async fn bad_attendees_are_refused_by_field(#[case] database: Database) {
    let host = Host::new(database).await;
    let before = host.event(json!({ "attendees": people(&[EVE]) })).await;
    let before = host.get(&before.id()).await;
    let mut cases: Vec<(Value, Option<&str>)> = Vec::new();
    let far = format!("a@{}example.com", "b.".repeat(160));
    for address in [
        "",
        " ",
        "ada",
        "ada@",
        "@example.com",
        "a b@example.com",
        "ada@example.com, eve@example.com",
        "Ada <ada@example.com>",
        "ada@example.com\r\nBcc: eve@example.com",
        far.as_str(),
    ] {
        cases.push((people(&[address]), Some("attendees[0].email")));
        cases.push((people(&[ADA, address, BOB]), Some("attendees[1].email")));
    }
    for name in ["Ada\nLovelace", "Ada\r", "\tAda", "Ada\u{0}", "\u{7f}", "Ada\u{85}", &"é".repeat(201)] {
        cases.push((json!([{ "email": ADA }, { "email": BOB, "name": name }]), Some("attendees[1].name")));
    }
    let many: Vec<String> = (0..201).map(|number| format!("g{number}@example.com")).collect();
    cases.extend([
        (json!([{ "name": "Ada" }]), Some("attendees[0].email")),
        (people(&[ADA, ADA]), Some("attendees[1].email")),
        (people(&[ADA, BOB, "ADA@Example.COM"]), Some("attendees[2].email")),
        (people(&many), Some("attendees")),
        (json!([{ "email": ADA, "role": "chair" }]), None),
        (json!([{ "email": ADA, "role": "Required" }]), None),
        (json!([{ "email": ADA, "status": "accepted" }]), None),
        (json!([{ "email": ADA, "responded_at": START }]), None),
        (json!([ADA]), None),
        (json!({ "email": ADA }), None),
        (json!(ADA), None),
    ]);
    let path = format!("/v1/events/{}", before.id());
    for (attendees, param) in cases {
        let shown = attendees.to_string().chars().take(100).collect::<String>();
        let body = meeting(json!({ "attendees": attendees }));
        let batch = json!({ "events": [meeting(json!({})), body] });
        for (call, prefix) in [
            (host.api.post(host.events()).json(body), ""),
            (host.api.post(format!("{}/batch", host.events())).json(batch), "events[1]."),
            (host.api.patch(&path).json(json!({ "title": "Retro", "attendees": attendees })), ""),
        ] {
            let refused = call.await.expect(400);
            if let Some(param) = param {
                let expected = json!(format!("{prefix}{param}"));
                assert_eq!(refused.at("/error/param"), expected, "{shown}: {}", refused.describe());
            }
        }
    }
    host.unchanged(&before).await;
    assert_eq!(host.listed().await["total"], 1);
}

#[apply(on_both)]
#[tokio::test]
async fn the_largest_values_are_accepted(#[case] database: Database) {
    let host = Host::new(database).await;
    let mut addresses: Vec<String> = (0..200).map(|number| format!("g{number}@example.com")).collect();
    addresses.reverse();
    let made = host.event(json!({ "attendees": people(&addresses) })).await;
    let expected: Vec<String> = addresses.iter().map(|address| format!("{address} needs_action")).collect();
    assert_eq!(statuses(&made.json), expected);
    assert_eq!(statuses(&host.get(&made.id()).await.json), expected);
    addresses.rotate_left(50);
    let changed = host.patch(&made.id(), json!({ "attendees": people(&addresses) })).await;
    assert_eq!(changed["attendees"][199]["email"], "g150@example.com");
    assert_eq!(host.get(&made.id()).await["attendees"], changed["attendees"]);

    for name in ["é".repeat(200), "𝒜".repeat(200), "Ada \"Countess\" <b>, 王; O'Neil".to_owned()] {
        let one = json!({ "attendees": [{ "email": ADA, "name": name }] });
        assert_eq!(host.patch(&made.id(), one).await["attendees"][0]["name"], name);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn only_agents_of_the_organization_can_be_named(#[case] database: Database) {
    let host = Host::new(database).await;
    let stranger = host.server.api(&host.server.org("pro").await);
    let (theirs, gone, other) = (agent(&stranger).await, agent(&host.api).await, agent(&host.api).await);
    host.api.delete(format!("/v1/agents/{gone}")).await.expect(204);
    let named = |id: &str| json!([{ "email": BOB }, { "email": ADA, "agent_id": id }]);
    let made = host.event(json!({ "attendees": named(&other) })).await;
    assert_eq!(made["attendees"][1]["agent_id"], other);
    has_exactly(&made["attendees"][1], &["email", "role", "agent_id", "status"]);
    let before = host.get(&made.id()).await;
    let nobody = format!("agt_{}", "0".repeat(26));
    for id in [&theirs, &gone, &nobody, "agt_x", "", &host.calendar] {
        let refused = host.api.post(host.events()).json(meeting(json!({ "attendees": named(id) }))).await;
        refused.refused(400, "validation_error").param("attendees[1].agent_id");
        let batch = json!({ "events": [meeting(json!({ "attendees": named(id) }))] });
        let refused = host.api.post(format!("{}/batch", host.events())).json(batch).await;
        refused.refused(400, "validation_error").param("events[0].attendees[1].agent_id");
        let change = json!({ "attendees": named(id) });
        let refused = host.api.patch(format!("/v1/events/{}", made.id())).json(change).await;
        refused.refused(400, "validation_error").param("attendees[1].agent_id");
    }
    host.unchanged(&before).await;
    assert_eq!(host.listed().await["total"], 1);
    // The next list can leave the agent out.
    let changed = host.patch(&made.id(), json!({ "attendees": people(&[ADA]) })).await;
    has_exactly(&changed["attendees"][0], &["email", "role", "status"]);
}

#[apply(on_both)]
#[tokio::test]
async fn a_new_list_keeps_the_answers_of_those_who_stay(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let event = host.invited(people(&[ADA, BOB, EVE]), json!({})).await;
    host.reply(&event.links[0], "accepted").await;
    host.reply(&event.links[1], "declined").await;
    let before = host.get(&event.id).await;
    let responded = |place: usize| before["attendees"][place]["responded_at"].clone();
    is_time(&responded(0));
    let list = json!([
        { "email": "new@example.com" }, { "email": "BOB@Example.com", "name": "Bob", "role": "optional" },
        { "email": EVE }, { "email": ADA },
    ]);
    let changed = host.patch(&event.id, json!({ "attendees": list })).await;
    let expected = json!([
        { "email": "new@example.com", "role": "required", "status": "needs_action" },
        { "email": BOB, "name": "Bob", "role": "optional", "status": "declined", "responded_at": responded(1) },
        { "email": EVE, "role": "required", "status": "needs_action" },
        { "email": ADA, "role": "required", "status": "accepted", "responded_at": responded(0) },
    ]);
    assert_eq!(changed["attendees"], expected);
    host.later(60).await;
    assert_eq!(host.get(&event.id).await["attendees"], expected);

    // Who leaves and comes back is asked again.
    host.patch(&event.id, json!({ "attendees": people(&[BOB]) })).await;
    let changed = host.patch(&event.id, json!({ "attendees": people(&[BOB, ADA]) })).await;
    assert_eq!(statuses(&changed.json), are([(BOB, "declined"), (ADA, "needs_action")]));
    has_exactly(&changed["attendees"][1], &["email", "role", "status"]);
}

#[apply(on_both)]
#[tokio::test]
async fn new_times_ask_everyone_again(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let event = host.invited(people(&[ADA, BOB]), json!({})).await;
    let named = json!([{ "email": ADA, "name": "Ada", "role": "optional" }, { "email": BOB }]);
    let (noon, two) = ("2031-05-06T12:00:00Z", "2031-05-06T14:00:00Z");
    let cases = [
        (json!({ "title": "Retro" }), false),
        (json!({ "description": "Bring notes" }), false),
        (json!({ "location": "Room 2", "conference_url": "https://meet.example.com/a" }), false),
        (json!({ "metadata": { "ticket": 7 }, "reminders": [15] }), false),
        (json!({ "status": "tentative" }), false),
        (json!({ "status": "confirmed" }), false),
        (json!({ "attendees": named }), false),
        // The times that it has.
        (json!({ "title": "Review", "start_time": START, "end_time": END }), false),
        (json!({ "start_time": noon }), true),
        (json!({ "end_time": two }), true),
        (json!({ "start_time": START, "end_time": END }), true),
        (json!({ "start_time": noon, "attendees": named }), true),
        (json!({ "recurrence_rule": DAILY }), true),
        (json!({ "title": "Standup" }), false),
        (json!({ "recurrence_rule": "FREQ=DAILY;COUNT=5" }), true),
        (json!({ "recurrence_rule": null }), true),
        (json!({ "all_day": true, "start_time": "2031-05-07", "end_time": "2031-05-09" }), true),
        (json!({ "end_time": "2031-05-10" }), true),
    ];
    for (change, again) in cases {
        host.reply(&event.links[0], "accepted").await;
        host.reply(&event.links[1], "declined").await;
        let before = host.get(&event.id).await;
        assert_eq!(statuses(&before.json), are([(ADA, "accepted"), (BOB, "declined")]), "{change}");
        let changed = host.patch(&event.id, change.clone()).await;
        let after = host.get(&event.id).await;
        assert_eq!(changed["attendees"], after["attendees"], "{change}");
        let expected = if again { ["needs_action"; 2] } else { ["accepted", "declined"] };
        assert_eq!(statuses(&after.json), are([(ADA, expected[0]), (BOB, expected[1])]), "{change}");
        for place in 0..2 {
            let (before, after) = (&before["attendees"][place], &after["attendees"][place]);
            let responded = if again { None } else { before.get("responded_at") };
            assert_eq!(after.get("responded_at"), responded, "{change}");
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn an_occurrence_has_the_attendees_of_its_series_or_its_own(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let series = host.invited(people(&[ADA, BOB]), json!({ "recurrence_rule": DAILY })).await;
    host.reply(&series.links[0], "accepted").await;
    let retro = on(&series.id, 8);
    let room = host.patch(&retro, json!({ "title": "Retro", "location": "Room 2" })).await;
    let both = are([(ADA, "accepted"), (BOB, "needs_action")]);
    assert_eq!(statuses(&room.json), both);
    // A later answer for the series reaches the changed occurrence too.
    host.reply(&series.links[1], "declined").await;
    let both = are([(ADA, "accepted"), (BOB, "declined")]);
    for entry in in_may(&host).await {
        assert_eq!(statuses(&entry), both, "{entry:#}");
    }
    for id in [&series.id, &retro, &on(&series.id, 9)] {
        assert_eq!(statuses(&host.get(id).await.json), both, "{id}");
    }

    // The lists of the 10th and the 11th are changed. The others stay.
    let (own, nobody) = (on(&series.id, 10), on(&series.id, 11));
    let changed = host.patch(&own, json!({ "attendees": people(&[BOB, EVE]) })).await;
    assert_eq!(statuses(&changed.json), are([(BOB, "declined"), (EVE, "needs_action")]));
    let changed = host.patch(&nobody, json!({ "attendees": [] })).await;
    assert_eq!(changed.json.get("attendees"), None, "{}", changed.describe());
    let mut expected = vec![both.to_vec(); 10];
    expected[4] = are([(BOB, "declined"), (EVE, "needs_action")]).to_vec();
    expected[5] = Vec::new();
    let shown: Vec<_> = in_may(&host).await.iter().map(statuses).collect();
    assert_eq!(shown, expected);
    assert_eq!(statuses(&host.get(&series.id).await.json), both);

    // A new list of the series is that of every occurrence without its own.
    let new = host.patch(&series.id, json!({ "attendees": people(&[ADA, EVE]) })).await;
    let shown = are([(ADA, "accepted"), (EVE, "needs_action")]).to_vec();
    assert_eq!(statuses(&new.json), shown);
    for (place, entry) in expected.iter_mut().enumerate() {
        if ![4, 5].contains(&place) {
            entry.clone_from(&shown);
        }
    }
    let shown: Vec<_> = in_may(&host).await.iter().map(statuses).collect();
    assert_eq!(shown, expected);
    for (id, place) in [(&retro, 2), (&own, 4), (&nobody, 5)] {
        assert_eq!(statuses(&host.get(id).await.json), expected[place], "{id}");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn scopes_change_the_list_of_later_occurrences_or_all(#[case] database: Database) {
    let host = Host::new(database).await;
    let fields = json!({ "recurrence_rule": DAILY, "attendees": people(&[ADA]) });
    let series = host.event(fields).await.id();
    let of = |events: &[Value]| {
        let names = |event: &Value| statuses(event).join(" ").replace(" needs_action", "").replace("@example.com", "");
        events.iter().map(names).collect::<Vec<_>>()
    };
    host.patch(&format!("{}?scope=all", on(&series, 8)), json!({ "attendees": people(&[ADA, BOB]) })).await;
    assert_eq!(of(&in_may(&host).await), ["ada bob"; 10]);
    let new = host.patch(&format!("{}?scope=following", on(&series, 12)), json!({ "attendees": people(&[EVE]) })).await;
    let halves = [vec!["ada bob"; 6], vec!["eve"; 4]].concat();
    assert_eq!(of(&in_may(&host).await), halves);
    assert_eq!(of(&[new.json.clone(), host.get(&series).await.json]), ["eve", "ada bob"]);
    // A series that is split by another change has its attendees in both halves.
    host.patch(&format!("{}?scope=following", on(&series, 9)), json!({ "title": "Sync" })).await;
    assert_eq!(of(&in_may(&host).await), halves);
    host.patch(&format!("{}?scope=this", on(&new.id(), 13)), json!({ "attendees": people(&[BOB]) })).await;
    let expected = [vec!["ada bob"; 6], vec!["eve", "bob", "eve", "eve"]].concat();
    assert_eq!(of(&in_may(&host).await), expected);
}

#[apply(on_both)]
#[tokio::test]
async fn a_moved_event_keeps_its_attendees_and_their_answers(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let other = calendar_of(&host.api, &host.agent).await;
    let once = host.invited(people(&[ADA, BOB]), json!({})).await;
    let series = host.invited(people(&[ADA, BOB]), json!({ "recurrence_rule": DAILY })).await;
    for event in [&once, &series] {
        host.reply(&event.links[0], "tentative").await;
    }
    let own = on(&series.id, 8);
    host.patch(&own, json!({ "attendees": people(&[EVE]) })).await;
    let ids = [&once.id, &series.id, &own];
    let mut before = Vec::new();
    for id in ids {
        before.push(host.get(id).await["attendees"].clone());
    }
    for id in [&once.id, &series.id] {
        let moved = host.api.post(format!("/v1/events/{id}/move")).json(json!({ "calendar_id": other })).await;
        let moved = moved.expect(200);
        assert_eq!(statuses(&moved.json), are([(ADA, "tentative"), (BOB, "needs_action")]));
    }
    for (id, before) in ids.into_iter().zip(before) {
        let after = host.get(id).await;
        assert_eq!((&after["attendees"], &after["calendarId"]), (&before, &json!(other)), "{id}");
    }
    // The links still lead to them. A move mails nothing.
    for event in [&once, &series] {
        host.reply(&event.links[1], "accepted").await;
        let after = host.get(&event.id).await;
        assert_eq!(statuses(&after.json), are([(ADA, "tentative"), (BOB, "accepted")]));
    }
    host.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_feed_names_no_attendee(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let attendees = json!([
        { "email": ADA, "name": "Ada Lovelace", "agent_id": host.agent },
        { "email": "grace@navy.example", "name": "Grace Hopper", "role": "optional" },
    ]);
    let once = host.invited(attendees.clone(), json!({ "title": "Kick-off" })).await;
    host.reply(&once.links[0], "accepted").await;
    let weekly = json!({ "title": "Standup", "recurrence_rule": DAILY, "attendees": attendees });
    let series = host.event(weekly).await.id();
    host.patch(&on(&series, 8), json!({ "title": "Retro" })).await;
    host.patch(&on(&series, 9), json!({ "title": "Planning", "attendees": people(&[BOB]) })).await;

    let path = address(&host.api, &host.calendar).await;
    let text = feed(&host.server, &path).await.text().replace("\r\n ", "");
    for title in ["Kick-off", "Standup", "Retro", "Planning"] {
        assert!(text.contains(&format!("SUMMARY:{title}")), "{title}: {text}");
    }
    let lower = text.to_lowercase();
    for part in ["attendee", "ada@", "lovelace", "grace", "navy.example", "hopper", "bob@", "partstat", "rsvp"] {
        assert!(!lower.contains(part), "{part}: {text}");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn copies_of_the_calendar_follow_the_answers(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let event = host.invited(people(&[ADA, BOB]), json!({})).await;
    let mut copy = Copy::default();
    copy.catch_up(&host.api, &host.calendar, "200").await;
    assert_eq!(statuses(&copy.events[&event.id]), are([(ADA, "needs_action"), (BOB, "needs_action")]));
    for status in ["accepted", "declined"] {
        host.reply(&event.links[1], status).await;
        copy.catch_up(&host.api, &host.calendar, "200").await;
        assert_eq!(statuses(&copy.events[&event.id]), are([(ADA, "needs_action"), (BOB, status)]));
        assert_eq!(copy.events[&event.id], host.get(&event.id).await.json);
    }
    // The tag of the event before an answer is old.
    let tag = host.get(&event.id).await.header("etag").to_owned();
    host.reply(&event.links[0], "accepted").await;
    let stale = host.api.patch(format!("/v1/events/{}", event.id)).header("if-match", &tag);
    stale.json(json!({ "title": "Retro" })).await.refused(412, "conflict").code("stale");
    let known = host.api.get(format!("/v1/events/{}", event.id)).header("if-none-match", &tag).await;
    assert_ne!(known.status, 304, "{}", known.describe());
}

#[apply(on_both)]
#[tokio::test]
async fn only_keys_that_may_write_can_invite(#[case] database: Database) {
    let mut host = Host::new(database).await;
    let other = agent(&host.api).await;
    let key = async |server: &Server, agent: &str| {
        let made = host.api.post("/v1/keys").json(json!({ "agent_id": agent })).await.expect(201);
        server.client(made["key"].as_str().unwrap())
    };
    let (own, others) = (key(&host.server, &host.agent).await, key(&host.server, &other).await);
    let event = host.event(json!({ "attendees": people(&[ADA]) })).await;
    let before = host.get(&event.id()).await;
    let path = format!("/v1/events/{}", event.id());
    let change = json!({ "attendees": people(&[EVE]), "send_invitations": true });
    let invitation = meeting(json!({ "attendees": people(&[EVE]), "send_invitations": true }));

    // The key of another agent does not see who is invited.
    for call in [
        others.get(&path),
        others.patch(&path).json(change.clone()),
        others.delete(format!("{path}?send_invitations=true")),
        others.post(host.events()).json(invitation.clone()),
    ] {
        let refused = call.await;
        assert!([403, 404].contains(&refused.status), "{}", refused.describe());
        assert!(!refused.text().contains(ADA), "{}", refused.describe());
    }
    // The keys of a paused agent may only read.
    host.api.patch(format!("/v1/agents/{}", host.agent)).json(json!({ "status": "paused" })).await.expect(200);
    for call in [
        own.patch(&path).json(change),
        own.delete(format!("{path}?send_invitations=true")),
        own.post(host.events()).json(invitation),
    ] {
        call.await.refused(403, "forbidden").code("agent_paused");
    }
    assert_eq!(own.get(&path).await.expect(200)["attendees"], before["attendees"]);
    host.unchanged(&before).await;
    assert_eq!(host.listed().await["total"], 1);
    host.nothing_more().await;
}
