//! The second factor of sign-ins with a password: codes of an authenticator app (TOTP, RFC 6238), and recovery codes for
//! users who have lost it.

use std::fmt;

use kalends_kernel::{Entropy, UserId, Version, random_bytes};
use kalends_time::{SignedDuration, Timestamp};
use totp_rs::{Builder, Secret};
use url::form_urlencoded;
use zeroize::Zeroizing;

use crate::{Email, SessionClaims, TokenHash};

/// How long a code of the app lasts, in seconds (RFC 6238 section 4.1).
const STEP: u64 = 30;
/// How many steps a code may be early or late (RFC 6238 section 5.2).
const TOLERANCE: u64 = 1;
/// The name under which an app lists the account.
const ISSUER: &str = "Kalends";
/// The characters of a recovery code, which are those of base32 (RFC 4648 section 6) in lower case.
const ALPHABET: [u8; 32] = *b"abcdefghijklmnopqrstuvwxyz234567";
/// How many random characters a recovery code has. Each is worth 5 bits.
const RECOVERY_LENGTH: usize = 12;
/// The issuer of tokens for the second step of a sign-in. A session's token has another one, so neither passes for the
/// other.
const SECOND_STEP_ISSUER: &str = "kalends-second-step";

/// How many recovery codes a user gets.
pub const RECOVERY_CODES: usize = 10;
/// The maximum length of a typed code, in characters.
pub const FACTOR_CODE_MAX: usize = 64;
/// How long a second factor waits for its first code.
pub const FACTOR_PENDING_LASTS: SignedDuration = SignedDuration::minutes(30);
/// How long a user has to enter the code after the password.
pub const SECOND_STEP_LASTS: SignedDuration = SignedDuration::minutes(5);

/// The secret that the server shares with an authenticator app: 160 bits (RFC 4226 section 4, R6).
#[derive(Clone, PartialEq, Eq)]
pub struct TotpSecret(Zeroizing<[u8; 20]>);

impl TotpSecret {
    /// A random secret.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        Self::from_bytes(random_bytes::<20>(entropy))
    }

    /// The secret from a store.
    pub fn from_bytes(bytes: [u8; 20]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The bytes, for a store.
    pub fn reveal(&self) -> &[u8; 20] {
        &self.0
    }

    /// The secret as a person types it into an app: 32 characters of base32.
    pub fn base32(&self) -> String {
        self.secret().to_base32()
    }

    /// The address that an app reads from a picture. It names the account by its email address.
    pub fn otpauth_url(&self, email: &Email) -> String {
        let account: String = form_urlencoded::byte_serialize(email.as_str().as_bytes()).collect();
        let secret = self.base32();
        format!("otpauth://totp/{ISSUER}:{account}?secret={secret}&issuer={ISSUER}&algorithm=SHA1&digits=6&period=30")
    }

    fn secret(&self) -> Secret {
        Secret::new_stack(*self.0)
    }

    /// Whether the code is the one of that step. The code has six digits.
    fn makes(&self, code: &str, step: u64) -> bool {
        // Cannot fail: the secret is long enough, and the rest is the default of RFC 6238.
        let Ok(totp) = Builder::new().with_secret(self.secret()).with_skew(0).with_step_duration(STEP).build() else {
            return false;
        };
        totp.check(code, step.saturating_mul(STEP)).is_some()
    }
}

impl fmt::Debug for TotpSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TotpSecret(…)")
    }
}

/// A code that works once in place of a code of the app. Only its hash is stored.
#[derive(Clone, PartialEq, Eq)]
pub struct RecoveryCode(String);

impl RecoveryCode {
    /// The codes of a user: 60 random bits each, written as `xxxx-xxxx-xxxx`.
    pub fn generate_all(entropy: &dyn Entropy) -> [Self; RECOVERY_CODES] {
        std::array::from_fn(|_| Self::generate(entropy))
    }

    fn generate(entropy: &dyn Entropy) -> Self {
        let mut text = String::with_capacity(RECOVERY_LENGTH + 2);
        for (index, byte) in random_bytes::<RECOVERY_LENGTH>(entropy).into_iter().enumerate() {
            if [4, 8].contains(&index) {
                text.push('-');
            }
            text.push(char::from(ALPHABET[usize::from(byte % 32)]));
        }
        Self(text)
    }

    /// The text, to show once.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The hash to store.
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(&normalized(&self.0))
    }
}

impl fmt::Debug for RecoveryCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RecoveryCode(…)")
    }
}

/// A typed code without what does not matter: case, spaces and hyphens.
fn normalized(typed: &str) -> Zeroizing<String> {
    let kept = typed.chars().filter(|letter| !letter.is_whitespace() && *letter != '-');
    Zeroizing::new(kept.map(|letter| letter.to_ascii_lowercase()).collect())
}

/// The second factor of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecondFactor {
    /// The user.
    pub user: UserId,
    /// The secret of the app.
    pub secret: TotpSecret,
    /// When the user entered the first code; `None` if they have not yet. Until then, nothing asks for a code.
    pub confirmed_at: Option<Timestamp>,
    /// The step of the last accepted code of the app. Only codes of later steps are accepted (RFC 6238 section 5.2).
    pub last_step: Option<u64>,
    /// The hashes of the recovery codes that are left.
    pub recovery: Vec<TokenHash>,
    /// When the secret was made.
    pub created_at: Timestamp,
}

/// What an accepted code uses up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactorUse {
    /// The codes of the app up to this step.
    Step(u64),
    /// A recovery code.
    Recovery(TokenHash),
}

/// The code is wrong, used or too old.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is wrong, used or too old")]
pub struct WrongCode;

impl SecondFactor {
    /// A second factor that waits for its first code.
    pub const fn begin(user: UserId, secret: TotpSecret, now: Timestamp) -> Self {
        Self { user, secret, confirmed_at: None, last_step: None, recovery: Vec::new(), created_at: now }
    }

    /// Whether sign-ins need a code.
    pub const fn is_on(&self) -> bool {
        self.confirmed_at.is_some()
    }

    /// Whether it waits for its first code. It does so for half an hour.
    pub fn is_pending(&self, now: Timestamp) -> bool {
        !self.is_on() && now - self.created_at < FACTOR_PENDING_LASTS
    }

    /// The second factor after its first code, whose step this is.
    #[must_use]
    pub fn confirmed(&self, step: u64, now: Timestamp) -> Self {
        Self { confirmed_at: Some(now), last_step: Some(step), ..self.clone() }
    }

    /// Checks a code that a user typed: one of the app, from one step before to one step after `now`, or a recovery
    /// code. Case, spaces and hyphens do not matter.
    ///
    /// # Errors
    /// [`WrongCode`], also for a code that was accepted before.
    pub fn check(&self, typed: &str, now: Timestamp) -> Result<FactorUse, WrongCode> {
        let code = normalized(typed);
        if let Some(step) = self.step_of(&code, now) {
            return Ok(FactorUse::Step(step));
        }
        self.recovery_code(typed).ok_or(WrongCode)
    }

    /// The recovery code that a user typed, if it is one that is left. Nobody can guess one, so trying them needs no limit.
    pub fn recovery_code(&self, typed: &str) -> Option<FactorUse> {
        let hash = TokenHash::of(&normalized(typed));
        self.recovery.contains(&hash).then_some(FactorUse::Recovery(hash))
    }

    /// Checks the first code, which is one of the app.
    ///
    /// # Errors
    /// [`WrongCode`].
    pub fn check_first(&self, typed: &str, now: Timestamp) -> Result<u64, WrongCode> {
        self.step_of(&normalized(typed), now).ok_or(WrongCode)
    }

    /// The step of the code, if it is one that is accepted at `now`.
    fn step_of(&self, code: &str, now: Timestamp) -> Option<u64> {
        let now = u64::try_from(now.as_unix_seconds()).unwrap_or(0) / STEP;
        let steps = now.saturating_sub(TOLERANCE)..=now.saturating_add(TOLERANCE);
        let is_later = |step: &u64| self.last_step.is_none_or(|last| *step > last);
        steps.filter(is_later).find(|step| self.secret.makes(code, *step))
    }
}

/// The second step of a sign-in on a page: the password was right, and the code is missing. A changed password voids it,
/// as does any other change of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecondStep {
    /// The user whose password was right.
    pub user: UserId,
    /// The version of the user.
    pub version: Version,
}

impl SecondStep {
    /// The claims of its token, which lasts five minutes.
    pub fn claims(self, now: Timestamp) -> SessionClaims {
        SessionClaims {
            iss: SECOND_STEP_ISSUER.to_owned(),
            sub: self.user.to_string(),
            jti: self.version.0.to_string(),
            iat: now.as_unix_seconds(),
            exp: (now + SECOND_STEP_LASTS).as_unix_seconds(),
        }
    }

    /// The step that the claims of a signed token stand for; `None` if they have expired or are those of a session.
    pub fn read(claims: &SessionClaims, now: Timestamp) -> Option<Self> {
        if claims.iss != SECOND_STEP_ISSUER || now.as_unix_seconds() >= claims.exp {
            return None;
        }
        Some(Self { user: claims.sub.parse().ok()?, version: Version(claims.jti.parse().ok()?) })
    }
}

/// The signed token of a [`SecondStep`], for a hidden field of the page that asks for the code.
#[derive(Clone, PartialEq, Eq)]
pub struct SecondStepToken(String);

impl SecondStepToken {
    /// A signed token.
    pub const fn new(token: String) -> Self {
        Self(token)
    }

    /// The text, for the page.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecondStepToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecondStepToken(…)")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    /// Bytes that do not repeat within a test, unlike those of a counter.
    struct Mixed(AtomicU64);
    impl Entropy for Mixed {
        fn fill(&self, bytes: &mut [u8]) {
            for byte in bytes {
                let count = self.0.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
                [*byte, ..] = count.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes();
            }
        }
    }

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_micros(i64::try_from(seconds).unwrap() * 1_000_000)
    }

    /// The secret of the test vectors of RFC 6238 (appendix B).
    fn factor(last_step: Option<u64>) -> SecondFactor {
        let secret = TotpSecret::from_bytes(*b"12345678901234567890");
        let begun = SecondFactor::begin(UserId::from_bytes([1; 16]), secret, at(0));
        SecondFactor { last_step, ..begun }
    }

    fn code(secret: &TotpSecret, step: u64) -> String {
        Builder::new().with_secret(secret.secret()).build().unwrap().generate(step * STEP).to_string()
    }

    /// The codes of RFC 6238 (appendix B) for SHA-1, of which an app shows the last six digits.
    #[rstest]
    #[case(59, "287082")]
    #[case(1_111_111_109, "081804")]
    #[case(1_111_111_111, "050471")]
    #[case(1_234_567_890, "005924")]
    #[case(2_000_000_000, "279037")]
    #[case(20_000_000_000, "353130")]
    fn codes_are_those_of_the_rfc(#[case] seconds: u64, #[case] code: &str) {
        let used = Ok(FactorUse::Step(seconds / STEP));
        assert_eq!(factor(None).check(code, at(seconds)), used);
        let spaced = format!(" {} {}-", &code[..3], &code[3..]);
        assert_eq!(factor(None).check(&spaced, at(seconds)), used);
        assert_eq!(factor(None).check_first(code, at(seconds)), Ok(seconds / STEP));
        assert_eq!(factor(Some(seconds / STEP)).check(code, at(seconds)), Err(WrongCode), "it was used before");
        assert_eq!(factor(None).check(&code[1..], at(seconds)), Err(WrongCode));
    }

    #[test]
    fn a_recovery_code_works_however_it_is_written() {
        let codes = RecoveryCode::generate_all(&Mixed(AtomicU64::new(0)));
        let text = codes[3].reveal();
        assert_eq!((text.len(), text.matches('-').count()), (14, 2), "{text}");
        let factor = SecondFactor { recovery: codes.iter().map(RecoveryCode::hash).collect(), ..factor(None) };
        for written in
            [text.to_owned(), text.to_uppercase(), text.replace('-', ""), format!(" {} ", text.replace('-', " "))]
        {
            assert_eq!(factor.check(&written, at(59)), Ok(FactorUse::Recovery(codes[3].hash())), "{written}");
        }
        let left = SecondFactor { recovery: vec![codes[0].hash()], ..factor };
        for wrong in [text, "", "-", "000000", &"a".repeat(12)] {
            assert_eq!(left.check(wrong, at(59)), Err(WrongCode), "{wrong}");
        }
        assert_eq!(left.check_first(codes[0].reveal(), at(59)), Err(WrongCode), "the first code is one of the app");
        let hashes: std::collections::HashSet<_> = codes.iter().map(RecoveryCode::hash).collect();
        assert_eq!(hashes.len(), RECOVERY_CODES);
    }

    #[test]
    fn secrets_are_shown_only_on_purpose() {
        let secret = factor(None).secret;
        let email = Email::from_stored("ada+cal@example.com".to_owned());
        assert_eq!(secret.base32(), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
        assert_eq!(
            secret.otpauth_url(&email),
            "otpauth://totp/Kalends:ada%2Bcal%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Kalends\
             &algorithm=SHA1&digits=6&period=30"
        );
        let [code, ..] = RecoveryCode::generate_all(&Mixed(AtomicU64::new(0)));
        let step = SecondStepToken::new("token".to_owned());
        assert_eq!(format!("{secret:?} {code:?} {step:?}"), "TotpSecret(…) RecoveryCode(…) SecondStepToken(…)");
    }

    #[test]
    fn a_factor_waits_for_its_first_code() {
        let pending = factor(None);
        let last = at(30 * 60) - SignedDuration::micros(1);
        assert!(!pending.is_on() && pending.is_pending(last) && !pending.is_pending(at(30 * 60)));
        let on = pending.confirmed(7, at(200));
        assert_eq!((on.confirmed_at, on.last_step), (Some(at(200)), Some(7)));
        assert!(on.is_on() && !on.is_pending(at(200)));
    }

    #[test]
    fn a_second_step_is_not_a_session_and_expires() {
        let step = SecondStep { user: UserId::from_bytes([1; 16]), version: Version(7) };
        let claims = step.claims(at(1_000));
        assert_eq!(SecondStep::read(&claims, at(1_299)), Some(step));
        assert_eq!(SecondStep::read(&claims, at(1_300)), None);
        assert_eq!(claims.check(at(1_000)), None, "it is not a session");
        let session = crate::Session::begin(step.user, None, at(1_000), &Mixed(AtomicU64::new(0)));
        assert_eq!(SecondStep::read(&session.claims(), at(1_000)), None);
    }

    proptest! {
        /// A code of the app is accepted if and only if its step is at most one from now and later than the last one.
        #[test]
        fn a_code_is_accepted_near_its_time_and_once(
            bytes: [u8; 20],
            now in 10..100_000_000u64,
            seconds in 0..STEP,
            ahead in -2..=2i64,
            used in proptest::option::of(-2..=2i64),
        ) {
            let secret = TotpSecret::from_bytes(bytes);
            let step = now.checked_add_signed(ahead).unwrap();
            let last_step = used.map(|used| now.checked_add_signed(used).unwrap());
            let factor = SecondFactor { secret, last_step, ..factor(None) };
            let typed = code(&factor.secret, step);
            // Another step in reach may have the same code by chance.
            let accepted = (now - TOLERANCE..=now + TOLERANCE)
                .filter(|step| last_step.is_none_or(|last| *step > last))
                .find(|near| code(&factor.secret, *near) == typed);
            prop_assert_eq!(factor.check(&typed, at(now * STEP + seconds)), accepted.map(FactorUse::Step).ok_or(WrongCode));
            if ahead.abs() <= 1 && used.is_none_or(|used| ahead > used) {
                prop_assert!(accepted.is_some());
            }
        }
    }
}
