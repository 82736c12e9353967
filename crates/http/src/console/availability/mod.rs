//! The rules of calendars, and what is offered because of them.

mod choices;
mod given;
mod list;
mod remove;
mod rules;
mod stored;
mod tester;

use std::sync::Arc;

use axum::{
    Router,
    routing::{get, post},
};
use kalends_app::{App, operations};

use super::places::{AVAILABILITY, Form, REMOVE_DATE, REMOVE_RULES, RULED_DATES, RULES, TEST_AVAILABILITY};

/// The pages and forms, each with its operation.
pub(super) const OPERATIONS: &[Form] = &[
    ("GET", AVAILABILITY, &operations::LIST_CALENDARS),
    ("GET", TEST_AVAILABILITY, &operations::EXPLAIN_AVAILABILITY),
    ("GET", RULES, &operations::GET_RULES),
    ("POST", RULES, &operations::PUT_RULES),
    ("POST", RULED_DATES, &operations::PUT_RULES),
    ("POST", REMOVE_DATE, &operations::PUT_RULES),
    ("GET", REMOVE_RULES, &operations::GET_RULES),
    ("POST", REMOVE_RULES, &operations::DELETE_RULES),
];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route(AVAILABILITY, get(list::list))
        .route(TEST_AVAILABILITY, get(tester::test))
        .route(RULES, get(rules::show).post(rules::change))
        .route(RULED_DATES, post(rules::set_date).get(rules::back))
        .route(REMOVE_DATE, post(rules::remove_date).get(rules::back))
        .route(REMOVE_RULES, get(remove::ask).post(remove::remove))
}
