//! The parameters of a request for tokens, which a client sends as a form.

use axum::extract::Request;
use kalends_app::{GrantError, Request as Called};

use super::failure::Failure;
use crate::{
    error::ApiError,
    extract::read_up_to,
    pages::{Fields, is_form},
};

/// The maximum size of a body, in bytes. An address to return to can have 2,000, each of which may be sent as three.
const BODY_MAX: usize = 16 << 10;

/// The parameters that are read. Others are ignored.
const NAMES: [&str; 9] =
    ["grant_type", "client_id", "code", "redirect_uri", "code_verifier", "refresh_token", "scope", "resource", "token"];

/// The parameters, each of which was sent at most once.
pub(super) struct Parameters(Fields);

impl Parameters {
    /// Reads the parameters of a request, and what the entrance knows about it.
    pub(super) async fn of(mut request: Request) -> Result<(Called, Self), Failure> {
        let called = request.extensions_mut().remove::<Called>().ok_or(ApiError::Internal)?;
        if !is_form(request.headers()) {
            let description = "send the parameters with Content-Type: application/x-www-form-urlencoded";
            return Err(GrantError::request(description).into());
        }
        let fields = match read_up_to(request.into_body(), BODY_MAX).await {
            Ok(body) => Fields::of_form(&body)?,
            Err(ApiError::TooLarge(most)) => {
                return Err(GrantError::request(format!("the body must be at most {most} bytes long")).into());
            }
            Err(error) => return Err(error.into()),
        };
        match NAMES.into_iter().find(|name| fields.all(name).nth(1).is_some()) {
            Some(name) => Err(GrantError::request(format!("{name} must be sent once")).into()),
            None => Ok((called, Self(fields))),
        }
    }

    /// The parameter, unless it was left out or is empty.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        Some(self.0.get(name)).filter(|value| !value.is_empty()).map(str::to_owned)
    }

    /// The parameter.
    pub(super) fn required(&self, name: &str) -> Result<String, GrantError> {
        self.get(name).ok_or_else(|| GrantError::request(format!("{name} is missing")))
    }
}
