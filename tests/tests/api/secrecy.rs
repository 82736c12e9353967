//! Secrets at rest, and the keys that seal them.

use crate::on_both;
use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use kalends_e2e::{CLIENT_SECRET, Database, Database::Sqlite, Server, SignInProvider, shifted};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::{
    claims,
    console::{Human, PASSWORD},
    fixtures::{agent_with_calendar, event_body, now, shared_calendar},
};

const TITLE: &str = "Zanzibar rendezvous";
const DESCRIPTION: &str = "Quetzalcoatl agenda";
const LOCATION: &str = "Ouagadougou boardroom";
const CONFERENCE_URL: &str = "https://meet.example.com/tegucigalpa";

/// Everything that the service stores, as text where it is text. The mailbox and the key files are left out, because
/// they are meant to be read.
pub(crate) async fn kept(server: &Server) -> String {
    let mut bytes = Vec::new();
    read_below(&server.data_dir(), &mut bytes);
    if let Some(url) = server.postgres_url() {
        let mut connection = PgConnection::connect(&url).await.unwrap();
        let tables: Vec<(String,)> =
            sqlx::query_as("select tablename::text from pg_tables where schemaname = 'public'")
                .fetch_all(&mut connection)
                .await
                .unwrap();
        assert!(!tables.is_empty());
        for (table,) in tables {
            let rows: Vec<(String,)> = sqlx::query_as(AssertSqlSafe(format!(r#"select t::text from "{table}" t"#)))
                .fetch_all(&mut connection)
                .await
                .unwrap();
            bytes.extend(rows.into_iter().flat_map(|(row,)| row.into_bytes()));
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn read_below(directory: &Path, bytes: &mut Vec<u8>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("mail") {
            read_below(&path, bytes);
        } else if path.is_file() && path.extension().is_none_or(|extension| extension != "key") {
            bytes.extend(fs::read(path).unwrap());
        }
    }
}

pub(crate) fn holds(kept: &str, part: &str) -> bool {
    kept.contains(part) || kept.contains(&hex(part))
}

/// Bytes as Postgres shows them.
fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

#[apply(on_both)]
#[tokio::test]
async fn titles_and_keys_are_not_stored_in_clear(#[case] database: Database) {
    let server = Server::start(database).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let calendar = shared_calendar(&api, "Antarctica/Troll").await;
    let mut body = event_body(TITLE, "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z");
    body["description"] = json!(DESCRIPTION);
    (body["location"], body["conference_url"]) = (json!(LOCATION), json!(CONFERENCE_URL));
    let events = format!("/v1/calendars/{calendar}/events");
    let made = api.post(&events).header("idempotency-key", "k").json(body).await.expect(201);
    assert_eq!((&made["title"], &made["description"]), (&json!(TITLE), &json!(DESCRIPTION)));
    assert_eq!((&made["location"], &made["conferenceUrl"]), (&json!(LOCATION), &json!(CONFERENCE_URL)));

    let kept = kept(&server).await;
    for secret in [TITLE, DESCRIPTION, LOCATION, CONFERENCE_URL, &org.key] {
        assert!(!holds(&kept, secret), "{secret} is stored in clear");
    }
    // The search covers the stored data, because the zone, which is not secret, is found.
    assert!(holds(&kept, "Antarctica/Troll"));
    assert!(holds(&kept, "v1."), "sealed values name their form and key");
    assert!(!server.log().contains(TITLE) && !server.log().contains(&org.key));

    if database == Sqlite {
        for entry in fs::read_dir(server.data_dir()).unwrap() {
            let entry = entry.unwrap();
            if entry.path().extension().is_some_and(|extension| extension == "key") {
                let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
                assert_eq!(mode, 0o600, "{}", entry.path().display());
            }
        }
    }
}

/// Whether the text stands alone. Six digits are part of many numbers.
fn is_separate_word(kept: &str, part: &str) -> bool {
    kept.match_indices(part).any(|(at, _)| {
        let joined = |letter: char| letter.is_ascii_alphanumeric() || letter == '.';
        !kept[..at].ends_with(joined) && !kept[at + part.len()..].starts_with(joined)
    })
}

/// Plants secrets of every kind, valid and invalid ones. Searches the trace log, the audit log, every refusal and the
/// stored data for them.
#[apply(on_both)]
#[tokio::test]
async fn planted_secrets_are_not_found_anywhere(#[case] database: Database) {
    const ADMIN: &str = "planted-admin-token-of-the-operator";
    const MASTER: &str = "cGxhbnRlZCBtYXN0ZXIga2V5IG9mIHRoZSB0ZXN0ISE=";
    const SESSION: &str = "cGxhbnRlZCBzZXNzaW9uIGtleSBvZiB0aGUgdGVzdCE=";
    const UNKNOWN: &str = "svc_sk_plantedplantedplantedplantedplantedplanted01";
    const METADATA: &str = "planted metadata";
    const HELD: &str = "planted hold";
    const HOOK_PATH: &str = "planted-path-of-a-webhook";
    const HOOK_TOKEN: &str = "planted-token-of-a-webhook";
    const WRONG: &str = "planted wrong password";
    const NEXT: &str = "planted next password";
    let provider = SignInProvider::start().await;
    let mut variables = provider.variables("google");
    variables.push(("KALENDS_EGRESS_ALLOW".to_owned(), provider.address().to_owned()));
    let mut variables: Vec<_> = variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    variables.extend([
        ("KALENDS_LOG", "trace"),
        ("KALENDS_ADMIN_TOKEN", ADMIN),
        ("KALENDS_MASTER_KEY", MASTER),
        ("KALENDS_SESSION_KEY", SESSION),
    ]);
    let server = Server::start_with(database, &variables).await;
    provider.register(&format!("{}/v1/auth/oauth/google/callback", server.base_url()));
    let mut answers = Vec::new();

    // Keys and what is written with them.
    let org = server.org("pro").await;
    let test = server.org_with("pro", &["--test"]).await;
    let api = server.api(&org);
    let (agent_id, calendar) = agent_with_calendar(&api).await;
    let keys = api.post("/v1/keys").header("idempotency-key", "a").json(json!({ "agent_id": agent_id }));
    let scoped = keys.await.expect(201)["key"].as_str().unwrap().to_owned();
    server.client(&scoped).get(format!("/v1/agents/{agent_id}")).await.expect(200);
    server.api(&test).get("/v1/agents").await.expect(200);
    let mut body = event_body(TITLE, "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z");
    (body["description"], body["metadata"]) = (json!(DESCRIPTION), json!({ "why": METADATA }));
    api.post(format!("/v1/calendars/{calendar}/events")).header("idempotency-key", "b").json(body).await.expect(201);
    let expires = shifted(&now(&api).await, 10);
    let hold = json!({
        "title": HELD, "start_time": "2099-05-05T09:00:00Z", "end_time": "2099-05-05T10:00:00Z",
        "status": "hold", "hold_expires_at": expires
    });
    api.post(format!("/v1/calendars/{calendar}/events")).json(hold.clone()).await.expect(201);
    answers.push(api.post(format!("/v1/calendars/{calendar}/events")).json(hold).await.refused(409, "conflict"));
    answers.push(server.client(UNKNOWN).get("/v1/agents").await.refused(401, "unauthorized"));
    let feedback = json!({ "type": "bug", "message": format!("With {} and {scoped} it fails.", org.key) });
    api.post("/v1/feedback").json(feedback).await.expect(200);
    server.client(ADMIN).post(format!("/v1/admin/orgs/{}/activate", org.id)).await.expect(200);
    answers.push(
        server.client("planted-other-token").post("/v1/admin/orgs/x/activate").await.refused(401, "unauthorized"),
    );

    // A webhook's URL may be secret, and its signing secret is.
    let hook = json!({ "url": format!("https://kalends.invalid/{HOOK_PATH}?token={HOOK_TOKEN}"), "events": ["*"] });
    let hook = api.post("/v1/webhooks").header("idempotency-key", "c").json(hook).await.expect(201);
    let hook_path = format!("/v1/webhooks/{}", hook.id());
    api.post(format!("{hook_path}/test")).await.expect(200);
    let rotated = api.post(format!("{hook_path}/rotate-secret")).header("idempotency-key", "d").await.expect(200);
    let whsec = [&hook, &rotated].map(|answer| answer["secret"].as_str().unwrap().to_owned());

    // A feed's address alone gives access to the calendar.
    let path = format!("/v1/calendars/{calendar}");
    let token = |url: &Value| {
        let url = url.as_str().unwrap();
        url[url.rfind('/').unwrap() + 1..].strip_suffix(".ics").unwrap().to_owned()
    };
    let old = token(&api.get(&path).await.expect(200)["ical_url"]);
    let rotate = api.post(format!("{path}/ical-token/rotate")).header("idempotency-key", "e");
    let new = token(&rotate.await.expect(200)["ical_url"]);
    server.anonymous().get(format!("/ical/{new}.ics")).await.expect(200);
    answers.push(server.anonymous().get(format!("/ical/{old}.ics")).await.refused(404, "not_found"));
    let listed = api.get("/v1/calendars").await.expect(200);
    assert_eq!(token(&listed.data()[0]["ical_url"]), new);

    // Codes and claims.
    let (_, signed_up) = claims::agent(&server, "scout@example.com").await;
    let otp = server.wait_for_mails(1).await[0].code().to_owned();
    let body = json!({ "otp": claims::wrong(&otp) });
    answers.push(server.client(&signed_up).post("/v1/agent/verify").json(body).await.refused(400, "validation_error"));
    server.client(&signed_up).post("/v1/agent/verify").json(json!({ "otp": otp })).await.expect(200);
    let human = Human::sign_up(&server, "ada@example.com").await;
    let session = server.client(&human.token);
    let claim = claims::initiate(&session, "scout@example.com").await;
    let code = claims::code(&server, "scout@example.com", 1).await;
    answers.push(claims::verify(&session, &claim, claims::wrong(&code)).await.refused(400, "validation_error"));
    claims::verify(&session, &claim, &code).await.expect(200);
    let token = claims::token(&server, "scout@example.com", 1).await;
    answers.push(claims::revoke(&server, &claim, "planted-revocation-token").await);
    claims::revoke(&server, &claim, &token).await.expect(200);

    // Passwords and sessions.
    let sign_in = |password: &str| json!({ "email": human.email, "password": password });
    let entrance = server.anonymous();
    let refused = entrance.post("/v1/auth/signin").json(sign_in(WRONG)).await;
    answers.push(refused.refused(401, "authentication_error"));
    let change = json!({ "current_password": WRONG, "new_password": NEXT });
    answers.push(session.post("/v1/auth/password").json(change).await.refused(400, "validation_error"));
    let change = json!({ "current_password": PASSWORD, "new_password": NEXT });
    session.post("/v1/auth/password").json(change).await.expect(204);
    let again = entrance.post("/v1/auth/signin").json(sign_in(NEXT)).await.expect(200);
    let again = again["token"].as_str().unwrap().to_owned();
    let regenerated = server.client(&again).post("/v1/auth/keys/regenerate").await.expect(200);
    let regenerated = regenerated["key"].as_str().unwrap().to_owned();
    answers.push(server.client(&human.token).get("/v1/auth/me").await.refused(401, "authentication_error"));
    // A provider's state, code and secret.
    provider.claims(&json!({ "sub": "1", "email": "bea@example.com" }));
    let begun = entrance.get("/v1/auth/oauth/google?tos_version=2026-01-01").await.expect(302);
    let (state, _) = begun.header("set-cookie").split_once(';').unwrap();
    let back = provider.authorize(begun.header("location")).await.unwrap();
    let back = back.strip_prefix(server.base_url()).unwrap();
    let ended = entrance.get(back).header("cookie", state).await.expect(302);
    let signed_in = ended.headers["set-cookie"].to_str().unwrap();
    assert!(signed_in.starts_with("service_session="), "{signed_in}");
    let (_, signed_in) = signed_in.split_once(';').unwrap().0.split_once('=').unwrap();
    let (_, state) = state.split_once('=').unwrap();
    let (_, code_of_provider) = back.split_once("code=").unwrap();
    let code_of_provider = code_of_provider.split('&').next().unwrap();

    for client in [&api, &server.client(&regenerated)] {
        answers.push(client.get("/v1/audit-log").await.expect(200));
    }

    let planted = [
        &*org.key,
        &test.key,
        &scoped,
        &signed_up,
        &human.key,
        &regenerated,
        &human.token,
        &again,
        &token,
        ADMIN,
        MASTER,
        SESSION,
        UNKNOWN,
        METADATA,
        HELD,
        WRONG,
        NEXT,
        PASSWORD,
        TITLE,
        DESCRIPTION,
        "planted-other-token",
        "planted-revocation-token",
        CLIENT_SECRET,
        state,
        code_of_provider,
        signed_in,
        HOOK_PATH,
        HOOK_TOKEN,
        &whsec[0],
        &whsec[1],
        &old,
        &new,
    ];
    let (log, kept) = (server.log(), kept(&server).await);
    for secret in planted {
        assert!(!log.contains(secret), "{secret} is in the log");
        assert!(!holds(&kept, secret), "{secret} is stored in clear");
        for answer in &answers {
            assert!(!answer.text().contains(secret), "{secret} is in an answer: {}", answer.describe());
        }
    }
    for code in [otp, code] {
        for (place, text) in [("log", &log), ("database", &kept)] {
            assert!(!is_separate_word(text, &code), "the code {code} is in the {place}");
        }
    }
    // The search covers the real data.
    assert!(log.contains("DEBUG sqlx::query"), "the log is not at trace level");
    assert!(holds(&kept, &human.email), "addresses are stored in clear");
}

#[apply(on_both)]
#[tokio::test]
async fn the_master_key_is_rotated_while_serving(#[case] database: Database) {
    const OLD: &str = "b2xkIG1hc3RlciBrZXkgb2YgYSByb3RhdGlvbiB0ZXM=";
    const NEW: &str = "bmV3IG1hc3RlciBrZXkgb2YgYSByb3RhdGlvbiB0ZXM=";
    let mut server = Server::start_with(database, &[("KALENDS_MASTER_KEY", OLD)]).await;
    let org = server.org("pro").await;
    let (_, calendar) = agent_with_calendar(&server.api(&org)).await;
    let events = format!("/v1/calendars/{calendar}/events");
    let mut body = event_body(TITLE, "2026-05-04T09:00:00Z", "2026-05-04T10:00:00Z");
    body["description"] = json!(DESCRIPTION);
    let made = server.api(&org).post(&events).json(body.clone()).await.expect(201);

    // Both keys, and then the rotation while the server answers requests.
    assert!(server.stop().await.success());
    server.start_again(&[("KALENDS_MASTER_KEY", &format!("{NEW},{OLD}"))]).await;
    let api = server.api(&org);
    api.post(&events).json(body.clone()).await.expect(201);
    server.cli(&["keys", "rotate-master"]).await.succeeded();
    let during = api.get(format!("/v1/events/{}", made.id())).await.expect(200);
    assert_eq!(during["title"], TITLE);
    api.post(&events).json(body).await.expect(201);

    // The old key is no longer needed.
    assert!(server.stop().await.success());
    server.start_again(&[("KALENDS_MASTER_KEY", NEW)]).await;
    let listed = server.api(&org).get(&events).await.expect(200);
    assert_eq!(listed.column("title"), [TITLE; 3]);
    assert_eq!(listed.column("description"), [DESCRIPTION; 3]);

    // The old key no longer works.
    assert!(server.stop().await.success());
    let refused = server.cli_with(&[("KALENDS_MASTER_KEY", OLD)], &[]).await.failed();
    assert!(refused.stderr.contains("KALENDS_MASTER_KEY"), "{refused:#?}");
}
