//! The page about the user's own account. It is in English, like the console, and works without scripts.

use askama::Template;
use kalends_time::Timestamp;

use crate::{
    english::in_english,
    field::{Field, USER_NAME},
    problems::Problems,
    shell::{Done, Shell},
    time::in_utc,
};

/// The fields of the forms about the account.
pub const ACCOUNT_FIELDS: [&str; 3] = ["name", "current_password", "new_password"];

/// The user's own account.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "own_account.html")]
pub struct OwnAccount<'a> {
    /// The frame, with the user's address.
    pub shell: &'a Shell,
    /// What a form did.
    pub done: Done,
    /// When the user proved the address.
    pub proved_at: Option<Timestamp>,
    /// Whether the user can sign in with a password.
    pub has_password: bool,
    /// Whether a sign-in with the password needs a code too.
    pub second_factor: bool,
    /// The random key of the form that changes the password.
    pub once: &'a str,
    /// What the field with the name contains: the name, or what was typed.
    pub name: &'a str,
    /// What is wrong with a form.
    pub problems: &'a Problems,
}

impl OwnAccount<'_> {
    fn name_field(&self) -> Field<'_> {
        Field { autocomplete: "name", ..Field::text("name", "Your name", self.name, USER_NAME).checked(self.problems) }
    }

    fn password_fields(&self) -> [Field<'_>; 2] {
        let field = |name, label, autocomplete| Field {
            name,
            autocomplete,
            ..Field::new_password(label, self.problems.of(name))
        };
        [
            field("current_password", "Current password", "current-password"),
            field("new_password", "New password, 10 characters or more", "new-password"),
        ]
    }

    fn proved(&self) -> String {
        self.proved_at.map(in_utc).unwrap_or_default()
    }
}

in_english!(OwnAccount<'_>);
