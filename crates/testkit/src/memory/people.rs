//! Users, the organizations that they own, and their sessions.

use async_trait::async_trait;
use kalends_accounts::{
    Change, Email, Ownership, PasswordReset, Session, SessionEnd, TokenHash, User,
    oauth::KnownIdentity,
    ports::{PasswordResets, People, Sessions},
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
            Change::AddOwner { ownership, seen } => {
                self.touch(ownership.user, *seen)?;
                if !self.organizations.contains_key(&ownership.org) || self.owners.contains_key(&ownership.org) {
                    return Err(CommitError::Stale);
                }
                self.owners.insert(ownership.org, *ownership);
            }
            Change::RemoveOwner { user, org, seen } => {
                self.touch(*user, *seen)?;
                let owner = self.owners.remove(org).map(|ownership| ownership.user);
                if owner != Some(*user) {
                    return Err(CommitError::Stale);
                }
            }
            Change::DeleteUser { user, seen } => {
                self.seen_user(*user, *seen)?;
                self.users.remove(user);
                self.owners.retain(|_, ownership| ownership.user != *user);
                self.sessions.retain(|_, session| session.user != *user);
                self.claims.retain(|_, claim| claim.user != *user);
                self.identities.retain(|known| known.user != *user);
                self.resets.remove(user);
            }
            Change::PutReset(reset) => {
                self.users.get(&reset.user).ok_or(CommitError::Stale)?;
                self.resets.insert(reset.user, *reset);
            }
            Change::UseReset(token) => {
                let used = self.resets.extract_if(.., |_, reset| reset.token == *token).next();
                used.ok_or(CommitError::Stale)?;
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
                    self.resets.remove(user);
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

    fn touch(&mut self, user: UserId, seen: Version) -> Result<(), CommitError> {
        let row = self.seen_user(user, seen)?;
        row.version = row.version.next();
        Ok(())
    }

    /// An address belongs to one user.
    fn check_address_of(&self, user: &User) -> Result<(), CommitError> {
        let taken = self.users.values().any(|other| other.id != user.id && other.email == user.email);
        if taken { Err(CommitError::EmailTaken) } else { Ok(()) }
    }
}

#[async_trait]
impl People for MemoryStore {
    async fn find_user(&self, user: UserId) -> Result<Option<User>, StoreError> {
        Ok(self.state().users.get(&user).cloned())
    }

    async fn find_user_by_email(&self, email: &Email) -> Result<Option<User>, StoreError> {
        Ok(self.state().users.values().find(|user| user.email == *email).cloned())
    }

    async fn owned_by(&self, user: UserId) -> Result<Vec<Ownership>, StoreError> {
        let state = self.state();
        let owned = state.owners.values().filter(|ownership| ownership.user == user);
        let mut owned: Vec<_> =
            owned.filter(|ownership| state.organizations.contains_key(&ownership.org)).copied().collect();
        owned.sort_by_key(|ownership| (ownership.since, ownership.org));
        Ok(owned)
    }

    async fn owner_of(&self, org: OrgId) -> Result<Option<Ownership>, StoreError> {
        Ok(self.state().owners.get(&org).copied())
    }
}

#[async_trait]
impl Sessions for MemoryStore {
    async fn find_session(&self, session: SessionId) -> Result<Option<Session>, StoreError> {
        Ok(self.state().sessions.get(&session).copied())
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
impl PasswordResets for MemoryStore {
    async fn find_reset(&self, token: TokenHash) -> Result<Option<PasswordReset>, StoreError> {
        Ok(self.state().resets.values().find(|reset| reset.token == token).copied())
    }

    async fn forget_resets(&self, now: Timestamp, limit: u32) -> Result<u64, StoreError> {
        Ok(self.write(|state| remove!(state.resets, limit, |(_, reset)| reset.expires_at <= now)))
    }
}
