//! The pages on which a user signs in or up. They are in English, like the console, and work without scripts.

use std::fmt;

use askama::Template;

use crate::{
    english::in_english,
    field::{Field, NEW_PASSWORD, ORG_NAME, USER_NAME},
    link::{Href, with},
    next::Next,
};

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

/// A provider with which users can sign in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProviderChoice<'a> {
    /// The name in addresses.
    pub name: &'static str,
    /// The name that people know.
    pub title: &'a str,
}

impl ProviderChoice<'_> {
    /// The address at which a user begins to sign in with the provider. New users accept `terms`.
    fn address(&self, next: Next<'_>, terms: Option<&str>) -> String {
        let page = next.return_to();
        let parameters = [("return_to", page.as_ref()), ("tos_version", terms.as_ref())];
        let given: Vec<_> = parameters
            .iter()
            .filter_map(|(name, value)| value.map(|value| (*name, value as &dyn fmt::Display)))
            .collect();
        with(&format!("/v1/auth/oauth/{}", self.name), &given)
    }
}

/// A form that ends the session by its effect. It was sent after the session had ended, so it may have been sent twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// One that leaves or deletes an organization.
    Parting,
    /// The one that changes the password.
    Password,
}

impl Ended {
    /// The form with that name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Parting, Self::Password].into_iter().find(|form| form.name() == name)
    }

    /// The name in the address of the page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parting => "parting",
            Self::Password => "password",
        }
    }

    /// What the page says. It does not know why the session ended.
    const fn text(self) -> &'static str {
        match self {
            Self::Parting => {
                "Your session has ended, and this page does not know whether the form had its effect before. Sign in \
                 to see."
            }
            Self::Password => {
                "Your session has ended, and this page does not know whether your password was changed before. Try the \
                 new one first."
            }
        }
    }
}

/// The page on which a user signs in.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "sign_in.html")]
pub struct SignIn<'a> {
    /// What the user continues to.
    pub next: Next<'a>,
    /// The address that was typed.
    pub email: &'a str,
    /// Why the user is not signed in.
    pub problem: Option<&'a str>,
    /// The form that was sent, if it may have ended the session.
    pub ended: Option<Ended>,
    /// The providers to choose from.
    pub providers: &'a [ProviderChoice<'a>],
    /// Whether the page offers to sign up.
    pub may_sign_up: bool,
}

impl SignIn<'_> {
    fn fields(&self) -> [Field<'_>; 2] {
        // After a wrong password, the address is probably right.
        let retries = self.problem.is_some() && !self.email.is_empty();
        [
            Field::email(self.email, None),
            Field { autocomplete: "current-password", focus: retries, ..Field::new_password("Password", None) },
        ]
    }

    const fn title(&self) -> &'static str {
        match self.next {
            Next::Join => "Sign in to join",
            Next::Connect => "Sign in to connect your calendar",
            Next::Home | Next::Connections | Next::Plans | Next::Page(_) => "Sign in",
        }
    }

    /// Which account to use, if it matters.
    const fn lead(&self) -> Option<&'static str> {
        match self.next {
            Next::Join => Some(INVITED),
            Next::Connect => Some("You must be a member of the organization whose agents ask for your calendar."),
            Next::Home | Next::Connections | Next::Plans | Next::Page(_) => None,
        }
    }

    /// The address at which a sign-in with the provider begins.
    fn provider(&self, provider: &ProviderChoice<'_>) -> String {
        provider.address(self.next, None)
    }
}

/// The page on which a user enters the code of their second factor, after the password was right.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "sign_in_code.html")]
pub struct SignInCode<'a> {
    /// What the user continues to.
    pub next: Next<'a>,
    /// The token that continues the sign-in.
    pub token: &'a str,
    /// What is wrong with the code.
    pub wrong: Option<&'a str>,
    /// The random key of the form. If the form is sent twice, it still signs in.
    pub once: &'a str,
}

impl SignInCode<'_> {
    /// The name of the field with the token. The template repeats it.
    pub const TOKEN: &'static str = "step";

    fn fields(&self) -> [Field<'_>; 1] {
        [Field { focus: true, ..Field::factor_code("code", "Code", self.wrong) }]
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

/// Which address an invited person uses.
const INVITED: &str = "Use the address that received the invitation.";

/// The page on which a user signs up.
#[derive(Debug, Clone, Template)]
#[template(path = "sign_up.html")]
pub struct SignUp<'a> {
    /// What the user continues to.
    pub next: Next<'a>,
    /// The random key of the form. If the form is sent twice, it still makes one account.
    pub once: &'a str,
    /// Whether this person can sign up.
    pub is_open: bool,
    /// Whether invited people can, if not everybody can.
    pub admits_invited: bool,
    /// The version of the terms.
    pub terms_version: &'a str,
    /// The page with the terms.
    pub terms: Href,
    /// The providers to choose from.
    pub providers: &'a [ProviderChoice<'a>],
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
            let field = Field::text(name, label, value, max);
            Field { autocomplete, required, problem: self.problem_of(name), ..field }
        };
        let mut fields = [
            Field::email(&self.given.email, self.problem_of("email")),
            text("name", "Your name", &*self.given.name, USER_NAME, "name", true),
            text("org_name", "Name of the organization", &*self.given.org_name, ORG_NAME, "organization", false),
            Field::new_password(NEW_PASSWORD, self.problem_of("password")),
        ];
        if let Some(first) = fields.iter_mut().find(|field| field.problem.is_some()) {
            first.focus = true;
        }
        fields
    }

    const fn lead(&self) -> &'static str {
        match self.next {
            Next::Join => INVITED,
            _ => "You get an organization, which owns agents and their calendars, and a key for the API.",
        }
    }

    /// The address at which a sign-up with the provider begins.
    fn provider(&self, provider: &ProviderChoice<'_>) -> String {
        provider.address(self.next, Some(self.terms_version))
    }

    fn has_problems(&self) -> bool {
        self.problem.is_some() || !self.problems.is_empty()
    }

    fn problem_of(&self, name: &str) -> Option<&str> {
        self.problems.iter().find(|(field, _)| field == name).map(|(_, problem)| problem.as_str())
    }
}

/// The page that shows the key of a new organization, once.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "signed_up.html")]
pub struct SignedUp<'a> {
    /// What the user continues to.
    pub next: Next<'a>,
    /// The organization's name.
    pub organization: &'a str,
    /// The key.
    pub key: &'a str,
    /// The address that the user is asked to prove; `None` if there is nothing to prove.
    pub asked: Option<&'a str>,
    /// Whether mail is only written to files, so that the server sends none.
    pub keeps_mail: bool,
}

impl SignedUp<'_> {
    /// Whether the user came for nothing but the organization, which has no agents yet.
    fn is_first(&self) -> bool {
        self.next == Next::Home
    }

    const fn go(&self) -> &'static str {
        match self.next {
            Next::Join => "Join the organization that invited you",
            Next::Connect => "Connect your calendar",
            Next::Home | Next::Connections | Next::Plans | Next::Page(_) => "Go to the console",
        }
    }
}

in_english!(SignIn<'_>, SignInCode<'_>, SignUp<'_>, SignedUp<'_>);
