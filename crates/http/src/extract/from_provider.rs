//! What a provider's redirect brings back.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use http::{header, request::Parts};
use kalends_accounts::{oauth::Callback, state_cookie};
use url::form_urlencoded;

/// The maximum number of parameters that are examined. Providers add their own.
const PARAMETERS_MAX: usize = 64;

/// The parameters of a callback, and the cookie of the attempt that it ends.
pub(crate) struct FromProvider {
    state: Option<String>,
    code: Option<String>,
    error: Option<String>,
    issuer: Option<String>,
    cookie: Option<String>,
}

impl FromProvider {
    /// The values to check.
    pub(crate) fn callback(&self) -> Callback<'_> {
        Callback {
            state: self.state.as_deref(),
            code: self.code.as_deref(),
            error: self.error.as_deref(),
            issuer: self.issuer.as_deref(),
            cookie: self.cookie.as_deref(),
        }
    }

    /// Whether the callback belongs to the cookie of this browser. If not, another attempt may still be in progress,
    /// and this callback must not end it.
    pub(crate) fn is_ours(&self) -> bool {
        self.cookie.is_some() && self.cookie == self.state
    }
}

impl<S: Sync> FromRequestParts<S> for FromProvider {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let query = parts.uri.query().unwrap_or_default();
        let parameters: Vec<_> = form_urlencoded::parse(query.as_bytes()).into_owned().take(PARAMETERS_MAX).collect();
        let cookie_lines = parts.headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        Ok(Self {
            state: only(&parameters, "state"),
            code: only(&parameters, "code"),
            error: only(&parameters, "error"),
            issuer: only(&parameters, "iss"),
            cookie: state_cookie(cookie_lines).map(str::to_owned),
        })
    }
}

/// The value of a parameter that occurs once. A repeated parameter counts as missing.
fn only(parameters: &[(String, String)], name: &str) -> Option<String> {
    let mut values = parameters.iter().filter(|(other, _)| other == name).map(|(_, value)| value);
    let first = values.next()?;
    values.next().is_none().then(|| first.clone())
}
