//! An agent signs itself up, and proves its mail address with a code.

use kalends_kernel::{Entropy, OrgId, Version};
use kalends_plans::Plan;
use kalends_time::Timestamp;

use crate::{
    Acceptance, Code, Email, KeyKind, NewKey, OrgName, Organization, ReplyTo, SignUpSource, VerificationCode, Waitlist,
    otp::{CODE_ATTEMPTS, Guess, judge},
};

/// The maximum number of characters of the agent's name at sign-up.
pub const AGENT_NAME_MAX: usize = 100;

/// A sign-up that has been validated.
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

/// Creates the organization of a first sign-up.
pub fn sign_up(id: OrgId, new: &NewSignUp, now: Timestamp, entropy: &dyn Entropy) -> SignedUp {
    let organization = Organization {
        id,
        name: OrgName::from_stored(new.agent_name.clone()),
        plan: Plan::FreeAgentUnverified,
        limit_overrides: None,
        test: false,
        email: Some(new.email.clone()),
        verified_at: None,
        waitlist: Waitlist::Active,
        source: SignUpSource::Agent,
        accepted: Some(new.acceptance.clone()),
        reply_to: ReplyTo::default(),
        version: Version::FIRST,
        created_at: now,
    };
    SignedUp {
        organization,
        key: NewKey::generate(id, KeyKind::Restricted, now, entropy),
        code: Code::generate(entropy),
    }
}

/// Why a code does not verify an organization. Callers get the same message for every failure: wrong, expired,
/// used-up and superseded codes are not distinguished.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// The organization is not waiting for a code.
    #[error("{CODE_REFUSED}")]
    AlreadyVerified,
    /// There is no code that still works.
    #[error("{CODE_REFUSED}")]
    Void,
    /// The code is wrong. The attempt must be recorded.
    #[error("{CODE_REFUSED}")]
    Wrong {
        /// The row with the attempt counted.
        counted: VerificationCode,
        /// The number of attempts that are left.
        left: u32,
    },
}

/// The message for a code that does not verify, whatever the reason.
pub const CODE_REFUSED: &str =
    "the code is wrong, has expired or is used up; sign up again with the same address for a fresh one";

/// Checks `presented` against the stored code, and moves the organization from the sandbox to the plan of new sign-ups,
/// `granted`. If the operator has put it on another plan, it stays on that plan. The codes are always compared, in
/// constant time. Returns the organization and the code, which is used up. Both are committed together, so that a right
/// guess counts against the attempts like a wrong one.
///
/// # Errors
/// [`VerifyError`]. After [`VerifyError::Wrong`] the caller commits the counted attempt before it responds, under the
/// version that was read, so that at most ten of any number of concurrent guesses are judged.
pub fn verify(
    organization: &Organization,
    stored: Option<&VerificationCode>,
    presented: &Code,
    granted: Plan,
    now: Timestamp,
) -> Result<(Organization, VerificationCode), VerifyError> {
    let known = stored.map(|code| (code.hash, code.expires_at, code.attempts));
    let guess = judge(known, presented.hash(organization.id), now);
    let waiting = organization.awaits_code();
    match (waiting, guess, stored) {
        (false, _, _) => Err(VerifyError::AlreadyVerified),
        (true, Guess::Void, _) | (true, _, None) => Err(VerifyError::Void),
        (true, Guess::Wrong, Some(stored)) => {
            let attempts = stored.attempts + 1;
            let counted = VerificationCode { attempts, version: stored.version.next(), ..stored.clone() };
            Err(VerifyError::Wrong { counted, left: CODE_ATTEMPTS.saturating_sub(attempts) })
        }
        (true, Guess::Right, Some(stored)) => {
            let plan = match (organization.plan, granted) {
                (Plan::FreeAgentUnverified, Plan::Free) => Plan::FreeAgent,
                (Plan::FreeAgentUnverified, granted) => granted,
                (given, _) => given,
            };
            let verified = Organization {
                plan,
                verified_at: Some(now),
                version: organization.version.next(),
                ..organization.clone()
            };
            let used_up =
                VerificationCode { attempts: CODE_ATTEMPTS, version: stored.version.next(), ..stored.clone() };
            Ok((verified, used_up))
        }
    }
}

#[cfg(test)]
mod tests {
    use kalends_time::SignedDuration;

    use super::*;
    use crate::CODE_LASTS;

    struct Counting(std::sync::atomic::AtomicU8);
    impl Entropy for Counting {
        fn fill(&self, bytes: &mut [u8]) {
            for byte in bytes {
                *byte = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
        }
    }

    fn signed_up() -> (SignedUp, VerificationCode, Timestamp) {
        let entropy = Counting(std::sync::atomic::AtomicU8::new(3));
        let now = Timestamp::from_micros(1_000_000);
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
    fn the_right_code_ends_the_sandbox() {
        let (signed, code, now) = signed_up();
        let (verified, used_up) = verify(&signed.organization, Some(&code), &signed.code, Plan::Free, now).unwrap();
        assert_eq!(verify(&signed.organization, Some(&used_up), &signed.code, Plan::Free, now), Err(VerifyError::Void));
        assert_eq!((verified.plan, verified.verified_at), (Plan::FreeAgent, Some(now)));
        assert_eq!(verify(&verified, Some(&code), &signed.code, Plan::Free, now), Err(VerifyError::AlreadyVerified));
    }

    #[test]
    fn a_verified_address_gets_the_plan_of_sign_ups() {
        for (granted, plan) in [(Plan::Free, Plan::FreeAgent), (Plan::Pro, Plan::Pro), (Plan::Custom, Plan::Custom)] {
            let (signed, code, now) = signed_up();
            assert_eq!(signed.organization.plan, Plan::FreeAgentUnverified);
            let (verified, _) = verify(&signed.organization, Some(&code), &signed.code, granted, now).unwrap();
            assert_eq!(verified.plan, plan);
        }
    }

    #[test]
    fn a_plan_from_the_operator_stays() {
        let (signed, code, now) = signed_up();
        let given = Organization { plan: Plan::Pro, ..signed.organization };
        let (verified, _) = verify(&given, Some(&code), &signed.code, Plan::Free, now).unwrap();
        assert_eq!((verified.plan, verified.verified_at), (Plan::Pro, Some(now)));
        assert_eq!(verify(&verified, Some(&code), &signed.code, Plan::Free, now), Err(VerifyError::AlreadyVerified));
    }

    #[test]
    fn a_code_expires() {
        let (signed, code, now) = signed_up();
        let last = now + CODE_LASTS - SignedDuration::micros(1);
        assert!(verify(&signed.organization, Some(&code), &signed.code, Plan::Free, last).is_ok());
        assert_eq!(
            verify(&signed.organization, Some(&code), &signed.code, Plan::Free, now + CODE_LASTS),
            Err(VerifyError::Void)
        );
        assert_eq!(verify(&signed.organization, None, &signed.code, Plan::Free, now), Err(VerifyError::Void));
    }

    #[test]
    fn ten_wrong_attempts_void_a_code() {
        let (signed, mut code, now) = signed_up();
        for attempt in 1..=CODE_ATTEMPTS {
            let Err(VerifyError::Wrong { counted, left }) =
                verify(&signed.organization, Some(&code), &other(&signed.code), Plan::Free, now)
            else {
                panic!("attempt {attempt} is wrong");
            };
            assert_eq!(left, CODE_ATTEMPTS - attempt);
            code = counted;
        }
        assert_eq!(verify(&signed.organization, Some(&code), &signed.code, Plan::Free, now), Err(VerifyError::Void));
    }

    #[test]
    fn every_failure_gets_the_same_message() {
        let (signed, code, now) = signed_up();
        let (verified, used_up) = verify(&signed.organization, Some(&code), &signed.code, Plan::Free, now).unwrap();
        let fresh = Code::parse("483920").unwrap();
        let newer = VerificationCode::issue(signed.organization.id, &fresh, Some(code.version), now);
        let burned = VerificationCode { attempts: CODE_ATTEMPTS, ..code.clone() };
        let org = &signed.organization;
        for (reason, failed) in [
            ("wrong", verify(org, Some(&code), &other(&signed.code), Plan::Free, now)),
            ("expired", verify(org, Some(&code), &signed.code, Plan::Free, now + CODE_LASTS)),
            ("burned", verify(org, Some(&burned), &signed.code, Plan::Free, now)),
            ("reused", verify(org, Some(&used_up), &signed.code, Plan::Free, now)),
            ("superseded", verify(org, Some(&newer), &signed.code, Plan::Free, now)),
            ("never issued", verify(org, None, &signed.code, Plan::Free, now)),
            ("verified", verify(&verified, Some(&code), &signed.code, Plan::Free, now)),
        ] {
            assert_eq!(failed.unwrap_err().to_string(), CODE_REFUSED, "{reason}");
        }
        assert!(verify(org, Some(&newer), &fresh, Plan::Free, now).is_ok());
    }

    #[test]
    fn ten_of_many_concurrent_guesses_are_judged() {
        // Each guess reads, judges, and commits under the version that it read. Only one of the guesses that read the
        // same row counts; the others read again.
        let (signed, mut row, now) = signed_up();
        let (mut judged, mut refused) = (0, 0);
        for _ in 0..50 {
            match verify(&signed.organization, Some(&row), &other(&signed.code), Plan::Free, now) {
                Err(VerifyError::Wrong { counted, .. }) => {
                    assert_eq!(counted.version, row.version.next());
                    row = counted;
                    judged += 1;
                }
                Err(VerifyError::Void) => refused += 1,
                unexpected => panic!("{unexpected:?}"),
            }
        }
        assert_eq!((judged, refused), (10, 40));
    }
}
