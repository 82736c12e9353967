//! The terms of service and their acceptance.

use kalends_accounts::Change;
use kalends_wire::{AcceptedTerms, TermsAccepted};

use crate::{Actor, Answered, App, ChangeSet, Missing, Refusal, attempt::retry_stale};

impl App {
    /// Accepts the current terms for the caller's organization. Accepting again is recorded again.
    ///
    /// # Errors
    /// [`Refusal::OutOfReach`] for an agent's key, [`Refusal::StaleTerms`] for another version.
    pub async fn accept_terms(&self, actor: &Actor, version: &str) -> Result<Answered<TermsAccepted>, Refusal> {
        actor.for_organization()?;
        retry_stale(|| async {
            let missing = || Refusal::missing(Missing::Organization, &actor.org().to_string());
            let seen = self.parts.store.find_organization(actor.org()).await?.ok_or_else(missing)?;
            let (organization, record) = self.parts.settings.terms.accept_for(&seen, version, self.now())?;
            let accepted = record.acceptance.clone();
            let mut changes = ChangeSet::new(actor.org());
            changes.accounts = vec![
                Change::UpdateOrganization { organization, seen: seen.version },
                Change::RecordAcceptance { org: actor.org(), acceptance: record.acceptance },
            ];
            let body = TermsAccepted {
                data: AcceptedTerms { accepted_terms_version: accepted.version, accepted_terms_at: accepted.at },
            };
            let answer = Answered::shows(&actor.request, body, None);
            self.commit_for(actor, None, actor.org().to_string(), changes, answer).await
        })
        .await
    }
}
