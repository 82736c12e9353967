//! Claims on organizations.

use kalends_accounts::{
    AddressHash, Change, Claim, ClaimError, ClaimState, Code, MailedToken, Membership, Revoked, Rivals, TokenHash,
};
use kalends_app::{ChangeSet, ports::CommitError};
use kalends_kernel::{ClaimId, OrgId, Page, UserId, Version};
use kalends_time::{SignedDuration, Timestamp};

use super::{
    StoreUnderTest,
    scene::{LARGEST_PAGE, Scene, assert_refused, race, successes},
};
use crate::fixtures::Compose;

/// How many tasks run at once.
const TASKS: usize = 24;
/// How many callers guess a code at once.
const GUESSES: usize = 50;

fn code() -> Code {
    Code::parse("123456").unwrap()
}

impl Scene {
    fn someone(&self) -> UserId {
        UserId::new(self.make.tick(), &self.make.entropy)
    }

    /// A claim of `user` on `org`, with an address of its own.
    fn claim(&self, user: UserId, org: Option<OrgId>) -> Claim {
        let now = self.make.tick();
        let address = AddressHash::of(&self.make.email());
        Claim::initiate(ClaimId::new(now, &self.make.entropy), org, user, address, &code(), now)
    }

    async fn initiated(&self, user: UserId, org: Option<OrgId>) -> Claim {
        let claim = self.claim(user, org);
        self.commit(self.changes().account(Change::CreateClaim(claim))).await;
        claim
    }

    fn proved(&self, claim: &Claim) -> Claim {
        let token = MailedToken::generate(&self.make.entropy);
        let rivals = Rivals::default();
        Claim::verify(Some(claim), claim.id, claim.user, &code(), rivals, &token, claim.created_at).unwrap()
    }

    /// Writes `claim` at the version `seen`.
    async fn put(&self, claim: Claim, seen: Version) -> Result<(), CommitError> {
        self.try_commit(self.changes().account(Change::UpdateClaim { claim, seen })).await
    }

    async fn held(&self, user: UserId, org: OrgId) -> Claim {
        let claim = self.initiated(user, Some(org)).await;
        let held = self.proved(&claim);
        self.put(held, claim.version).await.unwrap();
        held
    }

    async fn found(&self, claim: &Claim) -> Option<Claim> {
        self.store.find_claim(claim.id).await.unwrap()
    }
}

/// Every field survives, in every state, with and without an organization.
pub async fn claims_round_trip(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let user = scene.someone();
    for org in [None, Some(scene.org)] {
        let claim = scene.initiated(user, org).await;
        assert_eq!(scene.found(&claim).await, Some(claim));
        let revocation = TokenHash([7; 32]);
        let at = scene.make.tick();
        let mut seen = claim;
        for state in [
            ClaimState::Initiated { code: code().hash(scene.org), expires_at: at, attempts: 9 },
            ClaimState::Held { until: at, revocation },
            ClaimState::Effective { at, revocation },
            ClaimState::Revoked { at, revocation },
            ClaimState::Void { at },
        ] {
            let next = Claim { state, version: seen.version.next(), ..seen };
            scene.put(next, seen.version).await.unwrap();
            assert_eq!(scene.found(&claim).await, Some(next));
            assert_refused!(scene.put(next, seen.version).await, CommitError::Stale);
            seen = next;
        }
    }
    let unknown = scene.claim(user, Some(scene.org));
    assert_eq!(scene.found(&unknown).await, None);
    assert_refused!(scene.put(unknown, unknown.version).await, CommitError::Stale);
    assert_eq!(scene.found(&unknown).await, None);
}

/// Users see only their own claims, by creation, in pages.
pub async fn claims_are_listed_by_creation_in_pages(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (ada, bob) = (scene.someone(), scene.someone());
    let mut made = Vec::new();
    for _ in 0..5 {
        made.push(scene.initiated(ada, Some(scene.org)).await);
        scene.initiated(bob, Some(scene.org)).await;
    }
    let listed = scene.store.claims_of(ada, LARGEST_PAGE).await.unwrap();
    assert_eq!((listed.data, listed.total), (made.clone(), 5));
    for offset in 0..7 {
        let page = Page { limit: 2, offset };
        let listed = scene.store.claims_of(ada, page).await.unwrap();
        let expected: Vec<_> = made.iter().skip(offset as usize).take(2).copied().collect();
        assert_eq!((listed.data, listed.total), (expected, 5), "{offset}");
    }
    let nobody = scene.store.claims_of(scene.someone(), LARGEST_PAGE).await.unwrap();
    assert_eq!((nobody.data, nobody.total), (Vec::new(), 0));
}

/// The claims of a user that are on hold or wait for a code are found by creation, the newest of many. Expired codes do
/// not hide claims on hold.
pub async fn unfinished_claims_are_found(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (ada, bob) = (scene.someone(), scene.someone());
    let mut expected = vec![scene.held(ada, scene.org).await];
    for _ in 0..4 {
        expected.push(scene.initiated(ada, None).await);
        scene.initiated(bob, None).await;
    }
    let (at, revocation) = (scene.make.tick(), TokenHash([7; 32]));
    for state in
        [ClaimState::Effective { at, revocation }, ClaimState::Revoked { at, revocation }, ClaimState::Void { at }]
    {
        let claim = scene.initiated(ada, Some(scene.org)).await;
        scene.put(Claim { state, version: claim.version.next(), ..claim }, claim.version).await.unwrap();
    }
    let unfinished = async |now, limit| scene.store.unfinished_claims(ada, now, limit).await.unwrap();
    let expires = |claim: &Claim| claim.state.stored().due_at.unwrap();
    for (limit, skipped) in [(9, 0), (5, 0), (2, 3), (0, 5)] {
        assert_eq!(unfinished(at, limit).await, expected[skipped..], "{limit}");
    }
    let before_the_last = expires(&expected[4]) - SignedDuration::micros(1);
    assert_eq!(unfinished(before_the_last, 9).await, [expected[0], expected[4]]);
    // A claim on hold is found until it takes effect.
    for now in [expires(&expected[4]), expires(&expected[0])] {
        assert_eq!(unfinished(now, 1).await, expected[..1], "{now}");
    }
}

/// For each address, at most one claim of a user waits for its code. At most one claim on an organization is on hold. A
/// claim that has ended makes room.
pub async fn one_claim_per_address_waits_and_one_per_organization_is_on_hold(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (ada, bob) = (scene.someone(), scene.someone());
    let first = scene.initiated(ada, Some(scene.org)).await;
    let again = Claim { address: first.address, ..scene.claim(ada, Some(scene.org)) };
    let create = |claim| scene.changes().account(Change::CreateClaim(claim));
    let waiting = async |user, claim: &Claim| scene.store.waiting_claim(user, claim.address).await.unwrap();
    assert_refused!(scene.try_commit(create(again)).await, CommitError::Stale);
    assert_eq!((waiting(ada, &first).await, waiting(bob, &first).await), (Some(first), None));
    // A claim of another user, or on another address, does not matter.
    let theirs = Claim { user: bob, ..Claim { address: first.address, ..scene.claim(bob, Some(scene.org)) } };
    scene.commit(create(theirs)).await;
    scene.initiated(ada, Some(scene.org)).await;
    // The successor is created in the change-set that ends its predecessor.
    let superseded = first.superseded(scene.make.tick()).unwrap();
    let ending = Change::UpdateClaim { claim: superseded, seen: first.version };
    scene.commit(scene.changes().account(ending).account(Change::CreateClaim(again))).await;
    assert_eq!(waiting(ada, &first).await, Some(again));
    assert_eq!(scene.found(&first).await, Some(superseded));

    assert_eq!(scene.store.held_claim(scene.org).await.unwrap(), None);
    let held = scene.proved(&again);
    scene.put(held, again.version).await.unwrap();
    assert_eq!((waiting(ada, &first).await, waiting(bob, &first).await), (None, Some(theirs)));
    assert_eq!(scene.store.held_claim(scene.org).await.unwrap(), Some(held));
    assert_refused!(scene.put(scene.proved(&theirs), theirs.version).await, CommitError::Stale);
    let other = scene.other_organization().await;
    other.held(ada, other.org).await;
    let revoked = Claim {
        state: ClaimState::Revoked { at: scene.make.tick(), revocation: TokenHash([1; 32]) },
        version: held.version.next(),
        ..held
    };
    scene.put(revoked, held.version).await.unwrap();
    scene.put(scene.proved(&theirs), theirs.version).await.unwrap();
    assert_eq!(scene.store.held_claim(scene.org).await.unwrap().map(|claim| claim.user), Some(bob));
}

/// Due claims are listed, of all users or of one, the longest due first.
pub async fn due_claims_are_listed_in_order(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (ada, bob) = (scene.someone(), scene.someone());
    let mut held = Vec::new();
    for index in 0..5 {
        let organization = scene.make.organization();
        scene.commit(ChangeSet::new(organization.id).create(&organization)).await;
        held.push(scene.held(if index % 2 == 0 { ada } else { bob }, organization.id).await);
        scene.initiated(ada, Some(organization.id)).await;
    }
    let due = |index: usize| -> Timestamp { held[index].due_at().unwrap() };
    let due_claims = async |user, now, limit| scene.store.due_claims(user, now, limit).await.unwrap();
    assert_eq!(due_claims(None, due(0) - SignedDuration::micros(1), 9).await, []);
    assert_eq!(due_claims(None, due(0), 9).await, [held[0]]);
    assert_eq!(due_claims(None, due(4), 9).await, held);
    assert_eq!(due_claims(None, due(4), 2).await, held[..2]);
    assert_eq!(due_claims(Some(bob), due(4), 9).await, [held[1], held[3]]);
    assert_eq!(due_claims(Some(ada), due(2), 9).await, [held[0], held[2]]);
    let effective = held[0].take_effect(false, due(0)).unwrap();
    scene.put(effective, held[0].version).await.unwrap();
    assert_eq!(due_claims(None, due(2), 9).await, held[1..3]);
}

/// Claims that failed are removed in batches; others are kept.
pub async fn old_claims_are_purged(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let user = scene.someone();
    let mut made = Vec::new();
    for index in 0..6 {
        let organization = scene.make.organization();
        scene.commit(ChangeSet::new(organization.id).create(&organization)).await;
        let claim = scene.held(user, organization.id).await;
        let (at, revocation) = (scene.make.tick(), TokenHash([1; 32]));
        let state = match index {
            0 | 4 => ClaimState::Revoked { at, revocation },
            1 => ClaimState::Effective { at, revocation },
            2 => claim.state,
            _ => ClaimState::Void { at },
        };
        let next = Claim { state, version: claim.version.next(), ..claim };
        scene.put(next, claim.version).await.unwrap();
        made.push(next);
    }
    let waiting = scene.initiated(user, None).await;
    let forget = async |before, limit| scene.store.forget_claims(before, limit).await.unwrap();
    assert_eq!(forget(made[0].created_at, 9).await, 0);
    assert_eq!((forget(made[5].created_at, 2).await, forget(made[5].created_at, 2).await), (2, 1));
    let left = scene.store.claims_of(user, LARGEST_PAGE).await.unwrap().data;
    assert_eq!(left, [made[1], made[2], made[5], waiting]);
    assert_eq!(forget(waiting.created_at + SignedDuration::micros(1), 9).await, 2);
}

/// Claims on a deleted organization are deleted with it; those on others stay.
pub async fn claims_are_deleted_with_their_organization(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let user = scene.someone();
    let gone = [scene.held(user, scene.org).await, scene.initiated(user, Some(scene.org)).await];
    let kept = [scene.held(user, other.org).await, scene.initiated(user, None).await];
    let (org, seen) = (scene.org, scene.organization().await.version);
    let at = scene.make.tick();
    scene.commit(scene.changes().account(Change::DeleteOrganization { org, seen, at })).await;
    while scene.store.remove_rows(org, 1).await.unwrap() > 0 {}
    for claim in &gone {
        assert_eq!(scene.found(claim).await, None);
    }
    for claim in &kept {
        assert_eq!(scene.found(claim).await, Some(*claim));
    }
}

/// Claims of a deleted user are deleted too.
pub async fn claims_are_deleted_with_their_user(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let (ada, bob) = (scene.make.user(), scene.someone());
    scene.commit(scene.changes().create(&ada)).await;
    let gone = [scene.held(ada.id, scene.org).await, scene.initiated(ada.id, None).await];
    let kept = scene.initiated(bob, Some(scene.org)).await;
    scene.commit(scene.changes().account(Change::DeleteUser { user: ada.id, seen: ada.version })).await;
    for claim in &gone {
        assert_eq!(scene.found(claim).await, None);
    }
    assert_eq!(scene.found(&kept).await, Some(kept));
    assert_eq!(scene.store.held_claim(scene.org).await.unwrap(), None);
}

/// However many nodes notice that a hold is over, the user becomes the owner once.
pub async fn a_claim_takes_effect_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    for _ in 0..3 {
        let (organization, ada) = (scene.make.organization(), scene.make.user());
        let changes = ChangeSet::new(organization.id).create(&organization).create(&ada);
        scene.commit(changes).await;
        let held = scene.held(ada.id, organization.id).await;
        let due = held.due_at().unwrap();
        let outcomes = race(TASKS, |_| {
            let (scene, org, seen) = (scene.clone(), organization.id, ada.version);
            async move {
                let claim = held.take_effect(false, due).unwrap();
                let membership = Membership::owner(claim.user, org, due);
                let changes = ChangeSet::new(org)
                    .account(Change::UpdateClaim { claim, seen: held.version })
                    .account(Change::AddOwner { membership, seen })
                    .audit(scene.make.audit_entry(org));
                scene.try_commit(changes).await
            }
        })
        .await;
        for outcome in &outcomes {
            assert!(matches!(outcome, Ok(()) | Err(CommitError::Stale)), "{outcome:?}");
        }
        assert_eq!(successes(&outcomes), 1);
        let owner = scene.store.owner_of(organization.id).await.unwrap();
        assert_eq!(owner, Some(Membership::owner(ada.id, organization.id, due)));
        assert_eq!(scene.inspect.audit_entries(organization.id).await.len(), 1);
        assert_eq!(scene.store.find_user(ada.id).await.unwrap().unwrap().version, ada.version.next());
    }
}

/// If many claims on one organization are proved at once, one is put on hold.
pub async fn one_of_many_proved_claims_is_put_on_hold(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    for _ in 0..3 {
        let organization = scene.make.organization();
        scene.commit(ChangeSet::new(organization.id).create(&organization)).await;
        let mut waiting = Vec::new();
        for _ in 0..TASKS {
            waiting.push(scene.initiated(scene.someone(), Some(organization.id)).await);
        }
        let outcomes = race(TASKS, |index| {
            let (scene, claim) = (scene.clone(), waiting[index]);
            async move { scene.put(scene.proved(&claim), claim.version).await }
        })
        .await;
        for outcome in &outcomes {
            assert!(matches!(outcome, Ok(()) | Err(CommitError::Stale)), "{outcome:?}");
        }
        assert_eq!(successes(&outcomes), 1);
        let winner = outcomes.iter().position(Result::is_ok).unwrap();
        let held = scene.store.held_claim(organization.id).await.unwrap().unwrap();
        assert_eq!(held.id, waiting[winner].id);
    }
}

/// However many callers guess at once, a code is compared with at most ten guesses.
pub async fn at_most_ten_guesses_are_compared(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let claim = scene.initiated(scene.someone(), Some(scene.org)).await;
    let wrong = Code::parse("654321").unwrap();
    let judged = race(GUESSES, |_| {
        let (scene, wrong) = (scene.clone(), wrong.clone());
        async move {
            // As a use case does: read, decide, count, and only then answer.
            loop {
                let stored = scene.found(&claim).await.unwrap();
                let token = MailedToken::generate(&scene.make.entropy);
                let now = claim.created_at;
                let judged = Claim::verify(Some(&stored), claim.id, claim.user, &wrong, Rivals::default(), &token, now);
                match judged {
                    Err(ClaimError::Wrong { counted }) => match scene.put(*counted, stored.version).await {
                        Ok(()) => return true,
                        Err(CommitError::Stale) => tokio::task::yield_now().await,
                        Err(error) => panic!("{error:?}"),
                    },
                    Err(ClaimError::Void) => return false,
                    other => panic!("{other:?}"),
                }
            }
        }
    })
    .await;
    assert_eq!(judged.iter().filter(|judged| **judged).count(), 10);
    let stored = scene.found(&claim).await.unwrap();
    assert!(matches!(stored.state, ClaimState::Initiated { attempts: 10, .. }), "{stored:?}");
}

/// If many callers act on a claim at the end of its hold, by completing it or objecting, one succeeds.
pub async fn a_claim_ends_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    for _ in 0..3 {
        let organization = scene.make.organization();
        scene.commit(ChangeSet::new(organization.id).create(&organization)).await;
        let claim = scene.initiated(scene.someone(), Some(organization.id)).await;
        let token = MailedToken::generate(&scene.make.entropy);
        let rivals = Rivals::default();
        let held =
            Claim::verify(Some(&claim), claim.id, claim.user, &code(), rivals, &token, claim.created_at).unwrap();
        scene.put(held, claim.version).await.unwrap();
        let due = held.due_at().unwrap();
        let outcomes = race(TASKS, |index| {
            let (scene, token) = (scene.clone(), token.clone());
            async move {
                let next = if index.is_multiple_of(2) {
                    held.take_effect(false, due).unwrap()
                } else {
                    let Ok(Revoked::Now(next)) = held.revoke(token.reveal(), due - SignedDuration::micros(1)) else {
                        panic!("the claim was not revoked")
                    };
                    next
                };
                scene.put(next, held.version).await.map(|()| next)
            }
        })
        .await;
        let won: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.as_ref().ok()).collect();
        assert_eq!(won.len(), 1, "{outcomes:?}");
        assert_eq!(scene.found(&claim).await.as_ref(), Some(won[0]));
    }
}
