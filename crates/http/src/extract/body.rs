//! JSON bodies.

use std::{error::Error, time::Duration};

use axum::{
    body::{Body, to_bytes},
    extract::{FromRequest, Request},
};
use bytes::Bytes;
use http::header;
use http_body_util::LengthLimitError;
use kalends_app::operations::{self, Operation};
use serde::{
    Deserialize,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::error::Category;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::unknown::field_error;
use crate::{BODY_MAX, FILE_MAX, error::ApiError};

/// How long a body may take to arrive.
const ARRIVES_WITHIN: Duration = Duration::from_secs(20);

/// How many large bodies are held at once; others wait until one is done with.
const FILES_AT_ONCE: usize = 8;
static FILES: Semaphore = Semaphore::const_new(FILES_AT_ONCE);

/// Marks a request whose body was read at the entrance, as one with an `Idempotency-Key` is.
#[derive(Clone, Copy)]
pub(crate) struct AlreadyRead;

/// A large body, and its place among those that are held.
struct Held {
    body: Bytes,
    _place: SemaphorePermit<'static>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

/// The most bytes of the body of an operation's request.
pub(crate) fn max_of(operation: &Operation) -> usize {
    if operation.id == operations::IMPORT_CALENDAR.id { FILE_MAX } else { BODY_MAX }
}

/// A body of JSON. What is not JSON is `invalid_request`; JSON of another shape names the field.
pub(crate) struct JsonBody<T>(pub T);

/// The whole body of at most `max` bytes.
///
/// # Errors
/// [`ApiError::TooLarge`], [`ApiError::BodyLate`] or, where the connection broke, [`ApiError::BodyLost`].
pub(crate) async fn read(body: Body, max: usize) -> Result<Bytes, ApiError> {
    // The semaphore is never closed; were it, no more than the bound would be missing.
    let place = if max > BODY_MAX { FILES.acquire().await.ok() } else { None };
    let body = collect(body, max).await?;
    Ok(match place {
        Some(place) => Bytes::from_owner(Held { body, _place: place }),
        None => body,
    })
}

async fn collect(body: Body, max: usize) -> Result<Bytes, ApiError> {
    let read = tokio::time::timeout(ARRIVES_WITHIN, to_bytes(body, max)).await.map_err(|_| ApiError::BodyLate)?;
    read.map_err(|error| {
        let too_large = error.source().is_some_and(|cause| cause.is::<LengthLimitError>());
        if too_large { ApiError::TooLarge(max) } else { ApiError::BodyLost }
    })
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        parse(&declared(request).await?).map(Self)
    }
}

/// JSON as it came.
pub(crate) struct JsonText(pub Bytes);

impl<S: Send + Sync> FromRequest<S> for JsonText {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let body = declared(request).await?;
        parse::<IgnoredAny>(&body)?;
        Ok(Self(body))
    }
}

/// The body of a request that declares no other type than JSON.
async fn declared(request: Request) -> Result<Bytes, ApiError> {
    // A caller that names no type means JSON, as there is nothing else to mean.
    let media_type = request.headers().get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or(""));
    if media_type.is_some_and(|media_type| !is_json(media_type)) {
        return Err(ApiError::MediaType);
    }
    read(request.into_body(), BODY_MAX).await
}

/// No body, or an empty object (ruling 4.8).
pub(crate) struct NoBody;

/// An object without fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Empty {}

impl<S: Send + Sync> FromRequest<S> for NoBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let body = read(request.into_body(), BODY_MAX).await?;
        if !body.trim_ascii().is_empty() {
            parse::<Empty>(&body)?;
        }
        Ok(Self)
    }
}

/// A file: iCalendar text, or whatever does not say that it is something else.
pub(crate) struct File(pub Bytes);

impl<S: Send + Sync> FromRequest<S> for File {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let media_type = request.headers().get(header::CONTENT_TYPE).map(|value| value.to_str().unwrap_or(""));
        let essence = media_type.map(|media_type| media_type.split(';').next().unwrap_or("").trim());
        let fits = |essence: &str| {
            ["text/calendar", "application/octet-stream"].iter().any(|known| essence.eq_ignore_ascii_case(known))
        };
        if !essence.is_none_or(fits) {
            return Err(ApiError::FileType);
        }
        // What was read at the entrance has its place already.
        let held = request.extensions().get::<AlreadyRead>().is_some();
        let body = request.into_body();
        if held { collect(body, FILE_MAX).await } else { read(body, FILE_MAX).await }.map(Self)
    }
}

fn is_json(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    let mut json = serde_json::Deserializer::from_slice(body);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        let cause = error.into_inner();
        match cause.classify() {
            // The shape is judged as the text is read: what follows may still be no JSON.
            Category::Data => match whole(body) {
                Ok(()) => field_error(&path, &cause.to_string()).into(),
                Err(why) => ApiError::NotJson(why),
            },
            Category::Syntax | Category::Eof | Category::Io => ApiError::NotJson(cause.to_string()),
        }
    })?;
    json.end().map_err(|error| ApiError::NotJson(error.to_string()))?;
    Ok(value)
}

/// Whether all of the body is JSON, whatever its shape.
fn whole(body: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(body).map_err(|error| error.to_string())?;
    serde_json::from_str::<IgnoredAny>(text).map(drop).map_err(|error| error.to_string())
}
