//! The user's own account: the name and the password.

use std::sync::Arc;

use axum::{
    Router,
    response::Response,
    routing::{get, post},
};
use http::StatusCode;
use kalends_accounts::Password;
use kalends_app::{Actor, App, Refusal, operations};
use kalends_web::{ACCOUNT_FIELDS, Done, NO_PROBLEMS, OwnAccount, Place, Problems};
use kalends_wire as wire;

use super::{
    form::{Earlier, OwnForm, earlier, new_once},
    frame::{Asked, AskedOf, shell},
    places::{ACCOUNT, ACCOUNT_PASSWORD, Form},
    security::WRONG_PASSWORD,
    shown::{because_of, page, problems, wait},
};
use crate::{
    Service,
    error::ApiError,
    extract::Caller,
    reply::{cookies, see_other},
};

/// The pages and forms, each with its operation.
pub(super) const OPERATIONS: &[Form] = &[
    ("GET", ACCOUNT, &operations::GET_ME),
    ("POST", ACCOUNT, &operations::UPDATE_ME),
    ("POST", ACCOUNT_PASSWORD, &operations::CHANGE_PASSWORD),
];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route(ACCOUNT, get(show).post(change_name)).route(ACCOUNT_PASSWORD, post(change_password).get(back))
}

/// The name of the field with the current password.
const CURRENT: &str = "current_password";

/// `GET /console/account`
async fn show(app: Service, caller: Caller, asked: AskedOf<Asked>) -> Result<Response, ApiError> {
    Ok(page(StatusCode::OK, render(&app, &caller.0, Asked::of(asked).done(), None, &NO_PROBLEMS).await?))
}

/// The page, with the name that was typed in a form that had no effect, and the reason. Passwords are not shown again.
async fn render(
    app: &App,
    caller: &Actor,
    done: Done,
    typed: Option<&str>,
    problems: &Problems,
) -> Result<String, Refusal> {
    let user = app.me(caller).await?.user;
    let shown = OwnAccount {
        shell: &shell(caller, Place::Home)?,
        done,
        proved_at: user.email_verified_at,
        has_password: user.has_password,
        once: &new_once(app.entropy()),
        second_factor: user.second_factor,
        name: typed.unwrap_or(&user.name),
        problems,
    };
    Ok(shown.html())
}

/// The page that says why a form had no effect, with the name that was typed.
async fn again(
    app: &App,
    caller: &Actor,
    typed: Option<&str>,
    (problems, error): (Problems, ApiError),
) -> Result<Response, ApiError> {
    let shown = page(error.status(), render(app, caller, Done::default(), typed, &problems).await?);
    Ok(because_of(error, shown))
}

/// `POST /console/account`
async fn change_name(app: Service, form: OwnForm) -> Result<Response, ApiError> {
    let typed = form.fields.get("name").trim();
    let outcome = match (wire::UpdateMe { name: Some(Some(typed.to_owned())) }).parse() {
        Ok(name) => app.update_me(&form.caller, name).await,
        Err(errors) => Err(errors.into()),
    };
    match outcome {
        Ok(_) => Ok(see_other(&format!("{ACCOUNT}?done=saved"), None)),
        Err(refusal) => again(&app, &form.caller, Some(typed), problems(refusal, &ACCOUNT_FIELDS)?).await,
    }
}

/// `POST /console/account/password`. All sessions of the user end, and the browser gets a new one.
async fn change_password(app: Service, mut form: OwnForm) -> Result<Response, ApiError> {
    let typed = |name| form.fields.get(name).to_owned();
    let body = wire::ChangePassword { current_password: typed(CURRENT), new_password: typed("new_password") };
    let outcome = match body.parse() {
        Ok((current, new)) => changed(&app, &mut form, current, new).await,
        Err(errors) => Err(errors.into()),
    };
    match outcome {
        Ok(token) => {
            let cookie = token.map(|token| cookies(&app).set(&token));
            Ok(see_other(&format!("{ACCOUNT}?done=password"), cookie))
        }
        Err(refusal) => again(&app, &form.caller, None, about_password(refusal)?).await,
    }
}

/// Changes the password once, and returns the token of a new session. A form that is sent twice gets none: its session has
/// ended with the first one, and whatever ended since must stay so. A browser that has dropped the first answer signs in.
async fn changed(
    app: &App,
    form: &mut OwnForm,
    current: Option<Password>,
    new: Password,
) -> Result<Option<String>, Refusal> {
    let Earlier::Nothing(_running) = form.begin(app).await? else { return Ok(None) };
    match app.change_password(&form.caller, current, new).await {
        Ok(begun) => Ok(Some(begun.token)),
        // Another node may just have changed it.
        Err(refusal) => earlier(app, &form.caller.request).await?.map(|_| None).ok_or(refusal),
    }
}

/// [`problems`] of the form that changes the password.
fn about_password(refusal: Refusal) -> Result<(Problems, ApiError), ApiError> {
    let own = match &refusal {
        Refusal::Invalid(errors) if errors.iter().any(|error| error.param == CURRENT) => {
            let mut wrong = Problems::default();
            wrong.add(&ACCOUNT_FIELDS, CURRENT, WRONG_PASSWORD);
            Some(wrong)
        }
        Refusal::TooFast { retry_after, .. } => {
            Some(Problems::general(format!("Too many wrong passwords. Try again in {}.", wait(*retry_after))))
        }
        _ => None,
    };
    let (other, error) = problems(refusal, &ACCOUNT_FIELDS)?;
    Ok((own.unwrap_or(other), error))
}

/// Somebody reloads the address of the form.
async fn back() -> Response {
    see_other(ACCOUNT, None)
}
