//! The page about connected calendars and whom they count for, in a real browser.

use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    claims::text,
    connecting::{Connecting, HUMAN, path_of},
    in_every_way,
    walk::{Walk, Way},
};

const LIST: &str = "/console/connections";

#[apply(in_every_way)]
#[tokio::test]
async fn a_user_manages_a_connected_account(#[case] way: Way) {
    let it = Connecting::new(way.database).await;
    let connection = it.granted(&it.google).await;
    let grants = async || it.console.get("/v1/availability-grants").await.expect(200).data();
    let walk = Walk::open(&it.server, way).await;
    walk.sign_in(HUMAN).await;
    walk.goto(LIST).await;
    walk.reaches("Connected calendars").await;
    walk.sees("1 agent").await;
    walk.press("Pause").await;
    walk.sees("Paused: its calendars do not count").await;
    it.is(&connection, "paused").await;
    walk.press("Resume").await;
    walk.sees("Resumed.").await;
    it.is(&connection, "active").await;
    let before = it.console.get(path_of(&connection)).await.expect(200)["last_refreshed_at"].clone();
    walk.press("Refresh").await;
    walk.sees("Refreshing. This takes a moment.").await;
    it.wait_until(&connection, "refreshed", |read| read["last_refreshed_at"] != before).await;

    let calendars: Vec<_> = it.external(&connection).await.iter().map(|calendar| text(&calendar["id"])).collect();
    let (first, second) = (format!("#calendar-{}", calendars[0]), format!("#calendar-{}", calendars[1]));
    walk.press("Choose calendars").await;
    walk.reaches("Choose your calendars").await;
    walk.tick(&first).await;
    walk.pick("audience", "#audience-all").await;
    walk.press("Save").await;
    walk.sees("Please choose at least one calendar.").await;
    walk.fits().await;
    assert!(walk.browser.has("#audience-all:checked").await, "what was chosen is kept");
    assert!(!walk.browser.has(&format!("{first}:checked")).await, "what was unticked is kept");
    assert_eq!(grants().await.len(), 1);
    walk.tick(&second).await;
    walk.press("Save").await;
    walk.reaches("Done").await;
    let all: Vec<_> = grants().await.into_iter().filter(|grant| grant["audience"] == "all").collect();
    assert_eq!(all.iter().map(|grant| &grant["external_calendar_ids"]).collect::<Vec<_>>(), [&json!([calendars[1]])]);

    walk.press("See what is connected").await;
    walk.reaches("Connected calendars").await;
    walk.sees("All agents, including future ones").await;
    for grant in grants().await {
        walk.goto(LIST).await;
        walk.follow(&format!("form[action='/console/grants/{}/revoke'] button", text(&grant["id"]))).await;
        walk.sees("Revoked.").await;
    }
    walk.sees("Your calendars do not count for anybody.").await;
    assert_eq!(grants().await, Vec::<Value>::new());

    walk.press("Disconnect").await;
    walk.sees("Everything stored about it will be deleted").await;
    walk.press("Disconnect").await;
    walk.sees("Disconnected.").await;
    walk.sees("No account is connected.").await;
    it.console.get(path_of(&connection)).await.refused(404, "not_found");
}
