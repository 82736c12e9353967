//! Parses the requests into values of the domain, and builds the answers from them.

use kalends_accounts::{Claim, ClaimState, Code, Email};
use kalends_kernel::{ClaimId, FieldError, FieldErrors, bounded_text};
use kalends_time::Timestamp;

use super::{AccountClaim, ExportedClaim, InitiateClaim, RevokeClaim, VerifyClaim};

/// The maximum length of a revocation token, in characters. Ours have 43.
const TOKEN_MAX: usize = 256;

impl InitiateClaim {
    /// Checks the address.
    ///
    /// # Errors
    /// If the address is invalid.
    pub fn parse(&self) -> Result<Email, FieldErrors> {
        Ok(Email::parse("email", &self.email)?)
    }
}

impl VerifyClaim {
    /// Checks the format of the code. A text that is not an identifier counts as an unknown claim, `None`.
    ///
    /// # Errors
    /// If the code is not six digits.
    pub fn parse(&self) -> Result<(Option<ClaimId>, Code), FieldErrors> {
        let code =
            Code::parse(&self.otp).ok_or_else(|| FieldError::new("otp", "must be the 6 digits from the email"))?;
        Ok((self.claim_id.parse().ok(), code))
    }
}

impl RevokeClaim {
    /// Checks the bounds.
    ///
    /// # Errors
    /// If the token is empty or too long.
    pub fn parse(&self) -> Result<String, FieldErrors> {
        Ok(bounded_text("revocation_token", &self.revocation_token, 1, TOKEN_MAX)?)
    }
}

impl AccountClaim {
    /// The claim as shown at `now`.
    pub fn new(claim: &Claim, now: Timestamp) -> Self {
        let (expires_at, takes_effect_at, ended_at) = match claim.state {
            ClaimState::Initiated { expires_at, .. } => (Some(expires_at), None, None),
            ClaimState::Held { until, .. } => (None, Some(until), None),
            ClaimState::Effective { at, .. } | ClaimState::Revoked { at, .. } | ClaimState::Void { at } => {
                (None, None, Some(at))
            }
        };
        Self {
            id: claim.id,
            status: claim.status(now).as_str(),
            org_id: claim.proved_org(),
            created_at: claim.created_at,
            expires_at,
            takes_effect_at,
            ended_at,
        }
    }
}

impl ExportedClaim {
    /// The claim as exported at `now`.
    pub fn new(claim: &Claim, now: Timestamp) -> Self {
        let has_token = claim.state.stored().revocation.is_some();
        Self { claim: AccountClaim::new(claim, now), revocation_token: has_token.then_some("***") }
    }
}
