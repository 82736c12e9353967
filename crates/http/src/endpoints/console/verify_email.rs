//! `POST /v1/auth/verify-email`

use axum::{
    extract::{FromRequest as _, Request},
    response::{IntoResponse as _, Response},
};
use http::StatusCode;
use kalends_app::{OwnProof, Refusal};
use kalends_web::VerificationState;
use kalends_wire as wire;

use crate::{
    Service,
    error::ApiError,
    extract::{Anonymous, JsonBody, read_body},
    pages::{Fields, is_form, mailed_code, verification},
    reply::Changed,
};

/// The field of a form that was shown with what its code proves.
const SHOWN: &str = "shown";

/// Proves the address of a user with the token from the email.
///
/// No other credential is needed. The token works for 24 hours; repeating the request changes nothing and returns the
/// same answer. The organization that the user signed up then gets the limits of its plan and can invite people. If the
/// token is unknown, voided by a later one or older than 24 hours, the answer is 400 with `param` `token`. If another
/// user has proved the same address first, the answer is 409, code `email_taken`. If the request is a form, the answer is
/// HTML: first what the token proves, with a form that proves it.
#[utoipa::path(
    post,
    path = "/v1/auth/verify-email",
    operation_id = "verifyEmail",
    tag = "Console",
    request_body(content(
        (wire::VerifyEmail = "application/json"),
        (wire::VerifyEmail = "application/x-www-form-urlencoded")
    )),
    responses((status = 200, description = "The address is proved.", body = wire::EmailVerified))
)]
pub(crate) async fn verify_email(app: Service, called: Anonymous, request: Request) -> Result<Response, ApiError> {
    if !is_form(request.headers()) {
        let body = JsonBody::<wire::VerifyEmail>::from_request(request, &()).await?;
        return Ok(Changed(app.verify_email(&called.0, &body.0.parse()?).await?).into_response());
    }
    let fields = Fields::of_form(&read_body(request.into_body()).await?)?;
    let typed = fields.get("token").trim();
    let wrong = VerificationState::Asks { is_wrong: true };
    let Ok(token) = (wire::VerifyEmail { token: mailed_code(typed) }).parse() else {
        return Ok(verification(StatusCode::BAD_REQUEST, wrong));
    };
    // A person first sees what they confirm.
    if fields.get(SHOWN).is_empty() {
        return match app.proof_of(&token).await {
            // The link was used before.
            Ok(OwnProof { email, is_proved: true, .. }) => {
                Ok(verification(StatusCode::OK, VerificationState::Proved { email: email.as_str() }))
            }
            Ok(proof) => {
                let (email, organization) = (proof.email.as_str(), proof.organization.as_str());
                Ok(verification(StatusCode::OK, VerificationState::Shows { code: typed, email, organization }))
            }
            Err(refusal) => refused(refusal, wrong),
        };
    }
    match app.verify_email(&called.0, &token).await {
        Ok(answered) => {
            let email = &answered.resource.email;
            Ok(verification(StatusCode::OK, VerificationState::Proved { email }))
        }
        Err(refusal) => refused(refusal, wrong),
    }
}

/// The page for a code that proves nothing.
fn refused(refusal: Refusal, wrong: VerificationState<'_>) -> Result<Response, ApiError> {
    match refusal {
        Refusal::Invalid(_) => Ok(verification(StatusCode::BAD_REQUEST, wrong)),
        Refusal::EmailTaken => Ok(verification(StatusCode::CONFLICT, VerificationState::Taken)),
        refusal => Err(refusal.into()),
    }
}
