//! The tools for models that read and write one event.

use crate::on_both;
use kalends_e2e::{Client, Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    core_tools::{run, wrong},
    fixtures::agent,
};

/// A new calendar of an agent in Berlin.
async fn berlin(api: &Client, agent: &str) -> String {
    let body = json!({ "name": "Work", "timezone": "Europe/Berlin" });
    api.post(format!("/v1/agents/{agent}/calendars")).json(body).await.expect(201).id()
}

/// The client of an agent's own key.
async fn own_key(server: &Server, api: &Client, agent: &str) -> Client {
    let key = api.post("/v1/keys").json(json!({ "agent_id": agent, "label": "Tools" })).await.expect(201);
    server.client(key.at("/key").as_str().unwrap())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value:#}")).to_owned()
}

/// When each event of two weeks of April takes place, and its title.
async fn april(api: &Client, calendar: &str) -> Vec<String> {
    let asked = json!({ "calendar_id": calendar, "start": "2038-03-22", "end": "2038-04-19" });
    let found = run(api, "list_events", asked).await;
    let events = found["events"].as_array().unwrap().iter();
    events.map(|event| format!("{} {}", text(&event["when"]), text(&event["title"]))).collect()
}

#[apply(on_both)]
#[tokio::test]
async fn an_agent_books_reads_changes_and_cancels_an_event(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let agent = agent(&api).await;
    let calendar = berlin(&api, &agent).await;
    let own = own_key(&server, &api, &agent).await;
    let made = run(
        &own,
        "create_event",
        json!({
            "title": "Review", "start": "2038-03-05T10:00", "duration_minutes": 30, "attendees": ["ada@example.com"],
            "description": "Bring data", "location": "Room 2", "conference_url": "https://meet.example.com/r",
            "reminders": [10], "metadata": { "ticket": 7 }, "idempotency_key": "review",
        }),
    )
    .await;
    assert_eq!(
        (&made["calendar_id"], &made["start"], &made["when"]),
        (&json!(calendar), &json!("2038-03-05T09:00:00Z"), &json!("Fri 2038-03-05 10:00-10:30 Europe/Berlin"))
    );
    assert!(made.get("note").is_none(), "{made:#}");
    let event = json!({ "event_id": made["event_id"] });

    let read = run(&own, "get_event", event.clone()).await;
    assert_eq!(
        (&read["description"], &read["conference_url"], &read["reminders"], &read["version"]),
        (&json!("Bring data"), &json!("https://meet.example.com/r"), &json!([10]), &made["version"])
    );
    assert_eq!(read["attendees"], json!([{ "email": "ada@example.com", "status": "needs_action" }]));
    let elsewhere = run(&own, "get_event", json!({ "event_id": made["event_id"], "timezone": "Asia/Tokyo" })).await;
    assert_eq!(elsewhere["when"], "Fri 2038-03-05 18:00-18:30 Asia/Tokyo");

    let moved = json!({ "event_id": made["event_id"], "start": "2038-03-05T15:00", "version": made["version"] });
    let changed = run(&own, "update_event", moved.clone()).await;
    assert_eq!(changed["when"], "Fri 2038-03-05 15:00-15:30 Europe/Berlin", "the length stays");
    assert_ne!(changed["version"], made["version"]);
    let error = wrong(&own, "update_event", moved).await;
    assert_eq!((&error["param"], &error["code"]), (&json!("version"), &json!("stale")), "{error:#}");
    let longer =
        run(&own, "update_event", json!({ "event_id": made["event_id"], "duration_minutes": 60, "title": "Talk" }))
            .await;
    assert_eq!(
        (&longer["when"], &longer["title"]),
        (&json!("Fri 2038-03-05 15:00-16:00 Europe/Berlin"), &json!("Talk"))
    );

    let error = wrong(&own, "cancel_event", json!({ "event_id": made["event_id"], "version": made["version"] })).await;
    assert_eq!(error["param"], "version", "{error:#}");
    let done = run(&own, "cancel_event", event.clone()).await;
    assert_eq!(done["cancelled"], made["event_id"]);
    assert!(text(&done["note"]).contains("No email"), "{done:#}");
    let error = wrong(&own, "get_event", event).await;
    assert_eq!(error["code"], "event_not_found", "{error:#}");
}

#[apply(on_both)]
#[tokio::test]
async fn nothing_is_booked_twice_without_a_word(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = berlin(&api, &agent(&api).await).await;
    let lunch = json!({
        "calendar_id": calendar, "title": "Lunch", "start": "2038-03-05T12:00", "end": "2038-03-05T13:00",
    });
    run(&api, "create_event", lunch.clone()).await;
    let error = wrong(&api, "create_event", lunch.clone()).await;
    assert_eq!(error["code"], "slot_taken", "{error:#}");
    assert!(text(&error["message"]).contains("allow_conflict"), "{error:#}");
    assert!(text(&error["nearest_free"][0]["when"]).contains("Europe/Berlin"), "{error:#}");

    let mut twice = lunch;
    twice["allow_conflict"] = true.into();
    let second = run(&api, "create_event", twice).await;
    let renamed = json!({ "event_id": second["event_id"], "title": "Second lunch" });
    run(&api, "update_event", renamed).await;
    let mut moved = json!({ "event_id": second["event_id"], "start": "2038-03-05T12:30" });
    let error = wrong(&api, "update_event", moved.clone()).await;
    assert_eq!(error["code"], "slot_taken", "{error:#}");
    moved["allow_conflict"] = true.into();
    run(&api, "update_event", moved).await;
}

#[apply(on_both)]
#[tokio::test]
async fn wrong_arguments_of_events_are_named(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let agent = agent(&api).await;
    let calendar = berlin(&api, &agent).await;
    let own = own_key(&server, &api, &agent).await;
    let with = |more: Value| {
        let mut asked = json!({ "calendar_id": calendar, "title": "Lunch", "start": "2038-03-05T12:00" });
        asked.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        asked
    };
    for (more, param) in [
        (json!({}), "end"),
        (json!({ "end": "2038-03-05T13:00", "duration_minutes": 60 }), "duration_minutes"),
        (json!({ "end": "2038-03-05T11:00" }), "end"),
        (json!({ "start": "2038-03-05", "duration_minutes": 60 }), "start"),
        (json!({ "duration_minutes": 60, "timezone": "Berlin" }), "timezone"),
        (json!({ "duration_minutes": 60, "attendees": [1] }), "attendees"),
        (json!({ "duration_minutes": 60, "recurrence_rule": "WEEKLY" }), "recurrence_rule"),
        (json!({ "duration_minutes": 60, "calendar_id": null }), "calendar_id"),
    ] {
        let error = wrong(&api, "create_event", with(more.clone())).await;
        assert_eq!(error["param"], param, "{more}: {error:#}");
    }
    berlin(&api, &agent).await;
    let error = wrong(&own, "create_event", with(json!({ "calendar_id": null, "duration_minutes": 60 }))).await;
    assert_eq!(error["param"], "calendar_id");
    assert!(text(&error["message"]).contains(&calendar), "{error:#}");
    let made = run(&own, "create_event", with(json!({ "duration_minutes": 60 }))).await;
    let event = made["event_id"].clone();
    let error = wrong(&own, "update_event", json!({ "event_id": event, "scope": "every" })).await;
    assert_eq!(error["param"], "scope", "{error:#}");
    let error = wrong(&own, "update_event", json!({ "event_id": event, "start": "2038-03-06" })).await;
    assert_eq!(error["param"], "start", "{error:#}");
}

#[apply(on_both)]
#[tokio::test]
async fn whole_days_and_past_times_are_booked(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = berlin(&api, &agent(&api).await).await;
    let fair = json!({ "calendar_id": calendar, "title": "Fair", "start": "2038-05-04", "all_day": true });
    let fair = run(&api, "create_event", fair).await;
    assert_eq!(
        (&fair["start"], &fair["end"], &fair["all_day"]),
        (&json!("2038-05-03T22:00:00Z"), &json!("2038-05-04T22:00:00Z"), &json!(true))
    );
    let moved = run(&api, "update_event", json!({ "event_id": fair["event_id"], "start": "2038-05-06" })).await;
    assert_eq!((&moved["start"], &moved["end"]), (&json!("2038-05-05T22:00:00Z"), &json!("2038-05-06T22:00:00Z")));
    let past = json!({
        "calendar_id": calendar, "title": "Notes", "start": "2021-05-04T09:00:00Z", "end": "2021-05-04T10:00:00Z",
    });
    let past = run(&api, "create_event", past).await;
    assert!(text(&past["note"]).contains("past"), "{past:#}");
}

#[apply(on_both)]
#[tokio::test]
async fn a_series_follows_its_calendar_and_changes_only_if_meant(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = berlin(&api, &agent(&api).await).await;
    let weekly = json!({
        "calendar_id": calendar, "title": "Sync", "start": "2038-03-26T10:00:00+01:00", "duration_minutes": 30,
        "recurrence_rule": "RRULE:FREQ=WEEKLY;COUNT=3",
    });
    let series = text(&run(&api, "create_event", weekly).await["event_id"]);
    let read = run(&api, "get_event", json!({ "event_id": series })).await;
    assert_eq!(read["recurrence_timezone"], "Europe/Berlin", "{read:#}");
    assert_eq!(
        april(&api, &calendar).await,
        [
            "Fri 2038-03-26 10:00-10:30 Europe/Berlin Sync",
            "Fri 2038-04-02 10:00-10:30 Europe/Berlin Sync",
            "Fri 2038-04-09 10:00-10:30 Europe/Berlin Sync",
        ],
        "the clocks change on 28 March"
    );
    for (tool, scope) in [("update_event", None), ("update_event", Some("following")), ("cancel_event", Some("this"))] {
        let mut asked = json!({ "event_id": series, "scope": scope });
        if tool == "update_event" {
            asked["title"] = "Other".into();
        }
        let error = wrong(&api, tool, asked).await;
        assert_eq!(error["param"], "event_id", "{error:#}");
        assert!(text(&error["message"]).contains("list_events"), "{error:#}");
    }

    let second = format!("{series}_20380402T080000Z");
    let moved = json!({ "event_id": second, "start": "2038-04-02T14:00" });
    let moved = run(&api, "update_event", moved).await;
    assert_eq!(
        (&moved["event_id"], &moved["when"]),
        (&json!(second), &json!("Fri 2038-04-02 14:00-14:30 Europe/Berlin"))
    );
    let one = run(&api, "get_event", json!({ "event_id": second })).await;
    assert_eq!(one["series_id"], series, "{one:#}");
    run(&api, "update_event", json!({ "event_id": series, "scope": "all", "location": "Room 2" })).await;
    let third = format!("{series}_20380409T080000Z");
    assert_eq!(run(&api, "cancel_event", json!({ "event_id": third })).await, json!({ "cancelled": third }));
    assert_eq!(april(&api, &calendar).await.len(), 2);
    let done = run(&api, "cancel_event", json!({ "event_id": series, "scope": "all" })).await;
    assert!(text(&done["note"]).contains("All occurrences"), "{done:#}");
    assert_eq!(april(&api, &calendar).await, Vec::<String>::new());
}

#[apply(on_both)]
#[tokio::test]
async fn a_moved_or_split_series_says_what_became_of_it(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = berlin(&api, &agent(&api).await).await;
    let daily = json!({
        "calendar_id": calendar, "title": "Sync", "start": "2038-04-05T10:00", "duration_minutes": 30,
        "recurrence_rule": "FREQ=DAILY;COUNT=4",
    });
    let series = text(&run(&api, "create_event", daily).await["event_id"]);
    run(&api, "cancel_event", json!({ "event_id": format!("{series}_20380406T080000Z") })).await;
    let moved = json!({ "event_id": series, "scope": "all", "start": "2038-04-05T11:00" });
    let moved = run(&api, "update_event", moved).await;
    assert!(text(&moved["note"]).contains("(1) stay cancelled"), "{moved:#}");
    assert_eq!((&moved["event_id"], april(&api, &calendar).await.len()), (&json!(series), 3));

    let later = json!({ "event_id": format!("{series}_20380407T090000Z"), "scope": "following", "title": "Later" });
    let later = run(&api, "update_event", later).await;
    assert!(text(&later["note"]).contains(&text(&later["event_id"])), "{later:#}");
    assert_ne!(later["event_id"], series);
    assert_eq!(
        april(&api, &calendar).await,
        [
            "Mon 2038-04-05 11:00-11:30 Europe/Berlin Sync",
            "Wed 2038-04-07 11:00-11:30 Europe/Berlin Later",
            "Thu 2038-04-08 11:00-11:30 Europe/Berlin Later",
        ]
    );

    let once = json!({
        "calendar_id": calendar, "title": "Walk", "start": "2038-03-26T17:00", "duration_minutes": 30,
    });
    let once = run(&api, "create_event", once).await;
    let repeated = json!({ "event_id": once["event_id"], "recurrence_rule": "FREQ=WEEKLY;COUNT=2" });
    run(&api, "update_event", repeated).await;
    let walks = april(&api, &calendar).await;
    assert!(walks.contains(&"Fri 2038-04-02 17:00-17:30 Europe/Berlin Walk".to_owned()), "{walks:#?}");
}

#[apply(on_both)]
#[tokio::test]
async fn a_series_moves_with_its_exceptions(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = berlin(&api, &agent(&api).await).await;
    let daily = json!({
        "calendar_id": calendar, "title": "Sync", "start": "2038-04-05T10:00", "duration_minutes": 30,
        "recurrence_rule": "FREQ=DAILY;COUNT=4",
    });
    let series = text(&run(&api, "create_event", daily).await["event_id"]);
    // Neither the first occurrence nor the second can stand for the series.
    run(&api, "cancel_event", json!({ "event_id": format!("{series}_20380405T080000Z") })).await;
    let special = json!({ "event_id": format!("{series}_20380406T080000Z"), "title": "Special" });
    run(&api, "update_event", special).await;

    let read = run(&api, "get_event", json!({ "event_id": series })).await;
    let mut moved = json!({
        "event_id": series, "scope": "all", "start": "2038-04-05T11:00", "duration_minutes": 60,
        "version": read["version"],
    });
    let changed = run(&api, "update_event", moved.clone()).await;
    assert_eq!((&changed["event_id"], &changed["start"]), (&json!(series), &json!("2038-04-05T09:00:00Z")));
    assert_eq!(
        april(&api, &calendar).await,
        [
            "Tue 2038-04-06 11:00-12:00 Europe/Berlin Special",
            "Wed 2038-04-07 11:00-12:00 Europe/Berlin Sync",
            "Thu 2038-04-08 11:00-12:00 Europe/Berlin Sync",
        ]
    );
    let error = wrong(&api, "update_event", moved.clone()).await;
    assert_eq!((&error["param"], &error["code"]), (&json!("version"), &json!("stale")), "{error:#}");

    moved["start"] = "2038-04-06T11:00".into();
    moved["version"] = Value::Null;
    run(&api, "update_event", moved).await;
    assert_eq!(
        april(&api, &calendar).await,
        [
            "Wed 2038-04-07 11:00-12:00 Europe/Berlin Special",
            "Thu 2038-04-08 11:00-12:00 Europe/Berlin Sync",
            "Fri 2038-04-09 11:00-12:00 Europe/Berlin Sync",
        ]
    );
}

#[apply(on_both)]
#[tokio::test]
async fn a_length_is_counted_from_the_start_that_is_written(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = berlin(&api, &agent(&api).await).await;
    let talk = json!({
        "calendar_id": calendar, "title": "Talk", "start": "2038-03-05T10:00:00Z", "duration_minutes": 90,
    });
    let talk = run(&api, "create_event", talk).await;
    for hour in 11..19 {
        let moved = json!({ "event_id": talk["event_id"], "start": format!("2038-03-05T{hour}:00:00Z") });
        let longer = json!({ "event_id": talk["event_id"], "duration_minutes": 90 });
        tokio::join!(run(&api, "update_event", moved), run(&api, "update_event", longer));
        let read = run(&api, "get_event", json!({ "event_id": talk["event_id"] })).await;
        assert_eq!(
            (&read["start"], &read["end"]),
            (&json!(format!("2038-03-05T{hour}:00:00Z")), &json!(format!("2038-03-05T{}:30:00Z", hour + 1)))
        );
    }
}

#[apply(on_both)]
#[tokio::test]
async fn an_agent_is_not_booked_twice_on_its_calendars(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let agent = agent(&api).await;
    let (first, second) = (berlin(&api, &agent).await, berlin(&api, &agent).await);
    let own = own_key(&server, &api, &agent).await;
    let lunch = |calendar: &str| {
        json!({
            "calendar_id": calendar, "title": "Lunch", "start": "2038-03-05T12:00", "duration_minutes": 60,
            "idempotency_key": "lunch",
        })
    };
    let made = run(&own, "create_event", lunch(&first)).await;
    assert_eq!(run(&own, "create_event", lunch(&first)).await["event_id"], made["event_id"], "it is its own event");
    for api in [&api, &own] {
        let error = wrong(api, "create_event", lunch(&second)).await;
        assert_eq!((&error["type"], &error["code"]), (&json!("conflict"), &json!("slot_taken")), "{error:#}");
        let conflict = &error["conflicts"][0];
        assert_eq!((&conflict["calendar_id"], &conflict["kind"]), (&json!(first), &json!("event")), "{error:#}");
        assert_eq!(conflict["when"], "Fri 2038-03-05 12:00-13:00 Europe/Berlin");
        assert_eq!(error["nearest_free"][0]["when"], "Fri 2038-03-05 13:00-14:00 Europe/Berlin", "{error:#}");
        assert!(text(&error["message"]).contains("allow_conflict"), "{error:#}");
    }
    let mut day = json!({ "calendar_id": second, "title": "Fair", "start": "2038-03-05", "all_day": true });
    assert_eq!(wrong(&own, "create_event", day.clone()).await["code"], "slot_taken");
    day["allow_conflict"] = true.into();
    run(&own, "create_event", day).await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_cancelled_occurrence_says_who_gets_email(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = berlin(&api, &agent(&api).await).await;
    let daily = json!({
        "calendar_id": calendar, "title": "Sync", "start": "2038-04-05T10:00", "duration_minutes": 30,
        "recurrence_rule": "FREQ=DAILY;COUNT=4", "attendees": ["ada@example.com", "ben@example.com"],
    });
    let series = text(&run(&api, "create_event", daily).await["event_id"]);
    let first = json!({ "event_id": format!("{series}_20380405T080000Z") });
    let done = run(&api, "cancel_event", first).await;
    assert_eq!(done["note"], "No email went to its attendees (2).", "{done:#}");
    let later = json!({ "event_id": format!("{series}_20380407T080000Z"), "scope": "following" });
    let done = run(&api, "cancel_event", later).await;
    assert!(text(&done["note"]).contains("later ones") && text(&done["note"]).contains("No email"), "{done:#}");
}
