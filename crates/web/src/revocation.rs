//! The page on which the holder of an organization's address revokes a claim on it. It is in English, like the console.

use askama::Template;

use crate::{english::in_english, field::CodeField, link::Path};

/// The page on which the holder of an organization's address revokes a claim on it.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "revocation.html")]
pub struct Revocation<'a> {
    /// The path to which the form is sent.
    pub action: &'a Path,
    /// What the page shows.
    pub state: RevocationState,
}

/// What the page of a revocation shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RevocationState {
    /// The form.
    Asks {
        /// Whether a code was sent that is wrong. The page does not repeat it: it may be the secret of something else.
        is_wrong: bool,
    },
    /// The claim is revoked.
    Revoked,
    /// The hold is over, so the claim cannot be revoked.
    Over,
}

/// What is wrong with a code that does not work.
const WRONG: &str = "This code does not belong to the claim. Copy it from the email again.";

impl Revocation<'_> {
    const fn code(&self) -> CodeField<'_> {
        let is_wrong = matches!(self.state, RevocationState::Asks { is_wrong: true });
        CodeField::new("revocation_token", is_wrong, WRONG)
    }

    const fn title(&self) -> &'static str {
        match self.state {
            RevocationState::Asks { .. } => "Keep your organization",
            RevocationState::Revoked => "The claim is revoked",
            RevocationState::Over => "This claim can no longer be revoked",
        }
    }
}

in_english!(Revocation<'_>);
