//! What was given in the form that answers a proposal.

use kalends_app::Foreseen;
use kalends_kernel::{FieldError, FieldErrors};
use kalends_web::{AnswerGiven, DECLINES};
use kalends_wire::{self as wire, WantedResponse};

use crate::pages::Fields;

/// What the form contains.
pub(super) fn typed(fields: &Fields) -> AnswerGiven<'_> {
    AnswerGiven {
        agent: fields.get("agent_id"),
        slot: fields.get("selected_slot_id"),
        calendar: fields.get("calendar_id"),
        message: fields.get("message").trim(),
    }
}

/// What the page of the form showed that resolving the proposal would do.
pub(super) fn foreseen(fields: &Fields) -> Foreseen {
    match fields.get("foreseen") {
        DECLINES => Foreseen::Cancellation,
        slot => slot.parse().map_or(Foreseen::Nothing, Foreseen::Slot),
    }
}

/// The response that the form describes.
///
/// # Errors
/// Lists every field that is invalid or not chosen.
pub(super) fn wanted(fields: &Fields) -> Result<WantedResponse, FieldErrors> {
    let given = typed(fields);
    let mut errors = FieldErrors::default();
    for (name, value) in [("agent_id", given.agent), ("selected_slot_id", given.slot)] {
        if value.is_empty() {
            errors.push(FieldError::new(name, "must be chosen"));
        }
    }
    errors.finish()?;
    let declines = given.slot == DECLINES;
    let response = if declines { "decline" } else { "accept" };
    let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let body = wire::RespondToProposal {
        agent_id: given.agent.to_owned(),
        response: response.to_owned(),
        selected_slot_id: text(given.slot).filter(|_| !declines),
        counter_slots: None,
        message: text(given.message),
        // A participant that declines gets no event.
        calendar_id: text(given.calendar).filter(|_| !declines),
    };
    body.parse()
}

#[cfg(test)]
mod tests {
    use kalends_proposals::ResponseKind;
    use rstest::rstest;

    use super::*;

    const SLOT: &str = "slt_00000000000000000000000001";

    #[rstest]
    #[case::nothing("", &["agent_id", "selected_slot_id"])]
    #[case::no_answer("agent_id=agt_a&message=x", &["selected_slot_id"])]
    #[case::no_slot("agent_id=agt_a&selected_slot_id=first", &["selected_slot_id"])]
    fn what_is_missing_is_named(#[case] body: &str, #[case] params: &[&str]) {
        let errors = wanted(&Fields::read(body.as_bytes())).unwrap_err();
        assert_eq!(errors.iter().map(|error| error.param.as_str()).collect::<Vec<_>>(), params);
    }

    #[test]
    fn a_form_names_what_its_page_showed() {
        let of = |value: &str| foreseen(&Fields::read(format!("foreseen={value}").as_bytes()));
        assert_eq!(of(SLOT), Foreseen::Slot(SLOT.parse().unwrap()));
        assert_eq!((of(DECLINES), of(""), of("x")), (Foreseen::Cancellation, Foreseen::Nothing, Foreseen::Nothing));
    }

    #[test]
    fn a_decline_names_neither_a_slot_nor_a_calendar() {
        let form = |slot: &str| format!("agent_id=agt_a&selected_slot_id={slot}&calendar_id=cal_a&message=+");
        let accepted = wanted(&Fields::read(form(SLOT).as_bytes())).unwrap();
        assert_eq!(accepted.response.kind(), ResponseKind::Accept);
        assert_eq!(accepted.response.selected().map(|slot| slot.to_string()).as_deref(), Some(SLOT));
        assert_eq!((accepted.response.message(), accepted.calendar.as_deref()), (None, Some("cal_a")));
        let declined = wanted(&Fields::read(form(DECLINES).as_bytes())).unwrap();
        assert_eq!(declined.response.kind(), ResponseKind::Decline);
        assert_eq!((declined.response.selected(), declined.calendar), (None, None));
    }
}
