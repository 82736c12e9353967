//! Lists: order, pages, totals, filters.

use crate::fixtures::{agent, agent_with_calendar, calendar_of, event, event_body, has_exactly, shared_calendar};
use crate::on_both;
use kalends_e2e::{Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

#[apply(on_both)]
#[tokio::test]
async fn pages_cut_a_list_without_gaps(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let empty = api.get("/v1/agents").await.expect(200);
    assert_eq!(empty.json, json!({ "data": [], "total": 0, "limit": 50, "offset": 0 }));

    let mut made = Vec::new();
    for _ in 0..7 {
        made.push(agent(&api).await);
    }
    let all = api.get("/v1/agents").await.expect(200);
    has_exactly(&all.json, &["data", "total", "limit", "offset"]);
    assert_eq!(all.column("id"), made, "sorted by creation, oldest first");
    let page = api.get("/v1/agents?limit=3&offset=2").await.expect(200);
    assert_eq!(page.column("id"), made[2..5]);
    assert_eq!((&page["total"], &page["limit"], &page["offset"]), (&json!(7), &json!(3), &json!(2)));
    assert_eq!(page.data()[0], all.data()[2], "a list has the same fields as a read");
    let beyond = api.get("/v1/agents?limit=200&offset=7").await.expect(200);
    assert_eq!((beyond.column("id").len(), &beyond["total"]), (0, &json!(7)));
    let far = api.get("/v1/agents?offset=1000000").await.expect(200);
    assert_eq!((far.column("id").len(), &far["total"]), (0, &json!(7)));
    assert_eq!(api.get("/v1/agents?limit=1").await.expect(200).column("id"), made[..1]);
}

#[apply(on_both)]
#[tokio::test]
async fn every_list_checks_limit_and_offset(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, calendar) = agent_with_calendar(&api).await;
    for path in [
        "/v1/agents".to_owned(),
        "/v1/calendars".to_owned(),
        "/v1/booking-pages".to_owned(),
        "/v1/approvals".to_owned(),
        format!("/v1/agents/{owner}/calendars"),
        format!("/v1/agents/{owner}/events"),
        format!("/v1/agents/{owner}/ical-subscriptions"),
        format!("/v1/calendars/{calendar}/events"),
    ] {
        for limit in ["0", "201", "-1", "x", "", "1.5", "99999999999999999999"] {
            let answer = api.get(&path).query(&[("limit", limit)]).await;
            answer.refused(400, "validation_error").param("limit");
        }
        for offset in ["-1", "x", "", "0x1", "-99999999999999999999"] {
            let answer = api.get(&path).query(&[("offset", offset)]).await;
            answer.refused(400, "validation_error").param("offset");
        }
        let answer = api.get(&path).query(&[("ofset", "1")]).await;
        answer.refused(400, "validation_error").param("ofset").code("unknown_field").mentions("offset");
        let answer = api.get(&path).query(&[("limit", "5"), ("limit", "6")]).await;
        answer.refused(400, "validation_error").param("limit");
        let widest = api.get(&path).query(&[("limit", "200"), ("offset", "0")]).await.expect(200);
        assert_eq!((&widest["limit"], &widest["offset"]), (&json!(200), &json!(0)));
    }
}

#[apply(on_both)]
#[tokio::test]
async fn agents_are_filtered(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let mut made = Vec::new();
    for kind in ["ai", "human", "ai", "resource"] {
        made.push(api.post("/v1/agents").json(json!({ "name": "Ada", "type": kind })).await.expect(201).id());
    }
    api.patch(format!("/v1/agents/{}", made[2])).json(json!({ "status": "paused" })).await.expect(200);
    for (query, expected) in [
        ("type=ai", vec![0, 2]),
        ("type=human", vec![1]),
        ("status=paused", vec![2]),
        ("status=active", vec![0, 1, 3]),
        ("type=ai&status=active", vec![0]),
        ("type=human&status=decommissioned", vec![]),
    ] {
        let list = api.get(format!("/v1/agents?{query}")).await.expect(200);
        let expected: Vec<_> = expected.into_iter().map(|index| made[index].clone()).collect();
        assert_eq!(list["total"], expected.len(), "{query}");
        assert_eq!(list.column("id"), expected, "{query}");
    }
    let page = api.get("/v1/agents?status=active&limit=1&offset=1").await.expect(200);
    assert_eq!((page.column("id"), &page["total"]), (vec![made[1].clone()], &json!(3)));
    api.get("/v1/agents?type=robot").await.refused(400, "validation_error").param("type");
    api.get("/v1/agents?status=asleep").await.refused(400, "validation_error").param("status");
}

#[apply(on_both)]
#[tokio::test]
async fn shared_calendars_are_listed_on_request(#[case] database: Database) {
    let (server, api) = Server::with_org(database, "pro").await;
    let stranger = server.api(&server.org("pro").await);
    agent_with_calendar(&stranger).await;
    let (first, own) = agent_with_calendar(&api).await;
    let shared = shared_calendar(&api, "UTC").await;
    let (second, other) = agent_with_calendar(&api).await;
    let third = calendar_of(&api, &first).await;

    let owned = api.get("/v1/calendars").await.expect(200);
    assert_eq!(owned.column("id"), [own.clone(), other.clone(), third.clone()]);
    assert_eq!(owned["total"], 3);
    let all = api.get("/v1/calendars?include=all").await.expect(200);
    assert_eq!(all.column("id"), [own.clone(), shared, other.clone(), third.clone()]);
    assert_eq!(all["total"], 4);
    let page = api.get("/v1/calendars?include=all&limit=1&offset=2").await.expect(200);
    assert_eq!((page.column("id"), &page["total"]), (vec![other.clone()], &json!(4)));
    api.get("/v1/calendars?include=none").await.refused(400, "validation_error").param("include");

    let of_first = api.get(format!("/v1/agents/{first}/calendars")).await.expect(200);
    assert_eq!((of_first.column("id"), &of_first["total"]), (vec![own.clone(), third.clone()], &json!(2)));
    let page = api.get(format!("/v1/agents/{first}/calendars?limit=1&offset=1")).await.expect(200);
    assert_eq!((page.column("id"), &page["total"]), (vec![third], &json!(2)));
    assert_eq!(api.get(format!("/v1/agents/{second}/calendars")).await.expect(200).column("id"), [other]);
}

#[apply(on_both)]
#[tokio::test]
async fn events_are_listed_by_start_and_filtered(#[case] database: Database) {
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, first) = agent_with_calendar(&api).await;
    let second = calendar_of(&api, &owner).await;
    let shared = shared_calendar(&api, "UTC").await;
    let at = |hour: u32| format!("2026-05-04T{hour:02}:00:00Z");
    let nine = event(&api, &first, &at(9), &at(10)).await;
    let seven = event(&api, &second, &at(7), &at(12)).await;
    let nine_again = event(&api, &first, &at(9), &at(11)).await;
    let eight = event(&api, &first, &at(8), &at(9)).await;
    event(&api, &shared, &at(6), &at(7)).await;
    let mut body = event_body("Perhaps", &at(10), &at(11));
    body["status"] = json!("tentative");
    let ten = api.post(format!("/v1/calendars/{first}/events")).json(body).await.expect(201).id();
    api.patch(format!("/v1/events/{eight}")).json(json!({ "status": "cancelled" })).await.expect(200);

    let of_calendar = format!("/v1/calendars/{first}/events");
    let of_agent = format!("/v1/agents/{owner}/events");
    for (path, query, expected) in [
        (&of_calendar, "", vec![&eight, &nine, &nine_again, &ten]),
        (&of_agent, "", vec![&seven, &eight, &nine, &nine_again, &ten]),
        // The start is at or after `start_after` and before `start_before`. The end does not matter.
        (&of_calendar, "start_after=2026-05-04T09:00:00Z", vec![&nine, &nine_again, &ten]),
        (&of_calendar, "start_after=2026-05-04T09:00:00.000001Z", vec![&ten]),
        (&of_calendar, "start_before=2026-05-04T09:00:00Z", vec![&eight]),
        (&of_agent, "start_before=2026-05-04T08:00:00Z", vec![&seven]),
        (
            &of_agent,
            "start_after=2026-05-04T10:00:00%2B02:00&start_before=2026-05-04T09:30:00Z",
            vec![&eight, &nine, &nine_again],
        ),
        (&of_agent, "start_after=2026-05-04T10:00:00Z&start_before=2026-05-04T10:00:00Z", vec![]),
        (&of_calendar, "status=cancelled", vec![&eight]),
        (&of_calendar, "status=tentative", vec![&ten]),
        (&of_agent, "status=confirmed", vec![&seven, &nine, &nine_again]),
        (&of_agent, "status=hold", vec![]),
        (&of_agent, "source=internal&status=cancelled", vec![&eight]),
        (&of_agent, "source=external_ical", vec![]),
    ] {
        let list = api.get(format!("{path}?{query}")).await.expect(200);
        assert_eq!(list.column("id").iter().collect::<Vec<_>>(), expected, "{query}");
        assert_eq!(list["total"], expected.len(), "{query}");
    }
    let page = api.get(format!("{of_agent}?limit=2&offset=1&status=confirmed")).await.expect(200);
    assert_eq!((page.column("id"), &page["total"]), (vec![nine, nine_again], &json!(3)));

    for path in [&of_calendar, &of_agent] {
        for (name, value) in
            [("status", "done"), ("source", "api"), ("start_after", "2026-05-04"), ("start_before", "soon")]
        {
            let answer = api.get(path).query(&[(name, value)]).await;
            answer.refused(400, "validation_error").param(name);
        }
        let naive = api.get(path).query(&[("start_after", "2026-05-04T09:00:00")]).await;
        naive.refused(400, "validation_error").param("start_after").code("invalid_time_format");
        let near = api.get(path).query(&[("start_befor", "2026-05-04T09:00:00Z")]).await;
        near.refused(400, "validation_error").param("start_befor").code("unknown_field").mentions("start_before");
    }
}
