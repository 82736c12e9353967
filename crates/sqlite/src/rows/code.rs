//! A row of `verification_codes`.

use kalends_accounts::{CodeHash, VerificationCode};
use kalends_kernel::{OrgId, StoreError, Timestamp, Version};

use super::Row;

pub(crate) struct CodeRow {
    pub(crate) hash: Vec<u8>,
    pub(crate) expires_at: i64,
    pub(crate) attempts: i64,
    pub(crate) version: i64,
}

impl CodeRow {
    pub(crate) fn read(self, org: OrgId) -> Result<VerificationCode, StoreError> {
        let row = Row { table: "verification_codes", id: &org };
        Ok(VerificationCode {
            org,
            hash: CodeHash(row.digest("hash", &self.hash)?),
            expires_at: Timestamp::from_micros(self.expires_at),
            attempts: row.read("attempts", u32::try_from(self.attempts))?,
            version: Version(self.version),
        })
    }
}
