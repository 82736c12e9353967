//! What owners change rarely: roles, terms, recovery codes, the organization's own key, a whole calendar, and the feed
//! of a subscription. In a real browser.

use kalends_e2e::{Server, Serving};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::{
    calendar_desk::Desk,
    claims::text,
    connecting::{HUMAN, ORG},
    console::{Human, PASSWORD, owner},
    fixtures::event_body,
    in_every_way,
    members::member,
    second_factor::turn_on,
    subscriber::{Subscriber, meeting, vcalendar},
    walk::{Walk, Way},
};

const MEMBERS: &str = "/console/members";
const CODES: &str = "return [...document.querySelectorAll('.codes code')].map(code => code.textContent)";

#[apply(in_every_way)]
#[tokio::test]
async fn an_owner_changes_a_role_and_removes_a_member(#[case] way: Way) {
    let it = Desk::new(way.database).await;
    let (bob, his) = member(&it.server, &it.console, "bob@example.com", "viewer").await;
    let own = text(&it.console.get("/v1/auth/me").await.expect(200)["user"]["id"]);
    let form = |user: &str, part: &str| format!("form[action='{MEMBERS}/{user}'] {part}");
    let walk = Walk::begin(&it, way).await;
    walk.goto(MEMBERS).await;
    walk.reaches("Members").await;
    walk.sees("bob@example.com").await;

    walk.choose(&form(&own, "select"), "viewer").await;
    walk.follow(&form(&own, "button")).await;
    walk.sees("The organization needs an owner").await;
    walk.fits().await;
    assert_eq!(walk.browser.property(&form(&own, "select"), "value").await, "viewer", "what was chosen stays");
    assert_eq!(it.console.get("/v1/auth/me").await.expect(200)["role"], "owner");
    walk.choose(&form(&bob.user, "select"), "admin").await;
    walk.follow(&form(&bob.user, "button")).await;
    walk.sees("Saved.").await;
    assert_eq!(walk.browser.property(&form(&bob.user, "select"), "value").await, "admin");
    assert_eq!(his.get("/v1/auth/me").await.expect(200)["role"], "admin");

    walk.follow(&format!("main a[href='{MEMBERS}/{}/remove']", bob.user)).await;
    walk.reaches("Remove Ada?").await;
    walk.sees("bob@example.com loses access at once.").await;
    walk.press("Remove").await;
    walk.sees("Removed.").await;
    assert!(!walk.text().await.contains("bob@example.com"), "{}", walk.text().await);
    his.get("/v1/auth/me").await.expect(401);
}

#[apply(in_every_way)]
#[tokio::test]
async fn an_owner_accepts_new_terms(#[case] way: Way) {
    const NEWER: &str = "2026-11-01";
    let mut server = Server::start(way.database).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    assert!(server.stop().await.success());
    server.start_again(&[("KALENDS_TERMS_VERSION", NEWER)]).await;
    let accepted = async || {
        let me = server.client(&ada.token).get("/v1/auth/me").await.expect(200);
        me["accepted_terms_version"].clone()
    };
    let walk = Walk::open(&server, way).await;
    walk.sign_in(&ada.email).await;
    walk.goto("/console/organization").await;
    walk.reaches("Organization").await;
    walk.sees("The terms of 2026-11-01 are current.").await;
    assert_ne!(accepted().await, NEWER);
    walk.press("Accept the terms").await;
    walk.sees("Accepted.").await;
    walk.fits().await;
    assert!(!walk.text().await.contains("New terms"), "{}", walk.text().await);
    assert_eq!(accepted().await, NEWER);
}

#[apply(in_every_way)]
#[tokio::test]
async fn a_person_renews_the_recovery_codes(#[case] way: Way) {
    let server = Server::start(way.database).await;
    let ada = Human::sign_up(&server, "ada@example.com").await;
    let (_, old) = turn_on(&server, &ada.token, PASSWORD).await;
    let sign_in = async |code: &str| {
        let body = json!({ "email": ada.email, "password": PASSWORD, "code": code });
        server.anonymous().post("/v1/auth/signin").json(body).await
    };
    let walk = Walk::open(&server, way).await;
    walk.send_password(&ada.email, PASSWORD).await;
    walk.reaches("Enter your code").await;
    walk.fill("#code", &old[0]).await;
    walk.press("Sign in").await;
    walk.browser.find("nav[aria-label='Console']").await;
    walk.goto("/console/security").await;
    walk.reaches("Second factor").await;
    walk.sees("Recovery codes left: 9").await;

    walk.fill("#code", &old[0]).await;
    walk.press("Get new codes").await;
    walk.browser.find("#code-problem").await;
    walk.sees("Recovery codes left: 9").await;
    walk.fits().await;
    walk.fill("#code", &old[1]).await;
    walk.press("Get new codes").await;
    walk.reaches("Your recovery codes").await;
    let new: Vec<String> = serde_json::from_value(walk.browser.run(CODES).await).unwrap();
    assert_eq!(new.len(), 10);
    assert!(new.iter().all(|code| !old.contains(code)), "{new:?} {old:?}");
    walk.press("I have stored them").await;
    walk.sees("Recovery codes left: 10").await;
    assert!(!walk.text().await.contains(&new[0]), "codes are shown once: {}", walk.text().await);
    sign_in(&old[2]).await.expect(401);
    sign_in(&new[0]).await.expect(200);
}

#[apply(in_every_way)]
#[tokio::test]
async fn an_owner_replaces_the_organization_s_own_key(#[case] way: Way) {
    let it = Desk::new(way.database).await;
    let walk = Walk::begin(&it, way).await;
    walk.goto("/console/keys").await;
    walk.reaches("Keys").await;
    walk.press("Replace the key").await;
    walk.reaches("Replace the organization’s own key?").await;
    walk.sees("What stops working").await;
    walk.press("Cancel").await;
    walk.reaches("Keys").await;
    it.api.get("/v1/agents").await.expect(200);
    walk.press("Replace the key").await;
    walk.reaches("Replace the organization’s own key?").await;
    walk.press("Replace the key").await;
    walk.reaches("The organization’s new key").await;
    let key = walk.browser.text("code[data-copy='the key']").await;
    it.api.get("/v1/agents").await.expect(401);
    it.server.client(&key).get("/v1/agents").await.expect(200);
    walk.press("I have stored it").await;
    walk.reaches("Keys").await;
    assert!(!walk.text().await.contains(&key), "a key is shown once: {}", walk.text().await);
}

#[apply(in_every_way)]
#[tokio::test]
async fn an_owner_deletes_a_calendar(#[case] way: Way) {
    let it = Desk::new(way.database).await;
    it.event("Planning", "2031-03-03T09:00:00Z", "2031-03-03T10:00:00Z").await;
    let mut series = event_body("Standup", "2031-03-04T09:00:00Z", "2031-03-04T10:00:00Z");
    series["recurrence_rule"] = json!("FREQ=DAILY;COUNT=3");
    it.api.post(format!("/v1/calendars/{}/events", it.calendar)).json(series).await.expect(201);
    let (shown, read) = (format!("/console/calendars/{}", it.calendar), format!("/v1/calendars/{}", it.calendar));
    let walk = Walk::begin(&it, way).await;
    walk.goto(&shown).await;
    walk.reaches("Shared").await;
    walk.press("Delete the calendar").await;
    walk.reaches("Delete Shared?").await;
    let facts = "return [...document.querySelectorAll('main dd')].map(fact => fact.textContent)";
    let expected = json!(["None: the organization shares it", "2", "0"]);
    assert_eq!(walk.browser.run(facts).await, expected, "a series counts once");
    walk.press("Cancel").await;
    walk.reaches("Shared").await;
    it.api.get(&read).await.expect(200);
    walk.press("Delete the calendar").await;
    walk.reaches("Delete Shared?").await;
    walk.press("Delete").await;
    walk.sees("Deleted.").await;
    it.api.get(&read).await.expect(404);
}

#[apply(in_every_way)]
#[tokio::test]
async fn an_owner_changes_and_resumes_a_subscription(#[case] way: Way) {
    let it = Subscriber::with_limits(way.database, "pro", &["--email", ORG]).await;
    owner(&it.server, ORG).await;
    let serving = |title: &str| Serving::calendar(vcalendar(&[meeting("a@example.com", title, 3, 9)]));
    let api = it.subscribed("/work.ics", serving("Board")).await;
    it.feeds.serve("/other.ics", serving("Gremium"));
    let walk = Walk::open(&it.server, way).await;
    walk.sign_in(HUMAN).await;
    walk.goto(&format!("/console/feeds/subscriptions/{}", api.rsplit('/').next().unwrap())).await;
    walk.sees("1 created, 0 updated").await;

    walk.fill("#url", "ftp://kalends.invalid/feed.ics").await;
    walk.fill("#label", "Board dates").await;
    walk.press("Save").await;
    walk.browser.find("#url-problem").await;
    walk.fits().await;
    assert_eq!(walk.browser.property("#url", "value").await, "ftp://kalends.invalid/feed.ics");
    assert_eq!(walk.browser.property("#label", "value").await, "Board dates", "what was typed stays");
    walk.fill("#url", &it.feeds.url("/other.ics")).await;
    walk.press("Save").await;
    walk.sees("Saved.").await;
    walk.reaches("Board dates").await;
    assert_eq!(it.api.get(&api).await.expect(200)["label"], "Board dates");
    let events = format!("/v1/calendars/{}/events", it.calendar);
    it.until(&events, "read from the new address", |read| read.column("title").contains(&"Gremium".to_owned())).await;

    walk.press("Pause").await;
    walk.sees("Paused: it is not synced").await;
    assert_eq!(it.api.get(&api).await.expect(200)["status"], "paused");
    walk.press("Resume").await;
    walk.sees("Resumed.").await;
    assert!(!walk.text().await.contains("Paused: it is not synced"), "{}", walk.text().await);
    assert_eq!(it.api.get(&api).await.expect(200)["status"], "active");
}
