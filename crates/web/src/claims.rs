//! The pages on which a user claims organizations that have no owner. They are in English, like the console, and work
//! without scripts.

use askama::Template;
use kalends_time::Timestamp;

use crate::{
    english::in_english,
    field::Field,
    paging::Paging,
    problems::Problems,
    shell::{Done, Shell},
    time::in_utc,
};

/// The fields of the form that begins a claim.
pub const CLAIM_FIELDS: [&str; 1] = ["email"];
/// The fields of the form that proves a claim.
pub const CLAIM_CODE_FIELDS: [&str; 1] = ["otp"];

/// The maximum length of a typed code, in characters. It has six digits; spaces around them are left out.
const CODE_MAX: usize = 16;

/// A claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimShown {
    /// The identifier.
    pub id: String,
    /// The status, as the API names it.
    pub status: &'static str,
    /// The identifier of the organization, once the claim is proved.
    pub org: Option<String>,
    /// When the claim was made.
    pub created_at: Timestamp,
    /// When the code expires or expired.
    pub expires_at: Option<Timestamp>,
    /// When the hold ends.
    pub takes_effect_at: Option<Timestamp>,
    /// When the claim took effect, was revoked or became void.
    pub ended_at: Option<Timestamp>,
}

impl ClaimShown {
    /// The organization, as far as it is known.
    fn title(&self) -> &str {
        self.org.as_deref().unwrap_or(&self.id)
    }

    fn status_text(&self) -> &'static str {
        match self.status {
            "pending" => "Waits for the code",
            "expired" => "The code expired, or was tried too often",
            "held" => "On hold: somebody who reads the organization’s mail can still revoke it",
            "effective" => "The organization is yours",
            "revoked" => "Revoked by somebody who reads the organization’s mail",
            "void" => "Void: you made another claim, or the organization got an owner",
            other => other,
        }
    }

    fn is_pending(&self) -> bool {
        self.status == "pending"
    }

    fn is_effective(&self) -> bool {
        self.status == "effective"
    }

    /// The times to show, each with its label.
    fn times(&self) -> impl Iterator<Item = (&'static str, Timestamp, String)> {
        let code = if self.is_pending() { "Code works until" } else { "Code expired" };
        let times = [
            ("Made", Some(self.created_at)),
            (code, self.expires_at),
            ("Becomes final", self.takes_effect_at),
            ("Ended", self.ended_at.filter(|_| !self.is_effective())),
            ("Final since", self.ended_at.filter(|_| self.is_effective())),
        ];
        times.into_iter().filter_map(|(label, at)| at.map(|at| (label, at, in_utc(at))))
    }
}

/// The claims of the user, and the form that begins one.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "claims.html")]
pub struct Claims<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// The claims of this page, the oldest first.
    pub claims: &'a [ClaimShown],
    /// The other pages of the list.
    pub paging: &'a Paging,
    /// The random key of the form.
    pub once: &'a str,
    /// The address that was typed.
    pub email: &'a str,
    /// Whether mail is only written to files, so that the server sends none.
    pub keeps_mail: bool,
    /// What is wrong with the form.
    pub problems: &'a Problems,
}

impl Claims<'_> {
    fn email_field(&self) -> Field<'_> {
        let problem = self.problems.of("email");
        let label = "Address of the organization";
        Field { label, autocomplete: "off", focus: problem.is_some(), ..Field::email(self.email, problem) }
    }
}

/// The page that asks for the code from the email.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "claim.html")]
pub struct ClaimCode<'a> {
    /// The frame.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// The identifier of the claim.
    pub id: &'a str,
    /// The random key of the form.
    pub once: &'a str,
    /// Whether mail is only written to files, so that the server sends none.
    pub keeps_mail: bool,
    /// What is wrong with the form.
    pub problems: &'a Problems,
}

impl ClaimCode<'_> {
    fn code_field(&self) -> Field<'_> {
        let field = Field::text("otp", "Code from the email, six digits", "", CODE_MAX).checked(self.problems);
        Field { autocomplete: "one-time-code", focus: true, ..field }
    }
}

in_english!(Claims<'_>, ClaimCode<'_>);
