//! What is wrong with the form of a booking page.

use kalends_app::Refusal;
use kalends_kernel::{FieldError, FieldErrors};
use kalends_web::{BookingPageGiven, OPENING_HOURS, Problems};

use super::super::shown::problems;
use crate::error::ApiError;

/// The refusal with each error at the name of its field in the form. The fields of lists and the options of a question
/// have several lines, so the message says which entry is wrong.
pub(super) fn beside_fields(refusal: Refusal) -> Refusal {
    let Refusal::Invalid(errors) = refusal else { return refusal };
    let mut found = FieldErrors::default();
    errors.iter().for_each(|error| found.push(beside(error)));
    found.into()
}

fn beside(error: &FieldError) -> FieldError {
    let Some((list, rest)) = error.param.split_once('[') else { return error.clone() };
    let Some((index, below)) = rest.split_once(']') else { return error.clone() };
    let entry = |index: &str| index.parse::<usize>().map_or(0, |index| index + 1);
    if list != "questions" {
        return FieldError::new(list, format!("entry {} {}", entry(index), error.message));
    }
    match below.strip_prefix('.').map(|part| part.split_once('[').unwrap_or((part, ""))) {
        // The form makes the identifier of the text.
        Some(("id", _)) => FieldError::new(format!("questions[{index}].label"), error.message.clone()),
        Some((part, "")) => FieldError::new(format!("questions[{index}].{part}"), error.message.clone()),
        Some((part, option)) => {
            let message = format!("entry {} {}", entry(option.trim_end_matches(']')), error.message);
            FieldError::new(format!("questions[{index}].{part}"), message)
        }
        None => FieldError::new(list, format!("entry {} {}", entry(index), error.message)),
    }
}

/// What a form that was refused shows, as [`problems`], with each problem beside its field.
pub(super) fn problems_of(refusal: Refusal, given: &BookingPageGiven) -> Result<(Problems, ApiError), ApiError> {
    let known = given.known();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let slug_is_taken = matches!(refusal, Refusal::SlugTaken);
    let (mut problems, error) = problems(beside_fields(refusal), &known)?;
    if slug_is_taken {
        problems = slug_taken();
    }
    Ok((problems, error))
}

/// The problem of an address that another page has.
pub(super) fn slug_taken() -> Problems {
    let mut problems = Problems::default();
    problems.add(&["slug"], "slug", "Another booking page has this end of its address. Choose another one.");
    problems
}

/// What was typed, without what is wrong with it.
pub(super) fn without(given: &BookingPageGiven, errors: &FieldErrors) -> BookingPageGiven {
    let mut right = given.clone();
    let mut questions: Vec<bool> = given.questions.iter().map(|_| true).collect();
    for error in errors.iter() {
        let error = beside(error);
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
    use kalends_web::QuestionGiven;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("title", "title", "is wrong")]
    #[case("embed_origins[1]", "embed_origins", "entry 2 is wrong")]
    #[case("guest_reminders[0]", "guest_reminders", "entry 1 is wrong")]
    #[case("availability_constraints.mon.end", "availability_constraints.mon.end", "is wrong")]
    #[case("questions[2].label", "questions[2].label", "is wrong")]
    #[case("questions[2].id", "questions[2].label", "is wrong")]
    #[case("questions[2].options[3]", "questions[2].options", "entry 4 is wrong")]
    #[case("questions", "questions", "is wrong")]
    fn each_problem_is_beside_its_field(#[case] param: &str, #[case] field: &str, #[case] message: &str) {
        let shown = beside(&FieldError::new(param, "is wrong"));
        assert_eq!((&*shown.param, &*shown.message), (field, message));
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
