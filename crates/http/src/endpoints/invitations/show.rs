//! `GET /rsvp/{token}`

use axum::{extract::RawQuery, response::Response};
use http::{HeaderMap, StatusCode};
use kalends_app::InvitationSeen;
use kalends_calendars::{AttendeeStatus, REPLY_NOTE_MAX};
use kalends_web::{DisplaySettings, Href, Invitation, InvitationState, Path, Reader, Reply, ReplyProblem};

use crate::{
    Service,
    error::ApiError,
    extract::PathOf,
    pages::{html, page_query, reader},
};

/// Shows an invitation to its attendee, who can reply there.
///
/// The address is the link of the invitation. Opening it changes nothing. The page shows no other attendee.
#[utoipa::path(
    get,
    path = "/rsvp/{token}",
    operation_id = "showInvitation",
    tag = "Invitations",
    params(
        ("token" = String, Path, description = "The token of the invitation's link."),
        ("tz" = Option<String>, Query, description = "The zone of the times. Defaults to the calendar's zone."),
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
    let seen = app.invitation(&token.0).await?;
    let filled = Filled { zone: page_query(query.as_deref()).zone, ..Filled::default() };
    page(StatusCode::OK, &seen, &token.0, &reader(query.as_deref(), &headers), &filled)
}

/// What the visitor asked for or entered.
#[derive(Debug, Default)]
pub(super) struct Filled<'a> {
    /// The zone to show times in, if it is not the calendar's.
    pub(super) zone: Option<kalends_time::Zone>,
    /// The note, if the reply could not be recorded.
    pub(super) note: &'a str,
    /// Why it could not.
    pub(super) problem: Option<ReplyProblem>,
    /// Whether the reply has just been recorded.
    pub(super) recorded: bool,
}

/// The page of an invitation.
pub(super) fn page(
    status: StatusCode,
    seen: &InvitationSeen,
    token: &str,
    reader: &Reader,
    filled: &Filled<'_>,
) -> Result<Response, ApiError> {
    let InvitationSeen { event, attendee, organizer, zone, is_over, .. } = seen;
    // Whole days are days of the calendar's zone.
    let shown_in = filled.zone.filter(|_| !event.times.all_day).unwrap_or(*zone);
    let reply = match attendee.status {
        AttendeeStatus::NeedsAction => None,
        AttendeeStatus::Accepted => Some(Reply::Accepted),
        AttendeeStatus::Tentative => Some(Reply::Tentative),
        AttendeeStatus::Declined => Some(Reply::Declined),
    };
    let state = match reply {
        _ if !event.takes_place() => InvitationState::Cancelled,
        _ if *is_over => InvitationState::Over,
        Some(reply) if filled.recorded => InvitationState::Recorded(reply),
        reply => InvitationState::Open(reply),
    };
    let path = Path::new(format!("/rsvp/{token}")).ok_or(ApiError::NoRoute)?;
    let call = event.conference_url.as_ref().and_then(|url| Href::new(url.as_str()));
    let filled_text = |text: &&str| !text.trim().is_empty();
    let page = Invitation {
        path: &path,
        title: &event.title,
        organizer,
        shown: DisplaySettings { zone: shown_in, reader },
        slot: event.times.span,
        all_day: event.times.all_day,
        repeats: event.recurrence().is_some(),
        location: event.location.as_deref().filter(filled_text),
        call: call.as_ref(),
        description: event.description.as_deref().filter(filled_text),
        email: attendee.email.as_str(),
        state,
        note: filled.note,
        problem: filled.problem,
        note_max: REPLY_NOTE_MAX,
    };
    Ok(html(status, page.html()))
}
