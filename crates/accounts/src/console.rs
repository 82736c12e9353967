//! A user signs up in the console.

use kalends_kernel::{Entropy, OrgId, UserId, Version};
use kalends_plans::Plan;
use kalends_time::Timestamp;

use crate::{
    Acceptance, Email, Membership, NewKey, OrgName, Organization, PasswordHash, ReplyTo, Session, SignUpSource, User,
    UserName, Waitlist,
};

/// What is known about the address of a new account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressStanding {
    /// It is proved, by a provider or by an invitation that was mailed there.
    Proved,
    /// It is only stated, and the server does not ask for a proof. The user holds it nevertheless.
    Held,
    /// It is only stated, and the user is asked to prove it. Until then, the user does not hold it, and the organization
    /// stays in the sandbox.
    Stated,
}

impl AddressStanding {
    /// The standing of an address. `asks` says whether the server asks for a proof.
    pub const fn of(proved: bool, asks: bool) -> Self {
        match (proved, asks) {
            (true, _) => Self::Proved,
            (false, false) => Self::Held,
            (false, true) => Self::Stated,
        }
    }
}

/// A sign-up that has been validated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAccount {
    /// The address.
    pub email: Email,
    /// What is known about the address.
    pub standing: AddressStanding,
    /// The user's name.
    pub name: UserName,
    /// The organization's name. The default is the user's name.
    pub org_name: Option<OrgName>,
    /// The hash of the password; `None` for a sign-up with a provider.
    pub password: Option<PasswordHash>,
    /// The accepted terms.
    pub acceptance: Acceptance,
    /// The plan of new sign-ups.
    pub plan: Plan,
}

impl NewAccount {
    fn holds_address(&self) -> bool {
        self.standing != AddressStanding::Stated
    }

    /// The plan until the address is proved.
    fn first_plan(&self) -> Plan {
        if self.holds_address() { self.plan } else { Plan::FreeAgentUnverified }
    }
}

/// The organization that a sign-up opens.
#[derive(Debug, Clone, PartialEq)]
pub enum Founding {
    /// A new organization.
    New(Organization),
    /// The organization that was let in from the waiting list with the same address.
    LetIn {
        /// The updated organization.
        organization: Organization,
        /// The version that was read.
        seen: Version,
    },
}

impl Founding {
    /// The organization.
    pub const fn organization(&self) -> &Organization {
        match self {
            Self::New(organization) | Self::LetIn { organization, .. } => organization,
        }
    }
}

/// The result of a sign-up.
#[derive(Debug, Clone, PartialEq)]
pub struct Account {
    /// The organization.
    pub founding: Founding,
    /// The user.
    pub user: User,
    /// The user's membership of the organization, as its owner.
    pub membership: Membership,
    /// The organization's key.
    pub key: NewKey,
    /// The user's first session.
    pub session: Session,
}

/// Why a user cannot sign up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignUpError {
    /// The address is on the waiting list and has not been let in: 403 `account_waitlisted`.
    #[error("the address is on the waiting list; you get an email when it is activated")]
    Waiting,
}

/// Creates the account of a user whose address no other user holds. `known` is the organization that has the address,
/// and whether it has an owner.
///
/// A user who was let in from the waiting list gets the organization that waited, unless they have yet to prove the
/// address. It has neither a key nor an owner, so there is nothing to steal. Any other organization with the address (signed up by an agent, or created by the
/// operator) stays as it is, because the address is not proved. The user can claim it ([`crate::Claim`]), and starts
/// with a new organization.
///
/// # Errors
/// [`SignUpError::Waiting`].
pub fn open_account(
    known: Option<(&Organization, bool)>,
    new: &NewAccount,
    now: Timestamp,
    entropy: &dyn Entropy,
) -> Result<Account, SignUpError> {
    let user = UserId::new(now, entropy);
    let founding = match known {
        Some((waiting, _)) if waiting.waitlist != Waitlist::Active => return Err(SignUpError::Waiting),
        Some((known, false)) if known.source == SignUpSource::Waitlist && new.holds_address() => Founding::LetIn {
            organization: Organization {
                name: new.org_name.clone().unwrap_or_else(|| known.name.clone()),
                accepted: Some(new.acceptance.clone()),
                version: known.version.next(),
                ..known.clone()
            },
            seen: known.version,
        },
        // An address belongs to one organization at most. If another one has it, the new one gets none.
        other => Founding::New(found(new, other.is_none() && new.holds_address(), OrgId::new(now, entropy), now)),
    };
    let organization = founding.organization();
    let (org, kind) = (organization.id, organization.key_kind());
    Ok(Account {
        user: User {
            email_verified_at: (new.standing == AddressStanding::Proved).then_some(now),
            holds_address: new.holds_address(),
            ..User::create(user, new.email.clone(), new.name.clone(), new.password.clone(), now)
        },
        membership: Membership::owner(user, org, now),
        key: NewKey::generate(org, kind, now, entropy),
        session: Session::begin(user, Some(org), now, entropy),
        founding,
    })
}

fn found(new: &NewAccount, with_address: bool, id: OrgId, now: Timestamp) -> Organization {
    let name = || OrgName::from_stored(new.name.as_str().to_owned());
    Organization {
        id,
        name: new.org_name.clone().unwrap_or_else(name),
        plan: new.first_plan(),
        limit_overrides: None,
        test: false,
        email: with_address.then(|| new.email.clone()),
        verified_at: None,
        waitlist: Waitlist::Active,
        source: SignUpSource::Console,
        accepted: Some(new.acceptance.clone()),
        reply_to: ReplyTo::default(),
        version: Version::FIRST,
        created_at: now,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counting(std::sync::atomic::AtomicU8);
    impl Entropy for Counting {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        }
    }

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    fn new(org_name: Option<&str>) -> NewAccount {
        NewAccount {
            email: Email::parse("email", "ada@example.com").unwrap(),
            name: UserName::parse("name", "Ada").unwrap(),
            org_name: org_name.map(|name| OrgName::parse("org_name", name).unwrap()),
            password: Some(PasswordHash::new("$hash".to_owned())),
            standing: AddressStanding::Held,
            acceptance: Acceptance { version: "2026-01-01".to_owned(), at: NOW },
            plan: Plan::Pro,
        }
    }

    fn open(known: Option<(&Organization, bool)>, org_name: Option<&str>) -> Result<Account, SignUpError> {
        open_account(known, &new(org_name), NOW, &Counting(0.into()))
    }

    fn known(source: SignUpSource, waitlist: Waitlist) -> Organization {
        let email = Some(new(None).email);
        let id = OrgId::from_bytes([9; 16]);
        Organization { source, waitlist, email, version: Version(7), ..found(&new(Some("Old")), true, id, NOW) }
    }

    #[test]
    fn a_user_owns_their_new_organization() {
        let account = open(None, None).unwrap();
        let organization = account.founding.organization();
        assert_eq!((organization.name.as_str(), organization.plan), ("Ada", Plan::Pro));
        assert_eq!(organization.email.as_ref(), Some(&account.user.email));
        assert_eq!(account.membership, Membership::owner(account.user.id, organization.id, NOW));
        assert_eq!((account.session.user, account.session.org), (account.user.id, Some(organization.id)));
        assert_eq!(account.key.key.org, organization.id);
        assert!(account.key.text.starts_with("svc_sk_") && account.user.email_verified_at.is_none());
        assert_eq!(open(None, Some("Acme")).unwrap().founding.organization().name.as_str(), "Acme");
    }

    fn open_with(standing: AddressStanding, known: Option<(&Organization, bool)>) -> Account {
        open_account(known, &NewAccount { standing, ..new(None) }, NOW, &Counting(0.into())).unwrap()
    }

    #[test]
    fn a_stated_address_is_not_held() {
        for (proved, asks, holds, verified) in [
            (true, true, true, true),
            (true, false, true, true),
            (false, false, true, false),
            (false, true, false, false),
        ] {
            let account = open_with(AddressStanding::of(proved, asks), None);
            let organization = account.founding.organization();
            assert_eq!((account.user.holds_address, account.user.email_verified_at.is_some()), (holds, verified));
            assert_eq!(organization.email.is_some(), holds);
            assert_eq!(organization.plan == Plan::FreeAgentUnverified, !holds);
        }
    }

    #[test]
    fn a_stated_address_does_not_get_the_waiting_organization() {
        let waited = Organization { plan: Plan::Custom, ..known(SignUpSource::Waitlist, Waitlist::Active) };
        let account = open_with(AddressStanding::Stated, Some((&waited, false)));
        let Founding::New(organization) = account.founding else { panic!("{:?}", account.founding) };
        assert_eq!((organization.email, organization.plan), (None, Plan::FreeAgentUnverified));
    }

    #[test]
    fn the_first_proof_ends_the_sandbox() {
        let account = open_with(AddressStanding::Stated, None);
        let (organization, email) = (account.founding.organization().clone(), account.user.email);
        let later = Timestamp::from_micros(NOW.as_micros() + 1);
        let raised = organization.with_proved_owner(&email, true, (Plan::Pro, None), later).unwrap();
        assert_eq!((raised.plan, raised.email.as_ref(), raised.verified_at), (Plan::Pro, Some(&email), Some(later)));
        assert_eq!(raised.version, organization.version.next());
        assert_eq!(
            raised.with_proved_owner(&email, true, (Plan::Custom, None), later),
            None,
            "nothing is left to change"
        );
        let without = organization.with_proved_owner(&email, false, (Plan::Pro, None), later).unwrap();
        assert_eq!(
            (without.plan, without.email, without.verified_at),
            (Plan::Pro, None, None),
            "another has the address"
        );
        let limits = serde_json::json!({ "agents": 3 });
        let admitted = organization.with_proved_owner(&email, true, (Plan::Pro, Some(&limits)), later).unwrap();
        assert_eq!(admitted.limit_overrides, Some(limits));
        let chosen = Organization { plan: Plan::Custom, ..organization.clone() };
        assert_eq!(chosen.with_proved_owner(&email, true, (Plan::Pro, None), later).unwrap().plan, Plan::Custom);
        for source in [SignUpSource::Agent, SignUpSource::Operator] {
            let other = Organization { source, ..organization.clone() };
            assert_eq!(
                other.with_proved_owner(&email, true, (Plan::Pro, None), later),
                None,
                "a user did not sign it up"
            );
        }
    }

    #[test]
    fn a_waiting_address_cannot_sign_up() {
        for source in SignUpSource::ALL {
            for owned in [false, true] {
                let waiting = known(source, Waitlist::Since(NOW));
                assert_eq!(open(Some((&waiting, owned)), None), Err(SignUpError::Waiting));
            }
        }
    }

    #[test]
    fn a_user_who_was_let_in_gets_the_waiting_organization() {
        let place = known(SignUpSource::Waitlist, Waitlist::Active);
        let Founding::LetIn { organization, seen } = open(Some((&place, false)), None).unwrap().founding else {
            panic!("a new organization")
        };
        assert_eq!((organization.id, organization.name.as_str(), seen), (place.id, "Old", place.version));
        assert_eq!(organization.version, place.version.next());
        let account = open(Some((&place, false)), Some("New")).unwrap();
        assert_eq!(account.founding.organization().name.as_str(), "New");
        assert_eq!(account.membership.org, place.id);
    }

    #[test]
    fn an_address_alone_gives_no_existing_organization() {
        for (source, owned) in [
            (SignUpSource::Agent, false),
            (SignUpSource::Operator, false),
            (SignUpSource::Console, false),
            (SignUpSource::Waitlist, true),
            (SignUpSource::Agent, true),
        ] {
            let theirs = known(source, Waitlist::Active);
            let account = open(Some((&theirs, owned)), None).unwrap();
            let Founding::New(own) = &account.founding else { panic!("{source:?} {owned}") };
            assert!(own.id != theirs.id && own.email.is_none(), "{source:?} {owned}");
        }
    }
}
