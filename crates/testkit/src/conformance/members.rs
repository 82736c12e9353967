//! Members of organizations, and invitations to become one.

use std::collections::BTreeMap;

use kalends_accounts::{Change, MemberInvitation, Membership, Organization, Role, TokenHash, User};
use kalends_app::{ChangeSet, ports::CommitError};
use kalends_kernel::{OrgId, UserId, Version};
use kalends_time::{SignedDuration, Timestamp};

use super::{
    StoreUnderTest,
    scene::{Scene, assert_refused, race, successes},
};
use crate::fixtures::Compose;

/// How many tasks run at once.
const TASKS: usize = 8;

impl Scene {
    async fn person(&self) -> User {
        let user = self.make.user();
        self.commit(self.changes().create(&user)).await;
        user
    }

    async fn seen(&self, user: UserId) -> Version {
        self.store.find_user(user).await.unwrap().unwrap().version
    }

    pub(super) async fn first_owner(&self) -> Membership {
        let membership = Membership::owner(self.person().await.id, self.org, self.make.tick());
        let seen = self.seen(membership.user).await;
        self.commit(self.changes().account(Change::AddOwner { membership, seen })).await;
        membership
    }

    async fn join(&self, user: UserId, role: Role) -> Membership {
        let membership = Membership { user, org: self.org, role, since: self.make.tick() };
        let seen = self.seen(user).await;
        self.commit(self.changes().account(Change::AddMember { membership, seen })).await;
        membership
    }

    async fn try_change(&self, membership: Membership) -> Result<(), CommitError> {
        let seen = self.seen(membership.user).await;
        self.try_commit(self.changes().account(Change::ChangeRole { membership, seen })).await
    }

    async fn try_remove(&self, user: UserId) -> Result<(), CommitError> {
        let seen = self.seen(user).await;
        self.try_commit(self.changes().account(Change::RemoveMember { user, org: self.org, seen })).await
    }

    async fn members(&self) -> Vec<Membership> {
        self.store.members_of(self.org).await.unwrap().into_iter().map(|(member, _)| member).collect()
    }

    pub(super) fn invitation(&self, by: &Membership) -> (MemberInvitation, TokenHash) {
        let (email, now) = (self.make.email(), self.make.tick());
        let (invitation, token) = MemberInvitation::issue(by, email, Role::Viewer, now, &self.make.entropy);
        let token = TokenHash::of(token.reveal());
        (invitation, token)
    }

    pub(super) async fn put_invitation(&self, invitation: &MemberInvitation) {
        self.commit(self.changes().account(Change::PutInvitation(invitation.clone()))).await;
    }
}

/// Members join once, in an existing organization. Each change raises the user's version, and is guarded by it.
pub async fn members_join_change_and_leave(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let owner = scene.first_owner().await;
    let bob = scene.person().await;
    let joining = |org, seen| Change::AddMember {
        membership: Membership { user: bob.id, org, role: Role::Member, since: owner.since },
        seen,
    };
    let nowhere = ChangeSet::new(scene.org).account(joining(OrgId::from_bytes([7; 16]), bob.version));
    assert_refused!(scene.try_commit(nowhere).await, CommitError::Stale);
    let stale = scene.changes().account(joining(scene.org, bob.version.next()));
    assert_refused!(scene.try_commit(stale).await, CommitError::Stale);
    assert_refused!(scene.try_remove(bob.id).await, CommitError::Stale);
    let member = Membership { user: bob.id, org: scene.org, role: Role::Viewer, since: owner.since };
    assert_refused!(scene.try_change(member).await, CommitError::Stale);
    assert_eq!(scene.seen(bob.id).await, bob.version);

    let joined = scene.join(bob.id, Role::Member).await;
    assert_eq!(scene.seen(bob.id).await, bob.version.next());
    for known in [bob.id, owner.user] {
        let again = Membership { user: known, ..joined };
        let seen = scene.seen(known).await;
        let again = scene.changes().account(Change::AddMember { membership: again, seen });
        assert_refused!(scene.try_commit(again).await, CommitError::Stale);
    }
    let elsewhere = other.join(bob.id, Role::Owner).await;
    assert_eq!(scene.members().await, [owner, joined]);
    assert_eq!(scene.store.memberships_of(bob.id).await.unwrap(), [joined, elsewhere]);
    let organizations = [(joined, scene.organization().await), (elsewhere, other.organization().await)];
    assert_eq!(scene.store.organizations_of(bob.id).await.unwrap(), organizations);
    let (_, account) = scene.store.members_of(scene.org).await.unwrap().remove(1);
    assert_eq!(Some(account), scene.store.find_user(bob.id).await.unwrap());

    let promoted = Membership { role: Role::Admin, ..joined };
    scene.try_change(promoted).await.unwrap();
    assert_eq!(scene.store.memberships_of(bob.id).await.unwrap(), [promoted, elsewhere]);
    scene.try_remove(bob.id).await.unwrap();
    assert_eq!(scene.members().await, [owner]);
    assert_eq!(scene.store.memberships_of(bob.id).await.unwrap(), [elsewhere]);
    assert_eq!(scene.store.organizations_of(bob.id).await.unwrap(), organizations[1..]);
}

/// A deleted user is a member of nothing. A deleted organization has no members and no invitations.
pub async fn members_go_with_their_user_and_their_organization(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let owner = scene.first_owner().await;
    let (bob, eve) = (scene.person().await, scene.person().await);
    for of in [&scene, &other] {
        of.join(bob.id, Role::Admin).await;
    }
    let stays = other.join(eve.id, Role::Viewer).await;
    let (invitation, token) = scene.invitation(&owner);
    let (theirs, kept) = other.invitation(&stays);
    scene.put_invitation(&invitation).await;
    other.put_invitation(&theirs).await;
    let seen = scene.seen(bob.id).await;
    scene.commit(scene.changes().account(Change::DeleteUser { user: bob.id, seen })).await;
    assert_eq!((scene.members().await, other.members().await), (vec![owner], vec![stays]));

    let seen = scene.organization().await.version;
    let deletion = Change::DeleteOrganization { org: scene.org, seen, at: scene.make.tick() };
    scene.commit(scene.changes().account(deletion)).await;
    assert_eq!((scene.members().await, scene.store.memberships_of(owner.user).await.unwrap()), (vec![], vec![]));
    assert_eq!(scene.store.invitations_of(scene.org).await.unwrap(), []);
    assert_eq!(scene.store.find_invitation(token).await.unwrap(), None);
    assert_eq!((other.members().await, other.store.find_invitation(kept).await.unwrap()), (vec![stays], Some(theirs)));
}

/// Whatever changes follow each other, the store has the members that a map has. The first owner is the one who has been a
/// member longest, and the last owner keeps the role.
pub async fn members_are_those_of_a_map(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let mut users = Vec::new();
    for _ in 0..5 {
        users.push(scene.person().await.id);
    }
    let first = scene.first_owner().await;
    users.push(first.user);
    let mut map = BTreeMap::from([(first.user, first)]);
    // A linear congruential generator: the same steps in each run.
    let mut state = 11_u32;
    let mut next = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as usize % below
    };
    let mut refused = 0;
    for step in 0..150 {
        let (user, role) = (users[next(users.len())], Role::ALL[next(Role::ALL.len())]);
        match map.get(&user).copied() {
            None => {
                map.insert(user, scene.join(user, role).await);
            }
            Some(member) if next(3) == 0 => {
                let owners = map.values().filter(|member| member.role == Role::Owner).count();
                if member.role != Role::Owner || owners > 1 {
                    scene.try_remove(user).await.unwrap();
                    map.remove(&user);
                }
            }
            Some(member) => {
                let changed = Membership { role, ..member };
                let others = map.values().any(|other| other.user != user && other.role == Role::Owner);
                if role == Role::Owner || others {
                    scene.try_change(changed).await.unwrap();
                    map.insert(user, changed);
                } else {
                    assert_refused!(scene.try_change(changed).await, CommitError::Stale);
                    refused += 1;
                }
            }
        }
        let mut expected: Vec<_> = map.values().copied().collect();
        expected.sort_by_key(|member| (member.since, member.user));
        assert_eq!(scene.members().await, expected, "step {step}");
        let owner = expected.iter().find(|member| member.role == Role::Owner).copied();
        assert_eq!(scene.store.owner_of(scene.org).await.unwrap(), owner, "step {step}");
    }
    assert!(refused > 0, "the steps include the last owner");
}

/// A removal ends the user's sessions in the organization, and no others. It makes a decision stale that relied on the
/// membership.
pub async fn a_removal_ends_sessions_and_decisions(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    scene.first_owner().await;
    let (bob, eve) = (scene.person().await.id, scene.person().await.id);
    for user in [bob, eve] {
        scene.join(user, Role::Member).await;
    }
    other.join(bob, Role::Member).await;
    let mut sessions = Vec::new();
    for (user, org) in [(bob, Some(scene.org)), (bob, Some(other.org)), (bob, None), (eve, Some(scene.org))] {
        let session = scene.make.session(user, org);
        let seen = scene.seen(user).await;
        scene.commit(scene.changes().account(Change::CreateSession { session, seen })).await;
        sessions.push(session.id);
    }
    let seen = scene.seen(bob).await;
    scene.try_remove(bob).await.unwrap();
    let mut left = Vec::new();
    for session in sessions {
        left.push(scene.store.find_session(session).await.unwrap().is_some());
    }
    assert_eq!(left, [false, true, true, true]);
    let relied = |seen| scene.changes().account(Change::RaiseUser { user: bob, seen });
    assert_refused!(scene.try_commit(relied(seen)).await, CommitError::Stale);
    scene.commit(relied(seen.next())).await;
    assert_eq!(scene.seen(bob).await, seen.next().next());
}

/// Decisions that raise the version of their organization follow each other, whichever members they concern.
pub async fn decisions_about_members_follow_each_other(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let first = scene.first_owner().await;
    let mut owners = vec![first.user];
    while owners.len() < TASKS {
        let user = scene.person().await.id;
        scene.join(user, Role::Owner).await;
        owners.push(user);
    }
    let seen = scene.organization().await;
    let outcomes = race(TASKS, |index| {
        let (scene, user, before) = (scene.clone(), owners[index], seen.clone());
        async move {
            let organization = Organization { version: before.version.next(), ..before.clone() };
            let leaving = Change::RemoveMember { user, org: scene.org, seen: scene.seen(user).await };
            let decided = Change::UpdateOrganization { organization, seen: before.version };
            scene.try_commit(scene.changes().account(leaving).account(decided)).await
        }
    })
    .await;
    assert_eq!(successes(&outcomes), 1, "{outcomes:?}");
    assert_eq!(scene.members().await.len(), TASKS - 1);
}

/// One of two owners leaves while the other is demoted. Only one of these succeeds, so the organization keeps an owner.
pub async fn an_organization_keeps_an_owner_in_a_race(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let leaves = scene.first_owner().await;
    let demoted = scene.join(scene.person().await.id, Role::Owner).await;
    let seen = scene.organization().await;
    let outcomes = race(TASKS, |index| {
        let (scene, before) = (scene.clone(), seen.clone());
        async move {
            let change = if index % 2 == 0 {
                let user = leaves.user;
                Change::RemoveMember { user, org: scene.org, seen: scene.seen(user).await }
            } else {
                let membership = Membership { role: Role::Viewer, ..demoted };
                Change::ChangeRole { membership, seen: scene.seen(demoted.user).await }
            };
            let organization = Organization { version: before.version.next(), ..before.clone() };
            let decided = Change::UpdateOrganization { organization, seen: before.version };
            scene.try_commit(scene.changes().account(change).account(decided)).await
        }
    })
    .await;
    assert_eq!(successes(&outcomes), 1, "{outcomes:?}");
    let owners = scene.members().await.iter().filter(|member| member.role == Role::Owner).count();
    assert_eq!(owners, 1, "{outcomes:?}");
}

/// Every field survives. An organization has one invitation for each address: the newest.
pub async fn an_invitation_replaces_the_one_of_its_address(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let owner = scene.first_owner().await;
    let (first, old) = scene.invitation(&owner);
    let (second, _) = scene.invitation(&owner);
    let theirs = MemberInvitation { org: other.org, email: first.email.clone(), ..other.invitation(&owner).0 };
    scene.put_invitation(&first).await;
    scene.put_invitation(&second).await;
    other.put_invitation(&theirs).await;
    assert_eq!(scene.store.find_invitation(old).await.unwrap(), Some(first.clone()));
    assert_eq!(scene.store.invitations_of(scene.org).await.unwrap(), [first.clone(), second.clone()]);
    let (third, new) = scene.invitation(&owner);
    let third = MemberInvitation { email: first.email.clone(), role: Role::Owner, ..third };
    scene.put_invitation(&third).await;
    assert_eq!(scene.store.find_invitation(old).await.unwrap(), None);
    assert_eq!(scene.store.find_invitation(new).await.unwrap(), Some(third.clone()));
    assert_eq!(scene.store.invitations_of(scene.org).await.unwrap(), [second, third.clone()]);
    let kept = other.store.invitations_of(other.org).await.unwrap();
    let ends = third.expires_at.max(theirs.expires_at);
    assert_eq!(kept, [theirs]);
    let invited = async |email, now| scene.store.is_invited(email, now).await.unwrap();
    assert!(invited(&first.email, ends - SignedDuration::micros(1)).await && !invited(&first.email, ends).await);
    assert!(!invited(&scene.make.email(), first.created_at).await);
    let nowhere = MemberInvitation { org: OrgId::from_bytes([7; 16]), ..scene.invitation(&owner).0 };
    let nowhere = scene.changes().account(Change::PutInvitation(nowhere));
    assert_refused!(scene.try_commit(nowhere).await, CommitError::Stale);
}

/// If several callers use an invitation at once, one succeeds. Another organization cannot remove it.
pub async fn an_invitation_is_used_once(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let other = scene.other_organization().await;
    let owner = scene.first_owner().await;
    let (invitation, _) = scene.invitation(&owner);
    scene.put_invitation(&invitation).await;
    let foreign = Change::RemoveInvitation { org: other.org, id: invitation.id };
    assert_refused!(other.try_commit(other.changes().account(foreign)).await, CommitError::Stale);
    let outcomes = race(TASKS, |_| {
        let (scene, id) = (scene.clone(), invitation.id);
        let using = Change::RemoveInvitation { org: scene.org, id };
        async move { scene.try_commit(scene.changes().account(using)).await }
    })
    .await;
    assert_eq!(successes(&outcomes), 1, "{outcomes:?}");
    assert_eq!(scene.store.invitations_of(scene.org).await.unwrap(), []);
}

/// Expired invitations are removed, in batches.
pub async fn expired_invitations_are_purged(store: &StoreUnderTest) {
    let scene = Scene::set(store).await;
    let owner = scene.first_owner().await;
    let mut made = Vec::new();
    for _ in 0..3 {
        let (invitation, _) = scene.invitation(&owner);
        scene.put_invitation(&invitation).await;
        made.push(invitation);
    }
    // Other tests use the same database, so only the invitations of this organization are compared.
    let forget = async |now: Timestamp| while scene.store.forget_invitations(now, 2).await.unwrap() > 0 {};
    forget(made[2].expires_at - SignedDuration::micros(1)).await;
    assert_eq!(scene.store.invitations_of(scene.org).await.unwrap(), made[2..]);
    forget(made[2].expires_at).await;
    assert_eq!(scene.store.invitations_of(scene.org).await.unwrap(), []);
}
