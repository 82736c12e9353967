//! Parses the requests into values of the domain, and builds the answers from them.

use kalends_accounts::{
    self as accounts, Email, FACTOR_CODE_MAX, OrgName, Organization, Password, RecoveryCode, Role, TotpSecret,
    UserName, Waitlist,
};
use kalends_calendars::Patch;
use kalends_kernel::{FieldError, FieldErrors, bounded_text};
use kalends_time::Timestamp;

use super::{
    ChangePassword, ConsoleSignUp, EmailVerified, ForgotPassword, Me, Org, RecoveryCodes, ResetPassword,
    SecondFactorCode, SecondFactorStarted, SignIn, StartSecondFactor, UpdateMe, UpdateOrg, User, VerifyEmail,
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
    /// Returns the address, and the password and the code to try. The password is `None` if it is longer than any valid
    /// password.
    ///
    /// # Errors
    /// Lists every invalid field.
    pub fn parse(self) -> Result<(Email, Option<Password>, Option<String>), FieldErrors> {
        let mut errors = FieldErrors::default();
        let email = errors.take(Email::parse("email", &self.email));
        let code = errors.take(self.code.as_deref().map(factor_code).transpose());
        match (email, code) {
            (Some(email), Some(code)) => Ok((email, Password::attempt(self.password), code)),
            _ => Err(errors),
        }
    }
}

/// A code of a second factor that may be tried.
fn factor_code(code: &str) -> Result<String, FieldError> {
    bounded_text("code", code, 1, FACTOR_CODE_MAX)
}

impl StartSecondFactor {
    /// Returns the password to try; `None` if it is longer than any valid password.
    pub fn parse(self) -> Option<Password> {
        Password::attempt(self.password)
    }
}

impl SecondFactorStarted {
    /// The secret, for the account with that address.
    pub fn new(secret: &TotpSecret, email: &Email) -> Self {
        Self { secret: secret.base32(), otpauth_url: secret.otpauth_url(email) }
    }
}

impl SecondFactorCode {
    /// Returns the code to try.
    ///
    /// # Errors
    /// If it is empty or too long.
    pub fn parse(&self) -> Result<String, FieldErrors> {
        Ok(factor_code(&self.code)?)
    }
}

impl RecoveryCodes {
    /// Shows the codes.
    pub fn new(codes: &[RecoveryCode]) -> Self {
        Self { recovery_codes: codes.iter().map(|code| code.reveal().to_owned()).collect() }
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

impl UpdateOrg {
    /// Returns the new name.
    ///
    /// # Errors
    /// If the field is missing or invalid.
    pub fn parse(self) -> Result<OrgName, FieldErrors> {
        match set("name", self.name, |name: String| OrgName::parse("name", &name))? {
            Patch::Set(name) => Ok(name),
            Patch::Keep => Err(nothing_to_change("name").into()),
        }
    }
}

impl User {
    /// Builds the answer from the user. `second_factor` says whether the user's second factor is on.
    pub fn new(user: &accounts::User, second_factor: bool) -> Self {
        Self {
            id: user.id,
            email: user.email.as_str().to_owned(),
            email_verified_at: user.email_verified_at,
            name: user.name.as_str().to_owned(),
            has_password: user.password.is_some(),
            second_factor,
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
    /// there. `second_factor` says whether the user's second factor is on.
    pub fn new(user: &accounts::User, second_factor: bool, organization: &Organization, role: Role) -> Self {
        Self {
            user: User::new(user, second_factor),
            org: organization.into(),
            role: role.as_str(),
            plan: organization.plan.public_name(),
            accepted_terms_version: organization.accepted.as_ref().map(|accepted| accepted.version.clone()),
        }
    }
}
