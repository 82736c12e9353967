//! Setting a password by email, by forms.

use axum::response::Response;
use http::StatusCode;
use kalends_app::Refusal;
use kalends_kernel::FieldErrors;
use kalends_web::{Forgot, Forgotten, PasswordSet, Reset};
use kalends_wire as wire;

use super::{
    form::{Earlier, Sent, begin_anonymous, earlier},
    shown::{TAKEN, page},
};
use crate::{Service, error::ApiError, pages::mailed_code};

const NO_ADDRESS: &str = "Enter an email address, such as ada@example.com.";

/// `GET /console/forgot`
pub(super) async fn ask_for_address(app: Service) -> Response {
    let keeps_mail = app.settings().deployment.keeps_mail;
    page(StatusCode::OK, Forgot { email: "", wrong: None, problem: None, keeps_mail }.html())
}

/// `POST /console/forgot`
pub(super) async fn send(app: Service, sent: Sent) -> Response {
    let email = sent.fields.get("email").trim();
    let keeps_mail = app.settings().deployment.keeps_mail;
    let asks = Forgot { email, wrong: None, problem: None, keeps_mail };
    let called = match sent.called {
        Ok(called) => called,
        Err(exceeded) => {
            let again = |problem: &str| Forgot { problem: Some(problem), ..asks }.html();
            return exceeded.shown(|problem| page(StatusCode::TOO_MANY_REQUESTS, again(problem)));
        }
    };
    match (wire::ForgotPassword { email: email.to_owned() }).parse() {
        Ok(address) => {
            app.0.forgot_password(&called, address);
            page(StatusCode::ACCEPTED, Forgotten { email, keeps_mail }.html())
        }
        Err(_) => page(StatusCode::BAD_REQUEST, Forgot { wrong: Some(NO_ADDRESS), ..asks }.html()),
    }
}

/// `GET /console/reset`
pub(super) async fn ask_for_code() -> Response {
    page(StatusCode::OK, Reset::default().html())
}

/// `POST /console/reset`
pub(super) async fn set(app: Service, sent: Sent) -> Result<Response, ApiError> {
    let code = sent.fields.get("token").trim();
    let asks = Reset { code, ..Reset::default() };
    let stopped = |status, problem: &str| page(status, Reset { problem: Some(problem), ..asks }.html());
    let mut called = match sent.called {
        Ok(called) => called,
        Err(exceeded) => return Ok(exceeded.shown(|problem| stopped(StatusCode::TOO_MANY_REQUESTS, problem))),
    };
    let done = || page(StatusCode::OK, PasswordSet.html());
    let wrong_code = || page(StatusCode::BAD_REQUEST, Reset { wrong: true, ..asks }.html());
    let refused = |errors: &FieldErrors| {
        let of = |name| errors.iter().find(|error| error.param == name);
        let wrong_password = of("password").map(|error| format!("The password {}.", error.message));
        let wrong_password = wrong_password.as_deref();
        page(StatusCode::BAD_REQUEST, Reset { wrong: of("token").is_some(), wrong_password, ..asks }.html())
    };
    let body = wire::ResetPassword { token: mailed_code(code), password: sent.fields.get("password").to_owned() };
    let (token, password) = match body.parse() {
        Ok(parsed) => parsed,
        Err(errors) => return Ok(refused(&errors)),
    };
    // A code works once, so it is the form's key.
    let _running = match begin_anonymous(&app, &mut called, &token, &sent.body).await {
        Ok(Earlier::Nothing(running)) => running,
        Ok(Earlier::Answered(_)) => return Ok(done()),
        Err(Refusal::IdempotencyMismatch) => return Ok(wrong_code()),
        Err(error) => return Err(error.into()),
    };
    match app.reset_password(&called, &token, password).await {
        Ok(_) => Ok(done()),
        Err(_) if earlier(&app, &called).await?.is_some() => Ok(done()),
        Err(Refusal::Invalid(errors)) => Ok(refused(&errors)),
        Err(Refusal::EmailTaken) => Ok(stopped(StatusCode::CONFLICT, TAKEN)),
        Err(error) => Err(error.into()),
    }
}
