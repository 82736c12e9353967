//! The stored data of human calendars: how long it counts, and that it stays secret.

use crate::on_both;
use std::time::Duration;

use kalends_e2e::{Answer, Database, Receiver, iso};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    claims::text,
    connecting::{ACCOUNT, CALENDARS, Connecting, TITLE, path_of},
    fixtures::event,
    holds::{hold_body, in_seconds},
    members::member,
    pages::Pages,
    secrecy::{holds, kept},
    stored::{execute, naming, tables},
};

const HOUR: i64 = 3_600;

#[apply(on_both)]
#[tokio::test]
async fn a_failing_provider_changes_nothing_until_its_data_is_stale(#[case] database: Database) {
    let mut it = Connecting::new(database).await;
    it.google.events(ACCOUNT, CALENDARS[0].0, &[it.event(9 * 60, 10 * 60)]);
    it.microsoft.events(ACCOUNT, CALENDARS[0].0, &[it.event(10 * 60, 11 * 60)]);
    let (first, second) = (it.granted(&it.google).await, it.granted(&it.microsoft).await);
    it.until_busy(&[(9 * 60, 11 * 60)]).await;
    for (provider, connection) in [(&it.google, &first), (&it.microsoft, &second)] {
        for status in [500, 429] {
            let before = it.console.get(path_of(connection)).await.expect(200);
            provider.fails(Some(status));
            it.ask_refresh(connection).await;
            let failed = it.wait_until(connection, "failed", |read| read["status"] != "active").await;
            assert_eq!(failed["status"], "error", "{}", failed.describe());
            let last_error = failed["last_error"].as_str().unwrap();
            assert!(last_error.starts_with("the provider") && !last_error.contains("Planted"), "{last_error}");
            assert_eq!(failed["last_refreshed_at"], before["last_refreshed_at"]);
            assert_eq!(failed["data"], "fresh");
            assert_eq!(it.busy(&it.calendar).await, it.spans(&[(9 * 60, 11 * 60)]));
            provider.fails(None);
            let read = it.refresh(connection).await;
            assert_eq!((&read["status"], &read["last_error"]), (&json!("active"), &Value::Null));
        }
        provider.fails(Some(503));
    }

    // The console shows the age of the data, and agents see how far to trust it.
    let states = async |it: &Connecting| {
        let read = it.console.get(path_of(&first)).await.expect(200);
        let known = it.available(&it.calendar).await;
        let slots = known["slots"].as_array().unwrap().len();
        (text(&read["data"]), text(&known["availability_state"]), slots)
    };
    it.restart_at_offset(HOUR - 120).await;
    let (data, state, slots) = states(&it).await;
    assert_eq!((data.as_str(), state.as_str()), ("fresh", "complete"));
    assert!(slots > 0);
    it.restart_at_offset(HOUR + 5).await;
    assert_eq!(states(&it).await, ("stale".to_owned(), "stale".to_owned(), 0));
    assert_eq!(it.external(&first).await[0]["data"], "stale");
    let known = it.available(&it.calendar).await;
    assert_eq!(known["warnings"].as_array().unwrap().len(), 1, "{}", known.describe());
    assert_eq!(it.explained(12 * 60, 13 * 60).await["availability_state"], "stale");
    let (start, end) = (iso(it.time(0)), iso(it.time(24 * 60)));
    let window = [("start", start.as_str()), ("end", &end), ("include_busy", "true"), ("allow_stale", "true")];
    let path = format!("/v1/calendars/{}/availability", it.calendar);
    let known = it.api.get(&path).query(&window).await.expect(200);
    assert!(!known["slots"].as_array().unwrap().is_empty());
    assert_eq!(crate::connecting::busy_of(&known), it.spans(&[(9 * 60, 11 * 60)]));

    it.restart_at_offset(24 * HOUR + 60).await;
    assert_eq!(states(&it).await, ("unavailable".to_owned(), "unavailable".to_owned(), 0));
    let known = it.api.get(&path).query(&window).await.expect(200);
    assert_eq!(
        (known["availability_state"].as_str(), crate::connecting::busy_of(&known)),
        (Some("unavailable"), vec![])
    );

    // Once the providers answer again, everything recovers.
    for provider in [&it.google, &it.microsoft] {
        provider.fails(None);
    }
    for connection in [&first, &second] {
        it.refresh(connection).await;
    }
    it.until_busy(&[(9 * 60, 11 * 60)]).await;
}

/// The duty refreshes without a request.
#[apply(on_both)]
#[tokio::test]
async fn changes_at_the_provider_are_read_within_five_minutes(#[case] database: Database) {
    let mut it = Connecting::new(database).await;
    for provider in [&it.google, &it.microsoft] {
        provider.events(ACCOUNT, CALENDARS[0].0, &[it.event(9 * 60, 10 * 60)]);
        it.granted(provider).await;
    }
    it.until_busy(&[(9 * 60, 10 * 60)]).await;
    it.google.events(ACCOUNT, CALENDARS[0].0, &[it.event(11 * 60, 12 * 60)]);
    it.microsoft.events(ACCOUNT, CALENDARS[0].0, &[it.event(13 * 60, 14 * 60)]);
    it.restart_at_offset(301).await;
    it.until_busy(&[(11 * 60, 12 * 60), (13 * 60, 14 * 60)]).await;
}

/// A user's busy times conflict with holds. The conflict has the time but not the title.
#[apply(on_both)]
#[tokio::test]
async fn a_hold_conflicts_with_human_busy_times(#[case] database: Database) {
    let it = Connecting::new(database).await;
    it.google.events(ACCOUNT, CALENDARS[0].0, &[it.event(9 * 60, 10 * 60)]);
    it.granted(&it.google).await;
    it.until_busy(&[(9 * 60, 10 * 60)]).await;
    let until = in_seconds(&it.api, 600).await;
    let events = format!("/v1/calendars/{}/events", it.calendar);
    let hold = |from: i64, to: i64| {
        let body = hold_body(&iso(it.time(from)), &iso(it.time(to)), &until, 0);
        it.api.post(&events).json(body)
    };
    let refused = hold(9 * 60 + 30, 10 * 60 + 30).await.refused(409, "conflict");
    assert_eq!(refused.at("/error/conflicts/0/kind"), "human_busy", "{}", refused.describe());
    assert!(!refused.text().contains("Planted"), "{}", refused.describe());
    hold(10 * 60, 10 * 60 + 30).await.expect(201);
}

#[apply(on_both)]
#[tokio::test]
async fn calendars_removed_at_the_provider_no_longer_count(#[case] database: Database) {
    let it = Connecting::new(database).await;
    for provider in [&it.google, &it.microsoft] {
        provider.events(ACCOUNT, CALENDARS[0].0, &[it.event(9 * 60, 10 * 60)]);
        provider.events(ACCOUNT, CALENDARS[1].0, &[it.event(11 * 60, 12 * 60)]);
        let connection = it.connect(provider, None).await;
        it.grant(&connection, &[0, 1], &it.to_agent()).await;
        it.until_busy(&[(9 * 60, 10 * 60), (11 * 60, 12 * 60)]).await;
        let before = it.external(&connection).await;
        provider.account(ACCOUNT, &[CALENDARS[0], ("new@group.example", "New"), (CALENDARS[2].0, "Called anew")]);
        it.refresh(&connection).await;
        assert_eq!(it.busy(&it.calendar).await, it.spans(&[(9 * 60, 10 * 60)]));
        let after = it.external(&connection).await;
        let names: Vec<_> = after.iter().map(|known| text(&known["name"])).collect();
        assert_eq!(names, [CALENDARS[0].1, "Called anew", "New"]);
        assert_eq!((&after[0]["id"], &after[1]["id"]), (&before[0]["id"], &before[2]["id"]));
        provider.account(ACCOUNT, &CALENDARS);
        it.console.delete(path_of(&connection)).await.expect(204);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn agents_see_only_busy_times(#[case] database: Database) {
    let receiver = Receiver::start().await;
    let variables = [("KALENDS_EGRESS_ALLOW", receiver.address()), ("KALENDS_LOG", "trace")];
    let it = Connecting::with(database, &variables).await;
    let hook = json!({ "url": receiver.url("/hook"), "events": ["*"] });
    it.api.post("/v1/webhooks").json(hook).await.expect(201);
    let key = it.api.post("/v1/keys").json(json!({ "agent_id": it.agent })).await.expect(201);
    let own = it.server.client(key["key"].as_str().unwrap());
    let mut secrets = Vec::new();
    for provider in [&it.google, &it.microsoft] {
        for (place, (id, _)) in (0..).zip(CALENDARS) {
            provider.events(
                ACCOUNT,
                id,
                &[it.event(place * 60, place * 60 + 30), it.event(300, 330), it.event(360, 400)],
            );
        }
        let link = it.ask().await;
        secrets.push(crate::connecting::token(&link));
        let opened = crate::connecting::open(&it.console, &secrets[secrets.len() - 1]).await.expect(200).id();
        let begun = it.begin(provider, Some(&opened)).await;
        let state = begun.cookie.split_once('=').unwrap().1.to_owned();
        let path = it.back(provider, &begun).await;
        let connection = it.connected(&it.answer(&path, &begun.cookie).await, Some(&opened));
        secrets.extend([state, path.split_once("code=").unwrap().1.split('&').next().unwrap().to_owned()]);
        let ids: Vec<_> = it.external(&connection).await.iter().map(|known| known["id"].clone()).collect();
        let body = json!({ "external_calendar_ids": ids, "audience": "all", "connection_link_id": opened });
        it.console.post("/v1/availability-grants").json(body).await.expect(201);
        it.console.patch(path_of(&connection)).json(json!({ "label": "Planted label" })).await.expect(200);
        it.until_busy(&[(0, 30), (60, 90), (120, 150), (300, 330), (360, 400)]).await;
        // The same with a renewed access token.
        provider.lasts(60);
        it.refresh(&connection).await;
        it.refresh(&connection).await;
        // Failures are logged without the data that they concern.
        provider.fails(Some(500));
        it.ask_refresh(&connection).await;
        it.wait_until(&connection, "in error", |read| read["status"] == "error").await;
    }
    let entry = event(&it.api, &it.calendar, &iso(it.time(600)), &iso(it.time(660))).await;
    receiver.wait_for_type("/hook", "event.created").await;

    let (start, end) = (iso(it.time(0)), iso(it.time(24 * 60)));
    let window = format!("start={start}&end={end}&include_busy=true");
    let when = format!("start={start}&end={end}");
    let mut answers: Vec<Answer> = Vec::new();
    for caller in [&it.api, &own] {
        let mut links = caller.post(it.links()).json(json!({})).await.expect(201);
        // The address is the only secret that an agent sees, and only for its own link.
        links.bytes = links.text().replace("/console/connect#", "").into_bytes();
        answers.push(caller.get(format!("/v1/connection-links/{}", links.id())).await.expect(200));
        for path in [
            format!("/v1/calendars/{}/availability?{window}", it.calendar),
            format!("/v1/agents/{}/availability?{window}", it.agent),
            format!("/v1/availability/explain?calendar={}&{when}", it.calendar),
            format!("/v1/availability/explain?agent={}&{when}", it.agent),
            format!("/v1/calendars/{}", it.calendar),
            "/v1/calendars?include=all".to_owned(),
            format!("/v1/calendars/{}/events", it.calendar),
            format!("/v1/events/{entry}"),
            format!("/v1/calendars/{}/context", it.calendar),
            format!("/v1/calendars/{}/changes", it.calendar),
            format!("/v1/calendars/{}/export.ics", it.calendar),
            format!("/v1/agents/{}", it.agent),
            format!("/v1/agents/{}/events", it.agent),
            "/v1/usage".to_owned(),
        ] {
            answers.push(caller.get(path).await.expect(200));
        }
        for path in ["/v1/calendar-connections", "/v1/availability-grants"] {
            answers.push(caller.get(path).await.refused(401, "authentication_error"));
        }
    }
    for path in ["/v1/agents", "/v1/audit-log?limit=200", "/v1/webhooks", "/v1/keys"] {
        answers.push(it.api.get(path).await.expect(200));
    }
    let across = format!("/v1/availability?agents={}&{window}", it.agent);
    answers.push(it.api.get(across).await.expect(200));
    let export = it.console.get("/v1/auth/export").await.expect(200);

    let tokens = [it.google.tokens(), it.microsoft.tokens()].concat();
    assert!(tokens.len() >= 4, "an access token and a refresh token for each provider: {tokens:?}");
    let personal = [TITLE, ACCOUNT, "Planted label"].into_iter().chain(CALENDARS.map(|(_, name)| name));
    let references = CALENDARS.map(|(id, _)| id);
    let personal: Vec<String> = personal.chain(references).map(str::to_owned).collect();
    let (log, kept) = (it.server.log(), kept(&it.server).await);
    for secret in personal.iter().chain(&tokens).chain(&secrets) {
        for answer in &answers {
            assert!(!answer.text().contains(secret), "{secret} is in an answer: {}", answer.describe());
        }
        for message in receiver.received("/hook") {
            assert!(!String::from_utf8_lossy(&message.body).contains(secret), "{secret} is sent");
        }
        assert!(!holds(&kept, secret), "{secret} is stored in clear");
        assert!(!log.contains(secret), "{secret} is in the log");
    }
    for secret in tokens.iter().chain(&secrets).map(String::as_str).chain([TITLE]) {
        assert!(!export.text().contains(secret), "{secret} is exported");
    }
    assert!(log.contains("DEBUG sqlx::query"), "the log is not at trace level");
    assert!(holds(&kept, "microsoft"), "the search covers the stored data");
}

#[apply(on_both)]
#[tokio::test]
async fn the_audit_log_records_connections(#[case] database: Database) {
    let it = Connecting::new(database).await;
    let link = it.opened().await;
    let connection = it.connect(&it.google, Some(&link)).await;
    let grant = it.grant(&connection, &[0], &it.to_agent()).await.id();
    it.console.post(format!("{}/pause", path_of(&connection))).await.expect(200);
    it.console.delete(format!("/v1/availability-grants/{grant}")).await.expect(204);
    it.console.delete(path_of(&connection)).await.expect(204);
    it.api.delete(format!("/v1/connection-links/{link}")).await.expect(204);
    let entries = async |action: &str| -> Vec<(String, String)> {
        let log = it.api.get(format!("/v1/audit-log?action={action}")).await.expect(200).data();
        let prefix = if action == "connection.create" { "svc_sk_" } else { "" };
        assert!(log.iter().all(|entry| text(&entry["actor_key_prefix"]).starts_with(prefix)), "{log:#?}");
        log.iter().rev().map(|entry| (text(&entry["path"]), text(&entry["resource"]))).collect()
    };
    let entry = |path: &str, resource: &str| (path.to_owned(), resource.to_owned());
    assert_eq!(entries("connection.create").await, [entry("/v1/calendars/{id}/connection-links", &link)]);
    let authorized = [
        entry("/v1/connection-links/open", &link),
        entry("/v1/calendar-connections/oauth/{provider}/start", &link),
        entry("/v1/calendar-connections/oauth/{provider}/callback", &connection),
        entry("/v1/availability-grants", &grant),
    ];
    assert_eq!(entries("connection.authorize").await, authorized);
    let revoked = [
        entry("/v1/calendar-connections/{id}/pause", &connection),
        entry("/v1/availability-grants/{id}", &grant),
        entry("/v1/calendar-connections/{id}", &connection),
        entry("/v1/connection-links/{id}", &link),
    ];
    assert_eq!(entries("connection.revoke").await, revoked);
}

#[apply(on_both)]
#[tokio::test]
async fn a_deleted_account_leaves_no_connection(#[case] database: Database) {
    let mut it = Connecting::new(database).await;
    it.google.events(ACCOUNT, CALENDARS[0].0, &[it.event(9 * 60, 10 * 60)]);
    let waiting = it.ask().await.id();
    let link = {
        let (_, calendar) = crate::fixtures::agent_with_calendar(&it.api).await;
        let made = it.api.post(format!("/v1/calendars/{calendar}/connection-links")).json(json!({})).await.expect(201);
        crate::connecting::open(&it.console, &crate::connecting::token(&made)).await.expect(200).id()
    };
    let connection = it.connect(&it.google, Some(&link)).await;
    let grant = it.grant(&connection, &[0], &it.to_agent()).await.id();
    it.until_busy(&[(9 * 60, 10 * 60)]).await;
    let external = text(&it.external(&connection).await[0]["id"]);
    it.begin(&it.microsoft, None).await;
    let things = [it.org.id.clone(), waiting, link, connection, grant, external];
    let stored = tables(&it.server).await;
    for thing in &things {
        assert!(!naming(&stored, thing).is_empty(), "{thing} is in no table");
    }

    let tokens = it.google.refresh_tokens(ACCOUNT);
    it.console.delete("/v1/auth/account").await.expect(204);
    assert!(tokens.len() == 1 && it.google.revoked() == tokens, "the token is revoked at the provider too");
    // Late enough that a request that was running can no longer add anything.
    it.server.restart_at_offset(60).await;
    let began = tokio::time::Instant::now();
    loop {
        let stored = tables(&it.server).await;
        let left: Vec<_> = things.iter().flat_map(|thing| naming(&stored, thing)).collect();
        if left.is_empty() {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{left:?} still name it");
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
}

/// The user sees a connection whose tokens cannot be opened, and deletes it. Nobody can revoke its consent, but those
/// of the user's other connections are revoked, also while it is there.
#[apply(on_both)]
#[tokio::test]
async fn a_connection_that_cannot_be_read_is_shown_and_deleted(#[case] database: Database) {
    let mut it = Connecting::new(database).await;
    let (bob, session) = member(&it.server, &it.console, "bob@example.com", "admin").await;
    let owner = std::mem::replace(&mut it.console, session);
    let broken = it.connect(&it.google, None).await;
    it.refresh(&broken).await;
    assert_eq!(execute(&it.server, "update calendar_connections set tokens = 'plain'").await, 1);
    it.google.account("first@planted.example", &[("first@planted.example", "First")]);
    let first = it.connect(&it.google, None).await;
    it.google.account("second@planted.example", &[("second@planted.example", "Second")]);
    let second = it.connect(&it.google, None).await;

    let listed = it.console.get("/v1/calendar-connections").await.expect(200);
    let ids: Vec<_> = listed.data().iter().map(|one| text(&one["id"])).collect();
    assert_eq!(ids, [&*broken, &*first, &*second]);
    let shown = it.console.get(path_of(&broken)).await.expect(200);
    assert_eq!(shown.at(""), listed.data()[0]);
    assert_eq!((&shown["label"], &shown["status"]), (&Value::Null, &json!("reauthorization_required")));
    let reason = text(&shown["last_error"]);
    assert!(reason.contains("delete the connection, and connect the account again"), "{reason}");
    for way in ["pause", "refresh", "reauthorize"] {
        let refused = it.console.post(format!("{}/{way}", path_of(&broken))).await.refused(409, "conflict");
        refused.code("reauthorization_required");
    }
    owner.get(path_of(&broken)).await.refused(404, "not_found");
    let export = it.console.get("/v1/auth/export").await.expect(200);
    assert!(ids.iter().all(|id| export.text().contains(id)), "{}", export.describe());

    let tokens = it.google.refresh_tokens("first@planted.example");
    it.console.delete(path_of(&first)).await.expect(204);
    assert_eq!(it.google.revoked(), tokens);

    let mut pages = Pages::new(&it.server);
    pages.sign_in(&bob.email).await;
    let list = "/console/connections";
    pages.send(&format!("/console/orgs/{}/switch", it.org.id), &[("next", list)]).await.leads_to(list);
    pages.open(list).await.says(200, "What is stored about this connection cannot be read");
    let path = format!("{list}/{broken}");
    pages.open(&format!("{path}/calendars")).await.says(409, "Disconnect it, and connect it again.");
    let password = format!("{list}/caldav?connection={broken}");
    pages.open(&password).await.says(409, "Disconnect it, and connect it again.");
    pages.open(&format!("{path}/disconnect")).await.says(200, "Everything stored about it will be deleted");
    let gone = pages.send(&format!("{path}/disconnect"), &[("org", &*it.org.id)]).await;
    gone.leads_to(&format!("{list}?done=disconnected"));
    assert_eq!(it.google.revoked(), tokens, "nobody can read these tokens");

    let left = it.google.refresh_tokens("second@planted.example");
    owner.delete(format!("/v1/auth/members/{}", bob.user)).await.expect(204);
    assert_eq!(it.google.revoked(), [tokens, left].concat());
}
