//! The pages about the organization, its members and its end, in a real browser.

use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    calendar_desk::Desk,
    fixtures::LONG,
    in_every_way,
    walk::{Walk, Way},
};

#[apply(in_every_way)]
#[tokio::test]
async fn an_owner_runs_the_organization(#[case] way: Way) {
    let it = Desk::new(way.database).await;
    let walk = Walk::begin(&it, way).await;
    walk.goto("/console/organization").await;
    walk.reaches("Organization").await;

    walk.fill("#name", " ").await;
    walk.press("Save").await;
    walk.sees("Must be 1 to 255 characters long, got 0.").await;
    walk.fill("#name", LONG).await;
    walk.press("Save").await;
    walk.sees("Saved.").await;
    walk.fits().await;
    let name = async || it.console.get("/v1/auth/me").await.expect(200)["org"]["name"].clone();
    assert_eq!(name().await, LONG);

    walk.follow("a[href='/console/members']").await;
    walk.reaches("Members").await;
    walk.fill("#email", "grace@example.com").await;
    walk.choose("#role", "viewer").await;
    walk.press("Invite").await;
    walk.sees("Open invitations").await;
    walk.sees("grace@example.com").await;
    let invitations = async || it.console.get("/v1/auth/members").await.expect(200)["invitations"].clone();
    let [invited]: [Value; 1] = serde_json::from_value(invitations().await).unwrap();
    assert_eq!((&invited["email"], &invited["role"]), (&json!("grace@example.com"), &json!("viewer")));
    walk.press("Withdraw").await;
    walk.sees("Removed.").await;
    assert_eq!(invitations().await, json!([]));
    assert!(!walk.text().await.contains("Open invitations"), "{}", walk.text().await);

    walk.goto("/console/organization").await;
    walk.follow("a[href='/console/organization/delete']").await;
    walk.reaches(&format!("Delete {LONG}?")).await;
    walk.fill("#name", "Another").await;
    walk.press("Delete the organization").await;
    walk.browser.find(".problem").await;
    assert_eq!(name().await, LONG, "nothing is deleted without its name");
    walk.fill("#name", LONG).await;
    walk.press("Delete the organization").await;
    walk.reaches(&format!("{LONG} is deleted")).await;
    it.api.get("/v1/agents").await.expect(401);
}
