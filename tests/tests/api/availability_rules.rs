//! Availability rules of calendars, their effect on availability, and explanations of times that are not offered.

use crate::on_both;
use kalends_e2e::{
    Answer, Client, Database,
    Database::{Postgres, Sqlite},
    Server,
};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::fixtures::{agent_with_calendar, calendar_of, event, has_exactly, shared_calendar};

fn path(calendar: &str) -> String {
    format!("/v1/calendars/{calendar}/availability-rules")
}

async fn put(api: &Client, calendar: &str, rules: Value) -> Answer {
    api.put(path(calendar)).json(rules).await.expect(200)
}

/// The same hours from Monday to Friday.
fn weekdays(start: &str, end: &str) -> Value {
    let hours = json!({ "start": start, "end": end });
    json!({ "mon": hours, "tue": hours, "wed": hours, "thu": hours, "fri": hours })
}

/// The starts of the slots, without seconds.
fn starts(answer: &Answer) -> Vec<String> {
    let slots = answer["slots"].as_array().unwrap_or_else(|| panic!("{}", answer.describe()));
    slots.iter().map(|slot| slot["start"].as_str().unwrap()[..16].to_owned()).collect()
}

async fn ask(api: &Client, resource: &str, start: &str, end: &str, more: &str) -> Answer {
    api.get(format!("/v1/{resource}/availability?start={start}:00Z&end={end}:00Z{more}")).await.expect(200)
}

fn full() -> Value {
    json!({
        "buffer_before_minutes": 120, "buffer_after_minutes": 5,
        "working_hours": {
            "mon": { "start": "00:00", "end": "24:00" }, "thu": { "start": "09:30", "end": "17:45" },
            "sun": { "start": "23:58", "end": "23:59" },
        },
        "timezone": "America/St_Johns",
        "overrides": [
            { "date": "2026-12-24", "working_hours": null },
            { "date": "2026-12-31", "working_hours": { "start": "09:00", "end": "12:00" } },
        ],
    })
}

#[apply(on_both)]
#[tokio::test]
async fn rules_are_put_read_and_deleted(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let path = path(&calendar);
    api.get(&path).await.refused(404, "not_found").code("availability_rules_not_found");
    api.delete(&path).await.refused(404, "not_found").code("availability_rules_not_found");

    let made = put(&api, &calendar, full()).await;
    let fields = [
        "id",
        "calendar_id",
        "buffer_before_minutes",
        "buffer_after_minutes",
        "working_hours",
        "timezone",
        "overrides",
        "created_at",
        "updated_at",
    ];
    has_exactly(&made.json, &fields);
    assert!(made.id().starts_with("avr_"), "{}", made.describe());
    assert_eq!(made["calendar_id"], json!(calendar));
    for (field, value) in full().as_object().unwrap() {
        assert_eq!(made[field.as_str()], *value, "{field}");
    }
    let read = api.get(&path).await.expect(200);
    assert_eq!((&read.json, read.header("etag")), (&made.json, made.header("etag")));
    assert!(!read.header("etag").is_empty());

    // A PUT replaces everything.
    let replaced = put(&api, &calendar, json!({ "buffer_after_minutes": 7 })).await;
    assert_eq!((replaced.id(), &replaced["created_at"]), (made.id(), &made["created_at"]));
    assert!(replaced["updated_at"].as_str() >= made["updated_at"].as_str());
    assert_ne!(replaced.header("etag"), made.header("etag"));
    let value = |field: &str| replaced[field].clone();
    assert_eq!((value("buffer_before_minutes"), value("buffer_after_minutes")), (json!(0), json!(7)));
    assert_eq!((value("working_hours"), value("timezone"), value("overrides")), (json!(null), json!("UTC"), json!([])));

    api.delete(&path).await.expect(204);
    api.get(&path).await.refused(404, "not_found").code("availability_rules_not_found");
    let again = put(&api, &calendar, json!({ "working_hours": {}, "overrides": null })).await;
    assert_ne!(again.id(), made.id());
    assert_eq!(again["working_hours"], json!({}));

    // If no zone is given, the calendar's current zone is used.
    let tokyo = shared_calendar(&api, "Asia/Tokyo").await;
    assert_eq!(put(&api, &tokyo, json!({})).await["timezone"], "Asia/Tokyo");
    api.patch(format!("/v1/calendars/{tokyo}")).json(json!({ "timezone": "UTC" })).await.expect(200);
    assert_eq!(api.get(crate::availability_rules::path(&tokyo)).await.expect(200)["timezone"], "Asia/Tokyo");

    // A calendar's rules are deleted with it and do not affect other calendars.
    let server_other = api.get(crate::availability_rules::path("cal_x")).await;
    server_other.refused(404, "not_found").code("calendar_not_found");
    api.delete(format!("/v1/calendars/{calendar}")).await.expect(204);
    api.get(&path).await.refused(404, "not_found").code("calendar_not_found");
    api.put(&path).json(full()).await.refused(404, "not_found").code("calendar_not_found");
    api.delete(&path).await.refused(404, "not_found").code("calendar_not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn rules_of_another_organization_do_not_exist(#[case] database: Database) {
    let server = Server::start(database).await;
    let (ours, theirs) = (server.api(&server.org("pro").await), server.api(&server.org("pro").await));
    let (owner, calendar) = agent_with_calendar(&theirs).await;
    put(&theirs, &calendar, full()).await;
    ours.get(path(&calendar)).await.refused(404, "not_found").code("calendar_not_found");
    ours.put(path(&calendar)).json(json!({})).await.refused(404, "not_found").code("calendar_not_found");
    ours.delete(path(&calendar)).await.refused(404, "not_found").code("calendar_not_found");
    let time = "start=2026-03-02T09:00:00Z&end=2026-03-02T10:00:00Z";
    let answer = ours.get(format!("/v1/availability/explain?calendar={calendar}&{time}")).await;
    answer.refused(404, "not_found").code("calendar_not_found");
    let answer = ours.get(format!("/v1/availability/explain?agent={owner}&{time}")).await;
    answer.refused(404, "not_found").code("agent_not_found");
    assert_eq!(theirs.get(path(&calendar)).await.expect(200)["buffer_before_minutes"], 120);
}

#[apply(on_both)]
#[tokio::test]
async fn rules_support_conditional_and_idempotent_writes(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let path = path(&calendar);
    // No version exists yet.
    api.put(&path).header("if-match", "\"1\"").json(full()).await.refused(412, "conflict").code("stale");
    let first = api.put(&path).header("if-match", "*").json(full()).await.expect(200).header("etag").to_owned();
    let second = api.put(&path).header("if-match", &first).json(json!({})).await.expect(200);
    api.put(&path).header("if-match", &first).json(full()).await.refused(412, "conflict").code("stale");
    api.delete(&path).header("if-match", &first).await.refused(412, "conflict").code("stale");
    assert_eq!(api.get(&path).await.expect(200).json, second.json);
    // A repetition with the same idempotency key gets the first answer and changes nothing.
    let once = api.put(&path).header("idempotency-key", "k").json(full()).await.expect(200);
    put(&api, &calendar, json!({})).await;
    let twice = api.put(&path).header("idempotency-key", "k").json(full()).await.expect(200);
    assert_eq!((twice.json, twice.headers["idempotency-replayed"].to_str().unwrap()), (once.json, "true"));
    let now = api.get(&path).await.expect(200);
    assert_eq!(now["buffer_before_minutes"], 0);
    api.delete(&path).header("if-match", now.header("etag")).await.expect(204);
}

#[apply(on_both)]
#[tokio::test]
async fn bad_rules_are_refused_by_field(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (_, calendar) = agent_with_calendar(&api).await;
    let hours = |start: &str, end: &str| json!({ "start": start, "end": end });
    let date = |date: &str| json!({ "date": date, "working_hours": null });
    let many: Vec<Value> =
        (0..367).map(|day| date(&format!("20{:02}-{:02}-01", 10 + day / 12, day % 12 + 1))).collect();
    for (body, param) in [
        (json!({ "buffer_before_minutes": 121 }), "buffer_before_minutes"),
        (json!({ "buffer_after_minutes": -1 }), "buffer_after_minutes"),
        (json!({ "buffer_after_minutes": 1.5 }), "buffer_after_minutes"),
        (json!({ "buffer_after_minutes": "5" }), "buffer_after_minutes"),
        (json!({ "timezone": "Mars/Olympus" }), "timezone"),
        (json!({ "timezone": "" }), "timezone"),
        (json!({ "working_hours": [] }), "working_hours"),
        (json!({ "working_hours": { "mon": hours("9:00", "17:00") } }), "working_hours.mon.start"),
        (json!({ "working_hours": { "tue": hours("24:00", "24:00") } }), "working_hours.tue.start"),
        (json!({ "working_hours": { "wed": hours("09:00", "24:01") } }), "working_hours.wed.end"),
        (json!({ "working_hours": { "thu": hours("09:00", "09:00") } }), "working_hours.thu.end"),
        (json!({ "working_hours": { "fri": hours("22:00", "06:00") } }), "working_hours.fri.end"),
        (json!({ "working_hours": { "sat": { "start": "09:00" } } }), "working_hours.sat.end"),
        (json!({ "overrides": [date("2026-12-24"), date("2026-02-30")] }), "overrides[1].date"),
        (json!({ "overrides": [date("1969-12-31")] }), "overrides[0].date"),
        (json!({ "overrides": [date("2026-12-24"), date("2026-12-24")] }), "overrides[1].date"),
        (json!({ "overrides": [{ "date": "2026-12-24" }] }), "overrides[0].working_hours"),
        (
            json!({ "overrides": [{ "date": "2026-12-24", "working_hours": hours("x", "12:00") }] }),
            "overrides[0].working_hours.start",
        ),
        (json!({ "overrides": many }), "overrides"),
    ] {
        let answer = api.put(path(&calendar)).json(body.clone()).await;
        assert_eq!(answer.status, 400, "{body}");
        answer.refused(400, "validation_error").param(param);
    }
    for (body, param, near) in [
        (json!({ "buffer_minutes": 5 }), "buffer_minutes", "buffer"),
        (json!({ "working_hours": { "monday": hours("09:00", "17:00") } }), "working_hours.monday", "mon"),
        (json!({ "working_hours": { "mon": { "from": "09:00", "end": "17:00" } } }), "working_hours.mon.from", "start"),
        (json!({ "overrides": [{ "day": "2026-12-24", "working_hours": null }] }), "overrides[0].day", "date"),
    ] {
        let answer = api.put(path(&calendar)).json(body).await;
        answer.refused(400, "validation_error").param(param).code("unknown_field").mentions(near);
    }
    let answer = api.put(path(&calendar)).json(json!({ "timezone": "Nowhere" })).await;
    answer.refused(400, "validation_error").code("invalid_timezone");
    api.put(path(&calendar)).body("{").header("content-type", "application/json").await.refused(400, "invalid_request");
    // All faults are reported at once, and nothing is stored.
    let answer = api.put(path(&calendar)).json(json!({ "buffer_before_minutes": 500, "timezone": "x" })).await;
    answer.refused(400, "validation_error").mentions("buffer_before_minutes").mentions("timezone");
    api.get(path(&calendar)).await.refused(404, "not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn working_hours_follow_the_clocks(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    let rules = json!({ "working_hours": weekdays("09:00", "11:00"), "timezone": "Europe/Berlin" });
    put(&api, &calendar, rules).await;
    // The Friday before and the Monday after the clocks change on 29 March 2026.
    let expected = ["2026-03-27T08:00", "2026-03-27T09:00", "2026-03-30T07:00", "2026-03-30T08:00"];
    let across = format!("availability?agents={owner}");
    for resource in
        [format!("calendars/{calendar}/availability?"), format!("agents/{owner}/availability?"), format!("{across}&")]
    {
        let query = "start=2026-03-27T00:00:00Z&end=2026-03-31T00:00:00Z&slot_duration=1h";
        for _ in 0..2 {
            let answer = api.get(format!("/v1/{resource}{query}")).await.expect(200);
            assert_eq!(starts(&answer), expected, "{resource}");
        }
    }
    // A 25-hour day that is open all day, and a slot across midnight between two open days.
    let all_day = json!({ "start": "00:00", "end": "24:00" });
    let rules = json!({ "working_hours": { "sat": all_day, "sun": all_day }, "timezone": "Europe/Berlin" });
    put(&api, &calendar, rules).await;
    let answer =
        ask(&api, &format!("calendars/{calendar}"), "2026-10-23T22:00", "2026-10-26T22:00", "&slot_duration=7h").await;
    // 24 and 25 hours in a row, from Friday 22:00Z to Sunday 23:00Z.
    assert_eq!(starts(&answer).len(), 7);
    assert_eq!(starts(&answer)[3], "2026-10-24T19:00", "over the midnight at 22:00Z");
    // Overrides of single dates, with and without weekly hours.
    for (week, thursday) in [(json!(null), 0..24), (weekdays("12:00", "18:00"), 12..18)] {
        let rules = json!({
            "working_hours": week, "timezone": "UTC",
            "overrides": [
                { "date": "2026-05-06", "working_hours": { "start": "10:00", "end": "22:00" } },
                { "date": "2026-05-04", "working_hours": null },
                { "date": "2026-05-05", "working_hours": { "start": "10:00", "end": "24:00" } },
            ],
        });
        let replaced = put(&api, &calendar, rules).await;
        assert_eq!(replaced["overrides"][0]["date"], "2026-05-04", "in the order of the dates");
        let resource = format!("calendars/{calendar}");
        let answer = ask(&api, &resource, "2026-05-04T00:00", "2026-05-08T00:00", "&slot_duration=2h").await;
        let open = [(5, 10..24), (6, 10..22), (7, thursday)];
        let expected = open.into_iter().flat_map(|(day, hours)| {
            hours.step_by(2).map(move |hour| format!("2026-05-{day:02}T{hour:02}:00")).collect::<Vec<_>>()
        });
        assert_eq!(starts(&answer), expected.collect::<Vec<String>>());
    }
}

#[apply(on_both)]
#[tokio::test]
async fn buffers_widen_events_of_their_own_calendar(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, first) = agent_with_calendar(&api).await;
    let second = calendar_of(&api, &owner).await;
    event(&api, &first, "2026-05-04T10:00:00Z", "2026-05-04T11:00:00Z").await;
    event(&api, &second, "2026-05-04T12:00:00Z", "2026-05-04T12:15:00Z").await;
    put(&api, &first, json!({ "buffer_before_minutes": 30, "buffer_after_minutes": 15 })).await;
    let day = ("2026-05-04T09:00", "2026-05-04T13:00");
    let quarters = "&slot_duration=15m&include_busy=true";

    let of_first = ask(&api, &format!("calendars/{first}"), day.0, day.1, quarters).await;
    let free = |from: &str, to: &str| {
        let minute = |text: &str| text[..2].parse::<u32>().unwrap() * 60 + text[3..].parse::<u32>().unwrap();
        (minute(from)..minute(to))
            .step_by(15)
            .map(|at| format!("2026-05-04T{:02}:{:02}", at / 60, at % 60))
            .collect::<Vec<_>>()
    };
    assert_eq!(starts(&of_first), [free("09:00", "09:30"), free("11:15", "13:00")].concat());
    assert_eq!(of_first["busy"], json!([{ "start": "2026-05-04T10:00:00Z", "end": "2026-05-04T11:00:00Z" }]));

    // A calendar's buffers apply only to its own events.
    let expected = [free("09:00", "09:30"), free("11:15", "12:00"), free("12:15", "13:00")].concat();
    let of_agent = ask(&api, &format!("agents/{owner}"), day.0, day.1, quarters).await;
    assert_eq!(starts(&of_agent), expected);
    assert_eq!(of_agent["per_agent_busy"][&owner].as_array().unwrap().len(), 2);
    // Working hours intersect. Across agents, each agent's own rules apply.
    put(&api, &second, json!({ "working_hours": weekdays("08:00", "12:45") })).await;
    let (other, of_other) = agent_with_calendar(&api).await;
    put(&api, &of_other, json!({ "working_hours": weekdays("09:15", "18:00") })).await;
    let across = format!("/v1/availability?agents={other},{owner}&start={}:00Z&end={}:00Z{quarters}", day.0, day.1);
    let answer = api.get(&across).await.expect(200);
    let expected = [free("09:15", "09:30"), free("11:15", "12:00"), free("12:15", "12:45")].concat();
    assert_eq!(starts(&answer), expected);
    assert_eq!(answer["per_agent_busy"][&other], json!([]), "closed is not busy");
    let narrowed = api.get(format!("{across}&calendars={second},{of_other}")).await.expect(200);
    assert_eq!(starts(&narrowed), [free("09:15", "12:00"), free("12:15", "12:45")].concat());

    // Buffers extend into the range from outside, also across midnight.
    put(&api, &first, json!({ "buffer_before_minutes": 120, "buffer_after_minutes": 120 })).await;
    event(&api, &first, "2026-06-01T22:00:00Z", "2026-06-01T23:00:00Z").await;
    event(&api, &first, "2026-06-03T01:00:00Z", "2026-06-03T02:00:00Z").await;
    let of_first = format!("calendars/{first}");
    let answer = ask(&api, &of_first, "2026-06-02T00:00", "2026-06-03T00:00", "&slot_duration=1h").await;
    assert_eq!((starts(&answer).len(), starts(&answer)[0].as_str()), (22, "2026-06-02T01:00"));
    // Every change takes effect at once.
    for (rules, slots) in [(json!({ "buffer_after_minutes": 60 }), 24), (json!({ "working_hours": {} }), 0)] {
        put(&api, &first, rules).await;
        let answer = ask(&api, &of_first, "2026-06-02T00:00", "2026-06-03T00:00", "&slot_duration=1h").await;
        assert_eq!(starts(&answer).len(), slots);
    }
    api.delete(path(&first)).await.expect(204);
    let answer = ask(&api, &of_first, "2026-06-02T00:00", "2026-06-03T00:00", "&slot_duration=1h").await;
    assert_eq!(starts(&answer).len(), 24);
}

#[apply(on_both)]
#[tokio::test]
async fn slots_begin_at_every_step(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    event(&api, &calendar, "2026-05-04T11:00:00Z", "2026-05-04T11:05:00Z").await;
    for (more, expected) in [
        ("&slot_duration=1h", vec!["09:00", "10:00"]),
        ("&slot_duration=1h&slot_step=15m", vec!["09:00", "09:15", "09:30", "09:45", "10:00", "11:15"]),
        ("&slot_duration=5m&slot_step=1h", vec!["09:00", "10:00", "12:00"]),
        ("&slot_step=90m", vec!["09:00", "10:30"]),
    ] {
        let query = format!("start=2026-05-04T09:00:00Z&end=2026-05-04T12:20:00Z{more}");
        for resource in [
            format!("/v1/calendars/{calendar}/availability?{query}"),
            format!("/v1/agents/{owner}/availability?{query}"),
            format!("/v1/availability?agents={owner}&{query}"),
        ] {
            let answer = api.get(resource).await.expect(200);
            let times: Vec<String> = starts(&answer).into_iter().map(|start| start[11..].to_owned()).collect();
            assert_eq!(times, expected, "{more}");
        }
    }
    // 366 days in steps of 5 minutes are more than 50,000 slots.
    let year = "start=2026-01-01T00:00:00Z&end=2027-01-02T00:00:00Z&slot_duration=1h&slot_step=5m";
    let answer = api.get(format!("/v1/calendars/{calendar}/availability?{year}")).await;
    answer.refused(400, "validation_error").param("end").mentions("50000");
}

/// A pseudo-random sequence that is the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

fn stamp(minute: u64) -> String {
    // Minutes since the midnight before Friday, 27 March 2026. The clocks change on the Sunday.
    format!("2026-03-{:02}T{:02}:{:02}:00Z", 27 + minute / 1_440, minute / 60 % 24, minute % 60)
}

#[rstest]
#[case::sqlite(Sqlite, 1)]
#[case::postgres(Postgres, 2)]
#[tokio::test]
async fn explanations_agree_with_availability(#[case] database: Database, #[case] seed: u64) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, first) = agent_with_calendar(&api).await;
    let second = calendar_of(&api, &owner).await;
    let mut numbers = Numbers(seed);
    for calendar in [&first, &second] {
        let events: Vec<Value> = (0..8)
            .map(|_| {
                let (start, length) = (numbers.below(2 * 1_440), 5 + numbers.below(150));
                let status = ["confirmed", "tentative", "cancelled"][usize::try_from(numbers.below(3)).unwrap()];
                json!({ "title": "x", "start_time": stamp(start), "end_time": stamp(start + length), "status": status })
            })
            .collect();
        api.post(format!("/v1/calendars/{calendar}/events/batch")).json(json!({ "events": events })).await.expect(201);
    }
    let hours = json!({ "start": "06:00", "end": "24:00" });
    let rules = json!({
        "buffer_before_minutes": numbers.below(60), "buffer_after_minutes": numbers.below(60),
        "working_hours": { "fri": hours, "sat": { "start": "03:10", "end": "21:35" }, "sun": hours },
        "timezone": "Europe/Berlin",
        "overrides": [{ "date": "2026-03-29", "working_hours": { "start": "02:30", "end": "09:00" } }],
    });
    put(&api, &first, rules).await;
    put(&api, &second, json!({ "buffer_after_minutes": numbers.below(30), "timezone": "Asia/Tokyo" })).await;

    let (begin, end) = (stamp(0), stamp(3 * 1_440));
    let (mut offered, mut refused) = (0, 0);
    for (resource, whose) in [
        (format!("agents/{owner}"), format!("agent={owner}")),
        (format!("calendars/{first}"), format!("calendar={first}")),
    ] {
        let answer =
            api.get(format!("/v1/{resource}/availability?start={begin}&end={end}&slot_duration=50m")).await.expect(200);
        let free: Vec<&str> =
            answer["slots"].as_array().unwrap().iter().map(|slot| slot["start"].as_str().unwrap()).collect();
        for start in (0..3 * 1_440 - 49).step_by(50) {
            let (start, end) = (stamp(start), stamp(start + 50));
            let explained =
                api.get(format!("/v1/availability/explain?{whose}&start={start}&end={end}")).await.expect(200);
            has_exactly(
                &explained.json,
                &["start", "end", "offered", "reasons", "has_more", "availability_state", "warnings"],
            );
            let is_free = free.contains(&start.as_str());
            let reasons = explained["reasons"].as_array().unwrap();
            assert_eq!(
                (explained["offered"] == true, reasons.is_empty()),
                (is_free, is_free),
                "{}",
                explained.describe()
            );
            assert_eq!((&explained["start"], &explained["end"]), (&json!(start), &json!(end)));
            for reason in reasons {
                has_exactly(reason, &["calendar_id", "reason", "start", "end"]);
                let overlaps = reason["start"].as_str().unwrap() < end.as_str()
                    && reason["end"].as_str().unwrap() > start.as_str();
                assert!(overlaps, "{reason} of {start}");
            }
            *(if is_free { &mut offered } else { &mut refused }) += 1;
        }
    }
    assert!(offered > 5 && refused > 20, "{offered} {refused}");
}

#[apply(on_both)]
#[tokio::test]
async fn explanations_list_each_reason_against_a_time(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    let rules = json!({
        "buffer_before_minutes": 10, "buffer_after_minutes": 30, "timezone": "Europe/Berlin",
        "working_hours": weekdays("09:00", "17:00"),
        "overrides": [{ "date": "2026-03-05", "working_hours": null }],
    });
    put(&api, &calendar, rules).await;
    event(&api, &calendar, "2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z").await;
    let explain = async |whose: &str, start: &str, end: &str| {
        api.get(format!("/v1/availability/explain?{whose}&start={start}Z&end={end}Z")).await
    };
    let reason = |kind: &str, start: &str, end: &str| json!({ "calendar_id": calendar, "reason": kind, "start": format!("{start}:00Z"), "end": format!("{end}:00Z") });
    for whose in [format!("agent={owner}"), format!("calendar={calendar}")] {
        let explained = explain(&whose, "2026-03-02T09:45:00", "2026-03-02T10:45:00").await.expect(200);
        let expected = json!([
            reason("event", "2026-03-02T09:00", "2026-03-02T10:00"),
            reason("buffer", "2026-03-02T10:00", "2026-03-02T10:30"),
        ]);
        assert_eq!(explained["reasons"], expected);
        assert!(!explained.text().contains("Standup"), "no titles");
        let explained = explain(&whose, "2026-03-05T15:30:00", "2026-03-05T16:30:00").await.expect(200);
        let expected = json!([
            reason("override", "2026-03-05T15:30", "2026-03-05T16:00"),
            reason("outside_working_hours", "2026-03-05T16:00", "2026-03-05T16:30"),
        ]);
        assert_eq!(explained["reasons"], expected);
        let explained = explain(&whose, "2026-03-02T10:30:00", "2026-03-02T16:00:00").await.expect(200);
        assert_eq!(
            (&explained["offered"], &explained["reasons"], &explained["has_more"]),
            (&json!(true), &json!([]), &json!(false))
        );
        assert_eq!((&explained["availability_state"], &explained["warnings"]), (&json!("complete"), &json!([])));
    }

    let (start, end) = ("2026-03-02T09:00:00", "2026-03-02T10:00:00");
    explain("", start, end).await.refused(400, "validation_error").param("agent");
    let both = format!("agent={owner}&calendar={calendar}");
    explain(&both, start, end).await.refused(400, "validation_error").param("calendar");
    let whose = format!("agent={owner}");
    explain(&whose, end, start).await.refused(400, "validation_error").param("end").code("end_before_start");
    explain(&whose, "2026-03-02T09:00:00", "2026-03-09T09:00:01")
        .await
        .refused(400, "validation_error")
        .param("end")
        .mentions("7 days");
    explain("agent=agt_x", start, end).await.refused(404, "not_found").code("agent_not_found");
    explain("calendar=cal_x", start, end).await.refused(404, "not_found").code("calendar_not_found");
    let answer = api.get(format!("/v1/availability/explain?{whose}&start={start}Z&end={end}Z&titles=true")).await;
    answer.refused(400, "validation_error").param("titles").code("unknown_field");
}

#[apply(on_both)]
#[tokio::test]
async fn at_most_a_thousand_events_are_explained(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    // These events all end within the buffer of a later time. They must not hide the events after them.
    let event = |from: u64| json!({ "title": "x", "start_time": stamp(from), "end_time": stamp(from + 1) });
    for batch in 0..11 {
        let events: Vec<Value> = (0..100).map(|index| event((batch * 100 + index) % 60)).collect();
        api.post(format!("/v1/calendars/{calendar}/events/batch")).json(json!({ "events": events })).await.expect(201);
    }
    let late = json!({ "title": "x", "start_time": stamp(110), "end_time": stamp(130) });
    api.post(format!("/v1/calendars/{calendar}/events")).json(late).await.expect(201);
    let explain = async |from: u64, to: u64| {
        let (start, end) = (stamp(from), stamp(to));
        api.get(format!("/v1/availability/explain?agent={owner}&start={start}&end={end}")).await.expect(200)
    };
    // Equal reasons are listed once. The first thousand of the 1,100 events are considered, minute by minute.
    let explained = explain(0, 60).await;
    let minutes = explained["reasons"].as_array().unwrap().len();
    assert!((50..60).contains(&minutes), "{minutes}");
    assert_eq!((&explained["offered"], &explained["has_more"]), (&json!(false), &json!(true)));
    let explained = explain(90, 120).await;
    assert_eq!((&explained["has_more"], explained["reasons"].as_array().unwrap().len()), (&json!(false), 1));
    assert_eq!(explained["reasons"][0]["start"], json!(stamp(110)));
    assert_eq!(explain(60, 110).await["offered"], true);
}
