//! The settings of a calendar, and its deletion, by their forms.

use kalends_e2e::{Database, Server};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::{
    console::Human,
    fixtures::{agent_with_calendar, event_body, shared_calendar},
    members::member,
    on_both,
    pages::{HOSTILE, Pages, hidden},
};

const SETTINGS: &[(&str, &str)] = &[("KALENDS_SIGNUP_PLAN", "custom")];
const EVIL: &str = "https://evil.example";
const SWITCHED: &str = "You switched to another organization in another tab";
const GONE: &str = "There is no such calendar any more.";

/// The text as the HTML of a page contains it.
fn escaped(text: &str) -> String {
    text.replace('"', "&#34;").replace('<', "&#60;").replace('>', "&#62;")
}

/// The fields of a form on the page that changes only the name.
fn naming(text: &str, name: &str) -> Vec<(&'static str, String)> {
    let mut fields: Vec<_> = ["org", "once", "version", "was_name", "was_timezone"]
        .map(|field| (field, hidden(text, field)))
        .into_iter()
        .collect();
    fields.push(("timezone", hidden(text, "was_timezone")));
    fields.push(("name", name.to_owned()));
    fields
}

/// The fields as a browser sends them.
fn borrowed<'a>(fields: &'a [(&'static str, String)]) -> Vec<(&'static str, &'a str)> {
    fields.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

#[apply(on_both)]
#[tokio::test]
async fn a_calendar_is_changed_and_deleted_by_forms(#[case] database: Database) {
    let server = Server::start_with(database, SETTINGS).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let owner = server.client(&ada.token);
    let (agent, calendar) = agent_with_calendar(&owner).await;
    let (path, read) = (format!("/console/calendars/{calendar}"), format!("/v1/calendars/{calendar}"));
    let mut pages = Pages::new(&server);
    pages.open(&path).await.asks_to_sign_in();
    pages.sign_in(&ada.email).await;
    pages.open(&format!("/console/agents/{agent}")).await.says(200, &format!("href=\"{path}\""));
    let page = pages.open(&path).await.says(200, "<h1>Work</h1>");

    let fields = naming(&page.text, "");
    pages.send(&path, &borrowed(&fields)).await.says(400, "id=\"name-problem\"");
    let fields = naming(&page.text, HOSTILE);
    assert_eq!(pages.send_from(EVIL, &path, &borrowed(&fields)).await.status, 403);
    pages.send(&path, &borrowed(&fields)[1..]).await.says(409, SWITCHED);
    // A double click.
    for _ in 0..2 {
        pages.send(&path, &borrowed(&fields)).await.leads_to(&format!("{path}?done=saved"));
    }
    let saved = pages.open(&format!("{path}?done=saved")).await.says(200, "Saved.");
    assert!(saved.text.contains(&escaped(HOSTILE)), "{}", saved.text);
    // The form of another tab is for an earlier version, and only what was typed over is changed.
    let mut late = naming(&page.text, "Late");
    late[1].1 = "another-key-that-nobody-guesses".to_owned();
    let stale = pages.send(&path, &borrowed(&late)).await.says(412, "The calendar has changed since you opened");
    assert!(stale.text.contains("value=\"Late\""), "what was typed is kept: {}", stale.text);
    owner.patch(&read).json(json!({ "timezone": "Asia/Tokyo" })).await.expect(200);
    let fresh = pages.open(&path).await.says(200, "<option value=\"Asia/Tokyo\" selected>");
    pages.send(&path, &borrowed(&naming(&fresh.text, "Plans"))).await.leads_to(&format!("{path}?done=saved"));
    let known = owner.get(&read).await.expect(200);
    assert_eq!((&known["name"], &known["timezone"]), (&json!("Plans"), &json!("Asia/Tokyo")));

    let (viewer, _) = member(&server, &owner, "viewer@example.com", "viewer").await;
    let mut theirs = Pages::new(&server);
    theirs.sign_in_to(&viewer.email, &ada.org).await;
    let seen = theirs.open(&format!("/console/agents/{agent}")).await.says(200, "Plans");
    assert!(!seen.text.contains(&path), "{}", seen.text);
    let delete = format!("{path}/delete");
    for path in [&path, &delete] {
        theirs.open(path).await.says(403, "Your role does not allow this.");
        assert_eq!(theirs.send(path, &[("org", &*ada.org)]).await.status, 403);
    }
    let eve = Human::sign_up(&server, "eve@example.com").await;
    let mut others = Pages::new(&server);
    others.sign_in(&eve.email).await;
    for path in [&path, &delete] {
        others.open(path).await.says(404, GONE);
        others.send(path, &[("org", &*ada.org)]).await.says(409, SWITCHED);
    }
    others.send(&delete, &[("org", &*eve.org)]).await.leads_to("/console/agents?done=gone");

    let event = event_body("Call", "2031-03-03T10:00:00Z", "2031-03-03T10:30:00Z");
    owner.post(format!("{read}/events")).json(event).await.expect(201);
    let asked = pages.open(&delete).await.says(200, "Delete Plans?");
    assert!(asked.text.contains("<dt>Events, where a series counts once</dt><dd>1</dd>"), "{}", asked.text);
    let sent = ["org", "version", "agent"].map(|field| (field, hidden(&asked.text, field)));
    owner.patch(&read).json(json!({ "name": "Newer" })).await.expect(200);
    pages.send(&delete, &borrowed(&sent)).await.says(412, "Delete Newer?");
    let asked = pages.open(&delete).await;
    let sent = ["org", "version", "agent"].map(|field| (field, hidden(&asked.text, field)));
    pages.send(&delete, &borrowed(&sent)).await.leads_to(&format!("/console/agents/{agent}?done=deleted"));
    pages.send(&delete, &borrowed(&sent)).await.leads_to(&format!("/console/agents/{agent}?done=gone"));
    owner.get(&read).await.refused(404, "not_found");
    pages.open(&path).await.says(404, GONE);

    // A calendar that the organization shares.
    let shared = shared_calendar(&owner, "UTC").await;
    let delete = format!("/console/calendars/{shared}/delete");
    let asked = pages.open(&delete).await.says(200, "None: the organization shares it");
    let sent = ["org", "version", "agent"].map(|field| (field, hidden(&asked.text, field)));
    pages.send(&delete, &borrowed(&sent)).await.leads_to("/console/agents?done=deleted");
}
