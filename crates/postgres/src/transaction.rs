//! A transaction on a lent connection.

use kalends_warm_pool::WarmPool;
use sqlx::{Connection as _, PgConnection, Postgres};

use crate::error::ApplyError;

/// Does `work` in a transaction that sees what others have committed before each statement (`READ COMMITTED`). Where
/// the work fails, nothing of it stays.
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
            // A connection that is lost rolls back by itself; the first error says more than the second.
            if transaction.rollback().await.is_ok() {
                connection.keep();
            }
            Err(error)
        }
    }
}
