//! The pages for the operator of the server.
//!
//! They belong to no organization, so they are no operations, and do not pass the entrance of those. Each page needs the
//! operator's session, which [`session`] checks before anything else. Without a token in the configuration, there are no
//! such pages. Every change is one that an operator's command makes too, with the same entry in the audit log.

mod configuration;
mod figures;
mod mail;
mod organization;
mod organizations;
mod overview;
mod sealing_keys;
mod session;

use std::sync::Arc;

use axum::{
    Router,
    routing::{get, post},
};
use kalends_app::App;

use super::places::{
    OPERATOR, OPERATOR_ACTIVATE, OPERATOR_CONFIGURATION, OPERATOR_KEYS, OPERATOR_MAIL, OPERATOR_ORGANIZATION,
    OPERATOR_ORGANIZATIONS, OPERATOR_SIGN_OUT, OPERATOR_WAITING, OPERATOR_WAITLIST,
};

/// The pages; none if the configuration has no token.
pub(super) fn routes(app: &App) -> Router<Arc<App>> {
    if !app.has_operator_pages() {
        return Router::new();
    }
    Router::new()
        .route(OPERATOR, get(overview::show).post(session::sign_in))
        .route(OPERATOR_SIGN_OUT, post(session::sign_out).get(session::back))
        .route(OPERATOR_ORGANIZATIONS, get(organizations::list))
        .route(OPERATOR_ORGANIZATION, get(organization::show).post(organization::set_plan))
        .route(OPERATOR_ACTIVATE, post(organization::activate).get(organization::back))
        .route(OPERATOR_WAITLIST, post(organization::waitlist).get(organization::back))
        .route(OPERATOR_WAITING, get(organizations::waiting))
        .route(OPERATOR_MAIL, get(mail::show).post(mail::send_test))
        .route(OPERATOR_KEYS, get(sealing_keys::show))
        .route(OPERATOR_CONFIGURATION, get(configuration::show))
}
