//! Claims of users on organizations that agents signed up.

use kalends_kernel::{ClaimId, OrgId};
use kalends_time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::derives::ToSchema;
#[cfg(feature = "schema")]
use crate::schemas::{ClaimStatusName, RevokedStatus};

#[cfg(feature = "parse")]
mod parse;

/// The organization to claim.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "email": "agent@example.com" }))]
pub struct InitiateClaim {
    /// The address with which the agent signed up.
    #[schema(max_length = 320, format = Email)]
    pub email: String,
}

/// The answer to a new claim. It is the same for every address, whether or not an organization can be claimed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "claim_id": "clm_01jn8r6v9ke0bt3m5qz2c7xwdh", "expires_at": "2026-03-02T08:10:00Z",
    "message": "If an organization can be claimed with the address, a code is on its way there."
}))]
pub struct ClaimInitiated {
    /// The identifier, `clm_…`. Send it with the code.
    #[schema(value_type = String)]
    pub claim_id: ClaimId,
    /// When the code expires, if one was sent.
    #[schema(value_type = String, format = DateTime)]
    pub expires_at: Timestamp,
    /// A message that is the same for every address.
    pub message: &'static str,
}

/// The code that proves a claim.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "claim_id": "clm_01jn8r6v9ke0bt3m5qz2c7xwdh", "otp": "123456" }))]
pub struct VerifyClaim {
    /// The identifier that was returned when the claim was made.
    pub claim_id: String,
    /// The six digits from the email.
    #[schema(pattern = "^[0-9]{6}$")]
    pub otp: String,
}

/// The token that revokes a held claim.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "revocation_token": "Zk9wQm7cXb2dRt5yHn1vLs8pGf3jKe6aUi4oWqMxEzT" }))]
pub struct RevokeClaim {
    /// The token from the email.
    #[schema(min_length = 1, max_length = 256)]
    pub revocation_token: String,
}

/// A claim, as shown to the user who made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(example = json!({
    "id": "clm_01jn8r6v9ke0bt3m5qz2c7xwdh", "status": "held", "org_id": "org_01jn8r6v9ke0bt3m5qz2c7xwdg",
    "created_at": "2026-03-02T08:00:00Z", "expires_at": null, "takes_effect_at": "2026-03-03T08:04:00Z",
    "ended_at": null
}))]
pub struct AccountClaim {
    /// The identifier, `clm_…`.
    #[schema(value_type = String)]
    pub id: ClaimId,
    /// The status:
    ///
    /// - `pending`: waits for the code
    /// - `expired`: the code expired or was tried too often
    /// - `held`: open to objections until `takes_effect_at`
    /// - `effective`: the organization is yours
    /// - `revoked`: a reader of the organization's mailbox objected
    /// - `void`: you made another claim, or the organization got an owner
    #[schema(value_type = ClaimStatusName)]
    pub status: &'static str,
    /// The organization. Null until you have proved that you read its mail.
    #[schema(value_type = Option<String>)]
    pub org_id: Option<OrgId>,
    /// When the claim was made.
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When the code expires or expired. Null once the claim is held or has ended.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Timestamp>,
    /// When the hold ends and the organization becomes yours. Null unless the claim is held.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub takes_effect_at: Option<Timestamp>,
    /// When the claim took effect, was revoked or became void. Null before that.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ended_at: Option<Timestamp>,
}

/// A claim in an export, as its user sees it, with the token masked.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExportedClaim {
    /// The claim.
    #[serde(flatten)]
    pub claim: AccountClaim,
    /// `***` if there is a token, which is only ever sent to the organization's mailbox. Otherwise null.
    pub revocation_token: Option<&'static str>,
}

/// The answer to a revocation.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({ "claim_id": "clm_01jn8r6v9ke0bt3m5qz2c7xwdh", "status": "revoked" }))]
pub struct ClaimRevoked {
    /// The identifier, `clm_…`.
    #[schema(value_type = String)]
    pub claim_id: ClaimId,
    /// Always `revoked`.
    #[schema(value_type = RevokedStatus)]
    pub status: &'static str,
}
