//! The form that books a slot, or moves a booking to it.

use askama::Template;
use kalends_bookings::{ANSWER_MAX, LONG_ANSWER_MAX, PHONE_MAX, Question, QuestionType};
use kalends_i18n::{Sentence, Translator};
use kalends_kernel::FieldErrors;
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
    pub shown: DisplaySettings<'a>,
    /// The chosen slot.
    pub slot: Span,
    /// The visitor's previous input.
    pub given: Given<'a>,
    /// The random key of the form, so that a form that is sent twice books once.
    pub once: &'a str,
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
    pub shown: DisplaySettings<'a>,
    /// The slot that was chosen.
    pub slot: Span,
    /// The nearest free slots, in order.
    pub nearest: &'a [Span],
    /// The visitor's input. `None` if there is none yet, or if a booking is being moved.
    pub given: Option<Given<'a>>,
    /// The random key of the form.
    pub once: &'a str,
    /// Whether a booking is being moved.
    pub moves: bool,
}

/// A field's error, as shown on the page.
struct Problem {
    field: String,
    label: String,
    message: String,
}

impl Form<'_> {
    /// The page.
    pub fn html(&self) -> String {
        crate::render(self)
    }

    fn words(&self) -> &Translator {
        self.shown.reader.words()
    }

    fn title(&self) -> Sentence {
        let title = self.shown.say("details-title").with("title", self.page.title);
        if self.problems().is_empty() { title } else { self.shown.say("error-title").with("title", title) }
    }

    /// The errors in the order of the fields. An error in the start is left out: a visitor cannot correct it in the
    /// form.
    fn problems(&self) -> Vec<Problem> {
        let field = |name: &str, label| (name.to_owned(), name.to_owned(), self.shown.say(label).to_string());
        let asked = self.page.questions.iter();
        let asked = asked.map(|one| (self.param(one), format!("answer-{}", one.id), one.label.clone()));
        let fields = [field("name", "name"), field("email", "email")].into_iter().chain(asked);
        let all = ("answers".to_owned(), "details".to_owned(), self.shown.say("your-answers").to_string());
        fields
            .chain([all, field("notes", "notes")])
            .filter_map(|(param, field, label)| Some(Problem { field, label, message: self.problem(&param)? }))
            .collect()
    }

    /// The parameter of the errors of a question.
    fn param(&self, question: &Question) -> String {
        format!("answers.{}", question.id)
    }

    /// What is wrong with a field, in the reader's language. The rules of a booking find the error; the text follows from
    /// what was entered.
    fn problem(&self, field: &str) -> Option<String> {
        let found = self.errors.iter().any(|error| error.param == field);
        found.then(|| self.explained(field).to_string())
    }

    fn explained(&self, field: &str) -> Sentence {
        let Self { given, limits, .. } = self;
        match field {
            "name" => self.text_problem(given.name, limits.name, "problem-other"),
            "email" => self.text_problem(given.email, limits.email, "problem-email"),
            "notes" => self.text_problem(given.notes, limits.notes, "problem-other"),
            "answers" => self.shown.say("problem-answers"),
            param => {
                let Some(question) = self.page.questions.iter().find(|one| self.param(one) == param) else {
                    return self.shown.say("problem-other");
                };
                let answer = given.answer(&question.id);
                match question.kind {
                    QuestionType::Checkbox => self.shown.say("problem-tick"),
                    QuestionType::Select => self.text_problem(answer, usize::MAX, "problem-choice"),
                    QuestionType::Phone => self.text_problem(answer, PHONE_MAX, "problem-phone"),
                    QuestionType::Text => self.text_problem(answer, ANSWER_MAX, "problem-other"),
                    QuestionType::Textarea => self.text_problem(answer, LONG_ANSWER_MAX, "problem-other"),
                }
            }
        }
    }

    /// Why a text is refused: it is missing, or too long, or `otherwise`.
    fn text_problem(&self, text: &str, max: usize, otherwise: &'static str) -> Sentence {
        match text {
            blank if blank.trim().is_empty() => self.shown.say("problem-required"),
            long if long.chars().count() > max => too_long(self.shown, max),
            _ => self.shown.say(otherwise),
        }
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

    fn words(&self) -> &Translator {
        self.shown.reader.words()
    }

    fn back(&self) -> String {
        back(&self.page, self.shown, self.slot)
    }

    fn what_happened(&self) -> Sentence {
        let (shown, at) = (self.shown, self.slot.start());
        let happened = shown.say(if self.moves { "taken-unmoved" } else { "taken-now" });
        happened.with("date", shown.date(at)).with("time", shown.time(at))
    }

    fn slot_href(&self, offer: &Span) -> String {
        slot_href(self.shown, self.page.path, offer.start())
    }
}

/// The address of the picker on the slot's day.
pub(crate) fn back(page: &Page<'_>, shown: DisplaySettings<'_>, slot: Span) -> String {
    let date = shown.zone.to_civil(slot.start()).date;
    shown.link(page.path, &[("day", &date)])
}

/// What is said about a text with more than `max` characters.
pub(crate) fn too_long(shown: DisplaySettings<'_>, max: usize) -> Sentence {
    shown.say("problem-too-long").number("max", u32::try_from(max).unwrap_or(u32::MAX))
}
