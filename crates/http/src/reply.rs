//! Answers as HTTP responses.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use futures::{StreamExt as _, stream};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use kalends_accounts::SessionCookies;
use kalends_app::{Answer, Answered, App, ConsentBegun, Export, SessionBegun, etag};
use kalends_kernel::Version;
use serde::Serialize;

use crate::error::ApiError;

/// The approximate size of most resources as JSON, in bytes.
const RESOURCE: usize = 1024;
/// The approximate number of headers of an answer.
const HEADERS: usize = 12;

/// The answer of a use case that changed something.
pub(crate) struct Changed<T>(pub Answered<T>);

impl<T> IntoResponse for Changed<T> {
    fn into_response(self) -> Response {
        stored(self.0.answer)
    }
}

/// Converts a stored answer into its response.
fn stored(answer: Answer) -> Response {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = match answer.body {
        Some(body) => json(body),
        None => Response::default(),
    };
    *response.status_mut() = status;
    tag(response.headers_mut(), answer.version);
    response
}

/// An answer that starts a session, with its cookie. When the answer is replayed later, it sets no cookie.
pub(crate) struct Begun(Answer, String);

impl Begun {
    pub(crate) fn new<T>(app: &App, begun: SessionBegun<T>) -> Self {
        Self(begun.answered.answer, cookies(app).set(&begun.token))
    }
}

impl IntoResponse for Begun {
    fn into_response(self) -> Response {
        with_cookie(stored(self.0), &self.1)
    }
}

/// An answer that ends the session and removes its cookie.
pub(crate) struct Ended(Answer, String);

impl Ended {
    pub(crate) fn new(app: &App, ended: Answered<()>) -> Self {
        Self(ended.answer, cookies(app).clear())
    }
}

impl IntoResponse for Ended {
    fn into_response(self) -> Response {
        with_cookie(stored(self.0), &self.1)
    }
}

/// An answer that starts a sign-in or connection at a provider, with the cookie that binds it to the browser. When
/// the answer is replayed later, it sets no cookie.
pub(crate) struct Bound(Answer, String);

impl Bound {
    pub(crate) fn new(app: &App, begun: ConsentBegun) -> Self {
        Self(begun.answered.answer, cookies(app).set_state(&begun.state))
    }
}

impl IntoResponse for Bound {
    fn into_response(self) -> Response {
        with_cookie(stored(self.0), &self.1)
    }
}

/// A redirect that sets or removes these cookies.
pub(crate) struct Elsewhere {
    pub location: String,
    pub cookies: Vec<String>,
}

impl IntoResponse for Elsewhere {
    fn into_response(self) -> Response {
        let mut response = StatusCode::FOUND.into_response();
        let headers = response.headers_mut();
        for cookie in &self.cookies {
            if let Ok(mut cookie) = HeaderValue::from_str(cookie) {
                cookie.set_sensitive(true);
                headers.append(header::SET_COOKIE, cookie);
            }
        }
        // The address may contain a secret, so neither a cache nor the next page may learn it.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        match HeaderValue::try_from(self.location) {
            Ok(location) => {
                headers.insert(header::LOCATION, location);
                response
            }
            Err(_) => ApiError::Internal.into_response(),
        }
    }
}

/// Leads the browser from a form to a page on this server, with a cookie if one is given.
pub(crate) fn see_other(location: &str, cookie: Option<String>) -> Response {
    let Ok(value) = HeaderValue::try_from(location) else { return ApiError::Internal.into_response() };
    let mut response = StatusCode::SEE_OTHER.into_response();
    response.headers_mut().insert(header::LOCATION, value);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    match cookie {
        Some(cookie) => with_cookie(response, &cookie),
        None => response,
    }
}

pub(crate) fn cookies(app: &App) -> SessionCookies {
    SessionCookies::of(&app.settings().base_url)
}

pub(crate) fn with_cookie(mut response: Response, cookie: &str) -> Response {
    let headers = response.headers_mut();
    if let Ok(mut cookie) = HeaderValue::from_str(cookie) {
        // Hides the cookie when headers are printed.
        cookie.set_sensitive(true);
        headers.insert(header::SET_COOKIE, cookie);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// An export as a file to download, which is sent while it is written.
///
/// # Errors
/// [`ApiError::Internal`] if its name is not a header's value, which is a bug.
pub(crate) fn exported(export: Export) -> Result<Response, ApiError> {
    let name = format!("attachment; filename=\"kalends-export-{}.json\"", export.at.utc_date());
    let name = HeaderValue::from_str(&name).map_err(|_| ApiError::Internal)?;
    let pieces = stream::unfold(export.pieces, |mut pieces| async { Some((pieces.recv().await?, pieces)) });
    // The compression layer polls once more after the end.
    let pieces = pieces.fuse();
    let headers = [
        (header::CONTENT_TYPE, JSON),
        (header::CONTENT_DISPOSITION, name),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, Body::from_stream(pieces)).into_response())
}

/// A resource with its entity tag.
pub(crate) struct WithETag<T> {
    pub resource: T,
    pub version: Version,
}

impl<T: Serialize> IntoResponse for WithETag<T> {
    fn into_response(self) -> Response {
        let mut text = Vec::with_capacity(RESOURCE);
        if let Err(error) = serde_json::to_writer(&mut text, &self.resource) {
            tracing::error!(%error, "a resource cannot be written as JSON");
            return ApiError::Internal.into_response();
        }
        let mut response = json(text);
        tag(response.headers_mut(), Some(self.version));
        response
    }
}

/// An answer that must not be cached: slots are taken all the time, and a booking is private.
pub(crate) struct Fresh<T>(pub T);

impl<T: IntoResponse> IntoResponse for Fresh<T> {
    fn into_response(self) -> Response {
        let mut response = self.0.into_response();
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}

/// JSON that is already serialized.
pub(crate) struct Written<B>(pub B);

impl<B: Into<Body>> IntoResponse for Written<B> {
    fn into_response(self) -> Response {
        json(self.0)
    }
}

/// A JSON answer with capacity for the headers that the outer layers add.
pub(crate) fn json(body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.headers_mut() = HeaderMap::with_capacity(HEADERS);
    response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    response
}

/// The stored answer to an earlier request, marked by a header.
pub(crate) fn replayed(answer: Answer) -> Response {
    let mut response = stored(answer);
    response.headers_mut().insert("idempotency-replayed", HeaderValue::from_static("true"));
    response
}

pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");

fn tag(headers: &mut HeaderMap, version: Option<Version>) {
    if let Some(value) = version.and_then(|version| HeaderValue::from_str(&etag(version)).ok()) {
        headers.insert(header::ETAG, value);
    }
}
