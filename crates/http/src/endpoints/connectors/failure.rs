//! The errors of the endpoints.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use kalends_app::{GrantError, NotGranted};

pub(super) use crate::oauth_error::UNCACHED;
use crate::{error::ApiError, oauth_error, pages::Finished};

/// Why an endpoint has no other answer.
pub(super) enum Failure {
    /// An error of OAuth.
    Wrong(GrantError),
    /// Any other error. The envelope gives it the same form.
    Other(ApiError),
}

impl From<GrantError> for Failure {
    fn from(error: GrantError) -> Self {
        Self::Wrong(error)
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self::Other(error)
    }
}

impl From<NotGranted> for Failure {
    fn from(error: NotGranted) -> Self {
        match error {
            NotGranted::Wrong(error) => Self::Wrong(error),
            NotGranted::Refused(refusal) => Self::Other(refusal.into()),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let error = match self {
            Self::Wrong(error) => error,
            Self::Other(error) => return error.into_response(),
        };
        let status = match error.code {
            GrantError::CLIENT => StatusCode::UNAUTHORIZED,
            GrantError::UNAVAILABLE => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::BAD_REQUEST,
        };
        let mut response = oauth_error::answer(status, error);
        response.extensions_mut().insert(Finished);
        response
    }
}
