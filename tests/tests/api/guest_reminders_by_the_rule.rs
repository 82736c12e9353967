//! Reminders to guests. Written without knowledge of the code.

use crate::on_both;
use kalends_e2e::{Database, Mail, at, shifted};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    claims::text,
    desk::{Booked, CALL, Desk, EMAIL, HOST, NAME, OWN, Open, PAGES, PLACE, booking, end, recipients},
    fixtures::{has_exactly, now, shared_calendar},
};

// Other guests. `Desk::mails` returns their mails after Ada's, in this order.
const CY: &str = "cy@guest.example";
const DOT: &str = "dot@guest.example";
/// The guest whose reminder shows that no other one was sent.
const ZOE: &str = "zoe@guest.example";

impl Desk {
    /// Starts the service again at this time. Everything before it passed while the service was down.
    async fn until(&mut self, time: &str) {
        let offset = self.server.environment().get("KALENDS_CLOCK_OFFSET_SECONDS");
        let offset: i64 = offset.map_or(0, |seconds| seconds.parse().unwrap());
        let ahead = at(time) - at(&now(&self.api).await);
        self.later(offset + ahead.num_seconds()).await;
    }

    /// Books a slot for this guest, who gets the confirmation and nothing else.
    async fn made(&mut self, page: &Open, start: &str, email: &str) -> Booked {
        let booked = self.book(page, start, json!({ "email": email })).await;
        let mail = self.mails(1).await.remove(0);
        assert_eq!((mail.to.as_str(), mail.subject.as_str()), (email, "Your booking is confirmed"), "{mail:#?}");
        assert!(mail.invitation.contains("METHOD:REQUEST"), "{mail:#?}");
        booked
    }

    /// Requires that the next mails are reminders to exactly these guests.
    async fn reminded(&mut self, guests: &[&str]) -> Vec<Mail> {
        let mails = self.mails(guests.len()).await;
        assert_eq!(recipients(&mails), guests, "{mails:#?}");
        for mail in &mails {
            assert!(mail.subject.starts_with("Reminder: "), "{mail:#?}");
            assert_eq!(mail.invitation, "", "a reminder has no calendar part: {mail:#?}");
        }
        mails
    }

    /// Moves the clock to a minute after the time of a reminder. Exactly these guests must be reminded.
    async fn reminds(&mut self, start: &str, minutes: i64, guests: &[&str]) -> Vec<Mail> {
        self.until(&shifted(start, 1 - minutes)).await;
        self.reminded(guests).await
    }

    /// Moves the clock to a minute after this time. Nobody may be reminded, except a guest who books now and whose
    /// reminder is due at the same time.
    async fn silent_at(&mut self, time: &str) {
        let page = self.page(json!({})).await;
        let start = self.slots(&page).await.pop().unwrap();
        let minutes = (at(&start) - at(time)).num_minutes();
        self.patch(&page, json!({ "guest_reminders": [minutes] })).await;
        self.made(&page, &start, ZOE).await;
        self.reminds(&start, minutes, &[ZOE]).await;
    }

    /// Changes the event of a booking as its owner.
    async fn change(&self, booked: &Booked, change: Value) -> Value {
        self.api.patch(format!("/v1/events/{}", booked.event)).json(change).await.expect(200).json
    }

    /// Moves the event of a booking as its owner.
    async fn owner_moves(&self, booked: &Booked, start: &str) {
        self.change(booked, json!({ "start_time": start, "end_time": end(start) })).await;
    }
}

/// The time of a slot on a clock that is this many minutes ahead of UTC.
fn clock(start: &str, ahead: i64) -> String {
    shifted(start, ahead)[11..16].to_owned()
}

#[apply(on_both)]
#[tokio::test]
async fn reminders_are_merged_sorted_replaced_and_cleared(#[case] database: Database) {
    let desk = Desk::new(database).await;
    assert_eq!(desk.create(json!({})).await.expect(201)["guest_reminders"], json!([]));
    let made = desk.create(json!({ "guest_reminders": [60, 1_440, 10] })).await;
    let page = Open::of(&made);
    let listed = desk.api.get(PAGES).await.expect(200).data();
    let titled = desk.patch(&page, json!({ "title": "Outro" })).await;
    let read = desk.read(&page).await;
    for shown in [&made.json, &listed[1], &titled.json, &read.json] {
        assert_eq!(shown["guest_reminders"], json!([1_440, 60, 10]), "{shown:#}");
    }
    let null = desk.api.patch(&page.path).json(json!({ "guest_reminders": null })).await;
    null.refused(400, "validation_error").param("guest_reminders");
    desk.unchanged(&page, &read).await;

    // Duplicates are merged.
    for (given, kept) in [
        (json!([1, 40_320, 1]), json!([40_320, 1])),
        (json!([10, 60, 10]), json!([60, 10])),
        (json!([5, 5, 5]), json!([5])),
        (json!([]), json!([])),
        (json!([]), json!([])),
    ] {
        let fields = json!({ "guest_reminders": given });
        assert_eq!(desk.patch(&page, fields.clone()).await["guest_reminders"], kept);
        assert_eq!(desk.read(&page).await["guest_reminders"], kept);
        let made = desk.create(fields).await.expect(201);
        assert_eq!(made["guest_reminders"], kept);
        desk.api.delete(format!("{PAGES}/{}", made.id())).await.expect(204);
    }
}

#[apply(on_both)]
#[tokio::test]
async fn bad_reminders_are_refused_by_their_place(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({ "guest_reminders": [60] })).await;
    let before = desk.read(&page).await;
    for (value, param) in [
        (json!([0]), "guest_reminders[0]"),
        (json!([-1]), "guest_reminders[0]"),
        (json!([40_321]), "guest_reminders[0]"),
        (json!([60, 40_321]), "guest_reminders[1]"),
        (json!([60, 10, 0]), "guest_reminders[2]"),
        (json!([60, 60, 0]), "guest_reminders[2]"),
        (json!([60, i64::MAX]), "guest_reminders[1]"),
        (json!([1, 2, 3, 4]), "guest_reminders"),
        (json!([1, 2, 2, 3, 4]), "guest_reminders"),
    ] {
        let fields = json!({ "guest_reminders": value });
        desk.create(fields.clone()).await.refused(400, "validation_error").param(param);
        desk.api.patch(&page.path).json(fields).await.refused(400, "validation_error").param(param);
    }
    // What is not a list of whole numbers.
    for value in [json!(60), json!("60"), json!({}), json!([1.5]), json!(["60"]), json!([null]), json!([[60]])] {
        let fields = json!({ "guest_reminders": value });
        for answer in [desk.create(fields.clone()).await, desk.api.patch(&page.path).json(fields).await] {
            let answer = answer.refused(400, "validation_error");
            let param = text(&answer.at("/error/param"));
            assert!(param.starts_with("guest_reminders"), "{value}: {}", answer.describe());
        }
    }
    desk.unchanged(&page, &before).await;
    assert_eq!(desk.api.get(PAGES).await.expect(200)["total"], 1);
}

#[apply(on_both)]
#[tokio::test]
async fn a_booking_keeps_the_reminders_that_its_page_had(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.page(json!({ "guest_reminders": [60] })).await;
    let slots = desk.slots(&page).await;
    desk.made(&page, &slots[8], EMAIL).await;
    desk.patch(&page, json!({ "guest_reminders": [] })).await;
    desk.made(&page, &slots[9], CY).await;
    desk.patch(&page, json!({ "guest_reminders": [120] })).await;
    desk.made(&page, &slots[10], DOT).await;
    // Nobody is reminded two hours before the first two bookings.
    desk.reminds(&slots[8], 60, &[EMAIL]).await;
    desk.reminds(&slots[10], 120, &[DOT]).await;
    desk.silent_at(&shifted(&slots[10], -60)).await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_reminder_says_what_when_where_and_how_to_change_it(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let title = "Tea and a talk";
    let fields = json!({
        "title": title, "host_name": HOST, "location": PLACE, "conference_url": CALL, "timezone": "Asia/Tokyo",
        "guest_reminders": [90]
    });
    let page = desk.page(fields).await;
    let slots = desk.slots(&page).await;
    let details = json!({ "timezone": "Asia/Kathmandu", "notes": "I bring the engine." });
    let ada = desk.book(&page, &slots[8], details).await;
    let confirmation = desk.mails(1).await.remove(0);
    let cy = desk.made(&page, &slots[9], CY).await;
    let plain = desk.page(json!({ "guest_reminders": [90] })).await;
    let dot = desk.made(&plain, &slots[10], DOT).await;
    // What the host adds to the event is not for the guest.
    desk.change(&dot, json!({ "description": "a weak candidate", "location": "backstage" })).await;

    let to_ada = desk.reminds(&slots[8], 90, &[EMAIL]).await.remove(0);
    let to_cy = desk.reminds(&slots[9], 90, &[CY]).await.remove(0);
    let to_dot = desk.reminds(&slots[10], 90, &[DOT]).await.remove(0);
    for mail in [&to_ada, &to_cy] {
        assert!(mail.subject.starts_with(&format!("Reminder: {title}")), "{mail:#?}");
        for part in [title, HOST, PLACE, CALL] {
            assert!(mail.text.contains(part), "{part}: {mail:#?}");
        }
    }
    // Ada's clocks are those of Kathmandu. Cy named no zone, so the page's zone counts.
    let (own, of_page) = (clock(&slots[8], 345), clock(&slots[8], 540));
    assert!(to_ada.text.contains(&own) && !to_ada.text.contains(&of_page), "{own}, not {of_page}: {to_ada:#?}");
    assert!(to_cy.text.contains(&clock(&slots[9], 540)), "{to_cy:#?}");
    for part in [NAME, "engine"] {
        assert!(!to_ada.text.contains(part), "no mail to a guest has the guest's words: {part}: {to_ada:#?}");
    }

    assert!(to_dot.subject.starts_with("Reminder: Intro"), "{to_dot:#?}");
    assert!(to_dot.text.contains("Intro") && to_dot.text.contains(&clock(&slots[10], 0)), "{to_dot:#?}");
    for part in [HOST, PLACE, CALL, "weak", "backstage", "null"] {
        assert!(!to_dot.text.contains(part), "{part}: {to_dot:#?}");
    }

    // The links are those of the confirmation, and they work.
    for (mail, booked) in [(&confirmation, &ada), (&to_ada, &ada), (&to_cy, &cy), (&to_dot, &dot)] {
        for path in [&booked.cancel, &booked.reschedule] {
            assert!(mail.text.contains(path), "{path}: {mail:#?}");
        }
    }
    desk.move_to(&dot, &slots[20]).await.expect(200);
    desk.guest.post(&dot.cancel).await.expect(200);
}

#[apply(on_both)]
#[tokio::test]
async fn a_reminder_that_is_past_at_booking_is_not_sent(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.page(json!({ "guest_reminders": [1_440, 60] })).await;
    let early = desk.page(json!({ "guest_reminders": [1_440] })).await;
    let slots = desk.slots(&page).await;
    // The confirmations are sent as usual.
    desk.made(&page, &slots[8], EMAIL).await;
    desk.made(&early, &slots[9], CY).await;
    desk.made(&page, &slots[40], DOT).await;
    desk.reminds(&slots[8], 60, &[EMAIL]).await;
    desk.reminds(&slots[40], 1_440, &[DOT]).await;
    desk.reminds(&slots[40], 60, &[DOT]).await;
    desk.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_reminder_follows_a_guest_who_moves_a_booking(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.page(json!({ "guest_reminders": [60] })).await;
    let slots = desk.slots(&page).await;
    let ada = desk.made(&page, &slots[8], EMAIL).await;
    let dot = desk.made(&page, &slots[20], DOT).await;
    for (booked, start, email) in [(&ada, &slots[12], EMAIL), (&dot, &slots[10], DOT)] {
        desk.move_to(booked, start).await.expect(200);
        assert_eq!(recipients(&desk.mails(1).await), [email]);
    }
    // Another guest takes the time that Ada has left.
    desk.made(&page, &slots[8], CY).await;
    desk.reminds(&slots[8], 60, &[CY]).await;
    desk.reminds(&slots[10], 60, &[DOT]).await;
    let mail = desk.reminds(&slots[12], 60, &[EMAIL]).await.remove(0);
    for part in [&clock(&slots[12], 0), &ada.cancel, &ada.reschedule] {
        assert!(mail.text.contains(part), "{part}: {mail:#?}");
    }
    desk.silent_at(&shifted(&slots[20], -60)).await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_reminder_follows_an_event_that_the_owner_moves(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.page(json!({ "guest_reminders": [60] })).await;
    let slots = desk.slots(&page).await;
    let ada = desk.made(&page, &slots[8], EMAIL).await;
    let dot = desk.made(&page, &slots[20], DOT).await;
    desk.owner_moves(&ada, &slots[12]).await;
    desk.owner_moves(&dot, &slots[10]).await;
    // Another guest takes the time that Ada had.
    desk.made(&page, &slots[8], CY).await;
    desk.reminds(&slots[8], 60, &[CY]).await;
    desk.reminds(&slots[10], 60, &[DOT]).await;
    let mail = desk.reminds(&slots[12], 60, &[EMAIL]).await.remove(0);
    assert!(mail.text.contains(&clock(&slots[12], 0)), "{mail:#?}");
    desk.silent_at(&shifted(&slots[20], -60)).await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_cancelled_booking_gets_no_more_reminders(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.page(json!({ "duration_minutes": 10, "guest_reminders": [180, 60] })).await;
    // All of their reminders are due within an hour.
    let slots = desk.slots(&page).await.split_off(60);
    let guests = ["a@guest.example", "b@guest.example", "c@guest.example", "d@guest.example", "e@guest.example"];
    let mut booked = Vec::new();
    for (start, email) in slots.iter().zip(guests) {
        booked.push(desk.made(&page, start, email).await);
    }
    // This one is cancelled before any reminder.
    let early = desk.made(&page, &slots[5], "f@guest.example").await;
    desk.api.delete(format!("/v1/events/{}", early.event)).await.expect(204);
    desk.reminds(&slots[5], 180, &guests).await;

    desk.guest.post(&booked[0].cancel).await.expect(200);
    desk.cancel(&page, &booked[1]).await.expect(200);
    desk.api.delete(format!("/v1/events/{}", booked[2].event)).await.expect(204);
    desk.change(&booked[3], json!({ "status": "cancelled" })).await;
    assert_eq!(recipients(&desk.mails(2).await), guests[..2]);
    desk.reminds(&slots[5], 60, &guests[4..]).await;
    desk.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn reminders_go_once_and_to_the_guest_alone(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.page(json!({ "notify_emails": [OWN], "guest_reminders": [120, 60] })).await;
    let slots = desk.slots(&page).await;
    desk.book(&page, &slots[8], json!({})).await;
    assert_eq!(recipients(&desk.mails(2).await), [EMAIL, OWN]);
    // The service restarts before and after each reminder.
    for minutes in [120, 60] {
        desk.until(&shifted(&slots[8], -minutes - 5)).await;
        desk.reminds(&slots[8], minutes, &[EMAIL]).await;
        for late in [5, 30] {
            desk.silent_at(&shifted(&slots[8], late - minutes)).await;
        }
    }
    desk.silent_at(&shifted(&slots[8], 5)).await;
    desk.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn reminders_that_fell_due_together_are_one_mail(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.page(json!({ "guest_reminders": [100, 80, 60] })).await;
    let slots = desk.slots(&page).await;
    desk.made(&page, &slots[8], EMAIL).await;
    desk.made(&page, &slots[20], CY).await;
    // The service was down at all three times.
    desk.reminds(&slots[8], 60, &[EMAIL]).await;
    desk.nothing_more().await;
    // The service was down at two of them.
    desk.reminds(&slots[20], 80, &[CY]).await;
    desk.reminds(&slots[20], 60, &[CY]).await;
    desk.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_reminder_that_is_too_late_is_not_sent(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.page(json!({ "guest_reminders": [120] })).await;
    let short = desk.page(json!({ "guest_reminders": [10] })).await;
    let slots = desk.slots(&page).await;
    desk.made(&page, &slots[8], EMAIL).await;
    desk.made(&page, &slots[9], CY).await;
    desk.made(&page, &slots[20], DOT).await;
    desk.made(&short, &slots[30], EMAIL).await;
    desk.made(&page, &slots[32], CY).await;
    // Ada's reminder is 65 minutes late, and Cy's 5.
    desk.until(&shifted(&slots[9], 5 - 120)).await;
    desk.reminded(&[CY]).await;
    // Within an hour it is still sent.
    desk.until(&shifted(&slots[20], 55 - 120)).await;
    desk.reminded(&[DOT]).await;
    // Ada's reminder is 15 minutes late, but her booking has begun.
    desk.until(&shifted(&slots[30], 5)).await;
    desk.reminded(&[CY]).await;
    desk.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_team_sends_one_reminder_for_each_time(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let second = shared_calendar(&desk.api, "UTC").await;
    let team = json!({ "calendars": [second], "assignment": "collective", "guest_reminders": [180, 60] });
    let page = desk.page(team).await;
    let slots = desk.slots(&page).await;
    desk.made(&page, &slots[8], EMAIL).await;
    let others = desk.api.get(format!("/v1/calendars/{second}/events")).await.expect(200).column("id");
    assert_eq!(others.len(), 1, "each calendar has an event: {others:?}");
    let cy = desk.made(&page, &slots[20], CY).await;
    desk.move_to(&cy, &slots[24]).await.expect(200);
    assert_eq!(recipients(&desk.mails(1).await), [CY]);
    desk.reminds(&slots[8], 180, &[EMAIL]).await;
    // The booking follows the event on `calendar_id`, so it still takes place.
    desk.api.delete(format!("/v1/events/{}", others[0])).await.expect(204);
    desk.reminds(&slots[8], 60, &[EMAIL]).await;
    desk.silent_at(&shifted(&slots[20], -60)).await;
    desk.reminds(&slots[24], 180, &[CY]).await;
    desk.guest.post(&cy.cancel).await.expect(200);
    assert_eq!(recipients(&desk.mails(1).await), [CY]);
    desk.silent_at(&shifted(&slots[24], -60)).await;
}

#[apply(on_both)]
#[tokio::test]
async fn the_event_neither_shows_nor_stops_reminders(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.page(json!({ "guest_reminders": [180, 120, 60] })).await;
    let slots = desk.slots(&page).await;
    let ada = desk.made(&page, &slots[8], EMAIL).await;
    let event = desk.api.get(format!("/v1/events/{}", ada.event)).await.expect(200);
    assert_eq!(event["reminders"], Value::Null, "{}", event.describe());
    for name in ["guest_reminders", "guestReminders"] {
        assert!(!event.text().contains(name), "{}", event.describe());
    }
    has_exactly(&event["metadata"]["booking"], &["name", "email", "notes", "booking_page_id"]);

    let change = json!({ "title": "Board", "description": "a weak candidate", "reminders": [15] });
    assert_eq!(desk.change(&ada, change).await["reminders"], json!([15]));
    // The guest still reads the title of the page.
    let mail = desk.reminds(&slots[8], 180, &[EMAIL]).await.remove(0);
    assert!(mail.subject.starts_with("Reminder: Intro") && mail.text.contains("Intro"), "{mail:#?}");
    for part in ["Board", "weak"] {
        assert!(!mail.text.contains(part) && !mail.subject.contains(part), "{part}: {mail:#?}");
    }
    for (minutes, reminders) in [(120, json!([])), (60, Value::Null)] {
        assert_eq!(desk.change(&ada, json!({ "reminders": reminders })).await["reminders"], reminders);
        desk.reminds(&slots[8], minutes, &[EMAIL]).await;
    }
    assert_eq!(desk.read(&page).await["guest_reminders"], json!([180, 120, 60]));
    desk.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn reminders_do_not_count_toward_the_limit_of_the_organization(#[case] database: Database) {
    let mut desk = Desk::with(database, &[("KALENDS_MAIL_LIMITS", "org=1,recipient=off")]).await;
    let page = desk.page(json!({ "guest_reminders": [180, 175] })).await;
    let slots = desk.slots(&page).await;
    desk.made(&page, &slots[8], EMAIL).await;
    let over = booking(&slots[22], json!({ "email": DOT }));
    desk.guest.post(&page.book).json(over.clone()).await.refused(429, "quota_exceeded").code("mail_limit");
    // The reminder leaves the limit as it is.
    desk.reminds(&slots[8], 180, &[EMAIL]).await;
    desk.made(&page, &slots[20], CY).await;
    desk.guest.post(&page.book).json(over).await.refused(429, "quota_exceeded").code("mail_limit");
    // No limit stops the next one.
    desk.reminds(&slots[8], 175, &[EMAIL]).await;
}
