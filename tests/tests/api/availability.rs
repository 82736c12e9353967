//! Availability of an agent, of a calendar, and across agents.

use crate::on_both;
use kalends_e2e::{Answer, Client, Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::fixtures::{agent, agent_with_calendar, calendar_of, event, event_body, has_exactly, shared_calendar};

const DAY: &str = "2026-05-04";

fn at(time: &str) -> String {
    format!("{DAY}T{time}:00Z")
}

/// The starts of the slots as `HH:MM`.
fn starts(answer: &Answer) -> Vec<String> {
    times(&answer["slots"]).into_iter().map(|(start, _)| start).collect()
}

/// Intervals as `HH:MM` pairs.
fn times(intervals: &Value) -> Vec<(String, String)> {
    let time = |value: &Value| value.as_str().unwrap()[11..16].to_owned();
    let pair = |interval: &Value| {
        has_exactly(interval, &["start", "end"]);
        (time(&interval["start"]), time(&interval["end"]))
    };
    intervals.as_array().unwrap_or_else(|| panic!("no intervals: {intervals}")).iter().map(pair).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(start, end)| ((*start).to_owned(), (*end).to_owned())).collect()
}

/// The path of the availability from 08:00 to 12:00 in one-hour slots.
fn morning(resource: &str) -> String {
    format!("/v1/{resource}/availability?start={}&end={}&slot_duration=1h", at("08:00"), at("12:00"))
}

fn across(agents: &[&str], more: &str) -> String {
    let agents = agents.join(",");
    format!("/v1/availability?agents={agents}&start={}&end={}&slot_duration=1h{more}", at("08:00"), at("12:00"))
}

async fn busy(api: &Client, calendar: &str, from: &str, to: &str) -> String {
    event(api, calendar, &at(from), &at(to)).await
}

#[apply(on_both)]
#[tokio::test]
async fn slots_are_the_free_parts_of_a_grid(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    busy(&api, &calendar, "09:00", "10:00").await;

    let of_agent = api.get(morning(&format!("agents/{owner}"))).await.expect(200);
    has_exactly(&of_agent.json, &["agents", "slots", "availability_state", "warnings", "as_of"]);
    assert_eq!((&of_agent["agents"], &of_agent["warnings"]), (&json!([owner]), &json!([])));
    assert_eq!(of_agent["availability_state"], "complete");
    assert_eq!(of_agent["slots"][0], json!({ "start": at("08:00"), "end": at("09:00") }));
    assert_eq!(starts(&of_agent), ["08:00", "10:00", "11:00"]);
    let of_calendar = api.get(morning(&format!("calendars/{calendar}"))).await.expect(200);
    has_exactly(&of_calendar.json, &["calendar_id", "slots", "availability_state", "warnings", "as_of"]);
    assert_eq!(of_calendar["calendar_id"], json!(calendar));
    assert_eq!(of_calendar["slots"], of_agent["slots"]);

    for (start, end, duration, expected) in [
        // The grid begins at the start of the range. A slot must be entirely within the range.
        ("08:30", "12:00", "1h", vec!["10:30"]),
        ("08:00", "11:59", "1h", vec!["08:00", "10:00"]),
        // The default duration is half an hour.
        ("08:00", "11:00", "", vec!["08:00", "08:30", "10:00", "10:30"]),
        ("08:30", "10:30", "15m", vec!["08:30", "08:45", "10:00", "10:15"]),
        ("08:15", "12:00", "45m", vec!["08:15", "10:30", "11:15"]),
        ("05:00", "13:00", "2h", vec!["05:00", "07:00", "11:00"]),
        ("09:00", "10:00", "15m", vec![]),
        ("08:00", "08:10", "15m", vec![]),
        ("08:00", "12:40", "80m", vec!["10:40"]),
        ("10:00", "18:00", "480m", vec!["10:00"]),
        ("10:00", "10:21", "7m", vec!["10:00", "10:07", "10:14"]),
    ] {
        let duration = if duration.is_empty() { String::new() } else { format!("&slot_duration={duration}") };
        for resource in [format!("agents/{owner}"), format!("calendars/{calendar}")] {
            let query = format!("start={}&end={}{duration}", at(start), at(end));
            let answer = api.get(format!("/v1/{resource}/availability?{query}")).await.expect(200);
            assert_eq!(starts(&answer), expected, "{query}");
        }
    }
    // The times of a query may have an offset.
    let answer = api
        .get(format!("/v1/agents/{owner}/availability"))
        .query(&[("start", "2026-05-04T10:00:00+02:00"), ("end", "2026-05-04T06:00:00-04:00"), ("slot_duration", "1h")])
        .await
        .expect(200);
    assert_eq!(starts(&answer), ["08:00"]);
    // An agent without calendars is free.
    let idle = agent(&api).await;
    assert_eq!(starts(&api.get(morning(&format!("agents/{idle}"))).await.expect(200)).len(), 4);
}

#[apply(on_both)]
#[tokio::test]
async fn every_active_event_blocks_its_time(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    let path = morning(&format!("agents/{owner}"));
    let at_nine = busy(&api, &calendar, "09:00", "10:00").await;
    for (status, expected) in [
        ("tentative", vec!["08:00", "10:00", "11:00"]),
        ("cancelled", vec!["08:00", "09:00", "10:00", "11:00"]),
        ("confirmed", vec!["08:00", "10:00", "11:00"]),
    ] {
        api.patch(format!("/v1/events/{at_nine}")).json(json!({ "status": status })).await.expect(200);
        assert_eq!(starts(&api.get(&path).await.expect(200)), expected, "{status}");
    }
    // The last microsecond of a slot counts. An event that ends when the slot starts does not block it.
    let sliver = api
        .post(format!("/v1/calendars/{calendar}/events"))
        .json(event_body("x", &format!("{DAY}T10:59:59.999999Z"), &at("11:00")))
        .await
        .expect(201)
        .id();
    assert_eq!(starts(&api.get(&path).await.expect(200)), ["08:00", "11:00"]);
    api.delete(format!("/v1/events/{sliver}")).await.expect(204);
    // An event that extends into the range from outside also blocks.
    let long = event(&api, &calendar, "2026-04-01T00:00:00Z", &at("08:01")).await;
    assert_eq!(starts(&api.get(&path).await.expect(200)), ["10:00", "11:00"]);
    api.delete(format!("/v1/events/{long}")).await.expect(204);
    let wide = event(&api, &calendar, &at("11:30"), "2026-06-01T00:00:00Z").await;
    assert_eq!(starts(&api.get(&path).await.expect(200)), ["08:00", "10:00"]);
    api.delete(format!("/v1/events/{wide}")).await.expect(204);
    // An all-day event blocks the whole day in the calendar's zone.
    let tokyo = api
        .post(format!("/v1/agents/{owner}/calendars"))
        .json(json!({ "name": "Tokyo", "timezone": "Asia/Tokyo" }))
        .await
        .expect(201)
        .id();
    let body = json!({ "title": "Off", "start_time": DAY, "end_time": "2026-05-05", "all_day": true });
    api.post(format!("/v1/calendars/{tokyo}/events")).json(body).await.expect(201);
    assert_eq!(starts(&api.get(&path).await.expect(200)), Vec::<String>::new(), "Tokyo's day ends at 15:00Z");
}

#[apply(on_both)]
#[tokio::test]
async fn busy_times_are_merged_and_clipped(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, first) = agent_with_calendar(&api).await;
    let second = calendar_of(&api, &owner).await;
    busy(&api, &first, "09:00", "10:00").await;
    busy(&api, &first, "09:30", "10:15").await;
    busy(&api, &first, "11:30", "13:00").await;
    busy(&api, &second, "10:00", "10:30").await;
    busy(&api, &second, "06:00", "08:20").await;

    let of_agent = api.get(format!("{}&include_busy=true", morning(&format!("agents/{owner}")))).await.expect(200);
    has_exactly(&of_agent.json, &["agents", "slots", "per_agent_busy", "availability_state", "warnings", "as_of"]);
    assert_eq!(of_agent["per_agent_busy"].as_object().unwrap().len(), 1);
    let union = pairs(&[("08:00", "08:20"), ("09:00", "10:30"), ("11:30", "12:00")]);
    assert_eq!(times(&of_agent["per_agent_busy"][&owner]), union);
    assert_eq!(starts(&of_agent), Vec::<String>::new());

    let of_first = api.get(format!("{}&include_busy=true", morning(&format!("calendars/{first}")))).await.expect(200);
    has_exactly(&of_first.json, &["calendar_id", "slots", "busy", "availability_state", "warnings", "as_of"]);
    assert_eq!(times(&of_first["busy"]), pairs(&[("09:00", "10:15"), ("11:30", "12:00")]));
    assert_eq!(starts(&of_first), ["08:00"]);
    assert!(!of_first.text().contains("Standup"), "busy times carry no titles");
    let of_second = api.get(morning(&format!("calendars/{second}"))).await.expect(200);
    assert_eq!(starts(&of_second), ["09:00", "11:00"]);

    // A shared calendar has its own availability and does not affect any agent's.
    let shared = shared_calendar(&api, "UTC").await;
    busy(&api, &shared, "08:00", "12:00").await;
    assert_eq!(starts(&api.get(morning(&format!("calendars/{shared}"))).await.expect(200)), Vec::<String>::new());
    assert_eq!(starts(&api.get(morning(&format!("calendars/{first}"))).await.expect(200)), ["08:00"]);
    let plain = api.get(format!("{}&include_busy=false", morning(&format!("calendars/{first}")))).await.expect(200);
    assert_eq!(plain["busy"], json!(null));
}

#[apply(on_both)]
#[tokio::test]
async fn bad_queries_are_refused_by_parameter(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    let (start, end) = (at("08:00"), at("12:00"));
    for (path, agents, kind) in [
        (format!("/v1/agents/{owner}/availability"), None, "validation_error"),
        (format!("/v1/calendars/{calendar}/availability"), None, "validation_error"),
        ("/v1/availability".to_owned(), Some(owner.as_str()), "bad_request"),
    ] {
        let ask = |parameters: &[(&str, &str)]| {
            let agents = agents.map(|agents| ("agents", agents));
            api.get(&path).query(&agents.into_iter().chain(parameters.iter().copied()).collect::<Vec<_>>())
        };
        ask(&[("end", &end)]).await.refused(400, kind).param("start");
        ask(&[("start", &start)]).await.refused(400, kind).param("end");
        ask(&[("start", "soon"), ("end", &end)]).await.refused(400, kind).param("start").code("invalid_time_format");
        ask(&[("start", DAY), ("end", &end)]).await.refused(400, kind).param("start").code("invalid_time_format");
        ask(&[("start", &start), ("end", "2026-05-04T12:00:00")])
            .await
            .refused(400, kind)
            .param("end")
            .code("invalid_time_format");
        ask(&[("start", "1969-12-31T00:00:00Z"), ("end", &end)]).await.refused(400, kind).param("start");
        ask(&[("start", &end), ("end", &start)]).await.refused(400, kind).param("end").code("end_before_start");
        ask(&[("start", &end), ("end", &end)]).await.refused(400, kind).param("end").code("end_before_start");
        for duration in ["4m", "1H", "", "30", "481m", "9h", "-15m"] {
            let answer = ask(&[("start", &start), ("end", &end), ("slot_duration", duration)]).await;
            answer.refused(400, kind).param("slot_duration").mentions("5m to 480m or 1h to 8h");
            let answer = ask(&[("start", &start), ("end", &end), ("slot_step", duration)]).await;
            answer.refused(400, kind).param("slot_step").mentions("5m to 480m or 1h to 8h");
        }
        for flag in ["yes", "1", ""] {
            let answer = ask(&[("start", &start), ("end", &end), ("include_busy", flag)]).await;
            answer.refused(400, kind).param("include_busy");
            let answer = ask(&[("start", &start), ("end", &end), ("allow_stale", flag)]).await;
            answer.refused(400, kind).param("allow_stale");
        }
        let answer = ask(&[("start", &start), ("end", &end), ("slot_duraton", "1h")]).await;
        answer.refused(400, kind).param("slot_duraton").code("unknown_field").mentions("slot_duration");
        let answer = ask(&[("start", &start), ("start", &start), ("end", &end)]).await;
        answer.refused(400, kind).param("start");
    }
    // The range is at most a year and a day.
    for path in [format!("/v1/agents/{owner}/availability"), format!("/v1/calendars/{calendar}/availability")] {
        let year = [("start", "2026-01-01T00:00:00Z"), ("end", "2027-01-02T00:00:00Z"), ("slot_duration", "2h")];
        assert_eq!(api.get(&path).query(&year).await.expect(200)["slots"].as_array().unwrap().len(), 366 * 12);
        let more = [("start", "2026-01-01T00:00:00Z"), ("end", "2027-01-02T00:00:00.000001Z")];
        api.get(&path).query(&more).await.refused(400, "validation_error").param("end").mentions("366");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn across_agents_all_must_be_free(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (first, of_first) = agent_with_calendar(&api).await;
    let (second, of_second) = agent_with_calendar(&api).await;
    let (third, _) = agent_with_calendar(&api).await;
    let also_of_first = calendar_of(&api, &first).await;
    busy(&api, &of_first, "08:00", "08:30").await;
    busy(&api, &also_of_first, "10:00", "10:30").await;
    busy(&api, &of_second, "09:00", "09:15").await;

    let answer = api.get(across(&[&second, &first, &second, &third, &first], "")).await.expect(200);
    has_exactly(&answer.json, &["agents", "slots", "availability_state", "warnings", "as_of"]);
    assert_eq!(answer["agents"], json!([second, first, third]), "in the order asked, once each");
    assert_eq!(starts(&answer), ["11:00"]);

    let answer = api.get(across(&[&third, &first, &second], "&include_busy=true")).await.expect(200);
    has_exactly(&answer.json, &["agents", "slots", "per_agent_busy", "availability_state", "warnings", "as_of"]);
    let per_agent = &answer["per_agent_busy"];
    assert_eq!(per_agent.as_object().unwrap().len(), 3);
    assert_eq!(times(&per_agent[&first]), pairs(&[("08:00", "08:30"), ("10:00", "10:30")]));
    assert_eq!(times(&per_agent[&second]), pairs(&[("09:00", "09:15")]));
    assert_eq!(times(&per_agent[&third]), []);

    // `calendars` narrows the search.
    let only = |calendars: &[&str]| across(&[&first, &second], &format!("&calendars={}", calendars.join(",")));
    assert_eq!(starts(&api.get(only(&[&of_second])).await.expect(200)), ["08:00", "10:00", "11:00"]);
    assert_eq!(starts(&api.get(only(&[&of_first, &of_second, &of_first])).await.expect(200)), ["10:00", "11:00"]);
    let answer = api.get(format!("{}&include_busy=true", only(&[&of_second]))).await.expect(200);
    assert_eq!(times(&answer["per_agent_busy"][&first]), []);
    // Each calendar must belong to one of the agents.
    let shared = shared_calendar(&api, "UTC").await;
    let answer = api.get(across(&[&first], &format!("&calendars={of_second}"))).await;
    answer.refused(400, "bad_request").param("calendars");
    let answer = api.get(across(&[&first], &format!("&calendars={of_first},{shared}"))).await;
    answer.refused(400, "bad_request").param("calendars");
    api.get(only(&["cal_x"])).await.refused(404, "not_found").code("calendar_not_found");
    api.get(only(&[""])).await.refused(400, "bad_request").param("calendars");

    api.get(across(&[&first, "agt_x"], "")).await.refused(404, "not_found").code("agent_not_found");
    api.get(across(&[&first, &of_first], "")).await.refused(404, "not_found").code("agent_not_found");
    api.get(across(&[""], "")).await.refused(400, "bad_request").param("agents");
    api.get(across(&[&first, ""], "")).await.refused(400, "bad_request").param("agents");
    let answer = api.get(format!("/v1/availability?start={}&end={}", at("08:00"), at("12:00"))).await;
    answer.refused(400, "bad_request").param("agents");
    api.delete(format!("/v1/agents/{third}")).await.expect(204);
    api.get(across(&[&first, &third], "")).await.refused(404, "not_found").code("agent_not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn plans_limit_availability_across_agents(#[case] database: Database) {
    let server = Server::start(database).await;
    let free = server.api(&server.org("free").await);
    let own = agent(&free).await;
    let answer = free.get(across(&[&own], "")).await.refused(403, "plan_required");
    let error = &answer["error"];
    assert_eq!((&error["required_plan"], &error["feature"]), (&json!("pro"), &json!("cross_agent_availability")));
    assert!(error["docs_url"].as_str().is_some_and(|url| url.starts_with("http")), "{error}");
    // The plan does not restrict a single agent's availability.
    free.get(morning(&format!("agents/{own}"))).await.expect(200);

    let pro = server.api(&server.org("pro").await);
    let mut agents = Vec::new();
    for _ in 0..21 {
        agents.push(agent(&pro).await);
    }
    let agents: Vec<_> = agents.iter().map(String::as_str).collect();
    pro.get(across(&agents[..20], "")).await.expect(200);
    pro.get(across(&[&agents[..20], &agents[..5]].concat(), "")).await.expect(200);
    pro.get(across(&agents, "")).await.refused(400, "bad_request").param("agents").mentions("20");
    let range = |client: &Client, agent: &str, end: &str| {
        client.get(format!("/v1/availability?agents={agent}&start=2026-01-01T00:00:00Z&end={end}&slot_duration=2h"))
    };
    range(&pro, agents[0], "2026-04-01T00:00:00Z").await.expect(200);
    let answer = range(&pro, agents[0], "2026-04-01T00:00:01Z").await;
    answer.refused(400, "bad_request").mentions("90");

    let custom = server.api(&server.org("custom").await);
    let own = agent(&custom).await;
    range(&custom, &own, "2027-01-01T00:00:00Z").await.expect(200);
    range(&custom, &own, "2027-01-01T00:00:01Z").await.refused(400, "bad_request").mentions("365");
    // Agents of another organization are not found.
    custom.get(across(&[&own, agents[0]], "")).await.refused(404, "not_found").code("agent_not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn every_change_takes_effect_at_once(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    let (other, _) = agent_with_calendar(&api).await;
    let paths =
        [morning(&format!("agents/{owner}")), morning(&format!("calendars/{calendar}")), across(&[&owner, &other], "")];
    let all_show = async |expected: &[&str], what: &str| {
        // The first pass fills the caches, and the second reads them.
        for _ in 0..2 {
            for path in &paths {
                assert_eq!(starts(&api.get(path).await.expect(200)), expected, "{what}: {path}");
            }
        }
    };
    all_show(&["08:00", "09:00", "10:00", "11:00"], "nothing").await;
    let id = busy(&api, &calendar, "09:00", "10:00").await;
    all_show(&["08:00", "10:00", "11:00"], "added").await;
    let path = format!("/v1/events/{id}");
    api.patch(&path).json(json!({ "title": "Renamed" })).await.expect(200);
    all_show(&["08:00", "10:00", "11:00"], "renamed").await;
    api.patch(&path).json(json!({ "start_time": at("10:00"), "end_time": at("11:00") })).await.expect(200);
    all_show(&["08:00", "09:00", "11:00"], "moved").await;
    api.patch(&path)
        .json(json!({ "start_time": "2026-06-01T09:00:00Z", "end_time": "2026-06-01T10:00:00Z" }))
        .await
        .expect(200);
    all_show(&["08:00", "09:00", "10:00", "11:00"], "moved out of the range").await;
    api.patch(&path).json(json!({ "start_time": at("08:00"), "end_time": at("12:00") })).await.expect(200);
    all_show(&[], "moved back").await;
    api.patch(&path).json(json!({ "status": "cancelled" })).await.expect(200);
    all_show(&["08:00", "09:00", "10:00", "11:00"], "cancelled").await;
    api.patch(&path).json(json!({ "status": "tentative", "end_time": at("10:00") })).await.expect(200);
    all_show(&["10:00", "11:00"], "tentative").await;
    api.delete(&path).await.expect(204);
    all_show(&["08:00", "09:00", "10:00", "11:00"], "deleted").await;
    let batch =
        json!({ "events": [event_body("a", &at("08:00"), &at("09:00")), event_body("b", &at("11:00"), &at("12:00"))] });
    api.post(format!("/v1/calendars/{calendar}/events/batch")).json(batch).await.expect(201);
    all_show(&["09:00", "10:00"], "a batch").await;

    // An agent's calendars come and go.
    let second = calendar_of(&api, &owner).await;
    busy(&api, &second, "09:00", "10:00").await;
    assert_eq!(starts(&api.get(&paths[0]).await.expect(200)), ["10:00"]);
    assert_eq!(starts(&api.get(&paths[2]).await.expect(200)), ["10:00"]);
    api.delete(format!("/v1/calendars/{second}")).await.expect(204);
    all_show(&["09:00", "10:00"], "a calendar deleted").await;
    api.delete(format!("/v1/calendars/{calendar}")).await.expect(204);
    assert_eq!(starts(&api.get(&paths[0]).await.expect(200)).len(), 4);
    api.get(&paths[1]).await.refused(404, "not_found").code("calendar_not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn as_of_identifies_the_state_of_the_calendars(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (first, of_first) = agent_with_calendar(&api).await;
    let (second, of_second) = agent_with_calendar(&api).await;
    let as_of = async |path: String| {
        let answer = api.get(path).await.expect(200)["as_of"].as_str().unwrap().to_owned();
        assert!(answer.len() > 20 && answer.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
        answer
    };
    let all = async || {
        let of_agent = as_of(morning(&format!("agents/{first}"))).await;
        // An agent with one calendar has the same state as that calendar.
        assert_eq!(of_agent, as_of(morning(&format!("calendars/{of_first}"))).await);
        let busy = format!("{}&include_busy=true", morning(&format!("agents/{first}")));
        assert_eq!(of_agent, as_of(busy).await, "other fields do not change it");
        (of_agent, as_of(morning(&format!("agents/{second}"))).await, as_of(across(&[&first, &second], "")).await)
    };
    let empty = all().await;
    for _ in 0..2 {
        assert_eq!(all().await, empty, "nothing changed, cold or warm");
    }
    busy(&api, &of_first, "09:00", "10:00").await;
    let later = all().await;
    assert_ne!((&later.0, &later.2), (&empty.0, &empty.2));
    assert_eq!(later.1, empty.1, "only another calendar changed");
    let open =
        json!({ "buffer_before_minutes": 5, "buffer_after_minutes": 0, "working_hours": null, "timezone": "UTC" });
    api.put(format!("/v1/calendars/{of_second}/availability-rules")).json(open).await.expect(200);
    let ruled = all().await;
    assert_eq!(ruled.0, later.0);
    assert_ne!((&ruled.1, &ruled.2), (&later.1, &later.2));
    let nobody = api.post("/v1/agents").json(json!({ "name": "Ada", "type": "ai" })).await.expect(201).id();
    assert!(api.get(morning(&format!("agents/{nobody}"))).await.expect(200)["as_of"].is_string());
}
