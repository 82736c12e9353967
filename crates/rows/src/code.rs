//! A row of `verification_codes`.

use kalends_accounts::{CodeHash, VerificationCode};
use kalends_kernel::{OrgId, StoreError, Version};
use kalends_time::Timestamp;

use crate::Located;

columns! {
    /// The columns of a verification code.
    pub struct CodeRow {
        hash: Vec<u8>,
        expires_at: i64,
        attempts: i64,
        version: i64,
    }
}

impl CodeRow {
    /// The code, or an error that names the corrupt column.
    pub fn into_domain(self, org: OrgId) -> Result<VerificationCode, StoreError> {
        let row = Located { table: "verification_codes", id: &org };
        Ok(VerificationCode {
            org,
            hash: CodeHash(row.digest("hash", &self.hash)?),
            expires_at: Timestamp::from_micros(self.expires_at),
            attempts: row.read("attempts", u32::try_from(self.attempts))?,
            version: Version(self.version),
        })
    }
}
