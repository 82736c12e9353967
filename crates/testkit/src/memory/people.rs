//! Users, their memberships, invitations of members, and sessions.

use async_trait::async_trait;
use kalends_accounts::{
    Change, Email, FactorUse, MemberInvitation, Membership, Organization, Role, SecondFactor, Session, SessionEnd,
    SignedIn, TokenHash, TokenPurpose, User, UserToken, active_membership,
    oauth::KnownIdentity,
    ports::{MemberInvitations, People, SecondFactors, Sessions, UserTokens},
};
use kalends_app::ports::CommitError;
use kalends_kernel::{OrgId, SessionId, StoreError, UserId, Version};
use kalends_time::Timestamp;

use super::{
    MemoryStore,
    account_data::remove,
    apply::{create, unchanged},
    state::State,
};

impl State {
    /// Applies a change if it is about users or their sessions; ignores all others.
    pub(super) fn apply_to_people(&mut self, change: &Change) -> Result<(), CommitError> {
        match change {
            Change::CreateUser(user) => {
                self.check_address_of(user)?;
                create(self.users.entry(user.id), user)?;
            }
            Change::UpdateUser { user, seen } => {
                self.check_address_of(user)?;
                self.seen_user(user.id, *seen)?.clone_from(user);
            }
            Change::AddOwner { membership, seen } => {
                self.touch(membership.user, *seen)?;
                if self.members.keys().any(|(org, _)| *org == membership.org) {
                    return Err(CommitError::Stale);
                }
                self.add_member(*membership)?;
            }
            Change::AddMember { membership, seen } => {
                self.touch(membership.user, *seen)?;
                self.add_member(*membership)?;
            }
            Change::ChangeRole { membership, seen } => {
                self.touch(membership.user, *seen)?;
                let row = self.members.get_mut(&(membership.org, membership.user)).ok_or(CommitError::Stale)?;
                row.role = membership.role;
                let mut others = self.members.values().filter(|member| member.org == membership.org);
                if !others.any(|member| member.role == Role::Owner) {
                    return Err(CommitError::Stale);
                }
            }
            Change::RemoveMember { user, org, seen } => {
                self.touch(*user, *seen)?;
                self.members.remove(&(*org, *user)).ok_or(CommitError::Stale)?;
                self.sessions.retain(|_, session| (session.user, session.org) != (*user, Some(*org)));
            }
            Change::RaiseUser { user, seen } => self.touch(*user, *seen)?,
            Change::PutInvitation(invitation) => {
                self.organizations.get(&invitation.org).ok_or(CommitError::Stale)?;
                self.invitations.retain(|_, other| (other.org, &other.email) != (invitation.org, &invitation.email));
                self.invitations.insert((invitation.org, invitation.id), invitation.clone());
            }
            Change::RemoveInvitation { org, id } => {
                self.invitations.remove(&(*org, *id)).ok_or(CommitError::Stale)?;
            }
            Change::DeleteUser { user, seen } => {
                self.seen_user(*user, *seen)?;
                self.users.remove(user);
                self.members.retain(|(_, member), _| member != user);
                self.sessions.retain(|_, session| session.user != *user);
                self.claims.retain(|_, claim| claim.user != *user);
                self.identities.retain(|known| known.user != *user);
                self.user_tokens.retain(|(by, _), _| by != user);
                self.second_factors.remove(user);
                self.authorization_codes.retain(|_, code| code.user != *user);
            }
            Change::PutUserToken(token) => {
                self.users.get(&token.user).ok_or(CommitError::Stale)?;
                self.user_tokens.insert((token.user, token.purpose), *token);
            }
            Change::UseUserToken(token) => {
                let used = self.user_tokens.extract_if(.., |_, stored| stored.token == *token).next();
                used.ok_or(CommitError::Stale)?;
            }
            Change::PutSecondFactor(factor) => {
                self.users.get(&factor.user).ok_or(CommitError::Stale)?;
                if self.second_factors.get(&factor.user).is_some_and(SecondFactor::is_on) {
                    return Err(CommitError::Stale);
                }
                let begun = SecondFactor::begin(factor.user, factor.secret.clone(), factor.created_at);
                self.second_factors.insert(factor.user, begun);
            }
            Change::ConfirmSecondFactor(factor) => {
                let pending = self.second_factors.get_mut(&factor.user);
                let pending = pending.filter(|row| !row.is_on() && row.created_at == factor.created_at);
                let row = pending.ok_or(CommitError::Stale)?;
                (row.confirmed_at, row.last_step) = (factor.confirmed_at, factor.last_step);
            }
            Change::UseSecondFactor { user, used, seen } => {
                let row = self.factor_in_force(*user)?;
                match used {
                    FactorUse::Step(step) if row.last_step == *seen => row.last_step = Some(*step),
                    FactorUse::Step(_) => return Err(CommitError::Stale),
                    FactorUse::Recovery(code) => {
                        let index = row.recovery.iter().position(|left| left == code).ok_or(CommitError::Stale)?;
                        row.recovery.remove(index);
                    }
                }
            }
            Change::PutRecoveryCodes { user, codes } => {
                let row = self.factor_in_force(*user)?;
                row.recovery.clone_from(codes);
                row.recovery.sort_by_key(|code| code.0);
            }
            Change::RemoveSecondFactor(user) => {
                self.second_factors.remove(user);
            }
            Change::AddIdentity(identity) => {
                let same = |known: &KnownIdentity| {
                    (known.provider, &known.issuer, &known.subject)
                        == (identity.provider, &identity.issuer, &identity.subject)
                };
                if self.identities.iter().any(same) {
                    return Err(CommitError::Stale);
                }
                self.identities.push(identity.clone());
            }
            Change::RemoveIdentities(user) => self.identities.retain(|known| known.user != *user),
            Change::CreateSession { session, seen } => {
                self.seen_user(session.user, *seen)?;
                create(self.sessions.entry(session.id), session)?;
            }
            Change::SwitchSession { session, at } => {
                let row = self.sessions.get_mut(&session.id).filter(|row| row.holds(session.user, *at));
                row.ok_or(CommitError::Stale)?.org = session.org;
            }
            Change::EndSessions { end, at } => {
                for session in self.sessions.values_mut().filter(|session| end.ends(session)) {
                    *session = session.ended(*at);
                }
                if let SessionEnd::PasswordChange { user, .. } = end {
                    self.user_tokens.remove(&(*user, TokenPurpose::Password));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn seen_user(&mut self, user: UserId, seen: Version) -> Result<&mut User, CommitError> {
        let row = self.users.get_mut(&user).ok_or(CommitError::Stale)?;
        unchanged(row.version, seen)?;
        Ok(row)
    }

    fn factor_in_force(&mut self, user: UserId) -> Result<&mut SecondFactor, CommitError> {
        self.second_factors.get_mut(&user).filter(|row| row.is_on()).ok_or(CommitError::Stale)
    }

    fn touch(&mut self, user: UserId, seen: Version) -> Result<(), CommitError> {
        let row = self.seen_user(user, seen)?;
        row.version = row.version.next();
        Ok(())
    }

    fn add_member(&mut self, membership: Membership) -> Result<(), CommitError> {
        self.organizations.get(&membership.org).ok_or(CommitError::Stale)?;
        create(self.members.entry((membership.org, membership.user)), &membership).map_err(|_| CommitError::Stale)
    }

    /// One user at most holds an address.
    fn check_address_of(&self, user: &User) -> Result<(), CommitError> {
        let holds = |other: &User| other.holds_address && other.email == user.email;
        let taken = user.holds_address && self.users.values().any(|other| other.id != user.id && holds(other));
        if taken { Err(CommitError::EmailTaken) } else { Ok(()) }
    }
}

#[async_trait]
impl People for MemoryStore {
    async fn find_user(&self, user: UserId) -> Result<Option<User>, StoreError> {
        Ok(self.state().users.get(&user).cloned())
    }

    async fn find_user_by_email(&self, email: &Email) -> Result<Option<User>, StoreError> {
        Ok(self.state().users.values().find(|user| user.holds_address && user.email == *email).cloned())
    }

    async fn users_stating(&self, email: &Email, limit: u32) -> Result<Vec<User>, StoreError> {
        let state = self.state();
        let stating = state.users.values().filter(|user| !user.holds_address && user.email == *email);
        let mut stating: Vec<_> = stating.cloned().collect();
        stating.sort_by_key(|user| std::cmp::Reverse((user.created_at, user.id)));
        stating.truncate(limit as usize);
        Ok(stating)
    }

    async fn memberships_of(&self, user: UserId) -> Result<Vec<Membership>, StoreError> {
        let state = self.state();
        let all = state.members.values().filter(|member| member.user == user);
        let mut all: Vec<_> = all.filter(|member| state.organizations.contains_key(&member.org)).copied().collect();
        all.sort_by_key(|member| (member.since, member.org));
        Ok(all)
    }

    async fn organizations_of(&self, user: UserId) -> Result<Vec<(Membership, Organization)>, StoreError> {
        let memberships = self.memberships_of(user).await?;
        let state = self.state();
        let with_organization = |member: Membership| Some((member, state.organizations.get(&member.org)?.clone()));
        Ok(memberships.into_iter().filter_map(with_organization).collect())
    }

    async fn members_of(&self, org: OrgId) -> Result<Vec<(Membership, User)>, StoreError> {
        let state = self.state();
        let all = state.members.values().filter(|member| member.org == org);
        let mut all: Vec<_> =
            all.filter_map(|member| Some((*member, state.users.get(&member.user)?.clone()))).collect();
        all.sort_by_key(|(member, _)| (member.since, member.user));
        Ok(all)
    }

    async fn owner_of(&self, org: OrgId) -> Result<Option<Membership>, StoreError> {
        let state = self.state();
        let owners = state.members.values().filter(|member| member.org == org && member.role == Role::Owner);
        Ok(owners.min_by_key(|owner| (owner.since, owner.user)).copied())
    }
}

#[async_trait]
impl MemberInvitations for MemoryStore {
    async fn invitations_of(&self, org: OrgId) -> Result<Vec<MemberInvitation>, StoreError> {
        let state = self.state();
        let mut all: Vec<_> = state.invitations.values().filter(|invitation| invitation.org == org).cloned().collect();
        all.sort_by_key(|invitation| (invitation.created_at, invitation.id));
        Ok(all)
    }

    async fn find_invitation(&self, token: TokenHash) -> Result<Option<MemberInvitation>, StoreError> {
        Ok(self.state().invitations.values().find(|invitation| invitation.token == token).cloned())
    }

    async fn is_invited(&self, email: &Email, now: Timestamp) -> Result<bool, StoreError> {
        let state = self.state();
        Ok(state.invitations.values().any(|invitation| invitation.email == *email && invitation.holds(now)))
    }

    async fn forget_invitations(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        Ok(self.write(|state| remove!(state.invitations, limit, |(_, invitation)| !invitation.holds(now))))
    }
}

#[async_trait]
impl Sessions for MemoryStore {
    async fn find_session(&self, session: SessionId) -> Result<Option<Session>, StoreError> {
        Ok(self.state().sessions.get(&session).copied())
    }

    async fn find_signed_in(&self, session: SessionId, user: UserId) -> Result<Option<SignedIn>, StoreError> {
        let memberships = self.memberships_of(user).await?;
        let state = self.state();
        let found = state.sessions.get(&session).filter(|session| session.user == user).and_then(|session| {
            let active = active_membership(&memberships, session.org)?;
            let (user, organization) = (state.users.get(&user)?, state.organizations.get(&active.org)?);
            Some(SignedIn {
                session: *session,
                user: user.clone(),
                organization: organization.clone(),
                role: active.role,
            })
        });
        Ok(found)
    }

    async fn forget_sessions(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        Ok(self.write(|state| {
            let expired = state.sessions.values().filter(|session| session.expires_at <= now);
            let expired: Vec<_> = expired.map(|session| session.id).take(limit as usize).collect();
            expired.iter().filter(|session| state.sessions.remove(*session).is_some()).count() as u64
        }))
    }
}

#[async_trait]
impl UserTokens for MemoryStore {
    async fn find_user_token(&self, purpose: TokenPurpose, token: TokenHash) -> Result<Option<UserToken>, StoreError> {
        let state = self.state();
        let found = state.user_tokens.values().find(|stored| (stored.purpose, stored.token) == (purpose, token));
        Ok(found.copied())
    }

    async fn forget_user_tokens(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        Ok(self.write(|state| remove!(state.user_tokens, limit, |(_, token)| !token.holds(now))))
    }
}

#[async_trait]
impl SecondFactors for MemoryStore {
    async fn find_second_factor(&self, user: UserId) -> Result<Option<SecondFactor>, StoreError> {
        Ok(self.state().second_factors.get(&user).cloned())
    }
}
