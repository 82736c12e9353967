//! The page on which a user proves their address. It is in English, like the console.

use askama::Template;

use crate::{english::in_english, field::CodeField};

/// The page on which a user proves their address with the code from an email.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "verification.html")]
pub struct Verification<'a> {
    /// The path to which the form is sent.
    pub action: &'static str,
    /// What the page shows.
    pub state: VerificationState<'a>,
}

/// What the page of a proof shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerificationState<'a> {
    /// The form.
    Asks {
        /// Whether a code was sent that does not work.
        is_wrong: bool,
    },
    /// What a code proves, and the form that proves it.
    Shows {
        /// The code.
        code: &'a str,
        /// The address.
        email: &'a str,
        /// The name of the user's organization.
        organization: &'a str,
    },
    /// The address is proved.
    Proved {
        /// The address.
        email: &'a str,
    },
    /// Another account has proved the address.
    Taken,
}

/// What is wrong with a code that does not work.
const WRONG: &str = "This code does not work: it is wrong, older than 24 hours, or replaced by a later one. Sign in to get another email.";

impl Verification<'_> {
    const fn code(&self) -> CodeField<'_> {
        CodeField::new("token", matches!(self.state, VerificationState::Asks { is_wrong: true }), WRONG)
    }

    const fn title(&self) -> &'static str {
        match self.state {
            VerificationState::Asks { .. } => "Confirm your address",
            VerificationState::Shows { .. } => "Confirm this address",
            VerificationState::Proved { .. } => "Your address is confirmed",
            VerificationState::Taken => "Another account has this address",
        }
    }
}

in_english!(Verification<'_>);
