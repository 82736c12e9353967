//! The page that says why a form of the console had no effect. It is in English, like the console.

use askama::Template;

use crate::english::in_english;

/// The page that says why a form had no effect.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "problem.html")]
pub struct Problem<'a> {
    /// What is the matter, as a heading.
    pub title: &'a str,
    /// The reason, as a sentence.
    pub reason: &'a str,
    /// The page to continue on, and the text of the link to it.
    pub to: (&'static str, &'static str),
}

impl Problem<'static> {
    /// The session has been switched to another organization since the page of the form was opened.
    pub const SWITCHED: Self = Self {
        title: "You switched to another organization in another tab",
        reason: "Nothing was changed, because the page belongs to the organization that you were in before.",
        to: ("/console", "Go to the console"),
    };
}

in_english!(Problem<'_>);
