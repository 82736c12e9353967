//! Sign-in with a provider.

use serde::Deserialize;

use crate::derives::IntoParams;

#[cfg(feature = "parse")]
mod parse;

/// The parameters that start a sign-in with a provider.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SignInWith {
    /// The version of the current terms (`GET /v1/auth/terms/current`). A new user accepts them by signing in.
    #[param(example = "2026-01-01", min_length = 1, max_length = 64)]
    pub tos_version: Option<String>,
    /// The page to return to: `connect`, `connections`, `join`, or the path of a page of the console with its query,
    /// such as `/console/agents`. Defaults to the console.
    #[param(example = "connect", pattern = "^(connect|connections|join|/console/[!-~]{1,503})$")]
    pub return_to: Option<String>,
}

/// The parameters with which a provider redirects the browser back.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SignInAnswer {
    /// The state that the sign-in began with.
    pub state: Option<String>,
    /// The authorization code.
    pub code: Option<String>,
    /// The provider's error, which replaces the code.
    pub error: Option<String>,
    /// The provider, if it identifies itself (RFC 9207).
    pub iss: Option<String>,
}
