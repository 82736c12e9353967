//! Keys: create, list and revoke agent keys, and replace the organization's own keys.

use kalends_accounts::{Change, KeyView, NewKey, NewScopedKey, Organization, ScopedKey};
use kalends_calendars::{Agent, AgentStatus};
use kalends_kernel::KeyId;
use kalends_plans::{Feature, Metric};
use kalends_wire::WantedKey;

use crate::{Actor, Answered, App, ChangeSet, Missing, Refusal, attempt::retry_stale, commits::limit};

/// The keys of an organization in force, each list with the oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeysInForce {
    /// The organization's own keys.
    pub own: Vec<KeyView>,
    /// The keys of its agents.
    pub of_agents: Vec<KeyView>,
}

impl App {
    /// Creates a key for an agent. Its text is only shown in this answer.
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`]; [`Refusal::NotFound`] if no such agent exists; [`Refusal::AgentState`] if it is
    /// decommissioned; [`Refusal::LimitReached`].
    pub async fn create_key(
        &self,
        actor: &Actor,
        wanted: &WantedKey,
    ) -> Result<Answered<kalends_wire::NewScopedKey>, Refusal> {
        actor.for_organization()?;
        actor.needs(Feature::ScopedKeys)?;
        retry_stale(|| async {
            let agent = self.agent(actor, &wanted.agent).await?.living()?.id;
            let (created_by, now) = (&actor.principal.key_prefix, self.now());
            let (label, scopes) = (wanted.label.clone(), wanted.scopes);
            let fresh = NewScopedKey::generate(actor.org(), agent, label, scopes, created_by, now, self.entropy())
                .with_approval(wanted.approval.clone());
            let mut changes = ChangeSet::new(actor.org());
            limit(actor, &mut changes, Metric::ScopedKeys, 1, now);
            let id = fresh.key.id;
            let answer = Answered::shows(&actor.request, kalends_wire::NewScopedKey::new(&fresh), None);
            changes.accounts.push(Change::CreateScopedKey(fresh.key));
            self.commit_for(actor, Some(agent), id.to_string(), changes, answer).await
        })
        .await
    }

    /// Replaces all keys of the organization, except agent keys, with a new one. Once this is answered, no node
    /// accepts the old keys.
    ///
    /// # Errors
    /// [`Refusal::NotSignedIn`] if the organization has just been deleted.
    pub async fn regenerate_key(&self, actor: &Actor) -> Result<Answered<kalends_wire::RegeneratedKey>, Refusal> {
        actor.for_organization()?;
        retry_stale(|| async {
            let organization = self.parts.store.find_organization(actor.org()).await?.ok_or(Refusal::NotSignedIn)?;
            let (fresh, changes) = self.replacing_keys(&organization);
            let body = kalends_wire::RegeneratedKey { key: fresh.text, key_prefix: fresh.key.prefix };
            let id = fresh.key.id;
            self.commit_for(actor, None, id.to_string(), changes, Answered::shows(&actor.request, body, None)).await
        })
        .await
    }

    /// A new key of the organization, and the changes that put it in the place of all others except agent keys.
    pub(crate) fn replacing_keys(&self, organization: &Organization) -> (NewKey, ChangeSet) {
        let (org, now) = (organization.id, self.now());
        let fresh = NewKey::generate(org, organization.key_kind(), now, self.entropy());
        let mut changes = ChangeSet::new(org);
        changes.accounts = vec![
            // If two run at once, the second one sees the key of the first and replaces it.
            Change::UpdateOrganization { organization: organization.with_other_keys(), seen: organization.version },
            Change::RevokeKeys { org, of_agents: false, at: now },
            Change::CreateKey(fresh.key.clone()),
        ];
        (fresh, changes)
    }

    /// The agent keys, the oldest first.
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`] on a plan without agent keys, unless keys are left from a better plan. Those are
    /// listed, because they still work.
    pub async fn list_keys(&self, actor: &Actor) -> Result<Vec<ScopedKey>, Refusal> {
        actor.for_organization()?;
        let keys = self.parts.store.list_scoped_keys(actor.org()).await?;
        if keys.is_empty() {
            actor.needs(Feature::ScopedKeys)?;
        }
        Ok(keys)
    }

    /// All keys of the organization in force.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key.
    pub async fn keys_in_force(&self, actor: &Actor) -> Result<KeysInForce, Refusal> {
        actor.for_organization()?;
        let keys = self.parts.store.keys_in_force(actor.org()).await?;
        let (of_agents, own) = keys.into_iter().partition(|key| key.agent.is_some());
        Ok(KeysInForce { own, of_agents })
    }

    /// How many keys in force the agent has.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key.
    pub async fn count_keys(&self, actor: &Actor, agent: &Agent) -> Result<u64, Refusal> {
        actor.for_organization()?;
        match agent.status {
            AgentStatus::Decommissioned => Ok(0),
            _ => Ok(self.parts.store.count_scoped_keys(actor.org(), agent.id).await?),
        }
    }

    /// An agent key.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if no such active key exists; [`Refusal::PlanRequired`] instead on a plan without agent
    /// keys.
    pub async fn key(&self, actor: &Actor, id: &str) -> Result<ScopedKey, Refusal> {
        actor.for_organization()?;
        let missing = || match actor.needs(Feature::ScopedKeys) {
            Ok(()) => Refusal::missing(Missing::Key, id),
            Err(refusal) => refusal,
        };
        let key_id: KeyId = id.parse().map_err(|_| missing())?;
        self.parts.store.find_scoped_key(actor.org(), key_id).await?.ok_or_else(missing)
    }

    /// Revokes a key. Once this is answered, no node accepts it, and its writes that waited for approval are cancelled.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] if no such active key exists; [`Refusal::PlanRequired`] instead on a plan without agent
    /// keys.
    pub async fn revoke_key(&self, actor: &Actor, id: &str) -> Result<Answered<()>, Refusal> {
        let (revoked, answer) = retry_stale(|| async {
            let key = self.key(actor, id).await?;
            let mut changes = ChangeSet::new(actor.org());
            changes.accounts.push(Change::RevokeKey { org: actor.org(), key: key.id, at: self.now() });
            let answer = Answered::nothing(&actor.request);
            let answer = self.commit_for(actor, Some(key.agent), key.id.to_string(), changes, answer).await?;
            Ok((key.id, answer))
        })
        .await?;
        // When no node accepts the key, it asks for nothing more.
        let by = &actor.principal.key_prefix;
        self.cancel_approvals_of(&actor.request, actor.org(), by, &[revoked]).await;
        Ok(answer)
    }
}
