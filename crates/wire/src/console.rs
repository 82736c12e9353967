//! Users in the console: sign-up, sign-in, their account and their organizations.

use kalends_kernel::{OrgId, UserId};
use kalends_time::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::Value;

#[cfg(feature = "schema")]
use crate::schemas::{RoleName, ShownPlan};
use crate::{
    derives::ToSchema,
    patch::{Given, given},
};

#[cfg(feature = "parse")]
mod parse;
#[cfg(feature = "parse")]
pub use parse::CheckedConsoleSignUp;
#[cfg(feature = "parse")]
pub(crate) use parse::MAILED_TOKEN_MAX;

/// Reads a text that no error message may repeat.
pub(crate) fn secret<'de, D: Deserializer<'de>>(field: D) -> Result<String, D::Error> {
    match Value::deserialize(field)? {
        Value::String(text) => Ok(text),
        _ => Err(D::Error::custom("must be a string")),
    }
}

/// As [`secret`], for a field that may be left out.
fn secret_if_any<'de, D: Deserializer<'de>>(field: D) -> Result<Option<String>, D::Error> {
    secret(field).map(Some)
}

/// The fields of a user's sign-up.
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
    /// The password: 10-128 characters of any kind.
    #[serde(deserialize_with = "secret")]
    #[schema(min_length = 10, max_length = 128, format = Password)]
    pub password: String,
    /// Your name, 1-100 characters.
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    /// The organization's name, 1-255 characters. Defaults to your name.
    #[schema(min_length = 1, max_length = 255)]
    pub org_name: Option<String>,
    /// The version of the current terms (`GET /v1/auth/terms/current`). Signing up accepts them.
    pub tos_version: String,
    /// The token of an invitation that was mailed to the address. It proves the address. A server on which sign-up is
    /// not open may require it. Accept the invitation afterwards.
    #[serde(default, deserialize_with = "secret_if_any")]
    #[schema(min_length = 1, max_length = 256, nullable = false)]
    pub invitation_token: Option<String>,
}

/// The fields of a sign-in.
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
    /// A code of your authenticator app, or a recovery code. It is needed if your second factor is on. Case, spaces and
    /// hyphens do not matter.
    #[serde(default, deserialize_with = "secret_if_any")]
    #[schema(min_length = 1, max_length = 64, nullable = false)]
    pub code: Option<String>,
}

/// The fields with which you begin to set up a second factor.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "password": "correct horse battery staple" }))]
pub struct StartSecondFactor {
    /// Your password.
    #[serde(deserialize_with = "secret")]
    #[schema(format = Password)]
    pub password: String,
}

/// A second factor that waits for its first code. The secret is shown only in this answer.
#[derive(Clone, Serialize, ToSchema)]
pub struct SecondFactorStarted {
    /// The secret for an authenticator app, in base32.
    #[schema(example = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")]
    pub secret: String,
    /// The same as an address that apps read from a QR code.
    #[schema(
        example = "otpauth://totp/Kalends:ada%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Kalends\
                        &algorithm=SHA1&digits=6&period=30"
    )]
    pub otpauth_url: String,
}

/// A code of your second factor.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "code": "492039" }))]
pub struct SecondFactorCode {
    /// A code of your authenticator app, or a recovery code. Case, spaces and hyphens do not matter.
    #[serde(deserialize_with = "secret")]
    #[schema(min_length = 1, max_length = 64)]
    pub code: String,
}

/// Your recovery codes. They are shown only in this answer.
#[derive(Clone, Serialize, ToSchema)]
#[schema(example = json!({ "recovery_codes": ["q7ke-2mzp-vd4a", "h3ws-nc6t-y2bj"] }))]
pub struct RecoveryCodes {
    /// Ten codes. Each works once in place of a code of the app.
    pub recovery_codes: Vec<String>,
}

/// The fields of a change of password.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "current_password": "correct horse battery staple", "new_password": "a fresh start for my horse"
}))]
pub struct ChangePassword {
    /// Your current password.
    #[serde(deserialize_with = "secret")]
    #[schema(format = Password)]
    pub current_password: String,
    /// Your new password: 10-128 characters of any kind.
    #[serde(deserialize_with = "secret")]
    #[schema(min_length = 10, max_length = 128, format = Password)]
    pub new_password: String,
}

/// The address of an account whose password is forgotten.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "email": "ada@example.com" }))]
pub struct ForgotPassword {
    /// The address to sign in with.
    #[schema(max_length = 320, format = Email)]
    pub email: String,
}

/// The answer, which is the same whether or not there is an account.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "message": "If there is an account with the address, a message with the next step is on its way."
}))]
pub struct PasswordForgotten {
    /// A message that is the same for every address.
    pub message: &'static str,
}

/// The fields of a password reset.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "token": "Zk9wQm7cXb2dRt5yHn1vLs8pGf3jKe6aUi4oWqMxEzT", "password": "a fresh start for my horse"
}))]
pub struct ResetPassword {
    /// The token from the email.
    #[serde(deserialize_with = "secret")]
    #[schema(min_length = 1, max_length = 256)]
    pub token: String,
    /// Your new password: 10-128 characters of any kind.
    #[serde(deserialize_with = "secret")]
    #[schema(min_length = 10, max_length = 128, format = Password)]
    pub password: String,
}

/// The fields of a proof of an address.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "token": "Zk9wQm7cXb2dRt5yHn1vLs8pGf3jKe6aUi4oWqMxEzT" }))]
pub struct VerifyEmail {
    /// The token from the email.
    #[serde(deserialize_with = "secret")]
    #[schema(min_length = 1, max_length = 256)]
    pub token: String,
}

/// An address that is proved.
#[derive(Debug, Serialize, ToSchema)]
pub struct EmailVerified {
    /// The address.
    #[schema(example = "ada@example.com")]
    pub email: String,
    /// When it was proved.
    #[schema(value_type = String, format = DateTime)]
    pub email_verified_at: Timestamp,
}

/// The answer to a request for another email that proves your address.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "message": "A message with a link is on its way. It works for 24 hours, and voids the one before."
}))]
pub struct ProofResent {
    /// What happens next.
    pub message: &'static str,
}

/// The fields of your own account that a PATCH can change.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "name": "Ada King" }))]
pub struct UpdateMe {
    /// Your new name, 1-100 characters.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, nullable = false, min_length = 1, max_length = 100)]
    pub name: Given<String>,
}

/// The fields of an organization that a PATCH can change.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "name": "Analytical Engines" }))]
pub struct UpdateOrg {
    /// The organization's new name, 1-255 characters.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>, nullable = false, min_length = 1, max_length = 255)]
    pub name: Given<String>,
}

/// A user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct User {
    /// The identifier, `usr_…`.
    #[schema(value_type = String, example = "usr_01jn8r6v9ke0bt3m5qz2c7xwdf")]
    pub id: UserId,
    /// The email address.
    #[schema(example = "ada@example.com")]
    pub email: String,
    /// When the user proved that they receive mail at the address. Null until then.
    #[schema(value_type = Option<String>, format = DateTime, example = "2026-03-02T09:30:00Z")]
    pub email_verified_at: Option<Timestamp>,
    /// The user's name.
    #[schema(example = "Ada Lovelace")]
    pub name: String,
    /// Whether the user can sign in with a password.
    pub has_password: bool,
    /// Whether a sign-in with the password needs a code too.
    pub second_factor: bool,
    /// When the user signed up.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When one of these fields or the password was last changed.
    #[schema(value_type = String, format = DateTime)]
    pub updated_at: Timestamp,
}

/// An organization, as its members see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Org {
    /// The identifier, `org_…`.
    #[schema(value_type = String, example = "org_01jn8r6v9ke0bt3m5qz2c7xwdg")]
    pub id: OrgId,
    /// The organization's name.
    #[schema(example = "Analytical Engines")]
    pub name: String,
    /// The plan: `free`, `pro` or `scale`.
    #[schema(value_type = ShownPlan, example = "free")]
    pub plan: &'static str,
    /// Whether the organization is on the waiting list.
    #[schema(example = false)]
    pub is_waitlisted: bool,
    /// When the organization was created.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
}

/// The answer to a user's sign-up. The key is shown only in this answer.
#[derive(Serialize, ToSchema)]
pub struct ConsoleSignedUp {
    /// The new organization.
    pub org: Org,
    /// The user, who owns it.
    pub user: User,
    /// The organization's API key.
    #[schema(example = "svc_sk_Zk9wQm7cXb2dRt5yHn1vLs8pGf3jKe6aUi4oWqMxEzT")]
    pub api_key: String,
}

/// The answer to a sign-in.
#[derive(Serialize, ToSchema)]
pub struct SignedIn {
    /// The session's token, which is also in the cookie. Clients without cookies send it as `Authorization: Bearer`.
    #[schema(example = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1c3JfMDEifQ.c2lnbmF0dXJl")]
    pub token: String,
    /// The user who signed in.
    pub user: User,
    /// The organization that the session is switched to.
    pub org: Org,
}

/// The signed-in user.
#[derive(Debug, Serialize, ToSchema)]
pub struct Me {
    /// The user.
    pub user: User,
    /// The organization that the session is switched to.
    pub org: Org,
    /// What the user may do there.
    #[schema(value_type = RoleName, example = "owner")]
    pub role: &'static str,
    /// Its plan: `free`, `pro` or `scale`.
    #[schema(value_type = ShownPlan, example = "free")]
    pub plan: &'static str,
    /// The version of the terms that the organization accepted last. Null if it never did.
    #[schema(example = "2026-01-01")]
    pub accepted_terms_version: Option<String>,
}

/// An organization that the user belongs to.
#[derive(Debug, Serialize, ToSchema)]
pub struct OwnOrg {
    /// The organization.
    #[serde(flatten)]
    pub org: Org,
    /// What the user may do there.
    #[schema(value_type = RoleName, example = "owner")]
    pub role: &'static str,
    /// When the user became a member.
    #[schema(value_type = String, format = DateTime)]
    pub member_since: Timestamp,
    /// Whether the session is switched to it.
    pub active: bool,
}

/// The organizations that the user belongs to.
#[derive(Debug, Serialize, ToSchema)]
pub struct OwnOrgs {
    /// The organizations, in the order in which the user became a member.
    pub orgs: Vec<OwnOrg>,
}

/// A key that replaces the earlier ones. It is shown only in this answer.
#[derive(Serialize, ToSchema)]
pub struct RegeneratedKey {
    /// The key itself. Store it now: it is not shown again.
    #[schema(example = "svc_sk_Zk9wQm7cXb2dRt5yHn1vLs8pGf3jKe6aUi4oWqMxEzT")]
    pub key: String,
    /// The first 20 characters of the key.
    #[schema(example = "svc_sk_Zk9wQm7cXb2dR")]
    pub key_prefix: String,
}
