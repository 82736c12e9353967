//! Subscriptions to iCalendar feeds: who may create them, their fields, and what is refused.

use crate::on_both;
use kalends_e2e::{
    Database::{self, Sqlite},
    FeedServer, Server, Serving,
};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    console::owner,
    fixtures::{agent, calendar_of, has_exactly, is_id, is_time, shared_calendar},
    stored::tables,
    subscriber::{NOWHERE, Subscriber, meeting, meetings, vcalendar, vevent},
};

const FIELDS: [&str; 11] = [
    "id",
    "agent_id",
    "calendar_id",
    "url",
    "label",
    "status",
    "last_synced_at",
    "last_error",
    "last_sync",
    "created_at",
    "updated_at",
];

#[apply(on_both)]
#[tokio::test]
async fn a_subscribed_feed_is_imported(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    let lines = [
        "SUMMARY:Board\\, then lunch",
        "DESCRIPTION:Bring\\nnotes",
        "DTSTART:20310303T090000Z",
        "DTEND:20310303T103000Z",
    ];
    let feed = vcalendar(&[vevent("a@example.com", &lines), meeting("b@example.com", "Second", 4, 9)]);
    it.feeds.serve("/work.ics?token=very-secret", Serving::calendar(feed));
    let url = it.feeds.url("/work.ics?token=very-secret");
    let body = json!({ "calendar_id": it.calendar, "url": url, "label": "Work" });
    let made = it.api.post(it.all()).json(body).await.expect(201);
    has_exactly(&made.json, &FIELDS);
    is_id(&made["id"], "isub_");
    is_time(&made["created_at"]);
    assert_eq!(made["updated_at"], made["created_at"]);
    assert_eq!((&made["agent_id"], &made["calendar_id"]), (&json!(it.agent), &json!(it.calendar)));
    assert_eq!((&made["url"], &made["label"], &made["status"]), (&json!(url), &json!("Work"), &json!("active")));
    for field in ["last_synced_at", "last_error", "last_sync"] {
        assert_eq!(made[field], Value::Null, "{field}");
    }

    let path = format!("/v1/ical-subscriptions/{}", made.id());
    let read = it.until(&path, "synced", |read| read["last_synced_at"].is_string()).await;
    has_exactly(&read.json, &FIELDS);
    is_time(&read["last_synced_at"]);
    for field in ["id", "agent_id", "calendar_id", "url", "label", "created_at", "updated_at"] {
        assert_eq!(read[field], made[field], "{field}");
    }
    assert_eq!((&read["status"], &read["last_error"]), (&json!("active"), &Value::Null));
    let nothing_wrong = json!({
        "created": 2, "updated": 0, "deleted": 0, "untouched": 0, "skipped": 0, "withheld": 0, "skipped_events": [],
        "warnings": []
    });
    assert_eq!(read["last_sync"], nothing_wrong);
    let [request] = &it.feeds.requests("/work.ics?token=very-secret")[..] else { panic!("asked for once") };
    assert!(request.header("accept").contains("text/calendar") && request.header("user-agent").starts_with("Kalends/"));
    assert_eq!((request.header("if-none-match"), request.header("authorization")), ("", ""));

    let events = it.events().await;
    assert_eq!(it.titles().await, ["Board, then lunch", "Second"]);
    let event = &events[0];
    is_id(&event["id"], "evt_");
    for (field, value) in [
        ("source", json!("external_ical")),
        ("status", json!("confirmed")),
        ("description", json!("Bring\nnotes")),
        ("startTime", json!("2031-03-03T09:00:00Z")),
        ("endTime", json!("2031-03-03T10:30:00Z")),
        ("allDay", json!(false)),
        ("calendarId", json!(it.calendar)),
        ("metadata", json!({})),
        ("recurrenceRule", Value::Null),
    ] {
        assert_eq!(event[field], value, "{field}");
    }
    let of_source = |source: &str| it.api.get(format!("/v1/agents/{}/events?source={source}", it.agent));
    assert_eq!(of_source("external_ical").await.expect(200)["total"], 2);
    assert_eq!(of_source("internal").await.expect(200)["total"], 0);

    // The address contains a secret. It is neither stored in clear nor logged.
    let clear = tables(&it.server).await.into_values().flatten().any(|row| row.contains("verysecret"));
    assert!(!clear && !it.server.log().contains("very-secret"));
}

#[apply(on_both)]
#[tokio::test]
async fn imported_events_are_read_only_and_block(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    it.subscribed("/a.ics", Serving::calendar(vcalendar(&[meeting("a@example.com", "Board", 3, 9)]))).await;
    let id = it.events().await[0]["id"].as_str().unwrap().to_owned();
    let before = it.api.get(format!("/v1/events/{id}")).await.expect(200);
    for path in [format!("/v1/events/{id}"), format!("/v1/calendars/{}/events/{id}", it.calendar)] {
        let patched = it.api.patch(&path).json(json!({ "title": "Mine" })).await;
        patched.refused(403, "forbidden").code("external_event_readonly");
        it.api.delete(&path).await.refused(403, "forbidden").code("external_event_readonly");
    }
    assert_eq!(it.api.get(format!("/v1/events/{id}")).await.expect(200).json, before.json);

    let (start, end) = ("2031-03-03T08:00:00Z", "2031-03-03T11:00:00Z");
    let taken = [("2031-03-03T09:00:00Z".to_owned(), "2031-03-03T10:00:00Z".to_owned())];
    assert_eq!(it.busy(start, end).await, taken);
    let window = [("start", start), ("end", end), ("slot_duration", "1h")];
    let of_agent = it.api.get(format!("/v1/agents/{}/availability", it.agent)).query(&window).await.expect(200);
    let starts: Vec<_> = of_agent["slots"].as_array().unwrap().iter().map(|slot| slot["start"].clone()).collect();
    assert_eq!(starts, ["2031-03-03T08:00:00Z", "2031-03-03T10:00:00Z"]);
}

#[apply(on_both)]
#[tokio::test]
async fn subscriptions_are_listed(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    let other = agent(&it.api).await;
    let elsewhere = calendar_of(&it.api, &other).await;
    let body = json!({ "calendar_id": elsewhere, "url": NOWHERE });
    it.api.post(format!("/v1/agents/{other}/ical-subscriptions")).json(body).await.expect(201);
    let mut paths = Vec::new();
    for path in ["/a.ics", "/b.ics", "/c.ics"] {
        paths.push(it.subscribed(path, Serving::calendar(vcalendar::<&str>(&[]))).await);
    }
    it.feeds.serve("/b.ics", Serving::Status(503));
    it.api.post(format!("{}/sync", paths[1])).await.expect(202);
    it.until(&paths[1], "in error", |read| read["status"] == "error").await;
    it.api.patch(&paths[2]).json(json!({ "status": "paused" })).await.expect(200);

    let list = async |query: &str| it.api.get(format!("{}{query}", it.all())).await.expect(200);
    let all = list("").await;
    has_exactly(&all.json, &["data", "total", "limit", "offset"]);
    assert_eq!((&all["total"], &all["limit"], &all["offset"]), (&json!(3), &json!(50), &json!(0)));
    let mut made = Vec::new();
    for (entry, path) in all.data().iter().zip(&paths) {
        assert_eq!(entry, &it.api.get(path).await.expect(200).json, "the same as a read, oldest first");
        made.push(entry["id"].as_str().unwrap().to_owned());
    }
    for (query, expected, total) in [
        ("?status=active", &made[..1], 1),
        ("?status=error", &made[1..2], 1),
        ("?status=paused", &made[2..], 1),
        ("?limit=1&offset=1", &made[1..2], 3),
        ("?limit=200&offset=3", &[], 3),
        ("?status=error&offset=1", &[], 1),
    ] {
        let page = list(query).await;
        assert_eq!((page.column("id").as_slice(), &page["total"]), (expected, &json!(total)), "{query}");
    }
    for (query, param) in [("status=asleep", "status"), ("limit=201", "limit"), ("offset=-1", "offset")] {
        it.api.get(format!("{}?{query}", it.all())).await.refused(400, "validation_error").param(param);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn subscriptions_are_changed_and_deleted(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    let path = it.subscribed("/a.ics", Serving::calendar(vcalendar(&meetings("a", 2)))).await;
    let read = it.api.get(&path).await.expect(200);
    assert_eq!(read["label"], Value::Null);
    let named = it.api.patch(&path).json(json!({ "label": "Work" })).await.expect(200);
    has_exactly(&named.json, &FIELDS);
    assert_eq!((&named["label"], &named["url"]), (&json!("Work"), &read["url"]));
    assert_ne!(named["updated_at"], read["updated_at"]);
    let stale = it.api.patch(&path).header("if-match", read.header("etag")).json(json!({ "label": "x" }));
    stale.await.refused(412, "conflict").code("stale");
    let tag = named.header("etag").to_owned();
    // A sync does not change the subscription's version.
    it.synced(&path).await;
    let cleared = it.api.patch(&path).header("if-match", tag).json(json!({ "label": null })).await.expect(200);
    assert_eq!(cleared["label"], Value::Null);

    let events = it.events().await;
    it.api.delete(&path).await.expect(204);
    it.api.get(&path).await.refused(404, "not_found").code("ical_subscription_not_found");
    it.api.patch(&path).json(json!({ "label": "x" })).await.refused(404, "not_found");
    it.api.post(format!("{path}/sync")).await.refused(404, "not_found");
    it.api.delete(&path).await.refused(404, "not_found");
    assert_eq!(it.api.get(it.all()).await.expect(200)["total"], 0);
    // The events stay unchanged and read-only.
    assert_eq!(it.events().await, events);
    let event = format!("/v1/events/{}", events[0]["id"].as_str().unwrap());
    it.api.delete(event).await.refused(403, "forbidden").code("external_event_readonly");
}

#[rstest]
#[case::plain_http(json!({ "url": "http://example.com/a.ics" }), 422, "url")]
#[case::not_a_url(json!({ "url": "a.ics" }), 422, "url")]
#[case::empty(json!({ "url": "" }), 422, "url")]
#[case::another_scheme(json!({ "url": "webcal://example.com/a.ics" }), 422, "url")]
#[case::a_file(json!({ "url": "file:///etc/passwd" }), 422, "url")]
#[case::with_credentials(json!({ "url": "https://ada:word@example.com/a.ics" }), 422, "url")]
#[case::local(json!({ "url": "https://localhost/a.ics" }), 422, "url")]
#[case::private(json!({ "url": "https://10.0.0.1/a.ics" }), 422, "url")]
#[case::cloud_metadata(json!({ "url": "https://169.254.169.254/latest/meta-data" }), 422, "url")]
#[case::private_as_mapped_ipv6(json!({ "url": "https://[::ffff:127.0.0.1]/a.ics" }), 422, "url")]
#[case::too_long(json!({ "url": format!("https://example.com/{}", "x".repeat(2_048)) }), 422, "url")]
#[case::empty_label(json!({ "label": "" }), 400, "label")]
#[case::long_label(json!({ "label": "é".repeat(256) }), 400, "label")]
#[case::unknown_field(json!({ "name": "x" }), 400, "name")]
#[tokio::test]
async fn bad_urls_and_labels_are_refused(#[case] wrong: Value, #[case] status: u16, #[case] param: &str) {
    let (_server, api) = Server::with_org(Sqlite, "pro").await;
    let agent = agent(&api).await;
    let calendar = calendar_of(&api, &agent).await;
    let all = format!("/v1/agents/{agent}/ical-subscriptions");
    let right = json!({ "calendar_id": calendar, "url": NOWHERE });
    let with = |base: &Value| {
        let mut body = base.as_object().unwrap().clone();
        body.extend(wrong.as_object().unwrap().clone());
        Value::Object(body)
    };
    let made = api.post(&all).json(right.clone()).await.expect(201);
    api.post(&all).json(with(&right)).await.refused(status, "validation_error").param(param);
    let path = format!("/v1/ical-subscriptions/{}", made.id());
    api.patch(&path).json(with(&json!({}))).await.refused(status, "validation_error").param(param);
    let listed = api.get(&all).await.expect(200);
    assert_eq!((&listed["total"], &listed.data()[0]["url"]), (&json!(1), &json!(NOWHERE)));
}

#[apply(on_both)]
#[tokio::test]
async fn the_bounds_of_bodies_are_checked(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let agent = agent(&api).await;
    let calendar = calendar_of(&api, &agent).await;
    let all = format!("/v1/agents/{agent}/ical-subscriptions");
    for (body, param) in [(json!({ "url": NOWHERE }), "calendar_id"), (json!({ "calendar_id": calendar }), "url")] {
        api.post(&all).json(body).await.refused(400, "validation_error").param(param);
    }
    let with_label = async |length: usize| {
        let body =
            json!({ "calendar_id": calendar, "url": format!("{NOWHERE}?{length}"), "label": "é".repeat(length) });
        api.post(&all).json(body).await.expect(201)
    };
    assert_eq!(with_label(1).await["label"], "é");
    let made = with_label(255).await;
    let path = format!("/v1/ical-subscriptions/{}", made.id());
    for (body, param) in [
        (json!({ "url": null }), "url"),
        (json!({ "status": null }), "status"),
        (json!({ "status": "error" }), "status"),
        (json!({ "status": "asleep" }), "status"),
        (json!({ "calendar_id": calendar }), "calendar_id"),
    ] {
        api.patch(&path).json(body).await.refused(400, "validation_error").param(param);
    }
    api.patch(&path).json(json!({})).await.refused(400, "validation_error");
    api.post(format!("{path}/sync")).json(json!({ "force": true })).await.refused(400, "validation_error");
    let after = api.get(&path).await.expect(200);
    assert_eq!((&after["label"], &after["updated_at"]), (&made["label"], &made["updated_at"]));
}

#[apply(on_both)]
#[tokio::test]
async fn unknown_agents_calendars_and_subscriptions_are_not_found(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let stranger = server.api(&server.org("pro").await);
    let (ours, other, theirs) = (agent(&api).await, agent(&api).await, agent(&stranger).await);
    let calendar = calendar_of(&api, &ours).await;
    let nobody = "00000000000000000000000000";
    let make = async |agent: &str, calendar: &str| {
        let body = json!({ "calendar_id": calendar, "url": NOWHERE });
        api.post(format!("/v1/agents/{agent}/ical-subscriptions")).json(body).await
    };
    for agent in [&theirs, "agt_x", &format!("agt_{nobody}")] {
        make(agent, &calendar).await.refused(404, "not_found").code("agent_not_found");
        let list = api.get(format!("/v1/agents/{agent}/ical-subscriptions")).await;
        list.refused(404, "not_found").code("agent_not_found");
    }
    let others = calendar_of(&api, &other).await;
    let shared = shared_calendar(&api, "UTC").await;
    let foreign = calendar_of(&stranger, &theirs).await;
    let gone = calendar_of(&api, &ours).await;
    api.delete(format!("/v1/calendars/{gone}")).await.expect(204);
    for calendar in [&others, &shared, &foreign, &gone, "cal_x", &format!("cal_{nobody}")] {
        make(&ours, calendar).await.refused(404, "not_found").code("calendar_not_found");
    }
    let made = make(&ours, &calendar).await.expect(201).id();
    for (caller, id) in [(&api, format!("isub_{nobody}")), (&api, "isub_x".to_owned()), (&stranger, made)] {
        let path = format!("/v1/ical-subscriptions/{id}");
        let answers = [
            caller.get(&path).await,
            caller.patch(&path).json(json!({ "label": "x" })).await,
            caller.post(format!("{path}/sync")).await,
            caller.delete(&path).await,
        ];
        for answer in answers {
            answer.refused(404, "not_found").code("ical_subscription_not_found");
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn the_plan_limits_subscriptions(#[case] database: Database) {
    let it = Subscriber::with_plan(database, "free").await;
    let second = calendar_of(&it.api, &it.agent).await;
    // Each subscription has its own address.
    let made = std::cell::Cell::new(0);
    let make = async |calendar: &str| {
        made.set(made.get() + 1);
        let body = json!({ "calendar_id": calendar, "url": format!("{NOWHERE}?{}", made.get()) });
        it.api.post(it.all()).json(body).await
    };
    let first = make(&it.calendar).await.expect(201).id();
    for _ in 0..3 {
        make(&it.calendar).await.expect(201);
    }
    let on_second = make(&second).await.expect(201).id();
    let full = make(&it.calendar).await.refused(429, "quota_exceeded").mentions("ical_subscriptions");
    assert!(full.header("retry-after").parse::<i64>().is_ok_and(|after| (1..=31 * 86_400).contains(&after)));
    let used = async || it.api.get("/v1/usage").await.expect(200)["ical_subscriptions"].clone();
    assert_eq!(used().await, json!({ "used": 5, "limit": 5 }));
    // Paused subscriptions count. Deleted ones and those of a deleted calendar do not.
    let path = format!("/v1/ical-subscriptions/{first}");
    it.api.patch(&path).json(json!({ "status": "paused" })).await.expect(200);
    make(&it.calendar).await.refused(429, "quota_exceeded");
    it.api.delete(&path).await.expect(204);
    it.api.delete(format!("/v1/calendars/{second}")).await.expect(204);
    it.api.get(format!("/v1/ical-subscriptions/{on_second}")).await.refused(404, "not_found");
    assert_eq!(it.api.get(it.all()).await.expect(200)["total"], 3);
    assert_eq!(used().await, json!({ "used": 3, "limit": 5 }));
    for _ in 0..2 {
        make(&it.calendar).await.expect(201);
    }
    make(&it.calendar).await.refused(429, "quota_exceeded");
    // Decommissioning an agent ends its subscriptions.
    it.api.delete(format!("/v1/agents/{}", it.agent)).await.expect(204);
    assert_eq!(used().await, json!({ "used": 0, "limit": 5 }));
}

#[apply(on_both)]
#[tokio::test]
async fn an_agent_s_key_reaches_only_its_own_subscriptions(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    let other = agent(&it.api).await;
    let key = it.api.post("/v1/keys").json(json!({ "agent_id": other })).await.expect(201);
    let scoped = it.server.client(key["key"].as_str().unwrap());
    let theirs = calendar_of(&it.api, &other).await;
    let path = format!("/v1/ical-subscriptions/{}", it.subscribe_to(NOWHERE).await.expect(201).id());

    let all = format!("/v1/agents/{other}/ical-subscriptions");
    let made = scoped.post(&all).json(json!({ "calendar_id": theirs, "url": NOWHERE })).await.expect(201);
    let own = format!("/v1/ical-subscriptions/{}", made.id());
    assert_eq!(scoped.get(&all).await.expect(200).column("id"), [made.id()]);
    scoped.get(&own).await.expect(200);
    scoped.patch(&own).json(json!({ "label": "Mine" })).await.expect(200);
    scoped.post(format!("{own}/sync")).await.expect(202);
    scoped.delete(&own).await.expect(204);

    let body = json!({ "calendar_id": it.calendar, "url": NOWHERE });
    scoped.post(it.all()).json(body.clone()).await.refused(403, "forbidden");
    scoped.get(it.all()).await.refused(403, "forbidden");
    scoped.post(&all).json(body).await.refused(403, "forbidden");
    scoped.get(&path).await.refused(403, "forbidden");
    scoped.patch(&path).json(json!({ "label": "Mine" })).await.refused(403, "forbidden");
    scoped.post(format!("{path}/sync")).await.refused(403, "forbidden");
    scoped.delete(&path).await.refused(403, "forbidden");
    assert_eq!(it.api.get(&path).await.expect(200)["label"], Value::Null);
}

#[apply(on_both)]
#[tokio::test]
async fn an_export_has_subscriptions_with_their_addresses(#[case] database: Database) {
    let feeds = FeedServer::start().await;
    let server = Server::start_with(database, &[("KALENDS_EGRESS_ALLOW", feeds.address())]).await;
    let org = server.org_with("pro", &["--email", "ada@example.com"]).await;
    let session = owner(&server, "ada@example.com").await;
    let api = server.api(&org);
    let agent = agent(&api).await;
    let calendar = calendar_of(&api, &agent).await;
    let it = Subscriber { server, api, feeds, agent, calendar };
    let path = it.subscribed("/a.ics?secret=1", Serving::calendar(vcalendar(&meetings("a", 1)))).await;
    let read = it.api.get(&path).await.expect(200);
    assert_eq!(read["url"], it.feeds.url("/a.ics?secret=1"));
    let export = session.get("/v1/auth/export").await.expect(200);
    assert_eq!(export["ical_subscriptions"], json!([read.json]));
    let titles: Vec<_> = export["events"].as_array().unwrap().iter().map(|event| &event["source"]).collect();
    assert_eq!(titles, ["external_ical"]);
}

/// The range of a search for events of the feeds.
const MARCH: &str = "start_after=2031-03-01T00:00:00Z&start_before=2031-04-01T00:00:00Z";

/// The number of results of a search for a word of the feed.
async fn found(it: &Subscriber) -> usize {
    it.api.get(format!("/v1/events/search?q=zebra&{MARCH}")).await.expect(200).data().len()
}

/// Asserts that no answer about the calendar contains a word of its feed.
async fn shows_no_zebra(it: &Subscriber, subscription: &str) {
    let events = it.events().await;
    assert!(!events.is_empty());
    let mut paths = vec![
        subscription.to_owned(),
        it.all(),
        format!("/v1/calendars/{}/events?limit=200", it.calendar),
        format!("/v1/calendars/{}/changes?limit=200", it.calendar),
        format!("/v1/agents/{}/events", it.agent),
        format!(
            "/v1/calendars/{}/availability?start=2031-03-03T00:00:00Z&end=2031-03-06T00:00:00Z&slot_duration=1h",
            it.calendar
        ),
        format!("/v1/events/search?q=busy&{MARCH}"),
    ];
    paths.extend(events.iter().map(|event| format!("/v1/events/{}", event["id"].as_str().unwrap())));
    for path in paths {
        let answer = it.api.get(&path).await.expect(200);
        assert!(!answer.json.to_string().to_lowercase().contains("zebra"), "{}", answer.describe());
    }
    assert_eq!(found(it).await, 0);
}

#[apply(on_both)]
#[tokio::test]
async fn a_busy_only_subscription_shows_no_word_of_its_feed(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    let planted = [
        vevent(
            "zebra-once",
            &[
                "SUMMARY:Zebra title",
                "DESCRIPTION:Zebra notes",
                "LOCATION:Zebra place",
                "CONFERENCE;VALUE=URI:https://meet.example.com/zebra",
                "DTSTART;TZID=Zebra/Zone:20310303T090000",
                "DURATION:PT1H",
            ],
        ),
        vevent(
            "zebra-twice",
            &["SUMMARY:Zebra series", "DTSTART:20310304T090000Z", "DURATION:PT1H", "RRULE:FREQ=DAILY;COUNT=2"],
        ),
        vevent("zebra-broken", &["SUMMARY:Zebra broken"]),
    ];
    it.feeds.serve("/a.ics", Serving::calendar(vcalendar(&planted)));
    let body = json!({ "calendar_id": it.calendar, "url": it.feeds.url("/a.ics"), "busy_only": true });
    let made = it.api.post(it.all()).json(body).await.expect(201);
    has_exactly(&made.json, &[&FIELDS[..], &["busy_only"]].concat());
    assert_eq!(made["busy_only"], true);
    let path = format!("/v1/ical-subscriptions/{}", made.id());
    let again = async || it.until(&path, "synced", |read| read["last_sync"].is_object()).await;
    let read = again().await;
    assert_eq!((&read["last_sync"]["created"], &read["last_sync"]["skipped"]), (&json!(2), &json!(1)));
    assert_eq!(it.titles().await, ["Busy", "Busy"]);
    let busy = it.busy("2031-03-03T00:00:00Z", "2031-03-06T00:00:00Z").await;
    assert_eq!(busy.len(), 3);
    shows_no_zebra(&it, &path).await;

    // Switched off, the texts appear at once. Switched on, they disappear at once. The feed does not change.
    let open = it.api.patch(&path).json(json!({ "busy_only": false })).await.expect(200);
    has_exactly(&open.json, &FIELDS);
    again().await;
    assert_eq!(it.titles().await, ["Zebra title", "Zebra series"]);
    assert_ne!(found(&it).await, 0);
    it.api.patch(&path).json(json!({ "busy_only": true })).await.expect(200);
    assert_eq!(again().await["last_sync"]["updated"], 2);
    assert_eq!(it.titles().await, ["Busy", "Busy"]);
    assert_eq!(it.busy("2031-03-03T00:00:00Z", "2031-03-06T00:00:00Z").await, busy);
    shows_no_zebra(&it, &path).await;
    for wrong in [json!(null), json!("yes")] {
        it.api
            .patch(&path)
            .json(json!({ "busy_only": wrong }))
            .await
            .refused(400, "validation_error")
            .param("busy_only");
    }
}
