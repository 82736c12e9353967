//! `GET /metrics`.

use axum::{
    Router,
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
    routing::get,
};

/// The route with the metrics of this process.
pub(crate) fn router() -> Router {
    Router::new().route("/metrics", get(async || answer()))
}

fn answer() -> Response {
    match kalends_metrics::text() {
        Ok(text) => ([(CONTENT_TYPE, kalends_metrics::CONTENT_TYPE)], text).into_response(),
        Err(error) => {
            tracing::error!(error = &error as &dyn std::error::Error, "the metrics cannot be encoded");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
