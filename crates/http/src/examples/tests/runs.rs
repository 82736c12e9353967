//! The writes of one task are taken back.

use kalends_app::operations as op;
use serde_json::json;

use super::{house::House, story::Story};

/// An event is planned as part of a run, which is taken back.
pub(super) async fn a_task_is_taken_back(story: &mut Story, House { key, work, .. }: &House) {
    story.chapter("2026-03-02T09:50:00Z");
    let body = json!({
        "title": "Planning", "start_time": "2026-03-06T10:00:00+01:00", "end_time": "2026-03-06T11:00:00+01:00"
    });
    let planned = story.ask(&op::CREATE_EVENT).of(work).by(key).with("kalends-run", "plan-week-10").send(body);
    planned.done().await;
    story.ask(&op::GET_RUN).of("plan-week-10").by(key).record().await;
    story.ask(&op::UNDO_RUN).of("plan-week-10").by(key).record().await;
}
