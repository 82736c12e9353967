//! The deletion of an account (ruling 4.3): out of reach at once, its rows gone within a minute.

use std::sync::Arc;

use kalends_accounts::{Change, SessionEnd, goes_with};
use kalends_kernel::{SignedDuration, StoreError};

use crate::{
    Actor, Answer, App, ChangeSet, Missing, Refusal,
    app::{Attempt, nothing, retry_stale},
    console::human,
};

/// How long after a deletion a row of the account may still be added.
///
/// No change-set adds one: stores refuse what comes after the deletion ([`crate::ports::Commit`]), and what came
/// before is there to be removed. What is left are the counters that a request touches on its own as it begins, of
/// calls (a debit) and of allowances, each with one statement. Other nodes let such a request in for a second more,
/// and a store lets it wait for its turn to write 30 seconds at most.
const SETTLED: SignedDuration = SignedDuration::seconds(45);
/// How many deleted accounts are looked after at once.
const ACCOUNTS_AT_ONCE: u32 = 16;

impl App {
    /// Deletes the organization in front of which the session stands, with everything that it has. Its acceptances of
    /// terms stay, without telling whose they are. All sessions of the human end; they go with it where they own no
    /// other.
    ///
    /// # Errors
    /// [`Refusal::NotSignedIn`] for whoever has no session.
    pub async fn delete_account(self: &Arc<Self>, actor: &Actor) -> Result<Answer, Refusal> {
        let (_, user) = human(actor)?;
        let org = actor.org();
        // While they can still be read. What cannot be keeps nobody from leaving.
        let consents = match self.consents_of(org).await {
            Err(error @ StoreError::Corrupt(_)) => {
                tracing::error!(error = &error as &dyn std::error::Error, %org, "consents are not given back");
                Vec::new()
            }
            consents => consents?,
        };
        let answer = retry_stale(|| async {
            let missing = || Refusal::missing(Missing::Organization, &org.to_string());
            let seen = self.store.find_organization(org).await?.ok_or_else(missing)?.version;
            let at = self.now();
            let mut changes = ChangeSet::new(org);
            if let Some(ownership) = self.store.owner_of(org).await? {
                // An owner who has just gone took the ownership along.
                let owner = self.store.find_user(ownership.user).await?.ok_or(Attempt::Stale)?;
                let (user, seen) = (owner.id, owner.version);
                changes.accounts.push(if goes_with(&self.store.owned_by(user).await?, org) {
                    Change::DeleteUser { user, seen }
                } else {
                    Change::RemoveOwner { user, org, seen }
                });
            }
            changes.accounts.push(Change::EndSessions { end: SessionEnd::AccountDeletion(user), at });
            changes.accounts.push(Change::DeleteOrganization { org, seen, at });
            self.commit_for(actor, None, org.to_string(), changes, nothing(actor)).await
        })
        .await?;
        tracing::info!(%org, request_id = %actor.request.id, "an account was deleted");
        self.give_back(consents).await;
        Ok(answer)
    }

    /// Removes up to about `limit` rows of each deleted account, and says whether that was all. What is
    /// interrupted goes on where it was: an account is forgotten only when a search finds nothing of it, and
    /// nothing can still be written for it.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn remove_deleted_accounts(&self, limit: u32) -> Result<bool, Refusal> {
        let mut all = true;
        for (org, since) in self.store.deletions(ACCOUNTS_AT_ONCE).await? {
            match self.store.remove_rows(org, limit).await? {
                0 if self.now() - since >= SETTLED => self.store.end_deletion(org).await?,
                removed => all &= removed < u64::from(limit),
            }
        }
        Ok(all)
    }
}
