//! The actions of guests on a booking page.

use crate::on_both;
use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Timelike, Utc};
use kalends_e2e::{
    Answer, Client,
    Database::{self, Postgres},
    Server, at, iso,
};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    fixtures::{agent_with_calendar, event_body, has_exactly, is_id, now, shared_calendar},
    webhooks::{hook, with_receiver},
};

/// An organization with a calendar that guests book on.
struct Desk {
    server: Server,
    api: Client,
    guest: Client,
    calendar: String,
}

/// One of its booking pages.
struct Open {
    id: String,
    book: String,
}

impl Desk {
    async fn new(database: Database) -> Self {
        Self::of(Server::start(database).await, "pro", &[]).await
    }

    async fn of(server: Server, plan: &str, arguments: &[&str]) -> Self {
        let org = server.org_with(plan, arguments).await;
        let (api, guest) = (server.api(&org), server.anonymous());
        let calendar = agent_with_calendar(&api).await.1;
        Self { server, api, guest, calendar }
    }

    /// A page with these fields. The defaults are one-hour slots and a window of a week.
    async fn page(&self, fields: Value) -> Open {
        let mut body = json!({
            "calendar_id": self.calendar, "title": "Intro", "duration_minutes": 60, "window_days": 7
        });
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let made = self.api.post("/v1/booking-pages").json(body).await.expect(201);
        Open { id: made.id(), book: format!("/book/{}", made["slug"].as_str().unwrap()) }
    }

    async fn slots(&self, page: &Open) -> Vec<String> {
        starts(&self.guest.get(format!("{}/slots", page.book)).await.expect(200))
    }

    async fn book(&self, page: &Open, start: &str) -> Answer {
        self.guest.post(&page.book).json(booking(start)).await
    }

    /// The full hour after next on the service's clock.
    async fn soon(&self) -> DateTime<Utc> {
        let now = at(&now(&self.guest).await);
        now.with_minute(0).unwrap().with_second(0).unwrap().with_nanosecond(0).unwrap() + TimeDelta::hours(2)
    }

    async fn event(&self, start: DateTime<Utc>, minutes: i64) -> String {
        let (start, end) = (iso(start), iso(start + TimeDelta::minutes(minutes)));
        let path = format!("/v1/calendars/{}/events", self.calendar);
        self.api.post(path).json(event_body("Busy", &start, &end)).await.expect(201).id()
    }
}

pub(crate) fn booking(start: &str) -> Value {
    json!({ "name": "Ada Lovelace", "email": "Ada@Example.com", "notes": "I bring the engine.", "start": start })
}

pub(crate) fn starts(slots: &Answer) -> Vec<String> {
    slots["slots"].as_array().unwrap().iter().map(|slot| slot["start"].as_str().unwrap().to_owned()).collect()
}

/// The path of one of the service's URLs.
fn path_of(desk: &Desk, url: &Value) -> String {
    url.as_str().unwrap().strip_prefix(desk.server.base_url()).unwrap().to_owned()
}

#[apply(on_both)]
#[tokio::test]
async fn a_slot_is_booked(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({ "description": "Half an hour" })).await;
    let offered = desk.guest.get(format!("{}/slots", page.book)).await.expect(200);
    has_exactly(&offered.json, &["booking_page", "slots"]);
    has_exactly(&offered["booking_page"], &["slug", "title", "description", "duration_minutes", "timezone"]);
    assert_eq!((offered.header("access-control-allow-origin"), offered.header("ratelimit")), ("*", ""));
    let slots = starts(&offered);
    assert!((166..=168).contains(&slots.len()), "a week of hours: {}", slots.len());
    assert_eq!(offered["slots"][0]["end"], iso(at(&slots[0]) + TimeDelta::hours(1)));

    let booked = desk.book(&page, &slots[5]).await.expect(201);
    has_exactly(&booked.json, &["booking_page_id", "event", "cancel_url", "ics_url", "reschedule_url"]);
    has_exactly(&booked["event"], &["id", "title", "start_time", "end_time", "status"]);
    is_id(&booked["event"]["id"], "evt_");
    assert_eq!(booked["booking_page_id"], page.id);
    assert_eq!(
        (&booked["event"]["title"], &booked["event"]["status"]),
        (&json!("Intro: Ada Lovelace"), &json!("confirmed"))
    );
    assert_eq!(booked["event"]["start_time"], slots[5]);

    let event = desk.api.get(format!("/v1/events/{}", booked["event"]["id"].as_str().unwrap())).await.expect(200);
    let guest = json!({ "booking": {
        "name": "Ada Lovelace", "email": "ada@example.com", "notes": "I bring the engine.", "booking_page_id": page.id
    } });
    assert_eq!((&event["metadata"], &event["status"]), (&guest, &json!("confirmed")));
    assert_eq!(event["calendarId"], desk.calendar);
    // The slot is then taken for guests and for everyone else.
    assert!(!desk.slots(&page).await.contains(&slots[5]));
    assert_eq!(desk.slots(&page).await.len() + 1, slots.len());
    assert_eq!(desk.api.get(format!("/v1/booking-pages/{}", page.id)).await.expect(200)["bookings_count"], 1);
    assert_eq!(desk.api.get("/v1/usage").await.expect(200)["events"]["used"], 1);
    assert_eq!(desk.api.get("/v1/usage").await.expect(200)["availability_queries"]["used"], 0);

    let taken = desk.book(&page, &slots[5]).await.refused(409, "conflict").code("slot_taken").param("start");
    let nearest: Vec<_> = taken.at("/error/nearest_free").as_array().unwrap().clone();
    let near: Vec<&str> = nearest.iter().map(|slot| slot["start"].as_str().unwrap()).collect();
    assert_eq!(
        near,
        [slots[4].as_str(), &slots[6], &slots[3]],
        "the nearest first, and the earlier of two equally near"
    );
    assert_eq!(taken.at("/error/conflicts"), Value::Null, "conflicts are not shown to guests");
    // The log has the route but neither the slug nor a token.
    let (log, token) = (desk.server.log(), booked["cancel_url"].as_str().unwrap().rsplit('/').nth(1).unwrap());
    assert!(!log.contains(page.book.trim_start_matches("/book/")) && !log.contains(token));
}

#[apply(on_both)]
#[tokio::test]
async fn only_offered_slots_can_be_booked(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({ "min_notice_minutes": 180 })).await;
    let slots = desk.slots(&page).await;
    let off_grid = iso(at(&slots[3]) + TimeDelta::minutes(1));
    let (past, too_soon, too_far) = (
        iso(at(&slots[0]) - TimeDelta::days(1)),
        iso(at(&slots[0]) - TimeDelta::hours(1)),
        iso(at(&slots[0]) + TimeDelta::days(8)),
    );
    for start in [&off_grid, &past, &too_soon, &too_far] {
        desk.book(&page, start).await.refused(400, "validation_error").param("start");
    }
    for start in ["2031-03-03T09:00:00", "tomorrow", "2031-03-03"] {
        desk.book(&page, start).await.refused(400, "validation_error").param("start").code("invalid_time_format");
    }
    let wrong = [
        ("name", json!("")),
        ("name", json!("x".repeat(201))),
        ("email", json!("ada")),
        ("email", json!("ada@example.com\r\nBcc: eve@example.com")),
        ("email", json!(format!("a@{}example.com", "b.".repeat(160)))),
        ("notes", json!("x".repeat(2_001))),
        ("phone", json!("1")),
    ];
    for (field, value) in wrong {
        let mut body = booking(&slots[0]);
        body[field] = value;
        desk.guest.post(&page.book).json(body).await.refused(400, "validation_error").param(field);
    }
    for field in ["name", "email", "start"] {
        let mut body = booking(&slots[0]);
        body.as_object_mut().unwrap().remove(field);
        desk.guest.post(&page.book).json(body).await.refused(400, "validation_error").param(field);
    }
    desk.guest.post(&page.book).body("{").await.refused(400, "invalid_request");
    assert_eq!(desk.slots(&page).await, slots, "nothing was booked");
    // The longest allowed values are accepted.
    let mut body = booking(&slots[0]);
    (body["name"], body["notes"]) = (json!("\u{1}é".repeat(100)), json!("\u{1}".repeat(2_000)));
    desk.guest.post(&page.book).json(body).await.expect(201);
}

#[apply(on_both)]
#[tokio::test]
async fn busy_times_are_not_offered(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let (plain, buffered) = (
        desk.page(json!({ "duration_minutes": 30 })).await,
        desk.page(json!({ "duration_minutes": 30, "buffer_minutes": 20 })).await,
    );
    let base = desk.soon().await + TimeDelta::hours(24);
    let missing = |slots: &[String]| {
        let near = (-8..24).map(|half| iso(base + TimeDelta::minutes(30 * half)));
        near.filter(|start| !slots.contains(start)).map(|start| (at(&start) - base).num_minutes()).collect::<Vec<_>>()
    };
    assert_eq!(missing(&desk.slots(&plain).await), Vec::<i64>::new());
    let id = desk.event(base, 60).await;
    assert_eq!(missing(&desk.slots(&plain).await), [0, 30]);
    // The page's buffer applies on both sides.
    assert_eq!(missing(&desk.slots(&buffered).await), [-30, 0, 30, 60]);
    // The calendar's own rules apply too. The longer of the two buffers counts, and closed times are not offered.
    let rules = format!("/v1/calendars/{}/availability-rules", desk.calendar);
    desk.api.put(&rules).json(json!({ "buffer_before_minutes": 45, "buffer_after_minutes": 5 })).await.expect(200);
    assert_eq!(missing(&desk.slots(&plain).await), [-60, -30, 0, 30, 60]);
    assert_eq!(missing(&desk.slots(&buffered).await), [-60, -30, 0, 30, 60]);
    desk.api.put(&rules).json(json!({ "working_hours": {} })).await.expect(200);
    assert_eq!(desk.slots(&buffered).await, Vec::<String>::new());
    desk.api.delete(&rules).await.expect(204);
    // Cancelled events block nothing. Holds block until they expire.
    desk.api.patch(format!("/v1/events/{id}")).json(json!({ "status": "cancelled" })).await.expect(200);
    assert_eq!(missing(&desk.slots(&buffered).await), Vec::<i64>::new());
    let mut hold = event_body("Held", &iso(base), &iso(base + TimeDelta::minutes(30)));
    hold["hold_expires_at"] = json!(iso(at(&now(&desk.guest).await) + TimeDelta::minutes(10)));
    let held = desk.api.post(format!("/v1/calendars/{}/events", desk.calendar)).json(hold).await.expect(201).id();
    assert_eq!(missing(&desk.slots(&plain).await), [0]);
    desk.book(&plain, &iso(base)).await.refused(409, "conflict").code("slot_taken");
    desk.api.put(format!("/v1/events/{held}/release")).await.expect(200);
    let mut series = event_body(
        "Daily",
        &iso(base - TimeDelta::days(30)),
        &iso(base - TimeDelta::days(30) + TimeDelta::minutes(30)),
    );
    series["recurrence_rule"] = json!("FREQ=DAILY");
    desk.api.post(format!("/v1/calendars/{}/events", desk.calendar)).json(series).await.expect(201);
    assert_eq!(missing(&desk.slots(&plain).await), [0]);
    desk.book(&plain, &iso(base)).await.refused(409, "conflict").code("slot_taken");
}

#[apply(on_both)]
#[tokio::test]
async fn slots_follow_the_constraints_and_the_requested_range(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let day = json!({ "start": "09:30", "end": "24:00" });
    let page = desk
        .page(json!({
            "timezone": "Asia/Kathmandu", "duration_minutes": 90, "window_days": 30,
            "availability_constraints": { "tue": day, "sat": day }
        }))
        .await;
    let slots = desk.slots(&page).await;
    let local = |start: &String| at(start) + TimeDelta::minutes(345);
    let mut by_day: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for start in &slots {
        by_day
            .entry(local(start).format("%a %F").to_string())
            .or_default()
            .push(local(start).format("%H:%M").to_string());
    }
    let full_days: Vec<_> = by_day.iter().skip(1).take(by_day.len() - 2).collect();
    assert!(by_day.keys().all(|day| day.starts_with("Tue") || day.starts_with("Sat")), "{by_day:?}");
    let grid = ["09:30", "11:00", "12:30", "14:00", "15:30", "17:00", "18:30", "20:00", "21:30"];
    let mid: Vec<_> = by_day.values().filter(|times| times.len() == grid.len()).collect();
    assert!(mid.len() >= 7 && mid.iter().all(|times| **times == grid), "{full_days:?}");

    // Dates are in the page's zone, and the last one is included. Timestamps cut the range exactly.
    let starts_within = async |query: &[(&str, &str)]| {
        let call = desk.guest.get(format!("{}/slots", page.book)).query(query);
        starts(&call.await.expect(200))
    };
    let first_of_full_day = slots.iter().find(|start| local(start) > local(&slots[0]) + TimeDelta::hours(24)).unwrap();
    let date = local(first_of_full_day).format("%F").to_string();
    let of_date: Vec<String> =
        slots.iter().filter(|start| local(start).format("%F").to_string() == date).cloned().collect();
    assert_eq!(starts_within(&[("from", &date), ("to", &date)]).await, of_date);
    let (from, to) = (iso(at(&of_date[1])), iso(at(&of_date[3])));
    assert_eq!(starts_within(&[("from", &from), ("to", &to)]).await, of_date[1..3], "a slot ends by then");
    assert_eq!(starts_within(&[("from", "2000-01-01")]).await.len(), slots.len());
    assert_eq!(starts_within(&[("from", "2090-01-01")]).await.len(), 0);
    let refused = async |query: &[(&str, &str)]| desk.guest.get(format!("{}/slots", page.book)).query(query).await;
    refused(&[("from", "2026-02-30")]).await.refused(400, "validation_error").param("from").code("invalid_time_format");
    refused(&[("to", "soon")]).await.refused(400, "validation_error").param("to");
    let backwards = refused(&[("from", "2030-02-02"), ("to", "2030-02-01")]).await;
    backwards.refused(400, "validation_error").param("to").code("end_before_start");
    refused(&[("form", "2030-02-02")]).await.refused(400, "validation_error").param("form").code("unknown_field");
}

#[apply(on_both)]
#[tokio::test]
async fn a_closed_page_is_not_found(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({})).await;
    let slots = desk.slots(&page).await;
    let booked = desk.book(&page, &slots[9]).await.expect(201);
    let (cancel, reschedule) = (path_of(&desk, &booked["cancel_url"]), path_of(&desk, &booked["reschedule_url"]));
    let path = format!("/v1/booking-pages/{}", page.id);
    let closed = async || {
        for answer in [desk.guest.get(format!("{}/slots", page.book)).await, desk.book(&page, &slots[3]).await] {
            let answer = answer.refused(404, "not_found").code("booking_page_not_found");
            assert!(!answer.text().contains(page.book.trim_start_matches("/book/")), "{}", answer.describe());
        }
        desk.guest.post(&reschedule).json(json!({ "start": slots[3] })).await.refused(404, "not_found");
    };
    desk.api.patch(&path).json(json!({ "active": false })).await.expect(200);
    closed().await;
    desk.api.patch(&path).json(json!({ "active": true })).await.expect(200);
    assert_eq!(desk.slots(&page).await.len(), slots.len() - 1);
    desk.api.delete(&path).await.expect(204);
    closed().await;
    // An existing booking stays, and its guest may still cancel it.
    let event = format!("/v1/events/{}", booked["event"]["id"].as_str().unwrap());
    desk.api.get(&event).await.expect(200);
    desk.guest.post(&cancel).await.expect(200);
    desk.api.get(&event).await.refused(404, "not_found");
    desk.guest.get("/book/nobody-s/slots").await.refused(404, "not_found").code("booking_page_not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn a_booking_is_moved_and_cancelled(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({ "buffer_minutes": 30 })).await;
    let slots = desk.slots(&page).await;
    let booked = desk.book(&page, &slots[5]).await.expect(201);
    let (cancel, reschedule) = (path_of(&desk, &booked["cancel_url"]), path_of(&desk, &booked["reschedule_url"]));
    let (by_cancel, by_move) = (cancel.strip_suffix("/cancel").unwrap(), reschedule.strip_suffix("/move").unwrap());
    let seen = desk.guest.get(by_move).await.expect(200);
    has_exactly(
        &seen.json,
        &[
            "booking_page_id",
            "booking_page",
            "status",
            "event",
            "name",
            "email",
            "notes",
            "cancel_url",
            "ics_url",
            "reschedule_url",
        ],
    );
    assert_eq!((&seen["event"], &seen["status"]), (&booked["event"], &json!("confirmed")));
    assert_eq!((&seen["cancel_url"], &seen["reschedule_url"]), (&booked["cancel_url"], &booked["reschedule_url"]));
    assert_eq!((&seen["name"], &seen["email"]), (&json!("Ada Lovelace"), &json!("ada@example.com")));
    let seen = desk.guest.get(by_cancel).await.expect(200);
    assert_eq!((&seen["cancel_url"], &seen["reschedule_url"]), (&booked["cancel_url"], &Value::Null));
    // Each token works for one action.
    desk.guest.post(format!("{by_move}/cancel")).await.refused(404, "not_found").code("booking_not_found");
    let other = desk.guest.post(format!("{by_cancel}/move")).json(json!({ "start": slots[9] })).await;
    other.refused(404, "not_found").code("booking_not_found");

    let move_to = async |start: &str| desk.guest.post(&reschedule).json(json!({ "start": start })).await;
    desk.event(at(&slots[20]), 60).await;
    move_to(&slots[20]).await.refused(409, "conflict").code("slot_taken");
    move_to(&iso(at(&slots[20]) + TimeDelta::minutes(5))).await.refused(400, "validation_error").param("start");
    // The booking's own time and its buffer do not block the move.
    let moved = move_to(&slots[6]).await.expect(200);
    assert_eq!((&moved["event"]["start_time"], &moved["event"]["id"]), (&json!(slots[6]), &booked["event"]["id"]));
    assert_eq!(moved["reschedule_url"], booked["reschedule_url"], "the links stay valid");
    move_to(&slots[6]).await.expect(200);
    let event = format!("/v1/events/{}", booked["event"]["id"].as_str().unwrap());
    assert_eq!(desk.api.get(&event).await.expect(200)["startTime"], slots[6]);
    assert_eq!(desk.api.get("/v1/usage").await.expect(200)["events"]["used"], 2, "a move adds none");

    // The owner moves it, and the guest sees that.
    let (start, end) = (&slots[12], iso(at(&slots[12]) + TimeDelta::hours(1)));
    desk.api.patch(&event).json(json!({ "start_time": start, "end_time": end })).await.expect(200);
    assert_eq!(desk.guest.get(by_move).await.expect(200)["event"]["start_time"], *start);

    let gone = desk.guest.post(&cancel).await.expect(200);
    assert_eq!(
        (&gone["status"], &gone["event"], &gone["cancel_url"]),
        (&json!("cancelled"), &Value::Null, &Value::Null)
    );
    desk.api.get(&event).await.refused(404, "not_found");
    assert_eq!(desk.guest.post(&cancel).await.expect(200).json, gone.json, "a second time changes nothing");
    assert_eq!(desk.guest.get(by_move).await.expect(200)["status"], "cancelled");
    move_to(&slots[9]).await.refused(409, "conflict").code("booking_over");
    assert!(desk.slots(&page).await.contains(start));
    // Neither another page's slug nor another token finds the booking.
    let second = desk.page(json!({})).await;
    let token = by_cancel.rsplit('/').next().unwrap();
    desk.guest.get(format!("{}/bookings/{token}", second.book)).await.refused(404, "not_found");
    desk.guest.get(format!("{}/bookings/nobody-s", page.book)).await.refused(404, "not_found");

    let owned = desk.book(&page, &slots[30]).await.expect(201);
    let seen = path_of(&desk, &owned["cancel_url"]);
    desk.api.delete(format!("/v1/events/{}", owned["event"]["id"].as_str().unwrap())).await.expect(204);
    assert_eq!(desk.guest.get(seen.strip_suffix("/cancel").unwrap()).await.expect(200)["status"], "cancelled");
}

/// A booking that its host moved to another calendar frees its time on the page's calendar. When its guest moves it, it
/// is back on that calendar.
#[apply(on_both)]
#[tokio::test]
async fn a_booking_on_another_calendar_comes_back_when_its_guest_moves_it(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({})).await;
    let slots = desk.slots(&page).await;
    let booked = desk.book(&page, &slots[5]).await.expect(201);
    let (cancel, reschedule) = (path_of(&desk, &booked["cancel_url"]), path_of(&desk, &booked["reschedule_url"]));
    let id = booked["event"]["id"].as_str().unwrap().to_owned();
    let other = shared_calendar(&desk.api, "Asia/Tokyo").await;
    desk.api.post(format!("/v1/events/{id}/move")).json(json!({ "calendar_id": other })).await.expect(200);
    assert_eq!(desk.slots(&page).await, slots, "its time is offered again");

    // Another guest takes it. It does not count as the first booking's own time.
    desk.book(&page, &slots[5]).await.expect(201);
    let taken = desk.guest.post(&reschedule).json(json!({ "start": slots[5] })).await;
    taken.refused(409, "conflict").code("slot_taken");
    assert_eq!(desk.api.get(format!("/v1/events/{id}")).await.expect(200)["calendarId"], json!(other));

    desk.guest.post(&reschedule).json(json!({ "start": slots[7] })).await.expect(200);
    let back = desk.api.get(format!("/v1/events/{id}")).await.expect(200);
    assert_eq!((&back["calendarId"], &back["startTime"]), (&json!(desk.calendar), &json!(slots[7])));
    let left: Vec<String> =
        slots.iter().enumerate().filter(|(index, _)| ![5, 7].contains(index)).map(|(_, slot)| slot.clone()).collect();
    assert_eq!(desk.slots(&page).await, left);
    assert_eq!(desk.api.get(format!("/v1/calendars/{other}/events")).await.expect(200).data().len(), 0);
    // Its guest can cancel it on any calendar.
    desk.api.post(format!("/v1/events/{id}/move")).json(json!({ "calendar_id": other })).await.expect(200);
    desk.guest.post(&cancel).await.expect(200);
    desk.api.get(format!("/v1/events/{id}")).await.refused(404, "not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn unknown_parameters_are_refused(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({})).await;
    let slots = desk.slots(&page).await;
    let stray = |path: &str| format!("{path}?zzz=1");
    let refused = |answer: Answer| drop(answer.refused(400, "validation_error").param("zzz").code("unknown_field"));
    refused(desk.guest.post(stray(&page.book)).json(booking(&slots[0])).await);
    refused(desk.guest.get(stray(&format!("{}/slots", page.book))).await);
    let booked = desk.book(&page, &slots[0]).await.expect(201);
    let (cancel, reschedule) = (path_of(&desk, &booked["cancel_url"]), path_of(&desk, &booked["reschedule_url"]));
    refused(desk.guest.get(stray(cancel.strip_suffix("/cancel").unwrap())).await);
    refused(desk.guest.post(stray(&reschedule)).json(json!({ "start": slots[1] })).await);
    refused(desk.guest.post(stray(&cancel)).await);
    // A page link may have tracking parameters, and a form may have fields that a browser adds.
    for path in [&page.book, &cancel, &reschedule] {
        desk.guest.undescribed().get(format!("{path}?utm_source=x")).header("accept", "text/html").await.expect(200);
    }
    let form = format!("start={}&name=Ada&email=ada@example.com&zzz=1", slots[2]);
    let typed = desk.guest.post(&page.book).header("content-type", "application/x-www-form-urlencoded");
    typed.body(form).await.expect(201);
}

#[apply(on_both)]
#[tokio::test]
async fn a_booking_that_has_begun_cannot_be_changed(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.page(json!({})).await;
    let slots = desk.slots(&page).await;
    let booked = desk.book(&page, &slots[0]).await.expect(201);
    let (cancel, reschedule) = (path_of(&desk, &booked["cancel_url"]), path_of(&desk, &booked["reschedule_url"]));
    desk.server.restart_at_offset(2 * 3_600).await;
    let guest = desk.server.anonymous();
    guest.post(&cancel).await.refused(409, "conflict").code("booking_over");
    guest.post(&reschedule).json(json!({ "start": slots[9] })).await.refused(409, "conflict").code("booking_over");
    let late = guest.post(&page.book).json(booking(&slots[0])).await;
    late.refused(400, "validation_error").param("start");
}

#[apply(on_both)]
#[tokio::test]
async fn booking_closes_over_the_quota(#[case] database: Database) {
    let mut desk = Desk::of(Server::start(database).await, "custom", &["--limits", r#"{"events":1}"#]).await;
    let page = desk.page(json!({})).await;
    let slots = desk.slots(&page).await;
    let booked = desk.book(&page, &slots[0]).await.expect(201);
    let closed = desk.book(&page, &slots[1]).await.refused(429, "quota_exceeded").code("booking_closed");
    assert!(closed.header("retry-after").parse::<u64>().unwrap() > 0);
    assert!(!closed.text().contains("plan"), "guests do not see the plan: {}", closed.describe());
    // The page offers no slots either, and says why.
    let offered = desk.guest.get(format!("{}/slots", page.book)).await.expect(200);
    assert_eq!((&offered["slots"], &offered["notices"][0]["code"]), (&json!([]), &json!("booking_closed")));
    // Moving a booking does not count as a new event.
    let reschedule = path_of(&desk, &booked["reschedule_url"]);
    desk.guest.post(reschedule).json(json!({ "start": slots[1] })).await.expect(200);
    // Booking opens again in the next month.
    desk.server.restart_at_offset(31 * 86_400).await;
    let offered = desk.server.anonymous().get(format!("{}/slots", page.book)).await.expect(200);
    assert!(
        offered["slots"].as_array().is_some_and(|slots| !slots.is_empty()) && offered.json.get("notices").is_none()
    );
    let api = desk.api.moved_to(desk.server.base_url());
    assert_eq!(api.get(format!("/v1/booking-pages/{}", page.id)).await.expect(200)["bookings_count"], 1);
}

#[apply(on_both)]
#[tokio::test]
async fn guests_are_notified_by_mail(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({ "title": "Intro \"call\"; https://evil.example", "timezone": "Europe/Berlin" })).await;
    let slots = desk.slots(&page).await;
    let key = ("idempotency-key", "a-guest-s-own-key-of-some-length");
    let submit = || desk.guest.post(&page.book).header(key.0, key.1).json(booking(&slots[5]));
    let booked = submit().await.expect(201);
    let again = submit().await.expect(201);
    assert_eq!((again.header("idempotency-replayed"), &again.json), ("true", &booked.json));
    let line = |text: &str, name: &str| {
        text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name} in {text}")).to_owned()
    };
    let stamp = |start: &str| at(start).format("%Y%m%dT%H%M%SZ").to_string();

    let mails = desk.server.wait_for_mails(1).await;
    assert_eq!((mails[0].to.as_str(), mails[0].subject.as_str()), ("ada@example.com", "Your booking is confirmed"));
    for url in ["cancel_url", "reschedule_url"] {
        assert!(mails[0].text.contains(booked[url].as_str().unwrap()), "{}", mails[0].text);
    }
    assert!(!mails[0].text.contains("engine"), "the guest's notes go only to the calendar's owner");
    let invitation = &mails[0].invitation;
    let uid = format!("UID:{}@kalends", booked["event"]["id"].as_str().unwrap());
    for expected in ["METHOD:REQUEST", "SEQUENCE:0", "STATUS:CONFIRMED", &uid, &format!("DTSTART:{}", stamp(&slots[5]))]
    {
        assert!(invitation.lines().any(|line| line == expected), "{expected} in {invitation}");
    }
    assert!(line(invitation, "ATTENDEE").ends_with(":mailto:ada@example.com"));
    assert!(line(invitation, "ORGANIZER").contains(":mailto:no-reply@"));

    desk.guest.post(path_of(&desk, &booked["reschedule_url"])).json(json!({ "start": slots[7] })).await.expect(200);
    let mails = desk.server.wait_for_mails(2).await;
    assert_eq!(mails[1].subject, "Your booking was moved");
    assert!(mails[1].text.contains(booked["cancel_url"].as_str().unwrap()));
    for expected in ["METHOD:REQUEST", "SEQUENCE:1", &uid, &format!("DTSTART:{}", stamp(&slots[7]))] {
        assert!(mails[1].invitation.lines().any(|line| line == expected), "{expected} in {}", mails[1].invitation);
    }
    // What the host adds to the event is not for the guest.
    let notes = json!({ "description": "a weak candidate", "location": "backstage" });
    let event = booked["event"]["id"].as_str().unwrap();
    desk.api.patch(format!("/v1/events/{event}")).json(notes).await.expect(200);
    desk.guest.post(path_of(&desk, &booked["cancel_url"])).await.expect(200);
    let mails = desk.server.wait_for_mails(3).await;
    assert!(!mails[2].invitation.contains("weak") && !mails[2].invitation.contains("backstage"), "{mails:#?}");
    assert_eq!(mails[2].subject, "Your booking is cancelled");
    for expected in ["METHOD:CANCEL", "SEQUENCE:3", "STATUS:CANCELLED", &uid] {
        assert!(mails[2].invitation.lines().any(|line| line == expected), "{expected} in {}", mails[2].invitation);
    }
    desk.guest.post(path_of(&desk, &booked["cancel_url"])).await.expect(200);
    assert_eq!(desk.server.mails().len(), 3, "a replay and a second cancellation send no mail");
}

#[apply(on_both)]
#[tokio::test]
async fn bookings_are_in_the_audit_log(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({})).await;
    let slots = desk.slots(&page).await;
    let booked = desk.book(&page, &slots[5]).await.expect(201);
    desk.guest.post(path_of(&desk, &booked["reschedule_url"])).json(json!({ "start": slots[7] })).await.expect(200);
    desk.guest.post(path_of(&desk, &booked["cancel_url"])).await.expect(200);
    desk.api.patch(format!("/v1/booking-pages/{}", page.id)).json(json!({ "title": "x" })).await.expect(200);
    desk.api.delete(format!("/v1/booking-pages/{}", page.id)).await.expect(204);
    let log = desk.api.get("/v1/audit-log?limit=200").await.expect(200);
    let entries = log.data();
    let of =
        |action: &str| entries.iter().find(|entry| entry["action"] == action).unwrap_or_else(|| panic!("{action}"));
    for (action, path, status) in [
        ("booking.create", "/book/{slug}", 201),
        ("booking.move", "/book/{slug}/bookings/{token}/move", 200),
        ("booking.cancel", "/book/{slug}/bookings/{token}/cancel", 200),
    ] {
        let entry = of(action);
        assert_eq!((&entry["path"], &entry["status"]), (&json!(path), &json!(status)), "{action}");
        assert_eq!(
            (&entry["actor_key_prefix"], &entry["resource"]),
            (&Value::Null, &booked["event"]["id"]),
            "{action}"
        );
    }
    for action in ["booking_page.create", "booking_page.update", "booking_page.delete"] {
        assert_eq!(of(action)["resource"], page.id, "{action}");
    }
    assert!(!log.text().contains(page.book.trim_start_matches("/book/")));
}

#[apply(on_both)]
#[tokio::test]
async fn bookings_are_announced_to_webhooks(#[case] database: Database) {
    let (server, api, receiver) = with_receiver(database, "pro").await;
    hook(&api, &receiver, "/all", &["*"]).await;
    let (guest, calendar) = (server.anonymous(), agent_with_calendar(&api).await.1);
    let desk = Desk { server, api, guest, calendar };
    let page = desk.page(json!({})).await;
    let slots = desk.slots(&page).await;
    let booked = desk.book(&page, &slots[5]).await.expect(201);
    let id = booked["event"]["id"].as_str().unwrap();
    let event = desk.api.get(format!("/v1/events/{id}")).await.expect(200);
    let mut message = receiver.wait_for_type("/all", "event.created").await.json();
    assert_eq!(message.as_object_mut().unwrap().remove("booking_page_id"), Some(json!(page.id)));
    assert_eq!(message, event.json, "the event as the API shows it, and the page");
    desk.guest.post(path_of(&desk, &booked["reschedule_url"])).json(json!({ "start": slots[7] })).await.expect(200);
    let moved = receiver.wait_for_type("/all", "event.updated").await.json();
    assert_eq!((&moved["booking_page_id"], &moved["startTime"]), (&json!(page.id), &json!(slots[7])));
    desk.guest.post(path_of(&desk, &booked["cancel_url"])).await.expect(200);
    let gone = receiver.wait_for_type("/all", "event.deleted").await.json();
    assert_eq!((&gone["booking_page_id"], &gone["id"]), (&json!(page.id), &json!(id)));
}

/// Races guests for one slot on every node. One gets 201 and all others 409, and there is only one event.
async fn race(desk: &Desk, guests: &[Client], page: &Open) {
    let slots = desk.slots(page).await;
    for round in 0..3 {
        let start = &slots[10 + 5 * round];
        let submissions = (0..24).map(|number| {
            let call = guests[number % guests.len()].post(&page.book).json(booking(start));
            tokio::spawn(async move { call.await })
        });
        let submissions: Vec<_> = submissions.collect();
        let mut outcomes: BTreeMap<(u16, String), usize> = BTreeMap::new();
        for submission in submissions {
            let answer = submission.await.unwrap();
            let code = answer.at("/error/code").as_str().unwrap_or_default().to_owned();
            *outcomes.entry((answer.status, code)).or_default() += 1;
        }
        assert_eq!(outcomes, BTreeMap::from([((201, String::new()), 1), ((409, "slot_taken".to_owned()), 23)]));
    }
    let path = format!("/v1/calendars/{}/events?limit=200", desk.calendar);
    assert_eq!(desk.api.get(path).await.expect(200)["total"], 3);
    assert_eq!(desk.api.get(format!("/v1/booking-pages/{}", page.id)).await.expect(200)["bookings_count"], 3);
}

#[apply(on_both)]
#[tokio::test]
async fn only_one_of_many_guests_gets_the_slot(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({ "buffer_minutes": 15 })).await;
    race(&desk, std::slice::from_ref(&desk.guest), &page).await;
}

#[tokio::test]
async fn only_one_of_many_guests_gets_the_slot_across_nodes() {
    let desk = Desk::new(Postgres).await;
    let page = desk.page(json!({ "buffer_minutes": 15 })).await;
    let other = desk.server.another_node().await;
    race(&desk, &[desk.guest.clone(), other.anonymous()], &page).await;
}

#[apply(on_both)]
#[tokio::test]
async fn only_one_of_many_moves_gets_the_slot(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({})).await;
    let slots = desk.slots(&page).await;
    let mut moves = Vec::new();
    for index in [0, 2, 4, 6] {
        let booked = desk.book(&page, &slots[10 + index]).await.expect(201);
        moves.push(path_of(&desk, &booked["reschedule_url"]));
    }
    let racing: Vec<_> = moves
        .iter()
        .map(|path| {
            let call = desk.guest.post(path).json(json!({ "start": slots[40] }));
            tokio::spawn(async move { call.await.status })
        })
        .collect();
    let mut statuses = Vec::new();
    for racer in racing {
        statuses.push(racer.await.unwrap());
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409, 409, 409]);
}

#[apply(on_both)]
#[tokio::test]
async fn mail_to_guests_is_limited(#[case] database: Database) {
    let server = Server::start_with(database, &[("KALENDS_MAIL_LIMITS", "org=4,recipient=2")]).await;
    let desk = Desk::of(server, "pro", &[]).await;
    let page = desk.page(json!({ "title": "Intro" })).await;
    let slots = desk.slots(&page).await;
    let (guest, first) = (desk.guest.impatient(), desk.book(&page, &slots[0]).await.expect(201));
    for slot in [1, 2, 3] {
        desk.book(&page, &slots[slot]).await.expect(201);
    }
    // The organization's hourly mail allowance is used up, so nothing more is booked, moved or cancelled.
    for refused in [
        guest.post(&page.book).json(booking(&slots[4])).await,
        guest.post(path_of(&desk, &first["reschedule_url"])).json(json!({ "start": slots[5] })).await,
        guest.post(path_of(&desk, &first["cancel_url"])).await,
    ] {
        let refused = refused.refused(429, "quota_exceeded");
        assert_eq!(refused.at("/error/code"), "mail_limit");
        let seconds: i64 = refused.header("retry-after").parse().unwrap();
        assert!((1..=3_600).contains(&seconds), "{seconds}");
    }
    let left = desk.slots(&page).await;
    assert!(left.contains(&slots[4]) && left.contains(&slots[5]) && !left.contains(&slots[0]));
    // One recipient gets two mails. The others wait.
    desk.server.wait_for_mails(2).await;
    let other = desk.page(json!({ "title": "Other" })).await;
    let refused = guest.post(&other.book).json(booking(&slots[6])).await;
    assert_eq!(refused.status, 429, "the limit is the organization's, not the page's");
    assert_eq!(desk.server.mails().len(), 2);

    // Another organization has its own allowance and reaches another recipient.
    let org = desk.server.org_with("pro", &[]).await;
    let api = desk.server.api(&org);
    let calendar = agent_with_calendar(&api).await.1;
    let body = json!({ "calendar_id": calendar, "title": "Elsewhere", "duration_minutes": 60, "window_days": 7 });
    let made = api.post("/v1/booking-pages").json(body).await.expect(201);
    let book = format!("/book/{}", made["slug"].as_str().unwrap());
    let mut guest = booking(&slots[0]);
    guest["email"] = json!("bob@example.com");
    desk.guest.post(&book).json(guest).await.expect(201);
    let mails = desk.server.wait_for_mails(3).await;
    assert_eq!(mails[2].to, "bob@example.com");
}
