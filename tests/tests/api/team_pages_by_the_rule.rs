//! Booking pages of teams: what they offer, which calendars get a booking, and races. Written without knowledge of the
//! code.

use crate::on_both;
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Deref,
};

use futures::future::join_all;
use kalends_e2e::{
    Answer, Client,
    Database::{self, Postgres, Sqlite},
    Server, iso, shifted,
};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    claims::text,
    connecting::{ACCOUNT, CALENDARS, Connecting},
    desk::{Booked, Desk, EMAIL, LAST, Open, PAGES, booking, counted, end, offered, value, with},
    fixtures::{agent_with_calendar, calendar_of, event, shared_calendar},
    proposal_races::at_once,
    webhooks::{hook, with_receiver},
};

const COLLECTIVE: &str = "collective";
const ROUND_ROBIN: &str = "round_robin";
const DAY: i64 = 24 * 3_600;
const WEEK: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// A desk whose organization has several agents with one calendar each, in UTC.
struct TeamDesk {
    desk: Desk,
    agents: Vec<String>,
    /// The calendar of each agent. Tests name calendars by their places in this list.
    team: Vec<String>,
}

impl Deref for TeamDesk {
    type Target = Desk;

    fn deref(&self) -> &Desk {
        &self.desk
    }
}

impl TeamDesk {
    /// A desk with this many calendars.
    async fn new(database: Database, size: usize) -> Self {
        Self::limited(database, size, "{}").await
    }

    async fn limited(database: Database, size: usize, limits: &str) -> Self {
        let server = Server::start_with(database, &[("KALENDS_MAIL_LIMITS", "off")]).await;
        let api = server.api(&server.org_with("pro", &["--limits", limits]).await);
        Self::of(server, api, size).await
    }

    async fn of(server: Server, api: Client, size: usize) -> Self {
        let (mut agents, mut team) = (Vec::new(), Vec::new());
        for _ in 0..size {
            let (agent, calendar) = agent_with_calendar(&api).await;
            agents.push(agent);
            team.push(calendar);
        }
        Self { desk: Desk::of(server, api, team[0].clone()), agents, team }
    }

    /// Starts the service again, with its clock moved by `days` since the beginning of the test.
    async fn later(&mut self, days: i64) {
        self.desk.later(days * DAY).await;
    }

    /// The calendars at these places.
    fn ids(&self, places: &[usize]) -> Value {
        places.iter().map(|place| json!(self.team[*place])).collect()
    }

    /// A page of the team at these places. The first one is `calendar_id`.
    async fn page(&self, assignment: &str, places: &[usize]) -> Open {
        self.page_with(assignment, places, json!({})).await
    }

    async fn page_with(&self, assignment: &str, places: &[usize], fields: Value) -> Open {
        let team = json!({
            "calendar_id": self.team[places[0]], "calendars": self.ids(&places[1..]), "assignment": assignment
        });
        Open::of(&self.create(with(team, fields)).await)
    }

    async fn book(&self, page: &Open, start: &str) -> Booked {
        self.desk.book(page, start, json!({})).await
    }

    /// Books a slot and returns the place of the calendar that the booking's event is on.
    async fn assigned(&self, page: &Open, start: &str) -> usize {
        self.place(&self.book(page, start).await.event).await
    }

    /// Requires that the slot cannot be booked, and that the answer names no calendar.
    async fn is_taken(&self, page: &Open, start: &str) -> Answer {
        let answer = self.guest.post(&page.book).json(booking(start, json!({}))).await;
        let answer = answer.refused(409, "conflict").code("slot_taken").param("start");
        self.names_no_calendar(&answer);
        answer
    }

    /// Cancels a booking as its host.
    async fn cancel(&self, id: &str) -> Answer {
        self.api.post(format!("/v1/bookings/{id}/cancel")).json(json!({})).await
    }

    #[track_caller]
    fn names_no_calendar(&self, answer: &Answer) {
        let shown = answer.text();
        assert!(!self.team.iter().any(|id| shown.contains(id)), "{}", answer.describe());
    }

    /// The place of the calendar that an event is on.
    async fn place(&self, event: &str) -> usize {
        self.place_of(&self.event_of(event).await.expect(200)["calendarId"])
    }

    #[track_caller]
    fn place_of(&self, calendar: &Value) -> usize {
        self.team.iter().position(|id| calendar == id).unwrap_or_else(|| panic!("{calendar} is not in the team"))
    }

    /// An event of one hour that is no booking.
    async fn busy(&self, place: usize, start: &str) -> String {
        event(&self.api, &self.team[place], start, &end(start)).await
    }

    async fn delete(&self, event: &str) {
        self.api.delete(format!("/v1/events/{event}")).await.expect(204);
    }

    async fn events(&self, place: usize) -> Vec<Value> {
        let path = format!("/v1/calendars/{}/events?limit=200", self.team[place]);
        self.api.get(path).await.expect(200).data()
    }

    /// The starts of the events on a calendar.
    async fn starts(&self, place: usize) -> Vec<String> {
        self.events(place).await.iter().map(|event| text(&event["startTime"])).collect()
    }

    /// The starts of the events on each calendar.
    async fn all_starts(&self) -> Vec<Vec<String>> {
        join_all((0..self.team.len()).map(|place| self.starts(place))).await
    }

    /// The events that count toward the month's quota.
    async fn used(&self) -> Value {
        self.api.get("/v1/usage").await.expect(200)["events"]["used"].clone()
    }

    fn rules(&self, place: usize) -> String {
        format!("/v1/calendars/{}/availability-rules", self.team[place])
    }

    async fn put_rules(&self, place: usize, rules: Value) {
        self.api.put(self.rules(place)).json(rules).await.expect(200);
    }

    async fn drop_rules(&self, place: usize) {
        self.api.delete(self.rules(place)).await.expect(204);
    }
}

/// All slots but those at these indexes.
fn without(slots: &[String], gone: &[usize]) -> Vec<String> {
    slots.iter().enumerate().filter(|(index, _)| !gone.contains(index)).map(|(_, slot)| slot.clone()).collect()
}

/// The slots of the date with this number. The first date has begun already.
fn day(slots: &[String], number: usize) -> Vec<String> {
    let dates: BTreeSet<&str> = slots.iter().map(|start| &start[..10]).collect();
    let date = dates.into_iter().nth(number).unwrap();
    let of_date: Vec<String> = slots.iter().filter(|start| start.starts_with(date)).cloned().collect();
    assert_eq!(of_date.len(), 24, "{of_date:?}");
    of_date
}

/// The same hours on every weekday.
fn hours(start: &str, end: &str) -> Value {
    let week = WEEK.iter().map(|day| ((*day).to_owned(), json!({ "start": start, "end": end })));
    json!({ "working_hours": Value::Object(week.collect()) })
}

/// The calendars and the assignment of a page. A field that is missing is shown as text.
fn shown(page: &Value) -> (Value, Value) {
    let field = |name: &str| page.get(name).cloned().unwrap_or_else(|| json!("missing"));
    (field("calendars"), field("assignment"))
}

/// The expected answers: bookings, and refusals because the slot was taken.
fn outcomes(booked: usize, taken: usize) -> BTreeMap<(u16, String), usize> {
    let counts = [((201, String::new()), booked), ((409, "slot_taken".to_owned()), taken)];
    counts.into_iter().filter(|(_, count)| *count > 0).collect()
}

#[apply(on_both)]
#[tokio::test]
async fn a_team_is_shown_changed_and_cleared(#[case] database: Database) {
    let desk = TeamDesk::new(database, 4).await;
    let nobody = (Value::Null, Value::Null);
    let plain = desk.create(json!({})).await;
    assert_eq!(shown(&plain.json), nobody);
    let page = Open::of(&plain);
    // `calendar_id` is the first one, wherever it is named. The others keep their order.
    let orders: [(&[usize], &[usize]); 5] = [
        (&[1], &[0, 1]),
        (&[0, 1], &[0, 1]),
        (&[3, 1, 2], &[0, 3, 1, 2]),
        (&[3, 0, 1], &[0, 3, 1]),
        (&[2, 0], &[0, 2]),
    ];
    for (index, (given, expected)) in orders.into_iter().enumerate() {
        let assignment = if index % 2 == 0 { COLLECTIVE } else { ROUND_ROBIN };
        let team = json!({ "calendars": desk.ids(given), "assignment": assignment });
        let expected = (desk.ids(expected), json!(assignment));
        let made = desk.create(team.clone()).await.expect(201);
        let path = format!("{PAGES}/{}", made.id());
        let read = desk.api.get(&path).await.expect(200);
        let listed = desk.api.get(PAGES).await.expect(200).data().pop().unwrap();
        for page in [&made.json, &read.json, &listed] {
            assert_eq!((shown(page), &page["calendar_id"]), (expected.clone(), &json!(desk.team[0])), "{given:?}");
        }
        desk.api.delete(&path).await.expect(204);
        let changed = desk.patch(&page, team).await;
        assert_eq!((shown(&changed.json), &changed["calendar_id"]), (expected.clone(), &plain["calendar_id"]));
        // A change of another field keeps the team.
        let titled = desk.patch(&page, json!({ "title": format!("Intro {index}") })).await;
        assert_eq!(shown(&titled.json), expected);
        assert_eq!(shown(&desk.api.get(&page.path).await.expect(200).json), expected);
    }
    let cleared = desk.patch(&page, json!({ "calendars": null })).await;
    assert_eq!(shown(&cleared.json), nobody);
    assert_eq!(shown(&desk.api.get(&page.path).await.expect(200).json), nobody);
    // It is a page for one calendar again, in what it offers and in what it books.
    let slots = desk.slots(&page).await;
    desk.busy(2, &slots[5]).await;
    assert_eq!(desk.slots(&page).await, slots);
    desk.book(&page, &slots[5]).await;
    desk.is_taken(&page, &slots[5]).await;
    assert_eq!(desk.all_starts().await, [vec![slots[5].clone()], vec![], vec![slots[5].clone()], vec![]]);
}

#[apply(on_both)]
#[tokio::test]
async fn bad_teams_are_refused_by_name(#[case] database: Database) {
    let desk = TeamDesk::new(database, 3).await;
    let page = Open::of(&desk.create(json!({})).await);
    let before = desk.api.get(&page.path).await.expect(200).json;
    let many = join_all((0..20).map(|_| shared_calendar(&desk.api, "UTC"))).await;
    let own_and_many = [&desk.team[..1], &many[..]].concat();
    let wrong = [
        (json!({ "calendars": desk.ids(&[1]) }), "assignment"),
        (json!({ "assignment": COLLECTIVE }), "calendars"),
        (json!({ "assignment": ROUND_ROBIN }), "calendars"),
        (json!({ "calendars": [], "assignment": COLLECTIVE }), "calendars"),
        (json!({ "calendars": desk.ids(&[0]), "assignment": ROUND_ROBIN }), "calendars"),
        (json!({ "calendars": desk.ids(&[1, 1]), "assignment": COLLECTIVE }), "calendars"),
        (json!({ "calendars": desk.ids(&[0, 0]), "assignment": COLLECTIVE }), "calendars"),
        (json!({ "calendars": desk.ids(&[0, 1, 0]), "assignment": ROUND_ROBIN }), "calendars"),
        (json!({ "calendars": desk.ids(&[1, 2, 1]), "assignment": ROUND_ROBIN }), "calendars"),
        (json!({ "calendars": many, "assignment": COLLECTIVE }), "calendars"),
        (json!({ "calendars": own_and_many, "assignment": ROUND_ROBIN }), "calendars"),
        (json!({ "calendars": desk.ids(&[1]), "assignment": "random" }), "assignment"),
        (json!({ "calendars": desk.ids(&[1]), "assignment": "Collective" }), "assignment"),
        (json!({ "calendars": desk.ids(&[1]), "assignment": "" }), "assignment"),
        (json!({ "calendars": desk.ids(&[1]), "assignment": 7 }), "assignment"),
        (json!({ "calendars": desk.team[1], "assignment": COLLECTIVE }), "calendars"),
    ];
    for (fields, param) in wrong {
        for answer in [desk.create(fields.clone()).await, desk.api.patch(&page.path).json(fields.clone()).await] {
            let answer = answer.refused(400, "validation_error");
            assert_eq!(answer.at("/error/param"), param, "{fields}: {}", answer.describe());
        }
    }
    assert_eq!(desk.api.get(&page.path).await.expect(200).json, before);
    assert_eq!(desk.api.get(PAGES).await.expect(200)["total"], 1);

    // Twenty are allowed, whether or not `calendar_id` is named too.
    for team in [&many[1..], &own_and_many[..20]] {
        let team = json!({ "calendars": team, "assignment": COLLECTIVE });
        let made = desk.create(team.clone()).await.expect(201);
        let changed = desk.patch(&page, team).await;
        for page in [&made, &changed] {
            assert_eq!(page["calendars"].as_array().map(Vec::len), Some(20), "{}", page.describe());
        }
    }
    let slots = desk.slots(&page).await;
    desk.book(&page, &slots[5]).await;
    assert_eq!(desk.used().await, 20);
}

#[apply(on_both)]
#[tokio::test]
async fn a_team_has_only_calendars_that_the_caller_reaches(#[case] database: Database) {
    let desk = TeamDesk::new(database, 2).await;
    let page = Open::of(&desk.create(json!({})).await);
    let before = desk.api.get(&page.path).await.expect(200).json;
    let stranger = desk.server.api(&desk.server.org("pro").await);
    let foreign = agent_with_calendar(&stranger).await.1;
    let (shared, gone) = (shared_calendar(&desk.api, "UTC").await, shared_calendar(&desk.api, "UTC").await);
    desk.api.delete(format!("/v1/calendars/{gone}")).await.expect(204);
    let key = desk.api.post("/v1/keys").json(json!({ "agent_id": desk.agents[0] })).await.expect(201);
    let scoped = desk.server.client(&text(&key["key"]));
    let nobody = format!("cal_{}", "0".repeat(26));

    // A calendar of the team is refused as it is as the page's own calendar.
    let kind = |answer: &Answer| (answer.status, answer.at("/error/type"), answer.at("/error/code"));
    let refused = async |caller: &Client, calendar: &str| {
        let alone = caller.post(PAGES).json(json!({ "calendar_id": calendar, "title": "Intro" })).await;
        for assignment in [COLLECTIVE, ROUND_ROBIN] {
            let team = json!({ "calendars": [calendar], "assignment": assignment });
            let made = caller.post(PAGES).json(desk.body(team.clone())).await;
            let changed = caller.patch(&page.path).json(team).await;
            for answer in [made, changed] {
                assert_eq!(kind(&answer), kind(&alone), "{calendar}: {}", answer.describe());
            }
        }
        kind(&alone)
    };
    let not_found = (404, json!("not_found"), json!("calendar_not_found"));
    for unknown in ["cal_nobody", &nobody, &foreign, &gone] {
        assert_eq!(refused(&desk.api, unknown).await, not_found, "{unknown}");
        assert_eq!(refused(&scoped, unknown).await.0 / 100, 4, "{unknown}");
    }
    for of_others in [&desk.team[1], &shared] {
        assert_eq!(refused(&scoped, of_others).await.0, 403, "{of_others}");
    }
    assert_eq!(desk.api.get(&page.path).await.expect(200).json, before);
    assert_eq!(desk.api.get(PAGES).await.expect(200)["total"], 1);

    // An agent can make a team of its own calendars, and the organization of all of its calendars.
    let second = calendar_of(&desk.api, &desk.agents[0]).await;
    let team = json!({ "calendars": [second], "assignment": COLLECTIVE });
    scoped.patch(&page.path).json(team.clone()).await.expect(200);
    scoped.post(PAGES).json(desk.body(team)).await.expect(201);
    desk.patch(&page, json!({ "calendars": [shared, desk.team[1]], "assignment": ROUND_ROBIN })).await;
    stranger.get(&page.path).await.refused(404, "not_found").code("booking_page_not_found");
}

#[apply(on_both)]
#[tokio::test]
async fn a_collective_booking_takes_all_calendars(#[case] database: Database) {
    let desk = TeamDesk::new(database, 3).await;
    let page = desk.page(COLLECTIVE, &[0, 1, 2]).await;
    let slots = desk.slots(&page).await;
    for (place, slot) in [(1, 5), (0, 6), (2, 4)] {
        desk.busy(place, &slots[slot]).await;
    }
    assert_eq!(desk.slots(&page).await, without(&slots, &[4, 5, 6]));
    let before = desk.all_starts().await;
    let taken = desk.is_taken(&page, &slots[5]).await;
    let nearest: Vec<Value> =
        taken.at("/error/nearest_free").as_array().unwrap().iter().map(|slot| slot["start"].clone()).collect();
    assert_eq!(nearest, [slots[3].as_str(), &slots[7], &slots[2]], "free on all calendars");
    assert_eq!(desk.all_starts().await, before, "no calendar has a part of a refused booking");

    let answer = desk.guest.post(&page.book).json(booking(&slots[10], json!({}))).await.expect(201);
    desk.names_no_calendar(&answer);
    let booked = desk.booked(&answer);
    let mut ids = BTreeSet::new();
    for place in 0..3 {
        let found = desk.events(place).await.into_iter().filter(|event| event["startTime"] == slots[10]);
        let found: Vec<Value> = found.collect();
        assert_eq!(found.len(), 1, "{found:#?}");
        let about = (&found[0]["title"], &found[0]["status"], &found[0]["endTime"]);
        let expected = (&json!("Intro: Ada Lovelace"), &json!("confirmed"), &json!(shifted(&slots[10], 60)));
        assert_eq!(about, expected, "{:#}", found[0]);
        ids.insert(text(&found[0]["id"]));
    }
    assert_eq!(ids.len(), 3, "each calendar has an event of its own");
    assert_eq!(desk.place(&booked.event).await, 0, "the guest's event is that on `calendar_id`");

    // It is one booking.
    let listed = desk.host_sees(&page).await;
    assert_eq!(listed.len(), 1, "{listed:#?}");
    let about = (&listed[0]["event_id"], &listed[0]["calendar_id"], &listed[0]["start_time"]);
    assert_eq!(about, (&json!(booked.event), &json!(desk.team[0]), &json!(slots[10])));
    assert_eq!(desk.api.get(&page.path).await.expect(200)["bookings_count"], 1);
    assert_eq!(desk.slots(&page).await, without(&slots, &[4, 5, 6, 10]));
    desk.is_taken(&page, &slots[10]).await;
    let seen = desk.guest.get(booked.cancel.strip_suffix("/cancel").unwrap()).await.expect(200);
    desk.names_no_calendar(&seen);
}

#[apply(on_both)]
#[tokio::test]
async fn the_free_calendar_with_the_fewest_bookings_gets_the_next(#[case] database: Database) {
    let desk = TeamDesk::new(database, 3).await;
    // The page names its own calendar last, but it is the first of equals.
    let team = json!({ "calendars": desk.ids(&[2, 1, 0]), "assignment": ROUND_ROBIN });
    let page = Open::of(&desk.create(team).await);
    let slots = desk.slots(&page).await;
    for (slot, place) in [(3, 0), (4, 2), (5, 1)] {
        assert_eq!(desk.assigned(&page, &slots[slot]).await, place, "slot {slot}");
    }
    // Cancelled bookings do not count.
    let by_guest = desk.book(&page, &slots[6]).await;
    assert_eq!(desk.place(&by_guest.event).await, 0);
    desk.guest.post(&by_guest.cancel).await.expect(200);
    let by_host = desk.book(&page, &slots[6]).await;
    assert_eq!(desk.place(&by_host.event).await, 0);
    desk.cancel(&text(&desk.listed(&page, &by_host).await["id"])).await.expect(200);
    assert_eq!(desk.assigned(&page, &slots[7]).await, 0);

    // By place, the calendars have 2, 1 and 1 bookings. One slot takes as many as are free.
    for place in [2, 1, 0] {
        assert!(desk.offers(&page, &slots[10]).await);
        assert_eq!(desk.assigned(&page, &slots[10]).await, place);
    }
    assert!(!desk.offers(&page, &slots[10]).await);
    desk.is_taken(&page, &slots[10]).await;
    // 3, 2 and 2. The busy one is passed over and catches up later.
    desk.busy(2, &slots[12]).await;
    for (slot, place) in [(12, 1), (13, 2), (14, 0)] {
        assert_eq!(desk.assigned(&page, &slots[slot]).await, place, "slot {slot}");
    }
    // 4, 3 and 3. Bookings of another page do not count, nor do other events.
    let other = desk.page(ROUND_ROBIN, &[0, 1, 2]).await;
    for (slot, place) in [(20, 0), (21, 1), (22, 2)] {
        assert_eq!(desk.assigned(&other, &slots[slot]).await, place, "slot {slot}");
    }
    desk.busy(2, &slots[23]).await;
    assert_eq!(desk.assigned(&page, &slots[24]).await, 2);

    // Each booking has one event, and the list names its calendar.
    let listed = desk.host_sees(&page).await;
    let confirmed: Vec<&Value> = listed.iter().filter(|booking| booking["status"] == "confirmed").collect();
    assert_eq!((listed.len(), confirmed.len()), (13, 11));
    for booking in confirmed {
        let place = desk.place_of(&booking["calendar_id"]);
        assert_eq!(desk.place(&text(&booking["event_id"])).await, place, "{booking:#}");
    }
    let events: usize = desk.all_starts().await.iter().map(Vec::len).sum();
    assert_eq!(events, 11 + 3 + 2, "bookings of both pages, and other events");
}

#[apply(on_both)]
#[tokio::test]
async fn a_slot_is_free_as_a_whole_on_one_calendar(#[case] database: Database) {
    let desk = TeamDesk::new(database, 2).await;
    let page = desk.page(ROUND_ROBIN, &[0, 1]).await;
    let slots = desk.slots(&page).await;
    let middle = shifted(&slots[5], 30);
    event(&desk.api, &desk.team[0], &slots[5], &middle).await;
    let second = event(&desk.api, &desk.team[1], &middle, &slots[6]).await;
    assert_eq!(desk.slots(&page).await, without(&slots, &[5]), "each half is free on one calendar only");
    desk.is_taken(&page, &slots[5]).await;
    desk.delete(&second).await;
    assert_eq!(desk.slots(&page).await, slots);
    assert_eq!(desk.assigned(&page, &slots[5]).await, 1);

    // The same with hours instead of events.
    desk.put_rules(0, hours("00:00", "10:30")).await;
    desk.put_rules(1, hours("10:30", "24:00")).await;
    let left = desk.slots(&page).await;
    let at = |hour: &str| left.iter().filter(|start| start.ends_with(hour)).count();
    assert!(at("T09:00:00Z") >= 6 && at("T11:00:00Z") >= 6, "{left:?}");
    assert_eq!(at("T10:00:00Z"), 0, "{left:?}");
    let ten = slots.iter().skip(6).find(|start| start.ends_with("T10:00:00Z")).unwrap();
    desk.is_taken(&page, ten).await;
    desk.patch(&page, json!({ "calendars": desk.ids(&[1]), "assignment": COLLECTIVE })).await;
    assert_eq!(desk.slots(&page).await, [""; 0], "the calendars are never open at the same time");
}

#[apply(on_both)]
#[tokio::test]
async fn shares_are_those_of_thirty_days(#[case] database: Database) {
    let mut desk = TeamDesk::new(database, 2).await;
    let page = desk.page(ROUND_ROBIN, &[0, 1]).await;
    let slots = desk.slots(&page).await;
    // By place, the calendars get 3 and 0 bookings, then 3 and 2.
    for slot in [3, 4, 5] {
        desk.busy(1, &slots[slot]).await;
        assert_eq!(desk.assigned(&page, &slots[slot]).await, 0);
    }
    for slot in [6, 7] {
        assert_eq!(desk.assigned(&page, &slots[slot]).await, 1);
    }
    // After 29 days, they still count.
    desk.later(29).await;
    let slots = desk.slots(&page).await;
    assert_eq!(desk.assigned(&page, &slots[5]).await, 1);
    // After 33 days, only the one of the 29th day does.
    desk.later(33).await;
    let slots = desk.slots(&page).await;
    for (slot, place) in [(5, 0), (6, 0), (7, 1)] {
        assert_eq!(desk.assigned(&page, &slots[slot]).await, place, "slot {slot}");
    }
    assert_eq!(desk.host_sees(&page).await.len(), 9, "those that do not count are listed as before");
}

#[apply(on_both)]
#[tokio::test]
async fn each_calendar_has_its_own_hours_and_buffers(#[case] database: Database) {
    let desk = TeamDesk::new(database, 2).await;
    let all = desk.page(COLLECTIVE, &[0, 1]).await;
    let one = desk.page(ROUND_ROBIN, &[0, 1]).await;
    let slots = desk.slots(&all).await;
    // A closed calendar closes the page of all. The other page has the second calendar left.
    desk.put_rules(0, json!({ "working_hours": {} })).await;
    assert_eq!(desk.slots(&all).await, [""; 0]);
    assert_eq!(desk.slots(&one).await, slots);
    desk.is_taken(&all, &slots[5]).await;
    assert_eq!(desk.assigned(&one, &slots[5]).await, 1);
    desk.is_taken(&one, &slots[5]).await;

    // A buffer affects the events of its own calendar.
    desk.put_rules(0, json!({ "buffer_after_minutes": 60 })).await;
    desk.busy(0, &slots[8]).await;
    desk.busy(1, &slots[12]).await;
    assert_eq!(desk.slots(&all).await, without(&slots, &[5, 8, 9, 12]));
    assert_eq!(desk.slots(&one).await, slots);
    desk.is_taken(&all, &slots[9]).await;
    assert_eq!(desk.assigned(&one, &slots[9]).await, 1);
    desk.is_taken(&one, &slots[9]).await;
    let both = [desk.assigned(&one, &slots[13]).await, desk.assigned(&one, &slots[13]).await];
    assert_eq!(both, [0, 1], "the second calendar has no buffer");
    // The buffer of the first calendar also keeps the time after its new booking free.
    assert_eq!(desk.assigned(&one, &slots[14]).await, 1);
    desk.is_taken(&one, &slots[14]).await;
    desk.drop_rules(0).await;
    assert_eq!(desk.assigned(&one, &slots[14]).await, 0);

    // The page's own buffer applies on each of them.
    desk.patch(&all, json!({ "buffer_minutes": 30 })).await;
    let booked = desk.book(&all, &slots[20]).await;
    desk.busy(1, &slots[30]).await;
    let left = desk.slots(&all).await;
    for (slot, expected) in [(18, true), (19, false), (21, false), (22, true), (29, false), (31, false), (32, true)] {
        assert_eq!(left.contains(&slots[slot]), expected, "slot {slot}");
    }
    desk.guest.post(&booked.cancel).await.expect(200);
    assert!(desk.offers(&all, &slots[19]).await);
}

#[apply(on_both)]
#[tokio::test]
async fn a_human_calendar_counts_for_its_calendar_in_the_team(#[case] database: Database) {
    let it = Connecting::new(database).await;
    it.google.events(ACCOUNT, CALENDARS[0].0, &[it.event(9 * 60, 10 * 60)]);
    let other = agent_with_calendar(&it.api).await.1;
    let guest = it.server.anonymous();
    let make = async |assignment: &str| {
        let body = json!({
            "calendar_id": other, "calendars": [it.calendar], "assignment": assignment, "title": "Intro",
            "duration_minutes": 60
        });
        Open::of(&it.api.post(PAGES).json(body).await)
    };
    let (all, one) = (make(COLLECTIVE).await, make(ROUND_ROBIN).await);
    let (nine, ten) = (iso(it.time(9 * 60)), iso(it.time(10 * 60)));
    let offers = async |page: &Open| {
        let slots = offered(&guest, page).await;
        (slots.contains(&nine), slots.contains(&ten))
    };
    assert_eq!((offers(&all).await, offers(&one).await), ((true, true), (true, true)));
    it.granted(&it.google).await;
    it.until_busy(&[(9 * 60, 10 * 60)]).await;
    assert_eq!((offers(&all).await, offers(&one).await), ((false, true), (true, true)));

    let book = async |page: &Open, start: &str| guest.post(&page.book).json(booking(start, json!({}))).await;
    book(&all, &nine).await.refused(409, "conflict").code("slot_taken");
    let assigned = async |start: &str| {
        let booked = book(&one, start).await.expect(201);
        it.api.get(format!("/v1/events/{}", text(&booked["event"]["id"]))).await.expect(200)["calendarId"].clone()
    };
    assert_eq!(assigned(&nine).await, other);
    book(&one, &nine).await.refused(409, "conflict").code("slot_taken");
    assert_eq!(assigned(&ten).await, it.calendar);
    assert_eq!((offers(&all).await, offers(&one).await), ((false, false), (false, true)));
}

#[apply(on_both)]
#[tokio::test]
async fn a_deleted_calendar_no_longer_counts(#[case] database: Database) {
    let desk = TeamDesk::new(database, 3).await;
    let all = desk.page(COLLECTIVE, &[0, 1, 2]).await;
    let one = desk.page(ROUND_ROBIN, &[0, 1]).await;
    let slots = desk.slots(&all).await;
    desk.busy(1, &slots[5]).await;
    let early = desk.book(&all, &slots[10]).await;
    assert_eq!(desk.assigned(&one, &slots[20]).await, 0);
    assert_eq!(desk.slots(&all).await, without(&slots, &[5, 10, 20]));
    desk.api.delete(format!("/v1/calendars/{}", desk.team[1])).await.expect(204);
    assert_eq!(desk.slots(&all).await, without(&slots, &[10, 20]));
    assert_eq!(desk.slots(&one).await, without(&slots, &[10, 20]));
    desk.book(&all, &slots[5]).await;
    // The only calendar that is left gets every booking, although it has more of them.
    assert_eq!(desk.assigned(&one, &slots[7]).await, 0);
    desk.is_taken(&one, &slots[7]).await;

    // What is left of an earlier booking is moved and cancelled.
    let rest = async || (desk.starts(0).await, desk.starts(2).await);
    let slots_of = |indexes: &[usize]| indexes.iter().map(|index| slots[*index].clone()).collect::<Vec<_>>();
    desk.move_to(&early, &slots[12]).await.expect(200);
    assert_eq!(rest().await, (slots_of(&[5, 7, 12, 20]), slots_of(&[5, 12])));
    assert_eq!(desk.guest.post(&early.cancel).await.expect(200)["status"], "cancelled");
    assert_eq!(rest().await, (slots_of(&[5, 7, 20]), slots_of(&[5])));

    // A team of which one calendar is left is like a page for one calendar.
    desk.api.delete(format!("/v1/calendars/{}", desk.team[2])).await.expect(204);
    assert_eq!(desk.slots(&all).await, without(&slots, &[5, 7, 20]));
    desk.book(&all, &slots[8]).await;
    desk.is_taken(&all, &slots[8]).await;
    assert_eq!(desk.starts(0).await, slots_of(&[5, 7, 8, 20]));
    assert_eq!(desk.host_sees(&all).await.len(), 3);
}

#[apply(on_both)]
#[tokio::test]
async fn a_day_takes_its_maximum_on_all_calendars_together(#[case] database: Database) {
    let desk = TeamDesk::new(database, 3).await;
    let one = desk.page_with(ROUND_ROBIN, &[0, 1, 2], json!({ "max_per_day": 2 })).await;
    let all = desk.page_with(COLLECTIVE, &[0, 1, 2], json!({ "max_per_day": 2 })).await;
    let slots = desk.slots(&one).await;
    let left = async |page: &Open, day: &[String]| {
        let slots = desk.slots(page).await;
        day.iter().filter(|start| slots.contains(start)).count()
    };
    let (first, second, third) = (day(&slots, 2), day(&slots, 3), day(&slots, 4));
    desk.book(&one, &first[3]).await;
    assert_eq!(left(&one, &first).await, 24);
    let last = desk.book(&one, &first[3]).await;
    assert_eq!(left(&one, &first).await, 0, "the day is full, although a calendar has no booking");
    desk.is_taken(&one, &first[3]).await;
    desk.is_taken(&one, &first[9]).await;
    assert_eq!(left(&one, &second).await, 24);
    // Within its day, a booking still moves.
    desk.move_to(&last, &first[9]).await.expect(200);
    desk.guest.post(&last.cancel).await.expect(200);
    assert_eq!(left(&one, &first).await, 24);
    // Those of the other page do not count.
    assert_eq!(left(&all, &first).await, 23);

    // A collective booking is one booking, however many events it has.
    let booked = desk.book(&all, &second[3]).await;
    assert_eq!(left(&all, &second).await, 23);
    desk.book(&all, &second[5]).await;
    assert_eq!(left(&all, &second).await, 0);
    desk.is_taken(&all, &second[7]).await;
    desk.cancel(&text(&desk.listed(&all, &booked).await["id"])).await.expect(200);
    assert_eq!(left(&all, &second).await, 23);

    // Also at once.
    let calls = third[2..14].iter().map(|start| desk.guest.post(&one.book).json(booking(start, json!({}))));
    let answers = at_once(calls.collect()).await;
    assert_eq!(counted(&answers), outcomes(2, 10));
}

#[apply(on_both)]
#[tokio::test]
async fn a_booking_counts_each_of_its_events(#[case] database: Database) {
    let desk = TeamDesk::limited(database, 3, r#"{"events":8}"#).await;
    let all = desk.page(COLLECTIVE, &[0, 1, 2]).await;
    let one = desk.page(ROUND_ROBIN, &[0, 1, 2]).await;
    let slots = desk.slots(&all).await;
    desk.book(&all, &slots[3]).await;
    assert_eq!(desk.used().await, 3);
    desk.book(&one, &slots[5]).await;
    assert_eq!(desk.used().await, 4);
    let booked = desk.book(&all, &slots[7]).await;
    assert_eq!(desk.used().await, 7);

    // One event is left. That is not enough for all calendars, so none of them gets one.
    let before = desk.all_starts().await;
    let closed = async |page: &Open| {
        let answer = desk.guest.post(&page.book).json(booking(&slots[10], json!({}))).await;
        let answer = answer.refused(429, "quota_exceeded").code("booking_closed");
        assert!(!answer.text().contains("plan"), "guests do not see the plan: {}", answer.describe());
    };
    closed(&all).await;
    assert_eq!((desk.all_starts().await, desk.used().await), (before, json!(7)));
    assert_eq!(desk.api.get(&all.path).await.expect(200)["bookings_count"], 2);
    desk.book(&one, &slots[9]).await;
    assert_eq!(desk.used().await, 8);
    for page in [&all, &one] {
        closed(page).await;
        let offered = desk.guest.get(format!("{}/slots", page.book)).await.expect(200);
        assert_eq!((&offered["slots"], &offered["notices"][0]["code"]), (&json!([]), &json!("booking_closed")));
    }
    // A move adds no events.
    desk.move_to(&booked, &slots[12]).await.expect(200);
    assert_eq!(desk.used().await, 8);
}

#[apply(on_both)]
#[tokio::test]
async fn each_event_is_announced(#[case] database: Database) {
    let (server, api, receiver) = with_receiver(database, "pro").await;
    hook(&api, &receiver, "/all", &["event.created", "event.updated", "event.deleted"]).await;
    let desk = TeamDesk::of(server, api, 3).await;
    let all = desk.page(COLLECTIVE, &[0, 1, 2]).await;
    let one = desk.page(ROUND_ROBIN, &[1, 2]).await;
    let slots = desk.slots(&all).await;
    let booked = desk.book(&all, &slots[5]).await;
    let mut ids = BTreeSet::new();
    for place in 0..3 {
        ids.extend(desk.events(place).await.iter().map(|event| text(&event["id"])));
    }
    desk.move_to(&booked, &slots[7]).await.expect(200);
    desk.guest.post(&booked.cancel).await.expect(200);
    let messages = receiver.wait_for("/all", 9).await;
    for (kind, start) in [("event.created", 5), ("event.updated", 7), ("event.deleted", 7)] {
        let sent = messages.iter().filter(|message| message.event_type() == kind).map(|message| message.json());
        let sent: Vec<Value> = sent.collect();
        for message in &sent {
            let about = (&message["booking_page_id"], &message["startTime"]);
            assert_eq!(about, (&json!(all.id), &json!(slots[start])), "{kind}: {message:#}");
        }
        let calendars: BTreeSet<usize> = sent.iter().map(|message| desk.place_of(&message["calendarId"])).collect();
        assert_eq!((sent.len(), calendars), (3, BTreeSet::from([0, 1, 2])), "{kind}: {sent:#?}");
        assert_eq!(sent.iter().map(|message| text(&message["id"])).collect::<BTreeSet<_>>(), ids, "{kind}");
    }

    // A booking on one calendar is announced once.
    let single = desk.book(&one, &slots[9]).await;
    let message = receiver.wait_for("/all", 10).await.remove(9);
    let about = (message.event_type().to_owned(), message.json());
    assert_eq!((about.0.as_str(), &about.1["id"]), ("event.created", &json!(single.event)));
    assert_eq!((&about.1["booking_page_id"], desk.place_of(&about.1["calendarId"])), (&json!(one.id), 1));
    // The next message is about another event.
    let other = desk.busy(0, &slots[20]).await;
    let messages = receiver.wait_for("/all", 11).await;
    assert_eq!((messages.len(), &messages[10].json()["id"]), (11, &json!(other)));
}

#[apply(on_both)]
#[tokio::test]
async fn the_guest_gets_one_mail_for_each_change(#[case] database: Database) {
    let desk = TeamDesk::new(database, 3).await;
    let all = desk.page(COLLECTIVE, &[0, 1, 2]).await;
    let one = desk.page(ROUND_ROBIN, &[0, 1, 2]).await;
    let slots = desk.slots(&all).await;
    let booked = desk.book(&all, &slots[5]).await;
    desk.server.wait_for_mails(1).await;
    desk.move_to(&booked, &slots[7]).await.expect(200);
    desk.server.wait_for_mails(2).await;
    desk.guest.post(&booked.cancel).await.expect(200);
    desk.server.wait_for_mails(3).await;
    // This one changes its calendar when it moves.
    let other = desk.book(&one, &slots[9]).await;
    desk.server.wait_for_mails(4).await;
    desk.busy(0, &slots[12]).await;
    desk.move_to(&other, &slots[12]).await.expect(200);
    desk.server.wait_for_mails(5).await;
    // This one is cancelled by its host.
    let last = desk.book(&all, &slots[20]).await;
    desk.server.wait_for_mails(6).await;
    desk.cancel(&text(&desk.listed(&all, &last).await["id"])).await.expect(200);
    desk.server.wait_for_mails(7).await;

    // The next mail is that to another guest.
    let next = booking(&slots[30], json!({ "email": LAST }));
    desk.guest.post(&all.book).json(next).await.expect(201);
    let mails = desk.server.wait_for_mails(8).await;
    let to: Vec<&str> = mails.iter().map(|mail| mail.to.as_str()).collect();
    assert_eq!(to, [EMAIL, EMAIL, EMAIL, EMAIL, EMAIL, EMAIL, EMAIL, LAST], "{mails:#?}");
    let expected = [
        ("REQUEST", 5, &booked),
        ("REQUEST", 7, &booked),
        ("CANCEL", 7, &booked),
        ("REQUEST", 9, &other),
        ("REQUEST", 12, &other),
        ("REQUEST", 20, &last),
        ("CANCEL", 20, &last),
    ];
    for (mail, (method, slot, booked)) in mails.iter().zip(expected) {
        let about = (value(mail, "METHOD"), value(mail, "UID"), value(mail, "DTSTART"));
        let start = slots[slot].replace(['-', ':'], "");
        assert_eq!(about, (method.to_owned(), format!("{}@kalends", booked.event), start), "{mail:#?}");
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_cancellation_deletes_all_events(#[case] database: Database) {
    let desk = TeamDesk::new(database, 3).await;
    let all = desk.page(COLLECTIVE, &[0, 1, 2]).await;
    let one = desk.page(ROUND_ROBIN, &[0, 1, 2]).await;
    let slots = desk.slots(&all).await;
    let by_guest = desk.book(&all, &slots[3]).await;
    let by_host = desk.book(&all, &slots[5]).await;
    let single = desk.book(&one, &slots[7]).await;
    let (changed, smaller, left) =
        (desk.book(&all, &slots[9]).await, desk.book(&all, &slots[11]).await, desk.book(&all, &slots[13]).await);
    let has = async |indexes: &[usize]| {
        let expected: Vec<String> = indexes.iter().map(|index| slots[*index].clone()).collect();
        let starts = desk.all_starts().await;
        let alone: Vec<usize> = (0..3).filter(|place| starts[*place].contains(&slots[7])).collect();
        let together = starts.iter().map(|starts| starts.iter().filter(|start| **start != slots[7]));
        for starts in together {
            assert_eq!(starts.cloned().collect::<Vec<_>>(), expected);
        }
        alone
    };
    assert_eq!(has(&[3, 5, 9, 11, 13]).await, [0]);

    let id = async |page: &Open, booked: &Booked| text(&desk.listed(page, booked).await["id"]);
    let (host_s, single_s, left_s) = (id(&all, &by_host).await, id(&one, &single).await, id(&all, &left).await);
    for _ in 0..2 {
        assert_eq!(desk.guest.post(&by_guest.cancel).await.expect(200)["status"], "cancelled");
        assert_eq!(has(&[5, 9, 11, 13]).await, [0]);
    }
    for _ in 0..2 {
        let gone = desk.cancel(&host_s).await.expect(200);
        assert_eq!((&gone["status"], &gone["cancelled_by"]), (&json!("cancelled"), &json!("host")));
        assert_eq!(has(&[9, 11, 13]).await, [0]);
    }
    let gone = desk.cancel(&single_s).await.expect(200);
    assert_eq!((&gone["calendar_id"], &gone["event_id"]), (&json!(desk.team[0]), &json!(single.event)));
    assert_eq!(has(&[9, 11, 13]).await, [0_usize; 0]);
    assert_eq!(desk.slots(&all).await, without(&slots, &[9, 11, 13]));
    let about: Vec<_> =
        desk.host_sees(&all).await.iter().map(|one| (one["status"].clone(), one["cancelled_by"].clone())).collect();
    let stays = (json!("confirmed"), Value::Null);
    let cancelled = |by: &str| (json!("cancelled"), json!(by));
    assert_eq!(about, [cancelled("guest"), cancelled("host"), stays.clone(), stays.clone(), stays]);

    // All events belong to the booking, whatever has become of the page.
    desk.patch(&all, json!({ "calendars": desk.ids(&[1]), "assignment": COLLECTIVE })).await;
    desk.guest.post(&smaller.cancel).await.expect(200);
    assert_eq!(has(&[9, 13]).await, [0_usize; 0]);
    desk.patch(&all, json!({ "calendars": null })).await;
    desk.guest.post(&changed.cancel).await.expect(200);
    assert_eq!(has(&[13]).await, [0_usize; 0]);
    desk.api.delete(&all.path).await.expect(204);
    desk.cancel(&left_s).await.expect(200);
    assert_eq!(has(&[]).await, [0_usize; 0]);
}

#[apply(on_both)]
#[tokio::test]
async fn a_collective_booking_moves_as_a_whole(#[case] database: Database) {
    let desk = TeamDesk::new(database, 3).await;
    let page = desk.page_with(COLLECTIVE, &[0, 1, 2], json!({ "buffer_minutes": 30 })).await;
    let slots = desk.slots(&page).await;
    let booked = desk.book(&page, &slots[5]).await;
    let blocker = desk.busy(2, &slots[20]).await;
    let events = async || {
        let all = join_all((0..3).map(|place| desk.events(place))).await.concat();
        let of_booking = all.into_iter().filter(|event| event["id"] != blocker);
        of_booking.map(|event| (text(&event["id"]), text(&event["startTime"]))).collect::<BTreeMap<_, _>>()
    };
    let before = events().await;
    assert_eq!((before.len(), before.values().all(|start| *start == slots[5])), (3, true), "{before:?}");
    // One calendar is not free, so nothing moves.
    for slot in [19, 20, 21] {
        let refused = desk.move_to(&booked, &slots[slot]).await.refused(409, "conflict").code("slot_taken");
        desk.names_no_calendar(&refused);
    }
    assert_eq!(events().await, before);
    // Its own times and their buffers block it on no calendar.
    for slot in [6, 6, 5, 12] {
        let moved = desk.move_to(&booked, &slots[slot]).await.expect(200);
        assert_eq!((&moved["event"]["id"], &moved["event"]["start_time"]), (&json!(booked.event), &json!(slots[slot])));
        let expected: BTreeMap<String, String> = before.keys().map(|id| (id.clone(), slots[slot].clone())).collect();
        assert_eq!(events().await, expected);
    }
    assert!(desk.offers(&page, &slots[5]).await && !desk.offers(&page, &slots[12]).await);
    let seen = desk.listed(&page, &booked).await;
    assert_eq!((&seen["start_time"], &seen["calendar_id"]), (&json!(slots[12]), &json!(desk.team[0])));
    desk.guest.post(&booked.cancel).await.expect(200);
    desk.delete(&blocker).await;

    // Only one of many that move to one time at once gets it, on every calendar.
    let mut calls = Vec::new();
    for slot in [24, 26, 28, 30] {
        let racer = desk.book(&page, &slots[slot]).await;
        calls.push(desk.guest.post(&racer.reschedule).json(json!({ "start": slots[40] })));
    }
    let mut statuses: Vec<u16> = at_once(calls).await.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409, 409, 409]);
    let starts = desk.all_starts().await;
    assert_eq!((starts[0].len(), starts[0].iter().filter(|start| **start == slots[40]).count()), (4, 1), "{starts:?}");
    assert!(starts[1] == starts[0] && starts[2] == starts[0], "{starts:?}");
}

#[apply(on_both)]
#[tokio::test]
async fn a_moved_booking_stays_on_its_calendar_if_that_is_free(#[case] database: Database) {
    let desk = TeamDesk::new(database, 3).await;
    let page = desk.page_with(ROUND_ROBIN, &[0, 1, 2], json!({ "buffer_minutes": 30 })).await;
    let slots = desk.slots(&page).await;
    let booked = desk.book(&page, &slots[5]).await;
    let id = text(&desk.listed(&page, &booked).await["id"]);
    let mut others = Vec::new();
    // Where the booking is now. It has one event, which the list names.
    let place = async |others: &[String], slot: usize| {
        let listed = desk.host_sees(&page).await;
        let found = listed.iter().find(|booking| booking["id"] == id).unwrap();
        assert_eq!(found["start_time"], slots[slot], "{found:#}");
        let place = desk.place_of(&found["calendar_id"]);
        let events = join_all((0..3).map(|place| desk.events(place))).await.concat();
        let mut of_booking = events.iter().filter(|event| !others.contains(&text(&event["id"])));
        let event = of_booking.next().unwrap();
        assert_eq!((of_booking.next(), &event["id"]), (None, &found["event_id"]), "{events:#?}");
        assert_eq!((&event["startTime"], desk.place_of(&event["calendarId"])), (&json!(slots[slot]), place));
        place
    };
    assert_eq!(place(&others, 5).await, 0);
    // It stays, although the others have no bookings. Its own time and its buffer do not block it.
    for slot in [9, 10, 10, 9] {
        desk.move_to(&booked, &slots[slot]).await.expect(200);
        assert_eq!(place(&others, slot).await, 0, "slot {slot}");
    }
    // Its calendar is not free, so another one gets it.
    others.push(desk.busy(0, &slots[15]).await);
    let moved = desk.move_to(&booked, &slots[15]).await.expect(200);
    desk.names_no_calendar(&moved);
    assert_eq!(moved["event"]["start_time"], slots[15]);
    let new = place(&others, 15).await;
    assert_ne!(new, 0);
    // The last calendar that is free gets it.
    let third = 3 - new;
    for place in [0, new] {
        others.push(desk.busy(place, &slots[20]).await);
    }
    desk.move_to(&booked, &slots[20]).await.expect(200);
    assert_eq!(place(&others, 20).await, third);
    // There it stays, although the first one is free again.
    desk.move_to(&booked, &slots[25]).await.expect(200);
    assert_eq!(place(&others, 25).await, third);
    // No calendar is free, so nothing moves.
    for place in 0..3 {
        others.push(desk.busy(place, &slots[30]).await);
    }
    desk.move_to(&booked, &slots[30]).await.refused(409, "conflict").code("slot_taken");
    assert_eq!(place(&others, 25).await, third);
    // The time that it has left is free for others.
    assert!(desk.offers(&page, &slots[5]).await);
    desk.guest.post(&booked.cancel).await.expect(200);
    assert_eq!(desk.all_starts().await.iter().map(Vec::len).sum::<usize>(), others.len());
}

/// Each answer is computed from the state of every calendar, on every node.
#[rstest]
#[case::sqlite(Sqlite, 1)]
#[case::two_nodes(Postgres, 2)]
#[tokio::test]
async fn slots_change_at_once_with_every_calendar(#[case] database: Database, #[case] nodes: usize) {
    let desk = TeamDesk::new(database, 3).await;
    let all = desk.page(COLLECTIVE, &[0, 1, 2]).await;
    let one = desk.page(ROUND_ROBIN, &[0, 1]).await;
    let (_nodes, guests) = desk.guests_on(nodes).await;
    let slots = desk.slots(&all).await;
    // Whether each page offers the slot, on all nodes. What is read here is cached for the next step.
    let offers = async |slot: usize| {
        let mut seen = Vec::new();
        for guest in &guests {
            seen.push((
                offered(guest, &all).await.contains(&slots[slot]),
                offered(guest, &one).await.contains(&slots[slot]),
            ));
        }
        seen.dedup();
        assert_eq!(seen.len(), 1, "the nodes differ: {seen:?}");
        seen[0]
    };
    let (to_all, to_one, to_both, to_none) = ((true, false), (false, true), (true, true), (false, false));
    assert_eq!(offers(5).await, to_both);
    let third = desk.busy(2, &slots[5]).await;
    assert_eq!(offers(5).await, to_one);
    desk.api.patch(format!("/v1/events/{third}")).json(json!({ "start_time": slots[6] })).await.expect(200);
    assert_eq!((offers(5).await, offers(6).await), (to_both, to_one));
    let second = desk.busy(1, &slots[5]).await;
    assert_eq!(offers(5).await, to_one);
    let first = desk.busy(0, &slots[5]).await;
    assert_eq!(offers(5).await, to_none);
    desk.delete(&second).await;
    assert_eq!(offers(5).await, to_one);
    desk.api.patch(format!("/v1/events/{first}")).json(json!({ "status": "cancelled" })).await.expect(200);
    assert_eq!(offers(5).await, to_both);
    // An event that changes its calendar.
    let body = json!({ "calendar_id": desk.team[1] });
    desk.api.post(format!("/v1/events/{third}/move")).json(body).await.expect(200);
    assert_eq!(offers(6).await, to_one);
    desk.busy(0, &slots[6]).await;
    assert_eq!(offers(6).await, to_none);
    let body = json!({ "calendar_id": desk.team[2] });
    desk.api.post(format!("/v1/events/{third}/move")).json(body).await.expect(200);
    assert_eq!(offers(6).await, to_one);
    // Rules.
    desk.put_rules(2, json!({ "working_hours": {} })).await;
    assert_eq!(offers(9).await, to_one);
    desk.drop_rules(2).await;
    assert_eq!(offers(9).await, to_both);
    // Bookings, on their own page and on others.
    desk.book(&one, &slots[12]).await;
    assert_eq!(offers(12).await, to_one);
    let booked = desk.book(&all, &slots[15]).await;
    assert_eq!(offers(15).await, to_none);
    desk.move_to(&booked, &slots[16]).await.expect(200);
    assert_eq!((offers(15).await, offers(16).await), (to_both, to_none));
    desk.guest.post(&booked.cancel).await.expect(200);
    assert_eq!(offers(16).await, to_both);
    // The team itself.
    for place in [0, 1] {
        desk.busy(place, &slots[20]).await;
    }
    assert_eq!(offers(20).await, to_none);
    desk.patch(&one, json!({ "calendars": desk.ids(&[2]), "assignment": ROUND_ROBIN })).await;
    assert_eq!(offers(20).await, to_one);
    desk.patch(&one, json!({ "calendars": desk.ids(&[2]), "assignment": COLLECTIVE })).await;
    assert_eq!(offers(20).await, to_none);
    desk.busy(1, &slots[25]).await;
    desk.patch(&all, json!({ "calendars": null })).await;
    assert_eq!(offers(25).await, to_both);
    desk.busy(2, &slots[25]).await;
    assert_eq!(offers(25).await, to_all);
}

#[rstest]
#[case::sqlite(Sqlite, 1)]
#[case::two_nodes(Postgres, 2)]
#[tokio::test]
async fn many_guests_at_once_are_shared_out_evenly(#[case] database: Database, #[case] nodes: usize) {
    const SIZE: usize = 5;
    const SLOTS: usize = 40;
    const MORE: usize = 50;
    let desk = TeamDesk::new(database, SIZE).await;
    let page = desk.page(ROUND_ROBIN, &[0, 1, 2, 3, 4]).await;
    let (_nodes, guests) = desk.guests_on(nodes).await;
    let slots = desk.slots(&page).await;
    let call =
        |guest: usize, slot: usize| guests[guest % nodes].post(&page.book).json(booking(&slots[slot], json!({})));
    // As many guests for each slot as there are calendars, on different nodes. There is room for all of them.
    let calls = (0..SLOTS * SIZE).map(|number| call(number / SLOTS, 10 + number % SLOTS));
    let answers = at_once(calls.collect()).await;
    assert_eq!(counted(&answers), outcomes(SLOTS * SIZE, 0));
    for (place, starts) in desk.all_starts().await.iter().enumerate() {
        assert_eq!(starts, &slots[10..10 + SLOTS], "calendar {place} is booked once at each time");
    }

    // Every calendar is free for each of these guests. So only the shares decide.
    let answers = at_once((0..MORE).map(|number| call(number, 60 + number)).collect()).await;
    assert_eq!(counted(&answers), outcomes(MORE, 0));
    let shares: Vec<usize> = desk.all_starts().await.iter().map(Vec::len).collect();
    assert_eq!(shares.iter().sum::<usize>(), SLOTS * SIZE + MORE, "{shares:?}");
    assert!(shares.iter().max().unwrap() - shares.iter().min().unwrap() <= 1, "{shares:?}");

    // More guests than calendars: the slot is taken for the others.
    let answers = at_once((0..SIZE + 3).map(|number| call(number, 120)).collect()).await;
    assert_eq!(counted(&answers), outcomes(SIZE, 3));
    let starts = desk.all_starts().await;
    for starts in &starts {
        let once: BTreeSet<&String> = starts.iter().collect();
        assert_eq!((once.len(), once.contains(&slots[120])), (starts.len(), true), "nobody is booked twice at a time");
    }
    assert_eq!(desk.api.get(&page.path).await.expect(200)["bookings_count"], SLOTS * SIZE + MORE + SIZE);
}

#[rstest]
#[case::sqlite(Sqlite, 1)]
#[case::two_nodes(Postgres, 2)]
#[tokio::test]
async fn one_of_many_guests_at_once_gets_all_calendars(#[case] database: Database, #[case] nodes: usize) {
    const GUESTS: usize = 24;
    let desk = TeamDesk::new(database, 4).await;
    let page = desk.page_with(COLLECTIVE, &[0, 1, 2, 3], json!({ "buffer_minutes": 15 })).await;
    let (_nodes, guests) = desk.guests_on(nodes).await;
    let slots = desk.slots(&page).await;
    let mut booked = Vec::new();
    for slot in [10, 15, 20] {
        let calls =
            (0..GUESTS).map(|number| guests[number % nodes].post(&page.book).json(booking(&slots[slot], json!({}))));
        let answers = at_once(calls.collect()).await;
        assert_eq!(counted(&answers), outcomes(1, GUESTS - 1));
        booked.push(slots[slot].clone());
        for (place, starts) in desk.all_starts().await.iter().enumerate() {
            assert_eq!(starts, &booked, "calendar {place} has one event of each booking");
        }
    }
    assert_eq!(desk.host_sees(&page).await.len(), 3);
    assert_eq!((desk.used().await, desk.slots(&page).await.contains(&slots[20])), (json!(12), false));
}

/// The pages name the calendars in different orders. They must not wait for each other forever.
#[rstest]
#[case::sqlite(Sqlite, 1)]
#[case::two_nodes(Postgres, 2)]
#[tokio::test]
async fn pages_that_share_calendars_never_book_one_twice(#[case] database: Database, #[case] nodes: usize) {
    const GUESTS: usize = 24;
    let desk = TeamDesk::new(database, 3).await;
    let single = json!({ "calendar_id": desk.team[1] });
    // Each page, and the number of events of its bookings.
    let pages = [
        (desk.page(COLLECTIVE, &[0, 1, 2]).await, 3),
        (desk.page(COLLECTIVE, &[2, 1, 0]).await, 3),
        (desk.page(ROUND_ROBIN, &[1, 0]).await, 1),
        (Open::of(&desk.create(single).await), 1),
    ];
    let (_nodes, guests) = desk.guests_on(nodes).await;
    let slots = desk.slots(&pages[0].0).await;
    let mut expected = 0;
    for slot in [10, 15, 20, 25] {
        // The pages take turns in being first.
        let page = |number: usize| &pages[(number + slot / 5) % pages.len()];
        let calls = (0..GUESTS).map(|number| {
            let guest = &guests[number / pages.len() % nodes];
            guest.post(&page(number).0.book).json(booking(&slots[slot], json!({})))
        });
        let answers = at_once(calls.collect()).await;
        let booked = answers.iter().filter(|answer| answer.status == 201).count();
        assert!((1..=2).contains(&booked), "{:?}", counted(&answers));
        assert_eq!(counted(&answers), outcomes(booked, GUESTS - booked));
        let won = answers.iter().enumerate().filter(|(_, answer)| answer.status == 201);
        expected += won.map(|(number, _)| page(number).1).sum::<usize>();
        let starts = desk.all_starts().await;
        for starts in &starts {
            assert_eq!(
                starts.iter().collect::<BTreeSet<_>>().len(),
                starts.len(),
                "booked twice at a time: {starts:?}"
            );
        }
        assert_eq!(starts.iter().map(Vec::len).sum::<usize>(), expected, "{starts:?}");
    }
    // Every booking is listed once, by its own page.
    let lists = join_all(pages.iter().map(async |(page, events)| desk.host_sees(page).await.len() * events)).await;
    assert_eq!(lists.iter().sum::<usize>(), expected);
}

#[apply(on_both)]
#[tokio::test]
async fn a_move_needs_the_calendar_of_each_event_also_after_the_team_has_changed(#[case] database: Database) {
    let desk = TeamDesk::new(database, 3).await;
    let page = desk.page(COLLECTIVE, &[0, 1]).await;
    let slots = desk.slots(&page).await;
    let booked = desk.book(&page, &slots[5]).await;
    for change in [json!({ "calendars": null }), json!({ "calendars": desk.ids(&[2]), "assignment": ROUND_ROBIN })] {
        desk.patch(&page, change).await;
        let other = desk.busy(1, &slots[7]).await;
        assert!(desk.offers(&page, &slots[7]).await, "to others");
        let refused = desk.move_to(&booked, &slots[7]).await.refused(409, "conflict").code("slot_taken");
        desk.names_no_calendar(&refused);
        assert_eq!(desk.all_starts().await, [vec![slots[5].clone()], vec![slots[5].clone(), slots[7].clone()], vec![]]);
        desk.delete(&other).await;
    }
    desk.move_to(&booked, &slots[7]).await.expect(200);
    assert_eq!(desk.all_starts().await, [vec![slots[7].clone()], vec![slots[7].clone()], vec![]]);
}

#[apply(on_both)]
#[tokio::test]
async fn a_booking_on_another_calendar_outlives_the_calendar_of_the_page(#[case] database: Database) {
    let desk = TeamDesk::new(database, 2).await;
    let (all, one) = (desk.page(COLLECTIVE, &[0, 1]).await, desk.page(ROUND_ROBIN, &[0, 1]).await);
    let slots = desk.slots(&all).await;
    desk.busy(0, &slots[5]).await;
    let alone = desk.book(&one, &slots[5]).await;
    let by_guest = desk.book(&all, &slots[7]).await;
    let by_host = desk.book(&all, &slots[9]).await;
    let id = text(&desk.listed(&all, &by_host).await["id"]);
    desk.api.delete(format!("/v1/calendars/{}", desk.team[0])).await.expect(204);
    desk.guest.get(format!("{}/slots", all.book)).await.refused(404, "not_found");
    assert_eq!(desk.starts(1).await, [slots[5].clone(), slots[7].clone(), slots[9].clone()]);
    // A move needs the page. The refusal says what is left to do.
    desk.move_to(&alone, &slots[11]).await.refused(404, "not_found");
    let refused = desk.move_to(&by_guest, &slots[11]).await.refused(409, "conflict").code("booking_over");
    assert!(text(&refused.at("/error/message")).contains("cancel it"), "{}", refused.describe());
    for booked in [&alone, &by_guest] {
        assert_eq!(desk.guest.post(&booked.cancel).await.expect(200)["status"], "cancelled");
    }
    assert_eq!(desk.cancel(&id).await.expect(200)["cancelled_by"], "host");
    assert_eq!(desk.starts(1).await, [""; 0]);
}

#[apply(on_both)]
#[tokio::test]
async fn what_is_left_of_a_booking_is_cancelled_under_its_own_uid(#[case] database: Database) {
    let desk = TeamDesk::new(database, 2).await;
    let page = desk.page(COLLECTIVE, &[0, 1]).await;
    let slots = desk.slots(&page).await;
    for (slot, by_host) in [(5, false), (9, true)] {
        let before = desk.server.mails().len();
        let booked = desk.book(&page, &slots[slot]).await;
        let id = text(&desk.listed(&page, &booked).await["id"]);
        desk.delete(&booked.event).await;
        // The pages offer the cancellation.
        desk.see(&booked.cancel).await.with(200).has(&["Cancel this booking?", "Cancel the booking"]);
        desk.see(&booked.reschedule).await.with(200).has(&["This booking cannot be moved", &booked.cancel]);
        if by_host {
            desk.cancel(&id).await.expect(200);
        } else {
            desk.guest.post(&booked.cancel).await.expect(200);
        }
        assert_eq!(desk.all_starts().await, [vec![], Vec::<String>::new()]);
        let mails = desk.server.wait_for_mails(before + 2).await;
        assert_eq!(value(&mails[before], "UID"), value(&mails[before + 1], "UID"));
        // Whether the page takes bookings does not matter to a booking that is cancelled.
        for active in [false, true] {
            desk.patch(&page, json!({ "active": active })).await;
            desk.see(&booked.cancel).await.with(200).has(&["This booking was already cancelled"]);
            desk.move_to(&booked, &slots[11]).await.refused(409, "conflict").code("booking_over");
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_booking_whose_event_moved_away_from_another_that_has_begun_is_cancelled(#[case] database: Database) {
    let mut desk = TeamDesk::new(database, 2).await;
    let page = desk.page(COLLECTIVE, &[0, 1]).await;
    let slots = desk.slots(&page).await;
    let booked = desk.book(&page, &slots[5]).await;
    let later = json!({ "start_time": slots[100] });
    desk.api.patch(format!("/v1/events/{}", booked.event)).json(later).await.expect(200);
    desk.later(2).await;
    assert_eq!(desk.guest.post(&booked.cancel).await.expect(200)["status"], "cancelled");
    assert_eq!(desk.all_starts().await, [vec![], vec![slots[5].clone()]], "what has begun stays");
}

#[apply(on_both)]
#[tokio::test]
async fn a_key_changes_who_takes_part_only_if_it_reaches_all(#[case] database: Database) {
    let desk = TeamDesk::new(database, 2).await;
    let page = desk.page(ROUND_ROBIN, &[0, 1]).await;
    let key = desk.api.post("/v1/keys").json(json!({ "agent_id": desk.agents[0] })).await.expect(201);
    let scoped = desk.server.client(&text(&key["key"]));
    scoped.patch(&page.path).json(json!({ "title": "Chat" })).await.expect(200);
    let refused = scoped.patch(&page.path).json(json!({ "assignment": COLLECTIVE })).await;
    assert_eq!(refused.status, 403, "{}", refused.describe());
    assert_eq!(desk.api.get(&page.path).await.expect(200)["assignment"], ROUND_ROBIN);
    assert_eq!(desk.patch(&page, json!({ "assignment": COLLECTIVE })).await["assignment"], COLLECTIVE);
}
