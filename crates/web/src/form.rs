//! The form that books a slot, or moves a booking to it.

use askama::Template;
use kalends_kernel::{FieldError, FieldErrors, Span};

use crate::page::{DisplaySettings, Page};
use crate::picker::slot_href;

/// The field that no visitor sees and that is empty in whatever a person sends.
pub const HONEYPOT: &str = "website";

/// What the visitor typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Given<'a> {
    /// The field `name`.
    pub name: &'a str,
    /// The field `email`.
    pub email: &'a str,
    /// The field `notes`.
    pub notes: &'a str,
}

/// How many characters the fields take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Of the name.
    pub name: usize,
    /// Of the email address.
    pub email: usize,
    /// Of the notes.
    pub notes: usize,
}

/// The form for a chosen slot. With errors it is the answer to a form that cannot be accepted (400).
#[derive(Debug, Clone, Template)]
#[template(path = "form.html")]
pub struct Form<'a> {
    /// The booking page.
    pub page: Page<'a>,
    /// How the visitor reads times.
    pub shown: DisplaySettings,
    /// The chosen slot.
    pub slot: Span,
    /// What the visitor typed before.
    pub given: Given<'a>,
    /// What is wrong with it, by the parameters `name`, `email`, `notes` and `start`.
    pub errors: &'a FieldErrors,
    /// How long the fields may be.
    pub limits: Limits,
}

/// The answer where the chosen slot is not free any more (409): what is free nearest to it.
///
/// What the visitor typed is kept, so that one press books one of the others.
#[derive(Debug, Clone, Template)]
#[template(path = "taken.html")]
pub struct Taken<'a> {
    /// The booking page, or where a booking is moved.
    pub page: Page<'a>,
    /// How the visitor reads times.
    pub shown: DisplaySettings,
    /// The slot that was chosen.
    pub slot: Span,
    /// The nearest slots that are free, in order.
    pub nearest: &'a [Span],
    /// What the visitor typed; none where nothing was typed yet, and where a booking is moved.
    pub given: Option<Given<'a>>,
    /// Whether a booking is moved.
    pub moves: bool,
}

/// An error of a field as the page shows it.
struct Problem {
    field: &'static str,
    label: &'static str,
    message: String,
}

impl Form<'_> {
    /// The page.
    pub fn html(&self) -> String {
        crate::render(self)
    }

    /// The errors in the order of the fields. The start is not a field that a visitor can mend in the form.
    fn problems(&self) -> Vec<Problem> {
        const FIELDS: [(&str, &str); 3] = [("name", "Your name"), ("email", "Your email"), ("notes", "Notes")];
        let of_field = |(field, label): (&'static str, &'static str)| {
            let error = self.errors.iter().find(|error| error.param == field)?;
            Some(Problem { field, label, message: sentence(error) })
        };
        FIELDS.into_iter().filter_map(of_field).collect()
    }

    /// What is wrong with one field.
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

/// The picker at the slot's day.
pub(crate) fn back(page: &Page<'_>, shown: DisplaySettings, slot: Span) -> String {
    let date = shown.zone.to_civil(slot.start()).date;
    page.path.with(&[("day", &date), ("tz", &shown.zone)])
}

/// A clause of the domain as a sentence: `must be ...` becomes `This must be ....` What was got is left out, since the
/// visitor sees it in the field.
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
    fn clauses_become_sentences(#[case] clause: &str, #[case] shown: &str) {
        assert_eq!(sentence(&FieldError::new("name", clause)), shown);
    }
}
