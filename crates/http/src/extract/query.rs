//! Query parameters.

use axum::extract::FromRequestParts;
use http::request::Parts;
use kalends_kernel::FieldError;
use serde::de::DeserializeOwned;
use url::form_urlencoded;

use super::unknown::field_error;
use crate::error::ApiError;

/// The most parameters of one query.
const PARAMETERS_MAX: usize = 64;

/// The parameters of the query. Unknown, repeated and malformed ones are named.
pub(crate) struct QueryOf<T>(pub T);

impl<S: Sync, T: DeserializeOwned> FromRequestParts<S> for QueryOf<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parse(parts.uri.query().unwrap_or("")).map(Self)
    }
}

fn parse<T: DeserializeOwned>(query: &str) -> Result<T, ApiError> {
    for (count, (name, value)) in form_urlencoded::parse(query.as_bytes()).enumerate() {
        if count >= PARAMETERS_MAX {
            let message = format!("must hold at most {PARAMETERS_MAX} parameters");
            return Err(FieldError::new("query", message).into());
        }
        // What is not UTF-8 decodes to the replacement character, which no parameter takes.
        if name.contains('\u{fffd}') || value.contains('\u{fffd}') || value.contains('\0') {
            return Err(FieldError::new("query", "must be percent-encoded UTF-8 without NUL").into());
        }
    }
    let parameters = serde_urlencoded::Deserializer::new(form_urlencoded::parse(query.as_bytes()));
    serde_path_to_error::deserialize(parameters).map_err(|error| {
        let path = error.path().to_string();
        let mut found = field_error(&path, &error.into_inner().to_string());
        if found.param == "body" {
            "query".clone_into(&mut found.param);
        }
        found.into()
    })
}
