//! The operator's token, which opens the administration routes, and the session that it begins on the operator's pages.

use std::fmt;

use kalends_kernel::base64url;
use kalends_time::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::session::{OPERATOR_SESSION_LASTS, SessionClaims};

/// The issuer in the claims of the operator's sessions. The token of a user's session has another one.
const OPERATOR_ISSUER: &str = "kalends-operator";
/// How far a node's clock may be behind that of the node that began the session.
const CLOCKS_DIFFER: SignedDuration = SignedDuration::minutes(1);
const MICROS_A_SECOND: i64 = 1_000_000;

/// The token as the server keeps it: its SHA-256, so that a comparison does not reveal its length either.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AdminToken([u8; 32]);

impl AdminToken {
    /// Hashes the configured token.
    pub fn new(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// Whether `presented` is the token, in constant time.
    pub fn opens(&self, presented: &str) -> bool {
        self.0.ct_eq(&Self::new(presented).0).into()
    }
}

impl fmt::Debug for AdminToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AdminToken(…)")
    }
}

/// A session of the operator, which nothing stores.
///
/// Its cookie has the second in which it began, and a seal: a hash of the signed claims ([`OperatorSession::claims`]).
/// The claims contain the hash of the token, so the session ends when the token changes. They stay on the server,
/// because a weak token could be guessed from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperatorSession {
    began_at: Timestamp,
}

impl OperatorSession {
    /// A session that begins at `now`, in whole seconds.
    pub const fn begin(now: Timestamp) -> Self {
        Self { began_at: Timestamp::from_micros(now.as_unix_seconds().saturating_mul(MICROS_A_SECOND)) }
    }

    /// The session of a cookie, and the seal of the cookie, which is still to be checked ([`is_seal`]). `None` if the
    /// session is over at `now`, or if the text is not that of a cookie.
    pub fn read(cookie: &str, now: Timestamp) -> Option<(Self, &str)> {
        let (began, seal) = cookie.split_once('.')?;
        let began: i64 = began.parse().ok()?;
        let session = Self { began_at: Timestamp::from_micros(began.checked_mul(MICROS_A_SECOND)?) };
        // A time far from now would overflow below.
        let age = now.as_unix_seconds().checked_sub(began)?;
        let range = -CLOCKS_DIFFER.as_seconds()..OPERATOR_SESSION_LASTS.as_seconds();
        range.contains(&age).then_some((session, seal))
    }

    /// When it ends.
    pub fn ends_at(self) -> Timestamp {
        self.began_at + OPERATOR_SESSION_LASTS
    }

    /// What the holder of the signing key signs. Never give it, or its signed form, to a browser.
    pub fn claims(self, token: &AdminToken) -> SessionClaims {
        SessionClaims {
            iss: OPERATOR_ISSUER.to_owned(),
            sub: base64url(&token.0),
            jti: OPERATOR_ISSUER.to_owned(),
            iat: self.began_at.as_unix_seconds(),
            exp: self.ends_at().as_unix_seconds(),
        }
    }

    /// The value of its cookie. `signed` is the signed form of its claims.
    pub fn cookie(self, signed: &str) -> String {
        format!("{}.{}", self.began_at.as_unix_seconds(), seal_of(signed))
    }
}

/// Whether the seal of a cookie is that of the signed claims, in constant time.
pub fn is_seal(seal: &str, signed: &str) -> bool {
    seal.as_bytes().ct_eq(seal_of(signed).as_bytes()).into()
}

fn seal_of(signed: &str) -> String {
    let hash: [u8; 32] = Sha256::digest(signed.as_bytes()).into();
    base64url(&hash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SESSION_ISSUER;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_500_000);

    #[test]
    fn a_session_lasts_an_hour() {
        let session = OperatorSession::begin(NOW);
        let cookie = session.cookie("signed");
        assert!(cookie.starts_with("1800000000."), "{cookie}");
        assert_eq!(session.ends_at(), Timestamp::from_micros(1_800_003_600_000_000));
        let ages = [(-62, false), (-60, true), (0, true), (3_598, true), (3_600, false), (i64::MAX, false)];
        for (seconds, holds) in ages {
            let at = Timestamp::from_micros(NOW.as_micros().saturating_add(seconds.saturating_mul(MICROS_A_SECOND)));
            let read = OperatorSession::read(&cookie, at);
            assert_eq!(read.map(|(read, _)| read), Some(session).filter(|_| holds), "{seconds}");
        }
        let (_, seal) = OperatorSession::read(&cookie, NOW).unwrap();
        assert!(is_seal(seal, "signed"));
        for (seal, signed) in [(seal, "signed otherwise"), ("", "signed"), (&seal[1..], "signed")] {
            assert!(!is_seal(seal, signed), "{seal:?} {signed}");
        }
        let texts = ["", ".", "1800000000", "x.y", "9223372036854775807.x", "-9223372036854775808.x", "1.5.x"];
        for text in texts {
            assert_eq!(OperatorSession::read(text, NOW), None, "{text}");
        }
    }

    #[test]
    fn the_claims_depend_on_the_token_and_the_time() {
        let (token, session) = (AdminToken::new("a-long-enough-token"), OperatorSession::begin(NOW));
        let claims = session.claims(&token);
        assert_eq!(claims, session.claims(&AdminToken::new("a-long-enough-token")));
        assert_ne!(claims, session.claims(&AdminToken::new("another-long-enough-token")));
        assert_ne!(claims, OperatorSession::begin(NOW + SignedDuration::seconds(1)).claims(&token));
        assert!(claims.iss != SESSION_ISSUER && claims.check(NOW).is_none(), "it is no session of a user");
    }

    #[test]
    fn the_token_opens_and_nothing_else_does() {
        let token = AdminToken::new("a-long-enough-token");
        assert!(token.opens("a-long-enough-token"));
        for other in ["", "a-long-enough-toke", "a-long-enough-token ", "A-long-enough-token"] {
            assert!(!token.opens(other), "{other:?}");
        }
        assert_eq!(format!("{token:?}"), "AdminToken(…)");
    }
}
