//! How many statements the reads take.

use kalends_testkit::conformance::statements;

use crate::server::empty_store;

#[tokio::test]
async fn fifty_series_take_the_statements_of_one() {
    statements::fifty_series_take_the_statements_of_one(&empty_store().await).await;
}
