//! Who calls, as [`crate::enter`] left it.

use axum::extract::FromRequestParts;
use http::request::Parts;
use kalends_app::{Actor, Request};

use crate::error::ApiError;

/// An authenticated caller.
pub(crate) struct Caller(pub Actor);

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        // A route outside the table of operations is a mistake of ours; a test finds it.
        parts.extensions.remove::<Actor>().map(Self).ok_or(ApiError::Internal)
    }
}

/// A caller without a key.
pub(crate) struct Anonymous(pub Request);

impl<S: Sync> FromRequestParts<S> for Anonymous {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parts.extensions.remove::<Request>().map(Self).ok_or(ApiError::Internal)
    }
}
