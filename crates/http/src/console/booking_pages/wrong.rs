//! What is wrong with the form of a booking page.

use kalends_app::Refusal;
use kalends_bookings::CALENDARS_MAX;
use kalends_kernel::{FieldError, FieldErrors};
use kalends_web::{BookingPageGiven, OPENING_HOURS, Problems, QuestionGiven};

use super::{super::shown::problems, questions::row_of};
use crate::error::ApiError;

/// What is wrong with a team without a rule.
const CHOOSE_ASSIGNMENT: &str = "must be chosen if there are several calendars";
/// What is wrong with a rule without a team.
const CHOOSE_OTHERS: &str = "must be chosen if several calendars are booked";

/// Checks that the fields of a team fit together.
pub(super) fn check_team(given: &BookingPageGiven) -> Result<(), FieldError> {
    match (given.entries("calendars").next(), given.get("assignment")) {
        (Some(_), "") => Err(FieldError::new("assignment", CHOOSE_ASSIGNMENT)),
        (None, "") | (Some(_), _) => Ok(()),
        (None, _) => Err(FieldError::new("calendars", CHOOSE_OTHERS)),
    }
}

/// Checks that no hours are typed that would not count.
pub(super) fn check_hours(given: &BookingPageGiven, was: &BookingPageGiven) -> Result<(), FieldError> {
    let is_typed = |name: &str| given.get(name) != was.get(name) && !given.get(name).is_empty();
    let has_typed = OPENING_HOURS.iter().any(|hours| is_typed(hours.start) || is_typed(hours.end));
    if has_typed && [given, was].iter().all(|form| form.get("hours") == BookingPageGiven::ANY_TIME) {
        return Err(FieldError::new("hours", "must be “Only these hours” if a day has hours"));
    }
    Ok(())
}

/// The errors without the one that nothing is left to change, if a field is wrong: it is only a result of that.
pub(super) fn causes(errors: FieldErrors) -> FieldErrors {
    let mut causes = FieldErrors::default();
    errors.iter().filter(|error| error.param != "body").for_each(|error| causes.push(error.clone()));
    if causes.is_empty() { errors } else { causes }
}

/// The refusal with each error at the name of its field in the form. The fields of lists and the options of a question
/// have several lines, so the message says which entry is wrong.
pub(super) fn beside_fields(refusal: Refusal, given: &BookingPageGiven) -> Refusal {
    let Refusal::Invalid(errors) = refusal else { return refusal };
    let mut found = FieldErrors::default();
    errors.iter().for_each(|error| found.push(beside(error, &given.questions)));
    found.into()
}

/// The error at the name of its field, in words for people. `rows` are the questions in the form.
fn beside(error: &FieldError, rows: &[QuestionGiven]) -> FieldError {
    let Some((list, rest)) = error.param.split_once('[') else { return in_words(&error.param, &error.message) };
    let Some((index, below)) = rest.split_once(']') else { return error.clone() };
    let position = index.parse::<usize>().unwrap_or_default();
    let entry = |position: usize| FieldError::new(list, format!("entry {} {}", position + 1, error.message));
    if list != "questions" {
        return entry(position);
    }
    let row = row_of(rows, position);
    let at = |part: &str, message: String| FieldError::new(format!("questions[{row}].{part}"), message);
    let is_blank = rows.get(row).is_some_and(|row| row.label.is_empty());
    match below.strip_prefix('.').map(|part| part.split_once('[').unwrap_or((part, ""))) {
        // The form makes the identifier.
        Some(("id", _)) => at("label", "cannot be kept; remove it, and add it again".to_owned()),
        Some(("label", _)) if is_blank => at("label", "must not be blank".to_owned()),
        Some(("type", _)) => at("type", "must be one of the choices".to_owned()),
        Some(("options", "")) if error.message.contains("select only") => {
            at("options", "must be empty, unless the answer is one of the options".to_owned())
        }
        Some((part, "")) => at(part, error.message.clone()),
        Some((part, option)) => {
            let option = option.trim_end_matches(']').parse::<usize>().unwrap_or_default();
            at(part, format!("entry {} {}", option + 1, error.message))
        }
        None => entry(position),
    }
}

/// The error of a field, without names and values of the API.
fn in_words(field: &str, message: &str) -> FieldError {
    let text = match field {
        "seats" if message.contains("calendars") => "must be 1 if several calendars are booked".to_owned(),
        "assignment" if message.contains("round_robin") => CHOOSE_ASSIGNMENT.to_owned(),
        "calendars" if message.contains("calendar_id") => {
            format!("must be 1 to {} besides the calendar of the page", CALENDARS_MAX - 1)
        }
        "calendars" if message.contains("assignment") => CHOOSE_OTHERS.to_owned(),
        "questions" if message.contains("bytes") => "are too long, all texts and options together".to_owned(),
        _ => message.to_owned(),
    };
    FieldError::new(field, text)
}

/// What a form that was refused shows, as [`problems`], with each problem beside its field.
pub(super) fn problems_of(refusal: Refusal, given: &BookingPageGiven) -> Result<(Problems, ApiError), ApiError> {
    let known = given.known();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let slug_is_taken = matches!(refusal, Refusal::SlugTaken);
    let (mut problems, error) = problems(beside_fields(refusal, given), &known)?;
    if slug_is_taken {
        problems = slug_taken();
    }
    Ok((problems, error))
}

/// The problem of an address that another page has.
pub(super) fn slug_taken() -> Problems {
    let mut problems = Problems::default();
    problems.add(&["slug"], "slug", "Another booking page has this address. Choose another one.");
    problems
}

/// What was typed, without what is wrong with it.
pub(super) fn without(given: &BookingPageGiven, errors: &FieldErrors) -> BookingPageGiven {
    let mut right = given.clone();
    let mut questions: Vec<bool> = given.questions.iter().map(|_| true).collect();
    for error in errors.iter() {
        let error = beside(error, &given.questions);
        let of_question = error.param.strip_prefix("questions[").and_then(|rest| rest.split_once(']'));
        match of_question.map(|(index, _)| index.parse::<usize>()) {
            Some(Ok(index)) => questions.iter_mut().skip(index).take(1).for_each(|stays| *stays = false),
            _ if error.param == "questions" => questions.fill(false),
            _ if ["calendars", "assignment"].contains(&&*error.param) => {
                right.set("calendars", String::new());
                right.set("assignment", String::new());
            }
            _ if error.param == "title" => right.set("title", "Untitled".to_owned()),
            _ => {
                // A day needs both of its times.
                let day = OPENING_HOURS.into_iter().find(|hours| [hours.start, hours.end].contains(&&*error.param));
                let names = day.map_or([&*error.param; 2], |hours| [hours.start, hours.end]);
                names.into_iter().for_each(|name| right.set(name, String::new()));
            }
        }
    }
    let mut stays = questions.into_iter();
    right.questions.retain(|_| stays.next().unwrap_or(true));
    right
}

#[cfg(test)]
mod tests {
    use kalends_bookings::{Assignment, QUESTIONS_BYTES_MAX, Question, QuestionType, Questions, Team, TeamPatch};
    use kalends_calendars::Patch;
    use kalends_kernel::CalendarId;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("title", "title", "is wrong")]
    #[case("embed_origins[1]", "embed_origins", "entry 2 is wrong")]
    #[case("guest_reminders[0]", "guest_reminders", "entry 1 is wrong")]
    #[case("availability_constraints.mon.end", "availability_constraints.mon.end", "is wrong")]
    #[case("questions[2].label", "questions[2].label", "is wrong")]
    #[case("questions[2].options[3]", "questions[2].options", "entry 4 is wrong")]
    #[case("questions", "questions", "is wrong")]
    #[case("questions[3].label", "questions[4].label", "must not be blank")]
    #[case("questions[3].type", "questions[4].type", "must be one of the choices")]
    fn each_problem_is_beside_its_field(#[case] param: &str, #[case] field: &str, #[case] message: &str) {
        let question = |label: &str| QuestionGiven { label: label.to_owned(), ..QuestionGiven::default() };
        let removed = QuestionGiven { remove: true, ..question("Gone") };
        let blank = QuestionGiven { id: "blank".to_owned(), ..question("") };
        let rows = [question("A"), question("B"), question("C"), removed, blank];
        let shown = beside(&FieldError::new(param, "is wrong"), &rows);
        assert_eq!((&*shown.param, &*shown.message), (field, message));
    }

    #[test]
    fn people_read_no_names_of_the_api() {
        let calendar = |byte: u8| CalendarId::from_bytes([byte; 16]);
        let team = |calendars: Option<&[u8]>, assignment: Option<Assignment>| {
            let calendars = calendars.map(|bytes| bytes.iter().copied().map(calendar).collect());
            let patch = TeamPatch { calendars: Patch::Set(calendars), assignment: Patch::Set(assignment) };
            Team::after(None, calendar(1), patch).unwrap_err()
        };
        let question = |kind: QuestionType, options: &[&str]| {
            let options = options.iter().map(|option| (*option).to_owned()).collect();
            let question = Question { id: "a".into(), label: "A?".into(), kind, required: true, options };
            question.checked("questions[0]").unwrap_err().first()
        };
        let long = Question {
            id: "a".into(),
            label: "x".repeat(QUESTIONS_BYTES_MAX + 1),
            kind: QuestionType::Text,
            required: false,
            options: Vec::new(),
        };
        for error in [
            team(Some(&[1]), Some(Assignment::Collective)),
            team(Some(&[2]), None),
            team(None, Some(Assignment::RoundRobin)),
            question(QuestionType::Text, &["A"]),
            question(QuestionType::Select, &[]),
            Questions::new(vec![long]).unwrap_err().first(),
        ] {
            let shown = beside(&error, &[QuestionGiven { label: "A?".to_owned(), ..QuestionGiven::default() }]);
            let words = ["null", "_", "select", "bytes", "collective", "calendars to"];
            assert!(words.iter().all(|word| !shown.message.contains(word)), "{}", shown.message);
        }
    }

    #[test]
    fn a_preview_leaves_out_what_is_wrong() {
        let mut given = BookingPageGiven::new(str::to_owned);
        let question = |label: &str| QuestionGiven { label: label.to_owned(), ..QuestionGiven::default() };
        given.questions = vec![question("A"), question("B")];
        let mut errors = FieldErrors::default();
        for param in ["title", "questions[0].options[2]", "availability_constraints.tue.end", "assignment"] {
            errors.push(FieldError::new(param, "is wrong"));
        }
        let right = without(&given, &errors);
        assert_eq!((right.get("title"), right.questions.as_slice()), ("Untitled", [question("B")].as_slice()));
        let tuesday = ["availability_constraints.tue.start", "availability_constraints.tue.end"];
        assert!(tuesday.iter().chain(&["calendars", "assignment"]).all(|name| right.get(name).is_empty()));
        assert_eq!(right.get("slug"), "slug");
    }
}
