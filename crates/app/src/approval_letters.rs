//! The emails that ask people to decide about approvals.

use std::cmp::Reverse;

use kalends_accounts::{Email, Role};
use kalends_approvals::Approval;
use kalends_kernel::{Foreign, OrgId};
use kalends_notifications::{About, Withdrawn};
use kalends_plans::Plan;
use kalends_time::SignedDuration;

use crate::{
    App, ChangeSet, Refusal,
    letters::{self, Asked},
    ports::Mail,
};

/// The most people who get an email about one approval.
const LETTERS_MAX: usize = 20;

impl App {
    /// Adds the emails that ask people to decide, unless the organization may not send emails to people yet.
    ///
    /// # Errors
    /// [`Refusal::Store`].
    pub(crate) async fn add_approval_letters(
        &self,
        approval: &Approval,
        changes: &mut ChangeSet,
    ) -> Result<(), Refusal> {
        let Some(organization) = self.parts.store.find_organization(approval.org).await? else { return Ok(()) };
        let is_waiting = organization.waitlist.since().is_some();
        if is_waiting || organization.plan == Plan::FreeAgentUnverified {
            return Ok(());
        }
        let people = self.deciders(approval.org).await?;
        if people.is_empty() {
            return Ok(());
        }
        let agent = self.parts.store.find_agent(approval.org, approval.agent).await?;
        let asked = Asked {
            agent: &Foreign::new(agent.as_ref().map_or("An agent", |agent| agent.name.as_str())),
            organization: &Foreign::new(organization.name.as_str()),
            summary: &Foreign::new(&approval.summary),
            until: approval.expires_at,
            page: &self.decide_url(approval.id),
        };
        let times = (0..).map(|micros| approval.created_at + SignedDuration::micros(micros));
        for (to, written_at) in people.iter().zip(times) {
            // Members agreed to emails about their organization. These emails have an allowance of their own.
            let mail = Mail { agreed: true, ..letters::asks_for_approval(to, &asked) };
            changes.letters.push(self.letter(approval.org, &mail, About::approval(approval.id), written_at));
        }
        Ok(())
    }

    /// Withdraws the emails about an approval that is decided. Those that wait are not sent.
    pub(crate) fn withdraw_approval_letters(&self, approval: &Approval, changes: &mut ChangeSet) {
        let (about, at) = (About::approval(approval.id), self.now());
        let recipients = approval.mailed.iter().copied();
        changes.withdrawn.extend(recipients.map(|recipient| Withdrawn { recipient, about, at }));
    }

    /// The addresses of those who may decide and have proved their address: owners first, then admins, then members, and
    /// first those who have been there longest.
    async fn deciders(&self, org: OrgId) -> Result<Vec<Email>, Refusal> {
        let mut people = self.parts.store.members_of(org).await?;
        people.retain(|(membership, user)| {
            membership.role >= Role::Member && user.holds_address && user.email_verified_at.is_some()
        });
        people.sort_by_key(|(membership, _)| Reverse(membership.role));
        people.truncate(LETTERS_MAX);
        Ok(people.into_iter().map(|(_, user)| user.email).collect())
    }
}
