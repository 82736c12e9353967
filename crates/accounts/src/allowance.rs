//! Allowances: limits other than the plans' metrics, such as sign-ups of a mail domain, or exports and feedback of an
//! organization. All nodes count in one place.
//!
//! Uses are counted in windows. An hour begins with the first use that is not in an earlier hour, a day at midnight
//! UTC. A window never holds more uses than are allowed, and a refused caller learns when it ends. Windows do not
//! slide: if one window ends with a burst and the next begins with one, the hour around the boundary holds up to one
//! use less than twice the limit. Preventing that would require keeping the time of every use.
//!
//! The rule is a pure transition of [`Used`]: [`Allowance::take_many`]. A store keeps a number and a time, and makes
//! the same transition in one statement, with the [`AllowanceTerms`] of the allowance.

use std::net::IpAddr;

use kalends_kernel::{OrgId, UserId};
use kalends_time::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};

pub use self::limited::Limited;
use crate::{Email, PublicMailDomains, public_mail::network};

mod limited;

/// An allowance with its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// The kind of use.
    pub limited: Limited,
    /// The key under which uses are counted: the SHA-256 of the kind and the owner, so that no address and no domain
    /// is stored.
    pub scope: [u8; 32],
    /// The organization, if the allowance belongs to one. Its counts are deleted with it.
    pub org: Option<OrgId>,
}

/// The stored state of an allowance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Used {
    /// The number of uses in the window.
    pub count: i64,
    /// The end of the window. From then on, the count is void.
    pub until: Timestamp,
}

impl Used {
    /// The state with one use less, if the window that ends at `until`, in which the use was taken, is still stored.
    /// Otherwise the state is unchanged.
    #[must_use]
    pub fn given_back(self, until: Timestamp) -> Self {
        if self.until == until { Self { count: (self.count - 1).max(0), ..self } } else { self }
    }
}

/// The decision about a use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It is allowed, and this is the state to store.
    Granted(Used),
    /// It is not allowed. The stored state is unchanged.
    Refused {
        /// The time until one use is allowed.
        retry_after: SignedDuration,
    },
}

/// The terms for uses at one time, as numbers that a store can compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AllowanceTerms {
    /// The time of the use. A window that ends by then is over.
    pub now: Timestamp,
    /// The number of uses that a window holds.
    pub limit: i64,
    /// The end of a window that begins now.
    pub until: Timestamp,
    /// The latest possible end of a window. A window that ends later was written before the clock was set back. It is
    /// ignored: one extra window is better than refusals until the clock has caught up.
    pub longest: Timestamp,
}

impl AllowanceTerms {
    /// Whether the window that ends at `until` holds the use. Otherwise a new window begins with the use.
    fn holds(&self, until: Timestamp) -> bool {
        self.now < until && until <= self.longest
    }

    /// The time until a refused use would be allowed. `until` is the end of the stored window, if there is one.
    pub fn retry_after(&self, until: Option<Timestamp>) -> SignedDuration {
        until.filter(|until| self.holds(*until)).unwrap_or(self.until) - self.now
    }
}

impl Allowance {
    fn new(limited: Limited, counted_by: &[u8], org: Option<OrgId>) -> Self {
        let scope =
            Sha256::new().chain_update(limited.as_str()).chain_update([0]).chain_update(counted_by).finalize().into();
        Self { limited, scope, org }
    }

    /// Sign-ups with addresses of one mail domain. At a public provider, only those from one network, so that no one
    /// can lock out everyone else who has a mailbox there.
    pub fn sign_ups(email: &Email, public: &PublicMailDomains, from: Option<IpAddr>) -> Self {
        let domain = email.domain();
        if !public.contains(domain) {
            return Self::new(Limited::SignUps, domain.as_bytes(), None);
        }
        Self::new(Limited::PublicSignUps, &with_network(domain, from), None)
    }

    /// The sign-ups of people from one network with addresses of one mail domain that are allowed even if others have
    /// used up the domain's [`Self::sign_ups`]. So strangers cannot keep a person from signing up. `None` at a public
    /// provider, whose sign-ups are counted by network already.
    pub fn reserved_sign_ups(email: &Email, public: &PublicMailDomains, from: Option<IpAddr>) -> Option<Self> {
        let domain = email.domain();
        (!public.contains(domain)).then(|| Self::new(Limited::ReservedSignUps, &with_network(domain, from), None))
    }

    /// Exports of an organization.
    pub fn exports(org: OrgId) -> Self {
        Self::new(Limited::Exports, org.uuid().as_bytes(), Some(org))
    }

    /// Files of the audit log of an organization.
    pub fn audit_files(org: OrgId) -> Self {
        Self::new(Limited::AuditFiles, org.uuid().as_bytes(), Some(org))
    }

    /// Feedback of an organization.
    pub fn feedback(org: OrgId) -> Self {
        Self::new(Limited::Feedback, org.uuid().as_bytes(), Some(org))
    }

    /// Claims on one address, by any user. Each one sends an email there.
    pub fn claims_on(email: &Email) -> Self {
        Self::new(Limited::ClaimsOn, email.as_str().as_bytes(), None)
    }

    /// Claims of one user, on any address.
    pub fn claims_of(user: UserId) -> Self {
        Self::new(Limited::ClaimsOf, user.uuid().as_bytes(), None)
    }

    /// Emails for setting the password of one account.
    pub fn resets(email: &Email) -> Self {
        Self::new(Limited::Resets, email.as_str().as_bytes(), None)
    }

    /// Emails for proving the address of one user.
    pub fn proofs(user: UserId) -> Self {
        Self::new(Limited::Proofs, user.uuid().as_bytes(), None)
    }

    /// Wrong codes of one user's second factor. A use is taken before the code is checked, and given back if the code is
    /// right.
    pub fn second_factor(user: UserId) -> Self {
        Self::new(Limited::SecondFactor, user.uuid().as_bytes(), None)
    }

    /// Passwords that one user sends to calendar servers, to connect accounts there. Each attempt counts, whatever its
    /// outcome.
    pub fn calendar_passwords(user: UserId) -> Self {
        Self::new(Limited::CalendarPasswords, user.uuid().as_bytes(), None)
    }

    /// Emails with which the operator tests the sending of mail, to any address.
    pub fn test_mail() -> Self {
        Self::new(Limited::TestMail, &[], None)
    }

    /// Emails of an organization that ask its members to decide about approvals.
    pub fn approval_mail(org: OrgId) -> Self {
        Self::new(Limited::ApprovalMail, org.uuid().as_bytes(), Some(org))
    }

    /// Emails from one organization to others, limited per hour.
    pub fn mail(org: OrgId, count: u32) -> Self {
        Self::new(Limited::Mail(count), org.uuid().as_bytes(), Some(org))
    }

    /// Emails to one recipient from all organizations together, limited per hour.
    pub fn mail_to(email: &Email, count: u32) -> Self {
        Self::new(Limited::MailTo(count), email.as_str().as_bytes(), None)
    }

    /// The terms for uses at `now`.
    pub fn terms(&self, now: Timestamp) -> AllowanceTerms {
        let window = self.limited.window();
        AllowanceTerms {
            now,
            limit: self.limited.count().into(),
            until: window.end(now),
            longest: now + window.longest(),
        }
    }

    /// Decides whether one more use is allowed at `now`. `stored` is the stored state, if any, whether its window is
    /// over or not.
    pub fn take(&self, stored: Option<Used>, now: Timestamp) -> Taken {
        self.take_many(stored, 1, now)
    }

    /// Takes several uses at once, all or none. Each counts like a [`Self::take`].
    pub fn take_many(&self, stored: Option<Used>, uses: u32, now: Timestamp) -> Taken {
        let terms = self.terms(now);
        let open = stored.filter(|used| terms.holds(used.until));
        let Used { count, until } = open.unwrap_or(Used { count: 0, until: terms.until });
        let count = count.saturating_add(i64::from(uses));
        if count <= terms.limit {
            Taken::Granted(Used { count, until })
        } else {
            Taken::Refused { retry_after: terms.retry_after(Some(until)) }
        }
    }

    /// Whether the use that led to this state was the last one that its window holds.
    pub fn is_used_up(&self, taken: Used) -> bool {
        taken.count >= i64::from(self.limited.count())
    }
}

/// The owner of what is counted by a domain or an address, and by the network of the caller.
fn with_network(named: &str, from: Option<IpAddr>) -> Vec<u8> {
    let mut counted_by = named.as_bytes().to_vec();
    counted_by.push(0);
    counted_by.extend(network(from));
    counted_by
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::{
        limited::{Window, next_midnight},
        *,
    };

    const NOON: Timestamp = Timestamp::from_micros(1_800_014_400_000_000);

    const NEAR: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(203, 0, 113, 7));
    const FAR: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(198, 51, 100, 7));

    fn org() -> OrgId {
        OrgId::from_bytes([7; 16])
    }

    fn sign_ups(address: &str, from: Option<&str>) -> Allowance {
        let email = Email::parse("email", address).unwrap();
        Allowance::sign_ups(&email, &PublicMailDomains::default(), from.map(|from| from.parse().unwrap()))
    }

    fn reserved(email: &Email, from: IpAddr) -> Option<Allowance> {
        Allowance::reserved_sign_ups(email, &PublicMailDomains::default(), Some(from))
    }

    fn all() -> [Allowance; 16] {
        let ada = Email::parse("email", "ada@example.com").unwrap();
        [
            sign_ups("ada@example.com", None),
            sign_ups("ada@gmail.com", Some("203.0.113.7")),
            reserved(&ada, NEAR).unwrap(),
            Allowance::exports(org()),
            Allowance::audit_files(org()),
            Allowance::feedback(org()),
            Allowance::claims_on(&ada),
            Allowance::claims_of(UserId::from_bytes([7; 16])),
            Allowance::resets(&ada),
            Allowance::proofs(UserId::from_bytes([7; 16])),
            Allowance::second_factor(UserId::from_bytes([7; 16])),
            Allowance::calendar_passwords(UserId::from_bytes([7; 16])),
            Allowance::test_mail(),
            Allowance::approval_mail(org()),
            Allowance::mail(org(), 7),
            Allowance::mail_to(&ada, 3),
        ]
    }

    /// The number of granted uses, one at each of these times.
    fn granted(allowance: &Allowance, uses: impl IntoIterator<Item = Timestamp>) -> u32 {
        let (mut stored, mut count) = (None, 0);
        for now in uses {
            match allowance.take(stored, now) {
                Taken::Granted(used) => {
                    assert!(used.until > now);
                    stored = Some(used);
                    count += 1;
                }
                Taken::Refused { retry_after } => assert!(retry_after > SignedDuration::ZERO),
            }
        }
        count
    }

    #[test]
    fn every_allowance_has_its_limit() {
        assert_eq!(
            all().map(|allowance| allowance.limited.to_string()),
            [
                "10 sign-ups an hour are allowed with addresses of one mail domain",
                "10 sign-ups an hour are allowed from one network with addresses of one mail provider",
                "2 sign-ups an hour are allowed from one network with addresses of one mail domain",
                "10 exports an hour are allowed",
                "30 files of the audit log an hour are allowed",
                "25 pieces of feedback a UTC day are allowed",
                "5 claims an hour are allowed on one address",
                "20 claims an hour are allowed to one user",
                "5 emails an hour are allowed to one address",
                "5 emails an hour are allowed to one user",
                "10 wrong codes an hour are allowed to one user",
                "20 attempts to connect a calendar server an hour are allowed to one user",
                "5 test emails an hour are allowed",
                "30 emails an hour are allowed about approvals of one organization",
                "7 emails an hour are allowed to others from one organization",
                "3 emails an hour are allowed to one address",
            ]
        );
        for allowance in all() {
            assert_eq!(granted(&allowance, [NOON; 60]), allowance.limited.count());
        }
    }

    #[test]
    fn the_last_use_of_a_window_is_known() {
        for allowance in all() {
            let (mut stored, mut last) = (None, Vec::new());
            while let Taken::Granted(used) = allowance.take(stored, NOON) {
                last.push(allowance.is_used_up(used));
                stored = Some(used);
            }
            assert_eq!(last.iter().filter(|is_last| **is_last).count(), 1, "{:?}", allowance.limited);
            assert_eq!(last.last(), Some(&true), "{:?}", allowance.limited);
        }
    }

    #[test]
    fn an_hour_from_its_first_use_holds_no_more_than_the_limit() {
        // A bucket that refills evenly would grant one more every few minutes.
        let minutes = |from: i64, to: i64| (from..to).map(|minute| NOON + SignedDuration::minutes(minute));
        for allowance in all().iter().filter(|allowance| allowance.limited.window() == Window::Hour) {
            let limit = allowance.limited.count();
            assert_eq!(granted(allowance, minutes(0, 60)), limit);
            assert_eq!(granted(allowance, minutes(0, 61)), limit + 1);
            assert_eq!(granted(allowance, minutes(0, 120)), 2 * limit);
            // The next hour begins with its own first use.
            assert_eq!(granted(allowance, minutes(0, 1).chain(minutes(90, 149))), limit + 1);
            let mut last = None;
            for _ in 0..limit {
                let Taken::Granted(used) = allowance.take(last, NOON) else { panic!("refused") };
                last = Some(used);
            }
            let late = NOON + SignedDuration::minutes(59);
            assert_eq!(allowance.take(last, late), Taken::Refused { retry_after: SignedDuration::minutes(1) });
        }
    }

    #[test]
    fn a_day_ends_at_utc_midnight() {
        let midnight = next_midnight(NOON);
        let last = midnight - SignedDuration::micros(1);
        let feedback = Allowance::feedback(org());
        let used = |count| Some(Used { count, until: midnight });
        assert_eq!(feedback.take(used(25), last), Taken::Refused { retry_after: SignedDuration::micros(1) });
        assert_eq!(feedback.take(used(24), last), Taken::Granted(Used { count: 25, until: midnight }));
        let next = Used { count: 1, until: midnight + SignedDuration::days(1) };
        assert_eq!(feedback.take(used(25), midnight), Taken::Granted(next));
        assert_eq!(next_midnight(midnight), midnight + SignedDuration::days(1));
    }

    #[test]
    fn a_use_that_is_given_back_can_be_taken_again() {
        for allowance in all() {
            let Taken::Granted(first) = allowance.take(None, NOON) else { panic!("refused") };
            assert_eq!(first.given_back(first.until), Used { count: 0, ..first });
            assert_eq!(first.given_back(first.until).given_back(first.until).count, 0, "never below zero");
            let Taken::Granted(next) = allowance.take(Some(first), first.until) else { panic!("refused") };
            assert_eq!(next.given_back(first.until), next, "another window");
        }
    }

    #[test]
    fn a_clock_that_is_set_back_refuses_for_one_window_at_most() {
        for allowance in all() {
            let ahead = Some(Used { count: i64::MAX, until: NOON + SignedDuration::days(30) });
            let Taken::Granted(used) = allowance.take(ahead, NOON) else { panic!("refused") };
            assert!(used.count == 1 && used.until <= NOON + SignedDuration::days(1));
        }
    }

    #[test]
    fn scopes_differ_by_kind_and_owner() {
        let of = |address: &str| sign_ups(address, None).scope;
        assert_eq!(of("ada@BÜCHER.example."), of("bob@xn--bcher-kva.EXAMPLE"));
        assert_ne!(of("ada@example.com"), of("ada@example.org"));
        let scopes: BTreeSet<_> = all().into_iter().map(|allowance| allowance.scope).collect();
        assert_eq!(scopes.len(), all().len());
        assert_ne!(Allowance::exports(org()).scope, Allowance::exports(OrgId::from_bytes([8; 16])).scope);
    }

    #[test]
    fn a_public_provider_is_counted_by_network() {
        let near = sign_ups("ada@gmail.com", Some("203.0.113.7"));
        assert_eq!(near.limited, Limited::PublicSignUps);
        assert_eq!(near.scope, sign_ups("bob@gmail.com", Some("203.0.113.8")).scope);
        assert_ne!(near.scope, sign_ups("bob@gmail.com", Some("198.51.100.7")).scope, "another network");
        assert_ne!(near.scope, sign_ups("bob@web.de", Some("203.0.113.7")).scope, "another provider");
        assert_eq!(sign_ups("a@gmail.com", None).scope, sign_ups("b@gmail.com", None).scope, "unknown addresses");
        let own = sign_ups("ada@example.com", Some("203.0.113.7"));
        assert_eq!(own, sign_ups("bob@example.com", Some("198.51.100.7")), "a private domain is counted as a whole");
        assert_eq!(own.limited, Limited::SignUps);
    }

    #[test]
    fn a_stranger_uses_nothing_that_is_kept_for_another_network() {
        let [ada, bob] = ["ada@example.com", "bob@example.com"].map(|text| Email::parse("email", text).unwrap());
        let near = reserved(&ada, NEAR);
        assert_eq!(near.map(|allowance| allowance.limited), Some(Limited::ReservedSignUps));
        assert_eq!(near, reserved(&bob, NEAR), "one domain");
        assert_ne!(near, reserved(&ada, FAR));
        let public = Email::parse("email", "ada@gmail.com").unwrap();
        assert_eq!(reserved(&public, NEAR), None, "its network is counted already");
    }

    #[test]
    fn mail_is_counted_by_organization_and_by_recipient() {
        let ada = Email::parse("email", "ada@example.com").unwrap();
        assert_eq!(granted(&Allowance::mail(org(), 200), [NOON; 300]), 200);
        assert_eq!(granted(&Allowance::mail_to(&ada, 5), [NOON; 9]), 5);
        let (mail, used) =
            (Allowance::mail(org(), 200), |count| Some(Used { count, until: NOON + SignedDuration::minutes(9) }));
        assert!(matches!(mail.take_many(used(150), 50, NOON), Taken::Granted(Used { count: 200, .. })));
        assert_eq!(mail.take_many(used(151), 50, NOON), Taken::Refused { retry_after: SignedDuration::minutes(9) });
        assert_eq!(Allowance::mail(org(), 200).scope, Allowance::mail(org(), 7).scope, "a new limit keeps the count");
        assert_eq!(Limited::Mail(200).to_string(), "200 emails an hour are allowed to others from one organization");
        assert_eq!(granted(&Allowance::resets(&ada), [NOON; 9]), 5);
    }

    proptest! {
        /// Several uses of an allowance at once count like single uses, or none of them counts.
        #[test]
        fn several_uses_count_like_single_uses_or_not_at_all(
            which in 0..all().len(),
            uses in 0..60u32,
            kept in proptest::option::of((0..70i64, -1_500..3_000i64)),
        ) {
            let allowance = all()[which];
            let kept = kept.map(|(count, minutes)| Used { count, until: NOON + SignedDuration::minutes(minutes) });
            let single = (0..uses).try_fold(kept, |kept, _| match allowance.take(kept, NOON) {
                Taken::Granted(used) => Ok(Some(used)),
                refused @ Taken::Refused { .. } => Err(refused),
            });
            match single {
                Ok(used) if uses > 0 => prop_assert_eq!(used.map(Taken::Granted), Some(allowance.take_many(kept, uses, NOON))),
                Ok(_) => {}
                Err(refused) => prop_assert_eq!(allowance.take_many(kept, uses, NOON), refused),
            }
        }
    }
}
