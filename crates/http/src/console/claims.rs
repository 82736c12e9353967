//! The claims of the user on organizations that have no owner, and the forms about them.

use std::sync::Arc;

use axum::{Router, response::Response, routing::get};
use http::StatusCode;
use kalends_app::{Actor, App, Missing, Refusal, operations};
use kalends_kernel::{ClaimId, Page};
use kalends_web::{
    CLAIM_CODE_FIELDS, CLAIM_FIELDS, ClaimCode, ClaimShown, Claims, Done, NO_PROBLEMS, Paging, Place, Problems,
};
use kalends_wire as wire;
use serde::Deserialize;

use super::{
    form::{OwnForm, new_once, read},
    frame::{Asked, AskedOf, shell},
    places::{CLAIM, CLAIMS, Form},
    shown::{page, problems, refused, shown_again},
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    reply::see_other,
};

/// The pages and forms, each with its operation.
pub(super) const OPERATIONS: &[Form] = &[
    ("GET", CLAIMS, &operations::LIST_CLAIMS),
    ("POST", CLAIMS, &operations::INITIATE_CLAIM),
    ("GET", CLAIM, &operations::LIST_CLAIMS),
    ("POST", CLAIM, &operations::VERIFY_CLAIM),
];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route(CLAIMS, get(list).post(initiate)).route(CLAIM, get(ask).post(verify))
}

/// The list, to continue on after a refused form, with the text of the link to it.
const TO_LIST: (&str, &str) = (CLAIMS, "See your claims");
/// Why a right code had no effect.
const UNSENT: &str = "The email that lets people object could not be sent, so nothing has changed. Try again later.";

/// `GET /console/claims`
async fn list(app: Service, caller: Caller, asked: AskedOf<Asked>) -> Result<Response, ApiError> {
    let asked = Asked::of(asked);
    Ok(page(StatusCode::OK, render(&app, &caller.0, asked.done(), asked.page(), "", &NO_PROBLEMS).await?))
}

/// The list, with the address that was typed in a form that had no effect, and the reason.
async fn render(
    app: &App,
    caller: &Actor,
    done: Done,
    at: Page,
    email: &str,
    problems: &Problems,
) -> Result<String, Refusal> {
    let listed = app.list_claims(caller, at).await?;
    let paging = Paging { path: CLAIMS.to_owned(), filter: Vec::new(), page: at, total: listed.total };
    let claims: Vec<_> = listed.data.iter().map(shown).collect();
    let list = Claims {
        shell: &shell(caller, Place::Home)?,
        done,
        claims: &claims,
        paging: &paging,
        once: &new_once(app.entropy()),
        email,
        keeps_mail: app.settings().deployment.keeps_mail,
        problems,
    };
    Ok(list.html())
}

fn shown(claim: &wire::AccountClaim) -> ClaimShown {
    ClaimShown {
        id: claim.id.to_string(),
        status: claim.status,
        org: claim.org_id.map(|org| org.to_string()),
        created_at: claim.created_at,
        expires_at: claim.expires_at,
        takes_effect_at: claim.takes_effect_at,
        ended_at: claim.ended_at,
    }
}

/// The part of an answer that leads to the page of a claim.
#[derive(Deserialize)]
struct Initiated {
    claim_id: ClaimId,
}

/// `POST /console/claims`
async fn initiate(app: Service, mut form: OwnForm) -> Result<Response, ApiError> {
    let email = form.fields.get("email").trim().to_owned();
    let body = wire::InitiateClaim { email: email.clone() };
    let outcome = match body.parse() {
        Ok(address) => form.once(&app, async |caller: &Actor| app.initiate_claim(caller, &address).await).await,
        Err(errors) => Err(errors.into()),
    };
    match outcome {
        Ok(answer) => {
            let claim = read::<Initiated>(&answer)?.claim_id;
            Ok(see_other(&format!("{CLAIMS}/{claim}?done=claiming"), None))
        }
        Err(refusal) => {
            let (problems, error) = problems(refusal, &CLAIM_FIELDS)?;
            let text = render(&app, &form.caller, Done::default(), Page::default(), &email, &problems).await;
            shown_again(error, text, TO_LIST)
        }
    }
}

/// `GET /console/claims/{id}`
async fn ask(app: Service, caller: Caller, id: PathOf<String>, asked: AskedOf<Asked>) -> Result<Response, ApiError> {
    match code(&app, &caller.0, &id.0, Asked::of(asked).done(), &NO_PROBLEMS) {
        Ok(text) => Ok(page(StatusCode::OK, text)),
        Err(refusal) => refused(refusal, TO_LIST),
    }
}

/// The page that asks for the code. It does not say whether there is such a claim, as the form does not.
fn code(app: &App, caller: &Actor, id: &str, done: Done, problems: &Problems) -> Result<String, Refusal> {
    let claim: ClaimId = id.parse().map_err(|_| Refusal::missing(Missing::Claim, id))?;
    let asks = ClaimCode {
        shell: &shell(caller, Place::Home)?,
        done,
        id: &claim.to_string(),
        once: &new_once(app.entropy()),
        keeps_mail: app.settings().deployment.keeps_mail,
        problems,
    };
    Ok(asks.html())
}

/// `POST /console/claims/{id}`
async fn verify(app: Service, id: PathOf<String>, mut form: OwnForm) -> Result<Response, ApiError> {
    let body = wire::VerifyClaim { claim_id: id.0.clone(), otp: form.fields.get("otp").trim().to_owned() };
    let outcome = match body.parse() {
        Ok((claim, code)) => form.once(&app, async |caller: &Actor| app.verify_claim(caller, claim, &code).await).await,
        Err(errors) => Err(errors.into()),
    };
    let refusal = match outcome {
        Ok(_) => return Ok(see_other(&format!("{CLAIMS}?done=claimed"), None)),
        Err(refusal) => refusal,
    };
    let (problems, error) = match refusal {
        Refusal::Undelivered => (Problems::general(UNSENT.to_owned()), ApiError::from(Refusal::Undelivered)),
        refusal => problems(refusal, &CLAIM_CODE_FIELDS)?,
    };
    shown_again(error, code(&app, &form.caller, &id.0, Done::default(), &problems), TO_LIST)
}
