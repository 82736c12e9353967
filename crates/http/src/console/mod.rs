//! The pages of the console that depend on who opens them, and the forms on them.
//!
//! Each of them is one of the operations, in HTML. So it passes the same entrance as the route of the API, with the same
//! access, limits and audit.

mod form;
mod join;
mod overview;
mod password;
pub(crate) mod places;
mod shown;
mod sign_in;
mod sign_up;

use std::sync::Arc;

use axum::{
    Router,
    extract::{MatchedPath, Request},
    response::Response,
    routing::{get, post},
};
use http::Method;
use kalends_app::{
    App,
    operations::{self, Operation},
};

pub(crate) use self::form::Exceeded;
use self::places::{FORGOT, HOME, INVITATIONS, JOIN, RESEND, RESET, SIGN_IN, SIGN_OUT, SIGN_UP, SWITCH};
use crate::reply::see_other;

/// The pages and forms, each with its operation.
const OPERATIONS: [(&str, &str, &Operation); 10] = [
    ("GET", HOME, &operations::GET_ME),
    ("POST", SIGN_IN, &operations::SIGN_IN),
    ("POST", SIGN_UP, &operations::CONSOLE_SIGN_UP),
    ("POST", SIGN_OUT, &operations::SIGN_OUT),
    ("POST", RESEND, &operations::RESEND_PROOF),
    ("POST", SWITCH, &operations::SWITCH_ORG),
    ("POST", FORGOT, &operations::FORGOT_PASSWORD),
    ("POST", RESET, &operations::RESET_PASSWORD),
    ("GET", JOIN, &operations::GET_ME),
    ("POST", JOIN, &operations::ACCEPT_INVITATION),
];

/// The operation of a page or form, by its method and route template.
pub(crate) fn operation(method: &str, path: &str) -> Option<&'static Operation> {
    OPERATIONS.iter().find(|(of, at, _)| (*of, *at) == (method, path)).map(|(.., operation)| *operation)
}

/// Whether the request is a form of one of these pages.
pub(crate) fn is_form(request: &Request) -> bool {
    let path = request.extensions().get::<MatchedPath>();
    path.is_some_and(|path| operation("POST", path.as_str()).is_some()) && request.method() == Method::POST
}

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route(HOME, get(overview::show))
        .route(SIGN_IN, get(sign_in::show).post(sign_in::submit))
        .route(SIGN_UP, get(sign_up::show).post(sign_up::submit))
        .route(SIGN_OUT, post(overview::sign_out).get(home))
        .route(RESEND, post(overview::resend).get(home))
        .route(SWITCH, post(overview::switch))
        .route(FORGOT, get(password::ask_for_address).post(password::send))
        .route(RESET, get(password::ask_for_code).post(password::set))
        .route(INVITATIONS, get(join::ask).post(join::open))
        .route(JOIN, get(join::show).post(join::accept))
}

/// Somebody reloads the address of a form.
async fn home() -> Response {
    see_other(HOME, None)
}
