//! The forms about one event in the console: editing it in two tabs, occurrences of a series, holds, and cancellations.

use kalends_e2e::Database;
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::json;

use crate::{
    calendar_desk::{Desk, EVENTS, Filled, HIDES, SWITCHED, ZONE, event_of},
    fixtures::event_body,
    holds::{hold_body, in_seconds},
    on_both,
    pages::{HOSTILE, Pages, hidden},
};

/// The address of the calendar after an event on that day of March 2038 was cancelled.
fn cancelled(day: u8) -> String {
    format!("/console/calendar?view=week&date=2038-03-{day:02}&tz=Europe/Berlin&done=cancelled")
}

#[apply(on_both)]
#[tokio::test]
async fn an_event_is_edited_in_two_tabs(#[case] database: Database) {
    let it = Desk::new(database).await;
    let id = it.event("Standup", "2038-03-01T08:00:30Z", "2038-03-01T08:15:30Z").await;
    let mut pages = it.signed_in().await;
    let path = format!("{EVENTS}/{id}/edit");
    let page = pages.open(&format!("{path}?tz={ZONE}")).await.says(200, "value=\"2038-03-01T09:00\"");
    let typed = [
        ("title", "Standup"),
        ("start_time", "2038-03-01T09:00"),
        ("end_time", "2038-03-01T09:15"),
        ("status", "confirmed"),
        ("if_free", "allow"),
        ("location", ""),
        ("conference_url", ""),
        ("description", ""),
    ];
    let form = Filled::of(&page, &HIDES, &typed);
    // The other tab.
    let page = pages.open(&format!("{path}?tz={ZONE}")).await;
    let other = Filled::of(&page, &HIDES, &typed);
    let saved = format!("{EVENTS}/{id}?done=saved&tz=Europe%2FBerlin");
    // Nothing was typed over, so nothing changes.
    let before = it.read(&id).await;
    form.send(&mut pages, &path).await.leads_to(&saved);
    assert_eq!(it.read(&id).await, before);

    let wrong = form.but(&[("title", ""), ("start_time", "x"), ("conference_url", "x")]).send(&mut pages, &path).await;
    let wrong = wrong.says(400, "id=\"start_time-problem\"");
    for field in ["title", "conference_url"] {
        assert!(wrong.text.contains(&format!("id=\"{field}-problem\"")), "no {field}: {}", wrong.text);
    }
    form.but(&[("org", "org_x"), ("title", "x")]).send(&mut pages, &path).await.says(409, SWITCHED);
    // A side that was left as it is keeps its seconds.
    let first = form.but(&[("title", "Retro"), ("end_time", "2038-03-01T10:00"), ("status", "tentative")]);
    first.send(&mut pages, &path).await.leads_to(&saved);
    // A double click.
    first.send(&mut pages, &path).await.leads_to(&saved);
    let now = it.read(&id).await;
    assert_eq!((&now["title"], &now["status"]), (&json!("Retro"), &json!("tentative")));
    let times = (&now["startTime"], &now["endTime"]);
    assert_eq!(times, (&json!("2038-03-01T08:00:30Z"), &json!("2038-03-01T09:00:00Z")));
    pages.open(&saved).await.says(200, "Saved.").says(200, "Tentative");

    // The other tab still shows the earlier version.
    let other = other.but(&[("title", "Other"), ("location", HOSTILE)]);
    let stale = other.send(&mut pages, &path).await.says(412, "The event has changed since you opened this page.");
    // It shows the event as it is now, what was typed, and the other fields as they are now.
    for part in ["<dd>Retro</dd>", "<dd>Tentative</dd>", "value=\"Other\"", "value=\"2038-03-01T10:00\""] {
        assert!(stale.text.contains(part), "no {part} in {}", stale.text);
    }
    assert_eq!(it.read(&id).await, now);
    let typed = [("title", "Other"), ("end_time", "2038-03-01T10:00"), ("status", "tentative"), ("location", HOSTILE)];
    let again = Filled::of(&stale, &HIDES, &[("if_free", "allow"), ("conference_url", ""), ("description", "")]);
    let again = again.but(&[("start_time", "2038-03-01T09:00")]).but(&typed);
    again.send(&mut pages, &path).await.leads_to(&saved);
    let after = it.read(&id).await;
    assert_eq!((&after["title"], &after["location"]), (&json!("Other"), &json!(HOSTILE)));
    assert_eq!((&after["startTime"], &after["endTime"]), times, "the change of the other tab stays");
    assert_eq!(after["status"], "tentative");
    // A form with what its first page showed leaves these fields alone too.
    let version = hidden(&pages.open(&path).await.text, "version");
    let late = other.but(&[("version", version.as_str()), ("title", "Late"), ("location", "")]);
    late.send(&mut pages, &path).await.leads_to(&saved);
    let after = it.read(&id).await;
    assert_eq!((&after["title"], &after["status"]), (&json!("Late"), &json!("tentative")));
    assert_eq!((&after["startTime"], &after["endTime"]), times);

    // It is cancelled once.
    let cancel = format!("{EVENTS}/{id}/cancel");
    let asks = pages.open(&format!("{cancel}?cal={}", it.calendar)).await.says(200, "This cannot be undone.");
    let form = Filled::of(&asks, &["org", "once", "version", "tz", "date", "cal"], &[]);
    let cancelled = |day| cancelled(day).replace("&done", &format!("&cal={}&done", it.calendar));
    form.but(&[("version", "1")]).send(&mut pages, &cancel).await.says(412, "The event has changed since");
    form.send(&mut pages, &cancel).await.leads_to(&cancelled(1));
    pages.open(&cancelled(1)).await.says(200, "Cancelled.");
    // A double click.
    form.send(&mut pages, &cancel).await.leads_to(&cancelled(1));
    form.but(&[("once", "")]).send(&mut pages, &cancel).await.says(404, "There is no such event any more.");
    pages.open(&path).await.says(404, "There is no such event any more.");
    assert_eq!(it.taking_place().await, Vec::<String>::new());
}

#[apply(on_both)]
#[tokio::test]
async fn occurrences_are_changed_alone_from_one_on_or_all(#[case] database: Database) {
    let it = Desk::new(database).await;
    let mut body = event_body("Standup", "2038-03-01T08:00:00Z", "2038-03-01T08:15:00Z");
    body["recurrence_rule"] = json!("FREQ=DAILY;COUNT=6");
    let path = format!("/v1/calendars/{}/events", it.calendar);
    let series = it.api.post(path).json(body).await.expect(201).id();
    let mut pages = it.signed_in().await;
    let occurrence = |series: &str, day: u8| format!("{EVENTS}/{series}_203803{day:02}T080000Z");
    let second = occurrence(&series, 2);
    pages.open(&it.view("week", ZONE)).await.says(200, &format!("href=\"{second}?tz="));
    let page = pages.open(&format!("{second}?cal={}", it.calendar)).await.says(200, &format!("{EVENTS}/{series}?tz="));
    let back = format!("date=2038-03-02&#38;tz=Europe/Berlin&#38;cal={}\"", it.calendar);
    assert!(page.text.contains(&back), "no {back} in {}", page.text);
    pages.open(&format!("{EVENTS}/{series}")).await.says(200, "FREQ=DAILY;COUNT=6");
    let all = pages.open(&format!("{EVENTS}/{series}/edit")).await.says(200, "This changes all occurrences.");
    assert!(all.text.contains("FREQ=DAILY;COUNT=6"), "{}", all.text);
    let all = pages.open(&format!("{EVENTS}/{series}/cancel")).await;
    let all = all.says(200, "All occurrences of this series are deleted.");
    assert!(all.text.contains("FREQ=DAILY;COUNT=6"), "{}", all.text);

    let cancel = async |pages: &mut Pages<'_>, of: &str, scope: &str| {
        let asks = pages.open(&format!("{of}/cancel")).await.says(200, "Which occurrences?");
        let hides = ["org", "once", "version", "series_version", "tz", "date"];
        let form = Filled::of(&asks, &hides, &[("scope", scope)]);
        form.send(pages, &format!("{of}/cancel")).await
    };
    cancel(&mut pages, &second, "").await.says(400, "id=\"scope-problem\"");
    assert_eq!(it.taking_place().await.len(), 6);
    cancel(&mut pages, &second, "this").await.leads_to(&cancelled(2));
    let left = ["01T08:00 Standup", "03T08:00 Standup", "04T08:00 Standup", "05T08:00 Standup", "06T08:00 Standup"];
    assert_eq!(it.taking_place().await, left);
    cancel(&mut pages, &occurrence(&series, 6), "following").await.leads_to(&cancelled(6));
    assert_eq!(it.taking_place().await, left[..4]);

    let edit = async |pages: &mut Pages<'_>, of: &str, typed: &[(&'static str, &str)]| {
        let page = pages.open(&format!("{of}/edit?tz={ZONE}")).await.says(200, "Which occurrences?");
        let day = &of[of.len() - 10..of.len() - 8];
        let (start, end) = (format!("2038-03-{day}T09:00"), format!("2038-03-{day}T09:15"));
        let as_shown = [
            ("title", "Standup"),
            ("start_time", &*start),
            ("end_time", &*end),
            ("status", "confirmed"),
            ("if_free", "allow"),
            ("location", ""),
            ("conference_url", ""),
            ("description", ""),
        ];
        let form = Filled::of(&page, &[&HIDES[..], &["series_version"]].concat(), &as_shown);
        form.but(typed).send(pages, &format!("{of}/edit")).await
    };
    let third = occurrence(&series, 3);
    let wrong = edit(&mut pages, &third, &[("title", ""), ("end_time", "x")]).await.says(400, "id=\"scope-problem\"");
    assert!(wrong.text.contains("id=\"title-problem\""), "{}", wrong.text);
    assert!(wrong.text.contains("id=\"end_time-problem\""), "{}", wrong.text);
    let noon = [("scope", "this"), ("start_time", "2038-03-03T13:00"), ("end_time", "2038-03-03T13:30")];
    event_of(&edit(&mut pages, &third, &noon).await);
    let shown = ["01T08:00 Standup", "03T12:00 Standup", "04T08:00 Standup", "05T08:00 Standup"];
    assert_eq!(it.taking_place().await, shown);
    // The page of a changed occurrence still shows its version, but the series has changed since.
    let page = pages.open(&format!("{third}/edit?tz={ZONE}")).await;
    let typed = [
        ("title", "Stale"),
        ("start_time", "2038-03-03T13:00"),
        ("end_time", "2038-03-03T13:30"),
        ("status", "confirmed"),
        ("scope", "all"),
    ];
    let stale = Filled::of(&page, &[&HIDES[..], &["series_version"]].concat(), &typed);
    it.api.patch(format!("/v1/events/{series}")).json(json!({ "location": "Room 2" })).await.expect(200);
    let stale = stale.send(&mut pages, &format!("{third}/edit")).await.says(412, "The event has changed since");
    stale.says(412, "<dt>Rule of the series</dt><dd><code>FREQ=DAILY;COUNT=5</code>");
    let asks = pages.open(&format!("{third}/cancel")).await;
    let hides = ["org", "once", "version", "series_version", "tz", "date"];
    let stale = Filled::of(&asks, &hides, &[("scope", "all")]).but(&[("series_version", "1")]);
    stale.send(&mut pages, &format!("{third}/cancel")).await.says(412, "The event has changed since");
    assert_eq!(it.taking_place().await, shown);
    it.api.patch(format!("/v1/events/{series}")).json(json!({ "location": null })).await.expect(200);
    // All get the title, and keep their times.
    event_of(&edit(&mut pages, &occurrence(&series, 4), &[("scope", "all"), ("title", "Daily")]).await);
    let shown = ["01T08:00 Daily", "03T12:00 Daily", "04T08:00 Daily", "05T08:00 Daily"];
    assert_eq!(it.taking_place().await, shown);
    // The later ones become a series of their own.
    let later = [("scope", "following"), ("title", "Later")];
    let new = event_of(&edit(&mut pages, &occurrence(&series, 4), &later).await);
    assert_ne!(new, series);
    assert_eq!(it.taking_place().await, ["01T08:00 Daily", "03T12:00 Daily", "04T08:00 Later", "05T08:00 Later"]);
    cancel(&mut pages, &occurrence(&new, 5), "all").await.leads_to(&cancelled(5));
    assert_eq!(it.taking_place().await, ["01T08:00 Daily", "03T12:00 Daily"]);
}

#[apply(on_both)]
#[tokio::test]
async fn holds_are_confirmed_and_released(#[case] database: Database) {
    let it = Desk::new(database).await;
    let until = in_seconds(&it.api, 600).await;
    let path = format!("/v1/calendars/{}/events", it.calendar);
    let hold = async |start: &str, end: &str| {
        it.api.post(path.as_str()).json(hold_body(start, end, &until, 0)).await.expect(201).id()
    };
    let first = hold("2038-03-01T08:00:00Z", "2038-03-01T09:00:00Z").await;
    let second = hold("2038-03-01T10:00:00Z", "2038-03-01T11:00:00Z").await;
    let third = hold("2038-03-08T10:00:00Z", "2038-03-08T11:00:00Z").await;
    let mut pages = it.signed_in().await;
    let week = pages.open(&it.view("week", ZONE)).await.says(200, " min left");
    assert!(week.text.contains("class=\"event hold\""), "{}", week.text);
    let page = pages.open(&format!("{EVENTS}/{first}")).await.says(200, "Hold, ");
    let form = Filled::of(&page, &["org", "once", "tz"], &[]);
    for (id, way, done, status) in
        [(&first, "confirm", "Confirmed.", "confirmed"), (&second, "release", "Released.", "cancelled")]
    {
        let path = format!("{EVENTS}/{id}/{way}");
        form.but(&[("org", "org_x")]).send(&mut pages, &path).await.says(409, SWITCHED);
        pages.open(&path).await.leads_to(&format!("{EVENTS}/{id}"));
        let ended = form.send(&mut pages, &path).await;
        let said = if way == "confirm" { "confirmed" } else { "released" };
        let ended = ended.leads_to(&format!("{EVENTS}/{id}?done={said}&tz=Europe%2FBerlin"));
        pages.open(&ended.location).await.says(200, done);
        assert_eq!(it.read(id).await["status"], status);
        // A double click.
        form.send(&mut pages, &path).await.leads_to(&ended.location);
        form.but(&[("once", "")]).send(&mut pages, &path).await.says(409, "This is not a hold any more.");
    }
    for form in ["edit", "cancel"] {
        let path = format!("{EVENTS}/{second}/{form}");
        pages.open(&path).await.says(400, "is cancelled, so the event cannot be changed");
    }
    let week = pages.open(&it.view("week", ZONE)).await.says(200, "<strong>Maybe</strong>");
    assert!(!week.text.contains("min left") && week.text.matches("<strong>Maybe").count() == 1, "{}", week.text);

    let third = format!("{EVENTS}/{third}");
    pages.open(&third).await.says(200, ">Confirm</button>");
    it.server.cli(&["org", "set-plan", &it.org, "free"]).await.succeeded();
    let page = it.signed_in().await.open(&third).await.says(200, "Hold, ");
    assert!(!page.text.contains(">Confirm</button>"), "the plan has no holds: {}", page.text);
}

#[apply(on_both)]
#[tokio::test]
async fn line_breaks_in_an_event_are_no_change(#[case] database: Database) {
    let it = Desk::new(database).await;
    let mut body = event_body("Stand\nup", "2038-03-01T08:00:00Z", "2038-03-01T08:15:00Z");
    body["location"] = json!("Room\n2");
    body["description"] = json!("One\rTwo");
    let id = it.api.post(format!("/v1/calendars/{}/events", it.calendar)).json(body).await.expect(201).id();
    let before = it.read(&id).await;
    let mut pages = it.signed_in().await;
    let path = format!("{EVENTS}/{id}/edit");
    let page = pages.open(&path).await.says(200, "name=\"was_title\" value=\"Standup\"");
    // What a browser sends if nothing was typed.
    let typed = [
        ("title", "Standup"),
        ("start_time", "2038-03-01T09:00"),
        ("end_time", "2038-03-01T09:15"),
        ("status", "confirmed"),
        ("if_free", "allow"),
        ("location", "Room2"),
        ("conference_url", ""),
        ("description", "One\r\nTwo"),
    ];
    Filled::of(&page, &HIDES, &typed).send(&mut pages, &path).await;
    assert_eq!(it.read(&id).await, before);
}

#[apply(on_both)]
#[tokio::test]
async fn a_refused_cancellation_keeps_what_was_chosen(#[case] database: Database) {
    let it = Desk::new(database).await;
    let mut body = event_body("Standup", "2038-03-01T08:00:00Z", "2038-03-01T08:15:00Z");
    body["attendees"] = json!([{ "email": "guest@example.com" }]);
    let id = it.api.post(format!("/v1/calendars/{}/events", it.calendar)).json(body).await.expect(201).id();
    let mut pages = it.signed_in().await;
    let path = format!("{EVENTS}/{id}/cancel");
    let box_of = |checked: &str| format!("id=\"send\" value=\"true\"{checked}>");
    let asks = pages.open(&path).await.says(200, &box_of(""));
    let form = Filled::of(&asks, &["org", "once", "tz"], &[("version", "99"), ("send_invitations", "true")]);
    form.send(&mut pages, &path).await.says(412, &box_of(" checked"));
}
