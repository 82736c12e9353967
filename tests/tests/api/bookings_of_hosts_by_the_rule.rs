//! The bookings of a page, as its host sees them, and their cancellation by the host. Written without knowledge of the
//! code.

use crate::on_both;
use std::collections::BTreeSet;

use chrono::{FixedOffset, TimeDelta};
use futures::future::join_all;
use kalends_e2e::{Answer, Database, Mail, at, iso};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    claims::text,
    desk::{Booked, Desk, EMAIL, LAST, NAME, Open, end, html, squeezed, value},
    fixtures::{agent, agent_with_calendar, event, has_exactly, is_id, is_time, shared_calendar, time},
    webhooks::{hook, with_receiver},
};

/// More than an hour, in seconds.
const LATER: i64 = 4_000;
/// The fields of a booking.
const FIELDS: [&str; 14] = [
    "id",
    "event_id",
    "booking_page_id",
    "calendar_id",
    "status",
    "start_time",
    "end_time",
    "name",
    "email",
    "notes",
    "answers",
    "created_at",
    "cancelled_at",
    "cancelled_by",
];

/// The parameters of a list.
type Query<'a> = &'a [(&'a str, &'a str)];

impl Desk {
    /// The agent that has the calendar.
    async fn agent(&self) -> String {
        text(&self.api.get(format!("/v1/calendars/{}", self.calendar)).await.expect(200)["agentId"])
    }

    /// The list of the page's bookings.
    async fn list(&self, page: &Open, query: Query<'_>) -> Answer {
        self.api.get(bookings(page)).query(query).await.expect(200)
    }

    /// The identifier of a booking, `bkg_…`.
    async fn id(&self, page: &Open, booked: &Booked) -> String {
        text(&self.listed(page, booked).await["id"])
    }

    /// Cancels a booking as its host, with this body.
    async fn cancel_with(&self, id: &str, body: Value) -> Answer {
        self.api.post(cancel(id)).json(body).await
    }

    /// Requires that `count` mails were sent and no more. Another guest books, and that must be the next mail.
    async fn mailed_only(&self, count: usize) {
        self.server.wait_for_mails(count).await;
        let page = self.page(json!({})).await;
        let start = self.slots(&page).await.pop().unwrap();
        self.book(&page, &start, json!({ "email": LAST })).await;
        let mails = self.server.wait_for_mails(count + 1).await;
        assert_eq!((mails.len(), mails[count].to.as_str()), (count + 1, LAST), "{mails:#?}");
    }
}

/// The path of the list of a page's bookings.
fn bookings(page: &Open) -> String {
    format!("{}/bookings", page.path)
}

/// The path at which a host cancels a booking.
fn cancel(id: &str) -> String {
    format!("/v1/bookings/{id}/cancel")
}

/// Requires a complete booking that takes place.
#[track_caller]
fn is_confirmed(booking: &Value) {
    has_exactly(booking, &FIELDS);
    is_time(&booking["created_at"]);
    let shown = (&booking["status"], &booking["cancelled_at"], &booking["cancelled_by"]);
    assert_eq!(shown, (&json!("confirmed"), &Value::Null, &Value::Null), "{booking:#}");
}

/// Requires a complete booking that was cancelled by the `guest` or the `host`.
#[track_caller]
fn is_cancelled(booking: &Value, by: &str) {
    has_exactly(booking, &FIELDS);
    assert_eq!((&booking["status"], &booking["cancelled_by"]), (&json!("cancelled"), &json!(by)), "{booking:#}");
    assert!(time(&booking["cancelled_at"]) >= time(&booking["created_at"]), "{booking:#}");
}

#[track_caller]
fn sequence(mail: &Mail) -> i64 {
    value(mail, "SEQUENCE").parse().unwrap()
}

/// Requires a mail to this guest which says that the host has cancelled the event.
#[track_caller]
fn calls_off(mail: &Mail, to: &str, event: &str) {
    assert_eq!((mail.to.as_str(), value(mail, "METHOD").as_str()), (to, "CANCEL"), "{mail:#?}");
    assert_eq!(value(mail, "UID"), format!("{event}@kalends"), "{mail:#?}");
    let words = mail.subject.split_whitespace().chain(mail.text.split_whitespace());
    let prose = words.filter(|word| !word.contains("://")).collect::<Vec<_>>().join(" ").to_lowercase();
    assert!(prose.contains("host") && prose.contains("cancel"), "{mail:#?}");
}

#[apply(on_both)]
#[tokio::test]
async fn bookings_are_listed_by_the_start_of_their_events(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let asked = json!([{ "id": "team", "label": "Which team?", "type": "text" }]);
    let page = desk.page(json!({ "questions": asked })).await;
    let empty = desk.list(&page, &[]).await;
    assert_eq!(empty.json, json!({ "data": [], "total": 0, "limit": 50, "offset": 0 }));
    let slots = desk.slots(&page).await;
    let details = json!({ "email": "Ada@Example.com", "notes": "I bring the engine.", "answers": { "team": "Sales" } });
    let full = desk.book(&page, &slots[9], details).await;
    let late = desk.book(&page, &slots[20], json!({})).await;
    let early = desk.book(&page, &slots[3], json!({})).await;
    // The same guest's booking on another page of the calendar is not in the list.
    let other = desk.page(json!({})).await;
    let elsewhere = desk.book(&other, &slots[5], json!({})).await;

    let listed = desk.list(&page, &[]).await;
    has_exactly(&listed.json, &["data", "total", "limit", "offset"]);
    assert_eq!((&listed["total"], &listed["limit"], &listed["offset"]), (&json!(3), &json!(50), &json!(0)));
    assert_eq!(listed.column("event_id"), [early.event.as_str(), &full.event, &late.event]);
    let data = listed.data();
    data.iter().for_each(is_confirmed);
    data.iter().for_each(|booking| is_id(&booking["id"], "bkg_"));
    assert_eq!(listed.column("id").into_iter().collect::<BTreeSet<_>>().len(), 3, "each has its own identifier");
    let expected = |place: usize, start: &str, event: &str, notes: Value, answers: Value| {
        json!({
            "id": data[place]["id"], "event_id": event, "booking_page_id": page.id, "calendar_id": desk.calendar,
            "status": "confirmed", "start_time": start, "end_time": end(start), "name": NAME, "email": EMAIL,
            "notes": notes, "answers": answers, "created_at": data[place]["created_at"], "cancelled_at": null,
            "cancelled_by": null
        })
    };
    let notes = json!("I bring the engine.");
    assert_eq!(data[1], expected(1, &slots[9], &full.event, notes, json!({ "team": "Sales" })));
    assert_eq!(data[0], expected(0, &slots[3], &early.event, Value::Null, json!({})));
    assert_eq!(data[2], expected(2, &slots[20], &late.event, Value::Null, json!({})));
    // The first booking was made first.
    assert!(time(&data[1]["created_at"]) <= time(&data[2]["created_at"]), "{data:#?}");
    assert!(time(&data[2]["created_at"]) <= time(&data[0]["created_at"]), "{data:#?}");
    let listed = desk.list(&other, &[]).await;
    assert_eq!((listed.column("event_id"), &listed["total"]), (vec![elsewhere.event], &json!(1)));
}

#[apply(on_both)]
#[tokio::test]
async fn the_list_is_filtered_and_cut(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({})).await;
    let slots = desk.slots(&page).await;
    let mut made = Vec::new();
    for slot in [3, 9, 15, 20] {
        made.push(desk.book(&page, &slots[slot], json!({})).await);
    }
    desk.guest.post(&made[1].cancel).await.expect(200);
    desk.cancel_with(&desk.id(&page, &made[3]).await, json!({})).await.expect(200);
    let (exact, next) = (slots[9].as_str(), iso(at(&slots[9]) + TimeDelta::seconds(1)));
    let abroad = at(exact).with_timezone(&FixedOffset::east_opt(7_200).unwrap()).to_rfc3339();
    let last = slots[20].as_str();
    let queries: [(Query<'_>, &[usize], usize); 13] = [
        (&[], &[0, 1, 2, 3], 4),
        (&[("status", "confirmed")], &[0, 2], 2),
        (&[("status", "cancelled")], &[1, 3], 2),
        (&[("start_after", exact)], &[1, 2, 3], 3),
        (&[("start_after", &abroad)], &[1, 2, 3], 3),
        (&[("start_after", &next)], &[2, 3], 2),
        (&[("start_before", exact)], &[0], 1),
        (&[("start_before", &next)], &[0, 1], 2),
        (&[("start_after", exact), ("start_before", exact)], &[], 0),
        (&[("start_after", exact), ("start_before", last), ("status", "confirmed")], &[2], 1),
        (&[("limit", "2"), ("offset", "1")], &[1, 2], 4),
        (&[("limit", "1"), ("offset", "1"), ("status", "cancelled")], &[3], 2),
        (&[("limit", "200"), ("offset", "4")], &[], 4),
    ];
    for (query, expected, total) in queries {
        let listed = desk.list(&page, query).await;
        let expected: Vec<String> = expected.iter().map(|index| made[*index].event.clone()).collect();
        assert_eq!((listed.column("event_id"), &listed["total"]), (expected, &json!(total)), "{query:?}");
    }
    let cut = desk.list(&page, &[("limit", "2"), ("offset", "1")]).await;
    assert_eq!((&cut["limit"], &cut["offset"]), (&json!(2), &json!(1)));

    let refused = async |name: &str, value: &str| {
        let answer = desk.api.get(bookings(&page)).query(&[(name, value)]).await;
        answer.refused(400, "validation_error").param(name)
    };
    for status in ["tentative", "hold", "done", "Confirmed", "confirmed,cancelled"] {
        refused("status", status).await;
    }
    for name in ["start_after", "start_before"] {
        refused(name, "soon").await;
        refused(name, "2031-05-04T09:00:00").await.code("invalid_time_format");
    }
    for (name, value) in [("limit", "0"), ("limit", "201"), ("limit", "x"), ("offset", "-1")] {
        refused(name, value).await;
    }
    refused("zzz", "1").await.code("unknown_field");
    refused("start_befor", exact).await.code("unknown_field").mentions("start_before");
}

#[apply(on_both)]
#[tokio::test]
async fn a_booking_follows_its_event(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({})).await;
    let slots = desk.slots(&page).await;
    let by_guest = desk.book(&page, &slots[3], json!({})).await;
    let deleted = desk.book(&page, &slots[9], json!({})).await;
    let by_host = desk.book(&page, &slots[15], json!({})).await;
    let patched = desk.book(&page, &slots[20], json!({})).await;
    let ids: BTreeSet<String> = desk.list(&page, &[]).await.column("id").into_iter().collect();
    let path = |booked: &Booked| format!("/v1/events/{}", booked.event);

    desk.guest.post(&by_guest.reschedule).json(json!({ "start": slots[30] })).await.expect(200);
    desk.api.patch(path(&by_host)).json(json!({ "start_time": slots[40] })).await.expect(200);
    let in_order = async || {
        let listed = desk.list(&page, &[]).await;
        let events = [&deleted, &patched, &by_guest, &by_host].map(|booked| booked.event.as_str());
        assert_eq!(listed.column("event_id"), events);
        let starts = [9, 20, 30, 40].map(|slot| slots[slot].clone());
        assert_eq!(listed.column("start_time"), starts);
        assert_eq!(listed.column("end_time"), starts.map(|start| end(&start)));
        assert_eq!(listed.column("id").into_iter().collect::<BTreeSet<_>>(), ids);
        listed.data()
    };
    in_order().await.iter().for_each(is_confirmed);
    let listed = desk.list(&page, &[("start_after", &slots[30]), ("start_before", &slots[40])]).await;
    assert_eq!(listed.column("event_id"), [by_guest.event.as_str()], "the filters use the new times");

    // On another calendar, it is still the page's booking.
    let other = shared_calendar(&desk.api, "UTC").await;
    let to = json!({ "calendar_id": other });
    desk.api.post(format!("{}/move", path(&by_host))).json(to).await.expect(200);
    assert_eq!(desk.listed(&page, &by_host).await["calendar_id"], other);

    desk.guest.post(&by_guest.cancel).await.expect(200);
    desk.api.delete(path(&deleted)).await.expect(204);
    desk.api.patch(path(&patched)).json(json!({ "status": "cancelled" })).await.expect(200);
    // All keep their times.
    let data = in_order().await;
    is_cancelled(&data[0], "host");
    is_cancelled(&data[1], "host");
    is_cancelled(&data[2], "guest");
    is_confirmed(&data[3]);
    let left = desk.list(&page, &[("status", "confirmed")]).await;
    assert_eq!((left.column("event_id"), &left["total"]), (vec![by_host.event], &json!(1)));
    let gone = desk.list(&page, &[("status", "cancelled")]).await;
    assert_eq!((gone.data(), &gone["total"]), (data[..3].to_vec(), &json!(3)));
}

#[apply(on_both)]
#[tokio::test]
async fn a_host_cancels_a_booking(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({})).await;
    let slots = desk.slots(&page).await;
    let kept = desk.book(&page, &slots[3], json!({})).await;
    let reason = json!({ "reason": "I am ill." });
    for (slot, body) in [(5, None), (9, Some(json!({}))), (12, Some(reason.clone()))] {
        let booked = desk.book(&page, &slots[slot], json!({})).await;
        let mut expected = desk.listed(&page, &booked).await;
        is_confirmed(&expected);
        let id = text(&expected["id"]);
        let call = desk.api.post(cancel(&id));
        let call = match body {
            Some(body) => call.json(body),
            None => call,
        };
        let answer = call.await.expect(200);
        is_cancelled(&answer.json, "host");
        for field in ["status", "cancelled_at", "cancelled_by"] {
            expected[field] = answer[field].clone();
        }
        assert_eq!(answer.json, expected, "nothing else changes");
        assert_eq!(desk.listed(&page, &booked).await, expected);
        desk.event_of(&booked.event).await.refused(404, "not_found");
        assert!(desk.slots(&page).await.contains(&slots[slot]), "its time is offered again");

        // The time belongs to somebody else now. A repetition does not change that.
        let next = desk.book(&page, &slots[slot], json!({})).await;
        for body in [json!({}), reason.clone()] {
            assert_eq!(desk.cancel_with(&id, body).await.expect(200).json, expected);
        }
        assert_eq!(desk.listed(&page, &booked).await, expected);
        is_confirmed(&desk.listed(&page, &next).await);
        assert_eq!(desk.event_of(&next.event).await.expect(200)["status"], "confirmed");
        assert!(!desk.slots(&page).await.contains(&slots[slot]));
    }
    is_confirmed(&desk.listed(&page, &kept).await);
    assert_eq!(desk.list(&page, &[]).await["total"], 7, "cancelled bookings stay in the list");
}

#[apply(on_both)]
#[tokio::test]
async fn a_cancelled_booking_stays_as_it_is(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({})).await;
    let slots = desk.slots(&page).await;
    let by_guest = desk.book(&page, &slots[5], json!({})).await;
    let by_host = desk.book(&page, &slots[9], json!({})).await;
    let deleted = desk.book(&page, &slots[12], json!({})).await;
    for booked in [&by_guest, &by_host] {
        let asked = desk.see(&booked.cancel).await.with(200).text;
        assert!(asked.contains("Cancel this booking?") && !asked.contains("already cancelled"), "{asked}");
    }
    desk.guest.post(&by_guest.cancel).await.expect(200);
    desk.cancel_with(&desk.id(&page, &by_host).await, json!({})).await.expect(200);
    desk.api.delete(format!("/v1/events/{}", deleted.event)).await.expect(204);
    let before = desk.list(&page, &[]).await.json;

    for (booked, by) in [(&by_guest, "guest"), (&by_host, "host")] {
        let booking = desk.listed(&page, booked).await;
        is_cancelled(&booking, by);
        for body in [json!({}), json!({ "reason": "I am ill." })] {
            assert_eq!(desk.cancel_with(&text(&booking["id"]), body).await.expect(200).json, booking);
        }
        // Its guest sees that too, and can do no more.
        let views = [booked.cancel.strip_suffix("/cancel").unwrap(), booked.reschedule.strip_suffix("/move").unwrap()];
        for path in views {
            let seen = desk.guest.get(path).await.expect(200);
            assert_eq!((&seen["status"], &seen["event"]), (&json!("cancelled"), &Value::Null), "{}", seen.describe());
            assert_eq!((seen.json.get("cancel_url"), seen.json.get("reschedule_url")), (None, None));
        }
        assert_eq!(desk.guest.post(&booked.cancel).await.expect(200)["status"], "cancelled");
        let moved = desk.guest.post(&booked.reschedule).json(json!({ "start": slots[20] })).await;
        moved.refused(409, "conflict").code("booking_over");
        let pages = [
            desk.see(&booked.cancel).await,
            desk.submit(&booked.cancel, &[]).await,
            desk.see(&booked.reschedule).await,
        ];
        for seen in pages {
            seen.with(200).has(&["already cancelled"]);
        }
    }
    assert_eq!(desk.list(&page, &[]).await.json, before);
    // Three confirmations, and one mail for each of the two cancellations.
    desk.mailed_only(5).await;
    // A booking whose event the host has deleted is cancelled already.
    let booking = desk.listed(&page, &deleted).await;
    is_cancelled(&booking, "host");
    assert_eq!(desk.cancel_with(&text(&booking["id"]), json!({})).await.expect(200).json, booking);
}

#[apply(on_both)]
#[tokio::test]
async fn the_guest_gets_one_mail_about_the_cancellation(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({})).await;
    let slots = desk.slots(&page).await;
    let booked = desk.book(&page, &slots[5], json!({})).await;
    desk.server.wait_for_mails(1).await;
    desk.guest.post(&booked.reschedule).json(json!({ "start": slots[7] })).await.expect(200);
    desk.server.wait_for_mails(2).await;
    let id = desk.id(&page, &booked).await;
    let reason = json!({ "reason": "My train is late" });
    let first = desk.cancel_with(&id, reason.clone()).await.expect(200);
    let mails = desk.server.wait_for_mails(3).await;
    let mail = &mails[2];
    calls_off(mail, EMAIL, &booked.event);
    assert_eq!(value(mail, "UID"), value(&mails[0], "UID"));
    for earlier in &mails[..2] {
        assert!(sequence(mail) > sequence(earlier), "{mails:#?}");
    }
    assert!(mail.text.contains("My train is late"), "{mail:#?}");
    let address = format!("{}{}", desk.server.base_url(), page.book);
    let links: Vec<&str> = mail.text.split_whitespace().map(|word| word.trim_matches(['<', '>', '.', ','])).collect();
    assert!(links.contains(&address.as_str()), "{address}: {mail:#?}");
    for body in [json!({}), reason] {
        assert_eq!(desk.cancel_with(&id, body).await.expect(200).json, first.json);
    }
    desk.mailed_only(3).await;

    // On a page that is inactive, no other time can be booked.
    let quiet = desk.page(json!({})).await;
    let booked = desk.book(&quiet, &slots[20], json!({})).await;
    desk.server.wait_for_mails(5).await;
    desk.api.patch(&quiet.path).json(json!({ "active": false })).await.expect(200);
    desk.cancel_with(&desk.id(&quiet, &booked).await, json!({})).await.expect(200);
    let mails = desk.server.wait_for_mails(6).await;
    calls_off(&mails[5], EMAIL, &booked.event);
    assert!(sequence(&mails[5]) > sequence(&mails[4]), "{mails:#?}");
    assert!(!mails[5].text.contains("/book/"), "{:#?}", mails[5]);
    assert!(!mails[5].text.contains("My train is late"), "{:#?}", mails[5]);
    desk.mailed_only(6).await;
}

#[apply(on_both)]
#[tokio::test]
async fn the_reason_is_checked_and_no_part_of_it_becomes_a_link(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({})).await;
    let slots = desk.slots(&page).await;
    let (booked, other) = (desk.book(&page, &slots[5], json!({})).await, desk.book(&page, &slots[9], json!({})).await);
    desk.server.wait_for_mails(2).await;
    let before = desk.listed(&page, &booked).await;
    let id = text(&before["id"]);
    for reason in [json!("é".repeat(501)), json!(7), json!(["I am ill."])] {
        let answer = desk.cancel_with(&id, json!({ "reason": reason })).await;
        answer.refused(400, "validation_error").param("reason");
    }
    let answer = desk.cancel_with(&id, json!({ "reason": "I am ill.", "note": "Sorry" })).await;
    answer.refused(400, "validation_error").param("note").code("unknown_field");
    assert_eq!(desk.listed(&page, &booked).await, before);
    assert_eq!(desk.event_of(&booked.event).await.expect(200)["status"], "confirmed");

    let evil = "I am ill <script>alert(1)</script> <a href=\"https://evil.example/a\">now</a> \
                then https://evil.example/b or www.evil.example or eve@evil.example";
    desk.cancel_with(&id, json!({ "reason": evil })).await.expect(200);
    let mails = desk.server.wait_for_mails(3).await;
    let mail = &mails[2];
    calls_off(mail, EMAIL, &booked.event);
    let whole = [mail.subject.as_str(), &mail.text, &mail.invitation].join("\n");
    for part in ["evil.example", "www.", "https://evil", "eve@"] {
        assert!(!whole.contains(part), "{part}: {mail:#?}");
    }
    let base = desk.server.base_url();
    let urls = mail.text.split_whitespace().filter(|word| word.contains("://"));
    let foreign: Vec<&str> = urls.filter(|word| !word.trim_start_matches('<').starts_with(base)).collect();
    assert_eq!(foreign, [""; 0], "{mail:#?}");
    // It is still there to read.
    for part in ["I am ill", "alert(1)", "then https://evil.example/b or www.evil.example or eve@evil.example"] {
        assert!(squeezed(&mail.text).contains(&squeezed(part)), "{part}: {mail:#?}");
    }

    let longest = "é".repeat(500);
    desk.cancel_with(&desk.id(&page, &other).await, json!({ "reason": longest })).await.expect(200);
    let mails = desk.server.wait_for_mails(4).await;
    assert!(squeezed(&mails[3].text).contains(&longest), "{:#?}", mails[3]);
    let html = html(&desk.server).to_lowercase();
    assert!(!html.contains("<script"), "{html}");
    let mut links = html.split("href=\"").skip(1);
    assert!(links.all(|link| link.starts_with(base)), "{html}");
    desk.mailed_only(4).await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_booking_that_has_begun_cannot_be_cancelled_by_its_host(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.page(json!({})).await;
    let slots = desk.slots(&page).await;
    let (begun, ahead) = (desk.book(&page, &slots[0], json!({})).await, desk.book(&page, &slots[9], json!({})).await);
    desk.server.wait_for_mails(2).await;
    let before = desk.listed(&page, &begun).await;
    desk.later(2 * 3_600).await;
    let id = text(&before["id"]);
    for body in [json!({}), json!({ "reason": "I am ill." })] {
        desk.cancel_with(&id, body).await.refused(409, "conflict").code("booking_over");
    }
    desk.api.post(cancel(&id)).await.refused(409, "conflict").code("booking_over");
    assert_eq!(desk.listed(&page, &begun).await, before);
    is_confirmed(&before);
    assert_eq!(desk.event_of(&begun.event).await.expect(200)["status"], "confirmed");

    // One that is still ahead can be cancelled, and only its guest gets a mail.
    let answer = desk.cancel_with(&desk.id(&page, &ahead).await, json!({})).await.expect(200);
    is_cancelled(&answer.json, "host");
    calls_off(&desk.server.wait_for_mails(3).await[2], EMAIL, &ahead.event);
    desk.mailed_only(3).await;

    for unknown in [format!("bkg_{}", "0".repeat(26)), "bkg_nobody".to_owned(), begun.event.clone(), page.id.clone()] {
        for body in [json!({}), json!({ "reason": "I am ill." })] {
            desk.cancel_with(&unknown, body).await.refused(404, "not_found").code("booking_not_found");
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_key_reaches_the_bookings_of_its_own_calendars(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let shared = shared_calendar(&desk.api, "UTC").await;
    let (page, common) = (desk.page(json!({})).await, desk.page(json!({ "calendar_id": shared })).await);
    let slots = desk.slots(&page).await;
    let (booked, of_all) =
        (desk.book(&page, &slots[5], json!({})).await, desk.book(&common, &slots[9], json!({})).await);
    let (id, shared_id) = (desk.id(&page, &booked).await, desk.id(&common, &of_all).await);
    let key = async |agent: &str| {
        let made = desk.api.post("/v1/keys").json(json!({ "agent_id": agent })).await.expect(201);
        desk.server.client(&text(&made["key"]))
    };
    let (own, sibling) = (key(&desk.agent().await).await, key(&agent(&desk.api).await).await);
    let stranger = desk.server.api(&desk.server.org("pro").await);
    for (caller, page, id) in [(&sibling, &page, &id), (&sibling, &common, &shared_id), (&own, &common, &shared_id)] {
        caller.get(bookings(page)).await.refused(403, "forbidden");
        caller.post(cancel(id)).await.refused(403, "forbidden");
    }
    stranger.get(bookings(&page)).await.refused(404, "not_found").code("booking_page_not_found");
    stranger.post(cancel(&id)).await.refused(404, "not_found").code("booking_not_found");
    desk.guest.get(bookings(&page)).await.refused(401, "unauthorized");
    desk.guest.post(cancel(&id)).await.refused(401, "unauthorized");
    is_confirmed(&desk.listed(&page, &booked).await);
    is_confirmed(&desk.listed(&common, &of_all).await);

    assert_eq!(own.get(bookings(&page)).await.expect(200).json, desk.list(&page, &[]).await.json);
    is_cancelled(&own.post(cancel(&id)).await.expect(200).json, "host");
    is_cancelled(&desk.cancel_with(&shared_id, json!({})).await.expect(200).json, "host");

    // The bookings of a deleted page are not listed, but they can still be cancelled.
    let left = desk.book(&page, &slots[12], json!({})).await;
    let before = desk.listed(&page, &left).await;
    let id = text(&before["id"]);
    desk.server.wait_for_mails(5).await;
    desk.api.delete(&page.path).await.expect(204);
    for caller in [&desk.api, &own, &stranger] {
        caller.get(bookings(&page)).await.refused(404, "not_found").code("booking_page_not_found");
    }
    sibling.post(cancel(&id)).await.refused(403, "forbidden");
    stranger.post(cancel(&id)).await.refused(404, "not_found").code("booking_not_found");
    assert_eq!(desk.event_of(&left.event).await.expect(200)["status"], "confirmed");
    let gone = own.post(cancel(&id)).json(json!({ "reason": "I am ill." })).await.expect(200);
    is_cancelled(&gone.json, "host");
    assert_eq!((&gone["booking_page_id"], &gone["start_time"]), (&json!(page.id), &before["start_time"]));
    desk.event_of(&left.event).await.refused(404, "not_found");
    let mails = desk.server.wait_for_mails(6).await;
    calls_off(&mails[5], EMAIL, &left.event);
    assert!(!mails[5].text.contains("/book/"), "the page is gone: {:#?}", mails[5]);
}

#[apply(on_both)]
#[tokio::test]
async fn a_cancellation_is_announced_and_in_the_audit_log(#[case] database: Database) {
    let (server, api, receiver) = with_receiver(database, "pro").await;
    hook(&api, &receiver, "/gone", &["event.deleted"]).await;
    let calendar = agent_with_calendar(&api).await.1;
    let desk = Desk::of(server, api, calendar);
    let page = desk.page(json!({})).await;
    let slots = desk.slots(&page).await;
    let booked = desk.book(&page, &slots[5], json!({})).await;
    let id = desk.id(&page, &booked).await;
    let refused = desk.cancel_with(&id, json!({ "reason": "é".repeat(501) })).await.refused(400, "validation_error");
    let done = desk.cancel_with(&id, json!({ "reason": "I am ill." })).await.expect(200);
    let message = receiver.wait_for("/gone", 1).await.remove(0);
    assert_eq!(message.event_type(), "event.deleted");
    let message = message.json();
    assert_eq!((&message["id"], &message["booking_page_id"]), (&json!(booked.event), &json!(page.id)), "{message:#}");
    let about = (&message["calendarId"], &message["startTime"]);
    assert_eq!(about, (&json!(desk.calendar), &json!(slots[5])), "{message:#}");

    // A repetition is not announced. The next message is about another event.
    desk.cancel_with(&id, json!({})).await.expect(200);
    let other = event(&desk.api, &desk.calendar, &slots[20], &end(&slots[20])).await;
    desk.api.delete(format!("/v1/events/{other}")).await.expect(204);
    let announced: Vec<String> =
        receiver.wait_for("/gone", 2).await.iter().map(|message| text(&message.json()["id"])).collect();
    assert_eq!(announced, [booked.event.as_str(), &other]);

    let log = desk.api.get("/v1/audit-log").query(&[("action", "booking.cancel"), ("limit", "200")]).await.expect(200);
    let entries = log.data();
    let of = |answer: &Answer| {
        let id = answer.header("x-request-id").to_owned();
        entries.iter().filter(|entry| entry["request_id"] == id).collect::<Vec<_>>()
    };
    let found = of(&done);
    assert_eq!((found.len(), of(&refused).len()), (1, 0), "{entries:#?}");
    let entry = found[0];
    let shown = (&entry["action"], &entry["method"], &entry["path"], &entry["status"]);
    let expected = (&json!("booking.cancel"), &json!("POST"), &json!("/v1/bookings/{id}/cancel"), &json!(200));
    assert_eq!(shown, expected, "{entry:#}");
    assert!(entry["actor_key_prefix"].is_string(), "a guest has no key, but the host has one: {entry:#}");
    assert!([&id, &booked.event].contains(&&text(&entry["resource"])), "{entry:#}");
}

#[apply(on_both)]
#[tokio::test]
async fn beyond_the_limit_of_mail_nothing_is_cancelled(#[case] database: Database) {
    let mut desk = Desk::with(database, &[("KALENDS_MAIL_LIMITS", "org=3,recipient=off")]).await;
    let page = desk.page(json!({})).await;
    let slots = desk.slots(&page).await;
    let (first, second) = (desk.book(&page, &slots[9], json!({})).await, desk.book(&page, &slots[12], json!({})).await);
    let (first_id, second_id) = (desk.id(&page, &first).await, desk.id(&page, &second).await);
    let gone = desk.cancel_with(&first_id, json!({})).await.expect(200);
    // Three mails were sent, and no more may be.
    let before = desk.list(&page, &[]).await.json;
    let unchanged = desk.event_of(&second.event).await.expect(200);
    for body in [json!({}), json!({ "reason": "I am ill." })] {
        let refused = desk.cancel_with(&second_id, body).await.refused(429, "quota_exceeded").code("mail_limit");
        let seconds: i64 = refused.header("retry-after").parse().unwrap();
        assert!((1..=3_600).contains(&seconds), "{seconds}");
    }
    assert_eq!(desk.list(&page, &[]).await.json, before);
    is_confirmed(&desk.listed(&page, &second).await);
    let event = desk.event_of(&second.event).await.expect(200);
    assert_eq!((&event.json, event.header("etag")), (&unchanged.json, unchanged.header("etag")));
    let offered = desk.slots(&page).await;
    assert_eq!((offered.contains(&slots[9]), offered.contains(&slots[12])), (true, false));
    // A repetition sends no mail, so it is not refused.
    assert_eq!(desk.cancel_with(&first_id, json!({})).await.expect(200).json, gone.json);

    desk.server.wait_for_mails(3).await;
    desk.later(LATER).await;
    is_cancelled(&desk.cancel_with(&second_id, json!({})).await.expect(200).json, "host");
    let mails = desk.server.wait_for_mails(4).await;
    assert_eq!(mails.len(), 4, "the refused cancellations have sent nothing: {mails:#?}");
    calls_off(&mails[3], EMAIL, &second.event);
    desk.event_of(&second.event).await.refused(404, "not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn only_one_of_many_cancellations_at_once_counts(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({})).await;
    let slots = desk.slots(&page).await;
    let (first, second) = (desk.book(&page, &slots[5], json!({})).await, desk.book(&page, &slots[9], json!({})).await);
    let (first_id, second_id) = (desk.id(&page, &first).await, desk.id(&page, &second).await);
    let hosts = async |id: &str| join_all((0..8).map(|_| desk.cancel_with(id, json!({ "reason": "I am ill." })))).await;
    let answers = hosts(&first_id).await;
    let booking = desk.listed(&page, &first).await;
    is_cancelled(&booking, "host");
    for answer in answers {
        assert_eq!(answer.expect(200).json, booking);
    }
    // Two confirmations and one cancellation.
    desk.mailed_only(3).await;

    // The guest cancels at the same time. One of both was first, and that does not change any more.
    let (answers, by_guest) = tokio::join!(hosts(&second_id), async { desk.guest.post(&second.cancel).await });
    assert_eq!(by_guest.expect(200)["status"], "cancelled");
    let booking = desk.listed(&page, &second).await;
    let by = text(&booking["cancelled_by"]);
    assert!(["guest", "host"].contains(&by.as_str()), "{booking:#}");
    is_cancelled(&booking, &by);
    for answer in answers {
        assert_eq!(answer.expect(200).json, booking);
    }
    desk.mailed_only(5).await;
}
