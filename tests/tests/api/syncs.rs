//! Syncs: they bring a calendar in line with its feed, and write nothing if nothing has changed.

use crate::on_both;
use std::collections::BTreeSet;

use kalends_e2e::{
    Database::{self, Postgres},
    FeedServer, Server, Serving, iso,
};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    fixtures::{PATIENCE, agent, calendar_of, now},
    subscriber::{Subscriber, meeting, meetings, vcalendar, vevent},
};

/// The counts of the last sync: created, updated, deleted, untouched.
fn counts(subscription: &Value) -> [i64; 4] {
    ["created", "updated", "deleted", "untouched"].map(|name| subscription["last_sync"][name].as_i64().unwrap())
}

#[apply(on_both)]
#[tokio::test]
async fn changes_of_the_feed_are_applied(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    let mine = json!({ "title": "Mine", "start_time": "2031-03-01T12:00:00Z", "end_time": "2031-03-01T13:00:00Z" });
    it.api.post(format!("/v1/calendars/{}/events", it.calendar)).json(mine).await.expect(201);
    let before = vcalendar(&[
        meeting("stays@example.com", "Stays", 3, 9),
        meeting("moves@example.com", "Moves", 4, 9),
        meeting("goes@example.com", "Goes", 5, 9),
    ]);
    let path = it.subscribed("/a.ics", Serving::calendar(before)).await;
    assert_eq!(it.titles().await, ["Mine", "Stays", "Moves", "Goes"]);
    let (first, place) = (it.events().await, it.place().await);

    let after = vcalendar(&[
        meeting("new@example.com", "New", 2, 9),
        meeting("moves@example.com", "Moved", 6, 14),
        meeting("stays@example.com", "Stays", 3, 9),
    ]);
    let read = it.now_serves(&path, "/a.ics", Serving::calendar(after)).await;
    assert_eq!(counts(&read.json), [1, 1, 1, 1]);
    assert_eq!(it.titles().await, ["Mine", "New", "Stays", "Moved"]);
    let second = it.events().await;
    assert_eq!((&second[0], &second[2]), (&first[0], &first[1]), "unchanged events stay the same");
    assert_eq!(second[3]["id"], first[2]["id"], "a changed event keeps its identifier");
    assert_eq!(second[3]["startTime"], "2031-03-06T14:00:00Z");
    assert_ne!(second[3]["updatedAt"], first[2]["updatedAt"]);
    let gone = format!("/v1/events/{}", first[3]["id"].as_str().unwrap());
    it.api.get(gone).await.refused(404, "not_found");
    assert_eq!(it.busy("2031-03-04T00:00:00Z", "2031-03-06T00:00:00Z").await, []);
    // The calendar's changes contain all of them.
    let changed_ids: BTreeSet<_> = it.changed_since(&place).await.iter().map(|entry| entry["id"].to_string()).collect();
    let expected: BTreeSet<_> =
        [&second[1], &second[3], &first[3]].iter().map(|event| event["id"].to_string()).collect();
    assert_eq!(changed_ids, expected);

    // An event that returns to the feed is a new event.
    let again = vcalendar(&[
        meeting("new@example.com", "New", 2, 9),
        meeting("moves@example.com", "Moved", 6, 14),
        meeting("stays@example.com", "Stays", 3, 9),
        meeting("goes@example.com", "Goes", 5, 9),
    ]);
    let read = it.now_serves(&path, "/a.ics", Serving::calendar(again)).await;
    assert_eq!(counts(&read.json), [1, 0, 0, 3]);
    assert_eq!(it.titles().await, ["Mine", "New", "Stays", "Goes", "Moved"]);
}

#[apply(on_both)]
#[tokio::test]
async fn an_equivalent_feed_changes_nothing(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    let (first, second) = (meeting("a@example.com", "A", 3, 9), meeting("b@example.com", "B", 4, 9));
    let text = vcalendar(&[&first, &second]);
    let path = it.subscribed("/a.ics", Serving::calendar(&text).tagged("\"v1\"")).await;
    let (place, events) = (it.place().await, it.events().await);
    let address = it.api.get(format!("/v1/calendars/{}", it.calendar)).await.expect(200)["ical_url"].clone();
    let address = address.as_str().unwrap().trim_start_matches(it.server.base_url()).to_owned();
    let tag = it.server.anonymous().get(&address).await.expect(200).header("etag").to_owned();

    // If the server sent an entity tag, the next request is conditional.
    let read = it.synced(&path).await;
    assert_eq!(counts(&read.json), [0, 0, 0, 2]);
    let requests = it.feeds.requests("/a.ics");
    assert_eq!((requests[1].header("if-none-match"), requests[1].answered), ("\"v1\"", 304));
    // The same with a modification date. The validators are those of the last answer.
    it.now_serves(&path, "/a.ics", Serving::calendar(&text).dated("Mon, 03 Mar 2031 09:00:00 GMT")).await;
    it.synced(&path).await;
    let requests = it.feeds.requests("/a.ics");
    assert_eq!((requests[2].header("if-none-match"), requests[2].answered), ("\"v1\"", 200));
    assert_eq!(requests.len(), 4);

    // The same content in other bytes: another order, another stamp, other line ends, compressed, or without a
    // validator.
    let stamped = vcalendar(&[&second, &first]).replace("DTSTAMP:20300101", "DTSTAMP:20300102");
    for serving in [
        Serving::calendar(&text),
        Serving::calendar(&stamped),
        Serving::calendar(stamped.replace("\r\n", "\n")).tagged("\"v2\""),
        Serving::zipped(&text),
    ] {
        let read = it.now_serves(&path, "/a.ics", serving).await;
        assert_eq!(counts(&read.json), [0, 0, 0, 2]);
    }
    assert_eq!(it.events().await, events);
    assert_eq!(it.changed_since(&place).await, [] as [Value; 0]);
    assert_eq!(it.server.anonymous().get(&address).await.expect(200).header("etag"), tag);
}

#[apply(on_both)]
#[tokio::test]
async fn a_feed_that_shrinks_a_lot_must_be_confirmed(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    let all = meetings("a", 10);
    let path = it.subscribed("/a.ics", Serving::calendar(vcalendar(&all)).tagged("\"whole\"")).await;
    let place = it.place().await;
    // Fewer than half of the events are in the feed.
    let few = || Serving::calendar(vcalendar(&all[..4])).tagged("\"few\"");
    let read = it.now_serves(&path, "/a.ics", few()).await;
    assert_eq!((counts(&read.json), &read["last_sync"]["withheld"]), ([0, 0, 0, 4], &json!(6)));
    assert_eq!(it.titles().await.len(), 10);
    // The next sync finds the whole feed again, so nothing was deleted.
    let read = it.now_serves(&path, "/a.ics", Serving::calendar(vcalendar(&all)).tagged("\"whole\"")).await;
    assert_eq!((counts(&read.json), &read["last_sync"]["withheld"]), ([0, 0, 0, 10], &json!(0)));
    assert_eq!(it.changed_since(&place).await, [] as [Value; 0]);

    // A second shrunken sync is accepted, even with the same tag. New and changed events are imported by the first.
    let mut other = all[..2].to_vec();
    other[1] = meeting("a2@example.com", "changed", 2, 9);
    other.push(meeting("new@example.com", "new", 20, 9));
    let shrunk = Serving::calendar(vcalendar(&other)).tagged("\"shrunk\"");
    let read = it.now_serves(&path, "/a.ics", shrunk).await;
    assert_eq!((counts(&read.json), &read["last_sync"]["withheld"]), ([1, 1, 0, 1], &json!(8)));
    assert_eq!(it.titles().await.len(), 11);
    // A failure in between does not confirm it.
    it.feeds.serve("/a.ics", Serving::Status(502));
    it.api.post(format!("{path}/sync")).await.expect(202);
    it.until(&path, "in error", |read| read["status"] == "error").await;
    assert_eq!(it.titles().await.len(), 11);
    let read = it.now_serves(&path, "/a.ics", Serving::calendar(vcalendar(&other)).tagged("\"shrunk\"")).await;
    assert_eq!((counts(&read.json), &read["last_sync"]["withheld"]), ([0, 0, 8, 3], &json!(0)));
    assert_eq!(it.titles().await, ["a1", "changed", "new"]);

    // The rule also applies to an empty feed. A feed with half of the events is accepted at once.
    let read = it.now_serves(&path, "/a.ics", Serving::calendar(vcalendar::<&str>(&[]))).await;
    assert_eq!((it.titles().await.len(), &read["last_sync"]["withheld"]), (3, &json!(3)));
    it.synced(&path).await;
    assert_eq!(it.titles().await.len(), 0);
    it.now_serves(&path, "/a.ics", Serving::calendar(vcalendar(&meetings("b", 4)))).await;
    let read = it.now_serves(&path, "/a.ics", Serving::calendar(vcalendar(&meetings("b", 2)))).await;
    assert_eq!((counts(&read.json), it.titles().await.len()), ([0, 0, 2, 2], 2));
}

#[apply(on_both)]
#[tokio::test]
async fn a_bad_event_is_skipped_and_counted(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    let feed = vcalendar(&[
        meeting("good@example.com", "Good", 3, 9),
        vevent("backwards@example.com", &["DTSTART:20310304T090000Z", "DTEND:20310304T080000Z"]),
        vevent("startless@example.com", &["SUMMARY:Some day"]),
        meeting("better@example.com", "Better", 5, 9),
    ]);
    let path = it.subscribed("/a.ics", Serving::calendar(feed)).await;
    let read = it.api.get(&path).await.expect(200);
    assert_eq!((&read["status"], &read["last_error"]), (&json!("active"), &Value::Null));
    assert_eq!((counts(&read.json), &read["last_sync"]["skipped"]), ([2, 0, 0, 0], &json!(2)));
    let skipped = read["last_sync"]["skipped_events"].as_array().unwrap();
    let mut reasons: Vec<_> = skipped.iter().map(|event| (event["uid"].as_str(), event["reason"].as_str())).collect();
    reasons.sort_unstable();
    let expected = [
        (Some("backwards@example.com"), Some("it ends before it starts")),
        (Some("startless@example.com"), Some("it has no DTSTART")),
    ];
    assert_eq!(reasons, expected);
    assert_eq!(it.titles().await, ["Good", "Better"]);
}

#[apply(on_both)]
#[tokio::test]
async fn another_address_is_synced_at_once(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    let path = it.subscribed("/a.ics", Serving::calendar(vcalendar(&meetings("a", 10))).tagged("\"same\"")).await;
    it.feeds.serve("/b.ics", Serving::calendar(vcalendar(&meetings("b", 2))).tagged("\"same\""));
    let moved = it.api.patch(&path).json(json!({ "url": it.feeds.url("/b.ics") })).await.expect(200);
    assert_eq!((&moved["url"], &moved["status"]), (&json!(it.feeds.url("/b.ics")), &json!("active")));
    // The rule does not apply to a new address.
    let read = it.until(&path, "synced", |read| read["last_sync"]["created"] == 2).await;
    assert_eq!(counts(&read.json), [2, 0, 10, 0]);
    assert_eq!(it.titles().await, ["b1", "b2"]);
    let requests = it.feeds.requests("/b.ics");
    assert_eq!((requests.len(), requests[0].header("if-none-match")), (1, ""), "a tag belongs to its address");

    // An address that does not answer changes nothing, and the subscription can still be changed or deleted.
    it.feeds.serve("/c.ics", Serving::Hang);
    it.api.patch(&path).json(json!({ "url": it.feeds.url("/c.ics") })).await.expect(200);
    it.feeds.wait_for("/c.ics", 1).await;
    assert_eq!(it.titles().await, ["b1", "b2"]);
    it.api.patch(&path).json(json!({ "url": it.feeds.url("/a.ics") })).await.expect(200);
    it.until(&path, "synced", |read| read["last_sync"]["created"] == 10).await;
    assert_eq!(it.titles().await.len(), 10);
    it.feeds.serve("/d.ics", Serving::Hang);
    it.api.patch(&path).json(json!({ "url": it.feeds.url("/d.ics") })).await.expect(200);
    it.feeds.wait_for("/d.ics", 1).await;
    it.api.delete(&path).await.expect(204);
    it.api.get(&path).await.refused(404, "not_found");
    assert_eq!(it.titles().await.len(), 10);
}

/// The clock is moved so that active subscriptions are due. One of them shows that a sync ran.
#[apply(on_both)]
#[tokio::test]
async fn a_paused_subscription_is_not_synced(#[case] database: Database) {
    let mut it = Subscriber::new(database).await;
    let serving = || Serving::calendar(vcalendar(&meetings("a", 1)));
    let path = it.subscribed("/paused.ics", serving()).await;
    let witness = it.subscribed("/witness.ics", serving()).await;
    let second = calendar_of(&it.api, &it.agent).await;
    let body = json!({ "calendar_id": second, "url": it.feeds.url("/gone.ics") });
    it.api.post(it.all()).json(body).await.expect(201);
    it.feeds.wait_for("/gone.ics", 1).await;
    it.api.delete(format!("/v1/calendars/{second}")).await.expect(204);
    let paused = it.api.patch(&path).json(json!({ "status": "paused" })).await.expect(200);
    assert_eq!(paused["status"], "paused");
    it.server.restart_at_offset(20 * 60).await;
    it.api = it.api.moved_to(it.server.base_url());
    it.feeds.wait_for("/witness.ics", 2).await;
    it.until(&witness, "synced", |read| read["last_sync"]["untouched"] == 1).await;
    assert_eq!((it.feeds.count("/paused.ics"), it.feeds.count("/gone.ics")), (1, 1));
    assert_eq!(it.titles().await.len(), 2, "imported events stay");

    // A requested sync runs once. The subscription stays paused.
    it.feeds.serve("/paused.ics", Serving::calendar(vcalendar(&meetings("b", 1))));
    let read = it.synced(&path).await;
    assert_eq!((&read["status"], it.feeds.count("/paused.ics")), (&json!("paused"), 2));
    assert_eq!(it.titles().await, ["a1", "b1"]);
    // A resumed subscription is synced at once.
    let last = read["last_synced_at"].clone();
    let resumed = it.api.patch(&path).json(json!({ "status": "active" })).await.expect(200);
    assert_eq!(resumed["status"], "active");
    it.until(&path, "synced", |read| read["last_synced_at"] != last).await;
    assert_eq!(it.feeds.count("/paused.ics"), 3);
}

/// Two feeds may contain the same events. Each has its own copies.
#[apply(on_both)]
#[tokio::test]
async fn feeds_do_not_share_events(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    let first = it.subscribed("/a.ics", Serving::calendar(vcalendar(&meetings("a", 2)))).await;
    let second = it.subscribed("/b.ics", Serving::calendar(vcalendar(&meetings("a", 2)))).await;
    assert_eq!(it.titles().await, ["a1", "a1", "a2", "a2"]);
    let changed = [meeting("a1@example.com", "changed", 1, 9)];
    it.now_serves(&first, "/a.ics", Serving::calendar(vcalendar(&changed))).await;
    assert_eq!(it.titles().await, ["changed", "a1", "a2"]);
    it.api.delete(&first).await.expect(204);
    it.synced(&second).await;
    assert_eq!(it.titles().await, ["changed", "a1", "a2"]);
}

/// A sync is committed in chunks. The next sync completes an interrupted one without duplicates.
#[apply(on_both)]
#[tokio::test]
async fn an_interrupted_sync_is_completed(#[case] database: Database) {
    const EVENTS: usize = 3_000;
    let mut it = Subscriber::new(database).await;
    let event =
        |number: usize, title: &str| meeting(&format!("{number}@example.com"), title, number % 28 + 1, number % 24);
    let many = |title: &str| (0..EVENTS).map(|number| event(number, title)).collect::<Vec<_>>();
    it.feeds.serve("/a.ics", Serving::calendar(vcalendar(&many("first"))));
    let made = it.subscribe_to(&it.feeds.url("/a.ics")).await.expect(201);
    let path = format!("/v1/ical-subscriptions/{}", made.id());
    let all = format!("/v1/calendars/{}/events?limit=1", it.calendar);
    it.until(&all, "begun", |list| list["total"] != 0).await;
    it.server.kill().await;
    // The clock is late enough that the dead process's lease has expired.
    it.server.start_again(&[("KALENDS_CLOCK_OFFSET_SECONDS", "300")]).await;
    it.api = it.api.moved_to(it.server.base_url());
    let read = it.until(&path, "synced", |read| read["last_synced_at"].is_string()).await;
    let [created, updated, deleted, untouched] = counts(&read.json);
    assert_eq!((created + untouched, updated, deleted), (3_000, 0, 0));
    assert_eq!(it.api.get(&all).await.expect(200)["total"], EVENTS);

    // All events change, and the last third is gone.
    let read = it.now_serves(&path, "/a.ics", Serving::calendar(vcalendar(&many("second")[..2_000]))).await;
    assert_eq!(counts(&read.json), [0, 2_000, 1_000, 0]);
    assert_eq!(it.api.get(&all).await.expect(200)["total"], 2_000);
    assert!(it.titles().await.iter().all(|title| title == "second"));
}

/// With four feed servers, because at most two feeds of one server are fetched at a time.
#[tokio::test]
async fn two_nodes_share_the_work() {
    let mut feeds = Vec::new();
    for _ in 0..4 {
        feeds.push(FeedServer::start().await);
    }
    let allowed = feeds.iter().map(FeedServer::address).collect::<Vec<_>>().join(",");
    let free = || std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let measured = [free(), free()];
    let variables = [("KALENDS_EGRESS_ALLOW", &*allowed), ("KALENDS_METRICS_LISTEN", &*measured[0])];
    let server = Server::start_with(Postgres, &variables).await;
    let node = server.another_node_with(&[], &[("KALENDS_METRICS_LISTEN", &*measured[1])]).await;
    let org = server.org("pro").await;
    let nodes = [server.api(&org), node.api(&org)];
    let owner = agent(&nodes[0]).await;
    let calendar = calendar_of(&nodes[0], &owner).await;
    let mut subscriptions = Vec::new();
    for number in 0..8 {
        let at = &feeds[number % feeds.len()];
        let path = format!("/{number}.ics");
        at.serve(&path, Serving::calendar(vcalendar(&meetings(&format!("{number}-"), 3))));
        let body = json!({ "calendar_id": calendar, "url": at.url(&path) });
        let all = format!("/v1/agents/{owner}/ical-subscriptions");
        let made = nodes[number % 2].post(all).json(body).await.expect(201);
        subscriptions.push((at, path, format!("/v1/ical-subscriptions/{}", made.id())));
    }
    let synced = async |path: &str, after: &Value| {
        let began = tokio::time::Instant::now();
        loop {
            let synced_at = nodes[0].get(path).await.expect(200)["last_synced_at"].clone();
            if synced_at != *after {
                return synced_at;
            }
            assert!(began.elapsed().as_secs() < 60, "{path} is not synced after {after}");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    let mut last = vec![Value::Null; subscriptions.len()];
    for round in 1..=2 {
        if round > 1 {
            for (number, (_, _, path)) in subscriptions.iter().enumerate() {
                nodes[number % 2].post(format!("{path}/sync")).await.expect(202);
            }
        }
        for ((at, path, subscription), last) in subscriptions.iter().zip(&mut last) {
            *last = synced(subscription, last).await;
            assert_eq!(at.count(path), round, "{path} is fetched by one node");
        }
    }
    let list = nodes[1].get(format!("/v1/calendars/{calendar}/events")).await.expect(200);
    assert_eq!(list["total"], 24);
    // A sync is measured after it is stored.
    let began = tokio::time::Instant::now();
    loop {
        let mut ended = 0;
        for address in &measured {
            let metrics = reqwest::get(format!("http://{address}/metrics")).await.unwrap().text().await.unwrap();
            let of_syncs = metrics.lines().filter(|line| line.starts_with("kalends_ical_syncs_total{"));
            ended += of_syncs.map(|line| line.rsplit(' ').next().unwrap().parse::<usize>().unwrap()).sum::<usize>();
        }
        assert!(ended <= 2 * subscriptions.len(), "{ended}");
        if ended == 2 * subscriptions.len() {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{ended}");
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

/// Imported events are not announced and not counted, neither when they are created, changed and deleted, nor when
/// they begin and end. The organization's own event shows that announcements work.
#[apply(on_both)]
#[tokio::test]
async fn imported_events_are_not_announced_or_counted(#[case] database: Database) {
    let mut it = Subscriber::new(database).await;
    let receiver = kalends_e2e::Receiver::start().await;
    let allowed = format!("{},{}", it.feeds.address(), receiver.address());
    assert!(it.server.stop().await.success());
    it.server.start_again(&[("KALENDS_EGRESS_ALLOW", &allowed)]).await;
    it.api = it.api.moved_to(it.server.base_url());
    crate::webhooks::hook(&it.api, &receiver, "/", &["*"]).await;

    let began = kalends_e2e::at(&now(&it.api).await);
    let time = |minutes: i64| iso(began + chrono::TimeDelta::minutes(minutes));
    let basic = |minutes: i64| time(minutes).replace(['-', ':'], "");
    let soon = vevent(
        "soon@example.com",
        &[
            "SUMMARY:Soon",
            &format!("DTSTART:{}", basic(30)),
            "DURATION:PT5M",
            "BEGIN:VALARM",
            "ACTION:DISPLAY",
            "TRIGGER:-PT10M",
            "DESCRIPTION:Soon",
            "END:VALARM",
        ],
    );
    let weekly =
        vevent("weekly@example.com", &["DTSTART:20310303T090000Z", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=9"]);
    let path = it.subscribed("/a.ics", Serving::calendar(vcalendar(&[soon.clone(), weekly]))).await;
    let gone = meeting("weekly@example.com", "Once", 3, 9);
    it.now_serves(&path, "/a.ics", Serving::calendar(vcalendar(&[soon.clone(), gone]))).await;
    it.now_serves(&path, "/a.ics", Serving::calendar(vcalendar(&[soon]))).await;
    assert_eq!(it.titles().await, ["Soon"]);
    let mine = json!({ "title": "Mine", "start_time": time(32), "end_time": time(36), "reminders": [10] });
    it.api.post(format!("/v1/calendars/{}/events", it.calendar)).json(mine).await.expect(201);
    receiver.wait_for_type("/", "event.created").await;
    it.server.restart_at_offset(40 * 60).await;
    receiver.wait_for("/", 4).await;
    let messages = receiver.received("/");
    for received in &messages {
        assert_eq!(received.json()["title"], "Mine", "{}", received.event_type());
    }
    let mut types: Vec<_> = messages.iter().map(|received| received.event_type()).collect();
    types.sort_unstable();
    assert_eq!(types, ["event.created", "event.ended", "event.reminder", "event.started"]);

    let usage = it.api.moved_to(it.server.base_url()).get("/v1/usage").await.expect(200);
    assert_eq!((&usage["events"]["used"], &usage["recurring_events"]["used"]), (&json!(1), &json!(0)));
    assert_eq!(usage["webhook_deliveries"]["used"], 4);
}
