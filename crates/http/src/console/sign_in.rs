//! Signing in by a form.

use axum::{
    extract::{Query, rejection::QueryRejection},
    response::Response,
};
use http::{HeaderMap, StatusCode};
use kalends_app::{App, Entrant, Refusal};
use kalends_web::{Next, SIGN_IN_ERRORS, SignIn};
use kalends_wire as wire;
use serde::Deserialize;

use super::{
    form::{Sent, opened_invitation},
    shown::{admits, because_of, page, providers, wait},
};
use crate::{
    Service,
    error::ApiError,
    reply::{cookies, see_other},
};

const WRONG: &str = "The address or the password is wrong.";
const NO_ADDRESS: &str = "Enter the email address with which you signed up.";

/// What the address of the page says.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    /// The path to continue to.
    #[serde(default)]
    next: String,
    /// Why a sign-in with a provider failed.
    #[serde(default)]
    error: String,
}

/// `GET /console/sign-in`
pub(super) async fn show(app: Service, headers: HeaderMap, asked: Result<Query<Asked>, QueryRejection>) -> Response {
    let asked = asked.map(|asked| asked.0).unwrap_or_default();
    let next = Next::of(&asked.next);
    let problem = SIGN_IN_ERRORS.into_iter().find(|(code, _)| *code == asked.error).map(|(_, message)| message);
    let may_sign_up = admits(&app, next, opened_invitation(&headers).as_deref());
    render(&app, StatusCode::OK, SignIn { next, email: "", problem, providers: &[], may_sign_up })
}

fn render(app: &App, status: StatusCode, shown: SignIn<'_>) -> Response {
    page(status, SignIn { providers: &providers(app), ..shown }.html())
}

/// `POST /console/sign-in`
pub(super) async fn submit(app: Service, sent: Sent) -> Result<Response, ApiError> {
    let (next, email) = (Next::of(sent.fields.get("next")), sent.fields.get("email").trim());
    let may_sign_up = admits(&app, next, sent.invitation.as_deref());
    let again = |status, problem: &str| {
        render(&app, status, SignIn { next, email, problem: Some(problem), providers: &[], may_sign_up })
    };
    let called = match sent.called {
        Ok(called) => called,
        Err(exceeded) => return Ok(exceeded.shown(|problem| again(StatusCode::TOO_MANY_REQUESTS, problem))),
    };
    let credentials = wire::SignIn { email: email.to_owned(), password: sent.fields.get("password").to_owned() };
    let Ok((address, password)) = credentials.parse() else { return Ok(again(StatusCode::BAD_REQUEST, NO_ADDRESS)) };
    match app.0.sign_in(&called, &Entrant { email: address, password }).await {
        Ok(begun) => Ok(see_other(next.path(), Some(cookies(&app).set(&begun.token)))),
        Err(Refusal::WrongPassword) => Ok(again(StatusCode::UNAUTHORIZED, WRONG)),
        Err(refusal @ Refusal::TooFast { retry_after, .. }) => {
            let problem = format!("Too many wrong passwords. Try again in {}.", wait(retry_after));
            Ok(because_of(ApiError::from(refusal), again(StatusCode::TOO_MANY_REQUESTS, &problem)))
        }
        Err(error) => Err(error.into()),
    }
}
