//! Signing in with the admin token, and the session that every other page needs.

use std::sync::Arc;

use axum::{
    extract::{FromRequest, FromRequestParts, Request},
    response::{IntoResponse, Response},
};
use http::{HeaderMap, StatusCode, header, request::Parts, uri::PathAndQuery};
use kalends_accounts::operator_cookie;
use kalends_app::{App, Refusal};
use kalends_time::Timestamp;
use kalends_web::{Href, NoEffect, OperatorPlace, OperatorShell, OperatorSignIn, Path};

use super::super::{
    kept::Kept,
    places::OPERATOR,
    shown::{because_of, page, wait},
};
use crate::{
    Service,
    error::ApiError,
    extract::read_up_to,
    known::Arrival,
    pages::{Fields, is_form},
    provenance::provenance,
    reply::{cookies, see_other},
};

const WRONG: &str = "This is not the token.";
/// Longer than any path of these pages.
const PATH_MAX: usize = 200;
/// The maximum length of an address to which signing in leads, in bytes.
const ADDRESS_MAX: usize = 600;
/// The maximum size of the form that signs in, in bytes. It contains the token and such an address.
const SIGN_IN_MAX: usize = 4 << 10;
/// The maximum size of any other form of these pages, in bytes. The largest one contains limits as JSON.
const FORM_MAX: usize = 64 << 10;

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
        let address = parts.uri.path_and_query().map_or(OPERATOR, PathAndQuery::as_str);
        session(app, &parts.headers).ok_or_else(|| SignedOut::at(address))
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
        let Some(operator) = session(app, request.headers()) else {
            return Err(Unaccepted::SignedOut(SignedOut::of_form(app, request).await));
        };
        app.admit_operator_form(provenance(request.headers())).map_err(ApiError::from)?;
        let body = read_up_to(request.into_body(), FORM_MAX).await?;
        Ok(Self { operator, fields: Fields::of_form(&body)? })
    }
}

/// The session of the cookie, if it holds.
fn session(app: &App, headers: &HeaderMap) -> Option<Operator> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let ends_at = app.operator_session(operator_cookie(lines)?)?;
    Some(Operator { ends_at })
}

/// The page for somebody who is not signed in as the operator.
pub(super) struct SignedOut {
    status: StatusCode,
    text: String,
}

impl SignedOut {
    /// The page on which the operator signs in. It leads back to this address.
    fn at(address: &str) -> Self {
        let next = next(address);
        // The first page is where everybody signs in, so nothing is wrong there.
        let needed = path_of(next) != OPERATOR;
        let status = if needed { StatusCode::UNAUTHORIZED } else { StatusCode::OK };
        Self { status, text: OperatorSignIn { next, needed, problem: None }.html() }
    }

    /// The answer to a form. If the form comes from a page of this server, the page keeps what was sent, to be sent
    /// again.
    async fn of_form(app: &App, request: Request) -> Self {
        let path = request.uri().path().to_owned();
        match form_again(app, request).await {
            Some(text) => Self { status: StatusCode::UNAUTHORIZED, text },
            None => Self::at(&path),
        }
    }
}

/// The page with the form that was sent, if it may be shown and contains anything.
async fn form_again(app: &App, request: Request) -> Option<String> {
    let is_own = app.admit_operator_form(provenance(request.headers())).is_ok();
    if !is_own || !is_form(request.headers()) {
        return None;
    }
    let path = request.uri().path().to_owned();
    let body = read_up_to(request.into_body(), FORM_MAX).await.ok()?;
    let fields = Fields::of_form(&body).ok()?;
    Kept::of_operator(&fields).render(NoEffect::OperatorEnded, &path)
}

impl IntoResponse for SignedOut {
    fn into_response(self) -> Response {
        page(self.status, self.text)
    }
}

/// Why a form has no effect before its handler sees it.
pub(super) enum Unaccepted {
    SignedOut(SignedOut),
    Refused(ApiError),
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

/// The path of an address.
fn path_of(address: &str) -> &str {
    address.split_once('?').map_or(address, |(path, _)| path)
}

/// The address, if it is one of these pages, without a query that is too long. Otherwise, the path of the first one.
fn next(address: &str) -> &str {
    let path = path_of(address);
    let below = path.strip_prefix(OPERATOR);
    let is_page = below.is_some_and(|below| below.is_empty() || below.starts_with('/'));
    if !is_page || path.len() > PATH_MAX || Path::new(path).is_none() {
        return OPERATOR;
    }
    if address.len() <= ADDRESS_MAX && Href::new(address).is_some() { address } else { path }
}

/// `POST /console/operator`
pub(super) async fn sign_in(app: Service, request: Request) -> Result<Response, ApiError> {
    // A page of another site must not use up the attempts of its visitor.
    app.admit_entrant(provenance(request.headers()))?;
    let arrival = request.extensions().get::<Arrival>().copied().ok_or(ApiError::Internal)?;
    let fields = Fields::of_form(&read_up_to(request.into_body(), SIGN_IN_MAX).await?)?;
    let next = next(fields.get("next"));
    let again =
        |status, problem: &str| page(status, OperatorSignIn { next, needed: false, problem: Some(problem) }.html());
    let refusal = match app.sign_in_operator(fields.get("token").trim(), arrival.ip).await {
        Ok(cookie) => return Ok(see_other(next, Some(cookies(&app).set_operator(&cookie)))),
        Err(refusal) => refusal,
    };
    match refusal {
        Refusal::Unauthorized => Ok(again(StatusCode::UNAUTHORIZED, WRONG)),
        Refusal::TooFast { retry_after, .. } => {
            let problem = format!("Too many wrong tokens from your network. Try again in {}.", wait(retry_after));
            Ok(because_of(ApiError::from(refusal), again(StatusCode::TOO_MANY_REQUESTS, &problem)))
        }
        other => Err(other.into()),
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
    #[case("/console/operator?x=1", true)]
    #[case("/console/operator/organizations?q=a%20b&offset=50", true)]
    #[case("/console?next=/console/operator", false)]
    fn a_sign_in_leads_to_these_pages_only(#[case] path: &str, #[case] is_kept: bool) {
        assert_eq!(next(path), if is_kept { path } else { OPERATOR });
    }

    #[test]
    fn a_query_that_is_too_long_or_no_query_is_left_out() {
        let path = "/console/operator/organizations";
        for query in ["x".repeat(ADDRESS_MAX), "q=\r\nx: y".to_owned(), "q=\\".to_owned()] {
            assert_eq!(next(&format!("{path}?{query}")), path);
        }
    }
}
