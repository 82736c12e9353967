//! The fields of the console's forms.

use crate::problems::Problems;

/// A text field of a form of the console.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field<'a> {
    /// The name, which is also the element's identifier.
    pub name: &'static str,
    /// The label.
    pub label: &'static str,
    /// The `type` of the element.
    pub kind: &'static str,
    /// What was typed. A password is not shown again.
    pub value: &'a str,
    /// The maximum number of characters. A browser would cut a longer text silently, so a password has none.
    pub max: Option<usize>,
    /// What a browser can fill in.
    pub autocomplete: &'static str,
    /// Whether it must be filled in.
    pub required: bool,
    /// What is wrong with it.
    pub problem: Option<&'a str>,
    /// Whether it gets the focus when the page opens, as the first field to correct does.
    pub focus: bool,
    /// What to know before it is filled in.
    pub hint: Option<&'static str>,
}

/// The maximum length of an address, in characters.
const EMAIL: usize = 320;
/// The maximum length of a user's name, in characters.
pub(crate) const USER_NAME: usize = 100;
/// The maximum length of an organization's name, in characters.
pub(crate) const ORG_NAME: usize = 255;
/// The maximum length of a code of the second factor, in characters.
const FACTOR_CODE: usize = 64;
/// The label of a password that a user chooses.
pub(crate) const NEW_PASSWORD: &str = "Password, 10 characters or more";

impl<'a> Field<'a> {
    /// A field with a text of at most `max` characters that a browser does not fill in.
    pub(crate) fn text(name: &'static str, label: &'static str, value: &'a str, max: usize) -> Self {
        let (kind, autocomplete) = ("text", "off");
        let (problem, hint) = (None, None);
        Self { name, label, kind, value, max: Some(max), autocomplete, required: true, problem, focus: false, hint }
    }

    /// The same field with its problem, if it has one.
    pub(crate) fn checked(self, problems: &'a Problems) -> Self {
        Self { problem: problems.of(self.name), ..self }
    }

    /// The field of an email address.
    pub(crate) const fn email(value: &'a str, problem: Option<&'a str>) -> Self {
        let (name, label, kind, autocomplete) = ("email", "Email", "email", "username");
        let (max, hint) = (Some(EMAIL), None);
        Self { name, label, kind, value, max, autocomplete, required: true, problem, focus: false, hint }
    }

    /// The field of a password that a user chooses.
    pub(crate) const fn new_password(label: &'static str, problem: Option<&'a str>) -> Self {
        let (name, kind, autocomplete) = ("password", "password", "new-password");
        let (max, hint) = (None, None);
        Self { name, label, kind, value: "", max, autocomplete, required: true, problem, focus: false, hint }
    }

    /// The field of a code of the second factor. A recovery code has letters, so no numeric keyboard is asked for.
    pub(crate) const fn factor_code(name: &'static str, label: &'static str, problem: Option<&'a str>) -> Self {
        Self {
            name,
            label,
            kind: "text",
            value: "",
            max: Some(FACTOR_CODE),
            autocomplete: "one-time-code",
            required: true,
            problem,
            focus: problem.is_some(),
            hint: None,
        }
    }

    /// The identifiers of the elements that describe it.
    pub(crate) fn described(&self) -> Option<String> {
        described(self.name, self.hint, self.problem)
    }
}

/// The identifiers of the elements that describe a field: its hint and its problem.
fn described(name: &str, hint: Option<&str>, problem: Option<&str>) -> Option<String> {
    let parts = [(hint, "hint"), (problem, "problem")];
    let present: Vec<_> =
        parts.into_iter().filter(|(text, _)| text.is_some()).map(|(_, end)| format!("{name}-{end}")).collect();
    (!present.is_empty()).then(|| present.join(" "))
}

/// A choice among options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Select<'a> {
    /// The name, which is also the element's identifier.
    pub name: &'static str,
    /// The label.
    pub label: &'static str,
    /// The options.
    pub options: &'a [Choice<'a>],
    /// The value that is chosen.
    pub chosen: &'a str,
    /// What is wrong with it.
    pub problem: Option<&'a str>,
}

/// An option of a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice<'a> {
    /// The value that a form sends.
    pub value: &'a str,
    /// The text that the user sees.
    pub title: &'a str,
}

/// A field with several lines of text, which may be left empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Area<'a> {
    /// The name, which is also the element's identifier.
    pub name: &'static str,
    /// The label.
    pub label: &'static str,
    /// What was typed.
    pub value: &'a str,
    /// The maximum number of characters.
    pub max: usize,
    /// What is wrong with it.
    pub problem: Option<&'a str>,
    /// What to know before it is filled in.
    pub hint: Option<&'static str>,
}

impl Area<'_> {
    /// The identifiers of the elements that describe it.
    pub(crate) fn described(&self) -> Option<String> {
        described(self.name, self.hint, self.problem)
    }
}

/// The field for the code from a link. A script fills it in from the address of the page. A wrong code is not repeated:
/// it may be the secret of something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CodeField<'a> {
    /// The name. The element's identifier is always `code`.
    pub name: &'static str,
    /// The code that was sent, if only something else of the form is wrong.
    pub value: &'a str,
    /// What is wrong with the code that was sent.
    pub problem: Option<&'static str>,
    /// The label.
    pub label: &'static str,
    /// Where to find the code.
    pub help: &'static str,
}

impl CodeField<'_> {
    /// An empty field, with the problem if the code that was sent is wrong. The link was sent by email.
    pub(crate) const fn new(name: &'static str, is_wrong: bool, problem: &'static str) -> Self {
        let (label, help) =
            ("Code from the email", "The part after # in the address from the email, or the whole address.");
        Self { name, value: "", problem: if is_wrong { Some(problem) } else { None }, label, help }
    }

    /// The field for the code from a connection link, which an agent sends in any way.
    pub(crate) const fn of_connection_link(is_wrong: bool, problem: &'static str) -> Self {
        let (label, help) =
            ("Code from the link", "The part after # in the address that you received, or the whole address.");
        Self { label, help, ..Self::new("token", is_wrong, problem) }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(None, None, None)]
    #[case(Some("x"), None, Some("limits-hint"))]
    #[case(None, Some("y"), Some("limits-problem"))]
    #[case(Some("x"), Some("y"), Some("limits-hint limits-problem"))]
    fn fields_are_described(#[case] hint: Option<&str>, #[case] problem: Option<&str>, #[case] expected: Option<&str>) {
        assert_eq!(described("limits", hint, problem).as_deref(), expected);
    }
}
