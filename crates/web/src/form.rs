//! The form that books a slot, or moves a booking to it.

use askama::Template;
use kalends_bookings::{ANSWER_MAX, LONG_ANSWER_MAX, PHONE_MAX, Question, QuestionType};
use kalends_kernel::{FieldError, FieldErrors};
use kalends_time::Span;

use crate::page::{DisplaySettings, Page};
use crate::picker::slot_href;

/// A hidden field. A person leaves it empty.
pub const HONEYPOT: &str = "website";

/// The visitor's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Given<'a> {
    /// The field `name`.
    pub name: &'a str,
    /// The field `email`.
    pub email: &'a str,
    /// The field `notes`.
    pub notes: &'a str,
    /// The fields `answers[id]`, by the ids of the questions.
    pub answers: &'a [(String, String)],
}

impl<'a> Given<'a> {
    /// The answer to a question, or an empty text.
    fn answer(&self, question: &str) -> &'a str {
        self.answers.iter().find(|(id, _)| id == question).map_or("", |(_, value)| value)
    }
}

/// The maximum number of characters of each field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The name.
    pub name: usize,
    /// The email address.
    pub email: usize,
    /// The notes.
    pub notes: usize,
}

/// The form for a chosen slot. With errors it is the answer to an invalid form (400).
#[derive(Debug, Clone, Template)]
#[template(path = "form.html")]
pub struct Form<'a> {
    /// The booking page.
    pub page: Page<'a>,
    /// How times are shown to the visitor.
    pub shown: DisplaySettings,
    /// The chosen slot.
    pub slot: Span,
    /// The visitor's previous input.
    pub given: Given<'a>,
    /// The errors, by the parameters `name`, `email`, `notes`, `start`, `answers` and `answers.<id>`.
    pub errors: &'a FieldErrors,
    /// The maximum lengths of the fields.
    pub limits: Limits,
}

/// The answer if the chosen slot is no longer free (409), with the nearest free slots.
///
/// The visitor's input is kept, so that one click books another slot.
#[derive(Debug, Clone, Template)]
#[template(path = "taken.html")]
pub struct Taken<'a> {
    /// The booking page, or the page that moves a booking.
    pub page: Page<'a>,
    /// How times are shown to the visitor.
    pub shown: DisplaySettings,
    /// The slot that was chosen.
    pub slot: Span,
    /// The nearest free slots, in order.
    pub nearest: &'a [Span],
    /// The visitor's input. `None` if there is none yet, or if a booking is being moved.
    pub given: Option<Given<'a>>,
    /// Whether a booking is being moved.
    pub moves: bool,
}

/// A field's error, as shown on the page.
struct Problem<'a> {
    field: String,
    label: &'a str,
    message: String,
}

impl Form<'_> {
    /// The page.
    pub fn html(&self) -> String {
        crate::render(self)
    }

    /// The errors in the order of the fields. An error in the start is left out: a visitor cannot correct it in the
    /// form.
    fn problems(&self) -> Vec<Problem<'_>> {
        let field = |name: &str, label| (name.to_owned(), name.to_owned(), label);
        let asked = self.page.questions.iter();
        let asked = asked.map(|one| (self.param(one), format!("answer-{}", one.id), one.label.as_str()));
        let fields = [field("name", "Your name"), field("email", "Your email")].into_iter().chain(asked);
        let all = ("answers".to_owned(), "details".to_owned(), "Your answers");
        fields
            .chain([all, field("notes", "Notes")])
            .filter_map(|(param, field, label)| Some(Problem { field, label, message: self.problem(&param)? }))
            .collect()
    }

    /// The parameter of the errors of a question.
    fn param(&self, question: &Question) -> String {
        format!("answers.{}", question.id)
    }

    /// The error of one field.
    fn problem(&self, field: &str) -> Option<String> {
        self.errors.iter().find(|error| error.param == field).map(sentence)
    }

    fn back(&self) -> String {
        back(&self.page, self.shown, self.slot)
    }
}

impl Taken<'_> {
    /// The page.
    pub fn html(&self) -> String {
        crate::render(self)
    }

    fn back(&self) -> String {
        back(&self.page, self.shown, self.slot)
    }

    fn slot_href(&self, offer: &Span) -> String {
        slot_href(self.page.path, offer.start(), self.shown.zone)
    }
}

/// The address of the picker on the slot's day.
pub(crate) fn back(page: &Page<'_>, shown: DisplaySettings, slot: Span) -> String {
    let date = shown.zone.to_civil(slot.start()).date;
    page.path.with(&[("day", &date), ("tz", &shown.zone)])
}

/// Turns a domain error's clause into a sentence: `must be ...` becomes `This must be ....` The quoted input is left
/// out, because the visitor sees it in the field.
fn sentence(error: &FieldError) -> String {
    let message = error.message.rsplit_once(", got ").map_or(error.message.as_str(), |(clause, _)| clause);
    let subject = if message.starts_with("must ") || message.starts_with("is ") { "This " } else { "" };
    format!("{subject}{}.", message.trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("must have 1 to 200 characters, got none", "This must have 1 to 200 characters.")]
    #[case("is required", "This is required.")]
    #[case("Too long.", "Too long.")]
    fn clauses_become_sentences(#[case] clause: &str, #[case] expected: &str) {
        assert_eq!(sentence(&FieldError::new("name", clause)), expected);
    }
}
