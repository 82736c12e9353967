//! Events are copied to the calendar of a user who allowed that. The provider is a stand-in.

use std::{collections::BTreeSet, time::Duration};

use chrono::{DateTime, Utc};
use kalends_e2e::{Answer, Database, Receiver, iso};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    claims::text,
    connecting::{ACCOUNT, CALENDARS, Connecting, TITLE, path_of, until},
    fixtures::{PATIENCE, agent_with_calendar, event_body, has_exactly, is_time, shared_calendar, wait_for},
    holds::{hold_body, in_seconds},
    on_both,
    publishing_pages::{ask_to_copy, connected_to_write, destination_path, put},
};

const DESTINATION: [&str; 10] = [
    "calendar_id",
    "connection_id",
    "external_calendar_id",
    "policy",
    "status",
    "copies",
    "published_at",
    "last_error",
    "created_at",
    "updated_at",
];
/// More events than go to the provider at once.
pub(crate) const MANY: i64 = 25;

/// An event of the agent's calendar between two minutes of the day, with this title and these fields.
async fn create(it: &Connecting, title: &str, (from, to): (i64, i64), more: Value) -> Answer {
    let mut body = event_body(title, &iso(it.time(from)), &iso(it.time(to)));
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    it.api.post(format!("/v1/calendars/{}/events", it.calendar)).json(body).await.expect(201)
}

/// The titles and times of the copies in the user's calendar at this index.
pub(crate) fn copied(it: &Connecting, place: usize) -> Vec<(String, DateTime<Utc>, DateTime<Utc>)> {
    let copies = it.microsoft.copies(ACCOUNT, CALENDARS[place].0).into_iter();
    copies.map(|copy| (copy.title, copy.start, copy.end)).collect()
}

/// Waits until the user's calendar at this index has exactly these copies, between minutes of the day.
async fn shows(it: &Connecting, place: usize, expected: &[(&str, i64, i64)]) {
    let at = |minutes: &i64| it.time(*minutes);
    let expected: Vec<_> = expected.iter().map(|(title, from, to)| ((*title).to_owned(), at(from), at(to))).collect();
    let began = tokio::time::Instant::now();
    while copied(it, place) != expected {
        assert!(began.elapsed() < PATIENCE, "{:#?}, not {expected:#?}", copied(it, place));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// What the answer to a write says about the copy.
fn sync(answer: &Answer) -> String {
    text(&answer["external_sync"]["status"])
}

/// Waits until everything is copied, with these numbers of copies, and returns the destination.
pub(crate) async fn counts(it: &Connecting, published: u64, diverged: u64) -> Answer {
    let expected = json!({ "published": published, "diverged": diverged });
    until(
        "copied",
        async || it.console.get(destination_path(it)).await,
        |now| now["copies"] == expected && !now["published_at"].is_null() && now["last_error"].is_null(),
    )
    .await
}

#[apply(on_both)]
#[tokio::test]
async fn events_are_copied_to_the_user_s_calendar(#[case] database: Database) {
    let it = Connecting::new(database).await;
    // From the agent's link to the destination.
    let link = ask_to_copy(&it, "confirmed").await;
    let id = crate::connecting::open(&it.console, &crate::connecting::token(&link)).await.expect(200).id();
    let connection = it.connect(&it.microsoft, Some(&id)).await;
    let mut audience = it.to_agent();
    audience["connection_link_id"] = json!(id);
    it.grant(&connection, &[0], &audience).await;
    let poll = it.api.get(format!("/v1/connection-links/{id}")).await.expect(200);
    assert_eq!((&poll["status"], &poll["publication_policy"]), (&json!("completed"), &json!("confirmed")));
    let early = create(&it, "Early", (480, 510), json!({})).await;
    assert_eq!(sync(&early), "not_configured");
    let made = put(&it, &connection, 1, "confirmed").await.expect(200);
    has_exactly(&made.json, &DESTINATION);
    assert_eq!((&made["calendar_id"], &made["connection_id"]), (&json!(it.calendar), &json!(connection)));
    assert_eq!((&made["status"], &made["published_at"]), (&json!("active"), &Value::Null));
    // Events that existed before are copied too.
    shows(&it, 1, &[("Early", 480, 510)]).await;
    let now = counts(&it, 1, 0).await;
    is_time(&now["published_at"]);
    assert_eq!((&now["last_error"], now.header("etag")), (&Value::Null, made.header("etag")));

    // Created, changed and deleted.
    let more = json!({ "description": "Bring the plan.", "location": "Room 2",
        "attendees": [{ "email": "guest@example.com", "name": "Guest" }] });
    let event = create(&it, "Planning", (540, 570), more).await;
    assert_eq!(sync(&event), "queued");
    shows(&it, 1, &[("Early", 480, 510), ("Planning", 540, 570)]).await;
    counts(&it, 2, 0).await;
    let copy = it.microsoft.copies(ACCOUNT, CALENDARS[1].0).pop().unwrap();
    assert_eq!((&*copy.description, &*copy.location, &*copy.show_as), ("Bring the plan.", "Room 2", "busy"));
    assert!(!copy.reminds && copy.properties.iter().any(|value| value.starts_with(&it.calendar)), "{copy:?}");
    let path = format!("/v1/events/{}", event.id());
    let not_copied = it.api.patch(&path).json(json!({ "metadata": { "topic": "plan" } })).await.expect(200);
    assert_eq!(sync(&not_copied), "published");
    let later = json!({ "title": "Plan", "start_time": iso(it.time(600)), "end_time": iso(it.time(630)) });
    assert_eq!(sync(&it.api.patch(&path).json(later).await.expect(200)), "queued");
    shows(&it, 1, &[("Early", 480, 510), ("Plan", 600, 630)]).await;
    let changed = it.microsoft.copies(ACCOUNT, CALENDARS[1].0).pop().unwrap();
    assert_eq!(changed.id, copy.id, "a change creates no other copy");
    it.api.delete(&path).await.expect(204);
    shows(&it, 1, &[("Early", 480, 510)]).await;

    // What the policy leaves out.
    let tentative = create(&it, "Perhaps", (660, 690), json!({ "status": "tentative" })).await;
    assert_eq!(sync(&tentative), "skipped");
    let until = in_seconds(&it.api, 600).await;
    let hold = hold_body(&iso(it.time(720)), &iso(it.time(750)), &until, 0);
    let hold = it.api.post(format!("/v1/calendars/{}/events", it.calendar)).json(hold).await.expect(201);
    assert_eq!(sync(&hold), "skipped");
    put(&it, &connection, 1, "confirmed_tentative").await.expect(200);
    shows(&it, 1, &[("Early", 480, 510), ("Perhaps", 660, 690)]).await;
    put(&it, &connection, 1, "none").await.expect(200);
    shows(&it, 1, &[]).await;
    assert_eq!(sync(&create(&it, "Quiet", (1_200, 1_210), json!({})).await), "skipped");

    // With another target, the copies move.
    put(&it, &connection, 2, "confirmed").await.expect(200);
    shows(&it, 2, &[("Early", 480, 510), ("Quiet", 1_200, 1_210)]).await;
    put(&it, &connection, 1, "confirmed").await.expect(200);
    shows(&it, 1, &[("Early", 480, 510), ("Quiet", 1_200, 1_210)]).await;
    shows(&it, 2, &[]).await;
    // The calendar that the agent's busy times come from has nothing of it.
    assert_eq!(copied(&it, 0), []);
}

#[apply(on_both)]
#[tokio::test]
async fn occurrences_and_moves_are_followed(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let connection = connected_to_write(&it).await;
    put(&it, &connection, 0, "confirmed").await.expect(200);
    let day = 24 * 60;
    let rule = json!({ "recurrence_rule": "FREQ=DAILY;COUNT=4", "recurrence_timezone": "UTC" });
    let series = create(&it, "Standup", (540, 555), rule).await;
    let at = |number: i64| (540 + number * day, 555 + number * day);
    let standup = |number: i64| ("Standup", at(number).0, at(number).1);
    shows(&it, 0, &[standup(0), standup(1), standup(2), standup(3)]).await;
    counts(&it, 4, 0).await;
    let path = format!("/v1/events/{}", series.id());
    let occurrence = iso(it.time(at(1).0)).replace(['-', ':'], "");
    let moved = json!({ "title": "Retro", "start_time": iso(it.time(600 + day)), "end_time": iso(it.time(630 + day)) });
    it.api.patch(format!("{path}_{occurrence}")).json(moved).await.expect(200);
    shows(&it, 0, &[standup(0), ("Retro", 600 + day, 630 + day), standup(2), standup(3)]).await;
    it.api.delete(format!("{path}?occurrence_start={}", iso(it.time(at(2).0)))).await.expect(200);
    shows(&it, 0, &[standup(0), ("Retro", 600 + day, 630 + day), standup(3)]).await;

    // To a calendar that goes nowhere, and back.
    let elsewhere = shared_calendar(&it.api, "UTC").await;
    let to = |calendar: &str| it.api.post(format!("{path}/move")).json(json!({ "calendar_id": calendar }));
    assert_eq!(sync(&to(&elsewhere).await.expect(200)), "not_configured");
    shows(&it, 0, &[]).await;
    to(&it.calendar).await.expect(200);
    shows(&it, 0, &[standup(0), ("Retro", 600 + day, 630 + day), standup(3)]).await;

    // A calendar that is deleted leaves no copies.
    it.api.delete(format!("/v1/calendars/{}", it.calendar)).await.expect(204);
    shows(&it, 0, &[]).await;
}

#[apply(on_both)]
#[tokio::test]
async fn an_agent_that_is_decommissioned_leaves_no_copies(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let connection = connected_to_write(&it).await;
    create(&it, "Last", (540, 570), json!({})).await;
    put(&it, &connection, 0, "confirmed").await.expect(200);
    shows(&it, 0, &[("Last", 540, 570)]).await;
    it.api.delete(format!("/v1/agents/{}", it.agent)).await.expect(204);
    shows(&it, 0, &[]).await;
}

#[apply(on_both)]
#[tokio::test]
async fn what_a_person_changes_is_left_alone(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let connection = connected_to_write(&it).await;
    put(&it, &connection, 0, "confirmed").await.expect(200);
    let first = create(&it, "First", (540, 570), json!({})).await.id();
    let second = create(&it, "Second", (600, 630), json!({})).await.id();
    let third = create(&it, "Third", (660, 690), json!({})).await.id();
    counts(&it, 3, 0).await;
    it.microsoft.renames(ACCOUNT, CALENDARS[0].0, "First", "Mine");
    it.microsoft.deletes(ACCOUNT, CALENDARS[0].0, "Second");
    let rename = async |id: &str, title: &str| {
        it.api.patch(format!("/v1/events/{id}")).json(json!({ "title": title })).await.expect(200)
    };
    for id in [&first, &second, &third] {
        rename(id, "Changed").await;
    }
    shows(&it, 0, &[("Mine", 540, 570), ("Changed", 660, 690)]).await;
    counts(&it, 1, 2).await;
    assert_eq!(sync(&rename(&first, "Again").await), "diverged");
    assert_eq!(sync(&rename(&second, "Again").await), "diverged");
    rename(&third, "Again").await;
    shows(&it, 0, &[("Mine", 540, 570), ("Again", 660, 690)]).await;
    // The person's copy outlives the event, and the destination.
    it.api.delete(format!("/v1/events/{first}")).await.expect(204);
    it.console.delete(destination_path(&it)).await.expect(204);
    shows(&it, 0, &[("Mine", 540, 570)]).await;
}

/// That many events of the agent's calendar, each at a time of its own.
pub(crate) async fn create_many(it: &Connecting, count: i64) {
    for number in 0..count {
        create(it, &format!("Event {number}"), (number * 20, number * 20 + 15), json!({})).await;
    }
}

/// Requires that the user's first calendar has one copy of each of that many events.
#[track_caller]
pub(crate) fn has_each_once(it: &Connecting, count: i64) {
    let copies = copied(it, 0);
    let titles: BTreeSet<_> = copies.iter().map(|(title, ..)| title).collect();
    assert_eq!((copies.len(), titles.len()), (usize::try_from(count).unwrap(), copies.len()), "{copies:#?}");
}

#[apply(on_both)]
#[tokio::test]
async fn a_provider_that_throttles_gets_every_event_once(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let connection = connected_to_write(&it).await;
    create_many(&it, MANY).await;
    it.microsoft.throttles(3, 1);
    put(&it, &connection, 0, "confirmed").await.expect(200);
    counts(&it, MANY.unsigned_abs(), 0).await;
    has_each_once(&it, MANY);
}

#[apply(on_both)]
#[tokio::test]
async fn an_answer_that_is_lost_creates_no_second_copy(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let connection = connected_to_write(&it).await;
    create_many(&it, 3).await;
    it.microsoft.cuts(1);
    put(&it, &connection, 0, "confirmed").await.expect(200);
    counts(&it, 3, 0).await;
    has_each_once(&it, 3);
}

#[apply(on_both)]
#[tokio::test]
async fn an_event_that_the_provider_refuses_stops_no_other(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let connection = connected_to_write(&it).await;
    it.microsoft.refuses("Refused");
    let refused = create(&it, "Refused", (540, 570), json!({})).await.id();
    create(&it, "Fine", (600, 630), json!({})).await;
    put(&it, &connection, 0, "confirmed").await.expect(200);
    shows(&it, 0, &[("Fine", 600, 630)]).await;
    wait_for(async || it.console.get(destination_path(&it)).await, |now| !now["last_error"].is_null()).await;
    let now = it.console.get(destination_path(&it)).await.expect(200);
    assert!(!now.text().contains("Refused"), "the error names no event: {}", now.describe());
    it.api.patch(format!("/v1/events/{refused}")).json(json!({ "title": "Better" })).await.expect(200);
    shows(&it, 0, &[("Better", 540, 570), ("Fine", 600, 630)]).await;
    counts(&it, 2, 0).await;
}

#[apply(on_both)]
#[tokio::test]
async fn an_error_is_shown_and_overcome(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let connection = connected_to_write(&it).await;
    it.microsoft.fails(Some(500));
    put(&it, &connection, 0, "confirmed").await.expect(200);
    create(&it, "Late", (540, 570), json!({})).await;
    wait_for(async || it.console.get(destination_path(&it)).await, |now| now["status"] == "error").await;
    let failed = it.console.get(destination_path(&it)).await.expect(200);
    let last_error = text(&failed["last_error"]);
    assert!(!last_error.is_empty() && !last_error.contains("lanted"), "{last_error}");
    assert_eq!(sync(&create(&it, "Later", (600, 630), json!({})).await), "failed");
    it.microsoft.fails(None);
    // A change is copied at once, however long the next attempt would wait.
    create(&it, "Last", (720, 750), json!({})).await;
    shows(&it, 0, &[("Late", 540, 570), ("Later", 600, 630), ("Last", 720, 750)]).await;
    let now = counts(&it, 3, 0).await;
    assert_eq!((&now["status"], &now["last_error"]), (&json!("active"), &Value::Null));

    // A paused connection publishes nothing until it is resumed.
    it.console.post(format!("{}/pause", path_of(&connection))).await.expect(200);
    assert_eq!(it.console.get(destination_path(&it)).await.expect(200)["status"], "paused");
    create(&it, "Paused", (660, 690), json!({})).await;
    it.console.post(format!("{}/resume", path_of(&connection))).await.expect(200);
    let all = [("Late", 540, 570), ("Later", 600, 630), ("Paused", 660, 690), ("Last", 720, 750)];
    shows(&it, 0, &all).await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_destination_ends_with_or_without_its_copies(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let connection = connected_to_write(&it).await;
    create(&it, "Kept", (540, 570), json!({})).await;
    let path = destination_path(&it);
    for (query, remains) in [("", false), ("?copies=delete", false), ("?copies=keep", true)] {
        put(&it, &connection, 0, "confirmed").await.expect(200);
        counts(&it, 1, 0).await;
        let etag = it.console.get(&path).await.expect(200).header("etag").to_owned();
        it.console.delete(&path).header("if-match", "\"999\"").await.refused(412, "conflict").code("stale");
        let odd = it.console.delete(format!("{path}?copies=some")).await;
        odd.refused(400, "validation_error").param("copies");
        it.console.delete(format!("{path}{query}")).header("if-match", etag).await.expect(204);
        it.console.get(&path).await.refused(404, "not_found").code("external_destination_not_found");
        it.console.delete(&path).await.refused(404, "not_found").code("external_destination_not_found");
        let expected: &[_] = if remains { &[("Kept", 540, 570)] } else { &[] };
        shows(&it, 0, expected).await;
    }
    assert_eq!(sync(&create(&it, "After", (600, 630), json!({})).await), "not_configured");

    // Kept copies are the user's own. A connection that ends leaves copies, too.
    it.console.delete(path_of(&connection)).await.expect(204);
    assert_eq!(copied(&it, 0), [("Kept".to_owned(), it.time(540), it.time(570))]);
    it.console.get(&path).await.refused(404, "not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn destinations_are_refused(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let google = it.connect(&it.google, None).await;
    put(&it, &google, 0, "confirmed").await.refused(409, "conflict").code("publishing_unsupported");
    let narrow = it.connect(&it.microsoft, None).await;
    put(&it, &narrow, 0, "confirmed").await.refused(409, "conflict").code("consent_required").mentions("reauthorize");
    for path in [
        "/v1/calendar-connections/oauth/google/start".to_owned(),
        format!("/v1/calendar-connections/{google}/reauthorize"),
    ] {
        let refused = it.console.post(path).json(json!({ "publishing": true })).await;
        refused.refused(409, "conflict").code("publishing_unsupported");
    }
    // The user unticks what was asked for.
    it.microsoft.grants_only_reading(true);
    assert_eq!(connected_to_write(&it).await, narrow, "the same account");
    put(&it, &narrow, 0, "confirmed").await.refused(409, "conflict").code("consent_required");
    it.microsoft.grants_only_reading(false);
    let connection = connected_to_write(&it).await;
    assert_eq!(connection, narrow, "the same account");
    assert_eq!(it.connect(&it.microsoft, None).await, connection, "the same account");
    let wide = it.console.get(path_of(&connection)).await.expect(200);
    assert_eq!(wide["publishing"], true, "a consent to read takes nothing away");
    put(&it, &connection, 0, "all").await.refused(400, "validation_error").param("policy");
    let known = text(&it.external(&connection).await[0]["id"]);
    for target in ["xcl_00000000000000000000000000", "x"] {
        let body = json!({ "external_calendar_id": target });
        let missing = it.console.put(destination_path(&it)).json(body).await;
        missing.refused(404, "not_found").code("external_calendar_not_found");
    }
    let body = json!({ "external_calendar_id": known });
    for calendar in ["cal_00000000000000000000000000", "x"] {
        let missing = it.console.put(format!("/v1/calendars/{calendar}/external-destination")).json(body.clone()).await;
        missing.refused(404, "not_found").code("calendar_not_found");
    }
    // Keys know nothing of destinations.
    for answer in [
        it.api.get(destination_path(&it)).await,
        it.api.put(destination_path(&it)).json(body.clone()).await,
        it.api.delete(destination_path(&it)).await,
    ] {
        answer.refused(401, "authentication_error");
    }
    let made = it.console.put(destination_path(&it)).json(body.clone()).await.expect(200);
    assert_eq!(made["policy"], "confirmed", "the default");
    let stale = it.console.put(destination_path(&it)).header("if-match", "\"999\"").json(body.clone()).await;
    stale.refused(412, "conflict").code("stale");

    // Another account of the user.
    it.microsoft.account("second@planted.example", &[("second@planted.example", "Planted second")]);
    let second = connected_to_write(&it).await;
    assert_ne!(second, connection);
    put(&it, &second, 0, "confirmed").await.refused(409, "conflict").code("destination_elsewhere");
    it.console.delete(format!("{}?copies=keep", destination_path(&it))).await.expect(204);
    put(&it, &second, 0, "confirmed").await.expect(200);
}

#[apply(on_both)]
#[tokio::test]
async fn copies_block_other_agents_only(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let connection = connected_to_write(&it).await;
    let (other, others) = agent_with_calendar(&it.api).await;
    let audience = json!({ "audience": "selected", "agent_ids": [it.agent, other] });
    it.grant(&connection, &[0], &audience).await;
    put(&it, &connection, 0, "confirmed").await.expect(200);
    let event = create(&it, "Copied", (540, 570), json!({})).await.id();
    counts(&it, 1, 0).await;
    it.refresh(&connection).await;
    let taken = it.spans(&[(540, 570)]);
    assert_eq!(it.busy(&others).await, taken);
    assert_eq!(it.busy(&it.calendar).await, taken, "by the event itself");
    // The copy outlives its event. It still blocks the other agent, and not its own.
    it.console.delete(format!("{}?copies=keep", destination_path(&it))).await.expect(204);
    it.api.delete(format!("/v1/events/{event}")).await.expect(204);
    it.refresh(&connection).await;
    assert_eq!(it.busy(&it.calendar).await, []);
    assert_eq!(it.busy(&others).await, taken);
}

#[apply(on_both)]
#[tokio::test]
async fn keys_learn_nothing_of_the_account(#[case] database: Database) {
    let receiver = Receiver::start().await;
    let variables = [("KALENDS_EGRESS_ALLOW", receiver.address()), ("KALENDS_LOG", "trace")];
    let it = Connecting::with(database, &variables).await;
    let hook = json!({ "url": receiver.url("/hook"), "events": ["*"] });
    it.api.post("/v1/webhooks").json(hook).await.expect(201);
    it.microsoft.events(ACCOUNT, CALENDARS[0].0, &[it.event(300, 330)]);
    let connection = connected_to_write(&it).await;
    it.grant(&connection, &[0], &it.to_agent()).await;
    put(&it, &connection, 1, "confirmed").await.expect(200);
    let event = create(&it, "Ours", (540, 570), json!({})).await;
    counts(&it, 1, 0).await;
    it.refresh(&connection).await;
    it.microsoft.fails(Some(500));
    let failed =
        it.api.patch(format!("/v1/events/{}", event.id())).json(json!({ "title": "Changed" })).await.expect(200);
    wait_for(async || it.console.get(destination_path(&it)).await, |now| now["status"] == "error").await;
    receiver.wait_for_type("/hook", "event.updated").await;

    let (start, end) = (iso(it.time(0)), iso(it.time(24 * 60)));
    let mut answers = vec![event.text(), failed.text()];
    for path in [
        format!("/v1/calendars/{}/availability?start={start}&end={end}&include_busy=true", it.calendar),
        format!("/v1/calendars/{}", it.calendar),
        format!("/v1/calendars/{}/events", it.calendar),
        format!("/v1/events/{}", event.id()),
        "/v1/audit-log".to_owned(),
    ] {
        answers.push(it.api.get(path).await.expect(200).text());
    }
    answers.extend(receiver.received("/hook").iter().map(|sent| String::from_utf8_lossy(&sent.body).into_owned()));
    let log = it.server.log();
    for planted in [TITLE, ACCOUNT, CALENDARS[0].1, CALENDARS[1].1, CALENDARS[1].0] {
        assert!(answers.iter().all(|answer| !answer.contains(planted)), "{planted}: {answers:#?}");
        assert!(!log.contains(planted), "{planted} is in the log");
    }
    for token in it.microsoft.tokens() {
        assert!(!log.contains(&token), "a token is in the log");
    }
}
