//! The audit log in sentences, its filter, and its file.

use kalends_e2e::{Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::{
    console::Human,
    fixtures::{agent, agent_with_calendar, event_body, wait_for},
    front::http,
    members::member,
    on_both,
    pages::{HOSTILE, Pages, Seen},
};

const ADA: &str = "ada@example.com";
const PAGE: &str = "/console/activity";
const FILE: &str = "/console/activity/file";

/// A user who has signed up, on a plan without limits.
async fn organization(server: &Server) -> Human {
    let ada = Human::sign_up(server, ADA).await;
    server.cli(&["org", "set-plan", &ada.org, "custom"]).await.succeeded();
    ada
}

/// A browser in which the user is signed in to that organization.
async fn signed_in<'a>(server: &'a Server, email: &str, org: &str) -> Pages<'a> {
    let mut pages = Pages::new(server);
    pages.sign_in(email).await;
    pages.send(&format!("/console/orgs/{org}/switch"), &[]).await.leads_to("/console");
    pages
}

/// The number of entries on a page.
fn entries(page: &Seen) -> usize {
    page.text.matches("<summary>Details").count()
}

/// The sentences of a page, without the links in them.
fn sentences(page: &Seen) -> Vec<String> {
    let lines = page.text.split("<p>").skip(1).filter_map(|line| line.split_once("</p>"));
    let words = |line: &str| line.split('<').map(|part| part.rsplit('>').next().unwrap_or(part)).collect();
    lines.map(|(line, _)| words(line)).collect()
}

/// The address of the next page.
fn older(page: &Seen) -> Option<String> {
    let (before, _) = page.text.split_once("\" rel=\"next\"")?;
    Some(before.rsplit_once("href=\"")?.1.replace("&#38;", "&"))
}

/// The rows of the file, without the header.
async fn file(pages: &Pages<'_>, server: &Server, query: &str) -> Vec<String> {
    let cookie = format!("service_session={}", pages.cookies["service_session"]);
    let answer =
        http().get(format!("{}{FILE}{query}", server.base_url())).header("cookie", cookie).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "text/csv; charset=utf-8");
    assert_eq!(header("content-disposition"), "attachment; filename=\"activity.csv\"");
    assert!(header("cache-control").contains("no-store"));
    let text = answer.text().await.unwrap();
    let mut lines = text.split_terminator("\r\n").map(str::to_owned);
    assert_eq!(lines.next().as_deref(), Some("time,action,actor,subject,outcome,address,request id"));
    lines.collect()
}

#[apply(on_both)]
#[tokio::test]
async fn the_log_is_read_in_sentences(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = organization(&server).await;
    let id = agent(&server.client(&ada.key)).await;
    let hostile = json!({ "name": HOSTILE, "type": "ai" });
    server.client(&ada.token).post("/v1/agents").json(hostile).await.expect(201);
    let key = json!({ "agent_id": id, "label": "laptop" });
    server.client(&ada.token).post("/v1/auth/keys/scoped").json(key).await.expect(201);

    let mut pages = Pages::new(&server);
    pages.open(PAGE).await.asks_to_sign_in();
    pages.sign_in(ADA).await;
    let page = pages.open(PAGE).await.says(200, "ada@example.com signed in to the console.");
    for sentence in [
        "An operator changed the organization.",
        "The organization&#39;s key created the agent “Ada”.",
        "ada@example.com created the agent “&#34;&#62;&#60;script",
        "ada@example.com created the key “laptop” (agent “Ada”).",
    ] {
        assert!(sentences(&page).iter().any(|said| said.starts_with(sentence)), "no {sentence} in {}", page.text);
    }
    let link = format!("<a href=\"/console/agents/{id}\" title=\"{id}\">“Ada”</a>");
    assert_eq!(page.text.matches(&link).count(), 2, "an agent leads to its page: {}", page.text);
    assert!(page.text.contains("<h2>Today, ") || page.text.contains("<h2>Yesterday, "), "{}", page.text);
    assert!(page.text.contains("at most") && page.text.contains("<code>POST /v1/agents</code>"), "{}", page.text);
    assert!(!page.text.contains(&ada.key), "only the beginning of a key is shown");
    let newest = page.text.find("signed in to the console.").unwrap();
    assert!(newest < page.text.find("An operator changed").unwrap(), "the newest entry is first");

    // A wrong password is recorded soon after the answer.
    pages.send("/console/sign-in", &[("email", ADA), ("password", "not the password")]).await.says(401, "wrong");
    let console = server.client(&ada.token);
    let failures = || async { console.get("/v1/audit-log?action=auth.failure").await };
    wait_for(failures, |log| !log.data().is_empty()).await;
    let failed = pages.open(&format!("{PAGE}?action=auth.failure")).await;
    let failed = failed.says(200, "ada@example.com sent a wrong password, code or key.");
    assert!(failed.text.contains("Refused: the password, the code or the key was wrong"), "{}", failed.text);
}

#[apply(on_both)]
#[tokio::test]
async fn what_exists_is_named_and_leads_to_its_page(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = organization(&server).await;
    let api = server.client(&ada.key);
    let (_, calendar) = agent_with_calendar(&api).await;
    let event = event_body("Kick-off", "2030-03-04T09:00:00Z", "2030-03-04T10:00:00Z");
    let path = format!("/v1/calendars/{calendar}/events");
    let kept = api.post(&path).json(event.clone()).await.expect(201).id();
    let gone = api.post(&path).json(event).await.expect(201).id();
    api.delete(format!("/v1/events/{gone}")).await.expect(204);
    let webhook = json!({ "url": "https://kalends.invalid/secret", "events": ["*"] });
    let webhook = api.post("/v1/webhooks").json(webhook).await.expect(201).id();

    let mut pages = signed_in(&server, ADA, &ada.org).await;
    let page = pages.open(PAGE).await.says(200, "created the webhook endpoint");
    for (at, id, name) in [
        ("calendars", &calendar, "Work"),
        ("calendar/events", &kept, "Kick-off"),
        ("webhooks", &webhook, "kalends.invalid"),
    ] {
        let link = format!("<a href=\"/console/{at}/{id}\" title=\"{id}\">“{name}”</a>");
        assert!(page.text.contains(&link), "no {link} in {}", page.text);
        pages.open(&format!("/console/{at}/{id}")).await.says(200, "");
    }
    let deleted = format!("deleted the event {gone} (agent “Ada”).");
    assert!(sentences(&page).iter().any(|said| said.ends_with(&deleted)), "no {deleted} in {}", page.text);
    assert!(!page.text.contains(&format!("events/{gone}")), "what is gone has no link: {}", page.text);
    assert!(!page.text.contains("kalends.invalid/secret"), "an address may carry a secret: {}", page.text);
    let rows = file(&pages, &server, "?action=event.create").await;
    assert!(rows.iter().any(|row| row.contains(&format!(",{kept},"))), "the file has identifiers: {rows:?}");
}

#[apply(on_both)]
#[tokio::test]
async fn the_log_is_filtered_by_the_form(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = organization(&server).await;
    let api = server.client(&ada.key);
    let (first, second) = (agent(&api).await, agent(&api).await);
    api.patch(format!("/v1/agents/{second}")).json(json!({ "name": "Grace" })).await.expect(200);
    let mut pages = signed_in(&server, ADA, &ada.org).await;

    let prefix = &ada.key[..20];
    for (filter, count, kept) in [
        (format!("agent_id={first}"), 1, format!("<option value=\"{first}\" selected>Ada")),
        (format!("agent_id={second}"), 2, format!("<option value=\"{second}\" selected>Grace")),
        ("action=agent.create".to_owned(), 2, "<option value=\"agent.create\" selected>".to_owned()),
        (format!("actor_key_prefix={prefix}"), 3, format!("<option value=\"{prefix}\" selected>")),
        (format!("action=agent.create&agent_id={second}&actor_key_prefix={prefix}"), 1, "selected>Grace".to_owned()),
        ("action=agent.create&from=2020-01-01&to=2099-01-01".to_owned(), 2, "value=\"2020-01-01\"".to_owned()),
        ("action=agent.create&from=&to=2020-01-01".to_owned(), 0, "No entries match.".to_owned()),
        ("actor_key_prefix=svc_ak_revoked".to_owned(), 0, "value=\"svc_ak_revoked\" selected".to_owned()),
    ] {
        let page = pages.open(&format!("{PAGE}?{filter}")).await.says(200, &kept);
        assert_eq!(entries(&page), count, "{filter}");
        assert_eq!(file(&pages, &server, &format!("?{filter}")).await.len(), count, "{filter}");
        assert!(page.text.contains("Show everything"), "{filter}");
    }
    let everything = pages.open(PAGE).await;
    let empty = pages.open(&format!("{PAGE}?agent_id=&actor_key_prefix=&action=&from=&to=")).await;
    assert_eq!((empty.status, entries(&empty)), (200, entries(&everything)));

    for (wrong, says) in [
        ("from=yesterday", "Must be a date such as 2026-11-28."),
        ("to=2026-02-30", "Must be a date such as 2026-11-28."),
        ("from=2026-03-02&to=2026-03-01", "Must be before"),
        ("from=2199-01-01", "id=\"from-problem\""),
        ("action=agent.created", "Must be one of"),
        ("agent_id=%22%3E%3Cscript%3Ealert(1)%3C/script%3E", "Must be the identifier of an agent"),
        ("actor_key_prefix=svc_sk_0123456789abcdefghijk", "Must be the first 20 characters of a key"),
        ("cursor=x", "of an earlier page"),
    ] {
        let page = pages.open(&format!("{PAGE}?{wrong}")).await.says(400, says);
        assert_eq!((entries(&page), page.text.contains("Download as CSV")), (0, false), "{wrong}");
        // The file begins with the newest entry, so it has no cursor.
        if wrong != "cursor=x" {
            pages.open(&format!("{FILE}?{wrong}")).await.says(400, "That could not be done");
        }
    }
    assert!(!file(&pages, &server, "?cursor=x").await.is_empty());
    pages.open(&format!("{PAGE}?from=yesterday")).await.says(400, "value=\"yesterday\"");
}

#[apply(on_both)]
#[tokio::test]
async fn the_log_has_pages_and_a_file(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = organization(&server).await;
    let api = server.client(&ada.key);
    for _ in 0..120 {
        agent(&api).await;
    }
    let mut pages = signed_in(&server, ADA, &ada.org).await;
    let filter = "?action=agent.create";
    let (mut at, mut seen) = (Some(format!("{PAGE}{filter}")), Vec::new());
    while let Some(path) = at {
        let page = pages.open(&path).await.says(200, "<option value=\"agent.create\" selected>");
        assert_eq!(page.text.contains(">Newest</a>"), !seen.is_empty());
        seen.push(entries(&page));
        at = older(&page);
    }
    assert_eq!(seen, [25, 25, 25, 25, 20]);
    let rows = file(&pages, &server, filter).await;
    assert_eq!(rows.len(), 120);
    let newest = server.client(&ada.token).get("/v1/audit-log?action=agent.create&limit=1").await.expect(200);
    let entry = &newest.data()[0];
    let text = |field: &str| entry[field].as_str().unwrap().to_owned();
    let (time, key, subject) = (text("created_at"), text("actor_key_prefix"), text("resource"));
    let (address, request) = (text("ip"), text("request_id"));
    assert_eq!(rows[0], format!("{time},agent.create,{key},{subject},done,{address},{request}"));
    let signed_in = file(&pages, &server, "?action=auth.signin").await;
    assert!(signed_in.iter().all(|row| row.contains(",auth.signin,ada@example.com,")), "{signed_in:?}");
}

#[apply(on_both)]
#[tokio::test]
async fn an_organization_has_thirty_files_an_hour(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = organization(&server).await;
    let mut pages = signed_in(&server, ADA, &ada.org).await;
    for _ in 0..30 {
        file(&pages, &server, "?action=agent.create").await;
        pages.open(&format!("{FILE}?action=x")).await.says(400, "That could not be done");
    }
    pages.open(FILE).await.says(429, "30 files of the audit log an hour are allowed");
    pages.open(PAGE).await.says(200, "signed in to the console.");
}

#[apply(on_both)]
#[tokio::test]
async fn every_member_reads_the_log_of_the_organization_only(#[case] database: Database) {
    let server = Server::start(database).await;
    let ada = organization(&server).await;
    agent(&server.client(&ada.key)).await;
    let owner = server.client(&ada.token);
    let created = "The organization&#39;s key created the agent “Ada”.";
    for role in ["admin", "member", "viewer"] {
        let email = format!("{role}@example.com");
        member(&server, &owner, &email, role).await;
        let mut pages = signed_in(&server, &email, &ada.org).await;
        let page = pages.open(PAGE).await.says(200, "signed in to the console.");
        assert!(sentences(&page).iter().any(|said| said == created), "{role}: {}", page.text);
        assert!(!file(&pages, &server, "").await.is_empty(), "{role}");
    }
    let other = Human::sign_up(&server, "=eve@example.com").await;
    let mut pages = signed_in(&server, &other.email, &other.org).await;
    let page = pages.open(PAGE).await.says(200, "=eve@example.com signed in to the console.");
    assert!(!page.text.contains("created the agent <a ") && !page.text.contains(ADA), "{}", page.text);
    let rows = file(&pages, &server, "").await;
    assert!(rows.iter().all(|row| !row.contains(ADA)), "{rows:?}");
    assert!(rows.iter().any(|row| row.contains(",'=eve@example.com,")), "an address is no formula: {rows:?}");
    let mut nobody = Pages::new(&server);
    nobody.open(PAGE).await.asks_to_sign_in();
    nobody.open(FILE).await.asks_to_sign_in();
}
