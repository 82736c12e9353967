//! A user takes over an organization that an agent signed up.
//!
//! The claim starts with the agent's address, and is proved with a code that is mailed there. It is then on hold for
//! a day, during which anyone who reads that mailbox may revoke it. After the hold the user owns the organization.
//! Its keys are revoked, because its former holder has seen them. Nothing else about it changes.
//!
//! A claim is created even for an address with nothing to claim, but no code can prove it. So neither the responses nor
//! the list of claims reveal who has an account.

use kalends_kernel::{ClaimId, OrgId, UserId, Version};
use kalends_time::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::{
    Code, CodeHash, Email, MailedToken, Organization, SignUpSource, TokenHash,
    otp::{CODE_LASTS, Guess, judge},
};

/// How long a proved claim is on hold before it takes effect.
pub const CLAIM_HOLD: SignedDuration = SignedDuration::hours(24);
/// How long a claim that did not succeed is kept, counted from its start.
pub const CLAIM_KEPT: SignedDuration = SignedDuration::days(30);

/// The SHA-256 of a claim's address. The address itself is not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AddressHash(pub [u8; 32]);

impl AddressHash {
    /// The hash of an address.
    pub fn of(email: &Email) -> Self {
        Self(Sha256::digest(email.as_str().as_bytes()).into())
    }
}

/// The state of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimState {
    /// The claim waits for the code.
    Initiated {
        /// The code's hash.
        code: CodeHash,
        /// When the code stops working.
        expires_at: Timestamp,
        /// The number of attempts so far.
        attempts: u32,
    },
    /// The claim is proved and on hold.
    Held {
        /// When it takes effect.
        until: Timestamp,
        /// The hash of the token that revokes it.
        revocation: TokenHash,
    },
    /// The user owns the organization.
    Effective {
        /// When it took effect.
        at: Timestamp,
        /// The hash of the token that could have revoked it. It distinguishes late objections from those of
        /// strangers.
        revocation: TokenHash,
    },
    /// Somebody revoked it in time.
    Revoked {
        /// When it was revoked.
        at: Timestamp,
        /// The hash of the token that revoked it.
        revocation: TokenHash,
    },
    /// Another claim took its place, or the organization already has an owner.
    Void {
        /// When it became void.
        at: Timestamp,
    },
}

/// A [`ClaimState`] as stores keep it: the name of the state and its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredClaimState<'a> {
    /// `initiated`, `held`, `effective`, `revoked` or `void`.
    pub name: &'a str,
    /// The code's hash.
    pub code: Option<CodeHash>,
    /// The number of attempts with the code.
    pub attempts: u32,
    /// When the code stops working, or the hold ends.
    pub due_at: Option<Timestamp>,
    /// The hash of the token that revokes it.
    pub revocation: Option<TokenHash>,
    /// When it took effect, was revoked, or became void.
    pub ended_at: Option<Timestamp>,
}

impl ClaimState {
    /// The state in the form that stores keep.
    pub const fn stored(self) -> StoredClaimState<'static> {
        let none =
            StoredClaimState { name: "void", code: None, attempts: 0, due_at: None, revocation: None, ended_at: None };
        match self {
            Self::Initiated { code, expires_at, attempts } => {
                StoredClaimState { name: "initiated", code: Some(code), attempts, due_at: Some(expires_at), ..none }
            }
            Self::Held { until, revocation } => {
                StoredClaimState { name: "held", due_at: Some(until), revocation: Some(revocation), ..none }
            }
            Self::Effective { at, revocation } => {
                StoredClaimState { name: "effective", revocation: Some(revocation), ended_at: Some(at), ..none }
            }
            Self::Revoked { at, revocation } => {
                StoredClaimState { name: "revoked", revocation: Some(revocation), ended_at: Some(at), ..none }
            }
            Self::Void { at } => StoredClaimState { ended_at: Some(at), ..none },
        }
    }

    /// The state from a stored form; `None` if the fields do not fit the name.
    pub fn read(stored: StoredClaimState<'_>) -> Option<Self> {
        let state = match stored {
            StoredClaimState { name: "initiated", code: Some(code), attempts, due_at: Some(expires_at), .. } => {
                Self::Initiated { code, expires_at, attempts }
            }
            StoredClaimState { name: "held", due_at: Some(until), revocation: Some(revocation), .. } => {
                Self::Held { until, revocation }
            }
            StoredClaimState { name: "effective", revocation: Some(revocation), ended_at: Some(at), .. } => {
                Self::Effective { at, revocation }
            }
            StoredClaimState { name: "revoked", revocation: Some(revocation), ended_at: Some(at), .. } => {
                Self::Revoked { at, revocation }
            }
            StoredClaimState { name: "void", ended_at: Some(at), .. } => Self::Void { at },
            _ => return None,
        };
        (state.stored() == stored).then_some(state)
    }
}

/// The status of a claim, as `GET /v1/auth/claims` shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ClaimStatus {
    /// The claim waits for the code.
    Pending,
    /// The code has expired or was tried too often.
    Expired,
    /// The claim is on hold.
    Held,
    /// The user owns the organization.
    Effective,
    /// Somebody revoked it in time.
    Revoked,
    /// Another claim took its place, or the organization already has an owner.
    Void,
}

impl ClaimStatus {
    /// Every status.
    pub const ALL: [Self; 6] = [Self::Pending, Self::Expired, Self::Held, Self::Effective, Self::Revoked, Self::Void];

    /// The name in responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Expired => "expired",
            Self::Held => "held",
            Self::Effective => "effective",
            Self::Revoked => "revoked",
            Self::Void => "void",
        }
    }
}

/// A claim as stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// The identifier. It is shown whether or not there is anything to claim.
    pub id: ClaimId,
    /// The organization; `None` if the address has nothing to claim.
    pub org: Option<OrgId>,
    /// The user who claims it.
    pub user: UserId,
    /// The hash of the address that was given.
    pub address: AddressHash,
    /// The state.
    pub state: ClaimState,
    /// The row's version.
    pub version: Version,
    /// When it was initiated.
    pub created_at: Timestamp,
}

/// Why a code does not prove a claim.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClaimError {
    /// The code is wrong: 400. The attempt must be recorded before the response.
    #[error("{CLAIM_REFUSED}")]
    Wrong {
        /// The row with the attempt counted.
        counted: Box<Claim>,
    },
    /// The user has no such claim, or its code no longer works: the same 400.
    #[error("{CLAIM_REFUSED}")]
    Void,
    /// The code is right, but another claim is on hold, or the organization already has an owner: 409.
    #[error("another claim on the organization is on hold or has taken effect")]
    Taken,
}

/// The message for a code that does not prove a claim, whatever the reason.
pub const CLAIM_REFUSED: &str =
    "the code is wrong, has expired or is used up; initiate the claim again for a fresh one";

/// The result of a revocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revoked {
    /// The claim is revoked now.
    Now(Claim),
    /// The claim was already revoked. Nothing changes.
    Before,
}

/// Why a claim cannot be revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum RevokeError {
    /// There is no such claim, or the token belongs to another one: 404.
    #[error("there is no such claim with this revocation token")]
    Unknown,
    /// The hold is over: 410.
    #[error("the hold of 24 hours is over; the claim has taken effect")]
    TooLate,
}

/// Facts about the organization that can keep a claim from proceeding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rivals {
    /// Whether the organization has an owner.
    pub owned: bool,
    /// Whether another claim on it is on hold.
    pub held: bool,
}

/// The organization that a user may claim with an address: one without an owner that an agent signed up with the
/// address, or that the operator created for it. The caller gets the same response if there is none.
pub fn claimable(found: Option<&Organization>, owned: bool) -> Option<&Organization> {
    let made_for_the_address = |source| match source {
        SignUpSource::Agent | SignUpSource::Operator => true,
        SignUpSource::Waitlist | SignUpSource::Console => false,
    };
    found.filter(|found| found.email.is_some() && made_for_the_address(found.source) && !owned)
}

impl Claim {
    /// A claim that waits for `code`. Without an organization, no code can prove it. An earlier claim of the same
    /// user that waits for a code mailed to the same address is superseded ([`Self::superseded`]).
    pub fn initiate(
        id: ClaimId,
        org: Option<OrgId>,
        user: UserId,
        address: AddressHash,
        code: &Code,
        now: Timestamp,
    ) -> Self {
        // No code has this hash.
        let code = if org.is_some() { code.hash_within(id.uuid().as_bytes()) } else { CodeHash([0; 32]) };
        let state = ClaimState::Initiated { code, expires_at: now + CODE_LASTS, attempts: 0 };
        Self { id, org, user, address, state, version: Version::FIRST, created_at: now }
    }

    const fn become_state(&self, state: ClaimState) -> Self {
        Self { state, version: self.version.next(), ..*self }
    }

    /// The claim after the same user started another one; `None` if it does not wait for a code.
    pub const fn superseded(&self, now: Timestamp) -> Option<Self> {
        match self.state {
            ClaimState::Initiated { .. } => Some(self.become_state(ClaimState::Void { at: now })),
            ClaimState::Held { .. }
            | ClaimState::Effective { .. }
            | ClaimState::Revoked { .. }
            | ClaimState::Void { .. } => None,
        }
    }

    /// Proves the claim `id` of `user` with the code that was mailed, and puts it on hold. `token` is for the
    /// revocation link. The code is always compared, in constant time.
    ///
    /// # Errors
    /// [`ClaimError`]. After [`ClaimError::Wrong`] the caller commits the counted attempt before it responds.
    pub fn verify(
        stored: Option<&Self>,
        id: ClaimId,
        user: UserId,
        presented: &Code,
        rivals: Rivals,
        token: &MailedToken,
        now: Timestamp,
    ) -> Result<Self, ClaimError> {
        let own = stored.filter(|claim| claim.id == id && claim.user == user);
        let known = own.and_then(|claim| match claim.state {
            ClaimState::Initiated { code, expires_at, attempts } => Some((code, expires_at, attempts)),
            ClaimState::Held { .. }
            | ClaimState::Effective { .. }
            | ClaimState::Revoked { .. }
            | ClaimState::Void { .. } => None,
        });
        let guess = judge(known, presented.hash_within(id.uuid().as_bytes()), now);
        let (Some(claim), Some((code, expires_at, attempts))) = (own, known) else { return Err(ClaimError::Void) };
        match guess {
            Guess::Void => Err(ClaimError::Void),
            Guess::Wrong => {
                let counted = claim.become_state(ClaimState::Initiated { code, expires_at, attempts: attempts + 1 });
                Err(ClaimError::Wrong { counted: Box::new(counted) })
            }
            Guess::Right if rivals.owned || rivals.held => Err(ClaimError::Taken),
            Guess::Right => {
                Ok(claim.become_state(ClaimState::Held { until: now + CLAIM_HOLD, revocation: token.hash() }))
            }
        }
    }

    /// Revokes a claim on hold with the token from the email.
    ///
    /// # Errors
    /// [`RevokeError`]. A wrong token reveals nothing about the claim.
    pub fn revoke(&self, token: &str, now: Timestamp) -> Result<Revoked, RevokeError> {
        let matches = |hash: TokenHash| bool::from(hash.0.ct_eq(&TokenHash::of(token).0));
        match self.state {
            ClaimState::Held { until, revocation } if matches(revocation) => {
                // The hold ends at this time, even if the claim has not been made effective yet.
                if now < until {
                    Ok(Revoked::Now(self.become_state(ClaimState::Revoked { at: now, revocation })))
                } else {
                    Err(RevokeError::TooLate)
                }
            }
            ClaimState::Effective { revocation, .. } if matches(revocation) => Err(RevokeError::TooLate),
            ClaimState::Revoked { revocation, .. } if matches(revocation) => Ok(Revoked::Before),
            ClaimState::Held { .. }
            | ClaimState::Effective { .. }
            | ClaimState::Revoked { .. }
            | ClaimState::Initiated { .. }
            | ClaimState::Void { .. } => Err(RevokeError::Unknown),
        }
    }

    /// When the claim takes effect; `None` if it is not on hold.
    pub const fn due_at(&self) -> Option<Timestamp> {
        match self.state {
            ClaimState::Held { until, .. } => Some(until),
            ClaimState::Initiated { .. }
            | ClaimState::Effective { .. }
            | ClaimState::Revoked { .. }
            | ClaimState::Void { .. } => None,
        }
    }

    /// The claim after its hold. It is effective, and the user becomes the owner in the same change-set. If the
    /// organization has an owner by then, the claim is void. Returns `None` if it is not due.
    pub fn take_effect(&self, owned: bool, now: Timestamp) -> Option<Self> {
        match self.state {
            ClaimState::Held { until, .. } if now < until => None,
            ClaimState::Held { .. } if owned => Some(self.become_state(ClaimState::Void { at: now })),
            ClaimState::Held { revocation, .. } => {
                Some(self.become_state(ClaimState::Effective { at: now, revocation }))
            }
            ClaimState::Initiated { .. }
            | ClaimState::Effective { .. }
            | ClaimState::Revoked { .. }
            | ClaimState::Void { .. } => None,
        }
    }

    /// The organization, once the user has proved that they read its mail.
    pub const fn proved_org(&self) -> Option<OrgId> {
        match self.state {
            ClaimState::Held { .. } | ClaimState::Effective { .. } | ClaimState::Revoked { .. } => self.org,
            ClaimState::Initiated { .. } | ClaimState::Void { .. } => None,
        }
    }

    /// The status at `now`.
    pub fn status(&self, now: Timestamp) -> ClaimStatus {
        match self.state {
            ClaimState::Initiated { expires_at, attempts, .. } => {
                let works = now < expires_at && attempts < crate::CODE_ATTEMPTS;
                if works { ClaimStatus::Pending } else { ClaimStatus::Expired }
            }
            ClaimState::Held { .. } => ClaimStatus::Held,
            ClaimState::Effective { .. } => ClaimStatus::Effective,
            ClaimState::Revoked { .. } => ClaimStatus::Revoked,
            ClaimState::Void { .. } => ClaimStatus::Void,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::CODE_ATTEMPTS;

    const START: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    fn id(number: u8) -> ClaimId {
        ClaimId::from_bytes([number; 16])
    }

    const ORG: OrgId = OrgId::from_bytes([9; 16]);
    const ADA: UserId = UserId::from_bytes([1; 16]);
    const BOB: UserId = UserId::from_bytes([2; 16]);

    fn code(text: &str) -> Code {
        Code::parse(text).unwrap()
    }

    fn token() -> MailedToken {
        MailedToken("token".to_owned())
    }

    fn address() -> AddressHash {
        AddressHash::of(&Email::parse("email", "agent@example.com").unwrap())
    }

    fn initiated() -> Claim {
        Claim::initiate(id(1), Some(ORG), ADA, address(), &code("123456"), START)
    }

    fn held() -> Claim {
        let claim = initiated();
        Claim::verify(Some(&claim), id(1), ADA, &code("123456"), Rivals::default(), &token(), START).unwrap()
    }

    #[test]
    fn a_claim_takes_effect_after_a_day() {
        let claim = held();
        let end = START + CLAIM_HOLD;
        assert_eq!((claim.status(START), claim.due_at()), (ClaimStatus::Held, Some(end)));
        assert_eq!(claim.take_effect(false, end - SignedDuration::micros(1)), None);
        let effective = claim.take_effect(false, end).unwrap();
        assert_eq!(effective.status(end), ClaimStatus::Effective);
        assert_eq!((effective.org, effective.version), (Some(ORG), claim.version.next()));
        assert_eq!(effective.take_effect(false, end), None, "it takes effect once");
        assert_eq!(claim.take_effect(true, end).unwrap().status(end), ClaimStatus::Void);
    }

    #[test]
    fn a_claim_can_be_revoked_until_the_hold_is_over() {
        let claim = held();
        let last = START + CLAIM_HOLD - SignedDuration::micros(1);
        assert_eq!(claim.revoke("tokem", last), Err(RevokeError::Unknown));
        assert_eq!(claim.revoke("", last), Err(RevokeError::Unknown));
        let Ok(Revoked::Now(revoked)) = claim.revoke("token", last) else { panic!("in time") };
        assert_eq!(revoked.status(last), ClaimStatus::Revoked);
        assert_eq!(revoked.revoke("token", last), Ok(Revoked::Before));
        assert_eq!(revoked.revoke("other", last), Err(RevokeError::Unknown));
        assert_eq!(revoked.take_effect(false, START + CLAIM_HOLD), None);

        let end = START + CLAIM_HOLD;
        assert_eq!(claim.revoke("token", end), Err(RevokeError::TooLate), "although it is not effective yet");
        let effective = claim.take_effect(false, end).unwrap();
        assert_eq!(effective.revoke("token", end), Err(RevokeError::TooLate));
        assert_eq!(effective.revoke("other", end), Err(RevokeError::Unknown));
        assert_eq!(initiated().revoke("token", START), Err(RevokeError::Unknown));
    }

    #[test]
    fn every_failed_code_gets_the_same_message() {
        let claim = initiated();
        let verify = |stored: Option<&Claim>, id, user, text, now| {
            Claim::verify(stored, id, user, &code(text), Rivals::default(), &token(), now)
        };
        let burned = Claim {
            state: match claim.state {
                ClaimState::Initiated { code, expires_at, .. } => {
                    ClaimState::Initiated { code, expires_at, attempts: CODE_ATTEMPTS }
                }
                other => other,
            },
            ..claim
        };
        for (reason, failed) in [
            ("wrong", verify(Some(&claim), id(1), ADA, "123457", START)),
            ("expired", verify(Some(&claim), id(1), ADA, "123456", START + CODE_LASTS)),
            ("burned", verify(Some(&burned), id(1), ADA, "123456", START)),
            ("reused", verify(Some(&held()), id(1), ADA, "123456", START)),
            ("superseded", verify(claim.superseded(START).as_ref(), id(1), ADA, "123456", START)),
            ("unknown", verify(None, id(1), ADA, "123456", START)),
            ("another claim's", verify(Some(&claim), id(2), ADA, "123456", START)),
            ("another user's", verify(Some(&claim), id(1), BOB, "123456", START)),
        ] {
            assert_eq!(failed.unwrap_err().to_string(), CLAIM_REFUSED, "{reason}");
        }
    }

    #[test]
    fn a_claim_without_an_organization_looks_like_any_other_and_no_code_proves_it() {
        let nothing = Claim::initiate(id(1), None, ADA, address(), &code("123456"), START);
        let (none, some) = (nothing.status(START), initiated().status(START));
        assert_eq!((none, nothing.proved_org(), initiated().proved_org()), (some, None, None));
        let verify =
            |claim: &Claim| Claim::verify(Some(claim), id(1), ADA, &code("123456"), Rivals::default(), &token(), START);
        let Err(ClaimError::Wrong { mut counted }) = verify(&nothing) else { panic!("no code is right") };
        for _ in 1..CODE_ATTEMPTS {
            assert_eq!(counted.status(START), ClaimStatus::Pending);
            let Err(ClaimError::Wrong { counted: next }) = verify(&counted) else { panic!("no code is right") };
            counted = next;
        }
        assert_eq!((counted.status(START), verify(&counted)), (ClaimStatus::Expired, Err(ClaimError::Void)));
        assert!(nothing.superseded(START).is_some());
        assert_eq!(held().proved_org(), Some(ORG));
    }

    #[test]
    fn stored_states_are_read_back() {
        let (initiated, held) = (initiated().state, held().state);
        let revocation = token().hash();
        for state in [
            initiated,
            held,
            ClaimState::Effective { at: START, revocation },
            ClaimState::Revoked { at: START, revocation },
            ClaimState::Void { at: START },
        ] {
            let stored = state.stored();
            assert_eq!(ClaimState::read(stored), Some(state));
            assert_eq!(ClaimState::read(StoredClaimState { name: "other", ..stored }), None);
            assert_eq!(ClaimState::read(StoredClaimState { due_at: None, ended_at: None, ..stored }), None);
            assert_eq!(ClaimState::read(StoredClaimState { attempts: 77, ..stored }).is_some(), state == initiated);
        }
    }

    #[test]
    fn only_unowned_organizations_of_agents_and_operators_are_claimable() {
        use kalends_plans::Plan;

        use crate::{OrgName, Waitlist};
        let organization = Organization {
            id: ORG,
            name: OrgName::from_stored("Acme".to_owned()),
            plan: Plan::FreeAgentUnverified,
            limit_overrides: None,
            test: false,
            email: Some(Email::parse("email", "agent@example.com").unwrap()),
            verified_at: None,
            waitlist: Waitlist::Active,
            source: SignUpSource::Agent,
            accepted: None,
            reply_to: crate::ReplyTo::default(),
            version: Version::FIRST,
            created_at: START,
        };
        assert_eq!(claimable(Some(&organization), false), Some(&organization));
        assert_eq!(claimable(Some(&organization), true), None, "it has an owner");
        assert_eq!(claimable(None, false), None);
        for source in SignUpSource::ALL {
            let made = Organization { source, ..organization.clone() };
            let claimed = matches!(source, SignUpSource::Agent | SignUpSource::Operator);
            assert_eq!(claimable(Some(&made), false).is_some(), claimed, "{source:?}");
        }
    }

    #[test]
    fn rivals_are_only_reported_for_a_right_code() {
        let claim = initiated();
        for rivals in [Rivals { owned: true, held: false }, Rivals { owned: false, held: true }] {
            let right = Claim::verify(Some(&claim), id(1), ADA, &code("123456"), rivals, &token(), START);
            assert_eq!(right, Err(ClaimError::Taken));
            let wrong = Claim::verify(Some(&claim), id(1), ADA, &code("000000"), rivals, &token(), START);
            assert!(matches!(wrong, Err(ClaimError::Wrong { .. })));
        }
        assert_eq!(held().superseded(START), None, "a claim on hold stays");
    }

    #[test]
    fn debug_output_hides_tokens() {
        assert_eq!(format!("{:?} {:?}", token(), token().hash()), "MailedToken(…) TokenHash(…)");
    }

    #[derive(Debug, Clone)]
    enum Step {
        /// One of two users starts a claim.
        Initiate(bool),
        /// A user presents the code of one of the claims so far, or a wrong code.
        Verify {
            ada: bool,
            claim: usize,
            right: bool,
        },
        /// The reader of the mailbox revokes one of the claims.
        Revoke(usize),
        /// The worker makes due claims effective.
        Work,
        Wait(i64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            3 => any::<bool>().prop_map(Step::Initiate),
            8 => (any::<bool>(), 0usize..6, prop::bool::weighted(0.7))
                .prop_map(|(ada, claim, right)| Step::Verify { ada, claim, right }),
            2 => (0usize..6).prop_map(Step::Revoke),
            3 => Just(Step::Work),
            4 => prop_oneof![0i64..900, 0i64..100_000].prop_map(Step::Wait),
        ];
        prop::collection::vec(step, 1..80)
    }

    /// The model of one claim: what the users could know about it.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Known {
        Waits { since: Timestamp, wrong: u32 },
        Holds { until: Timestamp },
        Owns,
        Over,
    }

    proptest! {
        /// With two users and one organization, the organization gets at most one owner, never before a day has
        /// passed, and never after a revocation in time.
        #[test]
        fn at_most_one_user_becomes_the_owner(steps in steps()) {
            let mut claims: Vec<Claim> = Vec::new();
            let mut known: Vec<Known> = Vec::new();
            let (mut now, mut owner) = (START, None);
            for step in steps {
                match step {
                    Step::Initiate(ada) => {
                        if owner.is_some() || claims.len() == 200 { continue }
                        let user = if ada { ADA } else { BOB };
                        for (claim, known) in claims.iter_mut().zip(&mut known) {
                            if claim.user == user && let Some(void) = claim.superseded(now) {
                                *claim = void;
                                *known = Known::Over;
                            }
                        }
                        let number = u8::try_from(claims.len()).unwrap();
                        claims.push(Claim::initiate(id(number), Some(ORG), user, address(), &code("123456"), now));
                        known.push(Known::Waits { since: now, wrong: 0 });
                    }
                    Step::Verify { ada, claim, right } => {
                        let user = if ada { ADA } else { BOB };
                        let held = known.iter().any(|known| matches!(known, Known::Holds { .. }));
                        let rivals = Rivals { owned: owner.is_some(), held };
                        let stored = claims.get(claim).copied();
                        let number = u8::try_from(claim).unwrap();
                        let text = if right { "123456" } else { "654321" };
                        let token = MailedToken(format!("token {claim}"));
                        let done = Claim::verify(stored.as_ref(), id(number), user, &code(text), rivals, &token, now);
                        let waits = stored.filter(|stored| stored.user == user).and_then(|_| match known[claim] {
                            Known::Waits { since, wrong } if now < since + CODE_LASTS && wrong < 10 => Some(wrong),
                            _ => None,
                        });
                        match (done, waits) {
                            (Ok(proved), Some(_)) => {
                                prop_assert!(right && !rivals.owned && !rivals.held);
                                claims[claim] = proved;
                                known[claim] = Known::Holds { until: now + CLAIM_HOLD };
                            }
                            (Err(ClaimError::Wrong { counted }), Some(wrong)) => {
                                prop_assert!(!right);
                                prop_assert_eq!(counted.version, claims[claim].version.next());
                                claims[claim] = *counted;
                                let Known::Waits { since, .. } = known[claim] else { unreachable!() };
                                known[claim] = Known::Waits { since, wrong: wrong + 1 };
                            }
                            (Err(ClaimError::Taken), Some(_)) => prop_assert!(right && (rivals.owned || rivals.held)),
                            (done, waits) => prop_assert_eq!((done, waits), (Err(ClaimError::Void), None)),
                        }
                    }
                    Step::Revoke(claim) => {
                        let Some(stored) = claims.get(claim) else { continue };
                        match (stored.revoke(&format!("token {claim}"), now), known[claim]) {
                            (Ok(Revoked::Now(revoked)), Known::Holds { until }) => {
                                prop_assert!(now < until);
                                claims[claim] = revoked;
                                known[claim] = Known::Over;
                            }
                            (Err(RevokeError::TooLate), Known::Holds { until }) => prop_assert!(now >= until),
                            (Err(RevokeError::TooLate), Known::Owns) => {}
                            (Ok(Revoked::Before) | Err(RevokeError::Unknown), Known::Over) => {}
                            (Err(RevokeError::Unknown), Known::Waits { .. }) => {}
                            (answer, known) => prop_assert!(false, "{answer:?} of {known:?}"),
                        }
                    }
                    Step::Work => {
                        for (claim, known) in claims.iter_mut().zip(&mut known) {
                            let due = matches!(known, Known::Holds { until } if *until <= now);
                            let done = claim.take_effect(owner.is_some(), now);
                            prop_assert_eq!(done.is_some(), due);
                            if let Some(done) = done {
                                prop_assert!(now >= claim.created_at + CLAIM_HOLD);
                                prop_assert_eq!(done.status(now), ClaimStatus::Effective);
                                prop_assert_eq!(owner.replace(done.user), None, "one owner");
                                *claim = done;
                                *known = Known::Owns;
                            }
                        }
                    }
                    Step::Wait(seconds) => now = now + SignedDuration::seconds(seconds),
                }
                let held = known.iter().filter(|known| matches!(known, Known::Holds { .. })).count();
                prop_assert!(held <= 1, "one claim is on hold at a time");
            }
        }
    }
}
