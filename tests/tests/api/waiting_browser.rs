//! What waits for a decision, and the proposals, in a real browser.

use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::{
    calendar_desk::Desk,
    in_every_way,
    proposals::{PROPOSALS, Team, slot, slot_id},
    waiting_pages::{hold, status},
    walk::{Walk, Way},
};

const WAITING: &str = "/console/waiting";
const HEADING: &str = "Waiting for you";
const NOTHING: &str = "Nothing waits for you.";

#[apply(in_every_way)]
#[tokio::test]
async fn a_person_decides_what_waits(#[case] way: Way) {
    let it = Desk::new(way.database).await;
    let walk = Walk::begin(&it, way).await;
    walk.goto(WAITING).await;
    walk.reaches(HEADING).await;
    walk.sees(NOTHING).await;

    let team = Team::of(&it.api, 2).await;
    let soon = hold(&it.api, &it.calendar, "Review", ["10:00", "10:30"], 500).await;
    let later = hold(&it.api, &it.calendar, "Demo", ["12:00", "12:30"], 800).await;
    let slots = [slot("10:00", "10:30"), slot("14:00", "14:30")];
    let kept = team.propose(&it.api, &slots, json!({ "title": "Kick-off" })).await;
    let dropped = team.propose(&it.api, &slots[..1], json!({ "title": "Retreat" })).await.id();
    let proposal = async |id: &str| it.api.get(format!("{PROPOSALS}/{id}")).await.expect(200);

    walk.goto(WAITING).await;
    walk.sees("Holds that end soon").await;
    // The hold that ends first is the first one.
    walk.press_in("li:has(#hold-1)", "Confirm").await;
    walk.sees("Confirmed.").await;
    walk.press("Release").await;
    walk.sees("Released.").await;
    walk.fits().await;
    assert_eq!((status(&it.api, &soon).await, status(&it.api, &later).await), (json!("confirmed"), json!("cancelled")));
    assert!(!walk.text().await.contains("Holds that end soon"), "{}", walk.text().await);

    walk.press("Kick-off").await;
    walk.reaches("Kick-off").await;
    walk.fill("#message", "Rather later").await;
    walk.press("Send the answer").await;
    walk.browser.find("#selected_slot_id-problem").await;
    walk.fits().await;
    assert_eq!(walk.browser.property("#message", "value").await, "Rather later", "what was typed stays");
    assert_eq!(proposal(&kept.id()).await["responses"], json!([]));
    let second = slot_id(&kept, 1);
    walk.choose("#agent_id", &team.participants[0]).await;
    walk.choose("#selected_slot_id", &second).await;
    walk.press("Send the answer").await;
    walk.sees("Answered.").await;
    walk.fits().await;
    let answered = proposal(&kept.id()).await;
    let field = |name: &str| answered.at(&format!("/responses/0/{name}"));
    assert_eq!((field("agent_id"), field("selected_slot_id")), (json!(team.participants[0]), json!(second)));
    assert_eq!((field("message"), &answered["status"]), (json!("Rather later"), &json!("pending")));
    walk.press("Resolve").await;
    walk.sees("Resolved.").await;
    let resolved = proposal(&kept.id()).await;
    assert_eq!((&resolved["status"], &resolved["resolved_slot_id"]), (&json!("confirmed"), &json!(second)));

    walk.follow("main a.back").await;
    walk.reaches(HEADING).await;
    walk.press("Retreat").await;
    walk.reaches("Retreat").await;
    walk.press("Cancel the proposal").await;
    walk.reaches("Cancel Retreat?").await;
    walk.press("Cancel the proposal").await;
    walk.sees("Cancelled.").await;
    assert_eq!(proposal(&dropped).await["status"], "cancelled");

    walk.follow("main a.back").await;
    walk.reaches(HEADING).await;
    walk.sees(NOTHING).await;
    walk.follow("main a[href='/console/proposals']").await;
    walk.reaches("Proposals").await;
    walk.sees("2 found").await;
    walk.choose("#status", "confirmed").await;
    walk.press("Show").await;
    walk.sees("1 found").await;
    assert!(walk.browser.has(&format!("main a[href='/console/proposals/{}']", kept.id())).await);
    walk.choose("#status", "expired").await;
    walk.press("Show").await;
    walk.sees("There are no such proposals.").await;
}
