//! Keys that speak for one agent: create, list, revoke (rulings 3.1, 3.3 and 3.7).

use kalends_accounts::{Change, KeyLabel, NewScopedKey, ScopedKey};
use kalends_kernel::KeyId;
use kalends_quotas::{Feature, Metric};

use crate::{
    Actor, Answer, App, ChangeSet, Missing, Refusal,
    app::{limit, nothing, retry_stale, shown},
};

impl App {
    /// Makes a key that speaks for an agent; its text is shown in this answer alone.
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`], [`Refusal::NotFound`] without such an agent, [`Refusal::AgentState`] where it is
    /// decommissioned, [`Refusal::LimitReached`].
    pub async fn create_key(&self, actor: &Actor, agent: &str, label: Option<KeyLabel>) -> Result<Answer, Refusal> {
        actor.for_organization()?;
        actor.needs(Feature::ScopedKeys)?;
        retry_stale(|| async {
            let agent = self.agent(actor, agent).await?.living()?.id;
            let now = self.now();
            let fresh = NewScopedKey::generate(actor.org(), agent, label.clone(), now, self.entropy());
            let mut changes = ChangeSet::new(actor.org());
            limit(actor, &mut changes, Metric::ScopedKeys, 1, now);
            let id = fresh.key.id;
            let answer = shown(actor, &kalends_wire::NewScopedKey::new(&fresh), None);
            changes.accounts.push(Change::CreateScopedKey(fresh.key));
            self.commit_for(actor, Some(agent), id.to_string(), changes, answer).await
        })
        .await
    }

    /// The keys that speak for agents, the oldest first.
    ///
    /// # Errors
    /// [`Refusal::PlanRequired`] on a plan without such keys; where some are left of a better plan they are listed
    /// all the same, since they still open something.
    pub async fn list_keys(&self, actor: &Actor) -> Result<Vec<ScopedKey>, Refusal> {
        actor.for_organization()?;
        let keys = self.store.list_scoped_keys(actor.org()).await?;
        if keys.is_empty() {
            actor.needs(Feature::ScopedKeys)?;
        }
        Ok(keys)
    }

    /// Revokes a key: once that is answered, no node accepts it (ruling 3.1).
    ///
    /// # Errors
    /// [`Refusal::NotFound`] without such a key in force; [`Refusal::PlanRequired`] instead on a plan without such
    /// keys.
    pub async fn revoke_key(&self, actor: &Actor, id: &str) -> Result<Answer, Refusal> {
        actor.for_organization()?;
        let missing = || match actor.needs(Feature::ScopedKeys) {
            Ok(()) => Refusal::missing(Missing::Key, id),
            Err(refusal) => refusal,
        };
        retry_stale(|| async {
            let key_id: KeyId = id.parse().map_err(|_| missing())?;
            let key = self.store.find_scoped_key(actor.org(), key_id).await?.ok_or_else(missing)?;
            let mut changes = ChangeSet::new(actor.org());
            changes.accounts.push(Change::RevokeKey { org: actor.org(), key: key.id, at: self.now() });
            self.commit_for(actor, Some(key.agent), key.id.to_string(), changes, nothing(actor)).await
        })
        .await
    }
}
