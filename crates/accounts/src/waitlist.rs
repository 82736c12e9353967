//! The waiting list: people who have asked for an account and wait to be let in.

use kalends_kernel::{FieldError, OrgId, Version, bounded_text};
use kalends_plans::Plan;
use kalends_time::Timestamp;

use crate::{Acceptance, Email, OrgName, Organization, ReplyTo, SignUpSource, Waitlist};

/// The name of a person who joins: 2-100 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingName(String);

impl WaitingName {
    /// The minimum number of characters.
    pub const MIN: usize = 2;
    /// The maximum number of characters.
    pub const MAX: usize = 100;

    /// Checks the bounds.
    ///
    /// # Errors
    /// Names the field and the bounds.
    pub fn parse(param: &str, text: &str) -> Result<Self, FieldError> {
        bounded_text(param, text, Self::MIN, Self::MAX).map(Self)
    }

    /// The default name: the part of the address before the @. It may be only one character long.
    pub fn of(email: &Email) -> Self {
        let local = email.as_str().rsplit_once('@').map_or("", |(local, _)| local);
        Self(local.to_owned())
    }
}

/// A request to join that has been validated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewJoin {
    /// The address.
    pub email: Email,
    /// The name.
    pub name: WaitingName,
    /// The accepted terms, if any.
    pub acceptance: Option<Acceptance>,
    /// The plan of new sign-ups.
    pub plan: Plan,
}

/// Why a person cannot join.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JoinError {
    /// The address has an organization that did not come from the waiting list, or that is no longer on it.
    #[error("an account with that address exists; sign in instead")]
    Taken,
}

/// The organization of a person who joins the waiting list. It is on the plan of new sign-ups and has no key.
pub fn join(id: OrgId, new: &NewJoin, now: Timestamp) -> Organization {
    Organization {
        id,
        name: OrgName::from_stored(new.name.0.clone()),
        plan: new.plan,
        limit_overrides: None,
        test: false,
        email: Some(new.email.clone()),
        verified_at: None,
        waitlist: Waitlist::Since(now),
        source: SignUpSource::Waitlist,
        accepted: new.acceptance.clone(),
        reply_to: ReplyTo::default(),
        version: Version::FIRST,
        created_at: now,
    }
}

/// Returns `known`, the organization with the address of a person who joins again, if it joined the waiting list and is
/// still on it. No other organization is shown, because a caller without a key must not learn its name.
///
/// # Errors
/// [`JoinError::Taken`].
pub fn joined_again(known: &Organization) -> Result<&Organization, JoinError> {
    match (known.source, known.waitlist) {
        (SignUpSource::Waitlist, Waitlist::Since(_)) => Ok(known),
        _ => Err(JoinError::Taken),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn joined() -> Organization {
        let now = Timestamp::from_micros(1_800_000_000_000_000);
        let email = Email::parse("email", "ada@example.com").unwrap();
        let name = WaitingName::of(&email);
        let acceptance = Acceptance { version: "2026-01-01".into(), at: now };
        join(OrgId::from_bytes([1; 16]), &NewJoin { email, name, acceptance: Some(acceptance), plan: Plan::Pro }, now)
    }

    #[test]
    fn a_new_entry_waits_under_the_local_part_of_its_address() {
        let joined = joined();
        assert_eq!((joined.name.as_str(), joined.plan, joined.source), ("ada", Plan::Pro, SignUpSource::Waitlist));
        assert_eq!(joined.waitlist, Waitlist::Since(joined.created_at));
    }

    #[test]
    fn an_empty_object_limits_nothing() {
        let on = |limits| joined().on_plan(Plan::Pro, limits).unwrap().limit_overrides;
        assert_eq!(on(Some(json!({}))), None);
        assert_eq!(on(Some(json!({ "agents": null }))), Some(json!({ "agents": null })));
        assert!(joined().on_plan(Plan::Pro, Some(json!([]))).is_err());
    }

    #[test]
    fn a_waiting_organization_keeps_its_place() {
        let later = Timestamp::from_micros(1_900_000_000_000_000);
        let joined = joined();
        assert_eq!(joined.waiting(later), joined);
        assert_eq!(joined.with_waitlist(Waitlist::Active).waiting(later).waitlist, Waitlist::Since(later));
    }

    #[test]
    fn only_a_waiting_entry_is_shown_again() {
        let joined = joined();
        assert_eq!(joined_again(&joined), Ok(&joined));
        let others = [
            joined.with_waitlist(Waitlist::Active),
            Organization { source: SignUpSource::Operator, ..joined.clone() },
            Organization { source: SignUpSource::Agent, ..joined.clone() },
        ];
        for other in others {
            assert_eq!(joined_again(&other), Err(JoinError::Taken));
        }
    }

    #[rstest]
    #[case("", false)]
    #[case("A", false)]
    #[case("Al", true)]
    #[case(&"é".repeat(100), true)]
    #[case(&"é".repeat(101), false)]
    fn names_are_bounded(#[case] name: &str, #[case] fits: bool) {
        assert_eq!(WaitingName::parse("name", name).is_ok(), fits);
    }
}
