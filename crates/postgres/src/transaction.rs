//! A transaction on a lent connection.

use kalends_warm_pool::WarmPool;
use sqlx::{Connection as _, PgConnection, Postgres};

use crate::error::ApplyError;

/// Runs `work` in a transaction in which each statement sees what others have committed before it (`READ COMMITTED`).
/// If the work fails, it is rolled back.
pub(crate) async fn in_transaction<T>(
    connections: &WarmPool<Postgres>,
    work: impl AsyncFnOnce(&mut PgConnection) -> Result<T, ApplyError>,
) -> Result<T, ApplyError> {
    let mut connection = connections.acquire().await?;
    let mut transaction = connection.begin_with("BEGIN ISOLATION LEVEL READ COMMITTED").await?;
    match work(&mut transaction).await {
        Ok(done) => {
            transaction.commit().await?;
            connection.keep();
            Ok(done)
        }
        Err(error) => {
            // A lost connection rolls back by itself. The first error is more useful than the second.
            if transaction.rollback().await.is_ok() {
                connection.keep();
            }
            Err(error)
        }
    }
}
