//! A feed's events on a calendar: series and their exceptions, zones, all-day events, and what blocks.

use crate::on_both;
use chrono::{Duration, Timelike as _};
use kalends_e2e::{Answer, Database, Serving, at, iso};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    fixtures::{event, now},
    subscriber::{Subscriber, meeting, meetings, vcalendar, vevent},
};

/// The start and title of each occurrence between two times.
async fn expanded(it: &Subscriber, from: &str, to: &str) -> Vec<(String, String)> {
    let path = format!("/v1/calendars/{}/events?expand=true&start_after={from}&start_before={to}", it.calendar);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let data = it.api.get(path).await.expect(200).data();
    data.iter().map(|event| (text(&event["startTime"]), text(&event["title"]))).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(start, title)| ((*start).to_owned(), (*title).to_owned())).collect()
}

/// A zone as Outlook describes it, under its Windows name.
const BERLIN: &str = "BEGIN:VTIMEZONE\r\nTZID:W. Europe Standard Time\r\n\
    BEGIN:STANDARD\r\nDTSTART:16010101T030000\r\nTZOFFSETFROM:+0200\r\nTZOFFSETTO:+0100\r\n\
    RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10\r\nEND:STANDARD\r\n\
    BEGIN:DAYLIGHT\r\nDTSTART:16010101T020000\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0200\r\n\
    RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3\r\nEND:DAYLIGHT\r\nEND:VTIMEZONE\r\n";

/// A weekly series at 9:00 in Berlin. Daylight saving begins on 30 March 2031.
fn weekly(zone: &str, more: &[&str]) -> String {
    let (start, end) = (format!("DTSTART;TZID={zone}:20310317T090000"), format!("DTEND;TZID={zone}:20310317T100000"));
    let lines = ["SUMMARY:Weekly", &start, &end, "RRULE:FREQ=WEEKLY;COUNT=6"];
    vevent("weekly@example.com", &[&lines[..], more].concat())
}

const APRIL: (&str, &str) = ("2031-03-01T00:00:00Z", "2031-05-01T00:00:00Z");

#[apply(on_both)]
#[tokio::test]
async fn series_stay_series_in_their_zone(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    let moved = vevent(
        "weekly@example.com",
        &[
            "SUMMARY:Moved",
            "RECURRENCE-ID;TZID=Europe/Berlin:20310331T090000",
            "DTSTART;TZID=Europe/Berlin:20310401T140000",
            "DTEND;TZID=Europe/Berlin:20310401T150000",
        ],
    );
    let series = weekly("Europe/Berlin", &["EXDATE;TZID=Europe/Berlin:20310407T090000"]);
    let path = it.subscribed("/a.ics", Serving::calendar(vcalendar(&[&series, &moved]))).await;
    let expected = [
        ("2031-03-17T08:00:00Z", "Weekly"),
        ("2031-03-24T08:00:00Z", "Weekly"),
        // From here on in summer time. One occurrence is moved and one is left out.
        ("2031-04-01T12:00:00Z", "Moved"),
        ("2031-04-14T07:00:00Z", "Weekly"),
        ("2031-04-21T07:00:00Z", "Weekly"),
    ];
    assert_eq!(expanded(&it, APRIL.0, APRIL.1).await, pairs(&expected));
    let master = it.events().await.into_iter().find(|event| event["recurrenceRule"].is_string()).unwrap();
    assert_eq!(master["recurrenceTimezone"], "Europe/Berlin");
    assert_eq!((&master["source"], &master["title"]), (&json!("external_ical"), &json!("Weekly")));
    let rule = master["recurrenceRule"].as_str().unwrap();
    assert!(rule.contains("FREQ=WEEKLY"), "{rule}");
    let hour = |start: &str, end: &str| (start.to_owned(), end.to_owned());
    assert_eq!(
        it.busy("2031-03-30T00:00:00Z", "2031-04-15T00:00:00Z").await,
        [hour("2031-04-01T12:00:00Z", "2031-04-01T13:00:00Z"), hour("2031-04-14T07:00:00Z", "2031-04-14T08:00:00Z")]
    );

    // Neither the series nor any of its occurrences can be changed here.
    let id = master["id"].as_str().unwrap();
    for instance in [format!("{id}_20310317T080000Z"), format!("{id}_20310331T070000Z")] {
        let read = it.api.get(format!("/v1/events/{instance}")).await.expect(200);
        assert_eq!((&read["recurringEventId"], &read["source"]), (&json!(id), &json!("external_ical")));
        let path = format!("/v1/events/{instance}");
        it.api.patch(&path).json(json!({ "title": "x" })).await.refused(403, "forbidden");
        it.api.delete(&path).await.refused(403, "forbidden").code("external_event_readonly");
    }
    let one = it.api.delete(format!("/v1/events/{id}?occurrence_start=2031-03-17T08:00:00Z")).await;
    one.refused(403, "forbidden").code("external_event_readonly");

    // The feed drops the changed occurrence and the EXDATE, and the series ends earlier.
    let shorter = weekly("Europe/Berlin", &[]).replace("COUNT=6", "COUNT=4");
    let read = it.now_serves(&path, "/a.ics", Serving::calendar(vcalendar(&[shorter]))).await;
    assert_eq!((&read["last_sync"]["updated"], &read["last_sync"]["deleted"]), (&json!(1), &json!(1)));
    let expected = [
        ("2031-03-17T08:00:00Z", "Weekly"),
        ("2031-03-24T08:00:00Z", "Weekly"),
        ("2031-03-31T07:00:00Z", "Weekly"),
        ("2031-04-07T07:00:00Z", "Weekly"),
    ];
    assert_eq!(expanded(&it, APRIL.0, APRIL.1).await, pairs(&expected));
    assert_eq!(it.events().await.len(), 1);

    // As a one-off event, it is another event.
    let once = meeting("weekly@example.com", "Once", 18, 9);
    it.now_serves(&path, "/a.ics", Serving::calendar(vcalendar(&[once]))).await;
    assert_eq!(expanded(&it, APRIL.0, APRIL.1).await, pairs(&[("2031-03-18T09:00:00Z", "Once")]));
}

#[apply(on_both)]
#[tokio::test]
async fn a_cancelled_occurrence_does_not_take_place(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    let cancelled = vevent(
        "weekly@example.com",
        &["RECURRENCE-ID:20310324T080000Z", "DTSTART:20310324T080000Z", "DURATION:PT1H", "STATUS:CANCELLED"],
    );
    let zone = weekly("W. Europe Standard Time", &[]);
    let feed = vcalendar(&[BERLIN, &zone, &cancelled]);
    let path = it.subscribed("/a.ics", Serving::calendar(feed)).await;
    let april = [
        ("2031-03-17T08:00:00Z", "Weekly"),
        ("2031-03-31T07:00:00Z", "Weekly"),
        ("2031-04-07T07:00:00Z", "Weekly"),
        ("2031-04-14T07:00:00Z", "Weekly"),
        ("2031-04-21T07:00:00Z", "Weekly"),
    ];
    assert_eq!(expanded(&it, APRIL.0, APRIL.1).await, pairs(&april));
    assert_eq!(it.busy("2031-03-24T00:00:00Z", "2031-03-25T00:00:00Z").await, []);
    assert_eq!(it.api.get(&path).await.expect(200)["last_sync"]["warnings"], json!([]));
}

/// A rule shorter than a day is expanded into occurrences, from a year ago to two years ahead.
#[apply(on_both)]
#[tokio::test]
async fn rules_shorter_than_a_day_become_occurrences(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    let midnight = at(&now(&it.api).await).with_hour(0).and_then(|time| time.with_minute(0));
    let first = midnight.and_then(|time| time.with_second(0)).and_then(|time| time.with_nanosecond(0)).unwrap();
    let day = |days: i64, hour: i64| iso(first + Duration::days(days) + Duration::hours(hour));
    let start = format!("DTSTART:{}", day(1, 9).replace(['-', ':'], ""));
    let rule = |count: u32| format!("RRULE:FREQ=HOURLY;INTERVAL=6;COUNT={count}");
    let often = |count: u32| {
        Serving::calendar(vcalendar(&[vevent(
            "often@example.com",
            &["SUMMARY:Often", &start, "DURATION:PT1H", &rule(count)],
        )]))
    };
    let path = it.subscribed("/a.ics", often(4)).await;
    let starts = async || -> Vec<Value> { it.events().await.iter().map(|event| event["startTime"].clone()).collect() };
    assert_eq!(starts().await, [day(1, 9), day(1, 15), day(1, 21), day(2, 3)]);
    for event in it.events().await {
        assert_eq!((&event["recurrenceRule"], &event["title"]), (&Value::Null, &json!("Often")));
    }
    let read = it.now_serves(&path, "/a.ics", often(3)).await;
    assert_eq!((&read["last_sync"]["deleted"], &read["last_sync"]["untouched"]), (&json!(1), &json!(3)));
    assert_eq!(starts().await, [day(1, 9), day(1, 15), day(1, 21)]);
    // An endless rule is expanded for two years ahead. Only the last year of an old one is kept.
    let (old, ever) = ("DTSTART:20200101T090000Z", "RRULE:FREQ=HOURLY;BYMONTHDAY=1;BYHOUR=9,15");
    let endless = vevent("ever@example.com", &["SUMMARY:Ever", old, "DURATION:PT1H", ever]);
    let read = it.now_serves(&path, "/a.ics", Serving::calendar(vcalendar(&[endless]))).await;
    let created = read["last_sync"]["created"].as_u64().unwrap();
    assert!((70..=76).contains(&created), "two a month for three years: {created}");
    let all: Vec<_> = it.events().await.into_iter().filter(|event| event["title"] == "Ever").collect();
    let (year_ago, ahead) = (day(-367, 0), day(732, 0));
    assert!(
        all.iter()
            .map(|event| event["startTime"].as_str().unwrap())
            .all(|start| *year_ago <= *start && *start <= *ahead)
    );
}

/// A rule of a day or longer stays a series, also if requests may not contain it.
#[apply(on_both)]
#[tokio::test]
async fn every_daily_rule_stays_a_series(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    let rule = "FREQ=DAILY;BYHOUR=9,15;COUNT=4";
    let twice = vevent(
        "twice@example.com",
        &["SUMMARY:Twice", "DTSTART:20310326T090000Z", "DURATION:PT1H", &format!("RRULE:{rule}")],
    );
    it.subscribed("/a.ics", Serving::calendar(vcalendar(&[twice]))).await;
    let events = it.events().await;
    assert_eq!((events.len(), &events[0]["recurrenceRule"]), (1, &json!(rule)));
    let expected = ["2031-03-26T09:00:00Z", "2031-03-26T15:00:00Z", "2031-03-27T09:00:00Z", "2031-03-27T15:00:00Z"];
    assert_eq!(expanded(&it, APRIL.0, APRIL.1).await, pairs(&expected.map(|start| (start, "Twice"))));
    let busy = it.busy("2031-03-27T00:00:00Z", "2031-03-28T00:00:00Z").await;
    assert_eq!(busy.len(), 2, "both hours of a day block: {busy:?}");
}

#[apply(on_both)]
#[tokio::test]
async fn only_opaque_events_with_a_duration_block(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    let on = |day: usize, title: &str, more: &str| {
        let start = format!("DTSTART:203103{day:02}T090000Z");
        vevent(&format!("{title}@example.com"), &[&format!("SUMMARY:{title}"), &start, "DURATION:PT1H", more])
    };
    let feed = vcalendar(&[
        on(3, "opaque", "TRANSP:OPAQUE"),
        on(4, "transparent", "TRANSP:TRANSPARENT"),
        on(5, "cancelled", "STATUS:CANCELLED"),
        on(6, "tentative", "STATUS:TENTATIVE"),
        vevent("instant@example.com", &["SUMMARY:instant", "DTSTART:20310307T090000Z"]),
    ]);
    let path = it.subscribed("/a.ics", Serving::calendar(feed.clone())).await;
    let hour = |day: usize| (format!("2031-03-{day:02}T09:00:00Z"), format!("2031-03-{day:02}T10:00:00Z"));
    let busy = async || it.busy("2031-03-01T00:00:00Z", "2031-03-10T00:00:00Z").await;
    assert_eq!(busy().await, [hour(3), hour(6)]);
    assert_eq!(it.titles().await, ["opaque", "transparent", "tentative", "instant"]);
    let statuses: Vec<_> = it.events().await.iter().map(|event| event["status"].clone()).collect();
    assert_eq!(statuses, ["confirmed", "confirmed", "tentative", "confirmed"]);
    // A hold may be placed only at a time that nothing blocks.
    let until = iso(at(&now(&it.api).await) + Duration::minutes(10));
    let hold = async |day: usize| {
        let body =
            json!({ "title": "x", "start_time": hour(day).0, "end_time": hour(day).1, "hold_expires_at": until });
        it.api.post(format!("/v1/calendars/{}/events", it.calendar)).json(body).await
    };
    hold(3).await.refused(409, "conflict").code("slot_taken");
    hold(6).await.refused(409, "conflict").code("slot_taken");
    hold(4).await.expect(201);

    // The feed swaps which events block.
    let feed = feed.replace("TRANSPARENT", "X").replace("OPAQUE", "TRANSPARENT").replace("TRANSP:X", "TRANSP:OPAQUE");
    let feed = feed.replace("STATUS:TENTATIVE", "STATUS:CANCELLED").replace("20310305", "20310308");
    let read = it.now_serves(&path, "/a.ics", Serving::calendar(feed)).await;
    assert_eq!((&read["last_sync"]["updated"], &read["last_sync"]["deleted"]), (&json!(2), &json!(1)));
    assert_eq!(busy().await, [hour(4)]);
}

#[apply(on_both)]
#[tokio::test]
async fn times_without_a_zone_use_the_calendar_s_zone(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    let calendar = format!("/v1/calendars/{}", it.calendar);
    it.api.patch(&calendar).json(json!({ "timezone": "America/New_York" })).await.expect(200);
    let feed = vcalendar(&[
        vevent("days@example.com", &["SUMMARY:Off", "DTSTART;VALUE=DATE:20310308", "DTEND;VALUE=DATE:20310310"]),
        vevent("day@example.com", &["SUMMARY:Day", "DTSTART;VALUE=DATE:20310320"]),
        vevent("floating@example.com", &["SUMMARY:Floating", "DTSTART:20310321T090000", "DURATION:PT1H"]),
        vevent("mars@example.com", &["SUMMARY:Mars", "DTSTART;TZID=Mars/Olympus:20310322T090000", "DURATION:PT1H"]),
    ]);
    let path = it.subscribed("/a.ics", Serving::calendar(feed.clone()).tagged("\"1\"")).await;
    let times = async || -> Vec<(String, String, bool)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let all = it.events().await;
        all.iter().map(|one| (text(&one["startTime"]), text(&one["endTime"]), one["allDay"] == true)).collect()
    };
    let span =
        |start: &str, end: &str, all_day: bool| (format!("2031-03-{start}:00Z"), format!("2031-03-{end}:00Z"), all_day);
    // Daylight saving begins in New York on 9 March.
    let in_new_york = [
        span("08T05:00", "10T04:00", true),
        span("20T04:00", "21T04:00", true),
        span("21T13:00", "21T14:00", false),
        span("22T13:00", "22T14:00", false),
    ];
    assert_eq!(times().await, in_new_york);
    let read = it.api.get(&path).await.expect(200);
    let warnings: Vec<_> = read["last_sync"]["warnings"].as_array().unwrap().iter().map(Value::to_string).collect();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings.iter().any(|warning| warning.contains("Mars/Olympus")), "{warnings:?}");
    assert!(warnings.iter().any(|warning| warning.contains("America/New_York")), "{warnings:?}");
    assert_eq!(it.busy("2031-03-08T00:00:00Z", "2031-03-11T00:00:00Z").await.len(), 1, "days block");

    // The calendar's zone changes. The feed is read again in full, although its server would answer 304.
    it.api.patch(&calendar).json(json!({ "timezone": "Asia/Tokyo" })).await.expect(200);
    it.synced(&path).await;
    assert_eq!(it.feeds.requests("/a.ics")[1].answered, 200);
    let in_tokyo = [
        span("07T15:00", "09T15:00", true),
        span("19T15:00", "20T15:00", true),
        span("21T00:00", "21T01:00", false),
        span("22T00:00", "22T01:00", false),
    ];
    assert_eq!(times().await, in_tokyo);
    // A feed that names a zone is read in that zone.
    let named = feed.replace("PRODID", "X-WR-TIMEZONE:Europe/Berlin\r\nPRODID");
    it.now_serves(&path, "/a.ics", Serving::calendar(named)).await;
    assert_eq!(times().await[2..], [span("21T08:00", "21T09:00", false), span("22T08:00", "22T09:00", false)]);
}

/// A plan's limits on an organization's own events do not apply to imported events.
#[apply(on_both)]
#[tokio::test]
async fn a_plan_s_event_limits_do_not_apply_to_feeds(#[case] database: Database) {
    let it = Subscriber::with_plan(database, "free").await;
    let series: Vec<_> = (1..=8)
        .map(|day| {
            let start = format!("DTSTART:203103{day:02}T090000Z");
            vevent(&format!("{day}@example.com"), &["SUMMARY:Ever", &start, "DURATION:PT1H", "RRULE:FREQ=WEEKLY"])
        })
        .collect();
    it.subscribed("/a.ics", Serving::calendar(vcalendar(&series))).await;
    assert_eq!(it.events().await.len(), 8);
    assert_eq!(expanded(&it, "2031-04-01T00:00:00Z", "2031-04-08T00:00:00Z").await.len(), 8);
    let usage = it.api.get("/v1/usage").await.expect(200);
    assert_eq!((&usage["events"]["used"], &usage["recurring_events"]["used"]), (&json!(0), &json!(0)));
}

#[apply(on_both)]
#[tokio::test]
async fn imported_events_are_not_published(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    let (start, end) = ("2031-03-03T12:00:00Z", "2031-03-03T13:00:00Z");
    event(&it.api, &it.calendar, start, end).await;
    let feed = vcalendar(&[meeting("a@example.com", "Imported", 3, 9), weekly("Europe/Berlin", &[])]);
    it.subscribed("/a.ics", Serving::calendar(feed)).await;
    assert_eq!(it.titles().await, ["Imported", "Standup", "Weekly"]);
    let url = it.api.get(format!("/v1/calendars/{}", it.calendar)).await.expect(200)["ical_url"].clone();
    let path = url.as_str().unwrap().trim_start_matches(it.server.base_url()).to_owned();
    let published = it.server.anonymous().get(&path).await.expect(200);
    let exported = it.api.get(format!("/v1/calendars/{}/export.ics", it.calendar)).await.expect(200);
    for text in [published.text(), exported.text()] {
        assert_eq!(text.matches("BEGIN:VEVENT").count(), 1, "{text}");
        assert!(text.contains("SUMMARY:Standup") && !text.contains("Imported") && !text.contains("Weekly"), "{text}");
    }
}

/// The usage of imported events.
async fn counted(it: &Subscriber) -> Value {
    it.api.get("/v1/usage").await.expect(200)["imported_events"].clone()
}

#[apply(on_both)]
#[tokio::test]
async fn subscribing_and_deleting_repeatedly_respects_the_limit(#[case] database: Database) {
    let it = Subscriber::with_limits(database, "custom", &["--limits", r#"{"imported_events":25}"#]).await;
    for round in 0..6 {
        let path = format!("/{round}.ics");
        it.feeds.serve(&path, Serving::calendar(vcalendar(&meetings("a", 10))));
        let made = it.subscribe_to(&it.feeds.url(&path)).await.expect(201);
        let subscription = format!("/v1/ical-subscriptions/{}", made.id());
        let ended = |subscription: &Answer| {
            subscription["last_synced_at"].is_string() || subscription["last_error"].is_string()
        };
        let ended_sync = it.until(&subscription, "synced", ended).await;
        if round < 2 {
            assert_eq!(ended_sync["status"], "active", "{}", ended_sync.describe());
        } else {
            let error = ended_sync["last_error"].as_str().unwrap_or_default();
            assert!(
                error.contains("25 imported events") && error.contains("add 10 events"),
                "{}",
                ended_sync.describe()
            );
            assert_eq!((&ended_sync["status"], &ended_sync["last_sync"]), (&json!("error"), &Value::Null));
        }
        it.api.delete(&subscription).await.expect(204);
        let used = counted(&it).await["used"].as_u64().unwrap();
        assert_eq!(used, if round == 0 { 10 } else { 20 }, "round {round}");
    }
    assert_eq!(counted(&it).await["limit"], 25);
    assert_eq!(it.titles().await.len(), 20);
}

#[apply(on_both)]
#[tokio::test]
async fn a_new_subscription_takes_over_events_that_were_left_behind(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    let feed = || Serving::calendar(vcalendar(&meetings("a", 5)));
    let first = it.subscribed("/a.ics", feed()).await;
    let before = it.events().await;
    // While the subscription exists, the same feed cannot be subscribed to again.
    let second = it.subscribe_to(&it.feeds.url("/a.ics")).await;
    let second = second.refused(409, "conflict").code("already_subscribed").param("url");
    let id = first.rsplit('/').next().unwrap();
    assert!(second["error"]["message"].as_str().unwrap().contains(id), "{}", second.describe());
    let other = it.subscribed("/b.ics", Serving::calendar(vcalendar::<&str>(&[]))).await;
    let moved = it.api.patch(&other).json(json!({ "url": it.feeds.url("/a.ics") })).await;
    moved.refused(409, "conflict").code("already_subscribed");

    for _ in 0..2 {
        let listed = it.api.get(it.all()).await.expect(200);
        let live = listed["data"].as_array().unwrap().iter().find(|one| one["url"] == it.feeds.url("/a.ics")).unwrap();
        it.api.delete(format!("/v1/ical-subscriptions/{}", live["id"].as_str().unwrap())).await.expect(204);
        assert_eq!(it.events().await, before);
        it.subscribed("/a.ics", feed()).await;
        assert_eq!(it.events().await, before, "the same events, without duplicates");
    }
    assert_eq!(counted(&it).await["used"], 5);
}

/// The moved subscription imports the events again. The ones that a deleted subscription left behind are removed.
#[apply(on_both)]
#[tokio::test]
async fn moving_to_an_address_with_left_events_makes_no_duplicates(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    let first = it.subscribed("/a.ics", Serving::calendar(vcalendar(&meetings("a", 5)))).await;
    let titles = it.titles().await;
    it.api.delete(&first).await.expect(204);
    let path = it.subscribed("/b.ics", Serving::calendar(vcalendar(&meetings("b", 3)))).await;
    assert_eq!(it.titles().await.len(), 8);
    it.api.patch(&path).json(json!({ "url": it.feeds.url("/a.ics") })).await.expect(200);
    let answer = it.until(&path, "synced", |answer| answer["last_sync"]["created"] == 5).await;
    assert_eq!(answer["last_sync"]["deleted"], 3, "{}", answer.describe());
    let events = format!("/v1/calendars/{}/events", it.calendar);
    it.until(&events, "without the events that were left behind", |answer| answer["total"] == 5).await;
    assert_eq!(it.titles().await, titles);
}

#[apply(on_both)]
#[tokio::test]
async fn a_subscription_is_deleted_with_its_events(#[case] database: Database) {
    let it = Subscriber::new(database).await;
    let path = it.subscribed("/a.ics", Serving::calendar(vcalendar(&meetings("a", 5)))).await;
    it.api.delete(format!("{path}?events=some")).await.refused(400, "validation_error").param("events");
    it.api.delete(format!("{path}?events=delete")).await.expect(204);
    it.api.get(&path).await.refused(404, "not_found");
    let events = format!("/v1/calendars/{}/events", it.calendar);
    it.until(&events, "empty", |answer| answer["total"] == 0).await;
    // The feed can be subscribed to again, and its events are imported again.
    it.subscribed("/a.ics", Serving::calendar(vcalendar(&meetings("a", 5)))).await;
    assert_eq!(it.titles().await.len(), 5);
    let path = it.api.get(it.all()).await.expect(200).column("id")[0].clone();
    it.api.delete(format!("/v1/ical-subscriptions/{path}?events=keep")).await.expect(204);
    assert_eq!(it.titles().await.len(), 5);
}
