//! The operator's commands next to a running server.

use crate::console::{Human, PASSWORD};
use crate::fixtures::{agent, agent_with_calendar, has_exactly, wait_until};
use crate::on_both;
use futures::future::join_all;
use kalends_e2e::{Client, Database, Database::Postgres, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

#[apply(on_both)]
#[tokio::test]
async fn a_plan_is_changed_within_two_seconds(#[case] database: Database) {
    let server = Server::start(database).await;
    let org = server.org("free").await;
    let api = server.api(&org);
    let own = agent(&api).await;
    let across = format!("/v1/availability?agents={own}&start=2026-05-04T08:00:00Z&end=2026-05-04T12:00:00Z");
    api.get(&across).await.refused(403, "plan_required");

    server.cli(&["org", "set-plan", &org.id, "pro"]).await.succeeded();
    let ask = || async { api.get(&across).await };
    wait_until(ask, |answer| answer.status == 200 && answer.header("x-service-plan") == "pro").await;
    server.cli(&["org", "set-plan", &org.id, "custom", "--limits", r#"{"agents":2}"#]).await.succeeded();
    wait_until(ask, |answer| answer.header("x-service-plan") == "scale").await;
    agent(&api).await;
    let more = json!({ "name": "x", "type": "ai" });
    api.post("/v1/agents").json(more.clone()).await.refused(429, "quota_exceeded");
    server.cli(&["org", "set-plan", &org.id, "free"]).await.succeeded();
    wait_until(ask, |answer| answer.status == 403 && answer.header("x-service-plan") == "free").await;
    // The plan's limit of three agents applies again.
    api.post("/v1/agents").json(more.clone()).await.expect(201);
    api.post("/v1/agents").json(more).await.refused(429, "quota_exceeded");
}

#[apply(on_both)]
#[tokio::test]
async fn the_waitlist_takes_effect_within_two_seconds(#[case] database: Database) {
    let server = Server::start(database).await;
    let (org, other) = (server.org("pro").await, server.org("pro").await);
    let api = server.api(&org);
    let (owner, _) = agent_with_calendar(&api).await;
    let ask = || async { api.get("/v1/agents").await };
    let waits = server.cli(&["org", "waitlist", &org.id]).await.succeeded().stdout;
    let since = |printed: &str| serde_json::from_str::<Value>(printed).unwrap()["waitlisted_at"].clone();
    assert!(since(&waits).is_string(), "{waits}");
    let again = server.cli(&["org", "waitlist", &org.id]).await.succeeded().stdout;
    assert_eq!(since(&again), since(&waits), "an organization that waits already keeps its place");
    wait_until(ask, |answer| answer.status == 403).await;
    ask().await.refused(403, "account_waitlisted");
    api.get(format!("/v1/agents/{owner}")).await.refused(403, "account_waitlisted");
    let answer = api.post("/v1/agents").json(json!({ "name": "x", "type": "ai" })).await;
    answer.refused(403, "account_waitlisted");
    api.delete(format!("/v1/agents/{owner}")).await.refused(403, "account_waitlisted");
    // Requests without a key still work, and so do other organizations.
    api.get("/v1/plans").await.expect(200);
    server.api(&other).get("/v1/agents").await.expect(200);

    server.cli(&["org", "activate", &org.id]).await.succeeded();
    wait_until(ask, |answer| answer.status == 200).await;
    assert_eq!(ask().await["total"], 1);
}

#[apply(on_both)]
#[tokio::test]
async fn organizations_are_created_and_listed(#[case] database: Database) {
    let server = Server::start(database).await;
    let output = server.cli(&["org", "create", "--name", "Acme", "--email", "owner@acme.example"]).await.succeeded();
    assert_eq!(output.stdout.lines().count(), 1, "{output:#?}");
    let made: Value = serde_json::from_str(&output.stdout).unwrap();
    has_exactly(&made, &["org_id", "api_key"]);
    crate::fixtures::is_id(&made["org_id"], "org_");
    let key = made["api_key"].as_str().unwrap();
    assert!(key.strip_prefix("svc_sk_").is_some_and(|random| random.len() == 43), "{key}");
    let answer = server.client(key).get("/v1/agents").await.expect(200);
    assert_eq!(answer.header("x-service-plan"), "scale", "without a plan nothing is limited");

    let test = server.org_with("pro", &["--test"]).await;
    assert!(test.key.strip_prefix("svc_sk_test_").is_some_and(|random| random.len() == 43), "{}", test.key);
    server.api(&test).get("/v1/agents").await.expect(200);

    let listed = server.cli(&["org", "list"]).await.succeeded().stdout;
    assert_eq!(listed.lines().count(), 2);
    for known in ["Acme", "owner@acme.example", made["org_id"].as_str().unwrap(), &test.id] {
        assert!(listed.contains(known), "{known} in {listed}");
    }
    assert!(!listed.contains(key), "keys are shown once");

    let unknown = format!("org_{}", "0".repeat(26));
    for arguments in [
        &["org", "create"][..],
        &["org", "create", "--name", ""],
        &["org", "create", "--name", "x", "--plan", "scale"],
        &["org", "create", "--name", "x", "--plan", "free-agent"],
        &["org", "create", "--name", "x", "--limits", "{"],
        &["org", "create", "--name", "x", "--limits", r#"{"agnets":1}"#],
        &["org", "create", "--name", "x", "--limits", r#"{"agents":-1}"#],
        &["org", "create", "--name", "x", "--email", "nobody"],
        &["org", "create", "--name", "x", "--email", "owner@acme.example"],
        &["org", "set-plan", &unknown, "pro"],
        &["org", "set-plan", &test.id, "gold"],
        &["org", "waitlist", &unknown],
        &["org", "activate", "org_x"],
        &["frobnicate"],
    ] {
        let output = server.cli(arguments).await.failed();
        assert_eq!(output.stdout, "", "{arguments:?}");
    }
    assert_eq!(server.cli(&["org", "list"]).await.succeeded().stdout.lines().count(), 2);
}

/// The number of 200 answers to many concurrent requests.
async fn answered_at_once(api: &Client) -> usize {
    let requests = (0..250).map(|_| api.get("/v1/agents").into_future());
    join_all(requests).await.iter().filter(|answer| answer.status == 200).count()
}

#[apply(on_both)]
#[tokio::test]
async fn an_organization_without_a_plan_has_no_limits(#[case] database: Database) {
    // More concurrent requests than the default number of connections per address.
    let server = Server::start_with(database, &[("KALENDS_MAX_CONNECTIONS", "total=2000,address=1000")]).await;
    let made = server.cli(&["org", "create", "--name", "Own"]).await.succeeded().stdout;
    let made: Value = serde_json::from_str(&made).unwrap();
    let api = server.client(made["api_key"].as_str().unwrap()).impatient();
    assert_eq!(answered_at_once(&api).await, 250);
    let usage = api.get("/v1/usage").await.expect(200);
    for (metric, used) in usage.json.as_object().unwrap().iter().filter(|(_, used)| used.is_object()) {
        assert_eq!(used.get("limit"), Some(&json!(null)), "{metric}");
    }
    assert_eq!((usage.header("ratelimit-policy"), usage.header("ratelimit")), ("", ""));

    // A null rate removes only the plan's rate limit.
    let free = server.planned_org("free", &["--limits", r#"{"rate_per_second":null}"#]).await;
    let api = server.api(&free).impatient();
    assert_eq!(answered_at_once(&api).await, 250);
    assert_eq!(api.get("/v1/usage").await.expect(200)["agents"]["limit"], 3);
}

#[apply(on_both)]
#[tokio::test]
async fn sign_ups_get_the_plan_that_the_operator_chose(#[case] database: Database) {
    let server = Server::start_with(database, &[("KALENDS_SIGNUP_PLAN", "pro")]).await;
    let (_, key) = crate::claims::agent(&server, "scout@example.com").await;
    let api = server.client(&key);
    assert_eq!(api.get("/v1/usage").await.expect(200)["plan"], "free", "an unverified organization is in the sandbox");
    let code = server.wait_for_mails(1).await[0].code().to_owned();
    let verified = api.post("/v1/agent/verify").json(json!({ "otp": code })).await.expect(200);
    assert!(
        verified["message"].as_str().is_some_and(|message| message.contains("pro plan")),
        "{}",
        verified.describe()
    );
    let ask = || async { api.get("/v1/usage").await };
    wait_until(ask, |answer| answer.json["plan"] == "pro").await;
}

#[apply(on_both)]
#[tokio::test]
async fn the_operator_s_page_of_plans_is_linked(#[case] database: Database) {
    let page = "https://cal.example/plans?from=api";
    let server = Server::start_with(database, &[("KALENDS_UPGRADE_URL", page)]).await;
    let plans = server.anonymous().get("/v1/plans").await.expect(200);
    assert_eq!(plans["plans"][2]["contact_url"], page);
    let refused = server.api(&server.org("free").await).get("/v1/keys").await.refused(403, "plan_required");
    assert_eq!(refused["error"]["upgrade_url"], page);
}

#[apply(on_both)]
#[tokio::test]
async fn the_configuration_is_listed_without_secrets(#[case] database: Database) {
    let secrets = [
        ("KALENDS_MASTER_KEY", "c2VjcmV0IG1hc3RlciBrZXkgb2YgdGhpcyB0ZXN0IDA="),
        ("KALENDS_SESSION_KEY", "c2VjcmV0IHNlc3Npb24ga2V5IG9mIHRoaXMgdGVzdCA="),
        ("KALENDS_ADMIN_TOKEN", "the-admin-token-of-this-test"),
    ];
    let server = Server::start_with(database, &secrets).await;
    let output = server.cli(&["config"]).await.succeeded();
    for (name, secret) in secrets {
        assert!(!output.stdout.contains(secret) && !output.stderr.contains(secret), "{name}: {}", output.stdout);
    }
    for key in [
        "KALENDS_LISTEN",
        "KALENDS_DATA_DIR",
        "KALENDS_DATABASE_URL",
        "KALENDS_MIGRATE",
        "KALENDS_BASE_URL",
        "KALENDS_CONSOLE_URL",
        "KALENDS_MAIL",
        "KALENDS_MASTER_KEY",
        "KALENDS_SESSION_KEY",
        "KALENDS_ADMIN_TOKEN",
        "KALENDS_TERMS_VERSION",
        "KALENDS_TERMS_MATERIAL",
        "KALENDS_TERMS_URL",
        "KALENDS_TERMS_FILE",
        "KALENDS_TERMS_EFFECTIVE_AT",
        "KALENDS_EGRESS_ALLOW",
        "KALENDS_IP_LIMITS",
        "KALENDS_TRUSTED_PROXIES",
        "KALENDS_CLOCK_OFFSET_SECONDS",
        "KALENDS_METRICS_LISTEN",
    ] {
        let line = output.stdout.lines().find(|line| line.split_whitespace().next() == Some(key));
        let line = line.unwrap_or_else(|| panic!("{key} in {}", output.stdout));
        let given = server.environment().contains_key(key);
        assert_eq!(line.contains("environment"), given, "{line}");
        assert!(given || line.contains("default"), "{line}");
    }
    let data_dir = server.data_dir().display().to_string();
    assert!(output.stdout.contains(&data_dir), "{}", output.stdout);
    assert!(!server.log().contains("secret"), "the log does not show them either");
}

#[apply(on_both)]
#[tokio::test]
async fn the_description_is_printed_as_it_is_served(#[case] database: Database) {
    let server = Server::start_with(database, &[("KALENDS_BASE_URL", "https://calendar.example.com")]).await;
    let served = server.anonymous().get("/openapi.json").await.expect(200);
    let printed = server.cli(&["openapi"]).await.succeeded();
    let printed: Value = serde_json::from_str(&printed.stdout).unwrap();
    assert_eq!(printed, served.json);
    assert_eq!(printed["servers"][0]["url"], "https://calendar.example.com");
    // A feed's address begins with the same URL.
    let api = server.api(&server.org("pro").await);
    let calendar = api.post("/v1/calendars").json(json!({ "name": "x", "timezone": "UTC" })).await.expect(201);
    assert!(calendar["ical_url"].as_str().unwrap().starts_with("https://calendar.example.com/ical/"));
}

#[apply(on_both)]
#[tokio::test]
async fn a_bad_configuration_is_reported_in_one_line(#[case] database: Database) {
    let server = Server::start(database).await;
    for (key, value) in [
        ("KALENDS_LISTEN", "nowhere"),
        ("KALENDS_BASE_URL", "https://calendar.example.com/kalends"),
        ("KALENDS_DATABASE_URL", "mysql://localhost/x"),
        ("KALENDS_MASTER_KEY", "short"),
        ("KALENDS_CLOCK_OFFSET_SECONDS", "soon"),
        ("KALENDS_MAIL", "pigeon"),
    ] {
        let output = server.cli_with(&[(key, value)], &[]).await.failed();
        assert!(output.stderr.contains(key), "{output:#?}");
        assert_eq!(output.stdout, "");
    }
    if database == Postgres {
        let output = server.cli_without(&["KALENDS_MASTER_KEY"], &[]).await.failed();
        assert!(output.stderr.contains("KALENDS_MASTER_KEY"), "{output:#?}");
        assert!(output.stderr.trim().lines().count() <= 2, "one clear line: {output:#?}");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn users_are_helped_where_mail_does_not_work(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let session = server.client(&ada.token);
    let printed = async |arguments: &[&str]| -> Value {
        let output = server.cli(arguments).await.succeeded();
        assert_eq!(output.stdout.lines().count(), 1, "{output:#?}");
        serde_json::from_str(&output.stdout).unwrap()
    };

    let verified = printed(&["user", "verify", "Ada@Example.com"]).await;
    has_exactly(&verified, &["user_id", "email", "email_verified_at"]);
    assert_eq!((&verified["user_id"], &verified["email"]), (&json!(ada.user), &json!("ada@example.com")));
    assert_eq!(
        session.get("/v1/auth/me").await.expect(200)["user"]["email_verified_at"],
        verified["email_verified_at"]
    );
    assert_eq!(printed(&["user", "verify", "ada@example.com"]).await, verified, "the first proof is kept");

    let link = printed(&["user", "reset-password", "ada@example.com"]).await;
    has_exactly(&link, &["user_id", "email", "url", "expires_at"]);
    let (page, token) = link["url"].as_str().unwrap().split_once('#').unwrap();
    assert!(page.ends_with("/console/reset"), "{page}");
    let body = json!({ "token": token, "password": "a password of her own" });
    server.anonymous().post("/v1/auth/password/reset").json(body.clone()).await.expect(204);
    server.anonymous().post("/v1/auth/password/reset").json(body).await.refused(400, "validation_error").param("token");
    let sign_in = async |password: &str| {
        let body = json!({ "email": "ada@example.com", "password": password });
        server.anonymous().post("/v1/auth/signin").json(body).await
    };
    sign_in(PASSWORD).await.refused(401, "authentication_error");
    let session = server.client(sign_in("a password of her own").await.expect(200)["token"].as_str().unwrap());

    let fresh = printed(&["org", "new-key", &ada.org]).await;
    has_exactly(&fresh, &["org_id", "api_key"]);
    server.client(fresh["api_key"].as_str().unwrap()).get("/v1/agents").await.expect(200);
    let old = server.client(&ada.key);
    wait_until(|| async { old.get("/v1/agents").await }, |answer| answer.status == 401).await;

    for command in [
        &["user", "verify", "bob@example.com"][..],
        &["user", "reset-password", "bob@example.com"],
        &["user", "remove-second-factor", "bob@example.com"],
    ] {
        let failed = server.cli(command).await.failed();
        assert!(failed.stderr.contains("is not the address of a user"), "{failed:#?}");
    }
    for (action, command, resource) in [
        ("user.update", "user verify", &ada.user),
        ("user.update", "user reset-password", &ada.user),
        ("key.regenerate", "org new-key", &ada.org),
    ] {
        let log = session.get("/v1/audit-log").query(&[("action", action)]).await.expect(200);
        let entries = log.data();
        let found: Vec<_> = entries.iter().filter(|entry| entry["path"] == command).collect();
        assert_eq!((found.len(), &found[0]["method"]), (1, &json!("CLI")), "{command}");
        assert_eq!(&found[0]["resource"], resource, "{command}");
    }
}
