//! Programs that act for agents by OAuth, and what they were granted.

use std::collections::BTreeSet;

use async_trait::async_trait;
use kalends_accounts::{
    AuthorizationCode, Change, ConnectorClient, RefreshToken, ScopedKey, TokenHash, ports::Connectors,
};
use kalends_app::ports::CommitError;
use kalends_kernel::{ConnectorClientId, StoreError};
use kalends_time::Timestamp;

use super::{MemoryStore, account_data::remove, apply::duplicate, state::State};

impl State {
    /// Applies a change if it is about what connectors were granted; ignores all others.
    pub(super) fn apply_to_connectors(&mut self, change: &Change) -> Result<(), CommitError> {
        match change {
            Change::GrantCode(code) => {
                if !self.agent_lives(code.org, code.agent) || !self.users.contains_key(&code.user) {
                    return Err(CommitError::Stale);
                }
                if self.authorization_codes.insert(code.hash, (**code).clone()).is_some() {
                    return Err(duplicate());
                }
            }
            Change::UseCode { hash, key } => {
                let row = self.authorization_codes.get_mut(hash).filter(|code| code.key.is_none());
                row.ok_or(CommitError::Stale)?.key = Some(*key);
            }
            Change::RenewKey { org, key, hash, expires_at } => {
                let in_force = self.scoped_keys_in_force(*org).any(|stored| stored.id == *key);
                let row = self.scoped_keys.get_mut(&(*org, *key)).filter(|_| in_force).ok_or(CommitError::Stale)?;
                row.connector.as_mut().ok_or(CommitError::Stale)?.expires_at = *expires_at;
                row.hash = *hash;
            }
            Change::PutRefreshToken(token) => {
                let known = self.refresh_tokens.insert(token.hash, token.clone());
                return if known.is_some() { Err(duplicate()) } else { Ok(()) };
            }
            Change::SpendRefreshToken { org, hash, at } => {
                let row = self.refresh_tokens.get_mut(hash);
                let row = row.filter(|token| token.org == *org && token.spent_at.is_none());
                row.ok_or(CommitError::Stale)?.spent_at = Some(*at);
            }
            _ => {}
        }
        Ok(())
    }
}

#[async_trait]
impl Connectors for MemoryStore {
    async fn register_client(&self, client: &ConnectorClient, since: Timestamp, max: u32) -> Result<bool, StoreError> {
        Ok(self.write(|state| {
            let is_new = |other: &&ConnectorClient| other.used_at == other.created_at && other.created_at > since;
            let has_room = state.connector_clients.values().filter(is_new).count() < max as usize;
            if has_room {
                state.connector_clients.insert(client.id, client.clone());
            }
            has_room
        }))
    }

    async fn find_client(&self, id: ConnectorClientId) -> Result<Option<ConnectorClient>, StoreError> {
        Ok(self.state().connector_clients.get(&id).cloned())
    }

    async fn find_clients(&self, ids: &[ConnectorClientId]) -> Result<Vec<ConnectorClient>, StoreError> {
        let state = self.state();
        Ok(state.connector_clients.values().filter(|client| ids.contains(&client.id)).cloned().collect())
    }

    async fn note_client_use(&self, id: ConnectorClientId, at: Timestamp) -> Result<(), StoreError> {
        self.write(|state| {
            if let Some(client) = state.connector_clients.get_mut(&id) {
                client.used_at = client.used_at.max(at);
            }
        });
        Ok(())
    }

    async fn find_authorization_code(&self, hash: TokenHash) -> Result<Option<AuthorizationCode>, StoreError> {
        Ok(self.state().authorization_codes.get(&hash).cloned())
    }

    async fn find_refresh_token(&self, hash: TokenHash) -> Result<Option<RefreshToken>, StoreError> {
        Ok(self.state().refresh_tokens.get(&hash).cloned())
    }

    async fn lapsed_grants(&self, expired: Timestamp, limit: u32) -> Result<Vec<ScopedKey>, StoreError> {
        let state = self.state();
        let ends = |key: &ScopedKey| key.connector.map(|access| access.expires_at);
        let lapsed = |key: &&ScopedKey| ends(key).is_some_and(|expires_at| expires_at <= expired);
        let mut keys: Vec<_> = state.scoped_keys.values().filter(lapsed).cloned().collect();
        keys.sort_by_key(ends);
        keys.truncate(limit as usize);
        Ok(keys)
    }

    async fn forget_grants(&self, expired: Timestamp, limit: u32) -> Result<u64, StoreError> {
        Ok(self.write(|state| {
            let codes = remove!(state.authorization_codes, limit, |(_, code)| code.expires_at <= expired);
            codes.max(remove!(state.refresh_tokens, limit, |(_, token)| token.expires_at <= expired))
        }))
    }

    async fn forget_clients(&self, unused: Timestamp, never_used: Timestamp, limit: u32) -> Result<u64, StoreError> {
        Ok(self.write(|state| {
            let in_force = state.scoped_keys.values().filter(|key| state.agent_lives(key.org, key.agent));
            let holding: BTreeSet<_> = in_force.filter_map(|key| Some(key.connector?.client)).collect();
            let clients = remove!(state.connector_clients, limit, |(id, client)| {
                client.used_at <= unused && !holding.contains(*id)
            });
            let new = remove!(state.connector_clients, limit, |(_, client)| {
                client.used_at == client.created_at && client.created_at <= never_used
            });
            clients.max(new)
        }))
    }
}
