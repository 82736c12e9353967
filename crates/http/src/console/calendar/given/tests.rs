//! What is typed over in the form of an event, and what that changes.

use kalends_calendars::{Attendees, Moment, Patch};
use kalends_time::Span;
use kalends_web::AttendeeShown;

use super::*;

fn event(title: &str, location: &str, description: &str) -> EventDetail {
    EventDetail {
        id: "evt_x".to_owned(),
        title: title.to_owned(),
        calendar_id: "cal_x".to_owned(),
        calendar: "Work".to_owned(),
        agent: String::new(),
        span: Span::new("2027-03-01T08:00:30Z".parse().unwrap(), "2027-03-01T09:00:00Z".parse().unwrap()).unwrap(),
        dates: None,
        zone: Zone::UTC,
        calendar_zone: "Europe/Berlin".parse().unwrap(),
        kind: Some(EventKind::Confirmed),
        is_imported: false,
        description: description.to_owned(),
        location: location.to_owned(),
        call: String::new(),
        attendees: Vec::new(),
        reminders: None,
        series: SeriesPart::Once,
        version: 1,
        series_version: 1,
        cals: Vec::new(),
    }
}

#[test]
fn forms_show_texts_as_browsers_send_them_back() {
    let event = event(" One\r\nTwo ", "Room\n2", "One\rTwo\r\nThree\n");
    let current = Current::of(&event);
    let shown = current.given(&event);
    let texts = (shown.title, shown.location, shown.description);
    assert_eq!(texts, ("OneTwo", "Room2", "One\nTwo\nThree"));
    assert!(!is_changed(EventGiven { scope: "all", conflicts: "refuse", ..shown }, shown));
    assert!(is_changed(EventGiven { location: "", ..shown }, shown));
}

#[test]
fn what_was_not_typed_over_stays_as_somebody_else_has_changed_it() {
    let before = event("Standup", "Room 2", "");
    let current = Current::of(&before);
    let was = current.given(&before);
    let given = EventGiven { title: "Retro", start: "2027-03-01T08:30", ..was };
    let after = EventDetail { location: "Room 3".to_owned(), ..before.clone() };
    let current = Current::of(&after);
    let now = current.given(&after);
    let shown = merged(given, was, now);
    assert_eq!((shown.title, shown.start, shown.location), ("Retro", "2027-03-01T08:30", "Room 3"));
    let patch = changed(&after, &given, &was).unwrap();
    assert_eq!(patch, changed(&after, &shown, &now).unwrap());
    assert!(!patch.location.is_set() && patch.title.is_set());
}

fn names(errors: &FieldErrors) -> Vec<&str> {
    let mut names: Vec<&str> = errors.iter().map(|error| error.param.as_str()).collect();
    names.sort_unstable();
    names
}

#[test]
fn everything_that_is_wrong_is_listed() {
    let event = event("Standup", "Room 2", "");
    let current = Current::of(&event);
    let was = current.given(&event);
    let given = EventGiven {
        end: "soon",
        status: "x",
        call: "x",
        title: "",
        attendees: "ada",
        reminders: "x",
        repeats: RepeatGiven { choice: "rule", ..RepeatGiven::default() },
        ..was
    };
    let errors = changed(&event, &given, &was).unwrap_err();
    let expected = "attendees[0].email conference_url end_time recurrence_rule reminders status title";
    assert_eq!(names(&errors).join(" "), expected);
}

#[test]
fn an_event_that_begins_to_repeat_follows_the_clocks_of_its_calendar() {
    let once = event("Standup", "", "");
    let current = Current::of(&once);
    let was = current.given(&once);
    let daily = RepeatGiven { choice: "daily", ends: "count", count: "3", ..RepeatGiven::default() };
    let patch = changed(&once, &EventGiven { repeats: daily, ..was }, &was).unwrap();
    assert_eq!(patch.recurrence.zone, Patch::Set(Some(once.calendar_zone)));
    assert!(patch.recurrence.rule.is_set() && !patch.title.is_set());
    // A series keeps its zone.
    let series = EventDetail { series: SeriesPart::Series("FREQ=WEEKLY".to_owned(), Zone::UTC), ..once.clone() };
    let current = Current::of(&series);
    let was = current.given(&series);
    assert_eq!((was.repeats.choice, was.repeats.ends), ("weekly", "never"));
    let patch = changed(&series, &EventGiven { repeats: daily, ..was }, &was).unwrap();
    assert!(patch.recurrence.rule.is_set() && !patch.recurrence.zone.is_set());
    let never = RepeatGiven { choice: "never", ..was.repeats };
    let patch = changed(&series, &EventGiven { repeats: never, ..was }, &was).unwrap();
    assert_eq!(patch.recurrence.rule, Patch::Set(None));
    // The form of an occurrence shows the rule of its series, which changes with more than one of them.
    let part = SeriesPart::Occurrence {
        series: "evt_y".to_owned(),
        rule: "FREQ=WEEKLY;COUNT=5".to_owned(),
        zone: Zone::UTC,
        is_first: false,
        rest: "FREQ=WEEKLY;COUNT=4".to_owned(),
    };
    let occurrence = EventDetail { series: part, ..once.clone() };
    let current = Current::of(&occurrence);
    let was = current.given(&occurrence);
    assert_eq!(was.repeats.choice, "weekly");
    let patch = changed(&occurrence, &EventGiven { repeats: daily, scope: "following", ..was }, &was).unwrap();
    assert!(patch.recurrence.rule.is_set() && !patch.recurrence.zone.is_set());
    let errors = changed(&occurrence, &EventGiven { repeats: daily, scope: "this", ..was }, &was).unwrap_err();
    assert_eq!(names(&errors), ["repeats"]);
    // Only the first occurrence could remain.
    let never = RepeatGiven { choice: "never", ..was.repeats };
    let ends = |event: &EventDetail, scope| changed(event, &EventGiven { repeats: never, scope, ..was }, &was);
    assert_eq!(names(&ends(&occurrence, "all").unwrap_err()), ["repeats"]);
    assert_eq!(ends(&occurrence, "following").unwrap().recurrence.rule, Patch::Set(None));
    let SeriesPart::Occurrence { series, rule, zone, rest, .. } = occurrence.series.clone() else { panic!() };
    let part = SeriesPart::Occurrence { series, rule, zone, is_first: true, rest };
    let first = EventDetail { series: part, ..once.clone() };
    assert_eq!(ends(&first, "all").unwrap().recurrence.rule, Patch::Set(None));
    // The number of times that the form shows is that of the whole series. A new one is that of what changes.
    for (scope, count, rule) in [
        ("following", "5", "FREQ=DAILY;COUNT=4"),
        ("following", "3", "FREQ=DAILY;COUNT=3"),
        ("all", "5", "FREQ=DAILY;COUNT=5"),
    ] {
        let repeats = RepeatGiven { choice: "daily", count, ..was.repeats };
        let patch = changed(&occurrence, &EventGiven { repeats, scope, ..was }, &was).unwrap();
        assert_eq!(patch.recurrence.rule, Patch::Set(Some(rule.parse().unwrap())), "{scope} {count}");
    }
    // A hold does not repeat.
    let hold = EventDetail { kind: Some(EventKind::Hold(Timestamp::EPOCH)), ..once };
    let patch = changed(&hold, &EventGiven { repeats: daily, title: "Retro", sends: true, ..was }, &was).unwrap();
    assert!(!patch.recurrence.rule.is_set() && !patch.send_invitations && patch.title.is_set());
}

#[test]
fn only_attendees_and_reminders_that_were_typed_over_are_changed() {
    let ada = AttendeeShown {
        name: Some("Ada".to_owned()),
        email: "ada@example.com".to_owned(),
        is_optional: false,
        agent: None,
        reply: "accepted",
    };
    let event = EventDetail { attendees: vec![ada], reminders: Some(vec![60, 10]), ..event("Standup", "", "") };
    let current = Current::of(&event);
    let was = current.given(&event);
    assert_eq!((was.attendees, was.reminders), ("Ada <ada@example.com>", "60, 10"));
    let patch = changed(&event, &EventGiven { sends: true, ..was }, &was).unwrap();
    assert!(patch.send_invitations && !patch.attendees.is_set() && !patch.reminders.is_set());
    let given = EventGiven { attendees: "", reminders: "", ..was };
    assert!(is_changed(given, was));
    let patch = changed(&event, &given, &was).unwrap();
    assert_eq!((patch.attendees, patch.reminders), (Patch::Set(Attendees::default()), Patch::Set(None)));
}

#[test]
fn whole_days_are_changed_by_their_dates() {
    let dates = Some(("2027-03-01".parse().unwrap(), "2027-03-02".parse().unwrap()));
    let event = EventDetail { dates, ..event("Fair", "", "") };
    let current = Current::of(&event);
    let was = current.given(&event);
    assert_eq!((was.start, was.end), ("2027-03-01", "2027-03-02"));
    let patch = changed(&event, &EventGiven { end: "2027-03-04", ..was }, &was).unwrap();
    let at = |param, text| Patch::Set(Moment::parse(param, text).unwrap());
    assert_eq!((patch.start, patch.end), (at("start_time", "2027-03-01"), at("end_time", "2027-03-05")));
}
