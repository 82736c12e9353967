//! The fields of one question in the form of a booking page.

use kalends_bookings::{LABEL_MAX, OPTION_MAX, OPTIONS_MAX};

use crate::{field::Choice, problems::Problems};

const KINDS: [Choice<'static>; 5] = [
    Choice { value: "text", title: "One line" },
    Choice { value: "textarea", title: "Several lines" },
    Choice { value: "select", title: "One of the options" },
    Choice { value: "checkbox", title: "A box to tick" },
    Choice { value: "phone", title: "A phone number" },
];

/// What was typed about one question.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QuestionGiven {
    /// Its identifier; empty for a new question.
    pub id: String,
    /// The question as guests read it.
    pub label: String,
    /// How it is answered, as the API names it.
    pub kind: String,
    /// Whether nobody can book without an answer.
    pub required: bool,
    /// The options, one on each line.
    pub options: String,
    /// Whether it is to be removed.
    pub remove: bool,
}

impl QuestionGiven {
    /// Whether it is only room for a question.
    pub const fn is_empty(&self) -> bool {
        self.id.is_empty() && self.label.is_empty() && self.options.is_empty()
    }
}

/// Room for a question.
pub(super) static NEW_QUESTION: QuestionGiven = QuestionGiven {
    id: String::new(),
    label: String::new(),
    kind: String::new(),
    required: false,
    options: String::new(),
    remove: false,
};

/// The name of a field of a question.
pub(super) fn in_question(index: usize, part: &str) -> String {
    format!("questions[{index}].{part}")
}

/// The fields of one question.
pub(crate) struct QuestionField<'a> {
    pub(super) index: usize,
    pub(crate) given: &'a QuestionGiven,
    pub(super) problems: &'a Problems,
}

impl<'a> QuestionField<'a> {
    pub(crate) fn number(&self) -> usize {
        self.index + 1
    }

    pub(crate) fn name(&self, part: &str) -> String {
        in_question(self.index, part)
    }

    pub(crate) fn problem(&self, part: &str) -> Option<&'a str> {
        self.problems.of(&self.name(part))
    }

    pub(crate) fn kinds(&self) -> &'static [Choice<'static>] {
        &KINDS
    }

    pub(crate) fn is_kind(&self, kind: &str) -> bool {
        self.given.kind == kind
    }

    pub(crate) fn label_max(&self) -> usize {
        LABEL_MAX
    }

    pub(crate) fn options_max(&self) -> usize {
        (OPTION_MAX + 1) * OPTIONS_MAX
    }
}
