//! The answer to a request for a feed.

use std::sync::Arc;

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use futures::{StreamExt as _, stream};
use http::{HeaderValue, StatusCode, header};
use kalends_app::{Feed, FeedAnswer};

use crate::error::ApiError;

const CALENDAR: HeaderValue = HeaderValue::from_static("text/calendar; charset=utf-8");

/// The response to a request for a feed: its text in the stored pieces, or 304. Both have the entity tag. `cache` is
/// the cache policy.
pub(super) fn feed_response(answer: FeedAnswer, cache: &'static str) -> Result<Response, ApiError> {
    let (etag, mut response) = match answer {
        FeedAnswer::Unchanged(etag) => (etag, StatusCode::NOT_MODIFIED.into_response()),
        FeedAnswer::Whole(feed) => (feed.etag.clone(), whole(feed)),
    };
    let headers = response.headers_mut();
    headers.insert(header::ETAG, HeaderValue::try_from(etag).map_err(|_| ApiError::Internal)?);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    Ok(response)
}

fn whole(feed: Arc<Feed>) -> Response {
    let headers = [(header::CONTENT_TYPE, CALENDAR), (header::CONTENT_LENGTH, HeaderValue::from(feed.len()))];
    let pieces = stream::iter(0..feed.pieces.len())
        .map(move |index| Ok::<_, std::convert::Infallible>(feed.pieces.get(index).cloned().unwrap_or_default()));
    (headers, Body::from_stream(pieces)).into_response()
}
