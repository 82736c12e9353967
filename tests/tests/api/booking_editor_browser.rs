//! The editor of booking pages, and their bookings, in a real browser.

use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    calendar_desk::Desk,
    in_every_way,
    walk::{Walk, Way},
};

const LIST: &str = "/console/booking-pages";
const BOOKINGS: &str = "/console/bookings";
const CANCEL_LINK: &str = "main a[href*='/cancel']";
/// The part of the form with the end of the address.
const ADDRESS_SECTION: &str = "details:has(#slug)";

/// Takes the last slot of the page `intro-call`.
async fn book(it: &Desk, name: &str) {
    let guest = it.server.anonymous();
    let slots = guest.get("/book/intro-call/slots").await.expect(200);
    let start = &slots["slots"].as_array().unwrap().last().unwrap()["start"];
    let body = json!({ "name": name, "email": "guest@example.com", "start": start });
    guest.post("/book/intro-call").json(body).await.expect(201);
}

/// The statuses of the bookings of a page, by the name of the guest.
async fn statuses(it: &Desk, page: &str) -> Vec<(Value, Value)> {
    let listed = it.api.get(format!("/v1/booking-pages/{page}/bookings")).await.expect(200).data();
    let mut statuses: Vec<_> = listed.iter().map(|one| (one["name"].clone(), one["status"].clone())).collect();
    statuses.sort_by_key(|(name, _)| name.to_string());
    statuses
}

#[apply(in_every_way)]
#[tokio::test]
async fn a_host_makes_a_booking_page_and_cancels_bookings(#[case] way: Way) {
    let it = Desk::with(way.database, &[("KALENDS_MAIL_LIMITS", "off")]).await;
    let walk = Walk::begin(&it, way).await;
    let listed = async || it.api.get("/v1/booking-pages").await.expect(200).data();
    walk.goto(BOOKINGS).await;
    walk.reaches("Bookings of all pages").await;
    walk.sees("There are no upcoming bookings.").await;
    walk.goto(LIST).await;
    walk.reaches("Booking pages").await;
    walk.sees("There are no booking pages yet.").await;
    walk.press("New booking page").await;
    walk.reaches("New booking page").await;

    walk.fill("#title", "Intro").await;
    walk.unfold(ADDRESS_SECTION).await;
    walk.fill("#slug", "Intro Call").await;
    walk.press("Create the booking page").await;
    walk.browser.find("#slug-problem").await;
    walk.fits().await;
    let typed = async |field: &str| walk.browser.property(field, "value").await;
    assert_eq!((&*typed("#title").await, &*typed("#slug").await), ("Intro", "Intro Call"), "what was typed stays");
    assert_eq!(listed().await, [] as [Value; 0]);
    walk.unfold("#questions").await;
    walk.fill("[name='questions[0].label']", "Which team?").await;
    walk.press("Add a question").await;
    walk.fill("[name='questions[1].label']", "Phone?").await;
    walk.choose("[name='questions[1].type']", "phone").await;
    walk.unfold(ADDRESS_SECTION).await;
    walk.fill("#slug", "intro-call").await;
    walk.press("Create the booking page").await;
    walk.sees("Created.").await;
    walk.reaches("Intro").await;
    let [page]: [Value; 1] = listed().await.try_into().unwrap();
    assert_eq!((&page["title"], &page["slug"]), (&json!("Intro"), &json!("intro-call")));
    let questions: Vec<_> =
        page["questions"].as_array().unwrap().iter().map(|one| (&one["label"], &one["type"])).collect();
    assert_eq!(questions, [(&json!("Which team?"), &json!("text")), (&json!("Phone?"), &json!("phone"))]);
    let id = page["id"].as_str().unwrap();
    let (shown, read) = (format!("{LIST}/{id}"), format!("/v1/booking-pages/{id}"));
    let address = format!("{}/book/intro-call", it.server.base_url());
    assert_eq!(walk.browser.text("a[data-copy='the address']").await, address);
    let code = walk.browser.text("code[data-copy='the HTML']").await;
    assert!(code.starts_with("<iframe") && code.contains(&address), "{code}");

    walk.press("Switch off").await;
    walk.sees("Switched off: guests cannot open it.").await;
    assert_eq!(it.api.get(&read).await.expect(200)["active"], false);
    walk.press("Switch on").await;
    walk.sees("Switched on: guests can book.").await;
    assert_eq!(it.api.get(&read).await.expect(200)["active"], true);

    walk.press("Edit").await;
    walk.reaches("Edit Intro").await;
    walk.press("Preview the questions").await;
    walk.browser.wait_for_text_in_frame("iframe:not([hidden])", "Which team?").await;
    walk.goto(&format!("{shown}/edit")).await;
    walk.fill("#title", "Demo").await;
    walk.press("Save").await;
    walk.sees("Saved.").await;
    walk.reaches("Demo").await;
    assert_eq!(it.api.get(&read).await.expect(200)["title"], "Demo");

    book(&it, "Grace").await;
    walk.press("All bookings of this page").await;
    walk.reaches("Bookings").await;
    walk.sees("1 found").await;
    walk.follow(CANCEL_LINK).await;
    walk.reaches("Cancel the booking?").await;
    walk.fill("#reason", "Ill today").await;
    walk.press("Cancel the booking").await;
    walk.sees("Cancelled by the host").await;
    walk.fits().await;
    let (grace, cancelled) = (json!("Grace"), json!("cancelled"));
    assert_eq!(statuses(&it, id).await, [(grace.clone(), cancelled.clone())]);

    book(&it, "Hedy").await;
    assert_eq!(statuses(&it, id).await[1], (json!("Hedy"), json!("confirmed")));
    walk.goto(BOOKINGS).await;
    walk.sees("1 found").await;
    walk.choose("#status", "all").await;
    walk.press("Show").await;
    walk.sees("2 found").await;
    walk.choose("#status", "").await;
    walk.choose("#time", "all").await;
    walk.press("Show").await;
    walk.sees("1 found").await;
    walk.follow(CANCEL_LINK).await;
    walk.reaches("Cancel the booking?").await;
    walk.press("Cancel the booking").await;
    // The list is filtered as before.
    walk.sees("There are no such bookings.").await;
    assert_eq!(statuses(&it, id).await, [(grace, cancelled.clone()), (json!("Hedy"), cancelled)]);

    walk.goto(&shown).await;
    walk.press("Delete").await;
    walk.reaches("Delete Demo?").await;
    walk.press("Delete").await;
    walk.sees("There are no booking pages yet.").await;
    assert_eq!(listed().await, [] as [Value; 0]);
}
