//! One-time codes sent by mail: six digits, ten minutes, ten attempts.
//!
//! A wrong, expired, used-up or superseded code is the same failure to a caller. [`judge`] always compares, in
//! constant time, and its callers report all failures alike.

use std::fmt;

use kalends_kernel::{Entropy, OrgId, Version, random_bytes};
use kalends_time::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

/// How long a code works.
pub const CODE_LASTS: SignedDuration = SignedDuration::minutes(10);
/// The number of attempts after which a code no longer works.
pub const CODE_ATTEMPTS: u32 = 10;

/// A verification code: six digits, sent by mail and never shown elsewhere.
#[derive(Clone, PartialEq, Eq)]
pub struct Code([u8; 6]);

impl Code {
    /// A random code, evenly distributed over the million.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        // Values from the largest multiple of a million on would favour small codes.
        const LIMIT: u32 = u32::MAX - u32::MAX % 1_000_000;
        let mut drawn = u32::from_le_bytes(random_bytes(entropy));
        // Each draw succeeds with a probability of more than 99.97 %. The limit only guards against a broken source.
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

    /// A code from a caller; `None` if it is not six digits.
    pub fn parse(text: &str) -> Option<Self> {
        let digits: [u8; 6] = text.as_bytes().try_into().ok()?;
        digits.iter().all(u8::is_ascii_digit).then_some(Self(digits))
    }

    /// The digits, for the email.
    pub fn digits(&self) -> String {
        self.0.iter().map(|digit| char::from(*digit)).collect()
    }

    /// The hash to store for a code of an organization.
    pub fn hash(&self, org: OrgId) -> CodeHash {
        self.hash_within(org.uuid().as_bytes())
    }

    /// The hash to store for a code that is valid for one thing. `scope` is the 16 bytes of that thing's identifier.
    pub(crate) fn hash_within(&self, scope: &[u8; 16]) -> CodeHash {
        CodeHash(Sha256::new().chain_update(scope).chain_update(self.0).finalize().into())
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Code(…)")
    }
}

/// The SHA-256 of a code and the identifier of the thing that it is valid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeHash(pub [u8; 32]);

/// The stored code of an organization, which has one at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerificationCode {
    /// The organization.
    pub org: OrgId,
    /// The code's hash.
    pub hash: CodeHash,
    /// When the code stops working.
    pub expires_at: Timestamp,
    /// The number of attempts so far.
    pub attempts: u32,
    /// The row's version.
    pub version: Version,
}

impl VerificationCode {
    /// The row of a new code. It replaces the row with the version `previous`.
    pub fn issue(org: OrgId, code: &Code, previous: Option<Version>, now: Timestamp) -> Self {
        Self {
            org,
            hash: code.hash(org),
            expires_at: now + CODE_LASTS,
            attempts: 0,
            version: previous.map_or(Version::FIRST, Version::next),
        }
    }
}

/// The result of comparing a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guess {
    /// The code is right.
    Right,
    /// The code is wrong. The attempt counts.
    Wrong,
    /// There is no code that still works.
    Void,
}

/// Compares a presented code with the stored one (hash, expiry, attempts). If there is none, it compares with a hash
/// that no code has, so that the same work is done.
pub(crate) fn judge(stored: Option<(CodeHash, Timestamp, u32)>, presented: CodeHash, now: Timestamp) -> Guess {
    let (hash, expires_at, attempts) = stored.unwrap_or((CodeHash([0; 32]), Timestamp::EPOCH, CODE_ATTEMPTS));
    let right = hash.0.ct_eq(&presented.0);
    let works = Choice::from(u8::from(now < expires_at)) & Choice::from(u8::from(attempts < CODE_ATTEMPTS));
    match (bool::from(right & works), bool::from(works)) {
        (true, _) => Guess::Right,
        (false, true) => Guess::Wrong,
        (false, false) => Guess::Void,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    struct Counting(std::sync::atomic::AtomicU8);
    impl Entropy for Counting {
        fn fill(&self, bytes: &mut [u8]) {
            for byte in bytes {
                *byte = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
        }
    }

    const END: Timestamp = Timestamp::from_micros(600_000_000);
    const HASH: CodeHash = CodeHash([7; 32]);
    const OTHER: CodeHash = CodeHash([8; 32]);

    #[rstest]
    #[case::right(Some((HASH, END, 0)), HASH, 0, Guess::Right)]
    #[case::right_at_the_last_moment(Some((HASH, END, 9)), HASH, 599_999_999, Guess::Right)]
    #[case::wrong(Some((HASH, END, 9)), OTHER, 0, Guess::Wrong)]
    #[case::expired(Some((HASH, END, 0)), HASH, 600_000_000, Guess::Void)]
    #[case::burned(Some((HASH, END, 10)), HASH, 0, Guess::Void)]
    #[case::burned_and_wrong(Some((HASH, END, 10)), OTHER, 0, Guess::Void)]
    #[case::none(None, HASH, 0, Guess::Void)]
    #[case::none_whatever_is_presented(None, CodeHash([0; 32]), -1, Guess::Void)]
    fn codes_are_judged(
        #[case] stored: Option<(CodeHash, Timestamp, u32)>,
        #[case] presented: CodeHash,
        #[case] now: i64,
        #[case] guess: Guess,
    ) {
        assert_eq!(judge(stored, presented, Timestamp::from_micros(now)), guess);
    }

    #[test]
    fn a_code_is_valid_for_one_thing() {
        let code = Code::parse("123456").unwrap();
        assert_ne!(code.hash_within(&[1; 16]), code.hash_within(&[2; 16]));
        assert_ne!(code.hash_within(&[1; 16]), Code::parse("123457").unwrap().hash_within(&[1; 16]));
        assert_eq!(format!("{code:?}"), "Code(…)", "a code is never logged");
    }

    proptest! {
        /// A text is a code exactly if it consists of six ASCII digits.
        #[test]
        fn only_six_ascii_digits_are_a_code(text in "\\PC{0,8}") {
            let six = text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_digit());
            prop_assert_eq!(Code::parse(&text).map(|code| code.digits()), six.then_some(text));
        }

        /// Every generated code is read back from its digits.
        #[test]
        fn generated_codes_parse(seed: u8) {
            let code = Code::generate(&Counting(std::sync::atomic::AtomicU8::new(seed)));
            prop_assert_eq!(Code::parse(&code.digits()), Some(code));
        }
    }
}
