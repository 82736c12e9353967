//! PATCH and DELETE of an instance with `scope`: one occurrence, the later ones, or all of them. Written without knowledge
//! of the code.

use crate::on_both;
use kalends_e2e::{Answer, Client, Database, Server, shifted};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::fixtures::{agent, agent_with_calendar, event, event_body, shared_calendar};

/// A new series of half-hour events.
async fn series(api: &Client, calendar: &str, start: &str, more: Value) -> String {
    let mut body = event_body("Standup", start, &shifted(start, 30));
    let Value::Object(more) = more else { panic!("not an object: {more}") };
    body.as_object_mut().unwrap().extend(more);
    api.post(format!("/v1/calendars/{calendar}/events")).json(body).await.expect(201).id()
}

/// The path of the occurrence of `series` that the rule starts at this time.
fn instance(series: &str, start: &str) -> String {
    format!("/v1/events/{series}_{}", start.replace(['-', ':'], ""))
}

/// The calendar's instances between two dates.
async fn expanded(api: &Client, calendar: &str, from: &str, to: &str) -> Answer {
    let (from, to) = (format!("{from}T00:00:00Z"), format!("{to}T00:00:00Z"));
    let window = [("expand", "true"), ("start_after", &*from), ("start_before", &*to)];
    api.get(format!("/v1/calendars/{calendar}/events")).query(&window).await.expect(200)
}

/// The starts of the calendar's instances between two dates.
async fn starts(api: &Client, calendar: &str, from: &str, to: &str) -> Vec<String> {
    expanded(api, calendar, from, to).await.column("startTime")
}

/// The start, the length in minutes and the title of each instance between two dates.
async fn entries(api: &Client, calendar: &str, from: &str, to: &str) -> Vec<String> {
    let entry = |entry: &Value| {
        let text = |field: &str| entry[field].as_str().unwrap().to_owned();
        let length = kalends_e2e::at(&text("endTime")) - kalends_e2e::at(&text("startTime"));
        format!("{} {} {}", text("startTime"), length.num_minutes(), text("title"))
    };
    expanded(api, calendar, from, to).await.data().iter().map(entry).collect()
}

/// The busy times of the calendar between two dates.
async fn busy(api: &Client, calendar: &str, from: &str, to: &str) -> Vec<Value> {
    let range = format!("start={from}T00:00:00Z&end={to}T00:00:00Z&slot_duration=30m&include_busy=true");
    let answer = api.get(format!("/v1/calendars/{calendar}/availability?{range}")).await.expect(200);
    answer["busy"].as_array().unwrap_or_else(|| panic!("no busy times: {}", answer.describe())).clone()
}

#[apply(on_both)]
#[tokio::test]
async fn all_moves_the_wall_clock_of_every_occurrence_in_winter_and_in_summer(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "Europe/Berlin").await;
    // Mondays at nine in Berlin, where the clocks change on 29 March and on 25 October.
    let rule = json!({
        "recurrence_rule": "FREQ=WEEKLY;BYDAY=MO", "recurrence_timezone": "Europe/Berlin",
        "recurrence_exdates": ["2026-03-23T08:00:00Z", "2026-04-20T07:00:00Z"],
    });
    let id = series(&api, &calendar, "2026-03-16T08:00:00Z", rule).await;
    let renamed = json!({ "title": "Retro" });
    api.patch(instance(&id, "2026-04-06T07:00:00Z")).json(renamed).await.expect(200);
    let moved = json!({ "start_time": "2026-04-13T12:00:00Z", "end_time": "2026-04-13T13:30:00Z" });
    api.patch(instance(&id, "2026-04-13T07:00:00Z")).json(moved).await.expect(200);

    // From nine to ten in summer time.
    let later = api.patch(format!("{}?scope=all", instance(&id, "2026-03-30T07:00:00Z")));
    later.json(json!({ "start_time": "2026-03-30T08:00:00Z" })).await.expect(200);

    let spring = [
        "2026-03-16T09:00:00Z 30 Standup",
        "2026-03-30T08:00:00Z 30 Standup",
        "2026-04-06T08:00:00Z 30 Retro",
        "2026-04-13T13:00:00Z 90 Standup",
        "2026-04-27T08:00:00Z 30 Standup",
    ];
    assert_eq!(entries(&api, &calendar, "2026-03-01", "2026-05-01").await, spring);
    let autumn = ["2026-10-19T08:00:00Z", "2026-10-26T09:00:00Z"];
    assert_eq!(starts(&api, &calendar, "2026-10-18", "2026-10-31").await, autumn);

    // The series is the same one. Its exdates have moved with it, each by the wall clock of its own day.
    let master = api.get(format!("/v1/events/{id}")).await.expect(200);
    let exdates = json!(["2026-03-23T09:00:00Z", "2026-04-20T08:00:00Z"]);
    assert_eq!((&master["startTime"], &master["recurrenceExdates"]), (&json!("2026-03-16T09:00:00Z"), &exdates));
    assert_eq!(master["recurrenceTimezone"], "Europe/Berlin");
    // Overrides are named by the start that the rule gives now.
    let kept = api.get(instance(&id, "2026-04-13T08:00:00Z")).await.expect(200);
    assert_eq!(kept["originalStartTime"], "2026-04-13T08:00:00Z");
    assert_eq!(
        (&kept["startTime"], &kept["endTime"]),
        (&json!("2026-04-13T13:00:00Z"), &json!("2026-04-13T14:30:00Z"))
    );
    api.get(instance(&id, "2026-04-13T07:00:00Z")).await.refused(404, "not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn all_moves_a_rule_with_weekdays_to_other_weekdays(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (from, to) = ("2026-05-01", "2026-06-15");

    // Mondays and Wednesdays become Tuesdays and Thursdays, with the exdate and the override.
    let calendar = shared_calendar(&api, "UTC").await;
    let rule = json!({
        "recurrence_rule": "FREQ=WEEKLY;BYDAY=MO,WE;COUNT=6", "recurrence_exdates": ["2026-05-13T09:00:00Z"]
    });
    let id = series(&api, &calendar, "2026-05-04T09:00:00Z", rule).await;
    api.patch(instance(&id, "2026-05-11T09:00:00Z")).json(json!({ "title": "Retro" })).await.expect(200);
    let next_day = json!({ "start_time": "2026-05-07T10:00:00Z" });
    api.patch(format!("{}?scope=all", instance(&id, "2026-05-06T09:00:00Z"))).json(next_day).await.expect(200);
    let expected = [
        "2026-05-05T10:00:00Z 30 Standup",
        "2026-05-07T10:00:00Z 30 Standup",
        "2026-05-12T10:00:00Z 30 Retro",
        "2026-05-19T10:00:00Z 30 Standup",
        "2026-05-21T10:00:00Z 30 Standup",
    ];
    assert_eq!(entries(&api, &calendar, from, to).await, expected);

    // The week ends between two days: Fridays and Sundays become Saturdays and Mondays.
    let calendar = shared_calendar(&api, "UTC").await;
    let rule = json!({ "recurrence_rule": "FREQ=WEEKLY;BYDAY=FR,SU;COUNT=4" });
    let id = series(&api, &calendar, "2026-05-08T09:00:00Z", rule).await;
    let next_day = json!({ "start_time": "2026-05-16T09:00:00Z" });
    api.patch(format!("{}?scope=all", instance(&id, "2026-05-15T09:00:00Z"))).json(next_day).await.expect(200);
    let expected = ["2026-05-09T09:00:00Z", "2026-05-11T09:00:00Z", "2026-05-16T09:00:00Z", "2026-05-18T09:00:00Z"];
    assert_eq!(starts(&api, &calendar, from, to).await, expected);

    // The weekday is that of the zone: half past midnight on Tuesdays becomes half past eleven on Mondays, all on
    // the same day in UTC.
    let calendar = shared_calendar(&api, "Europe/Berlin").await;
    let rule = json!({ "recurrence_rule": "FREQ=WEEKLY;BYDAY=TU;COUNT=3", "recurrence_timezone": "Europe/Berlin" });
    let id = series(&api, &calendar, "2026-05-04T22:30:00Z", rule).await;
    let earlier = json!({ "start_time": "2026-05-11T21:30:00Z" });
    api.patch(format!("{}?scope=all", instance(&id, "2026-05-11T22:30:00Z"))).json(earlier).await.expect(200);
    let expected = ["2026-05-04T21:30:00Z", "2026-05-11T21:30:00Z", "2026-05-18T21:30:00Z"];
    assert_eq!(starts(&api, &calendar, from, to).await, expected);

    // No occurrence is lost or added at the end of a rule with UNTIL.
    let calendar = shared_calendar(&api, "UTC").await;
    let rule = json!({ "recurrence_rule": "FREQ=WEEKLY;BYDAY=MO;UNTIL=20260518T090000Z" });
    let id = series(&api, &calendar, "2026-05-04T09:00:00Z", rule).await;
    let later = json!({ "start_time": "2026-05-12T11:00:00Z" });
    api.patch(format!("{}?scope=all", instance(&id, "2026-05-11T09:00:00Z"))).json(later).await.expect(200);
    let expected = ["2026-05-05T11:00:00Z", "2026-05-12T11:00:00Z", "2026-05-19T11:00:00Z"];
    assert_eq!(starts(&api, &calendar, from, to).await, expected);
}

#[apply(on_both)]
#[tokio::test]
async fn following_renames_the_later_occurrences_and_keeps_their_exceptions(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "UTC").await;
    let exdates = json!(["2026-05-06T09:00:00Z", "2026-05-10T09:00:00Z"]);
    let rule = json!({ "recurrence_rule": "FREQ=DAILY;COUNT=8", "recurrence_exdates": exdates });
    let old = series(&api, &calendar, "2026-05-04T09:00:00Z", rule).await;
    api.patch(instance(&old, "2026-05-05T09:00:00Z")).json(json!({ "title": "Early" })).await.expect(200);
    let override_after = json!({ "title": "Late", "start_time": "2026-05-09T15:00:00Z" });
    api.patch(instance(&old, "2026-05-09T09:00:00Z")).json(override_after).await.expect(200);

    let split = api.patch(format!("{}?scope=following", instance(&old, "2026-05-07T09:00:00Z")));
    let made = split.json(json!({ "title": "Retro" })).await.expect(200);
    let new = made.id();
    assert_ne!(new, old);
    assert_eq!((&made["previousSeriesId"], &made["title"]), (&json!(old), &json!("Retro")));
    assert_eq!(made["startTime"], "2026-05-07T09:00:00Z");
    assert_eq!(made["recurrenceExdates"], json!(["2026-05-10T09:00:00Z"]));

    let listed = expanded(&api, &calendar, "2026-05-01", "2026-06-01").await;
    let expected = [
        "2026-05-04T09:00:00Z 30 Standup",
        "2026-05-05T09:00:00Z 30 Early",
        "2026-05-07T09:00:00Z 30 Retro",
        "2026-05-08T09:00:00Z 30 Retro",
        "2026-05-09T15:00:00Z 30 Late",
        "2026-05-11T09:00:00Z 30 Retro",
    ];
    assert_eq!(entries(&api, &calendar, "2026-05-01", "2026-06-01").await, expected);
    let (before, after) = (old.as_str(), new.as_str());
    assert_eq!(listed.column("recurringEventId"), [before, before, after, after, after, after]);
    // The override belongs to the new series, under the start that its rule gives.
    let kept = api.get(instance(&new, "2026-05-09T09:00:00Z")).await.expect(200);
    assert_eq!((&kept["title"], &kept["originalStartTime"]), (&json!("Late"), &json!("2026-05-09T09:00:00Z")));
    // The old series has none of the later occurrences, and is otherwise as it was.
    for start in ["2026-05-07T09:00:00Z", "2026-05-08T09:00:00Z", "2026-05-09T09:00:00Z", "2026-05-10T09:00:00Z"] {
        api.get(instance(&old, start)).await.refused(404, "not_found");
    }
    let master = api.get(format!("/v1/events/{old}")).await.expect(200);
    assert_eq!((&master["title"], &master["startTime"]), (&json!("Standup"), &json!("2026-05-04T09:00:00Z")));
    assert!(master["recurrenceExdates"].as_array().unwrap().contains(&json!("2026-05-06T09:00:00Z")));
    // A later change of one series does not reach the other.
    api.patch(format!("/v1/events/{old}")).json(json!({ "title": "Daily" })).await.expect(200);
    let titles = expanded(&api, &calendar, "2026-05-01", "2026-06-01").await.column("title");
    assert_eq!(titles, ["Daily", "Early", "Retro", "Retro", "Late", "Retro"]);
}

#[apply(on_both)]
#[tokio::test]
async fn following_gives_the_later_occurrences_a_new_time_or_a_new_rule(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    // A new time. The end moves with the start.
    let calendar = shared_calendar(&api, "UTC").await;
    let rule = json!({ "recurrence_rule": "FREQ=DAILY;COUNT=6", "recurrence_exdates": ["2026-05-08T09:00:00Z"] });
    let old = series(&api, &calendar, "2026-05-04T09:00:00Z", rule).await;
    let split = api.patch(format!("{}?scope=following", instance(&old, "2026-05-06T09:00:00Z")));
    let made = split.json(json!({ "start_time": "2026-05-06T11:00:00Z" })).await.expect(200);
    assert_eq!(made["previousSeriesId"], json!(old));
    let times = (&made["startTime"], &made["endTime"]);
    assert_eq!(times, (&json!("2026-05-06T11:00:00Z"), &json!("2026-05-06T11:30:00Z")));
    // The 8th stays cancelled, and nothing stays at nine.
    let expected = [
        "2026-05-04T09:00:00Z 30 Standup",
        "2026-05-05T09:00:00Z 30 Standup",
        "2026-05-06T11:00:00Z 30 Standup",
        "2026-05-07T11:00:00Z 30 Standup",
        "2026-05-09T11:00:00Z 30 Standup",
    ];
    assert_eq!(entries(&api, &calendar, "2026-05-01", "2026-06-01").await, expected);

    // A new rule.
    let calendar = shared_calendar(&api, "UTC").await;
    let rule = json!({ "recurrence_rule": "FREQ=WEEKLY;BYDAY=MO", "recurrence_exdates": ["2026-05-25T09:00:00Z"] });
    let old = series(&api, &calendar, "2026-05-04T09:00:00Z", rule).await;
    let split = api.patch(format!("{}?scope=following", instance(&old, "2026-05-18T09:00:00Z")));
    let rule = "FREQ=WEEKLY;BYDAY=MO,TH;COUNT=4";
    let made = split.json(json!({ "recurrence_rule": rule })).await.expect(200);
    assert_eq!((&made["recurrenceRule"], &made["previousSeriesId"]), (&json!(rule), &json!(old)));
    // Two of the old series; and four of the new one, of which the third is still cancelled.
    let expected = [
        "2026-05-04T09:00:00Z",
        "2026-05-11T09:00:00Z",
        "2026-05-18T09:00:00Z",
        "2026-05-21T09:00:00Z",
        "2026-05-28T09:00:00Z",
    ];
    assert_eq!(starts(&api, &calendar, "2026-05-01", "2026-09-01").await, expected);
    // The old series has an end now.
    let master = api.get(format!("/v1/events/{old}")).await.expect(200);
    let ended = master["recurrenceRule"].as_str().unwrap();
    assert!(ended.starts_with("FREQ=WEEKLY;BYDAY=MO;") && !ended.contains("TH"), "{ended}");
}

#[apply(on_both)]
#[tokio::test]
async fn following_splits_an_all_day_series_between_days_of_its_zone(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "Europe/Berlin").await;
    // 24 to 29 October without the 28th. The 25th has 25 hours.
    let days = json!({
        "title": "On call", "start_time": "2026-10-24", "end_time": "2026-10-25", "all_day": true,
        "recurrence_rule": "FREQ=DAILY;COUNT=6", "recurrence_exdates": ["2026-10-28"]
    });
    let old = api.post(format!("/v1/calendars/{calendar}/events")).json(days).await.expect(201).id();
    let split = api.patch(format!("{}?scope=following", instance(&old, "2026-10-25T23:00:00Z")));
    let made = split.json(json!({ "title": "Relief" })).await.expect(200);
    assert_eq!((&made["previousSeriesId"], &made["allDay"]), (&json!(old), &json!(true)));
    assert_eq!(made["recurrenceTimezone"], "Europe/Berlin");
    let expected = [
        "2026-10-23T22:00:00Z 1440 On call",
        "2026-10-24T22:00:00Z 1500 On call",
        "2026-10-25T23:00:00Z 1440 Relief",
        "2026-10-26T23:00:00Z 1440 Relief",
        "2026-10-28T23:00:00Z 1440 Relief",
    ];
    assert_eq!(entries(&api, &calendar, "2026-10-20", "2026-11-05").await, expected);

    // Moved by its date alone, the last one keeps its length of a day.
    let split = api.patch(format!("{}?scope=following", instance(&made.id(), "2026-10-28T23:00:00Z")));
    let last = split.json(json!({ "start_time": "2026-10-31" })).await.expect(200);
    assert_eq!(last["previousSeriesId"], json!(made.id()));
    let moved = [&expected[..4], &["2026-10-30T23:00:00Z 1440 Relief"]].concat();
    assert_eq!(entries(&api, &calendar, "2026-10-20", "2026-11-05").await, moved);
}

#[apply(on_both)]
#[tokio::test]
async fn a_split_leaves_the_busy_times_and_deletes_by_scope_remove_them(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "Europe/Berlin").await;
    let (from, to) = ("2026-03-26", "2026-04-03");
    // Nine o'clock in Berlin from 27 March to 1 April without the 31st, and the last one in the afternoon.
    let rule = json!({
        "recurrence_rule": "FREQ=DAILY;COUNT=6", "recurrence_timezone": "Europe/Berlin",
        "recurrence_exdates": ["2026-03-31T07:00:00Z"],
    });
    let old = series(&api, &calendar, "2026-03-27T08:00:00Z", rule).await;
    let afternoon = json!({ "start_time": "2026-04-01T12:00:00Z" });
    api.patch(instance(&old, "2026-04-01T07:00:00Z")).json(afternoon).await.expect(200);
    let time = |start: &str| json!({ "start": start, "end": shifted(start, 30) });
    let all = [
        time("2026-03-27T08:00:00Z"),
        time("2026-03-28T08:00:00Z"),
        time("2026-03-29T07:00:00Z"),
        time("2026-03-30T07:00:00Z"),
        time("2026-04-01T12:00:00Z"),
    ];
    assert_eq!(busy(&api, &calendar, from, to).await, all);

    let split = api.patch(format!("{}?scope=following", instance(&old, "2026-03-29T07:00:00Z")));
    let new = split.json(json!({ "title": "Retro" })).await.expect(200).id();
    assert_eq!(busy(&api, &calendar, from, to).await, all);
    let titles = expanded(&api, &calendar, from, to).await.column("title");
    assert_eq!(titles[..4], ["Standup", "Standup", "Retro", "Retro"]);

    // The later ones, with the override that was later.
    api.delete(format!("{}?scope=following", instance(&new, "2026-03-30T07:00:00Z"))).await.expect(204);
    assert_eq!(busy(&api, &calendar, from, to).await, all[..3]);
    assert_eq!(expanded(&api, &calendar, from, to).await["total"], 3);
    for start in ["2026-03-30T07:00:00Z", "2026-04-01T07:00:00Z"] {
        api.get(instance(&new, start)).await.refused(404, "not_found");
    }
    api.get(format!("/v1/events/{new}")).await.expect(200);

    // All of the first series, from an instance that is not its first. The second series stays.
    api.delete(format!("{}?scope=all", instance(&old, "2026-03-28T08:00:00Z"))).await.expect(204);
    api.get(format!("/v1/events/{old}")).await.refused(404, "not_found").code("event_not_found");
    assert_eq!(busy(&api, &calendar, from, to).await, all[2..3]);

    // The first instance and all that follow it.
    api.delete(format!("{}?scope=following", instance(&new, "2026-03-29T07:00:00Z"))).await.expect(204);
    assert_eq!(busy(&api, &calendar, from, to).await, Vec::<Value>::new());
    assert_eq!(expanded(&api, &calendar, from, to).await["total"], 0);
}

#[apply(on_both)]
#[tokio::test]
async fn a_scope_opens_nothing_to_the_key_of_another_agent(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (own, calendar) = agent_with_calendar(&api).await;
    let other = agent(&api).await;
    let key = async |agent: &str| {
        let made = api.post("/v1/keys").json(json!({ "agent_id": agent })).await.expect(201);
        server.client(made["key"].as_str().unwrap())
    };
    let (owner, stranger) = (key(&own).await, key(&other).await);
    let id = series(&api, &calendar, "2026-05-04T09:00:00Z", json!({ "recurrence_rule": "FREQ=DAILY;COUNT=4" })).await;
    let of_calendar = instance(&id, "2026-05-05T09:00:00Z").replace("/v1/", &format!("/v1/calendars/{calendar}/"));
    let before = expanded(&api, &calendar, "2026-05-01", "2026-06-01").await.json;

    let refusal = |answer: Answer| (answer.status, answer.at("/error/type"), answer.at("/error/code"));
    let change = || json!({ "title": "Mine" });
    for path in [instance(&id, "2026-05-05T09:00:00Z"), of_calendar.clone()] {
        let patch = refusal(stranger.patch(&path).json(change()).await);
        let delete = refusal(stranger.delete(&path).await);
        assert!(matches!(patch.0, 403 | 404) && matches!(delete.0, 403 | 404), "{patch:?} {delete:?}");
        for scope in ["this", "following", "all"] {
            let scoped = format!("{path}?scope={scope}");
            assert_eq!(refusal(stranger.patch(&scoped).json(change()).await), patch, "{scoped}");
            assert_eq!(refusal(stranger.delete(&scoped).await), delete, "{scoped}");
        }
    }
    assert_eq!(expanded(&api, &calendar, "2026-05-01", "2026-06-01").await.json, before);

    // The agent's own key may do it, on either route.
    let split = owner.patch(format!("{of_calendar}?scope=following")).json(change()).await.expect(200);
    assert_eq!(split["previousSeriesId"], json!(id));
    let titles = expanded(&api, &calendar, "2026-05-01", "2026-06-01").await.column("title");
    assert_eq!(titles, ["Standup", "Mine", "Mine", "Mine"]);
    owner.delete(format!("{}?scope=all", instance(&split.id(), "2026-05-06T09:00:00Z"))).await.expect(204);
    assert_eq!(starts(&api, &calendar, "2026-05-01", "2026-06-01").await, ["2026-05-04T09:00:00Z"]);
}

#[apply(on_both)]
#[tokio::test]
async fn without_a_scope_only_this_occurrence_changes_and_only_instances_have_scopes(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "UTC").await;
    let rule = json!({ "recurrence_rule": "FREQ=DAILY;COUNT=6" });
    let id = series(&api, &calendar, "2026-05-04T09:00:00Z", rule).await;
    let once = event(&api, &calendar, "2026-06-01T09:00:00Z", "2026-06-01T10:00:00Z").await;

    // On something that is no instance, the other scopes are refused, and nothing changes.
    let before = expanded(&api, &calendar, "2026-05-01", "2026-07-01").await.json;
    let paths =
        [format!("/v1/events/{id}"), format!("/v1/events/{once}"), format!("/v1/calendars/{calendar}/events/{id}")];
    for path in paths {
        for scope in ["following", "all"] {
            let path = format!("{path}?scope={scope}");
            let patch = api.patch(&path).json(json!({ "title": "x" })).await;
            patch.refused(400, "validation_error").param("scope");
            api.delete(&path).await.refused(400, "validation_error").param("scope");
        }
    }
    // Unknown scopes are refused for instances, too.
    let unknown = format!("{}?scope=others", instance(&id, "2026-05-05T09:00:00Z"));
    api.patch(&unknown).json(json!({ "title": "x" })).await.refused(400, "validation_error").param("scope");
    api.delete(&unknown).await.refused(400, "validation_error").param("scope");
    assert_eq!(expanded(&api, &calendar, "2026-05-01", "2026-07-01").await.json, before);

    // Without a scope and with `this`, one occurrence changes. Its end moves with its start.
    for (start, query, to) in [
        ("2026-05-05T09:00:00Z", "", "2026-05-05T11:00:00Z"),
        ("2026-05-06T09:00:00Z", "?scope=this", "2026-05-06T12:00:00Z"),
    ] {
        let path = format!("{}{query}", instance(&id, start));
        let changed = api.patch(path).json(json!({ "start_time": to })).await.expect(200);
        assert_eq!(changed["recurringEventId"], json!(id));
        assert_eq!((&changed["startTime"], &changed["endTime"]), (&json!(to), &json!(shifted(to, 30))));
        assert_eq!((&changed["originalStartTime"], changed.json.get("previousSeriesId")), (&json!(start), None));
    }
    for (start, query) in [("2026-05-07T09:00:00Z", ""), ("2026-05-08T09:00:00Z", "?scope=this")] {
        api.delete(format!("{}{query}", instance(&id, start))).await.expect(204);
    }
    let expected = [
        "2026-05-04T09:00:00Z 30 Standup",
        "2026-05-05T11:00:00Z 30 Standup",
        "2026-05-06T12:00:00Z 30 Standup",
        "2026-05-09T09:00:00Z 30 Standup",
    ];
    assert_eq!(entries(&api, &calendar, "2026-05-01", "2026-06-01").await, expected);
    let master = api.get(format!("/v1/events/{id}")).await.expect(200);
    assert_eq!(master["recurrenceExdates"], json!(["2026-05-07T09:00:00Z", "2026-05-08T09:00:00Z"]));
    assert_eq!(master["startTime"], "2026-05-04T09:00:00Z");
    // `this` says nothing more than the default, so it is accepted for a whole series.
    let renamed = api.patch(format!("/v1/events/{id}?scope=this")).json(json!({ "title": "Daily" })).await.expect(200);
    assert_eq!((renamed.id(), &renamed["title"]), (id, &json!("Daily")));
}
