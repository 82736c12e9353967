//! The organizations of the user, and the page after signing in again for a form.

use std::sync::Arc;

use axum::{Router, response::Response, routing::get};
use http::StatusCode;
use kalends_app::{App, operations};
use kalends_web::{OwnOrganization, OwnOrganizations, Place, SignedInAgain};

use super::{
    frame::shell,
    places::{Form, ORGS, SIGNED_IN},
    shown::page,
};
use crate::{Service, error::ApiError, extract::Caller};

/// The pages, each with its operation.
pub(super) const OPERATIONS: &[Form] =
    &[("GET", ORGS, &operations::LIST_ORGS), ("GET", SIGNED_IN, &operations::GET_ME)];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route(ORGS, get(list)).route(SIGNED_IN, get(signed_in))
}

/// `GET /console/orgs`
async fn list(app: Service, caller: Caller) -> Result<Response, ApiError> {
    let orgs = app.own_orgs(&caller.0).await?.orgs.into_iter();
    let orgs: Vec<_> = orgs
        .map(|own| OwnOrganization {
            id: own.org.id.to_string(),
            name: own.org.name,
            role: own.role,
            since: own.member_since,
            active: own.active,
        })
        .collect();
    let shell = shell(&app, &caller.0, Place::Home).await?;
    Ok(page(StatusCode::OK, OwnOrganizations { shell: &shell, orgs: &orgs }.html()))
}

/// `GET /console/signed-in`
async fn signed_in(app: Service, caller: Caller) -> Result<Response, ApiError> {
    let shell = shell(&app, &caller.0, Place::Home).await?;
    Ok(page(StatusCode::OK, SignedInAgain { shell: &shell }.html()))
}
