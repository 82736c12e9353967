//! Tests of the store on a real server: the suite that every store must pass, and what only Postgres can get wrong.
//!
//! `KALENDS_TEST_POSTGRES` names a database whose user may create others, such as
//! `postgres://postgres@127.0.0.1:5432/postgres`. Each test has a database of its own.
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod at_rest;
mod bridge;
mod commits;
mod deletion;
mod feed_tokens;
mod histories;
mod inspect;
mod keys;
mod neighbours;
mod outages;
mod plans;
mod publishing;
mod purge;
mod rows;
mod server;
mod statements;

mod conformance {
    //! The suite that every store must pass.

    use crate::server::empty_store;

    kalends_testkit::conformance_suite!(empty_store);
}
