//! `/replies/{token}`

use axum::{
    extract::{RawQuery, Request},
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, StatusCode};
use kalends_app::ReplyToAsked;
use kalends_web::{Path, Reader, Replies};
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Anonymous, PathOf, check_query_beside_form},
    pages::{html, is_form, reader},
    reply::{Changed, Fresh},
};

/// Shows the question whether replies to an organization's emails may go to an address.
///
/// The link in the email to that address opens this page. Opening it changes nothing.
#[utoipa::path(
    get,
    path = "/replies/{token}",
    operation_id = "showReplyLink",
    tag = "Mail",
    params(
        ("token" = String, Path, description = "The token of the link."),
        ("lang" = Option<String>, Query, description = "The language of the page, such as `de` or `pt-BR`. Defaults to `Accept-Language`.")
    ),
    responses((status = 200, description = "The page.", body = String, content_type = "text/html"))
)]
pub(crate) async fn show(
    app: Service,
    token: PathOf<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let reader = reader(query.as_deref(), &headers);
    page(&app.asked_for_replies(&token.0).await?, &token.0, &reader, false)
}

/// Lets replies to an organization's emails go to the address that the link was mailed to.
///
/// The link works once. If the request is a form, the answer is HTML.
#[utoipa::path(
    post,
    path = "/replies/{token}",
    operation_id = "agreeToReplies",
    tag = "Mail",
    params(
        ("token" = String, Path, description = "The token of the link."),
        ("lang" = Option<String>, Query, description = "The language of the page, such as `de` or `pt-BR`. Defaults to `Accept-Language`.")
    ),
    responses((status = 200, description = "The address.", body = wire::AgreedReplyTo))
)]
pub(crate) async fn agree(
    app: Service,
    called: Anonymous,
    token: PathOf<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let is_form = is_form(request.headers());
    if !is_form {
        check_query_beside_form(request.uri().query())?;
    }
    let agreed = app.agree_to_replies(&called.0, &token.0).await?;
    if is_form {
        return page(&agreed.resource, &token.0, &reader(request.uri().query(), request.headers()), true);
    }
    Ok(Fresh(Changed(agreed)).into_response())
}

fn page(asked: &ReplyToAsked, token: &str, reader: &Reader, agreed: bool) -> Result<Response, ApiError> {
    let path = Path::new(format!("/replies/{token}")).ok_or(ApiError::NoRoute)?;
    let page = Replies { path: &path, organization: &asked.organization, email: asked.email.as_str(), agreed, reader };
    Ok(html(StatusCode::OK, page.html()))
}
