//! What the forms about events say besides times and texts: attendees, reminders, repetition, whole days, holds, and
//! moves to other calendars.

use kalends_e2e::Database;
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Value, json};

use crate::{
    calendar_desk::{CALENDAR, Desk, EVENTS, EVIL, Filled, SWITCHED, ZONE, event_of, new_event},
    console::Human,
    fixtures::{agent, event_body, shared_calendar},
    on_both,
    pages::{HOSTILE, Pages, Seen},
};

/// The hidden fields of the form that edits an event which is neither an occurrence nor a hold.
const HIDES: [&str; 18] = [
    "org",
    "once",
    "version",
    "tz",
    "was_title",
    "was_start_time",
    "was_end_time",
    "was_repeats",
    "was_recurrence_rule",
    "was_ends",
    "was_count",
    "was_until",
    "was_status",
    "was_location",
    "was_conference_url",
    "was_description",
    "was_attendees",
    "was_reminders",
];

/// The form that edits an event, as its page shows it.
async fn edits(pages: &mut Pages<'_>, id: &str) -> Filled {
    as_shown(&pages.open(&format!("{EVENTS}/{id}/edit?tz={ZONE}")).await.says(200, "Edit "))
}

fn as_shown(page: &Seen) -> Filled {
    let form = Filled::of(page, &HIDES, &[("if_free", "allow")]);
    let shown = form.0.iter().filter_map(|(name, value)| Some((name.strip_prefix("was_")?, value.as_str())));
    let shown: Vec<(&'static str, &str)> = shown.collect();
    form.but(&shown)
}

/// The address to which a form that edits an event leads.
fn saved(id: &str) -> String {
    format!("{EVENTS}/{id}?done=saved&tz=Europe%2FBerlin")
}

/// Requires a problem beside each of these fields.
#[track_caller]
fn marks(page: &Seen, fields: &[&str]) {
    for field in fields {
        assert!(page.text.contains(&format!("id=\"{field}-problem\"")), "no problem of {field}: {}", page.text);
    }
}

/// Requires these parts of a page.
#[track_caller]
fn shows(page: &Seen, parts: &[&str]) {
    for part in parts {
        assert!(page.text.contains(part), "no {part} in {}", page.text);
    }
}

fn emails(event: &Value) -> Vec<&str> {
    event["attendees"].as_array().unwrap().iter().map(|attendee| attendee["email"].as_str().unwrap()).collect()
}

#[apply(on_both)]
#[tokio::test]
async fn an_event_has_attendees_and_reminders(#[case] database: Database) {
    let it = Desk::with(database, &[("KALENDS_MAIL_LIMITS", "org=1,recipient=9")]).await;
    let mut pages = it.signed_in().await;
    let people = "Ada <ada@example.com>\r\n\r\nbob@example.com (optional)";
    let form = new_event(&it, &mut pages).await.but(&[("attendees", people), ("reminders", "10, 60")]);

    let wrong = form.but(&[("attendees", "ada\r\nbob@example.com"), ("reminders", "soon"), ("location", HOSTILE)]);
    let again = wrong.send(&mut pages, EVENTS).await.says(400, "Attendee 1 must be an email address");
    marks(&again, &["attendees", "reminders"]);
    shows(&again, &["<title>Error: ", ">\nada\nbob@example.com</textarea>", "value=\"soon\""]);
    let far = form.but(&[("attendees", "ada@example.com\r\nADA@example.com"), ("reminders", "50000")]);
    let again = far.send(&mut pages, EVENTS).await.says(400, "Must be 1 to 40320 minutes, got 50000.");
    marks(&again, &["attendees", "reminders"]);
    // Two emails are too many.
    let sends = form.but(&[("send_invitations", "true")]);
    let limited = sends.send(&mut pages, EVENTS).await.says(429, "allowed to others from one organization");
    shows(&limited, &["id=\"send_invitations\" value=\"true\" checked", "Ada &#60;ada@example.com&#62;"]);
    assert_eq!(it.taking_place().await, Vec::<String>::new());

    let made = form.send(&mut pages, EVENTS).await;
    let id = event_of(&made);
    form.send(&mut pages, EVENTS).await.leads_to(&made.location);
    let stored = it.read(&id).await;
    assert_eq!((emails(&stored), &stored["reminders"]), (vec!["ada@example.com", "bob@example.com"], &json!([60, 10])));
    let (ada, bob) = (&stored["attendees"][0], &stored["attendees"][1]);
    assert_eq!((&ada["name"], &ada["role"], &bob["role"]), (&json!("Ada"), &json!("required"), &json!("optional")));
    let page = pages.open(&made.location).await.says(200, "Ada: has not replied");
    shows(&page, &["bob@example.com (optional): has not replied", "60, 10 minutes before"]);

    // Those who stay keep what the form does not show.
    let agent = agent(&it.api).await;
    let ada = json!({ "email": "ada@example.com", "name": "Ada", "agent_id": agent });
    let body = json!({ "attendees": [ada, { "email": "bob@example.com" }] });
    it.api.patch(format!("/v1/events/{id}")).json(body).await.expect(200);
    let path = format!("{EVENTS}/{id}/edit");
    let form = edits(&mut pages, &id).await;
    let wrong = form.but(&[("attendees", "x <y>"), ("reminders", "1 2 3 4 5 6")]).send(&mut pages, &path).await;
    marks(&wrong.says(400, "Attendee 1 must be an email address"), &["attendees", "reminders"]);
    let other = form.but(&[("attendees", "Countess <Ada@example.com>"), ("reminders", "None")]);
    other.send(&mut pages, &path).await.leads_to(&saved(&id));
    other.send(&mut pages, &path).await.leads_to(&saved(&id));
    let stored = it.read(&id).await;
    assert_eq!((emails(&stored), &stored["reminders"]), (vec!["ada@example.com"], &json!([])));
    let ada = &stored["attendees"][0];
    assert_eq!((&ada["name"], &ada["agent_id"]), (&json!("Countess"), &json!(agent)));
    // The earlier form does not undo it.
    let stale = form.but(&[("once", ""), ("title", "Late")]).send(&mut pages, &path).await;
    let stale = stale.says(412, "The event has changed since you opened this page.");
    shows(&stale, &["Countess &#60;ada@example.com&#62;</textarea>", "value=\"none\""]);

    // The invitations alone are sent too. The second one is too many.
    let sends = edits(&mut pages, &id).await.but(&[("send_invitations", "true")]);
    sends.send(&mut pages, &path).await.leads_to(&saved(&id));
    let sends = edits(&mut pages, &id).await.but(&[("send_invitations", "true")]);
    sends.send(&mut pages, &path).await.says(429, "allowed to others from one organization");
    let none = edits(&mut pages, &id).await.but(&[("attendees", ""), ("reminders", "")]);
    none.send(&mut pages, &path).await.leads_to(&saved(&id));
    let stored = it.read(&id).await;
    assert_eq!((&stored["attendees"], &stored["reminders"]), (&Value::Null, &Value::Null));
}

#[apply(on_both)]
#[tokio::test]
async fn events_repeat_by_the_clock_of_their_calendar(#[case] database: Database) {
    let it = Desk::new(database).await;
    let mut pages = it.signed_in().await;
    let form = new_event(&it, &mut pages).await.but(&[("repeats", "weekly"), ("ends", "count"), ("count", "5")]);
    let wrong = form.but(&[("count", "many"), ("title", "")]).send(&mut pages, EVENTS).await;
    let wrong = wrong.says(400, "Must be a number of times, 1 to 10000.");
    marks(&wrong, &["count", "title"]);
    shows(&wrong, &["<option value=\"weekly\" selected>", "value=\"many\""]);
    let wrong = form.but(&[("ends", "until"), ("until", "2038-02-01")]).send(&mut pages, EVENTS).await;
    assert_eq!(wrong.status, 400);
    marks(&wrong, &["until"]);
    let wrong = form.but(&[("repeats", "rule"), ("recurrence_rule", HOSTILE)]).send(&mut pages, EVENTS).await;
    marks(&wrong.says(400, "alert(1)"), &["recurrence_rule"]);
    marks(&form.but(&[("repeats", "x")]).send(&mut pages, EVENTS).await.says(400, "choose it again"), &["repeats"]);

    let made = form.send(&mut pages, EVENTS).await;
    let id = event_of(&made);
    let stored = it.read(&id).await;
    let rule = (&stored["recurrenceRule"], &stored["recurrenceTimezone"]);
    assert_eq!(rule, (&json!("FREQ=WEEKLY;COUNT=5"), &json!(ZONE)));
    // It is at nine on the clock, before and after the clocks change.
    let days = ["01T08:00", "08T08:00", "15T08:00", "22T08:00", "29T07:00"].map(|start| format!("{start} Planning"));
    assert_eq!(it.taking_place().await, days);
    let page = pages.open(&made.location).await.says(200, "Every week on Monday, 5 times, in Europe/Berlin");
    shows(&page, &["<code>FREQ=WEEKLY;COUNT=5</code>"]);

    // The form of the series changes its rule.
    let path = format!("{EVENTS}/{id}/edit");
    let rule = async |pages: &mut Pages<'_>, typed: &[(&'static str, &str)]| {
        let form = edits(pages, &id).await;
        // Nothing was typed over, so nothing changes.
        form.send(pages, &path).await.leads_to(&saved(&id));
        form.but(typed).send(pages, &path).await.leads_to(&saved(&id));
        it.read(&id).await["recurrenceRule"].clone()
    };
    let weekdays = [("repeats", "weekdays"), ("ends", "until"), ("until", "2038-03-09")];
    assert_eq!(rule(&mut pages, &weekdays).await, "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;UNTIL=20380309");
    let page = pages.open(&path).await.says(200, "Every weekday, Monday to Friday, until 9 Mar 2038");
    shows(&page, &["\"weekdays\" selected>", "\"until\" selected>", "value=\"2038-03-09\""]);
    let last_fridays = ("recurrence_rule", "FREQ=MONTHLY;BYDAY=-1FR");
    let other = [("repeats", "rule"), last_fridays, ("ends", "count"), ("count", "2")];
    assert_eq!(rule(&mut pages, &other).await, "FREQ=MONTHLY;BYDAY=-1FR;COUNT=2");
    let page = pages.open(&path).await.says(200, "By the rule below, in Europe/Berlin");
    shows(&page, &["value=\"FREQ=MONTHLY;BYDAY=-1FR\"", "<option value=\"rule\" selected>"]);
    let kept = rule(&mut pages, &[("title", "Retro")]).await;
    assert_eq!(kept, "FREQ=MONTHLY;BYDAY=-1FR;COUNT=2", "only the title changes");
    assert_eq!(rule(&mut pages, &[("repeats", "never")]).await, Value::Null);
    assert_eq!(it.taking_place().await, ["01T08:00 Retro"]);
    let daily = [("repeats", "daily"), ("ends", "count"), ("count", "2")];
    assert_eq!(rule(&mut pages, &daily).await, "FREQ=DAILY;COUNT=2");
    assert_eq!(it.read(&id).await["recurrenceTimezone"], ZONE);
    // From an occurrence on, the series can repeat by another rule. One occurrence cannot.
    let path = format!("{EVENTS}/{id}_20380302T080000Z/edit");
    let page = pages.open(&format!("{path}?tz={ZONE}&cal={}", it.calendar)).await.says(200, "Which occurrences?");
    shows(&page, &["<option value=\"daily\" selected>", "name=\"was_count\" value=\"2\""]);
    let form = Filled::of(&page, &[&HIDES[..], &["series_version", "cal"]].concat(), &[("if_free", "allow")]);
    let shown = form.0.iter().filter_map(|(name, value)| Some((name.strip_prefix("was_")?, value.as_str())));
    let form = form.but(&shown.collect::<Vec<_>>()).but(&[("repeats", "weekly"), ("count", "3"), ("scope", "this")]);
    marks(&form.send(&mut pages, &path).await.says(400, "Must stay as it is"), &["repeats"]);
    let never = form.but(&[("repeats", "never"), ("scope", "all")]).send(&mut pages, &path).await;
    marks(&never.says(400, "because only the first occurrence would remain"), &["repeats"]);
    let split = form.but(&[("scope", "following")]).send(&mut pages, &path).await;
    let new = event_of(&split);
    // The page of the answer leads back to the same calendars.
    split.leads_to(&format!("{}&cal={}", saved(&new), it.calendar));
    assert_eq!(it.read(&new).await["recurrenceRule"], "FREQ=WEEKLY;COUNT=3");
    let days = ["01T08:00", "02T08:00", "09T08:00", "16T08:00"].map(|start| format!("{start} Retro"));
    assert_eq!(it.taking_place().await, days);
}

#[apply(on_both)]
#[tokio::test]
async fn events_take_whole_days(#[case] database: Database) {
    let it = Desk::new(database).await;
    let mut pages = it.signed_in().await;
    let days = [("all_day", "true"), ("start_time", "2038-03-03T09:00"), ("end_time", "2038-03-04T08:00")];
    let form = new_event(&it, &mut pages).await.but(&days);
    let wrong = form.but(&[("end_time", "2038-03-02T10:00")]).send(&mut pages, EVENTS).await;
    assert_eq!(wrong.status, 400);
    marks(&wrong, &["end_time"]);
    shows(&wrong, &["id=\"all_day\" value=\"true\" checked"]);
    let made = form.send(&mut pages, EVENTS).await;
    let id = event_of(&made);
    let times = async || {
        let stored = it.read(&id).await;
        assert_eq!(stored["allDay"], true);
        [stored["startTime"].clone(), stored["endTime"].clone()]
    };
    assert_eq!(times().await, ["2038-03-02T23:00:00Z", "2038-03-04T23:00:00Z"]);
    pages.open(&made.location).await.says(200, "Wednesday, 3 March 2038 – Thursday, 4 March 2038, all day");

    let path = format!("{EVENTS}/{id}/edit");
    let form = edits(&mut pages, &id).await;
    let wrong = form.but(&[("end_time", "x")]).send(&mut pages, &path).await.says(400, "Must be a date, such as");
    marks(&wrong, &["end_time"]);
    form.but(&[("end_time", "2038-03-05")]).send(&mut pages, &path).await.leads_to(&saved(&id));
    assert_eq!(times().await, ["2038-03-02T23:00:00Z", "2038-03-05T23:00:00Z"]);
    let daily = [("repeats", "daily"), ("ends", "until"), ("until", "2038-03-10")];
    edits(&mut pages, &id).await.but(&daily).send(&mut pages, &path).await.leads_to(&saved(&id));
    let stored = it.read(&id).await;
    let rule = (&stored["recurrenceRule"], &stored["recurrenceTimezone"]);
    assert_eq!(rule, (&json!("FREQ=DAILY;UNTIL=20380310"), &json!(ZONE)));
}

#[apply(on_both)]
#[tokio::test]
async fn a_form_places_a_hold(#[case] database: Database) {
    let it = Desk::new(database).await;
    let mut pages = it.signed_in().await;
    let new = format!("{CALENDAR}/new");
    pages.open(&new).await.says(200, "after 1 to 15 minutes");
    let form = new_event(&it, &mut pages).await.but(&[("status", "hold"), ("hold_minutes", "10")]);
    let wrong = form.but(&[("hold_minutes", "16"), ("title", "")]).send(&mut pages, EVENTS).await;
    marks(&wrong.says(400, "Must be a number of minutes, 1 to 15."), &["hold_minutes", "title"]);
    let wrong = form.but(&[("repeats", "daily"), ("send_invitations", "true")]).send(&mut pages, EVENTS).await;
    marks(&wrong.says(400, "A hold cannot repeat."), &["repeats", "send_invitations"]);
    let made = form.send(&mut pages, EVENTS).await;
    let id = event_of(&made);
    assert_eq!(form.send(&mut pages, EVENTS).await.leads_to(&made.location).status, 303);
    assert_eq!(it.read(&id).await["status"], "hold");
    let page = pages.open(&made.location).await.says(200, "Hold, ");
    shows(&page, &[">Confirm</button>", "Move to another calendar"]);
    // It moves if its time is free there.
    let other = shared_calendar(&it.api, ZONE).await;
    let body = event_body("Review", "2038-03-01T08:30:00Z", "2038-03-01T09:00:00Z");
    let review = it.api.post(format!("/v1/calendars/{other}/events")).json(body).await.expect(201).id();
    let path = format!("{EVENTS}/{id}/move");
    let page = pages.open(&path).await.says(200, "A hold needs its time free there.");
    assert!(!page.text.contains("name=\"if_free\""), "{}", page.text);
    let form = Filled::of(&page, &["org", "once", "version", "tz"], &[("calendar", &*other)]);
    form.send(&mut pages, &path).await.says(409, "Something else is at that time");
    it.api.delete(format!("/v1/events/{review}")).await.expect(204);
    assert_eq!(event_of(&form.but(&[("once", "")]).send(&mut pages, &path).await), id);
    assert_eq!(it.read(&id).await["calendarId"], other);
    let form = Filled::of(&pages.open(&path).await, &["org", "once", "version", "tz"], &[("calendar", &*it.calendar)]);
    assert_eq!(event_of(&form.send(&mut pages, &path).await), id);
    let taken = new_event(&it, &mut pages).await.but(&[("status", "hold"), ("hold_minutes", "1")]);
    taken.send(&mut pages, EVENTS).await.says(409, "Something else is at that time");

    it.server.cli(&["org", "set-plan", &it.org, "custom"]).await.succeeded();
    it.signed_in().await.open(&new).await.says(200, "after 1 to 10080 minutes");
    it.server.cli(&["org", "set-plan", &it.org, "free"]).await.succeeded();
    let mut pages = it.signed_in().await;
    let page = pages.open(&new).await.says(200, "New event");
    assert!(!page.text.contains("hold_minutes"), "the plan has no holds: {}", page.text);
    let late = new_event(&it, &mut pages).await.but(&[("status", "hold"), ("hold_minutes", "10")]);
    late.send(&mut pages, EVENTS).await.says(403, "Your plan does not include holds.");
}

#[apply(on_both)]
#[tokio::test]
async fn an_event_moves_to_another_calendar(#[case] database: Database) {
    let it = Desk::new(database).await;
    let other = shared_calendar(&it.api, "America/New_York").await;
    let id = it.event("Standup", "2038-03-01T08:00:00Z", "2038-03-01T08:15:00Z").await;
    let taken = it.event("Review", "2038-03-02T08:00:00Z", "2038-03-02T09:00:00Z").await;
    let mut body = event_body("Daily", "2038-03-02T08:30:00Z", "2038-03-02T08:45:00Z");
    body["recurrence_rule"] = json!("FREQ=DAILY;COUNT=3");
    let series = it.api.post(format!("/v1/calendars/{other}/events")).json(body).await.expect(201).id();
    let mut pages = it.signed_in().await;
    let path = format!("{EVENTS}/{id}/move");
    pages.open(&format!("{EVENTS}/{id}?tz={ZONE}")).await.says(200, &format!("{path}?tz="));
    let hides = ["org", "once", "version", "tz"];
    let page = pages.open(&format!("{path}?tz={ZONE}&cal={other}&cal={}", it.calendar)).await;
    let page = page.says(200, &format!("<option value=\"{other}\""));
    let back = format!("{id}?tz={ZONE}&#38;cal={other}&#38;cal={}\"", it.calendar);
    let kept = format!("name=\"cal\" value=\"{}\"", it.calendar);
    shows(&page, &[&back, &kept]);
    assert!(!page.text.contains(&format!("<option value=\"{}\"", it.calendar)), "it is there already: {}", page.text);
    let form = Filled::of(&page, &hides, &[("calendar", &*other), ("if_free", "allow")]);

    it.api.patch(format!("/v1/events/{id}")).json(json!({ "title": "Retro" })).await.expect(200);
    let stale = form.send(&mut pages, &path).await.says(412, "The event has changed since you opened this page.");
    shows(&stale, &["Move Retro", "Error: ", &format!("<option value=\"{other}\" selected>")]);
    let form = Filled::of(&stale, &hides, &[("calendar", &*other), ("if_free", "refuse")]);
    form.but(&[("calendar", "cal_x")]).send(&mut pages, &path).await.says(404, "There is no such calendar any more.");
    form.but(&[("org", "org_x")]).send(&mut pages, &path).await.says(409, SWITCHED);
    assert_eq!(pages.send_from(EVIL, &path, &[("org", &*it.org)]).await.status, 403);
    assert_eq!(it.read(&id).await["calendarId"], it.calendar);
    // The page leads back to the calendars that were chosen, and to the new one.
    let form = form.but(&[("cal", &*it.calendar)]);
    let moved = format!("{EVENTS}/{id}?done=moved&tz=Europe%2FBerlin&cal={}&cal={other}", it.calendar);
    form.send(&mut pages, &path).await.leads_to(&moved);
    // A double click.
    form.send(&mut pages, &path).await.leads_to(&moved);
    assert_eq!(it.read(&id).await["calendarId"], other);
    pages.open(&moved).await.says(200, "Moved.");

    // A series moves as a whole, and its occurrences lead to its form.
    let whole = format!("{EVENTS}/{series}/move");
    let occurrence = format!("{EVENTS}/{series}_20380303T083000Z");
    pages.open(&occurrence).await.says(200, &format!("href=\"{whole}?tz="));
    pages.open(&format!("{occurrence}/move")).await.leads_to(&format!("{whole}?tz=America/New_York"));
    let page = pages.open(&whole).await.says(200, "The whole series moves");
    let form = Filled::of(&page, &hides, &[("calendar", &*it.calendar), ("if_free", "refuse")]);
    form.send(&mut pages, &whole).await.says(409, "Something else is at that time");
    let form = form.but(&[("if_free", "allow"), ("once", "")]);
    assert_eq!(event_of(&form.send(&mut pages, &whole).await), series);
    assert_eq!(it.read(&series).await["calendarId"], it.calendar);

    let path = format!("{EVENTS}/{taken}/move");
    let mut viewer = it.browser_of("vic@example.com", "viewer").await;
    let page = viewer.open(&format!("{EVENTS}/{taken}")).await.says(200, "Review");
    assert!(!page.text.contains("/move"), "{}", page.text);
    viewer.open(&path).await.says(403, "Your role does not allow this.");
    let fields = [("org", &*it.org), ("calendar", &*other), ("version", "1")];
    assert_eq!(viewer.send(&path, &fields).await.status, 403);
    let mut member = it.browser_of("mem@example.com", "member").await;
    member.open(&path).await.says(200, "Move Review");
    let eve = Human::sign_up(&it.server, "eve@example.com").await;
    let mut others = Pages::new(&it.server);
    others.sign_in(&eve.email).await;
    others.open(&path).await.says(404, "There is no such event any more.");
    let fields = [("org", &*eve.org), ("calendar", &*other), ("version", "1")];
    others.send(&path, &fields).await.says(404, "There is no such event any more.");
    assert_eq!(it.read(&taken).await["calendarId"], it.calendar);
    Pages::new(&it.server).open(&path).await.asks_to_sign_in();
}
