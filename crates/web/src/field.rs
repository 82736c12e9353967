//! A text field of a form.

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
}
