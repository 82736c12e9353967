//! Webhooks.

use kalends_app::operations as op;
use serde_json::json;

use super::{
    house::House,
    story::{Story, id, text},
};

/// An endpoint is created, tested and maintained.
pub(super) async fn events_are_posted(story: &mut Story, House { key, .. }: &House) {
    story.chapter("2026-03-02T09:30:00Z");
    let body = json!({ "url": "https://example.com/hooks/kalends", "events": ["event.created", "event.updated"] });
    let made = id(&story.ask(&op::CREATE_WEBHOOK).by(key).send(body).record().await);
    let tested = story.ask(&op::TEST_WEBHOOK).of(&made).by(key).record().await;
    let delivery = text(&tested, "/delivery/id");
    story.ask(&op::LIST_DELIVERIES).of(&made).by(key).record().await;
    story.ask(&op::RETRY_DELIVERY).of(&made).of(&delivery).by(key).record().await;
    story.ask(&op::ROTATE_WEBHOOK_SECRET).of(&made).by(key).record().await;
    story.ask(&op::UPDATE_WEBHOOK).of(&made).by(key).send(json!({ "active": true })).record().await;
    story.ask(&op::GET_WEBHOOK).of(&made).by(key).record().await;
    story.ask(&op::LIST_WEBHOOKS).by(key).record().await;
}
