//! The calendar of the console, by its pages and forms. The forms about one event are in `event_pages` and
//! `event_form_pages`.

use kalends_e2e::Database;
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::{
    calendar_desk::{CALENDAR, Desk, EVENTS, EVIL, SWITCHED, ZONE, event_of, new_event},
    connecting::{ACCOUNT, CALENDARS, Connecting, HUMAN},
    console::Human,
    fixtures::event_body,
    members::member,
    on_both,
    pages::{HOSTILE, Pages, Seen},
};

#[apply(on_both)]
#[tokio::test]
async fn an_event_is_created_and_shown_in_every_view(#[case] database: Database) {
    let it = Desk::new(database).await;
    let mut pages = Pages::new(&it.server);
    pages.open(CALENDAR).await.asks_to_sign_in();
    pages.sign_in(HUMAN).await;
    pages.open(CALENDAR).await.says(200, "New event");
    let form = new_event(&it, &mut pages).await;

    let wrong = form.but(&[("title", ""), ("end_time", "soon"), ("description", HOSTILE), ("status", HOSTILE)]);
    let again = wrong.send(&mut pages, EVENTS).await.says(400, "Must be a date and a time of day");
    for part in
        ["id=\"title-problem\"", "id=\"end_time-problem\"", "id=\"status-problem\"", "alert(1)", "value=\"Room 2\""]
    {
        assert!(again.text.contains(part), "no {part} in {}", again.text);
    }
    let backwards = form.but(&[("end_time", "2038-03-01T08:00")]);
    backwards.send(&mut pages, EVENTS).await.says(400, "id=\"end_time-problem\"");
    form.but(&[("calendar", "cal_x")]).send(&mut pages, EVENTS).await.says(404, "There is no such calendar any more.");
    form.but(&[("org", "org_x")]).send(&mut pages, EVENTS).await.says(409, SWITCHED);
    assert_eq!(pages.send_from(EVIL, EVENTS, &[("org", &*it.org)]).await.status, 403);
    assert_eq!(it.taking_place().await, Vec::<String>::new());

    // A double click.
    let made = form.send(&mut pages, EVENTS).await;
    let id = event_of(&made);
    assert_eq!(form.send(&mut pages, EVENTS).await.leads_to(&made.location).status, 303);
    assert_eq!(it.taking_place().await, ["01T08:00 Planning"]);
    let stored = it.read(&id).await;
    assert_eq!((&stored["description"], &stored["location"]), (&json!("One\nTwo"), &json!("Room 2")));
    let page = pages.open(&made.location).await.says(200, "Created.");
    for part in ["09:00–10:00", "Europe/Berlin (UTC+1)", "Shared", "Room 2", "https://meet.example.com/planning"] {
        assert!(page.text.contains(part), "no {part} in {}", page.text);
    }
    pages.open(EVENTS).await.leads_to(CALENDAR);
    pages.open(&format!("{EVENTS}/%0A/confirm")).await.leads_to(&format!("{EVENTS}/%0A"));

    it.event(HOSTILE, "2038-03-03T12:00:00Z", "2038-03-03T13:00:00Z").await;
    for view in ["week", "list", "day", "month"] {
        let page = pages.open(&it.view(view, ZONE)).await.says(200, "<strong>Planning</strong>");
        assert!(
            page.text.contains("09:00–10:00") && page.text.contains(&format!("{EVENTS}/{id}?tz=")),
            "{}",
            page.text
        );
        assert_eq!(page.text.contains("alert(1)"), view != "day", "{view}");
        let tokyo = format!("{}&tz2={ZONE}", it.view(view, "Asia/Tokyo"));
        pages.open(&tokyo).await.says(200, "17:00–18:00");
        let other = pages.open(&format!("{CALENDAR}?view={view}&date=2038-05-10&tz={ZONE}")).await;
        let other = other.says(200, "May 2038");
        assert!(!other.text.contains("Planning"), "{}", other.text);
    }
    // What cannot be read says nothing.
    let nonsense = format!("{CALENDAR}?view=x&date=9999-01-01&tz=Mars&tz2=Mars&cal=x&done=x");
    pages.open(&nonsense).await.says(200, "<p class=\"lead\">Times are in Europe/Berlin (");
    for date in ["1970-01-01", "2099-12-31"] {
        pages.open(&format!("{CALENDAR}?view=month&date={date}")).await.says(200, date);
    }

    // Events that must have their time alone.
    let second = new_event(&it, &mut pages).await;
    let taken = second.but(&[("if_free", "refuse")]);
    taken.send(&mut pages, EVENTS).await.says(409, "Something else is at that time");
    // The clocks skip half past two.
    let night = [("start_time", "2038-03-28T02:30"), ("end_time", "2038-03-28T04:00"), ("title", "Night")];
    let night = event_of(&second.but(&night).send(&mut pages, EVENTS).await);
    assert_eq!(it.read(&night).await["startTime"], "2038-03-28T01:30:00Z");
    let week = format!("{CALENDAR}?view=week&date=2038-03-28&tz={ZONE}");
    pages.open(&week).await.says(200, "this day has 23 hours").says(200, "03:30–04:00");
}

#[apply(on_both)]
#[tokio::test]
async fn only_some_roles_change_events(#[case] database: Database) {
    let it = Desk::new(database).await;
    let id = it.event("Standup", "2038-03-02T08:00:00Z", "2038-03-02T08:15:00Z").await;
    let (event, edit, cancel) =
        (format!("{EVENTS}/{id}"), format!("{EVENTS}/{id}/edit"), format!("{EVENTS}/{id}/cancel"));
    for (email, role) in [("adm@example.com", "admin"), ("mem@example.com", "member")] {
        let mut pages = it.browser_of(email, role).await;
        pages.open(&it.view("week", ZONE)).await.says(200, "New event");
        pages.open(&event).await.says(200, "/edit?tz=");
        event_of(&new_event(&it, &mut pages).await.but(&[("title", role)]).send(&mut pages, EVENTS).await);
    }

    let mut viewer = it.browser_of("vic@example.com", "viewer").await;
    let week = viewer.open(&it.view("week", ZONE)).await.says(200, "<strong>Standup</strong>");
    assert!(!week.text.contains("New event"), "{}", week.text);
    let page = viewer.open(&event).await.says(200, "Standup");
    assert!(!page.text.contains("/edit") && !page.text.contains("/cancel"), "{}", page.text);
    for path in [&*format!("{CALENDAR}/new"), &edit, &cancel] {
        viewer.open(path).await.says(403, "Your role does not allow this.");
    }
    let before = it.taking_place().await;
    for path in [EVENTS, &edit, &cancel, &format!("{event}/confirm"), &format!("{event}/release")] {
        let fields = [("org", &*it.org), ("title", "x"), ("version", "1")];
        assert_eq!(viewer.send(path, &fields).await.status, 403, "{path}");
    }
    assert_eq!(it.taking_place().await, before);

    // A user of another organization finds nothing.
    let eve = Human::sign_up(&it.server, "eve@example.com").await;
    // Without holds in the plan, confirming one would be refused before the event is looked up.
    it.server.cli(&["org", "set-plan", &eve.org, "custom"]).await.succeeded();
    let mut others = Pages::new(&it.server);
    others.sign_in(&eve.email).await;
    let week = others.open(&it.view("week", ZONE)).await.says(200, "There are no calendars yet.");
    assert!(!week.text.contains("Standup"), "{}", week.text);
    for path in [&event, &edit, &cancel] {
        others.open(path).await.says(404, "There is no such event any more.");
    }
    let fields = [("org", &*eve.org), ("title", "x"), ("version", "1"), ("calendar", &*it.calendar)];
    for path in [&edit, &cancel, &format!("{event}/confirm")] {
        others.send(path, &fields).await.says(404, "There is no such event any more.");
    }
    others.send(&edit, &[("org", &*it.org)]).await.says(409, SWITCHED);

    let mut nobody = Pages::new(&it.server);
    for path in [&event, &edit, &cancel, &format!("{CALENDAR}/new"), &format!("{CALENDAR}/explain")] {
        nobody.open(path).await.asks_to_sign_in();
    }
    assert_eq!(it.taking_place().await, before);
}

#[apply(on_both)]
#[tokio::test]
async fn the_hours_of_the_calendar_lead_to_the_form(#[case] database: Database) {
    let it = Desk::new(database).await;
    let id = it.event("Standup", "2038-03-02T08:00:00Z", "2038-03-02T08:15:00Z").await;
    let mut pages = it.signed_in().await;
    let form = |time: &str| format!("{CALENDAR}/new?cal={}&tz={ZONE}&{time}", it.calendar);
    let link = |time: &str, name: &str| {
        let href = form(time).replace('&', "&#38;");
        format!("<a href=\"{href}\" aria-label=\"New event, {name}\"></a>")
    };
    let hour = link("start=2038-03-02T14:00", "Tuesday 2 March, 14:00");
    let week = pages.open(&it.view("week", ZONE)).await.says(200, &hour);
    assert_eq!(week.text.matches("aria-label=\"New event, ").count(), 7 * 24);
    assert_eq!(week.text.matches(" opens\">").count(), 1, "the hour with which the grid opens");
    assert!(week.text.contains("<li class=\"r15 s2 opens\"><span>07:00</span>"), "{}", week.text);
    let times = "data-from=\"2038-03-02T08:00:00Z\" data-to=\"2038-03-02T08:15:00Z\"";
    let data = format!("data-id=\"{id}\" data-version=\"1\" {times} data-ends>");
    assert!(week.text.contains(&data), "no {data} in {}", week.text);
    // The clocks change: 02:30 is no time of that day, and 03:00 follows 01:00.
    let spring = pages.open(&format!("{CALENDAR}?view=day&date=2038-03-28&tz={ZONE}&cal={}", it.calendar)).await;
    assert_eq!(spring.text.matches("aria-label=\"New event, ").count(), 23);
    assert!(!spring.text.contains("start=2038-03-28T02:"), "{}", spring.text);
    let page = pages.open(&form("start=2038-03-02T14:00")).await.says(200, "2038-03-02T14:00");
    assert!(page.text.contains("2038-03-02T15:00"), "{}", page.text);
    for (end, said) in [("17:45", "17:45"), ("13:00", "15:00"), ("x", "15:00")] {
        let form = form(&format!("start=2038-03-02T14:00&end=2038-03-02T{end}"));
        pages.open(&form).await.says(200, &format!("2038-03-02T{said}"));
    }
    // A span that was drawn over the hour that the clocks show twice ends where it was drawn.
    let at = "start_at=2038-10-31T00:30:00Z&end_at=2038-10-31T01:00:00Z";
    let night = pages.open(&form(&format!("start=2038-10-31T02:30&end=2038-10-31T02:00&{at}"))).await;
    let night = night.says(200, "value=\"2038-10-31T02:00\"");
    let back = format!("href=\"{CALENDAR}?view=week&#38;date=2038-10-31&#38;tz={ZONE}&#38;cal={}\"", it.calendar);
    for part in ["name=\"end_at\" value=\"2038-10-31T01:00:00Z\"", &back] {
        assert!(night.text.contains(part), "no {part} in {}", night.text);
    }
    for view in ["week", "list", "day", "month"] {
        let day = form("date=2038-03-01").replace('&', "&#38;");
        pages.open(&it.view(view, ZONE)).await.says(200, &format!("<p class=\"add\"><a href=\"{day}\">"));
    }
    pages.open(&form("date=2038-03-04")).await.says(200, "2038-03-04T09:00");

    let mut viewer = it.browser_of("vic@example.com", "viewer").await;
    for view in ["week", "list", "day", "month"] {
        let page = viewer.open(&it.view(view, ZONE)).await.says(200, "<h1>Calendar</h1>");
        for part in ["class=\"slot", "class=\"add", "data-id", "<dialog"] {
            assert!(!page.text.contains(part), "{view} has {part}: {}", page.text);
        }
    }
}

#[apply(on_both)]
#[tokio::test]
async fn a_list_shows_some_of_many_events(#[case] database: Database) {
    let it = Desk::new(database).await;
    let many = vec![event_body("Standup", "2038-03-01T08:00:00Z", "2038-03-01T09:00:00Z"); 60];
    let path = format!("/v1/calendars/{}/events/batch", it.calendar);
    it.api.post(path).json(json!({ "events": many })).await.expect(201);
    let mut pages = it.signed_in().await;
    let list = pages.open(&it.view("list", ZONE)).await.says(200, ">10 more<");
    assert_eq!(list.text.matches("<strong>Standup").count(), 50);
    let day = pages.open(&it.view("day", ZONE)).await.says(200, "Also on this day");
    assert_eq!(day.text.matches("<strong>Standup").count(), 60);
    let week = pages.open(&it.view("week", ZONE)).await.says(200, ">58 more<");
    assert_eq!(week.text.matches("<strong>Standup").count(), 2);
}

#[apply(on_both)]
#[tokio::test]
async fn a_page_explains_why_a_time_is_not_free(#[case] database: Database) {
    let it = Desk::new(database).await;
    it.event(HOSTILE, "2038-03-01T08:00:00Z", "2038-03-01T09:00:00Z").await;
    let mut pages = it.signed_in().await;
    let explain = format!("{CALENDAR}/explain");
    let empty = format!("{explain}?cal={}&tz={ZONE}&date=2038-03-01", it.calendar);
    pages.open(&empty).await.says(200, "value=\"2038-03-01T09:00\"");
    let asked = |start: &str, end: &str| {
        format!("{explain}?cal={}&tz={ZONE}&start_time=2038-03-01T{start}&end_time=2038-03-01T{end}", it.calendar)
    };
    let taken = pages.open(&asked("09:30", "10:30")).await.says(200, "An event takes the time");
    assert!(taken.text.contains("09:00–10:00") && !taken.text.contains("alert(1)"), "{}", taken.text);
    pages.open(&asked("10:00", "11:00")).await.says(200, "All of this time is free.");
    pages.open(&asked("10:00", "x")).await.says(400, "id=\"end_time-problem\"");
    pages.open(&asked("10:00", "09:00")).await.says(400, "id=\"end_time-problem\"");
    let unknown = asked("10:00", "11:00").replace(&it.calendar, "cal_x");
    pages.open(&unknown).await.says(404, "There is no such calendar any more.");
    // It is said before what is wrong with the times.
    let unknown = asked("10:00", "x").replace(&it.calendar, "cal_x");
    pages.open(&unknown).await.says(404, "There is no such calendar any more.");
}

#[apply(on_both)]
#[tokio::test]
async fn cancelled_events_do_not_hide_others(#[case] database: Database) {
    let it = Desk::new(database).await;
    let mut cancelled = event_body("Cancelled", "2038-03-01T08:00:00Z", "2038-03-01T09:00:00Z");
    cancelled["status"] = json!("cancelled");
    let path = format!("/v1/calendars/{}/events/batch", it.calendar);
    for _ in 0..3 {
        it.api.post(path.as_str()).json(json!({ "events": vec![cancelled.clone(); 100] })).await.expect(201);
    }
    it.event("Late", "2038-03-04T08:00:00Z", "2038-03-04T09:00:00Z").await;
    let mut pages = it.signed_in().await;
    for view in ["week", "list", "month"] {
        let page = pages.open(&it.view(view, ZONE)).await.says(200, "<strong>Late</strong>");
        assert!(!page.text.contains("<strong>Cancelled"), "{}", page.text);
        assert!(!page.text.contains("There are more than") && !page.text.contains("too many events"), "{}", page.text);
    }
}

/// A month of two calendars with too many cancelled occurrences: they cannot be read together.
#[apply(on_both)]
#[tokio::test]
async fn only_calendars_with_too_many_events_are_named(#[case] database: Database) {
    let it = Desk::new(database).await;
    let second = json!({ "name": "Other", "timezone": "America/New_York" });
    let second = it.api.post("/v1/calendars").json(second).await.expect(201).id();
    let mut cancelled = event_body("Cancelled", "2038-02-01T08:00:00Z", "2038-02-01T09:00:00Z");
    cancelled["status"] = json!("cancelled");
    cancelled["recurrence_rule"] = json!("FREQ=DAILY");
    let cancel = async |calendar: &str, series: usize| {
        let body = json!({ "events": vec![cancelled.clone(); series] });
        it.api.post(format!("/v1/calendars/{calendar}/events/batch")).json(body).await.expect(201);
    };
    cancel(&it.calendar, 40).await;
    cancel(&second, 30).await;
    it.event("Late", "2038-03-30T08:00:00Z", "2038-03-30T09:00:00Z").await;
    let late = event_body("Last", "2038-03-31T08:00:00Z", "2038-03-31T09:00:00Z");
    it.api.post(format!("/v1/calendars/{second}/events")).json(late).await.expect(201);
    let mut pages = it.signed_in().await;
    let month = format!("{}&cal={second}", it.view("month", ZONE));
    let page = pages.open(&month).await.says(200, "<strong>Late</strong>").says(200, "<strong>Last</strong>");
    assert!(!page.text.contains("has too many events"), "{}", page.text);
    cancel(&it.calendar, 30).await;
    let page = pages.open(&month).await.says(200, "Shared has too many events here");
    let page = page.says(200, "<strong>Last</strong>");
    assert!(!page.text.contains("Other has too many events"), "{}", page.text);
}

#[apply(on_both)]
#[tokio::test]
async fn what_connected_calendars_take_is_shown_without_titles(#[case] database: Database) {
    const NOT_KNOWN: &str = "Some connected calendars are not up to date, so busy times may be missing.";
    let mut it = Connecting::new(database).await;
    it.google.events(ACCOUNT, CALENDARS[0].0, &[it.event(9 * 60, 10 * 60)]);
    it.granted(&it.google).await;
    it.until_busy(&[(9 * 60, 10 * 60)]).await;
    let (viewer, _) = member(&it.server, &it.console, "vic@example.com", "viewer").await;
    let day = it.day.date_naive();
    for email in [HUMAN, &*viewer.email] {
        let mut pages = Pages::new(&it.server);
        pages.sign_in_to(email, &it.org.id).await;
        for view in ["day", "list", "month"] {
            let path = format!("{CALENDAR}?view={view}&date={day}&tz=UTC");
            let page = pages.open(&path).await.says(200, "<strong>Busy (a connected calendar)</strong>");
            assert!(page.text.contains("09:00–10:00"), "{}", page.text);
            private(&page);
            assert!(view != "day" || !page.text.contains(NOT_KNOWN), "{}", page.text);
        }
        let times = format!("start_time={day}T09:00&end_time={day}T10:00");
        let why = pages.open(&format!("{CALENDAR}/explain?cal={}&tz=UTC&{times}", it.calendar)).await;
        private(&why.says(200, "09:00–10:00"));
    }

    // Nothing can be read for more than an hour.
    it.google.fails(Some(503));
    it.restart_at_offset(3_605).await;
    let mut pages = Pages::new(&it.server);
    pages.sign_in_to(HUMAN, &it.org.id).await;
    let page = pages.open(&format!("{CALENDAR}?view=day&date={day}&tz=UTC")).await.says(200, NOT_KNOWN);
    assert!(page.text.contains("09:00–10:00"), "{}", page.text);
}

/// Requires that a page shows nothing of the account: neither its address nor names of calendars and events.
#[track_caller]
fn private(page: &Seen) {
    assert!(!page.text.contains(ACCOUNT), "{}", page.text);
    assert!(!page.text.to_lowercase().contains("planted"), "{}", page.text);
}
