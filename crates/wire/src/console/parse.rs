//! Parses the requests into values of the domain, and builds the answers from them.

use kalends_accounts::{self as accounts, Email, OrgName, Organization, Password, Role, UserName, Waitlist};
use kalends_calendars::Patch;
use kalends_kernel::{FieldErrors, bounded_text};
use kalends_time::Timestamp;

use super::{
    ChangePassword, ConsoleSignUp, EmailVerified, ForgotPassword, Me, Org, ResetPassword, SignIn, UpdateMe, User,
    VerifyEmail,
};
use crate::patch::{nothing_to_change, set};

/// The maximum length of a mailed token, in characters. Ours have 43.
pub(crate) const MAILED_TOKEN_MAX: usize = 256;

/// A sign-up with checked fields. The terms are checked later.
#[derive(Debug, Clone)]
pub struct CheckedConsoleSignUp {
    /// The address.
    pub email: Email,
    /// The password.
    pub password: Password,
    /// The user's name.
    pub name: UserName,
    /// The organization's name.
    pub org_name: Option<OrgName>,
    /// The version of the accepted terms.
    pub tos_version: String,
    /// The token of an invitation.
    pub invitation_token: Option<String>,
}

impl ConsoleSignUp {
    /// Checks every field.
    ///
    /// # Errors
    /// Lists every invalid field.
    pub fn parse(self) -> Result<CheckedConsoleSignUp, FieldErrors> {
        let mut errors = FieldErrors::default();
        let email = errors.take(Email::parse("email", &self.email));
        let password = errors.take(Password::parse("password", self.password));
        let name = errors.take(UserName::parse("name", &self.name));
        let org_name = self.org_name.as_deref().map(|name| OrgName::parse("org_name", name)).transpose();
        let org_name = errors.take(org_name);
        let tos_version = errors.take(bounded_text("tos_version", &self.tos_version, 1, 64));
        let token = self.invitation_token.as_deref();
        let token = token.map(|token| bounded_text("invitation_token", token, 1, MAILED_TOKEN_MAX)).transpose();
        let token = errors.take(token);
        match (email, password, name, org_name, tos_version, token) {
            (Some(email), Some(password), Some(name), Some(org_name), Some(tos_version), Some(invitation_token)) => {
                Ok(CheckedConsoleSignUp { email, password, name, org_name, tos_version, invitation_token })
            }
            _ => Err(errors),
        }
    }
}

impl SignIn {
    /// Returns the address and the password to try. The password is `None` if it is longer than any valid password.
    ///
    /// # Errors
    /// If the address is invalid.
    pub fn parse(self) -> Result<(Email, Option<Password>), FieldErrors> {
        Ok((Email::parse("email", &self.email)?, Password::attempt(self.password)))
    }
}

impl ChangePassword {
    /// Returns the current password to try, and the new one.
    ///
    /// # Errors
    /// If the new password is out of bounds.
    pub fn parse(self) -> Result<(Option<Password>, Password), FieldErrors> {
        let new = Password::parse("new_password", self.new_password)?;
        Ok((Password::attempt(self.current_password), new))
    }
}

impl ForgotPassword {
    /// Checks the address.
    ///
    /// # Errors
    /// If the address is invalid.
    pub fn parse(&self) -> Result<Email, FieldErrors> {
        Ok(Email::parse("email", &self.email)?)
    }
}

impl ResetPassword {
    /// Returns the token and the password.
    ///
    /// # Errors
    /// Lists every invalid field.
    pub fn parse(self) -> Result<(String, Password), FieldErrors> {
        let mut errors = FieldErrors::default();
        let token = errors.take(bounded_text("token", &self.token, 1, MAILED_TOKEN_MAX));
        let password = errors.take(Password::parse("password", self.password));
        match (token, password) {
            (Some(token), Some(password)) => Ok((token, password)),
            _ => Err(errors),
        }
    }
}

impl VerifyEmail {
    /// Returns the token.
    ///
    /// # Errors
    /// If it cannot be a token.
    pub fn parse(self) -> Result<String, FieldErrors> {
        Ok(bounded_text("token", &self.token, 1, MAILED_TOKEN_MAX)?)
    }
}

impl EmailVerified {
    /// The address of a user, which was proved at that time.
    pub fn new(user: &accounts::User, email_verified_at: Timestamp) -> Self {
        Self { email: user.email.as_str().to_owned(), email_verified_at }
    }
}

impl UpdateMe {
    /// Returns the new name.
    ///
    /// # Errors
    /// If the field is missing or invalid.
    pub fn parse(self) -> Result<UserName, FieldErrors> {
        match set("name", self.name, |name: String| UserName::parse("name", &name))? {
            Patch::Set(name) => Ok(name),
            Patch::Keep => Err(nothing_to_change("name").into()),
        }
    }
}

impl From<&accounts::User> for User {
    fn from(user: &accounts::User) -> Self {
        Self {
            id: user.id,
            email: user.email.as_str().to_owned(),
            email_verified_at: user.email_verified_at,
            name: user.name.as_str().to_owned(),
            has_password: user.password.is_some(),
            created_at: user.created_at,
            updated_at: user.updated_at,
        }
    }
}

impl From<&Organization> for Org {
    fn from(organization: &Organization) -> Self {
        Self {
            id: organization.id,
            name: organization.name.as_str().to_owned(),
            plan: organization.plan.public_name(),
            is_waitlisted: organization.waitlist != Waitlist::Active,
            created_at: organization.created_at,
        }
    }
}

impl Me {
    /// Builds the answer from the user and the organization that the session is switched to, with the user's role
    /// there.
    pub fn new(user: &accounts::User, organization: &Organization, role: Role) -> Self {
        Self {
            user: user.into(),
            org: organization.into(),
            role: role.as_str(),
            plan: organization.plan.public_name(),
            accepted_terms_version: organization.accepted.as_ref().map(|accepted| accepted.version.clone()),
        }
    }
}
