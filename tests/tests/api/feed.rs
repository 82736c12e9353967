//! Feeds: a calendar as iCalendar text, for readers with its address, and as a file for callers with a key.

use crate::on_both;
use kalends_e2e::{
    Answer, Client,
    Database::{self, Postgres},
    Server, shifted,
};
use reqwest::Method;
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::fixtures::{agent, agent_with_calendar, calendar_of, event, now, shared_calendar};

/// The path of a calendar's feed.
pub(crate) async fn address(api: &Client, calendar: &str) -> String {
    let calendar_now = api.get(format!("/v1/calendars/{calendar}")).await.expect(200);
    let url = calendar_now["ical_url"].as_str().unwrap().to_owned();
    url[url.find("/ical/").unwrap()..].to_owned()
}

/// Reads a feed and checks its format.
pub(crate) async fn feed(server: &Server, path: &str) -> Answer {
    let answer = server.anonymous().get(path).await.expect(200);
    assert_eq!(answer.header("content-type"), "text/calendar; charset=utf-8");
    assert_eq!(answer.header("cache-control"), "public, max-age=300");
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    assert_eq!(answer.header("content-length"), answer.bytes.len().to_string());
    let tag = answer.header("etag");
    assert!(tag.starts_with('"') && tag.ends_with('"'), "a strong tag: {tag}");
    let text = answer.text();
    assert!(text.starts_with("BEGIN:VCALENDAR\r\n") && text.ends_with("\r\nEND:VCALENDAR\r\n"), "{text}");
    assert!(text.split_terminator("\r\n").all(|line| line.len() <= 75 && !line.contains(['\r', '\n'])), "{text}");
    answer
}

/// The lines of a feed, unfolded.
fn lines(answer: &Answer) -> Vec<String> {
    answer.text().replace("\r\n ", "").split_terminator("\r\n").map(str::to_owned).collect()
}

#[track_caller]
fn has(answer: &Answer, expected: &[&str]) {
    let lines = lines(answer);
    for line in expected {
        assert!(lines.iter().any(|found| found == line), "{line} is not in\n{}", answer.text());
    }
}

fn count(answer: &Answer, line: &str) -> usize {
    lines(answer).iter().filter(|found| *found == line).count()
}

async fn create(api: &Client, calendar: &str, body: Value) -> String {
    api.post(format!("/v1/calendars/{calendar}/events")).json(body).await.expect(201).id()
}

#[apply(on_both)]
#[tokio::test]
async fn a_feed_shows_confirmed_and_tentative_events(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let owner = agent(&api).await;
    let body = json!({ "name": "Ops; on call", "timezone": "Europe/Berlin", "default_reminders": [30] });
    let calendar = api.post(format!("/v1/agents/{owner}/calendars")).json(body).await.expect(201).id();
    let path = address(&api, &calendar).await;
    let empty = feed(&server, &path).await;
    assert_eq!(count(&empty, "BEGIN:VEVENT"), 0);
    has(&empty, &["X-WR-CALNAME:Ops\\; on call", "REFRESH-INTERVAL;VALUE=DURATION:PT5M"]);
    assert_eq!(count(&empty, "X-WR-TIMEZONE"), 0, "some readers would move series in UTC into that zone");

    let plain = json!({
        "title": "Plan, then do", "description": format!("One\r\nTwo \u{7}{}", "日".repeat(100)),
        "start_time": "2026-03-02T09:00:00Z", "end_time": "2026-03-02T10:00:00Z", "reminders": [15, 60],
        "location": "Room 2, floor 3\nBerlin", "conference_url": "https://meet.example.com/a?b=1,2;c=3",
    });
    let plain = create(&api, &calendar, plain).await;
    let maybe = json!({
        "title": "Maybe", "start_time": "2026-03-03T09:00:00Z", "end_time": "2026-03-03T10:00:00Z",
        "status": "tentative",
    });
    create(&api, &calendar, maybe).await;
    let off = json!({
        "title": "Off", "start_time": "2026-03-28", "end_time": "2026-03-30", "all_day": true, "reminders": [],
    });
    create(&api, &calendar, off).await;
    // Cancelled, held and deleted events are not shown.
    let gone = json!({
        "title": "Gone", "start_time": "2026-03-04T09:00:00Z", "end_time": "2026-03-04T10:00:00Z",
        "status": "cancelled",
    });
    create(&api, &calendar, gone).await;
    let expires = shifted(&now(&api).await, 10);
    let held = json!({
        "title": "Held", "start_time": "2031-03-05T09:00:00Z", "end_time": "2031-03-05T10:00:00Z",
        "hold_expires_at": expires,
    });
    create(&api, &calendar, held).await;
    let deleted = event(&api, &calendar, "2026-03-06T09:00:00Z", "2026-03-06T10:00:00Z").await;
    api.delete(format!("/v1/events/{deleted}")).await.expect(204);

    let text = feed(&server, &path).await;
    assert_eq!(count(&text, "BEGIN:VEVENT"), 3);
    let description = format!("DESCRIPTION:One\\nTwo {}", "日".repeat(100));
    has(
        &text,
        &[
            &format!("UID:{plain}@kalends"),
            "SUMMARY:Plan\\, then do",
            &description,
            "LOCATION:Room 2\\, floor 3\\nBerlin",
            "CONFERENCE;VALUE=URI:https://meet.example.com/a?b=1,2;c=3",
            "DTSTART:20260302T090000Z",
            "DTEND:20260302T100000Z",
            "STATUS:CONFIRMED",
            "STATUS:TENTATIVE",
            "TRIGGER:-PT15M",
            "TRIGGER:-PT60M",
            // The calendar's default, for the event that sets no reminders.
            "TRIGGER:-PT30M",
            "DTSTART;VALUE=DATE:20260328",
            "DTEND;VALUE=DATE:20260330",
        ],
    );
    assert_eq!(count(&text, "BEGIN:VALARM"), 3);
    for name in ["LOCATION:", "CONFERENCE;"] {
        assert_eq!(text.text().matches(name).count(), 1, "{name} is written only for the event that has one");
    }
    // The output does not depend on the time of the request.
    assert_eq!(feed(&server, &path).await.bytes, text.bytes);
}

#[apply(on_both)]
#[tokio::test]
async fn series_have_their_zone_and_exceptions(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "UTC").await;
    let body = json!({
        "title": "Standup", "start_time": "2026-03-23T08:00:00Z", "end_time": "2026-03-23T08:30:00Z",
        "recurrence_rule": "FREQ=DAILY;COUNT=20", "recurrence_timezone": "Europe/Berlin",
        "recurrence_exdates": ["2026-03-24T08:00:00Z"],
    });
    let series = create(&api, &calendar, body).await;
    // One occurrence is moved, one is deleted, and one is cancelled by its status.
    let moved = json!({ "title": "Retro", "start_time": "2026-03-31T12:00:00Z", "end_time": "2026-03-31T13:00:00Z" });
    api.patch(format!("/v1/events/{series}_20260330T070000Z")).json(moved).await.expect(200);
    api.delete(format!("/v1/events/{series}_20260401T070000Z")).await.expect(204);
    let cancelled = json!({ "status": "cancelled" });
    api.patch(format!("/v1/events/{series}_20260402T070000Z")).json(cancelled).await.expect(200);

    let path = address(&api, &calendar).await;
    let text = feed(&server, &path).await;
    has(
        &text,
        &[
            "TZID:Europe/Berlin",
            "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU",
            "DTSTART;TZID=Europe/Berlin:20260323T090000",
            "DTEND;TZID=Europe/Berlin:20260323T093000",
            // The twentieth occurrence is at 09:00 too, which is two hours ahead of UTC by then.
            "RRULE:FREQ=DAILY;UNTIL=20260411T070000Z",
            "EXDATE;TZID=Europe/Berlin:20260324T090000",
            "EXDATE;TZID=Europe/Berlin:20260401T090000",
            "EXDATE;TZID=Europe/Berlin:20260402T090000",
            "RECURRENCE-ID;TZID=Europe/Berlin:20260330T090000",
            "DTSTART:20260331T120000Z",
        ],
    );
    assert_eq!((count(&text, "BEGIN:VEVENT"), count(&text, "BEGIN:VTIMEZONE")), (2, 1));
    assert_eq!(count(&text, &format!("UID:{series}@kalends")), 2);
}

#[apply(on_both)]
#[tokio::test]
async fn the_tag_changes_only_with_the_feed(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let calendar = shared_calendar(&api, "Europe/Berlin").await;
    let path = address(&api, &calendar).await;
    let mut first = event(&api, &calendar, "2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z").await;
    first = format!("/v1/events/{first}");
    let tagged = async || feed(&server, &path).await.header("etag").to_owned();
    let known = async |tag: &str| {
        let answer = server.anonymous().get(&path).header("if-none-match", tag).await;
        if answer.status == 304 {
            assert_eq!(answer.header("cache-control"), "public, max-age=300");
            assert!(answer.bytes.is_empty());
        }
        answer.status
    };
    let mut tag = tagged().await;
    assert_eq!(tagged().await, tag);
    assert_eq!(known(&tag).await, 304);
    assert_eq!(known(&format!("\"other\", W/{tag}")).await, 304);
    assert_eq!(known("*").await, 304);
    assert_eq!(known("\"other\"").await, 200);

    let changes: [(Method, &str, Value); 5] = [
        (Method::PATCH, &first, json!({ "title": "Retro" })),
        (Method::PATCH, &format!("/v1/calendars/{calendar}"), json!({ "name": "Renamed" })),
        (Method::PATCH, &format!("/v1/calendars/{calendar}"), json!({ "default_reminders": [1] })),
        (
            Method::POST,
            &format!("/v1/calendars/{calendar}/events"),
            crate::fixtures::event_body("More", "2026-03-05T09:00:00Z", "2026-03-05T10:00:00Z"),
        ),
        (Method::PATCH, &first, json!({ "status": "cancelled" })),
    ];
    for (method, path, body) in changes {
        assert!(api.call(method, path).json(body).await.status < 300);
        assert_eq!(known(&tag).await, 200, "{path}");
        let after = tagged().await;
        assert_ne!(after, tag, "{path}");
        tag = after;
    }
    let text = feed(&server, &path).await;
    has(&text, &["X-WR-CALNAME:Renamed", "SUMMARY:More", "TRIGGER:-PT1M"]);
    assert_eq!(count(&text, "BEGIN:VEVENT"), 1);

    // Another node has the same feed with the same tag.
    if database == Postgres {
        let another = server.another_node().await;
        assert_eq!(another.anonymous().get(&path).header("if-none-match", &tag).await.status, 304);
        assert_eq!(feed(&another, &path).await.bytes, text.bytes);
    }

    let head = server.anonymous().call(Method::HEAD, &path).await.expect(200);
    assert_eq!((head.header("etag"), head.header("content-type")), (tag.as_str(), "text/calendar; charset=utf-8"));
    assert_eq!(head.header("content-length"), text.bytes.len().to_string());
    assert!(head.bytes.is_empty());
    let smaller = server.anonymous().decoding("gzip").get(&path).await.expect(200);
    assert_eq!(smaller.bytes, text.bytes);
}

#[apply(on_both)]
#[tokio::test]
async fn only_the_current_address_opens_a_feed(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    let old = address(&api, &calendar).await;
    let tag = feed(&server, &old).await.header("etag").to_owned();
    let anybody = server.anonymous();
    let lost = async |path: &str, code: &str| {
        for method in [Method::GET, Method::HEAD] {
            let answer = anybody.call(method, path).header("if-none-match", &tag).await;
            assert_eq!((answer.status, answer.header("etag")), (404, ""), "{path}");
        }
        let answer = anybody.get(path).await.refused(404, "not_found");
        if !code.is_empty() {
            assert_eq!(answer.code(code).header("cache-control"), "");
        }
    };
    api.post(format!("/v1/calendars/{calendar}/ical-token/rotate")).await.expect(200);
    let new = address(&api, &calendar).await;
    assert_ne!(new, old);
    lost(&old, "feed_not_found").await;
    feed(&server, &new).await;
    for path in ["/ical/nothing.ics", "/ical/.ics", &new.replace(".ics", "x.ics"), &format!("/ical/{calendar}.ics")] {
        lost(path, "feed_not_found").await;
    }
    for path in [new.replace(".ics", ""), new.replace(".ics", ".ICS"), "/ical/".to_owned(), "/ical".to_owned()] {
        lost(&path, "").await;
    }
    let refused = anybody.get(&old).await;
    assert!(
        !refused.text().contains(old.trim_start_matches("/ical/").trim_end_matches(".ics")),
        "{}",
        refused.describe()
    );

    // A feed is gone with its calendar, and with the agent that owns the calendar.
    let deleted = calendar_of(&api, &owner).await;
    let path = address(&api, &deleted).await;
    feed(&server, &path).await;
    api.delete(format!("/v1/calendars/{deleted}")).await.expect(204);
    lost(&path, "feed_not_found").await;
    api.delete(format!("/v1/agents/{owner}")).await.expect(204);
    lost(&new, "feed_not_found").await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_calendar_is_exported_as_a_file(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    event(&api, &calendar, "2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z").await;
    let path = format!("/v1/calendars/{calendar}/export.ics");
    let file = api.get(&path).await.expect(200);
    assert_eq!(file.header("content-disposition"), format!("attachment; filename=\"{calendar}.ics\""));
    assert_eq!(file.header("content-type"), "text/calendar; charset=utf-8");
    assert_eq!(file.header("cache-control"), "private, no-cache");
    assert_eq!(file.bytes, feed(&server, &address(&api, &calendar).await).await.bytes);
    assert_eq!(api.get(&path).header("if-none-match", file.header("etag")).await.status, 304);

    let key = api.post("/v1/keys").json(json!({ "agent_id": owner })).await.expect(201);
    let own = server.client(key["key"].as_str().unwrap());
    assert_eq!(own.get(&path).await.expect(200).bytes, file.bytes);
    let shared = shared_calendar(&api, "UTC").await;
    own.get(format!("/v1/calendars/{shared}/export.ics")).await.refused(403, "forbidden");
    server.anonymous().get(&path).await.refused(401, "unauthorized");
    let other = server.api(&server.org("pro").await);
    other.get(&path).await.refused(404, "not_found").code("calendar_not_found");
    api.get("/v1/calendars/cal_nothing/export.ics").await.refused(404, "not_found");
}
