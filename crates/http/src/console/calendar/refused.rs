//! Why a form about an event had no effect: each problem beside its field.

use kalends_app::Refusal;
use kalends_kernel::{FieldError, FieldErrors};
use kalends_time::Zone;
use kalends_web::{EVENT_FIELDS, EventGiven, Problems};

use super::{
    super::shown::{problems, taken},
    event::CHANGED,
};
use crate::error::ApiError;

/// What a form that was refused shows, as [`problems`], with times in the zone of the form. `given` is what was typed.
///
/// # Errors
/// As [`problems`].
pub(super) fn problems_of(
    refusal: Refusal,
    zone: Zone,
    given: &EventGiven<'_>,
) -> Result<(Problems, ApiError), ApiError> {
    let said = match &refusal {
        Refusal::SlotTaken(obstacles) => Some(taken(obstacles, zone)),
        Refusal::Stale { .. } => Some(CHANGED.to_owned()),
        _ => None,
    };
    let refusal = match refusal {
        Refusal::Invalid(errors) => Refusal::Invalid(beside(&errors, given)),
        refusal => refusal,
    };
    let (problems, error) = problems(refusal, &EVENT_FIELDS)?;
    Ok((said.map_or(problems, Problems::general), error))
}

/// The errors with the names of the form's fields, if the API has others, and in words that need no API.
fn beside(errors: &FieldErrors, given: &EventGiven<'_>) -> FieldErrors {
    let mut shown = FieldErrors::default();
    for error in errors.iter() {
        shown.push(beside_field(error.clone(), given));
    }
    shown
}

fn beside_field(mut error: FieldError, given: &EventGiven<'_>) -> FieldError {
    if let Some((number, part)) = attendee_of(&error.param) {
        let whose = match part {
            "name" => "the name of ",
            "agent_id" => "the agent of ",
            _ => "",
        };
        error.message = format!("{whose}attendee {number} {}", error.message);
        error.param = "attendees".to_owned();
        return error;
    }
    let field = match error.param.as_str() {
        param if param.starts_with("reminders[") => "reminders",
        "recurrence_rule" | "recurrence_timezone" if given.status == "hold" => {
            error.message = "a hold cannot repeat".to_owned();
            "repeats"
        }
        "recurrence_rule" | "recurrence_timezone" => given.repeats.field(),
        "send_invitations" if given.status == "hold" => {
            error.message = "a hold sends no invitations; confirm it first".to_owned();
            "send_invitations"
        }
        "hold_expires_at" => "hold_minutes",
        "calendar_id" => "calendar",
        _ => return error,
    };
    error.param = field.to_owned();
    error
}

/// The number and the field of the attendee, such as 4 and `email` of `attendees[3].email`.
fn attendee_of(param: &str) -> Option<(usize, &str)> {
    let (index, field) = param.strip_prefix("attendees[")?.split_once("].")?;
    Some((index.parse::<usize>().ok()? + 1, field))
}

#[cfg(test)]
mod tests {
    use kalends_web::RepeatGiven;

    use super::*;

    #[test]
    fn each_problem_is_beside_a_field_of_the_form() {
        let repeats = RepeatGiven { choice: "daily", ends: "until", ..RepeatGiven::default() };
        let given = EventGiven { repeats, ..EventGiven::default() };
        let hold = EventGiven { status: "hold", ..given };
        let cases = [
            ("title", given, "title", "must not be blank"),
            ("attendees", given, "attendees", "must not be blank"),
            ("attendees[3].email", given, "attendees", "attendee 4 must not be blank"),
            ("attendees[0].name", given, "attendees", "the name of attendee 1 must not be blank"),
            ("attendees[0].agent_id", given, "attendees", "the agent of attendee 1 must not be blank"),
            ("reminders[2]", given, "reminders", "must not be blank"),
            ("recurrence_rule", given, "until", "must not be blank"),
            ("recurrence_rule", hold, "repeats", "a hold cannot repeat"),
            ("hold_expires_at", hold, "hold_minutes", "must not be blank"),
            ("send_invitations", hold, "send_invitations", "a hold sends no invitations; confirm it first"),
            ("send_invitations", given, "send_invitations", "must not be blank"),
            ("calendar_id", given, "calendar", "must not be blank"),
        ];
        for (param, given, field, message) in cases {
            let shown = beside_field(FieldError::new(param, "must not be blank"), &given);
            assert_eq!((shown.param.as_str(), shown.message.as_str()), (field, message), "{param}");
        }
    }
}
