//! A user who is asked for a calendar, in a real browser.

use std::collections::BTreeSet;

use kalends_e2e::{Answer, Browser, Database::Sqlite, Visitor};
use serde_json::{Value, json};

use crate::{
    booking_browser::{PHONE, fits},
    claims::text,
    connecting::{CALENDARS, Connecting, HUMAN},
    console::PASSWORD,
    fixtures::shared_calendar,
    publishing_pages::{ask_to_copy, destination_path},
    walk::sign_in,
};

const SIGN_IN: &str = "Sign in to connect your calendar";
const CONNECT: &str = "Connect your calendar";
const CHOOSE: &str = "Choose your calendars";
const GRANTS: &str = "/v1/availability-grants";
/// The first of the user's other organizations.
const FIRST: &str = ".offers li:first-child button";

/// The address that the user opens.
fn address(link: &Answer) -> String {
    link["setup_url"].as_str().unwrap().to_owned()
}

/// A browser in which the user has signed in and followed a link.
async fn following(link: &Answer) -> Browser {
    let browser = Visitor::new().open().await;
    browser.goto(&address(link)).await;
    sign_in(&browser, SIGN_IN, HUMAN).await;
    browser.headed(CONNECT).await;
    browser
}

async fn is_checked(browser: &Browser, css: &str) -> bool {
    browser.property(css, "checked").await == "true"
}

/// The checkbox of the calendar at this index.
fn calendar(place: usize) -> String {
    format!("fieldset:first-of-type .choice:nth-of-type({}) input", place + 1)
}

async fn poll(it: &Connecting, link: &Answer) -> Answer {
    it.api.get(format!("/v1/connection-links/{}", link.id())).await.expect(200)
}

async fn grants(it: &Connecting) -> Vec<Value> {
    it.console.get(GRANTS).await.expect(200).data()
}

#[tokio::test]
async fn a_user_connects_a_calendar() {
    let it = Connecting::new(Sqlite).await;
    let link = it.ask().await;
    let browser = Visitor::new().phone(PHONE.0, PHONE.1).open().await;
    browser.goto(&address(&link)).await;
    browser.headed(SIGN_IN).await;
    let connect = format!("{}/console/connect/offer", it.server.base_url());
    let sign_in = format!("{}/console/sign-in?next=%2Fconsole%2Fconnect%2Foffer", it.server.base_url());
    assert_eq!(browser.url().await, sign_in, "the secret is not in the address");
    fits(&browser).await;
    browser.fill("#email", HUMAN).await;
    browser.fill("#password", "a password of nobody").await;
    browser.click("form button.primary").await;
    browser.wait_for_paragraph("The address or the password is wrong.").await;
    assert_eq!(poll(&it, &link).await["status"], "awaiting_human");
    browser.fill("#password", PASSWORD).await;
    browser.click("form button.primary").await;

    browser.headed(CONNECT).await;
    assert_eq!(browser.url().await, connect);
    fits(&browser).await;
    assert_eq!(poll(&it, &link).await["status"], "in_progress");
    let page_text = browser.text("main").await;
    let agent = it.api.get(format!("/v1/agents/{}", it.agent)).await.expect(200);
    let name = agent["name"].as_str().unwrap();
    for part in [name, "When you are busy, and nothing else", HUMAN, "Connect Google", "Connect Microsoft"] {
        assert!(page_text.contains(part), "no {part} in {page_text}");
    }
    // The skip link must not lose the connection link.
    browser.run("document.querySelector('.skip').click()").await;
    browser.press_button("Connect Google").await;

    browser.headed(CHOOSE).await;
    fits(&browser).await;
    let chosen = [is_checked(&browser, &calendar(0)).await, is_checked(&browser, &calendar(1)).await];
    assert_eq!(chosen, [true, false], "the primary calendar is preselected");
    assert!(is_checked(&browser, "#audience-selected").await);
    assert!(browser.text("main").await.contains(&format!("This agent only: {name}")));
    browser.click(&calendar(0)).await;
    browser.click("form button.primary").await;
    browser.wait_for_paragraph("Please choose at least one calendar.").await;
    fits(&browser).await;
    browser.click(&calendar(0)).await;
    browser.click(&calendar(1)).await;
    browser.click("form button.primary").await;
    browser.headed("Done").await;
    assert!(browser.text("main").await.contains("You can close this page."));

    let known = poll(&it, &link).await;
    assert_eq!(known["status"], "completed");
    let listed = it.external(known["connection_id"].as_str().unwrap()).await;
    let granted = grants(&it).await;
    assert_eq!(granted.len(), 1);
    assert_eq!((&granted[0]["audience"], &granted[0]["agent_ids"]), (&json!("selected"), &json!([it.agent])));
    let ids = |values: &[Value]| values.iter().map(text).collect::<BTreeSet<_>>();
    let chosen = [listed[0]["id"].clone(), listed[1]["id"].clone()];
    assert_eq!(ids(granted[0]["external_calendar_ids"].as_array().unwrap()), ids(&chosen));
    browser.goto(&connect).await;
    browser.headed("Open your link").await;
    fits(&browser).await;
}

#[tokio::test]
async fn a_user_connects_a_calendar_without_scripts() {
    let it = Connecting::new(Sqlite).await;
    let link = it.ask().await;
    let browser = Visitor::new().without_scripts().open().await;
    browser.goto(&address(&link)).await;
    browser.headed("Open your link").await;
    browser.fill("#code", &address(&link)).await;
    browser.click("button.primary").await;
    sign_in(&browser, SIGN_IN, HUMAN).await;
    browser.headed(CONNECT).await;
    browser.press_button("Connect Microsoft").await;
    browser.headed(CHOOSE).await;
    browser.click("#audience-all").await;
    browser.click("form button.primary").await;
    browser.headed("Done").await;
    assert_eq!(poll(&it, &link).await["status"], "completed");
    browser.click("a[href='/console/connections']").await;
    browser.headed("Connected calendars").await;
    assert!(browser.text("main").await.contains("All agents, including future ones"));
    browser.press_button("Pause").await;
    browser.wait_for_paragraph("Paused.").await;
    browser.click("a.danger").await;
    browser.headed("Disconnect Microsoft?").await;
    browser.click("a.quiet").await;
    browser.headed("Connected calendars").await;
    browser.click("a.danger").await;
    browser.press_button("Disconnect").await;
    browser.wait_for_paragraph("Disconnected.").await;
    assert_eq!(grants(&it).await.len(), 0);
}

#[tokio::test]
async fn a_user_manages_a_connection() {
    let it = Connecting::new(Sqlite).await;
    let connection = it.granted(&it.google).await;
    let browser = Visitor::new().phone(PHONE.0, PHONE.1).open().await;
    browser.goto(&format!("{}/console/connections", it.server.base_url())).await;
    sign_in(&browser, "Sign in", HUMAN).await;
    browser.headed("Connected calendars").await;
    browser.find(".entries").await;
    fits(&browser).await;
    let page_text = browser.text("main").await;
    for part in ["Google", "Connected", CALENDARS[0].1, "1 agent"] {
        assert!(page_text.contains(part), "no {part} in {page_text}");
    }
    browser.press_button("Pause").await;
    browser.wait_for_paragraph("Paused.").await;
    it.is(&connection, "paused").await;
    browser.press_button("Resume").await;
    browser.wait_for_paragraph("Resumed.").await;
    it.is(&connection, "active").await;
    browser.press_button("Refresh").await;
    browser.wait_for_paragraph("Refreshing. This takes a moment.").await;
    browser.press_button("Renew consent").await;
    browser.headed(CHOOSE).await;
    assert!(!browser.has("#audience-selected").await, "there is no link of an agent");
    assert!(is_checked(&browser, "#audience-all_current").await);
    browser.click(&calendar(2)).await;
    browser.click("form button.primary").await;
    browser.headed("Done").await;
    assert_eq!(grants(&it).await.len(), 2);
    browser.click("a[href='/console/connections']").await;
    browser.find(".entries").await;
    browser.press_button("Revoke").await;
    browser.wait_for_paragraph("Revoked.").await;
    assert_eq!(grants(&it).await.len(), 1);
    browser.click("a.danger").await;
    browser.headed("Disconnect Google?").await;
    fits(&browser).await;
    it.is(&connection, "active").await;
    browser.press_button("Disconnect").await;
    browser.wait_for_paragraph("Disconnected.").await;
    it.console.get(crate::connecting::path_of(&connection)).await.refused(404, "not_found");
}

#[tokio::test]
async fn a_user_declines() {
    let it = Connecting::new(Sqlite).await;
    let link = it.ask().await;
    let browser = following(&link).await;
    browser.press_button("Decline").await;
    browser.headed("You have declined").await;
    assert_eq!(poll(&it, &link).await["status"], "declined");
    browser.goto(&address(&link)).await;
    browser.headed("This link cannot be used").await;
    assert!(browser.text("main").await.contains("declined"));
}

#[tokio::test]
async fn a_connected_account_can_be_chosen_again() {
    let it = Connecting::new(Sqlite).await;
    let connection = it.connect(&it.microsoft, None).await;
    let link = it.ask().await;
    let browser = following(&link).await;
    browser.click("ul.offers a").await;
    browser.headed(CHOOSE).await;
    browser.click("form button.primary").await;
    browser.headed("Done").await;
    let known = poll(&it, &link).await;
    assert_eq!((&known["status"], &known["connection_id"]), (&json!("completed"), &json!(connection)));
}

#[tokio::test]
async fn a_link_for_a_shared_calendar_grants_all_agents() {
    let it = Connecting::new(Sqlite).await;
    let shared = shared_calendar(&it.api, "UTC").await;
    let link = it.api.post(format!("/v1/calendars/{shared}/connection-links")).json(json!({})).await.expect(201);
    let browser = following(&link).await;
    browser.press_button("Connect Microsoft").await;
    browser.headed(CHOOSE).await;
    assert!(is_checked(&browser, "#audience-all").await && !browser.has("#audience-selected").await);
    browser.click("form button.primary").await;
    browser.headed("Done").await;
    assert_eq!(grants(&it).await[0]["audience"], "all");
}

#[tokio::test]
async fn a_wrong_link_is_reported() {
    let it = Connecting::new(Sqlite).await;
    let browser = Visitor::new().open().await;
    let connect = format!("{}/console/connect", it.server.base_url());
    browser.goto(&connect).await;
    browser.headed("Open your link").await;
    // Pasted into the same window, so only the part after the `#` changes.
    browser.goto(&format!("{connect}#nobody-has-made-this")).await;
    sign_in(&browser, SIGN_IN, HUMAN).await;
    browser.headed("This link is unknown here").await;
    // The session is not signed in to the user's own organization.
    let orgs = it.console.get("/v1/auth/orgs").await.expect(200);
    let other = orgs["orgs"].as_array().unwrap().iter().find(|org| org["active"] == false).unwrap();
    assert!(browser.text(FIRST).await.contains(other["name"].as_str().unwrap()));
    let switch = format!("/v1/auth/orgs/{}/switch", other["id"].as_str().unwrap());
    it.console.post(switch).await.expect(200);
    let key = it.console.post("/v1/auth/keys/regenerate").await.expect(200)["key"].as_str().unwrap().to_owned();
    let theirs = it.server.client(&key);
    let calendar = shared_calendar(&theirs, "UTC").await;
    let link = theirs.post(format!("/v1/calendars/{calendar}/connection-links")).json(json!({})).await.expect(201);
    browser.click(FIRST).await;
    let name = other["name"].as_str().unwrap();
    browser.wait_for_paragraph(&format!("Signed in as {HUMAN}, {name}. Sign in as somebody else")).await;
    // The browser still keeps the wrong link. The new one takes its place.
    browser.goto(&address(&link)).await;
    browser.headed(CONNECT).await;
    assert!(!browser.url().await.contains('#'), "the secret is not in the address");
    assert!(browser.text("main").await.contains(name));
}

#[tokio::test]
async fn refusing_consent_at_the_provider_returns_to_the_link() {
    let it = Connecting::new(Sqlite).await;
    let link = it.ask().await;
    let browser = following(&link).await;
    it.google.declines(true);
    browser.press_button("Connect Google").await;
    browser.headed("Nothing was connected").await;
    assert!(browser.text("main").await.contains("Nothing was shared"));
    browser.click("a.primary").await;
    browser.headed(CONNECT).await;
    it.google.declines(false);
    browser.press_button("Connect Google").await;
    browser.headed(CHOOSE).await;
    assert_eq!(poll(&it, &link).await["status"], "in_progress");
}

/// With a phone, without scripts.
#[tokio::test]
async fn a_user_lets_an_agent_copy_events() {
    let it = Connecting::new(Sqlite).await;
    let link = ask_to_copy(&it, "confirmed").await;
    let browser = Visitor::new().phone(PHONE.0, PHONE.1).without_scripts().open().await;
    browser.goto(&address(&link)).await;
    browser.headed("Open your link").await;
    browser.fill("#code", &address(&link)).await;
    browser.click("button.primary").await;
    sign_in(&browser, SIGN_IN, HUMAN).await;
    browser.headed(CONNECT).await;
    fits(&browser).await;
    browser.press_button("Connect Microsoft").await;
    browser.headed(CHOOSE).await;
    fits(&browser).await;
    assert!(!is_checked(&browser, "#copies").await, "nothing is copied unless the user chooses it");
    browser.click("#copies").await;
    browser.click("form button.primary").await;
    browser.headed("Done").await;
    assert_eq!(poll(&it, &link).await["status"], "completed");
    let made = it.console.get(destination_path(&it)).await.expect(200);
    assert_eq!(made["policy"], "confirmed");

    // The user finds it again, and stops it.
    browser.click("a[href='/console/connections']").await;
    browser.headed("Connected calendars").await;
    browser.click("a[href$='/copies']").await;
    browser.headed("Copied events").await;
    fits(&browser).await;
    browser.click("li a.quiet").await;
    let name = it.api.get(format!("/v1/calendars/{}", it.calendar)).await.expect(200);
    let name = text(&name["name"]);
    browser.headed(&format!("Copies of {name} go to {}", CALENDARS[0].1)).await;
    fits(&browser).await;
    browser.click("a.danger").await;
    browser.headed(&format!("Stop copying {name}?")).await;
    fits(&browser).await;
    browser.click("#keep").await;
    browser.press_button("Stop copying").await;
    browser.wait_for_paragraph("Copying has stopped. The copies stay.").await;
    it.console.get(destination_path(&it)).await.refused(404, "not_found");
}
