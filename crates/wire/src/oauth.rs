//! Signing in with a provider.

use kalends_accounts::oauth::{ReturnTo, parse_terms_version};
use kalends_kernel::FieldErrors;
use serde::Deserialize;
use utoipa::IntoParams;

/// What is told when an attempt begins.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SignInWith {
    /// The current terms, see `GET /v1/auth/terms/current`: what somebody new accepts.
    #[param(example = "2026-01-01", min_length = 1, max_length = 64)]
    pub tos_version: Option<String>,
    /// The page to return to: `connect` or `connections`; without it, the console.
    #[param(example = "connect", pattern = "^(connect|connections)$")]
    pub return_to: Option<String>,
}

impl SignInWith {
    /// The version of the terms, and the page to return to.
    ///
    /// # Errors
    /// A version out of bounds, or an unknown page.
    pub fn parse(&self) -> Result<(Option<String>, Option<ReturnTo>), FieldErrors> {
        let terms = self.tos_version.as_deref().map(parse_terms_version).transpose()?;
        let page = self.return_to.as_deref().map(|name| ReturnTo::parse("return_to", name)).transpose()?;
        Ok((terms, page))
    }
}

/// What a provider sends a browser back with.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SignInAnswer {
    /// What the attempt began with.
    pub state: Option<String>,
    /// The code.
    pub code: Option<String>,
    /// The provider's error in place of a code.
    pub error: Option<String>,
    /// The provider, where it says so (RFC 9207).
    pub iss: Option<String>,
}
