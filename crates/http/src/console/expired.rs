//! The answers to forms of somebody whose session has ended.

use std::net::IpAddr;

use axum::{
    extract::{MatchedPath, Request},
    response::{IntoResponse as _, Response},
};
use kalends_app::{App, Refusal, operations::Operation};
use kalends_plans::IpLane;
use kalends_web::{Ended, NoEffect};

use super::{
    hidden::LEAVES,
    kept::{BODY_MAX, Kept, has_too_many, may_be_kept, no_preview},
    parts::{Content, comes_from_form},
    places::{ACCOUNT, ACCOUNT_PASSWORD, DELETE_ORGANIZATION, ORGS, PREVIEW_BOOKING_PAGE, REMOVE_MEMBER, SIGN_IN},
};
use crate::{error::ApiError, extract::read_up_to, pages::is_form_with_file, provenance::provenance, reply::see_other};

/// The answer to a form of somebody whose session has ended. If the form comes from a page of this server, the page
/// shows it again, to be sent after signing in. Otherwise, the answer leads to the sign-in: another site must not
/// choose what a page of this server contains. `ip` is the address whose forms are limited.
pub(crate) async fn expired(app: &App, operation: &Operation, ip: Option<IpAddr>, request: Request) -> Response {
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("", MatchedPath::as_str);
    let error = ApiError::from(Refusal::NotSignedIn);
    if !comes_from_form(request.headers()) {
        return error.into_response();
    }
    match route {
        DELETE_ORGANIZATION => return to_sign_in(ORGS, Ended::Parting),
        ACCOUNT_PASSWORD => return to_sign_in(ACCOUNT, Ended::Password),
        PREVIEW_BOOKING_PAGE => return no_preview(NoEffect::Ended, error),
        _ => {}
    }
    let is_own = operation.writes() && app.admit_cookie(operation, provenance(request.headers())).is_ok();
    if !is_own || !may_be_kept(route) {
        return error.into_response();
    }
    // Anybody can send this much. A browser that is refused keeps the form for a reload.
    if let Err(refusal) = app.pace_address(IpLane::SignIn, ip).await {
        return ApiError::from(refusal).into_response();
    }
    let path = request.uri().path().to_owned();
    let (parts, body) = request.into_parts();
    let has_file = is_form_with_file(&parts.headers);
    let content = match read_up_to(body, BODY_MAX).await {
        Ok(body) if has_file || !has_too_many(&body) => Content::of_form(&parts.headers, body).await,
        Err(ApiError::TooLarge(_)) if has_file => return Kept::File(None).answer(NoEffect::Ended, error, &path),
        Ok(_) | Err(ApiError::TooLarge(_)) => return Kept::TooLong(None).answer(NoEffect::Ended, error, &path),
        Err(lost) => Err(lost),
    };
    let Ok(content) = content else { return error.into_response() };
    if route == REMOVE_MEMBER && !content.fields.get(LEAVES).is_empty() {
        return to_sign_in(ORGS, Ended::Parting);
    }
    Kept::of_content(&content).answer(NoEffect::Ended, error, &path)
}

/// The answer to a form that may have ended the session by its effect: the sign-in, which leads to a page that shows
/// whether it did.
fn to_sign_in(page: &str, ended: Ended) -> Response {
    see_other(&format!("{SIGN_IN}?next={}&ended={}", page.replace('/', "%2F"), ended.name()), None)
}
