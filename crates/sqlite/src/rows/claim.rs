//! A row of `account_claims`.

use kalends_accounts::{AddressHash, Claim, ClaimState, CodeHash, StoredClaimState, TokenHash};
use kalends_kernel::{ClaimId, OrgId, StoreError, Timestamp, UserId, Version};

use super::{Row, row_id};

pub(crate) struct ClaimRow {
    pub(crate) id: Vec<u8>,
    pub(crate) org_id: Option<Vec<u8>>,
    pub(crate) user_id: Vec<u8>,
    pub(crate) address: Vec<u8>,
    pub(crate) state: String,
    pub(crate) code: Option<Vec<u8>>,
    pub(crate) attempts: i64,
    pub(crate) due_at: Option<i64>,
    pub(crate) revocation: Option<Vec<u8>>,
    pub(crate) ended_at: Option<i64>,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
}

impl ClaimRow {
    pub(crate) fn read(self) -> Result<Claim, StoreError> {
        let id = ClaimId::from_uuid(row_id("account_claims", "id", &self.id)?);
        let row = Row { table: "account_claims", id: &id };
        let org = self.org_id.map(|org| row.uuid("org_id", &org)).transpose()?;
        let stored = StoredClaimState {
            name: &self.state,
            code: self.code.map(|code| row.digest("code", &code)).transpose()?.map(CodeHash),
            attempts: row.read("attempts", u32::try_from(self.attempts))?,
            due_at: self.due_at.map(Timestamp::from_micros),
            revocation: self.revocation.map(|hash| row.digest("revocation", &hash)).transpose()?.map(TokenHash),
            ended_at: self.ended_at.map(Timestamp::from_micros),
        };
        let state = ClaimState::read(stored)
            .ok_or_else(|| row.corrupt("state", format_args!("{:?} does not match the other columns", stored.name)))?;
        Ok(Claim {
            id,
            org: org.map(OrgId::from_uuid),
            user: UserId::from_uuid(row.uuid("user_id", &self.user_id)?),
            address: AddressHash(row.digest("address", &self.address)?),
            state,
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
        })
    }
}
