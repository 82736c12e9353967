//! Agents with their keys and calendars, in a real browser.

use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    calendar_desk::Desk,
    in_every_way,
    walk::{Walk, Way},
};

const LIST: &str = "/console/agents";

#[apply(in_every_way)]
#[tokio::test]
async fn a_person_runs_an_agent(#[case] way: Way) {
    let it = Desk::new(way.database).await;
    let walk = Walk::begin(&it, way).await;
    let listed = async || it.api.get("/v1/agents").await.expect(200).data();
    walk.goto(LIST).await;
    walk.reaches("Agents").await;
    walk.sees("There are no agents yet.").await;
    walk.press("New agent").await;
    walk.reaches("New agent").await;

    walk.fill("#name", " ").await;
    walk.choose("#type", "resource").await;
    walk.fill("#description", "The room with the view").await;
    walk.press("Create the agent").await;
    walk.browser.find("#name-problem").await;
    walk.fits().await;
    for (field, text) in [("#type", "resource"), ("#description", "The room with the view")] {
        assert_eq!(walk.browser.property(field, "value").await, text, "what was typed stays");
    }
    assert_eq!(listed().await, [] as [Value; 0]);
    walk.fill("#name", "Room").await;
    walk.press("Create the agent").await;
    walk.sees("Created.").await;
    walk.reaches("Room").await;
    let [made]: [Value; 1] = listed().await.try_into().unwrap();
    assert_eq!((&made["name"], &made["type"]), (&json!("Room"), &json!("resource")));
    assert_eq!(made["description"], "The room with the view");
    let agent = made["id"].as_str().unwrap();
    let (shown, read) = (format!("{LIST}/{agent}"), format!("/v1/agents/{agent}"));
    let field = async |name: &str| it.api.get(&read).await.expect(200)[name].clone();

    walk.fill("#name", "Big room").await;
    walk.press("Save").await;
    walk.sees("Saved.").await;
    walk.reaches("Big room").await;
    assert_eq!(field("name").await, "Big room");
    walk.press("Pause").await;
    walk.sees("Paused.").await;
    assert_eq!(field("status").await, "paused");
    walk.press("Resume").await;
    walk.sees("Resumed.").await;
    assert_eq!(field("status").await, "active");

    walk.sees("It has no keys.").await;
    walk.press("New key").await;
    walk.reaches("New key").await;
    walk.fill("#label", "Door").await;
    walk.press("Create the key").await;
    walk.reaches("Your new key").await;
    let key = walk.browser.text("code[data-copy='the key']").await;
    let program = it.server.client(&key);
    program.get("/v1/calendars").await.expect(200);
    walk.press("I have stored it").await;
    walk.reaches("Keys").await;
    walk.sees("Door").await;
    assert!(!walk.text().await.contains(&key), "a key is shown once: {}", walk.text().await);
    walk.press("Revoke").await;
    walk.reaches("Revoke this key?").await;
    walk.press("Revoke").await;
    walk.sees("Revoked.").await;
    walk.sees("There are no keys of agents yet.").await;
    program.get("/v1/calendars").await.expect(401);

    walk.goto(&shown).await;
    walk.sees("It has no calendars.").await;
    walk.press("New calendar").await;
    walk.reaches("New calendar").await;
    walk.fill("#name", "Desk").await;
    walk.choose("#timezone", "Africa/Cairo").await;
    walk.press("Create the calendar").await;
    walk.reaches("Big room").await;
    let calendars = async || it.api.get(format!("{read}/calendars")).await.expect(200).data();
    let [made]: [Value; 1] = calendars().await.try_into().unwrap();
    assert_eq!((&made["name"], &made["timezone"]), (&json!("Desk"), &json!("Africa/Cairo")));
    walk.follow(&format!("main a[href='/console/calendars/{}']", made["id"].as_str().unwrap())).await;
    walk.reaches("Desk").await;
    walk.fill("#name", "Front desk").await;
    walk.choose("#timezone", "Africa/Accra").await;
    walk.press("Save").await;
    walk.sees("Saved.").await;
    walk.reaches("Front desk").await;
    let [changed]: [Value; 1] = calendars().await.try_into().unwrap();
    assert_eq!((&changed["name"], &changed["timezone"]), (&json!("Front desk"), &json!("Africa/Accra")));

    walk.goto(&shown).await;
    walk.press("Decommission").await;
    walk.reaches("Decommission Big room?").await;
    walk.sees("its calendars (1) disappear").await;
    walk.press("Decommission").await;
    walk.sees("Decommissioned.").await;
    assert_eq!(field("status").await, "decommissioned");
    assert!(!walk.browser.has("button.primary").await, "nothing is left to change");
}
