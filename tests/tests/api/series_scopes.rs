//! Changes of a series from one occurrence on, and of all its occurrences: `scope`.

use crate::on_both;
use std::collections::BTreeSet;

use futures::future::join_all;
use kalends_e2e::{Answer, Client, Database, Server, shifted};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    changes::Copy,
    feed::{address, feed},
    fixtures::{agent_with_calendar, event, event_body, shared_calendar},
    webhooks::{hook, with_receiver},
};

const MONDAY: &str = "2027-03-01T09:00:00Z";

fn events(calendar: &str) -> String {
    format!("/v1/calendars/{calendar}/events")
}

/// The path of the occurrence whose rule gives it this start.
fn occurrence(series: &str, start: &str) -> String {
    format!("/v1/events/{series}_{}", start.replace(['-', ':'], ""))
}

/// A daily series of half hours from [`MONDAY`] on. It has ten occurrences, of which that of the 4th is cancelled and
/// that of the 6th is at noon and has another title.
async fn daily(api: &Client, calendar: &str) -> String {
    let mut body = event_body("Standup", MONDAY, &shifted(MONDAY, 30));
    body["recurrence_rule"] = json!("FREQ=DAILY;COUNT=10");
    let series = api.post(events(calendar)).json(body).await.expect(201).id();
    api.delete(occurrence(&series, "2027-03-04T09:00:00Z")).await.expect(204);
    let noon = json!({ "title": "Retro", "start_time": "2027-03-06T12:00:00Z" });
    api.patch(occurrence(&series, "2027-03-06T09:00:00Z")).json(noon).await.expect(200);
    series
}

async fn patch(api: &Client, path: &str, scope: &str, body: Value) -> Answer {
    api.patch(format!("{path}?scope={scope}")).json(body).await
}

/// What takes place in March: the day, the time and the title.
async fn taking_place(api: &Client, calendar: &str) -> Vec<String> {
    let window =
        [("expand", "true"), ("start_after", "2027-03-01T00:00:00Z"), ("start_before", "2027-04-01T00:00:00Z")];
    let listed = api.get(events(calendar)).query(&window).await.expect(200);
    let shown = listed.data().into_iter().map(|event| {
        let text = |field: &str| event[field].as_str().unwrap().to_owned();
        format!("{} {}", &text("startTime")[8..16], text("title"))
    });
    shown.collect()
}

/// The copy of a mirror that has followed all changes has the events of a new one.
async fn mirrors_agree(api: &Client, calendar: &str, old: &mut Copy) {
    old.catch_up(api, calendar, "3").await;
    let mut new = Copy::default();
    new.catch_up(api, calendar, "200").await;
    assert_eq!(old.events, new.events);
}

#[apply(on_both)]
#[tokio::test]
async fn following_occurrences_become_a_series_of_their_own(#[case] database: Database) {
    let (server, api, receiver) = with_receiver(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let series = daily(&api, &calendar).await;
    let mut mirror = Copy::default();
    mirror.catch_up(&api, &calendar, "200").await;
    hook(&api, &receiver, "/", &["*"]).await;

    let third = occurrence(&series, "2027-03-03T09:00:00Z");
    let etag = api.get(&third).await.expect(200).header("etag").to_owned();
    let later = json!({ "title": "Sync", "start_time": "2027-03-03T10:15:00Z" });
    let new = patch(&api, &third, "following", later.clone()).await.expect(200);
    assert_eq!((&new["previousSeriesId"], &new["recurrenceRule"]), (&json!(series), &json!("FREQ=DAILY;COUNT=8")));
    assert_eq!((&new["startTime"], &new["endTime"]), (&json!("2027-03-03T10:15:00Z"), &json!("2027-03-03T10:45:00Z")));
    assert_eq!(new["recurrenceExdates"], json!(["2027-03-04T10:15:00Z"]));
    assert_ne!(new.id(), series);
    let read = api.get(format!("/v1/events/{}", new.id())).await.expect(200);
    assert_eq!(read["previousSeriesId"], json!(series));
    let old = api.get(format!("/v1/events/{series}")).await.expect(200);
    assert_eq!((&old["recurrenceRule"], old.at("/previousSeriesId")), (&json!("FREQ=DAILY;COUNT=2"), Value::Null));
    let expected = [
        "01T09:00 Standup",
        "02T09:00 Standup",
        "03T10:15 Sync",
        "05T10:15 Sync",
        "06T13:15 Retro",
        "07T10:15 Sync",
        "08T10:15 Sync",
        "09T10:15 Sync",
        "10T10:15 Sync",
    ];
    assert_eq!(taking_place(&api, &calendar).await, expected);
    mirrors_agree(&api, &calendar, &mut mirror).await;

    // The changed occurrence belongs to the new series, under its new start.
    api.get(occurrence(&series, "2027-03-06T09:00:00Z")).await.refused(404, "not_found");
    let retro = api.get(occurrence(&new.id(), "2027-03-06T10:15:00Z")).await.expect(200);
    assert_eq!((&retro["title"], &retro["recurringEventId"]), (&json!("Retro"), &json!(new.id())));
    assert_eq!(retro.at("/previousSeriesId"), Value::Null);
    // The occurrence is no longer one of the old series, so the change is not made twice.
    patch(&api, &third, "following", later).await.refused(404, "not_found");
    let title = json!({ "title": "x" });
    api.patch(format!("{third}?scope=following")).header("if-match", &etag).json(title).await.refused(404, "not_found");

    let received = receiver.wait_for("/", 2).await;
    let messages: BTreeSet<(String, String)> = received
        .iter()
        .map(|message| (message.event_type().to_owned(), message.json()["id"].as_str().unwrap().to_owned()))
        .collect();
    let expected = [("event.created".to_owned(), new.id()), ("event.updated".to_owned(), series.clone())];
    assert_eq!(messages, BTreeSet::from(expected));
    let used = api.get("/v1/usage").await.expect(200);
    assert_eq!((&used["events"]["used"], &used["recurring_events"]["used"]), (&json!(2), &json!(2)));
    let audited = api.get("/v1/audit-log?limit=1").await.expect(200);
    assert_eq!(audited.column("resource"), [new.id()]);

    // The feed has both halves, each under its own UID.
    let feed = feed(&server, &address(&api, &calendar).await).await.text();
    let lines: Vec<&str> = feed.lines().map(str::trim_end).collect();
    let rules: Vec<&&str> = lines.iter().filter(|line| line.starts_with("RRULE")).collect();
    let expected = ["RRULE:FREQ=DAILY;UNTIL=20270302T090000Z", "RRULE:FREQ=DAILY;UNTIL=20270310T101500Z"];
    assert_eq!(rules, expected.each_ref(), "{feed}");
    let moved = lines.iter().filter(|line| line.starts_with("RECURRENCE-ID")).count();
    assert_eq!(moved, 1, "{feed}");
}

#[apply(on_both)]
#[tokio::test]
async fn all_occurrences_move_by_as_much(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let series = daily(&api, &calendar).await;
    let mut mirror = Copy::default();
    mirror.catch_up(&api, &calendar, "200").await;
    let fifth = occurrence(&series, "2027-03-05T09:00:00Z");
    let etag = api.get(&fifth).await.expect(200).header("etag").to_owned();
    let two_days_later = json!({ "start_time": "2027-03-07T09:30:00Z", "location": "Room 2" });
    let stale = api.patch(format!("{fifth}?scope=all")).header("if-match", "\"1\"").json(two_days_later.clone());
    stale.await.refused(412, "conflict").code("stale");
    let moved = api.patch(format!("{fifth}?scope=all&local=true")).header("if-match", &etag).json(two_days_later);
    let moved = moved.await.expect(200);
    assert_eq!((moved.id(), &moved["startTime"]), (series.clone(), &json!("2027-03-03T09:30:00Z")));
    assert_eq!(
        (&moved["recurrenceExdates"], moved.at("/previousSeriesId")),
        (&json!(["2027-03-06T09:30:00Z"]), Value::Null)
    );
    assert_eq!(moved["local"]["weekday"], "wednesday");
    let expected = [
        "03T09:30 Standup",
        "04T09:30 Standup",
        "05T09:30 Standup",
        "07T09:30 Standup",
        "08T12:30 Retro",
        "09T09:30 Standup",
        "10T09:30 Standup",
        "11T09:30 Standup",
        "12T09:30 Standup",
    ];
    assert_eq!(taking_place(&api, &calendar).await, expected);
    mirrors_agree(&api, &calendar, &mut mirror).await;
    let retro = api.get(occurrence(&series, "2027-03-08T09:30:00Z")).await.expect(200);
    assert_eq!((&retro["title"], &retro["location"]), (&json!("Retro"), &json!("Room 2")));

    // A move by one period gives every changed occurrence the identifier of its successor.
    let last = json!({ "title": "Last", "start_time": "2027-03-09T15:00:00Z" });
    api.patch(occurrence(&series, "2027-03-09T09:30:00Z")).json(last).await.expect(200);
    let next_day = json!({ "start_time": "2027-03-05T09:30:00Z" });
    patch(&api, &occurrence(&series, "2027-03-04T09:30:00Z"), "all", next_day).await.expect(200);
    let titles = |start: &str| {
        let path = occurrence(&series, start);
        let api = &api;
        async move { api.get(path).await.expect(200)["title"].as_str().unwrap().to_owned() }
    };
    assert_eq!(
        (titles("2027-03-09T09:30:00Z").await, titles("2027-03-10T09:30:00Z").await),
        ("Retro".into(), "Last".into())
    );
    assert_eq!(titles("2027-03-08T09:30:00Z").await, "Standup");
    mirrors_agree(&api, &calendar, &mut mirror).await;

    // The first occurrence and all that follow are the whole series.
    let whole =
        patch(&api, &occurrence(&series, "2027-03-04T09:30:00Z"), "following", json!({ "title": "Daily" })).await;
    let whole = whole.expect(200);
    assert_eq!((whole.id(), whole.at("/previousSeriesId")), (series, Value::Null));
}

#[apply(on_both)]
#[tokio::test]
async fn occurrences_are_deleted_from_one_on_or_all(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let series = daily(&api, &calendar).await;
    let mut mirror = Copy::default();
    mirror.catch_up(&api, &calendar, "200").await;
    let fifth = occurrence(&series, "2027-03-05T09:00:00Z");
    api.delete(format!("{fifth}?scope=following")).await.expect(204);
    assert_eq!(taking_place(&api, &calendar).await, ["01T09:00 Standup", "02T09:00 Standup", "03T09:00 Standup"]);
    let kept = api.get(format!("/v1/events/{series}")).await.expect(200);
    assert_eq!(
        (&kept["recurrenceRule"], &kept["recurrenceExdates"]),
        (&json!("FREQ=DAILY;COUNT=4"), &json!(["2027-03-04T09:00:00Z"]))
    );
    mirrors_agree(&api, &calendar, &mut mirror).await;
    api.delete(format!("{fifth}?scope=following")).await.refused(404, "not_found");
    let second = occurrence(&series, "2027-03-02T09:00:00Z");
    api.delete(format!("{second}?scope=all")).header("if-match", "\"1\"").await.refused(412, "conflict");
    api.delete(format!("{second}?scope=all")).await.expect(204);
    api.get(format!("/v1/events/{series}")).await.refused(404, "not_found");
    mirrors_agree(&api, &calendar, &mut mirror).await;

    let other = daily(&api, &calendar).await;
    api.delete(format!("{}?scope=following", occurrence(&other, MONDAY))).await.expect(204);
    assert_eq!(taking_place(&api, &calendar).await, Vec::<String>::new());
    mirrors_agree(&api, &calendar, &mut mirror).await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_scope_that_does_not_fit_is_refused(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "UTC").await;
    let series = daily(&api, &calendar).await;
    let title = json!({ "title": "x" });
    for scope in ["following", "all"] {
        let path = format!("/v1/events/{series}");
        patch(&api, &path, scope, title.clone())
            .await
            .refused(400, "validation_error")
            .param("scope")
            .mentions("instance");
        api.delete(format!("{path}?scope={scope}")).await.refused(400, "validation_error").param("scope");
        let cancelled = format!("{path}?scope={scope}&occurrence_start=2027-03-02T09:00:00Z");
        api.delete(cancelled).await.refused(400, "validation_error").param("scope");
    }
    let third = occurrence(&series, "2027-03-03T09:00:00Z");
    patch(&api, &third, "later", title.clone()).await.refused(400, "validation_error").param("scope");
    patch(&api, &third, "all", json!({ "all_day": true })).await.refused(400, "validation_error").param("all_day");
    for cancelled in ["2027-03-04T09:00:00Z", "2027-03-04T10:00:00Z"] {
        patch(&api, &occurrence(&series, cancelled), "all", title.clone()).await.refused(404, "not_found");
    }
    // The first Monday of a month is not always a day before its first Tuesday.
    let mut monthly = event_body("Board", MONDAY, &shifted(MONDAY, 60));
    monthly["recurrence_rule"] = json!("FREQ=MONTHLY;BYDAY=1MO");
    let monthly = api.post(events(&calendar)).json(monthly).await.expect(201).id();
    let april = occurrence(&monthly, "2027-04-05T09:00:00Z");
    let mut tuesday = json!({ "start_time": "2027-04-06T09:00:00Z" });
    patch(&api, &april, "all", tuesday.clone())
        .await
        .refused(400, "validation_error")
        .param("start_time")
        .mentions("recurrence_rule");
    tuesday["recurrence_rule"] = json!("FREQ=MONTHLY;BYDAY=1TU");
    let moved = patch(&api, &april, "following", tuesday).await.expect(200);
    assert_eq!(
        (&moved["startTime"], &moved["recurrenceRule"]),
        (&json!("2027-04-06T09:00:00Z"), &json!("FREQ=MONTHLY;BYDAY=1TU"))
    );
}

#[apply(on_both)]
#[tokio::test]
async fn a_move_of_many_occurrences_needs_free_time(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (agent, calendar) = agent_with_calendar(&api).await;
    let series = daily(&api, &calendar).await;
    // It meets the changed occurrence of the 6th, if that moves by an hour.
    event(&api, &calendar, "2027-03-06T13:00:00Z", "2027-03-06T13:30:00Z").await;
    let third = occurrence(&series, "2027-03-03T09:00:00Z");
    let before = taking_place(&api, &calendar).await;
    for scope in ["all", "following"] {
        let body = json!({ "start_time": "2027-03-03T10:00:00Z", "if_free": true });
        let refused = patch(&api, &third, scope, body).await.refused(409, "conflict").code("slot_taken");
        assert_eq!(refused.at("/error/occurrences"), json!(["2027-03-06T13:00:00Z"]), "{scope}");
    }
    assert_eq!(taking_place(&api, &calendar).await, before);
    // Neither its own old times nor the event itself are in the way.
    let by_a_quarter = json!({ "start_time": "2027-03-03T09:15:00Z", "if_free": true });
    patch(&api, &third, "all", by_a_quarter.clone()).await.expect(200);
    let third = occurrence(&series, "2027-03-03T09:15:00Z");
    // The half that ends stays where it is.
    let onto_it = json!({ "start_time": "2027-03-02T09:30:00Z", "if_free": true });
    let refused = patch(&api, &third, "following", onto_it).await.refused(409, "conflict").code("slot_taken");
    assert_eq!(refused.at("/error/occurrences"), json!(["2027-03-02T09:30:00Z"]));

    // A calendar that refuses conflicts demands as much.
    api.patch(format!("/v1/calendars/{calendar}")).json(json!({ "conflicts": "refuse" })).await.expect(200);
    let body = json!({ "start_time": "2027-03-03T10:00:00Z" });
    patch(&api, &third, "following", body).await.refused(409, "conflict").code("slot_taken");
    patch(&api, &third, "following", json!({ "title": "Sync" })).await.expect(200);
    assert!(!agent.is_empty());
}

#[apply(on_both)]
#[tokio::test]
async fn a_plan_counts_both_halves(#[case] database: Database) {
    let (server, _) = Server::with_org(database, "pro").await;
    let api = server.api(&server.org("free").await);
    let calendar = shared_calendar(&api, "UTC").await;
    let series = daily(&api, &calendar).await;
    let path = occurrence(&series, "2027-03-03T09:00:00Z");
    let mut more = event_body("x", MONDAY, &shifted(MONDAY, 30));
    more["recurrence_rule"] = json!("FREQ=DAILY;COUNT=2");
    for _ in 0..4 {
        api.post(events(&calendar)).json(more.clone()).await.expect(201);
    }
    let title = json!({ "title": "x" });
    patch(&api, &path, "following", title.clone()).await.refused(429, "quota_exceeded").mentions("recurring_events");
    patch(&api, &path, "all", title.clone()).await.expect(200);
    let once = json!({ "title": "x", "recurrence_rule": null });
    patch(&api, &path, "following", once).await.expect(200);
}

#[apply(on_both)]
#[tokio::test]
async fn a_series_is_split_once_by_many(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let series = daily(&api, &calendar).await;
    let mut mirror = Copy::default();
    mirror.catch_up(&api, &calendar, "200").await;
    let mut nodes = vec![api.clone()];
    let other;
    if database == Database::Postgres {
        other = server.another_node().await;
        nodes.push(api.moved_to(other.base_url()));
    }
    let path = occurrence(&series, "2027-03-05T09:00:00Z");
    let split = |number: usize| {
        let (api, path) = (&nodes[number % nodes.len()], &path);
        async move { patch(api, path, "following", json!({ "title": format!("Split {number}") })).await.status }
    };
    let statuses = join_all((0..12).map(split)).await;
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [200, 404].contains(status)), "{statuses:?}");
    assert_eq!(taking_place(&api, &calendar).await.len(), 9);
    mirrors_agree(&api, &calendar, &mut mirror).await;
}
