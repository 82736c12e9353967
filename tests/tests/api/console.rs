//! Users in the console: sign-up, sessions, cookies, and their organizations.

use crate::on_both;
use std::sync::atomic::{AtomicU32, Ordering};

use kalends_e2e::{
    Answer, Call, Client,
    Database::{self, Postgres, Sqlite},
    Server,
};
use reqwest::Method;
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::fixtures::{filled, has_exactly, wait_for};

pub(crate) const PASSWORD: &str = "correct horse battery staple";
const TERMS: &str = "2026-01-01";
const SIGN_IN: &str = "/v1/auth/signin";
const ME: &str = "/v1/auth/me";

/// A user who has signed up.
pub(crate) struct Human {
    pub(crate) email: String,
    pub(crate) org: String,
    pub(crate) user: String,
    pub(crate) key: String,
    /// The token of the user's first session.
    pub(crate) token: String,
}

impl Human {
    pub(crate) async fn sign_up(server: &Server, email: &str) -> Self {
        let made = server.anonymous().post("/v1/auth/signup").json(signing_up(email)).await.expect(201);
        let text = |pointer: &str| made.at(pointer).as_str().unwrap().to_owned();
        Self {
            email: email.to_owned(),
            org: text("/org/id"),
            user: text("/user/id"),
            key: text("/api_key"),
            token: cookie(&made).0,
        }
    }

    /// Begins another session and returns its token.
    async fn sign_in(&self, server: &Server) -> String {
        let body = json!({ "email": self.email, "password": PASSWORD });
        server.anonymous().post(SIGN_IN).json(body).await.expect(200)["token"].as_str().unwrap().to_owned()
    }
}

pub(crate) fn signing_up(email: &str) -> Value {
    json!({ "email": email, "password": PASSWORD, "name": "Ada", "org_name": "Engines", "tos_version": TERMS })
}

/// The session token in the cookie that an answer sets, and the cookie's attributes.
pub(crate) fn cookie(answer: &Answer) -> (String, String) {
    let line = answer.header("set-cookie");
    let (pair, attributes) = line.split_once("; ").unwrap_or_else(|| panic!("no cookie: {}", answer.describe()));
    (pair.strip_prefix("service_session=").unwrap().to_owned(), attributes.to_owned())
}

/// A request with a session cookie, as a page of the service sends it.
pub(crate) fn by_cookie(server: &Server, token: &str, method: Method, path: &str) -> Call {
    let call = server.anonymous().call(method, path).header("cookie", format!("service_session={token}"));
    call.header("origin", server.base_url())
}

async fn me(server: &Server, token: &str) -> Answer {
    server.client(token).get(ME).await
}

async fn signed_out(server: &Server, token: &str) {
    me(server, token).await.refused(401, "authentication_error");
    let call = server.anonymous().get(ME).header("cookie", format!("service_session={token}"));
    call.await.refused(401, "authentication_error");
}

#[apply(on_both)]
#[tokio::test]
async fn a_user_signs_up(#[case] database: Database) {
    let server = Server::start(database).await;
    let made = server.anonymous().post("/v1/auth/signup").json(signing_up("Ada@Example.com")).await.expect(201);
    has_exactly(&made.json, &["org", "user", "api_key"]);
    let (token, attributes) = cookie(&made);
    assert_eq!(
        attributes, "Path=/; Max-Age=43200; HttpOnly; SameSite=Lax",
        "the service runs on plain HTTP on the local machine"
    );
    assert_eq!(made.header("cache-control"), "no-store");
    let (user, org) = (&made["user"], &made["org"]);
    assert_eq!((&user["email"], &user["name"]), (&json!("ada@example.com"), &json!("Ada")));
    assert_eq!((&org["name"], &org["plan"], &org["is_waitlisted"]), (&json!("Engines"), &json!("free"), &json!(false)));
    assert!(user.get("password").is_none() && !made.text().contains("argon2"));

    let api = server.client(made["api_key"].as_str().unwrap());
    assert!(made["api_key"].as_str().unwrap().starts_with("svc_sk_"));
    assert_eq!(api.get("/v1/agents").await.expect(200)["total"], 0);

    // A session works by cookie and by token. Its requests are not counted.
    let seen = by_cookie(&server, &token, Method::GET, ME).await.expect(200);
    has_exactly(&seen.json, &["user", "org", "role", "plan", "accepted_terms_version"]);
    assert_eq!(seen["role"], "owner");
    assert_eq!((&seen["user"], &seen["org"]), (user, org));
    assert_eq!((&seen["plan"], &seen["accepted_terms_version"]), (&json!("free"), &json!(TERMS)));
    assert_eq!((seen.header("x-service-plan"), seen.header("ratelimit")), ("free", ""));
    assert_eq!(me(&server, &token).await.expect(200).json, seen.json);
    let used = api.get("/v1/usage").await.expect(200).at("/api_calls/used");
    assert_eq!(used, 2, "the two calls with the key");
    let owned = server.client(&token).get("/v1/auth/orgs").await.expect(200);
    assert_eq!((&owned["orgs"][0]["id"], &owned["orgs"][0]["active"]), (&org["id"], &json!(true)));

    // Without a name of its own, the organization is named after the user.
    let mut body = signing_up("grace@example.com");
    body.as_object_mut().unwrap().remove("org_name");
    let made = server.anonymous().post("/v1/auth/signup").json(body).await.expect(201);
    assert_eq!(made["org"]["name"], "Ada");
    let log = server.log();
    assert!(!log.contains(PASSWORD) && !log.contains(&token), "{log}");
}

#[apply(on_both)]
#[tokio::test]
async fn a_bad_sign_up_is_refused(#[case] database: Database) {
    let server = Server::start_with(database, &[("KALENDS_LOG", "debug")]).await;
    let anybody = server.anonymous();
    let sign_up = |body: Value| anybody.post("/v1/auth/signup").json(body);
    let with = |field: &str, value: Value| {
        let mut body = signing_up("ada@example.com");
        body[field] = value;
        body
    };
    let stale = sign_up(with("tos_version", json!("2020-01-01"))).await.refused(409, "tos_version_stale");
    assert_eq!(stale["error"]["current_version"], TERMS);
    for (field, value) in [
        ("email", json!("ada")),
        ("password", json!("too short")),
        ("password", json!("x".repeat(129))),
        ("password", json!(4_831_207_734_u64)),
        ("password", json!(["4831207734"])),
        ("password", json!(null)),
        ("name", json!("")),
        ("name", json!("x".repeat(101))),
        ("org_name", json!("x".repeat(256))),
        ("tos_version", json!("")),
    ] {
        let refused = sign_up(with(field, value)).await.refused(400, "validation_error").param(field);
        assert!(
            !refused.text().contains("4831207734") && !refused.text().contains("too short"),
            "{}",
            refused.describe()
        );
    }
    sign_up(with("plan", json!("pro"))).await.refused(400, "validation_error").code("unknown_field");

    // A user's address is taken, also for the waitlist.
    Human::sign_up(&server, "ada@example.com").await;
    sign_up(signing_up("ADA@example.com.")).await.refused(409, "conflict").code("email_taken");
    let join = json!({ "email": "ada@example.com", "tos_version": TERMS });
    anybody.post("/v1/waitlist").json(join).await.refused(409, "conflict").code("email_taken");

    // The answer says that a user is on the waiting list. After activation, their sign-up gets the waitlisted organization.
    let join = json!({ "email": "bob@example.com", "name": "Bob", "tos_version": TERMS });
    let place = anybody.post("/v1/waitlist").json(join).await.expect(201).at("/data/id");
    sign_up(signing_up("bob@example.com")).await.refused(403, "account_waitlisted");
    server.cli(&["org", "activate", place.as_str().unwrap()]).await.succeeded();
    let bob = Human::sign_up(&server, "bob@example.com").await;
    assert_eq!(bob.org, place.as_str().unwrap());

    // An agent's organization has no owner until it is claimed.
    let agent = json!({ "email": "eve@example.com", "agent_name": "Scout", "tos_version": TERMS });
    let theirs = anybody.post("/v1/agent/sign-up").json(agent).await.expect(200)["org_id"].clone();
    assert_ne!(json!(Human::sign_up(&server, "eve@example.com").await.org), theirs);

    // Sign-ups per mail domain are limited. Users and agents share the limit.
    let mut status = 201;
    let mut count = 0;
    while status == 201 {
        count += 1;
        assert!(count < 12);
        status = sign_up(signing_up(&format!("human-{count}@crowd.example"))).await.status;
    }
    assert_eq!((status, count), (429, 11));
    let agent = json!({ "email": "scout@crowd.example", "agent_name": "Scout", "tos_version": TERMS });
    anybody.post("/v1/agent/sign-up").json(agent).await.refused(429, "rate_limit_error");
    let log = server.log();
    assert!(!log.contains(PASSWORD) && !log.contains("4831207734"), "{log}");
}

#[apply(on_both)]
#[tokio::test]
async fn a_user_signs_in(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let sign_in = |email: &str, password: &str| {
        server.anonymous().post(SIGN_IN).json(json!({ "email": email, "password": password }))
    };
    let entered = sign_in("ADA@example.com", PASSWORD).await.expect(200);
    has_exactly(&entered.json, &["token", "user", "org"]);
    assert_eq!((&entered["user"]["id"], &entered["org"]["id"]), (&json!(ada.user), &json!(ada.org)));
    let (token, attributes) = cookie(&entered);
    assert_eq!((entered["token"].as_str(), attributes.contains("HttpOnly")), (Some(token.as_str()), true));
    assert_ne!(token, ada.token);
    me(&server, &token).await.expect(200);
    me(&server, &ada.token).await.expect(200);

    // A wrong address and a wrong password get the same error.
    let refusal = async |email: &str, password: &str| {
        let mut refused = sign_in(email, password).await.refused(401, "authentication_error");
        refused.json["error"]["request_id"] = Value::Null;
        assert_eq!(refused.header("set-cookie"), "");
        refused.json
    };
    let wrong = refusal("ada@example.com", "correct horse battery stapl").await;
    for (email, password) in [
        ("nobody@example.com", PASSWORD),
        ("ada@example.com", ""),
        ("ada@example.com", "x"),
        ("ada@example.com", &"x".repeat(1_000)),
        ("nobody@example.com", ""),
    ] {
        assert_eq!(refusal(email, password).await, wrong);
    }
    sign_in("ada", PASSWORD).await.refused(400, "validation_error").param("email");

    // The organization's log has both, without any secret.
    let log = server.client(&ada.key).get("/v1/audit-log?action=auth.signin").await.expect(200);
    assert_eq!(log.data()[0]["actor_key_prefix"], ada.user[..20]);
    let failures = || async { server.client(&ada.key).get("/v1/audit-log?action=auth.failure").await };
    wait_for(failures, |answer| !answer.data().is_empty()).await;
    let failures = failures().await;
    assert_eq!((failures.data().len(), &failures.data()[0]["status"]), (1, &json!(401)), "sampled");
    assert!(!failures.text().contains("battery") && !log.text().contains(&token));

    // A waitlisted user may sign in.
    server.cli(&["org", "waitlist", &ada.org]).await.succeeded();
    let waiting = me(&server, &ada.sign_in(&server).await).await.expect(200);
    assert_eq!(waiting["org"]["is_waitlisted"], true);
}

#[apply(on_both)]
#[tokio::test]
async fn password_attempts_are_limited(#[case] database: Database) {
    let server = Server::start_with(database, &[("KALENDS_IP_LIMITS", "sign_in=3,sign_up=1,waitlist=1")]).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let anybody = server.anonymous().impatient();
    anybody.post("/v1/auth/signup").json(signing_up("eve@example.com")).await.refused(429, "rate_limit_error");
    let wrong = json!({ "email": "ada@example.com", "password": "wrong" });
    let change = json!({ "current_password": "wrong", "new_password": PASSWORD });
    let mine = server.client(&ada.token).impatient();
    let sign_in = async || anybody.post(SIGN_IN).json(wrong.clone()).await;
    let replace = async || mine.post("/v1/auth/password").json(change.clone()).await;
    // Sign-ins and changes of a password count together.
    let turn = AtomicU32::new(0);
    let in_turn = async || {
        let is_sign_in = turn.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
        let answer = if is_sign_in { sign_in().await } else { replace().await };
        match answer.status {
            429 => answer,
            _ if is_sign_in => answer.refused(401, "authentication_error"),
            _ => answer.refused(400, "validation_error").param("current_password"),
        }
    };
    let mut attempts = filled(3, in_turn).await;
    attempts.refuses(sign_in).await;
    attempts.refuses(replace).await;
    // Requests that do not check a password still work.
    let patient = server.client(&ada.token);
    for _ in 0..12 {
        patient.get(ME).await.expect(200);
    }
    let join = |email: &str| json!({ "email": email, "tos_version": TERMS });
    anybody.post("/v1/waitlist").json(join("eve@example.com")).await.expect(201);
    anybody.post("/v1/waitlist").json(join("eve@example.com")).await.refused(429, "rate_limit_error");
}

#[apply(on_both)]
#[tokio::test]
async fn an_ended_session_is_refused_at_once_on_every_node(#[case] database: Database) {
    let server = Server::start(database).await;
    let other = if database == Postgres { Some(server.another_node().await) } else { None };
    let elsewhere = other.as_ref().unwrap_or(&server);
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let (second, third) = (ada.sign_in(&server).await, ada.sign_in(elsewhere).await);
    for token in [&ada.token, &second, &third] {
        assert_eq!(me(&server, token).await.expect(200).json, me(elsewhere, token).await.expect(200).json);
    }
    let out = by_cookie(&server, &second, Method::POST, "/v1/auth/signout").await.expect(204);
    assert_eq!(out.header("set-cookie"), "service_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax");
    signed_out(elsewhere, &second).await;
    signed_out(&server, &second).await;
    by_cookie(&server, &second, Method::POST, "/v1/auth/signout").await.refused(401, "authentication_error");
    me(elsewhere, &third).await.expect(200);

    // A password change ends every session and begins a new one.
    let change = |current: &str, new: &str| {
        let body = json!({ "current_password": current, "new_password": new });
        server.client(&ada.token).post("/v1/auth/password").json(body)
    };
    change("wrong", "a new password").await.refused(400, "validation_error").param("current_password");
    change(PASSWORD, "short").await.refused(400, "validation_error").param("new_password");
    me(elsewhere, &ada.token).await.expect(200);
    let fresh = cookie(&change(PASSWORD, "a new password").await.expect(204)).0;
    for token in [&ada.token, &third] {
        signed_out(elsewhere, token).await;
        signed_out(&server, token).await;
    }
    me(elsewhere, &fresh).await.expect(200);
    let sign_in = |password: &str| {
        elsewhere.anonymous().post(SIGN_IN).json(json!({ "email": "ada@example.com", "password": password }))
    };
    sign_in(PASSWORD).await.refused(401, "authentication_error");
    sign_in("a new password").await.expect(200);
    // Keys are not affected.
    server.client(&ada.key).get("/v1/agents").await.expect(200);
}

#[rstest]
#[case::sqlite(Sqlite)]
#[tokio::test]
async fn a_session_lasts_half_a_day(#[case] database: Database) {
    let mut server = Server::start(database).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    server.restart_at_offset(12 * 3_600 - 60).await;
    me(&server, &ada.token).await.expect(200);
    server.restart_at_offset(12 * 3_600 + 1).await;
    signed_out(&server, &ada.token).await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_cookie_may_write_only_from_the_service_s_pages(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let own = server.base_url().to_owned();
    let origins = [None, Some(own.as_str()), Some("https://evil.example"), Some("null"), Some("")];
    let sites = [None, Some("same-origin"), Some("same-site"), Some("cross-site"), Some("none")];
    let from = |call: Call, origin: Option<&str>, site: Option<&str>| {
        let call = origin.into_iter().fold(call, |call, origin| call.header("origin", origin));
        site.into_iter().fold(call, |call, site| call.header("sec-fetch-site", site))
    };
    let cookie = format!("service_session={}", ada.token);
    let name = json!({ "name": "Countess" });
    let credentials = json!({ "email": "ada@example.com", "password": PASSWORD });
    let mut allowed = 0;
    for origin in origins {
        for site in sites {
            let ours = matches!(
                (origin, site),
                (Some(_), None | Some("same-origin")) if origin == Some(own.as_str())
            ) || (origin, site) == (None, Some("same-origin"));
            let write = server.anonymous().patch(ME).header("cookie", &cookie).json(name.clone());
            let written = from(write, origin, site).await;
            if ours {
                written.expect(200);
                allowed += 1;
            } else {
                written.refused(403, "forbidden").code("cross_site");
            }
            // Reads change nothing. Another site cannot send a token.
            from(server.anonymous().get(ME).header("cookie", &cookie), origin, site).await.expect(200);
            from(server.client(&ada.token).patch(ME).json(name.clone()), origin, site).await.expect(200);
            // Another site cannot sign anyone in. A request with neither header does not come from a browser.
            let entered = from(server.anonymous().post(SIGN_IN).json(credentials.clone()), origin, site).await;
            if ours || (origin, site) == (None, None) {
                entered.expect(200);
            } else {
                entered.refused(403, "forbidden").code("cross_site");
            }
        }
    }
    assert_eq!(allowed, 3);
    // A repeated `Origin` header is refused. Two different session cookies count as none.
    let twice = by_cookie(&server, &ada.token, Method::PATCH, ME).header("origin", "https://evil.example");
    twice.json(name.clone()).await.refused(403, "forbidden");
    let two = server.anonymous().get(ME).header("cookie", format!("{cookie}; service_session=other"));
    two.await.refused(401, "authentication_error");
    // If there is a bearer token, the cookie is ignored.
    let both = server.client("svc_sk_garbage").get(ME).header("cookie", &cookie);
    both.await.refused(401, "authentication_error");
}

#[rstest]
#[case::sqlite(Sqlite)]
#[tokio::test]
async fn a_cookie_is_secure_if_the_base_url_is_https(#[case] database: Database) {
    let server = Server::start_with(database, &[("KALENDS_BASE_URL", "https://calendar.example.com")]).await;
    let made = server.anonymous().post("/v1/auth/signup").json(signing_up("ada@example.com")).await.expect(201);
    let (token, attributes) = cookie(&made);
    assert_eq!(attributes, "Path=/; Max-Age=43200; HttpOnly; Secure; SameSite=Lax");
    let write = |origin: &str| {
        let call = server.anonymous().patch(ME).header("cookie", format!("service_session={token}"));
        call.header("origin", origin).json(json!({ "name": "Countess" }))
    };
    write("https://calendar.example.com").await.expect(200);
    write(server.base_url()).await.refused(403, "forbidden").code("cross_site");
}

#[apply(on_both)]
#[tokio::test]
async fn keys_and_sessions_are_distinguished(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let tokens = [
        ada.key.clone(),
        "x".to_owned(),
        "e30.e30.e30".to_owned(),
        format!("{}x", ada.token),
        // An unsigned token.
        format!("eyJhbGciOiJub25lIn0.{}.", ada.token.split('.').nth(1).unwrap()),
    ];
    for token in &tokens {
        for (method, path) in [(Method::GET, ME), (Method::POST, "/v1/auth/signout"), (Method::GET, "/v1/auth/orgs")] {
            server.client(token).call(method, path).await.refused(401, "authentication_error");
        }
        let by_cookie = by_cookie(&server, token, Method::GET, ME).await.refused(401, "authentication_error");
        assert_eq!(by_cookie.header("x-service-plan"), "");
    }
    server.anonymous().get(ME).await.refused(401, "authentication_error");
    // On the other routes, such a token counts as a wrong key.
    for token in &tokens[1..] {
        server.client(token).get("/v1/agents").await.refused(401, "unauthorized");
        by_cookie(&server, token, Method::GET, "/v1/agents").await.refused(401, "authentication_error");
    }
    // The tools need a key.
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    server.client(&ada.token).post("/mcp").json(list).await.refused(401, "unauthorized");
}

#[apply(on_both)]
#[tokio::test]
async fn a_session_speaks_for_its_organization(#[case] database: Database) {
    let server = Server::start(database).await;
    let (ada, bob) =
        (Human::sign_up(&server, "ada@example.com").await, Human::sign_up(&server, "bob@example.com").await);
    let key = server.client(&ada.key);
    let session = server.client(&ada.token);

    // By token and by cookie, it does what the organization's key does, for its own organization only.
    let made = session.post("/v1/agents").json(json!({ "name": "Scout", "type": "ai" })).await.expect(201);
    assert_eq!(made.header("cache-control"), "no-store", "a browser keeps no answer to a session");
    assert_eq!(made.header("x-service-plan"), "free");
    let agent = format!("/v1/agents/{}", made.id());
    let read = by_cookie(&server, &ada.token, Method::GET, &agent).await.expect(200);
    assert_eq!(read.json, key.get(&agent).await.expect(200).json);
    assert_eq!(read.header("cache-control"), "no-store");
    by_cookie(&server, &bob.token, Method::GET, &agent).await.refused(404, "not_found");
    let calendar = json!({ "name": "Work", "timezone": "Europe/Berlin" });
    let made = by_cookie(&server, &ada.token, Method::POST, &format!("{agent}/calendars")).json(calendar).await;
    let calendar = made.expect(201).id();
    let event = json!({ "title": "x", "start_time": "2031-01-01T09:00:00Z", "end_time": "2031-01-01T10:00:00Z" });
    session.post(format!("/v1/calendars/{calendar}/events")).json(event).await.expect(201);
    assert_eq!(key.get(format!("/v1/calendars/{calendar}/events")).await.expect(200)["total"], 1);

    // A cookie changes something only if one of the service's own pages sends it.
    let foreign = server.anonymous().delete(&agent).header("cookie", format!("service_session={}", ada.token));
    foreign.header("origin", "https://evil.example").await.refused(403, "forbidden").code("cross_site");
    // A key goes first: the cookie beside a wrong one does not count.
    let both = by_cookie(&server, &ada.token, Method::GET, &agent).header("authorization", "Bearer svc_sk_garbage");
    both.await.refused(401, "unauthorized");

    // Its requests are API calls like those with a key, are recorded like them, and have the same limits.
    let before = key.get("/v1/usage").await.expect(200);
    let after = session.get("/v1/usage").await.expect(200);
    let calls = |usage: &Answer| usage.at("/api_calls/used").as_i64().unwrap();
    assert_eq!(calls(&after), calls(&before) + 1);
    assert!(!after.header("ratelimit").is_empty());
    let recorded = session.get("/v1/audit-log?limit=100").await.expect(200);
    let by = |action: &str| {
        let entries = recorded["data"].as_array().unwrap().iter();
        let of_action = entries.filter(|entry| entry["action"] == action);
        of_action.map(|entry| entry["actor_key_prefix"].clone()).collect::<Vec<_>>()
    };
    for action in ["agent.create", "calendar.create", "event.create"] {
        assert_eq!(by(action), [json!(ada.user[..20])], "{action}: {}", recorded.describe());
    }

    // Signed out, it speaks for no organization.
    session.post("/v1/auth/signout").await.expect(204);
    session.get(&agent).await.refused(401, "unauthorized");
    by_cookie(&server, &ada.token, Method::GET, &agent).await.refused(401, "authentication_error");
}

#[apply(on_both)]
#[tokio::test]
async fn calls_with_sessions_count_toward_the_quota(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let limits = r#"{"rate_per_second":1000,"api_calls":5}"#;
    server.cli(&["org", "set-plan", &ada.org, "free", "--limits", limits]).await.succeeded();
    let (session, other) = (server.client(&ada.token), server.client(&ada.sign_in(&server).await));
    for number in 0..5 {
        if number % 2 == 0 { &session } else { &other }.get("/v1/agents").await.expect(200);
    }
    for caller in [&session, &other] {
        let refused = caller.get("/v1/agents").await.refused(429, "quota_exceeded");
        assert!(refused.header("ratelimit").contains("r=0"), "{}", refused.describe());
    }
    // The user's own account stays reachable.
    session.get(ME).await.expect(200);
}

#[apply(on_both)]
#[tokio::test]
async fn a_user_switches_between_their_organizations(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let bob = Human::sign_up(&server, "bob@example.com").await;
    let second = server.org_with("pro", &["--email", "second@example.com"]).await;
    let other = ada.sign_in(&server).await;
    own(&server, "ada@example.com", "second@example.com").await;

    let switch = |token: &str, org: &str| server.client(token).post(format!("/v1/auth/orgs/{org}/switch"));
    for org in [bob.org.as_str(), "org_nobody", "x"] {
        switch(&ada.token, org).await.refused(404, "not_found").code("organization_not_found");
    }
    let switched = switch(&ada.token, &second.id).await.expect(200);
    assert_eq!((&switched["org"]["id"], &switched["plan"]), (&json!(second.id), &json!("pro")));
    assert_eq!(switched.header("x-service-plan"), "pro");
    assert_eq!(me(&server, &ada.token).await.expect(200).json, switched.json);
    assert_eq!(me(&server, &other).await.expect(200)["org"]["id"], json!(ada.org), "other sessions stay");
    server.client(&ada.token).post("/v1/agents").json(json!({ "name": "Scout", "type": "ai" })).await.expect(201);
    assert_eq!(server.api(&second).get("/v1/agents").await.expect(200)["total"], 1, "it speaks for the other one");
    let owned = server.client(&ada.token).get("/v1/auth/orgs").await.expect(200);
    let listed: Vec<_> = owned["orgs"].as_array().unwrap().iter().map(|org| (&org["id"], &org["active"])).collect();
    assert_eq!(listed, [(&json!(second.id), &json!(true)), (&json!(ada.org), &json!(false))]);
    let log = server.api(&second).get("/v1/audit-log?action=auth.signin").await.expect(200);
    assert_eq!(log.data()[0]["actor_key_prefix"], ada.user[..20]);
    switch(&ada.token, &ada.org).await.expect(200);
    assert_eq!(me(&server, &ada.token).await.expect(200)["plan"], "free");
}

/// The session of a user who owns the organization with this address.
pub(crate) async fn owner(server: &Server, organization: &str) -> Client {
    let human = Human::sign_up(server, &format!("owner-of-{organization}")).await;
    own(server, &human.email, organization).await;
    server.client(&human.sign_in(server).await)
}

/// Makes a user the owner of the organization with this address.
pub(crate) async fn own(server: &Server, human: &str, organization: &str) {
    use sqlx::Connection as _;
    let statement = format!(
        "insert into organization_owners (org_id, user_id, owned_since)
         select o.id, u.id, 1 from organizations o cross join users u
         where o.email = '{organization}' and u.email = '{human}'"
    );
    let statement = sqlx::AssertSqlSafe(statement);
    match server.postgres_url() {
        Some(url) => {
            let mut connection = sqlx::PgConnection::connect(&url).await.unwrap();
            sqlx::query(statement).execute(&mut connection).await.unwrap();
        }
        None => {
            let file = format!("sqlite://{}?mode=rw", server.data_dir().join("kalends.db").display());
            let mut connection = sqlx::SqliteConnection::connect(&file).await.unwrap();
            sqlx::query(statement).execute(&mut connection).await.unwrap();
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_user_s_request_is_idempotent(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let bob = Human::sign_up(&server, "bob@example.com").await;
    let rename =
        |client: &Client, name: &str| client.patch(ME).header("idempotency-key", "one").json(json!({ "name": name }));
    let first = rename(&server.client(&ada.token), "Ada King").await.expect(200);
    // A replay works in every session of the user.
    let again = rename(&server.client(&ada.sign_in(&server).await), "Ada King").await.expect(200);
    assert_eq!((again.header("idempotency-replayed"), &again.json), ("true", &first.json));
    rename(&server.client(&ada.token), "Countess").await.refused(422, "validation_error").code("idempotency_mismatch");
    let theirs = rename(&server.client(&bob.token), "Ada King").await.expect(200);
    assert_eq!((theirs.header("idempotency-replayed"), &theirs["user"]["id"]), ("", &json!(bob.user)));
    server.client(&bob.token).patch(ME).json(json!({})).await.refused(400, "validation_error").param("body");
    server
        .client(&bob.token)
        .patch(ME)
        .json(json!({ "name": null }))
        .await
        .refused(400, "validation_error")
        .param("name");
}

#[apply(on_both)]
#[tokio::test]
async fn a_password_is_set_by_mail(#[case] database: Database) {
    let server = Server::start(database).await;
    let other = if database == Postgres { Some(server.another_node().await) } else { None };
    let elsewhere = other.as_ref().unwrap_or(&server);
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let anybody = server.anonymous();
    let forgot = |email: &str| anybody.post("/v1/auth/password/forgot").json(json!({ "email": email }));
    let known = forgot("ada@example.com").await.expect(202);
    let unknown = forgot("nobody@example.com").await.expect(202);
    assert_eq!(known.json, unknown.json, "the answer does not say who has an account");
    has_exactly(&known.json, &["message"]);
    forgot("ada").await.refused(400, "validation_error").param("email");

    let mails = server.wait_for_mails(1).await;
    assert_eq!((mails[0].to.as_str(), mails[0].subject.as_str()), ("ada@example.com", "Set a new Kalends password"));
    let (_, rest) = mails[0].text.split_once(&format!("{}/console/reset#", server.base_url())).unwrap();
    let token = rest.split_whitespace().next().unwrap().to_owned();
    let reset = |token: &str, password: &str| {
        let body = json!({ "token": token, "password": password });
        elsewhere.anonymous().post("/v1/auth/password/reset").json(body)
    };
    reset("x", "a new password").await.refused(400, "validation_error").param("token");
    reset(&token, "short").await.refused(400, "validation_error").param("password");
    me(&server, &ada.token).await.expect(200);
    reset(&token, "a new password").await.expect(204);
    signed_out(&server, &ada.token).await;
    let sign_in = |password: &str| anybody.post(SIGN_IN).json(json!({ "email": ada.email, "password": password }));
    sign_in(PASSWORD).await.refused(401, "authentication_error");
    let token_of = sign_in("a new password").await.expect(200)["token"].as_str().unwrap().to_owned();
    me(elsewhere, &token_of).await.expect(200);
    reset(&token, "yet another one").await.refused(400, "validation_error").param("token");

    // Each node has its own mailbox.
    let mails = elsewhere.wait_for_mails(if other.is_some() { 1 } else { 2 }).await;
    assert_eq!(mails.last().unwrap().subject, "Your Kalends password was set");
    let written = mails.iter().chain(&server.mails()).all(|mail| mail.to == "ada@example.com");
    assert!(written, "nobody else gets an email");
    let log = server.log();
    assert!(!log.contains(&token) && !log.contains("a new password"), "{log}");
}

#[apply(on_both)]
#[tokio::test]
async fn one_network_cannot_lock_out_a_public_mail_provider(#[case] database: Database) {
    let variables =
        [("KALENDS_TRUSTED_PROXIES", "127.0.0.0/8"), ("KALENDS_PUBLIC_MAIL_DOMAINS", "default,post.example")];
    let server = Server::start_with(database, &variables).await;
    let anybody = server.anonymous().impatient();
    let sign_up = async |number: usize, domain: &str, from: &str| {
        let body = json!({
            "email": format!("agent-{number}@{domain}"), "agent_name": "Scout", "tos_version": TERMS
        });
        anybody.post("/v1/agent/sign-up").header("x-forwarded-for", from).json(body).await
    };
    for (domain, public) in [("gmail.com", true), ("post.example", true), ("company.example", false)] {
        for number in 0..10 {
            sign_up(number, domain, &format!("203.0.113.{number}")).await.expect(200);
        }
        sign_up(10, domain, "203.0.113.99").await.refused(429, "rate_limit_error");
        let elsewhere = sign_up(11, domain, "198.51.100.1").await;
        assert_eq!(elsewhere.status, if public { 200 } else { 429 }, "{domain}");
        // For people, two more are reserved in each network, unless the network is what is counted.
        for (number, reserved) in [(12, 201), (13, 201), (14, 429)] {
            let body = signing_up(&format!("human-{number}@{domain}"));
            let person = anybody.post("/v1/auth/signup").header("x-forwarded-for", "203.0.113.99").json(body).await;
            assert_eq!(person.status, if public { 429 } else { reserved }, "{domain}");
        }
    }
}
