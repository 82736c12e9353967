//! A user connects a calendar, and agents see its busy times. Both providers are stand-ins.

use crate::on_both;
use std::collections::BTreeSet;

use kalends_e2e::{CalendarProvider, Database, TheirEvent, Transparency, iso};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    claims::text,
    connecting::{ACCOUNT, CALENDARS, Connecting, TITLE, path_of},
    fixtures::{agent_with_calendar, has_exactly, is_id, is_time, shared_calendar},
};

const CONNECTION: [&str; 10] = [
    "id",
    "provider",
    "label",
    "status",
    "last_refreshed_at",
    "next_refresh_at",
    "data",
    "last_error",
    "created_at",
    "updated_at",
];
const EXTERNAL: [&str; 7] = ["id", "connection_id", "name", "primary", "counts", "last_read_at", "data"];
const GRANTS: &str = "/v1/availability-grants";
const CONNECTIONS: &str = "/v1/calendar-connections";

/// The parameters of a consent page's URL.
fn query_of(url: &str) -> std::collections::BTreeMap<String, String> {
    reqwest::Url::parse(url).unwrap().query_pairs().into_owned().collect()
}

/// The whole flow, from an agent's link to the busy times.
async fn from_link_to_busy(it: &Connecting, provider: &CalendarProvider, scopes: &[&str], publishing: bool) {
    // Two adjacent events, one that is shown as free, and one on a calendar that is not chosen.
    let free = TheirEvent { transparency: Transparency::Free, ..it.event(11 * 60, 12 * 60) };
    let own = [it.event(9 * 60, 10 * 60), it.event(10 * 60, 10 * 60 + 30), it.event(14 * 60, 15 * 60), free];
    provider.events(ACCOUNT, CALENDARS[0].0, &own);
    provider.events(ACCOUNT, CALENDARS[1].0, &[it.event(16 * 60, 17 * 60)]);
    provider.events(ACCOUNT, CALENDARS[2].0, &[it.event(18 * 60, 19 * 60)]);
    let (_, others) = agent_with_calendar(&it.api).await;

    let capabilities = if publishing { json!(["availability", "publishing"]) } else { json!(["availability"]) };
    let made = it.api.post(it.links()).json(json!({ "capabilities": capabilities })).await.expect(201);
    let link = made.id();
    let opened = crate::connecting::open(&it.console, &crate::connecting::token(&made)).await.expect(200);
    assert_eq!(opened["capabilities"], capabilities);
    let poll = async || it.api.get(format!("/v1/connection-links/{link}")).await.expect(200);

    // The consent asks for the fewest scopes and is bound to the browser.
    let begun = it.begin(provider, Some(&link)).await;
    let wanted = query_of(&begun.url);
    assert_eq!(wanted["scope"].split(' ').collect::<BTreeSet<_>>(), scopes.iter().copied().collect());
    assert_eq!((&*wanted["response_type"], &*wanted["code_challenge_method"]), ("code", "S256"));
    assert_eq!(begun.cookie, format!("service_oauth_state={}", wanted["state"]));
    let callback = format!("{}/v1/calendar-connections/oauth/{}/callback", it.server.base_url(), provider.name());
    assert_eq!(wanted["redirect_uri"], callback);
    let ended = it.consent(provider, &begun).await;
    assert_eq!((ended.header("cache-control"), ended.header("referrer-policy")), ("no-store", "no-referrer"));
    assert_eq!(ended.header("set-cookie"), "service_oauth_state=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax");
    let connection = it.connected(&ended, Some(&link));
    let known = poll().await;
    assert_eq!((&known["status"], &known["connection_id"]), (&json!("in_progress"), &json!(connection)));

    // The console lists the calendars, the primary one first.
    let connection_now = it.console.get(path_of(&connection)).await.expect(200);
    let fields = if publishing { [&CONNECTION[..], &["publishing"]].concat() } else { CONNECTION.to_vec() };
    has_exactly(&connection_now.json, &fields);
    assert_eq!((&connection_now["provider"], &connection_now["label"]), (&json!(provider.name()), &Value::Null));
    let listed = it.external(&connection).await;
    let names: Vec<_> = listed.iter().map(|known| text(&known["name"])).collect();
    assert_eq!(names, CALENDARS.map(|(_, name)| name));
    for (place, known) in listed.iter().enumerate() {
        has_exactly(known, &EXTERNAL);
        is_id(&known["id"], "xcl_");
        assert_eq!((&known["primary"], &known["counts"]), (&json!(place == 0), &json!(false)));
        assert_eq!((&known["connection_id"], &known["data"]), (&json!(connection), &json!("unread")));
    }
    assert!(!connection_now.text().contains(ACCOUNT), "{}", connection_now.describe());
    assert_eq!(it.busy(&it.calendar).await, [], "nothing counts yet");

    // The user chooses two calendars for the agent that asked.
    let ids = [&listed[0]["id"], &listed[1]["id"]];
    let body = json!({
        "external_calendar_ids": ids, "audience": "selected", "agent_ids": [it.agent], "connection_link_id": link
    });
    let grant = it.console.post(GRANTS).header("idempotency-key", link.as_str()).json(body.clone()).await.expect(201);
    has_exactly(&grant.json, &["id", "external_calendar_ids", "audience", "agent_ids", "created_at"]);
    is_id(&grant["id"], "grt_");
    assert_eq!((&grant["audience"], &grant["agent_ids"]), (&json!("selected"), &json!([it.agent])));
    let again = it.console.post(GRANTS).header("idempotency-key", link.as_str()).json(body.clone()).await.expect(201);
    assert_eq!((again.header("idempotency-replayed"), &again.bytes), ("true", &grant.bytes));
    assert_eq!(it.console.get(GRANTS).await.expect(200).data(), std::slice::from_ref(&grant.json));
    let known = poll().await;
    assert_eq!((&known["status"], &known["connection_id"]), (&json!("completed"), &json!(connection)));
    it.console.post(GRANTS).json(body).await.refused(409, "conflict").code("link_over");
    it.api.delete(format!("/v1/connection-links/{link}")).await.refused(409, "conflict").code("link_over");

    it.until_busy(&[(9 * 60, 10 * 60 + 30), (14 * 60, 15 * 60), (16 * 60, 17 * 60)]).await;
    assert_eq!(it.busy(&others).await, [], "another agent is not affected");
    let why = it.explained(9 * 60 + 30, 10 * 60).await;
    let expected = json!([{
        "calendar_id": it.calendar, "reason": "human_busy",
        "start": iso(it.time(9 * 60 + 30)), "end": iso(it.time(10 * 60))
    }]);
    assert_eq!((&why["offered"], &why["reasons"]), (&json!(false), &expected));
    assert!(!why.text().contains("Planted"), "{}", why.describe());
    assert_eq!(it.explained(11 * 60, 12 * 60).await["offered"], true, "shown as free");
    assert_eq!(it.explained(18 * 60, 19 * 60).await["offered"], true, "not chosen");
    let connection_now = it.console.get(path_of(&connection)).await.expect(200);
    is_time(&connection_now["last_refreshed_at"]);
    assert_eq!((&connection_now["status"], &connection_now["data"]), (&json!("active"), &json!("fresh")));
    let counts: Vec<_> = it.external(&connection).await.iter().map(|known| known["counts"] == true).collect();
    assert_eq!(counts, [true, true, false]);

    // The export has the same data, and nothing that gives access to the account.
    let export = it.console.get("/v1/auth/export").await.expect(200);
    let mut exported = connection_now.json.clone();
    exported["external_calendars"] = Value::Array(it.external(&connection).await);
    assert_eq!(export["calendar_connections"], json!([exported]));
    assert_eq!(export["availability_grants"], json!([grant.json]));
    assert!(provider.refresh_tokens(ACCOUNT).iter().all(|token| !export.text().contains(token)));

    // Changes at the provider appear here after a requested refresh, even if the access token must be renewed first.
    provider.events(ACCOUNT, CALENDARS[0].0, &[it.event(8 * 60, 8 * 60 + 15)]);
    provider.lasts(60);
    for _ in 0..3 {
        it.refresh(&connection).await;
    }
    assert_eq!(it.busy(&it.calendar).await, it.spans(&[(8 * 60, 8 * 60 + 15), (16 * 60, 17 * 60)]));
    assert_eq!(provider.refresh_tokens(ACCOUNT).len(), 1);
}

#[apply(on_both)]
#[tokio::test]
async fn a_google_calendar_is_connected(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let scopes = [
        "https://www.googleapis.com/auth/calendar.freebusy",
        "https://www.googleapis.com/auth/calendar.calendarlist.readonly",
    ];
    from_link_to_busy(&it, &it.google, &scopes, false).await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_microsoft_calendar_is_connected(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let scopes = ["offline_access", "https://graph.microsoft.com/Calendars.ReadBasic"];
    from_link_to_busy(&it, &it.microsoft, &scopes, false).await;
    // Microsoft is asked only about the calendars that count.
    let views: BTreeSet<_> =
        it.microsoft.requests().into_iter().filter(|path| path.contains("/calendarView")).collect();
    assert_eq!(views.len(), 2, "{views:?}");
}

/// With consent to write events, busy times are read in the same way.
#[apply(on_both)]
#[tokio::test]
async fn a_microsoft_calendar_is_connected_to_publish(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let scopes = ["offline_access", "https://graph.microsoft.com/Calendars.ReadWrite"];
    from_link_to_busy(&it, &it.microsoft, &scopes, true).await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_grant_covers_selected_current_or_all_agents(#[case] database: Database) {
    let it = Connecting::new(database).await;
    it.google.events(ACCOUNT, CALENDARS[0].0, &[it.event(9 * 60, 10 * 60)]);
    let taken = it.spans(&[(9 * 60, 10 * 60)]);
    let (_, second) = agent_with_calendar(&it.api).await;
    let shared = shared_calendar(&it.api, "UTC").await;
    let connection = it.connect(&it.google, None).await;
    let selected = it.grant(&connection, &[0], &it.to_agent()).await.id();
    it.until_busy(&[(9 * 60, 10 * 60)]).await;
    let current = it.grant(&connection, &[0], &json!({ "audience": "all_current" })).await;
    assert_eq!(current["agent_ids"].as_array().unwrap().len(), 2);
    let (_, third) = agent_with_calendar(&it.api).await;
    let busy = async |calendar: &str| it.busy(calendar).await == taken;
    let each = async || [busy(&it.calendar).await, busy(&second).await, busy(&third).await, busy(&shared).await];
    it.refresh(&connection).await;
    assert_eq!(each().await, [true, true, false, false]);
    let all = it.grant(&connection, &[0], &json!({ "audience": "all" })).await;
    assert_eq!((&all["audience"], &all["agent_ids"]), (&json!("all"), &Value::Null));
    it.refresh(&connection).await;
    assert_eq!(each().await, [true; 4]);

    // Each grant is revoked separately. Times that only this grant made busy are free at once.
    let listed = it.console.get(GRANTS).await.expect(200);
    assert_eq!(listed.column("id"), [selected.clone(), current.id(), all.id()]);
    it.console.delete(format!("{GRANTS}/{}", all.id())).await.expect(204);
    assert_eq!(each().await, [true, true, false, false]);
    it.console.delete(format!("{GRANTS}/{}", current.id())).await.expect(204);
    assert_eq!(each().await, [true, false, false, false]);
    it.console.delete(format!("{GRANTS}/{selected}")).await.expect(204);
    assert_eq!(each().await, [false; 4]);
    for id in [selected.as_str(), "grt_00000000000000000000000000", "x"] {
        let missing = it.console.delete(format!("{GRANTS}/{id}")).await;
        missing.refused(404, "not_found").code("availability_grant_not_found");
    }
    // Nothing is kept of calendars without a grant.
    it.refresh(&connection).await;
    assert!(it.external(&connection).await.iter().all(|known| known["counts"] == false && known["data"] == "unread"));
}

#[apply(on_both)]
#[tokio::test]
async fn a_grant_counts_for_an_agent_without_a_calendar(#[case] database: Database) {
    let it = Connecting::new(database).await;
    it.google.events(ACCOUNT, CALENDARS[0].0, &[it.event(9 * 60, 10 * 60)]);
    let bare = crate::fixtures::agent(&it.api).await;
    let (start, end) = (iso(it.day), iso(it.time(24 * 60)));
    let window = [("start", start.as_str()), ("end", end.as_str()), ("include_busy", "true")];
    let alone = async || it.api.get(format!("/v1/agents/{bare}/availability")).query(&window).await.expect(200);
    let agents = format!("{},{bare}", it.agent);
    let across = async || {
        let request = it.api.get("/v1/availability").query(&window).query(&[("agents", agents.as_str())]);
        request.await.expect(200)
    };
    let why = async |from: i64, to: i64| {
        let (start, end) = (iso(it.time(from)), iso(it.time(to)));
        it.api.get(format!("/v1/availability/explain?agent={bare}&start={start}&end={end}")).await.expect(200)
    };
    let taken = json!([{ "start": iso(it.time(9 * 60)), "end": iso(it.time(10 * 60)) }]);
    assert_eq!(alone().await["per_agent_busy"], json!({ &bare: [] }));
    let connection = it.connect(&it.google, None).await;
    let selected = it.grant(&connection, &[0], &json!({ "audience": "selected", "agent_ids": [bare] })).await;
    it.refresh(&connection).await;

    let known = alone().await;
    assert_eq!(
        (&known["availability_state"], &known["per_agent_busy"]),
        (&json!("complete"), &json!({ &bare: taken }))
    );
    assert!(
        known["slots"].as_array().unwrap().iter().all(|slot| slot["start"] != taken[0]["start"]),
        "{}",
        known.describe()
    );
    let known = across().await;
    assert_eq!(known["per_agent_busy"], json!({ &it.agent: [], &bare: taken }));
    assert!(
        known["slots"].as_array().unwrap().iter().all(|slot| slot["start"] != taken[0]["start"]),
        "{}",
        known.describe()
    );
    let reasons = json!([{
        "calendar_id": null, "reason": "human_busy", "start": iso(it.time(9 * 60 + 30)), "end": iso(it.time(10 * 60))
    }]);
    let explained = why(9 * 60 + 30, 11 * 60).await;
    assert_eq!((&explained["offered"], &explained["reasons"]), (&json!(false), &reasons));
    assert_eq!(why(10 * 60, 11 * 60).await["offered"], true);

    // A grant for all agents counts too. A revoked grant frees its times at once.
    it.console.delete(format!("{GRANTS}/{}", selected.id())).await.expect(204);
    assert_eq!(alone().await["per_agent_busy"], json!({ &bare: [] }));
    it.grant(&connection, &[0], &json!({ "audience": "all" })).await;
    it.refresh(&connection).await;
    assert_eq!(across().await["per_agent_busy"], json!({ &it.agent: taken, &bare: taken }));
    // Once the agent has its own calendar, it is treated like any other agent.
    let calendar = crate::fixtures::calendar_of(&it.api, &bare).await;
    assert_eq!(alone().await["per_agent_busy"], json!({ &bare: taken }));
    assert_eq!(why(9 * 60, 10 * 60).await["reasons"][0]["calendar_id"], json!(calendar));
}

#[apply(on_both)]
#[tokio::test]
async fn grants_are_validated(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let connection = it.connect(&it.google, None).await;
    let known = text(&it.external(&connection).await[0]["id"]);
    let post = |body: Value| it.console.post(GRANTS).json(body);
    for (body, param) in [
        (json!({ "external_calendar_ids": [], "audience": "all" }), "external_calendar_ids"),
        (json!({ "external_calendar_ids": vec![known.clone(); 51], "audience": "all" }), "external_calendar_ids"),
        (json!({ "external_calendar_ids": [known], "audience": "some" }), "audience"),
        (json!({ "external_calendar_ids": [known], "audience": "selected" }), "agent_ids"),
        (json!({ "external_calendar_ids": [known], "audience": "selected", "agent_ids": [] }), "agent_ids"),
        (json!({ "external_calendar_ids": [known], "audience": "all", "agent_ids": [it.agent] }), "agent_ids"),
        (json!({ "external_calendar_ids": [known] }), "audience"),
        (json!({ "audience": "all" }), "external_calendar_ids"),
        (json!({ "external_calendar_ids": [known], "audience": "all", "name": "x" }), "name"),
    ] {
        let refused = post(body.clone()).await.refused(400, "validation_error");
        assert_eq!(refused.at("/error/param"), param, "{body}: {}", refused.describe());
    }
    for (ids, agents, code) in [
        (json!(["xcl_00000000000000000000000000"]), json!([it.agent]), "external_calendar_not_found"),
        (json!([known, "x"]), json!([it.agent]), "external_calendar_not_found"),
        (json!([known]), json!([it.agent, "agt_00000000000000000000000000"]), "agent_not_found"),
    ] {
        let body = json!({ "external_calendar_ids": ids, "audience": "selected", "agent_ids": agents });
        post(body).await.refused(404, "not_found").code(code);
    }
    let link = |id: &str| json!({ "external_calendar_ids": [known], "audience": "all", "connection_link_id": id });
    post(link("cln_00000000000000000000000000")).await.refused(404, "not_found").code("connection_link_not_found");
    let waiting = it.ask().await.id();
    post(link(&waiting)).await.refused(409, "conflict").code("link_not_opened");
    assert_eq!(it.console.get(GRANTS).await.expect(200)["total"], 0);
    // A user of another organization sees none of it.
    let stranger = crate::console::Human::sign_up(&it.server, "eve@example.com").await;
    let stranger = it.server.client(&stranger.token);
    let body = json!({ "external_calendar_ids": [known], "audience": "all" });
    stranger.post(GRANTS).json(body).await.refused(404, "not_found").code("external_calendar_not_found");
    for what in ["", "/external-calendars"] {
        let missing = stranger.get(format!("{}{what}", path_of(&connection))).await;
        missing.refused(404, "not_found").code("calendar_connection_not_found");
    }
    for what in ["refresh", "pause", "resume", "reauthorize"] {
        let missing = stranger.post(format!("{}/{what}", path_of(&connection))).await;
        missing.refused(404, "not_found").code("calendar_connection_not_found");
    }
    stranger.delete(path_of(&connection)).await.refused(404, "not_found");
    assert_eq!(stranger.get(CONNECTIONS).await.expect(200)["total"], 0);
}

#[apply(on_both)]
#[tokio::test]
async fn a_connection_is_named_paused_and_resumed(#[case] database: Database) {
    let it = Connecting::new(database).await;
    it.google.events(ACCOUNT, CALENDARS[0].0, &[it.event(9 * 60, 10 * 60)]);
    let connection = it.granted(&it.google).await;
    let other = it.connect(&it.microsoft, None).await;
    it.until_busy(&[(9 * 60, 10 * 60)]).await;
    let path = path_of(&connection);
    let named = it.console.patch(&path).json(json!({ "label": "Work" })).await.expect(200);
    has_exactly(&named.json, &CONNECTION);
    assert_eq!(named["label"], "Work");
    for (body, param) in [
        (json!({}), "body"),
        (json!({ "label": "" }), "label"),
        (json!({ "label": "x".repeat(256) }), "label"),
        (json!({ "label": 7 }), "label"),
        (json!({ "status": "paused" }), "status"),
    ] {
        it.console.patch(&path).json(body).await.refused(400, "validation_error").param(param);
    }
    let listed = it.console.get(CONNECTIONS).await.expect(200);
    assert_eq!(listed.column("id"), [connection.clone(), other.clone()]);
    assert_eq!(listed.data()[0]["label"], "Work");
    let page = it.console.get(format!("{CONNECTIONS}?limit=1&offset=1")).await.expect(200);
    assert_eq!((page.column("id"), &page["total"], &page["limit"]), (vec![other], &json!(2), &json!(1)));
    for list in [CONNECTIONS, GRANTS] {
        it.console.get(format!("{list}?limit=0")).await.refused(400, "validation_error").param("limit");
        it.console.get(format!("{list}?ofset=1")).await.refused(400, "validation_error").code("unknown_field");
        it.api.get(list).await.refused(401, "authentication_error");
    }
    assert_eq!(it.console.patch(&path).json(json!({ "label": null })).await.expect(200)["label"], Value::Null);

    let paused = it.console.post(format!("{path}/pause")).await.expect(200);
    assert_eq!(paused["status"], "paused");
    assert_eq!(it.busy(&it.calendar).await, [], "a paused connection does not count");
    it.console.post(format!("{path}/refresh")).await.refused(409, "conflict").code("connection_paused");
    it.console.post(format!("{path}/pause")).await.expect(200);
    let requests_before = it.google.requests().len();
    it.google.events(ACCOUNT, CALENDARS[0].0, &[it.event(11 * 60, 12 * 60)]);
    assert_eq!(it.google.requests().len(), requests_before);
    let resumed = it.console.post(format!("{path}/resume")).await.expect(200);
    assert_eq!(resumed["status"], "active");
    it.until_busy(&[(11 * 60, 12 * 60)]).await;
}

#[apply(on_both)]
#[tokio::test]
async fn disconnecting_deletes_the_connection_and_revokes_its_tokens(#[case] database: Database) {
    let it = Connecting::new(database).await;
    for provider in [&it.google, &it.microsoft] {
        provider.events(ACCOUNT, CALENDARS[0].0, &[it.event(9 * 60, 10 * 60)]);
        let connection = it.granted(provider).await;
        it.until_busy(&[(9 * 60, 10 * 60)]).await;
        let tokens = provider.refresh_tokens(ACCOUNT);
        let known = it.external(&connection).await;
        it.console.delete(path_of(&connection)).await.expect(204);
        // Microsoft has no revocation endpoint.
        let revoked = if provider.name() == "google" { tokens } else { Vec::new() };
        assert_eq!(provider.revoked(), revoked);
        assert_eq!(it.busy(&it.calendar).await, []);
        let gone = it.console.get(path_of(&connection)).await.refused(404, "not_found");
        gone.code("calendar_connection_not_found");
        it.console.get(format!("{}/external-calendars", path_of(&connection))).await.refused(404, "not_found");
        it.console.delete(path_of(&connection)).await.refused(404, "not_found");
        let grants = it.console.get(GRANTS).await.expect(200);
        assert!(!grants.text().contains(known[0]["id"].as_str().unwrap()), "{}", grants.describe());
    }
    assert_eq!(it.console.get(CONNECTIONS).await.expect(200)["total"], 0);

    // A provider that fails does not prevent the deletion.
    let connection = it.granted(&it.google).await;
    it.until_busy(&[(9 * 60, 10 * 60)]).await;
    it.google.fails(Some(500));
    it.console.delete(path_of(&connection)).await.expect(204);
    assert_eq!(it.busy(&it.calendar).await, []);
    assert!(!it.server.log().contains(TITLE));
}
