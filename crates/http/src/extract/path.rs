//! Path parameters.

use axum::extract::{FromRequestParts, Path};
use http::request::Parts;
use serde::de::DeserializeOwned;

use crate::error::ApiError;

/// The path parameters as text. A malformed identifier counts as unknown.
pub(crate) struct PathOf<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for PathOf<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Path(parameters) = Path::from_request_parts(parts, state).await.map_err(|_| ApiError::NoRoute)?;
        Ok(Self(parameters))
    }
}
