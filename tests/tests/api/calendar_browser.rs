//! The grid of the calendar, in a real browser: with the keyboard, a mouse and a finger.

use kalends_e2e::{Browser, Database::Sqlite, Key, Visitor};
use serde_json::json;

use crate::{calendar_desk::Desk, connecting::HUMAN, fixtures::event_body, members::member, walk::sign_in};

/// The focus is on the only event that can be moved.
const AT_EVENT: &str = "[data-id] a:focus";

/// The address of the week with that day, in Berlin.
fn week(it: &Desk, date: &str) -> String {
    let base = it.server.base_url();
    format!("{base}/console/calendar?view=week&date={date}&tz=Europe/Berlin&cal={}", it.calendar)
}

/// A browser in which a user has signed in by the form.
async fn signed_in(it: &Desk, email: &str, visitor: &Visitor) -> Browser {
    let browser = visitor.open().await;
    browser.goto(&format!("{}/console/sign-in", it.server.base_url())).await;
    sign_in(&browser, "Sign in", email).await;
    browser.find("nav[aria-label='Console']").await;
    browser
}

/// A browser of the owner, which shows the week from Monday, 1 March 2038.
async fn at_week(it: &Desk) -> Browser {
    let browser = signed_in(it, HUMAN, &Visitor::new()).await;
    browser.goto(&week(it, "2038-03-01")).await;
    browser.find("#grid[role='grid'].live").await;
    browser
}

/// The link of an hour of March 2038.
fn hour(at: &str) -> String {
    format!(".slot a[href*='start=2038-03-{at}']")
}

/// How far below the heads of the days an element begins, in pixels.
async fn below_heads(browser: &Browser, css: &str) -> f64 {
    let script = format!(
        "const at = (css) => document.querySelector(css).getBoundingClientRect();
        return at({}).top - at('.head').bottom",
        json!(css)
    );
    browser.run(&script).await.as_f64().unwrap()
}

/// What screen readers say.
async fn said(browser: &Browser) -> String {
    browser.property("#said", "textContent").await
}

/// The start and the end of an event.
async fn times(it: &Desk, id: &str) -> (String, String) {
    let event = it.read(id).await;
    (event["startTime"].as_str().unwrap().to_owned(), event["endTime"].as_str().unwrap().to_owned())
}

fn pair(start: &str, end: &str) -> (String, String) {
    (start.to_owned(), end.to_owned())
}

#[tokio::test]
async fn the_keyboard_reaches_every_hour_and_creates_an_event() {
    let it = Desk::new(Sqlite).await;
    let browser = at_week(&it).await;
    assert!(browser.has("#keys:not([hidden], [open]) summary").await, "the keys are explained");
    assert!(below_heads(&browser, &hour("01T07:00")).await.abs() < 2.0, "the week opens in the morning");
    browser.tab_to(".slot a").await;
    assert!(browser.is_at(&hour("01T09:00")).await, "Tab reaches the morning of the first day");
    browser.strike(&[Key::Right, Key::Down]).await;
    assert!(browser.is_at(&hour("02T10:00")).await);
    browser.strike(&[Key::Left, Key::Up, Key::End]).await;
    assert!(browser.is_at(&hour("01T23:00")).await);
    // The heads of the days stay where they are, and do not cover where the keyboard goes.
    browser.strike(&[Key::Up; 12]).await;
    assert!(browser.is_at(&hour("01T11:00")).await && below_heads(&browser, ":focus").await >= 0.0);
    let head = "const at = (css) => document.querySelector(css).getBoundingClientRect().top;
        return at('.head') - at('#grid')";
    assert!(browser.run(head).await.as_f64().unwrap().abs() < 2.0);
    browser.run("document.querySelector('#grid').scrollTop = 9999").await;
    browser.run("document.querySelector(':focus').scrollIntoView({ block: 'nearest' })").await;
    assert!(below_heads(&browser, ":focus").await >= 0.0);
    browser.strike(&[Key::End, Key::Right, Key::PageDown]).await;
    browser.find(&format!("{}:focus", hour("09T23:00"))).await;
    browser.strike(&[Key::PageUp]).await;
    browser.find(&format!("{}:focus", hour("02T23:00"))).await;
    browser.strike(&[Key::Escape]).await;
    assert!(browser.is_at("#legend").await);

    let above = hour("02T08:00");
    assert!(below_heads(&browser, &above).await < 0.0);
    browser.run(&format!("document.querySelector({}).scrollIntoView({{ block: 'nearest' }})", json!(above))).await;
    browser.click(&above).await;
    browser.headed("New event").await;
    browser.goto(&week(&it, "2038-03-01")).await;
    browser.tab_to(".slot a").await;
    browser.strike(&[Key::Right, Key::Home]).await;
    browser.enter().await;
    browser.headed("New event").await;
    browser.fill("#title", "Planning").await;
    browser.click("form[action='/console/calendar/events'] button.primary").await;
    browser.headed("Planning").await;
    assert_eq!(it.taking_place().await, ["01T23:00 Planning"]);
}

#[tokio::test]
async fn the_keyboard_moves_and_resizes_an_event() {
    let it = Desk::new(Sqlite).await;
    let id = it.event("Planning", "2038-03-02T09:00:00Z", "2038-03-02T10:00:00Z").await;
    let before = times(&it, &id).await;
    let browser = at_week(&it).await;
    // The hour comes before the event that begins in it.
    browser.tab_to(".slot a").await;
    browser.strike(&[Key::Right, Key::Down, Key::Down]).await;
    assert!(browser.is_at(AT_EVENT).await);
    browser.strike(&[Key::Down]).await;
    assert!(browser.is_at(&hour("02T11:00")).await);
    browser.strike(&[Key::Up]).await;

    browser.press(['m']).await;
    browser.strike(&[Key::Down, Key::Down, Key::Right]).await;
    assert!(said(&browser).await.starts_with("Wednesday 3 March"), "{}", said(&browser).await);
    assert!(said(&browser).await.ends_with("10:30–11:30"), "{}", said(&browser).await);
    assert_eq!(browser.text(".ghost").await, "10:30–11:30");
    browser.strike(&[Key::Escape]).await;
    assert!(!browser.has(".ghost").await && browser.is_at(AT_EVENT).await);
    assert_eq!(times(&it, &id).await, before);
    // The week has no day before Monday.
    browser.press(['m']).await;
    browser.strike(&[Key::Left, Key::Left]).await;
    assert_eq!(said(&browser).await, "No other day is shown.");
    browser.strike(&[Key::Down]).await;
    browser.enter().await;
    browser.find(".live [data-from='2038-03-01T09:15:00Z'] a:focus").await;
    assert_eq!(times(&it, &id).await, pair("2038-03-01T09:15:00Z", "2038-03-01T10:15:00Z"));
    assert!(said(&browser).await.starts_with("Saved: Monday 1 March"), "{}", said(&browser).await);

    browser.press(['r']).await;
    browser.strike(&[Key::Down, Key::Down]).await;
    browser.enter().await;
    browser.find(".live [data-to='2038-03-01T10:45:00Z'] a:focus").await;
    assert_eq!(times(&it, &id).await, pair("2038-03-01T09:15:00Z", "2038-03-01T10:45:00Z"));
    browser.press(['r']).await;
    browser.strike(&[Key::Up; 6]).await;
    assert_eq!(said(&browser).await, "An event ends after it begins.");
    browser.strike(&[Key::Escape]).await;

    // On the next day the clocks change. The event keeps its time of day.
    let late = it.event("Late", "2038-03-27T09:00:00Z", "2038-03-27T10:00:00Z").await;
    browser.goto(&week(&it, "2038-03-27")).await;
    browser.find("#grid.live").await;
    browser.tab_to("[data-id] a").await;
    browser.press(['m']).await;
    browser.strike(&[Key::Right]).await;
    browser.enter().await;
    browser.find("[data-from='2038-03-28T08:00:00Z'] a:focus").await;
    assert_eq!(times(&it, &late).await, pair("2038-03-28T08:00:00Z", "2038-03-28T09:00:00Z"));
    // Enter opens an event.
    browser.enter().await;
    browser.headed("Late").await;
}

#[tokio::test]
async fn a_mouse_moves_resizes_and_draws_events() {
    let it = Desk::new(Sqlite).await;
    let id = it.event("Planning", "2038-03-01T09:00:00Z", "2038-03-01T10:00:00Z").await;
    let browser = at_week(&it).await;
    let event = "[data-id]";
    browser.hold((event, 0.0), (&hour("03T12:00"), 0.0)).await;
    assert_eq!(browser.text(".ghost").await, "12:00–13:00");
    browser.strike(&[Key::Escape]).await;
    browser.let_go().await;
    assert!(!browser.has(".ghost").await);
    assert_eq!(times(&it, &id).await, pair("2038-03-01T09:00:00Z", "2038-03-01T10:00:00Z"));
    browser.drag((event, 0.0), (&hour("03T12:00"), 0.0)).await;
    browser.find("[data-from='2038-03-03T11:00:00Z']").await;
    assert_eq!(times(&it, &id).await, pair("2038-03-03T11:00:00Z", "2038-03-03T12:00:00Z"));

    // The lower edge of an hour is about 20 pixels below its middle, and a quarter of it has 10 pixels.
    browser.find("#grid.live").await;
    browser.drag((event, 21.0), (&hour("03T14:00"), 0.0)).await;
    browser.find("[data-to='2038-03-03T13:30:00Z']").await;
    assert_eq!(times(&it, &id).await, pair("2038-03-03T11:00:00Z", "2038-03-03T13:30:00Z"));

    browser.find("#grid.live").await;
    browser.drag((&hour("04T15:00"), -5.0), (&hour("04T17:00"), -5.0)).await;
    browser.headed("New event").await;
    let form = browser.url().await;
    assert!(form.contains("start=2038-03-04T15%3A15") && form.contains("end=2038-03-04T17%3A30"), "{form}");

    // Near the heads of the days, the hours scroll only if the mouse goes up.
    browser.goto(&week(&it, "2038-03-01")).await;
    browser.find("#grid.live").await;
    let noon = hour("04T12:00");
    browser.run(&format!("document.querySelector({}).scrollIntoView({{ block: 'center' }})", json!(noon))).await;
    let heads = -24.0 - below_heads(&browser, &noon).await;
    let scrolled = async || browser.run("return document.querySelector('#grid').scrollTop").await.as_f64().unwrap();
    let before = scrolled().await;
    for (from, to, scrolls) in [(10.0, 30.0, false), (30.0, 10.0, true)] {
        browser.hold((&noon, heads + from), (&noon, heads + to)).await;
        assert!(browser.has(".ghost").await);
        assert_eq!(scrolled().await < before, scrolls, "from {from} to {to} pixels below the heads");
        browser.strike(&[Key::Escape]).await;
        browser.let_go().await;
    }

    // A click is no drag.
    browser.goto(&week(&it, "2038-03-01")).await;
    browser.click("[data-id] a").await;
    browser.headed("Planning").await;
}

#[tokio::test]
async fn a_finger_that_rests_moves_an_event() {
    let it = Desk::new(Sqlite).await;
    let id = it.event("Planning", "2038-03-01T09:00:00Z", "2038-03-01T10:00:00Z").await;
    let browser = signed_in(&it, HUMAN, &Visitor::new().phone(1_024, 900)).await;
    browser.goto(&week(&it, "2038-03-01")).await;
    browser.find("#grid.live").await;
    browser.drag_by_finger(("[data-id]", 0.0), (&hour("03T12:00"), 0.0)).await;
    browser.find("[data-from='2038-03-03T11:00:00Z']").await;
    assert_eq!(times(&it, &id).await, pair("2038-03-03T11:00:00Z", "2038-03-03T12:00:00Z"));
}

#[tokio::test]
async fn a_moved_occurrence_asks_which_ones_move() {
    let it = Desk::new(Sqlite).await;
    let mut body = event_body("Standup", "2038-03-01T09:00:00Z", "2038-03-01T10:00:00Z");
    body["recurrence_rule"] = json!("FREQ=DAILY;COUNT=3");
    let series = it.api.post(format!("/v1/calendars/{}/events", it.calendar)).json(body).await.expect(201).id();
    let browser = at_week(&it).await;
    let second = "[data-from='2038-03-02T09:00:00Z'] a";
    let shift = async || {
        browser.press(['m']).await;
        browser.strike(&[Key::Down]).await;
        browser.enter().await;
        browser.find("#which[open]").await;
    };
    browser.tab_to(second).await;
    shift().await;
    browser.press_button("Cancel").await;
    browser.find(&format!(".live:not(.changing) {second}:focus")).await;
    assert!(!browser.has(".ghost").await);
    assert_eq!(it.taking_place().await, ["01T09:00 Standup", "02T09:00 Standup", "03T09:00 Standup"]);
    shift().await;
    browser.press_button("All of the series").await;
    browser.find(".live [data-from='2038-03-02T09:15:00Z'] a:focus").await;
    assert_eq!(it.taking_place().await, ["01T09:15 Standup", "02T09:15 Standup", "03T09:15 Standup"]);
    shift().await;
    browser.press_button("Only this one").await;
    browser.find("[data-from='2038-03-02T09:30:00Z'] a:focus").await;
    let before = ["01T09:15 Standup", "02T09:30 Standup", "03T09:15 Standup"];
    assert_eq!(it.taking_place().await, before);
    // Its own version stays when somebody changes the series.
    browser.find("#grid.live").await;
    it.api.patch(format!("/v1/events/{series}")).json(json!({ "location": "Room 2" })).await.expect(200);
    shift().await;
    browser.press_button("All of the series").await;
    browser.find("#refused:not([hidden])").await;
    let text = browser.text("#refused p").await;
    assert!(text.starts_with("The event has changed since this page was loaded"), "{text}");
    assert_eq!(it.taking_place().await, before);
}

#[tokio::test]
async fn a_change_that_is_refused_is_said() {
    let it = Desk::new(Sqlite).await;
    let id = it.event("Planning", "2038-03-01T09:00:00Z", "2038-03-01T10:00:00Z").await;
    let before = times(&it, &id).await;
    let browser = at_week(&it).await;
    let shift = async || {
        browser.press(['m']).await;
        browser.strike(&[Key::Down]).await;
        browser.enter().await;
    };
    browser.tab_to("[data-id] a").await;
    // Nothing answers.
    browser.run("window.fetch = () => Promise.reject(new TypeError())").await;
    shift().await;
    browser.find("#refused:not([hidden])").await;
    assert!(browser.text("#refused p").await.starts_with("The connection was lost."));
    assert!(!browser.has(".ghost").await && browser.is_at(AT_EVENT).await);

    // Somebody else changes the event.
    browser.goto(&week(&it, "2038-03-01")).await;
    browser.find("#grid.live").await;
    it.api.patch(format!("/v1/events/{id}")).json(json!({ "title": "Retro" })).await.expect(200);
    browser.tab_to("[data-id] a").await;
    shift().await;
    browser.find("#refused:not([hidden])").await;
    let text = browser.text("#refused p").await;
    assert!(text.starts_with("The event has changed since this page was loaded"), "{text}");
    assert!(!browser.has(".ghost").await);
    assert_eq!(times(&it, &id).await, before);
    browser.press_button("Reload the page").await;
    browser.find("[data-version='2']").await;
    browser.find("#grid.live").await;
    browser.tab_to("[data-id] a").await;
    shift().await;
    browser.find("[data-from='2038-03-01T09:15:00Z']").await;
    assert_eq!(times(&it, &id).await, pair("2038-03-01T09:15:00Z", "2038-03-01T10:15:00Z"));
}

#[tokio::test]
async fn a_viewer_reads_the_grid_and_changes_nothing() {
    let it = Desk::new(Sqlite).await;
    it.event("Planning", "2038-03-01T09:00:00Z", "2038-03-01T10:00:00Z").await;
    it.event("Retro", "2038-03-04T12:00:00Z", "2038-03-04T13:00:00Z").await;
    let (viewer, _) = member(&it.server, &it.console, "vic@example.com", "viewer").await;
    let browser = signed_in(&it, &viewer.email, &Visitor::new()).await;
    let switch = format!(
        "return fetch('/console/orgs/{}/switch', {{ method: 'POST', body: new URLSearchParams() }})
            .then((answer) => answer.status)",
        it.org
    );
    assert_eq!(browser.run(&switch).await, 200);
    browser.goto(&week(&it, "2038-03-01")).await;
    browser.find("#grid[role='grid']").await;
    for part in ["[data-id]", ".slot", ".live", "#which", "#refused", "script[src*='moves']"] {
        assert!(!browser.has(part).await, "{part}");
    }
    browser.tab_to(".event").await;
    let focused = "return document.activeElement.querySelector('strong').textContent";
    assert_eq!(browser.run(focused).await, "Planning");
    browser.press(['m']).await;
    browser.strike(&[Key::Right]).await;
    assert_eq!(browser.run(focused).await, "Retro", "days without events are passed over");
    assert!(browser.has("#grid[tabindex='0']").await, "the keyboard scrolls the hours");
    let browser = signed_in(&it, &viewer.email, &Visitor::new().window(600, 900)).await;
    assert_eq!(browser.run(&switch).await, 200);
    browser.goto(&week(&it, "2038-03-01")).await;
    browser.find("#grid.covering:not([tabindex])").await;
}

#[tokio::test]
async fn without_scripts_the_heads_of_the_days_cover_no_hour() {
    let it = Desk::new(Sqlite).await;
    let browser = signed_in(&it, HUMAN, &Visitor::new().without_scripts()).await;
    browser.goto(&week(&it, "2038-03-01")).await;
    browser.loaded().await;
    let above = hour("04T09:00");
    browser.run("document.querySelector('#grid').scrollTop = 9999").await;
    browser.run(&format!("document.querySelector({}).scrollIntoView({{ block: 'nearest' }})", json!(above))).await;
    assert!(below_heads(&browser, &above).await >= 0.0);
}

#[tokio::test]
async fn a_narrow_window_has_lists_and_no_grid() {
    let it = Desk::new(Sqlite).await;
    it.event("Planning", "2038-03-01T09:00:00Z", "2038-03-01T10:00:00Z").await;
    let browser = signed_in(&it, HUMAN, &Visitor::new().window(600, 900)).await;
    browser.goto(&week(&it, "2038-03-01")).await;
    browser.loaded().await;
    browser.find("[data-id] a").await;
    assert!(!browser.has("[role='grid']").await && browser.has("#keys[hidden]").await);
    browser.click(".add a[href*='date=2038-03-03']").await;
    browser.headed("New event").await;
}
