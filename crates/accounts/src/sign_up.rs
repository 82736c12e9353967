//! An agent signs itself up, and proves its mail address with a code (rulings 3.9).

use std::fmt;

use kalends_kernel::{Elapsed, Entropy, Instant, OrgId, Version, random_bytes};
use kalends_quotas::Plan;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::{Acceptance, Email, KeyKind, NewKey, OrgName, Organization, Waitlist};

/// The most characters of the agent's name at sign-up.
pub const AGENT_NAME_MAX: usize = 100;
/// How long a verification code holds.
pub const CODE_LASTS: Elapsed = Elapsed::minutes(10);
/// How often a code may be tried before it is burned.
pub const CODE_ATTEMPTS: u32 = 10;

/// A verification code: six digits, sent by mail and never shown elsewhere.
#[derive(Clone, PartialEq, Eq)]
pub struct Code([u8; 6]);

impl Code {
    /// A code drawn evenly from the million.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        // Values above the largest multiple of a million would favour small codes.
        const LIMIT: u32 = u32::MAX - u32::MAX % 1_000_000;
        let mut drawn = u32::from_le_bytes(random_bytes(entropy));
        // Each draw succeeds with more than 99.97 %; the bound only guards against a broken source.
        for _ in 0..64 {
            if drawn < LIMIT {
                break;
            }
            drawn = u32::from_le_bytes(random_bytes(entropy));
        }
        let mut digits = *b"000000";
        let mut rest = drawn % 1_000_000;
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + u8::try_from(rest % 10).unwrap_or(0);
            rest /= 10;
        }
        Self(digits)
    }

    /// A code as a caller types it, or `None` where it is not six digits.
    pub fn parse(text: &str) -> Option<Self> {
        let digits: [u8; 6] = text.as_bytes().try_into().ok()?;
        digits.iter().all(u8::is_ascii_digit).then_some(Self(digits))
    }

    /// The digits, for the mail.
    pub fn digits(&self) -> String {
        self.0.iter().map(|digit| char::from(*digit)).collect()
    }

    /// What is stored of the code.
    pub fn hash(&self, org: OrgId) -> CodeHash {
        let digest = Sha256::new().chain_update(org.uuid().as_bytes()).chain_update(self.0).finalize();
        CodeHash(digest.into())
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Code(…)")
    }
}

/// The SHA-256 of an organization's id and code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeHash(pub [u8; 32]);

/// The code that an organization may present, as stored. An organization has one at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerificationCode {
    /// The organization.
    pub org: OrgId,
    /// The code's hash.
    pub hash: CodeHash,
    /// When it stops working.
    pub expires_at: Instant,
    /// How often it was tried.
    pub attempts: u32,
    /// The row's version.
    pub version: Version,
}

impl VerificationCode {
    /// The row of a fresh code, which voids the one of `previous` version.
    pub fn issue(org: OrgId, code: &Code, previous: Option<Version>, now: Instant) -> Self {
        Self {
            org,
            hash: code.hash(org),
            expires_at: now + CODE_LASTS,
            attempts: 0,
            version: previous.map_or(Version::FIRST, Version::next),
        }
    }
}

/// A sign-up, already checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSignUp {
    /// The address.
    pub email: Email,
    /// The first agent's name, which also names the organization.
    pub agent_name: String,
    /// The accepted terms.
    pub acceptance: Acceptance,
}

/// A new organization in the sandbox, with its first key and code.
#[derive(Debug, Clone, PartialEq)]
pub struct SignedUp {
    /// The organization.
    pub organization: Organization,
    /// Its key.
    pub key: NewKey,
    /// The code that verifies it.
    pub code: Code,
}

/// Makes the organization of a first sign-up.
pub fn sign_up(id: OrgId, new: &NewSignUp, now: Instant, entropy: &dyn Entropy) -> SignedUp {
    let organization = Organization {
        id,
        name: OrgName::from_stored(new.agent_name.clone()),
        plan: Plan::FreeAgentUnverified,
        limit_overrides: None,
        test: false,
        email: Some(new.email.clone()),
        verified_at: None,
        waitlist: Waitlist::Active,
        accepted: Some(new.acceptance.clone()),
        version: Version::FIRST,
        created_at: now,
    };
    SignedUp {
        organization,
        key: NewKey::generate(id, KeyKind::Restricted, now, entropy),
        code: Code::generate(entropy),
    }
}

/// Why a code does not verify an organization.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// The organization is not waiting for a code.
    #[error("the organization is already verified")]
    AlreadyVerified,
    /// There is no code that still works.
    #[error("the code has expired or was tried too often; sign up again with the same address for a fresh one")]
    Void,
    /// The code is wrong; the attempt must be recorded.
    #[error("the code is wrong; {left} attempts are left")]
    Wrong {
        /// The row with the attempt counted.
        counted: VerificationCode,
        /// How many attempts are left.
        left: u32,
    },
}

/// Checks `presented` against the stored code, in constant time, and lifts the organization out of
/// the sandbox. Returns the organization and the code, which is used up: both are committed together,
/// so that a right guess counts against the attempts like a wrong one.
///
/// # Errors
/// [`VerifyError`]; after [`VerifyError::Wrong`] the caller commits the counted attempt.
pub fn verify(
    organization: &Organization,
    stored: Option<&VerificationCode>,
    presented: &Code,
    now: Instant,
) -> Result<(Organization, VerificationCode), VerifyError> {
    if organization.plan != Plan::FreeAgentUnverified {
        return Err(VerifyError::AlreadyVerified);
    }
    let stored =
        stored.filter(|code| now < code.expires_at && code.attempts < CODE_ATTEMPTS).ok_or(VerifyError::Void)?;
    if !bool::from(stored.hash.0.ct_eq(&presented.hash(organization.id).0)) {
        let attempts = stored.attempts + 1;
        let counted = VerificationCode { attempts, version: stored.version.next(), ..stored.clone() };
        return Err(VerifyError::Wrong { counted, left: CODE_ATTEMPTS.saturating_sub(attempts) });
    }
    let verified = Organization {
        plan: Plan::FreeAgent,
        verified_at: Some(now),
        version: organization.version.next(),
        ..organization.clone()
    };
    let used_up = VerificationCode { attempts: CODE_ATTEMPTS, version: stored.version.next(), ..stored.clone() };
    Ok((verified, used_up))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct Counting(std::sync::atomic::AtomicU8);
    impl Entropy for Counting {
        fn fill(&self, bytes: &mut [u8]) {
            for byte in bytes {
                *byte = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
        }
    }

    fn signed_up() -> (SignedUp, VerificationCode, Instant) {
        let entropy = Counting(std::sync::atomic::AtomicU8::new(3));
        let now = Instant::from_micros(1_000_000);
        let new = NewSignUp {
            email: Email::parse("email", "ada@example.com").unwrap(),
            agent_name: "Ada's agent".into(),
            acceptance: Acceptance { version: "2026-01-01".into(), at: now },
        };
        let signed = sign_up(OrgId::new(now, &entropy), &new, now, &entropy);
        let code = VerificationCode::issue(signed.organization.id, &signed.code, None, now);
        (signed, code, now)
    }

    fn other(code: &Code) -> Code {
        Code::parse(if code.digits() == "000000" { "000001" } else { "000000" }).unwrap()
    }

    #[test]
    fn the_right_code_lifts_the_sandbox() {
        let (signed, code, now) = signed_up();
        let (verified, used_up) = verify(&signed.organization, Some(&code), &signed.code, now).unwrap();
        assert_eq!(verify(&signed.organization, Some(&used_up), &signed.code, now), Err(VerifyError::Void));
        assert_eq!((verified.plan, verified.verified_at), (Plan::FreeAgent, Some(now)));
        assert_eq!(verify(&verified, Some(&code), &signed.code, now), Err(VerifyError::AlreadyVerified));
    }

    #[test]
    fn a_code_ends_with_its_time() {
        let (signed, code, now) = signed_up();
        let last = now + CODE_LASTS - Elapsed::micros(1);
        assert!(verify(&signed.organization, Some(&code), &signed.code, last).is_ok());
        assert_eq!(verify(&signed.organization, Some(&code), &signed.code, now + CODE_LASTS), Err(VerifyError::Void));
        assert_eq!(verify(&signed.organization, None, &signed.code, now), Err(VerifyError::Void));
    }

    #[test]
    fn ten_wrong_attempts_burn_a_code() {
        let (signed, mut code, now) = signed_up();
        for attempt in 1..=CODE_ATTEMPTS {
            let Err(VerifyError::Wrong { counted, left }) =
                verify(&signed.organization, Some(&code), &other(&signed.code), now)
            else {
                panic!("attempt {attempt} is wrong");
            };
            assert_eq!(left, CODE_ATTEMPTS - attempt);
            code = counted;
        }
        assert_eq!(verify(&signed.organization, Some(&code), &signed.code, now), Err(VerifyError::Void));
    }

    proptest! {
        #[test]
        fn only_six_ascii_digits_are_a_code(text in "\\PC{0,8}") {
            let six = text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_digit());
            prop_assert_eq!(Code::parse(&text).map(|code| code.digits()), six.then_some(text));
        }

        #[test]
        fn generated_codes_parse(seed: u8) {
            let code = Code::generate(&Counting(std::sync::atomic::AtomicU8::new(seed)));
            prop_assert_eq!(Code::parse(&code.digits()), Some(code));
        }
    }
}
