//! Booking pages with several seats. Written without knowledge of the code.

use crate::on_both;
use std::collections::{BTreeMap, BTreeSet};

use kalends_e2e::{
    Answer, Client,
    Database::{self, Postgres, Sqlite},
    Mail, Receiver, Server, at, shifted,
};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    claims::text,
    desk::{Booked, Desk, EMAIL, HTML, NAME, OWN, Open, PAGES, PLACE, booking, counted, end, recipients, value, with},
    fixtures::{agent_with_calendar, event, is_id, is_time, now, shared_calendar},
    proposal_races::at_once,
    webhooks::hook,
};

/// The name and the address of a guest.
type Guest = (&'static str, &'static str);

// In the order in which `Desk::mails` returns their mails.
const ADA: Guest = (NAME, EMAIL);
const BEN: Guest = ("Ben Bitdiddle", "ben@guest.example");
const CY: Guest = ("Cyrus Harding", "cyrus@guest.example");
const DOT: Guest = ("Dorothy Vaughan", "dot@guest.example");
const EVE: Guest = ("Evelyn Boyd", "eve@guest.example");
/// The guest who comes too late.
const LATE: Guest = ("Zoe Late", "zoe@guest.example");

impl Desk {
    /// A page with this many seats.
    async fn class(&self, seats: u16, fields: Value) -> Open {
        self.page(with(json!({ "seats": seats }), fields)).await
    }

    async fn seat(&self, page: &Open, start: &str, guest: Guest) -> Booked {
        self.book(page, start, by(guest)).await
    }

    /// Books the same slot for each of these guests. They must share one event.
    async fn seat_all<const N: usize>(&self, page: &Open, start: &str, guests: [Guest; N]) -> [Booked; N] {
        let mut seated = Vec::new();
        for guest in guests {
            seated.push(self.seat(page, start, guest).await);
        }
        let events: BTreeSet<&str> = seated.iter().map(|booked| booked.event.as_str()).collect();
        assert_eq!(events.len(), 1, "one slot has one event: {events:?}");
        let Ok(seated) = seated.try_into() else { panic!("one booking for each guest") };
        seated
    }

    /// Requires that the slot is not offered and cannot be booked.
    async fn is_taken(&self, page: &Open, start: &str) {
        assert!(!self.offers(page, start).await, "{start} is offered");
        let answer = self.guest.post(&page.book).json(booking(start, by(LATE))).await;
        names_other_times(&answer.refused(409, "conflict").code("slot_taken"), start);
    }

    /// Whether the page on which a guest moves a booking offers this slot.
    async fn offers_move(&self, booked: &Booked, start: &str) -> bool {
        let picker = self.html(&format!("{}?day={}&tz=UTC", booked.reschedule, &start[..10])).await;
        picker.contains(&format!("?slot={start}"))
    }

    /// A page as a browser gets it.
    async fn html(&self, path: &str) -> String {
        self.content(path, HTML).await
    }

    /// A page in the form that this `Accept` header asks for.
    async fn content(&self, path: &str, accept: &str) -> String {
        let request = self.browser.get(format!("{}{path}", self.server.base_url())).header("accept", accept);
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 200, "{path}");
        answer.text().await.unwrap()
    }

    /// The only booking of this guest, as the host sees it.
    async fn record(&self, page: &Open, guest: Guest) -> Value {
        let mut found = self.host_sees(page).await;
        found.retain(|one| one["email"] == guest.1);
        assert_eq!(found.len(), 1, "{}: {found:#?}", guest.1);
        found.remove(0)
    }

    /// Requires that these guests, and no others, have a place in this slot. They share one event, which is returned.
    async fn sit_at(&self, page: &Open, start: &str, guests: &[Guest]) -> String {
        let mut found = self.host_sees(page).await;
        found.retain(|one| one["start_time"] == start && one["status"] == "confirmed");
        let emails: BTreeSet<String> = found.iter().map(|one| text(&one["email"])).collect();
        let expected: BTreeSet<String> = guests.iter().map(|guest| guest.1.to_owned()).collect();
        assert_eq!((emails, found.len()), (expected, guests.len()), "{found:#?}");
        let events: BTreeSet<String> = found.iter().map(|one| text(&one["event_id"])).collect();
        assert_eq!(events.len(), 1, "one slot has one event: {events:?}");
        let id = events.into_iter().next().unwrap();
        let event = self.event_of(&id).await.expect(200);
        assert_eq!((&event["startTime"], &event["status"]), (&json!(start), &json!("confirmed")));
        id
    }

    /// Requires that the booking of this guest is cancelled, for the host and for the guest.
    async fn has_ended(&self, page: &Open, guest: Guest, booked: &Booked, by: &str) -> Value {
        let record = self.record(page, guest).await;
        assert_eq!((&record["status"], &record["cancelled_by"]), (&json!("cancelled"), &json!(by)), "{record:#}");
        is_time(&record["cancelled_at"]);
        assert_eq!(self.view(booked).await["status"], "cancelled");
        let moved = self.move_to(booked, &self.slots(page).await[100]).await;
        moved.refused(409, "conflict").code("booking_over");
        self.guest.get(&booked.file).await.refused(404, "not_found");
        record
    }

    /// A booking as its guest sees it.
    async fn view(&self, booked: &Booked) -> Answer {
        self.guest.get(view_of(booked)).await.expect(200)
    }

    /// Cancels the booking of this guest as the host.
    async fn calls_off(&self, page: &Open, guest: Guest) -> Answer {
        let id = text(&self.record(page, guest).await["id"]);
        self.api.post(format!("/v1/bookings/{id}/cancel")).json(json!({})).await
    }

    /// Changes an event as its owner.
    async fn owner_sets(&self, event: &str, change: Value) {
        self.api.patch(format!("/v1/events/{event}")).json(change).await.expect(200);
    }

    /// Moves an event of one hour as its owner.
    async fn owner_puts(&self, event: &str, start: &str) {
        self.owner_sets(event, json!({ "start_time": start, "end_time": end(start) })).await;
    }

    async fn owner_deletes(&self, event: &str) {
        self.api.delete(format!("/v1/events/{event}")).await.expect(204);
    }

    /// An event of the owner that is no booking.
    async fn owner_is_busy(&self, page: &Open, start: &str, until: &str) -> String {
        let calendar = text(&self.read(page).await["calendar_id"]);
        event(&self.api, &calendar, start, until).await
    }

    /// The starts of all events on the page's calendar.
    async fn event_starts(&self, page: &Open) -> Vec<String> {
        let calendar = text(&self.read(page).await["calendar_id"]);
        let listed = self.api.get(format!("/v1/calendars/{calendar}/events?limit=200")).await.expect(200);
        let mut starts = listed.column("startTime");
        starts.sort();
        starts
    }

    /// The events that count toward the month's quota, and the page's `bookings_count`.
    async fn counts(&self, page: &Open) -> (Value, Value) {
        let used = self.api.get("/v1/usage").await.expect(200)["events"]["used"].clone();
        (used, self.read(page).await["bookings_count"].clone())
    }

    /// The properties of a booking's file that have these names.
    async fn in_file(&self, booked: &Booked, name: &str) -> Vec<String> {
        let file = self.guest.get(&booked.file).await.expect(200).text().replace("\r\n ", "");
        let found = file.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        found.map(|value| value.trim_end().to_owned()).collect()
    }

    /// The next mail, which is about an invitation.
    async fn next_invitation(&mut self, guest: Guest, method: &str) -> Invitation {
        let mail = self.mails(1).await.remove(0);
        assert_eq!(mail.to, guest.1, "{mail:#?}");
        let invitation = Invitation::of(&mail);
        assert_eq!(invitation.method, method, "{mail:#?}");
        invitation
    }

    /// Starts the service again at this time.
    async fn forward_to(&mut self, time: &str) {
        let offset = self.server.environment().get("KALENDS_CLOCK_OFFSET_SECONDS");
        let offset: i64 = offset.map_or(0, |seconds| seconds.parse().unwrap());
        let ahead = at(time) - at(&now(&self.api).await);
        self.later(offset + ahead.num_seconds()).await;
    }
}

/// What matters in the calendar part of a mail.
struct Invitation {
    method: String,
    uid: String,
    sequence: i64,
    start: String,
}

impl Invitation {
    #[track_caller]
    fn of(mail: &Mail) -> Self {
        Self {
            method: value(mail, "METHOD"),
            uid: value(mail, "UID"),
            sequence: value(mail, "SEQUENCE").parse().unwrap(),
            start: value(mail, "DTSTART"),
        }
    }

    /// Requires that this is a newer version of an invitation.
    #[track_caller]
    fn follows(&self, earlier: &Self) {
        assert_eq!(self.uid, earlier.uid);
        assert!(self.sequence > earlier.sequence, "{} is not above {}", self.sequence, earlier.sequence);
    }
}

fn by((name, email): Guest) -> Value {
    json!({ "name": name, "email": email })
}

/// The guest with this number.
fn number(number: usize) -> Value {
    json!({ "name": format!("Guest {number}"), "email": format!("guest-{number}@many.example") })
}

/// The path at which a guest sees a booking.
fn view_of(booked: &Booked) -> &str {
    booked.cancel.strip_suffix("/cancel").unwrap()
}

/// The tokens with which a booking is cancelled and moved.
fn tokens(booked: &Booked) -> [&str; 2] {
    [&booked.cancel, &booked.reschedule].map(|path| path.rsplit('/').nth(1).unwrap())
}

/// The entry of this slot in the list of slots.
async fn slot_entry(guest: &Client, page: &Open, start: &str) -> Option<Value> {
    let listed = guest.get(format!("{}/slots", page.book)).await.expect(200);
    listed["slots"].as_array().unwrap().iter().find(|slot| slot["start"] == start).cloned()
}

async fn offered(guest: &Client, page: &Open, start: &str) -> bool {
    slot_entry(guest, page, start).await.is_some()
}

/// Requires that a refusal names free times, and not this one.
#[track_caller]
fn names_other_times(refused: &Answer, start: &str) {
    let nearest = refused.at("/error/nearest_free");
    let nearest = nearest.as_array().unwrap_or_else(|| panic!("no times: {}", refused.describe()));
    assert!((1..=3).contains(&nearest.len()), "{}", refused.describe());
    assert!(nearest.iter().all(|slot| slot["start"] != start), "{}", refused.describe());
}

/// The slots of a whole date.
fn whole_day(slots: &[String]) -> Vec<String> {
    let date = &slots[30][..10];
    let of_date: Vec<String> = slots.iter().filter(|start| start.starts_with(date)).cloned().collect();
    assert_eq!(of_date.len(), 24, "{of_date:?}");
    of_date
}

/// A time as iCalendar writes it.
fn stamp(time: &str) -> String {
    time.replace(['-', ':'], "")
}

/// The expected answers: those with this status, and refusals because the slot was taken.
fn outcomes(status: u16, done: usize, taken: usize) -> BTreeMap<(u16, String), usize> {
    let counts = [((status, String::new()), done), ((409, "slot_taken".to_owned()), taken)];
    counts.into_iter().filter(|(_, count)| *count > 0).collect()
}

#[apply(on_both)]
#[tokio::test]
async fn seats_are_a_number_from_one_to_five_hundred(#[case] database: Database) {
    let desk = Desk::new(database).await;
    assert_eq!(desk.create(json!({})).await.expect(201)["seats"], 1);
    let made = desk.create(json!({ "seats": 12 })).await;
    let page = Open::of(&made);
    let titled = desk.patch(&page, json!({ "title": "Outro" })).await;
    let read = desk.read(&page).await;
    let listed = desk.api.get(PAGES).await.expect(200).data();
    let listed = listed.iter().find(|one| one["id"] == page.id).unwrap();
    for shown in [&made.json, &titled.json, &read.json, listed] {
        assert_eq!(shown["seats"], 12, "{shown:#}");
    }
    for bad in [json!(0), json!(-1), json!(501), json!(70_000), json!(i64::MAX), json!(1.5), json!("2"), json!([2])] {
        let fields = json!({ "seats": bad });
        desk.create(fields.clone()).await.refused(400, "validation_error").param("seats");
        desk.api.patch(&page.path).json(fields).await.refused(400, "validation_error").param("seats");
    }
    let null = desk.api.patch(&page.path).json(json!({ "title": "Null", "seats": null })).await;
    null.refused(400, "validation_error").param("seats");
    desk.unchanged(&page, &read).await;
    assert_eq!(desk.api.get(PAGES).await.expect(200)["total"], 2);
    for seats in [500, 1, 2] {
        assert_eq!(desk.patch(&page, json!({ "seats": seats })).await["seats"], seats);
        assert_eq!(desk.read(&page).await["seats"], seats);
    }
    assert_eq!(desk.create(json!({ "seats": 500 })).await.expect(201)["seats"], 500);
}

#[apply(on_both)]
#[tokio::test]
async fn a_page_has_several_seats_or_a_team(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let second = shared_calendar(&desk.api, "UTC").await;
    let team = json!({ "calendars": [second], "assignment": "collective" });
    for assignment in ["collective", "round_robin"] {
        let both = json!({ "calendars": [second], "assignment": assignment, "seats": 2 });
        desk.create(both).await.refused(400, "validation_error").param("seats");
    }
    assert_eq!(desk.api.get(PAGES).await.expect(200)["total"], 0);

    let class = desk.class(3, json!({})).await;
    let before = desk.read(&class).await;
    for change in [team.clone(), with(team.clone(), json!({ "seats": 2 }))] {
        desk.api.patch(&class.path).json(change).await.refused(400, "validation_error").param("seats");
    }
    desk.unchanged(&class, &before).await;

    let of_team = desk.page(with(team.clone(), json!({ "seats": 1 }))).await;
    let before = desk.read(&of_team).await;
    desk.api.patch(&of_team.path).json(json!({ "seats": 2 })).await.refused(400, "validation_error").param("seats");
    desk.unchanged(&of_team, &before).await;

    // One change can set both.
    let changed = desk.patch(&class, with(team, json!({ "seats": 1 }))).await;
    let shown = (&changed["seats"], &changed["assignment"], changed["calendars"].as_array().map(Vec::len));
    assert_eq!(shown, (&json!(1), &json!("collective"), Some(2)), "{}", changed.describe());
    let changed = desk.patch(&of_team, json!({ "seats": 4, "calendars": null })).await;
    assert_eq!((&changed["seats"], &changed["calendars"]), (&json!(4), &Value::Null), "{}", changed.describe());
}

#[apply(on_both)]
#[tokio::test]
async fn guests_of_a_slot_share_one_event_until_it_is_full(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.class(3, json!({ "title": "Yoga", "location": PLACE })).await;
    let slots = desk.slots(&page).await;
    let mut shown = Vec::new();
    for guest in [ADA, BEN, CY] {
        assert!(desk.offers(&page, &slots[5]).await, "{}", guest.0);
        let body = with(booking(&slots[5], by(guest)), json!({ "notes": "I bring a mat." }));
        let answer = desk.guest.post(&page.book).json(body).await.expect(201);
        shown.push(answer["event"].clone());
        let event = desk.event_of(&text(&answer["event"]["id"])).await.expect(200);
        assert_eq!(event["title"], "Yoga");
        assert_eq!(event["metadata"], json!({ "booking": { "booking_page_id": page.id } }), "{}", event.describe());
        assert_eq!((&event["startTime"], &event["location"]), (&json!(slots[5]), &json!(PLACE)));
    }
    assert!(shown.iter().all(|event| *event == shown[0] && event["title"] == "Yoga"), "{shown:#?}");
    desk.is_taken(&page, &slots[5]).await;
    assert_eq!(desk.event_starts(&page).await, [slots[5].clone()]);
    // Each slot has an event of its own.
    let other = desk.seat(&page, &slots[6], DOT).await;
    assert_ne!(json!(other.event), shown[0]["id"]);
    assert!(desk.offers(&page, &slots[6]).await);

    // With one seat, the event is that of its guest.
    let single = desk.page(json!({ "title": "Talk" })).await;
    let booked = desk.book(&single, &slots[20], json!({ "notes": "Hello." })).await;
    let event = desk.event_of(&booked.event).await.expect(200);
    let guest = json!({ "name": NAME, "email": EMAIL, "notes": "Hello.", "booking_page_id": single.id });
    assert_eq!((&event["title"], &event["metadata"]), (&json!("Talk: Ada Lovelace"), &json!({ "booking": guest })));
    desk.is_taken(&single, &slots[20]).await;
}

#[apply(on_both)]
#[tokio::test]
async fn each_booking_counts_and_is_listed_for_itself(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let question = json!({ "id": "team", "label": "Which team?", "type": "text" });
    let page = desk.class(5, json!({ "questions": [question], "max_per_day": 3 })).await;
    let slots = desk.slots(&page).await;
    let day = whole_day(&slots);
    for (index, (guest, team)) in [(ADA, "Sales"), (BEN, "Support"), (CY, "Press")].into_iter().enumerate() {
        assert!(desk.offers(&page, &day[9]).await && desk.offers(&page, &day[15]).await);
        let fields = with(by(guest), json!({ "answers": { "team": team }, "notes": format!("from {team}") }));
        desk.book(&page, &day[9], fields).await;
        assert_eq!(desk.counts(&page).await, (json!(index + 1), json!(index + 1)));
    }
    let event = desk.sit_at(&page, &day[9], &[ADA, BEN, CY]).await;
    let mut ids = BTreeSet::new();
    for (guest, team) in [(ADA, "Sales"), (BEN, "Support"), (CY, "Press")] {
        let record = desk.record(&page, guest).await;
        is_id(&record["id"], "bkg_");
        ids.insert(text(&record["id"]));
        assert_eq!((&record["name"], &record["event_id"]), (&json!(guest.0), &json!(event)), "{record:#}");
        let own = (&record["answers"], &record["notes"], &record["cancelled_at"]);
        let expected = (&json!({ "team": team }), &json!(format!("from {team}")), &Value::Null);
        assert_eq!(own, expected, "{record:#}");
    }
    assert_eq!(ids.len(), 3);

    // The date has its maximum, although there are seats left.
    let left = desk.slots(&page).await;
    assert!(!left.iter().any(|start| day.contains(start)), "{left:?}");
    desk.is_taken(&page, &day[9]).await;
    desk.is_taken(&page, &day[15]).await;
    desk.calls_off(&page, BEN).await.expect(200);
    assert!(desk.offers(&page, &day[9]).await && desk.offers(&page, &day[15]).await);
    desk.seat(&page, &day[15], DOT).await;
    desk.is_taken(&page, &day[9]).await;
    assert_eq!(desk.counts(&page).await, (json!(4), json!(4)));
}

#[apply(on_both)]
#[tokio::test]
async fn a_used_up_quota_closes_a_slot_that_has_seats_left(#[case] database: Database) {
    let server = Server::start_with(database, &[("KALENDS_MAIL_LIMITS", "off")]).await;
    let api = server.api(&server.org_with("pro", &["--limits", r#"{"events":3}"#]).await);
    let calendar = agent_with_calendar(&api).await.1;
    let desk = Desk::of(server, api, calendar);
    let page = desk.class(5, json!({})).await;
    let slots = desk.slots(&page).await;
    let [ada, _, _] = desk.seat_all(&page, &slots[5], [ADA, BEN, CY]).await;
    for start in [&slots[5], &slots[9]] {
        let answer = desk.guest.post(&page.book).json(booking(start, by(DOT))).await;
        answer.refused(429, "quota_exceeded").code("booking_closed");
    }
    let listed = desk.guest.get(format!("{}/slots", page.book)).await.expect(200);
    assert_eq!((&listed["slots"], &listed["notices"][0]["code"]), (&json!([]), &json!("booking_closed")));
    // A move is no booking. So it is possible, and it counts nothing.
    desk.move_to(&ada, &slots[9]).await.expect(200);
    desk.sit_at(&page, &slots[9], &[ADA]).await;
    desk.sit_at(&page, &slots[5], &[BEN, CY]).await;
    assert_eq!(desk.counts(&page).await, (json!(3), json!(3)));
}

#[apply(on_both)]
#[tokio::test]
async fn a_slot_with_guests_blocks_and_is_blocked_by_everything_else(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.class(4, json!({ "buffer_minutes": 15 })).await;
    let plain = desk.class(4, json!({})).await;
    let halves = desk.class(4, json!({ "duration_minutes": 30 })).await;
    let slots = desk.slots(&page).await;
    let [_, ben] = desk.seat_all(&page, &slots[10], [ADA, BEN]).await;
    assert!(desk.offers(&page, &slots[10]).await);
    // The neighbours are in the buffer.
    for (slot, free) in [(8, true), (9, false), (11, false), (12, true)] {
        assert_eq!(desk.offers(&page, &slots[slot]).await, free, "{slot}");
    }
    desk.is_taken(&page, &slots[9]).await;
    desk.is_taken(&page, &slots[11]).await;
    // For another page it is an event like any other.
    desk.is_taken(&plain, &slots[10]).await;
    assert!(desk.offers(&plain, &slots[9]).await && desk.offers(&plain, &slots[11]).await);
    desk.is_taken(&halves, &slots[10]).await;
    desk.is_taken(&halves, &shifted(&slots[10], 30)).await;
    assert!(desk.offers(&halves, &shifted(&slots[10], 60)).await);

    // Another event at the same time, one inside the slot, and one that is only in its buffer.
    for (from, to) in [(0, 60), (20, 30), (65, 90), (-30, -5)] {
        let (start, until) = (shifted(&slots[10], from), shifted(&slots[10], to));
        let other = desk.owner_is_busy(&page, &start, &until).await;
        desk.is_taken(&page, &slots[10]).await;
        desk.owner_deletes(&other).await;
        assert!(desk.offers(&page, &slots[10]).await, "{from} to {to}");
    }
    // A blocked slot keeps its guests, and they can leave it.
    let other = desk.owner_is_busy(&page, &slots[10], &end(&slots[10])).await;
    desk.sit_at(&page, &slots[10], &[ADA, BEN]).await;
    desk.guest.post(&ben.cancel).await.expect(200);
    desk.is_taken(&page, &slots[10]).await;
    desk.owner_deletes(&other).await;
    let cy = desk.seat(&page, &slots[10], CY).await;
    assert_eq!(desk.sit_at(&page, &slots[10], &[ADA, CY]).await, cy.event);
}

#[apply(on_both)]
#[tokio::test]
async fn a_guest_who_leaves_frees_one_seat(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.class(2, json!({})).await;
    let slots = desk.slots(&page).await;
    let [ada, ben] = desk.seat_all(&page, &slots[5], [ADA, BEN]).await;
    desk.is_taken(&page, &slots[5]).await;

    let gone = desk.guest.post(&ada.cancel).await.expect(200);
    assert_eq!(gone["status"], "cancelled");
    let ended = desk.has_ended(&page, ADA, &ada, "guest").await;
    assert_eq!(desk.sit_at(&page, &slots[5], &[BEN]).await, ben.event);
    assert_eq!(desk.view(&ben).await["status"], "confirmed");
    assert!(desk.offers(&page, &slots[5]).await);
    let cy = desk.seat(&page, &slots[5], CY).await;
    assert_eq!(cy.event, ben.event);
    // Another cancellation of the same booking frees no seat.
    assert_eq!(desk.guest.post(&ada.cancel).await.expect(200).json, gone.json);
    assert_eq!(desk.calls_off(&page, ADA).await.expect(200).json, ended);
    assert_eq!(desk.record(&page, ADA).await, ended);
    desk.is_taken(&page, &slots[5]).await;

    let gone = desk.calls_off(&page, BEN).await.expect(200);
    assert_eq!(desk.has_ended(&page, BEN, &ben, "host").await, gone.json);
    assert_eq!(desk.calls_off(&page, BEN).await.expect(200).json, gone.json);
    assert_eq!(desk.guest.post(&ben.cancel).await.expect(200)["status"], "cancelled");
    assert_eq!(desk.record(&page, BEN).await, gone.json);
    assert_eq!(desk.sit_at(&page, &slots[5], &[CY]).await, cy.event);

    // The event goes with the last guest.
    desk.guest.post(&cy.cancel).await.expect(200);
    desk.has_ended(&page, CY, &cy, "guest").await;
    desk.event_of(&cy.event).await.refused(404, "not_found");
    assert_eq!(desk.event_starts(&page).await, Vec::<String>::new());
    let dot = desk.seat(&page, &slots[5], DOT).await;
    assert_ne!(dot.event, cy.event);
    desk.calls_off(&page, DOT).await.expect(200);
    desk.has_ended(&page, DOT, &dot, "host").await;
    desk.event_of(&dot.event).await.refused(404, "not_found");
    assert!(desk.offers(&page, &slots[5]).await);
    assert_eq!(desk.read(&page).await["bookings_count"], 4);

    let guests = [ADA, ADA, BEN, BEN, CY, CY, DOT, DOT].map(|guest| guest.1);
    assert_eq!(recipients(&desk.mails(8).await), guests);
    desk.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_guest_who_moves_takes_one_seat_along(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.class(2, json!({})).await;
    let slots = desk.slots(&page).await;
    let (first, second, third) = (&slots[5], &slots[9], &slots[12]);
    let [ada, ben] = desk.seat_all(&page, first, [ADA, BEN]).await;
    let cy = desk.seat(&page, second, CY).await;

    // To a slot with a guest and a free seat.
    let moved = desk.move_to(&ada, second).await.expect(200);
    let shown = (&moved["event"]["id"], &moved["event"]["start_time"]);
    assert_eq!(shown, (&json!(cy.event), &json!(second)), "{}", moved.describe());
    assert_eq!(desk.sit_at(&page, first, &[BEN]).await, ben.event);
    assert_eq!(desk.sit_at(&page, second, &[ADA, CY]).await, cy.event);
    assert!(desk.offers(&page, first).await);
    desk.is_taken(&page, second).await;
    let event = desk.event_of(&cy.event).await.expect(200);
    assert_eq!((&event["title"], &event["metadata"]["booking"]["name"]), (&json!("Intro"), &Value::Null));

    // From a full slot to an empty one. The guest who stays keeps the event.
    desk.move_to(&ada, third).await.expect(200);
    let own = desk.sit_at(&page, third, &[ADA]).await;
    assert_ne!(own, cy.event);
    assert_eq!(desk.sit_at(&page, second, &[CY]).await, cy.event);
    let event = desk.event_of(&own).await.expect(200);
    assert_eq!(
        (&event["title"], &event["metadata"]),
        (&json!("Intro"), &json!({ "booking": { "booking_page_id": page.id } }))
    );

    // The last guest of a slot joins another one. Nothing is left behind.
    desk.move_to(&ben, third).await.expect(200);
    assert_eq!(desk.sit_at(&page, third, &[ADA, BEN]).await, own);
    desk.event_of(&ben.event).await.refused(404, "not_found");
    assert_eq!(desk.event_starts(&page).await, [second.clone(), third.clone()]);
    assert!(desk.offers(&page, first).await);

    // The only guest of a slot moves to an empty one, which others can join.
    desk.move_to(&cy, first).await.expect(200);
    assert_eq!(desk.event_starts(&page).await, [first.clone(), third.clone()]);
    let joined = desk.seat(&page, first, DOT).await;
    assert_eq!(desk.sit_at(&page, first, &[CY, DOT]).await, joined.event);
    assert!(desk.offers(&page, second).await);
    // The links still work, each for one guest.
    desk.guest.post(&ada.cancel).await.expect(200);
    desk.has_ended(&page, ADA, &ada, "guest").await;
    desk.sit_at(&page, third, &[BEN]).await;
    assert_eq!(desk.counts(&page).await, (json!(4), json!(4)));
}

#[apply(on_both)]
#[tokio::test]
async fn neither_a_full_slot_nor_the_own_one_is_offered_for_a_move(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.class(2, json!({})).await;
    let day = whole_day(&desk.slots(&page).await);
    let (own, full, joinable, empty) = (&day[6], &day[7], &day[12], &day[14]);
    let ada = desk.seat(&page, own, ADA).await;
    let [ben, _] = desk.seat_all(&page, full, [BEN, CY]).await;
    desk.seat(&page, joinable, DOT).await;
    for (booked, start, free) in [
        (&ada, own, false),
        (&ada, full, false),
        (&ada, joinable, true),
        (&ada, empty, true),
        (&ben, own, true),
        (&ben, full, false),
        (&ben, joinable, true),
    ] {
        assert_eq!(desk.offers_move(booked, start).await, free, "{start}");
    }
    assert!(desk.offers(&page, own).await, "to others");

    let before = desk.host_sees(&page).await;
    let refused = desk.move_to(&ada, full).await.refused(409, "conflict").code("slot_taken");
    names_other_times(&refused, full);
    names_other_times(&refused, own);
    // A move to the same slot may be refused. It must not change anything.
    let same = desk.move_to(&ada, own).await;
    assert!([200, 409].contains(&same.status), "{}", same.describe());
    assert_eq!(desk.host_sees(&page).await, before);
    desk.seat(&page, own, EVE).await;
    desk.is_taken(&page, own).await;
}

#[apply(on_both)]
#[tokio::test]
async fn what_the_owner_does_with_the_event_counts_for_all_guests(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.class(3, json!({})).await;
    let slots = desk.slots(&page).await;
    let [ada, ben] = desk.seat_all(&page, &slots[5], [ADA, BEN]).await;
    let cy = desk.seat(&page, &slots[20], CY).await;
    desk.owner_puts(&ada.event, &slots[9]).await;
    assert_eq!(desk.sit_at(&page, &slots[9], &[ADA, BEN]).await, ada.event);
    for booked in [&ada, &ben] {
        assert_eq!(desk.view(booked).await["event"]["start_time"], json!(slots[9]));
        assert_eq!(desk.in_file(booked, "DTSTART").await, [stamp(&slots[9])]);
    }
    assert!(desk.offers(&page, &slots[5]).await);
    // It is in another slot of the page now, so others can join it there.
    let dot = desk.seat(&page, &slots[9], DOT).await;
    assert_eq!(desk.sit_at(&page, &slots[9], &[ADA, BEN, DOT]).await, ada.event);
    desk.guest.post(&dot.cancel).await.expect(200);

    // Off the grid, nobody can join it. It blocks like any other event.
    let between = shifted(&slots[9], 30);
    desk.owner_puts(&ada.event, &between).await;
    desk.sit_at(&page, &between, &[ADA, BEN]).await;
    desk.is_taken(&page, &slots[9]).await;
    desk.is_taken(&page, &slots[10]).await;
    desk.guest.post(&page.book).json(booking(&between, by(LATE))).await.refused(400, "validation_error");
    desk.move_to(&cy, &slots[9]).await.refused(409, "conflict").code("slot_taken");
    // A guest can still leave it.
    desk.move_to(&ada, &slots[20]).await.expect(200);
    desk.sit_at(&page, &between, &[BEN]).await;
    assert_eq!(desk.sit_at(&page, &slots[20], &[ADA, CY]).await, cy.event);

    // The owner deletes one event and cancels the other.
    desk.owner_deletes(&ben.event).await;
    desk.has_ended(&page, BEN, &ben, "host").await;
    assert!(desk.offers(&page, &slots[9]).await && desk.offers(&page, &slots[10]).await);
    desk.sit_at(&page, &slots[20], &[ADA, CY]).await;
    desk.owner_sets(&cy.event, json!({ "status": "cancelled" })).await;
    desk.has_ended(&page, ADA, &ada, "host").await;
    desk.has_ended(&page, CY, &cy, "host").await;
    assert!(desk.offers(&page, &slots[20]).await);
    let eve = desk.seat(&page, &slots[20], EVE).await;
    assert_ne!(eve.event, cy.event);
    desk.sit_at(&page, &slots[20], &[EVE]).await;

    // Five bookings, one move and one cancellation by guests. The owner's changes send nothing.
    let guests = [ADA, ADA, BEN, CY, DOT, DOT, EVE].map(|guest| guest.1);
    assert_eq!(recipients(&desk.mails(7).await), guests);
    desk.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn a_change_of_seats_drops_nobody_and_opens_no_event_of_one_guest(#[case] database: Database) {
    let desk = Desk::new(database).await;
    let page = desk.page(json!({})).await;
    let slots = desk.slots(&page).await;
    let early = desk.seat(&page, &slots[3], EVE).await;
    desk.patch(&page, json!({ "seats": 3 })).await;
    desk.is_taken(&page, &slots[3]).await;
    let [ada, ben] = desk.seat_all(&page, &slots[5], [ADA, BEN]).await;
    let before = desk.host_sees(&page).await;
    for (seats, free) in [(1, false), (2, false), (3, true), (2, false), (500, true), (3, true)] {
        desk.patch(&page, json!({ "seats": seats })).await;
        assert_eq!(desk.host_sees(&page).await, before, "{seats} seats");
        if free {
            assert!(desk.offers(&page, &slots[5]).await, "{seats} seats");
        } else {
            desk.is_taken(&page, &slots[5]).await;
        }
        desk.is_taken(&page, &slots[3]).await;
    }
    desk.seat(&page, &slots[5], CY).await;
    desk.is_taken(&page, &slots[5]).await;
    assert_eq!(desk.sit_at(&page, &slots[5], &[ADA, BEN, CY]).await, ada.event);
    desk.move_to(&ada, &slots[3]).await.refused(409, "conflict").code("slot_taken");

    // Each guest still has one seat only, also when the page has one.
    desk.patch(&page, json!({ "seats": 1 })).await;
    desk.move_to(&ada, &slots[9]).await.expect(200);
    desk.sit_at(&page, &slots[9], &[ADA]).await;
    desk.guest.post(&ben.cancel).await.expect(200);
    assert_eq!(desk.sit_at(&page, &slots[5], &[CY]).await, ben.event);
    desk.is_taken(&page, &slots[5]).await;
    let dot = desk.seat(&page, &slots[12], DOT).await;
    let event = desk.event_of(&dot.event).await.expect(200);
    let title = json!("Intro: Dorothy Vaughan");
    assert_eq!((&event["title"], &event["metadata"]["booking"]["email"]), (&title, &json!(DOT.1)));

    desk.patch(&page, json!({ "seats": 2 })).await;
    desk.is_taken(&page, &slots[12]).await;
    desk.is_taken(&page, &slots[3]).await;
    assert_eq!(desk.event_of(&dot.event).await.expect(200)["title"], title);
    assert!(desk.offers(&page, &slots[5]).await);
    assert_eq!(desk.seat(&page, &slots[5], LATE).await.event, ben.event);
    // After the single guest has left, the slot has several seats.
    desk.guest.post(&early.cancel).await.expect(200);
    let [first, _] =
        desk.seat_all(&page, &slots[3], [("Fay", "fay@guest.example"), ("Gus", "gus@guest.example")]).await;
    assert_ne!(first.event, early.event);
    desk.is_taken(&page, &slots[3]).await;
}

#[apply(on_both)]
#[tokio::test]
async fn each_guest_keeps_an_invitation_of_their_own(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.class(3, json!({})).await;
    let slots = desk.slots(&page).await;
    let [ada, ben, cy] = desk.seat_all(&page, &slots[5], [ADA, BEN, CY]).await;
    let mails = desk.mails(3).await;
    assert_eq!(recipients(&mails), [ADA.1, BEN.1, CY.1]);
    let [to_ada, to_ben, to_cy]: [Invitation; 3] = [&mails[0], &mails[1], &mails[2]].map(Invitation::of);
    for (invitation, booked) in [(&to_ada, &ada), (&to_ben, &ben), (&to_cy, &cy)] {
        assert_eq!((invitation.method.as_str(), &invitation.start), ("REQUEST", &stamp(&slots[5])));
        assert_eq!(desk.in_file(booked, "UID").await, std::slice::from_ref(&invitation.uid));
    }
    let mut uids: BTreeSet<String> = [&to_ada, &to_ben, &to_cy].map(|invitation| invitation.uid.clone()).into();
    assert_eq!(uids.len(), 3, "{uids:?}");

    // Ada moves to an empty slot, and Dot and Ben join her there.
    desk.move_to(&ada, &slots[9]).await.expect(200);
    let moved_ada = desk.next_invitation(ADA, "REQUEST").await;
    moved_ada.follows(&to_ada);
    assert_eq!(moved_ada.start, stamp(&slots[9]));
    for (booked, invitation, start) in [(&ada, &to_ada, 9), (&ben, &to_ben, 5), (&cy, &to_cy, 5)] {
        assert_eq!(desk.in_file(booked, "UID").await, std::slice::from_ref(&invitation.uid));
        assert_eq!(desk.in_file(booked, "DTSTART").await, [stamp(&slots[start])]);
    }
    let dot = desk.seat(&page, &slots[9], DOT).await;
    let to_dot = desk.next_invitation(DOT, "REQUEST").await;
    assert!(uids.insert(to_dot.uid.clone()), "{uids:?}");
    desk.move_to(&ben, &slots[9]).await.expect(200);
    let moved_ben = desk.next_invitation(BEN, "REQUEST").await;
    moved_ben.follows(&to_ben);
    // A second move, back to the first event.
    desk.move_to(&ben, &slots[5]).await.expect(200);
    let back = desk.next_invitation(BEN, "REQUEST").await;
    back.follows(&moved_ben);
    assert_eq!(back.start, stamp(&slots[5]));

    desk.guest.post(&ada.cancel).await.expect(200);
    desk.next_invitation(ADA, "CANCEL").await.follows(&moved_ada);
    desk.calls_off(&page, CY).await.expect(200);
    desk.next_invitation(CY, "CANCEL").await.follows(&to_cy);
    // The seat of a guest who left has a new invitation, also for the same guest.
    desk.book(&page, &slots[9], by(ADA)).await;
    let again = desk.next_invitation(ADA, "REQUEST").await;
    assert!(uids.insert(again.uid.clone()), "{uids:?}");
    // The owner moves the event. The guest's invitation is still the same one.
    desk.owner_puts(&dot.event, &slots[12]).await;
    assert_eq!(desk.in_file(&dot, "UID").await, std::slice::from_ref(&to_dot.uid));
    desk.move_to(&dot, &slots[15]).await.expect(200);
    let moved_dot = desk.next_invitation(DOT, "REQUEST").await;
    moved_dot.follows(&to_dot);
    desk.guest.post(&dot.cancel).await.expect(200);
    desk.next_invitation(DOT, "CANCEL").await.follows(&moved_dot);
    desk.guest.post(&ben.cancel).await.expect(200);
    desk.next_invitation(BEN, "CANCEL").await.follows(&back);
    desk.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn guests_see_nothing_of_each_other(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.class(3, json!({ "host_name": "Grace Hopper" })).await;
    let slots = desk.slots(&page).await;
    // The file, without the time at which it was written.
    let file = async |desk: &Desk, booked: &Booked| {
        let whole = desk.guest.get(&booked.file).await.expect(200).text();
        whole.lines().filter(|line| !line.starts_with("DTSTAMP")).map(str::to_owned).collect::<Vec<_>>()
    };
    // Ada is in the service's own examples.
    let guests = [(BEN, "tractor-notes"), (CY, "balloon-notes"), (DOT, "rocket-notes")];
    let empty = slot_entry(&desk.guest, &page, &slots[5]).await;
    let (mut seated, mut answers) = (Vec::new(), Vec::new());
    for (guest, notes) in guests {
        assert_eq!(slot_entry(&desk.guest, &page, &slots[5]).await, empty, "the list shows no number of guests");
        let earlier = match seated.first() {
            Some(first) => Some((desk.view(first).await.json, file(&desk, first).await)),
            None => None,
        };
        let body = booking(&slots[5], with(by(guest), json!({ "notes": notes })));
        let answer = desk.guest.post(&page.book).json(body).await.expect(201);
        seated.push(Booked {
            event: text(&answer["event"]["id"]),
            cancel: desk.path(&answer["cancel_url"]),
            reschedule: desk.path(&answer["reschedule_url"]),
            file: desk.path(&answer["ics_url"]),
        });
        answers.push(answer);
        if let Some(earlier) = earlier {
            let after = (desk.view(&seated[0]).await.json, file(&desk, &seated[0]).await);
            assert_eq!(after, earlier, "the first guest sees no change");
        }
    }
    let refused = desk.guest.post(&page.book).json(booking(&slots[5], by(LATE))).await.expect(409);
    let for_all = [refused.text(), desk.content(&page.book, "text/markdown").await, desk.html(&page.book).await];

    let mut mails = desk.mails(3).await;
    for (index, booked) in seated.iter().enumerate() {
        let mail = &mails[index];
        let mut seen = vec![
            answers[index].text(),
            desk.view(booked).await.text(),
            file(&desk, booked).await.join("\n"),
            desk.html(&booked.cancel).await,
            desk.html(&booked.reschedule).await,
            format!("{}\n{}\n{}", mail.subject, mail.text, mail.invitation),
        ];
        seen.extend(for_all.clone());
        for (other, (guest, notes)) in guests.iter().enumerate().filter(|(other, _)| *other != index) {
            let [cancel, reschedule] = tokens(&seated[other]);
            for part in [guest.0, guest.1, notes, cancel, reschedule] {
                for seen in &seen {
                    assert!(!seen.contains(part), "{} sees {part}: {seen}", guests[index].0.0);
                }
            }
        }
    }

    // Nor when one of them moves and another leaves.
    let before = (desk.view(&seated[2]).await.json, file(&desk, &seated[2]).await);
    let moved = desk.move_to(&seated[0], &slots[9]).await.expect(200);
    let gone = desk.guest.post(&seated[1].cancel).await.expect(200);
    assert_eq!((desk.view(&seated[2]).await.json, file(&desk, &seated[2]).await), before);
    mails = desk.mails(2).await;
    let seen_by_ben = [moved.text(), mails[0].text.clone(), mails[0].invitation.clone()];
    let after = desk.view(&seated[1]).await.text();
    let seen_by_cy = [gone.text(), mails[1].text.clone(), mails[1].invitation.clone(), after];
    for (seen, others) in [(&seen_by_ben[..], [CY, DOT]), (&seen_by_cy[..], [BEN, DOT])] {
        for seen in seen {
            for (name, email) in others {
                assert!(!seen.contains(name) && !seen.contains(email), "{name}: {seen}");
            }
        }
    }
    desk.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn hosts_get_a_mail_for_each_guest(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.class(3, json!({ "notify_emails": [OWN] })).await;
    let slots = desk.slots(&page).await;
    let mut last = BTreeMap::new();
    // The guest's mail and the host's have the same UID, and both are newer than the ones before.
    let mut heard = async |desk: &mut Desk, what: &str, method: &str, guest: Guest, start: &str| {
        let mails = desk.mails(2).await;
        assert_eq!(recipients(&mails), [guest.1, OWN]);
        let [to_guest, to_host] = [Invitation::of(&mails[0]), Invitation::of(&mails[1])];
        assert_eq!(mails[1].subject, format!("{what}: {}", guest.0), "{:#?}", mails[1]);
        assert_eq!(to_host.uid, to_guest.uid, "{mails:#?}");
        for invitation in [&to_guest, &to_host] {
            assert_eq!((invitation.method.as_str(), &invitation.start), (method, &stamp(start)), "{mails:#?}");
        }
        if let Some(earlier) = last.insert(guest.1, to_host) {
            last[guest.1].follows(&earlier);
        }
        to_guest.uid
    };
    let ada = desk.seat(&page, &slots[5], ADA).await;
    let of_ada = heard(&mut desk, "New booking", "REQUEST", ADA, &slots[5]).await;
    let ben = desk.seat(&page, &slots[5], BEN).await;
    let of_ben = heard(&mut desk, "New booking", "REQUEST", BEN, &slots[5]).await;
    assert_ne!(of_ada, of_ben);
    desk.move_to(&ben, &slots[9]).await.expect(200);
    assert_eq!(heard(&mut desk, "Booking moved", "REQUEST", BEN, &slots[9]).await, of_ben);
    desk.move_to(&ada, &slots[9]).await.expect(200);
    assert_eq!(heard(&mut desk, "Booking moved", "REQUEST", ADA, &slots[9]).await, of_ada);
    desk.guest.post(&ben.cancel).await.expect(200);
    assert_eq!(heard(&mut desk, "Booking cancelled", "CANCEL", BEN, &slots[9]).await, of_ben);
    desk.calls_off(&page, ADA).await.expect(200);
    assert_eq!(heard(&mut desk, "Booking cancelled", "CANCEL", ADA, &slots[9]).await, of_ada);
    desk.nothing_more().await;
}

#[apply(on_both)]
#[tokio::test]
async fn webhooks_name_the_booking_that_caused_the_message(#[case] database: Database) {
    let receiver = Receiver::start().await;
    let variables = [("KALENDS_EGRESS_ALLOW", receiver.address()), ("KALENDS_MAIL_LIMITS", "off")];
    let desk = Desk::with(database, &variables).await;
    hook(&desk.api, &receiver, "/all", &["event.created", "event.updated", "event.deleted"]).await;
    let page = desk.class(3, json!({})).await;
    let slots = desk.slots(&page).await;
    let mut read = 0;
    // Requires that exactly these messages came next, in any order, because of this guest.
    let mut hears = async |desk: &Desk, guest: Guest, expected: &[(&str, &str)]| {
        let messages = receiver.wait_for("/all", read + expected.len()).await.split_off(read);
        read += expected.len();
        let booking = desk.record(&page, guest).await["id"].clone();
        let mut found = BTreeSet::new();
        for message in &messages {
            let payload = message.json();
            let causes = (&payload["booking_page_id"], &payload["booking_id"]);
            assert_eq!(causes, (&json!(page.id), &booking), "{} {payload:#}", message.event_type());
            found.insert((message.event_type().to_owned(), text(&payload["id"])));
        }
        let expected: BTreeSet<_> = expected.iter().map(|(kind, id)| ((*kind).to_owned(), (*id).to_owned())).collect();
        assert_eq!((found, messages.len()), (expected.clone(), expected.len()));
    };
    let ada = desk.seat(&page, &slots[5], ADA).await;
    hears(&desk, ADA, &[("event.created", ada.event.as_str())]).await;
    let ben = desk.seat(&page, &slots[5], BEN).await;
    hears(&desk, BEN, &[("event.updated", ada.event.as_str())]).await;
    desk.seat(&page, &slots[5], CY).await;
    hears(&desk, CY, &[("event.updated", ada.event.as_str())]).await;
    let dot = desk.seat(&page, &slots[9], DOT).await;
    hears(&desk, DOT, &[("event.created", dot.event.as_str())]).await;
    // Ben leaves one event and joins another.
    desk.move_to(&ben, &slots[9]).await.expect(200);
    hears(&desk, BEN, &[("event.updated", ada.event.as_str()), ("event.updated", dot.event.as_str())]).await;
    // Ben leaves that, too, and is the first of a third one.
    desk.move_to(&ben, &slots[12]).await.expect(200);
    let third = text(&desk.record(&page, BEN).await["event_id"]);
    hears(&desk, BEN, &[("event.updated", dot.event.as_str()), ("event.created", third.as_str())]).await;
    // Dot is the last of the second one and joins the third one.
    desk.move_to(&dot, &slots[12]).await.expect(200);
    hears(&desk, DOT, &[("event.deleted", dot.event.as_str()), ("event.updated", third.as_str())]).await;
    desk.guest.post(&ada.cancel).await.expect(200);
    hears(&desk, ADA, &[("event.updated", ada.event.as_str())]).await;
    desk.calls_off(&page, CY).await.expect(200);
    hears(&desk, CY, &[("event.deleted", ada.event.as_str())]).await;
    // A second cancellation is not announced. The next message is about another guest.
    desk.guest.post(&ada.cancel).await.expect(200);
    desk.calls_off(&page, CY).await.expect(200);
    let eve = desk.seat(&page, &slots[20], EVE).await;
    hears(&desk, EVE, &[("event.created", eve.event.as_str())]).await;
}

#[rstest]
#[case::sqlite(Sqlite, 1)]
#[case::postgres(Postgres, 1)]
#[case::two_nodes(Postgres, 2)]
#[tokio::test]
async fn many_guests_at_once_take_all_seats_and_no_more(#[case] database: Database, #[case] nodes: usize) {
    const SEATS: usize = 10;
    const GUESTS: usize = 40;
    let desk = Desk::new(database).await;
    let page = desk.class(10, json!({ "buffer_minutes": 15 })).await;
    let (_nodes, guests) = desk.guests_on(nodes).await;
    let slots = desk.slots(&page).await;
    let call = |guest: usize, start: &str| guests[guest % nodes].post(&page.book).json(booking(start, number(guest)));
    for (round, slot) in [10, 20, 30].into_iter().enumerate() {
        let start = &slots[slot];
        if round == 1 {
            // This slot has a guest already.
            desk.seat(&page, start, ADA).await;
        }
        let free = if round == 1 { SEATS - 1 } else { SEATS };
        let answers = at_once((0..GUESTS).map(|guest| call(guest, start)).collect()).await;
        assert_eq!(counted(&answers), outcomes(201, free, GUESTS - free));
        let (booked, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 201);
        let events: BTreeSet<String> = booked.iter().map(|answer| text(&answer["event"]["id"])).collect();
        assert_eq!(events.len(), 1, "{events:?}");
        for answer in refused {
            names_other_times(answer, start);
        }
        let mut listed = desk.host_sees(&page).await;
        listed.retain(|one| one["start_time"] == *start);
        let people: BTreeSet<String> = listed.iter().map(|one| text(&one["email"])).collect();
        assert_eq!((listed.len(), people.len()), (SEATS, SEATS));
        assert!(listed.iter().all(|one| events.contains(one["event_id"].as_str().unwrap())), "{listed:#?}");
        for guest in &guests {
            assert!(!offered(guest, &page, start).await, "{start} is full on every node");
        }
        assert_eq!(desk.event_starts(&page).await.len(), round + 1, "each slot has one event");
    }
    assert_eq!(desk.counts(&page).await, (json!(3 * SEATS), json!(3 * SEATS)));
}

#[rstest]
#[case::sqlite(Sqlite, 1)]
#[case::postgres(Postgres, 1)]
#[case::two_nodes(Postgres, 2)]
#[tokio::test]
async fn guests_who_move_and_leave_at_once_lose_no_seat(#[case] database: Database, #[case] nodes: usize) {
    const SEATS: usize = 6;
    let desk = Desk::new(database).await;
    let page = desk.class(6, json!({})).await;
    let (_nodes, guests) = desk.guests_on(nodes).await;
    let slots = desk.slots(&page).await;
    let client = |guest: usize| &guests[guest % nodes];
    let mut seated = Vec::new();
    for guest in 0..3 * SEATS {
        seated.push(desk.book(&page, &slots[10 + 5 * (guest / SEATS)], number(guest)).await);
    }
    // All guests of three full slots want the same empty one.
    let target = &slots[40];
    let body = json!({ "start": target });
    let moves = seated.iter().enumerate();
    let moves = moves.map(|(guest, booked)| client(guest).post(&booked.reschedule).json(body.clone()));
    let answers = at_once(moves.collect()).await;
    assert_eq!(counted(&answers), outcomes(200, SEATS, 2 * SEATS));
    let moved: Vec<bool> = answers.iter().map(|answer| answer.status == 200).collect();
    let listed = desk.host_sees(&page).await;
    assert_eq!(listed.len(), 3 * SEATS);
    for (guest, moved) in moved.iter().enumerate() {
        let email = number(guest)["email"].clone();
        let start = if *moved { target } else { &slots[10 + 5 * (guest / SEATS)] };
        let found: Vec<_> = listed.iter().filter(|one| one["email"] == email).collect();
        assert_eq!((found.len(), &found[0]["start_time"]), (1, &json!(start)), "{found:#?}");
    }
    let left = moved.chunks(SEATS).filter(|slot| slot.iter().any(|moved| !moved)).count();
    assert_eq!(desk.event_starts(&page).await.len(), left + 1, "a slot without guests has no event");

    // Those who moved leave, while others want their seats. No seat is lost in any order.
    let movers: Vec<usize> = (0..3 * SEATS).filter(|guest| moved[*guest]).collect();
    let mut calls: Vec<_> = movers.iter().map(|guest| client(*guest).post(&seated[*guest].cancel)).collect();
    let new = 100..100 + 2 * SEATS;
    calls.extend(new.map(|guest| client(guest).post(&page.book).json(booking(target, number(guest)))));
    let answers = at_once(calls).await;
    let (left, came) = answers.split_at(SEATS);
    assert_eq!(counted(left), outcomes(200, SEATS, 0));
    let booked = came.iter().filter(|answer| answer.status == 201).count();
    assert!(booked <= SEATS, "{:?}", counted(came));
    assert_eq!(counted(came), outcomes(201, booked, came.len() - booked));
    let mut there = desk.host_sees(&page).await;
    there.retain(|one| one["start_time"] == *target && one["status"] == "confirmed");
    let events: BTreeSet<&str> = there.iter().map(|one| one["event_id"].as_str().unwrap()).collect();
    assert_eq!((there.len(), events.len()), (booked, usize::from(booked > 0)), "{there:#?}");
    for event in events {
        assert_eq!(desk.event_of(event).await.expect(200)["startTime"], json!(target));
    }
    // All seats that nobody has are free.
    for guest in booked..SEATS {
        desk.book(&page, target, number(200 + guest)).await;
    }
    desk.is_taken(&page, target).await;

    // All leave at once, by their own links and by the host. No event stays behind.
    let mut there = desk.host_sees(&page).await;
    there.retain(|one| one["status"] == "confirmed");
    let calls = there.iter().map(|one| {
        let path = format!("/v1/bookings/{}/cancel", one["id"].as_str().unwrap());
        desk.api.post(path).json(json!({}))
    });
    let mut calls: Vec<_> = calls.collect();
    let stayed = (0..3 * SEATS).filter(|guest| !moved[*guest]);
    calls.extend(stayed.map(|guest| client(guest).post(&seated[guest].cancel)));
    let answers = at_once(calls).await;
    assert_eq!(counted(&answers), outcomes(200, answers.len(), 0));
    assert_eq!(desk.event_starts(&page).await, Vec::<String>::new());
    assert!(desk.host_sees(&page).await.iter().all(|one| one["status"] == "cancelled"));
    for guest in &guests {
        assert!(offered(guest, &page, target).await);
    }
}

#[rstest]
#[case::sqlite(Sqlite, 1)]
#[case::postgres(Postgres, 1)]
#[case::two_nodes(Postgres, 2)]
#[tokio::test]
async fn one_booking_that_ends_and_moves_at_once_touches_no_other_guest(
    #[case] database: Database,
    #[case] nodes: usize,
) {
    let desk = Desk::new(database).await;
    let page = desk.class(3, json!({})).await;
    let (_nodes, guests) = desk.guests_on(nodes).await;
    let slots = desk.slots(&page).await;
    for round in 0..12 {
        let (here, there) = (&slots[10 + 4 * round], &slots[12 + 4 * round]);
        let (ada, ben) =
            (desk.book(&page, here, number(2 * round)).await, desk.book(&page, here, number(2 * round + 1)).await);
        let cancel = async |client: &Client| client.post(&ada.cancel).await;
        let moves = async |client: &Client| client.post(&ada.reschedule).json(json!({ "start": there })).await;
        let (first, second) = (&guests[0], &guests[nodes - 1]);
        let record =
            desk.host_sees(&page).await.into_iter().find(|one| one["email"] == number(2 * round)["email"]).unwrap();
        let path = format!("/v1/bookings/{}/cancel", record["id"].as_str().unwrap());
        let by_host = async || desk.api.post(&path).json(json!({})).await;
        // Every pair of the three, and all of them.
        let statuses = match round % 4 {
            0 => {
                let (one, two) = tokio::join!(cancel(first), cancel(second));
                vec![one.status, two.status]
            }
            1 => {
                let (one, two) = tokio::join!(cancel(first), moves(second));
                vec![one.status, two.status]
            }
            2 => {
                let (one, two) = tokio::join!(by_host(), moves(second));
                vec![one.status, two.status]
            }
            _ => {
                let (one, two, three) = tokio::join!(cancel(first), by_host(), moves(second));
                vec![one.status, two.status, three.status]
            }
        };
        assert_eq!(statuses[0], 200);
        assert!(statuses.iter().all(|status| [200, 409].contains(status)), "{statuses:?}");
        let listed = desk.host_sees(&page).await;
        let live: Vec<_> = listed.iter().filter(|one| one["status"] == "confirmed").collect();
        let bens = live.iter().find(|one| one["email"] == number(2 * round + 1)["email"]);
        assert_eq!(bens.map(|one| &one["start_time"]), Some(&json!(here)), "{listed:#?}");
        assert_eq!(desk.event_of(&ben.event).await.expect(200)["startTime"], json!(here));
        // Each event has a guest, and each guest an event.
        let taken: BTreeSet<String> = live.iter().map(|one| text(&one["start_time"])).collect();
        assert_eq!(desk.event_starts(&page).await, Vec::from_iter(taken), "{statuses:?}: {listed:#?}");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn each_guest_who_still_comes_is_reminded(#[case] database: Database) {
    let mut desk = Desk::new(database).await;
    let page = desk.class(5, json!({ "guest_reminders": [60] })).await;
    let slots = desk.slots(&page).await;
    let guests = [ADA, BEN, CY, DOT, EVE];
    let seated = desk.seat_all(&page, &slots[8], guests).await;
    desk.mails(5).await;
    desk.guest.post(&seated[2].cancel).await.expect(200);
    desk.calls_off(&page, EVE).await.expect(200);
    desk.move_to(&seated[3], &slots[12]).await.expect(200);
    assert_eq!(recipients(&desk.mails(3).await), [CY.1, DOT.1, EVE.1]);

    for (start, expected) in [(&slots[8], &[0, 1][..]), (&slots[12], &[3][..])] {
        desk.forward_to(&shifted(start, -59)).await;
        let mails = desk.mails(expected.len()).await;
        for (mail, index) in mails.iter().zip(expected) {
            assert_eq!(mail.to, guests[*index].1, "{mail:#?}");
            assert!(mail.subject.starts_with("Reminder: Intro"), "{mail:#?}");
            assert!(mail.text.contains(&start[11..16]), "{mail:#?}");
            for (other, booked) in seated.iter().enumerate() {
                for path in [&booked.cancel, &booked.reschedule] {
                    assert_eq!(mail.text.contains(path), other == *index, "{path}: {mail:#?}");
                }
                let whole = [mail.subject.as_str(), &mail.text].join("\n");
                assert!(other == *index || !whole.contains(guests[other].0), "{mail:#?}");
            }
        }
        // The next mail is to another guest.
        desk.nothing_more().await;
    }
    // The links in a reminder work, and only for its own guest.
    desk.move_to(&seated[3], &slots[30]).await.expect(200);
    desk.sit_at(&page, &slots[30], &[DOT]).await;

    // The owner moves an event with two guests. Both are reminded at the new time.
    desk.seat_all(&page, &slots[40], [("Fay", "fay@guest.example"), ("Gus", "gus@guest.example")]).await;
    desk.mails(3).await;
    let event = text(&desk.record(&page, ("Fay", "fay@guest.example")).await["event_id"]);
    desk.owner_puts(&event, &slots[44]).await;
    desk.forward_to(&shifted(&slots[30], -59)).await;
    assert_eq!(recipients(&desk.mails(1).await), [DOT.1]);
    desk.forward_to(&shifted(&slots[44], -59)).await;
    assert_eq!(recipients(&desk.mails(2).await), ["fay@guest.example", "gus@guest.example"]);
    desk.nothing_more().await;
}
