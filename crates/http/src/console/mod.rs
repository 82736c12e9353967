//! The pages of the console that depend on who opens them, and the forms on them.
//!
//! Each of them is one of the operations, in HTML. So it passes the same entrance as the route of the API, with the same
//! access, limits and audit.

mod account;
mod activity;
mod agents;
mod approvals;
mod at_a_glance;
mod authorize;
mod availability;
mod booking_pages;
mod caldav;
mod calendar;
mod calendar_settings;
mod calendars;
mod claims;
mod connect;
mod connections;
mod deliveries;
mod destinations;
mod drawing;
mod expired;
mod feeds;
mod first_event;
mod first_run;
mod form;
mod frame;
mod hidden;
mod imports;
mod join;
mod kept;
mod keys;
mod living;
mod members;
mod new_calendar;
mod operator;
mod organization;
mod orgs;
mod overview;
mod parts;
mod password;
pub(crate) mod places;
mod proposals;
mod security;
mod settings;
mod shown;
mod sign_in;
mod sign_up;
mod subscription_list;
mod subscriptions;
mod usage;
mod waiting;
mod webhooks;

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

use self::places::{
    CALENDARS, CONFIRM_SECOND_FACTOR, CONNECT, CONNECTIONS, DECLINE, DISCONNECT, FORGOT, Form, HOME, INVITATIONS, JOIN,
    OFFER, PAUSE, REAUTHORIZE, REFRESH, REMOVE_SECOND_FACTOR, RENEW_RECOVERY_CODES, RESEND, RESET, RESUME, REVOKE,
    SECURITY, SIGN_IN, SIGN_OUT, SIGN_UP, START, START_SECOND_FACTOR, SWITCH,
};
pub(crate) use self::{
    authorize::PARAMETERS as AUTHORIZATION_PARAMETERS, booking_pages::failed_preview, expired::expired, form::Exceeded,
};
use crate::reply::see_other;

/// The pages and forms without a list of their own, each with its operation.
const OPERATIONS: &[Form] = &[
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
    // It also opens the link, as the caller of that operation. For the entrance it is a read: a browser states no origin
    // when it opens a page.
    ("GET", OFFER, &operations::GET_ME),
    ("POST", START, &operations::START_CONNECTION),
    ("POST", DECLINE, &operations::DECLINE_CONNECTION_LINK),
    ("GET", CONNECTIONS, &operations::LIST_CONNECTIONS),
    ("GET", CALENDARS, &operations::LIST_EXTERNAL_CALENDARS),
    ("POST", CALENDARS, &operations::CREATE_GRANT),
    ("GET", DISCONNECT, &operations::GET_CONNECTION),
    ("POST", DISCONNECT, &operations::DELETE_CONNECTION),
    ("POST", REFRESH, &operations::REFRESH_CONNECTION),
    ("POST", PAUSE, &operations::PAUSE_CONNECTION),
    ("POST", RESUME, &operations::RESUME_CONNECTION),
    ("POST", REAUTHORIZE, &operations::REAUTHORIZE_CONNECTION),
    ("POST", REVOKE, &operations::DELETE_GRANT),
    ("GET", SECURITY, &operations::GET_ME),
    ("POST", START_SECOND_FACTOR, &operations::START_SECOND_FACTOR),
    ("POST", CONFIRM_SECOND_FACTOR, &operations::CONFIRM_SECOND_FACTOR),
    ("POST", RENEW_RECOVERY_CODES, &operations::RENEW_RECOVERY_CODES),
    ("POST", REMOVE_SECOND_FACTOR, &operations::REMOVE_SECOND_FACTOR),
];

/// All pages and forms.
const ALL: &[&[Form]] = &[
    OPERATIONS,
    authorize::OPERATIONS,
    waiting::OPERATIONS,
    approvals::OPERATIONS,
    proposals::OPERATIONS,
    calendar::OPERATIONS,
    availability::OPERATIONS,
    booking_pages::OPERATIONS,
    agents::OPERATIONS,
    first_run::OPERATIONS,
    new_calendar::OPERATIONS,
    calendar_settings::OPERATIONS,
    caldav::OPERATIONS,
    drawing::OPERATIONS,
    destinations::OPERATIONS,
    keys::OPERATIONS,
    feeds::OPERATIONS,
    imports::OPERATIONS,
    subscriptions::OPERATIONS,
    webhooks::OPERATIONS,
    deliveries::OPERATIONS,
    activity::OPERATIONS,
    usage::OPERATIONS,
    organization::OPERATIONS,
    members::OPERATIONS,
    account::OPERATIONS,
    orgs::OPERATIONS,
    claims::OPERATIONS,
];

/// The operation of a page or form, by its method and route template.
pub(crate) fn operation(method: &str, path: &str) -> Option<&'static Operation> {
    let mut all = ALL.iter().copied().flatten();
    all.find(|(of, at, _)| (*of, *at) == (method, path)).map(|(.., operation)| *operation)
}

/// Whether the path is at or below the one of the console's pages.
pub(crate) fn is_page(path: &str) -> bool {
    path.strip_prefix(HOME).is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

/// Whether the request is a form of one of these pages.
pub(crate) fn is_form(request: &Request) -> bool {
    let path = request.extensions().get::<MatchedPath>();
    path.is_some_and(|path| operation("POST", path.as_str()).is_some()) && request.method() == Method::POST
}

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .merge(authorize::routes())
        .merge(agents::routes())
        .merge(first_run::routes())
        .merge(new_calendar::routes())
        .merge(calendar_settings::routes())
        .merge(caldav::routes())
        .merge(drawing::routes())
        .merge(destinations::routes())
        .merge(organization::routes())
        .merge(members::routes())
        .merge(account::routes())
        .merge(orgs::routes())
        .merge(claims::routes())
        .merge(webhooks::routes())
        .merge(deliveries::routes())
        .merge(activity::routes())
        .merge(usage::routes())
        .merge(keys::routes())
        .merge(feeds::routes())
        .merge(imports::routes())
        .merge(subscriptions::routes())
        .merge(calendar::routes())
        .merge(waiting::routes())
        .merge(approvals::routes())
        .merge(proposals::routes())
        .merge(availability::routes())
        .merge(booking_pages::routes())
        .route(HOME, get(overview::show))
        .route(SIGN_IN, get(sign_in::show).post(sign_in::submit))
        .route(SIGN_UP, get(sign_up::show).post(sign_up::submit))
        .route(SIGN_OUT, post(overview::sign_out).get(home))
        .route(RESEND, post(overview::resend).get(home))
        .route(SWITCH, post(overview::switch).get(home))
        .route(FORGOT, get(password::ask_for_address).post(password::send))
        .route(RESET, get(password::ask_for_code).post(password::set))
        .route(INVITATIONS, get(join::ask).post(join::open))
        .route(JOIN, get(join::show).post(join::accept))
        .route(CONNECT, get(connect::ask).post(connect::open))
        .route(OFFER, get(connect::offer))
        .route(START, post(connect::start).get(connect::again))
        .route(DECLINE, post(connect::decline).get(connect::again))
        .route(CONNECTIONS, get(connections::list))
        .route(CALENDARS, get(calendars::ask).post(calendars::save))
        .route(DISCONNECT, get(connections::ask).post(connections::disconnect))
        .route(REFRESH, post(connections::refresh).get(connections::again))
        .route(PAUSE, post(connections::pause).get(connections::again))
        .route(RESUME, post(connections::resume).get(connections::again))
        .route(REAUTHORIZE, post(connections::reauthorize).get(connections::again))
        .route(REVOKE, post(connections::revoke).get(connections::again))
        .route(SECURITY, get(security::show))
        .route(START_SECOND_FACTOR, post(security::start).get(security::back))
        .route(CONFIRM_SECOND_FACTOR, post(security::confirm).get(security::back))
        .route(RENEW_RECOVERY_CODES, post(security::renew).get(security::back))
        .route(REMOVE_SECOND_FACTOR, post(security::turn_off).get(security::back))
}

/// The operator's pages, which are no operations.
pub(crate) fn operator_routes(app: &App) -> Router<Arc<App>> {
    operator::routes(app)
}

/// Somebody reloads the address of a form.
async fn home() -> Response {
    see_other(HOME, None)
}
