//! The page that keeps a form whose session has ended, and the page after signing in for it. They are in English, like
//! the console, and work without scripts.

use askama::Template;

use crate::{english::in_english, link::Path, shell::Shell};

/// The page that says that the session has ended, with the form to send again.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "expired.html")]
pub struct Expired<'a> {
    /// The address of the form.
    pub action: &'a Path,
    /// The names and values of its fields, in their order.
    pub fields: &'a [(&'a str, &'a str)],
    /// Whether fields that may be secrets were left out.
    pub left_out: bool,
}

/// The page to which a sign-in in another tab leads.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "signed_in_again.html")]
pub struct SignedInAgain<'a> {
    /// The frame.
    pub shell: &'a Shell,
}

in_english!(Expired<'_>, SignedInAgain<'_>);
