//! What a page asks its guests, and their answers.

use std::collections::BTreeMap;

use kalends_kernel::{FieldError, FieldErrors, bounded_text};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The maximum number of questions of one page.
pub const QUESTIONS_MAX: usize = 10;
/// The maximum number of characters of a question's identifier.
pub const QUESTION_ID_MAX: usize = 40;
/// The maximum number of characters of a question.
pub const LABEL_MAX: usize = 200;
/// The maximum number of options of a question.
pub const OPTIONS_MAX: usize = 50;
/// The maximum number of characters of an option.
pub const OPTION_MAX: usize = 100;
/// The maximum number of characters of an answer on one line.
pub const ANSWER_MAX: usize = 500;
/// The maximum number of characters of an answer on several lines.
pub const LONG_ANSWER_MAX: usize = 2_000;
/// The maximum number of characters of a phone number.
pub const PHONE_MAX: usize = 40;
/// The fewest digits of a phone number.
const PHONE_DIGITS_MIN: usize = 3;
/// The maximum number of bytes that all answers of one guest take together, as JSON. They are kept in the metadata of an
/// event, which is bounded.
pub const ANSWERS_BYTES_MAX: usize = 4_096;

/// The maximum number of bytes that the labels and options of all questions of a page take together.
pub const QUESTIONS_BYTES_MAX: usize = 16_384;

/// How a question is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuestionType {
    /// One line, of at most [`ANSWER_MAX`] characters.
    Text,
    /// Several lines, of at most [`LONG_ANSWER_MAX`] characters.
    Textarea,
    /// One of the options.
    Select,
    /// True or false. If it is required, only true.
    Checkbox,
    /// A phone number: digits, spaces and `+ - . / ( )`, of at most [`PHONE_MAX`] characters.
    Phone,
}

impl QuestionType {
    /// Every type.
    pub const ALL: &'static [Self] = &[Self::Text, Self::Textarea, Self::Select, Self::Checkbox, Self::Phone];

    /// The name in JSON and in stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Textarea => "textarea",
            Self::Select => "select",
            Self::Checkbox => "checkbox",
            Self::Phone => "phone",
        }
    }
}

/// A question to guests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The identifier, which names the answer: 1 to [`QUESTION_ID_MAX`] of `a-z`, `0-9`, `_` and `-`.
    pub id: String,
    /// The question as guests read it, on one line, 1 to [`LABEL_MAX`] characters.
    pub label: String,
    /// How it is answered.
    #[serde(rename = "type")]
    pub kind: QuestionType,
    /// Whether nobody can book without an answer.
    pub required: bool,
    /// What can be chosen, for [`QuestionType::Select`]: 1 to [`OPTIONS_MAX`], each on one line, 1 to [`OPTION_MAX`]
    /// characters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

/// The questions of a page, in the order in which guests see them, each with an identifier of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Questions(Vec<Question>);

/// The answers of a guest, by the identifiers of the questions: text, or whether a box is checked. Personal data: sealed
/// at rest, never logged.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Answers(BTreeMap<String, Value>);

impl Question {
    /// Checks one question. `param` is its place in the request, such as `questions[2]`.
    ///
    /// # Errors
    /// Every invalid field, such as `questions[2].options`.
    pub fn checked(self, param: &str) -> Result<Self, FieldErrors> {
        let mut errors = FieldErrors::default();
        let plain = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || b"_-".contains(&letter);
        if self.id.is_empty() || self.id.len() > QUESTION_ID_MAX || !self.id.bytes().all(plain) {
            let message = format!("must be 1 to {QUESTION_ID_MAX} of a-z, 0-9, _ and -");
            errors.push(FieldError::new(format!("{param}.id"), message));
        }
        errors.take(one_line(&format!("{param}.label"), &self.label, LABEL_MAX));
        let of_options = format!("{param}.options");
        let count = self.options.len();
        if self.kind != QuestionType::Select {
            if count > 0 {
                errors.push(FieldError::new(&*of_options, "are for questions of the type select only"));
            }
        } else if !(1..=OPTIONS_MAX).contains(&count) {
            let message = format!("must hold 1 to {OPTIONS_MAX} options, got {count}");
            errors.push(FieldError::new(&*of_options, message));
        }
        for (index, option) in self.options.iter().enumerate().take(OPTIONS_MAX) {
            let param = format!("{of_options}[{index}]");
            errors.take(one_line(&param, option, OPTION_MAX));
            if self.options.iter().take(index).any(|earlier| earlier == option) {
                errors.push(FieldError::new(param, "must differ from the options before it"));
            }
        }
        errors.finish()?;
        Ok(self)
    }

    /// Checks an answer. `None` if the question was not answered and need not be.
    fn read(&self, given: Option<&Value>) -> Result<Option<Value>, FieldError> {
        let param = format!("answers.{}", self.id);
        let wrong = |message: String| Err(FieldError::new(&*param, message));
        let unanswered = match given {
            None | Some(Value::Null) => true,
            Some(Value::String(text)) => text.trim().is_empty(),
            Some(Value::Bool(checked)) => !checked && self.required,
            Some(_) => false,
        };
        if unanswered {
            return if self.required { wrong("is required".to_owned()) } else { Ok(None) };
        }
        let text = match (self.kind, given) {
            (QuestionType::Checkbox, Some(checked @ Value::Bool(_))) => return Ok(Some(checked.clone())),
            (QuestionType::Checkbox, _) => return wrong("must be true or false".to_owned()),
            (_, Some(Value::String(text))) => text,
            _ => return wrong("must be text".to_owned()),
        };
        let text = match self.kind {
            QuestionType::Text | QuestionType::Checkbox => one_line(&param, text, ANSWER_MAX)?,
            QuestionType::Textarea => bounded_text(&param, text, 1, LONG_ANSWER_MAX)?,
            QuestionType::Select if self.options.contains(text) => text.clone(),
            QuestionType::Select => return wrong("must be one of the options of this question".to_owned()),
            QuestionType::Phone => phone(&param, text)?,
        };
        Ok(Some(Value::String(text)))
    }
}

/// Checks text on one line, of 1 to `max` characters.
pub(crate) fn one_line(param: &str, text: &str, max: usize) -> Result<String, FieldError> {
    let text = bounded_text(param, text, 1, max)?;
    if text.chars().any(|letter| letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}')) {
        return Err(FieldError::new(param, "must be on one line, without control characters"));
    }
    Ok(text)
}

fn phone(param: &str, text: &str) -> Result<String, FieldError> {
    let text = bounded_text(param, text.trim(), 1, PHONE_MAX)?;
    let allowed = |letter: char| letter.is_ascii_digit() || "+-./() ".contains(letter);
    let digits = text.chars().filter(char::is_ascii_digit).count();
    if digits < PHONE_DIGITS_MIN || !text.chars().all(allowed) {
        return Err(FieldError::new(param, "must be a phone number, such as +49 30 123456"));
    }
    Ok(text)
}

impl Questions {
    /// Checks the questions of a page.
    ///
    /// # Errors
    /// Every invalid field, such as `questions[2].id`; `questions` if there are more than [`QUESTIONS_MAX`], or if they take
    /// more than [`QUESTIONS_BYTES_MAX`].
    pub fn new(questions: Vec<Question>) -> Result<Self, FieldErrors> {
        Self::fits(questions.len())?;
        let texts = questions.iter().flat_map(|question| question.options.iter().chain([&question.label]));
        let bytes: usize = texts.map(String::len).sum();
        if bytes > QUESTIONS_BYTES_MAX {
            let message = format!(
                "must take at most {QUESTIONS_BYTES_MAX} bytes, all labels and options together, got {bytes}; shorten them"
            );
            return Err(FieldError::new("questions", message).into());
        }
        let mut errors = FieldErrors::default();
        let mut checked: Vec<Question> = Vec::with_capacity(questions.len());
        for (index, question) in questions.into_iter().enumerate() {
            let param = format!("questions[{index}]");
            if checked.iter().any(|earlier| earlier.id == question.id) {
                let message = "must differ from the ids of the questions before it";
                errors.push(FieldError::new(format!("{param}.id"), message));
            }
            checked.extend(errors.take_all(question.checked(&param)));
        }
        errors.finish()?;
        Ok(Self(checked))
    }

    /// Checks the number of questions, before they are read.
    ///
    /// # Errors
    /// There are more than [`QUESTIONS_MAX`].
    pub fn fits(count: usize) -> Result<(), FieldError> {
        if count <= QUESTIONS_MAX {
            return Ok(());
        }
        Err(FieldError::new("questions", format!("must hold at most {QUESTIONS_MAX} questions, got {count}")))
    }

    /// Questions that were checked before they were stored.
    pub const fn from_stored(questions: Vec<Question>) -> Self {
        Self(questions)
    }

    /// The questions.
    pub fn as_slice(&self) -> &[Question] {
        &self.0
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks a guest's answers, as a JSON object has them. Blank answers count as none.
    ///
    /// # Errors
    /// Every invalid answer, such as `answers.topic`, also one that is required and missing; `answers` for an answer to
    /// another question, and if all take more than [`ANSWERS_BYTES_MAX`] bytes.
    pub fn read(&self, given: &serde_json::Map<String, Value>) -> Result<Answers, FieldErrors> {
        let mut errors = FieldErrors::default();
        if !given.keys().all(|id| self.0.iter().any(|question| question.id == *id)) {
            let ids: Vec<&str> = self.0.iter().map(|question| question.id.as_str()).collect();
            let message = match ids.as_slice() {
                [] => "must be left out: this page has no questions".to_owned(),
                ids => format!("must answer questions of this page only, by their ids: {}", ids.join(", ")),
            };
            errors.push(FieldError::new("answers", message));
        }
        let mut answers = BTreeMap::new();
        for question in &self.0 {
            if let Some(Some(answer)) = errors.take(question.read(given.get(&question.id))) {
                answers.insert(question.id.clone(), answer);
            }
        }
        let answers = Answers(answers);
        let bytes = answers.bytes();
        if bytes > ANSWERS_BYTES_MAX {
            let message =
                format!("must take at most {ANSWERS_BYTES_MAX} bytes, all together, got {bytes}; shorten them");
            errors.push(FieldError::new("answers", message));
        }
        errors.finish()?;
        Ok(answers)
    }
}

impl Answers {
    /// The answers, by the identifiers of the questions.
    pub const fn as_map(&self) -> &BTreeMap<String, Value> {
        &self.0
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn bytes(&self) -> usize {
        // Texts and booleans cannot fail to serialize.
        serde_json::to_vec(&self.0).map_or(0, |text| text.len())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn question(id: &str, kind: QuestionType, required: bool) -> Question {
        let options =
            if kind == QuestionType::Select { vec!["Sales".to_owned(), "Support".to_owned()] } else { vec![] };
        Question { id: id.to_owned(), label: format!("Your {id}?"), kind, required, options }
    }

    fn all(required: bool) -> Questions {
        let questions = QuestionType::ALL.iter().map(|kind| question(kind.as_str(), *kind, required));
        Questions::new(questions.collect()).unwrap()
    }

    fn params(errors: &FieldErrors) -> Vec<String> {
        errors.iter().map(|error| error.param.clone()).collect()
    }

    fn read(questions: &Questions, given: &Value) -> Result<Value, Vec<String>> {
        let read = questions.read(given.as_object().unwrap());
        read.map(|answers| json!(answers)).map_err(|errors| params(&errors))
    }

    #[test]
    fn answers_are_kept_by_their_questions() {
        let given = json!({
            "text": "Ada", "textarea": "one\ntwo", "select": "Sales", "checkbox": true, "phone": " +49 (30) 12-34/5.6 "
        });
        let mut kept = given.clone();
        kept["phone"] = json!("+49 (30) 12-34/5.6");
        assert_eq!(read(&all(true), &given), Ok(kept.clone()));
        assert_eq!(read(&all(true), &kept), Ok(kept));
        let blank = json!({ "text": " ", "textarea": "", "select": null, "checkbox": false });
        assert_eq!(read(&all(false), &blank), Ok(json!({ "checkbox": false })));
    }

    #[test]
    fn a_required_answer_that_is_missing_is_named() {
        let every: Vec<String> = QuestionType::ALL.iter().map(|kind| format!("answers.{}", kind.as_str())).collect();
        for given in
            [json!({}), json!({ "text": " \n", "textarea": "\t", "select": "", "checkbox": false, "phone": null })]
        {
            assert_eq!(read(&all(true), &given), Err(every.clone()));
        }
    }

    #[rstest]
    #[case::two_lines(json!({ "text": "a\nb" }), "answers.text")]
    #[case::long(json!({ "text": "é".repeat(ANSWER_MAX + 1) }), "answers.text")]
    #[case::long_lines(json!({ "textarea": "a".repeat(LONG_ANSWER_MAX + 1) }), "answers.textarea")]
    #[case::nul(json!({ "textarea": "\0" }), "answers.textarea")]
    #[case::a_number(json!({ "text": 7 }), "answers.text")]
    #[case::a_list(json!({ "select": ["Sales"] }), "answers.select")]
    #[case::no_option(json!({ "select": "sales" }), "answers.select")]
    #[case::no_boolean(json!({ "checkbox": "yes" }), "answers.checkbox")]
    #[case::letters(json!({ "phone": "call me 123" }), "answers.phone")]
    #[case::few_digits(json!({ "phone": "+4" }), "answers.phone")]
    #[case::unknown(json!({ "age": "7" }), "answers")]
    fn bad_answers_are_named(#[case] given: Value, #[case] param: &str) {
        assert_eq!(read(&all(false), &given), Err(vec![param.to_owned()]));
    }

    #[test]
    fn answers_are_bounded_together() {
        let questions = (0..3).map(|number| question(&format!("q{number}"), QuestionType::Textarea, false));
        let questions = Questions::new(questions.collect()).unwrap();
        let long = "a".repeat(LONG_ANSWER_MAX);
        assert!(read(&questions, &json!({ "q0": long, "q1": long })).is_ok());
        assert_eq!(read(&questions, &json!({ "q0": long, "q1": long, "q2": long })), Err(vec!["answers".to_owned()]));
        assert_eq!(read(&Questions::default(), &json!({ "q0": "a" })), Err(vec!["answers".to_owned()]));
    }

    #[rstest]
    #[case::no_id(Question { id: String::new(), ..question("a", QuestionType::Text, true) }, "questions[0].id")]
    #[case::long_id(question(&"a".repeat(QUESTION_ID_MAX + 1), QuestionType::Text, true), "questions[0].id")]
    #[case::upper_case(question("Topic", QuestionType::Text, true), "questions[0].id")]
    #[case::brackets(question("a]", QuestionType::Text, true), "questions[0].id")]
    #[case::no_label(Question { label: " ".into(), ..question("a", QuestionType::Text, true) }, "questions[0].label")]
    #[case::two_lines(Question { label: "a\nb".into(), ..question("a", QuestionType::Text, true) }, "questions[0].label")]
    #[case::no_options(Question { options: vec![], ..question("a", QuestionType::Select, true) }, "questions[0].options")]
    #[case::many_options(
        Question { options: (0..=OPTIONS_MAX).map(|n| n.to_string()).collect(), ..question("a", QuestionType::Select, true) },
        "questions[0].options"
    )]
    #[case::the_same_option(
        Question { options: vec!["a".into(), "a".into()], ..question("a", QuestionType::Select, true) },
        "questions[0].options[1]"
    )]
    #[case::a_blank_option(
        Question { options: vec![" ".into()], ..question("a", QuestionType::Select, true) },
        "questions[0].options[0]"
    )]
    #[case::options_of_text(
        Question { options: vec!["a".into()], ..question("a", QuestionType::Text, true) },
        "questions[0].options"
    )]
    fn bad_questions_are_named(#[case] wrong: Question, #[case] param: &str) {
        assert_eq!(params(&Questions::new(vec![wrong]).unwrap_err()), [param]);
    }

    #[test]
    fn lists_are_bounded_and_ids_differ() {
        let numbered =
            |count: usize| (0..count).map(|n| question(&format!("q{n}"), QuestionType::Text, true)).collect();
        assert_eq!(Questions::new(numbered(QUESTIONS_MAX)).unwrap().as_slice().len(), QUESTIONS_MAX);
        assert_eq!(params(&Questions::new(numbered(QUESTIONS_MAX + 1)).unwrap_err()), ["questions"]);
        let same = vec![question("a", QuestionType::Text, true), question("a", QuestionType::Phone, true)];
        assert_eq!(params(&Questions::new(same).unwrap_err()), ["questions[1].id"]);
        let long = |n: usize| Question {
            options: (0..OPTIONS_MAX).map(|option| format!("{option:0>100}")).collect(),
            ..question(&format!("q{n}"), QuestionType::Select, true)
        };
        assert_eq!(params(&Questions::new((0..4).map(long).collect()).unwrap_err()), ["questions"]);
        assert!(Questions::new((0..3).map(long).collect()).is_ok());
        let most = (0..OPTIONS_MAX).map(|n| n.to_string()).collect();
        assert!(Questions::new(vec![Question { options: most, ..question("a", QuestionType::Select, true) }]).is_ok());
    }
}
