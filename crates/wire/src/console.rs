//! Humans in the console: signing up and in, who they are, and what they own.

use kalends_accounts::{self as accounts, Email, OrgName, Organization, Password, UserName, Waitlist};
use kalends_calendars::Patch;
use kalends_kernel::{FieldErrors, OrgId, Timestamp, UserId, bounded_text};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    patch::{Given, given, nothing_to_change, set},
    schemas::ShownPlan,
};

/// The most characters of a token that sets a password; ours have 43.
const RESET_TOKEN_MAX: usize = 256;

/// Reads a text that no error may repeat.
fn secret<'de, D: Deserializer<'de>>(field: D) -> Result<String, D::Error> {
    match Value::deserialize(field)? {
        Value::String(text) => Ok(text),
        _ => Err(D::Error::custom("must be a string")),
    }
}

/// What a human needs to sign up.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "email": "ada@example.com", "password": "correct horse battery staple", "name": "Ada Lovelace",
    "org_name": "Analytical Engines", "tos_version": "2026-01-01"
}))]
pub struct ConsoleSignUp {
    /// The address to sign in with.
    #[schema(max_length = 320, format = Email)]
    pub email: String,
    /// 10-128 characters of any kind.
    #[serde(deserialize_with = "secret")]
    #[schema(min_length = 10, max_length = 128, format = Password)]
    pub password: String,
    /// The human's name: 1-100 characters.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    /// The organization's name: 1-255 characters; the human's where it is left out.
    #[schema(min_length = 1, max_length = 255)]
    pub org_name: Option<String>,
    /// The current terms, see `GET /v1/auth/terms/current`.
    pub tos_version: String,
}

/// A sign-up whose fields are checked; the terms are not yet.
#[derive(Debug, Clone)]
pub struct CheckedConsoleSignUp {
    /// The address.
    pub email: Email,
    /// The password.
    pub password: Password,
    /// The human's name.
    pub name: UserName,
    /// The organization's name.
    pub org_name: Option<OrgName>,
    /// The terms that are accepted.
    pub tos_version: String,
}

impl ConsoleSignUp {
    /// Checks every field.
    ///
    /// # Errors
    /// All fields at fault.
    pub fn parse(self) -> Result<CheckedConsoleSignUp, FieldErrors> {
        let mut errors = FieldErrors::default();
        let email = errors.take(Email::parse("email", &self.email));
        let password = errors.take(Password::parse("password", self.password));
        let name = errors.take(UserName::parse("name", &self.name));
        let org_name = self.org_name.as_deref().map(|name| OrgName::parse("org_name", name)).transpose();
        let org_name = errors.take(org_name);
        let tos_version = errors.take(bounded_text("tos_version", &self.tos_version, 1, 64));
        match (email, password, name, org_name, tos_version) {
            (Some(email), Some(password), Some(name), Some(org_name), Some(tos_version)) => {
                Ok(CheckedConsoleSignUp { email, password, name, org_name, tos_version })
            }
            _ => Err(errors),
        }
    }
}

/// What a human needs to sign in.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "email": "ada@example.com", "password": "correct horse battery staple" }))]
pub struct SignIn {
    /// The address.
    #[schema(max_length = 320, format = Email)]
    pub email: String,
    /// The password.
    #[serde(deserialize_with = "secret")]
    #[schema(format = Password)]
    pub password: String,
}

impl SignIn {
    /// The address, and the password as it is tried; `None` for one that is too long to be anybody's.
    ///
    /// # Errors
    /// The address is none.
    pub fn parse(self) -> Result<(Email, Option<Password>), FieldErrors> {
        Ok((Email::parse("email", &self.email)?, Password::attempt(self.password)))
    }
}

/// Another password.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "current_password": "correct horse battery staple", "new_password": "a fresh start for my horse"
}))]
pub struct ChangePassword {
    /// The password until now.
    #[serde(deserialize_with = "secret")]
    #[schema(format = Password)]
    pub current_password: String,
    /// The password from now on: 10-128 characters of any kind.
    #[serde(deserialize_with = "secret")]
    #[schema(min_length = 10, max_length = 128, format = Password)]
    pub new_password: String,
}

impl ChangePassword {
    /// The password until now, as it is tried, and the new one.
    ///
    /// # Errors
    /// The new one is out of bounds.
    pub fn parse(self) -> Result<(Option<Password>, Password), FieldErrors> {
        let new = Password::parse("new_password", self.new_password)?;
        Ok((Password::attempt(self.current_password), new))
    }
}

/// The address of an account whose password is to be set.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "email": "ada@example.com" }))]
pub struct ForgotPassword {
    /// The address to sign in with.
    #[schema(max_length = 320, format = Email)]
    pub email: String,
}

impl ForgotPassword {
    /// Checks the address.
    ///
    /// # Errors
    /// Its syntax is wrong.
    pub fn parse(&self) -> Result<Email, FieldErrors> {
        Ok(Email::parse("email", &self.email)?)
    }
}

/// The answer for every address, whether or not there is an account.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "message": "If there is an account with the address, a message with the next step is on its way."
}))]
pub struct PasswordForgotten {
    /// The same for every address.
    pub message: &'static str,
}

/// A password that is set with a mailed token.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "token": "Zk9wQm7cXb2dRt5yHn1vLs8pGf3jKe6aUi4oWqMxEzT", "password": "a fresh start for my horse"
}))]
pub struct ResetPassword {
    /// The token of the mail.
    #[serde(deserialize_with = "secret")]
    #[schema(min_length = 1, max_length = 256)]
    pub token: String,
    /// The password from now on: 10-128 characters of any kind.
    #[serde(deserialize_with = "secret")]
    #[schema(min_length = 10, max_length = 128, format = Password)]
    pub password: String,
}

impl ResetPassword {
    /// The token and the password.
    ///
    /// # Errors
    /// Every field that is out of bounds.
    pub fn parse(self) -> Result<(String, Password), FieldErrors> {
        let mut errors = FieldErrors::default();
        let token = errors.take(bounded_text("token", &self.token, 1, RESET_TOKEN_MAX));
        let password = errors.take(Password::parse("password", self.password));
        match (token, password) {
            (Some(token), Some(password)) => Ok((token, password)),
            _ => Err(errors),
        }
    }
}

/// What a PATCH of oneself may change.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "name": "Ada King" }))]
pub struct UpdateMe {
    /// 1-100 characters.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, nullable = false, min_length = 1, max_length = 100)]
    pub name: Given<String>,
}

impl UpdateMe {
    /// The new name.
    ///
    /// # Errors
    /// No field, or one at fault.
    pub fn parse(self) -> Result<UserName, FieldErrors> {
        match set("name", self.name, |name: String| UserName::parse("name", &name))? {
            Patch::Set(name) => Ok(name),
            Patch::Keep => Err(nothing_to_change("name").into()),
        }
    }
}

/// A human.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct User {
    /// `usr_…`
    #[schema(value_type = String, example = "usr_01jn8r6v9ke0bt3m5qz2c7xwdf")]
    pub id: UserId,
    /// The address.
    #[schema(example = "ada@example.com")]
    pub email: String,
    /// Whether it was proved that they read mail there.
    #[schema(example = false)]
    pub email_verified: bool,
    /// The name.
    #[schema(example = "Ada Lovelace")]
    pub name: String,
    /// Whether they can sign in with a password.
    pub has_password: bool,
    /// When they signed up.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When one of these fields last changed, or the password.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

impl From<&accounts::User> for User {
    fn from(user: &accounts::User) -> Self {
        Self {
            id: user.id,
            email: user.email.as_str().to_owned(),
            email_verified: user.email_verified_at.is_some(),
            name: user.name.as_str().to_owned(),
            has_password: user.password.is_some(),
            created_at: user.created_at,
            updated_at: user.updated_at,
        }
    }
}

/// An organization as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Org {
    /// `org_…`
    #[schema(value_type = String, example = "org_01jn8r6v9ke0bt3m5qz2c7xwdg")]
    pub id: OrgId,
    /// The name.
    #[schema(example = "Analytical Engines")]
    pub name: String,
    /// The plan: `free`, `pro` or `scale`.
    #[schema(value_type = ShownPlan, example = "free")]
    pub plan: &'static str,
    /// Whether it is on the waiting list.
    #[schema(example = false)]
    pub is_waitlisted: bool,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

impl From<&Organization> for Org {
    fn from(organization: &Organization) -> Self {
        Self {
            id: organization.id,
            name: organization.name.as_str().to_owned(),
            plan: organization.plan.shown(),
            is_waitlisted: organization.waitlist != Waitlist::Active,
            created_at: organization.created_at,
        }
    }
}

/// The answer to a human's sign-up. The key is shown this once.
#[derive(Serialize, ToSchema)]
pub struct ConsoleSignedUp {
    /// The organization.
    pub org: Org,
    /// The human, who owns it.
    pub user: User,
    /// The organization's key.
    #[schema(example = "svc_sk_Zk9wQm7cXb2dRt5yHn1vLs8pGf3jKe6aUi4oWqMxEzT")]
    pub api_key: String,
}

/// The answer to a sign-in.
#[derive(Serialize, ToSchema)]
pub struct SignedIn {
    /// The session's token, which the cookie holds too: send it as `Authorization: Bearer` where there are no cookies.
    #[schema(example = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1c3JfMDEifQ.c2lnbmF0dXJl")]
    pub token: String,
    /// The human.
    pub user: User,
    /// The organization that is open.
    pub org: Org,
}

/// Who is signed in.
#[derive(Debug, Serialize, ToSchema)]
pub struct Me {
    /// The human.
    pub user: User,
    /// The organization that is open.
    pub org: Org,
    /// Its plan: `free`, `pro` or `scale`.
    #[schema(value_type = ShownPlan, example = "free")]
    pub plan: &'static str,
    /// The terms that it accepted last; null where it never did.
    #[schema(example = "2026-01-01")]
    pub accepted_terms_version: Option<String>,
}

impl Me {
    /// The human in front of an organization of theirs.
    pub fn new(user: &accounts::User, organization: &Organization) -> Self {
        Self {
            user: user.into(),
            org: organization.into(),
            plan: organization.plan.shown(),
            accepted_terms_version: organization.accepted.as_ref().map(|accepted| accepted.version.clone()),
        }
    }
}

/// An organization of a human.
#[derive(Debug, Serialize, ToSchema)]
pub struct OwnedOrg {
    /// The organization.
    #[serde(flatten)]
    pub org: Org,
    /// Since when it is theirs.
    #[schema(value_type = String, format = DateTime)]
    pub owned_since: Timestamp,
    /// Whether this session is switched to it.
    pub active: bool,
}

/// Everything that a human owns.
#[derive(Debug, Serialize, ToSchema)]
pub struct OwnedOrgs {
    /// The organizations, the longest owned first.
    pub orgs: Vec<OwnedOrg>,
}

/// A key in place of those before. It is shown this once.
#[derive(Serialize, ToSchema)]
pub struct RegeneratedKey {
    /// The key itself.
    #[schema(example = "svc_sk_Zk9wQm7cXb2dRt5yHn1vLs8pGf3jKe6aUi4oWqMxEzT")]
    pub key: String,
    /// Its first 20 characters.
    #[schema(example = "svc_sk_Zk9wQm7cXb2dR")]
    pub key_prefix: String,
}
