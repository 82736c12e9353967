//! The organizations of the user, and the page after signing in again for a form.

use std::sync::Arc;

use axum::{Router, response::Response, routing::get};
use http::StatusCode;
use kalends_app::{App, operations};
use kalends_kernel::OrgId;
use kalends_web::{FormPlace, OtherOrganization, OwnOrganization, OwnOrganizations, Place, SignedInAgain};
use serde::Deserialize;

use super::{
    frame::{AskedOf, shell},
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
    let shell = shell(&caller.0, Place::Home)?;
    Ok(page(StatusCode::OK, OwnOrganizations { shell: &shell, orgs: &orgs }.html()))
}

/// What the address of the page after signing in again says.
#[derive(Debug, Default, Deserialize)]
struct Asked {
    /// The organization of the form in the other tab.
    #[serde(default)]
    org: String,
}

/// `GET /console/signed-in`
async fn signed_in(app: Service, caller: Caller, asked: AskedOf<Asked>) -> Result<Response, ApiError> {
    let org = asked.ok().and_then(|asked| asked.0.org.parse::<OrgId>().ok());
    let shell = shell(&caller.0, Place::Home)?;
    let shown = |form: FormPlace<'_>| page(StatusCode::OK, SignedInAgain { shell: &shell, form }.html());
    let Some(org) = org.filter(|org| *org != caller.0.org()) else { return Ok(shown(FormPlace::Here)) };
    let orgs = app.own_orgs(&caller.0).await?.orgs;
    let other = orgs.into_iter().find(|own| own.org.id == org);
    let other = other.map(|own| OtherOrganization { id: own.org.id.to_string(), name: own.org.name });
    Ok(shown(other.as_ref().map_or(FormPlace::Lost, FormPlace::Elsewhere)))
}
