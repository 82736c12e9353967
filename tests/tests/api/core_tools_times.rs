//! The tools that are written for models: free times, and holds.

use crate::on_both;
use chrono::{TimeDelta, Timelike as _};
use kalends_e2e::{Client, Database, Server, at};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    core_tools::{run, wrong},
    fixtures::{agent_with_calendar, calendar_of, event, now, shared_calendar, time},
};

/// A second agent, Bob, and its calendar.
async fn bob(api: &Client) -> (String, String) {
    let bob = api.post("/v1/agents").json(json!({ "name": "Bob", "type": "ai" })).await.expect(201).id();
    let calendar = calendar_of(api, &bob).await;
    (bob, calendar)
}

/// The client of a new key of the agent.
async fn own(server: &Server, api: &Client, agent: &str) -> Client {
    let key = api.post("/v1/keys").json(json!({ "agent_id": agent, "label": "Tools" })).await.expect(201);
    server.client(key.at("/key").as_str().unwrap())
}

#[track_caller]
fn when(found: &Value) -> Vec<&str> {
    found["times"].as_array().unwrap().iter().map(|time| time["when"].as_str().unwrap()).collect()
}

#[track_caller]
fn says(text: &Value, part: &str) {
    assert!(text.as_str().is_some_and(|text| text.contains(part)), "{text} without {part:?}");
}

#[apply(on_both)]
#[tokio::test]
async fn a_model_finds_times_at_which_everybody_is_free(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (ada, calendar) = agent_with_calendar(&api).await;
    let (bob, of_bob) = bob(&api).await;
    event(&api, &calendar, "2038-03-01T09:00:00Z", "2038-03-01T10:00:00Z").await;
    event(&api, &of_bob, "2038-03-01T10:00:00Z", "2038-03-01T10:30:00Z").await;
    let mut asked = json!({
        "participants": ["Ada", "bob"], "duration_minutes": 30, "earliest": "2038-03-01T10:00",
        "latest": "2038-03-01T12:00", "timezone": "Europe/Berlin",
    });
    let found = run(&api, "find_times", asked.clone()).await;
    assert_eq!(when(&found), ["Mon 2038-03-01 11:30-12:00 Europe/Berlin"]);
    assert_eq!(found["times"][0]["start"], "2038-03-01T10:30:00Z");
    let participants = json!([{ "agent_id": ada, "name": "Ada" }, { "agent_id": bob, "name": "Bob" }]);
    assert_eq!((&found["participants"], &found["timezone"]), (&participants, &json!("Europe/Berlin")));
    assert_eq!(found.get("note"), None, "{found:#}");
    says(&found["next"], "hold_time");

    asked["latest"] = "2038-03-01T11:00".into();
    let found = run(&api, "find_times", asked).await;
    assert_eq!((when(&found).len(), found.get("next")), (0, None));
    says(&found["note"], "explain_time");
}

#[apply(on_both)]
#[tokio::test]
async fn nights_are_offered_unless_somebody_excludes_them(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (ada, calendar) = agent_with_calendar(&api).await;
    let mut asked = json!({ "participants": [ada], "duration_minutes": 60, "earliest": "2038-03-01T02:00" });
    let found = run(&api, "find_times", asked.clone()).await;
    assert_eq!((when(&found).len(), when(&found)[0]), (5, "Mon 2038-03-01 02:00-03:00 UTC"));
    says(&found["note"], "working_hours_only");

    asked["working_hours_only"] = true.into();
    asked["count"] = 2.into();
    let found = run(&api, "find_times", asked.clone()).await;
    assert_eq!(when(&found), ["Mon 2038-03-01 08:00-09:00 UTC", "Mon 2038-03-01 08:15-09:15 UTC"]);
    assert_eq!(found.get("note"), None, "{found:#}");

    let rules = json!({ "working_hours": { "mon": { "start": "13:00", "end": "14:00" } } });
    api.put(format!("/v1/calendars/{calendar}/availability-rules")).json(rules).await.expect(200);
    asked["working_hours_only"] = Value::Null;
    let found = run(&api, "find_times", asked).await;
    assert_eq!(when(&found), ["Mon 2038-03-01 13:00-14:00 UTC", "Mon 2038-03-08 13:00-14:00 UTC"]);
    assert_eq!(found.get("note"), None, "{found:#}");
}

#[apply(on_both)]
#[tokio::test]
async fn an_agent_finds_its_own_times_from_now_on(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (ada, _) = agent_with_calendar(&api).await;
    let (bob, _) = bob(&api).await;
    let own = own(&server, &api, &ada).await;
    let began = at(&now(&api).await);
    let past = json!({ "duration_minutes": "30", "earliest": "2020-01-01", "timezone": "UTC" });
    for asked in [json!({ "duration_minutes": 30 }), json!({ "duration_minutes": 30, "participants": "me" }), past] {
        let found = run(&own, "find_times", asked).await;
        assert_eq!(found["participants"], json!([{ "agent_id": ada, "name": "me" }]));
        let first = time(&found["times"][0]["start"]);
        assert!(first >= began && first - began <= TimeDelta::minutes(20), "{first} from {began} on");
        assert_eq!((first.minute() % 15, first.second()), (0, 0), "{first}");
    }
    let error = wrong(&own, "find_times", json!({ "duration_minutes": 30, "participants": ["me", bob] })).await;
    assert_eq!(error["type"], "forbidden", "{error:#}");
}

#[apply(on_both)]
#[tokio::test]
async fn wrong_arguments_about_times_are_named(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (ada, calendar) = agent_with_calendar(&api).await;
    let backwards = json!({ "earliest": "2038-03-02T00:00:00Z", "latest": "2038-03-01T00:00:00Z" });
    for (argument, given) in [
        ("duration_minutes", json!({ "duration_minutes": 3 })),
        ("count", json!({ "count": 51 })),
        ("participants", json!({ "participants": null })),
        ("participants", json!({ "participants": ["Adda"] })),
        ("timezone", json!({ "timezone": "Europe/Berln" })),
        ("earliest", json!({ "earliest": "tomorrow" })),
        ("latest", backwards),
    ] {
        let mut asked = json!({ "participants": [ada], "duration_minutes": 30 });
        asked.as_object_mut().unwrap().extend(given.as_object().unwrap().clone());
        let error = wrong(&api, "find_times", asked).await;
        assert_eq!(error["param"], argument, "{error:#}");
        assert!(error["message"].as_str().unwrap().starts_with(&format!("{argument}: ")), "{error:#}");
    }
    for (argument, given) in [
        ("duration_minutes", json!({})),
        ("duration_minutes", json!({ "duration_minutes": 30, "end": "2038-03-01T12:00:00Z" })),
        ("end", json!({ "end": "2038-03-10T10:00:00Z" })),
        ("participants", json!({ "calendar_ids": [], "duration_minutes": 30 })),
        ("calendar_ids", json!({ "calendar_ids": vec![calendar.clone(); 11], "duration_minutes": 30 })),
    ] {
        let mut asked = json!({ "calendar_ids": calendar, "start": "2038-03-01T10:00:00Z" });
        asked.as_object_mut().unwrap().extend(given.as_object().unwrap().clone());
        let error = wrong(&api, "explain_time", asked).await;
        assert_eq!(error["param"], argument, "{error:#}");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_model_learns_why_a_time_is_not_free(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (ada, calendar) = agent_with_calendar(&api).await;
    let (_, of_bob) = bob(&api).await;
    event(&api, &calendar, "2038-03-01T09:00:00Z", "2038-03-01T10:00:00Z").await;
    let asked = json!({ "participants": ["Ada", "Bob"], "start": "2038-03-01T09:30", "duration_minutes": 30 });
    let found = run(&api, "explain_time", asked).await;
    assert_eq!((&found["free"], &found["when"]), (&json!(false), &json!("Mon 2038-03-01 09:30-10:00 UTC")));
    let of_ada = &found["explained"][0];
    assert_eq!((&of_ada["agent_id"], &of_ada["free"]), (&json!(ada), &json!(false)), "{found:#}");
    let reason = &of_ada["reasons"][0];
    assert_eq!((&reason["reason"], &reason["calendar_id"]), (&json!("event"), &json!(calendar)));
    assert_eq!(reason["when"], "Mon 2038-03-01 09:00-10:00 UTC");
    assert_eq!((&found["explained"][1]["name"], &found["explained"][1]["free"]), (&json!("Bob"), &json!(true)));
    says(&found["next"], "find_times");

    let asked = json!({
        "calendar_ids": [calendar, of_bob], "start": "2038-03-01T11:00", "end": "2038-03-01T12:00",
        "timezone": "Europe/Berlin",
    });
    let found = run(&api, "explain_time", asked).await;
    assert_eq!((&found["free"], &found["explained"][1]["calendar_id"]), (&json!(true), &json!(of_bob)));
    says(&found["next"], "hold_time");

    let own = own(&server, &api, &ada).await;
    let found = run(&own, "explain_time", json!({ "start": "2020-01-01T09:30", "duration_minutes": 30 })).await;
    assert_eq!(found["explained"][0]["agent_id"], json!(ada));
    says(&found["note"], "has passed");
    let other = json!({ "calendar_ids": [of_bob], "start": "2038-03-01T09:30:00Z", "duration_minutes": 30 });
    let error = wrong(&own, "explain_time", other).await;
    assert_eq!(error["type"], "forbidden", "{error:#}");
}

#[apply(on_both)]
#[tokio::test]
async fn a_model_holds_a_time_of_one_calendar(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (ada, calendar) = agent_with_calendar(&api).await;
    let began = at(&now(&api).await);
    let asked = json!({
        "title": "Maybe", "participants": "Ada", "start": "2038-03-01T10:00", "duration_minutes": 30,
        "timezone": "Europe/Berlin",
    });
    let held = run(&api, "hold_time", asked.clone()).await;
    let hold = &held["holds"][0];
    assert_eq!((&hold["event_id"], &hold["status"]), (&held["hold_id"], &json!("hold")), "{held:#}");
    assert_eq!((&hold["start"], &hold["calendar_id"]), (&json!("2038-03-01T09:00:00Z"), &json!(calendar)));
    assert_eq!(hold["when"], "Mon 2038-03-01 10:00-10:30 Europe/Berlin");
    let lasts = time(&held["expires_at"]) - began;
    assert!(lasts >= TimeDelta::minutes(10) && lasts <= TimeDelta::minutes(11), "{held:#}");
    says(&held["next"], "confirm_hold");

    let error = wrong(&api, "hold_time", asked.clone()).await;
    assert_eq!((&error["code"], &error["conflicts"][0]["kind"]), (&json!("slot_taken"), &json!("hold")), "{error:#}");
    says(&error["conflicts"][0]["when"], "Mon 2038-03-01 10:00-10:30 Europe/Berlin");
    says(&error["nearest_free"][0]["when"], "Mon 2038-03-01 ");

    let released = run(&api, "release_hold", json!({ "hold_id": held["hold_id"] })).await;
    assert_eq!((&released["cancelled"][0]["event_id"], released.get("confirmed")), (&held["hold_id"], None));

    // An agent's key means its own calendar, and its zone.
    let own = own(&server, &api, &ada).await;
    let asked = json!({
        "title": "Mine", "start": "2038-03-01T09:00", "end": "2038-03-01T10:00", "expires_in_minutes": 1,
    });
    let held = run(&own, "hold_time", asked).await;
    assert_eq!(held["holds"][0]["when"], "Mon 2038-03-01 09:00-10:00 UTC");
    let confirmed = run(&own, "confirm_hold", json!({ "event_id": held["hold_id"] })).await;
    assert_eq!((&confirmed["confirmed"][0]["event_id"], confirmed.get("cancelled")), (&held["hold_id"], None));
    assert_eq!(confirmed.get("already_confirmed"), None, "{confirmed:#}");
    assert_eq!(wrong(&own, "release_hold", json!({})).await["param"], "hold_id");
}

#[apply(on_both)]
#[tokio::test]
async fn a_model_holds_a_time_of_several_calendars(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (ada, calendar) = agent_with_calendar(&api).await;
    let (_, of_bob) = bob(&api).await;
    let mut asked = json!({
        "title": "Kick-off", "participants": ["Ada", "Bob", ada], "start": "2038-03-01T09:00", "duration_minutes": 60,
    });
    let held = run(&api, "hold_time", asked.clone()).await;
    assert!(held["hold_set_id"].as_str().unwrap().starts_with("hst_"), "{held:#}");
    let calendars: Vec<_> = held["holds"].as_array().unwrap().iter().map(|hold| hold["calendar_id"].clone()).collect();
    assert!(calendars.len() == 2 && calendars.contains(&json!(calendar)) && calendars.contains(&json!(of_bob)));
    let confirmed = run(&api, "confirm_hold", json!({ "hold_set_id": held["hold_set_id"] })).await;
    assert_eq!(confirmed["confirmed"].as_array().unwrap().len(), 2);
    let error = wrong(&api, "hold_time", asked.clone()).await;
    let conflicts = error["conflicts"].as_array().unwrap().len();
    assert_eq!((&error["code"], conflicts), (&json!("slot_taken"), 2), "{error:#}");

    asked["start"] = "2038-03-01T11:00".into();
    asked["participants"] = json!(["Ada"]);
    asked["calendar_ids"] = json!([of_bob]);
    let held = run(&api, "hold_time", asked).await;
    let released = run(&api, "release_hold", json!({ "hold_id": held["hold_set_id"] })).await;
    assert_eq!(released["cancelled"].as_array().unwrap().len(), 2, "{released:#}");
}

#[apply(on_both)]
#[tokio::test]
async fn a_repeated_hold_is_placed_once(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let (_, of_bob) = bob(&api).await;
    for (calendars, id) in [(vec![&calendar], "hold_id"), (vec![&calendar, &of_bob], "hold_set_id")] {
        let mut asked = json!({
            "title": "Once", "calendar_ids": calendars, "start": format!("2038-03-0{}T09:00:00Z", calendars.len()),
            "duration_minutes": 30, "idempotency_key": "once",
        });
        let first = run(&api, "hold_time", asked.clone()).await;
        let second = run(&api, "hold_time", asked.clone()).await;
        assert!(first[id].is_string(), "{first:#}");
        assert_eq!((&first[id], &first["expires_at"]), (&second[id], &second["expires_at"]));
        asked["title"] = "Another".into();
        assert_eq!(wrong(&api, "hold_time", asked).await["code"], "idempotency_mismatch");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_repeated_confirmation_or_release_is_answered_as_the_first(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let (_, of_bob) = bob(&api).await;
    for (calendars, id) in [(vec![&calendar], "hold_id"), (vec![&calendar, &of_bob], "hold_set_id")] {
        let asked = |day: u8| {
            json!({
                "title": "Maybe", "calendar_ids": calendars, "duration_minutes": 30,
                "start": format!("2038-03-{}{day}T09:00:00Z", calendars.len()),
            })
        };
        let held = json!({ "hold_id": run(&api, "hold_time", asked(0)).await[id] });
        let mut first = run(&api, "confirm_hold", held.clone()).await;
        let again = run(&api, "confirm_hold", held.clone()).await;
        assert_eq!(first.get("already_confirmed"), None, "{first:#}");
        first["already_confirmed"] = true.into();
        assert_eq!(again, first);
        let error = wrong(&api, "release_hold", held).await;
        assert_eq!(error["code"], "not_a_hold", "{error:#}");
        says(&error["next"], "cancel_event");

        let held = json!({ "hold_id": run(&api, "hold_time", asked(1)).await[id] });
        let mut first = run(&api, "release_hold", held.clone()).await;
        let again = run(&api, "release_hold", held.clone()).await;
        assert_eq!(first.get("already_released"), None, "{first:#}");
        first["already_released"] = true.into();
        assert_eq!(again, first);
        let error = wrong(&api, "confirm_hold", held).await;
        assert_eq!(error["code"], "not_a_hold", "{error:#}");
        says(&error["next"], "hold_time again");
    }
    let plain = event(&api, &calendar, "2038-04-01T09:00:00Z", "2038-04-01T10:00:00Z").await;
    for tool in ["release_hold", "confirm_hold"] {
        let error = wrong(&api, tool, json!({ "hold_id": plain })).await;
        assert_eq!(error["code"], "not_a_hold", "{error:#}");
        says(&error["next"], "never was a hold");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_hold_needs_the_other_calendars_of_its_agent(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (ada, first) = agent_with_calendar(&api).await;
    let second = calendar_of(&api, &ada).await;
    event(&api, &second, "2038-03-01T09:00:00Z", "2038-03-01T10:00:00Z").await;
    let mut asked = json!({
        "title": "Maybe", "calendar_ids": [first], "start": "2038-03-01T09:30:00Z", "duration_minutes": 30,
    });
    let error = wrong(&api, "hold_time", asked.clone()).await;
    let conflict = &error["conflicts"][0];
    assert_eq!((&error["code"], &conflict["calendar_id"]), (&json!("slot_taken"), &json!(second)), "{error:#}");
    assert_eq!(error["nearest_free"][0]["start"], "2038-03-01T10:00:00Z", "{error:#}");
    asked["start"] = "2038-03-01T10:00:00Z".into();
    run(&api, "hold_time", asked.clone()).await;

    asked["calendar_ids"] = json!([shared_calendar(&api, "UTC").await]);
    run(&api, "hold_time", asked).await;
}

#[apply(on_both)]
#[tokio::test]
async fn wrong_arguments_about_holds_are_named(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (ada, first) = agent_with_calendar(&api).await;
    for (argument, given, part) in [
        ("start", json!({ "start": "2020-01-01T09:00:00Z" }), "has passed; now is "),
        ("expires_in_minutes", json!({ "expires_in_minutes": 16 }), "15 minutes"),
        ("end", json!({ "duration_minutes": null, "end": "2038-03-01T08:00:00Z" }), "after the start"),
        ("duration_minutes", json!({ "duration_minutes": null }), "is required, or end"),
        ("title", json!({ "title": null }), "is required"),
        ("participants", json!({ "participants": null }), "whoami"),
    ] {
        let mut asked = json!({
            "title": "Maybe", "participants": ["Ada"], "start": "2038-03-01T09:00:00Z", "duration_minutes": 30,
        });
        asked.as_object_mut().unwrap().extend(given.as_object().unwrap().clone());
        let error = wrong(&api, "hold_time", asked).await;
        assert_eq!(error["param"], argument, "{error:#}");
        says(&error["message"], part);
    }
    calendar_of(&api, &ada).await;
    let asked = json!({ "title": "x", "participants": ["Ada"], "start": "2038-03-01T09:00", "duration_minutes": 30 });
    let error = wrong(&api, "hold_time", asked).await;
    assert_eq!(error["param"], "calendar_ids", "{error:#}");
    says(&error["message"], &first);
}
