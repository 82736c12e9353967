//! Calendars leave the service as feeds and files, and enter it.

use kalends_app::operations as op;
use serde_json::json;

use super::{
    house::House,
    story::{BASE_URL, Story, id, text},
};

/// The feed of a third party.
pub(super) const FEED: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Example//EN\r\nBEGIN:VEVENT\r\n\
    UID:easter@example.com\r\nDTSTAMP:20260101T000000Z\r\nSUMMARY:Easter Monday\r\nDTSTART;VALUE=DATE:20260406\r\n\
    END:VEVENT\r\nEND:VCALENDAR\r\n";

/// A file to import.
const FILE: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Example//EN\r\nBEGIN:VEVENT\r\nUID:fair@example.com\r\n\
    DTSTAMP:20260101T000000Z\r\nSUMMARY:Trade fair\r\nDTSTART:20260310T090000Z\r\nDURATION:PT2H\r\nEND:VEVENT\r\n\
    END:VCALENDAR\r\n";

/// Grace's calendar is read through its feed, a file is imported, and Ada subscribes to a feed.
pub(super) async fn calendars_travel(story: &mut Story, House { key, ada, hers, room, .. }: &House) {
    story.chapter("2026-03-02T09:20:00Z");
    let rotated = story.ask(&op::ROTATE_FEED_TOKEN).of(hers).by(key).record().await;
    let url = text(&rotated, "/ical_url");
    let feed = url.strip_prefix(&format!("{BASE_URL}/ical/")).unwrap();
    story.ask(&op::GET_FEED).of(feed).record().await;
    story.ask(&op::EXPORT_CALENDAR).of(hers).by(key).record().await;
    story.ask(&op::IMPORT_CALENDAR).of(room).by(key).send_file(FILE).record().await;

    let body = json!({ "name": "Holidays", "timezone": "Europe/Berlin" });
    let holidays = id(&story.ask(&op::CREATE_AGENT_CALENDAR).of(ada).by(key).send(body).done().await);
    let body = json!({ "calendar_id": holidays, "url": "https://example.com/holidays.ics", "label": "Holidays" });
    let made = id(&story.ask(&op::CREATE_SUBSCRIPTION).of(ada).by(key).send(body).record().await);
    sync(story).await;
    story.ask(&op::GET_SUBSCRIPTION).of(&made).by(key).record().await;
    story.ask(&op::LIST_SUBSCRIPTIONS).of(ada).by(key).record().await;
    story.ask(&op::SYNC_SUBSCRIPTION).of(&made).by(key).record().await;
    sync(story).await;
    story.ask(&op::UPDATE_SUBSCRIPTION).of(&made).by(key).send(json!({ "status": "paused" })).record().await;
}

/// Does the work of the workers.
async fn sync(story: &Story) {
    for (claim, subscription) in story.app.claim_syncs(1).await.unwrap() {
        story.app.sync(claim, subscription).await;
    }
}
