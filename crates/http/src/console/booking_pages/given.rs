//! What is typed into the form of a booking page, as requests of the API.

use kalends_app::App;
use kalends_bookings::{BookingPage, BookingPagePatch, NamedElsewhere, NewBookingPage, QUESTIONS_MAX};
use kalends_kernel::{Entropy, FieldError, FieldErrors};
use kalends_web::{BookingPageGiven, OPENING_HOURS, OpeningHours, QuestionGiven};
use kalends_wire as wire;

use super::{
    questions::{self, asked},
    wrong::{causes, check_hours, check_team},
};
use crate::pages::{Fields, WAS, line, lines};

/// What was typed. New questions get their identifiers.
pub(super) fn typed(fields: &Fields, entropy: &dyn Entropy) -> BookingPageGiven {
    let text = |name: &'static str| match name {
        "calendars" => fields.all(name).map(str::trim).collect::<Vec<_>>().join("\n"),
        _ => fields.get(name).trim().to_owned(),
    };
    with_questions(BookingPageGiven::new(text), questions::typed(fields, entropy), 0)
}

/// What the form showed before anything was typed, in its hidden fields.
pub(super) fn shown_before(fields: &Fields) -> BookingPageGiven {
    BookingPageGiven::new(|name| fields.get(&format!("{WAS}{name}")).trim().to_owned())
}

fn with_questions(mut given: BookingPageGiven, questions: Vec<QuestionGiven>, empty: usize) -> BookingPageGiven {
    given.set("questions", serde_json::to_string(&asked(&questions)).unwrap_or_default());
    (given.questions, given.empty) = (questions, empty);
    given
}

/// The form of a new page. Its hours are those of most offices, so that nobody offers nights by mistake.
pub(super) fn suggested() -> BookingPageGiven {
    let mut given = BookingPageGiven::new(|name| {
        let text = match name {
            "duration_minutes" => "30",
            "buffer_minutes" | "min_notice_minutes" => "0",
            "window_days" => "14",
            "seats" => "1",
            "hours" => BookingPageGiven::THESE_HOURS,
            _ => "",
        };
        text.to_owned()
    });
    for OpeningHours { start, end, .. } in OPENING_HOURS.into_iter().take(5) {
        given.set(start, "09:00".to_owned());
        given.set(end, "17:00".to_owned());
    }
    with_questions(given, Vec::new(), 1)
}

/// What the form of a page shows, as browsers send it back. `others` are the calendars of its team, in the order in which
/// the form has them.
pub(super) fn current(app: &App, page: &BookingPage, others: &[String]) -> BookingPageGiven {
    let shown = wire::BookingPage::new(page, &app.settings().base_url);
    let hours = if shown.availability_constraints.is_some() {
        BookingPageGiven::THESE_HOURS
    } else {
        BookingPageGiven::ANY_TIME
    };
    let week = shown.availability_constraints.unwrap_or_default();
    let days = [week.mon, week.tue, week.wed, week.thu, week.fri, week.sat, week.sun];
    let number = |number: &dyn std::fmt::Display| number.to_string();
    let optional = |text: &Option<String>| text.as_deref().map(line).unwrap_or_default();
    let minutes: Vec<String> = shown.guest_reminders.iter().map(ToString::to_string).collect();
    let mut given = BookingPageGiven::new(|name| match name {
        "calendar_id" => shown.calendar_id.to_string(),
        "title" => line(&shown.title),
        "description" => shown.description.as_deref().map(lines).unwrap_or_default(),
        "slug" => shown.slug.clone(),
        "host_name" => optional(&shown.host_name),
        "location" => optional(&shown.location),
        "conference_url" => optional(&shown.conference_url),
        "accent_color" => optional(&shown.accent_color),
        "embed_origins" => shown.embed_origins.join("\n"),
        "notify_emails" => shown.notify_emails.join("\n"),
        "guest_reminders" => minutes.join("\n"),
        "duration_minutes" => number(&shown.duration_minutes),
        "buffer_minutes" => number(&shown.buffer_minutes),
        "window_days" => number(&shown.window_days),
        "min_notice_minutes" => number(&shown.min_notice_minutes),
        "max_per_day" => shown.max_per_day.map(|most| most.to_string()).unwrap_or_default(),
        "seats" => number(&shown.seats),
        "timezone" => shown.timezone.clone(),
        "assignment" => shown.assignment.clone().unwrap_or_default(),
        "calendars" => others.join("\n"),
        "hours" => hours.to_owned(),
        _ => String::new(),
    });
    for (OpeningHours { start, end, .. }, hours) in OPENING_HOURS.into_iter().zip(days) {
        if let Some(hours) = hours {
            given.set(start, hours.start);
            // A field of a time ends the day with its beginning.
            given.set(end, if hours.end == MIDNIGHT { "00:00".to_owned() } else { hours.end });
        }
    }
    let questions: Vec<_> = page.details.questions.as_slice().iter().map(questions::current).collect();
    let empty = usize::from(questions.len() < QUESTIONS_MAX);
    with_questions(given, questions, empty)
}

/// The end of a day.
const MIDNIGHT: &str = "24:00";

/// The fields of a form that is shown again because the page has changed: what was typed over stays, and the others are
/// those of the page `now`.
pub(super) fn merged(given: &BookingPageGiven, was: &BookingPageGiven, now: &BookingPageGiven) -> BookingPageGiven {
    let newer = |name: &str| if given.get(name) == was.get(name) { now } else { given };
    let merged = BookingPageGiven::new(|name| newer(name).get(name).to_owned());
    let questions_before: Vec<wire::Question> = serde_json::from_str(was.get("questions")).unwrap_or_default();
    let rows = questions::merged(&given.questions, &questions_before, &now.questions);
    let has_room = rows.len() < QUESTIONS_MAX && !rows.iter().any(QuestionGiven::is_empty);
    with_questions(merged, rows, usize::from(has_room))
}

/// Whether anything was typed over.
pub(super) fn is_changed(given: &BookingPageGiven, was: &BookingPageGiven) -> bool {
    BookingPageGiven::names().any(|name| given.get(name) != was.get(name))
}

/// The number in a field; `None` if it is empty.
fn number(given: &BookingPageGiven, name: &str) -> Result<Option<i64>, FieldError> {
    match given.get(name) {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| FieldError::new(name, "must be a whole number")),
    }
}

fn list(given: &BookingPageGiven, name: &str) -> Vec<String> {
    given.entries(name).map(str::to_owned).collect()
}

fn reminders(given: &BookingPageGiven, errors: &mut FieldErrors) -> Vec<i64> {
    let name = "guest_reminders";
    let number = |(index, text): (usize, &str)| {
        text.parse().map_err(|_| FieldError::new(format!("{name}[{index}]"), "must be a whole number of minutes"))
    };
    given.entries(name).enumerate().filter_map(|entry| errors.take(number(entry))).collect()
}

/// The hours of the week; `None` if they do not limit the page. If a form does not say whether they do, the hours of
/// any day do.
fn week(given: &BookingPageGiven) -> Option<wire::WorkingHours> {
    let hours = |OpeningHours { start, end, .. }: OpeningHours| {
        let (start, end) = (given.get(start).to_owned(), given.get(end));
        let end = if end == "00:00" { MIDNIGHT } else { end }.to_owned();
        (!start.is_empty() || !end.is_empty()).then_some(wire::OpenHours { start, end })
    };
    let days = OPENING_HOURS.map(hours);
    let is_open = match given.get("hours") {
        BookingPageGiven::ANY_TIME => true,
        BookingPageGiven::THESE_HOURS => false,
        _ => days.iter().all(Option::is_none),
    };
    if is_open {
        return None;
    }
    let [mon, tue, wed, thu, fri, sat, sun] = days;
    Some(wire::WorkingHours { mon, tue, wed, thu, fri, sat, sun })
}

/// The page that the form describes. `was` is what the form showed before anything was typed, if it edits a page.
///
/// # Errors
/// Everything that is wrong with it.
pub(super) fn wanted(given: &BookingPageGiven, was: Option<&BookingPageGiven>) -> Result<New, FieldErrors> {
    let mut errors = FieldErrors::default();
    let is_saved = |name: &str| was.is_some_and(|was| given.get(name) == was.get(name));
    let others = list(given, "calendars");
    // The saved fields of a team need not fit together: calendars that were deleted are not among them.
    let keeps_team = is_saved("calendars") && is_saved("assignment");
    if !keeps_team {
        errors.take(check_team(given));
    }
    let is_alone = keeps_team && others.is_empty();
    errors.take(was.map_or(Ok(()), |was| check_hours(given, was)));
    let optional = |name: &str| Some(given.get(name).to_owned()).filter(|text| !text.is_empty());
    let guest_reminders = Some(reminders(given, &mut errors));
    let mut number = |name: &str| errors.take(number(given, name)).flatten();
    let body = wire::CreateBookingPage {
        calendar_id: given.get("calendar_id").to_owned(),
        calendars: Some(others).filter(|others| !others.is_empty()),
        assignment: optional("assignment").filter(|_| !is_alone),
        title: given.get("title").to_owned(),
        description: optional("description"),
        slug: optional("slug"),
        host_name: optional("host_name"),
        location: optional("location"),
        conference_url: optional("conference_url"),
        accent_color: optional("accent_color"),
        embed_origins: Some(list(given, "embed_origins")),
        notify_emails: Some(list(given, "notify_emails")),
        questions: Some(asked(&given.questions)),
        guest_reminders,
        duration_minutes: number("duration_minutes"),
        buffer_minutes: number("buffer_minutes"),
        window_days: number("window_days"),
        min_notice_minutes: number("min_notice_minutes"),
        max_per_day: number("max_per_day"),
        seats: number("seats"),
        timezone: optional("timezone"),
        availability_constraints: week(given),
        active: None,
    };
    match errors.take_all(body.parse()) {
        Some(new) if errors.is_empty() => Ok(new),
        _ => Err(errors),
    }
}

/// The calendar of a new page, its fields, and what they name.
pub(super) type New = (String, NewBookingPage, NamedElsewhere);

/// What the form changes. Only fields that were typed over are changed, so that what somebody else has changed stays.
///
/// # Errors
/// Everything that is wrong with it.
pub(super) fn changed(
    given: &BookingPageGiven,
    was: &BookingPageGiven,
) -> Result<(BookingPagePatch, NamedElsewhere), FieldErrors> {
    let mut errors = FieldErrors::default();
    errors.take(check_hours(given, was));
    let is_typed_over = |name: &str| given.get(name) != was.get(name);
    let text = |name: &str| is_typed_over(name).then(|| Some(given.get(name).to_owned()));
    let cleared = |name: &str| text(name).map(|text| text.filter(|text| !text.is_empty()));
    let entries = |name: &str| is_typed_over(name).then(|| Some(list(given, name)));
    let guest_reminders = is_typed_over("guest_reminders").then(|| Some(reminders(given, &mut errors)));
    let (mut calendars, mut assignment) = (None, None);
    if is_typed_over("calendars") || is_typed_over("assignment") {
        errors.take(check_team(given));
        calendars = entries("calendars").map(|others| others.filter(|others| !others.is_empty()));
        assignment = cleared("assignment");
    }
    let mut most = |name: &str| is_typed_over(name).then(|| errors.take(number(given, name))).flatten();
    let max_per_day = most("max_per_day");
    // A number that cannot be left out is the default again if it is.
    let mut whole = |name: &str, default: i64| most(name).map(|number| Some(number.unwrap_or(default)));
    let hours = is_typed_over("hours")
        || OPENING_HOURS.iter().any(|hours| is_typed_over(hours.start) || is_typed_over(hours.end));
    let body = wire::UpdateBookingPage {
        title: text("title"),
        calendars,
        assignment,
        description: cleared("description"),
        slug: text("slug"),
        host_name: cleared("host_name"),
        location: cleared("location"),
        conference_url: cleared("conference_url"),
        accent_color: cleared("accent_color"),
        embed_origins: entries("embed_origins"),
        notify_emails: entries("notify_emails"),
        questions: is_typed_over("questions").then(|| Some(asked(&given.questions))),
        guest_reminders,
        duration_minutes: whole("duration_minutes", 30),
        buffer_minutes: whole("buffer_minutes", 0),
        window_days: whole("window_days", 14),
        min_notice_minutes: whole("min_notice_minutes", 0),
        max_per_day,
        seats: whole("seats", 1),
        timezone: text("timezone"),
        availability_constraints: hours.then(|| week(given)),
        active: None,
    };
    match errors.take_all(body.parse()) {
        Some(patch) if errors.is_empty() => Ok(patch),
        _ => Err(causes(errors)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Ones;
    impl Entropy for Ones {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(1);
        }
    }

    /// The form of a page, as a browser sends it.
    fn sent(fields: &[(&str, &str)]) -> BookingPageGiven {
        let mut body = url::form_urlencoded::Serializer::new(String::new());
        body.extend_pairs(fields);
        typed(&Fields::read(body.finish().as_bytes()), &Ones)
    }

    const COMPLETE: [(&str, &str); 6] = [
        ("calendar_id", "cal_x"),
        ("title", "Intro"),
        ("duration_minutes", "30"),
        ("availability_constraints.mon.start", "09:00"),
        ("availability_constraints.mon.end", "00:00"),
        ("embed_origins", "https://a.example\r\n\r\nhttps://b.example"),
    ];

    #[test]
    fn a_form_becomes_a_page() {
        let (calendar, new, named) = wanted(&sent(&COMPLETE), None).unwrap();
        assert_eq!((&*calendar, &*new.title, new.duration_minutes, new.seats), ("cal_x", "Intro", 30, 1));
        assert_eq!(new.details.embed_origins.len(), 2);
        let monday = new.constraints.unwrap().mon.unwrap();
        assert_eq!((monday.start(), monday.end()), (9 * 60, 24 * 60));
        assert_eq!(named.team, NamedElsewhere::default().team);
    }

    #[test]
    fn empty_and_removed_questions_stay_in_the_form_and_new_ones_get_identifiers() {
        let given = sent(&[
            ("questions[0].id", "topic"),
            ("questions[0].label", "Topic?"),
            ("questions[0].type", "text"),
            ("questions[1].label", " "),
            ("questions[1].type", "text"),
            ("questions[2].label", "Topic"),
            ("questions[2].type", "select"),
            ("questions[2].options", "A\r\n\r\nB"),
            ("questions[2].required", "true"),
            ("questions[3].id", "gone"),
            ("questions[3].label", "Gone"),
            ("questions[3].type", "text"),
            ("questions[3].remove", "true"),
            ("questions[4].label", "何?"),
            ("questions[4].type", "text"),
        ]);
        assert_eq!((given.questions.len(), given.questions[3].remove), (5, true));
        let asked = asked(&given.questions);
        let ids: Vec<&str> = asked.iter().map(|question| question.id.as_str()).collect();
        assert_eq!(ids, ["topic", "topic-010101", "question-010101"]);
        assert_eq!((asked[1].options.join(","), asked[1].required), ("A,B".to_owned(), true));
    }

    #[test]
    fn only_what_was_typed_over_is_changed() {
        let was = sent(&COMPLETE);
        assert!(!is_changed(&was.clone(), &was));
        let mut given = was.clone();
        given.set("title", "Demo".to_owned());
        given.set("seats", String::new());
        let (patch, named) = changed(&given, &was).unwrap();
        let title = kalends_calendars::Patch::Set("Demo".to_owned());
        assert_eq!(patch, BookingPagePatch { title, ..BookingPagePatch::default() });
        assert_eq!(named, NamedElsewhere::default());
        // Somebody else has changed the seats.
        let mut now = was.clone();
        now.set("seats", "3".to_owned());
        now.set("title", "Talk".to_owned());
        let shown = merged(&given, &was, &now);
        assert_eq!((shown.get("title"), shown.get("seats")), ("Demo", "3"));
    }

    #[test]
    fn a_team_needs_calendars_and_a_rule() {
        let team = |calendars: &str, assignment: &str| {
            let mut given = sent(&COMPLETE);
            given.set("calendars", calendars.to_owned());
            given.set("assignment", assignment.to_owned());
            wanted(&given, None).map(drop).map_err(|errors| errors.first().param)
        };
        assert_eq!(team("", ""), Ok(()));
        assert_eq!(team("cal_y", "collective"), Ok(()));
        assert_eq!(team("cal_y", ""), Err("assignment".to_owned()));
        assert_eq!(team("", "round_robin"), Err("calendars".to_owned()));
        // The other calendars of a page were deleted.
        let mut was = sent(&COMPLETE);
        was.set("assignment", "collective".to_owned());
        assert_eq!(wanted(&was, Some(&was)).unwrap().2.team, NamedElsewhere::default().team);
    }

    #[test]
    fn a_week_can_be_closed() {
        let form = |hours: &str, start: &str| {
            let mut given = sent(&COMPLETE);
            given.set("hours", hours.to_owned());
            given.set("availability_constraints.mon.start", start.to_owned());
            given.set("availability_constraints.mon.end", if start.is_empty() { "" } else { "17:00" }.to_owned());
            given
        };
        for (hours, start, days) in [
            ("any", "", None),
            ("any", "09:00", None),
            ("these", "", Some(0)),
            ("these", "09:00", Some(1)),
            ("", "", None),
            ("", "09:00", Some(1)),
        ] {
            let open = |week: wire::WorkingHours| usize::from(week.mon.is_some());
            assert_eq!(week(&form(hours, start)).map(open), days, "{hours} {start}");
        }
        let errors = changed(&form("any", "09:00"), &form("any", "")).unwrap_err();
        assert_eq!(errors.iter().map(|error| &*error.param).collect::<Vec<_>>(), ["hours"]);
        assert!(changed(&form("any", "09:00"), &form("these", "08:00")).is_ok());
    }

    #[test]
    fn a_wrong_number_is_the_only_error() {
        let was = sent(&COMPLETE);
        let mut given = was.clone();
        given.set("seats", "many".to_owned());
        let errors = changed(&given, &was).unwrap_err();
        assert_eq!(errors.iter().map(|error| &*error.param).collect::<Vec<_>>(), ["seats"]);
    }
}
