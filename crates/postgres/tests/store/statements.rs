//! How many statements the reads take.

use kalends_testkit::conformance::statements;

use crate::server::empty_store;

#[tokio::test]
async fn fifty_series_take_as_many_statements_as_one() {
    statements::fifty_series_take_as_many_statements_as_one(&empty_store().await).await;
}

#[tokio::test]
async fn without_a_grant_human_calendars_are_not_read() {
    statements::without_a_grant_human_calendars_are_not_read(&empty_store().await).await;
}

#[tokio::test]
async fn hold_sets_on_many_calendars_take_no_more_statements() {
    statements::hold_sets_on_many_calendars_take_no_more_statements(&empty_store().await).await;
}

#[tokio::test]
async fn names_take_one_statement() {
    statements::names_take_one_statement(&empty_store().await).await;
}

#[tokio::test]
async fn rules_and_counts_take_one_statement() {
    statements::rules_and_counts_take_one_statement(&empty_store().await).await;
}

#[tokio::test]
async fn short_lists_take_one_statement() {
    statements::short_lists_take_one_statement(&empty_store().await).await;
}
