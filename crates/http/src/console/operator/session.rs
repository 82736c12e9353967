//! Signing in with the admin token, and the session that every other page needs.

use std::sync::Arc;

use axum::{
    extract::{FromRequest, FromRequestParts, Request},
    response::{IntoResponse, Response},
};
use http::{HeaderMap, StatusCode, header, request::Parts};
use kalends_accounts::operator_cookie;
use kalends_app::{App, Refusal};
use kalends_time::Timestamp;
use kalends_web::{OperatorPlace, OperatorShell, OperatorSignIn, Path};

use super::super::{
    places::OPERATOR,
    shown::{because_of, page, wait},
};
use crate::{
    Service,
    error::ApiError,
    extract::read_body,
    known::Arrival,
    pages::Fields,
    provenance::provenance,
    reply::{cookies, see_other},
};

const WRONG: &str = "This is not the token.";
/// Longer than any path of these pages.
const PATH_MAX: usize = 200;

/// A page that the operator opens, who is signed in.
pub(super) struct Operator {
    ends_at: Timestamp,
}

impl Operator {
    /// The frame of a page.
    pub(super) const fn shell(&self, place: OperatorPlace) -> OperatorShell {
        OperatorShell { place, ends_at: self.ends_at }
    }
}

impl FromRequestParts<Arc<App>> for Operator {
    type Rejection = SignedOut;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, SignedOut> {
        session(app, &parts.headers).ok_or_else(|| SignedOut::from(parts.uri.path()))
    }
}

/// A form of the operator, who is signed in. The session and the origin are checked before the body is read.
pub(super) struct OperatorForm {
    pub(super) operator: Operator,
    pub(super) fields: Fields,
}

impl FromRequest<Arc<App>> for OperatorForm {
    type Rejection = Unaccepted;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Unaccepted> {
        let operator = session(app, request.headers()).ok_or_else(|| SignedOut::from(request.uri().path()))?;
        app.admit_operator_form(provenance(request.headers())).map_err(ApiError::from)?;
        let body = read_body(request.into_body()).await?;
        Ok(Self { operator, fields: Fields::read(&body) })
    }
}

/// The session of the cookie, if it holds.
fn session(app: &App, headers: &HeaderMap) -> Option<Operator> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let ends_at = app.operator_session(operator_cookie(lines)?)?;
    Some(Operator { ends_at })
}

/// The operator is not signed in. The page on which they sign in leads back to this path.
pub(super) struct SignedOut(String);

impl From<&str> for SignedOut {
    fn from(path: &str) -> Self {
        Self(path.to_owned())
    }
}

impl IntoResponse for SignedOut {
    fn into_response(self) -> Response {
        let next = next(&self.0);
        // The first page is where everybody signs in, so nothing is wrong there.
        let needed = next != OPERATOR;
        let status = if needed { StatusCode::UNAUTHORIZED } else { StatusCode::OK };
        page(status, OperatorSignIn { next, needed, problem: None }.html())
    }
}

/// Why a form has no effect before its handler sees it.
pub(super) enum Unaccepted {
    SignedOut(SignedOut),
    Refused(ApiError),
}

impl From<SignedOut> for Unaccepted {
    fn from(signed_out: SignedOut) -> Self {
        Self::SignedOut(signed_out)
    }
}

impl From<ApiError> for Unaccepted {
    fn from(error: ApiError) -> Self {
        Self::Refused(error)
    }
}

impl IntoResponse for Unaccepted {
    fn into_response(self) -> Response {
        match self {
            Self::SignedOut(signed_out) => signed_out.into_response(),
            Self::Refused(error) => error.into_response(),
        }
    }
}

/// The path, if it is one of these pages. Otherwise, the path of the first one.
fn next(path: &str) -> &str {
    let below = path.strip_prefix(OPERATOR);
    let is_page = below.is_some_and(|below| below.is_empty() || below.starts_with('/'));
    if is_page && path.len() <= PATH_MAX && Path::new(path).is_some() { path } else { OPERATOR }
}

/// `POST /console/operator`
pub(super) async fn sign_in(app: Service, request: Request) -> Result<Response, ApiError> {
    // A page of another site must not use up the attempts of its visitor.
    app.admit_entrant(provenance(request.headers()))?;
    let arrival = request.extensions().get::<Arrival>().copied().ok_or(ApiError::Internal)?;
    let paced = app.pace_operator(arrival.ip).await;
    let fields = Fields::read(&read_body(request.into_body()).await?);
    let next = next(fields.get("next"));
    let again =
        |status, problem: &str| page(status, OperatorSignIn { next, needed: false, problem: Some(problem) }.html());
    if let Err(refusal) = paced {
        let Refusal::TooFast { retry_after, .. } = refusal else { return Err(refusal.into()) };
        let problem = format!("Too many attempts from your network. Try again in {}.", wait(retry_after));
        return Ok(because_of(ApiError::from(refusal), again(StatusCode::TOO_MANY_REQUESTS, &problem)));
    }
    match app.sign_in_operator(fields.get("token").trim()) {
        Ok(cookie) => Ok(see_other(next, Some(cookies(&app).set_operator(&cookie)))),
        Err(Refusal::Unauthorized) => Ok(again(StatusCode::UNAUTHORIZED, WRONG)),
        Err(refusal) => Err(refusal.into()),
    }
}

/// `POST /console/operator/sign-out`. Somebody whose session has ended is signed out already.
pub(super) async fn sign_out(app: Service, headers: HeaderMap) -> Result<Response, ApiError> {
    app.admit_operator_form(provenance(&headers))?;
    Ok(see_other(OPERATOR, Some(cookies(&app).clear_operator())))
}

/// Somebody reloads the address of the form that signs out.
pub(super) async fn back() -> Response {
    see_other(OPERATOR, None)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("/console/operator", true)]
    #[case("/console/operator/mail", true)]
    #[case("/console/operator/organizations/org_1", true)]
    #[case("/console/operators", false)]
    #[case("/console", false)]
    #[case("//evil.example/console/operator", false)]
    #[case("/console/operator/\r\nx: y", false)]
    #[case("/console/operator/\\evil.example", false)]
    #[case("", false)]
    fn a_sign_in_leads_to_these_pages_only(#[case] path: &str, #[case] is_kept: bool) {
        assert_eq!(next(path), if is_kept { path } else { OPERATOR });
    }
}
