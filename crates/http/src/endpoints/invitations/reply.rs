//! `POST /rsvp/{token}`

use axum::{
    extract::{FromRequest as _, Request},
    response::{IntoResponse as _, Response},
};
use http::StatusCode;
use kalends_app::{App, Refusal};
use kalends_web::ReplyProblem;
use kalends_wire as wire;

use super::show::{Filled, page};
use crate::{
    Service,
    error::ApiError,
    extract::{Anonymous, JsonBody, PathOf, read_body},
    pages::{Fields, is_form, page_query, reader},
    reply::{Changed, Fresh},
};

/// Replies to an invitation, as its attendee.
///
/// The reply is recorded in the `attendees` of the event, and emits `event.attendee_responded`. A later reply replaces it.
/// The same reply again changes nothing; a note is passed on each time. If the event is cancelled or over, the answer is
/// 409 `conflict`, code `invitation_over`. If the request is a form, the answer is HTML.
#[utoipa::path(
    post,
    path = "/rsvp/{token}",
    operation_id = "replyToInvitation",
    tag = "Invitations",
    params(
        ("token" = String, Path, description = "The token of the invitation's link."),
        ("tz" = Option<String>, Query, description = "The zone of the times on the page. Defaults to the calendar's zone."),
        ("lang" = Option<String>, Query, description = "The language of the page, such as `de` or `pt-BR`. Defaults to `Accept-Language`.")
    ),
    request_body(content(
        (wire::SubmitReply = "application/json"),
        (wire::SubmitReply = "application/x-www-form-urlencoded")
    )),
    responses((status = 200, description = "The attendee after the reply.", body = wire::Attendee))
)]
pub(crate) async fn reply(
    app: Service,
    called: Anonymous,
    token: PathOf<String>,
    request: Request,
) -> Result<Response, ApiError> {
    if is_form(request.headers()) {
        return reply_by_form(&app, &called.0, &token.0, request).await;
    }
    let JsonBody(body) = JsonBody::<wire::SubmitReply>::from_request(request, &()).await?;
    let (status, note) = body.parse()?;
    Ok(Fresh(Changed(app.reply(&called.0, &token.0, status, note).await?)).into_response())
}

async fn reply_by_form(
    app: &App,
    called: &kalends_app::Request,
    token: &str,
    request: Request,
) -> Result<Response, ApiError> {
    let reader = &reader(request.uri().query(), request.headers());
    let zone = page_query(request.uri().query()).zone;
    let fields = Fields::of_form(&read_body(request.into_body()).await?)?;
    // Browsers send line breaks as two characters.
    let given = fields.get("note").to_owned();
    let note = Some(given.clone()).filter(|note| !note.is_empty());
    let wanted = wire::SubmitReply { status: fields.get("status").to_owned(), note };
    let (status, note) = match wanted.parse() {
        Ok(parsed) => parsed,
        Err(errors) => {
            let seen = app.invitation(token).await?;
            let problem = match errors.first().param.as_str() {
                "note" => ReplyProblem::Note,
                _ => ReplyProblem::NoReply,
            };
            let filled = Filled { note: &given, problem: Some(problem), zone, ..Filled::default() };
            return page(StatusCode::BAD_REQUEST, &seen, token, reader, &filled);
        }
    };
    match app.reply(called, token, status, note).await {
        Ok(replied) => {
            let filled = Filled { recorded: true, zone, ..Filled::default() };
            page(StatusCode::OK, &replied.resource, token, reader, &filled)
        }
        Err(Refusal::InvitationOver(_)) => {
            let seen = app.invitation(token).await?;
            page(StatusCode::CONFLICT, &seen, token, reader, &Filled { zone, ..Filled::default() })
        }
        Err(refusal) => Err(refusal.into()),
    }
}
