//! The pages on which a user signs in or up. They are in English, like the console, and work without scripts.

use crate::{
    english::in_english,
    field::Field,
    link::{Href, with},
};
use askama::Template;

/// The messages for a failed sign-in with a provider, by the code in the address of the page.
pub const SIGN_IN_ERRORS: [(&str, &str); 10] = [
    ("oauth_state", "Signing in took too long, or was started in another browser. Please start again."),
    ("oauth_declined", "You or your provider declined the sign-in."),
    ("oauth_failed", "Your provider did not confirm who you are. Please start again."),
    ("provider_unavailable", "Your provider is not responding. Please try again in a few minutes."),
    (
        "email_not_verified",
        "There is already an account with your email address, but your provider has not verified the address. Please \
         sign in with your password.",
    ),
    ("tos_version_required", "There is no account with your email address yet. Please create one first."),
    ("tos_version_stale", "The terms have changed. Please read and accept the new ones."),
    ("account_waitlisted", "Your account is on the waiting list."),
    (
        "signup_closed",
        "There is no account with your email address yet, and this server lets only invited people sign up.",
    ),
    ("rate_limited", "Too many people signed up in the last hour. Please try again in an hour."),
];

// The maximum lengths of the fields, in characters.
const EMAIL: usize = 320;
const NAME: usize = 100;
const ORG_NAME: usize = 255;

/// A provider with which users can sign in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProviderChoice {
    /// The name in addresses.
    pub name: &'static str,
    /// The name that people know.
    pub title: &'static str,
}

/// The page on which a user signs in.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "sign_in.html")]
pub struct SignIn<'a> {
    /// The path to continue to.
    pub next: &'a str,
    /// The address that was typed.
    pub email: &'a str,
    /// Why the user is not signed in.
    pub problem: Option<&'a str>,
    /// The providers to choose from.
    pub providers: &'a [ProviderChoice],
    /// Whether the page offers to sign up.
    pub may_sign_up: bool,
}

impl SignIn<'_> {
    fn fields(&self) -> [Field<'_>; 2] {
        // After a wrong password, the address is probably right.
        let retries = self.problem.is_some() && !self.email.is_empty();
        [
            email(self.email, None),
            Field { autocomplete: "current-password", focus: retries, ..password("Password", None) },
        ]
    }

    /// The page of the console to which a provider returns the browser, if it has one.
    fn return_to(&self) -> Option<&str> {
        self.next.strip_prefix("/console/").filter(|page| ["connect", "connections", "invitations"].contains(page))
    }
}

/// What was typed into the form of a sign-up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SignUpGiven {
    /// The address.
    pub email: String,
    /// The user's name.
    pub name: String,
    /// The organization's name.
    pub org_name: String,
    /// Whether the terms were accepted.
    pub accepted: bool,
}

/// The page on which a user signs up.
#[derive(Debug, Clone, Template)]
#[template(path = "sign_up.html")]
pub struct SignUp<'a> {
    /// Whether everybody can sign up.
    pub is_open: bool,
    /// Whether invited people can, if not everybody can.
    pub admits_invited: bool,
    /// The version of the terms.
    pub terms_version: &'a str,
    /// The page with the terms.
    pub terms: Href,
    /// The providers to choose from.
    pub providers: &'a [ProviderChoice],
    /// What was typed.
    pub given: &'a SignUpGiven,
    /// Why the user is not signed up, if no field is the reason.
    pub problem: Option<&'a str>,
    /// What is wrong with fields, by their names.
    pub problems: &'a [(String, String)],
}

impl SignUp<'_> {
    const fn title(&self) -> &'static str {
        if self.is_open { "Create an account" } else { "Sign-up is closed" }
    }

    const fn closed(&self) -> &'static str {
        if self.admits_invited {
            "This server lets only invited people sign up. Open the link in your invitation."
        } else {
            "This server does not accept new accounts. Ask the operator for one."
        }
    }

    fn fields(&self) -> [Field<'_>; 4] {
        let text = |name, label, value, max, autocomplete, required| {
            let problem = self.problem_of(name);
            Field { name, label, kind: "text", value, max: Some(max), autocomplete, required, problem, focus: false }
        };
        let mut fields = [
            email(&self.given.email, self.problem_of("email")),
            text("name", "Your name", &*self.given.name, NAME, "name", true),
            text("org_name", "Name of the organization", &*self.given.org_name, ORG_NAME, "organization", false),
            password("Password, 10 characters or more", self.problem_of("password")),
        ];
        if let Some(first) = fields.iter_mut().find(|field| field.problem.is_some()) {
            first.focus = true;
        }
        fields
    }

    /// The address at which a sign-up with the provider begins.
    fn provider(&self, provider: &ProviderChoice) -> String {
        with(&format!("/v1/auth/oauth/{}", provider.name), &[("tos_version", &self.terms_version)])
    }

    fn has_problems(&self) -> bool {
        self.problem.is_some() || !self.problems.is_empty()
    }

    fn problem_of(&self, name: &str) -> Option<&str> {
        self.problems.iter().find(|(field, _)| field == name).map(|(_, problem)| problem.as_str())
    }
}

const fn email<'a>(value: &'a str, problem: Option<&'a str>) -> Field<'a> {
    let (name, label, kind, autocomplete) = ("email", "Email", "email", "username");
    Field { name, label, kind, value, max: Some(EMAIL), autocomplete, required: true, problem, focus: false }
}

const fn password<'a>(label: &'static str, problem: Option<&'a str>) -> Field<'a> {
    let (name, kind, autocomplete) = ("password", "password", "new-password");
    Field { name, label, kind, value: "", max: None, autocomplete, required: true, problem, focus: false }
}

/// The page that shows the key of a new organization, once.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "signed_up.html")]
pub struct SignedUp<'a> {
    /// The organization's name.
    pub organization: &'a str,
    /// The key.
    pub key: &'a str,
    /// The address that the user is asked to prove; `None` if there is nothing to prove.
    pub asked: Option<&'a str>,
}

in_english!(SignIn<'_>, SignUp<'_>, SignedUp<'_>);
