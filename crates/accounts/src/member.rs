//! The members of an organization: their roles, who may invite, change and remove whom, and the mailed invitations.
//!
//! An organization that a person signed up has one owner at least. One that an agent signed up, or that the operator
//! created, has no members until it is claimed.

use kalends_kernel::{Entropy, MemberInvitationId, OrgId, UserId};
use kalends_time::{SignedDuration, Timestamp};

use crate::{Email, MailedToken, TokenHash};

/// How many members an organization can have. Open invitations count.
pub const MEMBERS_MAX: usize = 200;
/// How many organizations a user can belong to.
pub const MEMBERSHIPS_MAX: usize = 100;
/// How long a person can accept an invitation.
pub const INVITATION_LASTS: SignedDuration = SignedDuration::days(7);
/// The message for a token that no open invitation has. It follows the name of the field.
pub const INVITATION_REFUSED: &str = "is unknown, used, withdrawn or more than 7 days old; ask for another invitation";

/// What a member may do. A role includes all that the roles before it may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Reads.
    Viewer,
    /// Also changes agents, calendars, events, proposals and booking pages.
    Member,
    /// Also changes everything else in the organization, except for its owners and its deletion.
    Admin,
    /// May do everything.
    Owner,
}

impl Role {
    /// Every role, the lowest first.
    pub const ALL: [Self; 4] = [Self::Viewer, Self::Member, Self::Admin, Self::Owner];

    /// The name in the API and in stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Member => "member",
            Self::Admin => "admin",
            Self::Owner => "owner",
        }
    }

    /// The role with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == name)
    }

    /// Whether a member with this role may invite, change and remove members.
    pub const fn manages_members(self) -> bool {
        matches!(self, Self::Admin | Self::Owner)
    }

    /// Checks that a member with this role may invite somebody as `role`.
    ///
    /// # Errors
    /// [`MemberError::NotManager`], [`MemberError::AboveOwn`].
    pub fn may_invite(self, role: Self) -> Result<(), MemberError> {
        if !self.manages_members() {
            return Err(MemberError::NotManager);
        }
        if role > self { Err(MemberError::AboveOwn) } else { Ok(()) }
    }

    /// Checks that a member with this role may give `member` the role `to`. `owners` is the number of the
    /// organization's owners.
    ///
    /// # Errors
    /// [`MemberError::NotManager`], [`MemberError::AboveOwn`], [`MemberError::LastOwner`].
    pub fn may_change(self, member: Self, to: Self, owners: usize) -> Result<(), MemberError> {
        self.may_invite(member.max(to))?;
        if member == Self::Owner && to != Self::Owner { others_remain(owners) } else { Ok(()) }
    }

    /// Checks that a member with this role may remove another member with the role `member`, or, if `leaves`, that the
    /// member itself may leave. `owners` is the number of the organization's owners.
    ///
    /// # Errors
    /// [`MemberError::NotManager`], [`MemberError::AboveOwn`], [`MemberError::LastOwner`].
    pub fn may_remove(self, member: Self, leaves: bool, owners: usize) -> Result<(), MemberError> {
        if !leaves {
            self.may_invite(member)?;
        }
        if member == Self::Owner { others_remain(owners) } else { Ok(()) }
    }
}

const fn others_remain(owners: usize) -> Result<(), MemberError> {
    if owners > 1 { Ok(()) } else { Err(MemberError::LastOwner) }
}

/// Why a change of the members is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MemberError {
    /// Only owners and admins manage members: 403 `forbidden`.
    #[error("only owners and admins invite, change and remove members; ask one of them")]
    NotManager,
    /// Nobody grants, changes or takes away a role above their own: 403 `forbidden`.
    #[error("you can grant, change and remove only roles up to your own; ask an owner")]
    AboveOwn,
    /// An organization keeps one owner: 409 `last_owner`.
    #[error("the organization needs an owner; make somebody else an owner first, or delete the organization")]
    LastOwner,
    /// The person is a member already: 409 `already_member`.
    #[error("the person is a member already; change their role with PATCH /v1/auth/members/{{id}}")]
    AlreadyMember,
    /// The organization has [`MEMBERS_MAX`] members and invitations: 409 `too_many_members`.
    #[error(
        "an organization has at most {MEMBERS_MAX} members, and open invitations count; remove a member or an invitation \
         first"
    )]
    Full,
    /// The user belongs to [`MEMBERSHIPS_MAX`] organizations: 409 `too_many_members`.
    #[error("a user belongs to at most {MEMBERSHIPS_MAX} organizations; leave another one first")]
    TooManyMemberships,
    /// The invitation was mailed to another address: 403 `forbidden`.
    #[error("the invitation was mailed to another address than yours; use the address that received it")]
    OtherAddress,
}

/// A user's membership of an organization. A user may belong to several organizations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Membership {
    /// The user.
    pub user: UserId,
    /// The organization.
    pub org: OrgId,
    /// The user's role there.
    pub role: Role,
    /// When it began.
    pub since: Timestamp,
}

impl Membership {
    /// The membership of an organization's owner.
    pub const fn owner(user: UserId, org: OrgId, since: Timestamp) -> Self {
        Self { user, org, role: Role::Owner, since }
    }
}

/// The membership that a session works with: that of the chosen organization, or the one that the user has had longest
/// if none is chosen. A session whose user no longer belongs to the chosen organization does not silently work with
/// another one.
pub fn active_membership(memberships: &[Membership], chosen: Option<OrgId>) -> Option<Membership> {
    let found = match chosen {
        Some(chosen) => memberships.iter().find(|membership| membership.org == chosen),
        None => memberships.iter().min_by_key(|membership| (membership.since, membership.org)),
    };
    found.copied()
}

/// Whether a user is deleted when they leave an organization, because they belong to nothing else.
pub fn goes_with(memberships: &[Membership], org: OrgId) -> bool {
    memberships.iter().all(|membership| membership.org == org)
}

/// An invitation as stored. An organization has one at most for each address: a new one replaces the previous one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberInvitation {
    /// The identifier.
    pub id: MemberInvitationId,
    /// The organization.
    pub org: OrgId,
    /// The address that it was mailed to. Only a user with this address can accept it.
    pub email: Email,
    /// The role that it grants.
    pub role: Role,
    /// The hash of the token.
    pub token: TokenHash,
    /// The user who invited.
    pub invited_by: UserId,
    /// When it was sent.
    pub created_at: Timestamp,
    /// When it can no longer be accepted.
    pub expires_at: Timestamp,
}

impl MemberInvitation {
    /// A new invitation by `by`, and the token to mail.
    pub fn issue(
        by: &Membership,
        email: Email,
        role: Role,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> (Self, MailedToken) {
        let token = MailedToken::generate(entropy);
        let invitation = Self {
            id: MemberInvitationId::new(now, entropy),
            org: by.org,
            email,
            role,
            token: token.hash(),
            invited_by: by.user,
            created_at: now,
            expires_at: now + INVITATION_LASTS,
        };
        (invitation, token)
    }

    /// Whether it can be accepted at `now`.
    pub fn holds(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }

    /// Checks that it was mailed to this address.
    ///
    /// # Errors
    /// [`MemberError::OtherAddress`].
    pub fn check_address(&self, email: &Email) -> Result<(), MemberError> {
        if *email == self.email { Ok(()) } else { Err(MemberError::OtherAddress) }
    }

    /// The membership of the user who accepts it and has these memberships.
    ///
    /// # Errors
    /// [`MemberError::OtherAddress`] if it was mailed to another address than that of the user;
    /// [`MemberError::AlreadyMember`], [`MemberError::TooManyMemberships`].
    pub fn accept(
        &self,
        user: UserId,
        email: &Email,
        memberships: &[Membership],
        now: Timestamp,
    ) -> Result<Membership, MemberError> {
        self.check_address(email)?;
        if memberships.iter().any(|known| known.org == self.org) {
            return Err(MemberError::AlreadyMember);
        }
        if memberships.len() >= MEMBERSHIPS_MAX {
            return Err(MemberError::TooManyMemberships);
        }
        Ok(Membership { user, org: self.org, role: self.role, since: now })
    }
}

/// Checks that `by` may invite `email` as `role`. `members` are the addresses of the organization's members, and `open`
/// its invitations that can be accepted. An invitation of the same address is replaced, so its role counts too.
///
/// # Errors
/// [`MemberError::NotManager`], [`MemberError::AboveOwn`], [`MemberError::AlreadyMember`], [`MemberError::Full`].
pub fn check_invitation(
    by: Role,
    (email, role): (&Email, Role),
    members: &[&Email],
    open: &[MemberInvitation],
) -> Result<(), MemberError> {
    let (replaced, others): (Vec<_>, Vec<_>) = open.iter().partition(|invitation| invitation.email == *email);
    let highest = replaced.iter().map(|invitation| invitation.role).fold(role, Role::max);
    by.may_invite(highest)?;
    if members.contains(&email) {
        return Err(MemberError::AlreadyMember);
    }
    if members.len() + others.len() >= MEMBERS_MAX { Err(MemberError::Full) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    struct Sevens;
    impl Entropy for Sevens {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(7);
        }
    }

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

    fn membership(user: u8, org: u8, role: Role, since: i64) -> Membership {
        let (user, org) = (UserId::from_bytes([user; 16]), OrgId::from_bytes([org; 16]));
        Membership { user, org, role, since: Timestamp::from_micros(since) }
    }

    #[test]
    fn a_session_opens_the_chosen_organization_or_the_one_of_the_longest_membership() {
        let all =
            [membership(1, 1, Role::Viewer, 30), membership(1, 2, Role::Owner, 20), membership(1, 3, Role::Admin, 20)];
        assert_eq!(active_membership(&all, None), Some(all[1]));
        assert_eq!(active_membership(&all, Some(all[0].org)), Some(all[0]));
        assert_eq!(active_membership(&all, Some(OrgId::from_bytes([9; 16]))), None, "not theirs");
        assert_eq!(active_membership(&[], Some(all[0].org)), None);
        assert!(goes_with(&all[..1], all[0].org) && !goes_with(&all, all[0].org));
    }

    #[rstest]
    #[case::owner(Role::Owner, &[Role::Viewer, Role::Member, Role::Admin, Role::Owner])]
    #[case::admin(Role::Admin, &[Role::Viewer, Role::Member, Role::Admin])]
    #[case::member(Role::Member, &[])]
    #[case::viewer(Role::Viewer, &[])]
    fn nobody_grants_a_role_above_their_own(#[case] by: Role, #[case] grants: &[Role]) {
        let granted: Vec<_> = Role::ALL.into_iter().filter(|role| by.may_invite(*role).is_ok()).collect();
        assert_eq!(granted, grants);
    }

    #[rstest]
    #[case::viewer_leaves(Role::Viewer, Role::Viewer, true, Ok(()))]
    #[case::owner_leaves_with_another(Role::Owner, Role::Owner, true, Ok(()))]
    #[case::viewer_removes(Role::Viewer, Role::Viewer, false, Err(MemberError::NotManager))]
    #[case::member_removes(Role::Member, Role::Viewer, false, Err(MemberError::NotManager))]
    #[case::admin_removes_an_admin(Role::Admin, Role::Admin, false, Ok(()))]
    #[case::admin_removes_an_owner(Role::Admin, Role::Owner, false, Err(MemberError::AboveOwn))]
    #[case::owner_removes_an_owner(Role::Owner, Role::Owner, false, Ok(()))]
    fn members_leave_and_are_removed(
        #[case] by: Role,
        #[case] member: Role,
        #[case] leaves: bool,
        #[case] expected: Result<(), MemberError>,
    ) {
        assert_eq!(by.may_remove(member, leaves, 2), expected);
    }

    /// Who changes whom; `None` removes the member.
    type Step = (usize, usize, Option<Role>);

    /// The roles of an organization's members, with changes by any of them.
    fn organization() -> impl Strategy<Value = (Vec<Role>, Vec<Step>)> {
        let role = prop::sample::select(&Role::ALL[..]);
        let change = (0..6_usize, 0..6_usize, prop::option::of(role.clone()));
        (prop::collection::vec(role, 1..6), prop::collection::vec(change, 0..30))
    }

    proptest! {
        /// Whatever members do, an organization with an owner keeps one, and no member ends above the highest role of
        /// those who changed it.
        #[test]
        fn an_organization_keeps_an_owner((mut roles, changes) in organization()) {
            roles[0] = Role::Owner;
            for (by, whom, to) in changes {
                let (Some(&by_role), Some(&role)) = (roles.get(by), roles.get(whom)) else { continue };
                let owners = roles.iter().filter(|role| **role == Role::Owner).count();
                let allowed = match to {
                    Some(to) => by_role.may_change(role, to, owners),
                    None => by_role.may_remove(role, by == whom, owners),
                };
                if allowed.is_err() {
                    continue;
                }
                prop_assert!(role <= by_role && to.is_none_or(|to| to <= by_role));
                match to {
                    Some(to) => roles[whom] = to,
                    None => drop(roles.remove(whom)),
                }
                prop_assert!(roles.contains(&Role::Owner));
            }
        }
    }

    #[test]
    fn an_invitation_is_checked_against_the_members_and_the_open_invitations() {
        let by = membership(1, 2, Role::Owner, 0);
        let email = |number: usize| Email::parse("email", &format!("user-{number}@example.com")).unwrap();
        let members: Vec<_> = (0..MEMBERS_MAX - 1).map(email).collect();
        let members: Vec<_> = members.iter().collect();
        let check = |by, to: usize, role, members: &[&Email], open: &[MemberInvitation]| {
            check_invitation(by, (&email(to), role), members, open)
        };
        assert_eq!(check(Role::Admin, 0, Role::Viewer, &members, &[]), Err(MemberError::AlreadyMember));
        assert_eq!(check(Role::Admin, 900, Role::Viewer, &members, &[]), Ok(()));
        let (open, _) = MemberInvitation::issue(&by, email(901), Role::Owner, NOW, &Sevens);
        let open = [open];
        assert_eq!(check(Role::Admin, 900, Role::Viewer, &members, &open), Err(MemberError::Full));
        assert_eq!(check(Role::Owner, 901, Role::Viewer, &members, &open), Ok(()), "it is replaced");
        assert_eq!(check(Role::Admin, 901, Role::Viewer, &members, &open), Err(MemberError::AboveOwn));
        assert_eq!(check(Role::Member, 900, Role::Viewer, &[], &[]), Err(MemberError::NotManager));
    }

    #[test]
    fn only_the_holder_of_the_address_accepts_an_invitation() {
        let by = membership(1, 2, Role::Owner, 0);
        let email = |text| Email::parse("email", text).unwrap();
        let (invitation, token) = MemberInvitation::issue(&by, email("bob@example.com"), Role::Member, NOW, &Sevens);
        assert_eq!((invitation.org, invitation.invited_by), (by.org, by.user));
        assert_eq!(invitation.token, TokenHash::of(token.reveal()));
        assert_eq!((token.reveal().len(), format!("{token:?}")), (43, "MailedToken(…)".to_owned()));
        let (bob, later) = (UserId::from_bytes([5; 16]), NOW + SignedDuration::days(1));
        let joined = Membership { user: bob, org: by.org, role: Role::Member, since: later };
        let accept = |address, memberships: &[Membership]| invitation.accept(bob, &email(address), memberships, later);
        assert_eq!(accept("BOB@example.com", &[]), Ok(joined));
        assert_eq!(accept("eve@example.com", &[]), Err(MemberError::OtherAddress));
        assert_eq!(accept("bob@example.com", &[joined]), Err(MemberError::AlreadyMember));
        let elsewhere = Membership { org: OrgId::from_bytes([3; 16]), ..joined };
        assert_eq!(accept("bob@example.com", &[elsewhere; MEMBERSHIPS_MAX - 1]), Ok(joined));
        let most = [elsewhere; MEMBERSHIPS_MAX];
        assert_eq!(accept("bob@example.com", &most), Err(MemberError::TooManyMemberships));
        assert!(invitation.holds(NOW + SignedDuration::days(7) - SignedDuration::micros(1)));
        assert!(!invitation.holds(NOW + SignedDuration::days(7)));
    }
}
