//! Setting a password by email, by forms.

use axum::response::Response;
use http::StatusCode;
use kalends_app::Refusal;
use kalends_kernel::FieldErrors;
use kalends_web::{Forgot, Forgotten, PasswordSet, Reset};
use kalends_wire as wire;

use super::{
    form::Sent,
    shown::{because_of, page, wait},
};
use crate::{Service, error::ApiError, pages::mailed_code};

const NO_ADDRESS: &str = "Enter an email address, such as ada@example.com.";

/// `GET /console/forgot`
pub(super) async fn ask_for_address() -> Response {
    page(StatusCode::OK, Forgot { email: "", wrong: None, problem: None }.html())
}

/// `POST /console/forgot`
pub(super) async fn send(app: Service, sent: Sent) -> Response {
    let email = sent.fields.get("email").trim();
    let asks = Forgot { email, wrong: None, problem: None };
    if let Some(exceeded) = sent.exceeded {
        let problem = format!("No more emails can be sent at the moment. Try again in {}.", wait(exceeded.retry_after));
        let again = page(StatusCode::TOO_MANY_REQUESTS, Forgot { problem: Some(&problem), ..asks }.html());
        return because_of(exceeded.error, again);
    }
    match (wire::ForgotPassword { email: email.to_owned() }).parse() {
        Ok(address) => {
            app.0.forgot_password(&sent.called, address);
            page(StatusCode::ACCEPTED, Forgotten { email }.html())
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
    if let Some(exceeded) = sent.exceeded {
        let problem = format!("Too many codes were tried. Try again in {}.", wait(exceeded.retry_after));
        let again = page(StatusCode::TOO_MANY_REQUESTS, Reset { problem: Some(&problem), ..asks }.html());
        return Ok(because_of(exceeded.error, again));
    }
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
    match app.reset_password(&sent.called, &token, password).await {
        Ok(_) => Ok(page(StatusCode::OK, PasswordSet.html())),
        Err(Refusal::Invalid(errors)) => Ok(refused(&errors)),
        Err(error) => Err(error.into()),
    }
}
