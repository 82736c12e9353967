//! The first page of the console, and its forms.

use axum::{extract::RawQuery, response::Response};
use http::StatusCode;
use kalends_app::{Actor, App, Refusal};
use kalends_web::{OtherOrganization, Overview};

use super::{
    places::{HOME, SIGN_IN},
    shown::{page, wait},
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf},
    reply::{cookies, see_other},
};

const TAKEN: &str = "Another account has confirmed this address.";
/// The query of the page after another email was sent.
const SENT: &str = "sent";

/// `GET /console`
pub(super) async fn show(app: Service, caller: Caller, query: RawQuery) -> Result<Response, ApiError> {
    let resent = query.0.as_deref() == Some(SENT);
    render(&app, &caller.0, StatusCode::OK, resent, None).await
}

async fn render(
    app: &App,
    actor: &Actor,
    status: StatusCode,
    resent: bool,
    problem: Option<&str>,
) -> Result<Response, ApiError> {
    let me = app.me(actor).await?;
    let orgs = app.own_orgs(actor).await?.orgs;
    let others = orgs.into_iter().filter(|org| !org.active);
    let others: Vec<_> =
        others.map(|own| OtherOrganization { id: own.org.id.to_string(), name: own.org.name }).collect();
    let overview = Overview {
        organization: &me.org.name,
        waits: me.org.is_waitlisted,
        name: &me.user.name,
        email: &me.user.email,
        role: me.role,
        asks_for_proof: app.settings().email_proof && me.user.email_verified_at.is_none(),
        resent,
        problem,
        others: &others,
    };
    Ok(page(status, overview.html()))
}

/// `POST /console/verify/resend`
pub(super) async fn resend(app: Service, caller: Caller) -> Result<Response, ApiError> {
    let problem = match app.0.resend_proof(&caller.0).await {
        Ok(_) => return Ok(see_other(&format!("{HOME}?{SENT}"), None)),
        Err(Refusal::EmailTaken) => (StatusCode::CONFLICT, TAKEN.to_owned()),
        Err(Refusal::TooMany { retry_after, .. }) => {
            let problem = format!("No more emails can be sent at the moment. Try again in {}.", wait(retry_after));
            (StatusCode::TOO_MANY_REQUESTS, problem)
        }
        Err(error) => return Err(error.into()),
    };
    render(&app, &caller.0, problem.0, false, Some(&problem.1)).await
}

/// `POST /console/orgs/{id}/switch`
pub(super) async fn switch(app: Service, caller: Caller, id: PathOf<String>) -> Result<Response, ApiError> {
    app.switch_org(&caller.0, &id.0).await?;
    Ok(see_other(HOME, None))
}

/// `POST /console/sign-out`
pub(super) async fn sign_out(app: Service, caller: Caller) -> Result<Response, ApiError> {
    app.sign_out(&caller.0).await?;
    Ok(see_other(SIGN_IN, Some(cookies(&app).clear())))
}
