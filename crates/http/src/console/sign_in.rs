//! Signing in by a form.

use axum::{
    extract::{Query, rejection::QueryRejection},
    response::Response,
};
use http::{HeaderMap, StatusCode};
use kalends_app::{App, Entrant, Refusal};
use kalends_web::{Ended, Next, SIGN_IN_ERRORS, SignIn, SignInCode};
use kalends_wire as wire;
use serde::Deserialize;

use super::{
    form::{Earlier, ONCE, Sent, begin_anonymous, new_once, opened_invitation, read},
    shown::{admits, because_of, page, providers, wait},
};
use crate::{
    Service,
    error::ApiError,
    reply::{cookies, see_other},
};

const WRONG: &str = "The address or the password is wrong.";
const WRONG_CODE: &str = "This code is wrong, used or too old. Wait for the next one, or use a recovery code.";
const EXPIRED: &str = "Signing in took too long, or your account has changed. Please start again.";
const NO_ADDRESS: &str = "Enter the email address that you signed up with.";

/// What the address of the page says.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    /// The path to continue to.
    #[serde(default)]
    next: String,
    /// Why a sign-in with a provider failed.
    #[serde(default)]
    error: String,
    /// The form that may have ended the session, by its name in [`Ended`].
    #[serde(default)]
    ended: String,
}

/// `GET /console/sign-in`
pub(super) async fn show(app: Service, headers: HeaderMap, asked: Result<Query<Asked>, QueryRejection>) -> Response {
    let asked = asked.map(|asked| asked.0).unwrap_or_default();
    let next = Next::of(&asked.next);
    let problem = SIGN_IN_ERRORS.into_iter().find(|(code, _)| *code == asked.error).map(|(_, message)| message);
    let may_sign_up = admits(&app, next, opened_invitation(&headers).as_deref());
    let ended = Ended::named(&asked.ended);
    render(&app, StatusCode::OK, SignIn { next, email: "", problem, ended, providers: &[], may_sign_up })
}

fn render(app: &App, status: StatusCode, shown: SignIn<'_>) -> Response {
    page(status, SignIn { providers: &providers(app), ..shown }.html())
}

/// The page that asks for the code after the password was right. `token` continues the sign-in.
fn ask_for_code(app: &App, status: StatusCode, next: Next<'_>, token: &str, wrong: Option<&str>) -> Response {
    page(status, SignInCode { next, token, wrong, once: &new_once(app.entropy()) }.html())
}

/// The part of the answer to a sign-in that begins the session.
#[derive(Deserialize)]
struct Begun {
    token: String,
}

/// `POST /console/sign-in`. The page has two forms: one for the address and the password and, if the second factor is
/// on, one for the code.
pub(super) async fn submit(app: Service, sent: Sent) -> Result<Response, ApiError> {
    let (next, email) = (Next::of(sent.fields.get("next")), sent.fields.get("email").trim());
    let may_sign_up = admits(&app, next, sent.invitation.as_deref());
    let again = |status, problem: &str| {
        let problem = Some(problem);
        render(&app, status, SignIn { next, email, problem, ended: None, providers: &[], may_sign_up })
    };
    let token = sent.fields.get(SignInCode::TOKEN);
    let mut called = match sent.called {
        Ok(called) => called,
        Err(exceeded) => {
            return Ok(exceeded.shown(|problem| match token {
                "" => again(StatusCode::TOO_MANY_REQUESTS, problem),
                token => ask_for_code(&app, StatusCode::TOO_MANY_REQUESTS, next, token, Some(problem)),
            }));
        }
    };
    let signed_in = |token: &str| see_other(next.path(), Some(cookies(&app).set(token)));
    if !token.is_empty() {
        let Ok(code) = (wire::SecondFactorCode { code: sent.fields.get("code").to_owned() }).parse() else {
            return Ok(ask_for_code(&app, StatusCode::BAD_REQUEST, next, token, Some(WRONG_CODE)));
        };
        let _running = match begin_anonymous(&app, &mut called, sent.fields.get(ONCE), &sent.body).await? {
            Earlier::Answered(answer) => return Ok(signed_in(&read::<Begun>(&answer)?.token)),
            Earlier::Nothing(running) => running,
        };
        return match app.0.finish_sign_in(&called, token, &code).await {
            Ok(begun) => Ok(signed_in(&begun.token)),
            Err(Refusal::SecondFactorWrong) => {
                Ok(ask_for_code(&app, StatusCode::UNAUTHORIZED, next, token, Some(WRONG_CODE)))
            }
            Err(refusal @ Refusal::TooMany { retry_after, .. }) => {
                let problem = format!("Too many wrong codes. Try again in {}.", wait(retry_after));
                let asks = ask_for_code(&app, StatusCode::TOO_MANY_REQUESTS, next, token, Some(&problem));
                Ok(because_of(ApiError::from(refusal), asks))
            }
            Err(Refusal::NotSignedIn) => Ok(again(StatusCode::UNAUTHORIZED, EXPIRED)),
            Err(error) => Err(error.into()),
        };
    }
    let password = sent.fields.get("password").to_owned();
    let credentials = wire::SignIn { email: email.to_owned(), password, code: None };
    let Ok((address, password, code)) = credentials.parse() else {
        return Ok(again(StatusCode::BAD_REQUEST, NO_ADDRESS));
    };
    match app.0.sign_in(&called, &Entrant { email: address, password, code }).await {
        Ok(begun) => Ok(signed_in(&begun.token)),
        Err(Refusal::SecondFactorRequired(step)) => Ok(ask_for_code(&app, StatusCode::OK, next, step.reveal(), None)),
        Err(Refusal::WrongPassword) => Ok(again(StatusCode::UNAUTHORIZED, WRONG)),
        Err(refusal @ Refusal::TooFast { retry_after, .. }) => {
            let problem = format!("Too many wrong passwords. Try again in {}.", wait(retry_after));
            Ok(because_of(ApiError::from(refusal), again(StatusCode::TOO_MANY_REQUESTS, &problem)))
        }
        Err(error) => Err(error.into()),
    }
}
