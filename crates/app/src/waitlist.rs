//! The waiting list: joining it, and being admitted.

use std::sync::Arc;

use kalends_accounts::{Action, Change, NewJoin, Organization, Waitlist, join, joined_again};
use kalends_kernel::{Foreign, OrgId};
use kalends_wire::{CheckedJoin, JoinedWaitlist, WaitlistEntry};

use crate::{
    Answered, App, ChangeSet, Missing, Refusal, Request,
    attempt::{Attempt, retry_stale},
    audit::Subject,
    letters,
};

/// Who admits an organization.
#[derive(Debug, Clone, Copy)]
pub enum Activation<'a> {
    /// The operator, on the command line.
    Command,
    /// A caller with the operator's token.
    Request(&'a Request),
}

impl App {
    /// Puts an address on the waiting list by creating a waiting organization. An address that is already on the list
    /// keeps its place and gets no second email.
    ///
    /// # Errors
    /// [`Refusal::StaleTerms`]; [`Refusal::EmailTaken`] for an address with an account.
    pub async fn join_waitlist(
        &self,
        request: &Request,
        new: CheckedJoin,
    ) -> Result<Answered<JoinedWaitlist>, Refusal> {
        let accept = |version: String| self.parts.settings.terms.accept(&version, self.now());
        let acceptance = new.tos_version.map(accept).transpose()?;
        let new = NewJoin { email: new.email, name: new.name, acceptance, plan: self.parts.settings.sign_up_plan };
        retry_stale(|| async {
            if self.parts.store.find_user_by_email(&new.email).await?.is_some() {
                return Err(Refusal::EmailTaken.into());
            }
            if let Some(known) = self.parts.store.find_by_email(&new.email).await? {
                let known = joined_again(&known).map_err(|_| Refusal::EmailTaken)?;
                return Ok(waitlist_answer(200, known, "The address is already on the waiting list."));
            }
            let now = self.now();
            let organization = join(OrgId::new(now, self.entropy()), &new, now);
            let org = organization.id;
            let message = "The address is on the waiting list. You will get an email when the account is activated.";
            let answer = waitlist_answer(request.operation.status, &organization, message);
            let mut changes = ChangeSet::new(org);
            changes.accounts.push(Change::CreateOrganization(organization));
            if let Some(acceptance) = new.acceptance.clone() {
                changes.accounts.push(Change::RecordAcceptance { org, acceptance });
            }
            changes.letters.push(self.notice(org, letters::joined_waitlist(&new.email), now));
            let subject = Subject { org, agent: None, resource: org.to_string() };
            match self.commit(request, None, subject, changes, answer).await {
                // Another request joined with the address since the lookup.
                Err(Attempt::Refused(Refusal::EmailTaken)) => Err(Attempt::Stale),
                outcome => outcome,
            }
        })
        .await
    }

    /// Admits the organization with that identifier, for a caller with the operator's token.
    ///
    /// # Errors
    /// [`Refusal::NotFound`].
    pub async fn activate(self: &Arc<Self>, request: &Request, id: &str) -> Result<Answered<JoinedWaitlist>, Refusal> {
        let org = id.parse().map_err(|_| Refusal::missing(Missing::Organization, id))?;
        let organization = activate(self, org, Activation::Request(request)).await?;
        Ok(activated(request.operation.status, &organization))
    }
}

/// Admits an organization from the waiting list, and emails its address. An organization that is not on the list stays
/// as it is, and gets no email.
///
/// # Errors
/// [`Refusal::NotFound`].
pub async fn activate(app: &Arc<App>, org: OrgId, by: Activation<'_>) -> Result<Organization, Refusal> {
    retry_stale(|| async {
        let missing = || Refusal::missing(Missing::Organization, &org.to_string());
        let seen = app.parts.store.find_organization(org).await?.ok_or_else(missing)?;
        if seen.waitlist == Waitlist::Active {
            return Ok(seen);
        }
        let organization = seen.with_waitlist(Waitlist::Active);
        let mut changes = ChangeSet::new(org);
        changes.accounts.push(Change::UpdateOrganization { organization: organization.clone(), seen: seen.version });
        if let Some(email) = &organization.email {
            let (name, console) = (Foreign::new(organization.name.as_str()), &app.parts.settings.console_url);
            changes.letters.push(app.notice(org, letters::activated(email, &name, console), app.now()));
        }
        match by {
            Activation::Command => app.commit_command(changes, Action::OrgUpdate, "org activate").await?,
            Activation::Request(request) => {
                let subject = Subject { org, agent: None, resource: org.to_string() };
                let answer = activated(request.operation.status, &organization);
                app.commit(request, None, subject, changes, answer).await?;
            }
        }
        Ok(organization)
    })
    .await
}

fn activated(status: u16, organization: &Organization) -> Answered<JoinedWaitlist> {
    waitlist_answer(status, organization, "The account is active.")
}

fn waitlist_answer(status: u16, organization: &Organization, message: &'static str) -> Answered<JoinedWaitlist> {
    let body = JoinedWaitlist { data: WaitlistEntry::from(organization), message: message.into() };
    Answered::with_status(status, body, None)
}
