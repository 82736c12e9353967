//! The pages on which a user joins an organization. They are in English, like the console, and work without scripts.

use askama::Template;

use crate::{english::in_english, field::CodeField};

/// The page to which the link of an invitation leads. It takes the code from the link, which no browser sends.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "invited.html")]
pub struct Invited {
    /// Whether a code was sent that cannot be one.
    pub is_wrong: bool,
}

impl Invited {
    const fn code(&self) -> CodeField<'_> {
        CodeField::new("token", self.is_wrong, "This code is incomplete. Copy it from the email again.")
    }
}

/// The page on which a user accepts an invitation.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "join.html")]
pub struct Join<'a> {
    /// The user's name.
    pub name: &'a str,
    /// The user's address.
    pub email: &'a str,
    /// What the page shows.
    pub state: JoinState<'a>,
}

/// What the page of an invitation shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinState<'a> {
    /// The invitation, which the user can accept.
    Invited {
        /// The organization's name.
        organization: &'a str,
        /// The role that the user gets.
        role: &'a str,
        /// The key of the form, which identifies the invitation.
        key: &'a str,
    },
    /// The user cannot accept it, for this reason.
    Refused {
        /// The reason, as a sentence.
        reason: &'a str,
        /// Whether another account could accept it.
        for_another: bool,
    },
    /// The user belongs to the organization now.
    Joined {
        /// The organization's identifier.
        id: &'a str,
        /// The organization's name.
        organization: &'a str,
        /// The user's role.
        role: &'a str,
    },
}

impl Join<'_> {
    fn title(&self) -> String {
        match self.state {
            JoinState::Invited { organization, .. } => format!("Join {organization}"),
            JoinState::Refused { .. } => "This invitation cannot be used".to_owned(),
            JoinState::Joined { organization, .. } => format!("Welcome to {organization}"),
        }
    }

    /// Whether it helps to sign in as somebody else.
    const fn is_for_another(&self) -> bool {
        matches!(self.state, JoinState::Invited { .. } | JoinState::Refused { for_another: true, .. })
    }
}

/// A role with its article, such as `an admin`.
pub(crate) fn with_article(role: &str) -> String {
    let article = if role.starts_with(['a', 'o']) { "an" } else { "a" };
    format!("{article} {role}")
}

in_english!(Invited, Join<'_>);
