//! The second factor, by forms.

use axum::{extract::Request, response::Response};
use http::StatusCode;
use kalends_app::{Actor, Answered, App, Refusal, SecondFactorState};
use kalends_kernel::FieldErrors;
use kalends_web::{Security, SecurityForm, SecurityState, WrongEntry};
use kalends_wire as wire;
use serde::Deserialize;

use super::{
    form::{ONCE, new_once, once, read},
    places::SECURITY,
    shown::{because_of, page, wait},
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, read_body},
    pages::Fields,
    reply::see_other,
};

/// What is wrong with a current password.
pub(super) const WRONG_PASSWORD: &str = "This is not your password.";
const WRONG_CODE: &str = "This code is wrong, used or too old. Wait for the next one, or use a recovery code.";
const WRONG_FIRST_CODE: &str = "This code is wrong, used or too old. Wait for the next one.";
const NO_PASSWORD: &str = "Your account has no password. Set one by email first.";
const CHANGED: &str = "This took too long, or your second factor has changed. Please start again.";

/// `GET /console/security`
pub(super) async fn show(app: Service, caller: Caller) -> Result<Response, ApiError> {
    render(&app, &caller.0, StatusCode::OK, None).await
}

/// Somebody reloads the address of a form.
pub(super) async fn back() -> Response {
    see_other(SECURITY, None)
}

/// The page in the state in which the second factor is. The secret is shown again only if its first code was wrong.
async fn render(
    app: &App,
    actor: &Actor,
    status: StatusCode,
    wrong: Option<WrongEntry<'_>>,
) -> Result<Response, ApiError> {
    let confirms = wrong.is_some_and(|wrong| wrong.form == SecurityForm::Confirm);
    let known = app.second_factor(actor).await?;
    let state = match &known {
        SecondFactorState::On { recovery_codes } => SecurityState::On { recovery_codes: *recovery_codes },
        SecondFactorState::Pending(started) if confirms => begun(started),
        SecondFactorState::Pending(_) | SecondFactorState::Off => SecurityState::Off,
    };
    Ok(page(status, Security { state, wrong, once: &new_once(app.entropy()) }.html()))
}

fn begun(started: &wire::SecondFactorStarted) -> SecurityState<'_> {
    SecurityState::Begun { secret: &started.secret, url: &started.otpauth_url }
}

/// `POST /console/security/start`
pub(super) async fn start(app: Service, caller: Caller, request: Request) -> Result<Response, ApiError> {
    let fields = Fields::of_form(&read_body(request.into_body()).await?)?;
    let password = wire::StartSecondFactor { password: fields.get("password").to_owned() }.parse();
    match app.start_second_factor(&caller.0, password).await {
        Ok(answered) => {
            let state = begun(&answered.resource);
            Ok(page(StatusCode::OK, Security { state, wrong: None, once: &new_once(app.entropy()) }.html()))
        }
        Err(refusal) => refused(&app, &caller.0, SecurityForm::Start, refusal).await,
    }
}

/// `POST /console/security/confirm`
pub(super) async fn confirm(app: Service, caller: Caller, request: Request) -> Result<Response, ApiError> {
    let (app, form) = (&app, SecurityForm::Confirm);
    show_codes(app, caller, request, form, async |caller: &Actor, code: &str| {
        app.confirm_second_factor(caller, code).await
    })
    .await
}

/// `POST /console/security/recovery-codes`
pub(super) async fn renew(app: Service, caller: Caller, request: Request) -> Result<Response, ApiError> {
    let (app, form) = (&app, SecurityForm::Renew);
    show_codes(app, caller, request, form, async |caller: &Actor, code: &str| {
        app.renew_recovery_codes(caller, code).await
    })
    .await
}

/// The part of the answer that the page shows.
#[derive(Deserialize)]
struct Shown {
    recovery_codes: Vec<String>,
}

/// Makes recovery codes with the code of the form, and shows them. A form that is sent twice shows the same ones.
async fn show_codes(
    app: &App,
    mut caller: Caller,
    request: Request,
    form: SecurityForm,
    make: impl AsyncFnOnce(&Actor, &str) -> Result<Answered<wire::RecoveryCodes>, Refusal>,
) -> Result<Response, ApiError> {
    let outcome = match code(request, form).await? {
        Ok(Typed { code, key }) => {
            once(app, &mut caller.0, &key, code.as_bytes(), async |caller: &Actor| make(caller, &code).await).await
        }
        Err(errors) => Err(errors.into()),
    };
    match outcome {
        Ok(answer) => {
            let Shown { recovery_codes } = read(&answer)?;
            let state = SecurityState::Codes { codes: &recovery_codes };
            Ok(page(StatusCode::OK, Security { state, wrong: None, once: &new_once(app.entropy()) }.html()))
        }
        Err(refusal) => refused(app, &caller.0, form, refusal).await,
    }
}

/// `POST /console/security/off`
pub(super) async fn turn_off(app: Service, caller: Caller, request: Request) -> Result<Response, ApiError> {
    let outcome = match code(request, SecurityForm::Remove).await? {
        Ok(Typed { code, .. }) => app.remove_second_factor(&caller.0, &code).await,
        Err(errors) => Err(errors.into()),
    };
    match outcome {
        // It may have been turned off by the same form.
        Ok(_) | Err(Refusal::SecondFactorOff) => Ok(see_other(SECURITY, None)),
        Err(refusal) => refused(&app, &caller.0, SecurityForm::Remove, refusal).await,
    }
}

/// What a form with a code says.
struct Typed {
    code: String,
    /// The random key of the form. It must not follow from the code: a caller who guesses a key gets the earlier answer.
    key: String,
}

async fn code(request: Request, form: SecurityForm) -> Result<Result<Typed, FieldErrors>, ApiError> {
    let fields = Fields::of_form(&read_body(request.into_body()).await?)?;
    let code = wire::SecondFactorCode { code: fields.get(form.field()).to_owned() }.parse();
    Ok(code.map(|code| Typed { code, key: fields.get(ONCE).to_owned() }))
}

/// The page that says what is wrong, beside the field if the form is still on it.
async fn refused(app: &App, actor: &Actor, form: SecurityForm, refusal: Refusal) -> Result<Response, ApiError> {
    let problem = match &refusal {
        Refusal::Invalid(_) if form == SecurityForm::Start => WRONG_PASSWORD.to_owned(),
        Refusal::Invalid(_) if form == SecurityForm::Confirm => WRONG_FIRST_CODE.to_owned(),
        Refusal::Invalid(_) => WRONG_CODE.to_owned(),
        Refusal::PasswordRequired => NO_PASSWORD.to_owned(),
        Refusal::SecondFactorOn | Refusal::SecondFactorOff | Refusal::IdempotencyMismatch => CHANGED.to_owned(),
        Refusal::TooFast { retry_after, .. } => {
            format!("Too many wrong passwords. Try again in {}.", wait(*retry_after))
        }
        Refusal::TooMany { retry_after, .. } => format!("Too many wrong codes. Try again in {}.", wait(*retry_after)),
        _ => return Err(refusal.into()),
    };
    let error = ApiError::from(refusal);
    let shown = render(app, actor, error.status(), Some(WrongEntry { form, problem: &problem })).await?;
    Ok(because_of(error, shown))
}
