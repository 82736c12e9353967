//! `/replies/{token}`

use axum::{
    extract::{FromRequest as _, RawQuery, Request},
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, StatusCode};
use kalends_app::ReplyToSeen;
use kalends_web::{Path, Reader, Replies, RepliesState};
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Anonymous, JsonBody, PathOf, check_query_beside_form, read_body},
    pages::{Fields, html, is_form, reader},
    reply::{Changed, Fresh},
};

/// Shows whether replies to an organization's emails go to an address.
///
/// The link in the question to that address opens this page. Opening it changes nothing.
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
    let seen = app.asked_for_replies(&token.0).await?;
    page(StatusCode::OK, &seen, state_of(&seen), &token.0, &reader)
}

/// Records whether replies to an organization's emails may go to the address that the link was mailed to.
///
/// The same answer again changes nothing. `false` also ends replies that went there before; the link then opens nothing.
/// If the request is a form, the answer is HTML.
#[utoipa::path(
    post,
    path = "/replies/{token}",
    operation_id = "answerReplyLink",
    tag = "Mail",
    params(
        ("token" = String, Path, description = "The token of the link."),
        ("lang" = Option<String>, Query, description = "The language of the page, such as `de` or `pt-BR`. Defaults to `Accept-Language`.")
    ),
    request_body(content(
        (wire::AnswerReplyLink = "application/json"),
        (wire::AnswerReplyLink = "application/x-www-form-urlencoded")
    )),
    responses((status = 200, description = "The address and its answer.", body = wire::AnsweredReplyLink))
)]
pub(crate) async fn answer(
    app: Service,
    called: Anonymous,
    token: PathOf<String>,
    request: Request,
) -> Result<Response, ApiError> {
    if is_form(request.headers()) {
        let reader = reader(request.uri().query(), request.headers());
        let fields = Fields::of_form(&read_body(request.into_body()).await?)?;
        let (agrees, state) = match fields.get("agrees") {
            "true" => (true, RepliesState::Agreed),
            "false" => (false, RepliesState::Stopped),
            // Only the buttons send the form. Without any of them, nothing changes.
            _ => {
                let seen = app.asked_for_replies(&token.0).await?;
                return page(StatusCode::BAD_REQUEST, &seen, state_of(&seen), &token.0, &reader);
            }
        };
        let answered = app.answer_reply_link(&called.0, &token.0, agrees).await?;
        return page(StatusCode::OK, &answered.resource, state, &token.0, &reader);
    }
    check_query_beside_form(request.uri().query())?;
    let JsonBody(body) = JsonBody::<wire::AnswerReplyLink>::from_request(request, &()).await?;
    Ok(Fresh(Changed(app.answer_reply_link(&called.0, &token.0, body.agrees).await?)).into_response())
}

fn state_of(seen: &ReplyToSeen) -> RepliesState {
    if seen.agreed { RepliesState::Agreed } else { RepliesState::Asked }
}

fn page(
    status: StatusCode,
    seen: &ReplyToSeen,
    state: RepliesState,
    token: &str,
    reader: &Reader,
) -> Result<Response, ApiError> {
    let path = Path::new(format!("/replies/{token}")).ok_or(ApiError::NoRoute)?;
    let page = Replies { path: &path, organization: &seen.organization, email: seen.email.as_str(), state, reader };
    Ok(html(status, page.html()))
}
