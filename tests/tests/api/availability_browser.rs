//! The rules of a calendar, and what is offered because of them, in a real browser.

use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::{
    calendar_desk::Desk,
    in_every_way,
    walk::{Walk, Way},
};

const LIST: &str = "/console/availability";
const NO_RULES: &str = "No working hours: every time that is free is offered.";
/// The rows of the table beside the picture of the week, as text.
const WEEK: &str = "return [...document.querySelectorAll('.beside tr')]
    .map(row => [...row.cells].map(cell => cell.textContent).join(' '))";

#[apply(in_every_way)]
#[tokio::test]
async fn a_person_sets_and_tests_the_hours_of_a_calendar(#[case] way: Way) {
    let it = Desk::new(way.database).await;
    let walk = Walk::begin(&it, way).await;
    let rules = async || it.api.get(format!("/v1/calendars/{}/availability-rules", it.calendar)).await;
    walk.goto(LIST).await;
    walk.reaches("Availability").await;
    walk.sees(NO_RULES).await;
    walk.press("Shared").await;
    walk.reaches("Availability of Shared").await;
    walk.sees("There are none: every date has the hours of its weekday.").await;

    walk.fill("#buffer_before_minutes", "121").await;
    walk.choose("#working_hours", "hours").await;
    walk.fill("#mon", "17-9").await;
    walk.press("Save the rules").await;
    walk.browser.find("#mon-problem").await;
    walk.browser.find("#buffer_before_minutes-problem").await;
    walk.sees("Must end after it starts").await;
    walk.fits().await;
    let typed = [("#buffer_before_minutes", "121"), ("#working_hours", "hours"), ("#mon", "17-9")];
    for (field, text) in typed {
        assert_eq!(walk.browser.property(field, "value").await, text, "what was typed stays");
    }
    rules().await.refused(404, "not_found");
    walk.fill("#buffer_before_minutes", "15").await;
    walk.fill("#mon", "9-17").await;
    walk.fill("#tue", "10-12").await;
    walk.press("Save the rules").await;
    walk.sees("Saved.").await;
    walk.sees("Mon 09:00–17:00, Tue 10:00–12:00; 15 minutes free before events.").await;
    walk.fits().await;
    let stored = rules().await.expect(200);
    let hours = |start: &str, end: &str| json!({ "start": start, "end": end });
    let expected = json!({ "mon": hours("09:00", "17:00"), "tue": hours("10:00", "12:00") });
    assert_eq!((&stored["working_hours"], &stored["buffer_before_minutes"]), (&expected, &json!(15)));
    assert!(walk.browser.has(".beside svg[role='img']").await);
    let week = walk.browser.run(WEEK).await;
    assert_eq!((&week[1], &week[3]), (&json!("Monday 09:00–17:00"), &json!("Wednesday Closed")));

    walk.fill_time("#date", "2031-12-24").await;
    walk.fill("#hours", "closed").await;
    walk.press("Save the date").await;
    walk.sees("24 December 2031").await;
    walk.fits().await;
    assert_eq!(rules().await.expect(200)["overrides"], json!([{ "date": "2031-12-24", "working_hours": null }]));
    walk.follow("button[name='date']").await;
    walk.sees("Removed.").await;
    assert_eq!(rules().await.expect(200)["overrides"], json!([]));

    // From 10:00 to 11:00 on a Monday in Berlin.
    it.event("Planning", "2031-03-03T09:00:00Z", "2031-03-03T10:00:00Z").await;
    walk.press("Test what is offered").await;
    walk.reaches("Test what is offered").await;
    assert!(walk.browser.has(&format!("#who-{}:checked", it.calendar)).await, "the calendar is chosen");
    walk.fill("#minutes", "60").await;
    walk.fill("#step", "4").await;
    walk.fill_time("#start_time", "2031-03-03T09:00").await;
    walk.fill_time("#end_time", "2031-03-05T09:00").await;
    walk.fill_time("#at", "2031-03-03T10:00").await;
    walk.press("Test").await;
    walk.browser.find("#step-problem").await;
    assert_eq!(walk.browser.property("#end_time", "value").await, "2031-03-05T09:00", "what was typed stays");
    walk.fill("#step", "60").await;
    walk.press("Test").await;
    // Six on Monday, because the one at 09:00 ends in the buffer, and two on Tuesday.
    walk.sees("8 slots are offered.").await;
    walk.sees("An event takes the time").await;
    walk.sees("outside the working hours").await;
    walk.fits().await;

    walk.goto(&format!("{LIST}/{}", it.calendar)).await;
    walk.press("Remove the rules").await;
    walk.reaches("Remove the rules of Shared?").await;
    walk.press("Remove the rules").await;
    walk.sees("Removed.").await;
    walk.sees(NO_RULES).await;
    rules().await.refused(404, "not_found");
}
