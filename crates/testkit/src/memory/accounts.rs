//! Reading organizations, keys and codes.

use async_trait::async_trait;
use kalends_accounts::{
    Credential, Email, EndedKey, KeyHash, Organization, Principal, Reach, ScopedKey, VerificationCode, Waitlist,
    ports::{KeyUses, Organizations, Principals, ScopedKeys},
    reach::{CallerKind, ScopedAgent},
};
use kalends_calendars::AgentStatus;
use kalends_kernel::{AgentId, KeyId, OrgId, StoreError};
use kalends_time::CivilDate;

use super::MemoryStore;

#[async_trait]
impl Principals for MemoryStore {
    async fn find_principal(&self, hash: KeyHash) -> Result<Option<Principal>, StoreError> {
        let state = self.state();
        let (key, prefix, org, kind, reach, (approval, connector)) = if let Some(key) = state.keys.get(&hash) {
            (key.id, &key.prefix, key.org, CallerKind::of_key(key.kind), Reach::Organization, (None, None))
        } else if let Some(key) = state.scoped_keys.values().find(|key| key.hash == hash) {
            let Some(agent) = state.agents.get(&(key.org, key.agent)) else { return Ok(None) };
            if agent.status == AgentStatus::Decommissioned {
                return Ok(None);
            }
            let paused = agent.status == AgentStatus::Paused;
            let reach = ScopedAgent { id: agent.id, paused, scopes: key.scopes };
            let held = (key.approval.clone(), key.connector);
            (key.id, &key.prefix, key.org, CallerKind::AgentKey, Reach::Agent(reach), held)
        } else {
            return Ok(None);
        };
        let Some(organization) = state.organizations.get(&org) else { return Ok(None) };
        let limits = organization
            .limits()
            .map_err(|error| StoreError::corrupt("organizations", "limit_overrides", organization.id, error))?;
        Ok(Some(Principal {
            signed_in: None,
            approval,
            connector,
            credential: Credential::Key(key),
            key_prefix: prefix.clone(),
            org: organization.id,
            kind,
            reach,
            waitlisted: organization.waitlist != Waitlist::Active,
            plan: organization.plan,
            limits,
            accepted_terms: organization.accepted.as_ref().map(|acceptance| acceptance.version.clone()),
        }))
    }

    async fn find_ended_key(&self, hash: KeyHash) -> Result<Option<EndedKey>, StoreError> {
        let state = self.state();
        let left = state.scoped_keys.values().filter(|key| key.hash == hash && !state.agent_lives(key.org, key.agent));
        let left = left.map(|key| EndedKey { org: key.org, agent: Some(key.agent), prefix: key.prefix.clone() });
        Ok(state.revoked_keys.get(&hash).cloned().into_iter().chain(left).next())
    }

    async fn principals_epoch(&self) -> Result<i64, StoreError> {
        Ok(self.state().epoch)
    }
}

#[async_trait]
impl ScopedKeys for MemoryStore {
    async fn list_scoped_keys(&self, org: OrgId) -> Result<Vec<ScopedKey>, StoreError> {
        let mut keys: Vec<_> = self.state().scoped_keys_in_force(org).cloned().collect();
        keys.sort_by_key(|key| (key.created_at, key.id));
        Ok(keys)
    }

    async fn find_scoped_key(&self, org: OrgId, key: KeyId) -> Result<Option<ScopedKey>, StoreError> {
        Ok(self.state().scoped_keys_in_force(org).find(|stored| stored.id == key).cloned())
    }

    async fn count_scoped_keys(&self, org: OrgId, agent: AgentId) -> Result<u64, StoreError> {
        let count = self.state().scoped_keys.values().filter(|key| (key.org, key.agent) == (org, agent)).count();
        Ok(u64::try_from(count).unwrap_or(u64::MAX))
    }
}

#[async_trait]
impl KeyUses for MemoryStore {
    async fn record_key_uses(&self, org: OrgId, keys: &[KeyId], day: CivilDate) -> Result<(), StoreError> {
        self.write(|state| {
            for key in keys {
                let place = (org, *key);
                if let Some(scoped) = state.scoped_keys.get_mut(&place) {
                    scoped.last_used_on = scoped.last_used_on.max(Some(day));
                    state.used_keys.insert(org);
                } else if state.keys.values().any(|own| (own.org, own.id) == place) {
                    let used = state.own_keys_used.entry(place).or_insert(day);
                    *used = day.max(*used);
                    state.used_keys.insert(org);
                }
            }
        });
        Ok(())
    }
}

#[async_trait]
impl Organizations for MemoryStore {
    async fn find_organization(&self, org: OrgId) -> Result<Option<Organization>, StoreError> {
        Ok(self.state().organizations.get(&org).cloned())
    }

    async fn find_by_email(&self, email: &Email) -> Result<Option<Organization>, StoreError> {
        Ok(self.state().organizations.values().find(|organization| organization.email.as_ref() == Some(email)).cloned())
    }

    async fn find_code(&self, org: OrgId) -> Result<Option<VerificationCode>, StoreError> {
        Ok(self.state().codes.get(&org).cloned())
    }

    async fn list_organizations(&self) -> Result<Vec<Organization>, StoreError> {
        let mut all: Vec<_> = self.state().organizations.values().cloned().collect();
        all.sort_by_key(|organization| (organization.created_at, organization.id));
        Ok(all)
    }
}
