//! A row of `account_claims`.

use kalends_accounts::{AddressHash, Claim, ClaimState, CodeHash, StoredClaimState, TokenHash};
use kalends_kernel::{ClaimId, OrgId, StoreError, UserId, Version};
use kalends_time::Timestamp;

use crate::{Key, Located, row_id};

columns! {
    $ macro claim_row;
    /// The columns of a claim.
    pub struct ClaimRow<K> {
        id: K,
        org_id: Option<K>,
        user_id: K,
        address: Vec<u8>,
        state: String,
        code: Option<Vec<u8>>,
        attempts: i64,
        due_at: Option<i64>,
        revocation: Option<Vec<u8>>,
        ended_at: Option<i64>,
        version: i64,
        created_at: i64,
    }
}

impl<K: Key> ClaimRow<K> {
    /// The claim, or an error that names the corrupt column.
    pub fn into_domain(self) -> Result<Claim, StoreError> {
        let id = ClaimId::from_uuid(row_id("account_claims", "id", &self.id)?);
        let row = Located { table: "account_claims", id: &id };
        let org = row.uuid_if_any("org_id", self.org_id.as_ref())?;
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
