//! Events whose time must be free: `if_free` in a request, and calendars with `conflicts: "refuse"`.

use crate::on_both;
use std::collections::{BTreeMap, BTreeSet};

use kalends_e2e::{Answer, Client, Database, Server, Serving};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    fixtures::{agent_with_calendar, calendar_of, event, event_body},
    hold_races::{all, outcomes, quarter_of_an_hour, unlimited},
    holds::{hold_body, in_seconds},
    proposals::{Team, accept, respond, slot, slot_id},
    subscriber::{Subscriber, meeting, vcalendar},
};

/// An instant on a Monday.
fn at(clock: &str) -> String {
    format!("2027-03-01T{clock}:00Z")
}

fn events(calendar: &str) -> String {
    format!("/v1/calendars/{calendar}/events")
}

/// A request for an event.
fn wanted(start: &str, end: &str, more: &Value) -> Value {
    let mut body = event_body("Standup", start, end);
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

async fn create(api: &Client, calendar: &str, start: &str, end: &str, more: Value) -> Answer {
    api.post(events(calendar)).json(wanted(&at(start), &at(end), &more)).await
}

/// A calendar of `agent` that refuses conflicts.
async fn refusing(api: &Client, agent: &str) -> String {
    let body = json!({ "name": "Room", "timezone": "UTC", "conflicts": "refuse" });
    api.post(format!("/v1/agents/{agent}/calendars")).json(body).await.expect(201).id()
}

/// Requires a refusal that names exactly these conflicts, as kind, start and end.
#[track_caller]
fn names(refused: &Answer, expected: &[(&str, &str, &str)]) {
    let conflicts = refused.at("/error/conflicts");
    let text = |conflict: &Value, name: &str| conflict[name].as_str().unwrap().to_owned();
    let got: Vec<_> = conflicts.as_array().unwrap().iter().collect();
    let got: Vec<_> = got.iter().map(|one| (text(one, "kind"), text(one, "start"), text(one, "end"))).collect();
    let expected: Vec<_> = expected
        .iter()
        .map(|(kind, start, end)| ((*kind).to_owned(), (*start).to_owned(), (*end).to_owned()))
        .collect();
    assert_eq!(got, expected, "{}", refused.describe());
}

#[apply(on_both)]
#[tokio::test]
async fn an_event_is_created_only_if_nothing_blocks_its_time(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    let free = || json!({ "if_free": true });
    create(&api, &calendar, "09:00", "10:00", free()).await.expect(201);
    let refused = create(&api, &calendar, "09:30", "10:30", free()).await.refused(409, "conflict").code("slot_taken");
    names(&refused, &[("event", &at("09:00"), &at("10:00"))]);
    assert_eq!(refused.at("/error/conflicts/0/calendar_id"), calendar);
    let nearest = refused.at("/error/nearest_free");
    assert_eq!((&nearest[0]["start"], nearest.as_array().unwrap().len()), (&json!(at("10:30")), 3));
    assert_eq!(refused.at("/error/occurrences"), Value::Null);
    // Touching is free, and without `if_free` events overlap.
    create(&api, &calendar, "10:00", "10:30", free()).await.expect(201);
    create(&api, &calendar, "09:30", "10:15", json!({})).await.expect(201);
    create(&api, &calendar, "09:30", "10:15", json!({ "if_free": false })).await.expect(201);
    // Only what blocks its time is in the way, and only on its own calendar.
    create(&api, &calendar, "13:00", "14:00", json!({ "status": "cancelled" })).await.expect(201);
    create(&api, &calendar, "13:00", "14:00", json!({ "status": "tentative", "if_free": true })).await.expect(201);
    create(&api, &calendar, "13:00", "14:00", json!({ "status": "cancelled", "if_free": true })).await.expect(201);
    create(&api, &calendar, "13:30", "14:30", free()).await.refused(409, "conflict").code("slot_taken");
    create(&api, &calendar_of(&api, &owner).await, "09:00", "18:00", free()).await.expect(201);
    // A live hold blocks, whatever its priority.
    let until = in_seconds(&api, 600).await;
    let hold = api.post(events(&calendar)).json(hold_body(&at("16:00"), &at("17:00"), &until, 0)).await.expect(201);
    let refused = create(&api, &calendar, "16:00", "17:00", free()).await.refused(409, "conflict").code("slot_taken");
    names(&refused, &[("hold", &at("16:00"), &at("17:00"))]);
    api.put(format!("/v1/events/{}/release", hold.id())).await.expect(200);
    create(&api, &calendar, "16:00", "17:00", free()).await.expect(201);
    create(&api, &calendar, "16:00", "17:00", json!({ "if_free": "yes" }))
        .await
        .refused(400, "validation_error")
        .param("if_free");
}

#[apply(on_both)]
#[tokio::test]
async fn a_series_is_compared_with_a_year_of_events(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    event(&api, &calendar, "2027-03-03T09:30:00Z", "2027-03-03T09:45:00Z").await;
    event(&api, &calendar, "2027-03-05T08:00:00Z", "2027-03-07T18:00:00Z").await;
    let daily = |more: &Value| {
        let mut body = wanted(&at("09:00"), &at("10:00"), more);
        body["recurrence_rule"] = json!("FREQ=DAILY;COUNT=30");
        body
    };
    let refused = api.post(events(&calendar)).json(daily(&json!({ "if_free": true }))).await;
    let refused = refused.refused(409, "conflict").code("slot_taken");
    let days = ["03", "05", "06", "07"].map(|day| json!(format!("2027-03-{day}T09:00:00Z")));
    assert_eq!(refused.at("/error/occurrences"), json!(days));
    names(
        &refused,
        &[
            ("event", "2027-03-03T09:30:00Z", "2027-03-03T09:45:00Z"),
            ("event", "2027-03-05T08:00:00Z", "2027-03-07T18:00:00Z"),
        ],
    );
    // Without these days it fits. Then its occurrences block other events, and other series.
    let exdates = json!({ "if_free": true, "recurrence_exdates": days });
    let series = api.post(events(&calendar)).json(daily(&exdates)).await.expect(201).id();
    let refused = api
        .post(events(&calendar))
        .json(wanted("2027-03-10T09:59:00Z", "2027-03-10T11:00:00Z", &json!({ "if_free": true })))
        .await;
    names(
        &refused.refused(409, "conflict").code("slot_taken"),
        &[("event", "2027-03-10T09:00:00Z", "2027-03-10T10:00:00Z")],
    );
    let weekly = json!({ "if_free": true, "recurrence_rule": "FREQ=WEEKLY" });
    let refused = create(&api, &calendar, "08:30", "09:15", weekly).await.refused(409, "conflict").code("slot_taken");
    assert_eq!(refused.at("/error/occurrences").as_array().unwrap().len(), 5);

    // A longer series does not meet itself. Moving one occurrence meets the others.
    let path = format!("/v1/events/{series}");
    api.patch(&path).json(json!({ "end_time": at("10:30"), "if_free": true })).await.expect(200);
    let instance = format!("{path}_20270302T090000Z");
    let onto = json!({ "start_time": "2027-03-04T10:00:00Z", "end_time": "2027-03-04T11:00:00Z", "if_free": true });
    let refused = api.patch(&instance).json(onto).await.refused(409, "conflict").code("slot_taken");
    names(&refused, &[("event", "2027-03-04T09:00:00Z", "2027-03-04T10:30:00Z")]);
    let nearby = json!({ "start_time": "2027-03-02T10:00:00Z", "end_time": "2027-03-02T11:00:00Z", "if_free": true });
    api.patch(&instance).json(nearby).await.expect(200);
    // The changed occurrence is part of the series, and does not block it.
    api.patch(&path).json(json!({ "end_time": at("10:45"), "if_free": true })).await.expect(200);
    // A long event in place of the series meets what only another series takes.
    let once = json!({ "recurrence_rule": null, "end_time": "2027-03-25T10:45:00Z", "if_free": true });
    let weekly = json!({ "recurrence_rule": "FREQ=DAILY;COUNT=2" });
    let evening = wanted("2027-03-20T18:00:00Z", "2027-03-20T19:00:00Z", &weekly);
    let evening = api.post(events(&calendar)).json(evening).await.expect(201).id();
    let refused = api.patch(&path).json(once).await.refused(409, "conflict").code("slot_taken");
    let starts: Vec<Value> =
        refused.at("/error/conflicts").as_array().unwrap().iter().map(|one| one["start"].clone()).collect();
    assert!(starts.contains(&json!("2027-03-20T18:00:00Z")), "{}", refused.describe());
    api.delete(format!("/v1/events/{evening}")).await.expect(204);
    // With another start, the exceptions are no longer occurrences, so the series has one on their days again.
    let later = json!({ "start_time": at("09:30"), "end_time": at("10:30"), "if_free": true });
    let refused = api.patch(&path).json(later).await.refused(409, "conflict").code("slot_taken");
    let days = ["03", "05", "06", "07"].map(|day| json!(format!("2027-03-{day}T09:30:00Z")));
    assert_eq!(refused.at("/error/occurrences"), json!(days));
}

#[apply(on_both)]
#[tokio::test]
async fn a_batch_names_the_event_whose_time_is_taken(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let batch = async |bodies: Vec<Value>| {
        api.post(format!("{}/batch", events(&calendar))).json(json!({ "events": bodies })).await
    };
    let one = |start: &str, end: &str, if_free: bool| wanted(&at(start), &at(end), &json!({ "if_free": if_free }));
    // The second meets the first. Nothing is written.
    let refused = batch(vec![one("09:00", "10:00", true), one("09:30", "10:30", true)]).await;
    let refused = refused.refused(409, "conflict").code("slot_taken").param("events[1]");
    names(&refused, &[("event", &at("09:00"), &at("10:00"))]);
    assert_eq!(refused.at("/error/nearest_free/0/start"), at("10:30"), "the first event of the batch takes its time");
    assert_eq!(api.get(events(&calendar)).await.expect(200)["total"], 0);
    batch(vec![one("09:00", "10:00", true), one("09:30", "10:30", false)]).await.expect(201);
    let refused =
        batch(vec![one("12:00", "13:00", true), one("13:00", "14:00", false), one("10:00", "11:00", true)]).await;
    refused.refused(409, "conflict").param("events[2]");
    assert_eq!(api.get(events(&calendar)).await.expect(200)["total"], 2);
}

#[apply(on_both)]
#[tokio::test]
async fn a_calendar_refuses_conflicts(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, plain) = agent_with_calendar(&api).await;
    let calendar = refusing(&api, &owner).await;
    let path = format!("/v1/calendars/{calendar}");
    assert_eq!(api.get(&path).await.expect(200)["conflicts"], "refuse");
    assert_eq!(api.get(format!("/v1/calendars/{plain}")).await.expect(200).json.get("conflicts"), None);
    let unknown = api.patch(&path).json(json!({ "conflicts": "ask" })).await;
    unknown.refused(400, "validation_error").param("conflicts");

    let first = create(&api, &calendar, "09:00", "10:00", json!({})).await.expect(201).id();
    create(&api, &calendar, "09:30", "10:30", json!({})).await.refused(409, "conflict").code("slot_taken");
    create(&api, &calendar, "09:30", "10:30", json!({ "if_free": false })).await.refused(409, "conflict");
    let second = create(&api, &calendar, "11:00", "12:00", json!({})).await.expect(201).id();
    let cancelled = create(&api, &calendar, "09:30", "10:30", json!({ "status": "cancelled" })).await.expect(201).id();
    // A change must not block more than before.
    let change = async |id: &str, body: Value| api.patch(format!("/v1/events/{id}")).json(body).await;
    change(&second, json!({ "start_time": at("09:30") })).await.refused(409, "conflict").code("slot_taken");
    change(&second, json!({ "start_time": at("10:00") })).await.expect(200);
    change(&first, json!({ "end_time": at("10:01") })).await.refused(409, "conflict").code("slot_taken");
    change(&first, json!({ "end_time": at("09:45") })).await.expect(200);
    change(&cancelled, json!({ "status": "tentative" })).await.refused(409, "conflict").code("slot_taken");
    let weekly = json!({ "recurrence_rule": "FREQ=DAILY;COUNT=3" });
    change(&second, weekly).await.expect(200);
    change(&first, json!({ "start_time": "2027-03-02T10:30:00Z" })).await.refused(409, "conflict").code("slot_taken");

    // Events that overlapped when the calendar became strict can be renamed and shortened, but not extended.
    create(&api, &plain, "09:00", "10:00", json!({})).await.expect(201);
    let over = create(&api, &plain, "09:00", "10:00", json!({})).await.expect(201).id();
    api.patch(format!("/v1/calendars/{plain}")).json(json!({ "conflicts": "refuse" })).await.expect(200);
    change(&over, json!({ "title": "Retro", "end_time": at("09:50") })).await.expect(200);
    change(&over, json!({ "end_time": at("10:00") })).await.refused(409, "conflict");
    change(&over, json!({ "title": "Standup", "if_free": true })).await.refused(409, "conflict");
    api.patch(format!("/v1/calendars/{plain}")).json(json!({ "conflicts": "allow" })).await.expect(200);
    change(&over, json!({ "end_time": at("10:00") })).await.expect(200);
}

#[apply(on_both)]
#[tokio::test]
async fn a_proposal_skips_slots_that_a_calendar_refuses(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let team = Team::of(&api, 1).await;
    api.patch(format!("/v1/calendars/{}", team.calendar)).json(json!({ "conflicts": "refuse" })).await.expect(200);
    event(&api, &team.calendar, "2031-03-03T09:30:00Z", "2031-03-03T10:30:00Z").await;
    let made = team.propose(&api, &[slot("09:00", "10:00"), slot("11:00", "12:00")], json!({})).await;
    let id = made.id();
    let wanted = slot_id(&made, 0);
    let answered = respond(&api, &id, accept(&team.participants[0], &wanted)).await.expect(200);
    assert_eq!((&answered["status"], &answered["resolved_slot_id"]), (&json!("confirmed"), &json!(slot_id(&made, 1))));
}

#[apply(on_both)]
#[tokio::test]
async fn an_import_reports_the_events_that_a_calendar_refuses(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, _) = agent_with_calendar(&api).await;
    let calendar = refusing(&api, &owner).await;
    let taken = create(&api, &calendar, "09:00", "10:00", json!({})).await.expect(201).id();
    let once = |uid: &str, start: &str, end: &str| {
        format!(
            "BEGIN:VEVENT\r\nUID:{uid}\r\nDTSTART:20270301T{start}00Z\r\nDTEND:20270301T{end}00Z\r\nSUMMARY:{uid}\r\nEND:VEVENT\r\n"
        )
    };
    let series = "BEGIN:VEVENT\r\nUID:series\r\nDTSTART:20270225T093000Z\r\nDTEND:20270225T094500Z\r\nRRULE:FREQ=DAILY;COUNT=9\r\nSUMMARY:series\r\nEND:VEVENT\r\n\
        BEGIN:VEVENT\r\nUID:series\r\nRECURRENCE-ID:20270227T093000Z\r\nDTSTART:20270227T120000Z\r\nDTEND:20270227T130000Z\r\nSUMMARY:moved\r\nEND:VEVENT\r\n";
    let file =
        |events: &str| format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//x//EN\r\n{events}END:VCALENDAR\r\n");
    let import = async |text: &str| {
        let call = api.post(format!("/v1/calendars/{calendar}/import")).header("content-type", "text/calendar");
        call.body(file(text)).await.expect(200)
    };
    let text = [
        once("meets", "0930", "1030"),
        once("fits", "1030", "1100"),
        once("second", "1045", "1130"),
        series.to_owned(),
    ]
    .concat();
    let report = import(&text).await;
    let uids = |report: &Answer| {
        let refused = report["refused"].as_array().unwrap();
        refused.iter().map(|one| one["uid"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let mut refused = uids(&report);
    refused.sort();
    assert_eq!((&report["created"], &report["refused_count"]), (&json!(1), &json!(3)), "{}", report.describe());
    assert_eq!(refused, ["meets", "second", "series"]);
    assert_eq!(api.get(events(&calendar)).await.expect(200)["total"], 2);
    let of_meets = report["refused"].as_array().unwrap().iter().find(|one| one["uid"] == "meets").unwrap();
    assert_eq!(
        (&of_meets["start_time"], &of_meets["conflicts"][0]["start"]),
        (&json!(at("09:30")), &json!(at("09:00")))
    );
    // Once the time is free, the same file brings them in.
    api.delete(format!("/v1/events/{taken}")).await.expect(204);
    let report = import(&text).await;
    // "meets" and the series still meet each other.
    assert_eq!((&report["untouched"], &report["refused_count"]), (&json!(1), &json!(2)), "{}", report.describe());
    let report = import(&once("fits", "1130", "1200")).await;
    assert_eq!((&report["updated"], report.json.get("refused")), (&json!(1), None), "{}", report.describe());
}

/// A series and its changed occurrences are imported together, or not at all.
#[apply(on_both)]
#[tokio::test]
async fn an_import_does_not_split_a_series(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, _) = agent_with_calendar(&api).await;
    let calendar = refusing(&api, &owner).await;
    let rule = |time: &str, end: &str| {
        format!(
            "BEGIN:VEVENT\r\nUID:s\r\nDTSTART:20270301T{time}00Z\r\nDTEND:20270301T{end}00Z\r\n\
             RRULE:FREQ=DAILY;COUNT=5\r\nSUMMARY:rule\r\nEND:VEVENT\r\n"
        )
    };
    let changed = |of: &str, start: &str, end: &str, title: &str| {
        format!(
            "BEGIN:VEVENT\r\nUID:s\r\nRECURRENCE-ID:{of}00Z\r\nDTSTART:{start}00Z\r\nDTEND:{end}00Z\r\n\
             SUMMARY:{title}\r\nEND:VEVENT\r\n"
        )
    };
    let import = async |events: &[String]| {
        let events = events.concat();
        let file = format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//x//EN\r\n{events}END:VCALENDAR\r\n");
        let call = api.post(format!("/v1/calendars/{calendar}/import")).header("content-type", "text/calendar");
        let report = call.body(file).await.expect(200);
        ["created", "updated", "refused_count"].map(|name| report.at(&format!("/{name}")).as_u64().unwrap_or(0))
    };
    let starts = async || {
        let query = "expand=true&start_after=2027-03-01T00:00:00Z&start_before=2027-03-07T00:00:00Z";
        let listed = api.get(format!("{}?{query}", events(&calendar))).await.expect(200).data();
        let mut starts: Vec<String> =
            listed.iter().map(|event| event["startTime"].as_str().unwrap()[8..16].to_owned()).collect();
        starts.sort();
        starts
    };

    let after =
        "BEGIN:VEVENT\r\nUID:z\r\nDTSTART:20270301T093000Z\r\nDTEND:20270301T094500Z\r\nSUMMARY:z\r\nEND:VEVENT\r\n";
    // A changed occurrence that is refused keeps out its series, which then blocks nothing.
    event(&api, &calendar, "2027-03-03T12:00:00Z", "2027-03-03T13:00:00Z").await;
    let moved = changed("20270303T0930", "20270303T1200", "20270303T1230", "moved");
    assert_eq!(import(&[rule("0930", "0945"), moved.clone(), after.to_owned()]).await, [1, 0, 1]);
    assert_eq!(starts().await, ["01T09:30", "03T12:00"]);
    for id in api.get(events(&calendar)).await.expect(200).column("id") {
        api.delete(format!("/v1/events/{id}")).await.expect(204);
    }
    assert_eq!(import(&[rule("0930", "0945"), moved.clone()]).await, [2, 0, 0]);
    let all = ["01T09:30", "02T09:30", "03T12:00", "04T09:30", "05T09:30"];
    assert_eq!(starts().await, all);

    // An occurrence that already overlaps another event can be renamed.
    let path = format!("/v1/calendars/{calendar}");
    api.patch(&path).json(json!({ "conflicts": "allow" })).await.expect(200);
    let over = event(&api, &calendar, "2027-03-04T09:30:00Z", "2027-03-04T09:45:00Z").await;
    api.patch(&path).json(json!({ "conflicts": "refuse" })).await.expect(200);
    let renamed = changed("20270304T0930", "20270304T0930", "20270304T0945", "renamed");
    assert_eq!(import(&[rule("0930", "0945"), moved.clone(), renamed.clone()]).await, [1, 1, 0]);
    api.delete(format!("/v1/events/{over}")).await.expect(204);
    assert_eq!(starts().await, all);

    // A series whose new time is refused keeps its old one, and its occurrences stay.
    let taken = event(&api, &calendar, "2027-03-02T17:00:00Z", "2027-03-02T18:00:00Z").await;
    let later = changed("20270305T1700", "20270305T1500", "20270305T1530", "later");
    assert_eq!(import(&[rule("1700", "1715"), later.clone()]).await, [0, 0, 1]);
    api.delete(format!("/v1/events/{taken}")).await.expect(204);
    assert_eq!(starts().await, all);

    // A series that moves frees its old times for what follows in the file.
    assert_eq!(import(&[rule("1700", "1715"), later, after.to_owned()]).await[2], 0);
    assert_eq!(starts().await, ["01T09:30", "01T17:00", "02T17:00", "03T17:00", "04T17:00", "05T15:00"]);
}

#[apply(on_both)]
#[tokio::test]
async fn a_subscription_is_never_refused(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    it.api.patch(format!("/v1/calendars/{}", it.calendar)).json(json!({ "conflicts": "refuse" })).await.expect(200);
    event(&it.api, &it.calendar, "2031-03-03T09:15:00Z", "2031-03-03T09:45:00Z").await;
    let feed = vcalendar(&[meeting("a@example.com", "First", 3, 9), meeting("b@example.com", "Second", 3, 9)]);
    it.subscribed("/a.ics", Serving::calendar(feed)).await;
    let titles: BTreeSet<String> = it.titles().await.into_iter().collect();
    assert_eq!(titles, ["First", "Second", "Standup"].map(str::to_owned).into());
    // What it brings blocks other events.
    let over = wanted("2031-03-03T09:00:00Z", "2031-03-03T09:10:00Z", &json!({}));
    let refused = it.api.post(events(&it.calendar)).json(over).await.refused(409, "conflict").code("slot_taken");
    assert_eq!(refused.at("/error/conflicts/0/kind"), "external_event");
}

#[apply(on_both)]
#[tokio::test]
async fn a_hold_on_a_calendar_that_refuses_conflicts_becomes_an_event(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, _) = agent_with_calendar(&api).await;
    let calendar = refusing(&api, &owner).await;
    let until = in_seconds(&api, 600).await;
    let hold =
        api.post(events(&calendar)).json(hold_body(&at("09:00"), &at("10:00"), &until, 5)).await.expect(201).id();
    create(&api, &calendar, "09:00", "09:30", json!({})).await.refused(409, "conflict").code("slot_taken");
    api.put(format!("/v1/events/{hold}/confirm")).await.expect(200);
    create(&api, &calendar, "09:00", "09:30", json!({})).await.refused(409, "conflict").code("slot_taken");
}

/// 1,000 writers want 50 slots of one calendar, at one node or at two.
async fn each_slot_has_one_event(database: Database, nodes: &[Client], calendar: &str) {
    const SLOTS: usize = 50;
    const WRITERS: usize = 1000;
    let calls = (0..WRITERS).map(|writer| {
        let (start, end) = quarter_of_an_hour(writer * 7 % SLOTS);
        // The writers of one slot are at different nodes.
        nodes[writer / SLOTS % nodes.len()].post(events(calendar)).json(event_body("Standup", &start, &end))
    });
    let answers = all(calls.collect()).await;
    let expected = BTreeMap::from([((201, String::new()), SLOTS), ((409, "slot_taken".to_owned()), WRITERS - SLOTS)]);
    assert_eq!(outcomes(&answers), expected, "{database:?}");
    let listed = nodes[0].get(format!("{}?limit=200", events(calendar))).await.expect(200).data();
    assert_eq!(listed.len(), SLOTS);
    for two in listed.windows(2) {
        assert!(two[0]["endTime"].as_str() <= two[1]["startTime"].as_str(), "{two:#?}");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_thousand_writers_share_fifty_slots(#[case] database: Database) {
    let (server, api) = unlimited(database).await;
    let (owner, _) = agent_with_calendar(&api).await;
    let calendar = refusing(&api, &owner).await;
    let mut nodes = vec![api.clone()];
    let other;
    if database == Database::Postgres {
        other = server.another_node().await;
        nodes.push(api.moved_to(other.base_url()));
    }
    each_slot_has_one_event(database, &nodes, &calendar).await;
}
