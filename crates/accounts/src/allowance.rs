//! What is counted beside the plans' metrics: sign-ups of a mail domain, exports and feedback of an
//! organization. All nodes count in one place.
//!
//! Uses are counted in windows. An hour begins with the first use that no earlier hour holds, a day at midnight
//! UTC. A window holds as many uses as are allowed and never more, and who is refused is told when it ends. It
//! does not slide: where one window ends with a burst and the next begins with one, the hour around its end holds
//! up to twice as many less one. To forbid that, the instant of every use would have to be kept.
//!
//! The rule is a pure transition of [`Used`], so that a store keeps a number and an instant and swaps them,
//! whatever the rule is.

use std::fmt;

use kalends_kernel::{Elapsed, Instant, OrgId, UserId};
use sha2::{Digest, Sha256};

use crate::Email;

/// What is allowed so often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limited {
    /// Sign-ups with addresses of one mail domain, by [`Email::domain`] (Authentication, rule 7). Whatever the
    /// answer, each call counts.
    SignUps,
    /// Exports of an organization.
    Exports,
    /// Feedback of an organization.
    Feedback,
    /// Claims on an address, by whomever.
    ClaimsOn,
    /// Claims of a human, on whatever address.
    ClaimsOf,
}

/// How long uses are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Window {
    /// 60 minutes from the first use on.
    Hour,
    /// A UTC day.
    Day,
}

impl Window {
    /// When the window ends that begins with a use at `now`.
    fn end(self, now: Instant) -> Instant {
        match self {
            Self::Hour => now + Elapsed::hours(1),
            Self::Day => next_midnight(now),
        }
    }

    /// How long a window lasts at most.
    const fn longest(self) -> Elapsed {
        match self {
            Self::Hour => Elapsed::hours(1),
            Self::Day => Elapsed::days(1),
        }
    }
}

impl Limited {
    /// How often it is allowed in a window.
    pub const fn count(self) -> u32 {
        match self {
            Self::SignUps | Self::Exports => 10,
            Self::Feedback => 25,
            Self::ClaimsOn => 5,
            Self::ClaimsOf => 20,
        }
    }

    const fn window(self) -> Window {
        match self {
            Self::SignUps | Self::Exports | Self::ClaimsOn | Self::ClaimsOf => Window::Hour,
            Self::Feedback => Window::Day,
        }
    }

    /// Under which name it is counted: part of what stores keep.
    const fn as_str(self) -> &'static str {
        match self {
            Self::SignUps => "sign-ups",
            Self::Exports => "exports",
            Self::Feedback => "feedback",
            Self::ClaimsOn => "claims on",
            Self::ClaimsOf => "claims of",
        }
    }
}

impl fmt::Display for Limited {
    /// Says what is allowed, as a caller is told.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, window) = (self.count(), self.window());
        let what = match self {
            Self::SignUps => "sign-ups",
            Self::Exports => "exports",
            Self::Feedback => "pieces of feedback",
            Self::ClaimsOn | Self::ClaimsOf => "claims",
        };
        let each = match window {
            Window::Hour => "an hour",
            Window::Day => "a UTC day",
        };
        write!(f, "{count} {what} {each} are allowed")?;
        match self {
            Self::SignUps => f.write_str(" with addresses of one mail domain"),
            Self::ClaimsOn => f.write_str(" on one address"),
            Self::ClaimsOf => f.write_str(" to one human"),
            Self::Exports | Self::Feedback => Ok(()),
        }
    }
}

/// An allowance of somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// What is allowed, and so how often.
    pub limited: Limited,
    /// Under what it is counted: the SHA-256 of what is limited and for whom, so that no address and no
    /// domain is kept.
    pub scope: [u8; 32],
    /// The organization, where it is one's: its counts go with it.
    pub org: Option<OrgId>,
}

/// What a store keeps of an allowance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Used {
    /// How often it was used in the window.
    pub count: i64,
    /// When the window ends: from then on this says nothing any more.
    pub until: Instant,
}

/// What becomes of one use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It is allowed, and this is what a store keeps from now on.
    Granted(Used),
    /// It is not; nothing changes.
    Refused {
        /// After how long one would be.
        retry_after: Elapsed,
    },
}

impl Allowance {
    fn new(limited: Limited, whom: &[u8], org: Option<OrgId>) -> Self {
        let scope = Sha256::new().chain_update(limited.as_str()).chain_update([0]).chain_update(whom).finalize().into();
        Self { limited, scope, org }
    }

    /// Sign-ups with addresses of the same mail domain.
    pub fn sign_ups(email: &Email) -> Self {
        Self::new(Limited::SignUps, email.domain().as_bytes(), None)
    }

    /// Exports of an organization.
    pub fn exports(org: OrgId) -> Self {
        Self::new(Limited::Exports, org.uuid().as_bytes(), Some(org))
    }

    /// Feedback of an organization.
    pub fn feedback(org: OrgId) -> Self {
        Self::new(Limited::Feedback, org.uuid().as_bytes(), Some(org))
    }

    /// Claims on an address, by whomever: each sends a mail there (ruling 3.11).
    pub fn claims_on(email: &Email) -> Self {
        Self::new(Limited::ClaimsOn, email.as_str().as_bytes(), None)
    }

    /// Claims of a human, on whatever address.
    pub fn claims_of(user: UserId) -> Self {
        Self::new(Limited::ClaimsOf, user.uuid().as_bytes(), None)
    }

    /// Whether one more use is allowed at `now`; `stored` is what is kept, over or not, if anything is.
    ///
    /// A window that ends further off than any can was written before the clock was set back. It counts for
    /// nothing: better one more window than a refusal until the clock has caught up.
    pub fn take(&self, stored: Option<Used>, now: Instant) -> Taken {
        let window = self.limited.window();
        let open = stored.filter(|used| now < used.until && used.until <= now + window.longest());
        match open {
            None => Taken::Granted(Used { count: 1, until: window.end(now) }),
            Some(Used { count, until }) if count < i64::from(self.limited.count()) => {
                Taken::Granted(Used { count: count.saturating_add(1), until })
            }
            Some(Used { until, .. }) => Taken::Refused { retry_after: until - now },
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

    fn all() -> [Allowance; 3] {
        let email = Email::parse("email", "ada@example.com").unwrap();
        [Allowance::sign_ups(&email), Allowance::exports(org()), Allowance::feedback(org())]
    }

    /// How many of a use at each instant are granted.
    fn granted(allowance: &Allowance, uses: impl IntoIterator<Item = Instant>) -> u32 {
        let (mut stored, mut count) = (None, 0);
        for now in uses {
            match allowance.take(stored, now) {
                Taken::Granted(used) => {
                    assert!(used.until > now);
                    stored = Some(used);
                    count += 1;
                }
                Taken::Refused { retry_after } => assert!(retry_after > Elapsed::ZERO),
            }
        }
        count
    }

    #[test]
    fn the_limits_are_the_specification_s() {
        let told = |[sign_ups, exports, feedback]: [Allowance; 3]| {
            [sign_ups, exports, feedback].map(|allowance| allowance.limited.to_string())
        };
        assert_eq!(
            told(all()),
            [
                "10 sign-ups an hour are allowed with addresses of one mail domain",
                "10 exports an hour are allowed",
                "25 pieces of feedback a UTC day are allowed",
            ]
        );
        for allowance in all() {
            assert_eq!(granted(&allowance, [NOON; 60]), allowance.limited.count());
        }
    }

    #[test]
    fn an_hour_from_its_first_use_holds_no_more_than_ten() {
        // A bucket that refills would grant one more every six minutes.
        let minutes = |from: i64, to: i64| (from..to).map(|minute| NOON + Elapsed::minutes(minute));
        for allowance in &all()[..2] {
            assert_eq!(granted(allowance, minutes(0, 60)), 10);
            assert_eq!(granted(allowance, minutes(0, 61)), 11);
            assert_eq!(granted(allowance, minutes(0, 120)), 20);
            // The next hour begins with its own first use.
            assert_eq!(granted(allowance, minutes(0, 1).chain(minutes(90, 149))), 11);
            let mut last = None;
            for _ in 0..10 {
                let Taken::Granted(used) = allowance.take(last, NOON) else { panic!("refused") };
                last = Some(used);
            }
            let late = NOON + Elapsed::minutes(59);
            assert_eq!(allowance.take(last, late), Taken::Refused { retry_after: Elapsed::minutes(1) });
        }
    }

    #[test]
    fn a_day_ends_at_utc_midnight() {
        let midnight = next_midnight(NOON);
        let last = midnight - Elapsed::micros(1);
        let feedback = Allowance::feedback(org());
        let used = |count| Some(Used { count, until: midnight });
        assert_eq!(feedback.take(used(25), last), Taken::Refused { retry_after: Elapsed::micros(1) });
        assert_eq!(feedback.take(used(24), last), Taken::Granted(Used { count: 25, until: midnight }));
        let next = Used { count: 1, until: midnight + Elapsed::days(1) };
        assert_eq!(feedback.take(used(25), midnight), Taken::Granted(next));
        assert_eq!(next_midnight(midnight), midnight + Elapsed::days(1));
    }

    #[test]
    fn a_clock_that_is_set_back_refuses_nobody_for_long() {
        for allowance in all() {
            let ahead = Some(Used { count: i64::MAX, until: NOON + Elapsed::days(30) });
            let Taken::Granted(used) = allowance.take(ahead, NOON) else { panic!("refused") };
            assert!(used.count == 1 && used.until <= NOON + Elapsed::days(1));
        }
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
