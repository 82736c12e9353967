//! A claim on an organization.

use kalends_accounts::{AddressHash, Claim, ClaimState, CodeHash, StoredClaimState, TokenHash};
use kalends_kernel::{ClaimId, OrgId, StoreError, Timestamp, UserId, Version};
use uuid::Uuid;

use super::Located;

/// The columns of a claim.
pub(crate) struct ClaimRow {
    pub(crate) id: Uuid,
    pub(crate) org_id: Option<Uuid>,
    pub(crate) user_id: Uuid,
    pub(crate) address: Vec<u8>,
    pub(crate) state: String,
    pub(crate) code: Option<Vec<u8>>,
    pub(crate) attempts: i32,
    pub(crate) due_at: Option<i64>,
    pub(crate) revocation: Option<Vec<u8>>,
    pub(crate) ended_at: Option<i64>,
    pub(crate) version: i64,
    pub(crate) created_at: i64,
}

impl ClaimRow {
    pub(crate) fn into_domain(self) -> Result<Claim, StoreError> {
        let id = ClaimId::from_uuid(self.id);
        let row = Located { table: "account_claims", id };
        let hash = |column, bytes: Option<Vec<u8>>| bytes.map(|bytes| row.hash(column, &bytes)).transpose();
        let stored = StoredClaimState {
            name: &self.state,
            code: hash("code", self.code)?.map(CodeHash),
            attempts: u32::try_from(self.attempts).map_err(|_| row.corrupt("attempts", "must not be negative"))?,
            due_at: self.due_at.map(Timestamp::from_micros),
            revocation: hash("revocation", self.revocation)?.map(TokenHash),
            ended_at: self.ended_at.map(Timestamp::from_micros),
        };
        let state = ClaimState::read(stored)
            .ok_or_else(|| row.corrupt("state", format!("{:?} does not match the other columns", stored.name)))?;
        Ok(Claim {
            id,
            org: self.org_id.map(OrgId::from_uuid),
            user: UserId::from_uuid(self.user_id),
            address: AddressHash(row.hash("address", &self.address)?),
            state,
            version: Version(self.version),
            created_at: Timestamp::from_micros(self.created_at),
        })
    }
}
