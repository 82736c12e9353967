//! What is typed into the form of a booking page, as requests of the API.

use kalends_app::App;
use kalends_bookings::{
    BookingPage, BookingPagePatch, NamedElsewhere, NewBookingPage, QUESTION_ID_MAX, QUESTIONS_MAX, Question,
};
use kalends_kernel::{FieldError, FieldErrors};
use kalends_web::{BookingPageGiven, OPENING_HOURS, OpeningHours, QuestionGiven};
use kalends_wire as wire;

use crate::pages::{Fields, WAS, line, lines};

/// The value of a box that is checked.
const ON: &str = "true";

/// What was typed.
pub(super) fn typed(fields: &Fields) -> BookingPageGiven {
    let text = |name: &'static str| match name {
        "calendars" => fields.all(name).map(str::trim).collect::<Vec<_>>().join("\n"),
        _ => fields.get(name).trim().to_owned(),
    };
    let (questions, empty) = questions_of(fields);
    with_questions(BookingPageGiven::new(text), questions, empty)
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

/// The questions that were typed, and the number of those that are empty. A question is gone if its box says so, or if it
/// has neither a text nor options.
fn questions_of(fields: &Fields) -> (Vec<QuestionGiven>, usize) {
    let (mut questions, mut empty) = (Vec::new(), 0);
    for index in 0..QUESTIONS_MAX {
        let part = |name: &str| fields.get(&format!("questions[{index}].{name}")).trim().to_owned();
        let (label, kind, options) = (part("label"), part("type"), part("options"));
        if kind.is_empty() || part("remove") == ON {
            continue;
        }
        if label.is_empty() && options.is_empty() {
            empty += 1;
            continue;
        }
        questions.push(QuestionGiven { id: part("id"), label, kind, required: part("required") == ON, options });
    }
    (questions, empty)
}

/// The questions as the API has them. A new one gets an identifier of its own, made of its words.
fn asked(questions: &[QuestionGiven]) -> Vec<wire::Question> {
    let mut taken: Vec<String> = questions.iter().map(|question| question.id.clone()).collect();
    let options = |text: &str| {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    };
    let question = |question: &QuestionGiven| {
        let id = if question.id.is_empty() { identifier(&question.label, &taken) } else { question.id.clone() };
        taken.push(id.clone());
        wire::Question {
            id,
            label: question.label.clone(),
            kind: question.kind.clone(),
            required: question.required,
            options: options(&question.options),
        }
    };
    questions.iter().map(question).collect()
}

/// The words of the text in lower case, joined by hyphens, with a number if that is taken.
fn identifier(text: &str, taken: &[String]) -> String {
    /// Leaves room for the number.
    const WORDS_MAX: usize = QUESTION_ID_MAX - 3;
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut id = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
    id.truncate(WORDS_MAX);
    let id = if id.is_empty() { "question".to_owned() } else { id };
    let numbered = (2..).map(|number| format!("{id}-{number}"));
    let is_free = |id: &String| !taken.contains(id);
    let free = std::iter::once(id.clone()).chain(numbered).find(is_free);
    free.unwrap_or(id)
}

/// The form of a new page. Its hours are those of most offices, so that nobody offers nights by mistake.
pub(super) fn suggested() -> BookingPageGiven {
    let mut given = BookingPageGiven::new(|name| {
        let text = match name {
            "duration_minutes" => "30",
            "buffer_minutes" | "min_notice_minutes" => "0",
            "window_days" => "14",
            "seats" => "1",
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
        _ => String::new(),
    });
    for (OpeningHours { start, end, .. }, hours) in OPENING_HOURS.into_iter().zip(days) {
        if let Some(hours) = hours {
            given.set(start, hours.start);
            // A field of a time ends the day with its beginning.
            given.set(end, if hours.end == MIDNIGHT { "00:00".to_owned() } else { hours.end });
        }
    }
    let questions: Vec<QuestionGiven> = page.details.questions.as_slice().iter().map(question).collect();
    let empty = usize::from(questions.len() < QUESTIONS_MAX);
    with_questions(given, questions, empty)
}

/// The end of a day.
const MIDNIGHT: &str = "24:00";

fn question(question: &Question) -> QuestionGiven {
    let options: Vec<String> = question.options.iter().map(|option| line(option)).collect();
    QuestionGiven {
        id: question.id.clone(),
        label: line(&question.label),
        kind: question.kind.as_str().to_owned(),
        required: question.required,
        options: options.join("\n"),
    }
}

/// The fields of a form that is shown again because the page has changed: what was typed over stays, and the others are
/// those of the page `now`.
pub(super) fn merged(given: &BookingPageGiven, was: &BookingPageGiven, now: &BookingPageGiven) -> BookingPageGiven {
    let newer = |name: &str| if given.get(name) == was.get(name) { now } else { given };
    let of_questions = newer("questions");
    let mut merged = BookingPageGiven::new(|name| newer(name).get(name).to_owned());
    (merged.questions, merged.empty) = (of_questions.questions.clone(), of_questions.empty);
    merged
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

/// The hours of the week; `None` if no day has any.
fn week(given: &BookingPageGiven) -> Option<wire::WorkingHours> {
    let hours = |OpeningHours { start, end, .. }: OpeningHours| {
        let (start, end) = (given.get(start).to_owned(), given.get(end));
        let end = if end == "00:00" { MIDNIGHT } else { end }.to_owned();
        (!start.is_empty() || !end.is_empty()).then_some(wire::OpenHours { start, end })
    };
    let days = OPENING_HOURS.map(hours);
    if days.iter().all(Option::is_none) {
        return None;
    }
    let [mon, tue, wed, thu, fri, sat, sun] = days;
    Some(wire::WorkingHours { mon, tue, wed, thu, fri, sat, sun })
}

/// Checks that the fields of a team fit together.
fn check_team(given: &BookingPageGiven) -> Result<(), FieldError> {
    match (given.entries("calendars").next(), given.get("assignment")) {
        (Some(_), "") => Err(FieldError::new("assignment", "must be chosen if there are several calendars")),
        (None, "") | (Some(_), _) => Ok(()),
        (None, _) => Err(FieldError::new("calendars", "must be chosen if several calendars are booked")),
    }
}

/// The page that the form describes.
///
/// # Errors
/// Everything that is wrong with it.
pub(super) fn wanted(given: &BookingPageGiven) -> Result<New, FieldErrors> {
    let mut errors = FieldErrors::default();
    errors.take(check_team(given));
    let optional = |name: &str| Some(given.get(name).to_owned()).filter(|text| !text.is_empty());
    let guest_reminders = Some(reminders(given, &mut errors));
    let mut number = |name: &str| errors.take(number(given, name)).flatten();
    let body = wire::CreateBookingPage {
        calendar_id: given.get("calendar_id").to_owned(),
        calendars: Some(list(given, "calendars")).filter(|others| !others.is_empty()),
        assignment: optional("assignment"),
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
    let hours = OPENING_HOURS.iter().any(|hours| is_typed_over(hours.start) || is_typed_over(hours.end));
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
        _ => Err(errors),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The form of a page, as a browser sends it.
    fn sent(fields: &[(&str, &str)]) -> BookingPageGiven {
        let mut body = url::form_urlencoded::Serializer::new(String::new());
        body.extend_pairs(fields);
        typed(&Fields::read(body.finish().as_bytes()))
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
        let (calendar, new, named) = wanted(&sent(&COMPLETE)).unwrap();
        assert_eq!((&*calendar, &*new.title, new.duration_minutes, new.seats), ("cal_x", "Intro", 30, 1));
        assert_eq!(new.details.embed_origins.len(), 2);
        let monday = new.constraints.unwrap().mon.unwrap();
        assert_eq!((monday.start(), monday.end()), (9 * 60, 24 * 60));
        assert_eq!(named.team, NamedElsewhere::default().team);
    }

    #[test]
    fn questions_without_a_text_are_left_out_and_new_ones_get_identifiers() {
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
            ("questions[3].label", "Gone"),
            ("questions[3].type", "text"),
            ("questions[3].remove", "true"),
            ("questions[4].label", "何?"),
            ("questions[4].type", "text"),
        ]);
        assert_eq!((given.questions.len(), given.empty), (3, 1));
        let asked = asked(&given.questions);
        let ids: Vec<&str> = asked.iter().map(|question| question.id.as_str()).collect();
        assert_eq!(ids, ["topic", "topic-2", "question"]);
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
            wanted(&given).map(drop).map_err(|errors| errors.first().param)
        };
        assert_eq!(team("", ""), Ok(()));
        assert_eq!(team("cal_y", "collective"), Ok(()));
        assert_eq!(team("cal_y", ""), Err("assignment".to_owned()));
        assert_eq!(team("", "round_robin"), Err("calendars".to_owned()));
    }
}
