//! Time that is held, confirmed and released.

use http::StatusCode;
use kalends_app::operations as op;
use serde_json::{Value, json};

use super::{
    house::House,
    story::{Story, id},
};

/// A hold of one hour on Tuesday.
fn hold(title: &str, hour: u32) -> Value {
    json!({
        "title": title, "start_time": format!("2026-03-03T{hour}:00:00+01:00"),
        "end_time": format!("2026-03-03T{}:00:00+01:00", hour + 1), "hold_expires_at": "2026-03-02T08:50:00Z"
    })
}

/// Single holds, one that comes too late, and hold sets.
pub(super) async fn time_is_held(story: &mut Story, House { key, ada, grace, work, hers, .. }: &House) {
    story.chapter("2026-03-02T08:40:00Z");
    let lunch = id(&story.ask(&op::CREATE_EVENT).of(work).by(key).send(hold("Lunch", 12)).done().await);
    let day = "start=2026-03-03T08:00:00Z&end=2026-03-03T16:00:00Z&slot_duration=1h";
    let seen = story.ask(&op::CALENDAR_AVAILABILITY).of(work).query(day).by(key).done().await;
    let unchanged = json!({ "if_as_of": seen["as_of"] });
    story.ask(&op::CONFIRM_HOLD).of(&lunch).by(key).send(unchanged).record().await;
    let late = story.ask(&op::CREATE_EVENT).of(work).by(key).send(hold("Interview", 12));
    late.refused(StatusCode::CONFLICT).await;
    let interview = id(&story.ask(&op::CREATE_EVENT).of(work).by(key).send(hold("Interview", 16)).done().await);
    story.ask(&op::RELEASE_HOLD).of(&interview).by(key).record().await;

    let both = |hold: Value| {
        let mut set = hold;
        set["calendar_ids"] = json!([work, hers]);
        set["hold_priority"] = json!(10);
        set
    };
    let set = id(&story.ask(&op::CREATE_HOLD_SET).by(key).send(both(hold("Kick-off", 10))).record().await);
    story.ask(&op::GET_HOLD_SET).of(&set).by(key).record().await;
    story.ask(&op::LIST_HOLD_SETS).by(key).query("status=hold").record().await;
    let across = format!("agents={ada},{grace}&{day}");
    let seen = story.ask(&op::AVAILABILITY).query(&across).by(key).done().await;
    let unchanged = json!({ "if_as_of": seen["as_of"] });
    story.ask(&op::CONFIRM_HOLD_SET).of(&set).by(key).send(unchanged).record().await;
    let set = id(&story.ask(&op::CREATE_HOLD_SET).by(key).send(both(hold("Retrospective", 16))).done().await);
    story.ask(&op::RELEASE_HOLD_SET).of(&set).by(key).record().await;
}
