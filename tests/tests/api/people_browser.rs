//! Pages for attendees, hosts, and guests of a team, in a real browser.

use kalends_e2e::{
    Browser,
    Database::{self, Sqlite},
    Visitor,
};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    booking_browser::{PHONE, choose, fits, link, list_day, submit, time},
    desk::{Desk, Open},
    fixtures::{LONG, shared_calendar},
    on_both,
    readers::message,
};

impl Desk {
    /// A visitor who takes a slot of the page and confirms.
    async fn visit(&self, page: &Open, slot: &str) -> Browser {
        let browser = Visitor::new().open().await;
        self.opens(&browser, page).await;
        choose(&browser, slot, 0).await;
        submit(&browser).await;
        browser.headed("You are booked").await;
        browser
    }

    async fn opens(&self, browser: &Browser, page: &Open) {
        browser.goto(&format!("{}{}", self.server.base_url(), page.book)).await;
    }

    /// Whether the page shows the slot to visitors.
    async fn shows(&self, page: &Open, slot: &str) -> bool {
        let browser = Visitor::new().open().await;
        self.opens(&browser, page).await;
        list_day(&browser, slot, 0).await;
        browser.has(&time(slot)).await
    }

    /// The times of the events on a calendar.
    async fn starts_on(&self, calendar: &str) -> Vec<Value> {
        let events = self.api.get(format!("/v1/calendars/{calendar}/events")).await.expect(200).data();
        events.iter().map(|event| event["startTime"].clone()).collect()
    }
}

#[tokio::test]
async fn an_attendee_replies_and_changes_the_reply() {
    let mut desk = Desk::new(Sqlite).await;
    let calendar = shared_calendar(&desk.api, "Europe/Berlin").await;
    let event = json!({
        "title": format!("Review of the {LONG}"), "start_time": "2031-05-05T08:00:00Z",
        "end_time": "2031-05-05T09:00:00Z", "location": LONG, "conference_url": "https://meet.example.com/review",
        "attendees": [{ "email": "ada@example.com" }, { "email": "bob@example.com" }], "send_invitations": true
    });
    let event = desk.api.post(format!("/v1/calendars/{calendar}/events")).json(event).await.expect(201);
    let mails = desk.mails(2).await;
    let mut words = mails[0].text.split_whitespace().filter(|word| word.contains("/rsvp/"));
    let reply = words.next_back().unwrap().to_owned();
    let replies = async || {
        let event = desk.api.get(format!("/v1/events/{}", event.id())).await.expect(200);
        let attendees = event["attendees"].as_array().unwrap().clone();
        attendees.iter().map(|attendee| attendee["status"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let browser = Visitor::new().phone(PHONE.0, PHONE.1).open().await;
    browser.goto(&reply).await;
    browser.headed(&format!("Review of the {LONG}")).await;
    fits(&browser).await;
    assert!(!browser.has("p[role='status'] strong").await);
    assert_eq!(replies().await, ["needs_action", "needs_action"], "opening the page is no reply");

    browser.fill("#note", "See you there").await;
    browser.press_button("Accept").await;
    browser.find("p[role='status'] strong").await;
    assert!(browser.text("p[role='status'] strong").await == "You accepted.");
    fits(&browser).await;
    assert_eq!(replies().await, ["accepted", "needs_action"]);
    browser.goto(&reply).await;
    assert_eq!(browser.property("button[value='accepted']", "ariaPressed").await, "true");
    browser.press_button("Decline").await;
    browser.find("p[role='status'] strong").await;
    assert!(browser.text("p[role='status'] strong").await.starts_with("You declined."));
    assert_eq!(replies().await, ["declined", "needs_action"]);

    let cancelled = json!({ "status": "cancelled" });
    desk.api.patch(format!("/v1/events/{}", event.id())).json(cancelled).await.expect(200);
    browser.goto(&reply).await;
    browser.wait_for_paragraph("This event is cancelled. There is nothing for you to do.").await;
    assert!(!browser.has("form").await);
    fits(&browser).await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_visitor_books_a_team_that_is_free_together(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let second = shared_calendar(&desk.api, "UTC").await;
    let page = desk.page(json!({ "calendars": [second], "assignment": "collective" })).await;
    let slots = desk.slots(&page).await;
    // The second calendar is busy in one of the slots.
    let busy = json!({ "title": "Busy", "start_time": slots[40], "end_time": slots[41] });
    desk.api.post(format!("/v1/calendars/{second}/events")).json(busy).await.expect(201);
    assert!(!desk.shows(&page, &slots[40]).await);
    let browser = desk.visit(&page, &slots[42]).await;
    assert_eq!(desk.starts_on(&second).await, [json!(slots[40]), json!(slots[42])]);
    assert!(!desk.shows(&page, &slots[42]).await);
    browser.click("a[href$='/cancel']").await;
    browser.headed("Cancel this booking?").await;
    browser.click("form button.danger").await;
    browser.headed("Your booking is cancelled").await;
    assert_eq!(desk.starts_on(&second).await, [json!(slots[40])]);
}

#[apply(on_both)]
#[tokio::test]
async fn visitors_of_a_team_in_turn_get_different_calendars(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let second = shared_calendar(&desk.api, "UTC").await;
    let page = desk.page(json!({ "calendars": [second], "assignment": "round_robin" })).await;
    let slot = desk.slots(&page).await[40].clone();
    desk.visit(&page, &slot).await;
    assert!(desk.shows(&page, &slot).await, "the other calendar is free");
    assert_eq!(desk.starts_on(&second).await, Vec::<Value>::new());
    desk.visit(&page, &slot).await;
    assert_eq!(desk.starts_on(&second).await, [json!(slot)]);
    assert!(!desk.shows(&page, &slot).await);
}

#[apply(on_both)]
#[tokio::test]
async fn visitors_share_a_slot_until_it_is_full(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({ "title": "Yoga", "seats": 2 })).await;
    let slot = desk.slots(&page).await[40].clone();
    let late = Visitor::new().open().await;
    desk.opens(&late, &page).await;
    choose(&late, &slot, 0).await;
    let first = desk.visit(&page, &slot).await;
    assert!(desk.shows(&page, &slot).await);
    desk.visit(&page, &slot).await;
    assert!(!desk.shows(&page, &slot).await);
    submit(&late).await;
    late.headed("This time was just taken").await;

    first.click("a[href$='/move']").await;
    first.find(".note").await;
    assert!(!first.has(&time(&slot)).await, "the visitor is there already");
    first.goto(&first.url().await.replace("/move", "/cancel")).await;
    assert!(desk.slots(&page).await.iter().all(|free| *free != slot), "opening the page cancels nothing");
}

#[tokio::test]
async fn a_host_agrees_to_emails_and_stops_them() {
    let mut desk = Desk::new(Sqlite).await;
    let page = desk.page(json!({ "title": LONG, "notify_emails": ["grace@listen.example"] })).await;
    let mail = desk.mails(1).await.remove(0);
    let mut words = mail.text.split_whitespace().filter(|word| word.contains("/book/emails/"));
    let consent = words.next_back().unwrap().to_owned();
    let status = async || desk.read(&page).await["notify_consents"][0]["status"].clone();
    let browser = Visitor::new().phone(PHONE.0, PHONE.1).open().await;
    browser.goto(&consent).await;
    browser.headed("Emails about bookings").await;
    fits(&browser).await;
    assert_eq!(status().await, "asked", "opening the page is no answer");
    browser.press_button("Send these emails").await;
    browser.find("p[role='status'] strong").await;
    fits(&browser).await;
    assert_eq!(status().await, "agreed");
    browser.press_button("Stop these emails").await;
    browser
        .wait_for_paragraph(&format!("You get no emails at grace@listen.example about bookings on the page “{LONG}”."))
        .await;
    assert_eq!(status().await, "refused");
}

#[tokio::test]
async fn the_links_of_a_reminder_move_and_cancel() {
    let mut desk = Desk::new(Sqlite).await;
    let page = desk.page(json!({ "guest_reminders": [60] })).await;
    let slots = desk.slots(&page).await;
    desk.book(&page, &slots[8], json!({})).await;
    desk.mails(1).await;
    let ahead = kalends_e2e::at(&slots[8]) - kalends_e2e::at(&crate::fixtures::now(&desk.api).await);
    desk.later(ahead.num_seconds() - 3_000).await;
    let reminder = desk.mails(1).await.remove(0);
    assert_eq!(reminder.subject, "Reminder: Intro");
    let browser = Visitor::new().open().await;
    browser.goto(&link(&reminder.text, "/move")).await;
    browser.find(".note").await;
    list_day(&browser, &slots[40], 0).await;
    browser.click(&time(&slots[40])).await;
    browser.click("form button.primary").await;
    browser.headed("Your booking has been moved").await;
    browser.goto(&link(&reminder.text, "/cancel")).await;
    browser.headed("Cancel this booking?").await;
}

#[tokio::test]
async fn another_language_keeps_the_zone_of_the_visitor() {
    let desk = Desk::new(Sqlite).await;
    let page = desk.page(json!({})).await;
    let slots = desk.slots(&page).await;
    let browser = Visitor::new().in_zone("Asia/Tokyo").open().await;
    desk.opens(&browser, &page).await;
    browser.find("main[data-zone='Asia/Tokyo']").await;
    browser.click("a[hreflang='fr']").await;
    browser.find("html[lang='fr'] main[data-zone='Asia/Tokyo']").await;
    // The script shows another day, and its links follow.
    list_day(&browser, &slots[40], 540).await;
    let day = browser.text("#day").await;
    browser.click("a[hreflang='ja']").await;
    browser.find("html[lang='ja'] main[data-zone='Asia/Tokyo']").await;
    assert_ne!(browser.text("#day").await, day);
    assert!(browser.url().await.contains("day="), "{}", browser.url().await);
}

#[tokio::test]
async fn a_visitor_books_in_each_language() {
    let mut desk = Desk::new(Sqlite).await;
    let questions = json!([{ "id": "team", "label": LONG, "type": "text", "required": true }]);
    let fields =
        json!({ "title": format!("Review {LONG}"), "host_name": LONG, "location": LONG, "questions": questions });
    let page = desk.page(fields).await;
    let slots = desk.slots(&page).await;
    for (place, language) in ["de", "fr", "es", "pt", "ja"].into_iter().enumerate() {
        let browser = Visitor::new().phone(PHONE.0, PHONE.1).open().await;
        desk.opens(&browser, &page).await;
        let speaks = async || {
            browser.find(&format!("html[lang='{language}']")).await;
            fits(&browser).await;
        };
        browser.click(&format!("a[hreflang='{language}']")).await;
        speaks().await;
        choose(&browser, &slots[40 + place], 0).await;
        speaks().await;
        // Without an answer to the question, the server shows the form again.
        browser.run("document.querySelector('form').noValidate = true").await;
        submit(&browser).await;
        browser.find("[role='alert']").await;
        speaks().await;
        browser.fill("#answer-team", "Mills").await;
        browser.click("form button.primary").await;
        browser.find(".mark").await;
        speaks().await;
        assert_eq!(desk.mails(1).await[0].subject, message(language, "mail-booked-subject"));
        browser.click("a[href*='/cancel']").await;
        browser.find("button.danger").await;
        speaks().await;
        browser.click("button.danger").await;
        browser.find(".gone").await;
        speaks().await;
        assert_eq!(desk.mails(1).await[0].subject, message(language, "mail-cancelled-subject"));
        browser.click("a.primary").await;
        browser.find(".picker").await;
        speaks().await;
    }
}
