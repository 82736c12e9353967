//! Who is signed in, and where.

use crate::field::CodeField;

/// The user who is signed in, and the organization of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedIn<'a> {
    /// The organization's identifier, which every form about the organization has.
    pub org: &'a str,
    /// The organization's name.
    pub organization: &'a str,
    /// The user's address.
    pub email: &'a str,
}

impl SignedIn<'_> {
    /// The field for the code from another link. If the browser keeps a link already, the page that takes codes leads to
    /// that link. Browsers keep the fragment of the address then, from which a script fills in this field.
    pub(crate) const fn code(&self) -> CodeField<'static> {
        CodeField::of_connection_link(false, "")
    }
}
