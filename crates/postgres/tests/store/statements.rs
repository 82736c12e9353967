//! How many statements the reads take.

use kalends_testkit::conformance::statements;

use crate::server::empty_store;

#[tokio::test]
async fn fifty_series_take_the_statements_of_one() {
    statements::fifty_series_take_the_statements_of_one(&empty_store().await).await;
}

#[tokio::test]
async fn without_a_grant_nobody_looks_for_human_calendars() {
    statements::without_a_grant_nobody_looks_for_human_calendars(&empty_store().await).await;
}
