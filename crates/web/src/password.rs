//! The pages on which a user sets a password by email. They are in English, like the console, and work without scripts.

use askama::Template;

use crate::{
    english::in_english,
    field::{CodeField, Field, NEW_PASSWORD},
};

const WRONG: &str = "This code does not work: it is wrong, used, older than an hour, or replaced by a later one.";

/// The page on which a user asks for an email that sets the password.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "forgot.html")]
pub struct Forgot<'a> {
    /// The address that was typed.
    pub email: &'a str,
    /// What is wrong with the address.
    pub wrong: Option<&'a str>,
    /// Why no email can be sent now.
    pub problem: Option<&'a str>,
    /// Whether mail is only written to files, so that the server sends none.
    pub keeps_mail: bool,
}

impl Forgot<'_> {
    fn fields(&self) -> [Field<'_>; 1] {
        [Field { focus: self.wrong.is_some(), ..Field::email(self.email, self.wrong) }]
    }
}

/// The page that a user sees after asking for the email. It does not say whether an account has the address.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "forgotten.html")]
pub struct Forgotten<'a> {
    /// The address that was typed.
    pub email: &'a str,
    /// Whether mail is only written to files, so that the server sends none.
    pub keeps_mail: bool,
}

/// The page on which a user sets the password with the code from the email.
#[derive(Debug, Clone, Copy, Template, Default)]
#[template(path = "reset.html")]
pub struct Reset<'a> {
    /// The code that was sent. It is shown only if it may work.
    pub code: &'a str,
    /// Whether the code does not work.
    pub wrong: bool,
    /// What is wrong with the password.
    pub wrong_password: Option<&'a str>,
    /// Why the password cannot be set now.
    pub problem: Option<&'a str>,
}

impl Reset<'_> {
    fn code(&self) -> CodeField<'_> {
        let value = if self.wrong { "" } else { self.code };
        CodeField { value, ..CodeField::new("token", self.wrong, WRONG) }
    }

    fn fields(&self) -> [Field<'_>; 1] {
        let password = Field::new_password(NEW_PASSWORD, self.wrong_password);
        [Field { focus: self.wrong_password.is_some(), ..password }]
    }

    const fn has_problems(&self) -> bool {
        self.wrong || self.wrong_password.is_some() || self.problem.is_some()
    }
}

/// The page that a user sees when the password is set.
#[derive(Debug, Clone, Copy, Template)]
#[template(path = "password_set.html")]
pub struct PasswordSet;

in_english!(Forgot<'_>, Forgotten<'_>, Reset<'_>, PasswordSet);
