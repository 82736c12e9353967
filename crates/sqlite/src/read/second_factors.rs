//! The second factors of users.

use async_trait::async_trait;
use kalends_accounts::{SecondFactor, ports::SecondFactors};
use kalends_kernel::{StoreError, UserId};

use crate::{SqliteStore, error::store_error, rows::SecondFactorRow};

#[async_trait]
impl SecondFactors for SqliteStore {
    async fn find_second_factor(&self, user: UserId) -> Result<Option<SecondFactor>, StoreError> {
        let user_id = user.uuid();
        let rows = sqlx::query_as!(
            SecondFactorRow,
            r#"select f.secret, f.confirmed_at, f.last_step, f.created_at, c.code_hash as "code_hash?"
               from second_factors f left join recovery_codes c on c.user_id = f.user_id
               where f.user_id = ?1 order by c.code_hash"#,
            user_id
        )
        .fetch_all(self.readers())
        .await
        .map_err(store_error)?;
        SecondFactorRow::into_domain(user, &rows, self.cipher.as_ref())
    }
}
