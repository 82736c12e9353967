//! The deletion of an account (ruling 4.3): out of reach at once, its rows gone within a minute.

use kalends_accounts::Change;
use kalends_kernel::Elapsed;
use kalends_wire::DeleteAccount;

use crate::{
    Actor, Answer, App, ChangeSet, Missing, Refusal,
    app::{nothing, retry_stale},
};

/// How long after a deletion a row of the account may still be added.
///
/// No change-set adds one: stores refuse what comes after the deletion ([`crate::ports::Commit`]), and what came
/// before is there to be removed. What is left are the counters that a request touches on its own as it begins, of
/// calls (a debit) and of allowances, each with one statement. Other nodes let such a request in for a second more,
/// and a store lets it wait for its turn to write 30 seconds at most.
const SETTLED: Elapsed = Elapsed::seconds(45);
/// How many deleted accounts are looked after at once.
const ACCOUNTS_AT_ONCE: u32 = 16;

impl App {
    /// Deletes the caller's organization with everything that it has. Its acceptances of terms stay, without
    /// telling whose they are.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key; [`Refusal::Invalid`] where the organization is not named.
    pub async fn delete_account(&self, actor: &Actor, confirmed: &DeleteAccount) -> Result<Answer, Refusal> {
        actor.for_organization()?;
        let org = actor.org();
        confirmed.check(org)?;
        let answer = retry_stale(|| async {
            let missing = || Refusal::missing(Missing::Organization, &org.to_string());
            let seen = self.store.find_organization(org).await?.ok_or_else(missing)?.version;
            let mut changes = ChangeSet::new(org);
            changes.accounts.push(Change::DeleteOrganization { org, seen, at: self.now() });
            self.commit_for(actor, None, org.to_string(), changes, nothing(actor)).await
        })
        .await?;
        tracing::info!(%org, request_id = %actor.request.id, "an account was deleted");
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
