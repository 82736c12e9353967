//! `/book/emails/{token}`

use axum::{
    extract::{FromRequest as _, RawQuery, Request},
    response::{IntoResponse as _, Response},
};
use http::{HeaderMap, StatusCode};
use kalends_app::ConsentSeen;
use kalends_bookings::Consent;
use kalends_web::{BookingEmails, EmailsState, Path, Reader};
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Anonymous, JsonBody, PathOf, check_query_beside_form, read_body},
    pages::{Fields, html, is_form, reader},
    reply::{Changed, Fresh},
};

/// Shows whether emails about the bookings of a page are sent to an address.
///
/// The link in each of these emails opens this page, and so does the link in the question before the first of them. Opening
/// it changes nothing.
#[utoipa::path(
    get,
    path = "/book/emails/{token}",
    operation_id = "showBookingEmails",
    tag = "Booking pages",
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
    page(StatusCode::OK, &app.booking_emails(&token.0).await?, &token.0, &reader, false)
}

/// Records whether an address wants emails about the bookings of a page.
///
/// A later answer replaces an earlier one, and the same answer again changes nothing. If the request is a form, the answer
/// is HTML.
#[utoipa::path(
    post,
    path = "/book/emails/{token}",
    operation_id = "answerBookingEmails",
    tag = "Booking pages",
    params(
        ("token" = String, Path, description = "The token of the link."),
        ("lang" = Option<String>, Query, description = "The language of the page, such as `de` or `pt-BR`. Defaults to `Accept-Language`.")
    ),
    request_body(content(
        (wire::AnswerBookingEmails = "application/json"),
        (wire::AnswerBookingEmails = "application/x-www-form-urlencoded")
    )),
    responses((status = 200, description = "The address and its answer.", body = wire::NotifyConsent))
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
        let agrees = match fields.get("agrees") {
            "true" => true,
            "false" => false,
            // Only the two buttons send the form. Without either of them, nothing changes.
            _ => return page(StatusCode::BAD_REQUEST, &app.booking_emails(&token.0).await?, &token.0, &reader, false),
        };
        return page(
            StatusCode::OK,
            &app.answer_booking_emails(&called.0, &token.0, agrees).await?.resource,
            &token.0,
            &reader,
            true,
        );
    }
    check_query_beside_form(request.uri().query())?;
    let JsonBody(body) = JsonBody::<wire::AnswerBookingEmails>::from_request(request, &()).await?;
    Ok(Fresh(Changed(app.answer_booking_emails(&called.0, &token.0, body.agrees).await?)).into_response())
}

fn page(
    status: StatusCode,
    seen: &ConsentSeen,
    token: &str,
    reader: &Reader,
    recorded: bool,
) -> Result<Response, ApiError> {
    let path = Path::new(format!("/book/emails/{token}")).ok_or(ApiError::NoRoute)?;
    let state = match seen.listener.consent {
        Consent::Asked => EmailsState::Asked,
        Consent::Agreed | Consent::Member => EmailsState::Sent,
        Consent::Refused => EmailsState::Stopped,
    };
    let page = BookingEmails {
        path: &path,
        title: &seen.page.title,
        organization: &seen.organization,
        email: seen.listener.email.as_str(),
        state,
        recorded,
        reader,
    };
    Ok(html(status, page.html()))
}
