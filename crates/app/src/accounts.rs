//! Deleting an account: it becomes inaccessible at once, and its rows are removed within a minute.

use std::sync::Arc;

use kalends_accounts::{Change, Role, SessionEnd, goes_with};
use kalends_time::SignedDuration;

use crate::{Actor, Answered, App, ChangeSet, Missing, Refusal, attempt::retry_stale, console::human};

/// How long after a deletion a row of the account may still be added.
///
/// No change-set adds one: stores refuse change-sets after the deletion ([`crate::ports::Commit`]), and the rows of
/// earlier ones can already be removed. But a request updates two counters outside change-sets when it begins, each in
/// one statement: its calls (a debit) and its allowances. Other nodes admit such a request for one more second, and a
/// store lets it wait up to 30 seconds for its turn to write.
const SETTLED: SignedDuration = SignedDuration::seconds(45);
/// How many deleted accounts one call works on.
const ACCOUNTS_AT_ONCE: u32 = 16;

impl App {
    /// Deletes the organization of the session, with everything it owns. Its acceptances of terms stay, anonymized.
    /// All sessions of the user end. Its members who belong to no other organization are deleted as well.
    ///
    /// # Errors
    /// [`Refusal::NotSignedIn`] without a session; [`Refusal::RoleTooLow`] if the caller is no longer an owner.
    pub async fn delete_account(self: &Arc<Self>, actor: &Actor) -> Result<Answered<()>, Refusal> {
        let (_, user) = human(actor)?;
        let org = actor.org();
        // Read before the rows go.
        let consents = self.consents_of(org).await?;
        let answer = retry_stale(|| async {
            let missing = || Refusal::missing(Missing::Organization, &org.to_string());
            let seen = self.parts.store.find_organization(org).await?.ok_or_else(missing)?.version;
            let at = self.now();
            let mut changes = ChangeSet::new(org);
            let mut members = self.parts.store.members_of(org).await?;
            // The caller's role may have changed since the session was checked.
            let own = members.iter().find(|(member, _)| member.user == user).ok_or(Refusal::NotSignedIn)?.0;
            if own.role != Role::Owner {
                return Err(Refusal::RoleTooLow.into());
            }
            // In one order in all organizations, so that two deletions do not wait for each other.
            members.sort_by_key(|(member, _)| member.user);
            for (member, account) in members {
                let (user, seen) = (member.user, account.version);
                changes.accounts.push(if goes_with(&self.parts.store.memberships_of(user).await?, org) {
                    Change::DeleteUser { user, seen }
                } else {
                    Change::RemoveMember { user, org, seen }
                });
            }
            changes.accounts.push(Change::EndSessions { end: SessionEnd::AccountDeletion(user), at });
            changes.accounts.push(Change::DeleteOrganization { org, seen, at });
            self.commit_for(actor, None, org.to_string(), changes, Answered::nothing(&actor.request)).await
        })
        .await?;
        tracing::info!(%org, request_id = %actor.request.id, "an account was deleted");
        self.give_back(consents).await;
        Ok(answer)
    }

    /// Removes up to about `limit` rows of each deleted account, and returns whether that was all. An interrupted
    /// removal continues later: an account is forgotten only when a search finds none of its rows and nothing can
    /// still be written for it.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub async fn remove_deleted_accounts(&self, limit: u32) -> Result<bool, Refusal> {
        let mut all = true;
        for (org, since) in self.parts.store.deletions(ACCOUNTS_AT_ONCE).await? {
            match self.parts.store.remove_rows(org, limit).await? {
                0 if self.now() - since >= SETTLED => self.parts.store.end_deletion(org).await?,
                removed => all &= removed < u64::from(limit),
            }
        }
        Ok(all)
    }
}
