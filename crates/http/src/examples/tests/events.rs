//! Events, and free times between them.

use kalends_app::operations as op;
use serde_json::json;

use super::{
    house::House,
    story::{Story, id, text},
};

/// Ada's week: a series, two one-off events, and changes to them.
pub(super) async fn the_week_is_planned(story: &mut Story, House { key, ada, work, hers, .. }: &House) {
    story.chapter("2026-03-02T08:20:00Z");
    let body = json!({
        "title": "Standup", "start_time": "2026-03-02T10:00:00+01:00", "end_time": "2026-03-02T10:15:00+01:00",
        "recurrence_rule": "FREQ=WEEKLY;BYDAY=MO,WE;COUNT=12", "recurrence_timezone": "Europe/Berlin"
    });
    let standup = id(&story.ask(&op::CREATE_EVENT).of(work).by(key).send(body).record().await);
    let body = json!({ "events": [
        { "title": "Design review", "start_time": "2026-03-03T14:00:00+01:00", "end_time": "2026-03-03T15:00:00+01:00" },
        { "title": "Team lunch", "start_time": "2026-03-04T12:00:00+01:00", "end_time": "2026-03-04T13:00:00+01:00" }
    ] });
    let batch = story.ask(&op::CREATE_EVENT_BATCH).of(work).by(key).send(body).record().await;
    let (review, lunch) = (text(&batch, "/data/0/id"), text(&batch, "/data/1/id"));

    story.ask(&op::GET_EVENT).of(&review).query("local=true").by(key).record().await;
    story.ask(&op::GET_CALENDAR_EVENT).of(work).of(&standup).by(key).record().await;
    story.ask(&op::LIST_EVENTS).of(work).query("limit=2").by(key).record().await;
    let window = "expand=true&start_after=2026-03-02T00:00:00Z&start_before=2026-03-04T00:00:00Z";
    story.ask(&op::LIST_AGENT_EVENTS).of(ada).query(window).by(key).record().await;
    story.ask(&op::SEARCH_EVENTS).query("q=review&start_after=2026-03-01T00:00:00Z").by(key).record().await;

    let end = text(&story.ask(&op::LIST_ORGANIZATION_CHANGES).by(key).done().await, "/next");
    let body = json!({ "title": "Standup (short)", "end_time": "2026-03-02T10:10:00+01:00" });
    story.ask(&op::UPDATE_EVENT).of(&standup).by(key).send(body).record().await;
    let body = json!({ "calendar_id": hers });
    story.ask(&op::MOVE_EVENT).of(&review).by(key).send(body).record().await;
    let query = format!("since={end}&wait=30&limit=1");
    story.ask(&op::LIST_ORGANIZATION_CHANGES).query(&query).by(key).record().await;
    let back = json!({ "calendar_id": work });
    story.ask(&op::MOVE_EVENT).of(&review).by(key).send(back).done().await;
    let body = json!({ "description": "Everybody brings a draft.", "reminders": [30] });
    story.ask(&op::UPDATE_CALENDAR_EVENT).of(work).of(&review).by(key).send(body).record().await;
    let seen = text(&story.ask(&op::LIST_CHANGES).of(work).by(key).done().await, "/next");
    let cancelled = story.ask(&op::DELETE_EVENT).of(&standup).query("occurrence_start=2026-03-04T09:00:00Z");
    cancelled.by(key).record().await;
    let cancelled = story.ask(&op::DELETE_CALENDAR_EVENT).of(work).of(&standup);
    cancelled.query("occurrence_start=2026-03-09T09:00:00Z").by(key).record().await;
    story.ask(&op::DELETE_EVENT).of(&lunch).by(key).record().await;

    story.ask(&op::GET_CONTEXT).of(work).by(key).record().await;
    story.ask(&op::LIST_CHANGES).of(work).query(&format!("since={seen}")).by(key).record().await;
}

/// A review gets a guest, who replies by the link of the invitation.
pub(super) async fn somebody_is_invited(story: &mut Story, House { key, work, .. }: &House) {
    story.chapter("2026-03-02T09:15:00Z");
    let body = json!({
        "title": "Engine review", "start_time": "2026-03-10T14:00:00+01:00", "end_time": "2026-03-10T15:00:00+01:00",
        "attendees": [{ "email": "charles@example.com", "name": "Charles Babbage" }], "send_invitations": true
    });
    let review = id(&story.ask(&op::CREATE_EVENT).of(work).by(key).send(body).done().await);
    story.deliver_mail().await;
    let mail = story.last_mail().await;
    let link = mail.split_once("/rsvp/").unwrap().1;
    let token = link.split_whitespace().next().unwrap();
    story.ask(&op::LIST_MAIL).query("status=sent").by(key).record().await;
    story.ask(&op::SHOW_INVITATION).of(token).done().await;
    let body = json!({ "status": "accepted", "note": "I bring the engine." });
    story.ask(&op::REPLY_TO_INVITATION).of(token).send(body).record().await;
    story.ask(&op::GET_EVENT).of(&review).by(key).done().await;
}

/// When Ada is free, alone and together with Grace, and why she is not free.
pub(super) async fn somebody_asks_for_time(story: &mut Story, House { key, ada, grace, work, .. }: &House) {
    story.chapter("2026-03-02T08:30:00Z");
    let window = "start=2026-03-02T08:00:00Z&end=2026-03-02T12:00:00Z&slot_duration=1h";
    let of_agent = story.ask(&op::AGENT_AVAILABILITY).of(ada).query(&format!("{window}&include_busy=true"));
    of_agent.by(key).record().await;
    story.ask(&op::CALENDAR_AVAILABILITY).of(work).query(window).by(key).record().await;
    let across = format!("agents={ada},{grace}&{window}&include_busy=true");
    story.ask(&op::AVAILABILITY).query(&across).by(key).record().await;
    let query = format!("calendar={work}&start=2026-03-02T07:30:00Z&end=2026-03-02T09:30:00Z");
    story.ask(&op::EXPLAIN_AVAILABILITY).query(&query).by(key).record().await;
}
