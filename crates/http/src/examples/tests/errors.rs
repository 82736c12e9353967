//! Errors: one for each status that does not belong elsewhere in the story.

use axum::body::Body;
use futures::stream;
use http::StatusCode;
use kalends_app::operations as op;
use serde_json::json;

use super::{
    house::House,
    outside::Trouble,
    story::{Ask, Story, id},
};

/// Requests that are refused, and a database that fails.
pub(super) async fn everything_goes_wrong(story: &mut Story, house: &House) {
    let House { key, work, hers, .. } = house;
    story.chapter("2026-03-02T10:00:00Z");
    let body = |start: &str, end: &str| json!({ "title": "Review", "start_time": start, "end_time": end });
    let backwards = body("2026-03-06T11:00:00+01:00", "2026-03-06T10:00:00+01:00");
    create(story, house).send(backwards).refused(StatusCode::BAD_REQUEST).await;
    story.ask(&op::LIST_CALENDARS).refused(StatusCode::UNAUTHORIZED).await;
    story.ask(&op::GET_CALENDAR).of("cal_01jn8r7d2xe9tvn4a6k8m0pqrs").by(key).refused(StatusCode::NOT_FOUND).await;

    let review = body("2026-03-06T10:00:00+01:00", "2026-03-06T11:00:00+01:00");
    let made = id(&create(story, house).with("idempotency-key", "review-6").send(review).done().await);
    let another = body("2026-03-06T14:00:00+01:00", "2026-03-06T15:00:00+01:00");
    let mismatch = create(story, house).with("idempotency-key", "review-6").send(another);
    mismatch.refused(StatusCode::UNPROCESSABLE_ENTITY).await;
    let stale = story.ask(&op::UPDATE_EVENT).of(&made).by(key).with("if-match", "\"9\"");
    stale.send(json!({ "title": "Final review" })).refused(StatusCode::PRECONDITION_FAILED).await;
    let changes = story.ask(&op::LIST_CHANGES).of(hers).by(key).done().await;
    let since = format!("since={}", changes["next"].as_str().unwrap());
    story.ask(&op::LIST_CHANGES).of(work).query(&since).by(key).refused(StatusCode::GONE).await;

    let late = Body::from_stream(stream::pending::<Result<&str, std::convert::Infallible>>());
    create(story, house).send_raw(late).refused(StatusCode::REQUEST_TIMEOUT).await;
    let long = Body::from(vec![b' '; crate::BODY_MAX + 1]);
    create(story, house).send_raw(long).refused(StatusCode::PAYLOAD_TOO_LARGE).await;
    let form = create(story, house).with("content-type", "application/x-www-form-urlencoded");
    form.send_raw(Body::from("title=Review")).refused(StatusCode::UNSUPPORTED_MEDIA_TYPE).await;

    for (trouble, status) in
        [(Trouble::Away, StatusCode::SERVICE_UNAVAILABLE), (Trouble::Broken, StatusCode::INTERNAL_SERVER_ERROR)]
    {
        story.fail_with(trouble);
        let window = "start=2026-03-02T08:00:00Z&end=2026-03-02T12:00:00Z";
        story.ask(&op::CALENDAR_AVAILABILITY).of(work).query(window).by(key).refused(status).await;
    }
    story.fail_with(Trouble::None);
}

/// A request to create an event on Ada's calendar.
fn create<'s>(story: &'s mut Story, house: &House) -> Ask<'s> {
    story.ask(&op::CREATE_EVENT).of(&house.work).by(&house.key)
}
