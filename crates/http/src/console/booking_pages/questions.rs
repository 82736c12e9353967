//! The questions in the form of a booking page.

use kalends_bookings::{QUESTION_ID_MAX, Question};
use kalends_kernel::{Entropy, random_bytes};
use kalends_web::{BookingPageGiven, QuestionGiven};
use kalends_wire as wire;

use crate::pages::{Fields, line};

/// The value of a box that is checked.
const ON: &str = "true";

/// The questions that were typed, also those that are to be removed or have nothing in them yet. A new question gets
/// its identifier here, and the form keeps it from then on.
pub(super) fn typed(fields: &Fields, entropy: &dyn Entropy) -> Vec<QuestionGiven> {
    let row = |index: usize| {
        let part = |name: &str| fields.get(&format!("questions[{index}].{name}")).trim().to_owned();
        let kind = part("type");
        if kind.is_empty() {
            return None;
        }
        let (required, remove) = (part("required") == ON, part("remove") == ON);
        let (id, label, options) = (part("id"), part("label"), part("options"));
        let mut row = QuestionGiven { id, label, kind, required, options, remove };
        if row.id.is_empty() && row.remove {
            return None;
        }
        if !row.is_empty() && row.id.is_empty() {
            row.id = identifier(&row.label, entropy);
        }
        Some(row)
    };
    (0..BookingPageGiven::ROWS_MAX).filter_map(row).collect()
}

/// The words of the text in lower case, joined by hyphens, and random letters. Answers have the identifier of their
/// question, so a new question must not have the one of a question that was removed.
fn identifier(text: &str, entropy: &dyn Entropy) -> String {
    /// Leaves room for the random letters and a hyphen.
    const WORDS_MAX: usize = QUESTION_ID_MAX - 7;
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut id = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
    id.truncate(WORDS_MAX);
    let id = if id.is_empty() { "question" } else { id.trim_end_matches('-') };
    let random = random_bytes::<3>(entropy).map(|byte| format!("{byte:02x}")).concat();
    format!("{id}-{random}")
}

/// The questions that stay, each with its position in the form.
fn staying(rows: &[QuestionGiven]) -> impl Iterator<Item = (usize, &QuestionGiven)> {
    rows.iter().enumerate().filter(|(_, row)| !row.remove && !row.is_empty())
}

/// The questions as the API has them.
pub(super) fn asked(rows: &[QuestionGiven]) -> Vec<wire::Question> {
    staying(rows).map(|(_, row)| question(row)).collect()
}

/// The position in the form of a question, given its position in the request.
pub(super) fn row_of(rows: &[QuestionGiven], position: usize) -> usize {
    staying(rows).nth(position).map_or(position, |(row, _)| row)
}

fn question(row: &QuestionGiven) -> wire::Question {
    let options = row.options.lines().map(str::trim).filter(|line| !line.is_empty());
    wire::Question {
        id: row.id.clone(),
        label: row.label.clone(),
        kind: row.kind.clone(),
        required: row.required,
        options: options.map(str::to_owned).collect(),
    }
}

/// What the form shows of a question of a page.
pub(super) fn current(question: &Question) -> QuestionGiven {
    let options: Vec<String> = question.options.iter().map(|option| line(option)).collect();
    QuestionGiven {
        id: question.id.clone(),
        label: line(&question.label),
        kind: question.kind.as_str().to_owned(),
        required: question.required,
        options: options.join("\n"),
        remove: false,
    }
}

/// The questions of a form that is shown again because the page has changed, given those that it showed before. What
/// was typed over, added or removed stays so, and every other question is as it is `now`.
pub(super) fn merged(given: &[QuestionGiven], was: &[wire::Question], now: &[QuestionGiven]) -> Vec<QuestionGiven> {
    let before = |row: &QuestionGiven| was.iter().find(|known| known.id == row.id);
    let is_typed_over = |row: &QuestionGiven| row.remove || before(row) != Some(&question(row));
    let newest = |row: &QuestionGiven| {
        let typed = given.iter().find(|typed| typed.id == row.id && is_typed_over(typed));
        typed.unwrap_or(row).clone()
    };
    let mut rows: Vec<QuestionGiven> = now.iter().map(newest).collect();
    // New ones, and those that were typed over although somebody else has removed them.
    let is_other = |row: &&QuestionGiven| now.iter().all(|known| known.id != row.id);
    rows.extend(given.iter().filter(is_other).filter(|row| !row.remove && is_typed_over(row)).cloned());
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, label: &str) -> QuestionGiven {
        let (id, label, kind) = (id.to_owned(), label.to_owned(), "text".to_owned());
        QuestionGiven { id, label, kind, ..QuestionGiven::default() }
    }

    #[test]
    fn what_others_have_changed_stays() {
        let was = asked(&[row("a", "A?"), row("b", "B?"), row("c", "C?"), row("d", "D?"), row("e", "E?")]);
        let removed = QuestionGiven { remove: true, ..row("c", "C?") };
        let first = [row("a", "A?"), row("b", "Mine?"), removed.clone()];
        let given = [first, [row("d", "D?"), row("e", "My E?"), row("f", "F?")]].concat();
        // Somebody else has typed over A, added G, and removed D and E.
        let now = [row("a", "Theirs?"), row("b", "B?"), row("c", "C?"), row("g", "G?")];
        let expected =
            [row("a", "Theirs?"), row("b", "Mine?"), removed, row("g", "G?"), row("e", "My E?"), row("f", "F?")];
        assert_eq!(merged(&given, &was, &now), expected);
    }

    #[test]
    fn a_position_in_the_request_is_one_of_the_form() {
        let removed = QuestionGiven { remove: true, ..row("a", "A?") };
        let rows = [removed, QuestionGiven::default(), row("b", "B?"), row("c", "")];
        assert_eq!(asked(&rows).len(), 2);
        assert_eq!([0, 1, 2].map(|position| row_of(&rows, position)), [2, 3, 2]);
    }

    #[test]
    fn identifiers_are_words_and_random_letters() {
        struct Ones;
        impl Entropy for Ones {
            fn fill(&self, bytes: &mut [u8]) {
                bytes.fill(1);
            }
        }
        let long = "A very long question that nobody reads";
        let cut = "a-very-long-question-that-nobody-010101";
        for (text, id) in [("Whom?", "whom-010101"), ("何?", "question-010101"), (long, cut)] {
            assert_eq!(identifier(text, &Ones), id);
            assert!(id.len() <= QUESTION_ID_MAX);
        }
    }
}
