//! The second factors of users.

use async_trait::async_trait;
use kalends_accounts::SecondFactor;
use kalends_accounts::ports::SecondFactors;
use kalends_kernel::{StoreError, UserId};

use crate::PostgresStore;
use crate::error::store_error;
use crate::rows::SecondFactorRow;

#[async_trait]
impl SecondFactors for PostgresStore {
    async fn find_second_factor(&self, user: UserId) -> Result<Option<SecondFactor>, StoreError> {
        let rows = sqlx::query_as!(
            SecondFactorRow,
            r#"SELECT f.secret, f.confirmed_at, f.last_step, f.created_at, c.code_hash AS "code_hash?"
               FROM second_factors f LEFT JOIN recovery_codes c ON c.user_id = f.user_id
               WHERE f.user_id = $1 ORDER BY c.code_hash"#,
            user.uuid(),
        );
        let rows = rows.fetch_all(&self.connections).await.map_err(store_error)?;
        SecondFactorRow::into_domain(user, &rows, &*self.cipher)
    }
}
