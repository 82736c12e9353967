//! The page that keeps a form whose session has ended, and the page after signing in for it. They are in English, like
//! the console, and work without scripts.

use askama::Template;

use crate::{english::in_english, link::Path, overview::OtherOrganization, shell::Shell};

/// The page that says that the session has ended, with the form to send again.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "expired.html")]
pub struct Expired<'a> {
    /// The address of the form.
    pub action: &'a Path,
    /// The names and values of its fields, in their order.
    pub fields: &'a [(&'a str, &'a str)],
    /// The identifier of the organization in which the form was opened, if it names one.
    pub org: Option<&'a str>,
    /// Whether fields that may be secrets were left out.
    pub left_out: bool,
    /// Whether the form is one of the operator's.
    pub of_operator: bool,
}

/// Where the form in the other tab belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormPlace<'a> {
    /// To the organization of the session, or to none.
    Here,
    /// To another organization of the user.
    Elsewhere(&'a OtherOrganization),
    /// To an organization to which the user does not belong.
    Lost,
}

/// The page to which a sign-in in another tab leads.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "signed_in_again.html")]
pub struct SignedInAgain<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// Where the form in the other tab belongs.
    pub form: FormPlace<'a>,
}

in_english!(Expired<'_>, SignedInAgain<'_>);
