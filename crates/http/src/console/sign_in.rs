//! Signing in by a form.

use axum::{
    extract::{Query, Request},
    response::Response,
};
use http::StatusCode;
use kalends_app::{App, Entrant, Refusal};
use kalends_web::{SIGN_IN_ERRORS, SignIn};
use kalends_wire as wire;
use serde::Deserialize;

use super::{
    places::continued,
    shown::{because_of, page, providers, wait},
};
use crate::{
    Service,
    error::ApiError,
    extract::{Anonymous, read_body},
    pages::Fields,
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
pub(super) async fn show(
    app: Service,
    asked: Result<Query<Asked>, axum::extract::rejection::QueryRejection>,
) -> Response {
    let asked = asked.map(|asked| asked.0).unwrap_or_default();
    let problem = SIGN_IN_ERRORS.into_iter().find(|(code, _)| *code == asked.error).map(|(_, message)| message);
    render(&app, StatusCode::OK, &asked.next, "", problem)
}

fn render(app: &App, status: StatusCode, next: &str, email: &str, problem: Option<&str>) -> Response {
    let may_sign_up = app.settings().sign_ups.admits(false);
    page(status, SignIn { next: continued(next), email, problem, providers: &providers(app), may_sign_up }.html())
}

/// `POST /console/sign-in`
pub(super) async fn submit(app: Service, called: Anonymous, request: Request) -> Result<Response, ApiError> {
    let fields = Fields::read(&read_body(request.into_body()).await?);
    let (next, email) = (fields.get("next"), fields.get("email").trim());
    let again = |status, problem| render(&app, status, next, email, Some(problem));
    let credentials = wire::SignIn { email: email.to_owned(), password: fields.get("password").to_owned() };
    let Ok((address, password)) = credentials.parse() else { return Ok(again(StatusCode::BAD_REQUEST, NO_ADDRESS)) };
    match app.0.sign_in(&called.0, &Entrant { email: address, password }).await {
        Ok(begun) => Ok(see_other(continued(next), Some(cookies(&app).set(&begun.token)))),
        Err(Refusal::WrongPassword) => Ok(again(StatusCode::UNAUTHORIZED, WRONG)),
        Err(refusal @ Refusal::TooFast { retry_after, .. }) => {
            let problem = format!("Too many wrong passwords. Try again in {}.", wait(retry_after));
            Ok(because_of(refusal, again(StatusCode::TOO_MANY_REQUESTS, &problem)))
        }
        Err(error) => Err(error.into()),
    }
}
