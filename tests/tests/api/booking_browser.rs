//! The booking page in a real browser.

use crate::on_both;
use chrono::TimeDelta;
use kalends_e2e::{
    Browser,
    Database::{self, Sqlite},
    Visitor, at,
};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::booking_html::Place;

/// The screen size of a common phone.
pub(crate) const PHONE: (u32, u32) = (390, 844);

/// The address of the page.
fn url(place: &Place) -> String {
    format!("{}{}", place.server.base_url(), place.page)
}

/// The link in an email that has this ending.
#[track_caller]
pub(crate) fn link(text: &str, end: &str) -> String {
    let link = text.split_whitespace().find(|word| word.starts_with("http") && word.ends_with(end));
    link.unwrap_or_else(|| panic!("no link {end} in {text}")).to_owned()
}

/// The date of a slot on clocks that are ahead of Greenwich by this many minutes.
fn date_of(slot: &str, ahead_minutes: i64) -> String {
    (at(slot) + TimeDelta::minutes(ahead_minutes)).format("%F").to_string()
}

/// The link of a slot's day.
fn day(slot: &str, ahead_minutes: i64) -> String {
    format!("a.day:has(time[datetime='{}'])", date_of(slot, ahead_minutes))
}

/// The same link once that day's times are listed.
fn chosen(slot: &str, ahead_minutes: i64) -> String {
    format!("{}[aria-current='true']", day(slot, ahead_minutes))
}

/// The link of a slot.
pub(crate) fn time(slot: &str) -> String {
    format!("a.time:has(time[datetime='{slot}'])")
}

/// Lists the times of the slot's day. If the shown month does not offer that day, it is in the next month.
pub(crate) async fn list_day(browser: &Browser, slot: &str, ahead_minutes: i64) {
    let link = day(slot, ahead_minutes);
    if !browser.has(&link).await {
        browser.click("#later").await;
    }
    browser.click(&link).await;
    // The next month may list that day by itself. The script names the day in the address when it shows what was clicked.
    browser.wait_for_address(&format!("day={}", date_of(slot, ahead_minutes))).await;
    browser.find(&chosen(slot, ahead_minutes)).await;
}

/// Chooses a slot by its day and its time.
pub(crate) async fn choose(browser: &Browser, slot: &str, ahead_minutes: i64) {
    list_day(browser, slot, ahead_minutes).await;
    browser.click(&time(slot)).await;
    browser.find(&format!("input[name=start][value='{slot}']")).await;
}

/// Fills in the form and submits it.
pub(crate) async fn submit(browser: &Browser) {
    browser.fill("#name", "Grace Hopper").await;
    browser.fill("#email", "grace@example.com").await;
    browser.fill("#notes", "Ships are safe in harbour.\nBut that is not what ships are for.").await;
    browser.click("form button.primary").await;
}

/// Requires that the visitor's booking at that time is the only event.
async fn booked_at(place: &Place, slot: &str) {
    let events = place.events().await;
    let emitted: Vec<_> = events.iter().map(|event| (&event["title"], &event["startTime"])).collect();
    assert_eq!(emitted, [(&json!("Intro: Grace Hopper"), &json!(slot))]);
    let notes = "Ships are safe in harbour.\nBut that is not what ships are for.";
    assert_eq!(events[0]["metadata"]["booking"]["notes"], notes);
}

/// Requires that nothing on the page is wider than the screen.
pub(crate) async fn fits(browser: &Browser) {
    browser.loaded().await;
    // A phone makes its `innerWidth` as wide as the content.
    let widths =
        browser.run("const page = document.documentElement; return [page.scrollWidth, page.clientWidth]").await;
    assert_eq!(widths[0], widths[1], "{} is too wide", browser.url().await);
}

#[apply(on_both)]
#[tokio::test]
async fn a_visitor_picks_a_time_and_books_it(#[case] database: Database) {
    let place = Place::open(database, json!({})).await;
    let slot = place.slots().await[40].clone();
    let browser = Visitor::new().open().await;
    browser.goto(&url(&place)).await;
    browser.headed("Intro").await;
    browser.run("window.loadedOnce = true").await;
    list_day(&browser, &slot, 0).await;
    assert_eq!(browser.run("return window.loadedOnce").await, true, "the script shows days without loading a page");
    assert!(browser.url().await.contains(&format!("day={}", date_of(&slot, 0))), "the address says what is shown");
    assert_eq!(browser.text(&time(&slot)).await, at(&slot).format("%H:%M").to_string());
    browser.click(&time(&slot)).await;
    submit(&browser).await;
    browser.headed("You are booked").await;
    assert_eq!(browser.text("strong.address").await, "grace@example.com");
    assert!(browser.text(".when").await.contains(&at(&slot).format("%H:%M").to_string()));
    booked_at(&place, &slot).await;
    assert_eq!(place.server.wait_for_mails(1).await[0].to, "grace@example.com");
    // The slot is no longer offered to others.
    browser.goto(&format!("{}?day={}", url(&place), date_of(&slot, 0))).await;
    browser.find(&chosen(&slot, 0)).await;
    assert!(!browser.has(&time(&slot)).await);
}

#[tokio::test]
async fn a_visitor_who_is_too_late_books_another_time_with_one_click() {
    let place = Place::open(Sqlite, json!({})).await;
    let slots = place.slots().await;
    let browser = Visitor::new().open().await;
    browser.goto(&url(&place)).await;
    choose(&browser, &slots[40], 0).await;
    let other = place.book(&slots[40]).await;
    submit(&browser).await;
    browser.headed("This time was just taken").await;
    assert_eq!(place.events().await.len(), 1, "nothing was booked");
    browser.click(&format!("button[name=start][value='{}']", slots[41])).await;
    browser.headed("You are booked").await;
    place.server.anonymous().post(place.path(&other["cancel_url"])).await.expect(200);
    booked_at(&place, &slots[41]).await;
}

#[tokio::test]
async fn everything_works_without_scripts() {
    let place = Place::open(Sqlite, json!({})).await;
    let slot = place.slots().await[40].clone();
    let browser = Visitor::new().in_zone("America/New_York").without_scripts().open().await;
    browser.goto(&url(&place)).await;
    // Without scripts the page cannot detect the visitor's zone, so the visitor chooses it.
    assert_eq!(browser.run("return document.querySelector('main').dataset.zone").await, "UTC");
    browser.choose("#tz", "Asia/Tokyo").await;
    browser.click("#switch").await;
    browser.find("main[data-zone='Asia/Tokyo']").await;
    choose(&browser, &slot, 540).await;
    submit(&browser).await;
    browser.headed("You are booked").await;
    let tokyo = (at(&slot) + TimeDelta::hours(9)).format("%H:%M").to_string();
    assert!(browser.text(".when").await.contains(&tokyo), "{}", browser.text(".when").await);
    booked_at(&place, &slot).await;
    browser.click("a[href$='/move']").await;
    browser.find(".note").await;
    browser.click("a.time").await;
    browser.headed("Move your booking to this time?").await;
    browser.click("form button.primary").await;
    browser.headed("Your booking has been moved").await;
    browser.click("a[href$='/cancel']").await;
    browser.headed("Cancel this booking?").await;
    browser.click("form button.danger").await;
    browser.headed("Your booking is cancelled").await;
    assert_eq!(place.events().await, Vec::<Value>::new());
}

#[rstest]
#[case::new_york("America/New_York")]
#[case::a_half_hour_offset("Asia/Kolkata")]
#[case::beyond_the_date_line("Pacific/Kiritimati")]
#[tokio::test]
async fn times_are_in_the_visitor_s_zone(#[case] zone: &str) {
    let place = Place::open(Sqlite, json!({ "timezone": "Europe/Berlin" })).await;
    let slot = place.slots().await[40].clone();
    let browser = Visitor::new().in_zone(zone).open().await;
    browser.goto(&url(&place)).await;
    // The script requests the browser's zone, possibly under an older name.
    browser.find("main:not([data-zone='Europe/Berlin'])").await;
    let own = browser.run("return Intl.DateTimeFormat().resolvedOptions().timeZone").await;
    assert_eq!(browser.run("return document.querySelector('main').dataset.zone").await, own);
    assert!(browser.url().await.contains("tz="), "{}", browser.url().await);
    let local =
        format!("const at = new Date('{slot}'); return [at.getTimezoneOffset(), at.toTimeString().slice(0, 5)]");
    let local = browser.run(&local).await;
    let behind = local[0].as_i64().unwrap();
    list_day(&browser, &slot, -behind).await;
    assert_eq!(browser.text(&time(&slot)).await, local[1].as_str().unwrap());
    browser.click(&time(&slot)).await;
    submit(&browser).await;
    browser.headed("You are booked").await;
    assert!(browser.text(".when").await.contains(local[1].as_str().unwrap()));
    booked_at(&place, &slot).await;
    // The visitor can switch to the host's zone.
    browser.goto(&url(&place)).await;
    browser.click("#own-zone").await;
    browser.find("main[data-zone='Europe/Berlin']").await;
}

#[tokio::test]
async fn every_page_fits_on_a_phone() {
    let long = "An introduction to Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaften";
    let place = Place::open(Sqlite, json!({ "title": long, "description": long.repeat(3) })).await;
    let slots = place.slots().await;
    let browser = Visitor::new().phone(PHONE.0, PHONE.1).open().await;
    browser.goto(&url(&place)).await;
    fits(&browser).await;
    choose(&browser, &slots[40], 0).await;
    fits(&browser).await;
    place.book(&slots[40]).await;
    submit(&browser).await;
    browser.headed("This time was just taken").await;
    fits(&browser).await;
    browser.click("ul.offers button").await;
    browser.headed("You are booked").await;
    fits(&browser).await;
    browser.click("a[href$='/move']").await;
    browser.find(".note").await;
    fits(&browser).await;
    browser.click("a.time").await;
    browser.headed("Move your booking to this time?").await;
    fits(&browser).await;
    browser.click("form button.primary").await;
    browser.headed("Your booking has been moved").await;
    fits(&browser).await;
    browser.click("a[href$='/cancel']").await;
    browser.headed("Cancel this booking?").await;
    fits(&browser).await;
    browser.goto(&format!("{}?slot=soon", url(&place))).await;
    browser.headed("This time cannot be booked").await;
    fits(&browser).await;
}

#[tokio::test]
async fn booking_works_with_the_keyboard_alone() {
    let place = Place::open(Sqlite, json!({})).await;
    let slot = place.slots().await[40].clone();
    let browser = Visitor::new().window(800, 600).open().await;
    browser.goto(&url(&place)).await;
    if !browser.has(&day(&slot, 0)).await {
        browser.tab_to("#later").await;
        browser.enter().await;
    }
    browser.tab_to(&day(&slot, 0)).await;
    browser.enter().await;
    browser.find(&chosen(&slot, 0)).await;
    browser.find("#day:focus").await;
    browser.tab_to(&time(&slot)).await;
    browser.enter().await;
    browser.find("#name").await;
    browser.tab_to("#name").await;
    browser.press("Grace Hopper".chars()).await;
    browser.tab_to("#email").await;
    browser.press("grace@example.com".chars()).await;
    // The honeypot field is not in the tab order.
    browser.tab_to("#notes").await;
    browser.press("Hello".chars()).await;
    browser.tab_to("button, #website").await;
    assert!(browser.is_at("button.primary").await);
    browser.enter().await;
    browser.headed("You are booked").await;
    assert_eq!(place.events().await[0]["metadata"]["booking"]["notes"], "Hello");
    browser.tab_to("a[href$='/cancel']").await;
    browser.enter().await;
    browser.headed("Cancel this booking?").await;
    browser.tab_to("button.danger").await;
    browser.enter().await;
    browser.headed("Your booking is cancelled").await;
    assert_eq!(place.events().await, Vec::<Value>::new());
}

#[tokio::test]
async fn the_links_of_the_mail_move_and_cancel() {
    let place = Place::open(Sqlite, json!({})).await;
    let slots = place.slots().await;
    place.book(&slots[40]).await;
    let text = place.server.wait_for_mails(1).await[0].text.clone();
    let browser = Visitor::new().open().await;
    browser.goto(&link(&text, "/move")).await;
    browser.headed("Intro").await;
    assert!(browser.text(".note").await.contains(&at(&slots[40]).format("%H:%M").to_string()));
    list_day(&browser, &slots[70], 0).await;
    browser.click(&time(&slots[70])).await;
    browser.headed("Move your booking to this time?").await;
    assert_eq!(place.events().await[0]["startTime"], slots[40], "it moves only after the confirmation");
    browser.click("form button.primary").await;
    browser.headed("Your booking has been moved").await;
    assert_eq!(place.events().await[0]["startTime"], slots[70]);

    let mails = place.server.wait_for_mails(2).await;
    assert_eq!(mails[1].subject, "Your booking was moved");
    browser.goto(&link(&mails[1].text, "/cancel")).await;
    browser.headed("Cancel this booking?").await;
    assert_eq!(place.events().await.len(), 1);
    browser.click("form button.danger").await;
    browser.headed("Your booking is cancelled").await;
    assert_eq!(place.events().await, Vec::<Value>::new());
    assert_eq!(place.server.wait_for_mails(3).await[2].subject, "Your booking is cancelled");
    browser.goto(&link(&text, "/cancel")).await;
    browser.headed("This booking was already cancelled").await;
    browser.click("a.primary").await;
    browser.find(&time(&place.slots().await[0])).await;
}

/// Serves a site of somebody else, whose only page shows `address` in a frame.
async fn foreign_site(listener: tokio::net::TcpListener, address: &str) {
    let page = axum::response::Html(format!("<!doctype html><title>Shop</title><iframe src=\"{address}\"></iframe>"));
    let site = axum::Router::new().route("/", axum::routing::get(move || async move { page }));
    tokio::spawn(async move { axum::serve(listener, site).await });
}

#[tokio::test]
async fn a_site_that_the_host_names_shows_the_page_and_visitors_book_there() {
    let place = Place::open(Sqlite, json!({ "host_name": "Grace" })).await;
    let slot = place.slots().await[40].clone();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    foreign_site(listener, &url(&place)).await;
    let browser = Visitor::new().open().await;
    // The browser refuses to show the page to a site that the host has not named.
    browser.goto(&origin).await;
    browser.enter_frame("iframe").await;
    assert!(!browser.has("h1#month, h2#month, .host").await);
    let path = format!("/v1/booking-pages/{}", place.id);
    place.api.patch(path).json(json!({ "embed_origins": [origin], "accent_color": "#5b2a86" })).await.expect(200);
    browser.goto(&origin).await;
    browser.enter_frame("iframe").await;
    browser.find(".host").await;
    let color = "return getComputedStyle(document.querySelector('.day[aria-current]')).backgroundColor";
    browser.find(".day[aria-current]").await;
    assert_eq!(browser.run(color).await, "rgb(91, 42, 134)", "the policy allows the style of the page");
    choose(&browser, &slot, 0).await;
    submit(&browser).await;
    browser.headed("You are booked").await;
    booked_at(&place, &slot).await;
    // What changes a booking opens in a window of its own.
    assert_eq!(browser.property(".actions a[href$='/move']", "target").await, "_blank");
}

#[tokio::test]
async fn questions_are_answered_without_scripts() {
    let question = |id: &str, kind: &str, required: bool, options: Value| json!({ "id": id, "label": format!("Your {id}?"), "type": kind, "required": required, "options": options });
    let questions = json!([
        question("topic", "text", true, json!([])),
        question("team", "select", true, json!(["Sales", "Support"])),
        question("more", "textarea", false, json!([])),
        question("phone", "phone", false, json!([])),
        question("terms", "checkbox", true, json!([])),
    ]);
    let place = Place::open(Sqlite, json!({ "questions": questions, "location": "Room 2" })).await;
    let slot = place.slots().await[40].clone();
    let browser = Visitor::new().without_scripts().open().await;
    browser.goto(&format!("{}?slot={slot}&tz=UTC", url(&place))).await;
    browser.fill("#answer-topic", "Mills & stores").await;
    browser.choose("#answer-team", "Support").await;
    browser.fill("#answer-phone", "no number").await;
    browser.click("#answer-terms").await;
    submit(&browser).await;
    // The browser accepts every phone number, and the page names what is wrong. Nothing else is lost.
    browser.find("#answer-phone[aria-invalid='true']").await;
    assert!(browser.text(".alert").await.contains("Your phone?"));
    assert_eq!(browser.property("#answer-topic", "value").await, "Mills & stores");
    assert_eq!(browser.property("#answer-team", "value").await, "Support");
    assert_eq!(browser.property("#answer-terms", "checked").await, "true");
    assert!(place.events().await.is_empty());
    browser.run("document.querySelector('#answer-phone').value = ''").await;
    browser.fill("#answer-phone", "+49 30 123456").await;
    browser.click("form button.primary").await;
    browser.headed("You are booked").await;
    booked_at(&place, &slot).await;
    let expected = json!({ "topic": "Mills & stores", "team": "Support", "phone": "+49 30 123456", "terms": true });
    assert_eq!(place.events().await[0]["metadata"]["booking"]["answers"], expected);
}
