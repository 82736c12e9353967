//! Events in the calendar, on their pages and in their forms, in a real browser.

use kalends_e2e::Answer;
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::{
    calendar_desk::{CALENDAR, Desk, EVENTS, ZONE},
    holds::{hold_body, in_seconds},
    in_every_way,
    walk::{Walk, Way},
};

/// The month of all events here. Its third day is a Monday, and clocks in Berlin are an hour ahead of UTC.
const MONTH: &str = "2031-03";

impl Desk {
    /// The events of a calendar. A series counts once.
    async fn events_on(&self, calendar: &str) -> Answer {
        self.api.get(format!("/v1/calendars/{calendar}/events")).await.expect(200)
    }
}

impl Walk {
    /// Opens the first whole week of the month as a list. It has the same links in every window.
    async fn opens_the_list_of(&self, calendar: &str) {
        self.goto(&format!("{CALENDAR}?view=list&date={MONTH}-03&tz={ZONE}&cal={calendar}")).await;
        self.reaches("Calendar").await;
        self.browser.find("nav[aria-label='View'] a[aria-current='page'][href*='view=list']").await;
    }

    /// Opens an event, or an occurrence, from the list of the week.
    async fn opens_event(&self, calendar: &str, id: &str) {
        self.opens_the_list_of(calendar).await;
        self.follow(&format!("a.event[href*='/{id}?']")).await;
        self.browser.find("main a[href*='/edit']").await;
    }

    /// The identifier of the event whose page is open.
    async fn event_id(&self) -> String {
        let url = self.browser.url().await;
        let (_, rest) = url.split_once(&format!("{EVENTS}/")).unwrap_or_else(|| panic!("{url} is of no event"));
        rest.split('?').next().unwrap().to_owned()
    }
}

#[apply(in_every_way)]
#[tokio::test]
async fn a_person_creates_moves_and_cancels_an_event(#[case] way: Way) {
    let it = Desk::new(way.database).await;
    let walk = Walk::begin(&it, way).await;
    walk.opens_the_list_of(&it.calendar).await;
    walk.sees("No events.").await;
    walk.press("New event").await;
    walk.reaches("New event").await;
    walk.fill("#title", "Planning").await;
    walk.fill_time("#start_time", "2031-03-03T14:00").await;
    walk.fill_time("#end_time", "2031-03-03T13:00").await;
    walk.choose("#status", "tentative").await;
    walk.fill("#location", "Room 2").await;
    walk.press("Create the event").await;
    walk.browser.find("#end_time-problem").await;
    walk.fits().await;
    for (field, text) in [
        ("#title", "Planning"),
        ("#start_time", "2031-03-03T14:00"),
        ("#end_time", "2031-03-03T13:00"),
        ("#status", "tentative"),
        ("#location", "Room 2"),
    ] {
        assert_eq!(walk.browser.property(field, "value").await, text, "what was typed stays");
    }
    assert_eq!(it.events_on(&it.calendar).await["total"], 0);
    walk.fill_time("#end_time", "2031-03-03T15:00").await;
    walk.press("Create the event").await;
    walk.sees("Created.").await;
    walk.reaches("Planning").await;
    walk.sees("Room 2").await;
    walk.sees("Tentative").await;
    let id = walk.event_id().await;
    let made = it.read(&id).await;
    let times = (&made["startTime"], &made["endTime"]);
    assert_eq!(times, (&json!("2031-03-03T13:00:00Z"), &json!("2031-03-03T14:00:00Z")));
    assert_eq!(it.events_on(&it.calendar).await["total"], 1, "the refused form has no effect");

    walk.press("Edit").await;
    walk.reaches("Edit Planning").await;
    walk.fill("#title", "Plans").await;
    walk.choose("#status", "confirmed").await;
    walk.fill("#description", "One\nTwo").await;
    walk.press("Save").await;
    walk.sees("Saved.").await;
    walk.reaches("Plans").await;
    let changed = it.read(&id).await;
    assert_eq!((&changed["title"], &changed["status"]), (&json!("Plans"), &json!("confirmed")));
    assert_eq!((&changed["location"], &changed["startTime"]), (&made["location"], &made["startTime"]));

    walk.opens_the_list_of(&it.calendar).await;
    for (name, view) in [("Week", "week"), ("Day", "day"), ("Month", "month"), ("List", "list")] {
        walk.press(name).await;
        walk.browser.find(&format!("nav[aria-label='View'] a[aria-current='page'][href*='view={view}']")).await;
        walk.sees("Plans").await;
        walk.fits().await;
    }

    let other = json!({ "name": "Other", "timezone": ZONE });
    let other = it.api.post("/v1/calendars").json(other).await.expect(201).id();
    walk.opens_event(&it.calendar, &id).await;
    walk.press("Move to another calendar").await;
    walk.reaches("Move Plans").await;
    walk.choose("#calendar", &other).await;
    walk.press("Move").await;
    walk.sees("Moved.").await;
    assert_eq!(it.read(&id).await["calendarId"], other);
    assert_eq!(it.events_on(&it.calendar).await["total"], 0);

    walk.opens_the_list_of(&other).await;
    walk.press("Why is a time not free?").await;
    walk.reaches("Why is a time not free?").await;
    walk.fill_time("#start_time", "2031-03-03T14:30").await;
    walk.fill_time("#end_time", "2031-03-03T15:30").await;
    walk.press("Explain").await;
    walk.sees("An event takes the time").await;
    walk.fits().await;
    walk.fill_time("#start_time", "2031-03-03T15:00").await;
    walk.press("Explain").await;
    walk.sees("All of this time is free.").await;

    walk.opens_event(&other, &id).await;
    walk.press("Cancel the event").await;
    walk.reaches("Cancel Plans?").await;
    walk.press("Cancel the event").await;
    walk.sees("Cancelled.").await;
    walk.reaches("Calendar").await;
    it.api.get(format!("/v1/events/{id}")).await.expect(404);
    assert_eq!(it.events_on(&other).await["total"], 0);
}

#[apply(in_every_way)]
#[tokio::test]
async fn a_person_changes_one_occurrence_or_all(#[case] way: Way) {
    let it = Desk::new(way.database).await;
    let walk = Walk::begin(&it, way).await;
    walk.opens_the_list_of(&it.calendar).await;
    walk.press("New event").await;
    walk.reaches("New event").await;
    // The form suggests the morning of the day that the list is about.
    walk.fill("#title", "Standup").await;
    walk.choose("#repeats", "daily").await;
    walk.choose("#ends", "count").await;
    walk.fill("#count", "3").await;
    walk.press("Create the event").await;
    walk.sees("Created.").await;
    walk.reaches("Standup").await;
    walk.sees("FREQ=DAILY;COUNT=3").await;
    let series = walk.event_id().await;
    let occurrence = |day: u8| format!("{series}_203103{day:02}T080000Z");
    let taking_place = async || it.taking_place_in(MONTH).await;
    assert_eq!(taking_place().await, ["03T08:00 Standup", "04T08:00 Standup", "05T08:00 Standup"]);

    walk.opens_event(&it.calendar, &occurrence(4)).await;
    walk.sees("An occurrence of a series").await;
    walk.press("Edit").await;
    walk.reaches("Edit Standup").await;
    walk.pick("scope", "#scope-this").await;
    walk.fill("#title", "Retro").await;
    walk.press("Save").await;
    walk.sees("Saved.").await;
    walk.reaches("Retro").await;
    assert_eq!(taking_place().await, ["03T08:00 Standup", "04T08:00 Retro", "05T08:00 Standup"]);

    walk.opens_event(&it.calendar, &occurrence(5)).await;
    walk.press("Edit").await;
    walk.reaches("Edit Standup").await;
    walk.pick("scope", "#scope-all").await;
    walk.fill("#title", "Daily").await;
    walk.press("Save").await;
    walk.sees("Saved.").await;
    walk.reaches("Daily").await;
    // An occurrence keeps a title of its own.
    assert_eq!(taking_place().await, ["03T08:00 Daily", "04T08:00 Retro", "05T08:00 Daily"]);

    walk.opens_event(&it.calendar, &occurrence(5)).await;
    walk.press("Cancel the event").await;
    walk.reaches("Cancel Daily?").await;
    walk.pick("scope", "#scope-this").await;
    walk.press("Cancel the event").await;
    walk.sees("Cancelled.").await;
    assert_eq!(taking_place().await, ["03T08:00 Daily", "04T08:00 Retro"]);

    walk.goto(&format!("{EVENTS}/{series}?tz={ZONE}")).await;
    walk.reaches("Daily").await;
    walk.press("Cancel the event").await;
    walk.reaches("Cancel Daily?").await;
    walk.sees("All occurrences of this series are deleted.").await;
    walk.press("Cancel the event").await;
    walk.sees("Cancelled.").await;
    assert_eq!(taking_place().await, [""; 0]);
}

#[apply(in_every_way)]
#[tokio::test]
async fn a_person_confirms_and_releases_holds(#[case] way: Way) {
    let it = Desk::new(way.database).await;
    let until = in_seconds(&it.api, 900).await;
    let path = format!("/v1/calendars/{}/events", it.calendar);
    let hold = async |day: u8| {
        let at = |hour: u8| format!("{MONTH}-{day:02}T{hour:02}:00:00Z");
        it.api.post(&path).json(hold_body(&at(9), &at(10), &until, 0)).await.expect(201).id()
    };
    let (wanted, unwanted) = (hold(3).await, hold(4).await);
    let walk = Walk::begin(&it, way).await;
    for (id, button, said, status) in
        [(&wanted, "Confirm", "Confirmed.", "confirmed"), (&unwanted, "Release", "Released.", "cancelled")]
    {
        walk.opens_event(&it.calendar, id).await;
        walk.reaches("Maybe").await;
        walk.sees("min left").await;
        walk.press(button).await;
        walk.sees(said).await;
        walk.fits().await;
        assert_eq!(it.read(id).await["status"], status);
        assert!(!walk.browser.has("button[formaction$='/release']").await, "it is not a hold any more");
    }
}
