//! Copies of a calendar that follow its change feed.

use crate::on_both;
use std::{collections::BTreeMap, sync::Arc, sync::atomic::AtomicBool, sync::atomic::Ordering};

use kalends_e2e::{Answer, Client, Database, Server, shifted};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::fixtures::{agent_with_calendar, calendar_of, event, event_body, has_exactly, shared_calendar};

const DAY: i64 = 86_400;
const MONDAY: &str = "2026-05-04T09:00:00Z";

/// One page. `since` and `limit` are sent only if they are given.
async fn page(api: &Client, calendar: &str, since: Option<&str>, limit: Option<&str>) -> Answer {
    let query: Vec<(&str, &str)> =
        [("since", since), ("limit", limit)].into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    let answer = api.get(format!("/v1/calendars/{calendar}/changes")).query(&query).await.expect(200);
    has_exactly(&answer.json, &["data", "next", "has_more"]);
    answer
}

fn next(answer: &Answer) -> String {
    answer["next"].as_str().unwrap().to_owned()
}

/// The token of a copy that has the calendar's current state.
async fn present(api: &Client, calendar: &str) -> String {
    let answer = page(api, calendar, None, Some("200")).await;
    assert_eq!(answer["has_more"], false);
    next(&answer)
}

/// A copy of a calendar.
#[derive(Default)]
pub(crate) struct Copy {
    since: Option<String>,
    pub(crate) events: BTreeMap<String, Value>,
}

impl Copy {
    /// Applies one page and returns whether there are more.
    async fn follow(&mut self, api: &Client, calendar: &str, limit: &str) -> bool {
        let answer = page(api, calendar, self.since.as_deref(), Some(limit)).await;
        for entry in answer.data() {
            let id = entry["id"].as_str().unwrap().to_owned();
            if entry["deleted"] == true {
                has_exactly(&entry, &["id", "deleted"]);
                self.events.remove(&id);
            } else {
                self.events.insert(id, entry);
            }
        }
        self.since = Some(next(&answer));
        answer["has_more"] == true
    }

    pub(crate) async fn catch_up(&mut self, api: &Client, calendar: &str, limit: &str) {
        while self.follow(api, calendar, limit).await {}
    }
}

/// The calendar's list without expanded series.
async fn listed(api: &Client, calendar: &str) -> BTreeMap<String, Value> {
    let list = api.get(format!("/v1/calendars/{calendar}/events?limit=200")).await.expect(200);
    list.data().into_iter().map(|event| (event["id"].as_str().unwrap().to_owned(), event)).collect()
}

#[apply(on_both)]
#[tokio::test]
async fn changes_are_listed_in_order_and_once(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let empty = page(&api, &calendar, None, None).await;
    assert_eq!((&empty["data"], &empty["has_more"]), (&json!([]), &json!(false)));

    let first = event(&api, &calendar, MONDAY, &shifted(MONDAY, 30)).await;
    let second = event(&api, &calendar, MONDAY, &shifted(MONDAY, 60)).await;
    api.patch(format!("/v1/events/{first}")).json(json!({ "title": "Retro" })).await.expect(200);
    let answer = page(&api, &calendar, Some(&next(&empty)), None).await;
    assert_eq!(answer.column("id"), [second.clone(), first.clone()]);
    let read = api.get(format!("/v1/events/{first}")).await.expect(200);
    assert_eq!(answer.data()[1], read.json, "as the event itself shows");
    assert_eq!(page(&api, &calendar, None, None).await.json["data"], answer.json["data"]);

    // Nothing changed, so the list is empty. A change of something other than an event is not listed.
    let quiet = page(&api, &calendar, Some(&next(&answer)), None).await;
    assert_eq!((&quiet["data"], &quiet["has_more"]), (&json!([]), &json!(false)));
    let open =
        json!({ "buffer_before_minutes": 5, "buffer_after_minutes": 0, "working_hours": null, "timezone": "UTC" });
    api.put(format!("/v1/calendars/{calendar}/availability-rules")).json(open).await.expect(200);
    assert_eq!(page(&api, &calendar, Some(&next(&quiet)), None).await["data"], json!([]));

    api.delete(format!("/v1/events/{second}")).await.expect(204);
    let gone = page(&api, &calendar, Some(&next(&quiet)), None).await;
    assert_eq!(gone["data"], json!([{ "id": second, "deleted": true }]));
    // An older token gets the deletion too. A new copy does not see the event at all.
    let before = page(&api, &calendar, Some(&next(&empty)), None).await;
    assert_eq!(before.column("id"), [first.clone(), second]);
    assert_eq!(page(&api, &calendar, None, None).await.column("id"), [first]);
}

#[apply(on_both)]
#[tokio::test]
async fn the_pages_of_a_new_copy_miss_no_event(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "UTC").await;
    let events: Vec<Value> = (0..7)
        .map(|hour| event_body("Standup", &shifted(MONDAY, 60 * hour), &shifted(MONDAY, 60 * hour + 30)))
        .collect();
    let batch = api.post(format!("/v1/calendars/{calendar}/events/batch")).json(json!({ "events": events }));
    let mut ids = batch.await.expect(201).column("id");
    // Events that were committed together are sorted by identifier.
    ids.sort();
    api.delete(format!("/v1/events/{}", ids[6])).await.expect(204);

    let first = page(&api, &calendar, None, Some("3")).await;
    assert_eq!((first.column("id"), &first["has_more"]), (ids[..3].to_vec(), &json!(true)));
    // Between the pages, a listed and an unlisted event are deleted, one event changes, and one is added.
    for id in [&ids[0], &ids[3]] {
        api.delete(format!("/v1/events/{id}")).await.expect(204);
    }
    api.patch(format!("/v1/events/{}", ids[1])).json(json!({ "title": "Retro" })).await.expect(200);
    let new = event(&api, &calendar, MONDAY, &shifted(MONDAY, 30)).await;
    let second = page(&api, &calendar, Some(&next(&first)), Some("3")).await;
    assert_eq!((second.column("id"), &second["has_more"]), ([&ids[4..6], &ids[..1]].concat(), &json!(true)));
    let third = page(&api, &calendar, Some(&next(&second)), Some("3")).await;
    assert_eq!(third.column("id"), [ids[3].clone(), ids[1].clone(), new]);
    assert_eq!((&third.data()[0]["deleted"], &third["has_more"]), (&json!(true), &json!(false)));

    let mut copy = Copy::default();
    copy.catch_up(&api, &calendar, "1").await;
    assert_eq!(copy.events, listed(&api, &calendar).await);
}

#[apply(on_both)]
#[tokio::test]
async fn series_and_changed_occurrences_are_listed_separately(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "UTC").await;
    let mut body = event_body("Standup", MONDAY, &shifted(MONDAY, 30));
    body["recurrence_rule"] = json!("FREQ=DAILY;COUNT=9");
    let series = api.post(format!("/v1/calendars/{calendar}/events")).json(body).await.expect(201).id();
    let made = page(&api, &calendar, None, None).await;
    assert_eq!(
        (made.column("id"), &made.data()[0]["recurrenceRule"]),
        (vec![series.clone()], &json!("FREQ=DAILY;COUNT=9"))
    );

    let tuesday = format!("{series}_20260505T090000Z");
    let moved = json!({ "start_time": "2026-05-05T10:00:00Z", "end_time": "2026-05-05T10:30:00Z" });
    api.patch(format!("/v1/events/{tuesday}")).json(moved).await.expect(200);
    let changed = page(&api, &calendar, Some(&next(&made)), None).await;
    assert_eq!(changed.column("id"), [series.clone(), tuesday.clone()]);
    let instance = &changed.data()[1];
    assert_eq!(
        (&instance["recurringEventId"], &instance["startTime"]),
        (&json!(series), &json!("2026-05-05T10:00:00Z"))
    );
    assert_eq!(instance["originalStartTime"], "2026-05-05T09:00:00Z");
    assert_eq!(*instance, api.get(format!("/v1/events/{tuesday}")).await.expect(200).json);

    // A cancelled occurrence is deleted under the identifier that it had, and becomes an EXDATE of the series.
    api.delete(format!("/v1/events/{tuesday}")).await.expect(204);
    let cancelled = page(&api, &calendar, Some(&next(&changed)), None).await;
    assert_eq!(cancelled.column("id"), [series.clone(), tuesday.clone()]);
    assert_eq!(cancelled.data()[0]["recurrenceExdates"], json!(["2026-05-05T09:00:00Z"]));
    assert_eq!(cancelled.data()[1], json!({ "id": tuesday, "deleted": true }));

    // Restored and changed again. The last entry counts.
    api.patch(format!("/v1/events/{series}")).json(json!({ "recurrence_exdates": [] })).await.expect(200);
    api.patch(format!("/v1/events/{tuesday}")).json(json!({ "title": "Retro" })).await.expect(200);
    let mut copy = Copy { since: Some(next(&changed)), ..Copy::default() };
    copy.catch_up(&api, &calendar, "1").await;
    assert_eq!(copy.events[&tuesday]["title"], "Retro");

    // Deleting the series deletes all of it.
    api.delete(format!("/v1/events/{series}")).await.expect(204);
    let gone = page(&api, &calendar, copy.since.as_deref(), None).await;
    let deleted = |id: &str| json!({ "id": id, "deleted": true });
    let mut entries = gone.data();
    entries.sort_by_key(|entry| entry["id"].as_str().map(str::len));
    assert_eq!(entries, [deleted(&series), deleted(&tuesday)]);
}

#[apply(on_both)]
#[tokio::test]
async fn a_copy_that_cannot_continue_must_start_again(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let (agent, calendar) = agent_with_calendar(&api).await;
    let (old, other) = (event(&api, &calendar, MONDAY, &shifted(MONDAY, 30)).await, calendar_of(&api, &agent).await);
    event(&api, &calendar, MONDAY, &shifted(MONDAY, 30)).await;
    let begun = next(&page(&api, &calendar, None, Some("1")).await);
    let since = present(&api, &calendar).await;
    let resync = async |api: &Client, calendar: &str, since: &str| {
        let query = [("since", since), ("limit", "1")];
        let answer = api.get(format!("/v1/calendars/{calendar}/changes")).query(&query).await;
        answer.refused(410, "conflict").code("resync").param("since").mentions("start again without since")
    };
    for garbage in ["", "0", "null", &since[1..], &format!("{since}="), &"A".repeat(87), &"é".repeat(40)] {
        resync(&api, &calendar, garbage).await.mentions("not a token");
    }
    resync(&api, &other, &since).await.mentions("another calendar");
    // The bytes after the first name the database.
    let swapped = if &since[4..5] == "A" { "B" } else { "A" };
    resync(&api, &calendar, &format!("{}{swapped}{}", &since[..4], &since[5..])).await.mentions("another database");

    api.delete(format!("/v1/events/{old}")).await.expect(204);
    server.restart_at_offset(29 * DAY).await;
    let api = server.api(&org);
    let gone = page(&api, &calendar, Some(&since), None).await;
    assert_eq!(gone["data"], json!([{ "id": old, "deleted": true }]));
    let middle = page(&api, &calendar, Some(&begun), Some("1")).await;
    assert_eq!(middle["has_more"], true);
    server.restart_at_offset(31 * DAY).await;
    let api = server.api(&org);
    for old in [&since, &begun, &next(&middle)] {
        resync(&api, &calendar, old).await.mentions("30 days");
    }
    // A reader that was current a day ago is still current.
    assert_eq!(page(&api, &calendar, Some(&next(&gone)), None).await["data"], json!([]));
    assert_eq!(page(&api, &calendar, None, None).await.data().len(), 1);
}

#[apply(on_both)]
#[tokio::test]
async fn changes_require_a_visible_calendar(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "UTC").await;
    let path = format!("/v1/calendars/{calendar}/changes");
    let stranger = server.api(&server.org("pro").await);
    stranger.get(&path).await.refused(404, "not_found").code("calendar_not_found");
    server.anonymous().get(&path).await.refused(401, "unauthorized");
    for limit in ["0", "201", "-1", "many"] {
        api.get(format!("{path}?limit={limit}")).await.refused(400, "validation_error").param("limit");
    }
    api.get(format!("{path}?offset=1")).await.refused(400, "validation_error").code("unknown_field");
    api.get(format!("{path}?since=a&since=b")).await.refused(400, "validation_error").param("since");
    api.get("/v1/calendars/cal_x/changes").await.refused(404, "not_found");
    let since = present(&api, &calendar).await;
    api.delete(format!("/v1/calendars/{calendar}")).await.expect(204);
    for path in [path.clone(), format!("{path}?since={since}")] {
        api.get(path).await.refused(404, "not_found").code("calendar_not_found");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_copy_converges_while_others_write(#[case] database: Database) {
    const WRITERS: i64 = 4;
    let (_server, api) = Server::with_org(database, "custom").await;
    let calendar = shared_calendar(&api, "UTC").await;
    let done = Arc::new(AtomicBool::new(false));
    let following = {
        let (api, calendar, done) = (api.clone(), calendar.clone(), Arc::clone(&done));
        tokio::spawn(async move {
            let mut copy = Copy::default();
            loop {
                let last = done.load(Ordering::SeqCst);
                if !copy.follow(&api, &calendar, "4").await && last {
                    return copy.events;
                }
            }
        })
    };
    let writing: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (api, calendar) = (api.clone(), calendar.clone());
            tokio::spawn(async move {
                for round in 0..15 {
                    let start = shifted(MONDAY, 60 * (round * WRITERS + writer));
                    let made = event(&api, &calendar, &start, &shifted(&start, 30)).await;
                    let path = format!("/v1/events/{made}");
                    match round % 3 {
                        0 => drop(api.delete(path).await.expect(204)),
                        1 => drop(api.patch(path).json(json!({ "title": "Retro" })).await.expect(200)),
                        _ => {}
                    }
                }
            })
        })
        .collect();
    for writer in writing {
        writer.await.unwrap();
    }
    done.store(true, Ordering::SeqCst);
    let expected = listed(&api, &calendar).await;
    assert_eq!(expected.len(), 40);
    assert_eq!(following.await.unwrap(), expected);
}
