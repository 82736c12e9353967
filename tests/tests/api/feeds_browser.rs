//! The pages about feeds, files and subscriptions, in a real browser.

use kalends_e2e::Serving;
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::{
    claims::text,
    connecting::{HUMAN, ORG},
    console::owner,
    fixtures::{LONG, event},
    front::http,
    in_every_way,
    subscriber::{Subscriber, meeting, vcalendar},
    walk::{Walk, Way},
};

const SUBSCRIPTIONS: &str = "/console/feeds/subscriptions";

impl Subscriber {
    /// A browser in which the owner is signed in, at the feed of the calendar.
    async fn walk_to_the_feed(&self, way: Way) -> Walk {
        owner(&self.server, ORG).await;
        let walk = Walk::open(&self.server, way).await;
        walk.sign_in(HUMAN).await;
        walk.goto("/console/feeds").await;
        walk.reaches("Feeds and files").await;
        walk.sees("No calendar is subscribed to a feed yet.").await;
        walk.follow(&format!("main a[href='{}']", self.feed())).await;
        walk.reaches("Work").await;
        walk
    }

    /// The page of the calendar's feed.
    fn feed(&self) -> String {
        format!("/console/feeds/calendars/{}", self.calendar)
    }

    /// What the feed's address in the API answers.
    async fn reads(&self, address: &str) -> (u16, String) {
        let (_, token) = address.rsplit_once("/ical/").unwrap();
        let answer = http().get(format!("{}/ical/{token}", self.server.base_url())).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }
}

#[apply(in_every_way)]
#[tokio::test]
async fn an_owner_replaces_the_address_of_a_feed_and_moves_files(#[case] way: Way) {
    let it = Subscriber::with_limits(way.database, "pro", &["--email", ORG]).await;
    event(&it.api, &it.calendar, "2031-03-03T09:00:00Z", "2031-03-03T10:00:00Z").await;
    let walk = it.walk_to_the_feed(way).await;
    let address = async || text(&it.api.get(format!("/v1/calendars/{}", it.calendar)).await.expect(200)["ical_url"]);
    let old = address().await;
    assert_eq!(walk.browser.property("#address", "value").await, old);
    assert_eq!(it.reads(&old).await.0, 200);
    walk.follow("a[href$='/rotate']").await;
    walk.reaches("Replace the address of the feed?").await;
    walk.press("Replace the address").await;
    walk.sees("The old one no longer works.").await;
    walk.fits().await;
    let new = address().await;
    assert_eq!(walk.browser.property("#address", "value").await, new);
    let (status, feed) = it.reads(&new).await;
    assert!(status == 200 && feed.contains("SUMMARY:Standup"), "{status} {feed}");
    assert_eq!(it.reads(&old).await.0, 404);

    walk.follow("a[href$='/file']").await;
    let file = walk.browser.downloaded(&format!("{}.ics", it.calendar)).await;
    assert!(file.contains("SUMMARY:Standup"), "{file}");

    walk.follow("a[href$='/import']").await;
    walk.reaches("Import a file").await;
    walk.press("Check the file").await;
    walk.sees("Choose a file, or paste its text.").await;
    walk.fill("#body", "No calendar").await;
    walk.press("Check the file").await;
    walk.sees("it has no BEGIN:VCALENDAR").await;
    walk.browser.find("#body-problem").await;
    walk.fits().await;
    assert_eq!(walk.browser.property("#body", "value").await, "No calendar");
    let pasted = vcalendar(&[meeting("dentist@example.com", "Dentist", 4, 9)]).replace("\r\n", "\n");
    walk.fill("#body", &pasted).await;
    walk.press("Check the file").await;
    walk.reaches("What the import would do").await;
    walk.sees("Dentist").await;
    assert_eq!(it.titles().await, ["Standup"], "a check writes nothing");
    walk.press("Import the file").await;
    walk.reaches("The file is imported").await;
    assert_eq!(it.titles().await, ["Standup", "Dentist"]);

    walk.follow(&format!("ul.actions a[href='{}']", it.feed())).await;
    walk.reaches("Work").await;
    walk.follow("a[href$='/import']").await;
    walk.reaches("Import a file").await;
    let chosen = vcalendar(&[meeting("dentist@example.com", "Dentist", 4, 9), meeting("b@example.com", LONG, 5, 9)]);
    walk.choose_file("#file", "from-elsewhere.ics", &chosen).await;
    walk.press("Check the file").await;
    walk.reaches("What the import would do").await;
    walk.sees(LONG).await;
    walk.press("Import the file").await;
    walk.reaches("The file is imported").await;
    assert_eq!(it.titles().await, ["Standup", "Dentist", LONG]);

    // The same file again has no effect, and the page does not offer to import it.
    walk.goto(&format!("{}/import", it.feed())).await;
    walk.reaches("Import a file").await;
    walk.choose_file("#file", "again.ics", &chosen).await;
    walk.press("Check the file").await;
    walk.reaches("What the import would do").await;
    walk.sees("There is nothing to import.").await;
    assert!(!walk.text().await.contains("Import the file"), "{}", walk.text().await);

    walk.goto("/console/export").await;
    walk.reaches("Export all data").await;
    walk.follow("a[href='/console/export/file']").await;
    let file = walk.browser.downloaded("kalends-export-").await;
    assert!(file.contains(LONG), "{file}");
}

#[apply(in_every_way)]
#[tokio::test]
async fn an_owner_subscribes_a_calendar_to_a_feed(#[case] way: Way) {
    let it = Subscriber::with_limits(way.database, "pro", &["--email", ORG]).await;
    it.feeds.serve("/work.ics", Serving::calendar(vcalendar(&[meeting("a@example.com", "Board", 3, 9)])));
    let walk = it.walk_to_the_feed(way).await;
    walk.follow("a[href^='/console/feeds/subscriptions?']").await;
    walk.reaches("Subscriptions of Ada").await;
    walk.sees("There are no such subscriptions.").await;
    walk.follow("a.primary[href='/console/feeds/subscriptions/new']").await;
    walk.reaches("New subscription").await;
    walk.choose("#calendar_id", &it.calendar).await;
    walk.fill("#url", "ftp://kalends.invalid/feed.ics").await;
    walk.fill("#label", LONG).await;
    walk.press("Subscribe").await;
    walk.browser.find("#url-problem").await;
    walk.fits().await;
    assert_eq!(walk.browser.property("#url", "value").await, "ftp://kalends.invalid/feed.ics");
    assert_eq!(walk.browser.property("#label", "value").await, LONG);
    assert_eq!(it.api.get(it.all()).await.expect(200)["total"], 0);
    walk.fill("#url", &it.feeds.url("/work.ics")).await;
    walk.press("Subscribe").await;
    walk.reaches(LONG).await;
    walk.sees("Created.").await;

    let made = it.api.get(it.all()).await.expect(200).data().remove(0);
    assert_eq!((&made["calendar_id"], &made["label"]), (&json!(it.calendar), &json!(LONG)));
    let (page, api) =
        (format!("{SUBSCRIPTIONS}/{}", text(&made["id"])), format!("/v1/ical-subscriptions/{}", text(&made["id"])));
    let synced = it.until(&api, "synced", |read| read["last_synced_at"].is_string()).await;
    walk.goto(&page).await;
    walk.sees("1 created, 0 updated").await;
    assert_eq!(it.titles().await, ["Board"]);
    it.feeds.serve("/work.ics", Serving::calendar(vcalendar(&[meeting("a@example.com", "Gremium", 3, 9)])));
    walk.press("Sync now").await;
    walk.sees("It will be synced. This takes a moment.").await;
    let before = synced["last_synced_at"].clone();
    it.until(&api, "synced again", |read| read["last_synced_at"] != before).await;
    assert_eq!(it.titles().await, ["Gremium"]);
    walk.goto(&page).await;
    walk.sees("0 created, 1 updated").await;
    walk.press("Pause").await;
    walk.sees("Paused: it is not synced").await;
    assert_eq!(it.api.get(&api).await.expect(200)["status"], "paused");

    walk.follow("a.danger[href$='/delete']").await;
    walk.reaches("Delete the subscription?").await;
    walk.pick("events", "#delete").await;
    walk.press("Delete").await;
    walk.sees("Deleted.").await;
    walk.sees("There are no such subscriptions.").await;
    assert_eq!(it.api.get(it.all()).await.expect(200)["total"], 0);
    it.until(&format!("/v1/calendars/{}/events", it.calendar), "empty", |read| read["total"] == 0).await;
}
