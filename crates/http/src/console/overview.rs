//! The first page of the console, and its forms.

use axum::{
    extract::{RawQuery, Request},
    response::Response,
};
use http::StatusCode;
use kalends_accounts::{SignedIn, Waitlist};
use kalends_app::{Actor, App, Refusal};
use kalends_web::{Next, Overview, Place, UsedMetric};

use super::{
    at_a_glance::Glance,
    frame::shell,
    places::{HOME, to_sign_in},
    shown::{TAKEN, because_of, page, wait},
    usage::used,
};
use crate::{
    Service,
    error::ApiError,
    extract::{Caller, PathOf, read_body},
    pages::Fields,
    reply::{cookies, see_other, with_cookie},
};

const LOST: &str = "You no longer belong to that organization.";
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
    let SignedIn { user, organization, .. } = actor.signed_in()?;
    let glance = Glance::read(app, actor).await?;
    let metrics: Vec<UsedMetric<'_>> = glance.used.iter().copied().map(used).collect();
    let settings = app.settings();
    let overview = Overview {
        shell: &shell(actor, Place::Home)?,
        waits: organization.waitlist != Waitlist::Active,
        name: user.name.as_str(),
        role: actor.principal.kind.as_str(),
        offers_first_agent: glance.offers_first_agent,
        steps: &glance.steps,
        numbers: &glance.numbers,
        metrics: &metrics,
        asks_for_proof: settings.email_proof && user.email_verified_at.is_none(),
        resent,
        keeps_mail: settings.deployment.keeps_mail,
        problem,
    };
    Ok(page(status, overview.html()))
}

/// `POST /console/verify/resend`
pub(super) async fn resend(app: Service, caller: Caller) -> Result<Response, ApiError> {
    match app.0.resend_proof(&caller.0).await {
        Ok(_) => Ok(see_other(&format!("{HOME}?{SENT}"), None)),
        Err(Refusal::EmailTaken) => render(&app, &caller.0, StatusCode::CONFLICT, false, Some(TAKEN)).await,
        Err(refusal @ Refusal::TooMany { retry_after, .. }) => {
            let problem = format!("No more emails can be sent at the moment. Try again in {}.", wait(retry_after));
            let page = render(&app, &caller.0, StatusCode::TOO_MANY_REQUESTS, false, Some(&problem)).await?;
            Ok(because_of(ApiError::from(refusal), page))
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /console/orgs/{id}/switch`. The form can name the page to which the user continues.
pub(super) async fn switch(
    app: Service,
    caller: Caller,
    id: PathOf<String>,
    request: Request,
) -> Result<Response, ApiError> {
    let fields = Fields::of_form(&read_body(request.into_body()).await?)?;
    match app.switch_org(&caller.0, &id.0).await {
        Ok(_) => Ok(see_other(Next::of(fields.get("next")).path(), None)),
        Err(Refusal::NotFound { .. }) => render(&app, &caller.0, StatusCode::NOT_FOUND, false, Some(LOST)).await,
        Err(error) => Err(error.into()),
    }
}

/// `POST /console/sign-out`. The form can name the page to which the next user continues.
pub(super) async fn sign_out(app: Service, caller: Caller, request: Request) -> Result<Response, ApiError> {
    let fields = Fields::of_form(&read_body(request.into_body()).await?)?;
    app.sign_out(&caller.0).await?;
    Ok(with_cookie(to_sign_in(fields.get("next"), None), &cookies(&app).clear()))
}
