//! The page on which the operator enters the admin token.

use askama::Template;

use crate::{english::in_english, field::Field};

/// The page on which the operator signs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Template)]
#[template(path = "operator_sign_in.html")]
pub struct OperatorSignIn<'a> {
    /// The path of the page to which it leads.
    pub next: &'a str,
    /// Whether a page was asked for that needs a session.
    pub needed: bool,
    /// Why the operator is not signed in, as a sentence.
    pub problem: Option<&'a str>,
}

impl OperatorSignIn<'_> {
    fn fields(&self) -> [Field<'_>; 1] {
        let field = Field::new_password("Admin token", self.problem);
        [Field { name: "token", autocomplete: "current-password", focus: true, ..field }]
    }
}

in_english!(OperatorSignIn<'_>);
