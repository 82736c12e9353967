//! What is counted beside the plans' metrics: sign-ups of a mail domain, exports and feedback of an
//! organization. All nodes count in one place.
//!
//! The rule is a pure transition of one number, so that a store keeps the number and swaps it, whatever
//! the rule is.

use kalends_kernel::{Elapsed, Instant, OrgId, UserId};
use kalends_quotas::{Rate, RateDecision, RateState};
use sha2::{Digest, Sha256};

use crate::{CLAIMS_PER_EMAIL, CLAIMS_PER_USER, Email, SIGN_UPS_PER_DOMAIN};

/// How often an organization may export its data: 10 times an hour.
pub const EXPORTS: Rate = Rate::per_hour(10);
/// How often an organization may send feedback in a UTC day.
pub const FEEDBACK_A_DAY: u32 = 25;

/// What is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    /// So many in so much time, by the generic cell rate algorithm.
    Rate(Rate),
    /// So many in a UTC day.
    Daily(u32),
}

/// An allowance of somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Under what it is counted: the SHA-256 of what is limited and for whom, so that no address and no
    /// domain is kept.
    pub scope: [u8; 32],
    /// The organization, where it is one's: its counts go with it.
    pub org: Option<OrgId>,
    /// How much is allowed.
    pub allowed: Allowed,
}

/// What becomes of one use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It is allowed, and this is what a store keeps from now on.
    Granted {
        /// The number.
        state: i64,
        /// From when on the number says nothing any more.
        expires_at: Instant,
    },
    /// It is not; nothing changes.
    Refused {
        /// After how long one would be.
        retry_after: Elapsed,
    },
}

impl Allowance {
    fn new(what: &str, whom: &[u8], org: Option<OrgId>, allowed: Allowed) -> Self {
        let scope = Sha256::new().chain_update(what).chain_update([0]).chain_update(whom).finalize().into();
        Self { scope, org, allowed }
    }

    /// Sign-ups with addresses of the same mail domain (Authentication, rule 7).
    pub fn sign_ups(email: &Email) -> Self {
        Self::new("sign-ups", email.domain().as_bytes(), None, Allowed::Rate(SIGN_UPS_PER_DOMAIN))
    }

    /// Exports of an organization.
    pub fn exports(org: OrgId) -> Self {
        Self::new("exports", org.uuid().as_bytes(), Some(org), Allowed::Rate(EXPORTS))
    }

    /// Feedback of an organization.
    pub fn feedback(org: OrgId) -> Self {
        Self::new("feedback", org.uuid().as_bytes(), Some(org), Allowed::Daily(FEEDBACK_A_DAY))
    }

    /// Claims on an address, by whomever: each sends a mail there (ruling 3.11).
    pub fn claims_on(email: &Email) -> Self {
        Self::new("claims on", email.as_str().as_bytes(), None, Allowed::Rate(CLAIMS_PER_EMAIL))
    }

    /// Claims of a human, on whatever address.
    pub fn claims_of(user: UserId) -> Self {
        Self::new("claims of", user.uuid().as_bytes(), None, Allowed::Rate(CLAIMS_PER_USER))
    }

    /// Whether one more use is allowed at `now`; `stored` is the number that is kept, `None` where there is
    /// none or it has expired.
    pub fn take(&self, stored: Option<i64>, now: Instant) -> Taken {
        match self.allowed {
            Allowed::Rate(rate) => match rate.decide(stored.map_or(RateState::FRESH, RateState::from_i64), now) {
                RateDecision::Admitted { state, .. } => Taken::Granted {
                    state: state.as_i64(),
                    // The state lies at most one window ahead.
                    expires_at: now + Elapsed::seconds(i64::from(rate.seconds())),
                },
                RateDecision::Refused { retry_after } => Taken::Refused { retry_after },
            },
            Allowed::Daily(count) => {
                let midnight = next_midnight(now);
                match stored.unwrap_or(0) {
                    used if used < i64::from(count) => Taken::Granted { state: used + 1, expires_at: midnight },
                    _ => Taken::Refused { retry_after: midnight - now },
                }
            }
        }
    }
}

/// The first instant of the next UTC day.
fn next_midnight(now: Instant) -> Instant {
    let day = Elapsed::days(1).as_micros();
    Instant::from_micros((now.as_micros().div_euclid(day) + 1) * day)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Instant = Instant::from_micros(1_800_014_400_000_000);

    fn org() -> OrgId {
        OrgId::from_bytes([7; 16])
    }

    /// How many of `tries` at one instant are granted, and what the first refusal says.
    fn granted(allowance: &Allowance, tries: u32, now: Instant) -> (u32, Option<Elapsed>) {
        let (mut stored, mut count) = (None, 0);
        for _ in 0..tries {
            match allowance.take(stored, now) {
                Taken::Granted { state, expires_at } => {
                    assert!(expires_at > now);
                    stored = Some(state);
                    count += 1;
                }
                Taken::Refused { retry_after } => return (count, Some(retry_after)),
            }
        }
        (count, None)
    }

    #[test]
    fn the_limits_are_the_specification_s() {
        let email = Email::parse("email", "ada@example.com").unwrap();
        assert_eq!(granted(&Allowance::sign_ups(&email), 20, NOON), (10, Some(Elapsed::minutes(6))));
        assert_eq!(granted(&Allowance::exports(org()), 20, NOON), (10, Some(Elapsed::minutes(6))));
        assert_eq!(granted(&Allowance::feedback(org()), 30, NOON), (25, Some(Elapsed::hours(12))));
        assert_eq!(granted(&Allowance::claims_on(&email), 20, NOON), (5, Some(Elapsed::minutes(12))));
        let user = UserId::from_bytes([7; 16]);
        assert_eq!(granted(&Allowance::claims_of(user), 30, NOON), (20, Some(Elapsed::minutes(3))));
    }

    #[test]
    fn a_day_ends_at_utc_midnight() {
        let last = next_midnight(NOON) - Elapsed::micros(1);
        assert_eq!(Allowance::feedback(org()).take(Some(25), last), Taken::Refused { retry_after: Elapsed::micros(1) });
        assert!(matches!(
            Allowance::feedback(org()).take(Some(24), last),
            Taken::Granted { state: 25, expires_at } if expires_at == next_midnight(NOON)
        ));
        assert_eq!(next_midnight(next_midnight(NOON)), next_midnight(NOON) + Elapsed::days(1));
    }

    #[test]
    fn scopes_tell_apart_what_is_counted_and_for_whom() {
        let of = |address: &str| Allowance::sign_ups(&Email::parse("email", address).unwrap()).scope;
        assert_eq!(of("ada@BÜCHER.example."), of("bob@xn--bcher-kva.EXAMPLE"));
        assert_ne!(of("ada@example.com"), of("ada@example.org"));
        assert_ne!(Allowance::exports(org()).scope, Allowance::feedback(org()).scope);
        assert_ne!(Allowance::exports(org()).scope, Allowance::exports(OrgId::from_bytes([8; 16])).scope);
    }
}
