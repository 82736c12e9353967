//! The pages for the operator of the server.

use std::collections::BTreeSet;

use kalends_e2e::{Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::{
    fixtures::{TOKEN, agent, wait_for},
    on_both,
    pages::{HOSTILE, Pages, Seen, hidden},
};

const START: &str = "/console/operator";
const ORGANIZATIONS: &str = "/console/operator/organizations";
const WAITING: &str = "/console/operator/waiting";
const MAIL: &str = "/console/operator/mail";
const KEYS: &str = "/console/operator/keys";
const CONFIGURATION: &str = "/console/operator/configuration";
const PAGES: [&str; 6] = [START, ORGANIZATIONS, WAITING, MAIL, KEYS, CONFIGURATION];
const COOKIE: &str = "service_operator";

async fn enter(pages: &mut Pages<'_>, token: &str, next: &str) -> Seen {
    pages.send(START, &[("token", token), ("next", next)]).await
}

async fn signed_in(server: &Server) -> Pages<'_> {
    let mut pages = Pages::new(server);
    enter(&mut pages, TOKEN, "").await.leads_to(START);
    pages
}

/// Requires the page that asks for the token, and nothing else.
#[track_caller]
fn asks_for_the_token(seen: Seen, status: u16) {
    let seen = seen.says(status, "Admin token");
    assert!(!seen.text.contains("Sign out") && seen.cookie.is_empty(), "{}", seen.text);
}

#[apply(on_both)]
#[tokio::test]
async fn only_the_token_opens_the_pages(#[case] database: Database) {
    let mut server = Server::start_with(database, &[("KALENDS_ADMIN_TOKEN", TOKEN)]).await;
    let org = server.org("free").await;
    let mut pages = Pages::new(&server);
    asks_for_the_token(pages.open(START).await, 200);
    for path in [ORGANIZATIONS, WAITING, MAIL, KEYS, CONFIGURATION, &format!("{ORGANIZATIONS}/{}", org.id)] {
        let seen = pages.open(path).await;
        assert!(!seen.text.contains(&org.id) || path.ends_with(&org.id), "{}", seen.text);
        asks_for_the_token(seen, 401);
    }
    let form = format!("{ORGANIZATIONS}/{}", org.id);
    let kept = pages.send(&form, &[("plan", "pro"), ("limits", HOSTILE)]).await.says(401, "Your session has ended");
    assert!(kept.text.contains(&format!("action=\"{form}\"")) && hidden(&kept.text, "plan") == "pro", "{}", kept.text);
    assert!(kept.text.contains("href=\"/console/operator\" target"), "{}", kept.text);
    // A form of another site is not shown, and neither is a form without fields.
    let foreign = "https://elsewhere.example";
    asks_for_the_token(pages.send_from(foreign, &form, &[("plan", "pro")]).await, 401);
    asks_for_the_token(pages.send(&format!("{form}/waitlist"), &[]).await, 401);
    asks_for_the_token(pages.send(&format!("{ORGANIZATIONS}/%FF/waitlist"), &[]).await, 401);
    // The sign-in leads back to the address with its query, and reads no more than it needs.
    let search = format!("{ORGANIZATIONS}?q=a%20b");
    assert_eq!(hidden(&pages.open(&search).await.says(401, "Admin token").text, "next"), search);
    assert_eq!(enter(&mut pages, &"x".repeat(2_000), "").await.status, 413);
    for wrong in ["", "the-operator-s-own-tokem", &org.key, &format!("{TOKEN}{TOKEN}")] {
        let seen = enter(&mut pages, wrong, "").await.says(401, "This is not the token.");
        assert!(seen.text.contains("<title>Error: "), "{}", seen.text);
        asks_for_the_token(seen, 401);
    }

    // Another site can neither sign its visitor in, nor use the operator's session.
    let fields = [("token", TOKEN)];
    assert_eq!(pages.send_from(foreign, START, &fields).await.status, 403);
    let entered = enter(&mut pages, TOKEN, CONFIGURATION).await.leads_to(CONFIGURATION);
    for part in ["HttpOnly", "SameSite=Strict", "Path=/console/operator;", "Max-Age=3600;"] {
        assert!(entered.cookie.contains(part), "{part} in {}", entered.cookie);
    }
    assert!(!entered.cookie.contains(TOKEN), "{}", entered.cookie);
    assert_eq!(pages.send_from(foreign, &form, &[("plan", "pro")]).await.status, 403);
    assert_eq!(pages.send_from(foreign, "/console/operator/sign-out", &[]).await.status, 403);
    pages.open(START).await.says(200, "Signed in as the operator until <time");
    // No address leads elsewhere.
    enter(&mut pages, TOKEN, "//elsewhere.example/").await.leads_to(START);

    // Only a cookie that this token began counts, and no other credential.
    let cookie = pages.cookies[COOKIE].clone();
    let (began, seal) = cookie.split_once('.').unwrap();
    let later = began.parse::<i64>().unwrap() + 1;
    let cut = &seal[1..];
    for forged in [format!("{later}.{seal}"), format!("{began}."), format!("{began}.{cut}"), TOKEN.to_owned()] {
        pages.cookies.insert(COOKIE.to_owned(), forged);
        asks_for_the_token(pages.open(MAIL).await, 401);
    }
    pages.cookies.insert(COOKIE.to_owned(), cookie.clone());
    pages.cookies.insert("service_session".to_owned(), cookie.clone());
    pages.open("/console/agents").await.asks_to_sign_in();
    pages.open(MAIL).await.says(200, "Send a test email");

    let left = pages.send("/console/operator/sign-out", &[]).await.leads_to(START);
    assert!(left.cookie.contains("Max-Age=0;"), "{}", left.cookie);
    asks_for_the_token(pages.open(MAIL).await, 401);

    // It ends after an hour, and with the token.
    let reopened = async |server: &Server| {
        let mut pages = Pages::new(server);
        pages.cookies.insert(COOKIE.to_owned(), cookie.clone());
        pages.open(MAIL).await
    };
    server.restart_at_offset(60).await;
    reopened(&server).await.says(200, "Send a test email");
    assert!(server.stop().await.success());
    server.start_again(&[("KALENDS_ADMIN_TOKEN", "another-long-enough-token")]).await;
    asks_for_the_token(reopened(&server).await, 401);
    assert!(server.stop().await.success());
    server.start_again(&[("KALENDS_ADMIN_TOKEN", TOKEN)]).await;
    server.restart_at_offset(3_700).await;
    asks_for_the_token(reopened(&server).await, 401);
    assert!(!server.log().contains(TOKEN) && !server.log().contains(seal));
}

#[apply(on_both)]
#[tokio::test]
async fn without_a_token_there_are_no_pages(#[case] database: Database) {
    let server = Server::start(database).await;
    let mut pages = Pages::new(&server);
    for path in PAGES {
        assert_eq!(pages.open(path).await.status, 404, "{path}");
        assert_eq!(pages.send(path, &[("token", "")]).await.status, 404, "{path}");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn attempts_are_limited_by_address(#[case] database: Database) {
    let settings = [("KALENDS_ADMIN_TOKEN", TOKEN), ("KALENDS_IP_LIMITS", "operator=1")];
    let server = Server::start_with(database, &settings).await;
    let mut pages = Pages::new(&server);
    // Neither a page of another site nor the right token uses up anything.
    for _ in 0..5 {
        enter(&mut pages, TOKEN, MAIL).await.leads_to(MAIL);
        assert_eq!(pages.send_from("https://elsewhere.example", START, &[("token", "x")]).await.status, 403);
    }
    // One is allowed in a minute, which the next one does not take.
    asks_for_the_token(enter(&mut pages, "a-wrong-token", MAIL).await, 401);
    let refused = enter(&mut pages, "a-wrong-token", MAIL).await.says(429, "Too many wrong tokens from your network.");
    assert!(!refused.retry_after.is_empty() && hidden(&refused.text, "next") == MAIL, "{}", refused.text);
}

#[apply(on_both)]
#[tokio::test]
async fn wrong_tokens_on_administration_routes_are_limited_by_address(#[case] database: Database) {
    let settings = [("KALENDS_ADMIN_TOKEN", TOKEN), ("KALENDS_IP_LIMITS", "operator=1,sign_in=3")];
    let server = Server::start_with(database, &settings).await;
    let org = server.org("pro").await;
    let path = format!("/v1/admin/orgs/{}/activate", org.id);
    let (operator, guesser) = (server.client(TOKEN).impatient(), server.client("a-wrong-token-at-best").impatient());
    // Neither the right token nor none at all uses up anything, and neither do the sign-ins of users.
    for _ in 0..5 {
        server.anonymous().impatient().post("/v1/auth/signin").json(json!({})).await;
        operator.post(&path).await.expect(200);
        server.anonymous().impatient().post(&path).await.refused(401, "unauthorized");
    }
    // One is allowed in a minute, which the others do not take.
    guesser.post(&path).await.refused(401, "unauthorized");
    let refused = guesser.post(&path).await.refused(429, "rate_limit_error");
    assert!(!refused.header("retry-after").is_empty(), "{}", refused.describe());
    assert!(server.log().contains("somebody called an administration route with a wrong token"));
    // The attempts count together with those on the page.
    let mut pages = Pages::new(&server);
    enter(&mut pages, "a-wrong-token", MAIL).await.says(429, "Too many wrong tokens from your network.");
}

#[apply(on_both)]
#[tokio::test]
async fn the_plan_of_an_organization_is_changed(#[case] database: Database) {
    let server = Server::start_with(database, &[("KALENDS_ADMIN_TOKEN", TOKEN)]).await;
    let made = server.cli(&["org", "create", "--name", HOSTILE, "--plan", "free"]).await.succeeded();
    let made: serde_json::Value = serde_json::from_str(&made.stdout).unwrap();
    let (id, key) = (made["org_id"].as_str().unwrap(), made["api_key"].as_str().unwrap());
    let other = server.org("pro").await;
    let api = server.client(key);
    agent(&api).await;
    let mut pages = signed_in(&server).await;
    let start = pages.open(START).await.says(200, "2, of which 0 on the waiting list");
    assert!(start.text.contains("unknown: the server does not make backups"), "{}", start.text);
    let made: serde_json::Value =
        serde_json::from_str(&server.cli(&["backup", "done"]).await.succeeded().stdout).unwrap();
    assert!(made["made_at"].as_str().is_some_and(|at| at.ends_with('Z')), "{made}");
    let recorded = pages.open(START).await.says(200, "Last backup</dt><dd>recorded at ");
    assert!(recorded.text.contains(" s ago)"), "{}", recorded.text);
    let (_, size) = start.text.split_once("Size of the database</dt><dd>").unwrap();
    assert!(size.starts_with(|first: char| ('1'..='9').contains(&first)), "{}", start.text);

    let list = pages.open(ORGANIZATIONS).await.says(200, id);
    assert!(list.text.find(&other.id) < list.text.find(id), "the newest first: {}", list.text);
    for (search, found) in [(id, true), ("SCRIPT%3E", true), (other.id.as_str(), false), ("%22%3E%3Cb%3E", false)] {
        let seen = pages.open(&format!("{ORGANIZATIONS}?q={search}")).await.says(200, "Show all");
        assert_eq!(seen.text.contains(&format!("{ORGANIZATIONS}/{id}")), found, "{search}");
    }
    for (filter, found) in
        [("plan=free", true), ("plan=pro", false), ("state=active&q=SCRIPT&plan=free", true), ("state=waiting", false)]
    {
        let seen = pages.open(&format!("{ORGANIZATIONS}?{filter}")).await.says(200, "Show all");
        assert_eq!(seen.text.contains(&format!("{ORGANIZATIONS}/{id}")), found, "{filter}");
        assert_eq!(seen.text.contains("No organization matches."), filter == "state=waiting", "{filter}");
    }
    pages.open(&format!("{ORGANIZATIONS}?q=%00&plan=gold&state=x")).await.says(200, "Used this month");
    pages.open(&format!("{ORGANIZATIONS}?offset=50")).await.says(200, "Nothing here: the list has 2 entries");

    let path = format!("{ORGANIZATIONS}/{id}");
    let page = pages.open(&path).await.says(200, "Change the plan");
    assert!(page.text.contains("rate_per_second") && page.text.contains("<option value=\"free\" selected>"));
    let version = hidden(&page.text, "version");
    let send = async |pages: &mut Pages<'_>, plan: &str, limits: &str, version: &str| {
        pages.send(&path, &[("plan", plan), ("limits", limits), ("version", version)]).await
    };
    for (plan, limits, problem) in [
        ("pro", "{\"agnets\":1}", "unknown key"),
        ("pro", "{\"agents\":-1}", "whole number"),
        ("pro", "{", "Must be JSON"),
        ("pro", "[]", "JSON object"),
        ("free-agent", "", "Must be one of the choices"),
        (HOSTILE, HOSTILE, "Must be one of the choices"),
    ] {
        let seen = send(&mut pages, plan, limits, &version).await.says(400, problem);
        assert!(seen.text.contains("<title>Error: ") && seen.text.contains("aria-invalid"), "{}", seen.text);
        assert_eq!(hidden(&seen.text, "version"), version);
    }
    assert_eq!(api.get("/v1/agents").await.expect(200).header("x-service-plan"), "free");

    let done = format!("{path}?done=saved");
    let limits = "{\"agents\":1,\"rate_per_second\":null}";
    let mut crowded = vec![("plan", "pro"), ("version", version.as_str())];
    crowded.resize(2_002, ("x", ""));
    assert_eq!(pages.send(&path, &crowded).await.status, 400, "a part of it has no effect");
    // The organization has the plan already, but not with these limits.
    send(&mut pages, "free", "{\"agents\":-1}", &version).await.says(400, "whole number");
    send(&mut pages, "free", "{}", &version).await.leads_to(&done);
    send(&mut pages, "pro", limits, &version).await.leads_to(&done);
    // The API sees it at once. The same form again, as by a double click, is not refused.
    assert_eq!(api.get("/v1/agents").await.expect(200).header("x-service-plan"), "pro");
    api.post("/v1/agents").json(json!({ "name": "x", "type": "ai" })).await.refused(429, "quota_exceeded");
    send(&mut pages, "pro", limits, &version).await.leads_to(&done);
    let saved = pages.open(&done).await.says(200, "Saved.");
    assert!(saved.text.contains("pro, with limits of its own") && saved.text.contains("No limit"), "{}", saved.text);

    // A page that was opened before does not replace the change.
    let stale = send(&mut pages, "custom", "", &version).await.says(412, "has changed since");
    assert!(stale.text.contains("<option value=\"custom\" selected>"), "what was chosen is kept: {}", stale.text);
    let now = hidden(&stale.text, "version");
    assert_ne!(now, version);
    send(&mut pages, "custom", "", &now).await.leads_to(&done);
    assert_eq!(api.get("/v1/agents").await.expect(200).header("x-service-plan"), "scale");

    // The audit log of the organization has each change once, and that of the other one none.
    let log = api.get("/v1/audit-log?action=org.update").await.expect(200);
    assert_eq!(log.data().len(), 2, "{}", log.json);
    assert!(log.data().iter().all(|entry| entry["method"] == "CLI" && entry["path"] == "org set-plan"), "{}", log.json);
    assert!(server.api(&other).get("/v1/audit-log?action=org.update").await.expect(200).data().is_empty());

    for unknown in ["org_nobody", "x"] {
        let path = format!("{ORGANIZATIONS}/{unknown}");
        pages.open(&path).await.says(404, "See the organizations");
        assert_eq!(pages.send(&path, &[("plan", "pro")]).await.status, 404);
        assert_eq!(pages.send(&format!("{path}/activate"), &[]).await.status, 404);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn organizations_are_admitted_from_the_waiting_list(#[case] database: Database) {
    let server = Server::start_with(database, &[("KALENDS_ADMIN_TOKEN", TOKEN)]).await;
    let mut pages = signed_in(&server).await;
    pages.open(WAITING).await.says(200, "Nobody waits.");
    let name = &HOSTILE[..20];
    let body = json!({ "email": "ada@example.com", "name": name, "tos_version": "2026-01-01" });
    let joined = server.anonymous().post("/v1/waitlist").json(body).await.expect(201);
    let id = joined["data"]["id"].as_str().unwrap().to_owned();
    server.wait_for_mails(1).await;

    pages.open(START).await.says(200, "1, of which 1 on the waiting list");
    let list = pages.open(WAITING).await.says(200, "On the waiting list since");
    assert!(list.text.contains("ada@example.com") && list.text.contains(&id), "{}", list.text);
    let admit = format!("{ORGANIZATIONS}/{id}/activate");
    pages.open(&admit).await.leads_to(&format!("{ORGANIZATIONS}/{id}"));
    for _ in 0..2 {
        pages.send(&admit, &[("from", "waiting")]).await.leads_to(&format!("{WAITING}?done=admitted"));
    }
    let after = pages.open(&format!("{WAITING}?done=admitted")).await.says(200, "Nobody waits.");
    assert!(after.text.contains("Admitted."), "{}", after.text);
    let mails = server.wait_for_mails(2).await;
    assert!(mails[1].to == "ada@example.com" && mails[1].subject.contains("active"), "{:#?}", mails[1]);

    // Admitting leads back to the page of the list, or to the one before if nothing is left on it.
    let waits = async |email: &str| {
        let body = json!({ "email": email, "name": email, "tos_version": "2026-01-01" });
        let joined = server.anonymous().post("/v1/waitlist").json(body).await.expect(201);
        joined["data"]["id"].as_str().unwrap().to_owned()
    };
    let (kept, last) = (waits("bea@example.com").await, waits("cleo@example.com").await);
    let second = pages.open(&format!("{WAITING}?offset=1")).await.says(200, &last);
    assert!(!second.text.contains(&kept) && hidden(&second.text, "offset") == "1", "{}", second.text);
    let form = [("from", "waiting"), ("offset", "1")];
    let back = format!("{WAITING}?done=admitted&offset=1");
    pages.send(&format!("{ORGANIZATIONS}/{last}/activate"), &form).await.leads_to(&back);
    let before = pages.open(&back).await.says(200, &kept);
    assert!(before.text.contains("Admitted.") && !before.text.contains("Nothing here"), "{}", before.text);
    server.wait_for_mails(5).await;

    // An organization can be stopped, and admitted again.
    let org = server.org("pro").await;
    let (api, path) = (server.api(&org), format!("{ORGANIZATIONS}/{}", org.id));
    for _ in 0..2 {
        pages.send(&format!("{path}/waitlist"), &[]).await.leads_to(&format!("{path}?done=stopped"));
    }
    api.get("/v1/agents").await.refused(403, "account_waitlisted");
    let waits = pages.open(&path).await.says(200, "its keys work at once.");
    assert!(waits.text.contains("Admit it") && waits.text.contains("a command of the operator"), "{}", waits.text);
    pages.send(&format!("{path}/activate"), &[]).await.leads_to(&format!("{path}?done=admitted"));
    api.get("/v1/agents").await.expect(200);
    let log = api.get("/v1/audit-log?action=org.update").await.expect(200);
    let commands: Vec<_> = log.data().iter().map(|entry| entry["path"].clone()).collect();
    assert_eq!(commands, [json!("org activate"), json!("org waitlist")]);
    assert_eq!(server.mails().len(), 5, "it has no address, and nobody gets a second email");
}

#[apply(on_both)]
#[tokio::test]
async fn test_emails_are_sent_and_limited(#[case] database: Database) {
    let server = Server::start_with(database, &[("KALENDS_ADMIN_TOKEN", TOKEN)]).await;
    let mut pages = signed_in(&server).await;
    pages.open(MAIL).await.says(200, "No mail leaves this server");
    let wrong = pages.send(MAIL, &[("email", HOSTILE)]).await.says(400, "aria-invalid");
    assert!(wrong.text.contains("<title>Error: "), "{}", wrong.text);
    for _ in 0..5 {
        pages
            .send(MAIL, &[("email", "ada@example.com")])
            .await
            .says(200, "The test email to ada@example.com was written to a file.");
    }
    let refused = pages.send(MAIL, &[("email", "ada@example.com")]).await;
    let refused = refused.says(429, "5 test emails an hour are allowed");
    assert!(!refused.retry_after.is_empty() && refused.text.contains("ada@example.com"), "{}", refused.text);
    let mails = server.mails();
    assert_eq!(mails.len(), 5);
    assert!(mails.iter().all(|mail| mail.to == "ada@example.com" && mail.text.contains(server.base_url())));
}

#[apply(on_both)]
#[tokio::test]
async fn failed_emails_are_shown_without_their_recipients(#[case] database: Database) {
    // Nothing listens at this port.
    let settings = [("KALENDS_ADMIN_TOKEN", TOKEN), ("KALENDS_MAIL", "smtp://127.0.0.1:9")];
    let server = Server::start_with(database, &settings).await;
    let org = server.org("pro").await;
    let api = server.api(&org);
    let mut pages = signed_in(&server).await;
    pages.open(MAIL).await.says(200, "No email of the last 30 days has failed.");
    api.put("/v1/mail/reply-to").json(json!({ "email": "ada.lovelace@mail.example" })).await.expect(200);
    wait_for(|| async { api.get("/v1/mail").await }, |answer| answer.json["data"][0]["attempts"] == 1).await;
    let shown = pages.open(MAIL).await.says(200, "to an address at mail.example");
    assert!(shown.text.contains("Failed after 1 attempt, to be tried again at"), "{}", shown.text);
    assert!(shown.text.contains(&format!("href=\"{ORGANIZATIONS}/{}\"", org.id)), "{}", shown.text);
    assert!(shown.text.contains("<td class=\"number\">1</td>"), "{}", shown.text);
    assert!(!shown.text.contains("lovelace") && !shown.text.contains("May replies go"), "{}", shown.text);
}

#[apply(on_both)]
#[tokio::test]
async fn the_keys_are_shown_by_their_fingerprints(#[case] database: Database) {
    let old = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
    let new = "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=";
    let settings = [("KALENDS_ADMIN_TOKEN", TOKEN), ("KALENDS_MASTER_KEY", old)];
    let mut server = Server::start_with(database, &settings).await;
    agent(&server.api(&server.org("pro").await)).await;
    let fingerprints = |page: &Seen| page.text.matches("Fingerprint of the master key").count();
    {
        let mut pages = signed_in(&server).await;
        // The SHA-256 of 32 bytes of 1 and of 2 begins with these digits.
        let before = pages.open(KEYS).await.says(200, "72cd6e8422c407fb");
        assert_eq!(fingerprints(&before), 1, "{}", before.text);
        assert!(before.text.contains("All values are sealed with it since "), "{}", before.text);
    }
    assert!(server.stop().await.success());
    let both = format!("{new},{old}");
    server.start_again(&[("KALENDS_ADMIN_TOKEN", TOKEN), ("KALENDS_MASTER_KEY", &both)]).await;
    server.cli(&["keys", "rotate-master"]).await.succeeded();
    let mut pages = signed_in(&server).await;
    let after = pages.open(KEYS).await.says(200, "All values are sealed with it since ");
    assert_eq!(fingerprints(&after), 2, "the replaced key stays: {}", after.text);
    assert!(!after.text.contains("72cd6e8422c407fb") && !after.text.contains("class=\"alert\""), "{}", after.text);
}

#[apply(on_both)]
#[tokio::test]
async fn the_configuration_is_shown_without_secrets(#[case] database: Database) {
    let key = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
    let settings = [
        ("KALENDS_ADMIN_TOKEN", TOKEN),
        ("KALENDS_SESSION_KEY", key),
        ("KALENDS_MAIL", "smtp://mailer:hunter2hunter2@127.0.0.1:9"),
        ("KALENDS_OAUTH_GOOGLE_CLIENT_ID", "the-client"),
        ("KALENDS_OAUTH_GOOGLE_CLIENT_SECRET", "the-client-s-secret"),
    ];
    let server = Server::start_with(database, &settings).await;
    let mut pages = signed_in(&server).await;
    let mut secrets = vec![TOKEN, key, "hunter2hunter2", "the-client-s-secret"];
    secrets.extend(server.environment().get("KALENDS_MASTER_KEY").map(String::as_str));
    for path in PAGES {
        let seen = pages.open(path).await;
        assert_eq!(seen.status, 200, "{path}: {}", seen.text);
        for secret in &secrets {
            assert!(!seen.text.contains(secret), "{path} has {secret}");
        }
    }
    let shown = pages.open(CONFIGURATION).await.says(200, "smtp://mailer:********@127.0.0.1:9");
    for text in ["the-client", "KALENDS_LISTEN</code>, from environment", "KALENDS_SIGNUP</code></dt><dd>open"] {
        assert!(shown.text.contains(text), "no {text} in {}", shown.text);
    }
    // The mail server does not answer.
    let failed = pages
        .send(MAIL, &[("email", "ada@example.com")])
        .await
        .says(200, "The test email to ada@example.com was not accepted.");
    assert!(failed.text.contains("<title>Error: ") && !failed.text.contains("hunter2"), "{}", failed.text);
    assert!(failed.text.contains("<dt>Details</dt>"), "{}", failed.text);
}

/// Every address on the pages leads to a page.
#[apply(on_both)]
#[tokio::test]
async fn every_address_leads_to_a_page(#[case] database: Database) {
    let server = Server::start_with(database, &[("KALENDS_ADMIN_TOKEN", TOKEN)]).await;
    server.org("free").await;
    let mut pages = signed_in(&server).await;
    let (mut opened, mut waiting) = (BTreeSet::new(), vec![START.to_owned()]);
    while let Some(path) = waiting.pop() {
        if !opened.insert(path.clone()) {
            continue;
        }
        let seen = pages.open(&path).await;
        assert_eq!(seen.status, 200, "{path}: {}", seen.text);
        if path.starts_with(START) {
            let links = seen.text.split(" href=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
            waiting.extend(links.filter(|link| link.starts_with('/')));
        }
    }
    assert!(PAGES.iter().all(|path| opened.contains(*path)), "{opened:#?}");
    assert!(opened.iter().any(|path| path.starts_with("/console/operator/organizations/org_")), "{opened:#?}");
}
