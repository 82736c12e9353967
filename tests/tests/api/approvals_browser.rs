//! A person who decides about the writes of an agent, in a real browser.

use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::{
    approvals_pages::{Asker, id, read},
    calendar_desk::Desk,
    in_every_way,
    members::member,
    walk::{Walk, Way},
};

const WAITING: &str = "/console/waiting";
const HEADING: &str = "Waiting for you";

/// Signs a member in, who works in the organization of the desk.
async fn walk_of(it: &Desk, way: Way, email: &str, role: &str) -> Walk {
    let (human, _) = member(&it.server, &it.console, email, role).await;
    let walk = Walk::open(&it.server, way).await;
    walk.sign_in(&human.email).await;
    walk.goto("/console/orgs").await;
    walk.reaches("Your organizations").await;
    walk.press("Switch").await;
    walk.sees(&format!("Signed in as {email}, Test.")).await;
    walk
}

#[apply(in_every_way)]
#[tokio::test]
async fn a_member_approves_one_write_and_denies_another(#[case] way: Way) {
    let it = Desk::new(way.database).await;
    let asker = Asker::of(&it.server, &it.api).await;
    let wanted = asker.ask("Kick-off", ["10:00", "10:30"]).await;
    let unwanted = asker.ask("Retreat", ["12:00", "12:30"]).await;
    let link = |approval| format!("main a[href='/console/approvals/{}']", id(approval));
    let summary = |approval: &serde_json::Value| approval["summary"].as_str().unwrap().to_owned();

    let walk = walk_of(&it, way, "ben@example.com", "member").await;
    walk.goto(WAITING).await;
    walk.reaches(HEADING).await;
    walk.follow(&link(&wanted)).await;
    walk.reaches(&summary(&wanted)).await;
    walk.sees("Waits for a decision").await;
    walk.sees("Kick-off").await;
    walk.press("Approve").await;
    walk.sees("Approved and done").await;
    walk.fits().await;
    let approved = read(&asker.key, &wanted).await;
    assert_eq!((&approved["status"], &approved["result"]["status"]), (&json!("approved"), &json!(201)));
    walk.press("See the result").await;
    walk.reaches("Kick-off").await;

    walk.goto(WAITING).await;
    walk.reaches(HEADING).await;
    assert!(!walk.browser.has(&link(&wanted)).await);
    walk.follow(&link(&unwanted)).await;
    walk.reaches(&summary(&unwanted)).await;
    walk.fill("#reason", "Fridays stay free").await;
    walk.press("Deny").await;
    walk.sees("Denied.").await;
    walk.sees("Fridays stay free").await;
    walk.fits().await;
    let denied = read(&asker.key, &unwanted).await;
    assert_eq!((&denied["status"], &denied["reason"]), (&json!("denied"), &json!("Fridays stay free")));
    walk.follow("main a.back").await;
    walk.reaches(HEADING).await;
    walk.sees("Nothing waits for you.").await;
    walk.follow("main a[href='/console/approvals']").await;
    walk.reaches("Approvals").await;
    walk.sees("2 found").await;
    walk.choose("#status", "denied").await;
    walk.press("Show").await;
    walk.sees("1 found").await;
    assert!(walk.browser.has(&link(&unwanted)).await);
}

#[apply(in_every_way)]
#[tokio::test]
async fn a_viewer_only_looks(#[case] way: Way) {
    let it = Desk::new(way.database).await;
    let asker = Asker::of(&it.server, &it.api).await;
    let approval = asker.ask("Kick-off", ["10:00", "10:30"]).await;
    let walk = walk_of(&it, way, "vera@example.com", "viewer").await;
    walk.goto(WAITING).await;
    walk.reaches(HEADING).await;
    walk.follow(&format!("main a[href='/console/approvals/{}']", id(&approval))).await;
    walk.reaches(approval["summary"].as_str().unwrap()).await;
    walk.sees("Waits for a decision").await;
    let text = walk.text().await;
    assert!(!text.contains("Your decision") && !text.contains("The request"), "{text}");
    assert!(!walk.browser.has("main form[action^='/console/approvals/']").await);
}
